//! Engines of TensorRT: layers, times, and what a builder says.

use tilework_audit::{Audit, Findings, LogKind, Logged, Remedy, Role};

fn read(texts: &[(&str, &str)]) -> Findings {
    let mut audit = Audit::new();
    for (name, text) in texts {
        audit.read(name, text.as_bytes()).expect("memory is read");
    }
    audit.findings(usize::MAX)
}

fn sample() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/logs/engine.json");
    std::fs::read_to_string(path).expect("the sample is there")
}

fn engine(text: &str) -> Logged {
    let mut found = read(&[("engine.json", text)]);
    assert!(found.unread.is_empty(), "{:?}", found.unread);
    assert_eq!((found.logs.len(), found.programs.len()), (1, 0));
    found.logs.remove(0)
}

#[test]
fn reformats_stand_between_the_layers_that_their_tensors_name() {
    let log = engine(&sample());
    assert_eq!((log.kind, log.all.count, log.moved.count), (LogKind::TensorRt, 7, 4));
    let found = log.moves.iter().map(|moved| {
        let (before, after) = (moved.before.as_deref(), moved.after.as_deref());
        (moved.role, before, after, moved.from.format.as_str(), moved.to.format.as_str())
    });
    assert_eq!(
        found.collect::<Vec<_>>(),
        [
            (Role::Between, Some("conv2"), Some("norm"), "kCHW32", "kLINEAR"),
            (Role::Between, Some("conv1 + relu1"), Some("conv2"), "kCHW32", "kCHW4"),
            (Role::Between, Some("conv1 + relu1"), Some("conv2"), "kCHW4", "kCHW32"),
            (Role::Input, None, Some("conv1 + relu1"), "kLINEAR", "kCHW4"),
        ]
    );
    let chain = log.savings.iter().find(|saving| saving.remedy == Remedy::JoinMoves).expect("there and back");
    assert_eq!(chain.formats, ["s8 kCHW32", "s8 kCHW4", "s8 kCHW32"]);
    assert_eq!((chain.work.count, chain.work.data), (2, 2 * 8 * 40 * 112 * 112));
}

#[test]
fn bytes_are_those_of_channels_in_whole_vectors() {
    let log = engine(&sample());
    let (pixels, image) = (8 * 112 * 112, 8 * 224 * 224);
    // 40 channels are 64 in vectors of 32, and 40 in vectors of 4; 3 are 4.
    let touched = [(3 * 4 + 4) * image, (64 + 40) * pixels, (40 + 64) * pixels, (64 + 40 * 4) * pixels];
    assert_eq!(log.moved.touched, touched.iter().sum::<u64>());
    assert_eq!(log.moved.waste, image + 24 * pixels);
    assert_eq!(log.moved.data, 3 * 4 * image + 3 * 40 * pixels);
    let padded: Vec<(u64, &str)> =
        log.padded.iter().map(|padded| (padded.waste, padded.array.format.as_str())).collect();
    assert_eq!(padded, [(24 * pixels, "kCHW32"), (image, "kCHW4")]);
}

#[test]
fn a_profile_says_the_times_of_layers_read_before_or_after_it() {
    let profile = r#"[
  { "count" : 100 }
, { "name" : "Reformatting CopyNode for Input Tensor 0 to conv1 + relu1", "timeMs" : 3.0, "averageMs" : 0.03, "percentage" : 20 }
, { "name" : "conv1 + relu1", "timeMs" : 9.5, "averageMs" : 0.095, "percentage" : 60 }
, { "name" : "Reformatting CopyNode for Output Tensor 0 to pool1", "timeMs" : 2.0, "averageMs" : 0.02, "percentage" : 20 }
]"#;
    let layers = sample();
    for order in [[("e.json", &*layers), ("p.json", profile)], [("p.json", profile), ("e.json", &*layers)]] {
        let found = read(&order);
        assert_eq!(found.logs.len(), 1);
        let log = &found.logs[0];
        assert_eq!(
            (log.kind, log.all.nanoseconds, log.moved.nanoseconds),
            (LogKind::TensorRt, 145_000, 50_000)
        );
        assert_eq!((log.all.timed, log.moved.timed), (3, 2));
        assert_eq!(log.moves[0].work.nanoseconds, 30_000);
    }
    // Alone it says which layers are reformats.
    let found = read(&[("p.json", profile)]);
    let log = &found.logs[0];
    assert_eq!(
        (log.kind, log.all.nanoseconds, log.moved.nanoseconds),
        (LogKind::TensorRtProfile, 145_000, 50_000)
    );
    assert_eq!((log.moved.count, log.moved.unsized_count), (2, 2));
}

