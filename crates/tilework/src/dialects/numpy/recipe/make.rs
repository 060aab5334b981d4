//! Recipes for layouts.
//!
//! The array is padded to whole digits, reshaped to them, transposed to the axes of the buffer, and flattened; what an inner
//! digit or the end of the buffer has room for besides is padded after that.

use std::sync::Arc;
use tilework_core::InOrder;

use super::super::array::Library;
use super::pattern::{Named, Pattern};
use super::{MOST, Recipe, Step, Style, View};
use crate::ask::axes::{Axes, Axis};
use crate::dialect::Said;
use crate::element::Element;
use crate::error::{Error, ErrorKind, Result, counted};
use crate::layout::Layout;

/// Code that makes the buffer, or where elements share places or run backward, what sees the array in it.
pub(in super::super) fn code(library: Library, layout: &Layout, element: Element) -> Result<Said> {
    let style = if library == Library::Torch { Style::Torch } else { Style::Numpy };
    match recipe(style, layout, element) {
        Ok(recipe) => Ok(Arc::new(recipe)),
        Err(why) => view(library, layout, element).map(|view| Arc::new(view) as Said).map_err(|_| why),
    }
}

/// The same of NumPy.
pub(in super::super) fn numpy(layout: &Layout, element: Element) -> Result<Said> {
    code(Library::Numpy, layout, element)
}

/// The same in einops' words.
pub(in super::super) fn einops(layout: &Layout, element: Element) -> Result<Said> {
    Ok(Arc::new(recipe(Style::Einops, layout, element)?))
}

fn no(found: impl Into<String>) -> Error {
    Error::new(found).of_kind(ErrorKind::Unsupported).field("layout")
}

fn require(library: Library, layout: &Layout, element: Element) -> Result<()> {
    let title = library.title();
    if library.name(element).is_none() {
        return Err(no(format!("{title} has no element type {element}")));
    }
    let bits = layout.bits();
    match bits == 8 * element.bytes() {
        true => Ok(()),
        false => Err(no(format!("elements of {bits} bits, and {title} gives each whole bytes"))),
    }
}

/// The array in a buffer, by strides.
fn view(library: Library, layout: &Layout, element: Element) -> Result<View> {
    require(library, layout, element)?;
    let strided = layout.to_strides()?;
    if let (Library::Torch, Some(dim)) = (library, strided.strides.iter().position(|&stride| stride < 0)) {
        return Err(no(format!("dimension {dim} runs backward, and PyTorch has no negative strides")));
    }
    let (strides, first, size) = (strided.strides, strided.first, Some(layout.size()));
    let view = View { library, element, dims: layout.dims().to_vec(), strides, first, size };
    match view.lower()?.same_buffer(layout).is_yes() {
        true => Ok(view),
        false => Err(no("strides over a buffer are another layout")),
    }
}

fn recipe(style: Style, layout: &Layout, element: Element) -> Result<Recipe> {
    require(style.library(), layout, element)?;
    let axes = Axes::of(layout)?;
    if axes.axes.len() > MOST {
        return Err(no(format!("{} axes", axes.axes.len())));
    }
    let steps = match style {
        Style::Einops => rearranged(&axes, layout)?,
        _ => steps(&axes, layout),
    };
    let recipe = Recipe { style, element, dims: layout.dims().to_vec(), steps };
    match recipe.lower()?.same_buffer(layout).is_yes() {
        true => Ok(recipe),
        false => Err(no("the digits of the dimensions make another buffer")),
    }
}

