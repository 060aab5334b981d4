//! The one [`Layout`]: a function from index to offset, with its allocated size.

pub mod build;
pub mod parts;
pub mod strided;
pub mod swizzle;
pub mod terms;
pub mod view;

use crate::order::InOrder;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::OnceLock;

use smallvec::SmallVec;

use crate::algebra::canon::Canon;
use crate::algebra::formula::formula_at;
use crate::arithmetic::bytes;
use crate::error::{Error, ErrorKind, Result, counted};
use crate::layout::build::Builder;
use crate::layout::parts::{Axis, Part, PartKind, Parts};
use crate::layout::swizzle::Swizzle;

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
/// A [`Swizzle`] may exchange the places in the end.
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
///
/// Two layouts are equal if they place every element alike, in as many places of as many bits, however they came about:
///
/// ```
/// use tilework::Layout;
/// // One tile wide, a tiled array is the plain one.
/// let tiled = Layout::builder(&[16, 128], 32)?.tile(&[Some(8), Some(128)])?.build()?;
/// assert_eq!(tiled, Layout::row_major(&[16, 128], 32)?);
/// # Ok::<(), tilework::Error>(())
/// ```
///
/// Equality compares [canonical forms](Layout::canon). Where a form is not plain, equal functions may have different
/// forms and are not equal here; [`Layout::same_function`] decides those too.
#[derive(Clone)]
pub struct Layout(Box<Inner>);

/// `Layout([3, 5] of 32 bits, 12·⌊i/2⌋ + 2·(i mod 2) + 4·⌊j/2⌋ + (j mod 2), size 24)`
impl fmt::Debug for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Layout({:?} of {} bits, {}, size {})",
            self.dims(),
            self.bits(),
            self.formula(),
            self.size()
        )
    }
}

impl PartialEq for Layout {
    fn eq(&self, other: &Layout) -> bool {
        self.dims() == other.dims()
            && (self.bits(), self.size()) == (other.bits(), other.size())
            && self.swizzle() == other.swizzle()
            && self.canon().is_same(other.canon())
    }
}

impl Eq for Layout {}

impl Hash for Layout {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.dims().hash(hasher);
        (self.bits(), self.size()).hash(hasher);
        self.swizzle().hash(hasher);
        self.canon().hash(hasher);
    }
}

/// A layout on the heap: layouts are built by the million and passed about, and one allocation is less than moving
/// their lists, which are inline for every usual rank.
#[derive(Clone)]
pub(crate) struct Inner {
    pub(crate) dims: SmallVec<[u64; 6]>,
    pub(crate) bits: u32,
    pub(crate) parts: Parts,
    /// What is summed, from the largest stride to the smallest. Axes of extent 1 add nothing and are left out.
    pub(crate) axes: Axes,
    pub(crate) base: u64,
    pub(crate) size: u64,
    /// Elements that `L(n)` or an explicit size added behind the last place of the axes.
    pub(crate) tail: u64,
    /// Whether the places are one mixed-radix number without gaps: the axes' extents and strides fill `0..size - tail`.
    pub(crate) compact: bool,
    /// How the places are exchanged in the end.
    pub(crate) swizzle: Option<Box<Swizzle>>,
    canon: OnceLock<Box<Canon>>,
}

/// The terms of the sum.
pub(crate) type Axes = SmallVec<[Axis; 8]>;

