//! Files are converted, whole or not at all.

use crate::common::files::{Folder, columns, done, matrix, refused};
use crate::common::{Ran, command, run, run_with};
use serde_json::Value;

/// An npy file as NumPy writes it.
fn npy(version: u8, descr: &str, fortran_order: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let text = format!("{{'descr': '{descr}', 'fortran_order': {fortran_order}, 'shape': {shape}, }}");
    let start = if version == 1 { 10 } else { 12 };
    let length = (start + text.len() + 1).next_multiple_of(64) - start;
    let mut bytes = [b"\x93NUMPY", &[version, 0][..]].concat();
    match version {
        1 => bytes.extend((length as u16).to_le_bytes()),
        _ => bytes.extend((length as u32).to_le_bytes()),
    }
    bytes.extend(format!("{text:<width$}\n", width = length - 1).as_bytes());
    bytes.extend(data);
    bytes
}

#[test]
fn an_array_goes_through_every_order_and_comes_back() {
    let folder = Folder::new();
    let input = folder.write("c.npy", &npy(1, "<f4", "False", "(3, 5)", &matrix()));
    let [fortran, tiled, back] = ["fortran.npy", "tiled.npy", "back.npy"].map(|name| folder.at(name));
    done(&[&input, &fortran, "--to", "{0,1}", "--check"]);
    assert_eq!(folder.read("fortran.npy"), npy(1, "<f4", "True", "(3, 5)", &columns()));
    done(&[&fortran, &tiled, "--to", "{1,0:T(2,2)}", "--check"]);
    assert!(folder.read("tiled.npy").starts_with(&npy(1, "<f4", "False", "(24,)", &[])));
    done(&[&tiled, &back, "--from", "f32[3,5]{1,0:T(2,2)}", "--check"]);
    assert_eq!(folder.read("back.npy"), folder.read("c.npy"));
    assert_eq!(folder.names(), ["back.npy", "c.npy", "fortran.npy", "tiled.npy"]);
}

#[test]
fn another_order_of_dimensions_is_stored_as_it_lies() {
    let folder = Folder::new();
    let data: Vec<u8> = (0..24).collect();
    let input = folder.write("nchw.npy", &npy(1, "|u1", "False", "(2, 3, 2, 2)", &data));
    done(&[&input, &folder.at("nhwc.npy"), "--to", "{1,3,2,0}"]);
    let at = |n: u8, h: u8, w: u8, c: u8| 12 * n + 4 * c + 2 * h + w;
    let mut moved = Vec::new();
    for n in 0..2 {
        for h in 0..2 {
            for w in 0..2 {
                moved.extend((0..3).map(|c| at(n, h, w, c)));
            }
        }
    }
    assert_eq!(folder.read("nhwc.npy"), npy(1, "|u1", "False", "(2, 2, 2, 3)", &moved));
    done(&[&folder.at("nhwc.npy"), &folder.at("back.npy"), "--from", "u8[2,3,2,2]{1,3,2,0}"]);
    assert_eq!(folder.read("back.npy"), folder.read("nchw.npy"));
}

#[test]
fn types_that_numpy_has_no_word_for_are_named_by_the_option() {
    let folder = Folder::new();
    let data: Vec<u8> = (0..12).collect();
    let input = folder.write("v2.npy", &npy(1, "<V2", "False", "(2, 3)", &data));
    let output = folder.at("out.npy");
    refused(&[&input, &output, "--to", "{0,1}"], "accepted: --dtype TYPE, such as bf16");
    refused(&[&input, &output, "--dtype", "f32"], "f32 for a file of \"<V2\"");
    assert_eq!(folder.names(), ["v2.npy"]);
    done(&[&input, &output, "--to", "{0,1}", "--dtype", "bf16"]);
    let moved = [0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11];
    assert_eq!(folder.read("out.npy"), npy(1, "<V2", "True", "(2, 3)", &moved));
    done(&[&input, &output, "--from", "bf16[2,3]", "--to", "bf16[2,3]{0,1}"]);
    assert_eq!(folder.read("out.npy"), npy(1, "<V2", "True", "(2, 3)", &moved));
}

