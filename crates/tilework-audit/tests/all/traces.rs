//! Traces of PyTorch's profiler.

use proptest::prelude::*;
use tilework_audit::{Audit, Cycle, Findings, LogKind, Logged, Remedy};

fn read(text: &[u8]) -> Findings {
    let mut audit = Audit::new();
    audit.read("trace.json", text).expect("memory is read");
    audit.findings(usize::MAX)
}

fn sample(name: &str) -> String {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/logs/");
    std::fs::read_to_string(format!("{root}{name}")).expect("the sample is there")
}

fn trace(events: &[String]) -> Logged {
    let mut found = read(format!("{{\"traceEvents\": [{}]}}", events.join(",\n")).as_bytes());
    assert!(found.unread.is_empty(), "{:?}", found.unread);
    found.logs.remove(0)
}

fn event(category: &str, name: &str, from: u64, length: u64, arguments: &str) -> String {
    format!(
        "{{\"ph\": \"X\", \"cat\": \"{category}\", \"name\": \"{name}\", \"pid\": 1, \"tid\": 2, \"ts\": {from}, \
         \"dur\": {length}, \"args\": {{{arguments}}}}}"
    )
}

const COPY: &str = "\"Input Dims\": [[2,3,4,5],[2,3,4,5],[]], \"Input Strides\": [[60,20,5,1],[60,1,15,3],[]], \
                    \"Input type\": [\"float\",\"float\",\"Scalar\"]";

#[test]
fn copies_have_formats_readers_and_lines_of_the_program() {
    let mut found = read(sample("trace.json").as_bytes());
    assert!(found.unread.is_empty(), "{:?}", found.unread);
    let log = found.logs.remove(0);
    assert_eq!(log.kind, LogKind::PyTorch);
    assert_eq!(log.cycle, Some(Cycle { operations: 4, times: 2 }));
    // Twice 300 + 200 + 60 + 40, and copies of 80, 50 and 30, all in microseconds.
    assert_eq!((log.all.nanoseconds, log.moved.nanoseconds), (1_200_000, 320_000));
    let found = log.moves.iter().map(|moved| {
        let formats = (moved.from.format.as_str(), moved.to.format.as_str());
        (formats.0, formats.1, moved.name.as_deref(), moved.after.as_deref(), moved.work.data)
    });
    let (image, heads) = (2 * 8 * 64 * 56 * 56 * 4, 2 * 8 * 12 * 128 * 64 * 2);
    assert_eq!(
        found.collect::<Vec<_>>(),
        [
            (
                "channels_last",
                "contiguous",
                Some("aten::contiguous"),
                Some("aten::mkldnn_convolution"),
                image
            ),
            ("permuted (0, 2, 1, 3)", "contiguous", Some("aten::reshape"), None, heads),
            ("contiguous", "contiguous", Some("aten::to"), None, heads),
        ]
    );
    assert!(log.moves.iter().all(|moved| moved.place.as_deref() == Some("model.py(31): forward")));
    assert_eq!((log.converted.count, log.converted.nanoseconds), (2, 60_000));
    assert_eq!(log.savings[0].remedy, Remedy::OneFormat);
    assert_eq!((log.savings[0].work.count, log.savings[0].work.nanoseconds), (4, 260_000));
}

