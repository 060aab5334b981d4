//! Comparing arrays by their contents, whatever their layouts, types and formats.
//!
//! Both arrays are taken apart into the same blocks of elements, each block is brought into row-major order from both sides, and
//! the blocks are compared as bytes. Only where these differ are elements looked at one by one.

use std::path::Path;

use tilework::{Element, Error, Layout, PlanOptions, Result};
use tilework_copy::{Conversion, Relayout};

use super::array::{Content, Placed};
use super::{Container, Tensor};
use crate::source::Array;
use crate::window::parts;

/// Bytes of an array that are looked at at a time.
const BLOCK: u64 = 8 << 20;

/// Places that are named.
const NAMED: usize = 3;

/// What comparing two arrays says.
#[derive(Clone, Debug, PartialEq)]
pub enum Compared {
    /// Every element is the same, in bits, or in value where the types differ.
    Equal,
    /// Some elements differ.
    Different(Different),
    /// Arrays of other sizes, or kinds that have nothing in common; what that is.
    Incomparable(String),
}

/// How two arrays of the same sizes differ.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Different {
    /// How many elements, or bytes of blocks.
    pub count: u64,
    /// The first few of them.
    pub first: Vec<Place>,
    /// The largest difference of two numbers; none where one of them is no number, or they are not real.
    pub most: Option<f64>,
}

/// An element that differs.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// Its index; of blocks the byte.
    pub index: Vec<u64>,
    /// What it is in both; bits in hexadecimal where it is no real number.
    pub values: [String; 2],
}

/// By how much numbers may differ and are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tolerance {
    /// By this number.
    pub absolute: f64,
    /// By this part of the larger of both, as what was rounded to a narrower type does.
    pub relative: f64,
}

impl From<f64> for Tolerance {
    fn from(absolute: f64) -> Tolerance {
        Tolerance { absolute, relative: 0.0 }
    }
}

impl Tolerance {
    fn allows(self, a: f64, b: f64) -> bool {
        let apart = (a - b).abs();
        let is_within = |most: f64| most > 0.0 && apart <= most;
        is_within(self.absolute) || is_within(self.relative * a.abs().max(b.abs())) && apart.is_finite()
    }
}

/// Compares two arrays. Numbers that differ by no more than `tolerance` allows are the same.
///
/// # Errors
/// Arrays that are not read, and files that were cut short or are not what their checksums say.
pub fn compare(
    a: (&Container, &Tensor),
    b: (&Container, &Tensor),
    tolerance: impl Into<Tolerance>,
    scratch: &Path,
) -> Result<Compared> {
    let (old, new) = (&a.1.content, &b.1.content);
    for content in [old, new] {
        if let Content::Unread { why, .. } = content {
            return Err(why.clone());
        }
    }
    if old.dims() != new.dims() {
        return Ok(Compared::Incomparable(format!("sizes {} and {}", sizes(old), sizes(new))));
    }
    let (a_data, b_data) = (a.0.data(a.1, scratch)?, b.0.data(b.1, scratch)?);
    let arrays = [a_data.array(), b_data.array()];
    let found = match (old, new) {
        (Content::Array(old), Content::Array(new)) => elements([old, new], arrays, tolerance.into(), BLOCK)?,
        (Content::Blocks(old), Content::Blocks(new)) if old == new => bytes(arrays),
        _ => Some(Compared::Incomparable(format!("{} and {}", old.kind(), new.kind()))),
    };
    arrays.iter().try_for_each(Array::intact)?;
    arrays.iter().for_each(Array::forget);
    Ok(found.unwrap_or(Compared::Equal))
}

fn sizes(content: &Content) -> String {
    let sizes: Vec<String> = content.dims().unwrap_or_default().iter().map(u64::to_string).collect();
    format!("[{}]", sizes.join(","))
}

