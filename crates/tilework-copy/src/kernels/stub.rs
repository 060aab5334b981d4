#![allow(missing_docs)]
use super::InstructionSet;
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
