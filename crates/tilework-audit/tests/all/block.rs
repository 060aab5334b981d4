//! Blocks of Pallas kernels, against what JAX says and against the rules read aloud.

use proptest::prelude::*;
use tilework::Element;
use tilework::xla::Shape;
use tilework_audit::Block;

/// Every line of the table: the array, the block shape, whether JAX takes it.
fn table() -> Vec<(String, Block, bool)> {
    let lines = include_str!("../pallas_blocks.txt").lines().filter(|line| !line.starts_with('#'));
    let read = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let shape = Shape::parse(words[0]).unwrap();
        let array = shape.as_array().unwrap();
        let dims = array.lower().unwrap().dims().to_vec();
        let inner = words[1].trim_matches(['(', ')']).split(',').filter(|word| !word.is_empty());
        let sizes: Vec<Option<u64>> = inner.map(|word| word.parse().ok()).collect();
        let block = Block::new(&dims, array.element_type(), &sizes).unwrap();
        (line.to_owned(), block, words[2] == "yes")
    };
    lines.map(read).collect()
}

#[test]
fn jax_gives_the_same_answer() {
    let table = table();
    assert!(table.len() > 300);
    for (line, block, answer) in table {
        assert_eq!(block.is_legal(), answer, "{line}");
    }
}

#[test]
fn the_nearest_blocks_are_legal_and_nothing_legal_lies_between() {
    for (line, block, _) in table() {
        let nearest = block.nearest();
        assert_eq!(nearest.is_empty(), block.is_legal() || block.dims.is_empty(), "{line}");
        assert!(nearest.is_sorted_by_key(|block| block.footprint.bytes), "{line}");
        for near in nearest {
            assert!(near.is_legal(), "{line}: {:?}", near.sizes());
            for (dim, (own, other)) in block.dims.iter().zip(&near.dims).enumerate() {
                if own.size > own.array && !own.is_legal() {
                    assert_eq!(other.size, own.array, "{line}");
                    continue;
                }
                let (low, high) = (own.size.min(other.size), own.size.max(other.size));
                for size in low + 1..high {
                    let mut between = *own;
                    (between.size, between.is_squeezed) = (size, false);
                    assert!(!between.is_legal(), "{line}: {size} in dimension {dim}");
                }
            }
        }
    }
}

#[test]
fn what_is_outside_the_array_is_counted_as_blocks_lie() {
    for (line, block, _) in table() {
        let mut all = 1;
        for dim in &block.dims {
            let starts = (0..dim.array).step_by(dim.size as usize);
            assert_eq!(dim.blocks(), starts.clone().count() as u64, "{line}");
            let last = starts.last().unwrap();
            assert_eq!(
                dim.outside(),
                (last..last + dim.size).filter(|&place| place >= dim.array).count() as u64
            );
            all *= dim.blocks() * dim.size;
        }
        let elements: u64 = block.dims.iter().map(|dim| dim.array).product();
        assert_eq!(block.outside(), u128::from(all - elements), "{line}");
    }
}

#[test]
fn blocks_in_vmem_are_padded_to_tiles() {
    for (element, sizes, text, bytes) in [
        (Element::F32, [8, 100], "f32[8,100]{1,0:T(8,128)}", 8 * 128 * 4),
        (Element::F32, [1, 128], "f32[1,128]{1,0:T(1,128)}", 128 * 4),
        (Element::Bf16, [100, 200], "bf16[100,200]{1,0:T(8,128)(2,1)}", 104 * 256 * 2),
        (Element::S8, [32, 128], "s8[32,128]{1,0:T(32,128)(4,1)}", 32 * 128),
        (Element::Pred, [8, 128], "s32[8,128]{1,0:T(8,128)}", 8 * 128 * 4),
    ] {
        let block = Block::new(&[512, 512], element, &sizes.map(Some)).unwrap();
        assert_eq!((block.footprint.shape.to_string().as_str(), block.footprint.bytes), (text, bytes));
    }
}

#[test]
fn what_is_no_block_is_refused() {
    let found = |sizes: &[Option<u64>], element| {
        Block::new(&[16, 256], element, sizes).unwrap_err().found().to_owned()
    };
    assert_eq!(found(&[Some(8)], Element::F32), "a block shape of 1 dimension");
    assert_eq!(found(&[Some(8), Some(0)], Element::F32), "a block of size 0 in dimension 1");
    assert_eq!(found(&[Some(8), Some(128)], Element::F64), "elements of 64 bits, f64");
    assert!(Block::new(&[16, 256], Element::F32, &[Some(1 << 40), Some(1 << 40)]).is_err());
    let empty = Block::new(&[0, 256], Element::F32, &[Some(8), Some(128)]).unwrap();
    assert_eq!((empty.blocks(), empty.outside()), (0, 0));
}

proptest! {
    #[test]
    fn no_size_overflows(
        array in prop::collection::vec(prop_oneof![0..300_u64, 0..u64::MAX], 0..5),
        sizes in prop::collection::vec(prop::option::of(prop_oneof![0..300_u64, 0..u64::MAX]), 0..5),
    ) {
        for element in [Element::F32, Element::S4, Element::Pred] {
            if let Ok(block) = Block::new(&array, element, &sizes) {
                block.outside();
                for near in block.nearest() {
                    prop_assert!(near.is_legal());
                }
            }
        }
    }
}
