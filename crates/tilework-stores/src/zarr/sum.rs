//! CRC-32C, the checksum of Zarr's shards.

use tilework::{Error, Result};

/// Its bytes, behind what it sums.
pub(crate) const BYTES: usize = 4;

/// Castagnoli's polynomial, its bits turned round.
const POLYNOMIAL: u32 = 0x82f6_3b78;

/// What a byte becomes that has as many others behind it as the number of its table.
const TABLES: [[u32; 256]; 8] = {
    let mut tables = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let mut sum = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            sum = if sum & 1 == 1 { sum >> 1 ^ POLYNOMIAL } else { sum >> 1 };
            bit += 1;
        }
        tables[0][byte] = sum;
        byte += 1;
    }
    let mut table = 1;
    while table < 8 {
        let mut byte = 0;
        while byte < 256 {
            let before = tables[table - 1][byte];
            tables[table][byte] = before >> 8 ^ tables[0][(before & 0xff) as usize];
            byte += 1;
        }
        table += 1;
    }
    tables
};

/// The checksum, eight bytes at a time.
pub(crate) fn crc32c(bytes: &[u8]) -> u32 {
    let (eights, rest) = bytes.as_chunks::<8>();
    let sum = eights.iter().fold(!0, |sum, eight| {
        let word = u64::from_le_bytes(*eight) ^ u64::from(sum);
        let taken = |byte: usize| TABLES[7 - byte][(word >> (8 * byte) & 0xff) as usize];
        taken(0) ^ taken(1) ^ taken(2) ^ taken(3) ^ taken(4) ^ taken(5) ^ taken(6) ^ taken(7)
    });
    !rest.iter().fold(sum, |sum, byte| sum >> 8 ^ TABLES[0][usize::from(sum as u8 ^ byte)])
}

/// The bytes before a checksum, if it is theirs.
///
/// # Errors
/// Fewer bytes than it has, and another sum.
pub(crate) fn checked(bytes: &[u8]) -> Result<&[u8]> {
    let Some((plain, sum)) = bytes.split_last_chunk::<BYTES>() else {
        return Err(Error::new(format!("{} bytes with a checksum of {BYTES}", bytes.len())));
    };
    let (found, said) = (crc32c(plain), u32::from_le_bytes(*sum));
    if found != said {
        return Err(Error::new(format!("bytes with the checksum {found:08x}"))
            .rule(format!("the CRC-32C behind them is {said:08x}"))
            .accepts("the bytes as they were written"));
    }
    Ok(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bit by bit, as the checksum is defined.
    fn naive(bytes: &[u8]) -> u32 {
        !bytes.iter().fold(!0, |sum, byte| {
            (0..8).fold(sum ^ u32::from(*byte), |sum, _| sum >> 1 ^ if sum & 1 == 1 { POLYNOMIAL } else { 0 })
        })
    }

    #[test]
    fn the_sum_is_that_of_the_definition() {
        // The value that RFC 3720 and every table of checksums has.
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
        let bytes: Vec<u8> = (0..1000_u32).map(|at| ((at * at) >> 3) as u8).collect();
        for len in (0..40).chain([999, 1000]) {
            assert_eq!(crc32c(&bytes[..len]), naive(&bytes[..len]), "{len}");
        }
    }

    #[test]
    fn a_changed_byte_is_seen() {
        let mut bytes = b"123456789".to_vec();
        bytes.extend(crc32c(&bytes).to_le_bytes());
        assert_eq!(checked(&bytes), Ok(&b"123456789"[..]));
        bytes[3] ^= 1;
        assert!(checked(&bytes).is_err_and(|error| error.to_string().contains("e3069283")));
        assert!(checked(b"123").is_err());
    }
}
