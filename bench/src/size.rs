//! What must not cost more for a larger array: the same rank and tiles, with 2.4·10^6 and 2.4·10^15 elements.

use std::hint::black_box;

use tilework::Layout;
use tilework::xla::Shape;

use crate::rounds::{Failure, Figure, Rounds};
use crate::{HUGE, Random, Setting, TYPICAL};

/// Calls in one batch.
const BATCH: usize = 64;

const ROWS: [&str; 6] = [
    "`lower`",
    "`lower` and `canon`",
    "`offset`",
    "`locate`",
    "`len`, `size`, `bytes`",
    "`same_function` of two plain forms",
];

pub fn run(_: &Setting) -> Result<(), Failure> {
    let cases = [Case::new(TYPICAL)?, Case::new(HUGE)?];
    // A row's two figures stand side by side, so that they are measured one right after the other.
    let figures = cases[0].figures().into_iter().zip(cases[1].figures());
    let rounds = Rounds::measure(figures.flat_map(|(small, large)| [small, large]))?;
    println!("| | `{TYPICAL}`, ns | `{HUGE}`, ns | ratio |");
    println!("|---|--:|--:|--:|");
    for (row, name) in ROWS.iter().enumerate() {
        let [small, large] = [2 * row, 2 * row + 1];
        let ratio = rounds.ratio(large, small);
        println!("| {name} | {:.1} | {:.1} | {ratio:.2} |", rounds.figure(small), rounds.figure(large));
    }
    Ok(())
}

struct Case {
    shape: Shape,
    layout: Layout,
    /// Equal, but made apart, so that nothing is shared.
    twin: Layout,
    places: Vec<u64>,
    indices: Vec<Vec<u64>>,
}

impl Case {
    fn new(text: &str) -> Result<Case, Failure> {
        let shape = Shape::parse(text).map_err(|error| error.report(text).to_string())?;
        let (layout, twin) = (crate::lower(text)?, crate::lower(text)?);
        let mut random = Random(2);
        let places = (0..BATCH).map(|_| random.below(layout.size())).collect();
        let mut index = || layout.dims().iter().map(|&size| random.below(size)).collect();
        let indices = (0..BATCH).map(|_| index()).collect();
        Ok(Case { shape, layout, twin, places, indices })
    }

    /// In the order of [`ROWS`].
    fn figures(&self) -> [Figure<'_>; 6] {
        let lower = || self.shape.as_array().map(|array| black_box(array).lower());
        let layout = &self.layout;
        [
            repeat(move |_| lower()),
            repeat(move |_| {
                let layout = lower();
                if let Some(Ok(layout)) = &layout {
                    black_box(layout.canon());
                }
                layout
            }),
            repeat(move |n| layout.offset(&self.indices[n])),
            repeat(move |n| layout.locate(self.places[n])),
            repeat(move |_| {
                let layout = black_box(layout);
                (layout.len(), layout.size(), layout.bytes())
            }),
            repeat(move |_| black_box(layout).same_function(&self.twin)),
        ]
    }
}

fn repeat<'a, T>(mut work: impl FnMut(usize) -> T + 'a) -> Figure<'a> {
    Figure::new(BATCH, move || {
        for n in 0..BATCH {
            black_box(work(n));
        }
    })
}
