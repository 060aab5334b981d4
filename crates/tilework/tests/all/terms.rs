//! Layouts built from index expressions, against the same expressions evaluated index by index.

use std::collections::HashMap;

use crate::common::indices;
use proptest::prelude::*;
use tilework::{Layout, Place, Plan, PlanOptions, Result, Term, Terms};

/// One step of a random program: what is done, to which of the terms, and a number for it.
type Step = (u8, usize, u64);

/// A term, with its value at every index.
struct Shadow {
    term: Term,
    values: Vec<u64>,
    extent: u64,
}

/// A program of splits, merges, pads and shifts over these dimensions, and then strides.
#[derive(Clone, Debug)]
struct Program {
    dims: Vec<u64>,
    steps: Vec<Step>,
    /// Strides of the terms; none for the one that makes them a mixed radix, in the order of `shuffle`.
    strides: Option<Vec<i64>>,
    shuffle: u64,
    drop: u64,
    more: (Option<u64>, u64),
}

fn programs() -> impl Strategy<Value = Program> {
    let dims = prop::collection::vec(prop_oneof![1 => Just(0), 30 => 1..=7_u64], 0..=3);
    let steps = prop::collection::vec((0..8_u8, 0..8_usize, 0..6_u64), 0..=7);
    let strides = prop::option::of(prop::collection::vec(-9..=20_i64, 12));
    let more = (prop::option::weighted(0.3, 0..=5_u64), prop_oneof![3 => Just(0), 1 => 0..=9_u64]);
    (dims, steps, strides, any::<u64>(), any::<u64>(), more).prop_map(
        |(dims, steps, strides, shuffle, drop, more)| Program { dims, steps, strides, shuffle, drop, more },
    )
}

/// What a program makes; by the shadows alone, the offset of every element in index order from a base of 0, the least base,
/// and the size with it.
fn run(program: &Program) -> Result<(Terms, Vec<i64>, u64, i64)> {
    let mut terms = Layout::terms(&program.dims, 16)?;
    let all: Vec<Vec<u64>> = indices(&program.dims).collect();
    let mut pool = Vec::new();
    for (dim, &size) in program.dims.iter().enumerate() {
        let values = all.iter().map(|index| index[dim]).collect();
        pool.push(Shadow { term: terms.dim(dim)?, values, extent: size });
    }
    for &(what, which, number) in &program.steps {
        if pool.is_empty() {
            break;
        }
        let Shadow { term, mut values, mut extent } = pool.swap_remove(which % pool.len());
        let term = match what {
            0 if values.iter().all(|&value| value < extent) => match terms.extent(&term) == extent {
                // Only dimensions can be padded, and these are the first terms.
                true if pool.len() + 1 == program.dims.len() && program.steps[0].0 == 0 => {
                    match terms.pad(term, extent + number) {
                        Ok(term) => {
                            extent += number;
                            term
                        }
                        Err(_) => continue,
                    }
                }
                _ => term,
            },
            1..=3 => {
                let by = number + 1;
                let (div, rest) = terms.split(term, by)?;
                let (tiles, within) = (extent.div_ceil(by), if by == 1 { 1 } else { by });
                pool.push(Shadow {
                    term: div,
                    values: values.iter().map(|v| v / by).collect(),
                    extent: tiles,
                });
                pool.push(Shadow {
                    term: rest,
                    values: values.iter().map(|v| v % by).collect(),
                    extent: within,
                });
                continue;
            }
            4 | 5 if !pool.is_empty() => {
                let minor = pool.swap_remove(number as usize % pool.len());
                values = values.iter().zip(&minor.values).map(|(a, b)| a * minor.extent + b).collect();
                extent *= minor.extent;
                terms.merge(term, minor.term)?
            }
            6 => {
                values.iter_mut().for_each(|value| *value = number + 2 * *value);
                extent = if extent == 0 { 0 } else { number + 2 * (extent - 1) + 1 };
                terms.shift(term, number, 2)?
            }
            7 => {
                let start = extent + number;
                values.iter_mut().for_each(|value| *value = start - *value);
                extent = if extent == 0 { 0 } else { start + 1 };
                terms.shift(term, start, -1)?
            }
            _ => term,
        };
        assert_eq!(terms.extent(&term), extent);
        pool.push(Shadow { term, values, extent });
    }
    let (mut offsets, mut end, mut below) = (vec![0_i64; all.len()], 1_i64, 0);
    let mut radix = 1_i64;
    let mut at = program.shuffle;
    for number in 0..pool.len() {
        let Shadow { term, values, extent } = pool.swap_remove(at as usize % pool.len());
        at /= 3;
        if (program.drop >> (3 * number)).is_multiple_of(8) {
            continue;
        }
        let stride = program.strides.as_ref().map_or(radix, |strides| strides[number % 12]);
        terms.add(term, stride)?;
        radix = radix.saturating_mul(extent.max(1) as i64);
        let reach = stride.saturating_mul((extent as i64 - 1).max(0));
        if stride < 0 {
            below -= reach
        } else {
            end = end.saturating_add(reach)
        }
        for (offset, value) in offsets.iter_mut().zip(&values) {
            *offset = offset.saturating_add(stride.saturating_mul(*value as i64));
        }
    }
    if below.saturating_add(end) > 60_000 {
        return Err(tilework::Error::new("too large to list"));
    }
    Ok((terms, offsets, below as u64, below + end))
}

