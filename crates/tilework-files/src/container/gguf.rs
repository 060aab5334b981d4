//! GGUF, the files of ggml and llama.cpp: numbers in their order, the least significant byte first.
//!
//! ```text
//! "GGUF"  u32 version  u64 tensors  u64 pairs
//! pair:   text key  u32 type  value            text: u64 length, bytes; list: u32 type, u64 length, values
//! tensor: text name  u32 dimensions  u64 sizes, the most minor first  u32 type  u64 offset
//! tensor data, from the next multiple of general.alignment on, from which offsets count
//! ```
//!
//! A header says how many pairs and tensors follow, how long texts and lists are: none of these is believed beyond the bytes
//! that are left.

use std::collections::HashMap;
use std::ops::Range;

use tilework::ggml::Block;
use tilework::{Element, Error, Result, System};

use super::array::{Blocks, Content, Placed};
use super::frame::{Around, Entry, Frame};
use super::json::shown;
use super::{Container, Format, Inside, Stored, Tensor, apart, note};
use crate::source::within;

/// The number of each type, with its name.
#[rustfmt::skip]
const TYPES: [(u32, &str); 35] = [
    (0, "F32"), (1, "F16"), (2, "Q4_0"), (3, "Q4_1"), (6, "Q5_0"), (7, "Q5_1"), (8, "Q8_0"), (9, "Q8_1"), (10, "Q2_K"),
    (11, "Q3_K"), (12, "Q4_K"), (13, "Q5_K"), (14, "Q6_K"), (15, "Q8_K"), (16, "IQ2_XXS"), (17, "IQ2_XS"),
    (18, "IQ3_XXS"), (19, "IQ1_S"), (20, "IQ4_NL"), (21, "IQ3_S"), (22, "IQ2_S"), (23, "IQ4_XS"), (24, "I8"),
    (25, "I16"), (26, "I32"), (27, "I64"), (28, "F64"), (29, "IQ1_M"), (30, "BF16"), (34, "TQ1_0"), (35, "TQ2_0"),
    (39, "MXFP4"), (40, "NVFP4"), (41, "Q1_0"), (42, "Q2_0"),
];

/// The key of a number that says where tensors may begin.
pub(crate) const ALIGNMENT: &str = "general.alignment";

/// The alignment of a file that says none.
pub(crate) const DEFAULT_ALIGNMENT: u64 = 32;

/// The most dimensions of a tensor.
pub(crate) const MAX_DIMS: usize = 4;

/// The longest name of a tensor: ggml has 64 bytes, the last of them 0.
pub(crate) const LONGEST_NAME: usize = 63;

/// Lists within lists.
const DEEPEST: u32 = 8;

/// The number of a type of this name.
pub(crate) fn number_of(name: &str) -> Option<u32> {
    TYPES.iter().find(|(_, own)| own.eq_ignore_ascii_case(name)).map(|(number, _)| *number)
}

