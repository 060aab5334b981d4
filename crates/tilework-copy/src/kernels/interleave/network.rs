//! The permutation networks behind interleaving and deinterleaving, for any lane, size and number of ways.
//!
//! **The idea.** A lane holds E elements. N rows of E elements become N lanes ("lines") of the zipped row: element t of
//! row k is at g = t·N + k, which is line o = g div E, place p = g mod E. Moving elements between registers costs a
//! *select* for each register, and a select cannot move anything sideways; moving them sideways costs a *permute* and
//! happens inside one register. So
//!
//! 1. permute each row, so that every element stands in a *slot* such that the elements of a row that go to different
//!    lines stand in different slots, and so do the elements of a line that come from different rows;
//! 2. select: line o takes slot s from the row whose number is (n + s) mod N, where n depends on o alone. This is a
//!    rotation of the registers by s, different for every slot, and is made in log₂ N rounds: round r takes, where bit r
//!    of s mod N is set, the register 2^r further on;
//! 3. permute each line, if its slots are not its places.
//!
//! Which slot? With N odd, p itself: t ↦ t·N + k mod E is one to one because E is a power of two. Then step 3 falls away.
//! Else two elements of a row meet in a place p if their lines are a multiple of N/c apart, where c is the greatest common
//! divisor of N and E. So the lines fall into c groups of N/c, and those of group j turn by j places: the slot is
//! (p + j) mod E. Where that wraps around (j slots of a line), the row is not (n + s) mod N but E more, which takes one
//! select more, unless N divides E. With N a multiple of E, the rows themselves fall into N/E groups that never meet in a
//! line, and each is a network of E rows of its own.
//!
//! A line so costs one or two permutes and log₂ N selects, whatever the size of the element: on one line of 64 bytes,
//! 1 + 2 for three ways and 2 + 3 for eight, where merging permutes would cost 3 and 8. Backwards is the same
//! network, backwards.

use super::super::vector::prefetch;
use super::Zip;
use super::vector::{Mask, Table, Vector};

/// Rows of one network: how many of `ways` rows can meet in a line.
const fn width(lane: usize, size: usize, ways: usize) -> usize {
    let elements = lane / size;
    if ways.is_multiple_of(elements) { elements } else { ways }
}

