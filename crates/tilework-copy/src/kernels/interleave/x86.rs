//! The networks, compiled for each instruction set, and what [`super::drive`] must know of each.

use super::avx2::Avx2;
use super::avx512::Avx512;
use super::drive::{self, Direction, Shape};
use super::network::Network;
use super::network::each;
use super::vector::Vector;
use super::{Interleave, Zip, aligned, network};
use crate::kernels::slow_across_lines;

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
        let shape = const { &K::SHAPE };
        // SAFETY: the caller's.
        unsafe {
            if zip.count < shape.bytes / shape.size {
                return (shape.plain)(zip);
            }
            zip.each(|zip| drive::stream(zip, shape));
        }
    }
    // The buffers' room.
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
                        zip.each(|zip| $plain(zip));
                    } else {
                        zip.each(|zip| $few(zip, const { &<Self as Kernel>::SHAPE }));
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
    few_512::<SIZE, WAYS>,
    false,
    network::interleave::<Avx512, SIZE, WAYS, false>,
    network::interleave::<Avx512, SIZE, WAYS, true>
);
kernel!(
    Deinterleave512,
    Avx512,
    "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi",
    Apart,
    few_512::<SIZE, WAYS>,
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

/// Rows whose lines are put together at hardly any cost, on any processor.
const FEW_WAYS: usize = 3;

/// Deinterleaves, with aligned stores if the rows are off their lines and long, and that pays.
///
/// # Safety
///
/// As for [`super::ZipFn`], with a count of at least a block.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
unsafe fn apart_512<const SIZE: usize, const WAYS: usize>(zip: &Zip) {
    let off = (zip.destination as usize | zip.stride as usize) % 64;
    // SAFETY: the caller's; the last block is at most the whole row.
    unsafe {
        let pays = WAYS <= FEW_WAYS || slow_across_lines();
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

/// Interleaves or deinterleaves less than a block. Where rows have a whole lane, the second lanes begin as far back as they must, and
/// hold some of what the first ones do. Else there are no second ones, and parts of lanes are moved.
///
/// # Safety
///
/// As for [`super::ZipFn`], with a count of less than a block.
#[target_feature(enable = "avx2")]
unsafe fn few_256<const SIZE: usize, const WAYS: usize>(zip: &Zip, shape: &Shape) {
    // SAFETY: the caller's.
    unsafe {
        match (shape.direction, zip.count * SIZE < Avx2::LANE) {
            (Direction::Together, false) => few_together::<SIZE, WAYS, false>(zip),
            (Direction::Together, true) => few_together::<SIZE, WAYS, true>(zip),
            (Direction::Apart, false) => few_apart::<SIZE, WAYS, false>(zip),
            (Direction::Apart, true) => few_apart::<SIZE, WAYS, true>(zip),
        }
    }
}

/// # Safety
///
/// As for [`few_256`]; `PART` if rows have less than a lane.
#[target_feature(enable = "avx2")]
unsafe fn few_together<const SIZE: usize, const WAYS: usize, const PART: bool>(zip: &Zip) {
    let row = zip.count * SIZE;
    let back = row.wrapping_sub(Avx2::LANE);
    // SAFETY: the caller's: lanes, and parts of them, lie within the rows and within the zipped row.
    unsafe {
        let mut lines = [Avx2::zero(); WAYS];
        each!(i in 0..WAYS, {
            let from = zip.source.wrapping_offset(i as isize * zip.stride);
            lines[i] = if PART { Avx2::load_part(from, row) } else { Avx2::load_lanes(from, from.wrapping_add(back)) };
        });
        let lines = network::zipped::<Avx2, SIZE, WAYS>(lines);
        each!(i in 0..WAYS, {
            let (at, to) = (i * Avx2::LANE, zip.destination.wrapping_add(i * Avx2::LANE));
            if PART {
                lines[i].store_part(to, (row * WAYS).saturating_sub(at));
            } else {
                lines[i].store_lanes(to, to.wrapping_add(back * WAYS));
            }
        });
    }
}

/// # Safety
///
/// As for [`few_256`]; `PART` if rows have less than a lane.
#[target_feature(enable = "avx2")]
unsafe fn few_apart<const SIZE: usize, const WAYS: usize, const PART: bool>(zip: &Zip) {
    let row = zip.count * SIZE;
    let back = row.wrapping_sub(Avx2::LANE);
    let n = Network::<Avx2, SIZE, WAYS>::WIDTH;
    // SAFETY: the caller's: lanes, and parts of them, lie within the zipped row and within the rows.
    unsafe {
        let mut lines = [Avx2::zero(); WAYS];
        each!(i in 0..WAYS, {
            let (at, from) = (i * Avx2::LANE, zip.source.wrapping_add(i * Avx2::LANE));
            lines[i] = if PART {
                Avx2::load_part(from, (row * WAYS).saturating_sub(at))
            } else {
                Avx2::load_lanes(from, from.wrapping_add(back * WAYS))
            };
        });
        let rows = network::unzipped::<Avx2, SIZE, WAYS>(lines);
        each!(i in 0..WAYS, {
            let to = zip.destination.wrapping_offset(i as isize * zip.stride);
            let table = &Network::<Avx2, SIZE, WAYS>::ROWS_BACK[i % n];
            let line = if n > 1 { rows[i].permute(table) } else { rows[i] };
            if PART { line.store_part(to, row) } else { line.store_lanes(to, to.wrapping_add(back)) }
        });
    }
}

/// Interleaves or deinterleaves less than a block: the same, with lines of which a part is moved.
///
/// # Safety
///
/// As for [`super::ZipFn`], with a count of less than a block.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
unsafe fn few_512<const SIZE: usize, const WAYS: usize>(zip: &Zip, shape: &Shape) {
    use std::arch::x86_64::*;
    let mask = |bytes: usize| if bytes == 64 { !0 } else { (1u64 << bytes) - 1 };
    // Line i of the zipped row, or row i: where it begins from `start`, and which of its 64 bytes there are.
    let row = zip.count * SIZE;
    let separate = |i: usize| (i as isize * zip.stride, mask(row));
    let zipped = |i: usize| (64 * i as isize, mask((row * WAYS).saturating_sub(64 * i).min(64)));
    // SAFETY: a masked move touches the bytes under the mask and no other: those of the rows, which are less than a line each.
    unsafe {
        let load = |(at, bytes): (isize, u64)| {
            Avx512(_mm512_maskz_loadu_epi8(bytes, zip.source.wrapping_offset(at).cast()))
        };
        let store = |(at, bytes): (isize, u64), line: Avx512| {
            _mm512_mask_storeu_epi8(zip.destination.wrapping_offset(at).cast(), bytes, line.0);
        };
        let mut lines = [Avx512(_mm512_setzero_si512()); WAYS];
        match shape.direction {
            Direction::Together => {
                for (i, line) in lines.iter_mut().enumerate() {
                    *line = load(separate(i));
                }
                for (i, line) in network::zipped::<Avx512, SIZE, WAYS>(lines).into_iter().enumerate() {
                    store(zipped(i), line);
                }
            }
            Direction::Apart => {
                let n = Network::<Avx512, SIZE, WAYS>::WIDTH;
                for (i, line) in lines.iter_mut().enumerate() {
                    *line = load(zipped(i));
                }
                for (i, row) in network::unzipped::<Avx512, SIZE, WAYS>(lines).into_iter().enumerate() {
                    store(separate(i), row.permute(&Network::<Avx512, SIZE, WAYS>::ROWS_BACK[i % n]));
                }
            }
        }
    }
}
