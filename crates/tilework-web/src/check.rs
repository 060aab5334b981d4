//! The check of descriptors of DirectML.

use serde::Serialize;
use tilework::Result;
use tilework::directml::{Binding, FeatureLevel, FoundDesc, read_descs};
use tilework_explain::{Checking, Row};

use crate::problem::Problem;
use crate::request::Request;

/// The answer for one descriptor.
#[derive(Serialize)]
pub struct Judged {
    path: String,
    descriptor: String,
    ok: bool,
    errors: Vec<Problem>,
    broken: Vec<Violated>,
    sum: Vec<Row>,
}

#[derive(Serialize)]
struct Violated {
    rule: &'static str,
    sentence: &'static str,
    field: String,
    value: String,
    limit: String,
    legal: Option<String>,
}

/// Checks every descriptor that stands in JSON or code, or the one that a line says.
pub fn answer(asked: &Request) -> Result<Vec<Judged>> {
    let binding = (asked.begins.is_some() || asked.buffer.is_some()).then(|| Binding {
        offset: asked.begins.unwrap_or(0),
        range: None,
        buffer: asked.buffer,
    });
    let found = read_descs(&asked.text)?;
    Ok(found.iter().map(|found| judge(found, &asked.text, binding)).collect())
}

fn judge(found: &FoundDesc, text: &str, binding: Option<Binding>) -> Judged {
    let checking = Checking::new(found, FeatureLevel::LATEST, binding);
    let broken = checking.broken().iter().map(|violation| Violated {
        rule: violation.rule.name(),
        sentence: violation.rule.sentence(),
        field: match violation.index {
            Some(index) => format!("{}[{index}]", violation.field),
            None => violation.field.to_owned(),
        },
        value: violation.value.clone(),
        limit: violation.limit.clone(),
        legal: violation.legal.clone(),
    });
    Judged {
        path: found.path.clone(),
        descriptor: found.desc.to_string(),
        ok: checking.broken().is_empty() && found.errors.is_empty(),
        errors: found.errors.iter().map(|error| Problem::new(error, text)).collect(),
        broken: broken.collect(),
        sum: checking.sum(),
    }
}
