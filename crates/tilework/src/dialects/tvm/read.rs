//! Reading an array with a layout string, and the layout that it means.

use std::fmt;

use super::axes::{Axes, MAX_DIMS};
use crate::dialect::{Known, sized};
use crate::element::Element;
use crate::error::{Error, ErrorKind, Result, counted};
use crate::layout::Layout;

/// An array of TVM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Array {
    pub(super) element: Element,
    /// In the order of the axes' letters.
    pub(super) dims: Vec<u64>,
    pub(super) axes: Axes,
}

/// Reads a layout string; type and sizes are known, or stand before it.
pub(super) fn read(text: &str, known: &Known) -> Result<Array> {
    let Some((array, rest)) = sized::prefix(text) else { return of(text, known) };
    let known = Known { dims: Some(&array.dims), element: Some(array.element), ..*known };
    of(&text[rest..], &known).map_err(|error| error.moved(rest))
}

fn of(text: &str, known: &Known) -> Result<Array> {
    let axes = Axes::parse(text)?;
    if !text.contains("->") && axes.is_uncut() {
        return Err(Error::new("a name of dimensions, which says no order by itself".to_owned())
            .at(0..text.len())
            .rule("an order is an order of dimensions that are named too")
            .accepts(format!(
                "{text}->{text} if they lie in this order, or the order of the sizes before the ->"
            )));
    }
    let (dims, element) = match (known.dims, known.element) {
        (Some(dims), Some(element)) => (dims.to_vec(), element),
        _ => {
            return Err(Error::new("a layout of TVM alone")
                .at(0..text.len())
                .rule("type and sizes stand before it")
                .accepts(format!("such as f32[1,32,7,7] {text}")));
        }
    };
    if dims.len() != axes.letters.len() {
        let [axes, dims] = [(axes.letters.len(), "axis"), (dims.len(), "dimension")].map(|(count, noun)| {
            if noun == "axis" && count != 1 { format!("{count} axes") } else { counted(count as u64, noun) }
        });
        return Err(Error::new(format!("{axes} for {dims}"))
            .of_kind(ErrorKind::Mismatch)
            .at(0..text.len())
            .rule("every dimension has an axis")
            .accepts(format!("axes for {dims}, up to {MAX_DIMS}")));
    }
    let array = Array { element, dims, axes };
    array.check().map_err(|error| error.at(0..text.len()))?;
    Ok(array)
}

impl Array {
    /// Condition of a factor: it divides its dimension.
    pub(super) fn check(&self) -> Result<()> {
        for (dim, &size) in self.dims.iter().enumerate() {
            let Some(factor) = self.axes.factor(dim) else { continue };
            if !size.is_multiple_of(factor) {
                return Err(Error::new(format!("dimension {dim} is {size}, in blocks of {factor}"))
                    .field("factor")
                    .rule("TVM pads nothing: it would drop what is left over behind the last whole block")
                    .accepts(format!("a multiple of {factor}, such as {}", size.next_multiple_of(factor))));
            }
        }
        Ok(())
    }

    /// The dimensions of the string, one after the other in row-major order.
    pub(super) fn lower(&self) -> Result<Layout> {
        self.check()?;
        let mut terms = Layout::terms(&self.dims, 8 * self.element.bytes())?;
        let (mut whole, mut within) = (Vec::new(), Vec::new());
        for dim in 0..self.dims.len() {
            let term = terms.dim(dim)?;
            match self.axes.factor(dim) {
                Some(factor) => {
                    let (blocks, rest) = terms.split(term, factor)?;
                    whole.push(Some(blocks));
                    within.push(Some(rest));
                }
                None => {
                    whole.push(Some(term));
                    within.push(None);
                }
            }
        }
        let mut stride = 1_i64;
        for digit in self.axes.digits.iter().rev() {
            let term =
                if digit.factor.is_some() { within[digit.dim].take() } else { whole[digit.dim].take() };
            let Some(term) = term else { continue };
            let extent = terms.extent(&term);
            terms.add(term, if extent > 1 { stride } else { 0 })?;
            stride = i64::try_from(extent.max(1))
                .ok()
                .and_then(|extent| stride.checked_mul(extent))
                .ok_or_else(|| {
                    Error::new("the places overflow 63 bits").of_kind(ErrorKind::Overflow).field("dimensions")
                })?;
        }
        terms.build(None, None)
    }
}

/// `f32[1,32,7,7] NCHW16c`
impl fmt::Display for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sizes: Vec<String> = self.dims.iter().map(u64::to_string).collect();
        write!(f, "{}[{}] {}", self.element, sizes.join(","), self.axes)
    }
}
