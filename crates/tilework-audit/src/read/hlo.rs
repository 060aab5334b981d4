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

use crate::lists::{EMPTY, List};
use crate::program::{Alias, Program, Times};
use crate::read::bytes::{after, end_of_shape, number, number_after, split};
use crate::read::instruction::{Body, Instruction, Named};
use crate::read::meaning::{Called, Makes, Meaning};
use crate::read::metadata::Tables;
use crate::read::numbers::Loop;
use crate::read::trips::{self, Does, Way};
use crate::shapes::ShapeId;
use crate::store::Store;
use crate::texts::NONE;

/// A module that is being read.
#[derive(Debug)]
pub(crate) struct Hlo {
    tables: Tables,
    /// Whether a computation has begun and not ended.
    inside: bool,
    /// Whether the computation has begun that calls the others, and is the last.
    entered: bool,
    body: Body,
    metadata: memmem::Finder<'static>,
    calls: memmem::Finder<'static>,
    applies: memmem::Finder<'static>,
}

impl Hlo {
    /// Whether a computation has begun and not ended.
    pub(crate) fn is_open(&self) -> bool {
        self.inside
    }

    /// Whether the computation has begun that calls the others.
    pub(crate) fn is_entered(&self) -> bool {
        self.entered
    }
}

/// The most instructions of a program whose cycles are kept.
const CYCLES: usize = 1 << 20;

impl Store {
    /// Begins a module.
    pub(crate) fn hlo(&mut self, program: &mut Program, line: &[u8]) -> Hlo {
        let name = line.strip_prefix(b"HloModule ").unwrap_or(line);
        let name = name[..memchr2(b',', b' ', name).unwrap_or(name.len())].trim_ascii();
        self.aliases(program, line);
        Hlo {
            tables: Tables::within(&self.budget),
            inside: false,
            entered: false,
            body: self.module(program, name),
            metadata: memmem::Finder::new(b" metadata={"),
            calls: memmem::Finder::new(b"calls="),
            applies: memmem::Finder::new(b"to_apply="),
        }
    }

    /// Notes which results lie in the place of which parameters:
    /// `input_output_alias={ {0}: (1, {}, may-alias), {1}: (0, {}, must-alias) }`.
    fn aliases(&self, program: &mut Program, line: &[u8]) {
        let Some(mut rest) = after(line, b"input_output_alias={") else { return };
        while let Some(entry) = rest.trim_ascii_start().strip_prefix(b"{") {
            let Some((result, entry)) = split(entry, b"}: (") else { return };
            let Some((parameter, end)) = number(entry).zip(memchr(b')', entry)) else { return };
            // A result that is no tuple has no number.
            let result = number(result.trim_ascii()).unwrap_or(0);
            let alias =
                |result| Some(Alias { result: Some(result), parameter: u32::try_from(parameter).ok()? });
            if let Some(alias) = u32::try_from(result).ok().and_then(alias)
                && self.budget.for_one(&mut program.aliases)
            {
                program.aliases.push(alias);
            }
            rest = &entry[end + 1..];
            rest = rest.strip_prefix(b",").unwrap_or(rest);
        }
    }

    /// Ends a module.
    pub(crate) fn hlo_ends(&mut self, program: &mut Program, hlo: &mut Hlo) {
        hlo.tables.end();
        self.module_ends(program, &mut hlo.body);
    }

    /// Reads a line of a module.
    #[inline]
    pub(crate) fn hlo_line(&mut self, program: &mut Program, hlo: &mut Hlo, number: u64, line: &[u8]) {
        let text = line.trim_ascii();
        if text.first() == Some(&b'}') {
            hlo.inside = false;
            return self.computation_ends(program, &mut hlo.body);
        }
        if text.last() == Some(&b'{') {
            return self.computation_line(program, hlo, text);
        }
        if hlo.inside || memmem::find(text, b" = ").is_some() {
            match self.instruction_line(program, hlo, number, text) {
                Ok(()) => {}
                Err(_) if text.is_empty() => {}
                Err(reason) => self.complaints.add(number, reason),
            }
        } else if !hlo.tables.line(text, &mut self.texts) && !text.starts_with(b"//") {
            self.complaints.add(number, "a line that is no part of a module");
        }
    }

