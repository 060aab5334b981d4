//! The naive reference: layouts by literally padding, reshaping and transposing a table of coordinates.

use proptest::prelude::*;
use tilework::Layout;

/// A compact layout as its description, for the reference and for the builder.
#[derive(Clone, Debug)]
pub struct Recipe {
    pub dims: Vec<u64>,
    pub minor_to_major: Vec<usize>,
    pub padded: Option<Vec<u64>>,
    pub tiles: Vec<Vec<Option<u64>>>,
    pub align: u64,
}

impl Recipe {
    pub fn build(&self) -> tilework::Result<Layout> {
        self.build_of(32)
    }

    /// The same with elements of so many bits.
    pub fn build_of(&self, bits: u32) -> tilework::Result<Layout> {
        let mut builder = Layout::builder(&self.dims, bits)?.minor_to_major(&self.minor_to_major)?;
        if let Some(padded) = &self.padded {
            builder = builder.padded(padded)?;
        }
        for tile in &self.tiles {
            builder = builder.tile(tile)?;
        }
        builder.align(self.align).build()
    }

    /// The buffer, place by place: the index of the element, or nothing.
    pub fn image(&self) -> Vec<Option<Vec<u64>>> {
        let shape: Vec<u64> = self.minor_to_major.iter().rev().map(|&d| self.dims[d]).collect();
        let major: Vec<usize> = self.minor_to_major.iter().rev().copied().collect();
        let mut table = Table {
            cells: indices(&shape)
                .map(|physical| {
                    let mut index = vec![0; physical.len()];
                    for (&dim, &i) in major.iter().zip(&physical) {
                        index[dim] = i;
                    }
                    Some(index)
                })
                .collect(),
            shape,
        };
        if let Some(padded) = &self.padded {
            table = table.pad(&major.iter().map(|&d| padded[d]).collect::<Vec<_>>());
        }
        for tile in &self.tiles {
            table = table.tile(tile);
        }
        while !(table.cells.len() as u64).is_multiple_of(self.align) {
            table.cells.push(None);
        }
        table.cells
    }
}

/// A row-major array of cells.
struct Table {
    shape: Vec<u64>,
    cells: Vec<Option<Vec<u64>>>,
}

impl Table {
    fn at(&self, index: &[u64]) -> Option<Vec<u64>> {
        let inside = index.iter().zip(&self.shape).all(|(i, n)| i < n);
        let place = index.iter().zip(&self.shape).fold(0, |place, (i, n)| place * n + i);
        inside.then(|| self.cells[place as usize].clone())?
    }

    fn pad(&self, shape: &[u64]) -> Table {
        Table { shape: shape.to_vec(), cells: indices(shape).map(|index| self.at(&index)).collect() }
    }

    fn reshape(self, shape: Vec<u64>) -> Table {
        assert_eq!(shape.iter().product::<u64>(), self.cells.len() as u64);
        Table { shape, cells: self.cells }
    }

    fn transpose(&self, order: &[usize]) -> Table {
        let shape: Vec<u64> = order.iter().map(|&d| self.shape[d]).collect();
        let cells = indices(&shape)
            .map(|index| {
                let mut from = vec![0; index.len()];
                for (&d, &i) in order.iter().zip(&index) {
                    from[d] = i;
                }
                self.at(&from)
            })
            .collect();
        Table { shape, cells }
    }

    fn tile(self, tile: &[Option<u64>]) -> Table {
        let mut shape = self.shape.clone();
        while shape.len() < tile.len() {
            shape.insert(0, 1);
        }
        let mut tile = tile.to_vec();
        let mut head = shape.split_off(shape.len() - tile.len());
        while let Some(star) = tile.iter().position(Option::is_none) {
            head[star + 1] *= head[star];
            head.remove(star);
            tile.remove(star);
        }
        let tile: Vec<u64> = tile.into_iter().flatten().collect();
        let outer = shape.len();
        shape.extend(&head);
        let table = self.reshape(shape.clone());
        let whole: Vec<u64> = shape[..outer]
            .iter()
            .copied()
            .chain(head.iter().zip(&tile).map(|(n, t)| n.div_ceil(*t) * t))
            .collect();
        let split = shape[..outer]
            .iter()
            .copied()
            .chain(head.iter().zip(&tile).flat_map(|(n, t)| [n.div_ceil(*t), *t]))
            .collect();
        let k = tile.len();
        let order: Vec<usize> = (0..outer)
            .chain((0..k).map(|d| outer + 2 * d))
            .chain((0..k).map(|d| outer + 2 * d + 1))
            .collect();
        table.pad(&whole).reshape(split).transpose(&order)
    }
}

/// Every index of a shape, in row-major order.
pub fn indices(shape: &[u64]) -> impl Iterator<Item = Vec<u64>> + use<> {
    let shape = shape.to_vec();
    let count: u64 = shape.iter().product();
    (0..count).map(move |mut place| {
        let mut index: Vec<u64> = shape
            .iter()
            .rev()
            .map(|n| {
                let i = place % n;
                place /= n;
                i
            })
            .collect();
        index.reverse();
        index
    })
}

/// Permutations of `0..rank`.
pub fn permutation(rank: usize) -> impl Strategy<Value = Vec<usize>> {
    Just((0..rank).collect::<Vec<_>>()).prop_shuffle()
}

fn tile_dim(star: bool) -> impl Strategy<Value = Option<u64>> {
    if star {
        prop_oneof![3 => (1..=6_u64).prop_map(Some), 1 => Just(None)].boxed()
    } else {
        (1..=6_u64).prop_map(Some).boxed()
    }
}

/// A tile of 1 to 4 entries; a `*` is never last.
pub fn tile(star: bool) -> impl Strategy<Value = Vec<Option<u64>>> {
    (prop::collection::vec(tile_dim(star), 0..=3), 1..=6_u64).prop_map(|(mut dims, last)| {
        dims.push(Some(last));
        dims
    })
}

/// Small layouts of every kind: sizes from 0, uneven and cross-tile tiles, stars at any level, padding, alignment.
pub fn recipe() -> impl Strategy<Value = Recipe> {
    recipe_with(true)
}

pub fn recipe_with(star: bool) -> impl Strategy<Value = Recipe> {
    prop::collection::vec(prop_oneof![1 => Just(0), 30 => 1..=9_u64], 0..=4)
        .prop_flat_map(move |dims| recipe_over(dims, star))
}

/// Such layouts of these dimensions.
pub fn recipe_over(dims: Vec<u64>, star: bool) -> impl Strategy<Value = Recipe> {
    Just(dims)
        .prop_flat_map(move |dims| {
            let rank = dims.len();
            (
                Just(dims),
                permutation(rank),
                prop::option::weighted(0.3, prop::collection::vec(0..=3_u64, rank)),
                prop::collection::vec(tile(star), 0..=3),
                prop_oneof![5 => Just(1), 1 => 1..=16_u64],
            )
        })
        .prop_map(|(dims, minor_to_major, extra, tiles, align)| {
            let padded = extra.map(|extra| dims.iter().zip(extra).map(|(n, more)| n + more).collect());
            Recipe { dims, minor_to_major, padded, tiles, align }
        })
        .prop_filter("small enough to list", |recipe| {
            recipe.build().is_ok_and(|layout| layout.size() <= 200_000)
        })
}
