//! Any bytes are a message in one of three notations, or refused with a place; what a message means survives being written
//! and read again. The first byte chooses the message and the notation.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tilework::Error;
use tilework::xla::proto::{Format, Kind, Message};
use tilework_audit::schema::{Hlo, HloModule};

const KINDS: [Kind; 6] =
    [Kind::Shape, Kind::Layout, Kind::Tile, Kind::ProgramShape, Kind::OldShape, Kind::OldLayout];
const FORMATS: [Format; 3] = [Format::Binary, Format::Text, Format::Json];

fuzz_target!(|bytes: &[u8]| {
    let Some((&choice, input)) = bytes.split_first() else { return };
    let choice = usize::from(choice);
    if choice % 8 >= KINDS.len() {
        return module(input);
    }
    match Message::read(KINDS[choice % 8], FORMATS[choice / 8 % 3], input) {
        Ok(message) => again(&message),
        Err(error) => {
            let span = error.span().expect("an error about bytes says where");
            assert!(span.start <= span.end && span.end <= input.len(), "{span:?} of {} bytes", input.len());
        }
    }
});

/// Every notation says the same, unless it says that it cannot.
fn again(message: &Message) {
    let means = meaning(message);
    for format in FORMATS {
        let Ok(written) = message.write(format) else { continue };
        // Text format shows the numbers of fields without a name, and cannot be read then.
        let Ok(read) = Message::read(message.kind(), format, &written) else { continue };
        assert_eq!(meaning(&read).ok(), means.as_ref().ok().cloned(), "{format:?}");
    }
    if let Ok(shape) = message.shape()
        && message.kind() == Kind::Shape
    {
        let exact = Message::of_shape(&shape).expect("what was read is written");
        assert_eq!(exact.shape().expect("and read again"), shape);
    }
}

/// The value in words, whatever kind it is of.
fn meaning(message: &Message) -> Result<String, Error> {
    match message.kind() {
        Kind::Shape | Kind::OldShape => message.shape().map(|shape| format!("{shape:?}")),
        Kind::Layout | Kind::OldLayout => message.layout().map(|layout| format!("{layout:?}")),
        Kind::Tile => message.tile().map(|tile| format!("{tile:?}")),
        Kind::ProgramShape => message.program_shape().map(|shape| format!("{shape:?}")),
    }
}

fn module(bytes: &[u8]) {
    let modules = [Hlo::read(bytes).ok().and_then(|hlo| hlo.module), HloModule::read(bytes).ok()];
    for made in modules.iter().flatten().flat_map(|module| &module.computations) {
        for instruction in &made.instructions {
            let _ = instruction.shape();
        }
    }
}
