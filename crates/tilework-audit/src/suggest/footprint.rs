//! What an array takes in some layout.

use tilework::Result;
use tilework::xla::ArrayShape;

/// An array in some layout, and what it allocates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Footprint {
    /// The array with the layout.
    pub shape: ArrayShape,
    /// What the layout allocates.
    pub bytes: u64,
    /// What the elements alone take.
    pub element_bytes: u128,
}

impl Footprint {
    /// Asks the core.
    ///
    /// # Errors
    /// See [`ArrayShape::lower`].
    pub fn new(shape: ArrayShape) -> Result<Footprint> {
        let layout = shape.lower()?;
        Ok(Footprint { bytes: layout.bytes(), element_bytes: layout.element_bytes(), shape })
    }

    /// By how many bytes this is smaller than the other; below 0 if it is larger.
    pub fn saves(&self, other: &Footprint) -> i64 {
        // Both are below 2^63.
        other.bytes as i64 - self.bytes as i64
    }
}
