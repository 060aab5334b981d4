//! What a layout leaves out: the complement.
//!
//! The modes are sorted by stride. Between one mode and the next there is a gap, from where the first ends to where the
//! next begins, and the gaps are the modes of the complement. With scaled bases, each mode of the coordinates has gaps of
//! its own.

use super::count::{basis_like, ceil_div, times};
use super::layout::{Layout, Mode, Step};
use super::tuple::IntTuple;
use crate::error::{Error, ErrorKind, Result};
use tilework_core::InOrder;

impl Layout {
    /// The gaps between the modes, and a mode of 1 whose stride is where all of them end.
    ///
    /// ```
    /// use tilework::cute::Layout;
    /// assert_eq!(Layout::parse("(4,2):(1,11)")?.complement()?.to_string(), "(2,1):(4,22)");
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Modes that overlap, and something that is known at run time only.
    pub fn complement(&self) -> Result<Layout> {
        let modes = self.flat_modes()?;
        if modes.is_empty() {
            return Err(Error::new("the complement of ():() without a size")
                .field("layout")
                .rule("without modes there is nothing that ends")
                .accepts("a size"));
        }
        by_basis(&self.coprofile()?, &mut Vec::new(), &modes)
    }

    /// The layout that reaches what this one leaves out of the first `size` offsets, at least: both together reach each of
    /// them, if the gaps divide.
    ///
    /// ```
    /// use tilework::cute::Layout;
    /// let complement = |text: &str, size: i64| {
    ///     Ok::<_, tilework::Error>(Layout::parse(text)?.complement_to(&size.into())?.to_string())
    /// };
    /// assert_eq!(complement("4:2", 16)?, "(2,2):(1,8)"); // 0, 2, 4, 6 and then 1, 8, 9
    /// assert_eq!(complement("4:2", 19)?, "(2,3):(1,8)"); // up to 24, rounded up
    /// assert_eq!(complement("3:1", 3)?, "1:3"); // nothing is left
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Modes that overlap, and something that is known at run time only.
    pub fn complement_to(&self, size: &IntTuple) -> Result<Layout> {
        if self.stride().has_basis() {
            return self.complement_in(size);
        }
        let flat = self.filter()?;
        let mut modes = flat.flat_modes()?;
        modes.retain(|mode| mode.size > 1);
        if modes.is_empty() {
            let all = Layout::compact(size.clone())?.coalesce()?;
            let is_one = all.size()? == 1;
            return if is_one { Layout::new(1.into(), 1.into()) } else { Ok(all) };
        }
        let (mut gaps, end) = gaps(modes)?;
        let rest = size.ceil_div(&end.into())?.product()?;
        gaps.push(Mode { size: rest, step: Step { path: Vec::new(), value: end } });
        Layout::of_modes(&gaps)?.coalesce()
    }

    /// The complement of a layout of bases within coordinates of this shape.
    fn complement_in(&self, size: &IntTuple) -> Result<Layout> {
        let base = self.complement()?;
        let profile = self.coprofile()?;
        if size.is_tuple() && size.rank() < profile.rank() {
            return Err(super::tuple::not_congruent(size, &profile));
        }
        let basis = basis_like(size);
        let each = (0..profile.rank().max(size.rank())).map(|number| {
            let of = |tuple: &IntTuple| match tuple {
                IntTuple::Tuple(modes) => modes.get(number).cloned(),
                leaf => Some(leaf.clone()),
            };
            let (Some(size), Some(basis)) = (of(size), of(&basis)) else {
                return Err(super::tuple::not_congruent(size, &profile));
            };
            if number >= profile.rank() {
                return Layout::new(size, basis);
            }
            let mut modes = base.mode(number)?.flat_modes()?;
            let size = size.product()?;
            match modes.last_mut() {
                Some(last) if last.step.value > 0 => last.size = ceil_div(size, last.step.value)?,
                _ => return Err(overlap(self)),
            }
            let mut modes = super::coalesce::join(modes)?;
            if modes.len() > 1 && modes.last().is_some_and(|last| last.size == 1) {
                modes.pop();
            }
            Layout::of_modes(&modes)
        });
        Layout::join(each.collect::<Result<Vec<Layout>>>()?)
    }

