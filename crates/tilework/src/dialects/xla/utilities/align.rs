//! How the dimensions of a reshape correspond: common factors, dimensions left alone, and XLA's `AlignLayouts`.
//!
//! A reshape keeps the row-major order of the elements, so both lists of sizes have the same product. Cutting both
//! lists wherever the products of what stands before are equal gives groups that correspond: `[7,9,2,15]` and
//! `[63,6,5]` correspond as `[7,9]` with `[63]` and `[2,15]` with `[6,5]`. Everything here follows from those groups.

use std::iter::zip;

use crate::error::{Error, Result};
use crate::xla::utilities::index::product;
use crate::xla::utilities::make::unbounded;
use crate::xla::value::layout::Layout;
use crate::xla::value::shape::{ArrayShape, Dim};

/// XLA's `CommonFactors`: where two lists of sizes of equal product can be cut into groups of equal product.
///
/// The cuts are pairs of positions, from `(0, 0)` to `(a.len(), b.len())`, as fine as possible. A size of 1 that has no
/// partner makes a group with nothing on the other side. From the first difference on, lists with a 0 make one group.
///
/// ```
/// use tilework::xla::common_factors;
/// assert_eq!(common_factors(&[7, 9, 2, 15], &[63, 6, 5])?, [(0, 0), (2, 1), (4, 3)]);
/// assert_eq!(common_factors(&[], &[1])?, [(0, 0), (0, 1)]);
/// # Ok::<(), tilework::Error>(())
/// ```
///
/// # Errors
/// Different products, where XLA aborts, or a product above `i64::MAX`.
pub fn common_factors(a: &[u64], b: &[u64]) -> Result<Vec<(usize, usize)>> {
    let (all_of_a, all_of_b) = (product(a.iter().copied()), product(b.iter().copied()));
    if all_of_a.is_none() || all_of_a != all_of_b {
        let words =
            |all: Option<u64>| all.map_or("more than 63 bits can count".to_owned(), |n| n.to_string());
        return Err(Error::new(format!("sizes with products {} and {}", words(all_of_a), words(all_of_b)))
            .field("dimensions")
            .rule("a reshape keeps the number of elements")
            .accepts("two lists of sizes with the same product, at most 9223372036854775807"));
    }
    let end = (a.len(), b.len());
    let same = zip(a, b).take_while(|(size_a, size_b)| size_a == size_b).count();
    let mut cuts: Vec<(usize, usize)> = (0..same).map(|number| (number, number)).collect();
    if (same, same) == end {
        cuts.push(end);
        return Ok(cuts);
    }
    if all_of_a == Some(0) {
        // The sizes before a 0 say nothing about those behind it. If these differ, equal sizes in front were chance;
        // a product that cannot be counted is taken to differ.
        let (rest_of_a, rest_of_b) = (product(a[same..].iter().copied()), product(b[same..].iter().copied()));
        if rest_of_a.is_none() || rest_of_a != rest_of_b {
            return Ok(vec![(0, 0), end]);
        }
        if rest_of_a == Some(0) {
            cuts.extend([(same, same), end]);
            return Ok(cuts);
        }
    }
    let rest = crate::layout::view::common_factors(&a[same..], &b[same..]);
    cuts.extend(rest.into_iter().map(|(i, j)| (same + i, same + j)));
    Ok(cuts)
}

/// What [`ArrayShape::inserted_or_deleted_1_sized_dimensions`] found: XLA's `ShapeEqualityDescriptor`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InsertedOrDeleted {
    /// Dimensions of the shape before that the shape after has not.
    pub deleted: Vec<usize>,
    /// Dimensions of the shape after that the shape before has not.
    pub inserted: Vec<usize>,
}

