//! What the constructors of a layout refuse, each limit at itself and one beyond: the field, what was found, the rule and
//! what would be accepted.

use tilework::{
    Builder, ErrorKind, Layout, Level, MAX_RANK, MAX_TILES, Padding, Place, Result, Swizzle, Term, Terms,
};

const MOST: u64 = i64::MAX as u64;
const TOO_LARGE: [&str; 4] = [
    "size",
    "the allocated bytes overflow 63 bits",
    "a buffer has at most 9223372036854775807 bytes",
    "smaller dimensions, strides or tiles",
];

/// Checks the parts of an error; an empty rule is none.
#[track_caller]
fn refused<T: std::fmt::Debug>(result: Result<T>, [field, found, rule, accepts]: [&str; 4]) {
    let error = result.unwrap_err();
    assert_eq!((error.field_name(), error.found()), (Some(field), found));
    assert_eq!((error.broken_rule().unwrap_or(""), error.accepted()), (rule, Some(accepts)));
    assert_eq!(error.span(), None);
}

fn rows(dims: &[u64]) -> Builder {
    Layout::builder(dims, 32).unwrap()
}

#[test]
fn dimensions_are_at_most_256() {
    let wanted = ["dimensions", "257 dimensions", "", "up to 256 dimensions"];
    assert_eq!(MAX_RANK, 256);
    assert_eq!(Layout::row_major(&[1; 256], 32).unwrap().rank(), 256);
    assert_eq!(Layout::strided(&[1; 256], 32, &[7; 256], None, None).unwrap().rank(), 256);
    refused(Layout::builder(&[1; 257], 32), wanted);
    refused(Layout::row_major(&[1; 257], 32), wanted);
    refused(Layout::strided(&[1; 257], 32, &[1; 257], None, None), wanted);
}

#[test]
fn elements_have_at_least_one_bit() {
    let wanted = ["element bits", "elements of 0 bits", "", "1 or more"];
    assert_eq!(Layout::row_major(&[9], 1).unwrap().bytes(), 2);
    assert_eq!(Layout::row_major(&[2], u32::MAX).unwrap().bytes(), u64::from(u32::MAX).div_ceil(4));
    refused(Layout::builder(&[9], 0), wanted);
    refused(Layout::strided(&[9], 0, &[1], None, None), wanted);
}

#[test]
fn a_size_is_at_most_63_bits() {
    let wanted = ["dimensions", "size 9223372036854775808", "", "0 to 9223372036854775807"];
    assert_eq!(Layout::row_major(&[MOST], 8).unwrap().size(), MOST);
    assert_eq!(Layout::row_major(&[MOST, 0, MOST], 8).unwrap().size(), 0);
    refused(Layout::builder(&[2, MOST + 1], 8), wanted);
    refused(Layout::builder(&[0, MOST + 1], 8), wanted);
    refused(Layout::builder(&[MOST + 1, MOST + 2], 8), wanted); // the first that is too large
    refused(Layout::strided(&[MOST + 1], 8, &[0], None, None), wanted);
}

#[test]
fn elements_are_counted_in_64_bits() {
    let wanted = ["dimensions", "the number of elements overflows 64 bits", "", "smaller dimensions"];
    let broadcast = |dims: &[u64]| Layout::strided(dims, 8, &vec![0; dims.len()], None, None);
    assert_eq!(broadcast(&[u64::MAX / 15, 15]).unwrap().len(), u64::MAX);
    assert_eq!(broadcast(&[1 << 32, 1 << 32, 0]).unwrap().len(), 0);
    refused(broadcast(&[1 << 32, 1 << 32]), wanted);
    refused(Layout::builder(&[1 << 32, 1, 1 << 32], 8), wanted);
}

