//! Formats that have a name: each against the formula of its documentation, said again, and refused in its own words.

mod ascend;
mod cublaslt;
mod images;
mod tensorrt;
mod tenstorrent;

use std::cell::RefCell;

use proptest::prelude::*;
use proptest::sample::select;
use tilework::dialect::{self, Dialect, Reading, Said};
use tilework::{Element, Layout};

use crate::common::{indices, recipe_with};

/// The notations that these tests are about.
const OF_BLOCKS: [&str; 8] =
    ["onednn", "tensorrt", "cublaslt", "ascend", "tenstorrent", "cudnn", "onnxruntime", "texture"];

/// A text and where a formula has its elements.
pub struct Compared {
    pub notation: String,
    pub text: String,
    pub size: u64,
    /// The offset of every index, in row-major order.
    pub offsets: Vec<u64>,
}

thread_local! {
    /// What `check` compares, while it is collected.
    static COMPARED: RefCell<Option<Vec<Compared>>> = const { RefCell::new(None) };
}

/// What these tests compare with formulas, for the corpus.
pub fn compared() -> Vec<Compared> {
    COMPARED.set(Some(Vec::new()));
    for formulas in
        [ascend::formulas, cublaslt::formulas, images::formulas, tensorrt::formulas, tenstorrent::formulas]
    {
        formulas();
    }
    COMPARED.take().unwrap_or_default()
}

fn read(text: &str) -> Said {
    dialect::read_one(text).unwrap_or_else(|error| panic!("{}", error.report(text)))
}

fn with(element: &str, dims: &[u64], format: &str) -> String {
    let dims: Vec<String> = dims.iter().map(u64::to_string).collect();
    format!("{element}[{}] {format}", dims.join(","))
}

/// A text of this notation places every element by the formula, takes as many elements, and is said again.
fn check(notation: &str, text: &str, size: u64, formula: impl Fn(&[u64]) -> u64) -> Layout {
    let said = read(text);
    assert_eq!(said.dialect().name, notation, "{text}");
    let layout = said.layout().unwrap();
    assert_eq!(layout.size(), size, "{text}");
    for index in indices(layout.dims()) {
        assert_eq!(layout.offset(&index).unwrap(), formula(&index), "{text} at {index:?}");
    }
    COMPARED.with_borrow_mut(|compared| {
        if let Some(all) = compared {
            let offsets = indices(layout.dims()).map(|index| formula(&index)).collect();
            all.push(Compared { notation: notation.to_owned(), text: text.to_owned(), size, offsets });
        }
    });
    let printed = said.to_string();
    assert_eq!(read(&printed).to_string(), printed, "{text}");
    assert_eq!(read(&printed).layout().unwrap(), layout, "{text} became {printed}");
    let element = said.element().unwrap();
    let again = say(notation, &layout, element).unwrap_or_else(|error| panic!("{text}: {error}"));
    assert!(again.layout().unwrap().same_buffer(&layout).is_yes(), "{text} became {again}");
    assert!(
        read(&again.to_string()).layout().unwrap().same_buffer(&layout).is_yes(),
        "{text} became {again}"
    );
    layout
}

fn say(notation: &str, layout: &Layout, element: Element) -> tilework::Result<Said> {
    Dialect::named(notation).unwrap().say(layout, element)
}

/// What another notation's text is called in this one.
fn called(notation: &str, text: &str) -> String {
    let said = read(text);
    say(notation, &said.layout().unwrap(), said.element().unwrap())
        .map_or_else(|error| error.to_string(), |said| said.to_string())
}

/// Each text is refused where `place` begins, with a word of the reason.
fn refused(notation: &str, cases: &[(&str, &str, &str)]) {
    for (text, place, word) in cases {
        let reading = Reading { dialect: Some(Dialect::named(notation).unwrap()), ..Reading::default() };
        for error in [dialect::read_one(text), reading.read_one(text)] {
            let error = error.err().unwrap_or_else(|| panic!("{text} is read"));
            let message = error.report(text).to_string();
            assert!(message.contains(word), "{text}: {message}");
            let at = error.span().unwrap_or_else(|| panic!("{text}: {message}")).start;
            assert!(text[at..].starts_with(place), "{text}: at {at}: {message}");
        }
    }
}

proptest! {
    /// Layouts of tiles and orders, said in every notation of blocks that can say them.
    #[test]
    fn what_a_notation_says_of_a_layout_is_the_layout(recipe in recipe_with(true), bits in select(vec![Element::F32, Element::F16, Element::S8])) {
        let layout = recipe.build_of(bits.bits()).unwrap();
        for dialect in OF_BLOCKS.map(|name| Dialect::named(name).unwrap()) {
            match dialect.say(&layout, bits) {
                Ok(said) => {
                    let again = Reading { dialect: Some(dialect), ..Reading::default() }.read_one(&said.to_string());
                    let again = again.map_err(|error| TestCaseError::fail(format!("{said}: {error}")))?;
                    prop_assert!(again.layout().unwrap().same_buffer(&layout).is_yes(), "{:?} became {}", layout, said);
                    prop_assert_eq!(again.element(), Some(bits), "{}", said);
                }
                Err(error) => prop_assert!(!error.found().is_empty(), "{}: {}", dialect.name, error),
            }
        }
    }
}
