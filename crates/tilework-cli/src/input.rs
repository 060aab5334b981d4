//! Shapes, indices and offsets: from the arguments, or one a line on standard input.

use std::ffi::OsString;
use std::io::{self, BufRead};

use tilework::dialect::{self, Known, Said};
use tilework::{Error, Result};

use crate::args::{Args, MessageArgs};
use crate::message;
use crate::output::{Output, Stop};
use crate::subject;

/// The longest line that is read.
const LONGEST: usize = 1 << 20;

/// What a line of standard input should be where layouts are read.
pub const LAYOUT: &str = "a layout, such as f32[3,5]{1,0}";

/// Calls `answer` with what each text says, and reports those that say nothing. With `message`, protobuf messages
/// may stand for them.
pub fn subjects(
    given: &[OsString],
    (message, args): (Option<&MessageArgs>, &Args),
    output: &mut Output,
    mut answer: impl FnMut(&Given, &mut Output) -> std::result::Result<(), Stop>,
) -> std::result::Result<(), Stop> {
    if let Some((message, format)) = message.and_then(|message| Some((message, message.from_format?))) {
        return message::subjects(given, format, (message, args), output, answer);
    }
    if let Some((error, text)) = unquoted_braces(given).or_else(|| unquoted_blanks(given)) {
        return output.bad(&error, &text, None);
    }
    texts(given, LAYOUT, output, |text, line, output| {
        match subject::read(text, line, Known::default(), args) {
            Ok(found) => {
                let mut found = found.into_iter();
                found.try_for_each(|found| {
                    let name = found.name.as_deref();
                    answer(&Given { text, name, said: found.said, line }, output)
                })
            }
            Err(bad) => output.bad(&bad.error, &bad.text, line),
        }
    })
}

/// Says what a shell has done to braces that stood in no quotes: of `f32[3,5]{1,0}` it makes `f32[3,5]1 f32[3,5]0`.
fn unquoted_braces(given: &[OsString]) -> Option<(Error, String)> {
    let words: Vec<&str> = given.iter().map(|word| word.to_str()).collect::<Option<_>>()?;
    let parts: Vec<(&str, &str)> = words.iter().map(|word| word.rsplit_once(']')).collect::<Option<_>>()?;
    let [(head, first), _, ..] = parts[..] else { return None };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_cut =
        parts.iter().all(|(own, tail)| *own == head && is_number(tail.split(':').next().unwrap_or("")));
    if !is_cut || !is_number(first) {
        return None;
    }
    let inside: Vec<&str> = parts.iter().map(|(_, tail)| *tail).collect();
    let meant = format!("{head}]{{{}}}", inside.join(","));
    let error = Error::new(format!("{} words, which a shell made of one", words.len()))
        .at(head.len() + 1..words[0].len())
        .rule("a shell takes braces with commas in them apart")
        .accepts(format!("'{meant}', in quotes"));
    Some((error, words[0].to_owned()))
}

/// Says that words are one text, where they are one together and the first is none alone: `FLOAT16 NHWC [1,64,56,56]`.
fn unquoted_blanks(given: &[OsString]) -> Option<(Error, String)> {
    let words: Vec<&str> = given.iter().map(|word| word.to_str()).collect::<Option<_>>()?;
    let (first, others) = words.split_first()?;
    if others.is_empty() || words.len() > MOST_WORDS || first.starts_with(['@', '-']) {
        return None;
    }
    let whole = words.join(" ");
    if dialect::read(first).is_ok() || dialect::read(&whole).is_err() {
        return None;
    }
    let error = Error::new(format!("{} words, which are one text together", words.len()))
        .at(0..whole.len())
        .rule("a shell takes a text with blanks in it apart, unless it is in quotes")
        .accepts(format!("'{whole}', in quotes"));
    Some((error, whole))
}

/// The most words that are tried as one text.
const MOST_WORDS: usize = 64;

/// What a text says, as it was given.
pub struct Given<'a> {
    pub text: &'a str,
    /// What the text calls it, where it names several.
    pub name: Option<&'a str>,
    pub said: Said,
    /// The line of standard input.
    pub line: Option<u64>,
}

