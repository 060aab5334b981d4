//! Fewer dimensions: folding, flattening, coalescing, and what a transpose amounts to.

use super::desc::{BufferTensorDesc, Row};
use super::strides::packed_strides;
use super::view::ViewOrCopy;
use crate::error::{Error, Result, counted};
use tilework_core::InOrder;

/// Which dimensions fold into one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// The leading ones; the trailing ones stay.
    Leading,
    /// The trailing ones; the leading ones stay.
    Trailing,
}

/// A dimension of this size in 32 bits.
fn product(sizes: &[u32]) -> Result<u32> {
    let product = sizes.iter().try_fold(1_u32, |product, &size| product.checked_mul(size));
    product.ok_or_else(|| {
        Error::new(format!("sizes {sizes:?} as one"))
            .field("Sizes")
            .rule("a size is an unsigned number of 32 bits")
            .accepts("sizes whose product is up to 4294967295")
    })
}

fn zero_rank() -> Error {
    Error::new("rank 0").field("rank").rule("a tensor has at least one dimension")
}

impl BufferTensorDesc {
    /// The same elements in `rank` dimensions, the leading or the trailing ones folded into one, or why that needs a
    /// copy. A tensor of no more dimensions stays as it is.
    ///
    /// ```
    /// use tilework::directml::{Desc, Fold};
    /// let desc = |text: &str| Desc::parse(text)?.build();
    /// let batches = desc("FLOAT32 [2,2,3] strides [0,0,1]")?.fold(2, Fold::Leading)?;
    /// assert_eq!(batches.to_string(), "view: FLOAT32 [4,3] strides [0,1]"); // broadcast stays broadcast
    ///
    /// // Dimension 0 cannot join dimension 1: offsets 0, 12, 6, 18 have no single step.
    /// let swapped = desc("FLOAT32 [2,2,1,2,3] strides [6,12,6,3,1]")?.fold(3, Fold::Leading)?;
    /// assert_eq!(swapped.copy().unwrap().dims, (0, 1));
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Rank 0, or a folded size beyond 32 bits.
    pub fn fold(&self, rank: usize, fold: Fold) -> Result<ViewOrCopy> {
        if rank == 0 {
            return Err(zero_rank());
        }
        if rank >= self.rank() {
            return Ok(ViewOrCopy::View(self.clone()));
        }
        let mut sizes = Row::from_slice(self.sizes());
        let folded = match fold {
            Fold::Leading => 0..self.rank() - rank + 1,
            Fold::Trailing => rank - 1..self.rank(),
        };
        let size = product(&sizes[folded.clone()])?;
        sizes.drain(folded.clone());
        sizes.insert(folded.start, size);
        self.reshape(&sizes)
    }

    /// The same elements in two dimensions: the product of the sizes before `axis`, and of those from it on. ONNX's
    /// flatten.
    ///
    /// # Errors
    /// An axis behind the last dimension, or a size beyond 32 bits.
    pub fn flatten(&self, axis: usize) -> Result<ViewOrCopy> {
        if axis > self.rank() {
            return Err(Error::new(format!("axis {axis} of {}", counted(self.rank() as u64, "dimension")))
                .field("axis")
                .accepts(format!("0 to {}", self.rank())));
        }
        let (before, from) = self.sizes().split_at(axis);
        self.reshape(&[product(before)?, product(from)?])
    }

    /// The same elements in as few dimensions as strides allow: every run of dimensions that is one run is one.
    ///
    /// What a limit on dimensions (GEMM's 4) leaves room for. Always a view.
    ///
    /// ```
    /// use tilework::directml::Desc;
    /// let desc = Desc::parse("FLOAT32 [4,1,3,8] strides [24,0,8,1]")?.build()?;
    /// assert_eq!(desc.coalesce()?.to_string(), "FLOAT32 [96] strides [1]");
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`lower`](Self::lower). A size that would pass 32 bits is left apart.
    pub fn coalesce(&self) -> Result<BufferTensorDesc> {
        let strides = self.effective_strides();
        let mut sizes = Row::new();
        let mut inner: Option<u64> = None; // stride of the outermost dimension so far
        for (&size, &stride) in self.sizes().iter().zip(&strides).rev().filter(|(size, _)| **size > 1) {
            let joined = sizes.last().copied().zip(inner).and_then(|(last, inner): (u32, u64)| {
                (inner.checked_mul(u64::from(last)) == Some(stride)).then(|| last.checked_mul(size)).flatten()
            });
            match (joined, sizes.last_mut()) {
                (Some(joined), Some(last)) => *last = joined,
                _ => {
                    sizes.push(size);
                    inner = Some(stride);
                }
            }
        }
        if sizes.is_empty() {
            sizes.push(1);
        }
        sizes.reverse();
        match self.reshape(&sizes)? {
            ViewOrCopy::View(desc) => Ok(desc),
            ViewOrCopy::Copy(_) => Ok(self.clone()), // only runs were joined
        }
    }
}

