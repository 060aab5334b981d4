//! What encodings mean: their linear layouts over tensors of known sizes, as Triton makes them.
//!
//! An encoding describes a tile. Where the tensor is larger, the tile is repeated: in registers, or behind what memory
//! holds already. Where it is smaller, the largest steps go, and what had them holds what others hold. Blocks take pieces of
//! the tensor, and each is filled by itself.

use super::linear::{BLOCK, Bases, LANE, LinearLayout, OFFSET, REGISTER, WARP, check_sizes};
use super::matrix;
use super::value::{Blocks, Encoding, Places, Swizzled, Type};
use crate::error::{Error, ErrorKind, Result, counted};

impl Type {
    /// The linear layout, as Triton makes it of the encoding and the sizes. Of a buffer with more dimensions than its
    /// encoding it is that of one buffer. Padding is no part of it.
    ///
    /// # Errors
    /// Sizes that are no powers of two, an encoding that is not for such a tensor, or one whose layout is not read here.
    pub fn linear_layout(&self) -> Result<LinearLayout> {
        let rank = self.encoding.rank().unwrap_or(self.dims.len());
        let shape = &self.dims[self.dims.len().saturating_sub(rank)..];
        check_sizes(shape)?;
        self.encoding.linear(shape, self.bits())
    }

    /// How many registers of a lane a blocked encoding asks for, where that is more than hold different elements.
    pub(super) fn repeated_registers(&self, linear: &LinearLayout) -> Option<u64> {
        let asked = self.encoding.blocked(&self.dims).ok()?.bases(REGISTER).len();
        (asked > linear.bases(REGISTER).len()).then_some(1 << asked)
    }
}

pub(super) fn refused(found: impl Into<String>, rule: &str) -> Error {
    Error::new(found).of_kind(ErrorKind::Unsupported).field("encoding").rule(rule)
}

impl Encoding {
    /// `bits` are those of an element, which older texts do not repeat in the encoding.
    fn linear(&self, shape: &[u64], bits: u32) -> Result<LinearLayout> {
        let rank = shape.len();
        if self.rank().is_some_and(|own| own != rank) {
            let own = self.rank().unwrap_or_default() as u64;
            return Err(Error::new(format!(
                "an encoding of {} for a tensor of {}",
                counted(own, "dimension"),
                counted(rank as u64, "dimension")
            ))
            .of_kind(ErrorKind::Mismatch)
            .field("encoding"));
        }
        match self {
            Encoding::Blocked { .. } => Ok(self.blocked(shape)?.without_zeros(REGISTER)),
            Encoding::Linear { bases, .. } => {
                let mut whole = LinearLayout::of_registers(rank);
                for (input, bases) in [REGISTER, LANE, WARP, BLOCK].into_iter().zip(bases) {
                    whole.written(input, bases)?;
                }
                let order = whole.order(REGISTER);
                whole.grow(REGISTER, shape, &order)?;
                whole.shrink(shape, false);
                Ok(whole)
            }
            Encoding::Slice { dim, parent } => {
                let mut whole = shape.to_vec();
                whole.insert(*dim, 1);
                Ok(parent.linear(&whole, bits)?.without(*dim))
            }
            Encoding::DotOperand { operand, parent, k_width } => {
                matrix::operand(*operand, parent, *k_width, shape)
            }
            Encoding::NvidiaMma { .. } | Encoding::AmdMfma { .. } => matrix::result(self, shape),
            Encoding::Swizzled { form: Swizzled::Older { leading: Some(true) }, .. } => {
                self.as_nvmma(bits)?.linear(shape, bits)
            }
            Encoding::Swizzled { .. } => self.swizzled(shape),
            Encoding::Nvmma { .. } => self.nvmma(shape),
            Encoding::Padded { places: Places::Order { order, shape: own }, .. } => {
                let mut whole = LinearLayout::of_memory(rank);
                order.iter().try_for_each(|&dim| whole.along(OFFSET, dim, own[dim]))?;
                exactly(whole, shape)
            }
            Encoding::Padded { places: Places::Bases { offset, block }, .. } => written(offset, block, shape),
            Encoding::SharedLinear { offset, block, .. } => {
                written(offset, block.as_ref().unwrap_or(&Bases::new()), shape)
            }
            Encoding::Foreign { name, why, .. } => {
                Err(refused(format!("the layout of {name} is not known here"), why))
            }
        }
    }

