//! A layout `shape:stride`: what is valid, and the function that it is.

use super::count::{add, sum, times};
use super::tuple::{Basis, IntTuple, Leaf, MAX_MODE, MAX_PATH, at_run_time};
use crate::error::{Error, ErrorKind, Result};

/// `shape:stride`, two nested tuples that nest alike: the offset is the sum of digit times stride, and a nested mode has
/// its digits in colexicographic order, the first fastest.
///
/// ```
/// use tilework::cute::{IntTuple, Layout};
/// let layout = Layout::parse("(3,(2,3)):(3,(12,1))")?;
/// let offset = |index: i64| Ok(layout.eval(&index.into())?.as_int());
/// assert_eq!([offset(3)?, offset(9)?, offset(16)?], [Some(12), Some(13), Some(17)]); // NVIDIA's own example
/// assert_eq!(layout.eval(&IntTuple::parse("(1,(1,2))")?)?.as_int(), Some(3 + 12 + 2));
/// assert_eq!((layout.size()?, layout.cosize()?), (18, 21));
/// # Ok::<(), tilework::Error>(())
/// ```
///
/// Strides that are scaled bases make coordinates in place of offsets:
///
/// ```
/// use tilework::cute::Layout;
/// assert_eq!(Layout::parse("(4,8):(1@1,1@0)")?.eval(&6.into())?.to_string(), "(1,2)");
/// # Ok::<(), tilework::Error>(())
/// ```
///
/// What is valid:
///
/// ```text
/// V1   sizes are positive, or known at run time only
/// V2   shape and stride are congruent: they have the same number of modes at every level
/// V3   strides are integers, or scaled bases and zeros
/// V4   no basis names a mode that another one names modes within
/// V5   the number of coordinates and the farthest offset fit 63 bits
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Layout {
    shape: IntTuple,
    stride: IntTuple,
}

/// A mode of a flat layout without anything dynamic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mode {
    pub(super) size: i64,
    pub(super) step: Step,
}

/// A stride: a number, or a number along a mode of a coordinate. Steps are ordered by mode, then by number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Step {
    /// The modes of a basis; empty for a plain number.
    pub(super) path: Vec<u32>,
    pub(super) value: i64,
}

impl Step {
    pub(super) fn of(leaf: &Leaf) -> Result<Step> {
        match leaf {
            Leaf::Basis(Basis { value: Some(value), modes }) => {
                Ok(Step { path: modes.clone(), value: *value })
            }
            Leaf::Basis(_) => Err(at_run_time(leaf)),
            leaf => Ok(Step { path: Vec::new(), value: leaf.int()? }),
        }
    }

    pub(super) fn leaf(&self) -> IntTuple {
        IntTuple::Leaf(match self.path.is_empty() {
            true => Leaf::Int(self.value),
            false => Leaf::Basis(Basis { value: Some(self.value), modes: self.path.clone() }),
        })
    }

    pub(super) fn times(&self, factor: i64) -> Result<Step> {
        Ok(Step { path: self.path.clone(), value: times(self.value, factor)? })
    }

    pub(super) fn is_zero(&self) -> bool {
        self.value == 0
    }
}

impl Layout {
    /// A layout of this shape and these strides.
    ///
    /// # Errors
    /// What V1 to V5 forbid; see [`Layout`].
    pub fn new(shape: IntTuple, stride: IntTuple) -> Result<Layout> {
        shape.leaves().into_iter().try_for_each(check_size)?; // V1
        if !shape.is_congruent(&stride) {
            return Err(Error::new(format!(
                "expects shape and stride to be congruent, but got {shape} and {stride}"
            ))
            .of_kind(ErrorKind::Mismatch)
            .field("stride")
            .rule("every mode of the shape has one stride, nested alike")
            .accepts("as many strides as modes at every level")); // V2
        }
        check_strides(&stride)?; // V3, V4
        let layout = Layout { shape, stride };
        layout.check_numbers()?; // V5
        Ok(layout)
    }

    /// The compact layout of this shape, the first mode fastest: what a text without strides means.
    ///
    /// ```
    /// use tilework::cute::{IntTuple, Layout};
    /// let shape = IntTuple::parse("(4,1,(2,3))")?;
    /// assert_eq!(Layout::compact(shape)?.to_string(), "(4,1,(2,3)):(1,0,(4,8))");
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// See [`Layout::new`].
    pub fn compact(shape: IntTuple) -> Result<Layout> {
        let mut next = Some(1);
        let stride = compact_stride(&shape, &mut next)?;
        Layout::new(shape, stride)
    }

    /// `1:0`
    pub(super) fn unit() -> Layout {
        Layout { shape: 1.into(), stride: 0.into() }
    }

