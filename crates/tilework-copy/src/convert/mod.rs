//! Elements of one kind become elements of another.
//!
//! Results are those of NumPy's `astype` with the kinds of the `ml_dtypes` package:
//!
//! * To nearest, ties to even; subnormal values are kept on both sides.
//! * What is too large becomes infinity, NaN where a kind has no infinity (`f8e4m3fn` and the `fnuz` kinds), and the
//!   largest value where it has neither (`f4e2m1fn`).
//! * A NaN becomes the quiet NaN of its sign: the one NaN of a `fnuz` kind and of `f8e8m0fnu`, zero in `f4e2m1fn`
//!   (a negative zero from a positive NaN, as `ml_dtypes` has it). A NaN of 16 bits or more keeps what fits of its
//!   payload, except in `bf16`; `bf16` to `f32` keeps all bits, signalling NaNs too. From and to `f16` NaNs are those
//!   of the instructions of x86, quiet with the upper bits of the payload; NumPy differs there from machine to machine.
//! * `f8e8m0fnu` has no zero and no sign: zero and negative values become NaN. Ties go up, and everything between its
//!   two smallest values does, too: the results of `ml_dtypes`.
//! * `s8` to `s4` and `u8` to `u4` keep the low four bits, as any narrowing of integers in NumPy does.
//! * `f64` to a pair of floats gives the nearest `f32` and the nearest `f32` to the rest, which is 0 if the first is not
//!   finite: XLA's form.

mod format;
mod kernels;
mod kind;
mod nest;
#[cfg(test)]
mod nest_tests;
#[cfg(test)]
mod tests;

use tilework::{Error, Result};

use crate::kernels::InstructionSet;
use kernels::Kernel;
pub use kind::Kind;
pub(crate) use nest::{Converter, Scratch};

/// One step of a conversion.
#[derive(Clone, Copy, Debug)]
struct Stage {
    kernel: Kernel,
    /// Bits of an element after this step.
    bits: u32,
}

/// Elements that pass through the steps of a conversion at once; the scratch between two steps stays in the first cache.
const BLOCK: usize = 1024;

/// How elements of one kind become elements of another.
///
/// ```
/// use tilework_copy::{Conversion, Kind};
///
/// let conversion = Conversion::new(Kind::F32, Kind::Bf16).unwrap();
/// let mut out = [0; 4];
/// conversion.run(2, &[1.0_f32.to_le_bytes(), 3.14_f32.to_le_bytes()].concat(), &mut out)?;
/// assert_eq!(out, [0x80, 0x3f, 0x49, 0x40]);
/// # Ok::<(), tilework::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Conversion {
    from: Kind,
    to: Kind,
    /// The steps in order; none stands after a missing one.
    stages: [Option<Stage>; 4],
}

impl Conversion {
    /// The conversion between two kinds, if there is one: between floating-point kinds of 32 bits or less, between
    /// `f64` and `f32` or a pair of floats, between `s8` and `s4`, and between `u8` and `u4`.
    pub fn new(from: Kind, to: Kind) -> Option<Conversion> {
        Conversion::with(from, to, InstructionSet::detect())
    }

    /// The conversion between two kinds of these [names](Kind::name).
    ///
    /// # Errors
    /// Names between which there is no conversion.
    pub fn between(from: &str, to: &str) -> Result<Conversion> {
        let kinds = Kind::from_name(from).zip(Kind::from_name(to));
        kinds.and_then(|(from, to)| Conversion::new(from, to)).ok_or_else(|| {
            Error::new(format!("no conversion from {from} to {to}"))
                .rule("conversions keep the nature of the elements")
                .accepts("floating-point types of 32 bits or less, f64 and f32, s8 and s4, u8 and u4")
        })
    }

