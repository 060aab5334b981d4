//! New stores: one array, or a group with the arrays of a container.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value, json};
use tilework::zarr::Array as Grid3;
use tilework::{Element, Error, Layout, Result, System};
use tilework_copy::{Inline, MappedMut, Pool, Relayout};
use tilework_files::container::{
    Change, Container, Content, Format, How, Job, Placed, WriteError, Written, body,
};
use tilework_files::{Array as Bytes, npy, scratch_file};

use super::meta::{Meta, Node};
use super::new::{Compression, NewArray, Spec};
use super::open::{NOTE, check_path, node, within};
use super::place::Folder;
use super::read::Array;
use crate::region::Region;
use crate::stage::{Job as Begun, Stage};
use crate::stamp::Stamp;
use crate::store::{Read, Write};
use crate::transfer::{Side, Transfers};

/// The bytes of a chunk where nobody says how an array is cut.
const CHUNK: u64 = 16 << 20;

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
    NewArray::new(Arc::new(Stage::new(out, false)?), "", spec.meta())
}

/// Goes on with a new store of one array, or begins it: what is complete of this array stays. Several processes may write one
/// store, each other pieces.
///
/// # Errors
/// Those of [`create`], and an unfinished store of another array, or of a source that has changed since.
pub(crate) fn go_on(out: &Path, spec: &Spec, (source, stamp): (&Path, &Stamp)) -> Result<NewArray> {
    let what = format!("{:#}\n", spec.meta().to_json()?);
    let stage = Stage::of_job(out, &Begun { source, stamp, what: &what })?;
    NewArray::new(Arc::new(stage), "", spec.meta())
}

/// Writes arrays of a container into a new store: as a group with their names as paths, or as one array where the container is one.
/// A layout that Zarr has a word for, of chunks, shards or an order of dimensions, is stored so; any other as the list of its places,
/// with a note in the attributes.
///
/// # Errors
/// Names that are no paths, a store that exists, sources that were cut short, a full disk. Then nothing has the name.
pub fn write(
    from: &Container,
    jobs: &[Job],
    store: Store,
    out: &Path,
    how: &How,
) -> std::result::Result<Written, WriteError> {
    let is_alone = is_alone(from) && jobs.len() == 1;
    let mut paths = BTreeSet::new();
    for job in jobs.iter().filter(|_| !is_alone) {
        check_path(&job.name)?;
        if !paths.insert(job.name.as_str()) {
            return Err(Error::new(format!("two arrays called {:?}", job.name)).rule("names differ").into());
        }
    }
    let groups = groups(&paths)?;
    let stored: Vec<Stored> =
        jobs.iter().map(|job| Stored::of(job, store, is_alone.then_some(from))).collect::<Result<_>>()?;
    let stage = Arc::new(Stage::new(out, false)?);
    if !is_alone {
        let attributes: Map<String, Value> =
            from.texts().into_iter().map(|(key, value)| (key.to_owned(), json!(value))).collect();
        for group in groups {
            let attributes = if group.is_empty() { attributes.clone() } else { Map::new() };
            let key = if group.is_empty() { "zarr.json".to_owned() } else { format!("{group}/zarr.json") };
            let group = json!({"zarr_format": 3, "node_type": "group", "attributes": attributes});
            stage.put(&key, format!("{group:#}\n").as_bytes())?;
        }
    }
    let folder = out.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut written = Written { files: 1, ..Written::default() };
    let mut done = 0;
    for (job, stored) in jobs.iter().zip(&stored) {
        let named = |error: Error| within(&format!("{:?}", job.name), &error);
        let path = if is_alone { "" } else { &job.name };
        let array = NewArray::new(Arc::clone(&stage), path, stored.spec.meta()).map_err(named)?;
        let bytes = array.shards().element_bytes().try_into().unwrap_or(u64::MAX);
        let one = One { from, job, stored, array: &array, how, done, bytes };
        one.write(&stage, path, folder).map_err(|error| match error {
            WriteError::Bad(error) => WriteError::Bad(named(error)),
            WriteError::Differs(error) => WriteError::Differs(named(error)),
        })?;
        done += bytes;
        (how.progress)(done);
        written.bytes += array.stored_bytes();
    }
    stage.finish()?;
    Ok(written)
}

