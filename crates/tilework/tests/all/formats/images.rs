//! cuDNN's vectors, ONNX Runtime's blocks and rows of textures.

use super::{called, check, refused, with};

/// The tests with formulas, for the corpus.
pub fn formulas() {
    cudnn_has_channels_in_whole_vectors();
    onnxruntime_has_blocks_of_the_processor();
    rows_of_textures_begin_at_256_bytes_and_the_last_is_whole();
}

#[test]
fn cudnn_has_channels_in_whole_vectors() {
    for (vector, channels) in [(4, 8), (32, 64), (32, 32)] {
        let dims = [2, channels, 3, 5];
        check("cudnn", &with("s8", &dims, &format!("NC/{vector}HW{vector}")), 30 * channels, |i| {
            (((i[0] * (channels / vector) + i[1] / vector) * 3 + i[2]) * 5 + i[3]) * vector + i[1] % vector
        });
    }
    check("cudnn", "s8[1,32,2,3,2] NC/32DHW32", 384, |i| ((i[2] * 3 + i[3]) * 2 + i[4]) * 32 + i[1]);
    check("cudnn", "f16[2,3,4,5] CUDNN_TENSOR_NHWC", 120, |i| ((i[0] * 4 + i[2]) * 5 + i[3]) * 3 + i[1]);
    assert_eq!(called("cudnn", "s8[2,64,3,5] kCHW32"), "s8[2,64,3,5] NC/32HW32");
    assert_eq!(called("tensorrt", "s8[2,64,3,5] NC/32HW32"), "s8[2,64,3,5] kCHW32");
    refused(
        "cudnn",
        &[
            ("s8[2,33,3,5] NC/32HW32", "NC/32HW32", "multiple of 32"),
            ("s8[2,33] NC/32HW32", "NC/32HW32", "4 dimensions"),
            ("s8[2,32,3,5] NC/32HW16", "NC/32HW16", "NC/32HW32"),
            ("s8[2,32,3,5] CUDNN_TENSOR_NCHW_VECT_C", "CUDNN", "data type"),
        ],
    );
}

#[test]
fn onnxruntime_has_blocks_of_the_processor() {
    for block in [8, 16] {
        let dims = [17, 9, 2, 3];
        let (o, i_) = (17_u64.div_ceil(block), 9_u64.div_ceil(block));
        check("onnxruntime", &with("f32", &dims, &format!("NCHWc B={block}")), 17 * i_ * 6 * block, |i| {
            (((i[0] * i_ + i[1] / block) * 2 + i[2]) * 3 + i[3]) * block + i[1] % block
        });
        check("onnxruntime", &with("f32", &dims, &format!("OIHWBo B={block}")), o * 9 * 6 * block, |i| {
            (((i[0] / block * 9 + i[1]) * 2 + i[2]) * 3 + i[3]) * block + i[0] % block
        });
        check(
            "onnxruntime",
            &with("f32", &dims, &format!("OIHWBiBo B={block}")),
            o * i_ * 6 * block * block,
            |i| {
                ((((i[0] / block * i_ + i[1] / block) * 2 + i[2]) * 3 + i[3]) * block + i[1] % block) * block
                    + i[0] % block
            },
        );
    }
    assert_eq!(called("onnxruntime", "f32[1,17,2,2] nChw8c"), "f32[1,17,2,2] NCHWc B=8");
    assert_eq!(called("onednn", "f32[17,9,2,3] OIHWBiBo B=16"), "f32[17,9,2,3] ABcd16b16a");
    refused(
        "onnxruntime",
        &[
            ("f32[1,17,2,2] nChwc", "", "B=8"),
            ("f32[1,17,2] NCHWc B=8", "NCHWc", "[N,C,H,W]"),
            ("f32[1,17,2,2] NCHWc B=0", "B=0", "B=16"),
        ],
    );
}

#[test]
fn rows_of_textures_begin_at_256_bytes_and_the_last_is_whole() {
    let layout = check("texture", "u8[4,4,4] bytesPerRow=256", 784, |i| i[0] * 256 + i[1] * 4 + i[2]);
    assert_eq!(layout.bytes(), 784);
    check("texture", "u32[4,4] RowPitch=256", 196, |i| i[0] * 64 + i[1]);
    check("texture", "f16[3,5,7] bytesPerRow: 512, rowsPerImage: 8", 2 * 8 * 256 + 4 * 256 + 7, |i| {
        i[0] * 2048 + i[1] * 256 + i[2]
    });
    check("texture", "u8[1,300] bytesPerRow=512", 300, |i| i[1]);
    assert_eq!(called("texture", "u32[4,4]{strides(64,1),size(196)}"), "u32[4,4] bytesPerRow=256");
    assert!(called("texture", "u32[4,4]{1,0}").contains("multiple of 256"));
    refused(
        "texture",
        &[
            ("u8[4,4] bytesPerRow=250", "bytesPerRow=250", "256"),
            ("u8[4,300] bytesPerRow=256", "bytesPerRow=256", "300"),
            ("u8[300] bytesPerRow=256", "bytesPerRow=256", "2 dimensions"),
            ("u8[2,4,4] bytesPerRow=256 rowsPerImage=3", "rowsPerImage=3", "4 or more"),
            ("u8[2,4,4] bytesPerRow=256 rowsPerFace=3", "rowsPerFace=3", "rowsPerImage"),
            ("f6e2m3fn[2,4] bytesPerRow=256 bytesPerRow=256", "bytesPerRow=256", "second"),
            ("c128[4,4] bytesPerRow=0", "bytesPerRow=0", "256"),
        ],
    );
}
