//! Files of named arrays, and stores of chunks.

use std::path::Path;

use tilework_files::container::{Container, Content, Format, How, Job, WriteError, Written};
use tilework_stores::zarr::{self, Compression, Store};

pub use tilework_stores::stage::apart;
pub use tilework_stores::{NewObject, is_address, new_folder, open, scratch_of};

/// Writes a new store.
pub fn write(
    from: &Container,
    jobs: &[Job],
    compression: Option<&str>,
    out: &Path,
    how: &How,
) -> std::result::Result<Written, WriteError> {
    let compression = compression.map(Compression::read).transpose()?.unwrap_or_default();
    zarr::write(from, jobs, Store { compression }, out, how)
}

/// Whether a new file of this format has the array as a list of its places, as it has no word for the layout.
pub fn is_stored_as_list(content: &Content, format: Format, transposed: bool) -> bool {
    match format {
        Format::Zarr => zarr::is_stored_as_list(content),
        _ => content.is_stored_as_list(format, transposed),
    }
}
