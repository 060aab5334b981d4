//! Digits against the offsets that they stand for.

use proptest::prelude::*;
use tilework::{Digits, Layout};

use crate::common::{indices, recipe_with};

/// The offset that digits say, digit by digit.
fn offset(digits: &Digits, index: &[u64]) -> i64 {
    let mut offset = digits.first as i64;
    for (of_dim, &i) in digits.of_dims.iter().zip(index) {
        let mut left = i;
        for (place, digit) in of_dim.iter().enumerate() {
            let is_last = place + 1 == of_dim.len();
            let value = if is_last { left } else { left % digit.extent };
            assert!(value < digit.extent, "{digits:?} at {index:?}");
            offset += value as i64 * digit.stride;
            left /= digit.extent;
        }
    }
    offset
}

proptest! {
    #[test]
    fn digits_say_every_offset(recipe in recipe_with(true)) {
        let layout = recipe.build().unwrap();
        prop_assume!(layout.len() < 5000);
        let Ok(digits) = layout.to_digits() else {
            prop_assert!(!layout.canon().is_plain() || recipe.tiles.len() > 1 || recipe.dims.len() > 1);
            return Ok(());
        };
        for index in indices(layout.dims()) {
            prop_assert_eq!(offset(&digits, &index), layout.offset(&index).unwrap() as i64, "{:?}", digits);
        }
        // As few as possible: no digit goes on where the one below it ends.
        for of_dim in &digits.of_dims {
            for pair in of_dim.windows(2) {
                prop_assert!(pair[0].stride * pair[0].extent as i64 != pair[1].stride, "{:?}", digits);
            }
        }
    }
}

#[test]
fn a_layout_without_digits_says_why() {
    let tiled = |dims: &[u64], tiles: &[&[Option<u64>]]| {
        let tile = |builder: tilework::Result<tilework::Builder>, tile: &&[Option<u64>]| builder?.tile(tile);
        tiles.iter().fold(Layout::builder(dims, 8), tile).unwrap().build().unwrap()
    };
    let why = |layout: Layout| layout.to_digits().unwrap_err().to_string();
    let combined = why(tiled(&[4, 6], &[&[None, Some(5)], &[Some(3), Some(2)]]));
    assert!(combined.contains("several dimensions"), "{combined}");
    let cut = why(tiled(&[12], &[&[Some(3)], &[Some(2), Some(2)]]));
    assert!(cut.contains("shifted"), "{cut}");
    let free = Layout::strided(&[3, 1], 8, &[-2, 7], None, None).unwrap().to_digits().unwrap();
    assert_eq!((free.first, free.of_dims[0][0].stride, free.of_dims[1][0].stride), (4, -2, 0));
}
