//! Tuples as trees of shapes: the shape at a path, all shapes in order, and what they have in common.
//!
//! Nothing here recurses, because a tuple that a program builds may be nested deeper than the stack.

use std::fmt;
use std::ops::{Deref, Range};

use crate::error::{Error, Result};
use crate::xla::value::primitive::PrimitiveType;
use crate::xla::value::shape::{ArrayShape, Dim, Shape};

/// XLA's `ShapeIndex`: the path to a shape inside tuples, from the outermost; empty for the shape itself.
///
/// ```
/// use tilework::xla::ShapeIndex;
/// assert_eq!(ShapeIndex::from([0, 1]).to_string(), "{0,1}");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ShapeIndex(Vec<usize>);

impl Deref for ShapeIndex {
    type Target = [usize];

    fn deref(&self) -> &[usize] {
        &self.0
    }
}

impl<P: Into<Vec<usize>>> From<P> for ShapeIndex {
    fn from(path: P) -> ShapeIndex {
        ShapeIndex(path.into())
    }
}

impl fmt::Display for ShapeIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        for (depth, number) in self.0.iter().enumerate() {
            write!(f, "{}{number}", if depth > 0 { "," } else { "" })?;
        }
        f.write_str("}")
    }
}

impl Shape {
    /// XLA's `Shape::element_type`: the type of the elements, or the kind of a shape without elements.
    ///
    /// Of a buffer, the type of the elements of the array that it holds.
    pub fn element_type(&self) -> PrimitiveType {
        match self {
            Shape::Array(array) | Shape::Buffer(array) => array.element_type().into(),
            Shape::Tuple(_) => PrimitiveType::Tuple,
            Shape::Token => PrimitiveType::Token,
            Shape::Opaque => PrimitiveType::Opaque,
        }
    }

    /// Whether this is a tuple.
    pub fn is_tuple(&self) -> bool {
        matches!(self, Shape::Tuple(_))
    }

    /// XLA's `Shape::tuple_shapes`: the shapes in a tuple; none of anything else.
    pub fn tuple_shapes(&self) -> &[Shape] {
        match self {
            Shape::Tuple(elements) => elements,
            _ => &[],
        }
    }

    /// XLA's `ShapeUtil::IndexIsValid`: whether there is a shape at this path.
    pub fn index_is_valid(&self, path: &[usize]) -> bool {
        self.find(path).is_some()
    }

    /// XLA's `ShapeUtil::TryGetSubshape`: the shape at a path.
    ///
    /// ```
    /// use tilework::{Element, xla::Shape};
    /// let pair = Shape::tuple([Shape::scalar(Element::F32), Shape::nil()]);
    /// assert_eq!(pair.subshape(&[1])?, &Shape::nil());
    /// assert!(pair.subshape(&[2]).is_err());
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// A path past the end of a tuple or into a shape that is none.
    pub fn subshape(&self, path: &[usize]) -> Result<&Shape> {
        self.find(path).ok_or_else(|| {
            // The longest part of the path that leads somewhere says what would have been accepted.
            let known = (0..path.len()).rev().find_map(|len| Some((len, self.find(&path[..len])?)));
            let (len, shape) = known.unwrap_or((0, self));
            let error = Error::new(format!("no shape at {}", ShapeIndex::from(path))).field("shape index");
            let place = ShapeIndex::from(&path[..len]);
            match shape {
                Shape::Tuple(elements) => error
                    .rule(format!("the tuple at {place} has {} elements", elements.len()))
                    .accepts(crate::xla::value::layout::accepted_numbers(elements.len())),
                _ => error.rule(format!("the shape at {place} is not a tuple")),
            }
        })
    }

    /// XLA's `ShapeUtil::GetMutableSubshape`: the shape at a path, to be replaced.
    ///
    /// # Errors
    /// See [`Shape::subshape`].
    pub fn subshape_mut(&mut self, path: &[usize]) -> Result<&mut Shape> {
        self.subshape(path)?;
        let mut shape = self;
        for &number in path {
            match shape {
                Shape::Tuple(elements) if number < elements.len() => shape = &mut elements[number],
                _ => return Err(Error::new(format!("no shape at {}", ShapeIndex::from(path)))),
            }
        }
        Ok(shape)
    }

