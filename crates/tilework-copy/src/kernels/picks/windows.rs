//! The one loop that moves windows, for registers of either length.

use super::{ALIKE, Call, Group, Kind};
use crate::kernels::net::LANE;
use crate::kernels::vector::prefetch;

/// A register that a window is put together in. All functions are inlined into one that has the instructions they need.
pub(super) trait Register: Copy {
    /// Its bytes.
    const WIDTH: usize;

    /// The mask that has them all.
    const ALL: u64 = u64::MAX >> (64 - Self::WIDTH);

    /// A pattern that is ready to be used.
    type Pattern: Copy;

    fn zero() -> Self;

    /// # Safety
    /// A pattern lies there, aligned as long as it is.
    unsafe fn pattern(at: *const u8) -> Self::Pattern;

    /// # Safety
    /// As many bytes as the register has can be read, or 16 if `SHORT`: what it has more is not used then.
    unsafe fn load<const SHORT: bool>(from: *const u8) -> Self;

    /// Takes what the pattern says from these bytes; the rest stays as it is, or is zero and stays so.
    fn with(self, bytes: Self, pattern: Self::Pattern) -> Self;

    /// Lanes in a row: lane `k` is read at `from(k)`.
    ///
    /// # Safety
    /// 16 bytes can be read there.
    unsafe fn of_lanes(from: impl Fn(usize) -> *const u8) -> Self;

    /// Writes what the mask has.
    ///
    /// # Safety
    /// That can be written; if stores go past the cache, it is everything, and aligned.
    unsafe fn put<const STREAM: bool>(self, to: *mut u8, mask: u64);
}

/// Moves windows.
///
/// # Safety
/// As for [`super::PicksFn`].
#[inline(always)]
pub(super) unsafe fn run<R: Register, const STREAM: bool>(call: &Call) {
    // SAFETY: the caller's promise.
    unsafe {
        match (call.group.kind, call.group.short && R::WIDTH > LANE) {
            (Kind::Lanes, _) => lanes::<R, STREAM>(call),
            (_, false) => counted::<R, STREAM, false>(call),
            (_, true) => counted::<R, STREAM, true>(call),
        }
    }
}

/// Has a loop for each of the counts with which patterns stay in registers.
///
/// # Safety
/// As for [`super::PicksFn`].
#[inline(always)]
unsafe fn counted<R: Register, const STREAM: bool, const SHORT: bool>(call: &Call) {
    let Group { kind, count, .. } = call.group;
    // SAFETY: the caller's promise. What stands as a number is the count of the group.
    unsafe {
        match (kind, count) {
            (Kind::Alike, 1) => alike::<R, STREAM, SHORT, 1>(call),
            (Kind::Alike, 2) => alike::<R, STREAM, SHORT, 2>(call),
            (Kind::Alike, 3) => alike::<R, STREAM, SHORT, 3>(call),
            (Kind::Alike, 4) => alike::<R, STREAM, SHORT, 4>(call),
            (Kind::Alike, 5) => alike::<R, STREAM, SHORT, 5>(call),
            (Kind::Alike, 6) => alike::<R, STREAM, SHORT, 6>(call),
            (Kind::Alike, 7) => alike::<R, STREAM, SHORT, 7>(call),
            (Kind::Alike, ALIKE) => alike::<R, STREAM, SHORT, ALIKE>(call),
            _ => windows::<R, STREAM, SHORT>(call),
        }
    }
}

/// What moves on from window to window, and asks for lines meanwhile.
struct Cursor<'a> {
    call: &'a Call,
    fetch: *const isize,
    done: usize,
}

