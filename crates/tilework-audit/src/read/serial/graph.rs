//! The instructions of a serialised module, and how the values of some become those of others without being copied.

use std::ops::Range;

use crate::budget::Budget;
use crate::hash::Map;
use crate::read::meaning::Meaning;
use crate::read::trips::Does;
use crate::schema::HloModule;
use crate::shapes::ShapeId;
use crate::texts::Text;

/// What stands for an instruction that does not exist.
const UNKNOWN: u32 = u32::MAX;

/// The most instructions, and the most operands of all together.
const LIMIT: usize = 1 << 23;

/// All computations of a module with their instructions.
#[derive(Debug)]
pub(crate) struct Graph {
    budget: Budget,
    pub(crate) nodes: Vec<Node>,
    pub(crate) computations: Vec<Called>,
    /// Operands of all instructions, and the computations that they call.
    operands: Vec<u32>,
    calls: Vec<i64>,
    by_id: Map<i64, u32>,
    computation_by_id: Map<i64, u32>,
    parameters: Map<(u32, u32), u32>,
    pub(crate) overflowed: bool,
}

/// An instruction.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) id: i64,
    pub(crate) name: Text,
    /// None if it cannot be read.
    pub(crate) shape: Option<ShapeId>,
    pub(crate) flow: Flow,
    pub(crate) meaning: Meaning,
    /// What decides how often a loop runs.
    pub(crate) counts: Counts,
    pub(crate) is_constant: bool,
    pub(crate) computation: u32,
    /// Where it stands in the file.
    pub(crate) place: Range<usize>,
    operands: Range<u32>,
    calls: Range<u32>,
}

/// What an instruction says about how often a loop runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counts {
    Nothing,
    /// What it does to whole numbers.
    Does(Does),
    /// It is a loop that runs as often.
    Runs(u64),
}

/// What becomes of the values of operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// They are read.
    Read,
    /// It is given by the caller: the parameter with this number.
    Parameter(u32),
    /// Each is an element of the tuple.
    Tuple,
    /// This element of the operand is the value.
    Element(u32),
    /// The first operand is the value.
    Same,
    /// They are passed to a computation, whose value is the value, again and again.
    While,
    /// They are passed to a computation.
    Call,
    /// Each but the first is passed to a computation of its own.
    Conditional,
    /// They are passed to a computation and are the first element, and its value is the second.
    AsyncStart,
    /// They are the first element, and what is made of them the second, as with all other operations that only start.
    Start,
    /// The first operand is the second element.
    CopyStart,
    /// The first element of the operand is the value.
    CopyDone,
    /// The second element of the operand is the value.
    Done,
    /// The elements of the operand are those of the value, and the table of them is a copy.
    Copy,
}

impl Flow {
    pub(crate) fn of(opcode: &str, parameter: i64, element: i64) -> Flow {
        let number = |number: i64| u32::try_from(number).unwrap_or(UNKNOWN);
        match opcode {
            "parameter" => Flow::Parameter(number(parameter)),
            "get-tuple-element" => Flow::Element(number(element)),
            "tuple" => Flow::Tuple,
            "bitcast"
            | "optimization-barrier"
            | "domain"
            | "add-dependency"
            | "async-update"
            | "all-reduce-done" => Flow::Same,
            "while" => Flow::While,
            "call" => Flow::Call,
            "conditional" => Flow::Conditional,
            "async-start" => Flow::AsyncStart,
            "copy-start" => Flow::CopyStart,
            "copy-done" | "recv-done" => Flow::CopyDone,
            "async-done" | "all-gather-done" | "collective-permute-done" => Flow::Done,
            "all-gather-start" | "collective-permute-start" | "send" => Flow::Start,
            "copy" => Flow::Copy,
            _ => Flow::Read,
        }
    }
}

/// A computation.
#[derive(Debug)]
pub(crate) struct Called {
    pub(crate) name: Text,
    /// The instruction whose value it gives, by its identifier.
    pub(crate) root: i64,
    /// Its instructions.
    pub(crate) nodes: Range<u32>,
}

impl Drop for Graph {
    fn drop(&mut self) {
        let Graph {
            budget, nodes, computations, operands, calls, by_id, computation_by_id, parameters, ..
        } = self;
        budget.give_list(nodes);
        budget.give_list(computations);
        budget.give_list(operands);
        budget.give_list(calls);
        budget.give_map(by_id);
        budget.give_map(computation_by_id);
        budget.give_map(parameters);
    }
}

impl Graph {
    /// One that is held within a budget, and for as long as it lives; nothing so far.
    pub(crate) fn within(budget: &Budget) -> Graph {
        Graph {
            budget: budget.clone(),
            nodes: Vec::new(),
            computations: Vec::new(),
            operands: Vec::new(),
            calls: Vec::new(),
            by_id: Map::default(),
            computation_by_id: Map::default(),
            parameters: Map::default(),
            overflowed: false,
        }
    }

    /// Bytes that it takes at most to find out when the values of its instructions live, or what they come from.
    pub(crate) fn following(&self) -> usize {
        // Times, orders, steps and users, most of them in lists that double.
        48 * self.nodes.len() + 40 * self.operands.len() + 120 * (self.computations.len() + self.calls.len())
    }

