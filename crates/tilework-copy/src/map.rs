//! Files as bytes in memory.
//!
//! # What nobody can promise
//!
//! The bytes of a mapped file are those of the file: whoever changes the file changes them. A slice that changes while it
//! is read gives a relayout of bytes that never stood in the file together, which is the same as when a copying program
//! reads a file that is being written; a relayout takes no decision by the bytes that it moves, so nothing worse comes of
//! it. A file that is cut short while it is mapped ends the process with a bus error at the first missing page, and so
//! does a disk that cannot be read. Destinations are files that we made ourselves and that have no name yet, with all of
//! their room reserved.

use std::fs::File;
use std::io;
use std::ops::{Deref, DerefMut};

use memmap2::{Mmap, MmapMut, MmapOptions};

/// A file's bytes, to be read.
#[derive(Debug)]
pub struct Mapped(Mmap);

impl Mapped {
    /// Maps the whole file.
    ///
    /// # Errors
    /// What cannot be mapped, such as a pipe, and a file larger than the address space.
    pub fn read(file: &File) -> io::Result<Mapped> {
        let len = file.metadata()?.len();
        let len = usize::try_from(len).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
        // SAFETY: the mapping is read only and lives as long as the value. That nobody cuts the file short or changes it
        // meanwhile is beyond any process to enforce; what happens then is told at the head of this file.
        unsafe { MmapOptions::new().len(len).map(file) }.map(Mapped)
    }
}

impl Deref for Mapped {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

/// The bytes of a new file, to be written.
#[derive(Debug)]
pub struct MappedMut(MmapMut);

impl MappedMut {
    /// Makes an empty file so long, all zeros, and maps it.
    ///
    /// The room is reserved on the disk first: a full disk is an error here and not a bus error at some later store.
    ///
    /// # Errors
    /// A file that is not empty; a full disk or a limit on the size of files; and `Unsupported` where the file system can
    /// reserve no room or map no file, so that the bytes have to be written in another way.
    pub fn create(file: &File, len: u64) -> io::Result<MappedMut> {
        if file.metadata()?.len() != 0 {
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, "the file is not empty"));
        }
        let bytes = usize::try_from(len).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
        reserve(file, len)?;
        // SAFETY: the file was empty a moment ago and was made by the caller, who holds it open for writing; its room is
        // reserved, so that no store into it fails for want of room. See the head of this file for the rest.
        let map = unsafe { MmapOptions::new().len(bytes).map_mut(file) };
        map.map(MappedMut).map_err(|error| match error.raw_os_error() {
            // ENODEV: the file system maps no files for writing.
            Some(19) => io::Error::new(io::ErrorKind::Unsupported, error),
            _ => error,
        })
    }

    /// Waits until everything stands on the disk.
    ///
    /// # Errors
    /// A disk that cannot be written.
    pub fn flush(&self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Deref for MappedMut {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl DerefMut for MappedMut {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

/// Makes the file so long and its room certain.
#[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
fn reserve(file: &File, len: u64) -> io::Result<()> {
    use rustix::fs::{FallocateFlags, fallocate};
    use rustix::io::Errno;
    if len == 0 {
        return Ok(());
    }
    loop {
        return match fallocate(file, FallocateFlags::empty(), 0, len) {
            Ok(()) => Ok(()),
            Err(Errno::INTR) => continue,
            Err(error @ (Errno::OPNOTSUPP | Errno::NOSYS)) => {
                Err(io::Error::new(io::ErrorKind::Unsupported, error))
            }
            Err(error) => Err(error.into()),
        };
    }
}

/// Without a way to reserve room no store into the mapping is safe from a full disk.
#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "freebsd")))]
fn reserve(_: &File, _: u64) -> io::Result<()> {
    Err(io::Error::from(io::ErrorKind::Unsupported))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file without a name in the folder for temporary files.
    fn scratch(name: &str) -> io::Result<File> {
        let path = std::env::temp_dir().join(format!("tilework-map-{name}-{}", std::process::id()));
        let file = File::options().read(true).write(true).create_new(true).open(&path)?;
        std::fs::remove_file(&path)?;
        Ok(file)
    }

    #[test]
    fn what_is_stored_into_a_mapping_stands_in_the_file() -> io::Result<()> {
        let file = scratch("round")?;
        let mut map = MappedMut::create(&file, 10_000)?;
        assert!(map.iter().all(|&byte| byte == 0) && map.len() == 10_000);
        map[9_999] = 7;
        map.flush()?;
        drop(map);
        let read = Mapped::read(&file)?;
        assert_eq!((read.len(), read[9_998], read[9_999]), (10_000, 0, 7));
        let error = MappedMut::create(&file, 10).expect_err("the file holds something");
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        Ok(())
    }

    #[test]
    fn an_empty_file_is_an_empty_slice() -> io::Result<()> {
        let file = scratch("empty")?;
        assert!(MappedMut::create(&file, 0)?.is_empty());
        assert!(Mapped::read(&file)?.is_empty());
        Ok(())
    }

    #[test]
    fn more_than_any_disk_holds_is_an_error_before_anything_is_stored() -> io::Result<()> {
        assert!(MappedMut::create(&scratch("huge")?, 1 << 60).is_err());
        Ok(())
    }
}
