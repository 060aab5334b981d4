//! Products: a layout repeated as another one says.

use super::divide::by;
use super::layout::Layout;
use super::tiler::Tiler;
use super::tuple::{IntTuple, MAX_LEAVES, not_congruent};
use crate::error::{Error, ErrorKind, Result, counted};

impl Layout {
    /// Two modes: this layout, and the places of its repetitions in the order of the other.
    ///
    /// ```
    /// use tilework::cute::{Layout, Tiler};
    /// let product = Layout::parse("(2,2):(4,1)")?.logical_product(&Tiler::parse("6:1")?)?;
    /// assert_eq!(product.to_string(), "((2,2),(2,3)):((4,1),(2,8))");
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// A layout that overlaps itself, what cannot be composed (see [`Layout::compose`]), and something that is known at
    /// run time only.
    pub fn logical_product(&self, tiler: &Tiler) -> Result<Layout> {
        by(self, tiler, false, &product)
    }

    /// Like [`Layout::logical_product`]; with a tiler for each mode, all layouts in the first mode and all repetitions in the
    /// second.
    ///
    /// # Errors
    /// See [`Layout::logical_product`].
    pub fn zipped_product(&self, tiler: &Tiler) -> Result<Layout> {
        by(self, tiler, true, &product)
    }

    /// Like [`Layout::zipped_product`], with the modes of the repetitions beside the first: `((5,4),2,5)`.
    ///
    /// # Errors
    /// See [`Layout::logical_product`].
    pub fn tiled_product(&self, tiler: &Tiler) -> Result<Layout> {
        self.zipped_product(tiler)?.unpack(false)
    }

    /// Like [`Layout::zipped_product`], with every mode beside the others.
    ///
    /// # Errors
    /// See [`Layout::logical_product`].
    pub fn flat_product(&self, tiler: &Tiler) -> Result<Layout> {
        self.zipped_product(tiler)?.unpack(true)
    }

    /// The product, mode by mode: each mode is this layout's, then that of the repetitions. Blocks lie side by side.
    ///
    /// ```
    /// use tilework::cute::Layout;
    /// let blocks = Layout::parse("(3,4):(4,1)")?.blocked_product(&Layout::parse("(2,5):(1,2)")?)?;
    /// assert_eq!(blocks.to_string(), "((3,2),(4,5)):((4,12),(1,24))");
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// See [`Layout::logical_product`].
    pub fn blocked_product(&self, other: &Layout) -> Result<Layout> {
        let both = self.ranked_product(other)?;
        Layout::new(zip(both.shape())?, zip(both.stride())?)
    }

    /// The product, mode by mode, the repetitions first: the blocks are interleaved. Each mode is coalesced.
    ///
    /// # Errors
    /// See [`Layout::logical_product`].
    pub fn raked_product(&self, other: &Layout) -> Result<Layout> {
        let both = self.ranked_product(other)?;
        let swapped = |tuple: &IntTuple| zip(&tuple.modes().iter().rev().cloned().collect());
        let rank = self.rank().max(other.rank());
        let profile = std::iter::repeat_n(IntTuple::from(1), rank).collect();
        Layout::new(swapped(both.shape())?, swapped(both.stride())?)?.coalesce_by(&profile)
    }

    /// The product of layouts of the same rank: the shorter one gets modes of 1.
    fn ranked_product(&self, other: &Layout) -> Result<Layout> {
        let rank = self.rank().max(other.rank());
        match self.rank() == other.rank() {
            true => product(self, other),
            false => product(&self.append(rank)?, &other.append(rank)?),
        }
    }

    /// The layout with modes `1:0` behind its own, up to this rank.
    ///
    /// ```
    /// use tilework::cute::Layout;
    /// let layout = Layout::parse("4:1")?;
    /// assert_eq!(layout.append(2)?.to_string(), "(4,1):(1,0)");
    /// assert!(layout.append(usize::MAX).is_err());
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Layout::new`], and a rank of more modes than a text may have values.
    pub fn append(&self, rank: usize) -> Result<Layout> {
        if self.rank() >= rank {
            return Ok(self.clone());
        }
        if rank > MAX_LEAVES {
            return Err(Error::new(counted(rank as u64, "mode"))
                .of_kind(ErrorKind::Limit)
                .field("rank")
                .accepts(format!("up to {MAX_LEAVES}")));
        }
        let units = std::iter::repeat_n(Layout::unit(), rank - self.rank());
        Layout::join_all(self.top_modes().chain(units))
    }

    /// The layout repeated until it covers a shape; the repetitions of the first mode are the fastest.
    ///
    /// ```
    /// use tilework::cute::{IntTuple, Layout};
    /// let atom = Layout::parse("(8,64):(64,1)")?;
    /// let shape = IntTuple::parse("(64,128)")?;
    /// assert_eq!(atom.tile_to_shape(&shape)?.to_string(), "((8,8),(64,2)):((64,512),(1,4096))");
    /// let rows_last = IntTuple::parse("(1,0)")?;
    /// let tiled = atom.tile_to_shape_in(&shape, &rows_last)?;
    /// assert_eq!(tiled.to_string(), "((8,8),(64,2)):((64,1024),(1,512))");
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// A shape of fewer modes than the layout, and those of [`Layout::logical_product`].
    pub fn tile_to_shape(&self, shape: &IntTuple) -> Result<Layout> {
        let order = (0..shape.rank() as i64).map(IntTuple::from).collect();
        self.tile_to_shape_in(shape, &order)
    }

