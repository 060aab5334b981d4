//! The line network: whole lines of the source become whole lines of the destination.
//!
//! Here a line is what a register holds: the 64 bytes of a cache line, or 32 or 16 bytes of one where registers are shorter, or
//! loops make up no more. A *pass* takes 2^k lines, of slots of 4 bytes (of 1 byte in the shortest lines), and exchanges k bits of a
//! slot's number with the k bits of the line's number: in k stages, each of which permutes pairs of lines. Before and after, bytes may be permuted
//! within each line; so a pass can move bits of every size although its stages only know slots. What goes where is data,
//! made by [`crate::net`]; there is one kernel for each k. Squares have kernels that need no pass.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod half;
#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(target_arch = "x86_64")]
mod short;
#[cfg(target_arch = "x86_64")]
mod square;

use super::InstructionSet;
use super::carry::Held;
use super::vector::LINE;

/// Bytes of a short line.
pub(crate) const LANE: usize = 16;

/// The most lines that go together where squares are copied to and fro: those of some that follow each other along the destination.
pub(crate) const TOGETHER: usize = 2 * LINE;

/// Bytes of half a line.
pub(crate) const HALF: usize = 32;

/// Bytes of a slot, in lines of `width` bytes.
pub(crate) const fn slot(width: usize) -> usize {
    if width == LANE { 1 } else { 4 }
}

/// The most slots of a line.
pub(crate) const SLOTS: usize = 16;

/// The most stages of a pass: 2^4 lines are half of the registers.
pub(crate) const STAGES: usize = 4;

/// Slot o of a permuted pair is slot `i % 16` of its first line, or of its second if i is 16 and more.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Slots {
    #[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "AVX-512 and AVX2 use it"))]
    pub(crate) wide: [u32; SLOTS],
    pub(crate) narrow: [u8; SLOTS],
}

impl Slots {
    /// Of a function that knows which slot becomes slot o.
    pub(crate) fn new(from: impl Fn(usize) -> usize) -> Slots {
        Slots {
            wide: std::array::from_fn(|slot| from(slot) as u32),
            narrow: std::array::from_fn(|slot| from(slot) as u8),
        }
    }
}

/// Byte o of a permuted line is byte `i` of the line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Bytes(pub(crate) [u8; LINE]);

/// What a pass does.
#[derive(Clone, Debug)]
pub(crate) struct Pass {
    /// What is done to each line first.
    pub(crate) before: Option<Bytes>,
    /// Stage j makes of the lines r and r + 2^j the new line r with its first permutation, and r + 2^j with its second.
    pub(crate) stages: [[Slots; 2]; STAGES],
    /// How many stages there are.
    pub(crate) count: usize,
    /// What is done to each line last.
    pub(crate) after: Option<Bytes>,
}

impl Pass {
    pub(crate) fn changes_nothing(&self) -> bool {
        self.count == 0 && self.before.is_none() && self.after.is_none()
    }
}

/// A pass that is called some times in a row.
///
/// ```text
/// call i:  line r is read at      source      + sources[i]      + from[i * from_step + r]
///          line r is written at   destination + destinations[i] + to[i * to_step + r * to_stride]
/// ```
#[derive(Clone, Copy)]
pub(crate) struct Calls {
    pub(crate) count: usize,
    pub(crate) source: *const u8,
    pub(crate) sources: *const isize,
    pub(crate) from: *const isize,
    pub(crate) from_step: usize,
    pub(crate) destination: *mut u8,
    pub(crate) destinations: *const isize,
    pub(crate) to: *const isize,
    pub(crate) to_step: usize,
    pub(crate) to_stride: usize,
    /// So many lines are asked for in each call, at `next` and the next of these offsets.
    pub(crate) fetches: usize,
    pub(crate) fetch: *const isize,
    pub(crate) next: *const u8,
    /// Of rows that begin anywhere, for [`Put::Carry`].
    pub(crate) carrying: Carrying,
}

impl Calls {
    /// Whether the lines of each call lie as those of the first one, in the source and in the destination.
    #[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "kernels of x86 only"))]
    pub(crate) fn alike(&self) -> (bool, bool) {
        (self.from_step == 0, self.to_step == 0 && self.to_stride == 1)
    }
}

