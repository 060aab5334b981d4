//! Composition: one layout after another.
//!
//! A mode `s:d` of the second picks every d-th of s · d coordinates of the first. The modes of the first take it from the
//! left, in steps of the stride that is left:
//!
//! ```text
//! d mod c = 0              the mode c:e gives nothing, as its digit is always 0; d becomes d / c
//! c mod d = 0              it gives min(c / d, s) : d · e; s is divided by that, and d becomes 1
//! (s − 1) · d < c          it gives s : d · e, and nothing is left
//! the last mode            gives s : d · e, however far that is
//! ```
//!
//! CuTe refuses what fits none of these where it sees it, and is wrong where it does not see it: that d and c divide is its
//! *stride divisibility condition*, that c / d divides s its *shape divisibility condition*. Here the offsets
//! themselves are then asked: they are a layout, or they are none, and the composition is refused.
//!
//! Modes of the second add up, and so must what they give. They do as long as together they never carry from one mode of
//! the first into the next:
//!
//! ```text
//! Σ (size − 1) · stride < c        over what each mode of the second gives within the mode c:e, but for the last
//! ```
//!
//! As the first layout is coalesced, a carry always changes the offset, so no layout that nests as the second says it.

use std::collections::HashMap;

use super::count::{ceil_div, either, nearest, times};
use super::layout::{Layout, Mode, Step};
use super::tiler::Tiler;
use super::tuple::{IntTuple, Leaf};
use crate::error::{Error, ErrorKind, Result, counted};

/// The most offsets of a mode that are looked at one by one.
const TABLE: i64 = 1 << 16;

impl Layout {
    /// The layout that takes a coordinate of `other` to what this one has for the offset there: this ∘ other. It nests as
    /// `other` does, or deeper.
    ///
    /// ```
    /// use tilework::cute::Layout;
    /// let a = Layout::parse("(4,8,2):(1,4,32)")?;
    /// assert_eq!(a.compose(&Layout::parse("(2,2,2):(2,8,1)")?)?.to_string(), "(2,2,2):(2,8,1)");
    /// // What does not divide is exact …
    /// let rows = Layout::parse("(4,3):(1,100)")?;
    /// assert_eq!(rows.compose(&Layout::parse("2:6")?)?.to_string(), "2:102");
    /// // … or refused: 0, 1, 2, 3, 100, 101 are the offsets of no layout.
    /// assert!(rows.compose(&Layout::parse("6:1")?).is_err());
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Offsets that no layout has, bases of modes that this layout lacks, and something that is known at run time only.
    pub fn compose(&self, other: &Layout) -> Result<Layout> {
        let profile = other.coprofile()?;
        let first = self.coalesce_beyond(&profile)?;
        let mut sums = Sums { first: &first, reached: HashMap::new(), is_sure: true };
        let found = sums.compose(other.shape(), other.stride())?;
        match sums.is_sure || is_after(&found, &first, other)? {
            true => Ok(found),
            false => Err(refused(&first, other)
                .rule(
                    "together, its modes carry from one mode into the next, so the offsets are those of no layout that nests so",
                )
                .accepts("modes whose (size − 1) × stride add up to less than the mode of the first that they are in")),
        }
    }

    /// Composition with a tiler: mode by mode where it is a tuple. Modes without a tiler are left out.
    ///
    /// ```
    /// use tilework::cute::{Layout, Tiler};
    /// let rows = Layout::parse("(6,8):(8,1)")?;
    /// assert_eq!(rows.compose_by(&Tiler::parse("(3,4)")?)?.to_string(), "(3,4):(8,1)");
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// A tiler of more modes than the layout, and those of [`Layout::compose`].
    pub fn compose_by(&self, tiler: &Tiler) -> Result<Layout> {
        match tiler {
            Tiler::Any => Ok(self.clone()),
            Tiler::Layout(layout) => self.compose(layout),
            Tiler::Tuple(tilers) => {
                check_rank(self, tilers)?;
                let each = self.top_modes().zip(tilers).map(|(mode, tiler)| mode.compose_by(tiler));
                Layout::join(each.collect::<Result<Vec<Layout>>>()?)
            }
        }
    }
}

/// A tiler has at most as many modes as what it tiles.
pub(super) fn check_rank(layout: &Layout, tilers: &[Tiler]) -> Result<()> {
    match tilers.len() <= layout.rank() {
        true => Ok(()),
        false => Err(Error::new(format!("a tiler of {} for {layout}", counted(tilers.len() as u64, "mode")))
            .of_kind(ErrorKind::Mismatch)
            .field("tiler")
            .rule("a tiler has at most as many modes as the layout")
            .accepts(format!("up to {}", layout.rank()))),
    }
}

