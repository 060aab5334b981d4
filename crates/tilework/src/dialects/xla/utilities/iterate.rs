//! Visiting the indices of an array in the order of memory: XLA's `ShapeUtil::ForEachIndex`.

use std::ops::ControlFlow;

use crate::error::{Error, Result, counted};
use crate::xla::value::shape::ArrayShape;

impl ArrayShape {
    /// XLA's `ShapeUtil::ForEachIndex`: visits `base`, `base + incr`, … below `base + count`, the most minor dimension
    /// of the layout fastest.
    ///
    /// As in XLA, the first call is always for `base`: a count of 0 keeps its dimension at the base, and an array
    /// without dimensions gets one call with an empty index. If any size of the array is 0 there are no calls. The
    /// indices may pass the sizes, which are not looked at otherwise. An increment of 0 keeps its dimension at the base
    /// too, where XLA would visit the same index for ever.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    /// use tilework::{Element, xla::{ArrayShape, Layout}};
    /// let shape = ArrayShape::new(Element::F32, [2, 2u64])?.with_layout(Layout::new([0, 1])?)?;
    /// let mut seen = Vec::new();
    /// let end = shape.for_each_index(&[0, 0], &[2, 2], &[1, 1], |index| {
    ///     seen.push(index.to_vec());
    ///     if seen.len() < 3 { ControlFlow::Continue(()) } else { ControlFlow::Break("enough") }
    /// })?;
    /// assert_eq!(seen, [[0, 0], [1, 0], [0, 1]]);
    /// assert_eq!(end, ControlFlow::Break("enough"));
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Lists of another length than the rank, no layout, a window that ends past 63 bits. A visitor's own error is what
    /// it breaks with.
    pub fn for_each_index<B>(
        &self,
        base: &[u64],
        count: &[u64],
        incr: &[u64],
        mut visitor: impl FnMut(&[u64]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>> {
        for (name, list) in [("base", base), ("count", count), ("incr", incr)] {
            if list.len() != self.rank() {
                return Err(Error::new(format!(
                    "{} for {}",
                    counted(list.len() as u64, "number"),
                    counted(self.rank() as u64, "dimension")
                ))
                .field(name)
                .rule("every dimension has a base, a count and an increment"));
            }
        }
        let order = self.require_layout()?.minor_to_major();
        let ends: Vec<u64> =
            base.iter().zip(count).map(|(&base, &count)| end(base, count)).collect::<Result<_>>()?;
        if self.is_zero_element_array() {
            return Ok(ControlFlow::Continue(()));
        }
        let mut index = base.to_vec();
        loop {
            if let ControlFlow::Break(value) = visitor(&index) {
                return Ok(ControlFlow::Break(value));
            }
            let steps = order.iter().position(|&dim| match index[dim].checked_add(incr[dim]) {
                Some(next) if incr[dim] > 0 && next < ends[dim] => {
                    index[dim] = next;
                    true
                }
                _ => {
                    index[dim] = base[dim];
                    false
                }
            });
            if steps.is_none() {
                return Ok(ControlFlow::Continue(()));
            }
        }
    }

    /// Visits every index of the array in the order of memory; see [`ArrayShape::for_each_index`].
    ///
    /// # Errors
    /// No layout, an unbounded dimension.
    pub fn for_each_element<B>(
        &self,
        visitor: impl FnMut(&[u64]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>> {
        let (zeros, ones) = (vec![0; self.rank()], vec![1; self.rank()]);
        let size =
            |dim: usize| self.dims()[dim].bound().ok_or_else(|| crate::xla::utilities::make::unbounded(dim));
        let sizes: Vec<u64> = (0..self.rank()).map(size).collect::<Result<_>>()?;
        self.for_each_index(&zeros, &sizes, &ones, visitor)
    }
}

fn end(base: u64, count: u64) -> Result<u64> {
    base.checked_add(count).filter(|&end| end <= i64::MAX as u64).ok_or_else(|| {
        Error::new(format!("base {base} and count {count}"))
            .field("count")
            .rule("the window ends at 9223372036854775807 or before")
    })
}
