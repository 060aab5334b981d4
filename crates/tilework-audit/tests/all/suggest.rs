//! Suggestions, against every order tried one by one.

use proptest::prelude::*;
use tilework::xla::{ArrayShape, Layout, Shape, Tile};
use tilework_audit::{Change, Footprint, KEPT, Suggestions, Target, suggest, tiles_from_text};

fn array(text: &str) -> ArrayShape {
    Shape::parse(text).unwrap().as_array().unwrap().clone()
}

fn found(text: &str, target: &str) -> Suggestions {
    suggest(&array(text), &Target::from_name(target).unwrap()).unwrap()
}

fn texts(footprints: &[Footprint]) -> Vec<(String, u64)> {
    let text = |one: &Footprint| (one.shape.layout().unwrap().to_string(), one.bytes);
    footprints.iter().map(text).collect()
}

const GIB: u64 = 1 << 30;
const MIB: u64 = 1 << 20;

#[test]
fn the_buffer_of_32_gib_takes_1() {
    let found = found("s32[8388608,8,4]{2,1,0:T(8,128)}", "tpu");
    assert!(!found.is_assumed);
    let expected = [
        ("{0,2,1:T(4,128)}", GIB),
        ("{0,1,2:T(8,128)}", GIB),
        ("{1,2,0:T(4,128)}", 16 * GIB),
        ("{1,0,2:T(8,128)}", 16 * GIB),
        ("{2,0,1:T(8,128)}", 32 * GIB),
    ];
    assert_eq!(texts(&found.layouts), expected.map(|(text, bytes)| (text.to_owned(), bytes)));
    assert_eq!((found.smaller, found.smaller().count()), (4, 4));
    assert_eq!(found.layouts[0].saves(&found.given), 31 * GIB as i64);
    let arrays: Vec<(String, u64, Change)> = found
        .arrays
        .into_iter()
        .map(|one| (one.footprint.shape.to_string(), one.footprint.bytes, one.change))
        .collect();
    let expected = [
        ("s32[8,4,8388608]{2,1,0:T(4,128)}".to_owned(), GIB, Change::Transposed(vec![1, 2, 0])),
        ("s32[8388608,32]{1,0:T(8,128)}".to_owned(), 4 * GIB, Change::Merged(1..3)),
        ("s32[268435456]{0:T(1024)}".to_owned(), GIB, Change::Merged(0..3)),
    ];
    assert_eq!(arrays, expected);
}

#[test]
fn known_complaints_have_the_answers_that_people_worked_out_by_hand() {
    // The particles of a scatter: 146 MiB twice for 9 MiB each.
    let particles = found("f32[300000,8]{1,0:T(8,128)}", "tpu-v5e");
    assert_eq!(particles.given.bytes, 153_600_000);
    let best = particles.smaller().next().unwrap();
    assert_eq!((best.shape.to_string().as_str(), best.bytes), ("f32[300000,8]{0,1:T(8,128)}", 9_601_024));
    // Four times, on a TPU whose smallest tile of bf16 is (4,128); later ones would give this order (2,128).
    let sharded = found("bf16[2048,1,2048,128]{0,1,3,2:T(4,128)(2,1)}", "tpu-v3");
    assert_eq!((sharded.given.bytes, sharded.layouts[0].bytes), (4 * GIB, GIB));
    let row_major = found("bf16[2048,1,2048,128]{3,2,1,0:T(8,128)(2,1)}", "tpu");
    assert_eq!((row_major.given.bytes, row_major.smaller), (GIB, 0));
    // 1.5 KiB of elements in 64 KiB.
    let narrow = found("f32[128,3]{1,0:T(8,128)S(1)}", "tpu");
    assert_eq!(narrow.given.bytes, 64 << 10);
    assert_eq!(texts(&narrow.layouts), [("{0,1:T(4,128)S(1)}".to_owned(), 2048)]);
    // A tile of 32 × 32 over dimensions 1 and 2.
    let tall = found("bf16[2621440,1,2]", "tenstorrent");
    assert!(tall.is_assumed);
    assert_eq!((tall.given.bytes, tall.layouts[0].bytes), (5 * GIB, 160 * MIB));
    assert_eq!(tall.arrays.last().unwrap().footprint.shape.dims().len(), 2);
}

#[test]
fn what_needs_no_other_order_gets_none() {
    for text in [
        "f32[129,1024]{1,0:T(8,128)}",
        "f32[]{:T(128)}",
        "f32[17]",
        "f32[0,3]",
        "f32[64,128,1]{1,0,2:T(8,128)}",
    ] {
        let found = found(text, "tpu");
        assert_eq!((found.smaller, found.arrays.len()), (0, 0), "{text}");
    }
    // Everything of the target is larger than an array without padding, and that is told.
    let packed = found("f32[3,5]{strides(5,1)}", "tpu");
    assert!(!packed.is_assumed && packed.smaller == 0);
    assert_eq!(
        (packed.given.bytes, packed.layouts[0].bytes, packed.layouts[0].saves(&packed.given)),
        (60, 2048, -1988)
    );
}

