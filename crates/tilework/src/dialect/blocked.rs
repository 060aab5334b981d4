//! Outer digits in an order, then inner blocks: what the blocked formats of many systems have in common.
//!
//! A dimension is cut by its inner blocks, the last of which holds its least significant digit. What is left is the outer
//! digit, which has a stride of its own. All inner blocks together are dense and the most minor:
//!
//! ```text
//! aBcd8b       b → (b div 8, b mod 8)        a, b div 8, c, d from major to minor, then b mod 8
//! AB4b16a4b    b → (b div 16, b div 4 mod 4, b mod 4), a → (a div 16, a mod 16)
//! ```
//!
//! [`Blocked`] is this as a value. It becomes a layout, and is found again in layouts that came from anywhere.

use crate::error::{Error, ErrorKind, Result};
use crate::layout::Layout;
use crate::layout::parts::PartKind;
use tilework_core::InOrder;

/// Neighbours along a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Block {
    pub(crate) dim: usize,
    pub(crate) size: u64,
}

/// Outer digits with strides, and inner blocks.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Blocked {
    pub(crate) dims: Vec<u64>,
    pub(crate) bits: u32,
    /// For how many elements of each dimension there are places: a multiple of its blocks.
    pub(crate) padded: Vec<u64>,
    /// Of the outer digits, in elements.
    pub(crate) strides: Vec<u64>,
    /// From major to minor.
    pub(crate) inner: Vec<Block>,
    /// Where element (0, …, 0) is.
    pub(crate) offset: u64,
}

/// The product of the blocks of each dimension.
///
/// # Errors
/// Products above 63 bits.
pub(crate) fn products(rank: usize, inner: &[Block]) -> Result<Vec<u64>> {
    let mut products = vec![1_u64; rank];
    for block in inner {
        let product = &mut products[block.dim];
        *product =
            product.checked_mul(block.size).filter(|&size| size <= i64::MAX as u64).ok_or_else(large)?;
    }
    Ok(products)
}

/// The dimensions, each up to a multiple of its blocks.
///
/// # Errors
/// Sizes above 63 bits.
pub(crate) fn rounded(dims: &[u64], inner: &[Block]) -> Result<Vec<u64>> {
    let products = products(dims.len(), inner)?;
    let round = |(&size, &product): (&u64, &u64)| size.checked_next_multiple_of(product).ok_or_else(large);
    dims.iter().zip(&products).map(round).collect()
}

impl Blocked {
    /// Dense: the outer digits are in this order, the most major first, and no places are between them. `padded` may ask
    /// for more places than the blocks do.
    ///
    /// # Errors
    /// Sizes and strides above 63 bits.
    pub(crate) fn packed(
        dims: &[u64],
        bits: u32,
        order: &[usize],
        inner: &[Block],
        padded: Option<&[u64]>,
    ) -> Result<Blocked> {
        let products = products(dims.len(), inner)?;
        let padded = match padded {
            Some(padded) => rounded(padded, inner)?,
            None => rounded(dims, inner)?,
        };
        let whole = products.iter().try_fold(1_u64, |whole, &size| whole.checked_mul(size));
        let mut stride = whole.ok_or_else(large)?;
        let mut strides = vec![0; dims.len()];
        for &dim in order.iter().rev() {
            strides[dim] = stride;
            // A dimension without elements takes no place from the others.
            let count = (padded[dim] / products[dim]).max(1);
            stride =
                stride.checked_mul(count).filter(|&stride| stride <= i64::MAX as u64).ok_or_else(large)?;
        }
        Ok(Blocked { dims: dims.to_vec(), bits, padded, strides, inner: inner.to_vec(), offset: 0 })
    }

    /// The elements of all inner blocks together.
    pub(crate) fn block(&self) -> u64 {
        // Every place counts, so the product of sizes that exist together fits; of others it is none that is used.
        self.inner.iter().fold(1, |product: u64, block| product.saturating_mul(block.size))
    }

    /// How many values the outer digit of a dimension has.
    pub(crate) fn count(&self, dim: usize) -> u64 {
        let blocks = self.inner.iter().filter(|block| block.dim == dim);
        let product = blocks.fold(1, |product: u64, block| product.saturating_mul(block.size));
        self.padded[dim] / product.max(1)
    }

