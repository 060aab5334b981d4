//! Checkpoints that go from one number of devices to another, and come back.

#[path = "common/folder.rs"]
mod folder;

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use tilework::sharding::{Mesh, Sharding};
use tilework::{Element, Result};
use tilework_copy::Inline;
use tilework_files::container::{Container, Content, Placed, safetensors_head};
use tilework_stores::checkpoint::{Checkpoint, Reshard, Rule, file_name};
use tilework_stores::job::Job;
use tilework_stores::run::{Bounds, Done};

use folder::Folder;

/// One thread, with all the memory that it may want.
const ONE: Bounds = Bounds { threads: 1, memory: 1 << 30, window: 1 << 20 };

const TENSORS: [(&str, Element, &[u64]); 5] = [
    ("layers.0.weight", Element::F32, &[24, 20]),
    ("layers.0.bias", Element::Bf16, &[24]),
    ("layers.1.weight", Element::U8, &[4, 6, 10]),
    ("scale", Element::F64, &[]),
    ("empty", Element::F32, &[0, 8]),
];

/// A file with all tensors, whose bytes are all different where they stand.
fn model(path: &Path) {
    let contents =
        TENSORS.map(|(_, element, dims)| Content::Array(Placed::dense(element, dims, true).expect("small")));
    let tensors: Vec<(&str, &Content)> =
        TENSORS.iter().zip(&contents).map(|((name, ..), content)| (*name, content)).collect();
    let head = safetensors_head(&tensors, vec![("note", "kept")]).expect("a header");
    let mut bytes = head.bytes.clone();
    bytes.extend((0..head.file_bytes - bytes.len() as u64).map(|at| ((at * 2_654_435_761) >> 7) as u8));
    fs::write(path, bytes).expect("a file");
}

/// The bytes of a tensor in a file.
fn bytes(path: &Path, name: &str) -> Option<Vec<u8>> {
    let file = Container::open(path).expect("a container");
    let tensor = file.tensors().iter().find(|tensor| tensor.name == name)?;
    Some(file.data(tensor, Path::new(".")).expect("bytes").array().to_vec())
}

fn job(from: &Path, to: &Path, mesh: Option<&str>, rules: &[(Option<&str>, &str)]) -> Reshard {
    let rule = |(names, sharding): &(Option<&str>, &str)| Rule {
        names: names.map(str::to_owned),
        sharding: (*sharding).to_owned(),
    };
    Reshard {
        compression: None,
        from: from.to_owned(),
        to: to.to_owned(),
        mesh: mesh.map(str::to_owned),
        rules: rules.iter().map(rule).collect(),
        only: Vec::new(),
        once: false,
        orbax: false,
    }
}

fn run(job: &Reshard) -> Result<()> {
    let open = job.open()?;
    let stage = open.stage()?;
    for device in 0..open.devices() {
        assert!(open.task(device, &stage, &Inline, 100)?, "device {device}");
    }
    stage.finish()?;
    let there = fs::read_dir(&job.to)
        .expect("the folder")
        .flatten()
        .map(|file| file.metadata().expect("a file").len());
    let there: Vec<u64> = there.collect();
    assert_eq!(there.len() as u64, open.written().files);
    // Headers differ by a few bytes.
    let [largest, all] = [there.iter().copied().max().unwrap_or(0), there.iter().sum()];
    let (one, total) = (open.written().largest, open.written().bytes as u64);
    assert!(largest.abs_diff(one) <= 128, "{largest} bytes, not {one}");
    assert!(all <= total + 128 * open.devices(), "{all} bytes, not {total}");
    assert!(job.once || all + 128 * open.devices() >= total, "{all} bytes, not {total}");
    Ok(())
}

