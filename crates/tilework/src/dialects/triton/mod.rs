//! Types of Triton's GPU dialect: tensors whose encodings say which registers hold them, or how they lie in shared memory.
//!
//! ```
//! use tilework::triton::{Side, Type};
//! let shared = "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>";
//! let tensor = Type::parse(&format!("tensor<64x64xf16, {shared}>"))?;
//! assert_eq!(tensor.side(), Some(Side::Memory));
//! assert_eq!(tensor.lower()?.formula(), "S<3,3,3>(64·i + j)");
//! # Ok::<(), tilework::Error>(())
//! ```
//!
//! Every encoding becomes a [`LinearLayout`], as in Triton, and that a layout:
//!
//! ```
//! use tilework::triton::Type;
//! // 8 elements, and 16 threads with 4 registers: most hold what another holds.
//! let blocked = "#ttg.blocked<{sizePerThread = [4], threadsPerWarp = [4], warpsPerCTA = [4], order = [0]}>";
//! let tensor = Type::parse(&format!("tensor<8xf32, {blocked}>"))?;
//! let linear = "register = [[1], [2]], lane = [[4], [0]], warp = [[0], [0]], block = []";
//! assert_eq!(tensor.linear_layout()?.to_string(), linear);
//! let layout = tensor.lower()?;
//! assert_eq!(layout.dims(), [1, 4, 4, 4]); // block, warp, lane, register
//! assert_eq!(layout.offset(&[0, 3, 2, 1])?, 1); // lane 2 holds what lane 0 does
//! # Ok::<(), tilework::Error>(())
//! ```
//!
//! # What is read
//!
//! ```text
//! registers   blocked, linear, generic_linear, slice, nvidia_mma, amd_mfma, dot_op of blocked and of these two
//! memory      swizzled_shared, padded_shared, nvmma_shared, shared_linear, amd_rotating_shared, the older shared
//! ```
//!
//! with the names that lines above define, older spellings (`#triton_gpu.`, `CTAsPerCGA`) and newer ones (`CGALayout`).
//! Other encodings are read for their names; [`Type::lower`] says why they have no layout.

mod columns;
mod dialect;
mod encoding;
mod fields;
mod linear;
mod lower;
mod matrix;
mod meaning;
mod read;
mod say;
mod value;
mod words;

pub use dialect::DIALECT;
pub use linear::LinearLayout;
pub use value::{Side, Type};
