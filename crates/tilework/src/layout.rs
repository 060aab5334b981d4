//! The one [`Layout`]: a function from index to offset, with its allocated size.

use std::sync::OnceLock;

use smallvec::SmallVec;

use crate::canon::Canon;
use crate::error::{Error, Result};
use crate::expr::{Expr, Id, Node, Nodes, merge, push, split};

/// The most dimensions a layout may have, and the most entries of a tile.
pub const MAX_RANK: usize = 256;

/// The most tile levels a layout may have.
pub const MAX_TILES: usize = 64;

/// How an array lies in memory: the function from an index to the offset of its element, and how much is allocated.
///
/// ```text
/// offset(x) = base + Σ stride · e(x)         e: dimensions, split (div, mod) and merged
/// ```
///
/// Offsets, strides and sizes are in elements. A layout that exists is valid: every index has an offset in
/// `0..size`, and all its products were computed without wrapping around.
///
/// ```
/// use tilework::Layout;
/// // f32[3,5]{1,0:T(2,2)}: 3 × 5 elements of 32 bits, row-major, in tiles of 2 × 2
/// let layout = Layout::builder(&[3, 5], 32)?.tile(&[Some(2), Some(2)])?.build()?;
/// assert_eq!(layout.offset(&[2, 3])?, 17);
/// assert_eq!((layout.len(), layout.size(), layout.bytes()), (15, 24, 96));
/// # Ok::<(), tilework::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Layout {
    dims: SmallVec<[u64; 6]>,
    bits: u32,
    nodes: Nodes,
    /// What is summed, from the largest stride to the smallest. Axes of extent 1 add nothing and are left out.
    axes: SmallVec<[Axis; 10]>,
    base: u64,
    size: u64,
    /// Elements that `L(n)` or an explicit size added behind the last place of the axes.
    tail: u64,
    /// Whether the places are one mixed-radix number without gaps: the axes' extents and strides fill `0..size - tail`.
    compact: bool,
    canon: OnceLock<Box<Canon>>,
}

/// One term of the sum: an expression, how many values are allocated for it, and the places it moves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Axis {
    pub(crate) node: Id,
    pub(crate) extent: u64,
    pub(crate) stride: i64,
}

/// Builds a compact layout step by step, as XLA's notation reads: order, padded sizes, tiles, alignment of the end.
#[derive(Clone, Debug)]
pub struct Builder {
    dims: SmallVec<[u64; 6]>,
    bits: u32,
    nodes: Nodes,
    /// The physical dimensions, major to minor.
    physical: SmallVec<[Id; 12]>,
    tiles: u32,
    align: u64,
}

impl Layout {
    /// Starts a compact layout of `dims`, row-major, with elements of `bits` bits.
    ///
    /// # Errors
    /// More than [`MAX_RANK`] dimensions, a size above `i64::MAX`, or elements of 0 bits.
    pub fn builder(dims: &[u64], bits: u32) -> Result<Builder> {
        check_dims(dims, bits)?;
        let mut nodes = Nodes::new();
        let mut physical = SmallVec::new();
        for (dim, &size) in dims.iter().enumerate() {
            nodes.push(Node { expr: Expr::Dim(dim as u32), reach: size, extent: size, tile: 0 });
            physical.push(dim as Id);
        }
        Ok(Builder { dims: SmallVec::from_slice(dims), bits, nodes, physical, tiles: 0, align: 1 })
    }

    /// The row-major layout: the last dimension is the most minor.
    ///
    /// # Errors
    /// Those of [`Layout::builder`], or more elements than 63 bits can count.
    pub fn row_major(dims: &[u64], bits: u32) -> Result<Layout> {
        Layout::builder(dims, bits)?.build()
    }

