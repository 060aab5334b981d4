//! Writing checkpoints: a file for each device, with the parts that it has.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use serde::{Deserialize, Serialize};
use tilework::sharding::{Mesh, Named, Sharding};
use tilework::{Error, ErrorKind, Result};
use tilework_copy::{MappedMut, Pool};
use tilework_files::container::{Content, Head, Pattern, Placed, safetensors_head};
use tilework_files::{fits_on_disk, folder_of};

use super::{Checkpoint, OFFSETS, SIZES, Sharded};
use crate::far::{Address, is_address};
use crate::gather::Gather;
use crate::job::missing;
use crate::orbax;
use crate::region::Region;
use crate::stage::{Job as Begun, Stage};
use crate::store::Space;
use crate::transfer::Transfers;
use crate::zarr;

/// Which tensors are cut how: those whose names a pattern matches, or all that it fits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    /// The pattern; without one the rule is tried on every tensor.
    pub names: Option<String>,
    /// The sharding, as XLA or JAX write it.
    pub sharding: String,
}

/// A checkpoint for other devices: what is to be done, as data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reshard {
    /// Where the checkpoint is.
    pub from: PathBuf,
    /// The new folder.
    pub to: PathBuf,
    /// The mesh that specs of JAX name axes of.
    pub mesh: Option<String>,
    /// The rules; the last that matches a name counts.
    pub rules: Vec<Rule>,
    /// Which tensors; all without patterns.
    pub only: Vec<String>,
    /// Whether a part that several devices have is in the file of the first of them alone.
    pub once: bool,
    /// Whether the checkpoint is one for JAX, as Orbax restores it: a Zarr array for each tensor, with the parts as its chunks.
    #[serde(default)]
    pub orbax: bool,
    /// What compresses the chunks of one for JAX: none, zstd:3, gzip:6; none without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compression: Option<String>,
}

/// What is written, or was.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Written {
    /// Files, one for each device.
    pub files: u64,
    /// Bytes of all files, if their headers are as long as the first.
    pub bytes: u128,
    /// Bytes of tensors that are read.
    pub read: u128,
    /// Parts of source tensors that are read, each counted for each part that has elements of it.
    pub requests: u128,
    /// Bytes of the first device's file, than which none is much larger; of chunks, those of the largest.
    pub largest: u64,
    /// Chunks of arrays, of a checkpoint for JAX.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chunks: Option<u64>,
    /// Tensors that no rule fits, so every device has all of them.
    pub replicated: Vec<String>,
    /// The first tensors that are cut unevenly: the dimension, its size and the number of parts.
    pub uneven: Vec<(String, usize, u64, u64)>,
}

/// An open job: each device is a task.
pub struct Open<'a> {
    pub(super) job: &'a Reshard,
    pub(super) from: Checkpoint,
    pub(super) tensors: Vec<Cut>,
    pub(super) devices: u64,
    written: Written,
}

/// A tensor by its number, and how it is cut.
pub(super) struct Cut {
    pub(super) number: usize,
    pub(super) sharding: Sharding,
    /// The same in words of a mesh, where it was said so.
    pub(super) named: Option<Named>,
}

/// A part of a tensor in a device's file.
struct Entry<'a> {
    tensor: &'a Sharded,
    region: Region,
    content: Content,
}

/// Devices of a checkpoint for JAX, whose shardings list them.
const MOST_DEVICES: u64 = 1 << 16;

/// Bytes that are summed at a time.
const STEP: usize = 1 << 20;

/// The name of a device's file.
pub fn file_name(device: u64) -> String {
    format!("shard-{:05}-model-00001-of-00001.safetensors", u128::from(device) + 1)
}

