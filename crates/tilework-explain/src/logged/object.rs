//! A log in the object of `audit --json`.

use serde::Serialize;
use tilework_audit::{BankConflict, LogArray, LogMove, Logged, PaddedArray, Pair, Remedy, Saving, Way, Work};

use super::sentence::{log_sentence, remedy};

/// One log.
#[derive(Serialize)]
pub struct LoggedObject {
    log: String,
    sentence: String,
    kind: &'static str,
    writer: Option<String>,
    all: WorkObject,
    moved: WorkObject,
    converted: WorkObject,
    created: WorkObject,
    cycle: Option<CycleObject>,
    savings: Vec<SavingObject>,
    pairs: Vec<PairObject>,
    moves: Vec<MoveObject>,
    padded: Vec<PaddedObject>,
    conflicts: Vec<ConflictObject>,
    conflict_count: u64,
    through_memory: u64,
    idle_count: u64,
    sizes_taken_as_1: Vec<String>,
    complete: bool,
}

impl LoggedObject {
    /// All of it.
    pub fn new(log: &Logged) -> LoggedObject {
        LoggedObject {
            log: log.name.clone(),
            sentence: log_sentence(log).replace('\u{a0}', " "),
            kind: log.kind.name(),
            writer: log.writer.clone(),
            all: WorkObject::new(&log.all),
            moved: WorkObject::new(&log.moved),
            converted: WorkObject::new(&log.converted),
            created: WorkObject::new(&log.created),
            cycle: log.cycle.map(|cycle| CycleObject { operations: cycle.operations, times: cycle.times }),
            savings: log.savings.iter().map(|saving| SavingObject::new(log, saving)).collect(),
            pairs: log.pairs.iter().map(PairObject::new).collect(),
            moves: log.moves.iter().map(MoveObject::new).collect(),
            padded: log.padded.iter().map(PaddedObject::new).collect(),
            conflicts: log.conflicts.iter().map(ConflictObject::new).collect(),
            conflict_count: log.conflict_count,
            through_memory: log.through_memory,
            idle_count: log.idle,
            sizes_taken_as_1: log.open.clone(),
            complete: !log.overflowed,
        }
    }
}

#[derive(Serialize)]
struct WorkObject {
    count: u64,
    timed: u64,
    nanoseconds: u64,
    data_bytes: u64,
    touched_bytes: u64,
    waste_bytes: u64,
    unsized_count: u64,
}

impl WorkObject {
    fn new(work: &Work) -> WorkObject {
        WorkObject {
            count: work.count,
            timed: work.timed,
            nanoseconds: work.nanoseconds,
            data_bytes: work.data,
            touched_bytes: work.touched,
            waste_bytes: work.waste,
            unsized_count: work.unsized_count,
        }
    }
}

#[derive(Serialize)]
struct CycleObject {
    operations: u64,
    times: u64,
}

#[derive(Serialize)]
struct SavingObject {
    remedy: &'static str,
    sentence: String,
    formats: Vec<String>,
    #[serde(flatten)]
    work: WorkObject,
}

impl SavingObject {
    fn new(log: &Logged, saving: &Saving) -> SavingObject {
        SavingObject {
            remedy: match saving.remedy {
                Remedy::KeepWeights => "keep weights",
                Remedy::JoinMoves => "join moves",
                Remedy::OneFormat => "one format",
                Remedy::Ends => "ends",
                Remedy::Absorb => "absorb",
            },
            sentence: remedy(log, saving).replace('\u{a0}', " ") + ".",
            formats: saving.formats.clone(),
            work: WorkObject::new(&saving.work),
        }
    }
}

#[derive(Serialize)]
struct PairObject {
    from: String,
    to: String,
    #[serde(flatten)]
    work: WorkObject,
}

impl PairObject {
    fn new(pair: &Pair) -> PairObject {
        PairObject { from: pair.from.clone(), to: pair.to.clone(), work: WorkObject::new(&pair.work) }
    }
}

#[derive(Serialize)]
struct ArrayObject {
    format: String,
    element_type: Option<String>,
    sizes: Option<String>,
    data_bytes: Option<u64>,
    allocated_bytes: Option<u64>,
}

impl ArrayObject {
    fn new(array: &LogArray) -> ArrayObject {
        ArrayObject {
            format: array.format.clone(),
            element_type: array.element.clone(),
            sizes: array.sizes.clone(),
            data_bytes: array.data,
            allocated_bytes: array.allocated,
        }
    }
}

#[derive(Serialize)]
struct MoveObject {
    from: ArrayObject,
    to: ArrayObject,
    role: &'static str,
    way: Option<&'static str>,
    loops: u32,
    before: Option<String>,
    after: Option<String>,
    place: Option<String>,
    name: Option<String>,
    #[serde(flatten)]
    work: WorkObject,
    log_line: u64,
}

impl MoveObject {
    fn new(moved: &LogMove) -> MoveObject {
        MoveObject {
            from: ArrayObject::new(&moved.from),
            to: ArrayObject::new(&moved.to),
            role: moved.role.name(),
            way: moved.way.map(Way::name),
            loops: moved.loops,
            before: moved.before.clone(),
            after: moved.after.clone(),
            place: moved.place.clone(),
            name: moved.name.clone(),
            work: WorkObject::new(&moved.work),
            log_line: moved.line,
        }
    }
}

#[derive(Serialize)]
struct PaddedObject {
    array: ArrayObject,
    operation: String,
    count: u64,
    waste_bytes: u64,
}

impl PaddedObject {
    fn new(padded: &PaddedArray) -> PaddedObject {
        PaddedObject {
            array: ArrayObject::new(&padded.array),
            operation: padded.operation.clone(),
            count: padded.count,
            waste_bytes: padded.waste,
        }
    }
}

#[derive(Serialize)]
struct ConflictObject {
    operation: String,
    from: ArrayObject,
    to: ArrayObject,
    vector_bytes: u64,
    ways: u64,
    loops: u32,
    place: Option<String>,
    log_line: u64,
}

impl ConflictObject {
    fn new(conflict: &BankConflict) -> ConflictObject {
        ConflictObject {
            operation: conflict.operation.clone(),
            from: ArrayObject::new(&conflict.from),
            to: ArrayObject::new(&conflict.to),
            vector_bytes: conflict.vector,
            ways: conflict.ways,
            loops: conflict.loops,
            place: conflict.place.clone(),
            log_line: conflict.line,
        }
    }
}