/// What stands at each place.
fn image(offsets: &[i64], dims: &[u64]) -> HashMap<i64, Vec<Vec<u64>>> {
    let mut places: HashMap<i64, Vec<Vec<u64>>> = HashMap::new();
    for (offset, index) in offsets.iter().zip(indices(dims)) {
        places.entry(*offset).or_default().push(index);
    }
    places
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn every_program_of_terms_is_what_its_expressions_say(program in programs()) {
        let Ok((terms, mut offsets, least, need)) = run(&program) else { return Ok(()) };
        let (layout, base) = match program.more {
            (None, _) => (terms.build(None, None).unwrap(), least),
            (Some(more), tail) => {
                let size = need as u64 + more + tail;
                (terms.build(Some(least + more), Some(size)).unwrap(), least + more)
            }
        };
        offsets.iter_mut().for_each(|offset| *offset += base as i64);
        if program.more.0.is_none() && !layout.is_empty() {
            prop_assert_eq!(layout.size() as i64, need);
        }
        prop_assert_eq!(layout.len(), offsets.len() as u64);
        for (index, offset) in indices(&program.dims).zip(&offsets) {
            prop_assert_eq!(layout.offset(&index).unwrap() as i64, *offset);
        }
        let places = image(&offsets, &program.dims);
        for place in 0..layout.size() {
            match (places.get(&(place as i64)), layout.locate(place).unwrap()) {
                (Some(at), Place::Element(found)) => prop_assert!(at.contains(&found), "place {place}"),
                (None, Place::Padding(_)) => {}
                (at, found) => prop_assert!(false, "place {}: {:?} but located {:?}", place, at, found),
            }
        }
        prop_assert_eq!(layout.places(), Some(places.len() as u64));
        prop_assert_eq!(layout.padding(), Some(layout.size() - places.len() as u64));
        prop_assert_eq!(layout.is_injective(), Some(places.len() == offsets.len()));
        let mut seen = Vec::new();
        layout.for_each_in_memory_order(|index, offset| seen.push((index.to_vec(), offset)));
        prop_assert_eq!(seen.len(), places.len());
        prop_assert!(seen.iter().all(|(index, offset)| places[&(*offset as i64)].contains(index)));
        check_views(&layout)?;
        check_plan(&layout, &offsets)?;
    }

    #[test]
    fn elements_must_lie_within_the_size_that_is_asked_for(program in programs(), cut in 0..6_u64) {
        let Ok((terms, offsets, base, need)) = run(&program) else { return Ok(()) };
        let size = (need as u64).saturating_sub(cut);
        let fits = offsets.iter().all(|&offset| offset + (base as i64) < size as i64);
        // A merge with holes and a step count for all values between their ends, so more may be refused.
        match terms.build(Some(base), Some(size)) {
            Ok(layout) => {
                prop_assert!(fits);
                for place in 0..size {
                    let is_element = matches!(layout.locate(place).unwrap(), Place::Element(_));
                    prop_assert_eq!(is_element, offsets.contains(&(place as i64 - base as i64)));
                }
            }
            Err(_) => prop_assert!(!fits || program.steps.iter().any(|step| (4..=7).contains(&step.0))),
        }
    }
}

/// The verbs that change a view's indices, one after the other.
fn check_views(layout: &Layout) -> std::result::Result<(), TestCaseError> {
    let order: Vec<usize> = (0..layout.rank()).rev().collect();
    let turned = layout.permute(&order).unwrap();
    for index in indices(layout.dims()) {
        let other: Vec<u64> = index.iter().rev().copied().collect();
        prop_assert_eq!(turned.offset(&other).unwrap(), layout.offset(&index).unwrap());
    }
    prop_assert!(turned.permute(&order).unwrap().same_function(layout).is_yes());
    let flat = layout.reshape(&[layout.len()]).unwrap();
    for (place, index) in indices(layout.dims()).enumerate() {
        prop_assert_eq!(flat.offset(&[place as u64]).unwrap(), layout.offset(&index).unwrap());
    }
    let shown = flat.slice(0, layout.len() / 3..layout.len(), 2).unwrap();
    let mut found = 0;
    for place in 0..shown.size() {
        if let Place::Element(index) = shown.locate(place).unwrap() {
            prop_assert_eq!(shown.offset(&index).unwrap(), place);
            found += 1;
        }
    }
    prop_assert_eq!(shown.places(), Some(found));
    Ok(())
}

