//! The everyday calls for tensors of PyTorch.
//!
//! A tensor that is on the CPU, strided and wants no gradients is read where it lies: DLPack's capsule would cost more than a
//! small move. Every other tensor is PyTorch's to move.

use std::sync::Arc;

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString, PyTuple};
use tilework::{Element, Kept, System};

use super::arrays::{self, Kind};
use super::{Each, Order, Workers, order};
use crate::array::Memory;
use crate::error::Result;
use crate::kept::ROOM;
use crate::prepared::Prepared;

/// What is asked of PyTorch, looked up once.
struct Torch {
    tensor: Py<PyAny>,
    dtype: Py<PyAny>,
    strided: Py<PyAny>,
    contiguous_format: Py<PyAny>,
    channels_last: Py<PyAny>,
    channels_last_3d: Py<PyAny>,
    empty_like: Py<PyAny>,
}

/// PyTorch, if somebody has imported it.
fn torch(py: Python<'_>) -> Option<&Torch> {
    static TORCH: PyOnceLock<Torch> = PyOnceLock::new();
    if let Some(torch) = TORCH.get(py) {
        return Some(torch);
    }
    let modules = py.import("sys").ok()?.getattr("modules").ok()?;
    let module = modules.cast::<PyDict>().ok()?.get_item("torch").ok()??;
    let name = |name: &str| module.getattr(name).map(Bound::unbind);
    let made = Torch {
        tensor: name("Tensor").ok()?,
        dtype: name("dtype").ok()?,
        strided: name("strided").ok()?,
        contiguous_format: name("contiguous_format").ok()?,
        channels_last: name("channels_last").ok()?,
        channels_last_3d: name("channels_last_3d").ok()?,
        empty_like: name("empty_like").ok()?,
    };
    Some(TORCH.get_or_init(py, || made))
}

/// Whether this is a tensor, of a subclass too.
pub fn of(said: &Bound<'_, PyAny>) -> bool {
    if said.cast::<numpy::PyUntypedArray>().is_ok() {
        return false;
    }
    let py = said.py();
    torch(py).is_some_and(|torch| said.is_instance(torch.tensor.bind(py)).unwrap_or(false))
}

/// A tensor at the moment when its memory is used.
struct Look {
    first: *mut u8,
    shape: Each<usize>,
    /// In bytes.
    strides: Each<isize>,
    itemsize: usize,
}

impl Look {
    /// None of a tensor that is PyTorch's to move.
    fn at(tensor: &Bound<'_, PyAny>) -> Option<Look> {
        let py = tensor.py();
        let torch = torch(py)?;
        if !tensor.get_type().is(torch.tensor.bind(py)) {
            return None;
        }
        let says = |name| tensor.getattr(name).and_then(|said| said.is_truthy()).ok();
        let asked = |name| tensor.call_method0(name).and_then(|said| said.is_truthy()).ok();
        let is_ours = says(intern!(py, "is_cpu"))?
            && !says(intern!(py, "requires_grad"))?
            && !says(intern!(py, "is_quantized"))?
            && !says(intern!(py, "is_nested"))?
            && !asked(intern!(py, "is_conj"))?
            && !asked(intern!(py, "is_neg"))?
            && tensor.getattr(intern!(py, "layout")).ok()?.is(torch.strided.bind(py));
        if !is_ours {
            return None;
        }
        let itemsize: usize = tensor.call_method0(intern!(py, "element_size")).ok()?.extract().ok()?;
        let shape = numbers(tensor.getattr(intern!(py, "shape")).ok()?)?;
        let strides: Each<i64> = numbers(tensor.call_method0(intern!(py, "stride")).ok()?)?;
        let strides = strides
            .iter()
            .map(|&stride| (stride as isize).checked_mul(itemsize as isize))
            .collect::<Option<_>>()?;
        // Tensors without memory of their own, as those of vmap, have no address.
        let first: usize = tensor.call_method0(intern!(py, "data_ptr")).ok()?.extract().ok()?;
        Some(Look { first: first as *mut u8, shape, strides, itemsize })
    }

    fn memory(&self, shape: &[usize], strides: &[isize]) -> Memory {
        arrays::memory(self.first, shape, strides, self.itemsize)
    }
}

fn numbers<T: for<'a, 'py> FromPyObject<'a, 'py>>(said: Bound<'_, PyAny>) -> Option<Each<T>> {
    let said = said.cast::<PyTuple>().ok()?;
    said.iter().map(|number| number.extract().ok()).collect()
}

