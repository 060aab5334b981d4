//! What a tensor of ggml means, part by part.

use super::tensor::{Tensor, list};
use super::types::{Block, Type};
use crate::dialect::{Dim, Fact, Facts, Part, words};

/// What the data of each tensor in a GGUF file is padded to, unless `general.alignment` says otherwise.
const ALIGNMENT: u64 = 32;

/// Every part of a tensor's text.
pub(super) fn parts(tensor: &Tensor) -> Vec<Part> {
    let kind = match tensor.kind {
        Type::Element(element) => words::element(element, 8 * element.bytes()),
        Type::Blocks(block) => format!(
            "blocks of {} elements in {} bytes, {} bits an element: {}",
            block.elements,
            block.bytes,
            per_element(block),
            block.holds
        ),
    };
    let dims: Vec<Dim> = tensor.dims().into_iter().map(Dim::Static).collect();
    let sizes = words::dims(&dims);
    let sizes = match tensor.ne.len() {
        1 => sizes.meaning,
        _ => format!("the most minor first: {}", sizes.meaning),
    };
    let mut parts = vec![
        Part::new("type", tensor.kind.name(), kind),
        Part::new("dimensions", format!("ne = {}", list(&tensor.ne)), sizes),
    ];
    if let Type::Blocks(block) = tensor.kind {
        parts.extend(rows(tensor, block));
    }
    if let Some(nb) = &tensor.nb {
        parts.push(Part::new("strides", format!("nb = {}", list(nb)), strides(tensor, nb)));
    }
    if let Some(offset) = tensor.view_offs {
        let plural = if offset == 1 { "" } else { "s" };
        let meaning = format!("element (0, …, 0) is {offset} byte{plural} from the start");
        parts.push(Part::new("offset", format!("view_offs = {offset}"), meaning));
    }
    if let (Type::Blocks(_), Some(bytes)) = (tensor.kind, tensor.bytes()) {
        let padded = bytes.checked_next_multiple_of(ALIGNMENT).filter(|&padded| padded != bytes);
        let file = match padded {
            Some(padded) => format!("padded to {padded} in a GGUF file, for an alignment of {ALIGNMENT}"),
            None => format!("a multiple of {ALIGNMENT}, so a GGUF file pads nothing behind it"),
        };
        parts.push(Part::new("size", format!("{bytes} bytes"), file));
    }
    parts
}

/// The rows of a tensor of blocks.
fn rows(tensor: &Tensor, block: &Block) -> Option<Part> {
    let blocks = tensor.ne[0] / block.elements;
    let bytes = blocks.checked_mul(block.bytes)?;
    let rows = tensor.ne[1..].iter().try_fold(1_u64, |rows, &size| rows.checked_mul(size))?;
    let plural = |count: u64| if count == 1 { "" } else { "s" };
    Some(Part::new(
        "rows",
        format!("{rows} row{}", plural(rows)),
        format!(
            "of {blocks} block{}, {bytes} bytes; a row is whole blocks, so it has no padding",
            plural(blocks)
        ),
    ))
}

fn strides(tensor: &Tensor, nb: &[u64]) -> String {
    let steps: Vec<i64> = nb.iter().rev().map(|&stride| stride as i64).collect(); // read as 63 bits
    let steps = words::steps_in(&steps, "byte");
    match tensor.kind {
        Type::Element(_) => steps,
        Type::Blocks(_) => format!("{steps}, from block to block"),
    }
}

/// Bits of an element, with those that it shares: `4.5`.
fn per_element(block: &Block) -> String {
    // Elements of a block are a power of two, so a few digits say it exactly.
    let whole = 8 * block.bytes / block.elements;
    let mut rest = 8 * block.bytes % block.elements;
    let mut digits = String::new();
    while rest > 0 {
        rest *= 10;
        digits.push_str(&(rest / block.elements).to_string());
        rest %= block.elements;
    }
    if digits.is_empty() { whole.to_string() } else { format!("{whole}.{digits}") }
}

/// The same as values.
pub(super) fn facts(tensor: &Tensor) -> Facts {
    let list = |numbers: &[u64]| numbers.iter().copied().collect::<Fact>();
    let facts = match tensor.kind {
        Type::Element(element) => Facts::about("array").with("element_type", element.name()),
        Type::Blocks(_) => Facts::about("blocks"),
    };
    let facts = facts
        .with("dimensions", list(&tensor.dims()))
        .with("written_type", tensor.kind.name())
        .with("ne", list(&tensor.ne))
        .with("nb", tensor.nb.as_deref().map(list))
        .with("view_offs", tensor.view_offs);
    match tensor.kind {
        Type::Element(_) => facts,
        Type::Blocks(block) => facts
            .with("block_elements", block.elements)
            .with("block_bytes", block.bytes)
            .with("row_bytes", (tensor.ne[0] / block.elements).checked_mul(block.bytes))
            .with("bytes", tensor.bytes()),
    }
}
