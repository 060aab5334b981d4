//! An element type and sizes before a notation that says neither, `f32[3,5] …`, `float32 (3, 5) …`, and an element type
//! alone before one that says its sizes, `f32 …`.

use crate::Element;

/// What stands before the notation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sized {
    pub(crate) element: Element,
    pub(crate) dims: Vec<u64>,
}

/// The most bytes of a type's name.
const LONGEST: usize = 40;

/// The type and the sizes with which a text begins, and where what follows them begins, which may be its end.
pub(crate) fn prefix(text: &str) -> Option<(Sized, usize)> {
    let name = text.bytes().take(LONGEST).take_while(|&byte| in_name(byte)).count();
    let element = Element::from_any_name(&text[..name])?;
    let open = name + blanks(&text[name..]);
    let (dims, end) = sizes(&text[open..])?;
    let rest = open + end;
    Some((Sized { element, dims }, rest + blanks(&text[rest..])))
}

/// The type with which a text begins, and where what follows it begins. There is a blank between them, and something does
/// follow.
pub(crate) fn element(text: &str) -> Option<(Element, usize)> {
    let name = text.bytes().take(LONGEST).take_while(|&byte| in_name(byte)).count();
    let element = Element::from_any_name(&text[..name])?;
    let blanks = blanks(&text[name..]);
    (blanks > 0 && name + blanks < text.len()).then_some((element, name + blanks))
}

/// `[3,5]`, `(3, 5)`, `(3,)` or `()`, and where it ends.
pub(crate) fn sizes(text: &str) -> Option<(Vec<u64>, usize)> {
    let close = match text.as_bytes().first()? {
        b'[' => ']',
        b'(' => ')',
        _ => return None,
    };
    let end = text.find(close)?;
    let inner = text[1..end].trim();
    let inner = inner.strip_suffix(',').filter(|rest| !rest.trim().is_empty()).unwrap_or(inner);
    let dims = match inner.is_empty() {
        true => Vec::new(),
        false => inner.split(',').map(size).collect::<Option<_>>()?,
    };
    Some((dims, end + 1))
}

fn size(text: &str) -> Option<u64> {
    let text = text.trim();
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

fn in_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.')
}

fn blanks(text: &str) -> usize {
    text.len() - text.trim_start().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_alone_ends_where_something_follows() {
        let found = |text| element(text).map(|(element, rest)| (element, &text[rest..]));
        assert_eq!(found("f32 (4,8):(8,1)"), Some((Element::F32, "(4,8):(8,1)")));
        assert_eq!(found("torch.float16  4:1"), Some((Element::F16, "4:1")));
        for text in ["", "f32", "f32 ", "f32[3]", "f33 4:1", "(4):(1)", "é 4"] {
            assert_eq!(found(text), None, "{text}");
        }
    }

    #[test]
    fn a_type_and_sizes_end_where_the_notation_begins() {
        let found = |text| prefix(text).map(|(sized, rest)| (sized.dims, &text[rest..]));
        assert_eq!(found("f32[3,5] nChw8c"), Some((vec![3, 5], "nChw8c")));
        assert_eq!(found("f32 (3, 5,) (2,3):(3,1)"), Some((vec![3, 5], "(2,3):(3,1)")));
        assert_eq!(found("f32[]{}"), Some((vec![], "{}")));
        assert_eq!(found("bf16[7]"), Some((vec![7], "")));
        assert_eq!(found("torch.float16 (7,)"), Some((vec![7], "")));
        for text in
            ["", "f32", "f33[2]", "f32[2", "f32[a]", "f32[<=2]", "f32[-1]", "f32[2,,3]", "é[2]", "f32[,]"]
        {
            assert_eq!(found(text), None, "{text}");
        }
    }
}
