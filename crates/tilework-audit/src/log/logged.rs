//! What comes of a log.

/// What wrote a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LogKind {
    /// Verbose lines of oneDNN, of DNNL and of MKL-DNN.
    OneDnn,
    /// The layers of an engine, as TensorRT's inspector describes them.
    TensorRt,
    /// How long the layers of an engine take.
    TensorRtProfile,
    /// What TensorRT's builder says.
    TensorRtBuild,
    /// What PyTorch's profiler writes.
    PyTorch,
    /// A kernel of Triton, as TTGIR.
    Triton,
    /// A graph of ONNX.
    Onnx,
    /// A program of TTNN, as tt-mlir writes it.
    Ttnn,
}

impl LogKind {
    /// What people call it.
    pub fn title(self) -> &'static str {
        match self {
            LogKind::OneDnn => "oneDNN verbose log",
            LogKind::TensorRt => "TensorRT engine",
            LogKind::TensorRtProfile => "profile of a TensorRT engine",
            LogKind::TensorRtBuild => "TensorRT build log",
            LogKind::PyTorch => "trace of PyTorch's profiler",
            LogKind::Triton => "kernel of Triton",
            LogKind::Onnx => "model of ONNX",
            LogKind::Ttnn => "program of TTNN",
        }
    }

    /// What it calls an operation that only moves elements.
    pub fn move_name(self) -> &'static str {
        match self {
            LogKind::OneDnn => "reorder",
            LogKind::TensorRt | LogKind::TensorRtProfile | LogKind::TensorRtBuild => "reformat",
            LogKind::PyTorch => "copy",
            LogKind::Triton => "convert_layout",
            LogKind::Onnx => "Transpose",
            LogKind::Ttnn => "change of layout",
        }
    }

    /// What is counted to say where in it something is.
    pub fn place_name(self) -> &'static str {
        match self {
            LogKind::Onnx => "node",
            _ => "line",
        }
    }

    /// What is written of it in JSON.
    pub fn name(self) -> &'static str {
        match self {
            LogKind::OneDnn => "onednn",
            LogKind::TensorRt => "tensorrt",
            LogKind::TensorRtProfile => "tensorrt profile",
            LogKind::TensorRtBuild => "tensorrt build",
            LogKind::PyTorch => "pytorch",
            LogKind::Triton => "triton",
            LogKind::Onnx => "onnx",
            LogKind::Ttnn => "ttnn",
        }
    }
}

/// What a moved array is to the operations around the move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Made by one operation and read by another.
    Between,
    /// Read by an operation, and made by none that is there.
    Input,
    /// Weights of an operation.
    Weights,
    /// Made by an operation, and read by none that is there.
    Output,
    /// Not known.
    Unknown,
}

impl Role {
    /// In a word.
    pub fn name(self) -> &'static str {
        match self {
            Role::Between => "between operations",
            Role::Input => "input",
            Role::Weights => "weights",
            Role::Output => "output",
            Role::Unknown => "unknown",
        }
    }
}

/// Operations together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// How many ran.
    pub count: u64,
    /// How many of them say their time.
    pub timed: u64,
    /// The time that these say.
    pub nanoseconds: u64,
    /// Bytes of elements that they move, each counted once.
    pub data: u64,
    /// Bytes that they read and write, with padding.
    pub touched: u64,
    /// Bytes of padding in what they write.
    pub waste: u64,
    /// How many have arrays whose sizes are not known, and so add no bytes.
    pub unsized_count: u64,
}

impl Work {
    pub(crate) fn add(&mut self, other: &Work) {
        self.count = self.count.saturating_add(other.count);
        self.timed = self.timed.saturating_add(other.timed);
        self.nanoseconds = self.nanoseconds.saturating_add(other.nanoseconds);
        self.data = self.data.saturating_add(other.data);
        self.touched = self.touched.saturating_add(other.touched);
        self.waste = self.waste.saturating_add(other.waste);
        self.unsized_count = self.unsized_count.saturating_add(other.unsized_count);
    }

    /// All but one of `times` equal parts.
    pub(crate) fn but_one_of(&self, times: u64) -> Work {
        let rest = |all: u64| all - all / times.max(1);
        Work {
            count: rest(self.count),
            timed: rest(self.timed),
            nanoseconds: rest(self.nanoseconds),
            data: rest(self.data),
            touched: rest(self.touched),
            waste: rest(self.waste),
            unsized_count: rest(self.unsized_count),
        }
    }

    /// What is dearer: by time where it is said, else by bytes, else by number.
    pub fn cost(&self) -> (u64, u64, u64) {
        (self.nanoseconds, self.touched, self.count)
    }
}

