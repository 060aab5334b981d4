//! `view`: whether a descriptor can be seen otherwise without moving data.

use std::ffi::OsString;

use tilework::Error;
use tilework::directml::{BufferTensorDesc, Desc, ViewOrCopy};

use crate::NO;
use crate::args::{Args, StepArgs};
use crate::input;
use crate::json;
use crate::output::{Output, Stop};
use crate::subject::{self, Bad};

/// Prints the descriptor before and after, and whether data moves.
pub fn view(descriptor: &OsString, step: &StepArgs, args: &Args, output: &mut Output) -> Result<(), Stop> {
    let text = descriptor.to_string_lossy();
    let found = input::argument(descriptor)
        .map_err(|error| Bad::new(error, &text))
        .and_then(|text| subject::read_one_desc(text, args))
        .and_then(|from| {
            let (answer, sizes) = take(&from, step).map_err(|error| Bad::new(error, &text))?;
            let to = match &answer {
                ViewOrCopy::View(to) => to.clone(),
                // What the copy would be: the wanted sizes, packed.
                ViewOrCopy::Copy(_) => Desc {
                    sizes: sizes.iter().map(|&size| i64::from(size)).collect(),
                    strides: None,
                    total: None,
                    ..from.to_desc()
                }
                .build()
                .map_err(|error| Bad::new(error, &text))?,
            };
            Ok((from, answer, to))
        });
    let (from, answer, to) = match found {
        Ok(found) => found,
        Err(bad) => return output.bad(&bad.error, &bad.text, None),
    };
    let copy = answer.copy();
    if copy.is_some() {
        output.exit_with(NO);
    }
    if output.json {
        return output.object(&json::Viewed {
            answer: if copy.is_some() { "copy needed" } else { "view" },
            from: from.to_string(),
            to: to.to_string(),
            dimensions: copy.map(|copy| [copy.dims.0, copy.dims.1]),
            stride: copy.map(|copy| copy.stride),
            wanted_stride: copy.map(|copy| copy.wanted),
        });
    }
    let mut page = output.new_page();
    page.title(match copy {
        Some(_) => "copy needed",
        None => "view: nothing moves",
    });
    let mut rows = vec![("from".to_owned(), from.to_string())];
    match copy {
        None => rows.push(("to".to_owned(), to.to_string())),
        Some(needed) => {
            rows.push(("copied to".to_owned(), to.to_string()));
            rows.push(("because".to_owned(), needed.to_string()));
        }
    }
    page.rows(&rows);
    output.page(&page)
}

/// Takes the step; with it the sizes that were wanted.
fn take(from: &BufferTensorDesc, step: &StepArgs) -> tilework::Result<(ViewOrCopy, Vec<u32>)> {
    let view = |desc: BufferTensorDesc| {
        let sizes = desc.sizes().to_vec();
        (ViewOrCopy::View(desc), sizes)
    };
    if let Some(order) = &step.permute {
        return from.permute(order).map(view);
    }
    if let Some(sizes) = &step.reshape {
        return Ok((from.reshape(sizes)?, sizes.clone()));
    }
    if let Some(sizes) = &step.broadcast {
        return from.broadcast_to(sizes, 0).map(view);
    }
    if let Some(axis) = step.flatten {
        let answer = from.flatten(axis)?; // knows that the axis is within the rank, and the products within 32 bits
        let (before, after) = from.sizes().split_at(axis.min(from.rank()));
        return Ok((answer, vec![before.iter().product(), after.iter().product()]));
    }
    match from.rank() {
        4 => from.permute(&[0, 3, 1, 2]).map(view),
        5 => from.permute(&[0, 4, 1, 2, 3]).map(view),
        rank => Err(Error::new(format!("rank {rank}"))
            .field("Sizes")
            .rule("NHWC has 4 dimensions, and NDHWC 5")
            .accepts("4 or 5 sizes, or --permute")),
    }
}
