//! Dimensions as mixed-radix numbers: what notations that split dimensions say of a layout.
//!
//! A tile cuts a dimension into digits, each with a stride of its own. Notations differ in how they write the digits
//! (blocks, nested modes, factors of a reshape) and agree in having them; this is where they are found.

use crate::algebra::canon::divide_each_other;
use crate::error::{Error, ErrorKind, Result};
use crate::layout::Layout;

/// A digit of a dimension's index: `stride` places for each of its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Digit {
    /// Number of values that the indices give it. The last digit of a dimension need not be full: what it would take to
    /// fill it is padding.
    pub extent: u64,
    /// In elements.
    pub stride: i64,
}

/// The dimensions of a layout as mixed-radix numbers; see [`Layout::to_digits`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Digits {
    /// The offset of the first element, (0, …, 0); 0 if there are no elements.
    pub first: u64,
    /// The digits of each dimension, the least significant first. There are as few as possible; a dimension of one
    /// element has one digit, of extent 1 and stride 0.
    pub of_dims: Vec<Vec<Digit>>,
}

impl Layout {
    /// The offset as a sum over digits of the dimensions, if it is one: `offset = first + Σ stride · digit`.
    ///
    /// ```
    /// use tilework::{Digit, Layout};
    /// // f32[3,5] in tiles of 2 × 2: rows come in pairs, and so do columns.
    /// let layout = Layout::builder(&[3, 5], 32)?.tile(&[Some(2), Some(2)])?.build()?;
    /// let digits = layout.to_digits()?;
    /// assert_eq!(digits.of_dims[0], [Digit { extent: 2, stride: 2 }, Digit { extent: 2, stride: 12 }]);
    /// assert_eq!(digits.of_dims[1], [Digit { extent: 2, stride: 1 }, Digit { extent: 3, stride: 4 }]);
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Why there are no such digits: dimensions are combined, or cut at places that do not divide each other, or the places
    /// are exchanged by a swizzle.
    pub fn to_digits(&self) -> Result<Digits> {
        self.require_no_swizzle()?;
        self.digits_before_swizzle()
    }

    /// The same for the places before they are exchanged.
    #[doc(hidden)]
    pub fn digits_before_swizzle(&self) -> Result<Digits> {
        if let Ok(strided) = self.strides_before_swizzle() {
            let whole = |(&extent, &stride): (&u64, &i64)| {
                vec![Digit { extent, stride: stride * i64::from(extent > 1) }]
            };
            let of_dims = self.dims().iter().zip(&strided.strides).map(whole).collect();
            return Ok(Digits { first: strided.first, of_dims });
        }
        let canon = self.canon();
        if !canon.is_plain() {
            return Err(no_digits(format!(
                "the function has quotients of several dimensions or of shifted ones: {canon}"
            )));
        }
        let of_dim = |dim: usize| {
            let cuts = canon.cuts(dim);
            if !divide_each_other(&cuts) {
                let cuts: Vec<String> = cuts.iter().skip(1).map(|cut| cut.0.to_string()).collect();
                let cuts = cuts.join(", ");
                return Err(no_digits(format!(
                    "dimension {dim} is cut at multiples of {cuts}, which do not divide each other"
                )));
            }
            let mut digits = Vec::with_capacity(cuts.len());
            for (place, &(by, _)) in cuts.iter().enumerate() {
                let extent = match cuts.get(place + 1) {
                    Some(next) => next.0 / by,
                    None => self.dims()[dim].div_ceil(by),
                };
                // One step of this digit is `by / cut` steps of each quotient below it.
                let stride: i128 =
                    cuts[..=place].iter().map(|&(cut, coefficient)| coefficient * i128::from(by / cut)).sum();
                let stride =
                    i64::try_from(stride).map_err(|_| no_digits("a stride overflows 63 bits".to_owned()))?;
                digits.push(Digit { extent, stride });
            }
            Ok(digits)
        };
        let of_dims = (0..self.rank()).map(of_dim).collect::<Result<_>>()?;
        Ok(Digits { first: canon.eval(&vec![0; self.rank()]), of_dims })
    }
}

fn no_digits(found: String) -> Error {
    Error::new(found)
        .of_kind(ErrorKind::Unsupported)
        .field("layout")
        .rule("digits with a stride each say where the elements of every dimension lie")
}
