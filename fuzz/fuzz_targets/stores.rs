//! Any metadata and any bytes of a chunk are a store or refused; what is read of one is the same when it is written into another
//! and read again. The first byte is the version, the next two how long the metadata are; the chunk follows.
#![no_main]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use tilework_copy::Inline;
use tilework_files::container::{Change, Compared, Container, Content, How, Job, Tensor, compare};
use tilework_stores::zarr::{self, Store};

/// Bytes of an array that are worth unpacking here.
const MOST: u64 = 1 << 16;

/// The keys that a first chunk has, by sizes and separators.
const KEYS: [&str; 8] = ["c/0/0", "c/0", "c", "0.0", "0/0", "0", "c.0.0", "c.0"];

/// A folder for this process, in memory where the system has such a place.
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let memory = PathBuf::from("/dev/shm");
    let place = if memory.is_dir() { memory } else { std::env::temp_dir() };
    let folder = place.join(format!("tilework-fuzz-stores-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    folder
});

fuzz_target!(|bytes: &[u8]| {
    let Some((&[version, low, high], rest)) = bytes.split_first_chunk() else { return };
    let len = usize::from(u16::from_le_bytes([low, high])).min(rest.len());
    let (metadata, chunk) = rest.split_at(len);
    let store = FOLDER.join("x.zarr");
    let _ = fs::remove_dir_all(&store); // it need not exist
    write(&store.join(if version & 1 == 0 { "zarr.json" } else { ".zarray" }), metadata);
    if let Ok(container) = zarr::open(&store) {
        // One that cannot be written stands where a folder of another key is.
        KEYS.iter().for_each(|key| write(&store.join(key), chunk));
        again(&container);
    }
});

fn write(path: &Path, bytes: &[u8]) {
    let folder = path.parent().expect("a folder");
    if fs::create_dir_all(folder).is_ok() {
        let _ = fs::write(path, bytes);
    }
}

fn again(container: &Container) {
    let is_read = |tensor: &&Tensor| {
        tensor.bytes() <= MOST
            && !matches!(tensor.content, Content::Unread { .. })
            && container.data(tensor, &FOLDER).is_ok()
    };
    let jobs: Vec<Job> = container
        .tensors()
        .iter()
        .filter(is_read)
        .map(|tensor| Job { name: tensor.name.clone(), tensor, change: Change::Keep })
        .collect();
    if jobs.is_empty() {
        return;
    }
    let out = FOLDER.join("y.zarr");
    let _ = fs::remove_dir_all(&out); // it need not exist
    let how = How { pool: &Inline, memory: None, check: true, progress: &|_| {} };
    zarr::write(container, &jobs, Store::default(), &out, &how).expect("it was read");
    let back = zarr::open(&out).unwrap_or_else(|error| panic!("what was written is not read: {error}"));
    for (job, own) in jobs.iter().zip(back.tensors()) {
        let compared = compare((container, job.tensor), (&back, own), 0.0, &FOLDER).expect("both are read");
        assert_eq!(compared, Compared::Equal, "{}", job.name);
    }
}
