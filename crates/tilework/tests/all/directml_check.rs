//! What descriptions break, said precisely and all at once; and what cannot be read at all.

use tilework::directml::*;

fn found(text: &str, level: FeatureLevel) -> Vec<String> {
    let violations = check(&Desc::parse(text).unwrap(), level, None);
    violations
        .iter()
        .map(|v| {
            let index = v.index.map_or(String::new(), |index| format!("[{index}]"));
            let legal = v.legal.as_deref().unwrap_or("-");
            format!("{}: {}{index} = {} ({}) {legal}", v.rule.name(), v.field, v.value, v.limit)
        })
        .collect()
}

#[test]
fn every_rule_names_field_value_limit_and_a_legal_value() {
    let types = "a type from FLOAT32 (1) to INT4 (13)";
    let table: &[(&str, &[&str])] = &[
        ("FLOAT32 [2,3]", &[]),
        ("FLOAT32 [1] strides [0]", &[]),
        ("UINT4 [5] total 4", &[]),
        ("FLOAT32 [2,0,3]", &["ZeroSize: Sizes[1] = 0 (1 or more) 1"]),
        (
            "FLOAT32 []",
            &["DimensionCount: DimensionCount = 0 (1 to 8 at feature level 6_4) sizes [1] for a scalar"],
        ),
        (
            "FLOAT32 [1,1,1,1,1,1,1,1,1]",
            &[
                "DimensionCount: DimensionCount = 9 (1 to 8 at feature level 6_4) 8, where dimensions can be merged or are 1",
            ],
        ),
        ("FLOAT32 [2,3] strides [3]", &["StridesCount: Strides = 1 stride (2 sizes) 2 strides"]),
        ("FLOAT32 [2,3] strides [-3,1]", &["StrideRange: Strides[0] = -3 (0 to 4294967295) -"]),
        (
            "FLOAT32 [1,3] strides [4294967296,1]",
            &["StrideRange: Strides[0] = 4294967296 (0 to 4294967295) 0"],
        ),
        ("FLOAT32 [4294967296]", &["SizeRange: Sizes[0] = 4294967296 (1 to 4294967295) -"]),
        (
            "FLOAT32 [4294967295,4294967295,4294967295]",
            &["SizeOverflow: Sizes = 316912649835696421541200789500 bytes (9223372036854775807) -"],
        ),
        (
            "FLOAT64 [4294967295,4294967295,4294967295,4294967295,4294967295]",
            &["SizeOverflow: Sizes = more than 2^128 bytes (9223372036854775807) -"],
        ),
        (
            "UINT8 [4294967295,4294967295] strides [4294967295,4294967295]",
            &["SizeOverflow: Strides = 36893488121649299464 bytes (9223372036854775807) -"],
        ),
        ("UINT8 [65536,65536]", &["TooManyElements: Sizes = 4294967296 elements (4294967295) -"]),
        // The documents do not say which elements are counted, so only both above the limit are a violation.
        ("UINT8 [65536,65536] strides [0,1]", &[]),
        ("UINT8 [2,2] strides [4294967295,1]", &[]),
        ("bool [2]", &[&format!("UnknownDataType: DataType = \"bool\" ({types}) UINT8")]),
        ("FLOAT8 [2]", &[&format!("UnknownDataType: DataType = \"FLOAT8\" ({types}) -")]),
        ("0 [2]", &[&format!("UnknownDataType: DataType = 0 (UNKNOWN) ({types}) -")]),
        ("FLOAT32 [2] flags 5", &["UnknownFlags: Flags = 5 (NONE (0) or OWNED_BY_DML (1)) 1"]),
        (
            "FLOAT32 [2,3] strides [5,1] total 28",
            &["TotalTensorSizeTooSmall: TotalTensorSizeInBytes = 28 (32 or more) 32"],
        ),
        (
            "FLOAT32 [2,3] total 26",
            &["TotalTensorSizeNotMultipleOf4: TotalTensorSizeInBytes = 26 (a multiple of 4) 28"],
        ),
        (
            "FLOAT32 [2,3] alignment 2",
            &[
                "GuaranteedBaseOffsetAlignment: GuaranteedBaseOffsetAlignment = 2 (0, or a power of two from 4 to 2147483648) 4",
            ],
        ),
        (
            "FLOAT32 [2,3] alignment 18446744073709551615",
            &[
                "GuaranteedBaseOffsetAlignment: GuaranteedBaseOffsetAlignment = 18446744073709551615 (0, or a power of two from 4 to 2147483648) 2147483648",
            ],
        ),
        // All of it in one pass.
        (
            "FLOAT31 [2,0,3] strides [-1,1] total 3 alignment 5",
            &[
                &format!("UnknownDataType: DataType = \"FLOAT31\" ({types}) -"),
                "ZeroSize: Sizes[1] = 0 (1 or more) 1",
                "StridesCount: Strides = 2 strides (3 sizes) 3 strides",
                "StrideRange: Strides[0] = -1 (0 to 4294967295) -",
                "GuaranteedBaseOffsetAlignment: GuaranteedBaseOffsetAlignment = 5 (0, or a power of two from 1 to 2147483648) 8",
            ],
        ),
    ];
    for (text, expected) in table {
        assert_eq!(found(text, FeatureLevel::LATEST), *expected, "{text}");
    }
}

