//! The one error of the library.

use std::fmt;
use std::ops::Range;

use crate::printable::{printable, sign};

/// What was wrong: where it is, what was found there, which rule that breaks, and what would be accepted.
///
/// ```
/// let error = tilework::xla::Shape::parse("f32[3,5]{1,0:T(0,2)}").unwrap_err();
/// assert_eq!(error.span(), Some(15..16));
/// println!("{}", error.report("f32[3,5]{1,0:T(0,2)}"));
/// ```
///
/// `Display` is one line; [`Error::report`] draws the text with a caret under the place. Both are small and harmless to look
/// at whatever text the error is about: words of it are cut, and characters that a terminal obeys are shown by
/// [`printable`] signs.
#[derive(Clone, PartialEq, Eq)]
pub struct Error(Box<Parts>);

#[derive(Clone, PartialEq, Eq)]
struct Parts {
    kind: ErrorKind,
    found: String,
    place: Place,
    rule: Option<String>,
    accepts: Option<String>,
}

/// What kind of error it is: what a program may act on, where the words are for people.
///
/// ```
/// use tilework::{ErrorKind, xla::Shape};
/// assert_eq!(Shape::parse("f32[3,").unwrap_err().kind(), ErrorKind::Syntax);
/// let dynamic = Shape::parse("f32[?]")?;
/// assert_eq!(dynamic.as_array().unwrap().lower().unwrap_err().kind(), ErrorKind::Unsupported);
/// # Ok::<(), tilework::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A value breaks a rule, and none of the kinds below says it closer.
    #[default]
    Invalid,
    /// A text, or the bytes of a message, do not go on as their notation wants.
    Syntax,
    /// An index, an offset or the number of a dimension is outside what there is.
    Range,
    /// A size, a stride or a product does not fit its bits.
    Overflow,
    /// Two things that must agree do not, each right by itself.
    Mismatch,
    /// All is right, but there is no such answer: no strides say the layout, no size is known.
    Unsupported,
    /// It would take more than one of the library's limits.
    Limit,
}

#[derive(Clone, PartialEq, Eq)]
enum Place {
    Unknown,
    Field(String),
    Text(Range<usize>),
}

/// What every fallible function of the library returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An error that says what was found, in one sentence without a full stop.
    pub fn new(found: impl Into<String>) -> Error {
        let (kind, place) = (ErrorKind::Invalid, Place::Unknown);
        Error(Box::new(Parts { kind, found: cut(found.into()), place, rule: None, accepts: None }))
    }

    /// The same error, of this kind; without it, it is [`ErrorKind::Invalid`].
    #[must_use]
    pub fn of_kind(mut self, kind: ErrorKind) -> Error {
        self.0.kind = kind;
        self
    }

    /// The bytes of the text that are wrong. An empty range stands between two characters.
    #[must_use]
    pub fn at(mut self, span: Range<usize>) -> Error {
        self.0.place = Place::Text(span);
        self
    }

    /// Like [`Error::at`], but keeps a place that is already known.
    #[must_use]
    pub fn or_at(self, span: Range<usize>) -> Error {
        match self.0.place {
            Place::Text(_) => self,
            _ => self.at(span),
        }
    }

    /// The same about a text that has this many bytes before the one it is about.
    #[must_use]
    #[doc(hidden)]
    pub fn moved(mut self, bytes: usize) -> Error {
        if let Place::Text(span) = &mut self.0.place {
            *span = span.start + bytes..span.end + bytes;
        }
        self
    }

    /// The same about a text that lacks this many bytes in front.
    #[must_use]
    #[doc(hidden)]
    pub fn moved_back(mut self, bytes: usize) -> Error {
        if let Place::Text(span) = &mut self.0.place {
            *span = span.start.saturating_sub(bytes)..span.end.saturating_sub(bytes);
        }
        self
    }

    /// The field that is wrong, where there is no text.
    #[must_use]
    pub fn field(mut self, name: impl Into<String>) -> Error {
        self.0.place = Place::Field(cut(name.into()));
        self
    }

    /// The rule that is broken.
    #[must_use]
    pub fn rule(mut self, rule: impl Into<String>) -> Error {
        self.0.rule = Some(cut(rule.into()));
        self
    }

    /// What would be accepted in its place.
    #[must_use]
    pub fn accepts(mut self, accepts: impl Into<String>) -> Error {
        self.0.accepts = Some(cut(accepts.into()));
        self
    }

    /// What kind of error it is, for programs.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// What was found.
    pub fn found(&self) -> &str {
        &self.0.found
    }

    /// The bytes of the text that are wrong, when the error is about a text.
    pub fn span(&self) -> Option<Range<usize>> {
        match &self.0.place {
            Place::Text(span) => Some(span.clone()),
            _ => None,
        }
    }

    /// The field that is wrong, when the error is about a value and not a text.
    pub fn field_name(&self) -> Option<&str> {
        match &self.0.place {
            Place::Field(name) => Some(name),
            _ => None,
        }
    }

    /// The rule that is broken, when there is more to say than what was found.
    pub fn broken_rule(&self) -> Option<&str> {
        self.0.rule.as_deref()
    }

    /// What would be accepted instead.
    pub fn accepted(&self) -> Option<&str> {
        self.0.accepts.as_deref()
    }

    /// The error over several lines, with the line of `text` it is about and a caret under the place.
    ///
    /// A long line is cut to the surroundings of the place, so a report is small whatever the text.
    pub fn report<'a>(&'a self, text: &'a str) -> impl fmt::Display + 'a {
        Report { error: self, text }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.place {
            Place::Unknown => {}
            Place::Field(name) => write!(f, "{}: ", printable(name))?,
            Place::Text(span) => write!(f, "at byte {}: ", span.start)?,
        }
        f.write_str(&printable(&self.0.found))?;
        if let Some(rule) = &self.0.rule {
            write!(f, "; {}", printable(rule))?;
        }
        if let Some(accepts) = &self.0.accepts {
            write!(f, "; accepted: {}", printable(accepts))?;
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Error({self})")
    }
}

