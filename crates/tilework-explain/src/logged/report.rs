//! A log on the page of an audit.

use tilework_audit::{BankConflict, LogKind, LogMove, Logged, PaddedArray, Pair, Remedy, Saving, Work};

use super::sentence::{
    array, between, counted, in_loops, is_worth, log_sentence, plural, remedy, saves, short, time,
};
use crate::audited::percent;
use crate::page::Page;

/// What a log says, the sentence that matters first.
pub(crate) fn log(page: &mut Page, log: &Logged, top: usize) {
    page.title(&log_sentence(log));
    if top == 0 {
        return;
    }
    page.paragraph(&about(log));
    savings(page, log, top);
    let kind = log.kind.move_name();
    if !log.pairs.is_empty() {
        page.heading(&format!("{} by formats", plural(kind)));
        let own = log.pairs.iter().take(top);
        page.text(&own.map(|own| pair(log, own)).collect::<Vec<String>>().join("\n"));
    }
    if !log.moves.is_empty() {
        page.heading(&format!("the dearest {}", plural(kind)));
        let own = log.moves.iter().take(top);
        page.text(&own.map(|own| movement(log, own)).collect::<Vec<String>>().join("\n"));
    }
    if !log.padded.is_empty() {
        page.heading("arrays with padding that operations work on");
        let own = log.padded.iter().take(top);
        page.text(&own.map(padded).collect::<Vec<String>>().join("\n"));
    }
    if !log.conflicts.is_empty() {
        page.heading("accesses of shared memory with bank conflicts");
        let own = log.conflicts.iter().take(top);
        page.text(&own.map(conflict).collect::<Vec<String>>().join("\n"));
    }
    if log.overflowed {
        page.paragraph("There was more than is kept; sums are of what was.");
    }
}

/// What was read, and what it comes to besides.
pub(super) fn about(log: &Logged) -> String {
    let mut parts = vec![match &log.writer {
        Some(writer) => format!("A {} ({writer})", log.kind.title()),
        None => format!("A {}", log.kind.title()),
    }];
    if let Some(cycle) = log.cycle {
        let operations = counted(cycle.operations, "operation");
        parts.push(format!("most of it is the same {operations} {} times", cycle.times));
    }
    if log.moved.touched > 0 {
        let waste = match log.moved.waste {
            0 => String::new(),
            waste => format!(", {} of it padding that they write", short(waste)),
        };
        parts.push(format!(
            "{} read and write {}{waste}",
            plural(log.kind.move_name()),
            short(log.moved.touched)
        ));
    }
    if log.converted.count > 0 {
        let saves = saves(&log.converted);
        let count = log.converted.count;
        parts.push(match count {
            1 => format!("1 of them only changes the element type ({saves})"),
            _ => format!("{count} of them only change the element type ({saves})"),
        });
    }
    if log.idle > 0 {
        let kinds = counted(log.idle, &format!("more {}", log.kind.move_name()));
        let verb = if log.idle == 1 { "moves" } else { "move" };
        parts.push(format!("{kinds} {verb} nothing, as only dimensions of size 1 change places"));
    }
    if !log.open.is_empty() {
        parts.push(format!("sizes that are not said count as 1: {}", log.open.join(", ")));
    }
    if log.created.count > 0 && log.kind == LogKind::Ttnn {
        let count = log.created.count;
        let verb = if count == 1 { "runs" } else { "run" };
        parts.push(format!("{} {verb} once and not in each run", counted(count, "more operation")));
    }
    if log.created.nanoseconds > 0 {
        parts.push(format!("making operations ready took {} more", time(log.created.nanoseconds)));
    }
    if log.moved.unsized_count > 0 {
        let count = counted(log.moved.unsized_count, log.kind.move_name());
        parts.push(match log.kind {
            LogKind::Triton => format!("how {count} would go is not known, and they add no bytes"),
            _ => format!("the sizes of {count} are not known, and add no bytes"),
        });
    }
    format!("{}.", parts.join("; "))
}

fn savings(page: &mut Page, log: &Logged, top: usize) {
    // The first is in the sentence above.
    let skipped = usize::from(log.savings.first().is_some_and(|first| is_worth(log, first)));
    let words = |saving: &Saving| format!("  {}.", remedy(log, saving));
    let more: Vec<String> = log.savings.iter().skip(skipped).take(top).map(words).collect();
    if !more.is_empty() {
        page.heading("what else would save");
        page.text(&more.join("\n"));
    }
    if let Some(how) = log.savings.first().and_then(|saving| how(log, saving.remedy)) {
        page.paragraph(how);
    }
}

