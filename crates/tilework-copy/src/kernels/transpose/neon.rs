//! Transposes with 16-byte vectors (NEON), up to four of which make a line.
//!
//! A piece keeps `16 / SIZE` vectors of several lanes in registers, of which there are 32. So the vectors have as many
//! lanes as leave half of the registers free: four with elements of 4 bytes and more, whose stores are whole lines then.
//! There are no masks; rows that end within a vector overlap with narrower ones instead.

use std::arch::aarch64::*;
use std::arch::asm;

use super::super::neon::zipped;
use super::super::vector::write_part;
use super::super::{Block, Transpose};
use super::copied::{copied, crowds};
use super::lanes::{LANE, Lanes, MOST, block, read_part};
use super::stage::{pays, staged};

/// The kernels for elements of `size` bytes.
pub(super) fn kernels(size: usize) -> Option<Transpose> {
    match size {
        1 => Some(of::<1>()),
        2 => Some(of::<2>()),
        4 => Some(of::<4>()),
        8 => Some(of::<8>()),
        16 => Some(of::<16>()),
        _ => None,
    }
}

fn of<const SIZE: usize>() -> Transpose {
    // There are no stores past the cache.
    Transpose {
        tile: widest(SIZE) * LANE / SIZE,
        plain: run::<SIZE>,
        stream: run::<SIZE>,
        carry: None,
        puts_together: false,
    }
}

/// The most lanes of which the registers hold a piece.
const fn widest(size: usize) -> usize {
    match size {
        1 => 1,
        2 => 2,
        _ => 4,
    }
}

/// # Safety
///
/// As [`crate::kernels::BlockFn`], on a machine with NEON.
#[target_feature(enable = "neon")]
unsafe fn run<const SIZE: usize>(of: &Block) {
    debug_assert!(of.is_sound(SIZE));
    let lanes = (of.rows * SIZE / LANE).min(widest(SIZE));
    // SAFETY: the caller's promise; the rows fill one vector, or are shorter than a lane.
    unsafe {
        if crowds(of, SIZE) {
            return by_copies::<SIZE>(of);
        }
        match lanes {
            0 => block::<Wide<1>, SIZE, false, 0>(of),
            _ if pays(of, SIZE) => by_stage::<SIZE>(of),
            1 => block::<Wide<1>, SIZE, false, 1>(of),
            2 | 3 => block::<Wide<2>, SIZE, false, 2>(of),
            _ => block::<Wide<4>, SIZE, false, 4>(of),
        }
    }
}

/// Apart from [`run`], whose small blocks should not pay for the stage's place on the stack.
///
/// # Safety
///
/// As [`run`].
#[inline(never)]
#[target_feature(enable = "neon")]
unsafe fn by_stage<const SIZE: usize>(of: &Block) {
    // SAFETY: the caller's promise; the stage's rows are whole lines, so that it is not staged again.
    unsafe { staged::<Wide<4>, SIZE, false>(of, run::<SIZE>) }
}

/// The same for its copies.
///
/// # Safety
///
/// As [`run`].
#[inline(never)]
#[target_feature(enable = "neon")]
unsafe fn by_copies<const SIZE: usize>(of: &Block) {
    // SAFETY: the caller's promise.
    unsafe { copied::<Wide<4>, SIZE, false>(of, run::<SIZE>) }
}

/// So many lanes: 1, 2 or 4.
#[derive(Clone, Copy)]
struct Wide<const N: usize>([uint8x16_t; N]);

// SAFETY (of this file): the functions are inlined into `run`, which has the instructions; what they read and
// write is what the trait says, and the callers vouch for it.

/// Half as many lanes, or one.
trait Halved {
    type Half: Lanes;
}

impl Halved for Wide<4> {
    type Half = Wide<2>;
}

impl Halved for Wide<2> {
    type Half = Wide<1>;
}

impl Halved for Wide<1> {
    type Half = Self;
}

impl<const N: usize> Lanes for Wide<N>
where
    Self: Halved,
{
    const LANES: usize = N;
    const IS_REGISTER: bool = false;

    type Half = <Self as Halved>::Half;

    #[inline(always)]
    unsafe fn zero() -> Self {
        unsafe { Self([vdupq_n_u8(0); N]) }
    }

    #[inline(always)]
    unsafe fn load(from: [*const u8; MOST]) -> Self {
        let mut lanes = unsafe { Self::zero() };
        for (lane, from) in lanes.0.iter_mut().zip(from) {
            *lane = unsafe { vld1q_u8(from) };
        }
        lanes
    }

    #[inline(always)]
    unsafe fn load_whole(from: *const u8) -> Self {
        let mut lanes = unsafe { Self::zero() };
        for (k, lane) in lanes.0.iter_mut().enumerate() {
            *lane = unsafe { vld1q_u8(from.add(k * LANE)) };
        }
        lanes
    }

    #[inline(always)]
    unsafe fn load_part(from: [*const u8; MOST], bytes: usize) -> Self {
        let mut lanes = unsafe { Self::zero() };
        for (lane, from) in lanes.0.iter_mut().zip(from) {
            unsafe {
                let (low, high) = read_part(from, bytes);
                *lane = vreinterpretq_u8_u64(vcombine_u64(vcreate_u64(low), vcreate_u64(high)));
            }
        }
        lanes
    }

    #[inline(always)]
    unsafe fn zip<const SIZE: usize>(self, other: Self) -> (Self, Self) {
        let (mut low, mut high) = (self, other);
        for lane in 0..N {
            (low.0[lane], high.0[lane]) = unsafe { zipped::<SIZE>(self.0[lane], other.0[lane]) };
        }
        (low, high)
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        for (lane, vector) in self.0.into_iter().enumerate() {
            unsafe { vst1q_u8(to.add(lane * LANE), vector) }
        }
    }

    #[inline(always)]
    unsafe fn store_halves(self, to: *mut u8, after: usize) {
        for (k, lane) in self.0.into_iter().enumerate() {
            let at = if k < N / 2 { k * LANE } else { after + (k - N / 2) * LANE };
            unsafe { vst1q_u8(to.add(at), lane) };
        }
    }

    #[inline(always)]
    unsafe fn store_part(self, to: *mut u8, bytes: usize) {
        for (lane, vector) in self.0.into_iter().enumerate() {
            let start = lane * LANE;
            if start < bytes {
                unsafe { store_part(vector, to.add(start), bytes - start) }
            }
        }
    }

    #[inline(always)]
    unsafe fn stream(self, to: *mut u8) {
        unsafe { self.store(to) }
    }

    #[inline(always)]
    unsafe fn copy_part(from: *const u8, to: *mut u8, bytes: usize) {
        unsafe { from.copy_to_nonoverlapping(to, bytes) }
    }

    /// With the right to write. Only where a vector is a line, lest the hints be as many as the stores.
    #[inline(always)]
    fn prefetch_to_write(at: *const u8) {
        if N == 4 {
            // SAFETY: a hint, which every aarch64 has; any address will do.
            unsafe {
                asm!("prfm pstl1keep, [{}]", in(reg) at.addr(), options(nomem, nostack, preserves_flags));
            }
        }
    }
}

/// The first `bytes` bytes, or all 16 if there are more.
#[inline(always)]
unsafe fn store_part(vector: uint8x16_t, to: *mut u8, bytes: usize) {
    unsafe {
        if bytes >= LANE {
            return vst1q_u8(to, vector);
        }
        let halves = vreinterpretq_u64_u8(vector);
        write_part(vgetq_lane_u64::<0>(halves), || vgetq_lane_u64::<1>(halves), to, bytes);
    }
}
