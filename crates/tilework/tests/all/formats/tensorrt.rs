//! TensorRT's formats against the arrays that `NvInferRuntimeBase.h` describes them by.

use super::{called, check, read, refused, with};

/// The tests with formulas, for the corpus.
pub fn formulas() {
    channels_in_vectors_are_an_array_with_the_vector_last();
    channels_last_are_padded_up_to_a_multiple();
    rows_of_the_dla_have_whole_bytes_of_the_chip();
    strides_of_build_logs_count_vectors();
}

/// Sizes of images: channels below, at and above every vector.
const IMAGES: [[u64; 4]; 6] =
    [[2, 3, 4, 5], [1, 33, 2, 3], [2, 16, 1, 3], [1, 1, 3, 1], [2, 8, 2, 2], [3, 32, 1, 1]];

#[test]
fn channels_in_vectors_are_an_array_with_the_vector_last() {
    for vector in [2, 4, 16, 32] {
        for dims in IMAGES {
            let [n, c, h, w] = dims;
            let blocks = c.div_ceil(vector);
            let formula = |i: &[u64]| {
                (((i[0] * blocks + i[1] / vector) * h + i[2]) * w + i[3]) * vector + i[1] % vector
            };
            check(
                "tensorrt",
                &with("f16", &dims, &format!("kCHW{vector}")),
                n * blocks * h * w * vector,
                formula,
            );
            check(
                "tensorrt",
                &with("s8", &dims, &format!("int8:chw{vector}")),
                n * blocks * h * w * vector,
                formula,
            );
        }
    }
    let formula = |i: &[u64]| (((i[0] * 2 + i[1] / 32) * 6 + i[2] * 3 + i[3]) * 2 + i[4]) * 32 + i[1] % 32;
    check("tensorrt", "f16[2,40,2,3,2] kCDHW32", 2 * 2 * 12 * 32, formula);
    // Three dimensions have no batch.
    check("tensorrt", "s8[5,2,3] kCHW4", 2 * 6 * 4, |i| ((i[0] / 4 * 2 + i[1]) * 3 + i[2]) * 4 + i[0] % 4);
}

#[test]
fn channels_last_are_padded_up_to_a_multiple() {
    for (name, multiple) in [("kHWC", 1), ("kHWC8", 8), ("kHWC16", 16)] {
        for dims in IMAGES {
            let [n, c, h, w] = dims;
            let padded = c.next_multiple_of(multiple);
            let formula = |i: &[u64]| ((i[0] * h + i[2]) * w + i[3]) * padded + i[1];
            check("tensorrt", &with("f16", &dims, name), n * h * w * padded, formula);
        }
    }
    let layout = check("tensorrt", "f16[16,3,224,224] kHWC8", 6_422_528, |i| {
        ((i[0] * 224 + i[2]) * 224 + i[3]) * 8 + i[1]
    });
    assert_eq!((layout.bytes(), layout.element_bytes()), (12_845_056, 4_816_896));
    check("tensorrt", "f32[2,3,4,5,6] kDHWC", 720, |i| {
        (((i[0] * 4 + i[2]) * 5 + i[3]) * 6 + i[4]) * 3 + i[1]
    });
}

#[test]
fn rows_of_the_dla_have_whole_bytes_of_the_chip() {
    for (element, bytes) in [("f16", 2), ("s8", 1)] {
        for dims in IMAGES {
            let [n, c, h, w] = dims;
            let row = w.next_multiple_of(64 / bytes);
            check("tensorrt", &with(element, &dims, "kDLA_LINEAR"), n * c * h * row, |i| {
                ((i[0] * c + i[1]) * h + i[2]) * row + i[3]
            });
        }
        for (chip, multiple) in [("Orin", 64), ("Xavier", 32)] {
            for c in [1, 3, 4] {
                let kept = if c == 1 { 1 } else { 4 };
                let row = 11_u64.next_multiple_of(multiple / kept / bytes);
                let format = format!("kDLA_HWC4 on {chip}");
                check("tensorrt", &with(element, &[2, c, 3, 11], &format), 2 * 3 * row * kept, |i| {
                    ((i[0] * 3 + i[2]) * row + i[3]) * kept + i[1]
                });
            }
        }
    }
}

#[test]
fn phrases_of_the_inspector_are_the_formats_of_the_enum() {
    for (text, name) in [
        ("f32[2,3,4,5] Row major linear FP32", "kLINEAR"),
        ("f16[2,3,4,5] Row major linear FP16 format", "kLINEAR"),
        ("s8[2,3,4,5] Row major Int8 format.", "kLINEAR"),
        ("f16[2,3,4,5] Two wide channel vectorized row major FP16 format", "kCHW2"),
        ("s8[2,3,4,5] Thirty-two wide channel vectorized row major Int8 format.", "kCHW32"),
        (
            "f16[2,3,4,5,6] Thirty-two wide channel vectorized row major FP16 format with 3 spatial dimensions",
            "kCDHW32",
        ),
        ("f16[2,3,4,5] Channel major FP16 format where channel % 8 == 0", "kHWC8"),
        (
            "bf16[2,3,4,5,6] Channel major BFloat16 format where channel % 8 == 0 with 3 spatial dimensions",
            "kDHWC8",
        ),
        (
            "f32[2,3,4,5,6] Channel major FP32 format with 3 spatial dimensions where channel % 4 == 0",
            "Channel major FP32 format where channel % 4 == 0 with 3 spatial dimensions",
        ),
        ("f32[2,3,4,5] Channel major FP32 format", "kHWC"),
        ("s8[2,3,4,5] Row major INT8 format where column stride % 64 == 0", "kDLA_LINEAR"),
        (
            "f16[2,4,4,5] Channel major FP16 format where channel == 4 and column stride % 32 == 0",
            "kDLA_HWC4 on Xavier",
        ),
        ("s8[2,1,4,5] Channel major INT8 format where column stride % 32 == 0", "kDLA_HWC4 on Xavier"),
        ("f16[2,3,4,5] nvinfer1::TensorFormat::kNHWC8", "kHWC8"),
        ("f16[2,3,4,5] TensorFormat.CHW16", "kCHW16"),
        ("f16[2,3,4,5] fp16:chw", "kLINEAR"),
        (
            r#"{"Name": "a", "Location": "Device", "Dimensions": [1,512,7,7], "Format/Datatype": "Four wide channel vectorized row major Int8 format"}"#,
            "kCHW4",
        ),
    ] {
        let printed = read(text).to_string();
        assert!(printed.ends_with(&format!("] {name}")), "{text} became {printed}");
    }
}

