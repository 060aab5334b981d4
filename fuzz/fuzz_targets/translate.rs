//! Any list of numbers is read as a layout, and said in a notation and from there in one more: always the same function. The first
//! two bytes choose the notations: all of them with all others are some five hundred pairs, each of which reads a text.
#![no_main]

mod numbers;

use libfuzzer_sys::fuzz_target;
use numbers::{Numbers, Recipe, strided};
use std::sync::LazyLock;

use tilework::dialect::{self, Said, Target, targets};
use tilework::{Element, Layout, Result, Swizzle};

static TARGETS: LazyLock<Vec<Target>> = LazyLock::new(|| targets().collect());

fuzz_target!(|bytes: &[u8]| {
    let mut numbers = Numbers::new(bytes);
    let [first, second] = [0, 1].map(|_| TARGETS[numbers.below(TARGETS.len() as u64) as usize]);
    let number = numbers.below(Element::all().count() as u64) as usize;
    let element = Element::all().nth(number).expect("there are so many");
    let bits = if numbers.below(8) == 7 { element.bits() } else { 8 * element.bytes() };
    let dims: Vec<u64> = (0..numbers.below(6)).map(|_| numbers.next() % 71).collect();
    let Ok(layout) = layout(&mut numbers, &dims, bits) else { return };
    let Ok(said) = first.say(&layout, element) else { return };
    // Where the end of the buffer is padded, what a text says of that decides which others can say it.
    let found = same(&said, &layout, element);
    if let Ok(said) = second.say(&found, element) {
        same(&said, &layout, element);
    }
});

/// The layout that a text says again.
fn same(said: &Said, layout: &Layout, element: Element) -> Layout {
    let text = said.to_string();
    let read = dialect::read_one(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
    assert!(read.may_be(element), "{text} is not of {element}");
    let found = read.layout().unwrap_or_else(|error| panic!("{text}: {error}"));
    assert!(!found.same_buffer(layout).is_no(), "{text} of {}", layout.formula());
    found
}

fn layout(numbers: &mut Numbers, dims: &[u64], bits: u32) -> Result<Layout> {
    let layout = match numbers.below(4) {
        3 => strided(numbers, dims, bits)?,
        _ => Recipe::read(numbers, dims, bits).build()?,
    };
    match (dims.len() as u64, numbers.below(8)) {
        (1.., 7) => layout.flip(numbers.below(dims.len() as u64) as usize),
        (_, 6) => {
            let [bits, base, shift] = [4, 8, 8].map(|limit| numbers.below(limit) as u32);
            layout.swizzled(&Swizzle::new(bits, base, shift as i32)?)
        }
        _ => Ok(layout),
    }
}
