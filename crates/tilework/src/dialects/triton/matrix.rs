//! Encodings of matrix instructions: what the tensor cores of NVIDIA and the MFMA instructions of AMD give each lane, and
//! which parts of the factors they take from it.

use super::linear::{BLOCK, LANE, LinearLayout, REGISTER, WARP};
use super::meaning::{fill, refused};
use super::value::{Blocks, Encoding};
use crate::error::Result;

/// The last dimension, then the one before it, and so on: rows of a row-major matrix.
fn row_major(rank: usize) -> Vec<usize> {
    (0..rank).rev().collect()
}

/// The same with the last two exchanged.
fn column_major(rank: usize) -> Vec<usize> {
    let mut order = row_major(rank);
    order.swap(0, 1);
    order
}

/// The product of two matrices, as instructions leave it in registers.
pub(super) fn result(encoding: &Encoding, shape: &[u64]) -> Result<LinearLayout> {
    let rank = shape.len();
    let (mut tile, warps_per_cta, warp_order, blocks) = match encoding {
        Encoding::NvidiaMma { major, warps_per_cta, blocks, instruction, .. } => {
            let [m, n] = nvidia_tile(*major, instruction, rank)?;
            let tile = nvidia(rank, [rank - 2, rank - 1], [m, n], 2)?;
            (tile, warps_per_cta, nvidia_warps(*major, rank), blocks)
        }
        Encoding::AmdMfma { warps_per_cta, transposed, blocks, .. } => {
            let size = amd_tile(encoding)?;
            // Four neighbours down a column in registers, a row across lanes; or the other way round.
            let (down, across) = if *transposed { (rank - 1, rank - 2) } else { (rank - 2, rank - 1) };
            let mut tile = LinearLayout::of_registers(rank);
            tile.along(REGISTER, down, 4)?;
            tile.along(LANE, across, size)?;
            tile.along(LANE, down, 64 / size)?;
            tile.along(REGISTER, down, size / 4 / (64 / size))?;
            (tile, warps_per_cta, row_major(rank), blocks)
        }
        other => return Err(no_matrix(other)),
    };
    warp_order.iter().try_for_each(|&dim| tile.along(WARP, dim, warps_per_cta[dim]))?;
    fill(tile, blocks.linear(rank)?, shape, &row_major(rank))
}

/// A factor of a product, as instructions take it from registers. Along `k`, over which the product sums, every warp has
/// all of it.
pub(super) fn operand(
    operand: u64,
    parent: &Encoding,
    k_width: Option<u64>,
    shape: &[u64],
) -> Result<LinearLayout> {
    let rank = shape.len();
    let (k, other) = if operand == 0 { (rank - 1, rank - 2) } else { (rank - 2, rank - 1) };
    // Growing goes along k first, whichever dimension it is.
    let order = if operand == 0 { row_major(rank) } else { column_major(rank) };
    let width = || match k_width {
        Some(width) if width.is_power_of_two() && width <= 64 => Ok(width),
        _ => Err(refused(
            format!("dot_op with kWidth {}", k_width.unwrap_or(0)),
            "kWidth says how many neighbours along k a lane holds, a power of two",
        )),
    };
    let (mut tile, order, warps_per_cta, warp_order, blocks) = match parent {
        Encoding::Blocked { size_per_thread, threads_per_warp, warps_per_cta, order, blocks } => {
            let mut tile = LinearLayout::of_registers(rank);
            for &dim in order {
                tile.along(REGISTER, dim, if dim == k { shape[k] } else { size_per_thread[dim] })?;
            }
            along_others(&mut tile, LANE, k, order, threads_per_warp)?;
            (tile, order.clone(), warps_per_cta, order.clone(), blocks)
        }
        Encoding::NvidiaMma { major, warps_per_cta, blocks, instruction, .. } => {
            nvidia_tile(*major, instruction, rank)?;
            if instruction.ends_with(&[8, 8]) || (*major == 3 && operand == 1) {
                return Err(refused(
                    format!("operand {operand} of an instruction {instruction:?} of version {major}"),
                    "of the operands in registers, those of m16n8 instructions and the first of version 3 are read",
                ));
            }
            let width = width()?;
            let size = if operand == 0 { 16 } else { 8 };
            let tile = nvidia(rank, [other, k], [size, 8 * width], width)?;
            (tile, order, warps_per_cta, nvidia_warps(*major, rank), blocks)
        }
        Encoding::AmdMfma { warps_per_cta, blocks, .. } => {
            let size = amd_tile(parent)?;
            let mut tile = LinearLayout::of_registers(rank);
            tile.along(REGISTER, k, width()?)?;
            tile.along(LANE, other, size)?;
            tile.along(LANE, k, 64 / size)?;
            (tile, order, warps_per_cta, row_major(rank), blocks)
        }
        parent => return Err(no_matrix(parent)),
    };
    along_others(&mut tile, WARP, k, &warp_order, warps_per_cta)?;
    fill(tile, operand_blocks(blocks, k, rank)?, shape, &order)
}

