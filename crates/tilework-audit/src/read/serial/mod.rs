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
use crate::program::{Allocation, Program, Times, Value};
use crate::read::Reading;
use crate::read::bytes::{after, number};
use crate::read::instruction::{Body, Called, Instruction, Meaning};
use crate::read::recognise::Serialised;
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
            let temporary = !(allocation.is_entry_computation_parameter
                || allocation.maybe_live_out
                || allocation.is_thread_local
                || allocation.is_constant);
            let is_kept =
                allocation.is_entry_computation_parameter && !allocation.is_parameter_aliased_with_output;
            let (size, space) = (unsigned(allocation.size), allocation.color);
            program.allocations.push(Allocation { size, space, temporary });
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
        self.module_ends(&body);
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
        match node.counts {
            Counts::Number(number) => body.is_number(key.into(), number),
            Counts::Below if graph.root(node.computation) == Some(key) => {
                let limit = graph.operands(node).nth(1).flatten();
                if let Some(limit) = limit.and_then(|operand| body.number(operand.into())) {
                    self.counts_to(program, body.hash, limit);
                }
            }
            _ => {}
        }
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
            Flow::Parameter(number) if !body.entry => number.saturating_add(1),
            _ => 0,
        };
        let instruction =
            Instruction { name, hash, key: key.into(), meaning, shape, operand, parameter, line };
        if let Err(reason) = self.instruction(program, body, &instruction, order, source) {
            self.complaints.add_at(node.place.start, reason);
        }
    }

    /// Notes the computations that an instruction calls, and what of the program's arguments a fusion is given.
    fn serial_calls(&self, program: &mut Program, graph: &Graph, body: &Body, node: &Node) {
        let hash_of = |store: &Store, called: u32| {
            let called = graph.computations.get(called as usize);
            called.map(|called| store.seed.of(store.texts.text(called.name).as_bytes()))
        };
        let times = match node.meaning.calls {
            Called::Nothing => return,
            Called::Fused | Called::Applied => Times::Within,
            Called::Once => Times::Once,
            Called::Loop => {
                // The body is named first.
                let mut called = graph.calls(node).filter_map(|called| hash_of(self, called));
                if let (Some(callee), Some(condition)) = (called.next(), called.next()) {
                    let says = if let Counts::Runs(times) = node.counts { Some(times) } else { None };
                    self.call(program, body.computation, callee, Times::Loop { says, condition });
                }
                return;
            }
        };
        for called in graph.calls(node) {
            let Some(callee) = hash_of(self, called) else { continue };
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
    let found = match read.opcode.as_str() {
        "constant" => read.number.and_then(|number| u64::try_from(number).ok()).map(Counts::Number),
        "compare" if read.comparison == "LT" => Some(Counts::Below),
        "while" => says(&read.backend_config).map(Counts::Runs),
        _ => None,
    };
    found.unwrap_or(Counts::Nothing)
}

/// `{0,1}`, as the index of a buffer is written.
fn written(way: &[u32]) -> String {
    format!("{{{}}}", way.iter().map(u32::to_string).collect::<Vec<_>>().join(","))
}

fn unsigned(size: i64) -> u64 {
    u64::try_from(size).unwrap_or(0)
}
