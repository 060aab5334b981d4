//! What was made before: plans for the layouts that a program moves again and again, and layouts of texts.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{LazyLock, Mutex, PoisonError};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt, PyString};

use tilework::dialect::Known;

use crate::error::Result;
use crate::layout::PyLayout;
use crate::read;

/// Most things that are kept of each kind.
const ROOM: usize = 256;

/// Values that were used lately.
pub struct Kept<T, V> {
    entries: LazyLock<Mutex<Entries<T, V>>>,
}

struct Entries<T, V> {
    map: HashMap<Box<[T]>, (V, u64)>,
    /// Counts uses: what has the least number was used longest ago.
    now: u64,
}

impl<T: Hash + Eq, V> Kept<T, V> {
    pub const fn new() -> Kept<T, V> {
        Kept { entries: LazyLock::new(|| Mutex::new(Entries { map: HashMap::new(), now: 0 })) }
    }

    /// What `copy` takes from the value of this key.
    pub fn find<R>(&self, key: &[T], copy: impl FnOnce(&V) -> R) -> Option<R> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.now += 1;
        let now = entries.now;
        let (value, used) = entries.map.get_mut(key)?;
        *used = now;
        Some(copy(value))
    }

    /// Keeps a value; the older half goes where there is no room.
    pub fn keep(&self, key: &[T], value: V)
    where
        T: Clone,
    {
        let mut gone = Vec::new();
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.now += 1;
        let now = entries.now;
        if entries.map.len() >= ROOM {
            let mut uses: Vec<u64> = entries.map.values().map(|(_, used)| *used).collect();
            uses.sort_unstable();
            let middle = uses.get(uses.len() / 2).copied().unwrap_or(0);
            gone.extend(entries.map.extract_if(|_, (_, used)| *used < middle));
        }
        gone.extend(entries.map.insert(key.into(), (value, now)).map(|old| (Box::from([]), old)));
        drop(entries); // what goes may be Python's, and is dropped without the lock
    }
}

/// The layout that an argument says. Braces alone take type and dimensions from `like`.
pub fn layout<'py>(
    said: &Bound<'py, PyAny>,
    like: Option<(tilework::Element, &[u64])>,
) -> Result<Bound<'py, PyLayout>> {
    static TEXTS: Kept<u8, Py<PyLayout>> = Kept::new();
    if let Ok(layout) = said.cast::<PyLayout>() {
        return Ok(layout.clone());
    }
    let Ok(text) = said.cast::<PyString>() else {
        if said.is_none() || said.is_instance_of::<PyFloat>() || said.is_instance_of::<PyInt>() {
            let message = format!("a layout or its text is expected, not {}", said.get_type().name()?);
            return Err(PyTypeError::new_err(message).into());
        }
        return read::layout(said, None);
    };
    let (py, text) = (said.py(), text.to_str()?);
    let known = like.map(|(element, dims)| Known::array(dims, element)).unwrap_or_default();
    let mut key = text.as_bytes().to_vec();
    if let Some((element, dims)) = like {
        key.push(0xff); // no byte of a text
        key.extend(element.name().bytes());
        key.extend(dims.iter().flat_map(|size| size.to_le_bytes()));
    }
    if let Some(layout) = TEXTS.find(&key, |layout| layout.clone_ref(py)) {
        return Ok(layout.into_bound(py));
    }
    let made = Bound::new(py, read::read_text(text, known, None)?)?;
    TEXTS.keep(&key, made.clone().unbind());
    Ok(made)
}
