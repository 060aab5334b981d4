//! A message as it was written, kept whole.

use super::OldProto;
use super::generated::{xla, xla_2018};
use super::notation::{Format, from_bytes, to_bytes};
use crate::error::{Error, Result};
use crate::xla::{Layout, ProgramShape, Shape, Tile};

/// Which message of XLA it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `ShapeProto`.
    Shape,
    /// `LayoutProto`.
    Layout,
    /// `TileProto`.
    Tile,
    /// `ProgramShapeProto`.
    ProgramShape,
    /// The `Shape` of TensorFlow 1.x.
    OldShape,
    /// The `Layout` of TensorFlow 1.x, with padded dimensions and a padding value.
    OldLayout,
}

impl Kind {
    /// The name of the message in its schema.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Shape => "ShapeProto",
            Kind::Layout => "LayoutProto",
            Kind::Tile => "TileProto",
            Kind::ProgramShape => "ProgramShapeProto",
            Kind::OldShape => "Shape",
            Kind::OldLayout => "Layout",
        }
    }
}

/// A message of XLA: its bytes, which are those of a message of this kind, whatever the values in it mean.
///
/// A message that was read from bytes keeps every one of them. So fields that are younger than this library survive being
/// read and written again.
///
/// ```
/// use tilework::xla::Shape;
/// use tilework::xla::proto::{Format, Kind, Message};
///
/// let message = Message::of_shape(&Shape::parse("f32[3,5]{1,0:T(2,2)}")?)?;
/// let text = message.write(Format::Text)?;
/// assert!(text.starts_with(b"element_type: F32\nlayout {\n"));
///
/// let read = Message::read(Kind::Shape, Format::Text, &text)?;
/// assert_eq!(read, message);
/// assert_eq!(read.shape()?.to_string(), "f32[3,5]{1,0:T(2,2)}");
/// # Ok::<(), tilework::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Message {
    kind: Kind,
    bytes: Vec<u8>,
    /// Where it was read, places in the bytes are places in the input.
    read_from: Format,
}

/// Two messages are the same if they have the same bytes, however they were read.
impl PartialEq for Message {
    fn eq(&self, other: &Message) -> bool {
        self.kind == other.kind && self.bytes == other.bytes
    }
}

impl Eq for Message {}

impl Message {
    /// The message of a shape, exactly as XLA writes it.
    ///
    /// # Errors
    /// See [`Shape::to_proto`]; and more than [`MAX_BYTES`](super::MAX_BYTES), here and below.
    pub fn of_shape(shape: &Shape) -> Result<Message> {
        Message::read(Kind::Shape, Format::Binary, &shape.to_proto()?)
    }

    /// The message of a layout.
    ///
    /// # Errors
    /// See [`Layout::to_proto`].
    pub fn of_layout(layout: &Layout) -> Result<Message> {
        Message::read(Kind::Layout, Format::Binary, &layout.to_proto()?)
    }

    /// The message of a tile.
    ///
    /// # Errors
    /// None that a tile has met so far.
    pub fn of_tile(tile: &Tile) -> Result<Message> {
        Message::read(Kind::Tile, Format::Binary, &tile.to_proto())
    }

    /// The message of a program shape.
    ///
    /// # Errors
    /// See [`ProgramShape::to_proto`].
    pub fn of_program_shape(shape: &ProgramShape) -> Result<Message> {
        Message::read(Kind::ProgramShape, Format::Binary, &shape.to_proto()?)
    }

    /// The message that TensorFlow 1.x had for a shape.
    ///
    /// # Errors
    /// See [`Shape::to_old_proto`].
    pub fn of_old_shape(shape: &Shape, version: OldProto) -> Result<Message> {
        Message::read(Kind::OldShape, Format::Binary, &shape.to_old_proto(version)?)
    }

    /// The message that TensorFlow 1.x had for a layout.
    ///
    /// # Errors
    /// See [`Layout::to_old_proto`].
    pub fn of_old_layout(layout: &Layout, version: OldProto) -> Result<Message> {
        Message::read(Kind::OldLayout, Format::Binary, &layout.to_old_proto(version)?)
    }

