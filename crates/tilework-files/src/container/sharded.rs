//! Shards of safetensors, and the index that says which tensor is in which.
//!
//! ```text
//! {"metadata": {"total_size": 76800}, "weight_map": {"w": "model-00001-of-00002.safetensors", …}}
//! ```
//!
//! An index names files of its own folder. A name with a folder in it would let whoever wrote the index choose which files of
//! the reader's are opened, so it is refused.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use tilework::{Error, ErrorKind, Result};

use super::json::{Reader, shown};
use super::{Container, Files, Format, Tensor, folder_of, safetensors};
use crate::source::{failed, within};

/// What the name of an index ends with.
pub(crate) const ENDING: &str = ".safetensors.index.json";

/// The longest index.
const LONGEST: u64 = 100_000_000;

/// The one container in a folder: its index, or its only file.
pub(crate) fn in_folder(folder: &Path) -> Result<PathBuf> {
    let name = folder.display().to_string();
    let fail = |error| failed(&name, &error);
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(fail)? {
        found.push(entry.map_err(fail)?.path());
    }
    found.sort();
    let with = |ending: &str| -> Vec<&PathBuf> {
        found.iter().filter(|path| path.to_string_lossy().ends_with(ending) && path.is_file()).collect()
    };
    for ending in [ENDING, ".safetensors", ".npz", ".gguf"] {
        match with(ending)[..] {
            [] => {}
            [one] => return Ok(one.clone()),
            [first, ..] => return Err(several(&name, with(ending).len(), first)),
        }
    }
    Err(other_checkpoint(&name, &found).unwrap_or_else(|| {
        Error::new(format!("{name} is a folder with no container in it")).accepts(format!(
            "a folder with a file NAME{ENDING}, one .safetensors, .npz or .gguf file, or npy files"
        ))
    }))
}

/// What is said of a folder with several files of arrays; `first` is one of them.
pub fn several(folder: &str, count: usize, first: &Path) -> Error {
    let ending = first.extension().unwrap_or_default().to_string_lossy();
    let whole = match ending == "safetensors" {
        true => format!(
            "; or the whole, of parts that devices have: tilework reshard {folder} WHOLE/ --spec '{{maximal device=0}}'"
        ),
        false => String::new(),
    };
    Error::new(format!("{folder} is a folder with {count} files that end in .{ending}"))
        .rule("shards have an index, and one file is a container")
        .accepts(format!("one of them, such as {}{whole}", first.display()))
}

/// What is said of a folder with these checkpoints of JAX, if there is one.
pub fn steps<'a>(folder: &str, steps: impl Iterator<Item = &'a PathBuf> + Clone) -> Option<Error> {
    let (count, last) = (steps.clone().count(), steps.max_by_key(|path| (path.as_os_str().len(), *path))?);
    let found = format!("{folder} is a folder of {count} checkpoint{}", if count == 1 { "" } else { "s" });
    let accepts = format!("one of them, such as {}", last.display());
    Some(Error::new(found).rule("each step is a checkpoint by itself").accepts(accepts))
}

/// What is said of a folder of checkpoints that are opened one by one, or not at all.
fn other_checkpoint(name: &str, found: &[PathBuf]) -> Option<Error> {
    let of_steps = steps(name, found.iter().filter(|path| path.join("_CHECKPOINT_METADATA").is_file()));
    if of_steps.is_some() {
        return of_steps;
    }
    let is_named = |ending: &str| {
        found.iter().any(|path| path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(ending)))
    };
    let pickled = |of: &str, instead: &str| {
        Error::new(format!("{name} is a checkpoint of {of}"))
            .of_kind(ErrorKind::Unsupported)
            .rule("its tensors are described by pickles, which are never loaded: they are programs")
            .accepts(instead)
    };
    if is_named(".distcp") || found.iter().any(|path| path.ends_with(".metadata")) {
        return Some(pickled(
            "torch.distributed.checkpoint",
            "one that HuggingFaceStorageWriter of PyTorch saved: a folder of safetensors files",
        ));
    }
    let others = [
        "latest",
        "latest_checkpointed_iteration.txt",
        "_model_states.pt",
        "_optim_states.pt",
        "model_optim_rng.pt",
    ];
    if others.into_iter().any(is_named) {
        return Some(pickled("DeepSpeed or Megatron", "its weights saved as safetensors"));
    }
    (is_named(".pt") || is_named(".pth") || is_named("pytorch_model.bin"))
        .then(|| pickled("PyTorch", "its weights saved as safetensors"))
}

