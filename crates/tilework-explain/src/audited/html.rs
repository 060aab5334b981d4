//! An audit as one page for a browser: nothing is loaded, nothing runs.

use std::fmt::Write;

use tilework_audit::{Audited, Buffer, Findings};

use super::report::{assumption, where_unread};
use super::sentence::{audit_sentence, percent, place, short, space_name};
use super::treemap::{Rect, treemap};
use crate::{Look, Subject, explain};

/// The most rectangles of one picture; smaller buffers would be less than a point.
const RECTANGLES: usize = 2000;

/// The size of a picture, in its own units.
const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 380.0;

const STYLE: &str = "\
:root{color-scheme:light dark;--text:#1b1f24;--faint:#5d6670;--page:#fff;--line:#d5dae0;--data:#8ab8e6;--waste:#f6cf9f;--mark:#b3261e}\
@media(prefers-color-scheme:dark){:root{--text:#e6e9ec;--faint:#9aa4ae;--page:#15181c;--line:#343b43;--data:#3a6ea5;--waste:#7a4d22;--mark:#ff8a80}}\
body{font:16px/1.5 system-ui,sans-serif;color:var(--text);background:var(--page);max-width:62rem;margin:2rem auto;padding:0 1rem}\
h1{font-size:1.1rem;color:var(--faint);font-weight:500}h2{font-size:1.5rem;margin:2rem 0 .5rem}h3{font-size:1.05rem;margin:2rem 0 .4rem}\
.lead{font-size:1.15rem}svg{width:100%;height:auto;display:block}table{border-collapse:collapse;font-variant-numeric:tabular-nums}\
td,th{padding:.2rem .9rem .2rem 0;text-align:right;border-bottom:1px solid var(--line);vertical-align:top}td:first-child,th:first-child,.left{text-align:left}\
th{color:var(--faint);font-weight:500}pre{overflow-x:auto;font:13px/1.35 ui-monospace,monospace}code{font:.9em ui-monospace,monospace;overflow-wrap:anywhere}\
summary{cursor:pointer}.key{display:inline-block;width:.8em;height:.8em;margin:0 .3em 0 1em;vertical-align:-.05em}.faint{color:var(--faint)}";

/// The page of an audit; `top` is how many shapes and moves are told. Lists of the findings should be complete, as buffers
/// that are not listed are missing in the pictures.
pub fn audit_html(findings: &Findings, top: usize) -> String {
    let mut page = String::new();
    let _ = write!(
        page,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width,initial-scale=1\"><title>tilework audit</title><style>{STYLE}</style></head><body>\n\
         <h1>tilework audit: what the layouts cost</h1>\n"
    );
    if let Some(assumed) = &findings.assumed {
        let _ = writeln!(page, "<p>{}</p>", escaped(&assumption(assumed)));
    }
    for program in &findings.programs {
        section(&mut page, program, top);
    }
    if !findings.unread.is_empty() {
        page.push_str("<h3>What could not be read</h3>\n<ul>\n");
        for unread in findings.unread.iter().take(20) {
            let (file, places) = (escaped(&unread.file), where_unread(unread, 10));
            let _ = writeln!(page, "<li>{file}: {places}: {}</li>", unread.reason);
        }
        page.push_str("</ul>\n");
    }
    page.push_str("</body></html>\n");
    page
}

fn section(page: &mut String, program: &Audited, top: usize) {
    let _ = writeln!(page, "<section>\n<h2>{}</h2>", escaped(&program.name));
    let _ = writeln!(page, "<p class=\"lead\">{}</p>", escaped(&audit_sentence(program)));
    spaces(page, program);
    let key = "<span class=\"key\" style=\"background:var(--data)\"></span>elements\
               <span class=\"key\" style=\"background:var(--waste)\"></span>padding";
    match &program.peak {
        Some(peak) => {
            let space = escaped(&space_name(program, peak.space));
            let at = escaped(&peak.instruction);
            let _ = writeln!(
                page,
                "<h3>{space} at the peak <span class=\"faint\">while {at} runs</span>{key}</h3>"
            );
            let there = |buffer: &&Buffer| buffer.space == peak.space && buffer.at_peak == Some(true);
            map(page, program.buffers.iter().filter(there));
            for sum in &program.spaces {
                let name = escaped(&space_name(program, sum.number));
                if sum.total.allocated >= 4096 {
                    let _ = writeln!(page, "<h3>{name} over time{key}</h3>");
                    time(page, program, sum.number);
                }
            }
        }
        None => {
            let _ = writeln!(page, "<h3>All buffers{key}</h3>");
            map(page, program.buffers.iter());
        }
    }
    worst(page, program, top);
    moves(page, program, top);
    page.push_str("</section>\n");
}

