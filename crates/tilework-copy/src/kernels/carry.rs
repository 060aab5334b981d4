//! Rows that begin anywhere within a line, written past the cache in whole lines, straight from the registers.
//!
//! A kernel makes the bytes of a row a line's worth at a time, but where they go is no line. So each row has a slot, which holds what
//! was made of it last: the end of that and the beginning of what is made now are a whole line of the destination.
//!
//! ```text
//! made           |---- before ----|----- now ------|
//! destination  --|---- line ------|---- line ------|--
//!                                 ^ m bytes after the line began; so its first m bytes are the last ones of `before`
//! ```
//!
//! The first line of a row has only some of the row's bytes, and these are written under a mask. Its last bytes are left in the slot;
//! [`crate::carry`] writes them when no block goes on with the row.

use super::vector::LINE;

/// Where the slots of a block's rows are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slots {
    /// What was made last of each row: a line's worth each, aligned.
    pub(crate) lines: *mut u8,
    /// Whether rows begin, so that there is nothing of them in their slots.
    pub(crate) begin: bool,
}

impl Slots {
    /// The bytes of slot `number`.
    pub(crate) fn line(self, number: usize) -> *mut u8 {
        self.lines.wrapping_add(number * LINE)
    }

    /// Those from a number on.
    pub(crate) fn from(self, number: usize) -> Slots {
        Slots { lines: self.line(number), ..self }
    }
}

/// Writes the last bytes of the row of slot `number`, which ends at `end`.
///
/// # Safety
/// The slot holds the row's last bytes, a line's worth, and they can be written.
pub(crate) unsafe fn last(end: *mut u8, slots: Slots, number: usize) {
    let open = end.addr() % LINE;
    // SAFETY: the caller's promise.
    unsafe { end.sub(open).copy_from_nonoverlapping(slots.line(number).add(LINE - open), open) }
}

#[cfg(target_arch = "x86_64")]
pub(crate) use x86::{end, joined};

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::LINE;

    /// The numbers of a line's bytes.
    static NUMBERS: Line = Line(numbers());

    #[repr(align(64))]
    struct Line([u8; LINE]);

    const fn numbers() -> [u8; LINE] {
        let mut numbers = [0; LINE];
        let mut k = 0;
        while k < LINE {
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

    /// The numbers of a line's bytes from one on.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn from(first: usize) -> __m512i {
        // SAFETY: a line of memory, and aligned as one.
        let numbers = unsafe { _mm512_load_si512(NUMBERS.0.as_ptr().cast()) };
        _mm512_add_epi8(numbers, _mm512_set1_epi8(first as i8))
    }
}
