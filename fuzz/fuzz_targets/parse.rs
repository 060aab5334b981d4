//! Any text either is refused with a place inside the text, or gives a value that prints and reads back the same.
#![no_main]

mod check;

use libfuzzer_sys::fuzz_target;
use tilework::Error;
use tilework::xla::{Layout, ProgramShape, Shape};

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    shape(text);
    layout(text);
    program(text);
});

fn shape(text: &str) {
    let strict = Shape::parse_strict_xla(text);
    match Shape::parse(text) {
        Ok(shape) => {
            let printed = shape.to_string();
            assert_eq!(Shape::parse(&printed).as_ref(), Ok(&shape), "printed as {printed}");
            if let Ok(strict) = strict {
                assert_eq!(strict, shape, "XLA's own words mean the same with and without ours");
            }
            lower(&shape, text);
        }
        Err(error) => {
            located(&error, text);
            assert!(strict.is_err(), "what XLA reads, Tilework reads");
        }
    }
}

/// What stands in memory goes from index to offset and back.
fn lower(shape: &Shape, text: &str) {
    let Some(array) = shape.as_array() else { return };
    if let Ok(layout) = array.lower() {
        let free = array.layout().is_some_and(|layout| layout.strides().is_some());
        check::check(&layout, !free, text.len() as u64);
    }
}

fn layout(text: &str) {
    match Layout::parse(text) {
        Ok(layout) => {
            let printed = layout.to_string();
            assert_eq!(Layout::parse(&printed).as_ref(), Ok(&layout), "printed as {printed}");
        }
        Err(error) => located(&error, text),
    }
}

fn program(text: &str) {
    match ProgramShape::parse(text) {
        Ok(program) => {
            // XLA prints these without layouts, so what is read again has the usual ones.
            let printed = program.to_string();
            let again = ProgramShape::parse(&printed).map(|again| again.to_string());
            assert_eq!(again.as_ref(), Ok(&printed));
        }
        Err(error) => located(&error, text),
    }
}

/// An error about a text has a place in it, and its report stays small.
fn located(error: &Error, text: &str) {
    let span = error.span().expect("an error about a text says where");
    assert!(span.start <= span.end && span.end <= text.len(), "{span:?} of {} bytes", text.len());
    assert!(error.report(text).to_string().len() < 4000);
}
