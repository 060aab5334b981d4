//! Tuples of shapes, and what all arrays in a shape have in common.

use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use tilework::Error;
use tilework::xla::Shape;

use super::primitive;
use super::shape::{self, PyShape};
use crate::error::Result;
use crate::plain;

/// How deep tuples may nest, as in a text.
const MAX_DEPTH: usize = 128;

/// How many shapes a tuple may hold in all, far above any real program's: doubling it often would exhaust memory.
const MAX_SHAPES: usize = 1 << 18;

/// The tuple of these shapes, which may be texts.
///
/// >>> from tilework import xla
/// >>> xla.make_tuple("f32[2]", xla.make_tuple())
/// tilework.xla.Shape('(f32[2]{0}, ())')
#[pyfunction]
#[pyo3(signature = (*shapes))]
pub fn make_tuple(shapes: &Bound<'_, PyTuple>) -> Result<PyShape> {
    let mut elements: Vec<Shape> = Vec::new();
    let mut count = 1;
    for said in shapes.iter() {
        let shape = shape::given(&said)?;
        count += shape.subshape_count();
        if count > MAX_SHAPES {
            return Err(Error::new("a tuple of very many shapes")
                .field("shapes")
                .rule("one shape may stand in a tuple many times, and each takes memory")
                .accepts(format!("up to {MAX_SHAPES} shapes, those in tuples and the tuples counted"))
                .into());
        }
        elements.push(shape);
    }
    let shape = Shape::tuple(elements);
    let depth = shape.subshapes().map(|(path, _)| path.len()).max().unwrap_or(0);
    if depth > MAX_DEPTH {
        return Err(Error::new(format!("tuples nest {depth} deep"))
            .field("shapes")
            .rule(format!("tuples nest at most {MAX_DEPTH} deep"))
            .into());
    }
    Ok(PyShape { shape })
}

fn listed<'py, 'a>(
    py: Python<'py>,
    shapes: impl Iterator<Item = (tilework::xla::ShapeIndex, &'a Shape)>,
) -> Result<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for (path, shape) in shapes {
        list.append((PyTuple::new(py, path.iter())?, PyShape { shape: shape.clone() }))?;
    }
    Ok(list)
}

#[pymethods]
impl PyShape {
    /// Whether it is a tuple.
    #[getter]
    fn is_tuple(&self) -> bool {
        self.shape.is_tuple()
    }

    /// The shapes in a tuple; none of anything else.
    #[getter]
    fn tuple_shapes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let shapes = self.shape.tuple_shapes().iter().map(|shape| PyShape { shape: shape.clone() });
        PyTuple::new(py, shapes.collect::<Vec<_>>())
    }

    /// The shape at a path of numbers, from the outermost tuple; () is the shape itself.
    ///
    /// >>> from tilework import xla
    /// >>> xla.Shape("(f32[2], (s8[3], token[]))").subshape((1, 0))
    /// tilework.xla.Shape('s8[3]{0}')
    fn subshape(&self, path: &Bound<'_, PyAny>) -> Result<PyShape> {
        let path = plain::places(path, "shape index")?;
        Ok(PyShape { shape: self.shape.subshape(&path)?.clone() })
    }

    /// Whether there is a shape at this path.
    fn index_is_valid(&self, path: &Bound<'_, PyAny>) -> Result<bool> {
        let path = plain::wholes(path, "shape index")?;
        let path: Option<Vec<usize>> = path.into_iter().map(|number| usize::try_from(number).ok()).collect();
        Ok(path.is_some_and(|path| self.shape.index_is_valid(&path)))
    }

    /// Whether the shape at this path is not a tuple.
    fn is_leaf_index(&self, path: &Bound<'_, PyAny>) -> Result<bool> {
        Ok(self.shape.is_leaf_index(&plain::places(path, "shape index")?)?)
    }

    /// The shapes that are not tuples, each with its path, from left to right.
    ///
    /// >>> from tilework import xla
    /// >>> [path for path, shape in xla.Shape("(f32[2], (s8[3], token[]))").leaf_shapes()]
    /// [(0,), (1, 0), (1, 1)]
    fn leaf_shapes<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyList>> {
        listed(py, self.shape.leaf_shapes())
    }

    /// This shape and all in it, each with its path, a tuple before its elements or after them.
    #[pyo3(signature = (*, tuples_first=true))]
    fn subshapes<'py>(&self, py: Python<'py>, tuples_first: bool) -> Result<Bound<'py, PyList>> {
        match tuples_first {
            true => listed(py, self.shape.subshapes()),
            false => listed(py, self.shape.subshapes_post_order()),
        }
    }

    /// The number of shapes that are not tuples.
    #[getter]
    fn leaf_count(&self) -> usize {
        self.shape.leaf_count()
    }

    /// The number of shapes in the tree, tuples and this one included.
    #[getter]
    fn subshape_count(&self) -> usize {
        self.shape.subshape_count()
    }

    /// XLA's `SliceTuple`: the tuple of the elements from start up to, not including, stop.
    fn slice_tuple(&self, start: &Bound<'_, PyAny>, stop: &Bound<'_, PyAny>) -> Result<PyShape> {
        let range = plain::place(start, "start")?..plain::place(stop, "stop")?;
        Ok(PyShape { shape: self.shape.slice_tuple(range)? })
    }

    /// Whether it is `()`.
    #[getter]
    fn is_empty_tuple(&self) -> bool {
        self.shape.is_empty_tuple()
    }

    /// Whether it is a tuple with a tuple in it.
    #[getter]
    fn is_nested_tuple(&self) -> bool {
        self.shape.is_nested_tuple()
    }

    /// Whether this shape or one in it is of this type, which may be `tuple` or `token`.
    fn has_primitive_type(&self, element_type: &Bound<'_, PyAny>) -> Result<bool> {
        Ok(self.shape.has_primitive_type(primitive::given(element_type)?))
    }

    /// Whether every shape that is not a tuple has integer elements.
    #[getter]
    fn are_all_leaves_integers(&self) -> bool {
        self.shape.are_all_leaves_integers()
    }

    /// Whether every size anywhere is known.
    #[getter]
    fn is_static(&self) -> bool {
        self.shape.is_static()
    }

    /// Whether some size is known at run time only.
    #[getter]
    fn is_dynamic(&self) -> bool {
        self.shape.is_dynamic()
    }

    /// Whether some dimension is `<=n`.
    #[getter]
    fn is_bounded_dynamic(&self) -> bool {
        self.shape.is_bounded_dynamic()
    }

    /// Whether some dimension is `?`.
    #[getter]
    fn is_unbounded_dynamic(&self) -> bool {
        self.shape.is_unbounded_dynamic()
    }
}
