//! What plans refuse, how large they may become, and how they are kept.

use std::sync::Arc;

use proptest::prelude::*;
use tilework::{Layout, NEST_LIMIT, Nest, Plan, PlanCache, PlanOptions, START_LIMIT, Swizzle, xla::Shape};

fn layout(text: &str) -> Layout {
    Shape::parse(text).unwrap().as_array().unwrap().lower().unwrap()
}

fn plan(from: &str, to: &str) -> tilework::Result<Plan> {
    Plan::new(&layout(from), &layout(to), &PlanOptions::default())
}

fn refusal(from: &str, to: &str) -> String {
    plan(from, to).unwrap_err().to_string()
}

#[test]
fn layouts_of_other_dimensions_are_told_apart_by_the_first_that_differs() {
    assert_eq!(
        refusal("f32[3,5]", "f32[3,6]"),
        "dimensions: dimension 1 is 5 in the source, 6 in the destination; both layouts have the same dimensions; \
         accepted: a destination of sizes [3, 5]"
    );
    assert!(
        refusal("f32[3,5]", "f32[15]").starts_with("dimensions: 2 dimensions in the source, 1 dimension in")
    );
}

#[test]
fn elements_of_other_widths_need_a_conversion() {
    assert!(
        refusal("f32[3,5]", "bf16[3,5]").starts_with("element bits: elements of 32 bits in the source, 16")
    );
    let options = PlanOptions { converts: true, fill: None };
    assert!(Plan::new(&layout("f32[3,5]"), &layout("bf16[3,5]"), &options).is_ok());
}

#[test]
fn a_fill_is_no_wider_than_an_element() {
    let fill = |bits| {
        let options = PlanOptions { fill: Some(bits), converts: false };
        Plan::new(&layout("s4[3,5]{1,0:E(4)}"), &layout("s4[3,5]{1,0:T(2,2)E(4)}"), &options)
    };
    assert!(fill(15).is_ok());
    assert_eq!(
        fill(16).unwrap_err().to_string(),
        "fill: fill 0x10 for elements of 4 bits; a fill is the bits of one element of the destination; accepted: 0x0 \
         to 0xf"
    );
}

#[test]
fn a_destination_with_shared_places_is_refused_with_two_elements_and_the_place() {
    let found = |to: &str| plan("f32[3,5]", to).unwrap_err().found().to_owned();
    assert_eq!(found("f32[3,5]{strides(0,1)}"), "elements (0, 0) and (1, 0) are both at 0");
    assert_eq!(found("f32[3,5]{strides(2,1)}"), "elements (0, 2) and (1, 0) are both at 2");
    // Far from the origin, with a stride backward: 3·2 = 2·3, so (2, 0) and (0, 3) of any such pair meet.
    assert_eq!(found("f32[3,5]{strides(3,2)}"), "elements (0, 3) and (2, 0) are both at 6");
    assert_eq!(found("f32[3,5]{strides(-3,2)}"), "elements (0, 0) and (2, 3) are both at 6");
    // By the strides alone, where there are too many elements to look at; a dimension of one element has no part in it.
    let far = "s8[2097152,1,2097152]";
    let error = plan(far, &format!("{far}{{strides(1,1,1)}}")).unwrap_err();
    assert_eq!(error.found(), "elements (0, 0, 1) and (1, 0, 0) are both at 1");
}

#[test]
fn elements_that_no_strides_place_are_looked_at_one_by_one() {
    // Each place four times, in rows of 3.
    let shared = Layout::strided(&[6, 4], 8, &[1, 0], None, None).unwrap().reshape(&[8, 3]).unwrap();
    let from = Layout::row_major(&[8, 3], 8).unwrap();
    let error = Plan::new(&from, &shared, &PlanOptions::default()).unwrap_err();
    assert_eq!(error.found(), "elements (0, 0) and (0, 1) are both at 0");
    // Those of the last rows alone.
    let late = shared.slice(0, 5..8, 1).unwrap();
    let from = Layout::row_major(&[3, 3], 8).unwrap();
    let error = Plan::new(&from, &late, &PlanOptions::default()).unwrap_err();
    assert_eq!(error.found(), "elements (0, 1) and (0, 2) are both at 4");
}

