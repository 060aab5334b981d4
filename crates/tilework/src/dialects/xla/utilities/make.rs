//! Making shapes, and the same shape with another element type or without some of its layout.

use smallvec::SmallVec;

use crate::element::Element;
use crate::error::{Error, ErrorKind, Result};
use crate::xla::value::layout::Layout;
use crate::xla::value::shape::{ArrayShape, Dim, Shape};

impl Shape {
    /// The tuple of these shapes: XLA's `ShapeUtil::MakeTupleShape`.
    pub fn tuple(elements: impl IntoIterator<Item = Shape>) -> Shape {
        Shape::Tuple(elements.into_iter().collect())
    }

    /// The only shape itself, or the tuple of any other number: XLA's `ShapeUtil::MakeMaybeTupleShape`.
    pub fn maybe_tuple(elements: impl IntoIterator<Item = Shape>) -> Shape {
        let mut elements: Vec<Shape> = elements.into_iter().collect();
        match elements.pop() {
            Some(only) if elements.is_empty() => only,
            last => {
                elements.extend(last);
                Shape::Tuple(elements)
            }
        }
    }

    /// `()`: XLA's `ShapeUtil::MakeNil`.
    pub fn nil() -> Shape {
        Shape::Tuple(Vec::new())
    }

    /// The default layout of this shape: row-major for arrays, empty for tokens and opaque values. XLA's
    /// `LayoutUtil::GetDefaultLayoutForShape`.
    ///
    /// # Errors
    /// A tuple, which has no layout of its own.
    pub fn default_layout(&self) -> Result<Layout> {
        match self {
            Shape::Array(array) | Shape::Buffer(array) => Ok(Layout::descending(array.rank())),
            Shape::Token | Shape::Opaque => Ok(Layout::descending(0)),
            Shape::Tuple(_) => Err(Error::new("a tuple has no layout of its own")
                .field("layout")
                .rule("every array in a tuple has its own layout")
                .accepts("an array, a token or an opaque value")),
        }
    }

    /// XLA's `ShapeUtil::ChangeElementType`: every array in the shape with these elements instead.
    ///
    /// See [`ArrayShape::with_element_type`].
    ///
    /// # Errors
    /// An array that grows past 63 bits of bytes.
    pub fn with_element_type(self, element: Element) -> Result<Shape> {
        self.map_arrays(|array| array.with_element_type(element))
    }

    /// XLA's `ShapeUtil::ComplexComponentShape`: the shape of the real or the imaginary parts.
    ///
    /// # Errors
    /// An array of elements that are not complex.
    pub fn complex_component_shape(self) -> Result<Shape> {
        self.map_arrays(|array| {
            let element = array.element_type();
            let component = element.complex_component().ok_or_else(|| {
                Error::new(format!("{element} is not complex")).field("element type").accepts("c64 or c128")
            })?;
            array.with_element_type(component)
        })
    }

    /// XLA's `ShapeUtil::MakeStaticShape`: every dimension takes its bound.
    ///
    /// See [`ArrayShape::with_static_dimensions`]. As in XLA, arrays in a tuple that are static already keep their `M`.
    ///
    /// # Errors
    /// An unbounded dimension.
    pub fn with_static_dimensions(self) -> Result<Shape> {
        let in_tuple = self.is_tuple();
        self.map_arrays(|array| match in_tuple && array.is_static() {
            true => Ok(array),
            false => array.with_static_dimensions(),
        })
    }

    /// XLA's `ShapeUtil::UpdateElementSizeInBits`: every layout says how narrow elements are stored.
    ///
    /// With `pack_subbyte_types`, the types of [`Element::is_sub_byte_number`] get `E(bits)`. All other layouts
    /// lose it.
    #[must_use]
    pub fn with_updated_element_size_in_bits(mut self, pack_subbyte_types: bool) -> Shape {
        for array in self.arrays_mut() {
            let element = array.element_type();
            let packed = pack_subbyte_types && element.is_sub_byte_number();
            let bits = if packed { element.bits() } else { 0 };
            array.change_layout(|layout| Some(layout?.with_element_size_in_bits(bits)));
        }
        self
    }

