//! The arguments of `block`.

use std::ffi::OsString;

pub const BLOCK_EXAMPLES: &str = "\
The rule, as JAX 0.10.2 checks it for blocks in VMEM: the last two dimensions of a block are divisible by 8 and 128 \
respectively, or equal to those of the array. Blocks of rank 1 have a rule of their own. A dimension that the kernel does not \
see is None and counts as 1. Of the array, sizes and element type count; its layout does not.

Examples:
  tilework block 'f32[1024,100]' 8,100              # legal: 100 is the array's own size
  tilework block 'bf16[512,512]' 100,200            # refused, and what is near; exit code 1
  tilework block 'bf16[8,512,512]' None,128,512 1,8,128
  tilework block 'float32 (5000,)' 1024 --json
  tilework block 'f32[1000]' 384                    # a rule of its own; exit code 1";

#[derive(clap::Args)]
pub struct BlockArgs {
    /// The array, in any notation
    pub array: OsString,

    /// Block shapes, such as 8,128 or None,8,128; none or `-`: one a line on standard input
    #[arg(value_name = "BLOCK", allow_negative_numbers = true)]
    pub blocks: Vec<OsString>,
}
