//! Reading checkpoints.

use std::collections::BTreeMap;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value};
use tilework::sharding::Named;
use tilework::{Error, Layout, Result};
use tilework_copy::Mapped;
use tilework_files::container::{Container, Content, Data, Fetch, Placed, Tensor};

use super::{OFFSETS, SIZES};
use crate::cut::Cut;
use crate::far::is_address;
use crate::grid::Grid;
use crate::open::{self, At, is_store, scratch_of};
use crate::orbax::Leaf;
use crate::region::Region;
use crate::shards::{Form, Shards};
use crate::stamp::Stamp;
use crate::store::{Cost, Held, Read};
use crate::zarr;
use crate::zarr::open::Entry;
use crate::zarr::place::Place;

/// The files of a checkpoint, and what they have.
pub struct Checkpoint {
    files: Vec<Container>,
    tensors: Vec<Sharded>,
    metadata: Vec<(String, String)>,
    /// Of the tree of a checkpoint of JAX, the entries that are no arrays.
    pub(super) others: Map<String, Value>,
    /// Where the arrays are, of a store.
    store: Option<Arc<dyn Place>>,
    /// What was unpacked, into files without names in a folder, by the numbers of the file and of the tensor there.
    unpacked: Mutex<HashMap<(usize, usize), Unpacked>>,
    scratch: PathBuf,
    name: String,
}

/// What was unpacked, and its name for messages.
type Unpacked = (Arc<Mapped>, String);

/// A tensor in parts.
pub struct Sharded {
    /// What it is called.
    pub name: String,
    /// How it is cut.
    pub shards: Shards,
    /// What the tree of a checkpoint of JAX says of it.
    pub(super) leaf: Option<Leaf>,
    from: From,
}

/// Where the parts of a tensor are.
enum From {
    /// The numbers of its file and of the tensor there, of each part.
    Files(Vec<(usize, usize)>),
    /// The chunks of an array.
    Array(Box<zarr::Array>),
}

impl Sharded {
    /// How devices held it when it was saved, where the checkpoint says it.
    pub fn saved(&self) -> Option<&Named> {
        match &self.from {
            From::Files(_) => None,
            From::Array(array) => array.saved.as_ref(),
        }
    }
}

/// A part as a file has it.
struct Found {
    start: Vec<u64>,
    place: (usize, usize),
}

impl Checkpoint {
    /// Opens a file, an index, a folder of files that have parts, or a store of arrays in chunks, as a checkpoint of JAX is.
    ///
    /// # Errors
    /// What is no checkpoint; parts that are missing, overlap, or are of several types; and tensors that are not read, such as
    /// quantised blocks.
    pub fn open(path: &Path) -> Result<Checkpoint> {
        Checkpoint::open_in(path, std::env::temp_dir())
    }

    /// The same for a new file or folder `out`: what is fetched or unpacked on the way is beside that.
    pub(crate) fn open_for(path: &Path, out: &Path) -> Result<Checkpoint> {
        Checkpoint::open_in(path, scratch_of(out))
    }

