//! What the check of a DirectML descriptor found, in words and as an object.

use serde::Serialize;
use tilework::directml::{
    Binding, BufferTensorDesc, Desc, FeatureLevel, FoundDesc, Rule, Violation, needed_bytes,
};

use crate::page::{Page, Row};

/// A descriptor that was found, and every rule that it breaks.
pub struct Checking<'a> {
    found: &'a FoundDesc,
    binding: Option<Binding>,
    broken: Vec<Violation>,
    /// The tensor without what was declared about it, if all of it could be read.
    bare: Option<BufferTensorDesc>,
}

impl<'a> Checking<'a> {
    /// Checks a descriptor, and its binding if there is one. Rules that need what could not be read are not applied.
    pub fn new(found: &'a FoundDesc, level: FeatureLevel, binding: Option<Binding>) -> Checking<'a> {
        let broken = found.check(level, binding.as_ref());
        let bare = if found.errors.is_empty() { bare(&found.desc) } else { None };
        Checking { found, binding, broken, bare }
    }

    /// What is broken.
    pub fn broken(&self) -> &[Violation] {
        &self.broken
    }

    /// The answer as an object; `file` is what the descriptor stands in.
    pub fn object(&'a self, file: &'a str) -> Checked<'a> {
        let need = self.bare.as_ref().map(|desc| desc.minimum_bytes());
        Checked {
            file,
            path: &self.found.path,
            descriptor: self.found.desc.to_string(),
            ok: self.broken.is_empty(),
            needed_bytes: need,
            end_bytes: need.zip(self.binding).map(|(need, binding)| end(&self.found.desc, need, &binding)),
            violations: self.broken.iter().map(Broken::from).collect(),
        }
    }

    /// The answer in words; `place` is where the descriptor stands.
    pub fn explain(&self, place: &str, page: &mut Page) {
        page.title(place);
        page.paragraph(&self.found.desc.to_string());
        for violation in &self.broken {
            let field = match violation.index {
                Some(index) => format!("{}[{index}]", violation.field),
                None => violation.field.to_owned(),
            };
            // The value of a buffer that is too small is the sum it was held against; people look for the buffer's size.
            let (value, limit) = match violation.rule {
                Rule::BufferTooSmall => (&violation.limit, format!("at least {}", violation.value)),
                _ => (&violation.value, violation.limit.clone()),
            };
            let mut rows = vec![
                ("broken".to_owned(), violation.rule.name().to_owned()),
                ("found".to_owned(), format!("{field} = {value}")),
                ("rule".to_owned(), violation.rule.sentence().to_owned()),
                ("limit".to_owned(), limit),
            ];
            rows.extend(violation.legal.clone().map(|legal| ("legal".to_owned(), legal)));
            page.rows(&rows);
        }
        let sum = self.sum();
        if !sum.is_empty() {
            page.rows(&sum);
        }
    }

    /// Each term of what a binding needs, or of what the tensor needs where there is none.
    pub fn sum(&self) -> Vec<Row> {
        let Some(built) = &self.bare else { return Vec::new() };
        let mut rows: Vec<Row> = needed_bytes(built).map(|[name, text]| (name, text)).into();
        let Some(binding) = &self.binding else { return rows };
        let need = built.minimum_bytes();
        let end = end(&self.found.desc, need, binding);
        let room = end - u128::from(binding.offset);
        let what = if room == u128::from(need) { "" } else { ", which are declared or bound," };
        let mut text = format!("offset {} + {room}{what} = {end} B", binding.offset);
        if let Some(buffer) = binding.buffer {
            let buffer = u128::from(buffer);
            text.push_str(&match buffer.checked_sub(end) {
                Some(left) => format!("; the buffer has {buffer} B, {left} more"),
                None => format!("; the buffer has {buffer} B, {} too few", end - buffer),
            });
        }
        rows.push(("binding".to_owned(), text));
        rows
    }
}

/// Bytes from the start of the buffer to the end of what is bound.
fn end(desc: &Desc, need: u64, binding: &Binding) -> u128 {
    let room = need.max(desc.total.unwrap_or(0)).max(binding.range.unwrap_or(0));
    u128::from(binding.offset) + u128::from(room)
}

/// The tensor without what was declared about its total and its place, which may be wrong.
fn bare(desc: &Desc) -> Option<BufferTensorDesc> {
    Desc { total: None, alignment: 0, flags: 0, dimension_count: None, ..desc.clone() }.build().ok()
}

/// A descriptor that could be read, as `tilework check --json` prints it.
#[derive(Serialize)]
pub struct Checked<'a> {
    /// The file.
    pub file: &'a str,
    /// The way to the descriptor through the file; empty if the file is the descriptor.
    pub path: &'a str,
    /// The descriptor in one line.
    pub descriptor: String,
    /// Whether nothing is broken.
    pub ok: bool,
    /// Null if it cannot be counted.
    pub needed_bytes: Option<u64>,
    /// Null without a binding.
    pub end_bytes: Option<u128>,
    /// What is broken.
    pub violations: Vec<Broken<'a>>,
}

/// A rule that is broken.
#[derive(Serialize)]
pub struct Broken<'a> {
    rule: &'static str,
    field: &'static str,
    index: Option<usize>,
    value: &'a str,
    limit: &'a str,
    legal: Option<&'a str>,
}

impl<'a> From<&'a Violation> for Broken<'a> {
    fn from(violation: &'a Violation) -> Broken<'a> {
        Broken {
            rule: violation.rule.name(),
            field: violation.field,
            index: violation.index,
            value: &violation.value,
            limit: &violation.limit,
            legal: violation.legal.as_deref(),
        }
    }
}