#[test]
fn older_feature_levels_take_fewer_dimensions_and_types() {
    let level = FeatureLevel::V2_0;
    assert_eq!(
        found("FLOAT32 [2,3]", level),
        ["DimensionCount: DimensionCount = 2 (4 to 5 at feature level 2_0) 4, with leading sizes of 1"]
    );
    assert_eq!(found("FLOAT32 [1,1,1,1,2,3]", level).len(), 1);
    assert_eq!(found("FLOAT32 [1,1,1,2,3]", level), [""; 0]);
    assert_eq!(
        found("INT64 [1,1,2,3]", level),
        ["DataTypeFeatureLevel: DataType = INT64 (feature level 3_0 or later, and this is 2_0) INT32"]
    );
    assert_eq!(found("UINT4 [8]", FeatureLevel::V6_2).len(), 1);
    assert_eq!(found("UINT4 [8]", FeatureLevel::V6_3), [""; 0]);
}

#[test]
fn a_binding_is_held_against_offset_range_and_buffer() {
    let desc = Desc::parse("FLOAT32 [1,3,224,224] strides [153228,51076,226,1] alignment 32").unwrap();
    let rules = |binding| {
        let found = check(&desc, FeatureLevel::LATEST, Some(&binding));
        found.iter().map(|v| (v.rule, v.legal.clone().unwrap_or_default())).collect::<Vec<_>>()
    };
    assert_eq!(rules(Binding { offset: 64, range: Some(611096), buffer: Some(611160) }), []);
    assert_eq!(
        rules(Binding { offset: 16, range: Some(611094), buffer: Some(611096) }),
        [
            (Rule::OffsetAlignment, "32".to_owned()),
            (Rule::BindingRange, "611096".to_owned()),
            (Rule::BufferTooSmall, "a buffer of 611112 bytes".to_owned()),
        ]
    );
    let far = rules(Binding { offset: u64::MAX, range: Some(u64::MAX), buffer: Some(u64::MAX) });
    assert_eq!(far.last().unwrap().1, format!("a buffer of {} bytes", u128::from(u64::MAX) * 2));
}

#[test]
fn a_total_is_never_stale() {
    let desc = BufferTensorDesc::parse("FLOAT32 [2,3] total 28").unwrap();
    assert_eq!(desc.total_bytes(), 28);
    // onnxruntime#14225: strides changed and the total did not.
    let error = desc.with_strides(&[5, 1]).unwrap_err();
    assert_eq!(error.field_name(), Some("TotalTensorSizeInBytes"));
    assert_eq!(desc.without_declared_total().with_strides(&[5, 1]).unwrap().total_bytes(), 32);
}

#[test]
fn what_is_legal_and_worth_knowing_is_remarked() {
    let said = |text: &str| remarks(&BufferTensorDesc::parse(text).unwrap(), true).unwrap();
    assert_eq!(said("FLOAT32 NHWC [1,3,4,4]"), []);
    assert_eq!(said("FLOAT32 [2,3] strides [0,1]"), [Remark::OutputOverlaps, Remark::NotPacked]);
    assert_eq!(said("FLOAT32 [2] flags OWNED_BY_DML"), [Remark::OwnedByDml]);
    assert!(said("UINT8 [65536,65536] strides [0,1]").contains(&Remark::ElementLimitUnclear));
}

