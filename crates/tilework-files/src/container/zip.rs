//! Zip files, as far as npz files are ones: the list of members at the end, and where each member lies.
//!
//! ```text
//! { local header, data } …  { central header } …  [zip64 end, its place]  end
//! ```
//!
//! The list at the end is what counts; the local header before each member has to agree with it. What hides more than it
//! shows is refused: members that share bytes (a small file whose members are all the same large one), one name for two
//! members, and sizes that no compression reaches.

use std::collections::HashSet;
use std::ops::Range;

use tilework::{Error, Result};

use super::json::shown;

/// A member of a zip file.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) name: String,
    /// A text that is kept with it.
    pub(crate) comment: String,
    pub(crate) way: Way,
    /// The checksum of the unpacked bytes.
    pub(crate) crc: u32,
    /// Where its bytes begin in the file.
    pub(crate) at: u64,
    /// The bytes in the file.
    pub(crate) packed: u64,
    /// The bytes when they are unpacked.
    pub(crate) bytes: u64,
    /// Where its local header begins.
    start: u64,
}

/// A member as the list describes it.
struct Listed<'a> {
    name: &'a [u8],
    comment: String,
    flags: u16,
    method: u16,
    crc: u32,
    packed: u64,
    bytes: u64,
    start: u64,
}

/// How a member is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Plain,
    Deflated,
    /// By another method, of this number.
    Other(u16),
}

const END: &[u8] = b"PK\x05\x06";
const END_64: &[u8] = b"PK\x06\x06";
const LOCATOR: &[u8] = b"PK\x06\x07";
const CENTRAL: &[u8] = b"PK\x01\x02";
const LOCAL: &[u8] = b"PK\x03\x04";

/// No deflated byte stands for more bytes.
const DEFLATE_LIMIT: u64 = 1032;

/// Numbers in a header, the least significant byte first.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn u16(&mut self) -> Option<u16> {
        Some(u16::from_le_bytes(self.take(2)?.try_into().ok()?))
    }

    fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    fn u64(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }
}

fn bad(found: impl Into<String>) -> Error {
    Error::new(found).field("zip")
}

/// A list at the end has 22 bytes behind it, and a comment of up to 65535.
const TAIL: u64 = 22 + u16::MAX as u64;

/// The bytes of a record that is found by the one behind it.
const RECORD: u64 = 56;

/// Before the name and the extra field of a local header.
const LOCAL_BYTES: u64 = 30;

/// Where the end of a file of `len` bytes is, which says where all else is.
pub(crate) fn tail(len: u64) -> Range<u64> {
    len.saturating_sub(TAIL)..len
}

/// Where the record is that the end names, in large files; nothing in others.
pub(crate) fn record(file: &[u8]) -> Range<u64> {
    let place = end(file).ok().and_then(|end| locator(file, end));
    place.map_or(0..0, |place| place..place.saturating_add(RECORD))
}

/// Where the list is, by an end that was read.
pub(crate) fn list_range(file: &[u8]) -> Range<u64> {
    list(file).map_or(0..0, |(start, end, _)| start as u64..end as u64)
}

/// Where the members begin that a list names, and how long their names are; `more` bytes behind their headers.
pub(crate) fn starts(file: &[u8], more: u64) -> Vec<Range<u64>> {
    let Ok((start, end, _)) = list(file) else { return Vec::new() };
    let mut fields = Fields(&file[start..end]);
    let mut starts = Vec::new();
    while let Some(Some(listed)) = listed(&mut fields) {
        let bytes = LOCAL_BYTES + listed.name.len() as u64 + more;
        starts.push(listed.start..listed.start.saturating_add(bytes));
    }
    starts
}

