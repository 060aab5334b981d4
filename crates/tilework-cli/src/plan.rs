//! `plan`: the loops that move an array from one layout to another.

use tilework::xla::ArrayShape;
use tilework::{Error, Plan, PlanOptions};
use tilework_copy::Conversion;

use crate::args::{Args, PlanArgs};
use crate::input;
use crate::json_plan::Planned;
use crate::movement;
use crate::output::{Output, Stop};
use crate::page::Page;
use crate::subject::{self, Bad, Subject};

/// Prints the plan from the one to each of the others.
pub fn plan(plan: &PlanArgs, args: &Args, output: &mut Output) -> std::result::Result<(), Stop> {
    let from = input::argument(&plan.a)
        .map_err(|error| Bad::new(error, &plan.a.to_string_lossy()))
        .and_then(|text| subject::read_one(text, args).map(|subject| (subject, text)));
    let (from, from_text) = match from {
        Ok(from) => from,
        Err(bad) => return output.bad(&bad.error, &bad.text, None),
    };
    input::texts(std::slice::from_ref(&plan.b), output, |text, line, output| {
        let made = subject::read_one(text, args).and_then(|to| {
            let made = make(&from, from_text, &to, text, plan)?;
            Ok((to, made))
        });
        match made {
            Ok((to, (plan, _))) if output.json => output.object(&Planned::new(&from, &to, &plan)),
            Ok((to, (plan, conversion))) => {
                let mut page = Page::new(output);
                page.rows(&[("A".to_owned(), from.to_string()), ("B".to_owned(), to.to_string())]);
                page.text(&plan.to_string());
                if let Some(sentence) = movement::sentence(&plan, conversion) {
                    page.paragraph(&sentence);
                }
                output.page(&page)
            }
            Err(bad) => output.bad(&bad.error, &bad.text, line),
        }
    })
}

fn make(
    from: &Subject,
    from_text: &str,
    to: &Subject,
    to_text: &str,
    asked: &PlanArgs,
) -> std::result::Result<(Plan, Option<Conversion>), Bad> {
    let source = from.layout(from_text).map_err(|error| Bad::new(error, from_text))?;
    let destination = to.layout(to_text).map_err(|error| Bad::new(error, to_text))?;
    let of_text = |error: Error| Bad::new(error, to_text);
    let conversion = match (from.element(), to.element()) {
        (Some(one), Some(other)) if asked.convert && one != other => {
            Some(Conversion::between(one.name(), other.name()).map_err(of_text)?)
        }
        _ => None,
    };
    let fill = match (&asked.fill, to.element()) {
        (Some(text), Some(element)) => Some(element.fill_bits(text, destination.bits()).map_err(of_text)?),
        _ => to.as_array().and_then(ArrayShape::padding_bits),
    };
    let options = PlanOptions { fill, converts: asked.convert };
    let plan = Plan::new(&source, &destination, &options).map_err(of_text)?;
    Ok((plan, conversion))
}
