//! What a plan says of itself: its figures against its moves, and the two elements it names where a destination overlaps.

use std::collections::HashSet;

use proptest::prelude::*;
use tilework::{Layout, Plan, PlanOptions};

use crate::common::{indices, recipe_over};

proptest! {
    #[test]
    fn figures_count_the_moves(
        (from, to) in prop::collection::vec(1..=7_u64, 0..=3)
            .prop_flat_map(|dims| (recipe_over(dims.clone(), true), recipe_over(dims, true)))
    ) {
        let (from, to) = (from.build().unwrap(), to.build().unwrap());
        prop_assume!(to.size() < 5000);
        let plan = Plan::new(&from, &to, &PlanOptions { fill: Some(0), converts: false }).unwrap();
        let figures = plan.figures();
        let (mut moved, mut filled) = (0, 0);
        plan.copies().iter().for_each(|nest| nest.for_each(|_, _| moved += 1));
        plan.fills().iter().for_each(|nest| nest.for_each(|_, _| filled += 1));
        prop_assert_eq!((figures.elements, figures.filled), (moved, filled));
        prop_assert_eq!((figures.bytes_read, figures.bytes_written), (moved as u128 * 4, (moved + filled) as u128 * 4));
        let starts: usize = plan.copies().iter().map(|nest| nest.starts.len()).sum();
        prop_assert_eq!((figures.nests, figures.starts), (plan.copies().len(), starts as u64));
        let text = plan.to_string();
        let all = " of the destination with 0x0 before that";
        prop_assert_eq!(text.contains(all), plan.fills_first());
        prop_assert_eq!(text.contains("of padding with 0x0"), filled > 0 && !plan.fills_first());
        // A run is what moves by one on both sides, from turn to turn of the innermost loop.
        let (mut runs, mut longest, mut in_longest) = (0, 0, 0);
        for nest in plan.copies() {
            let run = nest.loops.last().filter(|each| (each.from, each.to) == (1, 1)).map_or(1, |each| each.extent);
            runs += nest.elements() / run;
            if run > longest {
                (longest, in_longest) = (run, 0);
            }
            if run == longest {
                in_longest += nest.elements();
            }
        }
        prop_assert_eq!((figures.runs, figures.longest_run, figures.in_longest_runs), (runs, longest, in_longest));
    }

    #[test]
    fn a_destination_that_overlaps_names_two_elements_at_one_place(
        (dims, strides) in (1..=3_usize).prop_flat_map(|rank| {
            (prop::collection::vec(1..=5_u64, rank), prop::collection::vec(-6..=6_i64, rank))
        })
    ) {
        let to = Layout::strided(&dims, 8, &strides, None, None).unwrap();
        let mut places = HashSet::new();
        let is_apart = indices(&dims).all(|index| places.insert(to.offset(&index).unwrap()));
        let found = Plan::new(&Layout::row_major(&dims, 8).unwrap(), &to, &PlanOptions::default());
        prop_assert_eq!(found.is_ok(), is_apart);
        let Err(error) = found else { return Ok(()) };
        let text = error.to_string();
        let text = text.split_once("elements (").and_then(|(_, rest)| rest.split_once(") and ("));
        let (a, rest) = text.unwrap();
        let (b, rest) = rest.split_once(") are both at ").unwrap();
        let index = |text: &str| text.split(", ").map(|number| number.parse().unwrap()).collect::<Vec<u64>>();
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let place: u64 = rest[..digits].parse().unwrap();
        prop_assert!(index(a) < index(b), "{} {}", a, b);
        for element in [a, b] {
            prop_assert_eq!(to.offset(&index(element)).unwrap(), place, "{:?}", index(element));
        }
    }
}

#[test]
fn a_plan_is_printed_with_what_it_moves_and_fills() {
    let plan = |from: &Layout, to: &Layout, fill| {
        Plan::new(from, to, &PlanOptions { fill, converts: false }).unwrap()
    };
    let rows = |dims: &[u64], bits| Layout::row_major(dims, bits).unwrap();
    let nothing = plan(&rows(&[0, 5], 32), &rows(&[0, 5], 32), None);
    assert_eq!(nothing.to_string(), "moves nothing");
    // Bits, where they are no whole bytes; runs of different lengths; the padding.
    let tiled = Layout::builder(&[3, 5], 4).unwrap().tile(&[Some(2), Some(2)]).unwrap().build().unwrap();
    assert_eq!(
        plan(&rows(&[3, 5], 4), &tiled, Some(7)).to_string(),
        "\
moves 15 elements, 60 bits
in 4 nests of loops: 9 runs of up to 1 B
fills 36 bits of padding with 0x7

nest 1: 8 elements, rows of 1 B
  from 0 to 0
    2 times  from +2  to +4
    2 times  from +5  to +2
    2 times  from +1  to +1

nest 2: 2 elements, apart
  from 4 to 8
    2 times  from +5  to +2

nest 3: 4 elements, rows of 1 B
  from 10 to 12
    2 times  from +2  to +4
    2 times  from +1  to +1

nest 4: 1 element, single
  from 14 to 20

fill 1: 6 elements
  to 14
    3 times  to +4
    2 times  to +1

fill 2: 2 elements
  to 9
    2 times  to +2

fill 3: 1 element
  to 21"
    );
    let moved = |size: u64, bits| {
        let text = plan(&rows(&[size], bits), &rows(&[size], bits), None).to_string();
        text.lines().next().unwrap().to_owned()
    };
    assert_eq!(moved(1, 8), "moves 1 element, 1 B");
    assert_eq!(moved(1023, 8), "moves 1023 elements, 1023 B");
    assert_eq!(moved(1 << 20, 32), "moves 1048576 elements, 4 MiB");
    assert_eq!(moved(1280, 8), "moves 1280 elements, 1.25 KiB");
    assert_eq!(moved(5 << 58, 8), "moves 1441151880758558720 elements, 1.25 EiB");
}

#[test]
fn of_many_nests_the_first_twelve_are_printed() {
    let tiled = |tile: u64| {
        let tile = [Some(tile), Some(tile)];
        Layout::builder(&[64, 64], 8).unwrap().tile(&tile).unwrap().build().unwrap()
    };
    let plan = Plan::new(&tiled(5), &tiled(7), &PlanOptions::default()).unwrap();
    let text = plan.to_string();
    let shown: u64 = plan.copies()[..12].iter().map(tilework::Nest::elements).sum();
    let left = plan.copies().len() - 12;
    assert!(text.contains("\n\nnest 12: ") && !text.contains("\n\nnest 13: "), "{text}");
    assert!(text.ends_with(&format!("\n\n… and {left} more, {} elements", 64 * 64 - shown)), "{text}");
    assert!(text.contains(" more starts\n"), "{text}");
}
