//! MLIR's types among the other notations.

use std::sync::Arc;

use super::value::{Arrangement, Kind, Type};
use super::{pack, tiled, vpad};
use crate::dialect::mlir::tensor_encoding;
use crate::dialect::{
    Confidence, Described, Dialect, Dim, Example, Fact, Facts, Form, Found, Known, Part, Said, words,
};
use crate::element::Element;
use crate::error::Result;
use crate::layout::Layout;

/// Types of tensors and memories, as MLIR writes them.
pub static DIALECT: Dialect = Dialect {
    name: "mlir",
    title: "an MLIR type",
    recognise,
    read,
    say: Some(say),
    forms: &[
        Form { name: "memref", title: "a memref of MLIR", say },
        Form { name: "mosaic", title: "a memref of Mosaic, with tiles", say: tiled::say },
        Form { name: "pack", title: "a linalg.pack of MLIR", say: pack::say },
    ],
    examples: EXAMPLES,
};

const EXAMPLES: &[Example] = &[
    Example { text: "tensor<3x5xf32>", shows: "a tensor", offsets: &[(&[2, 3], 13)], size: 15 },
    Example { text: "tensor<f32>", shows: "a scalar", offsets: &[(&[], 0)], size: 1 },
    Example {
        text: "tensor<2x?xf32, #stablehlo.bounds<?, 4>>",
        shows: "a bounded size",
        offsets: &[(&[1, 3], 7)],
        size: 8,
    },
    Example {
        text: "tensor<2x4x!quant.uniform<i8:f32, 0.5:-1>>",
        shows: "quantised elements",
        offsets: &[(&[1, 2], 6)],
        size: 8,
    },
    Example {
        text: "memref<2x8xvector<4xf32>>",
        shows: "vectors in memory",
        offsets: &[(&[1, 2, 3], (8 + 2) * 4 + 3)],
        size: 64,
    },
    Example {
        text: "memref<32x24xf32, strided<[1, 32]>, 3>",
        shows: "column-major, in memory space 3",
        offsets: &[(&[5, 2], 69)],
        size: 768,
    },
    Example {
        text: "memref<4x5xf32, strided<[40, 4], offset: 62>>",
        shows: "a subview of memref<10x20xf32>",
        offsets: &[(&[0, 0], 62), (&[3, 4], 62 + 120 + 16)],
        size: 199,
    },
    Example {
        text: "memref<4xf32, strided<[-1], offset: 3>, #gpu.address_space<workgroup>>",
        shows: "reversed",
        offsets: &[(&[3], 0)],
        size: 4,
    },
    Example {
        text: "memref<4x6xf32, affine_map<(d0, d1) -> (d1, d0)>>",
        shows: "a permutation",
        offsets: &[(&[1, 2], 9)],
        size: 24,
    },
    Example {
        text: "memref<3x5xf32, affine_map<(i, j) -> (i floordiv 2, j floordiv 2, i mod 2, j mod 2)>>",
        shows: "tiles",
        offsets: &[(&[2, 3], 17)],
        size: 24,
    },
    Example {
        text: "memref<10x200xf32, affine_map<(d0, d1) -> (d0 floordiv 8, d1 floordiv 128, d0 mod 8, d1 mod 128)>>",
        shows: "tiles of a TPU",
        offsets: &[(&[9, 130], (2 + 1) * 1024 + 128 + 2)],
        size: 4096,
    },
    Example {
        text: "memref<2x5xf32, affine_map<(d0, d1) -> (3*d0 + 17*d1)>>",
        shows: "one result, the offset",
        offsets: &[(&[1, 4], 71)],
        size: 72,
    },
    Example {
        text: "memref<4x10xi8, affine_map<(d0, d1) -> ((d0 * 16 + d1) floordiv 8, (d0 * 16 + d1) mod 8)>>",
        shows: "dimensions combined, with rows of 16",
        offsets: &[(&[3, 9], 57)],
        size: 64,
    },
    Example {
        text: "memref<8x2048xbf16, #tpu.tiled<(8,128)(2,1),[16,1]>, #tpu.memory_space<vmem>>",
        shows: "a memory of Mosaic",
        offsets: &[(&[3, 130], 1024 + 256 + 2 * 2 + 1)],
        size: 16384,
    },
    Example {
        text: "linalg.pack %x padding_value(%pad : f32) inner_dims_pos = [0, 1] inner_tiles = [2, 2] into %dest : \
               tensor<3x5xf32> -> tensor<2x3x2x2xf32>",
        shows: "an array that is packed",
        offsets: &[(&[0, 2], 4), (&[2, 3], 17)],
        size: 24,
    },
    Example {
        text: "%p = tensor.pack %a outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [8, 32] into %b : \
               tensor<128x256xf32> -> tensor<8x16x8x32xf32>",
        shows: "the tiles in another order",
        offsets: &[(&[9, 33], (16 + 1) * 256 + 32 + 1)],
        size: 32768,
    },
    Example {
        text: "linalg.unpack %p inner_dims_pos = [1] inner_tiles = [4] into %y : tensor<2x3x4xi8> -> tensor<2x10xi8>",
        shows: "an array that is taken out of a packed one",
        offsets: &[(&[1, 9], 12 + 9)],
        size: 24,
    },
    Example {
        text: "f32[3,5] inner_dims_pos = [1, 0] inner_tiles = [2, 2]",
        shows: "the attributes alone",
        offsets: &[(&[2, 3], (3 + 1) * 4 + 2)],
        size: 24,
    },
    Example {
        text: "tensor<255x513xf32, #iree_encoding.layout<[#iree_gpu.gpu_encoding_resolver<configuration = {encoding_info = \
               {innerDimsPos = [0, 1], innerTileSizes = [128, 16], outerDimsPerm = [0, 1]}}>]>>",
        shows: "an encoding of IREE that is resolved to tiles",
        offsets: &[(&[129, 17], (33 + 1) * 2048 + 16 + 1)],
        size: 256 * 528,
    },
    Example {
        text: "memref<8x256xbf16, #xir.tiled<(8,128),[5,2]>>",
        shows: "tiles with others between them",
        offsets: &[(&[3, 130], 2 * 1024 + 3 * 128 + 2)],
        size: 3072,
    },
];

