//! The ggml dialect: tensors as ggml, llama.cpp and gguf-py print them.
//!
//! ```text
//! type = f32, ne = [5, 3], nb = [4, 20]                                      sizes, and strides in bytes
//! type=f16,ne=[64,32,8,1],nb=[2,1024,128,32768],view_offs=256                the same, of a view
//! llama_model_loader: - tensor 0: token_embd.weight q4_0 [ 4096, 32000, 1, 1 ]
//! [   1/ 291] token_embd.weight - [ 4096, 32000, 1, 1], type = f16, …       llama-quantize
//!       1:  131072000 |  4096, 32000,     1,     1 | Q4_0    | token_embd.weight     gguf-dump
//! token_embd.weight, torch.bfloat16 --> F16, shape = {4096, 32000}           convert_hf_to_gguf
//! ```
//!
//! ggml counts dimensions from the most minor, so the array is that of the sizes in reverse: `ne = [5, 3]` is 3 × 5, as
//! NumPy has what it reads from a GGUF file.
//!
//! A quantised type has blocks of elements along `ne[0]`. Within a block an element has no place of its own, so such a tensor
//! is explained and has no layout.

mod dialect;
mod line;
mod read;
mod say;
mod tensor;
mod types;
mod words;

pub use dialect::DIALECT;
pub use types::Block;

/// The most dimensions of a tensor.
const MAX_DIMS: usize = 4;