#[test]
fn what_cannot_be_answered_is_refused() {
    let tpu = Target::from_name("tpu").unwrap();
    let refused = |text: &str| suggest(&array(text), &tpu).unwrap_err().to_string();
    assert!(refused("f32[?,3]").contains("dimension 0"), "{}", refused("f32[?,3]"));
    assert!(refused("f32[1152921504606846976,1]{1,0:T(8,128)}").contains("63 bits"));
    assert_eq!(found("f32[<=8,3]{1,0:T(8,128)}", "tpu").given.bytes, 4096);
    let wide = Target::of_tiles([vec![Tile::new([2; 9]).unwrap()]]).unwrap();
    let many = array("f32[2,3,4,5,6,7,8,9,10,11,12]");
    assert!(suggest(&many, &wide).unwrap_err().to_string().contains("more than 20000 orders"));
}

#[test]
fn any_number_of_dimensions_is_answered_at_once() {
    let ones = vec!["1"; 253].join(",");
    let found = found(&format!("f32[2,{ones},300,7]"), "tpu");
    assert_eq!(found.given.bytes, 2 * 304 * 128 * 4);
    assert_eq!(found.layouts[0].bytes, 7 * 2 * 384 * 4);
    assert!(found.arrays.iter().all(|one| matches!(one.change, Change::Transposed(_))));
}

/// All orders of `0..rank`.
fn orders(rank: usize) -> Vec<Vec<usize>> {
    let mut all = vec![vec![]];
    for dim in 0..rank {
        all = all
            .iter()
            .flat_map(|order| (0..=dim).map(move |at| [&order[..at], &[dim], &order[at..]].concat()))
            .collect();
    }
    all
}

/// Pairs that stand the other way round, one by one.
fn turned(given: &[usize], order: &[usize]) -> usize {
    let place = |dim: usize| order.iter().position(|&other| other == dim).unwrap();
    let pairs = (0..given.len()).flat_map(|i| (i + 1..given.len()).map(move |j| (i, j)));
    pairs.filter(|&(i, j)| place(given[i]) > place(given[j])).count()
}

/// The layout that a target gives to an order: what it assumes of an array that has the order and no tiles.
fn placed(array: &ArrayShape, order: &[usize], target: &Target) -> Footprint {
    let like = array.layout().unwrap();
    let layout = Layout::new(order.iter().copied())
        .unwrap()
        .with_element_size_in_bits(like.element_size_in_bits())
        .with_memory_space(like.memory_space().into())
        .unwrap()
        .with_tail_padding_alignment_in_elements(like.tail_padding_alignment_in_elements())
        .unwrap();
    target.place(&array.clone().with_layout(layout).unwrap()).unwrap()
}

const TILES: [&str; 9] = [
    "T(8,128)(2,1)",
    "T(2,2)",
    "T(3)",
    "T(2,*,3)",
    "T(*,4)(2,1)",
    "T(2,2)(2,1,1,1)",
    "T(2,3)(2,1,2,1,1)",
    "T(2,2,2,2)",
    "T(5)(3,2,1)",
];

fn targets() -> impl Strategy<Value = Target> {
    let names = &["tpu", "tpu-v3", "tenstorrent"][..];
    let named = proptest::sample::select(names).prop_map(|name| Target::from_name(name).unwrap());
    let lists = proptest::collection::vec(proptest::sample::select(&TILES[..]), 1..3);
    let own = lists.prop_map(|lists| {
        Target::of_tiles(lists.into_iter().map(|text| tiles_from_text(text).unwrap())).unwrap()
    });
    prop_oneof![named, own]
}

