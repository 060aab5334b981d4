//! XLA's `Layout`: every field of today's layout, the padding of the older one, and Tilework's free strides.

use smallvec::SmallVec;

use crate::element::Element;
use crate::error::{Error, Result, counted};
use crate::xla::value::padding::{Padding, Strides};
use crate::xla::value::shape::Shape;
use crate::xla::value::tile::Tile;

/// How an array lies in memory, in XLA's words.
///
/// A value is valid by itself: `minor_to_major` is a permutation of `0..rank`, tile sizes are positive, and so on.
/// Whether it fits a shape (its rank, its padded dimensions) is checked where the two meet, in
/// [`ArrayShape::with_layout`](crate::xla::ArrayShape::with_layout).
///
/// ```
/// use tilework::xla::{Layout, Tile};
/// let layout = Layout::new([1, 0])?.with_tiles([Tile::new([8, 128])?, Tile::new([2, 1])?])?;
/// assert_eq!(layout.to_string(), "{1,0:T(8,128)(2,1)}");
/// assert_eq!((layout.minor(0), layout.major(0)), (1, 0));
/// # Ok::<(), tilework::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Layout {
    minor_to_major: SmallVec<[usize; 6]>,
    tiles: SmallVec<[Tile; 2]>,
    rare: Option<Box<Rare>>,
    element_size_in_bits: u32,
    memory_space: u8,
}

/// The fields that few layouts set, kept apart so that a plain layout stays small.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Rare {
    tail_padding_alignment: u64,
    index_primitive_type: Option<Element>,
    pointer_primitive_type: Option<Element>,
    split_configs: Vec<SplitConfig>,
    physical_shape: Option<Shape>,
    metadata_prefix_bytes: u64,
    padding: Option<Padding>,
    strides: Option<Strides>,
}

impl Default for Rare {
    fn default() -> Rare {
        Rare {
            tail_padding_alignment: 1,
            index_primitive_type: None,
            pointer_primitive_type: None,
            split_configs: Vec::new(),
            physical_shape: None,
            metadata_prefix_bytes: 0,
            padding: None,
            strides: None,
        }
    }
}

/// `SC(dimension:indices)`: a physical dimension split between memories at the given indices.
///
/// The indices are above 0, strictly increasing, and below the size of the dimension; a layout has at most one for each
/// dimension.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SplitConfig {
    /// The physical dimension, 0 being the most major.
    pub dimension: u64,
    /// Where the dimension is split.
    pub split_indices: Vec<u64>,
}

impl SplitConfig {
    /// Checks that a layout of this rank can have it behind these others.
    pub(crate) fn check(&self, rank: usize, others: &[SplitConfig]) -> Result<()> {
        if self.dimension >= rank as u64 {
            return Err(Error::new(format!("split config of physical dimension {}", self.dimension))
                .field("split_configs")
                .rule(format!(
                    "the layout has {}, and 0 is the most major",
                    counted(rank as u64, "dimension")
                ))
                .accepts(accepted_numbers(rank)));
        }
        if others.iter().any(|other| other.dimension == self.dimension) {
            return Err(Error::new(format!("physical dimension {} is split twice", self.dimension))
                .field("split_configs")
                .rule("each dimension has at most one split config")
                .accepts("all its indices in one, as in SC(0:3,5)"));
        }
        let mut above = 0;
        for &index in &self.split_indices {
            if index <= above || index > i64::MAX as u64 {
                return Err(Error::new(match above {
                    0 => format!("split index {index}"),
                    _ => format!("split index {index} after {above}"),
                })
                .field("split_configs")
                .rule("split indices increase strictly, from 1 on")
                .accepts(format!("{} to {}", above.saturating_add(1), i64::MAX)));
            }
            above = index;
        }
        Ok(())
    }

    /// Checks that the dimension it splits has this size or bound; None is one known at run time only.
    pub(crate) fn check_size(&self, size: Option<u64>) -> Result<()> {
        let Some(&last) = self.split_indices.last() else { return Ok(()) };
        let problem = match size {
            Some(size) if last < size => return Ok(()),
            Some(size) => format!("split index {last} in a dimension of size {size}"),
            None => format!("split index {last} in an unbounded dimension"),
        };
        Err(Error::new(problem)
            .field("split_configs")
            .rule("a dimension is split between two of its elements")
            .accepts(match size {
                Some(size @ 2..) => format!("1 to {}", size - 1),
                _ => "no split indices".to_owned(),
            }))
    }
}

