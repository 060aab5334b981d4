//! The bytes of an array of a container: those of the mapped file, or unpacked.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use flate2::Crc;
use flate2::read::DeflateDecoder;
use tilework::{Error, Result};
use tilework_copy::{Mapped, MappedMut, Threads};

use super::json::shown;
use super::{Container, Content, Pieces, Stored, Tensor};
use crate::source::{Array, failed};
use crate::{destination, reverse};

/// Arrays up to this many bytes are unpacked in memory.
const SMALL: u64 = 16 << 20;

/// Bytes at a time.
const CHUNK: usize = 4 << 20;

/// The bytes of an array, the least significant of each number first.
pub enum Data<'a> {
    /// The container has them like this, so they live as long as it.
    Held(Array<'a>),
    /// In memory.
    Unpacked(Vec<u8>),
    /// In a file without a name, so that arrays may be larger than memory; with a name for messages.
    Scratch(Mapped, String),
}

impl Data<'_> {
    /// The bytes, as an array to move.
    pub fn array(&self) -> Array<'_> {
        match self {
            Data::Held(array) => *array,
            Data::Unpacked(bytes) => Array::from(&bytes[..]),
            Data::Scratch(map, name) => Array::mapped(map, map, name),
        }
    }
}

impl Container {
    /// The bytes of one of its arrays. One that is deflated, in pieces, or stored with the most significant byte of each number first
    /// is written as it is wanted, into a file without a name in the folder `scratch` if it is large.
    ///
    /// # Errors
    /// A file that was cut short since it was opened; deflated bytes that are not what the list says, in number or checksum.
    pub fn data(&self, tensor: &Tensor, scratch: &Path) -> Result<Data<'_>> {
        if let Some(pieces) = self.pieces(tensor) {
            return gather(tensor, pieces, scratch);
        }
        let Stored { file, at, bytes, packed, crc, checked, reversed } = &tensor.stored;
        let held = &self.files[*file];
        let of_tensor =
            |error: Error| crate::source::within(&format!("{}: {}", held.name, shown(&tensor.name)), &error);
        // Readers of headers have checked that it is within the file.
        let range = |start: u64, len: u64| held.array(start..start + len);
        let Some(packed) = packed else {
            let array = range(*at, *bytes)?;
            if let Some((crc, skip)) = crc.filter(|_| checked.get().is_none()) {
                let whole = range(at - skip, skip + bytes)?;
                let mut sum = Crc::new();
                for chunk in whole.chunks(CHUNK) {
                    sum.update(chunk);
                    whole.forget();
                }
                same(sum.sum(), crc).map_err(of_tensor)?;
                let _ = checked.set(()); // by this thread or another
            }
            array.intact()?;
            if *reversed == 0 {
                return Ok(Data::Held(array));
            }
            let mut chunks = array.chunks(CHUNK);
            let turned = unpacked(*bytes, *reversed, scratch, &mut |chunk| {
                let Some(next) = chunks.next() else { return Ok(0) };
                chunk[..next.len()].copy_from_slice(next);
                array.forget();
                Ok(next.len())
            });
            // First: of a file that was cut short a part was read as zeros.
            array.intact()?;
            return turned.map_err(of_tensor);
        };
        let source = range(*at, packed.len)?;
        let mut inflate =
            Inflate { stream: DeflateDecoder::new(&source), crc: Crc::new(), left: packed.skip + bytes };
        let want = crc.map(|(crc, _)| crc);
        let inflated = inflate
            .skip(packed.skip)
            .and_then(|()| unpacked(*bytes, *reversed, scratch, &mut |chunk| inflate.fill(chunk, want)));
        source.intact()?;
        inflated.map_err(of_tensor)
    }
}

impl Container {
    /// How many bytes of memory [`Container::data`] takes for an array: none where it is mapped, as it is or in a file without a name.
    pub fn memory(&self, tensor: &Tensor) -> u64 {
        let Stored { bytes, packed, reversed, .. } = &tensor.stored;
        let is_mapped = packed.is_none() && *reversed == 0 && self.pieces(tensor).is_none();
        if is_mapped || *bytes > SMALL { 0 } else { *bytes }
    }
}

/// What `next` gives in chunks, which are full but for the last, with the bytes of each number reversed.
fn unpacked(
    bytes: u64,
    reversed: usize,
    scratch: &Path,
    next: &mut dyn FnMut(&mut [u8]) -> Result<usize>,
) -> Result<Data<'static>> {
    let mut chunk = vec![0; usize::try_from(bytes).unwrap_or(CHUNK).clamp(1, CHUNK)]; // whole numbers
    let mut all = |out: &mut dyn Write| -> Result<()> {
        loop {
            let count = next(&mut chunk)?;
            if count == 0 {
                return Ok(());
            }
            reverse(&mut chunk[..count], reversed);
            out.write_all(&chunk[..count]).map_err(|error| Error::new(error.to_string()))?;
        }
    };
    if bytes <= SMALL {
        let mut memory = Vec::new();
        all(&mut memory)?;
        return Ok(Data::Unpacked(memory));
    }
    let name = scratch.display().to_string();
    let fail = |error: io::Error| failed(&name, &error);
    let file = destination::scratch(scratch).map_err(fail)?;
    destination::fits(&file, bytes, &name)?;
    all(&mut &file)?;
    Ok(Data::Scratch(map(&file).map_err(fail)?, format!("what was unpacked in {name}")))
}

/// Brings the pieces of an array together, in the layout that it says.
fn gather(tensor: &Tensor, pieces: &dyn Pieces, scratch: &Path) -> Result<Data<'static>> {
    let Content::Array(array) = &tensor.content else { return Ok(Data::Unpacked(Vec::new())) };
    let list = pieces.list().transpose()?;
    let to = list.as_ref().map_or((&array.layout, array.element), |(layout, element)| (layout, *element));
    let bytes = to.0.bytes();
    let step = pieces.within(SMALL);
    let mut all = (0..pieces.count()).step_by(usize::try_from(step).unwrap_or(usize::MAX));
    let end = |start: u64| start.saturating_add(step).min(pieces.count());
    if bytes <= SMALL {
        let mut memory = vec![0; bytes as usize];
        all.try_for_each(|start| pieces.put(start..end(start), to, &mut memory, &Threads::all()))?;
        return Ok(Data::Unpacked(memory));
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
    Ok(Data::Scratch(map(&file).map_err(fail)?, format!("what was gathered in {name}")))
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

    /// Fills all of a chunk, or as much of it as there is. At the end the checksum is to be `crc`.
    fn fill(&mut self, chunk: &mut [u8], crc: Option<u32>) -> Result<usize> {
        let mut done = 0;
        while done < chunk.len() {
            match self.read(&mut chunk[done..])? {
                0 => break,
                count => done += count,
            }
        }
        match done {
            0 if self.left > 0 => Err(missing()),
            0 => crc.map_or(Ok(0), |crc| same(self.crc.sum(), crc).map(|()| 0)),
            done => Ok(done),
        }
    }
}

fn missing() -> Error {
    Error::new("fewer bytes than the zip file says")
        .rule("a member unpacks to as many bytes as the list says")
}
