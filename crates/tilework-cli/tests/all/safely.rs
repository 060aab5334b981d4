//! What happens to files when a conversion replaces them, fails, or is stopped.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command};

use crate::common::files::{Folder, columns, done, matrix, refused};
use crate::common::{Ran, command, run, run_with};

/// A message without its line breaks.
fn unwrapped(message: &str) -> String {
    message.split_whitespace().collect::<Vec<&str>>().join(" ")
}

#[cfg(unix)]
#[test]
fn an_existing_file_is_replaced_when_the_new_one_is_whole() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = Folder::new();
    let input = folder.write("in.raw", &matrix());
    let output = folder.write("out.raw", b"old");
    fs::set_permissions(&output, fs::Permissions::from_mode(0o640)).expect("it is ours");
    symlink("out.raw", folder.at("link")).expect("a link");
    refused(&[&input, &output, "--from", "f32[3,6]", "--to", "{0,1}"], "has 60 bytes");
    assert_eq!(folder.read("out.raw"), b"old");
    done(&[&input, &folder.at("link"), "--from", "f32[3,5]", "--to", "{0,1}"]);
    assert_eq!(folder.read("out.raw"), columns());
    assert_eq!(fs::metadata(&output).expect("a file").permissions().mode() & 0o777, 0o640);
    assert!(fs::symlink_metadata(folder.at("link")).expect("a link").is_symlink());
    assert_eq!(folder.names(), ["in.raw", "link", "out.raw"]);
}

#[test]
fn a_file_can_be_converted_to_its_own_name() {
    let folder = Folder::new();
    let input = folder.write("same.raw", &matrix());
    done(&[&input, &input, "--from", "f32[3,5]", "--to", "{0,1}", "--check"]);
    assert_eq!(folder.read("same.raw"), columns());
}

#[test]
fn places_that_cannot_be_written_are_told() {
    let folder = Folder::new();
    let input = folder.write("in.raw", &matrix());
    let from = ["--from", "f32[3,5]"];
    refused(&[&[input.as_str(), &folder.at("")][..], &from].concat(), "is a folder");
    refused(&[&[input.as_str(), &folder.at(".")][..], &from].concat(), "is a folder");
    refused(&[&[input.as_str(), &folder.at("none/out")][..], &from].concat(), "a folder that exists");
    refused(&[&[input.as_str(), &folder.at("in.raw/out")][..], &from].concat(), "Not a directory");
    if cfg!(target_os = "linux") {
        refused(&[&[input.as_str(), "/proc/out.raw"][..], &from].concat(), "/proc/out.raw: ");
        refused(&[&[input.as_str(), "/dev/full"][..], &from].concat(), "/dev/full: No space left");
        done(&[&[input.as_str(), "/dev/null"][..], &from].concat());
    }
    assert_eq!(folder.names(), ["in.raw"]);
}

#[cfg(unix)]
#[test]
fn a_link_to_nothing_is_an_error_and_stays() {
    use std::os::unix::fs::symlink;
    let folder = Folder::new();
    let input = folder.write("in.raw", &matrix());
    symlink("nothing", folder.at("link")).expect("a link");
    symlink("loop", folder.at("loop")).expect("a link");
    let from = ["--from", "f32[3,5]"];
    refused(
        &[&[input.as_str(), &folder.at("link")][..], &from].concat(),
        "is a link to nothing, which does not",
    );
    refused(&[&[input.as_str(), &folder.at("loop")][..], &from].concat(), "levels of symbolic links");
    for link in ["link", "loop"] {
        assert!(fs::symlink_metadata(folder.at(link)).expect("a link").is_symlink());
    }
    assert_eq!(folder.names(), ["in.raw", "link", "loop"]);
}

/// The system would end the process for one byte beyond the limit.
#[cfg(unix)]
#[test]
fn a_limit_on_the_size_of_files_is_an_error_before_a_byte_is_written() {
    let folder = Folder::new();
    let input = folder.write("in.raw", &vec![1; 1 << 20]);
    let output = folder.write("out.raw", b"old");
    let mut shell = Command::new("sh");
    let script = "ulimit -f 64; exec \"$@\"";
    shell.args(["-c", script, "sh", env!("CARGO_BIN_EXE_tilework"), "convert", &input, &output]);
    shell.args(["--from", "u8[1024,1024]", "--to", "{0,1}"]);
    let Ran { stderr, code, .. } = run_with(shell, b"");
    // Shells count in blocks of 512 bytes or 1024.
    let words = ["takes 1048576 bytes", "(ulimit -f)"];
    assert!(code == 2 && words.iter().all(|word| unwrapped(&stderr).contains(word)), "{stderr}");
    assert_eq!(folder.names(), ["in.raw", "out.raw"]);
    assert_eq!(folder.read("out.raw"), b"old");
}

/// A source with holes is larger than the disk, and so is its copy.
#[cfg(target_os = "linux")]
#[test]
fn a_disk_without_room_is_asked_and_not_filled() {
    let folder = Folder::new();
    let output = folder.write("out.raw", b"old");
    let input = folder.at("in.raw");
    let disk = Command::new("df").args(["-Pk", folder.at("").as_str()]).output().expect("df runs").stdout;
    let disk = String::from_utf8(disk).expect("UTF-8");
    let free = disk.lines().nth(1).and_then(|line| line.split_whitespace().nth(3)?.parse::<u64>().ok());
    // Others take and give room meanwhile, but not as much as there is.
    let size = 2 * 1024 * free.expect("a number of KiB") + (1 << 20);
    if let Err(error) = File::create(&input).and_then(|file| file.set_len(size)) {
        println!("skipped: no file of {size} bytes can be made here: {error}");
        return;
    }
    let shape = format!("u8[{size}]");
    let Ran { stderr, code, .. } = run(&["convert", &input, &output, "--from", &shape, "--to", &shape]);
    let stderr = unwrapped(&stderr);
    assert!(code == 2 && stderr.contains(&format!("takes {size} bytes")), "{stderr}");
    assert!(stderr.contains("bytes are free"), "{stderr}");
    assert_eq!(folder.read("out.raw"), b"old");
    assert_eq!(folder.names(), ["in.raw", "out.raw"]);
}

