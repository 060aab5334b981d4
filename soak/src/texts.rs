//! Mutated texts of all notations: whatever is read, found, translated or explained, nothing panics, what is said reads back
//! as the same, and what is shown fits its width and commands no terminal.

use std::path::Path;

use tilework::dialect::{self, Target};
use tilework_explain::{Look, Translated, explain};

use crate::attack::{Attack, Log, holds, same};
use crate::dice::Dice;

/// The longest text that is tried.
const LONGEST: usize = 64 << 10;

/// What texts of some notation are made of, numbers at the edges, and characters that mean harm.
const PIECES: [&str; 80] = [
    "f32",
    "bf16",
    "s4",
    "u1",
    "i8",
    "float32",
    "FLOAT16",
    "f8E4M3FN",
    "pred",
    "token[]",
    "tensor<",
    "memref<",
    "[",
    "]",
    "{",
    "}",
    "(",
    ")",
    "<",
    ">",
    ",",
    ":",
    ";",
    "=",
    "->",
    "*",
    "?",
    "-",
    "+",
    "x",
    "T(8,128)",
    "(2,1)",
    "L(1024)",
    "E(4)",
    "S(5)",
    "M(77)",
    "pad(",
    "=lowest",
    "strides(",
    "base(",
    "size(",
    "{1,0:",
    "{0,1}",
    "nChw16c",
    "aBcd8b",
    "NHWC",
    "order=",
    "NCHW32c",
    "((2,4),3)",
    ":((1,2),8)",
    "Sw<3,4,3> o ",
    "#blocked = #ttg.blocked<{sizePerThread = [1, 4]}>",
    "affine_map<(d0)",
    "d0 floordiv 4",
    " mod 2",
    "strided<[",
    "offset: ?",
    "major_to_minor=",
    "tiling=((8, 128),)",
    "@tiled",
    "0",
    "1",
    "2",
    "-1",
    "128",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "1e309",
    "0x7fffffffffffffff",
    "\u{1b}[2J",
    "\u{202e}",
    "\u{0}",
    "\u{2028}",
    "é",
    "𝄞",
    "\n",
];

/// The texts to begin with.
pub struct Texts(Vec<String>);

pub fn new() -> Result<Box<dyn Attack>, String> {
    Ok(Box::new(Texts::all()?))
}

