//! Lines of verbose logs.
//!
//! ```text
//! onednn_verbose[,v1][,TIME],primitive,exec,ENGINE,PRIMITIVE,IMPLEMENTATION,KIND,DESCRIPTORS,ATTRIBUTES,AUXILIARY,PROBLEM,MS
//! dnnl_verbose,exec,ENGINE,PRIMITIVE,IMPLEMENTATION,KIND,DESCRIPTORS,ATTRIBUTES,AUXILIARY,PROBLEM,MS
//! mkldnn_verbose,exec,PRIMITIVE,IMPLEMENTATION,KIND,DESCRIPTORS,AUXILIARY,PROBLEM,MS
//! ```

use std::ops::Range;
use std::sync::Arc;

use super::{log, problem, read};
use crate::dialect::{Dim, Found, Known};
use crate::error::{Error, ErrorKind, Result, quoted};

/// How lines begin.
const MARKS: [&str; 3] = ["onednn_verbose,", "dnnl_verbose,", "mkldnn_verbose,"];

/// Where a line of a log begins, if the text has one. Something may stand before it: a time, or the rank of a process.
pub(super) fn start(text: &str) -> Option<usize> {
    let first = text.lines().next()?;
    let found = MARKS.iter().filter_map(|mark| {
        let at = first.find(mark)?;
        let begins = !first[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        begins.then_some(at)
    });
    found.min()
}

/// The fields of a line with their places.
fn fields(line: &str) -> Vec<(Range<usize>, &str)> {
    let mut at = 0;
    let field = |field| {
        let start = at;
        at += str::len(field) + 1;
        (start..start + field.len(), field)
    };
    line.split(',').map(field).collect()
}

/// Reads a line: every array of its primitive. The sizes are those of its problem, as far as they follow from it.
///
/// # Errors
/// A line about no primitive, and fields that are none.
pub(super) fn read(line: &str, known: &Known) -> Result<Vec<Found>> {
    let line = line.trim_end();
    if let Some(end) = line.find('\n') {
        return Err(Error::new("several lines")
            .at(end..line.len())
            .rule("a line of a log is read by itself")
            .accepts("one line"));
    }
    let fields = fields(line);
    let is_operation = |field: &str| field == "exec" || field == "create" || field.starts_with("create:");
    let operation = fields.iter().position(|(_, field)| is_operation(field));
    let of_graph = fields.iter().any(|(_, field)| *field == "graph");
    let Some(operation) = operation.filter(|_| !of_graph) else {
        return Err(Error::new("a line without memory descriptors")
            .of_kind(ErrorKind::Unsupported)
            .at(0..line.len())
            .rule("lines of primitives have them: exec and create")
            .accepts("a line such as onednn_verbose,v1,primitive,exec,cpu,reorder,…"));
    };
    let field =
        |number: usize| fields.get(operation + number).cloned().unwrap_or((line.len()..line.len(), ""));
    // The first logs had no field for the engine.
    let engines = ["cpu", "gpu", "any"];
    let engine = field(1).1;
    let has_engine =
        engines.iter().any(|name| engine.starts_with(name) || engine.ends_with(name)) || engine.contains('2');
    let before = usize::from(has_engine);
    let (primitive, descriptors) = (field(1 + before).1, field(4 + before));
    let (attributes, auxiliary, problem) = match has_engine {
        true => (field(6).1, field(7).1, field(8)),
        false => ("", field(5).1, field(6)),
    };
    if descriptors.1.is_empty() {
        return Err(Error::new("no memory descriptors")
            .at(descriptors.0)
            .rule("they stand behind operation, engine, primitive, implementation and kind")
            .accepts("descriptors such as src:f32::blocked:abcd::f0"));
    }
    let mut arrays = Vec::new();
    for (at, word) in read::words(descriptors.1) {
        let at = descriptors.0.start + at;
        let array = match (log::is_descriptor(word), has_engine) {
            (true, _) | (false, true) => log::descriptor(word),
            (false, false) => log::older(word),
        };
        arrays.extend(array.map_err(|error| error.moved(at))?);
    }
    let names: Vec<(String, String)> = arrays
        .iter()
        .filter_map(|array| array.log.as_ref())
        .map(|log| (log.name.clone(), log.extra.clone()))
        .collect();
    let line = problem::Line { primitive, attributes, auxiliary, problem: problem.1, arrays: &names };
    let sizes = line.sizes();
    let mut found = Vec::with_capacity(arrays.len());
    let single = arrays.len() == 1;
    for (mut array, sizes) in arrays.into_iter().zip(sizes) {
        array.dims = sizes;
        if let (Err(_), Some(dims), true) = (&array.dims, known.dims, single) {
            array.dims = Ok(dims.iter().map(|&size| Dim::Static(size)).collect());
        }
        if let (Err(_), Some(element)) = (array.element, known.element) {
            array.element = Ok(element);
        }
        let name = array.log.as_ref().map(|log| log.name.clone());
        found.push(Found { name, said: Arc::new(array) });
    }
    if found.is_empty() {
        let (at, text) = descriptors;
        return Err(Error::new(format!("{} are no arrays", quoted(text)))
            .at(at)
            .rule("the descriptors are undef")
            .accepts("descriptors such as src:f32::blocked:abcd::f0"));
    }
    Ok(log::numbered(found))
}
