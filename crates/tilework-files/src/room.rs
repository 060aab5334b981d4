//! Whether a file of a known length can be written at all, asked before any of its room is taken.
//!
//! A reservation that fails has taken the whole disk for a moment, and everybody else's writes fail with it; and beyond the
//! limit of `ulimit -f` the system ends the process instead of answering.

use std::fs::File;

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

/// Whether what stands in this file is in memory, as in a folder of tmpfs.
#[cfg(target_os = "linux")]
pub(crate) fn is_in_memory(file: &File) -> bool {
    const TMPFS: u64 = 0x0102_1994;
    const RAMFS: u64 = 0x8584_58f6;
    rustix::fs::fstatfs(file).is_ok_and(|disk| [TMPFS, RAMFS].contains(&(disk.f_type as u64)))
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn is_in_memory(_: &File) -> bool {
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
