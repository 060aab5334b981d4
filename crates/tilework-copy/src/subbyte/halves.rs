//! Bytes from halves of others: elements of 4 bits that meet in a byte.

use crate::kernels::InstructionSet;

/// A row of bytes of which one half is wanted: the low one or the high one.
#[derive(Clone, Copy)]
pub(crate) struct Half {
    pub(crate) row: *const u8,
    pub(crate) high: bool,
}

impl Half {
    /// From a byte of the row on.
    ///
    /// # Safety
    /// The row has so many bytes.
    pub(crate) unsafe fn from(self, byte: usize) -> Half {
        // SAFETY: the caller's promise.
        Half { row: unsafe { self.row.add(byte) }, ..self }
    }

    /// The first element.
    ///
    /// # Safety
    /// The byte can be read.
    unsafe fn first(self) -> u8 {
        // SAFETY: the caller's promise.
        unsafe { *self.row >> (4 * u32::from(self.high)) & 0x0f }
    }
}

/// Writes bytes whose low halves come from one row, and whose high halves from another.
///
/// # Safety
/// 1. So many bytes of both rows can be read, and as many can be written, which do not overlap.
/// 2. The processor has the instructions that the kernel was compiled for.
pub(crate) type Join = unsafe fn(Half, Half, to: *mut u8, bytes: usize);

/// The kernel of a set of instructions.
pub(crate) fn join(set: InstructionSet) -> Join {
    #[inline(always)]
    unsafe fn body(low: Half, high: Half, to: *mut u8, bytes: usize) {
        // SAFETY: the caller's promise.
        let (a, b, to) = unsafe {
            (
                std::slice::from_raw_parts(low.row, bytes),
                std::slice::from_raw_parts(high.row, bytes),
                std::slice::from_raw_parts_mut(to, bytes),
            )
        };
        // In whichever order the bytes of a word are: what comes from other bytes is masked.
        let (right, left) = (4 * u32::from(low.high), 4 * u32::from(!high.high));
        let joined =
            |a: u64, b: u64| a >> right & (u64::MAX / 0xff * 0x0f) | b << left & (u64::MAX / 0xff * 0xf0);
        let ((a, rest_a), (b, rest_b)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
        let (to, rest) = to.as_chunks_mut::<8>();
        for ((a, b), to) in a.iter().zip(b).zip(to) {
            *to = joined(u64::from_ne_bytes(*a), u64::from_ne_bytes(*b)).to_ne_bytes();
        }
        for ((a, b), to) in rest_a.iter().zip(rest_b).zip(rest) {
            *to = a >> right & 0x0f | b << left & 0xf0;
        }
    }
    unsafe fn portable(low: Half, high: Half, to: *mut u8, bytes: usize) {
        // SAFETY: the caller's promise.
        unsafe { body(low, high, to, bytes) }
    }
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    unsafe fn avx2(low: Half, high: Half, to: *mut u8, bytes: usize) {
        // SAFETY: the caller's promise.
        unsafe { body(low, high, to, bytes) }
    }
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn avx512(low: Half, high: Half, to: *mut u8, bytes: usize) {
        use std::arch::x86_64::*;
        let right = _mm_cvtsi64_si128(4 * i64::from(low.high));
        let left = _mm_cvtsi64_si128(4 * i64::from(!high.high));
        let joined = |a, b| {
            let (a, b) = (_mm512_srl_epi64(a, right), _mm512_sll_epi64(b, left));
            // Bits of the one where the mask has them, else of the other.
            _mm512_ternarylogic_epi64::<0xca>(_mm512_set1_epi8(0x0f), a, b)
        };
        let whole = bytes / 64 * 64;
        // SAFETY: the caller's promise; the mask lets no byte behind the last one through.
        unsafe {
            for at in (0..whole).step_by(64) {
                let a = _mm512_loadu_si512(low.row.add(at).cast());
                let b = _mm512_loadu_si512(high.row.add(at).cast());
                _mm512_storeu_si512(to.add(at).cast(), joined(a, b));
            }
            if whole < bytes {
                let mask = u64::MAX >> (64 - (bytes - whole));
                let a = _mm512_maskz_loadu_epi8(mask, low.row.add(whole).cast());
                let b = _mm512_maskz_loadu_epi8(mask, high.row.add(whole).cast());
                _mm512_mask_storeu_epi8(to.add(whole).cast(), mask, joined(a, b));
            }
        }
    }
    match set {
        #[cfg(target_arch = "x86_64")]
        InstructionSet::Avx512 => avx512,
        #[cfg(target_arch = "x86_64")]
        InstructionSet::Avx2 => avx2,
        _ => portable,
    }
}

/// Writes `count` elements from a place on that come from two rows in turn. Bytes at the ends that hold others keep those. `store` writes
/// whole bytes.
///
/// # Safety
/// The rows have as many elements as are asked for, and the bytes that hold them in the destination can be read and written, and are nobody
/// else's.
pub(crate) unsafe fn alternate(
    (first, second): (Half, Half),
    count: usize,
    (to, place): (*mut u8, u64),
    store: impl FnOnce(Half, Half, *mut u8, usize),
) {
    // SAFETY: every byte that is touched holds elements of the row.
    unsafe {
        let to = to.add((place / 2) as usize);
        if place.is_multiple_of(2) {
            let bytes = count / 2;
            store(first, second, to, bytes);
            if !count.is_multiple_of(2) {
                let last = to.add(bytes);
                *last = *last & 0xf0 | first.from(bytes).first();
            }
        } else {
            *to = *to & 0x0f | first.first() << 4;
            let bytes = (count - 1) / 2;
            // A row of one element is at its end.
            let rest = if count > 1 { first.from(1) } else { first };
            store(second, rest, to.add(1), bytes);
            if count.is_multiple_of(2) {
                let last = to.add(1 + bytes);
                *last = *last & 0xf0 | second.from(bytes).first();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_of_two_rows_alternate_from_any_place_on() {
        let noise =
            |seed: u32| (0..200).map(|at: u32| ((at * 40503 + seed * 977) >> 3) as u8).collect::<Vec<u8>>();
        let (a, b, before) = (noise(1), noise(2), noise(3));
        let element = |bytes: &[u8], k: usize, high: bool| bytes[k] >> (4 * u32::from(high)) & 0x0f;
        for set in InstructionSet::all_here() {
            for (highs, place) in [(false, false), (false, true), (true, false), (true, true)]
                .into_iter()
                .flat_map(|highs| (4..6).map(move |place| (highs, place)))
            {
                for count in (1..40).chain([126, 127, 128, 129, 130, 300]) {
                    let mut to = before.clone();
                    let halves =
                        (Half { row: a.as_ptr(), high: highs.0 }, Half { row: b.as_ptr(), high: highs.1 });
                    // SAFETY: the rows and the destination have as many elements, and the processor has the instructions.
                    unsafe {
                        alternate(halves, count, (to.as_mut_ptr(), place), |low, high, to, bytes| {
                            join(set)(low, high, to, bytes)
                        });
                    }
                    for k in 0..to.len() * 2 {
                        let found = element(&to, k / 2, k % 2 > 0);
                        let wanted = match k.checked_sub(place as usize).filter(|&k| k < count) {
                            Some(k) if k % 2 == 0 => element(&a, k / 2, highs.0),
                            Some(k) => element(&b, k / 2, highs.1),
                            None => element(&before, k / 2, k % 2 > 0),
                        };
                        assert_eq!(found, wanted, "{set:?}, {highs:?}, {count} from {place}, element {k}");
                    }
                }
            }
        }
    }
}
