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
//! The first line of a row has only some of the row's bytes, and these are written under a mask. Its last bytes stay held;
//! [`crate::carry`] writes them when no block goes on with the row.

use super::vector::LINE;

/// What is held of a block's rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    /// What was made last of each row: a line's worth each, aligned.
    pub(crate) lines: *mut u8,
    /// Whether rows begin, so that nothing is held of them yet.
    pub(crate) begin: bool,
}

impl Held {
    /// The held line of a row.
    pub(crate) fn line(self, row: usize) -> *mut u8 {
        self.lines.wrapping_add(row * LINE)
    }

    /// Those from a row on.
    pub(crate) fn from(self, row: usize) -> Held {
        Held { lines: self.line(row), ..self }
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

/// What is done for each number, written out: vectors that a loop numbers do not stay in registers.
#[cfg(target_arch = "x86_64")]
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
#[cfg(target_arch = "x86_64")]
pub(crate) use each;

#[cfg(target_arch = "x86_64")]
pub(crate) use x86::{end, joined};

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

    /// Writes the line of a row that is full with `now`, the row's bytes from `to` on, of which `before` are those before.
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

    /// The same at the ends of a row: where it begins, so that there is nothing before; or of whose bytes the first `over` are the last
    /// ones of `before`, so that there may be no line that is full.
    ///
    /// # Safety
    /// As for [`joined`], with `to + over` instead of `to`; of a row that begins, what is before `to` need not be there.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    pub(crate) unsafe fn end(before: __m512i, now: __m512i, to: *mut u8, over: usize, begins: bool) {
        let to = to.wrapping_add(over);
        let within = to.addr() % LINE;
        if within < over {
            return;
        }
        // SAFETY: as promised; masked bytes are not touched.
        unsafe {
            let now = _mm512_permutexvar_epi8(from(over), now);
            let full = _mm512_permutex2var_epi8(before, from(LINE - within), now);
            let mask = if begins { u64::MAX << within } else { u64::MAX };
            _mm512_mask_storeu_epi8(to.wrapping_sub(within).cast(), mask, full);
        }
    }

    /// So many numbers as a line has bytes, from one on that is at most [`LINE`].
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn from(first: usize) -> __m512i {
        debug_assert!(first <= LINE);
        // SAFETY: there are as many behind it.
        unsafe { _mm512_loadu_si512(NUMBERS.as_ptr().wrapping_add(first).cast()) }
    }
}
