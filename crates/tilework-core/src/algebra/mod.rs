//! What a layout's function is: the linear form over quotients, its canonical form, and what follows from it.

pub(crate) mod canon;
pub(crate) mod components;
pub(crate) mod eval;
pub(crate) mod formula;
pub(crate) mod linear;
pub(crate) mod pieces;