#[test]
fn a_checkpoint_goes_to_other_devices_and_comes_back() -> Result<()> {
    let folder = Folder::new();
    let whole = folder.at("model.safetensors");
    model(&whole);
    let rules =
        [(None, "P('x', 'y')"), (Some("*.bias"), "P(('y', 'x'))"), (Some("layers.1.*"), "P(None, 'y', 'x')")];
    run(&job(&whole, &folder.at("eight"), Some("x=2,y=4"), &rules))?;
    // Each part is what the sharding says, element by element.
    let mesh = Mesh::parse("x=2,y=4")?;
    for (name, spec) in
        [("layers.0.weight", rules[0].1), ("layers.0.bias", rules[1].1), ("layers.1.weight", rules[2].1)]
    {
        let (_, element, dims) = TENSORS.iter().find(|(other, ..)| *other == name).expect("a tensor");
        let (sharding, all) = (Sharding::parse(spec, Some(&mesh))?, bytes(&whole, name).expect("whole"));
        for device in 0..8 {
            let found = bytes(&folder.at("eight").join(file_name(device)), name);
            let part = sharding.part(dims, device)?.expect("a device");
            if part.size.contains(&0) {
                assert_eq!(found, None, "{name} on {device}");
                continue;
            }
            let width = (element.bits() / 8) as usize;
            let mut wanted = Vec::new();
            tilework::Layout::row_major(&part.size, 8)?.for_each_in_index_order(|index, _| {
                let at = index
                    .iter()
                    .zip(&part.start)
                    .zip(*dims)
                    .fold(0, |at, ((i, start), size)| at * size + i + start);
                wanted.extend_from_slice(&all[at as usize * width..][..width]);
            });
            assert_eq!(found, Some(wanted), "{name} on {device}");
        }
    }
    // From eight devices to three, which divide little, and to one.
    let thirds = [
        (None, "{devices=[3]<=[3]}"),
        (Some("*.weight"), "{devices=[1,3]<=[3]}"),
        (Some("layers.1.weight"), "{devices=[1,3,1]2,0,1}"),
    ];
    run(&job(&folder.at("eight"), &folder.at("three"), None, &thirds))?;
    run(&job(&folder.at("three"), &folder.at("one"), None, &[(None, "{maximal device=0}")]))?;
    for (name, ..) in TENSORS {
        let back = bytes(&folder.at("one").join(file_name(0)), name);
        assert_eq!(back, bytes(&whole, name), "{name}");
    }
    let one = Container::open(&folder.at("one"))?;
    assert!(one.metadata().contains(&("note".to_owned(), "kept".to_owned())));
    Ok(())
}

#[test]
fn copies_are_on_every_device_or_once() -> Result<()> {
    let folder = Folder::new();
    let whole = folder.at("model.safetensors");
    model(&whole);
    let mut job = job(&whole, &folder.at("four"), Some("x=2,y=2"), &[(Some("layers.0.weight"), "P('x')")]);
    let open = job.open()?;
    assert_eq!(open.written().replicated.len(), 4);
    run(&job)?;
    for device in 0..4 {
        assert_eq!(
            bytes(&folder.at("four").join(file_name(device)), "layers.0.bias"),
            bytes(&whole, "layers.0.bias")
        );
    }
    job.once = true;
    job.to = folder.at("once");
    run(&job)?;
    let has = |device, name| bytes(&folder.at("once").join(file_name(device)), name).is_some();
    assert_eq!([0, 1, 2, 3].map(|device| has(device, "layers.0.bias")), [true, false, false, false]);
    assert_eq!([0, 1, 2, 3].map(|device| has(device, "layers.0.weight")), [true, false, true, false]);
    for other in ["four", "once"] {
        run(&self::job(
            &folder.at(other),
            &folder.at(&format!("{other}-back")),
            None,
            &[(None, "{replicated}")],
        ))?;
        let back = bytes(&folder.at(&format!("{other}-back")).join(file_name(0)), "layers.0.weight");
        assert_eq!(back, bytes(&whole, "layers.0.weight"), "{other}");
    }
    Ok(())
}

#[test]
fn a_run_goes_on_where_one_was_and_only_if_it_is_the_same() -> Result<()> {
    let folder = Folder::new();
    let whole = folder.at("model.safetensors");
    model(&whole);
    let eight = job(&whole, &folder.at("eight"), Some("x=8"), &[(None, "P('x')")]);
    let begin = || -> Result<Vec<bool>> {
        let open = eight.open()?;
        let stage = open.stage()?;
        (0..3).map(|device| open.task(device, &stage, &Inline, 1 << 20)).collect()
    };
    assert_eq!(begin()?, [true; 3]);
    assert!(!folder.at("eight").exists());
    // One file was damaged since.
    let unfinished = folder.at(".eight.tilework-unfinished");
    let damaged = unfinished.join(file_name(1));
    let mut found = fs::read(&damaged).expect("a file");
    *found.last_mut().expect("bytes") ^= 1;
    fs::write(&damaged, found).expect("a file");
    assert_eq!(begin()?, [false, true, false]);
    // Another job, which would lose what is there.
    let other = Reshard { once: true, ..eight.clone() };
    let error = other.open()?.stage().expect_err("another job").to_string();
    assert!(error.contains("is of another job") && error.contains(".eight.tilework-unfinished"), "{error}");
    // The source has changed since.
    let file = fs::File::options().append(true).open(&whole).expect("a file");
    file.set_modified(std::time::UNIX_EPOCH).expect("a time");
    let error = begin().expect_err("another source").to_string();
    assert!(error.contains("model.safetensors is not what the unfinished run in "), "{error}");
    assert!(error.contains("a file has another time"), "{error}");
    fs::remove_dir_all(&unfinished).expect("a folder");
    assert_eq!(begin()?, [true; 3]);
    Ok(())
}