/// The two sizes of a tensor coerced to 2-D at an axis, as ONNX Runtime does: products before it and from it on.
///
/// ```
/// assert_eq!(tilework::directml::coerce_to_2d(&[1, 2, 3, 4], 2)?, [2, 12]);
/// # Ok::<(), tilework::Error>(())
/// ```
///
/// # Errors
/// A negative axis, or a size beyond 32 bits.
pub fn coerce_to_2d(sizes: &[u32], axis: i64) -> Result<Vec<u32>> {
    let place = usize::try_from(axis).map_err(|_| {
        Error::new(format!("axis {axis}"))
            .field("axis")
            .rule("an axis is not negative here")
            .accepts("0 or more")
    })?;
    if sizes.len() <= 1 || place >= sizes.len() {
        return Ok(sizes.to_vec());
    }
    Ok(vec![product(&sizes[..place])?, product(&sizes[place..])?])
}

/// A transpose with fewer dimensions.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SimpleTranspose {
    /// The sizes of the input.
    pub sizes: Vec<u32>,
    /// For each dimension of the output, that of the input.
    pub order: Vec<usize>,
    /// The sizes of the output.
    pub out_sizes: Vec<u32>,
}

/// Joins the axes of a packed tensor that stay neighbours, in order, through a transpose, as TensorFlow-DirectML does.
///
/// ```
/// use tilework::directml::simplify_transpose;
/// let simple = simplify_transpose(&[2, 3, 4, 5], &[0, 2, 3, 1])?;
/// assert_eq!((simple.sizes, simple.order, simple.out_sizes), (vec![2, 3, 20], vec![0, 2, 1], vec![2, 20, 3]));
/// # Ok::<(), tilework::Error>(())
/// ```
///
/// # Errors
/// Not a permutation of the dimensions, or a joined size beyond 32 bits.
pub fn simplify_transpose(sizes: &[u32], order: &[usize]) -> Result<SimpleTranspose> {
    check_order(sizes.len(), order)?;
    // Groups in the order of the output, by their first and last input axis.
    let mut groups: Vec<(usize, usize)> = Vec::new();
    for &axis in order {
        match groups.last_mut() {
            Some(group) if group.1 + 1 == axis => group.1 = axis,
            _ => groups.push((axis, axis)),
        }
    }
    let mut by_input = groups.clone();
    by_input.order();
    let size = |&(first, last): &(usize, usize)| product(&sizes[first..=last]);
    Ok(SimpleTranspose {
        sizes: by_input.iter().map(size).collect::<Result<_>>()?,
        order: groups.iter().filter_map(|group| by_input.iter().position(|other| other == group)).collect(),
        out_sizes: groups.iter().map(size).collect::<Result<_>>()?,
    })
}

/// A transpose by the strides of the *output*: sizes stay in the order of the packed input, and each dimension gets the
/// stride it has in the packed transposed tensor. TensorFlow's way; with [`BufferTensorDesc::permute`] on the input the
/// output stays packed instead.
///
/// ```
/// assert_eq!(tilework::directml::transpose_as_output_strides(&[2, 3, 4], &[2, 0, 1])?, [3, 1, 6]);
/// # Ok::<(), tilework::Error>(())
/// ```
///
/// # Errors
/// Not a permutation of the dimensions, or a stride beyond 32 bits.
pub fn transpose_as_output_strides(sizes: &[u32], order: &[usize]) -> Result<Vec<u32>> {
    check_order(sizes.len(), order)?;
    let output: Vec<u32> = order.iter().map(|&axis| sizes[axis]).collect();
    let mut strides = vec![0; sizes.len()];
    for (&axis, stride) in order.iter().zip(packed_strides(&output)?) {
        strides[axis] = stride;
    }
    Ok(strides)
}

fn check_order(rank: usize, order: &[usize]) -> Result<()> {
    let mut sorted = order.to_vec();
    sorted.order();
    if !sorted.into_iter().eq(0..rank) {
        return Err(Error::new(format!("order {order:?} of {}", counted(rank as u64, "dimension")))
            .field("order")
            .rule("an order names every dimension exactly once"));
    }
    Ok(())
}