    /// Modes side by side, those that are `()` left out.
    pub(super) fn join(layouts: impl IntoIterator<Item = Layout>) -> Result<Layout> {
        let (mut shape, mut stride) = (Vec::new(), Vec::new());
        for layout in layouts {
            if !layout.shape.is_empty() {
                shape.push(layout.shape);
                stride.push(layout.stride);
            }
        }
        Layout::new(IntTuple::Tuple(shape), IntTuple::Tuple(stride))
    }

    /// A flat layout: a tuple, or a single mode without parentheses.
    pub(super) fn of_modes(modes: &[Mode]) -> Result<Layout> {
        let of = |mode: &Mode| (IntTuple::from(mode.size), mode.step.leaf());
        let (mut shapes, mut strides): (Vec<_>, Vec<_>) = modes.iter().map(of).unzip();
        match (shapes.len(), shapes.pop(), strides.pop()) {
            (1, Some(shape), Some(stride)) => Layout::new(shape, stride),
            (_, shape, stride) => {
                shapes.extend(shape);
                strides.extend(stride);
                Layout::new(IntTuple::Tuple(shapes), IntTuple::Tuple(strides))
            }
        }
    }

    /// The modes at the bottom, from left to right.
    ///
    /// # Errors
    /// Something that is known at run time only.
    pub(super) fn flat_modes(&self) -> Result<Vec<Mode>> {
        let pairs = self.shape.leaves().into_iter().zip(self.stride.leaves());
        pairs.map(|(size, stride)| Ok(Mode { size: size.int()?, step: Step::of(stride)? })).collect()
    }

    /// The shape.
    pub fn shape(&self) -> &IntTuple {
        &self.shape
    }

    /// The strides.
    pub fn stride(&self) -> &IntTuple {
        &self.stride
    }

    /// How many top-level modes there are.
    pub fn rank(&self) -> usize {
        self.shape.rank()
    }

    /// A top-level mode. A layout of one number is its own mode 0.
    ///
    /// # Errors
    /// There is no such mode.
    pub fn mode(&self, number: usize) -> Result<Layout> {
        match (self.shape.modes().get(number), self.stride.modes().get(number)) {
            (Some(shape), Some(stride)) => Ok(Layout { shape: shape.clone(), stride: stride.clone() }),
            _ => Err(Error::new(format!("there is no mode {number} of {self}"))
                .of_kind(ErrorKind::Range)
                .field("mode")
                .accepts(format!("0 to {}", self.rank().saturating_sub(1)))),
        }
    }