#[test]
fn numbers_with_the_most_significant_byte_first_are_reversed() {
    let folder = Folder::new();
    let reversed = |data: &[u8], width| {
        data.chunks(width).flat_map(|number| number.iter().rev()).copied().collect::<Vec<u8>>()
    };
    let output = folder.at("out.npy");
    let big = folder.write("big.npy", &npy(1, ">f4", "False", "(3, 5)", &reversed(&matrix(), 4)));
    let said = done(&[&big, &output, "--to", "{0,1}", "--check"]).stdout;
    assert!(said.contains("reversed   the bytes of each number"), "{said}");
    assert_eq!(folder.read("out.npy"), npy(1, "<f4", "True", "(3, 5)", &columns()));
    let complex = folder.write("complex.npy", &npy(1, ">c8", "False", "(7,)", &reversed(&matrix()[..56], 4)));
    done(&[&complex, &output]);
    assert_eq!(folder.read("out.npy"), npy(1, "<c8", "False", "(7,)", &matrix()[..56]));
    // Integers are often the bits of another type, and their order is theirs.
    let bits = folder.write("bits.npy", &npy(1, ">u2", "False", "(6,)", &reversed(&matrix()[..12], 2)));
    done(&[&bits, &folder.at("out.raw"), "--dtype", "bf16"]);
    assert_eq!(folder.read("out.raw"), &matrix()[..12]);
    // Without its header a file says nothing of the order.
    done(&[&big, &folder.at("out.raw"), "--skip", "128", "--from", "u32[15]"]);
    assert_eq!(folder.read("out.raw"), reversed(&matrix(), 4));
    let half = npy(1, ">f2", "False", "(1,)", &[0x3c, 0]);
    let piped = run_with(command(&["convert", "-", &output, "--convert", "f64"]), &half);
    assert_eq!((piped.code, piped.stderr.as_str()), (0, ""));
    assert_eq!(folder.read("out.npy"), npy(1, "<f8", "False", "(1,)", &1_f64.to_le_bytes()));
}

#[test]
fn every_version_and_shape_of_header_is_read() {
    let folder = Folder::new();
    for version in [1, 2, 3] {
        let input = folder.write("in.npy", &npy(version, "<f4", "False", "(3, 5)", &matrix()));
        done(&[&input, &folder.at("out.raw"), "--to", "{0,1}"]);
        assert_eq!(folder.read("out.raw"), columns());
    }
    for (shape, data) in [("()", &[1, 2, 3, 4][..]), ("(0, 3)", &[]), ("(3, 0)", &[])] {
        let input = folder.write("in.npy", &npy(1, "<f4", "False", shape, data));
        done(&[&input, &folder.at("out.raw"), "--check"]);
        assert_eq!(folder.read("out.raw"), data);
        done(&[&input, &folder.at("out.npy"), "--check"]);
        assert_eq!(folder.read("out.npy"), folder.read("in.npy"));
    }
    let input = folder.write("in.npy", &npy(1, "<f4", "False", "()", &[1, 2, 3, 4]));
    done(&[&input, &folder.at("out.raw"), "--to", "{}"]);
    assert_eq!(folder.read("out.raw"), [1, 2, 3, 4]);
    done(&[&input, &folder.at("out.npy"), "--to", "f32[]{:T(128)}"]);
    assert_eq!(folder.read("out.npy").len(), 128 + 512);
}

#[test]
fn a_file_that_is_no_array_is_refused_and_nothing_is_written() {
    let folder = Folder::new();
    let whole = npy(1, "<f4", "False", "(3, 5)", &matrix());
    let long = [b"\x93NUMPY\x02\x00".to_vec(), u32::MAX.to_le_bytes().to_vec(), b"{}".to_vec()].concat();
    let cases: [(&[u8], &str); 10] = [
        (&whole[..whole.len() - 1], "has 59 bytes after 128 bytes; rule: the layout of the source has 60"),
        (&[&whole[..], b"x"].concat(), "has 61 bytes after 128 bytes"),
        (&whole[..40], "the file ends after 40 bytes"),
        (&whole[..9], "the file ends after 9 bytes"),
        (b"", "does not begin with the bytes"),
        (b"PK\x03\x04 an archive", "does not begin with the bytes"),
        (&long, "a header of 4294967295 bytes"),
        (&npy(1, "<f4", "Perhaps", "(3, 5)", &matrix()), "found Perhaps"),
        (&npy(1, "<f4", "False", "(4611686018427387904, 4)", &[]), "overflow"),
        (&npy(1, "|O", "False", "(3,)", &[]), "every element is one value"),
    ];
    let output = folder.at("out.raw");
    for (bytes, expected) in cases {
        let input = folder.write("in.npy", bytes);
        refused(&[&input, &output], &expected.replace("; rule:", " rule:"));
        assert_eq!(folder.names(), ["in.npy"], "{expected}");
    }
    refused(&[&folder.at("none.npy"), &output], "No such file");
    refused(&[&folder.at(""), &output, "--from", "f32[3]"], "is a folder");
}

