//! Swizzles: places of a buffer exchanged by an xor of bits of the offset.
//!
//! Memory that is read in banks is laid out so that a column of a tile does not fall into one bank: some bits of an
//! offset are flipped where others are set. That is a linear map over bits, and one to one; so a swizzled layout is a
//! plain one and then an exchange of its places:
//!
//! ```text
//! offset(x) = swizzle(base + Σ stride · e(x))
//! ```
//!
//! Everything that is asked of the index (views, sizes, which elements share a place) is asked of the plain layout. What
//! is asked of places goes through the swizzle, here and in few other places: `offset`, `locate`, the walks, comparing
//! (`ask/exchange.rs`) and plans (`plan/exchange.rs`).

use std::fmt;

use smallvec::SmallVec;

use crate::error::{Error, ErrorKind, Result, counted};
use crate::layout::{Layout, check_size};

/// Bits of an offset that a swizzle may use: offsets are below 2^63, and so are sizes rounded up to a block.
const MAX_BITS: u32 = 62;

/// An exchange of places by bits of their offsets: some bits are flipped where others are set.
///
/// ```
/// use tilework::Swizzle;
/// // CuTe's S<3,4,3>: bits 4 to 6 are flipped where bits 7 to 9 are set.
/// let swizzle = Swizzle::new(3, 4, 3)?;
/// assert_eq!(swizzle.apply(0x80), 0x90);
/// assert_eq!(swizzle.invert(0x90), 0x80);
/// assert_eq!(swizzle.to_string(), "S<3,4,3>");
/// # Ok::<(), tilework::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Swizzle {
    flips: Flips,
    /// The way back.
    back: Flips,
}

/// Bits, ascending, and what is flipped where each is set.
type Flips = SmallVec<[(u32, u64); 4]>;

impl Swizzle {
    /// CuTe's `S<bits, base, shift>`: `bits` bits are flipped where those `shift` further up are set. The lower of the two
    /// groups begins at bit `base`; with a negative shift the upper group is flipped where the lower is set.
    ///
    /// # Errors
    /// Groups that overlap, or bits beyond the 62 that offsets of a buffer can have.
    pub fn new(bits: u32, base: u32, shift: i32) -> Result<Swizzle> {
        if shift.unsigned_abs() < bits {
            let flipped = counted(u64::from(bits), "bit");
            return Err(Error::new(format!("{flipped} flipped by those {shift} further"))
                .field("swizzle")
                .rule("the bits that are flipped are others than those that flip them")
                .accepts(format!("a shift of {bits} or more, or of -{bits} or less")));
        }
        if bits == 0 {
            return Swizzle::flipping([]); // whatever the other two are
        }
        let top = u64::from(bits) + u64::from(base) + u64::from(shift.unsigned_abs());
        if top > u64::from(MAX_BITS) {
            return Err(too_high(top));
        }
        let source = base + shift.max(0).unsigned_abs();
        let target = base + shift.min(0).unsigned_abs();
        Swizzle::flipping((0..bits).map(|bit| (source + bit, 1 << (target + bit))))
    }

    /// Any exchange that is linear over bits: each of these bits, where it is set, flips these others, or itself.
    ///
    /// # Errors
    /// Bits beyond the 62 that offsets of a buffer can have, and flips by which two offsets fall together.
    pub fn flipping(flips: impl IntoIterator<Item = (u32, u64)>) -> Result<Swizzle> {
        let mut all = [0_u64; MAX_BITS as usize];
        let mut bits = 0;
        for (bit, flipped) in flips {
            let top = bit.saturating_add(1).max(u64::BITS - flipped.leading_zeros());
            let Some(flips) = all.get_mut(bit as usize).filter(|_| top <= MAX_BITS) else {
                return Err(too_high(top.into()));
            };
            *flips ^= flipped;
            bits = bits.max(top);
        }
        // A column of the matrix is where a bit goes by itself.
        let columns: Vec<u64> = (0..bits).map(|bit| all[bit as usize] ^ 1 << bit).collect();
        let kept = |columns: &[u64]| {
            let flips = (0..).zip(columns).map(|(bit, column)| (bit, column ^ 1 << bit));
            flips.filter(|&(_, flips)| flips != 0).collect()
        };
        let Some(inverse) = inverse(&columns) else {
            return Err(Error::new("two offsets would fall together")
                .field("swizzle")
                .rule("a swizzle exchanges places, so different offsets stay different")
                .accepts("flips that can be undone"));
        };
        Ok(Swizzle { flips: kept(&columns), back: kept(&inverse) })
    }

    /// Where the place at this offset goes.
    #[inline]
    pub fn apply(&self, offset: u64) -> u64 {
        flip(&self.flips, offset)
    }

    /// What place goes to this offset.
    #[inline]
    pub fn invert(&self, offset: u64) -> u64 {
        flip(&self.back, offset)
    }

    /// This swizzle and then another.
    ///
    /// # Errors
    /// None in practice: both are one to one, and so are both together.
    pub fn then(&self, next: &Swizzle) -> Result<Swizzle> {
        let bits = self.bits().max(next.bits());
        Swizzle::flipping((0..bits).map(|bit| (bit, next.apply(self.apply(1 << bit)) ^ 1 << bit)))
    }

