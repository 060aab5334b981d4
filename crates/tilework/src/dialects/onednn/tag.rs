//! Tags: `aBcd8b`, and `nChw8c` by the meanings of the dimensions.
//!
//! ```text
//! tag    outer inner*     outer: each dimension once, from major to minor; upper case has inner blocks
//! inner  NUMBER letter    from major to minor
//! ```
//!
//! The letters of a tag are `a`, `b`, `c`, … for dimension 0, 1, 2, … An alias has the letters of a spelling, such as
//! `nchw`, whose order is that of the dimensions.

use std::fmt;
use tilework_core::InOrder;

use super::MAX_DIMS;
use super::names::{EXCEPTIONS, SPELLINGS, is_tag, tags};
use crate::dialect::blocked::Block;
use crate::error::{Error, ErrorKind, Result, quoted};

/// A tag with what it means.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Tag {
    /// As it is written.
    text: String,
    /// The outer digits from major to minor.
    pub(super) order: Vec<usize>,
    /// The inner blocks from major to minor.
    pub(super) inner: Vec<Block>,
    /// The letters of the dimensions, if it is an alias.
    pub(super) spelling: Option<&'static str>,
}

/// What every text of a tag is made of.
struct Pieces<'a> {
    outer: &'a str,
    /// Size and letter of each inner block, with the place of the block.
    inner: Vec<(u64, char, usize)>,
}

/// What a tag has to be.
const RULE: &str = "a tag has each dimension once, upper case with inner blocks, then the blocks as NUMBER and letter; \
                    the letters are a, b, c, … or those of nchw, oihw, goihw, tnc, ldigo or alike";

impl Tag {
    /// The tag with these outer digits and inner blocks, in letters of dimensions.
    pub(super) fn new(order: &[usize], inner: &[Block]) -> Tag {
        let (order, inner) = (order.to_vec(), inner.to_vec());
        let text = base(&order, &inner);
        Tag { text, order, inner, spelling: None }
    }

    /// Reads a tag or an alias.
    ///
    /// # Errors
    /// What is neither.
    pub(super) fn parse(text: &str) -> Result<Tag> {
        Tag::read(text).map_err(|error| error.unwrap_or_else(|| no_dimensions(text)))
    }

    /// The same without a word for those letters that are of no tag, which takes a search among all names.
    ///
    /// # Errors
    /// None for letters of no tag.
    pub(super) fn read(text: &str) -> Result<Tag, Option<Error>> {
        let pieces = pieces(text).map_err(Some)?;
        let letters = pieces.outer.to_ascii_lowercase();
        let rank = letters.len();
        let alphabet: String = ('a'..='z').take(rank).collect();
        let spelling = match same_letters(&letters, &alphabet) {
            true => None,
            false => Some(spelled(&letters).ok_or(None)?),
        };
        if rank > MAX_DIMS {
            return Err(Some(
                Error::new(format!("{rank} dimensions"))
                    .of_kind(ErrorKind::Limit)
                    .at(0..rank)
                    .rule(format!("arrays of oneDNN have up to {MAX_DIMS} dimensions"))
                    .accepts(format!(
                        "the letters a to {}",
                        alphabet.chars().nth(MAX_DIMS - 1).unwrap_or('l')
                    )),
            ));
        }
        if let Some((_, tag)) = EXCEPTIONS.iter().find(|(alias, _)| *alias == text) {
            return Ok(Tag { text: text.to_owned(), spelling, ..Tag::read(tag)? });
        }
        let dims = spelling.unwrap_or(&alphabet);
        let order: Vec<usize> = letters.chars().filter_map(|letter| dims.find(letter)).collect();
        let mut inner = Vec::with_capacity(pieces.inner.len());
        for &(size, letter, at) in &pieces.inner {
            let Some(dim) = dims.find(letter) else {
                return Err(Some(
                    Error::new(format!(
                        "a block of {letter}, which is no dimension of {}",
                        quoted(pieces.outer)
                    ))
                    .at(at..text[at..].find(letter).map_or(at, |end| at + end + 1))
                    .accepts(format!("a block of one of {dims}")),
                ));
            };
            inner.push(Block { dim, size });
        }
        for (at, letter) in pieces.outer.char_indices() {
            let has_blocks = pieces.inner.iter().any(|block| block.1 == letter.to_ascii_lowercase());
            if letter.is_ascii_uppercase() != has_blocks {
                let (found, accepts) = match has_blocks {
                    false => (
                        format!("{letter} in upper case without an inner block"),
                        format!(
                            "{} in lower case, or a block behind the dimensions such as 8{0}",
                            letter.to_ascii_lowercase()
                        ),
                    ),
                    true => (
                        format!("{letter} in lower case with an inner block"),
                        format!("{}", letter.to_ascii_uppercase()),
                    ),
                };
                return Err(Some(
                    Error::new(found)
                        .at(at..at + 1)
                        .rule("dimensions with inner blocks are in upper case, and only those")
                        .accepts(accepts),
                ));
            }
        }
        Ok(Tag { text: text.to_owned(), order, inner, spelling })
    }

