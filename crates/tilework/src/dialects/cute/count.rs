//! Arithmetic of nested tuples, every step of it checked.

use super::tuple::{IntTuple, Leaf, not_congruent};
use crate::arithmetic::gcd;
use crate::error::{Error, ErrorKind, Result};

fn overflow(what: String) -> Error {
    Error::new(format!("{what} overflows 63 bits")).of_kind(ErrorKind::Overflow).field("layout")
}

/// The nearest number below and the nearest above that will do, of `tries` that are tried on either side; all are positive.
pub(super) fn nearest(of: i64, tries: i64, will_do: impl Fn(i64) -> bool) -> Vec<i64> {
    let below = (1..=tries).map_while(|step| of.checked_sub(step).filter(|&value| value > 0));
    let above = (1..=tries).map_while(|step| of.max(0).checked_add(step));
    let (below, above) =
        (below.into_iter().find(|&value| will_do(value)), above.into_iter().find(|&value| will_do(value)));
    below.into_iter().chain(above).collect()
}

/// `4 or 8`
pub(super) fn either(numbers: &[i64]) -> String {
    numbers.iter().map(i64::to_string).collect::<Vec<String>>().join(" or ")
}

pub(super) fn times(a: i64, b: i64) -> Result<i64> {
    a.checked_mul(b).ok_or_else(|| overflow(format!("{a} × {b}")))
}

pub(super) fn add(a: i64, b: i64) -> Result<i64> {
    a.checked_add(b).ok_or_else(|| overflow(format!("{a} + {b}")))
}

/// `⌈a/b⌉`
pub(super) fn ceil_div(a: i64, b: i64) -> Result<i64> {
    match b {
        0 => Err(Error::new(format!("{a} divided by 0")).field("layout")),
        // Away from 0 only where both have the same sign.
        b => {
            let exact = a.checked_rem(b).unwrap_or(0) == 0 || (a < 0) != (b < 0);
            add(a.checked_div(b).ok_or_else(|| overflow(format!("{a} / {b}")))?, i64::from(!exact))
        }
    }
}

/// An operation on tuples as coordinates, which are as long as they must be: what one lacks is 0, and so is `()`.
fn of_coordinates(
    a: &IntTuple,
    b: &IntTuple,
    change: &mut impl FnMut(i64, i64) -> Result<i64>,
) -> Result<IntTuple> {
    match (a, b) {
        (IntTuple::Leaf(x), IntTuple::Leaf(y)) => Ok(change(x.int()?, y.int()?)?.into()),
        (IntTuple::Tuple(x), IntTuple::Tuple(y)) => (0..x.len().max(y.len()))
            .map(|place| match (x.get(place), y.get(place)) {
                (Some(x), Some(y)) => of_coordinates(x, y, change),
                (one, other) => Ok(one.or(other).cloned().unwrap_or(IntTuple::EMPTY)),
            })
            .collect(),
        (tuple, other) | (other, tuple) if tuple.is_empty() => Ok(other.clone()),
        (tuple @ IntTuple::Tuple(_), IntTuple::Leaf(Leaf::Int(0)))
        | (IntTuple::Leaf(Leaf::Int(0)), tuple) => Ok(tuple.clone()),
        _ => Err(not_congruent(a, b)),
    }
}

/// The sum of two coordinates. What one of them lacks counts as 0.
pub(super) fn sum(a: &IntTuple, b: &IntTuple) -> Result<IntTuple> {
    of_coordinates(a, b, &mut add)
}

impl IntTuple {
    /// The sum of two coordinates. What one of them lacks counts as 0.
    ///
    /// ```
    /// use tilework::cute::IntTuple;
    /// let sum = IntTuple::parse("(1,2,3)")?.plus(&IntTuple::parse("(4,5)")?)?;
    /// assert_eq!(sum.to_string(), "(5,7,3)");
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// A number other than 0 in one tuple where the other has a tuple, and sums that overflow.
    pub fn plus(&self, other: &IntTuple) -> Result<IntTuple> {
        sum(self, other)
    }

    /// The difference of two coordinates. What the first lacks is taken from the second as it is, as in CuTe.
    ///
    /// # Errors
    /// See [`IntTuple::plus`].
    pub fn minus(&self, other: &IntTuple) -> Result<IntTuple> {
        of_coordinates(self, other, &mut |a, b| {
            a.checked_sub(b).ok_or_else(|| overflow(format!("{a} - {b}")))
        })
    }

