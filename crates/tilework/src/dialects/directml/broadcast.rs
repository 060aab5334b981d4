//! Broadcasting: sizes matched from the last, repeated where they are 1 or missing.

use smallvec::SmallVec;

use super::desc::{BufferTensorDesc, Row, WideRow};
use crate::error::{Error, Result, counted};

fn incompatible(source: u32, target: u32, dim: usize) -> Error {
    Error::new(format!("incompatible sizes: {source} cannot become {target} in dimension {dim}"))
        .field("Sizes")
        .rule("sizes are matched from the last; only 1 is repeated")
        .accepts(format!("1 or {target}"))
}

/// The sizes from the last, `None` where there are none.
fn at(sizes: &[u32], from_last: usize) -> Option<u32> {
    sizes.len().checked_sub(from_last + 1).map(|dim| sizes[dim])
}

impl BufferTensorDesc {
    /// Repeated to larger sizes. Always a view: what is repeated gets stride 0, everything else keeps its stride.
    ///
    /// The last `ignored` dimensions are left alone, as matrix multiplication wants of its last two. To no sizes at all
    /// only `[1]` can be repeated, and stays.
    ///
    /// ```
    /// use tilework::directml::Desc;
    /// let desc = Desc::parse("FLOAT32 [2,1,4] strides [4,4,1]")?.build()?;
    /// assert_eq!(desc.broadcast_to(&[5, 2, 3, 4], 0)?.to_string(), "FLOAT32 [5,2,3,4] strides [0,4,0,1]");
    /// assert_eq!(desc.broadcast_to(&[5, 2, 3, 4], 2)?.to_string(), "FLOAT32 [5,2,1,4] strides [0,4,4,1]");
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// More dimensions than `sizes` has, a size that is neither kept nor 1, or more than 8 dimensions.
    pub fn broadcast_to(&self, sizes: &[u32], ignored: usize) -> Result<BufferTensorDesc> {
        if sizes.is_empty() && self.sizes() == [1] {
            return Ok(self.clone());
        }
        let Some(added) = sizes.len().checked_sub(self.rank()) else {
            return Err(Error::new(format!(
                "{} to {}",
                counted(self.rank() as u64, "dimension"),
                sizes.len()
            ))
            .field("Sizes")
            .rule("broadcasting never drops a dimension")
            .accepts(format!("{} or more", counted(self.rank() as u64, "dimension"))));
        };
        let kept = self.rank().saturating_sub(ignored);
        let mut new = Row::from_slice(&sizes[..added]);
        let mut strides = WideRow::from_elem(0, added);
        for (dim, (&size, stride)) in self.sizes().iter().zip(self.effective_strides()).enumerate() {
            let target = sizes[added + dim];
            if dim >= kept || size == target {
                new.push(size);
                strides.push(stride);
            } else if size == 1 {
                new.push(target);
                strides.push(0);
            } else {
                return Err(incompatible(size, target, added + dim));
            }
        }
        self.reshaped(new, &strides)
    }
}

/// The strides of a packed tensor repeated to `target`, as ONNX Runtime gives them: 0 wherever the source has size 1.
///
/// ```
/// use tilework::directml::{broadcast_strides_like_onnx_runtime, broadcast_strides_like_tensorflow};
/// assert_eq!(broadcast_strides_like_onnx_runtime(&[1, 3, 1], &[2, 3, 1])?, [0, 1, 0]);
/// assert_eq!(broadcast_strides_like_tensorflow(&[1, 3, 1], &[2, 3, 1])?, [0, 1, 1]); // the same view
/// # Ok::<(), tilework::Error>(())
/// ```
///
/// # Errors
/// More dimensions than the target has, a size that is neither kept nor 1 (ONNX Runtime does not see it), or a stride
/// beyond 32 bits.
pub fn broadcast_strides_like_onnx_runtime(source: &[u32], target: &[u32]) -> Result<Vec<u32>> {
    broadcast_strides(source, target, |size, _| size == 1)
}

/// The strides of a packed tensor repeated to `target`, as TensorFlow-DirectML gives them: 0 wherever sizes differ.
///
/// # Errors
/// Those of [`broadcast_strides_like_onnx_runtime`].
pub fn broadcast_strides_like_tensorflow(source: &[u32], target: &[u32]) -> Result<Vec<u32>> {
    broadcast_strides(source, target, |size, target| size != target)
}

