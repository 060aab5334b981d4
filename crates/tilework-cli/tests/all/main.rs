//! All tests of this crate from outside, in one program: each program more is a link more.

mod audit;
mod behaviour;
mod block;
mod claims;
mod common;
mod convert;
mod diff;
mod directml;
mod documents;
#[cfg(unix)]
mod faults;
mod hostile;
mod into_stores;
mod jobs;
mod lean;
mod link;
mod ls;
mod many;
#[cfg(feature = "proto")]
mod messages;
mod newcomer;
mod pictures;
#[cfg(unix)]
mod rights;
mod safely;
mod snapshots;
mod translate;
#[cfg(feature = "stores")]
mod zarr;
