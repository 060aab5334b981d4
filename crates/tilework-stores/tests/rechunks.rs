//! Arrays in other chunks, in two passes: what ended between them goes on, and nothing of another source is taken for its own.

#[path = "common/folder.rs"]
mod folder;

use std::fs;
use std::path::{Path, PathBuf};

use tilework::Result;
use tilework_stores::job::{Job, Rechunk};
use tilework_stores::plan::{Assumed, End, Plan, Wanted};
use tilework_stores::run::{Bounds, Run};
use tilework_stores::zarr::{self, Spec, open_array};
use tilework_stores::{Held, Read, Shards, Stamp, Write};

use folder::Folder;

const SIDE: u64 = 256;

/// One thread, with all the memory that it may want.
const ONE: Bounds = Bounds { threads: 1, memory: 1 << 30, window: 1 << 20 };

/// An npy file of a square of bytes that are all different from their neighbours.
fn square(path: &Path, add: u64) {
    bytes(path, |at| number(at / SIDE, at % SIDE, add));
}

/// The same of these bytes.
fn bytes(path: &Path, byte: impl Fn(u64) -> u8) {
    let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    let header = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': ({SIDE}, {SIDE}), }}");
    bytes.extend(format!("{header:117}\n").bytes());
    bytes.extend((0..SIDE * SIDE).map(byte));
    fs::write(path, bytes).expect("a file");
}

fn number(row: u64, column: u64, add: u64) -> u8 {
    ((row * SIDE + column + add).wrapping_mul(2_654_435_761) >> 13) as u8
}

/// Rows that become columns within little memory.
fn turned(folder: &Folder) -> Result<Rechunk> {
    let (chunks, none) = (|chunks: [u64; 2]| chunks.to_vec(), None);
    let rows = Rechunk {
        only: None,
        from: folder.at("in.npy"),
        to: folder.at("rows"),
        chunks: chunks([1, SIDE]),
        shards: none.clone(),
        order: None,
        compression: Some("zstd".to_owned()),
        plan: None,
    };
    if !folder.at("rows").exists() {
        all(&rows.planned(1 << 20, Assumed::disk(1))?)?;
    }
    let columns =
        Rechunk { from: folder.at("rows"), to: folder.at("columns"), chunks: chunks([SIDE, 1]), ..rows };
    let planned = columns.planned(4 << 10, Assumed::disk(1))?;
    assert_eq!(planned.plan.as_ref().map(|plan| plan.passes.len()), Some(2));
    Ok(planned)
}

#[test]
fn a_price_counts_what_codecs_take_and_what_files_hold() -> Result<()> {
    let folder = Folder::new();
    bytes(&folder.at("in.npy"), |_| 7);
    let job = |from: &str, to: &str, compression: &str| Rechunk {
        only: None,
        from: folder.at(from),
        to: folder.at(to),
        chunks: vec![64, 64],
        shards: None,
        order: None,
        compression: Some(compression.to_owned()),
        plan: None,
    };
    let price = |from: &str, compression: &str| {
        let planned = job(from, "out", compression).planned(1 << 20, Assumed::disk(1))?;
        planned.plan.map(|plan| plan.price()).expect("just planned")
    };
    let (plain, zstd, gzip) =
        (price("in.npy", "none")?, price("in.npy", "zstd:1")?, price("in.npy", "gzip:6")?);
    assert!(zstd.seconds > plain.seconds + 1e-4, "65 kB take zstd more than 0.1 ms");
    assert!(gzip.seconds > zstd.seconds + 1e-3, "and gzip 1 ms more than that");
    assert_eq!([plain.written, zstd.written, gzip.written], [65_536; 3]);
    // Of 16 chunks of one number little is stored, and no more is read; what they decode to is counted all the same.
    all(&job("in.npy", "sevens", "zstd:1").planned(1 << 20, Assumed::disk(1))?)?;
    let again = price("sevens", "none")?;
    assert!(again.read < 8_000 && again.seconds > plain.written as f64 * 1e-9, "{again:?}");
    Ok(())
}

fn all(job: &Rechunk) -> Result<(u64, u64)> {
    let job = Job::Rechunk(job.clone());
    let open = job.open(None, ONE)?;
    let (mut written, mut kept) = (0, 0);
    for (pass, &tasks) in open.passes()?.iter().enumerate() {
        let done = open.run(pass, 0..tasks, &|_| {})?;
        written += done.written;
        kept += done.kept;
    }
    open.finish()?;
    Ok((written, kept))
}

