//! Engines of TensorRT as its inspector describes them, times of layers, and what its builder says of reformats.
//!
//! ```text
//! {"Layers": [{"Name": "conv1", "LayerType": "CaskConvolution", "Inputs": [{"Name": "x", "Dimensions": [1,3,224,224],
//!   "Format/Datatype": "Row major linear FP16 format"}], "Outputs": […], …}, …], "Bindings": […]}
//! [{"count": 100}, {"name": "conv1", "timeMs": 1.5, "averageMs": 0.015, "percentage": 1.2}, …]
//! Adding reformat layer: Reformatted Input Tensor 0 to conv2 (pool1) from Half(100352,3136:2,56,1) to Half(25088,1:8,448,8)
//! ```
//!
//! Formats are there at `--profilingVerbosity=detailed` alone. A builder's line says strides and no sizes: these follow from
//! the strides but for the batch, which counts as 1.

use std::sync::LazyLock;

use memchr::memmem::Finder;
use tilework::dialect::{Dialect, Fact, Known, Said};

use super::json::Record;
use super::links::Link;
use super::logged::{LogKind, Role};
use super::value::Value;
use super::{Array, ArrayId, Log, MoveKey, Part, Runs, Step, by_x, bytes};
use crate::hash::Map;
use crate::read::Reading;
use crate::read::prefix::plain;
use crate::store::Store;
use crate::texts::{NONE, Text};

/// No name of a layer is shown longer.
const NAME: usize = 160;

/// What layers of generated kernels say of a tensor: its type alone, as it lies row by row.
const TYPES: [(&str, &str); 12] = [
    ("Float", "f32"),
    ("Half", "f16"),
    ("BFloat16", "bf16"),
    ("FP8", "f8e4m3fn"),
    ("Int8", "s8"),
    ("Int32", "s32"),
    ("Int64", "s64"),
    ("UInt8", "u8"),
    ("Bool", "pred"),
    ("FP32", "f32"),
    ("FP16", "f16"),
    ("BF16", "bf16"),
];

/// What a builder says of a reformat.
const ADDING: &[u8] = b"Adding reformat layer: ";

