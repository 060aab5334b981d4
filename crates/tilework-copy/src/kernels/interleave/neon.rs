//! Registers of 16 bytes, for ARM (NEON): loads and stores that zip, and zips.
//!
//! `st2`, `st3` and `st4` write two to four registers as one zipped row, `ld2`, `ld3` and `ld4` take one apart. With more
//! ways, 2^z times as many, row k and the row half of the ways further on are zipped first: that leaves half as many
//! rows, twice as long, which zip to the same result. Registers `j` and `j + WAYS / 2` become registers `2 j` and
//! `2 j + 1`, whatever the round.
//!
//! What is left goes through the [`network`]: zipped rows whose elements are not aligned to their size, since the
//! instructions would take them but the functions that stand for them need not.

use super::network;
use super::vector::{Mask, Table, Vector};
use super::{Interleave, Zip, ZipFn, portable, portable_back};
use crate::kernels::neon::{unzipped, zipped};
use crate::kernels::vector::prefetch;
use std::arch::aarch64::*;

/// Bytes of a register.
const BYTES: usize = 16;
/// Bytes of a cache line.
const LINE: usize = 64;

/// The kernels for one size and one number of ways. There are no stores past the cache, so both are the same.
pub(super) fn of<const SIZE: usize, const WAYS: usize>(back: bool) -> Interleave {
    let kernel: ZipFn = if back { all_apart::<SIZE, WAYS> } else { all_together::<SIZE, WAYS> };
    Interleave { plain: kernel, stream: kernel }
}

/// The registers that one of the instructions takes: 2, 3 or 4, or 0 where there is no such instruction.
const fn at_once(size: usize, ways: usize) -> usize {
    match ways {
        _ if size == BYTES => 0,
        2 => 2,
        3 => 3,
        4 | 8 => 4,
        _ => 0,
    }
}

/// Whether the zipped row can be moved by one of the instructions.
fn fits<const SIZE: usize, const WAYS: usize>(zipped: *const u8) -> bool {
    at_once(SIZE, WAYS) != 0 && zipped.addr().is_multiple_of(SIZE)
}

/// # Safety
///
/// As for [`ZipFn`].
unsafe fn all_together<const SIZE: usize, const WAYS: usize>(zip: &Zip) {
    // SAFETY: the caller's.
    zip.each(|zip| unsafe { together::<SIZE, WAYS>(zip) });
}

/// # Safety
///
/// As for [`ZipFn`].
unsafe fn all_apart<const SIZE: usize, const WAYS: usize>(zip: &Zip) {
    // SAFETY: the caller's.
    zip.each(|zip| unsafe { apart::<SIZE, WAYS>(zip) });
}

/// Interleaves. A last block that is not whole overlaps the one before it.
///
/// # Safety
///
/// As for [`ZipFn`].
#[target_feature(enable = "neon")]
unsafe fn together<const SIZE: usize, const WAYS: usize>(zip: &Zip) {
    let block = BYTES / SIZE;
    // SAFETY: the caller's; `block` elements from `first` on are within every row.
    unsafe {
        if zip.count < block {
            return portable::<SIZE, WAYS>(zip);
        }
        if !fits::<SIZE, WAYS>(zip.destination) {
            return network::interleave::<Neon, SIZE, WAYS, false>(zip);
        }
        let mut done = 0;
        while done < zip.count {
            let first = done.min(zip.count - block);
            let source = zip.source.wrapping_add(first * SIZE);
            let prefetches = zip.ahead != 0 && (done * SIZE).is_multiple_of(LINE);
            let mut x = [vdupq_n_u8(0); WAYS];
            for (row, x) in x.iter_mut().enumerate() {
                let from = source.offset(row as isize * zip.stride);
                *x = vld1q_u8(from);
                if prefetches {
                    prefetch(from.wrapping_add(zip.ahead));
                }
            }
            write::<SIZE, WAYS>(x, zip.destination.wrapping_add(first * (SIZE * WAYS)));
            done += block;
        }
    }
}

