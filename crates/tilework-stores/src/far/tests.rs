//! What a store makes of a server that fails, is gone in the middle, or lies: over one in memory.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use tilework::{Element, zarr::Array as Chunks};

use super::stage::MARK;
use super::*;
use crate::job::{Job, Rechunk};
use crate::plan::Assumed;
use crate::run::Bounds;
use crate::store::Write;
use crate::zarr::{self, Compression, Spec};

mod checkpoints;
mod files;
mod folders;

/// The how-manieth put it was, and the bytes.
type Put = (u64, Arc<Vec<u8>>);

/// What the bytes of an answer become.
type Lie = fn(&mut Got);

/// A server in memory, for the addresses of one bucket.
#[derive(Debug, Default)]
struct Shelf {
    /// What stands under each key.
    objects: Mutex<BTreeMap<String, Put>>,
    /// Requests that were answered or refused: the verb and the key.
    log: Mutex<Vec<String>>,
    faults: Mutex<Faults>,
    /// The bytes of each answer.
    sent: Mutex<Vec<u64>>,
    asked: AtomicU64,
}

#[derive(Clone, Debug, Default)]
struct Faults {
    /// Every so many requests one fails that would go well the next time.
    now_and_then: Option<u64>,
    /// Puts of chunks and files that go well; then nothing does, as after a kill.
    puts: Option<u64>,
    /// What is wrong with answers.
    lie: Option<Lie>,
    /// How often that happens; always without.
    lies: Option<u64>,
    /// What an object is said to have.
    long: Option<u64>,
    /// Whether nobody may list it.
    is_secret: bool,
}

static SHELVES: LazyLock<Mutex<HashMap<String, Arc<Shelf>>>> = LazyLock::new(Mutex::default);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The server of a test, if the address is of one.
pub(super) fn server(address: &Address) -> Option<Arc<dyn Server>> {
    let shelf = Arc::clone(lock(&SHELVES).get(&address.bucket)?);
    Some(Arc::new(View { shelf, address: address.clone() }))
}

/// A new server, and the address of a store on it.
fn shelf(test: &str) -> (Arc<Shelf>, impl Fn(&str) -> PathBuf + use<>) {
    let (shelf, bucket) = (Arc::new(Shelf::default()), format!("memory-{test}"));
    lock(&SHELVES).insert(bucket.clone(), Arc::clone(&shelf));
    (shelf, move |name: &str| PathBuf::from(format!("s3://{bucket}/folder/{name}")))
}

impl Shelf {
    fn keys(&self) -> Vec<String> {
        lock(&self.objects).keys().cloned().collect()
    }

    fn forget_log(&self) {
        lock(&self.log).clear();
    }

    fn count(&self, verb: &str) -> usize {
        lock(&self.log).iter().filter(|line| line.starts_with(verb)).count()
    }

    fn set(&self, faults: Faults) {
        *lock(&self.faults) = faults;
    }
}

#[derive(Debug)]
struct View {
    shelf: Arc<Shelf>,
    address: Address,
}

impl View {
    fn key(&self, key: &str) -> String {
        format!("{}/{key}", self.address.names.join("/")).trim_end_matches('/').to_owned()
    }

    /// Notes a request, which fails now and then.
    fn asked(&self, verb: &str, key: &str) -> Answer<()> {
        lock(&self.shelf.log).push(format!("{verb} {key}"));
        let number = self.shelf.asked.fetch_add(1, Ordering::Relaxed) + 1;
        let faults = lock(&self.shelf.faults).clone();
        let failure = |text: &str, again| Err(Failure { error: Error::new(text), again });
        match faults {
            Faults { puts: Some(0), .. } => failure("the server is gone", false),
            Faults { now_and_then: Some(every), .. } if number.is_multiple_of(every) => {
                failure("the server is busy", true)
            }
            _ => Ok(()),
        }
    }
}

impl Server for View {
    fn name(&self) -> String {
        self.address.to_string()
    }

