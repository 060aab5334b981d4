//! XLA's messages of shapes of every kind, and what is said of messages with one thing changed in them: the file
//! `tests/golden/proto.txt` has some of them, and a sum over all (see `golden`).

use tilework::xla::proto::{Format, Kind, Message};
use tilework::xla::{OldProto, Shape};

use crate::golden::{compare, none};
use crate::golden_operations::Values;
use crate::golden_texts::texts;

const KINDS: [Kind; 4] = [Kind::Shape, Kind::Layout, Kind::OldShape, Kind::OldLayout];

#[test]
fn a_message_is_written_and_read_as_it_was() {
    let shapes: Vec<Shape> = texts().filter_map(|(_, text)| Shape::parse(&text).ok()).collect();
    assert!(shapes.len() > 100);
    let mut file = String::new();
    for format in [Format::Binary, Format::Text, Format::Json] {
        let mut written = Values::of(format!("{format:?}, written"));
        let mut changed = Values::of(format!("{format:?}, with one thing changed"));
        for (number, shape) in shapes.iter().enumerate() {
            let layout = shape.as_array().and_then(|array| array.layout());
            let mut all = vec![
                Message::of_shape(shape),
                Message::of_old_shape(shape, OldProto::V2017),
                Message::of_old_shape(shape, OldProto::V2018),
            ];
            if let Some(layout) = layout {
                all.push(Message::of_layout(layout));
                all.push(Message::of_old_layout(layout, OldProto::V2018));
                layout.tiles().iter().for_each(|tile| all.push(Message::of_tile(tile)));
            }
            for message in all {
                let text = message.and_then(|message| Ok((message.write(format)?, message.kind())));
                let of = shape.to_string();
                written.add(&of, text.clone().map(|(bytes, _)| String::from_utf8_lossy(&bytes).into_owned()));
                let Ok((bytes, kind)) = text else { continue };
                // One byte is gone, another, or the last; and of another kind it may say something else.
                for place in (0..bytes.len()).step_by(1 + bytes.len() / 4) {
                    let mut other = bytes.clone();
                    match number % 3 {
                        0 => other[place] = other[place].wrapping_add(number as u8 % 7 + 1),
                        1 => drop(other.remove(place)),
                        _ => other.truncate(place),
                    }
                    let read = Message::read(kind, format, &other);
                    let says = read.map(|read| (read.shape().map(|s| s.to_string()), read.bytes().to_vec()));
                    changed.add(&format!("{of} {place}"), says);
                }
                for kind in KINDS {
                    let read = Message::read(kind, format, &bytes);
                    let says = read.map(|read| {
                        let shape = read.shape().map(|shape| shape.to_string());
                        let layout = read.layout().map(|layout| format!("{layout:?}"));
                        let error = |error: tilework::Error| error.to_string();
                        (shape.map_err(error), layout.map_err(error), read.tile().map_err(error))
                    });
                    changed.add(&format!("{of} as {}", kind.name()), says);
                }
            }
        }
        written.write(&mut file);
        changed.write(&mut file);
    }
    let mut wrong = Vec::new();
    compare("proto.txt", file, &mut wrong);
    none(wrong);
}
