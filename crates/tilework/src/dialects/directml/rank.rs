//! More dimensions, or fewer without joining any: promotion, alignment, placing at axes, truncation.
//!
//! A dimension that is added has size 1 and stride 0, and the total stays what it was.

use super::desc::{BufferTensorDesc, Row, WideRow};
use super::order::letters_of;
use crate::error::{Error, Result, counted};

/// At which end of a tensor its own dimensions stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// At the left: sizes of 1 are appended, or the last dimensions dropped.
    Leading,
    /// At the right: sizes of 1 are put in front, or the first dimensions dropped. The usual way.
    Trailing,
}

impl BufferTensorDesc {
    /// At least `rank` dimensions, by sizes of 1 in front (`Trailing`) or behind (`Leading`).
    ///
    /// ```
    /// use tilework::directml::{Align, BufferTensorDesc, DataType};
    /// let hw = BufferTensorDesc::new(DataType::Float32, &[3, 5])?;
    /// let nchw = hw.with_min_rank(4, Align::Trailing)?;
    /// assert_eq!(nchw.to_string(), "FLOAT32 [1,1,3,5] strides [0,0,5,1]");
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// More than 8 dimensions, or a packed stride that does not fit 32 bits when written out.
    pub fn with_min_rank(&self, rank: usize, align: Align) -> Result<BufferTensorDesc> {
        if rank <= self.rank() {
            return Ok(self.clone());
        }
        let first = if align == Align::Trailing { rank - self.rank() } else { 0 };
        let axes: Vec<usize> = (first..first + self.rank()).collect();
        self.place_at_axes(rank, &axes)
    }

    /// Dimension i of this tensor as dimension `axes[i]` of one with `rank` dimensions; the others are of size 1.
    ///
    /// There may be fewer axes than dimensions if those without one are of size 1: a scalar is `[1]` and has no axes.
    ///
    /// ```
    /// use tilework::directml::{BufferTensorDesc, DataType};
    /// let desc = BufferTensorDesc::new(DataType::Float32, &[2, 3])?.place_at_axes(4, &[1, 3])?;
    /// assert_eq!(desc.to_string(), "FLOAT32 [1,2,1,3] strides [0,3,0,1]");
    ///
    /// let scalar = BufferTensorDesc::new(DataType::Float32, &[1])?;
    /// assert_eq!(scalar.place_at_axes(4, &[])?.to_string(), "FLOAT32 [1,1,1,1] strides [0,0,0,0]");
    /// assert!(BufferTensorDesc::new(DataType::Float32, &[2])?.place_at_axes(4, &[]).is_err());
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// More axes than dimensions, a dimension larger than 1 without an axis, an axis outside `rank` or named twice, or
    /// not 1 to 8 dimensions.
    pub fn place_at_axes(&self, rank: usize, axes: &[usize]) -> Result<BufferTensorDesc> {
        let twice = (0..axes.len()).any(|place| axes[..place].contains(&axes[place]));
        let placed = self.sizes().iter().skip(axes.len()).all(|&size| size == 1) && axes.len() <= self.rank();
        if !placed || axes.iter().any(|&axis| axis >= rank) || twice || !(1..=8).contains(&rank) {
            return Err(Error::new(format!("axes {axes:?} of {rank} for sizes {:?}", self.sizes()))
                .field("axes")
                .rule("every dimension larger than 1 has an axis of its own")
                .accepts(format!("{} different axes below the new rank, which is 1 to 8", self.rank())));
        }
        let (mut sizes, mut strides) = (Row::from_elem(1, rank), WideRow::from_elem(0, rank));
        for ((&axis, &size), stride) in axes.iter().zip(self.sizes()).zip(self.effective_strides()) {
            (sizes[axis], strides[axis]) = (size, stride);
        }
        self.reshaped(sizes, &strides)
    }

