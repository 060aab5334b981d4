//! Elements of one type become elements of another.
//!
//! Results are those of NumPy's `astype` with the types of the `ml_dtypes` package:
//!
//! * To nearest, ties to even; subnormal values are kept on both sides.
//! * What is too large becomes infinity, NaN where a type has no infinity (`f8e4m3fn` and the `fnuz` types), and the
//!   largest value where it has neither (`f4e2m1fn`).
//! * A NaN becomes the quiet NaN of its sign: the one NaN of a `fnuz` type and of `f8e8m0fnu`, zero in `f4e2m1fn`
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
mod nest;
#[cfg(test)]
mod nest_tests;
#[cfg(test)]
mod tests;

use tilework::{Element, Error, Result};

use crate::kernels::InstructionSet;
use kernels::Kernel;
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

/// How elements of one type become elements of another.
///
/// ```
/// use tilework::Element;
/// use tilework_copy::Conversion;
///
/// let conversion = Conversion::new(Element::F32, Element::Bf16).unwrap();
/// let mut out = [0; 4];
/// conversion.run(2, &[1.0_f32.to_le_bytes(), 3.14_f32.to_le_bytes()].concat(), &mut out)?;
/// assert_eq!(out, [0x80, 0x3f, 0x49, 0x40]);
/// # Ok::<(), tilework::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Conversion {
    from: Element,
    to: Element,
    /// The only step where the types do not say it: between `f64` and pairs of `f32`, which hold one.
    pairs: Option<fn(InstructionSet) -> Kernel>,
    /// The steps in order; none stands after a missing one.
    stages: [Option<Stage>; 4],
}

impl Conversion {
    /// The conversion between two types, if there is one: between floating-point types of 32 bits or less, between
    /// `f64` and `f32`, between `s8` and `s4`, and between `u8` and `u4`. Those of 4 bits lie two in a byte, the first in
    /// the low half.
    pub fn new(from: Element, to: Element) -> Option<Conversion> {
        Conversion::with(from, to, InstructionSet::detect())
    }

    /// [`Conversion::new`], with an error for types between which there is no conversion.
    ///
    /// # Errors
    /// Those types.
    pub fn between(from: Element, to: Element) -> Result<Conversion> {
        Conversion::new(from, to).ok_or_else(|| {
            Error::new(format!("no conversion from {from} to {to}"))
                .rule("conversions keep the nature of the elements")
                .accepts("floating-point types of 32 bits or less, f64 and f32, s8 and s4, u8 and u4")
        })
    }

    /// Each `f64` becomes two `f32` that add up to it, the high one at the lower address: how TPUs hold `f64`.
    pub fn to_float_pairs() -> Conversion {
        Conversion::of_pairs(kernels::split_doubles, InstructionSet::detect())
    }

    /// Pairs of `f32` become the `f64` that they add up to.
    pub fn from_float_pairs() -> Conversion {
        Conversion::of_pairs(kernels::join_doubles, InstructionSet::detect())
    }

    fn of_pairs(kernel: fn(InstructionSet) -> Kernel, set: InstructionSet) -> Conversion {
        let step = Conversion::single(Element::F64, Element::F64, kernel(set));
        Conversion { pairs: Some(kernel), ..step }
    }

    /// A conversion of one step.
    fn single(from: Element, to: Element, kernel: Kernel) -> Conversion {
        let step = Stage { kernel, bits: to.bits() };
        Conversion { from, to, pairs: None, stages: [Some(step), None, None, None] }
    }

    /// The same conversion with the instructions of a set, which the processor must have.
    pub(crate) fn on(self, set: InstructionSet) -> Option<Conversion> {
        match self.pairs {
            Some(_) if !InstructionSet::all_here().contains(&set) => None,
            Some(kernel) => Some(Conversion::of_pairs(kernel, set)),
            None => Conversion::with(self.from, self.to, set),
        }
    }

    fn with(from: Element, to: Element, set: InstructionSet) -> Option<Conversion> {
        use Element::{F32, F64, S4, S8, U4, U8};
        if !InstructionSet::all_here().contains(&set) || from == to {
            return None;
        }
        let kernel = match (from, to) {
            (F64, F32) => kernels::narrow_doubles(set),
            (F32, F64) => kernels::widen_floats(set),
            (S8, S4) | (U8, U4) => kernels::pack_nibbles(set),
            (S4, S8) => kernels::unpack_signed_nibbles(set),
            (U4, U8) => kernels::unpack_nibbles(set),
            _ => return Conversion::by_f32(from, to, set),
        };
        Some(Conversion::single(from, to, kernel))
    }

    /// The conversion of floating-point numbers by way of `f32`, which holds every value of both types exactly.
    fn by_f32(from: Element, to: Element, set: InstructionSet) -> Option<Conversion> {
        let unpack = Stage { kernel: kernels::unpack_nibbles(set), bits: 8 };
        let pack = Stage { kernel: kernels::pack_nibbles(set), bits: 4 };
        let decode = match from {
            Element::F32 => None,
            _ => Some(Stage { kernel: kernels::decoder(from, set)?, bits: 32 }),
        };
        let encode = match to {
            Element::F32 => None,
            _ => Some(Stage { kernel: kernels::encoder(to, set)?, bits: to.bits().max(8) }),
        };
        let steps = [(from.bits() == 4).then_some(unpack), decode, encode, (to.bits() == 4).then_some(pack)];
        let mut steps = steps.into_iter().flatten();
        Some(Conversion { from, to, pairs: None, stages: [(); 4].map(|()| steps.next()) })
    }
    /// The type of the elements that are read.
    pub fn from(&self) -> Element {
        self.from
    }

    /// The type of the elements that are written.
    pub fn to(&self) -> Element {
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

fn check_length(name: &str, elements: usize, element: Element, found: usize) -> Result<()> {
    let need = (elements as u128 * u128::from(element.bits())).div_ceil(8);
    if (found as u128) < need {
        return Err(Error::new(format!("a {name} of {found} bytes"))
            .field(name)
            .rule(format!("a buffer holds all {elements} elements of {} bits", element.bits()))
            .accepts(format!("{need} bytes or more")));
    }
    Ok(())
}