    fn find(&self, path: &[usize]) -> Option<&Shape> {
        path.iter().try_fold(self, |shape, &number| shape.tuple_shapes().get(number))
    }

    /// XLA's `ShapeUtil::IsLeafIndex`: whether the shape at a path is not a tuple.
    ///
    /// # Errors
    /// See [`Shape::subshape`].
    pub fn is_leaf_index(&self, path: &[usize]) -> Result<bool> {
        Ok(!self.subshape(path)?.is_tuple())
    }

    /// XLA's `ShapeUtil::GetLeafCount`: the number of shapes that are not tuples; 1 for such a shape itself, 0 for `()`.
    pub fn leaf_count(&self) -> usize {
        self.leaves().count()
    }

    /// XLA's `ShapeUtil::GetLeafShapes`: the shapes that are not tuples, each with its path, from left to right.
    pub fn leaf_shapes(&self) -> impl Iterator<Item = (ShapeIndex, &Shape)> {
        self.subshapes().filter(|(_, shape)| !shape.is_tuple())
    }

    /// XLA's `ShapeUtil::FlattenTupleShape`: the shapes that are not tuples, from left to right.
    pub fn flatten_tuple(&self) -> Vec<&Shape> {
        self.leaves().collect()
    }

    /// XLA's `ShapeUtil::SubshapeCount`: the number of shapes in the tree, tuples and this one included.
    pub fn subshape_count(&self) -> usize {
        self.all_shapes().count()
    }

    /// What [`Shape::subshapes`] gives, without the paths.
    pub(crate) fn all_shapes(&self) -> impl Iterator<Item = &Shape> {
        let mut open = vec![self];
        std::iter::from_fn(move || {
            let shape = open.pop()?;
            open.extend(shape.tuple_shapes().iter().rev());
            Some(shape)
        })
    }

    /// What [`Shape::leaf_shapes`] gives, without the paths.
    pub(crate) fn leaves(&self) -> impl Iterator<Item = &Shape> {
        self.all_shapes().filter(|shape| !shape.is_tuple())
    }

