//! Rows that begin anywhere within a line, written past the cache in whole lines, straight from the registers.
//!
//! A kernel makes the bytes of a row a line's worth at a time, but where they go is no line. So what was made last
//! of each row is held: the end of that and the beginning of what is made now are a whole line of the destination.
//!
//! ```text
//! made           |---- before ----|----- now ------|
//! destination  --|---- line ------|---- line ------|--
//!                                 ^ m bytes after the line began; so its first m bytes are the last ones of `before`
//! ```
//!
//! The first line of a row has only some of the row's bytes, so what is made first is held as well. When no block goes on with the
//! rows, [`crate::carry`] writes the last bytes of each together with the first ones of the next, if they are neighbours.

use super::vector::LINE;

/// What is held of a block's rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    /// What was made last of each row: a line's worth each, aligned.
    pub(crate) lines: *mut u8,
    /// What was made first.
    pub(crate) heads: *mut u8,
    /// Whether rows begin, so that nothing is held of them yet.
    pub(crate) begin: bool,
}

impl Held {
    /// The held line of a row.
    pub(crate) fn line(self, row: usize) -> *mut u8 {
        self.lines.wrapping_add(row * LINE)
    }

    /// The head of a row.
    pub(crate) fn head(self, row: usize) -> *mut u8 {
        self.heads.wrapping_add(row * LINE)
    }

    /// Those from a row on.
    pub(crate) fn from(self, row: usize) -> Held {
        Held { lines: self.line(row), heads: self.head(row), ..self }
    }
}

/// Writes the last bytes of a row, which ends at `end`.
///
/// # Safety
/// The row's last bytes are held, a line's worth, and they can be written.
pub(crate) unsafe fn last(end: *mut u8, held: Held, row: usize) {
    let open = end.addr() % LINE;
    // SAFETY: the caller's promise.
    unsafe { end.sub(open).copy_from_nonoverlapping(held.line(row).add(LINE - open), open) }
}

/// Writes the first bytes of a row, which begins at `start`, to the end of their line; none if they are a whole one.
///
/// # Safety
/// The row's first bytes are held, a line's worth, and they can be written.
pub(crate) unsafe fn first(start: *mut u8, held: Held, row: usize) {
    let open = start.addr().wrapping_neg() % LINE;
    // SAFETY: the caller's promise.
    unsafe { start.copy_from_nonoverlapping(held.head(row), open) }
}

/// Writes the line in which a row begins that follows the row before.
///
/// # Safety
/// As for [`first`], and for [`last`] of the row before; the caller fences.
pub(crate) unsafe fn seam(start: *mut u8, held: Held, row: usize) {
    // SAFETY: the caller's promise: what is held of a row is a line.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        use std::arch::x86_64::{_mm_loadu_si128, _mm_stream_si128};
        let open = start.addr() % LINE;
        if open > 0 {
            let mut both = [0_u8; 2 * LINE];
            both.as_mut_ptr().copy_from_nonoverlapping(held.line(row - 1), LINE);
            both.as_mut_ptr().add(LINE).copy_from_nonoverlapping(held.head(row), LINE);
            for part in (0..LINE).step_by(16) {
                let bytes = _mm_loadu_si128(both.as_ptr().add(LINE - open + part).cast());
                _mm_stream_si128(start.sub(open).add(part).cast(), bytes);
            }
        }
    }
    // SAFETY: as above.
    #[cfg(not(target_arch = "x86_64"))]
    unsafe {
        first(start, held, row);
        last(start, held, row - 1);
    }
}

/// What is done for each number, written out: vectors that a loop numbers do not stay in registers.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! each {
    ($column:ident < $count:expr, $body:block) => {
        $crate::kernels::carry::each!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15, $column < $count, $body)
    };
    ($($number:literal)*, $column:ident < $count:expr, $body:block) => {
        $(if $number < $count {
            let $column = $number;
            $body
        })*
    };
}
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) use each;

#[cfg(target_arch = "x86_64")]
#[allow(unused_imports, reason = "a bench includes this module and takes what it measures")]
pub(crate) use x86::{begin, joined, joined_over};

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::LINE;

    /// The numbers of the bytes of two lines.
    static NUMBERS: [u8; 2 * LINE] = numbers();

    const fn numbers() -> [u8; 2 * LINE] {
        let mut numbers = [0; 2 * LINE];
        let mut k = 0;
        while k < 2 * LINE {
            numbers[k] = k as u8;
            k += 1;
        }
        numbers
    }

    /// Writes the line of a row that is full with `now`, the row's bytes from `to` on; `before` are those before them.
    ///
    /// # Safety
    /// 1. The row's bytes from the beginning of the line of `to` on are within one buffer.
    /// 2. The caller fences.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    pub(crate) unsafe fn joined(before: __m512i, now: __m512i, to: *mut u8) {
        let within = to.addr() % LINE;
        // SAFETY: as promised.
        unsafe {
            let full = _mm512_permutex2var_epi8(before, from(LINE - within), now);
            _mm512_stream_si512(to.wrapping_sub(within).cast(), full);
        }
    }

    /// Holds what a row begins with, and writes it if it is a whole line.
    ///
    /// # Safety
    /// As for [`joined`]; a line can be written at `head`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    pub(crate) unsafe fn begin(now: __m512i, to: *mut u8, head: *mut u8) {
        // SAFETY: as promised.
        unsafe {
            if to.addr().is_multiple_of(LINE) {
                _mm512_stream_si512(to.cast(), now);
            }
            _mm512_store_si512(head.cast(), now);
        }
    }

    /// The same as [`joined`] where the first `over` bytes are the last ones of `before`, so that there may be no line that is full.
    ///
    /// # Safety
    /// As for [`joined`], with `to + over` instead of `to`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    pub(crate) unsafe fn joined_over(before: __m512i, now: __m512i, to: *mut u8, over: usize) {
        let to = to.wrapping_add(over);
        if to.addr() % LINE >= over {
            // SAFETY: as promised.
            unsafe { joined(before, _mm512_permutexvar_epi8(from(over), now), to) };
        }
    }

    /// The numbers from `first` on, one for each byte of a line. It is at most [`LINE`].
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn from(first: usize) -> __m512i {
        debug_assert!(first <= LINE);
        // SAFETY: there are as many behind it.
        unsafe { _mm512_loadu_si512(NUMBERS.as_ptr().wrapping_add(first).cast()) }
    }
}
