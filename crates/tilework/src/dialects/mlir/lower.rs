//! Types as layouts.

use super::affine::{AffineMap, Text};
use super::pack;
use super::value::{Arrangement, Type};
use crate::dialect::Dim;
use crate::dialect::affine::{self, Expr, Language, Target};
use crate::error::{Error, ErrorKind, Result, counted, quoted};
use crate::layout::Layout;
use crate::layout::terms::Term;

impl Type {
    /// The layout. A bounded dimension counts with its bound, and the dimensions of vectors come last.
    ///
    /// # Errors
    /// Sizes, strides or symbols that are known only when the program runs, an arrangement whose meaning is not known here
    /// or that is no layout, and more bytes than 63 bits can count.
    pub fn lower(&self) -> Result<Layout> {
        let mut dims = Vec::with_capacity(self.dims.len() + self.element.vector().len());
        for (number, dim) in self.dims.iter().enumerate() {
            match dim {
                Dim::Static(size) | Dim::Bounded(size) => dims.push(*size),
                Dim::Unbounded => return Err(at_run_time(format!("dimension {number} is ?"), "sizes")),
            }
        }
        let inner: u64 =
            self.element.vector().iter().fold(1, |product: u64, &size| product.saturating_mul(size));
        dims.extend(self.element.vector());
        let bits = self.element.bits();
        let row_major = |dims: &[u64]| -> Vec<i64> {
            let mut stride = 1_i64;
            let step = |&size: &u64| {
                let own = stride;
                stride = stride.saturating_mul(size.max(1) as i64);
                own
            };
            let mut strides: Vec<i64> = dims.iter().rev().map(step).collect();
            strides.reverse();
            strides
        };
        match &self.arrangement {
            Arrangement::RowMajor | Arrangement::Bounds(_) => Layout::row_major(&dims, bits),
            Arrangement::Map(map) => mapped(map, &dims, bits),
            Arrangement::Unknown(text) => match pack::of_encoding(text) {
                Some(packing) if inner == 1 => packing?.lower(&dims, bits),
                _ => Err(unknown(text)),
            },
            Arrangement::Strided { strides, offset } => {
                let whole = |value: i64| {
                    let scaled = i128::from(value) * i128::from(inner);
                    i64::try_from(scaled).map_err(|_| too_large())
                };
                let offset = offset.ok_or_else(|| at_run_time("the offset is ?", "offsets"))?;
                let offset = u64::try_from(whole(offset)?).map_err(|_| {
                    Error::new(format!("offset {offset}")).field("layout").accepts("an offset of 0 or more")
                })?;
                let mut all = Vec::with_capacity(dims.len());
                for (number, stride) in strides.iter().enumerate() {
                    let stride =
                        stride.ok_or_else(|| at_run_time(format!("stride {number} is ?"), "strides"))?;
                    all.push(whole(stride)?);
                }
                all.extend(row_major(self.element.vector()));
                let is_plain = all == row_major(&dims) && offset == 0;
                match is_plain {
                    true => Layout::row_major(&dims, bits),
                    false => Layout::strided(&dims, bits, &all, Some(offset), None),
                }
            }
            Arrangement::Tiled { tiles, strides, .. } => {
                if inner > 1 {
                    return Err(Error::new("tiles of vectors")
                        .field("layout")
                        .rule("a tiled memory has numbers as elements")
                        .accepts("an element type such as f32"));
                }
                tiled(&dims, bits, tiles, strides)
            }
        }
    }
}

/// The array that a map's results index, as MLIR's `normalize-memrefs` makes it: a result is from 0 to its upper bound.
fn mapped(map: &AffineMap, dims: &[u64], bits: u32) -> Result<Layout> {
    if map.symbols > 0 {
        return Err(Error::new("an affine map with symbols")
            .field("layout")
            .rule("the value of a symbol is known only when the program runs")
            .accepts("constants in place of the symbols"));
    }
    let language = Language {
        map: "affine map",
        print: &|expr: &Expr| Text(expr).to_string(),
        examples: [
            "d0 floordiv 8, d0 mod 8",
            "d0 floordiv 8 and d0 mod 4",
            "d0 * 16 + d1 where d1 is below 16",
        ],
    };
    let target = Target { results: &map.results, dims: map.dims, sizes: None };
    affine::lower(&target, dims, bits, &language)
}

