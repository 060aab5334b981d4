//! Opening a store: one array, or a group with all arrays in it by their paths, as a container.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value};
use tilework::sharding::Named;
use tilework::{Error, Result};
use tilework_files::container::{Container, Content, Gathered, Placed, as_noted};

use super::json;
use super::meta::{Meta, Node};
use super::place::{Place, at};
use super::read::Array;
use super::walk::{key, node, walk};
use crate::far::is_address;
use crate::job::one;
use crate::orbax::{self, Leaf};

/// The attribute of an array that says how it lies where Zarr has no word for it; in other formats it is followed by a name.
pub(super) const NOTE: &str = "tilework.layout";

/// The arrays of a store, and what else it says.
pub(crate) struct Found {
    pub(crate) place: Arc<dyn Place>,
    pub(crate) arrays: Vec<Entry>,
    /// The attributes of the root, where it is a group of Zarr.
    pub(crate) root: Option<Map<String, Value>>,
    /// The groups below the root by their paths, and their attributes.
    pub(crate) groups: Vec<(String, Map<String, Value>)>,
    pub(crate) texts: Vec<(String, String)>,
    /// Of the tree of a checkpoint, the entries that are no arrays.
    pub(crate) others: Map<String, Value>,
    /// What it is, where that is more than a store of Zarr.
    pub(crate) kind: Option<&'static str>,
}

/// An array of a store, or why it is none.
pub(crate) struct Entry {
    pub(crate) name: String,
    path: String,
    node: Node,
    /// How devices held it, where that is said.
    pub(crate) saved: Option<Named>,
    /// What the tree of a checkpoint says of it.
    pub(crate) leaf: Option<Leaf>,
}

impl Entry {
    pub(crate) fn new(name: String, path: String, node: Node) -> Entry {
        Entry { name, path, node, saved: None, leaf: None }
    }

    /// How many elements it has; 0 where that is not read.
    fn elements(&self) -> u128 {
        match &self.node {
            Node::Array(meta) => meta.dims.iter().fold(1, |all, &size| all.saturating_mul(size.into())),
            _ => 0,
        }
    }

    /// Its name, where it is and what is said of it; nothing of what is not read.
    pub(super) fn into_meta(self) -> Option<(String, (String, Meta))> {
        match self.node {
            Node::Array(meta) => Some((self.name, (self.path, *meta))),
            _ => None,
        }
    }

    /// The array, to be read chunk by chunk.
    ///
    /// # Errors
    /// What is not read, and an array whose layout is in a note, so that its chunks are those of a list of its places.
    pub(crate) fn array(self, place: &Arc<dyn Place>) -> Result<Array> {
        match self.node {
            Node::Array(meta) if meta.attributes.contains_key(NOTE) => {
                Err(Error::new(format!("tensor {:?} has a layout that Zarr has no word for", self.name))
                    .rule("parts are taken from chunks of an array")
                    .accepts("the store in row-major order: tilework convert SRC OUT --to '{…,1,0}'"))
            }
            Node::Array(meta) => Ok(Array::new(Arc::clone(place), &self.path, *meta)?.saved_as(self.saved)),
            Node::Unread(_, _, why) => Err(why),
            Node::Group(_) => Err(Error::new(format!("{:?} is a group", self.name))),
        }
    }
}

/// Opens a store as a container of its arrays, which are called by their paths; an array alone by the name of its folder. A
/// checkpoint of JAX is a store, too.
///
/// # Errors
/// What is no store, and metadata that cannot be right. An array that may be right and is not read is listed with the reason.
pub fn open(path: &Path) -> Result<Container> {
    let Found { place, arrays, texts, kind, .. } = found(path)?;
    let arrays =
        arrays.into_iter().map(|entry| gathered(&place, entry)).collect::<Result<Vec<Gathered>>>()?;
    // A checkpoint is named as it was asked for, and not by the folder of its item.
    let name = if kind.is_some() { path.display().to_string() } else { place.name() };
    let container = Container::gathered(name, arrays, texts);
    Ok(match kind {
        Some(kind) => container.of_kind(kind),
        None => container,
    })
}

/// Opens the array at this path, which has to be one.
///
/// # Errors
/// Those of [`open`], a group, and an array that is not read.
pub fn open_array(path: &Path) -> Result<Array> {
    let place = at(path)?;
    match node(&*place, "")? {
        Some(Node::Array(meta)) => Array::new(place, "", *meta),
        Some(Node::Unread(_, _, why)) => Err(within(&place.name(), &why)),
        Some(Node::Group(_)) => {
            Err(Error::new(format!("{} is a group", place.name())).accepts("the path of one of its arrays"))
        }
        None => Err(none(&*place)),
    }
}

