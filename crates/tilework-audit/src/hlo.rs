//! HLO modules as text.
//!
//! ```text
//! HloModule jit_f, is_scheduled=true, …
//! ENTRY %main.1 (x.1: f32[12,5]) -> f32[5,12] {
//!   %x.1 = f32[12,5]{1,0:T(8,128)} parameter(0), metadata={op_name="x"}
//!   ROOT %copy.1 = f32[12,5]{0,1:T(8,128)} copy(%x.1), metadata={op_name="jit(f)/transpose" stack_frame_id=2}
//! }
//! ```
//!
//! This is where the time goes, so a line is looked at once: name, shape, operation, and the rest only where it says
//! something that is kept.

use memchr::{memchr, memchr2, memmem, memrchr};

use crate::audit::Audit;
use crate::bytes::end_of_shape;
use crate::hash::Map;
use crate::metadata::Tables;
use crate::program::{Made, MoveKey, Operation, Origin};
use crate::shapes::ShapeId;
use crate::texts::{NONE, Text};

/// The most places of a program that are told apart.
const PLACES: usize = 1 << 20;

/// The most instructions whose origin is kept before it is known which make buffers.
const ORIGINS: usize = 1 << 18;

/// The most instructions of one computation that are known as operands.
const NAMES: usize = 1 << 23;

/// The most computations of a program.
const COMPUTATIONS: usize = 1 << 20;

/// A module that is being read.
#[derive(Debug)]
pub(crate) struct Hlo {
    tables: Tables,
    computation: u32,
    inside: bool,
    entry: bool,
    /// What the instructions of this computation are, by the hash of the name.
    names: Map<u64, Named>,
    /// The hashes of the names of instructions that make buffers, if that is known beforehand.
    wanted: Option<Map<u64, ()>>,
    metadata: memmem::Finder<'static>,
    calls: memmem::Finder<'static>,
    applies: memmem::Finder<'static>,
    /// The element of a tuple that an asynchronous operation makes, by the tuple and the number.
    elements: Map<(ShapeId, usize), Option<ShapeId>>,
}

/// What an operand is.
#[derive(Clone, Copy, Debug)]
struct Named {
    shape: ShapeId,
    /// The program's argument that it is.
    parameter: Text,
}

impl Hlo {
    /// Whether a computation has begun and not ended.
    pub(crate) fn is_open(&self) -> bool {
        self.inside
    }
}

impl Audit {
    /// Begins a module.
    pub(crate) fn module(&mut self, line: &[u8]) -> Hlo {
        let name = line.strip_prefix(b"HloModule ").unwrap_or(line);
        let name = self.texts.number(name[..memchr2(b',', b' ', name).unwrap_or(name.len())].trim_ascii());
        let (seed, texts) = (self.seed, &self.texts);
        let program = self.programs.last_mut();
        let wanted = program.filter(|program| program.has.assignment).map(|program| {
            program.values.iter().map(|value| (seed.of(texts.text(value.name).as_bytes()), ())).collect()
        });
        let program = self.program();
        program.name = name;
        // What stands outside of a computation has a place as well.
        program.computation_names.push(NONE);
        Hlo {
            tables: Tables::default(),
            computation: (self.program().computation_names.len() - 1) as u32,
            inside: false,
            entry: false,
            names: Map::default(),
            wanted,
            metadata: memmem::Finder::new(b"metadata={"),
            calls: memmem::Finder::new(b"calls="),
            applies: memmem::Finder::new(b"to_apply="),
            elements: Map::default(),
        }
    }

    /// Reads a line of a module.
    #[inline]
    pub(crate) fn hlo_line(&mut self, hlo: &mut Hlo, number: u64, line: &[u8]) {
        let text = line.trim_ascii();
        if text.first() == Some(&b'}') {
            (hlo.inside, hlo.entry) = (false, false);
            return;
        }
        if text.last() == Some(&b'{') {
            return self.computation_begins(hlo, text);
        }
        if hlo.inside || memmem::find(text, b" = ").is_some() {
            match self.instruction(hlo, number, text) {
                Ok(()) => {}
                Err(_) if text.is_empty() => {}
                Err(reason) => self.complaints.add(number, reason),
            }
        } else if !hlo.tables.line(text, &mut self.texts) && !text.starts_with(b"//") {
            self.complaints.add(number, "a line that is no part of a module");
        }
    }

