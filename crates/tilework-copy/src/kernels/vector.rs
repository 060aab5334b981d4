//! A cache line in registers: what kernels that only move whole lines need of an instruction set.

/// Bytes of a cache line, and what is written past the cache at once.
pub(crate) const LINE: usize = 64;

/// A line's worth of registers.
///
/// The functions are inlined into kernels that have the instructions enabled; elsewhere they must not be called.
pub(crate) trait Lines: Copy {
    /// # Safety
    /// A line can be read here, at any alignment.
    unsafe fn load(source: *const u8) -> Self;

    /// The same 16 bytes, again and again.
    ///
    /// # Safety
    /// None but that the instructions are there.
    #[inline(always)]
    unsafe fn repeated(word: u128) -> Self {
        let line = [word; LINE / 16];
        // SAFETY: these words are a line.
        unsafe { Self::load(line.as_ptr().cast()) }
    }

    /// The first `length` bytes of a line; what follows them is zero.
    ///
    /// # Safety
    /// `length` is below [`LINE`], and these bytes can be read.
    #[inline(always)]
    unsafe fn load_part(source: *const u8, length: usize) -> Self {
        let mut line = [0_u8; LINE];
        // SAFETY: the array is a line, and the caller promises that these bytes can be read.
        unsafe {
            std::ptr::copy_nonoverlapping(source, line.as_mut_ptr(), length);
            Self::load(line.as_ptr())
        }
    }

    /// # Safety
    /// A line can be written here, at any alignment.
    unsafe fn store(self, destination: *mut u8);

    /// Past the cache. The caller fences.
    ///
    /// # Safety
    /// A line can be written here, and the address is a multiple of [`LINE`].
    unsafe fn stream(self, destination: *mut u8);

    /// Copies fewer bytes than a line has.
    ///
    /// # Safety
    /// `length` is below [`LINE`], and so many bytes can be read and written.
    #[inline(always)]
    unsafe fn part(source: *const u8, destination: *mut u8, length: usize) {
        if length > 0 {
            // SAFETY: the caller's promise; source and destination are different buffers.
            unsafe { std::ptr::copy_nonoverlapping(source, destination, length) }
        }
    }

    /// The first `length` bytes of this line.
    ///
    /// # Safety
    /// `length` is below [`LINE`], and so many bytes can be written.
    #[inline(always)]
    unsafe fn store_part(self, destination: *mut u8, length: usize) {
        let mut line = [0_u8; LINE];
        // SAFETY: the array is a line, and the destination has room by the caller's promise.
        unsafe {
            self.store(line.as_mut_ptr());
            std::ptr::copy_nonoverlapping(line.as_ptr(), destination, length);
        }
    }
}

/// Writes the first `bytes` of 16 bytes, given as halves, a power of two at a time: two writes that overlap are slower.
///
/// # Safety
/// `bytes` is below 16, and there is room for them.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
pub(crate) unsafe fn write_part(low: u64, high: impl FnOnce() -> u64, mut to: *mut u8, bytes: usize) {
    let mut left = low;
    // SAFETY: the caller's promise: each part of the count is written where those before it end.
    unsafe {
        if bytes & 8 != 0 {
            to.cast::<u64>().write_unaligned(low);
            (left, to) = (high(), to.add(8));
        }
        if bytes & 4 != 0 {
            to.cast::<u32>().write_unaligned(left as u32);
            (left, to) = (left >> 32, to.add(4));
        }
        if bytes & 2 != 0 {
            to.cast::<u16>().write_unaligned(left as u16);
            (left, to) = (left >> 16, to.add(2));
        }
        if bytes & 1 != 0 {
            to.write(left as u8);
        }
    }
}

/// Asks for the line of an address, which need not be one.
///
/// On x86 it comes no nearer than the second cache: with what the first one waits for, stores past the cache would have to take turns.
/// (Zen 4: 0.6 of `memcpy` where the first one is asked for, and 1.0 with this.)
#[inline(always)]
pub(crate) fn prefetch(place: *const u8) {
    // SAFETY: a hint, which every machine of these kinds has; it changes nothing that a program can see, and any address will do.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T1 }>(place.cast());
    }
    // SAFETY: as above.
    #[cfg(target_arch = "aarch64")]
    unsafe {
        std::arch::asm!("prfm pldl1keep, [{}]", in(reg) place.addr(), options(nomem, nostack, preserves_flags));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = place;
}

/// The same in the first cache: what is in the second one already, and read next.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn prefetch_near(place: *const u8) {
    // SAFETY: as above.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(place.cast());
    }
}

/// Whatever the compiler makes of an array.
#[derive(Clone, Copy)]
pub(crate) struct Portable(pub(crate) [u64; 8]);

impl Lines for Portable {
    #[inline(always)]
    unsafe fn load(source: *const u8) -> Self {
        // SAFETY: the caller's promise.
        Portable(unsafe { source.cast::<[u64; 8]>().read_unaligned() })
    }

