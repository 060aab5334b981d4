//! Serialised modules: what `--xla_dump_hlo_as_proto` writes into `*.hlo.pb`, and a module alone.
//!
//! The files of a dump in text say one thing each, in the order in which it is needed. Here all is in one message, and
//! refers to instructions by identifiers. So the instructions are found first; then come the buffers, which say what of
//! the instructions is wanted; then when they live; then the instructions again, as if they stood in a text. Everything
//! ends up in the same [`Program`](crate::program::Program).

mod graph;
mod schedule;
mod ways;

use crate::budget::CONCLUDING;
use crate::hash::Map;
use crate::lists::EMPTY;
use crate::program::{Alias, Allocation, Class, Program, Times, Value};
use crate::read::Reading;
use crate::read::bytes::{after, number};
use crate::read::instruction::{Body, Instruction};
use crate::read::meaning::{Called, Meaning};
use crate::read::numbers::Loop;
use crate::read::recognise::Serialised;
use crate::read::trips::{self, Does, Way};
use crate::schema::Instruction as Serial;
use crate::schema::parts::{Bad, HloParts};
use crate::shapes::ShapeId;
use crate::sources::Source;
use crate::store::Store;
use crate::texts::{NONE, Text};
use graph::{Counts, Flow, Graph, Node};
use schedule::{Schedule, Stored};
use ways::Ways;

/// The most buffers of one program.
const LIMIT: usize = 1 << 22;

impl Reading<'_> {
    /// Reads a serialised module.
    pub(crate) fn serialised(&mut self, kind: Serialised, bytes: &[u8]) {
        let budget = self.store.budget.clone();
        // The head of the module, and one part at a time, may take half of what is left each.
        let room = budget.left() / 2;
        let parts = match kind {
            Serialised::Hlo => HloParts::of_hlo(bytes, room),
            Serialised::Module => HloParts::of_module(bytes, room),
        };
        let parts = match parts {
            Ok(parts) => parts,
            Err(Bad::Memory) => return budget.exceed(),
            Err(Bad::Bytes) => return self.store.complaints.add_at(0, "bytes that are no serialised module"),
        };
        let head = parts.memory();
        if !budget.take(head) {
            return;
        }
        self.serialised_parts(&parts);
        budget.give(head);
    }

    fn serialised_parts(&mut self, parts: &HloParts<'_>) {
        if let Some(at) = parts.breaks_off() {
            self.store.complaints.add_at(at, "the message breaks off");
        }
        let graph = self.store.graph(parts);
        let (budget, following) =
            (self.store.budget.clone(), graph.following() + 32 * parts.module().schedule.len());
        if budget.is_exceeded() || !budget.take(following) {
            return;
        }
        let sequences = graph.sequences(parts.module());
        self.begin(|has| &mut has.module);
        let (store, program) = (&mut *self.store, &mut self.program);
        program.serialised = true;
        program.overflowed |= graph.overflowed;
        let name = store.texts.number(parts.module().entry_computation_name.as_bytes());
        let entry = graph.entry(parts.module().entry_computation_id, name);
        // If a text has said it already, it is not said twice.
        if parts.has_buffers() && !program.has.assignment {
            program.has.assignment = true;
            let mut ways = Ways::held_by(&budget);
            let stored = store.buffers_of(program, parts, &graph, &mut ways);
            if let Some(entry) = entry.filter(|_| !program.has.lives) {
                program.has.lives = true;
                store.lives(program, &Schedule::new(&graph, entry, &sequences), &stored, &mut ways);
            }
        }
        store.instructions(program, parts, &graph, entry, &sequences);
        budget.give(following);
    }
}

impl Store {
    /// Notes that a part at this place cannot be read, and why.
    fn refuse(&mut self, place: usize, bad: Bad, reason: &'static str) {
        match bad {
            Bad::Memory => self.budget.exceed(),
            Bad::Bytes => self.complaints.add_at(place, reason),
        }
    }