    /// Allocated elements: up to the end of the outermost digit, and at least up to the end of the last block.
    ///
    /// # Errors
    /// More than 63 bits can count.
    pub(crate) fn size(&self) -> Result<u64> {
        if self.dims.contains(&0) {
            return Ok(0);
        }
        let block = self.block();
        let (mut span, mut last) = (block, block);
        for (dim, &stride) in self.strides.iter().enumerate() {
            let count = self.count(dim);
            if count > 1 {
                span = span.max(count.checked_mul(stride).ok_or_else(large)?);
                let reach = (count - 1).checked_mul(stride).ok_or_else(large)?;
                last = last.checked_add(reach).ok_or_else(large)?;
            }
        }
        self.offset.checked_add(span.max(last)).ok_or_else(large)
    }

    /// The layout with this many allocated elements.
    ///
    /// # Errors
    /// Those of [`Layout::terms`], sizes and strides above 63 bits, and elements beyond the size.
    pub(crate) fn lower_to(&self, size: u64) -> Result<Layout> {
        let mut terms = Layout::terms(&self.dims, self.bits)?;
        let mut digits = Vec::with_capacity(self.dims.len());
        for (dim, &padded) in self.padded.iter().enumerate() {
            let term = terms.dim(dim)?;
            digits.push(Some(if self.dims[dim] == 0 { term } else { terms.pad(term, padded)? }));
        }
        let mut stride = 1_u64;
        for block in self.inner.iter().rev() {
            let Some(term) = digits[block.dim].take() else { continue };
            let (rest, digit) = terms.split(term, block.size)?;
            terms.add(digit, signed(stride)?)?;
            digits[block.dim] = Some(rest);
            stride = stride.checked_mul(block.size).ok_or_else(large)?;
        }
        for (term, &stride) in digits.into_iter().zip(&self.strides) {
            let Some(term) = term else { continue };
            // A digit of one value takes no step, whatever its stride.
            let stride = if terms.extent(&term) > 1 { signed(stride)? } else { 0 };
            terms.add(term, stride)?;
        }
        terms.build(Some(if self.dims.contains(&0) { 0 } else { self.offset }), Some(size))
    }

    /// The outer digits from major to minor: by stride, a stride of 0 first; of equal strides the digit of more values is
    /// the major one, and then the first dimension.
    pub(crate) fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.dims.len()).collect();
        order.order_by_key(|&dim| {
            (std::cmp::Reverse(self.strides[dim].wrapping_sub(1)), std::cmp::Reverse(self.count(dim)), dim)
        });
        order
    }
}

/// A digit of a dimension with the values that there are places for.
#[derive(Clone, Copy, Debug)]
struct Place {
    dim: usize,
    count: u64,
    stride: u64,
}

/// Ways to see a layout as outer digits and inner blocks, the plainest first. Whoever takes one compares what it lowers to.
///
/// # Errors
/// Why there is none.
pub(crate) fn ways(layout: &Layout) -> Result<Vec<Blocked>> {
    layout.require_no_swizzle()?;
    if layout.is_empty() {
        let dims = layout.dims();
        return Ok(vec![Blocked {
            dims: dims.to_vec(),
            bits: layout.bits(),
            padded: dims.to_vec(),
            strides: Blocked::packed(dims, layout.bits(), &Vec::from_iter(0..dims.len()), &[], None)?.strides,
            inner: Vec::new(),
            offset: 0,
        }]);
    }
    let digits = layout.to_digits();
    let offset = layout.offset(&vec![0; layout.rank()])?;
    let mut ways = Vec::new();
    let mut why = None;
    // What it was made of says more than its digits, if only of padding.
    if let Some(places) = of_axes(layout) {
        collect(layout, offset, &places, &mut ways, &mut why);
    }
    for filled in [false, true] {
        if let Ok(digits) = &digits {
            match of_digits(layout, &digits.of_dims, filled) {
                Ok(places) => collect(layout, offset, &places, &mut ways, &mut why),
                Err(error) => why = why.or(Some(error)),
            }
        }
    }
    match (ways.is_empty(), digits) {
        (false, _) => Ok(ways),
        (true, Err(error)) => Err(error),
        (true, Ok(_)) => {
            Err(why.unwrap_or_else(|| no("the digits of the dimensions are no blocks".to_owned())))
        }
    }
}

