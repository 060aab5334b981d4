//! Arrays in pieces become arrays in other pieces: whole, in parts by several processes, and after a process was killed.
#![cfg(feature = "stores")]

use std::fs;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

use crate::common::files::Folder;
use crate::common::{command, run, run_with};

const MODEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/model.safetensors");
const WEIGHTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/weights.npy");

pub fn done(args: &[&str]) -> String {
    let ran = run(args);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{args:?}");
    ran.stdout
}

pub fn json(args: &[&str]) -> Value {
    serde_json::from_str(&done(&[args, &["--json"]].concat())).expect("JSON")
}

pub fn refused(args: &[&str], expected: &str) {
    let ran = run(args);
    assert_eq!((ran.stdout.as_str(), ran.code), ("", 2), "{args:?}");
    let words = ran.stderr.split_whitespace().collect::<Vec<&str>>().join(" ");
    assert!(words.starts_with("error: ") && words.contains(expected), "{args:?}: {words}");
}

#[test]
fn a_model_goes_to_eight_devices_and_to_two_and_comes_back() {
    let folder = Folder::new();
    let at = |name: &str| folder.at(name);
    let planned =
        json(&["reshard", MODEL, &at("eight"), "--mesh", "x=2,y=4", "--spec", "P('x', 'y')", "--dry-run"]);
    assert_eq!((&planned["done"], &planned["tasks"][0]), (&Value::Bool(false), &Value::from(8)));
    assert!(folder.names().is_empty());
    done(&[
        "reshard",
        MODEL,
        &at("eight"),
        "--mesh",
        "x=2,y=4",
        "--spec",
        "P('x', 'y')",
        "--spec",
        "*.norm.*=P()",
    ]);
    assert_eq!(fs::read_dir(at("eight")).expect("a folder").count(), 8);
    done(&[
        "reshard",
        &at("eight"),
        &at("two"),
        "--spec",
        "{devices=[1,2]<=[2]}",
        "--spec",
        "head.bias={devices=[2]1,0}",
    ]);
    done(&["reshard", &at("two"), &at("one"), "--spec", "{maximal device=0}"]);
    done(&["diff", MODEL, &at("one/shard-00001-model-00001-of-00001.safetensors")]);
    refused(&["reshard", MODEL, &at("eight"), "--spec", "{replicated}"], "exists, and is not empty");
    refused(
        &["reshard", MODEL, &at("x"), "--mesh", "x=2", "--spec", "P('q')"],
        "there is no axis `q` in the mesh x=2",
    );
    refused(&["reshard", MODEL, &at("x"), "--memory", "1MiB"], "32MiB");
    assert_eq!(folder.names(), ["eight", "one", "two"]);
}

/// The elements of an npy file, or of an array that is one chunk and nothing else.
pub fn elements(path: &str) -> Vec<u8> {
    match Path::new(path).is_dir() {
        true => fs::read(Path::new(path).join("c/0/0")).expect("one chunk"),
        false => {
            let bytes = fs::read(path).expect("a file");
            bytes[10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]))..].to_vec()
        }
    }
}

#[test]
fn an_array_goes_through_chunks_and_shards_and_comes_back() {
    let folder = Folder::new();
    let at = |name: &str| folder.at(name);
    done(&["rechunk", WEIGHTS, &at("rows"), "--chunks", "16,100"]);
    done(&[
        "rechunk",
        &at("rows"),
        &at("columns"),
        "--chunks",
        "64,30",
        "--to",
        "{0,1}",
        "--compress",
        "zstd:3",
    ]);
    done(&[
        "rechunk",
        &at("columns"),
        &at("sharded"),
        "--chunks",
        "7,10",
        "--shards",
        "21,50",
        "--threads",
        "3",
    ]);
    done(&[
        "rechunk",
        &at("sharded"),
        &at("one"),
        "--chunks",
        "64,300",
        "--to",
        "{1,0}",
        "--compress",
        "none",
    ]);
    assert!(elements(&at("one")) == elements(WEIGHTS));
    refused(&["rechunk", &at("rows"), &at("x"), "--chunks", "8"], "");
    for (to, more, expected) in [
        ("{0,1:T(2,2)}", &[][..], "one behind the other"),
        ("{1,0:T(3,2)}", &[], "a shard holds whole chunks"),
        ("{1,0:T(2,2)}", &["--shards", "16,16"], "no shards of shards"),
        ("f32[9,8]", &[], "--chunks says is [8, 8]"),
    ] {
        let args = ["rechunk", &at("rows"), &at("x"), "--chunks", "8,8", "--to", to];
        refused(&[&args[..], more].concat(), expected);
    }
    refused(&["rechunk", &at("rows"), &at("rows"), "--chunks", "8,8"], "apart from what is read");
    refused(&["rechunk", MODEL, &at("x"), "--chunks", "8,8"], "has 6 arrays");
    refused(&["rechunk", &at("nowhere"), &at("x"), "--chunks", "8,8"], "nowhere");
    assert_eq!(folder.names(), ["columns", "one", "rows", "sharded"]);
}