    /// The same with the instructions of a set, which the processor must have.
    pub(crate) fn with(from: Kind, to: Kind, set: InstructionSet) -> Option<Conversion> {
        if !InstructionSet::all_here().contains(&set) || from == to {
            return None;
        }
        let unpack = Stage { kernel: kernels::unpack_nibbles(set), bits: 8 };
        let pack = Stage { kernel: kernels::pack_nibbles(set), bits: 4 };
        let single = |kernel, bits| [Some(Stage { kernel, bits }), None, None, None];
        let stages = match (from, to) {
            (Kind::F64, Kind::F64AsFloatPair) => single(kernels::split_doubles(set), 64),
            (Kind::F64AsFloatPair, Kind::F64) => single(kernels::join_doubles(set), 64),
            (Kind::F64, Kind::F32) => single(kernels::narrow_doubles(set), 32),
            (Kind::F32, Kind::F64) => single(kernels::widen_floats(set), 64),
            (Kind::S8, Kind::S4) | (Kind::U8, Kind::U4) => [Some(pack), None, None, None],
            (Kind::S4, Kind::S8) => single(kernels::unpack_signed_nibbles(set), 8),
            (Kind::U4, Kind::U8) => [Some(unpack), None, None, None],
            _ => {
                let decode = decoder(from, set)?.map(|kernel| Stage { kernel, bits: 32 });
                let encode = encoder(to, set)?.map(|kernel| Stage { kernel, bits: to.bits().max(8) });
                let steps =
                    [(from.bits() == 4).then_some(unpack), decode, encode, (to.bits() == 4).then_some(pack)];
                let mut steps = steps.into_iter().flatten();
                [(); 4].map(|()| steps.next())
            }
        };
        Some(Conversion { from, to, stages })
    }

    /// The kind of the elements that are read.
    pub fn from(&self) -> Kind {
        self.from
    }

    /// The kind of the elements that are written.
    pub fn to(&self) -> Kind {
        self.to
    }

    /// Converts so many elements that lie one after the other, from the first bit of each buffer on. Bits of the last
    /// byte that belong to no element stay as they are.
    ///
    /// # Errors
    /// A buffer that is shorter than so many elements; nothing is written then.
    pub fn run(&self, elements: usize, from: &[u8], to: &mut [u8]) -> Result<()> {
        check_length("source", elements, self.from, from.len())?;
        check_length("destination", elements, self.to, to.len())?;
        self.contiguous(elements, from, to);
        Ok(())
    }

    /// Converts elements of buffers that are long enough.
    pub(crate) fn contiguous(&self, elements: usize, from: &[u8], to: &mut [u8]) {
        let from = &from[..bytes(elements, self.from.bits())];
        let to = &mut to[..bytes(elements, self.to.bits())];
        // A last element alone in its byte passes through buffers of its own.
        let shares = self.from.bits() < 8 || self.to.bits() < 8;
        let odd = shares && !elements.is_multiple_of(2);
        let even = elements - usize::from(odd);
        if let [Some(only), None, ..] = self.stages {
            // SAFETY: `with` chose kernels for instructions that the processor has.
            unsafe {
                (only.kernel)(&from[..bytes(even, self.from.bits())], &mut to[..bytes(even, self.to.bits())]);
            }
        } else {
            self.in_blocks(even, from, to);
        }
        if odd {
            let (mut pair_from, mut pair_to) = ([0; 8], [0; 8]);
            let last_from = &from[bytes(even, self.from.bits())..];
            let last_to = &mut to[bytes(even, self.to.bits())..];
            pair_from[..last_from.len()].copy_from_slice(last_from);
            self.contiguous(2, &pair_from, &mut pair_to);
            if self.to.bits() < 8 {
                last_to[0] = last_to[0] & 0xf0 | pair_to[0] & 0x0f;
            } else {
                last_to.copy_from_slice(&pair_to[..last_to.len()]);
            }
        }
    }

