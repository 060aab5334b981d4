//! safetensors: eight bytes that say how long the header is, the header as JSON, the tensors side by side.
//!
//! ```text
//! {"__metadata__": {"format": "pt"}, "w": {"dtype": "F32", "shape": [64, 300], "data_offsets": [0, 76800]}, …}
//! ```
//!
//! What is refused is what the format's own reader refuses: tensors that overlap, that leave bytes out between them or at the
//! end, or that have another number of bytes than their sizes say.

use tilework::{Element, Error, Result, System};

use super::array::{Content, Placed};
use super::body::{Body, body};
use super::frame::{Around, Entry, Frame, differ};
use super::json::{Reader, quoted, shown};
use super::{Format, Inside, Stored, Tensor, note};

/// The longest header, as the format's own reader has it.
const LONGEST_HEADER: u64 = 100_000_000;

/// Where the file says something that is not about a tensor.
pub(crate) const METADATA: &str = "__metadata__";

/// A tensor as the header says it.
struct Found {
    name: String,
    dtype: String,
    shape: Vec<u64>,
    start: u64,
    end: u64,
}

/// Where the header ends of a file that begins so; none where that cannot be.
pub(crate) fn header_end(start: &[u8]) -> Option<u64> {
    let length = start.first_chunk().map(|length| u64::from_le_bytes(*length))?;
    (length <= LONGEST_HEADER).then_some(8 + length)
}

/// Reads the header of a file; `file` is its number in the container.
pub(crate) fn read(bytes: &[u8], file: usize) -> Result<Inside> {
    let length = bytes.first_chunk().map(|length| u64::from_le_bytes(*length)).ok_or_else(|| {
        Error::new(format!("a file of {} bytes", bytes.len()))
            .rule("a safetensors file begins with the length of its header in 8 bytes")
    })?;
    if length > LONGEST_HEADER {
        return Err(Error::new(format!("a header of {length} bytes"))
            .rule("the header is read into memory as a whole")
            .accepts(format!("up to {LONGEST_HEADER} bytes")));
    }
    let start = 8 + length;
    let text = bytes.get(8..start as usize).ok_or_else(|| {
        Error::new(format!("a file of {} bytes with a header of {length}", bytes.len()))
            .rule("the header is within the file")
            .accepts("a file that is complete")
    })?;
    let (mut entries, metadata) = header(text).map_err(|error| error.field("header"))?;
    side_by_side(&mut entries, bytes.len() as u64 - start)?;

    let mut notes: Vec<(String, String)> = Vec::new();
    let (mut own, mut tensors) = (Vec::new(), Vec::with_capacity(entries.len()));
    for (key, value) in metadata {
        match key.strip_prefix(note::KEY) {
            Some(name) => notes.push((name.to_owned(), value)),
            None => own.push((key, value)),
        }
    }
    let notes: std::collections::HashMap<String, String> = notes.into_iter().collect();
    for entry in entries {
        let content = content(&entry, notes.get(&entry.name))?;
        let stored = Stored::plain(file, start + entry.start, entry.end - entry.start);
        tensors.push(Tensor { name: entry.name, content, stored });
    }
    Ok(Inside { tensors, metadata: own, ..Inside::default() })
}

type Header = (Vec<Found>, Vec<(String, String)>);

fn header(text: &[u8]) -> Result<Header> {
    let (mut entries, mut metadata) = (Vec::new(), Vec::new());
    let mut reader = Reader::new(text);
    reader.object(&mut |reader, name| {
        if name == METADATA {
            return reader.object(&mut |reader, key| {
                metadata.push((key, reader.string()?));
                Ok(())
            });
        }
        let (mut dtype, mut shape, mut offsets) = (None, None, None);
        reader.object(&mut |reader, key| {
            match key.as_str() {
                "dtype" => dtype = Some(reader.string()?),
                "shape" => shape = Some(reader.numbers()?),
                "data_offsets" => offsets = Some(reader.numbers()?),
                _ => {
                    return Err(Error::new(format!("the key {} of tensor {}", shown(&key), shown(&name)))
                        .rule("a tensor has a dtype, a shape and data_offsets, and nothing else"));
                }
            }
            Ok(())
        })?;
        let missing = |key: &str| {
            Error::new(format!("tensor {} without {key}", shown(&name)))
                .rule("a tensor has a dtype, a shape and data_offsets")
        };
        let dtype = dtype.ok_or_else(|| missing("dtype"))?;
        let shape = shape.ok_or_else(|| missing("shape"))?;
        let offsets = offsets.ok_or_else(|| missing("data_offsets"))?;
        let [start, end] = offsets[..] else {
            return Err(Error::new(format!("{} data_offsets of tensor {}", offsets.len(), shown(&name)))
                .rule("data_offsets are where a tensor begins and where it ends"));
        };
        if start > end {
            return Err(Error::new(format!("tensor {} from byte {start} to byte {end}", shown(&name)))
                .rule("a tensor ends behind its beginning"));
        }
        entries.push(Found { name, dtype, shape, start, end });
        Ok(())
    })?;
    reader.end()?;
    Ok((entries, metadata))
}

