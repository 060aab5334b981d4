//! A folder for a test, and looking at what is read from it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use tilework_files::container::{Container, Content};

pub type Tested = Result<(), Box<dyn std::error::Error>>;

/// A folder of its own, taken away at its end.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Folder {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("tilework-containers-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).expect("a folder");
        Folder(path)
    }

    pub fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, bytes).expect("it is written");
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What is read, in a line each: the name, the text, and the bytes.
pub fn seen(container: &Container) -> Vec<(String, String, Vec<u8>)> {
    let all = container.tensors().iter().map(|tensor| {
        let text = match &tensor.content {
            Content::Array(array) => array.said.to_string(),
            Content::Blocks(blocks) => blocks.to_string(),
            Content::Unread { kind, .. } => format!("unread {kind}"),
        };
        let bytes = container.data(tensor, &std::env::temp_dir()).expect("its bytes").array().to_vec();
        (tensor.name.clone(), text, bytes)
    });
    all.collect()
}

/// The error of a file, in one line.
pub fn error(path: &Path) -> String {
    let error = Container::open(path).err().unwrap_or_else(|| panic!("{} is read", path.display()));
    let parts = [Some(error.found()), error.broken_rule(), error.accepted()];
    parts.into_iter().flatten().collect::<Vec<&str>>().join("; ")
}

/// Opens a file cut short at every byte, and with every byte changed: an answer or an error, and no panic.
pub fn shake(folder: &Folder, name: &str, whole: &[u8]) {
    for end in 0..whole.len() {
        let path = folder.write(name, &whole[..end]);
        assert!(Container::open(&path).is_err(), "{name} of {end} bytes of {}", whole.len());
    }
    for at in 0..whole.len() {
        for change in [1, 0x20, 0x80, 0xff] {
            let mut bytes = whole.to_vec();
            bytes[at] ^= change;
            if let Ok(container) = Container::open(&folder.write(name, &bytes)) {
                for tensor in container.tensors() {
                    let _ = container.data(tensor, &folder.0);
                }
            }
        }
    }
}
