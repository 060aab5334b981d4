//! `check`: every rule that descriptors in files break, and whether they fit where they are bound.

use std::ffi::OsString;
use std::io;
use std::path::Path;

use tilework::directml::{
    Binding, BufferTensorDesc, Desc, FeatureLevel, FoundDesc, Rule, needed_bytes, read_json,
};
use tilework_explain::Row;

use crate::NO;
use crate::args::CheckArgs;
use crate::file;
use crate::json;
use crate::output::{Output, Stop};
use crate::subject::{LONGEST, text_of};

/// Checks every descriptor of every file.
pub fn check(args: &CheckArgs, output: &mut Output) -> Result<(), Stop> {
    let binding =
        (args.offset.is_some() || args.buffer_bytes.is_some() || args.range_bytes.is_some()).then_some(
            Binding { offset: args.offset.unwrap_or(0), range: args.range_bytes, buffer: args.buffer_bytes },
        );
    let mut checker = Checker { level: args.feature_level, binding, output, counts: Counts::default() };
    args.files.iter().try_for_each(|file| checker.file(file))?;
    let counts = checker.counts;
    if output.json {
        return Ok(());
    }
    let counted = |number: u64, noun: &str| format!("{number} {noun}{}", if number == 1 { "" } else { "s" });
    let mut line = counted(counts.descriptors, "descriptor");
    match (counts.violations, counts.unreadable) {
        (0, 0) => line.push_str(": nothing is broken"),
        (0, _) => {}
        (violations, _) => {
            line.push_str(&format!(", {} in {}", counted(violations, "violation"), counts.broken));
        }
    }
    if counts.unreadable > 0 {
        line.push_str(&format!(", {} not readable", counts.unreadable));
    }
    let mut page = output.new_page();
    page.title(&line);
    output.page(&page)
}

#[derive(Default)]
struct Counts {
    descriptors: u64,
    broken: u64,
    violations: u64,
    /// Descriptors and whole files.
    unreadable: u64,
}

struct Checker<'a> {
    level: FeatureLevel,
    binding: Option<Binding>,
    output: &'a mut Output,
    counts: Counts,
}

impl Checker<'_> {
    fn file(&mut self, file: &OsString) -> Result<(), Stop> {
        let name = file.to_string_lossy();
        let bytes = match file == "-" {
            true => file::all(&mut io::stdin().lock(), LONGEST),
            false => file::read(Path::new(file), LONGEST),
        };
        let text = bytes.and_then(text_of);
        let name = if file == "-" { "standard input" } else { &name };
        let outcome = match &text {
            Ok(text) => read_json(text).map(|found| (text.as_str(), found)),
            Err(error) => Err(error.clone()),
        };
        match outcome {
            Ok((text, found)) => found.iter().try_for_each(|found| self.desc(name, text, found)),
            Err(error) => {
                self.counts.unreadable += 1;
                self.output.bad_in(name, &error, text.as_deref().unwrap_or(""))
            }
        }
    }

    fn desc(&mut self, file: &str, text: &str, found: &FoundDesc) -> Result<(), Stop> {
        self.counts.descriptors += 1;
        let place = match found.path.is_empty() {
            true => file.to_owned(),
            false => format!("{file}: {}", found.path),
        };
        let is_read = found.errors.is_empty();
        // Rules that need what could not be read are not applied; the others are.
        let broken = found.check(self.level, self.binding.as_ref());
        if !is_read {
            self.counts.unreadable += 1;
            found.errors.iter().try_for_each(|error| self.output.bad_in(&place, error, text))?;
            if broken.is_empty() {
                return Ok(());
            }
        }
        if !broken.is_empty() {
            self.output.exit_with(NO);
            self.counts.broken += 1;
            self.counts.violations += broken.len() as u64;
        }
        let bare = if is_read { bare(&found.desc) } else { None };
        let need = bare.as_ref().map(|desc| desc.minimum_bytes());
        if self.output.json {
            return self.output.object(&json::Checked {
                file,
                path: &found.path,
                descriptor: found.desc.to_string(),
                ok: broken.is_empty(),
                needed_bytes: need,
                end_bytes: need.zip(self.binding).map(|(need, binding)| end(&found.desc, need, &binding)),
                violations: broken.iter().map(json::Broken::from).collect(),
            });
        }
        if broken.is_empty() && self.binding.is_none() {
            return Ok(());
        }
        let mut page = self.output.new_page();
        page.title(&place);
        page.paragraph(&found.desc.to_string());
        for violation in &broken {
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
        let sum = bare.map_or_else(Vec::new, |bare| self.sum(&found.desc, &bare));
        if !sum.is_empty() {
            page.rows(&sum);
        }
        self.output.page(&page)
    }

    /// Each term of what a binding needs, or of what the tensor needs where there is none.
    fn sum(&self, desc: &Desc, built: &BufferTensorDesc) -> Vec<Row> {
        let mut rows: Vec<Row> = needed_bytes(built).map(|[name, text]| (name, text)).into();
        let Some(binding) = &self.binding else { return rows };
        let need = built.minimum_bytes();
        let end = end(desc, need, binding);
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
