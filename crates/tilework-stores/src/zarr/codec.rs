//! The codecs of bytes: what compresses a chunk, and what sums it.
//!
//! Whatever a chunk is, it becomes as many bytes as its layout has, and not one more: each codec writes into memory of that size,
//! so a chunk that would unpack to a terabyte is an error after the first byte too many.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::{MultiGzDecoder, ZlibDecoder};
use tilework::{Error, Result};

use super::{blosc, sum};

/// A codec of bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Codec {
    /// Deflate in a gzip file, of this level.
    Gzip(u32),
    /// Deflate in zlib's frame; of version 2 alone.
    Zlib,
    /// Frames of Zstandard, of this level; with a checksum of the contents or without.
    Zstd(i32, bool),
    /// Bytes with their CRC-32C behind them.
    Crc32c,
    /// Blocks that c-blosc wrote. They are read only.
    Blosc,
    /// A size of four bytes and a block of LZ4; of version 2 alone.
    Lz4,
}

impl Codec {
    /// What Zarr calls it.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Codec::Gzip(_) => "gzip",
            Codec::Zlib => "zlib",
            Codec::Zstd(..) => "zstd",
            Codec::Crc32c => "crc32c",
            Codec::Blosc => "blosc",
            Codec::Lz4 => "lz4",
        }
    }

    /// The most bytes that this many become.
    fn most(&self, bytes: usize) -> usize {
        match self {
            Codec::Crc32c => bytes.saturating_add(sum::BYTES),
            // None of them makes much more of what cannot be compressed.
            _ => bytes.saturating_add(bytes / 8).saturating_add(1 << 16),
        }
    }

    /// Decodes into all of `out`.
    fn decode(&self, bytes: &[u8], out: &mut [u8]) -> Result<()> {
        let broken = |what: &dyn std::fmt::Display| {
            Error::new(format!("{} bytes that {} cannot decode: {what}", bytes.len(), self.name()))
                .accepts("the chunk as it was written")
        };
        match self {
            Codec::Gzip(_) => exactly(MultiGzDecoder::new(bytes), out).map_err(|error| broken(&error)),
            Codec::Zlib => exactly(ZlibDecoder::new(bytes), out).map_err(|error| broken(&error)),
            Codec::Zstd(..) => match zstd::bulk::decompress_to_buffer(bytes, out) {
                Ok(count) if count == out.len() => Ok(()),
                Ok(count) => Err(broken(&fewer(count, out.len()))),
                Err(error) => Err(broken(&error)),
            },
            Codec::Crc32c => {
                let plain = sum::checked(bytes)?;
                if plain.len() != out.len() {
                    return Err(broken(&fewer(plain.len(), out.len())));
                }
                out.copy_from_slice(plain);
                Ok(())
            }
            Codec::Blosc => blosc::decode(bytes, out).map_err(|error| broken(&error)),
            Codec::Lz4 => lz4(bytes, out).map_err(|error| broken(&error)),
        }
    }

    /// The same for bytes whose number is not known, but no more than `most`.
    fn decode_some(&self, bytes: &[u8], most: usize) -> Result<Vec<u8>> {
        let too_many = || {
            Error::new(format!("more than {most} bytes out of {}", self.name()))
                .rule("what a codec is given is about as large as the chunk")
        };
        let all = |stream: &mut dyn Read| -> std::io::Result<Vec<u8>> {
            let mut out = Vec::new();
            stream.take(most as u64 + 1).read_to_end(&mut out)?;
            Ok(out)
        };
        let streamed = match self {
            Codec::Gzip(_) => all(&mut MultiGzDecoder::new(bytes)),
            Codec::Zlib => all(&mut ZlibDecoder::new(bytes)),
            Codec::Zstd(..) => {
                zstd::stream::read::Decoder::with_buffer(bytes).and_then(|mut stream| all(&mut stream))
            }
            Codec::Crc32c => return sum::checked(bytes).map(<[u8]>::to_vec),
            Codec::Blosc | Codec::Lz4 => {
                let size = match self {
                    Codec::Blosc => blosc::size(bytes)?,
                    _ => lz4_size(bytes)?,
                };
                if size > most {
                    return Err(too_many());
                }
                let mut out = vec![0; size];
                self.decode(bytes, &mut out)?;
                return Ok(out);
            }
        };
        let out = streamed.map_err(|error| {
            Error::new(format!("{} bytes that {} cannot decode: {error}", bytes.len(), self.name()))
        })?;
        if out.len() > most { Err(too_many()) } else { Ok(out) }
    }

    /// Encodes bytes.
    ///
    /// # Errors
    /// A codec that is only read.
    fn encode(&self, bytes: &[u8]) -> Result<Vec<u8>> {
        let failed = |error: std::io::Error| Error::new(format!("{}: {error}", self.name()));
        match self {
            Codec::Gzip(level) => {
                let mut out = flate2::write::GzEncoder::new(Vec::new(), Compression::new(*level));
                out.write_all(bytes).and_then(|()| out.finish()).map_err(failed)
            }
            Codec::Zstd(level, has_sum) => {
                let mut out = zstd::bulk::Compressor::new(*level).map_err(failed)?;
                out.include_checksum(*has_sum).map_err(failed)?;
                out.compress(bytes).map_err(failed)
            }
            Codec::Crc32c => Ok([bytes, &sum::crc32c(bytes).to_le_bytes()].concat()),
            Codec::Zlib | Codec::Blosc | Codec::Lz4 => Err(Error::new(format!("the codec {}", self.name()))
                .rule("it is read and not written")
                .accepts("zstd, gzip or none")),
        }
    }
}

