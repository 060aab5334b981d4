//! Who may do what with a file that was converted onto another.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::common::files::{Folder, columns, done, matrix, refused};
use crate::common::run_with;

const FROM: [&str; 4] = ["--from", "f32[3,5]", "--to", "{0,1}"];

fn mode(path: &str) -> u32 {
    fs::metadata(path).expect("a file").mode() & 0o7777
}

fn set_mode(path: &str, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("it is ours");
}

#[test]
fn the_modes_of_owner_group_and_others_stay_and_no_special_bit_does() {
    let folder = Folder::new();
    let input = folder.write("in.raw", &matrix());
    let output = folder.at("out.raw");
    for (old, new) in [(0o4777, 0o777), (0o2755, 0o755), (0o1644, 0o644), (0o640, 0o640), (0o600, 0o600)] {
        folder.write("out.raw", b"old");
        set_mode(&output, old);
        done(&[&[input.as_str(), &output], &FROM[..]].concat());
        assert_eq!(folder.read("out.raw"), columns());
        assert_eq!(mode(&output), new, "{old:o}");
        fs::remove_file(&output).expect("it is ours");
    }
}

#[test]
fn a_file_that_may_not_be_written_is_not_replaced() {
    let folder = Folder::new();
    let input = folder.write("in.raw", &matrix());
    let output = folder.write("out.raw", b"old");
    set_mode(&output, 0o444);
    if fs::metadata(&output).expect("a file").uid() == 0 {
        println!("skipped: root may write everything");
        return;
    }
    refused(&[&[input.as_str(), &output], &FROM[..]].concat(), "Permission denied");
    assert_eq!(folder.read("out.raw"), b"old");
}

#[test]
fn a_new_file_has_the_mode_that_the_umask_leaves() {
    let folder = Folder::new();
    let input = folder.write("in.raw", &matrix());
    for (umask, expected) in [("022", 0o644), ("077", 0o600), ("002", 0o664)] {
        let output = folder.at(umask);
        let mut shell = Command::new("sh");
        let script = "umask $0; exec \"$@\"";
        shell
            .args(["-c", script, umask, env!("CARGO_BIN_EXE_tilework"), "convert", &input, &output])
            .args(FROM);
        assert_eq!(run_with(shell, b"").code, 0);
        assert_eq!(mode(&output), expected, "umask {umask}");
    }
}

/// Whoever converts, whosever the old file is: who, the old file, and what becomes of it (owner, group, mode).
#[test]
fn nobody_gets_a_right_that_the_old_file_did_not_give() {
    let folder = Folder::new();
    if fs::metadata(&folder.0).expect("a folder").uid() != 0 {
        println!("skipped: only root can make files of other users and convert as one of them");
        return;
    }
    let input = folder.write("in.raw", &matrix());
    let output = folder.at("out.raw");
    // Where other users can run it.
    let program = folder.at("tilework");
    fs::copy(env!("CARGO_BIN_EXE_tilework"), &program).expect("a copy");
    set_mode(&program, 0o755);
    set_mode(folder.0.to_str().expect("UTF-8"), 0o777);
    let (root, owner, stranger) = ((0, 0), (1234, 50), (4321, 60));
    let member = (4321, 50);
    for (who, old, expected) in [
        (root, (owner, 0o4777), (owner, 0o777)),
        (root, (owner, 0o640), (owner, 0o640)),
        (root, (owner, 0o6600), (owner, 0o600)),
        (owner, (owner, 0o4660), (owner, 0o660)),
        (owner, ((1234, 60), 0o664), (owner, 0o644)),
        (owner, ((1234, 60), 0o640), (owner, 0o600)),
        (member, (owner, 0o660), (member, 0o660)),
        (member, (owner, 0o664), (member, 0o664)),
        (stranger, (owner, 0o666), (stranger, 0o666)),
        (stranger, (owner, 0o606), (stranger, 0o600)),
        (stranger, (owner, 0o646), (stranger, 0o644)),
    ] {
        folder.write("out.raw", b"old");
        let ((user, group), bits) = old;
        chown(&output, Some(user), Some(group)).expect("root may");
        set_mode(&output, bits);
        let mut command = Command::new(&program);
        command.args(["convert", &input, &output]).args(FROM).uid(who.0).gid(who.1);
        let ran = run_with(command, b"");
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{who:?} {old:?}");
        assert_eq!(folder.read("out.raw"), columns());
        let found = fs::metadata(&output).expect("a file");
        let found = ((found.uid(), found.gid()), found.mode() & 0o7777);
        assert_eq!(found, expected, "{who:?} onto {old:?}: {:o}", found.1);
        assert_eq!(folder.names(), ["in.raw", "out.raw", "tilework"]);
        fs::remove_file(&output).expect("root may");
    }
}
