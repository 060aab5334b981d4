//! View or copy: the description after a transpose, reshape or slice, or the pair of dimensions that forbids it.
//!
//! A view describes other indices for the same places. Permuting, slicing and broadcasting strides always gives strides
//! again; a reshape does so exactly if every two neighbouring dimensions that it joins are one run:
//!
//! ```text
//! stride of the outer = stride of the inner · size of the inner        dimensions of size 1 left out
//! ```

use std::fmt;
use std::ops::Range;

use super::desc::{BufferTensorDesc, Row, WideRow};
use super::raw::Desc;
use super::{DataType, size};
use crate::error::{Error, Result, counted};

/// A description of other places in the same buffer, and how many elements its first one is behind that of the original.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SubView {
    /// The view.
    pub desc: BufferTensorDesc,
    /// Elements to add to the offset of the binding.
    pub offset: u64,
}

impl SubView {
    /// The offset in bytes, which is what a binding takes; none if it is not whole (4-bit elements).
    pub fn offset_bytes(&self) -> Option<u64> {
        let bits = u128::from(self.offset) * u128::from(self.desc.data_type().bits());
        bits.is_multiple_of(8).then(|| u64::try_from(bits / 8).ok()).flatten()
    }
}

/// The answer to "can this be done without moving data?"
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ViewOrCopy {
    /// Yes: this is the description.
    View(BufferTensorDesc),
    /// No, and why.
    Copy(CopyNeeded),
}

/// Why data must be moved: two dimensions of the original that would become one and are not one run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CopyNeeded {
    /// The outer and the inner dimension.
    pub dims: (usize, usize),
    /// The stride of the outer one.
    pub stride: u64,
    /// The stride it would have to have: the inner one's stride times its size.
    pub wanted: u128,
}

impl ViewOrCopy {
    /// The view, if there is one.
    pub fn view(self) -> Option<BufferTensorDesc> {
        match self {
            ViewOrCopy::View(desc) => Some(desc),
            ViewOrCopy::Copy(_) => None,
        }
    }

    /// Why a copy is needed, if one is.
    pub fn copy(&self) -> Option<&CopyNeeded> {
        match self {
            ViewOrCopy::View(_) => None,
            ViewOrCopy::Copy(needed) => Some(needed),
        }
    }
}

impl fmt::Display for CopyNeeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (outer, inner) = self.dims;
        write!(f, "dimensions {outer} and {inner} cannot become one: ")?;
        write!(
            f,
            "the stride of dimension {outer} is {}, and one run would need {}",
            self.stride, self.wanted
        )
    }
}

impl fmt::Display for ViewOrCopy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ViewOrCopy::View(desc) => write!(f, "view: {desc}"),
            ViewOrCopy::Copy(needed) => write!(f, "copy needed: {needed}"),
        }
    }
}

impl BufferTensorDesc {
    /// The dimensions in another order: dimension `k` of the view is dimension `order[k]`. Always a view.
    ///
    /// ```
    /// use tilework::directml::{BufferTensorDesc, DataType};
    /// let stored = BufferTensorDesc::new(DataType::Float32, &[2, 4, 5, 3])?; // NHWC
    /// let view = stored.permute(&[0, 3, 1, 2])?;
    /// assert_eq!(view.to_string(), "FLOAT32 [2,3,4,5] strides [60,1,15,3]");
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Not a permutation of the dimensions, or a packed stride that does not fit 32 bits when written out.
    pub fn permute(&self, order: &[usize]) -> Result<BufferTensorDesc> {
        if order.len() != self.rank() {
            return Err(Error::new(format!(
                "wrong length: {} for {}",
                counted(order.len() as u64, "number"),
                counted(self.rank() as u64, "dimension")
            ))
            .field("order")
            .rule("an order names every dimension exactly once"));
        }
        if let Some(place) = (0..order.len()).find(|&place| order[..place].contains(&order[place])) {
            return Err(Error::new(format!("duplicate axis {}", order[place]))
                .field("order")
                .rule("an order names every dimension exactly once"));
        }
        self.gather_axes(order, false)
    }

    /// ONNX Runtime's way with axes: dimension `k` of the view is dimension `axes[k]`; axes may be dropped (then only
    /// index 0 of them is seen) or repeated (then the view walks a diagonal), and one beyond the rank is of size 1.
    ///
    /// # Errors
    /// No axes or more than 8, or a stride that does not fit 32 bits.
    pub fn gather_axes_like_onnx_runtime(&self, axes: &[usize]) -> Result<BufferTensorDesc> {
        self.gather_axes(axes, true)
    }

