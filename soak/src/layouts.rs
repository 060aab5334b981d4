//! Random layouts, up to what 63 bits cannot count: sizes, offsets, places, views and comparisons against the model.

use std::collections::HashMap;

use tilework::{Difference, Layout, Place, Verdict};

use crate::attack::{Attack, Log, holds, same};
use crate::dice::Dice;
use crate::model::{Array, MOST, count, indices};
use crate::random::Wild;
use crate::views::View;

/// What holds of every layout, whatever it is: the fuzz targets ask it too.
#[path = "../../fuzz/fuzz_targets/check.rs"]
mod check;

/// Arrays up to this size are looked at whole.
const SMALL: u128 = 600;

struct Layouts;

pub fn new() -> Result<Box<dyn Attack>, String> {
    Ok(Box::new(Layouts))
}

impl Attack for Layouts {
    fn case(&mut self, dice: &mut Dice, log: &mut Log) -> Result<(), String> {
        let wild = Wild { sizes: dice.once_in(2), overlaps: dice.once_in(3) };
        let dims = sizes(dice, wild.sizes);
        let bits = dice.of(&[32, 8, 16, 64, 4, 1, 3, 24, 128]);
        let bits = if wild.sizes && dice.once_in(20) { dice.number() as u32 } else { bits };
        let mut one = Array::random(dice, &dims, bits, wild);
        views(dice, &mut one, wild.sizes);
        log.note(|| format!("{one:?}"));
        let Some(layout) = built(&one, log)? else { return Ok(()) };
        whole(&one, &layout)?;
        let is_compact = one.views.is_empty() && layout.is_compact();
        let seed = dice.next();
        if elements(dice, &one, &layout)? {
            check::check(&layout, is_compact, seed);
        }

        // Another array, often over what is seen of the first.
        let seen = layout.dims().to_vec();
        let dims = match dice.below(4) {
            0 => other_sizes(dice, &seen),
            1 => dims,
            _ => seen,
        };
        let bits = if dice.once_in(10) { 8 } else { bits };
        let mut other = match dice.once_in(4) {
            true => changed(dice, &one),
            false => Array::random(dice, &dims, bits, wild),
        };
        if dice.once_in(4) {
            views(dice, &mut other, wild.sizes);
        }
        log.note(|| format!("{other:?}"));
        let Some(second) = built(&other, log)? else { return Ok(()) };
        compare(dice, (&one, &layout), (&other, &second), log)
    }

    fn short(&self) -> u64 {
        1500
    }
}

/// The layout, if the model says that there is one; a refusal is right if the model says that there is none.
pub fn built(array: &Array, log: &mut Log) -> Result<Option<Layout>, String> {
    match (array.build(), array.is_valid()) {
        (Ok(layout), true) => {
            log.count("answered");
            Ok(Some(layout))
        }
        (Err(_), false) => {
            log.count("refused");
            Ok(None)
        }
        (Err(_), true) if !array.has_room() => {
            log.count("refused");
            Ok(None)
        }
        (Ok(layout), false) => Err(format!("{array:?} should have been refused and became {layout:?}")),
        (Err(error), true) => Err(format!("{array:?} should not have been refused: {error}")),
    }
}

/// What is said of the whole.
fn whole(array: &Array, layout: &Layout) -> Result<(), String> {
    let seen = array.seen().unwrap_or_default();
    same("dimensions", layout.dims(), &seen)?;
    same("elements", u128::from(layout.len()), count(&seen).unwrap_or(0))?;
    let size = array.size().unwrap_or(0);
    let found = u128::from(layout.size());
    match array.swizzle {
        None => same(format!("the size of {array:?}"), found, size)?,
        // How far it is rounded up depends on which bits the swizzle needs.
        Some(_) => holds(found >= size && found <= size.next_multiple_of(array.block()), || {
            format!("the size of {array:?}: {found}, the model says {size} before the swizzle")
        })?,
    }
    same("bytes", u128::from(layout.bytes()), (found * u128::from(array.bits)).div_ceil(8))?;
    holds(u128::from(layout.bytes()) <= MOST, || format!("{} bytes", layout.bytes()))
}

