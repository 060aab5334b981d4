//! Kernels of Triton as TTGIR: which conversions of layouts go through shared memory, and which accesses of it conflict.
//!
//! ```text
//! #blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
//! %6 = ttg.convert_layout %5 : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #blocked> loc(#loc9)
//! %7 = ttg.local_alloc %6 : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
//! #loc9 = loc("kernel.py":31:12)
//! ```

use std::sync::LazyLock;

use memchr::memchr2_iter;
use memchr::memmem::{self, Finder};
use tilework::triton::{Side, Type};

use super::links::Link;
use super::logged::{LogKind, Way};
use super::ways::{Access, access, way};
use super::{Array, ArrayId, Conflict, Log, Part, Step, by_x};
use crate::hash::{Map, Seed};
use crate::read::Reading;
use crate::read::mlir::end_of_type;
use crate::texts::{NONE, Text};

/// The most bytes of definitions of encodings, and the most places.
const DEFINITIONS: usize = 1 << 16;
const PLACES: usize = 1 << 16;

/// No line of a kernel that means something is longer.
const LONGEST: usize = 1 << 14;

/// The names of the dialect, today's and before.
const DIALECTS: [&[u8]; 4] = [b"#ttg.", b"#triton_gpu.", b"#ttng.", b"#triton_nvidia_gpu."];

/// What the types of an operation say.
#[derive(Clone, Debug, Default)]
struct Typed {
    arrays: Vec<(Part, ArrayId)>,
    moves: Option<(ArrayId, ArrayId)>,
    how: Option<Way>,
    conflict: Option<Access>,
}

/// A kernel that is being read.
#[derive(Debug, Default)]
pub(crate) struct Ttgir {
    /// What types say, by the hash of the text.
    typed: Map<u64, Typed>,
    /// Names of encodings, each with the line that defines it.
    definitions: Vec<(String, String)>,
    /// Their bytes.
    defined: usize,
    /// Where lines of the program are, by the name that is used for it.
    places: Map<u64, Text>,
    /// Operations whose places are not known yet, with the hash of what names the place.
    placed: Vec<(u32, u64)>,
    /// How many loops the line is in: the depth of braces at which each begins.
    loops: Vec<u32>,
    depth: u32,
    /// Kernels so far, as names are of one each.
    functions: u64,
}

/// Whether a line begins a kernel: it names an encoding, or says how many warps there are.
pub(crate) fn begins(line: &[u8]) -> bool {
    let line = &line[..line.len().min(256)];
    match line.first() {
        Some(b'#') => {
            let value = memmem::find(line, b" = ").map(|at| &line[at + 3..]);
            value.is_some_and(|value| DIALECTS.iter().any(|name| value.starts_with(name)))
        }
        Some(b'm') => {
            line.starts_with(b"module attributes {")
                && [&b"ttg.num-warps"[..], b"triton_gpu.num-warps", b"ttg.target"]
                    .iter()
                    .any(|mark| memmem::find(line, mark).is_some())
        }
        _ => false,
    }
}

