//! Files to convert, and the command that does it.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::common::{Ran, run};

/// A folder of its own for a test, taken away at its end.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Folder {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("tilework-convert-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).expect("a folder");
        Folder(path)
    }

    /// The path of a file in it.
    pub fn at(&self, name: &str) -> String {
        self.0.join(name).to_str().expect("UTF-8").to_owned()
    }

    pub fn write(&self, name: &str, bytes: &[u8]) -> String {
        fs::write(self.0.join(name), bytes).expect("it is written");
        self.at(name)
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.0.join(name)).expect("it is read")
    }

    /// The names of all files in it, hidden ones too.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).expect("a folder");
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// 3 × 5 elements of 4 bytes, row-major.
pub fn matrix() -> Vec<u8> {
    (0..15_u32).flat_map(|element| (element * 0x01010101).to_le_bytes()).collect()
}

/// The same as an array of columns.
pub fn columns() -> Vec<u8> {
    let at = |i: u32, j: u32| (5 * i + j) * 0x01010101;
    (0..5).flat_map(|j| (0..3).flat_map(move |i| at(i, j).to_le_bytes())).collect()
}

pub fn done(args: &[&str]) -> Ran {
    let ran = run(&[&["convert"], args].concat());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{args:?}");
    ran
}

/// Nothing is written, and the error says this.
pub fn refused(args: &[&str], expected: &str) {
    let Ran { stdout, stderr, code } = run(&[&["convert"], args].concat());
    assert_eq!((stdout.as_str(), code), ("", 2), "{args:?}");
    let words = stderr.split_whitespace().collect::<Vec<&str>>().join(" ");
    assert!(words.starts_with("error: ") && words.contains(expected), "{args:?}: {stderr}");
}
