//! What a text of CuTe means as a layout.
//!
//! Each top-level mode of the shape is one dimension. The modes within it are the digits of its index, the first fastest:
//! the dimension is as large as their product, or smaller if sizes stand before the layout; then the rest is padding.

use super::composed::{Composed, Function};
use super::engine::Engine;
use super::layout::{Layout, Mode, coordinate};
use super::swizzle::Swizzle;
use super::tensor::Tensor;
use super::tuple::IntTuple;
use crate::error::{Error, ErrorKind, Result};
use crate::layout::Layout as Lowered;

/// The bits of an element whose type nobody says. Places are counted in elements, so they do not depend on it.
const UNTYPED: u32 = 8;

/// A layout with integer strides, where its first element is, and the swizzles after it, in elements.
struct Affine {
    layout: Layout,
    first: u64,
    swizzles: Vec<Swizzle>,
}

fn unsupported(found: impl Into<String>, rule: &str) -> Error {
    Error::new(found).of_kind(ErrorKind::Unsupported).field("layout").rule(rule)
}

/// What makes a layout of coordinates.
fn coordinates(layout: &Layout) -> Error {
    unsupported(
        format!("{layout} makes coordinates, not offsets"),
        "a scaled basis such as 1@0 is a step along a mode of a coordinate, so elements have no places in memory",
    )
    .accepts("integer strides, or a layout that takes the coordinates: (4,8):(1,4) o 0 o (4,8):(1@0,1@1)")
}

impl Tensor {
    /// The layout that the text means.
    ///
    /// ```
    /// use tilework::cute::Tensor;
    /// let tensor = Tensor::parse("f16[3,5] ((2,2),(2,3)):((2,12),(1,4))")?;
    /// let layout = tensor.lower()?; // 3 × 5 in tiles of 2 × 2, so padded to 4 × 6
    /// assert_eq!((layout.offset(&[2, 3])?, layout.size()), (17, 24));
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Something that is known at run time only, scaled bases that nothing turns into offsets, and places
    /// before the pointer.
    pub fn lower(&self) -> Result<Lowered> {
        if let Some(why) = self.at_run_time() {
            let rule = "offsets are computed from numbers";
            return Err(unsupported(why, rule).accepts("a static layout, with a number for every ?"));
        }
        let bits = self.bits().unwrap_or(UNTYPED);
        let Affine { layout, first, swizzles } = self.affine(bits)?;
        let lowered = place(&layout, self.sizes(), first, bits)?;
        swizzles.into_iter().try_fold(lowered, swizzled)
    }

    /// What is known at run time only, in a phrase.
    pub(super) fn at_run_time(&self) -> Option<String> {
        let layout = self.layout();
        let is_dynamic = |part: bool, what: &str| part.then(|| format!("{what} known at run time only"));
        is_dynamic(layout.layout().shape().is_dynamic(), "sizes marked ? are")
            .or_else(|| is_dynamic(layout.layout().stride().is_dynamic(), "strides marked ? are"))
            .or_else(|| is_dynamic(layout.is_dynamic(), "the offset or the layout after it is"))
    }

    /// Whether coordinates are all that it gives: nothing takes them.
    pub(super) fn makes_coordinates(&self) -> bool {
        let takes_them =
            matches!(self.layout().function(), Function::Layout(outer) if !outer.stride().has_basis());
        matches!(self.engine(), Some(Engine::Coord(_)))
            || (self.layout().layout().stride().has_basis() && !takes_them)
    }

    /// The layout as offsets of elements.
    fn affine(&self, bits: u32) -> Result<Affine> {
        if let Some(Engine::Coord(coord)) = self.engine() {
            return Err(unsupported(
                format!("a tensor at the coordinate {coord}"),
                "a tensor of coordinates has no elements in memory",
            ));
        }
        let mut affine = affine(self.layout())?;
        if let Some(swizzle) = self.pointer().and_then(|pointer| pointer.swizzle()) {
            // That of a pointer counts bytes.
            affine.swizzles.push(swizzle.recast(bits, 8)?);
        }
        Ok(affine)
    }
}

