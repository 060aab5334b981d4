//! What comes of a reading: buffers, sums, the peak, moves, contradictions.

use std::sync::Arc;

use tilework::xla::Shape;
use tilework::{Growth, Kind};

use crate::audit::Assumed;
use crate::find::judged::{Advice, Donatable, Half, Kept, Reason, Replica};
use crate::log::logged::Logged;
use crate::program::{Class, Message, Near, Operation};
use crate::suggest::footprint::Footprint;
use crate::suggest::target::Device;
use crate::unread::Unread;

/// Everything that an audit has to say.
#[derive(Debug)]
pub struct Findings {
    /// The programs, the largest first.
    pub programs: Vec<Audited>,
    /// What logs of other compilers and libraries say of moves, the dearest first.
    pub logs: Vec<Logged>,
    /// What could not be read.
    pub unread: Vec<Unread>,
    /// Which layouts are supposed, if the target's are: see [`Audit::suppose_target`](crate::Audit::suppose_target).
    pub assumed: Option<Assumed>,
    /// Whether lists are shorter than was asked for, because there was no memory for more: see
    /// [`Audit::with_memory`](crate::Audit::with_memory).
    pub cut: bool,
}

/// What the layouts of one program cost.
#[derive(Debug)]
pub struct Audited {
    /// The name of the module, or of the file. Where several have the same, what makes them different stands behind it.
    pub name: String,
    /// What the names of its files have in common.
    pub group: String,
    /// From what the buffers are known.
    pub basis: Basis,
    /// All buffers together. Those that live at different times may share memory, so this can be more than there is.
    pub total: Sum,
    /// When the main memory holds the most; none without live ranges.
    pub peak: Option<Peak>,
    /// Memory spaces by number.
    pub spaces: Vec<SpaceSum>,
    /// Buffers, those that waste the most first.
    pub buffers: Vec<Buffer>,
    /// The largest buffers, padded or not: those in the main memory when it holds the most, where that is known.
    pub largest: Vec<Buffer>,
    /// What the memory is for, the most first.
    pub reasons: Vec<Reason>,
    /// Shapes of buffers, those that waste the most together first.
    pub shapes: Vec<Shared>,
    /// Waste by computation, by the name of each; the most first.
    pub computations: Vec<Keyed<String>>,
    /// Waste by line of the program, or by operation where no line is known; the most first.
    pub sources: Vec<Keyed<Place>>,
    /// Instructions that change a layout, those that move the most bytes first.
    pub moves: Vec<Move>,
    /// Those that move an argument of the program, by bytes moved, within fusions or not.
    pub arguments: Vec<Move>,
    /// In which layouts arguments could be given and results given back, so that they need not be moved; what would save
    /// the most first.
    pub advice: Vec<Advice>,
    /// Arguments that could be donated, the largest first.
    pub donatable: Vec<Donatable>,
    /// Bytes that all of them would spare, with those that are not listed.
    pub donatable_bytes: u64,
    /// The machine that was asked about (see [`Audit::suppose_target`](crate::Audit::suppose_target)), if what it has is known.
    pub machine: Option<Machine>,
    /// What a loop keeps at the peak for the way back, and could compute again.
    pub kept: Option<Kept>,
    /// What less there would be at the peak with half of what the program is given.
    pub half: Option<Half>,
    /// How many devices the program is divided among, where the dump says so.
    pub devices: Option<u64>,
    /// Arguments that several of them have alike; those first that would spare the most.
    pub replicas: Vec<Replica>,
    /// Bytes that each device would spare with all of them.
    pub replica_bytes: u64,
    /// What the moves come to, with those that are not listed.
    pub moved: Moved,
    /// Sizes that are not what the layout needs.
    pub contradictions: Vec<Contradiction>,
    /// How many there are.
    pub contradiction_count: u64,
    /// Numbers of an out-of-memory message.
    pub message: Message,
    /// Instructions that were read.
    pub instructions: u64,
    /// The compiler's own peak in bytes, which counts no padding.
    pub compilers_peak: Option<u64>,
    /// Whether there was more than is kept.
    pub overflowed: bool,
}

/// From what buffers are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// A buffer assignment: every buffer, and its place.
    Assignment,
    /// An out-of-memory message: the largest buffers.
    Message,
    /// Instructions: each that makes a buffer; places are not known.
    Instructions,
    /// Shapes in a text, each counted once.
    Shapes,
    /// There is none.
    Nothing,
}

