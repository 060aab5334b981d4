//! Cases of the tables in `tests/cases`: numbers that real systems gave once, and numbers of documents and tests of others.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use super::file::{Case, File, load, numbers};
use crate::common::indices;

/// A source: its name in the corpus, the project, version or commit, license, and kind.
type Source<'t> = (&'t str, &'t str, &'t str, &'t str, &'t str);

const XLA: Source<'static> = ("xla", "XLA, its functions in jaxlib", "0.10.2", "Apache-2.0", "recorded");
const XLA_TPU: Source<'static> = (
    "xla-tpu",
    "XLA's compiler for TPUs, in libtpu with JAX 0.10.2, for v5e:2x2",
    "0.0.51",
    "not open source: texts and sizes are its output",
    "recorded",
);
const XLA_DOCUMENT: Source<'static> =
    ("xla-document", "openxla/xla, docs/tiled_layout.md", "28ac9d325a42", "Apache-2.0", "published");
const ZML: Source<'static> = ("zml", "zml/zml", "f9310b78310d", "Apache-2.0", "published");
const RAIDEN: Source<'static> =
    ("tpu-raiden", "google/tpu-raiden", "9b522df8db09", "Apache-2.0", "published");
const ONEDNN: Source<'static> = ("onednn-3.2", "oneDNN", "3.2.0", "Apache-2.0", "recorded");

/// The licenses of repositories whose numbers about DirectML are used.
const LICENSES: [(&str, &str); 5] = [
    ("chromium/chromium", "BSD-3-Clause"),
    ("microsoft/DirectML", "MIT"),
    ("MicrosoftDocs/sdk-api", "CC-BY-4.0"),
    ("MicrosoftDocs/windows-ai-docs", "CC-BY-4.0"),
    ("microsoft/tensorflow-directml-plugin", "Apache-2.0"),
];

/// Adds the cases of all tables.
pub fn add(files: &mut BTreeMap<&str, File>) {
    let mut file = |notation: &str, table: fn(&mut File)| {
        table(files.get_mut(notation).expect("a file of each notation"));
    };
    file("xla", xla);
    file("xla", tpu);
    file("onednn", onednn);
    file("directml", directml);
}

fn table(name: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(name);
    load(&path).as_array().expect("a list").clone()
}

/// The case of this text; the source is added to the file.
fn case<'f>(file: &'f mut File, source: Source<'_>, text: &str, how: &str) -> &'f mut Case {
    let (name, project, version, license, kind) = source;
    let value = json!({"project": project, "version": version, "license": license, "kind": kind});
    file.sources.insert(name.to_owned(), value);
    file.case(text, name, how)
}

/// Where XLA's own functions, its document, and those who ported it put elements.
fn xla(file: &mut File) {
    for row in table("xla.json") {
        let (group, op, input) = (row["group"].as_str().unwrap(), row["op"].as_str().unwrap(), &row["input"]);
        let from = row["source_file"].as_str().unwrap();
        let port = if from.starts_with("zml") { ZML } else { RAIDEN };
        let test = from.split_once(": ").map_or(from, |(_, test)| test);
        let case = match (group, op) {
            // LinearIndex knows the first tile only, which a note says where it matters.
            ("linear_index_tiled", _) if row.get("note").is_none() => {
                case(file, XLA, input["shape"].as_str().unwrap(), "LayoutUtil::LinearIndex, called")
            }
            ("index", "IndexUtil::MultidimensionalIndexToLinearIndex") => {
                case(file, XLA, input["shape"].as_str().unwrap(), &format!("{op}, called; also {from}"))
            }
            ("tiled_index", _) => case(file, XLA_DOCUMENT, "f32[3,5]{1,0:T(2,2)}", "stated in the document"),
            ("physical_offset", "PhysicalOffset of shape") => {
                case(file, port, input["shape"].as_str().unwrap(), test)
            }
            ("physical_offset", "elements of the padded buffer") => {
                case(file, port, input.as_str().unwrap(), test).places = row["expected"].as_u64();
                continue;
            }
            ("tile_image", _) => {
                let case = case(file, port, input.as_str().unwrap(), test);
                let buffer: Vec<_> = row["expected"].as_array().unwrap().iter().map(Value::as_i64).collect();
                let place = |element| buffer.iter().position(|at| *at == Some(element));
                let places = (1..).map_while(place).map(|place| place as u64);
                case.offsets = numbered(&case.sizes, places);
                continue;
            }
            _ => continue,
        };
        case.offsets.push((numbers(&input["index"]), row["expected"].as_u64().expect("an offset")));
    }
    for row in table("algebra.json").iter().filter(|row| row["kind"] == "xla_doc_offset") {
        let input = &row["input"];
        assert_eq!(numbers(&input["dims"]), [8, 8], "{row}");
        let case = case(file, XLA_DOCUMENT, "f32[8,8]{1,0:T(2,4)(2,1,1,1)}", "stated in the document");
        case.offsets.push((numbers(&input["index"]), row["expect"].as_u64().expect("an offset")));
    }
}

