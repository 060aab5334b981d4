//! Notes on layouts, for formats that can say no other than row-major.
//!
//! An array in another layout is stored as its places: a list of as many elements as the layout has places, padding among
//! them. Where the format has no word for the type of the elements either, it is a list of bytes. The metadata of the file
//! has the layout, as text in XLA's notation with type and sizes, under `tilework.layout.` and the name of the array. Whoever
//! does not know the note reads a list of numbers, and loses nothing.
//!
//! A layout that is only an order of the dimensions can be stored with the sizes in that order instead, which anybody reads as
//! the transposed array. The note is the same.

use tilework::{Element, Error, Result, dialect};

use super::array::{Blocks, Content, Placed};
use super::json::shown;
use crate::npy::compact_order;

/// What the key of a note begins with; the name of the array follows.
pub(crate) const KEY: &str = "tilework.layout.";

/// What stored numbers are, by the word of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// Elements of this type.
    Of(Element),
    /// Nothing that is known but their bytes.
    Bytes(u32),
}

/// Whether a list has all places of an array: as elements, or byte after byte.
fn is_list(array: &Placed, dims: &[u64], word: Word) -> bool {
    let layout = &array.layout;
    let as_bytes = matches!(word, Word::Of(Element::U8 | Element::S8)) && *dims == [layout.bytes()];
    let bits = match word {
        Word::Of(element) if element == array.element => layout.bits(),
        Word::Of(_) => return as_bytes,
        Word::Bytes(bytes) => 8 * bytes,
    };
    as_bytes || bits == layout.bits() && *dims == [layout.size()]
}

/// The sizes in the order in which the dimensions lie, of a layout that is such an order and nothing else.
pub(crate) fn transposed(array: &Placed) -> Option<Vec<u64>> {
    let order = compact_order(&array.layout, array.said.minor_to_major().as_deref())?;
    Some(order.iter().rev().map(|&dim| array.layout.dims()[dim]).collect())
}

/// What a note says of an array that a store has as `dims` elements of this type.
///
/// # Errors
/// A note that is no layout, or one of another array than the one that is there.
pub fn as_noted(name: &str, note: &str, dims: &[u64], element: Element) -> Result<Content> {
    let bytes = dims.iter().try_fold(u64::from(element.bytes()), |bytes, &size| bytes.checked_mul(size));
    let bytes = bytes.ok_or_else(|| Error::new(format!("the sizes {dims:?} of {}", shown(name))))?;
    read(name, note, dims, Word::Of(element), bytes)
}

/// The array that a note says, stored with these sizes in `bytes` bytes.
///
/// # Errors
/// A note that is no layout, or one of another array than the one that is there.
pub(crate) fn read(name: &str, note: &str, dims: &[u64], word: Word, bytes: u64) -> Result<Content> {
    let fail = |found: String| {
        Error::new(found)
            .rule(format!("its note, {KEY}NAME in the metadata, says how the array lies that is stored"))
            .accepts("the array as it was written, or the file without the note")
    };
    if let Some(blocks) = Blocks::read(note) {
        let is_list = matches!(word, Word::Of(Element::U8 | Element::S8)) && *dims == [bytes];
        return match blocks {
            Ok(blocks) if is_list && blocks.bytes() == bytes => Ok(Content::Blocks(blocks)),
            _ => Err(fail(format!("tensor {} of {bytes} bytes with the note {}", shown(name), shown(note)))),
        };
    }
    let read = dialect::read_one(note).and_then(Placed::of);
    let array =
        read.map_err(|error| fail(format!("tensor {} with the note {}: {error}", shown(name), shown(note))))?;
    let is_word = match word {
        Word::Of(element) => element == array.element,
        Word::Bytes(bytes) => 8 * bytes == array.layout.bits(),
    };
    let is_transposed = || is_word && transposed(&array).is_some_and(|sizes| sizes == dims);
    if array.layout.bytes() != bytes || !(is_list(&array, dims, word) || is_transposed()) {
        return Err(fail(format!(
            "tensor {} of {bytes} bytes with sizes {dims:?} and the note {}",
            shown(name),
            shown(note)
        )));
    }
    Ok(Content::Array(array))
}
