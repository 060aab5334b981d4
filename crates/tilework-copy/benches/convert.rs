//! How fast elements are converted, and moved below a byte, beside a memory copy that reads and writes as many bytes,
//! timed in turns: `cargo bench -p tilework-copy --bench convert`.
//!
//! ```text
//! cargo bench -p tilework-copy --bench convert -- [WORD]...      only the lines that hold all words, as `f32 L2`
//! ```
//!
//! A ratio above 1 is faster than the copy.

#[allow(dead_code, unused_imports)]
#[path = "../src/convert/mod.rs"]
mod convert;
#[allow(dead_code, unused_imports)]
#[path = "../src/kernels/mod.rs"]
mod kernels;
#[allow(dead_code, unused_imports)]
#[path = "../src/subbyte/mod.rs"]
mod subbyte;

use std::hint::black_box;
use std::time::{Duration, Instant};

use convert::{Conversion, Converter};
use kernels::InstructionSet;
use tilework::{Element, Loop, Nest};

/// What is measured: given a source and a destination that are long enough.
type Run<'a> = Box<dyn Fn(&[u8], &mut [u8]) + 'a>;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    println!("{:<44} {:>10} {:>10} {:>8}", "", "GB/s", "memcpy", "ratio");
    for set in InstructionSet::all_here() {
        for (name, read, written, run) in workloads(set) {
            let name = format!("{name}, {set:?}");
            if words.iter().all(|word| name.to_lowercase().contains(&word.to_lowercase())) {
                measure(&name, read, written, &run);
            }
        }
    }
}

/// Name, bytes read, bytes written, and what to run.
fn workloads(set: InstructionSet) -> Vec<(String, usize, usize, Run<'static>)> {
    let mut all: Vec<(String, usize, usize, Run)> = Vec::new();
    let pairs = [
        (Element::F32, Element::Bf16),
        (Element::Bf16, Element::F32),
        (Element::F32, Element::F16),
        (Element::F16, Element::F32),
        (Element::Bf16, Element::F16),
        (Element::F32, Element::F8e4m3fn),
        (Element::F8e4m3fn, Element::F32),
        (Element::Bf16, Element::F8e4m3fn),
        (Element::F32, Element::F8e5m2fnuz),
        (Element::F32, Element::F4e2m1fn),
        (Element::S8, Element::S4),
        (Element::S4, Element::S8),
    ];
    let between = pairs.into_iter().filter_map(|(from, to)| Conversion::new(from, to));
    for conversion in between.chain([Conversion::to_float_pairs()]) {
        // A conversion on any set of instructions is made for nests; a nest of one run is it.
        let Some(converter) = Converter::new(conversion, set) else { continue };
        let (from, to) = (conversion.from(), conversion.to());
        for (place, elements) in [("in L2", 32_usize << 10), ("in memory", 16 << 20)] {
            let bytes = |kind: Element| elements * kind.bits() as usize / 8;
            let one = Loop { extent: elements as u64, from: 1, to: 1 };
            let nest = Nest { starts: [(0, 0)].into(), loops: [one].into() };
            let run = run_converter(converter, nest.clone());
            all.push((format!("{from:?} to {to:?} {place}"), bytes(from), bytes(to), run));
            if place == "in memory" && to.bits() >= 8 {
                let run = run_converter(converter.streaming(true), nest);
                all.push((format!("{from:?} to {to:?} past the cache"), bytes(from), bytes(to), run));
            }
        }
    }
    for (from, to) in [
        (Element::F32, Element::Bf16),
        (Element::Bf16, Element::F32),
        (Element::S8, Element::S4),
        (Element::S4, Element::S8),
    ] {
        let Some(converter) = Conversion::new(from, to).and_then(|made| Converter::new(made, set)) else {
            continue;
        };
        let bytes = |kind: Element| (4096 << 12) * kind.bits() as usize / 8;
        let run = run_converter(converter.streaming(to.bits() >= 16), transpose(4096, 4096));
        all.push((format!("{from:?} to {to:?} transposed 4096x4096"), bytes(from), bytes(to), run));
    }
    for (name, bits, nest) in [
        ("4 bits transposed 4096x4096", 4, transpose(4096, 4096)),
        ("4 bits transposed 4095x4097", 4, transpose(4095, 4097)),
        ("2 bits transposed 4096x4096", 2, transpose(4096, 4096)),
        ("1 bit transposed 4096x4096", 1, transpose(4096, 4096)),
        ("4 bits T(8,128)(8,1) 4096x4096", 4, tiles(4096, 4096)),
        ("4 bits one run, shifted", 4, shifted(1 << 25, 1)),
        ("4 bits pitch 4096 to 4097", 4, pitch(4096, 4096, 4097)),
        ("4 bits pitch 100 to 101", 4, pitch(160_000, 100, 101)),
    ] {
        let bytes = nest.elements() as usize * bits as usize / 8;
        let Some(kernels) = subbyte::Kernels::new(set) else { continue };
        let run: Run = Box::new(move |from, to| {
            let mut scratch = subbyte::Scratch::default();
            // SAFETY: the buffers have room for twice what the nest moves, and its places are fewer.
            unsafe {
                subbyte::move_nest(&nest, bits, &kernels, &mut scratch, from.as_ptr(), to.as_mut_ptr())
            };
        });
        all.push((name.to_string(), bytes, bytes, run));
    }
    all
}

