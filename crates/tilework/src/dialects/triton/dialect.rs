//! Triton's types among the notations.

use std::sync::{Arc, LazyLock};

use super::linear::{BLOCK, LANE, REGISTER, WARP};
use super::read;
use super::value::{Side, Type};
use super::words::copies;
use crate::dialect::{Axes, Confidence, Described, Dialect, Example, Fact, Facts, Found, Known, Part, Said};
use crate::element::Element;
use crate::error::Result;
use crate::layout::Layout;

/// Types of tensors with the encodings of Triton's GPU dialect.
pub static DIALECT: Dialect = Dialect {
    name: "triton",
    title: "a type of Triton",
    recognise: |text| read::recognise(text).then_some(Confidence::Certain),
    read,
    say: Some(say),
    forms: &[],
    examples: EXAMPLES,
};

const EXAMPLES: &[Example] = &[
    Example {
        text: "tensor<64x64xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>>",
        shows: "shared memory, with columns exchanged by rows",
        offsets: &[(&[1, 0], 64 + 8), (&[3, 10], 3 * 64 + 18)],
        size: 4096,
    },
    Example {
        text: "#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>
#smem = #ttg.shared_memory
!ttg.memdesc<2x64x32xf16, #shared, #smem, mutable>",
        shows: "names that lines above define, and two buffers",
        offsets: &[(&[0, 2, 0], 64 + 8), (&[1, 3, 1], 2048 + 96 + 9)],
        size: 4096,
    },
    Example {
        text: "tensor<64x64xf16, #ttg.padded_shared<[64:+8] {order = [1, 0], shape = [64, 64]}>>",
        shows: "padding after every row",
        offsets: &[(&[1, 0], 72), (&[63, 63], 63 * 72 + 63)],
        size: 63 * 72 + 64,
    },
    Example {
        text: "!ttg.memdesc<64x128xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>, #ttg.shared_memory, mutable>",
        shows: "tiles of 8 rows of 128 B",
        offsets: &[(&[1, 0], 64 + 8), (&[8, 0], 512), (&[0, 64], 4096)],
        size: 8192,
    },
    Example {
        text: "tensor<4x8xf32, #ttg.shared_linear<{offset = [[0, 1], [0, 2], [0, 4], [1, 2], [2, 4]]}, alignment = 16>>",
        shows: "the step of every bit of an offset",
        offsets: &[(&[1, 0], 8 + 2), (&[3, 6], 8 + 16)],
        size: 32,
    },
    Example {
        text: "f16[64,32] #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>",
        shows: "an encoding, with the sizes before it",
        offsets: &[(&[5, 2], 2 * 64 + 5)],
        size: 2048,
    },
    Example {
        text: "tensor<128x64xf16, #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>>",
        shows: "registers: (block, warp, lane, register)",
        offsets: &[(&[0, 1, 9, 2], (4 + 1) * 64 + 8 + 2), (&[0, 0, 0, 8], 16 * 64)],
        size: 8192,
    },
    Example {
        text: "tensor<32x32xf32, #triton_gpu.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0], CTAsPerCGA = [2, 1], CTASplitNum = [2, 1], CTAOrder = [1, 0]}>>",
        shows: "the older spelling, with two blocks",
        offsets: &[(&[1, 2, 7, 1], (16 + 2 + 4) * 32 + 7)],
        size: 1024,
    },
    Example {
        text: "tensor<8x8xi32, #ttg.generic_linear<{register = [[0, 1]], lane = [[0, 2], [0, 4], [1, 0]], warp = [[2, 1], [4, 2]], block = []}>>",
        shows: "the step of every bit, with steps of warps along both dimensions",
        offsets: &[(&[0, 3, 5, 1], 7 * 8)],
        size: 64,
    },
    Example {
        text: "tensor<64x32xf32, #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>>",
        shows: "what tensor cores leave in registers",
        offsets: &[(&[0, 1, 5, 3], (16 + 1 + 8) * 32 + 2 + 1)],
        size: 2048,
    },
];

fn read(text: &str, known: &Known) -> Result<Vec<Found>> {
    let found = read::types(text, known)?;
    Ok(found.into_iter().map(|(name, said)| Found { name, said: Arc::new(said) }).collect())
}

fn say(layout: &Layout, element: Element) -> Result<Said> {
    Ok(Arc::new(Type::of_layout(layout, element)?))
}

impl Described for Type {
    fn dialect(&self) -> &'static Dialect {
        &DIALECT
    }

    fn kind(&self) -> &'static str {
        self.word()
    }

    fn element(&self) -> Option<Element> {
        Some(self.element.stored)
    }

    fn sizes(&self, _: &Layout) -> Vec<u64> {
        self.dims.clone()
    }

    fn layout(&self) -> Result<Layout> {
        self.lower()
    }

    fn axes(&self) -> Option<&Axes> {
        static OF_REGISTERS: LazyLock<Option<Axes>> =
            LazyLock::new(|| Axes::parse("block,warp,lane,register").ok());
        OF_REGISTERS.as_ref().filter(|_| self.side() == Some(Side::Registers))
    }

    fn parts(&self, _: Option<&Layout>) -> Vec<Part> {
        self.pieces()
    }

    fn facts(&self) -> Facts {
        let linear = self.linear_layout().ok().filter(|_| self.side() == Some(Side::Registers));
        let count = |input: &str| linear.as_ref().map(|linear| 1_u64 << linear.bases(input).len());
        let side = self.side().map(|side| match side {
            Side::Registers => "registers",
            Side::Memory => "memory",
        });
        Facts::about("array")
            .with("element_type", self.element.stored.name())
            .with("written_type", self.element.text.as_str())
            .with("dimensions", self.dims.iter().copied().collect::<Fact>())
            .with("encoding", self.encoding_name())
            .with("attribute", self.encoding.to_string())
            .with("side", side)
            .with("blocks", count(BLOCK))
            .with("warps", count(WARP))
            .with("lanes", count(LANE))
            .with("registers", count(REGISTER))
            .with("copies", linear.as_ref().map(copies))
            .with("space", self.memory.as_ref().and_then(|memory| memory.space.clone()))
    }

    fn notes(&self, layout: &Layout) -> Vec<String> {
        self.remarks(layout)
    }
}
