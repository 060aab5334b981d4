//! An array in a grid of chunks, and the layout of all chunks one after the other.

use std::fmt;

use crate::element::Element;
use crate::error::{Error, ErrorKind, Result, counted};
use crate::layout::{Layout, check_order};

/// An array of Zarr.
///
/// ```
/// use tilework::{Element, dialect::Described, zarr::Array};
/// let array = Array::new(Element::F32, &[3, 5], &[2, 2], None, None)?;
/// assert_eq!(array.to_string(), "f32[3,5] chunks (2, 2)");
/// assert_eq!(array.layout()?.offset(&[2, 3])?, 17);
/// # Ok::<(), tilework::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    pub(super) element: Element,
    pub(super) dims: Vec<u64>,
    /// The sizes of a shard, where chunks are kept in shards; behind them those of shards within shards.
    pub(super) shards: Vec<Vec<u64>>,
    /// The sizes of a chunk.
    pub(super) chunks: Vec<u64>,
    /// The dimensions of a chunk from major to minor, where that is not their own order.
    pub(super) order: Option<Vec<usize>>,
}

impl Array {
    /// An array of these sizes in chunks, in shards of whole chunks if need be; `order` has the dimensions of a chunk from major
    /// to minor.
    ///
    /// # Errors
    /// Another number of sizes than dimensions, a size of 0, a shard that is no number of chunks, an order that is none.
    pub fn new(
        element: Element,
        dims: &[u64],
        chunks: &[u64],
        shards: Option<&[u64]>,
        order: Option<&[usize]>,
    ) -> Result<Array> {
        Array::nested(element, dims, chunks, shards.as_slice(), order)
    }

    /// The same with shards of shards, the outermost first.
    ///
    /// ```
    /// use tilework::{Element, zarr::Array};
    /// let array = Array::nested(Element::U8, &[9, 9], &[2, 2], &[&[8, 8], &[4, 4]], None)?;
    /// assert_eq!(array.to_string(), "u8[9,9] shards (8, 8) shards (4, 4) chunks (2, 2)");
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Array::new`], for shards of each kind.
    pub fn nested(
        element: Element,
        dims: &[u64],
        chunks: &[u64],
        shards: &[&[u64]],
        order: Option<&[usize]>,
    ) -> Result<Array> {
        let shards = shards.iter().map(|sizes| sizes.to_vec()).collect();
        let (chunks, order) = (chunks.to_vec(), order.map(<[usize]>::to_vec));
        Array { element, dims: dims.to_vec(), shards, chunks, order }.checked()
    }

    /// The sizes of a chunk.
    pub fn chunks(&self) -> &[u64] {
        &self.chunks
    }

    /// The sizes of a shard, where chunks are kept in shards; of shards within shards those of the outermost.
    pub fn shards(&self) -> Option<&[u64]> {
        self.shards.first().map(Vec::as_slice)
    }

    /// The dimensions of a chunk from major to minor, where that is not their own order.
    pub fn order(&self) -> Option<&[usize]> {
        self.order.as_deref()
    }

    /// Checks the sizes against each other.
    ///
    /// # Errors
    /// Another number of sizes than dimensions, a size of 0, a shard that is no number of chunks, an order that is none.
    pub(super) fn checked(self) -> Result<Array> {
        let rank = self.dims.len();
        let shards = self.shards.iter().map(|sizes| (sizes, "shards", "shard"));
        for (sizes, field, what) in [(&self.chunks, "chunks", "chunk")].into_iter().chain(shards) {
            if sizes.len() != rank {
                let [found, dims] = [(sizes.len(), "size"), (rank, "dimension")]
                    .map(|(count, noun)| counted(count as u64, noun));
                return Err(Error::new(format!("a {what} of {found} in {dims}"))
                    .of_kind(ErrorKind::Mismatch)
                    .field(field)
                    .rule(format!("a {what} has a size in every dimension"))
                    .accepts(counted(rank as u64, "size")));
            }
            if sizes.iter().any(|&size| size == 0 || size > i64::MAX as u64) {
                return Err(Error::new(format!("a {what} of {}", list(sizes)))
                    .field(field)
                    .rule("the sizes of the Zarr specification's regular grid are above 0")
                    .accepts("sizes of 1 or more"));
            }
        }
        let within = self.shards.iter().skip(1).map(|sizes| (sizes, "shards"));
        let within = within.chain([(&self.chunks, "chunks")]);
        for (shards, (sizes, what)) in self.shards.iter().zip(within) {
            let Some(dim) = (0..rank).find(|&dim| !shards[dim].is_multiple_of(sizes[dim])) else { continue };
            let (shard, size) = (shards[dim], sizes[dim]);
            return Err(Error::new(format!("shards of {shard} and {what} of {size} in dimension {dim}"))
                .field("shards")
                .rule(format!("a shard holds whole {what}"))
                .accepts(format!("a multiple of {size}")));
        }
        if let Some(order) = &self.order {
            check_order(order, rank, "order")?;
        }
        Ok(self)
    }

    /// All chunks one after the other, in the order of the grid, and each of full size; shards likewise.
    pub(super) fn lower(&self) -> Result<Layout> {
        let rank = self.dims.len();
        let mut terms = Layout::terms(&self.dims, 8 * self.element.bytes())?;
        // Of each cut the pieces in all dimensions, and of each dimension what is within a chunk.
        let (mut grids, mut within) = (Vec::new(), Vec::new());
        for dim in 0..rank {
            let mut rest = terms.dim(dim)?;
            for (level, sizes) in self.shards.iter().chain([&self.chunks]).enumerate() {
                let (piece, of_piece) = terms.split(rest, sizes[dim])?;
                grids.push((level, piece));
                rest = of_piece;
            }
            within.push(Some(rest));
        }
        grids.sort_by_key(|(level, _)| *level); // and the dimensions stay in order
        let order = self.order.clone().unwrap_or_else(|| (0..rank).collect());
        let within = order.into_iter().filter_map(|dim| within[dim].take());
        let all: Vec<_> = grids.into_iter().map(|(_, piece)| piece).chain(within).collect();
        let mut stride = 1_i64;
        for term in all.into_iter().rev() {
            let extent = terms.extent(&term);
            terms.add(term, if extent > 1 { stride } else { 0 })?;
            let next = i64::try_from(extent.max(1)).ok().and_then(|extent| stride.checked_mul(extent));
            stride = next.ok_or_else(|| {
                Error::new("the chunks together overflow 63 bits")
                    .of_kind(ErrorKind::Overflow)
                    .field("chunks")
                    .accepts("smaller chunks")
            })?;
        }
        terms.build(None, None)
    }

    /// Of every dimension, the number of chunks, those at the edge included.
    pub(super) fn counts(&self, of: &[u64]) -> Vec<u64> {
        self.dims.iter().zip(of).map(|(size, of)| size.div_ceil(*of)).collect()
    }
}

/// `(5, 20)`, `(5,)`
pub(super) fn list(numbers: &[impl ToString]) -> String {
    let all: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    format!("({}{})", all.join(", "), if all.len() == 1 { "," } else { "" })
}

/// `f32[64,64] shards (32, 32) chunks (16, 16) order (1, 0)`
impl fmt::Display for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dims: Vec<String> = self.dims.iter().map(u64::to_string).collect();
        write!(f, "{}[{}]", self.element, dims.join(","))?;
        for shards in &self.shards {
            write!(f, " shards {}", list(shards))?;
        }
        write!(f, " chunks {}", list(&self.chunks))?;
        match &self.order {
            Some(order) => write!(f, " order {}", list(order)),
            None => Ok(()),
        }
    }
}
