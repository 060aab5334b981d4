//! `link`: the address of the page in the browser that shows a layout, or two.

use std::env;
use std::ffi::OsString;
use std::path::Path;

use tilework::dialect::{Known, beside};
use tilework_explain::link::{BASE, Link, link};

use crate::args::{Args, LinkArgs};
use crate::input;
use crate::output::{Output, Stop};
use crate::subject;

/// The variable that says where the page is.
const PAGE: &str = "TILEWORK_PAGE";

/// Where the page is, if the environment says so.
pub fn page() -> Option<String> {
    env::var(PAGE).ok().filter(|base| !base.is_empty())
}

/// Prints the address.
pub fn write(asked: &LinkArgs, args: &Args, output: &mut Output) -> Result<(), Stop> {
    let base = asked.base.clone().or_else(page);
    let base = base.as_deref().unwrap_or(BASE);
    // A text that cannot be read would be an error on the page, too.
    let first = match read(&asked.shape, Known::default(), args) {
        Ok(first) => first,
        Err((error, text)) => return output.bad(&error, &text, None),
    };
    let wanted = match &asked.other {
        None => {
            let at = asked.at.map(|at| at.to_string());
            Link::Layout { text: first.0, at, slice: Vec::new(), axes: String::new() }
        }
        Some(other) => {
            let layout = first.1.layout().ok();
            let known = Known {
                dims: layout.as_ref().map(|layout| layout.dims()),
                element: first.1.element(),
                strict: false,
            };
            match read(other, known, args) {
                Ok(second) => Link::Two { a: first.0, b: second.0 },
                Err((error, text)) => return output.bad(&error, &text, None),
            }
        }
    };
    match link(base, &wanted) {
        Ok(address) if output.json => output.object(&Linked { link: &address }),
        Ok(address) => {
            output.text(&address)?;
            match base == BASE && !Path::new(BASE).exists() {
                true => output.note(&format!(
                    "{BASE} is not here: in the sources `cargo xtask page` makes it, in target/page/. --base says where it is"
                )),
                false => Ok(()),
            }
        }
        Err(error) => output.bad(&error, "", None),
    }
}

/// Answer of `link`.
#[derive(serde::Serialize)]
struct Linked<'a> {
    link: &'a str,
}

type Given = (String, tilework::dialect::Said);

/// The text that the page is to show: as it was given, or of a file what it says.
fn read(given: &OsString, known: Known, args: &Args) -> Result<Given, (tilework::Error, String)> {
    let text = input::argument(given).map_err(|error| (error, given.to_string_lossy().into_owned()))?;
    let said = beside(known, |known| subject::read_one(text, None, known, args));
    let said = said.map_err(|bad| (bad.error, bad.text))?;
    match text.starts_with('@') {
        true => Ok((said.to_string(), said)),
        false => Ok((text.to_owned(), said)),
    }
}
