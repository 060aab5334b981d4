//! Whether each element has a place of its own in the destination, and if not, which two do not.

use std::ops::ControlFlow;

use crate::ask::compare::TABLE_LIMIT;
use crate::ask::locate::{LOCATE_LIMIT, Step, overlap_from};
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
    let place = to.sorted_offsets().windows(2).find(|pair| pair[0] == pair[1])?[0];
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

/// Two elements at one place, found by the strides alone.
fn shared_by_strides(sizes: &[u64], strides: &[i64]) -> Option<Pair> {
    let dims: Vec<usize> = (0..sizes.len()).filter(|&dim| sizes[dim] > 1).collect();
    let step = |&dim: &usize| Step { stride: strides[dim].unsigned_abs(), count: sizes[dim] };
    let steps: Vec<Step> = dims.iter().map(step).collect();
    let differences = (0..steps.len()).find_map(|place| overlap_from(&steps, place).flatten())?;
    let (mut a, mut b) = (vec![0; sizes.len()], vec![0; sizes.len()]);
    // Differences of negative strides count the other way.
    for (&dim, difference) in dims.iter().zip(differences) {
        let forward = (difference > 0) == (strides[dim] > 0);
        (if forward { &mut a } else { &mut b })[dim] = difference.unsigned_abs();
    }
    Some((b, a))
}