impl ArrayShape {
    /// XLA's `ShapeUtil::DimensionsUnmodifiedByReshape`: pairs of a dimension here and one of `output` that are the same
    /// dimension with as many elements before it.
    ///
    /// ```
    /// use tilework::{Element, xla::ArrayShape};
    /// let input = ArrayShape::new(Element::F32, [7, 9, 2, 15, 4u64])?;
    /// let output = ArrayShape::new(Element::F32, [63, 6, 5, 4u64])?;
    /// assert_eq!(input.dimensions_unmodified_by_reshape(&output)?, [(4, 3)]);
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Different numbers of elements, or an unbounded dimension.
    pub fn dimensions_unmodified_by_reshape(&self, output: &ArrayShape) -> Result<Vec<(usize, usize)>> {
        let cuts = common_factors(&self.bounds()?, &output.bounds()?)?;
        let pairs = cuts.windows(2).filter(|cut| cut[1].0 - cut[0].0 == 1 && cut[1].1 - cut[0].1 == 1);
        Ok(pairs.map(|cut| cut[0]).collect())
    }

    /// XLA's `ShapeUtil::ReshapeLeavesDimensionsUnmodified`: the dimensions of `output` that these ones become, or none
    /// if the reshape changes one of them or they are not in ascending order.
    ///
    /// # Errors
    /// See [`ArrayShape::dimensions_unmodified_by_reshape`].
    pub fn reshape_leaves_dimensions_unmodified(
        &self,
        output: &ArrayShape,
        input_dims: &[usize],
    ) -> Result<Option<Vec<usize>>> {
        let unmodified = self.dimensions_unmodified_by_reshape(output)?;
        if !input_dims.is_sorted() {
            return Ok(None);
        }
        let find = |dim: &usize| unmodified.binary_search_by_key(dim, |pair| pair.0).ok();
        Ok(input_dims.iter().map(|dim| find(dim).map(|at| unmodified[at].1)).collect())
    }

    /// XLA's `ShapeUtil::InsertedOrDeleted1SizedDimensions`: which dimensions of size 1 the shapes differ by, or none
    /// if they differ by more.
    ///
    /// As in XLA, a dimension of size 0 passes too: `f32[0]` and `f32[0,0]` differ by inserted dimensions.
    ///
    /// # Errors
    /// See [`ArrayShape::dimensions_unmodified_by_reshape`].
    pub fn inserted_or_deleted_1_sized_dimensions(
        &self,
        output: &ArrayShape,
    ) -> Result<Option<InsertedOrDeleted>> {
        let unmodified = self.dimensions_unmodified_by_reshape(output)?;
        let (mut before, mut after) = (vec![false; self.rank()], vec![false; output.rank()]);
        for (input_dim, output_dim) in unmodified {
            (before[input_dim], after[output_dim]) = (true, true);
        }
        let (deleted, inserted) = (modified(&before), modified(&after));
        let small = |dims: &[Dim], numbers: &[usize]| {
            numbers.iter().all(|&number| dims[number].bound().is_some_and(|size| size <= 1))
        };
        let only_small = small(self.dims(), &deleted) && small(output.dims(), &inserted);
        Ok(only_small.then_some(InsertedOrDeleted { deleted, inserted }))
    }

