//! Every program, compared with moving one element after the other as the two layouts say.

use proptest::prelude::*;
use tilework_core::{Layout, Plan, PlanOptions};

use crate::exec::Buffers;
use crate::kernels::InstructionSet;
use crate::kernels::vector::LINE;
use crate::pool::{Inline, Pool, Threads};
use crate::program::Program;
use crate::relayout::Relayout;
use crate::setting::Setting;
use crate::ways::Way;

#[path = "../../tilework/tests/all/common/naive.rs"]
#[allow(dead_code)] // a part of it is enough here
mod common;

use common::{indices, recipe_over};

/// Bytes around the buffers that nobody may write.
const MARGIN: usize = 96;

/// The destination as it should be: bit after bit, counted from the least significant of each byte.
pub(crate) fn expected(
    from: &Layout,
    to: &Layout,
    fill: Option<u128>,
    source: &[u8],
    before: &[u8],
) -> Vec<u8> {
    let width = to.bits() as usize;
    let mut out = before.to_vec();
    let set = |out: &mut [u8], place: usize, bit: bool| {
        out[place / 8] = out[place / 8] & !(1 << (place % 8)) | u8::from(bit) << (place % 8);
    };
    if let Some(fill) = fill {
        for place in 0..to.size() as usize {
            for bit in 0..width {
                set(&mut out, place * width + bit, bit < 128 && fill >> bit & 1 == 1);
            }
        }
    }
    for index in indices(from.dims()) {
        let (a, b) =
            (from.offset(&index).unwrap() as usize * width, to.offset(&index).unwrap() as usize * width);
        if width.is_multiple_of(8) {
            out[b / 8..][..width / 8].copy_from_slice(&source[a / 8..][..width / 8]);
            continue;
        }
        for bit in 0..width {
            set(&mut out, b + bit, source[(a + bit) / 8] >> ((a + bit) % 8) & 1 == 1);
        }
    }
    out
}

pub(crate) fn bytes(count: usize, seed: u64) -> Vec<u8> {
    let mut state = seed | 1;
    let next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 56) as u8
    };
    std::iter::repeat_with(next).take(count).collect()
}

/// Runs the plan in every way there is, from and to addresses with the given misalignment, and compares.
fn check(from: &Layout, to: &Layout, fill: Option<u128>, shift: (usize, usize)) -> Result<(), TestCaseError> {
    let plan = match Plan::new(from, to, &PlanOptions { fill, ..PlanOptions::default() }) {
        Ok(plan) => plan,
        Err(error) => return Err(TestCaseError::reject(error.to_string())),
    };
    let (from_bytes, to_bytes) = (from.bytes() as usize, to.bytes() as usize);
    let source = bytes(from_bytes + shift.0, 1);
    let before = bytes(to_bytes + 2 * MARGIN + shift.1, 2);
    let start = MARGIN + shift.1;
    let mut wanted = before.clone();
    let part = expected(from, to, fill, &source[shift.0..], &before[start..start + to_bytes]);
    wanted[start..start + to_bytes].copy_from_slice(&part);
    check_stream(&plan, &source[shift.0..], fill)?;
    for set in InstructionSet::all_here() {
        for streams in [false, true] {
            let program = Program::with(&plan, None, Setting::of(set, streams));
            for pool in [&Inline as &dyn Pool, &Shares(3)] {
                let mut out = before.clone();
                let buffers = Buffers::of(&source[shift.0..], &mut out[start..start + to_bytes]);
                // SAFETY: both buffers hold their layouts.
                unsafe {
                    let third = program.total() / 3;
                    program.run(pool, buffers, 0..third);
                    program.run(pool, buffers, third..program.total());
                }
                if out != wanted {
                    let at = out.iter().zip(&wanted).position(|(a, b)| a != b).unwrap_or(0);
                    return Err(TestCaseError::fail(format!(
                        "{set:?}, streams {streams}: byte {} of {to_bytes} is {} instead of {}\n{plan}\n{program:#?}",
                        at as isize - start as isize,
                        out[at],
                        wanted[at]
                    )));
                }
            }
        }
    }
    Ok(())
}

