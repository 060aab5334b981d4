//! Whole numbers of a computation while it is read, and the loops whose turns they count.

use tilework::Element;

use crate::budget::{Budget, PIECE};
use crate::program::{Program, Times};
use crate::read::instruction::Body;
use crate::read::trips::{Does, Scalar, Turns, after};
use crate::shapes::ShapeId;
use crate::store::Store;

/// The most whole numbers of one computation that are followed, and the most computations whose root is known.
const NUMBERS: usize = 1 << 16;

/// The most loops whose turns depend on what their computation is given.
const OPEN: usize = 1 << 16;

/// A loop that was read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loop {
    /// What operands call it.
    pub(crate) key: u64,
    /// The hashes of the names of its condition and its body.
    pub(crate) condition: u64,
    pub(crate) callee: u64,
    /// What it is called with.
    pub(crate) init: Option<u64>,
    /// How often the dump says it runs.
    pub(crate) says: Option<u64>,
}

impl Does {
    /// That of an operation whose name says it all.
    pub(crate) fn of(operation: &[u8]) -> Option<Does> {
        Some(match operation {
            b"tuple" => Does::Tuple,
            b"add" => Does::Add,
            b"subtract" => Does::Subtract,
            b"negate" => Does::Negate,
            b"not" => Does::Not,
            b"fusion" | b"call" => Does::Calls,
            b"copy"
            | b"copy-start"
            | b"copy-done"
            | b"bitcast"
            | b"reshape"
            | b"convert"
            | b"optimization-barrier"
            | b"broadcast"
            | b"domain" => Does::Same,
            _ => return None,
        })
    }
}

impl Store {
    /// Whether values of this shape may be whole numbers, or have some in them.
    pub(crate) fn is_number(&self, shape: ShapeId) -> bool {
        let shape = &*self.shapes.known(shape).shape;
        match shape.as_array() {
            Some(array) => {
                let element = array.element_type();
                array.dims().is_empty() && (element.is_integer() || element == Element::Pred)
            }
            None => shape.is_tuple(),
        }
    }

    /// Notes what a value is, if it is a whole number or has some in it.
    pub(crate) fn follow<I: Iterator<Item = u64>>(
        &self,
        body: &mut Body,
        (key, shape, is_root): (u64, ShapeId, bool),
        does: Does,
        called: Option<u64>,
        operands: impl Fn() -> I,
    ) {
        let value = match does {
            Does::Parameter(number) => {
                Some(Scalar::parameter(number, self.shapes.known(shape).shape.is_tuple()))
            }
            Does::Constant(_) => Scalar::made(does, &[]),
            _ if body.numbers.is_empty() => None,
            _ => {
                let operands: Vec<Option<Scalar>> =
                    operands().map(|operand| body.numbers.get(&operand).cloned()).collect();
                match does {
                    Does::Calls => called
                        .and_then(|called| body.roots.get(&called))
                        .and_then(|root| root.called_with(&operands)),
                    _ => Scalar::made(does, &operands),
                }
            }
        };
        let Some(value) = value else { return };
        if is_root && body.hash != 0 && body.roots.len() < NUMBERS && self.budget.for_entry(&mut body.roots) {
            let bytes = value.bytes();
            if bytes == 0 || self.budget.take(bytes) {
                body.rooted += bytes;
                body.roots.insert(body.hash, value.clone());
            }
        }
        self.is_value(body, key, value);
    }

    fn is_value(&self, body: &mut Body, key: u64, value: Scalar) {
        let bytes = value.bytes();
        if body.numbers.len() < NUMBERS
            && self.budget.for_entry(&mut body.numbers)
            && (bytes == 0 || self.budget.take(bytes))
        {
            body.tuples += bytes;
            body.numbers.insert(key, value);
        }
    }

    /// Notes the call of a loop, and how often it runs.
    pub(crate) fn turns(&self, program: &mut Program, body: &mut Body, own: Loop) {
        let init = own.init.and_then(|init| body.numbers.get(&init).cloned());
        let root = |name: u64| body.roots.get(&name).cloned();
        let inner = root(own.callee);
        let turns = init
            .as_ref()
            .zip(inner.as_ref())
            .and_then(|(init, inner)| Turns::of(&root(own.condition)?, inner, init));
        let count = own.says.or_else(|| turns?.count());
        let call = self.call(program, body.computation, own.callee, Times::Loop(count));
        if let (None, Some(turns), Some(call)) = (count, turns, call) {
            self.open(body, body.hash, call, turns);
        }
        let (Some(init), Some(inner)) = (init, inner) else { return };
        // What its body is given is known now, and with it perhaps how often loops in it run.
        for (call, turns) in body.open.remove(&own.callee).unwrap_or_default() {
            let Some(turns) = turns.within(&inner, &init) else { continue };
            match turns.count() {
                Some(count) => {
                    if let Some(call) = program.calls.get_mut(call) {
                        call.times = Times::Loop(Some(count));
                    }
                }
                None => self.open(body, body.hash, call, turns),
            }
        }
        if let Some(value) = after(&inner, &init, count) {
            self.is_value(body, own.key, value);
        }
    }

    fn open(&self, body: &mut Body, computation: u64, call: usize, turns: Turns) {
        let Body { open, .. } = body;
        if open.len() >= OPEN || !self.budget.for_entry(open) {
            return;
        }
        let list = open.entry(computation).or_default();
        if list.len() < OPEN && self.budget.for_one(list) {
            list.push((call, turns));
        }
    }
}

impl Scalar {
    /// What its tuples take.
    fn bytes(&self) -> usize {
        match self {
            Scalar::Tuple(elements) => size_of_val::<[Option<Scalar>]>(elements) + PIECE,
            _ => 0,
        }
    }
}

impl Body {
    /// Forgets the numbers of a computation.
    pub(crate) fn end_numbers(&mut self, budget: &Budget) {
        self.numbers.clear();
        budget.give(std::mem::take(&mut self.tuples));
    }

    /// Gives back what numbers take.
    pub(crate) fn give_numbers(&self, budget: &Budget) {
        budget.give(self.rooted);
        budget.give_map(&self.numbers);
        budget.give_map(&self.roots);
        budget.give_map(&self.open);
    }
}
