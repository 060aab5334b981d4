//! TVM's index maps and tile layouts: against what TVM itself prints and computes, and against short sums.

use proptest::prelude::*;
use tilework::dialect::{self, Dialect, Fact, Said, Target};
use tilework::{Element, Layout, Result, Swizzle};

use crate::common::indices;

fn read(text: &str) -> Said {
    dialect::read_one(text).unwrap_or_else(|error| panic!("{text}: {}", error.report(text)))
}

fn numbers(text: &str, between: char) -> Vec<u64> {
    text.split(between).map(|number| number.parse().unwrap()).collect()
}

/// `1.17@53 0.6@5`: indices and offsets.
fn places(text: &str) -> Vec<(Vec<u64>, u64)> {
    let place = |place: &str| {
        let (index, offset) = place.split_once('@').unwrap();
        (numbers(index, '.'), offset.parse().unwrap())
    };
    text.split_whitespace().map(place).collect()
}

fn rows(table: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    table.lines().filter(|line| !line.starts_with('#')).map(|line| line.split('\t').collect())
}

#[test]
fn a_map_leads_to_the_array_that_tvm_says_or_is_refused() {
    let (mut taken, mut refused) = (0, 0);
    for row in rows(include_str!("../data/tvm_index_maps.tsv")) {
        let [sizes, map, shape, offsets] = row[..] else { panic!("{row:?}") };
        let text = format!("f32[{sizes}] {map}");
        let Ok(said) = dialect::read_one(&text) else {
            refused += 1;
            continue;
        };
        let facts = said.facts();
        let field = facts.fields.iter().find(|field| field.0 == "mapped_dimensions").unwrap();
        let wanted: Fact = match shape {
            "-" => panic!("{text}: TVM fails"),
            shape => numbers(shape, ',').into_iter().collect(),
        };
        assert_eq!(field.1, wanted, "{text}");
        let layout = said.layout().unwrap();
        assert_eq!(layout.size(), numbers(shape, ',').iter().product::<u64>(), "{text}");
        for (index, offset) in places(offsets) {
            assert_eq!(layout.offset(&index).unwrap(), offset, "{text} at {index:?}");
        }
        taken += 1;
    }
    // What is refused are maps without a way back, and sizes that depend on how TVM takes a map apart.
    assert_eq!((taken, refused), (148, 92));
}

#[test]
fn a_tile_layout_has_the_places_that_tvm_computes() {
    for row in rows(include_str!("../data/tvm_tile_layouts.tsv")) {
        let [sizes, layout, offsets] = row[..] else { panic!("{row:?}") };
        let said = read(&format!("f32[{sizes}] {layout}"));
        let layout = said.layout().unwrap();
        assert_eq!(layout.dims(), numbers(sizes, ','));
        for (index, offset) in places(offsets) {
            assert_eq!(layout.offset(&index).unwrap(), offset, "{said} at {index:?}");
        }
        let again = read(&said.to_string());
        assert_eq!((again.to_string(), again.layout()), (said.to_string(), Ok(layout)));
    }
}

/// From TVM's own tests (Apache-2.0, commit 5d4dc87, `tests/python/tirx-base/test_tir_index_map.py`): maps, sizes, and the
/// sizes that they lead to.
const MAPS: [(&str, &str, &[u64]); 10] = [
    ("16", "lambda i: [i // 4, i % 4]", &[4, 4]),
    ("15", "lambda i: [i // 4, i % 4]", &[4, 4]),
    ("15", "lambda i: [(i + 1) // 4, (i + 1) % 4]", &[4, 4]),
    ("14", "lambda i: [(i + 1) // 4, (i + 1) % 4]", &[4, 4]),
    ("14,31", "lambda i, j: [(i + 1) // 4, (j + 5) // 8, (i + 1) % 4, (j + 5) % 8]", &[4, 5, 4, 8]),
    ("116", "lambda i: [i // 32, (i // 4) % 8, i % 4]", &[4, 8, 4]),
    ("116", "lambda i: [(i // 4) % 8, i // 32, i % 4]", &[8, 4, 4]),
    ("123", "lambda i: [(i + 5) // 32, ((i + 5) // 4) % 8, (i + 5) % 4]", &[4, 8, 4]),
    ("123", "lambda i: [((i + 5) // 4) % 8, (i + 5) // 32, (i + 5) % 4]", &[8, 4, 4]),
    ("3", "lambda i: [i // 4, i % 4]", &[1, 4]),
];