/// Values along every dimension but `k`, along which all of them hold the same.
fn along_others(
    tile: &mut LinearLayout,
    input: &str,
    k: usize,
    order: &[usize],
    values: &[u64],
) -> Result<()> {
    order.iter().try_for_each(|&dim| match dim == k {
        true => tile.zeros(input, values[dim]),
        false => tile.along(input, dim, values[dim]),
    })
}

/// The blocks of a product as those of a factor: along `k`, every block has all of it.
fn operand_blocks(blocks: &Blocks, k: usize, rank: usize) -> Result<LinearLayout> {
    let product = blocks.linear(rank)?;
    let mut own = LinearLayout::new(&[BLOCK], rank);
    for base in product.bases(BLOCK) {
        let mut base = base.clone();
        base[k] = 0;
        own.push(BLOCK, base)?;
    }
    let mut sizes = product.sizes().to_vec();
    sizes[k] = 1;
    own.set_sizes(&sizes);
    Ok(own)
}

/// `width` neighbours along the second dimension in a lane, four lanes along it, eight lanes along the first; then
/// registers until the tile is full.
fn nvidia(rank: usize, dims: [usize; 2], sizes: [u64; 2], width: u64) -> Result<LinearLayout> {
    let ([outer, inner], [m, n]) = (dims, sizes);
    let mut tile = LinearLayout::of_registers(rank);
    tile.along(REGISTER, inner, width)?;
    tile.along(LANE, inner, 4)?;
    tile.along(LANE, outer, 8)?;
    tile.along(REGISTER, outer, m / 8)?;
    tile.along(REGISTER, inner, n / (4 * width))?;
    Ok(tile)
}

fn nvidia_warps(major: u64, rank: usize) -> Vec<usize> {
    if major == 3 { column_major(rank) } else { row_major(rank) }
}

/// The rows and columns of one instruction's result.
fn nvidia_tile(major: u64, instruction: &[u64], rank: usize) -> Result<[u64; 2]> {
    let tile = match (major, instruction) {
        (2, [batch @ .., m, n]) if batch.iter().all(|&size| size == 1) && batch.len() + 2 == rank => [*m, *n],
        (3, [m, n, _]) if rank == 2 => [*m, *n],
        _ => [0, 0],
    };
    match tile {
        [16, n] if n >= 8 && n.is_power_of_two() => Ok(tile),
        [8, 8] if major == 2 => Ok(tile),
        _ => Err(refused(
            format!("nvidia_mma of version {major} with instrShape {instruction:?}"),
            "instructions of version 2 with m16n8 or m8n8 and of version 3 with m16 and a power of two are read",
        )),
    }
}

/// The rows, and columns, of one instruction's result.
fn amd_tile(encoding: &Encoding) -> Result<u64> {
    let Encoding::AmdMfma { instruction, tiles_per_warp, element_bits, .. } = encoding else {
        return Err(no_matrix(encoding));
    };
    let is_one = tiles_per_warp.as_ref().is_none_or(|tiles| tiles.iter().all(|&tiles| tiles == 1));
    match (&instruction[..], element_bits.unwrap_or(32)) {
        ([32, 32] | [32, 32, _], 32) if is_one => Ok(32),
        ([16, 16] | [16, 16, _], 32) if is_one => Ok(16),
        _ => Err(refused(
            format!("amd_mfma with instrShape {instruction:?}"),
            "instructions of 32 × 32 and 16 × 16 numbers of 32 bits are read, with one tile for each warp",
        )),
    }
}

fn no_matrix(encoding: &Encoding) -> crate::Error {
    refused(format!("dot_op of {}", encoding.name()), "operands of blocked, nvidia_mma and amd_mfma are read")
}
