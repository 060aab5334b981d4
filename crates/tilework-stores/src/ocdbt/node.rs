//! What a manifest and a node say.

use tilework::{Error, ErrorKind, Result};

use super::bytes::{Bytes, short, unframed};

/// A part of a file of the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Span {
    /// The number of the file among those of the node.
    pub(super) file: usize,
    pub(super) start: u64,
    pub(super) len: u64,
}

/// A file: its path, and what stands before the paths of what it leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct File {
    pub(super) base: String,
    pub(super) path: String,
}

/// Where the newest version begins; nothing where it has no keys.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Root {
    pub(super) files: Vec<File>,
    pub(super) at: Option<(Span, u8)>,
}

/// A node: its keys, in one piece, and what stands under them.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) body: Vec<u8>,
    pub(super) files: Vec<File>,
    /// Each key without what all keys of the node begin with.
    pub(super) keys: Vec<Vec<u8>>,
    pub(super) entries: Entries,
}

#[derive(Debug)]
pub(super) enum Entries {
    Values(Vec<Value>),
    /// The nodes below, and with how many bytes of its key here all keys of one begin.
    Nodes(Vec<(Span, usize)>),
}

#[derive(Clone, Debug)]
pub(super) enum Value {
    /// A range of the node's own bytes.
    Inline(std::ops::Range<usize>),
    At(Span),
}

/// The longest key or path, as TensorStore has it.
const LONGEST: usize = 65_535;

fn wrong(found: impl Into<String>) -> Error {
    Error::new(found).of_kind(ErrorKind::Syntax)
}

/// Reads a manifest of up to `most` bytes.
pub(super) fn manifest(framed: &[u8], most: u64) -> Result<Root> {
    let body = unframed(framed, 0x0cdb_3a2a, "manifest", most)?;
    let mut bytes = Bytes::new(&body);
    bytes.take(16)?; // the database's own number
    match bytes.number()? {
        0 => {}
        1 => {
            return Err(Error::new("a database whose manifests are numbered files")
                .of_kind(ErrorKind::Unsupported)
                .accepts("one with all in manifest.ocdbt, as TensorStore writes to disks"));
        }
        other => return Err(wrong(format!("manifest kind {other}"))),
    }
    bytes.numbers(2)?; // the most bytes of a value in a node, and of a node
    bytes.byte()?; // how many versions a node of the tree of versions has
    match bytes.number()? {
        0 => {}
        1 => {
            bytes.take(4)?; // the level of zstd
        }
        other => return Err(wrong(format!("compression {other}"))),
    }
    let files = files(&mut bytes, "")?;
    let count = bytes.number()?;
    let numbers = bytes.numbers(count)?;
    if !numbers.is_sorted_by(|a, b| a < b) {
        return Err(wrong("versions that do not ascend"));
    }
    let heights = bytes.take(count)?;
    let spans = spans(&mut bytes, count, &files, true)?;
    // Counts of keys and bytes, times, and older versions follow: nothing here needs them.
    let at = heights.last().copied().and_then(|height| Some((spans.last()?.clone()?, height)));
    Ok(Root { files, at })
}

/// Reads a node of up to `most` bytes; `base` stands before the paths of its files.
pub(super) fn node(framed: &[u8], base: &str, height: u8, most: u64) -> Result<Node> {
    let body = unframed(framed, 0x0cdb_20de, "node", most)?;
    let mut bytes = Bytes::new(&body);
    let found = bytes.byte()?;
    if found != height {
        return Err(wrong(format!("a node of height {found}"))
            .rule(format!("what leads to it says that its height is {height}")));
    }
    let files = files(&mut bytes, base)?;
    let count = bytes.number()?;
    if count.saturating_mul(super::EACH) > most {
        return Err(super::too_large());
    }
    let shared = bytes.numbers(count.saturating_sub(1))?;
    let suffixes = bytes.numbers(count)?;
    let common = if height > 0 { bytes.numbers(count)? } else { Vec::new() };
    let mut left = most;
    let keys = joined(&mut bytes, &shared, &suffixes, &mut left)?;
    if !keys.is_sorted_by(|a, b| a < b) {
        return Err(wrong("keys that do not ascend"));
    }
    let entries = if height > 0 {
        let spans = spans(&mut bytes, count, &files, false)?;
        bytes.numbers(count.saturating_mul(3))?; // how many keys and bytes each has
        let mut nodes = Vec::with_capacity(spans.len());
        for ((span, common), key) in spans.into_iter().zip(common).zip(&keys) {
            let common = usize::try_from(common).ok().filter(|&common| common <= key.len());
            nodes
                .push((span.ok_or_else(short)?, common.ok_or_else(|| wrong("a key shorter than its part"))?));
        }
        Entries::Nodes(nodes)
    } else {
        let lens = bytes.numbers(count)?;
        let kinds = bytes.numbers(count)?;
        if let Some(other) = kinds.iter().find(|&&kind| kind > 1) {
            return Err(wrong(format!("a value of kind {other}")));
        }
        let elsewhere = kinds.iter().filter(|&&kind| kind == 1).count() as u64;
        let numbers = bytes.numbers(elsewhere)?;
        let starts = bytes.numbers(elsewhere)?;
        let mut places = numbers.into_iter().zip(starts);
        let mut values = Vec::with_capacity(kinds.len());
        for (kind, len) in kinds.into_iter().zip(lens) {
            values.push(match kind {
                0 => {
                    let start = body.len() - bytes.len();
                    bytes.take(len)?;
                    Value::Inline(start..body.len() - bytes.len())
                }
                _ => {
                    let (file, start) = places.next().ok_or_else(short)?;
                    Value::At(span(file, start, len, &files)?)
                }
            });
        }
        Entries::Values(values)
    };
    bytes.end()?;
    Ok(Node { files, keys, entries, body })
}

