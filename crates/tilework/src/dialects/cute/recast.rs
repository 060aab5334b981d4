//! The same bytes as elements of another width.

use super::composed::{Composed, Function};
use super::count::{ceil_div, times};
use super::layout::Layout;
use super::tuple::{IntTuple, Leaf};
use crate::arithmetic::gcd;
use crate::error::{Error, ErrorKind, Result};

impl Layout {
    /// The layout of elements that are `factor` times as wide: neighbours come together, other strides are divided.
    ///
    /// # Errors
    /// A factor below 1, scaled bases, and something that is known at run time only.
    pub fn upcast(&self, factor: i64) -> Result<Layout> {
        self.cast(factor, &|size, stride| {
            let step =
                stride.checked_abs().ok_or_else(|| Error::new("a stride overflows").field("stride"))?;
            let size = ceil_div(size, ceil_div(factor, step)?)?;
            Ok((size, stride.signum() * ceil_div(step, factor)?))
        })
    }

    /// The layout of elements that are narrower by `factor`: neighbours multiply, and so do other strides.
    ///
    /// # Errors
    /// A factor below 1, scaled bases, and something that is known at run time only.
    pub fn downcast(&self, factor: i64) -> Result<Layout> {
        self.cast(factor, &|size, stride| match stride {
            1 | -1 => Ok((times(size, factor)?, stride)),
            stride => Ok((size, times(stride, factor)?)),
        })
    }

    fn cast(&self, factor: i64, change: &dyn Fn(i64, i64) -> Result<(i64, i64)>) -> Result<Layout> {
        check_factor(factor)?;
        if self.stride().has_basis() {
            return Err(Error::new(format!("{self} with elements of another width"))
                .of_kind(ErrorKind::Unsupported)
                .field("stride")
                .rule("coordinates have no width"));
        }
        let new = |size: &Leaf, stride: &Leaf| match stride {
            Leaf::Int(0) => Ok((IntTuple::Leaf(size.clone()), 0.into())),
            stride => {
                let (size, stride) = change(size.int()?, stride.int()?)?;
                Ok::<(IntTuple, IntTuple), Error>((size.into(), stride.into()))
            }
        };
        let shape = self.shape().zip_map(self.stride(), &mut |size, stride| Ok(new(size, stride)?.0))?;
        let stride = self.shape().zip_map(self.stride(), &mut |size, stride| Ok(new(size, stride)?.1))?;
        Layout::new(shape, stride)
    }

    /// The layout of elements of `new` bits in the bytes of this one, whose elements have `old` bits.
    ///
    /// ```
    /// use tilework::cute::Layout;
    /// let halves = Layout::parse("(8,4):(1,8)")?;
    /// assert_eq!(halves.recast(8, 32)?.to_string(), "(32,4):(1,32)");
    /// assert_eq!(halves.recast(64, 16)?.to_string(), "(2,4):(1,2)");
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// See [`Layout::upcast`].
    pub fn recast(&self, new: u32, old: u32) -> Result<Layout> {
        let [up, down] = factors(new, old)?;
        match (up, down) {
            (1, 1) => Ok(self.clone()),
            (up, 1) => self.upcast(up),
            (1, down) => self.downcast(down),
            (up, down) => self.upcast(up)?.downcast(down),
        }
    }

    /// The widest factor by which [`Layout::upcast`] is exact: what divides the run of neighbours and every other stride.
    ///
    /// ```
    /// use tilework::cute::Layout;
    /// let widest = |text: &str| Layout::parse(text)?.max_alignment();
    /// assert_eq!([widest("(8,16):(1,4)")?, widest("(8,16):(1,6)")?, widest("(8,16):(1,8)")?], [4, 2, 128]);
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Something that is known at run time only.
    pub fn max_alignment(&self) -> Result<i64> {
        if self.stride().has_basis() {
            return Ok(1);
        }
        let flat = self.coalesce()?;
        let vector = flat.right_inverse()?;
        let divided = flat.logical_divide(&vector.into())?;
        let [size, rest] = [divided.mode(0)?.size()?, divided.mode(1)?.stride().gcd()?];
        i64::try_from(gcd(size.unsigned_abs(), rest.unsigned_abs()))
            .map_err(|_| Error::new("an alignment overflows").field("layout"))
    }
}

impl Composed {
    /// The same of elements of `new` bits, where these have `old` bits.
    ///
    /// ```
    /// use tilework::cute::Composed;
    /// let bytes = Composed::parse("S<3,5,4> o 0 o (32,4):(1,32)")?;
    /// assert_eq!(bytes.recast(32, 8)?.to_string(), "S<3,3,4> o 0 o (8,4):(1,8)");
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// See [`Layout::recast`] and [`Swizzle::recast`](super::Swizzle::recast), and an offset within an element.
    pub fn recast(&self, new: u32, old: u32) -> Result<Composed> {
        let [up, down] = factors(new, old)?;
        if self.is_plain() {
            return self.with(|layout| layout.recast(new, old));
        }
        let offset = self.offset().as_int().ok_or_else(|| {
            Error::new(format!("the offset {} with elements of another width", self.offset()))
                .of_kind(ErrorKind::Unsupported)
                .field("offset")
        })?;
        if offset % up != 0 {
            return Err(Error::new(format!("an offset of {offset} elements of {old} bits"))
                .of_kind(ErrorKind::Unsupported)
                .field("offset")
                .rule(format!("an offset is whole elements of {new} bits")));
        }
        let function = match self.function() {
            Function::Swizzle(swizzle) => Function::Swizzle(swizzle.recast(new, old)?),
            Function::Layout(layout) => Function::Layout(layout.recast(new, old)?),
        };
        Composed::new(function, times(offset / up, down)?.into(), self.layout().recast(new, old)?)
    }
}

fn check_factor(factor: i64) -> Result<()> {
    match factor {
        1.. => Ok(()),
        _ => Err(Error::new(format!("a factor of {factor}")).field("factor").accepts("1 or more")),
    }
}

/// By how much elements get wider, and by how much narrower, without what both have in common.
fn factors(new: u32, old: u32) -> Result<[i64; 2]> {
    if new == 0 || old == 0 {
        return Err(Error::new("elements of 0 bits").field("bits").accepts("1 or more"));
    }
    let common = gcd(new.into(), old.into()) as u32;
    Ok([(new / common).into(), (old / common).into()])
}
