//! What is written is read back, element by element, whatever the formats and layouts.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use tilework::{Element, PlanOptions, dialect};
use tilework_copy::{Conversion, Inline, Relayout};
use tilework_files::container::{
    Change, Container, Content, Format, How, Job, Moved, Placed, Target, Tensor, WriteError, Written, write,
};

use crate::common::{Folder, Tested, seen};

const FORMATS: [(Format, &str); 3] =
    [(Format::Safetensors, "x.safetensors"), (Format::Npz, "x.npz"), (Format::Gguf, "x.gguf")];

/// A safetensors file of these tensors: names, types, sizes, bits of an element.
fn source(folder: &Folder, tensors: &[(&str, &str, &[u64], u64)]) -> Container {
    let (mut parts, mut data) =
        (vec![r#""__metadata__":{"format":"pt","about":"\"x\""}"#.to_owned()], Vec::new());
    for (name, dtype, dims, bits) in tensors {
        let start = data.len() as u64;
        let bytes = (dims.iter().product::<u64>() * bits).div_ceil(8);
        data.extend((0..bytes).map(|at| ((start + at) * 37 % 251) as u8));
        parts.push(format!(
            r#""{name}":{{"dtype":"{dtype}","shape":{dims:?},"data_offsets":[{start},{}]}}"#,
            start + bytes
        ));
    }
    let head = format!("{{{}}}", parts.join(","));
    let bytes = [&(head.len() as u64).to_le_bytes(), head.as_bytes(), &data].concat();
    Container::open(&folder.write("source.safetensors", &bytes)).expect("a container")
}

fn plain(folder: &Folder) -> Container {
    source(
        folder,
        &[
            ("a", "F32", &[6, 10], 32),
            ("b/ä", "BF16", &[3, 5], 16),
            ("c", "I64", &[], 64),
            ("d", "U8", &[7], 8),
            ("e", "F16", &[2, 3, 4], 16),
            ("none", "F32", &[0, 3], 32),
            ("half", "F4", &[4, 6], 4),
            ("yes", "BOOL", &[3], 8),
        ],
    )
}

fn how<'a>(memory: Option<u64>) -> How<'a> {
    How { pool: &Inline, memory, check: true, progress: &|_| {} }
}

/// A layout of an array by the text of its braces.
fn placed(array: &Placed, braces: &str) -> Placed {
    let known = dialect::Known::array(array.layout.dims(), array.element);
    let reading = dialect::Reading { dialect: None, known };
    let found = reading.read(braces).expect(braces);
    Placed::of(found[0].said.clone()).expect(braces)
}

fn moved(array: &Placed, braces: &str, fill: u128) -> Change {
    let to = placed(array, braces);
    let options = PlanOptions { fill: (fill != 0).then_some(fill), ..PlanOptions::default() };
    let relayout = Relayout::new(&array.layout, &to.layout, &options).expect(braces);
    Change::Move(Box::new(Moved { to, relayout, fill }))
}

fn array(tensor: &Tensor) -> &Placed {
    match &tensor.content {
        Content::Array(array) => array,
        _ => panic!("{} is no array", tensor.name),
    }
}

/// The bits of every element in row-major order, found one by one.
fn elements(container: &Container, name: &str) -> Vec<Vec<bool>> {
    let tensor = container.tensors().iter().find(|tensor| tensor.name == name).expect(name);
    let data = container.data(tensor, &std::env::temp_dir()).expect(name);
    let (layout, bytes) = (&array(tensor).layout, data.array().to_vec());
    let bits = u64::from(layout.bits());
    let mut found = Vec::new();
    layout.for_each_in_index_order(|_, place| {
        let bit = |at: u64| bytes[(at / 8) as usize] >> (at % 8) & 1 == 1;
        found.push((place * bits..(place + 1) * bits).map(bit).collect());
    });
    found
}

#[test]
fn arrays_that_stay_as_they_are_come_back_from_every_format() -> Tested {
    let folder = Folder::new();
    let from = plain(&folder);
    for (format, file) in FORMATS {
        let jobs: Vec<Job> = from
            .tensors()
            .iter()
            .map(|tensor| Job { name: tensor.name.clone(), tensor, change: Change::Keep })
            .collect();
        let out = folder.0.join(file);
        let target = Target { format, folder: None, transposed: false };
        let written = write(&from, &jobs, &target, &out, &how(None)).expect(file);
        assert_eq!(written, Written { files: 1, bytes: fs::metadata(&out)?.len(), resumed: 0 });
        let back = Container::open(&out)?;
        let (mut old, mut new) = (seen(&from), seen(&back));
        old.sort();
        new.sort();
        // NumPy's truth values have a word of their own there, in GGUF they are noted.
        assert_eq!(old, new, "{file}");
        if format != Format::Npz {
            assert_eq!(from.metadata(), back.metadata());
        }
        // Whatever was written can be the source.
        let again = Container::open(&out)?;
        let jobs: Vec<Job> = again
            .tensors()
            .iter()
            .map(|tensor| Job { name: tensor.name.clone(), tensor, change: Change::Keep })
            .collect();
        let safetensors = Target { format: Format::Safetensors, ..target };
        write(&again, &jobs, &safetensors, &folder.0.join("back.safetensors"), &how(Some(1))).expect(file);
        let mut new = seen(&Container::open(&folder.0.join("back.safetensors"))?);
        new.sort();
        assert_eq!(old, new, "{file}");
    }
    Ok(())
}

#[test]
fn layouts_come_back_with_every_element_in_any_memory() -> Tested {
    let folder = Folder::new();
    let from = plain(&folder);
    let all = [
        ("a", "{0,1:T(4,3)}", 0),
        ("a", "{0,1}", 0),
        ("b/ä", "{1,0:T(2,2)(2,1)}", 0x7fc0),
        ("d", "{0:T(4)}", 9),
    ];
    let all =
        all.into_iter().chain([("e", "{1,2,0}", 0), ("half", "{0,1:T(3,2)E(4)}", 5), ("c", "{:T(8)}", 1)]);
    for (name, braces, fill) in all {
        let tensor = from.tensors().iter().find(|tensor| tensor.name == name).expect(name);
        for (format, file) in FORMATS {
            for (memory, transposed) in [(None, false), (Some(64), false), (Some(1), true)] {
                let jobs =
                    [Job { name: "new".to_owned(), tensor, change: moved(array(tensor), braces, fill) }];
                let out = folder.0.join(file);
                write(&from, &jobs, &Target { format, folder: None, transposed }, &out, &how(memory))
                    .expect(file);
                let back = Container::open(&out)?;
                let found = array(&back.tensors()[0]);
                assert!(
                    found.layout.same_buffer(&placed(array(tensor), braces).layout).is_yes(),
                    "{}",
                    found.said
                );
                assert_eq!(found.element, array(tensor).element);
                assert_eq!(
                    elements(&back, "new"),
                    elements(&from, name),
                    "{name} {braces} {file} {memory:?}"
                );
            }
        }
    }
    Ok(())
}

#[test]
fn a_layout_is_stored_as_its_places_or_as_transposed_sizes() -> Tested {
    let folder = Folder::new();
    let from = plain(&folder);
    let tensor = &from.tensors()[0];
    let out = folder.0.join("x.safetensors");
    for (braces, transposed, expected) in [
        ("{0,1}", false, r#""dtype":"F32","shape":[60],"#),
        ("{0,1}", true, r#""dtype":"F32","shape":[10,6],"#),
        ("{0,1:T(4,4)}", true, r#""dtype":"F32","shape":[96],"#),
    ] {
        let jobs = [Job { name: "new".to_owned(), tensor, change: moved(array(tensor), braces, 0) }];
        let target = Target { format: Format::Safetensors, folder: None, transposed };
        write(&from, &jobs, &target, &out, &how(None)).expect(braces);
        let text = String::from_utf8_lossy(&fs::read(&out)?).into_owned();
        assert!(text.contains(expected), "{text}");
        assert!(text.contains(&format!(r#""tilework.layout.new":"f32[6,10]{braces}""#)), "{text}");
    }
    Ok(())
}

#[test]
fn elements_are_converted_in_windows_as_at_once() -> Tested {
    let folder = Folder::new();
    let from = source(&folder, &[("w", "F32", &[40, 30], 32)]);
    let tensor = &from.tensors()[0];
    let mut files = Vec::new();
    for memory in [None, Some(500)] {
        let conversion = Conversion::between(Element::F32, Element::Bf16)?;
        let bf16 = Placed::dense(Element::Bf16, &[40, 30], true)?;
        let to = placed(&bf16, "{0,1:T(8,128)(2,1)}");
        let options = PlanOptions { fill: Some(0x3f80), ..PlanOptions::default() };
        let relayout = Relayout::converting(&array(tensor).layout, &to.layout, conversion, &options)?;
        let change = Change::Move(Box::new(Moved { to, relayout, fill: 0x3f80 }));
        let jobs = [Job { name: "w".to_owned(), tensor, change }];
        let target = Target { format: Format::Safetensors, folder: None, transposed: false };
        let out = folder.0.join("x.safetensors");
        write(&from, &jobs, &target, &out, &how(memory)).expect("it is written");
        files.push(fs::read(&out)?);
    }
    assert!(files[0] == files[1]);
    Ok(())
}

fn keep<'a>(from: &'a Container, names: &[&str]) -> Vec<Job<'a>> {
    let jobs = names.iter().zip(from.tensors());
    jobs.map(|(name, tensor)| Job { name: (*name).to_owned(), tensor, change: Change::Keep }).collect()
}

fn refused(outcome: Result<Written, WriteError>) -> String {
    match outcome {
        Err(WriteError::Bad(error)) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_a_format_cannot_hold_is_refused_and_nothing_is_written() -> Tested {
    let folder = Folder::new();
    let from = source(&folder, &[("a", "F32", &[2, 1, 1, 1, 2], 32), ("b", "F8_NEW", &[2], 8)]);
    let long = "x".repeat(64);
    for (format, names, expected) in [
        (Format::Gguf, &["a"][..], "GGUF has up to 4"),
        (Format::Gguf, &[&long], "of 5 dimensions"),
        (Format::Safetensors, &["a", "b"], "an array that is not read is not written"),
        (Format::Safetensors, &["__metadata__"], "safetensors has metadata under this name"),
        (Format::Npy, &[], "0 arrays in one npy file"),
        (Format::Npz, &["a", "a"], "two arrays called \"a\""),
    ] {
        let target = Target { format, folder: None, transposed: false };
        let said = refused(write(&from, &keep(&from, names), &target, &folder.0.join("out"), &how(None)));
        assert!(said.contains(expected), "{said}");
        assert!(!folder.0.join("out").exists());
    }
    let target = Target { format: Format::Gguf, folder: Some(1), transposed: false };
    let said = refused(write(&from, &keep(&from, &[]), &target, &folder.0.join("out"), &how(None)));
    assert!(said.contains("a folder of GGUF files"), "{said}");
    Ok(())
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

const SHARDS: Target = Target { format: Format::Safetensors, folder: Some(100), transposed: false };

fn five(folder: &Folder) -> Container {
    source(folder, &["v", "w", "x", "y", "z"].map(|name| (name, "F32", &[20][..], 32)))
}

const FIVE: [&str; 5] = ["v", "w", "x", "y", "z"];

#[test]
fn a_run_that_ends_early_leaves_no_folder_and_the_next_goes_on() -> Tested {
    let folder = Folder::new();
    let from = five(&folder);
    let (jobs, out) = (keep(&from, &FIVE), folder.0.join("out"));
    let stage = folder.0.join(".out.tilework-unfinished");
    let stop_at = |bytes: u64| {
        let last = AtomicU64::new(0);
        let progress = |done: u64| {
            last.store(done, Ordering::Relaxed);
            assert!(done < bytes, "stopped");
        };
        let how = How { progress: &progress, ..how(None) };
        let ended =
            catch_unwind(AssertUnwindSafe(|| write(&from, &jobs, &SHARDS, &out, &how).expect("shards")));
        ended.ok()
    };
    assert!(stop_at(200).is_none(), "it was stopped in the third shard");
    assert!(!out.exists());
    assert_eq!(fs::read_dir(&stage)?.count(), 4, "two shards, the journal and the lock: {:?}", names(&stage));
    // One of the two is changed meanwhile, and one is somebody's else.
    let first = stage.join("model-00001-of-00005.safetensors");
    let mut bytes = fs::read(&first)?;
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(&first, bytes)?;
    fs::write(stage.join("stray"), b"?")?;
    let written = stop_at(u64::MAX).expect("it goes on");
    assert_eq!((written.files, written.resumed), (6, 1));
    assert_eq!(seen(&Container::open(&out)?), seen(&from));
    assert_eq!(names(&folder.0), ["out", "source.safetensors"]);
    assert_eq!(names(&out).len(), 6);
    // What is there is not replaced.
    let said = refused(write(&from, &jobs, &SHARDS, &out, &how(None)));
    assert!(said.contains("exists, with 6 files in it"), "{said}");
    Ok(())
}

#[test]
fn another_job_or_another_source_begins_anew() -> Tested {
    let folder = Folder::new();
    let out = folder.0.join("out");
    let stop = |from: &Container, target: &Target| {
        let progress = |done: u64| assert!(done < 300, "stopped");
        let how = How { progress: &progress, ..how(None) };
        let jobs = keep(from, &FIVE);
        assert!(catch_unwind(AssertUnwindSafe(|| write(from, &jobs, target, &out, &how))).is_err());
    };
    let from = five(&folder);
    let larger = Target { folder: Some(200), ..SHARDS };
    stop(&from, &SHARDS);
    let written = write(&from, &keep(&from, &FIVE), &larger, &out, &how(None)).expect("shards");
    assert_eq!((written.files, written.resumed, names(&out).len()), (4, 0, 4));
    fs::remove_dir_all(&out)?;
    stop(&from, &SHARDS);
    let mut bytes = fs::read(folder.0.join("source.safetensors"))?;
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    bytes.push(0);
    fs::write(folder.0.join("source.safetensors"), &bytes[..=last])?;
    let file = fs::File::options().write(true).open(folder.0.join("source.safetensors"))?;
    file.set_modified(std::time::SystemTime::UNIX_EPOCH)?;
    let changed = Container::open(&folder.0.join("source.safetensors"))?;
    let written = write(&changed, &keep(&changed, &FIVE), &SHARDS, &out, &how(None)).expect("shards");
    assert_eq!(written.resumed, 0);
    assert_eq!(seen(&Container::open(&out)?), seen(&changed));
    Ok(())
}

#[cfg(unix)]
#[test]
fn a_prepared_folder_and_a_second_run_are_refused() -> Tested {
    let folder = Folder::new();
    let from = five(&folder);
    let jobs = keep(&from, &FIVE);
    let (out, stage) = (folder.0.join("out"), folder.0.join(".out.tilework-unfinished"));
    fs::create_dir(folder.0.join("elsewhere"))?;
    std::os::unix::fs::symlink("elsewhere", &stage)?;
    let said = refused(write(&from, &jobs, &SHARDS, &out, &how(None)));
    assert!(said.contains("is not a folder of yours"), "{said}");
    fs::remove_file(&stage)?;
    fs::create_dir(&stage)?;
    let lock = fs::File::create(stage.join("lock"))?;
    lock.lock()?;
    let said = refused(write(&from, &jobs, &SHARDS, &out, &how(None)));
    assert!(said.contains("another run writes"), "{said}");
    drop(lock);
    write(&from, &jobs, &SHARDS, &out, &how(None)).expect("shards");
    // A file of that name is no folder, and an empty folder is nothing that could be lost.
    let said = refused(write(&from, &jobs, &SHARDS, &folder.0.join("source.safetensors"), &how(None)));
    assert!(said.contains("Not a directory"), "{said}");
    fs::remove_dir_all(&out)?;
    fs::create_dir(&out)?;
    write(&from, &jobs, &SHARDS, &out, &how(None)).expect("shards");
    assert_eq!(seen(&Container::open(&out)?), seen(&from));
    Ok(())
}

#[test]
fn a_folder_of_npy_files_has_every_array_and_layout() -> Tested {
    let folder = Folder::new();
    let from = plain(&folder);
    let jobs: Vec<Job> = from
        .tensors()
        .iter()
        .map(|tensor| {
            let change = match tensor.name.as_str() {
                "a" => moved(array(tensor), "{0,1:T(4,3)}", 7),
                "b/ä" => moved(array(tensor), "{0,1}", 0),
                _ => Change::Keep,
            };
            Job { name: tensor.name.clone(), tensor, change }
        })
        .collect();
    let out = folder.0.join("out");
    let target = Target { format: Format::Npy, folder: Some(1), transposed: false };
    let written = write(&from, &jobs, &target, &out, &how(None)).expect("files");
    assert_eq!(written.files, 9);
    let back = Container::open(&out)?;
    for tensor in from.tensors() {
        assert_eq!(elements(&back, &tensor.name), elements(&from, &tensor.name), "{}", tensor.name);
    }
    let texts: Vec<String> = seen(&back).into_iter().map(|(_, text, _)| text).collect();
    assert!(
        texts.contains(&"f32[6,10]{0,1:T(4,3)}".to_owned()) && texts.contains(&"bf16[3,5]{0,1}".to_owned())
    );
    Ok(())
}
