//! What terminals, logs and mails put before a line or into it.

use std::borrow::Cow;

use memchr::{memchr, memmem};

/// A line without sequences that a terminal obeys, also as logs write them out.
pub(crate) fn plain(line: &[u8]) -> Cow<'_, [u8]> {
    const WRITTEN: [&[u8]; 7] = [b"\x1b", b"^[", b"\\x1b", b"\\033", b"\\u001b", b"#033", b"\\e"];
    // Each has a bracket, and most brackets are of shapes.
    let is_sequence = |at: usize| WRITTEN.iter().any(|mark| line[..at].ends_with(mark));
    let mut brackets = memchr::memchr2_iter(b'[', b']', line);
    if !brackets
        .any(|at| at > 0 && matches!(line[at - 1], 0x1b | b'[' | b'b' | b'3' | b'e') && is_sequence(at))
    {
        return Cow::Borrowed(line);
    }
    let mut out = Vec::with_capacity(line.len());
    let mut rest = line;
    'bytes: while let Some((&byte, after)) = rest.split_first() {
        for mark in WRITTEN {
            let Some(sequence) = rest.strip_prefix(mark) else { continue };
            if let Some(length) = sequence_length(sequence) {
                rest = &sequence[length..];
                continue 'bytes;
            }
        }
        if byte != 0x1b {
            out.push(byte);
        }
        rest = after;
    }
    Cow::Owned(out)
}

/// How long the sequence is behind an escape.
fn sequence_length(text: &[u8]) -> Option<usize> {
    match text.first()? {
        b'[' => {
            let parameters = text[1..].iter().take_while(|byte| matches!(byte, 0x20..=0x3f)).count();
            let last = text.get(1 + parameters)?;
            (parameters <= 32 && matches!(last, 0x40..=0x7e)).then_some(parameters + 2)
        }
        b']' => {
            let end = text.iter().take(256).position(|&byte| byte == 0x07)?;
            Some(end + 1)
        }
        _ => None,
    }
}

/// What stands behind what mails and logs put before a line. Spaces that indent what is left are kept.
pub(crate) fn without_prefix(line: &[u8]) -> &[u8] {
    let mut rest = line;
    for _ in 0..16 {
        let spaces = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let text = &rest[spaces..];
        let Some(length) = prefix_length(text) else { break };
        rest = &text[length..];
        // One space belongs to it.
        rest = rest.strip_prefix(b" ").unwrap_or(rest);
    }
    rest
}

fn prefix_length(text: &[u8]) -> Option<usize> {
    let end = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
    let word = &text[..end];
    match text.first()? {
        b'>' | b'|' => Some(1),
        // `(EngineCore pid=106339)`, `[rank0]:`, `[core.py:1184]`
        b'(' => {
            let close = memchr(b')', &text[..text.len().min(64)])?;
            let inside = &text[1..close];
            let is_process =
                memmem::find(inside, b"pid=").is_some() || memmem::find(inside, b"ip=").is_some();
            is_process.then_some(close + 1)
        }
        b'[' => {
            let close = memchr(b']', &text[..text.len().min(64)])?;
            let length = close + 1 + usize::from(text.get(close + 1) == Some(&b':'));
            // `[64,512]{1,0}` is a piece of a shape.
            let is_named = text[1..close].iter().any(u8::is_ascii_alphabetic);
            (is_named && text.get(length).is_none_or(u8::is_ascii_whitespace)).then_some(length)
        }
        _ if [
            &b"ERROR"[..],
            b"WARNING",
            b"INFO",
            b"DEBUG",
            b"FATAL",
            b"CRITICAL",
            b"stderr",
            b"stdout",
            b"F",
        ]
        .iter()
        .any(|level| word.strip_suffix(b":").unwrap_or(word) == *level) =>
        {
            Some(end)
        }
        // `E1111 07:35:00.272763 140408571025152 error_handling.py:81]`
        b'E' | b'W' | b'I' | b'F' if is_time(&word[1..]) || is_date(&word[1..]) => {
            Some(memmem::find(&text[..text.len().min(160)], b"] ").map_or(end, |close| close + 1))
        }
        b'0'..=b'9' if is_time(word) => {
            // `2020-05-04 09:05:40.7 E 1578 xla_util.cc:76]`
            let close = memmem::find(&text[..text.len().min(96)], b"] ");
            let is_source = |close: usize| {
                let before = &text[..close];
                before.iter().rev().take_while(|byte| byte.is_ascii_digit()).count() > 0
                    && before.contains(&b':')
                    && !before.contains(&b'[')
                    && !before.contains(&b'{')
            };
            Some(close.filter(|&close| is_source(close)).map_or(end, |close| close + 1))
        }
        _ => None,
    }
}

/// `07:35:00.272763`, `2024-05-01T10:00:00Z`, `06-03`
fn is_time(word: &[u8]) -> bool {
    let digits = word.iter().filter(|byte| byte.is_ascii_digit()).count();
    let marks = word.iter().filter(|byte| matches!(byte, b'-' | b':')).count();
    let known =
        |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'-' | b':' | b'.' | b',' | b'T' | b'Z' | b'+');
    let ends = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_digit() || *byte == b'Z');
    word.iter().all(known) && digits >= 4 && marks >= 1 && ends(word.first()) && ends(word.last())
}

/// `1111` of `E1111`, the month and the day.
fn is_date(word: &[u8]) -> bool {
    word.len() == 4 && word.iter().all(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        String::from_utf8(without_prefix(&plain(text.as_bytes())).to_vec()).expect("text")
    }

    #[test]
    fn what_logs_and_mails_put_before_a_line_is_taken_away() {
        for (line, said) in [
            ("E1111 07:35:00.272763 140408571025152 error_handling.py:81] Closing due", "Closing due"),
            ("2020-05-04 09:05:40.7 E 1578 xla_util.cc:76]   1. Size: 3.00G", "  1. Size: 3.00G"),
            (
                "(EngineCore pid=106339) ERROR 06-03 07:41:11 [core.py:1184]      Shape: f32[2]",
                "     Shape: f32[2]",
            ),
            ("> >      Shape: f32[2]", "     Shape: f32[2]"),
            ("[rank0]: RESOURCE_EXHAUSTED: E1000: x", "RESOURCE_EXHAUSTED: E1000: x"),
            ("2024-05-01T10:00:00.123Z stdout F   5. Size: 4.00M", "  5. Size: 4.00M"),
            ("\x1b[31m     Shape: f32[2]{0:T(128)}\x1b[0m", "     Shape: f32[2]{0:T(128)}"),
            ("     Shape: f32[2]{0:T(128)}^[[0m", "     Shape: f32[2]{0:T(128)}"),
            ("     Shape: f32[2]{0:T(128)}\\x1b[1;31m", "     Shape: f32[2]{0:T(128)}"),
            ("     XLA label: %a = f32[2]{0} b(%c)", "     XLA label: %a = f32[2]{0} b(%c)"),
            ("  10. Size: 256.00M", "  10. Size: 256.00M"),
            ("8,4]{0,2,1:T(4,128)} %x", "8,4]{0,2,1:T(4,128)} %x"),
            ("E1000: CompileTimeHbmOom: Ran", "E1000: CompileTimeHbmOom: Ran"),
        ] {
            assert_eq!(shown(line), said);
        }
    }
}