/// Encodings of tensors that are notations of their own.
const OTHERS: [&str; 4] = ["#ttg.", "#triton_gpu.", "#ttng.", "#triton_nvidia_gpu."];

fn recognise(text: &str) -> Option<Confidence> {
    if pack::is_pack(text) || vpad::is_vpad(text) {
        return Some(Confidence::Certain);
    }
    let is_type = |name: &str| text.strip_prefix(name).is_some_and(|rest| rest.trim_start().starts_with('<'));
    let is_others =
        || tensor_encoding(text).is_some_and(|encoding| OTHERS.iter().any(|name| encoding.starts_with(name)));
    let is_ours = is_type("memref") || (is_type("tensor") && !is_others());
    is_ours.then_some(Confidence::Certain)
}

fn read(text: &str, known: &Known) -> Result<Vec<Found>> {
    Ok(vec![match text {
        text if pack::is_pack(text) => Found::unnamed(pack::read(text, known)?),
        text if vpad::is_vpad(text) => Found::unnamed(vpad::read(text)?),
        text => Found::unnamed(Type::parse(text)?),
    }])
}

fn say(layout: &Layout, element: Element) -> Result<Said> {
    Ok(Arc::new(Type::of_layout(layout, element)?))
}

impl Described for Type {
    fn dialect(&self) -> &'static Dialect {
        &DIALECT
    }

    fn kind(&self) -> &'static str {
        self.kind.word()
    }

    fn element(&self) -> Option<Element> {
        Some(self.element.stored())
    }

    fn layout(&self) -> Result<Layout> {
        self.lower()
    }

    fn open(&self) -> Option<String> {
        let at_run_time = |what: &str| Some(format!("{what} known at run time only, so there is no layout"));
        if self.dims.contains(&Dim::Unbounded) {
            return at_run_time("a size is");
        }
        match &self.arrangement {
            Arrangement::Strided { strides, offset } if strides.contains(&None) || offset.is_none() => {
                at_run_time("strides or the offset are")
            }
            Arrangement::Tiled { strides, .. } if strides.contains(&None) => at_run_time("strides are"),
            Arrangement::Map(map) if map.symbols > 0 => at_run_time("symbols of the map are"),
            _ => None,
        }
    }

    fn parts(&self, layout: Option<&Layout>) -> Vec<Part> {
        let kind = match self.kind {
            Kind::Tensor => "a value; how it lies in memory is for the compiler to say",
            Kind::Memref => "a memory",
        };
        let mut parts = vec![Part::new("kind", self.kind.word(), kind), words::dims(&self.dims)];
        parts.push(Part::new("element type", self.element.to_string(), self.element_words()));
        if let Some(text) = self.arrangement_text() {
            let name = if self.kind == Kind::Tensor { "encoding" } else { "layout" };
            parts.push(Part::new(name, text, self.arrangement_words(layout)));
        }
        if let Some(space) = &self.space {
            parts.push(Part::new("memory space", space, "which memory it is; it does not change the layout"));
        }
        parts
    }

    fn facts(&self) -> Facts {
        Facts::about("array")
            .with("element_type", self.element.stored().name())
            .with("written_type", self.element.to_string())
            .with("dimensions", self.dims.iter().map(|dim| dim.bound()).collect::<Fact>())
            .with("dynamic", self.dims.iter().map(|dim| dim.is_dynamic()).collect::<Fact>())
            .with("vector", self.element.vector().iter().copied().collect::<Fact>())
            .with("arrangement", self.arrangement_text())
            .with("space", self.space.clone())
    }

    /// A quantised type says what it stores, and `index` is a number of 64 bits.
    fn may_be(&self, element: Element) -> bool {
        self.element.stored() == element
    }
}

impl Type {
    fn element_words(&self) -> String {
        let stored = self.element.stored();
        let what = words::element(stored, self.element.bits());
        match self.element.vector() {
            [] if self.element.is_quantised() => {
                format!("quantised numbers, each stored as {stored}: {what}")
            }
            [] => what,
            sizes => {
                let sizes: Vec<String> = sizes.iter().map(u64::to_string).collect();
                format!("vectors of {} elements that are neighbours: {what}", sizes.join(" × "))
            }
        }
    }

    fn arrangement_words(&self, layout: Option<&Layout>) -> String {
        match (&self.arrangement, layout) {
            (Arrangement::RowMajor, _) => "row-major".to_owned(),
            (Arrangement::Bounds(_), _) => "the most that each size can be where it is ?".to_owned(),
            (Arrangement::Strided { strides, offset }, Some(_)) => {
                let steps: Vec<i64> = strides.iter().copied().flatten().collect();
                match offset {
                    Some(offset) if *offset != 0 => {
                        format!("{}; the first element is at {offset}", words::steps(&steps))
                    }
                    _ => words::steps(&steps),
                }
            }
            (_, Some(layout)) => format!("the offset is {}", layout.formula()),
            (_, None) => {
                let why = self.lower().err();
                why.map_or("no places".to_owned(), |why| why.broken_rule().unwrap_or(why.found()).to_owned())
            }
        }
    }
}
