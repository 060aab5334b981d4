//! `show` and `parse`: a shape in words, numbers and pictures.

use tilework_explain::{Shown, explain};

use crate::input::Given;
use crate::json;
use crate::output::{Output, Stop};

/// Prints the canonical text.
pub fn parse(given: &Given, output: &mut Output) -> Result<(), Stop> {
    let shape = given.said.to_string();
    match output.json {
        true => output.object(&json::Parsed { text: given.text, shape }),
        false => output.text(&shape),
    }
}

/// Explains a shape or a descriptor.
pub fn show(given: &Given, output: &mut Output) -> Result<(), Stop> {
    let outcome = match output.json {
        true => Shown::new(&*given.said).map(|object| output.object(&object)),
        false => explain(&*given.said, output.width, output.look).map(|lines| output.lines(&lines)),
    };
    outcome.unwrap_or_else(|error| output.bad(&error.or_at(0..given.text.len()), given.text, given.line))
}
