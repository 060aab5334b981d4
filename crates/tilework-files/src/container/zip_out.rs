//! New npz files: members that are stored, each at a multiple of 64 bytes, so that they can be mapped.
//!
//! Sizes that do not fit 32 bits are in the fields of zip64. Nothing in the file depends on the day on which it was written.

use tilework::{Error, Result};

use super::frame::{Around, Entry, Frame, npy_header};
use super::npz::COMMENT;

/// Members begin at multiples of this.
const ALIGN: u64 = 64;

/// A field without meaning, for the bytes before a member that begins further on. Android's tools use the same.
const PADDING: u16 = 0xd935;

/// The first of January 1980, as NumPy writes it.
const DATE: [u8; 4] = [0, 0, 0x21, 0];

/// The members of a new file.
#[derive(Debug)]
pub(crate) struct List {
    members: Vec<Member>,
    /// Where the list begins that ends the file.
    start: u64,
}

#[derive(Debug)]
struct Member {
    name: String,
    comment: String,
    /// Where its local header is, and the bytes before the npy file.
    start: u64,
    padding: Vec<u8>,
    head: Vec<u8>,
    /// Bytes of the array.
    bytes: u64,
}

impl Member {
    fn whole(&self) -> u64 {
        self.head.len() as u64 + self.bytes
    }

    /// Whether a size or a place does not fit 32 bits.
    fn is_wide(&self) -> bool {
        self.whole() >= u64::from(u32::MAX) || self.start >= u64::from(u32::MAX)
    }

    /// What both headers say; `extra` is the length of the extra fields.
    fn common(&self, sum: u32, extra: usize) -> Vec<u8> {
        let is_ascii = self.name.is_ascii() && self.comment.is_ascii();
        let flags: u16 = if is_ascii { 0 } else { 0x800 }; // UTF-8
        let version: u16 = if self.is_wide() { 45 } else { 20 };
        let size = if self.is_wide() { u32::MAX } else { self.whole() as u32 };
        let mut bytes = [version.to_le_bytes(), flags.to_le_bytes(), [0, 0]].concat();
        bytes.extend(DATE);
        for number in [sum, size, size] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend((self.name.len() as u16).to_le_bytes());
        bytes.extend((extra as u16).to_le_bytes());
        bytes
    }

    /// The field of zip64, where it is wanted.
    fn wide(&self, with_start: bool) -> Vec<u8> {
        if !self.is_wide() {
            return Vec::new();
        }
        let mut numbers = vec![self.whole(), self.whole()];
        numbers.extend(with_start.then_some(self.start));
        let mut field = [1_u16.to_le_bytes(), (8 * numbers.len() as u16).to_le_bytes()].concat();
        numbers.iter().for_each(|number| field.extend(number.to_le_bytes()));
        field
    }

    fn local(&self, sum: u32) -> Vec<u8> {
        let extra = [self.wide(false), self.padding.clone()].concat();
        [b"PK\x03\x04", &self.common(sum, extra.len())[..], self.name.as_bytes(), &extra].concat()
    }

    fn central(&self, sum: u32) -> Vec<u8> {
        let extra = self.wide(true);
        let start = if self.is_wide() { u32::MAX } else { self.start as u32 };
        let mut bytes = [&b"PK\x01\x02\x2d\x00"[..], &self.common(sum, extra.len())].concat();
        bytes.extend((self.comment.len() as u16).to_le_bytes());
        bytes.extend([0; 8]);
        bytes.extend(start.to_le_bytes());
        [&bytes, self.name.as_bytes(), &extra, self.comment.as_bytes()].concat()
    }
}

/// A new file with these arrays.
pub(crate) fn frame(entries: &[Entry]) -> Result<Frame> {
    let (mut members, mut places) = (Vec::with_capacity(entries.len()), Vec::with_capacity(entries.len()));
    let mut end = 0_u64;
    for Entry { name, body } in entries {
        let comment = body.note.as_ref().map(|note| format!("{COMMENT}{note}")).unwrap_or_default();
        let head = npy_header(body)?;
        let mut member = Member {
            name: format!("{name}.npy"),
            comment,
            start: end,
            padding: Vec::new(),
            head,
            bytes: body.bytes,
        };
        if member.name.len().max(member.comment.len()) > usize::from(u16::MAX) {
            return Err(Error::new(format!(
                "{} bytes of a name or a layout",
                member.name.len().max(member.comment.len())
            ))
            .rule("a zip file has up to 65535 for each"));
        }
        // The field of padding has at least 4 bytes itself.
        let behind = end + member.local(0).len() as u64 + 4;
        let padding = behind.next_multiple_of(ALIGN) - behind;
        member.padding = [PADDING.to_le_bytes(), (padding as u16).to_le_bytes()].concat();
        member.padding.resize(4 + padding as usize, 0);
        let place = end + member.local(0).len() as u64 + member.head.len() as u64;
        let next = place.checked_add(body.bytes);
        end = next.ok_or_else(|| Error::new("more bytes than 64 bits count"))?;
        places.push(place);
        members.push(member);
    }
    let list = List { members, start: end };
    let tail = list.tail(&vec![0; entries.len()]).len() as u64;
    Ok(Frame { bytes: end + tail, places, around: Around::Zip(list) })
}

impl List {
    /// All but the arrays; `sum` is the checksum of an array with what is before it.
    pub(crate) fn pieces(&self, sum: &mut dyn FnMut(usize, &[u8]) -> u32) -> Vec<(u64, Vec<u8>)> {
        let sums: Vec<u32> =
            self.members.iter().enumerate().map(|(at, member)| sum(at, &member.head)).collect();
        let mut pieces: Vec<(u64, Vec<u8>)> = self
            .members
            .iter()
            .zip(&sums)
            .map(|(member, &sum)| (member.start, [member.local(sum), member.head.clone()].concat()))
            .collect();
        pieces.push((self.start, self.tail(&sums)));
        pieces
    }

    /// The list and the end of the file. Its length depends on no checksum.
    fn tail(&self, sums: &[u32]) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.members.iter().zip(sums).for_each(|(member, &sum)| bytes.extend(member.central(sum)));
        let (count, size) = (self.members.len() as u64, bytes.len() as u64);
        let is_wide = count >= u64::from(u16::MAX) || self.start + size >= u64::from(u32::MAX);
        if is_wide {
            let record = self.start + size;
            bytes.extend([&b"PK\x06\x06"[..], &44_u64.to_le_bytes(), &[45, 0, 45, 0], &[0; 8]].concat());
            [count, count, size, self.start].iter().for_each(|number| bytes.extend(number.to_le_bytes()));
            bytes.extend([&b"PK\x06\x07"[..], &[0; 4], &record.to_le_bytes(), &1_u32.to_le_bytes()].concat());
        }
        let small = |number: u64| if is_wide { u32::MAX } else { number as u32 };
        let count = if is_wide { u16::MAX } else { count as u16 };
        bytes.extend([&b"PK\x05\x06"[..], &[0; 4], &count.to_le_bytes(), &count.to_le_bytes()].concat());
        bytes.extend([small(size).to_le_bytes(), small(self.start).to_le_bytes()].concat());
        bytes.extend([0; 2]);
        bytes
    }
}
