//! Blocks whose elements of 4 bits meet in a byte only when they are written.

use tilework_core::{Loop, Nest};

use super::rows::{FRONT, pitch};
use crate::cost::cost;
use crate::exec::{self, Buffers, Scratch};
use crate::kernels::rows;
use crate::kernels::vector::LINE;
use crate::nest::ByteNest;
use crate::setting::Setting;
use crate::step::Step;
use crate::subbyte::{Half, Join, alternate, join};
use crate::ways;

/// How the rows of the destination come from those of the source.
///
/// A row of the destination alternates between elements of even and of odd rows of the source. The even ones are transposed as the bytes that
/// they are, the odd ones likewise: a row of one result holds a byte for each, of which one half goes to one row of the destination and one to
/// the next. The phases of both are known only when a block is.
#[derive(Debug)]
pub(super) struct Halves {
    join: Join,
    /// From row to row of the source, in elements.
    apart: i64,
    /// Elements of a row of the destination, and of one of the source.
    rows: usize,
    columns: usize,
    /// Bytes from one row of a result to the next.
    pitch: usize,
    /// The transposes, by how many rows and bytes they have.
    steps: Vec<((usize, usize), Vec<Step>)>,
    pub(super) cost: f64,
}

impl Halves {
    /// For rows of the source that begin with an even element, and with an odd one, as far as they do.
    pub(super) fn new(rows: Loop, columns: usize, phases: [bool; 2], setting: Setting) -> Halves {
        let mut halves = Halves {
            join: join(setting.set),
            apart: rows.from,
            rows: rows.extent as usize,
            columns,
            pitch: pitch(rows.extent as usize / 2 + 1),
            steps: Vec::new(),
            cost: 0.0,
        };
        for number in 0..2 {
            for phase in (0..2).filter(|&phase| phases[phase]) {
                let size = halves.size(number, phase);
                if size.0 == 0 || halves.steps.iter().any(|(found, _)| *found == size) {
                    continue;
                }
                // Every other row, so that what the loop counts in elements is bytes.
                let across = Loop { extent: size.0 as u64, from: rows.from, to: 1 };
                let along = Loop { extent: size.1 as u64, from: 1, to: halves.pitch as i64 };
                let nest = Nest { starts: [(halves.back(size.0), 0)].into(), loops: [along, across].into() };
                let steps = ways::choose(ByteNest::new(&nest, 1), setting);
                halves.cost =
                    halves.cost.max(2.0 * steps.iter().map(|step| cost(step, setting)).sum::<f64>());
                halves.steps.push((size, steps));
            }
        }
        halves
    }

    /// Rows and bytes of the even rows or the odd ones, if these begin with an even element or with an odd one.
    fn size(&self, number: usize, phase: usize) -> (usize, usize) {
        ((self.rows + 1 - number) / 2, (self.columns + phase).div_ceil(2))
    }

    /// How far the bytes of so many rows reach back from where the first begins.
    fn back(&self, rows: usize) -> u64 {
        (rows as u64).saturating_sub(1) * self.apart.min(0).unsigned_abs()
    }

    pub(super) fn steps(&self) -> impl Iterator<Item = &Step> {
        self.steps.iter().flat_map(|(_, steps)| steps)
    }

    /// Bytes of one result.
    fn result(&self) -> usize {
        (self.columns / 2 + 1) * self.pitch
    }

    /// Bytes of both.
    pub(super) fn bytes(&self) -> usize {
        FRONT + 2 * self.result()
    }

    /// Moves a block from an element of the source to where the function says in the destination, for each column. Past the cache with room
    /// for a row.
    ///
    /// # Safety
    /// 1. The elements of the block are within the buffers; nobody else writes those of the source, or touches the bytes of the destination.
    /// 2. The results have their bytes, and a row as many as one of the destination.
    pub(super) unsafe fn run(
        &self,
        setting: Setting,
        from: u64,
        places: impl Iterator<Item = u64>,
        (results, past): (*mut u8, Option<*mut u8>),
        buffers: Buffers,
        scratch: &mut Scratch,
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            let result = |number: usize| results.add(FRONT + number * self.result());
            let mut phases = [0; 2];
            for (number, phase) in phases.iter_mut().enumerate().take(self.rows) {
                let first = from.wrapping_add_signed(number as i64 * self.apart);
                *phase = (first % 2) as usize;
                let size = self.size(number, *phase);
                let byte = (first / 2 - self.back(size.0)) as usize;
                let between = Buffers {
                    source: buffers.source.add(byte),
                    source_bytes: buffers.source_bytes - byte,
                    destination: result(number),
                    destination_bytes: self.result(),
                };
                let steps = self.steps.iter().find(|(found, _)| *found == size);
                for step in steps.into_iter().flat_map(|(_, steps)| steps) {
                    exec::run(setting.set, step, 0..step.units(), between, scratch);
                }
            }
            let half = |number: usize, column: usize| {
                let place = phases[number] + column;
                Half { row: result(number).add(place / 2 * self.pitch), high: !place.is_multiple_of(2) }
            };
            for (column, place) in places.enumerate() {
                debug_assert!((place as usize + self.rows).div_ceil(2) <= buffers.destination_bytes);
                let store = |low: Half, high: Half, to: *mut u8, bytes: usize| match past {
                    Some(row) if bytes >= LINE => {
                        (self.join)(low, high, row, bytes);
                        rows::stream_out(setting.set, row, to, bytes);
                    }
                    _ => (self.join)(low, high, to, bytes),
                };
                alternate((half(0, column), half(1, column)), self.rows, (buffers.destination, place), store);
            }
        }
    }
}
