//! Pictures of how arrays lie in memory.
//!
//! Drawing has two halves. A [`Scene`] says what is to be seen, whatever it is drawn with: cells with their offsets or
//! indices, padding, the borders of tiles, and marks where something too large was cut. [`terminal`] turns it into
//! lines of text, [`figure`] into SVG. Nothing here knows a notation; everything is asked of the one [`tilework::Layout`](tilework_core::Layout).
//!
//! ```
//! use tilework::Layout;
//! use tilework_picture::{Look, terminal};
//!
//! let layout = Layout::builder(&[3, 5], 32)?.tile(&[Some(2), Some(2)])?.build()?;
//! let lines = terminal::picture(&layout, 80, Look::default());
//! let text: Vec<String> = lines.iter().map(|line| line.to_string()).collect();
//! assert_eq!(text[0], "i \\ j   0   1 │  2   3 │  4   ·");
//! assert_eq!(text[1], "    0   0   1 │  4   5 │  8   ·");
//! # Ok::<(), tilework::Error>(())
//! ```
//!
//! The work grows with what is shown, never with the size of the array.
#![forbid(unsafe_code)]

pub mod figure;
mod grid;
mod moves;
mod png;
mod ruler;
mod scene;
mod strip;
pub mod svg;
pub mod terminal;
mod text;
mod tiles;
mod treemap;
mod window;

pub use moves::shared_run;
pub use png::{PIXELS, PngError, png};
pub use scene::{Border, Cell, Content, Grid, Head, Lane, Room, Scene};
pub use text::{Line, Look, Span, Style, plain_ascii, same_width_ascii, wrap};
pub use tilework_core::letter;
pub use treemap::treemap;