/// Reads numbers and texts one after the other.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: u64) -> Result<&'a [u8]> {
        let rest = &self.bytes[self.at..];
        let taken = usize::try_from(count).ok().and_then(|count| rest.get(..count)).ok_or_else(|| {
            Error::new(format!("{count} bytes from byte {} on, and {} are left", self.at, rest.len()))
                .rule("the header is within the file")
                .accepts("a file that is complete")
        })?;
        self.at += taken.len();
        Ok(taken)
    }

    fn u32(&mut self) -> Result<u32> {
        Ok(self.take(4)?.iter().rev().fold(0, |number, &byte| number << 8 | u32::from(byte)))
    }

    fn u64(&mut self) -> Result<u64> {
        Ok(self.take(8)?.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }

    fn text(&mut self) -> Result<&'a str> {
        let at = self.at;
        let length = self.u64()?;
        std::str::from_utf8(self.take(length)?)
            .map_err(|_| Error::new(format!("a text at byte {at} that is not UTF-8")).rule("texts are UTF-8"))
    }

    /// A number of things that take at least `least` bytes each.
    fn count(&mut self, what: &str, least: u64) -> Result<u64> {
        let (at, count) = (self.at, self.u64()?);
        let left = (self.bytes.len() - self.at) as u64;
        match count.checked_mul(least) {
            Some(bytes) if bytes <= left => Ok(count),
            _ => Err(Error::new(format!("{count} {what}, at byte {at}, and {left} bytes are left"))
                .rule(format!("each takes at least {least} bytes"))),
        }
    }

    /// A value of a type, as a text.
    fn value(&mut self, kind: u32, deep: u32) -> Result<String> {
        let at = self.at;
        let small =
            |bytes: &[u8]| i64::from_le_bytes(std::array::from_fn(|k| bytes.get(k).copied().unwrap_or(0)));
        Ok(match kind {
            0 => small(self.take(1)?).to_string(),
            1 => (small(self.take(1)?) as i8).to_string(),
            2 => small(self.take(2)?).to_string(),
            3 => (small(self.take(2)?) as i16).to_string(),
            4 => self.u32()?.to_string(),
            5 => (self.u32()? as i32).to_string(),
            6 => f32::from_bits(self.u32()?).to_string(),
            7 => (self.take(1)? != [0]).to_string(),
            8 => self.text()?.to_owned(),
            10 => self.u64()?.to_string(),
            11 => (self.u64()? as i64).to_string(),
            12 => f64::from_bits(self.u64()?).to_string(),
            9 => {
                let kind = self.u32()?;
                if deep == DEEPEST {
                    return Err(Error::new(format!("lists within each other at byte {at}"))
                        .rule(format!("no deeper than {DEEPEST}")));
                }
                let least = match kind {
                    0 | 1 | 7 => 1,
                    2 | 3 => 2,
                    4..=6 => 4,
                    9 => 12,
                    _ => 8,
                };
                let count = self.count("values of a list", least)?;
                match kind {
                    8 | 9 => (0..count).try_for_each(|_| self.value(kind, deep + 1).map(drop))?,
                    0..=7 | 10..=12 => drop(self.take(count * least)?),
                    _ => return Err(unknown(kind, at)),
                }
                format!("{count} values")
            }
            _ => return Err(unknown(kind, at)),
        })
    }
}

fn unknown(kind: u32, at: usize) -> Error {
    Error::new(format!("a value of type {kind} at byte {at}")).rule("types of values are 0 to 12")
}

/// What the header says, before it is held against the bytes that follow.
struct Header<'a> {
    metadata: Vec<(String, String)>,
    notes: HashMap<String, String>,
    raw: Vec<Range<usize>>,
    lists: Vec<String>,
    alignment: u64,
    infos: Vec<Info<'a>>,
    /// Where it ends.
    end: usize,
}

/// Whether these bytes, with which a file begins, have all of its header.
pub(crate) fn has_header(start: &[u8]) -> bool {
    header(start).is_ok()
}

fn header(bytes: &[u8]) -> Result<Header<'_>> {
    let mut reader = Reader { bytes, at: 0 };
    if reader.take(4)? != b"GGUF" {
        return Err(Error::new("a file that does not begin with GGUF").rule("every GGUF file does"));
    }
    match reader.u32()? {
        2 | 3 => {}
        version if version.swap_bytes() < 16 => {
            return Err(Error::new("numbers with the most significant byte first")
                .accepts("a file for machines with the least significant byte first, as nearly all are"));
        }
        version => return Err(Error::new(format!("version {version} of GGUF")).accepts("2 or 3")),
    }
    let tensors = reader.count("tensors", 24)?;
    let pairs = reader.count("pairs of keys and values", 13)?;
    let (mut metadata, mut notes) = (Vec::new(), HashMap::new());
    let (mut raw, mut lists): (Vec<Range<usize>>, Vec<String>) = (Vec::new(), Vec::new());
    let mut keys = std::collections::HashSet::new();
    let mut alignment = DEFAULT_ALIGNMENT;
    for _ in 0..pairs {
        let start = reader.at;
        let key = reader.text()?;
        let kind = reader.u32()?;
        let value = reader.value(kind, 0).map_err(|error| within(&format!("key {}", shown(key)), &error))?;
        if !keys.insert(key) {
            return Err(Error::new(format!("the key {} twice", shown(key))).rule("a file says each key once"));
        }
        if key == ALIGNMENT {
            alignment =
                value.parse().ok().filter(|&bytes: &u64| bytes.is_power_of_two()).ok_or_else(|| {
                    Error::new(format!("{ALIGNMENT} of {value}")).rule("an alignment is a power of two")
                })?;
        }
        match key.strip_prefix(note::KEY).filter(|_| kind == 8) {
            Some(name) => drop(notes.insert(name.to_owned(), value)),
            None => {
                raw.push(start..reader.at);
                if kind == 9 {
                    lists.push(key.to_owned());
                }
                metadata.push((key.to_owned(), value));
            }
        }
    }
    let infos = (0..tensors).map(|_| info(&mut reader)).collect::<Result<Vec<Info>>>()?;
    Ok(Header { metadata, notes, raw, lists, alignment, infos, end: reader.at })
}

