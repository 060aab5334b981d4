//! The corpus, made of what real systems gave, of the tables of the tests, and of the examples of notations.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};
use tilework::dialect::{self, Dialect};

use super::file::{File, folder, load, numbers, pairs};
use super::{difference, tables};
use crate::formats::{self, Compared};

/// What a source of this repository's oracles is; other kinds are made again each time.
const RUN: &str = "run";

/// Cases of formulas in each file.
const MOST: usize = 24;

/// All files. Cases of real systems are those in the folder, and those of the files as they are for the other systems.
pub fn files(oracles: Option<&Path>) -> Vec<File> {
    let mut files: BTreeMap<&str, File> =
        dialect::all().iter().map(|dialect| (dialect.name, kept(dialect))).collect();
    if let Some(folder) = oracles {
        let entries =
            std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
        paths.sort();
        paths.iter().for_each(|path| take(&mut files, path));
    }
    tables::add(&mut files);
    let compared = formats::compared();
    for dialect in dialect::all() {
        let file = files.get_mut(dialect.name).expect("a file of each notation");
        if !file.sources.values().any(|source| source["kind"] == RUN) {
            file.sources.insert(OURS.to_owned(), ours());
            formulas(file, &compared);
            examples(dialect, file);
        }
    }
    let files: Vec<File> = dialect::all().iter().filter_map(|dialect| files.remove(dialect.name)).collect();
    for file in &files {
        for case in &file.cases {
            assert_eq!(difference(&file.notation, case), None, "{} from {}", case.text, case.source);
        }
    }
    files
}

/// The file of a notation with the cases that real systems gave before.
fn kept(dialect: &Dialect) -> File {
    let path = folder().join(format!("{}.json", dialect.name));
    let mut file = File {
        notation: dialect.name.to_owned(),
        title: dialect.title.to_owned(),
        sources: BTreeMap::new(),
        cases: Vec::new(),
    };
    if path.exists() {
        let before = File::load(&path);
        file.sources.extend(before.sources.into_iter().filter(|(_, source)| source["kind"] == RUN));
        let cases = before.cases.into_iter().filter(|case| file.sources.contains_key(&case.source));
        file.cases.extend(cases);
    }
    file
}

/// Cases of one system, in place of those that it gave before.
fn take(files: &mut BTreeMap<&str, File>, path: &Path) {
    let given = load(path);
    let name = given["name"].as_str().expect("a name");
    for file in files.values_mut() {
        file.cases.retain(|case| case.source != name);
        file.sources.remove(name);
    }
    for case in given["cases"].as_array().expect("cases") {
        let text = case["text"].as_str().expect("a text");
        let said = dialect::read_one(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let file = files.get_mut(said.dialect().name).expect("a file of each notation");
        file.sources.insert(name.to_owned(), given["source"].clone());
        let made = file.case(text, name, case["how"].as_str().expect("how"));
        let index_sizes = made.index_sizes.as_ref().unwrap_or(&made.sizes);
        assert_eq!(*index_sizes, numbers(&case["index_sizes"]), "{text}");
        made.offsets = pairs(&case["offsets"]);
        made.places = case["places"].as_u64();
        made.bytes = case["bytes"].as_u64();
    }
}

/// What the numbers of engineers of Tilework have for a source.
const OURS: &str = "tilework";

fn ours() -> Value {
    json!({
        "project": "Tilework",
        "version": env!("CARGO_PKG_VERSION"),
        "license": "MIT OR Apache-2.0",
        "kind": "by hand",
    })
}

/// Some of the texts that tests compare with the formula of the format, evenly spread.
fn formulas(file: &mut File, compared: &[Compared]) {
    let all: Vec<&Compared> = compared.iter().filter(|one| one.notation == file.notation).collect();
    let count = all.len().min(MOST);
    for one in (0..count).map(|number| all[number * all.len() / count]) {
        let case = file.case(&one.text, OURS, "closed formula of the format");
        case.offsets = tables::numbered(&case.sizes, one.offsets.iter().copied());
        case.places = Some(one.size);
    }
}

/// The examples of a notation.
fn examples(dialect: &Dialect, file: &mut File) {
    for example in dialect.examples {
        if file.cases.iter().any(|case| case.text == example.text && case.source == OURS) {
            continue;
        }
        let how = format!("worked out by hand; shows: {}", example.shows);
        let case = file.case(example.text, OURS, &how);
        case.offsets = example.offsets.iter().map(|(index, offset)| (index.to_vec(), *offset)).collect();
        case.places = Some(example.size);
    }
}
