//! A layout as its description, and where its elements are by the plainest arithmetic: numbers of 128 bits, and none at all
//! (`None`) where even those are too small. Nothing here asks Tilework anything; `build` is where Tilework gets the same
//! description.

use tilework::{Layout, Result, Swizzle};

use crate::views::View;

/// Elements and bytes that a buffer can have at most.
pub const MOST: u128 = i64::MAX as u128;

/// A whole array and what is seen of it.
#[derive(Clone, Debug)]
pub struct Array {
    pub dims: Vec<u64>,
    pub bits: u32,
    pub places: Places,
    pub views: Vec<View>,
    /// CuTe's bits, base and shift.
    pub swizzle: Option<(u32, u32, i32)>,
}

/// How the places of an array are arranged.
#[derive(Clone, Debug)]
pub enum Places {
    /// Minor to major, sizes as allocated, tiles (`None` is XLA's star), and what the end is a multiple of.
    Tiled { order: Vec<usize>, padded: Option<Vec<u64>>, tiles: Vec<Vec<Option<u64>>>, align: u64 },
    /// One stride for each dimension.
    Strided { strides: Vec<i64>, base: Option<u64>, size: Option<u64> },
}

impl Array {
    /// The layout, as Tilework makes it of the same description.
    pub fn build(&self) -> Result<Layout> {
        let mut layout = match &self.places {
            Places::Tiled { order, padded, tiles, align } => {
                let mut builder = Layout::builder(&self.dims, self.bits)?.minor_to_major(order)?;
                if let Some(padded) = padded {
                    builder = builder.padded(padded)?;
                }
                for tile in tiles {
                    builder = builder.tile(tile)?;
                }
                builder.align(*align).build()?
            }
            Places::Strided { strides, base, size } => {
                Layout::strided(&self.dims, self.bits, strides, *base, *size)?
            }
        };
        if let Some((bits, base, shift)) = self.swizzle {
            layout = layout.swizzled(&Swizzle::new(bits, base, shift)?)?;
        }
        self.views.iter().try_fold(layout, |layout, view| view.of(&layout))
    }

    /// Whether there is such a layout at all.
    pub fn is_valid(&self) -> bool {
        let small = |size: &u64| u128::from(*size) <= MOST;
        self.bits > 0
            && self.dims.iter().all(small)
            && count(&self.dims).is_some_and(|count| count <= u64::MAX.into())
            && self.places.is_valid(&self.dims)
            && self.size().is_some_and(|size| self.counts(size))
            && self.base().is_some_and(|base| base >= 0 && self.counts(base as u128))
            && self.seen().is_some()
    }

    /// Whether the places still can be counted when the swizzle has rounded them up as far as it ever does, and the elements where
    /// dimensions are taken together: an array that repeats elements may have more of them than places.
    pub fn has_room(&self) -> bool {
        let elements = self.seen().and_then(|sizes| count(&sizes));
        let together = self.views.iter().any(|view| matches!(view, View::Reshape(_) | View::Merge(_)));
        if together && elements.is_none_or(|elements| elements > MOST) {
            return false;
        }
        let rounded = self.size().map(|size| size.div_ceil(self.block()));
        let rounded = rounded.and_then(|blocks| times(blocks, self.block()));
        rounded.is_some_and(|size| self.counts(size))
    }

    /// Whether 63 bits count so many elements, and their bytes.
    fn counts(&self, elements: u128) -> bool {
        elements <= MOST && elements * u128::from(self.bits) <= 8 * MOST
    }

    /// The sizes that are seen, if all views are possible.
    pub fn seen(&self) -> Option<Vec<u64>> {
        self.views.iter().try_fold(self.dims.clone(), |dims, view| view.sizes(&dims))
    }

