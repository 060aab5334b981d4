//! Nested tuples of numbers: what shapes, strides, coordinates and tilers are made of.

use crate::error::{Error, ErrorKind, Result};

/// A number, or a tuple of such: `4`, `(4,8)`, `((2,3),4)`, `()`.
///
/// `4` and `(4)` differ: one is a number, the other a tuple of one.
///
/// ```
/// use tilework::cute::IntTuple;
/// let shape = IntTuple::parse("( (2, 3), 4, )")?;
/// assert_eq!(shape.to_string(), "((2,3),4)");
/// assert_eq!((shape.rank(), shape.depth(), shape.product()?), (2, 2, 24));
/// assert_eq!(shape.flatten().to_string(), "(2,3,4)");
/// # Ok::<(), tilework::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum IntTuple {
    /// One value.
    Leaf(Leaf),
    /// `(…)`
    Tuple(Vec<IntTuple>),
}

/// A value of a nested tuple.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Leaf {
    /// A number.
    Int(i64),
    /// `?`: a number that is known at run time only.
    Dynamic(Dynamic),
    /// `3@1`: a step along one mode of a coordinate.
    Basis(Basis),
    /// `_`: everything of a mode.
    Any,
}

/// What is known of a number that is known at run time only: `?`, `?{i64}`, `?{div=8}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dynamic {
    /// The bits that hold it; 32 are not printed.
    pub bits: u32,
    /// What divides it; 1 is not printed.
    pub divisor: u64,
}

/// A scaled basis: `3@1` moves 3 along mode 1 of a coordinate, `1@1@0` moves 1 along mode 1 within mode 0.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Basis {
    /// How far a step goes; none if that is known at run time only.
    pub value: Option<i64>,
    /// The mode, then the mode within it, and so on: the text has them from the right.
    pub modes: Vec<u32>,
}

/// The most values of a tuple that is read.
pub(super) const MAX_LEAVES: usize = 1024;

/// How deep tuples that are read may nest: far beyond any layout, and far below what a stack holds.
pub(super) const MAX_DEPTH: usize = 32;

/// The largest number of a mode in a basis, and the most modes within one another: they bound the tuples that bases stand
/// for.
pub(super) const MAX_MODE: u32 = 63;
pub(super) const MAX_PATH: usize = 8;

impl From<i64> for IntTuple {
    fn from(value: i64) -> IntTuple {
        IntTuple::Leaf(Leaf::Int(value))
    }
}

impl FromIterator<IntTuple> for IntTuple {
    fn from_iter<I: IntoIterator<Item = IntTuple>>(modes: I) -> IntTuple {
        IntTuple::Tuple(modes.into_iter().collect())
    }
}

impl IntTuple {
    /// `()`
    pub const EMPTY: IntTuple = IntTuple::Tuple(Vec::new());

    /// A flat tuple of numbers.
    pub fn flat(values: &[i64]) -> IntTuple {
        values.iter().map(|&value| value.into()).collect()
    }

    /// The number, if it is one.
    pub fn as_int(&self) -> Option<i64> {
        match self {
            IntTuple::Leaf(Leaf::Int(value)) => Some(*value),
            _ => None,
        }
    }

    /// Whether it is a tuple; otherwise it is one value.
    pub fn is_tuple(&self) -> bool {
        matches!(self, IntTuple::Tuple(_))
    }

    /// Whether it is `()`.
    pub fn is_empty(&self) -> bool {
        matches!(self, IntTuple::Tuple(modes) if modes.is_empty())
    }

    /// The entries of a tuple. A value has one entry, itself.
    pub fn modes(&self) -> &[IntTuple] {
        match self {
            IntTuple::Leaf(_) => std::slice::from_ref(self),
            IntTuple::Tuple(modes) => modes,
        }
    }

    /// How many entries a tuple has; 1 for a value.
    pub fn rank(&self) -> usize {
        self.modes().len()
    }

    /// How deep tuples nest; 0 for a value.
    pub fn depth(&self) -> usize {
        match self {
            IntTuple::Leaf(_) => 0,
            IntTuple::Tuple(modes) => 1 + modes.iter().map(IntTuple::depth).max().unwrap_or(0),
        }
    }