impl Reading<'_> {
    /// Reads a line of a kernel.
    pub(crate) fn ttgir_line(&mut self, ttgir: &mut Ttgir, number: u64, line: &[u8]) {
        let Ok(line) = std::str::from_utf8(&line[..line.len().min(LONGEST)]) else { return };
        let text = line.trim_start();
        if text.starts_with('#') {
            return self.definition(ttgir, text);
        }
        if let Some(comment) = text.strip_prefix("//") {
            // A dump after each pass: only the last says what runs.
            if comment.contains("IR Dump") {
                self.logs.of(self.store, self.name, LogKind::Triton).forget();
                *ttgir = Ttgir { functions: ttgir.functions, ..Ttgir::default() };
            }
            return;
        }
        ttgir.functions += u64::from(text.starts_with("tt.func"));
        if let Some(operation) = operation(text) {
            self.operation(ttgir, number, text, operation);
        }
        let structured = LOOP.find(text.as_bytes()).map_or("", |at| &text[at + 4..]);
        if structured.starts_with("for ") || structured.starts_with("while ") {
            ttgir.loops.push(ttgir.depth);
            ttgir.loops.truncate(64);
        }
        let braces = memchr2_iter(b'{', b'}', text.as_bytes()).fold((0_u32, 0_u32), |(open, close), at| {
            match text.as_bytes()[at] {
                b'{' => (open + 1, close),
                _ => (open, close + 1),
            }
        });
        ttgir.depth = (ttgir.depth + braces.0).saturating_sub(braces.1);
        while ttgir.loops.last().is_some_and(|&begins| ttgir.depth <= begins) {
            ttgir.loops.pop();
        }
    }

    fn definition(&mut self, ttgir: &mut Ttgir, text: &str) {
        if begins(text.as_bytes()) {
            let name = names(text).next().unwrap_or("");
            ttgir.defined += 2 * text.len() + 64;
            if ttgir.defined < DEFINITIONS {
                ttgir.definitions.push((name.to_owned(), text.trim_end().to_owned()));
            }
            return;
        }
        // `#loc9 = loc("kernel.py":31:12)`, or a name or a call of other places, the first of which is nearest.
        let Some((name, place)) = text.split_once(" = loc(").filter(|(name, _)| name.starts_with("#loc"))
        else {
            return;
        };
        let seed = self.store.seed;
        let other = || {
            let at = place.find("#loc")?;
            let rest = &place[at..];
            let end = rest[1..].find(|c: char| !c.is_ascii_alphanumeric()).map_or(rest.len(), |end| end + 1);
            ttgir.places.get(&seed.of(&rest.as_bytes()[..end])).copied()
        };
        let known = match file_and_line(place) {
            Some(words) => Some(self.store.texts.number(words.as_bytes())),
            None => other(),
        };
        if let (Some(known), true) = (known, ttgir.places.len() < PLACES)
            && self.store.budget.for_entry(&mut ttgir.places)
        {
            ttgir.places.insert(seed.of(name.as_bytes()), known);
        }
    }

    fn operation(&mut self, ttgir: &mut Ttgir, number: u64, text: &str, operation: &str) {
        let seed = self.store.seed;
        let short = operation.rsplit('.').next().unwrap_or(operation);
        let is_typed = matches!(short, "convert_layout" | "local_alloc" | "local_load" | "local_store");
        let typed = if is_typed { self.typed(ttgir, number, text, short) } else { Typed::default() };
        let Typed { arrays, moves, how, conflict } = typed;
        let log = self.logs.of(self.store, self.name, LogKind::Triton);
        let name = self.store.texts.number(operation.as_bytes());
        let arrays = arrays.into_boxed_slice();
        let step = Step { operation: name, arrays: arrays.clone(), moves, name: NONE, way: how, loops: 0 };
        let budget = &self.store.budget;
        let Some(step) = log.step(budget, seed.of(&number.to_le_bytes()), step) else { return };
        log.runs[step as usize].add(None, number, NONE);
        if (moves.is_some() || conflict.is_some())
            && let Some(place) = text.rfind("loc(#loc")
            && budget.for_one(&mut ttgir.placed)
        {
            let place = text[place + 4..].trim_end_matches(')');
            ttgir.placed.push((step, seed.of(place.as_bytes())));
        }
        if let (Some(found), [from, to]) = (conflict.filter(|found| found.ways > 1), &arrays[..]) {
            let fits = log.conflicts.len() < 1 << 16 && budget.for_one(&mut log.conflicts);
            match fits {
                true => log.conflicts.push(Conflict {
                    step,
                    from: from.1,
                    to: to.1,
                    vector: found.vector,
                    ways: found.ways,
                    loops: ttgir.loops.len() as u32,
                    line: number,
                }),
                false => log.overflowed = true,
            }
        }
        log.deepen(step, ttgir.loops.len() as u32);
        // Names are of one function.
        let (made, used) = split(text);
        let used = TYPES.find(used.as_bytes()).map_or(used, |at| &used[..at]);
        for (part, makes) in [(made, true), (used, false)] {
            for name in values(part).take(16) {
                let tensor = tensor(seed, ttgir.functions, name);
                log.link(budget, Link { step, tensor, makes, line: number });
            }
        }
    }

    /// Ends a kernel.
    pub(crate) fn ttgir_ends(&mut self, ttgir: &mut Ttgir) {
        let log = self.logs.of(self.store, self.name, LogKind::Triton);
        for (step, place) in std::mem::take(&mut ttgir.placed) {
            if let Some(&place) = ttgir.places.get(&place)
                && self.store.budget.for_entry(&mut log.places)
            {
                log.places.insert(step, place);
            }
        }
    }

    /// What the types of an operation say. Operations repeat, so each text is read once.
    fn typed(&mut self, ttgir: &mut Ttgir, number: u64, text: &str, short: &str) -> Typed {
        let seed = self.store.seed;
        let behind = text.find(" : ").map_or("", |at| &text[at..]);
        let behind = &behind[..behind.rfind(" loc(").unwrap_or(behind.len())];
        let hash = seed.of(format!("{} {short}{behind}", ttgir.definitions.len()).as_bytes());
        if let Some(known) = ttgir.typed.get(&hash) {
            return known.clone();
        }
        let types: Vec<(Array, Option<Type>)> =
            types(text).into_iter().take(4).map(|text| self.encoded(ttgir, text, number)).collect();
        let log = self.logs.of(self.store, self.name, LogKind::Triton);
        let mut found = Typed::default();
        for (place, (array, _)) in types.iter().enumerate() {
            let part = if place + 1 == types.len() { Part::Output } else { Part::Input };
            let Some(array) = log.array(&self.store.budget, *array) else { return Typed::default() };
            found.arrays.push((part, array));
        }
        if let ([from, to], [(_, from_type), (_, to_type)]) = (&found.arrays[..], &types[..]) {
            let linear = |found: &Option<Type>| found.as_ref().and_then(|found| found.linear_layout().ok());
            match short {
                "convert_layout" => {
                    found.moves = Some((from.1, to.1));
                    found.how = linear(from_type).zip(linear(to_type)).and_then(|(from, to)| way(&from, &to));
                }
                _ => {
                    let is_memory = |found: &&Type| found.side() == Some(Side::Memory);
                    let both = || [from_type.as_ref(), to_type.as_ref()].into_iter().flatten();
                    let memory = both().find(is_memory).and_then(|memory| memory.lower().ok());
                    let registers = both().find(|found| !is_memory(found));
                    let bytes = registers.map_or(0, |found| u64::from(found.element().bytes()));
                    let registers = registers.and_then(|registers| registers.linear_layout().ok());
                    found.conflict = registers
                        .zip(memory)
                        .and_then(|(registers, memory)| access(&registers, &memory, bytes));
                }
            }
        }
        let bytes = size_of::<Typed>() + found.arrays.capacity() * size_of::<(Part, ArrayId)>();
        if ttgir.typed.len() < PLACES
            && self.store.budget.for_entry(&mut ttgir.typed)
            && self.store.budget.take(bytes)
        {
            ttgir.typed.insert(hash, found.clone());
        }
        found
    }

    /// A type with its encoding.
    fn encoded(&mut self, ttgir: &Ttgir, text: &str, line: u64) -> (Array, Option<Type>) {
        let found = Type::parse(&(ttgir.needed(text) + text));
        // What stands behind sizes and element type, by its name if it has one.
        let inner = text.split_once('<').map_or(text, |(_, inner)| inner.strip_suffix('>').unwrap_or(inner));
        let encoding = inner.split_once(", ").map_or("", |(_, encoding)| encoding);
        let encoding = match encoding.split_once(',').filter(|_| !encoding.contains('<')) {
            Some((name, _)) => name,
            None => encoding,
        };
        let mut array = Array {
            format: self.store.texts.number(encoding.as_bytes()),
            element: NONE,
            sizes: NONE,
            bytes: None,
        };
        match found {
            Ok(found) => {
                let element = found.element();
                array.element = self.store.texts.number(element.name().as_bytes());
                array.sizes = self.store.texts.number(by_x(found.dims()).as_bytes());
                let count = found.dims().iter().try_fold(1_u64, |count, &size| count.checked_mul(size));
                let bytes = count.and_then(|count| count.checked_mul(element.bytes().into()));
                array.bytes = bytes.map(|bytes| (bytes, bytes));
                (array, Some(found))
            }
            Err(_) => {
                self.store.complaints.add(line, "a type of Triton in an encoding that cannot be read");
                (array, None)
            }
        }
    }
}