    fn open_in(path: &Path, scratch: PathBuf) -> Result<Checkpoint> {
        let name = path.display().to_string();
        if is_store(path)? {
            return Checkpoint::of_store(path, name, scratch);
        }
        let files =
            files(path)?.iter().map(|path| open_one(path, &scratch)).collect::<Result<Vec<Container>>>()?;
        let mut found: BTreeMap<String, Vec<Found>> = BTreeMap::new();
        let mut metadata: Vec<(String, String)> = Vec::new();
        let mut sizes: HashMap<String, Vec<u64>> = HashMap::new();
        for (number, file) in files.iter().enumerate() {
            let within = |error: Error| Error::new(format!("{}: {error}", file.name()));
            let mut offsets = HashMap::new();
            for (key, value) in file.metadata() {
                match key.as_str() {
                    OFFSETS => offsets = read_offsets(value).map_err(within)?,
                    SIZES => {
                        let found: HashMap<String, Vec<u64>> =
                            serde_json::from_str(value).map_err(|error| {
                                within(Error::new(format!("{SIZES}: {error}")).accepts(r#"{"w": [64, 300]}"#))
                            })?;
                        sizes.extend(found);
                    }
                    "DCP_VERSION" => {}
                    _ if metadata.iter().any(|(other, _)| other == key) => {}
                    _ => metadata.push((key.clone(), value.clone())),
                }
            }
            for (place, tensor) in file.tensors().iter().enumerate() {
                let rank = array(&tensor.name, &tensor.content).map_err(within)?.layout.rank();
                let start = offsets.remove(&tensor.name).unwrap_or_else(|| vec![0; rank]);
                if start.len() != rank {
                    return Err(within(
                        Error::new(format!(
                            "tensor {:?} of {rank} dimensions begins at {start:?}",
                            tensor.name
                        ))
                        .rule("a part begins at as many numbers as it has dimensions"),
                    ));
                }
                found.entry(tensor.name.clone()).or_default().push(Found { start, place: (number, place) });
            }
        }
        let tensors = found.into_iter().map(|(name, parts)| {
            sharded(&files, &name, parts, sizes.get(&name))
                .map_err(|error| Error::new(format!("tensor {name:?}: {error}")))
        });
        let tensors = tensors.collect::<Result<Vec<Sharded>>>()?;
        Ok(Checkpoint::new(name, files, tensors, metadata, scratch))
    }

    fn of_store(path: &Path, name: String, scratch: PathBuf) -> Result<Checkpoint> {
        let zarr::open::Found { place, arrays, texts, others, .. } = zarr::open::found(path)?;
        let sharded = |mut entry: Entry| {
            let (name, leaf) = (entry.name.clone(), entry.leaf.take());
            let array = entry.array(&place)?;
            Ok(Sharded { name, shards: array.shards().clone(), leaf, from: From::Array(Box::new(array)) })
        };
        let mut tensors = arrays.into_iter().map(sharded).collect::<Result<Vec<Sharded>>>()?;
        tensors.sort_by(|a, b| a.name.cmp(&b.name));
        let found = Checkpoint::new(name, Vec::new(), tensors, texts, scratch);
        Ok(Checkpoint { others, store: Some(place), ..found })
    }

    fn new(
        name: String,
        files: Vec<Container>,
        tensors: Vec<Sharded>,
        metadata: Vec<(String, String)>,
        scratch: PathBuf,
    ) -> Checkpoint {
        let unpacked = Mutex::default();
        Checkpoint { files, tensors, metadata, others: Map::new(), store: None, unpacked, scratch, name }
    }

    /// The bytes of a tensor of a file: what is large and has to be unpacked is so once.
    fn held(&self, (file, place): (usize, usize)) -> Result<Held<'_>> {
        let container = &self.files[file];
        let read = || container.data(&container.tensors()[place], &self.scratch);
        let mapped = |(map, name): &Unpacked| Held::mapped(Arc::clone(map), 0..map.len(), name.clone());
        let known = || self.unpacked.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known().get(&(file, place)) {
            return mapped(found);
        }
        // Two threads that want it at once unpack it twice, and none waits for another tensor.
        Ok(match read()? {
            Data::Held(array) => Held::borrowed(array),
            Data::Unpacked(bytes) => Held::owned(bytes),
            Data::Scratch(map, name) => {
                mapped(known().entry((file, place)).or_insert((Arc::new(map), name)))?
            }
        })
    }

    /// Its name, for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many files it is.
    pub fn files(&self) -> usize {
        self.files.iter().map(Container::files).sum::<usize>().max(1)
    }

    /// Whether its arrays are in a store that a server has, and so are read chunk by chunk over a network.
    pub fn is_far(&self) -> bool {
        self.store.as_ref().is_some_and(|place| place.is_far())
    }

    /// The names, lengths and times of its files, as they are now.
    ///
    /// # Errors
    /// A store that cannot be listed any more.
    pub fn stamp(&self) -> Result<Stamp> {
        if let Some(place) = &self.store {
            return Ok(place.stamp("")?.unwrap_or_default());
        }
        let mut stamp = Stamp::default();
        self.files.iter().for_each(|file| stamp.add_container(file));
        Ok(stamp)
    }

    /// The tensors, by their names.
    pub fn tensors(&self) -> &[Sharded] {
        &self.tensors
    }

    /// What else the files say that is text.
    pub fn metadata(&self) -> &[(String, String)] {
        &self.metadata
    }

    /// The most bytes of memory that a part of a tensor takes when it is read from its file.
    fn memory(&self, tensor: &Sharded) -> u64 {
        let From::Files(places) = &tensor.from else { return 0 };
        let of = |&(file, at): &(usize, usize)| {
            let file = &self.files[file];
            file.memory(&file.tensors()[at])
        };
        places.iter().map(of).max().unwrap_or(0)
    }

    /// What of the tensors of these numbers a server has, and is not fetched yet.
    pub(crate) fn missing(&self, numbers: &[usize]) -> Fetch {
        Fetch::all(self.of_files(numbers).map(|(file, tensors)| file.missing(tensors.into_iter())))
    }

    /// Fetches these; `progress` is called with how many bytes are there.
    pub(crate) fn fetch(&self, numbers: &[usize], progress: &(dyn Fn(u64) + Sync)) -> Result<()> {
        let mut before = 0;
        for (file, tensors) in self.of_files(numbers) {
            let bytes = file.missing(tensors.iter().copied()).bytes;
            file.fetch(tensors.into_iter(), &|done| progress(before + done))?;
            before += bytes;
        }
        Ok(())
    }

    /// The parts of tensors in each file.
    fn of_files(&self, numbers: &[usize]) -> impl Iterator<Item = (&Container, Vec<&Tensor>)> {
        let mut all: Vec<Vec<&Tensor>> = self.files.iter().map(|_| Vec::new()).collect();
        for &number in numbers {
            if let From::Files(places) = &self.tensors[number].from {
                places.iter().for_each(|&(file, at)| all[file].push(&self.files[file].tensors()[at]));
            }
        }
        self.files.iter().zip(all)
    }

    /// A tensor, to be read.
    pub fn parts<'a>(&'a self, tensor: &'a Sharded) -> Parts<'a> {
        Parts { checkpoint: self, tensor }
    }
}

/// A tensor of an open checkpoint.
pub struct Parts<'a> {
    checkpoint: &'a Checkpoint,
    tensor: &'a Sharded,
}

