//! Which kind of log a file is, by how it begins.

use memchr::memmem;

/// A kind of file of JSON that is read record by record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Json {
    /// An engine of TensorRT, or how long its layers take.
    TensorRt,
    /// What PyTorch's profiler writes.
    Trace,
}

/// As many bytes of a file of JSON say which it is.
pub(crate) const START: usize = 1 << 16;

/// Which kind of JSON begins so; none if it is none that is known.
pub(crate) fn json(start: &[u8]) -> Option<Json> {
    let start = start.trim_ascii_start();
    if !matches!(start.first(), Some(b'{' | b'[')) {
        return None;
    }
    let has = |key: &str| {
        let quoted = format!("\"{key}\"");
        memmem::find(start, quoted.as_bytes()).is_some()
    };
    let trace =
        has("traceEvents") || has("schemaVersion") && has("deviceProperties") || has("ph") && has("ts");
    let layers = (has("Layers") || has("layers") || has("Name"))
        && (has("LayerType") || has("layerType") || has("Bindings"));
    match () {
        () if layers || has("name") && has("averageMs") => Some(Json::TensorRt),
        () if trace => Some(Json::Trace),
        () => None,
    }
}

/// As many bytes say that a file is not read.
pub(crate) const MARK: usize = 128;

/// Whether a file that begins with this byte may be one that is known and not read.
pub(crate) fn may_not_be_read(first: u8) -> bool {
    // A flatbuffer begins with where its root is, which is near.
    matches!(first, b'f' | b'p' | b'S' | b'P')
        || first < b'@' && !first.is_ascii_whitespace()
        || first == b' '
}

/// What a file is that is known and not read, with what could be read instead.
pub(crate) fn not_read(start: &[u8]) -> Option<&'static str> {
    let known: [(usize, &[u8], &str); 7] = [
        (
            0,
            b"ftrt",
            "an engine of TensorRT, which says nothing as it is: export its layers with trtexec \
                      --exportLayerInfo=FILE --profilingVerbosity=detailed, and audit that",
        ),
        (
            0,
            b"ptrt",
            "an engine of TensorRT, which says nothing as it is: export its layers with trtexec \
                      --exportLayerInfo=FILE --profilingVerbosity=detailed, and audit that",
        ),
        (
            0,
            b"SQLite format 3\0",
            "a database, such as Nsight Systems writes, which is not read: export a trace of PyTorch's profiler",
        ),
        (4, b"TFL3", "a model of TensorFlow Lite, which is not read"),
        (
            4,
            b"TTNN",
            "a program of TTNN as a flatbuffer, which is not read: audit the MLIR that it was made of",
        ),
        (0, b"PK\x03\x04", "a zip archive, which is not read: unpack it"),
        (
            0,
            b"<?xml",
            "XML, such as a model of OpenVINO, which is not read: audit its log with ONEDNN_VERBOSE=1",
        ),
    ];
    let found =
        known.iter().find(|(at, mark, _)| start.get(*at..).is_some_and(|start| start.starts_with(mark)));
    found.map(|(_, _, words)| *words)
}
