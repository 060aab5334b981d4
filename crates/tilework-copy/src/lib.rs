//! Moves arrays from one memory layout to another at the speed of a memory copy.
//!
//! `tilework` says where elements lie; a [`Relayout`] brings them from one layout to another. It is made once, for two
//! layouts, and run as often as there is data.
//!
//! # A first move
//!
//! ```
//! use tilework::{PlanOptions, xla::Shape};
//! use tilework_copy::Relayout;
//!
//! let layout = |text: &str| Shape::parse(text)?.as_array().unwrap().lower();
//! let rows = layout("u8[2,3]")?;
//! let columns = layout("u8[2,3]{0,1}")?;
//! let relayout = Relayout::new(&rows, &columns, &PlanOptions::default())?;
//!
//! let mut out = [0; 6];
//! relayout.run(b"abcdef", &mut out)?;
//! assert_eq!(&out, b"adbecf");
//! # Ok::<(), tilework::Error>(())
//! ```
//!
//! Buffers are bytes, at any address; [`Relayout::run_elements`] takes slices of numbers, and [`Relayout::run_raw`] memory that
//! is not Rust's. What a relayout does can be read: its [plan](Relayout::plan) prints itself.
//!
//! # Padding, and which bytes are written
//!
//! ```
//! use tilework::{Element, PlanOptions, xla::Shape};
//! use tilework_copy::Relayout;
//!
//! let layout = |text: &str| Shape::parse(text)?.as_array().unwrap().lower();
//! let (host, device) = (layout("u8[3,3]")?, layout("u8[3,3]{1,0:T(2,2)}")?);
//! let mut out = *b"----------------and more";
//!
//! // Without a fill, elements are written and nothing else.
//! Relayout::new(&host, &device, &PlanOptions::default())?.run(b"abcdefghi", &mut out)?;
//! assert_eq!(&out, b"abdec-f-gh--i---and more");
//!
//! // With one, all places of the destination are. What a buffer holds beyond its layout is left alone.
//! let fill = Element::U8.value_bits("0x2e")?; // "zero", "lowest", "-1.5" … or bits
//! let options = PlanOptions { fill: Some(fill), ..PlanOptions::default() };
//! Relayout::new(&host, &device, &options)?.run(b"abcdefghi", &mut out)?;
//! assert_eq!(&out, b"abdec.f.gh..i...and more");
//!
//! // A buffer that is too short is an error, and nothing is written.
//! assert!(Relayout::new(&host, &device, &options)?.run(b"abcdefghi", &mut out[..15]).is_err());
//! # Ok::<(), tilework::Error>(())
//! ```
//!
//! Elements narrower than a byte share bytes; the bits of a byte that belong to no element are left alone as well. The two
//! buffers are different memory. Broadcast layouts can be read; a destination has a place of its own for every element, which
//! is checked when the relayout is made. Nothing is allocated for the data, and nothing panics because of it: every sequence of
//! bits is moved as it is.
//!
//! # Threads
//!
//! Whose threads work is up to the caller: [`Relayout::run`] uses the calling one, [`Threads`] starts some for one run, and a
//! runtime implements [`Pool`] for its own. The result is the same.
//!
//! ```
//! use tilework::{Layout, PlanOptions};
//! use tilework_copy::{Buffer, Relayout, Threads};
//!
//! let rows = Layout::row_major(&[700, 900], 32)?;
//! let columns = Layout::builder(&[700, 900], 32)?.minor_to_major(&[0, 1])?.build()?;
//! let relayout = Relayout::new(&rows, &columns, &PlanOptions::default())?;
//! let source = vec![7; rows.bytes() as usize];
//! let mut out = Buffer::new(columns.bytes() as usize)?; // zeros, aligned, in large pages where that pays
//! relayout.run_on(&Threads::all(), &source, &mut out)?;
//! assert!(out.iter().all(|&byte| byte == 7));
//! # Ok::<(), tilework::Error>(())
//! ```
//!
//! # In steps
//!
//! Steps leave room for other work, or for a word about how far it is. They are done in ascending order:
//!
//! ```
//! # use tilework::{Layout, PlanOptions};
//! # use tilework_copy::{Inline, Relayout};
//! # let rows = Layout::row_major(&[70, 90], 32)?;
//! # let columns = Layout::builder(&[70, 90], 32)?.minor_to_major(&[0, 1])?.build()?;
//! # let relayout = Relayout::new(&rows, &columns, &PlanOptions::default())?;
//! # let source: Vec<u8> = (0..rows.bytes()).map(|at| at as u8).collect();
//! let (mut out, mut whole) = (vec![0; source.len()], vec![0; source.len()]);
//! for step in 0..4 {
//!     relayout.run_step(&Inline, step, 4, &source, &mut out)?; // a quarter of the work
//! }
//! relayout.run(&source, &mut whole)?;
//! assert!(out == whole);
//! # Ok::<(), tilework::Error>(())
//! ```
//!
//! # In order, chunk by chunk
//!
//! A file, a pipe or a device that takes bytes in order need not be in memory. Here padding without a fill is zero:
//!
//! ```
//! use tilework::{Error, PlanOptions, xla::Shape};
//! use tilework_copy::Relayout;
//!
//! let layout = |text: &str| Shape::parse(text)?.as_array().unwrap().lower();
//! let relayout = Relayout::new(&layout("u8[3,3]")?, &layout("u8[3,3]{1,0:T(2,2)}")?, &PlanOptions::default())?;
//! let mut file = Vec::new();
//! relayout.stream(b"abcdefghi", 8, |offset, chunk| {
//!     assert_eq!(offset, file.len() as u64);
//!     file.extend_from_slice(chunk);
//!     Ok::<(), Error>(())
//! })?;
//! assert_eq!(file, b"abdec\0f\0gh\0\0i\0\0\0");
//! # Ok::<(), tilework::Error>(())
//! ```
//!
//! # Other elements
//!
//! A [`Conversion`] makes other elements on the way, rounded to nearest, ties to even, with the results of NumPy and `ml_dtypes`:
//!
//! ```
//! use tilework::{Element, PlanOptions, xla::Shape};
//! use tilework_copy::{Conversion, Relayout};
//!
//! let layout = |text: &str| Shape::parse(text)?.as_array().unwrap().lower();
//! let (from, to) = (layout("f32[2,2]")?, layout("bf16[2,2]{0,1}")?);
//! let conversion = Conversion::between(Element::F32, Element::Bf16)?;
//! let relayout = Relayout::converting(&from, &to, conversion, &PlanOptions::default())?;
//! let mut out = [0_u16; 4];
//! relayout.run_elements(&[1.0_f32, 2.0, 3.0, f32::INFINITY], &mut out)?;
//! assert_eq!(out, [0x3f80, 0x4040, 0x4000, 0x7f80]);
//! # Ok::<(), tilework::Error>(())
//! ```
//!
//! Whole programs are in `examples/`: `pack.rs` and `stream.rs`.

mod bounds;
mod buffer;
mod carry;
mod choose;
mod clip;
mod convert;
mod cost;
mod elements;
mod exec;
mod explain;
#[cfg(target_os = "linux")]
mod fault;
mod fetch;
#[cfg(all(test, unix))]
mod guard_tests;
mod kernels;
mod map;
mod nest;
mod net;
mod past;
mod picks;
mod pool;
mod program;
mod relayout;
mod setting;
#[cfg(all(test, unix))]
mod share_tests;
mod step;
mod subbyte;
#[cfg(test)]
mod tests;
mod trial;
mod ways;
mod wide;

pub use buffer::Buffer;
pub use convert::Conversion;
pub use map::{Mapped, MappedMut};
pub use pool::{Inline, Pool, Threads};
pub use relayout::{Plain, Relayout, Tried};

/// What the README of the project shows in Rust runs as well.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
