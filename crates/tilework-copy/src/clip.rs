//! The part of a nest that falls into a range of the destination.

use tilework_core::{Few, Loop, Nest};

/// The parts of some nests whose places are in `low..high` of the destination, with places counted from `low`.
///
/// Loops run from the largest step in the destination to the smallest, so that the turns of a loop that fall into the
/// range whole follow each other. They are one nest; of what is partly in the range, the inner loops are looked at.
pub(crate) fn clip(nests: &[Nest], low: u64, high: u64) -> Vec<Nest> {
    let mut parts = Vec::new();
    for nest in nests {
        let mut nest = nest.clone();
        nest.tidy();
        for &(from, to) in &nest.starts {
            cut(from, to, &nest.loops, low, high, &mut parts);
        }
    }
    parts
}

/// How many places the loops reach over.
fn span(loops: &[Loop]) -> u64 {
    loops.iter().map(|l| (l.extent - 1) * l.to.unsigned_abs()).sum::<u64>() + 1
}

fn cut(from: u64, to: u64, loops: &[Loop], low: u64, high: u64, parts: &mut Vec<Nest>) {
    if to >= high || to + span(loops) <= low {
        return;
    }
    if to >= low && to + span(loops) <= high {
        push(from, to - low, loops, parts);
        return;
    }
    // A single place is in the range or out of it, so there is a loop.
    let Some((outer, inner)) = loops.split_first() else { return };
    let (step, reach) = (outer.to.unsigned_abs(), span(inner));
    // Turns from `first` on are not wholly below the range, turns up to `last` not wholly above it.
    let first = (low + 1).saturating_sub(to + reach).div_ceil(step.max(1)).min(outer.extent);
    let last = if to >= high { 0 } else { ((high - 1 - to) / step.max(1) + 1).min(outer.extent) };
    let place =
        |turn: u64| (from.wrapping_add_signed(outer.from.wrapping_mul(turn as i64)), to + turn * step);
    let whole = |turn: u64| place(turn).1 >= low && place(turn).1 + reach <= high;
    let mut turn = first;
    while turn < last {
        let (from, to) = place(turn);
        if !whole(turn) {
            cut(from, to, inner, low, high, parts);
            turn += 1;
            continue;
        }
        let end = ((high - reach - to) / step.max(1) + 1 + turn).min(last);
        let mut loops: Few<Loop, 6> = inner.into();
        if end - turn > 1 {
            loops.insert(0, Loop { extent: end - turn, ..*outer });
        }
        push(from, to - low, &loops, parts);
        turn = end;
    }
}

/// Adds a part, to a nest with the same loops if the last one is.
fn push(from: u64, to: u64, loops: &[Loop], parts: &mut Vec<Nest>) {
    match parts.last_mut() {
        Some(nest) if nest.loops[..] == *loops => nest.starts.push((from, to)),
        _ => parts.push(Nest { starts: [(from, to)].into(), loops: loops.into() }),
    }
}
