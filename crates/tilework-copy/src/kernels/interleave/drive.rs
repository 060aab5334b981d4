//! Rows of any length and alignment, cut into the whole blocks that a kernel takes.
//!
//! A block is one register of every row. A count that is not a whole number of blocks ends with a block that overlaps
//! the one before it: the same bytes are written twice, and there is no slow tail.
//!
//! **Streaming.** A streaming store writes a whole aligned line. If some element of every destination row begins a line,
//! the blocks are laid from there on, and only head and tail go through the caches. Else (the rows are aligned
//! differently, or elements straddle lines) a few KiB at a time are first put together in a buffer that stays in the
//! cache, and whole lines are streamed from there.

use super::{Zip, ZipFn};
use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};
use std::mem::MaybeUninit;
use std::ops::Range;

/// Bytes of a cache line.
const LINE: usize = 64;
/// Bytes of the buffer that lines are put together in.
const BUFFER: usize = 8192;
/// The most ways.
pub(super) const WAYS: usize = 16;

/// Which way the elements go.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    /// The destination is one row.
    Together,
    /// The source is one row.
    Apart,
}

/// A kernel, and the blocks it takes.
pub(super) struct Shape {
    pub size: usize,
    pub ways: usize,
    /// Bytes of every row in a block.
    pub bytes: usize,
    pub direction: Direction,
    /// Any count.
    pub plain: ZipFn,
    /// Whole blocks with streaming stores: the destination is a multiple of `bytes`, and the stride if it is the
    /// destination's.
    pub stream: ZipFn,
    /// `stream` takes whole blocks of any alignment.
    pub any_alignment: bool,
}

impl Shape {
    /// Elements of every row in a block.
    fn block(&self) -> usize {
        self.bytes / self.size
    }

    /// Bytes from one element to the next, in each row of the source.
    fn source_step(&self) -> usize {
        if self.direction == Direction::Together { self.size } else { self.size * self.ways }
    }

    /// Bytes from one element to the next, in each row of the destination.
    fn destination_step(&self) -> usize {
        if self.direction == Direction::Together { self.size * self.ways } else { self.size }
    }

    /// `count` elements from `start` on.
    fn part(&self, zip: &Zip, start: usize, count: usize) -> Zip {
        Zip {
            count,
            source: zip.source.wrapping_add(start * self.source_step()),
            destination: zip.destination.wrapping_add(start * self.destination_step()),
            ..*zip
        }
    }
}

/// Copies up to 64 bytes as two overlapping halves, without a call.
///
/// # Safety
///
/// They can be read and written, and do not overlap.
#[inline]
unsafe fn short(from: *const u8, to: *mut u8, bytes: usize) {
    /// # Safety
    ///
    /// `bytes` can be read and written, and N is at most that and at least half of it.
    #[inline(always)]
    unsafe fn halves<const N: usize>(from: *const u8, to: *mut u8, bytes: usize) {
        // SAFETY: both pieces lie within the bytes.
        unsafe {
            let first = *from.cast::<[u8; N]>();
            let last = *from.add(bytes - N).cast::<[u8; N]>();
            *to.cast() = first;
            *to.add(bytes - N).cast() = last;
        }
    }
    // SAFETY: the caller's.
    unsafe {
        match bytes {
            32.. => halves::<32>(from, to, bytes),
            16.. => halves::<16>(from, to, bytes),
            8.. => halves::<8>(from, to, bytes),
            4.. => halves::<4>(from, to, bytes),
            2.. => halves::<2>(from, to, bytes),
            1 => *to = *from,
            0 => {}
        }
    }
}

/// Any count, with streaming stores for whole lines. Inlined, there would be one for each kernel, for nothing but time to compile.
///
/// # Safety
///
/// As for [`ZipFn`].
#[inline(never)]
pub(super) unsafe fn stream(zip: &Zip, shape: &Shape) {
    let (block, step) = (shape.block(), shape.destination_step());
    let rows_agree = shape.direction == Direction::Together || zip.stride % LINE as isize == 0;
    let whole_lines = (zip.destination.addr() | (zip.count * step)).is_multiple_of(LINE);
    if zip.count > 0 && zip.count.is_multiple_of(block) && rows_agree && whole_lines {
        // SAFETY: the caller's: whole blocks, and whole lines of each row of the destination.
        return unsafe { (shape.stream)(zip) };
    }
    if zip.count < 2 * block || zip.count * step < 4 * LINE {
        // SAFETY: the caller's.
        return unsafe { (shape.plain)(zip) };
    }
    if shape.any_alignment {
        let whole = zip.count / block * block;
        // SAFETY: the caller's: whole blocks, and less than one.
        return unsafe {
            (shape.stream)(&shape.part(zip, 0, whole));
            end(zip, shape, whole..zip.count);
        };
    }
    let start =
        (0..LINE.min(zip.count - block)).find(|i| (zip.destination as usize + i * step).is_multiple_of(LINE));
    let Some(start) = start.filter(|_| rows_agree) else {
        // SAFETY: the caller's.
        return unsafe { buffered(zip, shape) };
    };
    let line = LINE / shape.size;
    let whole = (zip.count - start) / line * line;
    // SAFETY: head, whole blocks and tail are the rows (`count` is at least a block beyond `start`), and the blocks begin on
    // lines. Head and tail are less than a line of elements.
    unsafe {
        end(zip, shape, 0..start);
        if whole > 0 {
            (shape.stream)(&shape.part(zip, start, whole));
        }
        end(zip, shape, start + whole..zip.count);
    }
}