impl Reshard {
    /// Opens the checkpoint, and reads the rules.
    ///
    /// # Errors
    /// Those of [`Checkpoint::open`], rules that are no shardings or do not fit the tensors that they name, shardings over several
    /// numbers of devices, a target that is within the source, and one that its disk cannot hold.
    pub fn open(&self) -> Result<Open<'_>> {
        let mesh =
            self.mesh.as_deref().map(Mesh::parse).transpose().map_err(|error| error.field("--mesh"))?;
        if let Some(to) = Address::of(&self.to)? {
            to.to_write()?;
        }
        crate::stage::apart(&self.from, &self.to)?;
        let from = Checkpoint::open_for(&self.from, &self.to)?;
        let only: Vec<Pattern> = self.only.iter().map(|text| Pattern::new(text)).collect();
        let mut rules = Vec::new();
        for rule in &self.rules {
            let names = rule.names.as_deref().map(Pattern::new);
            let sharding = Sharding::parse(&rule.sharding, mesh.as_ref())
                .map_err(|error| Error::new(format!("--spec {}: {error}", rule.sharding)))?;
            rules.push((names, sharding, Named::parse(&rule.sharding, mesh.as_ref()).ok()));
        }
        let mut tensors = Vec::new();
        let mut written = Written::default();
        let mut devices: Option<(u64, String)> =
            mesh.as_ref().map(|mesh| (mesh.devices(), format!("the mesh {mesh}")));
        for (number, tensor) in from.tensors().iter().enumerate() {
            if !only.is_empty() && !only.iter().any(|pattern| pattern.matches(&tensor.name)) {
                continue;
            }
            let rank = tensor.shards.grid().cuts().len();
            let mut found = None;
            for (names, sharding, named) in rules.iter().rev() {
                match (names, sharding.widened(rank)) {
                    (None, Ok(wide)) => found = Some((wide, named.clone())),
                    (None, Err(_)) => continue,
                    (Some(names), _) if !names.matches(&tensor.name) => continue,
                    (Some(_), Ok(wide)) => found = Some((wide, named.clone())),
                    (Some(_), Err(error)) => {
                        return Err(Error::new(format!("tensor {:?}: {error}", tensor.name)));
                    }
                }
                break;
            }
            let (sharding, named) = found.unwrap_or_else(|| {
                written.replicated.push(tensor.name.clone());
                let named = mesh.clone().and_then(|mesh| Named::new(mesh, Vec::new()).ok());
                (Sharding::replicated(None), named)
            });
            if let Some((dim, size, parts)) = sharding.uneven(&tensor.shards.grid().sizes())? {
                written.uneven.push((tensor.name.clone(), dim, size, parts));
            }
            match (sharding.devices(), &devices) {
                (Some(count), None) => devices = Some((count, format!("{:?}", tensor.name))),
                (Some(count), Some((other, name)))
                    if count > *other || (count != *other && sharding.rank().is_some()) =>
                {
                    return Err(Error::new(format!(
                        "tensor {:?} is cut over {count} devices, and {name} has {other}",
                        tensor.name
                    ))
                    .rule("all tensors are on the same devices"));
                }
                _ => {}
            }
            tensors.push(Cut { number, sharding, named });
        }
        if tensors.is_empty() {
            return Err(Error::new(format!("{} has no tensor that is wanted", from.name()))
                .accepts("--only with a pattern of its names"));
        }
        let (devices, _) = devices.unwrap_or((1, String::new()));
        let tensors = tensors.into_iter().map(|cut| match cut.sharding.devices() {
            None => Cut { sharding: Sharding::replicated(Some(devices)), ..cut },
            Some(_) => cut,
        });
        let mut open = Open { job: self, tensors: tensors.collect(), devices, written, from };
        if self.compression.is_some() && !self.orbax {
            return Err(Error::new("a compression of files of safetensors")
                .field("--compress")
                .rule("the chunks of a checkpoint for JAX are compressed, and files of safetensors are not")
                .accepts("--orbax"));
        }
        if self.orbax {
            if devices > MOST_DEVICES {
                return Err(Error::new(format!("a checkpoint for {devices} devices"))
                    .of_kind(ErrorKind::Limit)
                    .rule("it has a list of them for each array")
                    .accepts(format!("up to {MOST_DEVICES}")));
            }
            let arrays = open.arrays()?;
            orbax::check(&arrays)?;
            arrays.iter().try_for_each(|array| zarr::fits(&self.to, &array.spec()?))?;
        }
        open.count()?;
        if !is_address(&self.to) {
            fits_on_disk(&folder_of(&self.to), open.written.bytes, &self.to.display().to_string())?;
        }
        Ok(open)
    }
}

