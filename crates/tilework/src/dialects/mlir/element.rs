//! Element types as MLIR writes them.

use std::fmt;

use super::lex::Reader;
use crate::error::{Error, Result, quoted};
use crate::spelling::nearest;

/// The element types that everything here is said in.
pub(super) use crate::xla::PrimitiveType as Element;

use Element as E;

/// The names of MLIR that are the name of an element; some elements have two.
#[rustfmt::skip]
const NAMES: [(&str, Element); 44] = [
    ("i1", E::Pred), ("i2", E::S2), ("i4", E::S4), ("i8", E::S8), ("i16", E::S16), ("i32", E::S32), ("i64", E::S64),
    ("si1", E::S1), ("si2", E::S2), ("si4", E::S4), ("si8", E::S8), ("si16", E::S16), ("si32", E::S32), ("si64", E::S64),
    ("ui1", E::U1), ("ui2", E::U2), ("ui4", E::U4), ("ui8", E::U8), ("ui16", E::U16), ("ui32", E::U32), ("ui64", E::U64),
    ("index", E::S64), ("f16", E::F16), ("bf16", E::Bf16), ("f32", E::F32), ("f64", E::F64),
    ("complex<f32>", E::C64), ("complex<f64>", E::C128),
    ("f8E5M2", E::F8e5m2), ("f8E4M3FN", E::F8e4m3fn), ("f8E4M3B11FNUZ", E::F8e4m3b11fnuz),
    ("f8E5M2FNUZ", E::F8e5m2fnuz), ("f8E4M3FNUZ", E::F8e4m3fnuz), ("f8E4M3", E::F8e4m3), ("f8E3M4", E::F8e3m4),
    ("f8E8M0FNU", E::F8e8m0fnu), ("f6E3M2FN", E::F6e3m2fn), ("f6E2M3FN", E::F6e2m3fn), ("f4E2M1FN", E::F4e2m1fn),
    // What a quantised type stores is an integer without a sign or `u` and its bits.
    ("u2", E::U2), ("u4", E::U4), ("u8", E::U8), ("u16", E::U16), ("u32", E::U32),
];

/// An element type: a number, a vector of numbers, or a quantised number.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ElementType {
    text: String,
    stored: Element,
    vector: Vec<u64>,
}

impl ElementType {
    /// MLIR's type of these elements.
    pub(super) fn of(element: Element) -> Option<ElementType> {
        let name = NAMES.iter().find(|(_, named)| *named == element)?.0;
        Some(ElementType { text: name.to_owned(), stored: element, vector: Vec::new() })
    }

    /// What is stored: of a quantised type its integers, of a vector its elements. `index` has 64 bits.
    pub fn stored(&self) -> Element {
        self.stored
    }

    /// Bits of one stored element, which has bytes of its own.
    pub fn bits(&self) -> u32 {
        8 * self.stored.byte_width().unwrap_or(0)
    }

    /// The sizes of a vector, whose elements are neighbours; empty for other types.
    pub fn vector(&self) -> &[u64] {
        &self.vector
    }

    /// Whether the type is quantised.
    pub fn is_quantised(&self) -> bool {
        self.text.contains("!quant.")
    }