    /// Places that are allocated before a swizzle rounds them up.
    pub fn size(&self) -> Option<u128> {
        let empty = self.dims.contains(&0);
        match &self.places {
            Places::Tiled { order, padded, tiles, align } => {
                let sizes = padded.as_ref().unwrap_or(&self.dims);
                if sizes.contains(&0) {
                    return Some(0);
                }
                let mut sizes: Vec<Option<u128>> =
                    order.iter().rev().map(|&dim| Some(sizes[dim].into())).collect();
                for tile in tiles {
                    for (count, size) in cut(&mut sizes, tile, |major, minor| times(major?, minor?), Some(1))
                    {
                        sizes.insert(count, size.0.map(|n| n.div_ceil(size.1.into())));
                        sizes.push(Some(size.1.into()));
                    }
                }
                let size = sizes.into_iter().try_fold(1, |all, size| times(all, size?))?;
                Some(size.div_ceil((*align).max(1).into()) * u128::from((*align).max(1)))
            }
            Places::Strided { size: Some(size), .. } => Some((*size).into()),
            Places::Strided { .. } if empty => Some(0),
            Places::Strided { .. } => {
                u128::try_from(self.base()?.saturating_add(self.reach().1).saturating_add(1)).ok()
            }
        }
    }

    /// What is added to every offset: a number of strides alone.
    fn base(&self) -> Option<i128> {
        match &self.places {
            Places::Tiled { .. } => Some(0),
            Places::Strided { base: Some(base), .. } => Some((*base).into()),
            Places::Strided { base: None, .. } => Some(-self.reach().0),
        }
    }

    /// How far strides go below and above the first element. No more than 256 products of 127 bits are never added up here.
    pub fn reach(&self) -> (i128, i128) {
        let Places::Strided { strides, .. } = &self.places else { return (0, 0) };
        if self.dims.contains(&0) {
            return (0, 0);
        }
        let spans = self
            .dims
            .iter()
            .zip(strides)
            .map(|(&size, &stride)| (i128::from(size) - 1).saturating_mul(stride.into()));
        spans.fold((0, 0), |(low, high): (i128, i128), span| {
            (low.saturating_add(span.min(0)), high.saturating_add(span.max(0)))
        })
    }

    /// The offset of an element of what is seen. The array is valid and the index within it.
    pub fn offset(&self, index: &[u64]) -> u64 {
        self.place(index, &self.all_sizes())
    }

    /// The offsets of all elements of what is seen, the last dimension first.
    pub fn offsets(&self) -> Vec<u64> {
        let sizes = self.all_sizes();
        indices(&sizes[self.views.len()]).map(|index| self.place(&index, &sizes)).collect()
    }

    /// The sizes before the first view, and after each.
    fn all_sizes(&self) -> Vec<Vec<u64>> {
        let mut all = vec![self.dims.clone()];
        for view in &self.views {
            all.push(view.sizes(&all[all.len() - 1]).expect("the array is valid"));
        }
        all
    }

    fn place(&self, index: &[u64], sizes: &[Vec<u64>]) -> u64 {
        let mut index = index.to_vec();
        for (view, sizes) in self.views.iter().zip(sizes).rev() {
            index = view.index(&index, sizes);
        }
        let place = match &self.places {
            Places::Strided { strides, .. } => {
                let steps = index.iter().zip(strides).map(|(&i, &stride)| i128::from(i) * i128::from(stride));
                (self.base().expect("the array is valid") + steps.sum::<i128>()) as u128
            }
            Places::Tiled { order, padded, tiles, .. } => {
                let sizes = padded.as_ref().unwrap_or(&self.dims);
                tiled(order.iter().rev().map(|&dim| (index[dim].into(), sizes[dim].into())).collect(), tiles)
            }
        };
        let place = u64::try_from(place).expect("the array is valid");
        self.swizzle.map_or(place, |swizzle| exchanged(place, swizzle))
    }

    /// What a swizzle may round the size up to a multiple of.
    pub fn block(&self) -> u128 {
        match self.swizzle {
            Some((bits, base, shift)) if bits > 0 => 1 << (bits + base + shift.unsigned_abs()),
            _ => 1,
        }
    }
}

