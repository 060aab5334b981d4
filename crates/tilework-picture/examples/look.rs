//! Draws shapes given as arguments.
use tilework_picture::{Look, terminal};
fn main() {
    for text in std::env::args().skip(1) {
        let layout = tilework::xla::Shape::parse(&text).unwrap().as_array().unwrap().lower().unwrap();
        println!("{text}");
        for line in terminal::picture(&layout, 80, Look::default()) {
            println!("{line}");
        }
        println!();
    }
}
