//! A type as it was written.

use std::fmt;

use super::affine::AffineMap;
use super::element::ElementType;
use crate::dialect::Dim;

/// The type of a tensor or of a memory.
///
/// It prints as MLIR prints it, and the text reads back as the same value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Type {
    pub(super) kind: Kind,
    pub(super) dims: Vec<Dim>,
    pub(super) element: ElementType,
    pub(super) arrangement: Arrangement,
    pub(super) space: Option<String>,
}

/// Which type it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `tensor<…>`: a value.
    Tensor,
    /// `memref<…>`: a memory.
    Memref,
}

/// How the elements are arranged: the encoding of a tensor, or the layout of a memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Arrangement {
    /// Nothing is said: row-major.
    RowMajor,
    /// Bounds of the sizes of a row-major tensor. The bounds stand in the dimensions.
    Bounds(Bounds),
    /// `strided<[…], offset: …>`, in elements; none where it says `?`.
    Strided {
        /// One for each dimension.
        strides: Vec<Option<i64>>,
        /// The offset of the first element.
        offset: Option<i64>,
    },
    /// `affine_map<…>`.
    Map(AffineMap),
    /// `#tpu.tiled<(8,128)(2,1),[16,1]>`, of Mosaic.
    Tiled {
        /// `tpu` or `xir`.
        dialect: &'static str,
        /// The tiles, as in XLA.
        tiles: Vec<Vec<u64>>,
        /// Strides of the first tiles, counted in such tiles; none where it says `?`.
        strides: Vec<Option<i64>>,
    },
    /// An attribute whose meaning is not known here, as it was written.
    Unknown(String),
}

/// Which attribute says the bounds of a tensor's sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bounds {
    /// `#stablehlo.bounds<?, 4>`
    StableHlo,
    /// `#mhlo.type_extensions<bounds = [?, 4]>`
    Mhlo,
}

impl Type {
    /// Whether it is a tensor or a memory.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The sizes. Those of vectors that are elements are not among them.
    pub fn dims(&self) -> &[Dim] {
        &self.dims
    }

    /// The element type.
    pub fn element(&self) -> &ElementType {
        &self.element
    }

    /// How the elements are arranged.
    pub fn arrangement(&self) -> &Arrangement {
        &self.arrangement
    }

    /// The memory space of a `memref`, as it was written: `3`, `#gpu.address_space<workgroup>`.
    pub fn memory_space(&self) -> Option<&str> {
        self.space.as_deref()
    }
}

impl Kind {
    pub(super) fn word(self) -> &'static str {
        match self {
            Kind::Tensor => "tensor",
            Kind::Memref => "memref",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}<", self.kind)?;
        for dim in &self.dims {
            match dim {
                Dim::Static(size) => write!(f, "{size}x")?,
                Dim::Unbounded | Dim::Bounded(_) => f.write_str("?x")?,
            }
        }
        write!(f, "{}", self.element)?;
        if let Some(text) = self.arrangement_text() {
            write!(f, ", {text}")?;
        }
        if let Some(space) = &self.space {
            write!(f, ", {space}")?;
        }
        f.write_str(">")
    }
}

impl Type {
    /// The encoding or layout as a text; none where nothing is said.
    pub(super) fn arrangement_text(&self) -> Option<String> {
        let numbers = |numbers: &[Option<i64>], between: &str| {
            let shown = |number: &Option<i64>| number.map_or("?".to_owned(), |number| number.to_string());
            numbers.iter().map(shown).collect::<Vec<_>>().join(between)
        };
        Some(match &self.arrangement {
            Arrangement::RowMajor => return None,
            Arrangement::Unknown(text) => text.clone(),
            Arrangement::Map(map) => map.to_string(),
            Arrangement::Bounds(bounds) => {
                let bound = |dim: &Dim| match dim {
                    Dim::Bounded(bound) => bound.to_string(),
                    _ => "?".to_owned(),
                };
                let list = self.dims.iter().map(bound).collect::<Vec<_>>().join(", ");
                match bounds {
                    Bounds::StableHlo => format!("#stablehlo.bounds<{list}>"),
                    Bounds::Mhlo => format!("#mhlo.type_extensions<bounds = [{list}]>"),
                }
            }
            Arrangement::Strided { strides, offset } => match offset {
                Some(0) => format!("strided<[{}]>", numbers(strides, ", ")),
                offset => {
                    format!("strided<[{}], offset: {}>", numbers(strides, ", "), numbers(&[*offset], ""))
                }
            },
            Arrangement::Tiled { dialect, tiles, strides } => {
                let tile = |tile: &Vec<u64>| {
                    format!("({})", tile.iter().map(u64::to_string).collect::<Vec<_>>().join(","))
                };
                let tiles: String = tiles.iter().map(tile).collect();
                format!("#{dialect}.tiled<{tiles},[{}]>", numbers(strides, ","))
            }
        })
    }
}
