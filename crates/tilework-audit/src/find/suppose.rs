//! What would be if arrays lay otherwise than they do.
//!
//! Shapes are held once each, so to suppose another layout is to put it in the place of the one that was read: whatever
//! is concluded afterwards is concluded from it. Sizes and places that a dump says are of the program as it is; a buffer
//! whose layout is supposed has the size that the layout needs, and lives as long as it did.

use std::convert::Infallible;

use tilework::xla::{ArrayShape, Layout, Shape};
use tilework::{Error, Result};

use crate::audit::{Assumed, Audit};
use crate::find::findings::Findings;
use crate::suggest::target::{Target, has_no_tiles};

impl Audit {
    /// Suggests the layouts of this target instead of a TPU's, and supposes its usual tiles for every array read so far
    /// that has none: those of a program that is not compiled yet, or for a machine without tiles.
    ///
    /// Arrays that the target has no usual tiles for stay as they are. The number is that of the shapes that changed.
    ///
    /// ```
    /// use tilework_audit::{Audit, Target};
    /// let mut audit = Audit::new();
    /// audit.read("a.mlir", "%0 = stablehlo.add %a, %b : tensor<2621440x1x2xbf16>".as_bytes())?;
    /// assert_eq!(audit.suppose_target(Target::from_name("tenstorrent")?), 1);
    /// let total = audit.findings(1).programs[0].total;
    /// assert_eq!(total.allocated / total.data, 512);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn suppose_target(&mut self, target: Target) -> usize {
        let laid_out = |array: &ArrayShape| {
            // Tiles are those of the main memory: what is small and elsewhere has none.
            let is_elsewhere = array.layout().is_some_and(|layout| layout.memory_space() != 0);
            let placed =
                (has_no_tiles(array) && !is_elsewhere).then(|| target.place(array).ok()).flatten()?;
            Some(placed.shape).filter(|shape| shape != array)
        };
        let changed = self.store.shapes.replace(|shape| replaced(shape, laid_out));
        self.assumed = Some(Assumed { target: target.clone(), shapes: changed });
        self.target = target;
        changed
    }

    /// Supposes the layout of this array for every array read so far with its element type and its sizes. Where the
    /// layout is of the main memory, each stays in the memory that it is in.
    ///
    /// ```
    /// use tilework::xla::Shape;
    /// use tilework_audit::Audit;
    /// let mut audit = Audit::new();
    /// audit.read("pasted", "it has s32[300000,8]{1,0:T(8,128)}".as_bytes())?;
    /// let instead = Shape::parse("s32[300000,8]{0,1:T(8,128)}")?;
    /// audit.suppose_layout(instead.as_array().unwrap())?;
    /// assert_eq!(audit.findings(1).programs[0].total.allocated, 9_601_024);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// No array that was read has this element type and these sizes, or the layout does not fit it (see
    /// [`ArrayShape::lower`]).
    pub fn suppose_layout(&mut self, instead: &ArrayShape) -> Result<usize> {
        instead.lower()?;
        let is_meant = |array: &ArrayShape| {
            array.element_type() == instead.element_type() && array.dims() == instead.dims()
        };
        let is_there =
            |shape: &Shape| shape.flatten_tuple().iter().any(|part| part.as_array().is_some_and(is_meant));
        if !self.store.shapes.iter().any(is_there) {
            let bare = instead.clone().without_layout();
            return Err(Error::new(format!("no array {bare} in what was read"))
                .accepts("a layout, which stands for the worst array of its rank, or an array that was read, with another layout"));
        }
        let laid_out = |array: &ArrayShape| {
            let instead = is_meant(array).then(|| in_space_of(array, instead)).flatten()?;
            (instead != *array).then_some(instead)
        };
        Ok(self.store.shapes.replace(|shape| replaced(shape, laid_out)))
    }
}

