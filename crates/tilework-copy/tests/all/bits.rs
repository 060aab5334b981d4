//! Elements of any width in bytes, read and written bit by bit.

/// The bits of an element.
pub fn get(bytes: &[u8], place: u64, bits: u64) -> u64 {
    (0..bits).fold(0, |value, k| {
        let bit = place * bits + k;
        value | u64::from(bytes[(bit / 8) as usize] >> (bit % 8) & 1) << k
    })
}

/// Writes them, and no others.
pub fn put(bytes: &mut [u8], place: u64, bits: u64, value: u64) {
    for k in 0..bits {
        let bit = place * bits + k;
        let byte = &mut bytes[(bit / 8) as usize];
        *byte = *byte & !(1 << (bit % 8)) | ((value >> k & 1) as u8) << (bit % 8);
    }
}
