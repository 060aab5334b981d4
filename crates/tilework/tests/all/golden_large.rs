//! What is said of layouts of any size, up to the limits and beyond them, drawn from a fixed sequence: the file
//! `tests/golden/large.txt`. Nothing here walks over elements. The first are written out, and of more there is a sum (see
//! `golden`), so that whoever changes what the core computes, refuses or says sees it.

use std::fmt::Write;

use tilework::{LOCATE_LIMIT, Layout, Plan, PlanOptions, Result, Swizzle};
use tilework_core::ask::axes::Axes;

use crate::golden::{Sum, compare, none};
use crate::pairs::Random;

/// How many are written out, and how many there are.
const SHOWN: usize = 40;
const ALL: usize = 1200;

const MOST: u64 = i64::MAX as u64;

/// Sizes of dimensions and tiles, strides and places: small ones, and those around a limit.
const SIZES: [u64; 24] = [
    1,
    1,
    2,
    2,
    3,
    4,
    5,
    6,
    8,
    12,
    16,
    100,
    127,
    128,
    1000,
    1 << 20,
    (1 << 20) + 1,
    1 << 31,
    (1 << 32) - 1,
    1 << 40,
    1 << 61,
    1 << 62,
    MOST,
    0,
];

/// One of the first sizes, and seldom one of all.
fn size(random: &mut Random) -> u64 {
    let among = random.pick(&[11, 11, 15, 15, 15, 18, SIZES.len()]);
    match random.one_in(150) {
        true => MOST + 1,
        false => random.pick(&SIZES[..among]),
    }
}

fn sizes(random: &mut Random, count: usize) -> Vec<u64> {
    (0..count).map(|_| size(random)).collect()
}

fn order(random: &mut Random, rank: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rank).collect();
    random.shuffle(&mut order);
    match random.one_in(40) {
        true => vec![0; rank + random.below(2)],
        false => order,
    }
}

/// An order, padding, tiles and an alignment.
fn tiled(random: &mut Random, dims: &[u64], bits: u32) -> Result<Layout> {
    let mut builder = Layout::builder(dims, bits)?;
    if random.one_in(2) {
        builder = builder.minor_to_major(&order(random, dims.len()))?;
    }
    if random.one_in(4) {
        let padded: Vec<u64> = dims
            .iter()
            .map(|&size| match random.below(8) {
                0 => size.saturating_sub(1),
                1 => size.saturating_mul(2),
                more => size.saturating_add(more as u64 - 2),
            })
            .collect();
        builder = builder.padded(&padded)?;
    }
    for _ in 0..random.below(4) {
        let count = 1 + random.below(3);
        let mut tile: Vec<Option<u64>> = sizes(random, count).into_iter().map(Some).collect();
        if random.one_in(4) {
            tile.insert(random.below(count), None);
        }
        builder = builder.tile(&tile)?;
    }
    if random.one_in(4) {
        builder = builder.align(size(random));
    }
    builder.build()
}

/// Free strides, most of them those of an order.
fn strided(random: &mut Random, dims: &[u64], bits: u32) -> Result<Layout> {
    let mut step: i64 = random.pick(&[1, 1, 1, 2, 3]);
    let mut strides = vec![0; dims.len()];
    for dim in order(random, dims.len()).into_iter().filter(|&dim| dim < dims.len()) {
        strides[dim] = match random.below(8) {
            0 => 0,
            1 => step.saturating_add(1),
            2 => -step,
            3 => size(random).min(MOST) as i64,
            _ => step,
        };
        step = step.saturating_mul(dims[dim].clamp(1, MOST) as i64);
    }
    if random.one_in(60) {
        strides.push(1);
    }
    let mut place = || random.one_in(4).then(|| random.pick(&[0, 1, 7, 100, 1 << 30, MOST, MOST + 1]));
    let (base, size) = (place(), place());
    Layout::strided(dims, bits, &strides, base, size)
}

/// A sum of terms: dimensions that are padded, split, merged and shifted.
fn terms(random: &mut Random, dims: &[u64], bits: u32) -> Result<Layout> {
    let mut terms = Layout::terms(dims, bits)?;
    let mut pool = Vec::new();
    for dim in 0..dims.len() {
        pool.push(terms.dim(dim)?);
    }
    for _ in 0..random.below(6) {
        if pool.is_empty() {
            break;
        }
        let term = pool.swap_remove(random.below(pool.len()));
        match random.below(6) {
            0 => {
                let extent = terms.extent(&term).saturating_add(random.below(4) as u64);
                pool.push(terms.pad(term, extent)?);
            }
            1 | 2 => {
                let (div, rest) = terms.split(term, size(random))?;
                pool.extend([div, rest]);
            }
            3 if !pool.is_empty() => {
                let minor = pool.swap_remove(random.below(pool.len()));
                pool.push(terms.merge(term, minor)?);
            }
            4 => {
                let (start, step) = (random.pick(&[0, 1, 5, 1 << 20]), random.pick(&[1, 2, 3, 0]));
                pool.push(terms.shift(term, start, step)?);
            }
            5 => {
                let last = terms.extent(&term).saturating_sub(random.below(12) as u64 / 10);
                pool.push(terms.shift(term, last, -1)?);
            }
            _ => pool.push(term),
        }
    }
    let mut step = 1_i64;
    while !pool.is_empty() {
        let term = pool.swap_remove(random.below(pool.len()));
        let stride = random.pick(&[step, step, step, step, -step, step.saturating_add(3), 0]);
        step = step.saturating_mul(terms.extent(&term).clamp(1, MOST) as i64);
        terms.add(term, stride)?;
    }
    let mut place = || random.one_in(4).then(|| random.pick(&[0, 1, 7, 100, 1 << 30, MOST]));
    let (base, size) = (place(), place());
    terms.build(base, size)
}

