//! Building compact layouts, step by step.

use std::fmt;

use smallvec::SmallVec;

use crate::error::{Error, ErrorKind, Result, counted};
use crate::layout::parts::{Axis, Part, merge, push, split};
use crate::layout::{Layout, MAX_RANK, MAX_TILES, check_order, check_size, not_one_each};

/// A physical dimension of extent 1 that no index names: a tile position beyond the rank, or within a tile of 1. It
/// becomes an expression when a tile cuts it.
const UNIT: usize = usize::MAX;

/// Builds a compact layout step by step, as XLA's notation reads: order, padded sizes, tiles, alignment of the end.
///
/// Starts with [`Layout::builder`].
#[derive(Clone)]
pub struct Builder {
    /// The layout so far: its dimensions and expressions. Axes and sizes come last, in [`Builder::finish`].
    layout: Layout,
    /// The physical dimensions, major to minor.
    physical: SmallVec<[usize; 12]>,
    tiles: u32,
    align: u64,
}

/// The layout in it has no form yet, so its numbers are said one by one.
impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (dims, bits) = (self.layout.dims(), self.layout.bits());
        write!(f, "Builder({dims:?} of {bits} bits, tiles {}, align {})", self.tiles, self.align)
    }
}

impl Builder {
    #[inline]
    pub(crate) fn new(dims: &[u64], bits: u32) -> Result<Builder> {
        let layout = Layout::of_dims(dims, bits)?;
        Ok(Builder { layout, physical: (0..dims.len()).collect(), tiles: 0, align: 1 })
    }

    /// Puts the dimensions in this order, the most minor first. Comes before padding and tiles.
    ///
    /// # Errors
    /// Not a permutation of the dimensions, or tiles that already stand on another order.
    pub fn minor_to_major(mut self, order: &[usize]) -> Result<Builder> {
        self.require_no_tiles("minor_to_major")?;
        check_order(order, self.layout.rank(), "minor_to_major")?;
        self.set_order(order);
        Ok(self)
    }

    /// Tiles cut the dimensions as they stand, so what arranges those comes first.
    fn require_no_tiles(&self, field: &str) -> Result<()> {
        match self.tiles {
            0 => Ok(()),
            tiles => Err(Error::new(format!("{field} after {}", counted(tiles.into(), "tile")))
                .field(field)
                .rule("the order and padded sizes come before tiles, which cut what they arrange")
                .accepts(format!("{field} before the first tile"))),
        }
    }

    /// Takes an order that is known to be a permutation.
    #[doc(hidden)]
    pub fn set_order(&mut self, order: &[usize]) {
        for (physical, &dim) in self.physical.iter_mut().zip(order.iter().rev()) {
            *physical = dim;
        }
    }

    /// Allocates each dimension at this size: XLA's older `padded_dimensions`. Comes before tiles.
    ///
    /// # Errors
    /// Another number of sizes than dimensions, one below its dimension or above `i64::MAX`, or tiles that already
    /// cut the dimensions.
    pub fn padded(mut self, sizes: &[u64]) -> Result<Builder> {
        self.require_no_tiles("padded_dimensions")?;
        self.pad(sizes)?;
        Ok(self)
    }

    #[doc(hidden)]
    pub fn pad(&mut self, sizes: &[u64]) -> Result<()> {
        let rank = self.layout.rank();
        if sizes.len() != rank {
            let accepted = counted(rank as u64, "size");
            return Err(not_one_each(sizes.len(), "padded size", rank)
                .field("padded_dimensions")
                .accepts(accepted));
        }
        for (dim, (&padded, part)) in sizes.iter().zip(&mut self.layout.inner().parts).enumerate() {
            if padded < part.reach || padded > i64::MAX as u64 {
                return Err(Error::new(format!("dimension {dim} is {}, padded to {padded}", part.reach))
                    .field("padded_dimensions")
                    .rule("a padded dimension is at least the dimension's size")
                    .accepts(format!("{} to {}", part.reach, i64::MAX)));
            }
            part.extent = padded;
        }
        Ok(())
    }

    /// Cuts the minor-most physical dimensions into tiles. `None` is XLA's `*`: combine with the next more minor.
    ///
    /// The next tile sees the result: the numbers of tiles in each dimension, then the dimensions within a tile.
    ///
    /// ```
    /// use tilework::Layout;
    /// // f32[2,7,8,11,10] in T(*,*,2,*,3): the same as f32[112,110] in T(2,3)
    /// let stars = [None, None, Some(2), None, Some(3)];
    /// let layout = Layout::builder(&[2, 7, 8, 11, 10], 32)?.tile(&stars)?.build()?;
    /// let plain = Layout::builder(&[112, 110], 32)?.tile(&[Some(2), Some(3)])?.build()?;
    /// assert_eq!(layout.size(), plain.size());
    /// assert_eq!(layout.offset(&[1, 6, 7, 10, 9])?, plain.offset(&[111, 109])?);
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// An empty tile, a size of 0, a `*` with nothing after it, or sizes that overflow.
    pub fn tile(mut self, tile: &[Option<u64>]) -> Result<Builder> {
        self.push_tile(tile.iter().copied())?;
        Ok(self)
    }