#[test]
fn a_buffer_is_at_most_63_bits_of_elements_and_of_bytes() {
    assert_eq!(Layout::row_major(&[MOST], 1).unwrap().bytes(), 1 << 60);
    refused(Layout::row_major(&[1 << 62, 2], 1), TOO_LARGE);
    assert_eq!(Layout::row_major(&[MOST / 2], 16).unwrap().bytes(), MOST - 1);
    refused(Layout::row_major(&[MOST / 2 + 1], 16), TOO_LARGE);
    assert_eq!(Layout::row_major(&[MOST], 8).unwrap().bytes(), MOST);
    refused(Layout::row_major(&[MOST], 9), TOO_LARGE);
    // A product in the middle that 64 bits do not hold is none that wraps around.
    refused(Layout::row_major(&[3, 1 << 62, 1], 8), TOO_LARGE);
    refused(rows(&[1 << 40, 8]).tile(&[Some(1 << 40), Some(1 << 30)]).unwrap().build(), TOO_LARGE);
    refused(rows(&[2]).tile(&[Some(u64::MAX)]).unwrap().build(), TOO_LARGE);
}

#[test]
fn free_strides_have_one_stride_for_each_dimension() {
    let rule = "every dimension has one stride";
    let strided = |strides: &[i64]| Layout::strided(&[2, 3], 32, strides, None, None);
    refused(strided(&[1]), ["strides", "1 stride for 2 dimensions", rule, "2 strides"]);
    refused(strided(&[1, 2, 3]), ["strides", "3 strides for 2 dimensions", rule, "2 strides"]);
    let none = Layout::strided(&[2], 32, &[], None, None);
    refused(none, ["strides", "0 strides for 1 dimension", rule, "1 stride"]);
    assert_eq!(strided(&[3, 1]).unwrap(), Layout::row_major(&[2, 3], 32).unwrap());
}

#[test]
fn a_base_keeps_every_offset_at_0_or_above() {
    let rule = "every element has an offset of 0 or more";
    let based = |base| Layout::strided(&[4, 3], 32, &[-5, -1], Some(base), None);
    let wanted = "the first offsets are below 0: base 16, strides reach −17";
    refused(based(16), ["base", wanted, rule, "17 or more"]);
    assert_eq!((based(17).unwrap().offset(&[3, 2]).unwrap(), based(17).unwrap().size()), (0, 18));
    assert_eq!(based(18).unwrap().offset(&[3, 2]).unwrap(), 1);
    assert_eq!(based(17), Layout::strided(&[4, 3], 32, &[-5, -1], None, None));
    // One place more than a number of 63 bits has none below.
    let low = Layout::strided(&[3], 8, &[i64::MIN], Some(MOST), None);
    let wanted =
        "the first offsets are below 0: base 9223372036854775807, strides reach −18446744073709551616";
    refused(low, ["base", wanted, rule, "18446744073709551616 or more"]);
    refused(Layout::strided(&[0], 8, &[1], Some(MOST + 1), None), TOO_LARGE);
    assert_eq!(Layout::strided(&[0], 8, &[1], Some(MOST), None).unwrap().base(), MOST);
}

#[test]
fn free_strides_have_a_size_above_the_last_offset() {
    let rule = "every offset is below the size";
    let sized = |base, size| Layout::strided(&[2, 3], 32, &[3, 1], Some(base), Some(size));
    refused(sized(0, 5), ["size", "size 5, but the last element is at offset 5", rule, "6 or more"]);
    refused(sized(7, 12), ["size", "size 12, but the last element is at offset 12", rule, "13 or more"]);
    assert_eq!(sized(0, 6).unwrap().size(), 6);
    assert_eq!(sized(7, 13).unwrap().size(), 13);
    let tail = Place::Padding(Padding { level: Level::Tail, dims: vec![] });
    assert_eq!(sized(0, 7).unwrap().locate(6).unwrap(), tail);
    assert_eq!(Layout::strided(&[2, 0], 32, &[3, 1], None, Some(0)).unwrap().size(), 0);
    refused(sized(0, MOST + 1), TOO_LARGE);
    refused(sized(MOST - 5, u64::MAX), TOO_LARGE);
    assert_eq!(Layout::strided(&[2], 8, &[MOST as i64 - 1], None, None).unwrap().size(), MOST);
    refused(Layout::strided(&[2], 8, &[MOST as i64], None, None), TOO_LARGE);
    refused(Layout::strided(&[1 << 62, 1 << 1], 8, &[i64::MAX, 1], None, None), TOO_LARGE);
}

