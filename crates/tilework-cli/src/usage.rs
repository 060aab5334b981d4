//! Errors in the arguments, as clap finds them.

use clap::error::{ContextKind, ContextValue};
use tilework::printable;

/// Characters of an argument that a message repeats.
const LONGEST: usize = 100;

/// The error with what it repeats of the arguments cut and made harmless.
pub fn harmless(mut error: clap::Error) -> clap::Error {
    let mut repeated = Vec::new();
    for (kind, value) in error.context() {
        let shown = match value {
            ContextValue::String(text) => ContextValue::String(short(text)),
            ContextValue::Strings(list) => {
                ContextValue::Strings(list.iter().map(|text| short(text)).collect())
            }
            _ => continue,
        };
        if shown != *value {
            repeated.push((kind, shown));
        }
    }
    if !repeated.is_empty() {
        // What clap suggests repeats it as well, and nobody means such a word.
        error.remove(ContextKind::Suggested);
    }
    for (kind, shown) in repeated {
        error.insert(kind, shown);
    }
    error
}

fn short(text: &str) -> String {
    let end = text.char_indices().nth(LONGEST).map(|(end, _)| end);
    let mut shown = printable(&text[..end.unwrap_or(text.len())]).into_owned();
    if end.is_some() {
        shown.push('…');
    }
    shown
}
