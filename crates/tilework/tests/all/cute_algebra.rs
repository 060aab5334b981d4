//! The algebra of CuTe's layouts: NVIDIA's own cases, and what must hold of every layout, against tables of offsets.

use proptest::prelude::*;
use serde_json::Value;
use tilework::Result;
use tilework::cute::{IntTuple, Layout, Tiler, operation};

/// The cases of NVIDIA's tests that the table has, with its source and license: what CuTe IR gives for an operation.
fn cases() -> Vec<(String, Option<String>, Vec<String>, String)> {
    let all: Value = serde_json::from_str(include_str!("../cases/cute.json")).unwrap();
    assert!(all["source"].as_str().unwrap().contains("BSD-3-Clause"));
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let of_operation = |(name, cases): (&String, &Value)| {
        let case = |case: &Value| {
            let inputs = case["in"].as_array().unwrap().iter().map(text).collect();
            (name.clone(), case.get("param").map(text), inputs, text(&case["out"]))
        };
        cases.as_array().unwrap().iter().map(case).collect::<Vec<_>>()
    };
    all["cases"].as_object().unwrap().iter().flat_map(of_operation).collect()
}

/// What the table has and no layout can be: 4@0 and 5@0 overlap, and the answer is that of 4@1, in mode 1.
const MISTAKEN: &str = "(2,1,5,3):(4@0,0,5@0,16@1)";