/// Takes the dimensions under a tile away: where each number of tiles goes, and what it counts with the tile's size. The
/// entries of a star join the next.
#[allow(clippy::type_complexity)]
fn cut<T: Copy>(
    sizes: &mut Vec<T>,
    tile: &[Option<u64>],
    join: impl Fn(T, T) -> T,
    one: T,
) -> Vec<(usize, (T, u64))> {
    while sizes.len() < tile.len() {
        sizes.insert(0, one);
    }
    let start = sizes.len() - tile.len();
    let mut cuts = Vec::new();
    let mut major = None;
    for (entry, size) in tile.iter().zip(sizes.split_off(start)) {
        let size = major.take().map_or(size, |major| join(major, size));
        match entry {
            None => major = Some(size),
            Some(tile) => cuts.push((start + cuts.len(), (size, *tile))),
        }
    }
    cuts
}

/// The place of physical positions with their allocated sizes, major to minor.
fn tiled(mut at: Vec<(u128, u128)>, tiles: &[Vec<Option<u64>>]) -> u128 {
    for tile in tiles {
        let join = |(i, n): (u128, u128), (j, m): (u128, u128)| (i * m + j, n * m);
        for (count, ((i, n), size)) in cut(&mut at, tile, join, (0, 1)) {
            let size = u128::from(size);
            at.insert(count, (i / size, n.div_ceil(size)));
            at.push((i % size, size));
        }
    }
    at.into_iter().fold(0, |place, (i, n)| place * n + i)
}

/// CuTe's swizzle, as its header has it.
pub fn exchanged(place: u64, (bits, base, shift): (u32, u32, i32)) -> u64 {
    if bits == 0 {
        return place;
    }
    let from = base + if shift > 0 { shift.unsigned_abs() } else { 0 };
    let taken = place & (((1 << bits) - 1) << from);
    place ^ if shift > 0 { taken >> shift.unsigned_abs() } else { taken << shift.unsigned_abs() }
}

impl Places {
    fn is_valid(&self, dims: &[u64]) -> bool {
        let empty = dims.contains(&0);
        match self {
            Places::Tiled { order, padded, tiles, .. } => {
                let mut sorted = order.clone();
                sorted.sort_unstable();
                let fits = |padded: &Vec<u64>| {
                    let fits = |(&padded, &size): (&u64, &u64)| padded >= size && u128::from(padded) <= MOST;
                    padded.len() == dims.len() && padded.iter().zip(dims).all(fits)
                };
                sorted.into_iter().eq(0..dims.len())
                    && padded.as_ref().is_none_or(fits)
                    && tiles
                        .iter()
                        .all(|tile| !tile.contains(&Some(0)) && tile.last().is_some_and(Option::is_some))
            }
            Places::Strided { strides, base, size } => {
                let array = Array {
                    dims: dims.to_vec(),
                    bits: 1,
                    places: self.clone(),
                    views: Vec::new(),
                    swizzle: None,
                };
                if strides.len() != dims.len() {
                    return false;
                }
                let (low, high) = array.reach();
                let base = base.map_or(-low, i128::from);
                let need = if empty { 0 } else { base.saturating_add(high).saturating_add(1) };
                base + low >= 0 && size.is_none_or(|size| i128::from(size) >= need)
            }
        }
    }
}

/// The elements of an array, if 128 bits hold that number.
pub fn count(dims: &[u64]) -> Option<u128> {
    if dims.contains(&0) {
        return Some(0);
    }
    dims.iter().try_fold(1, |all, &size| times(all, size.into()))
}

/// A product below 2^127, so that a sum with another such number does not wrap around either.
fn times(a: u128, b: u128) -> Option<u128> {
    a.checked_mul(b).filter(|&product| product < 1 << 126)
}

/// Every index of an array, the last dimension first.
pub fn indices(dims: &[u64]) -> impl Iterator<Item = Vec<u64>> + use<> {
    let dims = dims.to_vec();
    (0..count(&dims).unwrap_or(0) as u64).map(move |mut number| {
        let mut index = vec![0; dims.len()];
        for (i, &size) in index.iter_mut().zip(&dims).rev() {
            *i = number % size;
            number /= size;
        }
        index
    })
}
