//! A source that somebody cuts short while it is read.
#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::path::PathBuf;

use tilework::{Layout, PlanOptions};
use tilework_copy::{Inline, Relayout};
use tilework_files::{Destination, Move, Part, Source};

const SIDE: u64 = 1 << 10;

type Tested = Result<(), Box<dyn std::error::Error>>;

#[test]
fn the_old_destination_stays_and_the_error_says_why() -> Tested {
    let folder: PathBuf = std::env::temp_dir().join(format!("tilework-cut-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let (input, output) = (folder.join("in.raw"), folder.join("out.raw"));
    let from = Layout::row_major(&[SIDE, SIDE], 8)?;
    let to = Layout::builder(&[SIDE, SIDE], 8)?.minor_to_major(&[0, 1])?.build()?;
    let relayout = Relayout::new(&from, &to, &PlanOptions::default())?;
    // Nothing of it is left, half of it, and all but the last byte: then no page is missing.
    for left in [0, SIDE * SIDE / 2, SIDE * SIDE - 1] {
        fs::write(&input, vec![1; from.bytes() as usize])?;
        fs::write(&output, b"old")?;
        let mut source = Source::open(&input)?;
        let array = source.array(from.bytes(), Part::default())?;
        File::options().write(true).open(&input)?.set_len(left)?;
        let job = Move { relayout: &relayout, source: array, head: b"", pool: &Inline };
        let Destination::File(file) = Destination::create(&output)? else { return Err("no file".into()) };
        let error = job.to_file(&file, &|_| {}).expect_err("a short source").to_string();
        assert!(error.contains("in.raw: the file was cut short while it was read"), "{left}: {error}");
        assert!(job.check(&file, 0).expect_err("a short source").to_string().contains("cut short"));
        assert!(job.to_stream(&mut Vec::new(), &|_| {}).is_err());
        drop(file);
        assert_eq!(fs::read(&output)?, b"old");
        assert_eq!(fs::read_dir(&folder)?.count(), 2);
    }
    fs::remove_dir_all(&folder)?;
    Ok(())
}
