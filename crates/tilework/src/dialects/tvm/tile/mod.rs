//! Tile layouts: `S[(8, 4, 2):(4@laneid, 1@laneid, 1)] + R[2:4@warpid] + 5@warpid`, behind type and sizes.
//!
//! `S` cuts the index, taken as one row-major number, into digits with a stride each; `R` says at which further places each
//! element is; what is added is where the first one is. A stride is on an axis: `m`, which is memory where nothing else is
//! said, or one that counts threads, or one of a memory with two addresses. Places on `m` alone are a layout.
//! `ComposeLayout(M, B, S, TileLayout(…))` is a swizzle behind it.

mod dialect;
mod read;
mod say;

use std::collections::BTreeMap;
use std::fmt;

pub(super) use read::{is_tile, read};
pub(super) use say::say;

use crate::element::Element;
use crate::error::{Error, ErrorKind, Result, quoted};
use crate::layout::Layout;
use crate::layout::swizzle::Swizzle;
use crate::layout::terms::{Term, Terms};

/// The axis of plain memory.
const MEMORY: &str = "m";

/// Axes that count threads, or groups of them.
const THREADS: [&str; 12] =
    ["bx", "by", "bz", "cbx", "cby", "cbz", "tx", "warpid", "laneid", "wgid", "tid_in_wg", "wid_in_wg"];

/// The most digits, of a shard and of a replica.
const MAX_ITERS: usize = 64;

/// A digit.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Iter {
    extent: u64,
    stride: i64,
    axis: String,
}

/// An exchange of places: `ComposeLayout(per_element, swizzle_len, atom_len, …)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Exchange {
    per_element: u32,
    swizzle_len: u32,
    atom_len: u32,
    /// Whether the lower bits are flipped.
    inner: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct TileLayout {
    /// From major to minor.
    shard: Vec<Iter>,
    replica: Vec<Iter>,
    offset: BTreeMap<String, i64>,
    exchange: Option<Exchange>,
}

/// An array of TVM in a tile layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tiled {
    element: Element,
    dims: Vec<u64>,
    layout: TileLayout,
}

impl Exchange {
    fn swizzle(self) -> Result<Swizzle> {
        let shift = self.atom_len as i32; // read as a small number
        Swizzle::new(self.swizzle_len, self.per_element, if self.inner { shift } else { -shift })
    }
}

impl Tiled {
    /// That the digits count as many elements as the array has.
    fn check(&self) -> Result<()> {
        let extents = product(self.layout.shard.iter().map(|iter| iter.extent));
        let elements = product(self.dims.iter().copied());
        let (Some(extents), Some(elements)) = (extents, elements) else {
            return Err(Error::new("the number of elements overflows 63 bits")
                .of_kind(ErrorKind::Overflow)
                .field("dimensions"));
        };
        if extents != elements {
            return Err(Error::new(format!("extents of {extents} elements for an array of {elements}"))
                .of_kind(ErrorKind::Mismatch)
                .field("extents")
                .rule("the extents of S multiply to the number of elements: a tile layout pads nothing")
                .accepts(format!("extents whose product is {elements}")));
        }
        Ok(())
    }

    /// Why the places are not those of one buffer, if they are not.
    fn elsewhere(&self) -> Option<String> {
        let layout = &self.layout;
        let axes = layout.shard.iter().chain(&layout.replica).map(|iter| &iter.axis);
        if let Some(axis) = axes.chain(layout.offset.keys()).find(|axis| *axis != MEMORY) {
            return Some(match THREADS.contains(&axis.as_str()) {
                true => format!(
                    "the axis {axis} counts threads or groups of them, which hold elements in registers"
                ),
                false => format!(
                    "the axis {axis} is an address beside that of memory, so a place has no single offset"
                ),
            });
        }
        let copies = layout.replica.iter().find(|iter| iter.extent > 1)?;
        Some(format!("R[{}:{}] puts each element at several places", copies.extent, copies.stride))
    }

    fn lower(&self) -> Result<Layout> {
        self.check()?;
        if let Some(why) = self.elsewhere() {
            return Err(Error::new("places that are not those of one buffer")
                .of_kind(ErrorKind::Unsupported)
                .field("axes")
                .rule(why)
                .accepts("strides on m alone, and no R"));
        }
        let mut terms = Layout::terms(&self.dims, 8 * self.element.bytes())?;
        self.deal(&mut terms)?;
        let offset = self.layout.offset.get(MEMORY).copied().unwrap_or(0);
        let offset = u64::try_from(offset).map_err(|_| {
            Error::new(format!("the offset {offset}")).field("offset").accepts("an offset of 0 or more")
        })?;
        let layout = terms.build(Some(offset), None)?;
        match self.layout.exchange {
            None => Ok(layout),
            Some(exchange) => layout.swizzled(&exchange.swizzle()?),
        }
    }

