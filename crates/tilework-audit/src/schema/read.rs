//! From the messages to plain values.

use buffa::{DecodeOptions, Message};
use tilework::{Error, Result};

use super::generated::xla_hlo as raw;
use super::{
    Allocation, Assigned, BufferAssignment, Computation, Event, EventKind, HeapTrace, Hlo, HloModule,
    Instruction, LogicalBuffer, Sequence, SourceLine,
};

/// A message cannot be longer, as protobuf has it.
pub(super) const LONGEST: usize = i32::MAX as usize;

impl Hlo {
    /// Reads an `HloProto`.
    ///
    /// The memory it takes is bounded by some fifty times the length of the bytes. Shapes are not read: a bad one is an error
    /// of [`Instruction::shape`] alone.
    ///
    /// # Errors
    /// Bytes that are not such a message.
    pub fn read(bytes: &[u8]) -> Result<Hlo> {
        let raw: raw::HloProto = decode(bytes)?;
        Ok(Hlo {
            module: raw.hlo_module.into_option().map(HloModule::from_raw),
            buffers: raw.buffer_assignment.into_option().map(BufferAssignment::from_raw),
        })
    }
}

impl HloModule {
    /// Reads an `HloModuleProto`, as PJRT gives one out.
    ///
    /// # Errors
    /// See [`Hlo::read`].
    pub fn read(bytes: &[u8]) -> Result<HloModule> {
        decode(bytes).map(HloModule::from_raw)
    }

    pub(super) fn from_raw(raw: raw::HloModuleProto) -> HloModule {
        let stack_frames = raw.stack_frame_index.into_option().unwrap_or_default();
        let computations = raw.computations.into_iter();
        let sequences = raw.schedule.into_option().unwrap_or_default().sequences.into_iter();
        HloModule {
            name: raw.name,
            entry_computation_name: raw.entry_computation_name,
            entry_computation_id: raw.entry_computation_id,
            computations: computations.map(|raw| Computation::from_raw(raw, &stack_frames)).collect(),
            schedule: sequences
                .map(|raw| Sequence {
                    computation_id: raw.key,
                    instruction_ids: raw.value.into_option().unwrap_or_default().instruction_ids,
                })
                .collect(),
        }
    }
}

impl Computation {
    pub(super) fn from_raw(raw: raw::HloComputationProto, frames: &raw::StackFrameIndexProto) -> Computation {
        let instructions = raw.instructions.into_iter();
        Computation {
            name: raw.name,
            id: raw.id,
            root_id: raw.root_id,
            is_fusion: raw.is_fusion_computation,
            instructions: instructions.map(|raw| Instruction::from_raw(raw, frames)).collect(),
        }
    }
}

impl Instruction {
    pub(super) fn from_raw(raw: raw::HloInstructionProto, frames: &raw::StackFrameIndexProto) -> Instruction {
        let metadata = raw.metadata.into_option().unwrap_or_default();
        let source = match metadata.source_file.is_empty() {
            true => source_of_frame(frames, metadata.stack_frame_id),
            false => Some(SourceLine { file: metadata.source_file, line: metadata.source_line }),
        };
        Instruction {
            name: raw.name,
            id: raw.id,
            opcode: raw.opcode,
            shape_proto: raw.shape,
            operand_ids: raw.operand_ids,
            called_computation_ids: raw.called_computation_ids,
            dimensions: raw.dimensions,
            parameter_number: raw.parameter_number,
            tuple_index: raw.tuple_index,
            number: whole_number(&raw.literal),
            comparison: raw.comparison_direction,
            backend_config: raw.backend_config,
            fusion_kind: raw.fusion_kind,
            custom_call_target: raw.custom_call_target,
            op_name: metadata.op_name,
            source,
        }
    }
}

/// The innermost line of a stack. Frames, places and names count from 1, and 0 is none.
fn source_of_frame(frames: &raw::StackFrameIndexProto, frame: i32) -> Option<SourceLine> {
    let from_one = |number: i32| usize::try_from(number).ok()?.checked_sub(1);
    let frame = frames.stack_frames.get(from_one(frame)?)?;
    let place = frames.file_locations.get(from_one(frame.file_location_id)?)?;
    let file = frames.file_names.get(from_one(place.file_name_id)?)?;
    Some(SourceLine { file: file.clone(), line: place.line })
}

/// The number of a `LiteralProto` that holds one: how often a loop runs is often told by one.
fn whole_number(literal: &[u8]) -> Option<i128> {
    // With its shape and layout, one number is not longer.
    const LONGEST: usize = 256;
    let literal: raw::LiteralProto = (literal.len() <= LONGEST).then(|| decode(literal).ok())??;
    if !literal.shape.dimensions.is_empty() {
        return None;
    }
    let of_32_bits = literal.s32s.iter().map(|&number| number.into());
    let of_64_bits = literal.s64s.iter().map(|&number| number.into());
    let above_0 = literal.u32s.iter().map(|&number| number.into());
    let numbers =
        of_32_bits.chain(of_64_bits).chain(above_0).chain(literal.u64s.iter().map(|&number| number.into()));
    let numbers: Vec<i128> = numbers.collect();
    let [number] = numbers[..] else { return None };
    Some(number)
}

