//! `tilework.xla.Layout`: how an array lies in memory, in XLA's words.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString, PyTuple, PyType};
use tilework::Error;
use tilework::xla::{Layout, Padding, PaddingValue, SplitConfig, Tile, TileDim};

use super::shape::{self, PyShape};
use crate::error::{Bad, Result};
use crate::plain;

/// How an array lies in memory in XLA's words: the order of its dimensions, tiles, and every other field.
///
/// Made from the text in the braces of a shape, or from the order of the dimensions, the most minor first. Keywords
/// set the other fields.
///
/// >>> from tilework import xla
/// >>> xla.Layout("{1,0:T(8,128)(2,1)}").tiles
/// ((8, 128), (2, 1))
/// >>> xla.Layout((1, 0), tiles=[(8, 128), (2, 1)], memory_space=1)
/// tilework.xla.Layout('{1,0:T(8,128)(2,1)S(1)}')
#[pyclass(frozen, name = "Layout", module = "tilework.xla", eq, hash)]
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct PyXlaLayout {
    pub layout: Layout,
}

/// A layout of an argument, which may be a text or an order of the dimensions.
pub fn given(said: &Bound<'_, PyAny>) -> Result<Layout> {
    if let Ok(layout) = said.cast::<PyXlaLayout>() {
        return Ok(layout.get().layout.clone());
    }
    let Ok(text) = said.cast::<PyString>() else {
        return Ok(Layout::new(plain::places(said, "minor_to_major")?)?);
    };
    let text = text.to_str()?;
    Layout::parse(text).map_err(|error| Bad::within(error, text))
}

/// A tile of an argument: a list of sizes, where None or '*' combines the dimension with the next.
pub fn tile(sizes: &Bound<'_, PyAny>) -> Result<Tile> {
    let is_star =
        |size: &Bound<'_, PyAny>| size.is_none() || size.extract::<&str>().is_ok_and(|word| word == "*");
    let entry = |size: Bound<'_, PyAny>| match is_star(&size) {
        true => Ok(TileDim::Combine),
        false => plain::count(&size, "tiles").map(TileDim::Size),
    };
    let dims = plain::items(sizes)?.into_iter().map(entry).collect::<Result<Vec<_>>>()?;
    Ok(Tile::from_dims(dims)?)
}

/// Padding of arguments: an allocated size for each dimension, and the word of what the padding holds.
fn padding(dims: &Bound<'_, PyAny>, value: Option<&str>) -> Result<Padding> {
    let value = match value {
        None => PaddingValue::default(),
        Some(name) => PaddingValue::from_name(name).ok_or_else(|| {
            plain::unknown(name, "padding_value", &["invalid", "zero", "one", "lowest", "highest", "unknown"])
        })?,
    };
    Ok(Padding { padded_dimensions: plain::counts(dims, "padded_dimensions")?, value })
}

/// Split configurations of an argument: pairs of a physical dimension and the indices where it is split.
fn splits(said: &Bound<'_, PyAny>) -> Result<Vec<SplitConfig>> {
    let config = |said: &Bound<'_, PyAny>| {
        let parts = plain::items(said)?;
        let [dimension, indices] = &parts[..] else {
            let error = Error::new(format!("a split configuration of {} parts", parts.len()))
                .field("split_configs")
                .accepts("a pair of a physical dimension and the indices where it is split");
            return Err(error.into());
        };
        Ok(SplitConfig {
            dimension: plain::count(dimension, "split_configs")?,
            split_indices: plain::counts(indices, "split_configs")?,
        })
    };
    plain::items(said)?.iter().map(config).collect()
}