fn broadcast_strides(source: &[u32], target: &[u32], repeats: impl Fn(u32, u32) -> bool) -> Result<Vec<u32>> {
    common_sizes(&[source, target]).and_then(|common| match common == target {
        true => Ok(()),
        false => Err(Error::new(format!("sizes {source:?} to {target:?}"))
            .field("Sizes")
            .rule("sizes are matched from the last; only 1 is repeated, and no dimension is dropped")),
    })?;
    let mut strides = vec![0; target.len()];
    let mut running = Some(1_u32);
    for from_last in 0..source.len() {
        let dim = target.len() - from_last - 1;
        let size = source[source.len() - from_last - 1];
        if !repeats(size, target[dim]) {
            strides[dim] =
                running.ok_or_else(|| Error::new("a stride overflows 32 bits").field("Strides"))?;
        }
        running = running.and_then(|running| running.checked_mul(size));
    }
    Ok(strides)
}

/// The sizes to which several tensors can all be repeated, as NumPy has it.
///
/// ```
/// assert_eq!(tilework::directml::common_sizes(&[&[2, 1, 4], &[3, 1], &[]])?, [2, 3, 4]);
/// # Ok::<(), tilework::Error>(())
/// ```
///
/// # Errors
/// Two sizes in one dimension that differ and are not 1.
pub fn common_sizes(inputs: &[&[u32]]) -> Result<Vec<u32>> {
    let rank = inputs.iter().map(|sizes| sizes.len()).max().unwrap_or(0);
    (0..rank)
        .map(|dim| {
            let sizes = inputs.iter().filter_map(|sizes| at(sizes, rank - 1 - dim));
            sizes.into_iter().try_fold(1, |common, size| match (common, size) {
                (1, size) => Ok(size),
                (common, 1) => Ok(common),
                (common, size) if common == size => Ok(common),
                (common, size) => Err(incompatible(size, common, dim)),
            })
        })
        .collect()
}

/// Two tensors that are broadcast against each other, in as few dimensions as that takes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CollapsedPair {
    /// The sizes of the first, 1 where it is repeated.
    pub x: Vec<u32>,
    /// The sizes of the second, 1 where it is repeated.
    pub y: Vec<u32>,
    /// The sizes of the result.
    pub result: Vec<u32>,
}

/// Joins neighbouring dimensions of two packed tensors in which the same one, or neither, is repeated, as
/// TensorFlow's BCast does.
///
/// ```
/// let pair = tilework::directml::collapse_pair(&[2, 3, 4], &[3, 4])?;
/// assert_eq!((pair.x, pair.y, pair.result), (vec![2, 12], vec![1, 12], vec![2, 12]));
/// # Ok::<(), tilework::Error>(())
/// ```
///
/// # Errors
/// Two sizes that differ and are not 1, or a joined size beyond 32 bits.
pub fn collapse_pair(x: &[u32], y: &[u32]) -> Result<CollapsedPair> {
    let rank = common_sizes(&[x, y])?.len();
    let mut runs: SmallVec<[[u32; 2]; 8]> = SmallVec::new();
    let mut last = None;
    for dim in 0..rank {
        let size = |sizes| at(sizes, rank - 1 - dim).unwrap_or(1);
        let (a, b) = (size(x), size(y));
        if (a, b) == (1, 1) {
            continue;
        }
        let kind = (a == 1, b == 1);
        match runs.last_mut().filter(|_| last == Some(kind)) {
            Some(run) => {
                for (sum, size) in run.iter_mut().zip([a, b]) {
                    *sum = sum.checked_mul(size).ok_or_else(|| {
                        Error::new(format!("sizes {sum} and {size} as one"))
                            .field("Sizes")
                            .rule("a size is an unsigned number of 32 bits")
                    })?;
                }
            }
            None => runs.push([a, b]),
        }
        last = Some(kind);
    }
    if runs.is_empty() {
        runs.push([1, 1]);
    }
    let pick = |pick: fn(&[u32; 2]) -> u32| runs.iter().map(pick).collect();
    Ok(CollapsedPair { x: pick(|run| run[0]), y: pick(|run| run[1]), result: pick(|run| run[0].max(run[1])) })
}