fn is_right(path: &Path, add: u64) -> Result<()> {
    let array = open_array(path)?;
    for column in 0..SIDE {
        let held = array.get(column)?;
        let wanted: Vec<u8> = (0..SIDE).map(|row| number(row, column, add)).collect();
        assert!(held.bytes() == Some(&wanted), "column {column}");
    }
    Ok(())
}

#[test]
fn a_run_that_ended_in_any_pass_goes_on() -> Result<()> {
    let folder = Folder::new();
    square(&folder.at("in.npy"), 0);
    let planned = turned(&folder)?;
    let job = Job::Rechunk(planned.clone());
    let tasks = job.open(None, ONE)?.passes()?;
    let part = |pass: usize, tasks| job.open(None, ONE)?.run(pass, tasks, &|_| {});
    // In the first, before it and behind it.
    assert!(part(0, 0..1)?.written > 0);
    assert!(part(1, 0..1).is_err_and(|error| error.to_string().contains("is missing")));
    assert!(part(0, 0..tasks[0])?.kept > 0);
    // In the second: then the first is over, and is not begun again.
    assert!(part(1, 0..1)?.written > 0);
    let again = part(0, 0..tasks[0])?;
    assert_eq!((again.written, again.kept > 0), (0, true));
    let (written, kept) = all(&planned)?;
    assert!(written > 0 && kept > again.kept);
    is_right(&folder.at("columns"), 0)?;
    let names = fs::read_dir(&folder.0).expect("a folder").flatten().map(|entry| entry.file_name());
    let mut names: Vec<_> = names.collect();
    names.sort();
    assert_eq!(names, ["columns", "in.npy", "rows"]);
    Ok(())
}

#[test]
fn what_a_first_pass_made_of_another_source_is_not_read() -> Result<()> {
    let folder = Folder::new();
    square(&folder.at("in.npy"), 0);
    let job = Job::Rechunk(turned(&folder)?);
    let tasks = job.open(None, ONE)?.passes()?;
    let open = job.open(None, ONE)?;
    open.run(0, 0..tasks[0], &|_| {})?;
    open.run(1, 0..1, &|_| {})?;
    // The plan knows its source, whoever runs it.
    let text = job.to_json()?;
    let before: Option<Stamp> = Job::from_json(&text)?.1;
    square(&folder.at("in.npy"), 1);
    fs::remove_dir_all(folder.at("rows")).expect("a folder");
    let job = Job::Rechunk(turned(&folder)?);
    // However fast that was.
    let file = fs::File::options().append(true).open(folder.at("rows/c/3/0")).expect("a chunk");
    file.set_modified(std::time::UNIX_EPOCH).expect("a time");
    let fails = |result: Result<()>, what: &str| {
        let error = result.expect_err(what).to_string();
        assert!(error.contains(what), "{error}");
    };
    fails(job.open(before.as_ref(), ONE).map(|_| ()), "rows is not what was planned");
    let now = job.open(None, ONE)?;
    fails(now.run(0, 0..1, &|_| {}).map(|_| ()), "is of another plan, or of another source");
    fs::remove_dir_all(folder.at(".columns.tilework-between")).expect("a folder");
    now.run(0, 0..tasks[0], &|_| {})?;
    fails(now.run(1, 0..1, &|_| {}).map(|_| ()), "rows is not what the unfinished run in ");
    fs::remove_dir_all(folder.at(".columns.tilework-unfinished")).expect("a folder");
    now.run(1, 0..tasks[1], &|_| {})?;
    // Changed while it was read: what was written has no name.
    let file = fs::File::options().append(true).open(folder.at("rows/c/7/0")).expect("a chunk");
    let found = file.metadata().and_then(|found| found.modified()).expect("a time");
    file.set_modified(std::time::UNIX_EPOCH).expect("a time");
    fails(now.finish(), "rows is not what was read at first");
    assert!(!folder.at("columns").exists());
    file.set_modified(found).expect("a time");
    now.finish()?;
    is_right(&folder.at("columns"), 1)
}

/// An array of whose chunks one is cut short as soon as it was opened.
struct Cut<'a> {
    array: &'a zarr::Array,
    chunk: PathBuf,
    len: u64,
}

impl Read for Cut<'_> {
    fn shards(&self) -> &Shards {
        self.array.shards()
    }

    fn get(&self, piece: u64) -> Result<Held<'_>> {
        let held = self.array.get(piece);
        if piece == 2 {
            let file = fs::File::options().write(true).open(&self.chunk).expect("a chunk");
            file.set_len(self.len).expect("shorter");
        }
        held
    }
}

