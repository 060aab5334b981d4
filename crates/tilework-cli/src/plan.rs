//! `plan`: the loops that move an array from one layout to another.

use std::ffi::OsString;

use tilework::xla::{PaddingValue, PrimitiveType};
use tilework::{Error, Plan, PlanOptions, Result};

use crate::args::Args;
use crate::input;
use crate::json_plan::Planned;
use crate::output::{Output, Stop};
use crate::page::Page;
use crate::subject::{self, Bad, Subject};

/// Prints the plan from the one to each of the others.
pub fn plan(
    a: &OsString,
    b: &OsString,
    fill: Option<&str>,
    args: &Args,
    output: &mut Output,
) -> std::result::Result<(), Stop> {
    let from = input::argument(a)
        .map_err(|error| Bad::new(error, &a.to_string_lossy()))
        .and_then(|text| subject::read_one(text, args).map(|subject| (subject, text)));
    let (from, from_text) = match from {
        Ok(from) => from,
        Err(bad) => return output.bad(&bad.error, &bad.text, None),
    };
    input::texts(std::slice::from_ref(b), output, |text, line, output| {
        let made = subject::read_one(text, args).and_then(|to| {
            let plan = make(&from, from_text, &to, text, fill)?;
            Ok((to, plan))
        });
        match made {
            Ok((to, plan)) if output.json => output.object(&Planned::new(&from, &to, &plan)),
            Ok((to, plan)) => {
                let mut page = Page::new(output);
                page.rows(&[("A".to_owned(), from.to_string()), ("B".to_owned(), to.to_string())]);
                page.text(&plan.to_string());
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
    fill: Option<&str>,
) -> std::result::Result<Plan, Bad> {
    let source = from.layout(from_text).map_err(|error| Bad::new(error, from_text))?;
    let destination = to.layout(to_text).map_err(|error| Bad::new(error, to_text))?;
    let of_text = |error: Error| Bad::new(error, to_text);
    let fill = match fill {
        Some(word) => Some(value(word, to).map_err(of_text)?),
        None => named_by(to),
    };
    let options = PlanOptions { fill, converts: false };
    Plan::new(&source, &destination, &options).map_err(of_text)
}

/// The padding value that the text of a shape names itself.
fn named_by(to: &Subject) -> Option<u128> {
    let array = to.as_array()?;
    array.layout()?.padding()?.value.bits(array.element_type())
}

/// What `--fill` says, as the bits of one element.
fn value(word: &str, to: &Subject) -> Result<u128> {
    let wrong = |found: String| {
        Error::new(found)
            .field("--fill")
            .rule("a fill is a value of the element type, or the bits of one element")
            .accepts("zero, one, lowest, highest, or bits such as 0x7fc0")
    };
    if let Some(digits) = word.strip_prefix("0x") {
        return u128::from_str_radix(digits, 16).map_err(|_| wrong(format!("the bits {word}")));
    }
    if word.starts_with(|c: char| c.is_ascii_digit()) {
        return word.parse().map_err(|_| wrong(format!("the bits {word}")));
    }
    let named = PaddingValue::from_name(word)
        .filter(|value| !matches!(value, PaddingValue::Invalid | PaddingValue::Unknown))
        .ok_or_else(|| wrong(format!("the word {word}")))?;
    let element = element_type(to);
    let bits = element.and_then(|element| named.bits(element));
    bits.ok_or_else(|| {
        let element = element.map_or_else(|| "this type".to_owned(), |element| element.to_string());
        wrong(format!("{word}, which {element} does not have"))
    })
}

/// The element type as XLA names it; DirectML's types are the same ones.
fn element_type(subject: &Subject) -> Option<PrimitiveType> {
    let Some(desc) = subject.as_desc() else {
        return subject.as_array().map(|array| array.element_type());
    };
    let name = desc.data_type().name().to_ascii_lowercase();
    let kinds = [("float", "f"), ("uint", "u"), ("int", "s")];
    let found = kinds.iter().find_map(|(long, short)| Some(format!("{short}{}", name.strip_prefix(long)?)));
    PrimitiveType::from_name(&found?)
}
