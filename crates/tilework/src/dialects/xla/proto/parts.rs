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
        let whole = Repeated { bytes, within: 0..bytes.len(), field: HLO_MODULE };
        let mut parts = match whole.ranges().next() {
            Some(range) => HloParts::within(bytes, range)?,
            None => HloParts::within(bytes, 0..0)?,
        };
        let mut breaks_off = whole.walk(drop);
        let assignment = Repeated { field: HLO_BUFFERS, ..whole };
        if let Some(within) = assignment.ranges().next() {
            let list = |field| Repeated { bytes, within: within.clone(), field };
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
        HloParts::within(bytes, 0..bytes.len())
    }

    fn within(bytes: &'b [u8], within: Range<usize>) -> Result<HloParts<'b>> {
        if bytes.len() > LONGEST {
            return Err(too_long(bytes.len()));
        }
        let computations = Repeated { bytes, within, field: COMPUTATIONS };
        let (others, breaks_off) = computations.others();
        let mut module: raw::HloModuleProto = decode(&others)?;
        let frames = std::mem::take(&mut module.stack_frame_index).into_option().unwrap_or_default();
        let nothing = Repeated { bytes, within: 0..0, field: 0 };
        let (buffers, allocations) = (nothing.clone(), nothing);
        let module = HloModule::from_raw(module);
        Ok(HloParts { module, frames, computations, buffers, allocations, breaks_off })
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
            let instructions = Repeated { bytes, within: range.clone(), field: INSTRUCTIONS };
            let (others, _) = instructions.others();
            let raw: raw::HloComputationProto = decode(&others).map_err(|error| error.at(range))?;
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
        Ok(Instruction::from_raw(decode(bytes).map_err(|error| error.at(place))?, &self.frames))
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
        let bytes = self.bytes;
        self.parts().map(move |(range, is_whole)| {
            let read = match is_whole {
                true => decode(&bytes[range.clone()]),
                // What is left of it may be a message by chance, and says something else.
                false => Err(Error::new("a message that the end of the bytes cuts off")),
            };
            (range.clone(), read.map_err(|error| error.at(range)))
        })
    }

    /// All other fields, and the byte from which on nothing can be read.
    fn others(&self) -> (Vec<u8>, Option<usize>) {
        let mut others = Vec::new();
        let breaks_off = self.walk(|whole| others.extend_from_slice(&self.bytes[whole]));
        (others, breaks_off)
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
