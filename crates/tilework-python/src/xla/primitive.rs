//! `tilework.xla.PrimitiveType`: XLA's types of elements.

use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple, PyType};
use tilework::xla::PrimitiveType;
use tilework::{Element, Error, FloatFormat};

use crate::element;
use crate::error::Result;

/// A type of elements, or the kind of a shape without elements, by a name in any system or by a dtype.
///
/// >>> from tilework import xla
/// >>> bf16 = xla.PrimitiveType("bf16")
/// >>> bf16.number, bf16.bit_width, bf16.byte_width
/// (16, 16, 2)
#[pyclass(frozen, name = "PrimitiveType", module = "tilework.xla", eq, hash)]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct PyPrimitiveType {
    kind: PrimitiveType,
}

/// The type of an argument: one of ours, a name in any system, or a dtype.
pub fn given(said: &Bound<'_, PyAny>) -> Result<PrimitiveType> {
    if let Ok(known) = said.cast::<PyPrimitiveType>() {
        return Ok(known.get().kind);
    }
    let Ok(name) = said.cast::<PyString>() else { return Ok(element::of_any(said)?.into()) };
    let name = name.to_str()?;
    let found =
        PrimitiveType::from_name(name).or_else(|| Element::from_any_name(name).map(PrimitiveType::from));
    let unknown = || {
        let names: Vec<&str> = PrimitiveType::all().map(PrimitiveType::name).collect();
        Error::new(format!("{name:?} as an element type")).field("element type").accepts(names.join(", "))
    };
    Ok(found.ok_or_else(unknown)?)
}

/// The same, and it has elements.
pub fn given_element(said: &Bound<'_, PyAny>) -> Result<Element> {
    Ok(Element::try_from(given(said)?)?)
}

fn wrapped(kind: impl Into<PrimitiveType>) -> PyPrimitiveType {
    PyPrimitiveType { kind: kind.into() }
}

impl PyPrimitiveType {
    /// Whether the elements are of a class; what has no elements is of none.
    fn is(&self, test: fn(Element) -> bool) -> bool {
        self.kind.element().is_some_and(test)
    }

    fn float(&self) -> Option<FloatFormat> {
        self.kind.element()?.float_format()
    }
}

#[pymethods]
impl PyPrimitiveType {
    #[new]
    fn __new__(name: &Bound<'_, PyAny>) -> Result<PyPrimitiveType> {
        given(name).map(wrapped)
    }

    /// Every type, in the order of XLA's numbers.
    #[classmethod]
    fn all<'py>(class: &Bound<'py, PyType>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(class.py(), PrimitiveType::all().map(wrapped).collect::<Vec<_>>())
    }

    /// The type with a number of XLA's.
    #[classmethod]
    fn from_number(_class: &Bound<'_, PyType>, number: i64) -> Result<PyPrimitiveType> {
        let found = i32::try_from(number).ok().and_then(PrimitiveType::from_number);
        let unknown = || Error::new(number.to_string()).field("number").accepts("1 to 36");
        Ok(wrapped(found.ok_or_else(unknown)?))
    }

    /// The name as XLA prints it.
    #[getter]
    fn name(&self) -> &'static str {
        self.kind.name()
    }

    /// The number in XLA's `xla_data.proto`.
    #[getter]
    fn number(&self) -> i32 {
        self.kind.number()
    }

    /// Bits of one element; None for tuples, tokens, opaque values and buffers.
    #[getter]
    fn bit_width(&self) -> Option<u32> {
        self.kind.element().map(Element::bits)
    }

    /// Bytes of one element, rounded up, which is what XLA stores unless a layout says `E(bits)`.
    #[getter]
    fn byte_width(&self) -> Option<u32> {
        self.kind.element().map(Element::bytes)
    }

    /// Whether arrays have elements of this type.
    #[getter]
    fn is_array_type(&self) -> bool {
        self.kind.element().is_some()
    }

    /// Whether it is an integer type; `pred` is none.
    #[getter]
    fn is_integral(&self) -> bool {
        self.is(Element::is_integer)
    }

    /// Whether it is an integer type with a sign.
    #[getter]
    fn is_signed_integral(&self) -> bool {
        self.is(Element::is_signed_integer)
    }

    /// Whether it is an integer type without a sign.
    #[getter]
    fn is_unsigned_integral(&self) -> bool {
        self.is(Element::is_unsigned_integer)
    }

    /// Whether it is a floating-point type; a complex type is none.
    #[getter]
    fn is_floating_point(&self) -> bool {
        self.is(Element::is_float)
    }

    /// Whether it is a complex type.
    #[getter]
    fn is_complex(&self) -> bool {
        self.is(Element::is_complex)
    }

    /// Whether it is narrower than a byte, and not `pred`.
    #[getter]
    fn is_sub_byte_non_pred(&self) -> bool {
        self.is(Element::is_sub_byte_number)
    }

    /// The type of the two components of a complex type.
    #[getter]
    fn complex_component(&self) -> Option<PyPrimitiveType> {
        self.kind.element()?.complex_component().map(wrapped)
    }

    /// The complex type with components of this type.
    #[getter]
    fn complex_type(&self) -> Option<PyPrimitiveType> {
        self.kind.element()?.complex_type().map(wrapped)
    }

    /// XLA's `OverflowExponent`: the exponent of the smallest power of two above every value of a floating-point type.
    #[getter]
    fn overflow_exponent(&self) -> Option<i32> {
        Some(self.float()?.overflow_exponent())
    }

    /// XLA's `SignificandWidth`: digits of the significand of a floating-point type, the hidden one included.
    #[getter]
    fn significand_width(&self) -> Option<u32> {
        Some(self.float()?.significand_width())
    }

    /// NumPy's dtype of the elements.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>> {
        element::dtype(py, Element::try_from(self.kind)?)
    }

    /// XLA's `HigherPrecisionType`: complex before real, then range, digits, bits, and signed before unsigned.
    ///
    /// >>> from tilework import xla
    /// >>> xla.PrimitiveType("f16").higher_precision("bf16")
    /// tilework.xla.PrimitiveType('bf16')
    fn higher_precision(&self, other: &Bound<'_, PyAny>) -> Result<PyPrimitiveType> {
        Ok(wrapped(self.kind.higher_precision(given(other)?)?))
    }

    /// XLA's `ElementCanUpcast`: whether the other is the type of higher precision, or the same.
    fn can_upcast_to(&self, to: &Bound<'_, PyAny>) -> Result<bool> {
        Ok(self.kind.can_upcast_to(given(to)?)?)
    }

    /// The bits of a value: `zero`, `one`, `lowest`, `highest`, a number, `inf`, `nan`, or bits in hexadecimal.
    ///
    /// >>> from tilework import xla
    /// >>> hex(xla.PrimitiveType("bf16").value_bits("lowest"))
    /// '0xff80'
    fn value_bits(&self, value: &str) -> Result<u128> {
        Ok(Element::try_from(self.kind)?.value_bits(value)?)
    }

    fn __str__(&self) -> &'static str {
        self.kind.name()
    }

    fn __repr__(&self) -> String {
        format!("tilework.xla.PrimitiveType('{}')", self.kind.name())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyType>, (&'static str,)) {
        (py.get_type::<PyPrimitiveType>(), (self.kind.name(),))
    }
}
