//! New folders that are not on this machine, as in a bucket: each file is sent under its name as soon as it is there, and the index
//! last.

use std::fs::File;
use std::path::Path;

use tilework::Result;

use super::Format;
use super::folder_out::{What, fingerprint, list, plan};
use super::write::{How, WriteError, Written, write_file};
use crate::destination::NewFile;

/// A new folder that is not on this machine, such as one of a bucket.
pub trait Elsewhere {
    /// Whether an earlier run of the same job has sent a file of this name.
    ///
    /// # Errors
    /// What the server answers.
    fn has(&self, name: &str) -> Result<bool>;

    /// Sends all of a file, which is there whole or not at all; `progress` is called with how many of its bytes are.
    ///
    /// # Errors
    /// What the server answers.
    fn send(&self, name: &str, file: &File, progress: &(dyn Fn(u64) + Sync)) -> Result<()>;

    /// Makes it a folder that is complete, with a last file if there is one.
    ///
    /// # Errors
    /// What the server answers.
    fn finish(&self, last: Option<(String, String)>) -> Result<()>;
}

/// What begins a folder elsewhere, or goes on with it, where what is said of the job is the same.
pub type Begin<'a> = &'a dyn Fn(&str) -> Result<Box<dyn Elsewhere>>;

/// Writes the files of a new folder elsewhere, called `out`: each is made in the folder `scratch`, without a name, and sent.
///
/// # Errors
/// A folder that exists, what one file can be refused for, and what the server answers.
pub(crate) fn send(
    (from, jobs, bodies): What,
    (format, limit): (Format, u64),
    (out, scratch, begin): (&Path, &Path, Begin),
    how: &How,
) -> std::result::Result<Written, WriteError> {
    let files = plan((from, jobs, bodies), format, limit)?;
    let elsewhere = begin(&fingerprint(from, jobs, &files))?;
    let mut written = Written { files: files.len(), ..Written::default() };
    let mut done = 0;
    for file in &files {
        let bytes: u64 = file.jobs.iter().map(|&job| jobs[job].written()).sum();
        written.bytes += file.frame.bytes;
        if elsewhere.has(&file.name)? {
            written.resumed += 1;
        } else {
            // Half of the way is writing it, and half sending it.
            let half = |part: u64, all: u64| {
                (how.progress)(
                    done + (u128::from(bytes) * u128::from(part) / u128::from(2 * all.max(1))) as u64,
                );
            };
            let here = How { progress: &|at| half(at, bytes), ..*how };
            let name = format!("{}/{}, by way of {}", out.display(), file.name, scratch.display());
            let new = NewFile::unnamed(scratch, name.into())?;
            write_file((from, jobs), (&file.jobs, &file.frame), &new, scratch, &here, 0)?;
            let all = file.frame.bytes;
            elsewhere.send(&file.name, &new.into_file(), &|sent| half(all + sent, all))?;
        }
        done += bytes;
        (how.progress)(done);
    }
    let last = list(format, jobs, bodies, &files);
    if let Some((_, text)) = &last {
        written.bytes += text.len() as u64;
        written.files += 1;
    }
    elsewhere.finish(last)?;
    Ok(written)
}
