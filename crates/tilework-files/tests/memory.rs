//! How much memory a conversion holds at its peak, as the system counts it.
//!
//! Alone in its program: the peak is that of a process.
#![cfg(target_os = "linux")]

use std::fs;

use tilework::{PlanOptions, dialect};
use tilework_copy::{Inline, Relayout};
use tilework_files::container::{Change, Container, Content, Format, How, Job, Moved, Placed, Target, write};

type Tested = Result<(), Box<dyn std::error::Error>>;

/// The side of an array of 16 MiB.
const SIDE: u64 = 2048;

/// The most memory that this process had since the last call with `true`, in bytes.
fn peak(begin: bool) -> u64 {
    if begin {
        fs::write("/proc/self/clear_refs", "5").expect("the peak is forgotten");
    }
    let status = fs::read_to_string("/proc/self/status").expect("a status");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
    1024 * line.trim_end_matches("kB").trim().parse::<u64>().expect("a number")
}

#[test]
fn a_transposition_holds_no_more_memory_than_it_may() -> Tested {
    let folder = std::env::temp_dir().join(format!("tilework-memory-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let (input, output) = (folder.join("in.safetensors"), folder.join("out.safetensors"));
    let head = format!(
        r#"{{"w":{{"dtype":"F32","shape":[{SIDE},{SIDE}],"data_offsets":[0,{}]}}}}"#,
        4 * SIDE * SIDE
    );
    let file = fs::File::create(&input)?;
    std::io::Write::write_all(&mut &file, &[&(head.len() as u64).to_le_bytes(), head.as_bytes()].concat())?;
    for row in 0..SIDE {
        let row: Vec<u8> =
            (0..SIDE).flat_map(|column| ((row * SIDE + column) as u32).to_le_bytes()).collect();
        std::io::Write::write_all(&mut &file, &row)?;
    }
    let from = Container::open(&input)?;
    let tensor = &from.tensors()[0];
    let Content::Array(array) = &tensor.content else { return Err("no array".into()) };
    let known = dialect::Known::array(array.layout.dims(), array.element);
    let run = |braces: &str, memory: Option<u64>| -> Result<u64, Box<dyn std::error::Error>> {
        let found = dialect::Reading { dialect: None, known }.read(braces)?;
        let to = Placed::of(found[0].said.clone())?;
        let relayout = Relayout::new(&array.layout, &to.layout, &PlanOptions::default())?;
        let before = peak(true);
        let jobs = [Job {
            name: "w".to_owned(),
            tensor,
            change: Change::Move(Box::new(Moved { to, relayout, fill: 0 })),
        }];
        let target = Target { format: Format::Safetensors, folder: None, transposed: true };
        let how = How { pool: &Inline, memory, check: braces == "{0,1}", progress: &|_| {} };
        write(&from, &jobs, &target, &output, &how).map_err(|error| format!("{error:?}"))?;
        Ok(peak(false).saturating_sub(before))
    };
    let bound = 4 << 20;
    for braces in ["{0,1}", "{1,0:T(8,128)}", "{0,1:T(8,128)}"] {
        let (free, bounded) = (run(braces, None)?, run(braces, Some(bound))?);
        assert!(bounded <= bound, "{braces}: {bounded} bytes where {bound} may be had");
        assert!(free > 2 * bounded, "{braces}: {free} bytes without a bound; the test measures nothing");
    }
    fs::remove_dir_all(&folder)?;
    Ok(())
}