#[cfg(unix)]
#[test]
fn a_source_that_is_cut_short_while_it_is_read_is_an_error_and_what_was_written_stays() -> Result<()> {
    let folder = Folder::new();
    square(&folder.at("in.npy"), 0);
    let rows = Rechunk {
        only: None,
        from: folder.at("in.npy"),
        to: folder.at("rows"),
        chunks: vec![64, SIDE],
        shards: None,
        order: None,
        compression: None,
        plan: None,
    };
    all(&rows.planned(1 << 20, Assumed::disk(1))?)?;
    let chunk = folder.at("rows/c/2/0");
    let whole = fs::read(&chunk).expect("a chunk");
    for len in [0, 1, 4096, 10_000] {
        let array = open_array(&folder.at("rows"))?;
        let element = array.shards().element();
        let chunks = tilework::zarr::Array::new(element, &[SIDE; 2], &[32, SIDE], None, None)?;
        let to = zarr::create(&folder.at("out"), &Spec::new(chunks, element, &[SIDE; 2]))?;
        let wanted = Wanted { memory: 1 << 20, assumed: Assumed::disk(1), between: None };
        let end = End::new(Write::shards(&to), to.cost()?)?;
        let plan = Plan::new(&End::new(array.shards(), array.cost()?)?, &end, &wanted)?;
        let pass = &plan.passes[0];
        let run = |from: &dyn Read| {
            let run = Run { pass, from, to: &to, resume: true, window: 1 << 20, touched: 0.into() };
            run.tasks(0..pass.tasks()?.count(), 1, &|_| {})
        };
        let cut = Cut { array: &array, chunk: chunk.clone(), len };
        let error = run(&cut).expect_err("cut short").to_string();
        assert!(error.contains("rows/c/2/0"), "{len}: {error}");
        assert!(!folder.at("out").exists() && !to.has(4)? && !to.has(5)?);
        fs::write(&chunk, &whole).expect("a chunk");
        let found = open_array(&folder.at("rows"))?;
        run(&found)?;
        to.finish()?;
        let written = open_array(&folder.at("out"))?;
        for piece in 0..8 {
            let wanted: Vec<u8> =
                (0..32 * SIDE).map(|at| number(32 * piece + at / SIDE, at % SIDE, 0)).collect();
            assert!(written.get(piece)?.bytes() == Some(&wanted), "{len}: chunk {piece}");
        }
        fs::remove_dir_all(folder.at("out")).expect("a folder");
    }
    Ok(())
}

/// How far a run of a pass says that it is, at the end.
fn progress(job: &Job, pass: usize, tasks: std::ops::Range<u64>) -> Result<u64> {
    let most = std::sync::atomic::AtomicU64::new(0);
    let note = |done| _ = most.fetch_max(done, std::sync::atomic::Ordering::Relaxed);
    job.open(None, Bounds { threads: 2, ..ONE })?.run(pass, tasks, &note)?;
    Ok(most.into_inner())
}

#[test]
fn progress_is_counted_in_tasks_and_ends_with_the_last() -> Result<()> {
    let folder = Folder::new();
    square(&folder.at("in.npy"), 0);
    let job = Job::Rechunk(turned(&folder)?);
    let tasks = job.open(None, ONE)?.passes()?;
    assert_eq!([progress(&job, 0, 0..tasks[0])?, progress(&job, 1, 0..tasks[1])?], [tasks[0], tasks[1]]);
    // The first pass is over, and says so at once.
    assert_eq!(progress(&job, 0, 1..tasks[0])?, tasks[0] - 1);
    Ok(())
}

#[test]
fn a_first_piece_that_is_missing_is_missed() -> Result<()> {
    let folder = Folder::new();
    square(&folder.at("in.npy"), 0);
    let job = Job::Rechunk(turned(&folder)?);
    let tasks = job.open(None, ONE)?.passes()?;
    let open = job.open(None, ONE)?;
    for (pass, &tasks) in tasks.iter().enumerate() {
        open.run(pass, 0..tasks, &|_| {})?;
    }
    fs::remove_file(folder.at(".columns.tilework-unfinished/c/0/0")).expect("the first chunk");
    let error = open.finish().expect_err("a chunk is missing").to_string();
    assert!(error.contains("piece 0 is missing"), "{error}");
    assert!(!folder.at("columns").exists());
    Ok(())
}

