//! Reading and writing shapes and layouts, on XLA's own cases.

use serde_json::Value;
use tilework::{
    Element,
    xla::{
        ArrayShape, Layout, Padding, PaddingValue, PrimitiveType, ProgramShape, Shape, Strides, Tile, TileDim,
    },
};

fn cases(file: &str, key: &str, group: &str) -> Vec<Value> {
    let path = format!("{}/tests/cases/{file}.json", env!("CARGO_MANIFEST_DIR"));
    let all: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let found: Vec<Value> = all.into_iter().filter(|case| case[key] == group).collect();
    assert!(!found.is_empty(), "no cases of {group}");
    found
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is not a text"))
}

fn numbers(value: &Value) -> Vec<u64> {
    value.as_array().map_or(Vec::new(), |list| list.iter().map(|number| number.as_u64().unwrap()).collect())
}

fn number(value: &Value, default: u64) -> u64 {
    value.as_u64().unwrap_or(default)
}

/// The piece of the text that the error points at.
#[track_caller]
fn blamed(text: &str) -> String {
    let error = Shape::parse(text).expect_err(text);
    text[error.span().unwrap_or_else(|| panic!("{text}: {error} has no place"))].to_owned()
}

fn layout_of_fields(fields: &Value) -> tilework::Result<Layout> {
    let order = numbers(&fields["minor_to_major"]);
    let tiles = fields["tiles"].as_array().map_or(Vec::new(), |tiles| tiles.iter().map(numbers).collect());
    let tiles: Vec<Tile> = tiles.into_iter().map(|tile| Tile::new(tile).unwrap()).collect();
    let kind = |field: &str| fields[field].as_str().and_then(Element::from_name);
    Layout::new(order.into_iter().map(|dim| dim as usize))?
        .with_tiles(tiles)?
        .with_tail_padding_alignment_in_elements(number(&fields["tail_padding_alignment_in_elements"], 1))?
        .with_element_size_in_bits(number(&fields["element_size_in_bits"], 0) as u32)
        .with_sparse_types(kind("index_primitive_type"), kind("pointer_primitive_type"))?
        .with_dynamic_shape_metadata_prefix_bytes(number(&fields["dynamic_shape_metadata_prefix_bytes"], 0))
}

#[test]
fn layouts_print_as_xla_prints_them() {
    for case in cases("xla", "group", "layout_print") {
        let (fields, expected) = (&case["input"], text(&case["expected"]));
        if !fields["dim_level_types"].is_null() {
            assert!(!Layout::parse(expected).unwrap().to_string().contains("D("), "{expected}");
            continue;
        }
        if expected == "{4,5,6}" {
            // XLA prints any numbers; such a layout cannot be made here.
            assert!(layout_of_fields(fields).is_err());
            continue;
        }
        let layout = layout_of_fields(fields).expect(expected);
        assert_eq!(layout.to_string(), expected);
        assert_eq!(Layout::parse(expected).unwrap(), layout);
    }
}

#[test]
fn shapes_print_as_xla_prints_them_with_and_without_layouts() {
    for case in cases("xla", "group", "shape_print") {
        let (input, expected) = (text(&case["input"]), text(&case["expected"]));
        let shape = Shape::parse(input).unwrap();
        let printed = match text(&case["op"]).contains("print_layout=false") {
            true => shape.human_string().to_string(),
            false => shape.to_string(),
        };
        assert_eq!(printed, expected);
    }
}

#[test]
fn jax_layouts_print_as_jax_prints_them() {
    for case in cases("algebra", "kind", "jax_layout") {
        let major_to_minor = numbers(&case["input"]["major_to_minor"]);
        let tiles = case["input"]["tiling"].as_array().cloned().unwrap_or_default();
        let layout = Layout::new(major_to_minor.into_iter().rev().map(|dim| dim as usize))
            .unwrap()
            .with_tiles(tiles.iter().map(|tile| Tile::new(numbers(tile)).unwrap()))
            .unwrap();
        assert_eq!(layout.to_string(), text(&case["expect"]));
        assert_eq!(Layout::parse(text(&case["expect"])).unwrap(), layout);
    }
}

