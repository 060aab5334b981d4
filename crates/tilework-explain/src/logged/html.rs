//! A log on the page for a browser.

use std::fmt::Write;

use tilework_audit::Logged;
use tilework_picture::svg::escaped;

use crate::audited::{AuditPage, array_html, table};

use super::report::{about, conflict, cost, how};
use super::sentence::{array, between, log_sentence, plural, remedy, saves, short};

/// What a log says.
pub(crate) fn log_section(page: &mut String, log: &Logged, options: &AuditPage<'_>) {
    let top = options.top;
    let _ = writeln!(page, "<section>\n<h2>{}</h2>", escaped(&log.name));
    let _ = writeln!(
        page,
        "<p class=\"lead\">{}</p>\n<p>{}</p>",
        escaped(&log_sentence(log)),
        escaped(&about(log))
    );
    if !log.savings.is_empty() {
        page.push_str("<h3>What would save</h3>\n<ul>\n");
        for saving in log.savings.iter().take(top) {
            let how = how(log, saving.remedy).unwrap_or("");
            let _ = writeln!(page, "<li>{}. {}</li>", escaped(&remedy(log, saving)), escaped(how));
        }
        page.push_str("</ul>\n");
    }
    let kinds = plural(log.kind.move_name());
    if !log.pairs.is_empty() {
        let _ = writeln!(page, "<h3>{kinds} by formats</h3>");
        table(page, &["from", "<to", "number", "cost"], |page| {
            for pair in log.pairs.iter().take(top) {
                let (from, to, cost) =
                    (escaped(&pair.from), escaped(&pair.to), escaped(&cost(log, &pair.work)));
                let count = pair.work.count;
                let _ = writeln!(
                    page,
                    "<tr><td><code>{from}</code></td><td class=\"left\"><code>{to}</code></td><td>{count}</td><td>{cost}</td></tr>"
                );
            }
        });
    }
    if !log.moves.is_empty() {
        let _ = writeln!(page, "<h3>The dearest {kinds}</h3>");
        table(page, &["cost", "number", "<from", "<to", "<where"], |page| {
            for moved in log.moves.iter().take(top) {
                let (from, to) =
                    (array_html(&array(&moved.from), options), array_html(&array(&moved.to), options));
                let mut place = between(moved);
                if let Some(name) = &moved.name {
                    place = format!("{name} {place}");
                }
                if let Some(way) = moved.way {
                    place = format!("{} {place}", way.name());
                }
                if let Some(line) = &moved.place {
                    place = format!("{place} {line}");
                }
                let _ = writeln!(
                    page,
                    "<tr><td>{}</td><td>{}</td><td class=\"left\">{from}</td><td class=\"left\">{to}</td>\
                 <td class=\"left\">{} <span class=\"faint\">{} {}</span></td></tr>",
                    escaped(&saves(&moved.work)),
                    moved.work.count,
                    escaped(&place),
                    log.kind.place_name(),
                    moved.line
                );
            }
        });
    }
    if !log.padded.is_empty() {
        page.push_str("<h3>Arrays with padding</h3>\n");
        table(page, &["padding", "allocated", "<array", "<operation"], |page| {
            for padded in log.padded.iter().take(top) {
                let (name, operation) =
                    (array_html(&array(&padded.array), options), escaped(&padded.operation));
                let (waste, allocated) = (short(padded.waste), short(padded.array.allocated.unwrap_or(0)));
                let _ = writeln!(
                    page,
                    "<tr><td>{waste}</td><td>{allocated}</td><td class=\"left\">{name}</td><td class=\"left\">{operation}</td></tr>"
                );
            }
        });
    }
    if !log.conflicts.is_empty() {
        page.push_str("<h3>Accesses of shared memory with bank conflicts</h3>\n<ul>\n");
        for each in log.conflicts.iter().take(top) {
            let _ = writeln!(page, "<li>{}</li>", escaped(conflict(each).trim()));
        }
        page.push_str("</ul>\n");
    }
    page.push_str("</section>\n");
}