impl Ttgir {
    /// The definitions of the names in a type, and of those in them: one that cannot be read spoils no other.
    fn needed(&self, text: &str) -> String {
        let mut lines = String::new();
        let mut wanted: Vec<&str> = names(text).collect();
        // A definition stands behind those that it uses.
        let mut needed = Vec::new();
        for (name, line) in self.definitions.iter().rev() {
            // Of a name that is given anew, the last meaning counts.
            if wanted.contains(&name.as_str()) {
                wanted.retain(|other| other != name);
                wanted.extend(names(line).skip(1));
                needed.push(line);
            }
        }
        for line in needed.into_iter().rev() {
            lines.push_str(line);
            lines.push('\n');
        }
        lines
    }
}

/// The names of attributes in a text: `#blocked`.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split('#').skip(1).map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '$'));
        &rest[..end.unwrap_or(rest.len())]
    })
}

impl Log {
    /// Notes how many loops a move is in.
    fn deepen(&mut self, step: u32, loops: u32) {
        if let (true, Some(step)) = (loops > 0, self.steps.get_mut(step as usize)) {
            step.loops = loops;
        }
    }
}

/// Where loops of a program, its results and its types begin.
static LOOP: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(b"scf."));
static MADE: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(b" = "));
static TYPES: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(b" : "));