    /// The top-level modes.
    pub(super) fn top_modes(&self) -> impl Iterator<Item = Layout> + '_ {
        let pairs = self.shape.modes().iter().zip(self.stride.modes());
        pairs.map(|(shape, stride)| Layout { shape: shape.clone(), stride: stride.clone() })
    }

    /// Whether something is known at run time only.
    pub fn is_dynamic(&self) -> bool {
        self.shape.is_dynamic() || self.stride.is_dynamic()
    }

    /// The number of coordinates.
    ///
    /// # Errors
    /// A size that is known at run time only.
    pub fn size(&self) -> Result<i64> {
        self.shape.product()
    }

    /// One more than the farthest offset from the first; with scaled bases, the product of that along each mode.
    ///
    /// ```
    /// use tilework::cute::Layout;
    /// assert_eq!(Layout::parse("(4,(3,2),5):(1,(4,12),24)")?.cosize()?, 120);
    /// assert_eq!(Layout::parse("(2,3):(1@0,1@1)")?.cosize()?, 2 * 3);
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Something is known at run time only, or the product overflows.
    pub fn cosize(&self) -> Result<i64> {
        self.coshape()?.product()
    }

    /// One more than the farthest offset: a number, or a coordinate.
    pub(super) fn coshape(&self) -> Result<IntTuple> {
        let modes = self.flat_modes()?;
        let mut last = IntTuple::EMPTY;
        for Mode { size, step } in &modes {
            let reach = Step { path: step.path.clone(), value: step.value.abs() }.times(size - 1)?;
            last = sum(&last, &coordinate(&reach))?;
        }
        if last.is_empty() {
            return Ok(1.into());
        }
        last.map(&mut |leaf| Ok(add(leaf.int()?, 1)?.into()))
    }

    /// What the layout gives for coordinate 0: 0, or a tuple of zeros that nests as coordinates do.
    pub(super) fn coprofile(&self) -> Result<IntTuple> {
        if self.shape.is_empty() {
            return Ok(0.into());
        }
        self.eval(&0.into())
    }

    /// The offset of a coordinate: of a number, a tuple as the shape, or anything between; `_` counts as 0. With scaled
    /// bases it is a coordinate again.
    ///
    /// Beyond the shape the last mode goes on, as in CuTe.
    ///
    /// # Errors
    /// A coordinate that does not fit the shape, something that is known at run time only, or a number that overflows.
    pub fn eval(&self, coord: &IntTuple) -> Result<IntTuple> {
        if self.shape.is_empty() {
            return Ok(0.into());
        }
        // A coordinate (1) stands for (1,0,…): a scaled basis of mode 0 makes such.
        if coord.is_tuple() && coord.rank() == 1 && self.rank() != 1 {
            let rest = (1..self.rank()).map(|_| IntTuple::from(0));
            let padded: IntTuple = coord.modes().iter().cloned().chain(rest).collect();
            return eval(&padded, &self.shape, &self.stride);
        }
        eval(coord, &self.shape, &self.stride)
    }

    /// The coordinate of an offset, as nested as the shape: each digit is the offset divided by the stride, modulo the size.
    /// That is the way back where strides and sizes fit, as those of compact layouts do.
    ///
    /// ```
    /// use tilework::cute::Layout;
    /// assert_eq!(Layout::parse("(4,(2,3)):(6,(1,2))")?.digits_of(&15.into())?.to_string(), "(2,(1,1))");
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Scaled bases, something that is known at run time only, and a tuple of offsets that does not nest as the shape does.
    pub fn digits_of(&self, offset: &IntTuple) -> Result<IntTuple> {
        match offset {
            IntTuple::Leaf(offset) => {
                let offset = offset.int()?;
                self.shape.zip_map(&self.stride, &mut |size, stride| {
                    let digit = match stride.int()? {
                        0 => 0,
                        stride => offset.checked_div(stride).unwrap_or(0) % size.int()?,
                    };
                    Ok(digit.into())
                })
            }
            IntTuple::Tuple(offsets) if offsets.len() == self.rank() => {
                self.top_modes().zip(offsets).map(|(mode, offset)| mode.digits_of(offset)).collect()
            }
            IntTuple::Tuple(_) => Err(super::tuple::not_congruent(offset, &self.shape)),
        }
    }

    /// The offset of a coordinate in a layout without bases.
    pub(super) fn offset(&self, coord: i64) -> Result<i64> {
        let offset = self.eval(&coord.into())?;
        offset.as_int().ok_or_else(|| Error::new(format!("{self} gives coordinates")).field("layout"))
    }

    fn check_numbers(&self) -> Result<()> {
        let (mut size, mut reach) = (Some(1_i64), Some(1_i64));
        for (extent, stride) in self.shape.leaves().into_iter().zip(self.stride.leaves()) {
            let Leaf::Int(extent) = *extent else { continue };
            size = size.and_then(|size| size.checked_mul(extent));
            let step = match stride {
                Leaf::Int(step) | Leaf::Basis(Basis { value: Some(step), .. }) => *step,
                _ => continue,
            };
            let last = step.checked_abs().and_then(|step| step.checked_mul(extent - 1));
            reach = reach.and_then(|reach| reach.checked_add(last?));
        }
        if size.is_none() || reach.is_none() {
            return Err(Error::new(format!("the offsets of {self} overflow 63 bits"))
                .of_kind(ErrorKind::Overflow)
                .field("layout")
                .accepts("smaller shapes and strides"));
        }
        Ok(())
    }
}

/// V1
pub(super) fn check_size(leaf: &Leaf) -> Result<()> {
    match leaf {
        Leaf::Int(1..) | Leaf::Dynamic(_) => Ok(()),
        Leaf::Int(size) => Err(Error::new(format!("expects positive shape mode, but got {size}"))
            .field("shape")
            .rule("a mode of a shape has 1 coordinate or more")
            .accepts("1 or more, or ?")),
        other => Err(Error::new(format!("expects an integer shape mode, but got {other}"))
            .field("shape")
            .accepts("1 or more, or ?")),
    }
}

