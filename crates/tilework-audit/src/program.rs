//! What was read of one program, before anything is concluded from it.

use crate::hash::Map;
use crate::lists::{EMPTY, List};
use crate::shapes::ShapeId;
use crate::texts::{NONE, Text};

/// Everything that was read of one compiled program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Program {
    /// What the names of its files begin with.
    pub(crate) group: String,
    /// The name of the module.
    pub(crate) name: Text,
    /// What was read of it.
    pub(crate) has: Has,
    /// Buffers that a buffer assignment or a message lists.
    pub(crate) values: Vec<Value>,
    pub(crate) allocations: Vec<Allocation>,
    /// From when to when a value lives, by the hash of its name and index.
    pub(crate) lives: Map<u64, (u32, u32)>,
    /// The instructions in the order in which they run.
    pub(crate) sequence: Vec<Text>,
    /// The compiler's own peak, which counts no padding: when, and how many bytes.
    pub(crate) compilers_peak: Option<(u32, u64)>,
    /// Memory spaces that a report names, with their total bytes.
    pub(crate) spaces: Vec<Space>,
    /// Computations, by the hash of the name.
    pub(crate) computations: Map<u64, u32>,
    pub(crate) computation_names: Vec<Text>,
    /// For each computation, whether anything in it is computed, and not only moved.
    pub(crate) computes: Vec<bool>,
    /// Computations that are parts of instructions by their names, whether the instructions were read or not.
    pub(crate) fused_by_name: Map<u32, ()>,
    /// Which computation calls which.
    pub(crate) calls: Vec<Call>,
    /// What the program is given, in the order in which it stands there.
    pub(crate) parameters: Vec<Parameter>,
    /// The shapes of its results.
    pub(crate) results: Vec<ShapeId>,
    /// Which results lie in the place of which parameters.
    pub(crate) aliases: Vec<Alias>,
    /// The program's argument that a fusion is given, by the hash of what it calls and the number of the operand.
    pub(crate) given: Map<(u64, u32), Text>,
    /// Where instructions come from, by the hash of the name.
    pub(crate) origins: Map<u64, Origin>,
    /// Instructions that make buffers, where no buffer assignment says so.
    pub(crate) made: Map<Made, Tally>,
    /// Instructions that may change a layout.
    pub(crate) moves: Map<MoveKey, Tally>,
    /// How many cycles the compiler estimates for what may change a layout, by the hash of the name.
    pub(crate) cycles: Map<u64, u64>,
    /// How many devices it is divided among, where that is known, and what its arguments are before that, by their numbers.
    pub(crate) devices: u64,
    pub(crate) whole: Map<u32, ShapeId>,
    /// Shapes that stand somewhere in a text.
    pub(crate) loose: Map<ShapeId, Tally>,
    /// What an out-of-memory message says in numbers.
    pub(crate) message: Message,
    /// Whether it is of a serialised file, which has no lines: what stands for them are numbers in its order.
    pub(crate) serialised: bool,
    /// Instructions that were read.
    pub(crate) instructions: u64,
    /// Whether some limit was reached, so that not everything could be kept.
    pub(crate) overflowed: bool,
}

/// What was read of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Has {
    pub(crate) assignment: bool,
    pub(crate) lives: bool,
    pub(crate) report: bool,
    pub(crate) module: bool,
    pub(crate) message: bool,
    pub(crate) text: bool,
}

/// A buffer.
#[derive(Clone, Debug)]
pub(crate) struct Value {
    /// The instruction that makes it.
    pub(crate) name: Text,
    /// Which part of what the instruction makes, such as `{0}`.
    pub(crate) index: Text,
    pub(crate) shape: ShapeId,
    /// Bytes, as the dump says.
    pub(crate) size: u64,
    /// Whether the size was rounded when it was printed.
    pub(crate) rounded: bool,
    pub(crate) offset: u64,
    /// The number of its allocation in `allocations`.
    pub(crate) allocation: u32,
    pub(crate) space: i64,
    /// The line that says so.
    pub(crate) line: u64,
    /// Where it comes from, if that stands beside it.
    pub(crate) source: u32,
}