    /// The instructions and how they are connected.
    fn graph(&mut self, parts: &HloParts<'_>) -> Graph {
        let mut graph = Graph::within(&self.budget);
        for (place, computation) in parts.computations() {
            if self.budget.is_exceeded() {
                break;
            }
            let computation = match computation {
                Ok(computation) => computation,
                Err(bad) => {
                    self.refuse(place.start, bad, "a computation that cannot be read");
                    continue;
                }
            };
            let head = computation.computation();
            graph.computation(head.id, self.texts.number(head.name.as_bytes()), head.root_id);
            for (place, read) in computation.instructions() {
                let read = match read {
                    _ if self.budget.is_exceeded() => break,
                    Ok(read) => read,
                    // What is cut off has been told.
                    Err(Bad::Bytes) if parts.breaks_off() == Some(place.end) => continue,
                    Err(bad) => {
                        self.refuse(place.start, bad, "an instruction that cannot be read");
                        continue;
                    }
                };
                let shape = self.shapes.number_of_proto(&read.shape_proto);
                if shape.is_none() {
                    self.complaints.add_at(place.start, "an instruction with a shape that cannot be read");
                }
                let flow = Flow::of(&read.opcode, read.parameter_number, read.tuple_index);
                let name = self.texts.number(read.name.as_bytes());
                let node = Node::new(
                    read.id,
                    name,
                    shape,
                    flow,
                    Meaning::of(read.opcode.as_bytes()),
                    counts(&read),
                    place,
                );
                let node = node.constant(read.opcode == "constant");
                graph.node(node, &read.operand_ids, &read.called_computation_ids);
            }
        }
        graph
    }

    /// The allocations, and the buffers in them.
    fn buffers_of(
        &mut self,
        program: &mut Program,
        parts: &HloParts<'_>,
        graph: &Graph,
        ways: &mut Ways,
    ) -> Vec<Stored> {
        let mut named = None;
        let mut defined: Map<i64, (u32, u32)> = Map::default();
        for (place, buffer) in parts.logical_buffers() {
            let buffer = match buffer {
                _ if self.budget.is_exceeded() => break,
                Ok(buffer) => buffer,
                Err(bad) => {
                    self.refuse(place.start, bad, "a buffer that cannot be read");
                    continue;
                }
            };
            let node = match buffer.instruction_name.as_str() {
                "" => graph.number(buffer.instruction_id),
                name => {
                    let named = named.get_or_insert_with(|| graph.by_name());
                    named.get(&self.texts.number(name.as_bytes())).copied()
                }
            };
            let way: Option<Vec<u32>> =
                buffer.shape_index.iter().map(|&element| u32::try_from(element).ok()).collect();
            if let (Some(node), Some(way)) = (node, way.and_then(|way| ways.number(&way)))
                && defined.len() < LIMIT
                && self.budget.for_entry(&mut defined)
            {
                defined.insert(buffer.id, (node, way));
            }
        }
        let mut stored = Vec::new();
        let mut names: Map<u32, Text> = Map::default();
        let mut shapes: Map<(ShapeId, u32), Option<ShapeId>> = Map::default();
        let mut number = 0;
        for (at, allocation) in parts.allocations() {
            let allocation = match allocation {
                _ if self.budget.is_exceeded() => break,
                Ok(allocation) => allocation,
                Err(bad) => {
                    self.refuse(at.start, bad, "an allocation that cannot be read");
                    continue;
                }
            };
            if program.allocations.len() >= LIMIT || !self.budget.for_one(&mut program.allocations) {
                program.overflowed = true;
                break;
            }
            let class = match &allocation {
                _ if allocation.is_entry_computation_parameter
                    && allocation.is_parameter_aliased_with_output =>
                {
                    Class::Alias
                }
                _ if allocation.is_entry_computation_parameter => Class::Argument,
                _ if allocation.maybe_live_out => Class::Result,
                _ if allocation.is_constant => Class::Constant,
                _ if allocation.is_thread_local => Class::Local,
                _ => Class::Temporary,
            };
            let is_kept =
                allocation.is_entry_computation_parameter && !allocation.is_parameter_aliased_with_output;
            let (size, space) = (unsigned(allocation.size), allocation.color);
            program.allocations.push(Allocation { size, space, class });
            let place = (program.allocations.len() - 1) as u32;
            for assigned in &allocation.assigned {
                number += 1;
                let found = defined.get(&assigned.logical_buffer_id).and_then(|&(node, way)| {
                    let whole = graph.at(node)?;
                    if !self.budget.for_entry(&mut shapes) || !self.budget.for_entry(&mut names) {
                        return None;
                    }
                    let shape = *shapes
                        .entry((whole.shape?, way))
                        .or_insert_with(|| self.part(whole.shape?, ways.way(way)));
                    Some((node, way, whole.name, shape?))
                });
                let (Some((node, way, name, shape)), Ok(offset), Ok(size)) =
                    (found, u64::try_from(assigned.offset), u64::try_from(assigned.size))
                else {
                    self.complaints
                        .add_at(at.start, "a buffer of something that is not known, or without a place");
                    continue;
                };
                let budget = &self.budget;
                let is_held = program.values.len() < LIMIT
                    && budget.for_one(&mut program.values)
                    // What is stored is as many, and so is what is found out about it.
                    && budget.take(CONCLUDING);
                if !is_held {
                    program.overflowed = true;
                    break;
                }
                let index =
                    *names.entry(way).or_insert_with(|| self.texts.number(written(ways.way(way)).as_bytes()));
                program.values.push(Value {
                    name,
                    index,
                    shape,
                    size,
                    rounded: false,
                    offset,
                    allocation: place,
                    space,
                    line: number,
                    source: 0,
                });
                stored.push(Stored { node, way, allocation: place, offset, is_kept });
            }
        }
        self.budget.give_map(&defined);
        self.budget.give_map(&names);
        self.budget.give_map(&shapes);
        stored
    }

