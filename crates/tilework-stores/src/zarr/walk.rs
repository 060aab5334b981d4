//! What is in a store: the metadata under its paths.

use std::sync::OnceLock;

use serde_json::{Map, Value};
use tilework::{Error, ErrorKind, Result};
use tilework_copy::{Pool, Threads};

use super::json::{self, Object};
use super::meta::{self, Node};
use super::open::within;
use super::place::Place;
use crate::far::AT_A_TIME;

/// The deepest groups that are looked into.
const DEEPEST: usize = 32;

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

/// What is at each of several paths; of a place that is far away, several are asked for at once.
pub(crate) fn nodes(place: &dyn Place, paths: &[&str]) -> Result<Vec<Option<Node>>> {
    let found: Vec<OnceLock<Result<Option<Node>>>> = paths.iter().map(|_| OnceLock::new()).collect();
    let threads = if place.is_far() { AT_A_TIME.min(paths.len()).max(1) } else { 1 };
    Threads::new(threads).run(paths.len(), &|at| {
        let _ = found[at].set(node(place, paths[at])); // each once
    });
    found.into_iter().map(|one| one.into_inner().unwrap_or(Ok(None))).collect()
}

/// A name below a path.
pub(crate) fn key(path: &str, name: &str) -> String {
    match (path, name) {
        ("", name) => name.to_owned(),
        (path, "") => path.to_owned(),
        (path, name) => format!("{path}/{name}"),
    }
}

/// Adds the arrays and the groups in a group, in the order of their names; also those in folders that are no groups, where
/// `looks_on`.
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
    let paths: Vec<String> = folders.iter().map(|name| key(path, name)).collect();
    let nodes = nodes(place, &paths.iter().map(String::as_str).collect::<Vec<&str>>())?;
    for (path, node) in paths.into_iter().zip(nodes) {
        match node {
            None if !looks_on || left == 0 => {}
            Some(Node::Group(_)) if left == 0 => {
                return Err(Error::new(format!("{}/{path} is a group", place.name()))
                    .of_kind(ErrorKind::Limit)
                    .rule(format!("groups are looked into {DEEPEST} deep")));
            }
            None => walk_below(place, &path, looks_on, left - 1, found)?,
            Some(Node::Group(attributes)) => {
                found.push((path.clone(), Node::Group(attributes)));
                walk_below(place, &path, looks_on, left - 1, found)?;
            }
            Some(node) => found.push((path, node)),
        }
    }
    Ok(())
}

/// Adds the arrays and groups of a group whose metadata are all in one place. Returns whether they are.
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
            let of = |name: &str| all.get(&format!("{name}/.zattrs")).and_then(Value::as_object).cloned();
            match (name.strip_suffix("/.zarray"), name.strip_suffix("/.zgroup")) {
                (Some(name), _) => (name, meta::read_v2(value, of(name).unwrap_or_default())),
                (_, Some(name)) => (name, Ok(Node::Group(of(name).unwrap_or_default()))),
                _ => continue,
            }
        };
        check_path(name)?;
        let node = node.map_err(|error| within(&format!("{}/{name}", place.name()), &error))?;
        found.push((key(path, name), node));
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
