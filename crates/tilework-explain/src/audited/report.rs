//! The page of an audit.

use std::cmp::Ordering;

use tilework::Kind;
use tilework::xla::Shape;
use tilework_audit::{
    Advice, Asked, Assumed, Audited, Basis, Buffer, Class, Donation, Findings, How, Keyed, Limit, Move, Near,
    Place, Shared, SpaceSum, Sum, Unread,
};
use tilework_picture::{Line, Look};

use super::sentence::{audit_sentence, name_of, parts, place, share, short, space_name, widened};
use crate::page::Page;
use crate::size;

/// The most causes of one shape that are told.
const CAUSES: usize = 4;

/// Copies of fewer bytes together get no list of their own: counters of loops, mostly.
const WORTH: u64 = 1 << 12;

/// What an audit found, the sentence that matters first; no line is wider than `width` columns. `top` is how many of each
/// kind are told; of 0 only the sentences.
pub fn explain_audit(findings: &Findings, top: usize, width: usize, look: Look) -> Vec<Line> {
    let mut page = Page::new(width, look);
    if findings.programs.is_empty() {
        page.title("There are no shapes in what was read.");
    }
    for (number, program) in findings.programs.iter().take(top.max(1)).enumerate() {
        if !page.lines().is_empty() {
            page.text("");
        }
        page.title(&audit_sentence(program));
        if let (0, Some(assumed)) = (number, &findings.assumed) {
            page.paragraph(&assumption(assumed));
        }
        if top == 0 {
            continue;
        }
        if let Some(parts) = parts(program) {
            page.paragraph(&parts);
        }
        if let Some(more) = more(program) {
            page.paragraph(&more);
        }
        spaces(&mut page, program);
        largest(&mut page, program, top);
        shapes(&mut page, program, top);
        moves(&mut page, program, top);
        sums(&mut page, "padding by line of the program", &program.sources, name_of, top);
        if program.computations.len() > 1 {
            sums(&mut page, "padding by computation", &program.computations, String::clone, top);
        }
        contradictions(&mut page, program, top);
        if program.overflowed {
            page.paragraph("There was more than is kept; sums are of what was.");
        }
    }
    let rest = &findings.programs[findings.programs.len().min(top.max(1))..];
    if !rest.is_empty() {
        let sum = |what: fn(&Audited) -> u64| short(rest.iter().map(what).fold(0, u64::saturating_add));
        let waste = sum(|program| program.main().waste());
        let (count, word) = (rest.len(), if rest.len() == 1 { "program" } else { "programs" });
        let allocated = sum(|program| program.main().allocated);
        page.paragraph(&format!("{count} more {word} with {allocated}, {waste} of it padding."));
    }
    unread(&mut page, &findings.unread);
    page.into_lines()
}

/// How to get to know more than a short message says.
pub(super) fn more(program: &Audited) -> Option<String> {
    let message = &program.message;
    let is_short = program.basis != Basis::Assignment
        && (message.kernel.is_some() || message.used.is_some() && program.largest.len() < 2);
    let kernel = match message.limit {
        Limit::Kernel => {
            "Smaller blocks need less, and the limit can be raised: pltpu.CompilerParams(vmem_limit_bytes=…) for a Pallas \
             kernel, XLA's option xla_tpu_scoped_vmem_limit_kib for all. "
        }
        _ => "",
    };
    is_short.then(|| {
        format!(
            "{kernel}A dump says what is in the memory. It is written before the program runs, so it exists even when \
             memory runs out: set XLA_FLAGS=\"--xla_dump_to=DIR --xla_dump_hlo_as_text\", run once more, and audit DIR."
        )
    })
}

/// The largest buffers, whatever they waste.
fn largest(page: &mut Page, program: &Audited, top: usize) {
    let worth = program.basis == Basis::Assignment || program.basis == Basis::Message;
    if !worth || program.largest.is_empty() {
        return;
    }
    page.heading(match (&program.peak, program.basis) {
        (Some(_), _) => "largest buffers at the peak",
        (None, Basis::Message) => "largest buffers that are listed",
        (None, _) => "largest buffers",
    });
    let blocks: Vec<String> = program.largest.iter().take(top).map(buffer).collect();
    page.text(&blocks.join("\n"));
}

