//! Descriptions that people need by name: a buffer in another order, filters, padded rows, diagonals, fills.

use super::data_type::DataType;
use super::desc::BufferTensorDesc;
use super::order::places;
use super::strides::{order_strides, padded_strides};
use super::view::SubView;
use crate::error::{Error, Result, counted};

impl BufferTensorDesc {
    /// Sizes named by `letters`, packed in the order of `order`: sizes `NCHW` that lie as `NHWC`.
    ///
    /// ```
    /// use tilework::directml::{BufferTensorDesc, DataType};
    /// // RGBRGB (DirectML#240)
    /// let desc = BufferTensorDesc::in_order(DataType::Uint8, &[1, 3, 2], "NCW", "NWC")?;
    /// assert_eq!(desc.strides(), Some(&[6, 1, 3][..]));
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`order_strides`] and of [`BufferTensorDesc::new`].
    pub fn in_order(
        data_type: DataType,
        sizes: &[u32],
        letters: &str,
        order: &str,
    ) -> Result<BufferTensorDesc> {
        let desc = BufferTensorDesc::new(data_type, sizes)?;
        desc.with_strides(&order_strides(sizes, letters, order)?)
    }

    /// A packed buffer whose sizes stand in the order `stored`, seen with sizes in the order `view`: an NHWC buffer as
    /// NCHW sizes, a filter HWIO as OIHW.
    ///
    /// ```
    /// use tilework::directml::{BufferTensorDesc, DataType};
    /// let seen = |sizes: &[u32], stored: &str, view: &str| {
    ///     BufferTensorDesc::from_stored(DataType::Float32, sizes, stored, view).map(|desc| desc.to_string())
    /// };
    /// assert_eq!(seen(&[2, 4, 5, 3], "NHWC", "NCHW")?, "FLOAT32 [2,3,4,5] strides [60,1,15,3]");
    /// assert_eq!(seen(&[11, 3, 5, 7], "OHWI", "OIHW")?, "FLOAT32 [11,7,3,5] strides [105,1,35,7]");
    /// assert_eq!(seen(&[3, 5, 11, 7], "HWOI", "IOHW")?, "FLOAT32 [7,11,3,5] strides [1,7,385,77]");
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Orders that do not have the same letters, one for each size, or those of [`BufferTensorDesc::new`].
    pub fn from_stored(
        data_type: DataType,
        sizes: &[u32],
        stored: &str,
        view: &str,
    ) -> Result<BufferTensorDesc> {
        let places = places(stored, view)?;
        let desc = BufferTensorDesc::new(data_type, sizes)?;
        desc.permute(&places)?.with_explicit_strides()
    }

    /// A tensor whose dimension `dim` starts at multiples of `align_bytes`: rows (the last dimension but one) at the
    /// pitch of a texture, 256 bytes.
    ///
    /// # Errors
    /// Those of [`padded_strides`] and of [`BufferTensorDesc::new`].
    pub fn padded(
        data_type: DataType,
        sizes: &[u32],
        dim: usize,
        align_bytes: u32,
    ) -> Result<BufferTensorDesc> {
        let desc = BufferTensorDesc::new(data_type, sizes)?;
        desc.with_strides(&padded_strides(data_type, sizes, dim, align_bytes)?)
    }

    /// A box within this tensor: its first index and its sizes. DirectML#448 is the inner 224 × 224 of 226 × 226.
    ///
    /// ```
    /// use tilework::directml::{BufferTensorDesc, DataType};
    /// let image = BufferTensorDesc::new(DataType::Float32, &[1, 3, 226, 226])?;
    /// let inner = image.sub_view(&[0, 0, 1, 1], &[1, 3, 224, 224])?;
    /// assert_eq!(inner.desc.strides(), Some(&[153228, 51076, 226, 1][..]));
    /// assert_eq!((inner.offset, inner.offset_bytes()), (227, Some(908)));
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Another rank, or a box that is empty or not within the tensor.
    pub fn sub_view(&self, first: &[u32], sizes: &[u32]) -> Result<SubView> {
        let fits = |((&first, &count), &size): ((&u32, &u32), &u32)| {
            count > 0 && first.checked_add(count).is_some_and(|end| end <= size)
        };
        if first.len() != self.rank()
            || sizes.len() != self.rank()
            || !first.iter().zip(sizes).zip(self.sizes()).all(fits)
        {
            return Err(Error::new(format!("sizes {sizes:?} at {first:?} in sizes {:?}", self.sizes()))
                .field("Sizes")
                .rule("a sub-view has one or more elements in every dimension, all within the tensor"));
        }
        let first: Vec<u64> = first.iter().map(|&index| u64::from(index)).collect();
        let strides = self.effective_strides();
        let desc = self.without_declared_total().reshaped(sizes.into(), &strides)?;
        Ok(SubView { desc, offset: self.offset(&first)? })
    }

    /// The diagonal of a packed n × n matrix, as TensorFlow writes it: `[1,1,1,n]` with strides `[0,0,0,n+1]`.
    ///
    /// # Errors
    /// n of 0, or one that 32 bits cannot stride over.
    pub fn diagonal(data_type: DataType, n: u32) -> Result<BufferTensorDesc> {
        let step = n.checked_add(1).ok_or_else(|| Error::new(format!("size {n}")).field("Sizes"))?;
        BufferTensorDesc::new(data_type, &[1, 1, 1, n])?.with_strides(&[0, 0, 0, step])
    }

    /// One value for each index of `axis`, repeated along every other dimension: a bias or a scale.
    ///
    /// ```
    /// use tilework::directml::{BufferTensorDesc, DataType};
    /// let bias = BufferTensorDesc::along_axis(DataType::Float16, &[2, 64, 56, 56], 1)?;
    /// assert_eq!((bias.strides(), bias.total_bytes()), (Some(&[0, 1, 0, 0][..]), 128));
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// An axis outside the rank, or sizes that no tensor can have.
    pub fn along_axis(data_type: DataType, sizes: &[u32], axis: usize) -> Result<BufferTensorDesc> {
        if axis >= sizes.len() {
            return Err(Error::new(format!("axis {axis} of {}", counted(sizes.len() as u64, "dimension")))
                .field("axis"));
        }
        let strides: Vec<u32> = (0..sizes.len()).map(|dim| u32::from(dim == axis)).collect();
        BufferTensorDesc::filled_then(data_type, sizes, &strides)
    }

    /// One value for all elements: every stride is 0, and the buffer holds one element.
    ///
    /// # Errors
    /// Sizes that no tensor can have.
    pub fn scalar_fill(data_type: DataType, sizes: &[u32]) -> Result<BufferTensorDesc> {
        BufferTensorDesc::filled_then(data_type, sizes, &vec![0; sizes.len()])
    }

    /// Strides from the start: the packed tensor of these sizes might not fit anywhere.
    fn filled_then(data_type: DataType, sizes: &[u32], strides: &[u32]) -> Result<BufferTensorDesc> {
        let strides = strides.iter().map(|&stride| i64::from(stride)).collect();
        super::Desc { strides: Some(strides), ..super::Desc::new(data_type, sizes) }.build()
    }
}
