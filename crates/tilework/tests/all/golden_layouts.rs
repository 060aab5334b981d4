//! What is said of layouts of every kind, drawn from a fixed sequence: the file `tests/golden/layouts.txt`, where somebody who
//! changes the core sees which words and numbers change with it. The first of them are written out, and of more there is a sum
//! (see `golden`).

use std::collections::BTreeMap;
use std::fmt::Write;

use tilework::dialect::{Found, targets};
use tilework::{Layout, Level, Place, Plan, PlanOptions, Swizzle};

use crate::common::Recipe;
use crate::golden::{Sum, compare, everything, none};
use crate::pairs::{Random, random};

/// How many are written out, and how many there are.
const SHOWN: usize = 40;
const ALL: usize = 400;

/// Sizes, an order, padding, tiles and an alignment of any kind.
fn recipe(random: &mut Random, dims: &[u64]) -> Recipe {
    let mut minor_to_major: Vec<usize> = (0..dims.len()).collect();
    random.shuffle(&mut minor_to_major);
    let padded = dims.iter().map(|size| size + random.below(4) as u64).collect();
    let mut tile = || {
        let mut sizes: Vec<Option<u64>> =
            (0..random.below(3)).map(|_| Some(1 + random.below(6) as u64)).collect();
        if random.one_in(5) {
            sizes.push(None);
        }
        sizes.push(Some(1 + random.below(6) as u64));
        sizes
    };
    let tiles: Vec<_> = [tile(), tile()].into_iter().collect();
    let tiles = tiles[..random.below(3)].to_vec();
    let align = if random.one_in(5) { 1 + random.below(16) as u64 } else { 1 };
    Recipe { dims: dims.to_vec(), minor_to_major, padded: random.one_in(4).then_some(padded), tiles, align }
}

/// Free strides, with gaps, backward, or of one place for several elements.
fn strided(random: &mut Random, dims: &[u64]) -> Layout {
    let mut step = 1;
    let strides: Vec<i64> = dims
        .iter()
        .map(|&size| {
            let stride = random.pick(&[step, step, step, -step, step + 1, 0]);
            step = (step * size as i64).max(1);
            stride
        })
        .collect();
    Layout::strided(dims, 32, &strides, None, None).expect("small")
}

fn layout(random: &mut Random, dims: &[u64]) -> Layout {
    let mut layout = match random.below(4) {
        0 => strided(random, dims),
        _ => recipe(random, dims).build().expect("small"),
    };
    if random.one_in(4) {
        let [bits, base, shift] = [1 + random.below(3), random.below(3), 3 + random.below(2)];
        let swizzle = Swizzle::new(bits as u32, base as u32, shift as i32).expect("small");
        layout = layout.swizzled(&swizzle).expect("small");
    }
    layout
}

/// A view of a layout.
pub(crate) fn view(random: &mut Random, layout: &Layout) -> Layout {
    let dims = layout.dims();
    let dim = random.below(dims.len());
    let view = match random.below(6) {
        0 => layout.flip(dim),
        1 => layout.slice(dim, 1..dims[dim], 1 + random.below(3) as u64),
        2 => layout.split_dim(dim, 1 + random.below(3) as u64),
        3 => layout.merge_dims(dim),
        4 => layout.broadcast(&[&[2], dims].concat()),
        _ => layout.permute(&(0..dims.len()).rev().collect::<Vec<_>>()),
    };
    view.unwrap_or(layout.clone())
}

