//! Comparing an array in two layouts, by nothing but the layouts.
//!
//! No plan and no kernel is used here: each element's place is asked of both layouts.

use tilework::{Error, Layout, Result};

/// Compares every element of an array in two layouts, and all padding of the second with `padding`, the bits of one element.
///
/// # Errors
/// The first element, in row-major order, or else the first place of padding that differs; layouts of other dimensions or
/// element bits, and buffers shorter than their layouts.
pub fn check(from: &Layout, old: &[u8], to: &Layout, new: &[u8], padding: u128) -> Result<()> {
    comparable(from, old, to, new)?;
    let bits = to.bits();
    let mut first: Option<Error> = None;
    from.for_each_in_index_order(|index, source| {
        if first.is_some() {
            return;
        }
        first = match to.offset(index) {
            Ok(place) if same(old, source, new, place, bits) => None,
            Ok(place) => Some(differs(index, source, place)),
            Err(error) => Some(error),
        };
    });
    if let Some(error) = first {
        return Err(error);
    }
    let padding = padding.to_le_bytes();
    let (mut next, mut wrong) = (0, None);
    let mut gap = |from: u64, to: u64| {
        if wrong.is_none() {
            wrong = (from..to).find(|&place| !same(&padding, 0, new, place, bits));
        }
    };
    if to.places() != Some(to.size()) {
        to.for_each_run(|run| {
            gap(next, run.offset);
            next = run.offset + run.len;
        });
        gap(next, to.size());
    }
    match wrong {
        None => Ok(()),
        Some(place) => Err(Error::new(format!("place {place} does not hold the padding's value"))
            .rule("places without an element hold what was asked for")),
    }
}

/// Compares some elements of an array in two layouts: all of them if there are no more than `elements`, and else so many,
/// spread over the whole.
///
/// # Errors
/// As of [`check`].
pub fn check_sample(from: &Layout, old: &[u8], to: &Layout, new: &[u8], elements: u64) -> Result<()> {
    comparable(from, old, to, new)?;
    let mut index = vec![0; from.rank()];
    let count = from.len().min(elements);
    for number in 0..count {
        // Evenly spread; a step aside by turns, so that not all of them stand in the first column.
        let mut rest = match from.len() == count {
            true => number,
            false => (u128::from(number) * u128::from(from.len()) / u128::from(count)) as u64 + number % 7,
        }
        .min(from.len() - 1);
        for (at, &size) in index.iter_mut().zip(from.dims()).rev() {
            (*at, rest) = (rest % size, rest / size);
        }
        let (source, place) = (from.offset(&index)?, to.offset(&index)?);
        if !same(old, source, new, place, to.bits()) {
            return Err(differs(&index, source, place));
        }
    }
    Ok(())
}

/// Both arrays have the same elements, and are all there.
fn comparable(from: &Layout, old: &[u8], to: &Layout, new: &[u8]) -> Result<()> {
    if from.dims() != to.dims() || from.bits() != to.bits() {
        return Err(Error::new("arrays of other dimensions or element bits cannot be compared"));
    }
    if to.bits() > 128 {
        return Err(Error::new(format!("elements of {} bits", to.bits())).accepts("up to 128 bits"));
    }
    if (old.len() as u64) < from.bytes() || (new.len() as u64) < to.bytes() {
        return Err(Error::new("a buffer is shorter than its layout"));
    }
    Ok(())
}

fn differs(index: &[u64], source: u64, place: u64) -> Error {
    Error::new(format!("element {index:?} is another at place {place} than at place {source} of the source"))
        .rule("each element is the same in both")
}

/// Whether two elements have the same bits. Bits of a byte count from the least significant.
fn same(a: &[u8], at_a: u64, b: &[u8], at_b: u64, bits: u32) -> bool {
    if bits.is_multiple_of(8) {
        let bytes = bits as usize / 8;
        let (a_start, b_start) = (at_a as usize * bytes, at_b as usize * bytes);
        return match bytes {
            1 => a[a_start] == b[b_start],
            2 => a[a_start..a_start + 2] == b[b_start..b_start + 2],
            4 => a[a_start..a_start + 4] == b[b_start..b_start + 4],
            8 => a[a_start..a_start + 8] == b[b_start..b_start + 8],
            _ => a[a_start..a_start + bytes] == b[b_start..b_start + bytes],
        };
    }
    let bit = |bytes: &[u8], at: u64| bytes[(at / 8) as usize] >> (at % 8) & 1;
    let bits = u64::from(bits);
    (0..bits).all(|k| bit(a, at_a * bits + k) == bit(b, at_b * bits + k))
}

#[cfg(test)]
mod tests {
    use tilework::PlanOptions;
    use tilework_copy::Relayout;

    use super::*;

    #[test]
    fn every_wrong_bit_is_found_and_no_right_one() -> Result<()> {
        for bits in [1, 4, 6, 8, 16, 24, 32, 128] {
            let from = Layout::row_major(&[3, 5], bits)?;
            let to = Layout::builder(&[3, 5], bits)?.tile(&[Some(2), Some(2)])?.build()?;
            let old: Vec<u8> = (0..from.bytes()).map(|at| (at * 37 + 11) as u8).collect();
            let mut new = vec![0; to.bytes() as usize];
            let options = PlanOptions { fill: Some(1), ..PlanOptions::default() };
            Relayout::new(&from, &to, &options)?.run(&old, &mut new)?;
            check(&from, &old, &to, &new, 1)?;
            check_sample(&from, &old, &to, &new, 100)?;
            check_sample(&from, &old, &to, &new, 7)?;
            assert!(check_sample(&from, &old, &to, &vec![255; new.len()], 100).is_err());
            assert!(check(&from, &old, &to, &new, 0).is_err());
            for bit in 0..to.size() * u64::from(bits) {
                let mut wrong = new.clone();
                wrong[(bit / 8) as usize] ^= 1 << (bit % 8);
                assert!(check(&from, &old, &to, &wrong, 1).is_err(), "bit {bit} of {bits}-bit elements");
            }
        }
        Ok(())
    }

    #[test]
    fn what_cannot_be_compared_is_an_error() -> Result<()> {
        let (a, b) = (Layout::row_major(&[3], 8)?, Layout::row_major(&[4], 8)?);
        assert!(check(&a, &[0; 3], &b, &[0; 4], 0).is_err());
        assert!(check(&a, &[0; 3], &a, &[0; 2], 0).is_err());
        let scalar = Layout::row_major(&[], 8)?;
        check(&scalar, &[7], &scalar, &[7], 0)?;
        let none = Layout::row_major(&[0, 3], 8)?;
        check(&none, &[], &none, &[], 0)
    }
}