    /// The tag in letters of dimensions.
    pub(super) fn base(&self) -> String {
        base(&self.order, &self.inner)
    }

    /// Number of dimensions.
    pub(super) fn rank(&self) -> usize {
        self.order.len()
    }

    /// Whether oneDNN's enum has it, by whatever name.
    pub(super) fn is_named(&self) -> bool {
        is_tag(&self.base())
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The letter of a dimension in tags.
pub(super) fn letter(dim: usize) -> char {
    u8::try_from(dim).map_or('?', |dim| char::from(b'a'.saturating_add(dim.min(25))))
}

fn base(order: &[usize], inner: &[Block]) -> String {
    let outer = order.iter().map(|&dim| match inner.iter().any(|block| block.dim == dim) {
        true => letter(dim).to_ascii_uppercase(),
        false => letter(dim),
    });
    let mut text: String = outer.collect();
    text.extend(inner.iter().map(|block| format!("{}{}", block.size, letter(block.dim))));
    text
}

/// Letters, then numbers with a letter each.
fn pieces(text: &str) -> Result<Pieces<'_>> {
    let outer = &text[..text.bytes().take_while(u8::is_ascii_alphabetic).count()];
    if outer.is_empty() {
        return Err(Error::new(format!("{} is no tag", quoted(text)))
            .at(0..text.len())
            .rule(RULE)
            .accepts("a tag such as nChw8c or aBcd8b"));
    }
    let mut inner = Vec::new();
    let mut at = outer.len();
    while at < text.len() {
        let digits = text[at..].bytes().take_while(u8::is_ascii_digit).count();
        let end = at + digits;
        let size = text[at..end].parse::<u64>().ok().filter(|&size| (1..=i64::MAX as u64).contains(&size));
        let letter = text[end..].chars().next();
        match (size, letter) {
            (Some(size), Some(letter)) if letter.is_ascii_lowercase() && !text[at..].starts_with('0') => {
                inner.push((size, letter, at));
                at = end + 1;
            }
            _ => {
                let length = letter.map_or(0, char::len_utf8);
                return Err(Error::new(format!("{} is no inner block", quoted(&text[at..])))
                    .at(at..end + length)
                    .rule(RULE)
                    .accepts("a number and a letter in lower case, such as 8c"));
            }
        }
    }
    Ok(Pieces { outer, inner })
}

/// The spelling that has exactly these letters.
fn spelled(letters: &str) -> Option<&'static str> {
    SPELLINGS.into_iter().find(|spelling| same_letters(letters, spelling))
}

/// Whether both have the same letters, each once.
fn same_letters(a: &str, b: &str) -> bool {
    let sorted = |text: &str| {
        let mut letters: Vec<u8> = text.bytes().collect();
        letters.order();
        letters
    };
    let a = sorted(a);
    a == sorted(b) && a.windows(2).all(|pair| pair[0] != pair[1])
}

