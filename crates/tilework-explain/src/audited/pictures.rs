//! Buffers as pictures of a page: how much of the memory each takes, and when.

use tilework_audit::{Audited, Buffer};
use tilework_picture::svg::{Anchor, Drawing, Rect};
use tilework_picture::treemap;

use super::html::Listed;
use super::sentence::{place, short};

/// The most rectangles of one picture; smaller buffers would be less than a point.
const RECTANGLES: usize = 2000;

/// The size of a picture, in its own units.
pub(super) const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 380.0;

/// What is shown while a pointer rests on a buffer.
fn title(buffer: &Buffer) -> String {
    let name = buffer.name.as_deref().unwrap_or("a buffer");
    let from = place(&buffer.place).map_or(String::new(), |place| format!("\n{place}"));
    let count = if buffer.count > 1 { format!("{} × ", buffer.count) } else { String::new() };
    let (allocated, data) = (short(buffer.allocated), short(buffer.data));
    format!("{name}\n{count}{}\n{allocated} for {data} of data{from}", buffer.shape)
}

/// A buffer: its padding, and over it its elements.
fn rect(drawing: &mut Drawing, buffer: &Buffer, at: Rect, upright: bool, listed: &Listed<'_>) {
    let share = buffer.data as f64 / buffer.allocated.max(1) as f64;
    let data = match upright {
        true => Rect { y: at.y + at.height * (1.0 - share), height: at.height * share, ..at },
        false => Rect { width: at.width * share, ..at },
    };
    let link = listed.of_buffer(buffer);
    drawing.linked(&title(buffer), link.as_deref(), |drawing| {
        drawing.fill(at, "waste");
        drawing.fill(data, "data");
        drawing.outline(at, "page", 1.0);
        let name = buffer.name.clone().unwrap_or_else(|| buffer.shape.to_string());
        // A letter is about 7 units wide.
        let room = (at.width / 7.2) as usize;
        if room < 6 || at.height < 18.0 {
            return;
        }
        let shown: String = match name.chars().count() > room.saturating_sub(1) {
            true => name.chars().take(room.saturating_sub(2)).chain(['…']).collect(),
            false => name,
        };
        let (x, y) = (at.x + 5.0, at.y + 15.0);
        drawing.text((x, y), &shown, "text", Anchor::Start);
        if at.height >= 36.0 && room >= 11 {
            let size = short(buffer.allocated.saturating_mul(buffer.count));
            drawing.text((x, y + 15.0), &size, "text", Anchor::Start);
        }
    });
}

/// A picture, which scrolls where it would be too small to be read.
fn put(page: &mut String, drawing: Drawing) {
    page.push_str("<div class=\"wide picture\" tabindex=\"0\">");
    page.push_str(&drawing.finish());
    page.push_str("</div>\n");
}

/// Buffers as areas.
pub(super) fn map<'a>(page: &mut String, buffers: impl Iterator<Item = &'a Buffer>, listed: &Listed<'_>) {
    let size = |buffer: &Buffer| buffer.allocated.saturating_mul(buffer.count);
    let mut buffers: Vec<&Buffer> = buffers.filter(|buffer| size(buffer) > 0).collect();
    buffers.sort_by_key(|buffer| std::cmp::Reverse(size(buffer)));
    buffers.truncate(RECTANGLES);
    let sizes: Vec<u64> = buffers.iter().map(|buffer| size(buffer)).collect();
    let mut drawing = Drawing::new(WIDTH, HEIGHT, "the area of each rectangle is the size of a buffer");
    let all = Rect { x: 0.0, y: 0.0, width: WIDTH, height: HEIGHT };
    for (buffer, at) in buffers.iter().zip(treemap(&sizes, all)) {
        rect(&mut drawing, buffer, at, at.width < at.height, listed);
    }
    put(page, drawing);
}

/// Buffers where they are in memory, from the instruction that makes them to the last that reads them.
pub(super) fn time(page: &mut String, listed: &Listed<'_>, program: &Audited, space: i64) {
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
    let label = "instructions from left to right, places in memory from bottom to top";
    let mut drawing = Drawing::new(WIDTH, HEIGHT, label);
    // Large ones first, so that small ones are not hidden.
    for buffer in own {
        let (start, end) = buffer.live.unwrap_or((0, last));
        let at = buffer.at.unwrap_or(0) as f64;
        let tall = buffer.allocated as f64 / top * height;
        let x = left + f64::from(start) * step;
        let y = height - (at / top * height) - tall;
        let width = (f64::from(end.min(last)) + 1.0 - f64::from(start)) * step;
        rect(&mut drawing, buffer, Rect { x, y, width, height: tall }, true, listed);
    }
    if let Some(peak) = program.peak.as_ref().filter(|peak| peak.space == space) {
        let x = left + (f64::from(peak.time.min(last)) + 0.5) * step;
        drawing.dashed(x, height, "mark");
    }
    let y = HEIGHT - 5.0;
    let size = short(top as u64);
    let scale = format!("instruction 0; {size} from bottom to top");
    drawing.text((left, y), &scale, "faint", Anchor::Start);
    drawing.text((right, y), &format!("instruction {last}"), "faint", Anchor::End);
    put(page, drawing);
}
