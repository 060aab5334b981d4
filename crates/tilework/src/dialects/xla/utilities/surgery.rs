//! Surgery on shapes: dimensions permuted, deleted, added and moved, the layout following.
//!
//! Where dimensions keep their identity, what the layout says of single dimensions follows them: the dimension order,
//! padded dimensions, free strides and split dimensions. Tiles and the other fields stay as they are, as in XLA, also
//! where a tile then lies on other dimensions than before.

use crate::error::{Error, Result, counted};
use crate::xla::value::dims::check_dimension;
use crate::xla::value::layout::{Dimensions, Layout, SplitConfig, check_permutation};
use crate::xla::value::shape::{ArrayShape, Dim, Shape};

impl Layout {
    /// XLA's `Layout::DeleteDimension`: the layout without this dimension, the higher ones renumbered.
    ///
    /// A split of the dimension goes with it.
    ///
    /// ```
    /// use tilework::xla::Layout;
    /// assert_eq!(Layout::new([2, 0, 1])?.delete_dimension(0)?, Layout::new([1, 0])?);
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// A dimension outside the rank.
    pub fn delete_dimension(&self, dim: usize) -> Result<Layout> {
        check_dimension(dim, self.rank())?;
        let kept: Vec<usize> = (0..self.rank()).filter(|&other| other != dim).collect();
        Ok(self.renumbered(&kept))
    }

    /// XLA's `LayoutUtil::MoveDimToMajor`: the layout with this dimension as the most major one.
    ///
    /// All other fields stay as they are, so tiles and splits then lie on other dimensions.
    ///
    /// # Errors
    /// A dimension outside the rank, or free strides.
    pub fn move_dim_to_major(&self, dim: usize) -> Result<Layout> {
        check_dimension(dim, self.rank())?;
        let others = self.order()?.iter().copied().filter(|&other| other != dim);
        let mut dimensions = self.dimensions();
        dimensions.minor_to_major = others.chain([dim]).collect();
        Ok(self.clone().with_dimensions(dimensions))
    }

    /// What the layout says of single dimensions.
    fn dimensions(&self) -> Dimensions {
        Dimensions {
            minor_to_major: self.minor_to_major().to_vec(),
            split_configs: self.split_configs().to_vec(),
            padded_dimensions: self.padding().map_or(Vec::new(), |padding| padding.padded_dimensions.clone()),
            strides: self.strides().map_or(Vec::new(), |free| free.strides.clone()),
        }
    }

    /// The layout of the same memory when dimension `i` is the one that was `origins[i]`, each at most once.
    fn renumbered(&self, origins: &[usize]) -> Layout {
        let mut number = vec![None; self.rank()];
        origins.iter().enumerate().for_each(|(new, &old)| number[old] = Some(new));
        let old = self.dimensions();
        // Free strides have no order of their own; theirs stands at row-major.
        let minor_to_major: Vec<usize> = match self.strides() {
            Some(_) => (0..origins.len()).rev().collect(),
            None => old.minor_to_major.iter().filter_map(|&dim| number[dim]).collect(),
        };
        let minor = inverse(&minor_to_major);
        let split_configs =
            old.split_configs.into_iter().filter_map(|SplitConfig { dimension, split_indices }| {
                let dim = number[self.major(usize::try_from(dimension).ok()?)]?;
                Some(SplitConfig { dimension: (origins.len() - 1 - minor[dim]) as u64, split_indices })
            });
        let follow_u64 = |old: &[u64]| origins.iter().filter_map(|&dim| old.get(dim).copied()).collect();
        let follow_i64 = |old: &[i64]| origins.iter().filter_map(|&dim| old.get(dim).copied()).collect();
        self.clone().with_dimensions(Dimensions {
            split_configs: split_configs.collect(),
            padded_dimensions: follow_u64(&old.padded_dimensions),
            strides: follow_i64(&old.strides),
            minor_to_major,
        })
    }