#[test]
fn tiles_of_a_chunk_are_chunks_of_a_shard_at_the_same_places() {
    let folder = Folder::new();
    let at = |name: &str| folder.at(name);
    for (number, (to, read_as)) in [
        ("{1,0:T(8,50)}", "shards (32, 100) chunks (8, 50)"),
        ("{1,0:T(32,10)}", "shards (32, 100) chunks (32, 10)"),
        ("{0,1}", "chunks (32, 100) order (1, 0)"),
    ]
    .into_iter()
    .enumerate()
    {
        let out = at(&format!("{number}.zarr"));
        done(&["rechunk", WEIGHTS, &out, "--chunks", "32,100", "--to", to]);
        let listed = json(&["ls", &out]);
        assert!(
            listed["tensors"][0]["layout"].as_str().is_some_and(|layout| layout.ends_with(read_as)),
            "{listed}"
        );
        done(&["diff", &out, WEIGHTS]);
        // The first shard, before its index, has the bytes that the layout says for this part of the array.
        let (part, moved) = (at("part.bin"), at("moved.bin"));
        let rows = elements(WEIGHTS);
        let width = rows.len() / (64 * 300);
        let first: Vec<u8> =
            (0..32).flat_map(|row| &rows[row * 300 * width..][..100 * width]).copied().collect();
        fs::write(&part, &first).expect("a file");
        let shape = if width == 4 { "f32[32,100]" } else { panic!("{width} bytes") };
        done(&["convert", &part, &moved, "--from", shape, "--to", &format!("{shape}{to}")]);
        let stored = fs::read(at(&format!("{number}.zarr/c/0/0"))).expect("a shard");
        assert!(stored.starts_with(&fs::read(&moved).expect("a file")), "{to}");
    }
}

#[test]
fn parts_of_a_plan_are_done_by_several_processes_in_any_order() {
    let folder = Folder::new();
    let at = |name: &str| folder.at(name);
    done(&[
        "rechunk",
        WEIGHTS,
        &at("out"),
        "--chunks",
        "16,100",
        "--threads",
        "2",
        "--save-plan",
        &at("plan.json"),
    ]);
    assert_eq!(folder.names(), ["plan.json"]);
    done(&["run-tasks", &at("plan.json"), "--part", "2/2"]);
    refused(&["run-tasks", &at("plan.json"), "--finish"], "is missing");
    assert!(!Path::new(&at("out")).exists());
    let again = json(&["run-tasks", &at("plan.json"), "--part", "2/2"]);
    assert_eq!(again["written"], 0);
    done(&["run-tasks", &at("plan.json"), "--part", "1/2"]);
    done(&["run-tasks", &at("plan.json"), "--finish"]);
    done(&["rechunk", &at("out"), &at("one"), "--chunks", "64,300"]);
    assert!(elements(&at("one")) == elements(WEIGHTS));
    refused(&["run-tasks", &at("plan.json"), "--part", "1/2", "--pass", "2"], "1 to 1");
    for part in ["0/2", "3/2", "1", "a/b"] {
        assert_eq!(run(&["run-tasks", &at("plan.json"), "--part", part]).code, 2, "{part}");
    }
    refused(&["run-tasks", WEIGHTS], "");
    fs::write(at("plan.json"), "{}").expect("a file");
    refused(&["run-tasks", &at("plan.json")], "this is no plan");
}