#[test]
fn a_journal_that_was_cut_short_costs_only_what_it_lost() -> Result<()> {
    let folder = Folder::new();
    square(&folder.at("in.npy"), 0);
    let planned = turned(&folder)?;
    let job = Job::Rechunk(planned.clone());
    let tasks = job.open(None, ONE)?.passes()?;
    job.open(None, ONE)?.run(0, 0..tasks[0], &|_| {})?;
    let path = folder.at("..columns.tilework-between.tilework-unfinished/.journal");
    let journal = fs::read(&path).expect("a journal");
    fs::write(&path, &journal[..journal.len() / 2 + 3]).expect("half of it");
    let (_, kept) = all(&planned)?;
    assert!(kept > 0);
    is_right(&folder.at("columns"), 0)
}

#[test]
fn a_piece_that_goes_missing_between_two_passes_is_missed() -> Result<()> {
    let folder = Folder::new();
    square(&folder.at("in.npy"), 0);
    let job = Job::Rechunk(turned(&folder)?);
    let tasks = job.open(None, ONE)?.passes()?;
    let part = |pass: usize, tasks| job.open(None, ONE)?.run(pass, tasks, &|_| {});
    part(0, 0..tasks[0])?;
    part(1, 0..1)?; // which names the array between
    let between = folder.at(".columns.tilework-between");
    fs::remove_dir_all(between.join("c")).expect("its chunks");
    let error = part(1, 1..tasks[1]).expect_err("no zeros instead").to_string();
    assert!(error.contains(" is missing; the second pass reads all that the first has written"), "{error}");
    fs::remove_dir_all(&between).expect("a folder");
    for (pass, &tasks) in tasks.iter().enumerate() {
        part(pass, 0..tasks)?;
    }
    job.open(None, ONE)?.finish()?;
    is_right(&folder.at("columns"), 0)
}

#[test]
fn what_the_first_pass_of_another_plan_made_is_not_read() -> Result<()> {
    let folder = Folder::new();
    square(&folder.at("in.npy"), 0);
    let planned = turned(&folder)?;
    let middle = |job: &Rechunk| job.plan.as_ref().map(|plan| plan.passes[0].to.clone());
    let mapped = middle(&planned).expect("two passes").cost;
    assert!(mapped.partial && mapped.memory == 0, "{mapped:?}");
    // Of more or less memory, and so with other pieces between.
    let others = (2..64).filter_map(|kib| planned.planned(kib << 10, Assumed::disk(1)).ok());
    let is_other = |other: &Rechunk| {
        let passes = other.plan.as_ref().map(|plan| plan.passes.len());
        passes == Some(2) && middle(other) != middle(&planned)
    };
    let other = others.into_iter().find(is_other).expect("another plan");
    let job = Job::Rechunk(planned);
    let tasks = job.open(None, ONE)?.passes()?;
    job.open(None, ONE)?.run(0, 0..tasks[0], &|_| {})?;
    job.open(None, ONE)?.run(1, 0..1, &|_| {})?;
    let job = Job::Rechunk(other);
    let error = job.open(None, ONE)?.run(0, 0..1, &|_| {}).expect_err("of another plan").to_string();
    assert!(error.contains("is of another plan"), "{error}");
    Ok(())
}

#[test]
fn chunks_of_a_plain_file_lie_in_the_order_that_is_asked_for() -> Result<()> {
    let folder = Folder::new();
    square(&folder.at("in.npy"), 0);
    for (name, order) in [("rows", [0, 1]), ("columns", [1, 0])] {
        let job = Rechunk {
            only: None,
            from: folder.at("in.npy"),
            to: folder.at(name),
            chunks: vec![64, SIDE],
            shards: None,
            order: Some(order.to_vec()),
            compression: None,
            plan: None,
        };
        all(&job.planned(1 << 20, Assumed::disk(1))?)?;
        let array = open_array(&folder.at(name))?;
        let layout = array.shards().layout(1)?;
        let held = array.get(1)?;
        for (row, column) in [(0, 0), (0, 1), (1, 0), (5, 17), (63, 255)] {
            let place = layout.offset(&[row, column])?;
            assert_eq!(place, if order[0] == 0 { row * SIDE + column } else { column * 64 + row });
            assert_eq!(held.bytes().map(|bytes| bytes[place as usize]), Some(number(64 + row, column, 0)));
        }
    }
    Ok(())
}

