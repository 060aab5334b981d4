//! Swizzles: an xor of some bits of an offset with others.

use crate::error::{Error, ErrorKind, Result};

/// A swizzle `S<B,M,S>`: `B` bits of an offset are combined by xor with the `B` bits that stand `S` places above them.
///
/// With S of 0 or more the bits from `M` on change, by those from `M + S` on; with S below 0 it is the other way round. It
/// is its own inverse, and a linear map over the bits.
///
/// ```
/// use tilework::cute::Swizzle;
/// let swizzle = Swizzle::new(3, 3, 3)?;
/// assert_eq!(swizzle.apply(0b001_000_000), 0b001_001_000);
/// assert_eq!(swizzle.apply(0xDEADBEEF), 0xDEADBEF7);
/// assert!(Swizzle::new(3, 4, 2).is_err()); // the bits would be combined with themselves
/// # Ok::<(), tilework::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Swizzle {
    bits: u32,
    base: u32,
    shift: i32,
}

/// Bits of the offsets that CuTe's swizzles work on.
const WIDTH: i64 = 32;

impl Swizzle {
    /// The identity, as CuTe writes it: `S<0,4,3>`.
    pub const IDENTITY: Swizzle = Swizzle { bits: 0, base: 4, shift: 3 };

    /// A swizzle of `bits` bits from bit `base` on, by those `shift` places above; by those below if `shift` is negative.
    ///
    /// # Errors
    /// Bits that would be combined with themselves, negative numbers, and bits beyond the 32 of an address.
    pub fn new(bits: i64, base: i64, shift: i64) -> Result<Swizzle> {
        let refused = |found: String, rule: &str| {
            Err(Error::new(found).field("swizzle").rule(rule).accepts("S<B,M,S> such as S<3,4,3>"))
        };
        let text = format!("S<{bits},{base},{shift}>");
        if bits < 0 || base < 0 {
            return refused(
                format!("expects B and M of 0 or more, but got {text}"),
                "B counts bits, and M bits below",
            );
        }
        if shift.unsigned_abs() < bits.unsigned_abs() {
            let rule = "the bits that are combined do not overlap: |S| >= B";
            return refused(format!("expects |S| >= B, but got {text}"), rule);
        }
        let end = shift.checked_abs().and_then(|shift| shift.checked_add(bits)?.checked_add(base));
        match end.filter(|&end| end <= WIDTH) {
            Some(_) => Ok(Swizzle { bits: bits as u32, base: base as u32, shift: shift as i32 }),
            None => {
                let rule = "a swizzle works on 32 bits: |S| + B + M <= 32";
                refused(format!("expects |S| + B + M <= 32, but got {text}"), rule)
            }
        }
    }

    /// B: how many bits are combined.
    pub fn bits(self) -> u32 {
        self.bits
    }

    /// M: how many bits below stay as they are.
    pub fn base(self) -> u32 {
        self.base
    }

    /// S: how far apart the two groups of bits are.
    pub fn shift(self) -> i32 {
        self.shift
    }

    /// Whether it changes nothing: B is 0.
    pub fn is_identity(self) -> bool {
        self.bits == 0
    }

    /// The bits that decide the change, CuTe's Y: a mask.
    pub fn source(self) -> u64 {
        ((1 << self.bits) - 1) << (self.base + self.shift.max(0).unsigned_abs())
    }

    /// The bits that change, CuTe's Z: a mask.
    pub fn target(self) -> u64 {
        ((1 << self.bits) - 1) << (self.base + self.shift.min(0).unsigned_abs())
    }

    /// The offset that this one becomes. Bits above the lowest 32 stay as they are.
    pub fn apply(self, offset: u64) -> u64 {
        let source = offset & self.source();
        match self.shift >= 0 {
            true => offset ^ source >> self.shift,
            false => offset ^ source << self.shift.unsigned_abs(),
        }
    }

    /// The swizzle of offsets that count pieces of `new` bits, where this one is of pieces of `old` bits.
    ///
    /// ```
    /// use tilework::cute::Swizzle;
    /// // 128 B swizzles of shared memory, in bytes and in elements of 16 bits
    /// assert_eq!(Swizzle::new(3, 4, 3)?.recast(16, 8)?, Swizzle::new(3, 3, 3)?);
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Sizes whose ratio is no power of two, and pieces so large that a change would be within one.
    pub fn recast(self, new: u32, old: u32) -> Result<Swizzle> {
        let refused = |found: String, rule: &str| {
            Error::new(found).of_kind(ErrorKind::Unsupported).field("swizzle").rule(rule)
        };
        let common = crate::arithmetic::gcd(new.into(), old.into()).max(1);
        let [up, down] = [u64::from(new) / common, u64::from(old) / common];
        if !up.is_power_of_two() || !down.is_power_of_two() {
            return Err(refused(
                format!("{self} of {old} bits as one of {new} bits"),
                "a swizzle is recast by a power of two",
            ));
        }
        let base = i64::from(self.base) + i64::from(down.trailing_zeros()) - i64::from(up.trailing_zeros());
        if self.is_identity() {
            return Ok(Swizzle {
                base: base.clamp(0, WIDTH - i64::from(self.shift.unsigned_abs())) as u32,
                ..self
            });
        }
        if base < 0 {
            return Err(refused(
                format!("{self} moves pieces of {} × {old} bits", 1_u64 << self.base),
                "a swizzle of larger elements moves whole elements",
            )
            .accepts(format!("elements of at most {} bits", (u64::from(old)) << self.base)));
        }
        Swizzle::new(self.bits.into(), base, self.shift.into())
    }
}
