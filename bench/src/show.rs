//! `tilework show` as a process: from its start to its end, with its output read.

use std::process::Command;
use std::time::Instant;

use crate::Setting;
use crate::rounds::{Failure, Figure, Rounds};

const SHAPES: [&str; 3] = [
    "f32[3,5]{1,0:T(2,2)}",
    "bf16[64,300]{1,0:T(8,128)(2,1)}",
    "s8[1000000,1000000,1000000]{2,1,0:T(8,128)(4,1)}", // 10^18 elements
];

pub fn run(setting: &Setting) -> Result<(), Failure> {
    let Some(tilework) = &setting.tilework else {
        println!("not measured: no `tilework` was given");
        return Ok(());
    };
    let show = |shape: &'static str| {
        Figure::of(move || {
            let start = Instant::now();
            let output = Command::new(tilework).args(["show", shape]).output();
            let taken = start.elapsed().as_secs_f64() * 1e3;
            match output {
                Ok(output) if output.status.success() => Ok(taken),
                Ok(output) => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
                Err(error) => Err(format!("{}: {error}", tilework.display())),
            }
        })
    };
    let rounds = Rounds::measure(SHAPES.into_iter().map(show))?;
    println!("| shape | `tilework show`, ms |");
    println!("|---|--:|");
    for (place, shape) in SHAPES.iter().enumerate() {
        println!("| `{shape}` | {:.1} |", rounds.figure(place));
    }
    Ok(())
}
