//! The checker: every rule that a description, or its binding to a buffer, breaks.
//!
//! DirectML answers `E_INVALIDARG` and no reason. The rules here are those that its documents state; what they leave
//! open is not judged but said by [`remarks`](super::remarks). A rule that needs a field which is itself unreadable (the
//! least total of a tensor with a size of 0) is not applied, so nothing is guessed.

use smallvec::SmallVec;

use super::data_type::DataType;
use super::level::{DIMENSION_COUNT_MAX1, FeatureLevel, MAX_ELEMENTS, MINIMUM_BUFFER_TENSOR_ALIGNMENT};
use super::raw::{Desc, TypeField};
use super::size::{self, DWORD};
use super::text::shown;
use super::violation::{Rule, Violation};
use crate::error::counted;

/// Where a tensor is bound: `DML_BUFFER_BINDING`, and the buffer behind it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Binding {
    /// Bytes from the start of the buffer to the first element.
    pub offset: u64,
    /// Bytes of the bound range, `SizeInBytes`, where known.
    pub range: Option<u64>,
    /// Bytes of the buffer, where known.
    pub buffer: Option<u64>,
}

/// Everything that the description breaks at this feature level, and its binding with it. Empty: it is right.
///
/// ```
/// use tilework::directml::{Binding, Desc, FeatureLevel, check};
/// // DirectML#448: the message printed the bytes of the tensor; the offset does not fit besides it.
/// let desc = Desc::parse("FLOAT32 [1,3,224,224] strides [153228,51076,226,1]")?;
/// assert!(check(&desc, FeatureLevel::LATEST, None).is_empty());
///
/// let binding = Binding { offset: 4 * 50177, buffer: Some(612912), ..Binding::default() };
/// let found = check(&desc, FeatureLevel::LATEST, Some(&binding));
/// assert_eq!(found[1].value, "offset 200708 + 611096 = 811804");
/// assert_eq!(found[1].limit, "612912");
/// # Ok::<(), tilework::Error>(())
/// ```
pub fn check(desc: &Desc, level: FeatureLevel, binding: Option<&Binding>) -> Vec<Violation> {
    let mut found = Found(Vec::new());
    let data_type = found.data_type(desc, level);
    found.dimension_count(desc, level);
    let sizes = found.sizes(desc);
    let strides = found.strides(desc, sizes.is_some());
    let need = match (data_type, sizes, strides) {
        (Some(data_type), Some(sizes), Some(strides)) => {
            found.bytes(desc, data_type, &sizes, strides.as_ref())
        }
        _ => None,
    };
    if let Some(need) = need {
        found.total(desc.total, need);
    }
    found.alignment(desc, data_type);
    if let Some(binding) = binding {
        let total = need.map(|need| desc.total.map_or(need, |total| total.max(need)));
        found.binding(binding, desc.alignment, total);
    }
    found.0
}

type Row = SmallVec<[u64; 8]>;

/// The violations so far. Nothing is allocated until there is one.
struct Found(Vec<Violation>);