/// Views of a layout, until one is refused.
fn view(random: &mut Random, layout: &Layout) -> Result<Layout> {
    let (dims, rank) = (layout.dims(), layout.rank());
    let beyond = usize::from(rank == 0 || random.one_in(20));
    let dim = random.below(rank + beyond);
    let most = dims.get(dim).copied().unwrap_or(1);
    match random.below(8) {
        0 => layout.flip(dim),
        1 => {
            let start = random.pick(&[0, 1, most / 2, most]);
            let end = random.pick(&[most, most, most, most / 2 + 1, most.saturating_add(1)]);
            let step = random.pick(&[1, 1, 2, 3, 1 << 20, 0, MOST]);
            layout.slice(dim, start..end, step)
        }
        2 => layout.split_dim(dim, random.pick(&[1, 2, 3, 4, 8, most, 0])),
        3 => layout.merge_dims(dim),
        4 => {
            let mut wider = dims.to_vec();
            if let Some(size) = wider.get_mut(dim).filter(|size| **size == 1 || random.one_in(8)) {
                *size = random.pick(&[2, 3, 1 << 20, 0]);
            }
            wider.insert(0, random.pick(&[1, 2, 1 << 20]));
            wider.remove(usize::from(rank > 0 && random.one_in(9)));
            layout.broadcast(&wider)
        }
        5 => layout.permute(&order(random, rank)),
        6 => layout.reshape(&[layout.len()]),
        _ => layout.reshape(&[dims, &[1, random.pick(&[1, 1, 1, 2])]].concat()),
    }
}

fn swizzle(random: &mut Random) -> Result<Swizzle> {
    if random.one_in(3) {
        let flips: Vec<(u32, u64)> = (0..1 + random.below(3))
            .map(|_| {
                (random.pick(&[0, 1, 2, 5, 9, 40, 61, 62]), 1_u64 << random.pick(&[0, 1, 3, 7, 30, 61, 62]))
            })
            .collect();
        return Swizzle::flipping(flips);
    }
    let [bits, base] =
        [random.below(5), random.pick(&[0, 0, 1, 2, 3, 4, 30, 57])].map(|number| number as u32);
    let shift = bits as i32 + random.pick(&[0, 0, 1, 2, 4, -1]);
    Swizzle::new(bits, base, if random.one_in(3) { -shift } else { shift })
}

/// A layout of any kind, or why there is none.
fn layout(random: &mut Random, dims: &[u64]) -> Result<Layout> {
    let bits = if random.one_in(8) { random.pick(&[8, 4, 1, 64, 128, 12, 0, u32::MAX]) } else { 32 };
    let mut layout = match random.below(6) {
        0 | 1 => strided(random, dims, bits)?,
        2 => terms(random, dims, bits)?,
        _ => tiled(random, dims, bits)?,
    };
    if random.one_in(6) {
        layout = layout.swizzled(&swizzle(random)?)?;
    }
    Ok(layout)
}

/// An index within the dimensions, or nearly.
fn index(random: &mut Random, dims: &[u64]) -> Vec<u64> {
    let mut within = |&size: &u64| match random.below(5) {
        0 => 0,
        1 => size.saturating_sub(1),
        2 if random.one_in(9) => size,
        2 => size / 2,
        _ => random.below(size.clamp(1, 1 << 31) as usize) as u64,
    };
    dims.iter().map(&mut within).collect()
}