impl Layout {
    /// Starts a compact layout of `dims`, row-major, with elements of `bits` bits.
    ///
    /// # Errors
    /// More than [`MAX_RANK`] dimensions, a size above `i64::MAX`, or elements of 0 bits.
    pub fn builder(dims: &[u64], bits: u32) -> Result<Builder> {
        Builder::new(dims, bits)
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
        let mut layout = Layout::of_dims(dims, bits)?;
        if strides.len() != dims.len() {
            return Err(not_one_each(strides.len(), "stride", dims.len()).field("strides"));
        }
        let empty = layout.is_empty();
        let (mut below, mut above) = (0_i128, 0_i128);
        for (part, (&extent, &stride)) in dims.iter().zip(strides).enumerate() {
            // Without elements no stride is ever taken, and nothing bounds their products.
            if extent > 1 && stride != 0 && !empty {
                let axis = Axis { part, extent, stride };
                layout.0.axes.push(axis);
                *(if stride < 0 { &mut below } else { &mut above }) += axis.span();
            }
        }
        layout.0.sort_axes();
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
        let need = if empty { 0 } else { last + 1 };
        let room = size.map_or(need, i128::from);
        if room < need {
            return Err(Error::new(format!("size {room}, but the last element is at offset {last}"))
                .field("size")
                .rule("every offset is below the size")
                .accepts(format!("{need} or more")));
        }
        layout.0.size = check_size(u64::try_from(room).ok(), bits)?;
        layout.0.base = check_size(u64::try_from(base).ok(), bits)?;
        layout.0.tail = (room - need) as u64; // both are within 63 bits now
        Ok(layout)
    }

    /// A layout to be filled in: dimensions without places.
    #[inline]
    pub(crate) fn of_dims(dims: &[u64], bits: u32) -> Result<Layout> {
        check_dims(dims, bits)?;
        let mut layout = Layout(Box::new(Inner {
            dims: SmallVec::new(),
            bits,
            parts: Parts::new(),
            axes: Axes::new(),
            base: 0,
            size: 0,
            tail: 0,
            compact: false,
            swizzle: None,
            canon: OnceLock::new(),
        }));
        // On the heap already: moving lists that are inline costs more than filling them.
        layout.0.dims.extend_from_slice(dims);
        let parts = dims.iter().enumerate();
        layout.0.parts.extend(parts.map(|(dim, &size)| Part::whole(PartKind::Dim(dim), size)));
        Ok(layout)
    }

    /// What a layout under construction is made of.
    #[inline]
    pub(crate) fn inner(&mut self) -> &mut Inner {
        &mut self.0
    }

    /// The sizes of the dimensions.
    pub fn dims(&self) -> &[u64] {
        &self.0.dims
    }

    /// Number of dimensions.
    pub fn rank(&self) -> usize {
        self.0.dims.len()
    }

    /// Bits of one element.
    pub fn bits(&self) -> u32 {
        self.0.bits
    }

    /// Allocated elements: those of the array and the padding.
    pub fn size(&self) -> u64 {
        self.0.size
    }

    /// Allocated bytes: `size · bits / 8`, rounded up.
    #[inline] // the engine asks at each run
    pub fn bytes(&self) -> u64 {
        bytes_of(self.0.size, self.0.bits)
    }

    /// Number of elements of the array. Fits 64 bits, but only a broadcast layout can exceed [`Layout::size`].
    pub fn len(&self) -> u64 {
        if self.is_empty() { 0 } else { self.0.dims.iter().product() }
    }

    /// Whether the array has no elements.
    pub fn is_empty(&self) -> bool {
        self.0.dims.contains(&0)
    }

    /// Bytes of the elements alone, without padding, rounded up.
    pub fn element_bytes(&self) -> u128 {
        bytes(self.len().into(), self.0.bits)
    }

    /// The constant of the sum: of a layout as it was built, the offset of the element at (0, …, 0).
    ///
    /// A view of free strides that skips elements has another base. In other layouts such a view changes parts of the
    /// index instead ([`PartKind::Moved`]) and the base stays. Where strides say the view,
    /// [`Layout::to_strides`] has the offset of its first element.
    ///
    /// ```
    /// use tilework::Layout;
    /// let free = Layout::strided(&[10], 32, &[1], Some(5), None)?.slice(0, 2..8, 1)?;
    /// assert_eq!((free.base(), free.to_strides()?.first), (7, 7));
    /// let rows = Layout::row_major(&[10], 32)?.slice(0, 2..8, 1)?;
    /// assert_eq!((rows.base(), rows.to_strides()?.first), (0, 2));
    /// # Ok::<(), tilework::Error>(())
    /// ```
    pub fn base(&self) -> u64 {
        self.0.base
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
        if index.len() != self.0.dims.len() || index.iter().zip(&self.0.dims).any(|(i, size)| i >= size) {
            return Err(self.index_error(index));
        }
        Ok(self.place(index))
    }

