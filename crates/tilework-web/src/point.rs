//! One element and its place, with the formula worked out.

use serde::Serialize;
use tilework::{Error, Place, Result};

use crate::layout::{index_text, read};

/// An element or a piece of padding.
#[derive(Serialize)]
pub struct Point {
    /// As text, as it may have more digits than a page's numbers.
    offset: String,
    /// None for padding.
    index: Option<Vec<u64>>,
    /// What a person reads.
    words: String,
    /// `12·⌊2/2⌋ + … = 12 + … = 17`; none for padding.
    worked: Option<String>,
}

/// What is at an offset, or where an element is.
pub fn answer(text: &str, offset: Option<&str>, index: Option<&[u64]>) -> Result<Point> {
    let said = read(text)?;
    let layout = said.layout()?;
    let (offset, place) = match (offset, index) {
        (Some(offset), _) => {
            let offset = offset.parse().map_err(|_| Error::new("an offset that is no number"))?;
            (offset, layout.locate(offset)?)
        }
        (None, Some(index)) => (layout.offset(index)?, Place::Element(index.to_vec())),
        (None, None) => return Err(Error::new("neither an offset nor an index")),
    };
    Ok(match place {
        Place::Element(index) => {
            let worked = layout.formula_at(&index)?;
            Point {
                offset: offset.to_string(),
                words: format!("element {} is at {offset}", index_text(&index)),
                worked: (worked.chars().count() <= 1000).then_some(worked),
                index: Some(index),
            }
        }
        Place::Padding(padding) => Point {
            offset: offset.to_string(),
            words: format!("{offset} is padding, from {padding}"),
            worked: None,
            index: None,
        },
    })
}
