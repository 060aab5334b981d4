//! Memory to move data between.

use std::ops::{Deref, DerefMut, Range};

use memmap2::MmapMut;
use tilework_core::{Error, Result};

/// The line of a cache, which every buffer begins at.
const LINE: usize = 64;

/// A huge page. From this size on a buffer begins at one.
const HUGE: usize = 2 << 20;

/// Bytes of zeros that begin at a cache line, and at a huge page if there are many of them.
///
/// Large buffers ask for huge pages: with pages of 4 KiB the processor looks up addresses more often than it moves data.
///
/// ```
/// use tilework_copy::Buffer;
/// let buffer = Buffer::new(96)?;
/// assert_eq!((buffer.len(), buffer.as_ptr() as usize % 64), (96, 0));
/// # Ok::<(), tilework::Error>(())
/// ```
#[derive(Debug)]
pub struct Buffer {
    memory: Memory,
    range: Range<usize>,
}

#[derive(Debug)]
enum Memory {
    Small(Vec<u8>),
    Large(MmapMut),
}

impl Buffer {
    /// `bytes` bytes, all of them 0.
    ///
    /// # Errors
    /// More memory than the system gives.
    pub fn new(bytes: usize) -> Result<Buffer> {
        let refused = || {
            Error::new(format!("a buffer of {bytes} bytes"))
                .rule("the system gives as much memory as is asked for")
        };
        let is_large = bytes >= HUGE;
        let align = if is_large { HUGE } else { LINE };
        let whole = bytes.checked_add(align).ok_or_else(refused)?;
        let memory = if is_large {
            let map = MmapMut::map_anon(whole).map_err(|_| refused())?;
            // Advice may be refused, on systems without huge pages; then pages are small.
            #[cfg(target_os = "linux")]
            let _ = map.advise(memmap2::Advice::HugePage);
            Memory::Large(map)
        } else {
            Memory::Small(vec![0; whole])
        };
        let first = match &memory {
            Memory::Small(bytes) => bytes.as_ptr(),
            Memory::Large(bytes) => bytes.as_ptr(),
        };
        let start = (first as usize).next_multiple_of(align) - first as usize;
        Ok(Buffer { memory, range: start..start + bytes })
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.memory {
            Memory::Small(bytes) => &bytes[self.range.clone()],
            Memory::Large(bytes) => &bytes[self.range.clone()],
        }
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        match &mut self.memory {
            Memory::Small(bytes) => &mut bytes[self.range.clone()],
            Memory::Large(bytes) => &mut bytes[self.range.clone()],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_of_every_size_are_aligned_zero_and_writable_to_the_end() -> Result<()> {
        for bytes in [0, 1, 63, 64, 4097, HUGE - 1, HUGE, HUGE + 1, 3 * HUGE + 5] {
            let mut buffer = Buffer::new(bytes)?;
            let align = if bytes >= HUGE { HUGE } else { LINE };
            assert_eq!((buffer.len(), buffer.as_ptr() as usize % align), (bytes, 0));
            assert!(buffer.iter().all(|&byte| byte == 0));
            buffer.fill(255);
        }
        Ok(())
    }

    #[test]
    fn more_memory_than_there_is_is_an_error() {
        assert!(Buffer::new(usize::MAX).is_err());
        assert!(Buffer::new(usize::MAX / 2).is_err());
    }
}