/// The elements before the first whole block, or behind the last one, and nothing else: a line that went past the cache, and is
/// then written through it, comes from memory again.
///
/// # Safety
///
/// As for [`ZipFn`]; there are two blocks and a line of elements, and these are less than a line of them.
unsafe fn end(zip: &Zip, shape: &Shape, elements: Range<usize>) {
    if elements.is_empty() {
        return;
    }
    let mut buffer = MaybeUninit::<Ends>::uninit();
    let buffer = buffer.as_mut_ptr().cast::<u8>();
    let count = (LINE / shape.size).max(shape.block());
    let (step, first) = (shape.destination_step(), elements.start.min(zip.count - count));
    let (rows, pitch) =
        if shape.direction == Direction::Together { (1, zip.stride) } else { (shape.ways, LINE as isize) };
    let part = shape.part(zip, first, count);
    // SAFETY: these `count` elements are among those of the rows; each row of the buffer has room for them: a line for each way.
    // What is written are the elements that were asked for, which are among them.
    unsafe {
        (shape.plain)(&Zip { destination: buffer, stride: pitch, ahead: 0, ..part });
        for row in 0..rows {
            let from = buffer.wrapping_offset(row as isize * pitch).add((elements.start - first) * step);
            let to = zip.destination.offset(row as isize * zip.stride).add(elements.start * step);
            drain(from, to, elements.len() * step, true);
        }
    }
}

#[repr(align(64))]
struct Ends {
    _bytes: [u8; LINE * WAYS],
}

/// Any count, put together in a buffer and streamed from there.
///
/// Each destination row has a row of the buffer. A pass fills it behind the bytes that the last pass left, which were
/// less than a line, and streams what has become whole lines.
///
/// # Safety
///
/// As for [`ZipFn`].
unsafe fn buffered(zip: &Zip, shape: &Shape) {
    let mut buffer = MaybeUninit::<Buffer>::uninit();
    let buffer = buffer.as_mut_ptr().cast::<u8>();
    let rows = if shape.direction == Direction::Together { 1 } else { shape.ways };
    let step = shape.destination_step();
    // Bytes of a row of the buffer: what was left, in front of LINE; then what a pass adds.
    let room = BUFFER / rows / LINE * LINE;
    let pass = (room / step / shape.block() * shape.block()).max(shape.block());
    let pitch = pass * step + LINE;
    let mut left = [0; WAYS];
    let mut done = 0;
    while done < zip.count {
        let count = pass.min(zip.count - done);
        let added = count * step;
        let last = done + count == zip.count;
        // SAFETY: the buffer holds `rows` rows of `pitch` bytes: `pass * step` is at most BUFFER / rows, or a block's
        // 64 * 16 / rows. Each destination byte is written once, in order, from the place in the buffer where the pass
        // or an earlier one put it.
        unsafe {
            let part = shape.part(zip, done, count);
            let stride = if rows == 1 { zip.stride } else { pitch as isize };
            (shape.plain)(&Zip { destination: buffer.add(LINE), stride, ..part });
            for (k, left) in left.iter_mut().enumerate().take(rows) {
                let to = part.destination.offset(k as isize * zip.stride).wrapping_sub(*left);
                let row = buffer.add(k * pitch);
                *left = drain(row.add(LINE - *left), to, *left + added, last);
                if *left > 0 {
                    *row.cast() = *row.add(added).cast::<[u8; LINE]>();
                }
            }
        }
        done += count;
    }
}

#[repr(align(64))]
struct Buffer {
    _bytes: [u8; BUFFER + LINE * WAYS],
}

/// Streams `bytes` bytes up to the last whole line, and what is before the first one plainly. What is behind the last one
/// is left for later and its bytes returned, or copied plainly if `last`.
///
/// # Safety
///
/// The bytes can be read and written, and do not overlap.
unsafe fn drain(from: *const u8, to: *mut u8, bytes: usize, last: bool) -> usize {
    let head = (to as usize).wrapping_neg() % LINE;
    if head > bytes {
        if last {
            // SAFETY: the caller's.
            unsafe { short(from, to, bytes) };
            return 0;
        }
        return bytes;
    }
    let lines = (bytes - head) / LINE;
    let tail = bytes - head - lines * LINE;
    // SAFETY: head, lines and tail are the bytes; the lines are aligned in the destination.
    unsafe {
        short(from, to, head);
        for line in 0..lines {
            stream_line(from.add(head + line * LINE), to.add(head + line * LINE));
        }
        if last {
            short(from.add(bytes - tail), to.add(bytes - tail), tail);
            return 0;
        }
    }
    tail
}

/// # Safety
///
/// 64 bytes can be read and written; `to` is a multiple of 64.
#[inline(always)]
unsafe fn stream_line(from: *const u8, to: *mut u8) {
    // SAFETY: the caller's; these instructions are part of x86-64.
    unsafe {
        for i in 0..4 {
            _mm_stream_si128(to.cast::<__m128i>().add(i), _mm_loadu_si128(from.cast::<__m128i>().add(i)));
        }
    }
}
