//! What somebody tries in the first hour, and what is said.

use crate::common::{Ran, command, run, run_with};

fn stdout(args: &[&str]) -> String {
    let Ran { stdout, stderr, .. } = run(args);
    assert!(stderr.is_empty(), "{args:?}: {stderr}");
    // Lines are filled to the width, which says nothing here.
    stdout.split_whitespace().collect::<Vec<&str>>().join(" ")
}

#[track_caller]
fn says(args: &[&str], words: &str) {
    let said = stdout(args);
    assert!(said.contains(words), "{args:?}: {said}");
}

const CODE: &str = "UINT sizes[4] = {1, 64, 56, 56};\nUINT strides[4] = {200704, 1, 3584, 64};\n\
    DML_BUFFER_TENSOR_DESC d = {DML_TENSOR_DATA_TYPE_FLOAT16, DML_TENSOR_FLAG_NONE, 4, sizes, strides, TOTAL, 0};\n";

#[test]
fn code_of_directml_is_read_wherever_a_layout_is() {
    let right = CODE.replace("TOTAL", "401408");
    says(&["show", &right], "FLOAT16 [1,64,56,56] strides [200704,1,3584,64] total 401408");
    says(&["show", "--as", "directml", &right], "fits NHWC");
    says(&["check", &right], "1 descriptor: nothing is broken");
    for args in [&["check", "-"][..], &[]] {
        let Ran { stdout, stderr, code } = run_with(command(args), CODE.replace("TOTAL", "12345").as_bytes());
        assert!(stdout.contains("TotalTensorSizeTooSmall"), "{stdout}{stderr}");
        assert_eq!(code, 1);
    }
    let Ran { stdout, .. } = run_with(command(&["find"]), right.as_bytes());
    assert!(stdout.contains("fits NHWC"), "{stdout}");
}

