//! What people see, word for word, at 80 columns.
//!
//! After a change that is meant: `INSTA_UPDATE=always cargo test -p tilework-cli --test all snapshots`, and read the diff.

use crate::common::seen;

pub fn check(name: &str, runs: &[&[&str]]) {
    let text: Vec<String> = runs.iter().map(|args| seen(args)).collect();
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text.join("\n")));
}

/// Every shape whose explanation is kept.
const SHOWN: [(&str, &str); 24] = [
    ("document_first_figure", "f32[3,5]{1,0:T(2,2)}"),
    ("document_second_figure", "bf16[4,8]{1,0:T(2,4)(2,1)}"),
    ("document_tile_over_numbers_of_tiles", "f32[8,8]{1,0:T(2,4)(2,1,1,1)}"),
    ("document_combined_dimensions", "f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}"),
    ("document_padding_word", "f32[2,3]{0,1:pad(3,5)=zero}"),
    ("four_dimensions_of_a_tpu", "bf16[2,3,20,300]{3,2,1,0:T(8,128)(2,1)S(1)}"),
    ("out_of_memory", "s32[8388608,8,4]{2,1,0:T(8,128)}"),
    ("combined_pair", "f32[4,6]{1,0:T(*,4)}"),
    ("combined_after_a_tile", "f32[4,6]{1,0:T(2,3)(*,4)(2,1)}"),
    ("uneven_inner_tile", "f32[6,4]{1,0:T(3,2)(2,1)}"),
    ("uneven_tiles_of_one_dimension", "f32[7]{0:T(3)(2)}"),
    ("scalar", "f32[]"),
    ("scalar_with_a_tile", "f32[]{:T(128)}"),
    ("no_elements", "f32[0,3]"),
    ("strides_with_a_gap", "f32[2,3]{strides(5,1)}"),
    ("strides_backward_and_broadcast", "f32[2,3]{strides(0,-1),base(4),size(16)}"),
    ("strides_that_overlap", "f32[100,100,100]{strides(7919,7907,7901)}"),
    ("sub_byte_elements", "s4[3,5]{1,0:T(8,128)E(4)}"),
    ("aligned_end", "f32[10]{0:T(4)L(32)}"),
    ("every_qualifier", "u8[4,4]{0,1:T(2,2)L(64)E(8)S(5)SC(0:1,2)M(16)}"),
    ("bounded_dimension", "f32[<=8,3]"),
    ("unbounded_dimension", "f32[<=8,?]"),
    ("more_elements_than_memory_on_earth", "s8[1000000000,1000000000]{0,1:T(8,128)(4,1)}"),
    ("a_buffer", "b(f32[2]{0})"),
];

#[test]
fn show_explains_every_kind_of_array() {
    for (name, shape) in SHOWN {
        check(&format!("show_{name}"), &[&["show", shape]]);
    }
}

#[test]
fn show_explains_what_is_no_array() {
    check("show_tuple", &[&["show", "(f32[2], token[], (bf16[3,5]{1,0:T(8,128)}, opaque[]), f32[?])"]]);
    check("show_token_and_opaque", &[&["show", "token[]", "opaque[]", "()"]]);
}

#[test]
fn show_speaks_ascii_and_fits_narrow_terminals() {
    check("show_ascii", &[&["show", "--ascii", "f32[3,5]{1,0:T(2,2)}"]]);
    check("show_narrow", &[&["show", "--width", "40", "bf16[64,300]{1,0:T(8,128)(2,1)}"]]);
    check("show_wide", &[&["show", "--width", "120", "bf16[64,300]{1,0:T(8,128)(2,1)}"]]);
    check("show_color", &[&["show", "--color", "always", "f32[3,5]{1,0:T(2,2)}"]]);
}

#[test]
fn points_go_both_ways() {
    let tiled = "f32[3,5]{1,0:T(2,2)}";
    check(
        "points",
        &[
            &["index", tiled, "2,3"],
            &["index", tiled, "0,0", "(2,4)", "[1, 1]"],
            &["index", "f32[]{:T(128)}", "()"],
            &["index", "f32[1000000000,1000000000]{0,1:T(8,128)}", "999999999,999999999"],
            &["locate", tiled, "17", "9", "23"],
            &["locate", "f32[2,3]{0,1:pad(3,5)=zero}", "2"],
            &["locate", "f32[2,3]{strides(5,1)}", "3"],
            &["locate", "f32[10]{0:L(32)}", "31"],
            &["locate", "f32[4,6]{1,0:T(*,5)}", "24"],
            &["locate", "f32[]{:T(128)}", "0", "1"],
            &["parse", "F32[3,5]{1,0:(2,2)}", "f32[3, 5]", "(f32[], token[])"],
        ],
    );
}

