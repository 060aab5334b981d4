//! How fast the kernels are beside a memory copy of the same bytes, timed in turns:
//! `cargo bench -p tilework-copy`.
//!
//! ```text
//! cargo bench -p tilework-copy -- [WORD]...      only the lines that hold all words, as `avx512 u32 L2`
//! ```
//!
//! A ratio above 1 is faster than the copy. One matrix of your own, with the bytes after its rows and before
//! its first element for source and destination, and how it is cut into blocks:
//!
//! ```text
//! cargo bench -p tilework-copy -- set=avx512 size=4 shape=4096x4096 gaps=64,64 offsets=0,0 block=64x16 stream prefetch
//! ```

#[allow(dead_code)]
#[path = "../src/kernels/mod.rs"]
mod kernels;

use std::hint::black_box;
use std::time::{Duration, Instant};

use kernels::{Block, InstructionSet, transpose};

/// A matrix to transpose, block by block along the source rows.
struct Matrix {
    rows: usize,
    columns: usize,
    /// Bytes between the ends of one row and the beginning of the next, for source and destination.
    gaps: (usize, usize),
    /// Bytes before the first element of each.
    offsets: (usize, usize),
    /// Rows and columns of a block.
    block: (usize, usize),
    stream: bool,
    prefetch: bool,
}

/// Memory on line boundaries, in huge pages where the system grants them.
struct Memory(Vec<u8>, usize);

impl Memory {
    fn new(len: usize) -> Self {
        let mut bytes: Vec<u8> = Vec::with_capacity(len + (2 << 20));
        #[cfg(target_os = "linux")]
        {
            unsafe extern "C" {
                fn madvise(address: *mut u8, length: usize, advice: i32) -> i32;
            }
            let page = bytes.as_mut_ptr().align_offset(4096);
            // SAFETY: 14 and 15 (MADV_HUGEPAGE, MADV_NOHUGEPAGE) change how the pages within the allocation are
            // backed, nothing else.
            unsafe {
                madvise(
                    bytes.as_mut_ptr().wrapping_add(page),
                    bytes.capacity() - 4096,
                    if small_pages() { 15 } else { 14 },
                )
            };
        }
        bytes.resize(len + (2 << 20), 1);
        let start = bytes.as_ptr().align_offset(2 << 20);
        Self(bytes, start)
    }
    fn at(&self, offset: usize) -> *const u8 {
        self.0[self.1 + offset..].as_ptr()
    }
    fn at_mut(&mut self, offset: usize) -> *mut u8 {
        self.0[self.1 + offset..].as_mut_ptr()
    }
}

/// Whether pages of 4 KiB are asked for, as most programs get.
fn small_pages() -> bool {
    std::env::args().any(|word| word == "small-pages")
}

/// KiB in huge pages.
fn huge() -> usize {
    let text = std::fs::read_to_string("/proc/self/smaps_rollup").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("AnonHugePages:"));
    line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse().ok()).unwrap_or(usize::MAX)
}

impl Matrix {
    /// # Safety
    ///
    /// Source and destination hold the matrix and the machine has the set.
    unsafe fn run(&self, set: InstructionSet, size: usize, source: *const u8, destination: *mut u8) {
        let kernel = transpose(set, size).expect("a size that has kernels");
        let run = if self.stream { kernel.stream } else { kernel.plain };
        let source_stride = self.columns * size + self.gaps.0;
        let destination_stride = self.rows * size + self.gaps.1;
        let (row_step, column_step) = self.block;
        let at = |row: usize, column: usize| Block {
            rows: row_step.min(self.rows - row),
            columns: column_step.min(self.columns - column),
            source: source.wrapping_add(row * source_stride + column * size),
            source_stride: source_stride as isize,
            destination: destination.wrapping_add(column * destination_stride + row * size),
            destination_stride: destination_stride as isize,
            next: std::ptr::null(),
        };
        for row in (0..self.rows).step_by(row_step) {
            for column in (0..self.columns).step_by(column_step) {
                let mut block = at(row, column);
                if self.prefetch {
                    block.next = if column + column_step < self.columns {
                        block.source.wrapping_add(column_step * size)
                    } else {
                        source.wrapping_add((row + row_step) * source_stride)
                    };
                }
                // SAFETY: the block lies within the matrix.
                unsafe { run(&block) };
            }
        }
        #[cfg(target_arch = "x86_64")]
        if self.stream {
            // SAFETY: every x86-64 has the instruction.
            unsafe { std::arch::x86_64::_mm_sfence() };
        }
    }

