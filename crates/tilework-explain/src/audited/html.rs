//! An audit as one page for a browser: nothing is loaded, nothing runs.

use std::fmt::Write;

use tilework_audit::{Audited, Buffer, Findings, Keyed, Move};
use tilework_picture::svg::escaped;

use super::buffers::{buffer_words, what};
use super::moves::{
    advice_words, cost, donation_words, how_words, near_words, replica_words, runs_words, smaller_words,
    sorted_by,
};
use super::pictures::{map, time};
use super::report::{assumption, told_of, where_unread};
use super::sentence::{audit_sentence, name_of, percent, place, short, space_name};
use super::tile_picture::tile_picture;
use crate::logged::log_section;
use crate::{Look, explain};

const STYLE: &str = "\
:root{color-scheme:light dark;--text:#1b1f24;--faint:#5d6670;--page:#fff;--line:#d5dae0;--data:#8ab8e6;--waste:#f6cf9f;--mark:#b3261e}\
@media(prefers-color-scheme:dark){:root{--text:#e6e9ec;--faint:#9aa4ae;--page:#15181c;--line:#343b43;--data:#3a6ea5;--waste:#7a4d22;--mark:#ff8a80}}\
body{font:16px/1.5 system-ui,sans-serif;color:var(--text);background:var(--page);max-width:62rem;margin:2rem auto;padding:0 1rem}\
h1{font-size:1.1rem;color:var(--faint);font-weight:500}h2{font-size:1.5rem;margin:2rem 0 .5rem}h3{font-size:1.05rem;margin:2rem 0 .4rem}\
.lead{font-size:1.15rem}svg{width:100%;height:auto;display:block}table{border-collapse:collapse;font-variant-numeric:tabular-nums}\
td,th{padding:.2rem .9rem .2rem 0;text-align:right;border-bottom:1px solid var(--line);vertical-align:top}td:first-child,th:first-child,.left{text-align:left}\
th{color:var(--faint);font-weight:500}pre{overflow-x:auto;font:13px/1.35 ui-monospace,monospace}code{font:.9em ui-monospace,monospace;overflow-wrap:anywhere}\
summary{cursor:pointer}.key{display:inline-block;width:.8em;height:.8em;margin:0 .3em 0 1em;vertical-align:-.05em}.faint{color:var(--faint)}";

/// The styles of a part of somebody else's page: nothing outside it changes, and its colours do on light pages and on dark ones.
const PART: &str = "\
.tilework-audit{--text:currentColor;--faint:#7d8792;--page:rgba(255,255,255,.6);--line:rgba(128,128,128,.35);--data:#5b93cc;--waste:#c98f4e;--mark:#e03030;max-width:62rem}\
.tilework-audit h2{font-size:1.2em;margin:1em 0 .3em}.tilework-audit h3{font-size:1.05em;margin:1.5em 0 .4em}\
.tilework-audit svg{--text:#14181c;width:100%;height:auto;display:block}.tilework-audit table{border-collapse:collapse;font-variant-numeric:tabular-nums}\
.tilework-audit td,.tilework-audit th{padding:.2rem .9rem .2rem 0;text-align:right;border-bottom:1px solid var(--line);vertical-align:top}\
.tilework-audit td:first-child,.tilework-audit th:first-child,.tilework-audit .left{text-align:left}.tilework-audit th{color:var(--faint);font-weight:500}\
.tilework-audit pre{overflow-x:auto;font:13px/1.35 ui-monospace,monospace}.tilework-audit code{overflow-wrap:anywhere}.tilework-audit summary{cursor:pointer}\
.tilework-audit .key{display:inline-block;width:.8em;height:.8em;margin:0 .3em 0 1em;vertical-align:-.05em}.tilework-audit .faint{color:var(--faint)}";

/// The same as a part of another page, such as that of a notebook: one element with its styles. `top` is also how many
/// programs are told.
pub fn audit_html_part(findings: &Findings, top: usize) -> String {
    let mut page = format!("<div class=\"tilework-audit\"><style>{PART}</style>\n");
    body(&mut page, findings, top.max(1), top);
    page.push_str("</div>\n");
    page
}

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
    body(&mut page, findings, usize::MAX, top);
    page.push_str("</body></html>\n");
    page
}

