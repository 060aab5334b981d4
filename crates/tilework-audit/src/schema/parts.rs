//! A compiled module in parts: each computation, instruction and buffer is read by itself, when it is asked for.
//!
//! A dump of a large program has hundreds of megabytes, of which most people need little. Here its bytes are all that is
//! in memory, and what the end of the bytes cuts off is read so far.

use std::ops::Range;

use buffa::Message;
use buffa::encoding::decode_varint;

use super::fields::Fields;
use super::generated::xla_hlo as raw;
use super::read::{LONGEST, decode};
use super::{Allocation, Computation, HloModule, Instruction, LogicalBuffer};

/// An `HloProto` or `HloModuleProto` whose parts are read one by one.
#[derive(Debug)]
pub(crate) struct HloParts<'b> {
    module: HloModule,
    frames: raw::StackFrameIndexProto,
    computations: Repeated<'b>,
    buffers: Repeated<'b>,
    allocations: Repeated<'b>,
    breaks_off: Option<usize>,
    /// Which results lie in the place of which parameters.
    aliases: Vec<(u32, u32)>,
    /// What the module takes without its computations.
    taken: usize,
}

/// Why a part cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bad {
    /// It would take more memory than it may.
    Memory,
    /// Its bytes are no such message.
    Bytes,
}

/// A computation whose instructions are read one by one.
#[derive(Debug)]
pub(crate) struct ComputationParts<'a> {
    computation: Computation,
    frames: &'a raw::StackFrameIndexProto,
    instructions: Repeated<'a>,
}

/// The messages of one field in a range of bytes.
#[derive(Clone, Debug)]
struct Repeated<'b> {
    bytes: &'b [u8],
    within: Range<usize>,
    field: u32,
    /// Bytes of memory that one of them may take.
    memory: usize,
}

