//! XLA's text, read and printed as XLA does.

pub(crate) mod lex;
pub(crate) mod parse;
pub(crate) mod parse_layout;
pub(crate) mod parse_rare;
pub(crate) mod print;
