//! Where a recipe puts every element.
//!
//! An axis of an array on the way is a number made of digits of the dimensions: `start + Σ weight · digit`, below its extent.
//! Padding moves the start and raises the extent. A reshape writes the number of all axes anew, in other radices; where a
//! boundary of these goes through a digit, the digit is split.

use super::{Recipe, Step};
use crate::error::{Error, ErrorKind, Result};
use crate::layout::Layout;
use crate::layout::terms::{Term, Terms};

/// A digit of a dimension, times its weight.
#[derive(Debug)]
struct Part {
    term: Term,
    weight: u64,
    /// The largest value of the digit.
    most: u64,
}

/// An axis of an array on the way.
#[derive(Debug, Default)]
struct Axis {
    parts: Vec<Part>,
    start: u64,
    extent: u64,
}

impl Axis {
    /// Where the last element is.
    fn reach(&self) -> u128 {
        let part = |part: &Part| u128::from(part.weight) * u128::from(part.most);
        self.parts.iter().map(part).sum::<u128>() + u128::from(self.start)
    }
}

impl Recipe {
    /// The layout of the buffer.
    ///
    /// # Errors
    /// A reshape that cuts a dimension in unequal pieces, and more bytes than 63 bits can count.
    pub(super) fn lower(&self) -> Result<Layout> {
        let mut terms = Layout::terms(&self.dims, 8 * self.element.bytes())?;
        let mut axes = Vec::new();
        for (dim, &extent) in self.dims.iter().enumerate() {
            let term = terms.dim(dim)?;
            // A dimension of one element is at 0, whatever its weight.
            let part = (extent > 1).then_some(Part { term, weight: 1, most: extent.saturating_sub(1) });
            axes.push(Axis { parts: part.into_iter().collect(), start: 0, extent });
        }
        for (number, step) in self.steps.iter().enumerate() {
            axes = match step {
                Step::Pad(pairs) => {
                    let mut axes = pad(&mut terms, axes, pairs, number == 0)?;
                    if self.dims.contains(&0) {
                        axes.iter_mut().for_each(|axis| axis.start = 0); // there is nothing to move
                    }
                    axes
                }
                Step::Reshape(sizes) => reshape(&mut terms, axes, sizes)?,
                Step::Transpose(order) => transposed(axes, order),
                Step::Rearrange(pattern) => {
                    let axes = reshape(&mut terms, axes, &pattern.digits())?;
                    let axes = transposed(axes, &pattern.order());
                    reshape(&mut terms, axes, &pattern.sizes())?
                }
                Step::Take(places) => {
                    axes.iter_mut().for_each(|axis| axis.extent = *places);
                    axes
                }
                Step::Crop(places) => {
                    if let Some(last) = axes.last_mut() {
                        if last.reach() >= u128::from(*places) && !self.dims.contains(&0) {
                            return Err(Error::new(format!(
                                "{places} places, which do not hold all elements"
                            ))
                            .of_kind(ErrorKind::Unsupported)
                            .field("recipe")
                            .rule("each element has one place"));
                        }
                        last.extent = *places;
                    }
                    axes
                }
                Step::Ravel => {
                    let all = product(axes.iter().map(|axis| axis.extent))?;
                    reshape(&mut terms, axes, &[all])?
                }
            };
        }
        let all = product(axes.iter().map(|axis| axis.extent))?;
        let whole = flat(axes)?;
        for part in whole.parts {
            let stride = i64::try_from(part.weight).map_err(|_| too_large())?;
            terms.add(part.term, stride)?;
        }
        terms.build(Some(whole.start), Some(all))
    }
}

fn too_large() -> Error {
    Error::new("the buffer has more elements than 63 bits can count").of_kind(ErrorKind::Overflow)
}

pub(super) fn product(mut sizes: impl Iterator<Item = u64>) -> Result<u64> {
    // A size of 0 may come after a product that would overflow.
    let product = sizes.try_fold(1_u128, |product, size| product.checked_mul(size.into()));
    let product = product.and_then(|product| u64::try_from(product).ok());
    product.filter(|&product| product <= i64::MAX as u64).ok_or_else(too_large)
}