impl<'b> HloParts<'b> {
    /// Those of an `HloProto`, where no part may take more bytes of memory than these.
    ///
    /// # Errors
    /// Fields of the module itself that are none of such a message, or more than 2 GiB. Errors within a part are those of
    /// the part.
    pub(crate) fn of_hlo(bytes: &'b [u8], memory: usize) -> Result<HloParts<'b>, Bad> {
        let whole = Repeated { bytes, within: 0..bytes.len(), field: HLO_MODULE, memory };
        let mut parts = match whole.ranges().next() {
            Some(range) => HloParts::within(bytes, range, memory)?,
            None => HloParts::within(bytes, 0..0, memory)?,
        };
        let mut breaks_off = whole.walk(drop);
        let assignment = Repeated { field: HLO_BUFFERS, ..whole };
        if let Some(within) = assignment.ranges().next() {
            let list = |field| Repeated { bytes, within: within.clone(), field, memory };
            (parts.buffers, parts.allocations) = (list(LOGICAL_BUFFERS), list(ALLOCATIONS));
            breaks_off = parts.buffers.walk(drop).or(breaks_off);
        }
        parts.breaks_off = parts.breaks_off.or(breaks_off);
        Ok(parts)
    }

    /// Those of an `HloModuleProto`, within this much memory.
    ///
    /// # Errors
    /// See [`HloParts::of_hlo`].
    pub(crate) fn of_module(bytes: &'b [u8], memory: usize) -> Result<HloParts<'b>, Bad> {
        HloParts::within(bytes, 0..bytes.len(), memory)
    }

    /// Bytes of memory that are taken at most, besides the bytes that are read and what was asked for since.
    pub(crate) fn memory(&self) -> usize {
        self.taken
    }

    fn within(bytes: &'b [u8], within: Range<usize>, memory: usize) -> Result<HloParts<'b>, Bad> {
        if bytes.len() > LONGEST {
            return Err(Bad::Bytes);
        }
        let computations = Repeated { bytes, within, field: COMPUTATIONS, memory };
        let (others, breaks_off) = computations.others()?;
        let aliases = aliases(&others).unwrap_or_default();
        let taken = most_memory(&others, &[]) + size_of_val(&aliases[..]);
        let mut module: raw::HloModuleProto = decode_within(&others, &[], memory)?;
        let frames = std::mem::take(&mut module.stack_frame_index).into_option().unwrap_or_default();
        let nothing = Repeated { bytes, within: 0..0, field: 0, memory };
        let (buffers, allocations) = (nothing.clone(), nothing);
        let module = HloModule::from_raw(module);
        Ok(HloParts { module, frames, computations, buffers, allocations, breaks_off, aliases, taken })
    }

    /// The module, without its computations.
    pub(crate) fn module(&self) -> &HloModule {
        &self.module
    }

    /// Which results lie in the place of which parameters, by their numbers.
    pub(crate) fn aliases(&self) -> &[(u32, u32)] {
        &self.aliases
    }

    /// The byte from which on nothing can be read: where they end within a message, or are none.
    pub(crate) fn breaks_off(&self) -> Option<usize> {
        self.breaks_off
    }

    /// The computations in the order of the file, with the bytes where they stand. Errors are about one of them.
    pub(crate) fn computations(
        &self,
    ) -> impl Iterator<Item = (Range<usize>, Result<ComputationParts<'_>, Bad>)> {
        self.computations.ranges().map(|range| (range.clone(), self.computation(range)))
    }

    fn computation(&self, within: Range<usize>) -> Result<ComputationParts<'_>, Bad> {
        let Repeated { bytes, memory, .. } = self.computations;
        let instructions = Repeated { bytes, within, field: INSTRUCTIONS, memory };
        let (others, _) = instructions.others()?;
        let raw: raw::HloComputationProto = decode_within(&others, &[], memory)?;
        let computation = Computation::from_raw(raw, &self.frames);
        Ok(ComputationParts { computation, frames: &self.frames, instructions })
    }

    /// The values of the buffer assignment, with the bytes where they stand. Errors are about one of them.
    pub(crate) fn logical_buffers(&self) -> impl Iterator<Item = (Range<usize>, Result<LogicalBuffer, Bad>)> {
        self.buffers.messages().map(|(place, raw)| (place, raw.map(LogicalBuffer::from_raw)))
    }

    /// The allocations of the buffer assignment, with the bytes where they stand. Errors are about one of them.
    pub(crate) fn allocations(&self) -> impl Iterator<Item = (Range<usize>, Result<Allocation, Bad>)> {
        self.allocations.messages().map(|(place, raw)| (place, raw.map(Allocation::from_raw)))
    }

    /// Whether there is a buffer assignment.
    pub(crate) fn has_buffers(&self) -> bool {
        self.buffers.field != 0
    }

    /// The instruction that [`ComputationParts::instructions`] gave with this place; none if the bytes are no instruction.
    pub(crate) fn instruction(&self, place: Range<usize>) -> Option<Instruction> {
        let bytes = self.computations.bytes.get(place)?;
        let raw = decode_within(bytes, &PLAIN, self.computations.memory).ok()?;
        Some(Instruction::from_raw(raw, &self.frames))
    }
}

impl ComputationParts<'_> {
    /// The computation, without its instructions.
    pub(crate) fn computation(&self) -> &Computation {
        &self.computation
    }

    /// The instructions in the order of the file, with the bytes where they stand. Errors are about one of them.
    pub(crate) fn instructions(&self) -> impl Iterator<Item = (Range<usize>, Result<Instruction, Bad>)> {
        self.instructions
            .messages()
            .map(|(place, raw)| (place, raw.map(|raw| Instruction::from_raw(raw, self.frames))))
    }
}

const HLO_MODULE: u32 = 1;
const HLO_BUFFERS: u32 = 3;
const COMPUTATIONS: u32 = 3;
const INSTRUCTIONS: u32 = 2;
const LOGICAL_BUFFERS: u32 = 1;
const ALLOCATIONS: u32 = 3;

/// Fields of an instruction that are held as the bytes they are: its shape, a constant and what only a compiler knows.
const PLAIN: [u32; 3] = [3, 8, 43];

/// Bytes that a byte of a message may come to: an empty instruction has two.
const WORST: usize = 64;

/// The shortest message that is looked at before it is read.
const SHORT: usize = 1 << 12;

/// Bytes of memory that a message takes at most, of which these fields are kept as they are.
fn most_memory(bytes: &[u8], plain: &[u32]) -> usize {
    let mut fields = Fields::within(bytes, 0..bytes.len());
    let mut sum = WORST * SHORT;
    // Once for the copy that is read, and once for what comes of it.
    while let Ok(Some(field)) = fields.next() {
        let factor = if plain.contains(&field.number) { 2 } else { WORST };
        sum = sum.saturating_add(field.whole.len().saturating_mul(factor));
    }
    sum
}

/// Reads a message if it cannot take more memory than this.
fn decode_within<M: Message>(bytes: &[u8], plain: &[u32], memory: usize) -> Result<M, Bad> {
    if memory != usize::MAX && bytes.len() > SHORT && most_memory(bytes, plain) > memory {
        return Err(Bad::Memory);
    }
    decode(bytes).map_err(|_| Bad::Bytes)
}

/// The numbers of results and parameters in `HloInputOutputAliasProto`, which is field 8 of a module: its entries are
/// field 1, and of these the result is field 1, a list, and the parameter field 2.
fn aliases(module: &[u8]) -> Option<Vec<(u32, u32)>> {
    const ALIASES: u32 = 8;
    let contents = |within: Range<usize>, number: u32| {
        let mut fields = Fields::within(module, within);
        let own = move || loop {
            let field = fields.next().ok()??;
            if field.number == number {
                return field.content;
            }
        };
        std::iter::from_fn(own)
    };
    let mut found = Vec::new();
    for all in contents(0..module.len(), ALIASES) {
        for entry in contents(all, 1) {
            let result = contents(entry.clone(), 1).next();
            let result = match result {
                Some(list) if !list.is_empty() => decode_varint(&mut &module[list]).ok()?,
                _ => 0,
            };
            let mut fields = Fields::within(module, entry);
            let mut parameter = 0;
            while let Ok(Some(field)) = fields.next() {
                if field.number == 2 && field.content.is_none() {
                    parameter =
                        decode_varint(&mut module.get(field.whole.start + 1..field.whole.end)?).ok()?;
                }
            }
            found.try_reserve(1).ok()?;
            found.push((u32::try_from(result).ok()?, u32::try_from(parameter).ok()?));
        }
    }
    Some(found)
}

impl<'b> Repeated<'b> {
    /// Where the messages of the field stand; nothing behind bytes that are no fields.
    fn ranges(&self) -> impl Iterator<Item = Range<usize>> + use<'b> {
        self.parts().map(|(range, _)| range)
    }