    /// Begins a computation.
    pub(crate) fn computation(&mut self, id: i64, name: Text, root: i64) {
        let next = self.nodes.len() as u32;
        let Graph { budget, computations, computation_by_id, .. } = self;
        if computations.len() >= LIMIT
            || !budget.for_one(computations)
            || !budget.for_entry(computation_by_id)
        {
            return self.overflowed = true;
        }
        self.computation_by_id.insert(id, self.computations.len() as u32);
        self.computations.push(Called { name, root, nodes: next..next });
    }

    /// Adds an instruction to the computation that was begun last.
    pub(crate) fn node(&mut self, mut node: Node, operands: &[i64], calls: &[i64]) {
        let full = |length: usize, more: usize| length.saturating_add(more) > LIMIT;
        let too_many = self.nodes.len() >= LIMIT
            || full(self.operands.len(), operands.len())
            || full(self.calls.len(), calls.len())
            || !self.has_room(operands.len(), calls.len());
        let last = self.computations.len().wrapping_sub(1);
        let Some(computation) = self.computations.last_mut().filter(|_| !too_many) else {
            return self.overflowed = true;
        };
        let first = self.operands.len() as u32;
        // Operands stand before what uses them.
        let known = operands.iter().map(|id| self.by_id.get(id).copied().unwrap_or(UNKNOWN));
        self.operands.extend(known);
        node.operands = first..self.operands.len() as u32;
        let first = self.calls.len() as u32;
        self.calls.extend_from_slice(calls);
        node.calls = first..self.calls.len() as u32;
        node.computation = last as u32;
        let number = self.nodes.len() as u32;
        self.by_id.insert(node.id, number);
        if let Flow::Parameter(parameter) = node.flow {
            self.parameters.insert((node.computation, parameter), number);
        }
        computation.nodes.end = number + 1;
        self.nodes.push(node);
    }

    /// Makes room for an instruction with as many operands that calls as many computations.
    fn has_room(&mut self, more: usize, calling: usize) -> bool {
        let Graph { budget, nodes, operands, calls, by_id, parameters, .. } = self;
        budget.for_one(nodes)
            && budget.for_more(operands, more)
            && budget.for_more(calls, calling)
            && budget.for_entry(by_id)
            && budget.for_entry(parameters)
    }

    /// An instruction by its number.
    pub(crate) fn at(&self, number: u32) -> Option<&Node> {
        self.nodes.get(number as usize)
    }

    /// The number of an instruction by its identifier.
    pub(crate) fn number(&self, id: i64) -> Option<u32> {
        self.by_id.get(&id).copied()
    }

    /// All instructions by name, for dumps that have no identifiers.
    pub(crate) fn by_name(&self) -> Map<Text, u32> {
        (0..).zip(&self.nodes).map(|(number, node)| (node.name, number)).collect()
    }

    pub(crate) fn computation_number(&self, id: i64) -> Option<u32> {
        self.computation_by_id.get(&id).copied()
    }

    /// The instructions whose values this one takes; none in the place of one that does not exist.
    pub(crate) fn operands(&self, node: &Node) -> impl Iterator<Item = Option<u32>> {
        let range = node.operands.start as usize..node.operands.end as usize;
        self.operands[range].iter().map(|&number| Some(number).filter(|&number| number != UNKNOWN))
    }

    /// The computations that an instruction calls, those that exist.
    pub(crate) fn calls(&self, node: &Node) -> impl Iterator<Item = u32> {
        let range = node.calls.start as usize..node.calls.end as usize;
        self.calls[range].iter().filter_map(|&id| self.computation_number(id))
    }

    /// The computation with this place among those that an instruction calls.
    pub(crate) fn call(&self, node: &Node, place: u32) -> Option<u32> {
        let place = node.calls.start.checked_add(place).filter(|&place| place < node.calls.end)?;
        self.computation_number(*self.calls.get(place as usize)?)
    }

    /// The instruction whose value a computation gives.
    pub(crate) fn root(&self, computation: u32) -> Option<u32> {
        self.number(self.computations.get(computation as usize)?.root)
    }

    /// The program among the computations.
    pub(crate) fn entry(&self, id: i64, name: Text) -> Option<u32> {
        // Older modules have the name only, and 0 is no identifier.
        let by_id = self.computation_number(id).filter(|_| id != 0);
        let named = || self.computations.iter().position(|called| called.name == name);
        by_id.or_else(|| named().map(|number| number as u32))
    }

    /// The orders in which the instructions of computations run.
    pub(crate) fn sequences<'a>(&self, module: &'a HloModule) -> Map<u32, &'a [i64]> {
        let found = module.schedule.iter();
        let number = |id| self.computation_number(id);
        found
            .filter_map(|sequence| Some((number(sequence.computation_id)?, &sequence.instruction_ids[..])))
            .collect()
    }

    /// The parameter of a computation with this number.
    pub(crate) fn parameter(&self, computation: u32, number: u32) -> Option<u32> {
        self.parameters.get(&(computation, number)).copied()
    }
}

impl Node {
    /// The same, and whether its value never changes.
    pub(crate) fn constant(self, is_constant: bool) -> Node {
        Node { is_constant, ..self }
    }

    /// An instruction that is not in a graph yet.
    pub(crate) fn new(
        id: i64,
        name: Text,
        shape: Option<ShapeId>,
        flow: Flow,
        meaning: Meaning,
        counts: Counts,
        place: Range<usize>,
    ) -> Node {
        Node {
            id,
            name,
            shape,
            flow,
            meaning,
            counts,
            is_constant: false,
            computation: 0,
            place,
            operands: 0..0,
            calls: 0..0,
        }
    }
}