/// What XLA's compiler for TPUs allocates.
fn tpu(file: &mut File) {
    for row in table("algebra.json") {
        let text = match row["kind"].as_str() {
            Some("xla_tpu_size") => &row["input"]["hlo"],
            Some("xla_tpu_default_layout") => &row["expect"]["hlo"],
            _ => continue,
        };
        let how = format!("size: {}", row["source"].as_str().expect("a source"));
        case(file, XLA_TPU, text.as_str().expect("a text"), &how).bytes = row["expect"]["bytes"].as_u64();
    }
}

/// Descriptors made from tags.
fn onednn(file: &mut File) {
    for row in table("algebra.json") {
        let (input, expect) = (&row["input"], &row["expect"]);
        let bytes = match row["kind"].as_str() {
            Some("onednn_tag") => &expect["bytes"],
            Some("onednn_bytes") => expect,
            _ => continue,
        };
        let dims = input["dims"].to_string().replace(' ', "");
        let text = format!("{}{dims} {}", input["dtype"].as_str().unwrap(), input["tag"].as_str().unwrap());
        let case = case(file, ONEDNN, &text, row["source"].as_str().expect("a source"));
        case.bytes = bytes.as_u64();
        if let Some(offsets) = expect.get("offsets") {
            case.offsets = numbered(&case.sizes, numbers(offsets).into_iter());
        }
    }
}

/// Numbers about DirectML in its documents, in tests, and in issues; "derived" ones were worked out from what is there.
fn directml(file: &mut File) {
    for row in table("directml.json") {
        let (op, input, expected) = (row["op"].as_str().unwrap(), &row["input"], &row["expected"]);
        let word = |name: &str| input[name].as_str().unwrap_or("UINT8").to_owned();
        let strides = input.get("strides").filter(|strides| strides.is_array());
        let strides = strides.map(|strides| format!(" strides {strides}")).unwrap_or_default();
        let text = format!("{} {}{strides}", word("dtype"), input["sizes"]);
        let is_wanted = match op {
            "packed_strides" | "read_logical_order" | "write_into_layout" => true,
            // DirectML rounds up to 4 bytes, which is no property of the layout.
            "buffer_size_bytes" => {
                let case = Case::of(&text, "", "").unwrap_or_else(|error| panic!("{text}: {error}"));
                let said = tilework::dialect::read_one(&text).and_then(|said| said.layout());
                said.is_ok_and(|layout| layout.size() * u64::from(case.bits) % 32 == 0)
            }
            _ => false,
        };
        if !is_wanted {
            continue;
        }
        // `owner/name@commit path`, or `owner/name#issue`.
        let from = row["source"].as_str().unwrap();
        let (project, rest) = from.split_once(['@', '#']).unwrap_or_else(|| panic!("{from} has no version"));
        let issue = format!("issue {rest}");
        let (version, path) = rest.split_once(' ').unwrap_or((&issue, &issue));
        let license = LICENSES.iter().find(|(name, _)| *name == project);
        let (_, license) = license.unwrap_or_else(|| panic!("the license of {project} is not in the list"));
        let name = format!("{project} {version}");
        let how = if row["kind"] == "literal" { "stated there" } else { "worked out from what is there" };
        let source = (&*name, project, version, *license, "published");
        let case = case(file, source, &text, &format!("{op}: {path}; {how}"));
        match op {
            "buffer_size_bytes" => case.bytes = expected.as_u64(),
            "packed_strides" => case.offsets = by_strides(&case.sizes, &numbers(expected)),
            _ => {
                let (elements, buffer) = match op {
                    "read_logical_order" => (expected.as_str().unwrap().to_owned(), word("buffer")),
                    _ => (word("logical"), expected.as_str().unwrap().to_owned()),
                };
                let is_unique = buffer.chars().all(|c| c == '.' || buffer.matches(c).count() == 1);
                let places =
                    elements.chars().map_while(|element| buffer.find(element).map(|place| place as u64));
                if is_unique {
                    case.offsets = numbered(&case.sizes, places);
                }
            }
        }
    }
    file.cases.retain(|case| case.bytes.is_some() || !case.offsets.is_empty());
    file.sources.retain(|name, _| file.cases.iter().any(|case| case.source == *name));
}

/// Indices in row-major order with these offsets: 16 of them, where there are more.
pub fn numbered(sizes: &[u64], offsets: impl Iterator<Item = u64>) -> Vec<(Vec<u64>, u64)> {
    let all: Vec<_> = indices(sizes).zip(offsets).collect();
    let count = all.len().min(16);
    let last = all.len().saturating_sub(1);
    (0..count).map(|number| all[number * last / (count - 1).max(1)].clone()).collect()
}

/// The first index, one step along each dimension, and the last index.
fn by_strides(sizes: &[u64], strides: &[u64]) -> Vec<(Vec<u64>, u64)> {
    let step = |dim: usize| (0..sizes.len()).map(|at| u64::from(at == dim && sizes[at] > 1)).collect();
    let mut found: Vec<Vec<u64>> = vec![vec![0; sizes.len()]];
    found.extend((0..sizes.len()).map(step));
    found.push(sizes.iter().map(|size| size - 1).collect());
    found.sort();
    found.dedup();
    let offset = |index: &[u64]| index.iter().zip(strides).map(|(i, stride)| i * stride).sum();
    found.into_iter().map(|index| (index.clone(), offset(&index))).collect()
}
