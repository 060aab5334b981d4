//! The notations. Each reads, checks and prints its own faithful type, which lowers into a `Layout`; none knows another.

pub mod directml;
pub mod xla;
