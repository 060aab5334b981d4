//! Verbose logs of oneDNN: every form that a line has had, and sums that are counted again, naively.

use std::collections::BTreeMap;

use tilework_audit::{Audit, Cycle, Findings, LogKind, Logged, Remedy, Role};

fn read(text: &[u8]) -> Findings {
    let mut audit = Audit::new();
    audit.read("run.log", text).expect("memory is read");
    audit.findings(usize::MAX)
}

fn log(text: &str) -> Logged {
    let mut found = read(text.as_bytes());
    assert!(found.unread.is_empty(), "{:?}", found.unread);
    assert_eq!((found.logs.len(), found.programs.len()), (1, 0));
    found.logs.remove(0)
}

fn sample() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/logs/onednn.log");
    std::fs::read_to_string(path).expect("the sample is there")
}

/// Bytes of an array of 4-byte elements with sizes such as `2x17x7x7` in blocks of a letter, by multiplying.
fn bytes(tag: &str, sizes: &str, element: u64) -> (u64, u64) {
    let sizes: Vec<u64> = sizes.split('x').map(|size| size.parse().expect("a size")).collect();
    let mut blocks = vec![1; sizes.len()];
    let mut number = 0;
    for byte in tag.bytes() {
        match byte {
            b'0'..=b'9' => number = number * 10 + u64::from(byte - b'0'),
            letter if number > 0 => {
                blocks[usize::from(letter.to_ascii_lowercase() - b'a')] *= number;
                number = 0;
            }
            _ => {}
        }
    }
    let padded = sizes.iter().zip(&blocks).map(|(size, block)| size.div_ceil(*block) * block);
    (sizes.iter().product::<u64>() * element, padded.product::<u64>() * element)
}

/// Time of all, of reorders, and by pair of formats; elements and padded bytes of reorders: read field by field.
#[derive(Debug, Default, PartialEq)]
struct Naive {
    all: u64,
    count: u64,
    moved: u64,
    data: u64,
    touched: u64,
    waste: u64,
    pairs: BTreeMap<(String, String), (u64, u64)>,
}

fn naive(text: &str) -> Naive {
    let mut naive = Naive::default();
    for line in text.lines().filter(|line| line.contains(",exec,")) {
        let behind = line.split(",exec,").nth(1).expect("a primitive");
        let fields: Vec<&str> = behind.split(',').collect();
        let time = (fields[fields.len() - 1].parse::<f64>().expect("a time") * 1e6).round() as u64;
        naive.all += time;
        if !fields.iter().take(2).any(|field| *field == "reorder") {
            continue;
        }
        let sizes = fields[fields.len() - 2];
        let descriptors = fields.iter().find(|field| field.contains("blocked:")).expect("descriptors");
        let arrays: Vec<(String, u64, u64)> = descriptors
            .split(' ')
            .map(|descriptor| {
                let tag =
                    descriptor.split("blocked:").nth(1).expect("a tag").split(':').next().expect("a tag");
                let types = ["f32", "bf16", "s8"];
                let name =
                    types.into_iter().find(|name| descriptor[3..7.min(descriptor.len())].contains(name));
                let name = name
                    .or_else(|| types.into_iter().find(|name| descriptor.contains(name)))
                    .expect("a type");
                let size = match name {
                    "f32" => 4,
                    "bf16" => 2,
                    _ => 1,
                };
                let (data, allocated) = bytes(tag, sizes, size);
                (format!("{name} {tag}"), data, allocated)
            })
            .collect();
        naive.count += 1;
        naive.moved += time;
        naive.data += arrays[0].1;
        naive.touched += arrays[0].2 + arrays[1].2;
        naive.waste += arrays[1].2 - arrays[1].1;
        let pair = naive.pairs.entry((arrays[0].0.clone(), arrays[1].0.clone())).or_default();
        *pair = (pair.0 + 1, pair.1 + time);
    }
    naive
}

fn same_as_naive(text: &str) {
    let (log, naive) = (log(text), naive(text));
    assert_eq!(log.all.nanoseconds, naive.all);
    assert_eq!((log.moved.count, log.moved.nanoseconds), (naive.count, naive.moved));
    assert_eq!(
        (log.moved.data, log.moved.touched, log.moved.waste),
        (naive.data, naive.touched, naive.waste)
    );
    let pairs = log
        .pairs
        .iter()
        .map(|pair| ((pair.from.clone(), pair.to.clone()), (pair.work.count, pair.work.nanoseconds)));
    assert_eq!(pairs.collect::<BTreeMap<_, _>>(), naive.pairs);
    let alike = log.moves.iter().map(|moved| moved.work.nanoseconds);
    assert_eq!(alike.sum::<u64>(), naive.moved);
    assert!(log.moves.is_sorted_by_key(|moved| std::cmp::Reverse(moved.work.nanoseconds)));
}

