//! What every notation says of its examples, and of texts that are nearly right: the files in `tests/golden`, where somebody who
//! changes a reader or a writer sees which words change with it. In `refused`, the place that a message is about is between two
//! `^`, and of each kind of message there is one; the sum behind it is over all. A sum that differs alone says that some text is
//! read or refused otherwise. Which one, two files say: `GOLDEN_LINES=1 cargo test … golden:: -- --nocapture`, before and after.
//!
//! `UPDATE_GOLDEN=1 cargo test -p tilework --features proto --test all golden` writes the files.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use tilework::Element;
use tilework::dialect::{self, Dialect, Fact, Found, Known, Reading, targets};

use crate::dialects::tokens;

/// What a word, a number or a mark of an example is replaced by.
pub(crate) const INSTEAD: [&str; 6] = ["", "x", "0", "-7", "9223372036854775808", "]"];

/// What people write who leave something out, or spell it otherwise.
const MEANT: [&str; 43] = [
    "T(8,128)",
    "T(8,128)(2,1)",
    "T(*,2,3)",
    "bf16[16,256] {T(8,128)}",
    "f32[3,5,7]{2 1 0}",
    "f32[3,5]1,0",
    "f32[3,5] : 0, 1",
    "f32[3,5](1,0)",
    "f32[3,5](5,1)",
    "(3, 5)",
    "[3,5]",
    "3x5",
    "(3,)",
    "torch.Size([2, 3])",
    "2,3:3,1",
    "f32[3,5",
    "f32[3,5]{1,0",
    "(4,(2,4)):(8,(1,2)",
    "Layout<Shape<_4,_8>,Stride<_8,_1>",
    "memref<3x5xf32, strided<[5, 1]>",
    "tensor<64x64xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>",
    "FLOAT16 NHWC 1,64,56,56",
    "f32 1x17x2x2 nChw8c",
    "float32 3,5 strides 20,4",
    "(4,8);(8,1)",
    "#blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>",
    "f32 nChw8c [1,17,2,2]",
    "float32 (3, 5) order F",
    "f32[3,5,7] fortran",
    "f32[3,5] F_CONTIGUOUS",
    "tensor([[1., 2.], [3., 4.]])",
    "array([[1, 2], [3, 4]], dtype=int32)",
    "Array([1., 2.], dtype=float32)",
    "np.zeros((3, 5), order='F')",
    "x = numpy.empty([3, 5], dtype=np.float32, order=\"F\")",
    "jnp.ones((3, 5), dtype='bfloat16')",
    "torch.zeros(3, 5)",
    "torch.rand((2, 3))",
    "E_INVALIDARG",
    "DMLCreateDevice failed with 0x80070057",
    "Pallas TPU: the last two dimensions of your block shape are wrong",
    "the block shape is divisible by 8",
    "the layout is row-major",
];

/// A text that is long.
const LONG: usize = 60;

/// What an example becomes where one thing in it is replaced, or the rest is missing.
pub(crate) fn changed(text: &'static str, instead: &[&str]) -> BTreeSet<String> {
    let all: Vec<&str> = tokens(text).collect();
    let mut texts = BTreeSet::new();
    for at in 0..all.len() {
        let (before, after) = (all[..at].concat(), all[at + 1..].concat());
        texts.extend(instead.iter().map(|word| format!("{before}{word}{after}")));
        texts.insert(format!("{before}{}{}{after}", all[at], all[at]));
        texts.insert(before);
    }
    texts.remove(text);
    texts
}

/// An example with a word of another example in place of each of its own: of all words of the notation each has its turn.
fn crossed(text: &'static str, words: &[&str]) -> Vec<String> {
    let all: Vec<&str> = tokens(text).collect();
    let with = |turn: usize| {
        let (at, word) = (turn / CROSSED, words[turn * TURN % words.len()]);
        [&all[..at], &[word], &all[at + 1..]].concat().concat()
    };
    (0..all.len() * CROSSED).map(with).collect()
}

/// How many words take the place of each, and how far from one another they are in the list of all.
const CROSSED: usize = 4;
const TURN: usize = 17;

/// What a message is of: numbers and words of the text stand for all others.
pub(crate) fn kind(message: &str) -> String {
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

/// Which of these texts are refused: each kind of message once, with the first text of which it is said and the place in it.
/// Before them how many texts are read, and a sum over all that is said of all of them.
fn refused<'a>(
    reading: Reading,
    texts: impl Iterator<Item = &'a str>,
    seen: &mut BTreeSet<String>,
) -> String {
    let (mut read, mut all, mut sum, mut refused) = (0, 0, Sum::default(), String::new());
    for text in texts {
        all += 1;
        let error = match reading.read(text) {
            Ok(found) => {
                read += 1;
                sum.add(text, &everything(&found));
                continue;
            }
            Err(error) => error,
        };
        let message = error.to_string();
        sum.add(text, &format!("{:?} {message}", error.span()));
        if seen.insert(kind(&message)) {
            let place = error.span().unwrap_or(0..0);
            let [before, wrong, after] = [&text[..place.start], &text[place.clone()], &text[place.end..]];
            let end = if place.is_empty() { "" } else { "^" };
            writeln!(refused, "{before}^{wrong}{end}{after}\n    {message}").expect("a string takes all");
        }
    }
    format!("{read} of {all} texts like it are read, sum {:016x}\n{refused}", sum.0)
}