/// The first blocks that differ, byte by byte.
fn bytes([a, b]: [Array; 2]) -> Option<Compared> {
    let mut found = Different::default();
    for (at, (old, new)) in a.iter().zip(b.iter()).enumerate().filter(|(_, (old, new))| old != new) {
        found.count += 1;
        if found.first.len() < NAMED {
            let values = [old, new].map(|byte| format!("0x{byte:02x}"));
            found.first.push(Place { index: vec![at as u64], values });
        }
    }
    (found.count > 0).then_some(Compared::Different(found))
}

/// A side of the comparison.
struct Side<'a> {
    array: &'a Placed,
    bytes: Array<'a>,
    /// To numbers of 64 bits, where there is a way.
    values: Option<Conversion>,
}

impl Side<'_> {
    /// The elements of a part of the layout, in row-major order.
    fn block(&self, part: &Layout) -> Result<Vec<u8>> {
        let rows = Layout::row_major(part.dims(), part.bits())?;
        let mut block =
            vec![0; usize::try_from(rows.bytes()).map_err(|_| Error::new("a block of an array"))?];
        Relayout::new(part, &rows, &PlanOptions::default())?.run(&self.bytes, &mut block)?;
        Ok(block)
    }

    /// The same elements as numbers.
    fn numbers(&self, block: &[u8], count: usize) -> Result<Option<Vec<f64>>> {
        let Some(conversion) = &self.values else { return Ok(None) };
        let mut bytes = vec![0; 8 * count];
        conversion.run(count, block, &mut bytes)?;
        let numbers = bytes.as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes));
        Ok(Some(numbers.collect()))
    }
}

fn elements(
    arrays: [&Placed; 2],
    bytes: [Array; 2],
    tolerance: Tolerance,
    block: u64,
) -> Result<Option<Compared>> {
    let [old, new] = arrays;
    // A conversion takes elements as wide as their type.
    let values = |array: &Placed| match array.element {
        Element::F64 => None, // is one already
        element if element.bits() == array.layout.bits() || element == Element::Pred => {
            Conversion::new(element, Element::F64)
        }
        _ => None,
    };
    let sides = [
        Side { array: old, bytes: bytes[0], values: values(old) },
        Side { array: new, bytes: bytes[1], values: values(new) },
    ];
    let is_same_type = old.element == new.element && old.layout.bits() == new.layout.bits();
    if !is_same_type && sides.iter().any(|side| side.values.is_none() && side.array.element != Element::F64) {
        return Ok(Some(Compared::Incomparable(format!("types {} and {}", old.element, new.element))));
    }
    let mut found = Different { most: Some(0.0), ..Different::default() };
    if old.layout.is_empty() {
        return Ok(None);
    }
    parts(&old.layout, &new.layout, block, &mut |a, b| {
        let blocks = [sides[0].block(a)?, sides[1].block(b)?];
        if !(is_same_type && blocks[0] == blocks[1]) {
            differences(&sides, [a, b], &blocks, (is_same_type, tolerance), &mut found)?;
        }
        sides.iter().for_each(|side| side.bytes.forget());
        Ok(())
    })?;
    Ok((found.count > 0).then_some(Compared::Different(found)))
}