/// What a log says of the moves in it.
#[derive(Clone, Debug)]
pub struct Logged {
    /// The file.
    pub name: String,
    /// What wrote it.
    pub kind: LogKind,
    /// The version of what wrote it, if it says so.
    pub writer: Option<String>,
    /// All operations, moves included.
    pub all: Work,
    /// Those that only move elements.
    pub moved: Work,
    /// Of these, the ones that change the element type and not the order of elements.
    pub converted: Work,
    /// What was spent on making operations ready, if the log says so.
    pub created: Work,
    /// What repeats itself.
    pub cycle: Option<Cycle>,
    /// Moves by pair of formats, the dearest first.
    pub pairs: Vec<Pair>,
    /// Moves that are alike and stand between the same operations, the dearest first.
    pub moves: Vec<LogMove>,
    /// What would save the most, first.
    pub savings: Vec<Saving>,
    /// Arrays with padding that operations read and write, those with the most first.
    pub padded: Vec<PaddedArray>,
    /// Accesses of shared memory that conflict, those in loops first.
    pub conflicts: Vec<BankConflict>,
    /// How many there are.
    pub conflict_count: u64,
    /// Of the moves, those that go through shared memory or from block to block.
    pub through_memory: u64,
    /// Operations that would move, but have nothing to move: only dimensions of size 1 change places.
    pub idle: u64,
    /// Dimensions whose sizes are not said and count as 1, by their names.
    pub open: Vec<String>,
    /// Whether there was more than is kept.
    pub overflowed: bool,
}

/// How elements get from thread to thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Way {
    /// Each stays in its thread.
    Registers,
    /// Each stays in its warp.
    Shuffles,
    /// Through shared memory, written and read once.
    SharedMemory,
    /// From one block to another.
    Blocks,
}

impl Way {
    /// In a few words.
    pub fn name(self) -> &'static str {
        match self {
            Way::Registers => "within registers",
            Way::Shuffles => "by shuffles within a warp",
            Way::SharedMemory => "through shared memory",
            Way::Blocks => "from block to block",
        }
    }
}

/// An access of shared memory in which lanes want different words of one bank.
#[derive(Clone, Debug)]
pub struct BankConflict {
    /// What accesses it.
    pub operation: String,
    /// What is read: registers or memory.
    pub from: LogArray,
    /// What is written.
    pub to: LogArray,
    /// Bytes of a lane at a time.
    pub vector: u64,
    /// How many times as long it takes as without conflicts.
    pub ways: u64,
    /// How many loops it is in.
    pub loops: u32,
    /// The line of the program.
    pub place: Option<String>,
    /// The line of the log.
    pub line: u64,
}

/// A sequence of operations that a log has several times, one behind the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// Operations in it.
    pub operations: u64,
    /// How often it is there.
    pub times: u64,
}

/// Moves from one format to another.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The formats with element types, as the log writes them.
    pub from: String,
    /// The other one.
    pub to: String,
    /// What they cost.
    pub work: Work,
}

/// An array of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogArray {
    /// As the log writes it, without element type and sizes.
    pub format: String,
    /// The element type; none if it is not said.
    pub element: Option<String>,
    /// `1x64x56x56`; none if they are not said.
    pub sizes: Option<String>,
    /// Bytes of elements; none if they are not known.
    pub data: Option<u64>,
    /// With padding.
    pub allocated: Option<u64>,
}

impl LogArray {
    /// Element type and format.
    pub fn format_words(&self) -> String {
        match &self.element {
            Some(element) => format!("{element} {}", self.format),
            None => self.format.clone(),
        }
    }
}

/// Moves that are alike.
#[derive(Clone, Debug)]
pub struct LogMove {
    /// What is read.
    pub from: LogArray,
    /// What is written.
    pub to: LogArray,
    /// What it is to the operations around.
    pub role: Role,
    /// How elements get there, of a kernel.
    pub way: Option<Way>,
    /// How many loops it is in, of a kernel.
    pub loops: u32,
    /// The operation that makes what is moved.
    pub before: Option<String>,
    /// The operation that reads it then.
    pub after: Option<String>,
    /// The line of the program, if the log says it.
    pub place: Option<String>,
    /// The name of the first, if the log gives names.
    pub name: Option<String>,
    /// What they cost.
    pub work: Work,
    /// The line of the first.
    pub line: u64,
}

/// Something that would save moves.
#[derive(Clone, Debug)]
pub struct Saving {
    /// What could be done.
    pub remedy: Remedy,
    /// What it would save at most.
    pub work: Work,
    /// The formats that it is about, where it is about some.
    pub formats: Vec<String>,
}

/// What could be done about moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Remedy {
    /// Weights are moved again in each cycle: do it once, and keep them.
    KeepWeights,
    /// What was moved is moved back, or on, at once.
    JoinMoves,
    /// Two operations want one array in different formats: one format for both.
    OneFormat,
    /// What goes in or comes out is not in the format of the first or the last operation.
    Ends,
    /// What reads it could do the move itself: a product of matrices that takes one of them transposed.
    Absorb,
}

/// Arrays with padding.
#[derive(Clone, Debug)]
pub struct PaddedArray {
    /// What is allocated.
    pub array: LogArray,
    /// The operation that reads or writes it.
    pub operation: String,
    /// How often that ran.
    pub count: u64,
    /// Bytes of padding in one.
    pub waste: u64,
}
