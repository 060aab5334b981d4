//! Layouts by what becomes of each bit of an index.
//!
//! Both readings of a linear layout are functions that are linear over bits. A bit that goes to one bit is a digit with a
//! stride. Where a bit goes to several, it is given one of them as its own, and the rest is an exchange of places:
//!
//! ```text
//! place = swizzle(Σ own bit · bit of the index)      own bits: those by which the columns can be told apart
//! ```
//!
//! Columns that are an xor of others have no bit of their own; no sum of digits says those.

use crate::error::{Error, ErrorKind, Result};
use crate::layout::Layout;
use crate::layout::swizzle::Swizzle;

/// A dimension of an index: what each of its bits adds to the place, the least significant first. A dimension whose size is
/// no power of two has no bits, but one stride.
#[derive(Clone, Debug)]
pub(super) enum Dimension {
    Bits(Vec<u64>),
    Steps { size: u64, stride: u64 },
}

impl Dimension {
    fn size(&self) -> u64 {
        match self {
            Dimension::Bits(bits) => 1 << bits.len(),
            Dimension::Steps { size, .. } => *size,
        }
    }
}

/// The xor of columns.
///
/// # Errors
/// Columns that depend on one another, other than those of no place at all; more than 63 bits of places.
pub(super) fn exchanged(dims: &[Dimension], bits: u32, size: u64) -> Result<Layout> {
    let columns: Vec<u64> = dims.iter().flat_map(Dimension::columns).collect();
    let own = own_bits(&columns)?;
    let mut next = own.iter().copied();
    let mut plain = dims.to_vec();
    let all = plain.iter_mut().flat_map(Dimension::columns_mut);
    all.for_each(|column| *column = next.next().unwrap_or(0));
    let flips = columns.iter().zip(&own).filter(|(column, own)| column != own);
    let swizzle = Swizzle::flipping(flips.map(|(column, own)| (own.trailing_zeros(), column ^ own)))?;
    sum(&plain, bits, size)?.swizzled(&swizzle)
}

/// The sum of columns.
///
/// # Errors
/// More than 63 bits of places.
pub(super) fn sum(dims: &[Dimension], bits: u32, size: u64) -> Result<Layout> {
    let sizes: Vec<u64> = dims.iter().map(Dimension::size).collect();
    let mut terms = Layout::terms(&sizes, bits)?;
    for (number, dim) in dims.iter().enumerate() {
        let mut term = terms.dim(number)?;
        match dim {
            Dimension::Steps { stride, .. } => terms.add(term, signed(*stride)?)?,
            Dimension::Bits(columns) => {
                let mut rest = &columns[..];
                while let Some(&first) = rest.first() {
                    let run = run(rest);
                    if run == rest.len() {
                        terms.add(term, signed(first)?)?;
                        break;
                    }
                    let (major, minor) = terms.split(term, 1 << run)?;
                    terms.add(minor, signed(first)?)?;
                    term = major;
                    rest = &rest[run..];
                }
            }
        }
    }
    terms.build(None, Some(size))
}

/// How many bits go on as one digit.
fn run(columns: &[u64]) -> usize {
    let goes_on = |pair: &[u64]| pair[0].checked_mul(2) == Some(pair[1]);
    1 + columns.windows(2).take_while(|pair| goes_on(pair)).count()
}

impl Dimension {
    fn columns(&self) -> Vec<u64> {
        match self {
            Dimension::Bits(bits) => bits.clone(),
            Dimension::Steps { .. } => Vec::new(),
        }
    }

    fn columns_mut(&mut self) -> std::slice::IterMut<'_, u64> {
        match self {
            Dimension::Bits(bits) => bits.iter_mut(),
            Dimension::Steps { .. } => [].iter_mut(),
        }
    }
}

