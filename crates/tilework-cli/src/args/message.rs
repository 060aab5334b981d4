//! The arguments about protobuf messages.

use clap::ValueEnum;
#[cfg(feature = "proto")]
use tilework::xla::OldProto;
#[cfg(feature = "proto")]
use tilework::xla::proto::{Format, Kind};

/// How shapes are read.
#[derive(clap::Args)]
pub struct MessageArgs {
    /// Read protobuf messages instead of shapes: each SHAPE is a message, or @FILE; none or `-`: one message, all of
    /// standard input
    #[arg(long, value_name = "FORMAT")]
    pub from_format: Option<ProtoFormat>,

    /// Which message is read or written: XLA's ShapeProto, or the Shape of TensorFlow 1.x, which has padding
    #[arg(long, value_name = "MESSAGE", default_value = "shape")]
    pub message: ShapeMessage,
}

/// How a message is written down.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProtoFormat {
    /// The wire format
    Binary,
    /// Text format
    Text,
    /// JSON, on one line
    Json,
}

#[cfg(feature = "proto")]
impl From<ProtoFormat> for Format {
    fn from(format: ProtoFormat) -> Format {
        match format {
            ProtoFormat::Binary => Format::Binary,
            ProtoFormat::Text => Format::Text,
            ProtoFormat::Json => Format::Json,
        }
    }
}

/// How `parse` writes a shape.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ShapeFormat {
    /// As XLA prints it
    Xla,
    /// A message in the wire format
    Binary,
    /// A message in text format
    Text,
    /// A message in JSON, on one line
    Json,
}

impl ShapeFormat {
    /// The format of a message, if it is one.
    pub fn of_message(self) -> Option<ProtoFormat> {
        match self {
            ShapeFormat::Xla => None,
            ShapeFormat::Binary => Some(ProtoFormat::Binary),
            ShapeFormat::Text => Some(ProtoFormat::Text),
            ShapeFormat::Json => Some(ProtoFormat::Json),
        }
    }
}

/// A message that holds a shape.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ShapeMessage {
    /// XLA's ShapeProto of today
    Shape,
    /// The Shape of 2017
    #[value(name = "shape-2017")]
    Shape2017,
    /// The Shape of 2018
    #[value(name = "shape-2018")]
    Shape2018,
}

#[cfg(feature = "proto")]
impl ShapeMessage {
    pub fn kind(self) -> Kind {
        match self {
            ShapeMessage::Shape => Kind::Shape,
            ShapeMessage::Shape2017 | ShapeMessage::Shape2018 => Kind::OldShape,
        }
    }

    /// The version of the older message, if it is one.
    pub fn old(self) -> Option<OldProto> {
        match self {
            ShapeMessage::Shape => None,
            ShapeMessage::Shape2017 => Some(OldProto::V2017),
            ShapeMessage::Shape2018 => Some(OldProto::V2018),
        }
    }
}
