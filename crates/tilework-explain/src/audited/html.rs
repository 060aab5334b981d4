//! An audit as one page for a browser: nothing is loaded. What runs in it sorts tables and finds rows, and all is said without.

use std::fmt::Write;

use tilework::dialect;
use tilework_audit::{Audited, Buffer, Findings, Keyed, Move, Shared};
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
use crate::link::{Link, link};
use crate::logged::log_section;
use crate::{Line, Look, explain};

/// The styles of an audit wherever it is: nothing outside it changes. What it is a part of may say the colours.
const STYLE: &str = include_str!("audit.css");

/// How a page begins that is nothing else: it loads nothing, and says the colours.
const HEAD: &str = include_str!("audit.html");

/// What a page does that may run a script: sort, find, and lead from a picture to its row. It runs in the browser's page, too.
const SCRIPT: &str = include_str!("audit.js");

/// How an audit is shown in a browser.
#[derive(Clone, Copy, Debug, Default)]
pub struct AuditPage<'a> {
    /// How many shapes and moves are listed.
    pub top: usize,
    /// Where the page is that draws a layout (see [`link`]): each array leads there. Of none, arrays are not linked.
    pub base: Option<&'a str>,
    /// What is said first: how these findings differ from others.
    pub change: &'a [Line],
}

/// The same as a part of another page, such as that of a notebook: one element with its styles. `top` is also how many
/// programs are listed.
pub fn audit_html_part(findings: &Findings, page: &AuditPage<'_>) -> String {
    let mut html = begin();
    // Several parts may be in one page, and what one leads to must not be in another.
    let words = findings
        .programs
        .iter()
        .flat_map(|program| program.name.bytes().chain(program.total.allocated.to_le_bytes()));
    let mark = words.fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    });
    body(&mut html, findings, page.top.max(1), &format!("audit-{mark:x}"), page);
    html.push_str("</div>\n");
    html
}

/// The element that an audit is in, with its styles.
fn begin() -> String {
    format!("<div class=\"tilework-audit\"><style>{}</style>\n", STYLE.replace('\n', ""))
}

/// The page of an audit. Lists of the findings should be complete, as buffers that are not listed are missing in the pictures.
pub fn audit_html(findings: &Findings, page: &AuditPage<'_>) -> String {
    let mut html = format!("{HEAD}{}", begin());
    body(&mut html, findings, usize::MAX, "audit", page);
    let _ = write!(
        html,
        "</div>\n<script type=\"module\">\n{SCRIPT}\nenliven(document.querySelector(\".tilework-audit\"));\n</script>\n\
         </body></html>\n"
    );
    html
}

/// A program with what is listed of it, so that things can lead to each other.
pub(super) struct Listed<'a> {
    program: &'a Audited,
    page: &'a AuditPage<'a>,
    /// What names of its parts begin with.
    mark: String,
}

impl Listed<'_> {
    /// Where a buffer is in the lists, its own row before the section of its shape.
    pub(super) fn of_buffer(&self, buffer: &Buffer) -> Option<String> {
        let largest = self.program.largest.iter().take(self.page.top);
        let key = |buffer: &Buffer| (buffer.line, buffer.at, buffer.live, buffer.allocated);
        let same = |other: &Buffer| key(other) == key(buffer) && other.name == buffer.name;
        match largest.into_iter().position(same) {
            Some(row) => Some(self.row(row)),
            None => self.of_shape(&buffer.shape, buffer.space),
        }
    }

    /// The section of a shape.
    fn of_shape(&self, shape: &tilework::xla::Shape, space: i64) -> Option<String> {
        let listed = &self.program.shapes;
        let is = |shared: &Shared| shared.space == space && *shared.shape == *shape;
        listed.iter().take(self.page.top).position(is).map(|place| self.section(place))
    }

    fn row(&self, place: usize) -> String {
        format!("{}-buffer-{place}", self.mark)
    }

    fn section(&self, place: usize) -> String {
        format!("{}-shape-{place}", self.mark)
    }
}

/// A text that may be a layout, with a link to its picture where there is one.
pub(crate) fn array_html(text: &str, page: &AuditPage<'_>) -> String {
    let code = escaped(text);
    // A text that is no layout would be an error there.
    let drawn = || dialect::read_one(text).ok().is_some_and(|said| said.layout().is_ok());
    let address = page.base.filter(|_| drawn()).and_then(|base| link(base, &Link::layout(text)).ok());
    match address {
        Some(address) => {
            format!("<code><a href=\"{}\" title=\"Show this layout\">{code}</a></code>", escaped(&address))
        }
        None => format!("<code>{code}</code>"),
    }
}

