//! `tilework show` and `tilework audit` as processes: from their start to their end, with their output read.

use std::process::Command;
use std::time::Instant;

use crate::Setting;
use crate::rounds::{Failure, Figure, Rounds};

const SHAPES: [&str; 3] = [
    "f32[3,5]{1,0:T(2,2)}",
    "bf16[64,300]{1,0:T(8,128)(2,1)}",
    "s8[1000000,1000000,1000000]{2,1,0:T(8,128)(4,1)}", // 10^18 elements
];

/// Small dumps and logs, among the samples.
const AUDITED: [&str; 5] =
    ["dump", "out_of_memory.txt", "logs/onednn.log", "logs/engine.json", "logs/matmul.ttgir"];

pub fn run(setting: &Setting) -> Result<(), Failure> {
    let Some(tilework) = &setting.tilework else {
        println!("not measured: no `tilework` was given");
        return Ok(());
    };
    let figure = |command: &'static str, argument: String| {
        Figure::of(move || {
            let start = Instant::now();
            let output = Command::new(tilework).args([command, &argument]).output();
            let taken = start.elapsed().as_secs_f64() * 1e3;
            match output {
                Ok(output) if output.status.success() => Ok(taken),
                Ok(output) => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
                Err(error) => Err(format!("{}: {error}", tilework.display())),
            }
        })
    };
    let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/../samples/");
    let shown = SHAPES.into_iter().map(|shape| figure("show", shape.to_owned()));
    let audited = AUDITED.into_iter().map(|file| figure("audit", format!("{samples}{file}")));
    let rounds = Rounds::measure(shown.chain(audited))?;
    println!("| command | ms |");
    println!("|---|--:|");
    let show = SHAPES.iter().map(|shape| format!("show {shape}"));
    let audit = AUDITED.iter().map(|file| format!("audit samples/{file}"));
    for (place, command) in show.chain(audit).enumerate() {
        println!("| `tilework {command}` | {:.1} |", rounds.figure(place));
    }
    Ok(())
}