    /// The values, from left to right.
    pub fn leaves(&self) -> Vec<&Leaf> {
        fn walk<'a>(tuple: &'a IntTuple, into: &mut Vec<&'a Leaf>) {
            match tuple {
                IntTuple::Leaf(leaf) => into.push(leaf),
                IntTuple::Tuple(modes) => modes.iter().for_each(|mode| walk(mode, into)),
            }
        }
        let mut leaves = Vec::new();
        walk(self, &mut leaves);
        leaves
    }

    /// The same values in a tuple that does not nest. A value stays a value.
    #[must_use]
    pub fn flatten(&self) -> IntTuple {
        match self {
            IntTuple::Leaf(_) => self.clone(),
            IntTuple::Tuple(_) => self.leaves().into_iter().cloned().map(IntTuple::Leaf).collect(),
        }
    }

    /// Whether both nest alike, whatever their values are.
    pub fn is_congruent(&self, other: &IntTuple) -> bool {
        match (self, other) {
            (IntTuple::Leaf(_), IntTuple::Leaf(_)) => true,
            (IntTuple::Tuple(a), IntTuple::Tuple(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.is_congruent(b))
            }
            _ => false,
        }
    }

    /// Whether the other nests like this one, or deeper where this one has a value.
    pub(super) fn is_weakly_congruent(&self, other: &IntTuple) -> bool {
        match (self, other) {
            (IntTuple::Leaf(_), _) => true,
            (IntTuple::Tuple(a), IntTuple::Tuple(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.is_weakly_congruent(b))
            }
            _ => false,
        }
    }

    /// The same nesting with other values.
    pub(super) fn map(&self, change: &mut impl FnMut(&Leaf) -> Result<IntTuple>) -> Result<IntTuple> {
        match self {
            IntTuple::Leaf(leaf) => change(leaf),
            IntTuple::Tuple(modes) => modes.iter().map(|mode| mode.map(change)).collect(),
        }
    }

    /// The nesting of this one, with the values of both, which nest alike.
    pub(super) fn zip_map(
        &self,
        other: &IntTuple,
        change: &mut impl FnMut(&Leaf, &Leaf) -> Result<IntTuple>,
    ) -> Result<IntTuple> {
        match (self, other) {
            (IntTuple::Leaf(a), IntTuple::Leaf(b)) => change(a, b),
            (IntTuple::Tuple(a), IntTuple::Tuple(b)) if a.len() == b.len() => {
                a.iter().zip(b).map(|(a, b)| a.zip_map(b, change)).collect()
            }
            _ => Err(not_congruent(self, other)),
        }
    }

    /// Whether every value is a number, `_` and bases being none.
    pub(super) fn has_only(&self, is_right: impl Fn(&Leaf) -> bool) -> bool {
        self.leaves().into_iter().all(is_right)
    }

    /// Whether a value is known at run time only.
    pub fn is_dynamic(&self) -> bool {
        !self.has_only(|leaf| !matches!(leaf, Leaf::Dynamic(_) | Leaf::Basis(Basis { value: None, .. })))
    }

    /// Whether a value is a scaled basis.
    pub fn has_basis(&self) -> bool {
        !self.has_only(|leaf| !matches!(leaf, Leaf::Basis(_)))
    }

    /// The numbers, from left to right.
    ///
    /// # Errors
    /// A value that is no number, or is known at run time only.
    pub(super) fn ints(&self) -> Result<Vec<i64>> {
        self.leaves().into_iter().map(Leaf::int).collect()
    }
}

impl Leaf {
    /// The number.
    ///
    /// # Errors
    /// Another value.
    pub(super) fn int(&self) -> Result<i64> {
        match self {
            Leaf::Int(value) => Ok(*value),
            Leaf::Dynamic(_) => Err(at_run_time(self)),
            _ => Err(Error::new(format!("expects an integer, but got {self}")).field("tuple")),
        }
    }
}

/// The error about something that only the running program knows.
pub(super) fn at_run_time(found: impl std::fmt::Display) -> Error {
    Error::new(format!("{found} is known at run time only"))
        .of_kind(ErrorKind::Unsupported)
        .field("layout")
        .rule("what is computed here is computed from numbers")
        .accepts("a static layout, with a number for every ?")
}

/// The error about two tuples that do not nest alike.
pub(super) fn not_congruent(a: &IntTuple, b: &IntTuple) -> Error {
    Error::new(format!("expects congruent tuples, but got {a} and {b}"))
        .of_kind(ErrorKind::Mismatch)
        .field("tuple")
        .rule("congruent tuples have the same number of modes at every level")
}