impl Read for Parts<'_> {
    fn shards(&self) -> &Shards {
        &self.tensor.shards
    }

    fn get(&self, piece: u64) -> Result<Held<'_>> {
        self.tensor.shards.grid().coordinates(piece)?;
        let (file, place) = match &self.tensor.from {
            From::Array(array) => return array.get(piece),
            From::Files(places) => places[piece as usize], // one for each
        };
        self.checkpoint.held((file, place))
    }

    fn cost(&self) -> Result<Cost> {
        if let From::Array(array) = &self.tensor.from {
            return array.cost();
        }
        let bytes = self.tensor.shards.largest()?.bytes();
        let memory = self.checkpoint.memory(self.tensor);
        // What is unpacked in memory is unpacked whole, whatever is wanted of it.
        Ok(Cost { memory, bytes, requests: 1, partial: memory == 0, coding: 0 })
    }
}

fn open_one(path: &Path, scratch: &Path) -> Result<Container> {
    match is_address(path) {
        true => open::open_file(path, None, scratch),
        false => Container::open(path),
    }
}

/// The files of a checkpoint: one that is a container by itself, or all that have parts.
fn files(path: &Path) -> Result<Vec<PathBuf>> {
    if is_address(path) {
        return match open::at(path)? {
            At::Files(files) => Ok(files),
            At::Store => Ok(vec![path.to_owned()]),
        };
    }
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let fail = |error: std::io::Error| Error::new(format!("{}: {error}", path.display()));
    let mut found = Vec::new();
    for entry in std::fs::read_dir(path).map_err(fail)? {
        let path = entry.map_err(fail)?.path();
        let name = path.to_string_lossy();
        if name.ends_with(".safetensors.index.json") && !name.contains("/.") {
            found.clear();
            break;
        }
        if name.ends_with(".safetensors") && path.is_file() {
            found.push(path);
        }
    }
    found.sort();
    match found.len() {
        0 | 1 => Ok(vec![path.to_owned()]),
        _ => Ok(found),
    }
}

/// Where the parts of a file begin.
fn read_offsets(text: &str) -> Result<HashMap<String, Vec<u64>>> {
    #[derive(serde::Deserialize)]
    struct Entry {
        saved_offsets: Vec<u64>,
    }
    let found: HashMap<String, Entry> = serde_json::from_str(text).map_err(|error| {
        Error::new(format!("{OFFSETS}: {error}"))
            .rule("it says where each part begins in its tensor")
            .accepts(r#"{"w": {"saved_offsets": [32, 0]}}"#)
    })?;
    Ok(found.into_iter().map(|(name, entry)| (name, entry.saved_offsets)).collect())
}

fn array<'a>(name: &str, content: &'a Content) -> Result<&'a Placed> {
    match content {
        Content::Array(array) => Ok(array),
        Content::Blocks(blocks) => Err(Error::new(format!("tensor {name:?} is {blocks}"))
            .rule("blocks of quantised numbers are not cut")
            .accepts("--only with a pattern of other names")),
        Content::Unread { why, .. } => Err(why.clone()),
    }
}