    /// The way back, as a swizzle.
    #[must_use]
    pub fn inverse(&self) -> Swizzle {
        Swizzle { flips: self.back.clone(), back: self.flips.clone() }
    }

    /// Whether every place stays where it is.
    pub fn is_identity(&self) -> bool {
        self.flips.is_empty()
    }

    /// The bits that flip others, ascending, and which they flip.
    pub fn flips(&self) -> &[(u32, u64)] {
        &self.flips
    }

    /// The numbers of CuTe's `S<bits, base, shift>`, if this is one.
    pub fn shifts(&self) -> Option<(u32, u32, i32)> {
        let Some(&(source, flipped)) = self.flips.first() else { return Some((0, 0, 0)) };
        let target = flipped.trailing_zeros();
        let follow = |(number, &(bit, flipped)): (u32, &(u32, u64))| {
            bit == source + number && flipped == 1 << (target + number)
        };
        if !(0..).zip(&self.flips).all(follow) {
            return None;
        }
        let bits = self.flips.len() as u32;
        let shift = source as i32 - target as i32;
        (shift.unsigned_abs() >= bits).then_some((bits, source.min(target), shift))
    }

    /// Places stay within blocks of this many, each of which begins at a multiple of it.
    pub fn block(&self) -> u64 {
        let flipped = self.flips.iter().fold(0, |all, flip| all | flip.1);
        1 << (u64::BITS - flipped.leading_zeros())
    }

    /// Places stay side by side in runs of this many, each of which begins at a multiple of it.
    pub fn run(&self) -> u64 {
        let used = self.flips.iter().fold(0, |all, flip| all | flip.1 | 1 << flip.0);
        1 << used.trailing_zeros().min(MAX_BITS)
    }

    /// The exchange depends on the offset modulo this.
    pub(crate) fn period(&self) -> u64 {
        1 << self.bits()
    }

    /// One more than the highest bit that flips or is flipped.
    fn bits(&self) -> u32 {
        let used = self.flips.iter().fold(0, |all, flip| all | flip.1 | 1 << flip.0);
        u64::BITS - used.leading_zeros()
    }

    /// Without the bits that are set in no offset.
    fn within(&self, set: u64) -> Swizzle {
        let needed = self.flips.iter().copied().filter(|flip| set >> flip.0 & 1 == 1);
        // What is left out could have been what keeps others apart.
        Swizzle::flipping(needed).unwrap_or_else(|_| self.clone())
    }
}

/// `S<3,4,3>`, or each bit with what it flips: `xor(5: 0x3, 7: 0x10)`.
impl fmt::Display for Swizzle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((bits, base, shift)) = self.shifts() {
            return write!(f, "S<{bits},{base},{shift}>");
        }
        let flips: Vec<String> = self.flips.iter().map(|(bit, flips)| format!("{bit}: {flips:#x}")).collect();
        write!(f, "xor({})", flips.join(", "))
    }
}

#[inline]
fn flip(flips: &Flips, offset: u64) -> u64 {
    flips.iter().fold(offset, |flipped, &(bit, flips)| flipped ^ (flips & (offset >> bit & 1).wrapping_neg()))
}

/// The inverse of a matrix of bits given by its columns, if it has one.
fn inverse(columns: &[u64]) -> Option<Vec<u64>> {
    let mut left = columns.to_vec();
    let mut right: Vec<u64> = (0..columns.len()).map(|bit| 1 << bit).collect();
    // Columns are added to one another until the left side is the identity.
    for bit in 0..left.len() {
        let pivot = (bit..left.len()).find(|&column| left[column] >> bit & 1 == 1)?;
        left.swap(bit, pivot);
        right.swap(bit, pivot);
        for column in (0..left.len()).filter(|&column| column != bit) {
            if left[column] >> bit & 1 == 1 {
                left[column] ^= left[bit];
                right[column] ^= right[bit];
            }
        }
    }
    Some(right)
}

fn too_high(bits: u64) -> Error {
    Error::new(format!("a swizzle over {bits} bits of the offset"))
        .of_kind(ErrorKind::Limit)
        .field("swizzle")
        .accepts(format!("bits below {MAX_BITS}"))
}

impl Layout {
    /// This layout with its places exchanged. The size becomes a multiple of the swizzle's [block](Swizzle::block), so that
    /// no place leaves the buffer.
    ///
    /// ```
    /// use tilework::{Layout, Swizzle};
    /// let rows = Layout::row_major(&[8, 64], 16)?;
    /// let swizzled = rows.swizzled(&Swizzle::new(3, 3, 3)?)?;
    /// assert_eq!(swizzled.offset(&[1, 0])?, 64 + 8);
    /// assert_eq!(swizzled.locate(64 + 8)?, tilework::Place::Element(vec![1, 0]));
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// A size that does not fit 63 bits once it is rounded up.
    pub fn swizzled(&self, swizzle: &Swizzle) -> Result<Layout> {
        let both = match self.swizzle() {
            Some(first) => first.then(swizzle)?,
            None => swizzle.clone(),
        };
        let swizzle = both.within(self.bits_set());
        let mut layout = self.clone();
        let inner = layout.inner();
        if swizzle.is_identity() {
            inner.swizzle = None;
            return Ok(layout);
        }
        let size = check_size(inner.size.checked_next_multiple_of(swizzle.block()), inner.bits)?;
        inner.tail += size - inner.size;
        inner.size = size;
        inner.swizzle = Some(Box::new(swizzle));
        Ok(layout)
    }

