//! The buffer of a layout as an array: which digits of the dimensions are its axes.
//!
//! The digits of all dimensions, sorted by their strides, are the axes of the buffer. Each takes as many values as its stride
//! has room for in the one above it. Notations that pad, reshape and transpose say a layout from these.

use crate::order::InOrder;
use std::cmp::Reverse;

use crate::ask::digits::Digits;
use crate::error::{Error, ErrorKind, Result};
use crate::layout::Layout;

/// A digit as an axis of the buffer.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    /// Of the dimension, and which of its digits, counted from the most significant; none for places that no digit tells
    /// apart.
    pub digit: Option<(usize, usize)>,
    pub extent: u64,
    /// The values that places are allocated for.
    pub room: u64,
    /// Places behind all of these, up to the next value of the axis above; below 0 where that comes before the last value has
    /// all its places, which hold no element there.
    pub behind: i64,
}

/// The buffer as axes, the most major first.
pub struct Axes {
    pub axes: Vec<Axis>,
    /// The digits of each dimension, the most significant first.
    pub of_dims: Vec<Vec<u64>>,
    /// Places before the first and behind the last of the axes; below 0 where the buffer ends before the axes do.
    pub around: (u64, i128),
}

impl Axes {
    /// The axes of a layout's buffer.
    ///
    /// # Errors
    /// A layout without digits, elements that share places or run backward, and digits that lie among others.
    pub fn of(layout: &Layout) -> Result<Axes> {
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
        sorted.order_by_key(|&(stride, digit, _)| (Reverse(stride), digit));
        if sorted.last().is_some_and(|&(stride, ..)| stride > 1) {
            sorted.push((1, None, 1));
        }
        // Behind the last axis there is room for what comes before the first; both are places around the whole.
        let mut above = layout.size() - first;
        let mut axes = Vec::with_capacity(sorted.len());
        let mut around = (first, 0);
        // How far the last element is from the first, by this digit and those below.
        let mut reach: u128 =
            sorted.iter().map(|&(stride, _, extent)| u128::from(stride) * u128::from(extent - 1)).sum();
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
            if room < extent || behind < 0 && reach >= u128::from(above) {
                return Err(no(format!(
                    "{extent} elements with a stride of {stride} lie among others that are {above} apart"
                )));
            }
            // Between the strides of this axis and of the one above, with a sign.
            let behind = i64::try_from(behind).map_err(|_| no("places between elements overflow 63 bits"))?;
            axes.push(Axis { digit, extent, room, behind });
            reach -= u128::from(stride) * u128::from(extent - 1);
            above = stride;
        }
        if axes.is_empty() {
            around.1 = i128::from(layout.size()) - i128::from(first) - 1; // one element
        }
        let extents = |digits: &Vec<crate::Digit>| digits.iter().rev().map(|digit| digit.extent).collect();
        let mut axes = Axes { axes, of_dims: of_dims.iter().map(extents).collect(), around };
        axes.place_units();
        Ok(axes)
    }

    /// Gives the dimensions of one element a place: where there is room for more of them, the last dimensions first as tiles
    /// are cut from the end, or else in their order.
    fn place_units(&mut self) {
        for dim in (0..self.of_dims.len()).rev().filter(|&dim| self.of_dims[dim] == [1]) {
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
        // What is left of places that no digit tells apart, where there are none.
        self.axes.retain(|axis| axis.digit.is_some() || axis.room > 1 || axis.behind != 0);
        if let (true, (0, behind @ 1..), Some(last)) =
            (self.axes.iter().all(|axis| axis.room == 1), self.around, self.axes.last_mut())
        {
            last.room += u64::try_from(behind).unwrap_or(0);
            self.around.1 = 0;
        }
    }

    /// The axis that a digit is, if it is one.
    pub fn axis(&self, dim: usize, place: usize) -> Option<usize> {
        self.axes.iter().position(|axis| axis.digit == Some((dim, place)))
    }

    /// How far each dimension is padded before anything else: to whole digits, and its first digit to the room there is.
    pub fn padding(&self, layout: &Layout) -> Vec<(u64, u64)> {
        let behind = |(dim, digits): (usize, &Vec<u64>)| {
            let below: u64 = digits.iter().skip(1).product();
            let first = self.axis(dim, 0).map_or(digits[0], |axis| self.axes[axis].room);
            (0, first.saturating_mul(below).saturating_sub(layout.dims()[dim]))
        };
        self.of_dims.iter().enumerate().map(behind).collect()
    }
}

fn no(found: impl Into<String>) -> Error {
    Error::new(found).of_kind(ErrorKind::Unsupported).field("layout")
}
