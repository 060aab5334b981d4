//! Equality of shapes and layouts with chosen differences overlooked: XLA's `Shape::Equal` and `Layout::Equal`.

use crate::element::Element;
use crate::xla::value::layout::Layout;
use crate::xla::value::primitive::PrimitiveType;
use crate::xla::value::shape::{ArrayShape, Dim, Shape};

/// XLA's `Layout::Equal`: compares layouts, save for the fields that are ignored.
///
/// As in XLA, `M` is never compared (`==` does compare it). XLA has no padding and no free strides; both are compared
/// here, because layouts that differ in them place elements differently.
///
/// ```
/// use tilework::xla::{Layout, LayoutEqual};
/// let (here, there) = (Layout::new([1, 0])?, Layout::new([1, 0])?.with_memory_space(1)?);
/// assert!(!LayoutEqual::new().equal(&here, &there));
/// assert!(LayoutEqual::new().ignore_memory_space().equal(&here, &there));
/// # Ok::<(), tilework::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LayoutEqual {
    tiles: bool,
    tail_padding: bool,
    index_type: bool,
    pointer_type: bool,
    element_size: bool,
    memory_space: bool,
    split_configs: bool,
    physical_shape: bool,
    padding: bool,
}

/// The methods that set one flag, all of one form.
macro_rules! ignoring {
    ($($(#[$doc:meta])* $name:ident => $($flag:ident).+;)*) => {
        $($(#[$doc])* #[must_use] pub const fn $name(mut self) -> Self { self.$($flag).+ = true; self })*
    };
}

impl LayoutEqual {
    /// Compares everything that XLA compares, padding and free strides.
    pub const fn new() -> LayoutEqual {
        LayoutEqual {
            tiles: false,
            tail_padding: false,
            index_type: false,
            pointer_type: false,
            element_size: false,
            memory_space: false,
            split_configs: false,
            physical_shape: false,
            padding: false,
        }
    }

    ignoring! {
        /// XLA's `IgnoreTiles`.
        ignore_tiles => tiles;
        /// XLA's `IgnoreTailPaddingAlignmentInElements`: `L`.
        ignore_tail_padding_alignment_in_elements => tail_padding;
        /// XLA's `IgnoreIndexPrimitiveType`: `#`.
        ignore_index_primitive_type => index_type;
        /// XLA's `IgnorePointerPrimitiveType`: `*`.
        ignore_pointer_primitive_type => pointer_type;
        /// XLA's `IgnoreElementSize`: `E`.
        ignore_element_size => element_size;
        /// XLA's `IgnoreMemorySpace`: `S`.
        ignore_memory_space => memory_space;
        /// XLA's `IgnoreSplitConfigs`: `SC`.
        ignore_split_configs => split_configs;
        /// XLA's `IgnorePhysicalShape`: `P`.
        ignore_physical_shape => physical_shape;
        /// `padded_dimensions` and `padding_value`, which today's XLA does not have.
        ignore_padding => padding;
    }

    /// XLA's `MinorToMajorOnly`: the order of the dimensions alone, or the free strides that stand in its place.
    ///
    /// XLA's own forgets to ignore `SC`.
    #[must_use]
    pub const fn minor_to_major_only(self) -> LayoutEqual {
        self.ignore_tiles()
            .ignore_tail_padding_alignment_in_elements()
            .ignore_index_primitive_type()
            .ignore_pointer_primitive_type()
            .ignore_element_size()
            .ignore_memory_space()
            .ignore_split_configs()
            .ignore_physical_shape()
            .ignore_padding()
    }

    /// Whether the two are equal in all that is not ignored.
    pub fn equal(&self, lhs: &Layout, rhs: &Layout) -> bool {
        fn same<T: PartialEq>(ignored: bool, lhs: T, rhs: T) -> bool {
            ignored || lhs == rhs
        }
        let elements = Layout::tail_padding_alignment_in_elements;
        same(false, lhs.minor_to_major(), rhs.minor_to_major())
            && same(false, lhs.strides(), rhs.strides())
            && same(self.tiles, lhs.tiles(), rhs.tiles())
            && same(self.tail_padding, elements(lhs), elements(rhs))
            && same(self.index_type, lhs.index_primitive_type(), rhs.index_primitive_type())
            && same(self.pointer_type, lhs.pointer_primitive_type(), rhs.pointer_primitive_type())
            && same(self.element_size, lhs.element_size_in_bits(), rhs.element_size_in_bits())
            && same(self.memory_space, lhs.memory_space(), rhs.memory_space())
            && same(self.split_configs, lhs.split_configs(), rhs.split_configs())
            && same(self.padding, lhs.padding(), rhs.padding())
            && (self.physical_shape || physical_shapes_equal(lhs, rhs))
    }
}

fn physical_shapes_equal(lhs: &Layout, rhs: &Layout) -> bool {
    match (lhs.physical_shape(), rhs.physical_shape()) {
        (Some(lhs), Some(rhs)) => Equal::new().equal(lhs, rhs),
        (lhs, rhs) => lhs.is_none() && rhs.is_none(),
    }
}

/// XLA's `Shape::Equal`: compares shapes, save for what is ignored.
///
/// ```
/// use tilework::{Element, xla::{Equal, Layout, Shape}};
/// let rows = Shape::array(Element::F32, [2, 3u64])?;
/// let bf16 = Shape::array(Element::Bf16, [2, 3u64])?;
/// assert!(!rows.equal(&bf16));
/// assert!(Equal::new().ignore_fp_precision().equal(&rows, &bf16));
/// # Ok::<(), tilework::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Equal {
    in_layout: LayoutEqual,
    layout: bool,
    element_type: bool,
    fp_precision: bool,
    dynamic_dimension: bool,
    dimensions: bool,
    buffer: bool,
}

impl Equal {
    /// Compares everything that XLA compares; see [`LayoutEqual`] about layouts.
    pub const fn new() -> Equal {
        Equal {
            in_layout: LayoutEqual::new(),
            layout: false,
            element_type: false,
            fp_precision: false,
            dynamic_dimension: false,
            dimensions: false,
            buffer: false,
        }
    }

    ignoring! {
        /// XLA's `IgnoreLayout`, a missing one included.
        ignore_layout => layout;
        /// XLA's `IgnoreTilesInLayout`.
        ignore_tiles_in_layout => in_layout.tiles;
        /// XLA's `IgnoreElementSizeInLayout`.
        ignore_element_size_in_layout => in_layout.element_size;
        /// XLA's `IgnoreMemorySpaceInLayout`.
        ignore_memory_space_in_layout => in_layout.memory_space;
        /// XLA's `IgnoreTailPaddingAlignmentInElements`.
        ignore_tail_padding_alignment_in_elements_in_layout => in_layout.tail_padding;
        /// XLA's `IgnoreSplitConfigInLayout`.
        ignore_split_config_in_layout => in_layout.split_configs;
        /// XLA's `IgnoreElementType`.
        ignore_element_type => element_type;
        /// XLA's `IgnoreFpPrecision`: any two floating-point types are equal.
        ignore_fp_precision => fp_precision;
        /// XLA's `IgnoreDynamicDimension`: only sizes and bounds count, and an unbounded dimension equals any other.
        ignore_dynamic_dimension => dynamic_dimension;
        /// XLA's `IgnoreDimensions`: of the sizes only their number counts.
        ignore_dimensions => dimensions;
        /// XLA's `IgnoreBuffer`: a buffer equals the array that it holds.
        ignore_buffer => buffer;
    }

    /// XLA's `MinorToMajorOnlyInLayout`; see [`LayoutEqual::minor_to_major_only`].
    #[must_use]
    pub const fn minor_to_major_only_in_layout(mut self) -> Equal {
        self.in_layout = self.in_layout.minor_to_major_only();
        self
    }

    /// Whether the two are equal in all that is not ignored, at every place of their tuples.
    pub fn equal(&self, lhs: &Shape, rhs: &Shape) -> bool {
        pairs_all(lhs, rhs, |lhs, rhs| match (lhs, rhs) {
            (Shape::Array(lhs), Shape::Array(rhs)) | (Shape::Buffer(lhs), Shape::Buffer(rhs)) => {
                self.arrays_equal(lhs, rhs)
            }
            (Shape::Array(lhs), Shape::Buffer(rhs)) | (Shape::Buffer(lhs), Shape::Array(rhs)) => {
                self.buffer && self.arrays_equal(lhs, rhs)
            }
            (lhs, rhs) => lhs.element_type() == rhs.element_type(),
        })
    }

    /// Whether two arrays are equal in all that is not ignored.
    pub fn arrays_equal(&self, lhs: &ArrayShape, rhs: &ArrayShape) -> bool {
        let same_type = || match self.fp_precision {
            true => same_element_type_ignoring_fp_precision(lhs.element_type(), rhs.element_type()),
            false => lhs.element_type() == rhs.element_type(),
        };
        let same_dim = |(&lhs, &rhs): (&Dim, &Dim)| {
            let same_size = self.dimensions
                || lhs.bound() == rhs.bound()
                || self.dynamic_dimension && (lhs == Dim::Unbounded || rhs == Dim::Unbounded);
            same_size && (self.dynamic_dimension || lhs.is_dynamic() == rhs.is_dynamic())
        };
        (self.element_type || same_type())
            && lhs.rank() == rhs.rank()
            && lhs.dims().iter().zip(rhs.dims()).all(same_dim)
            && (self.layout || layouts_equal(&self.in_layout, lhs, rhs))
    }
}

fn layouts_equal(equal: &LayoutEqual, lhs: &ArrayShape, rhs: &ArrayShape) -> bool {
    match (lhs.layout(), rhs.layout()) {
        (Some(lhs), Some(rhs)) => equal.equal(lhs, rhs),
        (lhs, rhs) => lhs.is_none() && rhs.is_none(),
    }
}

fn same_element_type_ignoring_fp_precision(
    lhs: impl Into<PrimitiveType>,
    rhs: impl Into<PrimitiveType>,
) -> bool {
    let (lhs, rhs) = (lhs.into(), rhs.into());
    let is_float = |kind: PrimitiveType| kind.element().is_some_and(Element::is_float);
    lhs == rhs || is_float(lhs) && is_float(rhs)
}

/// Whether the two trees have tuples of the same length at the same places and `leaves_equal` everywhere else.
///
/// Walks by hand, because a tuple may be nested deeper than the stack.
fn pairs_all(lhs: &Shape, rhs: &Shape, leaves_equal: impl Fn(&Shape, &Shape) -> bool) -> bool {
    let mut open = vec![(lhs, rhs)];
    while let Some((lhs, rhs)) = open.pop() {
        if lhs.is_tuple() != rhs.is_tuple() || lhs.tuple_shapes().len() != rhs.tuple_shapes().len() {
            return false;
        }
        if !lhs.is_tuple() && !leaves_equal(lhs, rhs) {
            return false;
        }
        open.extend(lhs.tuple_shapes().iter().zip(rhs.tuple_shapes()).rev());
    }
    true
}

impl Shape {
    /// XLA's `ShapeUtil::Equal`: equal in everything but `M`.
    pub fn equal(&self, other: &Shape) -> bool {
        Equal::new().equal(self, other)
    }

    /// XLA's `ShapeUtil::EqualIgnoringElementType`.
    pub fn equal_ignoring_element_type(&self, other: &Shape) -> bool {
        Equal::new().ignore_element_type().equal(self, other)
    }

    /// XLA's `ShapeUtil::EqualIgnoringFpPrecision`: any two floating-point types are equal.
    pub fn equal_ignoring_fp_precision(&self, other: &Shape) -> bool {
        Equal::new().ignore_fp_precision().equal(self, other)
    }

    /// XLA's `ShapeUtil::Compatible`: equal but for layouts and for which dimensions are dynamic.
    pub fn compatible(&self, other: &Shape) -> bool {
        Equal::new().ignore_dynamic_dimension().ignore_layout().equal(self, other)
    }

    /// XLA's `ShapeUtil::CompatibleIgnoringElementType`.
    pub fn compatible_ignoring_element_type(&self, other: &Shape) -> bool {
        Equal::new().ignore_dynamic_dimension().ignore_layout().ignore_element_type().equal(self, other)
    }

    /// XLA's `ShapeUtil::CompatibleIgnoringFpPrecision`.
    pub fn compatible_ignoring_fp_precision(&self, other: &Shape) -> bool {
        Equal::new().ignore_dynamic_dimension().ignore_layout().ignore_fp_precision().equal(self, other)
    }

    /// XLA's `ShapeUtil::CompatibleKind`: the same tuples, and arrays of the same rank at the same places.
    pub fn compatible_kind(&self, other: &Shape) -> bool {
        let equal = Equal::new().ignore_dynamic_dimension().ignore_layout().ignore_element_type();
        equal.ignore_dimensions().equal(self, other)
    }

    /// XLA's `ShapeUtil::EqualStructure`: the same places exist in both, whatever stands there. A tuple without elements
    /// has no more places than an array.
    pub fn equal_structure(&self, other: &Shape) -> bool {
        let mut open = vec![(self, other)];
        while let Some((lhs, rhs)) = open.pop() {
            if lhs.tuple_shapes().len() != rhs.tuple_shapes().len() {
                return false;
            }
            open.extend(lhs.tuple_shapes().iter().zip(rhs.tuple_shapes()));
        }
        true
    }

    /// XLA's `ShapeUtil::SameElementType`.
    pub fn same_element_type(&self, other: &Shape) -> bool {
        self.element_type() == other.element_type()
    }

    /// XLA's `ShapeUtil::SameElementTypeIgnoringFpPrecision`: any two floating-point types are the same.
    pub fn same_element_type_ignoring_fp_precision(&self, other: &Shape) -> bool {
        same_element_type_ignoring_fp_precision(self.element_type(), other.element_type())
    }

    /// XLA's `LayoutUtil::LayoutsInShapesEqual`: the same layouts at the same places, whatever the sizes and types.
    ///
    /// Arrays must have the same rank. XLA's own forgets `equal` inside tuples.
    pub fn layouts_equal(&self, other: &Shape, equal: LayoutEqual) -> bool {
        pairs_all(self, other, |lhs, rhs| match (lhs.as_array(), rhs.as_array()) {
            (Some(lhs), Some(rhs)) => lhs.rank() == rhs.rank() && layouts_equal(&equal, lhs, rhs),
            (lhs, rhs) => lhs.is_none() && rhs.is_none(),
        })
    }
}

impl ArrayShape {
    /// XLA's `ShapeUtil::SameRank`.
    pub fn same_rank(&self, other: &ArrayShape) -> bool {
        self.rank() == other.rank()
    }

    /// XLA's `ShapeUtil::SameDimensions`: the same sizes and bounds, where an unbounded dimension is the same as any.
    pub fn same_dimensions(&self, other: &ArrayShape) -> bool {
        Equal::new()
            .ignore_element_type()
            .ignore_layout()
            .ignore_dynamic_dimension()
            .arrays_equal(self, other)
    }
}
