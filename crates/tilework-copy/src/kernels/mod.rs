//! What touches bytes: one kernel for one shape of block, once for every instruction set.
//!
//! A kernel knows nothing of plans. The engine cuts a nest into blocks, and a block is pointers, strides and
//! extents; which instructions move it is decided once, by [`InstructionSet::detect`].

pub(crate) mod carry;
pub(crate) mod grid;
mod interleave;
#[cfg(target_arch = "aarch64")]
mod neon;
pub(crate) mod net;
#[cfg(target_arch = "x86_64")]
mod pack;
pub(crate) mod picks;
pub(crate) mod rows;
mod runs;
pub(crate) mod splat;
#[cfg(target_arch = "x86_64")]
mod stepped;
mod strided;
mod transpose;
pub(crate) mod vector;

use std::sync::OnceLock;

use carry::Held;

#[allow(unused_imports, reason = "a bench includes this module and takes what it measures")]
pub(crate) use interleave::{Zip, ZipFn, deinterleave, interleave};
#[allow(unused_imports, reason = "as above")]
pub(crate) use runs::{Runs, RunsFn, runs};
#[allow(unused_imports, reason = "as above")]
pub(crate) use strided::{Line, LineFn, gather, in_vectors};

/// One block to transpose: `rows` rows of `columns` elements each become `columns` rows of `rows` elements.
///
/// ```text
/// element (r, c):   source + r * source_stride + c * SIZE   ->   destination + c * destination_stride + r * SIZE
/// ```
#[derive(Clone, Copy)]
pub(crate) struct Block {
    /// Rows of the source, at least 1.
    pub rows: usize,
    /// Columns of the source, at least 1.
    pub columns: usize,
    /// The element of row 0 and column 0.
    pub source: *const u8,
    /// Bytes from one source row to the next; any sign.
    pub source_stride: isize,
    /// Where that element goes.
    pub destination: *mut u8,
    /// Bytes from one destination row to the next; any sign.
    pub destination_stride: isize,
    /// Where the next block's source begins: its lines (same rows, columns and stride) are prefetched meanwhile.
    /// It is never read, so it may lie anywhere. Null: nothing is prefetched.
    pub next: *const u8,
}

impl Block {
    /// Whether the counts, pointers and strides are those of a block, as far as it shows.
    fn is_sound(&self, size: usize) -> bool {
        let pointers = !self.source.is_null() && !self.destination.is_null();
        let apart = self.columns == 1 || self.destination_stride.unsigned_abs() >= self.rows * size;
        self.rows > 0 && self.columns > 0 && pointers && apart
    }
}

/// Moves one block.
///
/// # Safety
///
/// 1. There is at least one row and one column.
/// 2. Every element of the source, where [`Block`] says, is within one buffer that can be read.
/// 3. Every element of the destination is within one buffer that can be written.
/// 4. No destination element overlaps a source element or another destination element.
/// 5. Nobody else writes the one or touches the other meanwhile.
/// 6. The machine has the instructions the kernel was made for.
///
/// `next` may be any address.
pub(crate) type BlockFn = unsafe fn(&Block);

/// Moves one block, by way of what is held of its destination rows.
///
/// # Safety
/// As for [`BlockFn`], and for [`carry`] of each row.
pub(crate) type CarryFn = unsafe fn(&Block, Held);

/// The kernels that transpose elements of one size with one instruction set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transpose {
    /// Elements along a side of the register tile: what blocks should be multiples of, where they can.
    pub tile: usize,
    /// Any block at all: any rows and columns from 1 up, any alignment.
    pub plain: BlockFn,
    /// The same with streaming stores, which the caller fences. Straight from the registers if `destination`,
    /// `destination_stride` and the bytes of a destination row are multiples of 64, or if the destination rows
    /// are 16 or 32 bytes each and adjacent, and `destination` and the bytes of all rows together are multiples
    /// of 64. Else by way of a stage in the cache, which wants long destination rows: 512 bytes and more.
    pub stream: BlockFn,
    /// The same for destination rows of 64 bytes or more that begin anywhere: the last line of each is held, for the block that goes
    /// on with the rows. The caller says whose lines are held, and writes what is left of them.
    pub carry: Option<CarryFn>,
    /// Whether these two put rows together in the nearest cache before they write them.
    pub puts_together: bool,
}

/// The kernels for elements of `size` bytes: 1, 2, 4, 8 or 16, else none. The set must be one that this machine
/// has ([`InstructionSet::all_here`]).
pub(crate) fn transpose(set: InstructionSet, size: usize) -> Option<Transpose> {
    transpose::kernels(set, size)
}

/// The instructions that kernels are made of, the better the later.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub enum InstructionSet {
    /// Nothing but Rust: what the compiler makes of plain loops.
    Portable,
    /// 16-byte vectors of ARM, with loads and stores that zip; there are no stores past the cache.
    Neon,
    /// 32-byte vectors.
    Avx2,
    /// 64-byte vectors with masks and byte permutes (F, BW, VL, DQ, VBMI): Zen 4, Ice Lake and newer.
    Avx512,
}