/// Mosaic's tiles: the first is cut out of the last dimensions, and its strides are counted in such tiles; each further one
/// is cut out of what is within the first.
fn tiled(dims: &[u64], bits: u32, tiles: &[Vec<u64>], strides: &[Option<i64>]) -> Result<Layout> {
    let mut terms = Layout::terms(dims, bits)?;
    let first: &[u64] = tiles.first().map_or(&[], Vec::as_slice);
    let Some(untiled) = dims.len().checked_sub(first.len()) else {
        return Err(Error::new(format!("a tile of {}", counted(first.len() as u64, "size")))
            .field("layout")
            .rule("the first tile has at most as many sizes as the memory has dimensions")
            .accepts(format!("up to {}", dims.len())));
    };
    let (mut outer, mut inner): (Vec<Term>, Vec<Term>) = (Vec::new(), Vec::new());
    for dim in 0..dims.len() {
        let term = terms.dim(dim)?;
        match dim.checked_sub(untiled) {
            None => outer.push(term),
            Some(place) => {
                let (count, within) = terms.split(term, first[place])?;
                outer.push(count);
                inner.push(within);
            }
        }
    }
    let area = first.iter().try_fold(1_u64, |area, &size| area.checked_mul(size)).ok_or_else(too_large)?;
    for tile in tiles.iter().skip(1) {
        let Some(start) = inner.len().checked_sub(tile.len()) else {
            return Err(Error::new(format!(
                "a tile of {} within one of {}",
                counted(tile.len() as u64, "size"),
                inner.len()
            ))
            .field("layout")
            .rule("a further tile is within the first, and the strides between those are in the list")
            .accepts(format!("up to {}", counted(inner.len() as u64, "size"))));
        };
        let cut: Vec<Term> = inner.drain(start..).collect();
        let mut within = Vec::new();
        for (term, &size) in cut.into_iter().zip(tile) {
            let (count, rest) = terms.split(term, size)?;
            inner.push(count);
            within.push(rest);
        }
        inner.append(&mut within);
    }
    for (term, stride) in outer.into_iter().zip(strides) {
        // The stride of a single tile says nothing.
        if terms.extent(&term) > 1 {
            let stride = stride.ok_or_else(|| at_run_time("a stride of the tiles is ?", "strides"))?;
            let stride = i128::from(stride) * i128::from(area);
            terms.add(term, i64::try_from(stride).map_err(|_| too_large())?)?;
        }
    }
    let mut filled = 1_u64;
    for term in inner.into_iter().rev() {
        let extent = terms.extent(&term);
        terms.add(term, i64::try_from(filled).map_err(|_| too_large())?)?;
        filled = filled.checked_mul(extent).ok_or_else(too_large)?;
    }
    if filled != area {
        return Err(Error::new(format!("the tiles within a tile of {area} elements take {filled}"))
            .field("layout")
            .rule("a further tile divides the first")
            .accepts("sizes that divide those of the first tile"));
    }
    terms.build(None, None)
}

fn at_run_time(found: impl Into<String>, what: &str) -> Error {
    Error::new(found)
        .field("layout")
        .rule(format!("such {what} are known only when the program runs"))
        .accepts("a number")
}

fn too_large() -> Error {
    Error::new("the strides overflow 63 bits").field("layout").accepts("smaller strides")
}

/// Why an attribute whose meaning is not known here has no places.
fn unknown(text: &str) -> Error {
    let name = text.trim_start_matches('#').split(['<', ' ']).next().unwrap_or("");
    let dialect = name.split_once('.').map(|(dialect, _)| dialect);
    let error = Error::new(format!("the elements of {} have no known places", quoted(text))).field("layout");
    match dialect {
        Some("ttg" | "triton_gpu" | "ttng" | "triton_nvidia_gpu") => error
            .rule("an encoding of Triton says which threads and registers hold an element")
            .accepts("a tensor without encoding, or a memref"),
        Some("iree_encoding") => error
            .of_kind(ErrorKind::Unsupported)
            .rule("IREE chooses the tiles for a machine, and this encoding is not resolved to them yet")
            .accepts("an encoding with encoding_info = {innerDimsPos = […], innerTileSizes = […], …}"),
        Some("sparse_tensor") => error
            .rule("a sparse tensor stores some of its elements, and where depends on their values")
            .accepts("a tensor without encoding, or a memref"),
        None if text.starts_with('#') => error
            .rule("an alias stands for an attribute that is written elsewhere in the module")
            .accepts("that attribute in place of the alias"),
        _ => error
            .rule("what the attribute says of places is not known here")
            .accepts("strided<[…]>, affine_map<…> or #tpu.tiled<…>"),
    }
}
