//! A pass with lines of 16 bytes: a lookup takes its bytes from two registers, and so is half of a stage for a pair of lines.

use std::arch::aarch64::*;

use super::{Bytes, Calls, LANE, Pass, PassFn, STAGES, Slots};
use crate::kernels::vector::prefetch;

/// The registers of a pass. What it has no lines for is never touched.
type Lines = [uint8x16_t; 1 << STAGES];

pub(super) fn pass(stages: usize) -> Option<PassFn> {
    Some(match stages {
        0 => run::<0>,
        1 => run::<1>,
        2 => run::<2>,
        3 => run::<3>,
        4 => run::<4>,
        _ => return None,
    })
}

/// # Safety
/// As for [`PassFn`].
#[target_feature(enable = "neon")]
unsafe fn run<const K: usize>(pass: &Pass, calls: &Calls) {
    debug_assert!(pass.count == K && pass.before.is_none());
    let mut fetch = calls.fetch;
    for call in 0..calls.count {
        // SAFETY: the caller's promise: the lists are long enough, the lines are within the buffers, and each can be
        // written whole. What is fetched may lie anywhere.
        unsafe {
            let source = calls.source.wrapping_offset(*calls.sources.add(call));
            let from = calls.from.add(call * calls.from_step);
            let mut lines: Lines = [vdupq_n_u8(0); 1 << STAGES];
            for (r, line) in lines[..1 << K].iter_mut().enumerate() {
                *line = vld1q_u8(source.wrapping_offset(*from.add(r)));
            }
            for _ in 0..calls.fetches {
                prefetch(calls.next.wrapping_offset(*fetch));
                fetch = fetch.add(1);
            }
            stage::<K, 0>(&pass.stages[0], &mut lines);
            stage::<K, 1>(&pass.stages[1], &mut lines);
            stage::<K, 2>(&pass.stages[2], &mut lines);
            stage::<K, 3>(&pass.stages[3], &mut lines);
            permute::<K>(&pass.after, &mut lines);
            let destination = calls.destination.wrapping_offset(*calls.destinations.add(call));
            let to = calls.to.add(call * calls.to_step);
            for (r, &line) in lines[..1 << K].iter().enumerate() {
                vst1q_u8(destination.wrapping_offset(*to.add(r * calls.to_stride)), line);
            }
        }
    }
}

/// Stage J, if there are more than J.
#[inline]
#[target_feature(enable = "neon")]
fn stage<const K: usize, const J: usize>(slots: &[Slots; 2], lines: &mut Lines) {
    if J >= K {
        return;
    }
    let [first, second] = [&slots[0], &slots[1]].map(|slots| load(&slots.narrow));
    for pair in 0..1 << (K - 1) {
        // The number of the pair with a zero put in at bit J.
        let a = pair >> J << (J + 1) | pair & ((1 << J) - 1);
        let b = a | 1 << J;
        let both = uint8x16x2_t(lines[a], lines[b]);
        (lines[a], lines[b]) = (vqtbl2q_u8(both, first), vqtbl2q_u8(both, second));
    }
}

#[inline]
#[target_feature(enable = "neon")]
fn permute<const K: usize>(bytes: &Option<Bytes>, lines: &mut Lines) {
    if let Some(bytes) = bytes {
        let bytes = load(bytes.0.first_chunk().unwrap_or(&[0; LANE]));
        for line in &mut lines[..1 << K] {
            *line = vqtbl1q_u8(*line, bytes);
        }
    }
}

#[inline]
#[target_feature(enable = "neon")]
fn load(bytes: &[u8; LANE]) -> uint8x16_t {
    // SAFETY: so many bytes of memory.
    unsafe { vld1q_u8(bytes.as_ptr()) }
}
