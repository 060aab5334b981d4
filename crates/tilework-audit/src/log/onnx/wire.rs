//! Protobuf, field by field. A model may be gigabytes of weights, so what is not wanted is passed over and never held.

use std::io::{self, BufRead, Read};

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Number(u64),
    /// As many bytes come next.
    Bytes(u64),
    /// A number of fixed width, which was passed over.
    Fixed,
}

/// A message that is read.
pub(super) struct Wire<R> {
    input: R,
    /// How many bytes were read.
    pub(super) at: u64,
}

impl<R: BufRead> Wire<R> {
    pub(super) fn new(input: R) -> Wire<R> {
        Wire { input, at: 0 }
    }

    fn byte(&mut self) -> io::Result<Option<u8>> {
        loop {
            match self.input.fill_buf() {
                Ok(bytes) => {
                    let first = bytes.first().copied();
                    if first.is_some() {
                        self.input.consume(1);
                        self.at += 1;
                    }
                    return Ok(first);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // A compressed file that ends early.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
                Err(error) => return Err(error),
            }
        }
    }

    fn number(&mut self) -> io::Result<Option<u64>> {
        let mut number = 0_u64;
        for piece in 0..10 {
            let Some(byte) = self.byte()? else { return Ok(None) };
            number |= u64::from(byte & 0x7f) << (7 * piece);
            if byte < 0x80 {
                return Ok(Some(number));
            }
        }
        Ok(None)
    }

    /// The number of the next field and what it holds; none at the end, and where there is no field.
    pub(super) fn field(&mut self) -> io::Result<Option<(u64, Field)>> {
        let Some(tag) = self.number()? else { return Ok(None) };
        let field = match tag & 7 {
            0 => self.number()?.map(Field::Number),
            1 => self.pass(8)?.then_some(Field::Fixed),
            2 => self.number()?.map(Field::Bytes),
            5 => self.pass(4)?.then_some(Field::Fixed),
            _ => None,
        };
        Ok(field.filter(|_| tag >> 3 > 0).map(|field| (tag >> 3, field)))
    }

    /// Passes bytes over; false if there are fewer.
    pub(super) fn pass(&mut self, mut bytes: u64) -> io::Result<bool> {
        while bytes > 0 {
            let there = match self.input.fill_buf() {
                Ok(there) => there.len(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => 0,
                Err(error) => return Err(error),
            };
            if there == 0 {
                return Ok(false);
            }
            let used = (there as u64).min(bytes);
            self.input.consume(used as usize);
            self.at += used;
            bytes -= used;
        }
        Ok(true)
    }

    /// Reads bytes; false if there are fewer.
    pub(super) fn bytes(&mut self, bytes: u64, into: &mut Vec<u8>) -> io::Result<bool> {
        into.clear();
        let read = match self.input.by_ref().take(bytes).read_to_end(into) {
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => 0,
            Err(error) => return Err(error),
        };
        self.at += read as u64;
        Ok(read as u64 == bytes)
    }
}

/// A field of a message that is in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

/// The fields of a message that is in memory, as far as it is one.
pub(super) fn pieces(mut message: &[u8]) -> impl Iterator<Item = (u64, Piece<'_>)> {
    std::iter::from_fn(move || {
        loop {
            let tag = varint(&mut message)?;
            let piece = match tag & 7 {
                0 => Piece::Number(varint(&mut message)?),
                2 => {
                    let length = usize::try_from(varint(&mut message)?).ok()?;
                    let (bytes, rest) = message.split_at_checked(length)?;
                    message = rest;
                    Piece::Bytes(bytes)
                }
                wire @ (1 | 5) => {
                    message = message.get(if wire == 1 { 8 } else { 4 }..)?;
                    continue;
                }
                _ => return None,
            };
            return Some((tag >> 3, piece));
        }
    })
}

/// The number that bytes begin with, which are then behind it.
pub(super) fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for piece in 0..10 {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << (7 * piece);
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

/// Numbers of a repeated field, which may be written one by one or all together.
pub(super) fn numbers(piece: Piece<'_>, into: &mut Vec<u64>) {
    match piece {
        Piece::Number(number) => into.push(number),
        Piece::Bytes(mut bytes) => {
            while let Some(number) = varint(&mut bytes) {
                into.push(number);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_the_same_from_a_file_and_in_memory() {
        // 1: 300, 2: "ab", 3: eight bytes, 4: four bytes, 5: [1, 2].
        let message =
            [&[0x08, 0xac, 0x02, 0x12, 2, b'a', b'b', 0x19][..], &[0; 8], &[0x25, 0, 0, 0, 0, 0x2a, 2, 1, 2]]
                .concat();
        let mut wire = Wire::new(&message[..]);
        let mut bytes = Vec::new();
        assert_eq!(wire.field().unwrap(), Some((1, Field::Number(300))));
        assert_eq!(wire.field().unwrap(), Some((2, Field::Bytes(2))));
        assert!(wire.bytes(2, &mut bytes).unwrap());
        assert_eq!((&bytes[..], wire.at), (&b"ab"[..], 7));
        assert_eq!(wire.field().unwrap(), Some((3, Field::Fixed)));
        assert_eq!(wire.field().unwrap(), Some((4, Field::Fixed)));
        assert_eq!(wire.field().unwrap(), Some((5, Field::Bytes(2))));
        assert!(!wire.pass(3).unwrap());
        assert_eq!(wire.field().unwrap(), None);

        let found: Vec<_> = pieces(&message).collect();
        assert_eq!(found.len(), 3);
        assert_eq!(found[1], (2, Piece::Bytes(b"ab")));
        let mut list = Vec::new();
        numbers(found[2].1, &mut list);
        numbers(found[0].1, &mut list);
        assert_eq!(list, [1, 2, 300]);
        // Whatever it is cut to, it ends.
        for cut in 0..message.len() {
            assert!(pieces(&message[..cut]).count() <= 3);
        }
    }
}
