//! All tests of this crate from outside, in one program: each program more is a link more.

mod bits;
mod converting;
mod extremes;
mod packed;
