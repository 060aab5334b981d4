//! Foreign text, made harmless for whoever looks at it.

use std::borrow::Cow;

/// The text with a visible sign in the place of every character that a terminal would obey, or that would hide or turn
/// round what stands beside it: `␛` for an escape, `␊` for the end of a line, `�` for what has no sign of its own.
///
/// Each sign is one character, as what it stands for, so columns and carets stay where they are.
///
/// ```
/// assert_eq!(tilework::printable("f32[2]\u{1b}[31m"), "f32[2]␛[31m");
/// assert_eq!(tilework::printable("a\u{202e}b\u{9b}c"), "a�b�c");
/// ```
pub fn printable(text: &str) -> Cow<'_, str> {
    let is_plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~')) || text.chars().all(|c| sign(c) == c);
    if is_plain { Cow::Borrowed(text) } else { Cow::Owned(text.chars().map(sign).collect()) }
}

/// What is shown of a character: itself, if that is all it does.
pub(crate) fn sign(c: char) -> char {
    match c {
        ' '..='~' => c,
        // The pictures of control characters stand in Unicode in their order.
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)).unwrap_or(char::REPLACEMENT_CHARACTER),
        '\u{7f}' => '␡',
        // C1; soft hyphens; marks, overrides and isolates of the direction; characters of no width; ends of lines and
        // paragraphs; annotations; tags.
        '\u{80}'..='\u{9f}'
        | '\u{ad}'
        | '\u{61c}'
        | '\u{180e}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e0fff}' => char::REPLACEMENT_CHARACTER,
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_commands_hides_or_turns_round_is_left_and_columns_stay() {
        let hostile: String = (0..0x20)
            .chain(0x7f..0xa0)
            .chain([0xad, 0x61c, 0x180e, 0xfeff])
            .chain(0x200b..0x2010)
            .chain(0x2028..0x202f)
            .chain(0x2060..0x2070)
            .chain(0xfff9..0xfffc)
            .chain(0xe0000..0xe1000)
            .filter_map(char::from_u32)
            .collect();
        let shown = printable(&hostile);
        assert_eq!(shown.chars().count(), hostile.chars().count());
        assert!(shown.chars().all(|c| ('␀'..='␡').contains(&c) || c == '\u{fffd}'), "{shown}");
        assert_eq!(printable(&shown), shown);
    }

    #[test]
    fn text_of_any_language_and_our_own_signs_stay() {
        let text = "ä 漢字 × … ⌊i/2⌋ → − · │ n\u{a0}1 ~";
        assert!(matches!(printable(text), Cow::Borrowed(same) if same == text));
    }
}