fn no_dimensions(text: &str) -> Error {
    let outer = &text[..text.bytes().take_while(u8::is_ascii_alphabetic).count()];
    let near = nearest(text).map(|near| format!("{near}, or another tag"));
    Error::new(format!("{} names no dimensions of a tag", quoted(outer)))
        .at(0..outer.len())
        .rule(RULE)
        .accepts(near.unwrap_or("a tag such as nChw8c or aBcd8b".to_owned()))
}

/// The name of oneDNN that is most alike.
fn nearest(text: &str) -> Option<String> {
    let alike = |name: &&str| name.len().abs_diff(text.len()) <= 1;
    let aliases = tags().filter(alike).flat_map(|tag| {
        let rank = tag.bytes().take_while(u8::is_ascii_alphabetic).count();
        let spellings = SPELLINGS.iter().filter(move |spelling| spelling.len() == rank);
        spellings.map(move |spelling| renamed(tag, spelling))
    });
    let names: Vec<String> = tags().filter(alike).map(str::to_owned).chain(aliases).collect();
    crate::nearest(text, names.iter().map(String::as_str)).map(str::to_owned)
}

/// A tag in the letters of a spelling.
fn renamed(tag: &str, spelling: &str) -> String {
    let rename = |letter: char| {
        let place = (letter.to_ascii_lowercase() as usize)
            .checked_sub('a' as usize)
            .filter(|_| letter.is_ascii_alphabetic());
        let name = place.and_then(|place| spelling.chars().nth(place));
        match name {
            Some(name) if letter.is_ascii_uppercase() => name.to_ascii_uppercase(),
            Some(name) => name,
            None => letter,
        }
    };
    tag.chars().map(rename).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base_of(text: &str) -> String {
        Tag::parse(text).unwrap_or_else(|error| panic!("{}", error.report(text))).base()
    }

    #[test]
    fn every_tag_of_the_enum_is_read_as_itself() {
        assert_eq!(tags().count(), 873);
        for tag in tags() {
            assert_eq!(base_of(tag), tag);
            assert!(Tag::parse(tag).is_ok_and(|tag| tag.is_named()));
        }
    }

    #[test]
    fn aliases_are_tags_by_the_meaning_of_their_letters() {
        for (alias, tag) in [
            ("x", "a"),
            ("nhwc", "acdb"),
            ("chwn", "bcda"),
            ("nChw8c", "aBcd8b"),
            ("OIhw16i16o", "ABcd16b16a"),
            ("gOIhw4i16o4i", "aBCde4c16b4c"),
            ("hwigo", "decab"),
            ("giohw", "acbde"),
            ("ldgoi", "abdec"),
            ("ntc", "bac"),
            ("dhwioG16g", "defcbA16a"),
            ("OhwI24o", "Acdb24a"),
            ("gIOhw2i8o16i2o", "aBCde2c8b16c2b"),
        ] {
            assert_eq!(base_of(alias), tag, "{alias}");
        }
    }

    #[test]
    fn what_is_no_tag_is_refused_where_it_goes_wrong() {
        for (text, span, word) in [
            ("nChw8x", 4..6, "no dimension"),
            ("nchw8c", 1..2, "upper case"),
            ("nChw", 1..2, "without"),
            ("abd", 0..3, "abc"),
            ("aab", 0..3, "tag"),
            ("nChw8", 4..5, "inner block"),
            ("nChw08c", 4..7, "inner block"),
            ("nChw8C", 4..6, "lower case"),
            ("8b", 0..2, "no tag"),
            ("abcdefghijklm", 0..13, "12 dimensions"),
            ("nhvc", 0..4, "nhwc"),
        ] {
            let error = Tag::parse(text).expect_err(text);
            assert_eq!(error.span(), Some(span), "{text}: {error}");
            assert!(error.to_string().contains(word), "{text}: {error}");
        }
    }
}
