//! XLA's protobuf messages, byte for byte, in both of their ages.
//!
//! The messages are small and their bytes are a file format, so they are written out by hand here:
//!
//! | message | fields |
//! |---|---|
//! | `TileProto` | 1 dimensions |
//! | `SplitConfigProto` | 1 dimension, 2 split_indices |
//! | `LayoutProto` | 1 minor_to_major, 6 tiles, 7 element_size_in_bits, 8 memory_space, 10 physical_shape, 11 index_primitive_type, 12 pointer_primitive_type, 15 dynamic_shape_metadata_prefix_bytes, 16 tail_padding_alignment_in_elements, 17 split_configs |
//! | `ShapeProto` | 2 element_type, 3 dimensions, 4 tuple_shapes (also what a buffer holds), 5 layout, 6 is_dynamic_dimension |
//! | `ProgramShapeProto` | 1 parameters, 2 result, 3 parameter_names |
//! | older `Layout` | 1 minor_to_major, 2 padded_dimensions, 3 padding_value, and from 2018 on 4 format, 5 max_sparse_elements |
//! | older `Shape` | 1 rank, and 2 to 5 as today |
//!
//! Both readers take fields in any order, repeated numbers packed or one by one, the last of several scalars, and merge
//! several messages of one field, as protobuf does. They skip fields that neither age knows. What they refuse: bytes
//! that are not a message, a known field of another wire type, and a value that is not valid. Every error has the place
//! of the bytes ([`Error::span`](crate::Error::span)) and names the field.
//!
//! That much is always there. The feature `proto` adds what takes a library: the same messages in text format and JSON,
//! kept whole between reading and writing (`Message`).

#[cfg(feature = "proto")]
mod generated;
#[cfg(feature = "proto")]
mod message;
#[cfg(feature = "proto")]
mod notation;
mod program;
mod read;
mod read_layout;
mod tile;
mod wire;
mod write;

#[cfg(feature = "proto")]
pub use message::{Kind, Message};
#[cfg(feature = "proto")]
pub use notation::{Format, MAX_BYTES};

use crate::error::Result;
use crate::xla::value::layout::Layout;
use crate::xla::value::shape::Shape;
use read::ShapeMessage;
use read_layout::LayoutMessage;
use write::Age;

/// Shapes may stand this deep inside each other in a message.
const MAX_NESTING: usize = 128;

/// Of the older messages one reader takes both versions.
const OLD: Age = Age::Old(OldProto::V2018);

/// Which of TensorFlow's older messages to write. Reading takes both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OldProto {
    /// 2017: a layout has an order and padding, and says nothing about sparse arrays.
    V2017,
    /// 2018: a layout also has a format, which is always `DENSE` here.
    V2018,
}

impl Shape {
    /// The bytes of XLA's `ShapeProto`, exactly as XLA writes them: XLA's `Shape::ToProto`.
    ///
    /// ```
    /// use tilework::{Element, xla::Shape};
    /// let bytes = Shape::scalar(Element::F32).to_proto()?;
    /// assert_eq!(bytes, [0x10, 0x0b, 0x2a, 0x03, 0x80, 0x01, 0x01]);
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// What the message has no field for: `pad(..)` (see [`Shape::to_old_proto`]) and `strides(..)`. More than 128
    /// shapes inside each other.
    pub fn to_proto(&self) -> Result<Vec<u8>> {
        write::shape(self, Age::Today, 0)
    }

    /// The shape in the bytes of XLA's `ShapeProto`: XLA's `Shape::FromProto`.
    ///
    /// Reads what [`Shape::to_proto`] writes. A `*` in a tile is read as well, which XLA itself refuses since 2025. As
    /// in today's XLA the fields about sparse dimensions (9, 13, 14) are skipped, and so are the reserved ones: the
    /// older layout's padding (see [`Shape::from_old_proto`]) and the older shape's rank.
    ///
    /// # Errors
    /// Bytes that are not such a message, or a message that is not a valid shape.
    pub fn from_proto(bytes: &[u8]) -> Result<Shape> {
        ShapeMessage::read(bytes, Age::Today)?.into_shape(Age::Today)
    }

    /// The bytes of the `Shape` message of TensorFlow 1.x, which has padding and neither tiles nor dynamic dimensions.
    ///
    /// # Errors
    /// What the message has no field for, or a type younger than the message.
    pub fn to_old_proto(&self, version: OldProto) -> Result<Vec<u8>> {
        write::shape(self, Age::Old(version), 0)
    }

    /// The shape in the bytes of the `Shape` message of TensorFlow 1.x.
    ///
    /// # Errors
    /// Bytes that are not such a message, a message that is not a valid shape, a sparse layout, and fields that only
    /// today's messages have (tiles, dynamic dimensions, …), since skipping them would change the meaning.
    pub fn from_old_proto(bytes: &[u8]) -> Result<Shape> {
        ShapeMessage::read(bytes, OLD)?.into_shape(OLD)
    }
}

impl Layout {
    /// The bytes of XLA's `LayoutProto`, exactly as XLA writes them: XLA's `Layout::ToProto`.
    ///
    /// # Errors
    /// See [`Shape::to_proto`].
    pub fn to_proto(&self) -> Result<Vec<u8>> {
        write::layout(self, Age::Today, 0)
    }

    /// The layout in the bytes of XLA's `LayoutProto`: XLA's `Layout::FromProto`.
    ///
    /// # Errors
    /// See [`Shape::from_proto`].
    pub fn from_proto(bytes: &[u8]) -> Result<Layout> {
        LayoutMessage::read(bytes, Age::Today)?.into_layout(Age::Today)
    }

    /// The bytes of the `Layout` message of TensorFlow 1.x, which has padding and no tiles.
    ///
    /// ```
    /// use tilework::xla::{Layout, OldProto, Padding, PaddingValue};
    /// let padding = Padding { padded_dimensions: vec![3, 5], value: PaddingValue::Zero };
    /// let layout = Layout::new([0, 1])?.with_padding(Some(padding))?;
    /// let bytes = layout.to_old_proto(OldProto::V2017)?;
    /// assert_eq!(bytes, [0x0a, 2, 0, 1, 0x12, 2, 3, 5, 0x18, 1]);
    /// assert_eq!(Layout::from_old_proto(&bytes)?, layout);
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// See [`Shape::to_old_proto`].
    pub fn to_old_proto(&self, version: OldProto) -> Result<Vec<u8>> {
        write::layout(self, Age::Old(version), 0)
    }

    /// The layout in the bytes of the `Layout` message of TensorFlow 1.x.
    ///
    /// An empty list of padded dimensions means no padding, and then the padding value says nothing.
    ///
    /// # Errors
    /// See [`Shape::from_old_proto`].
    pub fn from_old_proto(bytes: &[u8]) -> Result<Layout> {
        LayoutMessage::read(bytes, OLD)?.into_layout(OLD)
    }
}
