//! npz: a zip file of npy files; and an npy file, or a folder of them, as containers.
//!
//! An array of Python objects is a pickle, which runs code when it is loaded. It is listed and never loaded. A note on a
//! layout is the comment of the member, which readers of zip files pass over.

use std::io::Read;
use std::ops::Range;

use flate2::read::DeflateDecoder;
use tilework::{Element, Error, Result};

use super::array::{Content, Placed};
use super::json::shown;
use super::zip::{self, Member, Way, members};
use super::{Inside, Packed, Stored, Tensor, note};
use crate::npy::{Header, data_offset};
use crate::{element_of, little_endian, source};

/// What the comment of a member with a note begins with; the layout follows.
pub(crate) const COMMENT: &str = "tilework.layout=";

/// The parts of a file that are to be fetched next, by what is there.
type Step = fn(&[u8]) -> Vec<Range<u64>>;

/// Where the parts of a file are that [`read`] reads, step by step: each says where the next is, of what was read before. What is
/// wrong is no step, and said when all is read.
pub(crate) const STEPS: [Step; 6] = [
    |bytes| vec![zip::tail(bytes.len() as u64)],
    |bytes| vec![zip::record(bytes)],
    |bytes| vec![zip::list_range(bytes)],
    |bytes| zip::starts(bytes, HEAD + EXTRA),
    |bytes| heads(bytes, |_, _| Some(HEAD)),
    |bytes| heads(bytes, head_bound),
];

/// Bytes of a member in which the header of its array is, most often.
const HEAD: u64 = 4 << 10;

/// Bytes of the extra field of a member, most often.
const EXTRA: u64 = 64;

/// The beginnings of all members, as long as `bound` says.
fn heads(bytes: &[u8], bound: impl Fn(&[u8], Way) -> Option<u64>) -> Vec<Range<u64>> {
    let of = |member: &Member| {
        let packed = &bytes[member.at as usize..][..member.packed as usize]; // the list is checked
        Some(member.at..member.at + bound(packed, member.way)?.min(member.packed))
    };
    members(bytes).unwrap_or_default().iter().filter_map(of).collect()
}

/// The bytes of a member in which its header is, by the first of them; none where these are no header.
fn head_bound(packed: &[u8], way: Way) -> Option<u64> {
    let mut start = Vec::new();
    let first = &packed[..packed.len().min(HEAD as usize)];
    stream(first, way).take(12).read_to_end(&mut start).ok()?;
    let end = data_offset(&start).ok()?;
    // What does not get smaller is a little larger with its frame.
    Some(if way == Way::Plain { end } else { HEAD.max(end + end / 64 + 64) })
}

/// Reads the list and the headers of an npz file; `file` is its number in the container.
pub(crate) fn read(bytes: &[u8], file: usize, known: Option<Element>) -> Result<Inside> {
    let members = members(bytes)?;
    if let Some(pickle) = members.iter().find(|member| member.name.ends_with("data.pkl")) {
        return Err(super::pickle(format!("a checkpoint of PyTorch, with {}", shown(&pickle.name))));
    }
    let mut tensors = Vec::with_capacity(members.len());
    for member in members {
        let named = format!("member {}", shown(&member.name));
        let tensor = tensor(bytes, file, &member, known).map_err(|error| source::within(&named, &error))?;
        tensors.push(tensor);
    }
    Ok(Inside { tensors, ..Inside::default() })
}

fn tensor(bytes: &[u8], file: usize, member: &Member, known: Option<Element>) -> Result<Tensor> {
    let packed = &bytes[member.at as usize..][..member.packed as usize]; // the list is checked
    let is_known = !matches!(member.way, Way::Other(_));
    let stored = |skip: u64| Stored {
        packed: (member.way == Way::Deflated).then_some(Packed { len: member.packed, skip }),
        crc: is_known.then_some((member.crc, skip)),
        ..Stored::plain(
            file,
            member.at + if member.way == Way::Plain { skip } else { 0 },
            // What cannot be unpacked is the bytes that are there.
            if is_known { member.bytes - skip } else { member.packed },
        )
    };
    let unread = |kind: &str, why: Error| Tensor {
        name: member.name.clone(),
        content: Content::Unread { kind: kind.to_owned(), dims: None, why },
        stored: stored(0),
    };
    let Some(name) = member.name.strip_suffix(".npy") else {
        let why = Error::new(format!("{} in an npz file", shown(&member.name))).accepts("members named .npy");
        return Ok(unread("file", why));
    };
    if let Way::Other(method) = member.way {
        let why = Error::new(format!("{} is packed by method {method}", shown(&member.name)))
            .accepts("stored or deflated members, as numpy.savez and numpy.savez_compressed write them");
        return Ok(unread("packed", why));
    }
    // Of a file of a server no more is there than its header takes.
    let bound = head_bound(packed, member.way).and_then(|bound| usize::try_from(bound).ok());
    let bounded = bound.map(|bound| head(&packed[..packed.len().min(bound)], member.way));
    let head = bounded.and_then(Result::ok).map_or_else(|| head(packed, member.way), Ok)?;
    let header = Header::read(&head)?;
    let rest = member.bytes.checked_sub(header.data_offset).ok_or_else(|| {
        Error::new(format!("{} bytes, and a header of {}", member.bytes, header.data_offset))
            .rule("the header is within the member")
    })?;
    let content = content(name, &header, member.comment.strip_prefix(COMMENT), known, rest)?;
    let stored = Stored { reversed: reversed(&header), ..stored(header.data_offset) };
    Ok(Tensor { name: name.to_owned(), content, stored })
}

