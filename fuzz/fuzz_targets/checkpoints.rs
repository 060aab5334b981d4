//! A checkpoint in the files of several devices that somebody changed is refused, or is cut for other devices and has the same
//! elements then. The first byte chooses how it is cut, the second for whom it is cut anew; every three bytes that follow change a
//! number of the headers: which one, and to what.
#![no_main]

mod changed;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use changed::changed;
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};
use tilework_stores::Read;
use tilework_stores::checkpoint::{Checkpoint, Reshard, Rule};
use tilework_stores::job::Job;
use tilework_stores::run::Bounds;

/// The sizes of the tensor.
const SIZES: [u64; 2] = [6, 4];

/// Into how many parts it is cut.
const CUTS: [[u64; 2]; 6] = [[1, 1], [2, 1], [1, 2], [2, 2], [3, 1], [3, 2]];

/// How it is cut anew, over a mesh of two times two.
const RULES: [&str; 12] = [
    "P()",
    "P('x')",
    "P(None, 'x')",
    "P('x', 'y')",
    "P(('y', 'x'))",
    "P('y', 'x')",
    "{devices=[2,2]<=[4]}",
    "{devices=[4,1]<=[4]}",
    "{devices=[2,2]3,1,2,0}",
    "{devices=[1,2,2]<=[4] last_tile_dim_replicate}",
    "{replicated}",
    "{devices=[3,1]<=[3]}",
];

/// Elements that are worth comparing here.
const MOST: u128 = 1 << 10;

/// A folder for this process, in memory where the system has such a place.
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let memory = PathBuf::from("/dev/shm");
    let place = if memory.is_dir() { memory } else { std::env::temp_dir() };
    let folder = place.join(format!("tilework-fuzz-checkpoints-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    folder
});

fuzz_target!(|bytes: &[u8]| {
    let Some((&[cut, how], changes)) = bytes.split_first_chunk() else { return };
    let (from, to) = (FOLDER.join("in"), FOLDER.join("out"));
    for folder in [&from, &to, &FOLDER.join(".out.tilework-unfinished")] {
        let _ = fs::remove_dir_all(folder); // it need not exist
    }
    fs::create_dir_all(&from).expect("a folder");
    write(&from, CUTS[usize::from(cut) % CUTS.len()], changes);
    let Ok(read) = elements(&from) else { return };
    if changes.len() < 3 {
        let whole = |(place, byte): (&Vec<u64>, &u8)| place[0] * SIZES[1] + place[1] == u64::from(*byte);
        assert!(read["w"].len() == 24 && read["w"].iter().all(whole), "{read:?}");
    }
    let how = usize::from(how);
    let orbax = how / RULES.len() % 4 == 3;
    let job = Job::Reshard(Reshard {
        from: from.clone(),
        to: to.clone(),
        mesh: Some("x=2,y=2".to_owned()),
        rules: vec![Rule { names: None, sharding: RULES[how % RULES.len()].to_owned() }],
        only: Vec::new(),
        once: how / RULES.len() % 2 == 1 && !orbax,
        orbax,
        compression: (orbax && how % 2 == 1).then(|| "zstd:1".to_owned()),
    });
    if run(&job).is_ok() {
        let found = elements(&to).unwrap_or_else(|error| panic!("what was written is not read: {error}"));
        assert_eq!(found, read, "{job:?}");
    }
});

/// A file for each part of a tensor, and one tensor that is whole in the first of them.
fn write(folder: &Path, cuts: [u64; 2], changes: &[u8]) {
    let size = [SIZES[0] / cuts[0], SIZES[1] / cuts[1]];
    let starts =
        (0..cuts[0]).flat_map(|row| (0..cuts[1]).map(move |column| [row * size[0], column * size[1]]));
    let starts: Vec<[u64; 2]> = starts.collect();
    let len = size[0] * size[1];
    let file = |(number, start): (usize, &[u64; 2])| {
        let mut head = json!({"w": {"dtype": "U8", "shape": size, "data_offsets": [0, len]}});
        if number == 0 {
            head["v"] = json!({"dtype": "BF16", "shape": [2], "data_offsets": [len, len + 4]});
        }
        json!({"head": head, "begins": {"w": {"saved_offsets": start}}, "sizes": {"w": SIZES}})
    };
    let mut files = Value::Array(starts.iter().enumerate().map(file).collect());
    for change in changes.chunks_exact(3) {
        changed(&mut files, &mut usize::from(change[0]), change[1], change[2]);
    }
    for (number, (file, start)) in files.as_array().into_iter().flatten().zip(&starts).enumerate() {
        let mut head = file["head"].clone();
        head["__metadata__"] = json!({"DCP_SHARDING_INFO": file["begins"].to_string(), "tilework.sizes": file["sizes"].to_string()});
        let head = head.to_string();
        let mut bytes = (head.len() as u64).to_le_bytes().to_vec();
        bytes.extend(head.as_bytes());
        bytes.extend(
            (0..len).map(|at| ((start[0] + at / size[1]) * SIZES[1] + start[1] + at % size[1]) as u8),
        );
        bytes.extend([1, 2, 3, 4].iter().filter(|_| number == 0));
        fs::write(folder.join(format!("part-{number}.safetensors")), bytes).expect("it is written");
    }
}

fn run(job: &Job) -> tilework::Result<()> {
    let open = job.open(None, Bounds { threads: 1, memory: 1 << 20, window: 1 << 10 })?;
    for (pass, &tasks) in open.passes()?.iter().enumerate() {
        open.run(pass, 0..tasks, &|_| {})?;
    }
    open.finish()?;
    Ok(())
}

/// Every element of every tensor, by its name and its index: the last of its bytes.
fn elements(path: &Path) -> tilework::Result<HashMap<String, HashMap<Vec<u64>, u8>>> {
    let checkpoint = Checkpoint::open(path)?;
    let mut all = HashMap::new();
    for tensor in checkpoint.tensors() {
        let (parts, mut found) = (checkpoint.parts(tensor), HashMap::new());
        let grid = tensor.shards.grid();
        for piece in 0..grid.count().min(MOST as u64) {
            let (region, layout) = (grid.region(piece)?, tensor.shards.layout(piece)?);
            if region.len() > MOST {
                break;
            }
            let held = parts.get(piece)?;
            let width = u64::from(layout.bits() / 8);
            layout.for_each_in_index_order(|index, offset| {
                let place: Vec<u64> = index.iter().zip(&region.start).map(|(at, start)| at + start).collect();
                let is_within = place.iter().zip(grid.sizes()).all(|(&at, size)| at < size);
                if let (Some(bytes), true) = (held.bytes(), is_within) {
                    found.insert(place, bytes[((offset + 1) * width - 1) as usize]);
                }
            });
        }
        all.insert(tensor.name.clone(), found);
    }
    Ok(all)
}