/// A table with what is in it, which scrolls where it is wider than the page.
pub(crate) fn table(html: &mut String, heads: &[&str], rows: impl FnOnce(&mut String)) {
    html.push_str("<div class=\"wide\"><table><tr>");
    for head in heads {
        // What is read from the left has a `<` before it.
        let _ = match head.strip_prefix('<') {
            Some(head) => write!(html, "<th class=\"left\">{head}</th>"),
            None => write!(html, "<th>{head}</th>"),
        };
    }
    html.push_str("</tr>\n");
    rows(html);
    html.push_str("</table></div>\n");
}

/// What was found, of the first programs.
fn body(html: &mut String, findings: &Findings, programs: usize, mark: &str, page: &AuditPage<'_>) {
    if !page.change.is_empty() {
        let lines: Vec<String> = page.change.iter().map(ToString::to_string).collect();
        let _ = writeln!(html, "<pre class=\"change\">{}</pre>", escaped(&lines.join("\n")));
    }
    if let Some(assumed) = &findings.assumed {
        let _ = writeln!(html, "<p>{}</p>", escaped(&assumption(assumed)));
    }
    for log in findings.logs.iter().take(programs) {
        log_section(html, log, page);
    }
    for (number, program) in findings.programs.iter().take(programs).enumerate() {
        section(html, &Listed { program, page, mark: format!("{mark}-{number}") });
    }
    let rest = findings.programs.len().saturating_sub(programs);
    if rest > 0 {
        let word = if rest == 1 { "program" } else { "programs" };
        let _ = writeln!(html, "<p>{rest} more {word} with less memory.</p>");
    }
    if !findings.unread.is_empty() {
        html.push_str("<h3>What could not be read</h3>\n<ul>\n");
        for unread in findings.unread.iter().take(20) {
            let (file, places) = (escaped(&unread.file), where_unread(unread, 10));
            let _ = writeln!(html, "<li>{file}: {places}: {}</li>", unread.reason);
        }
        html.push_str("</ul>\n");
    }
}

fn section(html: &mut String, listed: &Listed<'_>) {
    let (program, page) = (listed.program, listed.page);
    let top = page.top;
    let _ = writeln!(html, "<section>\n<h2>{}</h2>", escaped(&program.name));
    let _ = writeln!(html, "<p class=\"lead\">{}</p>", escaped(&audit_sentence(program)));
    spaces(html, program);
    let key = "<span class=\"key\" style=\"background:var(--data)\"></span>elements\
               <span class=\"key\" style=\"background:var(--waste)\"></span>padding";
    match &program.peak {
        Some(peak) => {
            let space = escaped(&space_name(program, peak.space));
            let at = escaped(&peak.instruction);
            let _ = writeln!(
                html,
                "<h3>{space} at the peak <span class=\"faint\">while {at} runs</span>{key}</h3>"
            );
            let there = |buffer: &&Buffer| {
                buffer.space == peak.space && buffer.at_peak == Some(true) && buffer.in_place_of.is_none()
            };
            map(html, program.buffers.iter().filter(there), listed);
            for sum in &program.spaces {
                let name = escaped(&space_name(program, sum.number));
                if sum.total.allocated >= 4096 {
                    let _ = writeln!(html, "<h3>{name} over time{key}</h3>");
                    time(html, listed, program, sum.number);
                }
            }
        }
        None => {
            let _ = writeln!(html, "<h3>All buffers{key}</h3>");
            map(html, program.buffers.iter(), listed);
        }
    }
    largest(html, listed);
    worst(html, listed);
    moves(html, "Instructions that change a layout, and copies of the same", &program.moves, page);
    if let Some(words) = sorted_by(program) {
        let _ = writeln!(html, "<p>{}</p>", escaped(&words));
    }
    moves(html, "Arguments that are moved because of their layouts", &program.arguments, page);
    advice(html, program, top);
    let smaller = smaller_words(program);
    if !smaller.is_empty() {
        html.push_str("<h3>What would make the peak smaller</h3>\n<ul>\n");
        for words in smaller {
            let _ = writeln!(html, "<li>{}</li>", escaped(&words));
        }
        html.push_str("</ul>\n");
    }
    replicas(html, program, top);
    sums(html, "Padding by line of the program", &program.sources, name_of, top);
    sums(html, "Padding by computation", &program.computations, String::clone, top);
    html.push_str("</section>\n");
}