/// What there is to know of a layout without looking at each element.
fn about(random: &mut Random, layout: &Layout) -> String {
    let mut file = format!("== {layout:?}\n");
    let mut line = |name: &str, text: String| writeln!(file, "{name}: {text}").expect("a string takes all");
    line("elements", format!("{}, {} B of {}", layout.len(), layout.element_bytes(), layout.bytes()));
    let [base, tail] = [layout.base(), layout.tail()];
    line("made", format!("base {base}, tail {tail}, compact {}", layout.is_compact()));
    line(
        "axes",
        format!("{:?}", layout.axes().iter().map(|axis| (axis.extent, axis.stride)).collect::<Vec<_>>()),
    );
    line(
        "reaches",
        format!(
            "{:?}",
            layout.index_parts().iter().map(|part| (part.reach, part.extent)).collect::<Vec<_>>()
        ),
    );
    for growth in layout.growths() {
        line(
            "growth",
            format!("{} from {} to {}, {} times", growth.cause, growth.from, growth.to, growth.factor()),
        );
    }
    line("broadcast", format!("{:?}", layout.broadcast_dims()));
    // What may have to look at each element is asked where that is quick, or where there are too many to do it.
    if layout.len() <= 1 << 12 || layout.len() > LOCATE_LIMIT {
        line("places", format!("{:?}, padding {:?}", layout.places(), layout.padding()));
        let is = [layout.is_injective(), layout.is_packed(), layout.has_gaps(), layout.is_monotonic()];
        line("injective, packed, gaps, monotonic", format!("{is:?}"));
    }
    line("strides", said(layout.to_strides()));
    line("digits", said(layout.to_digits()));
    line("buffer", said(Axes::of(layout).map(|axes| (axes.axes, axes.of_dims, axes.around))));
    if layout.axes().len() < 6 {
        line("tiles", format!("{:?}", layout.to_tiled()));
    }
    if let Some(swizzle) = layout.swizzle() {
        let back = swizzle.inverse();
        line(
            "swizzle",
            format!("{swizzle}, back {back}, blocks {}, runs {}", swizzle.block(), swizzle.run()),
        );
        line("flips", format!("{:?}", swizzle.flips()));
        assert_eq!(&Swizzle::flipping(swizzle.flips().iter().copied()).expect("the same"), swizzle);
        line("twice", said(swizzle.then(swizzle).map(|twice| (twice.to_string(), twice.is_identity()))));
    }
    for _ in 0..3 {
        let index = index(random, layout.dims());
        line(&format!("{index:?}"), said(layout.formula_at(&index)));
        let place = random.pick(&[0, 1, layout.size() / 2, layout.size().saturating_sub(2), layout.size()]);
        let place =
            layout.offset(&index).unwrap_or(place).saturating_add(random.pick(&[0, 1, 1, 5, 1 << 20]));
        line(&place.to_string(), said(layout.locate(place)));
    }
    file
}

/// A value, or all parts of an error.
fn said<T: std::fmt::Debug>(value: Result<T>) -> String {
    match value {
        Ok(value) => format!("{value:?}"),
        Err(error) => format!("{:?}: {error}", error.kind()),
    }
}

/// How two layouts compare, and the copy.
fn beside(a: &Layout, b: &Layout) -> String {
    let mut file = String::new();
    let mut line = |name: &str, text: String| writeln!(file, "{name}: {text}").expect("a string takes all");
    line("equal", (a == b).to_string());
    for (sense, verdict) in [
        ("function", a.same_function(b)),
        ("buffer", a.same_buffer(b)),
        ("reshape", a.reshape_bitcast(b)),
        ("transpose", a.transpose_bitcast(b)),
    ] {
        line(sense, format!("{verdict}, {:?}", verdict.reason()));
    }
    match Plan::new(a, b, &PlanOptions { fill: Some(1), converts: true }) {
        Ok(plan) => line("copy", format!("{plan}\n{:?}, {:?}", plan.figures(), plan.main_kind())),
        Err(error) => line("copy", format!("{:?}: {error}", error.kind())),
    }
    file
}

#[test]
fn a_layout_of_any_size_is_built_measured_and_copied_as_it_was() {
    let (mut file, mut sum, mut random) = (String::new(), Sum::default(), Random(20251126));
    for at in 0..ALL {
        let rank = random.pick(&[0, 1, 2, 2, 2, 3, 3, 4]);
        let dims = sizes(&mut random, rank);
        let whole = layout(&mut random, &dims);
        let mut a = whole.clone();
        while let Ok(before) = &a
            && random.one_in(2)
        {
            a = view(&mut random, before);
        }
        let b = layout(&mut random, a.as_ref().map_or(&dims, |a| a.dims()));
        let mut says = String::new();
        for layout in [&a, &b] {
            match layout {
                Ok(layout) => says += &about(&mut random, layout),
                Err(error) => says += &format!("== {dims:?}\n{:?}: {error}\n", error.kind()),
            }
        }
        for other in [&whole, &b] {
            if let (Ok(a), Ok(other)) = (&a, other) {
                says += &beside(a, other);
            }
        }
        if at < SHOWN {
            file += &says;
        }
        sum.add("", &says);
    }
    writeln!(file, "== sum over {ALL}: {:016x}", sum.0).expect("a string takes all");
    let mut wrong = Vec::new();
    compare("large.txt", file, &mut wrong);
    none(wrong);
}
