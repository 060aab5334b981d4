//! Blosc, version 1, as c-blosc writes it: blocks, each cut into streams, with the bytes or bits of elements brought together.
//!
//! ```text
//! byte  0        1            2      3          4..8   8..12      12..16  16..
//!       version  its codec's  flags  type size  bytes  of block   packed  where each block begins, 4 bytes each
//! ```
//!
//! The flags: 1 the bytes of elements are brought together, 2 nothing is packed, 4 the bits are, 16 a block is one stream; from
//! bit 5 on the codec: 0 blosclz, 1 LZ4, 2 Snappy, 3 zlib, 4 Zstandard. A stream is its length in 4 bytes and its bytes; one as
//! long as what it holds is not packed. A block has a stream for each byte of an element, unless it is the last and shorter, the
//! flags say otherwise, or the elements are large or few.

use std::io::Read;

use flate2::read::ZlibDecoder;
use tilework::{Error, Result};

const HEADER: usize = 16;

/// The largest elements whose bytes are streams of their own.
const MOST_STREAMS: usize = 16;

/// The fewest elements of such a block.
const FEWEST_ELEMENTS: usize = 128;

/// How many bytes were packed.
///
/// # Errors
/// Fewer bytes than a header.
pub(crate) fn size(bytes: &[u8]) -> Result<usize> {
    number(bytes, 4)
}

/// The number of 4 bytes at this place.
fn number(bytes: &[u8], at: usize) -> Result<usize> {
    let found = bytes.get(at..).and_then(<[u8]>::first_chunk);
    found.map(|bytes| u32::from_le_bytes(*bytes) as usize).ok_or_else(|| short(bytes.len()))
}

fn short(len: usize) -> Error {
    Error::new(format!("it ends after {len} bytes"))
}

/// Unpacks into all of `out`.
///
/// # Errors
/// Another size, places outside of `bytes`, what its codec cannot unpack, and Snappy.
pub(crate) fn decode(bytes: &[u8], out: &mut [u8]) -> Result<()> {
    let (size, block, packed) = (size(bytes)?, number(bytes, 8)?, number(bytes, 12)?);
    let (version, flags, width) = (bytes[0], bytes[2], usize::from(bytes[3]).max(1));
    if version != 2 {
        return Err(
            Error::new(format!("version {version} of Blosc's format")).accepts("2, which c-blosc 1 writes")
        );
    }
    if size != out.len() || packed != bytes.len() {
        let found = format!("{packed} bytes for {size}");
        return Err(Error::new(found).rule(format!("there are {} for {}", bytes.len(), out.len())));
    }
    if flags & 2 != 0 {
        let plain = &bytes[HEADER..];
        if plain.len() != out.len() {
            return Err(short(bytes.len()));
        }
        out.copy_from_slice(plain);
        return Ok(());
    }
    if size == 0 {
        return Ok(());
    }
    if block == 0 {
        return Err(Error::new("blocks of 0 bytes"));
    }
    let mut held = vec![0; block.min(size)];
    for (number, out) in out.chunks_mut(block).enumerate() {
        let start = self::number(bytes, HEADER + 4 * number)?;
        let streams = bytes.get(start..).ok_or_else(|| short(bytes.len()))?;
        let whole = out.len() == block;
        let is_cut = flags & 16 == 0 && width <= MOST_STREAMS && block / width >= FEWEST_ELEMENTS && whole;
        let each = if is_cut { out.len() / width } else { out.len() };
        let is_mixed = flags & 1 != 0 && width > 1 || flags & 4 != 0;
        let target = if is_mixed { &mut held[..out.len()] } else { &mut *out };
        unpack(streams, flags >> 5, each, target)?;
        match flags & 5 {
            _ if !is_mixed => {}
            1 => together(&held[..out.len()], out, width),
            _ => bits_together(&held[..out.len()], out, width),
        }
    }
    Ok(())
}

/// Unpacks streams of `each` bytes.
fn unpack(streams: &[u8], codec: u8, each: usize, out: &mut [u8]) -> Result<()> {
    let mut at = 0;
    for out in out.chunks_mut(each.max(1)) {
        let len = number(streams, at)?;
        at += 4;
        let stream =
            streams.get(at..).and_then(|rest| rest.get(..len)).ok_or_else(|| short(streams.len()))?;
        at += len;
        if len == out.len() {
            out.copy_from_slice(stream);
            continue;
        }
        let broken = |error: &dyn std::fmt::Display| Error::new(error.to_string());
        let count = match codec {
            0 => lz(stream, out),
            1 => lz4_flex::block::decompress_into(stream, out).map_err(|error| broken(&error)),
            3 => {
                let mut stream = ZlibDecoder::new(stream);
                stream.read_exact(out).map(|()| out.len()).map_err(|error| broken(&error))
            }
            4 => zstd::bulk::decompress_to_buffer(stream, out).map_err(|error| broken(&error)),
            _ => Err(Error::new(if codec == 2 { "Snappy".to_owned() } else { format!("codec {codec}") })
                .accepts("blosclz, lz4, zlib or zstd")),
        }?;
        if count != out.len() {
            return Err(
                Error::new(format!("a stream of {count} bytes")).rule(format!("it has {}", out.len()))
            );
        }
    }
    Ok(())
}

