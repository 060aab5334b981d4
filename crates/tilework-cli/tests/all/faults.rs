//! What goes wrong while arrays in pieces are written: the error says it, nothing has the name, and the same command goes on when it
//! is mended.
#![cfg(feature = "stores")]

use std::fs;
use std::process::{Command, Stdio};

use crate::common::files::Folder;
use crate::common::{command, run_with};
use crate::jobs::{done, json, refused, square};

const WEIGHTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/weights.npy");
const MODEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/model.safetensors");

/// The command where no file may have more than 16 KiB.
fn limited(args: &[&str]) -> (Option<i32>, String) {
    let of = command(args);
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -f 32; exec \"$@\"", "sh"]).arg(of.get_program()).args(of.get_args());
    let ran = run_with(shell, b"");
    (Some(ran.code), ran.stderr.split_whitespace().collect::<Vec<&str>>().join(" "))
}

#[test]
fn a_disk_without_room_is_an_error_and_nothing_is_lost() {
    let folder = Folder::new();
    let at = |name: &str| folder.at(name);
    let (store, parts) = (at("out.zarr"), at("parts"));
    for args in [
        &["rechunk", WEIGHTS, &store, "--chunks", "64,300"][..],
        &["convert", WEIGHTS, &store, "--to", "chunks (64, 300)"],
        &["convert", WEIGHTS, &store, "--to", "{1,0:T(8,128)}"],
        &["reshard", MODEL, &parts, "--spec", "{replicated}"],
    ] {
        let (code, words) = limited(args);
        let says = words.contains("takes") && words.contains("(ulimit -f)");
        assert!(code == Some(2) && says, "{args:?}: {code:?} {words}");
        assert!(!folder.names().iter().any(|name| !name.starts_with('.')), "{args:?}: {:?}", folder.names());
        done(args);
        let names = folder.names();
        assert_eq!(names.len(), 1, "{args:?}: {names:?}");
        fs::remove_dir_all(at(&names[0])).expect("a folder");
    }
}

#[test]
fn a_chunk_that_cannot_be_read_is_named_and_the_rest_stays() {
    let folder = Folder::new();
    let at = |name: &str| folder.at(name);
    done(&["rechunk", WEIGHTS, &at("in"), "--chunks", "8,300", "--compress", "zstd:3"]);
    let chunk = at("in/c/5/0");
    let right = fs::read(&chunk).expect("a chunk");
    let time = fs::metadata(&chunk).and_then(|found| found.modified()).expect("a time");
    let broken: [(&dyn Fn(), &str); 4] = [
        (&|| fs::write(&chunk, &right[..right.len() - 1]).expect("a file"), "zstd cannot decode"),
        (&|| fs::write(&chunk, "").expect("a file"), "zstd cannot decode"),
        (&|| fs::write(&chunk, vec![0xff; right.len()]).expect("a file"), "zstd cannot decode"),
        (
            &|| {
                fs::remove_file(&chunk).expect("a file");
                fs::create_dir(&chunk).expect("a folder");
            },
            "is no file",
        ),
    ];
    for (number, (damage, expected)) in broken.iter().enumerate() {
        // The plan is of a source whose chunk was broken already when it was made.
        damage();
        let out = at(&format!("out{number}"));
        let args = ["rechunk", &at("in"), &out, "--chunks", "8,100", "--threads", "1"];
        refused(&args, expected);
        refused(&args, "in/c/5/0");
        refused(&["convert", &at("in"), &at("x.zarr"), "--to", "chunks (8, 100)"], "in/c/5/0");
        assert!(!folder.names().iter().any(|name| name.starts_with("out") || name == "x.zarr"));
        let _ = fs::remove_dir(&chunk);
        fs::write(&chunk, &right).expect("a chunk");
        fs::File::options()
            .append(true)
            .open(&chunk)
            .and_then(|file| file.set_modified(time))
            .expect("a time");
        refused(&args, &format!(".out{number}.tilework-unfinished read: "));
        fs::remove_dir_all(at(&format!(".out{number}.tilework-unfinished"))).expect("a folder");
        fs::remove_dir_all(at(".x.zarr.tilework-unfinished")).expect("a folder");
    }
    done(&["rechunk", &at("in"), &at("out"), "--chunks", "8,100"]);
    done(&["diff", &at("out"), WEIGHTS]);
}

#[test]
fn several_processes_may_do_the_same_parts_at_once() {
    let folder = Folder::new();
    let at = |name: &str| folder.at(name);
    square(&at("in.npy"), 512);
    let (plan, source, out, parts) = (at("plan.json"), at("in.npy"), at("out"), at("parts"));
    let jobs = [
        &["rechunk", &source, &out, "--chunks", "32,32", "--compress", "zstd:1"][..],
        &["reshard", MODEL, &parts, "--mesh", "x=8", "--spec", "P('x')"],
    ];
    for job in jobs {
        done(&[job, &["--save-plan", &plan]].concat());
        let begin = || {
            let mut child = command(&["run-tasks", &plan, "--part", "1/1", "--threads", "2"]);
            child.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts")
        };
        for child in [begin(), begin(), begin()] {
            let ended = child.wait_with_output().expect("it ends");
            assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
        }
        assert_eq!(json(&["run-tasks", &plan, "--part", "1/1"])["written"], 0);
        done(&["run-tasks", &plan, "--finish"]);
    }
    done(&["diff", &at("out"), &at("in.npy")]);
    assert_eq!(folder.names(), ["in.npy", "out", "parts", "plan.json"]);
    refused(&["run-tasks", &plan], "exists, and is not empty");
}