/// The parts of a layout that speak of single dimensions: see `Layout::with_dimensions`.
pub(crate) struct Dimensions {
    pub(crate) minor_to_major: Vec<usize>,
    pub(crate) split_configs: Vec<SplitConfig>,
    /// Used where the layout has padding.
    pub(crate) padded_dimensions: Vec<u64>,
    /// Used where the layout has free strides.
    pub(crate) strides: Vec<i64>,
}

impl Layout {
    /// The layout with this dimension order, the most minor dimension first.
    ///
    /// # Errors
    /// The numbers are not each of `0..rank` exactly once.
    pub fn new(minor_to_major: impl IntoIterator<Item = usize>) -> Result<Layout> {
        let minor_to_major: SmallVec<[usize; 6]> = minor_to_major.into_iter().collect();
        check_permutation("minor_to_major", &minor_to_major)?;
        Ok(Layout::plain(minor_to_major))
    }

    fn plain(minor_to_major: SmallVec<[usize; 6]>) -> Layout {
        Layout {
            minor_to_major,
            tiles: SmallVec::new(),
            rare: None,
            element_size_in_bits: 0,
            memory_space: 0,
        }
    }

    /// XLA's default layout of a rank, `{rank-1,...,0}`: row-major.
    pub fn descending(rank: usize) -> Layout {
        Layout::plain((0..rank).rev().collect())
    }

    /// `{0,...,rank-1}`: column-major.
    pub fn ascending(rank: usize) -> Layout {
        Layout::plain((0..rank).collect())
    }

    /// Tilework's `strides(..),base(..),size(..)`.
    ///
    /// # Errors
    /// A base or size above `i64::MAX`.
    pub fn strided(strides: Strides) -> Result<Layout> {
        for (word, value) in [("base", strides.base), ("size", strides.size)] {
            if value.is_some_and(|value| value > i64::MAX as u64) {
                return Err(
                    Error::new(format!("{word} {} is above {}", value.unwrap_or(0), i64::MAX)).field(word)
                );
            }
        }
        let mut layout = Layout::descending(strides.strides.len());
        layout.rare_mut().strides = Some(strides);
        Ok(layout)
    }

