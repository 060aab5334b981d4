//! The layouts that stand in a text: where each is, and what.

use serde::Serialize;
use tilework::dialect::{Described, Sighting, Sightings};
use tilework::printable;
use tilework_picture::{Line, Look};

use crate::page::{Page, Row};
use crate::shown::Shown;
use crate::size::short;

/// A layout that stands in a text, as `tilework find --json` prints it.
#[derive(Serialize)]
pub struct Sighted {
    /// The line where it stands for the first time, counted from 1.
    pub line: u64,
    /// The byte of the text where it begins, counted from 0.
    pub start: usize,
    /// How often it stands there.
    pub times: u64,
    /// What was read, with what its names stand for.
    pub text: String,
    /// What the text calls the array, where it names several.
    pub name: Option<String>,
    /// What it says, as `tilework show --json` prints it; null if it says too little to be one.
    pub shown: Option<Shown>,
    /// Why there is nothing to show, in a sentence.
    pub reason: Option<String>,
}

impl Sighted {
    /// Each array of each sighting.
    pub fn all(sightings: &Sightings) -> Vec<Sighted> {
        let each = sightings.all.iter().flat_map(|sighting| {
            let one = |name: Option<String>, shown: tilework::Result<Shown>| Sighted {
                line: sighting.line,
                start: sighting.span.start,
                times: sighting.times,
                text: sighting.text.clone(),
                name,
                reason: shown.as_ref().err().map(|error| error.found().to_owned()),
                shown: shown.ok(),
            };
            match &sighting.found {
                Ok(found) => {
                    found.iter().map(|found| one(found.name.clone(), Shown::new(&*found.said))).collect()
                }
                Err(error) => vec![one(None, Err(error.clone()))],
            }
        });
        each.collect()
    }
}

/// The list of what stands in a text, each with its line and what it is.
pub fn explain_sightings(sightings: &Sightings, width: usize, look: Look) -> Vec<Line> {
    let mut page = Page::new(width, look);
    let count = sightings.all.len();
    page.heading(&match count {
        1 => "one layout:".to_owned(),
        _ => format!("{count} different layouts:"),
    });
    let rows: Vec<Row> = sightings.all.iter().flat_map(|one| rows(one, page.width)).collect();
    page.rows(&rows);
    if !sightings.is_complete {
        page.paragraph("Only a part of the text was looked at: there may be more.");
    }
    page.into_lines()
}

/// A piece of text, shortened to fit its line, and below it what it is.
fn rows(sighting: &Sighting, width: usize) -> [Row; 2] {
    let room = width.saturating_sub(20).max(20);
    let text: String = printable(&sighting.text).split_whitespace().collect::<Vec<_>>().join("\u{a0}");
    let short = match text.chars().count() > room {
        true => text.chars().take(room - 1).chain(['…']).collect(),
        false => text,
    };
    let times = match sighting.times {
        1 => String::new(),
        times => format!("; {times} times"),
    };
    let what = match &sighting.found {
        Ok(found) => match &found[..] {
            [one] => what(&*one.said),
            [] => String::new(),
            [first, ..] => format!("{}: {} arrays", first.said.dialect().title, found.len()),
        },
        Err(error) => {
            let rule = error.broken_rule().map(|rule| format!(": {rule}")).unwrap_or_default();
            format!("{}{rule}", error.found())
        }
    };
    [(format!("line\u{a0}{}", sighting.line), short), (String::new(), what + &times)]
}

/// The notation, and how many bytes there are.
fn what(said: &dyn Described) -> String {
    let title = said.phrase().unwrap_or_else(|| said.dialect().title.to_owned());
    let Ok(layout) = said.layout() else {
        return match said.open() {
            Some(why) => format!("{title}; {why}"),
            None => title,
        };
    };
    let sizes: Vec<String> = said.sizes(&layout).iter().map(u64::to_string).collect();
    let sizes = if sizes.is_empty() { "a scalar".to_owned() } else { sizes.join("\u{a0}×\u{a0}") };
    let element = said.element().map(|element| format!(" of {element}")).unwrap_or_default();
    let bytes = short(layout.bytes().into());
    format!("{title}: {sizes}{element}, {bytes}")
}