    /// Seconds of the transpose and of a copy of the same bytes: what one of ten rounds is faster than, since
    /// other programs only ever slow a round down.
    fn time(&self, set: InstructionSet, size: usize) -> (f64, f64) {
        let bytes = self.rows * self.columns * size;
        let source = Memory::new(self.rows * (self.columns * size + self.gaps.0) + self.offsets.0);
        let mut destination = Memory::new(self.columns * (self.rows * size + self.gaps.1) + self.offsets.1);
        let (from, to) = (source.at(self.offsets.0), destination.at_mut(self.offsets.1));
        let repeat = (1_usize << 20).div_ceil(bytes);
        let (mut own, mut copy) = (Vec::new(), Vec::new());
        let until = Instant::now() + Duration::from_millis(if bytes < 16 << 20 { 60 } else { 500 });
        while own.len() < 10 || Instant::now() < until {
            let measure = |list: &mut Vec<f64>, run: &dyn Fn()| {
                let start = Instant::now();
                for _ in 0..repeat {
                    run();
                }
                list.push(start.elapsed().as_secs_f64() / repeat as f64);
            };
            // SAFETY: both memories are long enough for the matrix, and so for its bytes.
            measure(&mut own, &|| unsafe { self.run(set, size, black_box(from), black_box(to)) });
            measure(&mut copy, &|| unsafe {
                std::ptr::copy_nonoverlapping(black_box(from), black_box(to), bytes)
            });
        }
        if bytes > (2 << 20) && !small_pages() && huge() < 2 * bytes / 1024 * 9 / 10 {
            eprintln!(
                "(the system granted huge pages for {} MiB of {} only)",
                huge() >> 10,
                (2 * bytes) >> 20
            );
        }
        own.sort_by(f64::total_cmp);
        copy.sort_by(f64::total_cmp);
        (own[own.len() / 10], copy[copy.len() / 10])
    }
}

/// The matrix that the words describe.
fn one(words: &[String]) {
    let value = |name: &str| words.iter().find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
    let pair = |name: &str| {
        let (a, b) = value(name).unwrap_or("0,0").split_once(['x', ',']).expect("two numbers");
        (a.parse().expect("a number"), b.parse().expect("a number"))
    };
    let (rows, columns) = pair("shape");
    let block: (usize, usize) = pair("block");
    let block = if block.0 == 0 { (rows, columns) } else { block };
    let has = |word: &str| words.iter().any(|other| other == word);
    let (gaps, offsets) = (pair("gaps"), pair("offsets"));
    let matrix =
        Matrix { rows, columns, gaps, offsets, block, stream: has("stream"), prefetch: has("prefetch") };
    let size = value("size").map_or(4, |size| size.parse().expect("a number"));
    for set in InstructionSet::all_here() {
        if value("set").is_none_or(|set_| format!("{set:?}").to_lowercase() == set_) {
            let (own, copy) = matrix.time(set, size);
            let bytes = (rows * columns * size) as f64;
            println!(
                "{set:58?} {:9.1} {:9.2} {:7.2}",
                2.0 * bytes / own / 1e9,
                own * 64e9 / bytes,
                copy / own
            );
        }
    }
}

