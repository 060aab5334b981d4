//! The files of the corpus: what a case holds, and how it is written, a case a line.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tilework::dialect::{self, Confidence, Known, Reading, Said};
use tilework::{Layout, Result};

/// Changes as `corpus/README.md` says.
pub const VERSION: &str = "0.1.0";

/// The folder of the corpus.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus")
}

/// A file of JSON.
pub fn load(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A text and where a few of its elements are.
#[derive(Clone, Debug)]
pub struct Case {
    pub text: String,
    pub own_text: Option<String>,
    pub element: String,
    pub bits: u32,
    pub sizes: Vec<u64>,
    pub index_sizes: Option<Vec<u64>>,
    pub offsets: Vec<(Vec<u64>, u64)>,
    pub places: Option<u64>,
    pub bytes: Option<u64>,
    pub source: String,
    pub how: String,
}

impl Case {
    /// What the text itself says. Offsets and the size are for the source to say.
    pub fn of(text: &str, source: &str, how: &str) -> Result<Case> {
        let said = dialect::read_one(text)?;
        let layout = said.layout()?;
        let element = said.element().unwrap_or_else(|| panic!("{text} has no element type"));
        let sizes = said.sizes(&layout);
        Ok(Case {
            text: text.to_owned(),
            own_text: own_words(&said, &layout, text),
            element: element.to_string(),
            bits: layout.bits(),
            index_sizes: (sizes != layout.dims()).then(|| layout.dims().to_vec()),
            sizes,
            offsets: Vec::new(),
            places: None,
            bytes: None,
            source: source.to_owned(),
            how: how.to_owned(),
        })
    }

    pub fn from_json(value: &Value) -> Case {
        let text = |name: &str| value[name].as_str().map(str::to_owned);
        let required = |name: &str| text(name).unwrap_or_else(|| panic!("{name} of {value}"));
        Case {
            text: required("text"),
            own_text: text("own_text"),
            element: required("element"),
            bits: value["bits"].as_u64().and_then(|bits| bits.try_into().ok()).expect("bits"),
            sizes: numbers(&value["sizes"]),
            index_sizes: value.get("index_sizes").map(numbers),
            offsets: pairs(&value["offsets"]),
            places: value["places"].as_u64(),
            bytes: value["bytes"].as_u64(),
            source: required("source"),
            how: required("how"),
        }
    }

    /// One line, with the fields in the order of the schema.
    fn to_line(&self) -> String {
        let fields = [
            ("text", Some(json!(self.text))),
            ("own_text", self.own_text.as_ref().map(|text| json!(text))),
            ("element", Some(json!(self.element))),
            ("bits", Some(json!(self.bits))),
            ("sizes", Some(json!(self.sizes))),
            ("index_sizes", self.index_sizes.as_ref().map(|sizes| json!(sizes))),
            ("places", self.places.map(|places| json!(places))),
            ("bytes", self.bytes.map(|bytes| json!(bytes))),
            ("source", Some(json!(self.source))),
            ("how", Some(json!(self.how))),
            ("offsets", Some(json!(self.offsets))),
        ];
        let fields = fields.into_iter().filter_map(|(name, value)| Some(format!("\"{name}\": {}", value?)));
        format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
    }
}

/// The system's own words, where Tilework's spelling puts sizes and a type before them, or a remark behind code.
fn own_words(said: &Said, layout: &Layout, text: &str) -> Option<String> {
    if let Some((code, _)) = text.split_once("  # ") {
        return Some(code.to_owned());
    }
    let dialect = said.dialect();
    if (dialect.recognise)(text) == Some(Confidence::Certain) {
        return None;
    }
    let sizes = said.sizes(layout);
    let known = Known::array(&sizes, said.element()?);
    let reading = Reading { dialect: Some(dialect), known };
    let is_same = |rest: &&str| {
        (dialect.recognise)(rest).is_some()
            && reading.read_one(rest).is_ok_and(|again| again.layout().as_ref() == Ok(layout))
    };
    text.match_indices(' ').map(|(at, _)| text[at..].trim_start()).find(is_same).map(str::to_owned)
}

pub fn numbers(value: &Value) -> Vec<u64> {
    let list = value.as_array().unwrap_or_else(|| panic!("{value} is no list"));
    list.iter().map(|number| number.as_u64().unwrap_or_else(|| panic!("{number} in {value}"))).collect()
}

/// Indices with their offsets.
pub fn pairs(value: &Value) -> Vec<(Vec<u64>, u64)> {
    let list = value.as_array().unwrap_or_else(|| panic!("{value} is no list"));
    list.iter().map(|pair| (numbers(&pair[0]), pair[1].as_u64().expect("an offset"))).collect()
}

/// The cases of a notation.
#[derive(Debug)]
pub struct File {
    pub notation: String,
    pub title: String,
    /// Whom offsets and sizes are from, by the name that cases have for it.
    pub sources: BTreeMap<String, Value>,
    pub cases: Vec<Case>,
}

impl File {
    pub fn load(path: &Path) -> File {
        let value = load(path);
        let text = |name: &str| value[name].as_str().unwrap_or_else(|| panic!("{name}")).to_owned();
        let sources = value["sources"].as_object().expect("sources").clone();
        File {
            notation: text("notation"),
            title: text("title"),
            sources: sources.into_iter().collect(),
            cases: value["cases"].as_array().expect("cases").iter().map(Case::from_json).collect(),
        }
    }

    /// The case of this text, from this source; a new one where there is none.
    pub fn case(&mut self, text: &str, source: &str, how: &str) -> &mut Case {
        let known = self.cases.iter().position(|case| (&*case.text, &*case.source) == (text, source));
        let at = known.unwrap_or_else(|| {
            let case = Case::of(text, source, how).unwrap_or_else(|error| panic!("{text}: {error}"));
            self.cases.push(case);
            self.cases.len() - 1
        });
        let case = &mut self.cases[at];
        if !case.how.contains(how) {
            case.how = format!("{}; {how}", case.how);
        }
        case
    }

    pub fn offsets(&self) -> usize {
        self.cases.iter().map(|case| case.offsets.len()).sum()
    }

    /// The cases of each source together.
    pub fn to_text(&self) -> String {
        let mut text = format!(
            "{{\n\"version\": \"{VERSION}\",\n\"notation\": {},\n\"title\": {},\n\"sources\": {{\n",
            json!(self.notation),
            json!(self.title)
        );
        let sources = self.sources.iter().map(|(name, source)| format!("  {}: {source}", json!(name)));
        text += &sources.collect::<Vec<_>>().join(",\n");
        text += "\n},\n\"cases\": [\n";
        let mut cases: Vec<&Case> = self.cases.iter().collect();
        cases.sort_by(|a, b| a.source.cmp(&b.source));
        let cases = cases.into_iter().map(|case| format!("  {}", case.to_line()));
        text += &cases.collect::<Vec<_>>().join(",\n");
        text + "\n]\n}\n"
    }
}

/// The list of all files.
pub fn index(files: &[File]) -> String {
    let mut text = format!("{{\n\"version\": \"{VERSION}\",\n\"schema\": \"schema.json\",\n");
    let cases: usize = files.iter().map(|file| file.cases.len()).sum();
    let offsets: usize = files.iter().map(File::offsets).sum();
    let _ = write!(text, "\"cases\": {cases},\n\"offsets\": {offsets},\n\"files\": [\n");
    let line = |file: &File| {
        format!(
            "  {{\"file\": \"{0}.json\", \"notation\": \"{0}\", \"title\": {1}, \"cases\": {2}, \"offsets\": {3}}}",
            file.notation,
            json!(file.title),
            file.cases.len(),
            file.offsets()
        )
    };
    text += &files.iter().map(line).collect::<Vec<_>>().join(",\n");
    text + "\n]\n}\n"
}