    /// `%fused_computation.5 (param_0.11: bf16[7,7,3,64]) -> bf16[7,7,3,64] {`
    fn computation_begins(&mut self, hlo: &mut Hlo, text: &[u8]) {
        let (entry, text) = match text.strip_prefix(b"ENTRY ") {
            Some(text) => (true, text),
            None => (false, text),
        };
        let end = memchr2(b' ', b'(', text).unwrap_or(text.len());
        let name = text[..end].strip_prefix(b"%").unwrap_or(&text[..end]);
        let hash = self.seed.of(name);
        let name = self.texts.number(name);
        let program = self.program();
        if program.computation_names.len() < COMPUTATIONS {
            program.computation_names.push(name);
        } else {
            program.overflowed = true;
        }
        let place = (program.computation_names.len() - 1) as u32;
        program.computations.insert(hash, place);
        hlo.names.clear();
        if hlo.names.capacity() > 1 << 16 {
            hlo.names = Map::default();
        }
        (hlo.computation, hlo.inside, hlo.entry) = (place, true, entry);
    }

    #[inline]
    fn instruction(&mut self, hlo: &mut Hlo, line: u64, text: &[u8]) -> Result<(), &'static str> {
        let text = text.strip_prefix(b"ROOT ").unwrap_or(text);
        let equals = memchr(b' ', text).filter(|&at| text[at..].starts_with(b" = "));
        let equals = equals.ok_or("an instruction without a name")?;
        let name = text[..equals].strip_prefix(b"%").unwrap_or(&text[..equals]);
        let text = &text[equals + 3..];
        let end = match text.first() {
            Some(b'(') => end_of_shape(text),
            _ => memchr(b' ', text).unwrap_or(text.len()),
        };
        let shape =
            self.shapes.number(&text[..end]).ok_or("an instruction with a shape that cannot be read")?;
        let text = text[end..].trim_ascii_start();
        let open = memchr(b'(', text).ok_or("an instruction without an operation")?;
        let (operation, rest) = (&text[..open], &text[open + 1..]);
        self.program().instructions += 1;

        let hash = self.seed.of(name);
        let mut named = Named { shape, parameter: NONE };
        let mut moves = None;
        let mut made = Some(shape);
        match operation {
            b"parameter" => {
                if hlo.entry {
                    named.parameter = self.texts.number(name);
                } else {
                    made = None;
                }
            }
            b"copy" => moves = Some(Operation::Copy),
            b"transpose" => moves = Some(Operation::Transpose),
            b"reshape" => moves = Some(Operation::Reshape),
            b"copy-start" => {
                moves = Some(Operation::CopyStart);
                made = self.element(hlo, shape, 0);
            }
            b"bitcast" => {
                moves = Some(Operation::Bitcast);
                made = None;
            }
            b"get-tuple-element" => {
                if hlo.entry {
                    named.parameter = self.operand(hlo, rest).map_or(NONE, |named| named.parameter);
                }
                made = None;
            }
            b"fusion" => self.calls(&hlo.calls, rest),
            b"reduce"
            | b"reduce-window"
            | b"scatter"
            | b"select-and-scatter"
            | b"sort"
            | b"map"
            | b"all-reduce"
            | b"all-reduce-start"
            | b"reduce-scatter" => self.calls(&hlo.applies, rest),
            // These have no buffer of their own: their operands', or that of what they call.
            b"tuple"
            | b"while"
            | b"conditional"
            | b"call"
            | b"optimization-barrier"
            | b"after-all"
            | b"add-dependency"
            | b"domain"
            | b"async-start" => made = None,
            _ if operation.ends_with(b"-done") || operation.ends_with(b"-update") => made = None,
            _ if operation.ends_with(b"-start") => made = self.element(hlo, shape, 1),
            _ => {}
        }
        let mut source = None;
        if let Some(operation) = moves {
            let operand =
                self.operand(hlo, rest).ok_or("a copy or reshape of something that is not known")?;
            if operation == Operation::Bitcast {
                named.parameter = operand.parameter;
            }
            let to = match operation {
                Operation::CopyStart => self.element(hlo, shape, 0).unwrap_or(shape),
                _ => shape,
            };
            if operand.shape != to {
                let order = match operation {
                    Operation::Transpose => self.order(rest),
                    _ => NONE,
                };
                let source = *source.insert(self.source(hlo, rest));
                let key = MoveKey {
                    operation,
                    from: operand.shape,
                    to,
                    order,
                    computation: hlo.computation,
                    source,
                    parameter: operand.parameter,
                };
                let Audit { programs, texts, .. } = self;
                if let Some(program) = programs.last_mut() {
                    if program.moves.len() < PLACES || program.moves.contains_key(&key) {
                        program.moves.entry(key).or_default().add(line, || texts.number(name));
                    } else {
                        program.overflowed = true;
                    }
                }
            }
        }
        if hlo.names.len() < NAMES {
            hlo.names.insert(hash, named);
        }
        match &hlo.wanted {
            Some(wanted) => {
                if wanted.contains_key(&hash) {
                    let source = source.unwrap_or_else(|| self.source(hlo, rest));
                    let origin = Origin { computation: hlo.computation, source };
                    self.program().origins.insert(hash, origin);
                }
            }
            None => {
                let source = source.unwrap_or_else(|| self.source(hlo, rest));
                self.made(hlo, hash, made, source, line, name);
            }
        }
        Ok(())
    }

    /// Notes an instruction that makes a buffer, where no buffer assignment says which do.
    fn made(&mut self, hlo: &Hlo, hash: u64, made: Option<ShapeId>, source: u32, line: u64, name: &[u8]) {
        let Audit { programs, texts, .. } = self;
        let Some(program) = programs.last_mut() else { return };
        if program.origins.len() < ORIGINS {
            program.origins.insert(hash, Origin { computation: hlo.computation, source });
        }
        let Some(shape) = made else { return };
        let key = Made { computation: hlo.computation, shape, source };
        if program.made.len() < PLACES || program.made.contains_key(&key) {
            program.made.entry(key).or_default().add(line, || texts.number(name));
        } else {
            program.overflowed = true;
            // The sums stay whole: only where it comes from is lost.
            let key = Made { computation: 0, source: 0, ..key };
            program.made.entry(key).or_default().add(line, || NONE);
        }
    }

    fn source(&mut self, hlo: &Hlo, rest: &[u8]) -> u32 {
        match hlo.metadata.find(rest) {
            Some(at) => {
                let source = hlo.tables.source(&rest[at + b"metadata={".len()..], &mut self.texts);
                self.sources.number(source)
            }
            None => 0,
        }
    }

    /// What the first operand is.
    #[inline]
    fn operand(&self, hlo: &Hlo, rest: &[u8]) -> Option<Named> {
        hlo.names.get(&self.seed.of(first_operand(rest)?)).copied()
    }

    fn element(&mut self, hlo: &mut Hlo, tuple: ShapeId, number: usize) -> Option<ShapeId> {
        if let Some(&element) = hlo.elements.get(&(tuple, number)) {
            return element;
        }
        let element = match &self.shapes.known(tuple).shape {
            tilework::xla::Shape::Tuple(elements) => elements.get(number).cloned(),
            _ => return Some(tuple),
        };
        let element = element.and_then(|shape| self.shapes.number_of(&shape));
        hlo.elements.insert((tuple, number), element);
        element
    }

    /// Notes the computations that this instruction calls: what they make has no buffer.
    fn calls(&mut self, mark: &memmem::Finder<'_>, rest: &[u8]) {
        let Some(at) = mark.find(rest) else { return };
        let name = &rest[at + mark.needle().len()..];
        let name = name.strip_prefix(b"{").unwrap_or(name);
        let end = name.iter().position(|byte| matches!(byte, b',' | b'}' | b' ')).unwrap_or(name.len());
        let name = name[..end].strip_prefix(b"%").unwrap_or(&name[..end]);
        let hash = self.seed.of(name);
        let inner = &mut self.program().inner;
        if inner.len() < COMPUTATIONS {
            inner.insert(hash, ());
        }
    }

    /// The numbers in `dimensions={2,0,1}`.
    fn order(&mut self, rest: &[u8]) -> Text {
        let order = crate::bytes::after(rest, b"dimensions={");
        let order = order.and_then(|order| Some(&order[..memchr(b'}', order)?]));
        order.map_or(NONE, |order| self.texts.number(order))
    }
}

