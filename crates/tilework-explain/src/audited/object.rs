//! The object of `audit --json`.

use serde::Serialize;
use tilework::xla::Shape;
use tilework_audit::{Audited, Basis, Buffer, Class, Findings, Limit, Place, Shared, SpaceSum, Sum, Unread};

use super::moved::{AdviceObject, MoveObject, MovedObject, NearObject};
use super::sentence::{audit_sentence, name_of};
use crate::logged::LoggedObject;
use crate::shown::Growing;

/// What an audit found.
#[derive(Serialize)]
pub struct FindingsObject {
    /// The programs, the largest first.
    pub programs: Vec<AuditedObject>,
    /// Logs of other compilers and libraries, the one with the dearest moves first.
    pub logs: Vec<LoggedObject>,
    assumed: Option<AssumedObject>,
    unread: Vec<UnreadObject>,
}

impl FindingsObject {
    /// All of it.
    pub fn new(findings: &Findings) -> FindingsObject {
        FindingsObject {
            programs: findings.programs.iter().map(AuditedObject::new).collect(),
            logs: findings.logs.iter().map(LoggedObject::new).collect(),
            assumed: findings.assumed.as_ref().map(|assumed| AssumedObject {
                target: assumed.target.name().to_owned(),
                shapes: assumed.shapes,
            }),
            unread: findings.unread.iter().map(UnreadObject::new).collect(),
        }
    }
}

/// Layouts of a target, supposed for shapes without tiles.
#[derive(Serialize)]
struct AssumedObject {
    target: String,
    shapes: usize,
}

/// One program.
#[derive(Serialize)]
pub struct AuditedObject {
    program: String,
    sentence: String,
    basis: &'static str,
    padding_share: f64,
    peak: Option<PeakObject>,
    total: SumObject,
    spaces: Vec<SpaceObject>,
    reasons: Vec<ReasonObject>,
    largest: Vec<BufferObject>,
    shapes: Vec<SharedObject>,
    buffers: Vec<BufferObject>,
    moves: Vec<MoveObject>,
    arguments: Vec<MoveObject>,
    advice: Vec<AdviceObject>,
    donatable: Vec<DonatableObject>,
    donatable_bytes: u64,
    machine: Option<MachineObject>,
    kept: Option<KeptObject>,
    half: Option<HalfObject>,
    devices: Option<u64>,
    replicas: Vec<ReplicaObject>,
    replica_bytes: u64,
    moved: MovedObject,
    sources: Vec<KeyedObject>,
    computations: Vec<KeyedObject>,
    contradictions: Vec<ContradictionObject>,
    contradiction_count: u64,
    message: Option<MessageObject>,
    compilers_peak_bytes: Option<u64>,
    instructions: u64,
    complete: bool,
}

