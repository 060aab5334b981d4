//! Shapes, layouts and tiles as values, and how they become a `Layout`.

pub(crate) mod dims;
pub(crate) mod layout;
pub(crate) mod lower;
pub(crate) mod padding;
pub(crate) mod primitive;
pub(crate) mod program;
pub(crate) mod shape;
pub(crate) mod tile;
pub(crate) mod tuple;
pub(crate) mod validate;