#[test]
fn a_plan_that_somebody_changed_is_refused() -> Result<()> {
    let folder = Folder::new();
    square(&folder.at("in.npy"), 0);
    let text = Job::Rechunk(turned(&folder)?).to_json()?;
    let plan: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let grid = |pass: usize, end: &str, dim: usize| format!("/plan/passes/{pass}/{end}/grid/{dim}");
    for (pass, end) in [(0, "from"), (0, "to"), (1, "from"), (1, "to")] {
        for (dim, field, value) in [(0, "size", 3), (1, "size", 300), (0, "piece", 7), (1, "piece", 11)] {
            let mut plan = plan.clone();
            let place = format!("{}/{field}", grid(pass, end, dim));
            *plan.pointer_mut(&place).expect("a number") = value.into();
            let (job, stamp) = Job::from_json(&plan.to_string())?;
            let open = job.open(stamp.as_ref(), ONE)?;
            let passes = open.passes()?;
            let mut run = passes.iter().enumerate().map(|(pass, &tasks)| open.run(pass, 0..tasks, &|_| {}));
            assert!(run.any(|done| done.is_err()), "{place} is {value}");
            assert!(open.finish().is_err() && !folder.at("columns").exists());
            for left in [
                ".columns.tilework-between",
                "..columns.tilework-between.tilework-unfinished",
                ".columns.tilework-unfinished",
            ] {
                let _ = fs::remove_dir_all(folder.at(left)); // which of them there is depends on the change
            }
        }
    }
    Ok(())
}

/// Makes a file, and the folders that it is in.
fn put(folder: &Folder, name: &str, text: &str) {
    let path = folder.at(name);
    fs::create_dir_all(path.parent().expect("a folder"))
        .and_then(|()| fs::write(path, text))
        .expect("a file");
}

fn metadata(folder: &Folder, name: &str) -> serde_json::Value {
    serde_json::from_slice(&fs::read(folder.at(name)).expect("metadata")).expect("JSON")
}

