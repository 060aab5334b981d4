//! What a text of NumPy or PyTorch means, part by part.

use super::array::{Array, Library};
use crate::dialect::words;
use crate::dialect::{Dim, Fact, Facts, Part};

/// Every part of an array's text.
pub(super) fn parts(array: &Array) -> Vec<Part> {
    let kept = 8 * array.itemsize();
    let name = array.printer.name(array.element).unwrap_or(array.element.name());
    let dims: Vec<Dim> = array.dims.iter().map(|&size| Dim::Static(size)).collect();
    let mut parts = vec![
        Part::new("element type", name, words::element(array.element, kept)),
        Part { text: array.list(&array.dims), ..words::dims(&dims) },
    ];
    if let Some(strides) = &array.strides {
        let meaning = words::steps_in(strides, array.printer.unit());
        parts.push(Part::new("strides", format!("strides {}", array.list(strides)), meaning));
    }
    if let Some(order) = array.order {
        let meaning = order.minor_to_major(array.dims.len()).ok().and_then(|order| words::order(&order));
        parts.extend(meaning.map(|meaning| Part::new("order", order.word(array.printer), meaning)));
    }
    if let Some(offset) = array.offset {
        let unit = array.printer.unit();
        let plural = if offset == 1 { "" } else { "s" };
        let meaning = format!("element (0, …, 0) is {offset} {unit}{plural} from the start");
        parts.push(Part::new("offset", format!("{} {offset}", array.printer.offset_word()), meaning));
    }
    parts
}

/// The same as values.
pub(super) fn facts(array: &Array) -> Facts {
    let list = |numbers: &[i64]| numbers.iter().copied().collect::<Fact>();
    let library = match array.printer {
        Library::Numpy => "numpy",
        Library::Torch => "torch",
    };
    Facts::about("array")
        .with("element_type", array.element.name())
        .with("dimensions", array.dims.iter().copied().collect::<Fact>())
        .with("library", library)
        .with("written_type", array.printer.name(array.element))
        .with("strides", array.strides.as_deref().map(list))
        .with("unit", array.printer.unit())
        .with("order", array.order.map(|order| order.word(array.printer)))
        .with("offset", array.offset)
}
