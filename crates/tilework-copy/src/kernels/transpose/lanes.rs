//! The algorithm that [`super`] describes, for vectors of any number of lanes.

use super::super::Block;
use super::super::carry::each;
use super::super::vector::prefetch;
use super::column::{down, zipped};

/// Bytes of a lane.
pub(crate) const LANE: usize = 16;
/// Bytes of a cache line.
pub(super) const LINE: usize = 64;
/// The most lanes a vector has.
pub(crate) const MOST: usize = 4;

/// A vector of lanes of 16 bytes. All functions are inlined into one that has the instructions they need.
pub(crate) trait Lanes: Copy {
    /// How many lanes: 1, 2 or 4.
    const LANES: usize;

    /// Whether a vector is one register, so that there are many.
    const IS_REGISTER: bool;

    /// A vector of half as many lanes, or of one.
    type Half: Lanes;

    /// Nothing yet.
    unsafe fn zero() -> Self;

    /// Lane `k` is read at `from[k]`.
    unsafe fn load(from: [*const u8; MOST]) -> Self;

    /// All lanes are read in a row.
    unsafe fn load_whole(from: *const u8) -> Self;

    /// `AT_ONCE` lanes are read in a row at each of the places: 1, 2 or 4, at most all.
    #[inline(always)]
    unsafe fn load_wide<const AT_ONCE: usize>(from: [*const u8; MOST]) -> Self {
        // SAFETY: the caller's promise.
        unsafe { if AT_ONCE == Self::LANES { Self::load_whole(from[0]) } else { Self::load(from) } }
    }

    /// The lane `k` of each group of `AT_ONCE` lanes of each of the first `AT_ONCE` vectors, in order, is the vector `k` of the
    /// result: groups and vectors are one index, and change places with the lanes in a group.
    #[inline(always)]
    unsafe fn regroup<const AT_ONCE: usize>(vectors: [Self; MOST]) -> [Self; MOST] {
        #[cfg(target_arch = "x86_64")]
        if AT_ONCE > 1 && AT_ONCE == Self::LANES {
            // SAFETY: the caller's promise.
            return unsafe { Self::exchange::<AT_ONCE>(vectors) };
        }
        vectors
    }

    /// As [`Lanes::load`], but only the first `bytes` bytes of each lane are read; less than 16.
    unsafe fn load_part(from: [*const u8; MOST], bytes: usize) -> Self;

    /// Zips the elements of `self` and `other` within each lane: the first holds the lower half of the pairs.
    unsafe fn zip<const SIZE: usize>(self, other: Self) -> (Self, Self);

    /// Cuts each of the first `FOLD` vectors into `FOLD` parts; the vector `k` of the result is the parts `k`
    /// of all, in order.
    #[cfg(target_arch = "x86_64")]
    unsafe fn exchange<const FOLD: usize>(vectors: [Self; MOST]) -> [Self; MOST];

    /// Writes all bytes.
    unsafe fn store(self, to: *mut u8);

    /// Writes the first half of the lanes at `to`, and the second half `after` bytes behind `to`.
    unsafe fn store_halves(self, to: *mut u8, after: usize);

    /// Writes the first `bytes` bytes; at least one of the last lane that has any, at most all.
    unsafe fn store_part(self, to: *mut u8, bytes: usize);

    /// Writes all bytes past the caches; `to` is aligned to the vector.
    unsafe fn stream(self, to: *mut u8);

    /// Copies less than 64 bytes.
    unsafe fn copy_part(from: *const u8, to: *mut u8, bytes: usize);

    /// Asks for a line of memory that is written soon, in the first cache: a store that misses holds up all that follow it.
    #[inline(always)]
    fn prefetch_to_write(at: *const u8) {
        // SAFETY: a hint; any address will do, and where the instruction is not known it does nothing.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_ET0 }>(at.cast());
        }
        let _ = at;
    }
}

