//! The sums in out-of-memory messages: how much is needed, how much there is, and what it is needed for.
//!
//! ```text
//! Ran out of memory in memory space hbm. Used 17.60G of 16.00G hbm. Exceeded hbm capacity by 1.60G.
//! Total hbm usage >= 17.60G:
//!     reserved        528.00M
//!     arguments         7.04G
//! Output size 6.0K; shares 0B with arguments.
//!     HLO temp          1.68G (66.7% utilization: Unpadded (1.12G) Padded (1.67G), 0.5% fragmentation (7.92M))
//! ```

use memchr::memrchr;

use crate::program::{Limit, Message, Need, Part};
use crate::read::bytes::{after, number, number_after, rounded_bytes, split};

/// Lines of a table: what stands before the size, and what it is called here. Of TPUs, then of all others.
const TABLE: [(&[u8], Need); 19] = [
    (b"HLO temporaries (", Need::Temporaries),
    (b"Top-of-Memory reserved: ", Need::Reserved),
    (b"reserved(Infeed/Outfeed/Continuations) ", Need::Reserved),
    (b"heap allocations (without fragmentation) ", Need::Allocated),
    (b"reserved ", Need::Reserved),
    (b"program ", Need::Program),
    (b"arguments ", Need::Arguments),
    (b"Output size ", Need::Output),
    (b"; shares ", Need::OutputInArguments),
    (b"HLO temp ", Need::Temporaries),
    (b" scoped ", Need::Scoped),
    (b" global ", Need::Global),
    (b"% fragmentation (", Need::Fragmentation),
    (b"parameter allocation: ", Need::Arguments),
    (b"constant allocation: ", Need::Constants),
    (b"maybe_live_out allocation: ", Need::Output),
    (b"preallocated temp allocation: ", Need::Temporaries),
    (b"total allocation: ", Need::Program),
    (b"total fragmentation: ", Need::Fragmentation),
];

/// Fields of JAX's `CompiledMemoryStats(…)`, which are exact.
const STATISTICS: [(&[u8], Need); 5] = [
    (b"generated_code_size_in_bytes=", Need::Code),
    (b", argument_size_in_bytes=", Need::Arguments),
    (b", output_size_in_bytes=", Need::Output),
    (b", alias_size_in_bytes=", Need::OutputInArguments),
    (b", temp_size_in_bytes=", Need::Temporaries),
];

impl Message {
    /// Reads whatever sums a line says.
    pub(crate) fn figures(&mut self, line: &[u8]) {
        let memory = after(line, b"Ran out of memory in memory space ")
            .or_else(|| after(line, b"Ran out of memory on "))
            .or_else(|| after(line, b" would exceed memory ").and_then(|rest| after(rest, b"space=")))
            .or_else(|| after(line, b" exceeded scoped "));
        if let Some(memory) = memory {
            let end = memory.iter().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(memory.len());
            self.memory = Some(String::from_utf8_lossy(&memory[..end.min(32)]).to_ascii_lowercase());
        }
        if let Some((used, capacity, limit)) = used_and_capacity(line) {
            (self.used, self.capacity, self.limit) = (Some(used), Some(capacity), limit);
        } else if self.used.is_none() {
            self.used = used_alone(line);
            if self.used.is_some() && is_one(line) {
                self.limit = Limit::Free;
            }
        }
        if self.limit == Limit::Free {
            self.free = self.free.or_else(|| after(line, b"There are ").and_then(rounded_bytes));
            // `(0x0x0_HBM0)`
            if self.memory.is_none()
                && [&b"_HBM"[..], b" at the bottom of memory"].iter().any(|mark| after(line, mark).is_some())
            {
                self.memory = Some("hbm".to_owned());
            }
        }
        self.whole = self.whole.or_else(|| after(line, b"HBM capacity ").and_then(rounded_bytes));
        if let (Some(used), Some(whole)) =
            (after(line, b"Total hbm usage >= ").and_then(rounded_bytes), self.whole)
        {
            (self.used, self.capacity, self.limit) = (Some(used), Some(whole), Limit::Memory);
            self.memory = Some("hbm".to_owned());
        }
        if self.kernel.is_none() && self.limit != Limit::Memory || memory.is_some() {
            self.kernel = self.kernel.take().or_else(|| kernel(line));
        }
        if let Some(statistics) = after(line, b"CompiledMemoryStats(") {
            for (mark, need) in STATISTICS {
                self.part(need, number_after(statistics, mark));
            }
            return;
        }
        for (mark, need) in TABLE {
            if let Some(size) = after(line, mark).map(<[u8]>::trim_ascii_start) {
                let number = size.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
                // Without a unit it is a number of something else.
                let has_unit = size.get(number).is_some_and(|byte| b"BKMGTPE".contains(byte));
                self.part(need, rounded_bytes(size).filter(|_| has_unit));
            }
        }
    }