/// A stretch of memory for one or several buffers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Allocation {
    pub(crate) size: u64,
    pub(crate) space: i64,
    pub(crate) class: Class,
}

impl Allocation {
    /// Whether it exists only while buffers in it live; all others exist throughout.
    pub(crate) fn is_temporary(&self) -> bool {
        self.class == Class::Temporary
    }
}

/// What memory is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Class {
    /// What the program is given.
    Argument,
    /// What it gives back, in the place of what it is given.
    Alias,
    /// What it gives back.
    Result,
    /// What never changes.
    Constant,
    /// What is there while parts of the program run.
    #[default]
    Temporary,
    /// What a kernel takes for itself while it runs.
    Scoped,
    /// Registers that did not suffice, and are kept in memory.
    Spilled,
    /// What the smallest computations work with.
    Local,
}

impl Class {
    /// In a word.
    pub fn name(self) -> &'static str {
        match self {
            Class::Argument => "argument",
            Class::Alias => "argument and result",
            Class::Result => "result",
            Class::Constant => "constant",
            Class::Temporary => "temporary",
            Class::Scoped => "scoped",
            Class::Spilled => "register spills",
            Class::Local => "local",
        }
    }
}

/// A memory space that a report names.
#[derive(Clone, Debug)]
pub(crate) struct Space {
    pub(crate) number: i64,
    pub(crate) name: Text,
    pub(crate) bytes: u64,
}

/// A computation that an instruction calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    /// The computation of the instruction.
    pub(crate) caller: u32,
    /// The hash of the name of what it calls.
    pub(crate) callee: u64,
    pub(crate) times: Times,
}

/// How often a call runs what it calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Times {
    /// Once, as a part of the instruction itself: what it makes has no buffer.
    Within,
    /// Once.
    Once,
    /// As often as a loop runs, if that is known.
    Loop(Option<u64>),
}

/// Something that the program is given.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parameter {
    /// The name of the instruction.
    pub(crate) name: Text,
    pub(crate) number: u32,
    pub(crate) shape: ShapeId,
    /// Where it says it comes from, which is what the program calls it.
    pub(crate) source: u32,
    /// How many instructions read it.
    pub(crate) reads: u32,
}

/// A result that lies in the place of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Alias {
    /// The number of the result; none if only the parameter is known.
    pub(crate) result: Option<u32>,
    pub(crate) parameter: u32,
}

/// Where an instruction comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    pub(crate) computation: u32,
    pub(crate) source: u32,
    /// Where the nearest neighbour comes from that says so.
    pub(crate) near: Near,
    pub(crate) near_source: u32,
}

impl Origin {
    pub(crate) fn new(computation: u32, source: u32) -> Origin {
        Origin { computation, source, near: Near::Nothing, near_source: 0 }
    }
}

/// Instructions that make the same buffer at the same place of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Made {
    pub(crate) computation: u32,
    pub(crate) shape: ShapeId,
    pub(crate) source: u32,
}

/// An instruction that may change a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct MoveKey {
    pub(crate) operation: Operation,
    pub(crate) from: ShapeId,
    pub(crate) to: ShapeId,
    /// The permutation of a transpose.
    pub(crate) order: List,
    pub(crate) computation: u32,
    pub(crate) source: u32,
    /// The program's argument that is moved, if it is one.
    pub(crate) parameter: Text,
    /// Which parameter of a computation that is not the program is moved, counted from 1; 0 if none is.
    pub(crate) operand: u32,
    /// Which result of the program it makes, counted from 1; 0 if it makes none.
    pub(crate) result: u32,
    /// Where the nearest neighbour comes from that says so, if it does not say where it comes from itself.
    pub(crate) near: Near,
    pub(crate) near_source: u32,
}

