//! Layouts anywhere in a text: whatever is found stands in the text, and says the same alone.
#![no_main]

mod examples;

use libfuzzer_sys::fuzz_target;
use tilework::dialect::{self, Found};

fuzz_target!(|bytes: &[u8]| {
    // Bytes of 1 part pieces, each of which may go on from an example.
    let pieces: Option<Vec<String>> =
        bytes.split(|&byte| byte == 1).filter(|piece| !piece.is_empty()).map(examples::text).collect();
    let Some(text) = pieces.map(|pieces| pieces.concat()) else { return };
    let found = dialect::find(&text);
    for one in &found.all {
        assert!(text.get(one.span.clone()).is_some_and(|own| !own.is_empty()), "{:?} of {text}", one.span);
        assert_eq!(one.line, text[..one.span.start].matches('\n').count() as u64 + 1, "{text}");
        assert!(one.times > 0, "{text}");
        let Ok(found) = &one.found else { continue };
        let again = dialect::read(&one.text).unwrap_or_else(|error| panic!("{}: {error}", one.text));
        assert_eq!(said(found), said(&again), "{text}");
    }
});

fn said(found: &[Found]) -> Vec<String> {
    found.iter().map(|one| format!("{} {:?}", one.said, one.said.layout().ok())).collect()
}
