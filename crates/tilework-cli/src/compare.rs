//! `compare`: the four senses of "the same", and what would move.

use std::ffi::OsString;

use tilework::dialect::{Axes, Known, Said};
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
        let said = names.put_on(subject::read_one(text, line, known, args)?, is_second, text)?;
        let layout = said.layout().map_err(|error| Bad::new(error.or_at(0..text.len()), text))?;
        Ok((said, layout))
    };
    let sense = match sense {
        args::Sense::Function => Sense::Function,
        args::Sense::Buffer => Sense::Buffer,
        args::Sense::Reshape => Sense::Reshape,
        args::Sense::Transpose => Sense::Transpose,
    };
    let a = input::argument(a)
        .map_err(|error| Bad::new(error, &a.to_string_lossy()))
        .and_then(|text| read(text, None, Known::default(), false));
    let a = match a {
        Ok(a) => a,
        Err(bad) => return output.bad(&bad.error, &bad.text, None),
    };
    // The braces of a shape alone take the sizes and the type of the other side.
    let known = Known { dims: Some(a.1.dims()), element: a.0.element(), strict: false };
    input::texts(std::slice::from_ref(b), output, |text, line, output| match read(text, line, known, true) {
        Ok(b) => say(&a, &b, sense, (asked, args), output),
        Err(bad) => output.bad(&bad.error, &bad.text, line),
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
