//! Whole tiles, one below the other: what most of a block is.

use super::super::Block;
use super::super::carry::each;
use super::super::vector::prefetch;
use super::lanes::{LANE, Lanes, MOST, line_of};

/// Moves `pieces` pieces of columns from `first` on, as far as the rows go: a line of them, unless elements are bytes or rows `SHORT`,
/// more than half a vector and less than one.
///
/// # Safety
///
/// As [`super::lanes::block`], for these columns, with rows that fill one vector at least if they are not `SHORT`.
#[inline(always)]
pub(super) unsafe fn down<W: Lanes, const SIZE: usize, const STREAM: bool, const SHORT: bool>(
    block: &Block,
    first: usize,
    pieces: usize,
) {
    let side = LANE / SIZE;
    let tile = W::LANES * side;
    let &Block { rows, source_stride, destination_stride, .. } = block;
    let column = Column {
        from: block.source.wrapping_add(first * SIZE),
        stride: source_stride,
        to: block.destination.wrapping_offset(first as isize * destination_stride),
        to_stride: destination_stride,
        next: if block.next.is_null() { block.next } else { block.next.wrapping_add(first * SIZE) },
    };
    // SAFETY: the caller's promise.
    unsafe {
        if SHORT {
            return column.short::<W, SIZE>(rows, pieces);
        }
        column.tiles::<W, SIZE, STREAM>(rows / tile, pieces);
        // Less than a tile is left: the narrowest vectors that hold it, which overlap what was moved.
        let rest = rows % tile;
        let last = |lanes: usize| column.below::<SIZE>(rows - lanes * side);
        if rest > tile / 2 {
            last(W::LANES).tiles::<W, SIZE, STREAM>(1, pieces);
        } else if rest > tile / 4 {
            last(W::Half::LANES).tiles::<W::Half, SIZE, STREAM>(1, pieces);
        } else if rest > 0 {
            type Quarter<W> = <<W as Lanes>::Half as Lanes>::Half;
            last(Quarter::<W>::LANES).tiles::<Quarter<W>, SIZE, STREAM>(1, pieces);
        }
    }
}

/// Transposes what each lane holds over as many vectors as a lane has elements, in each of `AT_ONCE` groups of vectors. Of rows
/// that were read several lanes at once, lanes then change places, so that vectors are columns in order.
///
/// # Safety
///
/// The machine has the instructions.
#[inline(always)]
pub(crate) unsafe fn zipped<W: Lanes, const SIZE: usize, const AT_ONCE: usize>(vectors: &mut [W; LANE]) {
    let side = LANE / SIZE;
    each!(0 1 2 3, round < 4, {
        if 1 << round < side {
            let before = *vectors;
            each!(0 1 2 3, group < AT_ONCE, {
                each!(0 1 2 3 4 5 6 7, k < 8, {
                    if k < side / 2 {
                        let first = group * side;
                        // SAFETY: the caller's promise.
                        (vectors[first + 2 * k], vectors[first + 2 * k + 1]) =
                            unsafe { before[first + k].zip::<SIZE>(before[first + k + side / 2]) };
                    }
                });
            });
        }
    });
    if AT_ONCE > 1 {
        let before = *vectors;
        each!(k < side, {
            let mut same = [before[k]; MOST];
            each!(0 1 2 3, group < AT_ONCE, {
                same[group % MOST] = before[group * side + k];
            });
            // SAFETY: the caller's promise.
            let same = unsafe { W::regroup::<AT_ONCE>(same) };
            each!(0 1 2 3, group < AT_ONCE, {
                vectors[group * side + k] = same[group % MOST];
            });
        });
    }
}

/// Hides from the compiler how a pointer was made. Else it computes the places of all 64 rows in advance, and has no registers for them.
#[expect(clippy::pointers_in_nomem_asm_block, reason = "nothing is read or written at the place")]
#[inline(always)]
fn opaque(mut place: *const u8) -> *const u8 {
    // SAFETY: no instruction.
    unsafe {
        std::arch::asm!("/* {0} */", inout(reg) place, options(pure, nomem, nostack, preserves_flags));
    }
    place
}