    /// The complement, its last mode as long as this shape needs: what a division leaves.
    pub(super) fn complement_over(&self, shape: &IntTuple) -> Result<Layout> {
        let gaps = self.complement()?;
        over(&self.coprofile()?, gaps.shape(), gaps.stride(), shape, &basis_like(shape))
    }
}

fn overlap(found: impl std::fmt::Display) -> Error {
    Error::new(format!("expects an injective layout in complement, but got {found}"))
        .of_kind(ErrorKind::Unsupported)
        .field("layout")
        .rule("between modes that overlap there is no gap")
        .accepts("strides that are at least what smaller modes reach")
}

/// The gaps between modes of integer strides, and where the modes end.
fn gaps(mut modes: Vec<Mode>) -> Result<(Vec<Mode>, i64)> {
    modes.retain(|mode| mode.size > 1 && !mode.step.is_zero());
    modes.order_by_key(|mode| mode.step.value);
    let mut end = 1;
    let mut gaps = Vec::new();
    for Mode { size, step: Step { value, .. } } in modes {
        if value < end {
            let error = overlap(format!("{size}:{value} where others reach {end}"));
            return Err(error.accepts(format!("a multiple of {end} in place of {value}")));
        }
        gaps.push(Mode { size: value / end, step: Step { path: Vec::new(), value: end } });
        end = times(value, size)?;
    }
    Ok((gaps, end))
}

/// The complement of each mode of coordinates, which `profile` says, by itself.
fn by_basis(profile: &IntTuple, path: &mut Vec<u32>, modes: &[Mode]) -> Result<Layout> {
    if let IntTuple::Tuple(profiles) = profile {
        let each = (0..).zip(profiles).map(|(number, profile)| {
            path.push(number);
            let layout = by_basis(profile, path, modes);
            path.pop();
            layout
        });
        return Layout::join(each.collect::<Result<Vec<Layout>>>()?);
    }
    let own = modes.iter().filter(|mode| mode.step.path == *path).cloned().collect();
    let (mut found, end) = gaps(own)?;
    found.push(Mode { size: 1, step: Step { path: Vec::new(), value: end } });
    let mut found = super::coalesce::join(found)?;
    for mode in &mut found {
        mode.step.path = path.clone();
    }
    Layout::of_modes(&found)
}

/// Extends the gaps of each mode of coordinates over a shape, which may have modes that no basis names.
fn over(
    profile: &IntTuple,
    gaps: &IntTuple,
    strides: &IntTuple,
    shape: &IntTuple,
    basis: &IntTuple,
) -> Result<Layout> {
    if let IntTuple::Tuple(profiles) = profile
        && !profiles.is_empty()
    {
        let at =
            |tuple: &IntTuple, number: usize| tuple.modes().get(number).cloned().unwrap_or(IntTuple::EMPTY);
        let count = profiles.len().max(gaps.rank()).max(shape.rank());
        let each = (0..count).map(|number| {
            let profile = at(profile, number);
            over(&profile, &at(gaps, number), &at(strides, number), &at(shape, number), &at(basis, number))
        });
        return Layout::join(each.collect::<Result<Vec<Layout>>>()?);
    }
    if gaps.is_empty() {
        return Layout::new(shape.clone(), basis.clone());
    }
    let mut modes = Layout::new(gaps.clone(), strides.clone())?.flat_modes()?;
    let Some(last) = modes.pop() else { return Layout::new(shape.clone(), basis.clone()) };
    let (mut step, mut left) = (last.step.clone(), last.step.value);
    for size in shape.ints()? {
        let tiles = ceil_div(size, left)?;
        modes.push(Mode { size: tiles, step: step.clone() });
        step = step.times(tiles)?;
        left = ceil_div(left, size)?;
    }
    Layout::of_modes(&modes)?.coalesce()
}
