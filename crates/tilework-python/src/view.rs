//! Views of a layout: other indices to the same places.

use std::fmt;

use pyo3::prelude::*;
use pyo3::types::{PyEllipsis, PySlice, PySliceMethods, PyTuple};
use tilework::dialect::Axes;
use tilework::{Error, Layout};

use crate::error::Result;
use crate::layout::PyLayout;
use crate::plain;
use crate::read;

/// A call that made a view, as it is written.
#[derive(Clone)]
pub struct View {
    pub name: &'static str,
    pub arguments: Vec<u64>,
}

impl fmt::Display for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let arguments: Vec<String> = self.arguments.iter().map(u64::to_string).collect();
        write!(f, ".{}({})", self.name, arguments.join(", "))
    }
}

impl PyLayout {
    /// The view that a call made, with a text of its own if there is one that says it.
    fn view(&self, name: &'static str, arguments: &[u64], layout: Layout) -> PyLayout {
        let mut view = match read::saying(&layout, self.element) {
            Some(source) => PyLayout::new(source, Vec::new(), self.element, layout),
            None => {
                let mut views = self.views.clone();
                views.push(View { name, arguments: arguments.to_vec() });
                PyLayout::new(self.source.clone(), views, self.element, layout)
            }
        };
        view.names = self.names_of_view(name, arguments);
        view
    }

    /// The names of a view's dimensions, where each is one of this layout's.
    fn names_of_view(&self, name: &str, arguments: &[u64]) -> Option<Axes> {
        let names = self.names.as_ref()?;
        match name {
            "slice" | "flip" => Some(names.clone()),
            "permute" => {
                let names = arguments.iter().map(|&dim| names.names().get(dim as usize).cloned());
                Axes::new(names.collect::<Option<_>>()?).ok()
            }
            _ => None,
        }
    }

    fn sliced(&self, dim: usize, start: u64, stop: u64, step: u64) -> Result<PyLayout> {
        let layout = self.layout.slice(dim, start..stop, step)?;
        Ok(self.view("slice", &[dim as u64, start, stop, step], layout))
    }

    /// The dimensions in another order.
    pub fn permuted(&self, order: &[usize]) -> Result<PyLayout> {
        let arguments: Vec<u64> = order.iter().map(|&dim| dim as u64).collect();
        Ok(self.view("permute", &arguments, self.layout.permute(order)?))
    }

    fn flipped(&self, dim: usize) -> Result<PyLayout> {
        Ok(self.view("flip", &[dim as u64], self.layout.flip(dim)?))
    }
}

#[pymethods]
impl PyLayout {
    /// The dimensions in another order: dimension k of the view is dimension order[k] of this layout.
    ///
    /// >>> view = tw.Layout("f32[3,5]{1,0:T(2,2)}").permute(1, 0)
    /// >>> view
    /// tilework.Layout('f32[5,3]{0,1:T(2,2)}')
    /// >>> view.offset(3, 2)
    /// 17
    #[pyo3(signature = (*order))]
    fn permute(&self, order: &Bound<'_, PyTuple>) -> Result<PyLayout> {
        self.permuted(&read::dimensions(order, self.layout.rank())?)
    }

    /// Every step-th element of a dimension, from start up to, not including, stop.
    ///
    /// >>> tw.Layout("f32[4,6]").slice(1, 1, 5, 2)
    /// tilework.Layout('f32[4,2]{strides(6,2),base(1),size(24)}')
    #[pyo3(signature = (dim, start, stop, step=None), text_signature = "($self, dim, start, stop, step=1)")]
    fn slice(
        &self,
        dim: &Bound<'_, PyAny>,
        start: &Bound<'_, PyAny>,
        stop: &Bound<'_, PyAny>,
        step: Option<&Bound<'_, PyAny>>,
    ) -> Result<PyLayout> {
        let dim = read::dimension(plain::whole(dim, "dim")?, self.layout.rank())?;
        let (start, stop) = (plain::count(start, "start")?, plain::count(stop, "stop")?);
        let step = step.map_or(Ok(1), |step| plain::count(step, "step"))?;
        self.sliced(dim, start, stop, step)
    }

    /// A dimension counted from its other end.
    ///
    /// >>> tw.Layout("f32[4,6]").flip(0)
    /// tilework.Layout('f32[4,6]{strides(-6,1)}')
    fn flip(&self, dim: &Bound<'_, PyAny>) -> Result<PyLayout> {
        let dim = read::dimension(plain::whole(dim, "dim")?, self.layout.rank())?;
        self.flipped(dim)
    }

    /// The array repeated to larger dimensions, by NumPy's rules.
    ///
    /// >>> tw.Layout("f32[4,6]").broadcast(2, 4, 6)
    /// tilework.Layout('f32[2,4,6]{strides(0,6,1)}')
    #[pyo3(signature = (*dims))]
    fn broadcast(&self, dims: &Bound<'_, PyTuple>) -> Result<PyLayout> {
        let dims = read::numbers(dims, "dims")?;
        Ok(self.view("broadcast", &dims, self.layout.broadcast(&dims)?))
    }

