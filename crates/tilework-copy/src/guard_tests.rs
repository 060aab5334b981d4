//! Buffers that end where memory ends: a byte read or written outside of them ends the process.

use std::ptr::NonNull;

use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};
use tilework_core::{Element, Layout, Plan, PlanOptions, Result};

use crate::convert::{Conversion, Converter};
use crate::exec::Buffers;
use crate::kernels::InstructionSet;
use crate::pool::{Inline, Pool};
use crate::program::Program;
use crate::setting::Setting;
use crate::tests::{Shares, bytes, expected};
use crate::ways::Way;

/// At least a page, on every system.
const PAGE: usize = 64 << 10;

/// Bytes beside a buffer that are looked at.
const MARGIN: usize = 256;

/// Memory between two pages that nobody may touch.
struct Between {
    whole: NonNull<u8>,
    room: usize,
}

/// Which of the two pages a buffer lies against.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Side {
    Front,
    Back,
}

impl Between {
    fn new(room: usize) -> Between {
        let room = room.next_multiple_of(PAGE);
        let whole = room + 2 * PAGE;
        // SAFETY: a mapping of our own, whose first and last page nobody uses.
        unsafe {
            let flags = ProtFlags::READ | ProtFlags::WRITE;
            let start = mmap_anonymous(std::ptr::null_mut(), whole, flags, MapFlags::PRIVATE).unwrap();
            mprotect(start, PAGE, MprotectFlags::empty()).unwrap();
            mprotect(start.byte_add(PAGE + room), PAGE, MprotectFlags::empty()).unwrap();
            Between { whole: NonNull::new(start.cast()).unwrap(), room }
        }
    }

    /// All of the memory.
    fn all(&mut self) -> &mut [u8] {
        // SAFETY: what lies between the two pages.
        unsafe { std::slice::from_raw_parts_mut(self.whole.as_ptr().add(PAGE), self.room) }
    }

    /// Where so many bytes lie in [`Between::all`], flush against one of the pages.
    fn place(&self, side: Side, bytes: usize) -> usize {
        if side == Side::Front { 0 } else { self.room - bytes }
    }
}

impl Drop for Between {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and nobody has a part of it any more.
        unsafe { munmap(self.whole.as_ptr().cast(), self.room + 2 * PAGE).unwrap() };
    }
}

/// Numbers as they come.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % end
    }

    pub(crate) fn of<T: Copy>(&mut self, these: &[T]) -> T {
        these[self.below(these.len() as u64) as usize]
    }
}

/// Some sizes whose product is small.
pub(crate) fn dims(dice: &mut Dice) -> Vec<u64> {
    let mut room = 40_000;
    if dice.below(3) == 0 {
        // Many short ones.
        let sizes: Vec<u64> = (0..9).map(|_| dice.of(&[2, 2, 4, 4, 8, 16, 3, 5, 9])).collect();
        return sizes
            .into_iter()
            .filter(|size| {
                room >= *size && {
                    room /= size;
                    true
                }
            })
            .collect();
    }
    let rank = dice.below(5);
    let mut dims = Vec::new();
    for _ in 0..rank {
        let size =
            dice.of(&[1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 100, 127, 129, 255, 300, 1030]);
        if size <= room {
            dims.push(size);
            room /= size;
        }
    }
    dims
}

/// A permutation, tiles, pitches or overlaps, some dimensions reversed.
pub(crate) fn layout(dice: &mut Dice, dims: &[u64], bits: u32, overlaps: bool) -> Result<Layout> {
    let mut order: Vec<usize> = (0..dims.len()).collect();
    for k in (1..order.len()).rev() {
        order.swap(k, dice.below(k as u64 + 1) as usize);
    }
    let mut layout = if dice.below(3) == 0 {
        let mut strides = vec![0; dims.len()];
        let mut stride = if dice.below(3) == 0 { 1 + dice.below(4) as i64 } else { 1 };
        for &dim in &order {
            strides[dim] = if overlaps && dice.below(4) == 0 { dice.below(3) as i64 } else { stride };
            stride = stride * dims[dim] as i64 + if dice.below(2) == 0 { 0 } else { dice.below(20) as i64 };
        }
        Layout::strided(dims, bits, &strides, None, None)?
    } else {
        let mut builder = Layout::builder(dims, bits)?.minor_to_major(&order)?;
        if dims.len() >= 2 && dice.below(2) == 0 {
            let tile = dice.of(&[[8, 128], [2, 1], [16, 2], [4, 16], [3, 5], [1, 64], [32, 32], [64, 16]]);
            builder = builder.tile(&tile.map(Some))?;
            if dice.below(2) == 0 {
                builder = builder.tile(&dice.of(&[[2, 1], [4, 1], [16, 16], [8, 8]]).map(Some))?;
            }
        }
        builder.build()?
    };
    for dim in 0..dims.len() {
        if dice.below(6) == 0 {
            layout = layout.flip(dim)?;
        }
    }
    Ok(layout)
}

