//! Layouts as expressions: the axes as the results of a map, or the offset as its only result.

use super::{Expr, Op, make};
use crate::layout::Layout;
use crate::layout::parts::{self, PartKind};
use tilework_core::InOrder;

/// A term of the offset: an expression, the number of values that it can have by itself, and how many are allocated.
pub(crate) struct Axis {
    expr: Expr,
    bound: u64,
    extent: u64,
    stride: i64,
}

/// The dimensions as axes, if strides alone say the layout.
pub(crate) fn axes_of_dims(layout: &Layout) -> Option<Vec<Axis>> {
    let strides = layout.canon().strides()?.into_iter().zip(layout.dims()).enumerate();
    let axis = |(dim, (stride, &size)): (usize, (i64, &u64))| {
        (size > 1).then_some(Axis { expr: Expr::Dim(dim), bound: size, extent: size, stride })
    };
    let mut axes: Vec<Axis> = strides.filter_map(axis).collect();
    axes.order_by_key(|axis| std::cmp::Reverse(axis.stride));
    Some(axes)
}

/// The axes that the layout is made of.
pub(crate) fn axes_of_parts(layout: &Layout) -> Option<Vec<Axis>> {
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
pub(crate) fn radix(size: u64, axes: Vec<Axis>) -> Option<Vec<Expr>> {
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
pub(crate) fn offset(layout: &Layout, axes: &[Axis]) -> Option<Expr> {
    let mut sum = Expr::Const(0);
    for axis in axes {
        let term = make(Op::Mul, axis.expr.clone(), Expr::Const(axis.stride))?;
        sum = make(Op::Add, sum, term)?;
    }
    make(Op::Add, sum, Expr::Const(i64::try_from(layout.base()).ok()?))
}