#[test]
fn strides_that_overlap_are_looked_at_element_by_element_within_a_limit() {
    let to =
        |sizes: &str, strides: &str| plan(&format!("s8{sizes}"), &format!("s8{sizes}{{strides({strides})}}"));
    // No rule tells, but every sum of these is another.
    assert!(to("[2,2,2,2,2,2,2]", "44,43,42,40,37,31,20").is_ok_and(|plan| plan.figures().elements == 128));
    // Two sums are the same in the first; nobody knows of the second, which is too large to look.
    let shared = to("[33,33,33,33]", "7919,7907,7901,7883").unwrap_err();
    assert!(shared.found().contains(" are both at "), "{shared}");
    let (sizes, strides) = (
        "[30,30,30,30,30,30]",
        "996123748123411,984313651237117,941236478123649,912736481236481,871236548712361,853412376123417",
    );
    assert_eq!(layout(&format!("s8{sizes}{{strides({strides})}}")).is_injective(), None);
    let error = to(sizes, strides);
    assert!(error.unwrap_err().to_string().contains(&tilework::TABLE_LIMIT.to_string()));
}

#[test]
fn a_source_may_broadcast() {
    let plan = plan("f32[3,5]{strides(0,1)}", "f32[3,5]").unwrap();
    assert_eq!(plan.copies()[0].loops.len(), 2);
    assert_eq!(plan.figures().bytes_read, 60);
}

#[test]
fn what_has_no_small_refinement_is_refused_and_the_limit_named() {
    // Three dimensions in tiles of 1021 and 1024: each has over 2000 pieces in a period.
    let error = refusal(
        "s8[1000000,1000000,1000000]{2,1,0:T(1021,1021,1021)}",
        "s8[1000000,1000000,1000000]{2,1,0:T(1024,1024,1024)}",
    );
    assert!(error.contains(&START_LIMIT.to_string()), "{error}");
    // A merge of two large dimensions that the tile does not divide.
    let error = refusal("f32[2,1000003,1000033]", "f32[2,1000003,1000033]{2,1,0:T(2,*,1000037)}");
    assert!(error.contains(&tilework::TABLE_LIMIT.to_string()), "{error}");
}

#[test]
fn periods_beyond_every_size_take_no_time() {
    // Whoever goes through a period does not end.
    let plan = plan("s8[3000000,4]", "s8[3000000,4]{1,0:T(999983,2)(999979,1)(999961,1)(999959,1)}").unwrap();
    assert_eq!(plan.copies().iter().map(Nest::elements).sum::<u64>(), 12_000_000);
}

#[test]
fn two_dimensions_in_uneven_tiles_stay_within_the_limits() {
    let plan = plan("f32[3000,5000]{1,0:T(127,127)}", "f32[3000,5000]{1,0:T(128,128)}").unwrap();
    assert!((plan.copies().len() as u64) < NEST_LIMIT);
    assert_eq!(plan.copies().iter().map(Nest::elements).sum::<u64>(), 15_000_000);
    // The rows stay whole: pieces of up to 127 neighbours.
    assert!(plan.figures().longest_run >= 126, "{:?}", plan.figures());
}

#[test]
fn a_dimension_of_up_to_16_pieces_is_cut_further_only_after_the_rows() {
    // Tiles of t and t + 1 rows leave t pieces, of 1 to t rows. The columns leave 257, so one of the two is cut.
    let figures = |rows: u64| {
        let size = rows * (rows + 1);
        let tiled = |more: u64| format!("s8[{size},100000]{{1,0:T({},{})}}", rows + more, 257 + more);
        plan(&tiled(0), &tiled(1)).unwrap().figures()
    };
    assert_eq!(
        [16, 17].map(|rows| (figures(rows).nests, figures(rows).longest_run)),
        [(144, 256), (1285, 257)]
    );
}