/// The members of a zip file, in the order of its list.
pub(crate) fn members(file: &[u8]) -> Result<Vec<Member>> {
    let (start, end, count) = list(file)?;
    let cut = || bad("a list of members that is cut off").rule("each member is described as a whole");
    let mut fields = Fields(&file[start..end]);
    let mut members: Vec<Member> = Vec::new();
    while !fields.0.is_empty() {
        let member = member(&mut fields, file, start as u64).ok_or_else(cut)??;
        members.push(member);
    }
    if members.len() as u64 != count {
        return Err(bad(format!(
            "{} members in the list, and {count} at the end of the file",
            members.len()
        ))
        .rule("both numbers are the same"));
    }
    let mut names = HashSet::new();
    if let Some(twice) = members.iter().find(|member| !names.insert(member.name.as_str())) {
        return Err(bad(format!("the member {} twice", shown(&twice.name))).rule("names differ"));
    }
    let mut sorted: Vec<&Member> = members.iter().collect();
    sorted.sort_by_key(|member| member.start);
    for pair in sorted.windows(2) {
        if pair[0].at + pair[0].packed > pair[1].start {
            return Err(bad(format!("the members {} and {}", shown(&pair[0].name), shown(&pair[1].name)))
                .rule("no two members share bytes"));
        }
    }
    Ok(members)
}

/// Where the end begins.
fn end(file: &[u8]) -> Result<usize> {
    let first = tail(file.len() as u64).start as usize;
    let is_end = |&at: &usize| {
        let comment =
            file.get(at + 20..at + 22).and_then(|bytes| bytes.try_into().ok()).map(u16::from_le_bytes);
        file[at..].starts_with(END)
            && comment.is_some_and(|length| at + 22 + usize::from(length) == file.len())
    };
    (first..file.len().saturating_sub(21)).rev().find(is_end).ok_or_else(|| {
        bad(format!("a file of {} bytes without the list of members", file.len()))
            .rule("the list is at the end of a zip file")
            .accepts("a file that is complete")
    })
}

/// Where the list of members begins and ends, and how many they are.
fn list(file: &[u8]) -> Result<(usize, usize, u64)> {
    let end = end(file)?;
    let short = || bad("an end that is cut off");
    let mut fields = Fields(&file[end + 4..]);
    let mut read = || -> Option<(u16, u16, u16, u16, u32, u32)> {
        Some((fields.u16()?, fields.u16()?, fields.u16()?, fields.u16()?, fields.u32()?, fields.u32()?))
    };
    let (disk, list_disk, _, count, size, start) = read().ok_or_else(short)?;
    let is_64 = count == u16::MAX || size == u32::MAX || start == u32::MAX;
    let (count, size, start, limit) = match is_64 {
        false => (u64::from(count), u64::from(size), u64::from(start), end),
        true => {
            zip64(file, end).ok_or_else(|| bad("large sizes without the records of zip64 before the end"))?
        }
    };
    if disk != 0 && disk != u16::MAX || list_disk != 0 && list_disk != u16::MAX {
        return Err(bad("one part of a zip file in several").accepts("a file of one part"));
    }
    let within = start.checked_add(size).filter(|&end| end <= limit as u64).ok_or_else(|| {
        bad(format!("a list of {size} bytes at byte {start} of {}", file.len()))
            .rule("the list is before the end of the file")
    })?;
    Ok((start as usize, within as usize, count))
}

/// The count of members, the size and place of the list, and where the record begins that says them.
fn zip64(file: &[u8], end: usize) -> Option<(u64, u64, u64, usize)> {
    let place = usize::try_from(locator(file, end)?).ok()?;
    let mut record = Fields(file.get(place..end)?.strip_prefix(END_64)?);
    record.take(8 + 2 + 2 + 4 + 4 + 8)?;
    Some((record.u64()?, record.u64()?, record.u64()?, place))
}

/// Where the record of zip64 begins, which is before the end.
fn locator(file: &[u8], end: usize) -> Option<u64> {
    let mut locator = Fields(file.get(end.checked_sub(20)?..end)?.strip_prefix(LOCATOR)?);
    locator.u32()?;
    locator.u64().filter(|&place| place < end as u64)
}