    /// XLA's `ShapeUtil::AlignLayouts`: `output` with the dimension order that makes the reshape from this shape a
    /// bitcast, or none if no order does.
    ///
    /// Like XLA it looks at dimension orders only: tiles, `E` and `S` of this shape are ignored, and the result has
    /// none. Dimensions of size 1 can stand anywhere; they become the most major ones, in descending order. The result
    /// is static unless either shape has a dimension of size 1, another habit of XLA's. Of arrays without elements any
    /// order is a bitcast, but none is given where the order above does not exist. Padded dimensions have no answer.
    ///
    /// ```
    /// use tilework::{Element, xla::{ArrayShape, Layout}};
    /// let input = ArrayShape::new(Element::F32, [3, 8, 5u64])?.with_layout(Layout::new([1, 0, 2])?)?;
    /// let output = ArrayShape::new(Element::F32, [4, 3, 2, 5u64])?;
    /// let aligned = input.align_layouts(&output)?.unwrap();
    /// assert_eq!(aligned.layout().unwrap().minor_to_major(), [2, 1, 0, 3]);
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Different element types or numbers of elements, where XLA aborts; no layout here, free strides, an unbounded
    /// dimension.
    pub fn align_layouts(&self, output: &ArrayShape) -> Result<Option<ArrayShape>> {
        if self.element_type() != output.element_type() {
            let (from, to) = (self.element_type(), output.element_type());
            return Err(Error::new(format!("element types {from} and {to}"))
                .field("element type")
                .rule("a bitcast that is a reshape keeps the element type"));
        }
        let (input_sizes, output_sizes) = (self.bounds()?, output.bounds()?);
        let (input_dims, output_dims) = (not_one(&input_sizes), not_one(&output_sizes));
        let pick = |sizes: &[u64], dims: &[usize]| dims.iter().map(|&dim| sizes[dim]).collect::<Vec<u64>>();
        let cuts = common_factors(&pick(&input_sizes, &input_dims), &pick(&output_sizes, &output_dims))?;
        let order: Vec<usize> =
            self.dimension_order()?.iter().copied().filter(|&dim| input_sizes[dim] != 1).collect();
        if self.has_padded_dimensions() {
            return Ok(None);
        }

        let mut group = vec![0; self.rank()];
        for (number, cut) in cuts.windows(2).enumerate() {
            input_dims[cut[0].0..cut[1].0].iter().for_each(|&dim| group[dim] = number);
        }
        let mut aligned = Vec::with_capacity(output.rank());
        let mut rest = order.as_slice();
        while let Some(&dim) = rest.first() {
            // A group stands whole and row-major in memory, or no order of the other side gives the same places.
            let (from, to) = (cuts[group[dim]], cuts[group[dim] + 1]);
            let members = &input_dims[from.0..to.0];
            if rest.len() < members.len() || !zip(rest, members.iter().rev()).all(|(a, b)| a == b) {
                return Ok(None);
            }
            aligned.extend(output_dims[from.1..to.1].iter().rev());
            rest = &rest[members.len()..];
        }
        aligned.extend((0..output.rank()).rev().filter(|&dim| output_sizes[dim] == 1));
        let layout = Some(Layout::new(aligned)?);
        if input_sizes.contains(&1) || output_sizes.contains(&1) {
            return ArrayShape::of(output.element_type(), output.dims().iter().copied(), layout).map(Some);
        }
        ArrayShape::of(output.element_type(), output_sizes, layout).map(Some)
    }

    /// The sizes, with every bounded dimension at its bound.
    ///
    /// # Errors
    /// An unbounded dimension.
    pub(crate) fn bounds(&self) -> Result<Vec<u64>> {
        let sizes = self.dims().iter().enumerate();
        sizes.map(|(number, dim)| dim.bound().ok_or_else(|| unbounded(number))).collect()
    }
}

fn modified(kept: &[bool]) -> Vec<usize> {
    (0..kept.len()).filter(|&dim| !kept[dim]).collect()
}

fn not_one(sizes: &[u64]) -> Vec<usize> {
    (0..sizes.len()).filter(|&dim| sizes[dim] != 1).collect()
}

#[cfg(test)]
mod tests {
    use super::common_factors;

    #[test]
    fn sizes_with_a_zero_are_cut_as_far_as_they_are_equal() {
        assert_eq!(common_factors(&[0, 10, 3], &[0, 3]).unwrap(), [(0, 0), (3, 2)]);
        assert_eq!(common_factors(&[2, 0, 3], &[2, 5, 0]).unwrap(), [(0, 0), (1, 1), (3, 3)]);
        assert_eq!(common_factors(&[0, 6], &[0, 2, 3]).unwrap(), [(0, 0), (1, 1), (2, 3)]);
        assert_eq!(common_factors(&[0], &[0, 0]).unwrap(), [(0, 0), (1, 2)]);
        let huge = 1 << 40;
        assert_eq!(common_factors(&[0, huge, huge], &[0, huge * 2, huge]).unwrap(), [(0, 0), (3, 3)]);
    }

    #[test]
    fn sizes_of_different_products_have_no_common_factors() {
        for (a, b) in
            [(&[6][..], &[5][..]), (&[], &[2]), (&[0], &[1]), (&[1 << 40, 1 << 40], &[1 << 40, 1 << 40])]
        {
            assert!(common_factors(a, b).is_err(), "{a:?} {b:?}");
        }
    }
}
