//! A tensor of ggml, and the layout that it means.

use std::fmt;

use super::MAX_DIMS;
use super::types::Type;
use crate::error::{Error, ErrorKind, Result, counted};
use crate::layout::Layout;

/// A tensor; in row-major order without gaps where no strides are said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tensor {
    pub(super) kind: Type,
    /// Sizes, the most minor first; 1 to 4.
    pub(super) ne: Vec<u64>,
    /// Strides in bytes, in the order of the sizes. Of blocks the first is from block to block.
    pub(super) nb: Option<Vec<u64>>,
    /// Where a view begins, in bytes.
    pub(super) view_offs: Option<u64>,
}

impl Tensor {
    /// The sizes of the array: the most major first.
    pub(super) fn dims(&self) -> Vec<u64> {
        self.ne.iter().rev().copied().collect()
    }

    /// The strides of a tensor of this type and these sizes without gaps, in bytes.
    pub(super) fn packed(&self) -> Option<Vec<u64>> {
        let (elements, bytes) = self.kind.unit();
        let mut strides = vec![bytes];
        let mut row = bytes.checked_mul(self.ne[0] / elements)?;
        for &size in &self.ne[1..] {
            strides.push(row);
            row = row.checked_mul(size)?;
        }
        Some(strides)
    }

    /// Checks what holds of every tensor.
    ///
    /// # Errors
    /// The number of sizes or strides, and rows that are no whole blocks.
    pub(super) fn check(&self) -> Result<()> {
        let count = self.ne.len();
        if count == 0 || count > MAX_DIMS {
            return Err(Error::new(format!("{} in ne", counted(count as u64, "size")))
                .of_kind(ErrorKind::Mismatch)
                .field("ne")
                .rule("a tensor of ggml has 1 to 4 dimensions")
                .accepts("1 to 4 sizes, the most minor first"));
        }
        if let Some(nb) = self.nb.as_ref().filter(|nb| nb.len() != count) {
            let [found, wanted] = [nb.len(), count].map(|count| count as u64);
            return Err(Error::new(format!(
                "{} in nb for {}",
                counted(found, "stride"),
                counted(wanted, "size")
            ))
            .of_kind(ErrorKind::Mismatch)
            .field("nb")
            .rule("every dimension has one stride")
            .accepts(counted(wanted, "stride")));
        }
        let (elements, _) = self.kind.unit();
        if !self.ne[0].is_multiple_of(elements) {
            return Err(Error::new(format!("rows of {} elements for {}", self.ne[0], self.kind.name()))
                .of_kind(ErrorKind::Mismatch)
                .field("ne")
                .rule(format!("a row is whole blocks, and a block of {} has {elements}", self.kind.name()))
                .accepts(format!(
                    "a multiple of {elements} in ne[0], such as {}",
                    self.ne[0].checked_next_multiple_of(elements).unwrap_or(elements)
                )));
        }
        Ok(())
    }

    /// The layout. The dimensions are those of the sizes in reverse.
    ///
    /// # Errors
    /// Blocks, strides that are no whole elements, and more bytes than 63 bits can count.
    pub(super) fn lower(&self) -> Result<Layout> {
        let element = match self.kind {
            Type::Element(element) => element,
            Type::Blocks(block) => {
                return Err(Error::new(format!("elements of {}", block.name))
                    .of_kind(ErrorKind::Unsupported)
                    .field("type")
                    .rule(format!(
                        "{} elements are coded together in {} bytes, so an element has no place of its own",
                        block.elements, block.bytes
                    ))
                    .accepts("f32, f16, bf16, or another type of single elements"));
            }
        };
        let dims = self.dims();
        let bits = 8 * element.bytes();
        if self.nb.is_none() && self.view_offs.is_none() {
            return Layout::row_major(&dims, bits);
        }
        let bytes = u64::from(element.bytes());
        let Some(nb) = self.nb.clone().or_else(|| self.packed()) else { return Err(too_large()) };
        let mut strides = Vec::with_capacity(dims.len());
        for (number, (&stride, &size)) in nb.iter().zip(&self.ne).enumerate() {
            // A dimension of one element takes no step, and ggml writes anything there.
            let is_used = size > 1 && !self.ne.contains(&0);
            if is_used && !stride.is_multiple_of(bytes) {
                return Err(Error::new(format!("nb[{number}] is {stride} for elements of {bytes} bytes"))
                    .field("nb")
                    .rule("strides of ggml count bytes, and elements lie whole elements apart")
                    .accepts(format!("a multiple of {bytes}")));
            }
            let stride = i64::try_from(stride / bytes).map_err(|_| too_large())?;
            strides.push(if is_used { stride } else { 0 });
        }
        strides.reverse();
        let offset = self.view_offs.unwrap_or(0);
        if !offset.is_multiple_of(bytes) {
            return Err(Error::new(format!("view_offs is {offset} for elements of {bytes} bytes"))
                .field("view_offs")
                .rule("it counts bytes, and places are whole elements")
                .accepts(format!("a multiple of {bytes}")));
        }
        Layout::strided(&dims, bits, &strides, Some(offset / bytes), None)
    }

    /// The bytes from the first to the last, as `ggml_nbytes` counts them.
    pub(super) fn bytes(&self) -> Option<u64> {
        if self.ne.contains(&0) {
            return Some(0);
        }
        let (elements, _) = self.kind.unit();
        let nb = self.nb.clone().or_else(|| self.packed())?;
        let row = match self.kind {
            Type::Element(element) => {
                nb[0].checked_mul(self.ne[0] - 1)?.checked_add(element.bytes().into())?
            }
            Type::Blocks(_) => nb[0].checked_mul(self.ne[0] / elements)?,
        };
        let mut outer = nb.iter().zip(&self.ne).skip(1);
        outer.try_fold(row, |sum, (&stride, &size)| sum.checked_add(stride.checked_mul(size - 1)?))
    }
}

fn too_large() -> Error {
    Error::new("the strides overflow 63 bits")
        .of_kind(ErrorKind::Overflow)
        .field("nb")
        .accepts("smaller strides")
}

/// `type = f32, ne = [5, 3], nb = [4, 20]`
impl fmt::Display for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "type = {}, ne = {}", self.kind.name(), list(&self.ne))?;
        if let Some(nb) = &self.nb {
            write!(f, ", nb = {}", list(nb))?;
        }
        match self.view_offs {
            None => Ok(()),
            Some(offset) => write!(f, ", view_offs = {offset}"),
        }
    }
}

/// `[5, 3]`
pub(super) fn list(numbers: &[u64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
    format!("[{}]", numbers.join(", "))
}