/// Reads the header of a file; `file` is its number in the container.
pub(crate) fn read(bytes: &[u8], file: usize) -> Result<Inside> {
    let Header { metadata, notes, raw, lists, alignment, infos, end } = header(bytes)?;
    let start = (end as u64).next_multiple_of(alignment);
    let mut found = Vec::with_capacity(infos.len());
    let mut names = std::collections::HashSet::new();
    for info in &infos {
        if !names.insert(info.name) {
            return Err(Error::new(format!("tensor {} twice", shown(info.name))).rule("names differ"));
        }
        let named = format!("tensor {}", shown(info.name));
        found.push(
            tensor(info, (start, alignment, bytes.len() as u64), file, notes.get(info.name))
                .map_err(|error| within(&named, &error))?,
        );
    }
    apart(&found)?;
    // What is not read reaches to the next.
    let mut starts: Vec<u64> = found.iter().map(|tensor| tensor.stored.at).collect();
    starts.sort_unstable();
    for tensor in found.iter_mut().filter(|tensor| matches!(tensor.content, Content::Unread { .. })) {
        let next = starts.partition_point(|&at| at <= tensor.stored.at);
        let end = starts.get(next).copied().unwrap_or(bytes.len() as u64);
        tensor.stored.bytes = end - tensor.stored.at;
    }
    Ok(Inside { tensors: found, metadata, raw, lists })
}

/// What the header says of a tensor.
struct Info<'a> {
    name: &'a str,
    /// The most minor last.
    dims: Vec<u64>,
    kind: u32,
    offset: u64,
}

fn info<'a>(reader: &mut Reader<'a>) -> Result<Info<'a>> {
    let name = reader.text()?;
    let of_tensor = |error: Error| within(&format!("tensor {}", shown(name)), &error);
    let count = reader.u32()? as usize;
    if count > MAX_DIMS {
        return Err(of_tensor(
            Error::new(format!("{count} dimensions")).rule(format!("ggml has up to {MAX_DIMS}")),
        ));
    }
    let mut dims = (0..count).map(|_| reader.u64()).collect::<Result<Vec<u64>>>().map_err(of_tensor)?;
    dims.reverse();
    Ok(Info { name, dims, kind: reader.u32()?, offset: reader.u64()? })
}