    /// The same elements in row-major order of the index under other dimensions. One of them may be -1.
    ///
    /// A layout that has tiles or gaps stays what it is: the formula becomes longer, and nothing has to be copied.
    ///
    /// >>> tw.Layout("f32[4,6]").reshape(2, 2, -1)
    /// tilework.Layout('f32[2,2,6]{2,1,0}')
    /// >>> tw.Layout("f32[3,5]{1,0:T(2,2)}").reshape(15).offsets()
    /// array([ 0,  1,  4,  5,  8,  2,  3,  6,  7, 10, 12, 13, 16, 17, 20])
    #[pyo3(signature = (*dims))]
    fn reshape(&self, dims: &Bound<'_, PyTuple>) -> Result<PyLayout> {
        let dims = read::sizes(dims, self.layout.len())?;
        Ok(self.view("reshape", &dims, self.layout.reshape(&dims)?))
    }

    /// A dimension as two, the second being of the given size.
    ///
    /// >>> tw.Layout("f32[4,6]").split_dim(1, 3)
    /// tilework.Layout('f32[4,2,3]{2,1,0}')
    fn split_dim(&self, dim: &Bound<'_, PyAny>, inner: &Bound<'_, PyAny>) -> Result<PyLayout> {
        let dim = read::dimension(plain::whole(dim, "dim")?, self.layout.rank())?;
        let inner = plain::count(inner, "inner")?;
        Ok(self.view("split_dim", &[dim as u64, inner], self.layout.split_dim(dim, inner)?))
    }

    /// A dimension and the next as one.
    ///
    /// >>> tw.Layout("f32[4,6]").merge_dims(0)
    /// tilework.Layout('f32[24]{0}')
    fn merge_dims(&self, dim: &Bound<'_, PyAny>) -> Result<PyLayout> {
        let dim = read::dimension(plain::whole(dim, "dim")?, self.layout.rank())?;
        Ok(self.view("merge_dims", &[dim as u64], self.layout.merge_dims(dim)?))
    }

    /// Slices and indices, as NumPy takes them.
    fn __getitem__(slf: Bound<'_, Self>, key: &Bound<'_, PyAny>) -> Result<Py<PyLayout>> {
        let py = slf.py();
        let keys = match key.cast::<PyTuple>() {
            Ok(keys) => keys.clone(),
            Err(_) => PyTuple::new(py, [key])?,
        };
        let rank = slf.get().layout.rank();
        let named = keys.iter().filter(|key| !key.is_instance_of::<PyEllipsis>()).count();
        if named > rank || keys.len() > named + 1 {
            let error = Error::new(format!("{named} indices for {rank} dimensions"))
                .field("index")
                .accepts(format!("up to {rank}, and one ... at most"));
            return Err(error.into());
        }
        let mut view = slf.unbind();
        let (mut dim, mut single) = (0, Vec::new());
        for key in keys.iter() {
            if key.is_instance_of::<PyEllipsis>() {
                dim += rank - named;
                continue;
            }
            let size = view.get().layout.dims()[dim];
            view = match key.cast::<PySlice>() {
                Ok(slice) => sliced(py, view, dim, slice, size)?,
                Err(_) => {
                    let at = read::within(&key, size, dim)?;
                    single.push(dim);
                    Py::new(py, view.get().sliced(dim, at, at + 1, 1)?)?
                }
            };
            dim += 1;
        }
        if single.is_empty() {
            return Ok(view);
        }
        let dims = view.get().layout.dims().iter().enumerate();
        let kept: Vec<u64> = dims.filter(|(dim, _)| !single.contains(dim)).map(|(_, &size)| size).collect();
        let layout = view.get().layout.reshape(&kept)?;
        Ok(Py::new(py, view.get().view("reshape", &kept, layout))?)
    }
}

/// One slice of one dimension; a negative step counts from the other end.
fn sliced(
    py: Python<'_>,
    view: Py<PyLayout>,
    dim: usize,
    slice: &Bound<'_, PySlice>,
    size: u64,
) -> Result<Py<PyLayout>> {
    let found = slice.indices(size as isize)?; // sizes are below 2^63
    let (start, count, step) =
        (found.start as u64, found.slicelength as u64, found.step.unsigned_abs() as u64);
    if (start, count, found.step) == (0, size, 1) {
        return Ok(view);
    }
    let this = view.get();
    let (first, stop) = match (count, found.step > 0) {
        (0, _) => (0, 0),
        (_, true) => (start, start + (count - 1) * step + 1),
        (_, false) => (start - (count - 1) * step, start + 1),
    };
    let cut = match (count, step) == (size, 1) {
        true => view,
        false => Py::new(py, this.sliced(dim, first, stop, step)?)?,
    };
    match found.step < 0 {
        true => Ok(Py::new(py, cut.get().flipped(dim)?)?),
        false => Ok(cut),
    }
}