impl AuditedObject {
    /// All of it.
    pub fn new(program: &Audited) -> AuditedObject {
        let message = &program.message;
        AuditedObject {
            program: program.name.clone(),
            sentence: audit_sentence(program).replace('\u{a0}', " "),
            basis: basis(program.basis),
            padding_share: program.main().share(),
            peak: program.peak.as_ref().map(|peak| PeakObject {
                memory_space: peak.space,
                time: peak.time,
                instruction: Some(peak.instruction.clone()).filter(|name| !name.is_empty()),
                sum: SumObject::new(&peak.sum),
            }),
            total: SumObject::new(&program.total),
            spaces: program.spaces.iter().map(SpaceObject::new).collect(),
            reasons: program
                .reasons
                .iter()
                .map(|reason| ReasonObject { name: reason.why.name(), bytes: reason.bytes })
                .collect(),
            largest: program.largest.iter().map(BufferObject::new).collect(),
            shapes: program.shapes.iter().map(SharedObject::new).collect(),
            buffers: program.buffers.iter().map(BufferObject::new).collect(),
            moves: program.moves.iter().map(MoveObject::new).collect(),
            arguments: program.arguments.iter().map(MoveObject::new).collect(),
            advice: program.advice.iter().map(AdviceObject::new).collect(),
            donatable: program
                .donatable
                .iter()
                .map(|each| DonatableObject {
                    name: each.name.clone(),
                    number: each.number,
                    result: each.result,
                    bytes: each.bytes,
                })
                .collect(),
            donatable_bytes: program.donatable_bytes,
            machine: program.machine.as_ref().map(|machine| MachineObject {
                name: machine.name.clone(),
                memory_bytes: machine.device.memory,
                bytes_per_second: machine.device.bandwidth,
            }),
            kept: program.kept.as_ref().map(|kept| KeptObject {
                arrays: kept.arrays,
                steps: kept.steps,
                bytes: kept.bytes,
                file: kept.place.file.clone(),
                line: kept.place.line,
            }),
            half: program.half.as_ref().map(|half| HalfObject {
                arguments: half.arguments.clone(),
                size: half.size,
                spares_bytes: half.bytes,
                peak_bytes: half.peak,
            }),
            devices: program.devices,
            replicas: program
                .replicas
                .iter()
                .map(|each| ReplicaObject {
                    name: each.name.clone(),
                    number: each.number,
                    whole: each.whole.to_string(),
                    shape: each.shape.to_string(),
                    bytes: each.bytes,
                    devices: each.copies,
                    spares_bytes: each.spares,
                })
                .collect(),
            replica_bytes: program.replica_bytes,
            moved: MovedObject::new(&program.moved),
            sources: program
                .sources
                .iter()
                .map(|line| KeyedObject::new(name_of(&line.key), &line.sum))
                .collect(),
            computations: program
                .computations
                .iter()
                .map(|own| KeyedObject::new(own.key.clone(), &own.sum))
                .collect(),
            contradictions: program
                .contradictions
                .iter()
                .map(|each| ContradictionObject {
                    buffer: each.name.clone(),
                    shape: each.shape.to_string(),
                    says_bytes: each.says,
                    needs_bytes: each.needs,
                    rounded: each.rounded,
                    dump_line: each.line,
                })
                .collect(),
            contradiction_count: program.contradiction_count,
            message: (*message != Default::default()).then(|| MessageObject {
                memory: message.memory.clone(),
                used_bytes: message.used,
                capacity_bytes: message.capacity,
                limit: limit(message.limit),
                free_bytes: message.free,
                whole_bytes: message.whole,
                kernel: message.kernel.clone(),
                parts: message
                    .parts
                    .iter()
                    .map(|part| PartObject { name: part.need.name(), bytes: part.bytes })
                    .collect(),
            }),
            compilers_peak_bytes: program.compilers_peak,
            instructions: program.instructions,
            complete: !program.overflowed,
        }
    }
}

fn basis(basis: Basis) -> &'static str {
    match basis {
        Basis::Assignment => "assignment",
        Basis::Message => "message",
        Basis::Instructions => "instructions",
        Basis::Shapes => "shapes",
        Basis::Nothing => "nothing",
    }
}

fn limit(limit: Limit) -> &'static str {
    match limit {
        Limit::Memory => "memory",
        Limit::Free => "free",
        Limit::Kernel => "kernel",
        Limit::Rematerialisation => "rematerialisation",
    }
}

#[derive(Serialize)]
struct SumObject {
    buffers: u64,
    allocated_bytes: u64,
    data_bytes: u64,
    waste_bytes: u64,
}

impl SumObject {
    fn new(sum: &Sum) -> SumObject {
        SumObject {
            buffers: sum.buffers,
            allocated_bytes: sum.allocated,
            data_bytes: sum.data,
            waste_bytes: sum.waste(),
        }
    }
}

#[derive(Serialize)]
struct PeakObject {
    memory_space: i64,
    time: u32,
    instruction: Option<String>,
    #[serde(flatten)]
    sum: SumObject,
}

#[derive(Serialize)]
struct SpaceObject {
    memory_space: i64,
    name: Option<String>,
    reserved_bytes: Option<u64>,
    total: SumObject,
    peak: Option<SumObject>,
}

impl SpaceObject {
    fn new(space: &SpaceSum) -> SpaceObject {
        SpaceObject {
            memory_space: space.number,
            name: space.name.clone(),
            reserved_bytes: space.reserved,
            total: SumObject::new(&space.total),
            peak: space.peak.as_ref().map(SumObject::new),
        }
    }
}

#[derive(Serialize)]
struct PlaceObject {
    operation: Option<String>,
    file: Option<String>,
    line: Option<u32>,
}

impl PlaceObject {
    fn new(place: &Place) -> PlaceObject {
        PlaceObject { operation: place.operation.clone(), file: place.file.clone(), line: place.line }
    }
}

#[derive(Serialize)]
struct SharedObject {
    shape: String,
    memory_space: i64,
    #[serde(flatten)]
    sum: SumObject,
    at_peak: Option<SumObject>,
    causes: Vec<Growing>,
    element_bits: Option<WidenedObject>,
    smallest: Option<SmallestObject>,
    names: Vec<String>,
    #[serde(flatten)]
    place: PlaceObject,
}