    fn part(&mut self, need: Need, bytes: Option<u64>) {
        // The table of the program says again what is reserved, and the sums come first.
        if let Some(bytes) = bytes
            && self.parts.iter().all(|part| part.need != need)
        {
            self.parts.push(Part { need, bytes });
        }
    }
}

/// The instruction for which memory was to be allocated: `… on stack for %kernel.18 = bf16[2048,3] custom-call(…)`.
fn kernel(line: &[u8]) -> Option<String> {
    let name = after(line, b" for %")?;
    let end = name.iter().position(|byte| byte.is_ascii_whitespace() || *byte == b',');
    let name = &name[..end.unwrap_or(name.len()).min(256)];
    let name = name.strip_suffix(b".").unwrap_or(name);
    (!name.is_empty()).then(|| String::from_utf8_lossy(name).into_owned())
}

/// Whether what is said is one allocation that failed.
fn is_one(line: &[u8]) -> bool {
    let marks: [&[u8]; 3] =
        [b"OOM when allocating tensor", b"out of memory trying to allocate ", b"Tried to allocate "];
    marks.iter().any(|mark| after(line, mark).is_some())
}

/// What is needed and what there is, in the ways in which messages say both.
fn used_and_capacity(line: &[u8]) -> Option<(u64, u64, Limit)> {
    // Used 17.60G of 16.00G hbm
    let first = after(line, b"Used ").and_then(|rest| {
        let (_, capacity) = split(rest, b" of ")?;
        // Cut in the middle, it is less than it is.
        has_unit(capacity).then(|| both(rest, b" of "))?
    });
    // Scoped allocation with size 19.85M and limit 16.00M exceeded …
    let scoped = || both(after(line, b"llocation with size ")?, b" and limit ");
    // Attempting to allocate 8.00M. That was not possible. There are 6.43M free.
    let attempt = || {
        let rest =
            after(line, b"Attempting to allocate ").or_else(|| after(line, b"Attempting to reserve "))?;
        let (wanted, free) = both(rest, b"There are ")?;
        // What is free may lie in pieces: `…, and 3.33G reservable`, `the largest contiguous region of free memory is 30.56M`.
        let piece = after(rest, b"region of free memory is ").and_then(rounded_bytes);
        let reservable = || {
            let before = &rest[..memchr::memmem::find(rest, b" reservable")?];
            rounded_bytes(&before[memrchr(b' ', before)? + 1..])
        };
        Some((wanted, piece.or_else(reservable).unwrap_or(free)))
    };
    // Tried to allocate 2.00 GiB (GPU 0; 15.78 GiB total capacity; 14.10 GiB already allocated; 1.20 GiB free; …)
    // Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 23.69 GiB of which 14.25 MiB is free.
    let tried = || {
        let rest = after(line, b"Tried to allocate ")?;
        let free = match after(rest, b" which ") {
            Some(free) => free,
            None => {
                let before = &rest[..memchr::memmem::find(rest, b" free")?];
                let number = before.strip_suffix(b"iB").unwrap_or(before);
                let start = memrchr(b';', number).map_or(0, |at| at + 1);
                &before[start..]
            }
        };
        Some((rounded_bytes(rest)?, rounded_bytes(free)?))
    };
    // Requires 3.47E, has 14.49G available.
    let early = || both(after(line, b"Requires ")?, b", has ");
    // Allocation (size=268435456) would exceed memory (size=134217728)
    let kernel = || {
        let (before, rest) = split(line, b") would exceed memory (size=")?;
        Some((number(&before[memrchr(b'=', before)? + 1..])?, number(rest)?))
    };
    // TPU TensorCore Hbm usage: 34.82G, SparseCore Hbm usage 174.10G, exceeding available bytes: 95.74G
    let cores = || {
        let (uses, available) = split(line, b"exceeding available bytes: ")?;
        let (dense, sparse) = split(after(uses, b"TensorCore Hbm usage: ")?, b"SparseCore Hbm usage ")?;
        Some((rounded_bytes(dense)?.checked_add(rounded_bytes(sparse)?)?, rounded_bytes(available)?))
    };
    // HLO temporaries (32.88G) exceeds 15.75G, or available HBM (15.75G)
    let temporaries = || {
        let (before, limit) = split(line, b" exceeds ")?;
        let used = rounded_bytes(&before[memrchr(b'(', before)? + 1..])?;
        let limit = match limit.first()?.is_ascii_digit() {
            true => limit,
            false => split(limit, b"(")?.1,
        };
        Some((used, rounded_bytes(limit)?))
    };
    // Can't reduce memory use below 14.15GiB (15193514189 bytes) by rematerialization; only reduced to 16.90GiB
    let reduced = || {
        let (wanted, reached) = both(after(line, b"an't reduce memory use below ")?, b"only reduced to ")?;
        Some((reached, wanted))
    };
    let with = |limit| move |(used, capacity)| (used, capacity, limit);
    let memory = || first.or_else(early).or_else(cores).or_else(temporaries).map(with(Limit::Memory));
    let of_one = || scoped().or_else(kernel).map(with(Limit::Kernel));
    let free = || attempt().or_else(tried).map(with(Limit::Free));
    let reduced = || reduced().map(with(Limit::Rematerialisation));
    memory().or_else(of_one).or_else(free).or_else(reduced)
}