    /// `%fused_computation.5 (param_0.11: bf16[7,7,3,64]) -> bf16[7,7,3,64] {`
    fn computation_line(&mut self, program: &mut Program, hlo: &mut Hlo, text: &[u8]) {
        let (entry, text) = match text.strip_prefix(b"ENTRY ") {
            Some(text) => (true, text),
            None => (false, text),
        };
        let end = memchr2(b' ', b'(', text).unwrap_or(text.len());
        let name = text[..end].strip_prefix(b"%").unwrap_or(&text[..end]);
        self.computation_begins(program, &mut hlo.body, name, entry);
        hlo.inside = true;
        hlo.entered |= entry;
    }

    #[inline]
    fn instruction_line(
        &mut self,
        program: &mut Program,
        hlo: &mut Hlo,
        line: u64,
        text: &[u8],
    ) -> Result<(), &'static str> {
        let (is_root, text) = match text.strip_prefix(b"ROOT ") {
            Some(text) => (true, text),
            None => (false, text),
        };
        let equals = memchr(b' ', text).filter(|&at| text[at..].starts_with(b" = "));
        let equals = equals.ok_or("an instruction without a name")?;
        let name = text[..equals].strip_prefix(b"%").unwrap_or(&text[..equals]);
        let text = &text[equals + 3..];
        let end = match text.first() {
            Some(b'(') => end_of_shape(text),
            _ => memchr(b' ', text).unwrap_or(text.len()),
        };
        // `s32[]`, or a tuple that may hold some.
        let bracket = memchr(b'[', &text[..end.min(8)]);
        let may_be_number =
            text.first() == Some(&b'(') || bracket.is_some_and(|at| text.get(at + 1) == Some(&b']'));
        let shape =
            self.shapes.number(&text[..end]).ok_or("an instruction with a shape that cannot be read")?;
        let text = text[end..].trim_ascii_start();
        let open = memchr(b'(', text).ok_or("an instruction without an operation")?;
        let (operation, rest) = (&text[..open], &text[open + 1..]);

