//! Shapes as the bytes of XLA's messages, today's and the older ones.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};
use tilework::Error;
use tilework::xla::{OldProto, Shape};

use super::shape::PyShape;
use crate::error::Result;

#[pymethods]
impl PyShape {
    /// The bytes of XLA's `ShapeProto`, exactly as XLA writes them.
    ///
    /// >>> from tilework import xla
    /// >>> xla.Shape("f32[]").to_proto().hex()
    /// '100b2a03800101'
    fn to_proto<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.shape.to_proto()?))
    }

    /// The shape in the bytes of XLA's `ShapeProto`.
    #[classmethod]
    fn from_proto(_class: &Bound<'_, PyType>, data: &[u8]) -> Result<PyShape> {
        Ok(PyShape { shape: Shape::from_proto(data)? })
    }

    /// The bytes of the `Shape` message of TensorFlow 1.x as of 2017 or 2018, which has padding and no tiles.
    ///
    /// >>> from tilework import xla
    /// >>> xla.Shape("f32[2,3]{0,1:pad(3,5)=zero}").to_old_proto(2017).hex()
    /// '100b1a0202032a0a0a020001120203051801'
    fn to_old_proto<'py>(&self, py: Python<'py>, version: i64) -> Result<Bound<'py, PyBytes>> {
        let version = match version {
            2017 => OldProto::V2017,
            2018 => OldProto::V2018,
            _ => {
                return Err(Error::new(version.to_string())
                    .field("version")
                    .accepts("2017 or 2018; to_proto writes today's")
                    .into());
            }
        };
        Ok(PyBytes::new(py, &self.shape.to_old_proto(version)?))
    }

    /// The shape in the bytes of the `Shape` message of TensorFlow 1.x.
    #[classmethod]
    fn from_old_proto(_class: &Bound<'_, PyType>, data: &[u8]) -> Result<PyShape> {
        Ok(PyShape { shape: Shape::from_old_proto(data)? })
    }
}
