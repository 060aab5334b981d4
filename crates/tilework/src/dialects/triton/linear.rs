//! Linear layouts: from the hardware's numbers to the index of a tensor, linear over bits.
//!
//! Every bit of a number has a basis, a step in the tensor; an index is the xor of the bases whose bits are set. That is
//! how Triton gives one meaning to all its encodings. Sizes are powers of two, so steps along a dimension are bits too, and
//! an index is as well one number, that of the element in row-major order.

use std::fmt;

use crate::error::{Error, ErrorKind, Result};

pub(super) const REGISTER: &str = "register";
pub(super) const LANE: &str = "lane";
pub(super) const WARP: &str = "warp";
pub(super) const BLOCK: &str = "block";
pub(super) const OFFSET: &str = "offset";

/// Steps in a tensor, one for each bit of a number. Each has one coordinate for every dimension.
pub(super) type Bases = Vec<Vec<u64>>;

/// The most bits of all numbers together, and of the elements of a tensor: as many as offsets of a buffer can have.
pub(super) const MAX_BITS: usize = 62;

/// From the hardware's numbers to the index of a tensor, linear over bits.
///
/// ```
/// use tilework::triton::Type;
/// let text = "tensor<16xf32, #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [4], warpsPerCTA = [4], order = [0]}>>";
/// let linear = Type::parse(text)?.linear_layout()?;
/// assert_eq!(linear.to_string(), "register = [], lane = [[1], [2]], warp = [[4], [8]], block = []");
/// assert_eq!(linear.apply(&[0, 3, 2, 0]), [3 + 8]); // lane 3 of warp 2
/// # Ok::<(), tilework::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LinearLayout {
    inputs: Vec<(&'static str, Bases)>,
    /// The sizes of the dimensions that the bases reach.
    sizes: Vec<u64>,
}

impl LinearLayout {
    /// Numbers without bits, for a tensor of one element.
    pub(super) fn new(inputs: &[&'static str], rank: usize) -> LinearLayout {
        LinearLayout {
            inputs: inputs.iter().map(|&name| (name, Bases::new())).collect(),
            sizes: vec![1; rank],
        }
    }

    /// Of the hardware's threads.
    pub(super) fn of_registers(rank: usize) -> LinearLayout {
        LinearLayout::new(&[REGISTER, LANE, WARP, BLOCK], rank)
    }

    /// Of shared memory.
    pub(super) fn of_memory(rank: usize) -> LinearLayout {
        LinearLayout::new(&[OFFSET, BLOCK], rank)
    }

    /// The names of the numbers: `register`, `lane`, `warp` and `block`, or `offset` and `block`.
    pub fn inputs(&self) -> impl Iterator<Item = &'static str> {
        self.inputs.iter().map(|input| input.0)
    }

    /// The bases of a number, the least significant bit first; none of a number that there is not.
    pub fn bases(&self, input: &str) -> &[Vec<u64>] {
        self.inputs.iter().find(|own| own.0 == input).map_or(&[], |own| &own.1)
    }

    /// The sizes of the tensor.
    pub fn sizes(&self) -> &[u64] {
        &self.sizes
    }

    /// The index at these numbers, one for each input. Bits that a number does not have are ignored.
    pub fn apply(&self, numbers: &[u64]) -> Vec<u64> {
        let mut index = vec![0; self.sizes.len()];
        for ((_, bases), number) in self.inputs.iter().zip(numbers) {
            for (bit, base) in bases.iter().enumerate() {
                if bit < 64 && number >> bit & 1 == 1 {
                    index.iter_mut().zip(base).for_each(|(index, step)| *index ^= step);
                }
            }
        }
        index
    }

    fn of(&mut self, input: &str) -> Option<&mut Bases> {
        self.inputs.iter_mut().find(|own| own.0 == input).map(|own| &mut own.1)
    }

    /// One more bit of a number. The sizes are for the caller to set.
    pub(super) fn push(&mut self, input: &str, base: Vec<u64>) -> Result<()> {
        let bits: usize = self.inputs.iter().map(|input| input.1.len()).sum();
        if bits >= MAX_BITS {
            return Err(too_many_bits());
        }
        if let Some(bases) = self.of(input) {
            bases.push(base);
        }
        Ok(())
    }

    /// As many more values of a number, each a step further along a dimension, behind what is there already.
    pub(super) fn along(&mut self, input: &str, dim: usize, values: u64) -> Result<()> {
        let rank = self.sizes.len();
        for _ in 0..values.trailing_zeros() {
            let step = self.sizes[dim];
            self.push(input, unit(rank, dim, step))?;
            self.sizes[dim] = step.checked_mul(2).ok_or_else(too_many_bits)?;
        }
        Ok(())
    }

    /// As many more values of a number, all for the same elements.
    pub(super) fn zeros(&mut self, input: &str, values: u64) -> Result<()> {
        for _ in 0..values.trailing_zeros() {
            self.push(input, vec![0; self.sizes.len()])?;
        }
        Ok(())
    }

    /// Bases as they are written. Each dimension becomes as large as they reach.
    pub(super) fn written(&mut self, input: &str, bases: &Bases) -> Result<()> {
        for base in bases {
            self.push(input, base.clone())?;
            for (size, &step) in self.sizes.iter_mut().zip(base) {
                *size = (*size).max(step.checked_add(1).map_or(0, u64::next_power_of_two));
            }
        }
        Ok(())
    }