/// What a line makes, and of what.
fn split(text: &str) -> (&str, &str) {
    MADE.find(text.as_bytes()).map_or(("", text), |at| (&text[..at], &text[at + 3..]))
}

/// The number of a value in a function.
pub(super) fn tensor(seed: Seed, function: u64, name: &str) -> u64 {
    seed.of(name.as_bytes()) ^ function.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// The name of the operation of a line.
fn operation(text: &str) -> Option<&str> {
    let text = match text.starts_with('%') {
        true => split(text).1,
        false => text,
    };
    let end =
        text.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '.' | '_')).unwrap_or(text.len());
    let name = &text[..end];
    let dialect = name.split('.').next()?;
    let known =
        ["tt", "ttg", "ttng", "triton_gpu", "triton_nvidia_gpu", "arith", "math", "amdgpu", "amdg", "nvws"];
    (name.len() > dialect.len() && known.contains(&dialect) && !matches!(name, "tt.func" | "tt.return"))
        .then_some(name)
}

/// The types with encodings behind the colon of an operation.
pub(super) fn types(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text.find(" : ").map_or("", |at| &text[at..]);
    while found.len() < 8 {
        let starts = ["tensor<", "!ttg.memdesc<", "!triton_gpu.memdesc<", "!tt.memdesc<"];
        let Some((at, start)) = starts.iter().filter_map(|start| Some((rest.find(start)?, *start))).min()
        else {
            break;
        };
        let inside = &rest[at + start.len()..];
        let end = end_of_type(inside.as_bytes());
        if end == inside.len() {
            break;
        }
        found.push(&rest[at..at + start.len() + end + 1]);
        rest = &inside[end + 1..];
    }
    found
}

/// The names of values: `%5` of `%5#1`.
pub(super) fn values(text: &str) -> impl Iterator<Item = &str> {
    memchr::memchr_iter(b'%', text.as_bytes()).map(|at| {
        let rest = &text[at + 1..];
        let end = rest
            .bytes()
            .position(|byte| !byte.is_ascii_alphanumeric() && !matches!(byte, b'_' | b'-' | b'$' | b'.'));
        &rest[..end.unwrap_or(rest.len())]
    })
}

/// `kernel.py:31` of `"kernel.py":31:12`.
fn file_and_line(place: &str) -> Option<String> {
    let (file, rest) = place.strip_prefix('"')?.split_once("\":")?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    (end > 0 && file.len() < 1 << 10).then(|| format!("{file}:{}", &rest[..end]))
}
