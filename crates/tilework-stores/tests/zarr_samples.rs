//! Small stores that zarr-python and TensorStore wrote (`zarr/make.py`) are read as what they hold.

mod common;
#[path = "common/folder.rs"]
mod folder;

use std::fs;
use std::path::Path;

use common::{Sample, rows};
use folder::Folder;
use tilework::dialect::{Known, Reading};
use tilework::{PlanOptions, System};
use tilework_copy::{Relayout, Threads};
use tilework_files::container::{
    Change, Compared, Container, Content, Format, How, Job, Moved, Placed, WriteError, Written, compare,
};
use tilework_stores::zarr::{self, Compression, Store};

type Tested = Result<(), Box<dyn std::error::Error>>;

fn all() -> Vec<Sample> {
    Sample::all(include_str!("zarr/samples.json"))
}

fn named(name: &str) -> Sample {
    all().into_iter().find(|sample| sample.name == name).expect(name)
}

#[test]
fn every_sample_is_read_as_what_it_holds() -> Tested {
    let scratch = Folder::new();
    for sample in all() {
        let named = |error: &dyn std::fmt::Display| format!("{:?} by {}: {error}", sample.name, sample.by);
        let folder = scratch.0.join("store.zarr");
        let _ = fs::remove_dir_all(&folder);
        sample.unpack(&folder)?;
        assert_eq!(Container::format_of(&folder), Some(Format::Zarr));
        let container = zarr::open(&folder).map_err(|error| named(&error))?;
        assert_eq!(container.tensors().len(), sample.holds.len(), "{}", sample.name);
        assert!(sample.specs.is_empty(), "no devices are known of a store");
        for (path, holds) in &sample.holds {
            let name = if path.is_empty() { "store" } else { path };
            let (element, sizes, bytes) = rows(&container, name).map_err(|error| named(&error))?;
            assert_eq!(element.name_in(System::Numpy), Some(&*holds.r#type), "{}", sample.name);
            assert_eq!(sizes, holds.sizes, "{}", sample.name);
            assert!(bytes == holds.bytes()?, "{}", named(&"other elements"));
        }
    }
    Ok(())
}

/// Writes all arrays of a container in this layout, or as they are, and checks what was written.
fn write(
    from: &Container,
    to: Option<&str>,
    compression: Compression,
    memory: Option<u64>,
    out: &Path,
) -> Result<Written, WriteError> {
    let mut jobs = Vec::new();
    for tensor in from.tensors() {
        let Content::Array(array) = &tensor.content else { continue };
        let change = match to {
            None => Change::Keep,
            Some(to) => {
                let dims = array.layout.dims();
                let known = Known::array(dims, array.element);
                let to = Placed::of(Reading::knowing(known).read_one(to)?)?;
                let relayout = Relayout::new(&array.layout, &to.layout, &PlanOptions::default())?;
                Change::Move(Box::new(Moved { to, relayout, fill: 0 }))
            }
        };
        jobs.push(Job { name: tensor.name.clone(), tensor, change });
    }
    let how = How { pool: &Threads::new(3), memory, check: true, progress: &|_| {} };
    zarr::write(from, &jobs, Store { compression }, out, &how)
}

/// Whether both hold the same.
fn same(a: &Container, b: &Container) -> Tested {
    assert_eq!(a.tensors().len(), b.tensors().len(), "{}", b.name());
    for (left, right) in a.tensors().iter().zip(b.tensors()) {
        let found = compare((a, left), (b, right), 0.0, &std::env::temp_dir())?;
        assert_eq!(found, Compared::Equal, "{} and {}", left.name, right.name);
    }
    Ok(())
}

#[test]
fn what_is_written_is_read_as_the_same() -> Tested {
    let scratch = Folder::new();
    let (folder, out) = (scratch.0.join("store.zarr"), scratch.0.join("out.zarr"));
    let kinds = [Compression::None, Compression::Zstd(3), Compression::Gzip(1)];
    for (number, sample) in all().into_iter().enumerate() {
        let _ = fs::remove_dir_all(&folder);
        sample.unpack(&folder)?;
        let from = zarr::open(&folder)?;
        let compression = kinds[number % kinds.len()];
        let memory = (number % 2 == 0).then_some(1 << 20);
        let written = write(&from, None, compression, memory, &out);
        written.map_err(|error| format!("{}: {error:?}", sample.name))?;
        let read = zarr::open(&out)?;
        same(&from, &read)?;
        // Neither names nor chunks are lost.
        for (old, new) in from.tensors().iter().zip(read.tensors()) {
            let (Content::Array(old), Content::Array(new)) = (&old.content, &new.content) else { continue };
            // Of shards within shards the outermost are written, as shards of chunks.
            let (old_text, new_text) = (old.said.to_string(), new.said.to_string());
            let words: Vec<&str> = old_text.split(" shards ").collect();
            let chunks = old_text.find(" chunks ").map_or("", |at| &old_text[at..]);
            match &words[..] {
                [array, outer, _, ..] => {
                    assert_eq!(new_text, format!("{array} shards {outer}{chunks}"), "{}", sample.name)
                }
                _ => assert_eq!(old_text, new_text, "{}", sample.name),
            }
            assert_eq!(old.said.axes(), new.said.axes(), "{}", sample.name);
        }
        assert_eq!(from.metadata(), read.metadata(), "{}", sample.name);
        fs::remove_dir_all(&out)?;
    }
    let left: Vec<_> = fs::read_dir(&scratch.0)?.filter_map(|entry| Some(entry.ok()?.file_name())).collect();
    assert_eq!(left, ["store.zarr"], "nothing is left beside the store");
    Ok(())
}

#[test]
fn every_layout_is_stored_as_chunks_or_with_a_note() -> Tested {
    let scratch = Folder::new();
    let folder = scratch.0.join("store.zarr");
    named("shards").unpack(&folder)?;
    let from = zarr::open(&folder)?;
    for (number, (to, read_as)) in [
        ("chunks (3, 4)", "s32[10,9] chunks (3, 4)"),
        ("shards (6, 8) chunks (3, 4)", "s32[10,9] shards (6, 8) chunks (3, 4)"),
        ("shards (6, 8) chunks (3, 4) order (1, 0)", "s32[10,9] shards (6, 8) chunks (3, 4) order (1, 0)"),
        ("chunks (30, 40)", "s32[10,9] chunks (30, 40)"),
        ("s32[10,9]{0,1}", "s32[10,9] chunks (10, 9) order (1, 0)"),
        ("s32[10,9]", "s32[10,9] chunks (10, 9)"),
        ("s32[10,9]{1,0:T(4,4)}", "s32[10,9]{1,0:T(4,4)}"),
        ("s32[10,9]{0,1:T(8,128)(2,1)}", "s32[10,9]{0,1:T(8,128)(2,1)}"),
    ]
    .into_iter()
    .enumerate()
    {
        for compression in [Compression::None, Compression::Zstd(1)] {
            let out = scratch.0.join(format!("{number}-{compression:?}.zarr"));
            write(&from, Some(to), compression, None, &out).map_err(|error| format!("{to}: {error:?}"))?;
            let read = zarr::open(&out)?;
            same(&from, &read)?;
            let Content::Array(array) = &read.tensors()[0].content else { return Err("no array".into()) };
            assert_eq!(array.said.to_string(), read_as, "{to}");
            // And once more, from what has a note to chunks.
            let again = scratch.0.join("again.zarr");
            write(&read, Some("chunks (4, 4)"), compression, Some(1 << 16), &again)
                .map_err(|error| format!("{to}: {error:?}"))?;
            same(&from, &zarr::open(&again)?)?;
            fs::remove_dir_all(&again)?;
        }
    }
    Ok(())
}

#[test]
fn a_store_that_exists_is_not_replaced() -> Tested {
    let scratch = Folder::new();
    let (folder, out) = (scratch.0.join("store.zarr"), scratch.0.join("out.zarr"));
    named("group").unpack(&folder)?;
    fs::create_dir(&out)?;
    fs::write(out.join("mine"), b"precious")?;
    let error = write(&zarr::open(&folder)?, None, Compression::None, None, &out).expect_err("it exists");
    assert!(matches!(&error, WriteError::Bad(error) if error.to_string().contains("exists")), "{error:?}");
    assert_eq!(fs::read(out.join("mine"))?, b"precious");
    Ok(())
}

/// Reads all arrays of a store whose files were changed.
fn changed(sample: &str, change: impl Fn(&Path)) -> String {
    let scratch = Folder::new();
    let folder = scratch.0.join("store.zarr");
    named(sample).unpack(&folder).expect("a folder");
    change(&folder);
    let read = || -> Result<(), Box<dyn std::error::Error>> {
        let container = zarr::open(&folder)?;
        for tensor in container.tensors() {
            rows(&container, &tensor.name)?;
        }
        Ok(())
    };
    read().expect_err(sample).to_string()
}

#[test]
fn stores_that_lie_are_refused_in_words() {
    let cut = |key: &'static str, len: usize| {
        move |folder: &Path| {
            let path = folder.join(key);
            let bytes = fs::read(&path).expect(key);
            fs::write(path, &bytes[..bytes.len() - len]).expect(key);
        }
    };
    let replace = |key: &'static str, old: &'static str, new: &'static str| {
        move |folder: &Path| {
            let path = folder.join(key);
            let text = fs::read_to_string(&path).expect(key);
            assert!(text.contains(old), "{text}");
            fs::write(path, text.replace(old, new)).expect(key);
        }
    };
    let flip = |key: &'static str, at: usize| {
        move |folder: &Path| {
            let path = folder.join(key);
            let mut bytes = fs::read(&path).expect(key);
            let len = bytes.len();
            bytes[len - at] ^= 0x10;
            fs::write(path, bytes).expect(key);
        }
    };
    for (found, words) in [
        (changed("plain", cut("c/0/0", 1)), "store.zarr/c/0/0: a chunk of 23 bytes; its sizes say 24"),
        (changed("plain", |folder| fs::write(folder.join("c/0/0"), [0; 25]).expect("a file")), "25 bytes"),
        (changed("gzip", cut("c/1/1", 9)), "gzip cannot decode"),
        (changed("zstd", cut("c/1/1", 3)), "zstd cannot decode"),
        (changed("crc32c", flip("c/0/0", 6)), "the CRC-32C behind them is"),
        // A chunk of 16 elements that says it has 4: what it unpacks to is more than its sizes say.
        (changed("zstd", replace("zarr.json", "4", "2")), "zstd cannot decode"),
        (changed("shards", cut("c/0/0", 40)), "the index of the shard"),
        (
            changed("shards", |folder| fs::write(folder.join("c/0/0"), [1; 20]).expect("a file")),
            "a shard of 20 bytes",
        ),
        (changed("plain shards", flip("c/0/0", 20)), "the index of the shard: bytes with the checksum"),
        (changed("plain", replace("zarr.json", "float32", "float99")), "the type"),
        (changed("plain", replace("zarr.json", "\"regular\"", "\"rectilinear\"")), "rectilinear"),
        (changed("plain", replace("zarr.json", "little", "middle")), "\"little\" or \"big\""),
        (changed("plain", replace("zarr.json", "\"fill_value\": 0.0,", "")), "no \"fill_value\""),
        (changed("plain", replace("zarr.json", "5,", "-5,")), "-5"),
        (changed("plain", replace("zarr.json", "5,", "1e300,")), "1e+300"),
        (changed("plain", replace("zarr.json", "5,", "9223372036854775808,")), "9223372036854775808"),
        (changed("plain", replace("zarr.json", "{", "")), "no JSON"),
        (changed("plain", replace("zarr.json", "\"codecs\"", "\"must\": {}, \"codecs\"")), "must"),
        (
            changed("transposed", replace("zarr.json", "2,\n          0,", "2,\n          2,")),
            "each dimension once",
        ),
        (changed("version 2, zlib", replace(".zarray", "zlib", "bz2")), "the compressor \"bz2\""),
        (
            changed(
                "version 2, zlib",
                replace(".zarray", "\"filters\": null", "\"filters\": [{\"id\": \"delta\"}]"),
            ),
            "filters change numbers",
        ),
        (changed("version 2, lz4", cut("0.0", 5)), "lz4 cannot decode"),
        (changed("blosc lz4 shuffle", cut("c/0/0", 5)), "blosc cannot decode"),
        (
            changed("blosc blosclz bitshuffle", |folder| {
                let path = folder.join("c/0/0");
                let mut bytes = fs::read(&path).expect("a chunk");
                bytes[16..20].copy_from_slice(&[255; 4]);
                fs::write(path, bytes).expect("a chunk");
            }),
            "blosc cannot decode",
        ),
    ] {
        assert!(found.contains(words), "{found}\nhas not: {words}");
    }
}

#[test]
fn a_store_of_any_bytes_is_read_or_refused() {
    // Every byte of metadata and of an index once changed: whatever comes of it, nothing panics and nothing takes for ever.
    for (sample, key) in [("shards", "c/0/0"), ("blosc blosclz shuffle", "c/1/1"), ("group", "b/c/zarr.json")]
    {
        let scratch = Folder::new();
        let folder = scratch.0.join("store.zarr");
        named(sample).unpack(&folder).expect("a folder");
        let bytes = fs::read(folder.join(key)).expect(key);
        for at in (0..bytes.len()).step_by(7) {
            let mut bytes = bytes.clone();
            bytes[at] = bytes[at].wrapping_add(1 + (at % 7) as u8);
            fs::write(folder.join(key), bytes).expect(key);
            let Ok(container) = zarr::open(&folder) else { continue };
            for tensor in container.tensors() {
                let _ = rows(&container, &tensor.name);
            }
        }
    }
}
