//! Rows of bytes: copied, through the cache or past it.
//!
//! One stream of reads does not keep memory busy: a core has more requests open when several rows are read at a time.
//! So rows that go past the cache are taken in groups, a few lines of each in turn. Short rows that are far apart defeat the
//! machine's own prefetching, so theirs are fetched by hand, some kilobytes ahead.

use super::InstructionSet;
use super::vector::{self, LINE, Lines, prefetch};

/// `count` rows of `length` bytes, `times` times.
#[derive(Clone, Copy)]
pub(crate) struct Rows {
    pub(crate) count: usize,
    pub(crate) length: usize,
    pub(crate) source: *const u8,
    pub(crate) source_step: isize,
    pub(crate) destination: *mut u8,
    pub(crate) destination_step: isize,
    /// How often, and how far from each other in source and destination.
    pub(crate) times: usize,
    pub(crate) again: (isize, isize),
    /// Where the rows begin that are copied after these: to be prefetched. Null if nothing is.
    pub(crate) next: *const u8,
}

/// Rows that are read at a time.
const GROUP: usize = 4;

/// Lines of each row that are read in turn.
const TURN: usize = 4;

/// Rows up to this number of bytes are all moved by the same instructions: how many whole lines of the destination they fill depends
/// on where they begin, and a loop that ends now here, now there costs more than stores across two lines.
const ALIKE: usize = 5 * LINE;

/// Rows of this number of bytes and more are left to the system's `memcpy`.
const LONG: usize = 4096;

/// Rows up to so many bytes are prefetched by hand.
const HINTED: usize = 2048;

/// How far ahead, in bytes of rows.
pub(crate) const AHEAD: usize = 4096;

impl Rows {
    /// Rows that are moved once.
    pub(crate) fn once(
        (count, length): (usize, usize),
        (source, source_step): (*const u8, isize),
        (destination, destination_step): (*mut u8, isize),
    ) -> Rows {
        let next = std::ptr::null();
        let (times, again) = (1, (0, 0));
        Rows { count, length, source, source_step, destination, destination_step, times, again, next }
    }

    /// Whether the destination's rows are as far from each other as they are long.
    fn are_apart(&self) -> bool {
        let apart = |count: usize, step: isize| count < 2 || step.unsigned_abs() >= self.length;
        apart(self.count, self.destination_step) && apart(self.times, self.again.1)
    }
}

/// Goes through rows.
struct Cursor<'a> {
    rows: &'a Rows,
    row: usize,
    time: usize,
    source: *const u8,
    destination: *mut u8,
}

impl Cursor<'_> {
    fn new(rows: &Rows) -> Cursor<'_> {
        Cursor { rows, row: 0, time: 0, source: rows.source, destination: rows.destination }
    }

    /// Where a row begins in source and destination. Behind the last row, those of `next` follow in the source.
    #[inline(always)]
    fn step(&mut self) -> (*const u8, *mut u8) {
        let (rows, at) = (self.rows, (self.source, self.destination));
        self.row += 1;
        if self.row < rows.count {
            self.source = self.source.wrapping_offset(rows.source_step);
            self.destination = self.destination.wrapping_offset(rows.destination_step);
            return at;
        }
        (self.row, self.time) = (0, self.time + 1);
        let back = rows.count as isize - 1;
        self.source = match self.time == rows.times {
            true => rows.next,
            false => self.source.wrapping_offset(rows.again.0 - back * rows.source_step),
        };
        self.destination = self.destination.wrapping_offset(rows.again.1 - back * rows.destination_step);
        at
    }
}

/// Copies rows through the cache.
///
/// # Safety
/// 1. Every row of the source, where [`Rows`] says, is within one buffer that can be read.
/// 2. Every row of the destination is within one buffer that can be written.
/// 3. No destination row overlaps a source row or another destination row.
/// 4. Nobody else writes the one or touches the other meanwhile.
/// 5. The machine has the instructions of the set.
///
/// `next` may be any address.
pub(crate) unsafe fn copy(set: InstructionSet, rows: &Rows) {
    // SAFETY: the caller's promise; the set is one this machine has.
    unsafe {
        match set {
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx512 => copy_avx512(rows),
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx2 => copy_avx2(rows),
            #[cfg(target_arch = "aarch64")]
            InstructionSet::Neon => copy_neon(rows),
            _ => copy_portable(rows),
        }
    }
}

