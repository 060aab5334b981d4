//! Sizes and dimensions as people read them.

/// Bytes as people read them: exact, with the unit that suits.
///
/// ```
/// use tilework::words::bytes;
/// assert_eq!(bytes(96), "96 B");
/// assert_eq!(bytes(32 << 30), "32 GiB");
/// assert_eq!(bytes(1_500_000), "1.43 MiB (1500000 B)");
/// ```
pub fn bytes(bytes: u128) -> String {
    let short = short_bytes(bytes);
    match bytes % unit(bytes).0 {
        0 => short,
        _ => format!("{short} ({bytes} B)"),
    }
}

/// Bytes with the unit that suits, rounded to two decimals where that is shorter.
///
/// ```
/// use tilework::words::short_bytes;
/// assert_eq!((short_bytes(32 << 30), short_bytes(1_500_000)), ("32 GiB".to_owned(), "1.43 MiB".to_owned()));
/// ```
pub fn short_bytes(bytes: u128) -> String {
    let (unit, name) = unit(bytes);
    match bytes % unit {
        0 => format!("{} {name}", bytes / unit),
        _ => format!("{:.2} {name}", bytes as f64 / unit as f64),
    }
}

/// The unit that suits as many bytes, and its name.
fn unit(bytes: u128) -> (u128, &'static str) {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes < 10 << 10 {
        return (1, "B");
    }
    let mut scale = 0;
    while scale + 1 < UNITS.len() && bytes >> (10 * (scale + 2)) > 0 {
        scale += 1;
    }
    (1 << (10 * (scale + 1)), UNITS[scale])
}

/// How many times larger: `1.60`, or `32` where it is whole.
///
/// ```
/// use tilework::words::times;
/// assert_eq!((times(4, 128), times(15, 24)), ("32".to_owned(), "1.60".to_owned()));
/// ```
pub fn times(from: u128, to: u128) -> String {
    match (from, to) {
        (0, _) => "0".to_owned(),
        (from, to) if to % from == 0 => (to / from).to_string(),
        (from, to) => format!("{:.2}", to as f64 / from as f64),
    }
}

/// `dimension 1`, or `dimensions 0 and 1 combined`.
pub fn dimensions(dims: &[usize]) -> String {
    crate::dialect::words::combined(dims)
}

/// What the sizes of an array are, as a piece of text and its meaning: `[3,5]`, `dimension 0 (i) is 3, 1 (j) is 5`.
pub fn sizes(dims: &[u64]) -> (String, String) {
    let dims: Vec<crate::dialect::Dim> = dims.iter().map(|&size| size.into()).collect();
    let part = crate::dialect::words::dims(&dims);
    (part.text, part.meaning)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_exact_in_every_unit() {
        assert_eq!(bytes(10 << 10), "10 KiB");
        assert_eq!(bytes(u128::from(u64::MAX) * 4096), "65536.00 EiB (75557863725914323415040 B)");
        assert_eq!(times(0, 3), "0");
    }
}
