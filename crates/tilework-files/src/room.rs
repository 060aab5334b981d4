//! Whether a file of a known length can be written at all, asked before any of its room is taken.
//!
//! A reservation that fails has taken the whole disk for a moment, and everybody else's writes fail with it; and beyond the
//! limit of `ulimit -f` the system ends the process instead of answering.

use std::fs::File;
use std::path::Path;

/// Why a file cannot be so long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lack {
    /// Files of this process may have no more bytes.
    Limit(u64),
    /// The disk has no more free bytes.
    Free(u64),
}

/// What an empty file lacks to become so long; nothing where the system does not say.
pub(crate) fn lack(file: &File, len: u64) -> Option<Lack> {
    lacks(len, limit(), free(file))
}

/// What a file with holes lacks to be so long.
pub(crate) fn lack_of_limit(len: u64) -> Option<Lack> {
    lacks(len, limit(), None)
}

/// Whether files below a path are kept in memory.
#[cfg(target_os = "linux")]
pub fn is_in_memory(path: &Path) -> bool {
    const OF_MEMORY: [u32; 2] = [0x0102_1994, 0x8584_58f6]; // tmpfs, ramfs
    let there = path.ancestors().find(|path| path.exists()).unwrap_or(Path::new("."));
    // The type of the field differs between machines; the numbers do not.
    rustix::fs::statfs(there).is_ok_and(|disk| OF_MEMORY.contains(&(disk.f_type as u32)))
}

#[cfg(not(target_os = "linux"))]
pub fn is_in_memory(_: &Path) -> bool {
    false
}

fn lacks(len: u64, limit: Option<u64>, free: Option<u64>) -> Option<Lack> {
    let limit = limit.filter(|&limit| len > limit).map(Lack::Limit);
    limit.or_else(|| free.filter(|&free| len > free).map(Lack::Free))
}

/// The most bytes that a file of this process may have, if there is a limit.
#[cfg(unix)]
fn limit() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::Fsize).current
}

/// The bytes that the disk of this file has for anybody; what it keeps for the system's own programs does not count.
#[cfg(unix)]
fn free(file: &File) -> Option<u64> {
    let disk = rustix::fs::fstatvfs(file).ok()?;
    // A file system that says it has no blocks at all does not know.
    (disk.f_blocks > 0).then(|| disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// The bytes of the disk that a folder is on.
#[cfg(unix)]
pub(crate) fn whole(folder: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(folder).ok()?;
    (disk.f_blocks > 0).then(|| disk.f_blocks.saturating_mul(disk.f_frsize))
}

#[cfg(not(unix))]
pub(crate) fn whole(_: &Path) -> Option<u64> {
    None
}

#[cfg(not(unix))]
fn limit() -> Option<u64> {
    None
}

#[cfg(not(unix))]
fn free(_: &File) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_fits_up_to_the_last_byte() {
        assert_eq!(lacks(100, Some(100), Some(100)), None);
        assert_eq!(lacks(100, None, None), None);
        assert_eq!(lacks(101, Some(100), Some(50)), Some(Lack::Limit(100)));
        assert_eq!(lacks(101, Some(1000), Some(100)), Some(Lack::Free(100)));
        assert_eq!(lacks(0, Some(0), Some(0)), None);
    }
}
