//! XLA's `Shape`: an array, a tuple, a buffer, a token or an opaque value.

use smallvec::SmallVec;

pub use crate::dialect::Dim;
use crate::element::Element;
use crate::error::{Error, ErrorKind, Result, counted};
use crate::xla::value::layout::{Layout, accepted_numbers};

/// Any value's shape, in XLA's words.
///
/// ```
/// use tilework::{Element, xla::Shape};
/// let shape = Shape::array(Element::F32, [3, 5])?;
/// assert_eq!(shape.to_string(), "f32[3,5]{1,0}");
/// # Ok::<(), tilework::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// Elements of one type in dimensions.
    Array(ArrayShape),
    /// A list of shapes.
    Tuple(Vec<Shape>),
    /// `b(..)`: a buffer that holds an array.
    Buffer(ArrayShape),
    /// `token[]`: orders side effects, holds no data.
    Token,
    /// `opaque[]`: data that XLA cannot see into.
    Opaque,
}

/// The shape of an array: element type, dimensions, and how it lies in memory.
///
/// A value is valid: the number of elements and their bytes fit 63 bits, and the
/// layout fits the dimensions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ArrayShape {
    element: Element,
    dims: SmallVec<[Dim; 6]>,
    layout: Option<Layout>,
}

impl Shape {
    /// An array with XLA's default layout, row-major: XLA's `ShapeUtil::MakeShape`.
    ///
    /// # Errors
    /// See [`ArrayShape::new`].
    pub fn array(element: Element, dims: impl IntoIterator<Item = impl Into<Dim>>) -> Result<Shape> {
        ArrayShape::new(element, dims).map(Shape::Array)
    }

    /// An array without dimensions: XLA's `ShapeUtil::MakeScalarShape`.
    pub fn scalar(element: Element) -> Shape {
        let layout = Some(Layout::descending(0));
        Shape::Array(ArrayShape { element, dims: SmallVec::new(), layout })
    }

    /// The array of this shape, if it is one; of a buffer, the array that it holds.
    pub fn as_array(&self) -> Option<&ArrayShape> {
        match self {
            Shape::Array(array) | Shape::Buffer(array) => Some(array),
            _ => None,
        }
    }
}

impl From<ArrayShape> for Shape {
    fn from(array: ArrayShape) -> Shape {
        Shape::Array(array)
    }
}

impl ArrayShape {
    /// An array with XLA's default layout, row-major.
    ///
    /// # Errors
    /// A size above `i64::MAX`, or more bytes than 63 bits can count.
    pub fn new(element: Element, dims: impl IntoIterator<Item = impl Into<Dim>>) -> Result<ArrayShape> {
        let dims: SmallVec<[Dim; 6]> = dims.into_iter().map(Into::into).collect();
        check_sizes(&dims, element.bytes())?;
        let layout = Some(Layout::descending(dims.len()));
        Ok(ArrayShape { element, dims, layout })
    }

    /// The same array with this layout.
    ///
    /// # Errors
    /// A layout of another rank, a padded dimension below its size, a split index not within its dimension, or a
    /// physical shape, which belongs to the sparse arrays that XLA no longer has.
    pub fn with_layout(mut self, layout: Layout) -> Result<ArrayShape> {
        check_layout(&self.dims, &layout)?;
        self.layout = Some(layout);
        Ok(self)
    }

    /// Makes `out` an array whose parts `read` puts into place: the sizes, and a layout if it likes. For the reader,
    /// which would otherwise spend its time moving 300 bytes from step to step.
    ///
    /// # Errors
    /// Those of `read`, of [`ArrayShape::new`] and of [`ArrayShape::with_layout`].
    #[inline]
    pub(crate) fn read_into(
        out: &mut Shape,
        element: Element,
        read: impl FnOnce(&mut SmallVec<[Dim; 6]>, &mut Option<Layout>) -> Result<()>,
    ) -> Result<()> {
        *out = Shape::Array(ArrayShape { element, dims: SmallVec::new(), layout: None });
        let Shape::Array(array) = out else { unreachable!("an array was just put there") };
        read(&mut array.dims, &mut array.layout)?;
        check_sizes(&array.dims, element.bytes())?;
        match &array.layout {
            Some(layout) => check_layout(&array.dims, layout),
            None => Ok(()),
        }
    }

    /// The same array without a layout.
    #[must_use]
    pub fn without_layout(mut self) -> ArrayShape {
        self.layout = None;
        self
    }