    #[inline(always)]
    unsafe fn store(self, destination: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe { destination.cast::<[u64; 8]>().write_unaligned(self.0) }
    }

    #[inline(always)]
    unsafe fn stream(self, destination: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe { self.store(destination) }
    }
}

#[cfg(target_arch = "x86_64")]
pub(crate) use x86::{Avx2, Avx512};

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{LINE, Lines};

    /// One register of 512 bits.
    #[derive(Clone, Copy)]
    pub(crate) struct Avx512(pub(crate) __m512i);

    impl Lines for Avx512 {
        #[inline(always)]
        unsafe fn load(source: *const u8) -> Self {
            // SAFETY: the caller's promise.
            Avx512(unsafe { _mm512_loadu_si512(source.cast()) })
        }

        #[inline(always)]
        unsafe fn load_part(source: *const u8, length: usize) -> Self {
            let mask = if length == 0 { 0 } else { u64::MAX >> (LINE - length) };
            // SAFETY: masked bytes are not read.
            Avx512(unsafe { _mm512_maskz_loadu_epi8(mask, source.cast()) })
        }

        #[inline(always)]
        unsafe fn repeated(word: u128) -> Self {
            // SAFETY: the instructions are there, by the caller's promise.
            Avx512(unsafe { _mm512_broadcast_i32x4(_mm_set_epi64x((word >> 64) as i64, word as i64)) })
        }

        #[inline(always)]
        unsafe fn store(self, destination: *mut u8) {
            // SAFETY: the caller's promise.
            unsafe { _mm512_storeu_si512(destination.cast(), self.0) }
        }

        #[inline(always)]
        unsafe fn stream(self, destination: *mut u8) {
            debug_assert!(destination.addr().is_multiple_of(LINE));
            // SAFETY: the caller's promise.
            unsafe { _mm512_stream_si512(destination.cast(), self.0) }
        }

        #[inline(always)]
        unsafe fn part(source: *const u8, destination: *mut u8, length: usize) {
            if length > 0 {
                // SAFETY: masked bytes are neither read nor written.
                unsafe {
                    let mask = u64::MAX >> (LINE - length);
                    _mm512_mask_storeu_epi8(
                        destination.cast(),
                        mask,
                        _mm512_maskz_loadu_epi8(mask, source.cast()),
                    );
                }
            }
        }

        #[inline(always)]
        unsafe fn store_part(self, destination: *mut u8, length: usize) {
            if length > 0 {
                // SAFETY: masked bytes are not written.
                unsafe { _mm512_mask_storeu_epi8(destination.cast(), u64::MAX >> (LINE - length), self.0) }
            }
        }
    }

    /// Two registers of 256 bits.
    #[derive(Clone, Copy)]
    pub(crate) struct Avx2(pub(crate) __m256i, pub(crate) __m256i);

    impl Lines for Avx2 {
        #[inline(always)]
        unsafe fn load(source: *const u8) -> Self {
            // SAFETY: the caller's promise.
            unsafe { Avx2(_mm256_loadu_si256(source.cast()), _mm256_loadu_si256(source.add(32).cast())) }
        }

        #[inline(always)]
        unsafe fn store(self, destination: *mut u8) {
            // SAFETY: the caller's promise.
            unsafe {
                _mm256_storeu_si256(destination.cast(), self.0);
                _mm256_storeu_si256(destination.add(32).cast(), self.1);
            }
        }

        #[inline(always)]
        unsafe fn stream(self, destination: *mut u8) {
            debug_assert!(destination.addr().is_multiple_of(LINE));
            // SAFETY: the caller's promise.
            unsafe {
                _mm256_stream_si256(destination.cast(), self.0);
                _mm256_stream_si256(destination.add(32).cast(), self.1);
            }
        }
    }
}

#[cfg(target_arch = "aarch64")]
pub(crate) use arm::Neon;

#[cfg(target_arch = "aarch64")]
mod arm {
    use std::arch::aarch64::*;

    use super::Lines;

    /// Four registers of 128 bits.
    #[derive(Clone, Copy)]
    pub(crate) struct Neon(uint8x16x4_t);

    impl Lines for Neon {
        #[inline(always)]
        unsafe fn load(source: *const u8) -> Self {
            // SAFETY: the caller's promise.
            Neon(unsafe { vld1q_u8_x4(source) })
        }

        #[inline(always)]
        unsafe fn store(self, destination: *mut u8) {
            // SAFETY: the caller's promise.
            unsafe { vst1q_u8_x4(destination, self.0) }
        }

        /// Through the cache: `stnp`, which is only a hint, is no intrinsic, and these machines notice by themselves
        /// when whole lines are written one after the other.
        #[inline(always)]
        unsafe fn stream(self, destination: *mut u8) {
            // SAFETY: the caller's promise.
            unsafe { self.store(destination) }
        }
    }
}

/// Makes stores past the cache visible to other threads, as all others are.
pub(crate) fn fence() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 has this instruction.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}