/// One bit of each column, as its own: with these alone, they could be told apart. Columns of one bit have that one, and
/// the others the highest that is left, so that low bits stay side by side.
fn own_bits(columns: &[u64]) -> Result<Vec<u64>> {
    let mut own = vec![0; columns.len()];
    // Bits that are taken, with a column that has that bit, and none of the bits that were taken before it.
    let mut taken: Vec<(u64, u64)> = Vec::new();
    for of_one_bit in [true, false] {
        for (&column, own) in columns.iter().zip(&mut own) {
            if column == 0 || column.is_power_of_two() != of_one_bit {
                continue;
            }
            let left = taken.iter().fold(column, |left, &(bit, with)| match left & bit {
                0 => left,
                _ => left ^ with,
            });
            if left == 0 {
                return Err(dependent(column));
            }
            *own = 1 << left.ilog2();
            taken.push((*own, left));
        }
    }
    Ok(own)
}

fn dependent(column: u64) -> Error {
    Error::new(format!("the step of {column} elements is an xor of other steps"))
        .of_kind(ErrorKind::Unsupported)
        .field("encoding")
        .rule("a layout is digits, each with a place of its own, and an exchange of places; steps that depend on one another are none")
        .accepts("bases that are zero, or no xor of others")
}

/// What combination of columns gives each bit below 2^`bits`: the way back from places to bits of the index. Columns of
/// nothing are left out.
///
/// # Errors
/// Columns that depend on one another, or bits that no combination gives.
pub(super) fn inverse(columns: &[u64], bits: usize) -> Result<Vec<u64>> {
    // Each with the bits of the numbers that it is made of.
    let mut rows: Vec<(u64, u64)> = (0..).zip(columns).map(|(bit, &column)| (column, 1_u64 << bit)).collect();
    rows.retain(|row| row.0 > 0);
    if rows.len() > bits {
        return Err(dependent(rows[bits].0));
    }
    for bit in 0..bits {
        let found = (bit..rows.len()).find(|&row| rows[row].0 >> bit & 1 == 1);
        let Some(found) = found else {
            let dependent_row = rows.iter().find(|row| row.0 == 0);
            return Err(match dependent_row {
                Some(row) => dependent(columns[row.1.trailing_zeros() as usize]),
                None => Error::new(format!("no place has an element whose number has bit {bit}"))
                    .field("encoding")
                    .rule("every element of the tensor has a place"),
            });
        };
        rows.swap(bit, found);
        let pivot = rows[bit];
        for (row, own) in rows.iter_mut().enumerate() {
            if row != bit && own.0 >> bit & 1 == 1 {
                *own = (own.0 ^ pivot.0, own.1 ^ pivot.1);
            }
        }
    }
    Ok(rows.into_iter().map(|row| row.1).collect())
}

fn signed(stride: u64) -> Result<i64> {
    i64::try_from(stride)
        .map_err(|_| Error::new("the places overflow 63 bits").of_kind(ErrorKind::Overflow).field("encoding"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layout_is_the_xor_of_its_columns() -> Result<()> {
        let columns = [vec![0b0011, 0b0100], vec![0b1100, 0, 0b0001]];
        let dims = columns.clone().map(Dimension::Bits);
        let layout = exchanged(&dims, 8, 16)?;
        for (i, j) in (0..4).flat_map(|i| (0..8).map(move |j| (i, j))) {
            let of = |columns: &[u64], number: u64| {
                (0..).zip(columns).fold(0, |sum, (bit, column)| sum ^ (column * (number >> bit & 1)))
            };
            assert_eq!(layout.offset(&[i, j])?, of(&columns[0], i) ^ of(&columns[1], j));
        }
        Ok(())
    }

    #[test]
    fn columns_that_depend_on_one_another_are_refused() {
        for columns in [vec![1, 2, 3], vec![4, 4], vec![5, 6, 3]] {
            assert!(exchanged(&[Dimension::Bits(columns.clone())], 8, 8).is_err(), "{columns:?}");
            assert!(inverse(&columns, 3).is_err(), "{columns:?}");
        }
    }

    #[test]
    fn the_inverse_leads_back() -> Result<()> {
        let columns = [0b001, 0, 0b011, 0b110];
        for (bit, combination) in inverse(&columns, 3)?.into_iter().enumerate() {
            let sum = (0..)
                .zip(&columns)
                .fold(0, |sum, (place, column)| sum ^ (column * (combination >> place & 1)));
            assert_eq!(sum, 1 << bit);
        }
        assert!(inverse(&[1, 2], 3).is_err());
        Ok(())
    }
}