#[test]
fn maps_of_tvms_tests_lead_to_their_sizes() {
    for (sizes, map, shape) in MAPS {
        let said = read(&format!("f32[{sizes}] {map}"));
        let field = said.facts().fields.into_iter().find(|field| field.0 == "mapped_dimensions").unwrap();
        assert_eq!(field.1, shape.iter().copied().collect::<Fact>(), "{map}");
        assert_eq!(said.layout().unwrap().size(), shape.iter().product::<u64>());
    }
}

#[test]
fn maps_print_as_tvm_prints_them() {
    for (text, printed) in [
        ("f32[8,8] lambda i, j: [(i // 4) % 2, j, i % (4)]", "f32[8,8] lambda i, j: (i // 4 % 2, j, i % 4)"),
        (
            "f32[20] lambda x: ((3 + x) // 32, (x + 3) % 32)",
            "f32[20] lambda x: ((x + 3) // 32, (x + 3) % 32)",
        ),
        ("f32[3,8] lambda i, j: i * 8 + j", "f32[3,8] lambda i, j: (i * 8 + j,)"),
        (
            "f32[24] T.index_map(lambda i: ((i // T.int64(8)), i % T.int64(8),), index_dtype='int64')",
            "f32[24] lambda i: (i // 8, i % 8)",
        ),
        (
            "f32[24] tvm.tir.IndexMap.from_func(lambda i: [floordiv(i, 8), tvm.tir.indexmod(i, 8)])",
            "f32[24] lambda i: (i // 8, i % 8)",
        ),
        (
            "f32[3,8] T.index_map(lambda i, j: (i * 8 + j,), inverse_index_map=lambda k: (k // 8, k % 8))",
            "f32[3,8] T.index_map(lambda i, j: (i * 8 + j,), inverse_index_map=lambda k: (k // 8, k % 8))",
        ),
        ("f32 S[2, 3, 4]", "f32[2,3,4] S[(2, 3, 4):(12, 4, 1)]"),
        ("f32[24] T.TileLayout(T.S[(4, 6):(-6, 1)] + 20)", "f32[24] S[(4, 6):(-6, 1)] + 20"),
        (
            "f32 S[8:\"laneid\"] + 1@laneid + 2 @ Axis.warpid + 64",
            "f32[8] S[8:1@laneid] + 1@laneid + 64 + 2@warpid",
        ),
        ("f32 S[(8,):((4, 'laneid'),)]", "f32[8] S[8:4@laneid]"),
    ] {
        let said = read(text);
        assert_eq!(said.to_string(), printed);
        assert_eq!(said.dialect().name, "tvm");
        assert_eq!(read(printed).to_string(), printed);
    }
}

#[test]
fn threads_and_copies_are_explained_and_have_no_layout() {
    for (text, why) in [
        (
            "f16[8,16] S[(8, 2, 4, 2):(4@laneid, 1@warpid, 1@laneid, 1)] + R[2:4@warpid] + 5@warpid",
            "laneid counts threads",
        ),
        ("f32[2,128,112] S[(2, 128, 112):(112@TCol, 1@TLane, 1@TCol)]", "TCol is an address"),
        ("f32[8] S[8:1] + R[2:8]", "R[2:8] puts each element at several places"),
    ] {
        let said = read(text);
        assert!(said.open().is_some_and(|open| open.contains(why)), "{text}: {:?}", said.open());
        assert!(said.layout().unwrap_err().broken_rule().is_some_and(|rule| rule.contains(why)));
        assert!(said.parts(None).len() > 2);
    }
}

