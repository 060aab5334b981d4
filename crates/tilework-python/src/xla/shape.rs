//! `tilework.xla.Shape`: what it is made from, how it is written, and what it is.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple, PyType};
use tilework::Error;
use tilework::dialect::Described;
use tilework::xla::{ArrayShape, Dim, Shape};

use super::{layout, primitive};
use crate::element;
use crate::error::{Bad, Result};
use crate::layout::PyLayout;
use crate::plain;
use crate::read;

/// Any value's shape in XLA's words: an array, a tuple, a buffer, a token or an opaque value.
///
/// Read from XLA's text, with `strict` only from text that XLA itself reads today, or from a shape of jaxlib.
///
/// >>> from tilework import xla
/// >>> xla.Shape("f32[3,5]")
/// tilework.xla.Shape('f32[3,5]{1,0}')
/// >>> xla.Shape("F32[3,5] {1,0:(2,2)}")
/// tilework.xla.Shape('f32[3,5]{1,0:T(2,2)}')
#[pyclass(frozen, name = "Shape", module = "tilework.xla", eq, hash)]
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct PyShape {
    pub shape: Shape,
}

/// A shape of an argument, which may be a text.
pub fn given(said: &Bound<'_, PyAny>) -> Result<Shape> {
    if let Ok(shape) = said.cast::<PyShape>() {
        return Ok(shape.get().shape.clone());
    }
    read(said.cast::<PyString>().map_err(PyErr::from)?.to_str()?, false)
}

/// The array of an argument.
pub fn given_array(said: &Bound<'_, PyAny>) -> Result<ArrayShape> {
    let shape = given(said)?;
    Ok(array_of(&shape)?.clone())
}

/// A shape from a text.
fn read(text: &str, strict: bool) -> Result<Shape> {
    let read = if strict { Shape::parse_strict_xla(text) } else { Shape::parse(text) };
    read.map_err(|error| Bad::within(error, text))
}

/// The array of a shape.
pub fn array_of(shape: &Shape) -> tilework::Result<&ArrayShape> {
    shape.as_array().ok_or_else(|| {
        Error::new(format!("a {} instead of an array", shape.kind()))
            .field("shape")
            .rule("only arrays have dimensions, elements and a layout")
            .accepts("the shape of an array, such as that of an element of a tuple: shape.subshape((0,))")
    })
}

impl PyShape {
    /// The array that this is or, as a buffer, holds.
    pub fn array(&self) -> tilework::Result<&ArrayShape> {
        array_of(&self.shape)
    }

    /// The same kind of shape with another array.
    pub fn of_array(&self, array: ArrayShape) -> PyShape {
        let shape = match self.shape {
            Shape::Buffer(_) => Shape::Buffer(array),
            _ => Shape::Array(array),
        };
        PyShape { shape }
    }

    /// A dimension by its number, where −1 is the last.
    pub fn dim(&self, dim: &Bound<'_, PyAny>) -> Result<usize> {
        Ok(self.array()?.dimension_number(plain::whole(dim, "dimension")?)?)
    }

    /// Several dimensions by their numbers.
    pub fn dims(&self, dims: &Bound<'_, PyAny>) -> Result<Vec<usize>> {
        plain::items(dims)?.iter().map(|dim| self.dim(dim)).collect()
    }

    /// The places of arrays without a layout, and whether all arrays are such; a text alone would give them one.
    fn bare(&self) -> (Vec<Vec<usize>>, bool) {
        let arrays = self.shape.leaf_shapes().filter_map(|(path, leaf)| Some((path, leaf.as_array()?)));
        let (bare, dressed): (Vec<_>, Vec<_>) = arrays.partition(|(_, array)| array.layout().is_none());
        (bare.into_iter().map(|(path, _)| path.to_vec()).collect(), dressed.is_empty())
    }
}

/// Without the layouts at these places.
pub fn without_layouts(mut shape: Shape, paths: &[Vec<usize>]) -> tilework::Result<Shape> {
    for path in paths {
        let place = shape.subshape_mut(path)?;
        *place = place.clone().without_layout();
    }
    Ok(shape)
}

/// What a pickle is made of again.
#[pyfunction]
pub fn _restore(text: &str, bare: Vec<Vec<usize>>) -> Result<PyShape> {
    Ok(PyShape { shape: without_layouts(read(text, false)?, &bare)? })
}

