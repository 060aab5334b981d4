//! Ascend's formats against the reshapes and transposes of its converters.

use super::{called, check, read, refused, with};

/// The tests with formulas, for the corpus.
pub fn formulas() {
    matrices_are_columns_of_blocks();
    images_and_weights_are_in_blocks_of_channels();
}

#[test]
fn matrices_are_columns_of_blocks() {
    for (element, c0) in [("f16", 16), ("bf16", 16), ("s8", 32), ("s4", 64)] {
        for [r, k] in [[32_u64, 48_u64], [1, 1], [17, 65], [16, 16], [5, 130]] {
            let (rows, columns) = (r.div_ceil(16), k.div_ceil(c0));
            check("ascend", &with(element, &[r, k], "FRACTAL_NZ"), rows * columns * 16 * c0, |i| {
                ((i[1] / c0 * rows + i[0] / 16) * 16 + i[0] % 16) * c0 + i[1] % c0
            });
        }
    }
    check("ascend", "f16[2,3,17,20] ACL_FORMAT_FRACTAL_NZ", 6 * 2 * 2 * 256, |i| {
        (i[0] * 3 + i[1]) * 1024 + ((i[3] / 16 * 2 + i[2] / 16) * 16 + i[2] % 16) * 16 + i[3] % 16
    });
    check("ascend", "f32[17,20] FRACTAL_NZ C0=8", 3 * 2 * 128, |i| {
        ((i[1] / 8 * 2 + i[0] / 16) * 16 + i[0] % 16) * 8 + i[1] % 8
    });
}

#[test]
fn images_and_weights_are_in_blocks_of_channels() {
    for [n, c, h, w] in [[1_u64, 17_u64, 2, 2], [2, 3, 4, 5], [20, 16, 3, 1], [17, 33, 1, 2]] {
        let blocks = c.div_ceil(16);
        check("ascend", &with("f16", &[n, c, h, w], "NC1HWC0"), n * blocks * h * w * 16, |i| {
            (((i[0] * blocks + i[1] / 16) * h + i[2]) * w + i[3]) * 16 + i[1] % 16
        });
        let rows = n.div_ceil(16);
        check("ascend", &with("f16", &[n, c, h, w], "FRACTAL_Z"), blocks * h * w * rows * 256, |i| {
            ((((i[1] / 16 * h + i[2]) * w + i[3]) * rows + i[0] / 16) * 16 + i[0] % 16) * 16 + i[1] % 16
        });
    }
    check("ascend", "f16[2,17,3,2,2] NDC1HWC0", 2 * 3 * 2 * 4 * 16, |i| {
        ((((i[0] * 3 + i[2]) * 2 + i[1] / 16) * 2 + i[3]) * 2 + i[4]) * 16 + i[1] % 16
    });
    check("ascend", "f16[17,17,3,2,2] FRACTAL_Z_3D", 3 * 2 * 4 * 2 * 256, |i| {
        (((((i[2] * 2 + i[1] / 16) * 2 + i[3]) * 2 + i[4]) * 2 + i[0] / 16) * 16 + i[0] % 16) * 16 + i[1] % 16
    });
}

#[test]
fn formats_have_names_in_other_notations() {
    assert_eq!(called("onednn", "f16[1,17,2,2] NC1HWC0"), "f16[1,17,2,2] aBcd16b");
    assert_eq!(called("ascend", "f16[1,17,2,2] nChw16c"), "f16[1,17,2,2] NC1HWC0");
    assert_eq!(called("onednn", "f16[32,48] FRACTAL_NZ"), "f16[32,48] BA16a16b");
    assert_eq!(called("ascend", "f32[2,17,2,2] nChw8c"), "f32[2,17,2,2] NC1HWC0 C0=8");
    assert!(called("ascend", "f32[3,5]{1,0}").contains("C0"));
}

#[test]
fn what_is_no_format_is_refused_where_it_goes_wrong() {
    refused(
        "ascend",
        &[
            ("f32[1,17,2,2] NC1HWC0", "NC1HWC0", "C0=8"),
            ("f16[17,2] NC1HWC0", "NC1HWC0", "[N,C,H,W]"),
            ("f16[17] FRACTAL_NZ", "FRACTAL_NZ", "[…,R,K]"),
            ("f16[17,2,2,2] FRACTAL_Z_3D", "FRACTAL_Z_3D", "[N,C,D,H,W]"),
            ("f16[17,20] FRACTAL_NX", "FRACTAL_NX", "FRACTAL_NZ"),
            ("f16[17,20] FRACTAL_ZN_LSTM", "FRACTAL_ZN_LSTM", "not known"),
            ("f16[17,20] FRACTAL_NZ C0=0", "C0=0", "C0=16"),
            ("f16[17,20] FRACTAL_NZ K0=16", "K0=16", "C0=16"),
        ],
    );
    let said = read("f16[17,20] FRACTAL_NZ");
    let part = said.parts(None).into_iter().find(|part| part.name == "format").unwrap();
    assert!(part.meaning.starts_with("[…][K1][R1][R0][K0]"), "{}", part.meaning);
}