/// Source columns of a line, moved a vector of rows after the other.
///
/// Little goes on beside the moves themselves, so that the processor can look ahead: the reads of the next tile begin before those
/// of this one are done.
#[derive(Clone, Copy)]
struct Column {
    /// Where the first row begins.
    from: *const u8,
    /// From one row to the next.
    stride: isize,
    to: *mut u8,
    to_stride: isize,
    /// Where the first row of the next block begins, or nothing.
    next: *const u8,
}

impl Column {
    /// From that row on.
    fn below<const SIZE: usize>(self, row: usize) -> Self {
        let down = row as isize * self.stride;
        let next = if self.next.is_null() { self.next } else { self.next.wrapping_offset(down) };
        Self { from: self.from.wrapping_offset(down), to: self.to.wrapping_add(row * SIZE), next, ..self }
    }

    /// Moves `tiles` tiles. Each is `pieces` lanes wide: a line, unless elements are bytes.
    ///
    /// # Safety
    ///
    /// Their rows can be read and the rows at `to` written.
    #[inline(always)]
    unsafe fn tiles<W: Lanes, const SIZE: usize, const STREAM: bool>(self, tiles: usize, pieces: usize) {
        // SAFETY: the caller's promise.
        unsafe {
            let fetches = !self.next.is_null();
            let tile = W::LANES * LANE / SIZE;
            match (W::LANES, SIZE, fetches) {
                _ if !W::IS_REGISTER => self.go::<W, SIZE, STREAM, 1, true, false>(tiles, pieces, tile),
                (4, 2, false) | (2, 4.., false) => {
                    self.go::<W, SIZE, STREAM, 2, false, false>(tiles, 2, tile)
                }
                (4, 4.., false) => self.go::<W, SIZE, STREAM, 4, false, false>(tiles, 1, tile),
                (_, _, false) => self.go::<W, SIZE, STREAM, 1, false, false>(tiles, pieces, tile),
                (4, 2, _) | (2, 4.., _) => self.go::<W, SIZE, STREAM, 2, true, false>(tiles, 2, tile),
                (4, 4.., _) => self.go::<W, SIZE, STREAM, 4, true, false>(tiles, 1, tile),
                _ => self.go::<W, SIZE, STREAM, 1, true, false>(tiles, pieces, tile),
            }
        }
    }

    /// Moves rows that are more than half a vector, and less than one: its second half is the last rows, which overlap the first half.
    ///
    /// # Safety
    ///
    /// As [`Column::tiles`], for `rows` rows.
    #[inline(always)]
    unsafe fn short<W: Lanes, const SIZE: usize>(self, rows: usize, pieces: usize) {
        // SAFETY: the caller's promise.
        unsafe {
            if self.next.is_null() {
                self.go::<W, SIZE, false, 1, false, true>(1, pieces, rows);
            } else {
                self.go::<W, SIZE, false, 1, true, true>(1, pieces, rows);
            }
        }
    }

