//! The passes, carried out byte by byte: what index vectors say is looked at without the instructions that use them.

use smallvec::SmallVec;

use super::network::{Network, divisible, network};
use super::squares;
use crate::guard_tests::Dice;
use crate::kernels::InstructionSet;
use crate::kernels::net::{Bytes, HALF, LANE, Pass, SLOTS, slot};
use crate::kernels::vector::LINE;
use crate::nest::{ByteNest, Turn};
use crate::setting::Setting;

type Line = Vec<u8>;

fn permuted(bytes: &Option<Bytes>, line: &Line) -> Line {
    match bytes {
        Some(bytes) => bytes.0[..line.len()].iter().map(|&from| line[from as usize]).collect(),
        None => line.clone(),
    }
}

/// What a pass makes of its lines.
fn carried_out(pass: &Pass, lines: &mut [Line]) {
    assert_eq!(lines.len(), 1 << pass.count);
    lines.iter_mut().for_each(|line| *line = permuted(&pass.before, line));
    for (stage, slots) in pass.stages[..pass.count].iter().enumerate() {
        for a in (0..lines.len()).filter(|a| a >> stage & 1 == 0) {
            let pair = [lines[a].clone(), lines[a | 1 << stage].clone()];
            for (line, slots) in [a, a | 1 << stage].into_iter().zip(slots) {
                let size = slot(pair[0].len());
                let byte = |byte: usize| {
                    let from = slots.wide[byte / size] as usize;
                    assert_eq!(from, usize::from(slots.narrow[byte / size]));
                    pair[from / SLOTS][from % SLOTS * size + byte % size]
                };
                lines[line] = (0..pair[0].len()).map(byte).collect();
            }
        }
    }
    lines.iter_mut().for_each(|line| *line = permuted(&pass.after, line));
}

/// All lines of a call.
fn called(network: &Network, lines: Vec<Line>) -> Vec<Line> {
    let mut lines = lines;
    let [one, rest @ ..] = &network.passes[..] else { panic!("no pass") };
    lines.chunks_mut(1 << one.count).for_each(|lines| carried_out(one, lines));
    let Some(two) = rest.first() else { return lines };
    let (each, groups) = (1 << one.count, 1 << two.count);
    for line in 0..each {
        let mut across: Vec<Line> = (0..groups).map(|group| lines[group * each + line].clone()).collect();
        carried_out(two, &mut across);
        (0..groups).for_each(|group| lines[group * each + line] = across[group].clone());
    }
    lines
}

/// Places of all turns of some loops.
fn places(nest: &ByteNest) -> Vec<(isize, isize)> {
    let mut places: Vec<_> = nest.starts.to_vec();
    for turn in &nest.turns {
        let step = |k: usize| (k as isize * turn.from, k as isize * turn.to);
        let all = places.iter().flat_map(|at| (0..turn.extent).map(|k| (at.0 + step(k).0, at.1 + step(k).1)));
        places = all.collect();
    }
    places
}

/// A nest with many short loops, each of which may run backward in the source.
fn many_loops(dice: &mut Dice) -> ByteNest {
    let size = dice.of(&[1_usize, 2, 4, 8, 16]);
    let mut extents = Vec::new();
    let mut room = (1 << 14) / size;
    while room > 1 && extents.len() < 9 {
        let extent = dice.of(&[2, 2, 2, 4, 4, 8, 16, 3, 6, 64]);
        if extent <= room {
            extents.push(extent);
        }
        room /= extent;
    }
    let mut turns: Vec<_> = extents.iter().map(|&extent| Turn { extent, from: 0, to: 0 }).collect();
    let mut start = 0;
    for destination in [false, true] {
        for k in (1..turns.len()).rev() {
            turns.swap(k, dice.below(k as u64 + 1) as usize);
        }
        let mut step = size as isize;
        for turn in &mut turns {
            if destination {
                turn.to = step;
            } else if dice.below(5) == 0 {
                turn.from = -step;
                start += step * (turn.extent as isize - 1);
            } else {
                turn.from = step;
            }
            step *= turn.extent as isize;
        }
    }
    turns.sort_by_key(|turn| std::cmp::Reverse(turn.to));
    ByteNest { starts: SmallVec::from_buf([(start, 0)]), size, turns: turns.into_iter().collect() }
}

#[test]
fn every_byte_comes_where_its_loops_bring_it() {
    let mut dice = Dice(3);
    let mut counts = [0; 7];
    for _ in 0..6000 {
        let nest = many_loops(&mut dice);
        let width = dice.of(&[LINE, HALF, LANE]);
        let Ok((network, around)) = network(&nest, width) else { continue };
        let bytes = nest.turns.iter().map(|turn| turn.extent).product::<usize>() * nest.size;
        let source: Vec<u8> = (0..bytes).map(|at| ((at * 40503) >> 3) as u8).collect();
        let (mut out, mut wanted) = (vec![0; bytes], vec![0; bytes]);
        for (from, to) in places(&nest) {
            wanted[to as usize..][..nest.size].copy_from_slice(&source[from as usize..][..nest.size]);
        }
        for (from, to) in places(&around) {
            let line = |step: &isize| source[(from + step) as usize..][..width].to_vec();
            let lines = called(&network, network.from.iter().map(line).collect());
            // Lines are written in the order that two passes leave them in.
            for (line, step) in lines.iter().zip(&network.to) {
                out[(to + step) as usize..][..width].copy_from_slice(line);
            }
        }
        assert!(out == wanted, "{nest:?}\n{network:?}");
        counts[network.from.len().trailing_zeros() as usize] += 1;
    }
    assert!(counts.iter().all(|&count| count > 5), "{counts:?}");
}

#[test]
fn what_does_not_divide_is_left_over_and_nothing_is_lost() {
    let mut dice = Dice(4);
    let mut split = 0;
    for _ in 0..2000 {
        let mut nest = many_loops(&mut dice);
        let Some(place) = (0..nest.turns.len()).max_by_key(|&place| nest.turns[place].extent) else {
            continue;
        };
        nest.turns[place].extent -= dice.below(3).min(nest.turns[place].extent as u64 - 1) as usize;
        let Some((part, rest)) = divisible(&nest, LINE) else { continue };
        assert!(network(&part, LINE).is_ok());
        split += usize::from(!rest.is_empty());
        let mut found: Vec<_> = rest.iter().chain([&part]).flat_map(places).collect();
        let mut wanted = places(&nest);
        found.sort_unstable();
        wanted.sort_unstable();
        assert!(found == wanted, "{nest:?}\n{part:?}\n{rest:?}");
    }
    assert!(split > 20, "{split}");
}

/// Of short rows a block takes more of the source, but no more than a list of calls has room for.
#[test]
fn short_rows_go_in_squares_past_the_cache_as_well() {
    for size in [1, 2, 4] {
        let step = size as isize;
        let turn = |extent, from, to| Turn { extent, from, to };
        let turns = [turn(5000, step, 40 * step), turn(4, 40_000, 8 * step), turn(8, 160_000, step)];
        let nest =
            ByteNest { starts: SmallVec::from_buf([(0, 0)]), size, turns: turns.into_iter().collect() };
        for set in InstructionSet::all_here() {
            let found = [false, true].map(|much| squares(&nest, LANE, Setting::of(set, much)).is_some());
            assert_eq!(found[1], found[0], "{set:?}, elements of {size} B");
        }
    }
}
