//! Layouts as types: what MLIR people would write for them.
//!
//! ```text
//! memref<3x5xf32>                        row-major
//! memref<3x5xf32, strided<[8, 1]>>       strides, up to the last element
//! memref<3x5xf32, affine_map<…>>         the axes as results, where their strides are those of a row-major array of larger
//!                                        sizes, which `mod` says; else one result, the offset
//! ```
//!
//! What is made is lowered again and compared.

use super::affine::{AffineMap, Expr, Op, make};
use super::element::ElementType;
use super::value::{Arrangement, Kind, Type};
use crate::dialect::Dim;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::layout::Layout;
use crate::layout::parts::{self, PartKind};
use crate::layout::strided::Strided;

impl Type {
    /// The `memref` that has this layout.
    ///
    /// ```
    /// use tilework::mlir::Type;
    /// use tilework::{Element, xla::Shape};
    /// let shape = Shape::parse("f32[10,200]{1,0:T(8,128)}")?;
    /// let memory = Type::of_layout(&shape.as_array().unwrap().lower()?, Element::F32)?;
    /// let tiles = "affine_map<(d0, d1) -> (d0 floordiv 8, d1 floordiv 128, d0 mod 8, d1 mod 128)>";
    /// assert_eq!(memory.to_string(), format!("memref<10x200xf32, {tiles}>"));
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Elements that do not have whole bytes of their own, padding that neither strides nor a map can say, or a function
    /// that affine maps here cannot (one that uses a dimension twice).
    pub fn of_layout(layout: &Layout, element: Element) -> Result<Type> {
        layout.require_no_swizzle()?;
        let element = ElementType::of(element)
            .ok_or_else(|| Error::new(format!("MLIR has no element type {element}")).field("element type"))?;
        let bits = element.bits();
        if layout.bits() != bits {
            return Err(Error::new(format!(
                "elements of {} bits, and a memref gives each {element} {bits}",
                layout.bits()
            ))
            .field("element bits")
            .rule("an element of a memref has bytes of its own")
            .accepts(format!("{bits} bits")));
        }
        if layout.rank() > super::MAX_DIMS {
            return Err(Error::new(format!("{} dimensions", layout.rank()))
                .field("dimensions")
                .accepts(format!("up to {}", super::MAX_DIMS)));
        }
        let dims = layout.dims().iter().map(|&size| Dim::Static(size)).collect();
        let plain =
            Type { kind: Kind::Memref, dims, element, arrangement: Arrangement::RowMajor, space: None };
        let mut why = None;
        for arrangement in candidates(layout) {
            let found = Type { arrangement, ..plain.clone() };
            match found.lower() {
                Ok(own) if own.same_buffer(layout).is_yes() => return Ok(found),
                Ok(own) if own.size() != layout.size() => {
                    why = Some(format!(
                        "{} elements are allocated, but a memref with these places has {}",
                        layout.size(),
                        own.size()
                    ));
                }
                Ok(_) => {}
                Err(error) => why = why.or(Some(error.found().to_owned())),
            }
        }
        Err(Error::new(why.unwrap_or_else(|| "the places are none of an affine map that can be read back".to_owned()))
            .field("layout")
            .rule("a memref ends with its last element, or with the last place that the results of its map can reach")
            .accepts("a layout without padding before or behind these"))
    }
}

/// What could say a layout, the plainest first.
fn candidates(layout: &Layout) -> Vec<Arrangement> {
    let mut candidates = vec![Arrangement::RowMajor];
    if let Ok(Strided { first, strides, .. }) = layout.to_strides() {
        let offset = i64::try_from(first).ok();
        let strides = strides.into_iter().zip(layout.dims());
        // A dimension of one element takes no step; whatever is written for it must not be 0.
        let strides = strides.map(|(stride, &size)| Some(if size <= 1 { 1 } else { stride }));
        candidates.push(Arrangement::Strided { strides: strides.collect(), offset });
    }
    let map = |results| Arrangement::Map(AffineMap { dims: layout.rank(), symbols: 0, results });
    candidates.extend(dimensions(layout).and_then(|axes| radix(layout.size(), axes)).map(map));
    if let Some(axes) = parts(layout) {
        let offset = offset(layout, &axes);
        candidates.extend(radix(layout.size(), axes).map(map));
        candidates.extend(offset.map(|offset| map(vec![offset])));
    }
    candidates
}