#[test]
fn what_is_no_map_and_no_tile_layout_is_refused_where_it_goes_wrong() {
    for (text, at, found) in [
        ("f32[4,4] lambda i: (i,)", "lambda", "1 index for 2 dimensions"),
        ("f32[4] lambda i, i: (i,)", "i: ", "the index `i` a second time"),
        ("f32[4] lambda *args: args", "*", "unexpected `*`"),
        ("f32[4] lambda i: (j,)", "j", "no index `j`"),
        ("f32[4,4] lambda i, j: (i * j,)", "j,)", "a product of two indices"),
        ("f32[4] lambda i: (i / 2,)", "/", "a division that rounds toward 0"),
        ("f32[4] lambda i: (i // 0,)", "0", "a division by what is no number above 0"),
        ("f32[4] lambda i: (i + 8i,)", "8i", "unexpected `8i`"),
        ("f32[4,4] lambda i, j: (i, te.AXIS_SEPARATOR, j)", "te.", "an axis separator"),
        ("f32[4] lambda i: (i + 1,)", "lambda", "result 0, i + 1, begins at 1"),
        ("f32[4] lambda i: (3 - i,)", "lambda", "result 0, i * -1 + 3, counts backward"),
        ("f32[4,4] lambda i, j: (i,)", "lambda", "two elements with the same results"),
        ("f32[10] lambda i: (i // 4, i % 16)", "lambda", "result 1, i % 16, has a size that depends"),
        ("f32[4] lambda i: (i", "", "the text ends here"),
        ("lambda i: (i,)", "lambda", "an index map alone"),
        ("f32[4] lambda i: (i,) + 3", ",", "unexpected `,`"),
        ("f32[3,5] S[(2, 2, 3, 2):(12, 2, 4, 1)]", "S", "extents of 24 elements for an array of 15"),
        ("f32 S[(2, 3):(3)]", "[", "1 stride for 2 extents"),
        ("f32 S[(2, 0):(3, 1)]", "0", "an extent that is no size"),
        ("f32 S[8:1@lane]", "lane", "no axis `lane`"),
        ("f32 S[8:-1]", "S", "the first element is at offset -7"),
        ("f32 ComposeLayout(3, 3, 2, S[64])", "Comp", "3 bits flipped by those 2 further"),
        ("S[8:1]", "S", "a tile layout alone"),
    ] {
        let error = dialect::read_one(text).expect_err(text);
        assert!(error.found().starts_with(found), "{text}: {error}");
        let place = if at.is_empty() { text.len() } else { text.rfind(at).unwrap() };
        assert_eq!(error.span().map(|span| span.start), Some(place), "{text}: {error}");
    }
}

fn say(target: &str, layout: &Layout) -> String {
    let said = Target::named(target).and_then(|target| target.say(layout, Element::F32));
    said.map_or_else(|error| format!("no: {}", error.found()), |said| said.to_string())
}