impl Found {
    #[cold]
    fn add(
        &mut self,
        rule: Rule,
        field: (&'static str, Option<usize>),
        value: String,
        limit: String,
        legal: Option<String>,
    ) {
        self.0.push(Violation { rule, field: field.0, index: field.1, value, limit, legal });
    }

    fn data_type(&mut self, desc: &Desc, level: FeatureLevel) -> Option<DataType> {
        let field = ("DataType", None);
        let known = || "a type from FLOAT32 (1) to INT4 (13)".to_owned();
        match &desc.data_type {
            TypeField::Known(data_type) => {
                let needs = FeatureLevel::of_type(*data_type);
                if needs > level {
                    let limit = format!("feature level {needs} or later, and this is {level}");
                    let legal = match data_type {
                        DataType::Float64 => DataType::Float32,
                        DataType::Uint4 => DataType::Uint8,
                        DataType::Int4 => DataType::Int8,
                        other => other.remap_64_bit(),
                    };
                    let legal = Some(legal.to_string());
                    self.add(Rule::DataTypeFeatureLevel, field, data_type.to_string(), limit, legal);
                }
                Some(*data_type)
            }
            TypeField::Number(number) => {
                let value = if *number == 0 { "0 (UNKNOWN)".to_owned() } else { number.to_string() };
                self.add(Rule::UnknownDataType, field, value, known(), None);
                None
            }
            TypeField::Name(name) => {
                let legal = DataType::meant_by(name).map(|meant| meant.to_string());
                self.add(Rule::UnknownDataType, field, shown(name), known(), legal);
                None
            }
        }
    }

    fn dimension_count(&mut self, desc: &Desc, level: FeatureLevel) {
        if desc.flags > 1 {
            let legal = Some((desc.flags & 1).to_string());
            let limit = "NONE (0) or OWNED_BY_DML (1)".to_owned();
            self.add(Rule::UnknownFlags, ("Flags", None), desc.flags.to_string(), limit, legal);
        }
        let field = ("DimensionCount", None);
        let rank = desc.sizes.len();
        let (min, max) = (level.min_dimension_count(), level.max_dimension_count());
        let count = desc.dimension_count.unwrap_or(rank as i64);
        if count != rank as i64 {
            let (value, limit) = (count.to_string(), format!("{rank} sizes"));
            self.add(Rule::DimensionCountMismatch, field, value, limit, Some(rank.to_string()));
        }
        if rank < min as usize || rank > max as usize {
            let legal = match rank {
                0 => {
                    format!("sizes {}", if min == 1 { "[1] for a scalar" } else { "[1,1,1,1] for a scalar" })
                }
                _ if rank < min as usize => format!("{min}, with leading sizes of 1"),
                _ => format!("{max}, where dimensions can be merged or are 1"),
            };
            let limit = format!("{min} to {max} at feature level {level}");
            self.add(Rule::DimensionCount, field, rank.to_string(), limit, Some(legal));
        }
    }

    /// The sizes, if all are legal.
    fn sizes(&mut self, desc: &Desc) -> Option<Row> {
        let before = self.0.len();
        let mut sizes = Row::new();
        for (dim, &size) in desc.sizes.iter().enumerate() {
            let field = ("Sizes", Some(dim));
            match u64::try_from(size) {
                Ok(1..=MAX_ELEMENTS) if dim < DIMENSION_COUNT_MAX1 as usize => sizes.push(size as u64),
                Ok(1..=MAX_ELEMENTS) => {} // the rank is a violation of its own
                Ok(0) => self.add(
                    Rule::ZeroSize,
                    field,
                    "0".to_owned(),
                    "1 or more".to_owned(),
                    Some("1".to_owned()),
                ),
                _ => self.add(Rule::SizeRange, field, size.to_string(), "1 to 4294967295".to_owned(), None),
            }
        }
        (self.0.len() == before && sizes.len() == desc.sizes.len() && !sizes.is_empty()).then_some(sizes)
    }

    /// The strides, if there are none, or all are legal.
    fn strides(&mut self, desc: &Desc, sizes_are_known: bool) -> Option<Option<Row>> {
        let Some(strides) = &desc.strides else { return Some(None) };
        let before = self.0.len();
        if strides.len() != desc.sizes.len() {
            let rank = desc.sizes.len();
            let (value, limit) = (counted(strides.len() as u64, "stride"), counted(rank as u64, "size"));
            let legal = Some(counted(rank as u64, "stride"));
            self.add(Rule::StridesCount, ("Strides", None), value, limit, legal);
        }
        for (dim, &stride) in strides.iter().enumerate() {
            if !(0..=i64::from(u32::MAX)).contains(&stride) {
                let field = ("Strides", Some(dim));
                // A dimension of size 1 never uses its stride.
                let legal = (sizes_are_known && desc.sizes.get(dim) == Some(&1)).then(|| "0".to_owned());
                let limit = "0 to 4294967295".to_owned();
                self.add(Rule::StrideRange, field, stride.to_string(), limit, legal);
            }
        }
        (self.0.len() == before).then(|| Some(strides.iter().map(|&stride| stride as u64).collect()))
    }

    /// The least total, if it can be counted.
    fn bytes(&mut self, desc: &Desc, data_type: DataType, sizes: &Row, strides: Option<&Row>) -> Option<u64> {
        let elements = size::span(sizes.iter().copied(), strides.map(|strides| strides.iter().copied()));
        let bytes =
            elements.and_then(|elements| size::bytes(elements, data_type.bits())).and_then(size::round_up);
        let field = if strides.is_some() { "Strides" } else { "Sizes" };
        let Some(need) = bytes.and_then(|bytes| i64::try_from(bytes).ok()) else {
            let value = bytes.map_or("more than 2^128 bytes".to_owned(), |bytes| format!("{bytes} bytes"));
            self.add(Rule::SizeOverflow, (field, None), value, i64::MAX.to_string(), None);
            return None;
        };
        // The documents do not say whether the limit counts the elements of the tensor or those of the buffer. Both
        // above it break it either way.
        let logical = size::product(sizes.iter().copied()).unwrap_or(u128::MAX);
        let counted = logical.min(elements.unwrap_or(u128::MAX));
        if counted > u128::from(MAX_ELEMENTS) {
            let limit = MAX_ELEMENTS.to_string();
            self.add(Rule::TooManyElements, ("Sizes", None), format!("{counted} elements"), limit, None);
        }
        debug_assert_eq!(desc.sizes.len(), sizes.len());
        Some(need as u64)
    }

    fn total(&mut self, total: Option<u64>, need: u64) {
        let Some(total) = total else { return };
        let field = ("TotalTensorSizeInBytes", None);
        if total < need {
            let legal = Some(need.to_string());
            self.add(
                Rule::TotalTensorSizeTooSmall,
                field,
                total.to_string(),
                format!("{need} or more"),
                legal,
            );
        } else if !total.is_multiple_of(DWORD) {
            let legal = total.checked_next_multiple_of(DWORD).map(|total| total.to_string());
            let limit = "a multiple of 4".to_owned();
            self.add(Rule::TotalTensorSizeNotMultipleOf4, field, total.to_string(), limit, legal);
        } else if total > i64::MAX as u64 {
            let legal = Some(need.to_string());
            self.add(Rule::SizeOverflow, field, total.to_string(), i64::MAX.to_string(), legal);
        }
    }

    fn alignment(&mut self, desc: &Desc, data_type: Option<DataType>) {
        let least = data_type.map_or(1, DataType::alignment).into();
        let alignment = desc.alignment;
        let most = 1_u64 << 31;
        if alignment != 0 && (!alignment.is_power_of_two() || alignment < least || alignment > most) {
            let legal = alignment.max(least).checked_next_power_of_two().filter(|&legal| legal <= most);
            let limit = format!("0, or a power of two from {least} to {most}");
            let legal = Some(legal.unwrap_or(most).to_string());
            let field = ("GuaranteedBaseOffsetAlignment", None);
            self.add(Rule::GuaranteedBaseOffsetAlignment, field, alignment.to_string(), limit, legal);
        }
    }

    fn binding(&mut self, binding: &Binding, promised: u64, total: Option<u64>) {
        // An illegal promise is a violation of its own; then the least alignment counts.
        let promised = if promised.is_power_of_two() { promised } else { 1 };
        let alignment = promised.max(MINIMUM_BUFFER_TENSOR_ALIGNMENT);
        if !binding.offset.is_multiple_of(alignment) {
            let next = binding.offset.checked_next_multiple_of(alignment);
            let legal = Some(next.unwrap_or(binding.offset / alignment * alignment).to_string());
            let limit = format!("a multiple of {alignment}");
            self.add(Rule::OffsetAlignment, ("Offset", None), binding.offset.to_string(), limit, legal);
        }
        let Some(total) = total else { return };
        if let Some(range) = binding.range.filter(|range| *range < total || !range.is_multiple_of(DWORD)) {
            let legal = range.max(total).checked_next_multiple_of(DWORD).map(|range| range.to_string());
            let limit = format!("{total} or more, a multiple of 4");
            self.add(Rule::BindingRange, ("SizeInBytes", None), range.to_string(), limit, legal);
        }
        let room = total.max(binding.range.unwrap_or(0));
        let end = u128::from(binding.offset) + u128::from(room);
        if let Some(buffer) = binding.buffer.filter(|&buffer| u128::from(buffer) < end) {
            let value = format!("offset {} + {room} = {end}", binding.offset);
            let legal = Some(format!("a buffer of {end} bytes"));
            self.add(Rule::BufferTooSmall, ("BufferBytes", None), value, buffer.to_string(), legal);
        }
    }
}
