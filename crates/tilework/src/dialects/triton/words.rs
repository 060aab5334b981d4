//! What types say, for whoever writes the kernel.

use super::linear::{BLOCK, LANE, LinearLayout, OFFSET, REGISTER, WARP};
use super::value::{Encoding, Side, Type, pads_text};
use crate::dialect::{Dim, Part, words};
use crate::error::counted;
use crate::layout::Layout;
use tilework_core::InOrder;

/// Shared memory has this many banks, each of which gives one word at a time.
const BANKS: u64 = 32;
const WORD: u64 = 4;

impl Type {
    pub(super) fn pieces(&self) -> Vec<Part> {
        let kind = match self.side() {
            _ if self.memory.is_some() => "a buffer in memory that the threads of a block share",
            Some(Side::Memory) => "a value in memory that the threads of a block share",
            Some(Side::Registers) => "a value that lies in the registers of many threads",
            None => "a value",
        };
        let dims: Vec<Dim> = self.dims.iter().map(|&size| Dim::Static(size)).collect();
        let mut parts = vec![Part::new("kind", self.word(), kind), words::dims(&dims)];
        let element = match self.element.text.starts_with('!') {
            true => "a pointer, 8 B each".to_owned(),
            false => words::element(self.element.stored, self.bits()),
        };
        parts.push(Part::new("element type", &self.element.text, element));
        parts.push(Part::new("encoding", self.encoding_name(), self.encoding.words()));
        if let Encoding::Padded { pads, .. } = &self.encoding {
            let each: Vec<String> = pads
                .iter()
                .map(|(interval, pad)| {
                    let bytes = pad * u64::from(self.bits() / 8);
                    format!("after every {interval} places, {pad} more ({bytes} B)")
                })
                .collect();
            parts.push(Part::new("intervals", format!("[{}]", pads_text(pads)), each.join("; ")));
        }
        for (name, text) in self.encoding.fields() {
            let meaning = self.field(name);
            parts.push(Part::new(name, format!("{name} = {text}"), meaning));
        }
        if let Encoding::SharedLinear { alignment, .. } = &self.encoding {
            let meaning = format!("the buffer begins at a multiple of {alignment} B");
            parts.push(Part::new("alignment", format!("alignment = {alignment}"), meaning));
        }
        if let Some(memory) = &self.memory {
            if let Some(space) = &memory.space {
                parts.push(Part::new("memory space", space, "which memory it is"));
            }
            if memory.mutable {
                parts.push(Part::new("mutable", "mutable", "it may be written more than once"));
            }
            if let Some(sizes) = &memory.allocated {
                let text = sizes.iter().map(u64::to_string).collect::<Vec<String>>().join("x");
                parts.push(Part::new("allocated", text, "the sizes of the buffer that this is a part of"));
            }
        }
        parts
    }