    /// Replaces the layout by one of the same rank without new padding, which therefore fits as well.
    pub(crate) fn change_layout(&mut self, change: impl FnOnce(Option<Layout>) -> Option<Layout>) {
        self.layout = change(self.layout.take());
    }

    /// The type of the elements.
    pub fn element_type(&self) -> Element {
        self.element
    }

    /// The sizes, by dimension number.
    pub fn dims(&self) -> &[Dim] {
        &self.dims
    }

    /// Number of dimensions.
    pub fn rank(&self) -> usize {
        self.dims.len()
    }

    /// How the array lies in memory, if that is said.
    pub fn layout(&self) -> Option<&Layout> {
        self.layout.as_ref()
    }

    /// Whether every size is known.
    pub fn is_static(&self) -> bool {
        !self.dims.iter().any(|dim| dim.is_dynamic())
    }
}

/// Condition of every array that has a layout: the two fit each other.
fn check_layout(dims: &[Dim], layout: &Layout) -> Result<()> {
    let field = if layout.strides().is_some() { "strides" } else { "minor_to_major" };
    check_rank(field, layout.rank(), dims.len())?;
    if let Some(padding) = layout.padding() {
        for (number, (&padded, &dim)) in padding.padded_dimensions.iter().zip(dims).enumerate() {
            check_padded(number, dim, padded)?;
        }
    }
    for config in layout.split_configs() {
        config.check_size(dims[layout.major(config.dimension as usize)].bound())?;
    }
    match layout.physical_shape() {
        Some(_) => Err(physical_shape_on_dense()),
        None => Ok(()),
    }
}

/// Checks that the list in this field of a layout has one entry for each dimension.
#[inline]
pub(crate) fn check_rank(field: &str, entries: usize, rank: usize) -> Result<()> {
    if entries == rank {
        return Ok(());
    }
    Err(Error::new(format!("the layout has {}, the shape has {rank}", counted(entries as u64, "dimension")))
        .field(field)
        .rule(format!("{field} has one number for each dimension"))
        .accepts(match rank {
            0 => "no numbers".to_owned(),
            _ if field == "strides" => counted(rank as u64, "stride"),
            _ => format!("a permutation of {}", accepted_numbers(rank)),
        }))
}

/// Checks one padded dimension against the dimension.
pub(crate) fn check_padded(number: usize, dim: Dim, padded: u64) -> Result<()> {
    match dim.bound() {
        Some(size) if padded < size => {
            Err(Error::new(format!("dimension {number} is {size}, padded to only {padded}"))
                .field("padded_dimensions")
                .rule("a padded dimension is at least the dimension's size")
                .accepts(format!("{size} or more")))
        }
        _ => Ok(()),
    }
}

/// What XLA says of `P(..)` on any array of today.
pub(crate) fn physical_shape_on_dense() -> Error {
    Error::new("the layout has a physical shape, but is not for a sparse array")
        .field("physical_shape")
        .rule("P(..) describes how a sparse array is stored, and XLA has had none since 2025")
        .accepts("the layout without P(..)")
}

/// Condition of every array: sizes and the product of sizes and element bytes stay within `i64`.
fn check_sizes(dims: &[Dim], element_bytes: u32) -> Result<()> {
    let bounds = || dims.iter().enumerate().filter_map(|(number, dim)| Some((number, dim.bound()?)));
    if let Some((number, size)) = bounds().find(|&(_, size)| size > i64::MAX as u64) {
        return Err(Error::new(format!("dimension {number} is {size}"))
            .field("dimensions")
            .rule("sizes fit 63 bits")
            .accepts("0 to 9223372036854775807, <=n or ?"));
    }
    if bounds().any(|(_, size)| size == 0) {
        return Ok(());
    }
    let mut bytes = u128::from(element_bytes);
    for (number, size) in bounds() {
        bytes *= u128::from(size);
        if bytes > i64::MAX as u128 {
            let dimensions = match number {
                0 => "dimension 0".to_owned(),
                _ => format!("dimensions 0 to {number}"),
            };
            return Err(Error::new(format!("the bytes of {dimensions} overflow 63 bits"))
                .of_kind(ErrorKind::Overflow)
                .field("dimensions")
                .rule("the product of the sizes and the bytes of an element is at most 9223372036854775807")
                .accepts("smaller dimensions"));
        }
    }
    Ok(())
}