#[test]
fn an_order_is_a_permutation_that_comes_before_tiles() {
    let rule = "an order names every dimension exactly once";
    for (order, found) in [
        (&[0, 1][..], "order [0, 1] of 3 dimensions"),
        (&[0, 1, 2, 0], "order [0, 1, 2, 0] of 3 dimensions"),
        (&[0, 2, 0], "order [0, 2, 0] of 3 dimensions"),
        (&[0, 1, 3], "order [0, 1, 3] of 3 dimensions"),
    ] {
        let wanted = ["minor_to_major", found, rule, "a permutation of [0, 1, 2]"];
        refused(rows(&[2, 3, 5]).minor_to_major(order), wanted);
    }
    refused(
        rows(&[4]).minor_to_major(&[]),
        ["minor_to_major", "order [] of 1 dimension", rule, "a permutation of [0]"],
    );
    let turned = rows(&[2, 3, 5]).minor_to_major(&[1, 2, 0]).unwrap().build().unwrap();
    assert_eq!(turned.offset(&[1, 2, 4]).unwrap(), 15 + 2 + 12);
    // Dimensions of more than one word of flags, and one of more than the list holds inline.
    let reversed: Vec<usize> = (0..200).collect();
    assert_eq!(rows(&[1; 200]).minor_to_major(&reversed).unwrap().build().unwrap().size(), 1);
}

#[test]
fn the_order_and_padded_sizes_come_before_tiles() {
    let rule = "the order and padded sizes come before tiles, which cut what they arrange";
    let tiled = || rows(&[4, 6]).tile(&[Some(2)]).unwrap();
    let wanted = |found| ["minor_to_major", found, rule, "minor_to_major before the first tile"];
    refused(tiled().minor_to_major(&[1, 0]), wanted("minor_to_major after 1 tile"));
    refused(
        tiled().tile(&[Some(1)]).unwrap().minor_to_major(&[1, 0]),
        wanted("minor_to_major after 2 tiles"),
    );
    let wanted = [
        "padded_dimensions",
        "padded_dimensions after 1 tile",
        rule,
        "padded_dimensions before the first tile",
    ];
    refused(tiled().padded(&[4, 6]), wanted);
    assert!(rows(&[4, 6]).padded(&[4, 8]).unwrap().minor_to_major(&[0, 1]).unwrap().tile(&[Some(2)]).is_ok());
}

#[test]
fn a_padded_size_holds_its_dimension() {
    let rule = "a padded dimension is at least the dimension's size";
    let padded = |sizes: &[u64]| rows(&[4, 6]).padded(sizes);
    let wanted = |found, accepts| ["padded_dimensions", found, rule, accepts];
    refused(padded(&[4, 5]), wanted("dimension 1 is 6, padded to 5", "6 to 9223372036854775807"));
    refused(padded(&[3, 5]), wanted("dimension 0 is 4, padded to 3", "4 to 9223372036854775807"));
    refused(
        padded(&[MOST + 1, 6]),
        wanted("dimension 0 is 4, padded to 9223372036854775808", "4 to 9223372036854775807"),
    );
    assert_eq!(padded(&[4, 6]).unwrap().build().unwrap(), Layout::row_major(&[4, 6], 32).unwrap());
    assert_eq!(padded(&[5, 6]).unwrap().build().unwrap().size(), 30);
    let vector = Layout::builder(&[1], 8).unwrap().padded(&[MOST]).unwrap().build().unwrap();
    assert_eq!((vector.len(), vector.size()), (1, MOST));
    assert_eq!(rows(&[0]).padded(&[3]).unwrap().build().unwrap().size(), 3);

    let rule = "every dimension has one padded size";
    refused(padded(&[4]), ["padded_dimensions", "1 padded size for 2 dimensions", rule, "2 sizes"]);
    refused(padded(&[4, 6, 1]), ["padded_dimensions", "3 padded sizes for 2 dimensions", rule, "2 sizes"]);
    refused(rows(&[4]).padded(&[]), ["padded_dimensions", "0 padded sizes for 1 dimension", rule, "1 size"]);
}

#[test]
fn a_tile_has_1_to_256_sizes() {
    let accepts = "up to 64 tiles of 1 to 256 sizes";
    refused(rows(&[4]).tile(&[]), ["tiles", "tile 1 with 0 sizes", "", accepts]);
    refused(
        rows(&[4]).tile(&[Some(1)]).unwrap().tile(&[Some(1); 257]),
        ["tiles", "tile 2 with 257 sizes", "", accepts],
    );
    assert_eq!(rows(&[4]).tile(&[Some(1); 256]).unwrap().build().unwrap().size(), 4);
}