    fn rare_mut(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    /// Drops the box when nothing in it is set, so that equal layouts compare equal.
    fn tidy(mut self) -> Layout {
        if self.rare.as_deref() == Some(&Rare::default()) {
            self.rare = None;
        }
        self
    }

    /// Number of dimensions.
    pub fn rank(&self) -> usize {
        self.minor_to_major.len()
    }

    /// The dimensions in the order of memory, the most minor first. Of free strides: row-major order, which says nothing.
    pub fn minor_to_major(&self) -> &[usize] {
        &self.minor_to_major
    }

    /// The `k`-th most minor dimension.
    pub fn minor(&self, k: usize) -> usize {
        self.minor_to_major[k]
    }

    /// The `k`-th most major dimension.
    pub fn major(&self, k: usize) -> usize {
        self.minor_to_major[self.rank() - 1 - k]
    }

    /// For each logical dimension its physical number, 0 being the most major: XLA's `MakeLogicalToPhysical`.
    pub fn logical_to_physical(&self) -> Vec<usize> {
        let mut physical = vec![0; self.rank()];
        for (minor, &dim) in self.minor_to_major.iter().enumerate() {
            physical[dim] = self.rank() - 1 - minor;
        }
        physical
    }

    /// XLA's `IsMonotonicWithDim0Minor`: `{0,1,...}`.
    pub fn is_monotonic_with_dim0_minor(&self) -> bool {
        self.minor_to_major.is_sorted()
    }

    /// XLA's `IsMonotonicWithDim0Major`: `{...,1,0}`.
    pub fn is_monotonic_with_dim0_major(&self) -> bool {
        self.minor_to_major.iter().rev().is_sorted()
    }

    /// The tiles, applied from left to right.
    pub fn tiles(&self) -> &[Tile] {
        &self.tiles
    }

    /// The same layout with these tiles.
    ///
    /// # Errors
    /// The layout has free strides.
    pub fn with_tiles(mut self, tiles: impl IntoIterator<Item = Tile>) -> Result<Layout> {
        self.tiles = tiles.into_iter().collect();
        if !self.tiles.is_empty() && self.strides().is_some() {
            return Err(Error::new("tiles on a layout with free strides")
                .field("tiles")
                .rule("strides(..) places every element by itself")
                .accepts("either T(..) or strides(..)"));
        }
        Ok(self)
    }

    /// `L(n)`: the buffer is padded at its end to a multiple of this many elements; 1 by default.
    pub fn tail_padding_alignment_in_elements(&self) -> u64 {
        self.rare.as_ref().map_or(1, |rare| rare.tail_padding_alignment)
    }

    /// The same layout with this `L(n)`.
    ///
    /// # Errors
    /// 0, or above `i64::MAX`.
    pub fn with_tail_padding_alignment_in_elements(mut self, elements: u64) -> Result<Layout> {
        if elements == 0 || elements > i64::MAX as u64 {
            return Err(Error::new(format!("tail padding alignment {elements}"))
                .field("tail_padding_alignment_in_elements")
                .rule("the buffer is padded to a multiple of it")
                .accepts("1 to 9223372036854775807"));
        }
        if elements != self.tail_padding_alignment_in_elements() {
            self.rare_mut().tail_padding_alignment = elements;
        }
        Ok(self.tidy())
    }

    /// `#(type)`: the index type of sparse storage.
    pub fn index_primitive_type(&self) -> Option<Element> {
        self.rare.as_ref()?.index_primitive_type
    }

    /// `*(type)`: the pointer type of sparse storage.
    pub fn pointer_primitive_type(&self) -> Option<Element> {
        self.rare.as_ref()?.pointer_primitive_type
    }

    /// The same layout with these index and pointer types.
    ///
    /// # Errors
    /// A type that is not an unsigned integer type.
    pub fn with_sparse_types(mut self, index: Option<Element>, pointer: Option<Element>) -> Result<Layout> {
        for (field, value) in [("index_primitive_type", index), ("pointer_primitive_type", pointer)] {
            if let Some(kind) = value
                && !kind.is_integer()
            {
                return Err(Error::new(format!("{kind} is not an integer type"))
                    .field(field)
                    .rule("indices and pointers are integers")
                    .accepts("an integer type such as u32"));
            }
        }
        let rare = self.rare_mut();
        (rare.index_primitive_type, rare.pointer_primitive_type) = (index, pointer);
        Ok(self.tidy())
    }

    /// `E(bits)`: bits of one element in memory, or 0 where the element type decides.
    pub fn element_size_in_bits(&self) -> u32 {
        self.element_size_in_bits
    }

    /// The same layout with this `E(bits)`; 0 means that the element type decides.
    #[must_use]
    pub fn with_element_size_in_bits(mut self, bits: u32) -> Layout {
        self.element_size_in_bits = bits;
        self
    }

    /// `S(n)`: the memory space. 0 is the default, 1 usually a small fast memory, 5 the host.
    pub fn memory_space(&self) -> u8 {
        self.memory_space
    }

    /// The same layout in this memory space.
    ///
    /// # Errors
    /// Above 127: XLA keeps it in a signed byte, where 300 would silently become 44.
    pub fn with_memory_space(mut self, space: u64) -> Result<Layout> {
        self.memory_space = memory_space(space)?;
        Ok(self)
    }

    /// `SC(..)`: physical dimensions split between memories.
    pub fn split_configs(&self) -> &[SplitConfig] {
        self.rare.as_ref().map_or(&[], |rare| &rare.split_configs)
    }

    /// The same layout with these split configurations.
    ///
    /// # Errors
    /// A dimension outside the rank or split twice, or indices that do not increase from 1 on.
    pub fn with_split_configs(mut self, configs: impl IntoIterator<Item = SplitConfig>) -> Result<Layout> {
        let configs: Vec<SplitConfig> = configs.into_iter().collect();
        for (place, config) in configs.iter().enumerate() {
            config.check(self.rank(), &configs[..place])?;
        }
        if !configs.is_empty() || self.rare.is_some() {
            self.rare_mut().split_configs = configs;
        }
        Ok(self.tidy())
    }

    /// `P(shape)`: the physical shape of a sparse array.
    pub fn physical_shape(&self) -> Option<&Shape> {
        self.rare.as_ref()?.physical_shape.as_ref()
    }

    /// The same layout with this physical shape.
    #[must_use]
    pub fn with_physical_shape(mut self, shape: Option<Shape>) -> Layout {
        if shape.is_some() || self.rare.is_some() {
            self.rare_mut().physical_shape = shape;
        }
        self.tidy()
    }

    /// `M(n)`: bytes of dynamic-size metadata before the data.
    pub fn dynamic_shape_metadata_prefix_bytes(&self) -> u64 {
        self.rare.as_ref().map_or(0, |rare| rare.metadata_prefix_bytes)
    }

    /// The same layout with this `M(n)`.
    ///
    /// # Errors
    /// Above `i64::MAX`.
    pub fn with_dynamic_shape_metadata_prefix_bytes(mut self, bytes: u64) -> Result<Layout> {
        if bytes > i64::MAX as u64 {
            return Err(Error::new(format!("metadata prefix of {bytes} bytes"))
                .field("dynamic_shape_metadata_prefix_bytes")
                .accepts("0 to 9223372036854775807"));
        }
        if bytes != self.dynamic_shape_metadata_prefix_bytes() {
            self.rare_mut().metadata_prefix_bytes = bytes;
        }
        Ok(self.tidy())
    }

    /// The older layout's `padded_dimensions` and `padding_value`.
    pub fn padding(&self) -> Option<&Padding> {
        self.rare.as_ref()?.padding.as_ref()
    }

    /// The same layout with this padding.
    ///
    /// # Errors
    /// Another number of padded dimensions than the rank, one above `i64::MAX`, or free strides.
    pub fn with_padding(mut self, padding: Option<Padding>) -> Result<Layout> {
        if let Some(padding) = &padding {
            let count = padding.padded_dimensions.len();
            if count != self.rank() {
                return Err(Error::new(format!(
                    "{count} padded dimensions, but the layout has {}",
                    self.rank()
                ))
                .field("padded_dimensions")
                .rule("padded_dimensions gives every dimension its allocated size")
                .accepts(counted(self.rank() as u64, "size")));
            }
            if let Some(size) = padding.padded_dimensions.iter().find(|&&size| size > i64::MAX as u64) {
                return Err(Error::new(format!("padded dimension {size} is above {}", i64::MAX))
                    .field("padded_dimensions"));
            }
            if self.strides().is_some() {
                return Err(Error::new("padded dimensions on a layout with free strides")
                    .field("padded_dimensions")
                    .rule("strides(..) places every element by itself")
                    .accepts("either pad(..) or strides(..)"));
            }
        }
        if padding.is_some() || self.rare.is_some() {
            self.rare_mut().padding = padding;
        }
        Ok(self.tidy())
    }

    /// Tilework's free strides, where the layout has them instead of a dimension order.
    pub fn strides(&self) -> Option<&Strides> {
        self.rare.as_ref()?.strides.as_ref()
    }

    /// The same layout without tiles: XLA's `Layout::clear_tiles`.
    #[must_use]
    pub fn without_tiles(mut self) -> Layout {
        self.tiles.clear();
        self
    }

    /// The same order in a host's memory: without tiles, `L`, `E`, `S`, `P` and `M`.
    pub(crate) fn on_host(mut self) -> Layout {
        (self.element_size_in_bits, self.memory_space) = (0, 0);
        if let Some(rare) = &mut self.rare {
            (rare.tail_padding_alignment, rare.metadata_prefix_bytes, rare.physical_shape) = (1, 0, None);
        }
        self.without_tiles().tidy()
    }

    /// The same layout with everything that speaks of single dimensions replaced together, since it must fit together.
    pub(crate) fn with_dimensions(mut self, dimensions: Dimensions) -> Layout {
        let Dimensions { minor_to_major, split_configs, padded_dimensions, strides } = dimensions;
        self.minor_to_major = minor_to_major.into();
        if let Some(rare) = &mut self.rare {
            rare.split_configs = split_configs;
            if let Some(padding) = &mut rare.padding {
                padding.padded_dimensions = padded_dimensions;
            }
            if let Some(free) = &mut rare.strides {
                free.strides = strides;
            }
        }
        self.tidy()
    }

    /// Whether the layout says nothing beyond the dimension order.
    pub fn is_plain(&self) -> bool {
        self.tiles.is_empty()
            && self.rare.is_none()
            && self.element_size_in_bits == 0
            && self.memory_space == 0
    }
}

/// For the reader, which builds a layout where it stays: a layout is 200 bytes, and moving it through every step would
/// cost more than reading its text.
impl Layout {
    /// A scalar's layout, to start from.
    #[inline]
    pub(crate) fn unread() -> Layout {
        Layout::plain(SmallVec::new())
    }