impl InstructionSet {
    /// The best that this machine has. `TILEWORK_INSTRUCTIONS=portable|neon|avx2|avx512` in the environment caps it: a
    /// word of another kind of machine allows what stands before it here. Machine and environment are looked at once.
    pub fn detect() -> Self {
        static FOUND: OnceLock<InstructionSet> = OnceLock::new();
        *FOUND.get_or_init(|| {
            let cap = match std::env::var("TILEWORK_INSTRUCTIONS").as_deref() {
                Ok("portable") => Self::Portable,
                Ok("neon") => Self::Neon,
                Ok("avx2") => Self::Avx2,
                _ => Self::Avx512,
            };
            Self::all_here().into_iter().filter(|&set| set <= cap).max().unwrap_or(Self::Portable)
        })
    }

    /// All that this machine has, whatever the environment says.
    pub fn all_here() -> Vec<Self> {
        let mut sets = vec![Self::Portable];
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx2") {
                sets.push(Self::Avx2);
            }
            if is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vbmi")
            {
                sets.push(Self::Avx512);
            }
        }
        // All of them have it. The kernels count an element's bytes from the least significant.
        #[cfg(target_arch = "aarch64")]
        if cfg!(target_endian = "little") && std::arch::is_aarch64_feature_detected!("neon") {
            sets.push(Self::Neon);
        }
        sets
    }

    /// Whether it has stores past the cache; else preparing for them is only work.
    pub fn streams(self) -> bool {
        self >= Self::Avx2
    }
}

/// Bytes of the second cache and of the last one, as the processor says; else what most have at least.
pub(crate) fn caches() -> (usize, usize) {
    #[cfg(target_arch = "x86_64")]
    {
        static FOUND: OnceLock<(usize, usize)> = OnceLock::new();
        *FOUND.get_or_init(|| {
            let of = |level: u32| x86_caches().find(|found| found.0 == level).map(|found| found.1);
            (of(2).unwrap_or(LEAST_CACHES.0), of(3).unwrap_or(LEAST_CACHES.1))
        })
    }
    #[cfg(not(target_arch = "x86_64"))]
    LEAST_CACHES
}

/// Bytes of the second cache and of the last one where nobody says.
const LEAST_CACHES: (usize, usize) = (1 << 20, 16 << 20);

/// Level and bytes of each cache of data.
#[cfg(target_arch = "x86_64")]
fn x86_caches() -> impl Iterator<Item = (u32, usize)> {
    use std::arch::x86_64::{__cpuid, __cpuid_count};

    // Intel's leaf, and AMD's with the same fields.
    let leaf = [4, 0x8000_001d]
        .into_iter()
        .find(|&leaf| leaf <= __cpuid(leaf & 0x8000_0000).eax && __cpuid_count(leaf, 0).eax & 31 != 0);
    let caches = leaf.into_iter().flat_map(|leaf| (0..8).map(move |number| __cpuid_count(leaf, number)));
    caches.take_while(|found| found.eax & 31 != 0).filter(|found| found.eax & 31 != 2).map(|found| {
        // Each field is one less than it means: ways, partitions, bytes of a line, sets.
        let field = |shift: u32, bits: u32| ((found.ebx >> shift) & ((1 << bits) - 1)) as usize + 1;
        let bytes = field(22, 10) * field(12, 10) * field(0, 12) * (found.ecx as usize + 1);
        ((found.eax >> 5) & 7, bytes)
    })
}

/// Whether stores past the cache are as quick as copies within the last cache.
///
/// Measured on two machines only: on Intel's (Sapphire Rapids) they are from 3 MiB on, on AMD's (Zen 4) copies within the
/// last cache are twice as quick.
pub(crate) fn slow_last_cache() -> bool {
    is_of_intel()
}

/// Whether stores that lie across two lines are so slow that it pays to put whole lines together in registers first.
///
/// On AMD's (Zen 4) that costs a tenth to a half more than such stores do. Where they were first measured they took twice as long once
/// rows left the first cache; Intel's processors keep what was decided then.
#[cfg(target_arch = "x86_64")]
pub(crate) fn slow_across_lines() -> bool {
    is_of_intel()
}

/// Whether Intel made this processor.
fn is_of_intel() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        static INTEL: OnceLock<bool> = OnceLock::new();
        *INTEL.get_or_init(|| {
            let leaf = std::arch::x86_64::__cpuid(0);
            // "GenuineIntel", in the order of these registers.
            [leaf.ebx, leaf.edx, leaf.ecx].map(u32::to_le_bytes).concat() == b"GenuineIntel"
        })
    }
    #[cfg(not(target_arch = "x86_64"))]
    false
}
