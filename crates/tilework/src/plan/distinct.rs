//! Whether each element has a place of its own in the destination, and if not, which two do not.

use std::ops::ControlFlow;

use crate::ask::compare::TABLE_LIMIT;
use crate::ask::locate::{LOCATE_LIMIT, Step, solve};
use crate::error::{Error, Result};
use crate::layout::Layout;

/// Condition of every plan: no two elements share a place of the destination.
pub(super) fn check(to: &Layout) -> Result<()> {
    match to.is_injective() {
        Some(true) => Ok(()),
        known => search(to, known == Some(false)),
    }
}

/// Looks for two elements at one place, so that they can be named, or to know whether there are any.
#[cold]
fn search(to: &Layout, known: bool) -> Result<()> {
    let rule = "a destination has a place for every element; only a source may broadcast or overlap";
    let pair = match shared_by_rule(to) {
        None if to.len() <= TABLE_LIMIT => match shared_by_table(to) {
            None => return Ok(()),
            pair => pair,
        },
        pair => pair,
    };
    let Some((a, b)) = pair else {
        let found = if known { "two elements share a place" } else { "elements may share a place" };
        return Err(Error::new(found)
            .field("destination")
            .rule(format!(
                "{rule}; where strides overlap, {TABLE_LIMIT} elements or {LOCATE_LIMIT} steps are looked at"
            ))
            .accepts("strides each larger than what the smaller ones reach, or a smaller array"));
    };
    let (a, b) = if a < b { (a, b) } else { (b, a) };
    let place = to.offset(&a).unwrap_or(0);
    Err(Error::new(format!("elements {} and {} are both at {place}", index(&a), index(&b)))
        .field("destination")
        .rule(rule)
        .accepts("strides that keep elements apart"))
}

fn index(index: &[u64]) -> String {
    let numbers: Vec<String> = index.iter().map(u64::to_string).collect();
    format!("({})", numbers.join(", "))
}

/// Two elements.
type Pair = (Vec<u64>, Vec<u64>);

/// Two elements at one place along a broadcast dimension, or by the strides.
fn shared_by_rule(to: &Layout) -> Option<Pair> {
    if let Some(&dim) = to.broadcast_dims().first() {
        let first = vec![0; to.rank()];
        let mut second = first.clone();
        second[dim] = 1;
        return Some((first, second));
    }
    shared_by_strides(to.dims(), &to.canon().strides()?)
}

/// Two elements at one place, found by sorting the offsets of all.
fn shared_by_table(to: &Layout) -> Option<Pair> {
    let mut offsets = Vec::with_capacity(to.len() as usize);
    to.for_each_in_index_order(|_, offset| offsets.push(offset));
    offsets.sort_unstable();
    let place = offsets.windows(2).find(|pair| pair[0] == pair[1])?[0];
    let mut first: Option<Vec<u64>> = None;
    let walk = to.walk_index_order(|index, offset| {
        if offset == place {
            match first.take() {
                Some(first) => return ControlFlow::Break((first, index.to_vec())),
                None => first = Some(index.to_vec()),
            }
        }
        ControlFlow::Continue(())
    });
    walk.break_value()
}

/// Two elements share a place exactly if some differences, each below its size in magnitude and not all 0, add up to 0
/// when multiplied by the strides. The first of them that is not 0 may be taken to be positive.
fn shared_by_strides(sizes: &[u64], strides: &[i64]) -> Option<Pair> {
    let dims: Vec<usize> = (0..sizes.len()).filter(|&dim| sizes[dim] > 1).collect();
    for (place, &first) in dims.iter().enumerate() {
        let rest = &dims[place + 1..];
        let stride = |dim: usize| strides[dim].unsigned_abs();
        let mut steps = vec![Step { stride: stride(first), count: sizes[first] - 1 }];
        steps.extend(rest.iter().map(|&dim| Step { stride: stride(dim), count: 2 * sizes[dim] - 1 }));
        let reach: i128 = rest.iter().map(|&dim| i128::from(stride(dim)) * i128::from(sizes[dim] - 1)).sum();
        let mut found = None;
        let _ = solve(&steps, reach - i128::from(stride(first)), &mut |values| {
            let (mut a, mut b) = (vec![0; sizes.len()], vec![0; sizes.len()]);
            // The differences, those of negative strides counted the other way.
            let differences = values.iter().enumerate().map(|(place, &value)| match place {
                0 => value as i64 + 1,
                _ => value as i64 - (sizes[rest[place - 1]] as i64 - 1),
            });
            for (&dim, difference) in dims[place..].iter().zip(differences) {
                let along = if strides[dim] < 0 { -difference } else { difference };
                *(if along > 0 { &mut a } else { &mut b }).get_mut(dim).unwrap_or(&mut 0) =
                    along.unsigned_abs();
            }
            found = Some((b, a));
            true
        });
        if found.is_some() {
            return found;
        }
    }
    None
}
