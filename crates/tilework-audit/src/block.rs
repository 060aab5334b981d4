//! Blocks of arrays in Pallas kernels for TPUs.
//!
//! A kernel sees an array block by block. Which sizes a block may have is checked by `_check_block_mappings` in JAX,
//! `jax/_src/pallas/mosaic/lowering.py`; these are its rules in JAX 0.10.2, for blocks in VMEM:
//!
//! 1. A block has at least one dimension.
//! 2. Of two dimensions and more, the last two of a block are divisible by 8 and 128 respectively, or equal to those of the
//!    array. A squeezed dimension (`None`) counts as 1. The dimensions before them have any size.
//! 3. The only dimension of a block of rank 1 is equal to the array's, or a multiple of 1024, or a power of 2 that is at
//!    least 128 × (32 / bits). Elements of `bool` count as 32 bits.
//!
//! `tests/pallas_blocks.txt` holds what JAX itself answers.

use tilework::InOrder;
use tilework::xla::ArrayShape;
use tilework::{Element, Error, Result};

use crate::suggest::footprint::Footprint;
use crate::suggest::target::Target;

/// What divides the last dimension, and the one before it.
const LANES: u64 = 128;
const SUBLANES: u64 = 8;

/// A block of an array, as a `BlockSpec` of Pallas says it for a TPU.
///
/// ```
/// use tilework::Element;
/// use tilework_audit::Block;
///
/// let block = Block::new(&[1024, 100], Element::F32, &[Some(8), Some(100)])?;
/// assert!(block.is_legal());
/// assert_eq!(block.footprint.shape.to_string(), "f32[8,100]{1,0:T(8,128)}");
/// assert_eq!(block.footprint.bytes, 4096);
///
/// let block = Block::new(&[512, 512], Element::Bf16, &[Some(100), Some(200)])?;
/// assert!(!block.is_legal());
/// assert_eq!(block.nearest()[0].sizes(), [Some(96), Some(128)]);
/// # Ok::<(), tilework::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Each dimension of the block.
    pub dims: Vec<BlockDim>,
    /// A block in VMEM with the tiles that a TPU from v4 on gives it; truth values are kept as `s32` there.
    pub footprint: Footprint,
    element: Element,
}

/// A dimension of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockDim {
    /// The size of the array.
    pub array: u64,
    /// The size of the block: 1 for a squeezed dimension.
    pub size: u64,
    /// Whether the kernel does not see this dimension: `None` in the block shape.
    pub is_squeezed: bool,
    /// Which sizes it may have.
    pub rule: BlockRule,
}

/// Which sizes a dimension of a block may have. That of the array is always one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockRule {
    /// Any.
    Any,
    /// Multiples of this.
    Multiple(u64),
    /// Multiples, and powers of 2 from the `least` on.
    MultipleOrPower {
        /// What divides the size.
        multiple: u64,
        /// The smallest power.
        least: u64,
    },
}

impl BlockDim {
    /// Whether the block has the array's size here.
    pub fn is_whole(&self) -> bool {
        self.size == self.array
    }

    /// Whether the rule allows the size.
    pub fn is_legal(&self) -> bool {
        self.is_whole()
            || match self.rule {
                BlockRule::Any => true,
                BlockRule::Multiple(of) => self.size.is_multiple_of(of),
                BlockRule::MultipleOrPower { multiple, least } => {
                    self.size.is_multiple_of(multiple) || (self.size >= least && self.size.is_power_of_two())
                }
            }
    }

    /// How many blocks cover the array here.
    pub fn blocks(&self) -> u64 {
        self.array.div_ceil(self.size)
    }

    /// How much of the last block lies outside the array.
    pub fn outside(&self) -> u64 {
        match self.array % self.size {
            0 => 0,
            inside => self.size - inside,
        }
    }

    /// The largest legal size below this one, and the smallest above it. Of a size beyond the array's only that of the array:
    /// more than that lies outside.
    fn nearest(&self) -> Vec<u64> {
        if self.size > self.array {
            return if self.array == 0 { Vec::new() } else { vec![self.array] };
        }
        let (multiple, least) = match self.rule {
            BlockRule::Any => (1, None),
            BlockRule::Multiple(multiple) => (multiple, None),
            BlockRule::MultipleOrPower { multiple, least } => (multiple, Some(least)),
        };
        let power_below = self.size.checked_ilog2().map(|log| 1 << log);
        let power_above = self.size.checked_next_power_of_two();
        let below = [
            Some(self.size - self.size % multiple).filter(|&size| size > 0),
            power_below.filter(|power| least.is_some_and(|least| *power >= least)),
        ];
        let above = [
            Some(self.array),
            self.size.checked_next_multiple_of(multiple),
            power_above.and_then(|power| Some(power.max(least?))),
        ];
        let (below, above) = (below.into_iter().flatten().max(), above.into_iter().flatten().min());
        below.into_iter().chain(above).collect()
    }
}

