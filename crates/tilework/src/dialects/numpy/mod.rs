//! Arrays as the libraries of Python print them: element type, sizes and strides.
//!
//! What strides cannot say is said as code that makes the buffer; see `recipe`.
//!
//! NumPy counts strides in bytes, PyTorch in elements. A text is PyTorch's if one of PyTorch's words is in it, such as
//! `torch.float32` or `stride`.

mod array;
mod dialect;
mod read;
mod recipe;
mod say;
mod words;

pub use dialect::DIALECT;