/// Produces the destination chunk by chunk and compares.
fn check_stream(plan: &Plan, source: &[u8], fill: Option<u128>) -> Result<(), TestCaseError> {
    let (from, to) = (plan.from(), plan.to());
    let wanted = expected(from, to, fill, source, &vec![0; to.bytes() as usize]);
    for chunk in [1, 50, 700, usize::MAX] {
        let mut out = Vec::new();
        let relayout = Relayout::of(plan.clone())?;
        let written = relayout.stream::<tilework_core::Error>(source, chunk, |offset, bytes| {
            assert_eq!(offset, out.len() as u64);
            out.extend_from_slice(bytes);
            Ok(())
        });
        prop_assert!(written.is_ok());
        prop_assert!(out == wanted, "in chunks of {}\n{}", chunk, plan);
    }
    Ok(())
}

/// Tasks one after the other, but as many as for a pool of so many threads, however small the work.
pub(crate) struct Shares(pub(crate) usize);

impl Pool for Shares {
    fn width(&self) -> usize {
        self.0
    }

    fn run(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
        (0..tasks).rev().for_each(task);
    }

    fn least_share(&self) -> usize {
        1
    }
}

/// Elements of 1, 2, 4, 8 and 16 bytes, of other numbers of bytes, and below a byte or no whole number of them.
fn widths() -> impl Strategy<Value = u32> {
    prop_oneof![
        8 => prop::sample::select(vec![8_u32, 16, 32]),
        4 => prop::sample::select(vec![64_u32, 128]),
        3 => prop::sample::select(vec![24_u32, 96, 192]),
        4 => prop::sample::select(vec![1_u32, 2, 4]),
        1 => prop::sample::select(vec![3_u32, 6, 12]),
    ]
}

fn small_dims() -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(prop_oneof![1 => Just(0_u64), 30 => 1..=9_u64], 0..=4)
}

/// Sizes at which kernels have whole tiles, edges and more than one block.
fn large_dims() -> impl Strategy<Value = Vec<u64>> {
    let size = || prop_oneof![1..=5_u64, 14..=18_u64, 30..=35_u64, 60..=70_u64, 120..=140_u64];
    prop::collection::vec(size(), 2..=4)
        .prop_filter("small enough to check", |dims| dims.iter().product::<u64>() <= 60_000)
}