fn main() {
    let words: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with('-') && word != "small-pages").collect();
    println!("{:58} {:>9} {:>9} {:>7}", "", "GB/s", "ns/line", "ratio");
    if words.iter().any(|word| word.starts_with("shape=")) {
        return one(&words);
    }
    let line = |name: &str, set: InstructionSet, size: usize, matrix: &Matrix| {
        let name = format!(
            "{name} {set:?} u{} {}x{} blocks {}x{}{}{}",
            size * 8,
            matrix.rows,
            matrix.columns,
            matrix.block.0,
            matrix.block.1,
            if matrix.stream { " stream" } else { "" },
            if matrix.prefetch { " prefetch" } else { "" }
        );
        if !words.iter().all(|word| name.to_lowercase().split(' ').any(|part| part == word.to_lowercase())) {
            return;
        }
        let (own, copy) = matrix.time(set, size);
        let bytes = (matrix.rows * matrix.columns * size) as f64;
        println!("{name:58} {:9.1} {:9.2} {:7.2}", 2.0 * bytes / own / 1e9, own * 64e9 / bytes, copy / own);
    };
    for set in InstructionSet::all_here() {
        for size in [1, 2, 4, 8, 16] {
            let tile = 64 / size;
            let plain = |rows: usize, columns: usize| Matrix {
                rows,
                columns,
                gaps: (0, 0),
                offsets: (0, 0),
                block: (256.min(rows), tile),
                stream: false,
                prefetch: false,
            };
            let side = |bytes: usize| {
                let mut side = 1;
                while side * side * size < bytes {
                    side *= 2
                }
                side
            };
            // Rows of whole lines, an odd number of them.
            let odd = |bytes: usize| {
                let matrix = plain(side(bytes), side(bytes));
                Matrix { gaps: (64, 64), block: (matrix.rows, matrix.columns), ..matrix }
            };
            line("L1", set, size, &odd(8 << 10));
            line("L2", set, size, &odd(128 << 10));
            line(
                "L2-skew",
                set,
                size,
                &Matrix { gaps: (64 + size, 64 + size), offsets: (size, size), ..odd(128 << 10) },
            );
            line(
                "L2-skew-source",
                set,
                size,
                &Matrix { gaps: (64 + size, 64), offsets: (size, 0), ..odd(128 << 10) },
            );
            line(
                "L2-skew-destination",
                set,
                size,
                &Matrix { gaps: (64, 64 + size), offsets: (0, size), ..odd(128 << 10) },
            );
            line("L2-power", set, size, &Matrix { gaps: (0, 0), ..odd(256 << 10) });
            line("L3", set, size, &Matrix { block: (128, tile), ..odd(4 << 20) });
            line("L3", set, size, &Matrix { block: (128, tile), prefetch: true, ..odd(4 << 20) });
            line(
                "L3-power",
                set,
                size,
                &Matrix { gaps: (0, 0), block: (128, tile), prefetch: true, ..odd(4 << 20) },
            );
            for (rows, columns) in [(64, 1), (128, 1), (256, 1), (128, 4)] {
                for stream in [false, true] {
                    let matrix = odd(256 << 20);
                    line(
                        "DRAM",
                        set,
                        size,
                        &Matrix { block: (rows, columns * tile), stream, prefetch: true, ..matrix },
                    );
                    line(
                        "DRAM-power",
                        set,
                        size,
                        &Matrix {
                            gaps: (0, 0),
                            block: (rows, columns * tile),
                            stream,
                            prefetch: true,
                            ..matrix
                        },
                    );
                }
            }
            for rows in [15, 16, 28] {
                for columns in [15, 16, 28, 32, 48, 75] {
                    line(
                        "small",
                        set,
                        size,
                        &Matrix {
                            gaps: (columns * size * 14, rows * size * 14),
                            block: (rows, columns),
                            ..plain(rows, columns)
                        },
                    );
                }
            }
        }
    }
}