/// Both buffers flush against one page or the other, for every instruction set, past the cache and not.
fn check(plan: &Plan, conversion: Option<Conversion>, memory: &mut [Between; 2], dice: &mut Dice) {
    let (from, to) = (plan.from(), plan.to());
    let (from_bytes, to_bytes) = (from.bytes() as usize, to.bytes() as usize);
    let source = bytes(from_bytes, dice.0);
    let before = bytes(to_bytes, 2);
    let mut wanted =
        (conversion.is_none()).then(|| expected(from, to, plan.options().fill, &source, &before));
    let [read, written] = memory;
    for set in InstructionSet::all_here() {
        let converter = conversion.and_then(|how| Converter::new(how, set));
        assert_eq!(converter.is_some(), conversion.is_some());
        for streams in [false, true] {
            let only = [None, None].into_iter().chain(Way::ALL.map(Some)).collect::<Vec<_>>();
            let setting = Setting {
                set,
                streams,
                fetches: dice.below(2) == 0,
                fetches_blocks: dice.below(2) == 0,
                once: dice.below(8) == 0,
                only: dice.of(&only),
            };
            let program = Program::with(plan, converter, setting);
            let sides = (dice.of(&[Side::Front, Side::Back]), dice.of(&[Side::Front, Side::Back]));
            for sides in [sides, (Side::Back, sides.1), (Side::Back, Side::Back)] {
                let first = read.place(sides.0, from_bytes);
                read.all()[first..][..from_bytes].copy_from_slice(&source);
                let place = written.place(sides.1, to_bytes);
                let out = written.all();
                let near = place.saturating_sub(MARGIN)..(place + to_bytes + MARGIN).min(out.len());
                out[near.clone()].fill(0xa5);
                out[place..][..to_bytes].copy_from_slice(&before);
                let buffers = Buffers::of(&read.all()[first..][..from_bytes], &mut out[place..][..to_bytes]);
                let pool: &dyn Pool = if dice.below(2) == 0 { &Inline } else { &Shares(3) };
                let part = dice.below(program.total() as u64 + 1) as usize;
                // SAFETY: both buffers hold their layouts.
                unsafe {
                    program.run(pool, buffers, 0..part);
                    program.run(pool, buffers, part..program.total());
                }
                let result = &out[place..][..to_bytes];
                let wanted = wanted.get_or_insert_with(|| result.to_vec());
                assert!(result == wanted, "{set:?}, streams {streams}, {sides:?}\n{plan}\n{program:#?}");
                let (front, back) = (&out[near.start..place], &out[place + to_bytes..near.end]);
                assert!(front.iter().chain(back).all(|&byte| byte == 0xa5), "{set:?}, {sides:?}\n{plan}");
            }
        }
    }
}

#[test]
fn nothing_outside_of_the_buffers_is_touched() {
    let mut dice = Dice(7);
    let mut memory = [Between::new(4 << 20), Between::new(4 << 20)];
    let mut done = 0;
    while done < 250 {
        let bits = dice.of(&[8, 8, 16, 16, 32, 32, 64, 128, 24, 48, 96, 200, 1, 2, 4, 4, 3, 12]);
        let dims = dims(&mut dice);
        let Ok(from) = layout(&mut dice, &dims, bits, true) else { continue };
        let Ok(to) = layout(&mut dice, &dims, bits, false) else { continue };
        if from.bytes().max(to.bytes()) > 1 << 20 {
            continue;
        }
        let fill = dice.of(&[None, Some(0), Some(1)]);
        let Ok(plan) = Plan::new(&from, &to, &PlanOptions { fill, converts: false }) else { continue };
        check(&plan, None, &mut memory, &mut dice);
        done += 1;
    }
}

#[test]
fn nothing_outside_of_the_buffers_is_touched_by_conversions() {
    let mut dice = Dice(11);
    let mut memory = [Between::new(4 << 20), Between::new(4 << 20)];
    let pairs = [
        (Element::F32, Element::Bf16),
        (Element::Bf16, Element::F32),
        (Element::F32, Element::F16),
        (Element::F16, Element::F8e4m3fn),
        (Element::F8e5m2, Element::F32),
        (Element::F64, Element::F32),
        (Element::F32, Element::F64),
        (Element::S8, Element::S4),
        (Element::U4, Element::U8),
        (Element::F32, Element::F4e2m1fn),
        (Element::F4e2m1fn, Element::Bf16),
    ];
    let between = pairs.into_iter().map(|(from, to)| Conversion::new(from, to).unwrap());
    let conversions: Vec<Conversion> = between.chain([Conversion::to_float_pairs()]).collect();
    let mut done = 0;
    while done < 120 {
        let conversion = dice.of(&conversions);
        let dims = dims(&mut dice);
        let Ok(from) = layout(&mut dice, &dims, conversion.from().bits(), true) else { continue };
        let Ok(to) = layout(&mut dice, &dims, conversion.to().bits(), false) else { continue };
        if from.bytes().max(to.bytes()) > 1 << 20 {
            continue;
        }
        let Ok(plan) = Plan::new(&from, &to, &PlanOptions { fill: None, converts: true }) else { continue };
        check(&plan, Some(conversion), &mut memory, &mut dice);
        done += 1;
    }
}
