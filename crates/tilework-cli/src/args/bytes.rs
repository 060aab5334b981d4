//! Amounts of memory.

/// Reads `4GiB`, `512MiB` or a number of bytes.
pub fn bytes(text: &str) -> Result<u64, String> {
    let digits = text.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    let (number, unit) = text.split_at(digits);
    let shift = match unit.trim_start().to_ascii_lowercase().as_str() {
        "" | "b" => Some(0),
        "k" | "kib" => Some(10),
        "m" | "mib" => Some(20),
        "g" | "gib" => Some(30),
        "t" | "tib" => Some(40),
        _ => None,
    };
    let wrong = || "a number of bytes, such as 4GiB, 512MiB or 1073741824".to_owned();
    let shift = shift.ok_or_else(wrong)?;
    let whole = number.parse::<u64>().ok().and_then(|number| number.checked_mul(1 << shift));
    let parts = || number.parse::<f64>().ok().map(|number| number * (1_u64 << shift) as f64);
    let rounded =
        || parts().filter(|bytes| *bytes < (1_u64 << 60) as f64 && shift > 0).map(|bytes| bytes as u64);
    whole.or_else(rounded).ok_or_else(wrong)
}

/// The same, or `5GB` in powers of ten, as sizes of files are said.
pub fn file_bytes(text: &str) -> Result<u64, String> {
    let lower = text.to_ascii_lowercase();
    let units = [("kb", 1_000_u64), ("mb", 1_000_000), ("gb", 1_000_000_000), ("tb", 1_000_000_000_000)];
    let found = units.iter().find_map(|(unit, scale)| Some((lower.strip_suffix(unit)?, *scale)));
    let Some((number, scale)) = found else { return bytes(text) };
    let wrong = || "a number of bytes, such as 5GB, 4GiB or 1000000000".to_owned();
    number.trim_end().parse::<u64>().ok().and_then(|number| number.checked_mul(scale)).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_files_may_be_in_powers_of_ten() {
        assert_eq!(file_bytes("5GB"), Ok(5_000_000_000));
        assert_eq!(file_bytes("8 kB"), Ok(8000));
        assert_eq!(file_bytes("4GiB"), Ok(4 << 30));
        assert_eq!(file_bytes("7"), Ok(7));
        for text in ["", "GB", "1.5GB", "-1kB", "99999999999TB", "ü"] {
            assert!(file_bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn amounts_have_units_or_are_bytes() {
        assert_eq!(bytes("4GiB"), Ok(4 << 30));
        assert_eq!(bytes("512 MiB"), Ok(512 << 20));
        assert_eq!(bytes("1.5g"), Ok(3 << 29));
        assert_eq!(bytes("100"), Ok(100));
        for text in ["", "GiB", "4GB", "-1", "1.5", "99999999999999999999", "99999999999TiB", "1e3", "4 G iB"]
        {
            assert!(bytes(text).is_err(), "{text}");
        }
    }
}