#[test]
fn sums_are_those_that_a_naive_reading_counts() {
    same_as_naive(&sample());
    // Each version's form of a line, formats and types in turn.
    let heads = [
        ("onednn_verbose,v1,primitive,exec,cpu,reorder,", ":"),
        ("onednn_verbose,v1,1693533460193.346924,primitive,exec,gpu:0,reorder,", ":"),
        ("onednn_verbose,primitive,exec,cpu,reorder,", "_"),
        ("onednn_verbose,exec,cpu,reorder,", "_"),
        ("dnnl_verbose,1607054150784.885010,exec,cpu,reorder,", "_"),
        ("dnnl_verbose,exec,gpu,reorder,", "_"),
    ];
    let tags = ["abcd", "acdb", "aBcd16b", "aBcd8b", "ABcd4b16a4b", "Abcd24a"];
    let types = ["f32", "bf16", "s8"];
    let sizes = ["2x17x7x7", "1x3x224x224", "64x64x3x3", "5x1x1x9"];
    let mut text = String::new();
    for number in 0..600 {
        let (head, mark) = heads[number % heads.len()];
        let (from, to) = (tags[number % 6], tags[number / 7 % 6]);
        let (a, b) = (types[number % 3], types[number / 5 % 3]);
        let (sizes, time) = (sizes[number % 4], number as f64 / 128.0);
        let flags = |tag: &str| {
            let (data, allocated) = bytes(tag, sizes, 1);
            if data < allocated { "p" } else { "" }
        };
        let descriptor = |name: &str, element: &str, tag: &str| {
            format!("{name}{mark}{element}:{}:blocked:{tag}::f0", flags(tag))
        };
        let (from, to) = (descriptor("src", a, from), descriptor("dst", b, to));
        text.push_str(&format!("{head}jit:uni,undef,{from} {to},,,{sizes},{time}\n"));
    }
    same_as_naive(&text);
}

#[test]
fn what_is_between_operations_what_is_weights_and_what_repeats_is_known() {
    let log = log(&sample());
    assert_eq!(log.kind, LogKind::OneDnn);
    assert_eq!(log.writer.as_deref(), Some("oneDNN v3.6.0"));
    assert_eq!(log.cycle, Some(Cycle { operations: 9, times: 3 }));
    let found: Vec<(Role, Option<&str>, Option<&str>, u64)> = log
        .moves
        .iter()
        .map(|moved| (moved.role, moved.before.as_deref(), moved.after.as_deref(), moved.work.count))
        .collect();
    assert_eq!(
        found,
        [
            (Role::Between, Some("convolution"), Some("softmax"), 3),
            (Role::Output, Some("convolution"), None, 3),
            (Role::Between, Some("softmax"), Some("convolution"), 3),
            (Role::Input, None, Some("convolution"), 3),
            (Role::Weights, None, Some("convolution"), 3),
            (Role::Weights, None, Some("convolution"), 3),
        ]
    );
    let time = |role| {
        log.moves.iter().filter(|moved| moved.role == role).map(|moved| moved.work.nanoseconds).sum::<u64>()
    };
    let saved: Vec<(Remedy, u64)> =
        log.savings.iter().map(|saving| (saving.remedy, saving.work.nanoseconds)).collect();
    let weights: u64 =
        log.moves[4..].iter().map(|moved| moved.work.nanoseconds - moved.work.nanoseconds / 3).sum();
    assert_eq!(
        saved,
        [
            (Remedy::OneFormat, time(Role::Between)),
            (Remedy::Ends, time(Role::Input) + time(Role::Output)),
            (Remedy::KeepWeights, weights),
        ]
    );
    // 24 channels in blocks of 16 are 32.
    let padded: Vec<(u64, &str)> =
        log.padded.iter().map(|padded| (padded.waste, padded.operation.as_str())).collect();
    assert_eq!(padded, [(8 * 8 * 56 * 56 * 4, "convolution"), (64 * 8 * 9 * 4, "convolution")]);
    assert_eq!((log.created.count, log.created.nanoseconds), (1, 400_000));
}

