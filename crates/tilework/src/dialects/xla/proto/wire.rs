//! Protobuf's wire format: numbers in pieces of seven bits, and fields that say their number and their length.

use std::fmt;
use std::ops::Range;

use crate::error::{Error, Result};

/// The names on the way to a field, such as `tuple_shapes`, `layout`, `tiles`, for messages to people.
#[derive(Clone, Copy)]
pub(super) struct Path<'a> {
    outer: Option<&'a Path<'a>>,
    name: &'a str,
}

impl<'a> Path<'a> {
    pub(super) fn root(name: &'a str) -> Path<'a> {
        Path { outer: None, name }
    }

    pub(super) fn field(&'a self, name: &'a str) -> Path<'a> {
        Path { outer: Some(self), name }
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The two innermost names say enough, and a path may be as deep as messages may be nested.
        match self.outer {
            Some(outer) if outer.outer.is_some() => write!(f, "{}.{}", outer.name, self.name),
            _ => f.write_str(self.name),
        }
    }
}

/// Bytes of a message, and where in them to read on. Places are those of the whole message.
#[derive(Clone)]
pub(super) struct Reader<'b> {
    bytes: &'b [u8],
    rest: Range<usize>,
}

/// One field: its number and name, where it stands, and what it holds.
pub(super) struct Field<'b> {
    pub(super) number: u32,
    pub(super) name: &'static str,
    pub(super) value: Value<'b>,
    at: Range<usize>,
}

/// The content of a field, by wire type.
pub(super) enum Value<'b> {
    Varint(u64),
    Bytes(Reader<'b>),
    /// Four or eight bytes, or a group: nothing that any of the messages uses.
    Other(u8),
}

/// A number and the byte where its field starts.
#[derive(Clone, Copy, Default)]
pub(super) struct Int {
    pub(super) value: i64,
    pub(super) at: usize,
}

impl<'b> Reader<'b> {
    pub(super) fn new(bytes: &'b [u8]) -> Reader<'b> {
        Reader { bytes, rest: 0..bytes.len() }
    }

    /// Where the reader stands.
    pub(super) fn at(&self) -> usize {
        self.rest.start
    }

    /// The bytes that are left.
    pub(super) fn range(&self) -> Range<usize> {
        self.rest.clone()
    }

    /// What is left, as it stands.
    pub(super) fn bytes(&self) -> &'b [u8] {
        &self.bytes[self.rest.clone()]
    }

    /// The next field of a message whose fields have these names by their numbers, or none at the end.
    pub(super) fn field(&mut self, names: &[&'static str], path: &Path<'_>) -> Result<Option<Field<'b>>> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let start = self.rest.start;
        let (number, wire_type) = self.tag(path)?;
        let name = names.get(number as usize).copied().unwrap_or("unknown field");
        let path = path.field(name);
        let value = match wire_type {
            0 => Value::Varint(self.varint(&path)?),
            2 => Value::Bytes(self.delimited(&path)?),
            _ => {
                self.skip(number, wire_type, start, &path)?;
                Value::Other(wire_type)
            }
        };
        Ok(Some(Field { number, name, value, at: start..self.rest.start }))
    }

    fn tag(&mut self, path: &Path<'_>) -> Result<(u32, u8)> {
        let start = self.rest.start;
        let tag = self.varint(path)?;
        let number = u32::try_from(tag >> 3).ok().filter(|&number| (1..1 << 29).contains(&number));
        let number = number.ok_or_else(|| {
            error(path, start..self.rest.start, format!("field number {}", tag >> 3))
                .rule("the bytes are not a message here")
                .accepts("field numbers from 1 to 536870911")
        })?;
        Ok((number, (tag & 7) as u8))
    }

    /// Passes over what no message uses. Groups inside groups are counted, not entered, so any depth is passed.
    fn skip(&mut self, number: u32, wire_type: u8, start: usize, path: &Path<'_>) -> Result<()> {
        let mut groups: Vec<u32> = Vec::new();
        let (mut number, mut wire_type) = (number, wire_type);
        loop {
            match wire_type {
                0 => self.varint(path).map(drop)?,
                1 => self.take(8, path).map(drop)?,
                2 => self.delimited(path).map(drop)?,
                3 => groups.push(number),
                5 => self.take(4, path).map(drop)?,
                4 if groups.last() == Some(&number) => drop(groups.pop()),
                4 => {
                    return Err(error(path, start..self.rest.start, format!("the end of group {number}"))
                        .rule("no such group was begun"));
                }
                _ => {
                    return Err(error(path, start..self.rest.start, format!("wire type {wire_type}"))
                        .rule("the bytes are not a message here")
                        .accepts("wire types 0 to 5"));
                }
            }
            if groups.is_empty() {
                return Ok(());
            }
            (number, wire_type) = self.tag(path)?;
        }
    }