    /// The layout with one more dimension of this size, the last in number and the most major or minor in memory.
    fn with_last_dimension(&self, size: u64, most_major: bool) -> Result<Layout> {
        self.order()?;
        let mut dimensions = self.dimensions();
        if most_major {
            dimensions.minor_to_major.push(self.rank());
            // Splits are numbered from the most major dimension.
            dimensions.split_configs.iter_mut().for_each(|config| config.dimension += 1);
        } else {
            dimensions.minor_to_major.insert(0, self.rank());
        }
        dimensions.padded_dimensions.push(size);
        Ok(self.clone().with_dimensions(dimensions))
    }
}

impl ArrayShape {
    /// XLA's `ShapeUtil::PermuteDimensions`: the shape whose dimension `i` is dimension `permutation[i]` of this one, with
    /// the layout that makes this transpose a bitcast.
    ///
    /// The order, padded dimensions, strides and splits follow; all other fields of the layout stay. In the first releases
    /// of TensorFlow the argument meant the inverse permutation.
    ///
    /// ```
    /// use tilework::{Element, xla::{ArrayShape, Layout}};
    /// let shape = ArrayShape::new(Element::F32, [10, 100, 1000u64])?.with_layout(Layout::new([0, 2, 1])?)?;
    /// let permuted = shape.permute_dimensions(&[1, 2, 0])?;
    /// assert_eq!(permuted.dims(), [100.into(), 1000.into(), 10.into()]);
    /// assert_eq!(permuted.layout().unwrap().minor_to_major(), [2, 1, 0]);
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Numbers that are not a permutation of the dimensions.
    pub fn permute_dimensions(&self, permutation: &[usize]) -> Result<ArrayShape> {
        self.check_permutation(permutation)?;
        self.of_dimensions(permutation)
    }

    /// XLA's `ShapeUtil::PermuteDimensionsIgnoringLayout`: the sizes permuted, the layout as it was.
    ///
    /// # Errors
    /// Numbers that are not a permutation of the dimensions, or padded dimensions below the sizes they get.
    pub fn permute_dimensions_ignoring_layout(&self, permutation: &[usize]) -> Result<ArrayShape> {
        self.check_permutation(permutation)?;
        let dims = permutation.iter().map(|&dim| self.dims()[dim]);
        ArrayShape::of(self.element_type(), dims, self.layout().cloned())
    }

    /// XLA's `ShapeUtil::ReorderLogicalDimensions`: the dimensions renumbered, memory as it was.
    ///
    /// That is what XLA's header promises, what its newest code does, and the same as
    /// [`ArrayShape::permute_dimensions`]. For what its code did until then see
    /// [`ArrayShape::reorder_logical_dimensions_by_old_code`].
    ///
    /// # Errors
    /// Numbers that are not a permutation of the dimensions.
    pub fn reorder_logical_dimensions(&self, permutation: &[usize]) -> Result<ArrayShape> {
        self.permute_dimensions(permutation)
    }

    /// XLA's `ShapeUtil::ReorderLogicalDimensions` as its code was for years, also in jaxlib 0.10.2: the dimension order
    /// goes through the permutation and not its inverse, so memory stays only where these are equal.
    ///
    /// # Errors
    /// Numbers that are not a permutation of the dimensions, free strides, or padded dimensions below the sizes they get.
    pub fn reorder_logical_dimensions_by_old_code(&self, permutation: &[usize]) -> Result<ArrayShape> {
        let mut reordered = self.permute_dimensions_ignoring_layout(permutation)?;
        if let Some(layout) = self.layout() {
            let mut dimensions = layout.dimensions();
            dimensions.minor_to_major = layout.order()?.iter().map(|&dim| permutation[dim]).collect();
            reordered = reordered.with_layout(layout.clone().with_dimensions(dimensions))?;
        }
        Ok(reordered)
    }

