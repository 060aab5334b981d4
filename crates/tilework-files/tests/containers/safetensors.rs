//! safetensors, alone and in shards.

use std::fs;

use tilework_files::container::{Container, Format};

use crate::common::{Folder, Tested, error, seen, shake};

/// A file with this header and these bytes behind it.
fn file(header: &str, data: &[u8]) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes(), header.as_bytes(), data].concat()
}

fn data(count: u8) -> Vec<u8> {
    (0..count).map(|at| at.wrapping_mul(37)).collect()
}

#[test]
fn every_tensor_has_its_type_sizes_and_bytes() -> Tested {
    let folder = Folder::new();
    let header = r#"{"__metadata__":{"format":"pt","n":"\u00e9"},
        "b":{"dtype":"BF16","shape":[2,3],"data_offsets":[8,20]},
        "a":{"dtype":"F64","shape":[],"data_offsets":[0,8]},
        "none":{"dtype":"I32","shape":[0,4],"data_offsets":[20,20]},
        "half":{"shape":[3,2],"dtype":"F4","data_offsets":[20,23]},
        "six":{"dtype":"F6_E2M3","shape":[4],"data_offsets":[23,26]},
        "yes":{"dtype":"BOOL","shape":[2],"data_offsets":[26,28]}}"#;
    let data = data(28);
    let container = Container::open(&folder.write("x.safetensors", &file(header, &data)))?;
    let expected = [
        ("a", "f64[]", 0..8),
        ("b", "bf16[2,3]{1,0}", 8..20),
        ("none", "s32[0,4]{1,0}", 20..20),
        ("half", "f4e2m1fn[3,2]{1,0:E(4)}", 20..23),
        ("six", "f6e2m3fn[4]{0:E(6)}", 23..26),
        ("yes", "pred[2]{0}", 26..28),
    ];
    let expected =
        expected.map(|(name, text, range)| (name.to_owned(), text.to_owned(), data[range].to_vec()));
    assert_eq!(seen(&container), expected);
    assert_eq!(container.metadata(), [("format".into(), "pt".into()), ("n".into(), "é".into())]);
    assert_eq!((container.format(), container.files()), (Format::Safetensors, 1));
    Ok(())
}

