//! Constants that are one number: how often a loop runs is often told by one.

use super::wire::{Path, Reader};

/// The number of a `LiteralProto` that holds one: its fields 4 to 7 are lists of `s32`, `s64`, `u32` and `u64`, and its
/// field 1 is the shape, in whose field 3 the dimensions are.
pub(super) fn whole_number(literal: &[u8]) -> Option<i128> {
    if literal.len() > LONGEST_NUMBER {
        return None;
    }
    let path = Path::root("LiteralProto");
    let mut found = None;
    let mut reader = Reader::new(literal);
    while let Some(field) = reader.field(&[], &path).ok()? {
        match field.number {
            1 => {
                let mut shape = field.message(&path).ok()?;
                while let Some(field) = shape.field(&[], &path).ok()? {
                    if field.number == 3 {
                        return None;
                    }
                }
            }
            4..=7 => {
                let mut numbers = Vec::new();
                field.ints(&mut numbers, &path).ok()?;
                let [number] = numbers[..] else { return None };
                // Below 0 a number of any type is written with ten bytes, and the last type has no such numbers.
                let is_unsigned = field.number == 7;
                found = Some(if is_unsigned { i128::from(number.value as u64) } else { number.value.into() });
            }
            _ => {}
        }
    }
    found
}

/// The bytes of the longest literal that is one number, with its shape and layout.
const LONGEST_NUMBER: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_literal_of_one_element_without_dimensions_is_its_number() {
        let scalar = [0x0a, 2, 0x10, 4];
        let literal = |values: &[u8]| [&scalar[..], values].concat();
        assert_eq!(whole_number(&literal(&[0x22, 1, 5])), Some(5));
        assert_eq!(whole_number(&literal(&[0x20, 5])), Some(5));
        assert_eq!(
            whole_number(&literal(&[0x22, 10, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1])),
            Some(-1)
        );
        let most = [0x3a, 10, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1];
        assert_eq!(whole_number(&literal(&most)), Some(u64::MAX.into()));
        assert_eq!(whole_number(&literal(&[0x22, 2, 5, 6])), None);
        // An array of one element, another type, and bytes that are no message.
        assert_eq!(whole_number(&[0x0a, 5, 0x10, 4, 0x1a, 1, 1, 0x22, 1, 5]), None);
        assert_eq!(whole_number(&literal(&[0x42, 4, 0, 0, 0, 64])), None);
        assert_eq!(whole_number(&literal(&[0x22, 9])), None);
    }
}
