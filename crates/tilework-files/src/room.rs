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