    fn get(&self, key: &str, part: &Part, most: u64) -> Answer<Option<Got>> {
        self.asked("get", key)?;
        let Some((number, bytes)) = lock(&self.shelf.objects).get(&self.key(key)).cloned() else {
            return Ok(None);
        };
        let len = bytes.len() as u64;
        let range = match part {
            Part::Whole => 0..len,
            Part::Bytes(_, Some(version)) if *version != number.to_string() => {
                return Err(Error::new("another version").into());
            }
            Part::Bytes(range, _) => range.clone(),
            Part::Start(bytes) => 0..len.min(*bytes),
            Part::End(bytes) => len - len.min(*bytes)..len,
        };
        if range.end - range.start > most {
            return Err(Error::new(format!("{key}: {len} bytes, and {most} are wanted at most")).into());
        }
        let mut got = Got {
            bytes: bytes[range.start as usize..range.end as usize].to_vec(),
            start: range.start,
            len,
            version: Some(number.to_string()),
        };
        let mut faults = lock(&self.shelf.faults);
        if let (Some(lie), true) = (faults.lie, faults.lies != Some(0)) {
            lie(&mut got);
            faults.lies = faults.lies.map(|left| left - 1);
        }
        lock(&self.shelf.sent).push(got.bytes.len() as u64);
        Ok(Some(got))
    }

    fn head(&self, key: &str) -> Answer<Option<(u64, Option<String>)>> {
        self.asked("head", key)?;
        let found = lock(&self.shelf.objects).get(&self.key(key)).cloned();
        let long = lock(&self.shelf.faults).long;
        Ok(found.map(|(number, bytes)| (long.unwrap_or(bytes.len() as u64), Some(number.to_string()))))
    }

    fn folders(&self, key: &str) -> Answer<Option<Vec<String>>> {
        self.asked("list", key)?;
        if lock(&self.shelf.faults).is_secret {
            return Ok(None);
        }
        let prefix = format!("{}/", self.key(key));
        let mut names: Vec<String> = Vec::new();
        for found in self.shelf.keys() {
            let rest = found.strip_prefix(&prefix).and_then(|rest| rest.split_once('/'));
            names.extend(rest.map(|(name, _)| name.to_owned()));
        }
        names.dedup();
        Ok(Some(names))
    }

    fn list(&self, most: usize) -> Answer<Vec<String>> {
        self.asked("list", "")?;
        let prefix = self.key("") + "/";
        let keys = self.shelf.keys();
        Ok(keys.iter().filter_map(|key| key.strip_prefix(&prefix)).take(most).map(str::to_owned).collect())
    }

    fn put(&self, key: &str, body: &Arc<dyn Body>) -> Answer<()> {
        self.asked("put", key)?;
        if let Some(left) = &mut lock(&self.shelf.faults).puts
            && (key.contains("c/") || key.ends_with(".safetensors"))
        {
            *left -= 1; // at 0 it was refused
        }
        let number = self.shelf.asked.load(Ordering::Relaxed);
        lock(&self.shelf.objects).insert(self.key(key), (number, Arc::new(body.all().to_vec())));
        body.sent(body.all().len() as u64);
        Ok(())
    }

    fn remove(&self, key: &str) -> Answer<()> {
        self.asked("remove", key)?;
        lock(&self.shelf.objects).remove(&self.key(key));
        Ok(())
    }
}

const SIZES: [u64; 2] = [50, 40];

fn spec(chunks: &[u64], shards: Option<&[u64]>, compression: Compression) -> Result<Spec> {
    let array = Chunks::new(Element::U16, &SIZES, chunks, shards, None)?;
    Ok(Spec { compression, fill: 9, ..Spec::new(array, Element::U16, &SIZES) })
}

/// Element (i, j) is 40·i + j.
fn make(array: &dyn Write, piece: u64) -> Result<()> {
    let region = array.shards().grid().region(piece)?;
    let layout = array.shards().layout(piece)?;
    array.put(piece, &mut |bytes| {
        for i in 0..region.size[0] {
            for j in 0..region.size[1] {
                let at = 2 * layout.offset(&[i, j])? as usize;
                let value = 40 * (region.start[0] + i) + region.start[1] + j;
                bytes[at..at + 2].copy_from_slice(&(value as u16).to_le_bytes());
            }
        }
        Ok(())
    })
}

fn written(at: &Path, spec: &Spec) -> Result<()> {
    let array = zarr::create(at, spec)?;
    (0..array.shards().grid().count()).try_for_each(|piece| make(&array, piece))?;
    array.finish()
}

