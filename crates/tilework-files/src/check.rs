//! Comparing an array in two layouts, by nothing but the layouts.
//!
//! No plan is used here, and no kernel but that of a conversion: each element's place is asked of both layouts.

use tilework::{Error, Layout, Result};
use tilework_copy::Conversion;

/// An array: how it lies, and its bytes.
type Array<'a> = (&'a Layout, &'a [u8]);

/// Elements that are converted at a time.
const BATCH: usize = 1024;

/// Compares every element of an array in two layouts, and all padding of the second with `padding`, the bits of one element.
/// Where elements were converted, those of the first are converted again, in their own order.
///
/// # Errors
/// The first element, in row-major order, or else the first place of padding that differs; layouts of other dimensions or
/// element bits, and buffers shorter than their layouts.
pub fn check(from: Array, to: Array, conversion: Option<Conversion>, padding: u128) -> Result<()> {
    check_elements(from, to, conversion)?;
    check_padding(to, padding, &mut |_| {})
}

/// Compares every element of an array in two layouts.
pub(crate) fn check_elements(from: Array, to: Array, conversion: Option<Conversion>) -> Result<()> {
    comparable(from, to, conversion)?;
    let mut compare = Compare::new(from.1, to, conversion);
    let (mut number, mut first) = (0, None);
    from.0.for_each_in_index_order(|index, source| {
        if first.is_some() {
            return;
        }
        first = match to.0.offset(index) {
            Ok(place) => compare.add(Element { number, source, place }).err(),
            Err(error) => Some(error),
        };
        number += 1;
    });
    match first {
        Some(error) => Err(error),
        None => compare.end(),
    }
}

/// Places that are looked at before the caller hears of it.
const PLACES: u64 = 1 << 24;