    /// XLA's `ShapeUtil::DeviceShapeToHostShape`: no tiles, `L`, `E`, `S`, `P` or `M`; the order and `SC` stay.
    ///
    /// An array without a layout stays without one, where XLA gives it an empty layout.
    #[must_use]
    pub fn device_shape_to_host_shape(mut self) -> Shape {
        for array in self.arrays_mut() {
            array.change_layout(|layout| layout.map(Layout::on_host));
        }
        self
    }

    fn map_arrays(mut self, map: impl Fn(ArrayShape) -> Result<ArrayShape>) -> Result<Shape> {
        for array in self.arrays_mut() {
            *array = map(array.clone())?;
        }
        Ok(self)
    }

    /// Every array in the shape, to be replaced. Walks by hand, because a tuple may be nested deeper than the stack.
    pub(crate) fn arrays_mut(&mut self) -> impl Iterator<Item = &mut ArrayShape> {
        let mut open = vec![self];
        std::iter::from_fn(move || {
            while let Some(shape) = open.pop() {
                match shape {
                    Shape::Array(array) | Shape::Buffer(array) => return Some(array),
                    Shape::Tuple(elements) => open.extend(elements.iter_mut().rev()),
                    Shape::Token | Shape::Opaque => {}
                }
            }
            None
        })
    }
}

impl ArrayShape {
    /// XLA's `ShapeUtil::MakeShapeWithDenseLayout`: an array with this layout, whose `E` becomes 0 where it says only
    /// what the element type says.
    ///
    /// # Errors
    /// See [`ArrayShape::new`] and [`ArrayShape::with_layout`].
    pub fn with_dense_layout(
        element: Element,
        dims: impl IntoIterator<Item = impl Into<Dim>>,
        layout: Layout,
    ) -> Result<ArrayShape> {
        let array = ArrayShape::new(element, dims)?;
        let says_nothing = layout.element_size_in_bits() == 8 * element.bytes();
        array.with_layout(if says_nothing { layout.with_element_size_in_bits(0) } else { layout })
    }

    /// The same array with these elements. `E(bits)` stays only for the types of
    /// [`Element::is_sub_byte_number`].
    ///
    /// ```
    /// use tilework::{Element, xla::{ArrayShape, Layout}};
    /// let layout = Layout::new([1, 0])?.with_element_size_in_bits(4);
    /// let packed = ArrayShape::new(Element::S4, [64, 128u64])?.with_layout(layout)?;
    /// let bools = packed.with_element_type(Element::Pred)?;
    /// assert_eq!(bools.layout().unwrap().element_size_in_bits(), 0);
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// More bytes than 63 bits can count.
    pub fn with_element_type(self, element: Element) -> Result<ArrayShape> {
        let layout = self.layout().map(|layout| match element.is_sub_byte_number() {
            true => layout.clone(),
            false => layout.clone().with_element_size_in_bits(0),
        });
        ArrayShape::of(element, self.dims().iter().copied(), layout)
    }

    /// The same array with every bounded dimension at its bound, and no metadata before the data: `M` becomes 0.
    ///
    /// # Errors
    /// An unbounded dimension, which XLA turns into a size of -2^63.
    pub fn with_static_dimensions(self) -> Result<ArrayShape> {
        let mut dims = SmallVec::<[u64; 6]>::new();
        for (number, dim) in self.dims().iter().enumerate() {
            dims.push(dim.bound().ok_or_else(|| unbounded(number))?);
        }
        let layout = self.layout().map(|layout| layout.clone().with_dynamic_shape_metadata_prefix_bytes(0));
        ArrayShape::of(self.element_type(), dims, layout.transpose()?)
    }

    /// The array with this layout, or with none at all.
    pub(crate) fn of(
        element: Element,
        dims: impl IntoIterator<Item = impl Into<Dim>>,
        layout: Option<Layout>,
    ) -> Result<ArrayShape> {
        let array = ArrayShape::new(element, dims)?;
        match layout {
            Some(layout) => array.with_layout(layout),
            None => Ok(array.without_layout()),
        }
    }
}

/// The error of a question that an unbounded dimension leaves without an answer.
pub(crate) fn unbounded(number: usize) -> Error {
    Error::new(format!("dimension {number} is unbounded"))
        .of_kind(ErrorKind::Unsupported)
        .field("dimensions")
        .rule("the size of ? is known at run time only")
        .accepts("a size, or a bound such as <=8")
}