/// What there is to know of a layout.
fn about(layout: &Layout) -> String {
    let mut file = format!("== {layout:?}\n");
    let mut line = |name: &str, text: String| writeln!(file, "{name}: {text}").expect("a string takes all");
    let last: Vec<u64> = layout.dims().iter().map(|size| size.saturating_sub(1)).collect();
    match layout.formula_at(&last) {
        Ok(formula) => line("last element", formula),
        Err(error) => line("no last element", error.to_string()),
    }
    for growth in layout.growths() {
        line("growth", format!("{growth:?}, {} times", growth.factor()));
    }
    line("places", format!("{:?}, padding {:?}", layout.places(), layout.padding()));
    let is = [layout.is_injective(), layout.is_packed(), layout.has_gaps(), layout.is_monotonic()];
    line("injective, packed, gaps, monotonic", format!("{is:?}, broadcast {:?}", layout.broadcast_dims()));
    match layout.to_strides() {
        Ok(strides) => line("strides", format!("{strides:?}")),
        Err(error) => line("no strides", error.to_string()),
    }
    line("tiles", format!("{:?}", layout.to_tiled()));
    match layout.digits_before_swizzle() {
        Ok(digits) => line("digits", format!("{digits:?}")),
        Err(error) => line("no digits", error.to_string()),
    }
    let runs = layout.runs();
    line("runs", format!("{} {:?}", runs.len(), &runs[..runs.len().min(3)]));
    let mut causes: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for place in 0..layout.size() {
        let cause = match layout.locate(place) {
            Ok(Place::Element(_)) => continue,
            Ok(Place::Padding(padding)) if padding.level == Level::Tail => "the end".to_owned(),
            Ok(Place::Padding(padding)) => format!("{:?} of {:?}", padding.level, padding.dims),
            Err(error) => error.to_string(),
        };
        causes.entry(cause).or_insert((place, 0)).1 += 1;
    }
    for (cause, (first, count)) in causes {
        line("padding", format!("{count} from {first} on: {cause}"));
    }
    file
}

/// How two layouts compare, and the copy.
fn beside(a: &Layout, b: &Layout) -> String {
    let mut file = String::new();
    let mut line = |name: &str, text: String| writeln!(file, "{name}: {text}").expect("a string takes all");
    for (sense, verdict) in [
        ("function", a.same_function(b)),
        ("buffer", a.same_buffer(b)),
        ("reshape", a.reshape_bitcast(b)),
        ("transpose", a.transpose_bitcast(b)),
    ] {
        line(sense, format!("{}, {:?}", verdict.is_yes(), verdict.reason()));
    }
    match Plan::new(a, b, &PlanOptions { fill: Some(0), ..PlanOptions::default() }) {
        Ok(plan) => line("copy", format!("{plan}\n{:?}", plan.figures())),
        Err(error) => line("no copy", error.to_string()),
    }
    file
}

#[test]
fn a_layout_is_described_compared_and_copied_as_it_was() {
    let (mut file, mut sum, mut number) = (String::new(), Sum::default(), Random(20251125));
    for shown in (0..ALL).map(|at| at < SHOWN) {
        let dims: Vec<u64> = (0..1 + number.below(3)).map(|_| 1 + number.below(9) as u64).collect();
        let (mut a, b) = (layout(&mut number, &dims), layout(&mut number, &dims));
        let mut says = about(&b) + &beside(&a, &b);
        if number.one_in(2) {
            a = view(&mut number, &a);
            a = view(&mut number, &a);
            says = about(&a) + &beside(&a, &Layout::row_major(a.dims(), 32).expect("small"));
        }
        if shown {
            file += &says;
        }
        sum.add("", &says);
    }
    writeln!(file, "== sum over {ALL}: {:016x}", sum.0).expect("a string takes all");
    let mut wrong = Vec::new();
    compare("layouts.txt", file, &mut wrong);
    none(wrong);
}

#[test]
fn a_layout_is_said_in_every_notation_as_it_was() {
    let (mut file, mut number) = (String::new(), Random(7));
    let drawn: Vec<_> = (0..200).map(|_| random(&mut number)).collect();
    for target in targets() {
        let (mut said, mut sum) = (Vec::new(), Sum::default());
        for (model, element) in &drawn {
            let layout = model.layout(element.bits()).expect("small");
            match target.say(&layout, *element) {
                Ok(found) => {
                    sum.add(&found.to_string(), &everything(&[Found { name: None, said: found.clone() }]));
                    said.push(found.to_string());
                }
                Err(error) => sum.add("", &error.to_string()),
            }
        }

        let (count, name, title) = (said.len(), target.name(), target.title());
        writeln!(file, "== {name}, {title}: {count} of {}, sum {:016x}", drawn.len(), sum.0)
            .expect("takes all");
        said.iter().take(6).for_each(|text| writeln!(file, "{text}").expect("takes all"));
    }
    let mut wrong = Vec::new();
    compare("targets.txt", file, &mut wrong);
    none(wrong);
}