fn fill() -> impl Strategy<Value = Option<u128>> {
    prop_oneof![Just(None), Just(Some(0)), Just(Some(1))]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, max_global_rejects: 4000, ..ProptestConfig::default() })]

    #[test]
    fn any_two_small_layouts(
        (from, to) in small_dims().prop_flat_map(|dims| (recipe_over(dims.clone(), true), recipe_over(dims, true))),
        bits in widths(), fill in fill(), shift in (0..3_usize, 0..70_usize),
    ) {
        check(&from.build_of(bits)?, &to.build_of(bits)?, fill, shift)?;
    }

    #[test]
    fn sub_boxes_reversed_and_permuted(
        (from, to) in small_dims().prop_flat_map(|dims| (recipe_over(dims.clone(), false), recipe_over(dims, false))),
        bits in widths(), fill in fill(), cut in (0..4_u64, 1..4_u64), flips in any::<(bool, bool)>(),
    ) {
        let (mut from, mut to) = (from.build_of(bits)?, to.build_of(bits)?);
        for dim in 0..from.rank() {
            let size = from.dims()[dim];
            let (start, end) = (cut.0.min(size), (cut.0 + 2 * cut.1).min(size));
            from = from.slice(dim, start..end, cut.1)?;
            to = to.slice(dim, start..end, cut.1)?;
            if flips.0 { from = from.flip(dim)?; }
            if flips.1 { to = to.flip(dim)?; }
        }
        check(&from, &to, fill, (0, 5))?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, max_global_rejects: 4000, ..ProptestConfig::default() })]

    #[test]
    fn permutations_of_sizes_around_the_kernels_tiles(
        (dims, order) in large_dims().prop_flat_map(|dims| {
            let rank = dims.len();
            (Just(dims), common::permutation(rank))
        }),
        bits in widths(), shift in (0..3_usize, prop_oneof![Just(0_usize), 0..70_usize]),
    ) {
        let from = Layout::row_major(&dims, bits)?;
        let to = Layout::builder(&dims, bits)?.minor_to_major(&order)?.build()?;
        check(&from, &to, None, shift)?;
    }

    #[test]
    fn tiles_and_sub_tiles_of_all_sizes(
        dims in (1..=70_u64, 1..=300_u64),
        tiles in prop_oneof![
            Just(vec![vec![8, 128]]), Just(vec![vec![8, 128], vec![2, 1]]), Just(vec![vec![8, 128], vec![4, 1]]),
            Just(vec![vec![16, 128], vec![2, 1]]), Just(vec![vec![4, 16]]), Just(vec![vec![32, 32], vec![16, 16]]),
            Just(vec![vec![64, 16], vec![4, 1]]), Just(vec![vec![16, 16]]), Just(vec![vec![3, 5]]), Just(vec![vec![1, 16]]),
        ],
        bits in widths(), fill in fill(), column_major in any::<bool>(), back in any::<bool>(), shift in 0..70_usize,
    ) {
        let dims = [dims.0, dims.1];
        let mut builder = Layout::builder(&dims, bits)?;
        for tile in &tiles {
            let tile: Vec<_> = tile.iter().map(|&t| Some(t)).collect();
            builder = builder.tile(&tile)?;
        }
        let tiled = builder.build()?;
        let order = if column_major { [0, 1] } else { [1, 0] };
        let plain = Layout::builder(&dims, bits)?.minor_to_major(&order)?.build()?;
        let (from, to) = if back { (tiled, plain) } else { (plain, tiled) };
        check(&from, &to, fill, (0, shift))?;
    }

    #[test]
    fn permutations_of_many_small_dimensions(
        (dims, order, back) in prop::collection::vec(prop::sample::select(vec![2_u64, 2, 4, 4, 8, 3, 9, 16]), 4..=9)
            .prop_filter("small enough to check", |dims| dims.iter().product::<u64>() <= 40_000)
            .prop_flat_map(|dims| {
                let rank = dims.len();
                (Just(dims), common::permutation(rank), prop::collection::vec(prop::bool::weighted(0.1), rank))
            }),
        bits in widths(), pad in prop_oneof![3 => Just(0_i64), 1 => 1..70_i64],
        shift in (prop_oneof![Just(0_usize), 0..3_usize], prop_oneof![Just(0_usize), 0..70_usize]),
    ) {
        let from = Layout::row_major(&dims, bits)?;
        // The outermost rows of the destination are a little further apart.
        let (mut step, mut strides) = (1, vec![0; dims.len()]);
        for (place, &dim) in order.iter().enumerate() {
            strides[dim] = step;
            step = step * dims[dim] as i64 + if place == 1 { pad } else { 0 };
        }
        let mut to = Layout::strided(&dims, bits, &strides, None, None)?;
        for dim in (0..dims.len()).filter(|&dim| back[dim]) {
            to = to.flip(dim)?;
        }
        check(&from, &to, None, shift)?;
    }

    #[test]
    fn strided_sources_and_pitches(
        dims in (1..=40_u64, 1..=60_u64, 1..=5_u64), steps in (-2..=3_i64, -2..=3_i64, -2..=3_i64),
        pitch in 0..40_i64, bits in widths(), fill in fill(), shift in 0..70_usize,
    ) {
        let dims = [dims.0, dims.1, dims.2];
        let row = dims[2] as i64 * 3 + pitch;
        let from = Layout::strided(&dims, bits, &[steps.0 * row * 3, steps.1 * row, steps.2], None, None)?;
        let to_row = dims[2] as i64 + pitch;
        let to = Layout::strided(&dims, bits, &[to_row * dims[1] as i64, to_row, 1], None, None)?;
        check(&from, &to, fill, (0, shift))?;
        if steps.0 != 0 && steps.1.abs() == 1 && steps.2 != 0 && dims[1] as i64 * row <= 3 * row {
            check(&to, &from, fill, (0, shift))?;
        }
    }
}

