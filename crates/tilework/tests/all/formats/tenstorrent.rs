//! Tenstorrent's tiles, face by face.

use super::{called, check, read, refused, with};

/// The tests with formulas, for the corpus.
pub fn formulas() {
    tiles_have_faces_in_rows();
    each_matrix_is_padded_and_one_dimension_is_a_row();
}

/// The place in a tile of faces, counted as the technical report draws them.
fn in_tile(row: u64, column: u64, height: u64, width: u64, transposed: bool) -> u64 {
    let face = height.min(16);
    let (down, across) = (row / face, column / 16);
    let (number, within) = match transposed {
        false => (down * (width / 16) + across, row % face * 16 + column % 16),
        true => (across * (height / face) + down, column % 16 * face + row % face),
    };
    number * face * 16 + within
}

#[test]
fn tiles_have_faces_in_rows() {
    let shapes = [32, 16, 8, 4, 2, 1].into_iter().flat_map(|height| [32, 16].map(|width| (height, width)));
    for (height, width) in shapes {
        for [rows, columns] in [[64_u64, 64], [1, 1], [33, 31], [5, 70]] {
            let (down, across) = (rows.div_ceil(height), columns.div_ceil(width));
            let place = |i: &[u64], transposed| {
                (i[0] / height * across + i[1] / width) * height * width
                    + in_tile(i[0] % height, i[1] % width, height, width, transposed)
            };
            let size = down * across * height * width;
            let format = format!("tt_tile {height}x{width}");
            check("tenstorrent", &with("bf16", &[rows, columns], &format), size, |i| place(i, false));
            check(
                "tenstorrent",
                &with("bf16", &[rows, columns], &format!("TILED_SWIZZLED {height}x{width}")),
                size,
                |i| {
                    (i[0] / height * across + i[1] / width) * height * width
                        + i[0] % height * width
                        + i[1] % width
                },
            );
            if height >= 16 {
                check(
                    "tenstorrent",
                    &with("bf16", &[rows, columns], &format!("{format} transposed")),
                    size,
                    |i| place(i, true),
                );
            }
        }
    }
}

#[test]
fn each_matrix_is_padded_and_one_dimension_is_a_row() {
    check("tenstorrent", "f32[2,3,5,40] ttnn.TILE_LAYOUT", 6 * 2048, |i| {
        (i[0] * 3 + i[1]) * 2048 + i[3] / 32 * 1024 + in_tile(i[2], i[3] % 32, 32, 32, false)
    });
    let layout = check("tenstorrent", "bf16[100] tt_tile", 4096, |i| {
        i[0] / 32 * 1024 + in_tile(0, i[0] % 32, 32, 32, false)
    });
    assert_eq!(layout.size(), 32 * 128);
    let said = read("bf16[100] tt_tile");
    assert!(said.notes(&layout)[0].contains("32 rows"), "{:?}", said.notes(&layout));
    let note = |text: &str| {
        let said = read(text);
        said.notes(&said.layout().unwrap()).join("\n")
    };
    // 100 elements fill four tiles of 1024 in one row; a matrix of them fits one.
    let cost = note("bf16[100] tt_tile");
    assert!(cost.contains("[1,100]") && cost.contains("8192 B for 200 B"), "{cost}");
    assert!(cost.ends_with("Row-major order (ttnn.ROW_MAJOR_LAYOUT) takes 200 B; reshaped so that the last two dimensions fill tiles it takes 2048 B"), "{cost}");
    let whole = note("bf16[2048] tt_tile");
    assert!(
        whole.contains("128 KiB for 4096 B")
            && whole.ends_with("reshaped to [32,64] it fills its tiles, 4096 B"),
        "{whole}"
    );
    assert_eq!(note("bf16[32,64] tt_tile"), "");
    assert_eq!(note("f32[0] tt_tile"), "");
    check("tenstorrent", "f32[] tt_tile", 1024, |_| 0);
    check("tenstorrent", "f32[0,5] tt_tile", 0, |_| 0);
    check("tenstorrent", "f32[3,5] ROW_MAJOR_LAYOUT", 15, |i| i[0] * 5 + i[1]);
}

#[test]
fn tiles_have_names_in_other_notations() {
    assert_eq!(called("tenstorrent", "bf16[64,64]{1,0:T(32,32)(16,16)}"), "bf16[64,64] tt_tile");
    assert_eq!(called("xla", "bf16[64,64] tt_tile"), "bf16[64,64]{1,0:T(32,32)(16,16)}");
    assert_eq!(called("onednn", "bf16[64,64] tt_tile"), "bf16[64,64] AB2a2b16a16b");
    assert_eq!(called("tenstorrent", "f32[64,64]{1,0:T(32,32)}"), "f32[64,64] TILED_SWIZZLED");
}

#[test]
fn what_is_no_tile_is_refused_where_it_goes_wrong() {
    refused(
        "tenstorrent",
        &[
            ("bf16[64,64] tt_tiles", "tt_tiles", "tt_tile"),
            ("bf16[64,64] tt_tile 32x64", "32x64", "16 or 32 wide"),
            ("bf16[64,64] tt_tile 8x32 transposed", "tt_tile", "16 or 32 rows"),
            ("bf16[64,64] tt_tile bfloat8_b", "bfloat8_b", "share an exponent"),
            ("bf16[64,64] tt_row_major 32x32", "32x32", "without tiles"),
            ("bf16[64,64] tt_tile wide", "wide", "transposed"),
        ],
    );
}
