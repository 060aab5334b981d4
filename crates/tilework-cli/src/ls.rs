//! `ls`: the arrays in files, with their layouts, sizes and padding.

use std::ffi::OsStr;
use std::path::Path;

use serde::Serialize;
use tilework::words::short_bytes;
use tilework::{Error, Result, printable};
use tilework_files::container::{Blocks, Container, Content, Pattern, Tensor};
use tilework_picture::{Line, Style, wrap};

use crate::args::LsArgs;
use crate::output::{Output, Stop};
use crate::stores;

/// Lists what is in each file.
pub fn ls(ls: &LsArgs, output: &mut Output) -> std::result::Result<(), Stop> {
    for file in &ls.files {
        let listed = open(file, &std::env::temp_dir()).and_then(|container| {
            let chosen = only(&container, &ls.only)?;
            Ok((container, chosen))
        });
        match listed {
            Ok((container, chosen)) => {
                let tensors: Vec<&Tensor> = chosen.iter().map(|&at| &container.tensors()[at]).collect();
                list(&container, &tensors, output)?;
            }
            Err(error) => output.bad(&error, "", None)?,
        }
    }
    Ok(())
}

/// Opens what holds named arrays. What is fetched of it stands in a file without a name in the folder `scratch`.
pub fn open(name: &OsStr, scratch: &Path) -> Result<Container> {
    if name == "-" {
        return Err(Error::new("standard input as a file of named arrays")
            .rule("arrays are found by their places in a file, and read in any order")
            .accepts("the name of a file or folder; ./- for a file of this name"));
    }
    stores::open(Path::new(name), None, scratch)
}

/// The numbers of the arrays whose names are of one of these patterns; of all without any.
///
/// # Errors
/// Patterns that no name is of: nobody asks for nothing.
pub fn only(container: &Container, patterns: &[String]) -> Result<Vec<usize>> {
    let tensors = container.tensors();
    let chosen = Chosen::new(tensors.iter().map(|tensor| tensor.name.as_str()), patterns, container.name())?;
    Ok((0..tensors.len()).filter(|&at| chosen.has(&tensors[at].name)).collect())
}

/// Names that `--only` chooses: those of any pattern, but for those of a pattern behind a `!`.
pub struct Chosen {
    some: Vec<Pattern>,
    none: Vec<Pattern>,
}

impl Chosen {
    /// The names of these patterns, or all without any.
    ///
    /// # Errors
    /// Patterns that none of `names` is of; `place` is where they are from.
    pub fn new<'n>(names: impl Iterator<Item = &'n str>, patterns: &[String], place: &str) -> Result<Chosen> {
        let (none, some): (Vec<&String>, Vec<&String>) =
            patterns.iter().partition(|text| text.starts_with('!'));
        let chosen = Chosen {
            some: some.iter().map(|text| Pattern::new(text)).collect(),
            none: none.iter().map(|text| Pattern::new(&text[1..])).collect(),
        };
        let names: Vec<&str> = names.collect();
        if patterns.is_empty() || names.iter().any(|name| chosen.has(name)) {
            return Ok(chosen);
        }
        let example = names.first().map(|name| format!(", such as {name}")).unwrap_or_default();
        Err(Error::new(format!("--only, and none of the {} names matches", names.len()))
            .rule("* is any number of characters, ? is one, ! before a pattern is all others, and a pattern is of the whole name")
            .accepts(format!("a pattern of one of the names in {place}{example}")))
    }

    /// Whether a name is one of them.
    pub fn has(&self, name: &str) -> bool {
        let is_of = |patterns: &[Pattern]| patterns.iter().any(|pattern| pattern.matches(name));
        (self.some.is_empty() || is_of(&self.some)) && !is_of(&self.none)
    }
}

/// Answer of `ls`, for each file.
#[derive(Serialize)]
struct Listed<'a> {
    file: &'a str,
    format: &'static str,
    /// How many files it is.
    files: usize,
    tensors: Vec<Item<'a>>,
    elements: u64,
    bytes: u64,
    padding_bytes: u64,
    /// What else the file says, as names and texts.
    metadata: std::collections::BTreeMap<&'a str, &'a str>,
}

