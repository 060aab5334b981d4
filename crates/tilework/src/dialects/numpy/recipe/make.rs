//! Recipes for layouts.
//!
//! The digits of all dimensions, sorted by their strides, are the axes of the buffer. Each takes as many values as its stride
//! has room for in the one above it. So the array is padded to whole digits, reshaped to them, transposed, and flattened; what
//! an inner digit or the end of the buffer has room for besides is padded after that.

use std::cmp::Reverse;
use std::sync::Arc;

use super::super::array::Library;
use super::pattern::{Named, Pattern};
use super::{MOST, Recipe, Step, Style, View};
use crate::ask::digits::Digits;
use crate::dialect::Said;
use crate::element::Element;
use crate::error::{Error, ErrorKind, Result, counted};
use crate::layout::Layout;

/// A digit as an axis of the buffer.
#[derive(Clone, Copy, Debug)]
struct Axis {
    /// Of the dimension, and which of its digits, counted from the most significant; none for places that no digit tells
    /// apart.
    digit: Option<(usize, usize)>,
    extent: u64,
    /// The values that places are allocated for.
    room: u64,
    /// Places behind all of these, up to the next value of the axis above.
    behind: u64,
}

/// The buffer as axes, the most major first.
struct Axes {
    axes: Vec<Axis>,
    /// The digits of each dimension, the most significant first.
    of_dims: Vec<Vec<u64>>,
    /// Places before the first and behind the last of the axes; below 0 where the buffer ends before the axes do.
    around: (u64, i128),
}

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
    let steps = match style {
        Style::Einops => axes.rearranged(layout)?,
        _ => axes.steps(layout),
    };
    let recipe = Recipe { style, element, dims: layout.dims().to_vec(), steps };
    match recipe.lower()?.same_buffer(layout).is_yes() {
        true => Ok(recipe),
        false => Err(no("the digits of the dimensions make another buffer")),
    }
}

impl Axes {
    fn of(layout: &Layout) -> Result<Axes> {
        let digits = layout.to_digits()?;
        if layout.is_empty() {
            let axis = |(dim, &size): (usize, &u64)| Axis {
                digit: Some((dim, 0)),
                extent: size,
                room: size,
                behind: 0,
            };
            let axes = layout.dims().iter().enumerate().map(axis).collect();
            let of_dims = layout.dims().iter().map(|&size| vec![size]).collect();
            return Ok(Axes { axes, of_dims, around: (0, layout.size().into()) });
        }
        let Digits { first, of_dims } = digits;
        let mut sorted = Vec::new();
        for (dim, digits) in of_dims.iter().enumerate() {
            for (place, digit) in digits.iter().rev().enumerate().filter(|(_, digit)| digit.extent > 1) {
                let stride = u64::try_from(digit.stride).unwrap_or(0);
                match digit.stride {
                    0 => {
                        return Err(no(format!(
                            "dimension {dim} is broadcast: its elements share their places"
                        )));
                    }
                    ..0 => return Err(no(format!("dimension {dim} runs backward"))),
                    _ => sorted.push((stride, Some((dim, place)), digit.extent)),
                }
            }
        }
        sorted.sort_by_key(|&(stride, digit, _)| (Reverse(stride), digit));
        if sorted.last().is_some_and(|&(stride, ..)| stride > 1) {
            sorted.push((1, None, 1));
        }
        // Behind the last axis there is room for what comes before the first; both are places around the whole.
        let mut above = layout.size() - first;
        let mut axes = Vec::with_capacity(sorted.len());
        let mut around = (first, 0);
        for (number, (stride, digit, extent)) in sorted.into_iter().enumerate() {
            let room = match number {
                0 if first > 0 => extent,
                0 => extent.max(above / stride),
                _ if above.is_multiple_of(stride) => above / stride,
                _ => extent,
            };
            let places = u128::from(room) * u128::from(stride);
            let mut behind = i128::from(above) - places as i128; // both below 2^127
            if number == 0 {
                around.1 = std::mem::take(&mut behind);
            }
            if behind < 0 || room < extent {
                return Err(no(format!(
                    "{extent} elements with a stride of {stride} lie among others that are {above} apart"
                )));
            }
            axes.push(Axis { digit, extent, room, behind: behind as u64 }); // at most the stride above
            above = stride;
        }
        if axes.is_empty() {
            around.1 = i128::from(layout.size()) - i128::from(first) - 1; // one element
        }
        let extents = |digits: &Vec<crate::Digit>| digits.iter().rev().map(|digit| digit.extent).collect();
        let mut axes = Axes { axes, of_dims: of_dims.iter().map(extents).collect(), around };
        axes.place_units();
        match axes.axes.len() > MOST {
            true => Err(no(format!("{} axes", axes.axes.len()))),
            false => Ok(axes),
        }
    }

    /// Gives the dimensions of one element a place: where there is room for more of them, or else in their order.
    fn place_units(&mut self) {
        for dim in (0..self.of_dims.len()).filter(|&dim| self.of_dims[dim] == [1]) {
            let is_loose = |axis: &Axis| {
                let is_inner = axis.digit.is_none_or(|(_, place)| place > 0);
                is_inner && axis.room > axis.extent && axis.room.is_multiple_of(axis.extent)
            };
            let loose = self.axes.iter().position(is_loose);
            let at = loose.or_else(|| {
                self.axes.iter().position(|axis| axis.digit.is_none_or(|(other, _)| other > dim))
            });
            let at = at.unwrap_or(self.axes.len());
            let mut room = 1;
            if loose.is_some() {
                let axis = &mut self.axes[at];
                room = axis.room / axis.extent;
                axis.room = axis.extent;
            }
            self.axes.insert(at, Axis { digit: Some((dim, 0)), extent: 1, room, behind: 0 });
        }
    }

