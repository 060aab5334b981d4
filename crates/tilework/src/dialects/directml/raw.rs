//! A description as somebody wrote it, legal or not: what the checker looks at.

use super::data_type::DataType;
use super::desc::{BufferTensorDesc, TensorFlags};
use super::{FeatureLevel, Rule, check};
use crate::error::{Error, Result};
use crate::few::Few;

/// The numbers of a description as written. Wider than DirectML's 32 bits, so that what does not fit can be named.
pub type Numbers = Few<i64, 8>;

/// A description of a tensor as somebody wrote it, in the fields of `DML_BUFFER_TENSOR_DESC`. It may be wrong in every
/// one of them: [`check`] says how, and [`Desc::build`] makes the value that is known to be right.
///
/// ```
/// use tilework::directml::Desc;
/// let desc = Desc::parse("FLOAT16 [5,55] strides [9,3] total 123 alignment 5")?;
/// assert!(desc.build().is_err());
/// # Ok::<(), tilework::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Desc {
    /// `DataType`.
    pub data_type: TypeField,
    /// `Flags`, all bits.
    pub flags: u32,
    /// `DimensionCount`, where it was written; otherwise it is the number of sizes.
    pub dimension_count: Option<i64>,
    /// `Sizes`.
    pub sizes: Numbers,
    /// `Strides`; none means packed in the order of the sizes.
    pub strides: Option<Numbers>,
    /// `TotalTensorSizeInBytes`, where one was declared; otherwise it is computed.
    pub total: Option<u64>,
    /// `GuaranteedBaseOffsetAlignment`; 0 promises nothing.
    pub alignment: u64,
}

/// The type field of a description, known or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeField {
    /// A type of DirectML.
    Known(DataType),
    /// A number that is none: 0 is `UNKNOWN`.
    Number(u32),
    /// A name that is none.
    Name(String),
}

impl TypeField {
    /// The field with this number.
    pub fn from_number(number: u32) -> TypeField {
        DataType::from_number(number).map_or(TypeField::Number(number), TypeField::Known)
    }

    /// The field with this name, with or without `DML_TENSOR_DATA_TYPE_`.
    pub fn from_name(name: &str) -> TypeField {
        DataType::from_name(name).map_or_else(|| TypeField::Name(name.to_owned()), TypeField::Known)
    }

    /// The type, if it is one.
    pub fn known(&self) -> Option<DataType> {
        match self {
            TypeField::Known(data_type) => Some(*data_type),
            _ => None,
        }
    }
}

impl Desc {
    /// A packed tensor of this type and these sizes.
    pub fn new(data_type: DataType, sizes: &[u32]) -> Desc {
        Desc {
            data_type: TypeField::Known(data_type),
            flags: 0,
            dimension_count: None,
            sizes: sizes.iter().map(|&size| i64::from(size)).collect(),
            strides: None,
            total: None,
            alignment: 0,
        }
    }

    /// The description that is known to be right, whatever the feature level.
    ///
    /// What depends on the level, and the limit of 2^32 − 1 elements, are not asked here but by [`check`].
    ///
    /// # Errors
    /// The first violation, or more elements than 64 bits can count.
    pub fn build(&self) -> Result<BufferTensorDesc> {
        let violations = check(self, FeatureLevel::LATEST, None);
        if let Some(violation) = violations.iter().find(|violation| violation.rule != Rule::TooManyElements) {
            return Err(violation.to_error());
        }
        let Some(data_type) = self.data_type.known() else {
            return Err(Error::new("no type").field("DataType"));
        };
        // Rule by rule, the numbers are now within their fields.
        let narrow =
            |numbers: &Numbers| numbers.iter().filter_map(|&number| u32::try_from(number).ok()).collect();
        BufferTensorDesc::checked(
            data_type,
            TensorFlags::from_bits(self.flags),
            narrow(&self.sizes),
            self.strides.as_ref().map(narrow),
            self.total,
            u32::try_from(self.alignment).unwrap_or(0),
        )
    }
}