fn spaces(page: &mut String, program: &Audited) {
    page.push_str("<table><tr><th>memory</th><th>at the peak</th><th>padding</th><th></th><th>all buffers</th><th>padding</th><th></th></tr>\n");
    for space in &program.spaces {
        let _ = write!(page, "<tr><td>{}</td>", escaped(&space_name(program, space.number)));
        for sum in [space.peak, Some(space.total)] {
            let cells = sum.map(|sum| [short(sum.allocated), short(sum.waste()), percent(sum.share())]);
            for cell in cells.unwrap_or_default() {
                let _ = write!(page, "<td>{cell}</td>");
            }
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</table>\n");
}

/// What a pointer that rests on a buffer is told.
fn title(buffer: &Buffer) -> String {
    let name = buffer.name.as_deref().unwrap_or("a buffer");
    let from = place(&buffer.place).map_or(String::new(), |place| format!("\n{place}"));
    let count = if buffer.count > 1 { format!("{} × ", buffer.count) } else { String::new() };
    let (allocated, data) = (short(buffer.allocated), short(buffer.data));
    escaped(&format!("{name}\n{count}{}\n{allocated} for {data} of data{from}", buffer.shape))
}

/// A buffer: its padding, and over it its elements.
fn rect(page: &mut String, buffer: &Buffer, at: Rect, upright: bool) {
    let share = buffer.data as f64 / buffer.allocated.max(1) as f64;
    let data = match upright {
        true => Rect { y: at.y + at.height * (1.0 - share), height: at.height * share, ..at },
        false => Rect { width: at.width * share, ..at },
    };
    let _ = write!(page, "<g><title>{}</title>", title(buffer));
    for (rect, fill) in [(at, "waste"), (data, "data")] {
        let Rect { x, y, width, height } = rect;
        let _ = write!(
            page,
            "<rect x=\"{x:.2}\" y=\"{y:.2}\" width=\"{width:.2}\" height=\"{height:.2}\" fill=\"var(--{fill})\"/>"
        );
    }
    let Rect { x, y, width, height } = at;
    let _ = write!(
        page,
        "<rect x=\"{x:.2}\" y=\"{y:.2}\" width=\"{width:.2}\" height=\"{height:.2}\" fill=\"none\" stroke=\"var(--page)\"/>"
    );
    let name = buffer.name.as_deref().unwrap_or(&buffer.shape);
    // A letter is about 7 units wide.
    let room = (width / 7.2) as usize;
    if room >= 6 && height >= 18.0 {
        let shown: String = match name.chars().count() > room.saturating_sub(1) {
            true => name.chars().take(room.saturating_sub(2)).chain(['…']).collect(),
            false => name.to_owned(),
        };
        let (x, y) = (x + 5.0, y + 15.0);
        let _ = write!(
            page,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"12\" fill=\"var(--text)\">{}</text>",
            escaped(&shown)
        );
        if height >= 36.0 && room >= 11 {
            let size = short(buffer.allocated.saturating_mul(buffer.count));
            let y = y + 15.0;
            let _ = write!(
                page,
                "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"12\" fill=\"var(--text)\">{size}</text>"
            );
        }
    }
    page.push_str("</g>\n");
}

fn begin(page: &mut String, height: f64, label: &str) {
    let _ = writeln!(
        page,
        "<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{label}\" font-family=\"system-ui,sans-serif\">"
    );
}

/// Buffers as areas.
fn map<'a>(page: &mut String, buffers: impl Iterator<Item = &'a Buffer>) {
    let size = |buffer: &Buffer| buffer.allocated.saturating_mul(buffer.count);
    let mut buffers: Vec<&Buffer> = buffers.filter(|buffer| size(buffer) > 0).collect();
    buffers.sort_by_key(|buffer| std::cmp::Reverse(size(buffer)));
    buffers.truncate(RECTANGLES);
    let sizes: Vec<u64> = buffers.iter().map(|buffer| size(buffer)).collect();
    begin(page, HEIGHT, "the area of each rectangle is the size of a buffer");
    let all = Rect { x: 0.0, y: 0.0, width: WIDTH, height: HEIGHT };
    for (buffer, at) in buffers.iter().zip(treemap(&sizes, all)) {
        rect(page, buffer, at, at.width < at.height);
    }
    page.push_str("</svg>\n");
}

/// Buffers where they are in memory, from the instruction that makes them to the last that reads them.
fn time(page: &mut String, program: &Audited, space: i64) {
    let mut own: Vec<&Buffer> = program.buffers.iter().filter(|buffer| buffer.space == space).collect();
    own.retain(|buffer| buffer.at.is_some() && buffer.allocated > 0);
    own.sort_by_key(|buffer| std::cmp::Reverse(buffer.allocated));
    own.truncate(RECTANGLES);
    let end_of = |buffer: &&Buffer| buffer.at.unwrap_or(0).saturating_add(buffer.allocated);
    let top = own.iter().map(end_of).max().unwrap_or(0).max(1) as f64;
    let lives = own.iter().filter_map(|buffer| buffer.live);
    let last = lives.map(|live| live.1).max().unwrap_or(0);
    let (left, right, height) = (4.0, WIDTH - 4.0, HEIGHT - 20.0);
    let step = (right - left) / (f64::from(last) + 1.0);
    begin(page, HEIGHT, "instructions from left to right, places in memory from bottom to top");
    // Large ones first, so that small ones are not hidden.
    for buffer in own {
        let (start, end) = buffer.live.unwrap_or((0, last));
        let at = buffer.at.unwrap_or(0) as f64;
        let tall = buffer.allocated as f64 / top * height;
        let x = left + f64::from(start) * step;
        let y = height - (at / top * height) - tall;
        let width = (f64::from(end.min(last)) + 1.0 - f64::from(start)) * step;
        rect(page, buffer, Rect { x, y, width, height: tall }, true);
    }
    if let Some(peak) = program.peak.as_ref().filter(|peak| peak.space == space) {
        let x = left + (f64::from(peak.time.min(last)) + 0.5) * step;
        let _ = writeln!(
            page,
            "<path d=\"M{x:.1} 0V{height}\" stroke=\"var(--mark)\" stroke-dasharray=\"4 3\"/>"
        );
    }
    let y = HEIGHT - 5.0;
    let size = short(top as u64);
    let _ = writeln!(
        page,
        "<text x=\"{left}\" y=\"{y}\" font-size=\"12\" fill=\"var(--faint)\">instruction 0; {size} from bottom to top</text>\
         <text x=\"{right}\" y=\"{y}\" font-size=\"12\" fill=\"var(--faint)\" text-anchor=\"end\">instruction {last}</text></svg>"
    );
}

/// The shapes that waste the most, each explained and drawn.
fn worst(page: &mut String, program: &Audited, top: usize) {
    if program.shapes.is_empty() {
        return;
    }
    page.push_str("<h3>Padding by shape</h3>\n");
    for (number, shape) in program.shapes.iter().take(top).enumerate() {
        let (waste, allocated) = (short(shape.sum.waste()), short(shape.sum.allocated));
        let open = if number == 0 { " open" } else { "" };
        let _ = writeln!(
            page,
            "<details{open}><summary>{waste} of {allocated}: <code>{}</code></summary>",
            escaped(&shape.shape)
        );
        let names = shape.names.join(", ");
        let from = place(&shape.place).map_or(String::new(), |place| format!("; {place}"));
        let _ = writeln!(page, "<p>{}</p>", escaped(&format!("{} × {names}{from}", shape.sum.buffers)));
        if let Some(smallest) = &shape.smallest {
            let _ = writeln!(
                page,
                "<p>Smallest, by footprint only, as the compiler may need this order: {} in <code>{}</code></p>",
                short(smallest.bytes),
                escaped(&smallest.shape.to_string())
            );
        }
        if let Ok(subjects) = Subject::read(&shape.shape, false)
            && let Some(Ok(lines)) = subjects.first().map(|subject| explain(subject, 100, Look::default()))
        {
            let text: Vec<String> = lines.iter().map(ToString::to_string).collect();
            let _ = writeln!(page, "<pre>{}</pre>", escaped(&text.join("\n")));
        }
        page.push_str("</details>\n");
    }
}

fn moves(page: &mut String, program: &Audited, top: usize) {
    if program.moves.is_empty() {
        return;
    }
    page.push_str("<h3>Instructions that change a layout</h3>\n<table><tr><th>bytes</th><th class=\"left\">instruction</th><th class=\"left\">from, to</th></tr>\n");
    for change in program.moves.iter().take(top) {
        let from = place(&change.place).unwrap_or_default();
        let fused = if change.fused { " within a fusion" } else { "" };
        let _ = writeln!(
            page,
            "<tr><td>{}</td><td class=\"left\">{}{fused}<br><span class=\"faint\">{}</span></td>\
             <td class=\"left\"><code>{}</code><br><code>{}</code></td></tr>",
            short(change.bytes),
            escaped(&change.name),
            escaped(&from),
            escaped(&change.from),
            escaped(&change.to)
        );
    }
    page.push_str("</table>\n");
}

/// Text that means nothing to a browser but itself.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // Other control characters are no characters of a page.
            c if c.is_control() && c != '\n' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_a_dump_cannot_become_a_part_of_the_page() {
        let text = "HloModule <script>alert(1)</script>\nENTRY %main (x: f32[2]) -> f32[2] {\n  \
                    %x\"><img = f32[200,3]{1,0:T(8,128)} add(%a)\n}\n";
        let mut audit = tilework_audit::Audit::new();
        audit.read("a.txt", text.as_bytes()).expect("memory is read");
        let page = audit_html(&audit.findings(usize::MAX), 5);
        assert!(!page.contains("<script") && !page.contains("<img"), "{page}");
        assert!(page.contains("&lt;script&gt;") && page.contains("&lt;img"), "{page}");
    }
}
