//! Maps from an index to another by sums, quotients and remainders, as MLIR's `affine_map` and TVM's `IndexMap` write them.
//!
//! A notation reads its own text into [`Expr`]s; here they become a layout, and a layout becomes such expressions.

mod bounds;
mod expr;
mod lower;
mod say;

pub(crate) use bounds::bounds;
pub(crate) use expr::{Expr, Op, make};
pub(crate) use lower::{Language, Target, lower};
pub(crate) use say::{axes_of_dims, axes_of_parts, offset, radix};
