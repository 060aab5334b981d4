//! Grids of chunks against the specification's arithmetic.

use proptest::prelude::*;
use tilework::Element;
use tilework::dialect::{self, Dialect};

use crate::common::{indices, permutation};

fn list(numbers: &[impl ToString]) -> String {
    let all: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    format!("({},)", all.join(", "))
}

/// Where an index is: the number in row-major order, of those for which there is room.
fn number(index: impl IntoIterator<Item = (u64, u64)>) -> u64 {
    index.into_iter().fold(0, |number, (i, size)| number * size + i)
}

type Grid = (Vec<u64>, Vec<u64>, Option<Vec<u64>>, Option<Vec<usize>>);

fn grids() -> impl Strategy<Value = Grid> {
    prop::collection::vec((1..=12_u64, 1..=5_u64, 1..=3_u64), 1..=3).prop_flat_map(|sizes| {
        let rank = sizes.len();
        let chunks: Vec<u64> = sizes.iter().map(|size| size.1).collect();
        let shards: Vec<u64> = sizes.iter().map(|size| size.1 * size.2).collect();
        let dims: Vec<u64> = sizes.into_iter().map(|size| size.0).collect();
        (Just(dims), Just(chunks), prop::option::of(Just(shards)), prop::option::of(permutation(rank)))
    })
}

proptest! {
    #[test]
    fn elements_are_in_their_chunks((dims, chunks, shards, order) in grids()) {
        let mut text = format!("u8{} ", list(&dims));
        if let Some(shards) = &shards {
            text.push_str(&format!("shards {} ", list(shards)));
        }
        text.push_str(&format!("chunks {}", list(&chunks)));
        if let Some(order) = &order {
            text.push_str(&format!(" order {}", list(order)));
        }
        let said = dialect::read_one(&text).map_err(|error| TestCaseError::fail(error.report(&text).to_string()))?;
        let layout = said.layout().unwrap();
        let volume: u64 = chunks.iter().product();
        let outer = shards.clone().unwrap_or_else(|| chunks.clone());
        let in_shard: u64 = outer.iter().product();
        let grid: Vec<u64> = dims.iter().zip(&outer).map(|(size, outer)| size.div_ceil(*outer)).collect();
        prop_assert_eq!(layout.size(), grid.iter().product::<u64>() * in_shard);
        let order = order.unwrap_or_else(|| (0..dims.len()).collect());
        for index in indices(&dims) {
            let shard = number((0..dims.len()).map(|d| (index[d] / outer[d], grid[d])));
            let chunk = number((0..dims.len()).map(|d| (index[d] % outer[d] / chunks[d], outer[d] / chunks[d])));
            let within = number(order.iter().map(|&d| (index[d] % chunks[d], chunks[d])));
            prop_assert_eq!(layout.offset(&index).unwrap(), shard * in_shard + chunk * volume + within, "{}", text);
        }
        if shards.is_none() {
            let again = Dialect::named("zarr").unwrap().say(&layout, said.element().unwrap());
            // Where chunks hold places that no index needs, their sizes can be lost.
            let is_filled = dims.iter().zip(&chunks).all(|(size, chunk)| size.is_multiple_of(*chunk));
            prop_assert!(again.is_ok() || !is_filled, "{}", text);
            let Ok(again) = again else { return Ok(()) };
            prop_assert!(again.layout().unwrap().same_buffer(&layout).is_yes(), "{} became {}", text, again);
        }
    }
}

#[test]
fn shards_within_shards_are_one_more_cut() {
    let text = "u8[9,13] shards (8, 8) shards (4, 2) chunks (2, 1) order (1, 0)";
    let said = dialect::read_one(text).expect("shards within shards");
    assert_eq!(said.to_string(), text);
    let layout = said.layout().expect("a layout");
    assert_eq!(layout.size(), 2 * 2 * 64);
    for index in indices(&[9, 13]) {
        let (i, j) = (index[0], index[1]);
        let (outer, inner) = ((i / 8) * 2 + j / 8, (i % 8 / 4) * 4 + j % 8 / 2);
        let (chunk, within) = ((i % 4 / 2) * 2 + j % 2, i % 2);
        let expected = outer * 64 + inner * 8 + chunk * 2 + within;
        assert_eq!(layout.offset(&index).expect("within"), expected, "{index:?}");
    }
}

