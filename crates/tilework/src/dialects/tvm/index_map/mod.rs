//! Index maps: `lambda i, j: (i // 16, j // 16, i % 16, j % 16)`, behind type and sizes.
//!
//! The results are the index of the array that TVM allocates, which is row-major; its sizes are those that
//! `IndexMap.map_shape` gives. Where a size is no multiple of what divides it, the array is padded.

mod dialect;
mod print;
mod read;
mod say;
mod sizes;

use std::fmt;

pub(super) use read::{is_map, read};
pub(super) use say::say;

use crate::dialect::affine::{self, Expr, Language, Target};
use crate::element::Element;
use crate::error::{Error, ErrorKind, Result};
use crate::layout::Layout;

/// The most indices and results.
const MAX_DIMS: usize = 64;

/// A map from an index to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct IndexMap {
    /// What the indices are called.
    names: Vec<String>,
    results: Vec<Expr>,
    /// The way back, where the text says it. TVM takes it as it is.
    inverse: Option<Box<IndexMap>>,
}

/// An array of TVM that a map transforms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mapped {
    element: Element,
    dims: Vec<u64>,
    map: IndexMap,
    /// The sizes of the array that is allocated.
    shape: Vec<u64>,
}

impl Mapped {
    /// An array and its map.
    ///
    /// # Errors
    /// Other indices than dimensions, and results whose sizes TVM does not say, or says otherwise than by their values.
    fn new(element: Element, dims: &[u64], map: IndexMap) -> Result<Mapped> {
        if dims.len() != map.names.len() {
            let plural = |count: usize, one: &str, many: &str| {
                format!("{count} {}", if count == 1 { one } else { many })
            };
            return Err(Error::new(format!(
                "{} for {}",
                plural(map.names.len(), "index", "indices"),
                plural(dims.len(), "dimension", "dimensions")
            ))
            .of_kind(ErrorKind::Mismatch)
            .field("index map")
            .rule("every dimension has an index")
            .accepts(plural(dims.len(), "index", "indices")));
        }
        let shape = sizes::shape(&map, dims)?;
        Ok(Mapped { element, dims: dims.to_vec(), map, shape })
    }

    fn lower(&self) -> Result<Layout> {
        let language = Language {
            map: "index map",
            print: &|expr: &Expr| print::text(expr, &self.map.names),
            examples: ["i // 8, i % 8", "i // 8 and i % 4", "i * 16 + j where j is below 16"],
        };
        let target = Target { results: &self.map.results, dims: self.dims.len(), sizes: Some(&self.shape) };
        let layout = affine::lower(&target, &self.dims, 8 * self.element.bytes(), &language)?;
        if layout.is_broadcast() || layout.is_injective() == Some(false) {
            return Err(Error::new("two elements with the same results")
                .of_kind(ErrorKind::Unsupported)
                .field("index map")
                .rule("TVM transforms a buffer by a map that has a way back")
                .accepts("a map that gives every element results of its own"));
        }
        Ok(layout)
    }
}

/// `f32[64,64] lambda i, j: (i // 16, j // 16, i % 16, j % 16)`
impl fmt::Display for Mapped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sizes: Vec<String> = self.dims.iter().map(u64::to_string).collect();
        write!(f, "{}[{}] {}", self.element, sizes.join(","), self.map)
    }
}