fn buffer(buffer: &Buffer) -> String {
    let what = what(buffer);
    let mut lines = vec![format!("  {} {what}", short(buffer.allocated.saturating_mul(buffer.count)))];
    lines.push(format!("      {}", buffer_words(buffer)));
    lines.join("\n")
}

/// The shape of a buffer, or what it is that has none.
pub(super) fn what(buffer: &Buffer) -> String {
    match (&*buffer.shape, &buffer.name) {
        (Shape::Opaque, Some(name)) => name.clone(),
        (Shape::Opaque, None) => "a buffer without a shape".to_owned(),
        (shape, _) => shape.to_string(),
    }
}

/// What a buffer is for, what makes it and from when to when it is there.
pub(super) fn buffer_words(buffer: &Buffer) -> String {
    let class = buffer.class.map_or("buffer", |class| class.name());
    let mut text = match &buffer.name {
        Some(name) if *buffer.shape != Shape::Opaque => format!("{class} {name}"),
        _ => class.to_owned(),
    };
    let waste = (buffer.allocated - buffer.data).saturating_mul(buffer.count);
    if waste > 0 {
        text.push_str(&format!(", {} of it padding", short(waste)));
    }
    if let Some((from, to)) = buffer.live.filter(|_| buffer.class == Some(Class::Temporary)) {
        text.push_str(&format!(", alive from {from} to {to}"));
    }
    if let Some(place) = place(&buffer.place) {
        text.push_str(&format!("; {place}"));
    }
    text + &near(buffer.near, &buffer.near_place)
}

/// Which layouts are supposed.
pub(super) fn assumption(assumed: &Assumed) -> String {
    let target = assumed.target.name();
    match assumed.shapes {
        0 => format!(
            "Every array has tiles of its own, or {target} has none for it: sizes are as they are written."
        ),
        1 => format!("1 shape without tiles is counted as {target} usually lays it out."),
        count => format!("{count} shapes without tiles are counted as {target} usually lays them out."),
    }
}

/// Lines of a table, right-aligned but for the first column; none if they are wider than the page.
fn table(page: &Page, rows: &[Vec<String>]) -> Option<Vec<String>> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let cells = |column: usize| rows.iter().filter_map(move |row| row.get(column));
    let widths: Vec<usize> = (0..columns)
        .map(|column| cells(column).map(|cell| cell.chars().count()).max().unwrap_or(0))
        .collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().enumerate().map(|(column, cell)| match column {
            0 => format!("{cell:<width$}", width = widths[0]),
            _ => format!("{cell:>width$}", width = widths[column]),
        });
        // The spaces between columns must not break.
        cells.collect::<Vec<String>>().join("  ").trim_end().replace(' ', "\u{a0}")
    };
    let fits = widths.iter().map(|width| width + 2).sum::<usize>() <= page.width;
    fits.then(|| rows.iter().map(line).collect())
}

/// What a table of memories has columns of: a sum by its name.
type Column = (&'static str, fn(&SpaceSum) -> Sum);

/// What is summed of each memory.
fn all_columns(is_peak: bool) -> &'static [Column] {
    const PEAK: Column = ("at the peak", |space| space.peak.unwrap_or_default());
    const TOTAL: Column = ("all buffers", |space| space.total);
    if is_peak { &[PEAK, TOTAL] } else { &[TOTAL] }
}