    /// When the buffers live, which are the last that were read.
    fn lives(&self, program: &mut Program, schedule: &Schedule<'_>, stored: &[Stored], ways: &mut Ways) {
        let Some(lives) = schedule.lives(stored, &self.shapes, ways, &self.budget) else {
            return program.overflowed = true;
        };
        let names = schedule.order.iter().take(LIMIT).filter_map(|&node| schedule.graph.at(node));
        if !self.budget.for_more(&mut program.sequence, schedule.order.len()) {
            return;
        }
        program.sequence.clear();
        program.sequence.extend(names.map(|node| node.name));
        let first = program.values.len() - stored.len();
        for (number, life) in lives.into_iter().enumerate() {
            let Some(life) = life else { continue };
            let value = &program.values[first + number];
            let (name, index) = (value.name, value.index);
            let key = self.live_key(self.texts.text(name).as_bytes(), self.texts.text(index).as_bytes());
            if self.budget.for_entry(&mut program.lives) {
                program.lives.insert(key, life);
            }
        }
    }

    /// Notes all instructions, in the order in which a text has them.
    fn instructions(
        &mut self,
        program: &mut Program,
        parts: &HloParts<'_>,
        graph: &Graph,
        entry: Option<u32>,
        sequences: &Map<u32, &[i64]>,
    ) {
        let mut body = self.module(program, parts.module().name.as_bytes());
        for &(result, parameter) in parts.aliases() {
            if self.budget.for_one(&mut program.aliases) {
                program.aliases.push(Alias { result: Some(result), parameter });
            }
        }
        let mut line = 0;
        for (number, computation) in (0..).zip(&graph.computations) {
            let name = self.texts.shared(computation.name);
            self.computation_begins(program, &mut body, name.as_bytes(), Some(number) == entry);
            let in_order = sequences
                .get(&number)
                .map(|sequence| sequence.iter().filter_map(|&id| graph.number(id)).collect::<Vec<u32>>());
            let is_whole = |order: &Vec<u32>| order.len() == computation.nodes.len();
            let order = in_order.filter(is_whole).unwrap_or_else(|| computation.nodes.clone().collect());
            for key in order {
                if self.budget.is_exceeded() {
                    break;
                }
                let Some(node) = graph.at(key) else { continue };
                line += 1;
                self.serial_instruction(program, parts, graph, &mut body, (key, node), line);
            }
        }
        self.module_ends(program, &mut body);
    }

    fn serial_instruction(
        &mut self,
        program: &mut Program,
        parts: &HloParts<'_>,
        graph: &Graph,
        body: &mut Body,
        (key, node): (u32, &Node),
        line: u64,
    ) {
        let Some(shape) = node.shape else { return };
        let meaning = node.meaning;
        self.serial_calls(program, graph, body, node);
        let is_root = graph.root(node.computation) == Some(key);
        self.serial_number(program, graph, body, (key, node), is_root);
        let operand = match meaning.asks_for_operand() {
            true => graph.operands(node).next().flatten().and_then(|operand| body.operand(operand.into())),
            false => None,
        };
        let again = || parts.instruction(node.place.clone()).unwrap_or_default();
        let order = |store: &mut Store| {
            let dims = again().dimensions.into_iter().map(|dim| u32::try_from(dim).ok());
            let dims = dims.collect::<Option<Vec<u32>>>();
            dims.and_then(|dims| store.orders.number(&dims)).unwrap_or(EMPTY)
        };
        let source = |store: &mut Store| store.serial_source(&again());
        let name = self.texts.shared(node.name);
        let name = name.as_bytes();
        let hash = self.seed.of(name);
        let parameter = match node.flow {
            Flow::Parameter(number) => number.saturating_add(1),
            _ => 0,
        };
        let key = key.into();
        let is_constant = node.is_constant;
        let instruction =
            Instruction { name, hash, key, meaning, shape, operand, parameter, is_root, is_constant, line };
        // One that does not exist has a place all the same.
        let operands = |each: &mut dyn FnMut(u64)| {
            graph.operands(node).for_each(|operand| each(operand.map_or(u64::MAX, u64::from)));
        };
        if let Err(reason) = self.instruction(program, body, &instruction, order, source, operands) {
            self.complaints.add_at(node.place.start, reason);
        }
    }

