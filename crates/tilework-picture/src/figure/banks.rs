//! Which bank of a GPU's shared memory each element is in.
//!
//! Shared memory has 32 banks, each 4 bytes wide. When 32 threads read words that differ but fall into one bank, the reads
//! wait for each other; where they read the same word, none waits. That is what swizzles are made for: a row and a column of
//! a tile should both fall into as many banks as there are.

use tilework_core::Layout;

use super::canvas::Canvas;
use super::cells::{Look, Note, Notes};
use super::paint::Colour;
use super::{Options, array_grid, fit, headed};
use crate::scene::{Cell, Grid, Head};

const BANKS: u128 = 32;
/// The bytes of a word, as wide as a bank.
const WORD: u128 = 4;

/// Whether elements are of a width that threads read at once.
pub(crate) fn applies(layout: &Layout) -> bool {
    layout.rank() > 0 && !layout.is_empty() && layout.bits() <= 128
}

/// The word of the place at an offset.
fn word(layout: &Layout, offset: u64) -> u128 {
    u128::from(offset) * u128::from(layout.bits()) / 8 / WORD
}

/// How many threads read at a time: of elements wider than a bank fewer, as the hardware splits such a read.
fn threads(layout: &Layout) -> u64 {
    32 / u64::from(layout.bits().div_ceil(32).next_power_of_two())
}

/// How many different words fall into one bank when threads read elements one after the other in a dimension.
fn conflict(layout: &Layout, mut index: Vec<u64>, dim: usize) -> u64 {
    let mut words = Vec::new();
    for at in 0..threads(layout).min(layout.dims()[dim]) {
        index[dim] = at;
        if let Ok(offset) = layout.offset(&index) {
            words.push(word(layout, offset));
        }
    }
    words.sort_unstable();
    words.dedup();
    let in_bank = |bank: u128| words.iter().filter(|&&word| word % BANKS == bank).count() as u64;
    words.iter().map(|word| in_bank(word % BANKS)).max().unwrap_or(0)
}

pub(crate) fn view(layout: &Layout, options: &Options) -> Option<(Grid, Canvas)> {
    if !applies(layout) {
        return None;
    }
    let bank = |offset: Option<u64>| offset.map_or(0, |offset| word(layout, offset) % BANKS);
    let text = |cell: &Cell| bank(cell.offset).to_string();
    let fill = |offset: Option<u64>, _: &[u64]| Colour::Step((bank(offset) / 4) as u8);
    // Conflicts of the rows and columns that are shown; the grid is made again wherever fewer columns fit.
    let draw = |grid: &Grid| {
        let note = |lane: Head, of: Option<usize>, along: Option<usize>| -> Note {
            let along = along?;
            let mut index: Vec<u64> = match &grid.slice {
                Some(slice) => slice.iter().map(|at| at.unwrap_or(0)).collect(),
                None => vec![0; layout.rank()],
            };
            match (lane, of) {
                (Head::Index(at), Some(of)) => index[of] = at,
                (Head::None, None) => {}
                _ => return None,
            }
            let times = conflict(layout, index, along);
            Some((format!("{times}×"), if times > 1 { Colour::Alarm } else { Colour::Faint }))
        };
        let (row_dim, column_dim) = (grid.row_dim, grid.column_dim);
        let row = |row: usize| note(grid.rows[row].head, row_dim, column_dim);
        let column = |column: usize| note(grid.columns[column].head, column_dim, row_dim);
        let look = Look {
            theme: options.theme,
            text: Some(&text),
            fill: Some(&fill),
            framed: false,
            notes: Some(Notes { row: &row, column: &column }),
        };
        super::cells::draw(grid, &look)
    };
    let grid = |room| array_grid(layout, room, options);
    let (grid, piece) = fit(options, options.rows, grid, draw)?;
    let threads = threads(layout);
    let heading = format!(
        "banks: the bank (of 32, each 4 bytes wide) that holds each element; beside a row and below a column, how many \
         different words of one bank the first {threads} reads of it need: 1× is no conflict"
    );
    Some((grid, headed(&heading, piece, options)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilework_core::{Result, Swizzle};

    #[test]
    fn conflicts_are_different_words_of_one_bank() -> Result<()> {
        let rows = Layout::row_major(&[64, 64], 32)?;
        assert_eq!((conflict(&rows, vec![3, 0], 1), conflict(&rows, vec![0, 5], 0)), (1, 32));
        // A place more in each row, and the banks of a column differ.
        let padded = Layout::strided(&[64, 64], 32, &[65, 1], None, None)?;
        assert_eq!((conflict(&padded, vec![3, 0], 1), conflict(&padded, vec![0, 5], 0)), (1, 1));
        // Two elements of 16 bits are one word, which is read once for both.
        let halves = Layout::row_major(&[64, 64], 16)?;
        assert_eq!((conflict(&halves, vec![0, 0], 1), conflict(&halves, vec![0, 0], 0)), (1, 32));
        // Eight runs of 16 bytes take turns: of 32 rows, four share a bank.
        let swizzled = halves.swizzled(&Swizzle::new(3, 3, 3)?)?;
        assert_eq!((conflict(&swizzled, vec![0, 0], 1), conflict(&swizzled, vec![0, 0], 0)), (1, 4));
        // Elements of 8 bytes are read by 16 threads at a time.
        let wide = Layout::row_major(&[64, 64], 64)?;
        assert_eq!((threads(&wide), conflict(&wide, vec![0, 0], 1)), (16, 1));
        // A broadcast reads one word.
        let same = Layout::row_major(&[64], 32)?.broadcast(&[64, 64])?;
        assert_eq!(conflict(&same, vec![0, 0], 0), 1);
        Ok(())
    }
}
