//! Compiled modules and their buffers: the part of `HloProto` that says what lies in memory, and when.
//!
//! The generated types stay in here. What comes out are plain values in the words of XLA's file, so that nobody who reads
//! a dump depends on the protobuf library.

mod fields;
mod generated;
pub(crate) mod parts;
mod read;

use tilework::Result;
use tilework::xla::Shape;

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