    /// Gives each digit its part of the dimensions, from the most minor: both are numbers in mixed radix.
    fn deal(&self, terms: &mut Terms) -> Result<()> {
        let mut more = (0..self.dims.len()).rev().filter(|&dim| self.dims[dim] > 1);
        // What the digits before have left of the dimensions.
        let mut left: Option<Term> = None;
        for iter in self.layout.shard.iter().rev() {
            let (mut extent, mut stride) = (iter.extent, iter.stride);
            while extent > 1 {
                let term = match left.take() {
                    Some(term) => term,
                    None => terms.dim(more.next().ok_or_else(uneven)?)?,
                };
                let size = terms.extent(&term);
                if size.is_multiple_of(extent) {
                    let (rest, digit) = terms.split(term, extent)?;
                    terms.add(digit, stride)?;
                    extent = 1;
                    // What is a single value is used up.
                    left = (terms.extent(&rest) > 1).then_some(rest);
                } else if extent.is_multiple_of(size) {
                    terms.add(term, stride)?;
                    extent /= size;
                    let scaled = i64::try_from(size).ok().and_then(|size| stride.checked_mul(size));
                    stride = scaled.ok_or_else(|| {
                        Error::new("the strides overflow 63 bits")
                            .of_kind(ErrorKind::Overflow)
                            .field("strides")
                            .accepts("smaller strides")
                    })?;
                } else {
                    let major = terms.dim(more.next().ok_or_else(uneven)?)?;
                    left = Some(terms.merge(major, term)?);
                }
            }
        }
        Ok(())
    }
}

/// The product of sizes, where it fits 63 bits.
fn product(mut sizes: impl Iterator<Item = u64>) -> Option<u64> {
    let product = sizes.try_fold(1_u64, |product, size| product.checked_mul(size))?;
    (product <= i64::MAX as u64).then_some(product)
}

fn uneven() -> Error {
    Error::new("extents that do not fill the dimensions").of_kind(ErrorKind::Mismatch).field("extents")
}

/// `4`, or `4@laneid`.
fn on_axis(value: i64, axis: &str) -> String {
    if axis == MEMORY { value.to_string() } else { format!("{value}@{axis}") }
}

/// `S[(2, 4):(4, 1)]`
fn index(head: &str, iters: &[Iter]) -> String {
    let extents: Vec<String> = iters.iter().map(|iter| iter.extent.to_string()).collect();
    let strides: Vec<String> = iters.iter().map(|iter| on_axis(iter.stride, &iter.axis)).collect();
    match iters.len() {
        1 => format!("{head}[{}:{}]", extents[0], strides[0]),
        _ => format!("{head}[({}):({})]", extents.join(", "), strides.join(", ")),
    }
}

impl fmt::Display for TileLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(exchange) = self.exchange {
            let Exchange { per_element, swizzle_len, atom_len, .. } = exchange;
            write!(f, "ComposeLayout({per_element}, {swizzle_len}, {atom_len}, TileLayout(")?;
        }
        f.write_str(&index("S", &self.shard))?;
        if !self.replica.is_empty() {
            write!(f, " + {}", index("R", &self.replica))?;
        }
        for (axis, &offset) in &self.offset {
            write!(f, " + {}", on_axis(offset, axis))?;
        }
        match self.exchange {
            None => Ok(()),
            Some(Exchange { inner: true, .. }) => f.write_str("))"),
            Some(_) => f.write_str("), swizzle_inner=False)"),
        }
    }
}

/// `f32[4,6] S[(2, 2, 3, 2):(12, 2, 4, 1)]`
impl fmt::Display for Tiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sizes: Vec<String> = self.dims.iter().map(u64::to_string).collect();
        write!(f, "{}[{}] {}", self.element, sizes.join(","), self.layout)
    }
}

/// That this is an axis that TVM has.
fn require_axis(name: &str) -> Result<()> {
    const OTHERS: [&str; 6] = ["m", "P", "F", "Bank", "TCol", "TLane"];
    if THREADS.contains(&name) || OTHERS.contains(&name) {
        return Ok(());
    }
    let near = crate::nearest(name, THREADS.into_iter().chain(OTHERS));
    let near = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
    Err(Error::new(format!("no axis {}", quoted(name)))
        .accepts(format!("m, {}, P, F, Bank, TCol or TLane{near}", THREADS.join(", "))))
}
