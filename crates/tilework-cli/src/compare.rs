//! `compare`: the four senses of "the same", and what would move.

use std::ffi::OsString;

use tilework::dialect::{Axes, Known, Said, beside};
use tilework::{Layout, Verdict};
use tilework_explain::{Comparison, Sense, figure_of_two};

use crate::NO;
use crate::args::{self, Args, PictureArgs};
use crate::input;
use crate::output::{Output, Stop};
use crate::picture;
use crate::side::Names;
use crate::subject::{self, Bad};

/// Compares the one with each of the others.
pub fn compare(
    [a, b]: [&OsString; 2],
    sense: args::Sense,
    (axes, asked): (&[Axes], &PictureArgs),
    args: &Args,
    output: &mut Output,
) -> Result<(), Stop> {
    let names = match Names::new(axes) {
        Ok(names) => names,
        Err(bad) => return output.bad(&bad.error, &bad.text, None),
    };
    let read = |text: &str, line, known: Known, is_second| {
        let said = beside(known, |known| subject::read_one(text, line, known, args))?;
        let said = names.put_on(said, is_second, text)?;
        let layout = said.layout().map_err(|error| Bad::new(error.or_at(0..text.len()), text))?;
        Ok((said, layout))
    };
    let sense = match sense {
        args::Sense::Function => Sense::Function,
        args::Sense::Buffer => Sense::Buffer,
        args::Sense::Reshape => Sense::Reshape,
        args::Sense::Transpose => Sense::Transpose,
    };
    let a_text = a.to_str().unwrap_or_default(); // what is no UTF-8 is refused in the next line
    let a = input::argument(a)
        .map_err(|error| Bad::new(error, &a.to_string_lossy()))
        .and_then(|text| read(text, None, Known::default(), false));
    let a = match a {
        Ok(a) => a,
        Err(bad) => return output.bad(&bad.error, &bad.text, None),
    };
    // A text that says no sizes or no type takes those of the other side, as the braces of a shape alone do.
    let known = Known { dims: Some(a.1.dims()), element: a.0.element(), strict: false };
    input::texts(std::slice::from_ref(b), input::LAYOUT, output, |text, line, output| {
        match read(text, line, known, true) {
            Ok(b) => {
                // A layout without a type is of the other side's.
                let element = b.0.element().filter(|_| a.0.element().is_none());
                let typed = element
                    .and_then(|_| read(a_text, None, Known { element, ..Known::default() }, false).ok());
                say(typed.as_ref().unwrap_or(&a), &b, sense, (asked, args), output)
            }
            Err(bad) => output.bad(&bad.error, &bad.text, line),
        }
    })
}

/// Says how two layouts compare; the exit code is that of one sense.
fn say(
    a: &(Said, Layout),
    b: &(Said, Layout),
    sense: Sense,
    (asked, args): (&PictureArgs, &Args),
    output: &mut Output,
) -> Result<(), Stop> {
    let comparison = Comparison::new([&*a.0, &*b.0], [&a.1, &b.1]);
    let verdict = comparison.verdict(sense);
    if !verdict.is_yes() {
        output.exit_with(NO);
    }
    match output.json {
        false if asked.wanted() => {
            let [text_a, text_b] = [a, b].map(|(said, _)| said.to_string());
            let options = asked.options(args.look.width);
            let svg = figure_of_two([&a.1, &b.1], [&text_a, &text_b], &options);
            return picture::write(&svg, asked, output);
        }
        true => output.object(&comparison.object(sense))?,
        false => output.lines(&comparison.explain(output.width, output.look))?,
    }
    match verdict {
        Verdict::NotDecided(why) => output.note(&format!("not decided, so the exit code is {NO}: {why}")),
        _ => Ok(()),
    }
}
