//! Any list of numbers is read as a layout: sizes, order, padded sizes, tiles; or free strides.
//! Whatever can be built has to go from index to offset and back.
#![no_main]

mod check;

use libfuzzer_sys::fuzz_target;
use tilework::{Layout, Plan, PlanOptions, Result};

fuzz_target!(|bytes: &[u8]| {
    let mut numbers = Numbers(bytes.iter());
    let free = numbers.below(4) == 3;
    let dims = numbers.sizes();
    let [one, other] = [0, 1].map(|_| match free {
        true => strided(&mut numbers, &dims),
        false => compact(&mut numbers, &dims),
    });
    let Ok(one) = one else { return };
    check::check(&one, !free, numbers.next());
    if let Ok(other) = other {
        compare(&one, &other);
        plan(&one, &other);
    }
});

/// Dimensions in any order, padded, in any tiles; compared with a plain reading of the same description.
fn compact(numbers: &mut Numbers, dims: &[u64]) -> Result<Layout> {
    let recipe = Recipe::read(numbers, dims);
    let layout = recipe.build()?;
    if !layout.is_empty() {
        for pick in [|_| 0, |size| size - 1, |size| size / 2, |size| size / 3, |size| (size - 1) * 6 / 7] {
            let index: Vec<u64> = dims.iter().map(|&size| pick(u128::from(size)) as u64).collect();
            assert_eq!(layout.offset(&index).map(u128::from), Ok(recipe.offset(&index)), "at {index:?}");
        }
    }
    Ok(layout)
}

/// Small layouts are the same function exactly if every index has the same offset.
fn compare(one: &Layout, other: &Layout) {
    let verdict = one.same_function(other);
    if one.len() <= 512 {
        let same = offsets(one) == offsets(other);
        assert!(
            if same { verdict.is_yes() } else { verdict.is_no() },
            "{verdict}, but the table says {same}"
        );
    }
    let back = other.same_function(one);
    assert_eq!((verdict.is_yes(), verdict.is_no()), (back.is_yes(), back.is_no()), "{verdict}; {back}");
    assert!(one.same_buffer(one).is_yes() && one.reshape_bitcast(one).is_yes());
}

/// What is planned is moved: each element once, and nothing else; fills cover the places that are left.
fn plan(one: &Layout, other: &Layout) {
    let Ok(plan) = Plan::new(one, other, &PlanOptions { fill: Some(0), converts: true }) else { return };
    let figures = plan.figures();
    assert_eq!(figures.elements, other.len());
    if !plan.fills_first() {
        assert_eq!(figures.filled, other.size() - other.len());
    }
    if other.len() > 512 {
        return;
    }
    let mut moved = Vec::new();
    plan.copies().iter().for_each(|nest| nest.for_each(|from, to| moved.push((to, from))));
    let mut naive: Vec<(u64, u64)> = offsets(other).into_iter().zip(offsets(one)).collect();
    moved.sort_unstable();
    naive.sort_unstable();
    assert_eq!(moved, naive);
}

/// The offsets of all elements, in index order.
fn offsets(layout: &Layout) -> Vec<u64> {
    let mut offsets = Vec::new();
    layout.for_each_in_index_order(|_, offset| offsets.push(offset));
    offsets
}

/// A compact layout as its description.
#[derive(Debug)]
struct Recipe {
    dims: Vec<u64>,
    bits: u32,
    /// Minor to major.
    order: Vec<usize>,
    padded: Option<Vec<u64>>,
    tiles: Vec<Vec<Option<u64>>>,
    align: u64,
}

impl Recipe {
    fn read(numbers: &mut Numbers, dims: &[u64]) -> Recipe {
        let bits = 1 + numbers.below(64) as u32;
        let mut order: Vec<usize> = (0..dims.len()).collect();
        for place in 1..order.len() {
            order.swap(place, numbers.below(place as u64 + 1) as usize);
        }
        let padded = (numbers.below(3) == 2)
            .then(|| dims.iter().map(|&size| size.saturating_add(numbers.below(4))).collect());
        let tiles = (0..numbers.below(5)).map(|_| numbers.tile()).collect();
        Recipe { dims: dims.to_vec(), bits, order, padded, tiles, align: numbers.below(20) }
    }