#[test]
fn what_xla_reads_is_read_and_printed_the_same() {
    for case in cases("xla", "group", "parse_valid") {
        let (input, expected) = (text(&case["input"]), text(&case["expected"]));
        assert_eq!(Shape::parse(input).unwrap().to_string(), expected);
        assert_eq!(Shape::parse_strict_xla(input).unwrap().to_string(), expected);
    }
}

#[test]
fn what_xla_read_in_2018_is_read() {
    for case in cases("xla", "group", "parse_old") {
        let input = text(&case["input"]);
        match &case["expected"] {
            Value::String(expected) => assert_eq!(Shape::parse(input).unwrap().to_string(), *expected),
            _ => assert!(Shape::parse(input).is_err(), "{input}"),
        }
    }
}

/// What XLA's parser accepts although its own validation then refuses it, or although it means something else than it
/// says, and the piece that is wrong. The cases record what XLA does.
const ACCIDENTS: [(&str, &str); 11] = [
    ("f32[2]{0:S(128)}", "128"),                                  // becomes S(-128)
    ("f32[2]{0:M(-1)}", "-1"),                                    // kept, and not printed
    ("f32[2]{0:SC(5:1)}", "5:1"),                                 // refused by validation
    ("f32[2]{0:#(f32)}", "f32"),                                  // becomes #(invalid)
    ("f32[2]{0:T(2)(}", "}"),                                     // becomes T(2)()
    ("f32[2]{0:T()}", "()"),                                      // refused by validation
    ("f32[2,3]{1,1}", "1"),                                       // refused by validation
    ("f32[2,2]{1,0:T(2,2}", "}"),                                 // becomes T(2,2)
    ("f32[2]{0:T(**)}", "*"),                                     // becomes T(*)
    ("f32[2]{0:T(2,*)}", "*"),                                    // crosses no proto
    ("f32[9223372036854775807,2]{1,0}", "9223372036854775807,2"), // its bytes wrap around
];

#[test]
fn the_parser_answers_as_xla_where_xla_is_right() {
    for case in cases("xla", "group", "oracle_parse") {
        let (input, expected) = (text(&case["input"]), &case["expected"]);
        let read = Shape::parse(input);
        let strict = Shape::parse_strict_xla(input);
        if let Some((_, wrong)) = ACCIDENTS.iter().find(|row| row.0 == input) {
            assert_eq!(expected["ok"], true, "{input} is no accident of XLA's");
            assert_eq!(blamed(input), *wrong, "{input}");
            assert!(strict.is_err());
        } else if expected["ok"] == true {
            let shape = read.unwrap_or_else(|error| panic!("{}", error.report(input)));
            assert_eq!(shape.to_string(), text(&expected["canonical"]));
            if let Some(human) = expected["human_string"].as_str() {
                assert_eq!(shape.human_string().to_string(), human);
            }
            assert_eq!(strict.unwrap(), shape);
            if let Some(array) = shape.as_array() {
                let dims: Vec<u64> = array.dims().iter().map(|dim| dim.bound().unwrap()).collect();
                assert_eq!(dims, numbers(&expected["dims"]));
                let order: Vec<u64> =
                    array.layout().unwrap().minor_to_major().iter().map(|&dim| dim as u64).collect();
                assert_eq!(order, numbers(&expected["minor_to_major"]));
                assert_eq!(
                    PrimitiveType::from(array.element_type()).number(),
                    expected["element_type"].as_i64().unwrap() as i32
                );
            }
        } else {
            // An error or an abort of XLA's: always a located error here.
            assert!(read.expect_err(input).span().is_some(), "{input}");
            assert!(strict.expect_err(input).span().is_some(), "{input}");
        }
    }
}

#[test]
fn what_aborts_xla_points_at_the_word_that_does_it() {
    let aborts: Vec<Value> = cases("xla", "group", "oracle_parse")
        .into_iter()
        .filter(|case| !case["expected"]["crash"].is_null())
        .collect();
    assert_eq!(aborts.len(), 3);
    for (text, wrong) in [
        ("f32[2]{0:L(0)}", "0"),
        ("f32[2]{0:L(-1)}", "-1"),
        ("f32[2]{0:T(-2)}", "-2"),
        ("f32[2]{0:T(-9223372036854775808,2)}", "-9223372036854775808"),
        ("token[2]", "2"),
        ("token[]{0}", "{0}"),
        ("opaque[3]", "3"),
        ("opaque[3,4]", "3,4"),
    ] {
        assert_eq!(blamed(text), wrong, "{text}");
    }
}