    /// A blocked encoding's registers, with those that hold what another register of the lane holds. Triton dropped those
    /// in its pull request 11541.
    fn blocked(&self, shape: &[u64]) -> Result<LinearLayout> {
        let Encoding::Blocked { size_per_thread, threads_per_warp, warps_per_cta, order, blocks } = self
        else {
            return Err(refused("another encoding", "lanes hold blocks"));
        };
        let rank = shape.len();
        let mut tile = LinearLayout::of_registers(rank);
        for (input, values) in [(REGISTER, size_per_thread), (LANE, threads_per_warp), (WARP, warps_per_cta)]
        {
            order.iter().try_for_each(|&dim| tile.along(input, dim, values[dim]))?;
        }
        fill(tile, blocks.linear(rank)?, shape, order)
    }

    /// The two fastest dimensions are rows and columns, and a row's columns are xored with a number that the row has.
    fn swizzled(&self, shape: &[u64]) -> Result<LinearLayout> {
        let Encoding::Swizzled { form, vec, per_phase, max_phase, order, blocks } = self else {
            return Err(refused("another encoding", "rows are swizzled"));
        };
        let rank = shape.len();
        let blocks = blocks.linear(rank)?.within(shape);
        let own = pieces(shape, &blocks);
        let mut whole = LinearLayout::of_memory(rank);
        whole.along(OFFSET, order[0], own[order[0]])?;
        if let [col, row, ref rest @ ..] = order[..] {
            for bit in 0..own[row].trailing_zeros() {
                let number = 1_u64 << bit;
                let phase = number / per_phase % max_phase;
                let phase = match form {
                    Swizzled::Rotating => phase ^ (number / per_phase / max_phase % max_phase),
                    _ => phase,
                };
                let mut base = vec![0; rank];
                base[row] = number;
                base[col] = vec.wrapping_mul(phase) % own[col]; // below 2^62, and of sizes that are powers of two
                whole.push(OFFSET, base)?;
            }
            let mut sizes = vec![1; rank];
            (sizes[col], sizes[row]) = (own[col], own[row]);
            whole.set_sizes(&sizes);
            rest.iter().try_for_each(|&dim| whole.along(OFFSET, dim, own[dim]))?;
        }
        whole.in_blocks(&blocks)
    }

    /// What `hasLeadingOffset` is called now.
    fn as_nvmma(&self, bits: u32) -> Result<Encoding> {
        let Encoding::Swizzled { per_phase, max_phase, order, blocks, .. } = self else {
            return Err(refused("another encoding", "rows are swizzled"));
        };
        let width = match (per_phase, max_phase) {
            (4, 2) => 32,
            (2, 4) => 64,
            (1, 8) => 128,
            _ => {
                return Err(refused(
                    format!("perPhase {per_phase} and maxPhase {max_phase} with hasLeadingOffset"),
                    "with hasLeadingOffset, (perPhase, maxPhase) must be (4,2), (2,4) or (1,8)",
                ));
            }
        };
        Ok(Encoding::Nvmma {
            width,
            transposed: order.len() > 1 && order[0] == 0,
            element_bits: bits.into(),
            fp4_padded: false,
            rank: order.len(),
            blocks: blocks.clone(),
        })
    }

