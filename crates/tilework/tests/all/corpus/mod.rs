//! The corpus in `corpus/`, which other projects test with: every case is read and agrees, and the files are what
//! `cargo xtask corpus` makes.
//!
//! `UPDATE_CORPUS=1 cargo test -p tilework --test all corpus::files_are_current` writes the files; with the folder that
//! `oracles/run.py --corpus` wrote instead of `1`, cases of real systems are taken from there.

mod file;
mod make;
mod tables;

use std::fs;

use serde_json::Value;
use tilework::dialect;

use file::{Case, File, folder, load};

fn files() -> Vec<(Value, File)> {
    let index = load(&folder().join("index.json"));
    let files = index["files"].as_array().expect("files").clone();
    let read = |entry: Value| {
        let file = File::load(&folder().join(entry["file"].as_str().expect("a name")));
        (entry, file)
    };
    files.into_iter().map(read).collect()
}

/// What Tilework says otherwise than a case, if anything.
fn difference(notation: &str, case: &Case) -> Option<String> {
    let said = match dialect::read_one(&case.text) {
        Ok(said) => said,
        Err(error) => return Some(error.to_string()),
    };
    let layout = match said.layout() {
        Ok(layout) => layout,
        Err(error) => return Some(error.to_string()),
    };
    let element = said.element().map(|element| element.to_string());
    let differs = |what: &str, found: String| Some(format!("{what}: {found}"));
    if said.dialect().name != notation {
        return differs("notation", said.dialect().name.to_owned());
    }
    if element.as_ref() != Some(&case.element) || layout.bits() != case.bits {
        return differs("element", format!("{element:?} of {} bits", layout.bits()));
    }
    let sizes = said.sizes(&layout);
    if sizes != case.sizes || layout.dims() != case.index_sizes.as_deref().unwrap_or(&case.sizes) {
        return differs("sizes", format!("{sizes:?}, and {:?} of the index", layout.dims()));
    }
    if case.places.is_some_and(|places| places != layout.size()) {
        return differs("places", layout.size().to_string());
    }
    if case.bytes.is_some_and(|bytes| bytes != layout.bytes()) {
        return differs("bytes", layout.bytes().to_string());
    }
    let wrong = case.offsets.iter().find(|(index, offset)| layout.offset(index).as_ref() != Ok(offset));
    let (index, offset) = wrong?;
    differs("offset", format!("{:?} at {index:?}, and not {offset}", layout.offset(index)))
}

#[test]
fn every_case_agrees() {
    let mut wrong = Vec::new();
    for (_, file) in files() {
        for case in &file.cases {
            let found = difference(&file.notation, case);
            wrong.extend(found.map(|found| format!("{} ({}): {found}", case.text, case.source)));
        }
    }
    let first: Vec<&str> = wrong.iter().take(20).map(String::as_str).collect();
    assert!(wrong.is_empty(), "{} cases differ:\n{}", wrong.len(), first.join("\n"));
}

#[test]
fn a_shifted_offset_is_noticed() {
    for (_, mut file) in files() {
        let case = file.cases.iter_mut().find(|case| !case.offsets.is_empty()).expect("a case with offsets");
        case.offsets[0].1 += 1;
        assert!(
            difference(&file.notation, case).is_some_and(|found| found.starts_with("offset")),
            "{case:?}"
        );
    }
}

#[test]
fn files_hold_what_the_index_says() {
    let index = load(&folder().join("index.json"));
    assert_eq!(index["version"], file::VERSION);
    let (mut cases, mut offsets, mut bytes) = (0, 0, 0);
    for (entry, file) in files() {
        let path = folder().join(entry["file"].as_str().expect("a name"));
        assert_eq!(load(&path)["version"], file::VERSION);
        assert_eq!(
            (&*file.notation, &*file.title),
            (entry["notation"].as_str().unwrap(), entry["title"].as_str().unwrap())
        );
        assert!(file.cases.len() as u64 >= entry["cases"].as_u64().expect("a count"), "{entry}");
        assert!(file.offsets() as u64 >= entry["offsets"].as_u64().expect("a count"), "{entry}");
        cases += file.cases.len() as u64;
        offsets += file.offsets() as u64;
        bytes += fs::metadata(path).expect("a file").len();
    }
    assert!(cases >= index["cases"].as_u64().expect("a count") && cases > 800, "{cases} cases");
    assert!(offsets >= index["offsets"].as_u64().expect("a count"), "{offsets} offsets");
    assert!(bytes < 1_500_000, "{bytes} bytes");
    let named =
        dialect::all().iter().all(|dialect| files().iter().any(|(_, file)| file.notation == dialect.name));
    assert!(named, "a notation has no file");
}

/// Whether a value has the required fields of its schema and no others.
fn has_fields(schema: &Value, value: &Value) {
    let object = value.as_object().expect("an object");
    for name in schema["required"].as_array().expect("required fields") {
        assert!(object.contains_key(name.as_str().expect("a name")), "{name} is missing in {value}");
    }
    for name in object.keys() {
        assert!(schema["properties"].get(name).is_some(), "{name} is not in the schema: {value}");
    }
}

#[test]
fn files_have_the_fields_of_the_schema() {
    let schema = load(&folder().join("schema.json"));
    for (entry, file) in files() {
        let value = load(&folder().join(entry["file"].as_str().expect("a name")));
        has_fields(&schema, &value);
        for source in file.sources.values() {
            has_fields(&schema["$defs"]["source"], source);
        }
        for case in value["cases"].as_array().expect("cases") {
            has_fields(&schema["$defs"]["case"], case);
            let source = case["source"].as_str().expect("a name");
            assert!(file.sources.contains_key(source), "{source} is no source of {}", file.notation);
            assert!(case["offsets"].as_array().expect("offsets").len() <= 16, "{case}");
        }
        let used = |name: &String| file.cases.iter().any(|case| case.source == *name);
        assert!(file.sources.keys().all(used), "a source of {} has no case", file.notation);
    }
}

#[test]
fn files_are_current() {
    let update = std::env::var_os("UPDATE_CORPUS");
    let files = make::files(update.as_deref().filter(|folder| *folder != "1").map(AsRef::as_ref));
    let texts = files.iter().map(|file| (format!("{}.json", file.notation), file.to_text()));
    for (name, text) in texts.chain([("index.json".to_owned(), file::index(&files))]) {
        let path = folder().join(&name);
        if update.is_some() {
            fs::write(&path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        } else {
            let found = fs::read_to_string(&path).unwrap_or_default().replace('\r', "");
            assert!(found == text, "corpus/{name} is not current: cargo xtask corpus");
        }
    }
}