#[test]
fn dimension_levels_of_2023_to_2025_are_read_and_forgotten() {
    for case in cases("xla", "group", "oracle_parse_sparse_era") {
        let input = text(&case["input"]);
        match Shape::parse(input) {
            Ok(shape) => assert!(!shape.to_string().contains("D("), "{input}"),
            Err(error) => {
                assert!(case["expected"]["ok"] == false || blamed(input) == "P", "{error} in {input}")
            }
        }
    }
    for levels in ["D,D", "D,C", "C,S", "D,H", "C+,S+~", "D~,D+", "D", "D,D,D", ""] {
        for strict in [Shape::parse, Shape::parse_strict_xla] {
            let text = format!("f32[2,3]{{1,0:D({levels})T(2,2)}}");
            assert_eq!(strict(&text).unwrap().to_string(), "f32[2,3]{1,0:T(2,2)}", "{text}");
        }
    }
    for (text, wrong) in [
        ("f32[2,3]{1,0:D(D,C~+)}", "+"),
        ("f32[2]{0:D(d)}", "d"),
        ("f32[2]{0:D(1)}", "1"),
        ("f32[2]{0:D}", "}"),
    ] {
        assert_eq!(blamed(text), wrong, "{text}");
    }
}

#[test]
fn hlo_texts_are_read_as_xla_reads_them() {
    for case in cases("algebra", "kind", "xla_syntax") {
        let (input, expect) = (text(&case["input"]["hlo"]), &case["expect"]);
        let strict = Shape::parse_strict_xla(input);
        // Accepted by accident: a split past the end, duplicate dimensions, a `*` at the end, an overflow.
        let accident = ACCIDENTS.iter().any(|row| row.0 == input)
            || ["f32[4,6]{1,0:SC(0:2,4)}", "f32[4,6]{1,1}", "f32[4,6]{1,0:T(2,*)}", "f32[4,6]{1,0:T(*,*)}"]
                .contains(&input);
        if expect["accepts"] == true && !accident {
            assert_eq!(strict.unwrap().to_string(), text(&expect["prints"]));
        } else {
            assert!(strict.expect_err(input).span().is_some());
        }
    }
}

#[test]
fn layouts_are_read_by_themselves() {
    for case in cases("xla", "group", "native_edge").iter().filter(|case| case["op"] == "ParseLayout") {
        let input = text(&case["input"][0]);
        match case["expected"]["result"].as_str() {
            Some(printed) => assert_eq!(Layout::parse(input).unwrap().to_string(), printed),
            None => assert_eq!(Layout::parse(input).unwrap_err().span(), Some(0..0)),
        }
    }
    let physical = Layout::parse("{0:P((f32[2,3]{0,1}, s32[]))M(4)}").unwrap();
    assert_eq!(physical.to_string(), "{0:P((f32[2,3]{0,1}, s32[]))M(4)}");
    assert!(physical.physical_shape().is_some());
    // An array cannot have it, so whatever an array has reads back.
    let array = ArrayShape::new(Element::F32, [2]).unwrap();
    assert_eq!(array.with_layout(physical).unwrap_err().field_name(), Some("physical_shape"));
    assert_eq!("{}".parse::<Layout>().unwrap(), Layout::descending(0));
    for bad in ["{0", "{0}}", "{0}x", "0", "{1}", "{0,0}", "{0:Q(1)}"] {
        assert!(Layout::parse(bad).unwrap_err().span().is_some(), "{bad}");
    }
}

#[test]
fn every_type_is_read_by_its_name_in_any_case_but_strictly_in_lower_case() {
    for kind in Element::all() {
        let (lower, upper) = (format!("{kind}[2]"), format!("{}[2]", kind.name().to_uppercase()));
        let shape = Shape::parse(&lower).unwrap();
        assert_eq!(shape.as_array().unwrap().element_type(), kind);
        assert_eq!(Shape::parse(&upper).unwrap(), shape);
        assert_eq!(Shape::parse_strict_xla(&lower).unwrap(), shape);
        assert_eq!(Shape::parse_strict_xla(&upper).unwrap_err().accepted(), Some(kind.name()));
    }
}

