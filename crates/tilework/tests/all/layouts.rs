//! Layouts against the naive reference.

use crate::common::{indices, recipe};
use proptest::prelude::*;
use tilework::{Layout, Place};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn every_layout_equals_pad_reshape_transpose(recipe in recipe()) {
        let layout = recipe.build().unwrap();
        let image = recipe.image();
        prop_assert_eq!(layout.size(), image.len() as u64);
        for (place, cell) in image.iter().enumerate() {
            match (cell, layout.locate(place as u64).unwrap()) {
                (Some(index), Place::Element(found)) => {
                    prop_assert_eq!(index, &found);
                    prop_assert_eq!(layout.offset(index).unwrap(), place as u64);
                }
                (None, Place::Padding(_)) => {}
                (cell, found) => prop_assert!(false, "place {}: {:?} but located {:?}", place, cell, found),
            }
        }
        prop_assert!(layout.locate(layout.size()).is_err());
    }

    #[test]
    fn free_strides_are_a_dot_product_and_locate_finds_what_stands_there(
        (dims, strides) in (0..=4_usize).prop_flat_map(|rank| (
            prop::collection::vec(prop_oneof![1 => Just(0), 20 => 1..=5_u64], rank),
            prop::collection::vec(-12..=12_i64, rank),
        )),
        extra in 0..=7_u64,
    ) {
        let tight = Layout::strided(&dims, 8, &strides, None, None).unwrap();
        let layout = Layout::strided(&dims, 8, &strides, Some(tight.base() + extra), Some(tight.size() + 2 * extra)).unwrap();
        let mut taken = vec![Vec::new(); layout.size() as usize];
        for index in indices(&dims) {
            let dot: i64 = index.iter().zip(&strides).map(|(&i, &s)| i as i64 * s).sum();
            let offset = layout.offset(&index).unwrap();
            prop_assert_eq!(offset as i64, layout.base() as i64 + dot);
            taken[offset as usize].push(index);
        }
        for (offset, at) in taken.iter().enumerate() {
            match layout.locate(offset as u64).unwrap() {
                Place::Element(index) => prop_assert!(at.contains(&index)),
                Place::Padding(_) => prop_assert!(at.is_empty()),
            }
        }
    }
}
