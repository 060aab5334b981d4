//! Random numbers that depend on nothing but what they are begun with.

/// SplitMix64.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// Those of one case of an attack.
    pub fn of_case(seed: u64, attack: &str, case: u64) -> Dice {
        let mut dice = Dice(seed);
        for byte in attack.bytes() {
            dice.0 = dice.next() ^ u64::from(byte);
        }
        dice.0 = dice.next() ^ case;
        dice.next();
        dice
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A number below `end`, which is not 0.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    /// A place in a list of so many.
    pub fn index(&mut self, len: usize) -> usize {
        self.below(len as u64) as usize
    }

    /// True once in `n` times.
    pub fn once_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    pub fn of<T: Copy>(&mut self, these: &[T]) -> T {
        these[self.index(these.len())]
    }

    /// A permutation of `0..len`.
    pub fn order(&mut self, len: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..len).collect();
        for k in (1..len).rev() {
            order.swap(k, self.index(k + 1));
        }
        order
    }

    /// Any number that 64 bits hold, where small ones, powers of two and their neighbours are as likely as all others.
    pub fn number(&mut self) -> u64 {
        match self.below(4) {
            0 => self.below(20),
            1 => (1_u64 << self.below(64)).wrapping_add(self.below(3)).wrapping_sub(1),
            2 => {
                let bits = self.below(64);
                self.next() >> bits
            }
            _ => self.below(5000),
        }
    }

    pub fn fill(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            let next = self.next().to_le_bytes();
            chunk.copy_from_slice(&next[..chunk.len()]);
        }
    }
}
