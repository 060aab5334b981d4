//! A product with a 0 in it is 0, wherever the 0 stands and however large the other numbers are.

use proptest::prelude::*;
use tilework::xla::Shape;

#[test]
fn nothing_overflows_where_nothing_is_allocated() {
    for text in [
        "u8[0,4294967296,4294967296]{2,1,0:T(*,8)}",
        "u8[4294967296,0,4294967296]{2,1,0:T(*,8)}",
        "u8[4294967296,4294967296,0]{2,1,0:T(*,8)}",
        "u8[4294967296,4294967296,0]{0,1,2:T(*,*,8)(4,1)}",
        "f32[9223372036854775807,9223372036854775807,0]{2,1,0:T(*,*,128)(*,8)}",
    ] {
        let shape = Shape::parse(text).expect(text);
        let layout = shape.as_array().expect("an array").lower().expect(text);
        assert_eq!((layout.len(), layout.size(), layout.bytes()), (0, 0, 0), "{text}");
    }
    // What is padded is allocated.
    let padded = Shape::parse("u8[0,4294967296,4294967296]{2,1,0:T(*,8)pad(8,4294967296,4294967296)}");
    assert!(padded.and_then(|shape| shape.as_array().expect("an array").lower()).is_err());
}

fn size() -> impl Strategy<Value = u64> {
    prop_oneof![0..4_u64, Just(1 << 32), Just(i64::MAX as u64), any::<u64>().prop_map(|size| size >> 1)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn dimensions_with_a_0_are_accepted_whatever_the_others_are(
        mut dims in prop::collection::vec(size(), 1..6),
        zero in any::<prop::sample::Index>(),
        order in Just((0..6_usize).collect::<Vec<_>>()).prop_shuffle(),
        tiles in prop::collection::vec(prop::collection::vec(prop_oneof![Just(None), (1..200_u64).prop_map(Some)], 0..5), 0..4),
        last in prop::collection::vec(1..200_u64, 4),
        pad in any::<bool>(),
        align in prop_oneof![Just(0), 1..4096_u64],
    ) {
        let rank = dims.len();
        dims[zero.index(rank)] = 0;
        let join = |numbers: Vec<String>| numbers.join(",");
        let order: Vec<String> = order.iter().filter(|&&dim| dim < rank).map(ToString::to_string).collect();
        let mut layout = String::new();
        if !tiles.is_empty() {
            layout.push('T');
        }
        for (tile, last) in tiles.iter().zip(&last) {
            let mut sizes: Vec<String> = tile.iter().map(|size| size.map_or("*".to_owned(), |size| size.to_string())).collect();
            sizes.push(last.to_string());
            layout += &format!("({})", join(sizes));
        }
        if align > 0 {
            layout += &format!("L({align})");
        }
        if pad {
            layout += &format!("pad({})", join(dims.iter().map(ToString::to_string).collect()));
        }
        let colon = if layout.is_empty() { "" } else { ":" };
        let text = format!("u8[{}]{{{}{colon}{layout}}}", join(dims.iter().map(ToString::to_string).collect()), join(order));
        let shape = Shape::parse(&text).map_err(|error| TestCaseError::fail(format!("{text}: {error}")))?;
        let lowered = shape.as_array().map(|array| array.lower());
        match lowered {
            Some(Ok(layout)) => {
                prop_assert_eq!((layout.len(), layout.size()), (0, 0), "{}", text);
                prop_assert!(layout.same_function(&layout).is_yes());
                prop_assert!(layout.locate(0).is_err());
            }
            other => prop_assert!(false, "{text}: {other:?}"),
        }
        // One number too large is refused, whatever the others are.
        let text = text.replacen("u8[", "u8[9223372036854775808,", 1);
        prop_assert!(Shape::parse(&text).is_err());
    }

    #[test]
    fn strides_of_an_empty_array_may_be_anything_that_is_a_number(
        mut dims in prop::collection::vec(size(), 1..5),
        strides in prop::collection::vec(0..=i64::MAX, 5),
        zero in any::<prop::sample::Index>(),
    ) {
        let rank = dims.len();
        dims[zero.index(rank)] = 0;
        let list = |numbers: Vec<String>| numbers.join(",");
        let sizes = list(dims.iter().map(ToString::to_string).collect());
        let strides = list(strides[..rank].iter().map(ToString::to_string).collect());
        let text = format!("f32[{sizes}]{{strides({strides})}}");
        let lowered = Shape::parse(&text).and_then(|shape| shape.as_array().expect("an array").lower());
        prop_assert!(lowered.as_ref().is_ok_and(|layout| layout.is_empty()), "{text}: {lowered:?}");
    }
}
