//! The DirectML dialect: descriptions of tensors by sizes and strides, checked and explained.
//!
//! # A description
//!
//! Sizes say how many elements a tensor has in each dimension, strides where they lie: an element's offset is the dot
//! product of its index and the strides. Sizes are never reordered for a layout; strides are.
//!
//! ```
//! use tilework::directml::{BufferTensorDesc, DataType};
//! let dhw = BufferTensorDesc::new(DataType::Uint8, &[2, 2, 3])?; // D, H, W
//! assert_eq!(dhw.effective_strides()[..], [6, 3, 1]);
//! assert_eq!(dhw.offset(&[1, 0, 1])?, 7); // (1,0,1)·(6,3,1)
//!
//! // A 3 × 5 image as NCHW and as NHWC
//! let strides = |order| BufferTensorDesc::in_order(DataType::Uint8, &[1, 1, 3, 5], "NCHW", order);
//! assert_eq!(strides("NCHW")?.strides(), Some(&[15, 15, 5, 1][..]));
//! assert_eq!(strides("NHWC")?.strides(), Some(&[15, 1, 5, 1][..]));
//! # Ok::<(), tilework::Error>(())
//! ```
//!
//! A stride of 0 repeats: 3 elements are a 2 × 3 tensor. A stride larger than packed pads:
//!
//! ```
//! use tilework::directml::Desc;
//! let words = |text: &str| Desc::parse(text)?.build()?.words();
//! let repeated = words("UINT8 [2,3] strides [0,1]")?;
//! assert_eq!((repeated.elements, repeated.minimum_elements, &repeated.broadcast_dims[..]), (6, 3, &[0][..]));
//! let padded = words("UINT8 [2,3] strides [5,1]")?; // ABCxxDEF
//! assert_eq!((padded.minimum_elements, padded.gaps), (8, true));
//! # Ok::<(), tilework::Error>(())
//! ```
//!
//! # What is legal
//!
//! [`Desc`] is a description as somebody wrote it, and [`check`] says everything it breaks: rule, field, value, limit and
//! a legal value. [`BufferTensorDesc`] is one that breaks nothing; its total is computed whenever it is asked for.
//!
//! ```
//! use tilework::directml::{Desc, FeatureLevel, check};
//! let desc = Desc::parse("FLOAT16 [5,55] strides [9,3] total 123 alignment 5")?;
//! let found = check(&desc, FeatureLevel::LATEST, None);
//! assert_eq!(found[0].to_string(), "TotalTensorSizeTooSmall: TotalTensorSizeInBytes = 123; \
//!     the total holds every element, rounded up to 4 bytes; limit: 400 or more; legal: 400");
//! assert_eq!(found[1].legal.as_deref(), Some("8"));
//! # Ok::<(), tilework::Error>(())
//! ```
//!
//! # View or copy
//!
//! Permuting, slicing and broadcasting never move data; [`BufferTensorDesc::reshape`] and what is made of it (fold,
//! flatten) answer with the view, or with the two dimensions that forbid it.
//!
//! # Where references differ
//!
//! Some implementations wrap around, refuse views that exist or accept ones that do not. The plain names here are exact;
//! what another system answers has its name in it (`…_like_onnx_runtime`, `…_wrapping_like_directmlx`).

mod broadcast;
mod c;
mod check;
mod code;
mod data_type;
mod desc;
mod dialect;
mod emulate;
mod fold;
mod json;
mod level;
mod lower;
mod make;
mod meaning;
mod order;
mod policy;
mod rank;
mod raw;
mod read;
mod size;
mod strides;
mod terms;
mod text;
mod view;
mod violation;
mod words;

pub use broadcast::{
    CollapsedPair, broadcast_strides_like_onnx_runtime, broadcast_strides_like_tensorflow, collapse_pair,
    common_sizes,
};
pub use c::{DML_BUFFER_TENSOR_DESC, DML_TENSOR_DESC, DML_TENSOR_TYPE_BUFFER, DML_TENSOR_TYPE_INVALID};
pub use check::{Binding, check};
pub use code::is_code;
pub use data_type::DataType;
pub use desc::{BufferTensorDesc, TensorFlags};
pub use dialect::DIALECT;
pub use emulate::{pack_nibbles, unpack_nibbles};
pub use fold::{Fold, SimpleTranspose, coerce_to_2d, simplify_transpose, transpose_as_output_strides};
pub use level::{
    DIMENSION_COUNT_MAX, DIMENSION_COUNT_MAX1, FeatureLevel, MAX_ELEMENTS, MINIMUM_BUFFER_TENSOR_ALIGNMENT,
    PERSISTENT_BUFFER_ALIGNMENT, TEMPORARY_BUFFER_ALIGNMENT, TEXTURE_PITCH_ALIGNMENT,
};
pub use meaning::needed_bytes;
pub use order::{axes_for_rank, letters_of};
pub use policy::{TensorProperties, default_policy, interleaved_channel_policy};
pub use rank::{Align, align_dimensions};
pub use raw::{Desc, Numbers, TypeField};
pub use read::{FoundDesc, read_descs, read_json};
pub use size::{buffer_size_bytes, buffer_size_bytes_wrapping_like_directmlx, required_bytes};
pub use strides::{
    broadcast_order_strides, interleaved_channel_strides, order_strides, packed_strides, padded_strides,
};
pub use terms::SizeTerms;
pub use view::{CopyNeeded, SubView, ViewOrCopy};
pub use violation::{Rule, Violation};
pub use words::{Remark, Words, remarks};