#[test]
fn a_round_trip_is_found_and_costs_both_ways() {
    let line = |from: &str, to: &str, time: &str| {
        format!(
            "onednn_verbose,exec,cpu,reorder,jit:uni,undef,src_f32::blocked:{from}:f0 dst_f32::blocked:{to}:f0,,,8x16x4x4,{time}\n"
        )
    };
    let there = line("aBcd16b", "abcd", "1");
    let text = there.clone() + &line("abcd", "aBcd16b", "2");
    let log = log(&text);
    assert_eq!(log.savings.len(), 1);
    assert_eq!(log.savings[0].remedy, Remedy::JoinMoves);
    assert_eq!(log.savings[0].formats, ["f32 aBcd16b", "f32 abcd", "f32 aBcd16b"]);
    assert_eq!((log.savings[0].work.count, log.savings[0].work.nanoseconds), (2, 3_000_000));
    // One that goes on saves the second only.
    let log = self::log(&(there + &line("abcd", "acdb", "2")));
    assert_eq!((log.savings[0].work.count, log.savings[0].work.nanoseconds), (1, 2_000_000));
}

#[test]
fn logs_of_mkl_dnn_say_no_types_of_convolutions_and_their_weights_are_known_all_the_same() {
    let log = log("mkldnn_verbose,info,Detected ISA is Intel AVX-512\n\
         mkldnn_verbose,create,reorder,jit:uni,undef,in:f32_oihw out:f32_Ohwi16o,num:1,64x3x11x11,0.02\n\
         mkldnn_verbose,exec,reorder,jit:uni,undef,in:f32_oihw out:f32_Ohwi16o,num:1,64x3x11x11,0.43\n\
         mkldnn_verbose,exec,convolution,jit:avx512_common,forward_training,fsrc:nchw fwei:Ohwi16o fbia:x fdst:nChw16c,\
         alg:convolution_direct,mb64_ic3oc64_ih224oh55kh11sh4dh0ph2_iw224ow55kw11sw4dw0pw2,15.6\n\
         mkldnn_verbose,exec,reorder,jit:uni,undef,in:f32_nChw16c out:f32_nchw,num:1,64x64x55x55,5.5\n");
    let found: Vec<(&str, Role)> =
        log.moves.iter().map(|moved| (moved.from.format.as_str(), moved.role)).collect();
    assert_eq!(found, [("aBcd16b", Role::Output), ("abcd", Role::Weights)]);
    assert_eq!(log.moved.data, (64 * 64 * 55 * 55 + 64 * 3 * 11 * 11) * 4);
    assert_eq!((log.created.count, log.all.count), (1, 3));
}

#[test]
fn colours_prefixes_and_ends_of_lines_do_no_harm() {
    let plain = log(&sample());
    let with = |change: &dyn Fn(&str) -> String| {
        let text: String = sample().lines().map(change).collect();
        let found = log(&text);
        assert_eq!((found.all, found.moved, found.cycle), (plain.all, plain.moved, plain.cycle));
    };
    with(&|line| format!("{line}\r\n"));
    with(&|line| format!("\x1b[32m{line}\x1b[0m\n"));
    with(&|line| format!("[rank0]: {line}\n"));
    with(&|line| format!("2024-05-01T10:00:00.123Z stdout F {line}\nepoch 3, loss 0.25\n"));
    with(&|line| format!("Ran out of patience in memory space hbm? No.\n{line}\n"));
}

#[test]
fn a_log_that_is_cut_anywhere_is_read_so_far() {
    let text = sample();
    for end in (0..text.len()).step_by(17) {
        let found = read(&text.as_bytes()[..end]);
        let lines = text[..end].matches('\n').count();
        assert!(found.logs.iter().all(|log| log.all.count as usize <= lines + 1));
    }
}

#[test]
fn what_is_not_understood_is_counted_and_its_time_counts() {
    let found = read(
        b"onednn_verbose,v9,primitive,exec,cpu,reorder,new,undef,src:f99::wobbly::x dst:f99::wobbly::y,,,3x4,2.5\n\
          onednn_verbose,v9,primitive,exec,cpu,teleport,new,undef,a:f32::blocked:ab::f0,,,3x4,1\n\
          onednn_verbose,v1,primitive,exec,cpu,reorder,jit,undef,src:f32::blocked:*::f0 dst:f32::blocked:ab::f0,,,*x*,0.5\n\
          onednn_verbose,v1,primitive,exec,cpu,reorder,jit,undef,src:f32::blo\n",
    );
    let log = &found.logs[0];
    assert_eq!((log.all.count, log.all.nanoseconds), (4, 4_000_000));
    assert_eq!((log.moved.count, log.moved.unsized_count, log.moved.data), (1, 1, 0));
    let reasons: Vec<(&str, Vec<u64>)> =
        found.unread.iter().map(|each| (each.reason, each.lines.clone())).collect();
    assert_eq!(
        reasons,
        [
            ("a line of a oneDNN log whose arrays cannot be read: only its time counts", vec![1, 4]),
            ("a line of a oneDNN log without its time: it is cut off", vec![4]),
        ]
    );
}
