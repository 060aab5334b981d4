//! XLA's messages in bytes, text format and JSON, against what XLA and protobuf themselves write.
//!
//! The table was made once with jaxlib 0.10.2: the bytes are those of its `Shape.to_serialized_proto()` (for `"by":
//! "protobuf"`, of a message that XLA's parser does not reach), text and JSON are protobuf's own, of the descriptors in
//! jaxlib.

use proptest::prelude::*;
use serde_json::Value;
use tilework::Error;
use tilework::xla::proto::{Format, Kind, MAX_BYTES, Message};
use tilework::xla::{Layout, OldProto, ProgramShape, Shape, Tile};

const FORMATS: [Format; 3] = [Format::Binary, Format::Text, Format::Json];

fn bytes(hex: &str) -> Vec<u8> {
    let digits: String = hex.split_whitespace().collect();
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn cases(file: &str) -> Vec<Value> {
    let path = format!("{}/tests/cases/{file}", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn sorted_lines(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines
}

#[test]
fn shapes_are_written_as_xla_and_protobuf_write_them() {
    let cases = cases("xla_proto.json");
    assert!(cases.len() > 45);
    for case in &cases {
        let text = case["shape"].as_str().unwrap();
        let proto = bytes(case["proto"].as_str().unwrap());
        // What XLA does not write, no shape here means: a physical shape. As messages these are like any other.
        let shape = (case["by"] == "XLA").then(|| Shape::parse(text).unwrap());
        let message = match &shape {
            Some(shape) => Message::of_shape(shape).unwrap(),
            None => Message::read(Kind::Shape, Format::Binary, &proto).unwrap(),
        };
        assert_eq!(hex(message.bytes()), case["proto"], "{text}");
        // Fields may stand in any order, so the lines are compared, and below what they say.
        let written = String::from_utf8(message.write(Format::Text).unwrap()).unwrap();
        assert_eq!(sorted_lines(&written), sorted_lines(case["text"].as_str().unwrap()), "{text}");
        let json: Value = serde_json::from_slice(&message.write(Format::Json).unwrap()).unwrap();
        assert_eq!(json, case["json"], "{text}");
        for (format, input) in [
            (Format::Binary, proto),
            (Format::Text, case["text"].as_str().unwrap().as_bytes().to_vec()),
            (Format::Json, case["json"].to_string().into_bytes()),
        ] {
            let read = Message::read(Kind::Shape, format, &input).unwrap();
            assert_eq!(read, message, "{text} from {format:?}");
            match &shape {
                Some(shape) => assert_eq!(&read.shape().unwrap(), shape, "{text} from {format:?}"),
                None => assert!(read.shape().unwrap_err().found().contains("physical shape"), "{text}"),
            }
        }
    }
}

#[test]
fn every_shape_among_xlas_own_cases_survives_every_notation() {
    let mut seen = 0;
    for case in cases("xla.json") {
        let canonical = case["expected"]["canonical"].as_str();
        for text in [case["input"].as_str(), canonical].into_iter().flatten() {
            let Ok(shape) = Shape::parse(text) else { continue };
            let Ok(message) = Message::of_shape(&shape) else { continue };
            seen += 1;
            for format in FORMATS {
                let read = Message::read(Kind::Shape, format, &message.write(format).unwrap()).unwrap();
                assert_eq!(read, message, "{text} in {format:?}");
                assert_eq!(read.shape().unwrap(), shape, "{text} in {format:?}");
            }
        }
    }
    assert!(seen > 80, "{seen} shapes");
}

#[test]
fn the_other_messages_survive_every_notation() {
    let array = Shape::parse("bf16[64,300]{1,0:T(8,128)(2,1)S(1)}").unwrap();
    let layout: Layout = array.as_array().unwrap().layout().unwrap().clone();
    let tile = Tile::new([8, 128]).unwrap();
    let parameters = vec![("x".to_owned(), array.clone()), (String::new(), Shape::Token)];
    let program = ProgramShape { parameters, result: Shape::nil() };
    let padded = Shape::parse("s32[2,3]{0,1:pad(3,5)=zero}").unwrap();
    let padding = padded.as_array().unwrap().layout().unwrap().clone();
    for format in FORMATS {
        let again = |message: Message| {
            Message::read(message.kind(), format, &message.write(format).unwrap()).unwrap()
        };
        assert_eq!(again(Message::of_layout(&layout).unwrap()).layout().unwrap(), layout);
        assert_eq!(again(Message::of_tile(&tile).unwrap()).tile().unwrap(), tile);
        assert_eq!(again(Message::of_program_shape(&program).unwrap()).program_shape().unwrap(), program);
        for version in [OldProto::V2017, OldProto::V2018] {
            assert_eq!(again(Message::of_old_shape(&padded, version).unwrap()).shape().unwrap(), padded);
            assert_eq!(again(Message::of_old_layout(&padding, version).unwrap()).layout().unwrap(), padding);
        }
    }
    assert!(Message::of_tile(&tile).unwrap().shape().is_err());
}

#[test]
fn the_worked_example_of_the_older_document_reads_in_every_notation() {
    let padded = Shape::parse("s32[2,3]{0,1:pad(3,5)=zero}").unwrap();
    let message = Message::of_old_shape(&padded, OldProto::V2017).unwrap();
    assert_eq!(hex(message.bytes()), "10041a0202032a0a0a020001120203051801");
    let text = "element_type: S32 dimensions: [2, 3] layout { minor_to_major: [0, 1] padded_dimensions: [3, 5] \
                padding_value: ZERO_PAD }";
    assert_eq!(Message::read(Kind::OldShape, Format::Text, text.as_bytes()).unwrap(), message);
    let json = r#"{"elementType": "S32", "dimensions": [2, "3"], "layout": {"minor_to_major": [0, 1],
        "paddedDimensions": ["3", "5"], "paddingValue": "ZERO_PAD"}}"#;
    assert_eq!(Message::read(Kind::OldShape, Format::Json, json.as_bytes()).unwrap(), message);
    assert_eq!(message.shape().unwrap(), padded);
}

#[test]
fn fields_of_the_future_survive_bytes_and_are_never_dropped_in_silence() {
    // Field 100 of the shape, of its layout and of an element inside a tuple.
    let input = bytes("100d 2213 100b 1a0102 2a09 0a0100 800101 a0062a 320100 a2060101");
    let message = Message::read(Kind::Shape, Format::Binary, &input).unwrap();
    assert_eq!(message.write(Format::Binary).unwrap(), input);
    assert_eq!(message.shape().unwrap(), Shape::parse("(f32[2])").unwrap());
    let text = String::from_utf8(message.write(Format::Text).unwrap()).unwrap();
    assert!(text.contains("100: 42"), "{text}");
    let error = message.write(Format::Json).unwrap_err();
    assert_eq!(error.found(), "fields that the schema does not know");
}

fn refused(kind: Kind, format: Format, input: &[u8]) -> Error {
    Message::read(kind, format, input).and_then(|message| message.shape()).expect_err("refused")
}

#[test]
fn what_is_wrong_in_a_text_is_named_with_its_place() {
    for (text, span, found) in [
        ("element_type: F32 dimensoins: 3", Some(18..28), "unknown field dimensoins"),
        ("element_type: F33", Some(14..17), "unknown enum value F33"),
        ("element_type: F32\ndimensions: x", Some(30..31), "unexpected token, expected number"),
        ("element_type: F32 layout { ", Some(27..27), "unexpected end of input"),
    ] {
        let error = refused(Kind::Shape, Format::Text, text.as_bytes());
        assert_eq!((error.span(), error.found()), (span, found), "{text}");
    }
    for (text, found) in [
        ("{\"elementType\":\"F32\",\"dimensoins\":[3]}", "unknown field `dimensoins`"),
        ("{\"elementType\":\"F33\"}", "invalid value: string \"F33\""),
        ("{\"elementType\":\"F32\",\n \"dimensions\":[true]}", "invalid type: boolean `true`"),
        ("{", "EOF while parsing an object"),
        ("", "EOF while parsing a value"),
    ] {
        let error = refused(Kind::Shape, Format::Json, text.as_bytes());
        assert!(error.found().starts_with(found), "{text}: {error}");
        assert!(error.span().is_some_and(|span| span.end <= text.len()), "{text}: {error}");
    }
    // What the values mean is wrong in no place of the text, and the message has a name.
    let error = refused(Kind::Shape, Format::Text, b"element_type: F32 dimensions: -2");
    assert_eq!(error.field_name(), Some("ShapeProto"));
    assert!(error.found().starts_with("dimensions: size -2 of dimension 0"), "{error}");
    let error = refused(Kind::Shape, Format::Text, b"\xff");
    assert_eq!((error.span(), error.found()), (Some(0..1), "bytes that are not text"));
    // Bytes have the reader that knows the place.
    let error = refused(Kind::Shape, Format::Binary, &bytes("100b 1a05 0102"));
    assert_eq!((error.span(), error.found()), (Some(4..6), "dimensions: 5 bytes, but 2 are left"));
}

#[test]
fn hostile_input_is_bounded() {
    let deep = |inner: usize| "tuple_shapes { ".repeat(inner) + &"} ".repeat(inner);
    assert!(Message::read(Kind::Shape, Format::Text, deep(80).as_bytes()).is_ok());
    assert!(Message::read(Kind::Shape, Format::Text, deep(100_000).as_bytes()).is_err());
    let json = "{\"tupleShapes\":[".repeat(100_000);
    assert!(Message::read(Kind::Shape, Format::Json, json.as_bytes()).is_err());
    let nested = (0..128).fold(Shape::nil(), |inner, _| Shape::tuple([inner]));
    let message = Message::of_shape(&nested).unwrap();
    assert_eq!(message.shape().unwrap(), nested);
    assert!(message.write(Format::Text).is_ok());
    assert!(message.write(Format::Json).unwrap_err().found().starts_with("shapes too deep"));
    for format in FORMATS {
        let long = vec![b' '; MAX_BYTES + 1];
        assert!(Message::read(Kind::Shape, format, &long).unwrap_err().found().starts_with("a message of"));
    }
    // As many empty tuples as fit: two bytes each, a hundred in memory.
    let many = [0x22, 0x00].repeat(MAX_BYTES / 2);
    assert!(Message::read(Kind::Shape, Format::Binary, &many).is_err());
}

proptest! {
    #[test]
    fn any_input_is_a_message_or_an_error(input in prop::collection::vec(any::<u8>(), 0..60), kind in 0..6usize) {
        let kinds =
            [Kind::Shape, Kind::Layout, Kind::Tile, Kind::ProgramShape, Kind::OldShape, Kind::OldLayout];
        for format in FORMATS {
            if let Ok(message) = Message::read(kinds[kind], format, &input) {
                let _ = (message.shape(), message.layout(), message.tile(), message.program_shape());
                for format in FORMATS {
                    let _ = message.write(format);
                }
            }
        }
    }

    #[test]
    fn a_changed_message_is_a_message_or_an_error_with_a_place(
        case in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        format in 0..3usize,
    ) {
        thread_local!(static CASES: Vec<Value> = cases("xla_proto.json"));
        let mut input = CASES.with(|cases| {
            let case = case.get(cases);
            match FORMATS[format] {
                Format::Binary => bytes(case["proto"].as_str().unwrap()),
                Format::Text => case["text"].as_str().unwrap().as_bytes().to_vec(),
                Format::Json => case["json"].to_string().into_bytes(),
            }
        });
        for (at, byte) in changes {
            let at = at.index(input.len());
            input[at] = byte;
        }
        match Message::read(Kind::Shape, FORMATS[format], &input) {
            Err(error) => prop_assert!(error.span().is_some_and(|span| span.end <= input.len()), "{error}"),
            Ok(message) => {
                // Bytes stay, and what one notation says the other says too.
                let Ok(shape) = message.shape() else { return Ok(()) };
                let text = message.write(Format::Text).unwrap();
                if let Ok(again) = Message::read(Kind::Shape, Format::Text, &text) {
                    prop_assert_eq!(again.shape().unwrap(), shape);
                }
            }
        }
    }
}
