//! Small readings of text that may be anything.

use std::borrow::Cow;

use memchr::{memchr, memmem};

/// What stands behind the first `mark`.
#[inline]
pub(crate) fn after<'a>(text: &'a [u8], mark: &[u8]) -> Option<&'a [u8]> {
    memmem::find(text, mark).map(|at| &text[at + mark.len()..])
}

/// What stands before and behind the first `mark`.
#[inline]
pub(crate) fn split<'a>(text: &'a [u8], mark: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    memmem::find(text, mark).map(|at| (&text[..at], &text[at + mark.len()..]))
}

/// The number that a text begins with.
#[inline]
pub(crate) fn number(text: &[u8]) -> Option<u64> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if digits == 0 {
        return None;
    }
    text[..digits]
        .iter()
        .try_fold(0_u64, |sum, byte| sum.checked_mul(10)?.checked_add(u64::from(byte - b'0')))
}

/// The number behind the first `mark`.
#[inline]
pub(crate) fn number_after(text: &[u8], mark: &[u8]) -> Option<u64> {
    number(after(text, mark)?)
}

/// What stands within the quotes that the text begins with, escapes left as they are.
pub(crate) fn quoted(text: &[u8]) -> Option<&[u8]> {
    let text = text.strip_prefix(b"\"")?;
    let mut escaped = false;
    let end = text.iter().position(|&byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    })?;
    Some(&text[..end])
}

/// A quoted text without its escapes: `\'`, `\"`, `\\`, `\n`, `\r`, `\t`, and any byte by three octal digits.
pub(crate) fn unescaped(text: &[u8]) -> Cow<'_, [u8]> {
    let Some(first) = memchr(b'\\', text) else { return Cow::Borrowed(text) };
    let (plain, mut rest) = text.split_at(first);
    let mut out = plain.to_vec();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        let (written, used) = match (byte, after) {
            (b'\\', [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', ..]) => {
                ((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'), 3)
            }
            (b'\\', [b'n', ..]) => (b'\n', 1),
            (b'\\', [b'r', ..]) => (b'\r', 1),
            (b'\\', [b't', ..]) => (b'\t', 1),
            (b'\\', [other, ..]) => (*other, 1),
            _ => (byte, 0),
        };
        out.push(written);
        rest = &rest[used..];
    }
    Cow::Owned(out)
}

/// A size as compilers print it: `9.00G`, `392.00MiB`, `512B`, `0B`, `512`.
pub(crate) fn rounded(text: &[u8]) -> Option<f64> {
    let text = text.trim_ascii_start();
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
    let value: f64 = std::str::from_utf8(&text[..digits]).ok()?.parse().ok()?;
    // PyTorch puts a space between: `2.00 GiB`.
    let spaced = text.get(digits) == Some(&b' ') && text.get(digits + 2..digits + 4) == Some(b"iB");
    let scale = match text.get(digits + usize::from(spaced)) {
        Some(b'K') => 10,
        Some(b'M') => 20,
        Some(b'G') => 30,
        Some(b'T') => 40,
        Some(b'P') => 50,
        Some(b'E') => 60,
        _ => 0,
    };
    Some(value * (1_u64 << scale) as f64)
}

/// The same as a whole number of bytes.
pub(crate) fn rounded_bytes(text: &[u8]) -> Option<u64> {
    // Far below what a float cannot hold; whatever is larger is no size.
    rounded(text).filter(|bytes| *bytes < 9e18).map(|bytes| bytes as u64)
}

/// Where the shape that a text begins with ends: behind its brackets.
///
/// This only finds the end; whether it is a shape is for the parser to say.
#[inline]
pub(crate) fn end_of_shape(text: &[u8]) -> usize {
    let mut depth = 0_u32;
    for (at, &byte) in text.iter().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => {
                if depth == 0 {
                    return at;
                }
                depth -= 1;
            }
            b' ' | b',' | b';' | b'"' | b'\'' | b'|' | b'`' | b'=' if depth == 0 => return at,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_compilers_print_them() {
        assert_eq!(rounded_bytes(b"9.00G"), Some(9 << 30));
        assert_eq!(rounded_bytes(b" 392.00MiB;"), Some(392 << 20));
        assert_eq!(rounded_bytes(b"512B"), Some(512));
        assert_eq!(rounded_bytes(b"4.0K"), Some(4096));
        assert_eq!(rounded_bytes(b"unknown size"), None);
        assert_eq!(rounded_bytes(b"99999999999999999999G"), None);
        assert_eq!(rounded_bytes(b"1.2.3G"), None);
    }

    #[test]
    fn numbers_that_are_none_are_none() {
        assert_eq!(number(b"17,"), Some(17));
        assert_eq!(number(b"x"), None);
        assert_eq!(number(b"99999999999999999999999"), None);
        assert_eq!(number_after(b"size=512,offset=3)", b"offset="), Some(3));
    }

    #[test]
    fn a_quoted_text_may_hold_escaped_quotes() {
        assert_eq!(quoted(br#""a\"b" c"#), Some(&br#"a\"b"#[..]));
        assert_eq!(quoted(br#""a\\" c"#), Some(&br"a\\"[..]));
        assert_eq!(quoted(b"\"open"), None);
    }

    #[test]
    fn escapes_are_what_they_stand_for() {
        assert_eq!(&*unescaped(br#"a\'b\"c\\d\ne\303\251"#), "a'b\"c\\d\neé".as_bytes());
        assert_eq!(&*unescaped(br"\"), br"\");
        assert_eq!(&*unescaped(br"\30"), b"30");
        assert_eq!(&*unescaped(b"plain"), b"plain");
    }

    #[test]
    fn a_shape_ends_behind_its_brackets() {
        let end = |text: &str| text[..end_of_shape(text.as_bytes())].to_owned();
        assert_eq!(end("f32[2,3]{1,0:T(8,128)} copy(%x)"), "f32[2,3]{1,0:T(8,128)}");
        assert_eq!(end("(f32[2], /*index=5*/s32[]) tuple("), "(f32[2], /*index=5*/s32[])");
        assert_eq!(end("f32[]) and"), "f32[]");
        assert_eq!(end("(f32[2]"), "(f32[2]");
    }
}
