//! Compiled modules and their buffers: the part of `HloProto` that says what lies in memory, and when.
//!
//! The generated types stay in here. What comes out are plain values in the words of XLA's file, so that nobody who reads
//! a dump depends on the protobuf library.

use buffa::DecodeOptions;

use super::generated::xla_hlo as raw;
use super::literal::whole_number;
use crate::error::{Error, Result};
use crate::xla::value::shape::Shape;

/// What `--xla_dump_hlo_as_proto` writes into a `.hlo.pb`: a module, and where the compiler put its buffers.
///
/// Fields about anything else are passed over, of this version of XLA or a later one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hlo {
    /// The program.
    pub module: Option<HloModule>,
    /// Where its buffers are; none before the compiler decided it.
    pub buffers: Option<BufferAssignment>,
}

/// `HloModuleProto`: computations of instructions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HloModule {
    /// The module's name.
    pub name: String,
    /// Which of the computations is the program.
    pub entry_computation_name: String,
    /// The same by its identifier.
    pub entry_computation_id: i64,
    /// All computations, those of fusions too.
    pub computations: Vec<Computation>,
    /// The order in which instructions run, for the computations that have one.
    pub schedule: Vec<Sequence>,
}

/// `HloComputationProto`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Computation {
    /// Its name.
    pub name: String,
    /// Its identifier, which `called_computation_ids` use.
    pub id: i64,
    /// The instruction whose value it gives.
    pub root_id: i64,
    /// Whether it is the inside of a fusion, where values have no buffers.
    pub is_fusion: bool,
    /// Operands before what uses them.
    pub instructions: Vec<Instruction>,
}

/// `HloInstructionProto`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Instruction {
    /// Its name, without `%`.
    pub name: String,
    /// Its identifier, unique in the module.
    pub id: i64,
    /// What it does, such as `copy`.
    pub opcode: String,
    /// The `ShapeProto` of its value, as it stands in the module: equal shapes have equal bytes.
    pub shape_proto: Vec<u8>,
    /// The instructions whose values it takes.
    pub operand_ids: Vec<i64>,
    /// The computations that it runs.
    pub called_computation_ids: Vec<i64>,
    /// Dimensions that it is about, such as the permutation of a `transpose`.
    pub dimensions: Vec<i64>,
    /// Which parameter of the computation it is, if it is one.
    pub parameter_number: i64,
    /// Which element of a tuple it takes, if it does.
    pub tuple_index: i64,
    /// The number that it is, if it is a constant that is one whole number of 32 or 64 bits.
    pub number: Option<i128>,
    /// `LT`, `EQ`, …, if it compares.
    pub comparison: String,
    /// What only the compiler's own machine understands, most often as JSON.
    pub backend_config: Vec<u8>,
    /// `kLoop`, `kOutput`, …, if it is a fusion.
    pub fusion_kind: String,
    /// What it calls, if it is a `custom-call`.
    pub custom_call_target: String,
    /// The operation in the program, such as `jit(f)/dot_general`.
    pub op_name: String,
    /// The line of the program, where the module knows it.
    pub source: Option<SourceLine>,
}

impl Instruction {
    /// The shape of its value.
    ///
    /// # Errors
    /// See [`Shape::from_proto`]. Places are those in [`Instruction::shape_proto`].
    pub fn shape(&self) -> Result<Shape> {
        Shape::from_proto(&self.shape_proto)
    }
}

/// A line of the program that somebody wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct SourceLine {
    /// The file.
    pub file: String,
    /// The line, counted from 1.
    pub line: i32,
}

/// One computation's instructions in the order in which they run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sequence {
    /// The computation.
    pub computation_id: i64,
    /// Its instructions.
    pub instruction_ids: Vec<i64>,
}

/// `BufferAssignmentProto`: values, and the memory that they share.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BufferAssignment {
    /// The values.
    pub logical_buffers: Vec<LogicalBuffer>,
    /// The pieces of memory.
    pub allocations: Vec<Allocation>,
    /// When values come and go, for the allocations that hold several.
    pub heap_traces: Vec<HeapTrace>,
}

/// `LogicalBufferProto`: the memory of one value, or of one element of a tuple.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LogicalBuffer {
    /// Its identifier.
    pub id: i64,
    /// Its size in bytes.
    pub size: i64,
    /// The memory space.
    pub color: i64,
    /// The instruction that makes it; 0 in dumps that name it instead.
    pub instruction_id: i64,
    /// The name of the instruction, in older dumps.
    pub instruction_name: String,
    /// The way through the tuples of the instruction's shape.
    pub shape_index: Vec<i64>,
}

