//! Any way to divide the work: shares write different bytes, and together exactly those of the elements.

use tilework_core::{Layout, Plan, PlanOptions};

use crate::exec::Buffers;
use crate::guard_tests::{Dice, dims, layout};
use crate::kernels::InstructionSet;
use crate::pool::Inline;
use crate::program::Program;
use crate::setting::Setting;

/// How many shares write each byte, as seen from what stood there before.
fn writers(program: &Program, cuts: &[usize], source: &[u8], length: usize, shift: usize) -> Vec<u8> {
    let mut writers = vec![0; length];
    // One buffer for all: where blocks end depends on where its lines begin.
    let mut out = vec![0; length + shift];
    for share in cuts.windows(2) {
        let mut run = |before: u8| {
            out.fill(before);
            let buffers = Buffers::of(source, &mut out[shift..]);
            // SAFETY: both buffers hold their layouts.
            unsafe { program.run(&Inline, buffers, share[0]..share[1]) };
            assert!(out[..shift].iter().all(|&byte| byte == before));
            out.clone()
        };
        let (first, second) = (run(0x00), run(0xff));
        for (k, count) in writers.iter_mut().enumerate() {
            *count += u8::from(first[shift + k] != 0x00 || second[shift + k] != 0xff);
        }
    }
    writers
}

/// Steps that lie between each other, such as 1000 and 1001, or anywhere.
fn interleaved(dice: &mut Dice, dims: &[u64], bits: u32) -> tilework_core::Result<Layout> {
    let strides: Vec<i64> = dims
        .iter()
        .map(|&size| {
            dice.of(&[1, 2, 3, size as i64, size as i64 + 1, 64, 65, 700, -5, -64]) * dice.of(&[1, 1, 7, 31])
        })
        .collect();
    Layout::strided(dims, bits, &strides, None, None)
}

#[test]
fn no_byte_is_written_by_two_shares_and_every_one_by_one() {
    let mut dice = Dice(5);
    let mut done = 0;
    while done < 150 {
        let bits = dice.of(&[8, 8, 16, 32, 64, 128, 24, 96]);
        let dims = dims(&mut dice);
        let Ok(from) = layout(&mut dice, &dims, bits, true) else { continue };
        let to = if dice.below(3) == 0 {
            interleaved(&mut dice, &dims, bits)
        } else {
            layout(&mut dice, &dims, bits, false)
        };
        let Ok(to) = to else { continue };
        if from.bytes().max(to.bytes()) > 1 << 18 {
            continue;
        }
        let Ok(plan) = Plan::new(&from, &to, &PlanOptions::default()) else { continue };
        let (length, width) = (to.bytes() as usize, bits as usize / 8);
        let mut wanted = vec![0; length];
        to.for_each_in_index_order(|_, place| {
            wanted[place as usize * width..][..width].iter_mut().for_each(|count| *count += 1);
        });
        let source = vec![0x5a; from.bytes() as usize];
        for set in InstructionSet::all_here() {
            for streams in [false, true] {
                let program = Program::with(&plan, None, Setting::of(set, streams));
                let mut cuts: Vec<usize> =
                    (0..5).map(|_| dice.below(program.total() as u64 + 1) as usize).collect();
                cuts.extend([0, program.total()]);
                cuts.sort_unstable();
                let shift = dice.below(65) as usize;
                let writers = writers(&program, &cuts, &source, length, shift);
                let wrong = writers.iter().zip(&wanted).position(|(found, wanted)| found != wanted);
                assert!(
                    wrong.is_none(),
                    "{set:?}, streams {streams}, {cuts:?}: byte {wrong:?} is written {} times, shift {shift}\n{plan}\n{program:#?}",
                    writers[wrong.unwrap_or(0)]
                );
            }
        }
        done += 1;
    }
}