/// Does something for each number below `count`, at most 16, written out: arrays that a loop numbers do not stay in registers, and
/// from some size on the compiler leaves loops as they are.
macro_rules! each {
    ($i:ident in 0..$count:expr, $body:expr) => {
        each!(@ $i, $count, $body, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
    };
    (@ $i:ident, $count:expr, $body:expr, $($number:literal)*) => {
        $(if $number < $count {
            let $i: usize = $number;
            $body
        })*
    };
}

#[cfg(target_arch = "x86_64")]
pub(super) use each;

/// The constants of one network.
pub(super) struct Network<V, const SIZE: usize, const WAYS: usize>(V);

impl<V: Vector, const SIZE: usize, const WAYS: usize> Network<V, SIZE, WAYS> {
    /// E of the module's text.
    const ELEMENTS: usize = V::LANE / SIZE;
    /// N of the module's text.
    pub(super) const WIDTH: usize = width(V::LANE, SIZE, WAYS);
    const GROUPS: usize = WAYS / Self::WIDTH;
    const ROWS: &'static [Table; WAYS] = &Self::rows(false);
    pub(super) const ROWS_BACK: &'static [Table; WAYS] = &Self::rows(true);
    const LINES: &'static [Table; WAYS] = &Self::lines(false);
    const LINES_BACK: &'static [Table; WAYS] = &Self::lines(true);

    /// How far line `line` is turned from its places to its slots: j of the module's text.
    const fn shift(line: usize) -> usize {
        let common = 1 << Self::WIDTH.trailing_zeros();
        let common = if common < Self::ELEMENTS { common } else { Self::ELEMENTS };
        line / (Self::WIDTH / common)
    }

    /// The bytes of a line's slots that wrap around and so come from another register, if that matters.
    const WRAPPED: &'static [Mask; WAYS] = &{
        let mut masks = [Mask::of(0); WAYS];
        let mut line = 0;
        while line < Self::WIDTH && !Self::ELEMENTS.is_multiple_of(Self::WIDTH) {
            masks[line] = Mask::of((1 << (Self::shift(line) * SIZE)) - 1);
            line += 1;
        }
        masks
    };

    /// Step 1 for every row, or its inverse.
    const fn rows(back: bool) -> [Table; WAYS] {
        let mut tables = [Table([0; 64]); WAYS];
        let mut i = 0;
        while i < Self::WIDTH * V::LANE {
            let (row, byte) = (i / V::LANE, i % V::LANE);
            let place = byte / SIZE * Self::WIDTH + row;
            let slot = (place + Self::shift(place / Self::ELEMENTS)) % Self::ELEMENTS;
            let there = slot * SIZE + byte % SIZE;
            if back {
                tables[row].0[byte] = there as u8;
            } else {
                tables[row].0[there] = byte as u8;
            }
            i += 1;
        }
        tables
    }

    /// Step 3 for every line, or its inverse.
    const fn lines(back: bool) -> [Table; WAYS] {
        let mut tables = [Table([0; 64]); WAYS];
        let mut i = 0;
        while i < Self::WIDTH * V::LANE {
            let (line, byte) = (i / V::LANE, i % V::LANE);
            let slot = (byte / SIZE + Self::shift(line)) % Self::ELEMENTS;
            let there = slot * SIZE + byte % SIZE;
            if back {
                tables[line].0[there] = byte as u8;
            } else {
                tables[line].0[byte] = there as u8;
            }
            i += 1;
        }
        tables
    }

    /// The register that holds line `line` after step 2: n of the module's text.
    const fn register(line: usize) -> usize {
        (line * Self::ELEMENTS + Self::WIDTH - Self::shift(line)) % Self::WIDTH
    }

    /// The register that holds what wraps around in line `line`.
    const fn next(line: usize) -> usize {
        (Self::register(line) + Self::ELEMENTS) % Self::WIDTH
    }

    /// The line whose wrapped slots belong in the register of line `line`: they are as many as its own, because the two
    /// turn alike.
    const BEFORE: [usize; WAYS] = {
        let mut table = [0; WAYS];
        let mut line = 0;
        while line < Self::WIDTH {
            table[line] = Self::before(line);
            line += 1;
        }
        table
    };

    const fn before(line: usize) -> usize {
        let mut before = 0;
        while Self::next(before) != Self::register(line) {
            before += 1;
        }
        before
    }

    /// The slots that round `round` takes from another register.
    const fn slots(round: usize) -> Mask {
        let (mut mask, mut byte) = (0, 0);
        while byte < V::LANE {
            if (byte / SIZE % Self::WIDTH) >> round & 1 == 1 {
                mask |= 1 << byte;
            }
            byte += 1;
        }
        Mask::of(mask)
    }
    const SLOTS: &'static [Mask; 4] = &[Self::slots(0), Self::slots(1), Self::slots(2), Self::slots(3)];

    /// Round `round` of step 2, or its inverse.
    ///
    /// # Safety
    ///
    /// The machine has V's instructions.
    #[inline(always)]
    unsafe fn round(x: [V; WAYS], round: usize, back: bool) -> [V; WAYS] {
        let n = Self::WIDTH;
        let mut turned = x;
        if 1 << round < n {
            each!(i in 0..WAYS, {
                let group = i / n * n;
                let from = group + (i + if back { n - (1 << round) } else { 1 << round }) % n;
                // SAFETY: the function's contract.
                turned[i] = unsafe { x[i].select(x[from], &Self::SLOTS[round]) };
            });
        }
        turned
    }
}

