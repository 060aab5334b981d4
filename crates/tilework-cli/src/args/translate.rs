//! `translate`: what is said in other notations, and in which.

use std::ffi::OsString;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use tilework::dialect::{Target, targets};

pub const TRANSLATE_EXAMPLES: &str = "\
Examples:
  tilework translate 'bf16[64,300]{1,0:T(8,128)(2,1)}'      # in every notation
  tilework translate 'f32[3,5]{0,1}' --to torch             # torch.float32 [3, 5] strides [1, 3]
  tilework translate 'f32[3,5]{0,1}' --to numpy,jax
  tilework translate 'memref<32x24xf32, strided<[1, 32]>>' --to xla
  tilework translate 'f32[3,5]{1,0:T(2,2)}' --to directml   # why not; exit code 1
  tilework translate --to memref < samples/shapes.txt       # one text a line";

#[derive(clap::Args)]
pub struct TranslateArgs {
    /// Texts in any notation; none or `-`: one a line on standard input
    #[arg(value_name = "SHAPE")]
    pub shapes: Vec<OsString>,

    /// Notations to say it in; of one the text alone is printed [default: all of them]
    #[arg(long, value_name = "NOTATION", value_delimiter = ',', value_parser = names(), ignore_case = true)]
    pub to: Vec<Target>,
}

/// What a layout can be said in, by name.
fn names() -> impl TypedValueParser<Value = Target> {
    let name = |target: Target| PossibleValue::new(target.name()).help(target.title());
    PossibleValuesParser::new(targets().map(name)).try_map(|name| Target::named(&name.to_ascii_lowercase()))
}
