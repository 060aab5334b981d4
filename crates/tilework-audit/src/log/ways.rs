//! How a tensor gets from one encoding of Triton to another, and what a warp's access to shared memory costs.
//!
//! An encoding is linear over bits: the element that register `r` of lane `l` of warp `w` of block `b` holds is the xor of
//! the bases of the bits of these numbers. So it is enough to look at the bases. Let `R` be what the bases of the source's
//! registers span, `L` that with its lanes, and `W` that with its warps. The element of the target's bit is where the same
//! bit of the source has it, but for the registers, if the xor of both bases is in `R`. So
//!
//! 1. nothing leaves a thread if this holds for each bit of lane, warp and block, and the target's registers are in `R`;
//! 2. nothing leaves a warp if it holds modulo `L` for each bit of warp and block, and registers and lanes are in `L`;
//! 3. nothing leaves a block if it holds modulo `W` for each bit of the block, and all others are in `W`.

use tilework::InOrder;
use tilework::Layout;
use tilework::triton::LinearLayout;

use super::logged::Way;

/// Bytes of a bank, and of all banks together.
const BANK: u64 = 4;
const BANKS: u64 = 128;

/// The most bytes that a lane reads or writes at a time.
const VECTOR: u64 = 16;

/// How elements get from one encoding to another of the same tensor; none if they are of different tensors.
pub(super) fn way(from: &LinearLayout, to: &LinearLayout) -> Option<Way> {
    if from.sizes() != to.sizes() {
        return None;
    }
    let flat = |layout: &LinearLayout, input: &str| -> Vec<u64> {
        layout.bases(input).iter().map(|base| number(base, layout.sizes())).collect()
    };
    const INPUTS: [&str; 4] = ["register", "lane", "warp", "block"];
    let (from, to) = (INPUTS.map(|input| flat(from, input)), INPUTS.map(|input| flat(to, input)));
    let stays = |inner: usize| {
        let mut span = Span::default();
        from[..inner].iter().flatten().for_each(|&base| span.add(base));
        let within = to[..inner].iter().flatten().all(|&base| span.has(base));
        let same = |own: &Vec<u64>, other: &Vec<u64>| {
            (0..own.len().max(other.len())).all(|bit| {
                let base = |bases: &Vec<u64>| bases.get(bit).copied().unwrap_or(0);
                span.has(base(own) ^ base(other))
            })
        };
        within && from[inner..].iter().zip(&to[inner..]).all(|(own, other)| same(own, other))
    };
    Some(match () {
        () if stays(1) => Way::Registers,
        () if stays(2) => Way::Shuffles,
        () if stays(3) => Way::SharedMemory,
        () => Way::Blocks,
    })
}

/// The number of an element in row-major order; sizes are powers of two.
fn number(index: &[u64], sizes: &[u64]) -> u64 {
    index.iter().zip(sizes).fold(0, |number, (&at, &size)| number.wrapping_mul(size) | at)
}

/// What numbers span by xor: of each leading bit at most one.
#[derive(Default)]
struct Span(Vec<u64>);

impl Span {
    /// What is left of a number.
    fn rest(&self, mut number: u64) -> u64 {
        for &base in &self.0 {
            number = number.min(number ^ base);
        }
        number
    }

    fn add(&mut self, number: u64) {
        let rest = self.rest(number);
        if rest > 0 {
            self.0.push(rest);
            self.0.order_by(|a, b| b.cmp(a));
        }
    }

    fn has(&self, number: u64) -> bool {
        self.rest(number) == 0
    }
}

/// What an access of one warp to shared memory takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Access {
    /// Bytes of a lane at a time.
    pub(super) vector: u64,
    /// How many times as long it takes as without conflicts.
    pub(super) ways: u64,
}

