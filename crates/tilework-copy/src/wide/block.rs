//! Nests of elements below a byte, in blocks.

use std::fmt;
use std::ops::Range;

use smallvec::SmallVec;
use tilework_core::{InOrder, Loop, Nest};

use super::halves::Halves;
use super::rows::{Order, ROOM, Rows, by};
use crate::cost::cost;
use crate::exec::{self, Buffers, Scratch};
use crate::kernels::rows;
use crate::kernels::vector::{LINE, fetch};
use crate::nest::ByteNest;
use crate::setting::Setting;
use crate::step::Step;
use crate::subbyte::{self, Exchange, Group, Widen};
use crate::ways;

/// What becomes of elements on their way, and what they are counted in meanwhile: its *cells*.
#[derive(Clone, Copy, Debug)]
pub(super) enum Form {
    /// Bytes in A and B. A cell is an element.
    Widened(Widen),
    /// Exchanged on their way to A, from which bytes go to the destination. A cell is a byte.
    Before(Exchange),
    /// Exchanged on their way from B, to which bytes go from the source. A cell is a byte.
    After(Exchange),
    /// Halves of bytes that go from the source to B. A cell is an element.
    Halves,
}

/// Rows are read so many bytes ahead at least. Of less the memory has none ready: 4489 columns of 4 bits took 24 ms with 64 bytes, 15 ms with
/// this (Zen 4).
const AHEAD: isize = 192;

/// What a row costs whose first and last byte hold others' elements as well, in lines that are touched: these are read just after they
/// were written.
const END: f64 = 8.0;

/// A nest of elements below a byte, in blocks.
#[derive(Debug)]
pub(crate) struct Wide {
    setting: Setting,
    form: Form,
    /// Cells of a byte.
    in_byte: usize,
    /// Where the first block begins, in cells.
    starts: SmallVec<[(u64, u64); 1]>,
    /// From block to block.
    outer: Vec<Loop>,
    /// How many of these loops have turns that share no bytes; they come first.
    divided: usize,
    /// Whether no two blocks share a byte, nor one of them with anything else.
    is_whole: bool,
    source: Rows,
    destination: Rows,
    /// From the source or A to B or the destination.
    steps: Vec<Step>,
    /// The same for halves of bytes.
    halves: Option<Halves>,
    /// How far a block goes back in the source from its place, in cells.
    back: u64,
    cells: u64,
    cost: f64,
}

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

/// A nest in cells, and how many of them are in a byte. If cells are bytes, one of its loops is over the rows of a group.
#[derive(Clone, Debug)]
pub(super) struct Cells {
    pub(super) form: Form,
    pub(super) bits: u32,
    pub(super) nest: Nest,
    pub(super) group: Option<usize>,
}

