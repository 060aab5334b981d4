//! Layouts anywhere in a text: in a log, a program, or what somebody printed.
//!
//! Wherever a word begins as the texts of some notation do, the longest piece that a notation reads is one. Names that lines
//! of MLIR define (`#shared = …`) are put in for what they stand for.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::OnceLock;
use tilework_core::InOrder;

use crate::dialect::{Confidence, Found, all, read, sized};
use crate::error::Result;

/// A layout that stands in a text.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Sighting {
    /// Where it stands for the first time, in bytes.
    pub span: Range<usize>,
    /// The line of that, counted from 1.
    pub line: u64,
    /// How often it stands there.
    pub times: u64,
    /// What was read: the piece of the text, with what its names stand for.
    pub text: String,
    /// What it says, or what it would have to say besides.
    pub found: Result<Vec<Found>>,
}

/// The most bytes of a piece.
const LONGEST: usize = 1 << 13;

/// The most bytes of a shape in parentheses: each one that opens is followed this far.
const SHAPE: usize = 1 << 10;

/// The most places where a piece may end.
const ENDS: usize = 24;

/// The most sightings.
const MOST: usize = 1 << 12;

/// The most bytes of pieces that are tried. Only a text made to be slow has more.
const WORK: usize = 1 << 26;

/// How deep names may stand for names.
const DEPTH: usize = 8;

/// The layouts that stand in a text, in its order; what stands there more than once is there once.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Sightings {
    /// Each with where it stands.
    pub all: Vec<Sighting>,
    /// Whether all of the text was looked at. Looking ends after some thousands, and in a text that is made to be slow.
    pub is_complete: bool,
}

/// Every layout that stands in a text.
///
/// ```
/// use tilework::dialect::find;
/// let log = "step 3: moved f32[3,5]{0,1} and tensor<4xi8>, not f32[3,5]{0,1} again";
/// let found = find(log);
/// let texts: Vec<(&str, u64)> = found.all.iter().map(|one| (&*one.text, one.times)).collect();
/// assert_eq!(texts, [("f32[3,5]{0,1}", 2), ("tensor<4xi8>", 1)]);
/// ```
pub fn find(text: &str) -> Sightings {
    let whole = text.trim();
    if let Some(found) = says(whole) {
        let start = text.len() - text.trim_start().len();
        let line = line_at(text, start);
        let span = start..start + whole.len();
        let one = Sighting { span, line, times: 1, text: whole.to_owned(), found };
        return Sightings { all: vec![one], is_complete: true };
    }
    let (names, defining) = definitions(text);
    let mut search = Search { text, names, seen: HashMap::new(), sightings: Vec::new(), work: WORK };
    let mut is_complete = search.scan(|at| {
        let next = defining.partition_point(|line| line.end <= at);
        defining.get(next).is_none_or(|line| at < line.start)
    });
    if search.sightings.is_empty() && !defining.is_empty() {
        is_complete &= search.scan(|_| true); // names that nothing uses
    }
    Sightings { all: search.sightings, is_complete }
}

struct Search<'a> {
    text: &'a str,
    names: HashMap<&'a str, &'a str>,
    /// What each piece that was tried is: the number of a sighting, or none.
    seen: HashMap<String, Option<usize>>,
    sightings: Vec<Sighting>,
    /// The bytes that may still be tried.
    work: usize,
}

impl Search<'_> {
    /// Looks at all of the text, or at as much as is allowed; then it is false.
    fn scan(&mut self, wanted: impl Fn(usize) -> bool) -> bool {
        let (mut at, mut line, mut counted) = (0, 1, 0);
        let bytes = self.text.as_bytes();
        while at < bytes.len() {
            if self.sightings.len() >= MOST || self.work == 0 {
                return false;
            }
            let is_start = self.text.is_char_boundary(at) && begins(self.text, at) && wanted(at);
            let Some(end) = is_start.then(|| self.longest(at, &mut line, &mut counted)).flatten() else {
                at += 1;
                continue;
            };
            at = end.max(at + 1);
        }
        true
    }

    /// The end of the longest piece from here that says a layout, which is noted.
    fn longest(&mut self, start: usize, line: &mut u64, counted: &mut usize) -> Option<usize> {
        let ends = ends(self.text, start);
        // Looking for the ends is some of the work.
        self.work = self.work.saturating_sub(ends.last().map_or(LONGEST, |end| end - start) / 8);
        for end in ends.into_iter().rev() {
            // What goes on is more than was read, and nobody says what.
            let next = self.text[end..].bytes().next();
            if next.is_some_and(|byte| byte.is_ascii_alphanumeric() || b"[{(<_".contains(&byte)) {
                continue;
            }
            let piece = self.text[start..end].trim_end();
            let read = put_in(piece, &self.names);
            self.work = self.work.saturating_sub(read.len());
            let number = match self.seen.get(&read) {
                Some(&Some(number)) => {
                    self.sightings[number].times += 1;
                    return Some(end);
                }
                Some(None) => continue,
                None => says(&read).map(|found| {
                    *line += self.text[*counted..start].bytes().filter(|&byte| byte == b'\n').count() as u64;
                    *counted = start;
                    let span = start..start + piece.len();
                    self.sightings.push(Sighting { span, line: *line, times: 1, text: read.clone(), found });
                    self.sightings.len() - 1
                }),
            };
            self.seen.insert(read, number);
            if number.is_some() {
                return Some(end);
            }
        }
        None
    }
}

