//! Layouts in CuTe's notation.
//!
//! A dimension becomes a mode of its digits, the least significant first. Where its last digit is not full, or places behind
//! it are allocated, the mode is larger than the dimension, and the sizes of the array stand before the layout. What comes
//! after the strides is a swizzle, if its bits are two groups; the offset of the first element stands behind it.

use super::composed::{Composed, Function};
use super::engine::stored_bits;
use super::layout::{Layout, Mode, Step};
use super::swizzle::Swizzle;
use super::tensor::Tensor;
use super::tuple::IntTuple;
use crate::element::Element;
use crate::error::{Error, ErrorKind, Result};
use crate::layout::Layout as Lowered;
use crate::layout::parts::{Part, PartKind};
use tilework_core::InOrder;

fn no(found: impl Into<String>, rule: &str) -> Error {
    Error::new(found).of_kind(ErrorKind::Unsupported).field("layout").rule(rule)
}

impl Tensor {
    /// The text that has this layout.
    ///
    /// ```
    /// use tilework::cute::Tensor;
    /// use tilework::{Element, xla::Shape};
    /// let cute = |text: &str| {
    ///     let layout = Shape::parse(text)?.as_array().unwrap().lower()?;
    ///     Tensor::of_layout(&layout, Element::F32).map(|tensor| tensor.to_string())
    /// };
    /// assert_eq!(cute("f32[4,8]")?, "f32 (4,8):(8,1)");
    /// assert_eq!(cute("f32[4,6]{1,0:T(2,2)}")?, "f32 ((2,2),(2,3)):((2,12),(1,4))");
    /// assert_eq!(cute("f32[3,5]{1,0:T(2,2)}")?, "f32[3,5] ((2,2),(2,3)):((2,12),(1,4))");
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Arrays without elements, elements of other bits than CuTe's, dimensions that are combined before they are cut, and
    /// places behind the last one.
    pub fn of_layout(layout: &Lowered, element: Element) -> Result<Tensor> {
        let bits = stored_bits(element);
        if layout.bits() != bits {
            return Err(no(
                format!("{} bits for each {element}", layout.bits()),
                "CuTe gives an element its own bits, and a truth value a byte",
            )
            .accepts(format!("{bits} bits")));
        }
        if layout.is_empty() {
            return Err(no("an array without elements", "a mode of a shape has 1 coordinate or more"));
        }
        let swizzle = swizzle(layout)?;
        let mut why = None;
        for (first, dims) in [digits(layout), allocated(layout)].into_iter().flatten() {
            let found = tensor(layout, element, swizzle, first, &dims);
            match found.and_then(|tensor| Ok((tensor.lower()?, tensor))) {
                Ok((own, tensor)) if own.same_buffer(layout).is_yes() => return Ok(tensor),
                Ok((own, _)) if own.size() != layout.size() && why.is_none() => {
                    let rule = "a layout of CuTe ends with the last place of its shape";
                    let accepts = format!("the same with {} places allocated", own.size());
                    why = Some(no(places(layout, &own), rule).accepts(accepts));
                }
                Ok(_) => {}
                Err(error) => why = why.or(Some(error)),
            }
        }
        Err(match (why, layout.digits_before_swizzle()) {
            // What the core says of a function, as CuTe's modes have it.
            (_, Err(error)) if error.accepted().is_none() => error.accepts(
                "tiles whose sizes divide those of the tiles before them: a mode is digits, each a divisor",
            ),
            (_, Err(error)) => error,
            (Some(why), _) => why,
            (None, _) => no("places that no shape and strides reach", "a mode is digits with a stride each"),
        })
    }
}

fn places(layout: &Lowered, own: &Lowered) -> String {
    match layout.size().checked_sub(own.size()) {
        Some(1) => "1 place behind the last one that the shape reaches".to_owned(),
        Some(more) => format!("{more} places behind the last one that the shape reaches"),
        None => format!("{} places, but the shape reaches {}", layout.size(), own.size()),
    }
}