    /// XLA's `ShapeUtil::MakeShapeWithDescendingLayoutAndSamePhysicalLayout`: the dimensions in the order of memory, so
    /// that the same memory is row-major.
    ///
    /// Tiles, `E`, `L`, `S`, padded dimensions and dynamic sizes stay; `SC`, `M`, `P` and the sparse types are dropped.
    ///
    /// ```
    /// use tilework::{Element, xla::{ArrayShape, Layout}};
    /// let shape = ArrayShape::new(Element::F32, [2, 3, 5u64])?.with_layout(Layout::new([0, 2, 1])?)?;
    /// let physical = shape.make_shape_with_descending_layout_and_same_physical_layout()?;
    /// assert_eq!(physical, ArrayShape::new(Element::F32, [3, 5, 2u64])?);
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// No layout, where XLA aborts, or free strides.
    pub fn make_shape_with_descending_layout_and_same_physical_layout(&self) -> Result<ArrayShape> {
        let major_to_minor: Vec<usize> = self.dimension_order()?.iter().rev().copied().collect();
        let physical = self.of_dimensions(&major_to_minor)?;
        let Some(layout) = physical.layout().cloned() else { return Ok(physical) };
        let layout =
            layout.with_split_configs([])?.with_physical_shape(None).with_sparse_types(None, None)?;
        physical.with_layout(layout.with_dynamic_shape_metadata_prefix_bytes(0)?)
    }

    /// XLA's `ShapeUtil::AppendMajorDimension`: a new dimension of this size, the last in number, the most major in memory.
    ///
    /// # Errors
    /// More bytes than 63 bits can count, or free strides.
    pub fn append_major_dimension(&self, size: u64) -> Result<ArrayShape> {
        self.with_last_dimension(size, true)
    }

    /// XLA's `ShapeUtil::AppendMinorDimension`: a new dimension of this size, the last in number, the most minor in memory.
    ///
    /// # Errors
    /// More bytes than 63 bits can count, or free strides.
    pub fn append_minor_dimension(&self, size: u64) -> Result<ArrayShape> {
        self.with_last_dimension(size, false)
    }

    fn with_last_dimension(&self, size: u64, most_major: bool) -> Result<ArrayShape> {
        let layout = self.layout().map(|layout| layout.with_last_dimension(size, most_major)).transpose()?;
        let dims = self.dims().iter().copied().chain([Dim::Static(size)]);
        ArrayShape::of(self.element_type(), dims, layout)
    }

    /// XLA's `ShapeUtil::PrependMajorDimension`: a new dimension 0 of this size, the most major in memory.
    ///
    /// As in XLA the result is static, and its layout is nothing but the order.
    ///
    /// # Errors
    /// More bytes than 63 bits can count, an unbounded dimension, or free strides.
    pub fn prepend_major_dimension(&self, size: u64) -> Result<ArrayShape> {
        let order = self.layout().map(Layout::order).transpose()?;
        let layout =
            order.map(|order| Layout::new(order.iter().map(|dim| dim + 1).chain([0]))).transpose()?;
        ArrayShape::of(self.element_type(), [size].into_iter().chain(self.bounds()?), layout)
    }

    /// XLA's `ShapeUtil::InsertDimensionsAtIndex`: new dimensions of these sizes before dimension `at`, and in memory next
    /// to it, on its major side. At the end they become the most minor ones.
    ///
    /// As in XLA the result is static, and its layout is nothing but the order.
    ///
    /// # Errors
    /// A place past the rank, more bytes than 63 bits can count, an unbounded dimension, or free strides.
    pub fn insert_dimensions_at_index(&self, at: usize, sizes: &[u64]) -> Result<ArrayShape> {
        let mut dims = self.bounds()?;
        if at > dims.len() {
            return Err(Error::new(format!(
                "new dimensions at {at} of {}",
                counted(dims.len() as u64, "dimension")
            ))
            .field("dimension")
            .rule("new dimensions stand before another one or at the end")
            .accepts(format!("0 to {}", dims.len())));
        }
        let new = (at..at + sizes.len()).rev();
        let mut order = Vec::with_capacity(dims.len() + sizes.len());
        if at == dims.len() {
            order.extend(new.clone());
        }
        for &dim in self.layout().map(Layout::order).transpose()?.unwrap_or_default() {
            order.push(if dim >= at { dim + sizes.len() } else { dim });
            if dim == at {
                order.extend(new.clone());
            }
        }
        dims.splice(at..at, sizes.iter().copied());
        let layout = self.layout().map(|_| Layout::new(order)).transpose()?;
        ArrayShape::of(self.element_type(), dims, layout)
    }