fn refused(first: &Layout, other: &Layout) -> Error {
    Error::new(format!("{first} after {other}")).of_kind(ErrorKind::Unsupported).field("composition")
}

/// A condition of CuTe's that a mode of the second breaks.
enum Broken {
    /// Steps of this stride, over a mode of this size of the first.
    Stride(i64, i64),
    /// How many coordinates are left, and how many are within a mode of the first.
    Shape(i64, i64),
}

impl Broken {
    fn rule(&self) -> String {
        match self {
            Broken::Stride(stride, extent) => format!(
                "CuTe's stride divisibility condition: neither of stride {stride} and mode {extent} divides the other"
            ),
            Broken::Shape(left, take) => format!(
                "CuTe's shape divisibility condition: {take}, as many coordinates as end a mode, does not divide {left}"
            ),
        }
    }
}

/// The refusal of `size:stride` after these modes, with the nearest that would do.
fn undivided(modes: &[Mode], (size, stride): (i64, i64), broken: &Broken, why: &str) -> Result<Error> {
    let tries = ((1 << 14) / modes.len().max(1)) as i64;
    let divides = |size: i64, stride: i64| {
        divided(modes, size, stride, &mut vec![0; modes.len()]).is_ok_and(|found| found.is_ok())
    };
    let sizes = nearest(size, tries, |size| divides(size, stride));
    let strides = nearest(stride.saturating_abs(), tries, |other| divides(size, other * stride.signum()));
    let mut accepted = Vec::new();
    if !sizes.is_empty() {
        accepted.push(format!("a size of {}", either(&sizes)));
    }
    if !strides.is_empty() {
        let strides: Vec<i64> = strides.iter().map(|other| other * stride.signum()).collect();
        accepted.push(format!("a stride of {}", either(&strides)));
    }
    let accepted = match accepted.is_empty() {
        true => "sizes and strides that divide one another".to_owned(),
        false => accepted.join(", or "),
    };
    let other = Layout::new(size.into(), stride.into())?;
    Ok(refused(&Layout::of_modes(modes)?, &other).rule(format!("{}; {why}", broken.rule())).accepts(accepted))
}

/// Whether a layout is one after another, index by index. Never for those with too many indices to look at.
fn is_after(found: &Layout, first: &Layout, other: &Layout) -> Result<bool> {
    let size = other.size()?;
    if size > TABLE || first.stride().has_basis() {
        return Ok(false);
    }
    for index in 0..size {
        let place = other.eval(&index.into())?;
        if first.eval(&place)? != found.eval(&index.into())? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A composition on its way: what all modes of the second give together.
struct Sums<'a> {
    first: &'a Layout,
    /// For each mode of coordinates, how far its modes are reached within.
    reached: HashMap<Vec<u32>, Vec<i64>>,
    /// Whether nothing carries, as far as this tells.
    is_sure: bool,
}

impl Sums<'_> {
    fn compose(&mut self, shape: &IntTuple, stride: &IntTuple) -> Result<Layout> {
        match (shape, stride) {
            (IntTuple::Tuple(shapes), IntTuple::Tuple(strides)) => {
                let each = shapes.iter().zip(strides).map(|(shape, stride)| self.compose(shape, stride));
                Layout::join_all(each.collect::<Result<Vec<Layout>>>()?)
            }
            (IntTuple::Leaf(size), IntTuple::Leaf(stride)) => {
                let step = Step::of(stride)?;
                let mut mode = self.first.clone();
                for &number in &step.path {
                    if !mode.shape().is_tuple() {
                        return Err(Error::new(format!("the basis {stride} for {}", self.first))
                            .of_kind(ErrorKind::Mismatch)
                            .field("composition")
                            .rule("a basis names a mode of the layout that it is composed with"));
                    }
                    mode = mode.mode(number as usize)?;
                }
                self.one(&mode, size, &step)
            }
            _ => Err(super::tuple::not_congruent(shape, stride)),
        }
    }

    /// A mode of the first after `size:stride`.
    fn one(&mut self, first: &Layout, size: &Leaf, step: &Step) -> Result<Layout> {
        let stride = step.value;
        if stride == 0 || first.shape().is_empty() {
            return Layout::new(IntTuple::Leaf(size.clone()), 0.into());
        }
        if let (IntTuple::Leaf(_), IntTuple::Leaf(step)) = (first.shape(), first.stride()) {
            return Layout::new(IntTuple::Leaf(size.clone()), Step::of(step)?.times(stride)?.leaf());
        }
        let modes = super::coalesce::join(first.flat_modes()?)?;
        let size = size.int()?;
        let mut reaches = vec![0; modes.len()];
        let layout = match divided(&modes, size, stride, &mut reaches)? {
            Ok(layout) => layout,
            Err(broken) => {
                self.is_sure = false;
                return tabled(&modes, size, stride, &broken);
            }
        };
        self.is_sure &= stride > 0;
        let reached = self.reached.entry(step.path.clone()).or_insert_with(|| vec![0; modes.len()]);
        for ((reached, reach), mode) in reached.iter_mut().zip(reaches).zip(&modes[..modes.len() - 1]) {
            *reached = reached.saturating_add(reach);
            self.is_sure &= *reached < mode.size;
        }
        Ok(layout)
    }
}