#[test]
fn older_forms_print_in_todays_form_and_strict_reading_points_at_them() {
    for (older, today, pointed) in [
        ("F32[3,5]{1,0:(2,2)}", "f32[3,5]{1,0:T(2,2)}", "F32"),
        ("Bf16[8]", "bf16[8]{0}", "Bf16"),
        ("TOKEN[]", "token[]", "TOKEN"),
        ("bf16[16,128]{1,0:(8,128)(2,1)}", "bf16[16,128]{1,0:T(8,128)(2,1)}", "("),
        ("f32[2,8,11,10]{3,2,1,0:T(-1,2,-1,3)}", "f32[2,8,11,10]{3,2,1,0:T(*,2,*,3)}", "-1"),
        ("f32[2,3]dense{0,1}", "f32[2,3]{0,1}", "dense"),
        ("(f32[2] dense {0}, s32[])", "(f32[2]{0}, s32[])", "dense"),
        ("f32[2,3] (no layout)", "f32[2,3]", "(no layout)"),
        ("(f32[2] (no layout), s32[3] {0})", "(f32[2], s32[3]{0})", "(no layout)"),
    ] {
        assert_eq!(Shape::parse(older).unwrap().to_string(), today, "{older}");
        let error = Shape::parse_strict_xla(older).expect_err(older);
        assert_eq!(&older[error.span().unwrap()], pointed, "{older}");
    }
    assert_eq!(Shape::parse("f32[2,3] (no layout)").unwrap().as_array().unwrap().layout(), None);
    assert_eq!(blamed("f32[10]sparse{5}"), "sparse");
    // r1.0 wrote a space, which XLA still skips.
    assert_eq!(Shape::parse_strict_xla("f32[2,3] {1,0}").unwrap().to_string(), "f32[2,3]{1,0}");
}

#[test]
fn blanks_and_comments_stand_between_any_two_tokens() {
    let tokens = "f32 [ ? , <= 8 , 7 ] { 2 , 0 , 1 : T ( 2 , * , 4 ) ( 1 ) L ( 8 ) # ( u32 ) * ( s8 ) E ( 4 ) S ( 1 ) SC ( 0 : 1 , 2 ) ( 1 : ) M ( 9 ) }";
    let tight = "f32[?,<=8,7]{2,0,1:T(2,*,4)(1)L(8)#(u32)*(s8)E(4)S(1)SC(0:1,2)(1:)M(9)}";
    assert_eq!(Shape::parse_strict_xla(tight).unwrap().to_string(), tight);
    for space in [" ", "\n", "\t\r\n", "/**/", "/* a } \n b */", "// to the end ]\n", " /*x*/ // y\r\n "] {
        let loose = format!("{space}{}{space}", tokens.replace(' ', space));
        assert_eq!(Shape::parse_strict_xla(&loose).unwrap().to_string(), tight, "{loose}");
    }
    assert_eq!(Shape::parse("f32[0012]{00:T(007)}").unwrap().to_string(), "f32[12]{0:T(7)}");
    assert_eq!(Shape::parse_strict_xla("f32[-0, <=-00]{1,-0:S(-0)}").unwrap().to_string(), "f32[0,<=0]{1,0}");
    assert_eq!(Shape::parse("f32[2]{0:L(1)E(0)S(0)M(0)}").unwrap().to_string(), "f32[2]{0}");
}

#[test]
fn a_padded_layout_has_words_of_its_own() {
    let text = "f32[2,3]{0,1:T(2,2)S(1)pad(4,6)=zero}";
    let shape = Shape::parse(text).unwrap();
    let padding = Padding { padded_dimensions: vec![4, 6], value: PaddingValue::Zero };
    assert_eq!(shape.as_array().unwrap().layout().unwrap().padding(), Some(&padding));
    assert_eq!(shape.to_string(), text);
    for value in ["zero", "one", "lowest", "highest", "unknown"] {
        let text = format!("f32[2]{{0:pad(3)={value}}}");
        assert_eq!(Shape::parse(&text).unwrap().to_string(), text);
    }
    assert_eq!(Shape::parse("f32[2]{0:pad(3)=invalid}").unwrap().to_string(), "f32[2]{0:pad(3)}");
    assert_eq!(Shape::parse("f32[]{:pad()=one}").unwrap().to_string(), "f32[]{:pad()=one}");
    let error = Shape::parse_strict_xla(text).unwrap_err();
    assert_eq!(&text[error.span().unwrap()], "pad");
}

