//! Hashes of the short texts that a dump is full of.
//!
//! A line costs several look-ups, and the standard hasher would take most of the time of a run. This one folds
//! products; its seed is drawn at the start, so that no file can be written to make its texts collide.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};

/// A map with these hashes.
pub(crate) type Map<K, V> = HashMap<K, V, Seed>;

/// What makes the hashes of one run differ from those of another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seed(u64);

impl Default for Seed {
    fn default() -> Seed {
        Seed(RandomState::new().build_hasher().finish())
    }
}

impl Seed {
    /// The hash of a text. Two different texts of one run practically never share theirs.
    #[inline]
    pub(crate) fn of(self, text: &[u8]) -> u64 {
        let mut state = State(self.0);
        state.write(text);
        state.finish()
    }
}

impl BuildHasher for Seed {
    type Hasher = State;

    #[inline]
    fn build_hasher(&self) -> State {
        State(self.0)
    }
}

/// A hash under way.
#[derive(Debug)]
pub(crate) struct State(u64);

const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

impl Hasher for State {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let mut state = self.0 ^ (bytes.len() as u64).wrapping_mul(FACTOR);
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            state = fold(state ^ u64::from_le_bytes(*word), FACTOR | state << 32);
        }
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.0 = fold(state ^ u64::from_le_bytes(last), FACTOR ^ state.rotate_left(29));
    }

    #[inline]
    fn write_u64(&mut self, word: u64) {
        self.0 = fold(self.0 ^ word, FACTOR);
    }

    #[inline]
    fn write_u32(&mut self, word: u32) {
        self.write_u64(word.into());
    }

    #[inline]
    fn write_u8(&mut self, word: u8) {
        self.write_u64(word.into());
    }

    #[inline]
    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }

    #[inline]
    fn finish(&self) -> u64 {
        fold(self.0, FACTOR)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_differ_in_anything_have_hashes_that_do() {
        let seed = Seed::default();
        let mut texts: Vec<String> = (0..20_000).map(|n| format!("copy-start.{n}")).collect();
        texts.extend((0..20_000).map(|n| "x".repeat(n % 100) + &n.to_string()));
        texts.push(String::new());
        texts.sort();
        texts.dedup();
        let hashes: std::collections::HashSet<u64> =
            texts.iter().map(|text| seed.of(text.as_bytes())).collect();
        assert_eq!(hashes.len(), texts.len());
        // The low bits choose the bucket and must differ as well.
        let low: std::collections::HashSet<u64> = hashes.iter().map(|hash| hash & 0xffff).collect();
        assert!(low.len() > 25_000, "{}", low.len());
    }
}