        let meaning = Meaning::of(operation);
        self.calls(program, hlo, meaning.calls, rest);
        let operand = if meaning.asks_for_operand() { self.operand(&hlo.body, rest) } else { None };
        let hash = self.seed.of(name);
        if may_be_number || operation == b"while" {
            self.number(&mut hlo.body, program, (hash, shape, is_root), operation, rest);
        }
        if meaning.moves.is_some() {
            self.cycles(program, hash, rest);
        }
        let parameter = match meaning.makes {
            Makes::Parameter => number(rest),
            _ => None,
        };
        let parameter = parameter.and_then(|place| u32::try_from(place).ok()?.checked_add(1)).unwrap_or(0);
        let is_constant = operation == b"constant";
        let instruction = Instruction {
            name,
            hash,
            key: hash,
            meaning,
            shape,
            operand,
            parameter,
            is_root,
            is_constant,
            line,
        };
        let Hlo { tables, metadata, body, .. } = hlo;
        let source = |store: &mut Store| store.source(tables, metadata, rest);
        let seed = self.seed;
        let operands = |each: &mut dyn FnMut(u64)| operands(rest).for_each(|name| each(seed.of(name)));
        self.instruction(program, body, &instruction, |store| store.order(rest), source, operands)
    }

    /// Notes how many cycles an instruction is estimated to take.
    fn cycles(&self, program: &mut Program, hash: u64, rest: &[u8]) {
        let cycles = number_after(rest, b"\"estimated_cycles\":\"").filter(|&cycles| cycles > 0);
        if let Some(cycles) = cycles
            && program.cycles.len() < CYCLES
            && self.budget.for_entry(&mut program.cycles)
        {
            program.cycles.insert(hash, cycles);
        }
    }

    /// Reads a line of a module of which all but the cycles is known.
    pub(crate) fn cycles_line(&mut self, program: &mut Program, line: &[u8]) {
        let text = line.trim_ascii();
        let text = text.strip_prefix(b"ROOT ").unwrap_or(text);
        let text = text.strip_prefix(b"%").unwrap_or(text);
        let moves = [&b"copy"[..], b"transpose", b"reshape"].iter().any(|name| text.starts_with(name));
        if let Some((name, rest)) = split(text, b" = ").filter(|_| moves) {
            self.cycles(program, self.seed.of(name), rest);
        }
    }

    fn source(&mut self, tables: &Tables, metadata: &memmem::Finder<'_>, rest: &[u8]) -> u32 {
        match metadata.find(rest) {
            Some(at) => {
                let source = tables.source(&rest[at + b" metadata={".len()..], &mut self.texts);
                self.sources.number(source)
            }
            None => 0,
        }
    }

    /// What the first operand is.
    #[inline]
    fn operand(&self, body: &Body, rest: &[u8]) -> Option<Named> {
        body.operand(self.seed.of(first_operand(rest)?.0))
    }

    /// Notes the computations that this instruction calls.
    #[inline]
    fn calls(&self, program: &mut Program, hlo: &Hlo, called: Called, rest: &[u8]) {
        match called {
            Called::Nothing => {}
            Called::Fused => {
                if let Some(callee) = self.callee(&hlo.calls, rest) {
                    self.call(program, hlo.body.computation, callee, Times::Within);
                    if hlo.body.entry {
                        self.arguments(program, &hlo.body, callee, rest);
                    }
                }
            }
            Called::Applied => {
                if let Some(callee) = self.callee(&hlo.applies, rest) {
                    self.call(program, hlo.body.computation, callee, Times::Within);
                }
            }
            Called::Once => self.calls_once(program, hlo, rest),
            // What a loop is called with must be known first.
            Called::Loop => {}
        }
    }

    /// Follows whole numbers, and counts the turns of loops.
    fn number(
        &self,
        body: &mut Body,
        program: &mut Program,
        (key, shape, is_root): (u64, ShapeId, bool),
        operation: &[u8],
        rest: &[u8],
    ) {
        let is_whole = |number: &[u8]| match number.strip_prefix(b"-") {
            Some(digits) => digits.iter().all(u8::is_ascii_digit),
            None => number.iter().all(u8::is_ascii_digit),
        };
        let constant = || {
            let text = &rest[..memchr(b')', &rest[..rest.len().min(48)])?];
            std::str::from_utf8(text).ok().filter(|text| is_whole(text.as_bytes()))?.parse().ok()
        };
        let direction = || {
            let direction = after(rest, b"direction=")?;
            Way::of(direction.get(..2)?)
        };
        let place = |text: Option<&[u8]>| number(text?).and_then(|place| u32::try_from(place).ok());
        let does = match operation {
            b"constant" => constant().map(Does::Constant),
            b"parameter" => place(Some(rest)).map(Does::Parameter),
            b"get-tuple-element" => place(after(rest, b", index=")).map(Does::Element),
            b"compare" => direction().map(Does::Compare),
            b"while" => Some(Does::While),
            _ => Does::of(operation),
        };
        let Some(does) = does else { return };
        if does != Does::While && !self.is_number(shape) {
            return;
        }
        let named = |mark: &[u8]| after(rest, mark).map(|name| self.seed.of(computation_name(name)));
        let operands = || operands(rest).map(|name| self.seed.of(name)).take(trips::ELEMENTS);
        let called = match does {
            Does::Calls => named(b"calls=").or_else(|| named(b"to_apply=")),
            _ => None,
        };
        if does == Does::While {
            let says = after(rest, b"known_trip_count").and_then(|rest| after(rest, b"\"n\":\""));
            let says = says.and_then(number);
            if let (Some(condition), Some(callee)) = (named(b"condition="), named(b"body=")) {
                let init = operands().next();
                self.turns(program, body, Loop { key, condition, callee, init, says });
            }
            return;
        }
        self.follow(body, (key, shape, is_root), does, called, operands);
    }

    /// Notes what a call, an asynchronous operation or a choice calls.
    fn calls_once(&self, program: &mut Program, hlo: &Hlo, rest: &[u8]) {
        for mark in [&b" calls="[..], b" to_apply=", b" true_computation=", b" false_computation="] {
            if let Some(name) = after(rest, mark) {
                let callee = self.seed.of(computation_name(name));
                self.call(program, hlo.body.computation, callee, Times::Once);
            }
        }
        let branches = after(rest, b"branch_computations={").unwrap_or_default();
        let end = memchr(b'}', branches).unwrap_or(0);
        for name in branches[..end].split(|&byte| byte == b',') {
            let callee = self.seed.of(computation_name(name.trim_ascii()));
            self.call(program, hlo.body.computation, callee, Times::Once);
        }
    }

    /// The hash of the name behind a mark.
    fn callee(&self, mark: &memmem::Finder<'_>, rest: &[u8]) -> Option<u64> {
        let at = mark.find(rest)?;
        let name = &rest[at + mark.needle().len()..];
        Some(self.seed.of(computation_name(name)))
    }

    /// Notes which operands of a fusion are arguments of the program.
    fn arguments(&self, program: &mut Program, body: &Body, callee: u64, rest: &[u8]) {
        for (place, name) in (0..).zip(operands(rest)) {
            let argument = body.operand(self.seed.of(name)).map_or(NONE, |operand| operand.parameter);
            self.given(program, callee, place, argument);
        }
    }

    /// The numbers in `dimensions={2,0,1}`.
    fn order(&mut self, rest: &[u8]) -> List {
        let order = after(rest, b"dimensions={");
        let order = order.and_then(|order| Some(&order[..memchr(b'}', order)?]));
        let dims = order.and_then(|order| {
            let dims = order.split(|&byte| byte == b',').map(<[u8]>::trim_ascii);
            dims.map(|dim| u32::try_from(number(dim)?).ok()).collect::<Option<Vec<u32>>>()
        });
        dims.and_then(|dims| self.orders.number(&dims)).unwrap_or(EMPTY)
    }
}