    /// The offset of an index that is known to be within the dimensions.
    #[inline]
    pub(crate) fn place(&self, index: &[u64]) -> u64 {
        let place = self.canon().eval(index);
        match &self.0.swizzle {
            None => place,
            Some(swizzle) => swizzle.apply(place),
        }
    }

    #[cold]
    fn index_error(&self, index: &[u64]) -> Error {
        if index.len() != self.rank() {
            let [found, rank] = [(index.len(), "number"), (self.rank(), "dimension")]
                .map(|(n, noun)| counted(n as u64, noun));
            return Error::new(format!("an index of {found} for {rank}"))
                .of_kind(ErrorKind::Mismatch)
                .field("index")
                .rule("an index has one number for each dimension")
                .accepts(counted(self.rank() as u64, "number"));
        }
        let found = index.iter().zip(&self.0.dims).position(|(i, size)| i >= size).unwrap_or(0);
        let size = self.0.dims[found];
        Error::new(format!("index {} in dimension {found} of size {size}", index[found]))
            .of_kind(ErrorKind::Range)
            .field("index")
            .rule("an index counts from 0 and is below the size")
            .accepts(match size {
                0 => "nothing: the array has no elements".to_owned(),
                _ => format!("0 to {}", size - 1),
            })
    }

    /// The offset as a formula over the index, in letters.
    ///
    /// ```
    /// use tilework::{Layout, Swizzle};
    /// let rows = Layout::row_major(&[8, 64], 16)?;
    /// assert_eq!(rows.formula(), "64·i + j");
    /// assert_eq!(rows.swizzled(&Swizzle::new(3, 3, 3)?)?.formula(), "S<3,3,3>(64·i + j)");
    /// # Ok::<(), tilework::Error>(())
    /// ```
    pub fn formula(&self) -> String {
        match self.swizzle() {
            None => self.canon().to_string(),
            Some(swizzle) => format!("{swizzle}({})", self.canon()),
        }
    }

    /// The formula worked out for one element: with its index in it, with what each term comes to, and the offset.
    ///
    /// ```
    /// use tilework::Layout;
    /// let layout = Layout::builder(&[3, 5], 32)?.tile(&[Some(2), Some(2)])?.build()?;
    /// let worked = "12·⌊2/2⌋ + 2·(2 mod 2) + 4·⌊3/2⌋ + (3 mod 2) = 12 + 0 + 4 + 1 = 17";
    /// assert_eq!(layout.formula_at(&[2, 3])?, worked);
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// An index that is none of the array.
    pub fn formula_at(&self, index: &[u64]) -> Result<String> {
        let offset = self.offset(index)?.to_string();
        let [numbers, sums] = formula_at(self.canon(), index);
        let mut steps = vec![numbers, sums];
        steps.dedup();
        if let Some(swizzle) = self.swizzle() {
            steps.push(self.canon().eval(index).to_string());
            steps.dedup();
            steps = steps.iter().map(|step| format!("{swizzle}({step})")).collect();
        }
        steps.push(offset);
        steps.dedup();
        Ok(steps.join(" = "))
    }

    /// The canonical form of the function, before a swizzle; see [`Canon`].
    #[inline]
    pub fn canon(&self) -> &Canon {
        self.0.canon.get_or_init(|| Box::new(Canon::of(self)))
    }

    #[doc(hidden)]
    pub fn is_compact(&self) -> bool {
        self.0.compact
    }

    #[doc(hidden)]
    pub fn tail(&self) -> u64 {
        self.0.tail
    }