/// Puts the bytes of each element together again: the first bytes of all elements come first. What is no whole element is as it
/// was.
fn together(from: &[u8], to: &mut [u8], width: usize) {
    let count = from.len() / width;
    let (mixed, rest) = from.split_at(count * width);
    for (byte, plane) in mixed.chunks_exact(count.max(1)).enumerate() {
        to[byte..].iter_mut().step_by(width).zip(plane).for_each(|(to, from)| *to = *from);
    }
    to[count * width..].copy_from_slice(rest);
}

/// Puts the bits of each element together again: the lowest bits of all elements come first, eight elements to a byte. Elements
/// whose number is no multiple of eight are as they were.
fn bits_together(from: &[u8], to: &mut [u8], width: usize) {
    let count = from.len() / width;
    if !count.is_multiple_of(8) {
        to.copy_from_slice(from);
        return;
    }
    to.fill(0);
    let (mixed, rest) = from.split_at(count * width);
    for (bit, plane) in mixed.chunks_exact((count / 8).max(1)).enumerate() {
        for (eight, byte) in plane.iter().enumerate() {
            for element in (0..8).filter(|element| byte >> element & 1 == 1) {
                to[(8 * eight + element) * width + bit / 8] |= 1 << (bit % 8);
            }
        }
    }
    to[count * width..].copy_from_slice(rest);
}

/// The farthest match that is said in 13 bits.
const FAR: usize = 8191;

/// Blosc's own codec: bytes as they are, and matches of what came before. Returns how many bytes it was.
///
/// ```text
/// 000nnnnn                              n + 1 bytes follow
/// lllddddd [l ...] d                    l + 2 bytes from d + 1 before; l of 7 goes on in bytes that are added, up to one below 255
/// lll11111 [l ...] 11111111 d d         the same from 8192 + d before
/// ```
fn lz(bytes: &[u8], out: &mut [u8]) -> Result<usize> {
    let cut = || short(bytes.len());
    let (mut at, mut done) = (0, 0);
    let mut next = || {
        let byte = bytes.get(at).copied().map(usize::from);
        at += 1;
        byte
    };
    // The first byte's upper bits are the version of the codec.
    let mut control = next().ok_or_else(cut)? & 31;
    loop {
        if control < 32 {
            for _ in 0..=control {
                let byte = next().ok_or_else(cut)?;
                *out.get_mut(done).ok_or_else(|| Error::new("more bytes than the block"))? = byte as u8;
                done += 1;
            }
        } else {
            let mut len = control >> 5;
            if len == 7 {
                loop {
                    let more = next().ok_or_else(cut)?;
                    len += more;
                    if more < 255 {
                        break;
                    }
                }
            }
            let low = next().ok_or_else(cut)?;
            let mut back = ((control & 31) << 8) + low + 1;
            if back == FAR + 1 {
                back += (next().ok_or_else(cut)? << 8) + next().ok_or_else(cut)?;
            }
            let from = done.checked_sub(back).ok_or_else(|| Error::new("a match before the block"))?;
            let end = done + len + 2;
            if end > out.len() {
                return Err(Error::new("more bytes than the block"));
            }
            // Byte by byte: a match may overlap what it makes.
            for place in 0..end - done {
                out[done + place] = out[from + place];
            }
            done = end;
        }
        match next() {
            Some(byte) => control = byte,
            None => return Ok(done),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_match_reaches_far_back_and_over_itself() -> Result<()> {
        // 32 different bytes, 9000 times the last of them, and three from the beginning: 9027 before.
        let literals: Vec<u8> = (0..32).collect();
        let mut bytes = [&[31][..], &literals].concat();
        bytes.push(7 << 5);
        bytes.extend([255; 35]);
        bytes.extend([66, 0]);
        bytes.extend([1 << 5 | 31, 255, 3, 67]);
        let wanted = [&literals[..], &[31; 9000], &[5, 6, 7]].concat();
        let mut out = vec![0; wanted.len()];
        assert_eq!(lz(&bytes, &mut out)?, wanted.len());
        assert!(out == wanted);
        for len in 0..bytes.len() {
            let cut = lz(&bytes[..len], &mut out);
            assert!(cut.is_err() || cut == Ok(32) || cut == Ok(9032), "{len}: {cut:?}");
        }
        assert!(lz(&bytes, &mut [0; 9034]).is_err() && lz(&[0, 7, 1 << 5, 9], &mut [0; 9]).is_err());
        Ok(())
    }
}