fn spaces(page: &mut Page, program: &Audited) {
    let worth = program.basis == Basis::Assignment || program.spaces.len() > 1;
    if !worth {
        return;
    }
    let is_peak = program.spaces.iter().any(|space| space.peak.is_some());
    let rows = |columns: &[Column]| {
        let mut head = vec!["memory".to_owned()];
        let is_reserved = columns[0].0 == all_columns(is_peak)[0].0
            && program.spaces.iter().any(|space| space.reserved.is_some());
        head.extend(is_reserved.then(|| "reserved".to_owned()));
        columns.iter().for_each(|(name, _)| head.extend([name, "padding", ""].map(str::to_owned)));
        let row = |space: &SpaceSum| {
            let mut row = vec![space_name(program, space.number)];
            row.extend(is_reserved.then(|| space.reserved.map_or(String::new(), short)));
            for sum in columns.iter().map(|(_, sum)| sum(space)) {
                row.extend([short(sum.allocated), short(sum.waste()), share(sum.share(), "<")]);
            }
            row
        };
        [vec![head], program.spaces.iter().map(row).collect()].concat()
    };
    let all = all_columns(is_peak);
    // On a narrow page one stands below the other, and on a narrower one there is none.
    let tables = match table(page, &rows(all)) {
        Some(table) => vec![table],
        None => all.iter().filter_map(|column| table(page, &rows(&[*column]))).collect(),
    };
    tables.iter().for_each(|table| page.text(&table.join("\n")));
}

fn shapes(page: &mut Page, program: &Audited, top: usize) {
    if program.shapes.is_empty() {
        return;
    }
    page.heading(match program.peak {
        Some(_) => "padding by shape, the worst at one time first",
        None => "padding by shape",
    });
    let blocks: Vec<String> = program.shapes.iter().take(top).map(|shape| block(program, shape)).collect();
    page.text(&blocks.join("\n"));
    if program.shapes.iter().take(top).any(|shape| shape.smallest.is_some()) {
        page.paragraph("Smallest means footprint only: the compiler may need this order.");
    }
    if program.shapes.len() >= top && top < 1000 {
        page.paragraph(&format!("… and perhaps more: top {}", top.saturating_mul(2).max(1)));
    }
}

fn block(program: &Audited, shape: &Shared) -> String {
    let (sum, about) = told_of(program, shape);
    let mut lines = vec![format!("  {} of {}: {}", short(sum.waste()), short(sum.allocated), shape.shape)];
    lines.extend(about.map(|about| format!("      {about}")));
    lines.extend(widened(shape).map(|cause| format!("      {cause}")));
    for growth in shape.growths.iter().take(CAUSES) {
        lines.push(format!("      {}", size::cause(growth)));
    }
    if let Some(smallest) = &shape.smallest {
        // As many as the sum is of.
        let all = smallest.bytes.saturating_mul(sum.buffers.max(1));
        lines.push(format!("      smallest: {} in {}", short(all), smallest.shape));
    }
    lines.join("\n")
}

/// The buffers of a shape that matter: those at the peak, or all if none is there. And how many there are, what the first
/// are called and where they come from, as far as that is known.
pub(super) fn told_of(program: &Audited, shape: &Shared) -> (Sum, Option<String>) {
    let count = |count: u64| if count == 1 { "1 buffer".to_owned() } else { format!("{count} buffers") };
    let all = count(shape.sum.buffers);
    let (sum, buffers) = match shape.at_peak {
        _ if program.basis == Basis::Shapes => (shape.sum, None),
        None => (shape.sum, Some(all)),
        Some(peak) if peak.buffers == 0 => (shape.sum, Some(format!("{all}, none at the peak"))),
        Some(peak) if peak.buffers == shape.sum.buffers => (peak, Some(format!("{all}, at the peak"))),
        Some(peak) => {
            (peak, Some(format!("{} at the peak, {} in all", count(peak.buffers), shape.sum.buffers)))
        }
    };
    let more = if shape.sum.buffers > shape.names.len() as u64 { ", …" } else { "" };
    let names = (!shape.names.is_empty()).then(|| format!("{}{more}", shape.names.join(", ")));
    let joined = |parts: [Option<String>; 2], between: &str| {
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(between))
    };
    (sum, joined([joined([buffers, names], ": "), place(&shape.place)], "; "))
}