/// Offsets and the ways back; whether these can be searched for. Where they cannot, each search takes long.
fn elements(dice: &mut Dice, array: &Array, layout: &Layout) -> Result<bool, String> {
    let seen = layout.dims().to_vec();
    let elements = count(&seen).unwrap_or(0);
    if elements == 0 {
        return Ok(true);
    }
    let mut can_locate = true;
    let small = elements <= SMALL;
    let all: Vec<Vec<u64>> = match small {
        true => indices(&seen).collect(),
        false => (0..40).map(|round| some_index(dice, &seen, round)).collect(),
    };
    let mut taken: HashMap<u64, Vec<u64>> = HashMap::new();
    for index in &all {
        let offset = array.offset(index);
        let found = layout.offset(index).map_err(|error| format!("{index:?} of {array:?}: {error}"))?;
        same(format!("the offset of {index:?} in {array:?}"), found, offset)?;
        holds(offset < layout.size(), || format!("offset {offset} in {}", layout.size()))?;
        taken.entry(offset).or_insert_with(|| index.clone());
        if !can_locate {
            continue;
        }
        match layout.locate(offset) {
            Ok(Place::Element(found)) => {
                same(format!("{found:?} at {offset}"), array.offset(&found), offset)?
            }
            Ok(Place::Padding(what)) => return Err(format!("{index:?} of {array:?} is {what}")),
            Err(error) => {
                // Too many combinations would be tried: where strides overlap, or of repeated elements only some are seen.
                let repeats = array.views.iter().any(|view| matches!(view, View::Broadcast(_)));
                let is_cut = array.views.iter().any(|view| matches!(view, View::Slice(..)));
                holds(!layout.is_compact() || repeats && is_cut, || {
                    format!("place {offset} of {array:?}: {error}")
                })?;
                can_locate = false;
            }
        }
    }
    for dim in 0..seen.len() {
        let mut index = all[0].clone();
        index[dim] = seen[dim].saturating_add(dice.below(3));
        holds(layout.offset(&index).is_err(), || format!("{index:?} lies outside of {array:?}"))?;
    }
    if can_locate && small && layout.size() <= 4000 {
        for place in (0..layout.size()).filter(|place| !taken.contains_key(place)) {
            if let Ok(Place::Element(index)) = layout.locate(place) {
                return Err(format!("{index:?} at {place} of {array:?}, where the model has nothing"));
            }
        }
        same(
            format!("places of {array:?}"),
            layout.places().unwrap_or(taken.len() as u64),
            taken.len() as u64,
        )?;
        let injective = taken.len() as u128 == elements;
        same(format!("no place twice in {array:?}"), layout.is_injective().unwrap_or(injective), injective)?;
    }
    Ok(can_locate)
}

/// The four questions whether two layouts are the same.
fn compare(
    dice: &mut Dice,
    (one, a): (&Array, &Layout),
    (other, b): (&Array, &Layout),
    log: &mut Log,
) -> Result<(), String> {
    let about = |what: &str, verdict: &Verdict| format!("{what} of {one:?} and {other:?}: {verdict}");
    let verdict = a.same_function(b);
    log.count(if verdict.is_yes() {
        "alike"
    } else if verdict.is_no() {
        "unlike"
    } else {
        "undecided"
    });
    if a.dims() != b.dims() {
        holds(verdict.is_no(), || about("the function", &verdict))?;
    } else if a.len() as u128 <= SMALL {
        let is_same = one.offsets() == other.offsets();
        holds(if is_same { verdict.is_yes() } else { verdict.is_no() }, || about("the function", &verdict))?;
    } else if verdict.is_yes() {
        for round in 0..40 {
            let index = some_index(dice, a.dims(), round);
            let is_same = one.offset(&index) == other.offset(&index);
            holds(is_same, || format!("{} but not at {index:?}", about("the function", &verdict)))?;
        }
    }
    if let Some(Difference::Element { index, offsets }) = verdict.difference() {
        same(about("offsets", &verdict), *offsets, [one.offset(index), other.offset(index)])?;
        holds(offsets[0] != offsets[1], || about("no difference", &verdict))?;
    }
    if a.dims() == b.dims() && verdict.is_yes() {
        let alike = (a.size(), a.bits()) == (b.size(), b.bits());
        same("the same buffer", a.same_buffer(b).is_yes(), alike)?;
    }
    if a.len() as u128 > SMALL || b.len() as u128 > SMALL {
        return Ok(());
    }
    let alike = (a.size(), a.bits()) == (b.size(), b.bits());
    let (left, right) = (one.offsets(), other.offsets());
    let reshaped = a.reshape_bitcast(b);
    let is_same = alike && left == right;
    holds(if is_same { !reshaped.is_no() } else { !reshaped.is_yes() }, || about("a reshape", &reshaped))?;
    let transposed = a.transpose_bitcast(b);
    let sorted = |mut offsets: Vec<u64>| {
        offsets.sort_unstable();
        offsets
    };
    if is_same {
        holds(!transposed.is_no(), || about("a transposition", &transposed))?;
    } else if !alike || sorted(left) != sorted(right) {
        holds(!transposed.is_yes(), || about("a transposition", &transposed))?;
    }
    Ok(())
}

