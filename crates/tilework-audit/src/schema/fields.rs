//! Fields of a message of which only the places are of interest.

use std::ops::Range;

use buffa::DecodeError;
use buffa::encoding::{Tag, WireType, decode_varint, skip_field};

/// A field.
pub(super) struct Field {
    pub(super) number: u32,
    /// With its number and length.
    pub(super) whole: Range<usize>,
    /// What it holds, if that has a length.
    pub(super) content: Option<Range<usize>>,
    /// Whether the end of the bytes leaves it whole.
    pub(super) is_whole: bool,
}

/// The fields in a range of bytes, one after the other. Places are those in all bytes.
pub(super) struct Fields<'b> {
    bytes: &'b [u8],
    rest: Range<usize>,
}

impl<'b> Fields<'b> {
    /// All fields in this range.
    pub(super) fn within(bytes: &'b [u8], range: Range<usize>) -> Fields<'b> {
        Fields { bytes, rest: range }
    }

    /// Where the next one begins.
    pub(super) fn at(&self) -> usize {
        self.rest.start
    }

    /// The next field whatever it holds, or none at the end. What the end cuts off is given so far.
    pub(super) fn next(&mut self) -> Result<Option<Field>, DecodeError> {
        let start = self.rest.start;
        let mut rest = &self.bytes[self.rest.clone()];
        if rest.is_empty() {
            return Ok(None);
        }
        let tag = Tag::decode(&mut rest)?;
        let (mut content, mut is_whole) = (None, true);
        if tag.wire_type() == WireType::LengthDelimited {
            let length = decode_varint(&mut rest)?;
            is_whole = length <= rest.len() as u64;
            let begin = self.rest.end - rest.len();
            rest = usize::try_from(length).ok().and_then(|length| rest.get(length..)).unwrap_or_default();
            content = Some(begin..self.rest.end - rest.len());
        } else {
            skip_field(tag, &mut rest)?;
        }
        self.rest.start = self.rest.end - rest.len();
        Ok(Some(Field { number: tag.field_number(), whole: start..self.rest.start, content, is_whole }))
    }
}