    /// What a parameter of the encoding says.
    fn field(&self, name: &str) -> String {
        let bytes = |elements: u64| format!("{} B", elements * u64::from(self.bits() / 8));
        match (&self.encoding, name) {
            (Encoding::Blocked { size_per_thread, .. }, "sizePerThread") => {
                format!("a lane holds {} neighbours in its first registers", times(size_per_thread))
            }
            (Encoding::Blocked { threads_per_warp, .. }, "threadsPerWarp") => {
                format!("the {} lanes of a warp lie {}", product(threads_per_warp), times(threads_per_warp))
            }
            (
                Encoding::Blocked { warps_per_cta, .. }
                | Encoding::NvidiaMma { warps_per_cta, .. }
                | Encoding::AmdMfma { warps_per_cta, .. },
                "warpsPerCTA",
            ) => {
                let warps = counted(product(warps_per_cta), "warp");
                format!("{warps} of a block, which lie {}", times(warps_per_cta))
            }
            (
                Encoding::Blocked { order, .. }
                | Encoding::Swizzled { order, .. }
                | Encoding::Padded { places: super::value::Places::Order { order, .. }, .. },
                "order",
            ) => fastest(order),
            (Encoding::Slice { dim, .. }, "dim") => {
                format!("dimension {dim} of the parent is left out; what differed in it alone holds the same")
            }
            (Encoding::Slice { parent, .. }, "parent") => {
                format!("{} with one dimension more", parent.name())
            }
            (Encoding::DotOperand { operand, .. }, "opIdx") => {
                let (name, k) = if *operand == 0 { ("first", 1) } else { ("second", 2) };
                format!("the {name} factor, which is summed over dimension {}", self.dims.len() - k)
            }
            (Encoding::DotOperand { parent, .. }, "parent") => format!("the product is {}", parent.name()),
            (Encoding::DotOperand { k_width, .. }, "kWidth") => match k_width {
                Some(0) | None => "the instruction says what a lane holds".to_owned(),
                Some(width) => format!(
                    "a lane holds {} along the dimension that is summed",
                    counted(*width, "neighbour")
                ),
            },
            (Encoding::NvidiaMma { major, .. }, "versionMajor") => match major {
                2 => "the tensor cores of Turing and Ampere".to_owned(),
                3 => "the tensor cores of Hopper".to_owned(),
                _ => "the generation of the tensor cores".to_owned(),
            },
            (Encoding::NvidiaMma { .. } | Encoding::AmdMfma { .. }, "instrShape") => {
                "the sizes of one instruction's matrices".to_owned()
            }
            (Encoding::AmdMfma { transposed, .. }, "isTransposed") => match transposed {
                true => "a lane's registers go along rows".to_owned(),
                false => "a lane's registers go down columns".to_owned(),
            },
            (Encoding::Swizzled { vec, .. }, "vec") => {
                format!("{} stay together: {}", counted(*vec, "neighbour"), bytes(*vec))
            }
            (Encoding::Swizzled { per_phase: 1, .. }, "perPhase") => {
                "every row exchanges its columns in another way".to_owned()
            }
            (Encoding::Swizzled { per_phase, .. }, "perPhase") => {
                format!("{per_phase} rows exchange their columns in the same way")
            }
            (Encoding::Swizzled { max_phase: 1, .. }, "maxPhase") => "nothing is exchanged".to_owned(),
            (Encoding::Swizzled { max_phase, .. }, "maxPhase") => {
                format!("there are {max_phase} ways to exchange columns, one after the other")
            }
            (Encoding::Swizzled { .. }, "hasLeadingOffset") => {
                "true is what is now called nvmma_shared".to_owned()
            }
            (Encoding::Nvmma { width: 0, .. }, "swizzlingByteWidth") => "nothing is exchanged".to_owned(),
            (Encoding::Nvmma { width, .. }, "swizzlingByteWidth") => {
                format!("tiles have 8 rows of {width} B, which exchange pieces of 16 B")
            }
            (Encoding::Nvmma { transposed, .. }, "transposed") => {
                let dim = if *transposed { 0 } else { self.encoding.rank().unwrap_or(1).saturating_sub(1) };
                format!("the rows of a tile go along dimension {dim} of a buffer")
            }
            (_, "elementBitWidth") => "the bits of an element".to_owned(),
            (_, "fp4Padded") => {
                "bytes hold two numbers of 4 bits; behind every 8 bytes are 8 of padding".to_owned()
            }
            (_, "rank") => "the dimensions of one buffer".to_owned(),
            (Encoding::Padded { .. }, "shape") => "the sizes before padding".to_owned(),
            (_, "CTAsPerCGA") => "how many blocks of a cluster lie along each dimension".to_owned(),
            (_, "CTASplitNum") => "into how many pieces the blocks cut each dimension".to_owned(),
            (_, "CTAOrder") => "which dimension the blocks are numbered along first".to_owned(),
            (_, "CGALayout") => {
                "for each bit of a block's number, which piece of the tensor is a step further".to_owned()
            }
            (_, "register" | "lane" | "warp" | "block" | "offset") => self.bits_words(name),
            (_, "version" | "versionMajor" | "versionMinor") => "the generation of the hardware".to_owned(),
            (_, "tilesPerWarp") => "how many instructions' tiles of a warp lie side by side".to_owned(),
            _ => "a parameter of the encoding".to_owned(),
        }
    }