/// Whether a container is one array, and not a group of one.
fn is_alone(from: &Container) -> bool {
    match from.format() {
        Format::Npy => from.files() == 1 && from.tensors().len() == 1 && !Path::new(from.name()).is_dir(),
        Format::Zarr => {
            let root = node(&Folder(from.name().into()), "");
            matches!(root, Ok(Some(Node::Array(_) | Node::Unread(..))))
        }
        _ => false,
    }
}

/// The groups that these arrays are in, the root first.
///
/// # Errors
/// An array within another.
fn groups(paths: &BTreeSet<&str>) -> Result<BTreeSet<String>> {
    let mut groups = BTreeSet::from([String::new()]);
    for path in paths {
        for (end, _) in path.match_indices('/') {
            let group = &path[..end];
            if paths.contains(group) {
                return Err(Error::new(format!("an array {path:?} in an array {group:?}"))
                    .rule("in a store a path is an array or a group")
                    .accepts("--rename OLD=NEW"));
            }
            groups.insert(group.to_owned());
        }
    }
    Ok(groups)
}

/// Sizes of chunks of about so many bytes: an array is cut along its most major dimensions.
///
/// ```
/// use tilework_stores::zarr::chunks_of;
/// assert_eq!(chunks_of(&[100, 1000, 1000], &[0, 1, 2], 4, 16 << 20), [4, 1000, 1000]);
/// ```
pub fn chunks_of(dims: &[u64], order: &[usize], element_bytes: u64, bytes: u64) -> Vec<u64> {
    let mut chunks: Vec<u64> = dims.iter().map(|&size| size.max(1)).collect();
    let count = |chunks: &[u64]| chunks.iter().fold(element_bytes, |all, &size| all.saturating_mul(size));
    for &dim in order {
        if count(&chunks) <= bytes {
            break;
        }
        chunks[dim] = 1;
        chunks[dim] = (bytes / count(&chunks).max(1)).clamp(1, dims[dim].max(1));
    }
    chunks
}

/// How an array of a container is stored.
struct Stored {
    spec: Spec,
    /// Whether a list of its places is stored, and what lies how stands in a note.
    is_list: bool,
}

impl Stored {
    /// `alone`: the container whose metadata are the array's own.
    fn of(job: &Job, store: Store, alone: Option<&Container>) -> Result<Stored> {
        let content = job.content();
        let body = body(Format::Zarr, &job.name, &content, false)?;
        let mut attributes = Map::new();
        if let Some(from) = alone {
            attributes.extend(from.texts().into_iter().map(|(key, value)| (key.to_owned(), json!(value))));
        }
        let spec = |array: Grid3, element: Element, dims: &[u64]| Spec {
            compression: store.compression,
            ..Spec::new(array, element, dims)
        };
        if let Content::Array(placed) = &content
            && let Some(array) = grid_of(placed)
        {
            let mut spec = spec(array?, placed.element, placed.layout.dims());
            spec.names = placed.said.axes().cloned();
            spec.attributes = attributes;
            return Ok(Stored { spec, is_list: false });
        }
        let element = Element::from_name_in(System::Numpy, &body.word)
            .ok_or_else(|| Error::new(format!("an array of {}", body.word)))?;
        let rows: Vec<usize> = (0..body.dims.len()).collect();
        let chunks = chunks_of(&body.dims, &rows, element.bytes().into(), CHUNK);
        let mut spec = spec(Grid3::new(element, &body.dims, &chunks, None, None)?, element, &body.dims);
        spec.attributes = attributes;
        spec.attributes.extend(body.note.map(|note| (NOTE.to_owned(), json!(note))));
        Ok(Stored { spec, is_list: true })
    }
}

