//! Buffers as pictures of a page: how much of the memory each takes, and when.

use std::fmt::Write;

use tilework_audit::{Audited, Buffer};

use super::html::escaped;
use super::sentence::{place, short};
use super::treemap::{Rect, treemap};

/// The most rectangles of one picture; smaller buffers would be less than a point.
const RECTANGLES: usize = 2000;

/// The size of a picture, in its own units.
pub(super) const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 380.0;

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
    let name = buffer.name.clone().unwrap_or_else(|| buffer.shape.to_string());
    // A letter is about 7 units wide.
    let room = (width / 7.2) as usize;
    if room >= 6 && height >= 18.0 {
        let shown: String = match name.chars().count() > room.saturating_sub(1) {
            true => name.chars().take(room.saturating_sub(2)).chain(['…']).collect(),
            false => name,
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

pub(super) fn begin(page: &mut String, height: f64, label: &str) {
    let _ = writeln!(
        page,
        "<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{label}\" font-family=\"system-ui,sans-serif\">"
    );
}

/// Buffers as areas.
pub(super) fn map<'a>(page: &mut String, buffers: impl Iterator<Item = &'a Buffer>) {
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
pub(super) fn time(page: &mut String, program: &Audited, space: i64) {
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
