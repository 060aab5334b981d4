//! Composed layouts: a swizzle or a layout after a layout.

use super::layout::Layout;
use super::swizzle::Swizzle;
use super::tuple::{IntTuple, Leaf};
use crate::error::{Error, ErrorKind, Result};

/// `A o offset o B`: coordinate c is at A(offset + B(c)). With the identity and offset 0 it is the layout B alone.
///
/// Operations of the algebra work on B, by [`Composed::with`], as in CuTe.
///
/// ```
/// use tilework::cute::Composed;
/// let swizzled = Composed::parse("Sw<1,4,3> o _2 o (_32):(_32)")?;
/// assert_eq!(swizzled.to_string(), "S<1,4,3> o 2 o (32):(32)");
/// assert_eq!(swizzled.eval(&6.into())?.as_int(), Some(210)); // 2 + 6 · 32 = 194, with bit 7 of it into bit 4
/// assert_eq!(swizzled.with(|b| b.coalesce())?.to_string(), "S<1,4,3> o 2 o 32:32");
/// # Ok::<(), tilework::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Composed {
    function: Function,
    offset: IntTuple,
    layout: Layout,
}

/// What comes after the layout of a [`Composed`]: CuTe's C++ calls it A, and the Python DSL `inner`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Function {
    /// An xor of bits.
    Swizzle(Swizzle),
    /// A layout, which takes what the other gives as its coordinate.
    Layout(Layout),
}

impl From<Layout> for Composed {
    fn from(layout: Layout) -> Composed {
        Composed { function: Function::Swizzle(Swizzle::IDENTITY), offset: 0.into(), layout }
    }
}

impl Composed {
    /// A composition.
    ///
    /// # Errors
    /// An offset that has other values than numbers, and one that is a coordinate where the function takes offsets.
    pub fn new(function: Function, offset: IntTuple, layout: Layout) -> Result<Composed> {
        if !offset.has_only(|leaf| matches!(leaf, Leaf::Int(_) | Leaf::Dynamic(_))) {
            return Err(Error::new(format!("expects an integer offset, but got {offset}"))
                .field("offset")
                .accepts("0, or a coordinate such as (0,0)"));
        }
        if let Function::Swizzle(swizzle) = &function {
            if layout.stride().has_basis() && !swizzle.is_identity() {
                return Err(Error::new(format!("expects integer strides after a swizzle, but got {layout}"))
                    .of_kind(ErrorKind::Mismatch)
                    .field("stride")
                    .rule("a swizzle changes the bits of an offset, and scaled bases make coordinates"));
            }
            if offset.is_tuple() && !layout.stride().has_basis() {
                return Err(Error::new(format!("expects an integer offset, but got {offset}"))
                    .of_kind(ErrorKind::Mismatch)
                    .field("offset")
                    .rule("integer strides make offsets, to which a number is added")
                    .accepts("an integer"));
            }
        }
        Ok(Composed { function, offset, layout })
    }

    /// What comes after the layout.
    pub fn function(&self) -> &Function {
        &self.function
    }

    /// What is added to what the layout gives.
    pub fn offset(&self) -> &IntTuple {
        &self.offset
    }

    /// The layout, whose shape is the shape of the whole: CuTe's C++ calls it B, and the Python DSL `outer`.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Whether it is nothing but its layout: B is 0, and so is the offset.
    pub fn is_plain(&self) -> bool {
        self.offset.as_int() == Some(0)
            && matches!(&self.function, Function::Swizzle(swizzle) if swizzle.is_identity())
    }

    /// Whether something is known at run time only.
    pub fn is_dynamic(&self) -> bool {
        let function = matches!(&self.function, Function::Layout(layout) if layout.is_dynamic());
        function || self.offset.is_dynamic() || self.layout.is_dynamic()
    }

    /// The same function and offset after another layout, which is made of this one's.
    ///
    /// # Errors
    /// Those of making it.
    pub fn with(&self, change: impl FnOnce(&Layout) -> Result<Layout>) -> Result<Composed> {
        Composed::new(self.function.clone(), self.offset.clone(), change(&self.layout)?)
    }

    /// Where a coordinate is.
    ///
    /// # Errors
    /// A coordinate that does not fit, something that is known at run time only, and offsets below 0 under a swizzle.
    pub fn eval(&self, coord: &IntTuple) -> Result<IntTuple> {
        let place = self.layout.eval(coord)?.plus(&self.offset)?;
        match &self.function {
            Function::Layout(layout) => layout.eval(&place),
            Function::Swizzle(swizzle) if swizzle.is_identity() => Ok(place),
            Function::Swizzle(swizzle) => {
                let offset = place.as_int().and_then(|offset| u64::try_from(offset).ok());
                let offset = offset.ok_or_else(|| {
                    Error::new(format!("{swizzle} of {place}"))
                        .field("offset")
                        .rule("a swizzle changes the bits of an offset of 0 or more")
                })?;
                // A swizzle changes the lowest 32 bits alone, so this is below 2^63 again.
                Ok((swizzle.apply(offset) as i64).into())
            }
        }
    }
}
