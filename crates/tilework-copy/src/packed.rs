//! A plan whose elements are packed, several in a byte or otherwise no whole bytes, ready to run.

use tilework::{Nest, Plan};

use crate::choose::Setting;
use crate::exec::Buffers;
use crate::kernels::InstructionSet;
use crate::pool::Pool;
use crate::program::Program;
use crate::subbyte::{Kernels, Scratch, move_nest, pieces, split};

/// The least number of bytes of a run for which it is worth splitting it.
const LEAST: u64 = 64;

/// The least that is worth a thread, in elements.
const SHARE: u64 = 1 << 19;

/// The nests of a plan: those of whole bytes for the engine, the others as they are.
#[derive(Clone, Debug)]
pub(crate) struct Packed {
    kernels: Kernels,
    bits: u32,
    fill: [u8; 16],
    fills: Vec<Nest>,
    fills_first: bool,
    bytes: Option<Program>,
    rest: Vec<Nest>,
}

impl Packed {
    /// Prepares the nests of a plan that moves elements without converting them; `None` if there are no kernels.
    pub(crate) fn new(plan: &Plan) -> Option<Packed> {
        let fill = plan.options().fill.unwrap_or(0);
        Packed::of(plan.copies(), plan.fills(), plan.fills_first(), fill, plan.to().bits())
    }

    pub(crate) fn of(
        copies: &[Nest],
        fills: &[Nest],
        fills_first: bool,
        fill: u128,
        bits: u32,
    ) -> Option<Packed> {
        let (mut bytes, mut rest) = (Vec::new(), Vec::new());
        for nest in copies {
            match split(nest, bits, LEAST) {
                Some(split) => {
                    bytes.push(split.bytes);
                    rest.extend(split.rest);
                }
                None => rest.push(nest.clone()),
            }
        }
        let bytes = (!bytes.is_empty()).then(|| {
            let total = bytes.iter().map(Nest::elements).sum::<u64>() as usize;
            Program::of(&bytes, &[], false, 0, 1, Setting::new(InstructionSet::detect(), total))
        });
        Some(Packed {
            kernels: Kernels::new(InstructionSet::detect())?,
            bits,
            fill: fill.to_le_bytes(),
            fills: fills.to_vec(),
            fills_first,
            bytes,
            rest,
        })
    }

    /// Runs all nests.
    ///
    /// # Safety
    /// The buffers hold the layouts of the plan, and do not overlap.
    pub(crate) unsafe fn run(&self, pool: &dyn Pool, buffers: Buffers) {
        let fill = Buffers { source: self.fill.as_ptr(), ..buffers };
        // SAFETY: the nests are those of the plan; those that fill read element 0 of the fill. One kind is done before
        // the next begins, so that bytes which they share are merged.
        unsafe {
            if self.fills_first {
                self.run_nests(pool, &self.fills, fill);
            }
            if let Some(bytes) = &self.bytes {
                bytes.run(pool, buffers);
            }
            self.run_nests(pool, &self.rest, buffers);
            if !self.fills_first {
                self.run_nests(pool, &self.fills, fill);
            }
        }
    }

    /// Runs nests one after the other, each divided among the threads of a pool.
    ///
    /// # Safety
    /// All places are within the buffers.
    unsafe fn run_nests(&self, pool: &dyn Pool, nests: &[Nest], buffers: Buffers) {
        for nest in nests {
            let most = (nest.elements() / SHARE).clamp(1, pool.width() as u64);
            let parts = if most > 1 { pieces(nest, self.bits, most) } else { vec![nest.clone()] };
            let run = |part: &Nest| {
                let (buffers, mut scratch) = (buffers, Scratch::default());
                // SAFETY: a part of the nest, which shares no byte of the destination with any other.
                unsafe {
                    let (from, to) = (buffers.source, buffers.destination);
                    move_nest(part, self.bits, &self.kernels, &mut scratch, from, to);
                }
            };
            match parts.as_slice() {
                [only] => run(only),
                parts => pool.run(parts.len(), &|part| parts.get(part).into_iter().for_each(&run)),
            }
        }
    }
}