impl Cursor<'_> {
    fn new(call: &Call) -> Cursor<'_> {
        Cursor { call, fetch: call.fetch, done: 0 }
    }

    /// Fetches what goes with the next window, and says how many windows come before there is more to fetch, if there is a next one.
    ///
    /// # Safety
    /// As for [`super::PicksFn`].
    #[inline(always)]
    unsafe fn some(&mut self) -> Option<usize> {
        let Call { group, first, every, fetches, next, .. } = *self.call;
        let left = group.windows - self.done;
        if left == 0 {
            return None;
        }
        if fetches == 0 {
            self.done = group.windows;
            return Some(left);
        }
        let within = (first + self.done) & (every - 1);
        if within == 0 {
            for _ in 0..fetches {
                // SAFETY: the list is long enough. What is fetched may lie anywhere.
                prefetch(next.wrapping_offset(unsafe { *self.fetch }));
                self.fetch = self.fetch.wrapping_add(1);
            }
        }
        let some = left.min(every - within);
        self.done += some;
        Some(some)
    }
}

/// Windows with the same patterns.
///
/// # Safety
/// As for [`super::PicksFn`].
#[inline(always)]
unsafe fn alike<R: Register, const STREAM: bool, const SHORT: bool, const COUNT: usize>(call: &Call) {
    let (mut cursor, mut window, mut pick) = (Cursor::new(call), call.window, call.pick);
    // SAFETY: the caller's promise: the lists are long enough, as many bytes as a window has can be read at each pick, and what
    // the mask has can be written.
    unsafe {
        // A loop, and no closures: these are not compiled for the instructions.
        let mut patterns = [R::pattern(call.patterns.cast()); COUNT];
        for (k, pattern) in patterns.iter_mut().enumerate() {
            *pattern = R::pattern(call.patterns.byte_add((*pick.add(k)).pattern as usize).cast());
        }
        let mask = (*window).mask;
        while let Some(some) = cursor.some() {
            for _ in 0..some {
                let mut register = R::zero();
                for (k, &pattern) in patterns.iter().enumerate() {
                    let from = call.source.wrapping_offset((*pick.add(k)).from as isize);
                    register = register.with(R::load::<SHORT>(from), pattern);
                }
                register.put::<STREAM>(call.destination.wrapping_offset((*window).to), mask);
                (window, pick) = (window.add(1), pick.add(COUNT));
            }
        }
    }
}

/// Windows of lanes: loads bring each to its place without the one port that shuffles.
///
/// # Safety
/// As for [`super::PicksFn`].
#[inline(always)]
unsafe fn lanes<R: Register, const STREAM: bool>(call: &Call) {
    let (mut cursor, mut window, mut pick) = (Cursor::new(call), call.window, call.pick);
    // SAFETY: the caller's promise: 16 bytes can be read at each pick; else as in `alike`.
    unsafe {
        while let Some(some) = cursor.some() {
            for _ in 0..some {
                let from = |k: usize| call.source.wrapping_offset((*pick.add(k)).from as isize);
                let to = call.destination.wrapping_offset((*window).to);
                R::of_lanes(from).put::<STREAM>(to, R::ALL);
                (window, pick) = (window.add(1), pick.add(R::WIDTH / LANE));
            }
        }
    }
}

/// Windows with any patterns.
///
/// # Safety
/// As for [`super::PicksFn`].
#[inline(always)]
unsafe fn windows<R: Register, const STREAM: bool, const SHORT: bool>(call: &Call) {
    let (mut cursor, mut window, mut pick) = (Cursor::new(call), call.window, call.pick);
    // SAFETY: as in `alike`.
    unsafe {
        while let Some(some) = cursor.some() {
            for _ in 0..some {
                let mut register = R::zero();
                for _ in 0..call.group.count {
                    let bytes = R::load::<SHORT>(call.source.wrapping_offset((*pick).from as isize));
                    let pattern = R::pattern(call.patterns.byte_add((*pick).pattern as usize).cast());
                    register = register.with(bytes, pattern);
                    pick = pick.add(1);
                }
                register.put::<STREAM>(call.destination.wrapping_offset((*window).to), (*window).mask);
                window = window.add(1);
            }
        }
    }
}