impl BufferAssignment {
    fn from_raw(raw: raw::BufferAssignmentProto) -> BufferAssignment {
        BufferAssignment {
            logical_buffers: raw.logical_buffers.into_iter().map(LogicalBuffer::from_raw).collect(),
            allocations: raw.buffer_allocations.into_iter().map(Allocation::from_raw).collect(),
            heap_traces: raw.heap_simulator_traces.into_iter().map(HeapTrace::from_raw).collect(),
        }
    }
}

impl LogicalBuffer {
    pub(super) fn from_raw(raw: raw::LogicalBufferProto) -> LogicalBuffer {
        let location = raw.defined_at.into_option().unwrap_or_default();
        LogicalBuffer {
            id: raw.id,
            size: raw.size,
            color: raw.color,
            instruction_id: location.instruction_id,
            instruction_name: location.instruction_name,
            shape_index: location.shape_index,
        }
    }
}

impl Allocation {
    pub(super) fn from_raw(raw: raw::BufferAllocationProto) -> Allocation {
        let assigned = raw.assigned.into_iter().map(|raw| Assigned {
            logical_buffer_id: raw.logical_buffer_id,
            offset: raw.offset,
            size: raw.size,
        });
        Allocation {
            index: raw.index,
            size: raw.size,
            color: raw.color,
            is_thread_local: raw.is_thread_local,
            is_tuple: raw.is_tuple,
            is_constant: raw.is_constant,
            is_entry_computation_parameter: raw.is_entry_computation_parameter,
            is_parameter_aliased_with_output: raw.is_parameter_aliased_with_output,
            maybe_live_out: raw.maybe_live_out,
            parameter_number: raw.parameter_number,
            parameter_shape_index: raw.parameter_shape_index,
            assigned: assigned.collect(),
        }
    }
}

impl HeapTrace {
    fn from_raw(raw: raw::HeapSimulatorTrace) -> HeapTrace {
        let events = raw.events.into_iter().map(|raw| Event {
            kind: match raw.kind.to_i32() {
                0 => EventKind::Allocate,
                1 => EventKind::Free,
                2 => EventKind::ShareWith,
                other => EventKind::Other(other),
            },
            logical_buffer_id: raw.buffer_id,
            shares_with: raw.share_with_canonical_id,
            computation_name: raw.computation_name,
            instruction_name: raw.instruction_name,
        });
        HeapTrace {
            allocation: raw.buffer_allocation_index,
            whole_module: raw.whole_module_simulation,
            events: events.collect(),
        }
    }
}

/// Names cost more memory than bytes, so the limit grows with the input: an empty instruction is two bytes of it.
pub(super) fn decode<M: Message>(bytes: &[u8]) -> Result<M> {
    if bytes.len() > LONGEST {
        return Err(too_long(bytes.len()));
    }
    let memory = bytes.len().saturating_mul(MEMORY_PER_BYTE).saturating_add(1 << 20);
    let options = DecodeOptions::new().with_recursion_limit(32).with_element_memory_limit(memory);
    options.decode_from_slice(bytes).map_err(|error| {
        Error::new(error.to_string()).field("HloProto").rule("the bytes are not a compiled module")
    })
}

fn too_long(bytes: usize) -> Error {
    Error::new(format!("a message of {bytes} bytes")).accepts("less than 2 GiB")
}

/// Elements of lists in memory for each byte of input.
const MEMORY_PER_BYTE: usize = 24;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_literal_of_one_element_without_dimensions_is_its_number() {
        let scalar = [0x0a, 2, 0x10, 4];
        let literal = |values: &[u8]| [&scalar[..], values].concat();
        assert_eq!(whole_number(&literal(&[0x22, 1, 5])), Some(5));
        assert_eq!(whole_number(&literal(&[0x20, 5])), Some(5));
        assert_eq!(
            whole_number(&literal(&[0x22, 10, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1])),
            Some(-1)
        );
        let most = [0x3a, 10, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1];
        assert_eq!(whole_number(&literal(&most)), Some(u64::MAX.into()));
        assert_eq!(whole_number(&literal(&[0x22, 2, 5, 6])), None);
        // An array of one element, another type, and bytes that are no message.
        assert_eq!(whole_number(&[0x0a, 5, 0x10, 4, 0x1a, 1, 1, 0x22, 1, 5]), None);
        assert_eq!(whole_number(&literal(&[0x42, 4, 0, 0, 0, 64])), None);
        assert_eq!(whole_number(&literal(&[0x22, 9])), None);
    }
}
