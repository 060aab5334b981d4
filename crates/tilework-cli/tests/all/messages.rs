//! Shapes in protobuf messages.

use std::io::Write;

use crate::common::{command, run, run_with};

/// The bytes that the command writes for a shape.
fn binary(args: &[&str]) -> Vec<u8> {
    let output = command(args).output().expect("the command runs");
    assert_eq!(output.status.code(), Some(0));
    output.stdout
}

#[test]
fn a_shape_is_written_and_read_in_every_format() {
    let shape = "bf16[64,300]{1,0:T(8,128)(2,1)}";
    for format in ["binary", "text", "json"] {
        let written = binary(&["parse", "--format", format, shape]);
        let read = run_with(command(&["parse", "--from-format", format]), &written);
        assert_eq!((read.stdout.trim_end(), read.code), (shape, 0), "{format}: {}", read.stderr);
    }
    assert_eq!(binary(&["parse", "--format", "binary", "f32[]"]), [0x10, 0x0b, 0x2a, 3, 0x80, 1, 1]);
}

#[test]
fn a_message_is_read_from_a_file_an_argument_or_standard_input() {
    let mut file = std::env::temp_dir();
    file.push(format!("tilework-message-{}.pb", std::process::id()));
    let bytes = binary(&["parse", "--format", "binary", "f32[3,5]{1,0:T(2,2)}"]);
    std::fs::File::create(&file).and_then(|mut file| file.write_all(&bytes)).expect("the file is written");
    let from_file = run(&["parse", "--from-format", "binary", &format!("@{}", file.display())]);
    std::fs::remove_file(&file).expect("the file is removed");
    assert_eq!((from_file.stdout.as_str(), from_file.code), ("f32[3,5]{1,0:T(2,2)}\n", 0));
    let argument = "element_type: F32 dimensions: 3 layout { minor_to_major: 0 }";
    assert_eq!(run(&["parse", "--from-format", "text", argument]).stdout, "f32[3]{0}\n");
    let shown = run_with(command(&["show", "--from-format", "binary"]), &bytes);
    assert!(shown.stdout.starts_with("f32[3,5]{1,0:T(2,2)}\n"), "{}", shown.stdout);
}

#[test]
fn the_older_message_has_padding() {
    let padded = "s32[2,3]{0,1:pad(3,5)=zero}";
    for message in ["shape-2017", "shape-2018"] {
        let json = binary(&["parse", "--format", "json", "--message", message, padded]);
        let read = run_with(command(&["parse", "--from-format", "json", "--message", message]), &json);
        assert_eq!((read.stdout.trim_end(), read.code), (padded, 0), "{}", read.stderr);
    }
    let refused = run(&["parse", "--format", "json", padded]);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("today's LayoutProto has no field for pad(..)"), "{}", refused.stderr);
}

#[test]
fn what_is_wrong_is_shown_at_its_place() {
    let cut = run_with(command(&["parse", "--from-format", "binary"]), &[0x10, 0x0b, 0x1a, 5, 1, 2]);
    assert_eq!(cut.code, 2);
    let expected = "error: standard input: byte 4: dimensions: 5 bytes, but 2 are left\n    \
                    10 0b 1a 05 01 02\n                ^^^^^\n";
    assert!(cut.stderr.starts_with(expected), "{}", cut.stderr);
    let misspelt = run(&["parse", "--from-format", "text", "element_type: F32 dimensoins: 3"]);
    assert!(misspelt.stderr.contains("unknown field dimensoins\n"), "{}", misspelt.stderr);
    for args in [
        ["parse", "--from-format", "binary", "x"],
        ["parse", "--from-format", "json", "@/no/such/file"],
        ["parse", "--format", "text", "f32[2]{strides(5)}"],
        ["parse", "--format", "json", "FLOAT32 [2]"],
        ["parse", "--format", "text", "--json"],
    ] {
        assert_eq!(run(&args).code, 2, "{args:?}");
    }
    let twice = run(&["parse", "--format", "binary", "token[]", "token[]"]);
    assert_eq!((twice.stdout.as_bytes(), twice.code), (&[0x10, 0x11][..], 2));
    let old = run(&["parse", "--strict-xla", "--from-format", "json", "--message", "shape-2017", "{}"]);
    assert!(old.code == 2 && old.stderr.contains("a message of TensorFlow 1.x"), "{}", old.stderr);
}
