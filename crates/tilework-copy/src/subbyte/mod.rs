//! Elements of 1, 2 or 4 bits, several of them in a byte.
//!
//! A nest of such elements is run in the first of these ways that fits it:
//!
//! 1. *Whole bytes in disguise* ([`split`]): runs that have the same phase within a byte on both sides are runs of bytes,
//!    except for a few elements at either end. The caller may take the nest of bytes to the engine for bytes.
//! 2. *Runs* (`runs`): a loop that moves one element on both sides is a run of bits, shifted by whole words.
//! 3. *Transposes* (`transpose`): two loops, each of which moves one element on one side only.
//! 4. *Rows* (`rows`): a loop that moves one element in the destination alone gathers a byte at a time; anything else
//!    goes element by element, and elements of other widths bit by bit.
//!
//! Nests of a plan that are neither bytes nor long runs are mostly faster block by block ([`crate::wide`]); the kernels for that are
//! here: elements become bytes and back (`widen`), are exchanged so that what stays together is bytes (`exchange`), or are put together
//! from halves of bytes (`halves`).
//!
//! # Which bytes are written
//!
//! Exactly those that hold at least one element of the nest, and in them only the bits of its elements change: bytes at
//! the ends of a run are read, merged and written. So two threads may run two nests (or two parts of one) at the same
//! time if and only if no byte of the destination holds elements of both. [`pieces`] divides a nest into
//! parts that share no byte, if it can. Bytes of the
//! source are read only if they hold an element of the nest.

mod exchange;
mod halves;
mod rows;
pub(crate) mod runs;
mod split;
#[cfg(test)]
pub(crate) mod tests;
mod transpose;
mod widen;

use tilework_core::{Loop, Nest};

use crate::kernels::{self, BlockFn, InstructionSet};
pub(crate) use exchange::{Exchange, Group, exchange};
pub(crate) use halves::{Half, Join, alternate, join};
pub(crate) use split::{shares_no_bytes, split};
pub(crate) use transpose::Scratch;
pub(crate) use widen::{BEFORE, BEHIND, Past, Widen};

/// The kernels that a nest of elements below a byte needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kernels {
    /// Copies bits that begin within a byte to whole bytes.
    shift: runs::Shift,
    /// Exchanges elements of 1, 2 and 4 bits.
    exchange: [Exchange; 3],
    /// Transposes bytes.
    transpose: BlockFn,
}

impl Kernels {
    /// Those of a set of instructions that the processor has; `None` if the set cannot transpose bytes.
    pub(crate) fn new(set: InstructionSet) -> Option<Kernels> {
        Some(Kernels {
            shift: runs::shift(set),
            exchange: [exchange(set, 1)?, exchange(set, 2)?, exchange(set, 4)?],
            transpose: kernels::transpose(set, 1)?.plain,
        })
    }

    /// Copies `count` bits from a bit of the source to one of the destination, counted from the pointers.
    ///
    /// # Safety
    /// The bytes that hold these bits can be read and written; those of the destination are nobody else's.
    pub(crate) unsafe fn copy_bits(&self, from: (*const u8, u64), to: (*mut u8, u64), count: u64) {
        // SAFETY: the caller's promise; the kernel was chosen for instructions that the processor has.
        unsafe { runs::copy_bits(self.shift, from, to, count) };
    }
}

/// Moves the elements of a nest, of `bits` bits each.
///
/// # Safety
/// 1. All elements that the nest reads lie in the memory behind `from`, which can be read.
/// 2. All that it writes lie in the memory behind `to`, which can be written.
/// 3. The two do not overlap.
/// 4. Nobody else writes the bytes that are read, or touches those that are written (see above).
/// 5. The machine has the instructions of the kernels.
pub(crate) unsafe fn move_nest(
    nest: &Nest,
    bits: u32,
    kernels: &Kernels,
    scratch: &mut Scratch,
    from: *const u8,
    to: *mut u8,
) {
    // SAFETY: what the caller promises about the nest holds for each of its parts.
    unsafe {
        if !matches!(bits, 1 | 2 | 4) {
            return rows::bit_by_bit(nest, bits, from, to);
        }
        let run = nest.loops.iter().position(|l| (l.from, l.to) == (1, 1));
        let source = nest.loops.iter().position(|l| l.from == 1);
        let destination = nest.loops.iter().position(|l| l.to == 1);
        match (run, source, destination) {
            (Some(run), _, _) => runs::move_runs(nest, run, bits, kernels, from, to),
            (None, Some(source), Some(destination)) => {
                transpose::move_nest(nest, (source, destination), bits, kernels, scratch, from, to);
            }
            (None, _, destination) => rows::move_rows(nest, destination, bits, from, to),
        }
    }
}

/// Calls `visit` with the offsets in the source and the destination at each turn of some loops, the last one fastest.
pub(crate) fn walk(loops: &[Loop], from: u64, to: u64, visit: &mut impl FnMut(u64, u64)) {
    match loops {
        [] => visit(from, to),
        [outer, inner @ ..] => {
            let (mut from, mut to) = (from, to);
            for _ in 0..outer.extent {
                walk(inner, from, to, visit);
                // The last turn may step outside of what can be counted; nothing uses it.
                from = from.wrapping_add_signed(outer.from);
                to = to.wrapping_add_signed(outer.to);
            }
        }
    }
}
