//! The worked examples: what plans are, literally.

use tilework::{Kind, Layout, Loop, Nest, Plan, PlanOptions, xla::Shape};

fn layout(text: &str) -> Layout {
    Shape::parse(text).unwrap().as_array().unwrap().lower().unwrap()
}

fn plan(from: &str, to: &str) -> Plan {
    Plan::new(&layout(from), &layout(to), &PlanOptions::default()).unwrap()
}

type Written = (Vec<(u64, u64)>, Vec<(u64, i64, i64)>);

/// Starts, and loops as (extent, from, to).
fn written(nest: &Nest) -> Written {
    (nest.starts.to_vec(), nest.loops.iter().map(|&Loop { extent, from, to }| (extent, from, to)).collect())
}

fn nests(from: &str, to: &str) -> Vec<Written> {
    plan(from, to).copies().iter().map(written).collect()
}

fn one(start: (u64, u64), loops: &[(u64, i64, i64)]) -> Written {
    (vec![start], loops.to_vec())
}

#[test]
fn tiles_to_rows_are_the_body_two_edges_and_a_corner() {
    assert_eq!(
        nests("f32[3,5]{1,0:T(2,2)}", "f32[3,5]{1,0}"),
        [
            one((0, 0), &[(2, 2, 5), (2, 4, 2), (2, 1, 1)]),
            one((8, 4), &[(2, 2, 5)]),
            one((12, 10), &[(2, 4, 2), (2, 1, 1)]),
            one((20, 14), &[]),
        ]
    );
}

#[test]
fn large_tiles_to_rows_move_runs_of_a_tile_and_shorter_ones_at_the_edge() {
    let nests = nests("f32[20,300]{1,0:T(8,128)}", "f32[20,300]{1,0}");
    assert_eq!(nests.len(), 4);
    assert_eq!(nests[0], one((0, 0), &[(2, 3072, 2400), (8, 128, 300), (2, 1024, 128), (128, 1, 1)]));
    let runs: Vec<u64> = nests.iter().map(|nest| nest.1.last().unwrap().0).collect();
    assert_eq!(runs, [128, 44, 128, 44]);
}

#[test]
fn packed_rows_to_tiles_are_an_interleave_with_one_loop_around_it() {
    assert_eq!(
        nests("bf16[64,300]{1,0:T(8,128)(2,1)}", "bf16[64,300]{1,0:T(8,128)}"),
        [
            one((0, 0), &[(8, 3072, 3072), (8, 256, 256), (2, 1, 128), (128, 2, 1)]),
            one((2048, 2048), &[(8, 3072, 3072), (4, 256, 256), (2, 1, 128), (44, 2, 1)]),
        ]
    );
}

#[test]
fn tiles_that_do_not_divide_each_other_move_maximal_even_runs() {
    // Columns are cut at 3 and at 2, 4: runs (1,1), (4,1), (1,1). The first and the last are alike.
    let nests = nests("f32[8,6]{1,0:T(2,3)}", "f32[8,6]{1,0:T(2,2)}");
    assert_eq!(
        nests,
        [
            one((0, 0), &[(4, 12, 12), (2, 7, 8), (2, 3, 2), (2, 1, 1)]),
            one((2, 4), &[(4, 12, 12), (2, 3, 2), (2, 4, 1)]),
        ]
    );
}

#[test]
fn a_rotation_of_dimensions_is_a_plain_transpose() {
    assert_eq!(nests("f32[2,4,6]{2,1,0}", "f32[2,4,6]{0,2,1}"), [one((0, 0), &[(24, 1, 2), (2, 24, 1)])]);
}

#[test]
fn a_reversed_array_is_one_backward_loop() {
    let from = layout("f32[10]{0:T(3)}");
    let to = Layout::strided(&[10], 32, &[-1], None, None).unwrap();
    let plan = Plan::new(&from, &to, &PlanOptions::default()).unwrap();
    // Forward in the destination, so backward in the source.
    assert_eq!(plan.copies().iter().map(written).collect::<Vec<_>>(), [one((9, 0), &[(10, -1, 1)])]);
}

#[test]
fn a_period_of_tiles_that_do_not_divide_each_other_is_a_loop() {
    // 4000 columns are 333 periods of 12 and a rest of 4.
    let plan = plan("f32[4000]{0:T(4)(2,2)}", "f32[4000]{0:T(3)(2,2)}");
    assert!(plan.copies().len() <= 8, "{:?}", plan.copies());
    let larger = tilework::Plan::new(
        &layout("f32[4000000000]{0:T(4)(2,2)}"),
        &layout("f32[4000000000]{0:T(3)(2,2)}"),
        &PlanOptions::default(),
    )
    .unwrap();
    assert!(larger.copies().len() <= 8);
    assert_eq!(larger.copies().iter().map(Nest::elements).sum::<u64>(), 4_000_000_000);
}

#[test]
fn pieces_of_many_lengths_do_not_make_as_many_nests() {
    let plan = plan("f32[20000,30000]{1,0:T(127,127)}", "f32[20000,30000]{1,0:T(128,128)}");
    assert!(plan.copies().len() <= 4096, "{}", plan.copies().len());
    assert_eq!(plan.copies().iter().map(Nest::elements).sum::<u64>(), 600_000_000);
}

#[test]
fn an_array_without_elements_moves_nothing() {
    assert_eq!(nests("f32[3,0,5]{2,1,0}", "f32[3,0,5]{0,1,2}"), []);
}

#[test]
fn a_scalar_is_one_element() {
    assert_eq!(nests("f32[]", "f32[]{:T(128)}"), [one((0, 0), &[])]);
}

#[test]
fn a_nest_is_named_by_its_loops_of_stride_1() {
    type Loops = &'static [(u64, i64, i64)];
    let cases: [(Loops, Kind, u64); 14] = [
        (&[], Kind::Single, 1),
        (&[(7, 1, 1)], Kind::Rows, 7),
        (&[(3, 20, 9), (7, 1, 1)], Kind::Rows, 7),
        (&[(7, -1, 1)], Kind::Reversed, 1),
        (&[(7, 0, 1)], Kind::Broadcast, 1),
        (&[(7, 5, 1)], Kind::Gather, 1),
        (&[(7, 1, 5)], Kind::Scatter, 1),
        (&[(7, -1, 5)], Kind::Scatter, 1),
        (&[(7, 1, 99), (5, 30, 4)], Kind::Scatter, 1),
        (&[(7, 5, 6)], Kind::Apart, 1),
        // 8 runs are taken in turn, and more are a transpose.
        (&[(8, 1, 40), (40, 8, 1)], Kind::Deinterleave { k: 8 }, 1),
        (&[(9, 1, 40), (40, 9, 1)], Kind::Transpose, 1),
        (&[(40, 1, 8), (8, 40, 1)], Kind::Interleave { k: 8 }, 1),
        (&[(40, -1, 9), (9, 40, 1)], Kind::Transpose, 1),
    ];
    for (loops, kind, run) in cases {
        let of = |&(extent, from, to): &(u64, i64, i64)| Loop { extent, from, to };
        let loops: Vec<Loop> = loops.iter().map(of).collect();
        let nest = Nest { starts: [(0, 0)].into(), loops: loops.clone().into() };
        assert_eq!((nest.kind(), nest.run()), (kind, run), "{loops:?}");
    }
}
