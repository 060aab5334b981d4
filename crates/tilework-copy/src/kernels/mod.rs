//! Stand-in until the kernels land.
#![allow(missing_docs)]
pub(crate) mod rows;
pub(crate) mod splat;
pub(crate) mod vector;

/// The instructions that kernels are written for, from the least to the most.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub enum InstructionSet {
    Portable,
    Neon,
    Avx2,
    Avx512,
}

impl InstructionSet {
    pub fn detect() -> InstructionSet {
        InstructionSet::Avx512
    }
}

#[derive(Clone, Copy)]
pub(crate) struct Block {
    pub rows: usize,
    pub columns: usize,
    pub source: *const u8,
    pub source_stride: isize,
    pub destination: *mut u8,
    pub destination_stride: isize,
    pub next: *const u8,
}
pub(crate) type BlockFn = unsafe fn(&Block);
#[derive(Clone, Copy)]
pub(crate) struct Transpose {
    pub tile: usize,
    pub plain: BlockFn,
    pub stream: BlockFn,
}
pub(crate) fn transpose(_set: InstructionSet, size: usize) -> Option<Transpose> {
    fn of<const N: usize>() -> Transpose {
        Transpose { tile: 64 / N, plain: block::<N>, stream: block::<N> }
    }
    Some(match size {
        1 => of::<1>(),
        2 => of::<2>(),
        4 => of::<4>(),
        8 => of::<8>(),
        16 => of::<16>(),
        _ => return None,
    })
}
unsafe fn block<const N: usize>(b: &Block) {
    for c in 0..b.columns {
        for r in 0..b.rows {
            unsafe {
                let s = b.source.offset(r as isize * b.source_stride + (c * N) as isize).cast::<[u8; N]>();
                let d = b.destination.offset(c as isize * b.destination_stride + (r * N) as isize);
                d.cast::<[u8; N]>().write_unaligned(s.read_unaligned());
            }
        }
    }
}

pub(crate) struct Zip {
    pub count: usize,
    pub source: *const u8,
    pub destination: *mut u8,
    pub stride: isize,
    pub ahead: usize,
}
pub(crate) type ZipFn = unsafe fn(&Zip);
#[derive(Clone, Copy)]
pub(crate) struct Interleave {
    pub plain: ZipFn,
    pub stream: ZipFn,
}
pub(crate) fn interleave(_set: InstructionSet, size: usize, ways: usize) -> Option<Interleave> {
    let _ = (size, ways);
    None
}
pub(crate) fn deinterleave(_set: InstructionSet, size: usize, ways: usize) -> Option<Interleave> {
    let _ = (size, ways);
    None
}
pub(crate) struct Line {
    pub count: usize,
    pub source: *const u8,
    pub source_step: isize,
    pub destination: *mut u8,
    pub destination_step: isize,
}
pub(crate) type LineFn = unsafe fn(&Line);
pub(crate) fn gather(_set: InstructionSet, size: usize, _from: isize, _to: isize) -> LineFn {
    match size {
        1 => line::<1>,
        2 => line::<2>,
        4 => line::<4>,
        8 => line::<8>,
        _ => line::<16>,
    }
}
unsafe fn line<const N: usize>(l: &Line) {
    for i in 0..l.count as isize {
        unsafe {
            let s = l.source.offset(i * l.source_step).cast::<[u8; N]>();
            l.destination.offset(i * l.destination_step).cast::<[u8; N]>().write_unaligned(s.read_unaligned());
        }
    }
}
pub(crate) struct Runs {
    pub count: usize,
    pub length: usize,
    pub source: *const u8,
    pub source_step: isize,
    pub destination: *mut u8,
    pub destination_step: isize,
}
pub(crate) type RunsFn = unsafe fn(&Runs);
pub(crate) fn runs(_set: InstructionSet, _length: usize) -> RunsFn {
    short
}
unsafe fn short(r: &Runs) {
    for i in 0..r.count as isize {
        unsafe {
            std::ptr::copy_nonoverlapping(
                r.source.offset(i * r.source_step),
                r.destination.offset(i * r.destination_step),
                r.length,
            );
        }
    }
}