#[test]
fn one_array_of_several_goes_into_chunks_by_its_name() {
    let folder = Folder::new();
    let at = |name: &str| folder.at(name);
    let out = at("one.zarr");
    refused(&["rechunk", MODEL, &out, "--chunks", "8,8"], "has 6 arrays: embed.weight, ");
    refused(&["rechunk", MODEL, &out, "--chunks", "8,8", "--only", "*.attention.weight"], "has 2 arrays: ");
    refused(
        &["rechunk", MODEL, &out, "--chunks", "8,8", "--only", "embed"],
        "is called \"embed\" accepted: one of embed.weight",
    );
    done(&["convert", MODEL, &at("group.zarr")]);
    done(&["reshard", MODEL, &at("jax"), "--orbax", "--mesh", "x=2", "--spec", "P('x')"]);
    for source in [MODEL, &at("group.zarr"), &at("jax")] {
        for only in ["embed.weight", "emb*"] {
            done(&["rechunk", source, &out, "--chunks", "8,8", "--only", only]);
            done(&["diff", source, &out, "--only", "embed.weight"]);
            done(&["diff", &out, source, "--only", "embed.weight"]);
            let other = run(&["diff", source, &out, "--only", "head.bias"]);
            assert_eq!(other.code, 1, "{}", other.stdout);
            fs::remove_dir_all(&out).expect("a store");
        }
    }
    // Two arrays of the same sizes: what was begun of one is not gone on with by the other.
    let plan = at("plan.json");
    let job = |only| vec!["rechunk", MODEL, &out, "--chunks", "4,8", "--only", only];
    done(&[&job("layers.0.attention.weight")[..], &["--save-plan", &plan]].concat());
    done(&["run-tasks", &plan, "--part", "1/2"]);
    refused(&job("layers.1.attention.weight"), "is of another job");
    done(&job("layers.0.attention.weight"));
    done(&["diff", MODEL, &out, "--only", "layers.0.attention.weight"]);
}

#[test]
fn a_plan_is_the_same_from_every_working_folder() {
    let folder = Folder::new();
    fs::create_dir(folder.at("here")).expect("a folder");
    fs::create_dir(folder.at("there")).expect("a folder");
    fs::copy(MODEL, folder.at("here/model.safetensors")).expect("a copy");
    fs::copy(WEIGHTS, folder.at("here/weights.npy")).expect("a copy");
    let ran = |place: &str, args: &[&str]| {
        let mut command = command(args);
        command.current_dir(folder.at(place));
        let ran = run_with(command, b"");
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{args:?}");
        ran.stdout
    };
    let reshard = |from: &'static str| ["reshard", from, "../parts", "--mesh", "x=2", "--spec", "P('x')"];
    let rechunk = |from: &'static str| ["rechunk", from, "../chunks", "--chunks", "16,100"];
    ran("here", &[&reshard("model.safetensors")[..], &["--save-plan", "../parts.json"]].concat());
    ran("here", &[&rechunk("weights.npy")[..], &["--save-plan", "../chunks.json"]].concat());
    for name in ["parts", "chunks"] {
        ran("there", &["run-tasks", &format!("../{name}.json"), "--part", "1/2"]);
    }
    // And who gives the command again goes on, wherever that is.
    for (args, kept) in
        [(&reshard("../here/model.safetensors")[..], "1 there"), (&rechunk("../here/weights.npy"), "6 there")]
    {
        let said = ran("there", args);
        assert!(said.contains(kept), "{said}");
    }
    ran("there", &["reshard", "../parts", "../whole", "--spec", "{maximal device=0}"]);
    done(&["diff", MODEL, &folder.at("whole/shard-00001-model-00001-of-00001.safetensors")]);
    done(&["diff", WEIGHTS, &folder.at("chunks")]);
}

/// Gives a file another time, as who writes it again does.
pub fn touch(path: impl AsRef<Path>) {
    let file = fs::File::options().append(true).open(path).expect("a file");
    file.set_modified(std::time::UNIX_EPOCH).expect("a time");
}

