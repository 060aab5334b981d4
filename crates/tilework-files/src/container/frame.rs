//! The bytes of a new file around its arrays, and where each array goes.

use std::collections::HashSet;

use tilework::{Error, Result};

use super::body::Body;
use super::json::shown;
use super::{Container, Format, gguf, safetensors, zip_out};
use crate::npy;

/// An array that is to be in a file.
#[derive(Clone, Debug)]
pub(crate) struct Entry<'a> {
    pub(crate) name: &'a str,
    pub(crate) body: &'a Body,
}

/// A new file.
#[derive(Debug)]
pub(crate) struct Frame {
    /// All of it.
    pub(crate) bytes: u64,
    /// Where each array begins.
    pub(crate) places: Vec<u64>,
    pub(crate) around: Around,
}

/// What is not arrays.
#[derive(Debug)]
pub(crate) enum Around {
    /// Bytes with their places.
    Fixed(Vec<(u64, Vec<u8>)>),
    /// What needs checksums of the arrays first.
    Zip(zip_out::List),
}

impl Frame {
    /// The bytes around the arrays, each part with its place; `sum` is the checksum of an array with what is before it.
    pub(crate) fn pieces(&self, sum: &mut dyn FnMut(usize, &[u8]) -> u32) -> Vec<(u64, Vec<u8>)> {
        match &self.around {
            Around::Fixed(pieces) => pieces.clone(),
            Around::Zip(list) => list.pieces(sum),
        }
    }

    /// The file with these arrays; `from` has the metadata.
    ///
    /// # Errors
    /// Two arrays of one name, and what the format cannot hold.
    pub(crate) fn new(format: Format, entries: &[Entry], from: &Container) -> Result<Frame> {
        match format {
            Format::Safetensors => safetensors::frame(entries, from.texts()),
            Format::Gguf => gguf::frame(entries, from),
            Format::Npz => zip_out::frame(entries),
            Format::Npy => match entries {
                [one] => npy(one),
                _ => Err(Error::new(format!("{} arrays in one npy file", entries.len()))
                    .rule("an npy file holds one array")
                    .accepts("--only with the name of one, or a folder: OUT/ and --format npy")),
            },
            Format::Zarr => Err(super::zarr()),
        }
    }
}

/// The header of an npy file.
pub(crate) fn npy_header(body: &Body) -> Result<Vec<u8>> {
    let shape = body.dims.clone();
    npy::Header { descr: body.word.clone(), fortran_order: body.fortran, shape, data_offset: 0 }.bytes()
}

fn npy(entry: &Entry) -> Result<Frame> {
    let head = npy_header(entry.body)?;
    let place = head.len() as u64;
    let around = Around::Fixed(vec![(0, head)]);
    Ok(Frame { bytes: place + entry.body.bytes, places: vec![place], around })
}

/// No two arrays have one name.
///
/// # Errors
/// The first that has another's.
pub(crate) fn differ<'a>(names: impl Iterator<Item = &'a str>) -> Result<()> {
    let mut seen = HashSet::new();
    let mut names = names;
    match names.find(|name| !seen.insert(*name)) {
        None => Ok(()),
        Some(twice) => Err(Error::new(format!("two arrays called {}", shown(twice)))
            .rule("names differ")
            .accepts("--rename with a * in OLD and in NEW for what tells them apart")),
    }
}