/// Copies rows past the cache; head and tail of a row that are no whole lines go through it. The caller fences.
///
/// # Safety
/// As for [`copy`].
pub(crate) unsafe fn stream(set: InstructionSet, rows: &Rows) {
    // SAFETY: as for `copy`.
    unsafe {
        match set {
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx512 => stream_avx512(rows),
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx2 => stream_avx2(rows),
            #[cfg(target_arch = "aarch64")]
            InstructionSet::Neon => copy_neon(rows),
            _ => copy_portable(rows),
        }
    }
}

/// Copies one row out of the cache and past it.
///
/// # Safety
/// So many bytes are within both buffers, which do not overlap.
pub(crate) unsafe fn stream_out(set: InstructionSet, source: *const u8, destination: *mut u8, length: usize) {
    let row = Rows::once((1, length), (source, 0), (destination, 0));
    // SAFETY: the caller's promise.
    unsafe { stream(set, &row) }
}

/// Copies one long row, as short ones that begin where the destination's lines do.
///
/// # Safety
/// So many bytes are within both buffers, which do not overlap.
pub(crate) unsafe fn whole(
    set: InstructionSet,
    source: *const u8,
    destination: *mut u8,
    length: usize,
    streams: bool,
) {
    let head = (destination.addr().wrapping_neg() % LINE).min(length);
    let count = (length - head) / PAGE;
    let step = PAGE as isize;
    let rows = |done: usize, count: usize, length: usize| {
        let (source, destination) = (source.wrapping_add(done), destination.wrapping_add(done));
        Rows::once((count, length), (source, step), (destination, step))
    };
    let done = head + count * PAGE;
    // SAFETY: head, pages and the rest are `length` bytes together.
    unsafe {
        if !streams {
            return destination.copy_from_nonoverlapping(source, length);
        }
        copy(set, &rows(0, 1, head));
        stream(set, &rows(head, count, PAGE));
        stream(set, &rows(done, 1, length - done));
    }
}

/// A long row is copied as rows of so many bytes.
const PAGE: usize = 4096;

/// What the instruction sets share.
///
/// # Safety
/// As for [`copy`]; `L`'s instructions are enabled where this is inlined.
#[inline(always)]
unsafe fn go<L: Lines>(rows: &Rows, streams: bool) {
    debug_assert!(rows.are_apart());
    let whole_lines = rows.length.is_multiple_of(LINE)
        && rows.destination.addr().is_multiple_of(LINE)
        && rows.destination_step.unsigned_abs().is_multiple_of(LINE);
    if streams && whole_lines && rows.length <= TURN * LINE {
        // SAFETY: the caller's promise; all destinations are lines.
        unsafe { short_lines::<L>(rows) };
        return;
    }
    let total = rows.count * rows.times;
    let (mut here, mut ahead) = (Cursor::new(rows), Ahead::new(rows, HINTED));
    let mut row = 0;
    // SAFETY: the first `total` rows of a cursor are within the buffers, by the caller's promise.
    unsafe {
        while streams && row + GROUP <= total {
            (0..GROUP).for_each(|_| ahead.fetch());
            group::<L>(std::array::from_fn(|_| here.step()), rows.length);
            row += GROUP;
        }
        while row < total {
            ahead.fetch();
            let (source, destination) = here.step();
            match rows.length {
                length if streams || length < LINE => one::<L>(source, destination, length, streams),
                length @ ..=ALIKE => alike::<L>(source, destination, length),
                length @ LONG.. => destination.copy_from_nonoverlapping(source, length),
                length => aligned::<L>(source, destination, length),
            }
            row += 1;
        }
    }
}

/// Rows of a few whole lines, past the cache.
///
/// # Safety
/// As for [`go`]; every line of the destination begins at a multiple of [`LINE`].
#[inline(always)]
unsafe fn short_lines<L: Lines>(rows: &Rows) {
    let (mut here, mut ahead) = (Cursor::new(rows), Ahead::new(rows, usize::MAX));
    for _ in 0..rows.count * rows.times {
        ahead.fetch();
        let (source, destination) = here.step();
        for line in (0..rows.length).step_by(LINE) {
            // SAFETY: a line of this row.
            unsafe { L::load(source.add(line)).stream(destination.add(line)) };
        }
    }
}

/// Asks for rows that come later: of these, or of those that begin at `next`.
struct Ahead<'a> {
    cursor: Cursor<'a>,
    /// Rows that are still asked for.
    left: usize,
}