#[test]
fn there_are_at_most_64_tiles() {
    let tiles = |count: usize| (0..count).try_fold(rows(&[5]), |builder, _| builder.tile(&[Some(2)]));
    assert_eq!(MAX_TILES, 64);
    assert_eq!(tiles(64).unwrap().build().unwrap().size(), 6);
    refused(tiles(65), ["tiles", "tile 65 with 1 size", "", "up to 64 tiles of 1 to 256 sizes"]);
}

#[test]
fn a_tile_size_is_at_least_1_and_follows_a_star() {
    let zero = ["tiles", "tile size 0", "", "a size of 1 or more"];
    refused(rows(&[4, 6]).tile(&[Some(0)]), zero);
    refused(rows(&[4, 6]).tile(&[Some(2), Some(0)]), zero);
    assert_eq!(rows(&[4, 6]).tile(&[Some(1), Some(1)]).unwrap().build().unwrap().size(), 24);
    let rule = "* combines a dimension with the next more minor one";
    let star = ["tiles", "* at the end of a tile", rule, "a size at the end"];
    refused(rows(&[4, 6]).tile(&[None]), star);
    refused(rows(&[4, 6]).tile(&[Some(2), None]), star);
    // Beyond the rank, a star combines nothing with what follows.
    assert_eq!(
        rows(&[4, 6]).tile(&[None, None, None, Some(5)]).unwrap().build().unwrap(),
        rows(&[4, 6]).tile(&[None, Some(5)]).unwrap().build().unwrap()
    );
}

#[test]
fn combined_dimensions_fit_63_bits() {
    let rule = "combined dimensions have at most 9223372036854775807 places";
    let star = |dims: &[u64]| Layout::builder(dims, 1).unwrap().tile(&[None, Some(1)]);
    let found = "combining extents 4294967296 and 2147483648 overflows 63 bits";
    refused(star(&[1 << 32, 1 << 31]), ["tiles", found, rule, "smaller dimensions or tiles"]);
    assert_eq!(star(&[1 << 32, (1 << 31) - 1]).unwrap().build().unwrap().size(), (1 << 63) - (1 << 32));
    assert_eq!(star(&[7, MOST / 7]).unwrap().build().unwrap().size(), MOST);
    // Padding counts: what is combined are the allocated extents.
    let padded = rows(&[1, 1]).padded(&[1 << 32, 1 << 31]).unwrap();
    refused(padded.tile(&[None, Some(1)]), ["tiles", found, rule, "smaller dimensions or tiles"]);
}

#[test]
fn an_alignment_pads_the_end_as_far_as_63_bits() {
    let aligned = |elements| Layout::builder(&[5], 8).unwrap().align(elements).build();
    assert_eq!([0, 1, 5].map(|elements| aligned(elements).unwrap().size()), [5, 5, 5]);
    assert_eq!([4, 6, MOST].map(|elements| aligned(elements).unwrap().size()), [8, 6, MOST]);
    refused(aligned(MOST + 1), TOO_LARGE);
    refused(aligned(u64::MAX), TOO_LARGE);
    refused(Layout::builder(&[MOST], 8).unwrap().align(2).build(), TOO_LARGE);
    assert_eq!(Layout::builder(&[0], 8).unwrap().align(7).build().unwrap().size(), 0);
    let tail = Place::Padding(Padding { level: Level::Tail, dims: vec![] });
    assert_eq!(aligned(6).unwrap().locate(5).unwrap(), tail);
    assert_eq!(aligned(6).unwrap().locate(4).unwrap(), Place::Element(vec![4]));
}

#[test]
fn a_dimension_is_split_by_a_divisor() {
    let split = |size, inner| Layout::row_major(&[size], 32).unwrap().split_dim(0, inner);
    let rule = "the parts of a dimension multiply to its size";
    let wanted = |found, accepts| ["inner", found, rule, accepts];
    refused(split(6, 4), wanted("dimension 0 of size 6 split by 4", "a divisor of 6"));
    refused(split(6, 0), wanted("dimension 0 of size 6 split by 0", "a divisor of 6"));
    refused(split(0, 0), wanted("dimension 0 of size 0 split by 0", "a divisor of 0"));
    assert_eq!((split(6, 3).unwrap().dims(), split(0, 3).unwrap().dims()), (&[2, 3][..], &[0, 3][..]));
}

