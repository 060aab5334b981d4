//! What a plan does, as loops and in one sentence.

use tilework::{Kind, Nest, Plan};
use tilework_picture::{Line, Look};

use crate::page::Page;
use crate::size::short;

/// The loops of a plan from A to B, whose texts are given, and what they come to; no line is wider than `width` columns.
/// `types` are those that are read and written, where elements change on the way.
///
/// ```
/// use tilework::{Layout, Plan, PlanOptions};
/// use tilework_explain::{Look, explain_plan};
/// let tiled = Layout::builder(&[3, 5], 32)?.tile(&[Some(2), Some(2)])?.build()?;
/// let plan = Plan::new(&Layout::row_major(&[3, 5], 32)?, &tiled, &PlanOptions::default())?;
/// let lines = explain_plan(["f32[3,5]", "f32[3,5]{1,0:T(2,2)}"], &plan, None, 80, Look::default());
/// assert!(lines.iter().any(|line| line.to_string().contains("The copy reads 60 B and writes 60 B")));
/// # Ok::<(), tilework::Error>(())
/// ```
pub fn explain_plan(
    texts: [&str; 2],
    plan: &Plan,
    types: Option<[String; 2]>,
    width: usize,
    look: Look,
) -> Vec<Line> {
    let [a, b] = texts.map(str::to_owned);
    let mut page = Page::new(width, look);
    page.rows(&[("A".to_owned(), a), ("B".to_owned(), b)]);
    page.text(&plan.to_string());
    if let Some(sentence) = sentence(plan, types) {
        page.paragraph(&sentence);
    }
    page.into_lines()
}

/// How much is read and written, in which ways most elements get there, and what becomes of the padding; none if nothing
/// moves.
fn sentence(plan: &Plan, types: Option<[String; 2]>) -> Option<String> {
    let figures = plan.figures();
    if figures.elements == 0 {
        return None;
    }
    let of = |side: usize| types.as_ref().map_or_else(String::new, |types| format!(" of {}", types[side]));
    let mut said = format!(
        "The copy reads {}{} and writes {}{}: {}",
        short(figures.bytes_read),
        of(0),
        short(figures.bytes_written),
        of(1),
        ways(plan, figures.elements)
    );
    let bytes = |places: u64| short((u128::from(places) * u128::from(plan.to().bits())).div_ceil(8));
    match plan.options().fill {
        Some(fill) if plan.fills_first() => {
            said.push_str(&format!("; before that, all of it is filled with {fill:#x}"));
        }
        Some(fill) if figures.filled > 0 => {
            said.push_str(&format!("; {} of padding become {fill:#x}", bytes(figures.filled)));
        }
        Some(_) => said.push_str("; there is no padding to fill"),
        None => {
            if let Some(1..) = plan.to().padding() {
                said.push_str("; padding stays as it is");
            }
        }
    }
    said.push('.');
    Some(said)
}

/// The ways in which elements get to their places, most of them first, and how many take each.
fn ways(plan: &Plan, elements: u64) -> String {
    let mut ways: Vec<(Kind, u64)> = Vec::new();
    for nest in plan.copies() {
        match ways.iter_mut().find(|(way, _)| *way == way_of(nest)) {
            Some((_, moved)) => *moved += nest.elements(),
            None => ways.push((way_of(nest), nest.elements())),
        }
    }
    ways.sort_by_key(|&(_, moved)| std::cmp::Reverse(moved));
    let bytes = |run: u64| short((u128::from(run) * u128::from(plan.to().bits())).div_ceil(8));
    let tell = |way: Kind| {
        let runs = plan.copies().iter().filter(|nest| way_of(nest) == way).map(Nest::run);
        match (runs.clone().min().unwrap_or(1), runs.max().unwrap_or(1)) {
            // Where neighbours stay neighbours, it matters how many.
            _ if way != Kind::Rows => words(way),
            (least, most) if least == most => format!("{} of {}", words(way), bytes(most)),
            (least, most) => format!("{} of {} to {}", words(way), bytes(least), bytes(most)),
        }
    };
    match ways.as_slice() {
        [(only, _)] => format!("all {}", tell(*only)),
        ways => {
            let share = |moved: u64| match (u128::from(moved) * 200 / u128::from(elements)).div_ceil(2) {
                _ if moved * 100 < elements => "less than 1\u{a0}%".to_owned(),
                percent => format!("{}\u{a0}%", percent.min(99)),
            };
            let told: Vec<String> =
                ways.iter().take(3).map(|(way, moved)| format!("{} {}", share(*moved), tell(*way))).collect();
            let more = if ways.len() > 3 { ", the rest otherwise" } else { "" };
            format!("{}{more}", told.join(", "))
        }
    }
}

/// How the elements of a nest get to their places: all that go one by one are of one kind.
fn way_of(nest: &Nest) -> Kind {
    match nest.kind() {
        Kind::Apart => Kind::Single,
        kind => kind,
    }
}

fn words(way: Kind) -> String {
    match way {
        Kind::Rows => "in rows".to_owned(),
        Kind::Reversed => "in reversed rows".to_owned(),
        Kind::Transpose => "transposed".to_owned(),
        Kind::Interleave { k } => format!("interleaved from {k} rows"),
        Kind::Deinterleave { k } => format!("dealt out to {k} rows"),
        Kind::Broadcast => "repeated".to_owned(),
        Kind::Gather => "gathered one by one into rows".to_owned(),
        Kind::Scatter => "scattered one by one from rows".to_owned(),
        _ => "one by one".to_owned(),
    }
}
