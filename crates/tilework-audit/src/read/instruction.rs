//! What an instruction means for memory, whatever it was written in: whether it makes a buffer, whether it may move
//! elements, and which computations exist within it only.

use crate::budget::CONCLUDING;
use crate::hash::Map;
use crate::lists::{EMPTY, List};
use crate::program::{Made, MoveKey, Near, Operation, Origin, Parameter, Program};
use crate::read::meaning::{Called, Makes, Meaning};
use crate::read::trips::{Scalar, Turns};
use crate::read::waiting::{Waiting, Waits};
use crate::shapes::ShapeId;
use crate::store::Store;
use crate::texts::{NONE, Text};

/// The most places of a program that are told apart.
const PLACES: usize = 1 << 20;

/// The most instructions whose origin is kept before it is known which make buffers.
const ORIGINS: usize = 1 << 18;

/// The most instructions of one computation that are known as operands.
const NAMES: usize = 1 << 23;

/// The most parameters and results of a program that are kept.
const GIVEN: usize = 1 << 16;

/// The most computations of a program.
const COMPUTATIONS: usize = 1 << 20;

/// The computation that is being read, and what of the module is needed for it.
#[derive(Debug, Default)]
pub(crate) struct Body {
    pub(crate) computation: u32,
    /// The hash of its name.
    pub(crate) hash: u64,
    /// Whether it is the program itself.
    pub(crate) entry: bool,
    /// What its instructions are, by what operands are written as: a number, or the hash of a name.
    names: Map<u64, Named>,
    /// Whole numbers of the computation, by what operands are written as.
    pub(super) numbers: Map<u64, Scalar>,
    /// What the computations that were read are, by the hashes of their names.
    pub(super) roots: Map<u64, Scalar>,
    /// Loops whose turns depend on what their computation is given, by the hash of the name of that computation: the
    /// places of the calls.
    pub(super) open: Map<u64, Vec<(usize, Turns)>>,
    /// Bytes of tuples among the numbers, and among the roots.
    pub(super) tuples: usize,
    pub(super) rooted: usize,
    /// The moves of the computation.
    waiting: Waiting,
    /// The places of the program's parameters in the list of them, by their names.
    parameters: Map<Text, u32>,
    /// The hashes of the names of instructions that make buffers, if that is known beforehand.
    wanted: Option<Map<u64, ()>>,
    /// The element of a tuple that an asynchronous operation makes, by the tuple and the number.
    elements: Map<(ShapeId, usize), Option<ShapeId>>,
}

/// What an operand is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Named {
    pub(crate) shape: ShapeId,
    /// The program's argument that it is.
    pub(crate) parameter: Text,
    /// Which parameter of another computation it is, counted from 1; 0 if it is none.
    pub(crate) operand: u32,
    /// Where it comes from, if that was looked at.
    pub(crate) source: u32,
}

/// An instruction that was read.
#[derive(Debug)]
pub(crate) struct Instruction<'a> {
    pub(crate) name: &'a [u8],
    /// The hash of the name.
    pub(crate) hash: u64,
    /// What operands call it.
    pub(crate) key: u64,
    pub(crate) meaning: Meaning,
    pub(crate) shape: ShapeId,
    /// What its first operand is, if the meaning asks for it.
    pub(crate) operand: Option<Named>,
    /// Which parameter of the computation it is, counted from 1; 0 if it is none or that is not known.
    pub(crate) parameter: u32,
    /// Whether its value is that of the computation.
    pub(crate) is_root: bool,
    /// Whether its value never changes.
    pub(crate) is_constant: bool,
    /// Where it stands.
    pub(crate) line: u64,
}

impl Body {
    /// What an operand is that is written so.
    #[inline]
    pub(crate) fn operand(&self, key: u64) -> Option<Named> {
        self.names.get(&key).copied()
    }
}

impl Store {
    /// Gives back what was held of a module's computations.
    pub(crate) fn module_ends(&mut self, program: &mut Program, body: &mut Body) {
        self.computation_ends(program, body);
        body.waiting.give(&self.budget);
        self.budget.give_map(&body.parameters);
        body.give_numbers(&self.budget);
        self.budget.give_map(&body.names);
        self.budget.give_map(&body.elements);
        if let Some(wanted) = &body.wanted {
            self.budget.give_map(wanted);
        }
    }

