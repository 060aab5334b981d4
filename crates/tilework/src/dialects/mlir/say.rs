//! Layouts as types: what MLIR people would write for them.
//!
//! ```text
//! memref<3x5xf32>                        row-major
//! memref<3x5xf32, strided<[8, 1]>>       strides, up to the last element
//! memref<3x5xf32, affine_map<…>>         the axes as results, where their strides are those of a row-major array of larger
//!                                        sizes, which `mod` says; else one result, the offset
//! ```
//!
//! What is made is lowered again and compared.

use super::affine::AffineMap;
use super::element::ElementType;
use super::value::{Arrangement, Kind, Type};
use crate::dialect::Dim;
use crate::dialect::affine::{axes_of_dims, axes_of_parts, offset, radix};
use crate::element::Element;
use crate::error::{Error, Result, counted};
use crate::layout::Layout;
use crate::layout::strided::Strided;

impl Type {
    /// The `memref` that has this layout.
    ///
    /// ```
    /// use tilework::mlir::Type;
    /// use tilework::{Element, xla::Shape};
    /// let shape = Shape::parse("f32[10,200]{1,0:T(8,128)}")?;
    /// let memory = Type::of_layout(&shape.as_array().unwrap().lower()?, Element::F32)?;
    /// let tiles = "affine_map<(d0, d1) -> (d0 floordiv 8, d1 floordiv 128, d0 mod 8, d1 mod 128)>";
    /// assert_eq!(memory.to_string(), format!("memref<10x200xf32, {tiles}>"));
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Elements that do not have whole bytes of their own, padding that neither strides nor a map can say, or a function
    /// that affine maps here cannot (one that uses a dimension twice).
    pub fn of_layout(layout: &Layout, element: Element) -> Result<Type> {
        layout.require_no_swizzle()?;
        let element = ElementType::of_layout(layout, element, "memref")?;
        if layout.rank() > super::MAX_DIMS {
            return Err(Error::new(counted(layout.rank() as u64, "dimension"))
                .field("dimensions")
                .accepts(format!("up to {}", super::MAX_DIMS)));
        }
        let dims = layout.dims().iter().map(|&size| Dim::Static(size)).collect();
        let plain =
            Type { kind: Kind::Memref, dims, element, arrangement: Arrangement::RowMajor, space: None };
        let mut why = None;
        for arrangement in candidates(layout) {
            let found = Type { arrangement, ..plain.clone() };
            match found.lower() {
                Ok(own) if own.same_buffer(layout).is_yes() => return Ok(found),
                Ok(own) if own.size() != layout.size() => {
                    why = Some(format!(
                        "{} elements are allocated, but a memref with these places has {}",
                        layout.size(),
                        own.size()
                    ));
                }
                Ok(_) => {}
                Err(error) => why = why.or(Some(error.found().to_owned())),
            }
        }
        Err(Error::new(why.unwrap_or_else(|| "the places are none of an affine map that can be read back".to_owned()))
            .field("layout")
            .rule("a memref ends with its last element, or with the last place that the results of its map can reach")
            .accepts("a layout without padding before or behind these"))
    }
}

/// What could say a layout, the plainest first.
fn candidates(layout: &Layout) -> Vec<Arrangement> {
    let mut candidates = vec![Arrangement::RowMajor];
    if let Ok(Strided { first, strides, .. }) = layout.to_strides() {
        let offset = i64::try_from(first).ok();
        let strides = strides.into_iter().zip(layout.dims());
        // A dimension of one element takes no step; whatever is written for it must not be 0.
        let strides = strides.map(|(stride, &size)| Some(if size <= 1 { 1 } else { stride }));
        candidates.push(Arrangement::Strided { strides: strides.collect(), offset });
    }
    let map = |results| Arrangement::Map(AffineMap { dims: layout.rank(), symbols: 0, results });
    candidates.extend(axes_of_dims(layout).and_then(|axes| radix(layout.size(), axes)).map(map));
    if let Some(axes) = axes_of_parts(layout) {
        let offset = offset(layout, &axes);
        candidates.extend(radix(layout.size(), axes).map(map));
        candidates.extend(offset.map(|offset| map(vec![offset])));
    }
    candidates
}
