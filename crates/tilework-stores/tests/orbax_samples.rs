//! Small checkpoints that Orbax wrote, and databases of TensorStore (`orbax/make.py`), are read as what they hold.

mod common;
#[path = "common/folder.rs"]
mod folder;

use std::fs;
use std::path::Path;

use common::{Sample, rows};
use folder::Folder;
use tilework::{Element, System};
use tilework_copy::Inline;
use tilework_files::container::{Container, Content, Format, Placed, safetensors_head};
use tilework_stores::checkpoint::{Reshard, Rule};
use tilework_stores::job::{Job, Rechunk};
use tilework_stores::plan::Assumed;
use tilework_stores::run::Bounds;
use tilework_stores::zarr;

type Tested = Result<(), Box<dyn std::error::Error>>;

fn all() -> Vec<Sample> {
    Sample::all(include_str!("orbax/samples.json"))
}

#[test]
fn every_checkpoint_is_read_as_what_it_holds() -> Tested {
    let scratch = Folder::new();
    for sample in all() {
        let named = |error: &dyn std::fmt::Display| format!("{:?} by {}: {error}", sample.name, sample.by);
        let folder = scratch.0.join("x");
        let _ = fs::remove_dir_all(&folder);
        sample.unpack(&folder)?;
        assert_eq!(Container::format_of(&folder), Some(Format::Zarr));
        let container = zarr::open(&folder).map_err(|error| named(&error))?;
        let names: Vec<&str> = container.tensors().iter().map(|tensor| &*tensor.name).collect();
        let mut held: Vec<&str> = sample.holds.keys().map(|name| &**name).collect();
        held.sort_unstable();
        let mut sorted = names.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, held, "{}", sample.name);
        for (name, holds) in &sample.holds {
            let (element, sizes, bytes) = rows(&container, name).map_err(|error| named(&error))?;
            assert_eq!(element.name_in(System::Numpy), Some(&*holds.r#type), "{}: {name}", sample.name);
            assert_eq!(sizes, holds.sizes, "{}: {name}", sample.name);
            assert!(bytes == holds.bytes()?, "{}", named(&format!("other elements of {name}")));
        }
        for tensor in container.tensors() {
            let saved = container.saved(tensor).map(ToString::to_string);
            assert_eq!(saved.as_ref(), sample.specs.get(&tensor.name), "{}: {}", sample.name, tensor.name);
        }
        if sample.by.starts_with("orbax") {
            assert_eq!(container.kind(), "Orbax checkpoint");
            assert_eq!(container.metadata(), [("note".to_owned(), "two layers".to_owned())]);
        }
    }
    Ok(())
}

/// Reads all arrays of a checkpoint whose files were changed.
fn changed(sample: &str, change: impl Fn(&Path)) -> Result<(), Box<dyn std::error::Error>> {
    let scratch = Folder::new();
    let folder = scratch.0.join("x");
    all().into_iter().find(|other| other.name == sample).expect(sample).unpack(&folder)?;
    change(&folder);
    let container = zarr::open(&folder)?;
    for tensor in container.tensors() {
        rows(&container, &tensor.name)?;
    }
    Ok(())
}

/// Changes the bytes of the first file of a folder.
fn edit(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let path = match path.is_dir() {
        true => {
            fs::read_dir(path).expect("a folder").flatten().map(|entry| entry.path()).min().expect("a file")
        }
        false => path.to_owned(),
    };
    let mut bytes = fs::read(&path).expect("a file");
    change(&mut bytes);
    fs::write(path, bytes).expect("a file");
}

#[test]
fn checkpoints_that_lie_are_refused_in_words() {
    let refused = |sample: &str, words: &str, change: &dyn Fn(&Path)| {
        let error = changed(sample, change).expect_err(words).to_string();
        assert!(error.contains(words), "{error}\nhas not: {words}");
    };
    let replace = |name: &'static str, old: &'static str, new: &'static str| {
        move |folder: &Path| {
            let path = folder.join(name);
            let text = fs::read_to_string(&path).expect(name);
            assert!(text.contains(old), "{text}");
            fs::write(path, text.replace(old, new)).expect(name);
        }
    };
    refused("a database", "manifest.ocdbt: it begins with", &|at| {
        edit(&at.join("manifest.ocdbt"), |all| all[0] ^= 1)
    });
    refused("a database", "the manifest says that it has", &|at| {
        edit(&at.join("manifest.ocdbt"), |all| all.push(0))
    });
    refused("a database", "the CRC-32C behind them is", &|at| {
        edit(&at.join("manifest.ocdbt"), |all| all[20] ^= 1)
    });
    refused("a database", "manifest.ocdbt: it ends too early", &|at| {
        edit(&at.join("manifest.ocdbt"), |all| all.truncate(3))
    });
    refused("a database", "the CRC-32C behind them is", &|at| edit(&at.join("d"), |all| all[99] ^= 1));
    refused("a database", "a node of", &|at| edit(&at.join("d"), |all| all.truncate(99)));
    refused("a database", "is missing", &|at| fs::remove_dir_all(at.join("d")).expect("a folder"));
    refused("two processes", "is missing; a database is its manifest", &|at| {
        fs::remove_dir_all(at.join("ocdbt.process_1/d")).expect("a folder");
    });
    refused(
        "a database",
        "an array called \"../mask\"",
        &replace("_METADATA", "\"key\": \"mask\"", "\"key\": \"../mask\""),
    );
    refused(
        "a folder each",
        "no array is called \"musk\"",
        &replace("_METADATA", "\"key\": \"mask\"", "\"key\": \"musk\""),
    );
    refused(
        "a folder each",
        "two arrays called \"mask\"",
        &replace("_METADATA", "\"key\": \"step\"", "\"key\": \"mask\""),
    );
    // What is only shown keeps nobody from reading.
    let axis = replace(
        "_sharding",
        "\\\"partition_spec\\\": [\\\"data\\\"",
        "\\\"partition_spec\\\": [\\\"dota\\\"",
    );
    changed("a folder each", axis).expect("only the sharding is another");
}

