//! What an array of NumPy would be asked, under NumPy's names.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::error::Result;
use crate::layout::PyLayout;
use crate::read;
use crate::xla::tiles_of;

#[pymethods]
impl PyLayout {
    /// The sizes of the dimensions.
    ///
    /// >>> tw.Layout("f32[3,5]{1,0:T(2,2)}").shape
    /// (3, 5)
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.layout.dims())
    }

    /// The number of dimensions.
    ///
    /// >>> tw.Layout("f32[3,5]").ndim
    /// 2
    #[getter]
    fn ndim(&self) -> usize {
        self.layout.rank()
    }

    /// The number of elements; `allocated` is the number of places for them.
    ///
    /// >>> tw.Layout("f32[3,5]{1,0:T(2,2)}").size
    /// 15
    #[getter]
    fn size(&self) -> u64 {
        self.layout.len()
    }

    /// The bytes of an element, at least 1.
    ///
    /// >>> tw.Layout("bf16[3,5]").itemsize
    /// 2
    #[getter]
    fn itemsize(&self) -> u32 {
        self.layout.bits().div_ceil(8)
    }

    /// The dimensions in reverse order.
    ///
    /// >>> tw.Layout("f32[3,5]{1,0:T(2,2)}").T
    /// tilework.Layout('f32[5,3]{0,1:T(2,2)}')
    #[getter]
    #[pyo3(name = "T")]
    fn transposed(&self) -> Result<PyLayout> {
        let order: Vec<usize> = (0..self.layout.rank()).rev().collect();
        self.permuted(&order)
    }

    /// The sizes of the tiles, the outermost first, with None where a dimension is combined with the next; None where tiles
    /// cannot say the layout.
    ///
    /// >>> tw.Layout("bf16[64,300]{1,0:T(8,128)(2,1)}").tiles
    /// ((8, 128), (2, 1))
    /// >>> tw.Layout("f32[2,3]{strides(4,1)}").tiles is None
    /// True
    #[getter]
    fn tiles<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let Ok(array) = read::array_saying(self) else { return Ok(None) };
        let Some(layout) = array.layout().filter(|layout| layout.strides().is_none()) else {
            return Ok(None);
        };
        tiles_of(py, layout).map(Some)
    }

    fn __iter__(&self) -> PyResult<()> {
        Err(PyTypeError::new_err(
            "a Layout is a function of an index and holds no elements; accepted: layout.offsets(), layout.shape, or a view \
             such as layout[0]",
        ))
    }

    fn __contains__(&self, _item: &Bound<'_, PyAny>) -> PyResult<bool> {
        Err(PyTypeError::new_err(
            "a Layout holds no elements that something could be one of; accepted: layout.locate(offset)",
        ))
    }
}