    /// Free strides: `offset = base + Σ strides[d]·index[d]`. A stride of 0 broadcasts, a negative one reverses.
    ///
    /// Without a base the least one is taken that keeps every offset at 0 or above; without a size, the last offset
    /// plus one.
    ///
    /// ```
    /// use tilework::Layout;
    /// let reversed = Layout::strided(&[2, 3], 32, &[3, -1], None, None)?;
    /// assert_eq!(reversed.offset(&[0, 0])?, 2);
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Another number of strides than dimensions, an offset below 0 or above 63 bits, or a size too small for the
    /// last element.
    pub fn strided(
        dims: &[u64],
        bits: u32,
        strides: &[i64],
        base: Option<u64>,
        size: Option<u64>,
    ) -> Result<Layout> {
        check_dims(dims, bits)?;
        if strides.len() != dims.len() {
            return Err(Error::new(format!("{} strides for {} dimensions", strides.len(), dims.len()))
                .field("strides")
                .rule("every dimension has one stride")
                .accepts(format!("{} strides", dims.len())));
        }
        let mut layout = Layout {
            dims: SmallVec::from_slice(dims),
            bits,
            nodes: Nodes::new(),
            axes: SmallVec::new(),
            base: 0,
            size: 0,
            tail: 0,
            compact: false,
            canon: OnceLock::new(),
        };
        let (mut below, mut above) = (0_i128, 0_i128);
        for (dim, (&extent, &stride)) in dims.iter().zip(strides).enumerate() {
            let node = Node { expr: Expr::Dim(dim as u32), reach: extent, extent, tile: 0 };
            let node = push(&mut layout.nodes, node);
            if extent > 1 && stride != 0 {
                layout.axes.push(Axis { node, extent, stride });
                let reach = i128::from(stride) * i128::from(extent - 1);
                if reach < 0 { below -= reach } else { above += reach }
            }
        }
        layout.axes.sort_by_key(|axis| std::cmp::Reverse(axis.stride.unsigned_abs()));
        let base = base.map_or(below, i128::from);
        if base < below {
            return Err(Error::new(format!(
                "the first offsets are below 0: base {base}, strides reach −{below}"
            ))
            .field("base")
            .rule("every element has an offset of 0 or more")
            .accepts(format!("{below} or more")));
        }
        let last = base + above;
        let need = if dims.contains(&0) { 0 } else { last + 1 };
        let room = size.map_or(need, i128::from);
        if room < need {
            return Err(Error::new(format!("size {room}, but the last element is at offset {last}"))
                .field("size")
                .rule("every offset is below the size")
                .accepts(format!("{need} or more")));
        }
        layout.size = check_size(room, bits)?;
        layout.base = check_size(base, bits)?; // at most the last offset when there are elements
        layout.tail = (room - need) as u64; // both are within 63 bits now
        Ok(layout)
    }

    /// The sizes of the dimensions.
    pub fn dims(&self) -> &[u64] {
        &self.dims
    }

    /// Number of dimensions.
    pub fn rank(&self) -> usize {
        self.dims.len()
    }

    /// Bits of one element.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// Allocated elements: those of the array and the padding.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Allocated bytes: `size · bits / 8`, rounded up.
    pub fn bytes(&self) -> u64 {
        bytes_of(self.size, self.bits)
    }

    /// Number of elements of the array. Fits 64 bits, but only a broadcast layout can exceed [`Layout::size`].
    pub fn len(&self) -> u64 {
        if self.is_empty() { 0 } else { self.dims.iter().product() }
    }

    /// Whether the array has no elements.
    pub fn is_empty(&self) -> bool {
        self.dims.contains(&0)
    }

    /// Bytes of the elements alone, without padding, rounded up.
    pub fn element_bytes(&self) -> u128 {
        (u128::from(self.len()) * u128::from(self.bits)).div_ceil(8)
    }

    /// The offset of the element at (0, …, 0).
    pub fn base(&self) -> u64 {
        self.base
    }

    /// The offset of an element.
    ///
    /// ```
    /// use tilework::Layout;
    /// let layout = Layout::builder(&[8, 8], 32)?
    ///     .tile(&[Some(2), Some(4)])?
    ///     .tile(&[Some(2), Some(1), Some(1), Some(1)])?
    ///     .build()?;
    /// assert_eq!(layout.offset(&[6, 5])?, 51);
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// An index of another rank, or outside the dimensions.
    #[inline]
    pub fn offset(&self, index: &[u64]) -> Result<u64> {
        if index.len() != self.dims.len() || index.iter().zip(&self.dims).any(|(i, size)| i >= size) {
            return Err(self.index_error(index));
        }
        Ok(self.canon().eval(index))
    }

    #[cold]
    fn index_error(&self, index: &[u64]) -> Error {
        if index.len() != self.rank() {
            return Error::new(format!("an index of {} numbers for {} dimensions", index.len(), self.rank()))
                .field("index")
                .rule("an index has one number for each dimension")
                .accepts(format!("{} numbers", self.rank()));
        }
        let found = index.iter().zip(&self.dims).position(|(i, size)| i >= size).unwrap_or(0);
        let size = self.dims[found];
        Error::new(format!("index {} in dimension {found} of size {size}", index[found]))
            .field("index")
            .accepts(match size {
                0 => "nothing: the array has no elements".to_owned(),
                _ => format!("0 to {}", size - 1),
            })
    }

    /// The canonical form of the function; see [`Canon`].
    #[inline]
    pub fn canon(&self) -> &Canon {
        self.canon.get_or_init(|| Box::new(Canon::of(self)))
    }

    pub(crate) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    pub(crate) fn raw_axes(&self) -> &[Axis] {
        &self.axes
    }

    pub(crate) fn is_compact(&self) -> bool {
        self.compact
    }

    pub(crate) fn tail(&self) -> u64 {
        self.tail
    }