    /// R12 on free strides: `stride·(start + step·x)` is a stride and a base.
    pub(crate) fn dissolve_shifts(&mut self) {
        for axis in &mut self.0.axes {
            while let PartKind::Moved { of, start, step } = self.0.parts[axis.part].kind {
                let part = self.0.parts[of];
                let moved = i128::from(self.0.base) + i128::from(axis.stride) * i128::from(start);
                let stride = i128::from(axis.stride) * i128::from(step);
                // A single value needs no stride, and then the product may be anything.
                let stride = if part.extent > 1 { stride } else { 1 };
                let (Ok(base), Ok(stride)) = (u64::try_from(moved), i64::try_from(stride)) else { return };
                self.0.base = base;
                // Only this axis used the shift. Left standing, it would look like a part that nothing shows.
                self.0.parts[axis.part] = Part::UNIT;
                *axis = Axis { part: of, extent: part.extent, stride };
            }
        }
        self.0.axes.retain(|axis| axis.extent > 1);
        self.0.sort_axes();
    }
}

impl Inner {
    /// From the largest stride to the smallest.
    pub(crate) fn sort_axes(&mut self) {
        self.axes.order_by_key(|axis| std::cmp::Reverse(axis.stride.unsigned_abs()));
    }
}

/// Conditions of every layout: rank, sizes and element bits.
pub(crate) fn check_dims(dims: &[u64], bits: u32) -> Result<()> {
    if dims.len() > MAX_RANK {
        return Err(Error::new(format!("{} dimensions", dims.len()))
            .of_kind(ErrorKind::Limit)
            .field("dimensions")
            .accepts(format!("up to {MAX_RANK} dimensions")));
    }
    if bits == 0 {
        return Err(Error::new("elements of 0 bits").field("element bits").accepts("1 or more"));
    }
    if let Some(size) = dims.iter().find(|&&size| size > i64::MAX as u64) {
        return Err(Error::new(format!("size {size}"))
            .of_kind(ErrorKind::Overflow)
            .field("dimensions")
            .accepts("0 to 9223372036854775807"));
    }
    let elements = dims.iter().try_fold(1_u64, |product, &size| product.checked_mul(size.max(1)));
    if elements.is_none() && !dims.contains(&0) {
        return Err(Error::new("the number of elements overflows 64 bits")
            .of_kind(ErrorKind::Overflow)
            .field("dimensions")
            .accepts("smaller dimensions"));
    }
    Ok(())
}

/// Condition of an order: it is a permutation of `0..rank`.
pub fn check_order(order: &[usize], rank: usize, field: &str) -> Result<()> {
    let mut seen = SmallVec::<[bool; 16]>::from_elem(false, rank);
    if order.len() == rank && order.iter().all(|&dim| dim < rank && !std::mem::replace(&mut seen[dim], true))
    {
        return Ok(());
    }
    Err(Error::new(format!("order {order:?} of {}", counted(rank as u64, "dimension")))
        .field(field)
        .rule("an order names every dimension exactly once")
        .accepts(format!("a permutation of {:?}", Vec::from_iter(0..rank))))
}

/// There are not as many of these as dimensions.
#[cold]
pub(crate) fn not_one_each(found: usize, noun: &str, rank: usize) -> Error {
    let [of, dims] = [(found, noun), (rank, "dimension")].map(|(number, noun)| counted(number as u64, noun));
    Error::new(format!("{of} for {dims}"))
        .rule(format!("every dimension has one {noun}"))
        .accepts(counted(rank as u64, noun))
}

/// Condition of every layout: the buffer's elements and bytes fit 63 bits.
#[inline]
pub(crate) fn check_size(elements: Option<u64>, bits: u32) -> Result<u64> {
    match elements {
        Some(size)
            if size <= i64::MAX as u64 && u128::from(size) * u128::from(bits) <= 8 * i64::MAX as u128 =>
        {
            Ok(size)
        }
        _ => Err(too_large()),
    }
}

#[cold]
fn too_large() -> Error {
    Error::new("the allocated bytes overflow 63 bits")
        .of_kind(ErrorKind::Overflow)
        .field("size")
        .rule("a buffer has at most 9223372036854775807 bytes")
        .accepts("smaller dimensions, strides or tiles")
}

/// Bytes of `elements` elements, rounded up.
#[inline]
pub(crate) fn bytes_of(elements: u64, bits: u32) -> u64 {
    bytes(elements.into(), bits) as u64 // within 63 bits by check_size
}
