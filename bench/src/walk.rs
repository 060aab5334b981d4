//! Walking all elements in memory order against counting them.

use std::hint::black_box;

use crate::rounds::{Failure, Figure, medians};
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
    let figures = medians(figures.collect())?;
    println!("| shape | walk, ns an element | counting, ns | ratio |");
    println!("|---|--:|--:|--:|");
    for (shape, figures) in shapes.iter().zip(figures.chunks(2)) {
        println!("| `{shape}` | {:.2} | {:.2} | {:.1} |", figures[0], figures[1], figures[0] / figures[1]);
    }
    Ok(())
}
