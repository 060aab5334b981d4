//! The networks, compiled for each instruction set, and what [`super::drive`] must know of each.

use super::avx2::Avx2;
use super::avx512::Avx512;
use super::drive::{self, Direction, Shape};
use super::vector::Vector;
use super::{Interleave, Zip, aligned, network, portable, portable_back};
use crate::kernels::slow_last_cache;

/// Bytes of a row from which on it pays to align the stores of a row of its own.
const LONG: usize = 512;

/// A kernel: [`of`] makes it a pair of functions.
pub(super) trait Kernel {
    /// What to drive, and how.
    const SHAPE: Shape;
}

pub(super) fn of<K: Kernel>() -> Interleave {
    /// # Safety
    ///
    /// As for [`super::ZipFn`].
    unsafe fn stream<K: Kernel>(zip: &Zip) {
        // SAFETY: the caller's.
        unsafe { drive::stream(zip, const { &K::SHAPE }) }
    }
    // Buffers have room for so many.
    const { assert!(K::SHAPE.ways <= drive::WAYS) };
    Interleave { plain: K::SHAPE.plain, stream: stream::<K> }
}

macro_rules! kernel {
    ($kernel:ident, $vector:ident, $features:literal, $direction:ident, $few:expr, $any:literal, $plain:expr, $stream:expr) => {
        pub(super) struct $kernel<const SIZE: usize, const WAYS: usize>;

        impl<const SIZE: usize, const WAYS: usize> $kernel<SIZE, WAYS> {
            /// # Safety
            ///
            /// As for [`super::ZipFn`].
            #[target_feature(enable = $features)]
            unsafe fn plain(zip: &Zip) {
                // SAFETY: the caller's.
                unsafe {
                    if zip.count >= $vector::BYTES / SIZE {
                        $plain(zip)
                    } else {
                        $few(zip, const { &<Self as Kernel>::SHAPE })
                    }
                }
            }

            /// # Safety
            ///
            /// As for [`Shape::stream`].
            #[target_feature(enable = $features)]
            unsafe fn stream(zip: &Zip) {
                // SAFETY: the caller's.
                unsafe { $stream(zip) }
            }
        }

        impl<const SIZE: usize, const WAYS: usize> Kernel for $kernel<SIZE, WAYS> {
            const SHAPE: Shape = Shape {
                size: SIZE,
                ways: WAYS,
                bytes: $vector::BYTES,
                direction: Direction::$direction,
                plain: Self::plain,
                stream: Self::stream,
                any_alignment: $any,
            };
        }
    };
}

kernel!(
    Interleave512,
    Avx512,
    "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi",
    Together,
    few_512,
    false,
    network::interleave::<Avx512, SIZE, WAYS, false>,
    network::interleave::<Avx512, SIZE, WAYS, true>
);
kernel!(
    Deinterleave512,
    Avx512,
    "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi",
    Apart,
    few_512,
    true,
    apart_512::<SIZE, WAYS>,
    stream_512::<SIZE, WAYS>
);
kernel!(
    Interleave256,
    Avx2,
    "avx2",
    Together,
    few_256::<SIZE, WAYS>,
    false,
    network::interleave::<Avx2, SIZE, WAYS, false>,
    network::interleave::<Avx2, SIZE, WAYS, true>
);
kernel!(
    Deinterleave256,
    Avx2,
    "avx2",
    Apart,
    few_256::<SIZE, WAYS>,
    false,
    network::deinterleave::<Avx2, SIZE, WAYS, false>,
    network::deinterleave::<Avx2, SIZE, WAYS, true>
);

/// Few rows: their lines are put together at hardly any cost, on any processor.
const FEW_WAYS: usize = 3;

/// Deinterleaves, with aligned stores if the rows are off their lines and long. Where many rows wait for a line's other half they do
/// not fit in the registers: on AMD's processors (Zen 4) stores of two lines are a tenth to a half faster then.
///
/// # Safety
///
/// As for [`super::ZipFn`], with a count of at least a block.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
unsafe fn apart_512<const SIZE: usize, const WAYS: usize>(zip: &Zip) {
    let off = (zip.destination as usize | zip.stride as usize) % 64;
    // SAFETY: the caller's; the last block is at most the whole row.
    unsafe {
        let pays = WAYS <= FEW_WAYS || slow_last_cache();
        if off == 0 || zip.count * SIZE < LONG || !pays {
            network::deinterleave::<Avx512, SIZE, WAYS, false>(zip)
        } else if aligned::deinterleave::<SIZE, WAYS, false>(zip) < zip.count {
            last_512::<SIZE, WAYS>(zip)
        }
    }
}

