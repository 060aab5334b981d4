//! Types as layouts, each from the side that its encoding is about.
//!
//! ```text
//! registers   (block, warp, lane, register) → the number of the element, in row-major order
//! memory      the index of the tensor       → the offset, in elements
//! ```
//!
//! From the registers' side the linear layout is the layout, with the tensor as the memory: what several lanes hold is a
//! broadcast. From memory's side it is turned round. Offsets that hold what others hold are padding; of the offsets of an
//! element, the layout has the smallest.

use super::columns::{self, Dimension};
use super::linear::{BLOCK, LANE, LinearLayout, OFFSET, REGISTER, WARP};
use super::meaning::refused;
use super::value::{Encoding, Memory, Side, Type};
use crate::error::{Error, ErrorKind, Result};
use crate::layout::Layout;

impl Type {
    /// The layout.
    ///
    /// ```
    /// use tilework::triton::Type;
    /// let blocked = "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>";
    /// let registers = Type::parse(&format!("tensor<128x64xf16, {blocked}>"))?.lower()?;
    /// assert_eq!(registers.dims(), [1, 4, 32, 64]); // block, warp, lane, register
    /// assert_eq!(registers.offset(&[0, 1, 9, 2])?, (4 + 1) * 64 + 8 + 2); // row 5, column 10
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Type::linear_layout`], steps that depend on one another, and views whose place in their buffer the type
    /// does not say.
    pub fn lower(&self) -> Result<Layout> {
        let linear = self.linear_layout()?;
        match self.side() {
            Some(Side::Memory) => self.lower_memory(&linear),
            _ => lower_registers(&linear, self.bits()),
        }
    }

    fn lower_memory(&self, linear: &LinearLayout) -> Result<Layout> {
        let rank = linear.sizes().len();
        let (ahead, sizes) = self.dims.split_at(self.dims.len() - rank);
        if let Some(Memory { allocated: Some(allocated), .. }) = &self.memory
            && !allocated.ends_with(sizes)
        {
            return Err(refused(
                format!("a view of sizes {sizes:?} into a buffer of {allocated:?}"),
                "where such a view begins is known to the operation that made it, and not to its type",
            )
            .accepts("the type of the whole buffer"));
        }
        let places = places(linear)?;
        let mut dims: Vec<Dimension> = Vec::new();
        let mut rest = &places.of_bits[..];
        // The last dimension has the lowest bits of an element's number.
        for &size in sizes.iter().rev() {
            let (own, more) = rest.split_at(size.trailing_zeros() as usize);
            dims.insert(0, Dimension::Bits(own.to_vec()));
            rest = more;
        }
        let pads = match &self.encoding {
            Encoding::Padded { pads, .. } => &pads[..],
            _ => &[],
        };
        let one = 1_u64 << places.bits;
        let buffers = match ahead {
            [] => 1,
            [buffers] if *buffers > 0 && places.blocks == 0 => *buffers,
            _ => {
                return Err(refused(
                    format!("{ahead:?} buffers in {} blocks", 1_u64 << places.blocks),
                    "several buffers are read where one block has them",
                ));
            }
        };
        if !ahead.is_empty() {
            dims.insert(0, Dimension::Steps { size: buffers, stride: padded(one, pads)? });
        }
        let all = one.checked_mul(buffers).ok_or_else(too_large)?;
        if pads.is_empty() {
            return columns::exchanged(&dims, self.bits(), all);
        }
        // Nothing is added behind the last element.
        let last = pads.iter().filter(|pad| all.is_multiple_of(pad.0)).map(|pad| pad.1).sum::<u64>();
        let size = padded(all, pads)?.checked_sub(last).ok_or_else(too_large)?;
        for dim in &mut dims {
            if let Dimension::Bits(bits) = dim {
                bits.iter_mut().try_for_each(|place| padded(*place, pads).map(|padded| *place = padded))?;
            }
        }
        columns::sum(&dims, self.bits(), size)
    }
}

fn lower_registers(linear: &LinearLayout, bits: u32) -> Result<Layout> {
    let dims = [BLOCK, WARP, LANE, REGISTER].map(|input| Dimension::Bits(linear.flat(input)));
    columns::exchanged(&dims, bits, linear.sizes().iter().product())
}

/// Where elements are.
struct Places {
    /// Of each bit of an element's number.
    of_bits: Vec<u64>,
    /// Bits of all places.
    bits: u32,
    /// How many of them, the highest, are those of blocks.
    blocks: u32,
}

/// The memories of the blocks follow one another; blocks that all hold the same count as one.
fn places(linear: &LinearLayout) -> Result<Places> {
    let offset = linear.flat(OFFSET);
    let block: Vec<u64> = linear.flat(BLOCK).into_iter().filter(|&step| step > 0).collect();
    let elements: u32 = linear.sizes().iter().map(|size| size.trailing_zeros()).sum();
    let (offsets, blocks) = (offset.len() as u32, block.len() as u32);
    let all: Vec<u64> = offset.into_iter().chain(block).collect();
    let of_bits = columns::inverse(&all, elements as usize)?;
    Ok(Places { of_bits, bits: offsets + blocks, blocks })
}

/// A place with the padding that is put in front of it.
pub(super) fn padded(place: u64, pads: &[(u64, u64)]) -> Result<u64> {
    let more = pads
        .iter()
        .try_fold(place, |sum, &(interval, pad)| sum.checked_add((place / interval).checked_mul(pad)?));
    more.filter(|&place| place < 1 << 62).ok_or_else(too_large)
}

pub(super) fn too_large() -> Error {
    Error::new("the places overflow 62 bits")
        .of_kind(ErrorKind::Overflow)
        .field("encoding")
        .accepts("smaller sizes")
}
