//! Elements of 4 bits by a table of what each of the 16 becomes.

use std::sync::{Mutex, PoisonError};

use tilework_core::Element;

use crate::kernels::InstructionSet;

/// From and to which elements, and with which instructions.
type Key = (Element, Element, InstructionSet);

/// The tables that were made so far. They stay for good: there are only so many, and conversions are copied about.
static MADE: Mutex<Vec<(Key, &'static Table)>> = Mutex::new(Vec::new());

/// The table of a conversion, made if there is none yet.
pub(super) fn table(key: Key, make: impl FnOnce() -> Option<Table>) -> Option<&'static Table> {
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, table)) = made.iter().find(|(found, _)| *found == key) {
        return Some(table);
    }
    let table: &'static Table = Box::leak(Box::new(make()?));
    made.push((key, table));
    Some(table)
}

/// What each code becomes, in its first bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table {
    entries: [u64; 16],
    kernel: TableFn,
}

/// Converts as many pairs of elements as the source has bytes; the destination has room for them.
///
/// # Safety
/// The processor has the instructions that the kernel was compiled for.
type TableFn = unsafe fn(&[u64; 16], &[u8], &mut [u8]);

impl Table {
    /// The table of a conversion to so many bytes, which converts these 8 bytes of all codes; if there is a kernel for it. The processor
    /// must have the instructions of the set.
    pub(super) fn new(
        set: InstructionSet,
        size: usize,
        convert: impl FnOnce(&[u8], &mut [u8]),
    ) -> Option<Table> {
        let kernel: TableFn = match (set, size) {
            #[cfg(target_arch = "x86_64")]
            (InstructionSet::Avx512, 1) => x86::to_1,
            #[cfg(target_arch = "x86_64")]
            (InstructionSet::Avx512, 2) => x86::to_2,
            #[cfg(target_arch = "x86_64")]
            (InstructionSet::Avx512, 4) => x86::to_4,
            (_, 1) => one_by_one::<1>,
            (_, 2) => one_by_one::<2>,
            (_, 4) => one_by_one::<4>,
            (_, 8) => one_by_one::<8>,
            _ => return None,
        };
        let mut converted = [0; 16 * 8];
        convert(&[0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe], &mut converted[..16 * size]);
        let mut entries = [0; 16];
        for (entry, bytes) in entries.iter_mut().zip(converted.chunks(size)) {
            let mut word = [0; 8];
            word[..size].copy_from_slice(bytes);
            *entry = u64::from_le_bytes(word);
        }
        Some(Table { entries, kernel })
    }

    /// Converts pairs of elements.
    pub(super) fn convert(&self, from: &[u8], to: &mut [u8]) {
        // SAFETY: the kernel was chosen for instructions that the processor has.
        unsafe { (self.kernel)(&self.entries, from, to) }
    }
}

#[inline(always)]
fn one_by_one<const SIZE: usize>(entries: &[u64; 16], from: &[u8], to: &mut [u8]) {
    let (elements, _) = to.as_chunks_mut::<SIZE>();
    let (pairs, _) = elements.as_chunks_mut::<2>();
    for (byte, pair) in from.iter().zip(pairs) {
        for (element, code) in pair.iter_mut().zip([byte & 0x0f, byte >> 4]) {
            element.copy_from_slice(&entries[usize::from(code)].to_le_bytes()[..SIZE]);
        }
    }
}

/// A register of elements at a time, each of them picked by its code.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    /// The first bytes of all entries, one after the other, and again as often as there is room.
    fn packed<const SIZE: usize>(entries: &[u64; 16]) -> [u8; 64] {
        let mut packed = [0; 64];
        for (k, bytes) in packed.chunks_exact_mut(SIZE).enumerate() {
            bytes.copy_from_slice(&entries[k % 16].to_le_bytes()[..SIZE]);
        }
        packed
    }

    /// A kernel that reads `$bytes` bytes at a time, and makes codes of elements of `$size` bytes and elements of these.
    macro_rules! kernel {
        ($name:ident, $size:literal, $bytes:literal, $load:ident, |$from:ident| $codes:expr, |$code:ident, $table:ident| $picked:expr) => {
            #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
            pub(super) fn $name(entries: &[u64; 16], from: &[u8], to: &mut [u8]) {
                assert!(to.len() >= 2 * $size * from.len());
                let packed = packed::<$size>(entries);
                let whole = from.len() / $bytes * $bytes;
                for at in (0..whole).step_by($bytes) {
                    // SAFETY: as many bytes are left in the source, and room for their elements in the destination.
                    unsafe {
                        let $table = _mm512_loadu_si512(packed.as_ptr().cast());
                        let $from = $load(from.as_ptr().add(at).cast());
                        let $code = $codes;
                        _mm512_storeu_si512(to.as_mut_ptr().add(2 * $size * at).cast(), $picked);
                    }
                }
                super::one_by_one::<$size>(entries, &from[whole..], &mut to[2 * $size * whole..]);
            }
        };
    }

    kernel!(
        to_1,
        1,
        32,
        _mm256_loadu_si256,
        |bytes| {
            let words = _mm512_cvtepu8_epi16(bytes);
            _mm512_and_si512(_mm512_or_si512(words, _mm512_slli_epi16::<4>(words)), _mm512_set1_epi8(0x0f))
        },
        |codes, table| _mm512_shuffle_epi8(table, codes)
    );
    kernel!(
        to_2,
        2,
        16,
        _mm_loadu_si128,
        |bytes| {
            let words = _mm512_cvtepu8_epi32(bytes);
            _mm512_and_si512(_mm512_or_si512(words, _mm512_slli_epi32::<12>(words)), _mm512_set1_epi16(0x0f))
        },
        |codes, table| _mm512_permutexvar_epi16(codes, table)
    );
    kernel!(
        to_4,
        4,
        8,
        _mm_loadl_epi64,
        |bytes| {
            let words = _mm512_cvtepu8_epi64(bytes);
            _mm512_and_si512(_mm512_or_si512(words, _mm512_slli_epi64::<28>(words)), _mm512_set1_epi32(0x0f))
        },
        |codes, table| _mm512_permutexvar_epi32(codes, table)
    );
}