impl Wide {
    /// A nest whose loops are cut into pieces, all of them whole.
    pub(super) fn new(cells: &Cells, pieces: &[u64], setting: Setting) -> Option<Wide> {
        let Cells { form, bits, ref nest, group } = *cells;
        let piece = |(l, &piece): (&Loop, &u64)| Loop { extent: piece, ..*l };
        let outer = |(l, &piece): (&Loop, &u64)| Loop {
            extent: l.extent / piece,
            from: l.from.wrapping_mul(piece as i64),
            to: l.to.wrapping_mul(piece as i64),
        };
        let inner: Vec<Loop> = nest.loops.iter().zip(pieces).map(piece).collect();
        let mut outer: Vec<Loop> = nest.loops.iter().zip(pieces).map(outer).collect();
        outer.retain(|l| l.extent > 1);

        let orders = [by(&inner, |l| l.from), by(&inner, |l| l.to)];
        // Groups are on the side where elements are exchanged.
        let [group_from, group_to] = match form {
            Form::Before(_) => [group, None],
            _ => [None, group],
        };
        let moving = |k: &usize, group: Option<usize>| inner[*k].extent > 1 && group != Some(*k);
        // In the source gaps are read that are no longer than what is between them, but for rows that are exchanged.
        let most = if group_from.is_none() { 2 } else { 1 };
        let mut span = 1;
        let source = orders[0].iter().copied().filter(|k| moving(k, group_from) && inner[*k].from != 0);
        let source = source.take_while(|&k| {
            let (step, turns) = (inner[k].from.unsigned_abs(), inner[k].extent);
            let near = step <= most * span;
            span = span.saturating_add((turns - 1).saturating_mul(step));
            near && span <= ROOM as u64 / 2
        });
        let source: Vec<usize> = source.collect();
        let mut length = 1;
        let destination = orders[1].iter().copied().filter(|k| moving(k, group_to)).take_while(|&k| {
            let goes_on = inner[k].to == length && (length == 1 || !matches!(form, Form::Halves));
            length *= inner[k].extent as i64;
            goes_on
        });
        let destination: Vec<usize> = destination.collect();
        let [has_a, has_b] = match form {
            Form::Widened(_) => [true, true],
            Form::Before(_) => [true, false],
            Form::After(_) => [false, true],
            Form::Halves => [false, false],
        };
        // Rows follow each other in the order of the other side, so that loops there go on as well.
        let order = Order { within: &source, across: &orders[1], group: group_from, buffered: has_a };
        let (source, first_from, from) = Rows::new(&inner, &order, |l| l.from)?;
        let order = Order { within: &destination, across: &orders[0], group: group_to, buffered: has_b };
        let (destination, first_to, to) = Rows::new(&inner, &order, |l| l.to)?;

        let rows = |l: &&Loop| l.to == 1;
        let halves = inner.iter().find(rows).filter(|_| matches!(form, Form::Halves)).map(|&rows| {
            let odd = outer.iter().any(|l| l.from % 2 != 0);
            let first =
                |number: i64| nest.starts.iter().map(move |start| start.0 as i64 + number * rows.from);
            let begins = |phase: i64| odd || first(0).chain(first(1)).any(|first| first & 1 == phase);
            let near = Setting { streams: false, fetches: false, fetches_blocks: false, ..setting };
            Halves::new(rows, destination.at.len(), [begins(0), begins(1)], near)
        });
        let direct = |side: fn(&Loop) -> i64| inner.iter().map(side).collect::<Vec<i64>>();
        let back = inner.iter().map(|l| (l.extent - 1) * l.from.min(0).unsigned_abs()).sum();
        let (start, from, to, streams) = match form {
            Form::Widened(_) => ((first_from, first_to), from, to, false),
            Form::Before(_) => ((first_from, 0), from, direct(|l| l.to), setting.streams),
            Form::After(_) => ((back, first_to), direct(|l| l.from), to, false),
            Form::Halves => ((0, 0), Vec::new(), Vec::new(), false),
        };
        let moved = inner.iter().zip(from.iter().zip(&to));
        let moved = moved.map(|(l, (&from, &to))| Loop { extent: l.extent, from, to });
        let bytes = Nest { starts: [start].into(), loops: moved.collect() };
        let blocks = outer.iter().map(|l| l.extent as f64).product::<f64>() * nest.starts.len() as f64;
        // Where there are few blocks it is not worth the time to look for the best way.
        let once = blocks < 8.0;
        let near = Setting { streams, fetches: false, fetches_blocks: false, once, ..setting };
        let steps = match form {
            Form::Halves => Vec::new(),
            _ => ways::choose(ByteNest::new(&bytes, 1), near),
        };

        let in_byte = u64::from(8 / bits);
        let whole = |place: i64| place.unsigned_abs().is_multiple_of(in_byte);
        let is_whole = nest.starts.iter().all(|start| whole(start.1 as i64))
            && outer.iter().all(|l| whole(l.to))
            && destination.at.iter().all(|&(at, _)| whole(at))
            && whole(destination.length as i64);
        outer.order_by_key(|l| {
            let (from, to) = (l.from.unsigned_abs(), l.to.unsigned_abs());
            std::cmp::Reverse((from.min(to), from))
        });
        let mut divided = outer.len();
        if !is_whole {
            let all =
                Nest { starts: nest.starts.clone(), loops: outer.iter().chain(&inner).copied().collect() };
            let apart: Vec<bool> =
                (0..outer.len()).map(|k| subbyte::shares_no_bytes(&all, k, bits)).collect();
            let part = |wanted: bool| {
                outer.iter().zip(&apart).filter(move |&(_, &apart)| apart == wanted).map(|(l, _)| *l)
            };
            divided = part(true).count();
            outer = part(true).chain(part(false)).collect();
        }
        let in_byte = in_byte as usize;
        let moved: f64 = steps.iter().map(|step| cost(step, near)).sum();
        let ends = if is_whole { 0.0 } else { END * destination.at.len() as f64 };
        let made = match form {
            Form::Widened(_) => source.cost() + destination.cost(),
            Form::Before(_) => source.cost(),
            Form::After(_) => destination.cost(),
            Form::Halves => destination.cost() + halves.as_ref().map_or(0.0, |halves| halves.cost),
        };
        let waited = if setting.fetches { source.lines(in_byte) + destination.lines(in_byte) } else { 0 };
        Some(Wide {
            setting,
            form,
            in_byte,
            starts: nest.starts.iter().copied().collect(),
            outer,
            divided,
            is_whole,
            source,
            destination,
            steps,
            halves,
            back,
            cells: inner.iter().map(|l| l.extent).product(),
            cost: (moved + made + ends + waited as f64) * blocks,
        })
    }

