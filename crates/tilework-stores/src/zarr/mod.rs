//! Zarr: arrays as chunks under keys, of version 3 and version 2.
//!
//! What the metadata say of places is one layout, that of all chunks one after the other (`tilework::zarr`); what they say of bytes
//! is a list of codecs (`codec.rs`), and where a shard has its chunks is an index (`shard.rs`). A chunk that nothing encodes is
//! mapped, and moved straight from the file; the codec `transpose` is an order of dimensions, so it is part of the layout and moves
//! nothing by itself. A chunk that is missing is the fill value.
//!
//! Nothing that a store says is believed before it is counted: a chunk unpacks to the bytes of its layout and not one more, and the
//! chunks of a shard lie within it and apart.

mod blosc;
mod chain;
mod codec;
mod fill;
mod gathered;
pub(crate) mod json;
pub(crate) mod meta;
mod new;
mod one;
pub(crate) mod open;
mod own;
pub(crate) mod place;
mod read;
mod shard;
mod stored;
pub(crate) mod sum;
pub(crate) mod walk;
mod write;

pub(crate) use json::LONGEST;
pub(crate) use new::fits;
pub use new::written;
pub use new::{Compression, NewArray, Spec};
pub(crate) use open::open_one;
pub use open::{is_store, open, open_array};
pub use read::Array;
pub use stored::{chunks_of, is_stored_as_list};
pub(crate) use write::go_on;
pub use write::{Store, create, write};