    pub(super) fn read(reader: &mut Reader) -> Result<ElementType> {
        let start = reader.here();
        if reader.peek() == b'!' {
            return quantised(reader);
        }
        match reader.peek_word() {
            "vector" => {
                reader.word();
                vector(reader)
            }
            "complex" => {
                reader.word();
                reader.expect("<", "`<` and f32 or f64, as in complex<f32>")?;
                let part = reader.peek_word();
                if !matches!(part, "f32" | "f64") {
                    return Err(reader.unexpected("f32 or f64"));
                }
                reader.word();
                reader.expect(">", "`>`")?;
                named(&format!("complex<{part}>")).ok_or_else(|| reader.unexpected("f32 or f64"))
            }
            "" => Err(reader.unexpected("an element type such as f32, bf16 or i8")),
            word => {
                reader.word();
                let is_plain = |name: &str| !name.starts_with('u') || name.starts_with("ui");
                let known = named(word).filter(|_| is_plain(word));
                known.ok_or_else(|| unknown(word).at(reader.since(start)))
            }
        }
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn named(name: &str) -> Option<ElementType> {
    let stored = NAMES.iter().find(|(own, _)| *own == name)?.1;
    Some(ElementType { text: name.to_owned(), stored, vector: Vec::new() })
}

fn unknown(word: &str) -> Error {
    let error = Error::new(format!("{} is not an element type", quoted(word)));
    let width = word.trim_start_matches(['s', 'u']).strip_prefix('i').map(|width| width.parse::<u32>());
    if let Some(Ok(_)) = width {
        return error
            .rule("integers here have 1, 2, 4, 8, 16, 32 or 64 bits")
            .accepts("i1, i2, i4, i8, i16, i32 or i64; si8 or ui8 with a sign or without");
    }
    // XLA's names, and MLIR's in other letters.
    let lower = word.to_ascii_lowercase();
    let other = Element::from_name(&lower).and_then(ElementType::of).map(|element| element.text);
    let other = other.or_else(|| {
        let name = |name: &str| name.to_ascii_lowercase();
        let names: Vec<String> = NAMES.iter().map(|(own, _)| name(own)).collect();
        let near = nearest(&lower, names.iter().map(String::as_str))?;
        NAMES.iter().find(|(own, _)| name(own) == near).map(|(own, _)| (*own).to_owned())
    });
    error.accepts(match other {
        Some(name) => format!("an element type; did you mean {name}?"),
        None => "an element type such as f32, bf16 or i8".to_owned(),
    })
}

/// `vector<4x8xf32>` behind its first word.
fn vector(reader: &mut Reader) -> Result<ElementType> {
    reader.expect("<", "`<` and the sizes, as in vector<4xf32>")?;
    let mut vector = Vec::new();
    loop {
        if reader.peek() == b'[' {
            return Err(Error::new("a scalable vector")
                .at(reader.token())
                .rule("the size of a scalable vector is known only when the program runs")
                .accepts("a size without brackets"));
        }
        if !reader.peek().is_ascii_digit() {
            break;
        }
        let (start, size) = (reader.here(), reader.number("a size")?);
        if size == 0 || vector.len() == super::MAX_DIMS {
            return Err(Error::new(format!("size {size} of a vector"))
                .at(reader.since(start))
                .rule("vector types must have positive constant sizes")
                .accepts(format!("1 or more, in at most {} dimensions", super::MAX_DIMS)));
        }
        vector.push(size);
        reader.expect("x", "`x` behind a size")?;
    }
    let at = reader.token();
    let refused = |what: &str| {
        Error::new(format!("a vector of {what}"))
            .at(at.clone())
            .rule("vector elements must be int/index/float type")
            .accepts("such as f32 or i8")
    };
    // Said before it is read: vectors within vectors could nest deeper than a stack holds.
    if matches!(reader.peek_word(), "vector" | "complex") {
        return Err(refused(reader.peek_word()));
    }
    let element = ElementType::read(reader)?;
    if element.is_quantised() {
        return Err(refused(&element.text));
    }
    reader.expect(">", "`>` at the end of the vector")?;
    let sizes: String = vector.iter().map(|size| format!("{size}x")).collect();
    Ok(ElementType { text: format!("vector<{sizes}{element}>"), stored: element.stored, vector })
}

/// `!quant.uniform<i8<-127:127>:f32:0, {0.1, 0.2}>`: what is stored stands first.
fn quantised(reader: &mut Reader) -> Result<ElementType> {
    let start = reader.here();
    let text = reader.any("an element type")?;
    let at = reader.since(start);
    let name = text.strip_prefix("!quant.").and_then(|rest| rest.split_once('<'));
    let Some((_, stored)) = name else {
        return Err(Error::new(format!("the size of {} is not known here", quoted(text)))
            .at(at)
            .rule("of the types of other dialects only those of quant are read")
            .accepts("an element type such as f32 or !quant.uniform<i8:f32, 0.5>"));
    };
    let end = stored.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(stored.len());
    match named(&stored[..end]).filter(|stored| stored.stored.is_integral()) {
        Some(stored) => Ok(ElementType { text: text.to_owned(), ..stored }),
        None => Err(Error::new(format!("{} stored by a quantised type", quoted(&stored[..end])))
            .at(at)
            .rule("a quantised type stores integers")
            .accepts("such as !quant.uniform<i8:f32, 0.5:-1>")),
    }
}
