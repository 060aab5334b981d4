//! Choosing blocks and passes.

use tilework::{Error, ErrorKind, Result};

use super::{Between, End, Hold, Pass, Plan, Wanted, price};
use crate::cut::Cut;
use crate::grid::Grid;
use crate::store::Cost;

/// A second pass has to spare as much of the time: it takes room on a disk, and time that no price counts.
const WORTH: f64 = 0.8;

pub(super) fn plan(from: &End, to: &End, wanted: &Wanted) -> Result<Plan> {
    let one = pass(from, to, wanted);
    let plan = |passes| Plan { passes, memory: wanted.memory, assumed: wanted.assumed };
    let mut best: Option<(f64, Vec<Pass>)> = match &one {
        Ok(pass) => Some((price::of(pass, &wanted.assumed)?.seconds * WORTH, vec![pass.clone()])),
        Err(_) => None,
    };
    if let Some(between) = wanted.between {
        for grid in grids(from, to, wanted.memory)? {
            let middle = end(grid, from.bits, between);
            let two =
                pass(from, &middle, wanted).and_then(|first| Ok(vec![first, pass(&middle, to, wanted)?]));
            let Ok(two) = two else { continue };
            let seconds =
                two.iter().map(|pass| Ok(price::of(pass, &wanted.assumed)?.seconds)).sum::<Result<f64>>()?;
            if best.as_ref().is_none_or(|(before, _)| seconds < *before) {
                best = Some((seconds, two));
            }
        }
    }
    match (best, one) {
        (Some((_, passes)), _) => Ok(plan(passes)),
        (None, one) => Ok(plan(vec![one?])),
    }
}

/// An array between, in row-major pieces.
fn end(grid: Grid, bits: u32, between: Between) -> End {
    let largest = grid.cuts().iter().map(|cut| u128::from(cut.largest())).fold(1, u128::saturating_mul);
    let bytes = u64::try_from(largest.saturating_mul(bits.into()).div_ceil(8)).unwrap_or(u64::MAX);
    let memory = if between.mapped { 0 } else { bytes };
    let cost = Cost { memory, bytes, requests: 1, partial: between.mapped, coding: 0 };
    let order = (0..grid.cuts().len()).rev().collect();
    End { grid, cost, hangs_over: false, bits, order: Some(order) }
}

/// The pass that takes the least time and fits the memory.
fn pass(from: &End, to: &End, wanted: &Wanted) -> Result<Pass> {
    let sources = pass_with(Hold::Sources, from, to, wanted);
    let targets = pass_with(Hold::Targets, from, to, wanted);
    match (sources, targets) {
        (Ok((least, _)), Ok((seconds, pass))) if seconds < least * 0.999 => Ok(pass),
        (Ok((_, pass)), _) | (Err(_), Ok((_, pass))) => Ok(pass),
        (Err(error), Err(_)) => Err(error),
    }
}

/// The same for tasks that hold one side or the other, with its seconds.
///
/// Blocks grow along one dimension after the other, each time along the one that spares the most, as long as one spares
/// something.
fn pass_with(hold: Hold, from: &End, to: &End, wanted: &Wanted) -> Result<(f64, Pass)> {
    let rank = to.grid.cuts().len();
    let mut pass = Pass { from: from.clone(), to: to.clone(), block: vec![1; rank], hold };
    let need = pass.memory()?;
    if need > wanted.memory.into() {
        return Err(Error::new(format!(
            "a task of {need} bytes: a target piece of {} and a source piece of {}",
            to.cost.memory, from.cost.memory
        ))
        .of_kind(ErrorKind::Limit)
        .field("memory")
        .rule(format!("a task holds up to {} bytes", wanted.memory))
        .accepts("more memory, fewer threads, or smaller pieces"));
    }
    let mut seconds = price::of(&pass, &wanted.assumed)?.seconds;
    loop {
        let mut best: Option<(f64, Vec<u64>)> = None;
        for dim in 0..rank {
            for pieces in growths(&from.grid.cuts()[dim], &to.grid.cuts()[dim], pass.block[dim]) {
                let mut block = pass.block.clone();
                block[dim] = pieces;
                let grown = Pass { block, ..pass.clone() };
                if grown.memory()? > wanted.memory.into() {
                    continue;
                }
                let found = price::of(&grown, &wanted.assumed)?.seconds;
                if found < seconds * 0.999 && best.as_ref().is_none_or(|(before, _)| found < *before) {
                    best = Some((found, grown.block));
                }
            }
        }
        let Some((found, block)) = best else { return Ok((seconds, pass)) };
        (seconds, pass.block) = (found, block);
    }
}