/// How that is done with what wrote the log.
pub(super) fn how(log: &Logged, remedy: Remedy) -> Option<&'static str> {
    use tilework_audit::LogKind::{
        OneDnn, Onnx, PyTorch, TensorRt, TensorRtBuild, TensorRtProfile, Triton, Ttnn,
    };
    match (log.kind, remedy) {
        (OneDnn, Remedy::KeepWeights) => Some(
            "In oneDNN: create the primitive with format_tag::any for the weights, reorder them once into its weights_desc(), \
             and keep that memory. Frameworks do so when a model is frozen or prepacked.",
        ),
        (OneDnn, Remedy::OneFormat | Remedy::JoinMoves | Remedy::Absorb) => Some(
            "In oneDNN: create primitives with format_tag::any, give each the memory descriptor that the one before has chosen, \
             and reorder only at the first and the last. Operations that take every format (eltwise, binary, pooling) keep \
             that of their input.",
        ),
        (OneDnn, Remedy::Ends) => Some(
            "In oneDNN: make inputs and outputs in the format of the first and the last primitive, such as channels last (acdb).",
        ),
        (TensorRt | TensorRtBuild | TensorRtProfile, Remedy::Ends) => Some(
            "In TensorRT: ITensor::setAllowedFormats, or trtexec --inputIOFormats=fp16:hwc8 and --outputIOFormats.",
        ),
        (TensorRt | TensorRtBuild | TensorRtProfile, _) => Some(
            "In TensorRT: formats change where the type of layers does, and where a layer has no kernel for a format. Give both \
             layers one type (Q/DQ around both, --layerPrecisions), channels that are multiples of 8 (FP16) or 32 (INT8), or \
             merge what stands between.",
        ),
        (Triton, _) => Some(
            "In Triton: a conversion stands between operations that ask for different encodings, such as a coalesced load or store and \
             a dot. Fewer are needed where both sides have the same order and sizes of blocks; one outside a loop costs less than \
             one within it.",
        ),
        (Ttnn, _) => Some(
            "In tt-mlir: the optimizer keeps what one operation makes where and as the next one reads it, with \
             optimization-level=1 (2 shards as well) of --ttir-to-ttnn-backend-pipeline; what follows from weights alone is \
             made once with enable-const-eval=true.",
        ),
        (Onnx, Remedy::KeepWeights) => Some(
            "In ONNX: store the weights as the operation wants them. Constant folding does it, such as that of onnxsim or of ONNX \
             Runtime, which writes the graph that it runs to SessionOptions.optimized_model_filepath: audit that as well.",
        ),
        (Onnx, Remedy::Ends) => Some(
            "In ONNX: export the model with inputs and outputs in the order that it works in, such as tf2onnx --inputs-as-nchw and \
             --outputs-as-nchw.",
        ),
        (Onnx, _) => Some(
            "In ONNX: onnxsim and ONNX Runtime take many of them away. The latter writes the graph that it runs to \
             SessionOptions.optimized_model_filepath: audit that to see which are left.",
        ),
        (PyTorch, _) => Some(
            "In PyTorch: model.to(memory_format=torch.channels_last), and the same for inputs, keeps convolutions in one format; \
             a permute that is read once need not be made contiguous. What has to move, tw.contiguous moves faster on a CPU.",
        ),
    }
}

/// What moves cost: time or bytes, and how many there are.
pub(super) fn cost(log: &Logged, work: &Work) -> String {
    let share = match log.all.nanoseconds {
        0 => String::new(),
        all => format!(" ({})", percent(work.nanoseconds as f64 / all as f64)),
    };
    let bytes = if work.data > 0 && work.nanoseconds > 0 {
        format!(", {} at {}", short(work.data), rate(work))
    } else {
        String::new()
    };
    format!("{}{share}{bytes}", saves(work))
}

/// Bytes read and written in a second.
fn rate(work: &Work) -> String {
    let per_second = work.touched as f64 / (work.nanoseconds.max(1) as f64 / 1e9);
    format!("{:.1}\u{a0}GB/s", per_second / 1e9)
}

fn pair(log: &Logged, pair: &Pair) -> String {
    let count = counted(pair.work.count, log.kind.move_name());
    format!("  {} in {count}: {} to {}", cost(log, &pair.work), pair.from, pair.to)
}

fn movement(log: &Logged, moved: &LogMove) -> String {
    let work = &moved.work;
    let times = if work.count > 1 { format!(" in {} runs", work.count) } else { String::new() };
    let name = moved.name.as_ref().map_or(String::new(), |name| format!(" {name}"));
    let between = Some(between(moved)).filter(|text| !text.is_empty());
    let between = between.map_or(String::new(), |text| format!(", {text}"));
    let waste = match work.waste / work.count.max(1) {
        0 => String::new(),
        waste => format!(", {} of padding in each", short(waste)),
    };
    let way = moved.way.map_or(String::new(), |way| format!(" {}{}", way.name(), in_loops(moved.loops)));
    let place = moved.place.as_ref().map_or(String::new(), |place| format!(", {place}"));
    format!(
        "  {}{times}{way}{name}{between}{place}; {} {}\n      from {}\n      to {}{waste}",
        saves(work),
        log.kind.place_name(),
        moved.line,
        array(&moved.from),
        array(&moved.to)
    )
}

fn padded(padded: &PaddedArray) -> String {
    let allocated = padded.array.allocated.unwrap_or(0);
    let share = percent(padded.waste as f64 / allocated.max(1) as f64);
    let (waste, whole) = (short(padded.waste), short(allocated));
    format!("  {waste} of {whole} ({share}) in {} of {}", array(&padded.array), padded.operation)
}

pub(super) fn conflict(conflict: &BankConflict) -> String {
    let place = conflict.place.as_ref().map_or(String::new(), |place| format!(", {place}"));
    format!(
        "  {} times as long: {} of {} bytes a lane{}{place}; line {}\n      from {}\n      to {}",
        conflict.ways,
        conflict.operation,
        conflict.vector,
        in_loops(conflict.loops),
        conflict.line,
        array(&conflict.from),
        array(&conflict.to)
    )
}