#[test]
fn a_store_keeps_what_it_says_of_its_arrays_in_another_one() -> Result<()> {
    use tilework_copy::Threads;
    use tilework_files::container::{Change, How, Job as Move};
    let folder = Folder::new();
    let put = |name: &str, text: &str| put(&folder, name, text);
    put("a.zarr/.zgroup", r#"{"zarr_format": 2}"#);
    put("a.zarr/.zattrs", r#"{"title": "reanalysis", "years": [1979, 2020]}"#);
    put(
        "a.zarr/t/.zarray",
        r#"{"zarr_format": 2, "shape": [4, 6], "chunks": [2, 3], "dtype": "<f4", "order": "C", "compressor": null, "fill_value": -1.5, "filters": null}"#,
    );
    put("a.zarr/t/.zattrs", r#"{"_ARRAY_DIMENSIONS": ["y", "x"], "units": "K", "scale": 2.5}"#);
    let from = zarr::open(&folder.at("a.zarr"))?;
    let tensor = &from.tensors()[0];
    let jobs = [Move { name: "t".to_owned(), tensor, change: Change::Keep }];
    let how = How { pool: &Threads::all(), memory: None, check: true, progress: &|_| {} };
    let store = zarr::Store { compression: zarr::Compression::None };
    zarr::write(&from, &jobs, store, &folder.at("b.zarr"), &how).expect("a new store");
    let read = |name: &str| metadata(&folder, name);
    let (group, array) = (read("b.zarr/zarr.json"), read("b.zarr/t/zarr.json"));
    assert_eq!(group["attributes"], serde_json::json!({"title": "reanalysis", "years": [1979, 2020]}));
    assert_eq!(array["dimension_names"], serde_json::json!(["y", "x"]));
    assert_eq!((&array["attributes"]["units"], &array["attributes"]["scale"]), (&"K".into(), &2.5.into()));
    assert_eq!(array["fill_value"], -1.5);
    // What xarray reads: version 3 says the names beside the attributes, and what stands for none among them.
    assert_eq!(array["attributes"]["_FillValue"], "AAAAAAAA+L8=");
    assert!(array["attributes"].get("_ARRAY_DIMENSIONS").is_none());
    // Nothing was written of it, so all of it is the fill.
    let held = open_array(&folder.at("b.zarr/t"))?;
    assert_eq!(
        Read::get(&held, 0)?.bytes().map(|bytes| bytes[..4].to_vec()),
        Some((-1.5_f32).to_le_bytes().to_vec())
    );
    Ok(())
}

#[test]
fn groups_below_the_root_keep_what_they_say() -> Result<()> {
    use tilework_copy::Threads;
    use tilework_files::container::{Change, How, Job as Move};
    let folder = Folder::new();
    let put = |name: &str, text: &str| put(&folder, name, text);
    let array = r#"{"zarr_format": 2, "shape": [4], "chunks": [2], "dtype": "<f4", "order": "C", "compressor": null, "fill_value": 1, "filters": null}"#;
    for (group, attributes) in [
        ("", r#"{"title": "all"}"#),
        ("a/", r#"{"kind": "model"}"#),
        ("a/b/", r#"{"run": 1}"#),
        ("c/", r#"{"later": null}"#),
    ] {
        put(&format!("in.zarr/{group}.zgroup"), r#"{"zarr_format": 2}"#);
        put(&format!("in.zarr/{group}.zattrs"), attributes);
    }
    put("in.zarr/a/b/t/.zarray", array);
    put("in.zarr/a/u/.zarray", array);
    let read = |name: &str| -> serde_json::Value {
        serde_json::from_slice(&fs::read(folder.at(name)).expect(name)).expect("JSON")
    };
    let write = |out: &str, names: &[(&str, &str)]| {
        let from = zarr::open(&folder.at("in.zarr")).expect("a store");
        let named = |name: &str| from.tensors().iter().find(|tensor| tensor.name == name).expect("an array");
        let jobs: Vec<Move> = (names.iter())
            .map(|(name, new)| Move { name: (*new).to_owned(), tensor: named(name), change: Change::Keep })
            .collect();
        let how = How { pool: &Threads::all(), memory: None, check: true, progress: &|_| {} };
        let store = zarr::Store { compression: zarr::Compression::None };
        zarr::write(&from, &jobs, store, &folder.at(out), &how).expect("a new store");
        let of = |group: &str| read(&format!("{out}/{group}zarr.json"))["attributes"].to_string();
        let has = |group: &str| folder.at(&format!("{out}/{group}zarr.json")).exists();
        let attributes = ["", "a/", "a/b/", "c/"].map(|group| has(group).then(|| of(group)));
        attributes.map(Option::unwrap_or_default)
    };
    let all = [r#"{"title":"all"}"#, r#"{"kind":"model"}"#, r#"{"run":1}"#, r#"{"later":null}"#];
    assert_eq!(write("all.zarr", &[("a/b/t", "a/b/t"), ("a/u", "a/u")]), all);
    assert!(read("all.zarr/zarr.json").get("consolidated_metadata").is_none());
    // Of some arrays the groups that they are in; under other names those that they come from.
    assert_eq!(write("one.zarr", &[("a/u", "a/u")]), [all[0], all[1], "", ""]);
    assert_eq!(write("named.zarr", &[("a/b/t", "a/c/t"), ("a/u", "c/u")]), [all[0], all[1], "", all[1]]);
    assert_eq!(read("named.zarr/a/c/zarr.json")["attributes"].to_string(), all[2]);
    // What a root says of all that is in its store, it says again.
    put("in.zarr/.zmetadata", "{}");
    assert_eq!(write("said.zarr", &[("a/b/t", "a/b/t"), ("a/u", "a/u")]), all);
    let said = &read("said.zarr/zarr.json")["consolidated_metadata"]["metadata"];
    for path in ["a", "a/b", "c", "a/b/t", "a/u"] {
        assert_eq!(said[path], read(&format!("said.zarr/{path}/zarr.json")), "{path}");
    }
    assert_eq!(said.as_object().map(serde_json::Map::len), Some(5));
    Ok(())
}

#[test]
fn a_chunk_may_be_all_of_a_dimension() -> Result<()> {
    let folder = Folder::new();
    square(&folder.at("in.npy"), 0);
    let job = Rechunk {
        only: None,
        from: folder.at("in.npy"),
        to: folder.at("out"),
        chunks: vec![Rechunk::WHOLE, 8],
        shards: Some(vec![Rechunk::WHOLE, Rechunk::WHOLE]),
        order: None,
        compression: None,
        plan: None,
    };
    let planned = job.planned(1 << 28, Assumed::files(1, &job.from, &job.to))?;
    assert_eq!((planned.chunks, planned.shards), (vec![SIDE, 8], Some(vec![SIDE, SIDE])));
    // One size too many is said as it is of any other.
    let many = Rechunk { chunks: vec![Rechunk::WHOLE; 3], shards: None, ..job };
    let error = many.planned(1 << 28, Assumed::files(1, &many.from, &many.to)).expect_err("three sizes");
    assert!(error.to_string().contains("2 dimensions"), "{error}");
    Ok(())
}
