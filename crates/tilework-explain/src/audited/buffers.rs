//! The largest buffers: what they are for, what makes them and how long they are there.

use tilework::xla::Shape;
use tilework_audit::{Audited, Basis, Buffer, Class, Near, Place};

use super::sentence::{place, short};
use crate::page::Page;

/// The largest buffers, whatever they waste.
pub(super) fn largest(page: &mut Page, program: &Audited, top: usize) {
    let worth = program.basis == Basis::Assignment || program.basis == Basis::Message;
    if !worth || program.largest.is_empty() {
        return;
    }
    page.heading(&match (&program.peak, program.basis) {
        (Some(peak), _) if peak.instruction.is_empty() => "largest buffers at the peak".to_owned(),
        (Some(peak), _) => {
            format!("largest buffers at the peak, while instruction {} runs, {}", peak.time, peak.instruction)
        }
        (None, Basis::Message) => "largest buffers that are listed".to_owned(),
        (None, _) => "largest buffers".to_owned(),
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
    // An argument is called as the program calls it, which is where it says that it comes from.
    let argument = match buffer.class {
        Some(Class::Argument | Class::Alias) if buffer.place.line.is_none() => {
            buffer.place.operation.as_ref().filter(|name| !name.contains('/'))
        }
        _ => None,
    };
    let mut text = match argument.or(buffer.name.as_ref()) {
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
    if let Some(place) = place(&buffer.place).filter(|_| argument.is_none()) {
        text.push_str(&format!("; {place}"));
    }
    text + &near(buffer.near, &buffer.near_place)
}

/// Which line it is for, behind a semicolon, where a neighbour says that.
pub(super) fn near(near: Near, near_place: &Place) -> String {
    let side = match near {
        Near::Nothing => return String::new(),
        Near::Read => "for",
        Near::Made => "of the value from",
    };
    place(near_place).map_or(String::new(), |place| format!("; {side} {place}"))
}