impl SharedObject {
    fn new(shared: &Shared) -> SharedObject {
        SharedObject {
            shape: shared.shape.to_string(),
            memory_space: shared.space,
            sum: SumObject::new(&shared.sum),
            at_peak: shared.at_peak.as_ref().map(SumObject::new),
            causes: shared.growths.iter().map(Growing::from).collect(),
            element_bits: shared.widened.map(|(from, to)| WidenedObject { from, to }),
            smallest: shared.smallest.as_ref().map(|smallest| SmallestObject {
                shape: smallest.shape.to_string(),
                allocated_bytes: smallest.bytes,
            }),
            names: shared.names.clone(),
            place: PlaceObject::new(&shared.place),
        }
    }
}

/// What a part of the memory is for.
#[derive(Serialize)]
struct ReasonObject {
    name: &'static str,
    bytes: u64,
}

/// An argument that could be donated.
#[derive(Serialize)]
struct DonatableObject {
    name: String,
    number: u32,
    result: u32,
    bytes: u64,
}

/// What a loop keeps for the way back.
#[derive(Serialize)]
struct KeptObject {
    arrays: u64,
    steps: u64,
    bytes: u64,
    file: Option<String>,
    line: Option<u32>,
}

/// Half of what the program is given.
#[derive(Serialize)]
struct HalfObject {
    arguments: Vec<String>,
    size: u64,
    spares_bytes: u64,
    peak_bytes: u64,
}

/// The machine that was asked about.
#[derive(Serialize)]
struct MachineObject {
    name: String,
    memory_bytes: u64,
    bytes_per_second: u64,
}

/// An argument that several devices have alike.
#[derive(Serialize)]
struct ReplicaObject {
    name: String,
    number: u32,
    whole: String,
    shape: String,
    bytes: u64,
    devices: u64,
    spares_bytes: u64,
}

/// Bits of an element, and those that the layout gives it.
#[derive(Serialize)]
struct WidenedObject {
    from: u32,
    to: u32,
}

/// By footprint only: the compiler may need another order.
#[derive(Serialize)]
struct SmallestObject {
    shape: String,
    allocated_bytes: u64,
}

#[derive(Serialize)]
struct BufferObject {
    name: Option<String>,
    shape: Option<String>,
    role: Option<&'static str>,
    memory_space: i64,
    offset_bytes: Option<u64>,
    count: u64,
    allocated_bytes: u64,
    data_bytes: u64,
    waste_bytes: u64,
    at_peak: Option<bool>,
    in_place_of: Option<String>,
    live: Option<(u32, u32)>,
    computation: Option<String>,
    #[serde(flatten)]
    place: PlaceObject,
    near: Option<NearObject>,
    dump_line: u64,
}

impl BufferObject {
    fn new(buffer: &Buffer) -> BufferObject {
        BufferObject {
            name: buffer.name.clone(),
            shape: (*buffer.shape != Shape::Opaque).then(|| buffer.shape.to_string()),
            role: buffer.class.map(Class::name),
            memory_space: buffer.space,
            offset_bytes: buffer.at,
            count: buffer.count,
            allocated_bytes: buffer.allocated,
            data_bytes: buffer.data,
            waste_bytes: buffer.allocated - buffer.data,
            at_peak: buffer.at_peak,
            in_place_of: buffer.in_place_of.clone(),
            live: buffer.live,
            computation: buffer.computation.clone(),
            place: PlaceObject::new(&buffer.place),
            near: NearObject::new(buffer.near, &buffer.near_place),
            dump_line: buffer.line,
        }
    }
}

#[derive(Serialize)]
struct KeyedObject {
    name: String,
    #[serde(flatten)]
    sum: SumObject,
}

impl KeyedObject {
    fn new(name: String, sum: &Sum) -> KeyedObject {
        KeyedObject { name, sum: SumObject::new(sum) }
    }
}

#[derive(Serialize)]
struct ContradictionObject {
    buffer: Option<String>,
    shape: String,
    says_bytes: u64,
    needs_bytes: u64,
    rounded: bool,
    dump_line: u64,
}

#[derive(Serialize)]
struct MessageObject {
    memory: Option<String>,
    used_bytes: Option<u64>,
    capacity_bytes: Option<u64>,
    limit: &'static str,
    free_bytes: Option<u64>,
    whole_bytes: Option<u64>,
    kernel: Option<String>,
    parts: Vec<PartObject>,
}

#[derive(Serialize)]
struct PartObject {
    name: &'static str,
    bytes: u64,
}

#[derive(Serialize)]
struct UnreadObject {
    file: String,
    reason: &'static str,
    count: u64,
    lines: Vec<u64>,
    bytes: Vec<u64>,
}

impl UnreadObject {
    fn new(unread: &Unread) -> UnreadObject {
        UnreadObject {
            file: unread.file.clone(),
            reason: unread.reason,
            count: unread.count,
            lines: unread.lines.clone(),
            bytes: unread.bytes.clone(),
        }
    }
}