impl Ahead<'_> {
    /// Begins some kilobytes after the first row, but no further than the rows behind the last one; of rows that are longer than
    /// `most`, and of those without a `next`, none is asked for.
    fn new(rows: &Rows, most: usize) -> Ahead<'_> {
        let (mut cursor, total) = (Cursor::new(rows), rows.count * rows.times);
        if rows.next.is_null() || rows.length > most {
            return Ahead { cursor, left: 0 };
        }
        (0..AHEAD.div_ceil(rows.length).min(total)).for_each(|_| _ = cursor.step());
        Ahead { cursor, left: total }
    }

    #[inline(always)]
    fn fetch(&mut self) {
        if self.left > 0 {
            self.left -= 1;
            let (source, _) = self.cursor.step();
            for line in (0..self.cursor.rows.length).step_by(LINE) {
                prefetch(source.wrapping_add(line));
            }
        }
    }
}

/// How many turns later than the others each row begins. Rows some KiB apart would all wait for the same part of the memory, as
/// which one has an address is a matter of bits like these; so no two are read at addresses that agree in them.
fn lags(sources: [*const u8; GROUP]) -> [usize; GROUP] {
    let mut taken = [false; 8];
    sources.map(|source| {
        let phase = |lag: usize| (source.addr() / (TURN * LINE)).wrapping_sub(lag) % taken.len();
        let lag = (0..taken.len()).find(|&lag| !taken[phase(lag)]).unwrap_or(0);
        taken[phase(lag)] = true;
        lag
    })
}

/// # Safety
/// As for [`go`]; rows that begin at these places, past the cache.
#[inline(always)]
unsafe fn group<L: Lines>(places: [(*const u8, *mut u8); GROUP], length: usize) {
    // SAFETY: heads, whole lines and tails of a row are its `length` bytes.
    unsafe {
        let head = |destination: *mut u8| destination.addr().wrapping_neg() % LINE;
        let heads = places.map(|(_, destination)| head(destination).min(length));
        let least = length - heads.iter().copied().fold(0, usize::max);
        for ((source, destination), head) in places.into_iter().zip(heads) {
            L::part(source, destination, head);
        }
        let (turns, lags) = (least / (TURN * LINE), lags(places.map(|(source, _)| source)));
        let most = lags.iter().copied().fold(0, usize::max);
        for turn in 0..turns + most {
            for (((source, destination), head), lag) in places.into_iter().zip(heads).zip(lags) {
                let turn = turn.wrapping_sub(lag);
                if turn < turns {
                    for line in 0..TURN {
                        let at = head + (turn * TURN + line) * LINE;
                        L::load(source.add(at)).stream(destination.add(at));
                    }
                }
            }
        }
        let done = turns * TURN * LINE;
        for ((source, destination), head) in places.into_iter().zip(heads) {
            let at = head + done;
            one::<L>(source.add(at), destination.add(at), length - at, true);
        }
    }
}

/// # Safety
/// As for [`go`]; one row.
#[inline(always)]
unsafe fn one<L: Lines>(source: *const u8, destination: *mut u8, length: usize, streams: bool) {
    let head = if streams { (destination.addr().wrapping_neg() % LINE).min(length) } else { 0 };
    let mut done = head;
    // SAFETY: head, whole lines and tail are `length` bytes together.
    unsafe {
        L::part(source, destination, head);
        while done + LINE <= length {
            let line = L::load(source.add(done));
            if streams {
                line.stream(destination.add(done))
            } else {
                line.store(destination.add(done))
            }
            done += LINE;
        }
        L::part(source.add(done), destination.add(done), length - done);
    }
}

/// Copies a row through the cache by stores of whole lines, but for the first one and the last one, which overlap them if the row
/// does not begin or end with a line.
///
/// # Safety
/// As for [`go`]; one row of at least a line.
#[inline(always)]
unsafe fn aligned<L: Lines>(source: *const u8, destination: *mut u8, length: usize) {
    let mut done = destination.addr().wrapping_neg() % LINE;
    // SAFETY: every line is within the row, by the caller's promise.
    unsafe {
        if done > 0 {
            L::load(source).store(destination);
        }
        while done + TURN * LINE <= length {
            let lines: [L; TURN] = std::array::from_fn(|k| L::load(source.add(done + k * LINE)));
            for (k, line) in lines.into_iter().enumerate() {
                line.store(destination.add(done + k * LINE));
            }
            done += TURN * LINE;
        }
        while done + LINE <= length {
            L::load(source.add(done)).store(destination.add(done));
            done += LINE;
        }
        if done < length {
            L::load(source.add(length - LINE)).store(destination.add(length - LINE));
        }
    }
}

