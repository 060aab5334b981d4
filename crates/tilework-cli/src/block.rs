//! `block`: whether a Pallas kernel on a TPU can see an array in blocks of some size.

use std::ops::Range;

use tilework::dialect::Known;
use tilework::{Error, Result};
use tilework_audit::Block;
use tilework_explain::{Blocked, explain_block};

use crate::NO;
use crate::args::{Args, BlockArgs};
use crate::input;
use crate::output::{Output, Stop};
use crate::points;
use crate::side::Side;

/// Answers for each block shape.
pub fn block(asked: &BlockArgs, args: &Args, output: &mut Output) -> std::result::Result<(), Stop> {
    let array = match Side::read(&asked.array, Known::default(), args) {
        Ok(array) => array,
        Err(bad) => return output.bad(&bad.error, &bad.text, None),
    };
    let (shape, dims, element) = (array.said.to_string(), array.layout.dims(), array.element);
    input::texts(&asked.blocks, "a block, such as 8,128", output, |text, line, output| {
        let found = sizes(text).and_then(|sizes| Block::new(dims, element, &sizes)).and_then(|block| {
            if !block.is_legal() {
                output.exit_with(NO);
            }
            Ok(match output.json {
                true => output.object(&Blocked::new(&shape, &block, element)?),
                false => output.lines(&explain_block(&shape, &block, element, output.width, output.look)?),
            })
        });
        found.unwrap_or_else(|error| output.bad(&error.or_at(0..text.len()), text, line))
    })
}

/// Reads `8,128`, also in brackets and with a comma at the end, as Python writes them; `None` is a size that is not there.
fn sizes(text: &str) -> Result<Vec<Option<u64>>> {
    let mut sizes = Vec::new();
    for part in points::parts(text) {
        if sizes.len() == MOST {
            return Err(Error::new(format!("more than {MOST} dimensions")).at(0..text.len()));
        }
        sizes.push(size(text, part)?);
    }
    Ok(sizes)
}

/// The most dimensions of a block shape: more than any array has.
const MOST: usize = 4096;

fn size(text: &str, span: Range<usize>) -> Result<Option<u64>> {
    match text[span.clone()].trim() {
        "None" => Ok(None),
        _ => match points::number(text, span.clone())? {
            0 => Err(Error::new("a block of size 0")
                .at(span)
                .rule("a block has at least one element")
                .accepts("1 or more, or None")),
            size => Ok(Some(size)),
        },
    }
}