#[test]
fn a_database_of_any_bytes_is_read_or_refused() -> Tested {
    // Every byte of a node and of the manifest once changed, with a checksum that is right: nothing panics, nothing takes for ever.
    let scratch = Folder::new();
    let folder = scratch.0.join("x");
    let sample = all().into_iter().find(|sample| sample.name == "nothing compressed").expect("a sample");
    sample.unpack(&folder)?;
    let mut read = 0;
    for file in [
        folder.join("manifest.ocdbt"),
        fs::read_dir(folder.join("d"))?.flatten().map(|entry| entry.path()).min().expect("a file"),
    ] {
        let whole = fs::read(&file)?;
        for at in 0..whole.len() {
            for value in [1, 0xff] {
                let mut bytes = whole.clone();
                bytes[at] = value;
                // Of a manifest the whole has a sum, of a data file a node at its end.
                let start = bytes
                    .windows(4)
                    .rposition(|found| matches!(found, [0x0c, 0xdb, 0x3a, 0x2a] | [0x0c, 0xdb, 0x20, 0xde]));
                if let Some(start) = start {
                    let end = bytes.len() - 4;
                    let sum = crc32c(&bytes[start..end]);
                    bytes[end..].copy_from_slice(&sum.to_le_bytes());
                }
                fs::write(&file, &bytes)?;
                let Ok(container) = zarr::open(&folder) else { continue };
                read += 1;
                for tensor in container.tensors() {
                    let _ = rows(&container, &tensor.name);
                }
            }
        }
        fs::write(&file, &whole)?;
    }
    assert!(read > 0, "no change of a byte is harmless");
    Ok(())
}

/// The checksum, bit by bit.
fn crc32c(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |sum, byte| {
        (0..8).fold(
            sum ^ u32::from(*byte),
            |sum, _| if sum & 1 == 1 { sum >> 1 ^ 0x82f6_3b78 } else { sum >> 1 },
        )
    })
}