#[test]
fn splits_stand_within_one_another_at_most_64_deep() {
    let mut terms = Layout::terms(&[3], 32).unwrap();
    let mut term = terms.dim(0).unwrap();
    for _ in 0..MAX_TILES {
        term = terms.split(term, 2).unwrap().0;
    }
    term = terms.split(term, 1).unwrap().0; // which makes no piece
    let wanted = ["split", "65 splits within one another", "", "up to 64"];
    refused(terms.split(term, 2).map(|_| ()), wanted);
}

/// A builder of three values of 8 bits, and their term.
fn three() -> (Terms, Term) {
    let mut terms = Layout::terms(&[3], 8).unwrap();
    let term = terms.dim(0).unwrap();
    (terms, term)
}

#[test]
fn a_dimension_is_taken_once_and_a_term_where_it_was_made() {
    let (mut terms, term) = three();
    let rule = "every value of the index enters the sum once";
    let accepts = "a split of the dimension, whose halves have strides of their own";
    refused(terms.dim(0), ["dimension", "dimension 0 is taken twice", rule, accepts]);
    refused(terms.dim(1), ["dimension", "dimension 1 of 1", "dimensions are counted from 0", "0 to 0"]);
    let mut others = Layout::terms(&[5], 8).unwrap();
    let wanted = ["term", "a term of another layout", "", "a term that this builder made"];
    refused(others.add(term, 1), wanted);
    refused(others.split(terms.split(three().1, 2).unwrap().1, 2), wanted);
}

#[test]
fn a_dimension_is_padded_first_and_within_63_bits() {
    let pad = |extent| {
        let (mut terms, term) = three();
        terms.pad(term, extent).map(|term| terms.extent(&term))
    };
    assert_eq!([pad(3).unwrap(), pad(4).unwrap(), pad(MOST).unwrap()], [3, 4, MOST]);
    let wanted = |found| ["extent", found, "", "3 to 9223372036854775807"];
    refused(pad(2), wanted("extent 3 padded to 2"));
    refused(pad(MOST + 1), wanted("extent 3 padded to 9223372036854775808"));
    let (mut terms, term) = three();
    let half = terms.split(term, 2).unwrap().0;
    let rule = "a dimension is padded before it is split or merged";
    refused(terms.pad(half, 9), ["extent", "padding of what is no dimension", rule, "a dimension"]);
}

#[test]
fn a_split_is_by_63_bits_and_a_merge_within_them() {
    let split = |by| {
        let (mut terms, term) = three();
        terms.split(term, by).map(|(div, rest)| [div, rest].map(|half| terms.extent(&half)))
    };
    assert_eq!([split(1).unwrap(), split(2).unwrap(), split(MOST).unwrap()], [[3, 1], [2, 2], [1, MOST]]);
    let wanted = |found| ["split", found, "", "1 to 9223372036854775807"];
    refused(split(0), wanted("a split by 0"));
    refused(split(MOST + 1), wanted("a split by 9223372036854775808"));
    let merge = |extent| {
        let mut terms = Layout::terms(&[1, 3], 8).unwrap();
        let (major, minor) = (terms.dim(0).unwrap(), terms.dim(1).unwrap());
        let major = terms.pad(major, extent).unwrap();
        terms.merge(major, minor).map(|whole| terms.extent(&whole))
    };
    assert_eq!(merge(MOST / 3).unwrap(), MOST / 3 * 3);
    let rule = "combined dimensions have at most 9223372036854775807 places";
    let found = "combining extents 3074457345618258603 and 3 overflows 63 bits";
    refused(merge(MOST / 3 + 1), ["tiles", found, rule, "smaller dimensions or tiles"]);
}

