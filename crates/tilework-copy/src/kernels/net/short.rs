//! Squares of a line by a line where registers are shorter (AVX2).
//!
//! The source's lines of some squares that follow each other along the destination are copied to the nearest cache, transposed there like
//! any other block, and written row by row in whole lines. So what is stored in pieces is read whole only when it is in the cache.

use std::mem::MaybeUninit;

use super::super::Block;
use super::super::transpose::{Lanes, Made, Two, transposed};
use super::super::vector::{LINE, prefetch};
use super::avx512::{CARRY, PLAIN, STREAM};
use super::{Calls, Pass, PassFn, Put, TOGETHER};

/// Lines of the source.
#[repr(align(64))]
struct Source(MaybeUninit<[u8; TOGETHER * LINE]>);

/// Rows of the destination, and a line before each for what is held of it.
#[repr(align(64))]
struct Rows(MaybeUninit<[u8; TOGETHER * LINE + LINE * LINE]>);

/// The kernel for elements of `size` bytes, if there is one; the pass is not looked at.
pub(super) fn square(size: usize, put: Put) -> Option<PassFn> {
    Some(match size {
        1 => of::<1>(put),
        2 => of::<2>(put),
        4 => of::<4>(put),
        8 => of::<8>(put),
        16 => of::<16>(put),
        _ => return None,
    })
}

fn of<const SIZE: usize>(put: Put) -> PassFn {
    match put {
        Put::Plain => run::<SIZE, PLAIN>,
        Put::Stream => run::<SIZE, STREAM>,
        Put::Carry => run::<SIZE, CARRY>,
    }
}

/// # Safety
/// As for [`PassFn`], with as many lines on each side as a line has elements, and as [`super::square`] says.
#[target_feature(enable = "avx2")]
unsafe fn run<const SIZE: usize, const PUT: u8>(_: &Pass, calls: &Calls) {
    let lines = LINE / SIZE;
    let most = TOGETHER / lines;
    let pitch = LINE + most * LINE;
    let mut source = Source(MaybeUninit::uninit());
    let source = source.0.as_mut_ptr().cast::<u8>();
    let mut rows = Rows(MaybeUninit::uninit());
    let rows = rows.0.as_mut_ptr().cast::<u8>();
    let mut ahead =
        Ahead { fetch: calls.fetch, next: calls.next, left: 0, some: calls.fetches.div_ceil(2 * lines) };
    let carrying = &calls.carrying;
    for first in (0..calls.count).step_by(most) {
        let count = most.min(calls.count - first);
        ahead.left = calls.fetches * count;
        let held = carrying.behind(first);
        // SAFETY: the caller's promise: the lists are long enough, the lines are within the buffers, and each can be written whole;
        // there is room for them here. What is fetched may lie anywhere.
        unsafe {
            let made = |line: usize| Made {
                at: rows.add(line * pitch + LINE),
                bytes: count * LINE,
                to: calls.destination.wrapping_offset(*calls.destinations.add(first) + *calls.to.add(line)),
            };
            let hold = |line: usize| *carrying.hold.add(line);
            let begins = PUT == CARRY && held.begin && first == 0;
            let mut near = source;
            for call in first..first + count {
                let at = calls.source.wrapping_offset(*calls.sources.add(call));
                let from = calls.from.add(call * calls.from_step);
                for line in 0..lines {
                    copy(at.wrapping_offset(*from.add(line)), near);
                    near = near.add(LINE);
                    ahead.some();
                }
            }
            if PUT == CARRY && !begins {
                (carrying.skip..lines).for_each(|line| {
                    made(line).join::<Two>(held.lines.wrapping_offset(hold(line)), carrying.over);
                });
            }
            transposed::<SIZE>(&Block {
                rows: count * lines,
                columns: lines,
                source,
                source_stride: LINE as isize,
                destination: rows.add(LINE),
                destination_stride: pitch as isize,
                next: std::ptr::null(),
            });
            for line in carrying.skip..lines {
                let made = made(line);
                match PUT {
                    PLAIN => (0..made.bytes).step_by(LINE).for_each(|at| {
                        copy(made.at.add(at), made.to.add(at));
                        ahead.some();
                    }),
                    STREAM => made.write::<Two>(0, || ahead.some()),
                    _ => {
                        let head = begins.then(|| held.heads.wrapping_offset(hold(line)));
                        made.carry::<Two>(head, carrying.over, || ahead.some());
                        made.keep::<Two>(held.lines.wrapping_offset(hold(line)));
                    }
                }
            }
            ahead.all();
        }
    }
}

/// The lines that are asked for: a few at a time, for of many the machine forgets most.
struct Ahead {
    fetch: *const isize,
    next: *const u8,
    /// How many are left in the list, and how many come at a time.
    left: usize,
    some: usize,
}

impl Ahead {
    #[inline(always)]
    fn some(&mut self) {
        let some = self.some.min(self.left);
        self.left -= some;
        for _ in 0..some {
            // SAFETY: who made this says so: the list has those that are left.
            prefetch(self.next.wrapping_offset(unsafe { *self.fetch }));
            self.fetch = self.fetch.wrapping_add(1);
        }
    }

    #[inline(always)]
    fn all(&mut self) {
        while self.left > 0 {
            self.some();
        }
    }
}

/// Copies a line.
///
/// # Safety
/// It can be read and written.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn copy(from: *const u8, to: *mut u8) {
    // SAFETY: the caller's promise.
    unsafe {
        Two::load_whole(from).store(to);
        Two::load_whole(from.add(LINE / 2)).store(to.add(LINE / 2));
    }
}
