//! All tests of this crate from outside, in one program: each program more is a link more.

mod block;
mod devices;
mod dumps;
mod engines;
mod graphs;
mod hostile;
mod kernels;
#[cfg(all(target_os = "linux", feature = "proto"))]
mod memory;
mod messages;
mod modules;
mod onednn;
mod reference;
#[cfg(feature = "proto")]
mod schema;
#[cfg(feature = "proto")]
mod serial;
#[cfg(feature = "proto")]
mod serialised;
mod shrink;
mod suggest;
mod suppose;
mod target;
mod tenstorrent;
mod traces;
