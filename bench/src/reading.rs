//! Reading a shape's text, and lowering it, against jaxlib reading the same text.

use std::cell::RefCell;
use std::hint::black_box;

use tilework::xla::Shape;

use crate::Setting;
use crate::jaxlib::Jaxlib;
use crate::rounds::{Failure, Figure, Rounds};

const SHAPES: [&str; 5] = [
    "f32[]",
    "f32[128,256]{1,0}",
    "bf16[64,300]{1,0:T(8,128)(2,1)}",
    crate::TYPICAL,
    "s4[16,2048,64,128]{3,1,2,0:T(64,128)(8,1)L(1024)E(4)S(1)}",
];

/// Texts read in one call.
const BATCH: usize = 64;

pub fn run(setting: &Setting) -> Result<(), Failure> {
    let jaxlib = setting.python.as_deref().map(Jaxlib::start).transpose()?;
    let rival = jaxlib.as_ref().map_or("jaxlib (not measured)".into(), |j| format!("jaxlib {}", j.version));
    let jaxlib = RefCell::new(jaxlib);
    let mut figures = Vec::new();
    for text in SHAPES {
        crate::lower(text)?; // so that nothing fails below
        figures.push(Figure::new(BATCH, move || {
            for _ in 0..BATCH {
                black_box(Shape::parse(black_box(text))).ok();
            }
        }));
        figures.push(Figure::new(BATCH, move || {
            for _ in 0..BATCH {
                black_box(crate::lower(black_box(text))).ok();
            }
        }));
        let jaxlib = &jaxlib;
        figures.push(Figure::of(move || match jaxlib.borrow_mut().as_mut() {
            Some(jaxlib) => jaxlib.round(text),
            None => Ok(f64::NAN),
        }));
    }
    let rounds = Rounds::measure(figures)?;
    println!("| shape | read, ns | read and lower, ns | {rival}: `xla_client.Shape(text)`, ns | ratio |");
    println!("|---|--:|--:|--:|--:|");
    for (row, text) in SHAPES.iter().enumerate() {
        let [read, lower, rival] = [0, 1, 2].map(|column| rounds.figure(3 * row + column));
        let ratio = rounds.ratio(3 * row + 2, 3 * row + 1);
        println!("| `{text}` | {read:.0} | {lower:.0} | {rival:.0} | {ratio:.1} |");
    }
    Ok(())
}