#[test]
fn a_source_that_has_changed_is_noticed() {
    let folder = Folder::new();
    let at = |name: &str| folder.at(name);
    done(&["rechunk", WEIGHTS, &at("in"), "--chunks", "16,100"]);
    let plan = at("plan.json");
    // Between the plan and its tasks: a chunk, the metadata, one file more, one that is longer.
    let changes: [&dyn Fn(); 4] = [
        &|| touch(at("in/c/3/2")),
        &|| touch(at("in/zarr.json")),
        &|| fs::write(at("in/more"), "").expect("a file"),
        &|| fs::write(at("in/more"), "longer").expect("a file"),
    ];
    for (number, change) in changes.iter().enumerate() {
        let out = at(&format!("out{number}"));
        done(&["rechunk", &at("in"), &out, "--chunks", "8,300", "--save-plan", &plan]);
        done(&["run-tasks", &plan, "--part", "1/2"]);
        change();
        for more in [&["--part", "2/2"][..], &["--finish"], &[]] {
            refused(&[&["run-tasks", &plan], more].concat(), "in is not what was planned: ");
        }
        // Without the plan, as who gives the command again.
        refused(
            &["rechunk", &at("in"), &out, "--chunks", "8,300"],
            &format!(".out{number}.tilework-unfinished read: "),
        );
        refused(&["rechunk", &at("in"), &out, "--chunks", "4,300"], "is of another job");
        fs::remove_dir_all(at(&format!(".out{number}.tilework-unfinished"))).expect("a folder");
        done(&["rechunk", &at("in"), &out, "--chunks", "8,300"]);
    }
    done(&["rechunk", &at("out3"), &at("one"), "--chunks", "64,300"]);
    assert!(elements(&at("one")) == elements(WEIGHTS));
    // A checkpoint, of which an index names the files.
    let model = at("model/");
    done(&["convert", MODEL, &model, "--shard-size", "8KB"]);
    let index = at("model/model.safetensors.index.json");
    let shards: Vec<_> =
        fs::read_dir(&model).expect("a folder").flatten().map(|entry| entry.path()).collect();
    let shard = shards.iter().find(|path| path.extension().is_some_and(|ending| ending == "safetensors"));
    for from in [&index, &model] {
        done(&["reshard", from, &at("two"), "--mesh", "x=2", "--spec", "P('x')", "--save-plan", &plan]);
        touch(shard.expect("a shard"));
        let now = fs::File::options().append(true).open(shard.expect("a shard")).expect("a file");
        refused(&["run-tasks", &plan], "is not what was planned: a file has another time");
        now.set_modified(std::time::SystemTime::now()).expect("a time");
    }
    assert!(!folder.names().contains(&"two".to_owned()));
}

/// An npy file of a square of 32-bit numbers.
pub fn square(path: &str, side: u32) {
    let mut header = format!("{{'descr': '<u4', 'fortran_order': False, 'shape': ({side}, {side}), }}");
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.bytes());
    bytes.extend((0..side * side).flat_map(|number| number.wrapping_mul(2_654_435_761).to_le_bytes()));
    fs::write(path, bytes).expect("a file");
}

/// Begins a run that writes its third word, and kills it as soon as three pieces are there. Returns how many are then.
///
/// On a busy machine it may be done before it is killed: then it begins again.
#[cfg(unix)]
pub fn killed(args: &[&str]) -> usize {
    let target = Path::new(args[2]);
    let name = target.file_name().expect("a name").to_string_lossy();
    let journal = target.with_file_name(format!(".{name}.tilework-unfinished")).join(".journal");
    let lines = || fs::read_to_string(&journal).map_or(0, |text| text.lines().count());
    loop {
        let mut child = command(args).stdout(Stdio::null()).spawn().expect("it starts");
        while lines() < 3 && child.try_wait().expect("a process").is_none() {
            std::thread::yield_now();
        }
        child.kill().expect("it is killed");
        if !child.wait().expect("it has ended").success() {
            assert!(lines() >= 3 && !target.exists(), "it failed before it was killed");
            return lines();
        }
        fs::remove_dir_all(target).expect("a store");
    }
}

