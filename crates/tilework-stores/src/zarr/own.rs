//! What the store that a container is says of itself, read once: in a bucket each question is a request.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use tilework::Result;
use tilework_files::container::{Container, Format, Job};

use super::json;
use super::meta::Meta;
use super::open::{Found, found};
use super::place::Place;
use super::read::Array;

/// The attributes of groups by their paths.
pub(super) type Groups = BTreeMap<String, Map<String, Value>>;

/// What a store says; nothing of other files.
#[derive(Debug, Default)]
pub(super) struct Own {
    /// Whether the container is one array, and not a group of one.
    pub(super) is_alone: bool,
    place: Option<Arc<dyn Place>>,
    /// Where each array is, and what is said of it.
    arrays: HashMap<String, (String, Meta)>,
    /// The groups below the root.
    groups: Groups,
    /// The attributes of the root, of a group.
    root: Option<Map<String, Value>>,
    /// Whether the root says what is in all of it.
    pub(super) is_consolidated: bool,
}

impl Own {
    /// # Errors
    /// A store that is not what it was when the container was opened.
    pub(super) fn of(from: &Container) -> Result<Own> {
        if from.format() != Format::Zarr {
            let is_file = !Path::new(from.name()).is_dir();
            let is_alone =
                from.format() == Format::Npy && from.files() == 1 && from.tensors().len() == 1 && is_file;
            return Ok(Own { is_alone, ..Own::default() });
        }
        let Found { place, arrays, groups, root, kind, .. } = found(Path::new(from.name()))?;
        let is_store = kind.is_none();
        let is_consolidated = is_store && root.is_some() && is_consolidated(&*place)?;
        Ok(Own {
            is_alone: is_store && root.is_none(),
            arrays: arrays.into_iter().filter_map(|entry| entry.into_meta()).collect(),
            groups: groups.into_iter().collect(),
            root: root.filter(|_| is_store),
            place: Some(place),
            is_consolidated,
        })
    }

    /// What is said of the array of a job.
    pub(super) fn meta(&self, job: &Job) -> Option<&Meta> {
        self.arrays.get(&job.tensor.name).map(|(_, meta)| meta)
    }

    /// The array of a job, chunk by chunk.
    ///
    /// # Errors
    /// Chunks of sizes that no array has.
    pub(super) fn array(&self, job: &Job) -> Result<Option<Array>> {
        let (Some(place), Some((path, meta))) = (&self.place, self.arrays.get(&job.tensor.name)) else {
            return Ok(None);
        };
        Array::new(Arc::clone(place), path, meta.clone()).map(Some)
    }

    /// The attributes of new groups. The root has what is said of the container as a whole: of a store as it is, and else as texts.
    /// Below, a group has what the store says of the one that an array comes from; and where all arrays stay what they are called,
    /// so do groups without any.
    pub(super) fn attributes_of(&self, from: &Container, jobs: &[Job], mut groups: Groups) -> Groups {
        if jobs.len() == from.tensors().len() && jobs.iter().all(|job| job.name == job.tensor.name) {
            groups.extend(self.groups.clone());
        } else {
            for job in jobs {
                for (old, new) in above(&job.tensor.name).zip(above(&job.name)) {
                    if let (Some(attributes), Some(of)) = (self.groups.get(old), groups.get_mut(new)) {
                        // Of several groups that become one, the first counts.
                        attributes.iter().for_each(|(key, value)| {
                            of.entry(key).or_insert_with(|| value.clone());
                        });
                    }
                }
            }
        }
        let texts = || from.texts().into_iter().map(|(key, value)| (key.to_owned(), json!(value))).collect();
        groups.insert(String::new(), self.root.clone().unwrap_or_else(texts));
        groups
    }
}

/// The groups that an array of this path is in, below the root.
pub(super) fn above(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(end, _)| &path[..end])
}

fn is_consolidated(place: &dyn Place) -> Result<bool> {
    let of_v3 = place.text("zarr.json")?.map(|bytes| json::read(&bytes)).transpose()?;
    match of_v3 {
        Some(root) => Ok(root.get("consolidated_metadata").is_some_and(Value::is_object)),
        None => place.has(".zmetadata"),
    }
}
