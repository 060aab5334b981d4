//! Which machine's layouts are meant.

use pyo3::prelude::*;
use tilework::Error;
use tilework_audit::{Target, tiles_from_text};

use crate::error::{Bad, Result};
use crate::plain;

/// The target of a name, or of lists of tiles as texts; none if neither is given.
pub fn target(name: Option<&str>, tiles: Option<&Bound<'_, PyAny>>) -> Result<Option<Target>> {
    let Some(tiles) = tiles else {
        return match name {
            Some(name) => Target::from_name(name).map(Some).map_err(|error| {
                let error = Error::new(error.found())
                    .field("target")
                    .rule(error.broken_rule().unwrap_or("a target is a machine whose usual tiles are known"))
                    .accepts(error.accepted().unwrap_or_default());
                error.into()
            }),
            None => Ok(None),
        };
    };
    if name.is_some() {
        let error = Error::new("a target and tiles").field("tiles");
        return Err(error.rule("tiles stand in the place of a target's").accepts("one of both").into());
    }
    let read = |text: &String| tiles_from_text(text).map_err(|error| Bad::within(error, text));
    let lists = plain::words(tiles)?.iter().map(read).collect::<Result<Vec<_>>>()?;
    Ok(Some(Target::of_tiles(lists)?))
}
