//! Views of arrays: what they make of sizes, and which element an index means.

use std::ops::Range;

use tilework::{Layout, Result};

use crate::model::{MOST, count};

/// Another look at the same array.
#[derive(Clone, Debug)]
pub enum View {
    Permute(Vec<usize>),
    Slice(usize, Range<u64>, u64),
    Flip(usize),
    Broadcast(Vec<u64>),
    Split(usize, u64),
    Merge(usize),
    Reshape(Vec<u64>),
}

impl View {
    /// The same of a layout, as Tilework does it.
    pub fn of(&self, layout: &Layout) -> Result<Layout> {
        match self {
            View::Permute(order) => layout.permute(order),
            View::Slice(dim, range, step) => layout.slice(*dim, range.clone(), *step),
            View::Flip(dim) => layout.flip(*dim),
            View::Broadcast(dims) => layout.broadcast(dims),
            View::Split(dim, inner) => layout.split_dim(*dim, *inner),
            View::Merge(dim) => layout.merge_dims(*dim),
            View::Reshape(dims) => layout.reshape(dims),
        }
    }

    /// The sizes after it, if it is possible.
    pub fn sizes(&self, dims: &[u64]) -> Option<Vec<u64>> {
        let mut sizes = dims.to_vec();
        match self {
            View::Permute(order) => {
                let mut sorted = order.clone();
                sorted.sort_unstable();
                let is_one = sorted.into_iter().eq(0..dims.len());
                return is_one.then(|| order.iter().map(|&dim| dims[dim]).collect());
            }
            View::Slice(dim, range, step) => {
                let size = sizes.get_mut(*dim)?;
                let fits = range.start <= range.end && range.end <= *size && *step > 0;
                let fits = fits && u128::from(*step) <= MOST;
                *size = fits.then(|| (range.end - range.start).div_ceil(*step))?;
            }
            View::Flip(dim) => return dims.get(*dim).map(|_| sizes),
            View::Broadcast(wanted) => {
                let added = wanted.len().checked_sub(dims.len())?;
                let keeps = dims.iter().zip(&wanted[added..]).all(|(&old, &new)| old == new || old == 1);
                let small = wanted.iter().all(|&size| u128::from(size) <= MOST);
                return (keeps && small && fits_64_bits(wanted)).then(|| wanted.clone());
            }
            View::Split(dim, inner) => {
                let size = *sizes.get(*dim)?;
                if *inner == 0 || size % inner != 0 || u128::from(*inner) > MOST {
                    return None;
                }
                sizes.splice(*dim..=*dim, [size / inner, *inner]);
            }
            View::Merge(dim) => {
                let (major, minor) = (*sizes.get(*dim)?, *sizes.get(*dim + 1)?);
                let both = u128::from(major) * u128::from(minor);
                let both = (both <= MOST).then_some(both as u64)?;
                sizes.splice(*dim..=*dim + 1, [both]);
            }
            View::Reshape(wanted) => {
                let small = wanted.iter().all(|&size| u128::from(size) <= MOST);
                return (small && fits_64_bits(wanted) && count(wanted) == count(dims))
                    .then(|| wanted.clone());
            }
        }
        Some(sizes)
    }

    /// The index before it.
    pub fn index(&self, index: &[u64], sizes: &[u64]) -> Vec<u64> {
        let mut old = index.to_vec();
        match self {
            View::Permute(order) => {
                for (&dim, &i) in order.iter().zip(index) {
                    old[dim] = i;
                }
            }
            View::Slice(dim, range, step) => old[*dim] = range.start + index[*dim] * step,
            View::Flip(dim) => old[*dim] = sizes[*dim] - 1 - index[*dim],
            View::Broadcast(wanted) => {
                let kept = &index[wanted.len() - sizes.len()..];
                old = kept.iter().zip(sizes).map(|(&i, &size)| if size == 1 { 0 } else { i }).collect();
            }
            View::Split(dim, inner) => {
                let both = index[*dim] * inner + index[*dim + 1];
                old.splice(*dim..=*dim + 1, [both]);
            }
            View::Merge(dim) => {
                let minor = sizes[*dim + 1];
                old.splice(*dim..=*dim, [index[*dim] / minor, index[*dim] % minor]);
            }
            View::Reshape(wanted) => {
                let mut number =
                    index.iter().zip(wanted).fold(0_u128, |at, (&i, &n)| at * u128::from(n) + u128::from(i));
                old = sizes.to_vec();
                for (i, &size) in old.iter_mut().zip(sizes).rev() {
                    *i = (number % u128::from(size)) as u64;
                    number /= u128::from(size);
                }
            }
        }
        old
    }
}

fn fits_64_bits(dims: &[u64]) -> bool {
    count(dims).is_some_and(|count| count <= u64::MAX.into())
}
