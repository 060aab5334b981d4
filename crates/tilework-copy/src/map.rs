//! Files as bytes in memory.
//!
//! # What nobody can promise
//!
//! The bytes of a mapped file are those of the file: whoever changes the file changes them. A slice that changes while it
//! is read gives a relayout of bytes that never stood in the file together, which is the same as when a copying program
//! reads a file that is being written; a relayout takes no decision by the bytes that it moves, so nothing worse comes of
//! it.
//!
//! A file that is cut short while it is mapped has pages that cannot be read, and so has one on a disk that fails. On Linux such
//! a mapping becomes all zeros, and [`Mapped::intact`] says so (`fault.rs`); elsewhere the process ends with a bus error.
//! Destinations are files that we made ourselves and that have no name yet, with all of their room reserved.

use std::fs::File;
use std::io;
use std::ops::{Deref, DerefMut};

use memmap2::{Mmap, MmapMut, MmapOptions};

#[cfg(target_os = "linux")]
use crate::fault::Watched;

/// A file's bytes, to be read.
///
/// If somebody cuts the file short meanwhile, missing bytes are read as 0 on Linux, so ask [`Mapped::intact`] when all is
/// read; for that the first value installs a handler of SIGBUS, which passes on whatever is not about a value of this
/// type. On other systems a read of a missing page ends the process.
#[derive(Debug)]
pub struct Mapped {
    // Dropped first: nothing is watched that is not mapped.
    #[cfg(target_os = "linux")]
    watched: Option<Watched>,
    map: Mmap,
    file: File,
}

impl Mapped {
    /// Maps the whole file.
    ///
    /// # Errors
    /// What cannot be mapped, such as a pipe, and a file larger than the address space.
    pub fn read(file: &File) -> io::Result<Mapped> {
        let file = file.try_clone()?;
        let len = file.metadata()?.len();
        let len = usize::try_from(len).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
        // SAFETY: the mapping is read only and lives as long as the value. That nobody cuts the file short or changes it
        // meanwhile is beyond any process to enforce; the head of this file says what happens then.
        let map = unsafe { MmapOptions::new().len(len).map(&file) }?;
        Ok(Mapped {
            // SAFETY: the mapping is from the beginning of the file, so it has its pages to itself; it is unmapped after
            // `watched` is dropped.
            #[cfg(target_os = "linux")]
            watched: (len > 0).then(|| unsafe { Watched::new(map.as_ptr(), len) }),
            map,
            file,
        })
    }

    /// Whether every byte that was read so far stood in the file.
    ///
    /// # Errors
    /// A file that is shorter now than when it was mapped, or a disk that could not be read: then bytes were read as 0.
    pub fn intact(&self) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        let is_missing = self.watched.as_ref().is_some_and(Watched::is_missing);
        #[cfg(not(target_os = "linux"))]
        let is_missing = false;
        // A page that the file still begins has zeros behind its end, and no fault.
        let is_short = self.file.metadata()?.len() < self.map.len() as u64;
        match (is_short, is_missing) {
            (false, false) => Ok(()),
            (true, _) => {
                Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file was cut short while it was read"))
            }
            (false, true) => Err(io::Error::other("the file could not be read to its end")),
        }
    }
}

impl Mapped {
    /// Gives back the memory that holds what was read so far. What is wanted again is read from the file again.
    ///
    /// Without this a process that goes through a large file seems to hold all of it, as far as the system has room. Does
    /// nothing on systems other than Linux.
    pub fn forget(&self) {
        #[cfg(target_os = "linux")]
        // SAFETY: nothing is ever stored through this mapping, so its pages come back as they were: from the file, or as
        // zeros where `fault.rs` has put these in the file's place.
        let _ = unsafe { self.map.unchecked_advise(memmap2::UncheckedAdvice::DontNeed) };
    }
}

impl Deref for Mapped {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.map
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