/// Buffers that have something in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keyed<K> {
    /// What they have in common: a computation, or a line of the program.
    pub key: K,
    /// The buffers.
    pub sum: Sum,
}

/// Buffers together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    /// How many.
    pub buffers: u64,
    /// Bytes that are allocated.
    pub allocated: u64,
    /// Bytes of elements in them.
    pub data: u64,
}

impl Sum {
    /// Bytes that hold no element.
    pub fn waste(&self) -> u64 {
        self.allocated.saturating_sub(self.data)
    }

    /// The waste as a share of what is allocated: 0 to 1.
    pub fn share(&self) -> f64 {
        if self.allocated == 0 { 0.0 } else { self.waste() as f64 / self.allocated as f64 }
    }

    pub(crate) fn add(&mut self, count: u64, allocated: u64, data: u64) {
        self.buffers = self.buffers.saturating_add(count);
        self.allocated = self.allocated.saturating_add(allocated.saturating_mul(count));
        self.data = self.data.saturating_add(data.saturating_mul(count));
    }
}

/// A moment in the main memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peak {
    /// The number of the instruction that runs.
    pub time: u32,
    /// Its name.
    pub instruction: String,
    /// The memory space.
    pub space: i64,
    /// What is in it then.
    pub sum: Sum,
}

/// One memory space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpaceSum {
    /// The number, as in `S(1)`; 0 is the main memory.
    pub number: i64,
    /// What a report calls it.
    pub name: Option<String>,
    /// Bytes that the program reserves in it.
    pub reserved: Option<u64>,
    /// All buffers.
    pub total: Sum,
    /// What is in it when it holds the most.
    pub peak: Option<Sum>,
}

/// Where something comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The operation of the program that was compiled, such as `jit(f)/add`.
    pub operation: Option<String>,
    /// The file.
    pub file: Option<String>,
    /// Its line.
    pub line: Option<u32>,
}

/// A buffer.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// The instruction that makes it, with the part of what it makes.
    pub name: Option<String>,
    /// What it holds.
    pub shape: Arc<Shape>,
    /// The memory space.
    pub space: i64,
    /// The first byte in the memory space, where the allocations stand one behind the other; none without places.
    pub at: Option<u64>,
    /// Bytes of each.
    pub allocated: u64,
    /// Bytes of elements in each.
    pub data: u64,
    /// How many are alike.
    pub count: u64,
    /// What its memory is for; none if that is not known.
    pub class: Option<Class>,
    /// Whether it is there when its memory space holds the most; none without live ranges.
    pub at_peak: Option<bool>,
    /// The buffer in whose place it is then, which is counted for both.
    pub in_place_of: Option<String>,
    /// From which instruction to which its memory is held: what the program is given, gives back or never changes
    /// throughout.
    pub live: Option<(u32, u32)>,
    /// The computation of the instruction.
    pub computation: Option<String>,
    /// Where the instruction comes from.
    pub place: Place,
    /// Of an instruction that does not say which line it is from, which neighbour does.
    pub near: Near,
    /// Where that neighbour comes from.
    pub near_place: Place,
    /// The line of the dump; 0 of a serialised one.
    pub line: u64,
}

/// Buffers of one shape.
#[derive(Clone, Debug)]
pub struct Shared {
    /// What each holds.
    pub shape: Arc<Shape>,
    /// The memory space.
    pub space: i64,
    /// All of them.
    pub sum: Sum,
    /// Those that live when their memory space holds the most.
    pub at_peak: Option<Sum>,
    /// What allocates the padding.
    pub growths: Vec<Growth>,
    /// Bits of an element, and the more bits that the layout gives it.
    pub widened: Option<(u32, u32)>,
    /// The same array in the layout that takes the fewest bytes, by footprint only, if it takes fewer.
    pub smallest: Option<Footprint>,
    /// The names of the first few.
    pub names: Vec<String>,
    /// Where the first comes from.
    pub place: Place,
}

/// A machine that was asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Its name.
    pub name: String,
    /// What a device of it has.
    pub device: Device,
}