/// The array that is supposed, in the memory of the one that there is.
fn in_space_of(array: &ArrayShape, instead: &ArrayShape) -> Option<ArrayShape> {
    let own = array.layout().map_or(0, Layout::memory_space);
    let layout = instead.layout()?.clone();
    let space = if layout.memory_space() == 0 { own } else { layout.memory_space() };
    instead.clone().with_layout(layout.with_memory_space(space.into()).ok()?).ok()
}

/// A layout that is supposed, as people write it: alone, for the worst array of its rank, or behind an array, for all that
/// have its element type and sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Instead {
    /// A layout alone.
    Layout(Layout),
    /// An array with its layout.
    Array(ArrayShape),
}

impl Instead {
    /// Reads `{0,1:T(8,128)}` or `s32[300000,8]{0,1:T(8,128)}`.
    ///
    /// # Errors
    /// A text that is neither.
    pub fn parse(text: &str) -> Result<Instead> {
        if text.trim_start().starts_with('{') {
            return Layout::parse(text).map(Instead::Layout);
        }
        Instead::of_shape(&Shape::parse(text)?).map_err(|error| error.at(text.len()..text.len()))
    }

    /// The layout of this array.
    ///
    /// # Errors
    /// A shape that is no array with a layout.
    pub fn of_shape(shape: &Shape) -> Result<Instead> {
        match shape.as_array() {
            Some(array) if array.layout().is_some() => Ok(Instead::Array(array.clone())),
            _ => Err(Error::new("no layout").accepts("such as {0,1:T(8,128)}, alone or behind an array")),
        }
    }

    /// The array that is meant.
    ///
    /// ```
    /// use tilework_audit::{Audit, Instead};
    /// let mut audit = Audit::new();
    /// audit.read("pasted", "f32[9,3]{1,0:T(8,128)} and f32[900,3]{1,0:T(8,128)}".as_bytes())?;
    /// let array = Instead::parse("{0,1:T(4,128)}")?.array(&audit.findings(9))?;
    /// assert_eq!(array.to_string(), "f32[900,3]{0,1:T(4,128)}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Nothing that was found has as many dimensions.
    pub fn array(&self, findings: &Findings) -> Result<ArrayShape> {
        match self {
            Instead::Array(array) => Ok(array.clone()),
            Instead::Layout(layout) => {
                let rank = layout.minor_to_major().len();
                let worst = worst_array(findings, rank).ok_or_else(|| {
                    Error::new(format!("no array of {rank} dimensions in what was read"))
                        .accepts("a layout of as many dimensions as some array has")
                })?;
                worst.with_layout(layout.clone())
            }
        }
    }
}

/// The array of this rank whose buffers waste the most, or where none waste anything, the largest.
fn worst_array(findings: &Findings, rank: usize) -> Option<ArrayShape> {
    let shapes = findings.programs.iter().flat_map(|program| {
        let wasting =
            program.shapes.iter().map(|shape| (shape.sum.waste(), shape.sum.allocated, &shape.shape));
        wasting.chain(program.buffers.iter().map(|buffer| (0, buffer.allocated, &buffer.shape)))
    });
    let arrays = shapes.filter_map(|(waste, allocated, shape)| {
        let array = shape.as_array().filter(|array| array.rank() == rank)?;
        Some(((waste, allocated), array))
    });
    // Of equal ones the first.
    let worst = arrays.reduce(|worst, next| if next.0 > worst.0 { next } else { worst });
    worst.map(|(_, array)| array.clone())
}

/// The shape with other arrays in it; none if all stay as they are.
fn replaced(shape: &Shape, change: impl Fn(&ArrayShape) -> Option<ArrayShape>) -> Option<Shape> {
    let (mut shape, mut any) = (shape.clone(), false);
    let Ok(()) = shape.try_for_each_subshape_mut(|_, part| {
        if let Shape::Array(array) | Shape::Buffer(array) = part
            && let Some(other) = change(array)
        {
            (*array, any) = (other, true);
        }
        Ok::<(), Infallible>(())
    });
    any.then_some(shape)
}