#[cfg(unix)]
#[test]
fn a_run_that_was_killed_goes_on_where_it_was() {
    let folder = Folder::new();
    let at = |name: &str| folder.at(name);
    square(&at("in.npy"), 2048);
    let (source, target) = (at("in.npy"), at("out"));
    let args = ["rechunk", &source, &target, "--chunks", "64,64", "--compress", "zstd:9", "--threads", "1"];
    let before = killed(&args); // all of them, if it was killed right before its end
    let found = json(&args);
    let kept = found["kept"].as_u64().expect("a number");
    assert!(kept >= 3 && kept <= before as u64 + 1, "{kept} of {before} kept");
    assert_eq!(kept + found["written"].as_u64().expect("a number"), 1024);
    done(&["rechunk", &target, &at("one"), "--chunks", "2048,2048", "--compress", "none"]);
    assert!(elements(&at("one")) == elements(&source));
    assert_eq!(folder.names(), ["in.npy", "one", "out"]);
}

/// The most memory that a child had, as the system counts it.
#[cfg(target_os = "linux")]
pub fn peak(args: &[&str]) -> u64 {
    let mut child = command(args).stdout(Stdio::null()).spawn().expect("it starts");
    let mut peak = 0;
    loop {
        // The last that is read before the end is the peak, but for the last moment.
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let found = line.and_then(|line| line.trim_end_matches("kB").trim().parse::<u64>().ok());
        peak = peak.max(1024 * found.unwrap_or(0));
        if let Some(ended) = child.try_wait().expect("a process") {
            assert!(ended.success(), "{args:?}");
            return peak;
        }
        std::thread::yield_now();
    }
}

/// The same npy file with numbers that nothing compresses.
pub fn noise(from: &str, to: &str) {
    let mut noise = fs::read(from).expect("a file");
    let mut state = 1_u64;
    for eight in noise[128..].chunks_exact_mut(8) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        eight.copy_from_slice(&state.to_le_bytes());
    }
    fs::write(to, noise).expect("a file");
}

#[cfg(target_os = "linux")]
#[test]
fn memory_is_bounded_by_what_is_allowed() {
    let folder = Folder::new();
    let at = |name: &str| folder.at(name);
    square(&at("in.npy"), 4096); // 64 MiB
    let source = at("in.npy");
    let most = 40 << 20;
    for (name, more) in [
        ("columns", &["--chunks", "4096,64", "--compress", "none"][..]),
        ("small", &["--chunks", "100,100", "--compress", "zstd:1"][..]),
        ("one", &["--chunks", "4096,4096", "--to", "{0,1}", "--compress", "none"][..]),
    ] {
        let target = at(name);
        let args = [&["rechunk", &source, &target, "--memory", "40MiB", "--threads", "2"], more].concat();
        let found = peak(&args);
        assert!(found <= most, "{name}: {found} bytes where {most} may be had");
        assert!(found > 4 << 20, "{name}: {found} bytes; nothing was measured");
    }
    // Chunks that hardly anything compresses, in more files than there may be memory for.
    noise(&source, &at("noise.npy"));
    done(&["rechunk", &at("noise.npy"), &at("packed"), "--chunks", "64,4096", "--compress", "zstd:1"]);
    let (packed, turned) = (at("packed"), at("turned"));
    let args = ["rechunk", &packed, &turned, "--chunks", "4096,64", "--compress", "zstd:1"];
    let found = peak(&[&args[..], &["--memory", "40MiB", "--threads", "2"]].concat());
    assert!(found <= most, "packed: {found} bytes where {most} may be had");
    done(&["rechunk", &at("columns"), &at("back"), "--chunks", "4096,4096", "--memory", "40MiB"]);
    assert!(elements(&at("back")) == elements(&source));
}

