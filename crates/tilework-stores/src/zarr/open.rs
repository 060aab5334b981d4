//! Opening a store: one array, or a group with all arrays in it by their paths, as a container.

use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value};
use tilework::sharding::Named;
use tilework::{Element, Error, ErrorKind, Layout, Result};
use tilework_copy::{Pool, Threads};
use tilework_files::container::{Container, Content, Gathered, Pieces, Placed, as_noted};

use super::json::{self, Object};
use super::meta::{self, Node};
use super::place::{Place, at};
use super::read::Array;
use crate::far::{AT_A_TIME, is_address};
use crate::job::one;
use crate::orbax::{self, Leaf};
use crate::store::{Held, Read};
use crate::transfer::{Side, Transfers};

/// The deepest groups that are looked into.
const DEEPEST: usize = 32;

/// The attribute of an array that says how it lies where Zarr has no word for it; in other formats it is followed by a name.
pub(super) const NOTE: &str = "tilework.layout";

/// The arrays of a store, and what else it says.
pub(crate) struct Found {
    pub(crate) place: Arc<dyn Place>,
    pub(crate) arrays: Vec<Entry>,
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
    if only.is_none()
        && !orbax::is_checkpoint(path)
        && !matches!(node(&*at(path)?, "")?, Some(Node::Group(_)))
    {
        return open_array(path);
    }
    let Found { place, mut arrays, .. } = found(path)?;
    let number = one(arrays.iter().map(|entry| entry.name.as_str()), only, &path.display().to_string())?;
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
    Ok(node(&*at(path)?, "")?.is_some())
}

fn none(place: &dyn Place) -> Error {
    if place.is_far() {
        return Error::new(format!("{} is no Zarr store", place.name()))
            .rule("zarr.json, or .zarray or .zgroup, says what an address is")
            .accepts("the address of a store that zarr, TensorStore or xarray wrote");
    }
    Error::new(format!("{} is no Zarr store", place.name()))
        .rule("zarr.json, or .zarray or .zgroup, says what a folder is")
        .accepts("a folder that zarr, TensorStore or xarray wrote")
}

