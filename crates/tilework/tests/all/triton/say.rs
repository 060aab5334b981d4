//! Layouts said as tensors in shared memory.

use proptest::prelude::*;
use tilework::dialect::Dialect;
use tilework::{Element, Layout, Result, Swizzle};

use super::{check_by_definition, parse};

fn triton() -> &'static Dialect {
    Dialect::named("triton").expect("a notation")
}

fn say(layout: &Layout, element: Element) -> String {
    let said = triton().say(layout, element);
    said.map_or_else(|error| format!("no: {}", error.found()), |said| said.to_string())
}

#[test]
fn layouts_are_said_in_the_fewest_words() -> Result<()> {
    let swizzled = |parameters: &str| format!("tensor<64x64xf16, #ttg.swizzled_shared<{{{parameters}}}>>");
    let rows = Layout::row_major(&[64, 64], 16)?;
    assert_eq!(say(&rows, Element::F16), swizzled("vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]"));
    let columns = Layout::strided(&[64, 64], 16, &[1, 64], None, None)?;
    assert_eq!(say(&columns, Element::F16), swizzled("vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]"));
    let cute = rows.swizzled(&Swizzle::new(2, 3, 4)?)?;
    assert_eq!(say(&cute, Element::F16), swizzled("vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]"));
    let tiled = Layout::builder(&[4, 8], 32)?.tile(&[Some(2), Some(4)])?.build()?;
    assert_eq!(
        say(&tiled, Element::F32),
        "tensor<4x8xf32, #ttg.shared_linear<{offset = [[0, 1], [0, 2], [1, 0], [0, 4], [2, 0]]}, alignment = 16>>"
    );
    let spaced = Layout::strided(&[4, 4], 8, &[8, 1], None, Some(32))?;
    assert_eq!(
        say(&spaced, Element::S8),
        "tensor<4x4xi8, #ttg.shared_linear<{offset = [[0, 1], [0, 2], [0, 0], [1, 0], [2, 0]]}, alignment = 16>>"
    );
    let padded = Layout::strided(&[4, 4], 8, &[6, 1], None, None)?;
    assert_eq!(
        say(&padded, Element::S8),
        "tensor<4x4xi8, #ttg.padded_shared<[4:+2] {order = [1, 0], shape = [4, 4]}>>"
    );
    Ok(())
}

#[test]
fn what_cannot_be_said_has_a_reason() -> Result<()> {
    let no = |layout: Layout, why: &str| {
        let text = say(&layout, if layout.bits() == 8 { Element::S8 } else { Element::S4 });
        assert_eq!(text, format!("no: {why}"));
    };
    no(Layout::row_major(&[4, 5], 8)?, "dimension 1 is 5, and 5 is not a power of two");
    no(Layout::row_major(&[], 8)?, "0 dimensions");
    no(Layout::row_major(&[4, 4], 4)?, "elements of 4 bits, and Triton's memory gives each s4 8");
    no(
        Layout::strided(&[4, 4], 8, &[7, 1], None, None)?,
        "a step of the index moves by another number of places from one element to the next, and not by a xor",
    );
    no(Layout::strided(&[4, 4], 8, &[0, 1], None, None)?, "several elements share a place");
    no(Layout::row_major(&[4], 8)?.flip(0)?, "the first element is at offset 3");
    let tail = Layout::strided(&[4, 4], 8, &[6, 1], None, Some(24))?;
    no(tail, "24 places are allocated, and #ttg.padded_shared has 22");
    Ok(())
}

/// Any exchange of bits that can be undone, as rows of bits added to one another.
fn linear() -> impl Strategy<Value = (Vec<u32>, Vec<(usize, usize)>)> {
    (prop::collection::vec(0..4_u32, 1..4), prop::collection::vec((0..12_usize, 0..12_usize), 0..12))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_layout_that_is_linear_over_bits_is_said_and_reads_back((logs, steps) in linear()) {
        let dims: Vec<u64> = logs.iter().map(|&log| 1 << log).collect();
        let bits = logs.iter().sum::<u32>() as usize;
        // Offsets as bases, made by adding one to another: they stay independent.
        let mut bases: Vec<u64> = (0..bits).map(|bit| 1 << bit).collect();
        for (from, to) in steps {
            if from < bits && to < bits && from != to {
                bases[to] ^= bases[from];
                bases.swap(from, to);
            }
        }
        let index = |number: u64| {
            let mut rest = number;
            let mut index: Vec<u64> = dims.iter().rev().map(|size| { let own = rest % size; rest /= size; own }).collect();
            index.reverse();
            index
        };
        let offset: Vec<Vec<u64>> = bases.iter().map(|&number| index(number)).collect();
        let sizes: String = dims.iter().map(|size| format!("{size}x")).collect();
        if bits > 0 {
            let text = format!("tensor<{sizes}i8, #ttg.shared_linear<{{offset = {offset:?}}}, alignment = 16>>");
            let ty = parse(&text);
            let layout = ty.lower().unwrap();
            check_by_definition(&ty, &ty.linear_layout().unwrap(), &layout).unwrap();
            let said = say(&layout, Element::S8);
            prop_assert!(!said.starts_with("no"), "{text} is not said: {said}");
            prop_assert!(parse(&said).lower().unwrap().same_buffer(&layout).is_yes(), "{text} became {said}");
        }
    }

    #[test]
    fn padding_is_said_and_reads_back(
        logs in prop::collection::vec(0..4_u32, 1..4),
        pads in prop::collection::btree_map(0..6_u32, 0..4_u32, 1..3),
        last in any::<bool>(),
    ) {
        let dims: Vec<u64> = logs.iter().map(|&log| 1 << log).collect();
        let order: Vec<usize> = if last { (0..dims.len()).rev().collect() } else { (0..dims.len()).collect() };
        let pads: Vec<String> = pads.iter().map(|(at, pad)| format!("{}:+{}", 1 << at, 1 << pad)).collect();
        let sizes: String = dims.iter().map(|size| format!("{size}x")).collect();
        let text = format!("tensor<{sizes}i8, #ttg.padded_shared<[{}] {{order = {order:?}, shape = {dims:?}}}>>", pads.join(", "));
        let layout = parse(&text).lower().unwrap();
        let said = say(&layout, Element::S8);
        prop_assert!(!said.starts_with("no"), "{text} is not said: {said}");
        prop_assert!(parse(&said).lower().unwrap().same_buffer(&layout).is_yes(), "{text} became {said}");
    }
}