#[derive(Serialize)]
struct Item<'a> {
    name: &'a str,
    r#type: &'a str,
    /// Null for what is not read.
    sizes: Option<&'a [u64]>,
    /// The whole text; null for what has no layout.
    layout: Option<String>,
    bytes: u64,
    padding_bytes: u64,
    /// Why it is not read, if it is not.
    unread: Option<String>,
    /// How devices held it when it was saved, where the file says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    saved_as: Option<Saved>,
}

/// How devices held an array.
#[derive(Serialize)]
struct Saved {
    mesh: String,
    spec: String,
    /// The same as XLA writes it.
    sharding: String,
    /// The sizes of the part of a device.
    part: Option<Vec<u64>>,
}

fn saved(container: &Container, tensor: &Tensor) -> Option<Saved> {
    let named = container.saved(tensor)?;
    let sizes = tensor.content.dims()?;
    let sharding = named.sharding();
    Some(Saved {
        mesh: named.mesh().to_string(),
        spec: named.to_string(),
        sharding: sharding.to_string(),
        part: sharding.widened(sizes.len()).and_then(|wide| wide.part_sizes(sizes)).ok(),
    })
}

fn padding(tensor: &Tensor) -> u64 {
    match &tensor.content {
        Content::Array(array) => array.padding(),
        _ => 0,
    }
}

/// A sum that stops at the largest number: files can name the same bytes of a file with holes.
fn sum(numbers: impl Iterator<Item = u64>) -> u64 {
    numbers.fold(0, u64::saturating_add)
}

fn elements(tensors: &[&Tensor]) -> u64 {
    let count = |tensor: &&Tensor| match &tensor.content {
        Content::Array(array) => array.layout.len(),
        Content::Blocks(blocks) => blocks.len(),
        Content::Unread { .. } => 0,
    };
    sum(tensors.iter().map(count))
}

/// How rows of blocks are mixed, if they are.
fn mixed(blocks: &Blocks) -> Option<String> {
    blocks.mix.map(|mix| format!("rows {}x{}", mix.rows, mix.chunk))
}

fn item<'a>(container: &Container, tensor: &'a Tensor) -> Item<'a> {
    let content = &tensor.content;
    Item {
        name: &tensor.name,
        r#type: content.kind(),
        sizes: content.dims(),
        layout: match content {
            Content::Array(array) => Some(array.said.to_string()),
            Content::Blocks(blocks) => mixed(blocks).map(|_| blocks.to_string()),
            Content::Unread { .. } => None,
        },
        bytes: tensor.bytes(),
        padding_bytes: padding(tensor),
        unread: match content {
            Content::Unread { why, .. } => Some(why.to_string()),
            _ => None,
        },
        saved_as: saved(container, tensor),
    }
}

