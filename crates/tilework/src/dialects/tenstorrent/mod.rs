//! Tenstorrent's tiles: faces within tiles within matrices.
//!
//! ```text
//! bf16[64,64] tt_tile                  tiles of 32 × 32, in each four faces of 16 × 16
//! bf16[64,64] tt_tile 16x32            tiles of another shape
//! bf16[64,64] tt_tile transposed       faces in columns, and columns within faces
//! bf16[64,64] TILED_SWIZZLED           rows within tiles, without faces
//! bf16[64,64] tt_row_major             ROW_MAJOR_LAYOUT
//! ```
//!
//! The last two dimensions are in tiles, and each such matrix is padded by itself. Facts from tenstorrent/tt-metal:
//! `tech_reports/tensor_layouts`, `tt_metal/api/tt-metalium/tilize_utils.hpp` and the table of tiles in
//! `tt_metal/impl/data_format/tile.cpp`.

mod dialect;

pub use dialect::DIALECT;