/// Texts of which each has a beginning of the one before: `shared` says how much, but of the first.
fn joined(bytes: &mut Bytes, shared: &[u64], suffixes: &[u64], left: &mut u64) -> Result<Vec<Vec<u8>>> {
    let mut texts: Vec<Vec<u8>> = Vec::with_capacity(suffixes.len());
    for (number, &suffix) in suffixes.iter().enumerate() {
        let before = match number.checked_sub(1) {
            None => &[][..],
            Some(before) => {
                let len = usize::try_from(shared[before]).ok();
                len.and_then(|len| texts[before].get(..len))
                    .ok_or_else(|| wrong("a key that shares more than the one before it has"))?
            }
        };
        let text = [before, bytes.take(suffix)?].concat();
        if text.len() > LONGEST {
            return Err(wrong(format!("a key of {} bytes", text.len())).accepts(format!("up to {LONGEST}")));
        }
        *left = left.checked_sub(text.len() as u64).ok_or_else(super::too_large)?;
        texts.push(text);
    }
    Ok(texts)
}

/// The files that a manifest or a node names; `base` stands before all of them.
fn files(bytes: &mut Bytes, base: &str) -> Result<Vec<File>> {
    let count = bytes.number()?;
    if count.saturating_mul(super::EACH) > super::MOST / 16 {
        return Err(super::too_large());
    }
    let shared = bytes.numbers(count.saturating_sub(1))?;
    let suffixes = bytes.numbers(count)?;
    let bases = bytes.numbers(count)?;
    let mut left = super::MOST / 16;
    let paths = joined(bytes, &shared, &suffixes, &mut left)?;
    let file = |(path, of_base): (Vec<u8>, u64)| {
        let path = String::from_utf8(path).map_err(|_| wrong("a file whose name is no text"))?;
        let own = usize::try_from(of_base).ok().and_then(|len| path.get(..len));
        let own = own.ok_or_else(|| wrong("a file with a longer beginning than its path"))?;
        let (base, path) = (format!("{base}{own}"), format!("{base}{path}"));
        // A version without keys has a root nowhere, which is in a file without a name.
        if !path.is_empty() {
            is_within(&path)?;
        }
        Ok(File { base, path })
    };
    paths.into_iter().zip(bases).map(file).collect()
}

/// A path of a file stays within the database.
fn is_within(path: &str) -> Result<()> {
    let is_name = |part: &str| !matches!(part, "" | "." | "..") && !part.contains(['\\', '\0', ':']);
    match path.len() <= LONGEST && path.split('/').all(is_name) {
        true => Ok(()),
        false => Err(Error::new(format!("a file {:?}", path.chars().take(100).collect::<String>()))
            .rule("all files of a database are within its folder")
            .accepts("a path such as d/0123abcd")),
    }
}

/// The columns of places: files, where each begins, how long it is. One of the greatest length is none, where that may be.
fn spans(bytes: &mut Bytes, count: u64, files: &[File], may_lack: bool) -> Result<Vec<Option<Span>>> {
    let [numbers, starts, lens] = [bytes.numbers(count)?, bytes.numbers(count)?, bytes.numbers(count)?];
    let places = numbers.into_iter().zip(starts).zip(lens);
    places
        .map(|((file, start), len)| match len {
            u64::MAX if may_lack => Ok(None),
            _ => span(file, start, len, files).map(Some),
        })
        .collect()
}

fn span(file: u64, start: u64, len: u64, files: &[File]) -> Result<Span> {
    let number = usize::try_from(file).ok().filter(|&file| file < files.len());
    let number = number.ok_or_else(|| wrong(format!("file {file} of {}", files.len())))?;
    if files[number].path.is_empty() {
        return Err(wrong("a file without a name"));
    }
    if start.checked_add(len).is_none() {
        return Err(wrong(format!("{len} bytes from {start} on")));
    }
    Ok(Span { file: number, start, len })
}
