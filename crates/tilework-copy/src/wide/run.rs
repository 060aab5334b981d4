//! Runs blocks.

use std::ops::Range;

use tilework_core::{Element, Loop};

use super::block::{Form, Wide};
use super::halves::Halves;
use super::rows::Rows;
use crate::convert::{Conversion, held_bits};
use crate::exec::{self, Buffers, Scratch};
use crate::kernels::rows;
use crate::kernels::vector::{LINE, prefetch};
use crate::subbyte::{Exchange, Group, Past, Widen};

/// Rows are read so many bytes ahead at least. Of less the memory has none ready: 4489 columns of 4 bits took 24 ms with 64 bytes, 15 ms with
/// this (Zen 4).
const AHEAD: isize = 192;

/// A line of scratch.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; LINE]);

/// A, B and a row of a thread, kept from step to step.
#[derive(Default)]
pub(crate) struct Blocks(Vec<Line>);

impl Blocks {
    /// A, B and a row, with room for so many bytes each.
    fn bytes(&mut self, bytes: [usize; 3]) -> [*mut u8; 3] {
        let lines = bytes.map(|bytes| bytes.div_ceil(LINE));
        self.0.resize(self.0.len().max(lines.iter().sum()), Line([0; LINE]));
        let (a, behind) = self.0.split_at_mut(lines[0]);
        let (b, row) = behind.split_at_mut(lines[1]);
        [a, b, row].map(|lines| lines.as_mut_ptr().cast())
    }
}

impl Wide {
    /// Where the block of a number begins on either side, in cells.
    fn place(&self, mut number: usize) -> (u64, u64) {
        let (mut from, mut to) = (0_u64, 0_u64);
        let mut step = |loops: &[Loop]| {
            for l in loops.iter().rev() {
                let turn = (number % l.extent as usize) as i64;
                number /= l.extent as usize;
                // Wraps to the right value where a stride is negative: the place is within the source.
                from = from.wrapping_add_signed(turn.wrapping_mul(l.from));
                to = to.wrapping_add_signed(turn.wrapping_mul(l.to));
            }
        };
        step(&self.outer);
        let start = self.starts[number.min(self.starts.len() - 1)];
        (start.0.wrapping_add(from), start.1.wrapping_add(to))
    }

    /// Runs a range of units.
    ///
    /// # Safety
    /// 1. The nest's places are within the buffers, which do not overlap.
    /// 2. Nobody else writes what these units read, or touches the bytes that they write.
    /// 3. The machine has the instructions of the setting's set.
    pub(crate) unsafe fn run(&self, units: Range<usize>, buffers: Buffers, scratch: &mut Scratch) {
        let mut blocks = std::mem::take(&mut scratch.wide);
        let b = self.halves.as_ref().map_or(self.destination.bytes, Halves::bytes);
        let row = match self.conversion {
            Some(_) => 16 * self.source.length.max(self.destination.length) + 2 * LINE,
            None => self.destination.length + LINE,
        };
        let [a, b, row] = blocks.bytes([self.source.bytes, b, row]);
        let (first, end) = (units.start * self.blocks(), units.end * self.blocks());
        let mut here = if first < end { self.place(first) } else { (0, 0) };
        for number in first..end {
            let next = if number + 1 < end { self.place(number + 1) } else { here };
            let (from, to) = here;
            // The beginning of the next block in the source, as it is fetched.
            let ahead = self.ahead(from, next.0);
            let ahead =
                buffers.source.wrapping_add((from >> self.in_byte.ilog2()) as usize).wrapping_offset(ahead);
            let mut fetch = self.fetch.chunks(self.fetches.max(1));
            let mut some = || {
                fetch.next().into_iter().flatten().for_each(|&line| prefetch(ahead.wrapping_offset(line)));
            };
            // SAFETY: the block is a part of the nest; A and B have room for its rows, which `Rows::new` saw to.
            unsafe {
                match self.form {
                    Form::Widened(widen) => {
                        self.widen(&widen, from, some, (a, row), buffers);
                        self.step(self.between(a, b), scratch);
                        self.narrow(&widen, (b, row), to, buffers);
                    }
                    Form::Before(exchange) => {
                        self.exchange_before(exchange, from, some, a, buffers);
                        let between = Buffers {
                            destination: buffers.destination.add(to as usize),
                            destination_bytes: buffers.destination_bytes - to as usize,
                            ..self.between(a, b)
                        };
                        self.step(between, scratch);
                    }
                    Form::After(exchange) => {
                        let from = (from - self.back) as usize;
                        let between = Buffers {
                            source: buffers.source.add(from),
                            source_bytes: buffers.source_bytes - from,
                            ..self.between(a, b)
                        };
                        self.step(between, scratch);
                        self.exchange_after(exchange, b, to, some, buffers);
                    }
                    Form::Halves => {
                        let places = self.destination.at.iter().map(|&(at, _)| {
                            some();
                            to.wrapping_add_signed(at)
                        });
                        let past = self.streams().then_some(row);
                        if let Some(halves) = &self.halves {
                            halves.run(self.setting, from, places, (b, past), buffers, scratch);
                        }
                    }
                }
            }
            here = next;
        }
        scratch.wide = blocks;
    }