fn pad(terms: &mut Terms, axes: Vec<Axis>, pairs: &[(u64, u64)], is_first: bool) -> Result<Vec<Axis>> {
    let padded = |(mut axis, &(before, behind)): (Axis, &(u64, u64))| {
        let sum =
            |a: u64, b: u64| a.checked_add(b).filter(|&sum| sum <= i64::MAX as u64).ok_or_else(too_large);
        axis.extent = sum(sum(axis.extent, before)?, behind)?;
        axis.start = sum(axis.start, before)?;
        // The dimension knows its padding itself, where nothing was made of it yet.
        if is_first && before == 0 {
            for part in std::mem::take(&mut axis.parts) {
                axis.parts.push(Part { term: terms.pad(part.term, axis.extent)?, ..part });
            }
        }
        Ok(axis)
    };
    axes.into_iter().zip(pairs).map(padded).collect()
}

/// All axes as one.
fn flat(axes: Vec<Axis>) -> Result<Axis> {
    let mut whole = Axis { extent: product(axes.iter().map(|axis| axis.extent))?, ..Axis::default() };
    if whole.extent == 0 {
        return Ok(whole);
    }
    let mut stride = 1; // at most the number of places
    for axis in axes.into_iter().rev() {
        whole.start += stride * axis.start;
        let parts = axis.parts.into_iter();
        whole.parts.extend(parts.map(|part| Part { weight: part.weight * stride, ..part }));
        stride *= axis.extent;
    }
    Ok(whole)
}

fn reshape(terms: &mut Terms, axes: Vec<Axis>, sizes: &[u64]) -> Result<Vec<Axis>> {
    let mut rest = flat(axes)?;
    let mut made = Vec::with_capacity(sizes.len());
    for &size in sizes.iter().rev() {
        let axis = match rest.extent {
            0 => Axis { extent: size, ..Axis::default() },
            _ => lowest(terms, &mut rest, size)?,
        };
        made.push(axis);
    }
    made.reverse();
    Ok(made)
}

/// Takes the lowest axis, of this size, out of a number.
fn lowest(terms: &mut Terms, rest: &mut Axis, size: u64) -> Result<Axis> {
    let mut axis = Axis { parts: Vec::new(), start: rest.start % size, extent: size };
    let mut above = Vec::new();
    for part in std::mem::take(&mut rest.parts) {
        let Part { term, weight, most } = part;
        if weight.is_multiple_of(size) {
            above.push(Part { term, weight: weight / size, most });
        } else if weight.checked_mul(most).is_some_and(|reach| reach < size) {
            axis.parts.push(Part { term, weight, most });
        } else if size.is_multiple_of(weight) {
            let by = size / weight;
            let (number, within) = terms.split(term, by)?;
            above.push(Part { term: number, weight: 1, most: most / by });
            axis.parts.push(Part { term: within, weight, most: by - 1 });
        } else {
            return Err(uneven(size));
        }
    }
    if axis.reach() >= u128::from(size) {
        return Err(uneven(size));
    }
    (rest.parts, rest.start, rest.extent) = (above, rest.start / size, rest.extent / size);
    Ok(axis)
}

fn uneven(size: u64) -> Error {
    Error::new(format!("a reshape cuts a dimension into pieces that are not all the same, of {size}"))
        .of_kind(ErrorKind::Unsupported)
        .field("recipe")
        .rule("dimensions are split and joined as a whole")
        .accepts("a reshape whose sizes divide those before it")
}

fn transposed(axes: Vec<Axis>, order: &[usize]) -> Vec<Axis> {
    let mut axes: Vec<Option<Axis>> = axes.into_iter().map(Some).collect();
    // The order names every axis once; this is checked where it is read.
    order.iter().filter_map(|&from| axes.get_mut(from)?.take()).collect()
}