/// The name of a computation that a text begins with: of `%add, …`, of `{%a, %b}` and of `add}`.
fn computation_name(text: &[u8]) -> &[u8] {
    let text = text.strip_prefix(b"{").unwrap_or(text);
    let text = text.strip_prefix(b"%").unwrap_or(text);
    let end = text.iter().position(|byte| matches!(byte, b',' | b'}' | b' ')).unwrap_or(text.len());
    &text[..end]
}

/// The names of all operands.
fn operands(mut rest: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut is_next = true;
    std::iter::from_fn(move || {
        let (name, end) = first_operand(rest).filter(|_| is_next)?;
        is_next = rest.get(end) == Some(&b',');
        rest = rest.get(end + 1..).unwrap_or_default().trim_ascii_start();
        // `/*index=5*/%x`
        if let Some(behind) = rest.strip_prefix(b"/*").and_then(|rest| after(rest, b"*/")) {
            rest = behind.trim_ascii_start();
        }
        Some(name)
    })
}

/// The name of the first operand, and where it ends: `%x` of `%x, %y)`, of `f32[2]{0} %x)` and of `x)`.
#[inline]
fn first_operand(rest: &[u8]) -> Option<(&[u8], usize)> {
    if let Some(name) = rest.strip_prefix(b"%") {
        let end = memchr2(b',', b')', name)?;
        return Some((&name[..end], end + 1));
    }
    let end = end_of_operand(rest)?;
    let operand = rest[..end].trim_ascii();
    let name = memrchr(b' ', operand).map_or(operand, |space| &operand[space + 1..]);
    let name = name.strip_prefix(b"%").unwrap_or(name);
    (!name.is_empty()).then_some((name, end))
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
            first_operand(text.as_bytes()).map(|(name, _)| String::from_utf8_lossy(name).into_owned())
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
