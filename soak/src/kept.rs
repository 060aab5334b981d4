//! Texts on which something failed, or that took longest: they stay in `soak/corpus` and are tried first the next time.

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::PathBuf;

/// What takes fewer microseconds than this is not worth keeping.
pub const SLOW: u64 = 200_000;

/// Of slow texts no more are kept for one attack; of those that failed, all.
const MOST_SLOW: usize = 50;

fn folder(attack: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("corpus").join(attack)
}

/// The texts kept for an attack, with their files.
pub fn all(attack: &str) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(folder(attack)).into_iter().flatten().flatten();
    let read = |path: PathBuf| Some((path.to_string_lossy().into_owned(), fs::read(path).ok()?));
    let mut texts: Vec<_> = entries.filter_map(|entry| read(entry.path())).collect();
    texts.sort();
    texts
}

/// Keeps a text. That it cannot be kept is no reason to stop.
pub fn keep(attack: &str, text: &[u8], why: &str) {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    let folder = folder(attack);
    let slow = all(attack).iter().filter(|(file, _)| file.contains("slow-")).count();
    if why == "slow" && slow >= MOST_SLOW || fs::create_dir_all(&folder).is_err() {
        return;
    }
    let _ = fs::write(folder.join(format!("{why}-{:016x}", hasher.finish())), text);
}