    /// Moves `tiles` tiles of `rows` rows; a piece is `AT_ONCE` lanes of each row. Each of its elements needs a vector, so registers
    /// limit it. In `HALVES` go rows that are more than half a vector.
    ///
    /// # Safety
    ///
    /// As [`Column::tiles`].
    #[inline(always)]
    unsafe fn go<
        W: Lanes,
        const SIZE: usize,
        const STREAM: bool,
        const AT_ONCE: usize,
        const FETCH: bool,
        const HALVES: bool,
    >(
        mut self,
        tiles: usize,
        pieces: usize,
        rows: usize,
    ) {
        let side = LANE / SIZE;
        let (count, parts) = (AT_ONCE * side, W::LANES / AT_ONCE);
        let many = W::LANES * side > 16;
        let fetch = FETCH && !self.next.is_null();
        for _ in 0..tiles {
            let mut to = self.to;
            for piece in 0..pieces {
                // SAFETY: the caller's promise.
                unsafe {
                    if fetch {
                        for row in piece * rows / pieces..(piece + 1) * rows / pieces {
                            prefetch(line_of(self.next, row, self.stride));
                        }
                    }
                    let mut vectors = [W::zero(); LANE];
                    let mut from = [self.from.wrapping_add(piece * LANE * AT_ONCE); MOST];
                    for (part, from) in from.iter_mut().enumerate() {
                        let last = HALVES && part >= W::LANES / 2 && part < W::LANES;
                        let row = if last { rows - (W::LANES - part) * side } else { part * side };
                        *from = from.wrapping_offset(row as isize * self.stride);
                    }
                    if SIZE == 1 && W::LANES == 2 && !HALVES {
                        to = self.bytes::<W, STREAM>(from, to);
                        continue;
                    }
                    let mut on = from;
                    each!(n < count, {
                        if many && n > 0 && n % 4 == 0 {
                            let skipped = if n % side == 0 { (parts - 1) * side } else { 0 };
                            for from in &mut from {
                                *from = opaque(from.wrapping_offset((4 + skipped) as isize * self.stride));
                            }
                            on = from;
                        } else if !many {
                            for (part, on) in on.iter_mut().enumerate() {
                                let row = n / side * parts * side + n % side;
                                *on = from[part].wrapping_offset(row as isize * self.stride);
                            }
                        }
                        vectors[n] = W::load_wide::<AT_ONCE>(on);
                        for on in &mut on {
                            *on = on.wrapping_offset(self.stride);
                        }
                    });
                    zipped::<W, SIZE, AT_ONCE>(&mut vectors);
                    let start = to;
                    each!(n < count, {
                        to = match (many, n % 4) {
                            (true, 0) => opaque(to).cast_mut(),
                            (true, _) => to,
                            (false, _) => start.wrapping_offset(n as isize * self.to_stride),
                        };
                        if STREAM {
                            vectors[n].stream(to);
                        } else if HALVES {
                            vectors[n].store_halves(to, rows * SIZE - W::LANES * LANE / 2);
                        } else {
                            vectors[n].store(to);
                        }
                        to = to.wrapping_offset(self.to_stride);
                    });
                }
            }
            self.from = self.from.wrapping_offset(rows as isize * self.stride);
            self.to = self.to.wrapping_add(rows * SIZE);
            if fetch {
                self.next = self.next.wrapping_offset(rows as isize * self.stride);
            }
        }
    }

    /// Moves a piece of bytes, which is as many vectors as there are registers: the upper half of its rows and then the lower one, so that
    /// registers are left to work with. Returns where the next piece goes.
    ///
    /// # Safety
    ///
    /// As [`Column::tiles`], for a piece whose lanes and columns begin at these places.
    #[inline(always)]
    unsafe fn bytes<W: Lanes, const STREAM: bool>(self, from: [*const u8; MOST], mut to: *mut u8) -> *mut u8 {
        // SAFETY: the caller's promise.
        unsafe {
            let (upper, from) = eight_rows::<W>(from, self.stride);
            let (lower, _) = eight_rows::<W>(from, self.stride);
            each!(0 1 2 3 4 5 6 7, k < 8, {
                let (even, odd) = upper[k].zip::<8>(lower[k]);
                to = opaque(to).cast_mut();
                if STREAM {
                    even.stream(to);
                    odd.stream(to.wrapping_offset(self.to_stride));
                } else {
                    even.store(to);
                    odd.store(to.wrapping_offset(self.to_stride));
                }
                to = to.wrapping_offset(2 * self.to_stride);
            });
        }
        to
    }
}

/// Eight rows of bytes in each lane; vector `k` then is the columns `2k` and `2k + 1`, 8 bytes of each. And where the next rows begin.
///
/// # Safety
///
/// The rows can be read, and the machine has the instructions.
#[inline(always)]
unsafe fn eight_rows<W: Lanes>(mut from: [*const u8; MOST], stride: isize) -> ([W; 8], [*const u8; MOST]) {
    // SAFETY: the caller's promise.
    unsafe {
        let mut rows = [W::zero(); 8];
        each!(0 1 2 3 4 5 6 7, n < 8, {
            rows[n] = W::load(from);
            for from in &mut from {
                let next = from.wrapping_offset(stride);
                *from = if n % 4 == 3 { opaque(next) } else { next };
            }
        });
        let [a, b, c, d, e, f, g, h] = rows;
        let ((a, b), (c, d), (e, f), (g, h)) = (a.zip::<1>(b), c.zip::<1>(d), e.zip::<1>(f), g.zip::<1>(h));
        let ((a, c), (b, d), (e, g), (f, h)) = (a.zip::<2>(c), b.zip::<2>(d), e.zip::<2>(g), f.zip::<2>(h));
        let ((a, e), (c, g), (b, f), (d, h)) = (a.zip::<4>(e), c.zip::<4>(g), b.zip::<4>(f), d.zip::<4>(h));
        ([a, e, c, g, b, f, d, h], from)
    }
}
