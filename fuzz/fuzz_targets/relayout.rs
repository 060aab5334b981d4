//! Two layouts of the same dimensions, read from a list of numbers: data moved between them is where the layouts say, and
//! nothing else is touched. Runs with the address sanitizer, as this is where unsafe code is.
#![no_main]

mod numbers;

use libfuzzer_sys::fuzz_target;
use numbers::{Numbers, Recipe, strided};
use tilework_copy::{Inline, Relayout};
use tilework_core::{Layout, PlanOptions, Result};

/// Larger buffers than this are not looked at.
const BITS: u64 = 1 << 18;

fuzz_target!(|bytes: &[u8]| {
    let mut numbers = Numbers::new(bytes);
    let widths = [8, 16, 32, 64, 128, 24, 96, 4, 2, 1, 12, 5];
    let bits = widths[numbers.below(widths.len() as u64) as usize];
    let dims: Vec<u64> = (0..numbers.below(5)).map(|_| numbers.next() % 41).collect();
    let fill = (numbers.below(3) == 0).then(|| u128::from(numbers.next()) & ((1 << bits.min(64)) - 1));
    let shift = (numbers.below(64) as usize, numbers.below(64) as usize);
    let [Ok(from), Ok(to)] = [0, 1].map(|_| layout(&mut numbers, &dims, bits)) else { return };
    if from.size().max(to.size()).saturating_mul(u64::from(bits)) > BITS
        || dims.iter().product::<u64>() > BITS
    {
        return;
    }
    let Ok(relayout) = Relayout::new(&from, &to, &PlanOptions { fill, converts: false }) else { return };
    let noise = |length: usize, seed: u8| {
        (0..length).map(|k| (k as u8).wrapping_mul(167) ^ seed).collect::<Vec<u8>>()
    };
    let source = noise(shift.0 + from.bytes() as usize, 3);
    let mut out = noise(shift.1 + to.bytes() as usize, 5);
    let mut wanted = out.clone();
    naive(&from, &to, fill, &source[shift.0..], &mut wanted[shift.1..]);
    let steps = 1 + numbers.below(3) as usize;
    for step in 0..steps {
        relayout.run_step(&Inline, step, steps, &source[shift.0..], &mut out[shift.1..]).unwrap();
    }
    assert!(out == wanted, "{}", relayout.plan());
});

fn layout(numbers: &mut Numbers, dims: &[u64], bits: u32) -> Result<Layout> {
    let layout = match numbers.below(4) {
        3 => strided(numbers, dims, bits)?,
        _ => Recipe::read(numbers, dims, bits).build()?,
    };
    match (dims.is_empty(), numbers.below(8)) {
        (false, 7) => layout.flip(numbers.below(dims.len() as u64) as usize),
        _ => Ok(layout),
    }
}

/// One bit after the other.
fn naive(from: &Layout, to: &Layout, fill: Option<u128>, source: &[u8], out: &mut [u8]) {
    let width = u64::from(to.bits());
    let mut set = |place: u64, bit: bool| {
        let byte = &mut out[place as usize / 8];
        *byte = *byte & !(1 << (place % 8)) | u8::from(bit) << (place % 8);
    };
    if let Some(fill) = fill {
        (0..to.size() * width).for_each(|place| {
            set(place, place % width < 128 && fill >> (place % width) & 1 == 1);
        });
    }
    from.for_each_in_index_order(|index, offset| {
        let place = to.offset(index).unwrap() * width;
        for bit in 0..width {
            let read = offset * width + bit;
            set(place + bit, source[read as usize / 8] >> (read % 8) & 1 == 1);
        }
    });
}