    /// Of written bases: how many numbers there are.
    fn bits_words(&self, name: &str) -> String {
        let Ok(linear) = self.linear_layout() else { return format!("the step of each bit of a {name}") };
        let count = 1_u64 << linear.bases(name).len();
        format!("the step of each bit of a {name}: {}", counted(count, name))
    }

    pub(super) fn remarks(&self, layout: &Layout) -> Vec<String> {
        let Ok(linear) = self.linear_layout() else { return Vec::new() };
        match self.side() {
            Some(Side::Memory) => self.of_memory(&linear, layout),
            _ => self.of_registers(&linear),
        }
    }

    fn of_registers(&self, linear: &LinearLayout) -> Vec<String> {
        let count = |input: &str, noun: &str| counted(1 << linear.bases(input).len(), noun);
        let mut notes = vec![
            "Shown from the registers: the index is (block, warp, lane, register), and the offset is the number of the \
             element in row-major order."
                .to_owned(),
            format!(
                "The tensor is held by {} of {} of {}, each with {}.",
                count(BLOCK, "block"),
                count(WARP, "warp"),
                count(LANE, "lane"),
                count(REGISTER, "register")
            ),
        ];
        if let Some(asked) = self.repeated_registers(linear) {
            notes.push(format!(
                "The encoding asks for {} in each lane, and the others would hold the same elements again. Triton drops \
                 those since pull request 11541; older versions kept them.",
                counted(asked, "register")
            ));
        }
        notes.push(match copies(linear) {
            1 => "Every element is held once.".to_owned(),
            copies => {
                let of = [(REGISTER, "registers"), (LANE, "lanes"), (WARP, "warps"), (BLOCK, "blocks")];
                let same: Vec<String> =
                    of.iter().filter_map(|&(input, noun)| same(&linear.flat(input), noun)).collect();
                format!("Every element is held {copies} times: {} hold the same.", same.join(", and "))
            }
        });
        // The first steps of a register that go on side by side along a dimension.
        let bases = linear.bases(REGISTER);
        if let Some(dim) = bases.first().and_then(|base| base.iter().position(|&step| step > 0)) {
            let goes_on = |(bit, base): &(usize, &Vec<u64>)| {
                base.iter().enumerate().all(|(own, &step)| step == if own == dim { 1 << bit } else { 0 })
            };
            let run = 1_u64 << bases.iter().enumerate().take_while(goes_on).count();
            if run > 1 {
                let bytes = run * u64::from(self.bits() / 8);
                notes.push(format!(
                    "Registers 0 to {} of a lane hold neighbours along {}: {bytes} B.",
                    run - 1,
                    of_tensor(dim, linear.sizes().len())
                ));
            }
        }
        if let Some((dim, step)) = linear.bases(LANE).first().and_then(|base| only_step(base)) {
            let elements = counted(step, "element");
            notes.push(format!(
                "Lane 1 begins {elements} after lane 0 along {}.",
                of_tensor(dim, linear.sizes().len())
            ));
        }
        notes
    }

    fn of_memory(&self, linear: &LinearLayout, layout: &Layout) -> Vec<String> {
        let mut notes = vec![
            "Shown from memory: the index is that of the tensor, and the offset counts elements of shared memory."
                .to_owned(),
        ];
        let blocks = linear.flat(BLOCK);
        if !blocks.is_empty() {
            let pieces = 1_u64 << blocks.iter().filter(|&&step| step > 0).count();
            notes.push(match pieces {
                1 => format!("Each of {} blocks has all of the tensor.", 1_u64 << blocks.len()),
                _ => format!(
                    "{} blocks have {pieces} different pieces of the tensor; the memories of those follow one another.",
                    1_u64 << blocks.len()
                ),
            });
        }
        let ahead = self.dims.len() - linear.sizes().len();
        for dim in linear.order(OFFSET).into_iter().take(2) {
            notes.extend(self.conflict(layout, ahead + dim));
        }
        notes
    }