#[test]
fn threads_share_the_work_without_losing_any() {
    let dims = [700, 1000];
    let from = Layout::row_major(&dims, 32).unwrap();
    let to = Layout::builder(&dims, 32).unwrap().minor_to_major(&[0, 1]).unwrap().build().unwrap();
    let relayout = Relayout::new(&from, &to, &PlanOptions::default()).unwrap();
    let source = bytes(from.bytes() as usize, 3);
    let mut out = vec![0; to.bytes() as usize];
    relayout.run_on(&Threads::new(4), &source, &mut out).unwrap();
    assert!(out == expected(&from, &to, None, &source, &vec![0; to.bytes() as usize]));
}

#[test]
fn a_pool_that_calls_tasks_twice_or_not_at_all_does_no_harm() {
    struct Careless;
    impl Pool for Careless {
        fn width(&self) -> usize {
            5
        }
        fn run(&self, _: usize, task: &(dyn Fn(usize) + Sync)) {
            [1, 1, 7, 4].into_iter().for_each(task);
        }
        fn least_share(&self) -> usize {
            1
        }
    }
    let from = Layout::row_major(&[70, 30], 16).unwrap();
    let to = from.flip(0).unwrap();
    let source = bytes(from.bytes() as usize, 3);
    let mut out = vec![0; to.bytes() as usize];
    let relayout = Relayout::new(&from, &to, &PlanOptions::default()).unwrap();
    relayout.run_on(&Careless, &source, &mut out).unwrap();
    assert!(out == expected(&from, &to, None, &source, &vec![0; to.bytes() as usize]));
}

#[test]
fn blocks_fit_the_buffer_they_are_put_together_in() {
    for bits in [8, 16, 32, 64, 128] {
        for bytes in [16, 100, 255, 257, 500, 777, 1023, 1537, 1800, 1999, 2040, 2047, 2048, 2049, 3000] {
            for columns in [1, 47, 63, 79, 95, 130] {
                let dims = [3, (8 * bytes / u64::from(bits)).max(1), columns];
                let from = Layout::row_major(&dims, bits).unwrap();
                let order = Layout::builder(&dims, bits).unwrap().minor_to_major(&[1, 2, 0]);
                let plan =
                    Plan::new(&from, &order.unwrap().build().unwrap(), &PlanOptions::default()).unwrap();
                let source = vec![1; from.bytes() as usize];
                for set in InstructionSet::all_here() {
                    let program = Program::with(&plan, None, Setting::of(set, true));
                    let mut out = vec![0_u8; source.len()];
                    let buffers = Buffers::of(&source, &mut out);
                    // SAFETY: both buffers hold their layouts.
                    unsafe { program.run(&Inline, buffers, 0..program.total()) };
                    assert!(out == source, "{dims:?}, {bits} bits, {set:?}");
                }
            }
        }
    }
}

#[test]
fn runs_that_try_the_other_program_write_the_same() -> tilework_core::Result<()> {
    // Large enough to pass the cache, small enough to stay in it, in elements and rows that need every kernel's edges.
    let dims = [3001, 1103];
    for bits in [8, 32] {
        let from = Layout::row_major(&dims, bits)?;
        let to = Layout::builder(&dims, bits)?.minor_to_major(&[0, 1])?.build()?;
        let options = PlanOptions::default();
        let relayout = crate::Relayout::new(&from, &to, &options)?;
        let source = bytes(from.bytes() as usize, 11);
        let mut first = vec![0; to.bytes() as usize];
        relayout.run(&source, &mut first)?;
        for run in 1..7 {
            let mut next = vec![0; first.len()];
            relayout.clone().run_on(&Threads::new(1 + run % 3), &source, &mut next)?;
            assert!(next == first, "run {run} of {bits} bits");
        }
    }
    Ok(())
}

