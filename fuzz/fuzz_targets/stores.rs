//! Any metadata and any bytes of a chunk are a store or refused; what is read of one is the same when it is written into another
//! and read again. The first byte is the version, the next two how long the metadata are; the chunk follows. A version of 2 or more
//! is a database (OCDBT): 2 one whose root is any node of the height that the next byte says, 3 one of any manifest. Their frames and
//! checksums are made here. From 4 on it is a checkpoint of Orbax: the metadata are its tree, the chunk is what it says of devices.
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
    if version & 4 != 0 {
        checkpoint(metadata, chunk);
        return;
    }
    if version & 2 != 0 {
        database(version & 1 == 0, low, rest);
        return;
    }
    let store = FOLDER.join("x.zarr");
    let _ = fs::remove_dir_all(&store); // it need not exist
    write(&store.join(if version & 1 == 0 { "zarr.json" } else { ".zarray" }), metadata);
    if let Ok(container) = zarr::open(&store) {
        // One that cannot be written stands where a folder of another key is.
        KEYS.iter().for_each(|key| write(&store.join(key), chunk));
        again(&container);
    }
});

/// A checkpoint of one array, `a.b`, and whatever its tree says of it.
fn checkpoint(tree: &[u8], shardings: &[u8]) {
    let folder = FOLDER.join("x.checkpoint");
    let _ = fs::remove_dir_all(&folder); // it need not exist
    let array = br#"{"zarr_format": 2, "shape": [2], "chunks": [2], "dtype": "|u1", "order": "C", "fill_value": 0, "filters": null, "compressor": null}"#;
    let files =
        [("a.b/.zarray", &array[..]), ("a.b/0", &[1, 2]), ("_METADATA", tree), ("_sharding", shardings)];
    files.iter().for_each(|(name, bytes)| write(&folder.join(name), bytes));
    if let Ok(container) = zarr::open(&folder) {
        again(&container);
    }
}

/// A database of one node.
fn database(has_node: bool, height: u8, body: &[u8]) {
    let store = FOLDER.join("x.ocdbt");
    let _ = fs::remove_dir_all(&store); // it need not exist
    let node = framed(0x0cdb_20de, body);
    // A number, one manifest, limits of 0, no compression; the file d/0, and in it the root of the first version.
    let mut manifest = vec![0; 21];
    manifest.extend([1, 3, 0, b'd', b'/', b'0', 1, 1, height, 0, 0]);
    let mut len = node.len();
    while len > 0x7f {
        manifest.push(len as u8 | 0x80);
        len >>= 7;
    }
    manifest.push(len as u8);
    write(&store.join("d/0"), &node);
    write(&store.join("manifest.ocdbt"), &framed(0x0cdb_3a2a, if has_node { &manifest } else { body }));
    if let Ok(container) = zarr::open(&store) {
        again(&container);
    }
}

/// Magic bytes, the length, version 0, no compression, a body and its checksum.
fn framed(magic: u32, body: &[u8]) -> Vec<u8> {
    let mut bytes = magic.to_be_bytes().to_vec();
    bytes.extend((body.len() as u64 + 18).to_le_bytes());
    bytes.extend([0, 0]);
    bytes.extend(body);
    let bit = |sum: u32, _| if sum & 1 == 1 { sum >> 1 ^ 0x82f6_3b78 } else { sum >> 1 };
    let sum = !bytes.iter().fold(!0, |sum, byte| (0..8).fold(sum ^ u32::from(*byte), bit));
    bytes.extend(sum.to_le_bytes());
    bytes
}

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
