//! What is said of texts that people write: those of `tests/data/texts.txt`, each on a line, with `\n` in it for a new line. The
//! file `tests/golden/texts.txt` has what each is read as, or why it is not, and a sum over all that is said of it in every
//! notation, and of the same with other numbers and other words (see `golden`).

use std::fmt::Write;

use tilework::Element;
use tilework::dialect::{self, Described, Known, Reading, find, targets};

use crate::dialects::tokens;
use crate::golden::{Sum, compare, everything, none};
use crate::pairs::Random;

/// How often each text is read with other numbers in it, and how often with a word or two changed.
const VARIED: usize = 3;
const DAMAGED: usize = 12;

/// What else takes the place of a word.
const WORDS: [&str; 10] =
    ["", "x", "0", "1", "-1", ",", "(", "]", "9223372036854775807", "9223372036854775808"];

/// Each line of the file, and the text that it stands for.
pub(crate) fn texts() -> impl Iterator<Item = (&'static str, String)> {
    let lines = include_str!("../data/texts.txt").lines();
    lines.map(|line| (line, line.replace("\\n", "\n").replace("\\\\", "\\")))
}

/// A text with other numbers in it.
fn varied(text: &str, random: &mut Random) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let length = rest[start..].find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len() - start);
        out.push_str(&rest[..start]);
        // A number within a word is part of a name, most often.
        let in_word = out.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        match random.one_in(if in_word { 16 } else { 2 }) {
            true => out.push_str(&random.pick(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 32, 64, 100]).to_string()),
            false => out.push_str(&rest[start..start + length]),
        }
        rest = &rest[start + length..];
    }
    out + rest
}

/// What stands around a text where people copy it from, or write it.
const AROUND: [&str; 16] = [
    "'…'",
    "\"…\"",
    "`…`",
    "“…”",
    "'\"`'…'`\"'",
    "'‘\"`'…'`\"’'",
    "\u{feff}…",
    " …\n",
    "the layout is …",
    "x = …;",
    "%x.1 = … copy(%y)",
    "… // x",
    "(…)",
    "[…]",
    "…, …",
    "''",
];

/// A text in which a word is another, is missing, stands twice or behind the next one.
pub(crate) fn damaged(text: &str, random: &mut Random) -> String {
    let mut all: Vec<&str> = tokens(text).collect();
    for _ in 0..1 + random.below(2) {
        let at = random.below(all.len());
        match random.below(4) {
            0 => all.insert(at, all[at]),
            1 if at > 0 => all.swap(at - 1, at),
            2 => all[at] = all[random.below(all.len())],
            _ => all[at] = random.pick(&WORDS),
        }
    }
    all.concat()
}

/// What a layout is in everything that it can be said in, or why not.
fn everywhere(said: &dyn Described) -> String {
    let mut all = String::new();
    if let (Ok(layout), Some(element)) = (said.layout(), said.element()) {
        for target in targets() {
            match target.translate(said, &layout, element) {
                Ok(text) => all += &text,
                Err(error) => all += &format!("{:?} {error}", error.field_name()),
            }
        }
    }
    all
}

#[test]
fn a_text_is_read_or_refused_as_it_was() {
    let mut file = String::new();
    for (line, text) in texts() {
        // As it is, beside another array, and as the notation's own system would.
        let strict = Known { strict: true, ..Known::default() };
        let readings = [Known::default(), Known::array(&[3, 5], Element::F32), strict].map(Reading::knowing);
        let mut sum = Sum::default();
        for reading in readings {
            match reading.read(&text) {
                Ok(found) => sum.add(&text, &everything(&found)),
                Err(error) => sum.add(&text, &format!("{:?} {error:?}", error.span())),
            }
        }
        // Numbers of its own, so that one text more changes no other's sum.
        let mut random =
            Random(text.bytes().map(u64::from).fold(0, |seed, byte| seed * 31 % (1 << 32) + byte));
        for _ in 0..VARIED {
            let text = varied(&text, &mut random);
            match Reading::knowing(Known::array(&[3, 5], Element::F32)).read(&text) {
                Ok(found) => sum.add(&text, &everything(&found)),
                Err(error) => sum.add(&text, &format!("{:?} {error}", error.span())),
            }
        }
        // What its own notation says of it, or what all do.
        let found = dialect::read(&text);
        let dialect = found.as_ref().ok().and_then(|found| Some(found.first()?.said.dialect()));
        for turn in 0..if text.is_empty() { 0 } else { DAMAGED } {
            let text = damaged(&text, &mut random);
            let dialect = dialect.filter(|_| turn % 3 > 0);
            match (Reading { dialect, ..Reading::knowing(Known::array(&[3, 5], Element::F32)) }).read(&text) {
                Ok(found) => sum.add(&text, &everything(&found)),
                Err(error) => sum.add(&text, &format!("{:?} {error:?}", error.span())),
            }
        }
        for _ in 0..2 {
            let text = random.pick(&AROUND).replace('…', &text);
            match Reading::default().read(&text) {
                Ok(found) => sum.add(&text, &everything(&found)),
                Err(error) => sum.add(&text, &format!("{:?} {error:?}", error.span())),
            }
        }
        let says = match found {
            Ok(found) => {
                found.iter().for_each(|found| sum.add(&text, &everywhere(&*found.said)));
                let all: Vec<String> = found.iter().map(|found| found.said.to_string()).collect();
                format!(
                    "{} {}",
                    found.first().map_or("", |found| found.said.dialect().name),
                    all.join(" and ")
                )
            }
            Err(error) => format!("no: {error}"),
        };
        writeln!(file, "{line}\n    {} {:08x}", says.replace('\n', "\\n"), sum.0 as u32).expect("takes all");
    }
    let mut wrong = Vec::new();
    compare("texts.txt", file, &mut wrong);
    none(wrong);
}

#[test]
fn layouts_are_found_among_words_as_they_were() {
    let mut file = String::new();
    let all: Vec<String> = texts().step_by(3).map(|(_, text)| text).collect();
    for (number, some) in all.chunks(20).enumerate() {
        let glue = ["\n", " and ", ", ", " -> ", "; see:\n  "][number % 5];
        let text = some.join(glue);
        let (found, mut sum) = (find(&text), Sum::default());
        for one in &found.all {
            let says = one.found.as_ref().map_or_else(|error| error.to_string(), |found| everything(found));
            sum.add(&one.text, &format!("{:?} {} {} {says}", one.span, one.line, one.times));
        }
        let texts: Vec<&str> = found.all.iter().map(|one| &*one.text).collect();
        writeln!(file, "{:?} {:?} {:016x}", found.is_complete, texts, sum.0).expect("takes all");
    }
    let mut wrong = Vec::new();
    compare("found.txt", file, &mut wrong);
    none(wrong);
}
