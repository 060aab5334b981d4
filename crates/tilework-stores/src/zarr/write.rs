//! New stores: one array, or a group with the arrays of a container.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use tilework::{Error, Result};
use tilework_files::container::{Change, Container, Format, How, Job, WriteError, Written};

use super::new::{Compression, NewArray, Spec, fits};
use super::one::{BETWEEN, One};
use super::open::within;
use super::own::{Groups, Own, above};
use super::place::at;
use super::stored::Stored;
use super::walk::{check_path, key};
use crate::job::Rechunk;
use crate::open::scratch_of;
use crate::stage::{Job as Begun, Stage, apart};
use crate::stamp::Stamp;
use crate::store::Write;

/// How a container is stored, beside what its arrays say themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Store {
    /// What compresses the chunks.
    pub compression: Compression,
}

/// Begins a new store of one array. What an earlier run left unfinished goes.
///
/// # Errors
/// A store that exists, sizes that no array has, and what the system refuses.
pub fn create(out: &Path, spec: &Spec) -> Result<NewArray> {
    fits(out, spec)?;
    NewArray::new(Arc::new(Stage::new(out)?), "", spec.meta())
}

/// Goes on with a new store of one array, or begins it: what is complete of this array stays. Several processes may write one
/// store, each other pieces.
///
/// # Errors
/// Those of [`create`], and an unfinished store of another array, or of a source that has changed since.
pub(crate) fn go_on(out: &Path, spec: &Spec, job: &Rechunk, stamp: &Stamp) -> Result<NewArray> {
    fits(out, spec)?;
    let meta = spec.meta();
    let only = job.only.as_ref().map_or_else(String::new, |only| format!("--only {only}\n"));
    let what = format!("{only}{}", meta.to_text()?);
    let stage = Stage::of_job(out, &Begun { source: &job.from, stamp, what: &what })?;
    NewArray::new(Arc::new(stage), "", meta)
}

/// Writes arrays of a container into a new store: as a group with their names as paths, or as one array where the container is one.
/// A layout that Zarr has a word for, of chunks, shards or an order of dimensions, is stored so; any other as the list of its places,
/// with a note in the attributes.
///
/// A run that was stopped leaves a folder beside the name, and the same run goes on there: pieces whose checksums are right stay.
///
/// # Errors
/// Names that are no paths, a store that exists, another run that writes it, sources that were cut short or have changed meanwhile, a
/// full disk. Then nothing has the name.
pub fn write(
    from: &Container,
    jobs: &[Job],
    store: Store,
    out: &Path,
    how: &How,
) -> std::result::Result<Written, WriteError> {
    let own = Own::of(from)?;
    let is_alone = own.is_alone && jobs.len() == 1;
    let mut paths = BTreeSet::new();
    for job in jobs.iter().filter(|_| !is_alone) {
        check_path(&job.name)?;
        if !paths.insert(job.name.as_str()) {
            return Err(Error::new(format!("two arrays called {:?}", job.name)).rule("names differ").into());
        }
    }
    let groups = own.attributes_of(from, jobs, groups(&paths)?);
    let stored: Vec<Stored> = jobs
        .iter()
        .map(|job| Stored::of(job, store, (own.meta(job), is_alone.then_some(from)), how.memory))
        .collect::<Result<_>>()?;
    let source = Path::new(from.name());
    apart(source, out)?;
    stored.iter().try_for_each(|stored| fits(out, &stored.spec))?;
    let (before, what) = (stamp(from)?, what(jobs, &stored)?);
    let stage = Arc::new(Stage::of_job_alone(out, &Begun { source, stamp: &before, what: &what })?);
    if !is_alone {
        let of_group = |attributes: &Map<String, Value>| json!({"zarr_format": 3, "node_type": "group", "attributes": attributes});
        for (group, attributes) in &groups {
            let mut value = of_group(attributes);
            // As xarray and zarr-python write and read it: all metadata at once.
            if group.is_empty() && own.is_consolidated {
                let below = groups.iter().filter(|(group, _)| !group.is_empty());
                let mut all: Map<String, Value> =
                    below.map(|(group, attributes)| (group.clone(), of_group(attributes))).collect();
                for (job, stored) in jobs.iter().zip(&stored) {
                    all.insert(job.name.clone(), stored.spec.meta().to_json()?);
                }
                value["consolidated_metadata"] =
                    json!({"kind": "inline", "must_understand": false, "metadata": all});
            }
            stage.put_last(&key(group, "zarr.json"), format!("{value:#}\n").into_bytes())?;
        }
    }
    let scratch = &scratch_of(out);
    let (mut resumed, mut done) = (0, 0);
    for (job, stored) in jobs.iter().zip(&stored) {
        let named = |error: Error| within(&format!("{:?}", job.name), &error);
        let path = if is_alone { "" } else { &job.name };
        let array = NewArray::new(Arc::clone(&stage), path, stored.spec.meta()).map_err(named)?;
        let bytes = array.shards().element_bytes().try_into().unwrap_or(u64::MAX);
        let one = One { from, own: &own, job, stored, array, stage: &stage, path, scratch, how, done, bytes };
        let kept = one.write().map_err(|error| match error {
            WriteError::Bad(error) => WriteError::Bad(named(error)),
            WriteError::Differs(error) => WriteError::Differs(named(error)),
        })?;
        resumed += kept as usize;
        done += bytes;
        (how.progress)(done);
    }
    let same = stamp(from)?.same(&before, source, "was read at first");
    same.map_err(|error| error.accepts("a source that nobody writes meanwhile"))?;
    let bytes = stage.stored_bytes(BETWEEN);
    stage.finish()?;
    Ok(Written { files: 1, bytes, resumed })
}

/// The names, lengths and times of the files of a container.
fn stamp(from: &Container) -> Result<Stamp> {
    if from.format() == Format::Zarr {
        return Ok(at(Path::new(from.name()))?.stamp("")?.unwrap_or_default());
    }
    let mut stamp = Stamp::default();
    stamp.add_container(from);
    Ok(stamp)
}

/// What tells a store from others that are made of the same sources.
fn what(jobs: &[Job], stored: &[Stored]) -> Result<String> {
    let mut text = format!("tilework {}\n", env!("CARGO_PKG_VERSION"));
    for (job, stored) in jobs.iter().zip(stored) {
        let change = match &job.change {
            Change::Keep => String::new(),
            Change::Move(moved) => {
                let conversion = moved.relayout.conversion();
                let conversion = conversion.map(|conversion| (conversion.from(), conversion.to()));
                format!("{} {:x} {conversion:?}", moved.to.said, moved.fill)
            }
            Change::Repack(blocks) => blocks.to_string(),
        };
        let meta = stored.spec.meta().to_json()?;
        text.push_str(&format!("{:?} {:?} {change}\n{meta}\n", job.name, job.tensor.name));
    }
    Ok(text)
}

/// The groups that these arrays are in, the root first.
///
/// # Errors
/// An array within another.
fn groups(paths: &BTreeSet<&str>) -> Result<Groups> {
    let mut groups = Groups::from([(String::new(), Map::new())]);
    for path in paths {
        for group in above(path) {
            if paths.contains(group) {
                return Err(Error::new(format!("an array {path:?} in an array {group:?}"))
                    .rule("in a store a path is an array or a group")
                    .accepts("--rename OLD=NEW"));
            }
            groups.insert(group.to_owned(), Map::new());
        }
    }
    Ok(groups)
}