/// Checks that the tensors are all of the bytes behind the header, each once.
fn side_by_side(entries: &mut [Found], bytes: u64) -> Result<()> {
    // In the order in which they lie; of those without bytes any comes first.
    entries.sort_by_key(|entry| (entry.start, entry.end));
    let mut next = 0;
    for entry in entries.iter() {
        if entry.end > bytes {
            return Err(Error::new(format!(
                "tensor {} ends at byte {} behind the header, and the file has {bytes} there",
                shown(&entry.name),
                entry.end
            ))
            .rule("every tensor is within the file")
            .accepts("a file that is complete"));
        }
        if entry.start != next {
            let what =
                if entry.start < next { "shares bytes with the one before it" } else { "leaves bytes out" };
            return Err(Error::new(format!(
                "tensor {} begins at byte {} behind the header and {what}, which ends at byte {next}",
                shown(&entry.name),
                entry.start
            ))
            .rule("tensors are side by side, as readers of the format demand"));
        }
        next = entry.end;
    }
    if next != bytes {
        return Err(Error::new(format!("{} bytes behind the last tensor", bytes - next))
            .rule("a file ends with its last tensor"));
    }
    Ok(())
}

fn content(entry: &Found, note: Option<&String>) -> Result<Content> {
    let bytes = entry.end - entry.start;
    let name = shown(&entry.name);
    let Some(element) = Element::from_name_in(System::Safetensors, &entry.dtype) else {
        let why = Error::new(format!("tensor {name} of dtype {}", shown(&entry.dtype)))
            .rule("the format has names for its types")
            .accepts("F64, F32, F16, BF16, I64, I32, I16, I8, U64, U32, U16, U8, BOOL, C64, and types of 8 bits and fewer");
        return Ok(Content::Unread { kind: entry.dtype.clone(), dims: Some(entry.shape.clone()), why });
    };
    if let Some(note) = note {
        let word = note::Word::Of(element);
        return note::read(&entry.name, note, &entry.shape, word, bytes);
    }
    let array = Placed::dense(element, &entry.shape, true)
        .map_err(|error| crate::source::within(&format!("tensor {name}"), &error))?;
    if array.layout.bytes() != bytes {
        return Err(Error::new(format!("tensor {name} is {}, and has {bytes} bytes", array.said))
            .rule(format!("its sizes say {} bytes", array.layout.bytes())));
    }
    Ok(Content::Array(array))
}

/// Tensors begin at multiples of this, as far as their own sizes allow.
const ALIGN: usize = 64;

/// What a new file begins with, and where its tensors are.
#[derive(Clone, Debug)]
pub struct Head {
    /// The length of the header, and the header.
    pub bytes: Vec<u8>,
    /// Where each tensor begins, in the order in which they were given.
    pub places: Vec<u64>,
    /// The length of the file.
    pub file_bytes: u64,
}

/// What a new safetensors file with these tensors, and these texts in its metadata, begins with.
///
/// # Errors
/// Two tensors of one name, types that the format has not, and a header that is too long.
pub fn safetensors_head(tensors: &[(&str, &Content)], metadata: Vec<(&str, &str)>) -> Result<Head> {
    differ(tensors.iter().map(|(name, _)| *name))?;
    let bodies = tensors.iter().map(|(name, content)| body(Format::Safetensors, name, content, false));
    let bodies = bodies.collect::<Result<Vec<Body>>>()?;
    let entries: Vec<Entry> =
        tensors.iter().zip(&bodies).map(|((name, _), body)| Entry { name, body }).collect();
    let Frame { bytes: file_bytes, places, around: Around::Fixed(pieces) } = frame(&entries, metadata)?
    else {
        return Err(Error::new("a header of another format")); // never: it is made below
    };
    Ok(Head { bytes: pieces.into_iter().flat_map(|(_, bytes)| bytes).collect(), places, file_bytes })
}

/// A new file with these tensors and these texts in its metadata.
pub(crate) fn frame(entries: &[Entry], metadata: Vec<(&str, &str)>) -> Result<Frame> {
    // Those with wide elements first, so that each begins at a multiple of its elements.
    let mut order: Vec<usize> = (0..entries.len()).collect();
    order.sort_by_key(|&at| std::cmp::Reverse(entries[at].body.align));
    let mut places = vec![0; entries.len()];
    let (mut parts, mut texts) = (Vec::with_capacity(entries.len() + 1), Vec::new());
    texts.extend(metadata.iter().map(|(key, value)| format!("{}:{}", quoted(key), quoted(value))));
    let mut end = 0_u64;
    for at in order {
        let Entry { name, body } = &entries[at];
        if *name == METADATA {
            return Err(Error::new(format!("a tensor called {METADATA}"))
                .rule("safetensors has metadata under this name")
                .accepts("--rename"));
        }
        let sizes: Vec<String> = body.dims.iter().map(u64::to_string).collect();
        let next = end.checked_add(body.bytes).ok_or_else(|| Error::new("more bytes than 64 bits count"))?;
        parts.push(format!(
            r#"{}:{{"dtype":"{}","shape":[{}],"data_offsets":[{end},{next}]}}"#,
            quoted(name),
            body.word,
            sizes.join(",")
        ));
        if let Some(note) = &body.note {
            texts.push(format!("{}:{}", quoted(&format!("{}{name}", note::KEY)), quoted(note)));
        }
        (places[at], end) = (end, next);
    }
    if !texts.is_empty() {
        parts.insert(0, format!("\"{METADATA}\":{{{}}}", texts.join(",")));
    }
    let mut head = format!("{{{}}}", parts.join(",")).into_bytes();
    head.resize((8 + head.len()).next_multiple_of(ALIGN) - 8, b' ');
    if head.len() as u64 > LONGEST_HEADER {
        return Err(Error::new(format!("a header of {} bytes", head.len()))
            .rule(format!("readers of the format take up to {LONGEST_HEADER}"))
            .accepts("a folder of shards, or shorter names"));
    }
    let head = [&(head.len() as u64).to_le_bytes(), &head[..]].concat();
    let start = head.len() as u64;
    places.iter_mut().for_each(|place| *place += start);
    Ok(Frame { bytes: start + end, places, around: Around::Fixed(vec![(0, head)]) })
}