impl Texts {
    /// Those of `corpus/` and the examples of all notations.
    pub fn all() -> Result<Texts, String> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus");
        let files = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let mut texts: Vec<String> = dialect::all()
            .iter()
            .flat_map(|dialect| dialect.examples)
            .map(|example| example.text.to_owned())
            .collect();
        let mut files: Vec<_> = files.flatten().map(|file| file.path()).collect();
        files.sort();
        for file in files.iter().filter(|file| file.extension().is_some_and(|ending| ending == "json")) {
            let json = std::fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
            let json: serde_json::Value = serde_json::from_slice(&json).map_err(|error| error.to_string())?;
            for case in json["cases"].as_array().into_iter().flatten() {
                texts.extend(case["text"].as_str().map(str::to_owned));
            }
        }
        Ok(Texts(texts))
    }

    /// Some text.
    pub fn pick<'a>(&'a self, dice: &mut Dice) -> &'a str {
        &self.0[dice.index(self.0.len())]
    }

    /// A text that is no longer quite what it was.
    pub fn mutated(&self, dice: &mut Dice) -> String {
        let mut text = self.pick(dice).to_owned();
        for _ in 0..dice.of(&[0, 1, 1, 1, 2, 2, 3, 5, 9]) {
            self.mutate(dice, &mut text);
            if text.len() > LONGEST {
                text.truncate(floor(&text, LONGEST));
            }
        }
        text
    }

    fn mutate(&self, dice: &mut Dice, text: &mut String) {
        let (a, b) = (place(dice, text), place(dice, text));
        let (a, b) = (a.min(b), a.max(b));
        let piece = PIECES[dice.index(PIECES.len())];
        match dice.below(12) {
            0 => text.truncate(b),
            1 => text.replace_range(a..b, ""),
            2 => text.insert_str(a, piece),
            3 => text.replace_range(a..b, piece),
            4 => {
                let twice = text[a..b].to_owned();
                text.insert_str(b, &twice);
            }
            5 => {
                // Nesting and repetition, up to what a parser that calls itself could not stand.
                let many = if dice.once_in(30) { &[3000, 20_000] } else { &[2, 60] };
                let times = dice.of(many);
                let open =
                    dice.of(&["(", "[", "{", "<", "((", "-", "1,", "tensor<", "(1,", "tuple(", "f32[2],"]);
                let close = dice.of(&["", ")", "]", "}", ">", "))", ",1)"]);
                let inner = text.split_off(a);
                *text = format!("{text}{}{inner}{}", open.repeat(times), close.repeat(times));
            }
            6 => {
                let other = self.pick(dice);
                let from = place(dice, other);
                text.replace_range(a..b, &other[from..]);
            }
            7 | 8 => number(dice, text),
            9 => {
                let end = text[a..].chars().next().map_or(a, |c| a + c.len_utf8());
                let c = char::from_u32(dice.below(0x110) as u32 * if dice.once_in(9) { 256 } else { 1 });
                text.replace_range(a..end, &c.unwrap_or('x').to_string());
            }
            10 => {
                let other = self.pick(dice);
                *text = format!("{text}{}{other}", dice.of(&[" ", "\n", ", ", "", " and "]));
            }
            _ => {
                let piece = text[a..b].to_owned();
                let times = if dice.once_in(30) { 500 } else { 2 + dice.index(8) };
                text.insert_str(b, &piece.repeat(times.min(LONGEST / (b - a).max(1))));
            }
        }
    }
}

impl Attack for Texts {
    fn case(&mut self, dice: &mut Dice, log: &mut Log) -> Result<(), String> {
        let text = self.mutated(dice);
        let width = dice.of(&[80, 80, 20, 1, 0, 40, 132, 300, usize::MAX]);
        let ascii = dice.once_in(4);
        // All notations at once would take most of the time.
        let targets: Vec<Target> = dialect::targets().filter(|_| dice.once_in(6)).collect();
        log.text = Some(text.as_bytes().to_vec());
        Trial { width, ascii, targets }.of(&text, log)
    }

    fn text(&mut self, text: &[u8], log: &mut Log) -> Result<(), String> {
        let targets = dialect::targets().collect();
        Trial { width: 80, ascii: false, targets }.of(&String::from_utf8_lossy(text), log)
    }

    fn short(&self) -> u64 {
        300
    }
}

/// How a text is looked at.
struct Trial {
    width: usize,
    ascii: bool,
    targets: Vec<Target>,
}

impl Trial {
    /// Everything that is done with a text; what goes wrong is said with the text.
    fn of(&self, text: &str, log: &mut Log) -> Result<(), String> {
        log.note(|| format!("{text:?} at {} columns", self.width));
        let outcome = checked(text, self, &mut log.words);
        outcome.map_err(|why| format!("{why}; the text is {:?}", shortened(text)))
    }
}

fn checked(text: &str, trial: &Trial, words: &mut Vec<&'static str>) -> Result<(), String> {
    match dialect::read(text) {
        Err(error) => {
            words.push("refused");
            let message = error.to_string();
            holds(message.len() < 4096, || format!("a message of {} bytes", message.len()))?;
            if let Some(span) = error.span() {
                let is_within = span.start <= span.end && span.end <= text.len() + 1;
                holds(is_within, || format!("{span:?} of {} bytes", text.len()))?;
                let report = error.report(text).to_string();
                holds(report.len() < 8192, || format!("a report of {} bytes", report.len()))?;
                holds(report.lines().all(is_harmless), || format!("a report that is obeyed: {report:?}"))?;
            }
        }
        Ok(found) => {
            words.push("answered");
            for found in found {
                said(&*found.said, trial, words)?;
            }
        }
    }
    let sightings = dialect::find(text);
    for sighting in &sightings.all {
        let piece = text.get(sighting.span.clone());
        holds(piece.is_some(), || format!("found at {:?} of {} bytes", sighting.span, text.len()))?;
        let line = 1 + text[..sighting.span.start].matches('\n').count() as u64;
        same("the line of what was found", sighting.line, line)?;
        holds(sighting.times > 0, || "found no times".to_owned())?;
    }
    Ok(())
}

