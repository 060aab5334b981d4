//! A type as it was written.

use std::fmt;

use super::linear::Bases;
use crate::element::Element;

/// The type of a tensor in registers, or of a buffer in shared memory, with its encoding.
///
/// It prints as Triton prints it, with the encoding in place of its name, and the text reads back as the same value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Type {
    pub(super) dims: Vec<u64>,
    pub(super) element: ElementType,
    pub(super) encoding: Encoding,
    /// What a `memdesc` says besides; none for a `tensor`.
    pub(super) memory: Option<Memory>,
}

/// What the elements are.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ElementType {
    pub(super) text: String,
    /// Of a pointer, its 64 bits.
    pub(super) stored: Element,
}

/// What a `memdesc` says besides sizes, elements and encoding.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Memory {
    pub(super) space: Option<String>,
    pub(super) mutable: bool,
    /// The sizes of the buffer that this is a view of.
    pub(super) allocated: Option<Vec<u64>>,
}

/// Which of its two sides an encoding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// Which element each register of each lane holds: the index is (block, warp, lane, register).
    Registers,
    /// Where each element is in shared memory: the index is that of the tensor.
    Memory,
}

/// An encoding, as it was written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Encoding {
    Blocked {
        size_per_thread: Vec<u64>,
        threads_per_warp: Vec<u64>,
        warps_per_cta: Vec<u64>,
        order: Vec<usize>,
        blocks: Blocks,
    },
    /// `linear` and `generic_linear`: the bases of register, lane, warp and block.
    Linear {
        name: &'static str,
        bases: [Bases; 4],
    },
    Slice {
        dim: usize,
        parent: Box<Encoding>,
    },
    DotOperand {
        operand: u64,
        parent: Box<Encoding>,
        k_width: Option<u64>,
    },
    NvidiaMma {
        major: u64,
        minor: u64,
        warps_per_cta: Vec<u64>,
        blocks: Blocks,
        instruction: Vec<u64>,
    },
    AmdMfma {
        version: u64,
        /// Older texts give the version in two numbers.
        minor: Option<u64>,
        warps_per_cta: Vec<u64>,
        instruction: Vec<u64>,
        transposed: bool,
        blocks: Blocks,
        tiles_per_warp: Option<Vec<u64>>,
        element_bits: Option<u64>,
    },
    Swizzled {
        form: Swizzled,
        vec: u64,
        per_phase: u64,
        max_phase: u64,
        order: Vec<usize>,
        blocks: Blocks,
    },
    Padded {
        /// Intervals, and how much is added after each.
        pads: Vec<(u64, u64)>,
        places: Places,
    },
    Nvmma {
        width: u64,
        transposed: bool,
        element_bits: u64,
        fp4_padded: bool,
        rank: usize,
        blocks: Blocks,
    },
    SharedLinear {
        offset: Bases,
        block: Option<Bases>,
        alignment: u64,
    },
    /// An encoding that is read for its name alone, and why.
    Foreign {
        name: &'static str,
        why: &'static str,
        text: String,
    },
}

/// Which of the encodings of the same four numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Swizzled {
    /// `swizzled_shared`
    Plain,
    /// `amd_rotating_shared`
    Rotating,
    /// The older `shared`; with `hasLeadingOffset` it is what is now `nvmma_shared`.
    Older { leading: Option<bool> },
}

/// What the blocks of a cluster hold.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Blocks {
    /// There is one.
    One,
    /// `CTAsPerCGA`, `CTASplitNum` and `CTAOrder`.
    Split { per_cga: Vec<u64>, split: Vec<u64>, order: Vec<usize> },
    /// `CGALayout`, in pieces of the tensor.
    Bases(Bases),
}

/// What the offsets of a padded encoding hold before padding.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Places {
    /// `order` and `shape`
    Order { order: Vec<usize>, shape: Vec<u64> },
    /// `offset` and `block`
    Bases { offset: Bases, block: Bases },
}

impl Type {
    /// The sizes of the tensor.
    pub fn dims(&self) -> &[u64] {
        &self.dims
    }

    /// What is stored: of pointers, their 64 bits.
    pub fn element(&self) -> Element {
        self.element.stored
    }

    /// Which of its two sides the encoding is about; none of an encoding whose layout is not read.
    pub fn side(&self) -> Option<Side> {
        self.encoding.side()
    }

    /// The name of the encoding, such as `blocked`.
    pub fn encoding_name(&self) -> &'static str {
        self.encoding.name()
    }

    /// Bits of one element, which has bytes of its own.
    pub(super) fn bits(&self) -> u32 {
        8 * self.element.stored.bytes()
    }

    pub(super) fn word(&self) -> &'static str {
        if self.memory.is_some() { "memdesc" } else { "tensor" }
    }
}

