//! A database as a place.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use tilework::{Error, Result};

use super::node::{self, Entries, File, Value};
use super::{EACH, MANIFEST, MOST, too_large};
use crate::stamp::Stamp;
use crate::zarr::open::within;
use crate::zarr::place::{Object, Place};

/// Data files that are held open: neighbours are in one.
const OPEN: usize = 16;

/// An open database.
#[derive(Debug)]
pub(crate) struct Database {
    place: Arc<dyn Place>,
    /// All keys, ascending.
    keys: Vec<(Box<[u8]>, Held)>,
    /// The bytes of the nodes that have values.
    bodies: Vec<Arc<Vec<u8>>>,
    /// The paths of files.
    files: Vec<String>,
    open: Mutex<VecDeque<(usize, Arc<Object>)>>,
}

/// Where a value is.
#[derive(Clone, Copy, Debug)]
enum Held {
    /// The number of a body, where it begins there, and its length.
    Inline(u32, u32, u32),
    /// The number of a file, where it begins there, and its length.
    At(u32, u64, u64),
}

/// What is left of the memory for all nodes, and the numbers of files.
struct Walk<'a> {
    place: &'a dyn Place,
    left: u64,
    numbers: HashMap<String, u32>,
    open: Option<(String, Object)>,
    found: Found,
}

#[derive(Default)]
struct Found {
    keys: Vec<(Box<[u8]>, Held)>,
    bodies: Vec<Arc<Vec<u8>>>,
    files: Vec<String>,
}

impl Database {
    /// Opens the database in a place; none if none is there.
    ///
    /// # Errors
    /// A manifest or a node that cannot be right, files that are missing or end too early, and keys that take more memory than
    /// [`MOST`].
    pub(crate) fn open(place: &Arc<dyn Place>) -> Result<Option<Database>> {
        let Some(framed) = place.text(MANIFEST)? else { return Ok(None) };
        let named = |error: Error| within(&format!("{}/{MANIFEST}", place.name()), &error);
        let root = node::manifest(&framed, MOST).map_err(named)?;
        let mut walk = Walk {
            place: &**place,
            left: MOST,
            numbers: HashMap::new(),
            open: None,
            found: Found::default(),
        };
        if let Some((span, height)) = root.at {
            walk.node(&root.files[span.file], (span.start, span.len), height, &[])?;
        }
        let Found { keys, bodies, files } = walk.found;
        Ok(Some(Database { place: Arc::clone(place), keys, bodies, files, open: Mutex::default() }))
    }

    /// The numbers of the keys that begin so.
    fn beginning<'a>(&'a self, with: &'a [u8]) -> &'a [(Box<[u8]>, Held)] {
        let start = self.keys.partition_point(|(key, _)| &**key < with);
        let rest = &self.keys[start..];
        &rest[..rest.partition_point(|(key, _)| key.starts_with(with))]
    }

    /// A file with data.
    fn file(&self, number: u32) -> Result<Option<Arc<Object>>> {
        let number = number as usize;
        let held = || self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, found)) = held().iter().find(|(other, _)| *other == number) {
            return Ok(Some(Arc::clone(found)));
        }
        let Some(object) = self.place.open(&self.files[number])? else { return Ok(None) };
        let object = Arc::new(object);
        let mut open = held();
        if open.len() >= OPEN {
            open.pop_front();
        }
        open.push_back((number, Arc::clone(&object)));
        Ok(Some(object))
    }
}