fn spaces(html: &mut String, program: &Audited) {
    let heads = ["memory", "at the peak", "padding", "share", "all buffers", "padding", "share"];
    table(html, &heads, |html| {
        for space in &program.spaces {
            let _ = write!(html, "<tr><td>{}</td>", escaped(&space_name(program, space.number)));
            for sum in [space.peak, Some(space.total)] {
                let cells = sum.map(|sum| [short(sum.allocated), short(sum.waste()), percent(sum.share())]);
                for cell in cells.unwrap_or_default() {
                    let _ = write!(html, "<td>{cell}</td>");
                }
            }
            html.push_str("</tr>\n");
        }
    });
}

/// The largest buffers, padded or not.
fn largest(html: &mut String, listed: &Listed<'_>) {
    let program = listed.program;
    if program.largest.is_empty() {
        return;
    }
    let when = if program.peak.is_some() { " at the peak" } else { "" };
    let _ = writeln!(html, "<h3>Largest buffers{when}</h3>");
    table(html, &["bytes", "<buffer"], |html| {
        for (place, buffer) in program.largest.iter().take(listed.page.top).enumerate() {
            let size = short(buffer.allocated.saturating_mul(buffer.count));
            let (what, mut words) = (array_html(&what(buffer), listed.page), escaped(&buffer_words(buffer)));
            if buffer.line > 0 {
                let _ = write!(words, "; line {} of the dump", buffer.line);
            }
            if let Some(section) = listed.of_shape(&buffer.shape, buffer.space) {
                let _ = write!(words, "; <a href=\"#{section}\">its padding</a>");
            }
            let row = listed.row(place);
            let _ = writeln!(
                html,
                "<tr id=\"{row}\"><td>{size}</td><td class=\"left\">{what}<br><span class=\"faint\">{words}</span></td></tr>"
            );
        }
    });
}

/// Layouts that could be asked for.
fn advice(html: &mut String, program: &Audited, top: usize) {
    if program.advice.is_empty() {
        return;
    }
    html.push_str("<h3>Layouts that arguments and results could have instead</h3>\n");
    items(html, program.advice.iter().take(top).map(advice_words));
}

/// A list of two lines each, the second of less weight.
fn items(html: &mut String, all: impl Iterator<Item = (String, String)>) {
    html.push_str("<ul>\n");
    for (first, second) in all {
        let _ = writeln!(
            html,
            "<li>{}<br><span class=\"faint\">{}</span></li>",
            escaped(&first),
            escaped(&second)
        );
    }
    html.push_str("</ul>\n");
}

/// Arguments that several devices have alike.
fn replicas(html: &mut String, program: &Audited, top: usize) {
    let Some(devices) = program.devices else { return };
    if program.replicas.is_empty() {
        return;
    }
    let spared = short(program.replica_bytes);
    let _ = writeln!(
        html,
        "<h3>Arguments that several of the {devices} devices have <span class=\"faint\">parts of their own would spare each up \
         to {spared}</span></h3>"
    );
    items(html, program.replicas.iter().take(top).map(|each| replica_words(each, devices)));
}

/// The shapes that waste the most, each explained and drawn.
fn worst(html: &mut String, listed: &Listed<'_>) {
    let program = listed.program;
    if program.shapes.is_empty() {
        return;
    }
    html.push_str("<h3>Padding by shape</h3>\n");
    for (number, shape) in program.shapes.iter().take(listed.page.top).enumerate() {
        let (sum, about) = told_of(program, shape);
        let (waste, allocated) = (short(sum.waste()), short(sum.allocated));
        let open = if number == 0 { " open" } else { "" };
        let (section, text) = (listed.section(number), shape.shape.to_string());
        let _ = writeln!(
            html,
            "<details id=\"{section}\"{open}><summary>{waste} of {allocated}: <code>{}</code></summary>",
            escaped(&text)
        );
        if listed.page.base.is_some() {
            let _ = writeln!(html, "<p>Drawn: {}</p>", array_html(&text, listed.page));
        }
        if let Some(about) = about {
            let _ = writeln!(html, "<p>{}</p>", escaped(&about));
        }
        if let Some(smallest) = &shape.smallest {
            let instead = smallest.shape.to_string();
            let _ = writeln!(
                html,
                "<p data-instead=\"{}\">Smallest, by footprint only, as the compiler may need this order: {} in {}</p>",
                escaped(&instead),
                short(smallest.bytes),
                array_html(&instead, listed.page)
            );
        }
        if let Some(picture) = shape.shape.as_array().and_then(tile_picture) {
            html.push_str(&picture);
        }
        if let Ok(lines) = explain(&*shape.shape, 100, Look::default()) {
            let text: Vec<String> = lines.iter().map(ToString::to_string).collect();
            let _ = writeln!(html, "<pre tabindex=\"0\">{}</pre>", escaped(&text.join("\n")));
        }
        html.push_str("</details>\n");
    }
}

