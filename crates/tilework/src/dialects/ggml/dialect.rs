//! Tensors of ggml among the notations.

use super::line::is_line;
use super::read::{is_words, read};
use super::say::say;
use super::tensor::Tensor;
use super::types::Type;
use super::words;
use crate::dialect::{Confidence, Described, Dialect, Example, Facts, Part};
use crate::element::Element;
use crate::error::Result;
use crate::layout::Layout;

/// Tensors of ggml, as its programs print them.
pub static DIALECT: Dialect = Dialect {
    name: "ggml",
    title: "a tensor of ggml",
    recognise: |text| (is_line(text) || is_words(text)).then_some(Confidence::Certain),
    read: |text, known| read(text, known).map(|found| vec![found]),
    say: Some(say),
    forms: &[],
    examples: EXAMPLES,
};

const EXAMPLES: &[Example] = &[
    Example {
        text: "type = f32, ne = [5, 3]",
        shows: "sizes, the most minor first",
        offsets: &[(&[2, 3], 13)],
        size: 15,
    },
    Example {
        text: "type=f16,ne=[10,5,4,3],nb=[2,20,100,400]",
        shows: "strides in bytes, as test-backend-ops writes lists",
        offsets: &[(&[2, 3, 4, 9], 400 + 150 + 40 + 9)],
        size: 600,
    },
    Example {
        text: "f32 ne = [3 5 1 1] nb = [20 4 60 60]",
        shows: "a transposed view",
        offsets: &[(&[0, 0, 4, 2], 2 * 5 + 4)],
        size: 15,
    },
    Example {
        text: "type = i32, ne = [4, 2], nb = [4, 32], view_offs = 16",
        shows: "columns of a larger tensor",
        offsets: &[(&[0, 0], 4), (&[1, 3], 4 + 8 + 3)],
        size: 16,
    },
    Example {
        text: "type = bf16, ne = [64, 1, 8], nb = [2, 128, 0]",
        shows: "a dimension that repeats",
        offsets: &[(&[7, 0, 63], 63)],
        size: 64,
    },
    Example {
        text: "llama_model_loader: - tensor    1:           blk.0.attn_norm.weight f32      [  4096,     1,     1,     1 ]",
        shows: "the log of llama.cpp",
        offsets: &[(&[4095], 4095)],
        size: 4096,
    },
    Example {
        text: "[   1/ 780]              blk.0.attn_q.weight - [ 2560,  2560,     1], type =  f16, size =    12.50 MB",
        shows: "the log of llama-quantize",
        offsets: &[(&[1, 3], 2563)],
        size: 2560 * 2560,
    },
    Example {
        text: "      7:       7168 |  7168,     1,     1,     1 | F32     | blk.0.attn_norm.weight",
        shows: "what gguf-dump prints",
        offsets: &[(&[7167], 7167)],
        size: 7168,
    },
    Example {
        text: "INFO:hf-to-gguf:token_embd.weight,  torch.bfloat16 --> F16, shape = {4096, 32000}",
        shows: "what convert_hf_to_gguf prints",
        offsets: &[(&[1, 2], 4098)],
        size: 4096 * 32000,
    },
];

impl Described for Tensor {
    fn dialect(&self) -> &'static Dialect {
        &DIALECT
    }

    fn kind(&self) -> &'static str {
        match self.kind {
            Type::Element(_) => "array",
            Type::Blocks(_) => "blocks",
        }
    }

    fn element(&self) -> Option<Element> {
        match self.kind {
            Type::Element(element) => Some(element),
            Type::Blocks(_) => None,
        }
    }

    fn layout(&self) -> Result<Layout> {
        self.lower()
    }

    fn open(&self) -> Option<String> {
        match self.kind {
            Type::Element(_) => None,
            Type::Blocks(block) => Some(format!(
                "The {} elements of a block are coded together, so an element has no place of its own and there is no layout.",
                block.elements
            )),
        }
    }

    fn parts(&self, _: Option<&Layout>) -> Vec<Part> {
        words::parts(self)
    }

    fn facts(&self) -> Facts {
        words::facts(self)
    }
}