/// Moves a block with vectors `W`. `PART` is the lane in which the rows end if they do not fill one vector,
/// else the number of lanes.
///
/// # Safety
///
/// As [`crate::kernels::BlockFn`]; if `STREAM`, as [`crate::kernels::Transpose::stream`]. With
/// `PART < W::LANES` the rows end in that lane, else they fill at least one vector.
#[inline(always)]
pub(super) unsafe fn block<W: Lanes, const SIZE: usize, const STREAM: bool, const PART: usize>(
    block: &Block,
) {
    let side = LANE / SIZE;
    let tile = W::LANES * side;
    let &Block { rows, columns, source_stride, destination_stride, .. } = block;
    // The lanes in which the rows of a piece begin; those past the end of the rows read row 0, and are not stored.
    let begin = |lane: usize| if lane > PART { 0 } else { lane * side };
    let in_part = if PART < W::LANES { rows - PART * side } else { 0 };

    let fetches = !block.next.is_null();
    let rows_a_line = (LINE / source_stride.unsigned_abs().max(1)).max(1);

    let mut line = 0;
    while line < columns {
        // One line of each source row, or the last columns of it.
        let end = columns.min(line + LINE / SIZE);
        let base = if end - line < LINE / SIZE { columns.saturating_sub(LINE / SIZE) } else { line };
        let rest = (end - line) % side;
        let whole = end - line == LINE / SIZE;
        // Rows of more than half a vector, and the columns of a lane at least; of 2 bytes, masks are as quick.
        let short = PART > 0 && PART < W::LANES && SIZE != 2 && columns >= side;
        if short || PART == W::LANES && (!STREAM || SIZE >= 8) && (whole || SIZE == 1 && columns >= side) {
            // The last pieces overlap.
            let all = [(line, (end - line) / side), (columns.saturating_sub(side), usize::from(rest > 0))];
            for (first, pieces) in all.into_iter().filter(|all| all.1 > 0) {
                // SAFETY: the columns lie within the block: a line where they are whole, else pieces.
                unsafe {
                    if PART == W::LANES {
                        down::<W, SIZE, STREAM, false>(block, first, pieces);
                    } else {
                        down::<W, SIZE, false, true>(block, first, pieces);
                    }
                }
            }
            line = end;
            continue;
        }
        let pieces = (end - line).div_ceil(side);
        let share = tile.min(rows).div_ceil(pieces);
        let mut top = 0;
        while top < rows {
            let row = if PART < W::LANES { 0 } else { top.min(rows - tile) };
            let at = |start: *const u8| {
                start.wrapping_offset(row as isize * source_stride).wrapping_add(base * SIZE)
            };
            let from = at(block.source);
            let mut lanes = [from; MOST];
            for (k, lane) in lanes.iter_mut().enumerate() {
                *lane = from.wrapping_offset(begin(k) as isize * source_stride);
            }
            let to = block.destination.wrapping_add(row * SIZE);
            // From this tile's destination to that of the tile after the next.
            let columns_on = (LINE / SIZE) as isize * destination_stride;
            let ahead = if rows <= tile {
                2 * columns_on
            } else if top + 2 * tile < rows {
                (2 * tile * SIZE) as isize
            } else {
                columns_on - (row * SIZE) as isize
                    + if top + tile < rows { 0 } else { (tile * SIZE) as isize }
            };
            let piece_at = |column: usize| Piece {
                lanes: lanes.map(|lane| lane.wrapping_add((column - base) * SIZE)),
                stride: source_stride,
                in_part,
                to: to.wrapping_offset(column as isize * destination_stride),
                to_stride: destination_stride,
                bytes: rows * SIZE,
                ahead,
            };
            for piece in 0..pieces {
                if fetches {
                    for k in (piece * share..((piece + 1) * share).min(tile.min(rows))).step_by(rows_a_line) {
                        prefetch(line_of(at(block.next), k, source_stride));
                    }
                }
                let wanted = line + piece * side;
                let column = wanted.min(columns.saturating_sub(side));
                let piece = piece_at(column);
                // SAFETY: rows `row..` and columns `column..` lie within the block; if there are fewer
                // columns than in a piece, only those are read and written.
                unsafe {
                    if columns < side {
                        piece.go::<W, SIZE, STREAM, PART, true>(0, columns);
                    } else if STREAM && column < wanted {
                        // Lines are streamed once: the columns that overlap are skipped.
                        piece.go::<W, SIZE, STREAM, PART, true>(wanted - column, side);
                    } else {
                        piece.go::<W, SIZE, STREAM, PART, false>(0, side);
                    }
                }
            }
            top += tile;
        }
        line = end;
    }
}

/// The lower and the upper half of a lane whose first `bytes` bytes are read, less than 16, in at most two reads
/// that overlap.
///
/// # Safety
///
/// So many bytes, at least one, can be read.
#[inline(always)]
pub(super) unsafe fn read_part(from: *const u8, bytes: usize) -> (u64, u64) {
    // SAFETY: each read lies within the bytes.
    unsafe {
        match bytes {
            8.. => {
                let low = from.cast::<u64>().read_unaligned();
                let end = from.add(bytes - 8).cast::<u64>().read_unaligned();
                // Moved down to where its first new byte is the ninth; by 64 bits at `bytes == 8`.
                (low, (end >> 8) >> (120 - 8 * bytes))
            }
            4.. => {
                let low = from.cast::<u32>().read_unaligned();
                let end = from.add(bytes - 4).cast::<u32>().read_unaligned();
                (u64::from(low) | u64::from(end) << (8 * bytes - 32), 0)
            }
            2.. => {
                let low = from.cast::<u16>().read_unaligned();
                let end = from.add(bytes - 2).cast::<u16>().read_unaligned();
                (u64::from(low) | u64::from(end) << (8 * bytes - 16), 0)
            }
            _ => (u64::from(from.read()), 0),
        }
    }
}