#[test]
fn where_there_are_kernels_times_are_theirs() {
    let log = trace(&[
        event("kernel", "void gemm", 500, 40, "\"External id\": 1"),
        event("cpu_op", "aten::linear", 0, 100, "\"External id\": 1"),
        event("cpu_op", "aten::copy_", 10, 50, &format!("\"External id\": 2, {COPY}")),
        event("kernel", "direct_copy_kernel_cuda", 600, 7, "\"External id\": 2"),
        event("kernel", "direct_copy_kernel_cuda", 650, 3, "\"External id\": 2"),
        event("cpu_op", "aten::copy_", 200, 50, &format!("\"External id\": 3, {COPY}")),
        event("cpu_op", "aten::cudnn_convolution", 300, 50, "\"External id\": 4"),
        event("kernel", "void cudnn::ops::nchwToNhwcKernel<__half>(x)", 700, 20, "\"External id\": 4"),
        event("kernel", "void cudnn::ops::nhwcToNchwKernel<__half>(x)", 740, 5, "\"External id\": 4"),
    ]);
    assert_eq!((log.all.count, log.all.nanoseconds), (5, 75_000));
    // The second copy has no kernel, and so takes no time of the device.
    assert_eq!((log.moved.count, log.moved.nanoseconds), (3, 35_000));
    let pairs: Vec<(&str, &str, u64)> =
        log.pairs.iter().map(|pair| (&*pair.from, &*pair.to, pair.work.nanoseconds)).collect();
    assert_eq!(
        pairs,
        [
            ("contiguous", "channels_last", 20_000),
            ("float32 channels_last", "float32 contiguous", 10_000),
            ("channels_last", "contiguous", 5_000),
        ]
    );
    assert_eq!(log.moves[0].after.as_deref(), Some("aten::cudnn_convolution"));
}

#[test]
fn a_trace_is_counted_as_a_naive_reading_counts_it() {
    let (mut events, mut all, mut moved, mut data) = (Vec::new(), 0, 0, 0);
    for number in 0..300_u64 {
        let (start, length, inner) = (number * 1000, 100 + number % 7, number % 50);
        events.push(event("cpu_op", ["aten::add", "aten::linear"][number as usize % 2], start, length, ""));
        all += length * 1000;
        if number % 3 == 0 {
            events.push(event("cpu_op", "aten::copy_", start + 1, inner, COPY));
            moved += inner * 1000;
            data += 2 * 3 * 4 * 5 * 4;
        }
    }
    // Events come in any order.
    events.sort_by_key(|event| event.len() * 31 % 17);
    let log = trace(&events);
    assert_eq!((log.all.nanoseconds, log.moved.nanoseconds), (all, moved));
    assert_eq!((log.moved.count, log.moved.data, log.all.count), (100, data, 300));
}

#[test]
fn files_that_are_cut_anywhere_are_read_so_far_and_say_so() {
    for name in ["trace.json", "engine.json"] {
        let text = sample(name);
        let whole = read(text.as_bytes()).logs.remove(0);
        for end in (200..text.len() - 3).step_by(13) {
            let found = read(&text.as_bytes()[..end]);
            assert!(found.logs.iter().all(|log| log.all.count <= whole.all.count));
            assert!(!found.unread.is_empty() || found.logs.is_empty(), "{name} {end}");
        }
        let crlf = text.replace('\n', "\r\n");
        assert_eq!(read(crlf.as_bytes()).logs[0].moved, whole.moved);
    }
}

#[test]
fn json_of_other_kinds_is_a_text_as_ever() {
    let found = read(b"{\"error\": \"it has s32[300000,8]{1,0:T(8,128)} twice\"}");
    assert_eq!(found.programs[0].total.allocated, 153_600_000);
    assert!(found.logs.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn logs_that_are_changed_do_no_harm(
        name in 0..3usize,
        changes in proptest::collection::vec((any::<usize>(), any::<u8>()), 1..20),
        cut in any::<proptest::sample::Index>(),
    ) {
        let mut text = sample(["trace.json", "engine.json", "onednn.log"][name]).into_bytes();
        for (at, byte) in changes {
            let at = at % text.len();
            text[at] = byte;
        }
        text.truncate(text.len().min(cut.index(text.len() * 2) + 1));
        for log in read(&text).logs {
            prop_assert!(log.moved.data <= log.moved.touched || log.moved.count == 0);
            prop_assert!(log.moves.iter().map(|moved| moved.work.count).sum::<u64>() == log.moved.count);
        }
    }
}
