//! The index of a shard: for each of its chunks, in row-major order, where it begins and how many bytes it has.

use std::ops::Range;

use tilework::{Error, Result};

use super::meta::Index;
use super::sum;

/// The bytes of one chunk's entry.
const ENTRY: u64 = 16;

/// The largest index that is read, as its entries are held in memory.
const LARGEST: u64 = 256 << 20;

/// Both numbers of a chunk that was never written.
const MISSING: u64 = u64::MAX;

/// Where each chunk is within a shard; none for a chunk that was never written.
pub(crate) type Places = Vec<Option<Range<u64>>>;

/// The bytes of an index.
pub(crate) fn bytes(index: Index, chunks: u64) -> Result<u64> {
    let sum = if index.has_sum { sum::BYTES as u64 } else { 0 };
    let bytes = chunks.checked_mul(ENTRY).and_then(|bytes| bytes.checked_add(sum));
    bytes.filter(|&bytes| bytes <= LARGEST).ok_or_else(|| {
        Error::new(format!("shards of {chunks} chunks"))
            .rule("the index of a shard is held in memory")
            .accepts(format!("up to {} chunks", LARGEST / ENTRY - 1))
    })
}

/// The part of a shard of `len` bytes that is its index.
///
/// # Errors
/// A shard that is shorter than its index.
pub(crate) fn range(index: Index, chunks: u64, len: u64) -> Result<Range<u64>> {
    let bytes = bytes(index, chunks)?;
    let start = len.checked_sub(bytes).ok_or_else(|| {
        Error::new(format!("a shard of {len} bytes"))
            .rule(format!("its index alone, of {chunks} chunks, has {bytes}"))
            .accepts("the shard as it was written")
    })?;
    Ok(if index.at_start { 0..bytes } else { start..len })
}

/// Reads an index that was at `range` of a shard of `len` bytes.
///
/// # Errors
/// Another checksum, chunks outside of the shard, and two chunks that share bytes or lie in the index.
pub(crate) fn read(index: Index, bytes: &[u8], range: &Range<u64>, len: u64) -> Result<Places> {
    let within = |error: Error| {
        let named = Error::new(format!("the index of the shard: {}", error.found()));
        match error.broken_rule() {
            Some(rule) => named.rule(rule),
            None => named,
        }
    };
    let bytes = if index.has_sum { sum::checked(bytes).map_err(within)? } else { bytes };
    let number = |bytes: &[u8; 8]| match index.is_reversed {
        true => u64::from_be_bytes(*bytes),
        false => u64::from_le_bytes(*bytes),
    };
    let (numbers, _) = bytes.as_chunks::<8>();
    let mut places = Places::with_capacity(numbers.len() / 2);
    for (chunk, pair) in numbers.chunks_exact(2).enumerate() {
        let (start, bytes) = (number(&pair[0]), number(&pair[1]));
        if (start, bytes) == (MISSING, MISSING) {
            places.push(None);
            continue;
        }
        let end = start.checked_add(bytes).filter(|end| *end <= len).ok_or_else(|| {
            Error::new(format!("chunk {chunk} has {bytes} bytes from byte {start} of the shard on"))
                .rule(format!("the shard has {len} bytes"))
                .accepts("the shard as it was written")
        })?;
        places.push(Some(start..end));
    }
    let mut sorted: Vec<(&Range<u64>, Option<usize>)> =
        places.iter().enumerate().filter_map(|(chunk, place)| Some((place.as_ref()?, Some(chunk)))).collect();
    sorted.push((range, None));
    sorted.retain(|(place, _)| !place.is_empty());
    sorted.sort_unstable_by_key(|(place, _)| place.start);
    let name = |chunk: Option<usize>| chunk.map_or("the index".to_owned(), |chunk| format!("chunk {chunk}"));
    for pair in sorted.windows(2) {
        if pair[0].0.end > pair[1].0.start {
            let found = format!(
                "{} ends at byte {} of the shard, and {} begins at byte {}",
                name(pair[0].1),
                pair[0].0.end,
                name(pair[1].1),
                pair[1].0.start
            );
            return Err(Error::new(found).rule("no two parts of a shard share bytes"));
        }
    }
    Ok(places)
}

/// The bytes of an index.
pub(crate) fn written(index: Index, places: &[Option<Range<u64>>]) -> Vec<u8> {
    let mut out = Vec::with_capacity(16 * places.len() + sum::BYTES);
    for place in places {
        let (start, bytes) =
            place.as_ref().map_or((MISSING, MISSING), |place| (place.start, place.end - place.start));
        for number in [start, bytes] {
            out.extend(if index.is_reversed { number.to_be_bytes() } else { number.to_le_bytes() });
        }
    }
    if index.has_sum {
        out.extend(sum::crc32c(&out).to_le_bytes());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_is_read_as_it_was_written() -> Result<()> {
        let places = [Some(0..10), None, Some(30..35), Some(10..30), Some(20..20)];
        for at_start in [false, true] {
            for has_sum in [false, true] {
                for is_reversed in [false, true] {
                    let index = Index { at_start, has_sum, is_reversed };
                    let size = bytes(index, 5)?;
                    let shift = if at_start { size } else { 0 };
                    let places: Places = places
                        .iter()
                        .map(|place| place.as_ref().map(|place| place.start + shift..place.end + shift))
                        .collect();
                    let (bytes, len) = (written(index, &places), 35 + size);
                    assert_eq!(bytes.len() as u64, size);
                    let range = range(index, 5, len)?;
                    assert_eq!(range.start == 0, at_start);
                    assert_eq!(read(index, &bytes, &range, len)?, places);
                }
            }
        }
        Ok(())
    }

    #[test]
    fn an_index_that_lies_is_refused() -> Result<()> {
        let index = Index { at_start: false, has_sum: true, is_reversed: false };
        assert!(range(index, 2, 35).is_err() && range(index, u64::MAX, 35).is_err());
        let refused = |places: &[Option<Range<u64>>], len: u64| {
            let range = range(index, places.len() as u64, len).expect("long enough");
            read(index, &written(index, places), &range, len).expect_err("a lie").to_string()
        };
        assert!(refused(&[Some(0..101)], 100).contains("chunk 0 has 101 bytes from byte 0"));
        assert!(refused(&[Some(MISSING - 1..MISSING)], 100).contains("100 bytes"));
        assert!(refused(&[Some(0..30), Some(29..40)], 100).contains("chunk 0 ends at byte 30"));
        assert!(refused(&[Some(0..81)], 100).contains("the index begins at byte 80"));
        let mut bytes = written(index, &[Some(0..3)]);
        bytes[0] ^= 1;
        assert!(read(index, &bytes, &(80..100), 100).is_err_and(|error| error.to_string().contains("index")));
        Ok(())
    }
}
