use super::super::{Block, InstructionSet, Transpose};
use super::kernels;

/// A sequence that looks random and is the same every time.
struct Dice(u64);

impl Dice {
    /// One of `from..=to`.
    fn roll(&mut self, from: usize, to: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        from + (self.0 >> 11) as usize % (to - from + 1)
    }
}

/// Bytes that begin `offset` bytes after a line begins, and end where their allocation ends, so that an address
/// sanitizer tells when more is read.
struct Memory {
    allocation: *mut u8,
    offset: usize,
    len: usize,
}

impl Memory {
    fn new(len: usize, offset: usize, value: impl Fn(usize) -> u8) -> Self {
        // SAFETY: the memory is not empty.
        let mut memory =
            Self { allocation: unsafe { std::alloc::alloc_zeroed(Self::layout(len, offset)) }, offset, len };
        memory.bytes_mut().iter_mut().enumerate().for_each(|(k, byte)| *byte = value(k));
        memory
    }

    fn layout(len: usize, offset: usize) -> std::alloc::Layout {
        std::alloc::Layout::from_size_align(len + offset, 64).expect("a small size")
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: the allocation is `offset + len` bytes long, all written.
        unsafe { std::slice::from_raw_parts(self.allocation.add(self.offset), self.len) }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and nobody else has it.
        unsafe { std::slice::from_raw_parts_mut(self.allocation.add(self.offset), self.len) }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout.
        unsafe { std::alloc::dealloc(self.allocation, Self::layout(self.len, self.offset)) }
    }
}

/// Strides and extents of one block.
#[derive(Debug, Clone, Copy)]
struct Case {
    rows: usize,
    columns: usize,
    source_stride: isize,
    destination_stride: isize,
    source_offset: usize,
    destination_offset: usize,
}

fn check(set: InstructionSet, size: usize, run: unsafe fn(&Block), case: Case, prefetch: bool) {
    let Case { rows, columns, source_stride, destination_stride, .. } = case;
    let span = |count: usize, stride: isize, row: usize| (count - 1) * stride.unsigned_abs() + row * size;
    // No slack around the source, so that a sanitizer or a page's end could tell; a line of it around the
    // destination.
    let (source_len, canary) = (span(rows, source_stride, columns), 64);
    let source = Memory::new(source_len, case.source_offset, |k| (k * 7 + k / 251 + 1) as u8);
    let len = span(columns, destination_stride, rows) + 2 * canary;
    let mut found = Memory::new(len, case.destination_offset, |k| (k * 3) as u8);
    let mut expected = found.bytes().to_vec();
    let first =
        |count: usize, stride: isize| if stride < 0 { (count - 1) * stride.unsigned_abs() } else { 0 };
    let (from, to) = (first(rows, source_stride), first(columns, destination_stride) + canary);
    for row in 0..rows {
        for column in 0..columns {
            let from = from.wrapping_add_signed(row as isize * source_stride) + column * size;
            let to = to.wrapping_add_signed(column as isize * destination_stride) + row * size;
            expected[to..to + size].copy_from_slice(&source.bytes()[from..from + size]);
        }
    }
    let block = Block {
        rows,
        columns,
        source: source.bytes()[from..].as_ptr(),
        source_stride,
        destination: found.bytes_mut()[to..].as_mut_ptr(),
        destination_stride,
        next: if prefetch { source.bytes().as_ptr().wrapping_add(12345) } else { std::ptr::null() },
    };
    // SAFETY: both pieces of memory are as long as the strides and extents say.
    unsafe { run(&block) };
    let found = found.bytes();
    if let Some(at) = (0..len).find(|&k| found[k] != expected[k]) {
        panic!("{set:?}, elements of {size} bytes, {case:?}: byte {at} of {len} differs (canary {canary})");
    }
}

fn every(mut visit: impl FnMut(InstructionSet, usize, Transpose)) {
    for set in InstructionSet::all_here() {
        for size in [1, 2, 4, 8, 16] {
            visit(set, size, kernels(set, size).expect("a kernel for every size"));
        }
    }
}

#[test]
fn exactly_the_elements_of_a_block_move() {
    let mut dice = Dice(1);
    every(|set, size, kernel| {
        for _ in 0..400 {
            let most = 3 * kernel.tile + 5;
            let small = |dice: &mut Dice| {
                let to = if dice.roll(0, 1) == 0 { most } else { kernel.tile + 1 };
                dice.roll(1, to)
            };
            let (rows, columns) = (small(&mut dice), small(&mut dice));
            let stride = |dice: &mut Dice, count: usize| {
                let gap = match dice.roll(0, 3) {
                    0 => 0,
                    1 => dice.roll(0, 100),
                    2 => dice.roll(0, 20) * size,
                    _ => (64 - count * size % 64) % 64,
                };
                let stride = (count * size + gap) as isize;
                if dice.roll(0, 5) == 0 { -stride } else { stride }
            };
            let case = Case {
                rows,
                columns,
                source_stride: stride(&mut dice, columns),
                destination_stride: stride(&mut dice, rows),
                source_offset: dice.roll(0, 63),
                destination_offset: dice.roll(0, 63),
            };
            check(set, size, kernel.plain, case, dice.roll(0, 1) == 0);
        }
    });
}

