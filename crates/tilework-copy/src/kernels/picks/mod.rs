//! Windows of 64 or 16 bytes that are put together from picks; see [`crate::picks`].

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod windows;

use super::InstructionSet;
use super::net::{Bytes, LANE};
#[cfg(target_arch = "x86_64")]
use super::vector::LINE;

/// In a pattern: that the byte is taken from this pick. The lower bits say which of its bytes it is. Where windows have 16 bytes it is
/// the other way round: a shuffle makes zero of what has this bit.
pub(crate) const TAKEN: u8 = 0x80;

/// A line of the destination, or a part of one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    pub(crate) to: isize,
    /// Which bytes are written.
    pub(crate) mask: u64,
}

/// Where as many bytes of the source as a window has begin, and where the pattern for them does: in bytes from the first one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pick {
    pub(crate) from: i32,
    pub(crate) pattern: u32,
}

/// Windows that follow each other in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Group {
    pub(crate) windows: usize,
    /// Picks of each window, at least one.
    pub(crate) count: usize,
    pub(crate) kind: Kind,
    /// Whether 16 bytes are read for a pick, however long the windows are.
    pub(crate) short: bool,
}

/// What the windows of a group have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// Each is all of its lanes of 16 bytes, in the order of the picks, which need no patterns.
    Lanes,
    /// They have the same masks and the same patterns, one by one: these stay in registers. At most [`ALIKE`] picks.
    Alike,
    /// Nothing.
    Any,
}

/// The most picks of a window for which patterns stay in registers.
pub(crate) const ALIKE: usize = 8;

/// The windows of a pass, with their picks one after the other, in groups.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    pub(crate) groups: Vec<Group>,
    pub(crate) windows: Vec<Window>,
    pub(crate) picks: Vec<Pick>,
    /// One after the other, each as long as a window.
    pub(crate) patterns: Vec<Bytes>,
    /// What it costs, in lines that are touched.
    pub(crate) cost: usize,
}

/// Some windows of a group at one place.
#[derive(Clone, Copy)]
pub(crate) struct Call {
    pub(crate) source: *const u8,
    pub(crate) destination: *mut u8,
    /// The first of the windows, and its first pick.
    pub(crate) window: *const Window,
    pub(crate) pick: *const Pick,
    /// How many of the group, and what else there is to know of it.
    pub(crate) group: Group,
    pub(crate) patterns: *const Bytes,
    /// Lines that are asked for, at `next` and the next of these offsets, with each window whose number is a multiple of
    /// `every`, a power of two; `first` is the number of the first one.
    pub(crate) fetches: usize,
    pub(crate) fetch: *const isize,
    pub(crate) every: usize,
    pub(crate) first: usize,
    pub(crate) next: *const u8,
}

/// Moves some windows.
///
/// # Safety
/// 1. The windows of the group lie at `window`, their picks at `pick`, and at `fetch` are `fetches` offsets for each of them
///    with which lines are asked for. They have in common what the group's kind says.
/// 2. The places of patterns are those of `patterns`, and the picks of a window have its bytes between them, each once.
/// 3. From the place of each pick, as many bytes as a window has can be read, or 16 where it is a lane or a short pick.
/// 4. The bytes of each window's mask can be written, and none of them is read; in windows of 16 bytes these are the first ones. If the kernel streams, all masks are full, and
///    the addresses multiples of 64; the caller fences.
/// 5. Nobody else writes the one or touches the other meanwhile.
/// 6. The machine has the instructions the kernel was made for.
pub(crate) type PicksFn = unsafe fn(&Call);

/// What moves windows of one width.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kernels {
    /// Bytes of a window and of a pick: [`LINE`](super::vector::LINE), or 16. Windows of 16 bytes have no gaps.
    pub(crate) width: usize,
    pub(crate) plain: PicksFn,
    /// With stores past the cache, if there are such.
    pub(crate) stream: Option<PicksFn>,
}

/// The kernels, if the set has some. The set must be one that this machine has.
pub(crate) fn picks(set: InstructionSet) -> Option<Kernels> {
    #[allow(unused, reason = "where there are no kernels")]
    let of = |width, plain: PicksFn, stream| Some(Kernels { width, plain, stream });
    match set {
        #[cfg(target_arch = "x86_64")]
        InstructionSet::Avx512 => of(LINE, avx512::run::<false>, Some(avx512::run::<true>)),
        #[cfg(target_arch = "x86_64")]
        InstructionSet::Avx2 => of(LANE, avx2::run, None),
        #[cfg(target_arch = "aarch64")]
        InstructionSet::Neon => of(LANE, neon::run, None),
        _ => None,
    }
}