/// What is asked for where a line's worth of a row is read soon: where it begins within a line, the second one of the two that it
/// touches. The first one is the second of what comes before.
#[inline(always)]
pub(super) fn line_of(start: *const u8, row: usize, stride: isize) -> *const u8 {
    start.wrapping_add(LINE - 1).wrapping_offset(row as isize * stride)
}

/// Whether the lines of `rows` rows share so few sets of the nearest cache that `ways` or more fall into one.
///
/// That cache finds a line by 6 bits of its address (64 sets of 64 bytes) on every machine of interest, and
/// holds 8 to 12 lines of a set.
pub(super) fn falls_into_one_set(rows: usize, stride: isize, ways: usize) -> bool {
    let period = (LINE * 64) as isize;
    [1, 2, 4].into_iter().any(|every| {
        // How far every so many rows move on within the sets, and how many sets that makes of all rows.
        let step = stride.wrapping_mul(every).rem_euclid(period);
        let step = step.min(period - step) as usize;
        let every = every as usize;
        let sets = every * (rows / every * step / LINE + 1);
        rows >= sets * ways
    })
}

/// A vector of destination rows by a lane of source columns.
pub(super) struct Piece {
    /// Where each lane's first row begins.
    pub(super) lanes: [*const u8; MOST],
    /// From one row to the next.
    pub(super) stride: isize,
    /// Rows in the lane where the rows end.
    pub(super) in_part: usize,
    pub(super) to: *mut u8,
    pub(super) to_stride: isize,
    /// Bytes of a destination row, where it is less than a vector.
    pub(super) bytes: usize,
    /// From `to` to what is written in a while.
    pub(super) ahead: isize,
}

impl Piece {
    /// The columns of the piece, as many as a lane has elements, each a vector. Only the first `last` are the piece's if it is
    /// `RAGGED`.
    ///
    /// # Safety
    ///
    /// The rows of each lane can be read, as far as `last` tells.
    #[inline(always)]
    pub(super) unsafe fn columns<W: Lanes, const SIZE: usize, const PART: usize, const RAGGED: bool>(
        &self,
        last: usize,
    ) -> [W; LANE] {
        let side = LANE / SIZE;
        // SAFETY (of the whole): the caller's promise, and rows past the last are never asked for.
        unsafe {
            let mut offset = 0_isize;
            let mut held = 0;
            let mut vectors = [W::zero(); LANE];
            each!(row < side, {
                if row > 0 {
                    offset = offset.wrapping_add(self.stride);
                    if row < self.in_part {
                        held = offset;
                    }
                }
                let mut from = self.lanes;
                for (lane, from) in from.iter_mut().enumerate() {
                    *from = from.wrapping_offset(if lane == PART { held } else { offset });
                }
                vectors[row] =
                    if RAGGED && last < side { W::load_part(from, last * SIZE) } else { W::load(from) };
            });
            zipped::<W, SIZE, 1>(&mut vectors);
            vectors
        }
    }

    /// Moves the columns `first..last` of the piece; all of them unless `RAGGED`.
    ///
    /// # Safety
    ///
    /// The rows of each lane can be read and the rows at `to` written, as far as `first..last` and `bytes` tell.
    #[inline(always)]
    unsafe fn go<W: Lanes, const SIZE: usize, const STREAM: bool, const PART: usize, const RAGGED: bool>(
        &self,
        first: usize,
        last: usize,
    ) {
        let side = LANE / SIZE;
        // SAFETY: the caller's promise.
        unsafe {
            let vectors = self.columns::<W, SIZE, PART, RAGGED>(last);
            let mut to = self.to;
            each!(row < side, {
                let vector = vectors[row];
                if row > 0 {
                    to = to.wrapping_offset(self.to_stride);
                }
                if !RAGGED || (first <= row && row < last) {
                    if !STREAM {
                        W::prefetch_to_write(to.wrapping_offset(self.ahead));
                    }
                    if STREAM {
                        vector.stream(to);
                    } else if PART < W::LANES {
                        vector.store_part(to, self.bytes);
                    } else {
                        vector.store(to);
                    }
                }
            });
        }
    }
}
