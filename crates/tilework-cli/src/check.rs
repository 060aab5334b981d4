//! `check`: every rule that descriptors in files, or in texts, break, and whether they fit where they are bound.

use std::ffi::OsString;
use std::io;
use std::path::Path;

use tilework::directml::{Binding, FeatureLevel, FoundDesc, read_descs};
use tilework_explain::Checking;

use crate::NO;
use crate::args::CheckArgs;
use crate::file;
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
        // What is no file's name is a descriptor itself.
        let is_text = !Path::new(file).exists() && read_descs(&name).is_ok_and(|found| !found.is_empty());
        let path = match name.strip_prefix('@').filter(|_| !Path::new(file).exists()) {
            Some(path) => Path::new(path),
            None => Path::new(file),
        };
        let text = match () {
            () if file == "-" => file::all(&mut io::stdin().lock(), LONGEST).and_then(text_of),
            () if is_text => Ok(name.to_string()),
            () => file::read(path, LONGEST).and_then(text_of),
        };
        let name = match () {
            () if file == "-" => "standard input",
            () if is_text => "this",
            () => &name,
        };
        let outcome = match &text {
            Ok(text) => read_descs(text).map(|found| (text.as_str(), found)),
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
        let checking = Checking::new(found, self.level, self.binding);
        let broken = checking.broken();
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
        if self.output.json {
            return self.output.object(&checking.object(file));
        }
        if broken.is_empty() && self.binding.is_none() {
            return Ok(());
        }
        let mut page = self.output.new_page();
        checking.explain(&place, &mut page);
        self.output.page(&page)
    }
}