/// Sizes whose product is small, or any.
fn sizes(dice: &mut Dice, wild: bool) -> Vec<u64> {
    let mut room = SMALL as u64;
    let mut sizes = Vec::new();
    for _ in 0..dice.below(6) {
        if wild && dice.once_in(3) {
            sizes.push(dice.number());
            continue;
        }
        let size = if dice.once_in(40) { 0 } else { 1 + dice.below(12) };
        if size <= room {
            sizes.push(size);
            room /= size.max(1);
        }
    }
    sizes
}

/// The same number of elements in other dimensions, or nearly.
fn other_sizes(dice: &mut Dice, dims: &[u64]) -> Vec<u64> {
    let mut dims = dims.to_vec();
    match dice.below(3) {
        0 if dims.len() > 1 => {
            let at = dice.index(dims.len() - 1);
            let both = dims[at].saturating_mul(dims[at + 1]);
            dims.splice(at..=at + 1, [both]);
        }
        1 if !dims.is_empty() => {
            let at = dice.index(dims.len());
            let by = [2, 3, 4, 5].into_iter().find(|by| dims[at].is_multiple_of(*by)).unwrap_or(1);
            dims.splice(at..=at, [dims[at] / by, by]);
        }
        _ => {
            let order = dice.order(dims.len());
            dims = order.into_iter().map(|dim| dims[dim]).collect();
        }
    }
    dims
}

/// The same array with a little difference, or none.
fn changed(dice: &mut Dice, array: &Array) -> Array {
    let mut other = array.clone();
    match &mut other.places {
        crate::model::Places::Tiled { align, tiles, .. } => match dice.below(3) {
            0 => *align = 1 + dice.below(4),
            1 => tiles.push(vec![Some(1)]),
            _ => {}
        },
        crate::model::Places::Strided { strides, .. } => {
            if let Some(stride) = strides.first_mut().filter(|_| dice.once_in(2)) {
                *stride = stride.wrapping_add(1);
            }
        }
    }
    other
}

/// Some views one upon the other, now and then one that is not possible.
fn views(dice: &mut Dice, array: &mut Array, wild: bool) {
    for _ in 0..dice.of(&[0, 0, 1, 2, 4]) {
        let Some(seen) = array.seen() else { return };
        let view = view(dice, &seen, wild);
        array.views.push(view);
    }
}

fn view(dice: &mut Dice, seen: &[u64], wild: bool) -> View {
    let beyond = usize::from(wild && dice.once_in(20));
    let dim = dice.index(seen.len() + beyond);
    let size = seen.get(dim).copied().unwrap_or(1);
    match dice.below(7) {
        0 => View::Permute(dice.order(seen.len())),
        1 if !seen.is_empty() => {
            let (a, b) = (dice.below(size.saturating_add(1)), dice.below(size.saturating_add(1)));
            let step = if wild && dice.once_in(4) { dice.number() } else { 1 + dice.below(3) };
            View::Slice(dim, a.min(b)..a.max(b).saturating_add(u64::from(wild && dice.once_in(20))), step)
        }
        2 if !seen.is_empty() => View::Flip(dim),
        3 => {
            let mut dims: Vec<u64> = (0..dice.below(3)).map(|_| 1 + dice.below(3)).collect();
            dims.extend(seen.iter().map(|&size| if size == 1 { 1 + dice.below(3) } else { size }));
            if wild && dice.once_in(10) && !dims.is_empty() {
                let at = dice.index(dims.len());
                dims[at] = dice.number();
            }
            View::Broadcast(dims)
        }
        4 if !seen.is_empty() => {
            let by = [5, 3, 4, 2, 7].into_iter().find(|by| size.is_multiple_of(*by));
            View::Split(dim, if wild && dice.once_in(20) { dice.number() } else { by.unwrap_or(1) })
        }
        5 if seen.len() > 1 => View::Merge(dim.min(seen.len() - if wild { 1 } else { 2 })),
        _ => View::Reshape(other_sizes(dice, seen)),
    }
}

/// An index within the sizes: the first, the last, then any.
fn some_index(dice: &mut Dice, dims: &[u64], round: u64) -> Vec<u64> {
    let one = |size: u64, dice: &mut Dice| match round {
        0 => 0,
        1 => size - 1,
        _ if dice.once_in(4) => size - 1 - dice.below(size.min(4)),
        _ => dice.below(size),
    };
    dims.iter().map(|&size| one(size, dice)).collect()
}
