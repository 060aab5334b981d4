//! Two logs side by side: before a change and after it.

use std::cmp::Reverse;
use std::collections::HashMap;

use tilework_audit::{Findings, Logged, Work};

use super::sentence::{counted, plural, saves, short, time};
use crate::page::Page;

/// A log before with the one after.
type Pair<'a> = (Option<&'a Logged>, Option<&'a Logged>);

/// Whether two audits have logs of a kind in common, so that they can be compared.
pub fn have_logs_to_compare(before: &Findings, after: &Findings) -> bool {
    before.logs.iter().any(|log| after.logs.iter().any(|other| other.kind == log.kind))
}

/// What a change did to the moves of logs.
pub(crate) fn changed_logs(page: &mut Page, before: &Findings, after: &Findings, top: usize) {
    for pair in pairs(before, after) {
        if !page.lines().is_empty() {
            page.text("\n");
        }
        match pair {
            (Some(before), Some(after)) => changed(page, before, after, top),
            (Some(log), None) => page.title(&format!("{}: only before.", log.name)),
            (None, Some(log)) => page.title(&format!("{}: only after.", log.name)),
            (None, None) => {}
        }
    }
}

/// Logs of one kind, those with the same name if there are several; otherwise in their order.
fn pairs<'a>(before: &'a Findings, after: &'a Findings) -> Vec<Pair<'a>> {
    let mut left: Vec<&Logged> = before.logs.iter().collect();
    let mut pairs: Vec<Pair<'_>> = Vec::new();
    for after in &after.logs {
        let alike = |same_name: bool| {
            let is = |log: &&Logged| log.kind == after.kind && (!same_name || log.name == after.name);
            left.iter().position(is)
        };
        let place = alike(true).or_else(|| alike(false));
        pairs.push((place.map(|place| left.remove(place)), Some(after)));
    }
    pairs.extend(left.into_iter().map(|before| (Some(before), None)));
    pairs
}

fn changed(page: &mut Page, before: &Logged, after: &Logged, top: usize) {
    let kinds = plural(after.kind.move_name());
    let name = match before.name == after.name {
        true => after.name.clone(),
        false => format!("{} → {}", before.name, after.name),
    };
    let (a, b) = (&before.moved, &after.moved);
    let (from, to) = (cost(a, before), cost(b, after));
    let change = match a.cost().cmp(&b.cost()) {
        _ if from == to => format!("come to {to} as before"),
        std::cmp::Ordering::Less => format!("grow from {from} to {to}"),
        _ => format!("fall from {from} to {to}"),
    };
    page.title(&format!("{name}: {kinds} {change}."));
    let step = |name: &str, before: u64, after: u64, words: fn(u64) -> String| {
        let change = match before.cmp(&after) {
            std::cmp::Ordering::Equal => format!("{}, as before", words(after)),
            std::cmp::Ordering::Greater => {
                format!("{} → {}, {} less", words(before), words(after), words(before - after))
            }
            std::cmp::Ordering::Less => {
                format!("{} → {}, {} more", words(before), words(after), words(after - before))
            }
        };
        (name.to_owned(), change)
    };
    let number = |number: u64| number.to_string();
    let mut rows = vec![step(&kinds, a.count, b.count, number)];
    rows.push(step("all operations", before.all.count, after.all.count, number));
    if before.all.nanoseconds > 0 && after.all.nanoseconds > 0 {
        rows.push(step("time of all", before.all.nanoseconds, after.all.nanoseconds, time));
    }
    rows.push(step("bytes moved", a.data, b.data, short));
    rows.push(step("padding written", a.waste, b.waste, short));
    page.rows(&rows);
    let mut sums: HashMap<(&str, &str), (Work, Work)> = HashMap::new();
    for pair in &before.pairs {
        sums.entry((&pair.from, &pair.to)).or_default().0 = pair.work;
    }
    for pair in &after.pairs {
        sums.entry((&pair.from, &pair.to)).or_default().1 = pair.work;
    }
    let mut changes: Vec<_> = sums.into_iter().filter(|(_, (before, after))| before != after).collect();
    let change = |(before, after): &(Work, Work)| {
        let (a, b) = (before.cost(), after.cost());
        Reverse((a.0.abs_diff(b.0), a.1.abs_diff(b.1), a.2.abs_diff(b.2)))
    };
    changes.sort_by(|a, b| change(&a.1).cmp(&change(&b.1)).then_with(|| a.0.cmp(&b.0)));
    if changes.is_empty() {
        return;
    }
    page.heading(&format!("{kinds} by formats, the largest change first"));
    let words = |work: &Work| match work.count {
        0 => "none".to_owned(),
        count => format!("{} in {}", saves(work), counted(count, after.kind.move_name())),
    };
    let lines: Vec<String> = changes
        .iter()
        .take(top)
        .map(|((from, to), (before, after))| {
            format!("  {} → {}: {from} to {to}", words(before), words(after))
        })
        .collect();
    page.text(&lines.join("\n"));
}

/// What the moves of a log take, in its own unit.
fn cost(work: &Work, log: &Logged) -> String {
    match (work.count, log.all.nanoseconds) {
        (0, _) => "none".to_owned(),
        (_, all) if all > 0 && work.nanoseconds > 0 => {
            format!("{} of {}", time(work.nanoseconds), time(all))
        }
        _ => saves(work),
    }
}
