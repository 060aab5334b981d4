//! What steps cost, as an estimate that tells good kernels from bad ones.

use crate::kernels::grid::AT_ONCE;
use crate::kernels::vector::LINE;
use crate::kernels::{self, net::LANE};
use crate::setting::Setting;
use crate::step::{Part, Step, Store, Work};

/// What a call of a kernel costs, in lines that are touched.
const CALL: usize = 10;

/// Where at least this many units follow each other that differ only in where they are, one costs half a call.
const STRETCH: usize = 4;

/// What a row costs that is copied by itself, beside its lines: on Intel's processors (Sapphire Rapids), and on others (Zen 4), where
/// rows of 72 to 132 bytes beat lists by a third and more.
const ROW: [usize; 2] = [4, 2];

/// What a step costs, in lines that are touched: an estimate that tells good kernels from bad ones.
pub(crate) fn cost(step: &Step, setting: Setting) -> f64 {
    let (mut rows, mut columns) = (1, 1);
    let mut units = step.starts.len() as f64;
    for outer in &step.outer {
        match outer.part {
            Part::Rows(cut) => rows = cut.piece,
            Part::Columns(cut) => columns = cut.piece,
            Part::Whole => {}
        }
        // The last piece may be a part of one.
        units *= match outer.part {
            Part::Rows(cut) | Part::Columns(cut) => cut.whole as f64 / cut.piece as f64,
            Part::Whole => outer.turn.extent as f64,
        };
    }
    // Lines of pieces of so many bytes, at such a step.
    let read = |count: usize, length: usize, step: isize| match step.unsigned_abs() {
        step if step < LINE => (count * step + length).div_ceil(LINE),
        _ => count * length.div_ceil(LINE),
    };
    // What is written in parts comes from memory first, if no cache keeps it.
    let written = |count: usize, length: usize, step: isize| match step.unsigned_abs() {
        step if step <= length => (count * step + length).div_ceil(LINE),
        step if step.is_multiple_of(LINE) && length.is_multiple_of(LINE) => count * length / LINE,
        step if step < LINE => (count * step).div_ceil(LINE) * (1 + usize::from(setting.streams)),
        _ => count * (length / LINE + 1 + usize::from(setting.streams)),
    };
    // What is done for a unit is less where many follow each other, and a short loop goes in one call.
    let turns = step.outer.last().map_or(1, |outer| outer.turn.extent);
    let call = if turns >= STRETCH { CALL / 2 } else { CALL };
    let lines = match step.work {
        Work::Network(ref blocks) => blocks.cost(setting),
        Work::Picks(ref picks) => picks.cost(setting),
        Work::Transpose { size, from, to, store, .. } => {
            let lines = read(rows, columns * size, from)
                + match store {
                    Store::Plain => written(columns, rows * size, to),
                    Store::Stream => columns * rows * size / LINE,
                    Store::Carry => columns * rows * size / LINE * 5 / 4,
                    Store::Stage | Store::StageWhole => 2 * columns * rows * size / LINE,
                };
            // Wide elements in the last cache: one by one is often quicker, wherever lines begin.
            let lines = match store {
                Store::Plain if size == LANE && setting.fetches => lines * 5 / 4,
                _ => lines,
            };
            // Registers that are not full, or less than a quarter full; and within the cache it is instructions that count, and
            // these are more.
            let part = rows.min(columns) * size;
            CALL + match (part, setting.fetches || size < 4) {
                (..LANE, _) => lines * 3 / 2 * LANE / part,
                (..LINE, _) => lines * 3 / 2,
                (_, true) => lines,
                (_, false) => lines * 7 / 6,
            }
        }
        Work::Interleave { size, ways, stride, .. } => {
            call + read(ways, columns * size, stride) + columns * size * ways / LINE
        }
        Work::Deinterleave { size, ways, stride, .. } => {
            call + columns * size * ways / LINE + written(ways, columns * size, stride)
        }
        Work::Runs { length, from, to, .. } => {
            (CALL / turns).max(1) + read(rows, length, from) + written(rows, length, to) + rows / 2
        }
        Work::Copy { length, .. } => {
            rows * (2 * length.div_ceil(LINE) + ROW[usize::from(!kernels::slow_last_cache())])
        }
        Work::Grid { size, from, to, .. } => {
            // As many as there are elements of one loop, times the lines along the other; but all lie within one span.
            let touched = |steps: (isize, isize)| {
                let span = |count: usize, step: isize| (count - 1) * step.unsigned_abs();
                let (down, across) = (span(rows, steps.0), span(columns, steps.1));
                let lines = |count: usize, span: usize| count.min((span + size).div_ceil(LINE));
                (rows * lines(columns, across))
                    .min(columns * lines(rows, down))
                    .min((down + across + size).div_ceil(LINE))
            };
            // Within the nearer caches it is elements, and else it is lines that are waited for. The widest are a register each.
            let (lines, each) = match (setting.fetches, size) {
                (true, LANE) if !setting.streams => (touched(from) + touched(to), 1),
                // What is written through the cache comes from memory first.
                (true, _) if setting.streams => (touched(from) + 2 * touched(to), 4),
                (true, _) => (touched(from) + touched(to), 4),
                (false, LANE) => (0, 8),
                (false, _) => (0, 5),
            };
            call + lines + rows * columns * each / 16 + rows * columns.div_ceil(AT_ONCE) / 2
        }
        Work::Line { size, from, to, .. } => {
            let each = if kernels::in_vectors(size, from, to) { rows * size / LINE } else { rows / 2 };
            call + read(rows, size, from) + written(rows, size, to) + each
        }
        Work::Splat { .. } => CALL / 2 + step.weight.div_ceil(LINE),
        _ => 2 * step.weight.div_ceil(LINE),
    };
    lines as f64 * units
}
