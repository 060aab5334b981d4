//! How fast the kernels for short interleaves, strides and short runs are, against `memcpy` of as many bytes.
//!
//! ```sh
//! cargo bench -p tilework-copy --bench interleave                 # everything
//! cargo bench -p tilework-copy --bench interleave -- 'ways 3'     # cases whose name contains the words
//! cargo bench -p tilework-copy --bench interleave -- prefetch     # the distance at which the source is prefetched
//! ```
//!
//! Every figure is the median over rounds of (time of `memcpy`) / (time of the kernel), timed one after the other in each
//! round, with payloads that fit L1, L2 and no cache: above 1 is faster than `memcpy`. `TILEWORK_INSTRUCTIONS` caps the
//! instruction set.

#[allow(dead_code, unused_imports, missing_docs)]
#[path = "../src/kernels/mod.rs"]
mod kernels;

use kernels::{InstructionSet, Line, Runs, Zip, deinterleave, gather, interleave, runs};
use std::hint::black_box;
use std::time::Instant;

/// Payloads in bytes: L1, L2, DRAM. The last by the caller.
const SMALL: [usize; 2] = [12 << 10, 480 << 10];

/// Bytes on 2 MiB pages, all touched.
struct Arena(*mut u8, std::alloc::Layout);

impl Arena {
    fn new(bytes: usize) -> Self {
        let layout = std::alloc::Layout::from_size_align(bytes, 2 << 20).expect("a layout");
        // SAFETY: the layout is not empty; the advice changes nothing but speed; all bytes are then written.
        unsafe {
            let start = std::alloc::alloc(layout);
            assert!(!start.is_null(), "{bytes} bytes");
            #[cfg(target_os = "linux")]
            {
                unsafe extern "C" {
                    fn madvise(start: *mut std::ffi::c_void, bytes: usize, advice: i32) -> i32;
                }
                madvise(start.cast(), bytes, 14);
            }
            for i in 0..bytes {
                *start.add(i) = ((i * 31) >> 3) as u8;
            }
            Self(start, layout)
        }
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        // SAFETY: as allocated.
        unsafe { std::alloc::dealloc(self.0, self.1) }
    }
}

/// What is timed: a name, and what moves this many bytes of payload (source, destination, bytes, past the caches?,
/// bytes of prefetch).
struct Case {
    name: String,
    run: Box<dyn Fn(*const u8, *mut u8, usize, bool, usize)>,
}

fn zip(set: InstructionSet, size: usize, ways: usize, back: bool, row: Option<usize>) -> Option<Case> {
    let kernels = (if back { deinterleave } else { interleave })(set, size, ways)?;
    let way = if back { "apart" } else { "together" };
    let length = row.map_or(String::from("long rows"), |row| format!("rows of {row}"));
    Some(Case {
        name: format!("ways {ways}, {size} B, {way}, {length}"),
        run: Box::new(move |source, destination, bytes, stream, ahead| {
            let all = bytes / ways / size;
            let count = row.unwrap_or(all).min(all);
            let kernel = if stream { kernels.stream } else { kernels.plain };
            // Whole lines between the rows, as arrays have; not a power of two of them.
            let stride = all / count * count * size;
            for i in 0..all / count {
                let (apart, together) = (i * count * size, i * count * size * ways);
                let (from, to) = if back { (together, apart) } else { (apart, together) };
                let (source, destination) = (source.wrapping_add(from), destination.wrapping_add(to));
                // SAFETY: `ways` rows of `all` elements are at most `bytes` bytes.
                unsafe {
                    kernel(&Zip {
                        count,
                        source,
                        destination,
                        stride: stride as isize,
                        ahead,
                        times: 1,
                        again: (0, 0),
                    })
                };
            }
        }),
    })
}

/// Elements of `size` bytes at these steps, in elements, in rows of some thousands.
fn line(set: InstructionSet, name: &str, size: usize, from: isize, to: isize) -> Case {
    let kernel = gather(set, size, from * size as isize, to * size as isize);
    Case {
        name: format!("{name}, {size} B"),
        run: Box::new(move |source, destination, bytes, _, _| {
            // What is read or written, whichever spans more, is `bytes`.
            let wider = from.unsigned_abs().max(to.unsigned_abs()).max(1);
            let all = bytes / size / wider;
            let count = all.min(2048);
            for i in 0..all / count {
                let at = |step: isize| {
                    let start = i * count * size * step.unsigned_abs();
                    if step < 0 { start + (count - 1) * size * step.unsigned_abs() } else { start }
                };
                let line = Line {
                    count,
                    source: source.wrapping_add(at(from)),
                    source_step: from * size as isize,
                    destination: destination.wrapping_add(at(to)),
                    destination_step: to * size as isize,
                };
                // SAFETY: neither side spans more than `bytes`.
                unsafe { kernel(&line) };
            }
        }),
    }
}

fn run(set: InstructionSet, length: usize, from: usize, to: usize) -> Case {
    let kernel = runs(set, length);
    Case {
        name: format!("runs of {length} B, steps {from} and {to}"),
        run: Box::new(move |source, destination, bytes, _, _| {
            let all = bytes / from.max(to);
            let count = all.min(1024);
            for i in 0..all / count {
                let runs = Runs {
                    count,
                    times: 1,
                    again: (0, 0),
                    length,
                    source: source.wrapping_add(i * count * from),
                    source_step: from as isize,
                    destination: destination.wrapping_add(i * count * to),
                    destination_step: to as isize,
                };
                // SAFETY: neither side spans more than `bytes`.
                unsafe { kernel(&runs) };
            }
        }),
    }
}

