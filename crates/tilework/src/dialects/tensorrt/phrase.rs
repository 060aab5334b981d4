//! What the engine inspector writes of a format: `Channel major FP16 format where channel % 8 == 0`.
//!
//! ```text
//! Row major linear TYPE [format]
//! Row major TYPE format [where column stride % 64 == 0]
//! N wide channel vectorized row major TYPE format [with 3 spatial dimensions]
//! Channel major TYPE format [where CONDITION [and CONDITION]] [with 3 spatial dimensions]
//! CONDITION    channel % N == 0, channel == N, column stride % N == 0
//! ```

use super::format::{Chip, Format};
use crate::element::Element;
use crate::error::{Error, Result, quoted};

/// Counts in words.
const COUNTS: [(&str, u64); 5] = [("Two", 2), ("Four", 4), ("Eight", 8), ("Sixteen", 16), ("Thirty-two", 32)];

/// Types in phrases.
const TYPES: [(&str, Element); 12] = [
    ("FP32", Element::F32),
    ("FP16", Element::F16),
    ("BFloat16", Element::Bf16),
    ("BF16", Element::Bf16),
    ("Int8", Element::S8),
    ("UInt8", Element::U8),
    ("Int32", Element::S32),
    ("Int64", Element::S64),
    ("Int4", Element::S4),
    ("BOOL", Element::Pred),
    ("FP8", Element::F8e4m3fn),
    ("FP4", Element::F4e2m1fn),
];

/// Whether a text begins as phrases do.
pub(super) fn begins(text: &str) -> bool {
    let is_count = COUNTS
        .iter()
        .any(|(word, _)| text.strip_prefix(word).is_some_and(|rest| rest.starts_with(" wide channel ")));
    is_count || text.starts_with("Row major ") || text.starts_with("Channel major ")
}

/// The words that are left, with the text that they are in.
struct Words<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Words<'a> {
    /// Passes these words if they come next.
    fn eat(&mut self, words: &str) -> bool {
        let rest = &self.text[self.at..];
        let passed = rest.strip_prefix(words).filter(|rest| rest.is_empty() || rest.starts_with(' '));
        if let Some(rest) = passed {
            self.at = self.text.len() - rest.trim_start().len();
        }
        passed.is_some()
    }

    fn word(&mut self) -> &'a str {
        let rest = &self.text[self.at..];
        let word = &rest[..rest.find(' ').unwrap_or(rest.len())];
        self.at = self.text.len() - rest[word.len()..].trim_start().len();
        word
    }

    fn number(&mut self) -> Result<u64> {
        let start = self.at;
        let word = self.word();
        let number = word.parse().ok().filter(|&number: &u64| (1..=1 << 16).contains(&number));
        number.ok_or_else(|| {
            Error::new(format!("{} is no count", quoted(word)))
                .at(start..start + word.len())
                .accepts("a number from 1 to 65536")
        })
    }

    fn expect(&mut self, words: &str) -> Result<()> {
        match self.eat(words) {
            true => Ok(()),
            false => Err(self.unexpected(words)),
        }
    }

    fn unexpected(&self, accepts: &str) -> Error {
        let rest = &self.text[self.at..];
        let word = &rest[..rest.find(' ').unwrap_or(rest.len())];
        let found = if word.is_empty() {
            "the text ends here".to_owned()
        } else {
            format!("unexpected {}", quoted(word))
        };
        Error::new(found)
            .at(self.at..self.at + word.len())
            .rule("this is no phrase of the engine inspector")
            .accepts(accepts)
    }
}

/// Reads a phrase: the format, the type, and the number of channels if it says one.
///
/// # Errors
/// Other words than those of phrases.
pub(super) fn parse(text: &str) -> Result<(Format, Element, Option<u64>)> {
    let text = text.trim_end_matches('.');
    let mut words = Words { text, at: 0 };
    if let Some((word, vector)) = COUNTS.iter().find(|(word, _)| text.starts_with(&format!("{word} "))) {
        words.expect(word)?;
        words.expect("wide channel vectorized row major")?;
        let element = element(&mut words)?;
        words.expect("format")?;
        let depth = words.eat("with 3 spatial dimensions");
        end(&words)?;
        return Ok((Format::VectorMajor { depth, vector: *vector }, element, None));
    }
    if words.eat("Row major") {
        let linear = words.eat("linear");
        let element = element(&mut words)?;
        if !words.eat("format") && !linear {
            return Err(words.unexpected("format"));
        }
        if words.eat("where") {
            words.expect("column stride % 64 == 0")?;
            end(&words)?;
            return Ok((Format::DlaLinear, element, None));
        }
        end(&words)?;
        return Ok((Format::Linear, element, None));
    }
    words.expect("Channel major")?;
    let element = element(&mut words)?;
    words.expect("format")?;
    let mut depth = words.eat("with 3 spatial dimensions");
    let (mut multiple, mut channels, mut row) = (1, None, None);
    if words.eat("where") {
        loop {
            if words.eat("channel %") {
                multiple = words.number()?;
                words.expect("== 0")?;
            } else if words.eat("channel ==") {
                channels = Some(words.number()?);
            } else {
                words.expect("column stride %")?;
                let start = words.at;
                let bytes = words.number()?;
                row = Some(match bytes {
                    64 => Chip::Orin,
                    32 => Chip::Xavier,
                    _ => {
                        return Err(Error::new(format!("a column stride of a multiple of {bytes}"))
                            .at(start..start + bytes.to_string().len())
                            .rule("rows of the DLA are multiples of 32 bytes (Xavier) or 64 (Orin)")
                            .accepts("32 or 64"));
                    }
                });
                words.expect("== 0")?;
            }
            if !words.eat("and") {
                break;
            }
        }
    }
    depth |= words.eat("with 3 spatial dimensions");
    end(&words)?;
    Ok(match row {
        // Without a number of channels it is a grey image.
        Some(chip) => (Format::DlaImage(chip), element, Some(channels.unwrap_or(1))),
        None => (Format::VectorMinor { depth, multiple }, element, channels),
    })
}

fn element(words: &mut Words) -> Result<Element> {
    let start = words.at;
    let word = words.word();
    let found = TYPES.iter().find(|(name, _)| name.eq_ignore_ascii_case(word));
    found.map(|(_, element)| *element).ok_or_else(|| {
        let names: Vec<&str> = TYPES.iter().map(|(name, _)| *name).collect();
        Error::new(format!("{} is no type of TensorRT", quoted(word)))
            .at(start..start + word.len())
            .accepts(names.join(", "))
    })
}

fn end(words: &Words) -> Result<()> {
    match words.at < words.text.len() {
        true => Err(words.unexpected("the end of the phrase")),
        false => Ok(()),
    }
}

/// The phrase of a format that has no name.
pub(super) fn text(format: &Format, element: Element) -> String {
    let name = TYPES.iter().find(|(_, other)| *other == element).map_or(element.name(), |(name, _)| *name);
    let spatial = |depth: bool| if depth { " with 3 spatial dimensions" } else { "" };
    match format {
        Format::VectorMajor { depth, vector } => {
            let count = COUNTS.iter().find(|(_, count)| count == vector).map_or("Many", |(word, _)| *word);
            format!("{count} wide channel vectorized row major {name} format{}", spatial(*depth))
        }
        Format::VectorMinor { depth, multiple } => {
            format!("Channel major {name} format where channel % {multiple} == 0{}", spatial(*depth))
        }
        _ => format!("Row major linear {name}"),
    }
}
