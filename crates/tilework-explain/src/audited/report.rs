//! The page of an audit.

use super::buffers::largest;
use super::moves::moves;
use tilework::xla::Tile;
use tilework_audit::{
    Assumed, Audited, Basis, Contradiction, Findings, Keyed, Limit, Place, Shared, SpaceSum, Sum, Unread,
};
use tilework_picture::{Line, Look};

use super::sentence::{audit_sentence, name_of, parts, place, share, short, space_name, widened};
use crate::logged;
use crate::page::Page;
use crate::size;

/// The most causes of one shape that are told.
const CAUSES: usize = 4;

/// What an audit found, the sentence that matters first; no line is wider than `width` columns. `top` is how many of each
/// kind are told; of 0 only the sentences.
pub fn explain_audit(findings: &Findings, top: usize, width: usize, look: Look) -> Vec<Line> {
    let mut page = Page::new(width, look);
    if findings.programs.is_empty() && findings.logs.is_empty() {
        page.title("There are no shapes in what was read.");
    }
    for log in findings.logs.iter().take(top.max(1)) {
        if !page.lines().is_empty() {
            page.text("");
        }
        logged::log(&mut page, log, top);
    }
    let logs = findings.logs.len().saturating_sub(top.max(1));
    if logs > 0 {
        let word = if logs == 1 { "log" } else { "logs" };
        page.paragraph(&format!("{logs} more {word}, in which less is moved."));
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
        // What would help most comes first.
        if program.main().share() < 0.01 {
            moves(&mut page, program, top);
            shapes(&mut page, program, top);
        } else {
            shapes(&mut page, program, top);
            moves(&mut page, program, top);
        }
        // That nothing is known of any line says nothing.
        let is_known =
            program.sources.iter().any(|line| line.key != Place::default() && is_worth(program, &line.sum));
        if is_known {
            sums(&mut page, program, "padding by line of the program", &program.sources, name_of, top);
        }
        if program.computations.len() > 1 {
            sums(&mut page, program, "padding by computation", &program.computations, String::clone, top);
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

/// What to do about a message, and how to get to know more than it says.
pub(super) fn more(program: &Audited) -> Option<String> {
    let message = &program.message;
    let is_of_kernel = message.limit == Limit::Kernel || message.memory.as_deref() == Some("vmem");
    let mut advice = Vec::new();
    if is_of_kernel && program.basis != Basis::Assignment {
        advice.push(
            "Smaller blocks need less, and the limit can be raised: pltpu.CompilerParams(vmem_limit_bytes=…) for a Pallas \
             kernel, XLA's option xla_tpu_scoped_vmem_limit_kib for all.",
        );
    }
    // What another system allocates piece by piece, no compiler of XLA's dumps.
    let is_xla = message.limit != Limit::Free || message.memory.is_some();
    if message.limit == Limit::Free && is_xla && program.basis != Basis::Assignment {
        advice.push(
            "The rest of the memory holds what is there already, which no dump says: arrays of jax.live_arrays(), which \
             del, donation or moving them to the host sets free, and programs that are loaded. \
             jax.profiler.save_device_memory_profile(FILE) says which lines made the arrays.",
        );
    }
    let listed = program.total.allocated;
    let is_much_missing = message.used.is_some_and(|used| listed < used / 2) || program.largest.len() < 2;
    let is_short = program.basis != Basis::Assignment
        && (message.kernel.is_some() || message.used.is_some() && is_much_missing);
    if is_short && is_xla {
        advice.push(match message.limit {
            Limit::Free => {
                "If it was a program that was loaded, a dump says what it needs: set \
                 XLA_FLAGS=\"--xla_dump_to=DIR --xla_dump_hlo_as_text\", run once more, and audit DIR."
            }
            _ => {
                "A dump says what is in the memory. It is written before the program runs, so it exists even when memory \
                 runs out: set XLA_FLAGS=\"--xla_dump_to=DIR --xla_dump_hlo_as_text\", run once more, and audit DIR."
            }
        });
    }
    (!advice.is_empty()).then(|| advice.join(" "))
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
    let own: Vec<&Shared> =
        program.shapes.iter().filter(|shape| is_worth(program, &shape.sum)).take(top).collect();
    if own.is_empty() {
        return;
    }
    page.heading(match program.peak {
        Some(_) => "padding by shape, the worst at one time first",
        None => "padding by shape",
    });
    let blocks: Vec<String> = own.iter().map(|shape| block(program, shape)).collect();
    page.text(&blocks.join("\n"));
    if own.iter().any(|shape| shape.smallest.is_some()) {
        page.paragraph("Smallest means footprint only: the compiler may need this order.");
    }
    if own.len() >= top && top < 1000 {
        page.paragraph(&format!("… and perhaps more: top {}", top.saturating_mul(2).max(1)));
    }
}

/// Where hardly anything is padding, that of scalars is not worth a line.
fn is_worth(program: &Audited, sum: &Sum) -> bool {
    let main = program.main();
    sum.waste() > 0 && (main.share() >= 0.01 || sum.waste() >= main.allocated / 1000)
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

fn sums<K>(
    page: &mut Page,
    program: &Audited,
    heading: &str,
    sums: &[Keyed<K>],
    name: fn(&K) -> String,
    top: usize,
) {
    let wasting: Vec<&Keyed<K>> =
        sums.iter().filter(|keyed| is_worth(program, &keyed.sum)).take(top).collect();
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
    let words = |each: &Contradiction| {
        let name = each.name.as_deref().map_or(String::new(), |name| format!("{name}, "));
        let about = if each.rounded { "about " } else { "" };
        let line = if each.line > 0 { format!("line {}: ", each.line) } else { String::new() };
        // What is rounded is so in its own units; what is exact may differ by a byte.
        let size = |bytes: u64| if each.rounded { short(bytes) } else { format!("{bytes} B") };
        let tiles = if takes_tiles(each) { "; in tiles T(8,128) it takes as much" } else { "" };
        format!(
            "  {line}{name}{}: the dump says {about}{}, the layout as printed needs {}{tiles}",
            each.shape,
            size(each.says),
            size(each.needs)
        )
    };
    let mut lines: Vec<String> = program.contradictions.iter().take(top).map(words).collect();
    let more = program.contradiction_count.saturating_sub(lines.len() as u64);
    if more > 0 {
        lines.push(format!("  and {more} more"));
    }
    page.text(&lines.join("\n"));
}

/// Whether an array that is printed without tiles takes what is said if it has those that most arrays have on a TPU.
fn takes_tiles(each: &Contradiction) -> bool {
    let Some(array) = each.shape.as_array() else { return false };
    let layout = array.layout().filter(|layout| layout.tiles().is_empty()).cloned();
    let tiled = layout.and_then(|layout| layout.with_tiles([Tile::new([8, 128]).ok()?]).ok());
    let tiled = tiled.and_then(|layout| array.clone().with_layout(layout).ok()?.lower().ok());
    tiled.is_some_and(|layout| layout.bytes() == each.says)
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
