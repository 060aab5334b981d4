//! What is said of protobuf messages by a build without them.

use std::ffi::OsString;

use crate::args::{Args, MessageArgs, ProtoFormat, ShapeMessage};
use crate::input::Given;
use crate::lacks;
use crate::output::{Output, Stop};

pub fn subjects(
    _: &[OsString],
    _: ProtoFormat,
    _: (&MessageArgs, &Args),
    output: &mut Output,
    _: impl FnMut(&Given, &mut Output) -> Result<(), Stop>,
) -> Result<(), Stop> {
    output.bad(&lacks("protobuf messages", "proto"), "--from-format", None)
}

pub fn write(_: &Given, _: ShapeMessage, _: ProtoFormat, output: &mut Output) -> Result<(), Stop> {
    output.bad(&lacks("protobuf messages", "proto"), "--format", None)
}
