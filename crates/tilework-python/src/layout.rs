//! `tilework.Layout`, and the small answers it gives.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use numpy::{PyArray1, PyArrayMethods};
use pyo3::basic::CompareOp;
use pyo3::exceptions::{PyMemoryError, PyTypeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyTuple, PyType};
use tilework::Element;
use tilework::dialect::{Axes, Dialect, Said};
use tilework::{Error, Layout, Place};

use crate::answer::PyPadding;
use crate::element::{self, Dtypes};
use crate::error::Result;
use crate::plain;
use crate::prepared::Side;
use crate::read;
use crate::view::View;

/// How an array lies in memory: a function from an index to an offset, with an allocated size.
///
/// Made from any text that Tilework reads, from a DirectML descriptor as a dict, or from an array of NumPy, PyTorch, JAX
/// or any other library that says how its arrays lie: their shape, strides and dtype, never their data. The braces of a
/// layout alone, and layouts of JAX, want `shape` (or `dims`) and `dtype` as well; a shape with a dtype is row-major. Of an array of JAX it is the layout on the device, and
/// of a sharded one the layout of one shard. `notation` says in which notation a text is, where it could be in several.
///
/// >>> layout = tw.Layout("bf16[64,300]{1,0:T(8,128)(2,1)}")
/// >>> layout.size, layout.allocated, layout.nbytes, layout.offset(3, 17)
/// (19200, 24576, 49152, 291)
/// >>> tw.Layout("{1,0:T(8,128)(2,1)}", shape=(64, 300), dtype="bfloat16") == layout
/// True
/// >>> tw.Layout((64, 300), dtype="bfloat16")
/// tilework.Layout('bf16[64,300]{1,0}')
/// >>> tw.Layout({"DataType": "FLOAT16", "Sizes": [2, 3, 4, 4], "Strides": [48, 1, 12, 3]}).strides
/// (48, 1, 12, 3)
/// >>> tw.Layout(np.zeros((3, 5), np.float32).T)
/// tilework.Layout('f32[5,3]{0,1}')
///
/// Layouts never change. They are equal when the elements have the same type and dimensions, every element has the same
/// place, and the sizes are the same, however that was written.
///
/// >>> tw.Layout("F32[3,5]{1,0:(2,2)}") == tw.Layout("f32[3,5]{1,0:T(2,2)}")
/// True
#[pyclass(frozen, name = "Layout", module = "tilework")]
pub struct PyLayout {
    /// What it was made from.
    pub source: Said,
    /// The views taken of it since; none where a text says all.
    pub views: Vec<View>,
    pub element: Element,
    pub layout: Layout,
    /// The names of the dimensions, where somebody gave them.
    pub names: Option<Axes>,
    /// A number that no other object has: what was planned for this one is found by it.
    pub id: u64,
    dtypes: PyOnceLock<Dtypes>,
    strided: OnceLock<tilework::Result<Strided>>,
}

/// A layout that strides say.
pub struct Strided {
    /// Offset of element (0, …).
    pub first: u64,
    pub strides: Vec<i64>,
    /// Whether every element is known to have a place of its own.
    pub is_injective: bool,
}

impl PyLayout {
    pub fn new(source: Said, views: Vec<View>, element: Element, layout: Layout) -> PyLayout {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        let (dtypes, strided) = (PyOnceLock::new(), OnceLock::new());
        PyLayout { source, views, element, layout, names: None, id, dtypes, strided }
    }

    /// The same with these names for its dimensions, or without any.
    pub fn named(self, names: Option<Axes>) -> tilework::Result<PyLayout> {
        if let Some(names) = &names {
            names.require_rank(self.layout.rank())?;
        }
        Ok(PyLayout { names, ..self })
    }

    /// Another object for the same.
    pub fn again(&self) -> PyLayout {
        PyLayout::new(self.source.clone(), self.views.clone(), self.element, self.layout.clone())
    }

    /// NumPy's types of its elements and of its buffers.
    pub fn dtypes(&self, py: Python<'_>) -> Result<&Dtypes> {
        self.dtypes.get_or_try_init(py, || Dtypes::new(py, self.element, self.layout.bits()))
    }