    /// Like [`Layout::tile_to_shape`], with the repetitions in this order: those of the mode with the least number are the
    /// fastest.
    ///
    /// # Errors
    /// See [`Layout::tile_to_shape`], and an order that has not one number for each mode.
    pub fn tile_to_shape_in(&self, shape: &IntTuple, order: &IntTuple) -> Result<Layout> {
        if self.rank() > shape.rank() {
            return Err(not_congruent(self.shape(), shape));
        }
        let block = self.append(shape.rank())?;
        let counts = shape.product_each()?.ceil_div(&block.shape().product_each()?)?;
        block.blocked_product(&Layout::ordered(counts, order)?)
    }

    /// The compact layout of a shape in an order: the mode with the least number is the fastest.
    ///
    /// ```
    /// use tilework::cute::{IntTuple, Layout};
    /// let layout = Layout::ordered(IntTuple::parse("(2,3,4)")?, &IntTuple::parse("(2,1,3)")?)?;
    /// assert_eq!(layout.to_string(), "(2,3,4):(3,1,6)");
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// An order that nests otherwise than the shape, or deeper.
    pub fn ordered(shape: IntTuple, order: &IntTuple) -> Result<Layout> {
        let stride = ordered_stride(&shape, &shape, order)?;
        Layout::new(shape, stride)
    }

    /// The compact layout of the same shape, its modes in the order of the strides. Strides of 0 stay.
    ///
    /// ```
    /// use tilework::cute::Layout;
    /// assert_eq!(Layout::parse("(2,3,4,5):(0,42,1,0)")?.compact_like()?.to_string(), "(2,3,4,5):(0,4,1,0)");
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Scaled bases, and something that is known at run time only.
    pub fn compact_like(&self) -> Result<Layout> {
        let shape = self.filter_zeros()?.shape().clone();
        Layout::new(self.shape().clone(), ordered_stride(&shape, &shape, self.stride())?)
    }
}

/// The strides of [`Layout::ordered`]: each mode begins where all with smaller numbers end.
fn ordered_stride(shape: &IntTuple, all: &IntTuple, order: &IntTuple) -> Result<IntTuple> {
    if !order.is_weakly_congruent(all) {
        return Err(not_congruent(order, all));
    }
    fn before(number: i64, shape: &IntTuple, order: &IntTuple) -> Result<i64> {
        match order {
            IntTuple::Leaf(leaf) => {
                if leaf.int()? < number {
                    shape.product()
                } else {
                    Ok(1)
                }
            }
            IntTuple::Tuple(orders) => {
                shape.modes().iter().zip(orders).try_fold(1, |product, (shape, order)| {
                    super::count::times(product, before(number, shape, order)?)
                })
            }
        }
    }
    fn walk(shape: &IntTuple, order: &IntTuple, all: (&IntTuple, &IntTuple)) -> Result<IntTuple> {
        match order {
            IntTuple::Leaf(leaf) => {
                let start = before(leaf.int()?, all.0, all.1)?;
                super::layout::compact_stride(shape, &mut Some(start))
            }
            IntTuple::Tuple(orders) => {
                shape.modes().iter().zip(orders).map(|(shape, order)| walk(shape, order, all)).collect()
            }
        }
    }
    walk(shape, order, (all, order))
}

fn product(block: &Layout, other: &Layout) -> Result<Layout> {
    Layout::join_all([block.clone(), block.complement()?.compose(other)?])
}

/// `((a,b),(x,y))` becomes `((a,x),(b,y))`; `(a,(x))` becomes `((a,(x)))`.
fn zip(pair: &IntTuple) -> Result<IntTuple> {
    let [first, second] = pair.modes() else {
        return Err(Error::new(format!("{pair} is no pair")).field("layout"));
    };
    match (first, second) {
        (IntTuple::Leaf(_), _) => Ok(IntTuple::Tuple(vec![pair.clone()])),
        (IntTuple::Tuple(a), IntTuple::Tuple(b)) if a.len() == b.len() => {
            Ok(a.iter().zip(b).map(|(a, b)| [a.clone(), b.clone()].into_iter().collect()).collect())
        }
        _ => Err(not_congruent(first, second)),
    }
}
