//! Fetching what a server has of files, before it is worked on.

use std::path::Path;

use tilework::Result;
use tilework::words::short_bytes;
use tilework_files::container::{Container, Fetch, Tensor};

use crate::output::Output;
use crate::progress::Progress;

/// What is worth a word where it is in memory.
const LARGE: u64 = 64 << 20;

/// Fetches what is missing of these arrays into the file without a name in `scratch`, and says how far it is.
pub fn fetch<'t>(
    container: &Container,
    tensors: impl Iterator<Item = &'t Tensor> + Clone,
    scratch: &Path,
    output: &mut Output,
) -> Result<()> {
    let missing = container.missing(tensors.clone());
    fetch_with(missing, (container.name(), scratch), output, |progress| container.fetch(tensors, progress))
}

/// The same of anything that is fetched into `scratch`, as `run` does it.
pub fn fetch_with(
    missing: Fetch,
    (name, scratch): (&str, &Path),
    output: &mut Output,
    run: impl FnOnce(&(dyn Fn(u64) + Sync)) -> Result<()>,
) -> Result<()> {
    if missing.bytes == 0 {
        return Ok(());
    }
    if missing.in_memory {
        note_memory(missing.bytes, &format!("of {name} are fetched into"), scratch, output);
    }
    let progress = Progress::new(missing.bytes, output.look.ascii);
    let fetched = run(&|done| progress.update(done));
    progress.finish();
    fetched
}

/// Says that so many bytes stand in memory as the folder for them is there.
pub fn note_memory(bytes: u64, what: &str, scratch: &Path, output: &mut Output) {
    if bytes >= LARGE {
        // Whoever does not listen any more wants no note.
        let _ = output.note(&format!(
            "{} {what} {}, which is in memory (tmpfs), beyond --memory; TMPDIR names a folder on a disk",
            short_bytes(bytes.into()),
            scratch.display()
        ));
    }
}
