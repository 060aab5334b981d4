//! Programs of TTNN as tt-mlir writes them: which operations only bring a tensor into another layout or memory.
//!
//! ```text
//! #dram = #ttnn.buffer_type<dram>
//! #ttnn_layout1 = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<2x4x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
//! %1 = "ttnn.to_layout"(%arg0) <{…}> : (tensor<64x128xbf16, #ttnn_layout>) -> tensor<64x128xbf16, #ttnn_layout1>
//! ```
//!
//! The memref is what one core holds, or all of them where memory is interleaved; a grid of cores stands before it.

use memchr::memmem;

use super::links::Link;
use super::logged::LogKind;
use super::triton::{tensor, types, values};
use super::{Array, ArrayId, Part, Step, by_x};
use crate::hash::Map;
use crate::read::Reading;
use crate::read::mlir::end_of_type;
use crate::texts::{NONE, Text};

/// The most definitions of layouts, and the longest line that means something.
const LIMIT: usize = 1 << 16;
const LONGEST: usize = 1 << 16;

/// No definition is longer that goes over several lines.
const OPEN: usize = 1 << 12;

/// Operations that bring what they read into another layout, memory or element type.
const MOVES: [&str; 6] =
    ["to_layout", "to_memory_config", "to_device", "from_device", "typecast", "to_dtype"];

/// Operations that are none of the program's.
const SKIPPED: [&str; 4] = ["get_device", "open_device", "close_device", "deallocate"];

/// Element types with their bits; those of blocks have bytes of a tile of 1024.
const BITS: [(&str, u64); 13] = [
    ("f32", 32),
    ("bf16", 16),
    ("f16", 16),
    ("si32", 32),
    ("ui32", 32),
    ("u32", 32),
    ("i32", 32),
    ("ui16", 16),
    ("u16", 16),
    ("si16", 16),
    ("ui8", 8),
    ("u8", 8),
    ("i1", 8),
];
const BLOCKS: [(&str, u64); 3] = [("f8", 1088), ("f4", 576), ("f2", 320)];

/// A layout, without the sizes of the tensor.
#[derive(Clone, Copy, Debug)]
struct Placed {
    format: Text,
    element: Text,
    /// Bytes that are allocated, and bytes of 1024 elements.
    bytes: Option<(u64, u64)>,
}

/// A program that is being read.
#[derive(Debug, Default)]
pub(crate) struct Ttnn {
    layouts: Map<u64, Placed>,
    /// Names of memories, by the names that stand for them.
    spaces: Map<u64, Text>,
    /// Functions so far, as names are of one each.
    functions: u64,
    /// Whether the function runs once and not in each run.
    runs_once: bool,
    /// A definition that goes on in the next line.
    open: String,
}

/// Whether a line begins a program: it names a memory or a layout, or says which devices there are.
pub(crate) fn begins(line: &[u8]) -> bool {
    let line = &line[..line.len().min(512)];
    match line.first() {
        Some(b'#') => {
            let value = memmem::find(line, b" = ").map(|at| &line[at + 3..]);
            value.is_some_and(|value| {
                value.starts_with(b"#ttnn.buffer_type<") || value.starts_with(b"#ttnn.ttnn_layout<")
            })
        }
        Some(b'm') => {
            line.starts_with(b"module ")
                && [&b"ttcore.meshes"[..], b"ttcore.system_desc", b"tt.system_desc"]
                    .iter()
                    .any(|mark| memmem::find(line, mark).is_some())
        }
        _ => false,
    }
}