#[test]
fn shifted_values_are_different_and_from_0_to_63_bits() {
    let shift = |extent, start, step| {
        let (mut terms, term) = three();
        let term = terms.pad(term, extent).unwrap();
        terms.shift(term, start, step).map(|term| terms.extent(&term))
    };
    let wanted = |found| {
        let rule = "every value is 0 or more, below 9223372036854775807, and different from the others";
        ["shift", found, rule, "another start, or another step"]
    };
    assert_eq!(shift(3, MOST - 3, 1).unwrap(), MOST);
    refused(shift(3, MOST - 2, 1), wanted("9223372036854775805 and steps of 1 for 3 values"));
    assert_eq!((shift(3, 5, 7).unwrap(), shift(4, 5, 7).unwrap()), (20, 27));
    // Places for padding have to fit as well, but for those below the first value.
    refused(shift(4, MOST - 3, 1), wanted("9223372036854775804 and steps of 1 for 3 values"));
    assert_eq!((shift(3, 2, -1).unwrap(), shift(9, 4, -2).unwrap()), (3, 5));
    refused(shift(3, 1, -1), wanted("1 and steps of -1 for 3 values"));
    refused(shift(3, 3, -2), wanted("3 and steps of -2 for 3 values"));
    assert_eq!(shift(3, MOST - 1, -1).unwrap(), MOST);
    refused(shift(3, MOST, -1), wanted("9223372036854775807 and steps of -1 for 3 values"));
    refused(shift(3, 4, 0), wanted("4 and steps of 0 for 3 values"));
}

#[test]
fn terms_are_limited_in_depth_and_in_number() {
    let accepts = "up to 65792 expressions, 1024 within one another";
    let (mut terms, mut term) = three();
    for _ in 1..1024 {
        term = terms.shift(term, 0, 1).unwrap();
    }
    refused(terms.clone().split(term, 2), ["terms", "1026 expressions, 1025 deep", "", accepts]);
    // However they are made: by merges, which have the depth of the deeper one, and by splits.
    let (mut terms, mut term) = three();
    for at in 1..1024 {
        let (whole, unit) = terms.split(term, 1).unwrap();
        term = match at % 2 {
            0 => terms.merge(unit, whole).unwrap(),
            _ => terms.merge(whole, unit).unwrap(),
        };
    }
    refused(terms.clone().shift(term, 0, 1), ["terms", "2048 expressions, 1025 deep", "", accepts]);
    let (mut terms, mut term) = three();
    for _ in 0..10 {
        term = terms.split(term, 2).unwrap().0;
    }
    for _ in 11..1024 {
        term = terms.shift(term, 0, 1).unwrap();
    }
    let other = terms.clone();
    refused(terms.shift(term, 0, 1), ["terms", "1035 expressions, 1025 deep", "", accepts]);
    assert_eq!(other.build(None, None).unwrap().len(), 3);
    let (mut terms, mut term) = three();
    for _ in 0..65_790 {
        term = terms.split(term, 1).unwrap().0;
    }
    refused(terms.clone().split(term, 1), ["terms", "65793 expressions, 2 deep", "", accepts]);
}

#[test]
fn elements_of_a_sum_lie_within_the_buffer() {
    let build = |stride, base, size| {
        let (mut terms, term) = three();
        terms.add(term, stride).unwrap();
        terms.build(base, size)
    };
    let rule = "every element has an offset of 0 or more";
    let found = "the first element is at offset -1";
    refused(build(-5, Some(9), None), ["base", found, rule, "a base of 10 or more"]);
    assert_eq!(build(-5, Some(10), None).unwrap().size(), 11);
    let rule = "every offset is below the size";
    let found = "size 12, but the last element is at offset 12";
    refused(build(5, Some(2), Some(12)), ["size", found, rule, "13 or more"]);
    assert_eq!(build(5, Some(2), Some(13)).unwrap().size(), 13);
}

#[test]
fn a_swizzle_is_of_bits_below_62() {
    let wanted = ["swizzle", "a swizzle over 63 bits of the offset", "", "bits below 62"];
    assert_eq!(Swizzle::flipping([(61, 1)]).unwrap().apply(1 << 61), 1 << 61 | 1);
    assert_eq!(Swizzle::flipping([(0, 1 << 61)]).unwrap().apply(1), 1 << 61 | 1);
    refused(Swizzle::flipping([(62, 1)]), wanted);
    refused(Swizzle::flipping([(0, 1 << 62)]), wanted);
}