/// Opens the array at this path or, where several are, the only one whose name is of the pattern `only`. A checkpoint of JAX is a
/// store, too.
///
/// # Errors
/// Those of [`open`], no such array or several, and one that is not read.
pub(crate) fn open_one(path: &Path, only: Option<&str>) -> Result<Array> {
    if only.is_none() && matches!(node(&*at(path)?, "")?, Some(Node::Array(_) | Node::Unread(..))) {
        return open_array(path);
    }
    let Found { place, mut arrays, .. } = found(path)?;
    let sized = arrays.iter().map(|entry| (entry.name.as_str(), entry.elements()));
    let number = one(sized, only, &path.display().to_string())?;
    let entry = arrays.swap_remove(number);
    let name = entry.name.clone();
    entry.array(&place).map_err(|error| within(&format!("{name:?} of {}", path.display()), &error))
}

/// Whether a store is at this path, or at this address.
///
/// # Errors
/// A server that does not answer.
pub fn is_store(path: &Path) -> Result<bool> {
    if !is_address(path) {
        return Ok(tilework_files::container::is_store(path));
    }
    let place = at(path)?;
    Ok(node(&*place, "")?.is_some() || orbax::is_checkpoint(&*place)?)
}

fn none(place: &dyn Place) -> Error {
    if place.is_far() {
        return Error::new(format!("{} is no Zarr store", place.name()))
            .rule("zarr.json, or .zarray or .zgroup, says what an address is")
            .accepts("the address of a store that zarr, TensorStore, xarray or Orbax wrote");
    }
    Error::new(format!("{} is no Zarr store", place.name()))
        .rule("zarr.json, or .zarray or .zgroup, says what a folder is")
        .accepts("a folder that zarr, TensorStore or xarray wrote")
}

/// The arrays of a store.
pub(crate) fn found(path: &Path) -> Result<Found> {
    let place = at(path)?;
    let top = node(&*place, "")?;
    if top.is_none() && orbax::is_checkpoint(&*place)? {
        return orbax::found(path);
    }
    let alone = path.file_stem().map_or_else(|| "array".into(), |stem| stem.to_string_lossy()).into_owned();
    let mut found = Vec::new();
    let is_group = matches!(top, Some(Node::Group(_)));
    let attributes = match top {
        None => return Err(none(&*place)),
        Some(Node::Group(attributes)) => {
            walk(&*place, "", false, &mut found)?;
            attributes
        }
        Some(Node::Array(meta)) => {
            let attributes = meta.attributes.clone();
            found.push((String::new(), Node::Array(meta)));
            attributes
        }
        Some(unread) => {
            found.push((String::new(), unread));
            Map::new()
        }
    };
    let (mut arrays, mut groups) = (Vec::with_capacity(found.len()), Vec::new());
    for (path, node) in found {
        match node {
            Node::Group(attributes) => groups.push((path, attributes)),
            node => {
                let name = if path.is_empty() { alone.clone() } else { path.clone() };
                arrays.push(Entry::new(name, path, node));
            }
        }
    }
    let text = |value: Value| match value {
        Value::String(text) => text,
        other => other.to_string(),
    };
    let metadata = attributes.clone().into_iter().filter(|(key, _)| key != NOTE);
    Ok(Found {
        root: is_group.then(|| attributes.clone()),
        arrays,
        groups,
        texts: metadata.map(|(key, value)| (key, text(value))).collect(),
        place,
        others: Map::new(),
        kind: None,
    })
}

/// An array as a container has it.
fn gathered(place: &Arc<dyn Place>, entry: Entry) -> Result<Gathered> {
    let Entry { name, path, node, saved, .. } = entry;
    let meta = match node {
        Node::Array(meta) => *meta,
        Node::Unread(kind, dims, why) => {
            let why = within(&format!("{name:?}"), &why);
            return Ok((name, Content::Unread { kind, dims, why }, None));
        }
        Node::Group(_) => return Err(Error::new(format!("{name:?} is a group"))),
    };
    let named = |error: Error| within(&key(&place.name(), &path), &error);
    let content = match meta.attributes.get(NOTE) {
        Some(Value::String(note)) => as_noted(&name, note, &meta.dims, meta.element).map_err(named)?,
        Some(other) => return Err(named(json::wrong(NOTE, other, "a layout as text"))),
        None => Content::Array(Placed::of(meta.said()).map_err(named)?),
    };
    let array = Array::new(Arc::clone(place), &path, meta).map_err(named)?.saved_as(saved);
    Ok((name, content, Some(Box::new(array))))
}

/// The error, with the name of what it is about before it.
pub(crate) fn within(name: &str, error: &Error) -> Error {
    let field = error.field_name().map(|field| format!("{field}: ")).unwrap_or_default();
    let mut named = Error::new(format!("{name}: {field}{}", error.found())).of_kind(error.kind());
    if let Some(rule) = error.broken_rule() {
        named = named.rule(rule);
    }
    match error.accepted() {
        Some(accepts) => named.accepts(accepts),
        None => named,
    }
}