/// `BufferAllocationProto`: a piece of memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Allocation {
    /// Its number.
    pub index: i64,
    /// Its size in bytes.
    pub size: i64,
    /// The memory space.
    pub color: i64,
    /// Every thread has its own.
    pub is_thread_local: bool,
    /// It holds a tuple's pointers.
    pub is_tuple: bool,
    /// It holds a constant.
    pub is_constant: bool,
    /// It is given by the caller.
    pub is_entry_computation_parameter: bool,
    /// A result of the program is in the same place as this parameter.
    pub is_parameter_aliased_with_output: bool,
    /// It may hold a result.
    pub maybe_live_out: bool,
    /// Which parameter it holds, if it does.
    pub parameter_number: i64,
    /// The way through the tuples of the parameter.
    pub parameter_shape_index: Vec<i64>,
    /// What lies in it.
    pub assigned: Vec<Assigned>,
}

/// A value in an allocation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Assigned {
    /// The value.
    pub logical_buffer_id: i64,
    /// Where it begins, in bytes.
    pub offset: i64,
    /// How many bytes it has.
    pub size: i64,
}

/// `HeapSimulatorTrace`: when the values of an allocation come and go.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeapTrace {
    /// The allocation.
    pub allocation: i64,
    /// Whether all computations are in it and not one.
    pub whole_module: bool,
    /// What happens, in this order.
    pub events: Vec<Event>,
}

/// One step of a trace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Event {
    /// What happens to the value.
    pub kind: EventKind,
    /// The value.
    pub logical_buffer_id: i64,
    /// The value whose memory it shares, for [`EventKind::ShareWith`].
    pub shares_with: i64,
    /// The computation that runs.
    pub computation_name: String,
    /// The instruction that runs.
    pub instruction_name: String,
}

/// What happens to a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// It takes memory.
    #[default]
    Allocate,
    /// It gives its memory back.
    Free,
    /// It takes over the memory of another value.
    ShareWith,
    /// Something that this library does not know, by its number.
    Other(i32),
}

/// A message cannot be longer, as protobuf has it.
pub(super) const LONGEST: usize = i32::MAX as usize;

impl Hlo {
    /// Reads an `HloProto`.
    ///
    /// The memory it takes is bounded by some fifty times the length of the bytes. Shapes are not read: a bad one is an error
    /// of [`Instruction::shape`] alone.
    ///
    /// # Errors
    /// Bytes that are not such a message.
    pub fn read(bytes: &[u8]) -> Result<Hlo> {
        let raw: raw::HloProto = decode(bytes)?;
        Ok(Hlo {
            module: raw.hlo_module.into_option().map(HloModule::from_raw),
            buffers: raw.buffer_assignment.into_option().map(BufferAssignment::from_raw),
        })
    }
}

impl HloModule {
    /// Reads an `HloModuleProto`, as PJRT gives one out.
    ///
    /// # Errors
    /// See [`Hlo::read`].
    pub fn read(bytes: &[u8]) -> Result<HloModule> {
        decode(bytes).map(HloModule::from_raw)
    }

    pub(super) fn from_raw(raw: raw::HloModuleProto) -> HloModule {
        let stack_frames = raw.stack_frame_index.into_option().unwrap_or_default();
        let computations = raw.computations.into_iter();
        let sequences = raw.schedule.into_option().unwrap_or_default().sequences.into_iter();
        HloModule {
            name: raw.name,
            entry_computation_name: raw.entry_computation_name,
            entry_computation_id: raw.entry_computation_id,
            computations: computations.map(|raw| Computation::from_raw(raw, &stack_frames)).collect(),
            schedule: sequences
                .map(|raw| Sequence {
                    computation_id: raw.key,
                    instruction_ids: raw.value.into_option().unwrap_or_default().instruction_ids,
                })
                .collect(),
        }
    }
}

impl Computation {
    pub(super) fn from_raw(raw: raw::HloComputationProto, frames: &raw::StackFrameIndexProto) -> Computation {
        let instructions = raw.instructions.into_iter();
        Computation {
            name: raw.name,
            id: raw.id,
            root_id: raw.root_id,
            is_fusion: raw.is_fusion_computation,
            instructions: instructions.map(|raw| Instruction::from_raw(raw, frames)).collect(),
        }
    }
}