impl Walk<'_> {
    fn take(&mut self, bytes: u64) -> Result<()> {
        self.left = self.left.checked_sub(bytes).ok_or_else(too_large)?;
        Ok(())
    }

    /// Adds the keys of a node and of all below it; `before` stands before all of them.
    fn node(&mut self, file: &File, (start, len): (u64, u64), height: u8, before: &[u8]) -> Result<()> {
        let is_open = self.open.as_ref().is_some_and(|(name, _)| *name == file.path);
        if !is_open {
            let object = self.place.open(&file.path)?.ok_or_else(|| lost(self.place, &file.path))?;
            self.open = Some((file.path.clone(), object));
        }
        let Some((_, object)) = &self.open else { return Ok(()) }; // just opened
        let named = |error: Error| within(&format!("{}/{}", self.place.name(), file.path), &error);
        let end = start.checked_add(len).filter(|&end| end <= object.len());
        let end = end.ok_or_else(|| {
            named(
                Error::new(format!("a file of {} bytes", object.len()))
                    .rule(format!("a node of {len} bytes begins at {start}"))
                    .accepts("the file as it was written"),
            )
        })?;
        let held = object.part(start..end)?;
        let read = node::node(held.bytes().unwrap_or_default(), &file.base, height, self.left);
        // First: of a file that was cut short a part was read as zeros.
        held.intact()?;
        let node = read.map_err(|error| named(within(&format!("the node at byte {start}"), &error)))?;
        // Many small nodes are bounded as few large ones are.
        self.take(EACH * 16 + node.body.len() as u64)?;
        let Entries::Values(values) = node.entries else {
            let Entries::Nodes(nodes) = node.entries else { return Ok(()) };
            self.take(node.keys.iter().map(|key| EACH + key.len() as u64).sum())?;
            for (key, (span, common)) in node.keys.iter().zip(nodes) {
                let prefix = [before, &key[..common]].concat();
                self.node(&node.files[span.file], (span.start, span.len), height - 1, &prefix)?;
            }
            return Ok(());
        };
        let numbers = node.files.iter().map(|file| self.number(&file.path)).collect::<Result<Vec<u32>>>()?;
        let body = u32::try_from(self.found.bodies.len()).map_err(|_| too_large())?;
        let mut has_inline = false;
        for (key, value) in node.keys.iter().zip(values) {
            let key: Box<[u8]> = [before, key].concat().into();
            self.take(EACH + key.len() as u64)?;
            if self.found.keys.last().is_some_and(|(last, _)| *last >= key) {
                return Err(named(Error::new("keys that do not ascend from node to node")));
            }
            let held = match value {
                // A body is no longer than MOST.
                Value::Inline(range) => {
                    has_inline = true;
                    Held::Inline(body, range.start as u32, range.len() as u32)
                }
                Value::At(span) => Held::At(numbers[span.file], span.start, span.len),
            };
            self.found.keys.push((key, held));
        }
        if has_inline {
            self.found.bodies.push(Arc::new(node.body));
        }
        Ok(())
    }

    /// The number of a file among all.
    fn number(&mut self, path: &str) -> Result<u32> {
        if let Some(&number) = self.numbers.get(path) {
            return Ok(number);
        }
        self.take(EACH + 2 * path.len() as u64)?;
        let number = u32::try_from(self.found.files.len()).map_err(|_| too_large())?;
        self.numbers.insert(path.to_owned(), number);
        self.found.files.push(path.to_owned());
        Ok(number)
    }
}

fn lost(place: &dyn Place, path: &str) -> Error {
    Error::new(format!("{}/{path} is missing", place.name()))
        .rule("a database is its manifest and all files that it names")
        .accepts("the whole folder as it was written")
}

impl Place for Database {
    fn name(&self) -> String {
        self.place.name()
    }

    fn open(&self, key: &str) -> Result<Option<Object>> {
        let found = self.keys.binary_search_by(|(other, _)| (**other).cmp(key.as_bytes()));
        let Ok(at) = found else { return Ok(None) };
        let (number, start, len) = match self.keys[at].1 {
            Held::Inline(body, start, len) => {
                let (start, len) = (start as usize, len as usize);
                return Ok(Some(Object::Held(Arc::clone(&self.bodies[body as usize]), start..start + len)));
            }
            Held::At(number, start, len) => (number, start, len),
        };
        let path = &self.files[number as usize];
        let file = self.file(number)?.ok_or_else(|| lost(&*self.place, path))?;
        match start.checked_add(len).filter(|&end| end <= file.len()) {
            Some(end) => Ok(Some(Object::Within(file, start..end))),
            None => Err(Error::new(format!("{}/{path} has {} bytes", self.place.name(), file.len()))
                .rule(format!("{key} is {len} bytes of it, from {start} on"))
                .accepts("the file as it was written")),
        }
    }

    fn is_far(&self) -> bool {
        self.place.is_far()
    }

    fn stamp(&self, _: &str) -> Result<Option<Stamp>> {
        self.place.stamp("") // any key may be in any file
    }

    fn folders(&self, key: &str) -> Result<Option<Vec<String>>> {
        let before = if key.is_empty() { String::new() } else { format!("{key}/") };
        let mut found: Vec<String> = Vec::new();
        for (key, _) in self.beginning(before.as_bytes()) {
            let rest = &key[before.len()..];
            let Some(end) = rest.iter().position(|&byte| byte == b'/') else { continue };
            // Others are no names of arrays.
            let Ok(name) = std::str::from_utf8(&rest[..end]) else { continue };
            if found.last().is_none_or(|last| last != name) {
                found.push(name.to_owned());
            }
        }
        // "a.b/" stands before "a/", and names are not sorted as keys are.
        found.sort();
        found.dedup();
        Ok(Some(found))
    }
}
