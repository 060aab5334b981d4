//! Any bytes are a file of named arrays or refused; what is read of one is within it, and is the same when it is written into
//! another format and read again. The first byte chooses the name of the file and the format of the other.
#![no_main]

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use tilework_copy::Inline;
use tilework_files::container::{
    Change, Compared, Container, Content, Format, How, Job, Target, Tensor, compare, write,
};

const NAMES: [&str; 5] = ["x.safetensors", "x.npz", "x.gguf", "x.npy", "x.safetensors.index.json"];
const OTHERS: [(Format, &str); 3] =
    [(Format::Safetensors, "y.safetensors"), (Format::Npz, "y.npz"), (Format::Gguf, "y.gguf")];

/// Bytes of an array that are worth unpacking here.
const MOST: u64 = 1 << 20;

/// A shard that an index may name.
const SHARD: &[u8] = b"\x70\0\0\0\0\0\0\0{\"a\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[0,3]},\
    \"b\":{\"dtype\":\"I16\",\"shape\":[1,2],\"data_offsets\":[3,7]}}    1234567";

/// A folder for this process, in memory where the system has such a place. There is a shard in it.
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let memory = PathBuf::from("/dev/shm");
    let place = if memory.is_dir() { memory } else { std::env::temp_dir() };
    let folder = place.join(format!("tilework-fuzz-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("s.safetensors"), SHARD).expect("it is written");
    folder
});

fuzz_target!(|bytes: &[u8]| {
    let Some((&choice, input)) = bytes.split_first() else { return };
    let choice = usize::from(choice);
    let path = FOLDER.join(NAMES[choice % NAMES.len()]);
    fs::write(&path, input).expect("it is written");
    if let Ok(container) = Container::open(&path) {
        read(&container, input.len().max(SHARD.len()) as u64);
        again(&container, OTHERS[choice / NAMES.len() % OTHERS.len()]);
    }
    fs::remove_file(&path).expect("it was there");
});

fn read(container: &Container, len: u64) {
    for tensor in container.tensors() {
        // Nothing but deflated bytes stands for more than there are.
        assert!(tensor.bytes() <= len || container.format() == Format::Npz, "{tensor:?}");
        if tensor.bytes() > MOST {
            continue;
        }
        let Ok(data) = container.data(tensor, &FOLDER) else { continue };
        assert_eq!(data.array().len() as u64, tensor.bytes());
        match &tensor.content {
            Content::Array(array) => assert_eq!(array.layout.bytes(), tensor.bytes()),
            Content::Blocks(blocks) => assert_eq!(blocks.bytes(), tensor.bytes()),
            Content::Unread { .. } => {}
        }
    }
}

fn again(container: &Container, (format, name): (Format, &str)) {
    let is_read = |tensor: &&Tensor| {
        tensor.bytes() <= MOST
            && !matches!(tensor.content, Content::Unread { .. })
            && container.data(tensor, &FOLDER).is_ok()
    };
    let tensors: Vec<&Tensor> = container.tensors().iter().filter(is_read).collect();
    let job = |tensor: &&'_ Tensor| tensor.name.clone();
    let names: Vec<String> = tensors.iter().map(job).collect();
    let jobs: Vec<Job> = tensors
        .iter()
        .zip(&names)
        .map(|(tensor, name)| Job { name: name.clone(), tensor, change: Change::Keep })
        .collect();
    let path = FOLDER.join(name);
    let target = Target { format, folder: None, transposed: false };
    let how = How { pool: &Inline, memory: None, check: true, progress: &|_| {} };
    // A format may have no room for a name or for as many dimensions.
    if write(container, &jobs, &target, &path, &how).is_err() {
        return;
    }
    let back = Container::open(&path);
    // An index of a later input is not to find it.
    fs::remove_file(&path).expect("it was written");
    let back = back.unwrap_or_else(|error| panic!("what was written is not read: {error}"));
    assert_eq!(back.tensors().len(), tensors.len());
    for tensor in tensors {
        let own = back.tensors().iter().find(|own| own.name == tensor.name).expect("its name");
        let compared = compare((container, tensor), (&back, own), 0.0, &FOLDER).expect("both are read");
        assert_eq!(compared, Compared::Equal, "{}", tensor.name);
    }
}