    /// The same places with other dimensions and expressions: what every view is.
    pub(crate) fn with_index(&self, dims: SmallVec<[u64; 6]>, nodes: Nodes, names: &[Id]) -> Layout {
        let axes = self.axes.iter().map(|axis| Axis { node: names[axis.node as usize], ..*axis }).collect();
        let mut view = Layout { dims, nodes, axes, canon: OnceLock::new(), ..self.clone() };
        if !view.compact && !view.is_empty() {
            view.dissolve_shifts();
        }
        view
    }

    /// R12 on free strides: `stride·(start + step·x)` is a stride and a base.
    fn dissolve_shifts(&mut self) {
        for axis in &mut self.axes {
            while let Node { expr: Expr::Shift { of, start, step }, .. } = self.nodes[axis.node as usize] {
                let node = self.nodes[of as usize];
                let moved = i128::from(self.base) + i128::from(axis.stride) * i128::from(start);
                let stride = i128::from(axis.stride) * i128::from(step);
                // A single value needs no stride, and then the product may be anything.
                let stride = if node.extent > 1 { stride } else { 1 };
                let (Ok(base), Ok(stride)) = (u64::try_from(moved), i64::try_from(stride)) else { return };
                self.base = base;
                *axis = Axis { node: of, extent: node.extent, stride };
            }
        }
        self.axes.retain(|axis| axis.extent > 1);
        self.axes.sort_by_key(|axis| std::cmp::Reverse(axis.stride.unsigned_abs()));
    }
}

impl Builder {
    /// Puts the dimensions in this order, the most minor first. Comes before padding and tiles.
    ///
    /// # Errors
    /// Not a permutation of the dimensions.
    pub fn minor_to_major(mut self, order: &[usize]) -> Result<Builder> {
        let rank = self.dims.len();
        let mut seen = SmallVec::<[bool; 16]>::from_elem(false, rank);
        if order.len() != rank
            || order.iter().any(|&dim| dim >= rank || std::mem::replace(&mut seen[dim], true))
        {
            return Err(Error::new(format!("order {order:?} of {rank} dimensions"))
                .field("minor_to_major")
                .rule("the order names every dimension exactly once"));
        }
        self.set_order(order);
        Ok(self)
    }

    /// Takes an order that is known to be a permutation.
    pub(crate) fn set_order(&mut self, order: &[usize]) {
        for (physical, &dim) in self.physical.iter_mut().zip(order.iter().rev()) {
            *physical = dim as Id;
        }
    }

    /// Allocates each dimension at this size: XLA's older `padded_dimensions`. Comes before tiles.
    ///
    /// # Errors
    /// Another number of sizes than dimensions, or one below its dimension or above `i64::MAX`.
    pub fn padded(mut self, sizes: &[u64]) -> Result<Builder> {
        self.pad(sizes)?;
        Ok(self)
    }