    /// XLA's `ShapeUtil::DeleteDimensions`: the shape without these dimensions, given in any order.
    ///
    /// # Errors
    /// A dimension outside the rank or given twice; see also [`ArrayShape::filter_dimensions`].
    pub fn delete_dimensions(&self, dims: &[usize]) -> Result<ArrayShape> {
        let mut deleted = vec![false; self.rank()];
        for &dim in dims {
            self.check_dimension(dim)?;
            if std::mem::replace(&mut deleted[dim], true) {
                return Err(Error::new(format!("dimension {dim} is deleted twice"))
                    .field("dimensions")
                    .rule("a dimension is named once"));
            }
        }
        self.filter_dimensions(|dim| !deleted[dim])
    }

    /// XLA's `ShapeUtil::FilterDimensions`: the shape with the dimensions for which `keep` says yes.
    ///
    /// # Errors
    /// More bytes than 63 bits can count, once a dimension of size 0 is gone.
    pub fn filter_dimensions(&self, mut keep: impl FnMut(usize) -> bool) -> Result<ArrayShape> {
        let kept: Vec<usize> = (0..self.rank()).filter(|&dim| keep(dim)).collect();
        self.of_dimensions(&kept)
    }

    /// XLA's `ShapeUtil::DropDegenerateDimensions`: the shape without its dimensions of size 1.
    #[must_use]
    pub fn drop_degenerate_dimensions(&self) -> ArrayShape {
        let kept = self.filter_dimensions(|dim| self.dims()[dim].bound() != Some(1));
        kept.unwrap_or_else(|_| self.clone()) // unreachable: the number of elements stays
    }

    /// The shape whose dimension `i` is `origins[i]` of this one.
    fn of_dimensions(&self, origins: &[usize]) -> Result<ArrayShape> {
        let layout = self.layout().map(|layout| layout.renumbered(origins));
        ArrayShape::of(self.element_type(), origins.iter().map(|&dim| self.dims()[dim]), layout)
    }

    fn check_permutation(&self, permutation: &[usize]) -> Result<()> {
        check_rank("permutation", permutation.len(), self.rank())?;
        check_permutation("permutation", permutation)
    }
}

impl Shape {
    /// XLA's `ShapeUtil::MoveDimToMajor`: this dimension is the most major one, in every array of the shape.
    ///
    /// As in XLA, nothing of a layout but its order stays, and an array without a layout counts as row-major.
    ///
    /// # Errors
    /// An array without this dimension, or free strides.
    pub fn move_dim_to_major(mut self, dim: usize) -> Result<Shape> {
        for array in self.arrays_mut() {
            let row_major = Layout::descending(array.rank());
            let moved = array.layout().unwrap_or(&row_major).move_dim_to_major(dim)?;
            let order = Layout::new(moved.minor_to_major().iter().copied())?;
            array.change_layout(|_| Some(order));
        }
        Ok(self)
    }
}

/// Where each number stands in the permutation.
pub(crate) fn inverse(permutation: &[usize]) -> Vec<usize> {
    let mut inverse = vec![0; permutation.len()];
    permutation.iter().enumerate().for_each(|(at, &number)| inverse[number] = at);
    inverse
}

/// Checks that a list about dimensions has as many entries as there are dimensions.
pub(crate) fn check_rank(field: &str, count: usize, rank: usize) -> Result<()> {
    if count == rank {
        return Ok(());
    }
    Err(Error::new(format!("{} for {}", counted(count as u64, "number"), counted(rank as u64, "dimension")))
        .field(field)
        .rule(format!("{field} has one number for each dimension"))
        .accepts(format!("a permutation of {}", counted(rank as u64, "number"))))
}
