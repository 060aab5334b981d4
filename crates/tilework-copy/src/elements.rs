//! Steps whose elements are below a byte, or are converted on the way.

use std::ops::Range;

use tilework_core::Nest;

use crate::convert::Converter;
use crate::exec::{Buffers, Scratch};
use crate::{bounds, subbyte};

/// Turns of a unit loop that stay together.
const UNIT_LOOP: u64 = if cfg!(test) { 16 } else { 1024 };

/// What moves the elements.
#[derive(Clone, Debug)]
pub(crate) enum Mover {
    /// Elements of this number of bits, copied unchanged.
    Bits(u32, subbyte::Kernels),
    /// Elements that become others.
    Convert(Converter),
}

impl Mover {
    /// The bits of an element in the source and in the destination.
    fn bits(&self) -> (u32, u32) {
        match self {
            Mover::Bits(bits, _) => (*bits, *bits),
            Mover::Convert(converter) => {
                (converter.conversion().from().bits(), converter.conversion().to().bits())
            }
        }
    }
}

/// A nest that is moved element by element, as far as the caller can tell.
///
/// Its units are turns of one of its loops: one that can be divided among threads without two of them writing to the same
/// byte. If there is none, the whole is one unit.
#[derive(Clone, Debug)]
pub(crate) struct ElementStep {
    nest: Nest,
    /// The loop, and how many of its turns are a unit.
    divided: Option<(usize, u64)>,
    mover: Mover,
    weight: usize,
    fills: bool,
}

impl ElementStep {
    /// For a nest whose destination has elements of `bits` bits.
    pub(crate) fn new(nest: &Nest, bits: u32, mover: Mover, fills: bool) -> ElementStep {
        // Turned so that the destination runs forward: more loops are runs then.
        let mut nest = nest.clone();
        nest.tidy();
        // The loop with the longest step that has turns enough to share, of those whose turns share no bytes. Of unit
        // loops kernels want long pieces, of whole bytes and vectors.
        let grain =
            |k: usize| if nest.loops[k].from.abs() == 1 || nest.loops[k].to == 1 { UNIT_LOOP } else { 1 };
        let divided = (0..nest.loops.len())
            .filter(|&k| subbyte::shares_no_bytes(&nest, k, bits))
            .map(|k| (k, grain(k)))
            .max_by_key(|&(k, grain)| (nest.loops[k].extent / grain >= 16, nest.loops[k].to));
        let units = divided.map_or(1, |(k, grain)| nest.loops[k].extent.div_ceil(grain));
        let bytes = (u128::from(nest.elements()) * u128::from(bits)).div_ceil(8) as u64;
        ElementStep { weight: bytes.div_ceil(units).max(1) as usize, nest, divided, mover, fills }
    }

    pub(crate) fn units(&self) -> usize {
        self.divided.map_or(1, |(k, grain)| self.nest.loops[k].extent.div_ceil(grain) as usize)
    }

    /// Bytes that a unit writes, about.
    pub(crate) fn weight(&self) -> usize {
        self.weight
    }

    /// Whether the source is the one element that padding is filled with.
    pub(crate) fn fills(&self) -> bool {
        self.fills
    }

    /// Runs a range of units.
    ///
    /// # Safety
    /// The nest's places are within the buffers, and nobody else writes what these units write or reads it.
    pub(crate) unsafe fn run(&self, units: Range<usize>, buffers: Buffers, scratch: &mut Scratch) {
        let part;
        let nest = match self.divided {
            Some(divided) if units.len() < self.units() => {
                part = self.part(divided, &units);
                &part
            }
            _ => &self.nest,
        };
        debug_assert!(bounds::hold_nest(buffers, nest, self.mover.bits()), "{nest:?}");
        // SAFETY: the caller's promise, for a part of the nest.
        unsafe {
            match &self.mover {
                Mover::Bits(bits, kernels) => {
                    let scratch = &mut scratch.below_a_byte;
                    subbyte::move_nest(nest, *bits, kernels, scratch, buffers.source, buffers.destination);
                }
                Mover::Convert(converter) => {
                    converter.run(nest, &mut scratch.converting, buffers.source, buffers.destination);
                }
            }
        }
    }

    /// Some units: turns of the divided loop.
    fn part(&self, (divided, grain): (usize, u64), units: &Range<usize>) -> Nest {
        let mut part = self.nest.clone();
        let l = &mut part.loops[divided];
        let first = units.start as u64 * grain;
        for (from, to) in &mut part.starts {
            // Wraps to the right value where a stride is negative: the place is within the source.
            *from = from.wrapping_add_signed(l.from.wrapping_mul(first as i64));
            *to = to.wrapping_add_signed(l.to.wrapping_mul(first as i64));
        }
        l.extent = (units.len() as u64 * grain).min(l.extent - first);
        if l.extent < 2 {
            part.loops.remove(divided);
        }
        part
    }
}
