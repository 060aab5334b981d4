//! A file that is sent to a server as one object, which is there whole or not at all.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use tilework::Result;
use tilework_copy::Mapped;

use super::{Address, Body, Objects};

/// Called with how many bytes of a file the server has.
pub(super) type Progress = Arc<dyn Fn(u64) + Send + Sync>;

/// An object that is to be written.
#[derive(Debug)]
pub struct Object {
    /// The folder that it is in.
    objects: Objects,
    name: String,
}

impl Object {
    /// The object that an address names; none for a path of this machine.
    ///
    /// # Errors
    /// An address that takes no objects, no credentials, and settings that are none.
    pub fn of(out: &Path) -> Result<Option<Object>> {
        let Some(address) = Address::of(out)? else { return Ok(None) };
        let (folder, name) = address.to_write()?;
        Ok(Some(Object { objects: super::open(&folder)?, name: name.to_owned() }))
    }

    /// Sends all of a file that nobody changes meanwhile. An object of this name is replaced when all has come.
    ///
    /// # Errors
    /// What the server answers; then the old object stays.
    pub fn send(&self, file: &File, progress: Progress) -> Result<()> {
        self.objects.send_file(&self.name, file, progress)
    }
}

impl Objects {
    /// Puts all of a file that nobody changes meanwhile.
    pub(super) fn send_file(&self, key: &str, file: &File, progress: Progress) -> Result<()> {
        let map = Mapped::read(file).map_err(|error| self.about(key, format!("the file for it: {error}")))?;
        self.send(key, &(Arc::new(Sent { map, progress }) as Arc<dyn Body>))
    }
}

/// A file that is under way.
#[cfg_attr(not(feature = "objects"), allow(dead_code, reason = "nothing else sends"))]
struct Sent {
    map: Mapped,
    progress: Progress,
}

impl Body for Sent {
    fn all(&self) -> &[u8] {
        &self.map
    }

    fn sent(&self, bytes: u64) {
        self.map.forget();
        (self.progress)(bytes);
    }
}
