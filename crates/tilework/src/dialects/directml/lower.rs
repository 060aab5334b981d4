//! Descriptions as layouts, and back: [`BufferTensorDesc`] ↔ [`Layout`].

use super::data_type::DataType;
use super::desc::{BufferTensorDesc, Row, WideRow, packed};
use super::raw::Desc;
use super::size::{self, DWORD};
use super::view::SubView;
use crate::error::{Error, Result};
use crate::layout::Layout;
use crate::layout::strided::Strided;

impl BufferTensorDesc {
    /// The layout of this tensor. Allocated are the elements up to the last one, or what a declared total has room for.
    ///
    /// ```
    /// use tilework::directml::Desc;
    /// let desc = Desc::parse("UINT8 [2,3] strides [5,1]")?.build()?; // ABCxxDEF
    /// let layout = desc.lower()?;
    /// assert_eq!((layout.size(), desc.total_bytes()), (8, 8));
    /// assert_eq!(layout.padding(), Some(2));
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// More elements than 63 bits can count.
    pub fn lower(&self) -> Result<Layout> {
        let dims: WideRow = self.sizes().iter().map(|&size| u64::from(size)).collect();
        let bits = self.data_type().bits();
        let room = self.declared_total().map(|total| u128::from(total) * 8 / u128::from(bits));
        // The least total is rounded up to 4 bytes, and what that adds is no padding of the tensor's.
        let room = room.filter(|_| self.total_bytes() > self.minimum_bytes());
        if self.strides().is_none() && room.is_none() {
            return Layout::row_major(&dims, bits);
        }
        // A stride beyond 63 bits belongs to a dimension of size 1, which never uses it.
        let strides = self.effective_strides();
        let strides: Vec<i64> = strides.iter().map(|&stride| i64::try_from(stride).unwrap_or(0)).collect();
        let size = room.map(|room| u64::try_from(room).unwrap_or(u64::MAX));
        Layout::strided(&dims, bits, &strides, None, size)
    }

    /// The description of a layout, where one exists, and the offset of its first element, which the binding must add.
    ///
    /// ```
    /// use tilework::{Layout, directml::{BufferTensorDesc, DataType}};
    /// let inner = Layout::row_major(&[226, 226], 32)?.slice(0, 1..225, 1)?.slice(1, 1..225, 1)?;
    /// let view = BufferTensorDesc::lift(&inner, DataType::Float32)?;
    /// assert_eq!(view.desc.to_string(), "FLOAT32 [224,224] strides [226,1]");
    /// assert_eq!(view.offset, 227);
    ///
    /// let tiled = Layout::builder(&[16, 256], 32)?.tile(&[Some(8), Some(128)])?.build()?;
    /// let error = BufferTensorDesc::lift(&tiled, DataType::Float32).unwrap_err();
    /// assert!(error.to_string().contains("dimension 0 changes its stride at every multiple of 8"));
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Elements of other bits, no elements, more than 8 dimensions, a size or stride beyond 32 bits, a reversed
    /// dimension, or a layout that strides alone cannot say.
    pub fn lift(layout: &Layout, data_type: DataType) -> Result<SubView> {
        if layout.bits() != data_type.bits() {
            return Err(Error::new(format!("elements of {} bits as {data_type}", layout.bits()))
                .field("DataType")
                .accepts(format!("a type of {} bits", layout.bits())));
        }
        let mut desc = Desc::new(data_type, &[]);
        let Strided { first, mut strides, .. } = layout.to_strides()?;
        desc.sizes = layout.dims().iter().map(|&size| i64::try_from(size).unwrap_or(i64::MAX)).collect();
        if let Some(dim) = strides.iter().position(|&stride| stride < 0) {
            return Err(Error::new(format!("dimension {dim} is reversed: stride {}", strides[dim]))
                .field("Strides")
                .rule("DirectML's strides are unsigned; a reversed dimension needs a copy"));
        }
        // A dimension of size 1 may have any stride. It gets what the dimensions after it span: the packed stride where
        // they are packed.
        let mut span = 1_i64;
        for (stride, &size) in strides.iter_mut().zip(layout.dims()).rev() {
            if size == 1 {
                *stride = if span > i64::from(u32::MAX) { 0 } else { span };
            }
            let last = i64::try_from(size).unwrap_or(i64::MAX).saturating_sub(1);
            span = span.saturating_add(stride.saturating_mul(last));
        }
        if layout.rank() == 0 {
            desc.sizes.push(1); // a scalar
            strides.push(1);
        }
        desc.strides = Some(strides.into());
        // Not to be built as a packed one before its strides are known to be the packed ones.
        let lifted = match desc.build() {
            Ok(lifted) => lifted,
            Err(error) => {
                desc.strides = is_row_major(layout, &desc).then_some(None).ok_or(error)?;
                desc.build()?
            }
        };
        let lifted = lifted.without_redundant_strides();
        if layout.tail() == 0 {
            return Ok(SubView { desc: lifted, offset: first });
        }
        let room = size::bytes(u128::from(layout.size() - first), data_type.bits()).unwrap_or(0);
        let total = (room as u64) / DWORD * DWORD; // within 63 bits, as the layout's bytes are
        let declared =
            if total > lifted.minimum_bytes() { lifted.with_declared_total(total)? } else { lifted };
        Ok(SubView { desc: declared, offset: first })
    }

    /// The same tensor; strides that say nothing beyond the packed ones are left out.
    #[must_use]
    pub fn without_redundant_strides(&self) -> BufferTensorDesc {
        let strides = self.effective_strides();
        let packed = packed(self.sizes());
        let mut strides = packed.iter().zip(&strides).zip(self.sizes());
        match strides.all(|((packed, stride), &size)| packed == stride || size == 1) {
            true => self.without_strides().unwrap_or_else(|_| self.clone()),
            false => self.clone(),
        }
    }

    /// The same tensor with its strides written out.
    ///
    /// # Errors
    /// A stride beyond 32 bits, in a dimension larger than 1.
    pub fn with_explicit_strides(&self) -> Result<BufferTensorDesc> {
        if self.strides().is_some() {
            return Ok(self.clone());
        }
        let fit = |(&stride, &size): (&u64, &u32)| match u32::try_from(stride) {
            Err(_) if size > 1 => Err(Error::new(format!("stride {stride}"))
                .field("Strides")
                .rule("a stride is an unsigned number of 32 bits")
                .accepts("0 to 4294967295")),
            fits => Ok(fits.unwrap_or(0)),
        };
        let strides: Row =
            self.effective_strides().iter().zip(self.sizes()).map(fit).collect::<Result<_>>()?;
        self.with_strides(&strides)
    }
}

/// Whether the strides, of which some do not fit 32 bits, are those of the packed tensor.
fn is_row_major(layout: &Layout, desc: &Desc) -> bool {
    let sizes: Option<Row> = desc.sizes.iter().map(|&size| u32::try_from(size).ok()).collect();
    let strides = desc.strides.iter().flatten();
    sizes.is_some_and(|sizes| {
        layout.rank() > 0
            && strides
                .zip(packed(&sizes))
                .zip(&sizes)
                .all(|((&stride, packed), &size)| size == 1 || u64::try_from(stride) == Ok(packed))
    })
}