/// What a piece says; none if it is no layout's text.
fn says(piece: &str) -> Option<Result<Vec<Found>>> {
    if piece.is_empty() {
        return None;
    }
    match read(piece) {
        Ok(found) => {
            let is_array = |found: &Found| {
                let said = &found.said;
                let is_said = said.element().is_some() || said.leaves().is_some() || said.open().is_some();
                is_said || said.layout().is_ok()
            };
            found.iter().any(is_array).then_some(Ok(found))
        }
        // It is all there, and says too little: no sizes, or no type.
        Err(error) => {
            let is_whole = error.span() == Some(0..piece.len()) && error.accepted().is_some();
            (is_whole && is_sure(piece)).then_some(Err(error))
        }
    }
}

/// Whether a notation is certain that a text is its own.
fn is_sure(text: &str) -> bool {
    all().iter().any(|own| (own.recognise)(text.trim_end()) == Some(Confidence::Certain))
}

/// Whether nothing but blanks stands before this on its line.
fn is_line_start(text: &str, at: usize) -> bool {
    text[..at].trim_end_matches([' ', '\t']).bytes().next_back().is_none_or(|byte| byte == b'\n')
}

fn line_at(text: &str, place: usize) -> u64 {
    1 + text[..place].bytes().filter(|&byte| byte == b'\n').count() as u64
}

/// Whether a layout may begin here: a word does, and it is one with which some notation's texts begin.
fn begins(text: &str, at: usize) -> bool {
    let bytes = text.as_bytes();
    let in_word = |byte: u8| byte.is_ascii_alphanumeric() || b"_.!#%@$".contains(&byte);
    if at > 0 && in_word(bytes[at - 1]) {
        return false;
    }
    let rest = &text[at..];
    match bytes[at] {
        b'(' => closing(rest).is_some_and(|end| rest[end..].starts_with(":") && rest.len() > end + 1),
        b'{' | b'[' if rest[1..].trim_start().starts_with(['"', '\'']) => true,
        // A line of a log that a notation knows as a whole.
        b'[' | b'0'..=b'9' if is_line_start(text, at) && is_sure(rest.lines().next().unwrap_or_default()) => {
            true
        }
        b'[' => sized::sizes(rest).is_some_and(|(_, end)| {
            let behind = rest[end..].trim_start_matches(' ');
            behind.starts_with(|c: char| c.is_ascii_alphabetic())
                && behind.trim_start_matches(|c: char| c.is_ascii_alphanumeric()).starts_with('(')
        }),
        byte if in_word(byte) => {
            let first = heads().partition_point(|head| head.as_bytes()[0] < byte);
            let same = heads()[first..].iter().take_while(|head| head.as_bytes()[0] == byte);
            let is_headed = same.clone().any(|head| rest.starts_with(head.as_str()));
            is_headed || sized::prefix(rest).is_some() || sized::element(rest).is_some()
        }
        _ => false,
    }
}

/// Where the bracket with which a text begins is closed.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate().take(SHAPE) {
        match byte {
            b'(' => depth += 1,
            b')' if depth == 1 => return Some(at + 1),
            b')' => depth -= 1,
            b'\n' => return None,
            _ => {}
        }
    }
    None
}

/// The words with which the texts of all notations begin, sorted, each with the bracket or sign that belongs to it. Their
/// examples show them, and so does what follows a type and sizes there.
fn heads() -> &'static [String] {
    static HEADS: OnceLock<Vec<String>> = OnceLock::new();
    HEADS.get_or_init(|| {
        let texts = all().iter().flat_map(|dialect| dialect.examples).map(|example| example.text);
        let mut heads: Vec<String> = texts.filter_map(head).collect();
        heads.order();
        heads.dedup();
        heads
    })
}

