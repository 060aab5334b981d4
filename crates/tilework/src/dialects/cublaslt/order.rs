//! Orders and the layouts that they mean.
//!
//! ```text
//! COL            row + column · ld
//! ROW            row · ld + column
//! COL32          ⌊column/32⌋ · ld + row · 32 + column mod 32
//! COL4_4R2_8C    ⌊column/32⌋ · ld + ⌊row/8⌋ · 256 + a tile of 8 × 32
//! COL32_2R_4R4   ⌊column/32⌋ · ld + ⌊row/32⌋ · 1024 + a tile of 32 × 32
//! ```

use crate::dialect::blocked::large;
use crate::dialect::digits::{self, Cut};
use crate::dialect::named::packed_bits;
use crate::element::Element;
use crate::error::{Error, Result, counted};
use crate::layout::Layout;

/// How a matrix is arranged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Col,
    Row,
    Col32,
    Turing,
    Ampere,
    /// Scales in tiles of 128 × 4.
    Scales128x4,
    /// Scales in tiles of 8 × 4.
    Scales8x4,
}

/// Every order with its name.
pub(super) const NAMES: [(&str, Order); 7] = [
    ("COL", Order::Col),
    ("ROW", Order::Row),
    ("COL32", Order::Col32),
    ("COL4_4R2_8C", Order::Turing),
    ("COL32_2R_4R4", Order::Ampere),
    ("scales 128x4", Order::Scales128x4),
    ("scales 8x4", Order::Scales8x4),
];

/// A matrix in an order, or many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Matrix {
    pub(super) order: Order,
    /// The leading dimension; the least one if it is not said.
    pub(super) ld: Option<u64>,
    /// Elements from one matrix to the next; those of a matrix if it is not said.
    pub(super) stride: Option<u64>,
}

impl Order {
    pub(super) fn name(self) -> &'static str {
        NAMES.iter().find(|(_, order)| *order == self).map_or("", |(name, _)| name)
    }

    pub(super) fn is_scales(self) -> bool {
        matches!(self, Order::Scales128x4 | Order::Scales8x4)
    }

    /// The rows and columns of a tile.
    pub(super) fn tile(self) -> (u64, u64) {
        match self {
            Order::Col | Order::Row => (1, 1),
            Order::Col32 => (1, 32),
            Order::Turing => (8, 32),
            Order::Ampere => (32, 32),
            Order::Scales128x4 => (128, 4),
            Order::Scales8x4 => (8, 4),
        }
    }

    /// The least leading dimension.
    pub(super) fn least_ld(self, rows: u64, columns: u64) -> Result<u64> {
        let (tile_rows, tile_columns) = self.tile();
        let ld = match self {
            Order::Row => Some(columns),
            _ if self.is_scales() => columns.div_ceil(tile_columns).checked_mul(tile_rows * tile_columns),
            _ => rows.checked_next_multiple_of(tile_rows).and_then(|rows| rows.checked_mul(tile_columns)),
        };
        ld.filter(|&ld| ld <= i64::MAX as u64).ok_or_else(large)
    }

    /// The digits of rows and columns, with this leading dimension.
    fn cuts(self, ld: u64) -> [Cut; 2] {
        let cut = |digits: &[(u64, u64)], outer: u64| Cut { digits: digits.to_vec(), outer };
        match self {
            Order::Col => [cut(&[], 1), cut(&[], ld)],
            Order::Row => [cut(&[], ld), cut(&[], 1)],
            Order::Col32 => [cut(&[], 32), cut(&[(32, 1)], ld)],
            Order::Turing => [cut(&[(2, 128), (4, 4)], 256), cut(&[(4, 1), (2, 16), (4, 32)], ld)],
            Order::Ampere => [cut(&[(2, 32), (4, 256), (4, 64)], 1024), cut(&[(32, 1)], ld)],
            Order::Scales128x4 => [cut(&[(32, 16), (4, 4)], ld), cut(&[(4, 1)], 512)],
            Order::Scales8x4 => [cut(&[(8, 4)], ld), cut(&[(4, 1)], 32)],
        }
    }

    /// What it says.
    pub(super) fn meaning(self) -> &'static str {
        match self {
            Order::Col => "column-major: the rows of a column are neighbours, and columns are ld apart",
            Order::Row => "row-major: the columns of a row are neighbours, and rows are ld apart",
            Order::Col32 => "32 columns at a time, ld apart; within them rows of 32",
            Order::Turing => {
                "32 columns at a time, ld apart; within them tiles of 8 rows, for Turing: even rows before odd ones"
            }
            Order::Ampere => {
                "32 columns at a time, ld apart; within them tiles of 32 rows, for Ampere: rows by 2, then every 8th, then by 2"
            }
            Order::Scales128x4 => {
                "scales of blocks (NVFP4, MXFP8): tiles of 128 rows and 4 columns, row-major; in a tile row r is at 16·(r mod 32) + 4·⌊r/32⌋"
            }
            Order::Scales8x4 => {
                "scales of blocks for few rows: tiles of 8 rows and 4 columns, row-major, each row-major"
            }
        }
    }
}

