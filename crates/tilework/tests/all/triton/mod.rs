//! Types of Triton: read, printed, lowered from both sides, and said.

mod linear;
mod memory;
mod say;
mod text;

use std::collections::HashMap;

use tilework::triton::{LinearLayout, Side, Type};
use tilework::{Layout, Place, Result};

pub fn parse(text: &str) -> Type {
    Type::parse(text).unwrap_or_else(|error| panic!("{}", error.report(text)))
}

/// The number of an element in row-major order.
pub fn number(index: &[u64], sizes: &[u64]) -> u64 {
    index.iter().zip(sizes).fold(0, |number, (index, size)| number * size + index)
}

/// Both readings by definition: every combination of the hardware's numbers, and the element that it has.
pub fn check_by_definition(ty: &Type, linear: &LinearLayout, layout: &Layout) -> Result<()> {
    let counts: Vec<u64> = linear.inputs().map(|input| 1 << linear.bases(input).len()).collect();
    let all: u64 = counts.iter().product();
    let mut first = HashMap::new();
    for whole in (0..all).step_by(1.max(all as usize / 5000)).chain(0..64.min(all)) {
        let mut rest = whole;
        let numbers: Vec<u64> = counts
            .iter()
            .map(|count| {
                let own = rest % count;
                rest /= count;
                own
            })
            .collect();
        let index = linear.apply(&numbers);
        match ty.side() {
            Some(Side::Registers) => {
                let [register, lane, warp, block] = numbers[..] else { panic!("{linear}") };
                let place = layout.offset(&[block, warp, lane, register])?;
                assert_eq!(place, number(&index, linear.sizes()), "{ty} at {numbers:?}");
            }
            _ => {
                // Of several offsets with an element, the layout has the smallest; blocks follow one another.
                let offsets = counts[0];
                let distinct = linear.bases("block").iter().filter(|base| base.iter().any(|step| *step > 0));
                if distinct.count() == linear.bases("block").len() {
                    let place = layout.offset(&index)?;
                    let own = numbers[0] + numbers[1] * offsets;
                    assert!(place <= own && layout.size() == all, "{ty} at {index:?}: {place}, {own}");
                    if all == linear.sizes().iter().product::<u64>() {
                        assert_eq!(place, own, "{ty} at {index:?}");
                    }
                    first.insert(place, index);
                }
            }
        }
    }
    for (place, index) in first.into_iter().take(64) {
        assert_eq!(layout.locate(place)?, Place::Element(index), "{ty} at {place}");
    }
    Ok(())
}
