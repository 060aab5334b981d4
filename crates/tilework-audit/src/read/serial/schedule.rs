//! When the values of a serialised module live: what the compiler writes into `*live-range.txt`, from the order in which
//! its instructions run.
//!
//! 1. The computations are put into one sequence: those that an instruction calls stand before it, the condition of a loop
//!    before its body. An instruction's place in it is its time.
//! 2. A value lives from the instruction that makes it to the last one that reads it, under whatever name: as an element
//!    of a tuple, as a parameter, as the value of a computation. The value of a computation lives to its end, an argument
//!    of the program to the end of all.
//! 3. Values at the same place are one after the other: where one begins, the one before it ends, and one that would end
//!    earlier than the one before it ends with it. So the values of a loop follow one another.

use crate::budget::Budget;
use crate::hash::Map;
use crate::read::serial::graph::{Flow, Graph, Node};
use crate::read::serial::ways::{WHOLE, Ways};
use crate::shapes::Shapes;
use tilework::InOrder;

/// What stands for a time that is not known.
const NEVER: u32 = u32::MAX;

/// The most steps from value to value, over all of them: some, and some for each instruction and operand.
const STEPS: u64 = 1 << 22;
const STEPS_OF_EACH: u64 = 1 << 6;

/// The order in which the instructions of a module run.
#[derive(Debug)]
pub(crate) struct Schedule<'a> {
    pub(crate) graph: &'a Graph,
    /// The instructions by time.
    pub(crate) order: Vec<u32>,
    /// The time of each instruction.
    times: Vec<u32>,
    /// From when to when computations run.
    spans: Map<u32, (u32, u32)>,
    /// Computations that run meanwhile: the instruction that starts them, and the one that waits for their end.
    meanwhile: Map<u32, (u32, u32)>,
    users: Vec<User>,
    /// The instructions that call a computation.
    callers: Map<u32, Vec<u32>>,
}

/// An instruction that takes the value of another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct User {
    of: u32,
    /// The element of the tuple that it takes, and [`NEVER`] if it takes all.
    element: u32,
    user: u32,
    operand: u32,
}

/// A value that lies in memory: which part of which instruction's value it is, and where it lies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stored {
    pub(crate) node: u32,
    pub(crate) way: u32,
    pub(crate) allocation: u32,
    pub(crate) offset: u64,
    /// Whether it is an argument in whose place no result comes to lie.
    pub(crate) is_kept: bool,
}

/// What is left to do of putting computations into one sequence.
enum Step {
    Enter(u32),
    Visit(u32),
    Run(u32),
    Leave(u32),
}