/// Larger blocks along a dimension: twice as many pieces or somewhat more, shares of all, and as many as end where source pieces
/// do.
fn growths(from: &Cut, to: &Cut, block: u64) -> Vec<u64> {
    let count = to.count();
    // All of them in one block, or in as many as there may be workers.
    let mut found: Vec<u64> = (0..12).map(|halves| count.div_ceil(1 << halves)).collect();
    found.extend([block.saturating_mul(2), block.saturating_add(block.div_ceil(4))]);
    if let (Some(source), Some(target)) = (from.regular(), to.regular()) {
        let both = source / tilework::arithmetic::gcd(source, target); // target pieces until edges meet
        found.extend([block.saturating_mul(both), source.div_ceil(target)]);
        // As many as source pieces are a multiple of, so that blocks do not go through them.
        found.extend((2..=4).map(|times| source.saturating_mul(times) / target));
    }
    found.retain_mut(|pieces| {
        *pieces = (*pieces).min(count);
        *pieces > block
    });
    found.sort_unstable();
    found.dedup();
    found
}

/// Grids for an array between: what blocks of source pieces and blocks of target pieces share, for blocks that fill the memory
/// along one dimension first, and the grid halfway between the two.
fn grids(from: &End, to: &End, memory: u64) -> Result<Vec<Grid>> {
    let sizes = from.grid.sizes();
    let rank = sizes.len();
    if sizes.contains(&0) {
        return Ok(Vec::new());
    }
    // No dimension is empty, so every piece and every block has elements. Room for both sides of a task.
    let room = u128::from(memory / 2).saturating_mul(8) / u128::from(from.bits.max(1));
    let blocks = |end: &End| -> Vec<Vec<u64>> {
        let pieces: Vec<u64> =
            end.grid.cuts().iter().map(|cut| cut.regular().unwrap_or(cut.largest())).collect();
        let filled = (0..rank).map(|first| {
            let mut block: Vec<u64> =
                pieces.iter().zip(&sizes).map(|(piece, &size)| (*piece).min(size)).collect();
            for dim in (0..rank).map(|turn| (first + turn) % rank) {
                let others: u128 = (0..rank)
                    .filter(|&other| other != dim)
                    .map(|other| u128::from(block[other]))
                    .fold(1, u128::saturating_mul);
                let most = u64::try_from(room / others).unwrap_or(u64::MAX);
                // Whole pieces, so that no block goes through one.
                block[dim] = (most / pieces[dim]).max(1).saturating_mul(pieces[dim]).min(sizes[dim]);
            }
            block
        });
        filled.collect()
    };
    let (reads, writes) = (blocks(from), blocks(to));
    let mut found: Vec<Vec<u64>> = Vec::new();
    for read in &reads {
        for write in &writes {
            found.push(read.iter().zip(write).map(|(a, b)| *a.min(b)).collect());
        }
    }
    let halfway = from.grid.cuts().iter().zip(to.grid.cuts()).map(|(a, b)| {
        let middle = (a.largest() as f64 * b.largest() as f64).sqrt() as u64;
        // A multiple of the smaller, so that it is cut at its edges.
        let least = a.largest().min(b.largest());
        (middle / least).max(1).saturating_mul(least)
    });
    found.push(halfway.collect());
    found.sort_unstable();
    found.dedup();
    found.iter().map(|pieces| Grid::regular(&sizes, pieces)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Assumed;

    /// Row-major pieces, held as they are.
    fn rows(sizes: &[u64], pieces: &[u64], bits: u32) -> Result<End> {
        Ok(end(Grid::regular(sizes, pieces)?, bits, Between { mapped: false }))
    }

    #[test]
    fn blocks_grow_to_shares_of_all_and_to_where_source_pieces_end() -> Result<()> {
        let cut = |piece| Cut::every(1000, piece);
        let shares = [16, 32, 63, 125, 250];
        assert_eq!(growths(&cut(10)?, &cut(4)?, 2), [&[3, 4, 5, 7, 8, 10][..], &shares].concat());
        // Twice as many are 20, a quarter more are 13, 50 are five source pieces.
        assert_eq!(growths(&cut(10)?, &cut(4)?, 10), [13, 16, 20, 32, 50, 63, 125, 250]);
        // One source piece touches 5 of 3, three end where 14 of them do; two and four end within one.
        assert_eq!(growths(&cut(14)?, &cut(3)?, 1), [2, 3, 5, 6, 9, 11, 14, 18, 21, 42, 84, 167, 334]);
        assert_eq!(growths(&Cut::every(10, 10)?, &Cut::every(10, 4)?, 1), [2, 3]);
        let (all, halves) = (1 << 20, (9..=20).map(|power| 1 << power));
        let irregular = Cut::at(vec![0, 1, all])?;
        assert_eq!(
            growths(&irregular, &Cut::every(all, 1)?, 1),
            [2].into_iter().chain(halves).collect::<Vec<u64>>()
        );
        Ok(())
    }

    #[test]
    fn pieces_between_are_what_blocks_of_both_sides_share() -> Result<()> {
        // Room for 160 elements on each side. Blocks of what is read: 15 x 10 and 3 x 40; of what is written: 27 x 7, where one
        // piece is more than the room. The one halfway is 9 = sqrt(3 · 27) by 7, as sqrt(10 · 7) is less than 14.
        let wanted = [[3, 7], [9, 7], [15, 7]].map(|pieces| Grid::regular(&[40, 40], &pieces));
        let wanted: Vec<Grid> = wanted.into_iter().collect::<Result<_>>()?;
        for (bits, memory) in [(16, 640), (1, 40)] {
            let (from, to) = (rows(&[40, 40], &[3, 10], bits)?, rows(&[40, 40], &[27, 7], bits)?);
            assert_eq!(grids(&from, &to, memory)?, wanted, "{bits} bits");
        }
        assert_eq!(grids(&rows(&[0, 40], &[3, 10], 16)?, &rows(&[0, 40], &[27, 7], 16)?, 640)?, []);
        Ok(())
    }

    #[test]
    fn an_array_between_is_in_rows_and_takes_no_memory_where_it_is_mapped() -> Result<()> {
        for mapped in [false, true] {
            let found = end(Grid::regular(&[5, 7], &[3, 3])?, 4, Between { mapped });
            let memory = if mapped { 0 } else { 5 };
            assert_eq!(found.cost, Cost { memory, bytes: 5, requests: 1, partial: mapped, coding: 0 });
            assert_eq!((found.order, found.hangs_over, found.bits), (Some(vec![1, 0]), false, 4));
        }
        Ok(())
    }

    #[test]
    fn two_passes_are_taken_where_one_does_not_fit() -> Result<()> {
        let whole = rows(&[3 << 20], &[3 << 20], 8)?;
        let wanted =
            Wanted { memory: 4 << 20, assumed: Assumed::disk(1), between: Some(Between { mapped: true }) };
        assert_eq!(plan(&whole, &whole, &wanted)?.passes.len(), 2);
        assert!(plan(&whole, &whole, &Wanted { between: None, ..wanted.clone() }).is_err());
        assert_eq!(plan(&whole, &whole, &Wanted { memory: 6 << 20, ..wanted })?.passes.len(), 1);
        Ok(())
    }

    #[test]
    fn columns_of_rows_hold_as_many_targets_as_fit_to_the_byte() -> Result<()> {
        // Of rows and columns of 4 KiB: every column needs every row.
        let (from, to) = (rows(&[1024; 2], &[1, 1024], 32)?, rows(&[1024; 2], &[1024, 1], 32)?);
        let wanted = |pieces: u64| Wanted { memory: 4096 * pieces, assumed: Assumed::disk(1), between: None };
        for (pieces, block) in [(2, 1), (65, 64), (66, 64)] {
            let found = plan(&from, &to, &wanted(pieces))?;
            assert_eq!(found.passes[0].block, [1, block], "{pieces}");
            let hold = if block == 1 { Hold::Sources } else { Hold::Targets };
            assert_eq!(found.passes[0].hold, hold, "{pieces}");
        }
        assert!(plan(&from, &to, &Wanted { memory: 8191, ..wanted(2) }).is_err());
        Ok(())
    }
}
