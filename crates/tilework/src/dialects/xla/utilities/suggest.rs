//! Which type somebody meant who wrote something else.

use crate::element::Element;
use crate::spelling::nearest;

/// The name of the type that this word probably means: another system's name for it, or a name that is nearly the same.
pub(crate) fn nearest_type(word: &str) -> Option<&'static str> {
    let near =
        || nearest(&word.to_ascii_lowercase(), Element::all().map(Element::name).chain(["token", "opaque"]));
    Element::meant_by(word).map(Element::name).or_else(near)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_and_foreign_names_lead_to_a_type_and_other_words_do_not() {
        for (word, meant) in [("f23", "f32"), ("half", "f16"), ("opaqe", "opaque"), ("TOKN", "token")] {
            assert_eq!(nearest_type(word), Some(meant), "{word}");
        }
        for word in ["", "x", "layout", "a_word_of_more_than_twenty_letters"] {
            assert_eq!(nearest_type(word), None, "{word}");
        }
    }
}