/// The rules of the module, and how far each mode is reached within; or the condition that is broken where none of the rules
/// fits.
fn divided(
    modes: &[Mode],
    size: i64,
    stride: i64,
    reaches: &mut [i64],
) -> Result<std::result::Result<Layout, Broken>> {
    let Some((last, before)) = modes.split_last() else { return Ok(Err(Broken::Shape(size, 0))) };
    let (sign, mut left, mut stride) = (stride.signum(), size, times(stride, stride.signum())?);
    let mut found: Vec<Mode> = Vec::new();
    for (Mode { size: extent, step }, reach) in before.iter().zip(reaches) {
        if stride % extent == 0 {
            stride /= extent;
            continue;
        }
        if left == 1 {
            stride = ceil_div(stride, *extent)?;
            continue;
        }
        let fits = times(left - 1, stride).is_ok_and(|reach| reach < *extent);
        let take = if fits { left } else { left.min(extent / stride.max(1)) };
        if !(fits || extent % stride == 0) {
            return Ok(Err(Broken::Stride(stride, *extent)));
        }
        if left % take != 0 {
            return Ok(Err(Broken::Shape(left, take)));
        }
        found.push(Mode { size: take, step: step.times(times(stride, sign)?)? });
        *reach = times(take - 1, stride)?;
        (left, stride) = (left / take, 1);
    }
    if found.is_empty() || left > 1 {
        found.push(Mode { size: left, step: last.step.times(times(stride, sign)?)? });
        if found.len() > 1 {
            found = super::coalesce::join(found)?;
        }
    }
    Layout::of_modes(&found).map(Ok)
}

/// The offsets of `size` coordinates in steps of `stride`, as a layout, if they are one.
///
/// The first n offsets rise evenly; then a mode ends, or nothing does, as fewer would have risen on. What follows must be
/// the same n offsets further on, and where they begin is a layout again, of size / n coordinates.
fn tabled(modes: &[Mode], size: i64, stride: i64, broken: &Broken) -> Result<Layout> {
    let first = Layout::of_modes(modes)?;
    let refused = |why: &str| undivided(modes, (size, stride), broken, why);
    if first.stride().has_basis() || size > TABLE {
        return Err(refused("the offsets are too many, or coordinates, and are not looked at one by one")?);
    }
    let mut offsets =
        (0..size).map(|place| first.offset(times(place, stride)?)).collect::<Result<Vec<i64>>>()?;
    let mut found = Vec::new();
    while offsets.len() > 1 {
        let step = offsets[1]; // the first is 0
        let run = (0..).zip(&offsets).take_while(|&(place, &offset)| times(place, step).ok() == Some(offset));
        let run = run.count();
        let starts: Vec<i64> = offsets.iter().copied().step_by(run).collect();
        let is_same = offsets.chunks(run).zip(&starts).all(|(chunk, start)| {
            chunk.len() == run && chunk.iter().zip(&offsets).all(|(offset, first)| offset - start == *first)
        });
        if !is_same {
            return Err(refused("the offsets are those of no layout")?);
        }
        found.push(Mode { size: run as i64, step: Step { path: Vec::new(), value: step } });
        offsets = starts;
    }
    if found.is_empty() {
        found.push(Mode { size: 1, step: Step { path: Vec::new(), value: 0 } });
    }
    Layout::of_modes(&found)
}
