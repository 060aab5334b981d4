//! Reading figures back: a small XML reader that refuses what a parser would refuse, and the cells that it finds.

use std::collections::BTreeMap;

/// A group of a figure that stands for a place.
#[derive(Debug)]
pub struct Found {
    /// The part of the figure: `array` or `memory`.
    pub part: String,
    /// `cell` or `pad`.
    pub class: String,
    pub offset: Option<u64>,
    pub index: Option<Vec<u64>>,
    /// What is shown while a pointer rests on it.
    pub title: String,
    /// What stands in it.
    pub text: String,
}

/// The places of a figure; fails where it is no well-formed XML.
pub fn read(svg: &str) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    // Names of open elements; for each whether it opened a place, and the part it began.
    let mut open: Vec<(String, bool, Option<String>)> = Vec::new();
    let mut rest = svg;
    while let Some(at) = rest.find('<') {
        let text = decoded(&rest[..at]);
        if !text.trim().is_empty() {
            let inside = open.last().map(|element| element.0.clone()).expect("text stands in an element");
            if let (true, Some(place)) = (open.iter().any(|element| element.1), found.last_mut()) {
                match inside.as_str() {
                    "title" => place.title = text,
                    "text" => place.text = text,
                    _ => panic!("text in <{inside}>"),
                }
            }
        }
        let end = rest[at..].find('>').expect("a tag ends") + at;
        let tag = &rest[at + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            let last = open.pop().expect("an element is open");
            assert_eq!(last.0, name, "elements are nested");
            continue;
        }
        let (tag, closed) = tag.strip_suffix('/').map_or((tag, false), |tag| (tag, true));
        let (name, attributes) = attributes(tag);
        let class = attributes.get("class").cloned().unwrap_or_default();
        let is_place = name == "g" && (class == "cell" || class == "pad");
        if is_place {
            assert!(!open.iter().any(|element| element.1), "a place in a place");
            let number = |text: &str| text.parse::<u64>().expect("a number");
            found.push(Found {
                part: open.iter().rev().find_map(|element| element.2.clone()).expect("in a part"),
                offset: attributes.get("data-o").map(|text| number(text)),
                index: attributes.get("data-i").map(|text| match text.as_str() {
                    "" => Vec::new(),
                    text => text.split(',').map(number).collect(),
                }),
                class: class.clone(),
                title: String::new(),
                text: String::new(),
            });
        }
        if !closed {
            open.push((name, is_place, (!class.is_empty() && !is_place).then_some(class)));
        }
    }
    assert!(open.is_empty() && rest.trim().is_empty(), "everything is closed");
    found
}

/// The name of an element and its attributes.
fn attributes(tag: &str) -> (String, BTreeMap<String, String>) {
    let (name, mut rest) = tag.split_once(' ').unwrap_or((tag, ""));
    assert!(name.chars().all(|c| c.is_ascii_lowercase()), "a name: {name:?}");
    let mut attributes = BTreeMap::new();
    while !rest.trim().is_empty() {
        let (key, value) = rest.trim_start().split_once("=\"").expect("an attribute has a value in quotes");
        assert!(!key.is_empty() && key.chars().all(|c| c.is_ascii_alphabetic() || c == '-'), "{key:?}");
        let (value, after) = value.split_once('"').expect("a value ends");
        assert!(!value.contains('<'), "{value:?}");
        assert!(attributes.insert(key.to_owned(), decoded(value)).is_none(), "{key} is given once");
        assert!(after.is_empty() || after.starts_with(' '), "{after:?}");
        rest = after;
    }
    (name.to_owned(), attributes)
}

/// Text without its entities; fails at characters that XML does not have.
fn decoded(text: &str) -> String {
    let allowed = |c: char| !c.is_control() || c == '\n';
    assert!(text.chars().all(|c| allowed(c) && c != '\u{fffe}' && c != '\u{ffff}'), "{text:?}");
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        let (entity, after) = rest[at + 1..].split_once(';').expect("an entity ends");
        out.push(match entity {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            "#39" => '\'',
            _ => panic!("&{entity};"),
        });
        rest = &after[0..];
    }
    out.push_str(rest);
    assert!(!text.contains("]]>"), "{text:?}");
    out
}