#[cfg(target_os = "linux")]
#[test]
fn a_checkpoint_in_chunks_larger_than_memory_is_refused_before_anything_is_written() {
    let folder = Folder::new();
    let at = |name: &str| folder.at(name);
    square(&at("in.npy"), 4096); // 64 MiB
    done(&["rechunk", &at("in.npy"), &at("in"), "--chunks", "4096,4096", "--compress", "zstd:1"]);
    let (source, out) = (at("in"), at("out"));
    let reshard = ["reshard", &source, &out, "--mesh", "x=4", "--spec", "P('x')"];
    let with = |memory| [&reshard[..], &["--memory", memory]].concat();
    refused(&with("80MiB"), "\"in\" has chunks that take 128 MiB of memory");
    refused(&with("80MiB"), "accepted: 163MiB or more");
    refused(&[&with("162MiB")[..], &["--dry-run"]].concat(), "163MiB or more");
    assert_eq!(folder.names(), ["in", "in.npy"]);
    // Four threads have room for one chunk, and not for four.
    let found = peak(&[&with("163MiB")[..], &["--threads", "4"]].concat());
    assert!((64 << 20..163 << 20).contains(&found), "{found} bytes");
    done(&["reshard", &out, &at("whole"), "--spec", "{maximal device=0}"]);
    done(&["diff", &source, &at("whole/shard-00001-model-00001-of-00001.safetensors")]);
}

#[test]
fn a_checkpoint_for_jax_is_written_listed_and_read_again() {
    let folder = Folder::new();
    let at = |name: &str| folder.at(name);
    let cut = ["--mesh", "x=2,y=4", "--spec", "P('x', 'y')", "--spec", "head.bias=P(('y', 'x'))"];
    let said = json(&[&["reshard", MODEL, &at("jax"), "--orbax"][..], &cut].concat());
    assert_eq!((&said["tasks"][0], &said["files"]["chunks"]), (&Value::from(8), &Value::from(34)));
    // Of 100 elements no 8 parts are equal, so XLA would have the last device hold less, and JAX none of it.
    assert_eq!(said["files"]["uneven"][0][0], "head.bias");
    let listed = json(&["ls", &at("jax")]);
    assert_eq!(listed["format"], "Orbax checkpoint");
    let of = |name: &str| {
        let tensors = listed["tensors"].as_array().expect("a list");
        tensors.iter().find(|tensor| tensor["name"] == name).expect(name)["saved_as"].clone()
    };
    let embed = of("embed.weight");
    assert_eq!((&embed["spec"], &embed["mesh"]), (&Value::from("P('x', 'y')"), &Value::from("x=2,y=4")));
    assert_eq!(
        (&embed["sharding"], &embed["part"]),
        (&Value::from("{devices=[2,4]<=[8]}"), &Value::from(vec![50, 8]))
    );
    assert_eq!([&of("head.bias")["spec"], &of("layers.0.norm.weight")["spec"]], ["P()"; 2]);
    let shown = done(&["ls", &at("jax")]);
    let words = shown.split_whitespace().collect::<Vec<&str>>().join(" ");
    assert!(words.contains("6 arrays, 18.91 KiB, 16 B of it padding, saved from x=2,y=4"), "{shown}");
    done(&["diff", &at("jax"), MODEL]);
    // Parts by several processes, and the end by another.
    let plan = at("plan.json");
    done(&[
        "reshard",
        &at("jax"),
        &at("again"),
        "--orbax",
        "--mesh",
        "x=3",
        "--spec",
        "P('x')",
        "--save-plan",
        &plan,
    ]);
    done(&["run-tasks", &plan, "--part", "2/2"]);
    refused(&["run-tasks", &plan, "--finish"], "is missing");
    assert!(!Path::new(&at("again")).exists());
    done(&["run-tasks", &plan, "--part", "1/2"]);
    done(&["run-tasks", &plan, "--finish"]);
    done(&["diff", &at("again"), MODEL]);
    refused(&["reshard", MODEL, &at("jax"), "--orbax", "--mesh", "x=2"], "exists, and is not empty");
    done(&[&["reshard", MODEL, &at("small"), "--orbax", "--compress", "zstd"][..], &cut].concat());
    done(&["diff", MODEL, &at("small")]);
    let metadata = fs::read_to_string(at("small/embed.weight/zarr.json")).expect("an array");
    assert!(metadata.contains("\"zstd\""), "{metadata}");
    refused(
        &["reshard", MODEL, &at("x"), "--compress", "zstd"],
        "--compress: a compression of files of safetensors",
    );
    refused(&["reshard", MODEL, &at("x"), "--orbax", "--compress", "lzma"], "the compression \"lzma\"");
}
