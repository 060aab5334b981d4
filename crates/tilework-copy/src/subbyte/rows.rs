//! What is neither a run nor a transpose: rows gathered into bytes, single elements, single bits.

use tilework_core::{Loop, Nest};

use super::walk;

/// Moves a nest whose loop number `unit`, if there is one, moves one element in the destination.
///
/// # Safety
/// As for [`super::move_nest`].
pub(super) unsafe fn move_rows(nest: &Nest, unit: Option<usize>, bits: u32, from: *const u8, to: *mut u8) {
    let mut outer = nest.loops.clone();
    let row = match unit {
        Some(unit) => outer.remove(unit),
        None => outer.pop().unwrap_or(Loop { extent: 1, from: 0, to: 0 }),
    };
    for &start in &nest.starts {
        walk(&outer, start.0, start.1, &mut |source, place| {
            // SAFETY: the caller's promise about all elements of the nest.
            unsafe {
                if unit.is_some() {
                    gather(row, bits, (from, source), (to, place));
                } else {
                    scatter(row, bits, (from, source), (to, place));
                }
            }
        });
    }
}

/// One row that is contiguous in the destination: each byte is put together before it is written.
///
/// # Safety
/// As for [`super::move_nest`].
unsafe fn gather(row: Loop, bits: u32, (from, source): (*const u8, u64), (to, place): (*mut u8, u64)) {
    let (mut source, mut bit, mut left) = (source, place * u64::from(bits), row.extent);
    if row.from == 0 {
        // One element over and over: every byte is the same.
        // SAFETY: an element of the nest, and the bytes of its row.
        return unsafe { repeat(element(bits, from, source), bits, (to, bit), left * u64::from(bits)) };
    }
    while left > 0 {
        let phase = (bit % 8) as u32;
        let here = left.min(u64::from((8 - phase) / bits)) as u32;
        let mut value = 0;
        for k in 0..here {
            // SAFETY: an element of the nest.
            value |= unsafe { element(bits, from, source) } << (phase + k * bits);
            source = source.wrapping_add_signed(row.from);
        }
        let mask = (0xff_u8 >> (8 - here * bits)) << phase;
        // SAFETY: the byte holds elements of the nest.
        unsafe {
            let byte = to.add((bit / 8) as usize);
            *byte = if mask == 0xff { value } else { *byte & !mask | value };
        }
        bit += u64::from(here * bits);
        left -= u64::from(here);
    }
}

/// Writes `count` bits from a bit on with the bits of one element over and over.
///
/// # Safety
/// The bytes that hold these bits can be read and written, and are nobody else's.
unsafe fn repeat(element: u8, bits: u32, (to, bit): (*mut u8, u64), count: u64) {
    let byte = (0..8 / bits).fold(0, |byte, _| byte << bits | element);
    let (first, end) = (bit.next_multiple_of(8).min(bit + count), bit + count);
    let whole = (end - first) / 8;
    let last = first + whole * 8;
    // SAFETY: every byte holds some of the bits.
    unsafe {
        for (begin, end) in [(bit, first), (last, end)] {
            if begin < end {
                let mask = (0xff_u8 >> (8 - (end - begin))) << (begin % 8);
                let edge = to.add((begin / 8) as usize);
                *edge = *edge & !mask | byte & mask;
            }
        }
        std::ptr::write_bytes(to.add((first / 8) as usize), byte, whole as usize);
    }
}

/// One row of elements that go anywhere.
///
/// # Safety
/// As for [`super::move_nest`].
unsafe fn scatter(row: Loop, bits: u32, (from, source): (*const u8, u64), (to, place): (*mut u8, u64)) {
    let (mut source, mut place) = (source, place);
    let mask = 0xff_u8 >> (8 - bits);
    for _ in 0..row.extent {
        // SAFETY: elements of the nest.
        unsafe {
            let bit = place * u64::from(bits);
            let (byte, phase) = (to.add((bit / 8) as usize), bit % 8);
            *byte = *byte & !(mask << phase) | element(bits, from, source) << phase;
        }
        source = source.wrapping_add_signed(row.from);
        place = place.wrapping_add_signed(row.to);
    }
}

/// One element.
///
/// # Safety
/// The byte that holds it can be read.
unsafe fn element(bits: u32, from: *const u8, place: u64) -> u8 {
    let bit = place * u64::from(bits);
    // SAFETY: the caller's promise.
    unsafe { *from.add((bit / 8) as usize) >> (bit % 8) & (0xff >> (8 - bits)) }
}

/// Moves elements of any width, slowly.
///
/// # Safety
/// As for [`super::move_nest`].
pub(super) unsafe fn bit_by_bit(nest: &Nest, bits: u32, from: *const u8, to: *mut u8) {
    let bits = u64::from(bits);
    for &start in &nest.starts {
        walk(&nest.loops, start.0, start.1, &mut |source, place| {
            for bit in 0..bits {
                let (source, place) = (source * bits + bit, place * bits + bit);
                // SAFETY: a bit of an element of the nest.
                unsafe {
                    let value = *from.add((source / 8) as usize) >> (source % 8) & 1;
                    let byte = to.add((place / 8) as usize);
                    *byte = *byte & !(1 << (place % 8)) | value << (place % 8);
                }
            }
        });
    }
}