impl MoveKey {
    /// That of a buffer of which only the neighbours are looked for.
    pub(crate) fn of_buffer(shape: ShapeId, computation: u32, source: u32) -> MoveKey {
        MoveKey {
            operation: Operation::Copy,
            from: shape,
            to: shape,
            order: EMPTY,
            computation,
            source,
            parameter: NONE,
            operand: 0,
            result: 0,
            near: Near::Nothing,
            near_source: 0,
        }
    }
}

/// What is next to an instruction that the compiler made by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Near {
    /// It says itself where it comes from, or no neighbour does either.
    #[default]
    Nothing,
    /// What reads it.
    Read,
    /// What makes its operand.
    Made,
}

/// What may change a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Every element to its place in another layout of the same dimensions.
    Copy,
    /// The first half of a copy that happens meanwhile.
    CopyStart,
    /// Every element to its place in an array of permuted dimensions.
    Transpose,
    /// Every element to its place in an array of other dimensions.
    Reshape,
    /// The same buffer, read otherwise: nothing moves.
    Bitcast,
}

impl Operation {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Operation::Copy => "copy",
            Operation::CopyStart => "copy-start",
            Operation::Transpose => "transpose",
            Operation::Reshape => "reshape",
            Operation::Bitcast => "bitcast",
        }
    }
}

/// Things that are alike.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) count: u64,
    /// The line and the name of the first.
    pub(crate) line: u64,
    pub(crate) name: Text,
}

impl Tally {
    pub(crate) fn add(&mut self, line: u64, name: impl FnOnce() -> Text) {
        if self.count == 0 {
            (self.line, self.name) = (line, name());
        }
        self.count += 1;
    }
}

/// What an out-of-memory message says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// The memory that ran out, such as `hbm`.
    pub memory: Option<String>,
    /// Bytes that are needed.
    pub used: Option<u64>,
    /// Bytes that there are.
    pub capacity: Option<u64>,
    /// The kernel or instruction that needs them, if it is one.
    pub kernel: Option<String>,
    /// What there is of it.
    pub limit: Limit,
    /// All bytes that are free, where the largest piece of them was too small.
    pub free: Option<u64>,
    /// Bytes of the whole memory, where a message about one allocation says that too.
    pub whole: Option<u64>,
    /// What they are needed for, in the order of the message.
    pub parts: Vec<Part>,
}

/// What the bytes are that there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Limit {
    /// The whole memory, and the bytes that are needed are all.
    #[default]
    Memory,
    /// What of it is free, and the bytes that are needed are those of one allocation.
    Free,
    /// What one kernel may take.
    Kernel,
    /// What the compiler tried to reach by computing values once more.
    Rematerialisation,
}

/// What memory is needed for, and how much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// What for. Some are parts of others.
    pub need: Need,
    /// How many bytes, rounded as the message does.
    pub bytes: u64,
}

/// What memory is needed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// The system's own.
    Reserved,
    /// Everything that the program needs.
    Program,
    /// Its code.
    Code,
    /// What it is given.
    Arguments,
    /// What it never changes.
    Constants,
    /// Its results.
    Output,
    /// Results in the place of arguments.
    OutputInArguments,
    /// What is there while it runs.
    Temporaries,
    /// What a kernel takes for itself.
    Scoped,
    /// What all programs share.
    Global,
    /// What was allocated before.
    Allocated,
    /// Holes between buffers.
    Fragmentation,
}

impl Need {
    /// In a word or three.
    pub fn name(self) -> &'static str {
        match self {
            Need::Reserved => "reserved",
            Need::Program => "program",
            Need::Code => "code",
            Need::Arguments => "arguments",
            Need::Constants => "constants",
            Need::Output => "output",
            Need::OutputInArguments => "output in arguments",
            Need::Temporaries => "temporaries",
            Need::Scoped => "scoped",
            Need::Global => "global",
            Need::Allocated => "allocated before",
            Need::Fragmentation => "fragmentation",
        }
    }
}
