//! Dynamic dimensions: setting and copying them, and whether a size at run time fits a bound.

use crate::error::{Error, Result};
use crate::xla::value::shape::{ArrayShape, Dim, Shape};

impl ArrayShape {
    /// XLA's `ShapeUtil::CopyDynamicDimensions`: the same sizes, dynamic where the dimensions of `from` are.
    ///
    /// ```
    /// use tilework::{Element, xla::{ArrayShape, Dim}};
    /// let shape = ArrayShape::new(Element::F32, [2, 3u64])?;
    /// let from = ArrayShape::new(Element::F32, [Dim::Static(7), Dim::Bounded(8)])?;
    /// assert_eq!(shape.copy_dynamic_dimensions(&from)?.dims(), [Dim::Static(2), Dim::Bounded(3)]);
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Another rank, or an unbounded dimension here that is static there.
    pub fn copy_dynamic_dimensions(&self, from: &ArrayShape) -> Result<ArrayShape> {
        if self.rank() != from.rank() {
            return Err(Error::new(format!("shapes of rank {} and {}", from.rank(), self.rank()))
                .field("dimensions")
                .rule("dynamic dimensions are copied between shapes of the same rank"));
        }
        let mut dims = Vec::with_capacity(self.rank());
        for (number, from) in from.dims().iter().enumerate() {
            dims.push(self.made_dynamic(number, from.is_dynamic())?);
        }
        ArrayShape::of(self.element_type(), dims, self.layout().cloned())
    }

    /// XLA's `ShapeUtil::UpdateDynamicDimension`: one dimension dynamic, with its size as the bound, or static.
    ///
    /// # Errors
    /// A dimension outside the rank, or an unbounded one that shall be static.
    pub fn update_dynamic_dimension(&self, dim: usize, is_dynamic: bool) -> Result<ArrayShape> {
        self.check_dimension(dim)?;
        let mut dims = self.dims().to_vec();
        dims[dim] = self.made_dynamic(dim, is_dynamic)?;
        ArrayShape::of(self.element_type(), dims, self.layout().cloned())
    }

    fn made_dynamic(&self, number: usize, is_dynamic: bool) -> Result<Dim> {
        match (self.dims()[number], is_dynamic) {
            (Dim::Static(size), true) => Ok(Dim::Bounded(size)),
            (Dim::Bounded(size), false) => Ok(Dim::Static(size)),
            (Dim::Unbounded, false) => Err(crate::xla::utilities::make::unbounded(number)),
            (dim, _) => Ok(dim),
        }
    }

    /// XLA's `ShapeUtil::DynamicArrayShapeIsCompatible`: the same rank, and no size above that of `bounded`.
    ///
    /// An unbounded dimension fits only an unbounded one, and every size fits that. XLA's code has it the other way
    /// round, because it stands for `?` with the lowest of all numbers.
    pub fn dynamic_array_shape_is_compatible(&self, bounded: &ArrayShape) -> bool {
        let limit = |dim: &Dim| dim.bound().unwrap_or(u64::MAX);
        self.rank() == bounded.rank()
            && self.dims().iter().zip(bounded.dims()).all(|(d, b)| limit(d) <= limit(b))
    }
}

impl Shape {
    /// XLA's `ShapeUtil::UpdateDynamicDimension`, in the array at this place of a tuple.
    ///
    /// # Errors
    /// A place that holds no array, a dimension outside its rank, or an unbounded one that shall be static.
    pub fn update_dynamic_dimension(mut self, path: &[usize], dim: usize, is_dynamic: bool) -> Result<Shape> {
        match self.subshape_mut(path)? {
            Shape::Array(array) | Shape::Buffer(array) => {
                *array = array.update_dynamic_dimension(dim, is_dynamic)?;
            }
            other => {
                return Err(Error::new(format!("dimension {dim} of a {}", other.element_type()))
                    .field("shape")
                    .rule("only arrays have dimensions")
                    .accepts("the place of an array"));
            }
        }
        Ok(self)
    }

    /// XLA's `ShapeUtil::DynamicShapeIsCompatible`: every dynamic array of this shape fits the one at the same place of
    /// `bounded`.
    ///
    /// As in XLA, arrays that are not dynamic are not compared at all, and a tuple of `bounded` may have more elements.
    pub fn dynamic_shape_is_compatible(&self, bounded: &Shape) -> bool {
        let mut open = vec![(self, bounded)];
        while let Some((shape, bounded)) = open.pop() {
            match (shape, bounded) {
                (Shape::Tuple(shapes), Shape::Tuple(bounds)) if shapes.len() <= bounds.len() => {
                    open.extend(shapes.iter().zip(bounds));
                }
                (Shape::Tuple(_), _) | (_, Shape::Tuple(_)) => return false,
                _ => match (shape.as_array().filter(|array| !array.is_static()), bounded.as_array()) {
                    (None, _) => {}
                    (Some(array), Some(bounded)) if array.dynamic_array_shape_is_compatible(bounded) => {}
                    _ => return false,
                },
            }
        }
        true
    }
}