#[test]
fn raw_files_are_as_long_as_their_layout() {
    let folder = Folder::new();
    let input = folder.write("in.raw", &[b"HEAD".to_vec(), matrix(), b"TAIL!".to_vec()].concat());
    let output = folder.at("out.raw");
    refused(&[&input, &output], "a raw file does not say how it lies");
    refused(&[&input, &output, "--from", "{1,0}"], "the braces of a shape alone");
    refused(
        &[&input, &output, "--from", "f32[3,5]"],
        "has 69 bytes rule: the layout of the source has 60 bytes",
    );
    refused(&[&input, &output, "--from", "f32[3,5]", "--skip", "4"], "has 65 bytes after 4 bytes");
    refused(&[&input, &output, "--from", "f32[3,5]", "--skip", "10"], "has 59 bytes after 10 bytes");
    refused(&[&input, &output, "--from", "f32[3,5]", "--skip", "99999999999"], "has 0 bytes after");
    assert_eq!(folder.names(), ["in.raw"]);
    done(&[&input, &output, "--from", "f32[3,5]", "--to", "{0,1}", "--skip", "4", "--trailing"]);
    assert_eq!(folder.read("out.raw"), columns());
    // An npy file is a raw one behind its header, if it is asked for.
    let input = folder.write("in.npy", &npy(1, "<f4", "False", "(3, 5)", &matrix()));
    done(&[&input, &output, "--from", "f32[3,5]", "--to", "{0,1}", "--skip", "128"]);
    assert_eq!(folder.read("out.raw"), columns());
}

#[test]
fn layouts_that_do_not_agree_are_told_with_both_names() {
    let folder = Folder::new();
    let input = folder.write("in.npy", &npy(1, "<f4", "True", "(3, 5)", &columns()));
    let output = folder.at("out.raw");
    refused(&[&input, &output, "--to", "f32[5,3]"], "dimensions [3, 5] and [5, 3]");
    refused(&[&input, &output, "--to", "bf16[3,5]"], "element types f32 and bf16");
    refused(&[&input, &output, "--to", "s32[3,5]"], "element types f32 and s32");
    refused(&[&input, &output, "--to", "f32[3,5]{1,0:E(64)}"], "of 32 bits and of 64 bits");
    let wide = "f32[3,5]{0,1:E(200)}";
    refused(&[&input, &output, "--skip=0", "--from", wide, "--to", wide], "elements of 200 bits");
    refused(&[&input, &output, "--threads", "0"], "invalid value '0'");
    refused(&[&input, &output, "--from", "f32[3,5]"], "is not silently passed over");
    refused(&[&input, &output, "--from", "s32[3,5]{0,1}"], "s32 for a file of \"<f4\"");
    refused(&[&input, &output, "--to", "{1,1}"], "error");
    refused(&[&input, &output, "--to", "(f32[3,5])"], "not an array");
    refused(&[&input, &output, "--to", "f32[3,5]{strides(0,1)}"], "");
    refused(&[&input, &output, "--to", "INT32 [3,5]"], "element types f32 and s32");
    assert_eq!(folder.names(), ["in.npy"]);
    done(&[&input, &output, "--to", "FLOAT32 [3,5] strides [8,1]"]);
    assert_eq!(folder.read("out.raw").len(), 4 * 21);
    let input = folder.write("bool.npy", &npy(1, "|b1", "False", "(2,)", &[1, 0]));
    done(&[&input, &output, "--to", "UINT8 [2]"]);
}

