//! A plan that somebody changed is refused, or writes the array that it reads; and so does one that goes on in what a killed run
//! has left, when somebody changed that. Every three bytes change a number of a plan of two passes: which one, and to what; or,
//! from [`LEFT`] on, a file that was left.
#![no_main]

mod changed;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use changed::changed;
use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use tilework_stores::Read;
use tilework_stores::job::{Job, Rechunk};
use tilework_stores::plan::Assumed;
use tilework_stores::run::Bounds;
use tilework_stores::zarr::open_array;

const SIDE: u64 = 6;

/// What a task of the second pass may hold: too little for one pass.
const MEMORY: u64 = 24;

/// First bytes from here on say after how many tasks the first run was killed.
const LEFT: u8 = 0xC0;

/// Where runs write until all is there.
const UNFINISHED: [&str; 3] =
    [".out.tilework-between", ".out.tilework-unfinished", "..out.tilework-between.tilework-unfinished"];

/// Tasks that are worth running here.
const MOST: u64 = 1 << 10;

/// A folder for this process, in memory where the system has such a place, and a plan of what is in it.
static START: LazyLock<(PathBuf, Value)> = LazyLock::new(|| {
    let memory = PathBuf::from("/dev/shm");
    let place = if memory.is_dir() { memory } else { std::env::temp_dir() };
    let folder = place.join(format!("tilework-fuzz-jobs-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder); // it need not exist
    fs::create_dir_all(&folder).expect("a folder");
    let mut file = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    let header = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': ({SIDE}, {SIDE}), }}");
    file.extend(format!("{header:117}\n").bytes());
    file.extend((0..SIDE * SIDE).map(|at| at as u8));
    fs::write(folder.join("in.npy"), file).expect("it is written");
    let rows = Rechunk {
        only: None,
        from: folder.join("in.npy"),
        to: folder.join("rows"),
        chunks: vec![1, SIDE],
        shards: None,
        order: None,
        compression: Some("zstd".to_owned()),
        plan: None,
    };
    let rows = rows.planned(1 << 20, Assumed::disk(1)).expect("a plan");
    run(&Job::Rechunk(rows.clone())).expect("rows");
    let columns =
        Rechunk { from: folder.join("rows"), to: folder.join("out"), chunks: vec![SIDE, 1], ..rows };
    let columns = columns.planned(MEMORY, Assumed::disk(1)).expect("a plan");
    let text = Job::Rechunk(columns).to_json().expect("a plan is text");
    let plan: Value = serde_json::from_str(&text).expect("it is JSON");
    assert_eq!(plan["plan"]["passes"].as_array().map(Vec::len), Some(2), "{text}");
    (folder, plan)
});

fuzz_target!(|bytes: &[u8]| {
    let (folder, plan) = &*START;
    let mut plan = plan.clone();
    let (left, changes): (Vec<&[u8]>, Vec<&[u8]>) =
        bytes.chunks_exact(3).partition(|change| change[0] >= LEFT);
    for change in changes {
        let mut number = usize::from(change[0]);
        for part in ["plan", "chunks", "shards", "order"] {
            changed(&mut plan[part], &mut number, change[1], change[2]);
        }
    }
    for name in UNFINISHED.iter().chain(&["out"]) {
        let _ = fs::remove_dir_all(folder.join(name)); // it need not exist
    }
    let Ok((job, _)) = Job::from_json(&plan.to_string()) else { return };
    if let Some(first) = left.first() {
        let _ = begin(&job, u64::from(first[0] - LEFT)); // what it left is left
        left.iter().for_each(|change| damage(folder, change[1], change[2]));
    }
    if run(&job) == Ok(true) {
        is_right(&folder.join("out"), &plan);
    }
});

/// Runs the first tasks of a job, and is killed.
fn begin(job: &Job, mut most: u64) -> tilework::Result<()> {
    let open = job.open(None, Bounds { threads: 1, memory: 1 << 20, window: 1 << 10 })?;
    for (pass, tasks) in open.passes()?.into_iter().enumerate() {
        open.run(pass, 0..tasks.min(most).min(MOST), &|_| {})?;
        most = most.saturating_sub(tasks);
        if most == 0 {
            break;
        }
    }
    Ok(())
}

/// Changes a file that was left: which one, and how. The array between is read like any other when it has its name, so other
/// bytes there are another array.
fn damage(folder: &Path, which: u8, how: u8) {
    let mut files = Vec::new();
    UNFINISHED.iter().for_each(|name| files_in(&folder.join(name), &mut files));
    files.sort();
    let Some(path) = files.get(usize::from(which) % files.len().max(1)) else { return };
    let Ok(mut bytes) = fs::read(path) else { return };
    let at = usize::from(how / 5);
    let is_named = path.starts_with(folder.join(UNFINISHED[0]));
    match how % 5 {
        1 | 3 if is_named => {}
        0 => bytes.truncate(at),
        1 => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1),
        2 => bytes.extend(vec![how; at]),
        3 => {
            let by = at % bytes.len().max(1);
            bytes.rotate_left(by);
        }
        _ => {
            let _ = fs::remove_file(path); // it was there
            return;
        }
    }
    fs::write(path, bytes).expect("it is written");
}

fn files_in(folder: &Path, files: &mut Vec<PathBuf>) {
    for found in fs::read_dir(folder).into_iter().flatten().flatten() {
        match found.path().is_dir() {
            true => files_in(&found.path(), files),
            false => files.push(found.path()),
        }
    }
}

/// Runs a job; false where that would take too long.
fn run(job: &Job) -> tilework::Result<bool> {
    let open = job.open(None, Bounds { threads: 1, memory: 1 << 20, window: 1 << 10 })?;
    let passes = open.passes()?;
    if passes.iter().any(|&tasks| tasks > MOST) {
        return Ok(false);
    }
    for (pass, &tasks) in passes.iter().enumerate() {
        open.run(pass, 0..tasks, &|_| {})?;
    }
    open.finish()?;
    Ok(true)
}

fn is_right(path: &Path, plan: &Value) {
    let array = open_array(path).expect("it was written");
    let shards = array.shards();
    assert_eq!(shards.grid().sizes(), [SIDE; 2], "{plan}");
    for piece in 0..shards.grid().count() {
        let (region, layout) =
            (shards.grid().region(piece).expect("a piece"), shards.layout(piece).expect("a layout"));
        let held = array.get(piece).expect("it is read");
        for row in 0..region.size[0] {
            for column in 0..region.size[1] {
                let place = layout.offset(&[row, column]).expect("within") as usize;
                let wanted = (region.start[0] + row) * SIDE + region.start[1] + column;
                assert_eq!(held.bytes().map(|bytes| u64::from(bytes[place])), Some(wanted), "{plan}");
            }
        }
    }
}
