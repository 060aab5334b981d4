//! How layouts of one buffer compare, in all four senses, drawn from a fixed sequence: the file `tests/golden/compared.txt`.
//! Both have as many elements in as many places, so that no count decides. The first are written out, and of more there is a sum
//! (see `golden`).

use std::fmt::Write;

use tilework::{Layout, Plan, PlanOptions, Swizzle, Verdict};

use crate::golden::{Sum, compare, none};
use crate::golden_layouts::view;
use crate::pairs::Random;

/// How many are written out, and how many there are.
const SHOWN: usize = 80;
const ALL: usize = 1000;

/// A layout of sizes that tiles divide or nearly divide, with room for all of them.
fn tiled(random: &mut Random, dims: &[u64], align: u64) -> tilework::Result<Layout> {
    let mut order: Vec<usize> = (0..dims.len()).collect();
    if random.one_in(3) {
        random.shuffle(&mut order);
    }
    let mut builder = Layout::builder(dims, 8)?.minor_to_major(&order)?;
    for _ in 0..random.below(4) {
        let mut tile: Vec<Option<u64>> =
            (0..1 + random.below(2)).map(|_| Some(random.pick(&[1, 2, 2, 3, 4, 6]))).collect();
        if random.one_in(6) {
            tile.insert(0, None);
        }
        builder = builder.tile(&tile)?;
    }
    builder.align(align).build()
}

/// Strides that overlap, or run backward, or leave gaps.
fn strided(random: &mut Random, dims: &[u64], size: u64) -> tilework::Result<Layout> {
    let mut strides: Vec<i64> = dims.iter().map(|_| random.pick(&[0, 1, 1, 2, 3, 4, 6, -1, -2])).collect();
    if random.one_in(2) {
        strides = (0..dims.len()).map(|dim| dims[dim + 1..].iter().product::<u64>() as i64).collect();
        random.shuffle(&mut strides);
    }
    Layout::strided(dims, 8, &strides, None, Some(size))
}

fn layout(random: &mut Random, dims: &[u64], size: u64) -> tilework::Result<Layout> {
    let mut layout = match random.below(4) {
        0 => strided(random, dims, size)?,
        _ => tiled(random, dims, size)?,
    };
    while random.one_in(5) {
        let [bits, base] = [1 + random.below(2), random.below(3)].map(|number| number as u32);
        let shift = bits as i32 + random.below(2) as i32;
        layout =
            layout.swizzled(&Swizzle::new(bits, base, if random.one_in(2) { shift } else { -shift })?)?;
    }
    Ok(layout)
}

/// The same elements in the same buffer, under other indices.
fn again(random: &mut Random, layout: &Layout) -> Layout {
    let mut again = layout.clone();
    for _ in 0..1 + random.below(3) {
        let next = view(random, &again);
        if next.len() == layout.len() {
            again = next;
        }
    }
    again
}

fn says(verdict: &Verdict) -> String {
    match (verdict, verdict.reason()) {
        (Verdict::Yes, _) => "yes".to_owned(),
        (_, reason) => format!("{verdict}, {reason:?}"),
    }
}

fn verdicts(a: &Layout, b: &Layout) -> String {
    let senses = [
        ("function", a.same_function(b)),
        ("buffer", a.same_buffer(b)),
        ("reshape", a.reshape_bitcast(b)),
        ("transpose", a.transpose_bitcast(b)),
    ];
    let mut file = format!("== {a:?}\n== {b:?}\nequal: {}\n", a == b);
    for (sense, verdict) in senses {
        writeln!(file, "{sense}: {}", says(&verdict)).expect("a string takes all");
    }
    if a.dims() == b.dims() {
        match Plan::new(a, b, &PlanOptions { fill: Some(7), converts: false }) {
            Ok(plan) => writeln!(file, "copy: {:?} {:?}", plan.main_kind(), plan.figures()),
            Err(error) => writeln!(file, "no copy: {error}"),
        }
        .expect("a string takes all");
    }
    file
}

#[test]
fn layouts_of_one_buffer_compare_as_they_did() {
    let (mut file, mut sum, mut random) = (String::new(), Sum::default(), Random(77));
    let mut at = 0;
    while at < ALL {
        // Of a few all elements can be looked at, of the largest not.
        let large = random.pick(&[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 << 24, 6_000_000]);
        let rank = 1 + random.below(3);
        let mut dims: Vec<u64> = (0..rank).map(|_| random.pick(&[2, 3, 4, 4, 6, 8, 12, 5])).collect();
        dims[random.below(rank)] *= large;
        let size = dims.iter().product::<u64>().next_multiple_of(48) * random.pick(&[1, 1, 2, 8]);
        let [a, b] = [0; 2].map(|_| layout(&mut random, &dims, size));
        let (Ok(a), Ok(b)) = (a, b) else { continue };
        let says = match a.size() == b.size() && random.one_in(2) {
            true => verdicts(&a, &b),
            false => verdicts(&a, &again(&mut random, &a)),
        };
        if at < SHOWN {
            file += &says;
        }
        sum.add("", &says);
        at += 1;
    }
    writeln!(file, "== sum over {ALL}: {:016x}", sum.0).expect("a string takes all");
    let mut wrong = Vec::new();
    compare("compared.txt", file, &mut wrong);
    none(wrong);
}