#[test]
fn padding_holds_what_was_asked_for() {
    let folder = Folder::new();
    let input = folder.write("in.raw", &[1, 2, 3]);
    let output = folder.at("out.raw");
    let filled = |to: &str, fill: &[&str]| {
        done(&[&[&input, &output, "--from", "s8[3]", "--to", to, "--check"], fill].concat());
        folder.read("out.raw")
    };
    assert_eq!(filled("{0:T(5)}", &[]), [1, 2, 3, 0, 0]);
    for (fill, value) in
        [("zero", 0), ("one", 1), ("lowest", 128), ("highest", 127), ("-7", 249), ("0xfe", 254)]
    {
        assert_eq!(filled("{0:T(5)}", &["--fill", fill]), [1, 2, 3, value, value], "{fill}");
    }
    assert_eq!(filled("{0:pad(5)=lowest}", &[]), [1, 2, 3, 128, 128]);
    assert_eq!(filled("{0:pad(5)=lowest}", &["--fill=one"]), [1, 2, 3, 1, 1]);
    assert_eq!(filled("{strides(2)}", &["--fill=9"]), [1, 9, 2, 9, 3]);
    refused(&[&input, &output, "--from", "s8[3]", "--fill", "128"], "lowest, highest, -128 to 127, or");
    refused(&[&input, &output, "--from", "s8[3]", "--fill", "much"], "as a value of s8");
    // A value of 4 bits is the same number in its byte.
    done(&[&input, &output, "--from", "s4[3]", "--to", "{0:T(4)}", "--fill", "-8"]);
    assert_eq!(folder.read("out.raw"), [1, 2, 3, 0xf8]);
}

#[test]
fn elements_are_converted_only_on_request() {
    let folder = Folder::new();
    let floats: Vec<u8> = [0.0_f32, 1.0, -2.5, 3.155, f32::INFINITY, 1e-3].map(f32::to_le_bytes).concat();
    let input = folder.write("f32.npy", &npy(1, "<f4", "False", "(2, 3)", &floats));
    let output = folder.at("out.npy");
    let brief: Vec<u8> = [0_u16, 0x3f80, 0xc020, 0x404a, 0x7f80, 0x3a83].map(u16::to_le_bytes).concat();
    let to = |text: &'static str| [input.as_str(), output.as_str(), "--to", text];
    refused(&to("bf16[2,3]"), "element types f32 and bf16 rule: elements are moved as they are, unless");
    refused(&to("bf16[2,3]"), "accepted: --convert, or f32 in both layouts");
    refused(&to("c64[2,3]"), "accepted: f32 in both layouts");
    let with = |text: &'static str, convert: &'static str| [&to(text)[..], &[convert, "--check"]].concat();
    refused(&with("c64[2,3]", "--convert"), "no conversion from f32 to c64");
    refused(&with("bf16[2,3]", "--convert=f16"), "both say the same element type");
    refused(
        &to("{1,0}").iter().chain(&["--dtype", "bf16"]).copied().collect::<Vec<_>>(),
        "--convert=bf16 makes bf16 of it",
    );
    refused(&["--from=f32[3,2]", &input, &output], "is f32[2,3]{1,0} by itself");
    refused(&with("{1,0}", "--convert=bf61"), "did you mean");
    refused(&with("{1,0}", "--skip=-1"), "invalid value '-1' for '--skip");
    refused(&with("{1,0}", "--convert=f4e2m1fn"), "accepted: E(4) in the layout, such as f4e2m1fn[3,5]");
    assert_eq!(folder.names(), ["f32.npy"]);
    for args in [with("bf16[2,3]", "--convert"), with("{1,0}", "--convert=bf16")] {
        let words = done(&args).stdout;
        assert!(words.contains("converted") && words.contains("<V2 [2,3]"), "{words}");
        assert_eq!(folder.read("out.npy"), npy(1, "<V2", "False", "(2, 3)", &brief));
    }
    // Tiles, padding and back again, through a stream as well.
    let tiled = folder.at("tiled.raw");
    done(&[&input, &tiled, "--to={1,0:T(2,4)(2,1)}", "--convert=bf16", "--fill=1", "--check"]);
    let back = folder.at("back.npy");
    done(&[&tiled, &back, "--from=bf16[2,3]{1,0:T(2,4)(2,1)}", "--convert=f32", "--check"]);
    let narrowed: Vec<u8> = brief.chunks(2).flat_map(|bits| [0, 0, bits[0], bits[1]]).collect();
    assert_eq!(folder.read("back.npy"), npy(1, "<f4", "False", "(2, 3)", &narrowed));
    done(&[&input, &output, "--convert=f32", "--check"]); // nothing to convert
    assert_eq!(folder.read("out.npy"), folder.read("f32.npy"));
    let s8 = folder.write("s8.raw", &[1, 0xff, 0x7f]);
    done(&[&s8, &tiled, "--from=s8[3]", "--to=s4[3]{0:E(4)}", "--convert", "--check"]);
    assert_eq!(folder.read("tiled.raw"), [0xf1, 0x0f]);
}

