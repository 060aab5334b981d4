//! Any text, in whatever notation: what is read prints so that it reads back, and errors point into the text.
#![no_main]

mod examples;

use libfuzzer_sys::fuzz_target;
use tilework::dialect;

fuzz_target!(|bytes: &[u8]| {
    let Some(text) = examples::text(bytes) else { return };
    match dialect::read(&text) {
        Err(error) => {
            let span = error.span().unwrap_or(0..0);
            assert!(span.start <= span.end && span.end <= text.len() + 1, "{text}: {error}");
            assert!(error.to_string().len() < 4096, "{text}: a long message");
        }
        Ok(found) => {
            for found in found {
                let (said, printed) = (&found.said, found.said.to_string());
                let again = dialect::read_one(&printed).unwrap_or_else(|error| panic!("{printed}: {error}"));
                assert_eq!(again.to_string(), printed);
                assert_eq!((again.element(), again.kind()), (said.element(), said.kind()));
                if let (Ok(layout), Some(element)) = (said.layout(), said.element()) {
                    assert_eq!(again.layout().as_ref(), Ok(&layout));
                    said.parts(Some(&layout));
                    said.notes(&layout);
                    // One of the others: to try them all would take most of the time, and `translate` does.
                    let number = bytes.iter().fold(0, |sum, byte| sum + usize::from(*byte));
                    let all = dialect::all();
                    if let Ok(other) = all[number % all.len()].say(&layout, element) {
                        let verdict = other.layout().map(|other| other.same_buffer(&layout));
                        assert!(verdict.is_ok_and(|verdict| !verdict.is_no()), "{printed} became {other}");
                    }
                }
                said.facts();
            }
        }
    }
});
