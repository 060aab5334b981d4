//! Checkpoints of JAX, as Orbax writes them: arrays of Zarr by the names of a tree.
//!
//! ```text
//! _METADATA                  the tree: the keys of each value, and what it was
//! _sharding                  how devices held each array
//! _CHECKPOINT_METADATA       who wrote it, and when
//! _strings.json              values that are texts
//! array_metadatas/process_0  the chunks that each process wrote
//! manifest.ocdbt, d/…        all arrays in a database (`ocdbt/`), or
//! params.w/zarr.json, …      each in a folder
//! ```
//!
//! The array of a value is called by its keys with a dot between: `params.layers.0.w`. A checkpoint of several items (`state/`,
//! `params/`) has each in a folder of its own, and a manager of checkpoints has one for each step. [`found`] finds the arrays, and
//! [`New`] are those of a new one.

mod tree;
mod write;

pub(crate) use tree::Leaf;
#[cfg(test)]
pub(crate) use tree::base64;
pub(crate) use tree::to_base64;
pub(crate) use write::{New, check, finish};

use std::path::Path;
use std::sync::Arc;

use tilework::{Error, ErrorKind, Result};

use crate::ocdbt::{self, Database};
use crate::zarr::json;
use crate::zarr::meta::Node;
use crate::zarr::open::{Entry, Found, within};
use crate::zarr::place::{Place, at};
use crate::zarr::walk::{key, node, nodes, walk};

/// The file with the tree.
const TREE: &str = "_METADATA";

/// The file that says how devices held the arrays.
const SHARDINGS: &str = "_sharding";

/// The file that says what a folder is.
const SAVED: &str = "_CHECKPOINT_METADATA";

/// The file with values that are texts.
const TEXTS: &str = "_strings.json";

/// Whether a place is a checkpoint, or one item of one.
///
/// # Errors
/// A server that does not answer.
pub(crate) fn is_checkpoint(place: &dyn Place) -> Result<bool> {
    Ok(is_item(place, "")? || place.has(SAVED)?)
}

/// Whether arrays are in a folder itself.
fn is_item(place: &dyn Place, folder: &str) -> Result<bool> {
    Ok(place.has(&key(folder, ocdbt::MANIFEST))? || place.has(&key(folder, TREE))?)
}

/// The place that has the arrays: this one, or its only item.
fn item(path: &Path) -> Result<Arc<dyn Place>> {
    let whole = at(path)?;
    if is_item(&*whole, "")? {
        return Ok(whole);
    }
    let Some(folders) = whole.folders("")? else {
        return Err(Error::new(format!("{} is a checkpoint with items", whole.name()))
            .rule("this server cannot be listed, so nobody knows what they are called")
            .accepts(format!("the address of one, such as {}/default", whole.name())));
    };
    let mut items = Vec::new();
    for name in folders {
        if is_item(&*whole, &name)? {
            items.push(format!("{}/{name}", whole.name()));
        }
    }
    match &items[..] {
        [only] => at(Path::new(only)),
        [] => Ok(whole),
        several => Err(Error::new(format!("{} has several items", path.display()))
            .rule("each item of a checkpoint is a tree of its own")
            .accepts(format!("one of them: {}", several.join(", ")))),
    }
}

/// The arrays of a checkpoint.
///
/// # Errors
/// Several items, metadata that cannot be right, and a database that cannot be.
pub(crate) fn found(path: &Path) -> Result<Found> {
    let folder = item(path)?;
    let place: Arc<dyn Place> = match Database::open(&folder)? {
        Some(database) => Arc::new(database),
        None => Arc::clone(&folder),
    };
    let read = |name: &str| -> Result<Option<serde_json::Value>> {
        let Some(bytes) = folder.text(name)? else { return Ok(None) };
        json::read(&bytes).map(Some).map_err(|error| within(&format!("{}/{name}", folder.name()), &error))
    };
    let named = |name: &str, error: Error| within(&format!("{}/{name}", folder.name()), &error);
    let mut arrays = Vec::new();
    let mut others = serde_json::Map::new();
    let mut kind = "Orbax checkpoint";
    match read(TREE)? {
        Some(tree) => {
            let tree = tree::read(&tree).map_err(|error| named(TREE, error))?;
            let names: Vec<&str> = tree.arrays.iter().map(|(name, _)| name.as_str()).collect();
            let nodes = nodes(&*place, &names)?;
            for ((name, leaf), node) in tree.arrays.into_iter().zip(nodes) {
                let node = node.unwrap_or_else(|| unread(&name));
                let mut entry = Entry::new(name.clone(), name, node);
                entry.leaf = Some(leaf);
                arrays.push(entry);
            }
            others = tree.others;
        }
        None => {
            kind = "OCDBT";
            match node(&*place, "")? {
                Some(array @ (Node::Array(_) | Node::Unread(..))) => {
                    let name = path.file_stem().map_or_else(|| "array".into(), |stem| stem.to_string_lossy());
                    arrays.push(Entry::new(name.into_owned(), String::new(), array));
                }
                Some(Node::Group(_)) | None => {
                    let mut all = Vec::new();
                    walk(&*place, "", true, &mut all)?;
                    all.retain(|(_, node)| !matches!(node, Node::Group(_)));
                    arrays.extend(all.into_iter().map(|(path, node)| Entry::new(path.clone(), path, node)));
                }
            }
            if arrays.is_empty() {
                return Err(Error::new(format!("{} has no array", folder.name()))
                    .rule("a checkpoint has arrays of Zarr, and _METADATA says which")
                    .accepts("the folder of a checkpoint that was saved to its end"));
            }
        }
    }
    if let Some(shardings) = read(SHARDINGS)? {
        let mut shardings = tree::shardings(&shardings).map_err(|error| named(SHARDINGS, error))?;
        arrays.iter_mut().for_each(|entry| entry.saved = shardings.remove(&entry.name));
    }
    let texts = match read(TEXTS)? {
        Some(texts) => tree::texts(&texts).map_err(|error| named(TEXTS, error))?,
        None => Vec::new(),
    };
    Ok(Found { place, arrays, root: None, groups: Vec::new(), texts, others, kind: Some(kind) })
}

/// A value of the tree that has no array.
fn unread(name: &str) -> Node {
    let why = Error::new(format!("no array is called {name:?}"))
        .of_kind(ErrorKind::Unsupported)
        .rule("the tree of the checkpoint names it; a save that was stopped leaves such")
        .accepts("a checkpoint that was saved to its end");
    Node::Unread("?".to_owned(), None, why)
}