/// What was found, of the first programs.
fn body(page: &mut String, findings: &Findings, programs: usize, top: usize) {
    if let Some(assumed) = &findings.assumed {
        let _ = writeln!(page, "<p>{}</p>", escaped(&assumption(assumed)));
    }
    for log in findings.logs.iter().take(programs) {
        log_section(page, log, top);
    }
    for program in findings.programs.iter().take(programs) {
        section(page, program, top);
    }
    let rest = findings.programs.len().saturating_sub(programs);
    if rest > 0 {
        let word = if rest == 1 { "program" } else { "programs" };
        let _ = writeln!(page, "<p>{rest} more {word} with less memory.</p>");
    }
    if !findings.unread.is_empty() {
        page.push_str("<h3>What could not be read</h3>\n<ul>\n");
        for unread in findings.unread.iter().take(20) {
            let (file, places) = (escaped(&unread.file), where_unread(unread, 10));
            let _ = writeln!(page, "<li>{file}: {places}: {}</li>", unread.reason);
        }
        page.push_str("</ul>\n");
    }
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
            let there = |buffer: &&Buffer| {
                buffer.space == peak.space && buffer.at_peak == Some(true) && buffer.in_place_of.is_none()
            };
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
    largest(page, program, top);
    worst(page, program, top);
    moves(page, "Instructions that change a layout, and copies of the same", &program.moves, top);
    if let Some(words) = sorted_by(program) {
        let _ = writeln!(page, "<p>{}</p>", escaped(&words));
    }
    moves(page, "Arguments that are moved because of their layouts", &program.arguments, top);
    advice(page, program, top);
    let smaller = smaller_words(program);
    if !smaller.is_empty() {
        page.push_str("<h3>What would make the peak smaller</h3>\n<ul>\n");
        for words in smaller {
            let _ = writeln!(page, "<li>{}</li>", escaped(&words));
        }
        page.push_str("</ul>\n");
    }
    replicas(page, program, top);
    sums(page, "Padding by line of the program", &program.sources, name_of, top);
    sums(page, "Padding by computation", &program.computations, String::clone, top);
    page.push_str("</section>\n");
}