/// Whether the number that a text begins with has a unit of bytes.
fn has_unit(text: &[u8]) -> bool {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
    text.get(digits).is_some_and(|byte| b"BKMGTPE".contains(byte))
}

/// A size that the text begins with, and one behind a mark.
fn both(text: &[u8], mark: &[u8]) -> Option<(u64, u64)> {
    let (first, second) = split(text, mark)?;
    Some((rounded_bytes(first)?, rounded_bytes(second)?))
}

/// What is needed where it is not said how much there is.
fn used_alone(line: &[u8]) -> Option<u64> {
    const MARKS: [&[u8]; 6] = [
        b"out of memory trying to allocate ",
        b"Tried to allocate ",
        b"ut of memory while trying to allocate ",
        b"ut of memory allocating ",
        b"ailed to allocate request for ",
        b"Total hbm usage >= ",
    ];
    MARKS.iter().find_map(|mark| after(line, mark).and_then(rounded_bytes)).or_else(|| tensor(line)?.bytes())
}

/// The array of TensorFlow's message: `OOM when allocating tensor with shape[32,224,224,64] and type float on …`.
pub(crate) fn tensor(line: &[u8]) -> Option<Tensor<'_>> {
    let sizes = after(line, b"OOM when allocating tensor with shape[")?;
    let (sizes, rest) = split(sizes, b"]")?;
    let name = after(rest, b" type ")?;
    let end =
        name.iter().position(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'_')).unwrap_or(name.len());
    let element = match &name[..end] {
        b"float" | b"float32" => "f32",
        b"half" | b"float16" => "f16",
        b"bfloat16" => "bf16",
        b"double" | b"float64" => "f64",
        b"int64" => "s64",
        b"int32" => "s32",
        b"int16" => "s16",
        b"int8" => "s8",
        b"uint8" => "u8",
        b"bool" => "pred",
        b"complex64" => "c64",
        _ => return None,
    };
    Some(Tensor { element, sizes: std::str::from_utf8(sizes).ok()? })
}

/// An array by its element type and its sizes, as they are written.
pub(crate) struct Tensor<'a> {
    element: &'static str,
    sizes: &'a str,
}

