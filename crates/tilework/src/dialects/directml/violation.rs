//! What a description breaks: a rule, where, with which value, and what would be legal.

use super::data_type::DataType;
use std::fmt;

use crate::error::Error;

/// A documented rule about descriptions and bindings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Rule {
    /// The type is one of DirectML's, and not `UNKNOWN`.
    UnknownDataType,
    /// The feature level has the type.
    DataTypeFeatureLevel,
    /// There are no flags but `OWNED_BY_DML`.
    UnknownFlags,
    /// The feature level takes that many dimensions.
    DimensionCount,
    /// `DimensionCount` is the number of sizes.
    DimensionCountMismatch,
    /// No size is 0.
    ZeroSize,
    /// A size fits 32 bits.
    SizeRange,
    /// Every dimension has one stride.
    StridesCount,
    /// A stride fits 32 bits, and is not negative.
    StrideRange,
    /// The bytes of the tensor can be counted in 63 bits.
    SizeOverflow,
    /// A tensor has at most 2^32 − 1 elements.
    TooManyElements,
    /// The declared total holds the tensor.
    TotalTensorSizeTooSmall,
    /// The declared total is a multiple of 4 bytes.
    TotalTensorSizeNotMultipleOf4,
    /// The promised alignment is 0, or a power of two at least as large as an element.
    GuaranteedBaseOffsetAlignment,
    /// A bound offset is a multiple of 16, and of the promised alignment.
    OffsetAlignment,
    /// The bound range holds the total, and is a multiple of 4 bytes.
    BindingRange,
    /// The tensor ends within the buffer.
    BufferTooSmall,
}

impl Rule {
    /// The name of the rule, for machines.
    pub fn name(self) -> &'static str {
        match self {
            Rule::UnknownDataType => "UnknownDataType",
            Rule::DataTypeFeatureLevel => "DataTypeFeatureLevel",
            Rule::UnknownFlags => "UnknownFlags",
            Rule::DimensionCount => "DimensionCount",
            Rule::DimensionCountMismatch => "DimensionCountMismatch",
            Rule::ZeroSize => "ZeroSize",
            Rule::SizeRange => "SizeRange",
            Rule::StridesCount => "StridesCount",
            Rule::StrideRange => "StrideRange",
            Rule::SizeOverflow => "SizeOverflow",
            Rule::TooManyElements => "TooManyElements",
            Rule::TotalTensorSizeTooSmall => "TotalTensorSizeTooSmall",
            Rule::TotalTensorSizeNotMultipleOf4 => "TotalTensorSizeNotMultipleOf4",
            Rule::GuaranteedBaseOffsetAlignment => "GuaranteedBaseOffsetAlignment",
            Rule::OffsetAlignment => "OffsetAlignment",
            Rule::BindingRange => "BindingRange",
            Rule::BufferTooSmall => "BufferTooSmall",
        }
    }

    /// The rule in one sentence, without a full stop.
    pub fn sentence(self) -> &'static str {
        match self {
            Rule::UnknownDataType => "the type is one of DirectML's",
            Rule::DataTypeFeatureLevel => "the feature level has the type",
            Rule::UnknownFlags => "the only flag is OWNED_BY_DML",
            Rule::DimensionCount => "the feature level limits the number of dimensions",
            Rule::DimensionCountMismatch => "DimensionCount is the number of sizes",
            Rule::ZeroSize => "DirectML has no tensors without elements",
            Rule::SizeRange => "a size is an unsigned number of 32 bits",
            Rule::StridesCount => "every dimension has one stride",
            Rule::StrideRange => "a stride is an unsigned number of 32 bits: there are no reversed views",
            Rule::SizeOverflow => "a buffer has at most 9223372036854775807 bytes",
            Rule::TooManyElements => "a buffer tensor has at most 4294967295 elements",
            Rule::TotalTensorSizeTooSmall => "the total holds every element, rounded up to 4 bytes",
            Rule::TotalTensorSizeNotMultipleOf4 => "totals are multiples of 4 bytes",
            Rule::GuaranteedBaseOffsetAlignment => {
                "a promised alignment is 0, or a power of two at least as large as an element"
            }
            Rule::OffsetAlignment => "a bound offset is a multiple of 16 and of the promised alignment",
            Rule::BindingRange => "the bound range holds the total and is a multiple of 4 bytes",
            Rule::BufferTooSmall => "the tensor ends within the buffer it is bound to",
        }
    }
}

/// One rule that is broken: the field, which entry of it, the value, the limit, and a value that would be legal.
///
/// `Display` says it in one line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// The rule.
    pub rule: Rule,
    /// The field, as DirectML.h names it; of a binding `Offset`, `SizeInBytes` or `BufferBytes`.
    pub field: &'static str,
    /// Which size or stride, if one.
    pub index: Option<usize>,
    /// The value found.
    pub value: String,
    /// What it is held against.
    pub limit: String,
    /// A legal value in its place; none if the field alone cannot be put right.
    pub legal: Option<String>,
}

impl Violation {
    /// The violation as an error of the library.
    pub fn to_error(&self) -> Error {
        let error = Error::new(format!("{} (limit: {})", self.value, self.limit))
            .field(self.place())
            .rule(self.rule.sentence());
        match &self.legal {
            Some(legal) => error.accepts(legal),
            None if self.rule == Rule::UnknownDataType => {
                let names: Vec<&str> = DataType::all().map(DataType::name).collect();
                error.accepts(names.join(", "))
            }
            None => error,
        }
    }

    fn place(&self) -> String {
        match self.index {
            Some(index) => format!("{}[{index}]", self.field),
            None => self.field.to_owned(),
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} = {}; {}", self.rule.name(), self.place(), self.value, self.rule.sentence())?;
        write!(f, "; limit: {}", self.limit)?;
        match &self.legal {
            Some(legal) => write!(f, "; legal: {legal}"),
            None => Ok(()),
        }
    }
}
