//! Packing: `linalg.pack` and `linalg.unpack`, and the encodings of IREE that resolve to the same.
//!
//! Each dimension of `inner_dims_pos` is split by its inner tile; what numbers the tiles stays where the dimension is, in the
//! order of `outer_dims_perm`, and the tiles come behind all dimensions. The last tile is padded.
//!
//! ```text
//! linalg.pack %x inner_dims_pos = [0, 1] inner_tiles = [8, 128] into %dest : tensor<64x256xf32> -> tensor<8x2x8x128xf32>
//! ```

mod encoding;
mod op;
mod read;
mod say;

use crate::error::{Error, ErrorKind, Result, counted};
use crate::layout::Layout;
use crate::layout::terms::Term;
use tilework_core::InOrder;

pub(super) use encoding::of_encoding;
pub(super) use op::Pack;
pub(super) use read::{is_pack, read};
pub(super) use say::say;

/// How an array is packed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Packing {
    /// The dimensions that are split, in the order of their tiles.
    inner_dims_pos: Vec<usize>,
    inner_tiles: Vec<u64>,
    /// Which dimension comes at each place; empty for the order of the array.
    outer_dims_perm: Vec<usize>,
    /// How IREE arranges what is within the tiles.
    swizzle: Option<Swizzle>,
}

/// The inner tiles split further, and their parts in another order.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Swizzle {
    /// The sizes of the parts of each inner tile, the most significant first.
    expand_shape: Vec<Vec<u64>>,
    permutation: Vec<usize>,
}

/// Whether this names some of `count` things, each once.
fn names_each_once(numbers: &[usize], count: usize) -> bool {
    let mut sorted = numbers.to_vec();
    sorted.order();
    sorted.windows(2).all(|pair| pair[0] < pair[1]) && sorted.last().is_none_or(|&last| last < count)
}

impl Packing {
    /// Refuses what MLIR's verifier refuses, for an array of `rank` dimensions.
    fn check(&self, rank: usize) -> Result<()> {
        let no = |found: &str, rule: &str| Err(Error::new(found).field("pack").rule(rule));
        if !names_each_once(&self.inner_dims_pos, rank) {
            return no(
                "invalid inner_dims_pos vector",
                "it names dimensions of the array, each at most once",
            );
        }
        let perm = &self.outer_dims_perm;
        if !perm.is_empty() && (perm.len() != rank || !names_each_once(perm, rank)) {
            return no("invalid outer_dims_perm vector", "outer_dims_perm must be a permutation or empty");
        }
        if self.inner_tiles.len() != self.inner_dims_pos.len() {
            let tiles = counted(self.inner_tiles.len() as u64, "inner tile");
            let found = format!("{tiles} for {}", counted(self.inner_dims_pos.len() as u64, "dimension"));
            return no(&found, "there is one inner tile for each dimension of inner_dims_pos");
        }
        if self.inner_tiles.contains(&0) {
            return no("invalid zero tile factor", "an inner tile has at least one element");
        }
        if let Some(Swizzle { expand_shape, permutation }) = &self.swizzle {
            let is_tile = |(parts, tile): (&Vec<u64>, &u64)| {
                parts.iter().try_fold(1_u64, |product, &part| product.checked_mul(part)) == Some(*tile)
            };
            if expand_shape.len() != self.inner_tiles.len()
                || !expand_shape.iter().zip(&self.inner_tiles).all(is_tile)
            {
                return no("invalid expandShape", "the parts of each inner tile multiply to it");
            }
            let count = expand_shape.iter().map(Vec::len).sum();
            if permutation.len() != count || !names_each_once(permutation, count) {
                return no("invalid permutation of the swizzle", "it names every part exactly once");
            }
        }
        Ok(())
    }

    /// The tile of a dimension.
    fn tile(&self, dim: usize) -> Option<u64> {
        let place = self.inner_dims_pos.iter().position(|&own| own == dim)?;
        self.inner_tiles.get(place).copied()
    }

    /// The dimensions in the order in which they are stored.
    fn order(&self, rank: usize) -> Vec<usize> {
        match self.outer_dims_perm.is_empty() {
            true => (0..rank).collect(),
            false => self.outer_dims_perm.clone(),
        }
    }

    /// The sizes of the packed array, without a swizzle.
    fn packed(&self, dims: &[u64]) -> Vec<u64> {
        let outer = self.order(dims.len()).into_iter().map(|dim| match self.tile(dim) {
            Some(tile) => dims[dim].div_ceil(tile),
            None => dims[dim],
        });
        outer.chain(self.inner_tiles.iter().copied()).collect()
    }

    /// Whether a tile is not full, so that it is padded.
    fn is_padded(&self, dims: &[u64]) -> bool {
        (0..dims.len()).any(|dim| self.tile(dim).is_some_and(|tile| !dims[dim].is_multiple_of(tile)))
    }

    /// The layout of an array of these sizes.
    ///
    /// # Errors
    /// More bytes than 63 bits can count.
    pub(super) fn lower(&self, dims: &[u64], bits: u32) -> Result<Layout> {
        self.check(dims.len())?;
        let mut terms = Layout::terms(dims, bits)?;
        let mut outer: Vec<Option<Term>> = Vec::with_capacity(dims.len());
        let mut within: Vec<Option<Term>> = Vec::with_capacity(dims.len());
        for dim in 0..dims.len() {
            let term = terms.dim(dim)?;
            let (number, rest) = match self.tile(dim) {
                Some(tile) => terms.split(term, tile).map(|(number, rest)| (number, Some(rest)))?,
                None => (term, None),
            };
            outer.push(Some(number));
            within.push(rest);
        }
        let sizes = self.packed(dims);
        let mut axes: Vec<(Term, u64)> = Vec::with_capacity(sizes.len());
        for (dim, &size) in self.order(dims.len()).into_iter().zip(&sizes) {
            axes.extend(outer[dim].take().map(|term| (term, size)));
        }
        let mut parts: Vec<(Term, u64)> = Vec::new();
        for (place, (&dim, &tile)) in self.inner_dims_pos.iter().zip(&self.inner_tiles).enumerate() {
            let Some(mut rest) = within[dim].take() else { continue };
            let Some(swizzle) = &self.swizzle else {
                parts.push((rest, tile));
                continue;
            };
            let mut digits = Vec::new();
            for &size in swizzle.expand_shape[place].iter().skip(1).rev() {
                let (above, digit) = terms.split(rest, size)?;
                digits.push((digit, size));
                rest = above;
            }
            digits.push((rest, swizzle.expand_shape[place].first().copied().unwrap_or(1)));
            digits.reverse();
            parts.append(&mut digits);
        }
        if let Some(swizzle) = &self.swizzle {
            let mut old: Vec<Option<(Term, u64)>> = parts.into_iter().map(Some).collect();
            parts = swizzle.permutation.iter().filter_map(|&from| old.get_mut(from)?.take()).collect();
        }
        axes.append(&mut parts);
        let too_large = || {
            Error::new("the packed array has more elements than 63 bits can count")
                .of_kind(ErrorKind::Overflow)
                .field("pack")
        };
        let mut size = 1_u64;
        let is_empty = axes.iter().any(|(_, size)| *size == 0);
        for (term, extent) in axes.into_iter().rev().filter(|_| !is_empty) {
            terms.add(term, i64::try_from(size).map_err(|_| too_large())?)?;
            size = size.checked_mul(extent).ok_or_else(too_large)?;
        }
        terms.build(None, Some(if is_empty { 0 } else { size }))
    }
}