    /// Tiles of 8 rows, each as wide as the swizzle; all but one dimension make the rows.
    fn nvmma(&self, shape: &[u64]) -> Result<LinearLayout> {
        let Encoding::Nvmma { width, transposed, element_bits, fp4_padded, blocks, .. } = self else {
            return Err(refused("another encoding", "tiles have 8 rows"));
        };
        let rank = shape.len();
        let blocks = blocks.linear(rank)?.within(shape);
        let own = pieces(shape, &blocks);
        let mut whole = LinearLayout::of_memory(rank);
        if rank == 1 && *width == 0 {
            whole.along(OFFSET, 0, own[0])?;
            return whole.in_blocks(&blocks);
        }
        if rank == 1 || (rank > 2 && *transposed) {
            let of = if rank == 1 { "of 1 dimension" } else { "transposed, of over 2 dimensions" };
            return Err(refused(
                format!("nvmma_shared {of}, with swizzlingByteWidth {width}"),
                "which rows make a tile is not read for these",
            ));
        }
        let col = if *transposed { 0 } else { rank - 1 };
        // Steps along the rows: those of the fastest of their dimensions first.
        let rows = (0..rank).rev().filter(|&dim| dim != col);
        let mut rows =
            rows.flat_map(|dim| (0..own[dim].trailing_zeros()).map(move |bit| (dim, 1_u64 << bit)));
        let packed = if *fp4_padded { 2 } else { 1 };
        let columns = if *width == 0 { own[col] * packed } else { 8 * width / element_bits };
        let row_count: u64 = (0..rank).filter(|&dim| dim != col).map(|dim| own[dim]).product();
        if columns > own[col] * packed || (*width > 0 && row_count < 8) {
            return Err(refused(
                format!("{row_count} rows of {} elements", own[col]),
                &format!("tiles of nvmma_shared have 8 rows of {} elements", columns / packed),
            ));
        }
        // Of 16 padded columns of bytes, 8 hold two numbers each.
        let at = |column: u64| if *fp4_padded { column / 16 * 8 + column % 8 } else { column };
        let mut push = |row: Option<(usize, u64)>, column: u64| {
            let mut base = vec![0; rank];
            base[col] = at(column);
            if let Some((dim, step)) = row {
                base[dim] = step;
            }
            whole.push(OFFSET, base)
        };
        for bit in 0..columns.trailing_zeros() {
            push(None, 1 << bit)?;
        }
        if *width > 0 {
            let (vec, per_phase, max_phase) = (128 / element_bits, 128 / width, width / 16);
            for (number, row) in [1, 2, 4].into_iter().zip(rows.by_ref()) {
                push(Some(row), vec * (number / per_phase % max_phase))?;
            }
        }
        for row in rows {
            push(Some(row), 0)?;
        }
        let mut sizes = own.clone();
        sizes[col] = columns / packed;
        whole.set_sizes(&sizes);
        whole.along(OFFSET, col, own[col] / sizes[col])?;
        whole.in_blocks(&blocks)
    }
}

impl Blocks {
    /// The pieces of the tensor that the blocks have.
    pub(super) fn linear(&self, rank: usize) -> Result<LinearLayout> {
        let mut whole = LinearLayout::new(&[BLOCK], rank);
        match self {
            Blocks::One => {}
            Blocks::Bases(bases) => whole.written(BLOCK, bases)?,
            Blocks::Split { per_cga, split, order } => {
                for &dim in order {
                    whole.along(BLOCK, dim, split[dim])?;
                    whole.zeros(BLOCK, per_cga[dim] / split[dim])?;
                }
            }
        }
        Ok(whole)
    }
}

impl LinearLayout {
    fn within(mut self, shape: &[u64]) -> LinearLayout {
        self.shrink(shape, true);
        self
    }
}

/// The sizes of the piece that one block has.
fn pieces(shape: &[u64], blocks: &LinearLayout) -> Vec<u64> {
    shape.iter().zip(blocks.sizes()).map(|(size, blocks)| (size / blocks).max(1)).collect()
}

/// A tile of registers over the whole tensor.
pub(super) fn fill(
    mut tile: LinearLayout,
    blocks: LinearLayout,
    shape: &[u64],
    order: &[usize],
) -> Result<LinearLayout> {
    let blocks = blocks.within(shape);
    let own = pieces(shape, &blocks);
    tile.grow(REGISTER, &own, order)?;
    tile.shrink(&own, true);
    tile.in_blocks(&blocks)
}

/// Bases of memory as they are written.
fn written(offset: &Bases, block: &Bases, shape: &[u64]) -> Result<LinearLayout> {
    let mut whole = LinearLayout::of_memory(shape.len());
    whole.written(OFFSET, offset)?;
    whole.written(BLOCK, block)?;
    exactly(whole, shape)
}

/// What is for a tensor of these sizes alone.
fn exactly(whole: LinearLayout, shape: &[u64]) -> Result<LinearLayout> {
    match whole.sizes() == shape {
        true => Ok(whole),
        false => Err(Error::new(format!("an encoding of {:?} for {shape:?}", whole.sizes()))
            .of_kind(ErrorKind::Mismatch)
            .field("encoding")
            .rule("an encoding of offsets is for a tensor of exactly its own sizes")
            .accepts(format!("sizes {:?}", whole.sizes()))),
    }
}
