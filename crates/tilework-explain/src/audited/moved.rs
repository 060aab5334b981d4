//! The objects of instructions that change a layout.

use serde::Serialize;
use tilework_audit::{Advice, Asked, Donation, Move, Moved, Near, Place};

/// An instruction that changes a layout.
#[derive(Serialize)]
pub(super) struct MoveObject {
    operation: &'static str,
    name: String,
    count: u64,
    runs: u64,
    runs_known: bool,
    from: String,
    to: String,
    bytes: u64,
    touched_bytes: u64,
    estimated_cycles: Option<u64>,
    least_nanoseconds: Option<u64>,
    kind: Option<String>,
    run_bytes: Option<u64>,
    nests: Option<usize>,
    changes_layout: bool,
    argument: Option<String>,
    donation: Option<&'static str>,
    fused: bool,
    computation: Option<String>,
    #[serde(flatten)]
    place: MovePlace,
    near: Option<NearObject>,
    dump_line: u64,
}

/// The neighbour that says which line an instruction of the compiler is for.
#[derive(Serialize)]
pub(super) struct NearObject {
    side: &'static str,
    operation: Option<String>,
    file: Option<String>,
    line: Option<u32>,
}

impl NearObject {
    pub(super) fn new(near: Near, place: &Place) -> Option<NearObject> {
        let side = match near {
            Near::Nothing => return None,
            Near::Read => "read by",
            Near::Made => "made by",
        };
        let Place { operation, file, line } = place.clone();
        Some(NearObject { side, operation, file, line })
    }
}

fn donation(donation: Donation) -> &'static str {
    match donation {
        Donation::Removes => "removes",
        Donation::MayRemove => "may remove",
        Donation::InVain => "in vain",
    }
}

/// A place whose operation is not that of the instruction.
#[derive(Serialize)]
struct MovePlace {
    source_operation: Option<String>,
    file: Option<String>,
    line: Option<u32>,
}

impl MoveObject {
    pub(super) fn new(change: &Move) -> MoveObject {
        let how = change.how.as_ref();
        MoveObject {
            operation: change.operation.name(),
            name: change.name.clone(),
            count: change.count,
            runs: change.runs,
            runs_known: change.runs_known,
            from: change.from.to_string(),
            to: change.to.to_string(),
            bytes: change.bytes,
            touched_bytes: change.touched,
            estimated_cycles: change.cycles,
            least_nanoseconds: change.least_nanoseconds,
            kind: how.map(|how| how.kind.to_string()),
            run_bytes: how.map(|how| how.run_bytes),
            nests: how.map(|how| how.nests),
            changes_layout: change.changes_layout,
            argument: change.argument.clone(),
            donation: change.donation.map(donation),
            fused: change.fused,
            computation: change.computation.clone(),
            place: MovePlace {
                source_operation: change.place.operation.clone(),
                file: change.place.file.clone(),
                line: change.place.line,
            },
            near: NearObject::new(change.near, &change.near_place),
            dump_line: change.line,
        }
    }
}

/// What all moves come to.
#[derive(Serialize)]
pub(super) struct MovedObject {
    changes: u64,
    bytes: u64,
    fused: u64,
    fused_bytes: u64,
    free: u64,
    between_spaces: u64,
    between_spaces_bytes: u64,
    again: u64,
    again_bytes: u64,
    arguments: u64,
    arguments_bytes: u64,
    unknown_loops: u64,
    timed: u64,
    estimated_cycles: u64,
}

impl MovedObject {
    pub(super) fn new(moved: &Moved) -> MovedObject {
        MovedObject {
            changes: moved.changes,
            bytes: moved.bytes,
            fused: moved.fused,
            fused_bytes: moved.fused_bytes,
            free: moved.free,
            between_spaces: moved.between_spaces,
            between_spaces_bytes: moved.between_spaces_bytes,
            again: moved.again,
            again_bytes: moved.again_bytes,
            arguments: moved.arguments,
            arguments_bytes: moved.arguments_bytes,
            unknown_loops: moved.unknown_loops,
            timed: moved.timed,
            estimated_cycles: moved.cycles,
        }
    }
}

/// Another layout for an argument or a result.
#[derive(Serialize)]
pub(super) struct AdviceObject {
    name: String,
    asked: &'static str,
    number: u32,
    result: Option<u32>,
    shape: String,
    instead: String,
    saves_bytes: u64,
    allocated_bytes: u64,
    instead_allocated_bytes: u64,
}

impl AdviceObject {
    pub(super) fn new(advice: &Advice) -> AdviceObject {
        AdviceObject {
            name: advice.name.clone(),
            asked: match advice.asked {
                Asked::Argument => "argument",
                Asked::Result => "result",
                Asked::Both => "both",
                Asked::Nothing => "nothing",
            },
            number: advice.number,
            result: advice.result,
            shape: advice.shape.to_string(),
            instead: advice.instead.to_string(),
            saves_bytes: advice.saves,
            allocated_bytes: advice.allocated,
            instead_allocated_bytes: advice.instead_allocated,
        }
    }
}
