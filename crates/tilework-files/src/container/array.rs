//! What a container holds: arrays in some layout, blocks of quantised numbers, and what is neither.

use std::fmt;
use std::sync::Arc;

use tilework::dialect::Said;
use tilework::ggml::Block;
use tilework::xla::{self, ArrayShape, Shape};
use tilework::{Element, Error, Layout, Result};

use super::json;
use super::repack::Mix;

/// What an array of a container is.
#[derive(Clone, Debug)]
pub enum Content {
    /// Elements with a place each.
    Array(Placed),
    /// Blocks of quantised numbers.
    Blocks(Blocks),
    /// What is there and is not read.
    Unread {
        /// What the file calls its type.
        kind: String,
        /// Its sizes, if it has some.
        dims: Option<Vec<u64>>,
        /// Why it is not read.
        why: Error,
    },
}

/// An array and how it lies.
#[derive(Clone, Debug)]
pub struct Placed {
    /// What the file says, in words that read back as the same.
    pub said: Said,
    /// The type of the elements.
    pub element: Element,
    /// Where each element is.
    pub layout: Layout,
}

impl Placed {
    /// An array in row-major order. Elements of whole bytes take whole bytes; `packed` ones narrower than a byte are side by
    /// side.
    ///
    /// # Errors
    /// More dimensions than a layout has, and more bytes than 63 bits count.
    pub fn dense(element: Element, dims: &[u64], packed: bool) -> Result<Placed> {
        let mut array = ArrayShape::new(element, dims.iter().copied())?;
        if packed && element != Element::Pred && !element.bits().is_multiple_of(8) {
            let layout = xla::Layout::descending(dims.len()).with_element_size_in_bits(element.bits());
            array = array.with_layout(layout)?;
        }
        Placed::of(Arc::new(Shape::from(array)))
    }

    /// The same array in Fortran order.
    ///
    /// # Errors
    /// None that its own making had not.
    pub fn fortran(&self) -> Result<Placed> {
        let dims = self.layout.dims();
        let array = ArrayShape::new(self.element, dims.iter().copied())?;
        Placed::of(Arc::new(Shape::from(array.with_layout(xla::Layout::ascending(dims.len()))?)))
    }

    /// What a notation said, if it is an array whose elements have places.
    ///
    /// # Errors
    /// What is no array, or has no element type.
    pub fn of(said: Said) -> Result<Placed> {
        let layout = said.layout()?;
        let element = said.element().ok_or_else(|| Error::new("no element type"))?;
        Ok(Placed { said, element, layout })
    }

    /// The bytes of padding, and of whatever else holds no element.
    pub fn padding(&self) -> u64 {
        let bits = u128::from(self.layout.len()) * u128::from(self.layout.bits());
        self.layout.bytes().saturating_sub(u64::try_from(bits.div_ceil(8)).unwrap_or(u64::MAX))
    }

    /// The layout apart from sizes and type, where it is not simply row-major.
    pub fn order(&self) -> Option<String> {
        let dense = Placed::dense(self.element, self.layout.dims(), self.layout.bits() < 8).ok();
        if dense.is_some_and(|dense| dense.layout.same_buffer(&self.layout).is_yes()) {
            return None;
        }
        let text = self.said.to_string();
        let is_own = |rest: &&str| rest.starts_with('{') || self.said.dialect().name == "zarr";
        let braces = text.split_once(']').map(|(_, rest)| rest.trim_start()).filter(is_own);
        Some(braces.unwrap_or(&text).to_owned())
    }
}

/// Blocks of quantised numbers, whose elements have no places of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocks {
    /// The type.
    pub block: &'static Block,
    /// The sizes in elements, the most minor last.
    pub dims: Vec<u64>,
    /// How rows are mixed, if they are.
    pub mix: Option<Mix>,
}

impl Blocks {
    /// Blocks of an array of these sizes.
    ///
    /// # Errors
    /// As of [`Blocks::mixed`].
    pub fn new(block: &'static Block, dims: &[u64]) -> Result<Blocks> {
        Blocks::mixed(block, None, dims)
    }

    /// The same array with its rows mixed as `name` says, such as `q4_0_8x8`; `q4_0` takes them apart.
    ///
    /// # Errors
    /// Another type of blocks, one that ggml does not mix so, and rows whose number is no multiple of those that are mixed.
    pub fn named(&self, name: &str) -> Result<Blocks> {
        let kind = self.block.name();
        let mix = match name.strip_prefix(kind) {
            Some("") => None,
            rest => {
                let mix = rest.and_then(|rest| Mix::named(kind, rest.strip_prefix('_')?));
                Some(mix.ok_or_else(|| {
                    let names = [vec![kind.to_owned()], Mix::names(kind)].concat();
                    Error::new(format!("{name} of {kind}")).accepts(names.join(", "))
                })?)
            }
        };
        Blocks::mixed(self.block, mix, &self.dims)
    }

