//! Files of arrays that a server has.

use tilework_copy::Threads;
use tilework_files::container::{self, Container};

use super::*;

/// A checkpoint of two shards and an index, and each of its tensors in the formats that hold one array or several.
pub(super) fn put_files(shelf: &Shelf, test: &str) -> Result<(PathBuf, Container)> {
    let folder = std::env::temp_dir().join(format!("tilework-far-{test}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let at = |name: &str| folder.join(name);
    let array = |name: &str, dims: &[u64]| -> Vec<u8> {
        let count: u64 = dims.iter().product();
        let dims = dims.iter().map(u64::to_string).collect::<Vec<String>>().join(",");
        let head = format!(r#"{{"{name}":{{"dtype":"U8","shape":[{dims}],"data_offsets":[0,{count}]}}}}"#);
        let bytes = (0..count).map(|at| (at * at % 251) as u8);
        [&(head.len() as u64).to_le_bytes()[..], head.as_bytes(), &bytes.collect::<Vec<u8>>()].concat()
    };
    std::fs::write(at("a.safetensors"), array("large", &[3000, 1000])).expect("written");
    std::fs::write(at("b.safetensors"), array("small", &[70, 3])).expect("written");
    let index = r#"{"weight_map": {"large": "a.safetensors", "small": "b.safetensors"}}"#;
    std::fs::write(at("model.safetensors.index.json"), index).expect("written");
    let whole = Container::open(&at("model.safetensors.index.json"))?;
    let jobs: Vec<container::Job> = whole
        .tensors()
        .iter()
        .map(|tensor| container::Job { name: tensor.name.clone(), tensor, change: container::Change::Keep })
        .collect();
    let how = container::How { pool: &Threads::all(), memory: None, check: false, progress: &|_| {} };
    for (name, format) in [("m.npz", container::Format::Npz), ("m.gguf", container::Format::Gguf)] {
        let target = container::Target { format, folder: None, transposed: false };
        container::write(&whole, &jobs, &target, &at(name), &how).expect("a new file");
    }
    let target = container::Target { format: container::Format::Npy, folder: None, transposed: false };
    container::write(&whole, &jobs[..1], &target, &at("large.npy"), &how).expect("a new file");
    for found in std::fs::read_dir(&folder).expect("a folder").flatten() {
        let bytes = std::fs::read(found.path()).expect("read");
        let name = format!("folder/{}", found.file_name().to_string_lossy());
        lock(&shelf.objects).insert(name, (1, Arc::new(bytes)));
    }
    Ok((folder, whole))
}

/// Whether the arrays of `found` are those of `wanted`, which has them all.
pub(super) fn are_same(found: &Container, wanted: &Container) -> Result<bool> {
    let scratch = std::env::temp_dir();
    for tensor in found.tensors() {
        let other = wanted.tensors().iter().find(|other| other.name == tensor.name).expect("the same names");
        let same = container::compare((found, tensor), (wanted, other), 0.0, &scratch)?;
        if !matches!(same, container::Compared::Equal) {
            return Ok(false);
        }
    }
    Ok(true)
}

#[test]
fn of_a_file_the_header_is_read_and_then_what_is_wanted() -> Result<()> {
    let (shelf, at) = shelf("file");
    let (folder, whole) = put_files(&shelf, "file")?;
    let scratch = std::env::temp_dir();
    let read = || lock(&shelf.sent).iter().sum::<u64>();
    for (name, most) in [
        ("model.safetensors.index.json", 70 << 10),
        ("a.safetensors", 66 << 10),
        ("m.gguf", 66 << 10),
        ("large.npy", 66 << 10),
        ("m.npz", 140 << 10), // and its end
        ("", 70 << 10),       // the folder of an index
    ] {
        lock(&shelf.sent).clear();
        let found = crate::open(&at(name), None, &scratch)?;
        assert!(read() <= most, "{name}: {}", read());
        assert!(found.tensors().iter().any(|tensor| tensor.name == "large"), "{name}");
        let before = read();
        // The small one alone is a small request.
        let small = || found.tensors().iter().filter(|tensor| tensor.name == "small");
        found.fetch(small(), &|_| {})?;
        assert!(read() <= before + 210, "{name}");
        assert!(are_same(&found, &whole)?, "{name}");
        // And nothing is asked for twice.
        let all = read();
        assert!(all <= 3_000_000 + 210 + most && are_same(&found, &whole)? && read() == all, "{name}: {all}");
        assert_eq!(found.missing(found.tensors().iter()).bytes, 0);
    }
    let _ = std::fs::remove_dir_all(folder);
    Ok(())
}

#[test]
fn a_file_of_a_server_that_fails_lies_or_changes_is_right_or_an_error() -> Result<()> {
    let (shelf, at) = shelf("file-faults");
    let (folder, whole) = put_files(&shelf, "file-faults")?;
    let open = || crate::open(&at("model.safetensors.index.json"), None, &std::env::temp_dir());
    shelf.set(Faults { now_and_then: Some(3), ..Faults::default() });
    assert!(are_same(&open()?, &whole)?);
    shelf.set(Faults { lie: Some(|got| got.bytes.truncate(1)), lies: Some(2), ..Faults::default() });
    assert!(are_same(&open()?, &whole)?);
    shelf.set(Faults { lie: Some(|got| got.bytes.truncate(1)), ..Faults::default() });
    let error = open().map(drop).expect_err("a lie").to_string();
    assert!(error.contains("model.safetensors.index.json: the server sent 1 bytes"), "{error}");
    shelf.set(Faults::default());
    // Another file under the same name, when the header was read.
    let found = open()?;
    lock(&shelf.objects).get_mut("folder/a.safetensors").expect("put").0 = 2;
    let error = are_same(&found, &whole).expect_err("another version").to_string();
    assert!(error.contains("another version"), "{error}");
    // A shard that is not there, and what is nothing at all.
    lock(&shelf.objects).remove("folder/a.safetensors");
    let error = open().map(drop).expect_err("a shard is missing").to_string();
    assert!(error.contains("a.safetensors is not there"), "{error}");
    let error = crate::open(&at("nothing"), None, &folder).map(drop).expect_err("nothing").to_string();
    assert!(error.contains("no Zarr store, and no file of arrays"), "{error}");
    let error = crate::open(&at("b.safetensors"), None, &folder.join("no")).map(drop).expect_err("no folder");
    assert!(error.to_string().contains("No such file"), "{error}");
    // A length that nobody has room for: files with holes take none before anything is fetched.
    shelf.set(Faults { long: Some(1 << 50), ..Faults::default() });
    let error = crate::open(&at("b.safetensors"), None, &folder).map(drop).expect_err("too long").to_string();
    assert!(error.contains("b.safetensors has 1125899906842624 bytes"), "{error}");
    let _ = std::fs::remove_dir_all(folder);
    Ok(())
}

#[test]
fn checkpoints_of_a_server_are_cut_anew() -> Result<()> {
    let (shelf, at) = shelf("reshard");
    let (folder, whole) = put_files(&shelf, "reshard")?;
    let job = |from: &str, to: &str| {
        Job::Reshard(crate::checkpoint::Reshard {
            from: at(from),
            to: folder.join(to),
            mesh: Some("x=4".to_owned()),
            rules: vec![crate::checkpoint::Rule { names: None, sharding: "P('x')".to_owned() }],
            only: Vec::new(),
            once: false,
            orbax: false,
            compression: None,
        })
    };
    let bounds = Bounds { threads: 2, memory: 1 << 30, window: 1 << 20 };
    for (from, to, at_once) in [("model.safetensors.index.json", "x", true), ("", "y", false)] {
        let job = job(from, to);
        let open = job.open(None, bounds)?;
        let start = 64 << 10; // of each file, with its header
        assert!((3_000_000 - start..3_000_000).contains(&open.missing().bytes), "{:?}", open.missing());
        if at_once {
            open.fetch(&|_| {})?;
            assert_eq!(open.missing().bytes, 0);
        }
        open.run(0, 0..4, &|_| {})?;
        open.finish()?;
    }
    // What was written is parts of the same arrays, from a folder here and from one of a server.
    for name in std::fs::read_dir(folder.join("x")).expect("a folder").flatten() {
        let bytes = std::fs::read(name.path()).expect("read");
        assert_eq!(bytes, std::fs::read(folder.join("y").join(name.file_name())).expect("read"));
        let key = format!("folder/parts/{}", name.file_name().to_string_lossy());
        lock(&shelf.objects).insert(key, (1, Arc::new(bytes)));
    }
    let array = |from: PathBuf, to: &str| -> Result<Container> {
        let job = Rechunk {
            only: Some("large".to_owned()),
            from,
            to: folder.join(to),
            chunks: vec![500, 1000],
            shards: None,
            order: None,
            compression: None,
            plan: None,
        };
        let job = Job::Rechunk(job.planned(1 << 26, Assumed::objects(2))?);
        run(&job, 2)?;
        zarr::open(&folder.join(to))
    };
    let large = whole.tensors().iter().find(|tensor| tensor.name == "large").expect("one");
    for (from, to) in [("parts", "large.zarr"), ("m.npz", "again.zarr")] {
        let found = array(at(from), to)?;
        let scratch = std::env::temp_dir();
        let same = container::compare((&found, &found.tensors()[0]), (&whole, large), 0.0, &scratch)?;
        assert!(matches!(same, container::Compared::Equal), "{from}");
    }
    let _ = std::fs::remove_dir_all(folder);
    Ok(())
}

#[test]
fn a_file_is_sent_whole_or_not_at_all() -> Result<()> {
    let (shelf, at) = shelf("file-sent");
    let (folder, whole) = put_files(&shelf, "file-sent")?;
    let object = |path: &Path| crate::NewObject::of(path);
    assert!(object(Path::new("out.npz"))?.is_none());
    for refused in ["https://host/out.npz", "s3://memory-file-sent"] {
        assert!(object(Path::new(refused)).expect_err("no place").to_string().contains(refused));
    }
    let jobs: Vec<container::Job> = whole
        .tensors()
        .iter()
        .map(|tensor| container::Job { name: tensor.name.clone(), tensor, change: container::Change::Keep })
        .collect();
    let how = container::How { pool: &Threads::all(), memory: None, check: true, progress: &|_| {} };
    let target = container::Target { format: container::Format::Npz, folder: None, transposed: false };
    let out = at("sent.npz");
    let written = container::write_unnamed(&whole, &jobs, &target, (&out, &folder), &how);
    let (file, written) = written.expect("a file");
    let names = || std::fs::read_dir(&folder).expect("a folder").count();
    let before = names();
    let send = || -> Result<u64> {
        let told = Arc::new(AtomicU64::new(0));
        let telling = Arc::clone(&told);
        let object = object(&out)?.expect("an address");
        object.send(&file, Arc::new(move |sent| telling.store(sent, Ordering::Relaxed)))?;
        Ok(told.load(Ordering::Relaxed))
    };
    // A server that is gone keeps what it had.
    lock(&shelf.objects).insert("folder/sent.npz".to_owned(), (1, Arc::new(b"old".to_vec())));
    shelf.set(Faults { puts: Some(0), ..Faults::default() });
    assert!(send().expect_err("a server that is gone").to_string().contains("gone"));
    assert_eq!(*lock(&shelf.objects)["folder/sent.npz"].1, b"old");
    shelf.set(Faults { now_and_then: Some(2), ..Faults::default() });
    for _ in 0..2 {
        assert_eq!(send()?, written.bytes);
    }
    assert_eq!(
        *lock(&shelf.objects)["folder/sent.npz"].1,
        std::fs::read(folder.join("m.npz")).expect("read")
    );
    assert_eq!(names(), before);
    let _ = std::fs::remove_dir_all(folder);
    Ok(())
}
