//! Telling serialised modules from text by how they begin.

/// What serialised bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Serialised {
    /// `HloProto`: a module and its buffers.
    Hlo,
    /// `HloModuleProto`: a module alone.
    Module,
}

/// As many bytes of a file say which it is.
pub(crate) const START: usize = 1 << 10;

/// Whether bytes begin like a serialised module, and like which.
///
/// A module is its name, the name of its entry computation and its computations: fields 1, 2 and 3, each with its length.
/// An `HloProto` has this as its field 1. The tags of fields 2 and 3 are control characters that stand in no text, and a
/// name holds none.
pub(crate) fn serialised(start: &[u8]) -> Option<Serialised> {
    if is_module(start) {
        return Some(Serialised::Module);
    }
    let (tag, rest) = start.split_first()?;
    let (_, module) = length(rest)?;
    (*tag == 0x0a && is_module(module)).then_some(Serialised::Hlo)
}

fn is_module(bytes: &[u8]) -> bool {
    let Some(rest) = name(bytes, 0x0a) else {
        // A module without a name has the one of a computation.
        return name(bytes, 0x12).is_some_and(|rest| rest.first() == Some(&0x1a));
    };
    matches!(rest.first(), Some(0x12 | 0x1a))
}

/// What follows a field with this tag that holds a name.
fn name(bytes: &[u8], tag: u8) -> Option<&[u8]> {
    let (&first, rest) = bytes.split_first()?;
    let (length, rest) = length(rest)?;
    let name = rest.get(..length)?;
    let is_name =
        first == tag && std::str::from_utf8(name).is_ok_and(|name| !name.contains(char::is_control));
    is_name.then(|| &rest[length..])
}

/// The length that a field begins with, and what follows.
fn length(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let mut length = 0_u64;
    for (piece, &byte) in bytes.iter().take(5).enumerate() {
        length |= u64::from(byte & 0x7f) << (7 * piece);
        if byte < 0x80 {
            return Some((usize::try_from(length).ok()?, &bytes[piece + 1..]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_known_by_their_first_fields_and_texts_are_none() {
        assert_eq!(serialised(b"\x0a\x05jit_f\x12\x06main.1\x1a\x02"), Some(Serialised::Module));
        assert_eq!(serialised(b"\x0a\x83\x02\x0a\x05jit_f\x12\x06main.1\x1a"), Some(Serialised::Hlo));
        assert_eq!(serialised(b"\x0a\x83\x02\x12\x06main.1\x1a"), Some(Serialised::Hlo));
        // A memory usage report, which is a message of another kind.
        assert_eq!(serialised(b"\x0a\xf2\x03\x08\x80\xc0\x0b\x10\x00\x1a\xf2\x01"), None);
        for text in [
            "",
            "\n",
            "\n\n\n\n\n\n\n\n\n\n\n\n",
            "\n  module @jit_f attributes {",
            "HloModule m\n",
            "\n\x05jit_f",
        ] {
            assert_eq!(serialised(text.as_bytes()), None, "{text:?}");
        }
    }
}
