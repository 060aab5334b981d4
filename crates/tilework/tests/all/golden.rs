//! What every notation says of its examples, and of texts that are nearly right: the files in `tests/golden`, where somebody who
//! changes a reader or a writer sees which words change with it. In `refused`, the place that a message is about is between two
//! `^`.
//!
//! `UPDATE_GOLDEN=1 cargo test -p tilework --features proto --test all golden::` writes the files.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use tilework::Element;
use tilework::dialect::{self, Dialect, Fact, Known, Reading, targets};

use crate::dialects::tokens;

/// What a word, a number or a mark of an example is replaced by.
const INSTEAD: [&str; 6] = ["", "x", "0", "-7", "9223372036854775808", "]"];

/// What an example becomes where one thing in it is replaced, or the rest is missing.
fn changed(text: &'static str) -> BTreeSet<String> {
    let all: Vec<&str> = tokens(text).collect();
    let mut texts = BTreeSet::new();
    for at in 0..all.len() {
        let (before, after) = (all[..at].concat(), all[at + 1..].concat());
        texts.extend(INSTEAD.map(|word| format!("{before}{word}{after}")));
        texts.insert(format!("{before}{}{}{after}", all[at], all[at]));
        texts.insert(before);
    }
    texts.remove(text);
    texts
}

/// What a message is of: numbers and words of the text stand for all others.
fn kind(message: &str) -> String {
    let mut kind = String::new();
    for (number, piece) in message.split('`').enumerate() {
        match number % 2 {
            0 => kind.extend(piece.chars().map(|c| if c.is_ascii_digit() { '0' } else { c })),
            _ => kind.push('`'),
        }
    }
    while kind.contains("00") {
        kind = kind.replace("00", "0");
    }
    kind
}

/// Each kind of message once, with the first text of which it is said and the place in it, and how many texts are read.
fn refusals(dialect: &'static Dialect) -> String {
    let (mut file, mut seen) = (String::new(), BTreeSet::new());
    for example in dialect.examples {
        let texts = changed(example.text);
        let (mut read, mut refused) = (0, String::new());
        for text in &texts {
            let reading = Reading { dialect: Some(dialect), known: Known::array(&[3, 5], Element::F32) };
            let Err(error) = reading.read(text) else {
                read += 1;
                continue;
            };
            let message = error.to_string();
            if seen.insert(kind(&message)) {
                let place = error.span().unwrap_or(0..0);
                let [before, wrong, after] = [&text[..place.start], &text[place.clone()], &text[place.end..]];
                let end = if place.is_empty() { "" } else { "^" };
                writeln!(refused, "{before}^{wrong}{end}{after}\n    {message}").expect("a string takes all");
            }
        }
        let about = format!("== {}\n{read} of {} texts like it are read\n", example.text, texts.len());
        file = file + &about + &refused;
    }
    file
}

/// Each example with its pieces and values, and what it is in everything that a layout can be said in; each reason why it cannot be
/// said in one of them once.
fn said(dialect: &'static Dialect) -> String {
    let (mut file, mut reasons) = (String::new(), BTreeSet::new());
    for example in dialect.examples {
        let said = dialect::read_one(example.text).expect(example.text);
        let (layout, element) = (said.layout().expect(example.text), said.element().expect(example.text));
        let mut line = |name: &str, text: &str| writeln!(file, "{name}: {text}").expect("a string takes all");
        line("==", example.text);
        line("printed", &said.to_string());
        for part in said.parts(Some(&layout)) {
            line(part.name, &format!("{} ({})", part.text, part.meaning));
        }
        let facts = said.facts();
        for (name, fact) in facts.fields.iter().chain(&facts.of_layout) {
            line(&format!("{} {name}", facts.about), &value(fact));
        }
        for target in targets() {
            match target.translate(&*said, &layout, element) {
                Ok(text) => line(&format!("in {}", target.name()), &text),
                Err(error) if reasons.insert((target.name(), error.to_string())) => {
                    line(&format!("not in {}", target.name()), &error.to_string());
                }
                Err(_) => {}
            }
        }
    }
    file
}

fn value(fact: &Fact) -> String {
    match fact {
        Fact::Null => "nothing".to_owned(),
        Fact::Bool(value) => value.to_string(),
        Fact::Number(number) => number.to_string(),
        Fact::Text(text) => format!("{text:?}"),
        Fact::List(all) => format!("[{}]", all.iter().map(value).collect::<Vec<_>>().join(", ")),
        other => panic!("{other:?}"),
    }
}

/// Compares what is said now with the file of each notation.
#[track_caller]
fn check(folder: &str, says: fn(&'static Dialect) -> String) {
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(folder);
    let mut wrong = Vec::new();
    for dialect in dialect::all() {
        let (path, now) = (folder.join(format!("{}.txt", dialect.name)), says(dialect));
        if update {
            fs::write(&path, now).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            continue;
        }
        let before = fs::read_to_string(&path).unwrap_or_default().replace('\r', "");
        let differs = before.lines().zip(now.lines()).find(|(before, now)| before != now);
        if let Some((before, now)) = differs {
            wrong.push(format!("{}: where it was\n{before}\nit is\n{now}", dialect.name));
        } else if before != now {
            let [now, before] = [now, before].map(|text| text.lines().count());
            wrong.push(format!("{}: there are {now} lines, and {before} before", dialect.name));
        }
    }
    assert!(wrong.is_empty(), "UPDATE_GOLDEN=1 takes over what is right:\n{}", wrong.join("\n"));
}

#[test]
fn a_text_that_is_nearly_right_is_refused_as_it_was() {
    check("refused", refusals);
}

#[test]
fn an_example_is_explained_and_translated_as_it_was() {
    check("said", said);
}