/// The chunks of an array, if Zarr has words for its layout.
fn grid_of(placed: &Placed) -> Option<Result<Grid3>> {
    let (layout, element) = (&placed.layout, placed.element);
    let (dims, width) = (layout.dims(), u64::from(element.bytes()));
    element.name_in(System::Numpy).filter(|_| u64::from(layout.bits()) == 8 * width)?;
    if let Some(array) = placed.said.get::<Grid3>() {
        return Some(Ok(array.clone()));
    }
    // Of an array that was read with names for its dimensions, the text says its chunks.
    if placed.said.dialect().name == "zarr"
        && let Ok(said) = tilework::dialect::read_one(&placed.said.to_string())
        && let Some(array) = said.get::<Grid3>()
    {
        return Some(Ok(array.clone()));
    }
    let mut order = npy::compact_order(layout, placed.said.minor_to_major().as_deref())?;
    order.reverse();
    let chunks = chunks_of(dims, &order, width, CHUNK);
    let is_rows = order.is_sorted();
    Some(Grid3::new(element, dims, &chunks, None, (!is_rows).then_some(&order[..])))
}

/// An array that is written.
struct One<'a> {
    from: &'a Container,
    job: &'a Job<'a>,
    stored: &'a Stored,
    array: &'a NewArray,
    how: &'a How<'a>,
    /// Bytes that were written before, and those of this array.
    done: u64,
    bytes: u64,
}

/// What elements come from: all bytes of an array in its layout, or its chunks, which are mapped.
enum From<'a> {
    Whole(Bytes<'a>, &'a Layout),
    Chunks(&'a Array),
}

/// Where the elements of new chunks come from.
struct Origin<'a> {
    from: From<'a>,
    transfers: Transfers,
    /// The bits of an element that the origin has not.
    fill: u128,
}

