//! Any list of numbers is read as a layout: sizes, order, padded sizes, tiles; or free strides.
//! Whatever can be built has to go from index to offset and back.
#![no_main]

mod check;

use libfuzzer_sys::fuzz_target;
use tilework::{Layout, Result};

fuzz_target!(|bytes: &[u8]| {
    let mut numbers = Numbers(bytes.iter());
    let free = numbers.below(4) == 3;
    let layout = if free { strided(&mut numbers) } else { compact(&mut numbers) };
    if let Ok(layout) = layout {
        check::check(&layout, !free, numbers.next());
    }
});

/// Dimensions in any order, padded, in any tiles.
fn compact(numbers: &mut Numbers) -> Result<Layout> {
    let dims = numbers.sizes();
    let mut order: Vec<usize> = (0..dims.len()).collect();
    for place in 1..order.len() {
        order.swap(place, numbers.below(place as u64 + 1) as usize);
    }
    let mut builder = Layout::builder(&dims, 1 + numbers.below(64) as u32)?.minor_to_major(&order)?;
    if numbers.below(3) == 2 {
        let padded: Vec<u64> = dims.iter().map(|&size| size.saturating_add(numbers.below(4))).collect();
        builder = builder.padded(&padded)?;
    }
    for _ in 0..numbers.below(5) {
        let len = 1 + numbers.below(5) as usize;
        let mut tile: Vec<Option<u64>> = (0..len).map(|_| numbers.tile_size()).collect();
        if tile[len - 1].is_none() {
            tile[len - 1] = Some(1 + numbers.below(4)); // otherwise most of the tiles would be refused
        }
        builder = builder.tile(&tile)?;
    }
    builder.align(numbers.below(20)).build()
}

/// Strides of any sign, with or without a base and a size.
fn strided(numbers: &mut Numbers) -> Result<Layout> {
    let dims = numbers.sizes();
    let strides: Vec<i64> = dims.iter().map(|_| numbers.stride()).collect();
    let base = (numbers.below(3) == 2).then(|| numbers.size());
    let size = (numbers.below(3) == 2).then(|| numbers.size());
    Layout::strided(&dims, 1 + numbers.below(64) as u32, &strides, base, size)
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

    fn stride(&mut self) -> i64 {
        match self.next() as u8 as i8 {
            large @ 100.. => 1 << (2 * (large - 100)),
            large @ ..-100 => -(1 << (2 * (-i64::from(large) - 101))),
            small => i64::from(small) / 4,
        }
    }
}