/// What all moves come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// Instructions that change a layout.
    pub changes: u64,
    /// Bytes that they move, in all their runs.
    pub bytes: u64,
    /// Those within a fused computation, whose bytes move on the way of others.
    pub fused: u64,
    /// Their bytes.
    pub fused_bytes: u64,
    /// Bitcasts, and reshapes and transposes that find every element where it is already.
    pub free: u64,
    /// Copies from memory to memory that change no layout.
    pub between_spaces: u64,
    /// Their bytes.
    pub between_spaces_bytes: u64,
    /// Copies that change neither the layout nor the memory.
    pub again: u64,
    /// Their bytes.
    pub again_bytes: u64,
    /// Of those that change a layout, within fusions or not, those that move an argument of the program.
    pub arguments: u64,
    /// Their bytes.
    pub arguments_bytes: u64,
    /// Loops for which nothing says how often they run; what is in them counts once.
    pub unknown_loops: u64,
    /// Of those that change a layout or copy the same, how many have an estimate of their cycles.
    pub timed: u64,
    /// The cycles that the compiler estimates for these.
    pub cycles: u64,
}

/// An instruction that changes a layout, or makes a second copy of the same.
#[derive(Clone, Debug)]
pub struct Move {
    /// Which.
    pub operation: Operation,
    /// The name of the first.
    pub name: String,
    /// How many are alike.
    pub count: u64,
    /// How often each runs while the program does: in loops, as often as their conditions say.
    pub runs: u64,
    /// Whether it runs as often for certain; else it is in a loop for which nothing says how often it runs, which is counted
    /// as one run.
    pub runs_known: bool,
    /// What is read.
    pub from: Arc<Shape>,
    /// What is written.
    pub to: Arc<Shape>,
    /// Bytes of elements that move, of all of them and all their runs together.
    pub bytes: u64,
    /// Bytes that all of them read and write in all their runs, with padding.
    pub touched: u64,
    /// The cycles that the compiler estimates for all of them and all their runs; none if it does not say.
    pub cycles: Option<u64>,
    /// Of what is touched, the bytes in the main memory.
    pub touched_main: u64,
    /// The least nanoseconds that these take on the machine that was asked about; none if none was, or nothing is known of it.
    pub least_nanoseconds: Option<u64>,
    /// How they move; none if that is not decided.
    pub how: Option<How>,
    /// Whether the layout changes; else it is a copy of the same layout in the same memory.
    pub changes_layout: bool,
    /// The program's argument that is moved, if it is one, as the program calls it.
    pub argument: Option<String>,
    /// What donating that argument would do to such a copy; none if nothing.
    pub donation: Option<Donation>,
    /// Whether it is part of a fused computation.
    pub fused: bool,
    /// The computation.
    pub computation: Option<String>,
    /// Where it comes from.
    pub place: Place,
    /// Of one that does not say which line it is from, which neighbour does.
    pub near: Near,
    /// Where that neighbour comes from.
    pub near_place: Place,
    /// The line of the dump; 0 of a serialised one.
    pub line: u64,
}

/// What it would do to a copy if an argument were donated: its memory could then hold the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Donation {
    /// Nothing else reads the argument, so the copy is not needed any more.
    Removes,
    /// Something else reads the argument as well, so it depends on the order in which that happens.
    MayRemove,
    /// It is donated, and copied all the same.
    InVain,
}

/// How elements move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct How {
    /// The kind of most of it.
    pub kind: Kind,
    /// Bytes of the longest run of elements that are neighbours on both sides.
    pub run_bytes: u64,
    /// Nests of loops.
    pub nests: usize,
}

/// A size that is not what the layout needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contradiction {
    /// The buffer.
    pub name: Option<String>,
    /// Its shape.
    pub shape: Arc<Shape>,
    /// What the dump says, in bytes.
    pub says: u64,
    /// What the layout needs.
    pub needs: u64,
    /// Whether the dump rounds.
    pub rounded: bool,
    /// The line of the dump; 0 of a serialised one.
    pub line: u64,
}

impl Audited {
    /// What decides how bad it is: the peak where it is known, else all buffers.
    pub fn main(&self) -> &Sum {
        self.peak.as_ref().map_or(&self.total, |peak| &peak.sum)
    }

    /// Whether there is anything to say.
    pub fn is_empty(&self) -> bool {
        self.basis == Basis::Nothing && self.moved == Moved::default() && self.message == Message::default()
    }
}