/// `t.contiguous()`
pub fn contiguous<'py>(
    tensor: &Bound<'py, PyAny>,
    out: Option<&Bound<'py, PyAny>>,
    threads: Workers,
) -> Result<Bound<'py, PyAny>> {
    let py = tensor.py();
    if out.is_none() && tensor.call_method0(intern!(py, "is_contiguous"))?.is_truthy()? {
        return Ok(tensor.clone());
    }
    let made = match (out, torch(py)) {
        (Some(out), _) => {
            require_tensor(out)?;
            out.clone()
        }
        (None, Some(torch)) if Look::at(tensor).is_some() => {
            like(torch, tensor, &torch.contiguous_format, None)?
        }
        _ => return Ok(tensor.call_method0(intern!(py, "contiguous"))?),
    };
    copyto(&made, tensor, threads)?;
    Ok(made)
}

/// `t.permute(axes).contiguous()`
pub fn transpose<'py>(
    tensor: &Bound<'py, PyAny>,
    axes: Option<&Bound<'py, PyAny>>,
    out: Option<&Bound<'py, PyAny>>,
    threads: Workers,
) -> Result<Bound<'py, PyAny>> {
    let py = tensor.py();
    let rank: usize = tensor.call_method0(intern!(py, "dim"))?.extract()?;
    let view = match order(axes, rank) {
        Some(order) => tensor.call_method1(intern!(py, "permute"), (order.to_vec(),))?,
        // PyTorch says what is wrong.
        None => tensor.call_method1(intern!(py, "permute"), (axes,))?,
    };
    let made = match (out, torch(py)) {
        (Some(out), _) => {
            require_tensor(out)?;
            out.clone()
        }
        (None, Some(torch)) if Look::at(&view).is_some() => {
            like(torch, &view, &torch.contiguous_format, None)?
        }
        _ => {
            let format = PyDict::new(py);
            if let Some(torch) = torch(py) {
                format.set_item("memory_format", &torch.contiguous_format)?;
            }
            return Ok(view.call_method(intern!(py, "clone"), (), Some(&format))?);
        }
    };
    copyto(&made, &view, threads)?;
    Ok(made)
}

/// `out.copy_(t)`, where PyTorch broadcasts.
pub fn copyto(out: &Bound<'_, PyAny>, from: &Bound<'_, PyAny>, threads: Workers) -> Result<()> {
    let py = out.py();
    let dtype = |tensor: &Bound<'_, PyAny>| tensor.getattr(intern!(py, "dtype")).map(Bound::unbind);
    let is_same = of(from) && dtype(out)?.is(&dtype(from)?);
    let kind = if is_same { Some(Kind::Bytes) } else { conversion(out, from) };
    if let (Some(kind), true) = (kind, of(from))
        && moved(out, from, kind, threads)?
    {
        return Ok(());
    }
    out.call_method1(intern!(py, "copy_"), (from,))?;
    Ok(())
}

/// `t.contiguous(memory_format=torch.channels_last)`
pub fn channels_last<'py>(tensor: &Bound<'py, PyAny>, threads: Workers) -> Result<Bound<'py, PyAny>> {
    let py = tensor.py();
    let Some(torch) = torch(py) else { return Ok(tensor.clone()) };
    let rank: usize = tensor.call_method0(intern!(py, "dim"))?.extract()?;
    let format = last(torch, rank);
    let options = PyDict::new(py);
    options.set_item(intern!(py, "memory_format"), format)?;
    let is_so = tensor.call_method(intern!(py, "is_contiguous"), (), Some(&options))?.is_truthy()?;
    if is_so || Look::at(tensor).is_none() {
        return Ok(tensor.call_method(intern!(py, "contiguous"), (), Some(&options))?);
    }
    let made = like(torch, tensor, format, None)?;
    copyto(&made, tensor, threads)?;
    Ok(made)
}

/// `t.to(dtype, copy=True)`
pub fn astype<'py>(
    tensor: &Bound<'py, PyAny>,
    dtype: &Bound<'py, PyAny>,
    order: Order,
    threads: Workers,
) -> Result<Bound<'py, PyAny>> {
    let py = tensor.py();
    let Some(torch) = torch(py) else { return Ok(tensor.clone()) };
    let dtype = &named_type(torch, dtype)?;
    let rank: usize = tensor.call_method0(intern!(py, "dim"))?.extract()?;
    let format = match order {
        Order::Rows => Some(&torch.contiguous_format),
        Order::ChannelsLast => Some(last(torch, rank)),
        Order::Kept => None,
        Order::Columns => {
            let rows = tensor.call_method1(intern!(py, "permute"), ((0..rank).rev().collect::<Vec<_>>(),))?;
            let made = astype(&rows, dtype, Order::Rows, threads)?;
            return Ok(made.call_method1(intern!(py, "permute"), ((0..rank).rev().collect::<Vec<_>>(),))?);
        }
    };
    if let (Some(format), true) = (format, Look::at(tensor).is_some()) {
        let made = like(torch, tensor, format, Some(dtype))?;
        copyto(&made, tensor, threads)?;
        return Ok(made);
    }
    let options = PyDict::new(py);
    options.set_item("dtype", dtype)?;
    options.set_item("copy", true)?;
    if let Some(format) = format {
        options.set_item("memory_format", format)?;
    }
    Ok(tensor.call_method(intern!(py, "to"), (), Some(&options))?)
}