fn moves(page: &mut Page, program: &Audited, top: usize) {
    again(page, program, top);
    changes(page, program, top);
    let moved = &program.moved;
    let mut rest = Vec::new();
    if moved.free > 0 {
        rest.push(match moved.free {
            1 => "1 bitcast, reshape or transpose moves nothing".to_owned(),
            count => format!("{count} bitcasts, reshapes and transposes move nothing"),
        });
    }
    if moved.between_spaces > 0 {
        let copies = match moved.between_spaces {
            1 => "1 copy only changes".to_owned(),
            count => format!("{count} copies only change"),
        };
        rest.push(format!("{copies} the memory ({})", short(moved.between_spaces_bytes)));
    }
    if moved.again > 0 && moved.again_bytes < WORTH {
        let copies = match moved.again {
            1 => "1 copy changes".to_owned(),
            count => format!("{count} copies change"),
        };
        rest.push(format!("{copies} neither layout nor memory ({})", short(moved.again_bytes)));
    }
    if moved.unknown_loops > 0 {
        rest.push(match moved.unknown_loops {
            1 => "what is in 1 loop counts once, as nothing says how often it runs".to_owned(),
            count => format!("what is in {count} loops counts once, as nothing says how often they run"),
        });
    }
    if !rest.is_empty() && moved.changes + moved.fused + moved.again > 0 {
        page.paragraph(&format!("{}.", rest.join("; ")));
    }
    arguments(page, program, top);
}

/// Copies of what is there already.
fn again(page: &mut Page, program: &Audited, top: usize) {
    let moved = &program.moved;
    if moved.again_bytes < WORTH {
        return;
    }
    let bytes = short(moved.again_bytes);
    page.heading(&match moved.again {
        1 => format!("1 copy changes neither the layout nor the memory: {bytes}"),
        count => format!("{count} copies change neither the layout nor the memory: {bytes}"),
    });
    let own = program.moves.iter().filter(|change| !change.changes_layout).take(top);
    page.text(&own.map(copy).collect::<Vec<String>>().join("\n"));
}

fn copy(change: &Move) -> String {
    let mut lines =
        vec![format!("  {} {}", short(change.bytes), name(change)), format!("      {}", change.to)];
    lines.extend(donation_words(change).map(|words| format!("      {words}")));
    lines.join("\n")
}

/// What donating the argument would do to a copy of it.
pub(super) fn donation_words(change: &Move) -> Option<String> {
    let argument = change.argument.as_deref()?;
    // `params['w']` is a part of the argument `params`.
    let whole = argument.split(['[', '.']).next().unwrap_or(argument);
    let how = format!("jax.jit(…, donate_argnames=\"{whole}\")");
    Some(match change.donation? {
        Donation::Removes => format!("donating {argument} removes it: {how}"),
        Donation::MayRemove => {
            format!("donating {argument} may remove it, if nothing reads the old value later: {how}")
        }
        Donation::InVain => {
            format!("{argument} is donated, but its old value is still needed when the new one is written")
        }
    })
}

fn changes(page: &mut Page, program: &Audited, top: usize) {
    let moved = &program.moved;
    if moved.changes + moved.fused == 0 {
        return;
    }
    let mut head = match moved.changes {
        0 => String::new(),
        1 => format!("1 instruction changes a layout and moves {}", short(moved.bytes)),
        count => format!("{count} instructions change a layout and move {}", short(moved.bytes)),
    };
    if moved.fused > 0 {
        let bytes = short(moved.fused_bytes);
        head.push_str(&match (moved.changes, moved.fused) {
            (0, 1) => format!("1 instruction within a fusion changes a layout: {bytes}"),
            (0, count) => format!("{count} instructions within fusions change a layout: {bytes}"),
            (_, count) => format!("; {count} more within fusions, {bytes}"),
        });
    }
    page.heading(&head);
    let own = program.moves.iter().filter(|change| change.changes_layout).take(top);
    page.text(&own.map(movement).collect::<Vec<String>>().join("\n"));
}