    /// Begins a module, at a place outside of any computation.
    pub(crate) fn module(&mut self, program: &mut Program, name: &[u8]) -> Body {
        let name = self.texts.number(name);
        let (seed, texts, budget) = (self.seed, &self.texts, &self.budget);
        let wanted = program.has.assignment.then(|| {
            let mut wanted = Map::default();
            for value in &program.values {
                if budget.for_entry(&mut wanted) {
                    wanted.insert(seed.of(texts.text(value.name).as_bytes()), ());
                }
            }
            wanted
        });
        program.name = name;
        // What stands outside of a computation has a place as well.
        if budget.for_one(&mut program.computation_names) && budget.for_one(&mut program.computes) {
            program.computation_names.push(NONE);
            program.computes.push(false);
        }
        let computation = program.computation_names.len().saturating_sub(1) as u32;
        Body { computation, wanted, ..Body::default() }
    }

    /// Begins a computation.
    pub(crate) fn computation_begins(
        &mut self,
        program: &mut Program,
        body: &mut Body,
        name: &[u8],
        entry: bool,
    ) {
        self.computation_ends(program, body);
        let hash = self.seed.of(name);
        let is_fused = !entry
            && (name.starts_with(b"fused_")
                || name.starts_with(b"wrapped_")
                || memchr::memmem::find(name, b"fusion").is_some());
        let name = self.texts.number(name);
        let budget = &self.budget;
        let is_held = program.computation_names.len() < COMPUTATIONS
            && budget.for_one(&mut program.computation_names)
            && budget.for_one(&mut program.computes)
            && budget.for_entry(&mut program.computations);
        if is_held {
            program.computation_names.push(name);
            program.computes.push(false);
            program.computations.insert(hash, (program.computation_names.len() - 1) as u32);
        } else {
            program.overflowed = true;
        }
        let place = program.computation_names.len().saturating_sub(1) as u32;
        if is_fused && budget.for_entry(&mut program.fused_by_name) {
            program.fused_by_name.insert(place, ());
        }
        body.names.clear();
        if body.names.capacity() > 1 << 16 {
            self.budget.give_map(&body.names);
            body.names = Map::default();
        }
        (body.computation, body.hash, body.entry) = (place, hash, entry);
    }

    /// Ends a computation: its moves are near to what is known by now.
    pub(crate) fn computation_ends(&mut self, program: &mut Program, body: &mut Body) {
        body.end_numbers(&self.budget);
        let Store { budget, sources, .. } = &*self;
        let is_line = |source: u32| sources.source(source).line > 0;
        let (seed, texts) = (self.seed, &self.texts);
        body.waiting.end(is_line, |waits| {
            if waits.key.near != Near::Nothing
                && let Some(origin) = program.origins.get_mut(&seed.of(texts.text(waits.name).as_bytes()))
            {
                (origin.near, origin.near_source) = (waits.key.near, waits.key.near_source);
            }
            if !waits.moves {
                return;
            }
            let is_held = program.moves.contains_key(&waits.key)
                || program.moves.len() < PLACES
                    && budget.for_entry(&mut program.moves)
                    && budget.take(CONCLUDING);
            if is_held {
                program.moves.entry(waits.key).or_default().add(waits.line, || waits.name);
            } else {
                program.overflowed = true;
            }
        });
        (body.entry, body.hash) = (false, 0);
    }