impl Instruction {
    pub(super) fn from_raw(raw: raw::HloInstructionProto, frames: &raw::StackFrameIndexProto) -> Instruction {
        let metadata = raw.metadata.into_option().unwrap_or_default();
        let source = match metadata.source_file.is_empty() {
            true => source_of_frame(frames, metadata.stack_frame_id),
            false => Some(SourceLine { file: metadata.source_file, line: metadata.source_line }),
        };
        Instruction {
            name: raw.name,
            id: raw.id,
            opcode: raw.opcode,
            shape_proto: raw.shape,
            operand_ids: raw.operand_ids,
            called_computation_ids: raw.called_computation_ids,
            dimensions: raw.dimensions,
            parameter_number: raw.parameter_number,
            tuple_index: raw.tuple_index,
            number: whole_number(&raw.literal),
            comparison: raw.comparison_direction,
            backend_config: raw.backend_config,
            fusion_kind: raw.fusion_kind,
            custom_call_target: raw.custom_call_target,
            op_name: metadata.op_name,
            source,
        }
    }
}

/// The innermost line of a stack. Frames, places and names count from 1, and 0 is none.
fn source_of_frame(frames: &raw::StackFrameIndexProto, frame: i32) -> Option<SourceLine> {
    let from_one = |number: i32| usize::try_from(number).ok()?.checked_sub(1);
    let frame = frames.stack_frames.get(from_one(frame)?)?;
    let place = frames.file_locations.get(from_one(frame.file_location_id)?)?;
    let file = frames.file_names.get(from_one(place.file_name_id)?)?;
    Some(SourceLine { file: file.clone(), line: place.line })
}

impl BufferAssignment {
    fn from_raw(raw: raw::BufferAssignmentProto) -> BufferAssignment {
        BufferAssignment {
            logical_buffers: raw.logical_buffers.into_iter().map(LogicalBuffer::from_raw).collect(),
            allocations: raw.buffer_allocations.into_iter().map(Allocation::from_raw).collect(),
            heap_traces: raw.heap_simulator_traces.into_iter().map(HeapTrace::from_raw).collect(),
        }
    }
}

impl LogicalBuffer {
    pub(super) fn from_raw(raw: raw::LogicalBufferProto) -> LogicalBuffer {
        let location = raw.defined_at.into_option().unwrap_or_default();
        LogicalBuffer {
            id: raw.id,
            size: raw.size,
            color: raw.color,
            instruction_id: location.instruction_id,
            instruction_name: location.instruction_name,
            shape_index: location.shape_index,
        }
    }
}

impl Allocation {
    pub(super) fn from_raw(raw: raw::BufferAllocationProto) -> Allocation {
        let assigned = raw.assigned.into_iter().map(|raw| Assigned {
            logical_buffer_id: raw.logical_buffer_id,
            offset: raw.offset,
            size: raw.size,
        });
        Allocation {
            index: raw.index,
            size: raw.size,
            color: raw.color,
            is_thread_local: raw.is_thread_local,
            is_tuple: raw.is_tuple,
            is_constant: raw.is_constant,
            is_entry_computation_parameter: raw.is_entry_computation_parameter,
            is_parameter_aliased_with_output: raw.is_parameter_aliased_with_output,
            maybe_live_out: raw.maybe_live_out,
            parameter_number: raw.parameter_number,
            parameter_shape_index: raw.parameter_shape_index,
            assigned: assigned.collect(),
        }
    }
}

impl HeapTrace {
    fn from_raw(raw: raw::HeapSimulatorTrace) -> HeapTrace {
        let events = raw.events.into_iter().map(|raw| Event {
            kind: match raw.kind.to_i32() {
                0 => EventKind::Allocate,
                1 => EventKind::Free,
                2 => EventKind::ShareWith,
                other => EventKind::Other(other),
            },
            logical_buffer_id: raw.buffer_id,
            shares_with: raw.share_with_canonical_id,
            computation_name: raw.computation_name,
            instruction_name: raw.instruction_name,
        });
        HeapTrace {
            allocation: raw.buffer_allocation_index,
            whole_module: raw.whole_module_simulation,
            events: events.collect(),
        }
    }
}

/// Names cost more memory than bytes, so the limit grows with the input: an empty instruction is two bytes of it.
pub(super) fn decode<M: buffa::Message>(bytes: &[u8]) -> Result<M> {
    if bytes.len() > LONGEST {
        return Err(too_long(bytes.len()));
    }
    let memory = bytes.len().saturating_mul(MEMORY_PER_BYTE).saturating_add(1 << 20);
    let options = DecodeOptions::new().with_recursion_limit(32).with_element_memory_limit(memory);
    options.decode_from_slice(bytes).map_err(|error| {
        Error::new(error.to_string()).field("HloProto").rule("the bytes are not a compiled module")
    })
}

pub(super) fn too_long(bytes: usize) -> Error {
    Error::new(format!("a message of {bytes} bytes")).accepts("less than 2 GiB")
}

/// Elements of lists in memory for each byte of input.
const MEMORY_PER_BYTE: usize = 24;