/// The arrays of a store.
pub(crate) fn found(path: &Path) -> Result<Found> {
    if orbax::is_checkpoint(path) {
        return orbax::found(path);
    }
    let place = at(path)?;
    let alone = path.file_stem().map_or_else(|| "array".into(), |stem| stem.to_string_lossy()).into_owned();
    let mut found = Vec::new();
    let attributes = match node(&*place, "")? {
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
    let entry = |(path, node): (String, Node)| {
        let name = if path.is_empty() { alone.clone() } else { path.clone() };
        Entry::new(name, path, node)
    };
    let text = |value: Value| match value {
        Value::String(text) => text,
        other => other.to_string(),
    };
    let metadata = attributes.into_iter().filter(|(key, _)| key != NOTE);
    Ok(Found {
        arrays: found.into_iter().map(entry).collect(),
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

/// What is at a path; none if nothing is.
pub(crate) fn node(place: &dyn Place, path: &str) -> Result<Option<Node>> {
    let text = |name: &str| -> Result<Option<Value>> {
        let key = key(path, name);
        let Some(bytes) = place.text(&key)? else { return Ok(None) };
        json::read(&bytes).map(Some).map_err(|error| within(&format!("{}/{key}", place.name()), &error))
    };
    let named = |name: &str, error: Error| within(&format!("{}/{}", place.name(), key(path, name)), &error);
    if let Some(value) = text("zarr.json")? {
        return meta::read(&value).map(Some).map_err(|error| named("zarr.json", error));
    }
    let attributes = |value: Option<Value>| match value {
        None => Ok(Map::new()),
        Some(value) => Object::new(&value, "attributes").map(|all| all.map().clone()),
    };
    if let Some(value) = text(".zarray")? {
        let attributes = attributes(text(".zattrs")?).map_err(|error| named(".zattrs", error))?;
        return meta::read_v2(&value, attributes).map(Some).map_err(|error| named(".zarray", error));
    }
    if text(".zgroup")?.is_some() {
        let attributes = attributes(text(".zattrs")?).map_err(|error| named(".zattrs", error))?;
        return Ok(Some(Node::Group(attributes)));
    }
    Ok(None)
}

/// A name below a path.
fn key(path: &str, name: &str) -> String {
    match (path, name) {
        ("", name) => name.to_owned(),
        (path, "") => path.to_owned(),
        (path, name) => format!("{path}/{name}"),
    }
}

/// Adds the arrays of a group, in the order of their names; also those in folders that are no groups, where `looks_on`.
pub(crate) fn walk(
    place: &dyn Place,
    path: &str,
    looks_on: bool,
    found: &mut Vec<(String, Node)>,
) -> Result<()> {
    walk_below(place, path, looks_on, DEEPEST, found)
}

fn walk_below(
    place: &dyn Place,
    path: &str,
    looks_on: bool,
    left: usize,
    found: &mut Vec<(String, Node)>,
) -> Result<()> {
    // One request instead of several for each array.
    if place.is_far() && consolidated(place, path, found)? {
        return Ok(());
    }
    let Some(folders) = place.folders(path)? else {
        return Err(Error::new(format!("{}: a group without consolidated metadata", place.name()))
            .rule("this store cannot be listed, so the group has to say what is in it")
            .accepts("a path of an array, or zarr.consolidate_metadata first"));
    };
    for name in folders {
        let path = key(path, &name);
        match node(place, &path)? {
            None if !looks_on || left == 0 => {}
            Some(Node::Group(_)) if left == 0 => {
                return Err(Error::new(format!("{}/{path} is a group", place.name()))
                    .of_kind(ErrorKind::Limit)
                    .rule(format!("groups are looked into {DEEPEST} deep")));
            }
            None | Some(Node::Group(_)) => walk_below(place, &path, looks_on, left - 1, found)?,
            Some(node) => found.push((path, node)),
        }
    }
    Ok(())
}

/// Adds the arrays of a group whose metadata are all in one place. Returns whether they are.
fn consolidated(place: &dyn Place, path: &str, found: &mut Vec<(String, Node)>) -> Result<bool> {
    let read = |name: &str| -> Result<Option<Value>> {
        place.text(&key(path, name))?.map(|bytes| json::read(&bytes)).transpose()
    };
    let of_v3 = read("zarr.json")?.and_then(|all| all.get("consolidated_metadata")?.get("metadata").cloned());
    let is_v3 = of_v3.is_some();
    let all = match of_v3 {
        Some(all) => Some(all),
        None => read(".zmetadata")?.and_then(|all| all.get("metadata").cloned()),
    };
    let Some(all) = all else { return Ok(false) };
    let all = Object::new(&all, "metadata")?;
    for (name, value) in all.map() {
        let (name, node) = if is_v3 {
            (name.as_str(), meta::read(value))
        } else {
            let Some(name) = name.strip_suffix("/.zarray") else { continue };
            let attributes = all.get(&format!("{name}/.zattrs")).and_then(Value::as_object).cloned();
            (name, meta::read_v2(value, attributes.unwrap_or_default()))
        };
        check_path(name)?;
        match node.map_err(|error| within(&format!("{}/{name}", place.name()), &error))? {
            Node::Group(_) => {}
            node => found.push((key(path, name), node)),
        }
    }
    Ok(true)
}

/// Checks that a path of an array stays within its store.
///
/// # Errors
/// A part that is empty, `.` or `..`, or one that is not a name of a file everywhere.
pub(super) fn check_path(path: &str) -> Result<()> {
    let is_name = |part: &str| {
        !part.is_empty()
            && !part.bytes().all(|byte| byte == b'.')
            && !part.starts_with("__")
            && part.len() <= 255
            && !part.contains(|c: char| c == '\\' || c.is_control())
            && !["zarr.json", ".zarray", ".zgroup", ".zattrs", ".zmetadata"].contains(&part)
    };
    match path.split('/').find(|part| !is_name(part)) {
        None => Ok(()),
        Some(part) => Err(Error::new(format!("{part:?} in the path of an array, {path:?}"))
            .rule("each part of a path is the name of a folder in the store")
            .accepts("names such as model/layers.0.weight; --rename OLD=NEW changes them")),
    }
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

impl Pieces for Array {
    fn count(&self) -> u64 {
        self.shards().grid().count()
    }

    fn saved(&self) -> Option<&Named> {
        self.saved.as_ref()
    }

    fn within(&self, memory: u64) -> u64 {
        let each = self.shards().largest().map_or(u64::MAX, |layout| layout.bytes()).max(1);
        (memory / each).clamp(1, 4096)
    }

    fn list(&self) -> Option<Result<(Layout, Element)>> {
        let shards = self.shards();
        let element = shards.element();
        let list = || Ok((Layout::row_major(&shards.grid().sizes(), 8 * element.bytes())?, element));
        self.attributes().contains_key(NOTE).then(list)
    }

    fn put(
        &self,
        pieces: Range<u64>,
        (to, element): (&Layout, Element),
        bytes: &mut [u8],
        pool: &dyn Pool,
    ) -> Result<()> {
        let transfers = Transfers::new(self.shards().element(), element)?;
        let held = match Read::is_far(self) {
            true => fetch(self, pieces.clone(), &Threads::new(pool.width().max(AT_A_TIME)))?,
            false => fetch(self, pieces.clone(), pool)?,
        };
        for (piece, held) in pieces.zip(held) {
            move_piece(self, &transfers, (piece, &held), (to, bytes), pool)?;
            held.intact()?;
            held.forget();
        }
        Ok(())
    }
}

/// Reads several pieces, each on any thread.
fn fetch(array: &Array, pieces: Range<u64>, pool: &dyn Pool) -> Result<Vec<Held<'static>>> {
    let count = (pieces.end - pieces.start) as usize; // as many as were said to be within memory
    let slots: Vec<Mutex<Option<Result<Held<'static>>>>> = (0..count).map(|_| Mutex::new(None)).collect();
    let has_failed = AtomicBool::new(false);
    pool.run(count, &|task| {
        if !has_failed.load(Ordering::Relaxed) {
            let read = array.held(pieces.start + task as u64);
            has_failed.fetch_or(read.is_err(), Ordering::Relaxed);
            *slots[task].lock().unwrap_or_else(PoisonError::into_inner) = Some(read);
        }
    });
    let mut held = Vec::with_capacity(count);
    let mut failed = None;
    for slot in slots {
        match slot.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(Ok(one)) => held.push(one),
            Some(Err(error)) => failed = failed.or(Some(error)),
            None => {}
        }
    }
    failed.map_or(Ok(held), Err)
}

/// Moves one piece to its place in a layout of the whole array.
fn move_piece(
    array: &Array,
    transfers: &Transfers,
    (piece, held): (u64, &Held),
    (to, bytes): (&Layout, &mut [u8]),
    pool: &dyn Pool,
) -> Result<()> {
    let shards = array.shards();
    let region = shards.grid().region(piece)?;
    let layout = shards.layout(piece)?;
    let to = Side { layout: to, start: &region.start };
    match held.bytes() {
        Some(source) => {
            let from = Side { layout: &layout, start: &vec![0; region.start.len()] };
            transfers.run(pool, &region.size, (from, source), (to, bytes))
        }
        None => transfers.fill(pool, &region.size, (shards.fill(), layout.bits()), (to, bytes)),
    }
}
