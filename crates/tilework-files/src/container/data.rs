//! The bytes of an array of a container: those of the mapped file, or unpacked.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;

use flate2::Crc;
use flate2::read::DeflateDecoder;
use tilework::{Error, Result};
use tilework_copy::{Mapped, MappedMut, Threads};

use super::json::shown;
use super::{Container, Content, Pieces, Stored, Tensor};
use crate::destination;
use crate::source::{Array, failed};

/// Arrays up to this many bytes are unpacked in memory.
const SMALL: u64 = 16 << 20;

/// Bytes at a time.
const CHUNK: usize = 4 << 20;

/// The bytes of an array.
pub struct Data<'a>(Bytes<'a>);

enum Bytes<'a> {
    Held(Array<'a>),
    Unpacked(Vec<u8>),
    /// A file without a name, so that arrays may be larger than memory.
    Scratch(Mapped, String),
}

impl<'a> Data<'a> {
    /// The bytes, if the container has them as they are: then they live as long as it.
    pub fn held(&self) -> Option<Array<'a>> {
        match &self.0 {
            Bytes::Held(array) => Some(*array),
            Bytes::Unpacked(_) | Bytes::Scratch(..) => None,
        }
    }

    /// The bytes, as an array to move.
    pub fn array(&self) -> Array<'_> {
        match &self.0 {
            Bytes::Held(array) => *array,
            Bytes::Unpacked(bytes) => Array::from(&bytes[..]),
            Bytes::Scratch(map, name) => Array::mapped(map, map, name),
        }
    }
}

impl Container {
    /// The bytes of one of its arrays. One that is deflated, or in pieces, is unpacked, into a file without a name in the folder `scratch` if
    /// it is large.
    ///
    /// # Errors
    /// A file that was cut short since it was opened; deflated bytes that are not what the list says, in number or checksum.
    pub fn data(&self, tensor: &Tensor, scratch: &Path) -> Result<Data<'_>> {
        if let Some(pieces) = self.pieces(tensor) {
            return gather(tensor, pieces, scratch).map(Data);
        }
        let Stored { file, at, bytes, packed, crc } = &tensor.stored;
        let held = &self.files[*file];
        let of_tensor =
            |error: Error| crate::source::within(&format!("{}: {}", held.name, shown(&tensor.name)), &error);
        // Readers of headers have checked that it is within the file.
        let range = |start: u64, len: u64| held.array(start as usize..(start + len) as usize);
        let Some(packed) = packed else {
            let array = range(*at, *bytes);
            if let Some((crc, skip)) = crc {
                let whole = range(at - skip, skip + bytes);
                let mut sum = Crc::new();
                for chunk in whole.chunks(CHUNK) {
                    sum.update(chunk);
                    whole.forget();
                }
                same(sum.sum(), *crc).map_err(of_tensor)?;
            }
            array.intact()?;
            return Ok(Data(Bytes::Held(array)));
        };
        let source = range(*at, packed.len);
        let mut inflate =
            Inflate { stream: DeflateDecoder::new(&source), crc: Crc::new(), left: packed.skip + bytes };
        let want = crc.map(|(crc, _)| crc);
        let unpacked = inflate.skip(packed.skip).and_then(|()| match *bytes <= SMALL {
            true => {
                let mut memory = Vec::new();
                inflate.write(&mut memory, want)?;
                Ok(Bytes::Unpacked(memory))
            }
            false => {
                let name = scratch.display().to_string();
                let fail = |error: io::Error| failed(&name, &error);
                let file = destination::scratch(scratch).map_err(fail)?;
                destination::fits(&file, *bytes, &name)?;
                let mut out = BufWriter::with_capacity(CHUNK, &file);
                inflate.write(&mut out, want)?;
                out.flush().map_err(fail)?;
                drop(out);
                Ok(Bytes::Scratch(map(&file).map_err(fail)?, format!("what was unpacked in {name}")))
            }
        });
        // First: of a file that was cut short a part was read as zeros.
        source.intact()?;
        unpacked.map(Data).map_err(of_tensor)
    }
}

/// Brings the pieces of an array together, in the layout that it says.
fn gather(tensor: &Tensor, pieces: &dyn Pieces, scratch: &Path) -> Result<Bytes<'static>> {
    let Content::Array(array) = &tensor.content else { return Ok(Bytes::Unpacked(Vec::new())) };
    let list = pieces.list().transpose()?;
    let to = list.as_ref().map_or((&array.layout, array.element), |(layout, element)| (layout, *element));
    let bytes = to.0.bytes();
    let step = pieces.within(SMALL);
    let mut all = (0..pieces.count()).step_by(usize::try_from(step).unwrap_or(usize::MAX));
    let end = |start: u64| start.saturating_add(step).min(pieces.count());
    if bytes <= SMALL {
        let mut memory = vec![0; bytes as usize];
        all.try_for_each(|start| pieces.put(start..end(start), to, &mut memory, &Threads::all()))?;
        return Ok(Bytes::Unpacked(memory));
    }
    let name = scratch.display().to_string();
    let fail = |error: io::Error| failed(&name, &error);
    let file = destination::scratch(scratch).map_err(fail)?;
    destination::fits(&file, bytes, &name)?;
    let mut out = MappedMut::create(&file, bytes).map_err(fail)?;
    for start in all {
        pieces.put(start..end(start), to, &mut out, &Threads::all())?;
        out.forget();
    }
    Ok(Bytes::Scratch(map(&file).map_err(fail)?, format!("what was gathered in {name}")))
}

fn map(file: &File) -> io::Result<Mapped> {
    Mapped::read(file)
}

fn same(found: u32, want: u32) -> Result<()> {
    match found == want {
        true => Ok(()),
        false => Err(Error::new(format!("bytes with the checksum {found:08x}"))
            .rule(format!("the zip file says {want:08x}"))
            .accepts("the file as it was written")),
    }
}

/// Unpacks a member, no further than its list says.
struct Inflate<'a> {
    stream: DeflateDecoder<&'a [u8]>,
    crc: Crc,
    left: u64,
}

impl Inflate<'_> {
    fn read(&mut self, chunk: &mut [u8]) -> Result<usize> {
        let count = self
            .stream
            .read(chunk)
            .map_err(|error| Error::new(format!("deflated bytes that cannot be unpacked: {error}")))?;
        self.left = self.left.checked_sub(count as u64).ok_or_else(|| {
            Error::new("more bytes than the zip file says")
                .rule("unpacking ends where the list of members says")
        })?;
        self.crc.update(&chunk[..count]);
        Ok(count)
    }

    /// Passes over what is before the array.
    fn skip(&mut self, mut bytes: u64) -> Result<()> {
        let mut chunk = [0; 4096];
        while bytes > 0 {
            let most = chunk.len().min(usize::try_from(bytes).unwrap_or(usize::MAX));
            let count = self.read(&mut chunk[..most])?;
            if count == 0 {
                return Err(missing());
            }
            bytes -= count as u64;
        }
        Ok(())
    }

    /// Writes all the rest.
    fn write(&mut self, out: &mut dyn Write, crc: Option<u32>) -> Result<()> {
        let mut chunk = vec![0; CHUNK];
        loop {
            let count = self.read(&mut chunk)?;
            if count == 0 {
                break;
            }
            out.write_all(&chunk[..count]).map_err(|error| Error::new(error.to_string()))?;
        }
        if self.left > 0 {
            return Err(missing());
        }
        crc.map_or(Ok(()), |crc| same(self.crc.sum(), crc))
    }
}

fn missing() -> Error {
    Error::new("fewer bytes than the zip file says")
        .rule("a member unpacks to as many bytes as the list says")
}