#[test]
fn a_line_that_cannot_be_read_says_where_and_why() {
    for (text, place, found) in [
        ("", 0, "the end of the text"),
        ("[2,3]", 0, "unexpected \"[\""),
        ("FLOAT32", 7, "the end of the text"),
        ("FLOAT32 [2,3", 12, "the end of the text"),
        ("FLOAT32 [2 3]", 11, "unexpected \"3\""),
        ("FLOAT32 [2,]", 11, "unexpected \"]\""),
        ("FLOAT32 [2.5]", 9, "unexpected \"2.5\""),
        ("FLOAT32 [99999999999999999999]", 9, "unexpected \"99999999999999999999\""),
        ("FLOAT32 [2,3] strides", 21, "the end of the text"),
        ("FLOAT32 [2,3] strides [3,1] strides [3,1]", 28, "strides stands twice"),
        ("FLOAT32 HW [2,3] strides [3,1]", 17, "strides stands twice"),
        ("FLOAT32 [2,3] total -1", 20, "unexpected \"-1\""),
        ("FLOAT32 [2,3] totl 24", 14, "unexpected \"totl\""),
        ("FLOAT32 NHWX [1,2,3,4]", 8, "layout \"NHWX\""),
        ("FLOAT32 NHWC [1,2,3]", 8, "3 sizes with 4 letters"),
        ("FLOAT32 NHWC [1,0,3,4]", 8, "layout \"NHWC\" of sizes that are no sizes"),
        ("FLOAT32 WH [65536,65537]", 0, "-"),
        ("FLOAT32 [2] flags MINE", 18, "unexpected \"MINE\""),
    ] {
        match Desc::parse(text) {
            Err(error) => {
                assert_eq!(
                    (error.span().map(|span| span.start), error.found()),
                    (Some(place), found),
                    "{text}"
                );
                let _ = error.report(text).to_string();
            }
            Ok(_) => assert_eq!(found, "-", "{text}"),
        }
    }
    let channels_last = Desc::parse("FLOAT16 channels_last [1,64,56,56]").unwrap();
    assert_eq!(channels_last, Desc::parse("FLOAT16 NHWC [1,64,56,56]").unwrap());
}