    /// Takes elements that fill whole bytes through all steps, block by block.
    fn in_blocks(&self, elements: usize, from: &[u8], to: &mut [u8]) {
        let [mut scratch, mut other] = [[0; BLOCK * 4]; 2];
        let (mut here, mut there) = (&mut scratch, &mut other);
        let last = self.stages.iter().flatten().count() - 1;
        let mut done = 0;
        while done < elements {
            let count = BLOCK.min(elements - done);
            let mut bits = self.from.bits();
            for (number, stage) in self.stages.iter().flatten().enumerate() {
                let input = match number {
                    0 => &from[bytes(done, bits)..][..bytes(count, bits)],
                    _ => &here[..bytes(count, bits)],
                };
                let output = match number == last {
                    true => &mut to[bytes(done, stage.bits)..][..bytes(count, stage.bits)],
                    false => &mut there[..bytes(count, stage.bits)],
                };
                // SAFETY: `with` chose kernels for instructions that the processor has.
                unsafe { (stage.kernel)(input, output) };
                std::mem::swap(&mut here, &mut there);
                bits = stage.bits;
            }
            done += count;
        }
    }
}

/// Bytes that so many elements lie in.
fn bytes(elements: usize, bits: u32) -> usize {
    (elements * bits as usize).div_ceil(8)
}

fn check_length(name: &str, elements: usize, kind: Kind, found: usize) -> Result<()> {
    let need = (elements as u128 * u128::from(kind.bits())).div_ceil(8);
    if (found as u128) < need {
        return Err(Error::new(format!("a {name} of {found} bytes"))
            .field(name)
            .rule(format!("a buffer holds all {elements} elements of {} bits", kind.bits()))
            .accepts(format!("{need} bytes or more")));
    }
    Ok(())
}

/// The step from a kind in bytes to `f32`: none inside if it is `f32`, none at all if that is no conversion.
fn decoder(from: Kind, set: InstructionSet) -> Option<Option<Kernel>> {
    Some(Some(match from {
        Kind::F32 => return Some(None),
        Kind::Bf16 => kernels::decode_bf16(set),
        Kind::F16 => kernels::decode_f16(set),
        Kind::F8e5m2 => kernels::decode::<format::E5m2>(set),
        Kind::F8e5m2fnuz => kernels::decode::<format::E5m2fnuz>(set),
        Kind::F8e4m3 => kernels::decode::<format::E4m3>(set),
        Kind::F8e4m3fn => kernels::decode::<format::E4m3fn>(set),
        Kind::F8e4m3fnuz => kernels::decode::<format::E4m3fnuz>(set),
        Kind::F8e4m3b11fnuz => kernels::decode::<format::E4m3b11fnuz>(set),
        Kind::F8e3m4 => kernels::decode::<format::E3m4>(set),
        Kind::F8e8m0fnu => kernels::decode_e8m0(set),
        Kind::F4e2m1fn => kernels::decode::<format::E2m1fn>(set),
        Kind::F64 | Kind::F64AsFloatPair | Kind::S8 | Kind::U8 | Kind::S4 | Kind::U4 => return None,
    }))
}

/// The step from `f32` to a kind in bytes, likewise.
fn encoder(to: Kind, set: InstructionSet) -> Option<Option<Kernel>> {
    Some(Some(match to {
        Kind::F32 => return Some(None),
        Kind::Bf16 => kernels::encode_bf16(set),
        Kind::F16 => kernels::encode_f16(set),
        Kind::F8e5m2 => kernels::encode::<format::E5m2>(set),
        Kind::F8e5m2fnuz => kernels::encode::<format::E5m2fnuz>(set),
        Kind::F8e4m3 => kernels::encode::<format::E4m3>(set),
        Kind::F8e4m3fn => kernels::encode::<format::E4m3fn>(set),
        Kind::F8e4m3fnuz => kernels::encode::<format::E4m3fnuz>(set),
        Kind::F8e4m3b11fnuz => kernels::encode::<format::E4m3b11fnuz>(set),
        Kind::F8e3m4 => kernels::encode::<format::E3m4>(set),
        Kind::F8e8m0fnu => kernels::encode_e8m0(set),
        Kind::F4e2m1fn => kernels::encode::<format::E2m1fn>(set),
        Kind::F64 | Kind::F64AsFloatPair | Kind::S8 | Kind::U8 | Kind::S4 | Kind::U4 => return None,
    }))
}
