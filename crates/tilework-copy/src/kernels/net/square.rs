//! A square of a line by a line of elements of 1 or 2 bytes, without a network: it would need two passes.
//!
//! The lines are brought together first, whole; then it is a transpose like any other ([`crate::kernels::transpose`]): lanes of
//! several lines in each register, and zips.

use std::arch::x86_64::*;
use std::mem::MaybeUninit;

use super::super::carry::each;
use super::super::transpose::{Four, LANE, Lanes, MOST, zipped};
use super::super::vector::{LINE, prefetch};
use super::avx512::{CARRY, PLAIN, STREAM, put};
use super::{Calls, Pass, PassFn, Put, STAGES};

/// The kernel for elements of `size` bytes, if there is one; the pass is not looked at.
pub(super) fn square(size: usize, put: Put) -> Option<PassFn> {
    Some(match (size, put) {
        (1, Put::Plain) => run::<1, PLAIN>,
        (1, Put::Stream) => run::<1, STREAM>,
        (1, Put::Carry) => run::<1, CARRY>,
        (2, Put::Plain) => run::<2, PLAIN>,
        (2, Put::Stream) => run::<2, STREAM>,
        (2, Put::Carry) => run::<2, CARRY>,
        _ => return None,
    })
}

/// The lines of a square.
#[repr(align(64))]
struct Square(MaybeUninit<[u8; LINE * LINE]>);

/// Reads `SIZE` lanes of a line at once: so 16 columns are made at a time, for which there are registers.
///
/// # Safety
/// As for [`PassFn`], with as many lines on each side as a line has elements.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
unsafe fn run<const SIZE: usize, const PUT: u8>(_: &Pass, calls: &Calls) {
    let mut square = Square(MaybeUninit::uninit());
    let square: *mut u8 = square.0.as_mut_ptr().cast();
    let mut fetch = calls.fetch;
    let (side, groups, pieces) = (LANE / SIZE, Four::LANES / SIZE, LINE / SIZE / LANE);
    for call in 0..calls.count {
        // SAFETY: the caller's promise: the lists are long enough, the lines are within the buffers, and each can be written whole;
        // there is room for them. What is fetched may lie anywhere.
        unsafe {
            let source = calls.source.wrapping_offset(*calls.sources.add(call));
            let from = calls.from.add(call * calls.from_step);
            for row in 0..LINE / SIZE {
                let line = _mm512_loadu_si512(source.wrapping_offset(*from.add(row)).cast());
                _mm512_store_si512(square.add(row * LINE).cast(), line);
            }
            for piece in 0..pieces {
                for _ in piece * calls.fetches / pieces..(piece + 1) * calls.fetches / pieces {
                    prefetch(calls.next.wrapping_offset(*fetch));
                    fetch = fetch.add(1);
                }
                let mut vectors = [Four::zero(); LANE];
                each!(n < 16, {
                    // A lane of each group of `side` rows.
                    let row = n / side * groups * side + n % side;
                    let mut lanes = [square.cast_const().add((piece * SIZE) * LANE); MOST];
                    for (group, lane) in lanes.iter_mut().enumerate().take(groups) {
                        *lane = lane.add((row + group * side) * LINE);
                    }
                    vectors[n] = Four::load_wide::<SIZE>(lanes);
                });
                zipped::<Four, SIZE, SIZE>(&mut vectors);
                put::<STAGES, PUT>(&vectors.map(|vector| vector.0), piece * LANE, call, calls);
            }
        }
    }
}