impl One<'_> {
    fn write(&self, stage: &Arc<Stage>, path: &str, scratch: &Path) -> std::result::Result<(), WriteError> {
        if let Some(chunks) = self.mapped()? {
            let (from, fill) = match (&self.job.change, &self.job.tensor.content) {
                (Change::Move(moved), Content::Array(array)) => (array.element, moved.fill),
                _ => (chunks.shards().element(), 0),
            };
            let transfers = Transfers::new(from, self.stored.spec.element)?;
            return self.pieces(&Origin { from: From::Chunks(&chunks), transfers, fill }, stage, path);
        }
        let data = self.from.data(self.job.tensor, scratch)?;
        let element = self.stored.spec.element;
        if !self.stored.is_list {
            let (layout, from, fill) = match (&self.job.change, &self.job.tensor.content) {
                (Change::Move(moved), Content::Array(array)) => {
                    (moved.relayout.plan().from(), array.element, moved.fill)
                }
                (_, Content::Array(array)) => (&array.layout, array.element, 0),
                _ => return Err(Error::new("what is no array").into()),
            };
            let transfers = Transfers::new(from, element)?;
            let from = From::Whole(data.array(), layout);
            return self.pieces(&Origin { from, transfers, fill }, stage, path);
        }
        // The places of the new layout, one after the other, are the list that is stored.
        let list = Layout::row_major(&self.stored.spec.dims, 8 * element.bytes())?;
        let transfers = Transfers::new(element, element)?;
        match &self.job.change {
            Change::Keep => {
                let from = From::Whole(data.array(), &list);
                self.pieces(&Origin { from, transfers, fill: 0 }, stage, path)
            }
            Change::Move(moved) => {
                let file = scratch_file(scratch)?;
                let fail = |error| Error::new(format!("{}: {error}", scratch.display()));
                let mut held = MappedMut::create(&file, list.bytes().max(1)).map_err(fail)?;
                let bytes = &mut held[..list.bytes() as usize];
                filled(&moved.relayout, moved.fill)?.run_on(self.how.pool, &data.array(), bytes)?;
                data.array().intact()?;
                let from = From::Whole(Bytes::from(&*bytes), &list);
                self.pieces(&Origin { from, transfers, fill: 0 }, stage, path)
            }
            Change::Repack(blocks) => Err(Error::new(format!("{blocks} in a Zarr store"))
                .rule("blocks of quantised numbers are stored as they are, and not mixed on the way")
                .accepts("GGUF first, and that to Zarr")
                .into()),
        }
    }

    /// The chunks of the source, where they are mapped: then nothing is brought together first.
    fn mapped(&self) -> Result<Option<Array>> {
        if self.from.format() != Format::Zarr || self.stored.is_list {
            return Ok(None);
        }
        let path = if is_alone(self.from) { "" } else { &self.job.tensor.name };
        let place = Arc::new(Folder(self.from.name().into()));
        let Some(Node::Array(meta)) = node(&*place, path)? else { return Ok(None) };
        if meta.attributes.contains_key(NOTE) {
            return Ok(None);
        }
        let array = Array::new(place, path, *meta)?;
        Ok(array.cost()?.partial.then_some(array))
    }

    fn pieces(&self, origin: &Origin, stage: &Arc<Stage>, path: &str) -> std::result::Result<(), WriteError> {
        let array = self.array;
        let count = array.shards().grid().count();
        let each = array.cost()?.memory.max(array.shards().largest()?.bytes()).max(1);
        let width = self.how.pool.width() as u64;
        let at_once =
            self.how.memory.map_or(width, |memory| (memory / 2 / each).clamp(1, width)).min(count.max(1));
        let workers = tilework_copy::Threads::new(at_once as usize);
        let (next, done) = (AtomicU64::new(0), AtomicU64::new(0));
        let (failed, has_failed) = (Mutex::new(None), AtomicBool::new(false));
        // One piece for each worker; where there is one piece, all threads work on it.
        let inner: &dyn Pool = if at_once > 1 { &Inline } else { self.how.pool };
        let reader = match self.how.check {
            true => {
                Some(Array::new(Arc::new(Folder(stage.path().to_owned())), path, self.stored.spec.meta())?)
            }
            false => None,
        };
        workers.run(at_once as usize, &|_| {
            loop {
                let piece = next.fetch_add(1, Ordering::Relaxed);
                if piece >= count || has_failed.load(Ordering::Relaxed) {
                    return;
                }
                let outcome = self.piece(origin, piece, inner).map_err(WriteError::Bad).and_then(|()| {
                    reader.as_ref().map_or(Ok(()), |reader| self.check(origin, piece, reader))
                });
                if let Err(error) = outcome {
                    has_failed.store(true, Ordering::Relaxed);
                    failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                    return;
                }
                let part = u128::from(self.bytes) * u128::from(done.fetch_add(1, Ordering::Relaxed) + 1);
                (self.how.progress)(self.done + (part / u128::from(count)) as u64);
            }
        });
        if let From::Whole(bytes, _) = &origin.from {
            bytes.intact()?;
        }
        failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
    }

    fn piece(&self, origin: &Origin, piece: u64, pool: &dyn Pool) -> Result<()> {
        let region = self.array.shards().grid().region(piece)?;
        let layout = self.array.shards().layout(piece)?;
        let outcome = self.array.put(piece, &mut |bytes| origin.make(&region, &layout, bytes, pool));
        if self.how.memory.is_some()
            && let From::Whole(bytes, _) = &origin.from
        {
            bytes.forget();
        }
        outcome
    }

    /// Compares the elements of a piece that was written with those that were to be written.
    fn check(&self, origin: &Origin, piece: u64, reader: &Array) -> std::result::Result<(), WriteError> {
        let region = self.array.shards().grid().region(piece)?;
        for chunk in reader.shards().grid().touching(&region) {
            let part = reader.shards().grid().region(chunk)?;
            let layout = reader.shards().layout(chunk)?;
            let held = reader.get(chunk)?;
            let mut wanted = vec![0; layout.bytes() as usize];
            origin.make(&part, &layout, &mut wanted, &Inline)?;
            if held.bytes() != Some(&wanted) {
                return Err(WriteError::Differs(Error::new(format!(
                    "elements from {:?} on differ in what was written",
                    part.start
                ))));
            }
        }
        Ok(())
    }
}