/// Whether a store has the elements of `make`.
fn is_right(at: &Path) -> Result<bool> {
    use crate::store::Read;
    let array = zarr::open_array(at)?;
    let shards = array.shards();
    for piece in 0..shards.grid().count() {
        let (region, layout, held) = (shards.grid().region(piece)?, shards.layout(piece)?, array.get(piece)?);
        let Some(bytes) = held.bytes() else { return Ok(false) };
        for i in 0..region.size[0] {
            for j in 0..region.size[1] {
                let at = 2 * layout.offset(&[i, j])? as usize;
                let value = 40 * (region.start[0] + i) + region.start[1] + j;
                if bytes[at..at + 2] != (value as u16).to_le_bytes() {
                    return Ok(false);
                }
            }
        }
    }
    Ok(true)
}

fn rechunk(from: &Path, to: &Path, chunks: &[u64], memory: u64) -> Result<Job> {
    let job = Rechunk {
        only: None,
        from: from.to_owned(),
        to: to.to_owned(),
        chunks: chunks.to_vec(),
        shards: None,
        order: None,
        compression: None,
        plan: None,
    };
    Ok(Job::Rechunk(job.planned(memory, Assumed::objects(2))?))
}

/// Runs a job, with so many threads. Returns how many pieces were written, and how many were there.
fn run(job: &Job, threads: usize) -> Result<(u64, u64)> {
    let open = job.open(None, Bounds { threads, memory: 1 << 30, window: 1 << 20 })?;
    let mut all = (0, 0);
    for (pass, tasks) in open.passes()?.into_iter().enumerate() {
        let done = open.run(pass, 0..tasks, &|_| {})?;
        all = (all.0 + done.written, all.1 + done.kept);
    }
    open.finish()?;
    Ok(all)
}

#[test]
fn what_fails_now_and_then_is_tried_again_and_everything_is_right() -> Result<()> {
    for (compression, shards) in
        [(Compression::None, None), (Compression::Zstd(1), None), (Compression::Gzip(1), Some(&[20, 20][..]))]
    {
        let (shelf, at) = shelf(&format!("busy-{}-{}", compression == Compression::None, shards.is_some()));
        shelf.set(Faults { now_and_then: Some(3), ..Faults::default() });
        written(&at("a.zarr"), &spec(&[10, 20], shards, compression)?)?;
        assert!(is_right(&at("a.zarr"))?);
        let job = rechunk(&at("a.zarr"), &at("b.zarr"), &[50, 3], 1 << 20)?;
        let text = job.to_json()?;
        assert_eq!(run(&Job::from_json(&text)?.0, 4)?, (14, 0));
        assert!(is_right(&at("b.zarr"))?);
        assert!(!shelf.keys().iter().any(|key| key.contains("unfinished") || key.contains("between")));
    }
    Ok(())
}

#[test]
fn two_passes_leave_nothing_between() -> Result<()> {
    let (shelf, at) = shelf("between");
    written(&at("a.zarr"), &spec(&[50, 1], None, Compression::None)?)?;
    let job = rechunk(&at("a.zarr"), &at("b.zarr"), &[1, 40], 400)?;
    let Job::Rechunk(Rechunk { plan: Some(plan), .. }) = &job else { panic!("a plan") };
    assert_eq!(plan.passes.len(), 2, "{plan:?}");
    run(&job, 2)?;
    assert!(is_right(&at("b.zarr"))?);
    assert!(!shelf.keys().iter().any(|key| key.contains("between")), "{:?}", shelf.keys());
    Ok(())
}