fn spaces(page: &mut String, program: &Audited) {
    page.push_str("<table><tr><th>memory</th><th>at the peak</th><th>padding</th><th>share</th><th>all buffers</th><th>padding</th><th>share</th></tr>\n");
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

/// The largest buffers, padded or not.
fn largest(page: &mut String, program: &Audited, top: usize) {
    if program.largest.is_empty() {
        return;
    }
    let when = if program.peak.is_some() { " at the peak" } else { "" };
    let _ = writeln!(
        page,
        "<h3>Largest buffers{when}</h3>\n<table><tr><th>bytes</th><th class=\"left\">buffer</th></tr>"
    );
    for buffer in program.largest.iter().take(top) {
        let size = short(buffer.allocated.saturating_mul(buffer.count));
        let (what, words) = (escaped(&what(buffer)), escaped(&buffer_words(buffer)));
        let _ = writeln!(
            page,
            "<tr><td>{size}</td><td class=\"left\"><code>{what}</code><br><span class=\"faint\">{words}</span></td></tr>"
        );
    }
    page.push_str("</table>\n");
}

/// Layouts that could be asked for.
fn advice(page: &mut String, program: &Audited, top: usize) {
    if program.advice.is_empty() {
        return;
    }
    page.push_str("<h3>Layouts that arguments and results could have instead</h3>\n");
    items(page, program.advice.iter().take(top).map(advice_words));
}

/// A list of two lines each, the second of less weight.
fn items(page: &mut String, all: impl Iterator<Item = (String, String)>) {
    page.push_str("<ul>\n");
    for (first, second) in all {
        let _ = writeln!(
            page,
            "<li>{}<br><span class=\"faint\">{}</span></li>",
            escaped(&first),
            escaped(&second)
        );
    }
    page.push_str("</ul>\n");
}

/// Arguments that several devices have alike.
fn replicas(page: &mut String, program: &Audited, top: usize) {
    let Some(devices) = program.devices else { return };
    if program.replicas.is_empty() {
        return;
    }
    let spared = short(program.replica_bytes);
    let _ = writeln!(
        page,
        "<h3>Arguments that several of the {devices} devices have <span class=\"faint\">parts of their own would spare each up \
         to {spared}</span></h3>"
    );
    items(page, program.replicas.iter().take(top).map(|each| replica_words(each, devices)));
}

/// The shapes that waste the most, each explained and drawn.
fn worst(page: &mut String, program: &Audited, top: usize) {
    if program.shapes.is_empty() {
        return;
    }
    page.push_str("<h3>Padding by shape</h3>\n");
    for (number, shape) in program.shapes.iter().take(top).enumerate() {
        let (sum, about) = told_of(program, shape);
        let (waste, allocated) = (short(sum.waste()), short(sum.allocated));
        let open = if number == 0 { " open" } else { "" };
        let _ = writeln!(
            page,
            "<details{open}><summary>{waste} of {allocated}: <code>{}</code></summary>",
            escaped(&shape.shape.to_string())
        );
        if let Some(about) = about {
            let _ = writeln!(page, "<p>{}</p>", escaped(&about));
        }
        if let Some(smallest) = &shape.smallest {
            let _ = writeln!(
                page,
                "<p>Smallest, by footprint only, as the compiler may need this order: {} in <code>{}</code></p>",
                short(smallest.bytes),
                escaped(&smallest.shape.to_string())
            );
        }
        if let Some(picture) = shape.shape.as_array().and_then(tile_picture) {
            page.push_str(&picture);
        }
        if let Ok(lines) = explain(&*shape.shape, 100, Look::default()) {
            let text: Vec<String> = lines.iter().map(ToString::to_string).collect();
            let _ = writeln!(page, "<pre>{}</pre>", escaped(&text.join("\n")));
        }
        page.push_str("</details>\n");
    }
}

/// Instructions, with what they move and how.
fn moves(page: &mut String, heading: &str, moves: &[Move], top: usize) {
    if moves.is_empty() {
        return;
    }
    let _ = writeln!(
        page,
        "<h3>{heading}</h3>\n<table><tr><th>bytes</th><th class=\"left\">instruction</th>\
         <th class=\"left\">from, to</th></tr>"
    );
    for change in moves.iter().take(top) {
        let mut about = vec![escaped(&change.name)];
        about.extend(change.argument.iter().map(|argument| format!("the argument {}", escaped(argument))));
        about.extend((change.count > 1).then(|| format!("{} like it", change.count)));
        about.extend(
            Some(runs_words(change)).filter(|runs| !runs.is_empty()).map(|runs| runs[2..].to_owned()),
        );
        about.extend(change.fused.then(|| "within a fusion".to_owned()));
        let from = place(&change.place).unwrap_or_default() + &near_words(change);
        let how = match donation_words(change) {
            _ if change.changes_layout => change.how.as_ref().map_or(String::new(), how_words),
            Some(words) => format!("the same layout in the same memory; {words}"),
            None => "the same layout in the same memory".to_owned(),
        };
        let _ = writeln!(
            page,
            "<tr><td>{}</td><td class=\"left\">{}<br><span class=\"faint\">{}</span></td>\
             <td class=\"left\"><code>{}</code><br><code>{}</code><br><span class=\"faint\">{}</span></td></tr>",
            escaped(&cost(change)),
            about.join(", "),
            escaped(&from),
            escaped(&change.from.to_string()),
            escaped(&change.to.to_string()),
            escaped(&how)
        );
    }
    page.push_str("</table>\n");
}

/// Sums by something that has a name.
fn sums<K>(page: &mut String, heading: &str, sums: &[Keyed<K>], name: fn(&K) -> String, top: usize) {
    let wasting: Vec<&Keyed<K>> = sums.iter().filter(|keyed| keyed.sum.waste() > 0).take(top).collect();
    if wasting.is_empty() {
        return;
    }
    let _ = writeln!(
        page,
        "<h3>{heading}</h3>\n<table><tr><th>where</th><th>padding</th><th>share</th><th>allocated</th></tr>"
    );
    for Keyed { key, sum } in wasting {
        let (waste, share, allocated) = (short(sum.waste()), percent(sum.share()), short(sum.allocated));
        let name = escaped(&name(key));
        let _ =
            writeln!(page, "<tr><td>{name}</td><td>{waste}</td><td>{share}</td><td>{allocated}</td></tr>");
    }
    page.push_str("</table>\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_page_styles_nothing_but_itself_and_tells_as_many_programs() {
        let mut audit = tilework_audit::Audit::new();
        for name in ["a", "b", "c"] {
            audit.read(name, "f32[200,3]{1,0:T(8,128)}".as_bytes()).expect("memory is read");
        }
        let part = audit_html_part(&audit.findings(usize::MAX), 2);
        assert!(part.starts_with("<div class=\"tilework-audit\">") && part.ends_with("</div>\n"), "{part}");
        assert_eq!(part.matches("<section>").count(), 2);
        assert!(part.contains("1 more program with less memory"), "{part}");
        let rules = PART.split('}').flat_map(|rule| rule.split('{').next().unwrap_or("").split(','));
        for selector in rules.filter(|selector| !selector.is_empty()) {
            assert!(selector.starts_with(".tilework-audit"), "{selector}");
        }
        let used = part.split("var(--").skip(1).filter_map(|rest| rest.split(')').next());
        for name in used {
            assert!(PART.contains(&format!("--{name}:")), "{name}");
        }
    }

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
