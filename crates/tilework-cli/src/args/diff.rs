//! The arguments of `diff`.

use std::ffi::OsString;

use super::named;

pub const DIFF_EXAMPLES: &str = "\
Arrays of the same name are compared element by element, whatever the formats, layouts and types: of the same type they have \
the same bits, of different types the same values. An npy file, or an array of Zarr, has no name for its array, which is compared \
with the only one of the other side, or the only one that --only leaves there. Padding and metadata are not compared. \
A and B may be addresses, s3://BUCKET/PATH or https://HOST/PATH: what is compared of a file is fetched into TMPDIR.

Exit codes: 0 the same arrays with the same elements, 1 some differ or are missing, 2 bad input.

Examples:
  tilework convert samples/model.safetensors tiled.npz --to 'T(8,128)(2,1)'
  tilework diff samples/model.safetensors tiled.npz
  tilework convert samples/model.safetensors half.gguf --convert f16 --only '*norm*'
  tilework diff samples/model.safetensors half.gguf                                    # exit code 1
  tilework diff samples/model.safetensors half.gguf --only '*norm*' --tolerance 0.001
  tilework diff samples/model.safetensors half.gguf --only '*norm*' --relative 0.0005";

#[derive(clap::Args)]
pub struct DiffArgs {
    /// A file of named arrays, or a folder
    #[arg(value_name = "A", value_hint = clap::ValueHint::AnyPath, value_parser = named())]
    pub a: OsString,

    /// The other
    #[arg(value_name = "B", value_hint = clap::ValueHint::AnyPath, value_parser = named())]
    pub b: OsString,

    /// Compare arrays of these names only: * is any number of characters, ? one; may be given several times
    #[arg(long, value_name = "PATTERN")]
    pub only: Vec<String>,

    /// Change names of A first: OLD=NEW, with * in both for what stays; the first that matches counts
    #[arg(long, value_name = "OLD=NEW")]
    pub rename: Vec<String>,

    /// Take numbers for the same that differ by no more than this
    #[arg(long, value_name = "NUMBER", default_value = "0", value_parser = tolerance)]
    pub tolerance: f64,

    /// Take numbers for the same that differ by no more than this part of the larger: 0.004 for what was rounded to bf16
    #[arg(long, value_name = "NUMBER", default_value = "0", value_parser = tolerance)]
    pub relative: f64,
}

fn tolerance(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
    number.ok_or_else(|| "a number of at least 0, such as 0.001".to_owned())
}
