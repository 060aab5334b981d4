//! What a layout of JAX says, and the layout that it means.

use std::fmt;

use crate::ask::tiles::Tiled;
use crate::dialect::words::list;
use crate::element::Element;
use crate::error::Result;
use crate::layout::Layout;

/// What combines a dimension with the next more minor one where a tile has it: the least number of 64 bits.
pub(super) const COMBINE: i64 = i64::MIN;

/// An array in a `Layout`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Array {
    pub(super) element: Element,
    pub(super) dims: Vec<u64>,
    pub(super) layout: Written,
    /// The text of the sharding, if the layout stands in a `Format`.
    pub(super) sharding: Option<String>,
}

/// `Layout(major_to_minor=(0, 1), tiling=((8, 128), (2, 1)), sub_byte_element_size_in_bits=0)`
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) major_to_minor: Vec<usize>,
    /// The sizes of each tile; `None` is [`COMBINE`].
    pub(super) tiling: Vec<Vec<Option<u64>>>,
    /// 0 where the element type decides.
    pub(super) element_bits: u32,
}

impl Written {
    pub(super) fn minor_to_major(&self) -> Vec<usize> {
        self.major_to_minor.iter().rev().copied().collect()
    }
}

/// The sizes of a tile as JAX prints them.
pub(super) fn tile(sizes: &[Option<u64>]) -> String {
    let sizes: Vec<String> =
        sizes.iter().map(|size| size.map_or(COMBINE.to_string(), |size| size.to_string())).collect();
    tuple(&sizes)
}

/// `(0, 1)` and `(0,)`
pub(super) fn tuple(items: &[impl ToString]) -> String {
    let items: Vec<String> = items.iter().map(ToString::to_string).collect();
    let comma = if items.len() == 1 { "," } else { "" };
    format!("({}{comma})", items.join(", "))
}

impl Array {
    /// The layout.
    ///
    /// # Errors
    /// More allocated bytes than 63 bits can count.
    pub(super) fn lower(&self) -> Result<Layout> {
        let written = &self.layout;
        let bits = match written.element_bits {
            0 => 8 * self.element.bytes(),
            bits => bits,
        };
        let tiled =
            Tiled { minor_to_major: written.minor_to_major(), tiles: written.tiling.clone(), align: 1 };
        tiled.build(&self.dims, bits)
    }
}

/// As JAX prints it, but for what says nothing: no tiles, and elements of their type's size.
impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Layout(major_to_minor={}", tuple(&self.major_to_minor))?;
        if !self.tiling.is_empty() {
            let tiles: Vec<String> = self.tiling.iter().map(|sizes| tile(sizes)).collect();
            write!(f, ", tiling={}", tuple(&tiles))?;
        }
        if self.element_bits != 0 {
            write!(f, ", sub_byte_element_size_in_bits={}", self.element_bits)?;
        }
        f.write_str(")")
    }
}

/// `bf16[64,300] Layout(major_to_minor=(0, 1), tiling=((8, 128), (2, 1)))`
impl fmt::Display for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}] ", self.element, list(&self.dims))?;
        match &self.sharding {
            None => self.layout.fmt(f),
            Some(sharding) => write!(f, "Format(layout={}, sharding={sharding})", self.layout),
        }
    }
}