/// The arguments and results that are moved: whoever gives and takes them can spare the program that.
fn arguments(page: &mut Page, program: &Audited, top: usize) {
    if program.advice.is_empty() {
        return;
    }
    page.heading("layouts that arguments and results could have instead");
    let blocks: Vec<String> = program.advice.iter().take(top).map(advice).collect();
    page.text(&blocks.join("\n"));
    let asked: Vec<&Advice> =
        program.advice.iter().take(top).filter(|advice| advice.asked != Asked::Nothing).collect();
    if asked.is_empty() {
        return;
    }
    let saves = short(asked.iter().map(|advice| advice.saves).fold(0, u64::saturating_add));
    let before: u64 = asked.iter().map(|advice| advice.allocated).fold(0, u64::saturating_add);
    let after: u64 = asked.iter().map(|advice| advice.instead_allocated).fold(0, u64::saturating_add);
    let together = if asked.len() > 1 { "Asking for all of these spares" } else { "That spares" };
    page.paragraph(&format!(
        "{together} moving {saves} and {}. A layout is asked for with jax.experimental.layout: Format(Layout(…), sharding) in \
         in_shardings and out_shardings of jax.jit; Layout.AUTO leaves it to the compiler.",
        more_memory(before, after)
    ));
}

/// `take 51 MiB more memory`
fn more_memory(before: u64, after: u64) -> String {
    match after.cmp(&before) {
        Ordering::Equal => "takes the same memory".to_owned(),
        Ordering::Greater => format!("takes {} more memory", short(after - before)),
        Ordering::Less => format!("takes {} less memory", short(before - after)),
    }
}

/// What could be asked for one argument or result.
pub(super) fn advice_words(advice: &Advice) -> (String, String) {
    let result = advice.result.map_or(String::new(), |number| format!("result {number}"));
    let order = advice.instead.as_array().and_then(|array| array.layout()).map_or(String::new(), |layout| {
        let major: Vec<String> = layout.minor_to_major().iter().rev().map(usize::to_string).collect();
        format!("Layout(major_to_minor=({}))", major.join(", "))
    });
    let cost = more_memory(advice.allocated, advice.instead_allocated);
    let (name, saves) = (&advice.name, short(advice.saves));
    match advice.asked {
        Asked::Argument => {
            (format!("{saves} {name}: give it as {}", advice.instead), format!("{order}; {cost}"))
        }
        Asked::Result => {
            (format!("{saves} {name}: take it as {}", advice.instead), format!("{order}; {cost}"))
        }
        Asked::Both => (
            format!("{saves} {name} and {result} in its place: both as {}", advice.instead),
            format!("{order}, for both or for none; {cost}"),
        ),
        Asked::Nothing if advice.instead_allocated > advice.allocated.saturating_add(advice.saves) => (
            format!("{saves} {name}: leave it as it is"),
            format!("It is needed as {}, which {cost}.", advice.instead),
        ),
        Asked::Nothing => (
            format!("{saves} {name}: leave it as it is"),
            format!(
                "It is also needed as {}, but {result} in its place is made in the layout that both have; asked for \
                 alone, another would cost {} for a place of its own.",
                advice.instead,
                short(advice.instead_allocated)
            ),
        ),
    }
}

fn advice(advice: &Advice) -> String {
    let (first, second) = advice_words(advice);
    format!("  {first}\n      {second}")
}

fn movement(change: &Move) -> String {
    let mut lines = vec![format!("  {} {}", short(change.bytes), name(change))];
    lines.push(format!("      from {}", change.from));
    lines.push(format!("      to {}", change.to));
    if let Some(how) = &change.how {
        lines.push(format!("      {}", how_words(how)));
    }
    lines.join("\n")
}

fn name(change: &Move) -> String {
    let mut text = match change.name.starts_with(change.operation.name()) {
        true => change.name.clone(),
        false => format!("{} {}", change.operation.name(), change.name),
    };
    if change.count > 1 {
        text.push_str(&format!(" and {} more like it", change.count - 1));
    }
    text.push_str(&runs_words(change));
    if let Some(argument) = &change.argument {
        text.push_str(&format!(": the argument {argument}"));
    }
    if change.fused {
        text.push_str(", within a fusion");
    }
    if let Some(place) = place(&change.place) {
        text.push_str(&format!("; {place}"));
    }
    text.push_str(&near_words(change));
    text
}

