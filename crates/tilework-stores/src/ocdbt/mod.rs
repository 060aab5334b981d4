//! OCDBT: a database of keys in a few files, as TensorStore writes it, and as JAX's checkpoints (Orbax) are stored.
//!
//! ```text
//! manifest.ocdbt         how it is stored, and where the root of the newest version is
//! d/9bdb804d7474…        nodes of the tree, and values that are too large to stand in a node
//! ocdbt.process_0/d/…    the same of a database that this one was merged from
//! ```
//!
//! The root is a node of a B+tree. A node has keys and, at height 0, values: bytes, or a range of a file. Above, it has a range of a
//! file for each node below it. So a database is a place like a folder (`zarr/place.rs`): a key leads to a range of a file,
//! and arrays in it are read as from files of their own.
//!
//! All keys are read when a database is opened. Orbax writes nodes of up to 100 MB, most often one, so there is little to be
//! spared by reading fewer. Nothing is believed: a node has the checksum and the height that is said of it, which ends
//! every walk; keys ascend; files are within the database; and all nodes together take no more memory than [`MOST`].
//!
//! The format: <https://google.github.io/tensorstore/kvstore/ocdbt/index.html>.

mod bytes;
mod node;
mod place;

pub(crate) use place::Database;
use tilework::{Error, ErrorKind};

/// The name of the manifest.
pub(crate) const MANIFEST: &str = "manifest.ocdbt";

/// Bytes that all nodes of a database take in memory, at most.
const MOST: u64 = 1 << 30;

/// What a node, a key or a file takes in memory beside its bytes, about.
const EACH: u64 = 192;

fn too_large() -> Error {
    Error::new(format!("a database whose keys take more than {MOST} bytes"))
        .of_kind(ErrorKind::Limit)
        .rule("all keys of a database are held in memory")
}