impl Encoding {
    pub(super) fn side(&self) -> Option<Side> {
        match self {
            Encoding::Foreign { .. } => None,
            Encoding::Swizzled { .. }
            | Encoding::Padded { .. }
            | Encoding::Nvmma { .. }
            | Encoding::SharedLinear { .. } => Some(Side::Memory),
            _ => Some(Side::Registers),
        }
    }

    pub(super) fn name(&self) -> &'static str {
        match self {
            Encoding::Blocked { .. } => "blocked",
            Encoding::Linear { name, .. } | Encoding::Foreign { name, .. } => name,
            Encoding::Slice { .. } => "slice",
            Encoding::DotOperand { .. } => "dot_op",
            Encoding::NvidiaMma { .. } => "nvidia_mma",
            Encoding::AmdMfma { .. } => "amd_mfma",
            Encoding::Swizzled { form: Swizzled::Plain, .. } => "swizzled_shared",
            Encoding::Swizzled { form: Swizzled::Rotating, .. } => "amd_rotating_shared",
            Encoding::Swizzled { form: Swizzled::Older { .. }, .. } => "shared",
            Encoding::Padded { .. } => "padded_shared",
            Encoding::Nvmma { .. } => "nvmma_shared",
            Encoding::SharedLinear { .. } => "shared_linear",
        }
    }

    /// The number of dimensions of the tensors that it is for; none where that is not known.
    pub(super) fn rank(&self) -> Option<usize> {
        let of_bases = |bases: &[&Bases]| bases.iter().find_map(|bases| bases.first()).map(Vec::len);
        match self {
            Encoding::Blocked { order, .. } | Encoding::Swizzled { order, .. } => Some(order.len()),
            Encoding::Linear { bases, .. } => of_bases(&bases.each_ref()),
            Encoding::Slice { parent, .. } => parent.rank().map(|rank| rank.saturating_sub(1)),
            Encoding::DotOperand { parent, .. } => parent.rank(),
            Encoding::NvidiaMma { warps_per_cta, .. } | Encoding::AmdMfma { warps_per_cta, .. } => {
                Some(warps_per_cta.len())
            }
            Encoding::Padded { places: Places::Order { order, .. }, .. } => Some(order.len()),
            Encoding::Padded { places: Places::Bases { offset, block }, .. } => of_bases(&[offset, block]),
            Encoding::Nvmma { rank, .. } => Some(*rank),
            Encoding::SharedLinear { offset, block, .. } => {
                of_bases(&[offset, block.as_ref().unwrap_or(&Bases::new())])
            }
            Encoding::Foreign { .. } => None,
        }
    }

    /// What is written in the braces: names with values.
    pub(super) fn fields(&self) -> Vec<(&'static str, String)> {
        let list = |numbers: &[u64]| format!("{numbers:?}");
        let order = |order: &[usize]| format!("{order:?}");
        let (fields, blocks) = match self {
            Encoding::Blocked { size_per_thread, threads_per_warp, warps_per_cta, order: own, blocks } => {
                let fields = vec![
                    ("sizePerThread", list(size_per_thread)),
                    ("threadsPerWarp", list(threads_per_warp)),
                    ("warpsPerCTA", list(warps_per_cta)),
                    ("order", order(own)),
                ];
                (fields, Some(blocks))
            }
            Encoding::Linear { bases: [register, lane, warp, block], .. } => {
                let bases = [("register", register), ("lane", lane), ("warp", warp), ("block", block)];
                (bases.map(|(name, bases)| (name, format!("{bases:?}"))).to_vec(), None)
            }
            Encoding::Slice { dim, parent } => {
                (vec![("dim", dim.to_string()), ("parent", parent.to_string())], None)
            }
            Encoding::DotOperand { operand, parent, k_width } => {
                let mut fields = vec![("opIdx", operand.to_string()), ("parent", parent.to_string())];
                fields.extend(k_width.map(|width| ("kWidth", width.to_string())));
                (fields, None)
            }
            Encoding::NvidiaMma { major, minor, warps_per_cta, blocks, instruction } => {
                let mut fields = vec![
                    ("versionMajor", major.to_string()),
                    ("versionMinor", minor.to_string()),
                    ("warpsPerCTA", list(warps_per_cta)),
                ];
                fields.extend(blocks.fields());
                fields.push(("instrShape", list(instruction)));
                (fields, None)
            }
            Encoding::AmdMfma {
                version,
                minor,
                warps_per_cta,
                instruction,
                transposed,
                blocks,
                tiles_per_warp,
                element_bits,
            } => {
                let mut fields = match minor {
                    None => vec![("version", version.to_string())],
                    Some(minor) => {
                        vec![("versionMajor", version.to_string()), ("versionMinor", minor.to_string())]
                    }
                };
                fields.extend([
                    ("warpsPerCTA", list(warps_per_cta)),
                    ("instrShape", list(instruction)),
                    ("isTransposed", transposed.to_string()),
                ]);
                fields.extend(blocks.fields());
                fields.extend(tiles_per_warp.as_ref().map(|tiles| ("tilesPerWarp", list(tiles))));
                fields.extend(element_bits.map(|bits| ("elementBitWidth", bits.to_string())));
                (fields, None)
            }
            Encoding::Swizzled { form, vec, per_phase, max_phase, order: own, blocks } => {
                let mut fields = vec![
                    ("vec", vec.to_string()),
                    ("perPhase", per_phase.to_string()),
                    ("maxPhase", max_phase.to_string()),
                    ("order", order(own)),
                ];
                fields.extend(blocks.fields());
                if let Swizzled::Older { leading: Some(leading) } = form {
                    fields.push(("hasLeadingOffset", leading.to_string()));
                }
                (fields, None)
            }
            Encoding::Padded { places: Places::Order { order: own, shape }, .. } => {
                (vec![("order", order(own)), ("shape", list(shape))], None)
            }
            Encoding::Padded { places: Places::Bases { offset, block }, .. } => {
                (vec![("offset", format!("{offset:?}")), ("block", format!("{block:?}"))], None)
            }
            Encoding::Nvmma { width, transposed, element_bits, fp4_padded, rank, blocks } => {
                let mut fields = vec![
                    ("swizzlingByteWidth", width.to_string()),
                    ("transposed", transposed.to_string()),
                    ("elementBitWidth", element_bits.to_string()),
                ];
                if *fp4_padded {
                    fields.push(("fp4Padded", "true".to_owned()));
                }
                match blocks {
                    Blocks::One if *rank != 2 => fields.push(("rank", rank.to_string())),
                    blocks => fields.extend(blocks.fields()),
                }
                (fields, None)
            }
            Encoding::SharedLinear { offset, block, .. } => {
                let mut fields = vec![("offset", format!("{offset:?}"))];
                fields.extend(block.as_ref().map(|block| ("block", format!("{block:?}"))));
                (fields, None)
            }
            Encoding::Foreign { .. } => (Vec::new(), None),
        };
        fields.into_iter().chain(blocks.map(Blocks::fields).unwrap_or_default()).collect()
    }
}