#[test]
fn what_cannot_be_is_refused_and_nothing_is_written() -> Result<()> {
    let folder = Folder::new();
    let whole = folder.at("model.safetensors");
    model(&whole);
    run(&job(
        &whole,
        &folder.at("four"),
        Some("x=4"),
        &[(None, "P('x')"), (Some("layers.0.weight"), "P(None, 'x')")],
    ))?;
    let fails = |job: &Reshard, what: &str| {
        let error = job.open().and_then(|open| open.stage().map(|_| ())).expect_err(what).to_string();
        assert!(error.contains(what), "{error}");
    };
    let of = |from: &str, to: &str, mesh, rules: &[(Option<&str>, &str)]| {
        job(&folder.at(from), &folder.at(to), mesh, rules)
    };
    fails(&of("model.safetensors", "four", None, &[]), "exists, and is not empty");
    fails(&of("four", "four/inner", None, &[]), "apart from what is read");
    fails(&of("four", ".", None, &[]), "apart from what is read");
    fails(&of("model.safetensors", "x", None, &[(None, "P('x')")]), "a PartitionSpec without a mesh");
    fails(
        &of("model.safetensors", "x", Some("x=2"), &[(None, "{devices=[4]<=[4]}")]),
        "cut over 4 devices, and the mesh x=2 has 2",
    );
    fails(
        &of("model.safetensors", "x", Some("x=2"), &[(Some("scale"), "P('x')")]),
        "for an array of 0 dimensions",
    );
    fails(&of("model.safetensors", "x", Some("x=4000000000000"), &[(None, "P()")]), "the disk of");
    fails(&of("nowhere", "x", None, &[]), "nowhere");
    let mut none = of("model.safetensors", "x", None, &[]);
    none.only = vec!["nothing*".to_owned()];
    fails(&none, "no tensor that is wanted");
    // A file that is missing, and one that says it begins elsewhere.
    fs::remove_file(folder.at("four").join(file_name(2))).expect("a file");
    fails(&of("four", "x", None, &[]), "no file has the part of [6] at [12]");
    fs::remove_file(folder.at("four").join(file_name(3))).expect("a file");
    fails(&of("four", "x", None, &[]), "the parts end at [12], and the files say that it has [24]");
    let last = folder.at("four").join(file_name(1));
    let text = fs::read(&last).expect("a file");
    let mut moved = text.clone();
    let at = moved.windows(5).position(|five| five == b"[0,5]").expect("where the weights begin");
    moved[at..at + 5].copy_from_slice(b"[0,4]");
    fs::write(&last, moved).expect("a file");
    fails(&of("four", "x", None, &[]), "tensor \"layers.0.");
    // A file that is cut short.
    fs::write(&last, &text[..text.len() - 1]).expect("a file");
    assert!(Checkpoint::open(&folder.at("four")).is_err());
    assert!(!folder.at("x").exists());
    Ok(())
}

#[test]
fn devices_are_done_once_each_on_any_number_of_threads() -> Result<()> {
    let folder = Folder::new();
    let whole = folder.at("model.safetensors");
    model(&whole);
    for threads in [0, 1, 2, 3, 8] {
        let to = folder.at(&format!("on-{threads}"));
        let job = Job::Reshard(job(&whole, &to, Some("x=2,y=2"), &[(None, "P('x', 'y')")]));
        assert_eq!(job.open(None, ONE)?.passes()?, [4]);
        let run = |tasks| -> Result<(Done, u64)> {
            let most = AtomicU64::new(0);
            let note = |done| _ = most.fetch_max(done, Ordering::Relaxed);
            let done = job.open(None, Bounds { threads, ..ONE })?.run(0, tasks, &note)?;
            Ok((done, most.into_inner()))
        };
        assert_eq!(run(1..3)?, (Done { written: 2, kept: 0 }, 2));
        let error = job.open(None, ONE)?.finish().expect_err("two are missing").to_string();
        assert!(error.contains("missing"), "{error}");
        assert_eq!(run(0..4)?, (Done { written: 2, kept: 2 }, 4));
        job.open(None, ONE)?.finish()?;
        assert_eq!(fs::read_dir(&to).expect("the folder").count() as u64, 4);
    }
    Ok(())
}
