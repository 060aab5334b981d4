//! One element after the other, bit by bit: what works for every element and every nest.

use tilework::{Nest, Plan};

/// Runs the whole plan.
pub(crate) fn run(plan: &Plan, from: &[u8], to: &mut [u8]) {
    let bits = u64::from(plan.to().bits());
    let value = plan.options().fill.unwrap_or(0).to_le_bytes();
    let fill = |to: &mut [u8]| {
        for nest in plan.fills() {
            each(nest, |_, place| move_bits(&value, 0, to, place * bits, bits));
        }
    };
    if plan.fills_first() {
        fill(to);
    }
    for nest in plan.copies() {
        each(nest, |source, place| move_bits(from, source * bits, to, place * bits, bits));
    }
    if !plan.fills_first() {
        fill(to);
    }
}

/// Calls `visit` with the offsets of each element of a nest.
fn each(nest: &Nest, mut visit: impl FnMut(u64, u64)) {
    for &(from, to) in &nest.starts {
        let mut index = vec![0_u64; nest.loops.len()];
        let (mut from, mut to) = (from as i64, to as i64);
        loop {
            visit(from as u64, to as u64);
            let Some(turn) = (0..index.len()).rev().find(|&k| {
                if index[k] + 1 < nest.loops[k].extent {
                    return true;
                }
                from -= index[k] as i64 * nest.loops[k].from;
                to -= index[k] as i64 * nest.loops[k].to;
                index[k] = 0;
                false
            }) else {
                break;
            };
            index[turn] += 1;
            from += nest.loops[turn].from;
            to += nest.loops[turn].to;
        }
    }
}

/// Bits count from the least significant of each byte.
fn move_bits(from: &[u8], from_bit: u64, to: &mut [u8], to_bit: u64, bits: u64) {
    if bits.is_multiple_of(8) && from_bit.is_multiple_of(8) && to_bit.is_multiple_of(8) {
        let (source, place, bytes) = ((from_bit / 8) as usize, (to_bit / 8) as usize, (bits / 8) as usize);
        to[place..place + bytes].copy_from_slice(&from[source..source + bytes]);
        return;
    }
    for bit in 0..bits {
        let (source, place) = (from_bit + bit, to_bit + bit);
        let value = from[(source / 8) as usize] >> (source % 8) & 1;
        let byte = &mut to[(place / 8) as usize];
        *byte = *byte & !(1 << (place % 8)) | value << (place % 8);
    }
}