/// The digits of each dimension, the least significant first. With `filled`, the most significant ones have as many values
/// as there is room up to the next larger stride.
fn of_digits(layout: &Layout, of_dims: &[Vec<crate::Digit>], filled: bool) -> Result<Vec<Vec<Place>>> {
    let mut strides: Vec<u64> = of_dims
        .iter()
        .flatten()
        .filter(|digit| digit.extent > 1)
        .map(|digit| digit.stride.unsigned_abs())
        .collect();
    strides.order();
    let room = |digit: &crate::Digit| {
        let own = digit.stride.unsigned_abs();
        let next = strides.iter().copied().find(|&stride| stride > own).unwrap_or(layout.size());
        if own > 0 && next.is_multiple_of(own) { digit.extent.max(next / own) } else { digit.extent }
    };
    let mut all = Vec::with_capacity(of_dims.len());
    for (dim, digits) in of_dims.iter().enumerate() {
        let mut places = Vec::with_capacity(digits.len());
        for (number, digit) in digits.iter().enumerate() {
            if digit.extent == 1 {
                continue;
            }
            let Ok(stride) = u64::try_from(digit.stride) else {
                return Err(no(format!("dimension {dim} runs backward")));
            };
            let is_last = number + 1 == digits.len();
            let count = if filled && is_last { room(digit) } else { digit.extent };
            places.push(Place { dim, count, stride });
        }
        all.push(places);
    }
    Ok(all)
}

/// The same by what the layout is made of, which knows places of digits that no index uses.
fn of_axes(layout: &Layout) -> Option<Vec<Vec<Place>>> {
    // Of each part: the dimension, what divides it, and the values that it is cut to.
    let mut made: Vec<Option<(usize, u64, Option<u64>)>> = Vec::new();
    for part in layout.index_parts() {
        made.push(match part.kind {
            PartKind::Dim(dim) => Some((dim, 1, None)),
            PartKind::Tiles { of, by, .. } => made[of].and_then(|(dim, div, values)| match values {
                None => Some((dim, div.checked_mul(by)?, None)),
                Some(values) => {
                    values.is_multiple_of(by).then_some((dim, div.checked_mul(by)?, Some(values / by)))
                }
            }),
            PartKind::Within { of, by, .. } => made[of].and_then(|(dim, div, values)| match values {
                Some(values) if !values.is_multiple_of(by) => None,
                _ => Some((dim, div, Some(by))),
            }),
            PartKind::Unit | PartKind::Combined { .. } | PartKind::Moved { .. } => None,
        });
    }
    let mut all: Vec<Vec<(u64, Place)>> = vec![Vec::new(); layout.rank()];
    for axis in layout.axes() {
        let (dim, div, _) = made[axis.part]?;
        let stride = u64::try_from(axis.stride).ok()?;
        all[dim].push((div, Place { dim, count: axis.extent, stride }));
    }
    let sorted = all.into_iter().map(|mut digits| {
        digits.order_by_key(|digit| digit.0);
        // Each digit begins where the one below it ends.
        let mut div = 1;
        let whole = digits.iter().all(|digit| {
            let follows = digit.0 == div;
            div = div.saturating_mul(digit.1.count);
            follows
        });
        whole.then(|| digits.into_iter().map(|digit| digit.1).collect())
    });
    sorted.collect()
}