fn list(container: &Container, tensors: &[&Tensor], output: &mut Output) -> std::result::Result<(), Stop> {
    let bytes = sum(tensors.iter().map(|tensor| tensor.bytes()));
    let padding_bytes = sum(tensors.iter().map(|tensor| padding(tensor)));
    if output.json {
        return output.object(&Listed {
            file: container.name(),
            format: container.kind(),
            files: container.files(),
            tensors: tensors.iter().map(|tensor| item(container, tensor)).collect(),
            elements: elements(tensors),
            bytes,
            padding_bytes,
            metadata: container.metadata().iter().map(|(key, value)| (&**key, &**value)).collect(),
        });
    }
    let count = |number: usize, noun: &str| format!("{number} {noun}{}", if number == 1 { "" } else { "s" });
    let mut title = vec![
        format!("{}: {}", container.name(), container.kind()),
        count(tensors.len(), "array"),
        short_bytes(bytes.into()),
    ];
    if container.files() > 1 {
        title.push(format!("in {}", count(container.files(), "file")));
    }
    if padding_bytes > 0 {
        title.push(format!("{} of it padding", short_bytes(padding_bytes.into())));
    }
    // Of most checkpoints it is one for all.
    let mut meshes: Vec<String> =
        tensors.iter().filter_map(|tensor| Some(container.saved(tensor)?.mesh().to_string())).collect();
    meshes.sort();
    meshes.dedup();
    match &meshes[..] {
        [] => {}
        [mesh] => title.push(format!("saved from {mesh}")),
        several => title.push(format!("saved from {} meshes", several.len())),
    }
    let mut lines: Vec<Line> = wrap(&printable(&title.join(", ")), output.width)
        .into_iter()
        .map(|line| Line::new().with(line, Style::Strong))
        .collect();
    if !tensors.is_empty() {
        lines.push(Line::new());
        lines.extend(table(
            &tensors.iter().map(|tensor| row(container, tensor)).collect::<Vec<Row>>(),
            output.width,
        ));
    }
    output.lines(&lines)?;
    // What is not read is a fault of the file's, and the list is the answer all the same.
    for tensor in tensors {
        if let Content::Unread { why, .. } = &tensor.content {
            output.note(&why.to_string())?;
        }
    }
    Ok(())
}

/// Name, type, sizes, bytes, layout, padding, and how devices held it.
type Row = [String; 7];

const HEADS: [&str; 7] = ["name", "type", "sizes", "bytes", "layout", "padding", "saved as"];

fn row(container: &Container, tensor: &Tensor) -> Row {
    let content = &tensor.content;
    let list = |sizes: &[u64]| sizes.iter().map(u64::to_string).collect::<Vec<String>>().join(",");
    let layout = match content {
        Content::Array(array) => array.order().unwrap_or_default(),
        Content::Blocks(blocks) => mixed(blocks).unwrap_or_default(),
        Content::Unread { .. } => String::new(),
    };
    let padding = padding(tensor);
    [
        printable(&tensor.name).into_owned(),
        printable(content.kind()).into_owned(),
        content.dims().map(|sizes| format!("[{}]", list(sizes))).unwrap_or_default(),
        short_bytes(tensor.bytes().into()),
        printable(&layout).into_owned(),
        if padding > 0 { short_bytes(padding.into()) } else { String::new() },
        saved(container, tensor).map(|saved| printable(&saved.spec).into_owned()).unwrap_or_default(),
    ]
}

/// The rows in columns as wide as they need; a name that would make a line too wide stands on a line of its own.
fn table(rows: &[Row], width: usize) -> Vec<Line> {
    let widths: Vec<usize> = (0..HEADS.len())
        .map(|column| {
            let widest = rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
            if widest > 0 { widest.max(HEADS[column].len()) } else { 0 }
        })
        .collect();
    let others: usize = widths[1..].iter().filter(|&&width| width > 0).map(|width| width + 2).sum();
    let name = widths[0].min(width.saturating_sub(others + 2).max(8));
    let line = |cells: [&str; 7], style: Style| {
        let mut lines = Vec::new();
        let (mut first, fits) = (cells[0], cells[0].chars().count() <= name);
        if !fits {
            lines.push(Line::new().with(format!("  {first}"), style));
            first = "";
        }
        let mut text = format!("  {first:name$}");
        for column in (1..cells.len()).filter(|&column| widths[column] > 0) {
            let (cell, width) = (cells[column], widths[column]);
            // Amounts end below each other, and words begin so.
            match HEADS[column] {
                "bytes" | "padding" => text.push_str(&format!("  {cell:>width$}")),
                _ => text.push_str(&format!("  {cell:width$}")),
            }
        }
        lines.push(Line::new().with(text.trim_end().to_owned(), style));
        lines
    };
    let mut lines = line(HEADS, Style::Faint);
    for row in rows {
        lines.extend(line(row.each_ref().map(String::as_str), Style::Plain));
    }
    lines
}