/// Deinterleaves, likewise.
///
/// # Safety
///
/// As for [`ZipFn`].
#[target_feature(enable = "neon")]
unsafe fn apart<const SIZE: usize, const WAYS: usize>(zip: &Zip) {
    let block = BYTES / SIZE;
    // SAFETY: the caller's; `block` elements from `first` on are within every row.
    unsafe {
        if zip.count < block {
            return portable_back::<SIZE, WAYS>(zip);
        }
        if !fits::<SIZE, WAYS>(zip.source) {
            return network::deinterleave::<Neon, SIZE, WAYS, false>(zip);
        }
        let mut done = 0;
        while done < zip.count {
            let first = done.min(zip.count - block);
            let source = zip.source.wrapping_add(first * (SIZE * WAYS));
            if zip.ahead != 0 {
                for line in (0..WAYS * BYTES).step_by(LINE) {
                    prefetch(source.wrapping_add(zip.ahead + line));
                }
            }
            let destination = zip.destination.wrapping_add(first * SIZE);
            for (row, x) in read::<SIZE, WAYS>(source).into_iter().enumerate() {
                vst1q_u8(destination.offset(row as isize * zip.stride), x);
            }
            done += block;
        }
    }
}

/// Writes a register of every row as one zipped row.
///
/// # Safety
///
/// `WAYS` registers can be written, at a multiple of SIZE.
#[inline(always)]
unsafe fn write<const SIZE: usize, const WAYS: usize>(mut x: [uint8x16_t; WAYS], to: *mut u8) {
    let together = at_once(SIZE, WAYS);
    let long = WAYS / together;
    let mut rounds = long;
    // SAFETY: the caller's: `long` stores of `together` registers are the row.
    unsafe {
        while rounds > 1 {
            let before = x;
            for j in 0..WAYS / 2 {
                (x[2 * j], x[2 * j + 1]) = zipped::<SIZE>(before[j], before[j + WAYS / 2]);
            }
            rounds /= 2;
        }
        // Row r is now the `long` registers from `r * long` on.
        for i in 0..long {
            let mut rows = [x[i]; 4];
            for (row, register) in rows.iter_mut().enumerate().take(together) {
                *register = x[row * long + i];
            }
            store::<SIZE>(rows, together, to.add(i * together * BYTES));
        }
    }
}

/// The way back.
///
/// # Safety
///
/// `WAYS` registers can be read, at a multiple of SIZE.
#[inline(always)]
unsafe fn read<const SIZE: usize, const WAYS: usize>(from: *const u8) -> [uint8x16_t; WAYS] {
    let together = at_once(SIZE, WAYS);
    let long = WAYS / together;
    // SAFETY: the caller's: `long` loads of `together` registers are the row.
    unsafe {
        let mut x = [vdupq_n_u8(0); WAYS];
        for i in 0..long {
            let rows = load::<SIZE>(together, from.add(i * together * BYTES));
            for (row, register) in rows.into_iter().enumerate().take(together) {
                x[row * long + i] = register;
            }
        }
        let mut rounds = long;
        while rounds > 1 {
            let before = x;
            for j in 0..WAYS / 2 {
                (x[j], x[j + WAYS / 2]) = unzipped::<SIZE>(before[2 * j], before[2 * j + 1]);
            }
            rounds /= 2;
        }
        x
    }
}

