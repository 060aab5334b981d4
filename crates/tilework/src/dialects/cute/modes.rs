//! Modes taken, left out and grouped.

use super::layout::Layout;
use super::tuple::{IntTuple, Leaf, not_congruent};
use crate::error::{Error, ErrorKind, Result};

/// The range of modes that two numbers mean: those below 0 count from the end.
fn range(from: i64, to: i64, rank: usize) -> Option<(usize, usize)> {
    let rank = i64::try_from(rank).ok()?;
    let place = |number: i64| if number < 0 { number.checked_add(rank) } else { Some(number) };
    let (from, to) = (place(from)?, place(to)?.min(rank));
    (0 <= from && from < to).then_some((from as usize, to as usize))
}

impl IntTuple {
    /// The modes from one number up to another as one mode. Numbers below 0 count from the end.
    ///
    /// ```
    /// use tilework::cute::IntTuple;
    /// assert_eq!(IntTuple::parse("(1,2,3,4)")?.group(1, 3)?.to_string(), "(1,(2,3),4)");
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Numbers that mean no modes.
    pub fn group(&self, from: i64, to: i64) -> Result<IntTuple> {
        let IntTuple::Tuple(modes) = self else { return Ok(IntTuple::Tuple(vec![self.clone()])) };
        let (from, to) = range(from, to, modes.len()).ok_or_else(|| {
            Error::new(format!("the modes from {from} to {to} of {self}"))
                .of_kind(ErrorKind::Range)
                .field("modes")
                .accepts(format!("numbers up to {}", modes.len()))
        })?;
        let group = IntTuple::Tuple(modes[from..to].to_vec());
        Ok(modes[..from].iter().cloned().chain([group]).chain(modes[to..].iter().cloned()).collect())
    }

    /// The mode at a place, and within it at the next.
    ///
    /// # Errors
    /// There is no such mode.
    pub fn get(&self, path: &[usize]) -> Result<&IntTuple> {
        path.iter().try_fold(self, |tuple, &number| {
            tuple.modes().get(number).ok_or_else(|| {
                Error::new(format!("there is no mode {number} of {tuple}"))
                    .of_kind(ErrorKind::Range)
                    .field("mode")
                    .accepts(format!("0 to {}", tuple.rank().saturating_sub(1)))
            })
        })
    }

    /// What a coordinate leaves open: the entries at its `_`.
    ///
    /// ```
    /// use tilework::cute::IntTuple;
    /// let open = IntTuple::parse("((4,8),(2,3))")?.slice(&IntTuple::parse("((_,1),_)")?)?;
    /// assert_eq!(open.to_string(), "(4,(2,3))");
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// A coordinate that does not nest as this does, or less.
    pub fn slice(&self, coord: &IntTuple) -> Result<IntTuple> {
        self.chosen(coord, true)
    }

    /// What a coordinate fixes: the entries where it has no `_`.
    ///
    /// # Errors
    /// See [`IntTuple::slice`].
    pub fn dice(&self, coord: &IntTuple) -> Result<IntTuple> {
        self.chosen(coord, false)
    }

    fn chosen(&self, coord: &IntTuple, open: bool) -> Result<IntTuple> {
        match coord {
            IntTuple::Leaf(leaf) => {
                Ok(if (*leaf == Leaf::Any) == open { self.clone() } else { IntTuple::EMPTY })
            }
            IntTuple::Tuple(_) => {
                let mut chosen = Vec::new();
                self.choose(coord, open, &mut chosen)?;
                Ok(IntTuple::Tuple(chosen))
            }
        }
    }

    /// The entries that are chosen, side by side however deep they are.
    fn choose(&self, coord: &IntTuple, open: bool, into: &mut Vec<IntTuple>) -> Result<()> {
        match (coord, self) {
            (IntTuple::Leaf(leaf), _) => {
                if (*leaf == Leaf::Any) == open {
                    into.push(self.clone());
                }
                Ok(())
            }
            (IntTuple::Tuple(coords), IntTuple::Tuple(modes)) if coords.len() == modes.len() => {
                coords.iter().zip(modes).try_for_each(|(coord, mode)| mode.choose(coord, open, into))
            }
            _ => Err(not_congruent(coord, self)),
        }
    }
}

impl Layout {
    /// The modes from one number up to another as one mode.
    ///
    /// # Errors
    /// See [`IntTuple::group`].
    pub fn group(&self, from: i64, to: i64) -> Result<Layout> {
        Layout::new(self.shape().group(from, to)?, self.stride().group(from, to)?)
    }

    /// The mode at a place, and within it at the next.
    ///
    /// # Errors
    /// There is no such mode.
    pub fn get(&self, path: &[usize]) -> Result<Layout> {
        path.iter().try_fold(self.clone(), |layout, &number| layout.mode(number))
    }

    /// These modes, in this order.
    ///
    /// # Errors
    /// There is no such mode.
    pub fn select(&self, numbers: &[usize]) -> Result<Layout> {
        let modes = numbers.iter().map(|&number| self.mode(number));
        Layout::join_all(modes.collect::<Result<Vec<Layout>>>()?)
    }

    /// The modes that a coordinate leaves open, at its `_`.
    ///
    /// # Errors
    /// A coordinate that does not nest as the shape does, or less.
    pub fn slice(&self, coord: &IntTuple) -> Result<Layout> {
        Layout::new(self.shape().slice(coord)?, self.stride().slice(coord)?)
    }

    /// The modes that a coordinate fixes.
    ///
    /// # Errors
    /// See [`Layout::slice`].
    pub fn dice(&self, coord: &IntTuple) -> Result<Layout> {
        Layout::new(self.shape().dice(coord)?, self.stride().dice(coord)?)
    }

    /// The layout of a shape that gives every coordinate itself: `(4,8):(1@0,1@1)`.
    ///
    /// # Errors
    /// See [`Layout::new`].
    pub fn identity(shape: IntTuple) -> Result<Layout> {
        let basis = super::count::basis_like(&shape);
        Layout::new(shape, basis)
    }
}