    /// From A to B.
    fn between(&self, a: *mut u8, b: *mut u8) -> Buffers {
        Buffers {
            source: a,
            source_bytes: self.source.bytes,
            destination: b,
            destination_bytes: self.destination.bytes,
        }
    }

    /// The conversion, if elements have whole bytes on a side, and how many.
    fn conversion_if(&self, side: fn(&Conversion) -> Element) -> Option<(&Conversion, usize)> {
        let conversion = self.conversion.as_ref()?;
        let bits = held_bits(side(conversion)) as usize;
        (bits >= 8).then_some((conversion, bits / 8))
    }

    /// Whether rows of the destination are stored past the cache.
    fn streams(&self) -> bool {
        self.setting.streams && self.destination.length >= self.in_byte * LINE
    }

    /// Moves the bytes of a block.
    ///
    /// # Safety
    /// As for [`exec::run`].
    unsafe fn step(&self, between: Buffers, scratch: &mut Scratch) {
        for step in &self.steps {
            // SAFETY: the caller's promise.
            unsafe { exec::run(self.setting.set, step, 0..step.units(), between, scratch) };
        }
    }

    /// Widens the rows of a block into A, and asks for some of the next one with each.
    ///
    /// # Safety
    /// As for [`Wide::run`], for the block whose place this is.
    unsafe fn widen(
        &self,
        widen: &Widen,
        from: u64,
        mut fetch: impl FnMut(),
        (a, packed): (*mut u8, *mut u8),
        buffers: Buffers,
    ) {
        let length = self.source.length;
        if let Some((conversion, size)) = self.conversion_if(Conversion::from) {
            for &(at, row) in &self.source.at {
                let first = from.wrapping_add_signed(at) as usize * size;
                debug_assert!(first + length * size <= buffers.source_bytes);
                // SAFETY: elements of the nest, and between them such as lie in the same array; scratch has room for a row.
                unsafe {
                    let read = std::slice::from_raw_parts(buffers.source.add(first), length * size);
                    conversion.contiguous(
                        length,
                        read,
                        std::slice::from_raw_parts_mut(packed, length.div_ceil(2)),
                    );
                    widen.row((packed, 0), length, a.add(row));
                }
            }
            return;
        }
        for &(at, row) in &self.source.at {
            let first = from.wrapping_add_signed(at);
            debug_assert!((first as usize + length).div_ceil(self.in_byte) <= buffers.source_bytes);
            fetch();
            // SAFETY: elements of the nest, and between them such as lie in the same array. What is touched behind the row is behind
            // A, or the beginning of a row that is yet to come.
            unsafe { widen.row((buffers.source, first), length, a.add(row)) };
        }
    }

