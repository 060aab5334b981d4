//! What the layouts of a compiler cost, and which would be smaller.
#![forbid(unsafe_code)]