/// Calls `answer` with each text: the arguments, or the lines of standard input if there are none or `-`. Reports that
/// there is none: `wanted` is what a line should be.
pub fn texts(
    given: &[OsString],
    wanted: &str,
    output: &mut Output,
    mut answer: impl FnMut(&str, Option<u64>, &mut Output) -> std::result::Result<(), Stop>,
) -> std::result::Result<(), Stop> {
    let stdin = [OsString::from("-")];
    let given = if given.is_empty() { &stdin } else { given };
    for text in given {
        if text == "-" {
            if !lines(output, &mut answer)? {
                let error = Error::new("nothing on standard input but blank lines or comments")
                    .rule("without an argument for it, each other line of standard input is answered")
                    .accepts(format!("{wanted}, as an argument, or one a line"));
                output.bad(&error, "", None)?;
            }
            continue;
        }
        match utf8(text.as_encoded_bytes()) {
            Ok(text) => answer(text, None, output)?,
            Err(error) => output.bad(&error, &text.to_string_lossy(), None)?,
        }
    }
    Ok(())
}

/// A text of one argument.
pub fn argument(text: &OsString) -> Result<&str> {
    utf8(text.as_encoded_bytes())
}

/// The text, or where it stops being UTF-8.
fn utf8(bytes: &[u8]) -> Result<&str> {
    std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        Error::new(format!("byte 0x{:02x} is not UTF-8", bytes[at]))
            .at(at..at + 1)
            .rule("shapes are written in UTF-8 text")
            .accepts("ASCII characters")
    })
}

/// Each line of standard input that is neither blank nor a comment; false if there is none. No line takes more memory than
/// the longest.
fn lines(
    output: &mut Output,
    answer: &mut impl FnMut(&str, Option<u64>, &mut Output) -> std::result::Result<(), Stop>,
) -> std::result::Result<bool, Stop> {
    let mut input = io::stdin().lock();
    let (mut line, mut any) = (Vec::new(), false);
    for number in 1.. {
        line.clear();
        let read = read_line(&mut input, &mut line);
        let named = |error: io::Error| io::Error::new(error.kind(), format!("standard input: {error}"));
        let Some(whole) = read.map_err(named)? else { break };
        let text = line.trim_ascii();
        if whole && (text.is_empty() || text.starts_with(b"#")) {
            continue;
        }
        any = true;
        if !whole {
            let error = Error::new(format!("a line longer than {LONGEST} bytes"))
                .rule("lines are limited to bound memory")
                .accepts(format!("one shape a line, in up to {LONGEST} bytes"));
            output.bad(&error, "", Some(number))?;
            continue;
        }
        match utf8(text) {
            Ok(text) => answer(text, Some(number), output)?,
            Err(error) => output.bad(&error, &String::from_utf8_lossy(text), Some(number))?,
        }
    }
    Ok(any)
}

/// Reads a line without its end; false if it was too long and its rest was skipped, none at the end of the input.
fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<Option<bool>> {
    let (mut whole, mut any) = (true, false);
    loop {
        let chunk = match input.fill_buf() {
            Ok(chunk) => chunk,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if chunk.is_empty() {
            return Ok(any.then_some(whole));
        }
        any = true;
        let end = chunk.iter().position(|&byte| byte == b'\n');
        let text = &chunk[..end.unwrap_or(chunk.len())];
        if line.len() + text.len() > LONGEST {
            whole = false;
            line.clear();
        }
        if whole {
            line.extend_from_slice(text);
        }
        let used = end.map_or(chunk.len(), |end| end + 1);
        input.consume(used);
        if end.is_some() {
            return Ok(Some(whole));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_too_long_is_skipped_and_the_next_one_read() -> io::Result<()> {
        let text = [vec![b'('; LONGEST + 5], b"\nf32[2]\n\nlast".to_vec()].concat();
        let mut input = io::BufReader::with_capacity(777, &text[..]);
        let mut found = Vec::new();
        loop {
            let mut line = Vec::new();
            match read_line(&mut input, &mut line)? {
                Some(whole) => found.push((whole, String::from_utf8_lossy(&line).into_owned())),
                None => break,
            }
        }
        let expected = [(false, ""), (true, "f32[2]"), (true, ""), (true, "last")];
        assert_eq!(found, expected.map(|(whole, text)| (whole, text.to_owned())));
        Ok(())
    }

    #[test]
    fn bytes_that_are_no_text_are_located() {
        assert_eq!(utf8(b"f32\xff[2]").unwrap_err().span(), Some(3..4));
        assert_eq!(utf8("f32[2]".as_bytes()), Ok("f32[2]"));
    }
}
