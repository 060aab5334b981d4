//! Layout strings: axes from major to minor, and factors of them.
//!
//! ```text
//! layout := { UPPER | NUMBER lower | "[" NUMBER lower { NUMBER lower } "]" }
//! ```
//!
//! An upper-case letter is an axis, or what its factor leaves of it; a number and the letter in lower case is the factor.
//! Brackets put factors into one dimension of the shape, which moves nothing.

use std::fmt;
use tilework_core::InOrder;

use crate::error::{Error, Result, quoted};

/// The most dimensions: as many as there are letters.
pub(super) const MAX_DIMS: usize = 26;

/// A dimension of the string: an axis or a factor of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Digit {
    /// The axis, counted in the order of the array's dimensions.
    pub(super) dim: usize,
    /// The size of a factor; none for the axis itself.
    pub(super) factor: Option<u64>,
}

/// A layout string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Axes {
    /// The letters of the array's dimensions, in their order.
    pub(super) letters: Vec<char>,
    /// From major to minor.
    pub(super) digits: Vec<Digit>,
    /// Whether the string has its axes in another order than the array.
    pub(super) is_reordered: bool,
}

impl Axes {
    /// Digits over dimensions that get the letters A, B, C, …
    pub(super) fn of(rank: usize, digits: Vec<Digit>) -> Axes {
        let primal: Vec<usize> =
            digits.iter().filter(|digit| digit.factor.is_none()).map(|digit| digit.dim).collect();
        let letters = ('A'..='Z').take(rank).collect();
        Axes { letters, digits, is_reordered: !primal.is_sorted() }
    }

    /// The factor of a dimension.
    pub(super) fn factor(&self, dim: usize) -> Option<u64> {
        self.digits.iter().filter(|digit| digit.dim == dim).find_map(|digit| digit.factor)
    }

    /// Whether no axis has a factor.
    pub(super) fn is_uncut(&self) -> bool {
        (0..self.letters.len()).all(|dim| self.factor(dim).is_none())
    }

    /// Whether nothing but a string of this kind looks like it: an axis that stays whole beside one that is cut. Where all
    /// are cut it could be a tag of oneDNN as well, and where none is, a name that people give to an order.
    pub(super) fn is_unlike_others(&self) -> bool {
        let is_cut = |dim| self.factor(dim).is_some();
        (0..self.letters.len()).any(is_cut) && !(0..self.letters.len()).all(is_cut)
    }

    /// Reads a string, or two with `->` between them, the first of which says what the array's dimensions are.
    ///
    /// # Errors
    /// What is not one, with its place.
    pub(super) fn parse(text: &str) -> Result<Axes> {
        let Some((first, second)) = text.split_once("->") else { return parse(text, None) };
        let end = first.trim_end().len();
        let named = parse(&first[..end], None)?;
        if named.digits.iter().any(|digit| digit.factor.is_some()) {
            return Err(Error::new(format!("factors in {}", quoted(&first[..end])))
                .at(0..end)
                .rule("what stands before -> names the dimensions of the array")
                .accepts("one letter in upper case for each, such as NCHW->NCHW16c"));
        }
        let start = text.len() - second.trim_start().len();
        parse(&text[start..], Some(&named.letters)).map_err(|error| error.moved(start))
    }
}

/// One string, over axes in the order of `known` or in its own.
fn parse(text: &str, known: Option<&[char]>) -> Result<Axes> {
    let bad = |found: String, at: usize, length: usize| {
        Error::new(found)
            .at(at..at + length)
            .rule("a layout of TVM has each axis once in upper case, and up to one factor of it: NUMBER and the letter in lower case")
    };
    let mut factors: Vec<(char, u64, usize)> = Vec::new();
    let mut axes: Vec<char> = Vec::new();
    let mut order: Vec<(char, Option<u64>)> = Vec::new();
    let (mut open, mut packed) = (None, 0);
    let mut at = 0;
    while let Some(next) = text[at..].chars().next() {
        match next {
            '[' if open.is_none() => (open, packed) = (Some(at), 0),
            ']' if open.is_some() => {
                if packed < 2 {
                    return Err(bad(format!("{packed} factors in brackets"), at, 1)
                        .accepts("two or more factors between [ and ], or none of both"));
                }
                open = None;
            }
            'A'..='Z' if open.is_none() => {
                if axes.contains(&next) {
                    return Err(bad(format!("axis {next} a second time"), at, 1));
                }
                axes.push(next);
                order.push((next, None));
            }
            '0'..='9' => {
                let digits = text[at..].bytes().take_while(u8::is_ascii_digit).count();
                let size =
                    text[at..at + digits].parse().ok().filter(|&size: &u64| (1..=1 << 62).contains(&size));
                let letter = text[at + digits..].chars().next().filter(char::is_ascii_lowercase);
                let (Some(size), Some(letter)) = (size, letter) else {
                    return Err(bad(format!("{} is no factor", quoted(&text[at..at + digits])), at, digits)
                        .accepts("a number of 1 or more and a letter in lower case, such as 16c"));
                };
                if factors.iter().any(|factor| factor.0 == letter) {
                    return Err(bad(
                        format!("a second factor of {}", letter.to_ascii_uppercase()),
                        at,
                        digits + 1,
                    ));
                }
                factors.push((letter, size, at));
                order.push((letter.to_ascii_uppercase(), Some(size)));
                packed += 1;
                at += digits;
            }
            'a'..='z' => {
                return Err(bad(format!("{next} without a size"), at, 1)
                    .accepts(format!("16{next}, or {} for the axis", next.to_ascii_uppercase())));
            }
            other => {
                return Err(bad(format!("unexpected {}", quoted(&other.to_string())), at, other.len_utf8()));
            }
        }
        at += text[at..].chars().next().map_or(1, char::len_utf8);
    }
    if let Some(open) = open {
        return Err(bad("a [ without its ]".to_owned(), open, 1));
    }
    if let Some((letter, _, at)) =
        factors.iter().find(|factor| !axes.contains(&factor.0.to_ascii_uppercase()))
    {
        return Err(bad(
            format!("a factor of {letter}, but no axis {}", letter.to_ascii_uppercase()),
            *at,
            1,
        )
        .accepts(format!("{} in the string too", letter.to_ascii_uppercase())));
    }
    let letters = known.map_or_else(|| axes.clone(), <[char]>::to_vec);
    let mut sorted = [letters.clone(), axes.clone()];
    sorted.iter_mut().for_each(|letters| letters.order());
    if sorted[0] != sorted[1] {
        let all: String = letters.iter().collect();
        return Err(
            bad(format!("the axes of {}", quoted(text)), 0, text.len()).accepts(format!("the axes {all}"))
        );
    }
    let dim = |letter| letters.iter().position(|&known| known == letter);
    let digits = order.iter().filter_map(|&(letter, factor)| Some(Digit { dim: dim(letter)?, factor }));
    Ok(Axes { digits: digits.collect(), is_reordered: letters != axes, letters })
}

/// The string; with the axes of the array before it where it would not say them, or where other systems read it too.
impl fmt::Display for Axes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_reordered || !self.is_unlike_others() {
            self.letters.iter().try_for_each(|letter| write!(f, "{letter}"))?;
            f.write_str("->")?;
        }
        self.digits.iter().try_for_each(|digit| match (digit.factor, self.letters[digit.dim]) {
            (None, letter) => write!(f, "{letter}"),
            (Some(size), letter) => write!(f, "{size}{}", letter.to_ascii_lowercase()),
        })
    }
}