fn cases(set: InstructionSet) -> Vec<Case> {
    let mut cases = Vec::new();
    for back in [false, true] {
        for (size, ways, row) in [
            (2, 2, Some(128)),
            (2, 2, None),
            (1, 4, Some(128)),
            (1, 4, None),
            (1, 3, None),
            (2, 3, None),
            (4, 3, None),
            (4, 2, None),
            (8, 2, None),
            (4, 4, None),
            (1, 8, None),
            (2, 8, None),
            (4, 8, None),
            (1, 3, Some(5001)),
            (2, 3, Some(3003)),
            (4, 8, Some(3001)),
            (1, 3, Some(49)),
        ] {
            cases.extend(zip(set, size, ways, back, row));
        }
    }
    for size in [1, 2, 4, 8] {
        cases.push(line(set, "reverse", size, -1, 1));
    }
    for size in [1, 2, 4, 8] {
        cases.push(line(set, "every second", size, 2, 1));
    }
    cases.push(line(set, "every third", 4, 3, 1));
    cases.push(line(set, "every fourth", 2, 4, 1));
    cases.push(line(set, "every 64th", 4, 64, 1));
    cases.push(line(set, "to every second", 4, 1, 2));
    cases.push(line(set, "to every second", 1, 1, 2));
    cases.push(line(set, "repeated", 2, 0, 1));
    for (length, from, to) in [
        (3, 3, 4),
        (3, 4, 3),
        (3, 64, 3),
        (12, 12, 16),
        (12, 64, 12),
        (24, 32, 24),
        (24, 24, 100),
        (60, 64, 60),
        (60, 240, 60),
        (100, 128, 100),
    ] {
        cases.push(run(set, length, from, to));
    }
    cases
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// (time of `memcpy`) / (time of the case), and GB/s of `memcpy`, read plus written.
fn measure(
    case: &Case,
    source: &Arena,
    destination: &Arena,
    bytes: usize,
    stream: bool,
    ahead: usize,
) -> (f64, f64) {
    let rounds = if bytes > 16 << 20 { 5 } else { 15 };
    let repeat = (8 << 20) / bytes + 1;
    let mut ratios = Vec::new();
    let mut speeds = Vec::new();
    for round in 0..=rounds {
        let start = Instant::now();
        for _ in 0..repeat {
            // SAFETY: both hold `bytes` bytes and are apart.
            unsafe { black_box(destination.0).copy_from_nonoverlapping(black_box(source.0), bytes) };
        }
        let copy = start.elapsed().as_secs_f64();
        let start = Instant::now();
        for _ in 0..repeat {
            (case.run)(black_box(source.0), black_box(destination.0), bytes, stream, ahead);
            if stream {
                #[cfg(target_arch = "x86_64")]
                // SAFETY: the instruction is part of x86-64.
                unsafe {
                    std::arch::x86_64::_mm_sfence()
                };
            }
        }
        let kernel = start.elapsed().as_secs_f64();
        if round > 0 {
            ratios.push(copy / kernel);
            speeds.push(2.0 * (bytes * repeat) as f64 / copy / 1e9);
        }
    }
    (median(ratios), median(speeds))
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let set = InstructionSet::detect();
    let large =
        std::env::var("TILEWORK_BENCH_MIB").ok().and_then(|mib| mib.parse().ok()).unwrap_or(160_usize) << 20;
    let (source, destination) = (Arena::new(large + 8192), Arena::new(large + 8192));
    println!("{set:?}; ratio to memcpy (above 1: faster); L1, L2 through the caches; {} MiB", large >> 20);
    if words.iter().any(|word| word == "prefetch") {
        for (size, ways, back) in [
            (4, 3, false),
            (4, 3, true),
            (2, 2, false),
            (2, 2, true),
            (1, 4, false),
            (1, 4, true),
            (2, 8, false),
            (2, 8, true),
        ] {
            let Some(case) = zip(set, size, ways, back, None) else { continue };
            print!("{:<40}", case.name);
            for ahead in [0, 256, 512, 1024, 1536, 2048, 4096, 8192] {
                print!("  {ahead}: {:4.2}", measure(&case, &source, &destination, large, true, ahead).0);
            }
            println!();
        }
        return;
    }
    println!("{:<40}{:>8}{:>8}{:>8}{:>10}", "", "L1", "L2", "DRAM", "streamed");
    for case in cases(set) {
        if !words.iter().all(|word| case.name.contains(word.as_str())) {
            continue;
        }
        let [l1, l2] = SMALL.map(|bytes| measure(&case, &source, &destination, bytes, false, 0).0);
        let (dram, speed) = measure(&case, &source, &destination, large, false, 1024);
        print!("{:<40}{l1:8.2}{l2:8.2}{dram:8.2}", case.name);
        if case.name.starts_with("ways") {
            print!("{:10.2}", measure(&case, &source, &destination, large, true, 1024).0);
        } else {
            print!("{:>10}", "");
        }
        println!("   (memcpy {speed:.0} GB/s)");
    }
}
