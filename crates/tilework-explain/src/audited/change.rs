//! Two audits side by side: before a change and after it.

use std::cmp::Reverse;
use std::collections::HashMap;

use serde::Serialize;
use tilework::xla::{ArrayShape, Layout, Shape};
use tilework_audit::{Audited, Findings, Sum};
use tilework_picture::{Line, Look};

use super::object::FindingsObject;
use super::report::unread;
use super::sentence::{percent, short};
use crate::logged::changed_logs;
use crate::page::Page;

/// What a change did to the layouts of a program, or of several; no line is wider than `width` columns. `top` is how many
/// shapes are told. Programs are the same if they have the same name, or if there is one before and one after.
pub fn explain_audit_change(
    before: &Findings,
    after: &Findings,
    top: usize,
    width: usize,
    look: Look,
) -> Vec<Line> {
    let mut page = Page::new(width, look);
    for pair in pairs(before, after) {
        if !page.lines().is_empty() {
            page.text("\n");
        }
        match pair {
            (Some(before), Some(after)) => changed(&mut page, before, after, top),
            (Some(before), None) => page.title(&format!("{}: only before.", before.name)),
            (None, Some(after)) => page.title(&format!("{}: only after.", after.name)),
            (None, None) => {}
        }
    }
    changed_logs(&mut page, before, after, top);
    if page.lines().is_empty() {
        page.title("There are no shapes in what was read.");
    }
    for findings in [before, after] {
        unread(&mut page, &findings.unread);
    }
    page.into_lines()
}

/// What would be if these arrays lay so: the findings as the dump has them, and as they would be. Programs that stay as
/// they are get no more than a count.
pub fn explain_what_if(
    instead: &[ArrayShape],
    before: &Findings,
    after: &Findings,
    top: usize,
    width: usize,
    look: Look,
) -> Vec<Line> {
    let mut page = Page::new(width, look);
    let asked: Vec<String> = instead.iter().map(lying).collect();
    page.title(&format!("What if {}?", asked.join(" and ")));
    let (same, others): (Vec<Pair<'_>>, Vec<Pair<'_>>) =
        pairs(before, after).into_iter().partition(|pair| is_same(*pair));
    for pair in others {
        if let (Some(before), Some(after)) = pair {
            page.text("");
            changed(&mut page, before, after, top);
        }
    }
    let footprint = "Footprint only: the compiler may need this order, and copy to get it.";
    page.paragraph(&match same.len() {
        0 => footprint.to_owned(),
        1 => format!("{footprint} 1 program stays as it is."),
        count => format!("{footprint} {count} programs stay as they are."),
    });
    page.into_lines()
}

/// `s32[300000,8] lay as {0,1:T(8,128)}`
fn lying(array: &ArrayShape) -> String {
    let layout = array.layout().map(Layout::to_string).unwrap_or_default();
    format!("{} lay as {layout}", array.clone().without_layout())
}

fn is_same(pair: Pair<'_>) -> bool {
    matches!(pair, (Some(a), Some(b)) if a.total == b.total && a.peak == b.peak && a.moved == b.moved)
}

type Pair<'a> = (Option<&'a Audited>, Option<&'a Audited>);

/// Programs before with those after; those with the most memory after first.
fn pairs<'a>(before: &'a Findings, after: &'a Findings) -> Vec<Pair<'a>> {
    if let ([before], [after]) = (&before.programs[..], &after.programs[..]) {
        return vec![(Some(before), Some(after))];
    }
    let mut left: Vec<&Audited> = before.programs.iter().collect();
    let mut pairs: Vec<Pair<'_>> = Vec::new();
    for after in &after.programs {
        let same = left.iter().position(|before| before.name == after.name);
        pairs.push((same.map(|place| left.remove(place)), Some(after)));
    }
    pairs.extend(left.into_iter().map(|before| (Some(before), None)));
    pairs
}

fn changed(page: &mut Page, before: &Audited, after: &Audited, top: usize) {
    page.title(&sentence(before, after));
    let mut rows = Vec::new();
    let row = |name: &str, before: u64, after: u64| (name.to_owned(), step(before, after));
    if let (Some(old), Some(new)) = (&before.peak, &after.peak) {
        rows.push(row("at the peak", old.sum.allocated, new.sum.allocated));
        rows.push(row("padding then", old.sum.waste(), new.sum.waste()));
        if old.instruction != new.instruction {
            let (old, new) = (&old.instruction, &new.instruction);
            rows.push(("the peak is".to_owned(), format!("while {old} runs → while {new} runs")));
        }
        rows.extend(next_largest(before, after).map(|words| ("largest then".to_owned(), words)));
    }
    rows.push(row("all buffers", before.total.allocated, after.total.allocated));
    rows.push(row("their padding", before.total.waste(), after.total.waste()));
    rows.push(row("layout changes", before.moved.bytes, after.moved.bytes));
    page.rows(&rows);
    let shapes = shapes(before, after);
    if shapes.is_empty() {
        return;
    }
    page.heading("padding by shape, the largest change first");
    let line = |change: &ShapeChange| {
        format!("  {}: {}", step(change.before_waste, change.after_waste), change.shape)
    };
    let lines: Vec<String> = shapes.iter().take(top).map(line).collect();
    page.text(&lines.join("\n"));
}