/// Opens an index and all its shards.
pub(crate) fn open(path: &Path, files: &Files) -> Result<Container> {
    let name = path.display().to_string();
    let held = files.open(path)?;
    held.need_all()?;
    let (map, metadata) = index(held.bytes()).map_err(|error| within(&name, &error))?;
    held.intact()?;
    let folder = folder_of(path);
    let mut names: Vec<&String> = map.values().collect();
    names.sort();
    names.dedup();
    let missing: Vec<&&String> =
        names.iter().filter(|shard| !files.may_have(&folder.join(shard.as_str()))).collect();
    if let Some(first) = missing.first() {
        return Err(Error::new(format!("{name} names {}, which is not there", shown(first)))
            .rule(format!("all {} shards are beside their index; {} missing", names.len(), missing.len()))
            .accepts("the folder with all files of the download"));
    }
    let (mut shards, mut tensors, mut metadata) = (Vec::new(), Vec::new(), metadata);
    for shard in names {
        let held = files.open(&folder.join(shard)).map_err(|error| within(&name, &error))?;
        held.need_header(Format::Safetensors)?;
        let inside = held.read(|bytes| safetensors::read(bytes, shards.len()))?;
        // Libraries say in every shard what they wrote it for.
        for (key, value) in inside.metadata {
            if metadata.iter().all(|(own, _)| *own != key) {
                metadata.push((key, value));
            }
        }
        // The index decides where two shards have a tensor.
        tensors.extend(inside.tensors.into_iter().filter(|tensor| map.get(&tensor.name) == Some(shard)));
        shards.push(held);
    }
    if tensors.len() < map.len() {
        let there: HashMap<&str, &Tensor> =
            tensors.iter().map(|tensor| (tensor.name.as_str(), tensor)).collect();
        let lost = map.iter().find(|(name, _)| !there.contains_key(name.as_str()));
        let (tensor, shard) = lost.map_or(("", ""), |(tensor, shard)| (tensor.as_str(), shard.as_str()));
        return Err(Error::new(format!("{name} has tensor {} in {}", shown(tensor), shown(shard)))
            .rule("every tensor of the index is in its shard; this one is not"));
    }
    Ok(Container {
        name,
        format: Format::Safetensors,
        files: shards,
        tensors,
        metadata,
        raw: Vec::new(),
        lists: Vec::new(),
        pieces: Vec::new(),
        kind: None,
    })
}

type Index = (BTreeMap<String, String>, Vec<(String, String)>);

/// The tensors with their shards, and what else the index says.
fn index(text: &[u8]) -> Result<Index> {
    if text.len() as u64 > LONGEST {
        return Err(
            Error::new(format!("an index of {} bytes", text.len())).accepts(format!("up to {LONGEST} bytes"))
        );
    }
    let (mut map, mut metadata) = (None, Vec::new());
    let mut reader = Reader::new(text);
    reader.object(&mut |reader, key| match key.as_str() {
        "weight_map" => {
            let mut found = BTreeMap::new();
            reader.object(&mut |reader, tensor| {
                let shard = reader.string()?;
                is_plain(&shard)?;
                found.insert(tensor, shard);
                Ok(())
            })?;
            map = Some(found);
            Ok(())
        }
        "metadata" => reader.object(&mut |reader, key| match reader.string() {
            Ok(value) => {
                metadata.push((key, value));
                Ok(())
            }
            // Sizes, which the shards say as well.
            Err(_) => reader.skip(),
        }),
        _ => reader.skip(),
    })?;
    reader.end()?;
    let map = map.ok_or_else(|| {
        Error::new("no weight_map").rule("an index says for each tensor in which file it is, in weight_map")
    })?;
    Ok((map, metadata))
}

/// Whether a name is that of a file in the folder of the index.
fn is_plain(name: &str) -> Result<()> {
    let is_plain = !name.is_empty()
        && !name.starts_with('.')
        && !name.contains(['/', '\\', ':', '\0'])
        && Path::new(name).file_name().is_some_and(|file| file == name);
    match is_plain {
        true => Ok(()),
        false => Err(Error::new(format!("the shard {}", shown(name)))
            .rule("shards are files beside their index, named without a folder")
            .accepts("a name such as model-00001-of-00002.safetensors")),
    }
}
