//! Every example of every notation: recognised, read, printed, lowered and said again. A notation without examples fails.

use proptest::prelude::*;
use proptest::sample::{Index, select};
use tilework::dialect::{self, Confidence, Dialect, Known, Reading, Said};
use tilework::{Element, Layout, Place, Result};

/// Calls `test` with every example.
fn each(mut test: impl FnMut(&'static Dialect, &'static dialect::Example)) {
    for dialect in dialect::all() {
        assert!(!dialect.examples.is_empty(), "{} has no examples", dialect.name);
        for example in dialect.examples {
            test(dialect, example);
        }
    }
}

fn read(text: &str) -> Said {
    dialect::read_one(text).unwrap_or_else(|error| panic!("{text}: {}", error.report(text)))
}

fn layout(said: &Said) -> Layout {
    said.layout().unwrap_or_else(|error| panic!("{said}: {error}"))
}

#[test]
fn a_text_is_read_in_its_own_notation_and_printed_so_that_it_reads_back() {
    each(|dialect, example| {
        let said = read(example.text);
        assert_eq!(said.dialect().name, dialect.name, "{}", example.text);
        let printed = said.to_string();
        let again = read(&printed);
        assert_eq!(again.dialect().name, dialect.name, "{printed}");
        assert_eq!(again.to_string(), printed);
        assert_eq!((layout(&said), said.element()), (layout(&again), again.element()), "{printed}");
        let by_name = Reading { dialect: Some(dialect), ..Reading::default() };
        assert_eq!(by_name.read_one(example.text).map(|said| said.to_string()), Ok(printed));
    });
}

#[test]
fn exactly_one_notation_is_certain_of_a_text() {
    each(|dialect, example| {
        let certain = dialect::all()
            .iter()
            .filter(|other| (other.recognise)(example.text) == Some(Confidence::Certain));
        let names: Vec<&str> = certain.map(|other| other.name).collect();
        assert!(names.len() <= 1, "{} is claimed by {names:?}", example.text);
        assert!(
            names.first().is_none_or(|name| *name == dialect.name),
            "{} is claimed by {names:?}",
            example.text
        );
    });
}

#[test]
fn elements_are_where_the_example_says_and_are_found_there_again() -> Result<()> {
    let mut offsets = 0;
    for dialect in dialect::all() {
        for example in dialect.examples {
            let layout = layout(&read(example.text));
            assert_eq!(layout.size(), example.size, "{}", example.text);
            for (index, offset) in example.offsets {
                assert_eq!(layout.offset(index)?, *offset, "{} at {index:?}", example.text);
                if layout.broadcast_dims().is_empty() {
                    assert_eq!(layout.locate(*offset)?, Place::Element(index.to_vec()), "{}", example.text);
                }
                offsets += 1;
            }
        }
    }
    assert!(offsets > 0);
    Ok(())
}

#[test]
fn a_layout_is_said_again_in_the_notation_that_it_was_read_from() {
    each(|dialect, example| {
        let said = read(example.text);
        let (layout, element) = (layout(&said), said.element().expect("an array"));
        match dialect.say(&layout, element) {
            Ok(again) => {
                assert_eq!(again.dialect().name, dialect.name);
                let read = read(&again.to_string());
                assert!(self::layout(&read).same_buffer(&layout).is_yes(), "{} became {again}", example.text);
                assert_eq!(read.element(), Some(element), "{again}");
            }
            Err(error) => panic!("{} is not said again: {error}", example.text),
        }
    });
}

#[test]
fn a_layout_is_said_in_every_notation_or_there_is_a_reason() {
    each(|_, example| {
        let said = read(example.text);
        let (layout, element) = (layout(&said), said.element().expect("an array"));
        for dialect in dialect::all() {
            let Ok(other) = dialect.say(&layout, element) else { continue };
            let read = read(&other.to_string());
            assert!(self::layout(&read).same_buffer(&layout).is_yes(), "{} became {other}", example.text);
        }
    });
}

#[test]
fn every_piece_and_every_value_has_a_name() {
    each(|_, example| {
        let said = read(example.text);
        let parts = said.parts(said.layout().ok().as_ref());
        assert!(parts.len() > 1, "{}", example.text);
        assert!(parts.iter().all(|part| !part.name.is_empty() && !part.meaning.is_empty()), "{parts:?}");
        assert!(!said.facts().fields.is_empty(), "{}", example.text);
    });
}

#[test]
fn a_text_that_ends_early_or_is_changed_is_read_or_refused_with_a_place_in_it() {
    each(|_, example| {
        for end in (0..example.text.len()).filter(|&end| example.text.is_char_boundary(end)) {
            for tail in ["", "{", "x", ",", ")", "\u{0}", "é", "0"] {
                let text = format!("{}{tail}", &example.text[..end]);
                if let Err(error) = dialect::read(&text) {
                    let span = error.span().unwrap_or(0..0);
                    assert!(span.start <= span.end && span.end <= text.len().max(1), "{text}: {error}");
                }
            }
        }
    });
}

/// The words, numbers and marks of a text.
pub(crate) fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let in_word = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let length = match in_word(first) {
            true => rest.find(|c| !in_word(c)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        let (token, after) = rest.split_at(length);
        rest = after;
        Some(token)
    })
}

/// What numbers are replaced by, and what no notation knows.
const LIMITS: [&str; 7] =
    ["0", "-1", "-", "9223372036854775807", "-9223372036854775808", "18446744073709551616", "é"];

/// A notation, and an example of it in which tokens are replaced, removed or added by others.
pub(crate) fn shaken() -> impl Strategy<Value = (&'static Dialect, String)> {
    select(dialect::all()).prop_flat_map(|dialect| {
        let words: Vec<&str> = dialect.examples.iter().flat_map(|example| tokens(example.text)).collect();
        let word = prop_oneof![3 => select(words), 1 => select(&LIMITS[..])];
        let changes = prop::collection::vec((any::<Index>(), 0..2_usize, prop::option::of(word)), 1..5);
        (select(dialect.examples), changes).prop_map(move |(example, changes)| {
            let mut text: Vec<&str> = tokens(example.text).collect();
            for (at, removed, added) in changes {
                let at = at.index(text.len() + 1);
                text.splice(at..(at + removed).min(text.len()), added);
            }
            (dialect, text.concat())
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn a_text_with_some_words_changed_is_refused_or_reads_back((dialect, text) in shaken()) {
        let known = Known::array(&[3, 5], Element::F32);
        for dialect in [None, Some(dialect)] {
            match (Reading { dialect, known }).read(&text) {
                Err(error) => {
                    let span = error.span().unwrap_or(0..0);
                    prop_assert!(span.start <= span.end && span.end <= text.len().max(1), "{text}: {error}");
                }
                Ok(found) => for found in found {
                    let Ok(layout) = found.said.layout() else { continue };
                    let printed = found.said.to_string();
                    let again = (Reading { dialect: Some(found.said.dialect()), known }).read_one(&printed);
                    let again = again.map_err(|error| TestCaseError::fail(format!("{text}: {}", error.report(&printed))))?;
                    prop_assert_eq!(again.to_string(), printed);
                    prop_assert_eq!((again.layout(), again.element()), (Ok(layout), found.said.element()), "{}", text);
                },
            }
        }
    }
}