/// What the list says of its next member; none where the list is cut off, and nothing where there is something else in it.
fn listed<'a>(fields: &mut Fields<'a>) -> Option<Option<Listed<'a>>> {
    if fields.take(4)? != CENTRAL {
        return Some(None);
    }
    fields.take(4)?;
    let (flags, method) = (fields.u16()?, fields.u16()?);
    fields.take(4)?;
    let crc = fields.u32()?;
    let (packed, bytes) = (fields.u32()?, fields.u32()?);
    let (name, extra, comment) = (fields.u16()?, fields.u16()?, fields.u16()?);
    fields.take(2 + 2 + 4)?;
    let start = fields.u32()?;
    let name = fields.take(name.into())?;
    let extra = fields.take(extra.into())?;
    let comment = String::from_utf8_lossy(fields.take(comment.into())?).into_owned();
    let mut large = zip64_extra(extra);
    let mut wide = |number: u32| match number {
        u32::MAX => large.u64(),
        number => Some(number.into()),
    };
    // In the order in which the extra field has those that do not fit.
    let bytes = wide(bytes)?;
    let (packed, start) = (wide(packed)?, wide(start)?);
    Some(Some(Listed { name, comment, flags, method, crc, packed, bytes, start }))
}

/// The next member of the list, which begins at byte `list` of the file; none where the list is cut off.
fn member(fields: &mut Fields, file: &[u8], list: u64) -> Option<Result<Member>> {
    let Some(listed) = listed(fields)? else {
        return Some(Err(bad("something else in the list of members").rule("each begins with PK\\x01\\x02")));
    };
    let Listed { name, comment, flags, method, crc, packed, bytes, start } = listed;
    let printed = shown(&String::from_utf8_lossy(name));
    let Ok(text) = std::str::from_utf8(name) else {
        return Some(Err(bad(format!("the member {printed}")).rule("names are UTF-8")));
    };
    if flags & 1 != 0 {
        return Some(Err(
            bad(format!("the member {printed} is encrypted")).accepts("a file without a password")
        ));
    }
    let way = match method {
        0 => Way::Plain,
        8 => Way::Deflated,
        other => Way::Other(other),
    };
    let lies = |found: String, rule: &str| Some(Err(bad(format!("the member {printed} {found}")).rule(rule)));
    if way == Way::Plain && packed != bytes {
        return lies(
            format!("has {packed} bytes and {bytes} unpacked"),
            "a stored member has the same number",
        );
    }
    if way == Way::Deflated && bytes / DEFLATE_LIMIT > packed {
        return lies(
            format!("has {packed} bytes, and {bytes} unpacked"),
            "deflate makes a byte of no more than 1032",
        );
    }
    let Some(at) = behind_local(file, start, name) else {
        return lies(format!("begins at byte {start}"), "its own header is there, with the same name");
    };
    if at.checked_add(packed).is_none_or(|end| end > list) {
        return lies(
            format!("has {packed} bytes from byte {at} on"),
            "members are before the list of members",
        );
    }
    Some(Ok(Member { name: text.to_owned(), comment, way, crc, at, packed, bytes, start }))
}

/// Where the bytes behind a local header begin, if it is one of a member of this name.
fn behind_local(file: &[u8], start: u64, name: &[u8]) -> Option<u64> {
    let start = usize::try_from(start).ok()?;
    let mut fields = Fields(file.get(start..)?.strip_prefix(LOCAL)?);
    fields.take(22)?;
    let (length, extra) = (fields.u16()?, fields.u16()?);
    let found = fields.take(length.into())?;
    (found == name).then_some((start + 30 + found.len() + usize::from(extra)) as u64)
}

/// The numbers in the extra field of zip64.
fn zip64_extra(extra: &[u8]) -> Fields<'_> {
    let mut fields = Fields(extra);
    loop {
        let next = fields
            .u16()
            .zip(fields.u16())
            .and_then(|(kind, length)| Some((kind, fields.take(length.into())?)));
        match next {
            Some((1, numbers)) => return Fields(numbers),
            Some(_) => {}
            None => return Fields(&[]),
        }
    }
}