    /// Sets the dimension order to what `read` puts into the list.
    ///
    /// # Errors
    /// Those of `read` and of [`Layout::new`].
    #[inline]
    pub(crate) fn read_order(
        &mut self,
        read: impl FnOnce(&mut SmallVec<[usize; 6]>) -> Result<()>,
    ) -> Result<()> {
        read(&mut self.minor_to_major)?;
        // One bit a dimension settles nearly every order; the slow way words the error.
        let count = self.minor_to_major.len();
        let mut seen = 0u64;
        for &dim in &self.minor_to_major {
            if dim >= count.min(64) || seen >> dim & 1 == 1 {
                return check_permutation("minor_to_major", &self.minor_to_major);
            }
            seen |= 1 << dim;
        }
        Ok(())
    }

    /// Adds a tile behind the others, when it is known that there are no free strides.
    #[inline]
    pub(crate) fn push_tile(&mut self, tile: Tile) {
        self.tiles.push(tile);
    }

    /// Applies one of the `with_` functions.
    #[inline]
    pub(crate) fn update(&mut self, change: impl FnOnce(Layout) -> Result<Layout>) -> Result<()> {
        *self = change(std::mem::replace(self, Layout::unread()))?;
        Ok(())
    }

    /// [`Layout::with_element_size_in_bits`] in place.
    #[inline]
    pub(crate) fn set_element_size_in_bits(&mut self, bits: u32) {
        self.element_size_in_bits = bits;
    }

