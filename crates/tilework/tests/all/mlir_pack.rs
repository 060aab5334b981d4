//! `linalg.pack`, IREE's resolved encodings, and Mosaic's tiles and vector layouts, against plain arithmetic.

use proptest::prelude::*;
use proptest::sample::subsequence;
use tilework::dialect::{self, Known, Reading, Target};
use tilework::{Element, Layout};

use crate::common::{indices, recipe_with};

fn read(text: &str) -> dialect::Said {
    dialect::read_one(text).unwrap_or_else(|error| panic!("{}", error.report(text)))
}

fn layout(text: &str) -> Layout {
    read(text).layout().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn say(target: &str, layout: &Layout) -> String {
    let said = Target::named(target).and_then(|target| target.say(layout, Element::F32));
    said.map_or_else(|error| format!("no: {}", error.found()), |said| said.to_string())
}

#[test]
fn layouts_become_packs_and_tiles() {
    for (text, pack, mosaic) in [
        (
            "f32[3,5]{1,0:T(2,2)}",
            "linalg.pack %x padding_value(%pad : f32) inner_dims_pos = [0, 1] inner_tiles = [2, 2] into %dest : \
             tensor<3x5xf32> -> tensor<2x3x2x2xf32>",
            "memref<3x5xf32, #tpu.tiled<(2,2),[3,1]>>",
        ),
        (
            "f32[4,6]",
            "linalg.pack %x inner_dims_pos = [1] inner_tiles = [6] into %dest : tensor<4x6xf32> -> tensor<4x1x6xf32>",
            "memref<4x6xf32, #tpu.tiled<,[6,1]>>",
        ),
        (
            "f32[4,6]{0,1}",
            "linalg.pack %x inner_dims_pos = [0] inner_tiles = [4] into %dest : tensor<4x6xf32> -> tensor<1x6x4xf32>",
            "memref<4x6xf32, #tpu.tiled<,[1,4]>>",
        ),
        (
            "f32[128,256]{0,1:T(32,8)}",
            "linalg.pack %x outer_dims_perm = [1, 0] inner_dims_pos = [1, 0] inner_tiles = [32, 8] into %dest : \
             tensor<128x256xf32> -> tensor<8x16x32x8xf32>",
            "memref<128x256xf32, #tpu.tiled<(128,32)(8,1),[8,1]>>",
        ),
        (
            // Rows of tiles that there is one of are no split.
            "f32[8,2048]{1,0:T(8,128)(2,1)}",
            "linalg.pack %x outer_dims_perm = [1, 0] inner_dims_pos = [1, 0] inner_tiles = [128, 2] into %dest : \
             tensor<8x2048xf32> -> tensor<16x4x128x2xf32>",
            "memref<8x2048xf32, #tpu.tiled<(8,128)(2,1),[16,1]>>",
        ),
        (
            "f32[16,2048]{1,0:T(8,128)(2,1)}",
            "no: dimension 0 is split 2 times, and a pack splits it once",
            "memref<16x2048xf32, #tpu.tiled<(8,128)(2,1),[16,1]>>",
        ),
        (
            "f32[3,5]{1,0:T(8,128)}",
            "linalg.pack %x padding_value(%pad : f32) inner_dims_pos = [0, 1] inner_tiles = [8, 128] into %dest : \
             tensor<3x5xf32> -> tensor<1x1x8x128xf32>",
            "memref<3x5xf32, #tpu.tiled<(8,128),[1,1]>>",
        ),
        (
            "f32[1,300]{1,0:T(8,128)}",
            "linalg.pack %x padding_value(%pad : f32) inner_dims_pos = [0, 1] inner_tiles = [8, 128] into %dest : \
             tensor<1x300xf32> -> tensor<1x3x8x128xf32>",
            "memref<1x300xf32, #tpu.tiled<(8,128),[3,1]>>",
        ),
        ("f32[]", "no: a scalar has no dimension to pack", "memref<f32, #tpu.tiled<,[]>>"),
        (
            "f32[3,5]{strides(8,1)}",
            "no: the buffer ends before its last tile would, and a packed tensor ends with a whole tile",
            "memref<3x5xf32, #tpu.tiled<,[8,1]>>",
        ),
        (
            "memref<8x256xf32, #xir.tiled<(8,128),[5,2]>>",
            "no: the buffer ends before its last tile would, and a packed tensor ends with a whole tile",
            "memref<8x256xf32, #tpu.tiled<(128),[1,16]>>",
        ),
    ] {
        let layout = layout(text);
        assert_eq!(say("pack", &layout), pack, "{text}");
        assert_eq!(say("mosaic", &layout), mosaic, "{text}");
    }
    assert!(say("pack", &Layout::row_major(&[3, 5], 4).unwrap()).starts_with("no: elements of 4 bits"));
}

#[test]
fn operations_are_read_as_they_were_written() {
    for text in [
        "linalg.pack %0 outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [8, 32] into %arg1 : \
         tensor<128x256xf32> -> tensor<8x16x8x32xf32>",
        "tensor.unpack %arg0 inner_dims_pos = [1, 0] inner_tiles = [2, 4] into %empty : tensor<2x4x2x4xi8> -> \
         tensor<8x8xi8>",
        "linalg.pack %x padding_value(%cst : bf16) inner_dims_pos = [1] inner_tiles = [16] into %d : \
         tensor<2x17xbf16> -> tensor<2x2x16xbf16>",
        "linalg.pack %x inner_dims_pos = [] inner_tiles = [] into %d : tensor<2x3xf32> -> tensor<2x3xf32>",
    ] {
        assert_eq!(read(text).to_string(), text);
        assert_eq!(read(&format!("%r = {text}")).to_string(), text);
    }
    let known = Known::array(&[3, 5], Element::F32);
    let alone = Reading::knowing(known).read_one("inner_dims_pos = [0, 1] inner_tiles = [2, 2]").unwrap();
    assert!(alone.layout().unwrap().same_buffer(&layout("f32[3,5]{1,0:T(2,2)}")).is_yes());
    // What an unpack reads is what the pack wrote.
    let [pack, unpack] = [
        "linalg.pack %x outer_dims_perm = [1, 0] inner_dims_pos = [1] inner_tiles = [4] into %d : tensor<3x8xf32> -> \
         tensor<2x3x4xf32>",
        "linalg.unpack %x outer_dims_perm = [1, 0] inner_dims_pos = [1] inner_tiles = [4] into %d : tensor<2x3x4xf32> \
         -> tensor<3x8xf32>",
    ];
    assert!(layout(pack).same_buffer(&layout(unpack)).is_yes());
}

#[test]
fn what_the_verifier_refuses_is_refused() {
    let pack = |attributes: &str, types: &str| format!("linalg.pack %x {attributes} into %d : {types}");
    for (attributes, types, found) in [
        (
            "inner_dims_pos = [0, 0] inner_tiles = [2, 2]",
            "tensor<4x4xf32> -> tensor<2x4x2x2xf32>",
            "invalid inner_dims_pos vector",
        ),
        (
            "inner_dims_pos = [2] inner_tiles = [2]",
            "tensor<4x4xf32> -> tensor<2x4x2xf32>",
            "invalid inner_dims_pos vector",
        ),
        (
            "outer_dims_perm = [0] inner_dims_pos = [0] inner_tiles = [2]",
            "tensor<4x4xf32> -> tensor<2x4x2xf32>",
            "invalid outer_dims_perm vector",
        ),
        (
            "inner_dims_pos = [0, 1] inner_tiles = [2]",
            "tensor<4x4xf32> -> tensor<2x4x2xf32>",
            "1 inner tile for 2 dimensions",
        ),
        (
            "inner_dims_pos = [0] inner_tiles = [0]",
            "tensor<4x4xf32> -> tensor<2x4x2xf32>",
            "invalid zero tile factor",
        ),
        (
            "inner_dims_pos = [0] inner_tiles = [3]",
            "tensor<4x4xf32> -> tensor<2x4x3xf32>",
            "a tile that is not full, and no padding value",
        ),
        (
            "inner_dims_pos = [0] inner_tiles = [2]",
            "tensor<4x4xf32> -> tensor<3x4x2xf32>",
            "the packed array has another shape",
        ),
        (
            "inner_dims_pos = [0] inner_tiles = [2]",
            "tensor<4x4xf32> -> tensor<2x4x2xf16>",
            "the packed array has another shape",
        ),
        (
            "padding_value(%p : i32) inner_dims_pos = [0] inner_tiles = [3]",
            "tensor<4x4xf32> -> tensor<2x4x3xf32>",
            "a padding value of the type i32",
        ),
        (
            "inner_dims_pos = [0] inner_tiles = [%c8]",
            "tensor<4x4xf32> -> tensor<?x4x?xf32>",
            "a tile of `%c8`",
        ),
        (
            "inner_dims_pos = [0] inner_tiles = [2]",
            "tensor<?x4xf32> -> tensor<?x4x2xf32>",
            "a size that is known at run time only",
        ),
        ("inner_tiles = [2]", "tensor<4x4xf32> -> tensor<2x4x2xf32>", "unexpected `into`"),
    ] {
        let text = pack(attributes, types);
        let error = dialect::read_one(&text).expect_err(&text);
        assert_eq!(error.found(), found, "{text}");
        assert!(error.span().is_some_and(|span| span.start > 0 && span.end <= text.len()), "{text}: {error}");
    }
}

#[test]
fn an_encoding_of_iree_that_is_resolved_has_places() {
    let encoded = |info: &str| {
        format!(
            "tensor<5x6xf32, #iree_encoding.layout<[#iree_cpu.cpu_encoding_resolver<configuration = {{encoding_info = {{{info}}}}}>]>>"
        )
    };
    let tiled = layout(&encoded("innerDimsPos = [1, 0], innerTileSizes = [4, 2], outerDimsPerm = [1, 0]"));
    for index in indices(&[5, 6]) {
        let [i, j] = index[..] else { unreachable!() };
        assert_eq!(tiled.offset(&index), Ok((j / 4 * 3 + i / 2) * 8 + j % 4 * 2 + i % 2));
    }
    assert_eq!(tiled.size(), 2 * 3 * 8);
    // The inner tile of 4 × 8 as (2 × 2) × (4 × 2), its parts in the order 0, 2, 1, 3.
    let swizzle = "swizzle = {expandShape = [[[\"CrossThread\", 2 : i16], [\"Internal\", 2]], [[\"CrossIntrinsic\", 4], \
                   [\"Internal\", 2]]], permutation = [0, 2, 1, 3]}";
    let swizzled = layout(&encoded(&format!(
        "innerDimsPos = [0, 1], innerTileSizes = [4, 8], outerDimsPerm = [0, 1], {swizzle}"
    )));
    for index in indices(&[5, 6]) {
        let [i, j] = index[..] else { unreachable!() };
        let (y, x) = (i % 4, j % 8);
        let within = ((y / 2 * 4 + x / 2) * 2 + y % 2) * 2 + x % 2;
        assert_eq!(swizzled.offset(&index), Ok(i / 4 * 32 + within));
    }
    for (text, why) in [
        (
            "tensor<4x4xf32, #iree_encoding.encoding<operand_index = 0 : index, op_type = matmul>>",
            "not resolved",
        ),
        (
            &encoded("innerDimsPos = [0], innerTileSizes = [-9223372036854775808], outerDimsPerm = [0, 1]"),
            "run time",
        ),
        (
            &encoded("innerDimsPos = [0], innerTileSizes = [8], scalableTiles = [true]"),
            "vector of the machine",
        ),
        (&encoded("innerDimsPos = [0, 2], innerTileSizes = [8, 8]"), "invalid inner_dims_pos"),
        (&encoded("innerDimsPos = [0], innerTileSizes = [8], padding = [8]"), "`padding` of an encoding"),
    ] {
        let said = read(text);
        let error = said.layout().expect_err(text);
        assert!(error.to_string().contains(why), "{text}: {error}");
    }
}

#[test]
fn a_layout_of_vectors_is_explained_and_has_no_places() {
    for text in [
        "#tpu.vpad<\"32,{0,0},(8,128)\">",
        "#tpu.vpad<\"16,{*,128},(16,128)\">",
        "#tpu.vpad<\"32,{0,*},(8,128),-1\">",
        "#tpu.vpad<\"8,{0,0},(32,128),-2,-1\">",
    ] {
        let said = read(text);
        assert_eq!(said.to_string(), text);
        assert!(said.layout().is_err_and(|error| error.to_string().contains("a register is no memory")));
        assert!(said.element().is_none() && said.open().is_some());
        assert!(said.parts(None).iter().all(|part| !part.meaning.is_empty()));
    }
    for (text, at) in [
        ("#tpu.vpad<\"none\">", 11),
        ("#tpu.vpad<\"7,{0,0},(8,128)\">", 11),
        ("#tpu.vpad<\"32,{0,0},(0,128)\">", 21),
        ("#tpu.vpad<\"32,{0,0},(8,128),-3\">", 28),
        ("#tpu.vpad<\"32,{0,0}\">", 19),
    ] {
        let error = dialect::read_one(text).expect_err(text);
        assert_eq!(error.span().map(|span| span.start), Some(at), "{text}: {error}");
    }
}

/// A packing, as dimensions, the dimensions that are split in their order, tiles, and an order.
fn packing() -> impl Strategy<Value = (Vec<u64>, Vec<usize>, Vec<u64>, Vec<usize>)> {
    (1..4_usize).prop_flat_map(|rank| {
        let dims = prop::collection::vec(1..12_u64, rank);
        let all: Vec<usize> = (0..rank).collect();
        let split = subsequence(all.clone(), 0..=rank).prop_shuffle();
        let tiles = prop::collection::vec(1..9_u64, rank);
        (dims, split, tiles, Just(all).prop_shuffle()).prop_map(|(dims, split, tiles, order)| {
            let tiles = tiles[..split.len()].to_vec();
            (dims, split, tiles, order)
        })
    })
}

proptest! {
    #[test]
    fn a_pack_puts_elements_where_its_definition_says((dims, split, tiles, order) in packing()) {
        let text = format!("f32{dims:?} outer_dims_perm = {order:?} inner_dims_pos = {split:?} inner_tiles = {tiles:?}");
        let layout = layout(&text);
        let tile = |dim: usize| split.iter().position(|&own| own == dim).map_or(1, |place| tiles[place]);
        for index in indices(&dims) {
            let outer = order.iter().map(|&dim| (index[dim] / tile(dim), dims[dim].div_ceil(tile(dim))));
            let inner = split.iter().map(|&dim| (index[dim] % tile(dim), tile(dim)));
            let offset = outer.chain(inner).fold(0, |offset, (value, size)| offset * size + value);
            prop_assert_eq!(layout.offset(&index), Ok(offset), "{}", text);
        }
        // What is said of it is the same, though often in fewer words.
        let said = say("pack", &layout);
        prop_assert!(!said.starts_with("no: "), "{}: {}", text, said);
    }

    #[test]
    fn tiles_of_mosaic_are_found_for_layouts_of_xla_in_row_major_order(mut recipe in recipe_with(false)) {
        recipe.minor_to_major.sort_unstable_by(|a, b| b.cmp(a));
        recipe.padded = None;
        let layout = recipe.build().unwrap();
        prop_assume!(layout.len() < 5000 && layout.to_digits().is_ok() && recipe.align == 1);
        let said = say("mosaic", &layout);
        let is_single = recipe.tiles.len() == 1 && recipe.tiles[0].len() <= recipe.dims.len();
        let combines = recipe.tiles.iter().flatten().any(Option::is_none);
        prop_assert!(!is_single || combines || !said.starts_with("no: "), "{:?}: {}", recipe, said);
    }
}