/// The swizzle after the strides.
fn swizzle(layout: &Lowered) -> Result<Swizzle> {
    let Some(own) = layout.swizzle() else { return Ok(Swizzle::IDENTITY) };
    let (bits, base, shift) = own.shifts().ok_or_else(|| {
        no(
            format!("places are exchanged by {own}"),
            "a swizzle S<B,M,S> flips B neighbouring bits by B others, in their order",
        )
    })?;
    Swizzle::new(bits.into(), base.into(), shift.into())
}

/// Where the first element is before a swizzle, and the digits of each dimension, the least significant first.
type Digits = (u64, Vec<Vec<(u64, i64)>>);

/// The digits that the function has.
fn digits(layout: &Lowered) -> Option<Digits> {
    let digits = layout.digits_before_swizzle().ok()?;
    let of_dim =
        |digits: &Vec<crate::Digit>| digits.iter().map(|digit| (digit.extent, digit.stride)).collect();
    Some((digits.first, digits.of_dims.iter().map(of_dim).collect()))
}

/// The digits that places are allocated for: those of the axes, each a part of one dimension.
fn allocated(layout: &Lowered) -> Option<Digits> {
    let parts = layout.index_parts();
    let mut dims: Vec<Vec<(u64, u64, i64)>> = vec![Vec::new(); layout.rank()];
    for axis in layout.axes() {
        let (dim, divisor) = digit(parts, axis.part)?;
        dims[dim].push((divisor, axis.extent, axis.stride));
    }
    let digits = dims.into_iter().map(|mut digits| {
        digits.order();
        let mut next = 1;
        let mut found = Vec::new();
        for (divisor, extent, stride) in digits {
            match divisor.checked_div(next)? {
                1 => {}
                // What is not stored between two digits moves nothing.
                skipped if divisor.is_multiple_of(next) => found.push((skipped, 0)),
                _ => return None,
            }
            found.push((extent, stride));
            next = divisor.checked_mul(extent)?;
        }
        if found.is_empty() {
            found.push((1, 0));
        }
        Some(found)
    });
    Some((layout.base(), digits.collect::<Option<_>>()?))
}

/// The dimension that a part is a digit of, and what it counts.
fn digit(parts: &[Part], id: usize) -> Option<(usize, u64)> {
    match parts[id].kind {
        PartKind::Dim(dim) => Some((dim, 1)),
        PartKind::Tiles { of, by, .. } => {
            let (dim, divisor) = digit(parts, of)?;
            Some((dim, divisor.checked_mul(by)?))
        }
        PartKind::Within { of, .. } => digit(parts, of),
        _ => None,
    }
}

/// The text of digits.
fn tensor(
    layout: &Lowered,
    element: Element,
    swizzle: Swizzle,
    first: u64,
    dims: &[Vec<(u64, i64)>],
) -> Result<Tensor> {
    let int =
        |value: u64| i64::try_from(value).map_err(|_| no("a number above 63 bits", "numbers have 63 bits"));
    let mode = |digits: &Vec<(u64, i64)>| {
        let modes = digits
            .iter()
            .map(|&(extent, stride)| {
                Ok(Mode { size: int(extent)?, step: Step { path: Vec::new(), value: stride } })
            })
            .collect::<Result<Vec<Mode>>>()?;
        Layout::of_modes(&modes)
    };
    let modes = dims.iter().map(mode).collect::<Result<Vec<Layout>>>()?;
    let sizes = modes.iter().map(|mode| mode.size().map(i64::unsigned_abs)).collect::<Result<Vec<u64>>>()?;
    let inner = match <[Layout; 1]>::try_from(modes) {
        Ok([only]) if !only.shape().is_tuple() => only,
        Ok(one) => Layout::join_all(one)?,
        Err(modes) => Layout::join_all(modes)?,
    };
    let composed = Composed::new(Function::Swizzle(swizzle), IntTuple::from(int(first)?), inner)?;
    let tensor = Tensor::from(composed).with_element(element)?;
    if sizes == layout.dims() { Ok(tensor) } else { tensor.with_sizes(layout.dims()) }
}