#[test]
fn an_index_has_the_rank_and_is_below_the_sizes() {
    let layout = Layout::row_major(&[4, 6], 32).unwrap();
    assert_eq!(layout.offset(&[3, 5]).unwrap(), 23);
    let rule = "an index counts from 0 and is below the size";
    refused(layout.offset(&[4, 0]), ["index", "index 4 in dimension 0 of size 4", rule, "0 to 3"]);
    refused(layout.offset(&[3, 6]), ["index", "index 6 in dimension 1 of size 6", rule, "0 to 5"]);
    let empty = Layout::row_major(&[0], 32).unwrap();
    let nothing = "nothing: the array has no elements";
    refused(empty.offset(&[0]), ["index", "index 0 in dimension 0 of size 0", rule, nothing]);
    let rule = "an index has one number for each dimension";
    refused(layout.offset(&[3]), ["index", "an index of 1 number for 2 dimensions", rule, "2 numbers"]);
    refused(
        layout.offset(&[3, 5, 0]),
        ["index", "an index of 3 numbers for 2 dimensions", rule, "2 numbers"],
    );
    refused(
        Layout::row_major(&[4], 32).unwrap().offset(&[]),
        ["index", "an index of 0 numbers for 1 dimension", rule, "1 number"],
    );
}

#[test]
fn a_copy_names_the_first_dimension_that_differs() {
    let [from, to] = [[2, 3, 4], [2, 5, 6]].map(|dims| Layout::row_major(&dims, 32).unwrap());
    let wanted = [
        "dimensions",
        "dimension 1 is 3 in the source, 5 in the destination",
        "both layouts have the same dimensions",
        "a destination of sizes [2, 3, 4]",
    ];
    refused(tilework::Plan::new(&from, &to, &tilework::PlanOptions::default()), wanted);
}

#[test]
fn errors_have_a_kind_that_programs_can_match() {
    use ErrorKind::*;
    let layout = Layout::row_major(&[4, 6], 32).unwrap();
    let tiled = rows(&[16, 256]).tile(&[Some(8), Some(128)]).unwrap().build().unwrap();
    let plan = |to: &Layout| tilework::Plan::new(&layout, to, &tilework::PlanOptions::default());
    let text = |text: &str| tilework::xla::Shape::parse(text).unwrap_err().kind();
    let dynamic = tilework::xla::Shape::parse("f32[?]").unwrap();
    for (found, kind) in [
        (layout.offset(&[4, 0]).unwrap_err().kind(), Range),
        (layout.offset(&[0]).unwrap_err().kind(), Mismatch),
        (layout.locate(24).unwrap_err().kind(), Range),
        (layout.flip(2).unwrap_err().kind(), Range),
        (layout.slice(0, 3..9, 1).unwrap_err().kind(), Range),
        (layout.broadcast(&[5, 6]).unwrap_err().kind(), Mismatch),
        (Layout::row_major(&[MOST], 32).unwrap_err().kind(), Overflow),
        (Layout::row_major(&[1; 257], 32).unwrap_err().kind(), Limit),
        (Layout::row_major(&[1], 0).unwrap_err().kind(), Invalid),
        (tiled.to_strides().unwrap_err().kind(), Unsupported),
        (plan(&tiled).unwrap_err().kind(), Mismatch),
        (dynamic.as_array().unwrap().lower().unwrap_err().kind(), Unsupported),
        (text("f32[3,"), Syntax),
        (text("f23[3]"), Syntax),
        (text("f32[3]{0:S(1)T(2)}"), Syntax),
        (text("f32[9223372036854775808]"), Overflow),
        (text("f32[3]{0:L(0)}"), Invalid),
    ] {
        assert_eq!(found, kind);
    }
}

#[test]
fn layouts_and_builders_are_shown_in_one_readable_line() {
    let builder = rows(&[3, 5]).tile(&[Some(2), Some(2)]).unwrap().align(8);
    assert_eq!(format!("{builder:?}"), "Builder([3, 5] of 32 bits, tiles 1, align 8)");
    let form = "12·⌊i/2⌋ + 2·(i mod 2) + 4·⌊j/2⌋ + (j mod 2)";
    let layout = builder.build().unwrap();
    assert_eq!(format!("{layout:?}"), format!("Layout([3, 5] of 32 bits, {form}, size 24)"));
}
