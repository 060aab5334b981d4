//! Which vector instructions there are.

/// A set of vector instructions that kernels are written for, from the least to the most.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub enum InstructionSet {
    /// What every processor has.
    Portable,
    /// The vectors of 64-bit ARM.
    #[cfg_attr(not(target_arch = "aarch64"), allow(dead_code))]
    Neon,
    /// AVX2, with the conversions of F16C.
    Avx2,
    /// AVX-512 with its instructions on bytes (BW, VL, VBMI).
    Avx512,
}

impl InstructionSet {
    /// The most that this processor has.
    pub fn detect() -> InstructionSet {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::is_x86_feature_detected as has;
            if has!("avx2") && has!("f16c") && has!("bmi2") {
                if has!("avx512f") && has!("avx512bw") && has!("avx512vl") && has!("avx512vbmi") {
                    return InstructionSet::Avx512;
                }
                return InstructionSet::Avx2;
            }
        }
        #[cfg(target_arch = "aarch64")]
        {
            return InstructionSet::Neon;
        }
        #[allow(unreachable_code)]
        InstructionSet::Portable
    }

    /// Every set that this processor has, [`InstructionSet::Portable`] first.
    #[cfg(test)]
    pub fn all_here() -> Vec<InstructionSet> {
        let most = InstructionSet::detect();
        [InstructionSet::Portable, InstructionSet::Neon, InstructionSet::Avx2, InstructionSet::Avx512]
            .into_iter()
            .filter(|&set| set <= most && (set != InstructionSet::Neon || most == InstructionSet::Neon))
            .collect()
    }
}