#[test]
fn compare_answers_in_four_senses() {
    check(
        "compare",
        &[
            &["compare", "f32[16,128]{1,0:T(8,128)}", "f32[16,128]"],
            &["compare", "f32[16,128]{1,0:T(8,128)}", "f32[2048]", "--sense", "reshape"],
            &["compare", "f32[16,128]{1,0:T(8,128)}", "f32[2048]"],
            &["compare", "bf16[64,256]{1,0:T(8,128)(2,1)}", "bf16[64,256]{1,0:T(8,128)}"],
            &["compare", "f32[3,5]{1,0}", "s32[3,5]{0,1:S(1)}", "--sense", "transpose"],
            &["compare", "f32[8,256]{1,0:T(8,128)}", "f32[2048]", "--sense", "transpose"],
            &["compare", "f32[10]{0:L(16)}", "f32[10]", "--sense", "function"],
            &[
                "compare",
                "f32[100003,1009]{1,0:T(101,37)(*,53)(17,11)(*,13)}",
                "f32[100003,1009]{1,0:T(101,37)(*,53)(17,11)(*,13)(1,13)}",
            ],
            &["compare", "f32[3]", "token[]"],
        ],
    );
}

#[test]
fn plan_writes_the_loops() {
    check(
        "plan",
        &[
            &["plan", "f32[3,5]{1,0:T(2,2)}", "f32[3,5]"],
            &["plan", "bf16[64,300]", "bf16[64,300]{1,0:T(8,128)(2,1)}", "--fill", "lowest"],
            &["plan", "f32[8,6]{1,0:T(2,3)}", "f32[8,6]{1,0:T(2,2)}"],
            &["plan", "s32[2,3]", "s32[2,3]{0,1:pad(3,5)=one}"],
            &["plan", "f32[6,4]", "f32[6,4]{1,0:T(3,2)(2,1)}", "--fill", "0x7fc00000"],
            &["plan", "f32[4,6]", "f32[4,6]{1,0:T(2,3)(*,4)(2,1)}", "--fill", "zero"],
            &["plan", "f32[100,100]{1,0:T(31,31)}", "f32[100,100]{1,0:T(32,32)}", "--width", "60"],
            &["plan", "FLOAT32 NHWC [1,3,8,8]", "FLOAT32 NCHW [1,3,8,8]", "--ascii"],
            &["plan", "f32[300,200]", "{0,1}"],
            &["plan", "f32[0,3]", "f32[0,3]{0,1}"],
            &["plan", "f32[]", "f32[]{:T(128)}", "--fill", "highest"],
            &["plan", "f32[64,300]", "bf16[64,300]{1,0:T(8,128)(2,1)}", "--convert", "--fill", "-1.5"],
        ],
    );
    check(
        "plan_refused",
        &[
            &["plan", "f32[3,5]", "f32[3,6]"],
            &["plan", "f32[3,5]", "bf16[3,5]"],
            &["plan", "f32[3,5]", "f32[3,5]{strides(2,1)}"],
            &["plan", "f32[3,5]", "f32[3,5]{1,0:T(2,2)}", "--fill", "blue"],
            &["plan", "c64[3]", "c64[3]{0:T(2)}", "--fill", "lowest"],
            &["plan", "s8[3]", "s8[3]{0:T(2)}", "--fill", "256"],
            &["plan", "f32[3,5]", "c64[3,5]", "--convert"],
            &["plan", "f32[3,5]", "{0,1:T(2,2}"],
            &["plan", "s8[3]", "token[]"],
        ],
    );
}

#[test]
fn bad_shapes_are_located() {
    let deep = "(".repeat(100_000);
    let bad = [
        "f23[3,5]",
        "f32[3,5]{1,0:E(4)T(2,2)}",
        "f32[3,5]{1,1}",
        "f32[3,5]{1,2}",
        "f32[3,5]{1}",
        "f32[3,5]{2,1,0}",
        "f32[3,5]{1,0:T(0,2)}",
        "f32[3,5]{1,0:T(-2)}",
        "f32[3,5]{1,0:T(2,*)}",
        "f32[9223372036854775807,2]",
        "f32[4611686018427387904]{0:T(3)}",
        "f32[99999999999999999999]",
        "",
        "token[2]",
        "f32[3,5]{1,0:S(300)}",
        "f32[3,5]{1,0:L(0)}",
        "f32[3,5]{1,0:E(4}",
        "f32[3,5]{strides(1,1),size(2)}",
        "f32[2] f32[3]",
        &deep,
    ];
    let text: Vec<String> = bad
        .iter()
        .map(|shape| {
            let text = seen(&["show", shape]);
            assert!(text.contains("--- exit code 2"), "{text}");
            text.replace(&deep, "((((…")
        })
        .collect();
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!("bad_shapes", text.join("\n")));
}

