//! Nests of elements below a byte, in blocks.

use std::fmt;

use smallvec::SmallVec;
use tilework_core::{InOrder, Loop, Nest};

use super::halves::Halves;
use super::rows::{Order, ROOM, Rows, by};
use crate::convert::{Conversion, held_bits};
use crate::cost::cost;
use crate::fetch;
use crate::kernels::vector::LINE;
use crate::nest::ByteNest;
use crate::setting::Setting;
use crate::step::Step;
use crate::subbyte::{self, Exchange, Widen};
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

/// What a row costs whose first and last byte hold others' elements as well, in lines that are touched: these are read just after they
/// were written.
const END: f64 = 8.0;

/// A nest of elements below a byte, in blocks.
#[derive(Debug)]
pub(crate) struct Wide {
    pub(super) setting: Setting,
    pub(super) form: Form,
    /// Cells of a byte.
    pub(super) in_byte: usize,
    /// Where the first block begins, in cells.
    pub(super) starts: SmallVec<[(u64, u64); 1]>,
    /// From block to block.
    pub(super) outer: Vec<Loop>,
    /// How many of these loops have turns that share no bytes; they come first.
    pub(super) divided: usize,
    /// Whether no two blocks share a byte, nor one of them with anything else.
    pub(super) is_whole: bool,
    pub(super) source: Rows,
    pub(super) destination: Rows,
    /// Where the lines of the source's rows are, in bytes from the block's place: some for each row, or group of rows, that goes to A or
    /// to the destination.
    pub(super) fetch: Vec<isize>,
    /// How many of them for each.
    pub(super) fetches: usize,
    /// From the source or A to B or the destination.
    pub(super) steps: Vec<Step>,
    /// The same for halves of bytes.
    pub(super) halves: Option<Halves>,
    /// As in [`Cells`].
    pub(super) conversion: Option<Conversion>,
    /// How far a block goes back in the source from its place, in cells.
    pub(super) back: u64,
    pub(super) cells: u64,
    pub(super) cost: f64,
}

/// A nest in cells, and how many of them are in a byte. If cells are bytes, one of its loops is over the rows of a group.
#[derive(Clone, Debug)]
pub(super) struct Cells {
    pub(super) form: Form,
    pub(super) bits: u32,
    pub(super) nest: Nest,
    pub(super) group: Option<usize>,
    /// How elements change on one side, where they have bytes of their own; those of the other side have 4 bits, and are widened.
    pub(super) conversion: Option<Conversion>,
}

impl Wide {
    /// A nest whose loops are cut into pieces, all of them whole.
    pub(super) fn new(cells: &Cells, pieces: &[u64], setting: Setting) -> Option<Wide> {
        let Cells { form, bits, ref nest, group, conversion } = *cells;
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
            Halves::new(rows, destination.at.len(), [begins(0), begins(1)], setting.near())
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
        let near = Setting { streams, once, ..setting.near() };
        let steps = match form {
            Form::Halves => Vec::new(),
            _ => ways::choose(ByteNest::new(&bytes, 1), near),
        };

        let in_byte = u64::from(8 / bits);
        let whole = |place: i64| place.unsigned_abs().is_multiple_of(in_byte);
        let to_bytes = conversion.is_some_and(|conversion| held_bits(conversion.to()) >= 8);
        let is_whole = to_bytes
            || nest.starts.iter().all(|start| whole(start.1 as i64))
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
        let paced = if has_a { &source } else { &destination }.at.len();
        // Where elements are converted first, their rows are read one after the other, which needs no fetching.
        let reads_bytes = conversion.is_some_and(|conversion| held_bits(conversion.from()) >= 8);
        let fetch = if setting.fetches && !reads_bytes {
            let in_step =
                nest.starts.iter().all(|start| start.0.is_multiple_of(in_byte as u64 * LINE as u64))
                    && outer.iter().all(|l| l.from.unsigned_abs().is_multiple_of((in_byte * LINE) as u64));
            let lines = fetch::lines(source.spans(in_byte), in_step);
            fetch::spread(&lines, lines.len().next_multiple_of(paced))
        } else {
            Vec::new()
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
            fetches: fetch.len() / paced,
            fetch,
            steps,
            halves,
            conversion,
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
    pub(super) fn blocks(&self) -> usize {
        let starts = if self.is_whole { 1 } else { self.starts.len() };
        starts * self.outer[self.divided..].iter().map(|l| l.extent as usize).product::<usize>()
    }

    /// Bytes that a unit writes, about.
    pub(crate) fn weight(&self) -> usize {
        let bits = self.conversion.map_or(8 / self.in_byte, |conversion| held_bits(conversion.to()) as usize);
        (self.blocks() * (self.cells as usize * bits).div_ceil(8)).max(1)
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