impl Reading<'_> {
    /// Reads a layer, or how long one took.
    pub(super) fn tensorrt_record(&mut self, record: &Record<'_>) {
        let Some(value) = Value::with(record.text, is_wanted) else {
            return self
                .store
                .complaints
                .add(record.line, "a layer of a TensorRT engine that cannot be read");
        };
        if let (Some(name), Some(average)) =
            (value.get("name").and_then(Value::text), value.get("averageMs").and_then(Value::number))
        {
            return self.layer_time(name, average, record.line);
        }
        if record.key.eq_ignore_ascii_case(b"Layers") || record.key.is_empty() {
            self.layer(&value, record.line);
        }
    }

    fn layer_time(&mut self, name: &str, milliseconds: f64, line: u64) {
        let nanoseconds = (milliseconds * 1e6).round();
        let nanoseconds = if (0.0..1e15).contains(&nanoseconds) { nanoseconds as u64 } else { 0 };
        let text = self.store.texts.number(shortened(name).as_bytes());
        if self.store.budget.for_entry(&mut self.logs.times) {
            self.logs.times.insert(text, nanoseconds);
        }
        // The times alone say which layers are reformats, by their names.
        let log = self.logs.of(self.store, self.name, LogKind::TensorRtProfile);
        let hash = self.store.seed.of(name.as_bytes());
        let budget = &self.store.budget;
        let is_move = name.starts_with("Reformatting CopyNode") || name.contains("_reformat");
        let unknown = Array { format: NONE, element: NONE, sizes: NONE, bytes: None };
        let moves = is_move.then(|| log.array(budget, unknown)).flatten().map(|array| (array, array));
        let known = log.known(hash).or_else(|| {
            log.step(
                budget,
                hash,
                Step { operation: text, arrays: Box::default(), moves, name: text, way: None, loops: 0 },
            )
        });
        let Some(step) = known else { return };
        log.runs[step as usize].add(Some(nanoseconds), line, text);
        if moves.is_some() {
            let key = MoveKey { step, before: NONE, after: NONE, role: Role::Unknown, place: NONE };
            log.moved(budget, key, Some(nanoseconds), line, text);
        }
    }

    fn layer(&mut self, layer: &Value<'_>, line: u64) {
        let log = self.logs.of(self.store, self.name, LogKind::TensorRt);
        let Some(name) = layer.get("Name").and_then(Value::text) else {
            // Without formats, a layer is its name alone.
            if layer.text().is_some() {
                self.store.complaints.add(
                    line,
                    "a layer without formats: an engine says them if it is built with --profilingVerbosity=detailed",
                );
            }
            return;
        };
        let operation = layer.get("LayerType").and_then(Value::text).unwrap_or("layer");
        let is_move = operation.eq_ignore_ascii_case("Reformat");
        let mut arrays: Vec<(Part, ArrayId)> = Vec::new();
        let (mut tensors, mut said): (Vec<(u64, bool)>, Vec<u8>) = Default::default();
        for (key, part) in [("Inputs", Part::Input), ("Outputs", Part::Output)] {
            for tensor in layer.get(key).map_or(&[][..], Value::list) {
                said.clear();
                for part in [tensor.get("Dimensions"), tensor.get("Format/Datatype")] {
                    part.unwrap_or(&Value::Other).key(&mut said);
                }
                let (hash, budget) = (self.store.seed.of(&said), self.store.budget.clone());
                let array = log.array_said(&budget, hash, || self.store.tensor(tensor, line));
                let Some(array) = array else { return };
                arrays.push((part, array));
                if let Some(tensor) = tensor.get("Name").and_then(Value::text) {
                    tensors.push((self.store.seed.of(tensor.as_bytes()), part == Part::Output));
                }
            }
        }
        let own = |part| arrays.iter().find(|array| array.0 == part).map(|array| array.1);
        let moves = own(Part::Input).zip(own(Part::Output)).filter(|_| is_move);
        let name = self.store.texts.number(shortened(name).as_bytes());
        let operation = self.store.texts.number(operation.as_bytes());
        // Layers are never alike: each has tensors of its own.
        let hash = self.store.seed.of(&(log.steps.len() as u64).to_le_bytes());
        let step = Step { operation, arrays: arrays.into(), moves, name, way: None, loops: 0 };
        let budget = &self.store.budget;
        let Some(step) = log.step(budget, hash, step) else { return };
        log.runs[step as usize].add(None, line, name);
        for (tensor, makes) in tensors {
            log.link(budget, Link { step, tensor, makes, line });
        }
    }

    /// Reads what a builder says of a reformat; false if the line says nothing of one.
    #[inline]
    pub(crate) fn tensorrt_line(&mut self, number: u64, line: &[u8]) -> bool {
        static FINDER: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(ADDING));
        let Some(at) = FINDER.find(line) else { return false };
        let line = plain(&line[at + ADDING.len()..]);
        match std::str::from_utf8(&line).ok().and_then(added) {
            Some(added) => self.added(number, &added),
            None => {
                self.store.complaints.add(number, "a reformat of a TensorRT build log that cannot be read")
            }
        }
        true
    }

    fn added(&mut self, number: u64, added: &Added<'_>) {
        let log = self.logs.of(self.store, self.name, LogKind::TensorRtBuild);
        let sizes = sizes(&added.from, &added.to);
        let mut array = |strides: &Strides<'_>| {
            let array = match &sizes {
                Some(sizes) => {
                    self.store.tensor_of(&format!("{} {}", bracketed(sizes), strides.text), &Known::default())
                }
                None => None,
            };
            array.unwrap_or_else(|| Array {
                format: self.store.texts.number(strides.text.as_bytes()),
                element: NONE,
                sizes: NONE,
                bytes: None,
            })
        };
        let (from, to) = (array(&added.from), array(&added.to));
        let budget = &self.store.budget;
        let Some((from, to)) = log.array(budget, from).zip(log.array(budget, to)) else { return };
        let name = self.store.texts.number(shortened(added.name).as_bytes());
        let hash = self.store.seed.of(added.name.as_bytes());
        let arrays = Box::new([(Part::Input, from), (Part::Output, to)]);
        // A builder may try several engines: what it says last is what it builds.
        let step = Step { operation: name, arrays, moves: Some((from, to)), name, way: None, loops: 0 };
        let Some(step) = log.known(hash).or_else(|| log.step(budget, hash, step)) else { return };
        let after = self.store.texts.number(shortened(added.reader).as_bytes());
        let role = if added.is_input { Role::Between } else { Role::Output };
        let (before, after) = if added.is_input { (NONE, after) } else { (after, NONE) };
        log.runs[step as usize].add(None, number, name);
        log.moved(budget, MoveKey { step, before, after, role, place: NONE }, None, number, name);
    }
}