/// The same relayout, which fills padding.
fn filled(relayout: &Relayout, fill: u128) -> Result<Relayout> {
    let plan = relayout.plan();
    let options = tilework::PlanOptions { fill: Some(fill), ..plan.options().clone() };
    match relayout.conversion() {
        Some(conversion) => Relayout::converting(plan.from(), plan.to(), conversion, &options),
        None => Relayout::new(plan.from(), plan.to(), &options),
    }
}

impl Origin<'_> {
    /// Fills the bytes of a piece.
    fn make(&self, region: &Region, layout: &Layout, bytes: &mut [u8], pool: &dyn Pool) -> Result<()> {
        if self.fill != 0 {
            let element = layout.bits() as usize / 8; // whole bytes in a store
            let one = &self.fill.to_le_bytes()[..element];
            bytes.chunks_exact_mut(element).for_each(|place| place.copy_from_slice(one));
        }
        // Sizes that grow have elements that no origin has.
        let mut run = |part: &Region, (from, at): (&Layout, &[u64]), source: &[u8]| {
            let Some(shared) = region.shared(part) else { return Ok(()) };
            let (start, end) = (shared.within(at).start, shared.within(&region.start).start);
            let (from, to) = (Side { layout: from, start: &start }, Side { layout, start: &end });
            self.transfers.run(pool, &shared.size, (from, source), (to, &mut *bytes))
        };
        let array = match &self.from {
            From::Whole(source, from) => {
                let origin = vec![0; from.rank()];
                return run(&Region::whole(from.dims()), (from, &origin), source);
            }
            From::Chunks(array) => array,
        };
        let shards = array.shards();
        let Some(all) = region.shared(&Region::whole(&shards.grid().sizes())) else { return Ok(()) };
        for chunk in shards.grid().touching(&all) {
            let (part, held) = (shards.grid().region(chunk)?, array.held(chunk)?);
            match held.bytes() {
                Some(source) => run(&part, (&shards.layout(chunk)?, &part.start), source)?,
                None => {
                    let one = shards.fill().to_le_bytes();
                    let same = Layout::strided(
                        &part.size,
                        8 * shards.element().bytes(),
                        &vec![0; part.size.len()],
                        None,
                        None,
                    )?;
                    run(&part, (&same, &part.start), &one)?;
                }
            }
            held.intact()?;
            held.forget();
        }
        Ok(())
    }
}

impl Meta {
    /// What a new array like this one is.
    pub(super) fn spec(&self, compression: Compression) -> Spec {
        Spec {
            array: self.array.clone(),
            element: self.element,
            dims: self.dims.clone(),
            compression,
            fill: self.fill,
            names: self.names.clone(),
            attributes: self.attributes.clone(),
        }
    }
}

impl Array {
    /// A new array of the same sizes and type, with the same fill, names and attributes, in these chunks and, if need be, shards.
    /// Chunks lie as they do here unless `order` says otherwise, from major to minor.
    ///
    /// # Errors
    /// Chunks that are none of this array.
    pub fn rechunked(
        &self,
        chunks: &[u64],
        shards: Option<&[u64]>,
        order: Option<&[usize]>,
        compression: Compression,
    ) -> Result<Spec> {
        let mut spec = self.meta.spec(compression);
        let order = order.or(self.meta.array.order());
        spec.array = Grid3::new(self.meta.element, &self.meta.dims, chunks, shards, order)?;
        Ok(spec)
    }

    /// What compresses its chunks, as far as that can be written.
    pub fn compression(&self) -> Compression {
        use super::codec::Codec;
        let found = self.meta.codecs.iter().find_map(|codec| match codec {
            Codec::Gzip(level) => Some(Compression::Gzip(*level)),
            Codec::Zlib => Some(Compression::Gzip(6)),
            Codec::Zstd(level, _) => Some(Compression::Zstd(*level)),
            Codec::Blosc | Codec::Lz4 => Some(Compression::Zstd(1)),
            Codec::Crc32c => None,
        });
        found.unwrap_or_default()
    }
}
