//! `Layout::offset` against a plain dot product of four strides, over the same indices.

use std::hint::black_box;

use tilework::Layout;

use crate::rounds::{Failure, Figure, Rounds};
use crate::{HUGE, Random, Setting, TYPICAL};

const INDICES: usize = 4096;

pub fn run(_: &Setting) -> Result<(), Failure> {
    let shapes = [TYPICAL, HUGE];
    let cases = shapes.into_iter().map(Case::new).collect::<Result<Vec<_>, _>>()?;
    let figures = cases.iter().flat_map(|case| {
        let offset =
            Figure::new(INDICES, || case.indices.iter().map(|index| case.offset(index)).fold(0, add));
        let dot = Figure::new(INDICES, || case.indices.iter().map(|index| case.dot(index)).fold(0, add));
        [offset, dot]
    });
    let rounds = Rounds::measure(figures)?;
    println!("| shape | `offset`, ns | four-term dot product, ns | ratio |");
    println!("|---|--:|--:|--:|");
    for (row, shape) in shapes.iter().enumerate() {
        let [one, other] = [2 * row, 2 * row + 1];
        let ratio = rounds.ratio(one, other);
        println!("| `{shape}` | {:.2} | {:.2} | {ratio:.1} |", rounds.figure(one), rounds.figure(other));
    }
    Ok(())
}

fn add(sum: u64, offset: u64) -> u64 {
    sum.wrapping_add(offset)
}

struct Case {
    layout: Layout,
    strides: [u64; 4],
    indices: Vec<[u64; 4]>,
}

impl Case {
    fn new(text: &str) -> Result<Case, Failure> {
        let layout = crate::lower(text)?;
        let &[a, b, c, d] = layout.dims() else { return Err(format!("{text} has not four dimensions")) };
        let mut random = Random(1);
        let indices = (0..INDICES).map(|_| [a, b, c, d].map(|size| random.below(size))).collect();
        // The strides of the same order without tiles: 2, 0, 3, 1 from minor to major.
        let strides = black_box([c, c * a * d, 1, c * a]);
        Ok(Case { layout, strides, indices })
    }

    fn offset(&self, index: &[u64; 4]) -> u64 {
        self.layout.offset(index).unwrap_or(0)
    }

    /// What any strided array does, without looking whether the index is inside.
    fn dot(&self, index: &[u64; 4]) -> u64 {
        let [i, j, k, l] = index;
        let [a, b, c, d] = self.strides;
        i * a + j * b + k * c + l * d
    }
}