/// Compares all padding of an array with the bits of one element, and calls `progress` with the place now and then.
pub(crate) fn check_padding(to: Array, padding: u128, progress: &mut dyn FnMut(u64)) -> Result<()> {
    let (to, new) = to;
    let padding = padding.to_le_bytes();
    let (mut next, mut wrong, mut said) = (0, None, 0);
    let mut gap = |from: u64, end: u64| {
        if wrong.is_none() {
            wrong = (from..end).find(|&place| !same(&padding, 0, new, place, to.bits()));
        }
        if end - said > PLACES {
            said = end;
            progress(end);
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

/// Compares some elements of an array in two layouts: all of them if there are no more than `elements`, and else that many,
/// spread over the whole.
///
/// # Errors
/// As of [`check`].
pub fn check_sample(from: Array, to: Array, conversion: Option<Conversion>, elements: u64) -> Result<()> {
    comparable(from, to, conversion)?;
    let mut compare = Compare::new(from.1, to, conversion);
    let len = from.0.len();
    let count = len.min(elements);
    for number in 0..count {
        // Evenly spread; a step aside by turns, so that not all of them stand in the first column.
        let number = match len == count {
            true => number,
            false => (u128::from(number) * u128::from(len) / u128::from(count)) as u64 + number % 7,
        }
        .min(len - 1);
        let index = index(number, to.0.dims());
        compare.add(Element { number, source: from.0.offset(&index)?, place: to.0.offset(&index)? })?;
    }
    compare.end()
}

/// The index of an element by its number in row-major order.
fn index(number: u64, dims: &[u64]) -> Vec<u64> {
    let (mut index, mut rest) = (vec![0; dims.len()], number);
    for (at, &size) in index.iter_mut().zip(dims).rev() {
        (*at, rest) = (rest % size, rest / size);
    }
    index
}

/// Both arrays have the same elements, and are all there.
fn comparable(from: Array, to: Array, conversion: Option<Conversion>) -> Result<()> {
    let bits = match conversion {
        Some(conversion) => (conversion.from().bits(), conversion.to().bits()),
        None => (to.0.bits(), to.0.bits()),
    };
    if from.0.dims() != to.0.dims() || (from.0.bits(), to.0.bits()) != bits {
        return Err(Error::new("arrays of other dimensions or element bits cannot be compared"));
    }
    if to.0.bits() > 128 {
        return Err(Error::new(format!("elements of {} bits", to.0.bits())).accepts("up to 128 bits"));
    }
    if (from.1.len() as u64) < from.0.bytes() || (to.1.len() as u64) < to.0.bytes() {
        return Err(Error::new("a buffer is shorter than its layout"));
    }
    Ok(())
}

/// An element: its number in row-major order, and its places in both arrays.
#[derive(Clone, Copy)]
struct Element {
    number: u64,
    source: u64,
    place: u64,
}

/// Compares elements: at once, or, where they are converted, when a batch of them is together.
struct Compare<'a> {
    old: &'a [u8],
    to: Array<'a>,
    conversion: Option<Conversion>,
    batch: Vec<Element>,
    gathered: Vec<u8>,
    converted: Vec<u8>,
}

impl<'a> Compare<'a> {
    fn new(old: &'a [u8], to: Array<'a>, conversion: Option<Conversion>) -> Compare<'a> {
        // No kind has more than 64 bits.
        let room = if conversion.is_some() { BATCH * 8 } else { 0 };
        Compare { old, to, conversion, batch: Vec::new(), gathered: vec![0; room], converted: vec![0; room] }
    }

    fn add(&mut self, element: Element) -> Result<()> {
        if self.conversion.is_none() {
            let same = same(self.old, element.source, self.to.1, element.place, self.to.0.bits());
            return if same { Ok(()) } else { Err(self.differs(element)) };
        }
        self.batch.push(element);
        if self.batch.len() == BATCH { self.end() } else { Ok(()) }
    }

    /// Converts and compares the elements of the batch.
    fn end(&mut self) -> Result<()> {
        let Some(conversion) = self.conversion else { return Ok(()) };
        let bits = conversion.from().bits();
        for (at, element) in self.batch.iter().enumerate() {
            put(self.old, element.source, &mut self.gathered, at, bits);
        }
        conversion.run(self.batch.len(), &self.gathered, &mut self.converted)?;
        let bits = self.to.0.bits();
        let different = |(at, element): &(usize, &Element)| {
            !same(&self.converted, *at as u64, self.to.1, element.place, bits)
        };
        if let Some((_, &element)) = self.batch.iter().enumerate().find(different) {
            return Err(self.differs(element));
        }
        self.batch.clear();
        Ok(())
    }

    fn differs(&self, element: Element) -> Error {
        differs(&index(element.number, self.to.0.dims()), element.source, element.place)
    }
}

/// Puts an element of the one buffer into the other; it has whole bytes or four bits, as every kind has.
fn put(from: &[u8], source: u64, to: &mut [u8], place: usize, bits: u32) {
    let (bytes, source) = (bits as usize / 8, source as usize);
    if bytes > 0 {
        to[place * bytes..][..bytes].copy_from_slice(&from[source * bytes..][..bytes]);
        return;
    }
    let nibble = from[source / 2] >> (source % 2 * 4) & 15;
    let byte = &mut to[place / 2];
    *byte = if place.is_multiple_of(2) { *byte & 0xf0 | nibble } else { *byte & 15 | nibble << 4 };
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
    use tilework::Element;
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
            check((&from, &old), (&to, &new), None, 1)?;
            check_sample((&from, &old), (&to, &new), None, 100)?;
            check_sample((&from, &old), (&to, &new), None, 7)?;
            assert!(check_sample((&from, &old), (&to, &vec![255; new.len()]), None, 100).is_err());
            assert!(check((&from, &old), (&to, &new), None, 0).is_err());
            for bit in 0..to.size() * u64::from(bits) {
                let mut wrong = new.clone();
                wrong[(bit / 8) as usize] ^= 1 << (bit % 8);
                assert!(
                    check((&from, &old), (&to, &wrong), None, 1).is_err(),
                    "bit {bit} of {bits}-bit elements"
                );
            }
        }
        Ok(())
    }

    #[test]
    fn every_wrong_bit_of_converted_elements_is_found() -> Result<()> {
        for (from, to) in
            [(Element::F32, Element::Bf16), (Element::S8, Element::S4), (Element::F4e2m1fn, Element::F32)]
        {
            let old_layout = Layout::row_major(&[31, 45], from.bits())?; // more than a batch, and an odd rest
            let builder = Layout::builder(&[31, 45], to.bits())?;
            let new_layout = builder.tile(&[Some(8), Some(4)])?.build()?;
            let conversion = Conversion::new(from, to).expect("a conversion");
            let old: Vec<u8> = (0..old_layout.bytes()).map(|at| (at * 37 % 251) as u8).collect();
            let mut new = vec![0; new_layout.bytes() as usize];
            let options = PlanOptions { fill: Some(1), ..PlanOptions::default() };
            Relayout::converting(&old_layout, &new_layout, conversion, &options)?.run(&old, &mut new)?;
            let old = (&old_layout, &old[..]);
            check(old, (&new_layout, &new), Some(conversion), 1)?;
            check_sample(old, (&new_layout, &new), Some(conversion), 100)?;
            assert!(check(old, (&new_layout, &new), None, 1).is_err());
            for bit in (0..new_layout.size() * u64::from(to.bits())).step_by(61) {
                new[(bit / 8) as usize] ^= 1 << (bit % 8);
                assert!(check(old, (&new_layout, &new), Some(conversion), 1).is_err(), "bit {bit} of {to}");
                new[(bit / 8) as usize] ^= 1 << (bit % 8);
            }
        }
        Ok(())
    }

    #[test]
    fn what_cannot_be_compared_is_an_error() -> Result<()> {
        let (a, b) = (Layout::row_major(&[3], 8)?, Layout::row_major(&[4], 8)?);
        assert!(check((&a, &[0; 3]), (&b, &[0; 4]), None, 0).is_err());
        assert!(check((&a, &[0; 3]), (&a, &[0; 2]), None, 0).is_err());
        let scalar = Layout::row_major(&[], 8)?;
        check((&scalar, &[7]), (&scalar, &[7]), None, 0)?;
        let none = Layout::row_major(&[0, 3], 8)?;
        check((&none, &[]), (&none, &[]), None, 0)
    }
}