/// Writes the first `count` registers zipped.
///
/// # Safety
///
/// They can be written, at a multiple of SIZE; the count is 2, 3 or 4.
#[inline(always)]
unsafe fn store<const SIZE: usize>(x: [uint8x16_t; 4], count: usize, to: *mut u8) {
    let x = x.as_ptr();
    // SAFETY: the caller's; the tuples of registers are laid out as arrays of them.
    unsafe {
        match (SIZE, count) {
            (1, 2) => vst2q_u8(to, *x.cast()),
            (1, 3) => vst3q_u8(to, *x.cast()),
            (1, _) => vst4q_u8(to, *x.cast()),
            (2, 2) => vst2q_u16(to.cast(), *x.cast()),
            (2, 3) => vst3q_u16(to.cast(), *x.cast()),
            (2, _) => vst4q_u16(to.cast(), *x.cast()),
            (4, 2) => vst2q_u32(to.cast(), *x.cast()),
            (4, 3) => vst3q_u32(to.cast(), *x.cast()),
            (4, _) => vst4q_u32(to.cast(), *x.cast()),
            (_, 2) => vst2q_u64(to.cast(), *x.cast()),
            (_, 3) => vst3q_u64(to.cast(), *x.cast()),
            (_, _) => vst4q_u64(to.cast(), *x.cast()),
        }
    }
}

/// Reads as many registers and takes them apart.
///
/// # Safety
///
/// They can be read, at a multiple of SIZE; the count is 2, 3 or 4.
#[inline(always)]
unsafe fn load<const SIZE: usize>(count: usize, from: *const u8) -> [uint8x16_t; 4] {
    // SAFETY: the caller's; the tuples of registers are laid out as arrays of them, and none is longer than four.
    unsafe {
        let mut registers = [vdupq_n_u8(0); 4];
        let x = registers.as_mut_ptr();
        match (SIZE, count) {
            (1, 2) => *x.cast() = vld2q_u8(from),
            (1, 3) => *x.cast() = vld3q_u8(from),
            (1, _) => *x.cast() = vld4q_u8(from),
            (2, 2) => *x.cast() = vld2q_u16(from.cast()),
            (2, 3) => *x.cast() = vld3q_u16(from.cast()),
            (2, _) => *x.cast() = vld4q_u16(from.cast()),
            (4, 2) => *x.cast() = vld2q_u32(from.cast()),
            (4, 3) => *x.cast() = vld3q_u32(from.cast()),
            (4, _) => *x.cast() = vld4q_u32(from.cast()),
            (_, 2) => *x.cast() = vld2q_u64(from.cast()),
            (_, 3) => *x.cast() = vld3q_u64(from.cast()),
            (_, _) => *x.cast() = vld4q_u64(from.cast()),
        }
        registers
    }
}

/// What the network asks for: one lane.
#[derive(Clone, Copy)]
struct Neon(uint8x16_t);

// SAFETY (of every block here): the trait's contract; each instruction touches the 16 bytes that the method names.
impl Vector for Neon {
    const BYTES: usize = BYTES;
    const LANE: usize = BYTES;

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        Self(unsafe { vld1q_u8(from) })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        unsafe { vst1q_u8(to, self.0) }
    }

    #[inline(always)]
    unsafe fn stream(self, to: *mut u8) {
        unsafe { self.store(to) }
    }

    #[inline(always)]
    unsafe fn permute(self, table: &Table) -> Self {
        unsafe { Self(vqtbl1q_u8(self.0, vld1q_u8(table.0.as_ptr()))) }
    }

    #[inline(always)]
    unsafe fn select(self, other: Self, mask: &Mask) -> Self {
        unsafe { Self(vbslq_u8(vld1q_u8(mask.bytes.as_ptr()), other.0, self.0)) }
    }

    #[inline(always)]
    unsafe fn read_lanes<const WAYS: usize>(from: *const u8) -> [Self; WAYS] {
        let mut lanes = [Self(unsafe { vdupq_n_u8(0) }); WAYS];
        for (i, lane) in lanes.iter_mut().enumerate() {
            *lane = unsafe { Self::load(from.add(i * BYTES)) };
        }
        lanes
    }

    #[inline(always)]
    unsafe fn write_lanes<const WAYS: usize, const STREAM: bool>(lanes: [Self; WAYS], to: *mut u8) {
        for (i, lane) in lanes.into_iter().enumerate() {
            unsafe { lane.store(to.add(i * BYTES)) }
        }
    }
}