    /// [`Layout::with_memory_space`] in place.
    #[inline]
    pub(crate) fn set_memory_space(&mut self, space: u64) -> Result<()> {
        self.memory_space = memory_space(space)?;
        Ok(())
    }
}

/// The memory space in the byte that XLA keeps it in.
fn memory_space(space: u64) -> Result<u8> {
    u8::try_from(space).ok().filter(|&space| space <= 127).ok_or_else(|| {
        Error::new(format!("memory space {space}"))
            .field("memory_space")
            .rule("XLA keeps the memory space in a signed byte and would wrap around")
            .accepts("0 to 127")
    })
}

/// Checks that `numbers` holds each of `0..len` once.
pub(crate) fn check_permutation(field: &str, numbers: &[usize]) -> Result<()> {
    let mut seen = SmallVec::<[bool; 16]>::from_elem(false, numbers.len());
    for &dim in numbers {
        let problem = match seen.get_mut(dim) {
            Some(seen) if !*seen => {
                *seen = true;
                continue;
            }
            Some(_) => format!("dimension {dim} stands twice in {field}"),
            None => format!("dimension {dim} in {field} of {}", counted(numbers.len() as u64, "dimension")),
        };
        return Err(Error::new(problem)
            .field(field)
            .rule(format!("{field} names every dimension exactly once"))
            .accepts(accepted_numbers(numbers.len())));
    }
    Ok(())
}

/// The words for "a number below `count`".
pub(crate) fn accepted_numbers(count: usize) -> String {
    match count {
        0 => "no numbers".to_owned(),
        1 => "0".to_owned(),
        _ => format!("0 to {}", count - 1),
    }
}