/// What was read is printed, read again, shown and said in other notations.
fn said(said: &dyn dialect::Described, trial: &Trial, words: &mut Vec<&'static str>) -> Result<(), String> {
    let Trial { width, ascii, ref targets } = *trial;
    let printed = said.to_string();
    let again = match (dialect::read_one(&printed), said.layout()) {
        (Ok(again), _) => again,
        // Among others an array without a layout is described; alone it is refused, for the same reason.
        (Err(alone), Err(among)) if alone.found() == among.found() => {
            words.push("refused-alone");
            return Ok(());
        }
        (Err(error), _) => return Err(format!("{printed:?} does not read back: {error}")),
    };
    same("printed again", again.to_string(), printed.clone())?;
    same("the element", again.element(), said.element())?;
    let look = Look { ascii, ..Look::default() };
    if let Ok(lines) = explain(said, width, look) {
        for line in lines {
            let line = line.render(Look { color: false, ..look });
            holds(is_harmless(&line), || format!("{printed:?} is explained with {line:?}"))?;
        }
    }
    let (Ok(layout), Some(element)) = (said.layout(), said.element()) else { return Ok(()) };
    let second = again.layout().map_err(|error| format!("{printed:?} has no layout any more: {error}"))?;
    let verdict = second.same_buffer(&layout);
    holds(!verdict.is_no(), || format!("{printed:?} became another layout: {verdict}"))?;
    words.push("translated");
    for target in targets {
        let Ok(other) = target.say(&layout, element) else { continue };
        let other = other.to_string();
        let back = dialect::Reading::default().read_one(&other);
        let back =
            back.map_err(|error| format!("{printed:?} became {other:?}, which does not read: {error}"))?;
        let back = back.layout().map_err(|error| format!("{other:?} has no layout: {error}"))?;
        let verdict = back.same_buffer(&layout);
        holds(!verdict.is_no(), || format!("{printed:?} became {other:?}: {verdict}"))?;
    }
    if let Ok(all) = Translated::of(said, None, targets) {
        for line in all.iter().flat_map(|one| one.explain(width, look)) {
            let line = line.render(Look { color: false, ..look });
            holds(is_harmless(&line), || format!("{printed:?} is translated with {line:?}"))?;
        }
    }
    Ok(())
}

/// Whether a terminal shows the line and does nothing else.
pub fn is_harmless(line: &str) -> bool {
    !line.chars().any(|c| {
        c.is_control()
            || matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
            || matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}')
    })
}

/// Another number in the place of one.
fn number(dice: &mut Dice, text: &mut String) {
    let starts: Vec<usize> = text
        .char_indices()
        .filter(|&(at, c)| c.is_ascii_digit() && !text[..at].ends_with(|c: char| c.is_ascii_digit()))
        .map(|(at, _)| at)
        .collect();
    if starts.is_empty() {
        return;
    }
    let start = starts[dice.index(starts.len())];
    let end = text[start..].find(|c: char| !c.is_ascii_digit()).map_or(text.len(), |len| start + len);
    text.replace_range(start..end, &dice.number().to_string());
}

/// A place between two characters.
fn place(dice: &mut Dice, text: &str) -> usize {
    floor(text, dice.index(text.len() + 1))
}

fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn shortened(text: &str) -> &str {
    &text[..floor(text, text.len().min(500))]
}
