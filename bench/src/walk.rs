//! Walking all elements in memory order against counting them.

use std::hint::black_box;

use crate::rounds::{Failure, Figure, Rounds};
use crate::{Setting, TYPICAL};

pub fn run(_: &Setting) -> Result<(), Failure> {
    let shapes = [TYPICAL, "f32[512,512]{1,0}", "f32[300,300]{1,0:T(8,128)}"];
    let layouts = shapes.into_iter().map(crate::lower).collect::<Result<Vec<_>, _>>()?;
    let figures = layouts.iter().flat_map(|layout| {
        let elements = layout.len();
        // Both hand over an index and a number, so that they differ only in finding them.
        let visit = |index: &[u64], number: u64| {
            black_box((index, number));
        };
        let walk = Figure::new(elements as usize, move || layout.for_each_in_memory_order(visit));
        let count = Figure::new(elements as usize, move || {
            let index = [0; 4];
            (0..elements).for_each(|number| visit(&index, number));
        });
        [walk, count]
    });
    let rounds = Rounds::measure(figures)?;
    println!("| shape | walk, ns an element | counting, ns | ratio |");
    println!("|---|--:|--:|--:|");
    for (row, shape) in shapes.iter().enumerate() {
        let [one, other] = [2 * row, 2 * row + 1];
        let ratio = rounds.ratio(one, other);
        println!("| `{shape}` | {:.2} | {:.2} | {ratio:.1} |", rounds.figure(one), rounds.figure(other));
    }
    Ok(())
}