#[test]
fn padding_of_more_nests_than_a_plan_has_is_filled_with_everything_else() {
    let fills = |text: &str| {
        let (to, options) = (layout(text), PlanOptions { fill: Some(0), converts: false });
        let plan = Plan::new(&Layout::row_major(to.dims(), 8).unwrap(), &to, &options).unwrap();
        (plan.fills().len() as u64, plan.fills_first())
    };
    // Each odd dimension in tiles of 2 has twice as many nests as all before it.
    let twelve = "s8[3,3,3,3,3,3,3,3,3,3,3,3]{11,10,9,8,7,6,5,4,3,2,1,0:T(2,2,2,2,2,2,2,2,2,2,2,2)}";
    assert_eq!(fills(twelve), (NEST_LIMIT - 1, false));
    // Tiles in tiles leave more outside than inside. Padding at the end is one nest more.
    let nested = |more: &str| {
        fills(&format!(
            "s8[3,3,3,3,3,3,3,3,3,3,17]{{10,9,8,7,6,5,4,3,2,1,0:T(2,2,2,2,2,2,2,2,2,2,16){more}}}"
        ))
    };
    assert_eq!(nested("(4)(2)"), (NEST_LIMIT - 1, false));
    assert_eq!(nested("(4)(2)L(7)"), (NEST_LIMIT, false));
    assert_eq!(nested("(8)(4)(2)"), (1, true));
}

#[test]
fn a_dimension_is_cut_into_pieces_up_to_a_limit() {
    // Of tiles of t and t + 1, each cuts each tile of the other once, for as many tiles as this.
    let cut = |size: u64| {
        plan(&format!("s8[{size},2]{{1,0:T(131073,1)}}"), &format!("s8[{size},2]{{1,0:T(131074,1)}}"))
    };
    assert_eq!(cut(131_072 * 131_073 + 1).unwrap().copies().len(), 18);
    assert_eq!(cut(131_072 * 131_074 + 1).unwrap_err().found(), "too many pieces");
}

#[test]
fn a_swizzle_cuts_a_plan_up_to_the_same_limits() {
    // Every other element is moved far away, so each stands for itself.
    let apart = |count: u64| {
        let from = Layout::strided(&[count], 8, &[3], None, None).unwrap();
        let from = from.swizzled(&Swizzle::flipping([(0, 1 << 40)]).unwrap()).unwrap();
        Plan::new(&from, &Layout::row_major(&[count], 8).unwrap(), &PlanOptions::default())
    };
    assert_eq!(apart(START_LIMIT).unwrap().figures().starts, START_LIMIT);
    assert_eq!(apart(START_LIMIT + 1).unwrap_err().found(), "too many pieces");
    // As many nests as there may be, of which the swizzle cuts none.
    let to = layout("s8[3,3,3,3,3,3,3,3,3,3,3,3]{11,10,9,8,7,6,5,4,3,2,1,0:T(2,2,2,2,2,2,2,2,2,2,2,2)}");
    let from = Layout::row_major(to.dims(), 8).unwrap();
    let to = to.swizzled(&Swizzle::flipping([(40, 1 << 30)]).unwrap()).unwrap();
    let plan = Plan::new(&from, &to, &PlanOptions::default()).unwrap();
    assert_eq!(plan.copies().len() as u64, NEST_LIMIT);
}

#[test]
fn elements_are_looked_at_one_by_one_up_to_the_limit() {
    // Each place is that of four elements in a row, which neither a stride nor a dimension says.
    let found = |places: u64| {
        let places = Layout::strided(&[places, 4], 8, &[1, 0], None, None).unwrap();
        let to = places.reshape(&[places.len()]).unwrap();
        let from = Layout::row_major(to.dims(), 8).unwrap();
        Plan::new(&from, &to, &PlanOptions::default()).unwrap_err().found().to_owned()
    };
    assert_eq!(found(tilework::TABLE_LIMIT / 4), "elements (0) and (1) are both at 0");
    assert_eq!(found(tilework::TABLE_LIMIT / 4 + 1), "elements may share a place");
}

#[test]
fn plans_are_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Plan>();
    shared::<PlanCache>();
}

#[test]
fn a_cache_gives_back_the_same_plan_for_the_same_function_and_sizes() {
    let cache = PlanCache::new(8);
    let get = |from: &str, to: &str, fill| {
        cache.plan(&layout(from), &layout(to), &PlanOptions { fill, converts: false }).unwrap()
    };
    let first = get("f32[16,128]", "f32[16,128]{0,1}", None);
    assert!(Arc::ptr_eq(&first, &get("f32[16,128]{1,0:T(8,128)}", "f32[16,128]{0,1}", None)));
    assert_eq!(cache.len(), 1);
    // Another direction, allocated size, element width or fill is another plan.
    for (from, to, fill) in [
        ("f32[16,128]{0,1}", "f32[16,128]", None),
        ("f32[16,128]", "f32[16,128]{0,1:L(4096)}", None),
        ("f64[16,128]", "f64[16,128]{0,1}", None),
        ("f32[16,128]", "f32[16,128]{0,1}", Some(0)),
        ("f32[16,128]", "f32[16,128]{0,1}", Some(1)),
    ] {
        assert!(!Arc::ptr_eq(&first, &get(from, to, fill)), "{from} {to}");
    }
    assert_eq!(cache.len(), 6);
}