fn arrays() -> impl Strategy<Value = ArrayShape> {
    let sizes = prop_oneof![Just(1_u64), 1..6_u64, 1..40_u64, Just(128), 100..300_u64];
    let element = proptest::sample::select(&["f32", "bf16", "s8", "pred", "c64"][..]);
    (proptest::collection::vec(sizes, 0..6), element, any::<proptest::sample::Index>(), 0..3_u8).prop_map(
        |(sizes, element, order, more)| {
            let sizes: Vec<String> = sizes.iter().map(u64::to_string).collect();
            let order: Vec<String> = order.get(&orders(sizes.len())).iter().map(usize::to_string).collect();
            let more = [":", ":S(1)", ":L(32)"][usize::from(more)];
            let more = if more == ":" { "" } else { more };
            array(&format!("{element}[{}]{{{}{more}}}", sizes.join(","), order.join(",")).replace("{}", ""))
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]

    #[test]
    fn no_order_is_missed_and_none_is_told_wrong(array in arrays(), target in targets()) {
        let found = suggest(&array, &target).unwrap();
        let own = array.layout().unwrap().minor_to_major().to_vec();
        // The smallest of all orders is the first, or the given one.
        let all: Vec<Footprint> = orders(array.rank()).iter().map(|order| placed(&array, order, &target)).collect();
        let least = all.iter().map(|one| one.bytes).min().unwrap();
        let best = found.layouts.iter().chain([&found.given]).map(|one| one.bytes).min().unwrap();
        prop_assert_eq!(least, best);
        prop_assert!(found.layouts.is_sorted_by_key(|one| one.bytes));
        prop_assert_eq!(&found.given, &placed(&array, &own, &target));
        // Every size that some order has is among them.
        if found.layouts.len() < KEPT {
            for one in &all {
                let told = found.layouts.iter().chain([&found.given]).any(|told| told.bytes == one.bytes);
                prop_assert!(told, "{} of {} B is not among them", one.shape, one.bytes);
            }
        }
        for (at, one) in found.layouts.iter().enumerate() {
            // Sizes are the core's, and nothing stands there twice.
            prop_assert_eq!(one.bytes, one.shape.lower().unwrap().bytes());
            prop_assert_eq!(array.dims(), one.shape.dims());
            prop_assert!(one.shape != found.given.shape && !found.layouts[..at].contains(one));
            prop_assert_eq!(one.saves(&found.given) > 0, at < found.smaller);
        }
        // Suggesting again, from the best, finds nothing smaller.
        if let Some(best) = found.layouts.first().filter(|best| best.bytes < found.given.bytes) {
            prop_assert_eq!(suggest(&best.shape, &target).unwrap().smaller, 0);
        }
        for one in &found.arrays {
            prop_assert!(one.footprint.bytes * 4 <= found.given.bytes * 3);
            prop_assert_eq!(one.footprint.bytes, one.footprint.shape.lower().unwrap().bytes());
            prop_assert_eq!(one.footprint.shape.elements_in().unwrap(), array.elements_in().unwrap());
            prop_assert!(one.footprint.shape.layout().unwrap().is_monotonic_with_dim0_major());
        }
    }

    #[test]
    fn of_the_orders_that_cost_the_same_the_nearest_is_told(array in arrays(), name in proptest::sample::select(&["tpu", "tpu-v2"][..])) {
        let target = Target::from_name(name).unwrap();
        let found = suggest(&array, &target).unwrap();
        let own = array.layout().unwrap().minor_to_major();
        let sizes = |one: &Footprint| -> Vec<u64> {
            let order = one.shape.layout().unwrap().minor_to_major();
            order.iter().take(2).map(|&dim| array.dims()[dim].bound().unwrap()).collect()
        };
        let all = orders(array.rank());
        for told in &found.layouts {
            let here = turned(own, told.shape.layout().unwrap().minor_to_major());
            for order in &all {
                let other = placed(&array, order, &target);
                if sizes(&other) == sizes(told) {
                    prop_assert_eq!(other.bytes, told.bytes);
                    prop_assert!(turned(own, order) >= here, "{} is nearer than {}", other.shape, told.shape);
                }
            }
        }
    }

    #[test]
    fn the_largest_and_the_smallest_sizes_are_answered_or_refused(
        sizes in proptest::collection::vec(prop_oneof![0..3_u64, 1_u64 << 30..1 << 33, Just(1 << 61), Just(i64::MAX as u64), 1..4_u64], 0..9),
        tile in proptest::collection::vec(prop_oneof![1..300_u64, Just(1_u64 << 62)], 1..6),
        more in proptest::option::of(prop_oneof![Just("E(1)"), Just("E(4000000000)"), Just("L(9223372036854775807)"), Just("M(9223372036854775807)")]),
        own in any::<bool>(),
    ) {
        let list = |sizes: &[u64]| sizes.iter().map(u64::to_string).collect::<Vec<String>>().join(",");
        let order: Vec<u64> = (0..sizes.len() as u64).rev().collect();
        let tile = format!("T({})", list(&tile));
        let braces = format!("{{{}:{tile}{}}}", list(&order), more.unwrap_or_default());
        let target = match own {
            true => Target::of_tiles([tiles_from_text(&tile).unwrap()]).unwrap(),
            false => Target::from_name("tpu").unwrap(),
        };
        for braces in [&braces[..], ""] {
            let Ok(shape) = Shape::parse(&format!("pred[{}]{braces}", list(&sizes))) else { continue };
            if let Ok(found) = suggest(shape.as_array().unwrap(), &target) {
                prop_assert!(found.layouts.iter().all(|one| one.shape.lower().unwrap().bytes() == one.bytes));
            }
        }
    }
}