/// Adds every way to take some of the most minor digits as inner blocks.
fn collect(
    layout: &Layout,
    offset: u64,
    of_dims: &[Vec<Place>],
    ways: &mut Vec<Blocked>,
    why: &mut Option<Error>,
) {
    // What must be within a block: every digit of a dimension but the last.
    let mut places: Vec<(Place, bool)> = Vec::new();
    for digits in of_dims {
        for (number, &place) in digits.iter().enumerate() {
            places.push((place, number + 1 < digits.len()));
            if number > 0 && place.stride < digits[number - 1].stride {
                *why = Some(no(format!(
                    "the digits of dimension {} with strides {} and {} are in the other order",
                    place.dim,
                    digits[number - 1].stride,
                    place.stride
                )));
                return;
            }
        }
    }
    places.order_by_key(|(place, _)| (place.stride, place.count));
    let least = places.iter().rposition(|(_, inner)| *inner).map_or(0, |last| last + 1);
    let mut whole = 1_u64;
    let mut inner: Vec<Block> = Vec::new();
    let mut used = vec![0_usize; of_dims.len()];
    for taken in 0..=places.len() {
        if taken >= least {
            ways.extend(way(layout, offset, of_dims, &inner, &used));
        }
        let Some(&(place, _)) = places.get(taken) else { break };
        if place.stride != whole {
            // Places between the digits may be those of a block along a dimension of one element.
            let unit = (0..of_dims.len()).find(|&dim| of_dims[dim].is_empty() && used[dim] == 0);
            match unit.filter(|_| place.stride > whole && place.stride.is_multiple_of(whole)) {
                Some(dim) => {
                    inner.push(Block { dim, size: place.stride / whole });
                    used[dim] = 1;
                    whole = place.stride;
                }
                None => {
                    if taken < least {
                        *why = Some(no(format!(
                            "the digits below stride {} fill {whole} places, so they are no blocks",
                            place.stride
                        )));
                    }
                    break;
                }
            }
        }
        inner.push(Block { dim: place.dim, size: place.count });
        used[place.dim] += 1;
        let Some(more) = whole.checked_mul(place.count) else { break };
        whole = more;
    }
}

/// The layout with these inner blocks, from minor to major.
fn way(
    layout: &Layout,
    offset: u64,
    of_dims: &[Vec<Place>],
    inner: &[Block],
    used: &[usize],
) -> Option<Blocked> {
    let dims = layout.dims().to_vec();
    let inner: Vec<Block> = inner.iter().rev().copied().collect();
    let products = products(dims.len(), &inner).ok()?;
    let mut blocked = Blocked {
        padded: rounded(&dims, &inner).ok()?,
        strides: vec![0; dims.len()],
        dims,
        bits: layout.bits(),
        inner,
        offset,
    };
    let mut outer: Vec<Place> = Vec::new();
    for (dim, digits) in of_dims.iter().enumerate() {
        if let [place] = digits[used[dim].min(digits.len())..] {
            blocked.padded[dim] = blocked.padded[dim].max(place.count.checked_mul(products[dim])?);
            outer.push(place);
        }
    }
    // Of dimensions without an outer digit, each is as major as it can be in the order of the dimensions.
    outer.order_by_key(|place| std::cmp::Reverse((place.stride, place.count)));
    let mut order: Vec<usize> = Vec::new();
    let mut waiting: Vec<usize> =
        (0..blocked.dims.len()).filter(|dim| outer.iter().all(|place| place.dim != *dim)).collect();
    waiting.reverse();
    for place in &outer {
        while waiting.last().is_some_and(|&dim| dim < place.dim) {
            order.extend(waiting.pop());
        }
        order.push(place.dim);
    }
    order.extend(waiting.into_iter().rev());
    let mut next = blocked.block();
    for &dim in order.iter().rev() {
        match outer.iter().find(|place| place.dim == dim) {
            Some(place) => {
                blocked.strides[dim] = place.stride;
                next = place.stride.checked_mul(place.count)?;
            }
            None => blocked.strides[dim] = next,
        }
    }
    Some(blocked)
}

/// A stride as a layout has it.
fn signed(stride: u64) -> Result<i64> {
    i64::try_from(stride).map_err(|_| large())
}

fn no(found: String) -> Error {
    Error::new(found).of_kind(ErrorKind::Unsupported).field("layout").rule(
        "blocks are dense and the most minor, and the last of a dimension holds its least significant digit",
    )
}

/// Sizes that do not fit.
#[cold]
pub(crate) fn large() -> Error {
    Error::new("the padded sizes overflow 63 bits")
        .of_kind(ErrorKind::Overflow)
        .field("size")
        .rule("a buffer has at most 9223372036854775807 bytes")
        .accepts("smaller dimensions, strides or blocks")
}