    /// Notes an instruction: what it makes and what it moves. The order of a transpose, where the instruction comes
    /// from and its operands are read only if they are needed.
    #[inline]
    pub(crate) fn instruction(
        &mut self,
        program: &mut Program,
        body: &mut Body,
        instruction: &Instruction<'_>,
        order: impl FnOnce(&mut Store) -> List,
        source: impl Fn(&mut Store) -> u32,
        operands: impl Fn(&mut dyn FnMut(u64)),
    ) -> Result<(), &'static str> {
        let Instruction { name, hash, key: key_of, meaning, shape, operand, line, .. } = *instruction;
        program.instructions += 1;
        if meaning.computes
            && let Some(computes) = program.computes.get_mut(body.computation as usize)
        {
            *computes = true;
        }
        let parameter = match meaning.makes {
            Makes::Parameter if body.entry => self.texts.number(name),
            _ if meaning.passes => operand.map_or(NONE, |operand| operand.parameter),
            _ => NONE,
        };
        let number = match meaning.makes {
            Makes::Parameter if !body.entry => instruction.parameter,
            _ if meaning.passes => operand.map_or(0, |operand| operand.operand),
            _ => 0,
        };
        let is_constant = instruction.is_constant;
        let mut found = None;
        if let Some(operation) = meaning.moves {
            let operand = operand.ok_or("a copy or reshape of something that is not known")?;
            let to = match meaning.makes {
                Makes::Element(number) => self.element(body, shape, number).unwrap_or(shape),
                _ => shape,
            };
            // A copy is one even if nothing differs; its table of pointers is all that is copied of a tuple.
            let copies = matches!(operation, Operation::Copy | Operation::CopyStart)
                && !self.shapes.known(to).shape.is_tuple();
            if operand.shape != to || copies {
                let order = match operation {
                    Operation::Transpose => order(self),
                    _ => EMPTY,
                };
                let source = *found.insert(source(self));
                let computation = body.computation;
                let from = operand.shape;
                let Named { parameter, operand, source: made, .. } = operand;
                let key = MoveKey {
                    operation,
                    from,
                    to,
                    order,
                    computation,
                    source,
                    parameter,
                    operand,
                    result: 0,
                    near: Near::Nothing,
                    near_source: 0,
                };
                let name = self.texts.number(name);
                if !body.waiting.add(&self.budget, key_of, Waits::new(key, line, name, made, true)) {
                    program.overflowed = true;
                }
            }
        }
        if body.entry || body.waiting.is_any() {
            self.neighbours(program, body, instruction, &mut found, &source, &operands);
        }
        if body.names.len() < NAMES && self.budget.for_entry(&mut body.names) {
            body.names.insert(key_of, Named { shape, parameter, operand: number, source: 0 });
        }
        let known = match &body.wanted {
            Some(wanted) => {
                if wanted.contains_key(&hash) {
                    let source = *found.get_or_insert_with(|| source(self));
                    let origin = Origin::new(body.computation, source);
                    if self.budget.for_entry(&mut program.origins) {
                        program.origins.insert(hash, origin);
                    }
                    // What the compiler converts by itself is for what reads it, as with its copies.
                    let is_own = meaning.makes == Makes::Value && meaning.moves.is_none() && !is_constant;
                    if is_own && self.sources.source(source).line == 0 {
                        let key = MoveKey::of_buffer(shape, body.computation, source);
                        let name = self.texts.number(name);
                        body.waiting.add(&self.budget, key_of, Waits::new(key, line, name, 0, false));
                    }
                }
                found
            }
            None => {
                let source = found.unwrap_or_else(|| source(self));
                let made = match meaning.makes {
                    Makes::Value => Some(shape),
                    Makes::Parameter => body.entry.then_some(shape),
                    Makes::Element(number) => self.element(body, shape, number),
                    Makes::Nothing => None,
                };
                self.made(program, body, instruction, made, source);
                Some(source)
            }
        };
        // What is passed on comes from where it was made, if nothing else is said.
        let passed = || operand.filter(|_| meaning.passes).map_or(0, |operand| operand.source);
        let known = known.filter(|&source| source != 0).unwrap_or_else(passed);
        if known != 0
            && let Some(named) = body.names.get_mut(&key_of)
        {
            named.source = known;
        }
        Ok(())
    }

    /// Notes what the operands of an instruction are near to, what of the program's parameters they are, and which of its
    /// results.
    fn neighbours(
        &mut self,
        program: &mut Program,
        body: &mut Body,
        instruction: &Instruction<'_>,
        found: &mut Option<u32>,
        source: &impl Fn(&mut Store) -> u32,
        operands: &impl Fn(&mut dyn FnMut(u64)),
    ) {
        let Instruction { key, meaning, is_root, .. } = *instruction;
        let is_result = is_root && body.entry;
        let is_tuple = meaning.makes == Makes::Nothing && meaning.calls == Called::Nothing && !meaning.passes;
        let mut place = 0_u32;
        let mut moved: Vec<(u32, u32)> = Vec::new();
        operands(&mut |operand| {
            if let Some(number) = body.waiting.of(operand) {
                moved.push((number, place));
            }
            if body.entry && !meaning.passes {
                let parameter = body.names.get(&operand).map_or(NONE, |named| named.parameter);
                if parameter != NONE
                    && let Some(&parameter) = body.parameters.get(&parameter)
                    && let Some(parameter) = program.parameters.get_mut(parameter as usize)
                {
                    parameter.reads = parameter.reads.saturating_add(1);
                }
            }
            place = place.saturating_add(1);
        });
        for &(number, place) in &moved {
            if is_result {
                body.waiting.is_result(number, if is_tuple { place } else { 0 });
            }
            if body.waiting.is_open(number) {
                let read = *found.get_or_insert_with(|| source(self));
                let is_line = self.sources.source(read).line > 0;
                body.waiting.is_read(number, read, is_line);
                if !is_line {
                    body.waiting.is_passed(&self.budget, number, key);
                }
            }
            if meaning.passes {
                body.waiting.is_passed(&self.budget, number, key);
            }
        }
        if is_result {
            if let Some(number) = body.waiting.of(key) {
                body.waiting.is_result(number, 0);
            }
            let shape = instruction.shape;
            let results: Vec<ShapeId> = match self.shapes.known(shape).shape.is_tuple() {
                true => self.shapes.parts(shape).to_vec(),
                false => vec![shape],
            };
            if results.len() <= GIVEN && self.budget.take(results.len() * size_of::<ShapeId>()) {
                program.results = results;
            }
        }
        if meaning.makes == Makes::Parameter && body.entry && instruction.parameter > 0 {
            let source = *found.get_or_insert_with(|| source(self));
            let name = self.texts.number(instruction.name);
            let (number, shape) = (instruction.parameter - 1, instruction.shape);
            let Program { parameters, .. } = program;
            if parameters.len() < GIVEN
                && self.budget.for_one(parameters)
                && self.budget.for_entry(&mut body.parameters)
            {
                body.parameters.insert(name, parameters.len() as u32);
                parameters.push(Parameter { name, number, shape, source, reads: 0 });
            }
        }
    }

    /// Notes an instruction that makes a buffer, where no buffer assignment says which do.
    fn made(
        &mut self,
        program: &mut Program,
        body: &Body,
        instruction: &Instruction<'_>,
        made: Option<ShapeId>,
        source: u32,
    ) {
        let Store { texts, shapes, budget, .. } = self;
        let &Instruction { name, hash, line, .. } = instruction;
        if program.origins.len() < ORIGINS && budget.for_entry(&mut program.origins) {
            program.origins.insert(hash, Origin::new(body.computation, source));
        }
        let Some(made) = made else { return };
        // What is in a tuple has a buffer each.
        let parts = if shapes.known(made).shape.is_tuple() { shapes.parts(made) } else { &[made] };
        for &shape in parts {
            let key = Made { computation: body.computation, shape, source };
            let is_held = program.made.contains_key(&key)
                || program.made.len() < PLACES
                    && budget.for_entry(&mut program.made)
                    && budget.take(CONCLUDING);
            if is_held {
                program.made.entry(key).or_default().add(line, || texts.number(name));
            } else {
                program.overflowed = true;
                // The sums stay whole: only where it comes from is lost.
                let key = Made { computation: 0, source: 0, ..key };
                if budget.for_entry(&mut program.made) {
                    program.made.entry(key).or_default().add(line, || NONE);
                }
            }
        }
    }

    fn element(&mut self, body: &mut Body, tuple: ShapeId, number: usize) -> Option<ShapeId> {
        if let Some(&element) = body.elements.get(&(tuple, number)) {
            return element;
        }
        let element = match &*self.shapes.known(tuple).shape {
            tilework::xla::Shape::Tuple(elements) => elements.get(number).cloned(),
            _ => return Some(tuple),
        };
        let element = element.and_then(|shape| self.shapes.number_of(&shape));
        if self.budget.for_entry(&mut body.elements) {
            body.elements.insert((tuple, number), element);
        }
        element
    }
}