/// The last block of each of these has one byte of a destination row, with one or the other size of register tile: the first
/// line that is its own lies behind the row, and behind the buffer.
#[test]
fn a_block_without_a_line_of_its_own_stores_nothing() -> tilework_core::Result<()> {
    for rows in [4609, 16897] {
        let from = Layout::row_major(&[rows, 20], 8)?;
        let to = Layout::builder(&[rows, 20], 8)?.minor_to_major(&[0, 1])?.build()?;
        let plan = Plan::new(&from, &to, &PlanOptions::default())?;
        let size = rows as usize * 20;
        let source = bytes(size, 1);
        let wanted = expected(&from, &to, None, &source, &vec![0; size]);
        for set in InstructionSet::all_here() {
            let program = Program::with(&plan, None, Setting::of(set, true));
            let steps = format!("{program:?}");
            let store = if set.streams() { "store: Carry," } else { "store: Plain," };
            assert!(steps.contains(store), "{steps}");
            runs_anywhere(&program, &source, &wanted);
        }
    }
    Ok(())
}

/// Runs a program into a buffer that begins on a line or within one.
fn runs_anywhere(program: &Program, source: &[u8], wanted: &[u8]) {
    let mut out = vec![0; wanted.len() + LINE];
    let line = out.as_ptr().align_offset(LINE);
    for shift in [0, 1, 31, 63].map(|shift| (line + shift) % LINE) {
        let buffers = Buffers::of(source, &mut out[shift..]);
        // SAFETY: both buffers hold their layouts.
        unsafe { program.run(&Inline, buffers, 0..program.total()) };
        assert!(out[shift..][..wanted.len()] == *wanted, "{shift} bytes from the start: {program:?}");
        out.fill(0);
    }
}

/// Blocks whose lines are all whole: where the destination begins within one they go to the buffer, and must fit.
#[test]
fn blocks_of_whole_lines_go_anywhere() -> tilework_core::Result<()> {
    for bits in [8, 16, 32, 64, 128] {
        let dims = [4096 / u64::from(bits), 8192 / u64::from(bits)];
        let from = Layout::row_major(&dims, bits)?;
        let to = Layout::builder(&dims, bits)?.minor_to_major(&[0, 1])?.build()?;
        let plan = Plan::new(&from, &to, &PlanOptions::default())?;
        let source = bytes(from.bytes() as usize, 3);
        let wanted = expected(&from, &to, None, &source, &vec![0; source.len()]);
        for set in InstructionSet::all_here() {
            runs_anywhere(&Program::with(&plan, None, Setting::of(set, true)), &source, &wanted);
        }
    }
    Ok(())
}

/// Squares of small elements: of two loops on either side, in rows that are short, that are carried on, and that are whole lines.
#[test]
fn squares_of_small_elements_are_transposed() -> tilework_core::Result<()> {
    for bits in [8, 16, 32, 64, 128] {
        for dims in [[9, 11, 7, 13], [19, 17, 9, 15], [16, 32, 6, 11]] {
            let from = Layout::row_major(&dims, bits)?;
            let to = Layout::builder(&dims, bits)?.minor_to_major(&[0, 1, 2, 3])?.build()?;
            let plan = Plan::new(&from, &to, &PlanOptions::default())?;
            let source = bytes(from.bytes() as usize, 7);
            let wanted = expected(&from, &to, None, &source, &vec![0; source.len()]);
            for (set, much) in
                InstructionSet::all_here().into_iter().flat_map(|set| [(set, false), (set, true)])
            {
                let setting = Setting { only: Some(Way::Squares(LINE)), ..Setting::of(set, much) };
                let program = Program::with(&plan, None, setting);
                let is_square = program.explained().iter().any(|step| step.starts_with("squares"));
                let has_squares = set >= if much { InstructionSet::Avx2 } else { InstructionSet::Avx512 };
                assert!(is_square || !has_squares, "{program:?}");
                runs_anywhere(&program, &source, &wanted);
            }
        }
    }
    Ok(())
}