impl Reading<'_> {
    /// Reads a line of a program.
    pub(crate) fn ttnn_line(&mut self, ttnn: &mut Ttnn, number: u64, line: &[u8]) {
        let Ok(line) = std::str::from_utf8(&line[..line.len().min(LONGEST)]) else { return };
        let text = line.trim_start();
        if text.starts_with("//") {
            return;
        }
        if !ttnn.open.is_empty() {
            ttnn.open.push_str(text.trim_end());
            let whole = std::mem::take(&mut ttnn.open);
            return self.ttnn_definition(ttnn, number, &whole);
        }
        if text.starts_with('#') {
            return self.ttnn_definition(ttnn, number, text);
        }
        if text.starts_with("func.func") {
            ttnn.functions += 1;
            ttnn.runs_once = text.contains("const_eval") && text.contains("function_type");
            return;
        }
        let (made, rest) = text.split_once(" = ").filter(|_| text.starts_with('%')).unwrap_or(("", text));
        let Some(operation) = rest.strip_prefix('"').and_then(|rest| rest.split('"').next()) else { return };
        let Some(short) = operation.strip_prefix("ttnn.").filter(|short| !SKIPPED.contains(short)) else {
            return;
        };
        if ttnn.runs_once {
            self.logs.of(self.store, self.name, LogKind::Ttnn).created.add(None, number, NONE);
            return;
        }
        // Attributes have types too, but none of a function.
        let behind = rest.rfind(" : (").map_or("", |at| &rest[at..]);
        let is_move = MOVES.contains(&short);
        let mut arrays: Vec<(Part, ArrayId)> = Vec::new();
        let found: Vec<&str> = types(behind);
        let inputs = behind.get(4..).map_or(0, |inside| 4 + end_of_type(inside.as_bytes()));
        let outputs = types(&format!(" : {}", &behind[inputs.min(behind.len())..])).len();
        for (place, own) in found.iter().enumerate() {
            let part = if place + outputs >= found.len() { Part::Output } else { Part::Input };
            let array = self.ttnn_array(ttnn, number, own);
            let log = self.logs.of(self.store, self.name, LogKind::Ttnn);
            let Some(array) = log.array(&self.store.budget, array) else { return };
            arrays.push((part, array));
        }
        let own = |part| arrays.iter().find(|array| array.0 == part).map(|array| array.1);
        let log = self.logs.of(self.store, self.name, LogKind::Ttnn);
        let moves = own(Part::Input).zip(own(Part::Output)).filter(|_| is_move);
        let (name, hash) =
            (self.store.texts.number(operation.as_bytes()), self.store.seed.of(&number.to_le_bytes()));
        let budget = &self.store.budget;
        let step = Step { operation: name, arrays: arrays.into(), moves, name: NONE, way: None, loops: 0 };
        let Some(step) = log.step(budget, hash, step) else { return };
        log.runs[step as usize].add(None, number, NONE);
        let used = rest[..rest.len() - behind.len()].split("<{").next().unwrap_or(rest);
        for (part, makes) in [(made, true), (used, false)] {
            for name in values(part).take(64) {
                let tensor = tensor(self.store.seed, ttnn.functions, name);
                log.link(budget, Link { step, tensor, makes, line: number });
            }
        }
    }

    fn ttnn_definition(&mut self, ttnn: &mut Ttnn, number: u64, text: &str) {
        let Some((name, value)) = text.trim_end().split_once(" = ") else { return };
        let hash = self.store.seed.of(name.as_bytes());
        if ttnn.layouts.len() + ttnn.spaces.len() >= LIMIT {
            return;
        }
        if let Some(space) = value.strip_prefix("#ttnn.buffer_type<") {
            let space = self.store.texts.number(space.trim_end_matches('>').as_bytes());
            if self.store.budget.for_entry(&mut ttnn.spaces) {
                ttnn.spaces.insert(hash, space);
            }
        } else if let Some(inside) = value.strip_prefix("#ttnn.ttnn_layout<") {
            // People write it in several lines.
            let is_whole = end_of_type(inside.as_bytes()) < inside.len();
            if !is_whole && text.len() < OPEN {
                ttnn.open = format!("{} ", text.trim_end());
                return;
            }
            let placed = self.placed(ttnn, number, value);
            if let Some(placed) = placed
                && self.store.budget.for_entry(&mut ttnn.layouts)
            {
                ttnn.layouts.insert(hash, placed);
            }
        }
    }

    /// A layout: `#ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <8x8>, memref<1x2x!ttcore.tile<32x32, bf16>, #l1>, <block_sharded>>`.
    fn placed(&mut self, ttnn: &Ttnn, number: u64, text: &str) -> Option<Placed> {
        let read = || {
            let (before, memory) = text.split_once("memref<")?;
            let (memory, after) = memory.split_at_checked(end_of_type(memory.as_bytes()))?;
            // Nothing stands behind what is cut off.
            after.starts_with('>').then_some(())?;
            let grid = before.rsplit_once(", <").map_or("", |(_, grid)| grid);
            let grid = sizes(&grid[..grid.find(['>', ',']).unwrap_or(grid.len())])?.0;
            let (shape, space) = memory.rsplit_once(", ")?;
            let (counts, element) = sizes(shape).filter(|(_, element)| !element.is_empty())?;
            let kind = after.strip_prefix(">, <").and_then(|kind| kind.split('>').next());
            Some((grid, counts, element, space, kind))
        };
        let Some((grid, counts, element, space, kind)) = read() else {
            self.store.complaints.add(number, "a layout of TTNN that cannot be read");
            return None;
        };
        let space = match space.strip_prefix("#ttnn.buffer_type<") {
            Some(space) => space.trim_end_matches('>').to_owned(),
            None => match ttnn.spaces.get(&self.store.seed.of(space.as_bytes())) {
                Some(&space) => self.store.texts.text(space).to_owned(),
                None => space.trim_start_matches('#').to_owned(),
            },
        };
        // `!ttcore.tile<32x32, bf16>`, or an element type alone.
        let tile = element.split_once("tile<").and_then(|(_, tile)| tile.strip_suffix('>')?.split_once(", "));
        let (bytes_each, element, order) = match tile {
            Some((tile, element)) => {
                let tile = sizes(tile).map(|tile| tile.0);
                let count = tile.as_deref().and_then(product);
                let bytes = count.and_then(|count| Some((count, bytes_of_1024(element)?)));
                (
                    bytes.and_then(|(count, bytes)| Some((count.checked_mul(bytes)? / 1024, bytes))),
                    element,
                    "tile",
                )
            }
            None => (bytes_of_1024(element).map(|bytes| (bytes / 1024, bytes)), element, "row_major"),
        };
        let allocated = bytes_each.and_then(|(each, bytes)| {
            let pieces = product(&grid)?.checked_mul(product(&counts)?)?;
            Some((pieces.checked_mul(each)?, bytes))
        });
        let mut format = format!("{order} {space}");
        if let Some(kind) = kind {
            format.push_str(&format!(" {kind}"));
            if kind.contains("sharded") {
                format.push_str(&format!(" {}", by_x(&grid)));
            }
        }
        Some(Placed {
            format: self.store.texts.number(format.as_bytes()),
            element: self.store.texts.number(element.as_bytes()),
            bytes: allocated,
        })
    }

    /// `tensor<64x128xbf16, #ttnn_layout1>`, or with the layout in it.
    fn ttnn_array(&mut self, ttnn: &Ttnn, number: u64, text: &str) -> Array {
        let inner = text.split_once('<').map_or("", |(_, inner)| inner.strip_suffix('>').unwrap_or(inner));
        // An element type may be that of a tile; the layout behind it has one too.
        let own = &inner[..inner.find('#').unwrap_or(inner.len())];
        let tile = own.find("tile<").map_or(0, |at| at + 5 + end_of_type(&inner.as_bytes()[at + 5..]));
        let (shape, layout) = match inner[tile..].split_once(", ") {
            Some((shape, layout)) => (&inner[..tile + shape.len()], layout),
            None => (inner, ""),
        };
        let placed = match layout.starts_with("#ttnn.ttnn_layout<") {
            true => self.placed(ttnn, number, layout),
            false => ttnn.layouts.get(&self.store.seed.of(layout.as_bytes())).copied(),
        };
        let sizes = sizes(shape).map(|shape| shape.0);
        let words = sizes.as_deref().map_or(NONE, |sizes| self.store.texts.number(by_x(sizes).as_bytes()));
        let Some(placed) = placed else {
            let format = self.store.texts.number(layout.as_bytes());
            return Array { format, element: NONE, sizes: words, bytes: None };
        };
        let data =
            sizes.as_deref().and_then(product).zip(placed.bytes).and_then(|(count, (allocated, bytes))| {
                let data = u128::from(count) * u128::from(bytes) / 1024;
                Some((u64::try_from(data).ok()?, allocated))
            });
        Array { format: placed.format, element: placed.element, sizes: words, bytes: data }
    }

    /// Ends a program.
    pub(crate) fn ttnn_ends(&mut self, ttnn: &mut Ttnn) {
        self.store.budget.give_map(&ttnn.layouts);
        self.store.budget.give_map(&ttnn.spaces);
    }
}

/// The numbers that a text begins with, joined by `x`, and what stands behind them.
fn sizes(text: &str) -> Option<(Vec<u64>, &str)> {
    let (mut sizes, mut rest) = (Vec::new(), text);
    while rest.starts_with(|c: char| c.is_ascii_digit()) {
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        sizes.push(rest[..end].parse().ok()?);
        rest = &rest[end..];
        match rest.strip_prefix('x') {
            Some(behind) => rest = behind,
            None => break,
        }
    }
    (sizes.len() <= 16).then_some((sizes, rest))
}

fn product(sizes: &[u64]) -> Option<u64> {
    sizes.iter().try_fold(1_u64, |product, &size| product.checked_mul(size))
}

/// The bytes of 1024 elements, which are those of a tile.
fn bytes_of_1024(element: &str) -> Option<u64> {
    let block = || {
        let width = element.strip_prefix("bfp_")?.trim_start_matches('b');
        BLOCKS.iter().find(|(name, _)| width == *name).map(|own| own.1)
    };
    BITS.iter().find(|(name, _)| *name == element).map(|(_, bits)| 128 * bits).or_else(block)
}
