//! Pixels as a PNG file.

use std::io::Write;

use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};

/// The file of pixels of three bytes each, row by row.
pub(super) fn encode(width: u32, height: u32, pixels: &[u8]) -> Vec<u8> {
    let mut out = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut header = Vec::from(width.to_be_bytes());
    header.extend(height.to_be_bytes());
    header.extend([8, 2, 0, 0, 0]); // 8 bits each of red, green and blue; not interlaced
    chunk(&mut out, b"IHDR", &header);
    chunk(&mut out, b"IDAT", &packed(width, pixels));
    chunk(&mut out, b"IEND", &[]);
    out
}

fn chunk(out: &mut Vec<u8>, kind: &[u8; 4], data: &[u8]) {
    let mut sum = Crc::new();
    sum.update(kind);
    sum.update(data);
    out.extend((data.len() as u32).to_be_bytes());
    out.extend(kind);
    out.extend(data);
    out.extend(sum.sum().to_be_bytes());
}

/// The rows as they are: of figures, which repeat digits and colours, differences between neighbours pack less well.
fn packed(width: u32, pixels: &[u8]) -> Vec<u8> {
    const NO_FILTER: [u8; 1] = [0];
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    for row in pixels.chunks_exact(width as usize * 3) {
        // Writing into memory does not fail.
        let _ = encoder.write_all(&NO_FILTER);
        let _ = encoder.write_all(row);
    }
    encoder.finish().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn a_file_is_what_the_format_asks_for() {
        let png = encode(2, 2, &[1, 2, 3, 4, 5, 6, 1, 2, 3, 9, 9, 9]);
        assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
        // The length, kind, data and checksum of an empty chunk at the end.
        assert_eq!(&png[png.len() - 12..], b"\0\0\0\0IEND\xae\x42\x60\x82");
        assert_eq!(&png[8..33], b"\0\0\0\rIHDR\0\0\0\x02\0\0\0\x02\x08\x02\0\0\0\xfd\xd4\x9a\x73");
        let data = u32::from_be_bytes(png[33..37].try_into().expect("four bytes")) as usize;
        assert_eq!(&png[37..41], b"IDAT");
        let mut rows = Vec::new();
        let mut decoder = flate2::read::ZlibDecoder::new(&png[41..41 + data]);
        decoder.read_to_end(&mut rows).expect("zlib");
        assert_eq!(rows, [0, 1, 2, 3, 4, 5, 6, 0, 1, 2, 3, 9, 9, 9]);
    }
}