    /// A number in pieces of seven bits, the lowest first, at most ten bytes.
    fn varint(&mut self, path: &Path<'_>) -> Result<u64> {
        let start = self.rest.start;
        let mut number = 0;
        for piece in 0..10 {
            let Some(at) = self.rest.next() else {
                return Err(error(path, start..self.rest.end, "a number that the end of the bytes cuts off")
                    .rule("a number ends with a byte below 128"));
            };
            let byte = self.bytes[at];
            if piece == 9 && byte > 1 {
                break;
            }
            number |= u64::from(byte & 0x7f) << (7 * piece);
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(error(path, start..self.rest.start, "a number of more than 64 bits")
            .rule("a number has at most ten bytes, and the tenth is 0 or 1"))
    }

    fn delimited(&mut self, path: &Path<'_>) -> Result<Reader<'b>> {
        let length = self.varint(path)?;
        Ok(Reader { bytes: self.bytes, rest: self.take(length, path)? })
    }

    fn take(&mut self, length: u64, path: &Path<'_>) -> Result<Range<usize>> {
        let (start, left) = (self.rest.start, self.rest.len());
        let Some(length) = usize::try_from(length).ok().filter(|&length| length <= left) else {
            return Err(error(path, start..self.rest.end, format!("{length} bytes, but {left} are left"))
                .rule("a field ends inside its message"));
        };
        self.rest.start += length;
        Ok(start..self.rest.start)
    }
}

impl<'b> Field<'b> {
    /// Where the field stands.
    pub(super) fn range(&self) -> Range<usize> {
        self.at.clone()
    }

    /// The field as a number. The path is that of the message, here and below.
    pub(super) fn int(&self, path: &Path<'_>) -> Result<Int> {
        match self.value {
            Value::Varint(value) => Ok(Int { value: value as i64, at: self.at.start }),
            _ => Err(self.wrong_type(path, "a number")),
        }
    }

    /// The field as one more number of a list, or as several packed into one field.
    pub(super) fn ints(&self, list: &mut Vec<Int>, path: &Path<'_>) -> Result<()> {
        match &self.value {
            Value::Varint(_) => list.push(self.int(path)?),
            Value::Bytes(packed) => {
                let mut packed = packed.clone();
                while !packed.rest.is_empty() {
                    let at = packed.at();
                    list.push(Int { value: packed.varint(&path.field(self.name))? as i64, at });
                }
            }
            Value::Other(_) => return Err(self.wrong_type(path, "numbers")),
        }
        Ok(())
    }

    /// The field as a message.
    pub(super) fn message(&self, path: &Path<'_>) -> Result<Reader<'b>> {
        match &self.value {
            Value::Bytes(reader) => Ok(reader.clone()),
            _ => Err(self.wrong_type(path, "a message")),
        }
    }

    fn wrong_type(&self, path: &Path<'_>, expected: &str) -> Error {
        let found = match self.value {
            Value::Varint(_) => 0,
            Value::Bytes(_) => 2,
            Value::Other(wire_type) => wire_type,
        };
        error(&path.field(self.name), self.at.clone(), format!("wire type {found} in field {}", self.number))
            .rule(format!("the field holds {expected}"))
    }
}

/// An error that names the field and the bytes.
pub(super) fn error(path: &Path<'_>, at: Range<usize>, found: impl fmt::Display) -> Error {
    Error::new(format!("{path}: {found}")).at(at)
}

/// Writes a number in pieces of seven bits.
pub(super) fn put_varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Writes a number that is not the default 0.
pub(super) fn put_int(out: &mut Vec<u8>, field: u32, number: i64) {
    if number != 0 {
        put_varint(out, u64::from(field) << 3);
        put_varint(out, number as u64);
    }
}

/// Writes a list of numbers, packed, unless it is empty.
pub(super) fn put_ints(out: &mut Vec<u8>, field: u32, numbers: impl IntoIterator<Item = i64>) {
    let mut packed = Vec::new();
    for number in numbers {
        put_varint(&mut packed, number as u64);
    }
    if !packed.is_empty() {
        put_message(out, field, &packed);
    }
}

/// Writes a message, which may be empty.
pub(super) fn put_message(out: &mut Vec<u8>, field: u32, message: &[u8]) {
    put_varint(out, u64::from(field) << 3 | 2);
    put_varint(out, message.len() as u64);
    out.extend_from_slice(message);
}