/// The rows to which the lines of some calls belong.
#[derive(Clone, Copy)]
#[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "kernels of x86 only carry"))]
pub(crate) struct Carrying {
    /// Line r of call i is of the row whose held line is at `held` plus `hold[i * to_step + r * to_stride] + i * step` bytes.
    pub(crate) held: Held,
    pub(crate) hold: *const isize,
    pub(crate) step: isize,
    /// Whether these are the first or last lines of their rows: some begin with it, of others the first `over` bytes were made before.
    pub(crate) ends: bool,
    /// Which lines are the first ones of rows that begin, in the same order.
    pub(crate) firsts: *const bool,
    pub(crate) over: usize,
    /// Lines in that order that were made before, and are left out.
    pub(crate) skip: usize,
}

impl Carrying {
    /// None.
    pub(crate) const NONE: Carrying = Carrying {
        held: Held { lines: std::ptr::null_mut(), heads: std::ptr::null_mut(), begin: false },
        hold: std::ptr::null(),
        step: 0,
        ends: false,
        firsts: std::ptr::null(),
        over: 0,
        skip: 0,
    };

    /// What is held of the rows of a call.
    pub(crate) fn behind(self, call: usize) -> Held {
        let step = call as isize * self.step;
        let (lines, heads) = (self.held.lines.wrapping_offset(step), self.held.heads.wrapping_offset(step));
        Held { lines, heads, ..self.held }
    }

    /// Of one of these calls, whose lines begin at a number of the lists, as calls by itself.
    pub(crate) fn of(self, call: usize, number: usize) -> Carrying {
        Carrying {
            held: self.behind(call),
            hold: self.hold.wrapping_add(number),
            step: 0,
            firsts: self.firsts.wrapping_add(number),
            ..self
        }
    }
}

/// How a kernel stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Put {
    /// Through the cache.
    Plain,
    /// Past the cache, whole lines.
    Stream,
    /// Past the cache, by way of what is held: [`super::carry`].
    Carry,
}

/// Calls a pass.
///
/// # Safety
/// 1. The pass has as many stages as the kernel was chosen for, and numbers of slots below 32.
/// 2. The lists of offsets are as long as [`Calls`] says, and so is `fetch`.
/// 3. Every line that is read is within one buffer that can be read.
/// 4. Every line that is written is within one buffer that can be written, and overlaps none that is read; what two calls write
///    at the same place is the same. If the kernel streams, its address is a multiple of 64, and the caller fences. If it carries, the
///    lines of a row come one after the other, each is written once, the one before is held, and the lists of [`Carrying`] are as
///    long as that of places; the caller fences.
/// 5. Nobody else writes the one or touches the other meanwhile.
/// 6. The machine has the instructions the kernel was made for.
pub(crate) type PassFn = unsafe fn(&Pass, &Calls);

/// The kernel for lines of 64 or 16 bytes and so many stages, up to [`STAGES`], if the set has one; with stores past the cache
/// only for 64. The set must be one that this machine has.
pub(crate) fn pass(set: InstructionSet, width: usize, stages: usize, put: Put) -> Option<PassFn> {
    match (set, width) {
        #[cfg(target_arch = "x86_64")]
        (InstructionSet::Avx512, LINE) => avx512::pass(stages, put),
        #[cfg(target_arch = "x86_64")]
        (InstructionSet::Avx512 | InstructionSet::Avx2, HALF) if put == Put::Plain => half::pass(stages),
        #[cfg(target_arch = "x86_64")]
        (InstructionSet::Avx512 | InstructionSet::Avx2, LANE) if put == Put::Plain => avx2::pass(stages),
        #[cfg(target_arch = "aarch64")]
        (InstructionSet::Neon, LANE) if put == Put::Plain => neon::pass(stages),
        _ => None,
    }
}

/// The kernel for squares of a line of 64, 32 or 16 bytes by a line of elements of `size` bytes, if the set has one: it looks at no pass. With
/// AVX2 calls for 64 bytes must follow each other along the rows of the destination, and their lines be of different rows. The set must be
/// one that this machine has.
#[cfg_attr(not(target_arch = "x86_64"), expect(unused_variables, reason = "kernels of x86 only"))]
pub(crate) fn square(set: InstructionSet, width: usize, size: usize, put: Put) -> Option<PassFn> {
    match (set, width) {
        #[cfg(target_arch = "x86_64")]
        (InstructionSet::Avx512, LINE) => square::square(size, put),
        #[cfg(target_arch = "x86_64")]
        (InstructionSet::Avx2, LINE) => short::square(size, put),
        #[cfg(target_arch = "x86_64")]
        (InstructionSet::Avx512 | InstructionSet::Avx2, HALF) if put == Put::Plain => half::square(size),
        #[cfg(target_arch = "x86_64")]
        (InstructionSet::Avx512 | InstructionSet::Avx2, LANE) if put == Put::Plain => avx2::square(size),
        _ => None,
    }
}
