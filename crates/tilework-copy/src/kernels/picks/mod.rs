//! Windows of 64 bytes that are put together from picks; see [`crate::picks`].

#[cfg(target_arch = "x86_64")]
mod avx512;

use super::InstructionSet;
use super::net::Bytes;

/// In a pattern: that the byte is taken from this pick. The lower bits say which of its 64 bytes it is.
pub(crate) const TAKEN: u8 = 0x80;

/// What becomes of the bytes of a pick before they are put into the window. With elements of whole bytes there is nothing to do.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(16))]
pub(crate) struct Shift {
    /// Bits by which it moves to the right, and then to the left.
    right: [u64; 2],
    left: [u64; 2],
    /// What of each byte is taken then.
    mask: [u64; 2],
}

const fn shift(right: u64, left: u64, mask: u64) -> Shift {
    Shift { right: [right, 0], left: [left, 0], mask: [mask; 2] }
}

/// Both halves of bytes that stay together, and each half of the destination from each of the source: its number is what is
/// added to that of a pattern, times [`SHIFTED`].
pub(crate) static SHIFTS: [Shift; 5] = [
    shift(0, 0, 0xffff_ffff_ffff_ffff),
    shift(0, 0, 0x0f0f_0f0f_0f0f_0f0f),
    shift(4, 0, 0x0f0f_0f0f_0f0f_0f0f),
    shift(0, 4, 0xf0f0_f0f0_f0f0_f0f0),
    shift(0, 0, 0xf0f0_f0f0_f0f0_f0f0),
];

/// The bits of a pick's pattern above its number.
pub(crate) const SHIFTED: u32 = 24;

/// A line of the destination, or a part of one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    pub(crate) to: isize,
    /// Which bytes are written.
    pub(crate) mask: u64,
}

/// Where 64 bytes of the source begin, and the number of the pattern for them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pick {
    pub(crate) from: i32,
    pub(crate) pattern: u32,
}

/// The windows of a pass, with their picks one after the other; those that have as many are neighbours.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    /// How many picks a window has, at least one, and how many windows have that number of them.
    pub(crate) groups: Vec<(usize, usize)>,
    pub(crate) windows: Vec<Window>,
    pub(crate) picks: Vec<Pick>,
    pub(crate) patterns: Vec<Bytes>,
}

/// Some windows of a group at one place.
#[derive(Clone, Copy)]
pub(crate) struct Call {
    pub(crate) source: *const u8,
    pub(crate) destination: *mut u8,
    /// The first of the windows, and its first pick.
    pub(crate) window: *const Window,
    pub(crate) pick: *const Pick,
    pub(crate) windows: usize,
    /// Picks of each window.
    pub(crate) count: usize,
    pub(crate) patterns: *const Bytes,
    /// Lines that are asked for with each window, at `next` and the next of these offsets.
    pub(crate) fetches: usize,
    pub(crate) fetch: *const isize,
    pub(crate) next: *const u8,
}

/// Moves some windows.
///
/// # Safety
/// 1. `windows` windows lie at `window`, `count` picks for each at `pick`, and `fetches` offsets for each at `fetch`.
/// 2. The numbers of patterns are those of `patterns`, and the picks of a window have its bytes between them, each once.
/// 3. From the place of each pick, 64 bytes can be read.
/// 4. The bytes of each window's mask can be written, and none of them is read. If the kernel streams, all masks are full, and
///    the addresses multiples of 64; the caller fences.
/// 5. Nobody else writes the one or touches the other meanwhile.
/// 6. The machine has the instructions the kernel was made for.
pub(crate) type PicksFn = unsafe fn(&Call);

/// The kernel, if the set has one, for `in_byte` elements in a byte, with stores past the cache or through it. The set
/// must be one that this machine has.
pub(crate) fn picks(set: InstructionSet, in_byte: usize, streams: bool) -> Option<PicksFn> {
    match (set, in_byte, streams) {
        #[cfg(target_arch = "x86_64")]
        (InstructionSet::Avx512, 1, false) => Some(avx512::run::<false>),
        #[cfg(target_arch = "x86_64")]
        (InstructionSet::Avx512, 1, true) => Some(avx512::run::<true>),
        #[cfg(target_arch = "x86_64")]
        (InstructionSet::Avx512, 2, false) => Some(avx512::run_halves::<false>),
        #[cfg(target_arch = "x86_64")]
        (InstructionSet::Avx512, 2, true) => Some(avx512::run_halves::<true>),
        _ => None,
    }
}
