//! Arrays in pieces, moved from one grid of pieces to another.
//!
//! A [`Grid`] cuts the dimensions of an array, [`Shards`] say how the pieces lie, and a store is what reads them ([`Read`]) and
//! writes them ([`Write`]): chunks of a Zarr array, parts of a checkpoint, raw files. What moves between a piece of one and a
//! piece of another is the region that they share, and the engine of `tilework-copy` moves it.
//!
//! ```
//! use tilework::{Element, Layout};
//! use tilework_stores::{Cut, Form, Grid, Shards};
//!
//! // 10 × 6 elements in pieces of 4 × 6; the last piece hangs over.
//! let grid = Grid::new(vec![Cut::every(10, 4)?, Cut::every(6, 6)?])?;
//! assert_eq!((grid.count(), grid.region(2)?.size), (3, vec![2, 6]));
//! let shards = Shards::new(Element::F32, grid, Form::whole(Layout::row_major(&[4, 6], 32)?))?;
//! assert_eq!(shards.layout(2)?.bytes(), 96); // all places of a whole piece
//! # Ok::<(), tilework::Error>(())
//! ```
#![forbid(unsafe_code)]

mod beside;
pub mod checkpoint;
mod cut;
mod far;
mod gather;
mod grid;
pub mod job;
mod memory;
mod ocdbt;
mod open;
mod orbax;
pub mod plan;
mod region;
pub mod run;
mod shards;
pub mod stage;
mod stamp;
mod store;
mod transfer;
pub mod zarr;

pub use cut::Cut;
pub use far::{NewObject, is_address, new_folder};
pub use grid::Grid;
pub use memory::Memory;
pub use open::{open, scratch_of};
pub use region::Region;
pub use shards::{Form, Shards};
pub use stamp::Stamp;
pub use store::{Cost, Held, Make, Read, Space, Write};
pub use transfer::{Side, Transfers};
