//! Rows of bytes: copied, through the cache or past it.
//!
//! One stream of reads does not keep memory busy: a core has more requests open when several rows are read at a time.
//! So rows are taken in groups, a few lines of each in turn. Short rows that are far apart defeat the machine's own
//! prefetching, so theirs are fetched by hand, some kilobytes ahead.

use super::InstructionSet;
use super::vector::{self, LINE, Lines};

/// So many rows of `length` bytes.
pub(crate) struct Rows {
    pub(crate) count: usize,
    pub(crate) length: usize,
    pub(crate) source: *const u8,
    pub(crate) source_step: isize,
    pub(crate) destination: *mut u8,
    pub(crate) destination_step: isize,
    /// Where the rows begin that are copied after these: to be prefetched.
    pub(crate) next: *const u8,
}

/// Rows that are read at a time.
const GROUP: usize = 4;

/// Lines of each row that are read in turn.
const TURN: usize = 4;

/// Rows up to so many bytes are prefetched by hand.
const HINTED: usize = 1024;

/// How far ahead, in bytes of rows.
const AHEAD: usize = 4096;

impl Rows {
    /// Whether the destination's rows are as far from each other as they are long.
    fn are_apart(&self) -> bool {
        self.count < 2 || self.destination_step.unsigned_abs() >= self.length
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
    let row = Rows {
        count: 1,
        length,
        source,
        source_step: 0,
        destination,
        destination_step: 0,
        next: std::ptr::null(),
    };
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
    let rows = |done: usize, count: usize, length: usize| Rows {
        count,
        length,
        source: source.wrapping_add(done),
        source_step: step,
        destination: destination.wrapping_add(done),
        destination_step: step,
        next: std::ptr::null(),
    };
    let done = head + count * PAGE;
    // SAFETY: head, pages and the rest are `length` bytes together.
    unsafe {
        copy(set, &rows(0, 1, head));
        if streams {
            stream(set, &rows(head, count, PAGE))
        } else {
            copy(set, &rows(head, count, PAGE))
        }
        if streams {
            stream(set, &rows(done, 1, length - done))
        } else {
            copy(set, &rows(done, 1, length - done))
        }
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
    let ahead = if rows.length <= HINTED && !rows.next.is_null() { AHEAD.div_ceil(rows.length) } else { 0 };
    let mut row = 0;
    // SAFETY: rows below `count` are within the buffers, by the caller's promise.
    unsafe {
        while row + GROUP <= rows.count {
            if ahead > 0 {
                (row..row + GROUP).for_each(|row| prefetch::<L>(rows, row + ahead));
            }
            group::<L>(rows, row, streams);
            row += GROUP;
        }
        while row < rows.count {
            if ahead > 0 {
                prefetch::<L>(rows, row + ahead);
            }
            let (source, destination) = at(rows, row);
            one::<L>(source, destination, rows.length, streams);
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
    let ahead = if rows.next.is_null() { rows.count } else { AHEAD.div_ceil(rows.length) };
    for row in 0..rows.count {
        let (source, destination) = at(rows, row);
        if ahead < rows.count || !rows.next.is_null() {
            prefetch::<L>(rows, row + ahead);
        }
        for line in (0..rows.length).step_by(LINE) {
            // SAFETY: a line of this row.
            unsafe { L::load(source.add(line)).stream(destination.add(line)) };
        }
    }
}

#[inline(always)]
fn at(rows: &Rows, row: usize) -> (*const u8, *mut u8) {
    let source = rows.source.wrapping_offset(row as isize * rows.source_step);
    (source, rows.destination.wrapping_offset(row as isize * rows.destination_step))
}

/// Asks for a row that comes later: of these rows, or of the next ones.
#[inline(always)]
fn prefetch<L: Lines>(rows: &Rows, row: usize) {
    let source = match row.checked_sub(rows.count) {
        None => rows.source.wrapping_offset(row as isize * rows.source_step),
        Some(row) => rows.next.wrapping_offset(row as isize * rows.source_step),
    };
    for line in (0..rows.length).step_by(LINE) {
        L::prefetch(source.wrapping_add(line));
    }
}

/// # Safety
/// As for [`go`]; a group of rows from `row` on.
#[inline(always)]
unsafe fn group<L: Lines>(rows: &Rows, row: usize, streams: bool) {
    let places: [_; GROUP] = std::array::from_fn(|k| at(rows, row + k));
    // SAFETY: heads, whole lines and tails of a row are its `length` bytes.
    unsafe {
        if !streams {
            let mut done = 0;
            while done + TURN * LINE <= rows.length {
                for (source, destination) in places {
                    for line in 0..TURN {
                        let at = done + line * LINE;
                        L::load(source.add(at)).store(destination.add(at));
                    }
                }
                done += TURN * LINE;
            }
            for (source, destination) in places {
                one::<L>(source.add(done), destination.add(done), rows.length - done, false);
            }
            return;
        }
        let head = |destination: *mut u8| destination.addr().wrapping_neg() % LINE;
        let heads = places.map(|(_, destination)| head(destination).min(rows.length));
        let least = rows.length - heads.iter().copied().fold(0, usize::max);
        for ((source, destination), head) in places.into_iter().zip(heads) {
            L::part(source, destination, head);
        }
        let mut done = 0;
        while done + TURN * LINE <= least {
            for ((source, destination), head) in places.into_iter().zip(heads) {
                for line in 0..TURN {
                    let at = head + done + line * LINE;
                    L::load(source.add(at)).stream(destination.add(at));
                }
            }
            done += TURN * LINE;
        }
        for ((source, destination), head) in places.into_iter().zip(heads) {
            let at = head + done;
            one::<L>(source.add(at), destination.add(at), rows.length - at, true);
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
