//! A plan that converts its elements, ready to run.

use tilework::{Error, Nest, Plan, Result};

use crate::choose::Setting;
use crate::convert::{Conversion, Converter, Scratch};
use crate::exec::Buffers;
use crate::kernels::InstructionSet;
use crate::packed::Packed;
use crate::pool::Pool;
use crate::program::Program;
use crate::subbyte::pieces;

/// The least that is worth a thread, in elements.
const SHARE: u64 = 1 << 18;

/// The nests of a plan with their conversion.
#[derive(Clone, Debug)]
pub(crate) struct Converting {
    converter: Converter,
    copies: Vec<Nest>,
    fills: Fills,
    fills_first: bool,
    bits: u32,
}

/// What is filled is not converted.
#[derive(Clone, Debug)]
enum Fills {
    None,
    Bytes(Program),
    Packed(Packed),
}

impl Converting {
    /// Prepares the nests of a plan.
    ///
    /// # Errors
    /// Layouts whose elements are not as wide as the kinds of the conversion.
    pub(crate) fn new(plan: &Plan, conversion: Conversion) -> Result<Converting> {
        for (name, found, kind) in [
            ("source", plan.from().bits(), conversion.from()),
            ("destination", plan.to().bits(), conversion.to()),
        ] {
            if found != kind.bits() {
                return Err(Error::new(format!("a {name} with elements of {found} bits"))
                    .field(name)
                    .rule(format!("elements of {kind:?} are converted"))
                    .accepts(format!("elements of {} bits", kind.bits())));
            }
        }
        let set = InstructionSet::detect();
        let converter = Converter::new(conversion, set)
            .ok_or_else(|| Error::new(format!("no kernels for {:?} on {set:?}", conversion)))?;
        let (fills, bits) = (plan.fills(), plan.to().bits());
        let fill = plan.options().fill.unwrap_or(0);
        let fills = if fills.is_empty() {
            Fills::None
        } else if bits.is_multiple_of(8) {
            let width = bits as usize / 8;
            let total = fills.iter().map(Nest::elements).sum::<u64>() as usize * width;
            Fills::Bytes(Program::of(&[], fills, false, fill, width, Setting::new(set, total)))
        } else {
            let none = || Error::new(format!("no kernels for elements of {bits} bits on {set:?}"));
            Fills::Packed(Packed::of(&[], fills, false, fill, bits).ok_or_else(none)?)
        };
        Ok(Converting {
            converter,
            copies: plan.copies().to_vec(),
            fills,
            fills_first: plan.fills_first(),
            bits,
        })
    }

    /// Runs all nests.
    ///
    /// # Safety
    /// The buffers hold the layouts of the plan, and do not overlap.
    pub(crate) unsafe fn run(&self, pool: &dyn Pool, buffers: Buffers) {
        // SAFETY: the caller's promise. One kind is done before the next begins, so that bytes which they share are
        // merged.
        unsafe {
            if self.fills_first {
                self.fill(pool, buffers);
            }
            for nest in &self.copies {
                self.convert(nest, pool, buffers);
            }
            if !self.fills_first {
                self.fill(pool, buffers);
            }
        }
    }

    /// # Safety
    /// As for [`Converting::run`].
    unsafe fn fill(&self, pool: &dyn Pool, buffers: Buffers) {
        // SAFETY: the caller's promise.
        unsafe {
            match &self.fills {
                Fills::None => {}
                Fills::Bytes(program) => program.run(pool, buffers),
                Fills::Packed(packed) => packed.run(pool, buffers),
            }
        }
    }

    /// Converts one nest, divided among the threads of a pool.
    ///
    /// # Safety
    /// As for [`Converting::run`].
    unsafe fn convert(&self, nest: &Nest, pool: &dyn Pool, buffers: Buffers) {
        let most = (nest.elements() / SHARE).clamp(1, pool.width() as u64);
        let parts = if most > 1 { pieces(nest, self.bits, most) } else { vec![nest.clone()] };
        let run = |part: &Nest| {
            let (buffers, mut scratch) = (buffers, Scratch::default());
            // SAFETY: a part of the nest, which shares no byte of the destination with any other.
            unsafe { self.converter.run(part, &mut scratch, buffers.source, buffers.destination) };
        };
        match parts.as_slice() {
            [only] => run(only),
            parts => pool.run(parts.len(), &|part| parts.get(part).into_iter().for_each(&run)),
        }
    }
}