/// V3 and V4
pub(super) fn check_strides(stride: &IntTuple) -> Result<()> {
    let leaves = stride.leaves();
    let is_basis = |leaf: &&&Leaf| matches!(leaf, Leaf::Basis(_));
    let basis = |leaf: &&'_ Leaf| match leaf {
        Leaf::Basis(basis) => Some(basis.clone()),
        _ => None,
    };
    let bases: Vec<Basis> = leaves.iter().filter_map(basis).collect();
    let refused = |found: String, rule: &str| Err(Error::new(found).field("stride").rule(rule));
    for leaf in leaves.iter().filter(|leaf| !is_basis(leaf)) {
        match leaf {
            Leaf::Any => return refused("expects an integer stride, but got _".to_owned(), "_ is no stride"),
            Leaf::Int(0) => {}
            leaf if !bases.is_empty() => {
                return refused(
                    format!("expects strides all integers or all scaled bases, but got {leaf} in {stride}"),
                    "among scaled bases, 0 is the only integer",
                );
            }
            _ => {}
        }
    }
    for basis in &bases {
        let is_small = (1..=MAX_PATH).contains(&basis.modes.len());
        if !is_small || basis.modes.iter().any(|&mode| mode > MAX_MODE) {
            let rule = format!("a basis names 1 to {MAX_PATH} modes, numbered up to {MAX_MODE}");
            return refused(format!("the basis {}", Leaf::Basis((*basis).clone())), &rule);
        }
        let is_within =
            |other: &&Basis| other.modes.len() > basis.modes.len() && other.modes.starts_with(&basis.modes);
        if let Some(other) = bases.iter().find(is_within) {
            let [a, b] = [basis, other].map(|basis| Leaf::Basis((*basis).clone()));
            return refused(
                format!("expects basis paths that agree in depth, but got {a} and {b}"),
                "a mode of a coordinate is a number or has modes of its own",
            );
        }
    }
    Ok(())
}

/// The strides of a compact layout. Modes of 1 have stride 0, as in CuTe. After something dynamic, strides are dynamic.
pub(super) fn compact_stride(shape: &IntTuple, next: &mut Option<i64>) -> Result<IntTuple> {
    shape.map(&mut |leaf| {
        check_size(leaf)?;
        let stride = match *next {
            _ if *leaf == Leaf::Int(1) => return Ok(0.into()),
            Some(stride) => stride.into(),
            None => IntTuple::Leaf(Leaf::Dynamic(super::tuple::Dynamic { bits: 32, divisor: 1 })),
        };
        *next = match (*next, leaf) {
            (Some(next), Leaf::Int(size)) => Some(times(next, *size)?),
            _ => None,
        };
        Ok(stride)
    })
}

/// The coordinate that a step is: `3@1` is (0,3).
pub(super) fn coordinate(step: &Step) -> IntTuple {
    step.path.iter().rev().fold(step.value.into(), |inner, &mode| {
        let zeros = std::iter::repeat_n(IntTuple::from(0), mode as usize);
        zeros.chain([inner]).collect()
    })
}

/// What a coordinate is multiplied to, mode by mode:
///
/// ```text
/// c, s, d                   c · d
/// c, (s, S…), (d, D…)       c mod size(s), s, d   +   c div size(s), (S…), (D…)        the last mode takes all that is left
/// (c, C…), (s, S…), …       mode by mode
/// ```
fn eval(coord: &IntTuple, shape: &IntTuple, stride: &IntTuple) -> Result<IntTuple> {
    match (coord, shape, stride) {
        (_, IntTuple::Tuple(modes), _) if modes.is_empty() => Ok(IntTuple::EMPTY),
        (IntTuple::Leaf(Leaf::Any), _, _) => eval(&0.into(), shape, stride),
        (IntTuple::Leaf(coord), IntTuple::Leaf(_), IntTuple::Leaf(stride)) => {
            Ok(coordinate(&Step::of(stride)?.times(coord.int()?)?))
        }
        (IntTuple::Leaf(coord), IntTuple::Tuple(shapes), IntTuple::Tuple(strides)) => {
            let mut left = coord.int()?;
            let mut offset = IntTuple::EMPTY;
            for (number, (shape, stride)) in shapes.iter().zip(strides).enumerate() {
                let size = if number + 1 < shapes.len() { Some(shape.product()?) } else { None };
                let digit = size.map_or(left, |size| left % size);
                offset = sum(&offset, &eval(&digit.into(), shape, stride)?)?;
                left = size.map_or(0, |size| left / size);
            }
            Ok(offset)
        }
        (IntTuple::Tuple(coords), IntTuple::Tuple(shapes), IntTuple::Tuple(strides))
            if coords.len() == shapes.len() =>
        {
            let mut offset = IntTuple::EMPTY;
            for ((coord, shape), stride) in coords.iter().zip(shapes).zip(strides) {
                offset = sum(&offset, &eval(coord, shape, stride)?)?;
            }
            Ok(offset)
        }
        _ => Err(Error::new(format!("coordinate {coord} for the shape {shape}"))
            .of_kind(ErrorKind::Mismatch)
            .field("coordinate")
            .rule("a coordinate nests as the shape does, or less")
            .accepts("an integer, or a tuple with one entry for each mode")),
    }
}