impl Block {
    /// A block of an array of these sizes; no size is a squeezed dimension.
    ///
    /// # Errors
    /// Another number of dimensions, a size of 0, elements of more than 32 bits or that a TPU has no usual tiles for, and
    /// more bytes than 63 bits can count.
    pub fn new(array: &[u64], element: Element, sizes: &[Option<u64>]) -> Result<Block> {
        if sizes.len() != array.len() {
            return Err(Error::new(format!(
                "a block shape of {} dimension{}",
                sizes.len(),
                if sizes.len() == 1 { "" } else { "s" }
            ))
            .field("block")
            .rule("a block shape has as many dimensions as the array")
            .accepts(match array.len() {
                0 => "()".to_owned(),
                1 => "one size, such as 1024".to_owned(),
                rank => format!("{rank} sizes, None for dimensions that the kernel does not see"),
            }));
        }
        if let Some(dim) = sizes.iter().position(|size| *size == Some(0)) {
            return Err(Error::new(format!("a block of size 0 in dimension {dim}"))
                .field("block")
                .rule("a block has at least one element")
                .accepts("1 or more, or None"));
        }
        if element.bits() > 32 {
            return Err(Error::new(format!("elements of {} bits, {element}", element.bits()))
                .field("element type")
                .rule("Mosaic, the compiler of Pallas kernels for TPUs, has tiles for elements of up to 32 bits")
                .accepts("a narrower element type"));
        }
        // `BOOL_MEMREF_TYPE` of the same file.
        let stored = if element == Element::Pred { Element::S32 } else { element };
        let rank = array.len();
        let rule = |dim: usize| match (rank, rank - dim) {
            (1, _) => BlockRule::MultipleOrPower {
                multiple: SUBLANES * LANES,
                least: LANES * u64::from(32 / stored.bits().max(1)),
            },
            (_, 1) => BlockRule::Multiple(LANES),
            (_, 2) => BlockRule::Multiple(SUBLANES),
            _ => BlockRule::Any,
        };
        let dims = array.iter().zip(sizes).enumerate().map(|(dim, (&array, &size))| BlockDim {
            array,
            size: size.unwrap_or(1),
            is_squeezed: size.is_none(),
            rule: rule(dim),
        });
        let dims: Vec<BlockDim> = dims.collect();
        let shape = ArrayShape::new(stored, dims.iter().map(|dim| dim.size))?;
        let footprint = Target::default().place(&shape)?;
        let block = Block { dims, footprint, element };
        block.covered()?;
        Ok(block)
    }

    /// The sizes of the block shape; none for squeezed dimensions.
    pub fn sizes(&self) -> Vec<Option<u64>> {
        self.dims.iter().map(|dim| (!dim.is_squeezed).then_some(dim.size)).collect()
    }

    /// Whether Pallas takes the block shape.
    pub fn is_legal(&self) -> bool {
        !self.dims.is_empty() && self.dims.iter().all(BlockDim::is_legal)
    }

    /// How many blocks cover the array.
    pub fn blocks(&self) -> u128 {
        product(self.dims.iter().map(BlockDim::blocks)).unwrap_or(u128::MAX)
    }

    /// How many elements all blocks have outside the array.
    pub fn outside(&self) -> u128 {
        let array = product(self.dims.iter().map(|dim| dim.array)).unwrap_or(u128::MAX);
        self.covered().map_or(u128::MAX, |covered| covered - array)
    }

    /// The elements of all blocks.
    fn covered(&self) -> Result<u128> {
        let sizes = product(self.dims.iter().map(|dim| dim.size));
        let blocks = product(self.dims.iter().map(BlockDim::blocks));
        let all = sizes.zip(blocks).and_then(|(sizes, blocks)| sizes.checked_mul(blocks));
        all.ok_or_else(|| {
            Error::new("more elements in all blocks than 128 bits can count")
                .field("block")
                .accepts("a smaller block")
        })
    }

    /// The legal block shapes around this one, the cheapest in VMEM first: each dimension that is not legal takes the
    /// nearest size below and the nearest above. None of a legal one, nor of one without dimensions.
    pub fn nearest(&self) -> Vec<Block> {
        if self.is_legal() || self.dims.is_empty() {
            return Vec::new();
        }
        let mut found: Vec<Vec<Option<u64>>> = vec![Vec::new()];
        for dim in &self.dims {
            let own: Vec<Option<u64>> = match dim.is_legal() {
                true => vec![(!dim.is_squeezed).then_some(dim.size)],
                false => dim.nearest().into_iter().map(Some).collect(),
            };
            let longer = |sizes: &Vec<Option<u64>>| {
                let longer = own.iter().map(|size| sizes.iter().copied().chain([*size]).collect());
                longer.collect::<Vec<Vec<Option<u64>>>>()
            };
            found = found.iter().flat_map(longer).collect();
        }
        let array: Vec<u64> = self.dims.iter().map(|dim| dim.array).collect();
        // One that is too large to count is no answer, and smaller ones stand beside it.
        let blocks = found.iter().filter_map(|sizes| Block::new(&array, self.element, sizes).ok());
        let mut blocks: Vec<Block> = blocks.collect();
        blocks
            .order_by_key(|block| (block.footprint.bytes, std::cmp::Reverse(block.footprint.element_bytes)));
        blocks
    }
}

/// The product; 0 if any of them is.
fn product(mut numbers: impl Iterator<Item = u64> + Clone) -> Option<u128> {
    if numbers.clone().any(|number| number == 0) {
        return Some(0);
    }
    numbers.try_fold(1_u128, |product, number| product.checked_mul(number.into()))
}