/// A composed layout as one layout and what it adds.
fn affine(composed: &Composed) -> Result<Affine> {
    let (layout, offset, swizzles) = match composed.function() {
        Function::Swizzle(swizzle) => (composed.layout().clone(), composed.offset().clone(), vec![*swizzle]),
        Function::Layout(outer) => {
            let composition = after(outer, composed.offset(), composed.layout())?;
            (composition, outer.eval(composed.offset())?, Vec::new())
        }
    };
    if layout.stride().has_basis() {
        return Err(coordinates(&layout));
    }
    let first = offset.as_int().ok_or_else(|| coordinates(&layout))?;
    let first = u64::try_from(first).map_err(|_| {
        Error::new(format!("an offset of {first}"))
            .field("offset")
            .rule("the first element is behind the pointer")
            .accepts("0 or more")
    })?;
    Ok(Affine { layout, first, swizzles })
}

/// A layout after an offset and a layout. An offset goes through modes that are one step each: it moves all alike.
fn after(outer: &Layout, offset: &IntTuple, layout: &Layout) -> Result<Layout> {
    let is_even = |mode: &Layout, offset: &IntTuple| {
        offset.leaves().iter().all(|leaf| leaf.int() == Ok(0))
            || mode.coalesce().is_ok_and(|mode| !mode.shape().is_tuple())
    };
    let fits = match offset {
        IntTuple::Leaf(_) => is_even(outer, offset),
        IntTuple::Tuple(offsets) => {
            outer.top_modes().zip(offsets).all(|(mode, offset)| is_even(&mode, offset))
        }
    };
    match fits {
        true => outer.compose(layout),
        false => Err(unsupported(
            format!("{outer} after the offset {offset}"),
            "an offset within a mode of several strides moves elements by different distances",
        )
        .accepts("the offset 0, or one of a mode with one stride")),
    }
}

/// A swizzle after a layout.
fn swizzled(layout: Lowered, swizzle: Swizzle) -> Result<Lowered> {
    layout.swizzled(&crate::Swizzle::new(swizzle.bits(), swizzle.base(), swizzle.shift())?)
}

/// The layout of an array: digits of each dimension with their strides, from the first element on.
fn place(layout: &Layout, sizes: Option<&[u64]>, first: u64, bits: u32) -> Result<Lowered> {
    let extents = layout.top_modes().map(|mode| mode.size()).collect::<Result<Vec<i64>>>()?;
    let extents: Vec<u64> = extents.into_iter().map(i64::unsigned_abs).collect();
    let sizes = sizes.unwrap_or(&extents);
    let mut terms = Lowered::terms(sizes, bits)?;
    let mut before = 0_i128;
    for (dim, (mode, extent)) in layout.top_modes().zip(&extents).enumerate() {
        let term = terms.dim(dim)?;
        let mut term = match sizes[dim] < *extent {
            true => terms.pad(term, *extent)?,
            false => term,
        };
        let digits = mode.flat_modes()?.into_iter().filter(|digit| digit.size > 1);
        let digits: Vec<Mode> = digits.collect();
        let Some((last, digits)) = digits.split_last() else { continue };
        for Mode { size, step } in digits {
            let (rest, digit) = terms.split(term, size.unsigned_abs())?;
            terms.add(digit, step.value)?;
            term = rest;
            before += i128::from(step.value.min(0)) * i128::from(size - 1);
        }
        terms.add(term, last.step.value)?;
        before += i128::from(last.step.value.min(0)) * i128::from(last.size - 1);
    }
    let needed = -before;
    if needed > i128::from(first) {
        return Err(Error::new(format!("a place {} before the pointer", needed - i128::from(first)))
            .field("stride")
            .rule("negative strides go back from the first element, and a layout counts places from the pointer on")
            .accepts(format!("an offset to the first element: S<0,4,3> o {needed} o {layout}")));
    }
    terms.build(Some(first), None)
}

impl Layout {
    /// What one step along the last coordinate adds, for words: `3@1` as (0,3).
    pub(super) fn example(&self) -> Option<IntTuple> {
        let modes = self.flat_modes().ok()?;
        modes.iter().find(|mode| !mode.step.is_zero()).map(|mode| coordinate(&mode.step))
    }
}
