//! Where files have no owner, group and mode, a new file gets the permissions of the one that it replaces.

use std::fs::{self, File, Permissions};
use std::io;
use std::path::Path;

/// The permissions of a file.
#[derive(Clone, Debug)]
pub(crate) struct Rights(Permissions);

impl Rights {
    /// Those of the file that has this name; none if no file has.
    pub(crate) fn of(path: &Path) -> io::Result<Option<Rights>> {
        match fs::symlink_metadata(path) {
            Ok(file) if file.is_file() => Ok(Some(Rights(file.permissions()))),
            Ok(_) => Err(io::Error::other("it is no plain file any more")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Nobody, where files have no owner.
    pub(crate) fn owners(_: Option<&Rights>) -> Vec<u32> {
        Vec::new()
    }

    /// Gives a new file these permissions.
    pub(crate) fn give(&self, file: &File) -> io::Result<()> {
        file.set_permissions(self.0.clone())
    }
}