    /// The axis that a digit is, if it is one.
    fn axis(&self, dim: usize, place: usize) -> Option<usize> {
        self.axes.iter().position(|axis| axis.digit == Some((dim, place)))
    }

    /// How far each dimension is padded before anything else: to whole digits, and its first digit to the room there is.
    fn padding(&self, layout: &Layout) -> Vec<(u64, u64)> {
        let behind = |(dim, digits): (usize, &Vec<u64>)| {
            let below: u64 = digits.iter().skip(1).product();
            let first = self.axis(dim, 0).map_or(digits[0], |axis| self.axes[axis].room);
            (0, first.saturating_mul(below).saturating_sub(layout.dims()[dim]))
        };
        self.of_dims.iter().enumerate().map(behind).collect()
    }

    fn steps(&self, layout: &Layout) -> Vec<Step> {
        let mut steps = Vec::new();
        let padding = self.padding(layout);
        let padded: Vec<u64> = layout.dims().iter().zip(&padding).map(|(size, pair)| size + pair.1).collect();
        steps.extend(some_padding(padding));
        // The axes as they stand in the array: by dimension and digit, and what is no digit last.
        let mut placed: Vec<usize> = (0..self.axes.len()).collect();
        placed.sort_by_key(|&axis| (self.axes[axis].digit.is_none(), self.axes[axis].digit));
        let is_first = |axis: usize| self.axes[axis].digit.is_some_and(|(_, place)| place == 0);
        let extent = |axis: usize| {
            let Axis { extent, room, .. } = self.axes[axis];
            if is_first(axis) { room } else { extent }
        };
        let sizes: Vec<u64> = placed.iter().map(|&axis| extent(axis)).collect();
        if sizes != padded {
            steps.push(Step::Reshape(sizes));
        }
        let inner = placed.iter().map(|&axis| (0, self.axes[axis].room - extent(axis)));
        steps.extend(some_padding(inner.collect()));
        let place = |axis: usize| placed.iter().position(|&other| other == axis).unwrap_or(axis);
        let order: Vec<usize> = (0..self.axes.len()).map(place).collect();
        if !order.is_sorted() {
            steps.push(Step::Transpose(order));
        }
        // Places behind whole blocks of the axes below.
        let mut stride = 1;
        for (number, axis) in self.axes.iter().enumerate().rev() {
            stride *= axis.room;
            if axis.behind > 0 {
                let above = self.axes[..number].iter().map(|axis| axis.room);
                steps.push(Step::Reshape(above.chain([stride]).collect()));
                steps.push(Step::Pad((0..number).map(|_| (0, 0)).chain([(0, axis.behind)]).collect()));
                stride += axis.behind;
            }
        }
        steps.push(Step::Ravel);
        let (before, behind) = self.around;
        steps.extend(some_padding(vec![(before, u64::try_from(behind).unwrap_or(0))]));
        if behind < 0 {
            steps.push(Step::Take(layout.size()));
        }
        steps
    }

    /// The same with a pattern in the place of reshape and transpose.
    fn rearranged(&self, layout: &Layout) -> Result<Vec<Step>> {
        let is_first = |axis: &Axis| axis.digit.is_some_and(|(_, place)| place == 0);
        let is_loose = |axis: &&Axis| !is_first(axis) && axis.room > axis.extent || axis.behind > 0;
        let inner = self.axes.iter().find(is_loose);
        if let Some(axis) = inner {
            return Err(no(match axis.digit {
                Some((dim, _)) => format!("needs padding between pieces of dimension {dim}"),
                None => format!("needs padding behind every element, which takes {} places", axis.room),
            }));
        }
        match self.around {
            (0, 0) => {}
            (0, ..0) => return Err(no("ends with its last element, in the middle of a row of places")),
            (0, behind) => {
                let behind = counted(u64::try_from(behind).unwrap_or(u64::MAX), "place");
                return Err(no(format!("needs padding: {behind} behind the last")));
            }
            (before, _) => {
                return Err(no(format!(
                    "needs padding: {} before the first element",
                    counted(before, "place")
                )));
            }
        }
        let mut steps: Vec<Step> = some_padding(self.padding(layout)).collect();
        let rank = self.of_dims.len();
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
        let mut right: Vec<Vec<usize>> = vec![Vec::new(); self.axes.len()];
        for (dim, digits) in self.of_dims.iter().enumerate() {
            let mut group = Vec::new();
            for (place, &extent) in digits.iter().enumerate() {
                let Some(axis) = self.axis(dim, place) else { continue }; // every digit is one
                let size = if place == 0 { self.axes[axis].room } else { extent };
                let number = named(dim, (digits.len() > 1).then_some(place), size);
                group.push(number);
                right[axis].push(number);
            }
            left.push(group);
        }
        steps.push(Step::Rearrange(Pattern { axes, left, right }));
        Ok(steps)
    }
}

/// A step of padding, unless nothing is padded.
fn some_padding(pairs: Vec<(u64, u64)>) -> impl Iterator<Item = Step> {
    let is_some = pairs.iter().any(|pair| *pair != (0, 0));
    is_some.then_some(Step::Pad(pairs)).into_iter()
}