/// Everything that a reading says.
pub(crate) fn everything(found: &[Found]) -> String {
    let mut all = String::new();
    for Found { name, said } in found {
        let layout = said.layout();
        write!(all, "{name:?} {said} {:?} {layout:?} {:?}", said.element(), said.phrase())
            .expect("takes all");
        let parts = said.parts(layout.as_ref().ok());
        write!(all, " {parts:?} {:?} {:?}", said.open(), said.minor_to_major()).expect("takes all");
        let (axes, leaves) = (said.axes(), said.leaves());
        write!(all, " {} {axes:?} {} {leaves:?}", said.kind(), said.counts_first_fastest())
            .expect("takes all");
        write!(all, " {:?} {:?}", said.facts(), said.fill()).expect("takes all");
        if let Ok(layout) = layout {
            let notes = said.notes(&layout);
            let may_be: Vec<Element> = Element::all().filter(|&element| said.may_be(element)).collect();
            write!(all, " {notes:?} {:?} {may_be:?}", said.sizes(&layout)).expect("takes all");
        }
    }
    all
}

/// A sum over texts, to notice that one of thousands has changed. With `GOLDEN_LINES` each is printed, to be compared with what
/// was printed before.
#[derive(Default)]
pub(crate) struct Sum(pub(crate) u64);

impl Sum {
    pub(crate) fn add(&mut self, text: &str, says: &str) {
        if std::env::var_os("GOLDEN_LINES").is_some() {
            println!("{text:?}: {says}");
        }
        for byte in text.bytes().chain(says.bytes()) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3); // FNV
        }
    }
}

/// What is said of texts like the examples.
fn refusals(dialect: &'static Dialect) -> String {
    let (mut file, mut seen) = (String::new(), BTreeSet::new());
    let words: BTreeSet<&str> = dialect.examples.iter().flat_map(|example| tokens(example.text)).collect();
    let words: Vec<&str> = words.into_iter().collect();
    for example in dialect.examples {
        let reading = Reading { dialect: Some(dialect), known: Known::array(&[3, 5], Element::F32) };
        let mut texts = changed(example.text, &INSTEAD);
        texts.extend(crossed(example.text, &words));
        file = file + "== " + example.text + "\n";
        file += &refused(reading, texts.iter().map(|text| &**text), &mut seen);
    }
    file
}

/// What is said of texts that people write who leave something out, and of texts like these.
fn meant() -> String {
    let (mut file, mut seen) = (String::new(), BTreeSet::new());
    for text in MEANT {
        let error = dialect::read(text).expect_err(text);
        file = file + "== " + text + "\n" + &error.to_string() + "\n";
        seen.insert(kind(&error.to_string()));
        // Of a long text few words are about what it lacks.
        let texts = if text.len() < LONG { changed(text, &INSTEAD[..3]) } else { BTreeSet::new() };
        file += &refused(Reading::default(), texts.iter().map(|text| &**text), &mut seen);
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
        line("kind", &said.phrase().unwrap_or(said.kind().to_owned()));
        for note in said.notes(&layout).iter().chain(&said.open()) {
            line("note", note);
        }
        if let Some(order) = said.minor_to_major() {
            line("minor to major", &format!("{order:?}"));
        }
        if let Some(bits) = said.fill() {
            line("padding is filled with", &format!("{bits:#x}"));
        }
        if said.sizes(&layout) != layout.dims() {
            line("sizes", &format!("{:?}", said.sizes(&layout)));
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

/// Compares what is said now with a file; what differs is added to `wrong`.
pub(crate) fn compare(name: &str, now: String, wrong: &mut Vec<String>) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, now).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        return;
    }
    let before = fs::read_to_string(&path).unwrap_or_default().replace('\r', "");
    let differs = before.lines().zip(now.lines()).find(|(before, now)| before != now);
    if let Some((before, now)) = differs {
        wrong.push(format!("{name}: where it was\n{before}\nit is\n{now}"));
    } else if before != now {
        let [now, before] = [now, before].map(|text| text.lines().count());
        wrong.push(format!("{name}: there are {now} lines, and {before} before"));
    }
}

#[track_caller]
pub(crate) fn none(wrong: Vec<String>) {
    assert!(wrong.is_empty(), "UPDATE_GOLDEN=1 takes over what is right:\n{}", wrong.join("\n"));
}

/// Compares what is said now with the file of each notation.
#[track_caller]
fn check(folder: &str, says: fn(&'static Dialect) -> String) {
    let mut wrong = Vec::new();
    for dialect in dialect::all() {
        compare(&format!("{folder}/{}.txt", dialect.name), says(dialect), &mut wrong);
    }
    none(wrong);
}

#[test]
fn a_text_that_is_nearly_right_is_refused_as_it_was() {
    check("refused", refusals);
}

#[test]
fn a_text_that_lacks_something_is_answered_as_it_was() {
    let mut wrong = Vec::new();
    compare("meant.txt", meant(), &mut wrong);
    none(wrong);
}

#[test]
fn an_example_is_explained_and_translated_as_it_was() {
    check("said", said);
}