/// A job that cuts the tensors of a checkpoint over eight devices.
fn resharding(from: &Path, to: &Path, orbax: bool) -> Reshard {
    let rule = |names: Option<&str>, sharding: &str| Rule {
        names: names.map(str::to_owned),
        sharding: sharding.to_owned(),
    };
    Reshard {
        compression: (orbax && to.to_string_lossy().contains("direct")).then(|| "zstd".to_owned()),
        from: from.to_owned(),
        to: to.to_owned(),
        mesh: Some("x=4,y=2".to_owned()),
        rules: vec![
            rule(None, "P('x')"),
            rule(Some("*.w"), "P('y', 'x')"),
            rule(Some("*.1.b"), "{devices=[4,2]<=[8] last_tile_dim_replicate}"),
        ],
        only: Vec::new(),
        once: false,
        orbax,
    }
}

fn run(job: &Reshard) -> tilework::Result<()> {
    let open = job.open()?;
    let stage = open.stage()?;
    for device in 0..open.devices() {
        open.task(device, &stage, &Inline, 1 << 20)?;
        assert!(!open.task(device, &open.stage()?, &Inline, 1 << 20)?, "device {device} a second time");
    }
    open.finish()
}

#[test]
fn each_array_of_a_checkpoint_goes_into_other_chunks() -> Tested {
    let scratch = Folder::new();
    for (number, sample) in all().into_iter().enumerate() {
        // An array alone is called by its folder.
        let from = scratch.0.join(format!("{number}/x"));
        sample.unpack(&from)?;
        for (array, (name, holds)) in sample.holds.iter().enumerate() {
            if holds.sizes.contains(&0) {
                continue;
            }
            let to = scratch.0.join(format!("to{number}-{array}"));
            let (only, chunks) = (Some(name.clone()), vec![2; holds.sizes.len()]);
            let (shards, order, compression, plan) = (None, None, None, None);
            let job = Rechunk {
                from: from.clone(),
                only,
                to: to.clone(),
                chunks,
                shards,
                order,
                compression,
                plan,
            };
            let named = |error: tilework::Error| format!("{}: {name}: {error}", sample.name);
            let job = Job::Rechunk(job.planned(1 << 20, Assumed::disk(1)).map_err(named)?);
            let bounds = Bounds { threads: 1, memory: 1 << 30, window: 1 << 20 };
            let open = job.open(None, bounds).map_err(named)?;
            for (pass, &tasks) in open.passes()?.iter().enumerate() {
                open.run(pass, 0..tasks, &|_| {}).map_err(named)?;
            }
            open.finish().map_err(named)?;
            let found = zarr::open(&to)?;
            let (element, sizes, bytes) = rows(&found, &found.tensors()[0].name)?;
            assert_eq!(
                (element.name_in(System::Numpy), &sizes),
                (Some(&*holds.r#type), &holds.sizes),
                "{name}"
            );
            assert!(bytes == holds.bytes()?, "{}: other elements of {name}", sample.name);
        }
    }
    Ok(())
}

#[test]
fn checkpoints_go_to_other_devices_and_come_back() -> Tested {
    let scratch = Folder::new();
    for (number, sample) in all().into_iter().enumerate() {
        let at = |name: &str| scratch.0.join(format!("{name}{number}"));
        sample.unpack(&at("from"))?;
        run(&resharding(&at("from"), &at("parts"), false))?;
        run(&resharding(&at("parts"), &at("jax"), true))?;
        run(&resharding(&at("from"), &at("direct"), true))?;
        let from = zarr::open(&at("from"))?;
        for name in ["jax", "direct"] {
            let found = zarr::open(&at(name))?;
            assert_eq!((found.kind(), found.tensors().len()), ("Orbax checkpoint", sample.holds.len()));
            for tensor in found.tensors() {
                let (element, sizes, bytes) = rows(&from, &tensor.name)?;
                assert_eq!(
                    rows(&found, &tensor.name)?,
                    (element, sizes, bytes),
                    "{}: {}",
                    sample.name,
                    tensor.name
                );
                let saved = found.saved(tensor).map(ToString::to_string);
                let said = match &*tensor.name {
                    "step" => Some("P()"),              // no spec fits, so all devices have it
                    "params.layers.1.b" => Some("P()"), // XLA's words name no axes
                    "mask" => Some("P()"),              // JAX refuses its parts
                    name if name.ends_with(".w") => Some("P('y', 'x')"),
                    _ if sample.by.starts_with("orbax") => Some("P('x')"),
                    _ => continue,
                };
                assert_eq!(saved.as_deref(), said, "{}: {}", sample.name, tensor.name);
            }
        }
        if sample.by.starts_with("orbax") {
            // The tree is the same: lists are lists, and what is no array stays.
            let tree = |path: &Path| -> Result<serde_json::Value, Box<dyn std::error::Error>> {
                let text = fs::read_to_string(path.join("_METADATA"))
                    .or_else(|_| fs::read_to_string(path.join("default/_METADATA")))?;
                let mut tree = serde_json::from_str::<serde_json::Value>(&text)?["tree_metadata"].take();
                for entry in tree.as_object_mut().expect("an object").values_mut() {
                    entry["value_metadata"].as_object_mut().expect("an object").remove("write_shape");
                }
                Ok(tree)
            };
            assert_eq!(tree(&at("direct"))?, tree(&at("from"))?, "{}", sample.name);
            assert_eq!(zarr::open(&at("direct"))?.metadata(), from.metadata());
        }
    }
    Ok(())
}

#[test]
fn what_orbax_cannot_hold_is_refused_before_anything_is_written() -> Tested {
    let scratch = Folder::new();
    let refused = |names: &[(&str, Element)], words: &str| {
        let contents: Vec<Content> = names
            .iter()
            .map(|(_, element)| Content::Array(Placed::dense(*element, &[2], true).expect("small")))
            .collect();
        let tensors: Vec<(&str, &Content)> = names.iter().map(|(name, _)| *name).zip(&contents).collect();
        let head = safetensors_head(&tensors, Vec::new()).expect("a header");
        let (from, to) = (scratch.0.join("x.safetensors"), scratch.0.join("out"));
        let mut bytes = head.bytes.clone();
        bytes.resize(head.file_bytes as usize, 1);
        fs::write(&from, bytes).expect("a file");
        let error = run(&resharding(&from, &to, true)).expect_err(words).to_string();
        assert!(error.contains(words), "{error}\nhas not: {words}");
        assert!(fs::read_dir(&scratch.0).expect("a folder").count() == 1, "{words}: something was written");
    };
    let f32 = Element::F32;
    refused(&[("a", f32), ("a.b", f32)], "tensors \"a\" and \"a.b\"");
    refused(&[("a.b", f32), ("a.b/c", f32)], "none is within another");
    refused(&[("../a", f32)], "an array called");
    refused(&[("/a", f32)], "an array called");
    refused(&[("_METADATA", f32)], "a file of the checkpoint itself");
    refused(&[(".job", f32)], "a file of the checkpoint itself");
    refused(&[("a", Element::F4e2m1fn)], "bytes of its own");
    Ok(())
}

#[test]
fn a_checkpoint_that_has_changed_meanwhile_is_noticed() -> Tested {
    let scratch = Folder::new();
    let from = scratch.0.join("x");
    all().into_iter().find(|sample| sample.name == "a database").expect("a sample").unpack(&from)?;
    let job = resharding(&from, &scratch.0.join("jax"), true);
    let open = job.open()?;
    let before = open.from().stamp()?;
    assert_eq!(open.from().stamp()?, before);
    edit(&from.join("d"), |bytes| bytes.push(0));
    assert_ne!(open.from().stamp()?, before);
    Ok(())
}

/// Magic bytes, the length, version 0, no compression, a body and its checksum.
fn framed(magic: u32, body: &[u8]) -> Vec<u8> {
    let len = (body.len() as u64 + 18).to_le_bytes();
    let bytes = [&magic.to_be_bytes()[..], &len, &[0, 0], body].concat();
    let sum = crc32c(&bytes);
    [&bytes[..], &sum.to_le_bytes()].concat()
}

/// A database whose root is a node of another one in the folder `child`, with an array of two bytes in a file of that.
fn borrowed(folder: &Path, height: u8, above: &[u8]) -> std::io::Result<()> {
    let array = br#"{"zarr_format":2,"shape":[2],"chunks":[2],"dtype":"|u1","fill_value":0,"order":"C","compressor":null,"filters":null}"#;
    // Height 0; the file d/1; the keys a/.zarray and a/0, whose values are inline and 2 bytes from byte 1 of the file on.
    let mut node =
        [&[0, 1, 3, 0][..], b"d/1", &[2, 2, 9, 1], b"a/.zarray0", &[array.len() as u8, 2, 0, 1, 0, 1]]
            .concat();
    node.extend(array);
    let node = framed(0x0cdb_20de, &node);
    // No number, no limits, no compression; the file child/d/0, in which child/ is what its nodes begin with; a version.
    let mut manifest = vec![0; 21];
    manifest.extend([1, 9, 6]);
    manifest.extend(b"child/d/0");
    let root = framed(0x0cdb_20de, above);
    let (at, len) = if above.is_empty() { (0, node.len()) } else { (node.len(), root.len()) };
    let number = |number: usize| [number as u8 | 0x80, (number >> 7) as u8];
    manifest.extend([&[1, 1, height, 0][..], &number(at), &number(len)].concat());
    fs::create_dir_all(folder.join("child/d"))?;
    fs::write(folder.join("child/d/0"), [&node[..], &root].concat())?;
    fs::write(folder.join("child/d/1"), [9, 7, 8, 9])?;
    fs::write(folder.join("manifest.ocdbt"), framed(0x0cdb_3a2a, &manifest))
}

#[test]
fn a_node_of_another_database_names_files_within_that() -> Tested {
    let scratch = Folder::new();
    borrowed(&scratch.0, 0, &[])?;
    let (element, sizes, bytes) = rows(&zarr::open(&scratch.0)?, "a")?;
    assert_eq!((element, sizes, bytes), (Element::U8, vec![2], vec![7, 8]));
    Ok(())
}

#[test]
fn a_tree_that_leads_back_to_itself_ends() -> Tested {
    let scratch = Folder::new();
    // A node above that has the same node below it twice: the same keys a second time do not ascend.
    let above = |height: u8, at: [u8; 2], len: [u8; 2]| {
        let place = |bytes: [u8; 2]| [bytes[0] | 0x80, bytes[1], bytes[0] | 0x80, bytes[1]];
        let files = [&[height, 1, 3, 0][..], b"d/0"].concat();
        let keys = [&[2, 0, 1, 1, 0, 0][..], b"ab"].concat();
        [&files[..], &keys, &[0, 0], &place(at), &place(len), &[0; 6]].concat()
    };
    let fail = |height: u8, node: &[u8]| {
        borrowed(&scratch.0, height, node).expect("a folder");
        zarr::open(&scratch.0).map(drop).expect_err("a circle").to_string()
    };
    let len = fs::metadata({
        borrowed(&scratch.0, 0, &[])?;
        scratch.0.join("child/d/0")
    })?
    .len() as usize
        - 18; // an empty frame is behind the node
    let of = |number: usize| [number as u8, (number >> 7) as u8];
    let error = fail(1, &above(1, of(0), of(len)));
    assert!(error.contains("keys that do not ascend"), "{error}");
    // The node above itself: what leads to a node says that it is lower.
    let own = above(1, of(len), of(0)).len() + 18;
    let error = fail(1, &above(1, of(len), of(own)));
    assert!(error.contains("a node of height 1"), "{error}");
    let error = fail(1, &above(1, of(0), of(10_000)));
    assert!(error.contains("a file of"), "{error}");
    Ok(())
}