/// A term of the offset: an expression, the number of values that it can have by itself, and how many are allocated.
struct Axis {
    expr: Expr,
    bound: u64,
    extent: u64,
    stride: i64,
}

/// The dimensions as axes, if strides alone say the layout.
fn dimensions(layout: &Layout) -> Option<Vec<Axis>> {
    let strides = layout.canon().strides()?.into_iter().zip(layout.dims()).enumerate();
    let axis = |(dim, (stride, &size)): (usize, (i64, &u64))| {
        (size > 1).then_some(Axis { expr: Expr::Dim(dim), bound: size, extent: size, stride })
    };
    let mut axes: Vec<Axis> = strides.filter_map(axis).collect();
    axes.sort_by_key(|axis| std::cmp::Reverse(axis.stride));
    Some(axes)
}

/// The axes that the layout is made of.
fn parts(layout: &Layout) -> Option<Vec<Axis>> {
    let parts = expressions(layout);
    let axis = |axis: &parts::Axis| {
        let (expr, bound) = parts[axis.part].clone()?;
        Some(Axis { expr, bound, extent: axis.extent, stride: axis.stride })
    };
    layout.axes().iter().map(axis).collect()
}

/// The expressions that a layout is made of, and the largest value that each can have; none for those that are too long.
fn expressions(layout: &Layout) -> Vec<Option<(Expr, u64)>> {
    let mut made: Vec<Option<(Expr, u64)>> = Vec::new();
    for part in layout.index_parts() {
        let of = |id: usize| made[id].as_ref().map(|(expr, _)| expr.clone());
        let constant = |value: u64| i64::try_from(value).ok().map(Expr::Const);
        let op = |op: Op, a: Option<Expr>, b: Option<Expr>| make(op, a?, b?);
        let whole = match part.kind {
            PartKind::Unit => Some(Expr::Const(0)),
            PartKind::Dim(dim) => Some(Expr::Dim(dim)),
            PartKind::Tiles { of: id, by, .. } => op(Op::FloorDiv, of(id), constant(by)),
            PartKind::Within { of: id, by, .. } => op(Op::Mod, of(id), constant(by)),
            PartKind::Combined { major, minor, scale } => {
                op(Op::Add, op(Op::Mul, of(major), constant(scale)), of(minor))
            }
            PartKind::Moved { of: id, start, step } => {
                op(Op::Add, op(Op::Mul, of(id), Some(Expr::Const(step))), constant(start))
            }
        };
        let bound = match part.kind {
            PartKind::Within { by, .. } => by,
            _ => part.reach,
        };
        made.push(whole.filter(|expr| expr.operators() <= 32).map(|expr| (expr, bound)));
    }
    made
}

/// The axes as the results of a map, each as large as the stride of the one before it asks for.
fn radix(size: u64, axes: Vec<Axis>) -> Option<Vec<Expr>> {
    let mut room = size;
    let mut results = Vec::new();
    for axis in axes {
        let stride = u64::try_from(axis.stride).ok().filter(|&stride| stride > 0)?;
        let extent = room / stride;
        if !room.is_multiple_of(stride) || extent < axis.extent {
            return None;
        }
        results.push(match extent == axis.bound {
            true => axis.expr,
            false => make(Op::Mod, axis.expr, Expr::Const(i64::try_from(extent).ok()?))?,
        });
        room = stride;
    }
    (room == 1).then_some(results)
}

/// The offset, as the only result of a map.
fn offset(layout: &Layout, axes: &[Axis]) -> Option<Expr> {
    let mut sum = Expr::Const(0);
    for axis in axes {
        let term = make(Op::Mul, axis.expr.clone(), Expr::Const(axis.stride))?;
        sum = make(Op::Add, sum, term)?;
    }
    make(Op::Add, sum, Expr::Const(i64::try_from(layout.base()).ok()?))
}