    fn build(&self) -> Result<Layout> {
        let mut builder = Layout::builder(&self.dims, self.bits)?.minor_to_major(&self.order)?;
        if let Some(padded) = &self.padded {
            builder = builder.padded(padded)?;
        }
        for tile in &self.tiles {
            builder = builder.tile(tile)?;
        }
        builder.align(self.align).build()
    }

    /// The offset by carrying each physical dimension as (position, allocated size), tile after tile.
    fn offset(&self, index: &[u64]) -> u128 {
        let sizes = self.padded.as_ref().unwrap_or(&self.dims);
        let mut physical: Vec<(u128, u128)> =
            self.order.iter().rev().map(|&dim| (index[dim].into(), sizes[dim].into())).collect();
        for tile in &self.tiles {
            while physical.len() < tile.len() {
                physical.insert(0, (0, 1));
            }
            let (mut counts, mut within) = (Vec::new(), Vec::new());
            let mut major = (0, 1);
            for (entry, (at, size)) in tile.iter().zip(physical.split_off(physical.len() - tile.len())) {
                let (at, size) = (major.0 * size + at, major.1 * size);
                match entry.map(u128::from) {
                    None => major = (at, size),
                    Some(t) => {
                        counts.push((at / t, size.div_ceil(t)));
                        within.push((at % t, t));
                        major = (0, 1);
                    }
                }
            }
            physical.extend(counts.into_iter().chain(within));
        }
        physical.iter().fold(0, |offset, (at, size)| offset * size + at)
    }
}

/// Strides of any sign, with or without a base and a size.
fn strided(numbers: &mut Numbers, dims: &[u64]) -> Result<Layout> {
    let strides: Vec<i64> = dims.iter().map(|_| numbers.stride()).collect();
    let base = (numbers.below(3) == 2).then(|| numbers.size());
    let size = (numbers.below(3) == 2).then(|| numbers.size());
    Layout::strided(dims, 1 + numbers.below(64) as u32, &strides, base, size)
}

/// The input, a byte a number; zeros after its end.
struct Numbers<'a>(std::slice::Iter<'a, u8>);

impl Numbers<'_> {
    fn next(&mut self) -> u64 {
        self.0.next().map_or(0, |&byte| u64::from(byte))
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    /// Mostly small, so that whole buffers can be looked at; sometimes up to what no buffer can hold.
    fn size(&mut self) -> u64 {
        match self.next() {
            small @ ..200 => small % 13,
            medium @ 200..236 => medium * 5 - 900,
            power => (1 << (3 * (power - 236))) + self.below(3),
        }
    }

    fn sizes(&mut self) -> Vec<u64> {
        (0..self.below(6)).map(|_| self.size()).collect()
    }

    /// `None` is the star.
    fn tile_size(&mut self) -> Option<u64> {
        match self.next() {
            0..40 => None,
            small @ 40..200 => Some(1 + small % 9),
            power => Some(1 << (power - 200).min(62)),
        }
    }

    fn tile(&mut self) -> Vec<Option<u64>> {
        let mut tile: Vec<_> = (0..1 + self.below(5)).map(|_| self.tile_size()).collect();
        if let Some(last @ None) = tile.last_mut() {
            *last = Some(1 + self.below(4)); // a star at the end would refuse most of the tiles
        }
        tile
    }

    fn stride(&mut self) -> i64 {
        match self.next() as u8 as i8 {
            large @ 100.. => 1 << (2 * (large - 100)),
            large @ ..-100 => -(1 << (2 * (-i64::from(large) - 101))),
            small => i64::from(small) / 4,
        }
    }
}
