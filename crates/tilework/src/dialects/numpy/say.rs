//! Layouts in the words of NumPy and PyTorch: strides, or an order where it has a name; code for what these cannot say.

use std::sync::Arc;

use super::array::{Array, Library, Order};
use super::recipe;
use crate::dialect::Said;
use crate::element::Element;
use crate::error::{Error, ErrorKind, Result, counted};
use crate::layout::Layout;
use crate::layout::strided::Strided;

/// An array of NumPy, or code that makes the buffer.
pub(super) fn numpy(layout: &Layout, element: Element) -> Result<Said> {
    say(Library::Numpy, layout, element)
}

/// A tensor of PyTorch, or code that makes the buffer.
pub(super) fn torch(layout: &Layout, element: Element) -> Result<Said> {
    say(Library::Torch, layout, element)
}

fn say(library: Library, layout: &Layout, element: Element) -> Result<Said> {
    match array(library, layout, element) {
        Ok(array) => Ok(Arc::new(array)),
        Err(_) => recipe::code(library, layout, element),
    }
}

/// The array with the fewest words: in an order that has a name, with strides, or with an offset too.
fn array(library: Library, layout: &Layout, element: Element) -> Result<Array> {
    let system = library.title();
    let plain = Array {
        printer: library,
        element,
        dims: layout.dims().to_vec(),
        strides: None,
        order: None,
        offset: None,
    };
    if library.name(element).is_none() {
        return Err(no(format!("{system} has no element type {element}")));
    }
    if layout.bits() != 8 * plain.itemsize() {
        let bits = layout.bits();
        return Err(no(format!("elements of {bits} bits, and {system} gives each whole bytes")));
    }
    let Strided { first, strides, .. } = layout.to_strides()?;
    let unit = if library == Library::Numpy { u64::from(plain.itemsize()) } else { 1 };
    let strides: Option<Vec<i64>> = strides.iter().map(|stride| stride.checked_mul(unit as i64)).collect();
    let with_strides = Array { strides, ..plain.clone() };
    let mut candidates = vec![plain.clone()];
    if library == Library::Torch {
        let formats = [Order::ChannelsLast, Order::ChannelsLast3d];
        candidates.extend(formats.map(|order| Array { order: Some(order), ..plain.clone() }));
    }
    let offset = first.checked_mul(unit);
    candidates.extend([with_strides.clone(), Array { offset, ..with_strides.clone() }]);
    let says = |array: &Array| array.lower().is_ok_and(|said| said == *layout);
    candidates.into_iter().find(says).ok_or_else(|| {
        let strides = with_strides.strides.as_deref().unwrap_or_default();
        match with_strides.element_strides(strides) {
            Err((dim, error)) => {
                let dim = dim.map(|dim| format!(" in dimension {dim}")).unwrap_or_default();
                let rule = error.broken_rule().unwrap_or_default().to_owned();
                no(format!("{}{dim}", error.found())).rule(rule)
            }
            Ok(_) => {
                let own = Array { offset, ..with_strides }.lower().map_or(0, |own| own.size());
                let behind = counted(layout.size().saturating_sub(own), "place");
                no(format!("{behind} behind the last element"))
                    .rule(format!("an array of {system} ends with its last element"))
            }
        }
    })
}

fn no(found: String) -> Error {
    Error::new(found).of_kind(ErrorKind::Unsupported).field("layout")
}