#[test]
fn every_small_block_moves() {
    every(|set, size, kernel| {
        for rows in 1..=(kernel.tile + 1).min(40) {
            for columns in (1..=(kernel.tile + 1).min(40)).step_by(if rows % 8 < 2 { 1 } else { 5 }) {
                let (source_stride, destination_stride) = ((columns * size) as isize, (rows * size) as isize);
                let case = Case {
                    rows,
                    columns,
                    source_stride,
                    destination_stride,
                    source_offset: 0,
                    destination_offset: 0,
                };
                check(set, size, kernel.plain, case, false);
            }
        }
    });
}

#[test]
fn rows_a_power_of_two_apart_move() {
    let mut dice = Dice(2);
    every(|set, size, kernel| {
        for k in 0..40 {
            // More than are copied at a time, on either side: 64 rows of 256 bytes.
            let (rows, columns) = (dice.roll(1, 150), dice.roll(1, 600 / size));
            let source_stride = [1024, 2048, -4096, 4096, 8192][k % 5];
            // These crowd as well, or adjoin, or are whole lines.
            let adjoining = rows * size;
            let destination_stride = [4096, adjoining, adjoining.next_multiple_of(64)][k / 5 % 3] as isize;
            let case = Case {
                rows,
                columns,
                source_stride,
                destination_stride,
                source_offset: k % 2 * 3,
                destination_offset: k / 2 % 2 * 5,
            };
            check(set, size, kernel.plain, case, dice.roll(0, 1) == 0);
            check(set, size, kernel.stream, case, dice.roll(0, 1) == 0);
        }
    });
}

#[test]
fn rows_that_need_a_stage_move() {
    let mut dice = Dice(5);
    every(|set, size, kernel| {
        for _ in 0..8 {
            let rows = (dice.roll(60, 4000) / size).max(1);
            let case = Case {
                rows,
                columns: dice.roll(1, 2 * kernel.tile + 3),
                source_stride: 2048 + dice.roll(0, 70) as isize,
                destination_stride: 4096 + dice.roll(0, 4) as isize - 2,
                source_offset: dice.roll(0, 63),
                destination_offset: dice.roll(0, 63),
            };
            check(set, size, kernel.stream, case, dice.roll(0, 1) == 0);
            check(set, size, kernel.plain, case, dice.roll(0, 1) == 0);
        }
    });
}

#[test]
fn streaming_kernels_take_any_block() {
    let mut dice = Dice(6);
    every(|set, size, kernel| {
        for _ in 0..100 {
            let (rows, columns) = (dice.roll(1, 2 * kernel.tile), dice.roll(1, 2 * kernel.tile));
            let case = Case {
                rows,
                columns,
                source_stride: (columns * size + dice.roll(0, 70)) as isize,
                destination_stride: (rows * size + dice.roll(0, 1) * dice.roll(0, 70)) as isize,
                source_offset: dice.roll(0, 63),
                destination_offset: dice.roll(0, 1) * dice.roll(0, 63),
            };
            check(set, size, kernel.stream, case, dice.roll(0, 1) == 0);
        }
    });
}

#[test]
fn streaming_kernels_move_the_same_elements() {
    let mut dice = Dice(3);
    every(|set, size, kernel| {
        for _ in 0..200 {
            let rows = dice.roll(1, 4) * 64 / size;
            let columns = dice.roll(1, 2 * kernel.tile + 5);
            let case = Case {
                rows,
                columns,
                source_stride: (columns * size + dice.roll(0, 1) * dice.roll(0, 70)) as isize,
                destination_stride: (rows * size + 64 * dice.roll(0, 3)) as isize,
                source_offset: dice.roll(0, 63),
                destination_offset: 0,
            };
            check(set, size, kernel.stream, case, dice.roll(0, 1) == 0);
        }
    });
}

#[test]
fn streaming_kernels_take_adjacent_rows_of_parts_of_lines() {
    let mut dice = Dice(4);
    every(|set, size, kernel| {
        for bytes in [16, 32] {
            for _ in 0..30 {
                let (rows, columns) = (bytes / size, dice.roll(1, 20) * 64 / bytes);
                let case = Case {
                    rows,
                    columns,
                    source_stride: (columns * size + dice.roll(0, 70)) as isize,
                    destination_stride: bytes as isize,
                    source_offset: dice.roll(0, 63),
                    destination_offset: 0,
                };
                check(set, size, kernel.stream, case, dice.roll(0, 1) == 0);
                let case = Case { destination_offset: dice.roll(0, 63), ..case };
                check(set, size, kernel.plain, case, dice.roll(0, 1) == 0);
            }
        }
    });
}

#[test]
fn there_is_no_kernel_for_other_sizes() {
    for set in InstructionSet::all_here() {
        for size in [0, 3, 5, 12, 32] {
            assert!(kernels(set, size).is_none());
        }
    }
}

#[test]
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
fn every_arm_of_64_bits_has_its_kernels() {
    assert_eq!(InstructionSet::all_here(), [InstructionSet::Portable, InstructionSet::Neon]);
}