    /// The exchange of places, if there is one.
    pub fn swizzle(&self) -> Option<&Swizzle> {
        self.0.swizzle.as_deref()
    }

    /// Condition of what is said by strides and tiles alone.
    ///
    /// # Errors
    /// A swizzle.
    #[doc(hidden)]
    pub fn require_no_swizzle(&self) -> Result<()> {
        match self.swizzle() {
            None => Ok(()),
            Some(swizzle) => Err(Error::new(format!("places are exchanged by the swizzle {swizzle}"))
                .of_kind(ErrorKind::Unsupported)
                .field("layout")
                .rule("strides and tiles cannot say an xor of the offset's bits")
                .accepts("a layout without a swizzle; a copy makes one")),
        }
    }

    /// The bits that can be set in an offset before the swizzle, as far as strides tell.
    fn bits_set(&self) -> u64 {
        let used = self.axes().iter().fold(self.base(), |all, axis| all | axis.stride.unsigned_abs());
        let below_size = match self.size() - self.tail() {
            0 | 1 => 0,
            size => u64::MAX >> (size - 1).leading_zeros(),
        };
        let above_strides = if used == 0 { 0 } else { u64::MAX << used.trailing_zeros() };
        below_size & above_strides
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Result;

    /// CuTe's formula, word by word.
    fn cute(bits: u32, base: u32, shift: i32, offset: u64) -> u64 {
        let mask = ((1_u64 << bits) - 1) << (base + shift.max(0).unsigned_abs());
        let set = offset & mask;
        offset ^ if shift >= 0 { set >> shift } else { set << -shift }
    }

    #[test]
    fn a_swizzle_is_that_of_cute() -> Result<()> {
        let cases = [
            ((3, 3, 3), 0xDEAD_BEEF, 0xDEAD_BEF7_u64),
            ((3, 3, 4), 0x1234_5678, 0x1234_5658),
            ((0, 1, 2), 0x1234_5678, 0x1234_5678),
            ((2, 0, -3), 0x2468_134F, 0x2468_1357),
            ((4, 4, -11), 0x2468_1357, 0x246A_9357),
        ];
        for ((bits, base, shift), from, to) in cases {
            let swizzle = Swizzle::new(bits, base, shift)?;
            assert_eq!(swizzle.apply(from), to, "{swizzle}");
            assert_eq!(swizzle.invert(to), from, "{swizzle}");
            for offset in (0..1 << 12).chain([u64::MAX >> 2]) {
                assert_eq!(swizzle.apply(offset), cute(bits, base, shift, offset));
            }
        }
        Ok(())
    }

    #[test]
    fn what_is_printed_is_what_was_made() -> Result<()> {
        for (bits, base, shift) in [(3, 4, 3), (1, 0, 1), (2, 5, -2), (4, 0, 7)] {
            let swizzle = Swizzle::new(bits, base, shift)?;
            assert_eq!(swizzle.shifts(), Some((bits, base, shift)));
            assert_eq!(swizzle.to_string(), format!("S<{bits},{base},{shift}>"));
        }
        assert_eq!(Swizzle::flipping([(5, 3), (7, 16)])?.to_string(), "xor(5: 0x3, 7: 0x10)");
        Ok(())
    }

    #[test]
    fn what_does_not_exchange_places_is_refused() {
        for (bits, base, shift) in [(1, 0, 0), (3, 4, 2), (3, 4, -2), (30, 30, 30), (1, u32::MAX, 1)] {
            assert!(Swizzle::new(bits, base, shift).is_err(), "{bits}, {base}, {shift}");
        }
        // Both bits become the same.
        assert!(Swizzle::flipping([(0, 0b11), (1, 0)]).is_err());
        assert!(Swizzle::flipping([(62, 1)]).is_err());
        assert!(Swizzle::flipping([(0, 1 << 62)]).is_err());
    }

    #[test]
    fn blocks_and_runs_hold_together() -> Result<()> {
        // Bits 0 and 3 change places; bit 6 flips bit 1.
        let swizzle = Swizzle::flipping([(0, 0b1001), (3, 0b1001), (6, 0b10)])?;
        assert_eq!((swizzle.block(), swizzle.run(), swizzle.period()), (16, 1, 128));
        for offset in 0..512 {
            let place = swizzle.apply(offset);
            assert_eq!(place / 16, offset / 16);
            assert_eq!(swizzle.invert(place), offset);
            assert_eq!(swizzle.inverse().apply(place), offset);
        }
        let both = swizzle.then(&Swizzle::new(2, 3, 2)?)?;
        assert!((0..512).all(|offset| both.apply(offset) == cute(2, 3, 2, swizzle.apply(offset))));
        Ok(())
    }
}