/// A tensor of these parts: they are the cells of a grid, each there once, or again as a copy.
fn sharded(files: &[Container], name: &str, parts: Vec<Found>, sizes: Option<&Vec<u64>>) -> Result<Sharded> {
    let of = |found: &Found| array(name, &files[found.place.0].tensors()[found.place.1].content);
    let first = of(&parts[0])?.clone();
    let mut edges: Vec<Vec<u64>> = vec![vec![0]; first.layout.rank()];
    for found in &parts {
        let part = of(found)?;
        if part.element != first.element || part.layout.rank() != first.layout.rank() {
            return Err(Error::new(format!("a part is {}, and another {}", first.said, part.said))
                .rule("all parts of a tensor have one type and as many dimensions"));
        }
        for (edges, (start, size)) in edges.iter_mut().zip(found.start.iter().zip(part.layout.dims())) {
            let end = start.checked_add(*size).filter(|&end| end <= i64::MAX as u64);
            let end = end.ok_or_else(|| Error::new(format!("a part of {size} from {start} on")))?;
            edges.extend([*start, end]);
        }
    }
    let is_empty = edges.iter().any(|edges| edges.iter().all(|&edge| edge == 0));
    let cuts = edges.into_iter().map(|mut edges| {
        edges.sort_unstable();
        edges.dedup();
        Cut::at(edges)
    });
    let grid = Grid::new(cuts.collect::<Result<_>>()?)?;
    if let Some(sizes) = sizes.filter(|&sizes| *sizes != grid.sizes()) {
        return Err(Error::new(format!(
            "the parts end at {:?}, and the files say that it has {sizes:?}",
            grid.sizes()
        ))
        .rule("all parts of a tensor are there")
        .accepts("the files of all devices"));
    }
    let form = match &parts[..] {
        // Alone it may lie in any layout.
        [_] if !is_empty => Form::sized({
            let layout = first.layout.clone();
            move |_| Ok(layout.clone())
        }),
        _ => Form::rows(first.layout.bits()),
    };
    let shards = Shards::new(first.element, grid, form)?;
    let grid = shards.grid();
    // Every cell has a part of its own, so there are no more cells than parts; one that says otherwise is not believed.
    if grid.count() > parts.len() as u64 {
        return Err(lost(&shards, &parts, &of));
    }
    let mut places = vec![None; grid.count() as usize];
    for found in &parts {
        let part = of(found)?;
        if part.layout.is_empty() {
            continue;
        }
        let region = Region { start: found.start.clone(), size: part.layout.dims().to_vec() };
        let cell =
            grid.touching(&region).next().filter(|&cell| grid.region(cell).is_ok_and(|own| own == region));
        let Some(cell) = cell else {
            return Err(Error::new(format!(
                "a part of {:?} at {:?} that others cut",
                region.size, region.start
            ))
            .rule("parts are cells of a grid: each there once, or again as a copy"));
        };
        if parts.len() > 1
            && !part.layout.same_buffer(&Layout::row_major(part.layout.dims(), part.layout.bits())?).is_yes()
        {
            return Err(
                Error::new(format!("a part is {}", part.said)).rule("the parts of a tensor are row-major")
            );
        }
        places[cell as usize].get_or_insert(found.place);
    }
    match places.into_iter().collect::<Option<Vec<_>>>() {
        Some(places) => Ok(Sharded { name: name.to_owned(), shards, leaf: None, from: From::Files(places) }),
        None => Err(lost(&shards, &parts, &of)),
    }
}

/// The error where a part is in no file.
fn lost<'a>(shards: &Shards, parts: &[Found], of: &dyn Fn(&Found) -> Result<&'a Placed>) -> Error {
    let grid = shards.grid();
    let cells = (0..grid.count()).take(parts.len() + 1).filter_map(|cell| grid.region(cell).ok());
    let is_there = |region: &Region| {
        parts.iter().any(|found| {
            found.start == region.start && of(found).is_ok_and(|part| part.layout.dims() == region.size)
        })
    };
    let what = match cells.into_iter().find(|region| !is_there(region)) {
        Some(region) => format!("no file has the part of {:?} at {:?}", region.size, region.start),
        None => "a part is in no file".to_owned(),
    };
    Error::new(what)
        .rule(format!("the parts that are there are those of a tensor of {:?}", grid.sizes()))
        .accepts("the files of all devices")
}
