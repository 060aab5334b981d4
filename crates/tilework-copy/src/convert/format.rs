//! Floating-point numbers of a byte or less, one at a time and without branches, so that the compiler turns a loop of
//! them into vectors.
//!
//! To and from `f32`, which holds every value of these formats exactly. With `m` bits of mantissa and a bias `b` the
//! smallest normal value is 2^(1−b), and subnormal values are multiples of 2^(1−b−m). Encoding:
//!
//! 1. *Normal*: shift the bits of the `f32` right by 23−m, rounding to nearest even (add half less one, and one more
//!    where the last bit kept is odd; a carry moves into the exponent, as it should), and take 127−b off the exponent.
//! 2. *Subnormal*: add 2^(24−m−b), in which one unit of the last place is exactly 2^(1−b−m): the addition rounds to
//!    nearest even, and the code is what was added to its bits.
//! 3. What lies above the largest code becomes the code for overflow (infinity, NaN or the largest value).
//!
//! Decoding shifts the other way; a subnormal code is multiplied by 2^(1−b−m) as an integer.

use tilework_core::{Element, FloatFormat, Nan};

/// A format with a sign bit, in numbers that are known while this is compiled.
pub(super) trait Format {
    const FLOAT: FloatFormat;
    const MANTISSA: u32 = Self::FLOAT.mantissa_bits;
    const BIAS: u32 = Self::FLOAT.bias;
    /// The place of the sign.
    const SIGN: u32 = Self::FLOAT.bits() - 1;
    /// The code of the largest finite value.
    const LARGEST: u32 = Self::FLOAT.largest() as u32;
    /// The code of what is larger, infinity included.
    const OVERFLOW: u32 = match (Self::FLOAT.infinity(), Self::FLOAT.quiet_nan()) {
        (Some(code), _) | (None, Some(code)) => code as u32,
        (None, None) => Self::LARGEST,
    };
    /// The code that a NaN becomes. Its sign is then exclusive-ored in. Where there is no NaN, `ml_dtypes` gives a zero.
    const NAN: u32 = match Self::FLOAT.quiet_nan() {
        Some(code) => code as u32,
        None => 1 << Self::SIGN,
    };
    /// Whether there is no negative zero, because its code is the NaN.
    const UNSIGNED_ZERO: bool = matches!(Self::FLOAT.nan, Nan::NegativeZero);
}

/// A format for each of these elements.
macro_rules! formats {
    ($($element:ident)*) => {$(
        pub(super) struct $element;

        impl Format for $element {
            const FLOAT: FloatFormat = match Element::$element.float_format() {
                Some(format) => format,
                None => panic!("an element that is no floating-point number"), // while this is compiled
            };
        }
    )*};
}

formats! { F16 F8e5m2 F8e5m2fnuz F8e4m3 F8e4m3fn F8e4m3fnuz F8e4m3b11fnuz F8e3m4 F4e2m1fn }

const SIGN: u32 = 1 << 31;
const INFINITY: u32 = 0x7f80_0000;
const NAN: u32 = 0x7fc0_0000;

/// The code of an `f32`, given by its bits.
#[inline(always)]
pub(super) fn encode<F: Format>(bits: u32) -> u32 {
    let sign = bits >> 31;
    let size = bits & !SIGN;
    let shift = 23 - F::MANTISSA;
    let odd = size >> shift & 1;
    let normal =
        ((size + (1 << (shift - 1)) - 1 + odd) >> shift).wrapping_sub((127 - F::BIAS) << F::MANTISSA);
    let magic = (127 + 24 - F::MANTISSA - F::BIAS) << 23;
    let subnormal = (f32::from_bits(size) + f32::from_bits(magic)).to_bits().wrapping_sub(magic);
    let code = if size < (128 - F::BIAS) << 23 { subnormal } else { normal };
    let code = if code > F::LARGEST { F::OVERFLOW } else { code };
    let code = if size > INFINITY { F::NAN } else { code };
    if F::UNSIGNED_ZERO {
        let signed = code | sign << F::SIGN;
        if code == 0 || code == F::NAN { code } else { signed }
    } else {
        code ^ sign << F::SIGN
    }
}

/// The bits of the `f32` that a code stands for.
#[inline(always)]
pub(super) fn decode<F: Format>(code: u32) -> u32 {
    let sign = code >> F::SIGN & 1;
    let size = code & ((1 << F::SIGN) - 1);
    let normal = (size << (23 - F::MANTISSA)) + ((127 - F::BIAS) << 23);
    let unit = f32::from_bits((128 - F::BIAS - F::MANTISSA) << 23);
    let subnormal = (size as i32 as f32 * unit).to_bits();
    let value = if size < 1 << F::MANTISSA { subnormal } else { normal };
    let value = if size > F::LARGEST { NAN } else { value };
    let value = if F::FLOAT.infinities && size == F::OVERFLOW { INFINITY } else { value };
    let value = value | sign << 31;
    if F::UNSIGNED_ZERO && code == F::NAN { NAN | SIGN } else { value }
}

/// A `bf16` is the upper half of an `f32`; a NaN becomes the quiet NaN of its sign.
#[inline(always)]
pub(super) fn encode_bf16(bits: u32) -> u32 {
    let size = bits & !SIGN;
    let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16;
    if size > INFINITY { (bits & SIGN | NAN) >> 16 } else { rounded }
}

/// An `f16`, as the instruction of x86 gives it: a NaN keeps its sign and the upper bits of its payload, and is quiet.
#[inline(always)]
pub(super) fn encode_f16(bits: u32) -> u32 {
    let size = bits & !SIGN;
    let code = encode::<F16>(size);
    let code = if size > INFINITY { 0x7e00 | size >> 13 & 0x3ff } else { code };
    code | bits >> 31 << 15
}

/// The bits of the `f32` with the value of an `f16`, as the instruction of x86 gives it: a NaN is quiet.
#[inline(always)]
pub(super) fn decode_f16(code: u32) -> u32 {
    let size = code & 0x7fff;
    let value = decode::<F16>(size);
    let value = if size > F16::OVERFLOW { NAN | size << 13 } else { value };
    value | code >> 15 << 31
}

/// A power of two of eight bits, without zero and sign: zero and all that is negative become the NaN.
///
/// Ties go up, and above the smallest value (2^−127) everything goes up to the next one: `ml_dtypes` has it so.
#[inline(always)]
pub(super) fn encode_e8m0(bits: u32) -> u32 {
    let exact = u32::from(bits == 1 << 22);
    let code = (bits.wrapping_add((1 << 22) - exact) >> 23).min(0xff);
    if bits.wrapping_sub(1) >= INFINITY - 1 { 0xff } else { code }
}

/// The bits of the `f32` with the value of a power of two.
#[inline(always)]
pub(super) fn decode_e8m0(code: u32) -> u32 {
    let value = if code == 0 { 1 << 22 } else { code << 23 };
    if code == 0xff { NAN } else { value }
}