    /// The same, and whether each is whole.
    fn parts(&self) -> impl Iterator<Item = (Range<usize>, bool)> + use<'b> {
        let mut fields = Fields::within(self.bytes, self.within.clone());
        let number = self.field;
        std::iter::from_fn(move || {
            loop {
                let field = fields.next().ok()??;
                if field.number == number
                    && let Some(content) = field.content
                {
                    return Some((content, field.is_whole));
                }
            }
        })
    }

    fn messages<M: Message>(&self) -> impl Iterator<Item = (Range<usize>, Result<M, Bad>)> + use<'b, M> {
        let (bytes, memory) = (self.bytes, self.memory);
        let plain: &[u32] = if self.field == INSTRUCTIONS { &PLAIN } else { &[] };
        self.parts().map(move |(range, is_whole)| {
            let read = match is_whole {
                true => decode_within(&bytes[range.clone()], plain, memory),
                // What is left of it may be a message by chance, and says something else.
                false => Err(Bad::Bytes),
            };
            (range, read)
        })
    }

    /// All other fields, and the byte from which on nothing can be read.
    fn others(&self) -> Result<(Vec<u8>, Option<usize>), Bad> {
        let mut length = 0;
        self.walk(|whole| length += whole.len());
        let mut others = Vec::new();
        if length > self.memory || others.try_reserve_exact(length).is_err() {
            return Err(Bad::Memory);
        }
        let breaks_off = self.walk(|whole| others.extend_from_slice(&self.bytes[whole]));
        Ok((others, breaks_off))
    }

    /// Gives the places of all other fields, and returns the byte from which on nothing can be read.
    fn walk(&self, mut other: impl FnMut(Range<usize>)) -> Option<usize> {
        let mut fields = Fields::within(self.bytes, self.within.clone());
        loop {
            let start = fields.at();
            match fields.next() {
                Ok(None) => return None,
                Ok(Some(field)) if !field.is_whole => return Some(field.whole.end),
                Ok(Some(field)) if field.number == self.field => {}
                Ok(Some(field)) => other(field.whole),
                Err(_) => return Some(start),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_that_is_cut_off_is_read_so_far() {
        let bytes = b"\x0a\x09\x0a\x01m\x1a\x04\x0a\x02of";
        let parts = HloParts::of_hlo(bytes, usize::MAX).expect("a module");
        assert_eq!((&parts.module().name[..], parts.breaks_off()), ("m", None));
        let names: Vec<String> =
            parts.computations().map(|(_, part)| part.expect("whole").computation().name.clone()).collect();
        assert_eq!(names, ["of"]);
        let parts = HloParts::of_hlo(&bytes[..6], usize::MAX).expect("a part of one");
        assert_eq!((&parts.module().name[..], parts.breaks_off()), ("m", Some(5)));
    }
}
