//! One lane of 64 bytes: `vpermb` moves any byte anywhere.

use super::vector::{Mask, Table, Vector};
use std::arch::x86_64::*;

#[derive(Clone, Copy)]
pub(super) struct Avx512(pub __m512i);

// SAFETY (of every block here): the trait's contract; each instruction touches the 64 bytes that the method names.
impl Vector for Avx512 {
    const BYTES: usize = 64;
    const LANE: usize = 64;

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        Self(unsafe { _mm512_loadu_si512(from.cast()) })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        unsafe { _mm512_storeu_si512(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn stream(self, to: *mut u8) {
        unsafe { _mm512_stream_si512(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn permute(self, table: &Table) -> Self {
        unsafe { Self(_mm512_permutexvar_epi8(_mm512_load_si512(table.0.as_ptr().cast()), self.0)) }
    }

    #[inline(always)]
    unsafe fn select(self, other: Self, mask: &Mask) -> Self {
        Self(unsafe { _mm512_mask_blend_epi8(mask.bits, self.0, other.0) })
    }

    #[inline(always)]
    unsafe fn read_lanes<const WAYS: usize>(from: *const u8) -> [Self; WAYS] {
        let mut lanes = [Self(unsafe { _mm512_setzero_si512() }); WAYS];
        for (i, lane) in lanes.iter_mut().enumerate() {
            *lane = unsafe { Self::load(from.add(i * 64)) };
        }
        lanes
    }

    #[inline(always)]
    unsafe fn write_lanes<const WAYS: usize, const STREAM: bool>(lanes: [Self; WAYS], to: *mut u8) {
        for (i, lane) in lanes.into_iter().enumerate() {
            unsafe { if STREAM { lane.stream(to.add(i * 64)) } else { lane.store(to.add(i * 64)) } }
        }
    }
}