impl std::error::Error for Error {}

/// `1 dimension`, `2 dimensions`
pub fn counted(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// A piece of the user's text inside a message: short, on one line.
pub fn quoted(text: &str) -> String {
    let mut shown: String = text.chars().take(24).flat_map(char::escape_debug).collect();
    if text.chars().nth(24).is_some() {
        shown.push('…');
    }
    format!("`{shown}`")
}

struct Report<'a> {
    error: &'a Error,
    text: &'a str,
}

/// Characters of the line that a report shows on either side of the place.
const CONTEXT: usize = 36;

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = &self.error.0;
        match &parts.place {
            Place::Field(name) => write!(f, "{}: {}", printable(name), printable(&parts.found))?,
            _ => f.write_str(&printable(&parts.found))?,
        }
        if let Place::Text(span) = &parts.place {
            self.draw(f, span)?;
        }
        for (word, line) in [("rule", &parts.rule), ("accepted", &parts.accepts)] {
            if let Some(line) = line {
                write!(f, "\n  {word}: {}", printable(line))?;
            }
        }
        Ok(())
    }
}

impl Report<'_> {
    fn draw(&self, f: &mut fmt::Formatter<'_>, span: &Range<usize>) -> fmt::Result {
        let place = floor_boundary(self.text, span.start);
        let line_start = self.text[..place].rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = self.text[place..].find('\n').map_or(self.text.len(), |newline| place + newline);
        let before: Vec<char> = self.text[line_start..place].chars().rev().take(CONTEXT).collect();
        let after: Vec<char> = self.text[place..line_end].chars().take(CONTEXT).collect();
        let head = if self.text[line_start..place].chars().nth(before.len()).is_some() { "…" } else { "" };
        let tail = if self.text[place..line_end].chars().nth(after.len()).is_some() { "…" } else { "" };
        let space = |c: char| if matches!(c, '\t' | '\r') { ' ' } else { sign(c) };
        let shown: String = before.iter().rev().chain(&after).map(|&c| space(c)).collect();
        let end = floor_boundary(self.text, span.end.min(line_end)).max(place);
        let carets = self.text[place..end].chars().take(after.len()).count().max(1);
        write!(f, "\n    {head}{shown}{tail}\n    ")?;
        write!(f, "{}{}", " ".repeat(head.chars().count() + before.len()), "^".repeat(carets))
    }
}

/// Bytes of one part of a message: more than any that repeats only words of ours.
const LONGEST: usize = 1 << 10;

/// The part of a message, without the middle if it is long: a text that it repeats may have megabytes.
fn cut(mut text: String) -> String {
    if text.len() > LONGEST {
        let head = floor_boundary(&text, LONGEST * 3 / 4);
        let tail = floor_boundary(&text, text.len() - LONGEST / 4 + '…'.len_utf8());
        text.replace_range(head..tail, "…");
        text.shrink_to_fit();
    }
    text
}

/// The start of the character that holds byte `at`, or the end of the text.
fn floor_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_shows_the_line_and_the_place_in_it() {
        let report = |text: &str, span| Error::new("wrong").at(span).report(text).to_string();
        assert_eq!(report("one\nf32[é\tx]\nlast", 11..12), "wrong\n    f32[é x]\n          ^");
        assert_eq!(report("one\nf32", 4..7), "wrong\n    f32\n    ^^^");
        assert_eq!(report("one\nf32\n", 7..7), "wrong\n    f32\n       ^");
        // What goes on in the next line is shown up to the end of this one.
        assert_eq!(report("one\ntwo", 1..6), "wrong\n    one\n     ^^");
        assert_eq!(report("", 0..9), "wrong\n    \n    ^");
        // Of a long line, what is near.
        let long = format!("{}x{}", "a".repeat(37), "b".repeat(36));
        let near = format!("…{}x{}…", "a".repeat(36), "b".repeat(35));
        assert_eq!(report(&long, 37..38), format!("wrong\n    {near}\n    {}^", " ".repeat(37)));
        let short = format!("{}x{}", "a".repeat(36), "b".repeat(35));
        assert_eq!(report(&short, 36..37), format!("wrong\n    {short}\n    {}^", " ".repeat(36)));
    }

    #[test]
    fn a_long_text_in_a_message_loses_its_middle() {
        let (short, long) = ("é".repeat(LONGEST / 2), format!("{}{}", "é".repeat(4000), "z".repeat(4000)));
        assert_eq!(Error::new(short.as_str()).found(), short);
        let error = Error::new(long.as_str()).rule(long.as_str()).accepts(long.as_str()).field(long.as_str());
        let cut = format!("{}…{}", "é".repeat(LONGEST * 3 / 8), "z".repeat(LONGEST / 4 - '…'.len_utf8()));
        assert_eq!(error.found(), cut);
        assert_eq!((error.broken_rule(), error.accepted()), (Some(&*cut), Some(&*cut)));
        assert!(cut.len() <= LONGEST && cut.len() > LONGEST - 4);
    }
}