fn tensor(
    info: &Info,
    (start, alignment, end): (u64, u64, u64),
    file: usize,
    note: Option<&String>,
) -> Result<Tensor> {
    let at = start.checked_add(info.offset).filter(|&at| at <= end).ok_or_else(|| {
        let rest = end.saturating_sub(start);
        Error::new(format!("the offset {} of {rest} bytes of data", info.offset))
            .rule("every tensor is within the file")
            .accepts("a file that is complete")
    })?;
    if !info.offset.is_multiple_of(alignment) {
        return Err(Error::new(format!("the offset {}", info.offset))
            .rule(format!("tensors begin at multiples of {alignment}")));
    }
    let name = TYPES.iter().find(|(number, _)| *number == info.kind).map(|(_, name)| *name);
    let content = match name {
        None => {
            let why = Error::new(format!("tensor {} of type {}", shown(info.name), info.kind))
                .rule("the numbers of types are ggml's; some are no longer in use");
            Content::Unread { kind: format!("type {}", info.kind), dims: Some(info.dims.clone()), why }
        }
        Some(name) => match (Element::from_name_in(System::Gguf, name), Block::named(name)) {
            (Some(element), _) => Content::Array(Placed::dense(element, &info.dims, true)?),
            (None, Some(block)) => Content::Blocks(Blocks::new(block, &info.dims)?),
            (None, None) => return Err(Error::new(format!("the type {name}"))),
        },
    };
    let mut content = content;
    let bytes = match &content {
        Content::Array(array) => array.layout.bytes(),
        Content::Blocks(blocks) => blocks.bytes(),
        Content::Unread { .. } => 0,
    };
    if bytes > end - at {
        return Err(Error::new(format!(
            "{bytes} bytes from byte {at} of the file on, and {} are left",
            end - at
        ))
        .rule("every tensor is within the file")
        .accepts("a file that is complete"));
    }
    if let (Some(note), Content::Array(array)) = (note, &content) {
        let word = note::Word::Of(array.element);
        content = note::read(info.name, note, &info.dims, word, bytes)?;
    }
    let stored = Stored::plain(file, at, bytes);
    Ok(Tensor { name: info.name.to_owned(), content, stored })
}

/// A new file with these tensors and the metadata of `from`, with its types where that is a file of GGUF.
pub(crate) fn frame(entries: &[Entry], from: &Container) -> Result<Frame> {
    let mut pairs: Vec<Vec<u8>> = Vec::new();
    let mut alignment = DEFAULT_ALIGNMENT;
    match from.format() {
        Format::Gguf => {
            let value = from.metadata().iter().find(|(key, _)| key == ALIGNMENT);
            alignment = value.and_then(|(_, value)| value.parse().ok()).unwrap_or(DEFAULT_ALIGNMENT);
            pairs.extend(from.raw());
        }
        _ => pairs.extend(from.texts().into_iter().map(|(key, value)| pair(key, value))),
    }
    for Entry { name, body } in entries {
        if let Some(note) = &body.note {
            pairs.push(pair(&format!("{}{name}", note::KEY), note));
        }
    }
    let mut head = [b"GGUF", &3_u32.to_le_bytes()[..], &(entries.len() as u64).to_le_bytes()].concat();
    head.extend((pairs.len() as u64).to_le_bytes());
    pairs.iter().for_each(|pair| head.extend(pair));
    let (mut places, mut end) = (Vec::with_capacity(entries.len()), 0_u64);
    for Entry { name, body } in entries {
        let kind = number_of(&body.word).ok_or_else(|| Error::new(format!("the type {}", body.word)))?;
        head.extend(text(name));
        head.extend((body.dims.len() as u32).to_le_bytes());
        body.dims.iter().rev().for_each(|size| head.extend(size.to_le_bytes()));
        head.extend([&kind.to_le_bytes()[..], &end.to_le_bytes()].concat());
        places.push(end);
        // Behind the last as well: ggml reads all of it.
        let next = end.checked_add(body.bytes).and_then(|end| end.checked_next_multiple_of(alignment));
        end = next.ok_or_else(|| Error::new("more bytes than 64 bits count"))?;
    }
    head.resize(head.len().next_multiple_of(usize::try_from(alignment).unwrap_or(1)), 0);
    let start = head.len() as u64;
    places.iter_mut().for_each(|place| *place += start);
    Ok(Frame { bytes: start + end, places, around: Around::Fixed(vec![(0, head)]) })
}

/// A key and a text.
fn pair(key: &str, value: &str) -> Vec<u8> {
    [&text(key)[..], &8_u32.to_le_bytes(), &text(value)].concat()
}

/// A text with its length.
fn text(text: &str) -> Vec<u8> {
    [&(text.len() as u64).to_le_bytes()[..], text.as_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_is_an_element_or_a_block() {
        for (number, name) in TYPES {
            let element = Element::from_name_in(System::Gguf, name);
            assert_eq!(element.is_none(), Block::named(name).is_some(), "{name}");
            assert_eq!(number_of(&name.to_lowercase()), Some(number));
        }
    }
}