#[test]
fn a_descriptor_in_json_is_read_as_dxdispatch_reads_it() {
    let one = |text: &str| read_json(text).unwrap().remove(0).read().unwrap().to_string();
    assert_eq!(one(r#"{"DataType":"FLOAT32","Sizes":[2,3]}"#), "FLOAT32 [2,3]");
    let full = r#"{"Type":"DML_TENSOR_TYPE_BUFFER","Desc":{"DataType":"DML_TENSOR_DATA_TYPE_FLOAT16",
        "Flags":["DML_TENSOR_FLAG_OWNED_BY_DML"],"DimensionCount":2,"Sizes":[5,55],"Strides":[9,3],
        "TotalTensorSizeInBytes":400,"GuaranteedBaseOffsetAlignment":16}}"#;
    assert_eq!(one(full), "FLOAT16 [5,55] strides [9,3] total 400 alignment 16 flags OWNED_BY_DML");
    // null and empty strides are none, a total of 0 is computed
    for strides in ["null", "[]"] {
        let text =
            format!(r#"{{"DataType":"INT8","Sizes":[4],"Strides":{strides},"TotalTensorSizeInBytes":0}}"#);
        assert_eq!(one(&text), "INT8 [4]");
    }
}

#[test]
fn the_tensors_of_a_model_file_are_found_wherever_they_stand() {
    let text = r#"{
        "resources": {"A": {"initialValuesDataType": "FLOAT32", "initialValues": [1, 2]}},
        "dispatchables": {
            "copy": {"type": "DML_OPERATOR_ELEMENT_WISE_IDENTITY", "desc": {
                "InputTensor": {"DataType": "FLOAT32", "Sizes": [2, 3], "Strides": [0, 1]},
                "OutputTensor": {"Type": "BUFFER", "Desc": {"DataType": "FLOAT32", "Sizes": [2, 3]}}}},
            "slice": {"type": "DML_OPERATOR_SLICE", "desc": {
                "InputTensor": {"DataType": "UINT8", "Sizes": [9]}, "Offsets": [0], "Sizes": [3], "Strides": [1]}},
            "join": {"desc": {"InputTensors": [{"DataType": "INT4", "Sizes": [1]}, {"DataType": "INT4", "Sizes": [2]}]}}
        }}"#;
    let found = read_json(text).unwrap();
    let paths: Vec<_> = found.iter().map(|found| (&found.path[14..], found.desc.to_string())).collect();
    assert_eq!(
        paths,
        [
            ("copy.desc.InputTensor", "FLOAT32 [2,3] strides [0,1]".to_owned()),
            ("copy.desc.OutputTensor", "FLOAT32 [2,3]".to_owned()),
            ("slice.desc.InputTensor", "UINT8 [9]".to_owned()),
            ("join.desc.InputTensors[0]", "INT4 [1]".to_owned()),
            ("join.desc.InputTensors[1]", "INT4 [2]".to_owned()),
        ]
    );
    assert!(found.iter().all(|found| found.errors.is_empty()));
    let array = read_json(r#"[{"DataType":"INT8","Sizes":[4]},{"DataType":"INT8","Sizes":[5]}]"#).unwrap();
    assert_eq!((array.len(), array[1].path.as_str()), (2, "[1]"));
}

#[test]
fn an_object_with_fields_of_a_descriptor_alone_is_never_passed_over() {
    let found = read_json(r#"[{"Sizes":[1]},{"DataType":"INT8","Sizes":[4]},{"name":"x"}]"#).unwrap();
    assert_eq!(found.iter().map(|desc| desc.path.as_str()).collect::<Vec<_>>(), ["[0]", "[1]"]);
    assert_eq!(found[0].errors[0].found(), "no DataType");
}

#[test]
fn what_json_cannot_be_is_named_with_its_place_and_the_rest_is_still_checked() {
    for (text, expected) in [
        (r#"{"DataType":"INT8"}"#, &["no Sizes @0"][..]),
        (r#"{}"#, &["no DataType @0", "no Sizes @0"]),
        (r#"[{"Sizes":[4]}]"#, &["no DataType @1"]),
        (r#"{"DataType":"INT8","Sizes":[4],"Sizes":[5]}"#, &["Sizes stands twice @31"]),
        (
            r#"{"DataType":"INT8","Sizes":[4,1.5,"x"]}"#,
            &["not a whole number of 64 bits @30", "not a whole number of 64 bits @34"],
        ),
        (r#"{"DataType":"INT8","Sizes":4}"#, &["not a list @27"]),
        (r#"{"DataType":[8],"Sizes":[4]}"#, &["a type that is no name @12"]),
        (
            r#"{"DataType":"INT8","Sizes":[4],"TotalTensorSizeInByte":4}"#,
            &["\"TotalTensorSizeInByte\" is no field of a descriptor @31"],
        ),
        (
            r#"{"DataType":"INT8","Sizes":[4],"TotalTensorSizeInBytes":-4}"#,
            &["not an unsigned number of 64 bits @56"],
        ),
        (r#"{"DataType":"INT8","Sizes":[4],"Flags":"MINE"}"#, &["flag \"MINE\" @39"]),
        (r#"{"DataType":"INT8","Sizes":[4],"Type":"TEXTURE"}"#, &["a tensor that is not in a buffer @38"]),
    ] {
        let found = read_json(text).unwrap().remove(0);
        let errors: Vec<_> = found
            .errors
            .iter()
            .map(|error| format!("{} @{}", error.found(), error.span().unwrap().start))
            .collect();
        assert_eq!(errors, expected, "{text}");
        assert_eq!(found.check(FeatureLevel::LATEST, None), [], "nothing is guessed: {text}");
    }
    // What could be read is checked: an unreadable stride does not hide a size of 0.
    let text = r#"{"DataType":"BOOL","Sizes":[0,4],"Strides":[1.5,1],"GuaranteedBaseOffsetAlignment":5,"DimensionCount":3}"#;
    let found = read_json(text).unwrap().remove(0);
    let rules: Vec<_> = found.check(FeatureLevel::LATEST, None).iter().map(|v| v.rule).collect();
    assert_eq!(
        rules,
        [
            Rule::UnknownDataType,
            Rule::DimensionCountMismatch,
            Rule::ZeroSize,
            Rule::GuaranteedBaseOffsetAlignment
        ]
    );
    for text in ["", "[", "3", "[]", "[1,2]", "nul", "{\"DataType\":}", "{\"Sizes\":[1,]}"] {
        assert!(read_json(text).is_err(), "{text}");
    }
}

#[test]
fn what_has_no_description_says_why() {
    use tilework::Layout;
    let why = |layout: Layout| BufferTensorDesc::lift(&layout, DataType::Float32).unwrap_err().to_string();
    let row_major = |dims: &[u64]| Layout::row_major(dims, 32).unwrap();
    assert!(why(row_major(&[4, 4]).flip(1).unwrap()).contains("dimension 1 is reversed: stride -1"));
    assert!(why(row_major(&[0, 4])).contains("Sizes[0]"));
    assert!(why(row_major(&[1; 9])).contains("1 to 8"));
    assert!(why(Layout::row_major(&[4], 16).unwrap()).contains("elements of 16 bits as FLOAT32"));
    assert!(why(row_major(&[1 << 33])).contains("Sizes[0]"));
    assert!(why(row_major(&[3, 4]).permute(&[1, 0]).unwrap().reshape(&[12]).unwrap()).contains("copy"));
    let scalar = BufferTensorDesc::lift(&row_major(&[]), DataType::Float32).unwrap();
    assert_eq!(scalar.desc.to_string(), "FLOAT32 [1]");
    // Strides beyond 32 bits are no obstacle to a packed tensor, which needs none.
    let packed = BufferTensorDesc::lift(&row_major(&[2, 65536, 65536]), DataType::Float32).unwrap();
    assert_eq!(packed.desc.strides(), None);
    assert!(packed.desc.permute(&[1, 0, 2]).is_err());
}

#[test]
#[ignore = "a measurement: cargo test --release --test all directml_check -- --ignored --nocapture"]
fn checking_and_sizing_one_descriptor_is_a_matter_of_nanoseconds() {
    let desc =
        Desc::parse("FLOAT32 [1,3,224,224] strides [153228,51076,226,1] total 611096 alignment 16").unwrap();
    let binding = Binding { offset: 16, range: None, buffer: Some(1 << 20) };
    let built = desc.build().unwrap();
    let rounds = 2_000_000_u32;
    let time = |name: &str, work: &mut dyn FnMut() -> u64| {
        let start = std::time::Instant::now();
        let sum = (0..rounds).fold(0_u64, |sum, _| sum.wrapping_add(work()));
        println!("{name}: {:.1} ns (sum {sum})", start.elapsed().as_nanos() as f64 / f64::from(rounds));
    };
    time("check", &mut || {
        check(std::hint::black_box(&desc), FeatureLevel::LATEST, Some(&binding)).len() as u64
    });
    time("size", &mut || std::hint::black_box(&built).minimum_bytes());
    let sizes = std::hint::black_box([1, 3, 224, 224]);
    time("buffer_size_bytes", &mut || buffer_size_bytes(DataType::Float32, &sizes, built.strides()).unwrap());
    let file = format!("[{}]", vec![built.to_json(); 100_000].join(", "));
    let start = std::time::Instant::now();
    let found = read_json(&file).unwrap();
    let read = start.elapsed();
    let violations: usize = found.iter().map(|found| found.check(FeatureLevel::LATEST, None).len()).sum();
    println!(
        "file of {} bytes: read {read:?}, checked {:?} ({violations})",
        file.len(),
        start.elapsed() - read
    );
}

/// Texts of code, and the descriptors that a compiler would make of them.
const CODE: &[(&str, &[&str])] = &[
    (
        "UINT sizes[4]={1,64,56,56}; UINT strides[4] = {200704, 1, 3584, 64};\n\
         DML_BUFFER_TENSOR_DESC d={DML_TENSOR_DATA_TYPE_FLOAT16, DML_TENSOR_FLAG_NONE, 4, sizes, strides, 401408, 0};",
        &["d: FLOAT16 [1,64,56,56] strides [200704,1,3584,64] total 401408"],
    ),
    (
        "constexpr uint32_t C = 64, H = 0x38; // the rest\nconst UINT32 W{56u};\n\
         std::array<UINT, 4> sizes = {1, C, H, W}; /* strides */ std::vector<UINT> strides{C*H*W, 1, W*C, C};\n\
         DML_BUFFER_TENSOR_DESC desc = {};\n desc.DataType = DML_TENSOR_DATA_TYPE_FLOAT16;\n\
         desc.Flags = DML_TENSOR_FLAG_OWNED_BY_DML;\n desc.DimensionCount = static_cast<UINT>(sizes.size());\n\
         desc.Sizes = sizes.data();\n desc.Strides = &strides[0];\n\
         desc.TotalTensorSizeInBytes = DMLCalcBufferTensorSize(desc.DataType, 4, desc.Sizes, desc.Strides);",
        &["desc: FLOAT16 [1,64,56,56] strides [200704,1,3584,64] flags OWNED_BY_DML"],
    ),
    (
        "#define N 2\nauto d = DML_BUFFER_TENSOR_DESC{.DataType = DML_TENSOR_DATA_TYPE_UINT8, .DimensionCount = N,\n\
         .Sizes = (UINT[]){2, 3, 7}, .TotalTensorSizeInBytes = N * 4};",
        &["d: UINT8 [2,3] total 8"],
    ),
    (
        "dml::TensorDesc::Dimensions dims = {1, 3, 8, 8};\n\
         dml::TensorDesc x(DML_TENSOR_DATA_TYPE_FLOAT32, dims, dml::TensorPolicy::InterleavedChannel());\n\
         auto in = dml::InputTensor(graph, 0, dml::TensorDesc(DML_TENSOR_DATA_TYPE_INT8, DML_TENSOR_FLAG_NONE, {5, 4}));",
        &["x: FLOAT32 [1,3,8,8] strides [192,1,24,3]", ": INT8 [5,4]"],
    ),
    (
        "UINT s[4]; s[0] = 1; s[1] = 2; s[2] = 3; s[3] = 4;\n\
         DML_BUFFER_TENSOR_DESC a[] = {{DML_TENSOR_DATA_TYPE_INT8, 0, ARRAYSIZE(s), s, nullptr, 24, 0},\n\
         {DML_TENSOR_DATA_TYPE_INT8, 0, sizeof(s) / sizeof(s[0]), s, NULL, 1 << 5, 16}};",
        &["a: INT8 [1,2,3,4] total 24", "a: INT8 [1,2,3,4] total 32 alignment 16"],
    ),
    ("{DML_TENSOR_DATA_TYPE_INT8, DML_TENSOR_FLAG_NONE, 1, {4}, NULL, 4, 0}", &[": INT8 [4] total 4"]),
    // An aggregate that says no total says 0, which is too little.
    ("DML_BUFFER_TENSOR_DESC d{DML_TENSOR_DATA_TYPE_INT8, 0, 1, new UINT[1]{4}};", &[]),
    ("DML_BUFFER_TENSOR_DESC d{DML_TENSOR_DATA_TYPE_INT8, 0, 1, (UINT[1]){4}};", &["d: INT8 [4] total 0"]),
    ("{'DataType': 'FLOAT32', 'Sizes': (2, 3), 'Strides': None}", &[": FLOAT32 [2,3]"]),
    (
        "/* DML_BUFFER_TENSOR_DESC no{DML_TENSOR_DATA_TYPE_INT8, 0, 1, (UINT[1]){9}}; */\n\
         DML_BUFFER_TENSOR_DESC d{DML_TENSOR_DATA_TYPE_INT8, /* flags */ 0, // rank {\n1, (UINT[1]){4}};",
        &["d: INT8 [4] total 0"],
    ),
    (
        "std::vector<UINT> s{4, 5}; auto* v = &s;\n\
         DML_BUFFER_TENSOR_DESC d = {DML_TENSOR_DATA_TYPE_INT8, 0, v->size(), v->data(), nullptr, 20, 0};",
        &["d: INT8 [4,5] total 20"],
    ),
    ("? []", &[": ? []"]),
    ("FLOAT32 NHWC [1,3,8,8]", &[": FLOAT32 [1,3,8,8] strides [192,1,24,3]"]),
];

#[test]
fn descriptors_are_read_from_the_code_that_makes_them() {
    for (code, expected) in CODE {
        let found = read_descs(code).unwrap_or_default();
        let read = found.into_iter().filter(|found| found.errors.is_empty());
        let read: Vec<String> = read.map(|found| format!("{}: {}", found.path, found.desc)).collect();
        assert_eq!(read, *expected, "{code}");
    }
}

#[test]
fn code_that_does_not_say_all_is_told_what_was_understood() {
    let text =
        "DML_BUFFER_TENSOR_DESC d = {DML_TENSOR_DATA_TYPE_FLOAT16, DML_TENSOR_FLAG_NONE, 4, sizes, p, 8, 0};";
    let found = read_descs(text).unwrap().remove(0);
    let [sizes, strides] = &found.errors[..] else { panic!("{:?}", found.errors) };
    assert_eq!((&text[sizes.span().unwrap()], &text[strides.span().unwrap()]), ("sizes", "p"));
    assert_eq!(sizes.broken_rule(), Some("understood: DataType FLOAT16, DimensionCount 4"));
    assert!(sizes.accepted().unwrap().ends_with(r#"{"DataType": "FLOAT16", "Sizes": […], "Strides": […]}"#));
    // What nobody wrote breaks no rule.
    assert!(found.check(FeatureLevel::LATEST, None).is_empty());
    let nothing = read_descs("UINT a[] = {1, 2}; f(DML_TENSOR_DATA_TYPE_FLOAT16, a);").unwrap_err();
    assert_eq!(nothing.broken_rule(), Some("understood: a = [1, 2]"));
}

#[test]
fn the_sum_behind_a_size_is_written_out() {
    let terms = |text: &str| BufferTensorDesc::parse(text).unwrap().size_terms(0).to_string();
    let ends = [
        ("INT4 [2,5]", "(9 + 1) elements · 4 bits = 5, rounded up to 4 bytes 8"),
        ("INT8 [2,5]", "(9 + 1) elements · 1 byte = 10, rounded up to 4 bytes 12"),
        ("INT16 [2,5]", "(9 + 1) elements · 2 bytes = 20"),
        ("INT64 [2,5]", "(9 + 1) elements · 8 bytes = 80"),
    ];
    for (text, end) in ends {
        let found = terms(text);
        assert_eq!(found.lines().next(), Some("last element: 1·5 + 4·1 = 9"), "{text}");
        assert_eq!(found.lines().nth(1), Some(&*format!("bytes: {end}")), "{text}");
    }
    assert_eq!(terms("INT8 [2,5] total 16").lines().nth(2), Some("declared: 16"));
}

#[test]
fn a_stride_that_moves_nothing_and_does_not_fit_32_bits_becomes_0() {
    let low = |text: &str, part: DataType| {
        BufferTensorDesc::parse(text).unwrap().low_parts(part).map(|low| low.to_string())
    };
    for (text, part, expected) in [
        ("INT64 [1,2] strides [2147483647,1]", DataType::Int32, "INT32 [1,2] strides [4294967294,2]"),
        ("INT64 [1,2] strides [2147483648,1]", DataType::Int32, "INT32 [1,2] strides [0,2]"),
        ("INT64 [1,2] strides [4294967295,1]", DataType::Int64, "INT64 [1,2] strides [4294967295,1]"),
    ] {
        assert_eq!(low(text, part).as_deref(), Ok(expected), "{text}");
    }
    assert!(low("INT64 [2,2] strides [2147483648,1]", DataType::Int32).is_err());
}

#[test]
fn no_code_is_a_trap() {
    for (code, _) in CODE {
        for end in (0..code.len()).filter(|&end| code.is_char_boundary(end)) {
            let _ = read_descs(&code[..end]);
            let _ = read_descs(&code[end..]);
        }
    }
    let deep = |mark: &str| format!("DML_BUFFER_TENSOR_DESC d = {}", mark.repeat(100_000));
    for mark in
        ["{", "(", "&", "-", "a{", "a(", "a[", "a<", "a = {", "(a)", "1+", "{.a = ", "\"", "/*", "a.b("]
    {
        let _ = read_descs(&deep(mark));
    }
    assert!(read_descs(&deep(&" ".repeat(11))).is_err());
}