/// The first bytes of a member, as far as the header of the npy file in it goes. Its length is limited, whatever it says.
fn head(packed: &[u8], way: Way) -> Result<Vec<u8>> {
    let mut stream = stream(packed, way);
    let broken =
        |error: std::io::Error| Error::new(format!("deflated bytes that cannot be unpacked: {error}"));
    let mut head = Vec::new();
    stream.by_ref().take(12).read_to_end(&mut head).map_err(broken)?;
    let end = data_offset(&head)?;
    stream.take(end.saturating_sub(head.len() as u64)).read_to_end(&mut head).map_err(broken)?;
    Ok(head)
}

/// The unpacked bytes of a member.
fn stream(packed: &[u8], way: Way) -> Box<dyn Read + '_> {
    match way {
        Way::Deflated => Box::new(DeflateDecoder::new(packed)),
        _ => Box::new(packed),
    }
}

/// What an npy file of this header holds in the `bytes` bytes behind it.
pub(crate) fn content(
    name: &str,
    header: &Header,
    note: Option<&str>,
    known: Option<Element>,
    bytes: u64,
) -> Result<Content> {
    let descr = header.descr.as_str();
    let unread =
        |why: Error| Ok(Content::Unread { kind: descr.to_owned(), dims: Some(header.shape.clone()), why });
    if descr.trim_start_matches(['<', '>', '|', '=']).starts_with('O') {
        return unread(
            Error::new(format!("{} is an array of Python objects", shown(name)))
                .rule("objects are pickled; a pickle runs code when it is loaded, and is never loaded")
                .accepts("an array of numbers"),
        );
    }
    if let Some(note) = note {
        let word = match element_of(descr, None) {
            Ok(element) => note::Word::Of(element),
            Err(_) => note::Word::Bytes(width(descr)),
        };
        let mut dims = header.shape.clone();
        // As they lie in memory.
        if header.fortran_order {
            dims.reverse();
        }
        return note::read(name, note, &dims, word, bytes);
    }
    // A type that was given is for arrays that do not know theirs.
    let element = match element_of(descr, None).or_else(|why| element_of(descr, known).map_err(|_| why)) {
        Ok(element) => element,
        Err(why) => {
            let found = Error::new(format!("{}: {}", shown(name), why.found()));
            return unread(match why.accepted().filter(|_| descr.contains('V')) {
                Some(types) => found.rule("its type is known").accepts(types),
                None => {
                    found.rule("an array is of numbers of one type").accepts("--only '!NAME' for the others")
                }
            });
        }
    };
    let mut array = Placed::dense(element, &header.shape, false)?;
    if header.fortran_order {
        array = array.fortran()?;
    }
    if array.layout.bytes() != bytes {
        return Err(Error::new(format!(
            "{} is {}, and {bytes} bytes follow its header",
            shown(name),
            array.said
        ))
        .rule(format!("its sizes say {} bytes", array.layout.bytes())));
    }
    Ok(Content::Array(array))
}

/// The bytes of numbers that are stored with the most significant byte first; 0 for others.
fn reversed(header: &Header) -> usize {
    little_endian(&header.descr).map_or(0, |(_, width)| width)
}

/// The bytes that a word such as `<V2` says.
fn width(descr: &str) -> u32 {
    descr.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().unwrap_or(0)
}

/// Reads an npy file as a container of one array, called by the name of the file; `note` is what a folder knows of it.
pub(crate) fn read_npy(
    bytes: &[u8],
    file: usize,
    name: &str,
    note: Option<&str>,
    known: Option<Element>,
) -> Result<Inside> {
    let header = Header::read(bytes)?;
    let rest = (bytes.len() as u64).saturating_sub(header.data_offset);
    let content = content(name, &header, note, known, rest)?;
    let plain = Stored::plain(file, header.data_offset, rest);
    let stored = Stored { reversed: reversed(&header), ..plain };
    let tensors = vec![Tensor { name: name.to_owned(), content, stored }];
    Ok(Inside { tensors, ..Inside::default() })
}