/// Deinterleaves with streaming stores.
///
/// # Safety
///
/// As for [`super::ZipFn`], with a count of whole blocks.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
unsafe fn stream_512<const SIZE: usize, const WAYS: usize>(zip: &Zip) {
    // SAFETY: the caller's.
    let done = unsafe { aligned::deinterleave::<SIZE, WAYS, true>(zip) };
    debug_assert_eq!(done, zip.count);
}

/// Deinterleaves the last block of a row.
///
/// # Safety
///
/// As for [`super::ZipFn`], with a count of at least a block.
unsafe fn last_512<const SIZE: usize, const WAYS: usize>(zip: &Zip) {
    let last = zip.count - 64 / SIZE;
    let part = Zip {
        count: 64 / SIZE,
        source: zip.source.wrapping_add(last * SIZE * WAYS),
        destination: zip.destination.wrapping_add(last * SIZE),
        ahead: 0,
        ..*zip
    };
    // SAFETY: the caller's; one block is too short to be aligned, so this does not come back here.
    unsafe { Deinterleave512::<SIZE, WAYS>::plain(&part) }
}

/// Less than a block.
///
/// # Safety
///
/// As for [`super::ZipFn`].
unsafe fn few_256<const SIZE: usize, const WAYS: usize>(zip: &Zip, shape: &Shape) {
    // SAFETY: the caller's.
    unsafe {
        match shape.direction {
            Direction::Together => portable::<SIZE, WAYS>(zip),
            Direction::Apart => portable_back::<SIZE, WAYS>(zip),
        }
    }
}

/// Less than a block: moved as a whole one, through buffers, of which only what belongs to the rows is read and written.
///
/// # Safety
///
/// As for [`super::ZipFn`], and the count is less than a block.
#[cold]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
unsafe fn few_512(zip: &Zip, shape: &Shape) {
    use std::arch::x86_64::*;
    #[repr(align(64))]
    struct Block(std::mem::MaybeUninit<[u8; 64 * drive::WAYS]>);
    let mut read = Block(std::mem::MaybeUninit::uninit());
    let mut written = Block(std::mem::MaybeUninit::uninit());
    let (read, written) = (read.0.as_mut_ptr().cast::<u8>(), written.0.as_mut_ptr().cast::<u8>());
    // Line i of the zipped row, or row i: where it begins from `start`, and how many of its 64 bytes there are.
    let row = zip.count * shape.size;
    let separate = |i: usize| (i as isize * zip.stride, row);
    let zipped = |i: usize| (64 * i as isize, (row * shape.ways).saturating_sub(64 * i).min(64));
    let mask = |bytes: usize| if bytes == 64 { !0 } else { (1u64 << bytes) - 1 };
    // SAFETY: each buffer holds a line for each of the ways. A masked move touches the bytes under the mask and no other:
    // those of the rows. All of `read` is written before the kernel reads it.
    unsafe {
        for i in 0..shape.ways {
            let (at, bytes) = if shape.direction == Direction::Together { separate(i) } else { zipped(i) };
            let line = _mm512_maskz_loadu_epi8(mask(bytes), zip.source.wrapping_offset(at).cast());
            _mm512_store_si512(read.add(i * 64).cast(), line);
        }
        let block = Zip { count: 64 / shape.size, source: read, destination: written, stride: 64, ahead: 0 };
        (shape.plain)(&block);
        for i in 0..shape.ways {
            let (at, bytes) = if shape.direction == Direction::Together { zipped(i) } else { separate(i) };
            let line = _mm512_load_si512(written.add(i * 64).cast());
            _mm512_mask_storeu_epi8(zip.destination.wrapping_offset(at).cast(), mask(bytes), line);
        }
    }
}