/// Adds the elements that differ in two blocks.
fn differences(
    sides: &[Side; 2],
    parts: [&Layout; 2],
    blocks: &[Vec<u8>; 2],
    (is_same_type, tolerance): (bool, Tolerance),
    found: &mut Different,
) -> Result<()> {
    let count = usize::try_from(parts[0].len()).map_err(|_| Error::new("a block of an array"))?;
    let is_f64 = |side: &Side| side.array.element == Element::F64;
    let numbers = |side: &Side, block: &[u8]| match is_f64(side) {
        true => {
            Ok(Some(block.as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect::<Vec<f64>>()))
        }
        false => side.numbers(block, count),
    };
    let values = [numbers(&sides[0], &blocks[0])?, numbers(&sides[1], &blocks[1])?];
    for at in 0..count {
        let bits = [0, 1].map(|side| bits(&blocks[side], at, parts[side].bits()));
        let pair = values[0].as_ref().zip(values[1].as_ref()).map(|(a, b)| [a[at], b[at]]);
        let is_same = is_same_type && bits[0] == bits[1]
            || pair.is_some_and(|[a, b]| {
                (a == b && !is_same_type)
                    || (a.is_nan() && b.is_nan() && !is_same_type)
                    || tolerance.allows(a, b)
            });
        if is_same {
            continue;
        }
        found.count += 1;
        let apart = pair.map(|[a, b]| (a - b).abs()).filter(|apart| apart.is_finite());
        found.most = found.most.zip(apart).map(|(most, apart)| most.max(apart));
        if found.first.len() < NAMED {
            let place = parts[0].offset(&index(at as u64, parts[0].dims()))?;
            let values = [0, 1].map(|side| match pair.map(|pair| pair[side]) {
                Some(value) if !sides[side].array.element.is_integer() => value.to_string(),
                Some(value) if value.abs() < 9e15 => value.to_string(),
                _ => format!("0x{:x}", bits[side]),
            });
            found.first.push(Place { index: whole_index(&sides[0].array.layout, place), values });
        }
    }
    Ok(())
}

/// The bits of an element of a list.
fn bits(block: &[u8], at: usize, bits: u32) -> u128 {
    let bits = bits as usize;
    if bits.is_multiple_of(8) {
        let bytes = &block[at * bits / 8..][..bits / 8];
        return bytes.iter().rev().fold(0, |number, &byte| number << 8 | u128::from(byte));
    }
    let bit = |at: usize| u128::from(block[at / 8] >> (at % 8) & 1);
    (0..bits).fold(0, |number, k| number | bit(at * bits + k) << k)
}

/// The index of an element of a block by its number in row-major order.
fn index(number: u64, dims: &[u64]) -> Vec<u64> {
    let (mut index, mut rest) = (vec![0; dims.len()], number);
    for (at, &size) in index.iter_mut().zip(dims).rev() {
        (*at, rest) = (rest % size, rest / size);
    }
    index
}

/// The index in the whole array of what lies at a place.
fn whole_index(layout: &Layout, place: u64) -> Vec<u64> {
    match layout.locate(place) {
        Ok(tilework::Place::Element(index)) => index,
        _ => vec![place],
    }
}

#[cfg(test)]
mod tests {
    use tilework::dialect;

    use super::*;

    fn placed(text: &str) -> Placed {
        dialect::read_one(text).and_then(Placed::of).expect(text)
    }

    /// The bytes of an array whose elements have these bits, in row-major order.
    fn filled(array: &Placed, element: impl Fn(u64) -> u128) -> Vec<u8> {
        let (layout, bits) = (&array.layout, u64::from(array.layout.bits()));
        let mut bytes = vec![0; layout.bytes() as usize];
        let mut number = 0;
        layout.for_each_in_index_order(|_, place| {
            for k in 0..bits {
                let at = place * bits + k;
                bytes[(at / 8) as usize] |= ((element(number) >> k & 1) as u8) << (at % 8);
            }
            number += 1;
        });
        bytes
    }

    fn found(
        a: (&Placed, &[u8]),
        b: (&Placed, &[u8]),
        tolerance: impl Into<Tolerance>,
        block: u64,
    ) -> Result<Option<Compared>> {
        elements([a.0, b.0], [a.1.into(), b.1.into()], tolerance.into(), block)
    }

