//! What lies where in shared memory, against the pictures in Triton's sources.

use tilework::{ErrorKind, Layout, Place, Result, Swizzle};

use super::{number, parse};

/// A text, and the numbers of elements as they lie in memory, row by row of the tensor: the pictures of
/// `TritonGPUAttrDefs.td`, which show what is at each place.
#[rustfmt::skip]
const PICTURES: &[(&str, &[u64])] = &[
    ("tensor<4x4xi8, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 4, order = [1, 0]}>>",
        &[0, 1, 2, 3, 5, 4, 7, 6, 10, 11, 8, 9, 15, 14, 13, 12]),
    ("tensor<4x4xi8, #ttg.swizzled_shared<{vec = 1, perPhase = 2, maxPhase = 4, order = [1, 0]}>>",
        &[0, 1, 2, 3, 4, 5, 6, 7, 9, 8, 11, 10, 13, 12, 15, 14]),
    ("tensor<8x4xi8, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 2, order = [1, 0]}>>",
        &[0, 1, 2, 3, 5, 4, 7, 6, 8, 9, 10, 11, 13, 12, 15, 14, 16, 17, 18, 19, 21, 20, 23, 22, 24, 25, 26, 27, 29, 28, 31, 30]),
    ("tensor<8x4xi8, #ttg.swizzled_shared<{vec = 1, perPhase = 2, maxPhase = 2, order = [1, 0]}>>",
        &[0, 1, 2, 3, 4, 5, 6, 7, 9, 8, 11, 10, 13, 12, 15, 14, 16, 17, 18, 19, 20, 21, 22, 23, 25, 24, 27, 26, 29, 28, 31, 30]),
    ("tensor<4x8xi8, #ttg.swizzled_shared<{vec = 2, perPhase = 1, maxPhase = 4, order = [1, 0]}>>",
        &[0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 8, 9, 14, 15, 12, 13, 20, 21, 22, 23, 16, 17, 18, 19, 30, 31, 28, 29, 26, 27, 24, 25]),
    ("tensor<8x4xi8, #ttg.amd_rotating_shared<{vec = 1, perPhase = 1, maxPhase = 2, order = [1, 0]}>>",
        &[0, 1, 2, 3, 5, 4, 7, 6, 9, 8, 11, 10, 12, 13, 14, 15, 16, 17, 18, 19, 21, 20, 23, 22, 25, 24, 27, 26, 28, 29, 30, 31]),
    ("tensor<8x4xi8, #ttg.amd_rotating_shared<{vec = 1, perPhase = 2, maxPhase = 2, order = [1, 0]}>>",
        &[0, 1, 2, 3, 4, 5, 6, 7, 9, 8, 11, 10, 13, 12, 15, 14, 17, 16, 19, 18, 21, 20, 23, 22, 24, 25, 26, 27, 28, 29, 30, 31]),
    ("tensor<8x4xi8, #ttg.amd_rotating_shared<{vec = 1, perPhase = 1, maxPhase = 4, order = [1, 0]}>>",
        &[0, 1, 2, 3, 5, 4, 7, 6, 10, 11, 8, 9, 15, 14, 13, 12, 17, 16, 19, 18, 20, 21, 22, 23, 27, 26, 25, 24, 30, 31, 28, 29]),
];

/// Padding as `.` in the same file: what is at each place.
const PADDED: &[(&str, &str)] = &[
    ("tensor<4xi8, #ttg.padded_shared<[2:+2] {order = [0], shape = [4]}>>", "0 1 . . 2 3"),
    (
        "tensor<8xi8, #ttg.padded_shared<[2:+1, 4:+2] {order = [0], shape = [8]}>>",
        "0 1 . 2 3 . . . 4 5 . 6 7",
    ),
    ("tensor<4xi8, #ttg.padded_shared<[2:+2] {offset = [[2], [1]], block = []}>>", "0 2 . . 1 3"),
    (
        "tensor<8x4xi8, #ttg.padded_shared<[16:+1] {offset = [[0, 1], [0, 2], [2, 0], [4, 0], [1, 0]], block = []}>>",
        "0 1 2 3 8 9 10 11 16 17 18 19 24 25 26 27 . 4 5 6 7 12 13 14 15 20 21 22 23 28 29 30 31",
    ),
    (
        "!ttg.memdesc<3x4xi8, #ttg.padded_shared<[2:+1] {order = [0], shape = [4]}>, #ttg.shared_memory>",
        "0 1 . 2 3 . 4 5 . 6 7 . 8 9 . 10 11",
    ),
];

#[test]
fn memory_holds_what_tritons_pictures_show() -> Result<()> {
    let shown = |layout: &Layout| -> Result<Vec<String>> {
        let at = |place| match layout.locate(place)? {
            Place::Element(index) => Ok(number(&index, layout.dims()).to_string()),
            _ => Ok(".".to_owned()),
        };
        (0..layout.size()).map(at).collect()
    };
    for (text, picture) in PICTURES {
        let layout = parse(text).lower()?;
        let columns = layout.dims()[1];
        // A picture shows at (row, column) which element is there.
        let picture: Vec<String> = picture.iter().map(u64::to_string).collect();
        assert_eq!(shown(&layout)?, picture, "{text}, {columns} columns");
    }
    for (text, picture) in PADDED {
        assert_eq!(shown(&parse(text).lower()?)?.join(" "), *picture, "{text}");
    }
    Ok(())
}

#[test]
fn a_swizzle_is_that_of_cute_where_it_is_one() -> Result<()> {
    let text =
        "tensor<64x64xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>>";
    let layout = parse(text).lower()?;
    assert_eq!(layout, Layout::row_major(&[64, 64], 16)?.swizzled(&Swizzle::new(3, 3, 3)?)?);
    let tile = "!ttg.memdesc<8x64xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>, #ttg.shared_memory>";
    assert_eq!(parse(tile).lower()?, Layout::row_major(&[8, 64], 16)?.swizzled(&Swizzle::new(3, 3, 3)?)?);
    Ok(())
}

#[test]
fn a_view_with_buffers_has_the_places_of_each() -> Result<()> {
    let shared = "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>, #ttg.shared_memory, mutable";
    let three = parse(&format!("!ttg.memdesc<3x64x64xf16, {shared}>")).lower()?;
    let one = parse(&format!("!ttg.memdesc<64x64xf16, {shared}, 3x64x64>")).lower()?;
    assert_eq!((three.size(), one.size()), (3 * 4096, 4096));
    for (i, j) in [(1, 0), (5, 9), (63, 63)] {
        assert_eq!(three.offset(&[2, i, j])?, 2 * 4096 + one.offset(&[i, j])?);
    }
    let part = parse(&format!("!ttg.memdesc<16x64xf16, {shared}, 3x64x64>"));
    assert_eq!(parse(&part.to_string()), part);
    assert_eq!(part.lower().unwrap_err().kind(), ErrorKind::Unsupported);
    Ok(())
}
