//! Bytes in the order in which they stand, and the frame around every manifest and node.

use std::io::Read;

use tilework::{Error, ErrorKind, Result};

use crate::zarr::sum;

/// Bytes that are read one after the other.
pub(super) struct Bytes<'a> {
    rest: &'a [u8],
}

/// More is said than is there.
pub(super) fn short() -> Error {
    Error::new("it ends too early").of_kind(ErrorKind::Syntax)
}

impl<'a> Bytes<'a> {
    pub(super) fn new(rest: &'a [u8]) -> Bytes<'a> {
        Bytes { rest }
    }

    /// What is left.
    pub(super) fn len(&self) -> usize {
        self.rest.len()
    }

    pub(super) fn take(&mut self, count: u64) -> Result<&'a [u8]> {
        let count = usize::try_from(count).map_err(|_| short())?;
        let (taken, rest) = self.rest.split_at_checked(count).ok_or_else(short)?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or_else(short)?;
        self.rest = rest;
        Ok(*taken)
    }

    pub(super) fn byte(&mut self) -> Result<u8> {
        Ok(self.array::<1>()?[0])
    }

    /// A number of 7 bits a byte, the least significant first.
    pub(super) fn number(&mut self) -> Result<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                break;
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(Error::new("a number of more than 64 bits").of_kind(ErrorKind::Overflow))
    }

    /// As many numbers. Each is a byte or more, so more than there are bytes are refused before memory is taken.
    pub(super) fn numbers(&mut self, count: u64) -> Result<Vec<u64>> {
        if count > self.rest.len() as u64 {
            return Err(short());
        }
        (0..count).map(|_| self.number()).collect()
    }

    /// Nothing is left.
    pub(super) fn end(&self) -> Result<()> {
        match self.rest.len() {
            0 => Ok(()),
            more => Err(Error::new(format!("{more} bytes behind its end")).of_kind(ErrorKind::Syntax)),
        }
    }
}

/// What is in a frame: magic bytes, the length, a version, a compression, the body, and a checksum. Up to `most` bytes.
pub(super) fn unframed(framed: &[u8], magic: u32, noun: &str, most: u64) -> Result<Vec<u8>> {
    let mut bytes = Bytes::new(framed);
    let found = u32::from_be_bytes(bytes.array()?);
    if found != magic {
        return Err(Error::new(format!("it begins with {found:08x}"))
            .of_kind(ErrorKind::Syntax)
            .rule(format!("a {noun} begins with {magic:08x}")));
    }
    let length = u64::from_le_bytes(bytes.array()?);
    if length != framed.len() as u64 {
        return Err(Error::new(format!("{} bytes", framed.len()))
            .of_kind(ErrorKind::Syntax)
            .rule(format!("the {noun} says that it has {length}")));
    }
    // A sum of all before it; behind it nothing is left, so what is checked is all that is read.
    let mut bytes = Bytes::new(&sum::checked(framed)?[framed.len() - bytes.len()..]);
    match bytes.number()? {
        0 => {}
        version => {
            return Err(Error::new(format!("version {version} of the format"))
                .of_kind(ErrorKind::Unsupported)
                .accepts("version 0"));
        }
    }
    let too_many = || {
        Error::new(format!("a {noun} of more than {most} bytes"))
            .of_kind(ErrorKind::Limit)
            .rule("all keys of a database are held in memory")
    };
    match bytes.number()? {
        0 if bytes.len() as u64 > most => Err(too_many()),
        0 => Ok(bytes.rest.to_vec()),
        1 => {
            let mut body = Vec::new();
            zstd::stream::read::Decoder::with_buffer(bytes.rest)
                .and_then(|stream| stream.take(most.saturating_add(1)).read_to_end(&mut body))
                .map_err(|error| {
                    Error::new(format!("bytes that zstd cannot decode: {error}")).of_kind(ErrorKind::Syntax)
                })?;
            if body.len() as u64 > most { Err(too_many()) } else { Ok(body) }
        }
        other => Err(Error::new(format!("compression {other}"))
            .of_kind(ErrorKind::Unsupported)
            .accepts("0, which is none, or 1, which is zstd")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_up_to_64_bits() -> Result<()> {
        let read = |bytes: &[u8]| Bytes::new(bytes).number();
        assert_eq!(read(&[0x7f])?, 127);
        assert_eq!(read(&[0x80, 0x01])?, 128);
        assert_eq!(read(&[[0xff; 9].as_slice(), &[0x01]].concat())?, u64::MAX);
        for wrong in [&[][..], &[0x80], &[0xff; 9], &[0xff; 10], &[[0xff; 9].as_slice(), &[0x02]].concat()] {
            assert!(read(wrong).is_err(), "{wrong:?}");
        }
        assert!(Bytes::new(&[1, 2]).numbers(u64::MAX).is_err());
        Ok(())
    }
}
