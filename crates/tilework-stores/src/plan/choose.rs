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
    // Room for both sides of a task.
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
                let most = u64::try_from(room / others.max(1)).unwrap_or(u64::MAX);
                // Whole pieces, so that no block goes through one.
                block[dim] = (most / pieces[dim].max(1)).max(1).saturating_mul(pieces[dim]).min(sizes[dim]);
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
        let least = a.largest().min(b.largest()).max(1);
        (middle / least).max(1).saturating_mul(least)
    });
    found.push(halfway.collect());
    found.sort_unstable();
    found.dedup();
    found.iter().map(|pieces| Grid::regular(&sizes, pieces)).collect()
}