impl Matrix {
    /// The leading dimension of a matrix of these sizes.
    pub(super) fn leading(&self, rows: u64, columns: u64) -> Result<u64> {
        let least = self.order.least_ld(rows, columns)?;
        match self.ld {
            Some(ld) if ld < least => Err(Error::new(format!("ld={ld}"))
                .field("ld")
                .rule(format!(
                    "the leading dimension of {rows} × {columns} in {} is at least {least}",
                    self.order.name()
                ))
                .accepts(format!("{least} or more"))),
            ld => Ok(ld.unwrap_or(least)),
        }
    }

    /// Elements of one matrix: `ld` for each column, row or group of them.
    pub(super) fn elements(&self, rows: u64, columns: u64) -> Result<u64> {
        let ld = self.leading(rows, columns)?;
        let (tile_rows, tile_columns) = self.order.tile();
        let groups = match self.order {
            Order::Row | Order::Scales128x4 | Order::Scales8x4 => rows.div_ceil(tile_rows),
            _ => columns.div_ceil(tile_columns),
        };
        ld.checked_mul(groups).ok_or_else(large)
    }

    /// The layout.
    ///
    /// # Errors
    /// Another number of dimensions than 2 or 3, and a leading dimension or stride that is too small.
    pub(super) fn lower(&self, dims: &[u64], element: Element) -> Result<Layout> {
        let (batch, rows, columns) = match *dims {
            [rows, columns] => (None, rows, columns),
            [batch, rows, columns] => (Some(batch), rows, columns),
            _ => {
                return Err(Error::new(counted(dims.len() as u64, "dimension"))
                    .field("order")
                    .rule("a matrix has rows and columns; a dimension before them counts matrices")
                    .accepts("2 or 3 dimensions"));
            }
        };
        let elements = self.elements(rows, columns)?;
        let mut cuts = self.order.cuts(self.leading(rows, columns)?).to_vec();
        let stride = match self.stride {
            Some(_) if batch.is_none() => {
                return Err(Error::new("a stride from matrix to matrix")
                    .field("stride")
                    .rule("there is one matrix")
                    .accepts("three dimensions"));
            }
            Some(stride) if stride < elements && stride != 0 => {
                return Err(Error::new(format!("stride={stride}"))
                    .field("stride")
                    .rule(format!("a matrix takes {elements} elements"))
                    .accepts(format!("{elements} or more, or 0 for the same matrix")));
            }
            stride => stride.unwrap_or(elements),
        };
        let more = stride.checked_mul(batch.unwrap_or(1).saturating_sub(1)).ok_or_else(large)?;
        let size = more.checked_add(elements).ok_or_else(large)?;
        if batch.is_some() {
            cuts.insert(0, Cut { digits: Vec::new(), outer: stride });
        }
        digits::layout(dims, packed_bits(element), &cuts, size)
    }

    /// The text behind type and sizes.
    pub(super) fn text(&self) -> String {
        let mut text = self.order.name().to_owned();
        for (key, value) in [("ld", self.ld), ("stride", self.stride)] {
            if let Some(value) = value {
                text.push_str(&format!(" {key}={value}"));
            }
        }
        text
    }
}
