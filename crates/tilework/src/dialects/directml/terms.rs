//! The sum behind the size of a tensor, term by term.

use std::fmt;

use super::desc::BufferTensorDesc;
use super::size;
use crate::few::Few;

/// How many bytes a binding needs, with every term of the sum. `Display` writes it out.
///
/// ```
/// use tilework::directml::BufferTensorDesc;
/// let desc = BufferTensorDesc::parse("FLOAT32 [1,3,224,224] strides [153228,51076,226,1]")?;
/// let lines = desc.size_terms(4 * 50177).to_string();
/// assert_eq!(lines.lines().collect::<Vec<_>>(), [
///     "last element: 0·153228 + 2·51076 + 223·226 + 223·1 = 152773",
///     "bytes: (152773 + 1) elements · 4 bytes = 611096",
///     "offset 200708 + total 611096 = 811804",
/// ]);
/// # Ok::<(), tilework::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SizeTerms {
    /// For each dimension, its last index and its stride: their product is how far the dimension reaches.
    pub terms: Few<(u32, u64), 8>,
    /// The offset of the last element, in elements.
    pub last: u64,
    /// Bits of an element.
    pub bits: u32,
    /// Bytes up to the last element, not rounded.
    pub bytes: u128,
    /// The least total, rounded up to 4 bytes.
    pub minimum: u64,
    /// The declared total, if there is one.
    pub declared: Option<u64>,
    /// The offset of the binding, in bytes.
    pub offset: u64,
    /// Bytes that the buffer must have.
    pub needs: u128,
}

impl BufferTensorDesc {
    /// The sum that says how many bytes the tensor needs when it is bound at `offset`, in bytes.
    pub fn size_terms(&self, offset: u64) -> SizeTerms {
        let strides = self.effective_strides();
        let last = self.minimum_elements() - 1;
        let bits = self.data_type().bits();
        SizeTerms {
            terms: self.sizes().iter().zip(strides).map(|(&size, stride)| (size - 1, stride)).collect(),
            last,
            bits,
            bytes: size::bytes(u128::from(last) + 1, bits).unwrap_or(u128::MAX),
            minimum: self.minimum_bytes(),
            declared: self.declared_total(),
            offset,
            needs: u128::from(offset) + u128::from(self.total_bytes()),
        }
    }
}

impl fmt::Display for SizeTerms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("last element:")?;
        for (place, (index, stride)) in self.terms.iter().enumerate() {
            write!(f, "{} {index}·{stride}", if place == 0 { "" } else { " +" })?;
        }
        write!(f, " = {}\nbytes: ({} + 1) elements · ", self.last, self.last)?;
        match self.bits {
            4 => f.write_str("4 bits")?,
            8 => f.write_str("1 byte")?,
            bits => write!(f, "{} bytes", bits / 8)?,
        }
        write!(f, " = {}", self.bytes)?;
        if u128::from(self.minimum) != self.bytes {
            write!(f, ", rounded up to 4 bytes {}", self.minimum)?;
        }
        if let Some(declared) = self.declared {
            write!(f, "\ndeclared: {declared}")?;
        }
        let total = self.declared.unwrap_or(self.minimum);
        write!(f, "\noffset {} + total {total} = {}", self.offset, self.needs)
    }
}
