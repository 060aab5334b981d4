//! cuBLASLt's orders against the closed formulas of FasterTransformer, and scales against the formulas of the kernels that
//! write them.

use super::{called, check, read, refused, with};

/// The tests with formulas, for the corpus.
pub fn formulas() {
    orders_place_elements_by_the_formulas_of_those_who_write_them();
    leading_dimensions_and_many_matrices();
    scales_are_tiles_of_128_or_8_rows();
}

/// Rows and columns below, at and above every tile.
const SIZES: [[u64; 2]; 8] = [[32, 64], [5, 70], [33, 31], [1, 1], [8, 32], [64, 33], [3, 100], [100, 3]];

/// `index_CUBLASLT_ORDER_COL4_4R2_8C` of FasterTransformer.
fn turing(row: u64, column: u64, ld: u64) -> u64 {
    let half = if column & 7 >= 4 { 4 } else { 0 };
    let line = (row >> 3 << 3) + ((row & 1) << 2) + ((column & 31) >> 3);
    (column >> 5) * ld + (line << 5) + ((half + ((row & 7) >> 1)) << 2) + (column & 3)
}

/// `index_CUBLASLT_ORDER_COL32_2R_4R4` of FasterTransformer.
fn ampere(row: u64, column: u64, ld: u64) -> u64 {
    let r = row & 31;
    let line = ((((r & 7) >> 1) << 2) + (r >> 3)) << 1;
    (column >> 5) * ld + (row >> 5 << 10) + ((line + (r & 1)) << 5) + (column & 31)
}

#[test]
fn orders_place_elements_by_the_formulas_of_those_who_write_them() {
    for dims in SIZES {
        let [m, n] = dims;
        let groups = n.div_ceil(32);
        check("cublaslt", &with("f16", &dims, "COL"), m * n, |i| i[0] + i[1] * m);
        check("cublaslt", &with("f16", &dims, "CUBLASLT_ORDER_ROW"), m * n, |i| i[0] * n + i[1]);
        check("cublaslt", &with("s8", &dims, "COL32"), groups * 32 * m, |i| {
            i[1] / 32 * 32 * m + i[0] * 32 + i[1] % 32
        });
        let ld = 32 * m.next_multiple_of(8);
        check("cublaslt", &with("s8", &dims, "COL4_4R2_8C"), groups * ld, |i| turing(i[0], i[1], ld));
        let ld = 32 * m.next_multiple_of(32);
        check("cublaslt", &with("s8", &dims, "COL32_2R_4R4"), groups * ld, |i| ampere(i[0], i[1], ld));
        let ld = ld + 64;
        check("cublaslt", &with("s8", &dims, &format!("COL32_2R_4R4 ld={ld}")), groups * ld, |i| {
            ampere(i[0], i[1], ld)
        });
    }
}

#[test]
fn leading_dimensions_and_many_matrices() {
    check("cublaslt", "f32[3,5] COL ld=8", 40, |i| i[0] + i[1] * 8);
    check("cublaslt", "f32[3,5] ROW ld=8", 24, |i| i[0] * 8 + i[1]);
    check("cublaslt", "s8[2,5,70] COL32 ld=192", 2 * 576, |i| {
        i[0] * 576 + i[2] / 32 * 192 + i[1] * 32 + i[2] % 32
    });
    check("cublaslt", "f32[4,3,5] COL ld=4 stride=32", 3 * 32 + 20, |i| i[0] * 32 + i[1] + i[2] * 4);
    check("cublaslt", "f32[0,5] COL", 0, |_| 0);
}

#[test]
fn scales_are_tiles_of_128_or_8_rows() {
    for dims in [[128_u64, 4], [300, 10], [1, 1], [129, 4], [7, 9]] {
        let [m, k] = dims;
        let tiles = k.div_ceil(4);
        // get_sf_out_offset_128x4 and get_sf_out_offset_8x4
        check("cublaslt", &with("f8e4m3fn", &dims, "scales 128x4"), m.div_ceil(128) * tiles * 512, |i| {
            i[0] / 128 * tiles * 512 + i[1] / 4 * 512 + i[0] % 32 * 16 + i[0] % 128 / 32 * 4 + i[1] % 4
        });
        check(
            "cublaslt",
            &with("f8e8m0fnu", &dims, "SfLayout.layout_8x4"),
            m.div_ceil(8) * tiles * 32,
            |i| i[0] / 8 * tiles * 32 + i[1] / 4 * 32 + i[0] % 8 * 4 + i[1] % 4,
        );
    }
}

#[test]
fn layouts_of_other_notations_have_their_order() {
    for (text, order) in [
        ("s8[3,5]{1,0}", "s8[3,5] ROW"),
        ("s8[3,5]{0,1}", "s8[3,5] COL"),
        ("s8[2,3]{strides(8,1),size(16)}", "s8[2,3] ROW ld=8"),
        ("s8[16,64] Ba4b", "layout: no format"),
    ] {
        let called = called("cublaslt", text);
        assert!(called.starts_with(order), "{text}: {called}");
    }
    assert_eq!(called("onednn", "s8[8,64] COL32"), "s8[8,64] Ba32b");
    assert_eq!(called("cublaslt", "s8[8,64] Ba32b").split_whitespace().last(), Some("COL32"));
}

#[test]
fn what_is_no_order_is_refused_where_it_goes_wrong() {
    refused(
        "cublaslt",
        &[
            ("s8[32,64] COL64", "COL64", "COL"),
            ("s8[32,64] COL32 ld=512", "ld=512", "at least 1024"),
            ("s8[32,64] COL32 ld=x", "ld=x", "no number"),
            ("s8[32,64] COL32 ld=2048 ld=2048", "ld=2048", "second time"),
            ("s8[32,64] COL32 stride=9999", "stride=9999", "one matrix"),
            ("s8[2,32,64] COL32 stride=100", "stride=100", "2048"),
            ("s8[32] COL32", "COL32", "2 or 3 dimensions"),
            ("u8[32,4] scales 128x4 ld=4", "ld=4", "dense"),
            ("s8[32,64] COL32 rows=3", "rows=3", "ld="),
        ],
    );
    let said = read("s8[32,64] COL32");
    assert!(said.notes(&said.layout().unwrap())[0].contains("1024"));
}