#[test]
fn a_type_that_nobody_knows_is_listed_and_not_read() -> Tested {
    let folder = Folder::new();
    let bytes = file(r#"{"w":{"dtype":"F8_NEW","shape":[3],"data_offsets":[0,3]}}"#, b"abc");
    let container = Container::open(&folder.write("x.safetensors", &bytes))?;
    assert_eq!(seen(&container), [("w".into(), "unread F8_NEW".into(), b"abc".to_vec())]);
    Ok(())
}

#[test]
fn a_note_says_how_a_list_of_places_lies() -> Tested {
    let folder = Folder::new();
    let noted = |note: &str, tensor: &str, bytes: u8| {
        let header = format!(r#"{{"__metadata__":{{"tilework.layout.w":"{note}"}},"w":{tensor}}}"#);
        folder.write("x.safetensors", &file(&header, &data(bytes)))
    };
    let tensor = |dtype: &str, shape: &str, bytes: u8| {
        format!(r#"{{"dtype":"{dtype}","shape":{shape},"data_offsets":[0,{bytes}]}}"#)
    };
    for (note, dtype, shape, bytes) in [
        ("f32[3,5]{1,0:T(2,2)}", "F32", "[24]", 96),
        ("f32[3,5]{1,0:T(2,2)}", "U8", "[96]", 96),
        ("u8[3,5]{0,1}", "U8", "[15]", 15),
        ("u8[3,5]{0,1}", "U8", "[5,3]", 15),
        ("f16[2,3,4]{1,2,0}", "F16", "[2,4,3]", 48),
        ("s4[3,5]{1,0:T(2,2)E(4)}", "U8", "[12]", 12),
    ] {
        let container = Container::open(&noted(note, &tensor(dtype, shape, bytes), bytes))?;
        assert_eq!(seen(&container), [("w".into(), note.into(), data(bytes))]);
        assert!(container.metadata().is_empty());
    }
    for (note, dtype, shape, bytes) in [
        ("f32[3,5]{1,0:T(2,2)}", "F32", "[3,5]", 60),
        ("f32[3,5]{1,0:T(2,2)}", "F32", "[2,12]", 96),
        ("f32[3,5]{1,0:T(2,2)}", "I32", "[24]", 96),
        ("f32[3,5]{1,0:T(2,2)}", "F32", "[24]", 8),
        ("f32[3,5]{0,1}", "F32", "[3,5]", 60),
        ("f32[3", "F32", "[3]", 12),
        ("(f32[3], f32[2])", "F32", "[5]", 20),
        ("f32[?]", "F32", "[5]", 20),
    ] {
        let said = error(&noted(note, &tensor(dtype, shape, bytes), bytes));
        assert!(said.contains("its note, tilework.layout.NAME in the metadata"), "{note}: {said}");
    }
    Ok(())
}

#[test]
fn a_file_that_lies_is_refused_with_place_and_rule() {
    let folder = Folder::new();
    let tensor = |shape: &str, start: u64, end: u64| {
        format!(r#"{{"dtype":"F32","shape":{shape},"data_offsets":[{start},{end}]}}"#)
    };
    let two = |a: String, b: String| format!(r#"{{"a":{a},"b":{b}}}"#);
    let one = |a: String| format!(r#"{{"a":{a}}}"#);
    let headers = [
        (one(tensor("[4]", 0, 16)), 8, r#"tensor "a" ends at byte 16 behind the header, and the file has 8"#),
        (
            one(tensor("[1000000,1000000,1000]", 0, 8)),
            8,
            r#"f32[1000000,1000000,1000]{2,1,0}, and has 8 bytes"#,
        ),
        (one(tensor("[4294967296,4294967296]", 0, 8)), 8, "tensor \"a\""),
        (one(tensor("[18446744073709551615]", 0, 8)), 8, "tensor \"a\""),
        (one(tensor("[2]", 8, 0)), 8, r#"tensor "a" from byte 8 to byte 0"#),
        (one(tensor("[-2]", 0, 8)), 8, "`-` at byte"),
        (one(tensor("[2]", 0, 8)), 12, "4 bytes behind the last tensor; a file ends with its last tensor"),
        (one(tensor("[1]", 4, 8)), 8, "leaves bytes out"),
        (
            two(tensor("[2]", 0, 8), tensor("[2]", 4, 12)),
            12,
            r#"tensor "b" begins at byte 4 behind the header and shares bytes"#,
        ),
        (two(tensor("[2]", 0, 8), tensor("[2]", 0, 8)), 8, "shares bytes"),
        (format!(r#"{{"a":{0},"a":{0}}}"#, tensor("[2]", 0, 8)), 8, r#"the name "a" twice"#),
        (r#"{"a":{"dtype":"F32","dtype":"F32"}}"#.into(), 0, r#"the name "dtype" twice"#),
        (r#"{"a":{"dtype":"F32","shape":[2]}}"#.into(), 8, r#"tensor "a" without data_offsets"#),
        (r#"{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8,9]}}"#.into(), 8, "3 data_offsets"),
        (
            r#"{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"x":1}}"#.into(),
            8,
            r#"the key "x" of tensor "a""#,
        ),
        (r#"{"__metadata__":{"a":1}}"#.into(), 0, "there is a text in quotes"),
        (r#"["a"]"#.into(), 0, "there is an object in braces"),
        (r#"{} x"#.into(), 0, "nothing behind the value but blanks"),
    ];
    for (header, bytes, expected) in headers {
        let path = folder.write("x.safetensors", &file(&header, &data(bytes)));
        let said = error(&path);
        assert!(said.contains(expected), "{header}: {said}");
        assert!(said.starts_with(&path.display().to_string()), "{said}");
    }
    for (bytes, expected) in [
        (vec![], "a file of 0 bytes"),
        (vec![1, 2, 3], "a file of 3 bytes"),
        (u64::MAX.to_le_bytes().to_vec(), "a header of 18446744073709551615 bytes"),
        (
            1000_u64.to_le_bytes().to_vec(),
            "a file of 8 bytes with a header of 1000; the header is within the file",
        ),
    ] {
        let said = error(&folder.write("x.safetensors", &bytes));
        assert!(said.contains(expected), "{said}");
    }
}

#[test]
fn no_change_of_a_file_makes_it_panic() {
    let header = r#"{"__metadata__":{"tilework.layout.w":"f32[2,1]{1,0:T(2,2)}"},"w":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}}"#;
    shake(&Folder::new(), "x.safetensors", &file(header, &data(16)));
}

/// Two shards and their index.
fn shards(folder: &Folder) -> std::path::PathBuf {
    let one = r#"{"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},"stray":{"dtype":"U8","shape":[1],"data_offsets":[3,4]}}"#;
    let two = r#"{"__metadata__":{"format":"pt"},"b":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}"#;
    folder.write("m-00001-of-00002.safetensors", &file(one, b"abcd"));
    folder.write("m-00002-of-00002.safetensors", &file(two, b"xy"));
    let index = r#"{"metadata":{"total_size":5,"kind":"t"},"weight_map":{"a":"m-00001-of-00002.safetensors","b":"m-00002-of-00002.safetensors"}}"#;
    folder.write("m.safetensors.index.json", index.as_bytes())
}

#[test]
fn shards_are_one_container_by_their_index_or_their_folder() -> Tested {
    let folder = Folder::new();
    let index = shards(&folder);
    for path in [&index, &folder.0] {
        let container = Container::open(path)?;
        let expected = [("a", "u8[3]{0}", &b"abc"[..]), ("b", "u8[2]{0}", b"xy")];
        assert_eq!(
            seen(&container),
            expected.map(|(name, text, bytes)| (name.into(), text.into(), bytes.into()))
        );
        let metadata = [("kind".to_owned(), "t".to_owned()), ("format".to_owned(), "pt".to_owned())];
        assert_eq!(container.metadata(), metadata);
        assert_eq!(container.files(), 2);
    }
    Ok(())
}

#[test]
fn an_index_that_lies_is_refused() {
    let folder = Folder::new();
    shards(&folder);
    for (index, expected) in [
        (
            r#"{"weight_map":{"a":"../x.safetensors"}}"#,
            r#"the shard "../x.safetensors"; shards are files beside"#,
        ),
        (r#"{"weight_map":{"a":"/etc/passwd"}}"#, "the shard \"/etc/passwd\""),
        (r#"{"weight_map":{"a":".."}}"#, "the shard \"..\""),
        (r#"{"weight_map":{"a":""}}"#, "the shard \"\""),
        (r#"{"weight_map":{"a":"c:\\x"}}"#, "the shard"),
        (
            r#"{"weight_map":{"a":"gone.safetensors"}}"#,
            r#"names "gone.safetensors", which is not there; all 1 shards"#,
        ),
        (
            r#"{"weight_map":{"b":"m-00001-of-00002.safetensors"}}"#,
            r#"has tensor "b" in "m-00001-of-00002.safetensors""#,
        ),
        (
            r#"{"weight_map":{"a":"m-00001-of-00002.safetensors","a":"m-00002-of-00002.safetensors"}}"#,
            "twice",
        ),
        (r#"{"metadata":{}}"#, "no weight_map"),
        (r#"{"weight_map":{"a":7}}"#, "there is a text in quotes"),
    ] {
        let said = error(&folder.write("m.safetensors.index.json", index.as_bytes()));
        assert!(said.contains(expected), "{index}: {said}");
    }
}

#[test]
fn what_is_no_container_says_what_would_be() {
    let folder = Folder::new();
    assert!(error(&folder.0).contains("a folder with no container in it"));
    assert!(error(&folder.write("x.bin", b"what?")).contains("is no file of named arrays"));
    for pickle in [&b"\x80\x04\x95\x1e"[..], b"\x80\x02\x8a\nl\xfc\x9cF"] {
        assert!(error(&folder.write("x.bin", pickle)).contains("x.bin is a pickle"));
    }
    assert!(error(&folder.0.join("gone")).contains("No such file"));
    folder.write("a.safetensors", b"");
    folder.write("b.safetensors", b"");
    assert!(error(&folder.0).contains("2 files that end in .safetensors"));
}

#[test]
fn checkpoints_that_are_pickles_are_refused_by_name() -> Tested {
    for (file, words) in [
        (".metadata", "a checkpoint of torch.distributed.checkpoint; its tensors are described by pickles"),
        ("__0_0.distcp", "a checkpoint of torch.distributed.checkpoint"),
        ("mp_rank_00_model_states.pt", "a checkpoint of DeepSpeed or Megatron"),
        ("latest_checkpointed_iteration.txt", "a checkpoint of DeepSpeed or Megatron"),
        ("model.pth", "a checkpoint of PyTorch"),
        ("9/_CHECKPOINT_METADATA", "a folder of 1 checkpoint; each step is a checkpoint by itself"),
        ("weights.bin", "a folder with no container in it"),
    ] {
        let folder = Folder::new();
        let path = folder.0.join(file);
        fs::create_dir_all(path.parent().ok_or("a folder")?)?;
        fs::write(path, b"x")?;
        let error = error(&folder.0);
        assert!(error.contains(words), "{file}: {error}");
    }
    Ok(())
}
