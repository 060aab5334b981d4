//! Integers and `f64`: the steps between the small types and the wide ones that hold them exactly.
//!
//! An integer passes through 64 bits, signed or not, a number of floating point through `f32` or `f64`. What is rounded
//! twice could come out wrong: the first rounding may make a tie for the second. So where another step follows, a number
//! is *rounded to odd*: if `f32` cannot hold it, of its two neighbours the one whose last bit is 1 is taken, which is no tie
//! for any type with two bits less, and on the right side of every tie.

use tilework_core::Element;

use super::kernels::{Kernel, kernel};
use crate::kernels::InstructionSet;

/// Applies `one` to each element of `FROM` bytes.
#[inline(always)]
fn each<const FROM: usize, const TO: usize>(
    from: &[u8],
    to: &mut [u8],
    one: impl Fn([u8; FROM]) -> [u8; TO],
) {
    for (from, to) in from.as_chunks().0.iter().zip(to.as_chunks_mut().0) {
        *to = one(*from);
    }
}

/// The number in `f32`, rounded to odd.
#[inline(always)]
fn to_odd(nearest: f32, is_exact: bool, is_above: bool) -> f32 {
    // One down in size where the nearest is larger than the number; infinity becomes the largest number.
    let below = nearest.to_bits() - u32::from(is_above);
    if is_exact { nearest } else { f32::from_bits(below | 1) }
}

#[inline(always)]
fn odd_of_double(value: f64) -> f32 {
    let nearest = value as f32;
    let back = f64::from(nearest);
    to_odd(nearest, back == value || value.is_nan(), back.abs() > value.abs())
}

#[inline(always)]
fn odd_of_integer(value: i128) -> f32 {
    let nearest = value as f32;
    let back = nearest as i128;
    to_odd(nearest, back == value, back.abs() > value.abs())
}

kernel!(pub(super) odd_from_double, |from, to| each(from, to, |value| odd_of_double(f64::from_le_bytes(value)).to_le_bytes()));
kernel!(pub(super) odd_from_signed, |from, to| each(from, to, |value| odd_of_integer(i64::from_le_bytes(value).into()).to_le_bytes()));
kernel!(pub(super) odd_from_unsigned, |from, to| each(from, to, |value| odd_of_integer(u64::from_le_bytes(value).into()).to_le_bytes()));
kernel!(pub(super) float_from_signed, |from, to| each(from, to, |value| (i64::from_le_bytes(value) as f32).to_le_bytes()));
kernel!(pub(super) float_from_unsigned, |from, to| each(from, to, |value| (u64::from_le_bytes(value) as f32).to_le_bytes()));
kernel!(pub(super) double_from_signed, |from, to| each(from, to, |value| (i64::from_le_bytes(value) as f64).to_le_bytes()));
kernel!(pub(super) double_from_unsigned, |from, to| each(from, to, |value| (u64::from_le_bytes(value) as f64).to_le_bytes()));
kernel!(pub(super) is_not_zero, |from, to| each(from, to, |value: [u8; 8]| [u8::from(value != [0; 8])]));
kernel!(pub(super) double_is_not_zero, |from, to| each(from, to, |value| [u8::from(f64::from_le_bytes(value) != 0.0)]));
kernel!(pub(super) low_1, |from, to| each(from, to, |value: [u8; 8]| [value[0]]));
kernel!(pub(super) low_2, |from, to| each(from, to, |value: [u8; 8]| [value[0], value[1]]));
kernel!(pub(super) low_4, |from, to| each(from, to, |value: [u8; 8]| [value[0], value[1], value[2], value[3]]));

/// For each integer type of whole bytes, the kernels that extend it to 64 bits and that cut a double off to it.
macro_rules! integers {
    ($($element:ident $number:ident $wide:ident $extend:ident $cut:ident)*) => {
        $(
            kernel!($extend, |from, to| each(from, to, |value| $wide::from($number::from_le_bytes(value)).to_le_bytes()));
            kernel!($cut, |from, to| each(from, to, |value| (f64::from_le_bytes(value) as $number).to_le_bytes()));
        )*

        /// The kernel from an integer of less than 64 bits, in bytes of its own, to 64 bits.
        pub(super) fn extend(from: Element, set: InstructionSet) -> Option<Kernel> {
            Some(match from {
                $(Element::$element => $extend(set),)*
                _ => return None,
            })
        }

        /// The kernel from `f64` to an integer: towards zero, what is too large becomes the largest, and a NaN 0.
        pub(super) fn cut(to: Element, set: InstructionSet) -> Option<Kernel> {
            Some(match to {
                $(Element::$element => $cut(set),)*
                Element::S4 => cut_s4(set),
                Element::U4 => cut_u4(set),
                Element::Pred => double_is_not_zero(set),
                _ => return None,
            })
        }
    };
}

integers! {
    S8 i8 i64 extend_s8 cut_s8
    S16 i16 i64 extend_s16 cut_s16
    S32 i32 i64 extend_s32 cut_s32
    S64 i64 i64 extend_s64 cut_s64
    U8 u8 u64 extend_u8 cut_u8
    U16 u16 u64 extend_u16 cut_u16
    U32 u32 u64 extend_u32 cut_u32
    U64 u64 u64 extend_u64 cut_u64
}

kernel!(cut_s4, |from, to| each(from, to, |value| [(f64::from_le_bytes(value) as i8).clamp(-8, 7) as u8]));
kernel!(cut_u4, |from, to| each(from, to, |value| [(f64::from_le_bytes(value) as u8).min(15)]));
// Any byte but 0 is true, as for NumPy.
kernel!(pub(super) extend_pred, |from, to| each(from, to, |value: [u8; 1]| u64::from(value[0] != 0).to_le_bytes()));