/// The name of the first operand: `%x` of `%x, %y)`, of `f32[2]{0} %x)` and of `x)`.
#[inline]
fn first_operand(rest: &[u8]) -> Option<&[u8]> {
    if let Some(name) = rest.strip_prefix(b"%") {
        return Some(&name[..memchr2(b',', b')', name)?]);
    }
    let end = end_of_operand(rest)?;
    let operand = rest[..end].trim_ascii();
    let name = memrchr(b' ', operand).map_or(operand, |space| &operand[space + 1..]);
    let name = name.strip_prefix(b"%").unwrap_or(name);
    (!name.is_empty()).then_some(name)
}

/// Where the first operand ends: at a comma or a parenthesis that belongs to no bracket in it.
fn end_of_operand(text: &[u8]) -> Option<usize> {
    let mut depth = 0_u32;
    text.iter().position(|byte| {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b',' if depth == 0 => return true,
            b')' | b']' | b'}' => match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => return true,
            },
            _ => {}
        }
        false
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_are_found_in_every_way_of_writing() {
        let name = |text: &str| {
            first_operand(text.as_bytes()).map(|name| String::from_utf8_lossy(name).into_owned())
        };
        assert_eq!(name("%x.1), metadata={}").as_deref(), Some("x.1"));
        assert_eq!(name("%x, %y)").as_deref(), Some("x"));
        assert_eq!(name("f32[2,3]{1,0:T(8,128)} %x.1)").as_deref(), Some("x.1"));
        assert_eq!(name("(f32[2], s32[]) %t, f32[] %y)").as_deref(), Some("t"));
        assert_eq!(name("x.1)").as_deref(), Some("x.1"));
        assert_eq!(name(")"), None);
        assert_eq!(name("%open"), None);
        assert_eq!(name(""), None);
    }
}