    /// XLA's `ShapeUtil::ForEachSubshape`: this shape and all in it with their paths, a tuple before its elements.
    ///
    /// ```
    /// use tilework::{Element, xla::Shape};
    /// let f32 = Shape::scalar(Element::F32);
    /// let shape = Shape::tuple([Shape::tuple([f32.clone()]), f32]);
    /// let paths: Vec<String> = shape.subshapes().map(|(path, _)| path.to_string()).collect();
    /// assert_eq!(paths, ["{}", "{0}", "{0,0}", "{1}"]);
    /// # Ok::<(), tilework::Error>(())
    /// ```
    pub fn subshapes(&self) -> Subshapes<'_> {
        Subshapes { start: Some(self), open: Vec::new(), tuples_first: true }
    }

    /// XLA's `ShapeUtil::ForEachSubshapePostOrder`: this shape and all in it with their paths, a tuple after its elements.
    pub fn subshapes_post_order(&self) -> Subshapes<'_> {
        Subshapes { start: Some(self), open: Vec::new(), tuples_first: false }
    }

    /// XLA's `ShapeUtil::ForEachMutableSubshapeWithStatus`: lets `change` replace this shape and then all in it.
    ///
    /// A tuple is visited before its elements, and the elements are those that the visit left in it.
    ///
    /// # Errors
    /// The first error of `change`, which ends the walk; what was changed stays changed.
    pub fn try_for_each_subshape_mut<E>(
        &mut self,
        mut change: impl FnMut(&ShapeIndex, &mut Shape) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut open = vec![(ShapeIndex::default(), self)];
        while let Some((path, shape)) = open.pop() {
            change(&path, shape)?;
            if let Shape::Tuple(elements) = shape {
                let child = |number| ShapeIndex([&path[..], &[number]].concat());
                open.extend(
                    elements.iter_mut().enumerate().rev().map(|(number, shape)| (child(number), shape)),
                );
            }
        }
        Ok(())
    }

    /// XLA's `ShapeUtil::SliceTuple`: the tuple of the elements in this range.
    ///
    /// # Errors
    /// A shape that is not a tuple, a range that is not within its elements.
    pub fn slice_tuple(&self, range: Range<usize>) -> Result<Shape> {
        let Shape::Tuple(elements) = self else {
            return Err(Error::new(format!("type {} instead of a tuple", self.element_type())).field("shape"));
        };
        elements.get(range.clone()).map(|slice| Shape::Tuple(slice.to_vec())).ok_or_else(|| {
            Error::new(format!("elements {} to {} of {}", range.start, range.end, elements.len()))
                .field("range")
                .rule("a slice starts at or before its end, which is at most the number of elements")
        })
    }

    /// XLA's `ShapeUtil::IsEmptyTuple`: `()`.
    pub fn is_empty_tuple(&self) -> bool {
        matches!(self, Shape::Tuple(elements) if elements.is_empty())
    }

    /// XLA's `ShapeUtil::IsNestedTuple`: a tuple with a tuple in it.
    pub fn is_nested_tuple(&self) -> bool {
        self.tuple_shapes().iter().any(Shape::is_tuple)
    }

    /// XLA's `ShapeUtil::HasPrimitiveType`: this shape or one in it is of this type.
    pub fn has_primitive_type(&self, kind: impl Into<PrimitiveType>) -> bool {
        let kind = kind.into();
        self.all_shapes().any(|shape| shape.element_type() == kind)
    }

    /// XLA's `Shape::AreAllLeavesIntegers`: every shape that is not a tuple has integer elements.
    pub fn are_all_leaves_integers(&self) -> bool {
        self.leaves().all(|shape| shape.as_array().is_some_and(|array| array.element_type().is_integer()))
    }

    /// XLA's `Shape::is_static`: no dimension anywhere is dynamic.
    pub fn is_static(&self) -> bool {
        self.all_shapes().all(|shape| shape.as_array().is_none_or(ArrayShape::is_static))
    }

    /// XLA's `Shape::is_dynamic`: some dimension anywhere is bounded or unbounded.
    pub fn is_dynamic(&self) -> bool {
        !self.is_static()
    }

    /// XLA's `Shape::is_unbounded_dynamic`: some dimension anywhere is `?`.
    pub fn is_unbounded_dynamic(&self) -> bool {
        self.any_dim(|dim| dim == Dim::Unbounded)
    }

    /// XLA's `Shape::is_bounded_dynamic`: some dimension anywhere is `<=n`.
    pub fn is_bounded_dynamic(&self) -> bool {
        self.any_dim(|dim| matches!(dim, Dim::Bounded(_)))
    }

    fn any_dim(&self, test: impl Fn(Dim) -> bool) -> bool {
        let mut arrays = self.all_shapes().filter_map(Shape::as_array);
        arrays.any(|array| array.dims().iter().any(|&dim| test(dim)))
    }
}

/// The shapes of a tree with their paths; see [`Shape::subshapes`].
#[derive(Clone, Debug)]
pub struct Subshapes<'a> {
    start: Option<&'a Shape>,
    /// The tuples around the place, each with the number of elements already met.
    open: Vec<(&'a Shape, usize)>,
    tuples_first: bool,
}

impl Subshapes<'_> {
    /// The path to the last element met in the innermost open tuple.
    fn path(&self) -> ShapeIndex {
        self.open.iter().map(|&(_, met)| met - 1).collect::<Vec<usize>>().into()
    }
}

impl<'a> Iterator for Subshapes<'a> {
    type Item = (ShapeIndex, &'a Shape);

    fn next(&mut self) -> Option<Self::Item> {
        let mut child = self.start.take();
        loop {
            if child.is_none() {
                let (tuple, met) = self.open.last_mut()?;
                child = tuple.tuple_shapes().get(*met);
                *met += usize::from(child.is_some());
            }
            match child.take() {
                Some(shape) => {
                    let path = (self.tuples_first || !shape.is_tuple()).then(|| self.path());
                    if shape.is_tuple() {
                        self.open.push((shape, 0));
                    }
                    if let Some(path) = path {
                        return Some((path, shape));
                    }
                }
                None => {
                    let (tuple, _) = self.open.pop()?;
                    if !self.tuples_first {
                        return Some((self.path(), tuple));
                    }
                }
            }
        }
    }
}