impl Codec {
    /// About how many nanoseconds of a processor a byte takes that is decoded, and that is encoded: of numbers that become half of
    /// what they were. What compresses better takes less.
    fn nanoseconds(&self) -> (f64, f64) {
        match self {
            Codec::Gzip(level) => (5.0, 8.0 + 4.0 * f64::from(*level)),
            Codec::Zlib => (5.0, 0.0),
            Codec::Zstd(level, _) => (1.0, if *level <= 1 { 2.5 } else { 1.2 * f64::from(*level) + 1.3 }),
            Codec::Crc32c => (0.2, 0.2),
            Codec::Blosc | Codec::Lz4 => (0.7, 0.0),
        }
    }
}

/// About how many nanoseconds decoding a chunk of so many bytes takes.
pub(crate) fn decoding(codecs: &[Codec], bytes: u64) -> u64 {
    (codecs.iter().map(|codec| codec.nanoseconds().0).sum::<f64>() * bytes as f64) as u64
}

/// The same for encoding one.
pub(crate) fn encoding(codecs: &[Codec], bytes: u64) -> u64 {
    (codecs.iter().map(|codec| codec.nanoseconds().1).sum::<f64>() * bytes as f64) as u64
}

/// Decodes the bytes of a chunk, of which there are `out.len()` in the end; `codecs` are in the order of writing.
pub(crate) fn decode(codecs: &[Codec], bytes: &[u8], out: &mut [u8]) -> Result<()> {
    let Some((first, others)) = codecs.split_first() else {
        if bytes.len() != out.len() {
            return Err(Error::new(format!("a chunk of {} bytes", bytes.len()))
                .rule(format!("its sizes say {}", out.len()))
                .accepts("the chunk as it was written"));
        }
        out.copy_from_slice(bytes);
        return Ok(());
    };
    let mut held: Option<Vec<u8>> = None;
    for (number, codec) in others.iter().enumerate().rev() {
        let most = codecs[..=number].iter().fold(out.len(), |most, codec| codec.most(most));
        held = Some(codec.decode_some(held.as_deref().unwrap_or(bytes), most)?);
    }
    first.decode(held.as_deref().unwrap_or(bytes), out)
}

/// Encodes the bytes of a chunk.
pub(crate) fn encode(codecs: &[Codec], bytes: Vec<u8>) -> Result<Vec<u8>> {
    codecs.iter().try_fold(bytes, |bytes, codec| codec.encode(&bytes))
}

/// Reads all of a stream, which is to give as many bytes as `out` has.
fn exactly(mut stream: impl Read, out: &mut [u8]) -> std::io::Result<()> {
    let mut done = 0;
    while done < out.len() {
        match stream.read(&mut out[done..])? {
            0 => return Err(std::io::Error::other(fewer(done, out.len()))),
            count => done += count,
        }
    }
    match stream.read(&mut [0])? {
        0 => Ok(()),
        _ => Err(std::io::Error::other(format!("more than the {} bytes of the chunk", out.len()))),
    }
}

fn fewer(found: usize, wanted: usize) -> String {
    format!("{found} bytes of {wanted}")
}

fn lz4_size(bytes: &[u8]) -> Result<usize> {
    let size = bytes.first_chunk().map(|size| u32::from_le_bytes(*size) as usize);
    size.ok_or_else(|| Error::new("a chunk of lz4 without its size"))
}

/// The codec of numcodecs: the size, and one block.
fn lz4(bytes: &[u8], out: &mut [u8]) -> Result<()> {
    let size = lz4_size(bytes)?;
    if size != out.len() {
        return Err(Error::new(fewer(size, out.len())));
    }
    match lz4_flex::block::decompress_into(&bytes[4..], out) {
        Ok(count) if count == out.len() => Ok(()),
        Ok(count) => Err(Error::new(fewer(count, out.len()))),
        Err(error) => Err(Error::new(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Vec<u8> {
        (0..100_000_u32).flat_map(|at| (at / 7).to_le_bytes()).collect()
    }

    #[test]
    fn what_is_encoded_is_decoded() -> Result<()> {
        use Codec::{Crc32c, Gzip, Zstd};
        let bytes = sample();
        for codecs in [
            vec![],
            vec![Gzip(1)],
            vec![Zstd(3, false)],
            vec![Zstd(-1, true), Crc32c],
            vec![Crc32c, Gzip(6), Zstd(1, false), Crc32c],
            vec![Crc32c],
        ] {
            let encoded = encode(&codecs, bytes.clone())?;
            let mut out = vec![1; bytes.len()];
            decode(&codecs, &encoded, &mut out)?;
            assert!(out == bytes, "{codecs:?}");
            for wrong in [bytes.len() - 1, bytes.len() + 1, 0] {
                assert!(decode(&codecs, &encoded, &mut vec![0; wrong]).is_err(), "{codecs:?} to {wrong}");
            }
            assert!(decode(&codecs, &encoded[..encoded.len() - 1], &mut out).is_err(), "{codecs:?} cut off");
            assert!(decode(&codecs, b"", &mut out).is_err());
        }
        Ok(())
    }

    #[test]
    fn a_bomb_takes_no_more_than_the_chunk() -> Result<()> {
        let bomb = vec![0; 64 << 20];
        for codec in [Codec::Gzip(9), Codec::Zstd(19, false)] {
            let packed = codec.encode(&bomb)?;
            assert!(packed.len() < 100_000);
            for codecs in [vec![codec.clone()], vec![Codec::Crc32c, codec.clone()]] {
                let error = decode(&codecs, &packed, &mut [0; 1000]).expect_err("too many").to_string();
                assert!(error.contains("cannot decode") || error.contains("more than"), "{error}");
            }
        }
        Ok(())
    }
}
