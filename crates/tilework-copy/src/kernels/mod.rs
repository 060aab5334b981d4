//! What touches bytes: one kernel for one shape of block, once for every instruction set.
//!
//! A kernel knows nothing of plans. The engine cuts a nest into blocks, and a block is pointers, strides and extents;
//! which instructions move it is decided once, by [`InstructionSet::detect`].

mod interleave;
#[cfg(target_arch = "x86_64")]
mod pack;
mod runs;
#[cfg(target_arch = "x86_64")]
mod stepped;
mod strided;

pub(crate) use interleave::{Interleave, Zip, ZipFn, deinterleave, interleave};
pub(crate) use runs::{LONGEST, Runs, RunsFn, runs};
pub(crate) use strided::{Line, LineFn, gather};

use std::sync::OnceLock;

/// The instructions that kernels are made of, the better the later.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub enum InstructionSet {
    /// Nothing but Rust: what the compiler makes of plain loops.
    Portable,
    /// The vectors of every 64-bit ARM.
    Neon,
    /// 32-byte vectors.
    Avx2,
    /// 64-byte vectors with masks and byte permutes (F, BW, VL, DQ, VBMI): Zen 4, Ice Lake and newer.
    Avx512,
}

impl InstructionSet {
    /// The best that this machine has. `TILEWORK_INSTRUCTIONS=portable|avx2|avx512` in the environment caps it;
    /// machine and environment are looked at once.
    pub fn detect() -> Self {
        static FOUND: OnceLock<InstructionSet> = OnceLock::new();
        *FOUND.get_or_init(|| {
            let cap = match std::env::var("TILEWORK_INSTRUCTIONS").as_deref() {
                Ok("portable") => Self::Portable,
                Ok("avx2") => Self::Avx2,
                _ => Self::Avx512,
            };
            Self::all_here().into_iter().filter(|&set| set <= cap).max().unwrap_or(Self::Portable)
        })
    }

    /// All that this machine has, whatever the environment says.
    pub fn all_here() -> Vec<Self> {
        let mut sets = vec![Self::Portable];
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx2") {
                sets.push(Self::Avx2);
            }
            if is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vbmi")
            {
                sets.push(Self::Avx512);
            }
        }
        sets
    }
}
