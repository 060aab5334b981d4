//! The one sentence that matters about a log, and what could be done.

use tilework::printable;
use tilework_audit::{LogArray, LogKind, LogMove, Logged, Remedy, Saving, Work};

use crate::audited::percent;
use crate::size;

/// What the moves of a log come to, and what would help most.
pub fn log_sentence(log: &Logged) -> String {
    let mut text = format!("{}: {}", log.name, moved(log));
    if let Some(worst) = log.conflicts.first() {
        text.push_str(&format!(
            ". {} of shared memory {} bank conflicts, the worst takes {} times as long{}",
            counted(log.conflict_count, "access").replace("accesss", "accesses"),
            if log.conflict_count == 1 { "has" } else { "have" },
            worst.ways,
            in_loops(worst.loops)
        ));
    }
    if let Some(saving) = log.savings.first().filter(|saving| is_worth(log, saving)) {
        text.push_str(". ");
        text.push_str(&remedy(log, saving));
    }
    printable(&text).into_owned() + "."
}

/// What the moves come to.
fn moved(log: &Logged) -> String {
    let (all, moved) = (&log.all, &log.moved);
    let kind = log.kind.move_name();
    if moved.count == 0 {
        let operations = counted(all.count, "operation");
        return format!("there is no {kind} among {operations}");
    }
    let kinds = counted(moved.count, kind);
    let takes = if moved.count == 1 { "takes" } else { "take" };
    let bytes = match moved.data {
        0 => String::new(),
        data => format!(" to move {}", short(data)),
    };
    if log.kind == LogKind::Triton {
        let shared = match moved.touched {
            0 => "none goes through shared memory".to_owned(),
            touched => format!(
                "{} of them {} through shared memory ({} written and read)",
                log.through_memory,
                if log.through_memory == 1 { "goes" } else { "go" },
                short(touched)
            ),
        };
        return format!("{kinds} among {}; {shared}", counted(all.count, "operation"));
    }
    match (moved.nanoseconds, all.nanoseconds) {
        (0, _) | (_, 0) => format!(
            "{kinds} among {}{}",
            counted(all.count, "operation"),
            bytes.replace(
                " to move",
                match moved.count {
                    1 => ", which moves",
                    _ => ", which move",
                }
            )
        ),
        (part, whole) => {
            let share = percent(part as f64 / whole as f64);
            format!("{kinds} {takes} {} of {} ({share}){bytes}", time(part), time(whole))
        }
    }
}

/// Whether it is a hundredth of what there is.
pub(super) fn is_worth(log: &Logged, saving: &Saving) -> bool {
    match log.all.nanoseconds {
        0 => saving.work.touched >= log.all.touched / 100,
        all => saving.work.nanoseconds >= all / 100,
    }
}

/// What could be done, and what it would save.
pub(super) fn remedy(log: &Logged, saving: &Saving) -> String {
    let kind = log.kind.move_name();
    let count = saving.work.count;
    let kinds = counted(count, kind);
    let saves = match (saving.work.nanoseconds, saving.work.data) {
        (0, 0) => format!("saves up to {kinds}"),
        (0, data) => format!("saves moving up to {}", short(data)),
        (nanoseconds, _) => format!("saves up to {}", time(nanoseconds)),
    };
    let each = log.cycle.map_or(String::new(), |cycle| format!(" in each of {} iterations", cycle.times));
    let only = if count == 1 { "only brings" } else { "only bring" };
    let is_graph = log.kind == LogKind::Onnx;
    match saving.remedy {
        Remedy::KeepWeights if is_graph => format!(
            "{kinds} {} weights, which are the same in every run: storing them transposed {saves}{}",
            if count == 1 { "is of" } else { "are of" },
            of_each(log)
        ),
        Remedy::JoinMoves if is_graph => format!(
            "{kinds} {}, at once or through operations that work in any order of dimensions{}: one order for what \
             lies between {saves}{}",
            if count == 1 { "cancels" } else { "cancel" },
            mostly(saving, "from "),
            of_each(log)
        ),
        Remedy::Absorb => format!(
            "{kinds} only {} the last two dimensions for a product of matrices, which can take them as they are \
             (transA, transB of Gemm; FusedMatMul): that {saves}{}",
            if count == 1 { "swaps" } else { "swap" },
            of_each(log)
        ),
        Remedy::KeepWeights => format!(
            "Weights are brought into the same format again{each}{}: doing it once and keeping them {saves}",
            mostly(saving, "from ")
        ),
        Remedy::JoinMoves if saving.formats.first() == saving.formats.last() => format!(
            "{kinds} {} what comes back to where it was{}: leaving it there {saves}",
            if count == 1 { "moves" } else { "move" },
            mostly(saving, "")
        ),
        Remedy::JoinMoves => format!(
            "{kinds} {} what was moved just before{}: moving it once {saves}",
            if count == 1 { "moves" } else { "move" },
            mostly(saving, "")
        ),
        Remedy::OneFormat => format!(
            "{kinds} {only} what one operation makes into the format of the next{}: one format from end to end \
             {saves}",
            mostly(saving, "from ")
        ),
        Remedy::Ends => format!(
            "{kinds} {only} what goes in or comes out into another format{}: giving and taking it in that format \
             {saves}",
            mostly(saving, "from ")
        ),
    }
}