#[pymethods]
impl PyXlaLayout {
    #[new]
    #[expect(clippy::too_many_arguments)] // they are keywords
    #[pyo3(signature = (spec, *, tiles=None, tail_padding_alignment_in_elements=None, element_size_in_bits=None,
        memory_space=None, split_configs=None, dynamic_shape_metadata_prefix_bytes=None, padded_dimensions=None,
        padding_value=None))]
    fn __new__(
        spec: &Bound<'_, PyAny>,
        tiles: Option<&Bound<'_, PyAny>>,
        tail_padding_alignment_in_elements: Option<&Bound<'_, PyAny>>,
        element_size_in_bits: Option<&Bound<'_, PyAny>>,
        memory_space: Option<&Bound<'_, PyAny>>,
        split_configs: Option<&Bound<'_, PyAny>>,
        dynamic_shape_metadata_prefix_bytes: Option<&Bound<'_, PyAny>>,
        padded_dimensions: Option<&Bound<'_, PyAny>>,
        padding_value: Option<&str>,
    ) -> Result<PyXlaLayout> {
        let mut layout = given(spec)?;
        if let Some(said) = tiles {
            let tiles: Vec<Tile> = plain::items(said)?.iter().map(tile).collect::<Result<_>>()?;
            layout = layout.with_tiles(tiles)?;
        }
        if let Some(said) = tail_padding_alignment_in_elements {
            let elements = plain::count(said, "tail_padding_alignment_in_elements")?;
            layout = layout.with_tail_padding_alignment_in_elements(elements)?;
        }
        if let Some(said) = element_size_in_bits {
            layout = layout.with_element_size_in_bits(plain::narrow(said, "element_size_in_bits")?);
        }
        if let Some(said) = memory_space {
            layout = layout.with_memory_space(plain::count(said, "memory_space")?)?;
        }
        if let Some(said) = split_configs {
            layout = layout.with_split_configs(splits(said)?)?;
        }
        if let Some(said) = dynamic_shape_metadata_prefix_bytes {
            let bytes = plain::count(said, "dynamic_shape_metadata_prefix_bytes")?;
            layout = layout.with_dynamic_shape_metadata_prefix_bytes(bytes)?;
        }
        match (padded_dimensions, padding_value) {
            (Some(said), value) => layout = layout.with_padding(Some(padding(said, value)?))?,
            (None, Some(value)) => {
                let error = Error::new(format!("padding value {value:?} without padded dimensions"))
                    .field("padding_value")
                    .accepts("padded_dimensions as well");
                return Err(error.into());
            }
            (None, None) => {}
        }
        Ok(PyXlaLayout { layout })
    }

    /// XLA's default layout of a rank, row-major.
    #[classmethod]
    fn descending(_class: &Bound<'_, PyType>, rank: &Bound<'_, PyAny>) -> Result<PyXlaLayout> {
        Ok(PyXlaLayout { layout: Layout::descending(some_rank(rank)?) })
    }

    /// The layout of a rank with dimension 0 as the most minor: column-major.
    #[classmethod]
    fn ascending(_class: &Bound<'_, PyType>, rank: &Bound<'_, PyAny>) -> Result<PyXlaLayout> {
        Ok(PyXlaLayout { layout: Layout::ascending(some_rank(rank)?) })
    }

    /// The layout in the bytes of XLA's `LayoutProto`.
    #[classmethod]
    fn from_proto(_class: &Bound<'_, PyType>, data: &[u8]) -> Result<PyXlaLayout> {
        Ok(PyXlaLayout { layout: Layout::from_proto(data)? })
    }

    /// The bytes of XLA's `LayoutProto`, exactly as XLA writes them.
    ///
    /// >>> from tilework import xla
    /// >>> xla.Layout("{1,0}").to_proto().hex()
    /// '0a020100800101'
    fn to_proto<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.layout.to_proto()?))
    }

    /// XLA's `Layout::Equal`: whether the two are equal in all fields but those to ignore, and `M`, which is never
    /// compared.
    ///
    /// >>> from tilework import xla
    /// >>> xla.Layout("{1,0:S(1)}").equal("{1,0}", ignore="memory_space")
    /// True
    #[pyo3(signature = (other, *, ignore=None))]
    fn equal(&self, other: &Bound<'_, PyAny>, ignore: Option<&Bound<'_, PyAny>>) -> Result<bool> {
        Ok(super::equal::of_layouts(ignore)?.equal(&self.layout, &given(other)?))
    }

    /// XLA's `ValidateLayoutForShape`: an error unless the layout fits the shape.
    fn validate_for_shape(&self, shape: &Bound<'_, PyAny>) -> Result<()> {
        Ok(self.layout.validate_for_shape(&shape::given(shape)?)?)
    }

    fn __str__(&self) -> String {
        self.layout.to_string()
    }

    fn __repr__(&self) -> String {
        format!("tilework.xla.Layout('{}')", self.layout)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyType>, (String,)) {
        (py.get_type::<PyXlaLayout>(), (self.layout.to_string(),))
    }
}