/// The steps from the array to its buffer.
fn steps(axes: &Axes, layout: &Layout) -> Vec<Step> {
    let mut steps = Vec::new();
    let padding = axes.padding(layout);
    let padded: Vec<u64> = layout.dims().iter().zip(&padding).map(|(size, pair)| size + pair.1).collect();
    steps.extend(some_padding(padding));
    // The axes as they stand in the array: by dimension and digit, and what is no digit last.
    let mut placed: Vec<usize> = (0..axes.axes.len()).collect();
    placed.order_by_key(|&axis| (axes.axes[axis].digit.is_none(), axes.axes[axis].digit));
    let is_first = |axis: usize| axes.axes[axis].digit.is_some_and(|(_, place)| place == 0);
    let extent = |axis: usize| {
        let Axis { extent, room, .. } = axes.axes[axis];
        if is_first(axis) { room } else { extent }
    };
    let sizes: Vec<u64> = placed.iter().map(|&axis| extent(axis)).collect();
    if sizes != padded {
        steps.push(Step::Reshape(sizes));
    }
    let inner = placed.iter().map(|&axis| (0, axes.axes[axis].room - extent(axis)));
    steps.extend(some_padding(inner.collect()));
    let place = |axis: usize| placed.iter().position(|&other| other == axis).unwrap_or(axis);
    let order: Vec<usize> = (0..axes.axes.len()).map(place).collect();
    if !order.is_sorted() {
        steps.push(Step::Transpose(order));
    }
    // Places behind whole blocks of the axes below, and blocks that end before their last places.
    let mut stride = 1;
    for (number, axis) in axes.axes.iter().enumerate().rev() {
        stride *= axis.room;
        if axis.behind != 0 {
            let above = axes.axes[..number].iter().map(|axis| axis.room);
            steps.push(Step::Reshape(above.chain([stride]).collect()));
            stride = stride.saturating_add_signed(axis.behind); // the stride above, which is checked
            steps.push(match u64::try_from(axis.behind) {
                Ok(behind) => Step::Pad((0..number).map(|_| (0, 0)).chain([(0, behind)]).collect()),
                Err(_) => Step::Crop(stride),
            });
        }
    }
    steps.push(Step::Ravel);
    let (before, behind) = axes.around;
    steps.extend(some_padding(vec![(before, u64::try_from(behind).unwrap_or(0))]));
    if behind < 0 {
        steps.push(Step::Take(layout.size()));
    }
    steps
}

/// The same with a pattern in the place of reshape and transpose.
fn rearranged(buffer: &Axes, layout: &Layout) -> Result<Vec<Step>> {
    let is_first = |axis: &Axis| axis.digit.is_some_and(|(_, place)| place == 0);
    let is_loose = |axis: &&Axis| !is_first(axis) && axis.room > axis.extent || axis.behind != 0;
    let inner = buffer.axes.iter().find(is_loose);
    if let Some(axis) = inner {
        return Err(no(match axis.digit {
            Some((dim, _)) => format!("needs padding between pieces of dimension {dim}"),
            None => format!("needs padding behind every element, which takes {} places", axis.room),
        }));
    }
    match buffer.around {
        (0, 0) => {}
        (0, ..0) => return Err(no("ends with its last element, in the middle of a row of places")),
        (0, behind) => {
            let behind = counted(u64::try_from(behind).unwrap_or(u64::MAX), "place");
            return Err(no(format!("needs padding: {behind} behind the last")));
        }
        (before, _) => {
            return Err(no(format!("needs padding: {} before the first element", counted(before, "place"))));
        }
    }
    let mut steps: Vec<Step> = some_padding(buffer.padding(layout)).collect();
    let rank = buffer.of_dims.len();
    let mut axes = Vec::new();
    let mut named = |dim: usize, place: Option<usize>, size: u64| {
        let letter = match b"ijklmnop".get(dim).filter(|_| rank <= 8) {
            Some(&letter) => char::from(letter).to_string(),
            None => format!("d{dim}"),
        };
        let joint = if rank <= 8 { "" } else { "_" };
        let name = place.map_or(letter.clone(), |place| format!("{letter}{joint}{place}"));
        axes.push(Named { name, size });
        axes.len() - 1
    };
    let mut left = Vec::new();
    let mut right: Vec<Vec<usize>> = vec![Vec::new(); buffer.axes.len()];
    for (dim, digits) in buffer.of_dims.iter().enumerate() {
        let mut group = Vec::new();
        for (place, &extent) in digits.iter().enumerate() {
            let Some(axis) = buffer.axis(dim, place) else { continue }; // every digit is one
            let size = if place == 0 { buffer.axes[axis].room } else { extent };
            let number = named(dim, (digits.len() > 1).then_some(place), size);
            group.push(number);
            right[axis].push(number);
        }
        left.push(group);
    }
    steps.push(Step::Rearrange(Pattern { axes, left, right }));
    Ok(steps)
}

/// A step of padding, unless nothing is padded.
fn some_padding(pairs: Vec<(u64, u64)>) -> impl Iterator<Item = Step> {
    let is_some = pairs.iter().any(|pair| *pair != (0, 0));
    is_some.then_some(Step::Pad(pairs)).into_iter()
}
