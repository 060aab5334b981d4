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
//! * Integers to shorter ones keep their low bits, as in NumPy; `pred` is 0 or 1, and 1 of everything that is not 0.
//! * Floating-point numbers to integers are cut off towards zero. What is too large or too small becomes the largest or the
//!   smallest, and a NaN 0, which NumPy leaves to the machine.
//! * Every result is rounded once, from the exact number: `f64` to `bf16` too, which goes through `f32` in `ml_dtypes`.
//! * `f64` to a pair of floats gives the nearest `f32` and the nearest `f32` to the rest, which is 0 if the first is not
//!   finite: XLA's form.

mod format;
mod kernels;
mod nest;
#[cfg(test)]
mod nest_tests;
#[cfg(test)]
mod number_tests;
mod numbers;
mod path;
mod table;
#[cfg(test)]
mod tests;

use tilework_core::{Element, Error, Result};

use crate::kernels::InstructionSet;
use kernels::Kernel;
pub(crate) use nest::{Converter, Scratch};
use table::{Table, table};

/// One step of a conversion.
#[derive(Clone, Copy, Debug)]
struct Stage {
    kernel: Kernel,
    /// Bits of an element after this step.
    bits: u32,
}

/// The steps in order; none stands after a missing one.
type Stages = [Option<Stage>; 5];

/// Elements that pass through the steps of a conversion at once; the scratch between two steps stays in the first cache.
const BLOCK: usize = 1024;

/// Fewer elements have less scratch: making it would take longer than converting them.
const FEW: usize = 32;
const SOME: usize = 256;

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
    stages: Stages,
    /// What all steps together make of each element of 4 bits.
    table: Option<&'static Table>,
}

impl Conversion {
    /// The conversion between two types, if there is one: between any two of integers of 4 to 64 bits, `pred`, and
    /// floating-point types. Those of 4 bits lie two in a byte, the first in the low half.
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
                .rule("numbers become numbers of another type")
                .accepts("integers of 4 to 64 bits, pred, and floating-point types")
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
        let step = Stage { kernel, bits: held_bits(to) };
        Conversion { from, to, pairs: None, stages: [Some(step), None, None, None, None], table: None }
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
        if !InstructionSet::all_here().contains(&set) || from == to {
            return None;
        }
        let stages = path::stages(from, to, set)?;
        let made = Conversion { from, to, pairs: None, stages, table: None };
        let make = || Table::new(set, held_bits(to) as usize / 8, |from, to| made.contiguous(16, from, to));
        let is_short = held_bits(from) == 4 && held_bits(to) >= 8;
        let table = if is_short { table((from, to, set), make) } else { None };
        Some(Conversion { table, ..made })
    }

    /// The type of the elements that are read.
    pub fn from(&self) -> Element {
        self.from
    }

    /// The type of the elements that are written.
    pub fn to(&self) -> Element {
        self.to
    }

    /// Converts `elements` elements that lie one after the other, from the first bit of each buffer on. Bits of the last
    /// byte that belong to no element stay as they are.
    ///
    /// # Errors
    /// A buffer that is shorter than these elements; nothing is written then.
    pub fn run(&self, elements: usize, from: &[u8], to: &mut [u8]) -> Result<()> {
        check_length("source", elements, self.from, from.len())?;
        check_length("destination", elements, self.to, to.len())?;
        self.contiguous(elements, from, to);
        Ok(())
    }

    /// Converts elements of buffers that are long enough.
    pub(crate) fn contiguous(&self, elements: usize, from: &[u8], to: &mut [u8]) {
        let from = &from[..bytes(elements, held_bits(self.from))];
        let to = &mut to[..bytes(elements, held_bits(self.to))];
        // A last element alone in its byte passes through buffers of its own.
        let shares = held_bits(self.from) < 8 || held_bits(self.to) < 8;
        let odd = shares && !elements.is_multiple_of(2);
        let even = elements - usize::from(odd);
        if let Some(table) = self.table {
            table.convert(&from[..bytes(even, 4)], &mut to[..bytes(even, held_bits(self.to))]);
        } else if let [Some(only), None, ..] = self.stages {
            // SAFETY: `with` chose kernels for instructions that the processor has.
            unsafe {
                (only.kernel)(
                    &from[..bytes(even, held_bits(self.from))],
                    &mut to[..bytes(even, held_bits(self.to))],
                );
            }
        } else if even <= FEW {
            self.in_blocks::<{ FEW * 8 }>(even, from, to);
        } else if even <= SOME {
            self.in_blocks::<{ SOME * 8 }>(even, from, to);
        } else {
            self.in_blocks::<{ BLOCK * 8 }>(even, from, to);
        }
        if odd {
            let (mut pair_from, mut pair_to) = ([0; 16], [0; 16]);
            let last_from = &from[bytes(even, held_bits(self.from))..];
            let last_to = &mut to[bytes(even, held_bits(self.to))..];
            pair_from[..last_from.len()].copy_from_slice(last_from);
            self.contiguous(2, &pair_from, &mut pair_to);
            if held_bits(self.to) < 8 {
                last_to[0] = last_to[0] & 0xf0 | pair_to[0] & 0x0f;
            } else {
                last_to.copy_from_slice(&pair_to[..last_to.len()]);
            }
        }
    }

    /// Takes elements that fill whole bytes through all steps, block by block, with scratch of this number of bytes.
    fn in_blocks<const ROOM: usize>(&self, elements: usize, from: &[u8], to: &mut [u8]) {
        let [mut scratch, mut other] = [[0; ROOM]; 2];
        let (mut here, mut there) = (&mut scratch, &mut other);
        let last = self.stages.iter().flatten().count() - 1;
        let mut done = 0;
        while done < elements {
            let count = (ROOM / 8).min(elements - done);
            let mut bits = held_bits(self.from);
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

/// Bits that an element takes where it lies: `pred`, which says one, has a byte.
pub(crate) fn held_bits(element: Element) -> u32 {
    if element == Element::Pred { 8 } else { element.bits() }
}

/// Bytes that `elements` elements lie in.
fn bytes(elements: usize, bits: u32) -> usize {
    (elements * bits as usize).div_ceil(8)
}

fn check_length(name: &str, elements: usize, element: Element, found: usize) -> Result<()> {
    let need = (elements as u128 * u128::from(held_bits(element))).div_ceil(8);
    if (found as u128) < need {
        return Err(Error::new(format!("a {name} of {found} bytes"))
            .field(name)
            .rule(format!("a buffer holds all {elements} elements of {} bits", held_bits(element)))
            .accepts(format!("{need} bytes or more")));
    }
    Ok(())
}