#[test]
fn a_full_cache_forgets_what_was_used_longest_ago() {
    let cache = PlanCache::new(2);
    let get = |size: u64| {
        let rows = Layout::row_major(&[size, 2], 8).unwrap();
        let columns =
            Layout::builder(&[size, 2], 8).unwrap().minor_to_major(&[0, 1]).unwrap().build().unwrap();
        cache.plan(&rows, &columns, &PlanOptions::default()).unwrap()
    };
    let (two, three) = (get(2), get(3));
    assert!(Arc::ptr_eq(&two, &get(2)));
    get(4); // in the place of 3, as 2 was asked for again
    assert!(Arc::ptr_eq(&two, &get(2)));
    assert!(!Arc::ptr_eq(&three, &get(3)));
    assert_eq!(cache.len(), 2);
}

#[test]
fn an_error_is_not_kept() {
    let cache = PlanCache::new(2);
    let broadcast = layout("f32[3]{strides(0)}");
    assert!(cache.plan(&layout("f32[3]"), &broadcast, &PlanOptions::default()).is_err());
    assert!(cache.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// Of tiles that divide each other, L cuts of a dimension make at most L + 1 pieces.
    #[test]
    fn tiles_that_divide_each_other_make_few_nests(
        dims in prop::collection::vec(1..=500_u64, 2),
        powers in prop::collection::vec(0..=6_u32, 4),
        swaps in any::<(bool, bool)>(),
    ) {
        let build = |tile: &[u64], swap: bool| {
            let order = if swap { [0, 1] } else { [1, 0] };
            let tile = [Some(tile[0]), Some(tile[1])];
            Layout::builder(&dims, 32).unwrap().minor_to_major(&order).unwrap().tile(&tile).unwrap().build().unwrap()
        };
        let tiles: Vec<u64> = powers.iter().map(|power| 1 << power).collect();
        let (from, to) = (build(&tiles[..2], swaps.0), build(&tiles[2..], swaps.1));
        let plan = Plan::new(&from, &to, &PlanOptions::default()).unwrap();
        let most: usize = (0..2)
            .map(|dim| {
                let of = |tiles: &[u64], swap: bool| tiles[if swap { 1 - dim } else { dim }];
                let mut cuts = vec![of(&tiles[..2], swaps.0), of(&tiles[2..], swaps.1)];
                cuts.sort_unstable();
                cuts.dedup();
                1 + cuts.iter().filter(|&&cut| cut > 1 && cut < dims[dim]).count()
            })
            .product();
        prop_assert!(plan.copies().len() <= most, "{} of {}", plan.copies().len(), most);
    }

    /// Whatever the layouts, planning ends, and says so if it cannot.
    #[test]
    fn every_plan_is_whole_and_within_the_limits(
        dims in prop::collection::vec(prop_oneof![1..=50_u64, 1..=1_u64 << 20, 1..=1_u64 << 40], 1..=3),
        tiles in prop::collection::vec(
            prop::collection::vec(prop_oneof![1 => Just(None), 9 => prop_oneof![1..=9_u64, 1..=2000_u64].prop_map(Some)], 1..=3),
            0..=4,
        ),
    ) {
        let build = |tiles: &[Vec<Option<u64>>]| {
            let mut builder = Layout::builder(&dims, 8).ok()?;
            for tile in tiles {
                builder = builder.tile(tile).ok()?;
            }
            builder.build().ok()
        };
        let (Some(from), Some(to)) = (build(&tiles[..tiles.len() / 2]), build(&tiles[tiles.len() / 2..])) else {
            return Ok(());
        };
        let plan = Plan::new(&from, &to, &PlanOptions { fill: Some(0), converts: false });
        if let Ok(plan) = plan {
            prop_assert_eq!(plan.copies().iter().map(Nest::elements).sum::<u64>(), to.len());
            prop_assert!(plan.copies().len() as u64 <= NEST_LIMIT);
        }
    }
}