/// The shape of an array: row-major, or with a layout as text or as `tilework.xla.Layout`.
///
/// A size of None is known at run time only; so is one that `dynamic_dimensions` says True of, up to the size.
///
/// >>> from tilework import xla
/// >>> xla.make_shape("bf16", (64, 300), "{1,0:T(8,128)(2,1)}")
/// tilework.xla.Shape('bf16[64,300]{1,0:T(8,128)(2,1)}')
/// >>> xla.make_shape("s32", (8, None), dynamic_dimensions=(True, True))
/// tilework.xla.Shape('s32[<=8,?]{1,0}')
#[pyfunction]
#[pyo3(signature = (element_type, dims, layout=None, *, dynamic_dimensions=None))]
pub fn make_shape(
    element_type: &Bound<'_, PyAny>,
    dims: &Bound<'_, PyAny>,
    layout: Option<&Bound<'_, PyAny>>,
    dynamic_dimensions: Option<Vec<bool>>,
) -> Result<PyShape> {
    let element = primitive::given_element(element_type)?;
    let dims = plain::items(dims)?;
    let dynamic = dynamic_dimensions.unwrap_or_else(|| dims.iter().map(|size| size.is_none()).collect());
    if dynamic.len() != dims.len() {
        return Err(Error::new(format!("{} flags for {} dimensions", dynamic.len(), dims.len()))
            .field("dynamic_dimensions")
            .accepts("True or False for each dimension")
            .into());
    }
    let sizes = dims.iter().zip(dynamic).enumerate().map(|(number, (size, dynamic))| match size.is_none() {
        true if dynamic => Ok(Dim::Unbounded),
        true => Err(Error::new(format!("dimension {number} is None, and not dynamic"))
            .field("dynamic_dimensions")
            .rule("a size of None is known at run time only")
            .accepts("True for this dimension, or a size")
            .into()),
        false => {
            let size = plain::count(size, "dims")?;
            Ok(if dynamic { Dim::Bounded(size) } else { Dim::Static(size) })
        }
    });
    let array = ArrayShape::new(element, sizes.collect::<Result<Vec<Dim>>>()?)?;
    let array = match layout {
        Some(layout) => array.with_layout(layout::given(layout)?)?,
        None => array,
    };
    Ok(PyShape { shape: Shape::Array(array) })
}

#[pymethods]
impl PyShape {
    #[new]
    #[pyo3(signature = (text, *, strict=false))]
    fn __new__(text: &Bound<'_, PyAny>, strict: bool) -> Result<PyShape> {
        if let Ok(shape) = text.cast::<PyShape>() {
            return Ok(shape.get().clone());
        }
        match text.cast::<PyString>() {
            Ok(text) => Ok(PyShape { shape: read(text.to_str()?, strict)? }),
            Err(_) if text.hasattr("to_serialized_proto")? => {
                let proto = text.call_method0("to_serialized_proto")?;
                Ok(PyShape { shape: Shape::from_proto(&proto.extract::<Vec<u8>>()?)? })
            }
            Err(error) => Err(PyErr::from(error).into()),
        }
    }

    /// The shape of a layout that XLA's text can say, as Tilework extends it.
    ///
    /// >>> import tilework
    /// >>> from tilework import xla
    /// >>> xla.Shape.of_layout(tilework.Layout("f32[3,5]{1,0:T(2,2)}").permute(1, 0))
    /// tilework.xla.Shape('f32[5,3]{0,1:T(2,2)}')
    #[classmethod]
    fn of_layout(_class: &Bound<'_, PyType>, layout: &Bound<'_, PyLayout>) -> Result<PyShape> {
        let layout = layout.get();
        let own = read::array_of(&layout.source).filter(|_| layout.views.is_empty()).cloned();
        let said = own.or_else(|| ArrayShape::saying(&layout.layout, layout.element).ok());
        let unsaid = || {
            Error::new("a view that no text of XLA says").field("layout").rule(
                "a text has an order of the dimensions, tiles, and padding, or one stride for each dimension",
            )
        };
        Ok(PyShape { shape: Shape::Array(said.ok_or_else(unsaid)?) })
    }

