//! A compiled module in parts: each computation, instruction and buffer is read by itself, when it is asked for.
//!
//! A dump of a large program has hundreds of megabytes, of which most people need little. Here its bytes are all that is
//! in memory, and what the end of the bytes cuts off is read so far.

use std::ops::Range;

use buffa::Message;

use super::generated::xla_hlo as raw;
use super::hlo::{Allocation, Computation, HloModule, Instruction, LONGEST, LogicalBuffer, decode, too_long};
use super::wire::{Path, Reader};
use crate::error::{Error, Result};

/// An `HloProto` or `HloModuleProto` whose parts are read one by one.
#[derive(Debug)]
pub struct HloParts<'b> {
    module: HloModule,
    frames: raw::StackFrameIndexProto,
    computations: Repeated<'b>,
    buffers: Repeated<'b>,
    allocations: Repeated<'b>,
    breaks_off: Option<usize>,
    /// What the module takes without its computations.
    taken: usize,
}

/// A computation whose instructions are read one by one.
#[derive(Debug)]
pub struct ComputationParts<'a> {
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
    /// Those of an `HloProto`.
    ///
    /// ```
    /// use tilework::xla::proto::HloParts;
    /// let bytes = b"\x0a\x09\x0a\x01m\x1a\x04\x0a\x02of";
    /// let parts = HloParts::of_hlo(bytes)?;
    /// assert_eq!(parts.module().name, "m");
    /// let names: Result<Vec<_>, _> = parts.computations().map(|part| Ok(part?.computation().name.clone())).collect();
    /// assert_eq!(names?, ["of"]);
    /// // Cut off, it is read so far.
    /// let parts = HloParts::of_hlo(&bytes[..6])?;
    /// assert_eq!((&parts.module().name[..], parts.breaks_off()), ("m", Some(5)));
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Fields of the module itself that are none of such a message, or more than 2 GiB. Errors within a part are those of
    /// the part.
    pub fn of_hlo(bytes: &'b [u8]) -> Result<HloParts<'b>> {
        HloParts::of_hlo_within(bytes, usize::MAX)
    }

    /// The same, where no part may take more bytes of memory than these: reading one that would is an error for which
    /// [`HloParts::lacks_memory`] is true.
    ///
    /// # Errors
    /// See [`HloParts::of_hlo`].
    pub fn of_hlo_within(bytes: &'b [u8], memory: usize) -> Result<HloParts<'b>> {
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

    /// Those of an `HloModuleProto`.
    ///
    /// # Errors
    /// See [`HloParts::of_hlo`].
    pub fn of_module(bytes: &'b [u8]) -> Result<HloParts<'b>> {
        HloParts::of_module_within(bytes, usize::MAX)
    }

    /// The same within this much memory: see [`HloParts::of_hlo_within`].
    ///
    /// # Errors
    /// See [`HloParts::of_hlo`].
    pub fn of_module_within(bytes: &'b [u8], memory: usize) -> Result<HloParts<'b>> {
        HloParts::within(bytes, 0..bytes.len(), memory)
    }

    /// Bytes of memory that are taken at most, besides the bytes that are read and what was asked for since.
    pub fn memory(&self) -> usize {
        self.taken
    }

    /// Whether an error says that a part would have taken more memory than it may.
    pub fn lacks_memory(error: &Error) -> bool {
        error.found() == TOO_MUCH
    }

    fn within(bytes: &'b [u8], within: Range<usize>, memory: usize) -> Result<HloParts<'b>> {
        if bytes.len() > LONGEST {
            return Err(too_long(bytes.len()));
        }
        let computations = Repeated { bytes, within, field: COMPUTATIONS, memory };
        let (others, breaks_off) = computations.others()?;
        let taken = most_memory(&others, &[]);
        let mut module: raw::HloModuleProto = decode_within(&others, &[], memory)?;
        let frames = std::mem::take(&mut module.stack_frame_index).into_option().unwrap_or_default();
        let nothing = Repeated { bytes, within: 0..0, field: 0, memory };
        let (buffers, allocations) = (nothing.clone(), nothing);
        let module = HloModule::from_raw(module);
        Ok(HloParts { module, frames, computations, buffers, allocations, breaks_off, taken })
    }

    /// The module, without its computations.
    pub fn module(&self) -> &HloModule {
        &self.module
    }

    /// The byte from which on nothing can be read: where they end within a message, or are none.
    pub fn breaks_off(&self) -> Option<usize> {
        self.breaks_off
    }

    /// The computations in the order of the file. Errors are about one of them, with its place.
    pub fn computations(&self) -> impl Iterator<Item = Result<ComputationParts<'_>>> {
        self.computations.ranges().map(|range| {
            let bytes = self.computations.bytes;
            let memory = self.computations.memory;
            let instructions = Repeated { bytes, within: range.clone(), field: INSTRUCTIONS, memory };
            let read = instructions.others().and_then(|(others, _)| decode_within(&others, &[], memory));
            let raw: raw::HloComputationProto = read.map_err(|error| error.at(range))?;
            let computation = Computation::from_raw(raw, &self.frames);
            Ok(ComputationParts { computation, frames: &self.frames, instructions })
        })
    }

    /// The values of the buffer assignment, with the bytes where they stand. Errors are about one of them.
    pub fn logical_buffers(&self) -> impl Iterator<Item = (Range<usize>, Result<LogicalBuffer>)> {
        self.buffers.messages().map(|(place, raw)| (place, raw.map(LogicalBuffer::from_raw)))
    }

    /// The allocations of the buffer assignment, with the bytes where they stand. Errors are about one of them.
    pub fn allocations(&self) -> impl Iterator<Item = (Range<usize>, Result<Allocation>)> {
        self.allocations.messages().map(|(place, raw)| (place, raw.map(Allocation::from_raw)))
    }

    /// Whether there is a buffer assignment.
    pub fn has_buffers(&self) -> bool {
        self.buffers.field != 0
    }

    /// The instruction that [`ComputationParts::instructions`] gave with this place.
    ///
    /// # Errors
    /// Bytes that are not an instruction.
    pub fn instruction(&self, place: Range<usize>) -> Result<Instruction> {
        let bytes = self.computations.bytes.get(place.clone());
        let bytes = bytes.ok_or_else(|| Error::new("a place outside of the message"))?;
        let raw = decode_within(bytes, &PLAIN, self.computations.memory);
        Ok(Instruction::from_raw(raw.map_err(|error| error.at(place))?, &self.frames))
    }
}

impl ComputationParts<'_> {
    /// The computation, without its instructions.
    pub fn computation(&self) -> &Computation {
        &self.computation
    }

    /// The instructions in the order of the file, with the bytes where they stand. Errors are about one of them.
    pub fn instructions(&self) -> impl Iterator<Item = (Range<usize>, Result<Instruction>)> {
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

/// What an error says of a part for which there is no memory.
const TOO_MUCH: &str = "a part that would take more memory than there is for it";

/// Bytes that a byte of a message may come to: an empty instruction has two.
const WORST: usize = 64;

/// The shortest message that is looked at before it is read.
const SHORT: usize = 1 << 12;

fn too_much() -> Error {
    Error::new(TOO_MUCH).rule("memory is limited whatever a message says").accepts("a larger limit")
}

/// Bytes of memory that a message takes at most, of which these fields are kept as they are.
fn most_memory(bytes: &[u8], plain: &[u32]) -> usize {
    let mut reader = Reader::within(bytes, 0..bytes.len());
    let mut sum = WORST * SHORT;
    // Once for the copy that is read, and once for what comes of it.
    while let Ok(Some(part)) = reader.part(&Path::root("HloProto")) {
        let factor = if plain.contains(&part.number) { 2 } else { WORST };
        sum = sum.saturating_add(part.whole.len().saturating_mul(factor));
    }
    sum
}

/// Reads a message if it cannot take more memory than this.
fn decode_within<M: Message>(bytes: &[u8], plain: &[u32], memory: usize) -> Result<M> {
    if memory != usize::MAX && bytes.len() > SHORT && most_memory(bytes, plain) > memory {
        return Err(too_much());
    }
    decode(bytes)
}

impl<'b> Repeated<'b> {
    /// Where the messages of the field stand; nothing behind bytes that are no fields.
    fn ranges(&self) -> impl Iterator<Item = Range<usize>> + use<'b> {
        self.parts().map(|(range, _)| range)
    }

    /// The same, and whether each is whole.
    fn parts(&self) -> impl Iterator<Item = (Range<usize>, bool)> + use<'b> {
        let mut reader = Reader::within(self.bytes, self.within.clone());
        let field = self.field;
        std::iter::from_fn(move || {
            loop {
                let part = reader.part(&Path::root("HloProto")).ok()??;
                if part.number == field
                    && let Some(content) = part.content
                {
                    return Some((content, part.is_whole));
                }
            }
        })
    }

    fn messages<M: Message>(&self) -> impl Iterator<Item = (Range<usize>, Result<M>)> + use<'b, M> {
        let (bytes, memory) = (self.bytes, self.memory);
        let plain: &[u32] = if self.field == INSTRUCTIONS { &PLAIN } else { &[] };
        self.parts().map(move |(range, is_whole)| {
            let read = match is_whole {
                true => decode_within(&bytes[range.clone()], plain, memory),
                // What is left of it may be a message by chance, and says something else.
                false => Err(Error::new("a message that the end of the bytes cuts off")),
            };
            (range.clone(), read.map_err(|error| error.at(range)))
        })
    }

    /// All other fields, and the byte from which on nothing can be read.
    fn others(&self) -> Result<(Vec<u8>, Option<usize>)> {
        let mut length = 0;
        self.walk(|whole| length += whole.len());
        let mut others = Vec::new();
        if length > self.memory || others.try_reserve_exact(length).is_err() {
            return Err(too_much());
        }
        let breaks_off = self.walk(|whole| others.extend_from_slice(&self.bytes[whole]));
        Ok((others, breaks_off))
    }

    /// Gives the places of all other fields, and returns the byte from which on nothing can be read.
    fn walk(&self, mut other: impl FnMut(Range<usize>)) -> Option<usize> {
        let mut reader = Reader::within(self.bytes, self.within.clone());
        loop {
            let start = reader.at();
            match reader.part(&Path::root("HloProto")) {
                Ok(None) => return None,
                Ok(Some(part)) if !part.is_whole => return Some(part.whole.end),
                Ok(Some(part)) if part.number == self.field => {}
                Ok(Some(part)) => other(part.whole),
                Err(_) => return Some(start),
            }
        }
    }
}