#[test]
fn bad_points_and_options_are_told() {
    let tiled = "f32[3,5]{1,0:T(2,2)}";
    check(
        "bad_points",
        &[
            &["index", tiled, "2,5"],
            &["index", tiled, "2"],
            &["index", tiled, "1,2,3"],
            &["index", tiled, "-1,2"],
            &["index", tiled, "x,2"],
            &["index", tiled, "1,"],
            &["index", tiled, "99999999999999999999,2"],
            &["index", "f32[0,3]", "0,0"],
            &["index", "f32[?]", "0"],
            &["index", "(f32[2])", "0"],
            &["locate", tiled, "24"],
            &["locate", tiled, "-1"],
            &["locate", "f32[0]", "0"],
            &["parse", "--strict-xla", "F32[3,5]{1,0:(2,2)}"],
            &["parse", "--strict-xla", "f32[3]{strides(2)}"],
            &["parse", "--strict-xla", "f32[3]{0:pad(4)}"],
            &["compare", "f32[3]", "f32[3"],
            &["compare", "f32[3]", "f32[3]", "--sense", "smell"],
            &["explain"],
        ],
    );
}

#[test]
fn json_is_as_documented() {
    check(
        "json",
        &[
            &["show", "--json", "f32[3,5]{1,0:T(2,2)}"],
            &["show", "--json", "(f32[<=2,3]{0,1:T(*,4)}, token[])"],
            &["show", "--json", "f32[?]"],
            &["show", "--json", "f32[2,3]{strides(0,-1),base(4),size(16)}"],
            &["show", "--json", "f32[3,5]{1,0:T(0,2)}"],
            &["index", "--json", "f32[3,5]{1,0:T(2,2)}", "2,3"],
            &["locate", "--json", "f32[3,5]{1,0:T(2,2)}", "17", "9"],
            &["parse", "--json", "F32[3,5]{1,0:(2,2)}"],
            &["compare", "--json", "f32[16,128]{1,0:T(8,128)}", "f32[2048]"],
            &["plan", "--json", "f32[3,5]", "f32[3,5]{1,0:T(2,2)}", "--fill", "one"],
        ],
    );
}

#[test]
fn suggest_leads_with_the_smallest_layout() {
    let large = "s32[8388608,8,4]{2,1,0:T(8,128)}";
    check(
        "suggest",
        &[&["suggest", large], &["suggest", "f32[8388608,8,4]", "--target", "tpu-v5e", "--top", "1"]],
    );
    check(
        "suggest_others",
        &[
            &["suggest", "bf16[2621440,1,2]", "--target", "tenstorrent"],
            &["suggest", "f32[100,60]", "--tile", "T(8,128)", "--tile", "T(4,128)"],
            &["suggest", "bf16[2048,1,2048,128]{0,1,3,2:T(4,128)(2,1)}", "--target", "tpu-v3"],
            &[
                "suggest",
                large,
                "--what-if",
                "{0,2,1:T(4,128)}",
                "--what-if",
                "{2,1,0}",
                "--what-if",
                "{2,0,1:T(8,128)}",
            ],
        ],
    );
    check(
        "suggest_nothing",
        &[
            &["suggest", "f32[129,1024]{1,0:T(8,128)}"],
            &["suggest", "f32[3,5]{strides(5,1)}"],
            &["suggest", "f32[0,3]", "f32[]"],
        ],
    );
    check("suggest_json", &[&["suggest", "--json", "--top", "1", "f32[300000,8]{1,0:T(8,128)}"]]);
    check("suggest_narrow", &[&["suggest", "--ascii", "--width", "40", large]]);
    check(
        "suggest_bad",
        &[
            &["suggest", "(f32[2], f32[3])", "token[]", "f32[?,3]", "FLOAT32 [1,3]", "s1[3,3]"],
            &["suggest", "f32[2]", "--target", "tenstorent"],
            &["suggest", "f32[2]", "--tile", "T(0)"],
            &["suggest", "f32[2]", "--tile", "T(8)E(4)"],
            &["suggest", "f32[2]", "--what-if", "{1,0}"],
            &["suggest", "f32[2]", "--what-if", "{0:T(8)", "--top", "3"],
            &["suggest", "f32[2]", "--strict-xla", "--what-if", "{strides(2)}"],
            &["suggest", "f32[2]", "--top", "0"],
        ],
    );
}
