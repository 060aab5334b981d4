//! The questions that a layout answers: what is at a place, in which order memory goes, what padding costs, and whether
//! two layouts are the same.

pub mod axes;
pub mod compare;
pub mod digits;
pub mod exchange;
pub mod locate;
pub mod measure;
pub mod tiles;
pub mod verdict;
pub mod walk;