    /// Only `rank` dimensions: the first ones are dropped (`Trailing`) or the last (`Leading`). Of what is dropped, only
    /// index 0 is seen. A tensor of no more dimensions stays.
    ///
    /// ONNX Runtime drops without looking; here what is dropped must be of size 1, so that no element is lost.
    ///
    /// # Errors
    /// Rank 0, or a dropped dimension larger than 1.
    pub fn truncate(&self, rank: usize, align: Align) -> Result<BufferTensorDesc> {
        if rank == 0 {
            return Err(Error::new("rank 0").field("rank").rule("a tensor has at least one dimension"));
        }
        if rank >= self.rank() {
            return Ok(self.clone());
        }
        let dropped: Vec<usize> = match align {
            Align::Trailing => (0..self.rank() - rank).collect(),
            Align::Leading => (rank..self.rank()).collect(),
        };
        self.squeeze(&dropped)
    }

    /// The sizes, packed in the order of `layout`, as dimensions N, C, (D,) H, W; letters that are not named are of
    /// size 1. What TensorFlow-DirectML does with tensors of any format.
    ///
    /// ```
    /// use tilework::directml::{BufferTensorDesc, DataType};
    /// let stored = BufferTensorDesc::new(DataType::Float32, &[2, 3, 4, 5])?;
    /// assert_eq!(stored.scatter("NHWC")?.to_string(), "FLOAT32 [2,5,3,4] strides [60,1,20,5]");
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Not one letter of N, C, D, H, W for each dimension.
    pub fn scatter(&self, layout: &str) -> Result<BufferTensorDesc> {
        let letters = letters_of(layout)?;
        let all = if letters.contains('D') { "NCDHW" } else { "NCHW" };
        let axes: Option<Vec<usize>> = layout.chars().map(|letter| all.find(letter)).collect();
        match axes {
            Some(axes) if layout.len() == self.rank() => self.place_at_axes(all.len(), &axes),
            _ => {
                Err(Error::new(format!("layout {layout:?} of {}", counted(self.rank() as u64, "dimension")))
                    .field("order")
                    .rule("every dimension has one letter")
                    .accepts(format!("{} of the letters {all}", self.rank())))
            }
        }
    }
}

/// Sizes in at least `min_rank` dimensions, as ONNX Runtime places them.
///
/// The first `left` dimensions stand before the sizes of 1 that are put in, the others behind; negative counts from the
/// end. A positive `placement` moves that many of the 1s to the front, a negative one to the back.
///
/// ```
/// use tilework::directml::align_dimensions;
/// assert_eq!(align_dimensions(&[2, 3, 4], 4, 2, 0)?, [2, 3, 1, 4]); // N C W → N C 1 W
/// assert_eq!(align_dimensions(&[6], 4, 1, 1)?, [1, 6, 1, 1]); // C → 1 C 1 1
/// # Ok::<(), tilework::Error>(())
/// ```
///
/// # Errors
/// `left` beyond the dimensions, or more than 8 dimensions.
pub fn align_dimensions(sizes: &[u32], min_rank: usize, left: i64, placement: i64) -> Result<Vec<u32>> {
    let rank = sizes.len();
    let from_end = if left < 0 { rank as i64 } else { 0 };
    let first = left.checked_add(from_end).and_then(|left| usize::try_from(left).ok());
    let Some(first) = first.filter(|&first| first <= rank && rank.max(min_rank) <= 8) else {
        return Err(Error::new(format!("{left} dimensions of {rank} at the left, of {min_rank}"))
            .field("left")
            .accepts(format!("-{rank} to {rank}, in up to 8 dimensions")));
    };
    let fill = rank.max(min_rank) - rank;
    // At most 8, so that clamping keeps the numbers small.
    let clamp = |count: i64, most: usize| count.clamp(0, most as i64) as usize;
    let leading = clamp(placement, fill);
    let trailing = clamp(placement.saturating_neg(), fill - leading);
    let ones = |count: usize| std::iter::repeat_n(1, count);
    let (before, behind) = sizes.split_at(first);
    Ok(ones(leading)
        .chain(before.iter().copied())
        .chain(ones(fill - leading - trailing))
        .chain(behind.iter().copied())
        .chain(ones(trailing))
        .collect())
}