/// A rank, which is no more than anything could have.
fn some_rank(said: &Bound<'_, PyAny>) -> Result<usize> {
    let rank = plain::place(said, "rank")?;
    match rank <= 1 << 20 {
        true => Ok(rank),
        false => Err(Error::new(format!("rank {rank}")).field("rank").accepts("0 to 1048576").into()),
    }
}

/// Tiles as tuples of sizes, where None is a `*`.
pub fn tiles_of<'py>(py: Python<'py>, layout: &Layout) -> PyResult<Bound<'py, PyTuple>> {
    let size = |dim: &TileDim| match dim {
        TileDim::Size(size) => Some(*size),
        TileDim::Combine => None,
    };
    let tile = |tile: &Tile| PyTuple::new(py, tile.dims().iter().map(size).collect::<Vec<_>>());
    PyTuple::new(py, layout.tiles().iter().map(tile).collect::<PyResult<Vec<_>>>()?)
}

#[pymethods]
impl PyShape {
    /// How the array lies in memory in XLA's words; None if that is not said. `layout()` is the function that this means.
    #[getter]
    fn xla_layout(&self) -> Result<Option<PyXlaLayout>> {
        Ok(self.array()?.layout().map(|layout| PyXlaLayout { layout: layout.clone() }))
    }

    /// The dimensions in the order of memory, the most minor first; None without a layout or with free strides.
    #[getter]
    fn minor_to_major<'py>(&self, py: Python<'py>) -> Result<Option<Bound<'py, PyTuple>>> {
        let ordered = self.array()?.layout().filter(|layout| layout.strides().is_none());
        Ok(ordered.map(|layout| PyTuple::new(py, layout.minor_to_major())).transpose()?)
    }

    /// The tiles, applied from left to right, as tuples of sizes; None in one is a `*`.
    #[getter]
    fn tiles<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyTuple>> {
        match self.array()?.layout() {
            Some(layout) => Ok(tiles_of(py, layout)?),
            None => Ok(PyTuple::empty(py)),
        }
    }

    /// `S` of the layout of an array, and 0 of anything else.
    #[getter]
    fn memory_space(&self) -> u8 {
        self.shape.memory_space()
    }

    /// XLA's `ElementSizeInBits`: `E`, or the bytes of the type in bits, so that `pred` and `s4` take 8.
    #[getter]
    fn element_size_in_bits(&self) -> Result<u32> {
        Ok(self.array()?.element_size_in_bits())
    }

    /// XLA's older `IsPadded`: whether some of the padded dimensions is larger than its size.
    #[getter]
    fn has_padded_dimensions(&self) -> Result<bool> {
        Ok(self.array()?.has_padded_dimensions())
    }

    /// The bits of one element of padding, where `padding_value` says them.
    ///
    /// >>> from tilework import xla
    /// >>> hex(xla.Shape("s4[3]{0:pad(5)=lowest}").padding_bits())
    /// '0xf8'
    fn padding_bits(&self) -> Result<Option<u128>> {
        Ok(self.array()?.padding_bits())
    }

    /// The buffer place by place: the elements, given in row-major order of the index, and `padding` everywhere else.
    ///
    /// >>> from tilework import xla
    /// >>> "".join(xla.Shape("s8[2,3]{0,1:pad(3,5)}").image("abcdef", "."))
    /// 'ad.be.cf.......'
    fn image<'py>(
        &self,
        py: Python<'py>,
        elements: &Bound<'py, PyAny>,
        padding: &Bound<'py, PyAny>,
    ) -> Result<Bound<'py, PyList>> {
        let elements: Vec<Py<PyAny>> = plain::items(elements)?.into_iter().map(Bound::unbind).collect();
        // References to elements, since each stands in one place or none.
        let numbers: Vec<Option<usize>> = (0..elements.len()).map(Some).collect();
        let places = self.array()?.image(&numbers, None)?;
        let buffer = PyList::empty(py);
        for number in places {
            match number.and_then(|number| elements.get(number)) {
                Some(element) => buffer.append(element)?,
                None => buffer.append(padding)?,
            }
        }
        Ok(buffer)
    }
}