/// The largest array at the peak, where it is another than before: what to look at next.
fn next_largest(before: &Audited, after: &Audited) -> Option<String> {
    let (old, new) = (before.largest.first()?, after.largest.first()?);
    if old.name == new.name && old.shape == new.shape {
        return None;
    }
    let name = new.name.as_ref().map(|name| format!(" {name}")).unwrap_or_default();
    let padding = match new.allocated.saturating_sub(new.data) {
        0 => "none of it padding".to_owned(),
        waste => format!("{} of it padding", short(waste)),
    };
    Some(format!("{}{name}, {}, {padding}", new.shape, short(new.allocated)))
}

fn sentence(before: &Audited, after: &Audited) -> String {
    let (a, b): (&Sum, &Sum) = (before.main(), after.main());
    let name = if before.name == after.name || before.name.is_empty() {
        after.name.clone()
    } else {
        format!("{} → {}", before.name, after.name)
    };
    let what = if before.peak.is_some() && after.peak.is_some() {
        "memory at the peak"
    } else {
        "memory of all buffers"
    };
    let change = match a.allocated.cmp(&b.allocated) {
        std::cmp::Ordering::Equal => format!("is {} as before", short(b.allocated)),
        std::cmp::Ordering::Greater => {
            format!("falls from {} to {}", short(a.allocated), short(b.allocated))
        }
        std::cmp::Ordering::Less => format!("grows from {} to {}", short(a.allocated), short(b.allocated)),
    };
    format!("{name}: {what} {change}; padding {} → {}.", percent(a.share()), percent(b.share()))
}

/// `3 MiB → 2 MiB, 1 MiB less`.
fn step(before: u64, after: u64) -> String {
    let change = match before.cmp(&after) {
        std::cmp::Ordering::Equal => return format!("{}, as before", short(after)),
        std::cmp::Ordering::Greater => format!("{} less", short(before - after)),
        std::cmp::Ordering::Less => format!("{} more", short(after - before)),
    };
    format!("{} → {}, {change}", short(before), short(after))
}

/// A shape whose padding is not what it was.
#[derive(Serialize)]
struct ShapeChange {
    program: String,
    shape: String,
    before_waste: u64,
    after_waste: u64,
}

fn shapes(before: &Audited, after: &Audited) -> Vec<ShapeChange> {
    let mut sums: HashMap<&Shape, (u64, u64)> = HashMap::new();
    for shape in &before.shapes {
        sums.entry(&shape.shape).or_default().0 += shape.sum.waste();
    }
    for shape in &after.shapes {
        sums.entry(&shape.shape).or_default().1 += shape.sum.waste();
    }
    let changed = sums.into_iter().filter(|(_, (before, after))| before != after);
    let mut changes: Vec<ShapeChange> = changed
        .map(|(shape, (before_waste, after_waste))| ShapeChange {
            program: after.name.clone(),
            shape: shape.to_string(),
            before_waste,
            after_waste,
        })
        .collect();
    changes.sort_by(|a, b| {
        let change = |of: &ShapeChange| Reverse(of.before_waste.abs_diff(of.after_waste));
        change(a).cmp(&change(b)).then_with(|| a.shape.cmp(&b.shape))
    });
    changes
}

/// Two audits, as `tilework audit --json A B` prints them.
#[derive(Serialize)]
pub struct ChangeObject {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    what_if: Vec<String>,
    before: FindingsObject,
    after: FindingsObject,
    shapes: Vec<ShapeChange>,
}

impl ChangeObject {
    /// All of it.
    pub fn new(before: &Findings, after: &Findings) -> ChangeObject {
        let pairs = pairs(before, after).into_iter();
        let shapes = pairs.filter_map(|(before, after)| Some(shapes(before?, after?))).flatten().collect();
        let what_if = Vec::new();
        ChangeObject {
            what_if,
            before: FindingsObject::new(before),
            after: FindingsObject::new(after),
            shapes,
        }
    }

    /// The same of what would be if these arrays lay so.
    pub fn what_if(instead: &[ArrayShape], before: &Findings, after: &Findings) -> ChangeObject {
        let what_if = instead.iter().map(ArrayShape::to_string).collect();
        ChangeObject { what_if, ..ChangeObject::new(before, after) }
    }
}
