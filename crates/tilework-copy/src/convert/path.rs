//! Which steps lead from one type to another.

use tilework_core::Element;

use super::{Stage, Stages, held_bits, kernels, numbers};
use crate::kernels::InstructionSet;

/// A wide type that holds every value of the types that pass through it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Hub {
    F32,
    F64,
    Signed,
    Unsigned,
}

impl Hub {
    /// Where numbers of a type pass; none if they are none, or complex, or of fewer than four bits.
    fn of(element: Element) -> Option<Hub> {
        Some(match element {
            Element::F64 => Hub::F64,
            Element::Pred => Hub::Unsigned,
            _ if element.is_float() => Hub::F32,
            _ if element.bits() < 4 => return None,
            _ if element.is_signed_integer() => Hub::Signed,
            _ if element.is_unsigned_integer() => Hub::Unsigned,
            _ => return None,
        })
    }
}

/// The steps from one type to another, if both are numbers.
pub(super) fn stages(from: Element, to: Element, set: InstructionSet) -> Option<Stages> {
    let (source, target) = (Hub::of(from)?, Hub::of(to)?);
    let is_integer = |hub| matches!(hub, Hub::Signed | Hub::Unsigned);
    let mut steps = Steps::default();
    if held_bits(from) == 4 {
        let unpack =
            if source == Hub::Signed { kernels::unpack_signed_nibbles } else { kernels::unpack_nibbles };
        steps.add(unpack(set), 8);
    }
    // Integers of four and eight bits differ in nothing but where they lie.
    let is_pred = from == Element::Pred || to == Element::Pred;
    let is_repacked =
        !is_pred && is_integer(source) && is_integer(target) && held_bits(from) + held_bits(to) < 16;
    if !is_repacked {
        between(&mut steps, (from, source), (to, target), set)?;
    }
    if held_bits(to) == 4 {
        steps.add(kernels::pack_nibbles(set), 4);
    }
    Some(steps.stages)
}

/// The steps between elements in bytes of their own.
fn between(steps: &mut Steps, from: (Element, Hub), to: (Element, Hub), set: InstructionSet) -> Option<()> {
    // A number of four bits is in a byte by now.
    let in_bytes = match from.0 {
        Element::S4 => Element::S8,
        Element::U4 => Element::U8,
        element => element,
    };
    match from.1 {
        Hub::F32 if from.0 != Element::F32 => steps.add(kernels::decoder(from.0, set)?, 32),
        Hub::Unsigned if from.0 == Element::Pred => steps.add(numbers::extend_pred(set), 64),
        Hub::Signed | Hub::Unsigned if held_bits(from.0) < 64 => {
            steps.add(numbers::extend(in_bytes, set)?, 64)
        }
        _ => {}
    }
    let is_last = to.0 == Element::F32;
    match (from.1, to.1) {
        (Hub::F32, Hub::F32) | (Hub::F64, Hub::F64) => {}
        (Hub::F32, _) => steps.add(kernels::widen_floats(set), 64),
        (Hub::F64, Hub::F32) if is_last => steps.add(kernels::narrow_doubles(set), 32),
        (Hub::F64, Hub::F32) => steps.add(numbers::odd_from_double(set), 32),
        (Hub::Signed, Hub::F32) if is_last => steps.add(numbers::float_from_signed(set), 32),
        (Hub::Signed, Hub::F32) => steps.add(numbers::odd_from_signed(set), 32),
        (Hub::Signed, Hub::F64) => steps.add(numbers::double_from_signed(set), 64),
        (Hub::Unsigned, Hub::F32) if is_last => steps.add(numbers::float_from_unsigned(set), 32),
        (Hub::Unsigned, Hub::F32) => steps.add(numbers::odd_from_unsigned(set), 32),
        (Hub::Unsigned, Hub::F64) => steps.add(numbers::double_from_unsigned(set), 64),
        _ => {}
    }
    let is_whole = matches!(from.1, Hub::Signed | Hub::Unsigned);
    match (to.1, held_bits(to.0)) {
        (Hub::F32, 32) | (Hub::F64, _) => {}
        (Hub::F32, bits) => steps.add(kernels::encoder(to.0, set)?, bits.max(8)),
        (_, bits) if !is_whole => steps.add(numbers::cut(to.0, set)?, bits.max(8)),
        _ if to.0 == Element::Pred => steps.add(numbers::is_not_zero(set), 8),
        (_, 16) => steps.add(numbers::low_2(set), 16),
        (_, 32) => steps.add(numbers::low_4(set), 32),
        // Between 64 bits with a sign and without one nothing changes but the name.
        (_, 64) if steps.number == 0 => steps.add(numbers::extend(Element::U64, set)?, 64),
        (_, 64) => {}
        _ => steps.add(numbers::low_1(set), 8),
    }
    Some(())
}

/// Steps as they are found.
#[derive(Default)]
struct Steps {
    stages: Stages,
    number: usize,
}

impl Steps {
    fn add(&mut self, kernel: kernels::Kernel, bits: u32) {
        self.stages[self.number] = Some(Stage { kernel, bits });
        self.number += 1;
    }
}
