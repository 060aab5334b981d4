//! `index` and `locate`: from an element to its place and back.

use std::ffi::OsString;
use std::ops::Range;

use tilework::dialect::Known;
use tilework::{Error, Layout, Place, Result};

use crate::args::Args;
use crate::input;
use crate::json;
use crate::output::{Output, Stop};
use crate::subject::{self, Bad};

/// Prints the offset of each index.
pub fn index(
    shape: &OsString,
    indices: &[OsString],
    args: &Args,
    output: &mut Output,
) -> std::result::Result<(), Stop> {
    let Some((name, layout)) = one_layout(shape, args, output)? else { return Ok(()) };
    input::texts(indices, "an index, such as 2,3", output, |text, line, output| {
        match offset_of(&layout, text) {
            Ok((index, offset)) if output.json => {
                output.object(&json::Element { shape: &name, index, offset })
            }
            Ok((_, offset)) => output.text(&offset.to_string()),
            Err(error) => output.bad(&error, text, line),
        }
    })
}

/// Prints the index of the element at each offset, or why there is none.
pub fn locate(
    shape: &OsString,
    offsets: &[OsString],
    args: &Args,
    output: &mut Output,
) -> std::result::Result<(), Stop> {
    let Some((name, layout)) = one_layout(shape, args, output)? else { return Ok(()) };
    input::texts(offsets, "an offset, such as 17", output, |text, line, output| {
        let found = number(text, 0..text.len()).and_then(|offset| {
            let place = layout.locate(offset).map_err(|error| error.at(0..text.len()))?;
            Ok((offset, place))
        });
        match found {
            Ok((offset, place)) if output.json => output.object(&json::Located::new(&name, offset, place)),
            Ok((_, Place::Element(index))) => output.text(&list(&index)),
            Ok((_, Place::Padding(padding))) => output.text(&format!("padding: {padding}")),
            Err(error) => output.bad(&error, text, line),
        }
    })
}

/// `2,3`, or `()` where there is nothing to list.
fn list(index: &[u64]) -> String {
    match index {
        [] => "()".to_owned(),
        _ => index.iter().map(u64::to_string).collect::<Vec<String>>().join(","),
    }
}

/// The canonical text and the layout of the one shape that a command is about.
fn one_layout(
    shape: &OsString,
    args: &Args,
    output: &mut Output,
) -> std::result::Result<Option<(String, Layout)>, Stop> {
    let text = shape.to_string_lossy();
    let found = input::argument(shape).map_err(|error| Bad::new(error, &text)).and_then(|text| {
        let said = subject::read_one(text, None, Known::default(), args)?;
        let layout = said.layout().map_err(|error| Bad::new(error.or_at(0..text.len()), text))?;
        Ok((said.to_string(), layout))
    });
    match found {
        Ok(found) => Ok(Some(found)),
        Err(bad) => output.bad(&bad.error, &bad.text, None).map(|()| None),
    }
}

/// Reads `2,3`, also in brackets, and looks it up.
fn offset_of(layout: &Layout, text: &str) -> Result<(Vec<u64>, u64)> {
    let mut index = Vec::new();
    let mut spans = Vec::new();
    for span in parts(text) {
        index.push(number(text, span.clone())?);
        spans.push(span);
        if index.len() > layout.rank() {
            break; // more is as wrong
        }
    }
    // An index outside its dimension is pointed at; any other error is about the whole text.
    let outside = index.iter().zip(layout.dims()).position(|(index, size)| index >= size);
    let place = match outside.filter(|_| index.len() == layout.rank()) {
        Some(dim) => spans[dim].clone(),
        None => 0..text.len(),
    };
    let offset = layout.offset(&index).map_err(|error| match (index.len(), layout.rank()) {
        (1, rank @ 2..=8) => {
            let zeros = vec!["0"; rank - 1].join(",");
            let sample = format!("{},{zeros}", index[0]);
            error.at(place).accepts(format!("{rank} numbers in one word, with commas: {sample}"))
        }
        _ => error.at(place),
    })?;
    Ok((index, offset))
}

/// The parts of `2,3`, also in brackets: none of a text without any. A comma at the end of brackets ends the last part.
pub fn parts(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut inner = 0..text.len();
    for (open, close) in [('(', ')'), ('[', ']'), ('{', '}')] {
        if text.len() >= 2 && text.starts_with(open) && text.ends_with(close) {
            inner = 1..text.len() - 1;
            if text[inner.clone()].ends_with(',') {
                inner.end -= 1;
            }
        }
    }
    let mut start = inner.start;
    let is_empty = text[inner.clone()].trim().is_empty(); // the index of a scalar
    text[inner].split(',').take_while(move |_| !is_empty).map(move |part| {
        let span = start..start + part.len();
        start = span.end + 1;
        span
    })
}

/// Reads the number in a part of a text.
pub fn number(text: &str, span: Range<usize>) -> Result<u64> {
    let part = &text[span.clone()];
    let found = part.trim();
    let bad = |what: String| {
        Err(Error::new(what).at(span.clone()).accepts("a number, 0 or more, in decimal digits"))
    };
    match found.parse() {
        Ok(number) if !found.starts_with('+') => Ok(number),
        _ if found.is_empty() => bad("nothing where a number should be".to_owned()),
        _ if found.bytes().all(|byte| byte.is_ascii_digit()) => {
            bad("a number above 18446744073709551615".to_owned())
        }
        _ if found.strip_prefix('-').is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit())) => {
            bad("a negative number".to_owned())
        }
        _ => bad("not a number".to_owned()),
    }
}
