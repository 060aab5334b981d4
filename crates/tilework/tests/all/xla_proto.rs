//! XLA's messages, byte for byte.

use crate::common::xla_reader::{array, cases, layout, shape, try_shape};
use proptest::prelude::*;
use tilework::Error;
use tilework::{
    Element,
    xla::{
        ArrayShape, Dim, Layout, OldProto, Padding, PaddingValue, ProgramShape, Shape, SplitConfig, Strides,
        Tile, TileDim,
    },
};

fn bytes(hex: &str) -> Vec<u8> {
    let digits: String = hex.split_whitespace().collect();
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn the_bytes_are_those_of_xla_and_come_back() {
    let (mut valid, mut refused) = (0, 0);
    for case in cases(&["oracle_parse", "oracle_parse_sparse_era"]) {
        let Some(proto) = case["expected"]["proto_hex"].as_str() else { continue };
        let canonical = case["expected"]["canonical"].as_str().unwrap();
        match try_shape(canonical) {
            Some(shape) if proto != METADATA_OF_MINUS_ONE => {
                valid += 1;
                assert_eq!(hex(&shape.to_proto().unwrap()), proto, "{canonical}");
                assert_eq!(Shape::from_proto(&bytes(proto)).unwrap(), shape, "{canonical}");
                if let Some(expected) = case["expected"]["byte_size_of"].as_u64() {
                    assert_eq!(shape.byte_size_of(None).unwrap(), expected, "{canonical}");
                }
            }
            // Sparse dimensions are skipped, as in today's XLA.
            _ if canonical.contains(":D(") => {
                let read = Shape::from_proto(&bytes(proto)).unwrap();
                assert_eq!(read.as_array().unwrap().dims(), [Dim::Static(2), Dim::Static(3)]);
            }
            // What XLA lets through and Tilework does not: T(), E and M below 0, S above 127, {1,1}, T(2,*) and so on.
            _ => {
                refused += 1;
                let error = Shape::from_proto(&bytes(proto)).unwrap_err();
                assert!(error.span().is_some(), "{canonical}: {error}");
            }
        }
    }
    assert!(valid > 40 && refused > 5, "{valid} valid, {refused} refused");
}

/// `f32[2]{0:M(-1)}` prints without its `M`.
const METADATA_OF_MINUS_ONE: &str = "100b1a01022a110a010078ffffffffffffffffff01800101320100";

#[test]
fn layouts_of_xlas_own_test_and_the_documented_bytes_come_back() {
    for case in cases(&["layout_proto_roundtrip"]) {
        // One of them is split at 0, which XLA's own validation refuses.
        let layout = layout(&case["input"].as_str().unwrap().replace("(1:0,4)", "(1:4)"));
        assert_eq!(Layout::from_proto(&layout.to_proto().unwrap()).unwrap(), layout);
    }
    for (text, expected) in [
        ("f32[]", "100b2a03800101"),
        ("f32[2,3]{1,0}", "100b1a0202032a070a02010080010132020000"),
        ("token[]", "1011"),
        ("opaque[]", "100e"),
        ("()", "100d"),
        ("b(f32[2])", "1022 2210 100b1a01022a060a0100800101320100"),
        ("f32[?]", "100b 1a0a80808080808080808001 2a060a0100800101 320101"),
        ("f32[2] (no layout)", "100b1a0102320100"),
    ] {
        assert_eq!(hex(&shape(text).to_proto().unwrap()), hex(&bytes(expected)), "{text}");
        assert_eq!(Shape::from_proto(&bytes(expected)).unwrap(), shape(text), "{text}");
    }
}

#[test]
fn readers_take_any_order_packed_or_not_merged_and_with_fields_they_do_not_know() {
    let expected = shape("f32[2,3]{0,1:T(8,128)L(4)}");
    for (why, text) in [
        ("in any order", "32020000 2a0e 800104 32050a03088001 0a020001 1a020203 100b"),
        ("one by one", "100b 1802 1803 2a0e 0800 0801 320508080880 01 800104 3000 3000"),
        ("the last scalar", "1001 100b 1a020203 2a11 0a020001 32050a03088001 800102 800104"),
        ("merged", "100b 1a020203 2a04 0a020001 2a07 32050a03088001 2a03 800104"),
        ("lists in pieces", "100b 1802 1a0103 2a10 0800 0a0101 32060808 0a028001 800104"),
        (
            "unknown",
            "a006 07 a2060101 a506 01020304 a106 0102030405060708 a306 0801 ab06 ac06 a406
                     100b 1a020203 2a0e 0a020001 32050a03088001 800104",
        ),
        ("the rank", "0863 100b 1a020203 2a0e 0a020001 32050a03088001 800104"),
        ("reserved", "100b 1a020203 2a18 0a020001 12020305 1801 2002 2807 32050a03088001 800104"),
    ] {
        let bytes = bytes(text);
        assert_eq!(
            Shape::from_proto(&bytes).map_err(|error| error.to_string()),
            Ok(expected.clone()),
            "{why}"
        );
    }
    // A number may have more bytes than it needs, and no tail padding is a tail padding of 1.
    assert_eq!(Shape::from_proto(&bytes("108b8000")).unwrap(), shape("f32[] (no layout)"));
    assert_eq!(Shape::from_proto(&bytes("100b2a00")).unwrap(), shape("f32[]"));
}

fn refused(text: &str) -> Error {
    Shape::from_proto(&bytes(text)).expect_err(text)
}

#[test]
fn what_is_wrong_with_the_bytes_is_named_with_its_place() {
    for (text, expected) in [
        (
            "10",
            "at byte 1: element_type: a number that the end of the bytes cuts off; a number ends with a byte below 128",
        ),
        ("100b 1a05 0102", "at byte 4: dimensions: 5 bytes, but 2 are left; a field ends inside its message"),
        (
            "100b 1affffffffffffffffff01",
            "at byte 13: dimensions: 18446744073709551615 bytes, but 0 are left; a field ends inside its message",
        ),
        (
            "10ffffffffffffffffff02",
            "at byte 1: element_type: a number of more than 64 bits; a number has at most ten bytes, and the tenth is 0 or 1",
        ),
        ("12010b", "at byte 0: element_type: wire type 2 in field 2; the field holds a number"),
        ("100b 2805", "at byte 2: layout: wire type 0 in field 5; the field holds a message"),
        ("100b 1d01020304", "at byte 2: dimensions: wire type 5 in field 3; the field holds numbers"),
        (
            "0001",
            "at byte 0: shape: field number 0; the bytes are not a message here; accepted: field numbers from 1 to 536870911",
        ),
        (
            "17",
            "at byte 0: element_type: wire type 7; the bytes are not a message here; accepted: wire types 0 to 5",
        ),
        ("a406", "at byte 0: unknown field: the end of group 100; no such group was begun"),
        ("1063", "at byte 0: element_type: type number 99; a shape has an element type; accepted: 1 to 36"),
        ("1a0102", "at byte 0: element_type: type number 0; a shape has an element type; accepted: 1 to 36"),
        (
            "100b 1a0afeffffffffffffffff01",
            "at byte 4: dimensions: size -2 of dimension 0; a size is not negative, except -2^63 for an unbounded dimension that is dynamic",
        ),
        (
            "100b 1a0102 32020001",
            "at byte 7: is_dynamic_dimension: 2 numbers for 1 dimension; every dimension is said to be dynamic or not; accepted: none, or 1 number",
        ),
        ("1011 1a0102", "at byte 4: shape: dimensions of type token; only arrays have dimensions"),
        ("1011 2a00", "at byte 4: shape: a layout of type token; only arrays have a layout"),
        (
            "1011 22021011",
            "at byte 0: tuple_shapes: shapes inside type token; only tuples and buffers hold shapes",
        ),
        (
            "100b 22021011",
            "at byte 0: tuple_shapes: shapes inside an array of f32; only tuples and buffers hold shapes",
        ),
        (
            "1022 22021011",
            "at byte 0: tuple_shapes: a buffer without its array; a buffer holds exactly one array",
        ),
        (
            "100b 1a0102 2a03 0a0105",
            "at byte 7: minor_to_major: dimension 5 in minor_to_major of 1 dimension; minor_to_major names every dimension exactly once; accepted: 0",
        ),
        (
            "100b 1a0102 2a00",
            "at byte 7: minor_to_major: the layout has 0 dimensions, the shape has 1; minor_to_major has one number for each dimension; accepted: a permutation of 0",
        ),
    ] {
        let error = refused(text);
        assert_eq!(error.to_string(), expected, "{text}");
    }
    let layouts = [
        ("8001ffffffffffffffffff01", "tail_padding_alignment_in_elements: -1"),
        ("38ffffffffffffffffff01", "element_size_in_bits: -1 bits"),
        ("388080808010", "element_size_in_bits: 4294967296 bits"),
        ("40ac02", "memory_space: memory space 300"),
        ("78ffffffffffffffffff01", "dynamic_shape_metadata_prefix_bytes: -1"),
        ("320c0a0affffffffffffffffff01", "tiles.dimensions: -1"),
        ("3200", "tiles: a tile without sizes"),
        ("32030a0100", "tiles: tile size 0"),
        ("8a01020805", "split_configs: split config of physical dimension 5"),
        ("580b", "index_primitive_type: f32 is not an integer type"),
        ("6063", "pointer_primitive_type: type number 99"),
        ("5203100b1a", "physical_shape.dimensions: "),
    ];
    for (text, expected) in layouts {
        let error = Layout::from_proto(&bytes(text)).expect_err(text);
        assert!(error.found().starts_with(expected) && error.span().is_some(), "{text}: {error}");
    }
}

#[test]
fn nesting_has_an_end() {
    let nested = |depth: usize| (0..depth).fold(shape("f32[2]"), |inner, _| Shape::tuple([inner]));
    assert_eq!(Shape::from_proto(&nested(128).to_proto().unwrap()).unwrap(), nested(128));
    assert!(nested(129).to_proto().is_err());
    let mut deep = nested(128).to_proto().unwrap();
    for _ in 0..2_000 {
        let mut outer = vec![0x10, 0x0d, 0x22];
        let mut length = deep.len();
        while length >= 0x80 {
            outer.push(length as u8 | 0x80);
            length >>= 7;
        }
        outer.push(length as u8);
        outer.extend(deep);
        deep = outer;
    }
    let error = Shape::from_proto(&deep).unwrap_err();
    assert_eq!(error.found(), "tuple_shapes.tuple_shapes: more than 128 shapes inside each other");
    // Groups in fields that nobody knows are not entered.
    let mut groups = vec![0x10, 0x0b];
    groups.extend([0xa3, 0x06].repeat(100_000));
    groups.extend([0xa4, 0x06].repeat(100_000));
    assert!(Shape::from_proto(&groups).is_ok());
    assert!(Shape::from_proto(&groups[..groups.len() - 2]).is_err());
    assert!(Shape::from_proto(&bytes("100b a306 ac06")).is_err());
}

#[test]
fn tileworks_own_words_have_no_field_in_todays_message() {
    let strides = Layout::strided(Strides { strides: vec![5, 1], base: None, size: None }).unwrap();
    assert_eq!(strides.to_proto().unwrap_err().field_name(), Some("strides"));
    assert_eq!(strides.to_old_proto(OldProto::V2018).unwrap_err().field_name(), Some("strides"));
    let padding = Padding { padded_dimensions: vec![3, 5], value: PaddingValue::Zero };
    let padded = Layout::new([0, 1]).unwrap().with_padding(Some(padding)).unwrap();
    assert_eq!(padded.to_proto().unwrap_err().field_name(), Some("padded_dimensions"));
    assert!(Shape::tuple([Shape::Array(array("f32[2,3]").with_layout(padded).unwrap())]).to_proto().is_err());
}

#[test]
fn the_older_messages_have_padding_and_refuse_what_came_later() {
    let padding = Padding { padded_dimensions: vec![3, 5], value: PaddingValue::Lowest };
    let padded = Layout::new([0, 1]).unwrap().with_padding(Some(padding)).unwrap();
    let padded = Shape::tuple([Shape::Array(array("f32[2,3]").with_layout(padded).unwrap()), Shape::Opaque]);
    let expected = "100d 2212 100b 1a020203 2a0a 0a020001 12020305 1803 2202100e";
    assert_eq!(hex(&padded.to_old_proto(OldProto::V2017).unwrap()), hex(&bytes(expected)));
    let expected = "100d 2214 100b 1a020203 2a0c 0a020001 12020305 1803 2001 2202100e";
    assert_eq!(hex(&padded.to_old_proto(OldProto::V2018).unwrap()), hex(&bytes(expected)));
    assert_eq!(Shape::from_old_proto(&bytes(expected)).unwrap(), padded);
    // Without a list there is no padding, and today's reader skips the padding.
    let plain = shape("f32[2,3]{0,1}");
    assert_eq!(Shape::from_old_proto(&bytes("0802 100b 1a020203 2a06 0a020001 1801")).unwrap(), plain);
    // A rank of 0 is one that nobody wrote.
    assert_eq!(Shape::from_old_proto(&bytes("0800 100b 1a020203 2a06 0a020001 1801")).unwrap(), plain);
    assert_eq!(Shape::from_proto(&bytes("100b 1a020203 2a0c 0a020001 12020305 1803 2001")).unwrap(), plain);
    for (text, expected) in [
        ("0803 100b 1a020203", "rank: rank 3 of 2 sizes"),
        ("1013 1a0102", "element_type: type number 19"),
        ("100b 1a0102 320100", "is_dynamic_dimension: a field of today's ShapeProto"),
        ("100b 1a0102 2a08 0a0100 32030a0108", "tiles: a field of today's LayoutProto"),
        ("100b 1a0102 2a05 0a0100 2002", "format: format 2"),
        ("100b 1a0102 2a05 0a0100 1809", "padding_value: padding value 9"),
        ("100b 1a0102 2a06 0a0100 120101", "padded_dimensions: dimension 0 is 2, padded to only 1"),
        ("100b 1a0102 2a07 0a0100 12020303", "padded_dimensions: 2 padded dimensions, but the layout has 1"),
    ] {
        let error = Shape::from_old_proto(&bytes(text)).expect_err(text);
        assert!(error.found().starts_with(expected) && error.span().is_some(), "{text}: {error}");
    }
    for text in ["f32[2]{0:T(8)}", "f32[2]{0:S(1)}", "f32[<=2]", "s4[2]", "b(f32[2])", "(f32[2]{0:L(8)})"] {
        assert!(shape(text).to_old_proto(OldProto::V2018).is_err(), "{text}");
    }
}

#[test]
fn program_shapes_have_named_parameters_and_a_result() {
    let parameters = [("x".to_owned(), shape("f32[]")), (String::new(), Shape::Token)];
    let proto = ProgramShape { parameters: parameters.to_vec(), result: Shape::nil() }.to_proto().unwrap();
    assert_eq!(hex(&proto), hex(&bytes("0a07 100b2a03800101 0a02 1011 1202 100d 1a01 78 1a00")));
    assert_eq!(
        ProgramShape::from_proto(&proto).unwrap(),
        ProgramShape { parameters: parameters.to_vec(), result: Shape::nil() }
    );
    let unnamed = ProgramShape::from_proto(&bytes("0a021011 1202100d")).unwrap();
    assert_eq!(unnamed.parameters, [(String::new(), Shape::Token)]);
    for (text, expected) in [
        ("0a021011", "result: no result"),
        ("1202100d 1a0178", "parameter_names: 1 names of 0 parameters"),
        ("0a021011 1202100d 1a01ff", "parameter_names: bytes that are not text"),
        ("0a011a 1202100d", "parameters.dimensions: a number that the end"),
    ] {
        let error = ProgramShape::from_proto(&bytes(text)).expect_err(text);
        assert!(error.found().starts_with(expected) && error.span().is_some(), "{text}: {error}");
    }
}

fn dims() -> impl Strategy<Value = Vec<Dim>> {
    let dim = prop_oneof![
        (0..200u64).prop_map(Dim::Static),
        (0..9u64).prop_map(Dim::Bounded),
        Just(Dim::Unbounded)
    ];
    prop::collection::vec(dim, 0..5)
}

fn arrays() -> impl Strategy<Value = ArrayShape> {
    let elements: Vec<Element> = Element::all().collect();
    let tile_dim = prop_oneof![4 => (1..300u64).prop_map(TileDim::Size), 1 => Just(TileDim::Combine)];
    let tile = (prop::collection::vec(tile_dim, 0..3), 1..200u64).prop_map(|(mut dims, last)| {
        dims.push(TileDim::Size(last));
        Tile::from_dims(dims).unwrap()
    });
    let numbers = (0..300u32, 0..=127u64, 1..1u64 << 62, 0..1u64 << 62);
    let rest = (prop::option::of(prop::collection::vec(tile, 0..3)), numbers, any::<u64>());
    (prop::sample::select(elements), dims(), rest).prop_map(|(element, dims, (tiles, numbers, seed))| {
        let array = ArrayShape::new(element, dims).unwrap();
        let Some(tiles) = tiles else { return array.without_layout() };
        let rank = array.rank();
        let turned = (0..rank).map(|dim| (dim + seed as usize % 7) % rank.max(1));
        let sparse = (seed % 4 == 0).then_some(Element::U32);
        let layout = Layout::new(turned).and_then(|layout| layout.with_tiles(tiles)).unwrap();
        let layout = layout.with_element_size_in_bits(numbers.0);
        let config = |physical: usize| SplitConfig {
            dimension: physical as u64,
            split_indices: (1..array.dims()[layout.major(physical)].bound().unwrap_or(1).min(seed % 5))
                .collect(),
        };
        let configs: Vec<_> = (0..rank).filter(|dim| seed >> (10 + dim) & 3 == 0).map(config).collect();
        let layout = layout.with_memory_space(numbers.1).unwrap().with_split_configs(configs).unwrap();
        let layout = layout
            .with_tail_padding_alignment_in_elements(numbers.2 >> (seed % 63))
            .or_else(|_| Layout::new((0..rank).rev()));
        let layout = layout.unwrap().with_sparse_types(sparse, None).unwrap();
        let layout = layout.with_dynamic_shape_metadata_prefix_bytes(numbers.3 >> (seed % 62)).unwrap();
        array.with_layout(layout).unwrap()
    })
}

fn shapes() -> impl Strategy<Value = Shape> {
    let leaf = prop_oneof![
        6 => arrays().prop_map(Shape::Array),
        1 => arrays().prop_map(Shape::Buffer),
        1 => Just(Shape::Token),
        1 => Just(Shape::Opaque)
    ];
    leaf.prop_recursive(4, 20, 4, |inner| prop::collection::vec(inner, 0..4).prop_map(Shape::Tuple))
}

proptest! {
    #[test]
    fn every_shape_comes_back_from_its_message(shape in shapes()) {
        let bytes = shape.to_proto().unwrap();
        prop_assert_eq!(Shape::from_proto(&bytes).unwrap(), shape);
    }

    #[test]
    fn any_bytes_are_a_shape_or_an_error_with_a_place(
        shape in shapes(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = shape.to_proto().unwrap();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes.truncate(cut.index(2 * bytes.len()) + 1);
        match Shape::from_proto(&bytes) {
            // What is read can be written and read again.
            Ok(read) => prop_assert_eq!(Shape::from_proto(&read.to_proto().unwrap()).unwrap(), read),
            Err(error) => prop_assert!(error.span().is_some_and(|span| span.end <= bytes.len()), "{error}"),
        }
        if let Err(error) = Shape::from_old_proto(&bytes) {
            prop_assert!(error.span().is_some_and(|span| span.end <= bytes.len()), "{error}");
        }
    }
}
