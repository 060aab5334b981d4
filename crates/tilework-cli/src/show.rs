//! `show` and `parse`: a shape in words, numbers and pictures.

use tilework::dialect::{Axes, with_axes};
use tilework_explain::{Shown, explain, figure};

use crate::args::{Args, PictureArgs};
use crate::input::Given;
use crate::json;
use crate::output::{Output, Stop};
use crate::picture;

/// Prints the canonical text.
pub fn parse(given: &Given, output: &mut Output) -> Result<(), Stop> {
    let shape = given.said.to_string();
    match output.json {
        true => output.object(&json::Parsed { text: given.text, shape }),
        false => output.text(&shape),
    }
}

/// Explains a shape or a descriptor, whose dimensions may have names.
pub fn show(
    given: &Given,
    axes: Option<&Axes>,
    (asked, args): (&PictureArgs, &Args),
    output: &mut Output,
) -> Result<(), Stop> {
    let said = match axes {
        Some(axes) => with_axes(given.said.clone(), axes.clone()),
        None => Ok(given.said.clone()),
    };
    let outcome = said.and_then(|said| match output.json {
        false if asked.wanted() => {
            let svg = figure(&*said, &asked.options(args.look.width))?;
            Ok(picture::write(&svg, asked, output))
        }
        true => Shown::new(&*said).map(|object| output.object(&object)),
        false => explain(&*said, output.width, output.look).map(|lines| output.lines(&lines)),
    });
    outcome.unwrap_or_else(|error| output.bad(&error.or_at(0..given.text.len()), given.text, given.line))
}