#[test]
fn pipes_take_and_give_arrays() {
    let given = npy(1, "<f4", "False", "(3, 5)", &matrix());
    let stdout = |args: &[&str], input: &[u8]| {
        let mut command = command(&[&["convert"], args].concat());
        command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
        let mut child = command.stderr(std::process::Stdio::null()).spawn().expect("it starts");
        std::io::Write::write_all(&mut child.stdin.take().expect("a pipe"), input).expect("it reads");
        let output = child.wait_with_output().expect("it ends");
        (output.stdout, output.status.code())
    };
    assert_eq!(stdout(&["-", "-", "--to", "{0,1}"], &given), (columns(), Some(0)));
    assert_eq!(stdout(&["-", "-", "--from", "f32[3,5]", "--to", "{0,1}"], &matrix()), (columns(), Some(0)));
    assert_eq!(stdout(&["-", "-", "--from", "f32[3,5]"], &matrix()[1..]), (Vec::new(), Some(2)));
    let tiled = stdout(&["-", "-", "--from", "u8[3]", "--to", "{0:T(5)}"], b"abc");
    assert_eq!(tiled, (b"abc\0\0".to_vec(), Some(0)));
    let words = |args: &[&str]| run_with(command(args), b"abc").stderr;
    assert!(words(&["convert", "-", "-", "--from", "u8[3]", "--json"]).contains("both on standard output"));
    assert!(words(&["convert", "-", "-", "--from", "u8[3]", "--check"]).contains("cannot be read again"));
}

#[test]
fn the_answer_says_what_was_written() {
    let folder = Folder::new();
    let input = folder.write("in.npy", &npy(1, "<f4", "False", "(3, 5)", &matrix()));
    let [npy, raw] = ["out.npy", "out.raw"].map(|name| folder.at(name));
    let words = done(&[&input, &npy, "--to", "{1,0:T(2,2)}", "--check"]).stdout;
    assert!(
        words.contains("f32[3,5]{1,0:T(2,2)}, 96 B") && words.contains("<f4 [24], the flat buffer"),
        "{words}"
    );
    assert!(words.contains("every element and all padding"), "{words}");
    let words = done(&[&input, &raw]).stdout;
    assert!(!words.contains("stored") && !words.contains("took"), "{words}");
    let document = include_str!("../../../../docs/json.md");
    let object: Value =
        serde_json::from_str(&done(&[&input, &npy, "--json", "--to={0,1}", "--threads=1"]).stdout)
            .expect("JSON");
    assert_eq!((&object["read_bytes"], &object["written_bytes"]), (&Value::from(60), &Value::from(188)));
    assert_eq!(object["npy"]["fortran_order"], Value::from(true));
    let measured = run(&["bench", "f32[64,64]", "{0,1}", "--seconds", "0", "--json"]).stdout;
    let measured: Value = serde_json::from_str(&measured).expect("JSON");
    for object in [&object, &object["npy"], &measured, &measured["runs"][0]] {
        for field in object.as_object().expect("an object").keys() {
            assert!(document.contains(&format!("`{field}`")), "{field}");
        }
    }
}

#[test]
fn a_measurement_is_of_what_fits_memory() {
    let Ran { stdout, code, .. } = run(&["bench", "u8[64,64]", "u8[64,64]{0,1:T(8,128)}", "--seconds", "0"]);
    assert!(code == 0 && stdout.contains("1 thread") && stdout.contains("ratio"), "{stdout}");
    for (args, expected) in [
        (["u8[1000000,100000000]", "{0,1}"], "take"),
        (["u8[0,5]", "{0,1}"], "no elements"),
        (["u8[5]", "s8[5]"], "element types u8 and s8"),
        (["{0,1}", "{0,1}"], "the braces of a shape alone"),
        (["u8[5]", "u8[5]{strides(0)}"], "error"),
    ] {
        let Ran { stderr, code, .. } = run(&["bench", args[0], args[1], "--seconds=0"]);
        assert!(code == 2 && stderr.contains(expected), "{args:?}: {stderr}");
    }
}
