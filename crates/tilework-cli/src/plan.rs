//! `plan`: the loops that move an array from one layout to another.

use tilework::dialect::Known;
use tilework::{Error, Plan, PlanOptions};
use tilework_copy::Conversion;
use tilework_explain::{Planned, explain_plan, figure_of_plan};

use crate::args::{Args, PlanArgs};
use crate::input;
use crate::output::{Output, Stop};
use crate::picture;
use crate::side::{Names, Side};
use crate::subject::Bad;

/// Prints the plan from the one to each of the others.
pub fn plan(plan: &PlanArgs, args: &Args, output: &mut Output) -> Result<(), Stop> {
    let text = plan.a.to_string_lossy();
    let from = Names::new(&plan.axes).and_then(|names| {
        let from = Side::read(&plan.a, Known::default(), args)?.named(&names, false, &text)?;
        Ok((from, names))
    });
    let (from, names) = match from {
        Ok(both) => both,
        Err(bad) => return output.bad(&bad.error, &bad.text, None),
    };
    input::texts(std::slice::from_ref(&plan.b), input::LAYOUT, output, |text, line, output| {
        let known = Known::array(from.layout.dims(), from.element);
        let made = Side::read_text(text, line, known, args).and_then(|to| {
            let to = to.named(&names, true, text)?;
            let made = make(&from, &to, plan).map_err(|error| Bad::new(error, text))?;
            Ok((to, made))
        });
        match made {
            Ok((to, (plan, _))) if output.json => {
                output.object(&Planned::new(from.said.to_string(), to.said.to_string(), &plan))
            }
            Ok((to, (made, _))) if plan.picture.wanted() => {
                let texts = [from.said.to_string(), to.said.to_string()];
                let options = plan.picture.options(args.look.width);
                let svg = figure_of_plan(&made, [&texts[0], &texts[1]], &options);
                picture::write(&svg, &plan.picture, output)
            }
            Ok((to, (plan, conversion))) => {
                let texts = [from.said.to_string(), to.said.to_string()];
                let types = conversion.map(|way| [way.from().to_string(), way.to().to_string()]);
                let [a, b] = &texts;
                output.lines(&explain_plan([a, b], &plan, types, output.width, output.look))
            }
            Err(bad) => output.bad(&bad.error, &bad.text, line),
        }
    })
}

/// The plan, and how elements change on the way, if they do. Types of the same width may differ without a conversion: a
/// plan is about places.
fn make(from: &Side, to: &Side, asked: &PlanArgs) -> Result<(Plan, Option<Conversion>), Error> {
    let conversion = match asked.convert && from.element != to.element {
        true => Some(from.conversion_to(to)?),
        false if from.element != to.element && from.layout.bits() != to.layout.bits() => {
            return Err(from.other_type(to));
        }
        false => None,
    };
    let fill = match &asked.fill {
        Some(text) => Some(to.element.fill_bits(text, to.layout.bits())?),
        None => to.said.fill(),
    };
    let options = PlanOptions { fill, converts: conversion.is_some() };
    Ok((Plan::new(&from.layout, &to.layout, &options)?, conversion))
}
