//! Arrays in files: `.npy`, raw, and files that hold many arrays by name, moved from one memory layout to another and written
//! safely.
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
//!
//! Safetensors, GGUF and npz are a [`container::Container`] of named arrays, which [`container::write`] makes another of:
//!
//! ```
//! use tilework_copy::Threads;
//! use tilework_files::container::{Change, Container, Format, How, Job, Target, write};
//!
//! # let folder = std::env::temp_dir().join(format!("tilework-many-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder).unwrap();
//! # let head = r#"{"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}"#;
//! # let bytes = [&(head.len() as u64).to_le_bytes()[..], head.as_bytes(), &[0; 8]].concat();
//! # std::fs::write(folder.join("model.safetensors"), bytes).unwrap();
//! let model = Container::open(&folder.join("model.safetensors"))?;
//! let jobs: Vec<Job> = model
//!     .tensors()
//!     .iter()
//!     .map(|tensor| Job { name: format!("model.{}", tensor.name), tensor, change: Change::Keep })
//!     .collect();
//! let target = Target { format: Format::Gguf, folder: None, transposed: false };
//! let how = How { pool: &Threads::all(), memory: Some(1 << 30), check: true, progress: &|_| {} };
//! write(&model, &jobs, &target, &folder.join("model.gguf"), &how).expect("a new file");
//! assert_eq!(Container::open(&folder.join("model.gguf"))?.tensors()[0].name, "model.w");
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
pub use destination::{Destination, NewFile, fits_on_disk, folder_of, unfinished};
pub use element::{descr_of, element_of, little_endian, numpy_reads, reverse};
pub use memory::available_memory;
pub use room::is_in_memory;
pub use source::{Array, Part, Source};
pub use window::parts;
pub use write::{Move, StreamError};

/// A file without a name in a folder, which has room for as many bytes, for what is needed for a while.
///
/// # Errors
/// A folder in which no file is made, a disk with less room, and a limit on the size of files.
pub fn scratch_file(folder: &std::path::Path, len: u64) -> tilework::Result<std::fs::File> {
    let name = folder.display().to_string();
    let file = destination::scratch(folder).map_err(|error| source::failed(&name, &error))?;
    destination::fits(&file, len, &format!("a file for a while in {name}"))?;
    Ok(file)
}