#[test]
fn one_layout_is_said_in_each_way() -> Result<()> {
    let layout = |text: &str| read(text).layout();
    for (text, tvm, map, tile) in [
        (
            "f32[3,5]{1,0:T(2,2)}",
            "f32[3,5] lambda i, j: (i // 2, j // 2, i % 2, j % 2)",
            "f32[3,5] lambda i, j: (i // 2, j // 2, i % 2, j % 2)",
            "no: dimension 0 is 3, and its digits are not full: padding inside the layout",
        ),
        (
            "f32[4,6]{1,0:T(2,2)}",
            "f32[4,6] AB->AB2a2b",
            "f32[4,6] lambda i, j: (i // 2, j // 2, i % 2, j % 2)",
            "f32[4,6] S[(2, 2, 3, 2):(12, 2, 4, 1)]",
        ),
        (
            "f32[64,300]{1,0:T(8,128)(2,1)}",
            "f32[64,300] lambda i, j: (i // 8, j // 128, i % 8 // 2, j % 128, i % 2)",
            "f32[64,300] lambda i, j: (i // 8, j // 128, i % 8 // 2, j % 128, i % 2)",
            "no: dimension 1 is 300, and its digits are not full: padding inside the layout",
        ),
        (
            "f32[2,3]{strides(8,1)}",
            "f32[2,3] S[(2, 3):(8, 1)]",
            "no: places of no row-major array that a map leads to",
            "f32[2,3] S[(2, 3):(8, 1)]",
        ),
        (
            "f32[2,3]{strides(0,-1)}",
            "f32[2,3] S[(2, 3):(0, -1)] + 2",
            "no: elements that share a place",
            "f32[2,3] S[(2, 3):(0, -1)] + 2",
        ),
    ] {
        let layout = layout(text)?;
        assert_eq!(say("tvm", &layout), tvm);
        assert_eq!(say("index-map", &layout), map);
        assert_eq!(say("tile-layout", &layout), tile);
    }
    let swizzled = Layout::row_major(&[8, 64], 32)?.swizzled(&Swizzle::new(3, 4, 3)?)?;
    assert_eq!(
        say("tile-layout", &swizzled),
        "f32[8,64] ComposeLayout(4, 2, 3, TileLayout(S[(8, 64):(64, 1)]))"
    );
    assert!(say("index-map", &swizzled).starts_with("no: "));
    Ok(())
}

/// A digit: its values, its weight in the order of places, and the dimension that it is of.
fn digits() -> impl Strategy<Value = Vec<(u64, usize)>> {
    prop::collection::vec((1..=4_u64, 0..3_usize), 1..=6)
}

proptest! {
    /// Digits in any order of memory: each dimension is the number that its digits make, major to minor as they come.
    #[test]
    fn digits_are_said_as_maps_and_as_tiles(digits in digits(), cut in 0..3_u64) {
        let size = |dim: usize| digits.iter().filter(|digit| digit.1 == dim).map(|digit| digit.0).product::<u64>();
        let whole = [size(0), size(1), size(2)];
        // The last tile of a dimension may be cut off.
        let dims: Vec<u64> = whole.iter().map(|&size| size.saturating_sub(cut).max(1)).collect();
        let mut terms = Layout::terms(&dims, 32).unwrap();
        let mut stride: i64 = digits.iter().map(|digit| digit.0 as i64).product();
        let mut rest: Vec<_> = (0..3).map(|dim| terms.dim(dim).ok().map(|term| terms.pad(term, whole[dim]).unwrap())).collect();
        let mut below = whole;
        for &(values, dim) in &digits {
            stride /= values as i64;
            below[dim] /= values;
            let (digit, more) = terms.split(rest[dim].take().unwrap(), below[dim]).unwrap();
            terms.add(digit, stride).unwrap();
            rest[dim] = Some(more);
        }
        let layout = terms.build(Some(0), Some(whole.iter().product())).unwrap();
        let mut said = 0;
        for target in ["tvm", "index-map", "tile-layout"] {
            if let Ok(found) = Target::named(target).unwrap().say(&layout, Element::F32) {
                let again = dialect::read_one(&found.to_string()).unwrap().layout().unwrap();
                for index in indices(&dims) {
                    prop_assert_eq!(again.offset(&index), layout.offset(&index), "{} at {:?}", found, index);
                }
                said += 1;
            }
        }
        if cut == 0 {
            prop_assert!(say("tile-layout", &layout).contains("S["), "{}", say("tile-layout", &layout));
            prop_assert!(say("index-map", &layout).contains("lambda"), "{}", say("index-map", &layout));
            prop_assert!(said >= 2);
        }
    }
}

#[test]
fn the_notation_keeps_its_name() {
    assert_eq!(Target::named("index-map").unwrap().dialect(), Dialect::named("tvm").unwrap());
}