    pub(crate) fn pad(&mut self, sizes: &[u64]) -> Result<()> {
        let rank = self.dims.len();
        if sizes.len() != rank {
            return Err(Error::new(format!("{} padded sizes for {rank} dimensions", sizes.len()))
                .field("padded_dimensions")
                .accepts(format!("{rank} sizes")));
        }
        for (dim, (&padded, node)) in sizes.iter().zip(&mut self.nodes).enumerate() {
            if padded < node.reach || padded > i64::MAX as u64 {
                return Err(Error::new(format!("dimension {dim} is {}, padded to {padded}", node.reach))
                    .field("padded_dimensions")
                    .rule("a padded dimension is at least the dimension's size")
                    .accepts(format!("{} to {}", node.reach, i64::MAX)));
            }
            node.extent = padded;
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

    pub(crate) fn push_tile(&mut self, tile: impl ExactSizeIterator<Item = Option<u64>>) -> Result<()> {
        let len = tile.len();
        if len == 0 || len > MAX_RANK || self.tiles as usize >= MAX_TILES {
            return Err(Error::new(format!("tile {} with {len} sizes", self.tiles + 1))
                .field("tiles")
                .accepts(format!("up to {MAX_TILES} tiles of 1 to {MAX_RANK} sizes")));
        }
        self.tiles += 1;
        while self.physical.len() < len {
            let unit = push(&mut self.nodes, Node { expr: Expr::Unit, reach: 1, extent: 1, tile: 0 });
            self.physical.insert(0, unit);
        }
        // The tiled physical dimensions become those that count tiles, in place, then those within a tile, at the end.
        let start = self.physical.len() - len;
        let mut count = start;
        let mut within: SmallVec<[Id; 8]> = SmallVec::new();
        let mut combined: Option<Id> = None;
        for (position, size) in (start..).zip(tile) {
            let mut axis = self.physical[position];
            if let Some(major) = combined.take() {
                axis = merge(&mut self.nodes, major, axis)?;
            }
            match size {
                None => combined = Some(axis),
                Some(0) => {
                    return Err(Error::new("tile size 0").field("tiles").accepts("a size of 1 or more"));
                }
                Some(size) => {
                    let (tiles, rest) = self.split(axis, size);
                    self.physical[count] = tiles;
                    count += 1;
                    within.extend(rest);
                }
            }
        }
        if combined.is_some() {
            return Err(Error::new("* at the end of a tile")
                .field("tiles")
                .rule("* combines a dimension with the next more minor one")
                .accepts("a size at the end"));
        }
        self.physical.truncate(count);
        self.physical.extend(within);
        Ok(())
    }

    /// Splits an axis. A tile of 1 leaves it whole; the half within the tile then has one value and is the constant 0.
    fn split(&mut self, axis: Id, size: u64) -> (Id, Option<Id>) {
        if size == 1 {
            let unit = self.unit();
            return (axis, Some(unit));
        }
        let (tiles, rest) = split(&mut self.nodes, axis, size, self.tiles);
        (tiles, Some(rest))
    }

    fn unit(&mut self) -> Id {
        push(&mut self.nodes, Node { expr: Expr::Unit, reach: 1, extent: 1, tile: 0 })
    }

    /// Pads the end of the buffer to a multiple of this many elements: XLA's `L(n)`.
    #[must_use]
    pub fn align(mut self, elements: u64) -> Builder {
        self.set_align(elements);
        self
    }

    pub(crate) fn set_align(&mut self, elements: u64) {
        self.align = elements.max(1);
    }

    /// The layout.
    ///
    /// # Errors
    /// More allocated elements or bytes than 63 bits can count.
    pub fn build(self) -> Result<Layout> {
        let mut axes: SmallVec<[Axis; 10]> = SmallVec::new();
        let extents = self.physical.iter().map(|&node| self.nodes[node as usize].extent);
        let mut filled = u64::from(!extents.clone().any(|extent| extent == 0));
        for (&node, extent) in self.physical.iter().zip(extents).rev().filter(|(_, extent)| *extent != 1) {
            if filled == 0 {
                break;
            }
            axes.push(Axis { node, extent, stride: filled as i64 }); // below 2^63 by check_size
            filled = check_size(i128::from(filled) * i128::from(extent), self.bits)?;
        }
        axes.reverse();
        let aligned = u128::from(filled).div_ceil(u128::from(self.align)) * u128::from(self.align);
        let size = check_size(aligned as i128, self.bits)?; // below 2^127: both factors are below 2^63
        Ok(Layout {
            dims: self.dims,
            bits: self.bits,
            nodes: self.nodes,
            axes,
            base: 0,
            size,
            tail: size - filled,
            compact: true,
            canon: OnceLock::new(),
        })
    }
}

/// Conditions of every layout: rank, sizes and element bits.
pub(crate) fn check_dims(dims: &[u64], bits: u32) -> Result<()> {
    if dims.len() > MAX_RANK {
        return Err(Error::new(format!("{} dimensions", dims.len()))
            .field("dimensions")
            .accepts(format!("up to {MAX_RANK} dimensions")));
    }
    if bits == 0 {
        return Err(Error::new("elements of 0 bits").field("element bits").accepts("1 or more"));
    }
    if let Some(size) = dims.iter().find(|&&size| size > i64::MAX as u64) {
        return Err(Error::new(format!("size {size}"))
            .field("dimensions")
            .accepts("0 to 9223372036854775807"));
    }
    let elements = dims.iter().try_fold(1_u64, |product, &size| product.checked_mul(size.max(1)));
    if elements.is_none() && !dims.contains(&0) {
        return Err(Error::new("the number of elements overflows 64 bits")
            .field("dimensions")
            .accepts("smaller dimensions"));
    }
    Ok(())
}

/// Condition of every layout: the buffer's bytes fit 63 bits.
fn check_size(elements: i128, bits: u32) -> Result<u64> {
    let bytes = elements.checked_mul(i128::from(bits)).map(|total| total.div_euclid(8));
    match (u64::try_from(elements), bytes) {
        (Ok(size), Some(bytes)) if bytes <= i128::from(i64::MAX) && size <= i64::MAX as u64 => Ok(size),
        _ => Err(Error::new("the allocated bytes overflow 63 bits")
            .field("size")
            .rule("a buffer has at most 9223372036854775807 bytes")
            .accepts("smaller dimensions, strides or tiles")),
    }
}

/// Bytes of so many elements, rounded up.
pub(crate) fn bytes_of(elements: u64, bits: u32) -> u64 {
    (u128::from(elements) * u128::from(bits)).div_ceil(8) as u64 // within 63 bits by check_size
}