/// The lines in which the elements of these rows alternate.
///
/// # Safety
///
/// The machine has V's instructions.
#[inline(always)]
pub(super) unsafe fn zipped<V: Vector, const SIZE: usize, const WAYS: usize>(rows: [V; WAYS]) -> [V; WAYS] {
    let n = Network::<V, SIZE, WAYS>::WIDTH;
    let groups = Network::<V, SIZE, WAYS>::GROUPS;
    let mut x = rows;
    // SAFETY: the function's contract.
    unsafe {
        if n > 1 {
            each!(row in 0..WAYS, x[row] = x[row].permute(&Network::<V, SIZE, WAYS>::ROWS[row % n]));
        }
        x = Network::<V, SIZE, WAYS>::round(x, 0, false);
        x = Network::<V, SIZE, WAYS>::round(x, 1, false);
        x = Network::<V, SIZE, WAYS>::round(x, 2, false);
        x = Network::<V, SIZE, WAYS>::round(x, 3, false);
        let mut lines = x;
        each!(i in 0..WAYS, {
            let (group, line) = (i / n, i % n);
            let mut y = x[group * n + Network::<V, SIZE, WAYS>::register(line)];
            let wrapped = &Network::<V, SIZE, WAYS>::WRAPPED[line];
            if wrapped.bits != 0 {
                y = y.select(x[group * n + Network::<V, SIZE, WAYS>::next(line)], wrapped);
            }
            if Network::<V, SIZE, WAYS>::shift(line) != 0 {
                y = y.permute(&Network::<V, SIZE, WAYS>::LINES[line]);
            }
            lines[line * groups + group] = y;
        });
        lines
    }
}

/// Interleaves `zip.count` elements of each row, at least `V::BYTES / SIZE`. The last block overlaps the one before it.
///
/// # Safety
///
/// As for [`super::ZipFn`], with such a count; the machine has V's instructions; if `STREAM`, the destination is a
/// multiple of `V::BYTES` and the count one of `V::BYTES / SIZE`.
#[inline(always)]
pub(super) unsafe fn interleave<V: Vector, const SIZE: usize, const WAYS: usize, const STREAM: bool>(
    zip: &Zip,
) {
    let block = V::BYTES / SIZE;
    debug_assert!(zip.count >= block);
    debug_assert!(
        !STREAM || zip.destination.addr().is_multiple_of(V::BYTES) && zip.count.is_multiple_of(block)
    );
    let mut done = 0;
    while done < zip.count {
        let first = if STREAM { done } else { done.min(zip.count - block) };
        let source = zip.source.wrapping_add(first * SIZE);
        let destination = zip.destination.wrapping_add(first * (SIZE * WAYS));
        // SAFETY: `block` elements from `first` on are within every row, V::BYTES bytes of each.
        unsafe {
            let mut x = [V::load(source); WAYS];
            each!(row in 0..WAYS, {
                let from = source.offset(row as isize * zip.stride);
                x[row] = V::load(from);
                if zip.ahead != 0 {
                    prefetch(from.wrapping_add(zip.ahead));
                }
            });
            let lines = zipped::<V, SIZE, WAYS>(x);
            V::write_lanes::<WAYS, STREAM>(lines, destination);
        }
        done += block;
    }
}

/// One block of the zipped row, as [`unzipped`] takes it.
///
/// # Safety
///
/// `WAYS * V::BYTES` bytes can be read; the machine has V's instructions.
#[inline(always)]
pub(super) unsafe fn read<V: Vector, const WAYS: usize>(source: *const u8, ahead: usize) -> [V; WAYS] {
    if ahead != 0 {
        for line in 0..(WAYS * V::BYTES).div_ceil(64) {
            prefetch(source.wrapping_add(ahead + line * 64));
        }
    }
    // SAFETY: the function's contract.
    unsafe { V::read_lanes::<WAYS>(source) }
}

