//! Two lanes of 16 bytes: `vpshufb` moves bytes inside a lane, so each lane does the work of a block of its own, and the
//! lanes are paired up only on the way from and to memory.

use super::super::transpose::{load_part, store_part};
use super::vector::{Mask, Table, Vector};
use std::arch::x86_64::*;

#[derive(Clone, Copy)]
pub(super) struct Avx2(__m256i);

impl Avx2 {
    /// # Safety
    /// The machine has the instructions.
    #[inline(always)]
    pub(super) unsafe fn zero() -> Self {
        // SAFETY: the caller's.
        Self(unsafe { _mm256_setzero_si256() })
    }

    /// The first `bytes` of a lane, or all of it.
    ///
    /// # Safety
    /// They can be read, and the machine has the instructions.
    #[inline(always)]
    pub(super) unsafe fn load_part(from: *const u8, bytes: usize) -> Self {
        // SAFETY: the caller's.
        unsafe {
            Self(_mm256_castsi128_si256(match bytes {
                Self::LANE.. => _mm_loadu_si128(from.cast()),
                0 => _mm_setzero_si128(),
                _ => load_part(from, bytes),
            }))
        }
    }

    /// Writes them.
    ///
    /// # Safety
    /// They can be written, and the machine has the instructions.
    #[inline(always)]
    pub(super) unsafe fn store_part(self, to: *mut u8, bytes: usize) {
        // SAFETY: the caller's.
        unsafe { store_part(_mm256_castsi256_si128(self.0), to, bytes) }
    }

    /// A lane at each of two places.
    ///
    /// # Safety
    /// They can be read, and the machine has the instructions.
    #[inline(always)]
    pub(super) unsafe fn load_lanes(first: *const u8, second: *const u8) -> Self {
        // SAFETY: the caller's.
        unsafe {
            let low = _mm_loadu_si128(first.cast());
            let high = _mm_loadu_si128(second.cast());
            Self(_mm256_inserti128_si256::<1>(_mm256_castsi128_si256(low), high))
        }
    }

    /// Writes the lanes to two places, the first one last.
    ///
    /// # Safety
    /// They can be written, and the machine has the instructions.
    #[inline(always)]
    pub(super) unsafe fn store_lanes(self, first: *mut u8, second: *mut u8) {
        // SAFETY: the caller's.
        unsafe {
            _mm_storeu_si128(second.cast(), _mm256_extracti128_si256::<1>(self.0));
            _mm_storeu_si128(first.cast(), _mm256_castsi256_si128(self.0));
        }
    }
}

// SAFETY (of every block here): the trait's contract; each instruction touches the 16 or 32 bytes that the method names.
impl Vector for Avx2 {
    const BYTES: usize = 32;
    const LANE: usize = 16;

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        Self(unsafe { _mm256_loadu_si256(from.cast()) })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        unsafe { _mm256_storeu_si256(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn stream(self, to: *mut u8) {
        unsafe { _mm256_stream_si256(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn permute(self, table: &Table) -> Self {
        unsafe {
            let lane = _mm_load_si128(table.0.as_ptr().cast());
            Self(_mm256_shuffle_epi8(self.0, _mm256_broadcastsi128_si256(lane)))
        }
    }

    #[inline(always)]
    unsafe fn select(self, other: Self, mask: &Mask) -> Self {
        unsafe {
            let lane = _mm_load_si128(mask.bytes.as_ptr().cast());
            Self(_mm256_blendv_epi8(self.0, other.0, _mm256_broadcastsi128_si256(lane)))
        }
    }

    #[inline(always)]
    unsafe fn read_lanes<const WAYS: usize>(from: *const u8) -> [Self; WAYS] {
        let mut lanes = [Self(unsafe { _mm256_setzero_si256() }); WAYS];
        for (i, lane) in lanes.iter_mut().enumerate() {
            unsafe {
                *lane = Self::load_lanes(from.add(i * 16), from.add((WAYS + i) * 16));
            }
        }
        lanes
    }

    #[inline(always)]
    unsafe fn write_lanes<const WAYS: usize, const STREAM: bool>(lanes: [Self; WAYS], to: *mut u8) {
        for i in 0..WAYS {
            // The lanes in memory: all the low ones, then all the high ones. Two neighbours make a store.
            let (first, second) = (2 * i, 2 * i + 1);
            let (a, b) = (lanes[first % WAYS].0, lanes[second % WAYS].0);
            unsafe {
                let pair = if second < WAYS {
                    _mm256_permute2x128_si256::<0x20>(a, b)
                } else if first >= WAYS {
                    _mm256_permute2x128_si256::<0x31>(a, b)
                } else {
                    _mm256_blend_epi32::<0xf0>(a, b)
                };
                if STREAM { Self(pair).stream(to.add(i * 32)) } else { Self(pair).store(to.add(i * 32)) }
            }
        }
    }
}
