//! What an operation means for memory: whether it makes a buffer, whether it may move elements, and what it calls.

use crate::program::Operation;

/// What an operation means for memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Meaning {
    pub(crate) makes: Makes,
    /// What it does to the places of elements.
    pub(crate) moves: Option<Operation>,
    /// Whether its value is its operand's, or a part of it.
    pub(crate) passes: bool,
    /// Whether its elements are other ones than those of its operands.
    pub(crate) computes: bool,
    pub(crate) calls: Called,
}

/// Which buffer an instruction makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Makes {
    /// One for its value.
    Value,
    /// One for its value if the program is given it, and none if a computation is.
    Parameter,
    /// One for an element of the tuple that is its value.
    Element(usize),
    /// None: its operands', or that of what it calls.
    Nothing,
}

/// The computations that an instruction calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Called {
    /// None that matter.
    Nothing,
    /// What a fusion fuses: values in it have no buffers.
    Fused,
    /// What is applied to elements, such as the addition of a sum: values in it have no buffers.
    Applied,
    /// One or several, once each at most.
    Once,
    /// The body of a loop.
    Loop,
}

impl Meaning {
    /// That of an operation by its name.
    #[inline]
    pub(crate) fn of(operation: &[u8]) -> Meaning {
        let plain = Meaning {
            makes: Makes::Value,
            moves: None,
            passes: false,
            computes: true,
            calls: Called::Nothing,
        };
        let nothing = Meaning { makes: Makes::Nothing, computes: false, ..plain };
        let moving = |moves| Meaning { moves: Some(moves), computes: false, ..plain };
        match operation {
            b"parameter" => Meaning { makes: Makes::Parameter, computes: false, ..plain },
            b"copy" => moving(Operation::Copy),
            b"transpose" => moving(Operation::Transpose),
            b"reshape" => moving(Operation::Reshape),
            // An argument that is fetched into a faster memory is still that argument.
            b"copy-start" => {
                Meaning { makes: Makes::Element(0), passes: true, ..moving(Operation::CopyStart) }
            }
            b"bitcast" => Meaning { moves: Some(Operation::Bitcast), passes: true, ..nothing },
            b"copy-done" | b"get-tuple-element" => Meaning { passes: true, ..nothing },
            // Whether it computes, what it calls says.
            b"fusion" => Meaning { calls: Called::Fused, computes: false, ..plain },
            b"reduce"
            | b"reduce-window"
            | b"scatter"
            | b"select-and-scatter"
            | b"sort"
            | b"map"
            | b"all-reduce"
            | b"all-reduce-start"
            | b"reduce-scatter" => Meaning { calls: Called::Applied, ..plain },
            b"while" => Meaning { calls: Called::Loop, ..nothing },
            b"conditional" | b"call" | b"async-start" => Meaning { calls: Called::Once, ..nothing },
            b"tuple" | b"optimization-barrier" | b"after-all" | b"add-dependency" | b"domain" => nothing,
            _ if operation.ends_with(b"-done") || operation.ends_with(b"-update") => nothing,
            _ if operation.ends_with(b"-start") => Meaning { makes: Makes::Element(1), ..plain },
            _ => plain,
        }
    }

    /// Whether it must be known what the first operand is.
    #[inline]
    pub(crate) fn asks_for_operand(&self) -> bool {
        self.passes || self.moves.is_some()
    }
}
