//! The functions of XLA's `IndexUtil`, `ShapeUtil` and `LayoutUtil`.

pub(crate) mod align;
pub(crate) mod bitcast;
pub(crate) mod dynamic;
pub(crate) mod equal;
pub(crate) mod first_tile;
pub(crate) mod index;
pub(crate) mod iterate;
pub(crate) mod layouts;
pub(crate) mod make;
pub(crate) mod places;
pub(crate) mod precision;
pub(crate) mod size;
pub(crate) mod suggest;
pub(crate) mod surgery;