    /// Narrows the rows of B into the destination.
    ///
    /// # Safety
    /// As for [`Wide::run`], for the block whose place this is.
    unsafe fn narrow(&self, widen: &Widen, (b, past): (*mut u8, *mut u8), to: u64, buffers: Buffers) {
        let length = self.destination.length;
        if let Some((conversion, size)) = self.conversion_if(Conversion::to) {
            for &(at, row) in &self.destination.at {
                let first = to.wrapping_add_signed(at) as usize * size;
                debug_assert!(first + length * size <= buffers.destination_bytes);
                // SAFETY: elements of the nest; scratch has room for a row of either kind.
                unsafe {
                    widen.back(b.add(row), length, None, (past, 0));
                    let packed = std::slice::from_raw_parts(past, length.div_ceil(2));
                    let to = buffers.destination.add(first);
                    if !self.streams() {
                        conversion.contiguous(
                            length,
                            packed,
                            std::slice::from_raw_parts_mut(to, length * size),
                        );
                        continue;
                    }
                    let wide = past.add((length.div_ceil(2)).next_multiple_of(LINE));
                    conversion.contiguous(
                        length,
                        packed,
                        std::slice::from_raw_parts_mut(wide, length * size),
                    );
                    rows::stream_out(self.setting.set, wide, to, length * size);
                }
            }
            return;
        }
        let store = |from: *const u8, to: *mut u8, bytes: usize| {
            // SAFETY: the middle of a row, which there is room for.
            unsafe { rows::stream_out(self.setting.set, from, to, bytes) }
        };
        let past: Option<Past> = if self.streams() { Some((past, &store)) } else { None };
        for &(at, row) in &self.destination.at {
            let first = to.wrapping_add_signed(at);
            debug_assert!((first as usize + length).div_ceil(self.in_byte) <= buffers.destination_bytes);
            // SAFETY: elements of the nest; what is read behind the row is within B.
            unsafe { widen.back(b.add(row), length, past, (buffers.destination, first)) };
        }
    }

    /// Exchanges the rows of a block on their way into A, and asks for some of the next one with each group.
    ///
    /// # Safety
    /// As for [`Wide::run`], for the block whose place this is.
    unsafe fn exchange_before(
        &self,
        exchange: Exchange,
        from: u64,
        mut fetch: impl FnMut(),
        a: *mut u8,
        buffers: Buffers,
    ) {
        let Rows { length, apart, .. } = self.source;
        for &(at, row) in &self.source.at {
            let first = from.wrapping_add_signed(at);
            fetch();
            // SAFETY: bytes of the nest, and rows of A.
            unsafe {
                exchange(&Group {
                    source: buffers.source.add(first as usize),
                    source_apart: apart.0 as isize,
                    destination: a.add(row),
                    destination_apart: apart.1 as isize,
                    bytes: length,
                });
            }
        }
    }

    /// Exchanges the rows of B on their way into the destination, and asks for some lines of the next block with each group.
    ///
    /// # Safety
    /// As for [`Wide::run`], for the block whose place this is.
    unsafe fn exchange_after(
        &self,
        exchange: Exchange,
        b: *mut u8,
        to: u64,
        mut fetch: impl FnMut(),
        buffers: Buffers,
    ) {
        let Rows { length, apart, group, .. } = self.destination;
        for &(at, row) in &self.destination.at {
            let first = to.wrapping_add_signed(at);
            debug_assert!(first as usize + length <= buffers.destination_bytes);
            fetch();
            // SAFETY: rows of B, and bytes of the nest.
            unsafe {
                let (source, destination) = (b.add(row), buffers.destination.add(first as usize));
                let apart = (apart.0 as isize, apart.1 as isize);
                let direct = Group {
                    source,
                    source_apart: apart.1,
                    destination,
                    destination_apart: apart.0,
                    bytes: length,
                };
                if !self.streams() {
                    exchange(&direct);
                    continue;
                }
                exchange(&Group { destination: source, destination_apart: apart.1, ..direct });
                for member in 0..group as isize {
                    let (from, to) = (source.offset(member * apart.1), destination.offset(member * apart.0));
                    rows::stream_out(self.setting.set, from, to, length);
                }
            }
        }
    }

    /// How many bytes ahead the next block's rows are asked for. Where they go on in the same rows, a block after that one.
    fn ahead(&self, here: u64, next: u64) -> isize {
        match (next.wrapping_sub(here) as i64 / self.in_byte as i64) as isize {
            near @ 1..AHEAD => (AHEAD + near - 1) / near * near,
            far => far,
        }
    }
}