proptest! {
    #[test]
    fn whole_shards_of_any_kinds_are_said_again(
        sizes in prop::collection::vec(prop::array::uniform4(1..=3_u64), 1..=3),
        kinds in 0..=2_usize,
        order in any::<bool>(),
    ) {
        // The sizes of a chunk, of what is around it, and of the array.
        let level = |level: usize| -> Vec<u64> {
            sizes.iter().map(|sizes| sizes[..=level].iter().product()).collect()
        };
        let order: Vec<usize> = if order { (0..sizes.len()).rev().collect() } else { (0..sizes.len()).collect() };
        let (dims, chunks) = (level(kinds + 1), level(0));
        let shards: Vec<Vec<u64>> = (1..=kinds).rev().map(level).collect();
        let shards: Vec<&[u64]> = shards.iter().map(Vec::as_slice).collect();
        let array = tilework::zarr::Array::nested(Element::U8, &dims, &chunks, &shards, Some(&order)).unwrap();
        let layout = tilework::dialect::Described::layout(&array).unwrap();
        let again = Dialect::named("zarr").unwrap().say(&layout, Element::U8);
        let again = again.map_err(|error| TestCaseError::fail(format!("{array}: {error}")))?;
        prop_assert!(again.layout().unwrap().same_buffer(&layout).is_yes(), "{} became {}", array, again);
    }
}

#[test]
fn metadata_says_the_same_as_words() {
    let same = |metadata: &str, words: &str| {
        let said = dialect::read_one(metadata).unwrap_or_else(|error| panic!("{}", error.report(metadata)));
        assert_eq!(said.to_string(), words);
    };
    same(
        r#"{
            "shape": [128, 128], "data_type": "uint16", "zarr_format": 3, "node_type": "array", "fill_value": 0,
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [64, 64]}},
            "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
            "codecs": [{"name": "sharding_indexed", "configuration": {"chunk_shape": [32, 32], "index_location": "end",
                "codecs": [{"name": "transpose", "configuration": {"order": [1, 0]}}, {"name": "bytes"}, {"name": "zstd",
                "configuration": {"level": 0, "checksum": false}}], "index_codecs": [{"name": "crc32c"}]}}],
            "attributes": {}, "storage_transformers": []
        }"#,
        "u16[128,128] shards (64, 64) chunks (32, 32) order (1, 0)",
    );
    same(
        r#"{"zarr_format": 2, "shape": [7], "chunks": [3], "dtype": "|u1", "order": "C", "compressor": null}"#,
        "u8[7] chunks (3,)",
    );
}

#[test]
fn what_is_no_grid_is_refused() {
    let cases = [
        ("f32[3,5] chunks (2,)", "a chunk of 1 size in 2 dimensions"),
        ("f32[3,5] chunks (2, 0)", "a chunk of (2, 0)"),
        ("f32[3,5] shards (3, 4) chunks (2, 2)", "shards of 3 and chunks of 2 in dimension 0"),
        ("f32[3,5] shards (4, 4) shards (3, 4) chunks (1, 1)", "shards of 4 and shards of 3 in dimension 0"),
        ("f32[3,5] chunks (2, 2) order (0, 0)", "order [0, 0] of 2 dimensions"),
        ("f32[3,5] chunks (2, 2) chunks (1, 1)", "chunks a second time"),
        ("f32[3,5] chunks", "no sizes behind chunks"),
        ("f32[3,5] shards (2, 2)", "no chunks"),
        ("f32[3,5] chunks (2, 2) é", "`é` in a grid of chunks"),
        ("{\"zarr_format\": 3, \"node_type\": \"group\"}", "no shape in the metadata"),
        (
            "{\"zarr_format\": 2, \"shape\": [3], \"chunks\": [2], \"dtype\": \"|S10\", \"order\": \"C\"}",
            "the type `|S10`",
        ),
    ];
    for (text, found) in cases {
        let error = dialect::read_one(text).expect_err(text);
        assert_eq!(error.found(), found, "{text}");
    }
}