impl Blocks {
    fn fields(&self) -> Vec<(&'static str, String)> {
        match self {
            Blocks::One => Vec::new(),
            Blocks::Bases(bases) => vec![("CGALayout", format!("{bases:?}"))],
            Blocks::Split { per_cga, split, order } => vec![
                ("CTAsPerCGA", format!("{per_cga:?}")),
                ("CTASplitNum", format!("{split:?}")),
                ("CTAOrder", format!("{order:?}")),
            ],
        }
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Encoding::Foreign { text, .. } = self {
            return f.write_str(text);
        }
        write!(f, "#ttg.{}<", self.name())?;
        if let Encoding::Padded { pads, .. } = self {
            write!(f, "[{}] ", pads_text(pads))?;
        }
        let fields: Vec<String> =
            self.fields().iter().map(|(name, value)| format!("{name} = {value}")).collect();
        write!(f, "{{{}}}", fields.join(", "))?;
        if let Encoding::SharedLinear { alignment, .. } = self {
            write!(f, ", alignment = {alignment}")?;
        }
        f.write_str(">")
    }
}

/// `32:+4, 64:+8`
pub(super) fn pads_text(pads: &[(u64, u64)]) -> String {
    let pads: Vec<String> = pads.iter().map(|(interval, pad)| format!("{interval}:+{pad}")).collect();
    pads.join(", ")
}

/// `128x64x`
fn sizes_text(dims: &[u64]) -> String {
    dims.iter().map(|size| format!("{size}x")).collect()
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dialect = if self.memory.is_some() { "!ttg." } else { "" };
        let (sizes, element) = (sizes_text(&self.dims), &self.element.text);
        write!(f, "{dialect}{}<{sizes}{element}, {}", self.word(), self.encoding)?;
        if let Some(memory) = &self.memory {
            if let Some(space) = &memory.space {
                write!(f, ", {space}")?;
            }
            if memory.mutable {
                f.write_str(", mutable")?;
            }
            if let Some(allocated) = &memory.allocated {
                write!(f, ", {}", sizes_text(allocated).trim_end_matches('x'))?;
            }
        }
        f.write_str(">")
    }
}