#[test]
fn descriptors_are_checked_as_arguments_too() {
    says(&["check", "FLOAT16 NHWC [1,64,56,56]"], "1 descriptor: nothing is broken");
    let said = stdout(&["check", r#"{"DataType": "FLOAT16", "Sizes": [5,55], "Strides": [9]}"#]);
    assert!(said.contains("StridesCount"), "{said}");
    says(&["show", "{'DataType': 'FLOAT16', 'Sizes': (2, 3), 'Strides': None}"], "FLOAT16 [2,3]");
}

#[test]
fn layouts_of_cute_with_other_shapes_are_compared() {
    for (a, b) in [("f16 (64):(1)", "f16 (8,8):(1,8)"), ("f16 (8,8):(1,8)", "f16 (4,16):(1,4)")] {
        says(&["compare", a, b], "flat index yes: with the first mode fastest");
    }
    says(
        &["compare", "f16[8,8] (8,8):(1,8)", "f16[64] 64:1"],
        "nothing moves: the same buffer under other modes",
    );
    says(&["compare", "f16 (8,8):(8,1)", "f16 64:1"], "flat index no");
    // What one side does not say, it has from the other.
    says(&["compare", "f16[8,8]{0,1}", "(8,8):(1,8)"], "same buffer yes");
    says(&["compare", "(8,8):(1,8)", "f16[8,8]{0,1}"], "same buffer yes");
    says(&["compare", "f32[3,5]", "{0,1}"], "B f32[3,5]{0,1}");
}

#[test]
fn a_layout_of_cute_needs_no_type() {
    says(&["show", "(8,8):(1,8)"], "formula (i, j) is at i + 8·j");
    says(&["show", "(8,8):(1,8)"], "as in f32 (8,8):(1,8), bytes are right too");
    says(&["translate", "(8,8):(1,8)", "--to", "numpy"], "uint8 (8, 8) strides (1, 8)");
    let swizzled = stdout(&["translate", "Sw<3,4,3> o smem_ptr[16b](0x7f) o (8,64):(64,1)"]);
    assert!(swizzled.contains("u16 stands for it here. cute u16 S<3,3,3>"), "{swizzled}");
}

#[test]
fn elements_of_another_width_are_said_to_be_converted() {
    let said = stdout(&["compare", "f16[64,64]{1,0}", "f32[64,64]{1,0}"]);
    assert!(said.contains("has to be converted from f16 to f32 (--convert)"), "{said}");
    let said = stdout(&["compare", "f16[64,64]{1,0}", "f32[64,64]{0,1}"]);
    assert!(said.ends_with("elements have to be converted from f16 to f32 (--convert)"), "{said}");
}

#[test]
fn a_dimension_of_one_element_has_any_stride() {
    says(&["show", "FLOAT32 NHWC [1,3,8,8]"], "strides any, 1, 24, 3; in bytes any, 4, 96, 12");
}

#[track_caller]
fn refuses(text: &str, words: &[&str]) {
    let Ran { stderr, code, .. } = run(&["show", text]);
    let said = stderr.split_whitespace().collect::<Vec<&str>>().join(" ");
    assert_eq!(code, 2, "{text}: {said}");
    for words in words {
        assert!(said.contains(words), "{text}: {words}: {said}");
    }
}

#[test]
fn tiles_alone_are_explained_with_an_array() {
    refuses(
        "T(8,128)(2,1)",
        &["tiles of 8 × 128", "(2,1) cuts each tile again", "bf16[16,256]{1,0:T(8,128)(2,1)}"],
    );
    refuses("T(8,128)", &["accepted: an array in these tiles, such as f32[16,256]{1,0:T(8,128)}"]);
    for text in ["bf16[16,256]{T(8,128)(2,1)}", "bf16[16,256]:T(8,128)(2,1)"] {
        refuses(text, &["accepted: bf16[16,256]{1,0:T(8,128)(2,1)}"]);
    }
    // Behind an array it is clear what they cut.
    let said = run(&["show", "bf16[16,256]T(8,128)(2,1)"]).stdout;
    assert!(said.starts_with("bf16[16,256]{1,0:T(8,128)(2,1)}"), "{said}");
}

#[test]
fn a_near_miss_is_answered_with_the_text_to_write() {
    for (text, accepted) in [
        ("f32[3,5]{1 0}", "f32[3,5]{1,0}"),
        ("f32 nChw8c [1,17,2,2]", "f32[1,17,2,2] nChw8c"),
        ("f32 3x5", "f32[3,5]"),
        ("float32 (3,5) order F", "f32[3,5]{0,1}"),
        ("x = np.zeros((3,5), order=\"F\")", "f64[3,5]{0,1}, or what x.dtype, x.shape and x.strides are"),
        ("np.ones((3, 5), dtype=np.float32)", "f32[3,5]{1,0}"),
        ("array([[1., 2.], [3., 4.]])", "what x.dtype, x.shape and x.strides are"),
        ("tensor([[1, 2], [3, 4]])", "x.stride()"),
    ] {
        refuses(text, &[accepted]);
    }
    // What ends early is no trap.
    for text in [
        "np.zeros",
        "x = np.zeros(",
        "torch.rand((",
        "T(",
        "f32[3]{",
        "f32 3x",
        "array(",
        "f32[3,5]T(",
        "é{1 0}",
    ] {
        refuses(text, &[]);
    }
    refuses("FLOAT24 NHWC [1,2,3,4]", &["FLOAT32, FLOAT16", "INT4"]);
    refuses(r#"{"DataType":"FLOAT32","Sizes":[2],"Stride":[1]}"#, &["did you mean Strides?"]);
}

#[test]
fn ordinary_texts_are_no_element_types() {
    for text in ["hello world", "RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)"] {
        refuses(text, &["no layout stands in this text"]);
    }
    refuses("E_INVALIDARG One or more arguments are invalid", &["tilework check names the rule"]);
    refuses(
        "The Pallas TPU lowering currently requires that the last two dimensions of your block shape are divisible by 8",
        &["tilework block"],
    );
}

#[test]
fn quotes_and_marks_around_a_text_are_passed_over() {
    for text in
        ["'f32[3,5]'", "\"f32[3,5]\"", "`f32[3,5]`", "“f32[3,5]”", "\u{feff}f32[3,5]", "\"'f32[3,5]'\""]
    {
        assert_eq!(stdout(&["parse", text]), "f32[3,5]{1,0}", "{text}");
    }
}

#[test]
fn words_that_a_shell_took_apart_are_one_text() {
    let Ran { stderr, code, .. } = run(&["show", "FLOAT16", "NHWC", "[1,64,56,56]"]);
    assert!(stderr.contains("accepted: 'FLOAT16 NHWC [1,64,56,56]', in quotes"), "{stderr}");
    assert_eq!((code, stderr.matches("error").count()), (2, 1));
    let Ran { stderr, .. } = run(&["index", "f32[3,5]", "2", "3"]);
    assert!(stderr.contains("2 numbers in one word, with commas: 2,0"), "{stderr}");
}

#[test]
fn layouts_of_cute_are_read_as_cpp_makes_them() {
    for (text, said) in [
        ("f16 Layout<Shape<_8,_16>,Stride<_16,_1>>", "f16 (8,16):(16,1)"),
        ("f16 make_layout(make_shape(Int<8>{},Int<16>{}))", "f16 (8,16):(1,8)"),
        (
            "make_layout(make_shape(8, make_shape(_2{}, 4)), make_stride(1, make_stride(8, 16)));",
            "(8,(2,4)):(1,(8,16))",
        ),
        ("cute::Layout<cute::Shape<cute::_8, cute::_4>>{}", "(8,4):(1,8)"),
    ] {
        assert_eq!(stdout(&["parse", text]), said, "{text}");
    }
}

#[test]
fn names_of_notations_are_read_in_any_case() {
    says(&["translate", "f32[3,5]", "--to", "CuTE"], "f32 (3,5):(5,1)");
}

#[test]
fn standard_input_without_an_answer_is_an_error_wherever_it_is_read() {
    let commands: [(&[&str], &str); 10] = [
        (&["show"], "a layout, such as f32[3,5]{1,0}"),
        (&["show", "-", "--json"], "a layout"),
        (&["parse"], "a layout"),
        (&["translate"], "a layout"),
        (&["suggest"], "a layout"),
        (&["compare", "f32[3,5]", "-"], "a layout"),
        (&["plan", "f32[3,5]", "-"], "a layout"),
        (&["index", "f32[3,5]"], "an index, such as 2,3"),
        (&["locate", "f32[3,5]"], "an offset, such as 17"),
        (&["block", "f32[1024,100]", "-"], "a block, such as 8,128"),
    ];
    for (args, wanted) in commands {
        for input in ["", "\n  \n# nothing\n"] {
            let Ran { stderr, code, .. } = run_with(command(args), input.as_bytes());
            assert!(stderr.contains("nothing on standard input"), "{args:?} {input:?}: {stderr}");
            assert!(stderr.contains(wanted), "{args:?}: {stderr}");
            assert_eq!(code, 2, "{args:?}");
        }
    }
}

#[test]
fn a_name_that_is_none_is_no_file() {
    let commands: [&[&str]; 7] = [
        &["audit", ""],
        &["check", ""],
        &["find", ""],
        &["ls", ""],
        &["diff", "", "b.npz"],
        &["convert", "", "out.npy"],
        &["show", "f32[3]", "--svg", ""],
    ];
    for args in commands {
        let Ran { stderr, code, .. } = run(args);
        assert!(stderr.contains("a value is required for"), "{args:?}: {stderr}");
        assert_eq!(code, 2, "{args:?}");
    }
    for args in [&["ls", "-"][..], &["diff", "-", "b.npz"]] {
        let Ran { stderr, code, .. } = run(args);
        assert!(stderr.contains("standard input as a file of named arrays"), "{args:?}: {stderr}");
        assert_eq!(code, 2, "{args:?}");
    }
}
