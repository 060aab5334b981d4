//! The arguments of `ls`.

use std::ffi::OsString;

use super::named;

pub const LS_EXAMPLES: &str = "\
A FILE is safetensors, an index of its shards, npz, GGUF, npy, a Zarr store, a checkpoint of JAX (Orbax), or a folder with one of \
these in it. Files are mapped, and nothing but headers is read. Pickles are never loaded. Each may be in a bucket, \
s3://BUCKET/PATH, or on a web server, https://HOST/PATH: its headers are fetched. `tilework rechunk --help` says where credentials \
come from.

Examples:
  tilework ls samples/model.safetensors
  tilework ls samples/model.safetensors --only 'layers.*.weight'
  tilework ls samples/model.safetensors --json";

#[derive(clap::Args)]
pub struct LsArgs {
    /// Files of named arrays
    #[arg(value_name = "FILE", required = true, value_hint = clap::ValueHint::AnyPath, value_parser = named())]
    pub files: Vec<OsString>,

    /// List arrays of these names only: * is any number of characters, ? one, '!*.bias' all others; may be given several times
    #[arg(long, value_name = "PATTERN")]
    pub only: Vec<String>,
}