    /// The layout as one side of a move.
    pub fn side(&self) -> Side<'_> {
        Side { element: self.element, layout: &self.layout }
    }

    /// The strides that say the layout, or why none do.
    pub fn strided_form(&self) -> &tilework::Result<Strided> {
        self.strided.get_or_init(|| {
            let tilework::Strided { first, strides, .. } = self.layout.to_strides()?;
            Ok(Strided { first, strides, is_injective: self.layout.is_injective() == Some(true) })
        })
    }

    /// The layout of what a notation says.
    pub fn of(source: Said) -> tilework::Result<PyLayout> {
        let layout = source.layout()?;
        let element = source.element().ok_or_else(|| Error::new("elements without a type"))?;
        Ok(PyLayout::new(source, Vec::new(), element, layout))
    }

    /// The text, and the views taken since.
    pub fn spelled(&self) -> String {
        let views: String = self.views.iter().map(View::to_string).collect();
        let names = self.names.as_ref().map(|names| format!(".with_names('{names}')")).unwrap_or_default();
        format!("tilework.Layout('{}'){views}{names}", self.source)
    }
}

#[pymethods]
impl PyLayout {
    #[new]
    #[pyo3(signature = (spec, /, dims=None, dtype=None, *, shape=None, notation=None, names=None))]
    fn __new__(
        spec: &Bound<'_, PyAny>,
        dims: Option<&Bound<'_, PyAny>>,
        dtype: Option<&Bound<'_, PyAny>>,
        shape: Option<&Bound<'_, PyAny>>,
        notation: Option<&str>,
        names: Option<&Bound<'_, PyAny>>,
    ) -> Result<PyLayout> {
        if dims.is_some() && shape.is_some() {
            return Err(PyTypeError::new_err(
                "shape and dims are two names of one argument; accepted: one of them",
            )
            .into());
        }
        // As numpy.zeros((3, 5), 'float32') has them.
        if let Some(second) = dims.filter(|second| element::is_type(second)) {
            let type_ = second.repr()?;
            let message = format!(
                "dims: {type_} is a type, and dims are sizes such as (3, 5); accepted: dtype={type_}"
            );
            return Err(PyTypeError::new_err(message).into());
        }
        let dims = dims.or(shape).map(|dims| plain::counts(dims, "dims")).transpose()?;
        let notation = notation.map(Dialect::named).transpose()?;
        let names = names.map(read::names).transpose()?;
        let layout = read::read(spec, dims.as_deref(), dtype, notation)?;
        match names {
            Some(names) => Ok(layout.named(Some(names))?),
            None => Ok(layout),
        }
    }