/// That a sum is of one run, where the log has none.
fn of_each(log: &Logged) -> &'static str {
    match log.kind {
        LogKind::Onnx => " in each run",
        _ => "",
    }
}

/// What is said of the formats at the end of a sentence; nothing if the log does not say them.
fn mostly(saving: &Saving, from: &str) -> String {
    match saving.formats.iter().all(|format| format.is_empty()) {
        true => String::new(),
        false => format!(", mostly {from}{}", saving.formats.join(" to ")),
    }
}

/// `3.2 ms`, or bytes where no times are said.
pub(super) fn saves(work: &Work) -> String {
    match work.nanoseconds {
        0 if work.data > 0 => short(work.data),
        0 => counted(work.count, "move"),
        nanoseconds => time(nanoseconds),
    }
}

/// A format, what holds elements, and between which operations.
pub(super) fn between(moved: &LogMove) -> String {
    match (&moved.before, &moved.after) {
        (Some(before), Some(after)) => format!("between {before} and {after}"),
        (Some(before), None) => format!("after {before}"),
        (None, Some(after)) if moved.role == tilework_audit::Role::Weights => format!("weights of {after}"),
        (None, Some(after)) => format!("before {after}"),
        (None, None) => String::new(),
    }
}

/// Where it is, behind a comma, if it is in a loop.
pub(super) fn in_loops(loops: u32) -> String {
    match loops {
        0 => String::new(),
        1 => ", in a loop".to_owned(),
        loops => format!(", in {loops} loops"),
    }
}

/// Element type, sizes and format.
pub(super) fn array(array: &LogArray) -> String {
    match &array.sizes {
        Some(sizes) => format!("{} {}", sizes, array.format_words()),
        None => array.format_words(),
    }
}

/// `copies` of `copy`.
pub(super) fn plural(word: &str) -> String {
    if let Some((first, rest)) = word.split_once(" of ") {
        return format!("{} of {rest}", plural(first));
    }
    match word.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None => format!("{word}s"),
    }
}

/// `1 reorder`, `12 reorders`
pub(super) fn counted(count: u64, word: &str) -> String {
    match count {
        1 => format!("1 {word}"),
        _ => format!("{count} {}", plural(word)),
    }
}

pub(super) fn short(bytes: u64) -> String {
    size::short(bytes.into())
}

/// A time in the unit that suits, joined by a no-break space.
pub(crate) fn time(nanoseconds: u64) -> String {
    let (value, unit) = match nanoseconds {
        0..1_000_000 => (nanoseconds as f64 / 1e3, "µs"),
        1_000_000..1_000_000_000 => (nanoseconds as f64 / 1e6, "ms"),
        _ => (nanoseconds as f64 / 1e9, "s"),
    };
    let digits = if value < 10.0 {
        2
    } else if value < 100.0 {
        1
    } else {
        0
    };
    format!("{value:.digits$}\u{a0}{unit}")
}