#[test]
fn a_run_that_was_killed_leaves_no_store_and_is_gone_on_with() -> Result<()> {
    let (shelf, at) = shelf("killed");
    written(&at("a.zarr"), &spec(&[10, 40], None, Compression::None)?)?;
    let job = rechunk(&at("a.zarr"), &at("b.zarr"), &[5, 40], 1 << 20)?;
    shelf.set(Faults { puts: Some(4), ..Faults::default() });
    let error = run(&job, 1).expect_err("the server is gone").to_string();
    assert!(error.contains("the server is gone"), "{error}");
    shelf.set(Faults::default());
    assert!(!zarr::is_store(&at("b.zarr"))? && zarr::open_array(&at("b.zarr")).is_err());
    // Another job may not write there, and the same one goes on.
    let other = rechunk(&at("a.zarr"), &at("b.zarr"), &[50, 4], 1 << 20)?;
    assert!(run(&other, 1).expect_err("of another job").to_string().contains("another job"));
    // Nor of a source that has changed.
    let change = |by: i64| {
        if let Some(put) = lock(&shelf.objects).get_mut("folder/a.zarr/zarr.json") {
            put.0 = put.0.wrapping_add_signed(by);
        }
    };
    change(1);
    let error = run(&job, 1).expect_err("a changed source").to_string();
    assert!(error.contains("a.zarr is not what the unfinished run"), "{error}");
    change(-1);
    assert_eq!(run(&job, 1)?, (6, 4));
    assert!(is_right(&at("b.zarr"))?);
    // What is complete is not written again.
    assert!(run(&job, 1).expect_err("exists").to_string().contains("exists"));
    assert!(is_right(&at("b.zarr"))?);
    Ok(())
}

#[test]
fn metadata_come_last_and_go_first() -> Result<()> {
    let (shelf, at) = shelf("order");
    let spec = spec(&[25, 40], None, Compression::None)?;
    written(&at("a.zarr"), &spec)?;
    let puts: Vec<String> =
        lock(&shelf.log).iter().filter(|line| !line.starts_with("list")).cloned().collect();
    let mark = format!("put {MARK}");
    assert_eq!(puts, [mark.as_str(), "put c/0/0", "put c/1/0", "put zarr.json", &format!("remove {MARK}")]);
    // An unfinished store is begun again: its metadata first, its mark last.
    let address = Address::of(&at("a.zarr"))?.expect("an address");
    open(&address)?.put(MARK, Vec::new())?;
    shelf.forget_log();
    drop(zarr::create(&at("a.zarr"), &spec)?);
    let mut log = lock(&shelf.log).split_off(3);
    log[1..3].sort_unstable(); // in whatever order
    let mark = [format!("remove {MARK}"), format!("put {MARK}")];
    assert_eq!(log, ["remove zarr.json", "remove c/0/0", "remove c/1/0", &mark[0], &mark[1]]);
    Ok(())
}

#[test]
fn what_is_there_already_stays() -> Result<()> {
    let (shelf, at) = shelf("there");
    let spec = spec(&[25, 40], None, Compression::None)?;
    lock(&shelf.objects).insert("folder/a.zarr/notes.txt".to_owned(), (0, Arc::new(Vec::new())));
    let error = zarr::create(&at("a.zarr"), &spec).expect_err("something is there").to_string();
    assert!(error.contains("notes.txt"), "{error}");
    // Names that begin so are other stores.
    written(&at("a.zar"), &spec)?;
    assert!(zarr::create(&at(""), &spec).is_err());
    for other in ["https://h/a.zarr", "s3://memory-there"] {
        let error = zarr::create(Path::new(other), &spec).expect_err("no place for a store").to_string();
        assert!(error.contains(other), "{error}");
    }
    assert!(rechunk(&at("a.zar"), &at("a.zar/b"), &[5, 5], 1 << 20).is_err());
    assert!(shelf.keys().contains(&"folder/a.zarr/notes.txt".to_owned()));
    Ok(())
}

#[test]
fn a_server_that_lies_is_an_error_with_the_name_of_the_object() -> Result<()> {
    let lies: [(&str, Lie); 4] = [
        ("short", |got| got.bytes.truncate(got.bytes.len() - 1)),
        ("long", |got| got.bytes.push(0)),
        ("elsewhere", |got| got.start += 1),
        ("empty", |got| got.bytes.clear()),
    ];
    for (name, lie) in lies {
        for shards in [None, Some(&[20, 20][..])] {
            let (shelf, at) = shelf(&format!("lies-{name}-{}", shards.is_some()));
            let path = at("a.zarr");
            written(&path, &spec(&[10, 20], shards, Compression::Zstd(1))?)?;
            let array = zarr::open_array(&path)?;
            shelf.set(Faults { lie: Some(lie), ..Faults::default() });
            let read = || crate::store::Read::get(&array, 0).map(drop);
            let error = read().expect_err("a lie").to_string();
            assert!(error.contains("folder/a.zarr/c/0/0: the server sent"), "{name}: {error}");
            // Once or twice is forgiven.
            shelf.set(Faults { lie: Some(lie), lies: Some(2), ..Faults::default() });
            read()?;
        }
    }
    Ok(())
}