fn run_converter(converter: Converter, nest: Nest) -> Run<'static> {
    Box::new(move |from, to| {
        let mut scratch = convert::Scratch::default();
        // SAFETY: the buffers have room for twice what the nest moves, and its places are fewer.
        unsafe { converter.run(&nest, &mut scratch, from.as_ptr(), to.as_mut_ptr()) };
        kernels::vector::fence();
    })
}

fn nest(start: (u64, u64), loops: &[(u64, i64, i64)]) -> Nest {
    let loops = loops.iter().map(|&(extent, from, to)| Loop { extent, from, to }).collect();
    Nest { starts: [start].into(), loops }
}

fn transpose(rows: u64, columns: u64) -> Nest {
    nest((0, 0), &[(columns, 1, rows as i64), (rows, columns as i64, 1)])
}

/// Row-major to tiles of 8 by 128 whose 8 rows alternate.
fn tiles(rows: u64, columns: u64) -> Nest {
    let wide = columns as i64;
    nest((0, 0), &[(rows / 8, 8 * wide, 8 * wide), (columns, 1, 8), (8, wide, 1)])
}

fn shifted(elements: u64, by: u64) -> Nest {
    nest((0, by), &[(elements, 1, 1)])
}

fn pitch(rows: u64, from: i64, to: i64) -> Nest {
    nest((0, 0), &[(rows, from, to), (from as u64, 1, 1)])
}

/// Runs the workload and a copy of as many bytes in turns, and prints their speeds.
fn measure(name: &str, read: usize, written: usize, run: &Run) {
    let copied = (read + written) / 2;
    let mut memory = Memory::new(2 * (read.max(written).max(copied) + 4096));
    let (from, to) = memory.halves();
    let repeats = ((2 << 20) / copied).max(1);
    let (mut ours, mut copies) = (Vec::new(), Vec::new());
    let began = Instant::now();
    while ours.len() < 9 || began.elapsed() < Duration::from_millis(300) {
        let before = Instant::now();
        for _ in 0..repeats {
            to[..copied].copy_from_slice(black_box(&from[..copied]));
            black_box(&mut *to);
        }
        let between = Instant::now();
        for _ in 0..repeats {
            run(black_box(from), to);
            black_box(&mut *to);
        }
        copies.push(between - before);
        ours.push(between.elapsed());
    }
    // The lower quartile: what other work on the machine interrupts is left out.
    let quartile = |times: &mut Vec<Duration>| {
        times.sort_unstable();
        times[times.len() / 4].as_secs_f64() / repeats as f64
    };
    let (ours, copy) = (quartile(&mut ours), quartile(&mut copies));
    let speed = |time: f64| (read + written) as f64 / time / 1e9;
    println!("{name:<44} {:>10.1} {:>10.1} {:>8.2}", speed(ours), speed(copy), copy / ours);
}

/// Memory in huge pages where the system grants them.
struct Memory(Vec<u8>, usize);

impl Memory {
    fn new(length: usize) -> Memory {
        let mut bytes: Vec<u8> = Vec::with_capacity(length + (2 << 20));
        #[cfg(target_os = "linux")]
        {
            unsafe extern "C" {
                fn madvise(address: *mut u8, length: usize, advice: i32) -> i32;
            }
            let page = bytes.as_mut_ptr().align_offset(4096);
            // SAFETY: 14 (MADV_HUGEPAGE) changes how the pages within the allocation are backed, nothing else.
            unsafe { madvise(bytes.as_mut_ptr().wrapping_add(page), bytes.capacity() - 4096, 14) };
        }
        // Codes of numbers, not all alike.
        bytes.extend((0..length + (2 << 20)).map(|k| (k * 37 % 113) as u8));
        let start = bytes.as_ptr().align_offset(2 << 20);
        Memory(bytes, start)
    }

    fn halves(&mut self) -> (&[u8], &mut [u8]) {
        let used = &mut self.0[self.1..];
        let half = used.len() / 2 / 64 * 64;
        let (from, to) = used.split_at_mut(half);
        (from, to)
    }
}