    /// What the bases were made for.
    pub(super) fn set_sizes(&mut self, sizes: &[u64]) {
        self.sizes = sizes.to_vec();
    }

    /// Repeats what is there until the tensor is filled, along its dimensions in this order.
    pub(super) fn grow(&mut self, input: &str, shape: &[u64], order: &[usize]) -> Result<()> {
        for &dim in order {
            if self.sizes[dim] < shape[dim] {
                self.along(input, dim, shape[dim] / self.sizes[dim])?;
            }
        }
        Ok(())
    }

    /// Drops the largest steps that leave the tensor: what had them holds the same as what has not. Registers need not hold
    /// anything twice; where `keep` is not set, those go.
    pub(super) fn shrink(&mut self, shape: &[u64], keep: bool) {
        for (dim, &wanted) in shape.iter().enumerate() {
            while self.sizes[dim] > wanted {
                let steps = self.inputs.iter().enumerate().flat_map(|(input, (_, bases))| {
                    bases.iter().enumerate().map(move |(bit, base)| (base[dim], input, bit))
                });
                // The first of the largest.
                let largest = steps.fold((0, 0, 0), |most, own| if own.0 > most.0 { own } else { most });
                let (1.., input, bit) = largest else {
                    self.sizes[dim] = wanted; // sizes that no step reaches
                    break;
                };
                let (name, bases) = &mut self.inputs[input];
                match *name == REGISTER && !keep {
                    true => drop(bases.remove(bit)),
                    false => bases[bit][dim] = 0,
                }
                self.sizes[dim] /= 2;
            }
        }
    }

    /// One tensor for each of some blocks, whose numbers tell the pieces of a larger one.
    pub(super) fn in_blocks(mut self, blocks: &LinearLayout) -> Result<LinearLayout> {
        for base in blocks.bases(BLOCK) {
            let base = base.iter().zip(&self.sizes).map(|(step, size)| step.checked_mul(*size));
            let base = base.collect::<Option<Vec<u64>>>().ok_or_else(too_many_bits)?;
            self.push(BLOCK, base)?;
        }
        for (size, blocks) in self.sizes.iter_mut().zip(&blocks.sizes) {
            *size = size.checked_mul(*blocks).ok_or_else(too_many_bits)?;
        }
        Ok(self)
    }

    /// Without a dimension, and without the registers that then hold what another holds.
    pub(super) fn without(mut self, dim: usize) -> LinearLayout {
        self.sizes.remove(dim);
        for (_, bases) in &mut self.inputs {
            for base in bases {
                base.remove(dim);
            }
        }
        self.without_zeros(REGISTER)
    }

    /// Without the bits of a number that step nowhere.
    pub(super) fn without_zeros(mut self, input: &str) -> LinearLayout {
        if let Some(bases) = self.of(input) {
            bases.retain(|base| base.iter().any(|&step| step > 0));
        }
        self
    }

    /// The dimensions in the order in which a number's bits first step along them, then the others from the last on.
    pub(super) fn order(&self, input: &str) -> Vec<usize> {
        let first = self.bases(input).iter().filter_map(|base| base.iter().position(|&step| step > 0));
        let mut order = Vec::with_capacity(self.sizes.len());
        for dim in first.chain((0..self.sizes.len()).rev()) {
            if !order.contains(&dim) {
                order.push(dim);
            }
        }
        order
    }

    /// The bases of a number as numbers of elements in row-major order.
    pub(super) fn flat(&self, input: &str) -> Vec<u64> {
        self.bases(input).iter().map(|base| flat(base, &self.sizes)).collect()
    }
}

/// `register = [[0, 1]], lane = [], …`
impl fmt::Display for LinearLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (name, bases)) in self.inputs.iter().enumerate() {
            let comma = if place == 0 { "" } else { ", " };
            write!(f, "{comma}{name} = {bases:?}")?;
        }
        Ok(())
    }
}

/// A step along one dimension.
pub(super) fn unit(rank: usize, dim: usize, step: u64) -> Vec<u64> {
    let mut base = vec![0; rank];
    base[dim] = step;
    base
}

/// The number of an element in row-major order. Sizes are powers of two, so a sum of steps is also their xor.
pub(super) fn flat(index: &[u64], sizes: &[u64]) -> u64 {
    index.iter().zip(sizes).fold(0, |number, (&index, &size)| number.wrapping_mul(size) | index)
}

pub(super) fn too_many_bits() -> Error {
    Error::new(format!("numbers of over {MAX_BITS} bits"))
        .of_kind(ErrorKind::Limit)
        .field("encoding")
        .accepts("fewer registers, lanes, warps, blocks or elements")
}

/// Every dimension is a power of two, and their product can be counted.
///
/// # Errors
/// Which is not.
pub(super) fn check_sizes(dims: &[u64]) -> Result<()> {
    for (dim, &size) in dims.iter().enumerate() {
        if !size.is_power_of_two() {
            return Err(Error::new(format!("dimension {dim} is {size}, and {size} is not a power of two"))
                .of_kind(ErrorKind::Unsupported)
                .field("dimensions")
                .rule("the sizes of Triton's tensors are powers of two")
                .accepts(format!("{}, the next larger one", size.max(1).next_power_of_two())));
        }
    }
    let bits: u32 = dims.iter().map(|size| size.trailing_zeros()).sum();
    if bits as usize > MAX_BITS { Err(too_many_bits()) } else { Ok(()) }
}
