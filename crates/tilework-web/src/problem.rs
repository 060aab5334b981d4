//! What is wrong with a text, for the line below its field.

use serde::Serialize;
use tilework::Error;

/// An error with the text cut at its place, so that whoever shows it need not count bytes.
#[derive(Serialize)]
pub struct Problem {
    found: String,
    field: Option<String>,
    rule: Option<String>,
    accepted: Option<String>,
    /// The text before the place, at the place, and behind it; none where the error is about no place.
    around: Option<[String; 3]>,
}

/// The most bytes that are shown on either side of the place.
const AROUND: usize = 200;

impl Problem {
    /// An error about a text.
    pub fn new(error: &Error, text: &str) -> Problem {
        let around = error.span().map(|span| {
            let end = floor(text, span.end.max(span.start));
            let start = floor(text, span.start);
            let [from, to] =
                [start.saturating_sub(AROUND), end.saturating_add(AROUND)].map(|at| floor(text, at));
            [&text[from..start], &text[start..end], &text[end..to]].map(str::to_owned)
        });
        Problem {
            found: error.found().to_owned(),
            field: error.field_name().map(str::to_owned),
            rule: error.broken_rule().map(str::to_owned),
            accepted: error.accepted().map(str::to_owned),
            around,
        }
    }
}

/// The start of the character that holds byte `at`, or the end of the text.
fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_within_a_character_is_that_character() {
        let text = "f32[é]";
        let problem = Problem::new(&Error::new("é").at(5..6), text);
        assert_eq!(problem.around, Some(["f32[".to_owned(), "é".to_owned(), "]".to_owned()]));
        let beyond = Problem::new(&Error::new("the end").at(90..99), text);
        assert_eq!(beyond.around, Some([text.to_owned(), String::new(), String::new()]));
    }
}
