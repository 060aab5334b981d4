//! Layouts of JAX among the notations.

use std::sync::Arc;

use super::read::{CLASSES, read};
use super::written::{Array, Written, tile, tuple};
use crate::dialect::words;
use crate::dialect::{Confidence, Described, Dialect, Dim, Example, Fact, Facts, Found, Part, Said};
use crate::element::Element;
use crate::error::{Error, ErrorKind, Result};
use crate::layout::Layout;

/// Orders and tiles, as JAX prints them.
pub static DIALECT: Dialect = Dialect {
    name: "jax",
    title: "a Layout of JAX",
    recognise,
    read: |text, known| read(text, known).map(|array| vec![Found::unnamed(array)]),
    say: Some(say),
    forms: &[],
    examples: EXAMPLES,
};

const EXAMPLES: &[Example] = &[
    Example {
        text: "f32[3,5] Layout(major_to_minor=(0, 1))",
        shows: "row-major",
        offsets: &[(&[2, 3], 13)],
        size: 15,
    },
    Example {
        text: "f32[3,5] Layout(major_to_minor=(1, 0), tiling=None, sub_byte_element_size_in_bits=0)",
        shows: "column-major",
        offsets: &[(&[2, 3], 11)],
        size: 15,
    },
    Example {
        text: "float32[3,5] Layout(major_to_minor=(0, 1), tiling=((2, 2),))",
        shows: "tiles",
        offsets: &[(&[2, 3], 17)],
        size: 24,
    },
    Example {
        text: "bf16[64,300] Layout(major_to_minor=(0, 1), tiling=((8, 128), (2, 1)))",
        shows: "what a TPU has",
        offsets: &[(&[3, 17], 291), (&[63, 299], 24407)],
        size: 64 * 384,
    },
    Example {
        text: "f32[2,7,8,11,10] Layout(major_to_minor=(0, 1, 2, 3, 4), \
               tiling=((-(2**63), -(2**63), 2, -(2**63), 3),))",
        shows: "dimensions combined",
        offsets: &[(&[0, 0, 0, 0, 3], 6)],
        size: 112 * 111,
    },
    Example {
        text: "s4[3,5] Layout(major_to_minor=(0, 1), tiling=(), sub_byte_element_size_in_bits=4)",
        shows: "elements of 4 bits",
        offsets: &[(&[2, 3], 13)],
        size: 15,
    },
    Example {
        text: "f32[3,5] Format(layout=Layout(major_to_minor=(1, 0)), \
               sharding=SingleDeviceSharding(device=TpuDevice(id=0), memory_kind=device))",
        shows: "a layout with a sharding",
        offsets: &[(&[2, 3], 11)],
        size: 15,
    },
    Example {
        text: "ShapeDtypeStruct(shape=(3, 5), dtype=float32, format=Layout(major_to_minor=(1, 0)))",
        shows: "a shape with a format",
        offsets: &[(&[2, 3], 11)],
        size: 15,
    },
    Example { text: "f32[] Layout(major_to_minor=())", shows: "a scalar", offsets: &[(&[], 0)], size: 1 },
];

/// A layout begins with its class.
fn recognise(text: &str) -> Option<Confidence> {
    let (class, rest) = text.split_once('(')?;
    let class = class.rsplit('.').next().unwrap_or(class);
    let is_layout =
        CLASSES.contains(&class) || class == "ShapeDtypeStruct" && rest.contains("format=Layout(");
    is_layout.then_some(Confidence::Certain)
}

/// An order with tiles.
fn say(layout: &Layout, element: Element) -> Result<Said> {
    let no = |found: &str| {
        Error::new(found)
            .of_kind(ErrorKind::Unsupported)
            .field("layout")
            .rule("a Layout of JAX is an order of the dimensions, and tiles")
    };
    let tiled = layout.to_tiled().ok_or_else(|| no("no order with tiles says this layout"))?;
    if tiled.align > 1 {
        return Err(no("the end of the buffer is padded"));
    }
    let bits = if layout.bits() == 8 * element.bytes() { 0 } else { layout.bits() };
    Ok(Arc::new(Array {
        element,
        dims: layout.dims().to_vec(),
        layout: Written {
            major_to_minor: tiled.minor_to_major.into_iter().rev().collect(),
            tiling: tiled.tiles,
            element_bits: bits,
        },
        sharding: None,
    }))
}

impl Described for Array {
    fn dialect(&self) -> &'static Dialect {
        &DIALECT
    }

    fn element(&self) -> Option<Element> {
        Some(self.element)
    }

    fn layout(&self) -> Result<Layout> {
        self.lower()
    }

    fn parts(&self, layout: Option<&Layout>) -> Vec<Part> {
        let written = &self.layout;
        let kept = layout.map_or(8 * self.element.bytes(), Layout::bits);
        let dims: Vec<Dim> = self.dims.iter().map(|&size| Dim::Static(size)).collect();
        let meaning = words::element(self.element, kept);
        let mut parts = vec![Part::new("element type", self.element.name(), meaning), words::dims(&dims)];
        parts.extend(
            words::order(&written.minor_to_major())
                .map(|meaning| Part::new("major to minor", tuple(&written.major_to_minor), meaning)),
        );
        let pieces = layout.map(Layout::index_parts);
        for (number, sizes) in (1..).zip(&written.tiling) {
            let star = sizes.contains(&None).then_some("-(2**63)");
            let text = tile(sizes).replace(&super::written::COMBINE.to_string(), "-(2**63)");
            parts.push(Part::new("tiles", text, words::tile(number, star, pieces)));
        }
        if written.element_bits != 0 {
            let bits = written.element_bits;
            let meaning = format!("each element takes {bits} bits");
            parts.push(Part::new("element size", format!("{bits} bits"), meaning));
        }
        if self.sharding.is_some() {
            parts.push(Part::new(
                "sharding",
                "sharding",
                "kept, and not looked at: the sizes are those of one shard",
            ));
        }
        parts
    }

    fn facts(&self) -> Facts {
        let written = &self.layout;
        let size = |size: &Option<u64>| size.map_or(Fact::from(super::written::COMBINE), Fact::from);
        let tiling = written.tiling.iter().map(|tile| tile.iter().map(size).collect::<Fact>());
        Facts::about("array")
            .with("element_type", self.element.name())
            .with("dimensions", self.dims.iter().copied().collect::<Fact>())
            .with("major_to_minor", written.major_to_minor.iter().copied().collect::<Fact>())
            .with("tiling", tiling.collect::<Fact>())
            .with("sub_byte_element_size_in_bits", written.element_bits)
            .with("sharding", self.sharding.clone())
    }

    fn minor_to_major(&self) -> Option<Vec<usize>> {
        Some(self.layout.minor_to_major())
    }
}