#[test]
fn a_builder_says_strides_from_which_sizes_follow() {
    let found = read(&[(
        "build.log",
        "[05/01/2023-10:00:00] [V] [TRT] Adding reformat layer: Reformatted Input Tensor 0 to conv1/7x7_s2 + conv1/relu (data) \
         from Float(150528,50176,224,1) to Half(100352,50176:2,224,1)\r\n\
         [TRT]    Adding reformat layer: Reformatted Input Tensor 0 to conv2 (pool1) from Half(100352,3136:2,56,1) to \
         Half(25088,1:8,448,8)\n\
         [TRT]    Adding reformat layer: Reformatted Output Tensor 0 to pool2 (x) from Half(25088,1:8,448,8) to Half(?)\n",
    )]);
    let log = &found.logs[0];
    assert_eq!((log.kind, log.moved.count), (LogKind::TensorRtBuild, 2));
    let sizes: Vec<Option<&str>> = log.moves.iter().map(|moved| moved.from.sizes.as_deref()).collect();
    assert_eq!(sizes, [Some("1x3x224x224"), Some("1x64x56x56")]);
    assert_eq!(log.moves[0].after.as_deref(), Some("conv1/7x7_s2 + conv1/relu"));
    // Three channels in vectors of two are four.
    assert_eq!(log.moves[0].work.waste, 224 * 224 * 2);
    assert_eq!(found.unread[0].lines, [3]);
}

#[test]
fn what_an_engine_does_not_say_is_not_made_up() {
    let text = r#"{"Layers": [{"Name": "r", "LayerType": "Reformat",
        "Inputs": [{"Name": "a", "Dimensions": [-1,128,14,14], "Format/Datatype": "N/A due to dynamic shapes"}],
        "Outputs": [{"Name": "b", "Dimensions": [-1,128,14,14], "Format/Datatype": "N/A due to dynamic shapes"}]},
        {"Name": "odd", "LayerType": "Reformat",
        "Inputs": [{"Name": "b", "Dimensions": [2,4], "Format/Datatype": "Sideways FP16 format"}],
        "Outputs": [{"Name": "c", "Dimensions": [2,4], "Format/Datatype": "Row major linear FP16 format"}]}, "name only"]}"#;
    let found = read(&[("engine.json", text)]);
    let log = &found.logs[0];
    assert_eq!((log.moved.count, log.moved.unsized_count, log.moved.data), (2, 2, 0));
    // Generated kernels say types alone.
    let generated = sample().replace("Row major linear FP32", "Float");
    assert_eq!(engine(&generated).moved, engine(&sample()).moved);
    let reasons: Vec<&str> = found.unread.iter().map(|each| each.reason).collect();
    assert_eq!(reasons.len(), 2);
    assert!(reasons[0].contains("a format that is not known"), "{reasons:?}");
    assert!(reasons[1].contains("--profilingVerbosity=detailed"), "{reasons:?}");
}

#[test]
fn files_that_are_known_and_not_read_are_named() {
    for (start, word) in [
        (&b"ftrt\x00\x01engine"[..], "--exportLayerInfo"),
        (b"SQLite format 3\0nsys", "Nsight"),
        (b"\x20\0\0\0TTNN....", "TTNN"),
        (b"\x1c\0\0\0TFL3....", "TensorFlow Lite"),
    ] {
        let mut audit = Audit::new();
        audit.read("model", start).expect("memory is read");
        let found = audit.findings(5);
        assert!(found.logs.is_empty() && found.programs.is_empty());
        assert!(found.unread.iter().any(|unread| unread.reason.contains(word)), "{:?}", found.unread);
    }
}