    #[doc(hidden)]
    pub fn push_tile(&mut self, tile: impl ExactSizeIterator<Item = Option<u64>>) -> Result<()> {
        let len = tile.len();
        if len == 0 || len > MAX_RANK || self.tiles as usize >= MAX_TILES {
            return Err(Error::new(format!("tile {} with {}", self.tiles + 1, counted(len as u64, "size")))
                .of_kind(ErrorKind::Limit)
                .field("tiles")
                .accepts(format!("up to {MAX_TILES} tiles of 1 to {MAX_RANK} sizes")));
        }
        self.tiles += 1;
        while self.physical.len() < len {
            self.physical.insert(0, UNIT);
        }
        // The tiled physical dimensions become those that count tiles, in place, then those within a tile, at the end.
        let start = self.physical.len() - len;
        let mut count = start;
        let mut within: SmallVec<[usize; 8]> = SmallVec::new();
        let mut combined: Option<usize> = None;
        for (position, size) in (start..).zip(tile) {
            let mut axis = self.physical[position];
            if let Some(major) = combined.take() {
                axis = match (major, axis) {
                    (UNIT, axis) | (axis, UNIT) => axis,
                    // Where nothing is allocated, nothing is combined either: a product with a 0 in it is 0, wherever
                    // the 0 stands.
                    (major, _) if self.is_empty() => major,
                    (major, minor) => merge(&mut self.layout.inner().parts, major, minor)?,
                };
            }
            match size {
                None => {
                    combined = Some(axis);
                    continue;
                }
                Some(0) => {
                    return Err(Error::new("tile size 0").field("tiles").accepts("a size of 1 or more"));
                }
                // A tile of 1 leaves the axis whole, and what is within it has one value.
                Some(1) => {
                    self.physical[count] = axis;
                    within.push(UNIT);
                }
                Some(size) => {
                    if axis == UNIT {
                        axis = push(&mut self.layout.inner().parts, Part::UNIT);
                    }
                    let (tiles, rest) = split(&mut self.layout.inner().parts, axis, size, self.tiles);
                    self.physical[count] = tiles;
                    within.push(rest);
                }
            }
            count += 1;
        }
        if combined.is_some() {
            return Err(Error::new("* at the end of a tile")
                .field("tiles")
                .rule("* combines a dimension with the next more minor one")
                .accepts("a size at the end"));
        }
        self.physical.truncate(count);
        self.physical.extend_from_slice(&within);
        Ok(())
    }

    /// Pads the end of the buffer to a multiple of this many elements: XLA's `L(n)`.
    #[must_use]
    pub fn align(mut self, elements: u64) -> Builder {
        self.set_align(elements);
        self
    }

    #[doc(hidden)]
    pub fn set_align(&mut self, elements: u64) {
        self.align = elements.max(1);
    }

    /// The layout.
    ///
    /// # Errors
    /// More allocated elements or bytes than 63 bits can count.
    #[inline]
    pub fn build(mut self) -> Result<Layout> {
        let empty = self.is_empty();
        let layout = self.layout.inner();
        let mut filled = Some(u64::from(!empty));
        for &part in self.physical.iter().rev().filter(|&&part| part != UNIT && !empty) {
            let extent = layout.parts[part].extent;
            if extent != 1 {
                let stride = filled.unwrap_or(0) as i64; // below 2^63 if the whole is
                layout.axes.push(Axis { part, extent, stride });
                filled = filled.and_then(|filled| filled.checked_mul(extent));
            }
        }
        let filled = check_size(filled, layout.bits)?;
        layout.axes.reverse();
        layout.size = match self.align {
            1 => filled,
            align => check_size(filled.checked_next_multiple_of(align), layout.bits)?,
        };
        layout.tail = layout.size - filled;
        layout.compact = true;
        Ok(self.layout)
    }

    /// Whether nothing is allocated, which comes from a dimension of which nothing is: they are the first expressions.
    #[inline]
    fn is_empty(&mut self) -> bool {
        let layout = self.layout.inner();
        layout.parts[..layout.dims.len()].iter().any(|part| part.extent == 0)
    }
}
