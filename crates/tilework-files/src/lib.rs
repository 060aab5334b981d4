//! Arrays in files: `.npy` and raw, moved from one memory layout to another and written safely.
//!
//! Files are mapped, not read, so that they may be larger than memory; what is written has no name until it is complete.
//!
//! ```
//! use tilework::{Layout, PlanOptions};
//! use tilework_copy::{Inline, Relayout};
//! use tilework_files::{Destination, Move, Part, Source};
//!
//! # let folder = std::env::temp_dir().join(format!("tilework-doc-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder).unwrap();
//! # std::fs::write(folder.join("in.bin"), b"abcdef").unwrap();
//! let from = Layout::row_major(&[2, 3], 8)?;
//! let to = Layout::builder(&[2, 3], 8)?.minor_to_major(&[0, 1])?.build()?;
//! let relayout = Relayout::new(&from, &to, &PlanOptions::default())?;
//!
//! let mut source = Source::open(&folder.join("in.bin"))?;
//! let source = source.array(from.bytes(), Part::default())?;
//! let Destination::File(file) = Destination::create(&folder.join("out.bin"))? else { panic!() };
//! let job = Move { relayout: &relayout, source, head: b"", pool: &Inline };
//! job.to_file(&file, &|_| {})?;
//! file.commit()?;
//! assert_eq!(std::fs::read(folder.join("out.bin")).unwrap(), b"adbecf");
//! # std::fs::remove_dir_all(&folder).unwrap();
//! # Ok::<(), tilework::Error>(())
//! ```
#![forbid(unsafe_code)]

mod check;
pub mod container;
mod destination;
mod element;
mod literal;
mod memory;
pub mod npy;
#[cfg(unix)]
mod rights;
#[cfg(not(unix))]
#[path = "rights_other.rs"]
mod rights;
mod room;
#[cfg(test)]
mod scratch;
mod source;
mod temporary;
mod window;
mod write;

pub use check::{check, check_sample};
pub use destination::{Destination, NewFile};
pub use element::{descr_of, element_of, little_endian, numpy_reads};
pub use memory::available_memory;
pub use source::{Array, Part, Source};
pub use write::{Move, StreamError};