/// How often it runs, behind a comma, if that is worth saying.
pub(super) fn runs_words(change: &Move) -> String {
    match (change.runs, change.runs_known) {
        (0, _) => ", never run".to_owned(),
        (1, true) => String::new(),
        (runs, true) => format!(", run {runs} times"),
        (1, false) => ", in a loop that runs nobody knows how often, counted once".to_owned(),
        (runs, false) => format!(", in a loop that runs nobody knows how often, counted {runs} times"),
    }
}

/// Which line it is for, behind a semicolon, if it does not say so itself.
pub(super) fn near_words(change: &Move) -> String {
    near(change.near, &change.near_place)
}

fn near(near: Near, near_place: &Place) -> String {
    let side = match near {
        Near::Nothing => return String::new(),
        Near::Read => "for",
        Near::Made => "of the value from",
    };
    place(near_place).map_or(String::new(), |place| format!("; {side} {place}"))
}

/// How elements move, in words.
pub(super) fn how_words(how: &How) -> String {
    let runs = format!("in runs of {}", short(how.run_bytes));
    match how.kind {
        Kind::Rows => runs,
        Kind::Transpose => "transposed: neighbours on one side are apart on the other".to_owned(),
        kind => format!("by {kind}, {runs}"),
    }
}

fn sums<K>(page: &mut Page, heading: &str, sums: &[Keyed<K>], name: fn(&K) -> String, top: usize) {
    let wasting: Vec<&Keyed<K>> = sums.iter().filter(|keyed| keyed.sum.waste() > 0).take(top).collect();
    if wasting.is_empty() {
        return;
    }
    page.heading(heading);
    let lines: Vec<String> = wasting
        .iter()
        .map(|keyed| {
            format!("  {} of {}: {}", short(keyed.sum.waste()), short(keyed.sum.allocated), name(&keyed.key))
        })
        .collect();
    page.text(&lines.join("\n"));
}

fn contradictions(page: &mut Page, program: &Audited, top: usize) {
    if program.contradiction_count == 0 {
        return;
    }
    page.heading("sizes that are not what the layout needs");
    let words = |each: &tilework_audit::Contradiction| {
        let name = each.name.as_deref().map_or(String::new(), |name| format!("{name}, "));
        let about = if each.rounded { "about " } else { "" };
        let line = if each.line > 0 { format!("line {}: ", each.line) } else { String::new() };
        format!(
            "  {line}{name}{}: the dump says {about}{}, the layout needs {}",
            each.shape, each.says, each.needs
        )
    };
    let mut lines: Vec<String> = program.contradictions.iter().take(top).map(words).collect();
    let more = program.contradiction_count.saturating_sub(lines.len() as u64);
    if more > 0 {
        lines.push(format!("  and {more} more"));
    }
    page.text(&lines.join("\n"));
}

pub(super) fn unread(page: &mut Page, unread: &[Unread]) {
    if unread.is_empty() {
        return;
    }
    page.heading("what could not be read");
    let words = |each: &Unread| format!("  {}: {}: {}", each.file, where_unread(each, 5), each.reason);
    let mut lines: Vec<String> = unread.iter().take(10).map(words).collect();
    if unread.len() > 10 {
        lines.push(format!("  and {} more reasons", unread.len() - 10));
    }
    page.text(&lines.join("\n"));
}

/// How much could not be read, and where the first few of it are.
pub(super) fn where_unread(unread: &Unread, first: usize) -> String {
    let (places, one, many) = match unread.bytes.is_empty() {
        true => (&unread.lines, "line", "lines"),
        false => (&unread.bytes, "message at byte", "messages at bytes"),
    };
    let numbers: Vec<String> = places.iter().take(first).map(u64::to_string).collect();
    let more = if unread.count > first as u64 { ", …" } else { "" };
    let word = if unread.count == 1 { one } else { many };
    format!("{} {word} ({}{more})", unread.count, numbers.join(", "))
}
