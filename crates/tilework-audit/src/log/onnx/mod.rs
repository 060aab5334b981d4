//! Models of ONNX: which Transposes are in the graph, and which of them need not be.
//!
//! A `ModelProto` is read field by field. Of weights, names and sizes are read and not the numbers.

mod fold;
mod graph;
mod wire;

use std::io::{self, BufRead};

use tilework::Layout;

use super::logged::{LogKind, Role};
use super::{Array, ArrayId, MoveKey, Part, Step, bytes};
use crate::hash::Map;
use crate::read::Reading;
use crate::texts::{NONE, Text};
use fold::{Folding, Mover};
use graph::{Graph, Known, LIMIT, Node, RANK, Tensor, What, is_order, keeps_type};
use wire::{Field, Piece, Wire, numbers, pieces};

/// Names, attributes and descriptions of tensors are shorter, or are passed over.
const LONGEST: u64 = 1 << 16;

/// No operation has more inputs or outputs that are looked at.
const ENDS: usize = 1 << 16;

/// No name is shown longer.
const NAME: usize = 120;

/// Element types by their numbers in a model, with their bits.
const TYPES: [(u64, &str, u32); 20] = [
    (1, "float32", 32),
    (2, "uint8", 8),
    (3, "int8", 8),
    (4, "uint16", 16),
    (5, "int16", 16),
    (6, "int32", 32),
    (7, "int64", 64),
    (9, "bool", 8),
    (10, "float16", 16),
    (11, "float64", 64),
    (12, "uint32", 32),
    (13, "uint64", 64),
    (14, "complex64", 64),
    (15, "complex128", 128),
    (16, "bfloat16", 16),
    (17, "float8_e4m3fn", 8),
    (18, "float8_e4m3fnuz", 8),
    (19, "float8_e5m2", 8),
    (20, "float8_e5m2fnuz", 8),
    (22, "int4", 4),
];

/// Whether bytes begin like a model: its version as field 1, then the name of what wrote it, what it imports or the graph.
pub(crate) fn begins(start: &[u8]) -> bool {
    let [0x08, version, tag, rest @ ..] = start else { return false };
    let is_text = |length: u8, rest: &[u8]| {
        let text = rest.get(..usize::from(length));
        text.is_some_and(|text| text.iter().all(|byte| byte.is_ascii_graphic() || *byte == b' '))
    };
    (1..=32).contains(version)
        && match (*tag, rest) {
            (0x12 | 0x1a, [length, rest @ ..]) => *length < 96 && is_text(*length, rest),
            // A graph begins with a node or its name, and an import with a domain or a version.
            (0x3a, rest) => {
                let length = rest.iter().take(10).position(|byte| *byte < 0x80);
                let first = length.and_then(|length| rest.get(length + 1));
                matches!(first, Some(0x0a | 0x12))
            }
            (0x42, [_, 0x0a | 0x10, ..]) => true,
            _ => false,
        }
}