    /// The hash of the name of a computation.
    fn hash_of(&self, graph: &Graph, called: u32) -> Option<u64> {
        let called = graph.computations.get(called as usize)?;
        Some(self.seed.of(self.texts.text(called.name).as_bytes()))
    }

    /// Follows whole numbers, and counts the turns of loops.
    fn serial_number(
        &self,
        program: &mut Program,
        graph: &Graph,
        body: &mut Body,
        (key, node): (u32, &Node),
        is_root: bool,
    ) {
        let Some(shape) = node.shape else { return };
        let operands = || {
            let operands = graph.operands(node).take(trips::ELEMENTS);
            operands.map(|operand| operand.map_or(u64::MAX, u64::from))
        };
        let mut called = graph.calls(node).filter_map(|called| self.hash_of(graph, called));
        if node.meaning.calls == Called::Loop {
            // The body is named first.
            if let (Some(callee), Some(condition)) = (called.next(), called.next()) {
                let says = if let Counts::Runs(times) = node.counts { Some(times) } else { None };
                let init = operands().next();
                self.turns(program, body, Loop { key: key.into(), condition, callee, init, says });
            }
            return;
        }
        let Counts::Does(does) = node.counts else { return };
        if self.is_number(shape) {
            let called = called.next().filter(|_| does == Does::Calls);
            self.follow(body, (key.into(), shape, is_root), does, called, operands);
        }
    }

    /// Notes the computations that an instruction calls, and what of the program's arguments a fusion is given.
    fn serial_calls(&self, program: &mut Program, graph: &Graph, body: &Body, node: &Node) {
        let times = match node.meaning.calls {
            // What a loop is called with must be known first.
            Called::Nothing | Called::Loop => return,
            Called::Fused | Called::Applied => Times::Within,
            Called::Once => Times::Once,
        };
        for called in graph.calls(node) {
            let Some(callee) = self.hash_of(graph, called) else { continue };
            self.call(program, body.computation, callee, times);
            if body.entry && node.meaning.calls == Called::Fused {
                for (place, operand) in (0..).zip(graph.operands(node)) {
                    let argument = operand.and_then(|operand| body.operand(operand.into()));
                    self.given(program, callee, place, argument.map_or(NONE, |argument| argument.parameter));
                }
            }
        }
    }

    fn serial_source(&mut self, read: &Serial) -> u32 {
        let mut source =
            Source { operation: self.texts.number(read.op_name.as_bytes()), ..Source::default() };
        if let Some(found) = &read.source {
            source.file = self.texts.number(found.file.as_bytes());
            source.line = u32::try_from(found.line).unwrap_or(0);
        }
        self.sources.number(source)
    }

    /// The shape that stands there in nested tuples.
    fn part(&mut self, shape: ShapeId, way: &[u32]) -> Option<ShapeId> {
        if way.is_empty() {
            return Some(shape);
        }
        let part = self.shapes.part(shape, way)?.clone();
        self.shapes.number_of(&part)
    }
}

/// What an instruction says about how often a loop runs.
fn counts(read: &Serial) -> Counts {
    let says = |config: &[u8]| number(after(after(config, b"known_trip_count")?, b"\"n\":\"")?);
    let place = |number: i64| u32::try_from(number).ok();
    let does = match read.opcode.as_str() {
        "constant" => read.number.and_then(|number| i64::try_from(number).ok()).map(Does::Constant),
        "parameter" => place(read.parameter_number).map(Does::Parameter),
        "get-tuple-element" => place(read.tuple_index).map(Does::Element),
        "compare" => Way::of(read.comparison.as_bytes()).map(Does::Compare),
        "while" => return says(&read.backend_config).map_or(Counts::Nothing, Counts::Runs),
        opcode => Does::of(opcode.as_bytes()),
    };
    does.map_or(Counts::Nothing, Counts::Does)
}

/// `{0,1}`, as the index of a buffer is written.
fn written(way: &[u32]) -> String {
    format!("{{{}}}", way.iter().map(u32::to_string).collect::<Vec<_>>().join(","))
}

fn unsigned(size: i64) -> u64 {
    u64::try_from(size).unwrap_or(0)
}