/// A type of PyTorch by its name, or by NumPy's or another system's; what is none is PyTorch's to refuse.
fn named_type<'py>(torch: &Torch, dtype: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
    static TEXTS: Kept<String, Py<PyAny>> = Kept::new(ROOM);
    let py = dtype.py();
    if dtype.is_instance(torch.dtype.bind(py))? {
        return Ok(dtype.clone());
    }
    let text = dtype.cast_exact::<PyString>().ok().and_then(|text| text.to_str().ok());
    if let Some(known) = text.and_then(|text| TEXTS.find(text, |dtype| dtype.clone_ref(py))) {
        return Ok(known.into_bound(py));
    }
    let element = crate::element::of_any(dtype)?;
    let module = py.import("torch")?;
    let found = element.name_in(System::Torch).and_then(|name| module.getattr(name).ok());
    let Some(found) = found else { return Ok(dtype.clone()) };
    if let Some(text) = text {
        TEXTS.keep(text.to_owned(), found.clone().unbind());
    }
    Ok(found)
}

/// Refuses to write a tensor into an array of another library.
fn require_tensor(out: &Bound<'_, PyAny>) -> Result<()> {
    match of(out) {
        true => Ok(()),
        false => {
            let kind = out.get_type().name()?;
            let message = format!(
                "out is of type {kind}, and what goes into it is a tensor of PyTorch; accepted: a tensor, such as \
                 torch.from_numpy(out)"
            );
            Err(pyo3::exceptions::PyTypeError::new_err(message).into())
        }
    }
}

/// The format of channels last for tensors of this rank; PyTorch says what is wrong with others.
fn last(torch: &Torch, rank: usize) -> &Py<PyAny> {
    if rank == 5 { &torch.channels_last_3d } else { &torch.channels_last }
}

/// A new tensor of this shape.
fn like<'py>(
    torch: &Torch,
    tensor: &Bound<'py, PyAny>,
    format: &Py<PyAny>,
    dtype: Option<&Bound<'py, PyAny>>,
) -> Result<Bound<'py, PyAny>> {
    let py = tensor.py();
    let options = PyDict::new(py);
    options.set_item(intern!(py, "memory_format"), format)?;
    if let Some(dtype) = dtype {
        options.set_item(intern!(py, "dtype"), dtype)?;
    }
    Ok(torch.empty_like.bind(py).call((tensor,), Some(&options))?)
}

/// Numbers of one type into those of another.
fn conversion(out: &Bound<'_, PyAny>, from: &Bound<'_, PyAny>) -> Option<Kind> {
    arrays::numbers(element(from)?, element(out)?)
}

/// The type of the elements of a tensor. PyTorch has one object for each type, and takes long to say its name.
fn element(tensor: &Bound<'_, PyAny>) -> Option<Element> {
    /// By the address of the object, which is kept alive.
    static TYPES: Kept<usize, (Py<PyAny>, Option<Element>)> = Kept::new(ROOM);
    let dtype = tensor.getattr(intern!(tensor.py(), "dtype")).ok()?;
    let address = dtype.as_ptr().addr();
    if let Some(element) = TYPES.find(&address, |(_, element)| *element) {
        return element;
    }
    let element = Element::from_any_name(&dtype.str().ok()?.to_string_lossy());
    TYPES.keep(address, (dtype.unbind(), element));
    element
}

/// Moves the elements of a tensor to those of another of its shape; false where PyTorch has to.
fn moved(out: &Bound<'_, PyAny>, from: &Bound<'_, PyAny>, kind: Kind, threads: Workers) -> Result<bool> {
    let (Some(to), Some(from)) = (Look::at(out), Look::at(from)) else { return Ok(false) };
    let (source, destination) = (from.memory(&from.shape, &from.strides), to.memory(&to.shape, &to.strides));
    if to.shape != from.shape || source.overlaps(destination) {
        return Ok(false);
    }
    if from.shape.contains(&0) {
        return Ok(true);
    }
    let sizes = (from.itemsize, to.itemsize);
    let found: Option<Arc<Prepared>> =
        arrays::prepared(kind, &from.shape, (&from.strides, &to.strides), sizes)?;
    let Some(prepared) = found else { return Ok(false) };
    // SAFETY: both tensors are alive and strided on the CPU, lie as they just said, and do not overlap. Who resizes one
    // meanwhile in another thread gets what they get, as with PyTorch's own operations.
    unsafe { prepared.run_on_memory(out.py(), source, destination, threads)? };
    Ok(true)
}