impl Reading<'_> {
    /// Reads a model to its end.
    pub(crate) fn onnx(&mut self, input: &mut dyn BufRead) -> io::Result<()> {
        let mut wire = Wire::new(input);
        let mut graph = Graph::default();
        let outcome = self.onnx_model(&mut wire, &mut graph);
        self.bytes += wire.at;
        if outcome.is_ok() && graph.connect(&self.store.budget) {
            self.onnx_ends(&graph);
        }
        graph.given_back(&self.store.budget);
        outcome
    }

    fn onnx_model(&mut self, wire: &mut Wire<&mut dyn BufRead>, graph: &mut Graph) -> io::Result<()> {
        let mut text = Vec::new();
        let mut writer = String::new();
        let is_whole = loop {
            let start = wire.at;
            let Some((number, field)) = wire.field()? else { break wire.at == start };
            let Field::Bytes(length) = field else { continue };
            let end = wire.at.saturating_add(length);
            let is_whole = match number {
                2 | 3 if length <= NAME as u64 => {
                    let is_whole = wire.bytes(length, &mut text)?;
                    if !writer.is_empty() && !text.is_empty() {
                        writer.push(' ');
                    }
                    writer.push_str(&String::from_utf8_lossy(&text));
                    is_whole
                }
                7 => self.onnx_graph(wire, graph, end)?,
                25 => {
                    self.store.complaints.add_at(
                        wire.at as usize,
                        "a function of an ONNX model, in which no Transpose is looked for",
                    );
                    wire.pass(length)?
                }
                _ => wire.pass(length)?,
            };
            if !is_whole || self.store.budget.is_exceeded() {
                break is_whole;
            }
        };
        if !is_whole {
            self.store.complaints.add_at(wire.at as usize, "an ONNX model that ends in the middle");
        }
        if self.store.budget.is_exceeded() {
            return Err(self.store.lack());
        }
        self.logs.of(self.store, self.name, LogKind::Onnx).writer =
            self.store.texts.number(writer.as_bytes());
        Ok(())
    }

    /// Reads the graph up to this place; false if the file ends before.
    fn onnx_graph(
        &mut self,
        wire: &mut Wire<&mut dyn BufRead>,
        graph: &mut Graph,
        end: u64,
    ) -> io::Result<bool> {
        let mut text = Vec::new();
        while wire.at < end {
            let Some((number, field)) = wire.field()? else { return Ok(false) };
            let Field::Bytes(length) = field else { continue };
            let field_end = wire.at.saturating_add(length);
            let is_whole = match number {
                1 => self.onnx_node(wire, graph, field_end)?,
                5 => self.onnx_weights(wire, graph, field_end)?,
                11..=13 if length <= LONGEST => {
                    let is_whole = wire.bytes(length, &mut text)?;
                    self.onnx_tensor(graph, number, &text);
                    is_whole
                }
                _ => wire.pass(length)?,
            };
            if !is_whole || self.store.budget.is_exceeded() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn onnx_node(
        &mut self,
        wire: &mut Wire<&mut dyn BufRead>,
        graph: &mut Graph,
        end: u64,
    ) -> io::Result<bool> {
        let at = wire.at as usize;
        let (mut reads, mut makes): (Vec<Tensor>, Vec<Tensor>) = Default::default();
        let (mut name, mut operation, mut what, mut keeps) = (NONE, NONE, What::Other, true);
        let (mut order, mut text) = (None, Vec::new());
        while wire.at < end {
            let Some((number, field)) = wire.field()? else { return Ok(false) };
            let Field::Bytes(length) = field else { continue };
            if !matches!(number, 1..=5) || length > LONGEST {
                if !wire.pass(length)? {
                    return Ok(false);
                }
                continue;
            }
            if !wire.bytes(length, &mut text)? {
                return Ok(false);
            }
            match number {
                // An input without a name is one that is left out.
                1 | 2 => {
                    let list = if number == 1 { &mut reads } else { &mut makes };
                    if list.len() < ENDS {
                        list.push(if text.is_empty() { 0 } else { self.store.seed.of(&text).max(1) });
                    }
                }
                3 => name = self.store.texts.number(shortened(&text)),
                4 => {
                    (what, keeps) = (What::of(&text), keeps_type(&text));
                    operation = self.store.texts.number(shortened(&text));
                }
                _ => {
                    let (own, has_graph) = attribute(&text);
                    order = order.or(own);
                    if has_graph {
                        self.store.complaints.add_at(
                            at,
                            "a graph within an operation (If, Loop, Scan), in which no Transpose is looked for",
                        );
                    }
                }
            }
        }
        let is_wrong = order.as_ref().is_some_and(|order| !is_order(order));
        if what == What::Transpose && is_wrong {
            self.store.complaints.add_at(at, "a Transpose whose perm is no order of dimensions");
            what = What::Other;
        }
        let order = order.filter(|_| what == What::Transpose);
        let order = order.map(|order| order.iter().map(|&dim| dim as u8).collect());
        let budget = &self.store.budget;
        let bytes = 8 * (reads.len() + makes.len()) + 64;
        if graph.nodes.len() >= LIMIT {
            self.logs.of(self.store, self.name, LogKind::Onnx).overflowed = true;
        } else if budget.for_one(&mut graph.nodes) && graph.take(budget, bytes) {
            let (reads, makes) = (reads.into(), makes.into());
            graph.nodes.push(Node { what, operation, name, reads, makes, order, keeps_type: keeps });
        }
        Ok(true)
    }

    /// Weights: the name, the type and the sizes.
    fn onnx_weights(
        &mut self,
        wire: &mut Wire<&mut dyn BufRead>,
        graph: &mut Graph,
        end: u64,
    ) -> io::Result<bool> {
        let (mut tensor, mut known, mut sizes, mut text) = (0, Known::default(), Vec::new(), Vec::new());
        while wire.at < end {
            let Some((number, field)) = wire.field()? else { return Ok(false) };
            match (number, field) {
                (1, Field::Number(size)) => sizes.push(size),
                (2, Field::Number(element)) => known.element = element,
                (1 | 8, Field::Bytes(length)) if length <= LONGEST => {
                    if !wire.bytes(length, &mut text)? {
                        return Ok(false);
                    }
                    match number {
                        1 => numbers(Piece::Bytes(&text), &mut sizes),
                        _ => tensor = self.store.seed.of(&text).max(1),
                    }
                }
                (_, Field::Bytes(length)) if !wire.pass(length)? => return Ok(false),
                _ => {}
            }
        }
        known.sizes = (sizes.len() <= RANK).then(|| sizes.iter().map(|&size| (size, NONE)).collect());
        let budget = &self.store.budget;
        let fits = budget.for_entry(&mut graph.constants) && budget.for_entry(&mut graph.known);
        if fits && graph.take(budget, 16 * RANK) {
            graph.constants.insert(tensor, ());
            graph.known.insert(tensor, known);
        }
        Ok(true)
    }

    /// What is said of an input, an output or a tensor between.
    fn onnx_tensor(&mut self, graph: &mut Graph, number: u64, text: &[u8]) {
        let (mut tensor, mut known) = (0, Known::default());
        for (field, piece) in pieces(text) {
            match (field, piece) {
                (1, Piece::Bytes(name)) => tensor = self.store.seed.of(name).max(1),
                (2, Piece::Bytes(kind)) => {
                    let own = pieces(kind).find_map(|(field, piece)| match (field, piece) {
                        (1, Piece::Bytes(own)) => Some(own),
                        _ => None,
                    });
                    known = self.onnx_type(own.unwrap_or(b""));
                }
                _ => {}
            }
        }
        let budget = &self.store.budget;
        let ends = match number {
            11 => Some(&mut graph.inputs),
            12 => Some(&mut graph.outputs),
            _ => None,
        };
        if let Some(ends) = ends
            && budget.for_entry(ends)
        {
            ends.insert(tensor, ());
        }
        if budget.for_entry(&mut graph.known) && graph.take(budget, 16 * RANK) {
            // Weights are listed as inputs too in old models.
            graph.known.entry(tensor).or_insert(known);
        }
    }

    fn onnx_type(&mut self, text: &[u8]) -> Known {
        let mut known = Known::default();
        for (field, piece) in pieces(text) {
            match (field, piece) {
                (1, Piece::Number(element)) => known.element = element,
                (2, Piece::Bytes(shape)) => {
                    let mut sizes = Vec::new();
                    for (_, piece) in pieces(shape).filter(|(field, _)| *field == 1).take(RANK + 1) {
                        let Piece::Bytes(dim) = piece else { continue };
                        let size = pieces(dim).find_map(|(field, piece)| match (field, piece) {
                            // A negative one is not known either.
                            (1, Piece::Number(size)) if size < 1 << 62 => Some((size, NONE)),
                            (2, Piece::Bytes(name)) => Some((1, self.store.texts.number(shortened(name)))),
                            _ => None,
                        });
                        sizes.push(size.unwrap_or_else(|| (1, self.store.texts.number(b"?"))));
                    }
                    known.sizes = (sizes.len() <= RANK).then(|| sizes.into());
                }
                _ => {}
            }
        }
        known
    }

    /// Concludes from a graph when all of it was read.
    fn onnx_ends(&mut self, graph: &Graph) {
        let mut movers: Map<u32, Mover> = Map::default();
        let mut open: Vec<Text> = Vec::new();
        for (number, node) in graph.nodes.iter().enumerate() {
            let line = number as u64 + 1;
            let order = (node.what == What::Transpose).then(|| graph.transposed(number)).flatten();
            let ends = node.reads.first().copied().zip(node.makes.first().copied());
            let sizes = ends.and_then(|(from, _)| graph.known.get(&from)?.sizes.as_deref());
            let is_idle = order.as_ref().is_some_and(|order| is_idle(order, sizes.unwrap_or(&[])));
            let log = self.logs.of(self.store, self.name, LogKind::Onnx);
            let is_move = node.what == What::Transpose && !is_idle;
            log.idle += u64::from(is_idle);
            let mut moves = None;
            if let (true, Some((from, to))) = (is_move, ends) {
                let texts = &mut self.store.texts;
                let mut array = |tensor: Tensor| {
                    let known = graph.known.get(&tensor);
                    let format = graph.orders.get(&tensor).map_or_else(
                        || {
                            // Both have as many dimensions as change places.
                            let rank = graph.rank(tensor).or(order.as_ref().map(|order| order.len()));
                            rank.map(|rank| (0..rank as u8).collect::<Vec<u8>>())
                        },
                        |order| Some(order.to_vec()),
                    );
                    let format = format.map_or("an unknown order".to_owned(), |order| {
                        let dims: Vec<String> = order.iter().map(u8::to_string).collect();
                        format!("order ({})", dims.join(", "))
                    });
                    let element = known.and_then(|known| TYPES.iter().find(|own| own.0 == known.element));
                    let sizes = known.and_then(|known| known.sizes.as_deref());
                    let words = sizes.map(|sizes| {
                        let words = sizes.iter().map(|&(size, name)| match name {
                            NONE => size.to_string(),
                            name => {
                                if !open.contains(&name) && open.len() < 8 {
                                    open.push(name);
                                }
                                format!("({})", texts.text(name))
                            }
                        });
                        words.collect::<Vec<String>>().join("x")
                    });
                    Array {
                        format: texts.number(format.as_bytes()),
                        element: element.map_or(NONE, |own| texts.number(own.1.as_bytes())),
                        sizes: words.map_or(NONE, |words| texts.number(words.as_bytes())),
                        bytes: known.and_then(tensor_bytes),
                    }
                };
                let (from, mut to) = (array(from), array(to));
                // What it makes is as large as what it reads.
                (to.bytes, to.element) =
                    (to.bytes.or(from.bytes), if to.element == NONE { from.element } else { to.element });
                moves = log.array(&self.store.budget, from).zip(log.array(&self.store.budget, to));
            }
            let hash = self.store.seed.of(&line.to_le_bytes());
            let arrays: Box<[(Part, ArrayId)]> = match moves {
                Some((from, to)) => Box::new([(Part::Input, from), (Part::Output, to)]),
                None => Box::default(),
            };
            let step =
                Step { operation: node.operation, arrays, moves, name: node.name, way: None, loops: 0 };
            let Some(step) = log.step(&self.store.budget, hash, step) else { return };
            log.runs[step as usize].add(None, line, node.name);
            if let (Some((from, to)), Some((reads, makes))) = (moves, ends) {
                let (before, after) = (before(graph, reads), after(graph, makes));
                let role = match (before, after) {
                    (_, Some(_)) if graph.constants.contains_key(&reads) => Role::Weights,
                    (Some(_), Some(_)) => Role::Between,
                    (None, Some(_)) => Role::Input,
                    (Some(_), None) => Role::Output,
                    (None, None) => Role::Unknown,
                };
                let words = |number: Option<u32>| {
                    number.map_or(NONE, |number| match &graph.nodes[number as usize] {
                        node if node.name == NONE => node.operation,
                        node => node.name,
                    })
                };
                let key = MoveKey { step, before: words(before), after: words(after), role, place: NONE };
                log.moved(&self.store.budget, key, None, line, node.name);
                if let Some(order) = order
                    && self.store.budget.for_entry(&mut movers)
                {
                    let work = log.work(step, &log.runs[step as usize]);
                    movers.insert(number as u32, Mover { order, reads, makes, work, arrays: [from, to] });
                }
            }
        }
        let sized = |tensor: Tensor| tensor_bytes(graph.known.get(&tensor)?).map(|bytes| bytes.0);
        let savings = Folding::new(graph, &movers).savings(sized);
        let log = self.logs.of(self.store, self.name, LogKind::Onnx);
        log.found = savings;
        log.open = open;
        self.store.budget.give_map(&movers);
    }
}

/// Bytes of a tensor, which has no padding.
fn tensor_bytes(known: &Known) -> Option<(u64, u64)> {
    let sizes: Vec<u64> = known.sizes.as_deref()?.iter().map(|&(size, _)| size).collect();
    let (.., bits) = TYPES.iter().find(|own| own.0 == known.element)?;
    bytes(&Layout::row_major(&sizes, *bits).ok()?)
}

/// Whether a Transpose moves nothing: but for those of size 1, dimensions stay in their order.
fn is_idle(order: &[u8], sizes: &[(u64, Text)]) -> bool {
    let moved = order
        .iter()
        .filter(|&&dim| sizes.get(usize::from(dim)).is_none_or(|&(size, name)| size != 1 || name != NONE));
    moved.is_sorted()
}

/// The operation that makes what Transposes before a tensor are given.
fn before(graph: &Graph, mut tensor: Tensor) -> Option<u32> {
    for _ in 0..64 {
        let &maker = graph.maker.get(&tensor)?;
        let node = &graph.nodes[maker as usize];
        if node.what != What::Transpose {
            return (node.what != What::Constant).then_some(maker);
        }
        tensor = *node.reads.first()?;
    }
    None
}

/// The first operation that reads what Transposes behind a tensor make.
fn after(graph: &Graph, mut tensor: Tensor) -> Option<u32> {
    for _ in 0..64 {
        let readers = graph.readers.get(&tensor)?;
        let is_other = |reader: &&u32| graph.nodes[**reader as usize].what != What::Transpose;
        if let Some(&reader) = readers.iter().find(is_other) {
            return Some(reader);
        }
        tensor = *graph.nodes[*readers.first()? as usize].makes.first()?;
    }
    None
}

/// What an attribute says: `perm`, and whether it has a graph.
fn attribute(text: &[u8]) -> (Option<Vec<u64>>, bool) {
    let (mut name, mut list, mut has_graph): (&[u8], _, _) = (b"", Vec::new(), false);
    for (field, piece) in pieces(text) {
        match (field, piece) {
            (1, Piece::Bytes(own)) => name = own,
            (8, piece) => numbers(piece, &mut list),
            (6 | 11, Piece::Bytes(_)) => has_graph = true,
            _ => {}
        }
    }
    ((name == b"perm").then_some(list), has_graph)
}

fn shortened(text: &[u8]) -> &[u8] {
    &text[..text.len().min(NAME)]
}