/// A conversion that has made its new file and waits for its input, a pipe that nobody writes to.
#[cfg(target_os = "linux")]
fn waiting(folder: &Folder) -> Child {
    let pipe = folder.at("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("mkfifo runs").success());
    // It is open at both ends, so that the conversion gets past opening it and waits for bytes.
    let mut end = File::options().read(true).write(true).open(&pipe).expect("a pipe");
    // By its first bytes it is known to be raw.
    std::io::Write::write_all(&mut end, &[0; 100]).expect("a pipe holds so much");
    command(&["convert", &pipe, &folder.at("out.raw"), "--from", "u8[4096]", "--to", "{0}"])
        .stdin(end)
        .spawn()
        .expect("it starts")
}

/// Waits until the process has a file open that is in this folder and is none of these.
#[cfg(target_os = "linux")]
fn wait_for_new_file(child: &mut Child, folder: &Folder, known: &[&str]) {
    let folder = fs::canonicalize(&folder.0).expect("a folder");
    let files = format!("/proc/{}/fd", child.id());
    let is_new = |file: &Path| {
        let name = file.strip_prefix(&folder).ok().and_then(Path::to_str);
        name.is_some_and(|name| !known.contains(&name))
    };
    loop {
        let open = fs::read_dir(&files).into_iter().flatten().flatten();
        if open.filter_map(|file| fs::read_link(file.path()).ok()).any(|file| is_new(&file)) {
            return;
        }
        assert_eq!(child.try_wait().expect("a child"), None, "it ended before its input did");
        std::thread::yield_now();
    }
}

/// The signals that this process ignores, and so do those that it starts: `nohup` and a shell's `&` see to that.
#[cfg(target_os = "linux")]
fn ignored() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("Linux has it");
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    u64::from_str_radix(line.expect("a line").trim(), 16).expect("a number")
}

#[cfg(target_os = "linux")]
#[test]
fn an_interrupted_run_leaves_the_old_file_and_nothing_else() {
    use std::os::unix::process::ExitStatusExt;
    let ignored = ignored();
    for (name, number) in [("INT", 2), ("TERM", 15), ("HUP", 1), ("KILL", 9)] {
        if ignored >> (number - 1) & 1 == 1 {
            println!("SIG{name} is ignored here, so the conversion ignores it as well");
            continue;
        }
        let folder = Folder::new();
        folder.write("out.raw", b"old");
        let mut child = waiting(&folder);
        wait_for_new_file(&mut child, &folder, &["pipe", "out.raw"]);
        let names = folder.names();
        let killed = Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status();
        assert!(killed.expect("kill runs").success());
        assert_eq!(child.wait().expect("it ends").signal(), Some(number));
        assert_eq!(folder.read("out.raw"), b"old");
        assert_eq!(folder.names(), names, "what was there while it ran");
        if names != ["out.raw", "pipe"] {
            println!("no file without a name here: the next run removes {names:?}");
            let input = folder.write("in.raw", &matrix());
            done(&[&input, &folder.at("out.raw"), "--from", "f32[3,5]"]);
            assert_eq!(folder.names(), ["in.raw", "out.raw", "pipe"]);
        }
    }
}

/// What a run leaves that is killed between its last two steps, and what a run has that is between them.
#[cfg(unix)]
#[test]
fn the_next_run_removes_what_a_killed_one_left_and_no_live_file() {
    let folder = Folder::new();
    let input = folder.write("in.raw", &matrix());
    let output = folder.write("out.raw", b"old");
    let (dead, live) = (".tilework-00000000deadbeef", ".tilework-0123456789abcdef");
    folder.write(dead, b"whole, but without its name");
    let file = File::create(folder.at(live)).expect("a file");
    file.lock().expect("a lock");
    done(&[&input, &output, "--from", "f32[3,5]", "--to", "{0,1}"]);
    assert_eq!(folder.names(), [live, "in.raw", "out.raw"]);
    assert_eq!(folder.read("out.raw"), columns());
}

/// Between the opening of the file and the reading of its bytes the conversion waits for the reader of a pipe.
#[cfg(target_os = "linux")]
#[test]
fn a_source_that_is_cut_short_is_an_error_and_no_crash() {
    let folder = Folder::new();
    let input = folder.write("in.raw", &vec![1; 1 << 20]);
    let pipe = folder.at("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs").success());
    let mut command = command(&["convert", &input, &pipe, "--from", "u8[1024,1024]", "--to", "{0,1}"]);
    let child = command.stderr(std::process::Stdio::piped()).spawn().expect("it starts");
    let maps = format!("/proc/{}/maps", child.id());
    while !fs::read_to_string(&maps).expect("it runs").contains("in.raw") {
        std::thread::yield_now();
    }
    File::options().write(true).open(&input).expect("a file").set_len(0).expect("it is cut");
    let mut reader = File::open(&pipe).expect("a pipe");
    std::io::copy(&mut reader, &mut std::io::sink()).expect("it writes");
    let output = child.wait_with_output().expect("it ends");
    let stderr = unwrapped(&String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("the file was cut short while it was read"), "{stderr}");
}
