//! The questions that a layout answers: what is at a place, in which order memory goes, what padding costs, and whether
//! two layouts are the same.

pub(crate) mod axes;
pub(crate) mod compare;
pub(crate) mod digits;
pub(crate) mod exchange;
pub(crate) mod locate;
pub(crate) mod measure;
pub(crate) mod tiles;
pub(crate) mod verdict;
pub(crate) mod walk;