    /// The products of two tuples, value by value.
    ///
    /// # Errors
    /// See [`IntTuple::plus`].
    pub fn times(&self, other: &IntTuple) -> Result<IntTuple> {
        of_coordinates(self, other, &mut times)
    }

    /// The product of all values.
    ///
    /// # Errors
    /// Values that are no numbers, and a product that overflows.
    pub fn product(&self) -> Result<i64> {
        self.leaves().into_iter().try_fold(1, |product, leaf| times(product, leaf.int()?))
    }

    /// The product of each mode: `(2,(3,(4,5)))` becomes `(2,60)`, and `3` becomes `(3)`.
    ///
    /// # Errors
    /// See [`IntTuple::product`].
    pub fn product_each(&self) -> Result<IntTuple> {
        self.modes().iter().map(|mode| mode.product().map(IntTuple::from)).collect()
    }

    /// How many tiles of these sizes it takes to cover these sizes.
    ///
    /// ```
    /// use tilework::cute::IntTuple;
    /// let tiles = IntTuple::parse("(8,10,6)")?.ceil_div(&IntTuple::parse("(3,4)")?)?;
    /// assert_eq!(tiles.to_string(), "(3,3,6)");
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// A tiler of more modes, and values that are no numbers.
    pub fn ceil_div(&self, tiler: &IntTuple) -> Result<IntTuple> {
        match (self, tiler) {
            (IntTuple::Tuple(sizes), IntTuple::Tuple(tiles)) if sizes.len() >= tiles.len() => {
                let each = sizes.iter().enumerate().map(|(place, size)| match tiles.get(place) {
                    Some(tile) => size.ceil_div(tile),
                    None => Ok(size.clone()),
                });
                each.collect()
            }
            (IntTuple::Tuple(_), IntTuple::Tuple(_)) => Err(not_congruent(self, tiler)),
            (IntTuple::Tuple(sizes), IntTuple::Leaf(_)) => {
                // The tile takes what it can of the first mode, and the rest of it of the next.
                let mut left = tiler.clone();
                let each = sizes.iter().map(|size| {
                    let tiles = size.ceil_div(&left)?;
                    left = left.ceil_div(size)?;
                    Ok(tiles)
                });
                each.collect()
            }
            (IntTuple::Leaf(_), IntTuple::Tuple(_)) => self.ceil_div(&tiler.product()?.into()),
            (IntTuple::Leaf(size), IntTuple::Leaf(tile)) => Ok(ceil_div(size.int()?, tile.int()?)?.into()),
        }
    }

    /// What is left of a shape when its first coordinates are taken away `other` at a time.
    ///
    /// ```
    /// use tilework::cute::IntTuple;
    /// let left = IntTuple::parse("(4,5,6)")?.shape_div(&40.into())?;
    /// assert_eq!(left.to_string(), "(1,1,3)");
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Two sizes that do not divide one another.
    pub fn shape_div(&self, other: &IntTuple) -> Result<IntTuple> {
        match (self, other) {
            (IntTuple::Tuple(a), IntTuple::Tuple(b)) if a.len() == b.len() => {
                a.iter().zip(b).map(|(a, b)| a.shape_div(b)).collect()
            }
            (IntTuple::Tuple(_), IntTuple::Tuple(_)) => Err(not_congruent(self, other)),
            (IntTuple::Tuple(sizes), IntTuple::Leaf(_)) => {
                let mut left = other.clone();
                let each = sizes.iter().map(|size| {
                    let divided = size.shape_div(&left)?;
                    left = left.shape_div(&size.product()?.into())?;
                    Ok(divided)
                });
                each.collect()
            }
            (IntTuple::Leaf(_), IntTuple::Tuple(_)) => self.shape_div(&other.product()?.into()),
            (IntTuple::Leaf(a), IntTuple::Leaf(b)) => {
                let (a, b) = (a.int()?, b.int()?);
                let divides = |a: i64, b: i64| b != 0 && a.checked_rem(b).unwrap_or(0) == 0;
                if b == 0 || !(divides(a, b) || divides(b, a)) {
                    let near = nearest(a, 1 << 14, |size| divides(size, b) || divides(b, size));
                    return Err(Error::new(format!("{a} and {b}"))
                        .field("shape")
                        .rule("CuTe's divisibility condition: one of the sizes divides the other")
                        .accepts(format!("{} with {b}", either(&near))));
                }
                let divided = a.checked_div(b).ok_or_else(|| overflow(format!("{a} / {b}")))?;
                Ok(if divided == 0 { a.signum() * b.signum() } else { divided }.into())
            }
        }
    }