#[test]
fn strides_of_build_logs_count_vectors() {
    check("tensorrt", "s8[1,144,2,3] Int8(216,6:4,3,1)", 864, |i| {
        (i[1] / 4 * 6 + i[2] * 3 + i[3]) * 4 + i[1] % 4
    });
    assert_eq!(called("tensorrt", "s8[1,144,128,128] Int8(589824,16384:4,128,1)"), "s8[1,144,128,128] kCHW4");
    // Channels last, in vectors of 8.
    check("tensorrt", "f16[1,64,5,7] Half(280,1:8,56,8)", 280 * 8, |i| {
        (i[2] * 56 + i[3] * 8 + i[1] / 8) * 8 + i[1] % 8
    });
    assert_eq!(called("tensorrt", "f16[1,64,5,7] Half(280,1:8,56,8)"), "f16[1,64,5,7] kHWC8");
    let both =
        tilework::dialect::read("[1,144,128,128] Float(2359296,16384,128,1) -> Int8(589824,16384:4,128,1)")
            .unwrap();
    let texts: Vec<String> =
        both.iter().map(|found| format!("{} {}", found.name.clone().unwrap(), found.said)).collect();
    assert_eq!(
        texts,
        [
            "from f32[1,144,128,128] Float(2359296,16384,128,1)",
            "to s8[1,144,128,128] Int8(589824,16384:4,128,1)"
        ]
    );
}

#[test]
fn layouts_of_other_notations_have_their_format() {
    for (text, format) in [
        ("f32[2,3]{1,0}", "f32[2,3] kLINEAR"),
        ("f16[2,3,4,5] aBcd2b", "f16[2,3,4,5] kCHW2"),
        ("s8[2,40,3,5] nChw32c", "s8[2,40,3,5] kCHW32"),
        ("f32[2,3,4,5] nhwc", "f32[2,3,4,5] kHWC"),
        ("f32[2,3]{0,1}", "f32[2,3] Float(1,2)"),
        ("f32[3,5] AB2a2b", "layout: no format has these places"),
        ("f64[2,3]{1,0}", "element type: elements of f64"),
    ] {
        let called = called("tensorrt", text);
        assert!(called.starts_with(format), "{text}: {called}");
    }
}

#[test]
fn what_is_no_format_is_refused_where_it_goes_wrong() {
    refused(
        "tensorrt",
        &[
            ("f16[2,3,4,5] kCHW64", "kCHW64", "kCHW4"),
            ("f16[3,4] kCHW2", "kCHW2", "at least 3 dimensions"),
            ("f16[3,4,5] kDHWC8", "kDHWC8", "at least 4 dimensions"),
            ("f32[1,3,4,5] kDLA_LINEAR", "kDLA_LINEAR", "FP16 and INT8"),
            ("s8[1,5,4,5] kDLA_HWC4", "kDLA_HWC4", "1 channel"),
            ("s8[1,3,4,5] kDLA_HWC4 on Thor", "on Thor", "chip"),
            ("f16[1,3,4,5] kCHW2 on Orin", "on Orin", "the end"),
            ("s8[1,144,2,3] Int8(216,6:4,3)", "Int8", "4 dimensions"),
            ("s8[1,144,2,3] Int8(E0,6:4,3,1)", "E0", "run time"),
            ("s8[1,144,2,3] Int8(216,6:4,3:2,1)", "3:2", "one dimension"),
            ("f32[1,144,2,3] Int8(216,6:4,3,1)", "Int8", "f32 before"),
            ("f32[1,3,224,224] Float(1,224,50176,150528)", "Float", "(150528,50176,224,1)"),
            ("f32[1,3,4,5] Channel major FP16 format", "Channel", "f32 before"),
            ("f16[1,3,4,5] Channel major FP16 format where channel % 0 == 0", "0 ==", "no count"),
            ("f16[1,3,4,5] Channel major FP16 shape", "shape", "phrase"),
            ("f16[1,3,4,5] Channel major FP15 format", "FP15", "no type"),
            (
                "f16[1,2,4,5] Channel major FP16 format where channel == 4 and column stride % 32 == 0",
                "Channel",
                "4 channels",
            ),
        ],
    );
    let error = tilework::dialect::read_one("kCHW32").unwrap_err();
    assert!(error.to_string().contains("both before it"), "{error}");
}

#[test]
fn a_format_is_explained_and_says_what_tensorrt_has_it_for() {
    let said = read("f32[2,3,4,5] kCHW2");
    let layout = said.layout().unwrap();
    let part = said.parts(Some(&layout)).into_iter().find(|part| part.name == "format").unwrap();
    assert_eq!(part.meaning, "channels (dimension 1) in vectors of 2: [N][⌈C/2⌉][H][W][2]");
    assert!(said.notes(&layout)[0].contains("f16 and bf16"), "{:?}", said.notes(&layout));
}