    /// Whether none of its bytes holds anything else.
    pub(crate) fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// What it costs, in lines that are touched.
    pub(crate) fn cost(&self) -> f64 {
        self.cost
    }

    pub(crate) fn units(&self) -> usize {
        let starts = if self.is_whole { self.starts.len() } else { 1 };
        starts * self.outer[..self.divided].iter().map(|l| l.extent as usize).product::<usize>()
    }

    /// Blocks of a unit.
    fn blocks(&self) -> usize {
        let starts = if self.is_whole { 1 } else { self.starts.len() };
        starts * self.outer[self.divided..].iter().map(|l| l.extent as usize).product::<usize>()
    }

    /// Bytes that a unit writes, about.
    pub(crate) fn weight(&self) -> usize {
        (self.blocks() * (self.cells as usize).div_ceil(self.in_byte)).max(1)
    }

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
        let [a, b, row] = blocks.bytes([self.source.bytes, b, self.destination.length + LINE]);
        let (first, end) = (units.start * self.blocks(), units.end * self.blocks());
        let mut here = if first < end { self.place(first) } else { (0, 0) };
        for number in first..end {
            let next = if number + 1 < end { self.place(number + 1) } else { here };
            let ahead = if self.setting.fetches { self.ahead(here.0, next.0) } else { 0 };
            let (from, to) = here;
            // SAFETY: the block is a part of the nest; A and B have room for its rows, which `Rows::new` saw to.
            unsafe {
                match self.form {
                    Form::Widened(widen) => {
                        self.widen(&widen, from, ahead, a, buffers);
                        self.step(self.between(a, b), scratch);
                        self.narrow(&widen, (b, row), to, buffers);
                    }
                    Form::Before(exchange) => {
                        self.exchange_before(exchange, from, ahead, a, buffers);
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
                        self.fetch_after(here.0, ahead, buffers);
                        self.step(between, scratch);
                        self.exchange_after(exchange, b, to, buffers);
                    }
                    Form::Halves => {
                        self.fetch_after(from, ahead, buffers);
                        let places = self.destination.at.iter().map(|&(at, _)| to.wrapping_add_signed(at));
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

    /// Widens the rows of a block into A, and asks for those of the next one, so many bytes ahead.
    ///
    /// # Safety
    /// As for [`Wide::run`], for the block whose place this is.
    unsafe fn widen(&self, widen: &Widen, from: u64, ahead: isize, a: *mut u8, buffers: Buffers) {
        let length = self.source.length;
        for &(at, row) in &self.source.at {
            let first = from.wrapping_add_signed(at);
            debug_assert!((first as usize + length).div_ceil(self.in_byte) <= buffers.source_bytes);
            self.fetch(first, ahead, buffers);
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
        let store = |from: *const u8, to: *mut u8, bytes: usize| {
            // SAFETY: the middle of a row, which there is room for.
            unsafe { rows::stream_out(self.setting.set, from, to, bytes) }
        };
        let past: Option<(*mut u8, &dyn Fn(*const u8, *mut u8, usize))> =
            if self.streams() { Some((past, &store)) } else { None };
        for &(at, row) in &self.destination.at {
            let first = to.wrapping_add_signed(at);
            debug_assert!((first as usize + length).div_ceil(self.in_byte) <= buffers.destination_bytes);
            // SAFETY: elements of the nest; what is read behind the row is within B.
            unsafe { widen.back(b.add(row), length, past, (buffers.destination, first)) };
        }
    }

    /// Exchanges the rows of a block on their way into A, and asks for those of the next one, so many bytes ahead.
    ///
    /// # Safety
    /// As for [`Wide::run`], for the block whose place this is.
    unsafe fn exchange_before(
        &self,
        exchange: Exchange,
        from: u64,
        ahead: isize,
        a: *mut u8,
        buffers: Buffers,
    ) {
        let Rows { length, group, apart, .. } = self.source;
        for &(at, row) in &self.source.at {
            let first = from.wrapping_add_signed(at);
            for member in 0..group as i64 {
                self.fetch(first.wrapping_add_signed(member * apart.0), ahead, buffers);
            }
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

    /// Exchanges the rows of B on their way into the destination.
    ///
    /// # Safety
    /// As for [`Wide::run`], for the block whose place this is.
    unsafe fn exchange_after(&self, exchange: Exchange, b: *mut u8, to: u64, buffers: Buffers) {
        let Rows { length, apart, group, .. } = self.destination;
        for &(at, row) in &self.destination.at {
            let first = to.wrapping_add_signed(at);
            debug_assert!(first as usize + length <= buffers.destination_bytes);
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

    /// Asks for all rows of the next block.
    fn fetch_after(&self, from: u64, ahead: isize, buffers: Buffers) {
        for &(at, _) in &self.source.at {
            self.fetch(from.wrapping_add_signed(at), ahead, buffers);
        }
    }

    /// Asks for a row of the next block, given where this block's row begins.
    fn fetch(&self, first: u64, ahead: isize, buffers: Buffers) {
        if ahead != 0 {
            let next =
                buffers.source.wrapping_add((first >> self.in_byte.ilog2()) as usize).wrapping_offset(ahead);
            let bytes = self.source.length.div_ceil(self.in_byte);
            (0..bytes).step_by(LINE).for_each(|line| fetch(next.wrapping_add(line)));
        }
    }
}

impl fmt::Display for Wide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted = |count: usize, one: &str| format!("{count} {one}{}", if count == 1 { "" } else { "s" });
        let rows = |rows: &Rows| counted(rows.at.len() * rows.group, "row");
        let (from, to) = (rows(&self.source), rows(&self.destination));
        match self.form {
            Form::Widened(_) => {
                let elements = self.cells;
                write!(
                    f,
                    "blocks of {elements} elements: {from} widened, moved as bytes, narrowed into {to}"
                )?;
            }
            Form::Before(_) => {
                write!(
                    f,
                    "blocks of {} B: elements exchanged among {from}, then moved as bytes",
                    self.cells
                )?;
            }
            Form::After(_) => {
                write!(f, "blocks of {} B: moved as bytes, then elements exchanged among {to}", self.cells)?;
            }
            Form::Halves => {}
        }
        if let Some(halves) = &self.halves {
            let elements = self.cells;
            write!(f, "blocks of {elements} elements: bytes moved, halves of them put together in {to}")?;
            for step in halves.steps() {
                write!(f, "; as bytes {step}")?;
            }
        }
        write!(f, "; {} of {} B", counted(self.units(), "unit"), self.weight())?;
        self.steps.iter().try_for_each(|step| write!(f, "; as bytes {step}"))
    }
}