    /// Reads a message. Whether its values make sense is asked later, by [`Message::shape`] and the others.
    ///
    /// # Errors
    /// Input that is not such a message, with its place: a wrong wire type or length, a field that the schema does not have
    /// in text or JSON, more than [`MAX_BYTES`](super::MAX_BYTES), messages too deep inside each other.
    pub fn read(kind: Kind, format: Format, input: &[u8]) -> Result<Message> {
        let bytes = match kind {
            Kind::Shape => to_bytes::<xla::ShapeProto>(format, input),
            Kind::Layout => to_bytes::<xla::LayoutProto>(format, input),
            Kind::Tile => to_bytes::<xla::TileProto>(format, input),
            Kind::ProgramShape => to_bytes::<xla::ProgramShapeProto>(format, input),
            Kind::OldShape => to_bytes::<xla_2018::Shape>(format, input),
            Kind::OldLayout => to_bytes::<xla_2018::Layout>(format, input),
        };
        match bytes {
            Ok(bytes) => Ok(Message { kind, bytes, read_from: format }),
            // The readers of bytes know the field and the place.
            Err(error) if format == Format::Binary && input.len() <= super::MAX_BYTES => {
                let better = meaning(kind, input).err().filter(|better| better.span().is_some());
                Err(better.unwrap_or(error))
            }
            Err(error) => Err(error),
        }
    }

    /// Writes the message.
    ///
    /// # Errors
    /// In JSON: fields that the schema does not know, which have no name, and shapes too deep inside each other.
    pub fn write(&self, format: Format) -> Result<Vec<u8>> {
        match self.kind {
            Kind::Shape => from_bytes::<xla::ShapeProto>(format, &self.bytes),
            Kind::Layout => from_bytes::<xla::LayoutProto>(format, &self.bytes),
            Kind::Tile => from_bytes::<xla::TileProto>(format, &self.bytes),
            Kind::ProgramShape => from_bytes::<xla::ProgramShapeProto>(format, &self.bytes),
            Kind::OldShape => from_bytes::<xla_2018::Shape>(format, &self.bytes),
            Kind::OldLayout => from_bytes::<xla_2018::Layout>(format, &self.bytes),
        }
    }

    /// Which message it is.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The message in the wire format.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The shape that a shape's message means, today's or the older one.
    ///
    /// # Errors
    /// Another message, or values that no shape has; see [`Shape::from_proto`] and [`Shape::from_old_proto`]. Errors
    /// have the place where the message was read from bytes, and else the name of the message.
    pub fn shape(&self) -> Result<Shape> {
        self.placed(match self.kind {
            Kind::Shape => Shape::from_proto(&self.bytes),
            Kind::OldShape => Shape::from_old_proto(&self.bytes),
            _ => Err(self.is_not("a shape")),
        })
    }

    /// The layout that a layout's message means, today's or the older one.
    ///
    /// # Errors
    /// See [`Message::shape`].
    pub fn layout(&self) -> Result<Layout> {
        self.placed(match self.kind {
            Kind::Layout => Layout::from_proto(&self.bytes),
            Kind::OldLayout => Layout::from_old_proto(&self.bytes),
            _ => Err(self.is_not("a layout")),
        })
    }

    /// The tile that a tile's message means.
    ///
    /// # Errors
    /// See [`Message::shape`].
    pub fn tile(&self) -> Result<Tile> {
        self.placed(match self.kind {
            Kind::Tile => Tile::from_proto(&self.bytes),
            _ => Err(self.is_not("a tile")),
        })
    }

    /// The program shape that its message means.
    ///
    /// # Errors
    /// See [`Message::shape`].
    pub fn program_shape(&self) -> Result<ProgramShape> {
        self.placed(match self.kind {
            Kind::ProgramShape => ProgramShape::from_proto(&self.bytes),
            _ => Err(self.is_not("a program shape")),
        })
    }

    fn is_not(&self, wanted: &str) -> Error {
        Error::new(format!("a {} is not the message of {wanted}", self.kind.name()))
    }

    /// Places in bytes that nobody has seen are of no use to anybody.
    fn placed<T>(&self, outcome: Result<T>) -> Result<T> {
        match self.read_from {
            Format::Binary => outcome,
            _ => outcome.map_err(|error| error.field(self.kind.name())),
        }
    }
}

/// What the readers of bytes say to these.
fn meaning(kind: Kind, bytes: &[u8]) -> Result<()> {
    match kind {
        Kind::Shape => Shape::from_proto(bytes).map(drop),
        Kind::Layout => Layout::from_proto(bytes).map(drop),
        Kind::Tile => Tile::from_proto(bytes).map(drop),
        Kind::ProgramShape => ProgramShape::from_proto(bytes).map(drop),
        Kind::OldShape => Shape::from_old_proto(bytes).map(drop),
        Kind::OldLayout => Layout::from_old_proto(bytes).map(drop),
    }
}