/// Instructions, with what they move and how.
fn moves(html: &mut String, heading: &str, moves: &[Move], page: &AuditPage<'_>) {
    if moves.is_empty() {
        return;
    }
    let _ = writeln!(html, "<h3>{heading}</h3>");
    table(html, &["bytes", "<instruction", "<from, to"], |html| {
        for change in moves.iter().take(page.top) {
            let mut about = vec![escaped(&change.name)];
            about
                .extend(change.argument.iter().map(|argument| format!("the argument {}", escaped(argument))));
            about.extend((change.count > 1).then(|| format!("{} like it", change.count)));
            about.extend(
                Some(runs_words(change)).filter(|runs| !runs.is_empty()).map(|runs| runs[2..].to_owned()),
            );
            about.extend(change.fused.then(|| "within a fusion".to_owned()));
            let mut from = place(&change.place).unwrap_or_default() + &near_words(change);
            if change.line > 0 {
                let _ = write!(
                    from,
                    "{}line {} of the dump",
                    if from.is_empty() { "" } else { "; " },
                    change.line
                );
            }
            let how = match donation_words(change) {
                _ if change.changes_layout => change.how.as_ref().map_or(String::new(), how_words),
                Some(words) => format!("the same layout in the same memory; {words}"),
                None => "the same layout in the same memory".to_owned(),
            };
            let _ = writeln!(
                html,
                "<tr><td>{}</td><td class=\"left\">{}<br><span class=\"faint\">{}</span></td>\
             <td class=\"left\">{}<br>{}<br><span class=\"faint\">{}</span></td></tr>",
                escaped(&cost(change)),
                about.join(", "),
                escaped(&from),
                array_html(&change.from.to_string(), page),
                array_html(&change.to.to_string(), page),
                escaped(&how)
            );
        }
    });
}

/// Sums by something that has a name.
fn sums<K>(html: &mut String, heading: &str, sums: &[Keyed<K>], name: fn(&K) -> String, top: usize) {
    let wasting: Vec<&Keyed<K>> = sums.iter().filter(|keyed| keyed.sum.waste() > 0).take(top).collect();
    if wasting.is_empty() {
        return;
    }
    let _ = writeln!(html, "<h3>{heading}</h3>");
    table(html, &["where", "padding", "share", "allocated"], |html| {
        for Keyed { key, sum } in wasting {
            let (waste, share, allocated) = (short(sum.waste()), percent(sum.share()), short(sum.allocated));
            let name = escaped(&name(key));
            let _ = writeln!(
                html,
                "<tr><td>{name}</td><td>{waste}</td><td>{share}</td><td>{allocated}</td></tr>"
            );
        }
    });
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
        let part =
            audit_html_part(&audit.findings(usize::MAX), &AuditPage { top: 2, ..AuditPage::default() });
        assert!(part.starts_with("<div class=\"tilework-audit\">") && part.ends_with("</div>\n"), "{part}");
        assert_eq!(part.matches("<section>").count(), 2);
        assert!(part.contains("1 more program with less memory"), "{part}");
        let rules = STYLE.split('}').flat_map(|rule| rule.split('{').next().unwrap_or("").split(','));
        for selector in rules.map(str::trim).filter(|selector| !selector.is_empty()) {
            assert!(selector.starts_with(".tilework-audit"), "{selector}");
        }
        // What begins with `audit-` has a colour where nobody says one.
        let used = part.split("var(--").skip(1).filter_map(|rest| rest.split([')', ',']).next());
        for name in used.filter(|name| !name.starts_with("audit-")) {
            assert!(STYLE.contains(&format!("--{name}:")), "{name}");
        }
    }

    #[test]
    fn names_in_a_dump_cannot_become_a_part_of_the_page() {
        let text = "HloModule <script>alert(1)</script>\nENTRY %main (x: f32[2]) -> f32[2] {\n  \
                    %x\"><img = f32[200,3]{1,0:T(8,128)} add(%a)\n}\n";
        let mut audit = tilework_audit::Audit::new();
        audit.read("a.txt", text.as_bytes()).expect("memory is read");
        let page = audit_html(&audit.findings(usize::MAX), &AuditPage { top: 5, ..AuditPage::default() });
        assert!(page.matches("<script").count() == 1 && !page.contains("<img"), "{page}");
        assert!(page.contains("&lt;script&gt;") && page.contains("&lt;img"), "{page}");
    }
}
