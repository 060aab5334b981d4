//! The operations, as MLIR writes them.

use std::fmt;

use super::super::element::ElementType;
use super::Packing;
use crate::dialect::{Described, Dialect, Dim, Fact, Facts, Part, words};
use crate::element::Element;
use crate::error::Result;
use crate::layout::Layout;

/// `linalg.pack` or `linalg.unpack`: the array that is packed, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Pack {
    /// `linalg`, and `tensor` as it was before 2025.
    pub(super) dialect: &'static str,
    pub(super) is_unpack: bool,
    /// The names of the source, of the padding value and of the destination.
    pub(super) names: [String; 3],
    /// The sizes of the array without packing.
    pub(super) dims: Vec<u64>,
    pub(super) element: ElementType,
    pub(super) packing: Packing,
    /// Whether a padding value is given.
    pub(super) pads: bool,
}

impl Pack {
    /// The layout of the array in the packed one.
    pub(super) fn lower(&self) -> Result<Layout> {
        self.packing.lower(&self.dims, self.element.bits())
    }

    fn attributes(&self) -> Vec<(&'static str, String)> {
        let Packing { inner_dims_pos, inner_tiles, outer_dims_perm, .. } = &self.packing;
        let list = |numbers: &[usize]| words::list(numbers).replace(',', ", ");
        let mut attributes = Vec::new();
        if self.pads {
            attributes
                .push(("padding_value", format!("padding_value({} : {})", self.names[1], self.element)));
        }
        if !outer_dims_perm.is_empty() {
            attributes.push(("outer_dims_perm", format!("outer_dims_perm = [{}]", list(outer_dims_perm))));
        }
        attributes.push(("inner_dims_pos", format!("inner_dims_pos = [{}]", list(inner_dims_pos))));
        let tiles = words::list(inner_tiles).replace(',', ", ");
        attributes.push(("inner_tiles", format!("inner_tiles = [{tiles}]")));
        attributes
    }

    fn tensor(&self, sizes: &[u64]) -> String {
        let sizes: String = sizes.iter().map(|size| format!("{size}x")).collect();
        format!("tensor<{sizes}{}>", self.element)
    }

    fn meaning(&self, attribute: &str) -> String {
        let Packing { inner_dims_pos, inner_tiles, outer_dims_perm, .. } = &self.packing;
        match attribute {
            "padding_value" => "what fills the tiles that are not full".to_owned(),
            "outer_dims_perm" => {
                format!(
                    "the tiles are stored in the order of dimensions {}",
                    words::list(outer_dims_perm).replace(',', ", ")
                )
            }
            "inner_dims_pos" => match inner_dims_pos[..] {
                [] => "no dimension is split".to_owned(),
                [dim] => format!("dimension {dim} is split into tiles"),
                _ => {
                    let dims = words::list(inner_dims_pos).replace(',', ", ");
                    format!(
                        "dimensions {dims} are split into tiles, and the insides of the tiles are in this order"
                    )
                }
            },
            _ => {
                let tile = |(dim, tile): (&usize, &u64)| {
                    let size = self.dims[*dim];
                    let count = size.div_ceil(*tile);
                    let padded = count * tile; // checked where it is lowered
                    let pad = if padded == size { String::new() } else { format!(", padded to {padded}") };
                    let plural = if count == 1 { "tile" } else { "tiles" };
                    format!("dimension {dim} ({size}) into {count} {plural} of {tile}{pad}")
                };
                let tiles: Vec<String> =
                    inner_dims_pos.iter().zip(inner_tiles).take(words::MOST).map(tile).collect();
                if tiles.is_empty() { "no tiles".to_owned() } else { tiles.join("; ") }
            }
        }
    }
}

/// `linalg.pack %x inner_dims_pos = [0, 1] inner_tiles = [2, 2] into %dest : tensor<4x6xf32> -> tensor<2x3x2x2xf32>`
impl fmt::Display for Pack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let op = if self.is_unpack { "unpack" } else { "pack" };
        write!(f, "{}.{op} {}", self.dialect, self.names[0])?;
        for (_, attribute) in self.attributes() {
            write!(f, " {attribute}")?;
        }
        let (plain, packed) = (self.tensor(&self.dims), self.tensor(&self.packing.packed(&self.dims)));
        let [from, to] = if self.is_unpack { [packed, plain] } else { [plain, packed] };
        write!(f, " into {} : {from} -> {to}", self.names[2])
    }
}

impl Described for Pack {
    fn dialect(&self) -> &'static Dialect {
        &super::super::DIALECT
    }

    fn kind(&self) -> &'static str {
        if self.is_unpack { "unpack" } else { "pack" }
    }

    fn element(&self) -> Option<Element> {
        Some(self.element.stored())
    }

    fn layout(&self) -> Result<Layout> {
        self.lower()
    }

    fn parts(&self, _: Option<&Layout>) -> Vec<Part> {
        let kind = match self.is_unpack {
            true => "takes the array out of a packed one",
            false => "stores the array in a packed one",
        };
        let op = format!("{}.{}", self.dialect, self.kind());
        let dims: Vec<Dim> = self.dims.iter().map(|&size| Dim::Static(size)).collect();
        let element = words::element(self.element.stored(), self.element.bits());
        let mut parts = vec![
            Part::new("kind", op, kind),
            words::dims(&dims),
            Part::new("element type", self.element.to_string(), element),
        ];
        for (name, text) in self.attributes() {
            parts.push(Part::new(name, text, self.meaning(name)));
        }
        let packed = self.tensor(&self.packing.packed(&self.dims));
        parts.push(Part::new("packed", packed, "the packed array, row-major"));
        parts
    }

    fn facts(&self) -> Facts {
        let Packing { inner_dims_pos, inner_tiles, outer_dims_perm, .. } = &self.packing;
        Facts::about("array")
            .with("element_type", self.element.stored().name())
            .with("written_type", self.element.to_string())
            .with("dimensions", self.dims.iter().copied().collect::<Fact>())
            .with("inner_dims_pos", inner_dims_pos.iter().copied().collect::<Fact>())
            .with("inner_tiles", inner_tiles.iter().copied().collect::<Fact>())
            .with("outer_dims_perm", outer_dims_perm.iter().copied().collect::<Fact>())
            .with("packed_dimensions", self.packing.packed(&self.dims).into_iter().collect::<Fact>())
    }

    fn may_be(&self, element: Element) -> bool {
        self.element.stored() == element
    }
}
