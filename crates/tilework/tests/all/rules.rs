//! The rewrite rules, one by one: both sides of each are built and must have the same canonical form.
//!
//! `canon.rs` numbers the rules. Forms are compared as text, which is exact for plain forms.

use tilework::Layout;

/// A row-major array in tiles; 0 is `*`.
fn tiled(dims: &[u64], tiles: &[&[u64]]) -> Layout {
    let mut builder = Layout::builder(dims, 32).unwrap();
    for tile in tiles {
        let tile: Vec<Option<u64>> = tile.iter().map(|&size| (size > 0).then_some(size)).collect();
        builder = builder.tile(&tile).unwrap();
    }
    builder.build().unwrap()
}

fn form(layout: &Layout) -> String {
    assert!(layout.canon().is_plain(), "{} is not plain", layout.canon());
    layout.canon().to_string()
}

fn same(a: &Layout, b: &Layout) {
    assert_eq!(form(a), form(b));
    assert!(a.same_function(b).is_yes());
}

#[test]
fn r1_what_has_one_value_disappears() {
    same(&tiled(&[1, 6, 1], &[]), &tiled(&[1, 6, 1], &[&[1, 1, 1], &[1]]));
    assert_eq!(form(&tiled(&[1, 6, 1], &[])), "j");
    assert_eq!(form(&tiled(&[], &[&[128]])), "0");
}

#[test]
fn r2_a_quotient_of_a_quotient_is_one_quotient() {
    // The second tile cuts the number of tiles: ⌊⌊i/4⌋/2⌋ = ⌊i/8⌋.
    assert_eq!(
        form(&tiled(&[64, 2], &[&[4, 2], &[2, 1, 1, 1]])),
        "16·⌊i/8⌋ + (⌊i/4⌋ mod 2) + 4·(i mod 4) + 2·j"
    );
}

#[test]
fn r3_and_r4_digits_of_a_remainder_are_digits_of_the_whole() {
    // Within a tile of 8, digits by 4 and 2 are those of i itself.
    assert_eq!(
        form(&tiled(&[64, 3], &[&[8, 3], &[4, 1], &[2, 1, 1, 1]])),
        form(&tiled(&[64, 3], &[&[8, 3], &[4, 1], &[2, 1, 1, 1], &[1]])),
    );
    assert_eq!(
        form(&tiled(&[16, 8], &[&[8, 4], &[2, 1]])),
        "64·⌊i/8⌋ + 8·(⌊i/2⌋ mod 4) + (i mod 2) + 32·⌊j/4⌋ + 2·(j mod 4)"
    );
}

#[test]
fn r5_a_tile_that_holds_everything_is_no_tile() {
    same(&tiled(&[5, 100], &[&[8, 128]]), &Layout::strided(&[5, 100], 32, &[128, 1], None, None).unwrap());
}

#[test]
fn r6_a_merge_gives_its_factors_to_the_quotient() {
    // The pair of sizes 7 and 8 under a tile of 2: only the second is cut, as 2 divides 8.
    assert_eq!(form(&tiled(&[7, 8, 3], &[&[0, 2, 3]])), "24·i + 3·j + k");
    assert_eq!(
        form(&tiled(&[7, 8, 5], &[&[0, 2, 3]])),
        "48·i + 12·⌊j/2⌋ + 3·(j mod 2) + 6·⌊k/3⌋ + (k mod 3)"
    );
    // A tile of 16 over sizes 7 and 8: the first is cut by 2, the second not at all.
    assert_eq!(
        form(&tiled(&[7, 8, 5], &[&[0, 16, 3]])),
        "96·⌊i/2⌋ + 24·(i mod 2) + 3·j + 48·⌊k/3⌋ + (k mod 3)"
    );
}

#[test]
fn r7_digits_that_continue_each_other_fuse() {
    same(&tiled(&[64, 128], &[&[8, 128]]), &tiled(&[64, 128], &[]));
    assert_eq!(form(&tiled(&[1000], &[&[8], &[4], &[2]])), "i");
}

#[test]
fn r8_and_r11_a_merge_that_is_not_cut_dissolves_in_any_grouping() {
    same(&tiled(&[2, 3, 4], &[&[0, 0, 24]]), &tiled(&[2, 3, 4], &[]));
    same(&tiled(&[2, 3, 4], &[&[0, 12], &[0, 0, 1, 12]]), &tiled(&[2, 3, 4], &[]));
}

#[test]
fn r9_a_broadcast_dimension_is_absent() {
    assert_eq!(form(&Layout::strided(&[4, 3], 32, &[0, 1], None, None).unwrap()), "j");
    assert_eq!(form(&Layout::row_major(&[1, 3], 32).unwrap().broadcast(&[4, 3]).unwrap()), "j");
}

#[test]
fn r10_the_halves_of_a_split_are_the_whole() {
    let layout = tiled(&[12, 5], &[&[2, 2]]);
    let there_and_back = layout.split_dim(0, 3).unwrap().merge_dims(0).unwrap();
    same(&layout, &there_and_back);
    let another = layout.split_dim(0, 4).unwrap().split_dim(1, 2).unwrap().reshape(&[12, 5]).unwrap();
    same(&layout, &another);
}

#[test]
fn r12_a_slice_that_starts_at_a_tile_stays_plain() {
    let layout = tiled(&[32, 6], &[&[8, 2]]);
    let slice = layout.slice(0, 8..24, 1).unwrap();
    assert_eq!(form(&slice), "48 + 48·⌊i/8⌋ + 2·(i mod 8) + 16·⌊j/2⌋ + (j mod 2)");
    assert!(!layout.slice(0, 3..24, 1).unwrap().canon().is_plain());
}

#[test]
fn what_no_flat_form_can_say_is_not_plain_and_still_exact() {
    // Rows (i div 3, (i mod 3) div 2, (i mod 3) mod 2) with strides 16, 4, 1.
    let uneven = tiled(&[6, 4], &[&[3, 2], &[2, 1]]);
    assert!(!uneven.canon().is_plain());
    let rows: Vec<u64> = (0..6).map(|i| uneven.offset(&[i, 0]).unwrap()).collect();
    assert_eq!(rows, [0, 1, 4, 16, 17, 20]);
    // The group {i mod 2, j mod 3} of digits is coupled; ⌊i/2⌋ and ⌊j/3⌋ stay free.
    let coupled = tiled(&[4, 6], &[&[2, 3], &[0, 4], &[2, 1]]);
    assert!(!coupled.canon().is_plain());
    assert_eq!(coupled.size(), 32);
    assert_eq!(coupled.offset(&[1, 1]).unwrap(), 1); // g = 4: 2·(4 mod 4) + 4 div 4
}