/// Copies a row through the cache, line by line from its beginning; the last line overlaps the one before, if it is not whole.
///
/// # Safety
/// As for [`go`]; one row of at least a line.
#[inline(always)]
unsafe fn alike<L: Lines>(source: *const u8, destination: *mut u8, length: usize) {
    // SAFETY: every line is within the row, by the caller's promise.
    unsafe {
        let last = L::load(source.add(length - LINE));
        let mut done = 0;
        while done + LINE < length {
            L::load(source.add(done)).store(destination.add(done));
            done += LINE;
        }
        last.store(destination.add(length - LINE));
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw")]
unsafe fn copy_avx512(rows: &Rows) {
    // SAFETY: the caller's promise, and the instructions are enabled here.
    unsafe { go::<vector::Avx512>(rows, false) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw")]
unsafe fn stream_avx512(rows: &Rows) {
    // SAFETY: as above.
    unsafe { go::<vector::Avx512>(rows, true) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn copy_avx2(rows: &Rows) {
    // SAFETY: as above.
    unsafe { go::<vector::Avx2>(rows, false) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn stream_avx2(rows: &Rows) {
    // SAFETY: as above.
    unsafe { go::<vector::Avx2>(rows, true) }
}

#[cfg(target_arch = "aarch64")]
#[target_feature(enable = "neon")]
unsafe fn copy_neon(rows: &Rows) {
    // SAFETY: as above.
    unsafe { go::<vector::Neon>(rows, false) }
}

unsafe fn copy_portable(rows: &Rows) {
    // SAFETY: the caller's promise; these are no special instructions.
    unsafe { go::<vector::Portable>(rows, false) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_copied_so_many_times_and_nothing_else_is() {
        for set in InstructionSet::all_here() {
            for length in [1, 5, 64, 65, 127, 192, 256, 300, 700, 4096, 5000] {
                for (count, times) in [(1, 1), (1, 7), (2, 5), (3, 3), (5, 1), (4, 2), (9, 4)] {
                    for (gap, more) in [(0, 0), (64, 0), (0, 64), (3, 11)] {
                        check(set, (length, count, times), (gap, more), false);
                        check(set, (length, count, times), (gap, more), true);
                    }
                }
            }
        }
    }

    #[test]
    fn rows_are_read_at_addresses_that_differ() {
        let turn = TURN * LINE;
        let lags_of = |step: usize| lags(std::array::from_fn(|row| std::ptr::without_provenance(row * step)));
        // Those that agree begin one after the other, and others together.
        assert_eq!(lags_of(16 << 10), [0, 1, 2, 3]);
        assert_eq!(lags_of(8000), [0; GROUP]);
        for step in (LINE..40_000).step_by(LINE) {
            let lags = lags_of(step);
            let mut phases: Vec<_> = (0..GROUP).map(|row| (row * step / turn + 8 - lags[row]) % 8).collect();
            phases.sort_unstable();
            phases.dedup();
            assert_eq!(phases.len(), GROUP, "rows {step} bytes apart");
        }
    }

    fn check(
        set: InstructionSet,
        (length, count, times): (usize, usize, usize),
        (gap, more): (usize, usize),
        reverse: bool,
    ) {
        // The source is sparser than the destination, and perhaps backward.
        let (step, source_step) = ((length + gap) as isize, (length + gap + 5) as isize);
        let (again, source_again) =
            (step * count as isize + more as isize, source_step * count as isize + 2 * more as isize);
        let source: Vec<u8> =
            (0..source_again as usize * times + length).map(|i| ((i * 40503) >> 3) as u8).collect();
        let mut expected = vec![0xa5; again as usize * times + length + 192];
        let mut destination = expected.clone();
        let first = 64 + destination[64..].as_ptr().align_offset(LINE) + if gap == 3 { 7 } else { 0 };
        let first_source = if reverse { (times as isize - 1) * source_again } else { 0 };
        let source_again = if reverse { -source_again } else { source_again };
        for (time, row) in
            (0..times as isize).flat_map(|time| (0..count as isize).map(move |row| (time, row)))
        {
            let from = (first_source + time * source_again + row * source_step) as usize;
            let to = first + (time * again + row * step) as usize;
            expected[to..to + length].copy_from_slice(&source[from..from + length]);
        }
        let into = destination.as_mut_ptr().wrapping_add(first);
        let from = source.as_ptr().wrapping_offset(first_source);
        let rows = Rows::once((count, length), (from, source_step), (into, step));
        for next in [std::ptr::null(), source.as_ptr()] {
            for streams in [false, true] {
                destination.fill(0xa5);
                let rows = Rows { times, again: (source_again, again), next, ..rows };
                // SAFETY: the set is one of this machine; the vectors hold the rows, and destination rows do not overlap.
                unsafe { if streams { stream(set, &rows) } else { copy(set, &rows) } };
                vector::fence();
                assert!(
                    destination == expected,
                    "{set:?}: {times} times {count} rows of {length} bytes, gaps {gap} and {more}, streams: {streams}"
                );
            }
        }
    }
}
