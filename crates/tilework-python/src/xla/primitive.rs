//! `tilework.xla.PrimitiveType`: XLA's types of elements.

use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple, PyType};
use tilework::Error;
use tilework::xla::PrimitiveType;

use crate::element;
use crate::error::Result;

/// A type of elements, or the kind of a shape without elements, by XLA's name or by a dtype.
///
/// >>> from tilework import xla
/// >>> bf16 = xla.PrimitiveType("bf16")
/// >>> bf16.number, bf16.bit_width, bf16.byte_width
/// (16, 16, 2)
#[pyclass(frozen, name = "PrimitiveType", module = "tilework.xla", eq, hash)]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct PyPrimitiveType {
    element: PrimitiveType,
}

/// The type of an argument: one of ours, any name of XLA's or NumPy's, or a dtype.
pub fn given(said: &Bound<'_, PyAny>) -> Result<PrimitiveType> {
    if let Ok(known) = said.cast::<PyPrimitiveType>() {
        return Ok(known.get().element);
    }
    let Ok(name) = said.cast::<PyString>() else { return element::of_any(said) };
    let name = name.to_str()?;
    let found = element::of_name(name).or_else(|| PrimitiveType::from_name(name));
    let unknown = || {
        let names: Vec<&str> = PrimitiveType::all().map(PrimitiveType::name).collect();
        Error::new(format!("{name:?} as an element type")).field("element type").accepts(names.join(", "))
    };
    Ok(found.ok_or_else(unknown)?)
}

fn wrapped(element: PrimitiveType) -> PyPrimitiveType {
    PyPrimitiveType { element }
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
        self.element.name()
    }

    /// The number in XLA's `xla_data.proto`.
    #[getter]
    fn number(&self) -> i32 {
        self.element.number()
    }

    /// Bits of one element; None for tuples, tokens, opaque values and buffers.
    #[getter]
    fn bit_width(&self) -> Option<u32> {
        self.element.bit_width()
    }

    /// Bytes of one element, rounded up, which is what XLA stores unless a layout says `E(bits)`.
    #[getter]
    fn byte_width(&self) -> Option<u32> {
        self.element.byte_width()
    }

    /// Whether arrays have elements of this type.
    #[getter]
    fn is_array_type(&self) -> bool {
        self.element.is_array_type()
    }

    /// Whether it is an integer type; `pred` is none.
    #[getter]
    fn is_integral(&self) -> bool {
        self.element.is_integral()
    }

    /// Whether it is an integer type with a sign.
    #[getter]
    fn is_signed_integral(&self) -> bool {
        self.element.is_signed_integral()
    }

    /// Whether it is an integer type without a sign.
    #[getter]
    fn is_unsigned_integral(&self) -> bool {
        self.element.is_unsigned_integral()
    }

    /// Whether it is a floating-point type; a complex type is none.
    #[getter]
    fn is_floating_point(&self) -> bool {
        self.element.is_floating_point()
    }

    /// Whether it is a complex type.
    #[getter]
    fn is_complex(&self) -> bool {
        self.element.is_complex()
    }

    /// Whether it is narrower than a byte, and not `pred`.
    #[getter]
    fn is_sub_byte_non_pred(&self) -> bool {
        self.element.is_sub_byte_non_pred()
    }

    /// The type of the two components of a complex type.
    #[getter]
    fn complex_component(&self) -> Option<PyPrimitiveType> {
        self.element.complex_component().map(wrapped)
    }

    /// The complex type with components of this type.
    #[getter]
    fn complex_type(&self) -> Option<PyPrimitiveType> {
        self.element.complex_type().map(wrapped)
    }

    /// XLA's `OverflowExponent`: the exponent of the smallest power of two above every value of a floating-point type.
    #[getter]
    fn overflow_exponent(&self) -> Option<i32> {
        self.element.overflow_exponent()
    }

    /// XLA's `SignificandWidth`: digits of the significand of a floating-point type, the hidden one included.
    #[getter]
    fn significand_width(&self) -> Option<i32> {
        self.element.significand_width()
    }

    /// NumPy's dtype of the elements.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>> {
        element::dtype(py, self.element)
    }

    /// XLA's `HigherPrecisionType`: complex before real, then range, digits, bits, and signed before unsigned.
    ///
    /// >>> from tilework import xla
    /// >>> xla.PrimitiveType("f16").higher_precision("bf16")
    /// tilework.xla.PrimitiveType('bf16')
    fn higher_precision(&self, other: &Bound<'_, PyAny>) -> Result<PyPrimitiveType> {
        Ok(wrapped(self.element.higher_precision(given(other)?)?))
    }

    /// XLA's `ElementCanUpcast`: whether the other is the type of higher precision, or the same.
    fn can_upcast_to(&self, to: &Bound<'_, PyAny>) -> Result<bool> {
        Ok(self.element.can_upcast_to(given(to)?)?)
    }

    /// The bits of a value: `zero`, `one`, `lowest`, `highest`, a number, `inf`, `nan`, or bits in hexadecimal.
    ///
    /// >>> from tilework import xla
    /// >>> hex(xla.PrimitiveType("bf16").value_bits("lowest"))
    /// '0xff80'
    fn value_bits(&self, value: &str) -> Result<u128> {
        Ok(self.element.value_bits(value)?)
    }

    fn __str__(&self) -> &'static str {
        self.element.name()
    }

    fn __repr__(&self) -> String {
        format!("tilework.xla.PrimitiveType('{}')", self.element.name())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyType>, (&'static str,)) {
        (py.get_type::<PyPrimitiveType>(), (self.element.name(),))
    }
}