    /// What happens if each lane of a warp reads one of some neighbours along a dimension.
    fn conflict(&self, layout: &Layout, dim: usize) -> Option<String> {
        let bytes = u64::from(self.bits() / 8);
        let lanes = self.dims[dim].min(BANKS);
        if lanes < 2 || bytes > WORD {
            return None;
        }
        let mut index = vec![0; self.dims.len()];
        let mut words: Vec<u64> = Vec::new();
        for lane in 0..lanes {
            index[dim] = lane;
            words.push(layout.offset(&index).ok()? * bytes / WORD);
        }
        words.order();
        words.dedup();
        let in_bank = |bank: u64| words.iter().filter(|word| **word % BANKS == bank).count();
        let most = (0..BANKS).map(in_bank).max()?;
        let reads = format!("Lanes that read {lanes} neighbours along dimension {dim}");
        Some(match most {
            1 => format!("{reads} meet no bank of memory twice."),
            _ => format!(
                "{reads} find up to {most} words in one bank of memory, and wait {most} times as long."
            ),
        })
    }
}

impl Encoding {
    fn words(&self) -> String {
        match self {
            Encoding::Blocked { .. } => {
                "each lane holds a block of neighbours, and lanes and warps lie side by side".to_owned()
            }
            Encoding::Linear { .. } => "bit by bit, how far a number's bit steps in the tensor".to_owned(),
            Encoding::Slice { .. } => {
                "a tensor of one dimension less than another, which it will meet".to_owned()
            }
            Encoding::DotOperand { .. } => {
                "a factor of a matrix product, as the instruction takes it".to_owned()
            }
            Encoding::NvidiaMma { .. } | Encoding::AmdMfma { .. } => {
                "a product of matrices, as the instruction leaves it".to_owned()
            }
            Encoding::Swizzled { .. } => {
                "columns are exchanged, in every row differently, to spread over the banks of memory"
                    .to_owned()
            }
            Encoding::Padded { .. } => {
                "places are left out at intervals, to spread over the banks of memory".to_owned()
            }
            Encoding::Nvmma { .. } => "tiles as the tensor cores read them from memory".to_owned(),
            Encoding::SharedLinear { .. } => {
                "bit by bit, how far an offset's bit steps in the tensor".to_owned()
            }
            Encoding::Foreign { why, .. } => (*why).to_owned(),
        }
    }
}

/// How many registers hold each element.
pub(super) fn copies(linear: &LinearLayout) -> u64 {
    let zeros = linear.inputs().flat_map(|input| linear.flat(input)).filter(|&step| step == 0).count();
    1 << zeros
}

/// `lanes that differ in bits 3 and 4 alone`, or `all lanes`
fn same(steps: &[u64], noun: &str) -> Option<String> {
    let zeros: Vec<usize> = (0..steps.len()).filter(|&bit| steps[bit] == 0).collect();
    match zeros.as_slice() {
        [] => None,
        zeros if zeros.len() == steps.len() => Some(format!("all {noun}")),
        [bit] => Some(format!("{noun} that differ in bit {bit} alone")),
        [bits @ .., last] => {
            Some(format!("{noun} that differ in bits {} and {last} alone", words::first(bits, words::MOST)))
        }
    }
}

/// The only dimension along which a basis steps, and how far.
fn only_step(base: &[u64]) -> Option<(usize, u64)> {
    let mut steps = base.iter().copied().enumerate().filter(|step| step.1 > 0);
    let first = steps.next()?;
    steps.next().is_none().then_some(first)
}

fn product(numbers: &[u64]) -> u64 {
    numbers.iter().fold(1, |product, &number| product.saturating_mul(number))
}

/// `4 × 8`
fn times(numbers: &[u64]) -> String {
    numbers.iter().map(u64::to_string).collect::<Vec<String>>().join(" × ")
}

/// `dimension 1 is the fastest, then 0`
fn fastest(order: &[usize]) -> String {
    match order {
        [first, rest @ ..] if !rest.is_empty() => {
            format!("dimension {first} is the fastest, then {}", words::first(rest, words::MOST))
        }
        _ => "there is one dimension".to_owned(),
    }
}

/// A dimension of the tensor, where the dimensions of the layout are others.
fn of_tensor(dim: usize, rank: usize) -> String {
    match words::letter_of(dim, rank) {
        Some(letter) => format!("axis {dim} ({letter}) of the tensor"),
        None => format!("axis {dim} of the tensor"),
    }
}