impl<'a> Schedule<'a> {
    /// Puts everything that the entry computation runs into one sequence (rule 1).
    pub(crate) fn new(graph: &'a Graph, entry: u32, sequences: &Map<u32, &[i64]>) -> Schedule<'a> {
        let mut schedule = Schedule {
            graph,
            order: Vec::new(),
            times: vec![NEVER; graph.nodes.len()],
            spans: Map::default(),
            meanwhile: Map::default(),
            users: users(graph),
            callers: callers(graph),
        };
        let mut steps = vec![Step::Enter(entry)];
        while let Some(step) = steps.pop() {
            let now = schedule.order.len() as u32;
            match step {
                Step::Enter(computation) => {
                    let Some(sequence) = sequences.get(&computation) else { continue };
                    if schedule.spans.contains_key(&computation) {
                        continue;
                    }
                    schedule.spans.insert(computation, (now, now));
                    steps.push(Step::Leave(computation));
                    let nodes = sequence.iter().rev().filter_map(|&id| graph.number(id));
                    steps.extend(nodes.map(Step::Visit));
                }
                Step::Visit(number) => {
                    steps.push(Step::Run(number));
                    let Some(node) = graph.at(number) else { continue };
                    if matches!(node.flow, Flow::AsyncStart) {
                        let both = (number, schedule.waits_for(number));
                        schedule.meanwhile.extend(graph.calls(node).map(|called| (called, both)));
                    }
                    match node.flow {
                        // The body is named first and runs last.
                        Flow::While => steps.extend(graph.calls(node).map(Step::Enter)),
                        Flow::Call | Flow::Conditional | Flow::AsyncStart => {
                            let called: Vec<u32> = graph.calls(node).collect();
                            steps.extend(called.into_iter().rev().map(Step::Enter));
                        }
                        _ => {}
                    }
                }
                Step::Run(number) => {
                    if let Some(time) = schedule.times.get_mut(number as usize).filter(|time| **time == NEVER)
                    {
                        *time = now;
                        schedule.order.push(number);
                    }
                }
                Step::Leave(computation) => {
                    schedule.spans.entry(computation).and_modify(|span| span.1 = now);
                }
            }
        }
        schedule
    }

    /// From when to when each of these values lives (rules 2 and 3); none of what never runs. None at all if it would take
    /// too long to find out.
    pub(crate) fn lives(
        &self,
        values: &[Stored],
        shapes: &Shapes,
        ways: &mut Ways,
        budget: &Budget,
    ) -> Option<Vec<Option<(u32, u32)>>> {
        let left = STEPS + STEPS_OF_EACH * (self.users.len() + self.times.len()) as u64;
        let mut following =
            Following { schedule: self, shapes, ways, budget, seen: Map::default(), open: Vec::new(), left };
        for value in values {
            if !budget.for_entry(&mut following.seen) {
                return None;
            }
            following.seen.insert((value.node, value.way), ());
        }
        let mut lives = Vec::with_capacity(values.len());
        for value in values {
            let read = following.last(value)?;
            lives.push(self.born(value).map(|(start, end)| (start, end.max(read))));
        }
        let mut order: Vec<usize> = (0..values.len()).filter(|&number| lives[number].is_some()).collect();
        let place = |number: usize| (values[number].allocation, values[number].offset);
        order.order_by_key(|&number| (place(number), lives[number], number));
        for same in order.chunk_by(|&a, &b| place(a) == place(b)) {
            for pair in same.windows(2) {
                let (Some(first), Some(next)) = (lives[pair[0]], lives[pair[1]]) else { continue };
                lives[pair[1]] = Some((next.0, next.1.max(first.1)));
                lives[pair[0]] = Some((first.0, first.1.min(next.0)));
            }
        }
        Some(lives)
    }

    /// When a value comes to be, and until when it is there although nobody reads it.
    fn born(&self, value: &Stored) -> Option<(u32, u32)> {
        let node = self.graph.at(value.node)?;
        let (begins, ends) = *self.spans.get(&node.computation)?;
        let time = self.time(value.node)?;
        let is_parameter = matches!(node.flow, Flow::Parameter(_));
        let mut start = if is_parameter { begins } else { time };
        let mut end = if self.graph.root(node.computation) == Some(value.node) { ends } else { time };
        if let Some(&(starts, done)) = self.meanwhile.get(&node.computation) {
            start = self.time(starts).unwrap_or(start);
            end = end.max(self.time(done).unwrap_or(end));
        }
        if is_parameter && value.is_kept {
            end = self.order.len() as u32;
        }
        Some((start, end))
    }

    fn time(&self, node: u32) -> Option<u32> {
        self.times.get(node as usize).copied().filter(|&time| time != NEVER)
    }

    /// The instruction that ends what this one starts.
    fn waits_for(&self, start: u32) -> u32 {
        let mut at = start;
        for _ in 0..64 {
            let next = self.users(at, NEVER).iter().find_map(|user| {
                let flow = self.graph.at(user.user)?.flow;
                matches!(flow, Flow::Done | Flow::Same).then_some((user.user, flow))
            });
            match next {
                Some((done, Flow::Done)) => return done,
                Some((update, _)) => at = update,
                None => break,
            }
        }
        NEVER
    }

    /// Those that take this element of a value, or all of it.
    fn users(&self, of: u32, element: u32) -> &[User] {
        let start = self.users.partition_point(|user| (user.of, user.element) < (of, element));
        let rest = &self.users[start..];
        &rest[..rest.partition_point(|user| (user.of, user.element) == (of, element))]
    }

    /// Those that take any element of a value.
    fn users_of_elements(&self, of: u32) -> &[User] {
        let start = self.users.partition_point(|user| user.of < of);
        let rest = &self.users[start..];
        &rest[..rest.partition_point(|user| (user.of, user.element) < (of, NEVER))]
    }
}

fn users(graph: &Graph) -> Vec<User> {
    let mut users = Vec::new();
    for (number, node) in graph.nodes.iter().enumerate() {
        let element = if let Flow::Element(element) = node.flow { element } else { NEVER };
        for (operand, of) in graph.operands(node).enumerate() {
            if let Some(of) = of {
                users.push(User { of, element, user: number as u32, operand: operand as u32 });
            }
        }
    }
    users.order();
    users
}

fn callers(graph: &Graph) -> Map<u32, Vec<u32>> {
    let mut callers: Map<u32, Vec<u32>> = Map::default();
    for (number, node) in graph.nodes.iter().enumerate() {
        if matches!(node.flow, Flow::While | Flow::Call | Flow::Conditional | Flow::AsyncStart) {
            for called in graph.calls(node) {
                callers.entry(called).or_default().push(number as u32);
            }
        }
    }
    callers
}

/// Values on their way through other instructions.
struct Following<'a, 'b> {
    schedule: &'a Schedule<'a>,
    shapes: &'b Shapes,
    ways: &'b mut Ways,
    budget: &'b Budget,
    /// What is a value of its own, and what was found to be the value of something else.
    seen: Map<(u32, u32), ()>,
    /// What is still to be followed of the value that is.
    open: Vec<(u32, u32)>,
    /// Steps that may still be taken.
    left: u64,
}

impl Drop for Following<'_, '_> {
    fn drop(&mut self) {
        self.budget.give_map(&self.seen);
        self.budget.give_list(&self.open);
    }
}

impl Following<'_, '_> {
    /// When a value is read the last time, or stops to be the value of a computation; 0 if never. None if there is no end
    /// of it.
    fn last(&mut self, value: &Stored) -> Option<u32> {
        let schedule = self.schedule;
        let mut last = 0;
        let mut next = Some((value.node, value.way));
        while let Some((number, way)) = next.or_else(|| self.open.pop()) {
            next = None;
            let node = schedule.graph.at(number)?;
            if schedule.graph.root(node.computation) == Some(number) {
                let span = schedule.spans.get(&node.computation);
                last = last.max(span.map_or(0, |span| span.1));
                self.leave(node.computation, way)?;
            }
            let first = self.ways.way(way).first().copied();
            let elements = match first {
                None => schedule.users_of_elements(number),
                Some(element) => schedule.users(number, element),
            };
            for user in schedule.users(number, NEVER).iter().chain(elements) {
                self.step()?;
                let Some(used) = schedule.graph.at(user.user) else { continue };
                if let Some(time) = self.read(used, user.user, way) {
                    last = last.max(time);
                }
                self.pass(used, user, way)?;
            }
        }
        Some(last)
    }

