//! The arguments of `suggest`.

use std::ffi::OsString;

use tilework::xla::Layout;
use tilework_audit::KEPT;

use super::target::{TargetArgs, told};

pub const SUGGEST_EXAMPLES: &str = "\
Targets: tpu (any from v4 on), tpu-v2, tpu-v3, tpu-v4, tpu-v5e, tpu-v5p, tpu-v6e, tpu7x, tenstorrent.
A layout without tiles is taken as the target usually lays out its order. A bounded dimension counts with its bound. \
These are sizes only: whether the compiler needs an order, or is faster with it, is not known here. For a parameter of a \
program the compiler of TPUs chooses the first of them by itself.

Examples:
  tilework suggest 's32[8388608,8,4]{2,1,0:T(8,128)}' --target tpu
  tilework suggest 'bf16[2621440,1,2]' --target tenstorrent
  tilework suggest 'f32[100,60]' --tile 'T(8,128)' --tile 'T(4,128)' --top 3
  tilework suggest 's32[8388608,8,4]{2,1,0:T(8,128)}' --what-if '{0,2,1:T(4,128)}'
  tilework suggest --json < samples/shapes.txt    # one shape a line, # begins a comment";

#[derive(clap::Args)]
pub struct SuggestArgs {
    /// Arrays; none or `-`: one a line on standard input
    #[arg(value_name = "SHAPE")]
    pub shapes: Vec<OsString>,

    #[command(flatten)]
    pub target: TargetArgs,

    /// A layout to compare with instead of searching; may be repeated
    #[arg(long, value_name = "LAYOUT", conflicts_with_all = ["target", "tile", "top"], value_parser = layout)]
    pub what_if: Vec<Layout>,

    /// How many layouts to list at most
    #[arg(long, value_name = "NUMBER", default_value = "5", value_parser = clap::value_parser!(u16).range(1..=KEPT as i64))]
    pub top: u16,
}

fn layout(text: &str) -> Result<Layout, String> {
    Layout::parse(text).map_err(|error| told(&error, text))
}