    /// What it is: 'array', 'tuple', 'buffer', 'token' or 'opaque'.
    #[getter]
    fn kind(&self) -> &'static str {
        Described::kind(&self.shape)
    }

    /// XLA's name of the type of the elements, or of the kind of a shape without elements.
    #[getter]
    fn element_type(&self) -> &'static str {
        self.shape.element_type().name()
    }

    /// NumPy's dtype of the elements.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>> {
        element::dtype(py, self.array()?.element_type())
    }

    /// The sizes of the dimensions; of one that is known at run time only its bound, or None.
    #[getter(dims)]
    fn sizes<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyTuple>> {
        Ok(PyTuple::new(py, self.array()?.dims().iter().map(|dim| dim.bound()).collect::<Vec<_>>())?)
    }

    /// For each dimension whether its size is known at run time only.
    #[getter]
    fn dynamic_dimensions<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyTuple>> {
        let dims = self.array()?.dims().iter().map(|dim| dim.is_dynamic());
        Ok(PyTuple::new(py, dims.collect::<Vec<_>>())?)
    }

    /// The number of dimensions.
    #[getter]
    fn rank(&self) -> Result<usize> {
        Ok(self.array()?.rank())
    }

    /// The number of dimensions of a size above 1.
    #[getter]
    fn true_rank(&self) -> Result<usize> {
        Ok(self.array()?.true_rank())
    }

    /// XLA's `TrueNumDimensions`: the number of dimensions of a size other than 1, so that 0 counts too.
    #[getter]
    fn true_num_dimensions(&self) -> Result<usize> {
        Ok(self.array()?.true_num_dimensions())
    }

    /// Whether it is an array; a buffer, which holds one, is none.
    #[getter]
    fn is_array(&self) -> bool {
        matches!(self.shape, Shape::Array(_))
    }

    /// Whether it has no dimensions.
    #[getter]
    fn is_scalar(&self) -> Result<bool> {
        Ok(self.array()?.is_scalar())
    }

    /// Whether every dimension has size 1.
    #[getter]
    fn is_effective_scalar(&self) -> Result<bool> {
        Ok(self.array()?.is_effective_scalar())
    }

    /// Whether some size is 0.
    #[getter]
    fn is_zero_element_array(&self) -> Result<bool> {
        Ok(self.array()?.is_zero_element_array())
    }

    /// Whether some dimension has size 1.
    #[getter]
    fn has_degenerate_dimensions(&self) -> Result<bool> {
        Ok(self.array()?.has_degenerate_dimensions())
    }

    /// The number of the dimension, where -1 is the last.
    ///
    /// >>> from tilework import xla
    /// >>> xla.Shape("f32[10,20,30]").dimension_number(-1)
    /// 2
    fn dimension_number(&self, number: &Bound<'_, PyAny>) -> Result<usize> {
        self.dim(number)
    }

    /// The size of a dimension, where -1 is the last; None for one without a bound.
    ///
    /// >>> from tilework import xla
    /// >>> xla.Shape("f32[10,20,30]").dimension(-1)
    /// 30
    fn dimension(&self, number: &Bound<'_, PyAny>) -> Result<Option<u64>> {
        let number = plain::whole(number, "dimension")?;
        Ok(self.array()?.dimension(number)?.bound())
    }

    /// The letter of a dimension in XLA's document on shapes: y x, z y x, or p z y x.
    ///
    /// >>> from tilework import xla
    /// >>> [xla.Shape("f32[10,20,30]").dimension_letter(dim) for dim in range(3)]
    /// ['z', 'y', 'x']
    fn dimension_letter(&self, number: &Bound<'_, PyAny>) -> Result<char> {
        Ok(self.array()?.dimension_letter(plain::whole(number, "dimension")?)?)
    }

    /// The dimension that XLA's document on shapes calls by this letter.
    ///
    /// >>> from tilework import xla
    /// >>> xla.Shape("f32[10,20,30]").dimension_of_letter("y")
    /// 1
    fn dimension_of_letter(&self, letter: char) -> Result<usize> {
        Ok(self.array()?.dimension_of_letter(letter)?)
    }

    /// How the array lies in memory, as a `tilework.Layout`: a function from an index to an offset.
    ///
    /// >>> from tilework import xla
    /// >>> xla.Shape("f32[3,5]{1,0:T(2,2)}").layout().offset(2, 3)
    /// 17
    fn layout(&self) -> Result<PyLayout> {
        Ok(PyLayout::of(Arc::new(Shape::from(self.array()?.clone())))?)
    }

    /// The shape without its layouts, as XLA's `HumanString` writes it.
    ///
    /// >>> from tilework import xla
    /// >>> xla.Shape("(f32[3,5]{0,1:T(2,2)}, token[])").human_string()
    /// '(f32[3,5], token[])'
    fn human_string(&self) -> String {
        self.shape.human_string().to_string()
    }

    fn __str__(&self) -> String {
        self.shape.to_string()
    }

    pub fn __repr__(&self) -> String {
        let (bare, all) = self.bare();
        let without = match (bare.is_empty(), all) {
            (true, _) => String::new(),
            (false, true) => ".without_layout()".to_owned(),
            (false, false) => {
                let paths: Vec<String> = bare.iter().map(|path| written(path)).collect();
                format!(".without_layout({})", paths.join(", "))
            }
        };
        format!("tilework.xla.Shape('{}'){without}", self.shape)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let (text, (bare, _)) = (self.shape.to_string(), self.bare());
        if bare.is_empty() {
            return (py.get_type::<PyShape>(), (text,)).into_pyobject(py);
        }
        let restore = py.import("tilework._xla")?.getattr("_restore")?;
        (restore, (text, bare)).into_pyobject(py)
    }

    fn __copy__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __deepcopy__<'py>(slf: Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        slf
    }
}

/// Numbers as Python writes a tuple.
pub fn written(numbers: &[usize]) -> String {
    match numbers {
        [only] => format!("({only},)"),
        _ => format!("({})", numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")),
    }
}