    fn step(&mut self) -> Option<()> {
        self.left = self.left.checked_sub(1)?;
        Some(())
    }

    /// When an instruction reads this part of its operand.
    fn read(&self, node: &Node, number: u32, way: u32) -> Option<u32> {
        let graph = self.schedule.graph;
        match node.flow {
            Flow::Tuple => None,
            Flow::Element(_) | Flow::Copy if way != WHOLE => None,
            // What a loop begins with is there until its body begins.
            Flow::While => self.schedule.time(graph.parameter(graph.calls(node).next()?, 0)?),
            _ => self.schedule.time(number),
        }
    }

    /// What else this part of an operand is then the value of.
    fn pass(&mut self, node: &Node, user: &User, way: u32) -> Option<()> {
        let graph = self.schedule.graph;
        let (number, operand) = (user.user, user.operand);
        let same = match node.flow {
            Flow::Read | Flow::Parameter(_) => None,
            Flow::Tuple => self.ways.within(&[operand], way),
            Flow::Element(element) => self.ways.out_of(element, way),
            Flow::Same => (operand == 0).then_some(way),
            Flow::Copy => (way != WHOLE).then_some(way),
            Flow::CopyStart => self.ways.within(&[1], way),
            Flow::CopyDone => self.ways.out_of(0, way),
            Flow::Done => self.ways.out_of(1, way),
            Flow::Start if graph.operands(node).nth(1).is_none() => self.ways.within(&[0], way),
            Flow::Start | Flow::AsyncStart => self.ways.within(&[0, operand], way),
            Flow::While => Some(way),
            Flow::Call | Flow::Conditional => None,
        };
        if let Some(same) = same {
            self.open(number, same)?;
        }
        match node.flow {
            Flow::While => {
                for called in graph.calls(node) {
                    self.step()?;
                    self.enter(called, 0, way)?;
                }
            }
            Flow::Call | Flow::AsyncStart => {
                for called in graph.calls(node) {
                    self.step()?;
                    self.enter(called, operand, way)?;
                }
            }
            Flow::Conditional => {
                let called = operand.checked_sub(1).and_then(|branch| graph.call(node, branch));
                if let Some(called) = called {
                    self.enter(called, 0, way)?;
                }
            }
            _ => {}
        }
        Some(())
    }

    /// What the value of a computation is the value of besides.
    fn leave(&mut self, computation: u32, way: u32) -> Option<()> {
        let schedule = self.schedule;
        for &caller in schedule.callers.get(&computation).into_iter().flatten() {
            self.step()?;
            let Some(node) = schedule.graph.at(caller) else { continue };
            match node.flow {
                Flow::While => {
                    let mut called = schedule.graph.calls(node);
                    // The value of the condition goes nowhere.
                    if called.next() == Some(computation) {
                        self.open(caller, way)?;
                        self.enter(computation, 0, way)?;
                        if let Some(condition) = called.next() {
                            self.enter(condition, 0, way)?;
                        }
                    }
                }
                Flow::AsyncStart => {
                    if let Some(way) = self.ways.within(&[1], way) {
                        self.open(caller, way)?;
                    }
                }
                _ => self.open(caller, way)?,
            }
        }
        Some(())
    }

    fn enter(&mut self, computation: u32, parameter: u32, way: u32) -> Option<()> {
        match self.schedule.graph.parameter(computation, parameter) {
            Some(node) => self.open(node, way),
            None => Some(()),
        }
    }

    fn open(&mut self, node: u32, way: u32) -> Option<()> {
        let shape = self.schedule.graph.at(node).and_then(|node| node.shape);
        let is_there = shape.is_some_and(|shape| self.shapes.part(shape, self.ways.way(way)).is_some());
        if is_there && !self.seen.contains_key(&(node, way)) {
            let Following { budget, seen, open, .. } = self;
            if !(budget.for_entry(seen) && budget.for_one(open)) {
                return None;
            }
            seen.insert((node, way), ());
            open.push((node, way));
        }
        Some(())
    }
}