    fn gather_axes(&self, axes: &[usize], beyond: bool) -> Result<BufferTensorDesc> {
        let strides = self.effective_strides();
        let (mut sizes, mut gathered) = (Row::new(), WideRow::new());
        for &axis in axes {
            if axis >= self.rank() && !beyond {
                return Err(Error::new(format!(
                    "axis out of range: {axis} of {}",
                    counted(self.rank() as u64, "dimension")
                ))
                .field("order")
                .rule("an order names every dimension exactly once"));
            }
            sizes.push(self.sizes().get(axis).copied().unwrap_or(1));
            gathered.push(strides.get(axis).copied().unwrap_or(0));
        }
        self.reshaped(sizes, &gathered)
    }

    /// The same elements in row-major index order under other sizes, or why that needs a copy.
    ///
    /// ```
    /// use tilework::directml::Desc;
    /// let nhwc = Desc::parse("FLOAT32 NHWC [1,3,8,8]")?.build()?;
    /// assert_eq!(nhwc.reshape(&[1, 3, 64])?.to_string(), "view: FLOAT32 [1,3,64] strides [192,1,3]");
    /// assert_eq!(
    ///     nhwc.reshape(&[1, 192])?.to_string(),
    ///     "copy needed: dimensions 1 and 2 cannot become one: the stride of dimension 1 is 1, and one run would need 192"
    /// );
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Another number of elements, or sizes that no tensor can have.
    pub fn reshape(&self, sizes: &[u32]) -> Result<ViewOrCopy> {
        let wide: WideRow = sizes.iter().map(|&size| u64::from(size)).collect();
        let view = self.lower()?.reshape(&wide)?;
        match self.break_in_reshape(sizes) {
            Some(needed) => Ok(ViewOrCopy::Copy(needed)),
            // Broken nowhere, so strides say it; `lift` would find the reason otherwise.
            None => Ok(ViewOrCopy::View(
                self.with_type_and_flags(BufferTensorDesc::lift(&view, self.data_type())?.desc)?,
            )),
        }
    }

    /// Keeps what a layout does not know, and writes strides where this tensor has them.
    pub(crate) fn with_type_and_flags(&self, view: BufferTensorDesc) -> Result<BufferTensorDesc> {
        let desc =
            Desc { flags: self.flags().bits(), alignment: u64::from(self.alignment()), ..view.to_desc() };
        let view = desc.build()?;
        if self.strides().is_none() { Ok(view) } else { view.with_explicit_strides() }
    }

    /// The first two neighbouring dimensions, sizes of 1 left out, that the new sizes join and that are not one run.
    ///
    /// The new sizes keep two dimensions apart exactly if the elements below the boundary are the product of some last
    /// new sizes.
    fn break_in_reshape(&self, sizes: &[u32]) -> Option<CopyNeeded> {
        let mut below = 1_u64; // all products divide the number of elements
        let boundaries: WideRow = sizes
            .iter()
            .rev()
            .map(|&size| {
                below = below.saturating_mul(u64::from(size));
                below
            })
            .collect();
        self.breaks().find(|&(_, below)| !boundaries.contains(&below)).map(|(needed, _)| needed)
    }

    /// Every two neighbouring dimensions, sizes of 1 left out, that are not one run, outermost first, with the number of
    /// elements below the boundary.
    fn breaks(&self) -> impl Iterator<Item = (CopyNeeded, u64)> {
        let strides = self.effective_strides();
        let sizes = Row::from_slice(self.sizes());
        let large: Row = (0..self.rank() as u32).filter(|&dim| sizes[dim as usize] > 1).collect();
        (1..large.len()).filter_map(move |place| {
            let dims = (large[place - 1] as usize, large[place] as usize);
            let wanted = u128::from(strides[dims.1]) * u128::from(sizes[dims.1]);
            let below = sizes[dims.1..].iter().map(|&size| u64::from(size)).product();
            let stride = strides[dims.0];
            (u128::from(stride) != wanted).then_some((CopyNeeded { dims, stride, wanted }, below))
        })
    }

    /// Why not all dimensions are one run; none if they are.
    ///
    /// ```
    /// use tilework::directml::Desc;
    /// let desc = |text: &str| Desc::parse(text)?.build();
    /// assert_eq!(desc("FLOAT32 [2,3] strides [6,2]")?.collapse(), None); // a step of 2 throughout
    /// assert_eq!(desc("FLOAT32 [2,3,4] strides [4,0,1]")?.collapse().unwrap().dims, (0, 1));
    /// # Ok::<(), tilework::Error>(())
    /// ```
    pub fn collapse(&self) -> Option<CopyNeeded> {
        self.breaks().next().map(|(needed, _)| needed)
    }

