//! TVM's layout strings against its rule: the shape of the string, row-major.

use proptest::prelude::*;
use tilework::dialect::{self, Dialect};

use crate::common::{indices, permutation};

fn tvm() -> &'static Dialect {
    Dialect::named("tvm").unwrap()
}

/// Sizes of blocks and numbers of blocks of each axis, an order of the digits, and whether each axis is cut.
fn strings() -> impl Strategy<Value = (Vec<(u64, u64, bool)>, Vec<usize>)> {
    prop::collection::vec((1..=4_u64, 1..=3_u64, any::<bool>()), 1..=4)
        .prop_flat_map(|axes| (Just(axes.clone()), permutation(2 * axes.len())))
}

proptest! {
    #[test]
    fn a_string_is_the_row_major_order_of_its_shape((axes, order) in strings()) {
        let mut text = String::new();
        let mut shape: Vec<(usize, bool, u64)> = Vec::new();
        for &place in &order {
            let (dim, is_factor) = (place / 2, place % 2 == 1);
            let (factor, count, is_cut) = axes[dim];
            let letter = char::from(b'A' + dim as u8);
            match (is_factor, is_cut) {
                (true, false) => {}
                (true, true) => {
                    text.push_str(&format!("{factor}{}", letter.to_ascii_lowercase()));
                    shape.push((dim, true, factor));
                }
                (false, _) => {
                    text.push(letter);
                    shape.push((dim, false, if is_cut { count } else { factor * count }));
                }
            }
        }
        let dims: Vec<u64> = axes.iter().map(|&(factor, count, _)| factor * count).collect();
        let sizes: Vec<String> = dims.iter().map(u64::to_string).collect();
        let all: String = (0..axes.len()).map(|dim| char::from(b'A' + dim as u8)).collect();
        let text = format!("s16[{}] {all}->{text}", sizes.join(","));
        let said = dialect::read_one(&text).map_err(|error| TestCaseError::fail(error.report(&text).to_string()))?;
        prop_assert_eq!(said.dialect().name, "tvm");
        let layout = said.layout().unwrap();
        prop_assert_eq!(layout.size(), layout.len());
        for index in indices(&dims) {
            let place = shape.iter().fold(0, |place, &(dim, is_factor, extent)| {
                let (factor, _, is_cut) = axes[dim];
                let digit = match (is_factor, is_cut) {
                    (true, _) => index[dim] % factor,
                    (false, true) => index[dim] / factor,
                    (false, false) => index[dim],
                };
                place * extent + digit
            });
            prop_assert_eq!(layout.offset(&index).unwrap(), place, "{} at {:?}", text, index);
        }
        // Whatever it was read from, it is said again.
        let again = tvm().say(&layout, said.element().unwrap()).unwrap();
        prop_assert!(again.layout().unwrap().same_buffer(&layout).is_yes(), "{} became {}", text, again);
        let read = dialect::read_one(&again.to_string()).unwrap();
        prop_assert!(read.layout().unwrap().same_buffer(&layout).is_yes());
    }
}

#[test]
fn what_is_no_layout_string_is_refused_where_it_goes_wrong() {
    let cases = [
        ("f32[1,17,2,2] NCHW16c", "dimension 1 is 17, in blocks of 16", "a multiple of 16, such as 32"),
        ("f32[2,3] NCHW8c", "4 axes for 2 dimensions", "axes for 2 dimensions"),
        ("f32[2,3,4] NC4->NC4c", "`4` is no factor", "such as 16c"),
        ("f32[4,4] CC->C4c", "axis C a second time", ""),
        ("f32[4,4] OI->O4i4iI", "a second factor of I", ""),
        ("f32[4,4] OI->OI[4i]", "1 factors in brackets", "two or more"),
        ("f32[4,4] OI->[O4i]I", "unexpected `O`", ""),
        ("f32[4,4] OI->OI[4i4o", "a [ without its ]", ""),
        ("f32[4,4] OI->ON4o", "the axes of `ON4o`", "the axes OI"),
        ("f32[4,4] OI->OI4n", "a factor of n, but no axis N", ""),
        ("f32[4,4] OI4o->OI", "factors in `OI4o`", "NCHW->NCHW16c"),
        ("f32[1,64,56,56] NHWC", "a name of dimensions, which says no order by itself", "NHWC->NHWC"),
    ];
    for (text, found, accepts) in cases {
        let error = dialect::read_one(text).expect_err(text);
        assert_eq!(error.found(), found, "{text}");
        assert!(error.accepted().unwrap_or_default().contains(accepts), "{text}: {error}");
        assert!(error.span().is_some_and(|span| span.end <= text.len()), "{text}");
    }
}

#[test]
fn what_no_form_can_say_has_the_reason_of_a_string() {
    let cases = [
        ("f32[2,3]{strides(5,1),size(12)}", "places that the axes do not fill one after the other"),
        ("f32[]", "0 dimensions"),
    ];
    for (text, reason) in cases {
        let said = dialect::read_one(text).unwrap();
        let error = tvm().say(&said.layout().unwrap(), said.element().unwrap()).expect_err(text);
        assert_eq!(error.found(), reason, "{text}");
    }
}