    #[test]
    fn every_element_that_differs_is_counted_and_found_in_any_layout() -> Result<()> {
        for (a, b) in [
            ("u8[13,9]", "u8[13,9]{0,1:T(4,4)}"),
            ("f16[3,5,7]{1,2,0:T(2,2)}", "f16[3,5,7]"),
            ("s4[6,10]{1,0:E(4)}", "s4[6,10]{0,1:T(3,2)E(4)}"),
            ("c64[5,4]", "c64[5,4]{0,1}"),
            ("f32[]", "f32[]{:T(4)}"),
        ] {
            let (a, b) = (placed(a), placed(b));
            let element = |number: u64| u128::from(number * 5 % 14 + 1);
            let old = filled(&a, element);
            for block in [1, 64, 1 << 20] {
                assert_eq!(found((&a, &old), (&b, &filled(&b, element)), 0.0, block)?, None, "{}", b.said);
                for wrong in (0..a.layout.len()).step_by(7) {
                    let new = filled(&b, |number| element(number) ^ u128::from(number == wrong));
                    let Some(Compared::Different(found)) = found((&a, &old), (&b, &new), 0.0, block)? else {
                        panic!("{wrong} of {} is the same", b.said)
                    };
                    assert_eq!((found.count, &found.first[0].index), (1, &index(wrong, a.layout.dims())));
                }
            }
        }
        Ok(())
    }

    #[test]
    fn a_part_of_the_larger_number_is_a_tolerance() -> Result<()> {
        let (single, half) = (placed("f32[4]"), placed("f16[4]"));
        let old = filled(&single, |at| [1.001_f32, -1000.5, 0.0, 1e-3][at as usize].to_bits().into());
        // 1, -1000.5, 0 and 0.0010004.
        let new = filled(&half, |at| [0x3c00, 0xe3d1, 0, 0x1419][at as usize]);
        let within =
            |relative| found((&single, &old), (&half, &new), Tolerance { absolute: 0.0, relative }, 64);
        assert_eq!(within(0.002)?, None);
        assert!(matches!(within(0.0005)?, Some(Compared::Different(found)) if found.count == 1));
        assert!(matches!(within(0.0)?, Some(Compared::Different(found)) if found.count == 2));
        // What is infinite is within nothing.
        assert!(!Tolerance { absolute: 0.0, relative: 1.0 }.allows(f64::INFINITY, 1.0));
        assert!(!Tolerance { absolute: 0.0, relative: 1.0 }.allows(f64::NAN, 1.0));
        Ok(())
    }

    #[test]
    fn numbers_of_other_types_are_compared_by_their_values() -> Result<()> {
        let (single, double) = (placed("f32[4]"), placed("f64[4]{0:T(3)}"));
        let singles = [1.5_f32, -0.0, f32::NAN, 1e30];
        let old = filled(&single, |at| singles[at as usize].to_bits().into());
        let new = |doubles: [f64; 4]| filled(&double, |at| doubles[at as usize].to_bits().into());
        let same = new([1.5, 0.0, f64::NAN, f64::from(1e30_f32)]);
        assert_eq!(found((&single, &old), (&double, &same), 0.0, 64)?, None);
        let other = new([1.25, 0.0, f64::NAN, f64::from(1e30_f32)]);
        let place = Place { index: vec![0], values: ["1.5".to_owned(), "1.25".to_owned()] };
        let expected = Different { count: 1, first: vec![place], most: Some(0.25) };
        assert_eq!(found((&single, &old), (&double, &other), 0.0, 64)?, Some(Compared::Different(expected)));
        assert_eq!(found((&single, &old), (&double, &other), 0.25, 64)?, None);
        // Of one type bits count: the zero has another sign, and what is no number is the same as itself.
        let zeros = filled(&single, |at| singles[at as usize].abs().to_bits().into());
        let signs = filled(&single, |at| singles[at as usize].to_bits().into());
        assert!(
            matches!(found((&single, &signs), (&single, &zeros), 0.0, 64)?, Some(Compared::Different(found)) if found.count == 1)
        );
        let (whole, complex) = (placed("s64[4]"), placed("c64[4]"));
        let wholes = filled(&whole, u128::from);
        assert!(matches!(
            found((&whole, &wholes), (&complex, &wholes), 0.0, 64)?,
            Some(Compared::Incomparable(_))
        ));
        let next = filled(&whole, |at| u128::from(at) + (1 << 60));
        let Some(Compared::Different(different)) = found((&whole, &wholes), (&whole, &next), 0.0, 64)? else {
            panic!("they differ")
        };
        assert_eq!(different.first[1].values, ["1", "0x1000000000000001"]);
        Ok(())
    }
}
