//! A swizzle in words.

use tilework::Swizzle;

/// `S<3,4,3>: bits 4 to 6 of the offset are flipped where bits 7 to 9 are set; runs of 16 elements stay together`
pub(crate) fn words(swizzle: &Swizzle) -> String {
    let what = match swizzle.shifts() {
        Some((bits, base, shift)) => {
            let (low, high) = (base, base + shift.unsigned_abs());
            let (flipped, set) = if shift > 0 { (low, high) } else { (high, low) };
            let are = if bits == 1 { "is" } else { "are" };
            format!(
                "{} of the offset {are} flipped where {} {are} set",
                those(flipped, bits),
                those(set, bits)
            )
        }
        None => {
            let each =
                swizzle.flips().iter().map(|&(bit, flips)| format!("bit {bit} flips {}", bits_of(flips)));
            each.collect::<Vec<_>>().join(", ")
        }
    };
    match swizzle.run() {
        1 => format!("{swizzle}: {what}"),
        run => format!("{swizzle}: {what}; runs of {run} elements stay together"),
    }
}

fn those(first: u32, count: u32) -> String {
    match count {
        1 => format!("bit {first}"),
        2 => format!("bits {first} and {}", first + 1),
        _ => format!("bits {first} to {}", first + count - 1),
    }
}

fn bits_of(flips: u64) -> String {
    let bits = (0..u64::BITS).filter(|bit| flips >> bit & 1 == 1);
    bits.map(|bit| bit.to_string()).collect::<Vec<_>>().join(" and ")
}

#[cfg(test)]
mod tests {
    use tilework::Result;

    use super::*;

    #[test]
    fn bits_that_flip_are_named() -> Result<()> {
        let said = words(&Swizzle::new(3, 4, 3)?);
        assert_eq!(
            said,
            "S<3,4,3>: bits 4 to 6 of the offset are flipped where bits 7 to 9 are set; runs of 16 elements stay together"
        );
        let up = words(&Swizzle::new(1, 0, -3)?);
        assert_eq!(up, "S<1,0,-3>: bit 3 of the offset is flipped where bit 0 is set");
        let any = words(&Swizzle::flipping([(5, 3), (7, 16)])?);
        assert_eq!(any, "xor(5: 0x3, 7: 0x10): bit 5 flips 0 and 1, bit 7 flips 4");
        Ok(())
    }
}
