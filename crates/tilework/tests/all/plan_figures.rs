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