impl Store {
    /// A tensor of the inspector.
    fn tensor(&mut self, tensor: &Value<'_>, line: u64) -> Array {
        let format = tensor.get("Format/Datatype").and_then(Value::text).unwrap_or("");
        let sizes = tensor.get("Dimensions").and_then(Value::numbers).unwrap_or_default();
        let is_known = sizes.iter().all(|&size| size >= 0);
        let said = is_known.then(|| {
            if let Some((_, element)) = TYPES.iter().find(|(name, _)| *name == format) {
                return self.tensor_of(&format!("{element}{} kLINEAR", bracketed(&sizes)), &Known::default());
            }
            let object =
                format!("{{\"Dimensions\": {}, \"Format/Datatype\": \"{format}\"}}", bracketed(&sizes));
            self.tensor_of(&object, &Known::default())
        });
        if let Some(array) = said.flatten() {
            return array;
        }
        let is_open = format.is_empty() || format.starts_with("N/A") || !is_known;
        if !is_open {
            self.complaints.add(line, "a tensor of a TensorRT engine in a format that is not known");
        }
        let words: Vec<u64> = sizes.iter().map(|&size| u64::try_from(size).unwrap_or(0)).collect();
        Array {
            format: self
                .texts
                .number(shortened(if format.starts_with("N/A") { "" } else { format }).as_bytes()),
            element: NONE,
            sizes: if is_known { self.texts.number(by_x(&words).as_bytes()) } else { NONE },
            bytes: None,
        }
    }

    /// What TensorRT's notation reads of a text.
    fn tensor_of(&mut self, text: &str, known: &Known) -> Option<Array> {
        let found = (Dialect::named("tensorrt").ok()?.read)(text, known).ok()?;
        Some(self.said(&found.first()?.said))
    }

    /// An array of a notation that says format and element type as facts.
    fn said(&mut self, said: &Said) -> Array {
        let facts = said.facts();
        let text = |name: &str| {
            let found = facts.fields.iter().find(|(field, _)| *field == name);
            found.and_then(|(_, fact)| if let Fact::Text(text) = fact { Some(text.as_str()) } else { None })
        };
        let layout = said.layout().ok();
        Array {
            format: self.texts.number(text("format").unwrap_or("").as_bytes()),
            element: self.texts.number(text("element_type").unwrap_or("").as_bytes()),
            sizes: layout.as_ref().map_or(NONE, |layout| self.texts.number(by_x(layout.dims()).as_bytes())),
            bytes: layout.as_ref().and_then(bytes),
        }
    }
}

impl Log {
    /// Notes the times that a profile says of layers.
    pub(super) fn layers_took(&mut self, times: &Map<Text, u64>) {
        if self.kind != LogKind::TensorRt || times.is_empty() {
            return;
        }
        let time = |name: Text, runs: &mut Runs| {
            if let (0, Some(&nanoseconds)) = (runs.timed, times.get(&name)) {
                (runs.timed, runs.nanoseconds) = (runs.count, nanoseconds.saturating_mul(runs.count));
            }
        };
        for (step, runs) in self.steps.iter().zip(&mut self.runs) {
            time(step.name, runs);
        }
        for (key, runs) in &mut self.moves {
            time(self.steps[key.step as usize].name, runs);
        }
        for ((_, second), runs) in &mut self.chains {
            time(self.steps[*second as usize].name, runs);
        }
    }
}