/// Tiles whose rows become columns: of each line of the destination a part comes from one tile. With AVX2 that is a square, in rows.
#[test]
fn rows_of_one_line_may_go_element_by_element() -> tilework_core::Result<()> {
    // Each is a call of a kernel that copies lines to and fro: to go one by one must be among what is tried.
    let dims = [2, 2, 64, 2, 2, 4096];
    let from = Layout::builder(&dims, 128)?.build()?;
    let to = Layout::builder(&dims, 128)?.minor_to_major(&[4, 1, 5, 0, 2, 3])?.build()?;
    let plan = Plan::new(&from, &to, &PlanOptions::default())?;
    for set in InstructionSet::all_here().into_iter().filter(|&set| set == InstructionSet::Avx2) {
        let programs = Program::candidates(&plan, None, Setting::of(set, true));
        let ways: Vec<_> = programs.iter().map(|program| program.explained()[0].clone()).collect();
        assert!(ways.iter().any(|way| way.starts_with("elements of 16 B, one by one")), "{ways:?}");
    }
    Ok(())
}

#[test]
fn networks_that_are_squares_go_along_rows() -> tilework_core::Result<()> {
    for (bits, tile) in [(8, 32), (16, 16), (32, 8), (64, 4)] {
        for dims in [[6 * tile, 256], [7 * tile + 3, 200]] {
            let from = Layout::builder(&dims, bits)?.tile(&[Some(tile), Some(128)])?.build()?;
            let to = Layout::builder(&dims, bits)?.minor_to_major(&[0, 1])?.build()?;
            let plan = Plan::new(&from, &to, &PlanOptions::default())?;
            let source = bytes(from.bytes() as usize, 11);
            let wanted = expected(&from, &to, None, &source, &vec![0; to.bytes() as usize]);
            for set in InstructionSet::all_here() {
                let setting = Setting { only: Some(Way::Network(LINE)), ..Setting::of(set, true) };
                let program = Program::with(&plan, None, setting);
                // Where the next row goes on, several lines of a network belong to one, and squares do without.
                let ways = ["a network", "squares"].map(|way| format!("{way} of {} lines", 512 / bits));
                let is_square = ways.iter().any(|way| program.explained()[0].starts_with(way));
                assert!(is_square || !set.streams(), "{set:?}: {:?}", program.explained());
                runs_anywhere(&program, &source, &wanted);
            }
        }
    }
    Ok(())
}

/// Filters: short rows that the next ones adjoin. Their lines are held from a line's worth of bytes on, and shorter ones have none.
#[test]
fn short_rows_that_adjoin_are_held_from_a_line_on() -> tilework_core::Result<()> {
    for bits in [16, 32, 64] {
        let line = u64::from(512 / bits);
        for rows in [line - 1, line + 1, 2 * line - 1, 2 * line + 1, 4 * line - 1] {
            let dims = [rows, 5, 70];
            let from = Layout::row_major(&dims, bits)?;
            let to = Layout::builder(&dims, bits)?.minor_to_major(&[0, 1, 2])?.build()?;
            let plan = Plan::new(&from, &to, &PlanOptions::default())?;
            let source = bytes(from.bytes() as usize, 5);
            let wanted = expected(&from, &to, None, &source, &vec![0; source.len()]);
            for set in InstructionSet::all_here() {
                let setting = Setting { only: Some(Way::Units), ..Setting::of(set, true) };
                let program = Program::with(&plan, None, setting);
                let is_held = set.streams() && rows >= line;
                assert_eq!(format!("{program:?}").contains("store: Carry,"), is_held, "{program:#?}");
                runs_anywhere(&program, &source, &wanted);
            }
        }
    }
    Ok(())
}

#[test]
fn short_rows_sixteen_bytes_apart() -> Result<(), tilework_core::Error> {
    // Rows of two elements, the last of one: nothing of a row may be taken for the start of the next.
    let from = Layout::row_major(&[9, 7], 16)?;
    let to = Layout::builder(&[9, 7], 16)?.tile(&[None, Some(2)])?.tile(&[Some(8)])?.build()?;
    for shift in 0..40 {
        check(&from, &to, Some(1), (shift % 3, shift)).unwrap();
    }
    Ok(())
}
