//! Buffers of a program, from whatever says the most about them.

use tilework::InOrder;
use tilework::xla::Shape;

use crate::audit::Audit;
use crate::find::findings::Basis;
use crate::hash::Map;
use crate::program::{Near, Program, Value};
use crate::shapes::{Cost, Known, ShapeId};
use crate::texts::{NONE, Text};

/// A buffer, or several that are alike.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) name: Text,
    pub(crate) index: Text,
    pub(crate) shape: ShapeId,
    pub(crate) space: i64,
    pub(crate) allocated: u64,
    pub(crate) data: u64,
    pub(crate) count: u64,
    pub(crate) computation: u32,
    pub(crate) source: u32,
    pub(crate) near: Near,
    pub(crate) near_source: u32,
    pub(crate) line: u64,
}

impl Entry {
    /// The line that it is from, or that it is for.
    pub(crate) fn line_source(&self, audit: &Audit) -> u32 {
        let is_line = audit.store.sources.source(self.source).line > 0;
        if is_line || self.near_source == 0 { self.source } else { self.near_source }
    }
}

/// All buffers of a program, in the order of the dump where there is one.
pub(crate) fn entries(audit: &Audit, program: &Program) -> (Basis, Vec<Entry>) {
    if !program.values.is_empty() {
        let basis = if program.has.assignment { Basis::Assignment } else { Basis::Message };
        return (basis, program.values.iter().map(|value| audit.entry_of(program, value)).collect());
    }
    let mut entries = Vec::new();
    let mut push = |audit: &Audit, shape, count, name, computation, source, line| {
        if let Some(cost) = audit.store.shapes.known(shape).leaves {
            let (allocated, data, space) = (cost.allocated, cost.data, cost.space);
            let index = NONE;
            entries.push(Entry {
                name,
                index,
                shape,
                space,
                allocated,
                data,
                count,
                computation,
                source,
                near: Near::Nothing,
                near_source: 0,
                line,
            });
        }
    };
    let mut basis = Basis::Nothing;
    if !program.made.is_empty() {
        basis = Basis::Instructions;
        let calls = program.calls();
        for (made, tally) in &program.made {
            if !calls.is_inner(made.computation) {
                push(audit, made.shape, tally.count, tally.name, made.computation, made.source, tally.line);
            }
        }
    } else if !program.loose.is_empty() {
        basis = Basis::Shapes;
        let mut first: Map<ShapeId, u64> = Map::default();
        for (&shape, tally) in &program.loose {
            let line = first.entry(audit.store.shapes.known(shape).same_as).or_insert(tally.line);
            *line = tally.line.min(*line);
        }
        for (shape, line) in first {
            push(audit, shape, 1, NONE, 0, 0, line);
        }
    }
    // A map has no order, and the same text must give the same answer.
    entries.order_by_key(|entry| (entry.line, entry.shape, entry.source));
    (basis, entries)
}

impl Audit {
    pub(crate) fn entry_of(&self, program: &Program, value: &Value) -> Entry {
        let known = self.store.shapes.known(value.shape);
        // Of what has no shape, all is taken to be data.
        let unknown = Cost { data: u64::MAX, ..Cost::default() };
        let cost = match &*known.shape {
            Shape::Opaque => unknown,
            _ => known.cost_of(value).unwrap_or_default(),
        };
        let origin = program.origins.get(&self.store.seed.of(self.store.texts.text(value.name).as_bytes()));
        // What is rounded is exact where the layout says the same; what is supposed was not in the dump.
        let is_computed = known.supposed || (value.rounded && is_near(value.size, cost.allocated));
        let allocated = if is_computed { cost.allocated } else { value.size };
        let source = if value.source != 0 { value.source } else { origin.map_or(0, |origin| origin.source) };
        Entry {
            name: value.name,
            index: value.index,
            shape: value.shape,
            space: value.space,
            allocated,
            data: cost.data.min(allocated),
            count: 1,
            computation: origin.map_or(0, |origin| origin.computation),
            source,
            near: origin.map_or(Near::Nothing, |origin| origin.near),
            near_source: origin.map_or(0, |origin| origin.near_source),
            line: value.line,
        }
    }
}

/// Whether a size that was printed with two decimals can be this one.
pub(crate) fn is_near(printed: u64, exact: u64) -> bool {
    printed.abs_diff(exact) <= (exact / 128).max(1 << 7)
}

impl Known {
    /// What a buffer costs: to a message, a tuple is all that is in it.
    pub(crate) fn cost_of(&self, value: &Value) -> Option<Cost> {
        if value.rounded { self.leaves } else { self.cost }
    }
}