#[test]
fn operations_give_what_cute_ir_gives() {
    let mut wrong = Vec::new();
    let cases = cases();
    assert!(cases.len() > 250);
    for (name, param, inputs, expected) in cases {
        let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
        let found = operation(&name, param.as_deref(), &inputs);
        let text = found.as_ref().map_or_else(ToString::to_string, Clone::clone);
        if inputs == [MISTAKEN] {
            assert!(found.is_err(), "{text}");
        } else if text != expected {
            wrong.push(format!("{name}{} {inputs:?}: {text}, not {expected}", param.unwrap_or_default()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_mistaken_case_holds_of_the_layout_that_is_meant() -> Result<()> {
    let meant = operation("complement", None, &["(2,1,5,3):(4@1,0,5@0,16@1)"])?;
    assert_eq!(meant, "((5,1),(4,2,1)):((1@0,25@0),(1@1,8@1,48@1))");
    Ok(())
}

#[test]
fn answers_are_cute_irs_where_pycutes_differ() -> Result<()> {
    for (name, inputs, expected) in [
        ("complement", &["3:1", "3"][..], "1:3"),      // not 1:0
        ("complement", &["4:2", "19"], "(2,3):(1,8)"), // rounds up
        ("composition", &["(4,3):(3,1)", "(24):(1)"], "((4,6)):((3,1))"), // the last mode goes on
    ] {
        assert_eq!(operation(name, None, inputs)?, expected, "{name} {inputs:?}");
    }
    Ok(())
}

#[test]
fn indices_and_coordinates_go_both_ways() -> Result<()> {
    for (name, inputs, expected) in [
        ("crd2idx", &["(1,2)", "(4,8)", "(8,1)"][..], "10"),
        ("crd2idx", &["(1,2)", "(4,8):(8,1)"], "10"),
        ("idx2crd", &["10", "(4,8)", "(8,1)"], "(1,2)"),
        ("idx2crd", &["10", "(4,(2,4)):(8,(1,2))"], "(1,(0,1))"),
        ("idx2crd", &["10", "(4,8)"], "(2,2)"),
        ("size", &["(4,(2,4)):(8,(1,2))"], "32"),
    ] {
        assert_eq!(operation(name, None, inputs)?, expected, "{name} {inputs:?}");
    }
    assert_eq!(operation("size", Some("<1>"), &["(4,(2,4)):(8,(1,2))"])?, "8");
    assert_eq!(operation("get", Some("<1,0>"), &["(4,(2,4)):(8,(1,2))"])?, "2:1");
    assert_eq!(operation("slice", None, &["(_,(1,_))", "(4,(2,4)):(8,(1,2))"])?, "(4,4):(8,2)");
    assert_eq!(operation("dice", None, &["(_,(1,_))", "(4,(2,4)):(8,(1,2))"])?, "(2):(1)");
    assert_eq!(operation("max_alignment", None, &["(8,16):(1,6)"])?, "2");
    assert!(operation("no_such", None, &["4:1"]).is_err());
    Ok(())
}

/// The sizes and strides at the bottom of a layout.
fn digits(layout: &Layout) -> Vec<(i64, i64)> {
    let ints = |tuple: &IntTuple| -> Vec<i64> {
        tuple.flatten().modes().iter().map(|leaf| leaf.as_int().unwrap()).collect()
    };
    ints(layout.shape()).into_iter().zip(ints(layout.stride())).collect()
}

/// The offsets of a layout, index by index: digits of the flattened shape, the first fastest.
fn table(layout: &Layout) -> Vec<i64> {
    let digits = digits(layout);
    let size: i64 = digits.iter().map(|digit| digit.0).product();
    let offset = |index: i64| {
        let (mut left, mut offset) = (index, 0);
        for (size, stride) in &digits {
            offset += left % size * stride;
            left /= size;
        }
        offset
    };
    (0..size).map(offset).collect()
}

/// The offset of any index, the last digit going on beyond the size.
fn at(layout: &Layout, index: i64) -> i64 {
    let size = table(layout).len() as i64;
    let flat = layout.flatten().unwrap();
    let last = flat.rank() - 1;
    let [extent, stride] = [flat.shape(), flat.stride()].map(|tuple| tuple.modes()[last].as_int().unwrap());
    let before = size / extent;
    table(layout)[(index % before) as usize] + index / before * stride
}

/// Whether a table is that of any layout, by trying every way to split its size.
fn is_layout(table: &[i64]) -> bool {
    if table.len() == 1 {
        return table[0] == 0;
    }
    (2..=table.len()).filter(|first| table.len().is_multiple_of(*first)).any(|first| {
        let starts: Vec<i64> = table.iter().copied().step_by(first).collect();
        let rises = (0..).zip(&table[..first]).all(|(place, offset)| *offset == place * table[1]);
        let repeats = table
            .chunks(first)
            .zip(&starts)
            .all(|(chunk, start)| chunk.iter().zip(table).all(|(offset, own)| offset - start == *own));
        rises && repeats && is_layout(&starts)
    })
}

/// A flat layout as a text: digits with any strides, or strides of an order with gaps.
fn layout() -> impl Strategy<Value = Layout> {
    let any = prop::collection::vec((1..6_i64, 0..13_i64), 1..4);
    let ordered = prop::collection::vec((1..6_i64, 1..4_i64), 1..4).prop_flat_map(|digits| {
        let mut next = 1;
        let strided: Vec<(i64, i64)> = digits
            .iter()
            .map(|&(size, gap)| {
                next *= gap;
                let stride = next;
                next *= size;
                (size, stride)
            })
            .collect();
        Just(strided).prop_shuffle()
    });
    (prop_oneof![any, ordered], 0..3).prop_map(|(digits, nest)| {
        let part = |pick: fn(&(i64, i64)) -> i64| {
            let flat: IntTuple = digits.iter().map(|digit| pick(digit).into()).collect();
            match nest {
                0 if flat.rank() > 1 => flat.group(0, 2).unwrap(),
                1 if flat.rank() > 1 => flat.group(1, flat.rank() as i64).unwrap(),
                _ => flat,
            }
        };
        Layout::new(part(|digit| digit.0), part(|digit| digit.1)).unwrap()
    })
}

fn is_injective(table: &[i64]) -> bool {
    let mut sorted = table.to_vec();
    sorted.sort_unstable();
    sorted.windows(2).all(|pair| pair[0] != pair[1])
}

fn sorted(mut table: Vec<i64>) -> Vec<i64> {
    table.sort_unstable();
    table
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn evaluation_is_the_sum_of_digits(layout in layout(), beyond in 0..100_i64) {
        for (index, offset) in (0..).zip(table(&layout)) {
            prop_assert_eq!(layout.eval(&IntTuple::from(index)).unwrap().as_int(), Some(offset));
            let coord = IntTuple::from(index).coord_in(layout.shape()).unwrap();
            prop_assert_eq!(layout.eval(&coord).unwrap().as_int(), Some(offset));
            prop_assert_eq!(coord.index_in(layout.shape()).unwrap(), index);
        }
        prop_assert_eq!(layout.eval(&beyond.into()).unwrap().as_int(), Some(at(&layout, beyond)));
        prop_assert_eq!(layout.cosize().unwrap(), table(&layout).into_iter().max().unwrap() + 1);
    }

    #[test]
    fn coordinates_follow_one_another(layout in layout()) {
        let mut coord = IntTuple::from(0).coord_in(layout.shape()).unwrap();
        for index in 0..layout.size().unwrap() {
            prop_assert_eq!(&coord, &IntTuple::from(index).coord_in(layout.shape()).unwrap());
            coord = coord.increment(layout.shape()).unwrap();
        }
    }

    #[test]
    fn a_coalesced_layout_is_the_same_function(layout in layout()) {
        let coalesced = layout.coalesce().unwrap();
        prop_assert_eq!(table(&coalesced), table(&layout));
        prop_assert!(coalesced.shape().depth() <= 1);
        prop_assert_eq!(coalesced.coalesce().unwrap(), coalesced);
        let filtered = layout.filter().unwrap();
        let offsets = |layout: &Layout| { let mut all = sorted(table(layout)); all.dedup(); all };
        prop_assert_eq!(offsets(&filtered), offsets(&layout));
    }

    #[test]
    fn a_composition_is_one_after_the_other_or_no_layout(a in layout(), b in layout()) {
        match a.compose(&b) {
            Ok(both) => {
                let expected: Vec<i64> = table(&b).into_iter().map(|offset| at(&a, offset)).collect();
                prop_assert_eq!(table(&both), expected, "{} o {} = {}", a, b, both);
            }
            // Then a mode of b by itself picks offsets that no layout has, or the modes of b together do not add up.
            Err(_) => {
                let flat = b.flatten().unwrap();
                let picked = |layout: &Layout| -> Vec<i64> {
                    table(layout).into_iter().map(|offset| at(&a, offset)).collect()
                };
                let modes: Vec<Vec<i64>> =
                    (0..flat.rank()).map(|number| picked(&flat.mode(number).unwrap())).collect();
                let mut sums = vec![0];
                for mode in &modes {
                    sums = mode.iter().flat_map(|offset| sums.iter().map(move |sum| sum + offset)).collect();
                }
                let is_none = modes.iter().any(|mode| !is_layout(mode)) || sums != picked(&b);
                prop_assert!(is_none, "{} o {}", a, b);
            }
        }
    }

    #[test]
    fn a_complement_fills_the_gaps_and_nothing_else(layout in layout(), size in 1..200_i64) {
        let Ok(complement) = layout.complement_to(&size.into()) else {
            // Modes overlap: one begins before smaller ones end.
            return Ok(());
        };
        let (own, other) = (table(&layout), table(&complement));
        // Disjoint but for 0, and ascending.
        prop_assert!(other.iter().skip(1).all(|offset| !own.contains(offset)), "{} and {}", layout, complement);
        prop_assert!(other.is_sorted() && is_injective(&other), "{}", complement);
        let both = Layout::new(
            [layout.shape().clone(), complement.shape().clone()].into_iter().collect(),
            [layout.stride().clone(), complement.stride().clone()].into_iter().collect(),
        ).unwrap();
        if is_injective(&own) {
            prop_assert!(is_injective(&table(&both)), "{} and {}", layout, complement);
        }
        // Where strides are multiples of where the modes before them end, nothing is left out.
        let mut digits: Vec<(i64, i64)> = digits(&layout);
        digits.retain(|digit| digit.0 > 1 && digit.1 > 0);
        digits.sort_by_key(|digit| digit.1);
        let ends = std::iter::once(1).chain(digits.iter().map(|(size, stride)| size * stride));
        if digits.iter().zip(ends).all(|((_, stride), end)| stride % end == 0) {
            prop_assert!(both.cosize().unwrap() >= size);
            let all = sorted(table(&both));
            prop_assert!((0..size).all(|offset| all.binary_search(&offset).is_ok()), "{} and {}", layout, complement);
        }
    }

    #[test]
    fn inverses_undo(layout in layout()) {
        let right = layout.right_inverse().unwrap();
        for (index, place) in (0..).zip(table(&right)) {
            prop_assert_eq!(at(&layout, place), index, "{} and {}", layout, right);
        }
        match layout.left_inverse() {
            // CuTe does not see every overlap.
            Ok(_) if !is_injective(&table(&layout.filter().unwrap())) => {}
            Ok(left) => for (index, offset) in (0..).zip(table(&layout)) {
                // Modes of stride 0 give one offset for several indices.
                let expected = table(&layout).iter().position(|&first| first == offset).unwrap() as i64;
                prop_assert!(expected <= index);
                prop_assert_eq!(at(&left, offset), expected, "{} and {}", layout, left);
            },
            Err(error) => prop_assert!(error.to_string().contains("injective"), "{}", error),
        }
    }

    #[test]
    fn a_division_has_the_tiles_first_and_all_that_is_left_second(a in layout(), b in layout()) {
        let Ok(divided) = a.logical_divide(&b.clone().into()) else { return Ok(()) };
        prop_assert_eq!(divided.rank(), 2);
        let tile: Vec<i64> = table(&b).into_iter().map(|offset| at(&a, offset)).collect();
        prop_assert_eq!(table(&divided.mode(0).unwrap()), tile, "{} / {}", a, b);
        // Where the tiles cover the layout exactly, nothing is lost.
        let [whole, size] = [divided.size().unwrap(), a.size().unwrap()];
        let rest = b.complement_to(&size.into()).unwrap();
        let places = Layout::new(
            [b.shape().clone(), rest.shape().clone()].into_iter().collect(),
            [b.stride().clone(), rest.stride().clone()].into_iter().collect(),
        ).unwrap();
        if whole == size && sorted(table(&places)) == (0..size).collect::<Vec<i64>>() {
            prop_assert_eq!(sorted(table(&divided)), sorted(table(&a)), "{} / {}", a, b);
        }
    }

    #[test]
    fn divisions_differ_in_where_the_modes_stand(a in layout(), tiles in prop::collection::vec(1..5_i64, 1..4)) {
        let tiler = Tiler::of_shape(&IntTuple::flat(&tiles)).unwrap();
        let Ok(zipped) = a.zipped_divide(&tiler) else { return Ok(()) };
        let tiled = a.tiled_divide(&tiler).unwrap();
        let flat = a.flat_divide(&tiler).unwrap();
        prop_assert_eq!(table(&zipped), table(&tiled));
        prop_assert_eq!(table(&zipped), table(&flat));
        prop_assert_eq!(zipped.rank(), 2);
        prop_assert_eq!(tiled.rank(), 1 + zipped.mode(1).unwrap().rank());
        let logical = a.logical_divide(&tiler).unwrap();
        prop_assert_eq!(sorted(table(&logical)), sorted(table(&zipped)));
        // CuTe rounds up digit by digit where a mode nests, and then leaves some out.
        if a.shape().depth() <= 1 {
            prop_assert!(zipped.size().unwrap() >= a.size().unwrap());
        }
    }

    #[test]
    fn a_product_repeats_the_layout_without_overlap(a in layout(), b in layout()) {
        let Ok(product) = a.logical_product(&b.clone().into()) else { return Ok(()) };
        prop_assert_eq!(product.mode(0).unwrap(), a.clone());
        prop_assert_eq!(product.size().unwrap(), a.size().unwrap() * b.size().unwrap());
        if is_injective(&table(&a)) && is_injective(&table(&b)) {
            prop_assert!(is_injective(&table(&product)), "{} × {} = {}", a, b, product);
        }
        let blocked = a.blocked_product(&b).unwrap();
        prop_assert_eq!(sorted(table(&blocked)), sorted(table(&product)));
        let raked = a.raked_product(&b).unwrap();
        prop_assert_eq!(sorted(table(&raked)), sorted(table(&product)));
        prop_assert_eq!(blocked.rank(), a.rank().max(b.rank()));
    }

    #[test]
    fn tiling_covers_the_shape(a in layout(), sizes in prop::collection::vec(1..12_i64, 3)) {
        let shape = IntTuple::flat(&sizes);
        let Ok(tiled) = a.tile_to_shape(&shape) else { return Ok(()) };
        for (mode, size) in tiled.shape().modes().iter().zip(sizes) {
            prop_assert!(mode.product().unwrap() >= size);
        }
        if is_injective(&table(&a)) {
            prop_assert!(is_injective(&table(&tiled)));
        }
    }

    #[test]
    fn elements_of_another_width_are_the_same_bytes(layout in layout(), factor in 1..5_u32) {
        let narrow = layout.recast(8, 8 * factor).unwrap();
        prop_assert_eq!(narrow.recast(8 * factor, 8).unwrap(), layout.clone());
        let ones = digits(&layout).into_iter().filter(|digit| digit.1 == 1).count();
        if ones == 1 && is_injective(&table(&layout)) {
            let bytes = |layout: &Layout, width: i64| {
                let mut bytes: Vec<i64> =
                    table(layout).into_iter().flat_map(|offset| offset * width..(offset + 1) * width).collect();
                bytes.sort_unstable();
                bytes.dedup();
                bytes
            };
            prop_assert_eq!(bytes(&narrow, 1), bytes(&layout, factor.into()), "{} and {}", layout, narrow);
        }
    }
}

/// The examples that CuTe's whitepaper (arXiv:2603.02298) and the tests of NVIDIA's PyCuTe have for the two conditions.
#[test]
fn what_does_not_divide_is_refused_with_cutes_condition_and_what_would_do() {
    let compose = |first: &str, second: &str| -> Result<Layout> {
        Layout::parse(first)?.compose(&Layout::parse(second)?)
    };
    for (first, second, condition, accepted) in [
        ("(5,3):(7,1)", "7:1", "shape divisibility condition: 5", "a size of 5 or 10, or a stride of 5"),
        (
            "(4,6,8):(2,3,5)",
            "6:3",
            "stride divisibility condition: neither of stride 3 and mode 4",
            "a size of 2, or a stride of 2 or 4",
        ),
        ("(4,6,8):(2,3,5)", "6:1", "shape divisibility condition: 4", "a size of 4 or 8, or a stride of 2"),
        ("(4,3):(1,100)", "6:1", "shape divisibility condition: 4", "a size of 4 or 8, or a stride of 2"),
    ] {
        let error = compose(first, second).unwrap_err();
        let rule = error.broken_rule().unwrap();
        assert!(rule.contains(condition), "{first} after {second}: {rule}");
        assert!(error.accepted().unwrap().starts_with(accepted), "{first} after {second}: {error}");
        // What would do does: each size and each stride that is named.
        let (size, stride) = second.split_once(':').unwrap();
        let mut tried = 0;
        for part in error.accepted().unwrap().split(", or ") {
            let (what, numbers) = part.split_once(" of ").unwrap();
            for number in numbers.split(" or ") {
                let other =
                    if what == "a size" { format!("{number}:{stride}") } else { format!("{size}:{number}") };
                assert!(compose(first, &other).is_ok(), "{first} after {other}");
                tried += 1;
            }
        }
        assert!(tried > 1);
    }
    let inverse = Layout::parse("(2,3):(4,6)").unwrap().left_inverse().unwrap_err();
    assert_eq!(inverse.accepted(), Some("a stride of 8 in place of 6"));
    let complement = Layout::parse("(4,3):(1,2)").unwrap().complement().unwrap_err();
    assert_eq!(complement.accepted(), Some("a multiple of 4 in place of 2"));
    let divided = IntTuple::parse("6").unwrap().shape_div(&IntTuple::parse("4").unwrap()).unwrap_err();
    assert_eq!(divided.accepted(), Some("4 or 8 with 4"));
}
