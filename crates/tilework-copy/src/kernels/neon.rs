//! Zips of 16-byte registers (NEON), for elements of any size up to 8 bytes.

use std::arch::aarch64::*;

/// The elements of two registers in turn.
///
/// # Safety
///
/// The machine has NEON.
#[inline(always)]
pub(super) unsafe fn zipped<const SIZE: usize>(a: uint8x16_t, b: uint8x16_t) -> (uint8x16_t, uint8x16_t) {
    // SAFETY: the caller's.
    unsafe {
        match SIZE {
            1 => (vzip1q_u8(a, b), vzip2q_u8(a, b)),
            2 => {
                let (a, b) = (vreinterpretq_u16_u8(a), vreinterpretq_u16_u8(b));
                (vreinterpretq_u8_u16(vzip1q_u16(a, b)), vreinterpretq_u8_u16(vzip2q_u16(a, b)))
            }
            4 => {
                let (a, b) = (vreinterpretq_u32_u8(a), vreinterpretq_u32_u8(b));
                (vreinterpretq_u8_u32(vzip1q_u32(a, b)), vreinterpretq_u8_u32(vzip2q_u32(a, b)))
            }
            _ => {
                let (a, b) = (vreinterpretq_u64_u8(a), vreinterpretq_u64_u8(b));
                (vreinterpretq_u8_u64(vzip1q_u64(a, b)), vreinterpretq_u8_u64(vzip2q_u64(a, b)))
            }
        }
    }
}

/// The way back.
///
/// # Safety
///
/// The machine has NEON.
#[inline(always)]
pub(super) unsafe fn unzipped<const SIZE: usize>(a: uint8x16_t, b: uint8x16_t) -> (uint8x16_t, uint8x16_t) {
    // SAFETY: the caller's.
    unsafe {
        match SIZE {
            1 => (vuzp1q_u8(a, b), vuzp2q_u8(a, b)),
            2 => {
                let (a, b) = (vreinterpretq_u16_u8(a), vreinterpretq_u16_u8(b));
                (vreinterpretq_u8_u16(vuzp1q_u16(a, b)), vreinterpretq_u8_u16(vuzp2q_u16(a, b)))
            }
            4 => {
                let (a, b) = (vreinterpretq_u32_u8(a), vreinterpretq_u32_u8(b));
                (vreinterpretq_u8_u32(vuzp1q_u32(a, b)), vreinterpretq_u8_u32(vuzp2q_u32(a, b)))
            }
            _ => {
                let (a, b) = (vreinterpretq_u64_u8(a), vreinterpretq_u64_u8(b));
                (vreinterpretq_u8_u64(vuzp1q_u64(a, b)), vreinterpretq_u8_u64(vuzp2q_u64(a, b)))
            }
        }
    }
}