    /// Without the dimensions of size 1 among `dims`; all of them if none are named. At least one dimension stays.
    ///
    /// # Errors
    /// A dimension outside the rank, or one that is larger than 1.
    pub fn squeeze(&self, dims: &[usize]) -> Result<BufferTensorDesc> {
        if let Some(&dim) = dims.iter().find(|&&dim| self.sizes().get(dim) != Some(&1)) {
            return Err(Error::new(match self.sizes().get(dim) {
                Some(size) => format!("dimension {dim} of size {size}"),
                None => format!("dimension {dim} of {}", self.rank()),
            })
            .field("dimension")
            .rule("only a dimension of size 1 can be left out"));
        }
        let goes = |dim: &usize| self.sizes()[*dim] == 1 && (dims.is_empty() || dims.contains(dim));
        let mut kept: Vec<usize> = (0..self.rank()).filter(|dim| !goes(dim)).collect();
        if kept.is_empty() {
            kept.push(self.rank() - 1);
        }
        self.gather_axes(&kept, false)
    }

    /// With a dimension of size 1 before dimension `dim`.
    ///
    /// # Errors
    /// A place behind the end, or 8 dimensions already.
    pub fn unsqueeze(&self, dim: usize) -> Result<BufferTensorDesc> {
        if dim > self.rank() {
            return Err(Error::new(format!("dimension {dim} of {}", self.rank()))
                .field("dimension")
                .accepts(format!("0 to {}", self.rank())));
        }
        let mut axes: Vec<usize> = (0..self.rank()).collect();
        axes.insert(dim, usize::MAX);
        self.gather_axes(&axes, true)
    }

    /// Every `step`-th element of a dimension. Always a view, at an offset.
    ///
    /// ```
    /// use tilework::directml::{BufferTensorDesc, DataType};
    /// let view = BufferTensorDesc::new(DataType::Float32, &[4, 10])?.slice(1, 1..8, 3)?;
    /// assert_eq!((view.desc.to_string(), view.offset), ("FLOAT32 [4,3] strides [10,3]".to_owned(), 1));
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// A dimension outside the rank, a range that is empty or outside the dimension, a step of 0, or a stride that does
    /// not fit 32 bits.
    pub fn slice(&self, dim: usize, range: Range<u64>, step: u64) -> Result<SubView> {
        if range.is_empty() && dim < self.rank() {
            return Err(Error::new(format!(
                "the empty range {}..{} of dimension {dim}",
                range.start, range.end
            ))
            .field("range")
            .rule("DirectML has no tensors without elements"));
        }
        let view = BufferTensorDesc::lift(&self.lower()?.slice(dim, range, step)?, self.data_type())?;
        // What was declared for the whole says nothing about the part: of an output, DirectML may write all of it.
        let desc = self.with_type_and_flags(view.desc.without_declared_total())?;
        Ok(SubView { desc, ..view })
    }

    /// Other sizes and strides, and another type, over the bytes of this tensor. The total stays.
    ///
    /// A graph that does nothing else fails with `E_INVALIDARG` (DirectML#71): it needs an Identity.
    ///
    /// ```
    /// use tilework::directml::{BufferTensorDesc, DataType};
    /// let desc = BufferTensorDesc::new(DataType::Float32, &[16, 4, 4, 10])?;
    /// assert!(desc.reinterpret(DataType::Float32, &[1, 1, 256, 10], Some(&[2560, 2560, 10, 1])).is_ok());
    /// assert!(desc.reinterpret(DataType::Float64, &[16, 4, 4, 10], None).is_err());
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// A view that needs more bytes than the tensor has, or that no tensor can be.
    pub fn reinterpret(
        &self,
        data_type: DataType,
        sizes: &[u32],
        strides: Option<&[u32]>,
    ) -> Result<BufferTensorDesc> {
        let needs = size::buffer_size_bytes(data_type, sizes, strides)?;
        let total = self.total_bytes();
        if needs > total {
            return Err(Error::new(format!("{needs} bytes in a tensor of {total}"))
                .field("TotalTensorSizeInBytes")
                .rule("a reinterpretation moves no data, so it needs no more bytes than there are")
                .accepts(format!("up to {total} bytes")));
        }
        let strides = strides.map(|strides| strides.iter().map(|&stride| i64::from(stride)).collect());
        let desc = Desc {
            strides,
            flags: self.flags().bits(),
            alignment: u64::from(self.alignment()),
            total: (self.declared_total().is_some() || needs < total).then_some(total),
            ..Desc::new(data_type, sizes)
        };
        desc.build()
    }
}
