//! What the targets read from their input: numbers, and layouts as lists of numbers.

#![allow(dead_code)] // each target uses its part

use tilework_core::{Layout, Result};

/// A compact layout as its description.
#[derive(Debug)]
pub struct Recipe {
    dims: Vec<u64>,
    bits: u32,
    /// Minor to major.
    order: Vec<usize>,
    padded: Option<Vec<u64>>,
    tiles: Vec<Vec<Option<u64>>>,
    align: u64,
}

impl Recipe {
    pub fn read(numbers: &mut Numbers, dims: &[u64], bits: u32) -> Recipe {
        let mut order: Vec<usize> = (0..dims.len()).collect();
        for place in 1..order.len() {
            order.swap(place, numbers.below(place as u64 + 1) as usize);
        }
        let padded = (numbers.below(3) == 2)
            .then(|| dims.iter().map(|&size| size.saturating_add(numbers.below(4))).collect());
        let tiles = (0..numbers.below(5)).map(|_| numbers.tile()).collect();
        Recipe { dims: dims.to_vec(), bits, order, padded, tiles, align: numbers.below(20) }
    }

    pub fn build(&self) -> Result<Layout> {
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
    pub fn offset(&self, index: &[u64]) -> u128 {
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
pub fn strided(numbers: &mut Numbers, dims: &[u64], bits: u32) -> Result<Layout> {
    let strides: Vec<i64> = dims.iter().map(|_| numbers.stride()).collect();
    let base = (numbers.below(3) == 2).then(|| numbers.size());
    let size = (numbers.below(3) == 2).then(|| numbers.size());
    Layout::strided(dims, bits, &strides, base, size)
}

/// The input, a byte a number; zeros after its end.
pub struct Numbers<'a>(std::slice::Iter<'a, u8>);

impl<'a> Numbers<'a> {
    pub fn new(bytes: &'a [u8]) -> Numbers<'a> {
        Numbers(bytes.iter())
    }

    pub fn next(&mut self) -> u64 {
        self.0.next().map_or(0, |&byte| u64::from(byte))
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    /// Mostly small, so that whole buffers can be looked at; sometimes up to what no buffer can hold.
    pub fn size(&mut self) -> u64 {
        match self.next() {
            small @ ..200 => small % 13,
            medium @ 200..236 => medium * 5 - 900,
            power => (1 << (3 * (power - 236))) + self.below(3),
        }
    }

    pub fn sizes(&mut self) -> Vec<u64> {
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