/// Whether a member of a layer or of a profile is read.
fn is_wanted(key: &str) -> bool {
    const WANTED: [&str; 8] =
        ["Name", "LayerType", "Inputs", "Outputs", "Dimensions", "Format/Datatype", "averageMs", "Layers"];
    WANTED.iter().any(|wanted| key.eq_ignore_ascii_case(wanted))
}

/// A text that is shown: its beginning, if it is long.
fn shortened(text: &str) -> &str {
    let end = text.char_indices().nth(NAME).map_or(text.len(), |(at, _)| at);
    &text[..end]
}

fn bracketed(sizes: &[impl ToString]) -> String {
    let sizes: Vec<String> = sizes.iter().map(ToString::to_string).collect();
    format!("[{}]", sizes.join(","))
}

/// A reformat that a builder adds.
struct Added<'a> {
    name: &'a str,
    /// The layer that it is for.
    reader: &'a str,
    is_input: bool,
    from: Strides<'a>,
    to: Strides<'a>,
}

/// `Half(25088,1:8,448,8)`: strides in vectors, and which dimension is in vectors of how many.
struct Strides<'a> {
    text: &'a str,
    strides: Vec<u64>,
    vector: Option<(usize, u64)>,
}

/// `Reformatted Input Tensor 0 to conv2 (pool1) from Half(100352,3136:2,56,1) to Half(25088,1:8,448,8)`
fn added(text: &str) -> Option<Added<'_>> {
    let (name, formats) = text.rsplit_once(" from ")?;
    let (from, to) = formats.split_once(" to ")?;
    let (kind, reader) = name.split_once(" to ")?;
    // The tensor stands behind the layer.
    let reader = reader.rsplit_once(" (").map_or(reader, |(reader, _)| reader);
    Some(Added { name, reader, is_input: kind.contains("Input"), from: strides(from)?, to: strides(to)? })
}

fn strides(text: &str) -> Option<Strides<'_>> {
    let text = &text[..text.find(')')? + 1];
    let inner = text[text.find('(')? + 1..].strip_suffix(')')?;
    let (mut strides, mut vector) = (Vec::new(), None);
    for (dim, stride) in inner.split(',').enumerate() {
        let (stride, size) = stride.split_once(':').unwrap_or((stride, ""));
        strides.push(stride.trim().parse().ok().filter(|&stride: &u64| stride > 0)?);
        if let (Ok(size), true) = (size.trim().parse::<u64>(), vector.is_none()) {
            vector = Some((dim, size.max(1)));
        }
    }
    (strides.len() <= 8).then_some(Strides { text: text.trim(), strides, vector })
}

/// The sizes of an array by its strides on both sides; the outermost is not said, and is 1.
fn sizes(from: &Strides<'_>, to: &Strides<'_>) -> Option<Vec<u64>> {
    let one = |side: &Strides<'_>| -> Vec<u64> {
        let strides = &side.strides;
        let size = |(dim, &own): (usize, &u64)| {
            // How often it fits into the next larger stride.
            let larger = strides.iter().filter(|&&other| other > own).min();
            let count = larger.map_or(1, |larger| larger / own);
            match side.vector {
                Some((vector, size)) if vector == dim => count.saturating_mul(size),
                _ => count,
            }
        };
        strides.iter().enumerate().map(size).collect()
    };
    let (a, b) = (one(from), one(to));
    // A vector pads, so the smaller of the two is nearer.
    (a.len() == b.len() && !a.is_empty()).then(|| a.iter().zip(&b).map(|(&a, &b)| a.min(b)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_follow_from_the_strides_of_a_builder() {
        let sizes =
            |from: &str, to: &str| sizes(&strides(from).expect("strides"), &strides(to).expect("strides"));
        assert_eq!(
            sizes("Float(150528,50176,224,1)", "Half(100352,50176:2,224,1)"),
            Some(vec![1, 3, 224, 224])
        );
        assert_eq!(sizes("Half(75264,1:8,1344,24)", "Half(301056,3136:2,56,1)"), Some(vec![1, 192, 56, 56]));
        assert_eq!(sizes("Half(1,1)", "Half(1)"), None);
    }
}