#[test]
fn free_strides_have_words_of_their_own() {
    for text in [
        "f32[2,3]{strides(5,1)}",
        "f32[2,3]{strides(5,1),base(2),size(16)}",
        "f32[2,3]{strides(-9223372036854775808,0),size(16)}",
        "f32[2,3]{strides(5,1),base(2):L(4)#(u32)*(u16)E(4)S(1)SC(1:2)M(7)}",
        "f32[]{strides(),base(3)}",
    ] {
        assert_eq!(Shape::parse(text).unwrap().to_string(), text);
        let error = Shape::parse_strict_xla(text).unwrap_err();
        assert_eq!(&text[error.span().unwrap()], "strides");
    }
    let strides = Strides { strides: vec![-5, 0], base: Some(2), size: None };
    let layout = Layout::strided(strides.clone()).unwrap();
    assert_eq!(layout.to_string(), "{strides(-5,0),base(2)}");
    assert_eq!(Layout::parse("{ strides ( -5 , 0 ) , base ( 2 ) : }").unwrap().strides(), Some(&strides));
}

#[test]
fn program_shapes_read_and_print_without_layouts() {
    for text in [
        "() -> ()",
        "(a: f32[2], b: s32[]) -> f32[2]",
        "((unknown): f32[<=2,?], Arg_0.1: token[]) -> (f32[2], b(s8[3]))",
    ] {
        assert_eq!(ProgramShape::parse(text).unwrap().to_string(), text);
    }
    let program = ProgramShape::parse("( (unknown) : f32[2]{0:T(128)} , x-1: s32[] )->(f32[2])").unwrap();
    assert_eq!(program.parameters[0].0, "");
    assert_eq!(program.parameters[0].1, Shape::parse("f32[2]{0:T(128)}").unwrap());
    assert_eq!(program.to_string(), "((unknown): f32[2], x-1: s32[]) -> (f32[2])");
    for (text, at) in [
        ("", 0..0),
        ("(a f32[2]) -> f32[2]", 3..6),
        ("(f32[2]) -> f32[2]", 4..5),
        ("(a: f32[2],) -> f32[2]", 10..11),
        ("(a: f32[2]) f32[2]", 12..15),
        ("(a: f32[2]) ->", 14..14),
        ("(a: f32[2]) -> f32[2] ;", 22..23),
        ("(a: f33[2]) -> f32[2]", 4..7),
    ] {
        assert_eq!(ProgramShape::parse(text).expect_err(text).span(), Some(at), "{text}");
    }
}

#[test]
fn a_tuple_counts_its_elements_every_five() {
    let tuple = Shape::Tuple(vec![Shape::Token; 11]);
    assert_eq!(
        tuple.to_string(),
        "(token[], token[], token[], token[], token[], /*index=5*/token[], token[], token[], token[], token[], /*index=10*/token[])"
    );
    assert_eq!(Shape::parse(&tuple.to_string()).unwrap(), tuple);
}

#[test]
fn parts_of_shapes_print_by_themselves() {
    let array = ArrayShape::new(Element::F32, [2, 3]).unwrap();
    assert_eq!(
        (array.to_string(), array.human_string().to_string()),
        ("f32[2,3]{1,0}".into(), "f32[2,3]".into())
    );
    assert_eq!(Shape::Buffer(array).to_string(), "b(f32[2,3]{1,0})");
    assert_eq!(Shape::parse("b(f32[2,3]{0,1})").unwrap().human_string().to_string(), "b(f32[2,3])");
    let tile = Tile::from_dims([TileDim::Size(2), TileDim::Combine, TileDim::Size(4)]).unwrap();
    assert_eq!(tile.to_string(), "(2,*,4)");
    assert_eq!(
        format!("{:?}", "f32[2]".parse::<Shape>().map(|shape| shape.to_string())),
        "Ok(\"f32[2]{0}\")"
    );
}