    /// The names of the dimensions, where somebody gave them.
    ///
    /// >>> tw.Layout("f16[99,8,64]", names="tokens,heads,d").names
    /// ('tokens', 'heads', 'd')
    #[getter]
    fn names<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        self.names.as_ref().map(|names| PyTuple::new(py, names.names())).transpose()
    }

    /// The same layout with names for its dimensions; None takes them away.
    ///
    /// >>> tw.Layout("f16[99,8,64]").with_names("NHD")
    /// tilework.Layout('f16[99,8,64]{2,1,0}').with_names('N,H,D')
    fn with_names(&self, names: Option<&Bound<'_, PyAny>>) -> Result<PyLayout> {
        Ok(self.again().named(names.map(read::names).transpose()?)?)
    }

    /// The dimensions in the order of these names, or of the names of another layout.
    ///
    /// >>> tokens_first = tw.Layout("f16[99,8,64]", names="NHD")
    /// >>> heads_first = tw.Layout("f16[8,99,64]", names="HND")
    /// >>> tokens_first.same(heads_first.by_name(tokens_first)).reason
    /// 'element (1, 0, 0) is at 512 and 64'
    fn by_name(&self, names: &Bound<'_, PyAny>) -> Result<PyLayout> {
        let order = match names.cast::<PyLayout>() {
            Ok(other) => {
                other.get().names.clone().ok_or_else(|| Error::new("the other layout has no names"))?
            }
            Err(_) => read::names(names)?,
        };
        let own = self.names.as_ref().ok_or_else(|| {
            Error::new("this layout has no names")
                .accepts("a layout made with names=, or with_names(...) of it")
        })?;
        self.permuted(&order.places_in(own)?)
    }

    /// The layout with one stride for each dimension, in elements: 0 broadcasts, a negative one counts backward.
    ///
    /// `base` is the offset of the first element, and `size` the number of places; without them, the smallest that do.
    ///
    /// >>> tw.Layout.strided((2, 3), (4, 1), "float32")
    /// tilework.Layout('f32[2,3]{strides(4,1)}')
    /// >>> tw.Layout.strided((2, 3), (4, 1), "float32", size=16).nbytes
    /// 64
    #[classmethod]
    #[pyo3(signature = (dims, strides, dtype, *, base=None, size=None))]
    fn strided(
        _class: &Bound<'_, PyType>,
        dims: &Bound<'_, PyAny>,
        strides: &Bound<'_, PyAny>,
        dtype: &Bound<'_, PyAny>,
        base: Option<&Bound<'_, PyAny>>,
        size: Option<&Bound<'_, PyAny>>,
    ) -> Result<PyLayout> {
        let element = element::of_any(dtype)?;
        let dims = plain::counts(dims, "dims")?;
        let strides = plain::wholes(strides, "strides")?;
        let base = base.map(|base| plain::count(base, "base")).transpose()?;
        let size = size.map(|size| plain::count(size, "size")).transpose()?;
        Ok(read::strided(element, &dims, &strides, base, size)?)
    }

    /// The canonical text; None for a view that no text says.
    ///
    /// >>> tw.Layout("F32[3,5]{1,0:(2,2)}").text
    /// 'f32[3,5]{1,0:T(2,2)}'
    #[getter]
    fn text(&self) -> Option<String> {
        self.views.is_empty().then(|| self.source.to_string())
    }

    /// The sizes of the dimensions.
    ///
    /// >>> tw.Layout("f32[3,5]{1,0:T(2,2)}").dims
    /// (3, 5)
    #[getter]
    fn dims<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.layout.dims())
    }

    /// The number of dimensions.
    ///
    /// >>> tw.Layout("f32[3,5]").rank
    /// 2
    #[getter]
    fn rank(&self) -> usize {
        self.layout.rank()
    }

    /// XLA's name of the type of the elements.
    ///
    /// >>> tw.Layout("bf16[3,5]").element
    /// 'bf16'
    #[getter]
    fn element(&self) -> &'static str {
        self.element.name()
    }

    /// NumPy's dtype of the elements, which may be one of `ml_dtypes`.
    ///
    /// >>> tw.Layout("f32[3,5]").dtype, tw.Layout("bf16[3,5]").dtype
    /// (dtype('float32'), dtype(bfloat16))
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>> {
        element::dtype(py, self.element)
    }

    /// The bits that an element takes in memory.
    ///
    /// >>> tw.Layout("s4[3,5]").bits, tw.Layout("s4[3,5]{1,0:E(4)}").bits
    /// (8, 4)
    #[getter]
    fn bits(&self) -> u32 {
        self.layout.bits()
    }

    /// The number of elements.
    ///
    /// >>> tw.Layout("f32[3,5]{1,0:T(2,2)}").elements
    /// 15
    #[getter]
    fn elements(&self) -> u64 {
        self.layout.len()
    }

    /// The number of places that are allocated, for elements and padding.
    ///
    /// >>> tw.Layout("f32[3,5]{1,0:T(2,2)}").allocated
    /// 24
    #[getter]
    fn allocated(&self) -> u64 {
        self.layout.size()
    }

    /// The bytes that are allocated.
    ///
    /// >>> tw.Layout("f32[3,5]{1,0:T(2,2)}").nbytes
    /// 96
    #[getter]
    fn nbytes(&self) -> u64 {
        self.layout.bytes()
    }

    /// The places that hold no element; None where strides overlap so that it is not decided.
    ///
    /// >>> tw.Layout("f32[3,5]{1,0:T(2,2)}").padding
    /// 9
    #[getter]
    fn padding(&self) -> Option<u64> {
        self.layout.padding()
    }

    /// The bytes of the padding, rounded up; None where the padding is not decided.
    ///
    /// >>> tw.Layout("f32[3,5]{1,0:T(2,2)}").waste
    /// 36
    #[getter]
    fn waste(&self) -> Option<u128> {
        let bits = u128::from(self.layout.bits());
        self.layout.padding().map(|places| (u128::from(places) * bits).div_ceil(8))
    }

    /// The stride of each dimension in elements; None where strides cannot say the layout.
    ///
    /// >>> tw.Layout("f32[3,5]{0,1}").strides
    /// (1, 3)
    /// >>> tw.Layout("f32[3,5]{1,0:T(2,2)}").strides is None
    /// True
    #[getter]
    fn strides<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        self.layout.to_strides().ok().map(|strided| PyTuple::new(py, strided.strides)).transpose()
    }

    /// Whether there are as many places as elements and every element has its own; None where it is not decided.
    ///
    /// >>> tw.Layout("f32[4,6]{1,0:T(2,2)}").is_packed, tw.Layout("f32[3,5]{1,0:T(2,2)}").is_packed
    /// (True, False)
    #[getter]
    fn is_packed(&self) -> Option<bool> {
        self.layout.is_packed()
    }

    /// Whether a dimension larger than 1 has stride 0.
    ///
    /// >>> tw.Layout("f32[2,3]{strides(0,1)}").is_broadcast
    /// True
    #[getter]
    fn is_broadcast(&self) -> bool {
        self.layout.is_broadcast()
    }

    /// Whether every element has a place of its own; None where it is not decided.
    ///
    /// >>> tw.Layout("f32[2,3]{strides(1,1)}").is_injective
    /// False
    #[getter]
    fn is_injective(&self) -> Option<bool> {
        self.layout.is_injective()
    }

    /// The offset as a formula of the index.
    ///
    /// >>> tw.Layout("f32[3,5]{1,0:T(2,2)}").formula
    /// '12·⌊i/2⌋ + 2·(i mod 2) + 4·⌊j/2⌋ + (j mod 2)'
    #[getter]
    fn formula(&self) -> String {
        self.layout.formula()
    }

    /// The place of an element. A negative number counts from the end of its dimension.
    ///
    /// >>> layout = tw.Layout("f32[3,5]{1,0:T(2,2)}")
    /// >>> layout.offset(2, 3), layout.offset((2, -2))
    /// (17, 17)
    #[pyo3(signature = (*index))]
    fn offset(&self, index: &Bound<'_, PyTuple>) -> Result<u64> {
        let index = read::index(index, self.layout.dims())?;
        Ok(self.layout.offset(&index)?)
    }

    /// The index of the element at a place, or the `Padding` there.
    ///
    /// >>> layout = tw.Layout("f32[3,5]{1,0:T(2,2)}")
    /// >>> layout.locate(17)
    /// (2, 3)
    /// >>> layout.locate(9)
    /// <padding: tile 1, dimension 1>
    /// >>> isinstance(layout.locate(9), tw.Padding)
    /// True
    fn locate<'py>(&self, py: Python<'py>, offset: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
        let size = self.layout.size();
        let offset = plain::whole(offset, "offset")?;
        let offset = u64::try_from(offset).map_err(|_| {
            let error = Error::new(offset.to_string()).field("offset");
            error.accepts(if size == 0 {
                "nothing: it has no places".to_owned()
            } else {
                format!("0 to {}", size - 1)
            })
        })?;
        match self.layout.locate(offset)? {
            Place::Element(index) => Ok(PyTuple::new(py, index)?.into_any()),
            Place::Padding(padding) => Ok(Bound::new(py, PyPadding::new(&padding))?.into_any()),
        }
    }

    /// The offset of every element, as an array of the layout's dimensions.
    ///
    /// >>> tw.Layout("f32[3,5]{1,0:T(2,2)}").offsets()
    /// array([[ 0,  1,  4,  5,  8],
    ///        [ 2,  3,  6,  7, 10],
    ///        [12, 13, 16, 17, 20]])
    fn offsets<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>> {
        let count = self.layout.len();
        let mut offsets: Vec<i64> = Vec::new();
        let room = usize::try_from(count).ok().and_then(|count| offsets.try_reserve_exact(count).ok());
        if room.is_none() {
            let message = format!("no memory for the offsets of {count} elements, 8 bytes each");
            return Err(PyMemoryError::new_err(message).into());
        }
        py.detach(|| self.layout.for_each_in_index_order(|_, offset| offsets.push(offset as i64))); // below 2^63
        let flat = PyArray1::from_vec(py, offsets);
        let dims: Vec<usize> = self.layout.dims().iter().map(|&size| size as usize).collect();
        Ok(flat.reshape(dims)?.into_any())
    }

    fn __repr__(&self) -> String {
        self.spelled()
    }

    fn __str__(&self) -> String {
        match self.views.is_empty() {
            true => self.source.to_string(),
            false => self.spelled(),
        }
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.element, &self.layout).hash(&mut hasher);
        hasher.finish()
    }

    fn __richcmp__(&self, other: &Bound<'_, PyAny>, op: CompareOp) -> PyResult<Py<PyAny>> {
        let py = other.py();
        let Ok(other) = other.cast::<PyLayout>() else { return Ok(py.NotImplemented()) };
        let other = other.get();
        let equal = self.element == other.element && self.layout == other.layout;
        match op {
            CompareOp::Eq => Ok(equal.into_pyobject(py)?.to_owned().into_any().unbind()),
            CompareOp::Ne => Ok((!equal).into_pyobject(py)?.to_owned().into_any().unbind()),
            _ => Ok(py.NotImplemented()),
        }
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let views: Vec<(&str, Vec<u64>)> =
            self.views.iter().map(|view| (view.name, view.arguments.clone())).collect();
        let restore = py.import("tilework._pickle")?.getattr("layout")?;
        let names = self.names.as_ref().map(ToString::to_string);
        (restore, (self.source.to_string(), views, names)).into_pyobject(py)
    }

    fn __copy__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __deepcopy__<'py>(slf: Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        slf
    }
}