    /// Blocks of an array of these sizes, with mixed rows.
    ///
    /// # Errors
    /// Rows that are no whole number of blocks, a number of rows that is no multiple of those that are mixed, and more bytes than
    /// 63 bits count.
    pub fn mixed(block: &'static Block, mix: Option<Mix>, dims: &[u64]) -> Result<Blocks> {
        let row = dims.last().copied().unwrap_or(1);
        if !row.is_multiple_of(block.elements()) {
            return Err(Error::new(format!("rows of {row} elements of {}", block.name()))
                .rule(format!("a block has {} elements, and a row whole blocks", block.elements()))
                .accepts(format!("a multiple of {}", block.elements())));
        }
        let blocks = Blocks { block, dims: dims.to_vec(), mix };
        let rows = dims.iter().rev().nth(1).copied().unwrap_or(1);
        if let Some(mix) = mix.filter(|mix| !rows.is_multiple_of(mix.rows)) {
            return Err(Error::new(format!("{rows} rows for {blocks}"))
                .rule(format!("{} rows are mixed", mix.rows))
                .accepts(format!("a multiple of {}", mix.rows)));
        }
        if blocks.count_bytes().is_none() {
            return Err(Error::new(format!("the sizes {dims:?} of {}", block.name()))
                .rule("all bytes of an array are counted in 63 bits"));
        }
        Ok(blocks)
    }

    /// Reads `q4_0[2,64]` or `q4_0_8x8[8,64]`; none for what is no type of blocks.
    ///
    /// # Errors
    /// Sizes that are none, and those of [`Blocks::new`].
    pub(crate) fn read(text: &str) -> Option<Result<Blocks>> {
        let (name, sizes) = text.strip_suffix(']')?.split_once('[')?;
        let mixed = || {
            let (kind, mix) = name.rsplit_once('_')?;
            let block = Block::named(kind)?;
            Some((block, Some(Mix::named(block.name(), mix)?)))
        };
        let (block, mix) = Block::named(name).map(|block| (block, None)).or_else(mixed)?;
        let sizes: Option<Vec<u64>> = sizes.split(',').map(|size| size.parse().ok()).collect();
        let sizes = sizes.ok_or_else(|| Error::new(format!("the sizes of {}", json::shown(text))));
        Some(sizes.and_then(|sizes| Blocks::mixed(block, mix, &sizes)))
    }

    fn count_bytes(&self) -> Option<u64> {
        // A size of 0 does not excuse sizes whose product counts no bytes.
        let count = self.dims.iter().try_fold(1_u64, |count, &size| count.checked_mul(size.max(1)))?;
        let bytes = count.div_ceil(self.block.elements()).checked_mul(self.block.bytes())?;
        i64::try_from(bytes).ok()?;
        Some(if self.dims.contains(&0) { 0 } else { bytes })
    }

    /// All bytes.
    pub fn bytes(&self) -> u64 {
        self.count_bytes().unwrap_or(0) // counted when it was made
    }

    /// How many elements there are.
    pub fn len(&self) -> u64 {
        self.dims.iter().product()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.dims.contains(&0)
    }
}

impl fmt::Display for Blocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sizes: Vec<String> = self.dims.iter().map(u64::to_string).collect();
        let mix = self.mix.map(|mix| format!("_{}x{}", mix.rows, mix.chunk)).unwrap_or_default();
        write!(f, "{}{mix}[{}]", self.block.name(), sizes.join(","))
    }
}

impl Content {
    /// The sizes, the most minor last; none of what is no array.
    pub fn dims(&self) -> Option<&[u64]> {
        match self {
            Content::Array(array) => Some(array.layout.dims()),
            Content::Blocks(blocks) => Some(&blocks.dims),
            Content::Unread { dims, .. } => dims.as_deref(),
        }
    }

    /// The type in one word; of mixed rows that of what is mixed.
    pub fn kind(&self) -> &str {
        match self {
            Content::Array(array) => array.element.name(),
            Content::Blocks(blocks) => blocks.block.name(),
            Content::Unread { kind, .. } => kind,
        }
    }
}