/// A plan into the layout moves every element to its place, and fills what is left.
fn check_plan(layout: &Layout, offsets: &[i64]) -> std::result::Result<(), TestCaseError> {
    if layout.is_injective() != Some(true) {
        return Ok(());
    }
    let plain = Layout::row_major(layout.dims(), layout.bits()).unwrap();
    let Ok(plan) = Plan::new(&plain, layout, &PlanOptions { fill: Some(7), converts: false }) else {
        return Ok(());
    };
    const PADDING: u64 = u64::MAX;
    let mut memory = vec![None; layout.size() as usize];
    let fill = |memory: &mut Vec<Option<u64>>| {
        plan.fills().iter().for_each(|nest| nest.for_each(|_, to| memory[to as usize] = Some(PADDING)));
    };
    let copy = |memory: &mut Vec<Option<u64>>| {
        plan.copies().iter().for_each(|nest| nest.for_each(|from, to| memory[to as usize] = Some(from)));
    };
    match plan.fills_first() {
        true => (fill(&mut memory), copy(&mut memory)),
        false => (copy(&mut memory), fill(&mut memory)),
    };
    let mut expected = vec![Some(PADDING); layout.size() as usize];
    for (from, &to) in (0..).zip(offsets) {
        expected[to as usize] = Some(from);
    }
    prop_assert_eq!(memory, expected);
    Ok(())
}

#[test]
fn a_term_that_is_dropped_is_a_broadcast() -> Result<()> {
    let mut terms = Layout::terms(&[4, 6], 8)?;
    let (_, i) = {
        let i = terms.dim(0)?;
        terms.split(i, 2)?
    };
    terms.add(i, 1)?;
    let layout = terms.build(None, None)?;
    assert_eq!((layout.size(), layout.len(), layout.places()), (2, 24, Some(2)));
    assert_eq!(layout.locate(1)?, Place::Element(vec![1, 0]));
    assert_eq!(layout.broadcast_dims(), [1]);
    Ok(())
}

#[test]
fn numbers_at_the_limit_of_63_bits_are_refused_and_never_wrap_around() -> Result<()> {
    let most = i64::MAX as u64;
    let strided = |stride: i64, extent: u64| {
        let mut terms = Layout::terms(&[extent], 8)?;
        let i = terms.dim(0)?;
        terms.add(i, stride)?;
        terms.build(None, None)
    };
    assert_eq!(strided(i64::MAX - 1, 2)?.size(), most);
    assert_eq!(strided(-(i64::MAX - 1), 2)?.offset(&[0])?, most - 1);
    for (stride, extent) in [(i64::MAX, 2), (i64::MIN, 2), (i64::MAX, most), (2, (1 << 62) + 1)] {
        assert!(strided(stride, extent).is_err(), "{stride} {extent}");
    }
    let mut terms = Layout::terms(&[2, most], 1)?;
    let (i, j) = (terms.dim(0)?, terms.dim(1)?);
    assert!(terms.shift(j, most, 1).is_err());
    assert!(terms.split(i, u64::MAX).is_err());
    let mut terms = Layout::terms(&[3, most / 2], 1)?;
    let (i, j) = (terms.dim(0)?, terms.dim(1)?);
    assert!(terms.merge(i, j).is_err());
    let mut terms = Layout::terms(&[5], 1)?;
    let i = terms.dim(0)?;
    let (tiles, rest) = terms.split(i, most)?;
    terms.add(rest, 1)?;
    terms.add(tiles, i64::MIN)?;
    assert_eq!(terms.clone().build(None, Some(5))?.size(), 5);
    assert_eq!(terms.build(None, None)?.size(), most);
    Ok(())
}

#[test]
fn what_a_term_refuses_says_what_would_be_accepted() -> Result<()> {
    let mut terms = Layout::terms(&[4, 6], 8)?;
    let found = |error: tilework::Error| error.to_string();
    assert!(found(terms.dim(2).unwrap_err()).contains("accepted: 0 to 1"));
    let i = terms.dim(0)?;
    assert!(found(terms.dim(0).unwrap_err()).contains("taken twice"));
    assert!(found(terms.split(i, 0).unwrap_err()).contains("accepted: 1 to"));
    let j = terms.dim(1)?;
    assert!(found(terms.clone().shift(j, 3, -1).unwrap_err()).contains("0 or more"));
    let mut other = Layout::terms(&[], 8)?;
    let mut one = Layout::terms(&[4], 8)?;
    let stranger = one.dim(0)?;
    assert!(found(other.add(stranger, 1).unwrap_err()).contains("another layout"));
    let mut deep = Layout::terms(&[1 << 40], 8)?;
    let mut term = deep.dim(0)?;
    for _ in 0..1022 {
        term = deep.shift(term, 1, 1)?;
    }
    let term = deep.shift(term, 1, 1)?;
    assert!(found(deep.shift(term, 1, 1).unwrap_err()).contains("within one another"));
    Ok(())
}