fn head(text: &str) -> Option<String> {
    let typed = sized::prefix(text).map(|(_, rest)| rest).or(sized::element(text).map(|(_, rest)| rest));
    let text = &text[typed.unwrap_or(0)..];
    // What an operation makes has any name.
    let text =
        text.split_once(" = ").filter(|(name, _)| name.starts_with('%')).map_or(text, |(_, rest)| rest);
    let end = text.find(|c: char| " [(<{:=,".contains(c))?;
    let sign = text[end..].starts_with(|c: char| "[(<{:=,".contains(c));
    let is_word = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '#' || c == '!');
    // Names that a text defines itself are no notation's. Behind a type, letters alone may be any word.
    let is_own = text[end..].trim_start().starts_with('=') && text.starts_with(['#', '!']);
    let is_sure = typed.is_none() || text[end..].starts_with(['(', '<', '[']);
    (is_word && is_sure && !is_own).then(|| text[..end + usize::from(sign)].to_owned())
}

/// Where a piece that begins here may end, the first first: behind lines, and behind brackets and words where all
/// brackets are closed.
fn ends(text: &str, start: usize) -> Vec<usize> {
    let bytes = &text.as_bytes()[start..];
    let (mut ends, mut open, mut quote) = (Vec::new(), Vec::new(), None);
    for (at, &byte) in bytes.iter().enumerate().take(LONGEST) {
        if ends.len() >= ENDS {
            return ends;
        }
        if let Some(mark) = quote {
            if byte == mark || byte == b'\n' {
                quote = None;
            }
            continue;
        }
        match byte {
            // An apostrophe in a word is none that opens a text.
            b'"' | b'\'' if at == 0 || !bytes[at - 1].is_ascii_alphanumeric() => quote = Some(byte),
            b'(' | b'[' | b'{' | b'<' => open.push(byte),
            b'>' if at > 0 && matches!(bytes[at - 1], b'-' | b'=') => {}
            b')' | b']' | b'}' | b'>' => {
                let opening = match byte {
                    b')' => b'(',
                    b']' => b'[',
                    b'}' => b'{',
                    _ => b'<',
                };
                if open.last() != Some(&opening) {
                    if open.is_empty() {
                        ends.push(start + at);
                    }
                    return ends;
                }
                open.pop();
                if open.is_empty() {
                    ends.push(start + at + 1);
                }
            }
            // What is printed over several lines may say all on its first.
            b'\n' => {
                ends.push(start + at);
                if open.is_empty() {
                    return ends;
                }
            }
            b' ' | b'\t' if at > 0 && matches!(bytes[at - 1], b' ' | b'\t') => {} // of several blanks, one is an end
            b' ' | b'\t' | b',' | b';' if open.is_empty() && at > 0 => ends.push(start + at),
            _ => {}
        }
    }
    if bytes.len() <= LONGEST {
        ends.push(text.len());
    }
    ends
}

/// The names that lines define, `#shared = #ttg…`, with what they stand for; and these lines.
fn definitions(text: &str) -> (HashMap<&str, &str>, Vec<Range<usize>>) {
    let (mut names, mut lines, mut start) = (HashMap::new(), Vec::new(), 0);
    for line in text.split_inclusive('\n') {
        if let Some((name, body)) = line.trim().split_once(" = ")
            && name.starts_with(['#', '!'])
            && name.len() > 1
            && name[1..].bytes().all(in_name)
        {
            names.insert(name, body);
            lines.push(start..start + line.len());
        }
        start += line.len();
    }
    (names, lines)
}

fn in_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$')
}

/// The text with what its names stand for.
fn put_in(piece: &str, names: &HashMap<&str, &str>) -> String {
    let mut text = piece.to_owned();
    for _ in 0..DEPTH {
        let Some(next) = put_in_once(&text, names).filter(|next| next.len() <= LONGEST) else { break };
        text = next;
    }
    text
}

/// Each name replaced; none if there is no name in the text.
fn put_in_once(text: &str, names: &HashMap<&str, &str>) -> Option<String> {
    let (mut out, mut copied) = (String::new(), 0);
    for (at, _) in text.match_indices(['#', '!']).filter(|_| !names.is_empty()) {
        let length = text[at + 1..].bytes().take_while(|&byte| in_name(byte)).count();
        let end = at + 1 + length;
        if let Some(body) = names.get(&text[at..end])
            && !text[end..].starts_with(['.', '<'])
        {
            out.push_str(&text[copied..at]);
            out.push_str(body);
            copied = end;
        }
    }
    (copied > 0).then(|| out + &text[copied..])
}