/// The rows of one block's lines, but for the permute `ROWS_BACK` that each row needs.
///
/// # Safety
///
/// The machine has V's instructions.
#[inline(always)]
pub(super) unsafe fn unzipped<V: Vector, const SIZE: usize, const WAYS: usize>(
    lines: [V; WAYS],
) -> [V; WAYS] {
    let n = Network::<V, SIZE, WAYS>::WIDTH;
    let groups = Network::<V, SIZE, WAYS>::GROUPS;
    // SAFETY: the function's contract.
    unsafe {
        let mut x = lines;
        each!(i in 0..WAYS, {
            let (group, line) = (i / n, i % n);
            let mut y = lines[line * groups + group];
            if Network::<V, SIZE, WAYS>::shift(line) != 0 {
                y = y.permute(&Network::<V, SIZE, WAYS>::LINES_BACK[line]);
            }
            x[i] = y;
        });
        let slots = x;
        each!(i in 0..WAYS, {
            let (group, line) = (i / n, i % n);
            let mut y = slots[i];
            let wrapped = &Network::<V, SIZE, WAYS>::WRAPPED[line];
            if wrapped.bits != 0 {
                y = y.select(slots[group * n + Network::<V, SIZE, WAYS>::BEFORE[line]], wrapped);
            }
            x[group * n + Network::<V, SIZE, WAYS>::register(line)] = y;
        });
        x = Network::<V, SIZE, WAYS>::round(x, 3, true);
        x = Network::<V, SIZE, WAYS>::round(x, 2, true);
        x = Network::<V, SIZE, WAYS>::round(x, 1, true);
        x = Network::<V, SIZE, WAYS>::round(x, 0, true);
        x
    }
}

/// Deinterleaves `zip.count` elements of each row, at least `V::BYTES / SIZE`. The last block overlaps the one before it.
///
/// A register that is half a line waits for the other half, so that a row's line is written at once: lines that are
/// written in turns, half by half, take twice as long, and streamed many times.
///
/// # Safety
///
/// As for [`super::ZipFn`], with such a count; the machine has V's instructions; if `STREAM`, the destination and the
/// stride are multiples of `V::BYTES` and the count is one of `V::BYTES / SIZE`.
#[inline(always)]
pub(super) unsafe fn deinterleave<V: Vector, const SIZE: usize, const WAYS: usize, const STREAM: bool>(
    zip: &Zip,
) {
    let n = Network::<V, SIZE, WAYS>::WIDTH;
    let block = V::BYTES / SIZE;
    debug_assert!(zip.count >= block && zip.stride.unsigned_abs() >= zip.count * SIZE);
    debug_assert!(
        !STREAM
            || (zip.destination.addr() | zip.stride as usize).is_multiple_of(V::BYTES)
                && zip.count.is_multiple_of(block)
    );
    let halves = V::BYTES < 64;
    let mut done = 0;
    while done < zip.count {
        let two = halves && done + 2 * block <= zip.count;
        let first = if STREAM || two { done } else { done.min(zip.count - block) };
        let source = zip.source.wrapping_add(first * (SIZE * WAYS));
        let destination = zip.destination.wrapping_add(first * SIZE);
        // SAFETY: one block or `two`, of `block` elements each, are within every row from `first` on.
        unsafe {
            let x = unzipped::<V, SIZE, WAYS>(read(source, zip.ahead));
            let mut y = x;
            if two {
                y = unzipped::<V, SIZE, WAYS>(read(source.wrapping_add(V::BYTES * WAYS), zip.ahead));
            }
            each!(row in 0..WAYS, {
                let to = destination.offset(row as isize * zip.stride);
                let table = &Network::<V, SIZE, WAYS>::ROWS_BACK[row % n];
                let x = if n > 1 { x[row].permute(table) } else { x[row] };
                if STREAM {
                    x.stream(to)
                } else {
                    x.store(to)
                }
                if two {
                    let y = if n > 1 { y[row].permute(table) } else { y[row] };
                    let to = to.add(V::BYTES);
                    if STREAM { y.stream(to) } else { y.store(to) }
                }
            });
        }
        done += if two { 2 * block } else { block };
    }
}
