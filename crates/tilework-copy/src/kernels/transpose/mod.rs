//! Transposes: how rows become columns inside a block.
//!
//! All vector kernels are one algorithm ([`lanes`]), made once for every instruction set. It knows vectors only as
//! *lanes* of 16 bytes, and does three things, here with 16 rows of 4-byte elements and vectors of 4 lanes:
//!
//! 1. **Load by lanes.** A vector takes 16 bytes from each of 4 rows: vector `i` from the rows `i`, `i + 4`,
//!    `i + 8` and `i + 12`. That costs loads, which are plenty, and spares two rounds of shuffles, which are not.
//! 2. **Zip.** Each lane now holds a 4 by 4 square over 4 vectors. Zipping vector `i` with vector `i + 2` (the
//!    halves of the square) turns the number of an element, its vector's bits followed by its place's bits, by
//!    one bit; after as many rounds as an index has bits, vector and place have changed roles, and that is the
//!    transpose. Every round is the same pair of instructions, for every element size its own.
//! 3. **Store.** Vector `j` is now 64 bytes of destination row `j`: a whole line, if the destination is aligned.
//!    Where tiles are not whole, what is stored soon is asked for two tiles ahead, since a store that misses holds up all that follow it.
//!
//! So the smallest piece is 64 destination bytes by 16 source bytes. Where registers suffice for more of a source row (elements of 2
//! bytes and more with vectors of 4 lanes), a vector takes 2 or 4 lanes of it at once, and a last round changes the places of lanes:
//! fewer instructions wait for a row. Ragged blocks need nothing slower: the last piece moves back to overlap the one before, and
//! blocks smaller than a piece use narrower vectors and masks.
//!
//! Past the cache whole lines are written, straight from registers that hold one; where registers are shorter, rows are put together first
//! ([`together`]).
//!
//! The rows of a piece must stay in the nearest cache while pieces share their lines. With strides of a large power of two they
//! cannot, for all fall into one set of the cache; then they are copied first ([`copied`]).

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod carried;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod column;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod copied;
#[cfg(target_arch = "x86_64")]
mod fold;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod lanes;
#[cfg(target_arch = "aarch64")]
mod neon;
mod portable;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod stage;
#[cfg(test)]
mod tests;
#[cfg(target_arch = "x86_64")]
mod together;

use super::{InstructionSet, Transpose};
#[cfg(target_arch = "x86_64")]
pub(super) use {
    avx2::{Two, load_part, store_part, transposed},
    avx512::Four,
    column::zipped,
    lanes::{LANE, Lanes, MOST},
    together::Made,
};

/// The kernels of an instruction set for elements of `size` bytes.
pub(super) fn kernels(set: InstructionSet, size: usize) -> Option<Transpose> {
    match set {
        #[cfg(target_arch = "x86_64")]
        InstructionSet::Avx512 => avx512::kernels(size),
        #[cfg(target_arch = "x86_64")]
        InstructionSet::Avx2 => avx2::kernels(size),
        #[cfg(target_arch = "aarch64")]
        InstructionSet::Neon => neon::kernels(size),
        _ => portable::kernels(size),
    }
}
