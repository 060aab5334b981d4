//! `suggest`: which layouts of an array would be smaller.

use std::borrow::Cow;

use tilework::xla::{ArrayShape, Layout, Shape};
use tilework::{Error, Result};
use tilework_explain::Suggesting;

use crate::args::{Args, SuggestArgs};
use crate::input::{self, Given};
use crate::output::{Output, Stop};

/// Answers for each array.
pub fn suggest(asked: &SuggestArgs, args: &Args, output: &mut Output) -> std::result::Result<(), Stop> {
    let target = match asked.target.chosen() {
        Ok(target) => target.unwrap_or_default(),
        Err(error) => return output.bad(&error, "", None),
    };
    let own_words = |layout: &&Layout| layout.strides().is_some() || layout.padding().is_some();
    if let (true, Some(layout)) = (args.strict_xla, asked.what_if.iter().find(own_words)) {
        let text = layout.to_string();
        let error = Error::new("words of Tilework's own").at(0..text.len());
        return output.bad(&error.rule("--strict-xla reads nothing but what XLA writes"), &text, None);
    }
    input::subjects(&asked.shapes, (None, args), output, |given, output| {
        let answered = array(given).and_then(|array| {
            let found = match asked.what_if.is_empty() {
                true => Suggesting::new(&array, &target, asked.top.into())?,
                false => Suggesting::what_if(&array, &asked.what_if)?,
            };
            Ok(match output.json {
                true => output.object(&found.object()?),
                false => output.lines(&found.explain(output.width, output.look)?),
            })
        });
        answered.unwrap_or_else(|error| output.bad(&error.or_at(0..given.text.len()), given.text, given.line))
    })
}

/// The array that is asked about.
fn array<'a>(given: &'a Given) -> Result<Cow<'a, ArrayShape>> {
    // What is no array has no layout, and the error says so.
    let layout = given.said.layout()?;
    if let Some(array) = given.said.get().and_then(Shape::as_array) {
        return Ok(Cow::Borrowed(array));
    }
    let element = given.said.element().ok_or_else(|| Error::new("elements without a type"))?;
    ArrayShape::saying(&layout, element).map(Cow::Owned)
}
