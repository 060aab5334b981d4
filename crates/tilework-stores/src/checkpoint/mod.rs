//! Checkpoints: tensors by name, each whole in one file or in parts in several.
//!
//! # Parts of tensors in safetensors
//!
//! A file has a part of a tensor under the tensor's own name, with the sizes of the part, and says in its metadata where the part
//! begins. That is how PyTorch's distributed checkpoints are written as safetensors (`HuggingFaceStorageWriter`), and what
//! `consolidate_safetensors_files` of PyTorch reads:
//!
//! ```text
//! shard-00002-model-00001-of-00001.safetensors
//! {"__metadata__": {"format": "pt", "DCP_VERSION": "1.0",
//!                   "DCP_SHARDING_INFO": "{\"w\": {\"saved_offsets\": [32, 0]}}"},
//!  "w": {"dtype": "F32", "shape": [32, 300], "data_offsets": [0, 38400]}}
//! ```
//!
//! The sizes of a tensor are where its last parts end. So that a file that is missing at the end is missed, files that are written
//! here say the sizes as well, under `tilework.sizes`; PyTorch's do not. Parts that several files have are copies.

mod chunks;
mod devices;
mod read;
mod write;

pub use read::{Checkpoint, Parts, Sharded};
pub use write::{Open, Reshard, Rule, Written, file_name};

/// The key of the metadata that says where parts begin.
const OFFSETS: &str = "DCP_SHARDING_INFO";

/// The key of the metadata that says the sizes of whole tensors.
const SIZES: &str = "tilework.sizes";
