//! Elements of less than a byte: which bits each has.

use tilework_core::{Layout, Place};

use super::canvas::{At, CELL, Canvas, LABEL, text_width};
use super::hatch::{self, Hatch};
use super::paint::Colour;
use super::{Options, headed, hue};

pub(crate) fn applies(layout: &Layout) -> bool {
    layout.bits() < 8 && layout.size() > 0
}

/// The first bytes of memory, bit by bit from the least significant on.
pub(crate) fn view(layout: &Layout, options: &Options) -> Option<Canvas> {
    if !applies(layout) {
        return None;
    }
    let bits = u64::from(layout.bits());
    let hue = hue::of(layout, options);
    let index_text = |index: &[u64]| index.iter().map(u64::to_string).collect::<Vec<String>>().join(",");
    let place = |offset: u64| layout.locate(offset).ok();
    // As wide as the widest text of the first elements needs.
    let most = layout.bytes().min(8).saturating_mul(8) / bits;
    let widest = (0..most.min(layout.size()))
        .filter_map(|offset| match place(offset)? {
            Place::Element(index) => Some(text_width(&index_text(&index), CELL)),
            Place::Padding(_) => None,
        })
        .fold(text_width("0-0", LABEL), f64::max);
    let bit = ((widest + 8.0) / bits as f64).max(11.0).ceil();
    let bytes = ((options.inside() / (8.0 * bit)) as u64).min(layout.bytes()).min(8);
    let mut canvas = Canvas::new(options.theme);
    let end = bytes * 8;
    let (top, height) = (20.0, 26.0);
    for offset in (0..layout.size()).take_while(|offset| offset * bits < end) {
        let (first, last) = (offset * bits, ((offset + 1) * bits).min(end));
        let (x, width) = (first as f64 * bit, (last - first) as f64 * bit - 1.0);
        let range = match last - first {
            1 => (first % 8).to_string(),
            _ => format!("{}-{}", first % 8, (last - 1) % 8),
        };
        match place(offset)? {
            Place::Element(index) => {
                let text = index_text(&index);
                canvas.open(&format!("class=\"cell\" data-o=\"{offset}\" data-i=\"{text}\""));
                canvas.title(&format!("({text}) is at {offset}"));
                let fill = hue(Some(offset), &index);
                canvas.rect((x, top), (width, height), fill);
                let text = if text.is_empty() { "()" } else { &text };
                let middle = (x + width / 2.0, top + height / 2.0 + CELL * 0.36);
                canvas.text(middle, text, CELL, Colour::Ink, At::Middle);
            }
            Place::Padding(cause) => {
                canvas.open(&format!("class=\"pad\" data-o=\"{offset}\""));
                canvas.title(&format!("padding at {offset}: {cause}"));
                canvas.rect((x, top), (width, height), Colour::Padding);
                hatch::stroke(&mut canvas, (x, top), (width, height), Hatch::of(Some(&cause)));
            }
        }
        canvas.close();
        canvas.text((x + width / 2.0, top + height + 15.0), &range, LABEL, Colour::Faint, At::Middle);
    }
    for byte in 0..bytes {
        let x = byte as f64 * 8.0 * bit;
        let middle = (x + 4.0 * bit, top - 7.0);
        canvas.text(middle, &format!("byte {byte}"), LABEL, Colour::Faint, At::Middle);
        let line = |x: f64| [(x, top - 3.0), (x, top + height + 3.0)];
        let lines = if byte == 0 { vec![] } else { vec![line(x - 0.5)] };
        canvas.lines(&lines, Colour::Level(1), 2.0, "");
    }
    let left_out = if bytes < layout.bytes() {
        format!(", the first {bytes} of {} bytes", layout.bytes())
    } else {
        String::new()
    };
    let heading = format!("bits: {bits} for each element, from the least significant of each byte{left_out}");
    Some(headed(&heading, canvas, options))
}
