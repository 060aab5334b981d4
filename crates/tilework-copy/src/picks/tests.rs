//! Tables, carried out byte by byte: what patterns say is looked at without the instructions that use them.

use smallvec::SmallVec;

use super::block::{Run, runs};
use super::table::{Hull, tables};
use crate::guard_tests::Dice;
use crate::kernels::picks::{TAKEN, Table};
use crate::kernels::vector::LINE;
use crate::nest::{Turn, Turns};

/// What a table makes of bytes, which begin at the place `low`.
fn carried_out(table: &Table, (source, low): (&[u8], isize), out: &mut [u8]) {
    let mut picks = table.picks.iter();
    let counts = table.groups.iter().flat_map(|&(count, windows)| std::iter::repeat_n(count, windows));
    assert_eq!(counts.clone().count(), table.windows.len());
    for (window, count) in table.windows.iter().zip(counts) {
        let mut line = [None; LINE];
        for pick in picks.by_ref().take(count) {
            let begin = (pick.from as isize - low) as usize;
            let bytes = &source[begin..begin + LINE];
            for (byte, &pattern) in line.iter_mut().zip(&table.patterns[pick.pattern as usize].0) {
                if pattern & TAKEN != 0 {
                    assert_eq!(byte.replace(bytes[usize::from(pattern & !TAKEN)]), None);
                }
            }
        }
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

#[test]
fn every_byte_comes_where_its_loops_bring_it() {
    let mut dice = Dice(5);
    let mut counts = [0; 2];
    for _ in 0..2000 {
        let size = dice.of(&[1_usize, 2, 4, 8, 16]);
        let (turns, start) = loops(&mut dice, size);
        let Some(mut runs) = runs(size, turns) else { continue };
        runs.iter_mut().for_each(|run| run.from += start);
        let low = runs.iter().map(|run| run.from).min().unwrap_or(0);
        let high = runs.iter().map(|run| run.from + run.length as isize).max().unwrap_or(0);
        if high - low < LINE as isize {
            continue;
        }
        let source: Vec<u8> = (0..high - low).map(|at| ((at * 40503) >> 3) as u8).collect();
        let end = runs.iter().map(|run| run.to as usize + run.length).max().unwrap_or(0);
        let mut wanted = vec![0xa5; end];
        for run in &runs {
            wanted[run.to as usize..][..run.length]
                .copy_from_slice(&source[(run.from - low) as usize..][..run.length]);
        }
        let Some((tables, bytes)) = tables(&runs, 1, Hull { low, high }, dice.below(2) == 0) else {
            panic!("no table: {runs:?}");
        };
        let mut out = vec![0xa5; end];
        match &tables[..] {
            [one] => carried_out(one, (&source, low), &mut out),
            [first, second] => {
                let mut between = vec![0; bytes];
                carried_out(first, (&source, low), &mut between);
                carried_out(second, (&between, 0), &mut out);
            }
            _ => panic!("{} passes", tables.len()),
        }
        assert!(out == wanted, "{runs:?}\n{tables:?}");
        counts[tables.len() - 1] += 1;
    }
    assert!(counts.iter().all(|&count| count > 100), "{counts:?}");
}

#[test]
fn bytes_that_lie_in_a_row_on_both_sides_are_one_run() {
    let turns = [Turn { extent: 3, from: 40, to: 12 }, Turn { extent: 3, from: 4, to: 4 }];
    let found = runs(4, turns.into_iter().collect::<SmallVec<_>>());
    let wanted = [0, 1, 2].map(|k| Run { to: 12 * k, from: 40 * k, length: 12 });
    assert_eq!(found.as_deref(), Some(&wanted[..]));
}