#[test]
fn an_object_that_is_larger_than_its_chunk_is_not_read() -> Result<()> {
    let (shelf, at) = shelf("large");
    written(&at("a.zarr"), &spec(&[10, 20], None, Compression::None)?)?;
    let large = (7, Arc::new(vec![0; 401]));
    lock(&shelf.objects).insert("folder/a.zarr/c/0/0".to_owned(), large);
    let array = zarr::open_array(&at("a.zarr"))?;
    let error = crate::store::Read::get(&array, 0).map(drop).expect_err("too large").to_string();
    assert!(error.contains("401 bytes"), "{error}");
    // And a shard that is another meanwhile is seen, as its index was that of the first.
    written(&at("b.zarr"), &spec(&[10, 20], Some(&[20, 40]), Compression::None)?)?;
    let array = zarr::open_array(&at("b.zarr"))?;
    assert!(crate::store::Read::get(&array, 0).is_ok());
    for entry in lock(&shelf.objects).values_mut() {
        entry.0 += 1000;
    }
    let error = crate::store::Read::get(&array, 1).map(drop).expect_err("another version").to_string();
    assert!(error.contains("another version"), "{error}");
    Ok(())
}

#[test]
fn chunks_of_a_shard_are_one_request_and_so_is_its_index() -> Result<()> {
    let (shelf, at) = shelf("merged");
    written(&at("a.zarr"), &spec(&[5, 10], Some(&[50, 40]), Compression::Zstd(1))?)?;
    let job = rechunk(&at("a.zarr"), &at("b.zarr"), &[50, 40], 1 << 20)?;
    shelf.forget_log();
    run(&job, 1)?;
    assert_eq!(shelf.count("get c/"), 2, "{:?}", lock(&shelf.log));
    assert_eq!(shelf.count("put c/"), 1);
    // A chunk that stands alone is one request of each task that wants it, and is not asked for its length.
    shelf.forget_log();
    run(&rechunk(&at("b.zarr"), &at("c.zarr"), &[25, 40], 1 << 20)?, 1)?;
    assert_eq!((shelf.count("get c/"), shelf.count("head c/")), (2, 0), "{:?}", lock(&shelf.log));
    assert!(is_right(&at("c.zarr"))?);
    Ok(())
}

#[test]
fn a_group_is_listed_or_says_itself_what_is_in_it() -> Result<()> {
    let (shelf, at) = shelf("groups");
    written(&at("g/x"), &spec(&[25, 40], None, Compression::None)?)?;
    let put = |key: &str, text: String| {
        lock(&shelf.objects).insert(format!("folder/g/{key}"), (0, Arc::new(text.into_bytes())))
    };
    put("zarr.json", r#"{"zarr_format": 3, "node_type": "group", "attributes": {}}"#.to_owned());
    let names = || -> Result<Vec<String>> {
        Ok(zarr::open(&at("g"))?.tensors().iter().map(|tensor| tensor.name.clone()).collect())
    };
    assert_eq!(names()?, ["x"]);
    shelf.set(Faults { is_secret: true, ..Faults::default() });
    assert!(names().expect_err("nobody may list it").to_string().contains("consolidate"));
    let array = lock(&shelf.objects)["folder/g/x/zarr.json"].1.clone();
    let array = String::from_utf8_lossy(&array).into_owned();
    put(
        "zarr.json",
        format!(
            r#"{{"zarr_format": 3, "node_type": "group", "attributes": {{}}, "consolidated_metadata": {{"metadata": {{"x": {array}}}}}}}"#
        ),
    );
    assert_eq!(names()?, ["x"]);
    Ok(())
}

#[cfg(not(feature = "objects"))]
#[test]
fn a_build_without_a_network_says_so() {
    for result in
        [zarr::open(Path::new("s3://b/a.zarr")).map(drop), zarr::is_store(Path::new("https://h/a")).map(drop)]
    {
        let error = result.expect_err("no network").to_string();
        assert!(error.contains("not in this build") && error.contains("objects"), "{error}");
    }
}