/// What it takes the first warp to access the elements of its first registers; none if the encodings are not of one tensor.
///
/// All other registers and warps add the same to every place by xor, and so change which bank an access is to, and not how
/// many are to one, if the memory has no padding.
pub(super) fn access(registers: &LinearLayout, memory: &Layout, element_bytes: u64) -> Option<Access> {
    if registers.sizes() != memory.dims() || element_bytes == 0 {
        return None;
    }
    let place = |register: u64, lane: u64| -> Option<u64> {
        let index = registers.apply(&[register, lane, 0, 0]);
        memory.offset(&index).ok()?.checked_mul(element_bytes)
    };
    // The first registers that are neighbours in memory are one access.
    let count = registers.bases("register").len().min(8);
    let start = place(0, 0)?;
    let neighbours = (0..count).take_while(|&bit| {
        let next = place(1 << bit, 0);
        next == start.checked_add(element_bytes << bit) && element_bytes << (bit + 1) <= VECTOR
    });
    let vector = element_bytes << neighbours.count();
    let lanes = 1_u64 << registers.bases("lane").len().min(6);
    // As many lanes at a time as fill all banks.
    let together = (BANKS / vector.max(BANK)).clamp(1, lanes);
    let (mut taken, mut phases) = (0, 0);
    for first in (0..lanes).step_by(together as usize) {
        let mut words: Vec<u64> = Vec::new();
        for lane in first..first + together {
            let at = place(0, lane)?;
            words.extend((at / BANK..=(at + vector - 1) / BANK).take(4));
        }
        // The same word is given to all lanes at once.
        words.order();
        words.dedup();
        let mut banks = [0_u64; (BANKS / BANK) as usize];
        words.iter().for_each(|word| banks[(word % (BANKS / BANK)) as usize] += 1);
        taken += banks.into_iter().max().unwrap_or(1);
        phases += 1;
    }
    Some(Access { vector, ways: taken.div_ceil(phases.max(1)) })
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use tilework::triton::Type;

    use super::*;

    const BLOCKED: &str = "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>";
    const TURNED: &str = "#ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>";
    const NARROW: &str = "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>";
    const MMA: &str =
        "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>";
    const LINEAR: &str = "#ttg.linear<{register = [[0, 4], [0, 2], [0, 1], [16, 0], [32, 0]], \
                          lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]], block = []}>";

    fn linear(encoding: &str) -> LinearLayout {
        Type::parse(&format!("tensor<64x64xf16, {encoding}>"))
            .and_then(|found| found.linear_layout())
            .expect(encoding)
    }

    /// Who holds each element: by numbers of warp, lane and register, one by one.
    fn holders(layout: &LinearLayout) -> HashMap<Vec<u64>, HashSet<[u64; 3]>> {
        let count = |input: &str| 1_u64 << layout.bases(input).len();
        let mut holders: HashMap<Vec<u64>, HashSet<[u64; 3]>> = HashMap::new();
        for warp in 0..count("warp") {
            for lane in 0..count("lane") {
                for register in 0..count("register") {
                    holders
                        .entry(layout.apply(&[register, lane, warp, 0]))
                        .or_default()
                        .insert([warp, lane, register]);
                }
            }
        }
        holders
    }

    /// The nearest way by looking who needs each element, and whether somebody near enough has it.
    fn naive(from: &LinearLayout, to: &LinearLayout) -> Way {
        let (from, to) = (holders(from), holders(to));
        let near = |same: fn(&[u64; 3], &[u64; 3]) -> bool| {
            to.iter().all(|(index, wants)| {
                wants
                    .iter()
                    .all(|want| from.get(index).is_some_and(|has| has.iter().any(|have| same(have, want))))
            })
        };
        match () {
            () if near(|a, b| a[..2] == b[..2]) => Way::Registers,
            () if near(|a, b| a[0] == b[0]) => Way::Shuffles,
            () => Way::SharedMemory,
        }
    }

    #[test]
    fn the_way_is_the_one_that_elements_one_by_one_need() {
        let all = [BLOCKED, TURNED, NARROW, MMA, LINEAR].map(linear);
        let mut seen = HashSet::new();
        for from in &all {
            for to in &all {
                let found = way(from, to).expect("one tensor");
                assert_eq!(found, naive(from, to), "{from} to {to}");
                seen.insert(found);
            }
        }
        assert_eq!(way(&linear(BLOCKED), &linear(LINEAR)), Some(Way::Registers));
        assert_eq!(way(&linear(BLOCKED), &linear(BLOCKED)), Some(Way::Registers));
        assert!(seen.contains(&Way::SharedMemory));
    }

    #[test]
    fn conflicts_are_those_of_words_in_banks() {
        let memory = |vec: u32, phase: u32, max: u32| {
            let text = format!(
                "!ttg.memdesc<64x64xf16, #ttg.swizzled_shared<{{vec = {vec}, perPhase = {phase}, maxPhase = {max}, order = [1, 0]}}>, \
                 #ttg.shared_memory>"
            );
            Type::parse(&text).and_then(|found| found.lower()).expect("a layout")
        };
        // Rows of 128 bytes, eight lanes of 16 bytes side by side: no conflict, swizzled or not.
        assert_eq!(access(&linear(BLOCKED), &memory(1, 1, 1), 2), Some(Access { vector: 16, ways: 1 }));
        assert_eq!(access(&linear(BLOCKED), &memory(8, 1, 8), 2), Some(Access { vector: 16, ways: 1 }));
        // Down a column: lanes 8 rows apart, each with its own row of all banks, are in one bank.
        assert_eq!(access(&linear(TURNED), &memory(1, 1, 1), 2), Some(Access { vector: 2, ways: 8 }));
        // An operand of a tensor core: 8 rows by 4 pairs. Without a swizzle rows meet in a bank, with one they do not.
        assert_eq!(access(&linear(MMA), &memory(1, 1, 1), 2), Some(Access { vector: 4, ways: 8 }));
        assert_eq!(access(&linear(MMA), &memory(8, 1, 8), 2), Some(Access { vector: 4, ways: 1 }));
    }
}
