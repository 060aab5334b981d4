//! Plain copies: the yardstick, and the limit.

use tilework_copy::Pool;

use crate::team::Team;

/// Fewer bytes are copied by one thread: to tell another of them takes longer than it saves.
const WORTH_A_THREAD: usize = 1 << 20;

/// Copies with the system's `memcpy`, or with stores past the cache.
pub fn copy(from: &[u8], to: &mut [u8], threads: usize, streaming: bool) {
    if threads <= 1 || from.len() < WORTH_A_THREAD {
        return part(from, to, streaming);
    }
    // Whole pages each, so that no two threads write one line.
    let share = from.len().div_ceil(threads).next_multiple_of(4096).max(4096);
    let parts: Vec<_> = from.chunks(share).zip(to.chunks_mut(share)).map(std::sync::Mutex::new).collect();
    Team::of(threads).run(parts.len(), &|number| {
        if let Ok(mut pair) = parts[number].lock() {
            let (from, to) = &mut *pair;
            part(from, to, streaming);
        }
    });
}

fn part(from: &[u8], to: &mut [u8], streaming: bool) {
    #[cfg(target_arch = "x86_64")]
    if streaming && is_x86_feature_detected!("avx512f") {
        // SAFETY: the processor has the instructions.
        return unsafe { stream_512(from, to) };
    }
    #[cfg(target_arch = "x86_64")]
    if streaming {
        return stream_128(from, to);
    }
    let _ = streaming; // Elsewhere there is no streaming copy; the limit is then `memcpy`.
    to.copy_from_slice(from);
}

/// Copies lines of 64 bytes with streaming stores, the ragged ends as usual.
///
/// # Safety
/// The processor has AVX-512F, and the slices are of one length.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
unsafe fn stream_512(from: &[u8], to: &mut [u8]) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch, _mm_sfence, _mm512_loadu_si512, _mm512_stream_si512};
    let Some((from, to)) = after_head(from, to) else { return };
    let mut froms = from.chunks_exact(256);
    let mut tos = to.chunks_exact_mut(256);
    for (from, to) in (&mut froms).zip(&mut tos) {
        let (from, to) = (from.as_ptr(), to.as_mut_ptr());
        // SAFETY: both chunks hold 256 bytes, and the destination stands at a multiple of 64 since `after_head`. A
        // prefetch may name any address.
        unsafe {
            for line in 0..4 {
                _mm_prefetch::<_MM_HINT_T0>(from.wrapping_add(2048 + 64 * line).cast());
            }
            for line in 0..4 {
                _mm512_stream_si512(to.add(64 * line).cast(), _mm512_loadu_si512(from.add(64 * line).cast()));
            }
        }
    }
    tos.into_remainder().copy_from_slice(froms.remainder());
    _mm_sfence();
}

/// The same with the instructions that every x86-64 has.
#[cfg(target_arch = "x86_64")]
fn stream_128(from: &[u8], to: &mut [u8]) {
    use std::arch::x86_64::{_mm_loadu_si128, _mm_sfence, _mm_stream_si128};
    let Some((from, to)) = after_head(from, to) else { return };
    let mut froms = from.chunks_exact(64);
    let mut tos = to.chunks_exact_mut(64);
    for (from, to) in (&mut froms).zip(&mut tos) {
        let (from, to) = (from.as_ptr(), to.as_mut_ptr());
        for part in 0..4 {
            // SAFETY: both chunks hold 64 bytes, and the destination stands at a multiple of 64 since `after_head`.
            unsafe {
                _mm_stream_si128(to.add(16 * part).cast(), _mm_loadu_si128(from.add(16 * part).cast()))
            };
        }
    }
    tos.into_remainder().copy_from_slice(froms.remainder());
    // SAFETY: a fence touches no memory.
    unsafe { _mm_sfence() };
}

/// Copies what stands before the first whole line of the destination, and returns the rest.
#[cfg(target_arch = "x86_64")]
fn after_head<'a>(from: &'a [u8], to: &'a mut [u8]) -> Option<(&'a [u8], &'a mut [u8])> {
    let head = to.as_ptr().align_offset(64).min(to.len());
    let (from_head, from) = from.split_at_checked(head)?;
    let (to_head, to) = to.split_at_mut(head);
    to_head.copy_from_slice(from_head);
    Some((from, to))
}