impl Tensor<'_> {
    /// In XLA's notation.
    pub(crate) fn text(&self) -> String {
        format!("{}[{}]", self.element, self.sizes)
    }

    fn bytes(&self) -> Option<u64> {
        let array = tilework::xla::Shape::parse(&self.text()).ok()?;
        Some(array.as_array()?.lower().ok()?.bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: f64 = (1_u64 << 30) as f64;

    fn read(lines: &str) -> Message {
        let mut message = Message::default();
        lines.lines().for_each(|line| message.figures(line.as_bytes()));
        message
    }

    #[test]
    fn what_is_needed_and_what_there_is_are_read_in_every_way_of_saying_it() {
        let gib = |gib: f64| (gib * GIB) as u64;
        for (line, used, capacity, memory) in [
            ("Ran out of memory in memory space hbm. Used 17.60G of 16.00G hbm.", 17.6, 16.0, Some("hbm")),
            (
                "E1000: CompileTimeHbmOom: Ran out of memory on HBM, the total memory required for HLO temporaries \
                 (32.00G) exceeds available HBM (15.75G). HLO module: jit_f.",
                32.0,
                15.75,
                Some("hbm"),
            ),
            ("HLO temporaries (32.88G) exceeds 15.75G of hbm", 32.88, 15.75, None),
            (
                "TPU TensorCore Hbm usage: 34.82G, SparseCore Hbm usage 174.10G, exceeding available bytes: 95.74G",
                34.82 + 174.10,
                95.74,
                None,
            ),
            (
                "Scoped allocation with size 0.25G and limit 0.125G exceeded scoped vmem limit",
                0.25,
                0.125,
                Some("vmem"),
            ),
            ("Attempting to allocate 8.00G. That was not possible. There are 6.50G free.", 8.0, 6.5, None),
            (
                "Attempting to reserve 9.50G at the bottom of memory. … There are 1.25G free",
                9.5,
                1.25,
                Some("hbm"),
            ),
            (
                "Allocation (size=268435456) would exceed memory (size=134217728) :: #allocation3 \
                 [shape = 'u8[268435456]{0}', space=vmem, size = 0x10000000]",
                0.25,
                0.125,
                Some("vmem"),
            ),
            ("unlikely to have enough memory. Requires 3.00E, has 14.50G available.", 3.0 * GIB, 14.5, None),
        ] {
            let message = read(line);
            let near = |found: Option<u64>, gib: u64| found.is_some_and(|found| found.abs_diff(gib) < 9);
            assert!(
                near(message.used, gib(used)) && near(message.capacity, gib(capacity)),
                "{line}: {message:?}"
            );
            assert_eq!(message.memory.as_deref(), memory, "{line}");
        }
    }

    #[test]
    fn what_is_needed_alone_is_read_and_nothing_else_taken_for_it() {
        assert_eq!(
            read("RESOURCE_EXHAUSTED: Out of memory while trying to allocate 12345 bytes.").used,
            Some(12345)
        );
        assert_eq!(read("Out of memory while trying to allocate 1.50GiB.").used, Some(3 << 29));
        assert_eq!(read("Out of memory allocating 77 bytes").used, Some(77));
        assert_eq!(read("Used to be one of those. It exceeds (all) limits of 5G").used, None);
        assert_eq!(read("Used 5 of them, a program 7 times"), Message::default());
    }

    #[test]
    fn the_table_says_what_it_is_needed_for() {
        let parts = |text: &str| -> Vec<(&str, u64)> {
            read(text).parts.iter().map(|part| (part.need.name(), part.bytes)).collect()
        };
        let tpu = "    reserved         18.00M \n    program           1.50G \n    arguments       unknown size \n\n\
                   Output size 6.0K; shares 4.0K with arguments.\n\nProgram hbm requirement 1.50G:\n    \
                   reserved           4.0K\n    HLO temp          1.25G (66.7% utilization: Unpadded (1.12G) \
                   Padded (1.67G), 0.5% fragmentation (7.50M))\n";
        let expected = [
            ("reserved", 18 << 20),
            ("program", 3 << 29),
            ("output", 6144),
            ("output in arguments", 4096),
            ("temporaries", 5 << 28),
            ("fragmentation", 15 << 19),
        ];
        assert_eq!(parts(tpu), expected);
        assert_eq!(
            parts("    reserved 530.00M \n    program 1.50G\n    arguments 0BOutput size 0B; shares 0B with"),
            [
                ("reserved", 530 << 20),
                ("program", 3 << 29),
                ("arguments", 0),
                ("output", 0),
                ("output in arguments", 0),
            ]
        );
        let others = "             parameter allocation:    6.00MiB\n              constant allocation:         0B\n        \
                      maybe_live_out allocation:    6.00MiB\n     preallocated temp allocation:    1.00KiB\n  \
                      preallocated temp fragmentation:         3B (0.00%)\n                 total allocation:   12.00MiB\n              \
                      total fragmentation:         2B (0.00%)\n";
        let expected = [
            ("arguments", 6 << 20),
            ("constants", 0),
            ("output", 6 << 20),
            ("temporaries", 1024),
            ("program", 12 << 20),
            ("fragmentation", 2),
        ];
        assert_eq!(parts(others), expected);
        let statistics = "CompiledMemoryStats(generated_code_size_in_bytes=150, argument_size_in_bytes=12, \
                          output_size_in_bytes=32, alias_size_in_bytes=2, temp_size_in_bytes=10, \
                          host_argument_size_in_bytes=99)";
        let expected = [
            ("code", 150),
            ("arguments", 12),
            ("output", 32),
            ("output in arguments", 2),
            ("temporaries", 10),
        ];
        assert_eq!(parts(statistics), expected);
    }
}