impl Open<'_> {
    /// The checkpoint that is read.
    pub fn from(&self) -> &Checkpoint {
        &self.from
    }

    /// The numbers of the tensors that are read.
    pub(crate) fn numbers(&self) -> Vec<usize> {
        self.tensors.iter().map(|cut| cut.number).collect()
    }

    /// How many devices there are: as many tasks.
    pub fn devices(&self) -> u64 {
        self.devices
    }

    /// What is written, when all of it is.
    pub fn written(&self) -> &Written {
        &self.written
    }

    /// Counts what is written, without looking at every device: those that have the first part have the largest files.
    fn count(&mut self) -> Result<()> {
        let mut written = std::mem::take(&mut self.written);
        written.files = self.devices;
        let mut chunk = 0;
        for Cut { number, sharding, .. } in &self.tensors {
            let tensor = &self.from.tensors()[*number];
            let grid = tensor.shards.grid();
            let target = crate::Grid::regular(&grid.sizes(), &sharding.part_sizes(&grid.sizes())?)?;
            let pairs = grid.cuts().iter().zip(target.cuts()).map(|(a, b)| a.pairs(b)).product::<u128>();
            let parts: u64 = sharding.parts(grid.cuts().len())?.iter().product();
            let copies = match sharding.devices() {
                _ if self.is_once() => 1,
                Some(devices) if sharding.rank().is_some() => u128::from(devices / parts.max(1)),
                Some(devices) if sharding.is_replicated() => devices.into(),
                _ => 1,
            };
            written.read += tensor.shards.element_bytes() * copies;
            written.requests += pairs * copies;
            if self.job.orbax {
                let bytes = target.piece_bytes(tensor.shards.element());
                chunk = chunk.max(bytes);
                *written.chunks.get_or_insert(0) += target.count();
                written.bytes += u128::from(bytes) * u128::from(target.count());
            }
        }
        if self.job.orbax {
            written.largest = chunk;
            self.written = written;
            return Ok(());
        }
        let head = self.head(0)?.1;
        written.largest = head.file_bytes;
        written.bytes = written.read + head.bytes.len() as u128 * u128::from(self.devices);
        self.written = written;
        Ok(())
    }

    /// Whether a part that several devices have is written by the first of them alone. A chunk is in one place.
    fn is_once(&self) -> bool {
        self.job.once || self.job.orbax
    }

    /// What a device's file has.
    fn entries(&self, device: u64) -> Result<Vec<Entry<'_>>> {
        let mut entries = Vec::new();
        for Cut { number, sharding, .. } in &self.tensors {
            let tensor = &self.from.tensors()[*number];
            let sizes = tensor.shards.grid().sizes();
            let Some(part) = sharding.part(&sizes, device)? else { continue };
            // A tensor without elements is on every device, so that it is somewhere.
            if (part.size.contains(&0) && !sizes.contains(&0)) || (self.is_once() && part.copy > 0) {
                continue;
            }
            let packed = tensor.shards.largest()?.bits() < 8;
            let placed = Placed::dense(tensor.shards.element(), &part.size, packed)?;
            let region = Region { start: part.start, size: part.size };
            entries.push(Entry { tensor, region, content: Content::Array(placed) });
        }
        Ok(entries)
    }

    fn head(&self, device: u64) -> Result<(Vec<Entry<'_>>, Head)> {
        let entries = self.entries(device)?;
        #[derive(Serialize)]
        struct Offsets<'a> {
            saved_offsets: &'a [u64],
        }
        let offsets: std::collections::BTreeMap<&str, Offsets> = entries
            .iter()
            .map(|entry| (entry.tensor.name.as_str(), Offsets { saved_offsets: &entry.region.start }))
            .collect();
        let sizes: std::collections::BTreeMap<&str, Vec<u64>> = entries
            .iter()
            .map(|entry| (entry.tensor.name.as_str(), entry.tensor.shards.grid().sizes()))
            .collect();
        let [offsets, sizes] = [serde_json::to_string(&offsets), serde_json::to_string(&sizes)]
            .map(|text| text.map_err(|error| Error::new(error.to_string())));
        let (offsets, sizes) = (offsets?, sizes?);
        let own = [(OFFSETS, offsets.as_str()), ("DCP_VERSION", "1.0"), (SIZES, sizes.as_str())];
        let texts = self.from.metadata().iter().map(|(key, value)| (key.as_str(), value.as_str()));
        let mut texts: Vec<(&str, &str)> = texts.chain(own).collect();
        if !texts.iter().any(|(key, _)| *key == "format") {
            texts.push(("format", "pt"));
        }
        let named: Vec<(&str, &Content)> =
            entries.iter().map(|entry| (entry.tensor.name.as_str(), &entry.content)).collect();
        let head = safetensors_head(&named, texts)?;
        Ok((entries, head))
    }

    /// The folder of a run, which goes on where one was that did the same.
    ///
    /// # Errors
    /// A folder that exists, one that cannot be made, and one that another job has begun, or this with other sources.
    pub fn stage(&self) -> Result<Arc<Stage>> {
        // The stamp says which source it is; the same paths look different from another working folder.
        let job = Reshard { from: PathBuf::new(), to: PathBuf::new(), ..self.job.clone() };
        let what = serde_json::to_string(&job).map_err(|error| Error::new(error.to_string()))?;
        let job = Begun { source: &self.job.from, stamp: &self.from.stamp()?, what: &what };
        Stage::of_job(&self.job.to, &job).map(Arc::new)
    }

    /// Writes a device's file, unless it is there and is what was written. Returns whether it was written.
    ///
    /// # Errors
    /// A full disk, and a source that was cut short meanwhile.
    pub fn task(&self, device: u64, stage: &Arc<Stage>, pool: &dyn Pool, window: u64) -> Result<bool> {
        if self.job.orbax {
            return self.chunks(device, stage, pool, window);
        }
        let name = file_name(device);
        if stage.has(&name)? {
            return Ok(false);
        }
        let (entries, head) = self.head(device)?;
        let file = stage.file(&name)?;
        file.fits(head.file_bytes)?;
        let mut map = MappedMut::create(file.file(), head.file_bytes).map_err(|error| file.failed(&error))?;
        map[..head.bytes.len()].copy_from_slice(&head.bytes);
        let touched = AtomicU64::new(0);
        for (entry, &place) in entries.iter().zip(&head.places) {
            let Content::Array(placed) = &entry.content else { continue }; // all are arrays
            let parts = self.from.parts(entry.tensor);
            let element = entry.tensor.shards.element();
            let transfers = Transfers::new(element, element)?;
            let gather = Gather { from: &parts, transfers: &transfers, pool, window, touched: &touched };
            let mut space =
                Within { map: &mut map, start: place as usize, len: placed.layout.bytes() as usize };
            let region = (&entry.region, &placed.layout);
            gather
                .run(region, &mut space, &mut HashMap::new(), &|_| false)
                .map_err(|error| Error::new(format!("tensor {:?}: {error}", entry.tensor.name)))?;
        }
        let mut sum = crc32fast::Hasher::new();
        for start in (0..map.len()).step_by(STEP) {
            sum.update(&map[start..map.len().min(start + STEP)]);
            map.forget();
        }
        drop(map);
        stage.keep(&name, file, (head.file_bytes, sum.finalize()))?;
        Ok(true)
    }

    /// Gives the folder its name, when all devices' parts are there.
    ///
    /// # Errors
    /// The first part that is missing, and what the system refuses.
    pub fn finish(&self) -> Result<()> {
        // The folder as it is now: with what other processes have written since.
        let stage = self.stage()?;
        if self.job.orbax {
            self.finish_arrays(&stage)?;
            return stage.finish();
        }
        for device in 0..self.devices {
            let name = file_name(device);
            if !stage.has(&name)? {
                return Err(missing(&name, "the job", device, self.devices));
            }
        }
        stage.finish()
    }
}

/// A part of a mapped file.
struct Within<'a> {
    map: &'a mut MappedMut,
    start: usize,
    len: usize,
}

impl Space for Within<'_> {
    fn bytes(&mut self) -> &mut [u8] {
        &mut self.map[self.start..self.start + self.len]
    }

    fn forget(&mut self) {
        self.map.forget();
    }

    fn is_mapped(&self) -> bool {
        true
    }
}
