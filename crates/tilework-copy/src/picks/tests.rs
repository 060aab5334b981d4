//! Tables, carried out byte by byte: what patterns say is looked at without the instructions that use them.

use smallvec::SmallVec;

use super::block::{Run, runs};
use super::table::{Hull, tables};
use crate::guard_tests::Dice;
use crate::kernels::net::LANE;
use crate::kernels::picks::{Kind, TAKEN, Table};
use crate::kernels::vector::LINE;
use crate::nest::{Turn, Turns};

/// What a table with windows of some width makes of bytes, which begin at the place `low`.
fn carried_out(table: &Table, width: usize, (source, low): (&[u8], isize), out: &mut [u8]) {
    let all: Vec<u8> = table.patterns.iter().flat_map(|bytes| bytes.0).collect();
    // Where windows are short, what is taken from another pick has the bit.
    let turned = if width < LINE { TAKEN } else { 0 };
    let mut picks = table.picks.iter();
    let groups = table.groups.iter().flat_map(|group| std::iter::repeat_n(group, group.windows));
    assert_eq!(groups.clone().count(), table.windows.len());
    for (window, group) in table.windows.iter().zip(groups) {
        let mut line = vec![None; width];
        for (k, pick) in picks.by_ref().take(group.count).enumerate() {
            let begin = (pick.from as isize - low) as usize;
            if group.kind == Kind::Lanes {
                let lane = source[begin..begin + LANE].iter().copied().map(Some);
                line.splice(k * LANE..(k + 1) * LANE, lane);
                continue;
            }
            let bytes = &source[begin..begin + if group.short { LANE } else { width }];
            for (byte, &pattern) in line.iter_mut().zip(&all[pick.pattern as usize..][..width]) {
                let pattern = pattern ^ turned;
                if pattern & TAKEN != 0 {
                    assert_eq!(byte.replace(bytes[usize::from(pattern & !TAKEN)]), None);
                }
            }
        }
        assert!(width == LINE || (window.mask + 1).is_power_of_two(), "{:#x}", window.mask);
        for (k, byte) in line.into_iter().enumerate() {
            assert_eq!(byte.is_some(), window.mask >> k & 1 == 1);
            if let Some(byte) = byte {
                out[window.to as usize + k] = byte;
            }
        }
    }
    assert!(picks.next().is_none());
}

/// Loops in a random order, with gaps on either side, backward, repeating or not.
fn loops(dice: &mut Dice, size: usize) -> (Turns, isize) {
    let mut turns = Turns::new();
    let mut room = 3000 / size;
    while room > 1 && turns.len() < 6 {
        let extent = dice.of(&[2, 3, 3, 4, 5, 7, 8, 16, 33, 64]).min(room);
        turns.push(Turn { extent, from: 0, to: 0 });
        room /= extent.max(1);
    }
    let mut start = 0;
    for destination in [false, true] {
        for k in (1..turns.len()).rev() {
            turns.swap(k, dice.below(k as u64 + 1) as usize);
        }
        let mut step = size as isize * dice.of(&[1, 1, 1, 2, 3]);
        for turn in &mut turns {
            let last = turn.extent as isize - 1;
            match (destination, dice.below(6)) {
                (true, _) => turn.to = step,
                (false, 0) => (turn.from, start) = (-step, start + step * last),
                (false, 1) => continue,
                (false, _) => turn.from = step,
            }
            step = step * turn.extent as isize + size as isize * dice.of(&[0, 0, 0, 1, 9]);
        }
    }
    (turns, start)
}

/// Runs that no loops make: of any lengths, with gaps, and often as far from each other as a short window is long.
fn uneven(dice: &mut Dice, size: usize) -> Vec<Run> {
    let mut to = 0;
    let one = |_| {
        let run = Run {
            to,
            from: (size * dice.below(400) as usize) as isize,
            length: size * (1 + dice.below(6) as usize),
        };
        let next = to + run.length as isize;
        to = dice.of(&[next, next + size as isize, to + LANE as isize]).max(next);
        run
    };
    (0..60).map(one).collect()
}

#[test]
fn every_byte_comes_where_its_loops_bring_it() {
    let mut dice = Dice(5);
    let mut counts = [[0; 2]; 2];
    for _ in 0..3000 {
        let width = dice.of(&[LANE, LINE]);
        let size = dice.of(&[1_usize, 2, 4, 8, 16]);
        let runs = if dice.below(4) == 0 {
            uneven(&mut dice, size)
        } else {
            let (turns, start) = loops(&mut dice, size);
            let Some(mut runs) = runs(size, turns) else { continue };
            runs.iter_mut().for_each(|run| run.from += start);
            runs
        };
        let low = runs.iter().map(|run| run.from).min().unwrap_or(0);
        let high = runs.iter().map(|run| run.from + run.length as isize).max().unwrap_or(0);
        if high - low < width as isize {
            continue;
        }
        let source: Vec<u8> = (0..high - low).map(|at| ((at * 40503) >> 3) as u8).collect();
        let end = runs.iter().map(|run| run.to as usize + run.length).max().unwrap_or(0);
        let mut wanted = vec![0xa5; end];
        for run in &runs {
            wanted[run.to as usize..][..run.length]
                .copy_from_slice(&source[(run.from - low) as usize..][..run.length]);
        }
        let parts = width < LINE || dice.below(2) == 0;
        let Ok(Some((tables, bytes))) = tables(&runs, width, Hull { low, high }, parts, f64::INFINITY) else {
            panic!("no table: {runs:?}");
        };
        let mut out = vec![0xa5; end];
        match &tables[..] {
            [one] => carried_out(one, width, (&source, low), &mut out),
            [first, second] => {
                let mut between = vec![0; bytes];
                carried_out(first, width, (&source, low), &mut between);
                carried_out(second, width, (&between, 0), &mut out);
            }
            _ => panic!("{} passes", tables.len()),
        }
        assert!(out == wanted, "{runs:?}\n{tables:?}");
        counts[usize::from(width == LINE)][tables.len() - 1] += 1;
    }
    assert!(counts.iter().flatten().all(|&count| count > 50), "{counts:?}");
}

#[test]
fn bytes_that_lie_in_a_row_on_both_sides_are_one_run() {
    let turns = [Turn { extent: 3, from: 40, to: 12 }, Turn { extent: 3, from: 4, to: 4 }];
    let found = runs(4, turns.into_iter().collect::<SmallVec<_>>());
    let wanted = [0, 1, 2].map(|k| Run { to: 12 * k, from: 40 * k, length: 12 });
    assert_eq!(found.as_deref(), Some(&wanted[..]));
}
