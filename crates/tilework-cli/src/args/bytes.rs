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

#[cfg(test)]
mod tests {
    use super::*;

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