    /// Gives back the memory that holds what was written so far, which the file keeps: the system writes it to the disk when
    /// it likes. Does nothing on systems other than Linux.
    pub fn forget(&mut self) {
        #[cfg(target_os = "linux")]
        // SAFETY: the mapping shares its pages with the file, so what was stored in them stays there.
        let _ = unsafe { self.0.unchecked_advise(memmap2::UncheckedAdvice::DontNeed) };
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
    fn what_is_forgotten_is_there_when_it_is_wanted() -> io::Result<()> {
        let file = scratch("forget")?;
        let mut map = MappedMut::create(&file, 100_000)?;
        map[5_000..90_000].fill(7);
        map.forget();
        assert!(
            map[5_000..90_000].iter().all(|&byte| byte == 7) && map[..5_000].iter().all(|&byte| byte == 0)
        );
        let read = Mapped::read(&file)?;
        assert_eq!((read[4_999], read[5_000]), (0, 7));
        read.forget();
        assert_eq!((read[89_999], read[90_000]), (7, 0));
        read.intact()
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

    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_that_is_cut_short_is_zeros_and_says_so_and_no_other_is() -> io::Result<()> {
        let files = [scratch("cut")?, scratch("partly")?, scratch("whole")?];
        for file in &files {
            io::Write::write_all(&mut &*file, &vec![7; 1 << 20])?;
        }
        for _ in 0..3 {
            let maps = [Mapped::read(&files[0])?, Mapped::read(&files[1])?, Mapped::read(&files[2])?];
            files[0].set_len(0)?;
            files[1].set_len((1 << 20) - 1)?;
            let sum = |map: &Mapped| map.iter().map(|&byte| u64::from(byte)).sum::<u64>();
            std::thread::scope(|scope| {
                let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| sum(&maps[0]))).collect();
                for thread in threads {
                    assert_eq!(thread.join().expect("it reads"), 0);
                }
            });
            assert_eq!([sum(&maps[1]), sum(&maps[2])], [7 * ((1 << 20) - 1), 7 << 20]);
            for map in &maps[..2] {
                let error = map.intact().expect_err("bytes are missing").to_string();
                assert!(error.contains("cut short"), "{error}");
            }
            maps[2].intact()?;
            files[0].set_len(1 << 20)?;
            assert!(maps[0].intact().is_err(), "the zeros were read all the same");
            std::os::unix::fs::FileExt::write_all_at(&files[0], &vec![7; 1 << 20], 0)?;
            std::os::unix::fs::FileExt::write_all_at(&files[1], &[7], (1 << 20) - 1)?;
        }
        Ok(())
    }

    /// Runs one test of this program by itself, as a process of its own, and says what ended it.
    #[cfg(target_os = "linux")]
    fn alone(test: &str) -> io::Result<std::process::ExitStatus> {
        let mut command = std::process::Command::new(std::env::current_exe()?);
        command.args(["--exact", test, "--ignored"]).env("TILEWORK_TEST_ALONE", "1");
        command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).status()
    }

    /// A fault in a mapping that is not ours. The process ends, so `a_fault_elsewhere_ends_the_process` runs it.
    #[cfg(target_os = "linux")]
    #[test]
    #[ignore = "ends the process"]
    fn a_fault_elsewhere() -> io::Result<()> {
        if std::env::var_os("TILEWORK_TEST_ALONE").is_none() {
            return Ok(());
        }
        let (ours, other) = (scratch("ours")?, scratch("other")?);
        ours.set_len(1 << 16)?;
        other.set_len(1 << 16)?;
        let ours = Mapped::read(&ours)?;
        // SAFETY: read only, and cut short on purpose.
        let map = unsafe { Mmap::map(&other) }?;
        other.set_len(0)?;
        let sum: u64 = map.iter().chain(ours.iter()).map(|&byte| u64::from(byte)).sum();
        unreachable!("read {sum}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_fault_elsewhere_ends_the_process() -> io::Result<()> {
        use std::os::unix::process::ExitStatusExt;
        assert_eq!(alone("map::tests::a_fault_elsewhere")?.signal(), Some(libc::SIGBUS));
        Ok(())
    }

    #[test]
    fn more_than_any_disk_holds_is_an_error_before_anything_is_stored() -> io::Result<()> {
        assert!(MappedMut::create(&scratch("huge")?, 1 << 60).is_err());
        Ok(())
    }
}
