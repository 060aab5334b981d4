//! What is concluded of what was found: what the memory is for, and what could be asked for instead.

use std::sync::Arc;

use tilework::xla::Shape;

use crate::find::findings::Place;

/// What a part of the memory is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reason {
    /// What for.
    pub why: Why,
    /// Its bytes, which count for no other reason.
    pub bytes: u64,
}

/// What memory is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Why {
    /// Bytes that hold no element, whatever the buffer is.
    Padding,
    /// Second copies of values, in another layout or the same.
    Copies,
    /// Registers of kernels that did not suffice.
    Spills,
    /// What kernels take for themselves.
    Scoped,
    /// What is there while parts of the program run.
    Temporaries,
    /// What the program is given and gives back in the same place.
    Aliases,
    /// What it is given.
    Arguments,
    /// What it gives back.
    Results,
    /// What never changes.
    Constants,
    /// Holes between buffers, and what is reserved for other moments.
    Fragmentation,
    /// The system's own.
    Reserved,
    /// What was allocated before, by this program or others.
    Allocated,
    /// The smallest computations' own.
    Other,
}

impl Why {
    /// In a word or four.
    pub fn name(self) -> &'static str {
        match self {
            Why::Padding => "padding",
            Why::Copies => "copies",
            Why::Spills => "register spills",
            Why::Scoped => "kernels' own",
            Why::Temporaries => "temporaries",
            Why::Aliases => "arguments given back",
            Why::Arguments => "arguments",
            Why::Results => "results",
            Why::Constants => "constants",
            Why::Fragmentation => "fragmentation",
            Why::Reserved => "the system's own",
            Why::Allocated => "allocated before",
            Why::Other => "other",
        }
    }
}

/// Another layout for an argument, for a result, or for both where they share their place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// What the program calls the argument, or which result it is.
    pub name: String,
    /// The number of the argument, or of the result.
    pub number: u32,
    /// The result that it is about, alone or as the one in the argument's place.
    pub result: Option<u32>,
    /// The array in the layout that it has.
    pub shape: Arc<Shape>,
    /// The same in the layout that would spare the moves.
    pub instead: Arc<Shape>,
    /// Bytes that it takes.
    pub allocated: u64,
    /// Bytes that it would take.
    pub instead_allocated: u64,
    /// Bytes that would not be moved.
    pub saves: u64,
    /// For what it must be asked.
    pub asked: Asked,
}

/// For what another layout must be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// For the argument.
    Argument,
    /// For the result.
    Result,
    /// For the argument and the result in its place; for one of them alone, the other would need a place of its own.
    Both,
    /// For nothing: the result in its place is made in the layout that both have, or it would take more memory than it
    /// spares moving.
    Nothing,
}

/// Arrays that a loop keeps of each step, for the loop that goes back through the steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// How many arrays.
    pub arrays: u64,
    /// How many steps.
    pub steps: u64,
    /// Their bytes at the peak, with padding. Computing them again spares up to that.
    pub bytes: u64,
    /// The line that makes the largest of them.
    pub place: Place,
}

/// What less there would be at the peak if a dimension of what the program is given were half as long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Half {
    /// The arguments with this dimension, which is the first of them.
    pub arguments: Vec<String>,
    /// How long it is.
    pub size: u64,
    /// Bytes less, at the same moment.
    pub bytes: u64,
    /// Bytes that are there now.
    pub peak: u64,
}

/// An argument that several devices have alike.
#[derive(Clone, Debug, PartialEq)]
pub struct Replica {
    /// What the program calls the argument.
    pub name: String,
    /// Its number.
    pub number: u32,
    /// What it is on all devices together.
    pub whole: Arc<Shape>,
    /// What each device has of it.
    pub shape: Arc<Shape>,
    /// Bytes of that.
    pub bytes: u64,
    /// How many devices have the same part.
    pub copies: u64,
    /// Bytes that each device would have less, if each had a part of its own.
    pub spares: u64,
}

/// An argument that is not donated, though a result of the same shape could lie in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Donatable {
    /// What the program calls the argument.
    pub name: String,
    /// Its number.
    pub number: u32,
    /// The result that could lie in its place.
    pub result: u32,
    /// Bytes that this would spare, if nothing needs the argument afterwards.
    pub bytes: u64,
}