    /// The coordinate after this one: the first mode goes on, then the second. The last mode goes on beyond its size.
    ///
    /// ```
    /// use tilework::cute::IntTuple;
    /// let next = IntTuple::parse("(3,2)")?.increment(&IntTuple::parse("(4,8)")?)?;
    /// assert_eq!(next.to_string(), "(0,3)");
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// A coordinate that does not nest as the shape does.
    pub fn increment(&self, shape: &IntTuple) -> Result<IntTuple> {
        let last = self.leaves().len().saturating_sub(1);
        let (mut place, mut carry) = (0, 1);
        self.zip_map(shape, &mut |coord, size| {
            let next = add(coord.int()?, carry)?;
            let is_over = place < last && next >= size.int()?;
            let value = match place < last && *size == Leaf::Int(1) {
                true => 0,
                false => {
                    carry = i64::from(is_over);
                    if is_over { 0 } else { next }
                }
            };
            place += 1;
            Ok(value.into())
        })
    }

    /// The greatest common divisor of all numbers.
    pub(super) fn gcd(&self) -> Result<i64> {
        let common = self.ints()?.into_iter().fold(0, |common, value| gcd(common, value.unsigned_abs()));
        i64::try_from(common).map_err(|_| overflow("a stride".to_owned()))
    }

    /// The index of a coordinate among all of the shape, the first mode fastest.
    ///
    /// ```
    /// use tilework::cute::IntTuple;
    /// let shape = IntTuple::parse("((4,8),6)")?;
    /// assert_eq!(IntTuple::parse("((1,2),3)")?.index_in(&shape)?, 1 + 2 * 4 + 3 * 32);
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// A coordinate that does not fit the shape.
    pub fn index_in(&self, shape: &IntTuple) -> Result<i64> {
        let index = super::layout::Layout::compact(shape.clone())?.eval(self)?;
        index.as_int().ok_or_else(|| Error::new(format!("{index} is no index")).field("coordinate"))
    }

    /// The coordinate of an index: `index_in` the other way round. Modes of a coordinate that are numbers already become
    /// coordinates of the shape's modes.
    ///
    /// # Errors
    /// A coordinate that does not fit the shape.
    pub fn coord_in(&self, shape: &IntTuple) -> Result<IntTuple> {
        match (self, shape) {
            (IntTuple::Leaf(_), IntTuple::Leaf(_)) => Ok(self.clone()),
            (IntTuple::Leaf(_), IntTuple::Tuple(_)) => {
                super::layout::Layout::new(shape.clone(), basis_like(shape))?.eval(self)
            }
            (IntTuple::Tuple(a), IntTuple::Tuple(b)) if a.len() == b.len() => {
                a.iter().zip(b).map(|(coord, shape)| coord.coord_in(shape)).collect()
            }
            _ => Err(not_congruent(self, shape)),
        }
    }
}

/// The strides that make every coordinate itself: `(1@0,1@1)` for `(4,8)`, and 1 for `4`.
pub(super) fn basis_like(shape: &IntTuple) -> IntTuple {
    fn walk(shape: &IntTuple, path: &mut Vec<u32>) -> IntTuple {
        match shape {
            IntTuple::Leaf(_) if path.is_empty() => 1.into(),
            IntTuple::Leaf(_) => {
                IntTuple::Leaf(Leaf::Basis(super::tuple::Basis { value: Some(1), modes: path.clone() }))
            }
            IntTuple::Tuple(modes) => (0..)
                .zip(modes)
                .map(|(number, mode)| {
                    path.push(number);
                    let basis = walk(mode, path);
                    path.pop();
                    basis
                })
                .collect(),
        }
    }
    walk(shape, &mut Vec::new())
}
