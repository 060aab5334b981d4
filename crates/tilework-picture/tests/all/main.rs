//! All tests of this crate from outside, in one program: each program more is a link more.

mod figures;
mod golden;
mod read;
mod scenes;
