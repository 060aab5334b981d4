//! Any list of numbers is read as a layout, and said in every notation and from there in one more: always the same function.
#![no_main]

mod numbers;

use libfuzzer_sys::fuzz_target;
use numbers::{Numbers, Recipe, strided};
use tilework::dialect::{self, Said, targets};
use tilework::{Element, Layout, Result, Swizzle};

fuzz_target!(|bytes: &[u8]| {
    let mut numbers = Numbers::new(bytes);
    let all: Vec<Element> = Element::all().collect();
    let element = all[numbers.below(all.len() as u64) as usize];
    let bits = if numbers.below(8) == 7 { element.bits() } else { 8 * element.bytes() };
    let dims: Vec<u64> = (0..numbers.below(6)).map(|_| numbers.next() % 71).collect();
    let Ok(layout) = layout(&mut numbers, &dims, bits) else { return };
    let next = numbers.next() as usize;
    for (place, target) in targets().enumerate() {
        let Ok(first) = target.say(&layout, element) else { continue };
        let found = same(&first, &layout, element);
        // Where the end of the buffer is padded, what a text says of that decides which others can say it.
        let count = targets().count();
        let Some(other) = targets().nth((place + next) % count) else { continue };
        if let Ok(second) = other.say(&found, element) {
            same(&second, &layout, element);
        }
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
