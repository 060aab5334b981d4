//! Element types as MLIR writes them.

use std::fmt;

use super::lex::Reader;
use crate::element::{Element, System};
use crate::error::{Error, ErrorKind, Result, quoted};
use crate::layout::Layout;
use crate::spelling::nearest;

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
        let name = element.name_in(System::Mlir)?;
        Some(ElementType { text: name.to_owned(), stored: element, vector: Vec::new() })
    }

    /// The same for the elements of a layout, to each of which `what` gives bytes of its own.
    pub(super) fn of_layout(layout: &Layout, element: Element, what: &str) -> Result<ElementType> {
        let none = || Error::new(format!("MLIR has no element type {element}")).field("element type");
        let found = ElementType::of(element).ok_or_else(|| none().of_kind(ErrorKind::Unsupported))?;
        let [own, bits] = [layout.bits(), found.bits()];
        if own != bits {
            return Err(Error::new(format!(
                "elements of {own} bits, and a {what} gives each {found} {bits}"
            ))
            .of_kind(ErrorKind::Unsupported)
            .field("element bits")
            .rule(format!("an element of a {what} has bytes of its own"))
            .accepts(format!("{bits} bits")));
        }
        Ok(found)
    }

    /// What is stored: of a quantised type its integers, of a vector its elements. `index` has 64 bits.
    pub fn stored(&self) -> Element {
        self.stored
    }

    /// Bits of one stored element, which has bytes of its own.
    pub fn bits(&self) -> u32 {
        8 * self.stored.bytes()
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
                named(word).ok_or_else(|| unknown(word).at(reader.since(start)))
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
    let stored = match name {
        "index" => Element::S64,
        _ => Element::from_name_in(System::Mlir, name)?,
    };
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
        let names = || Element::all().filter_map(|element| element.name_in(System::Mlir));
        let lowered: Vec<String> = names().map(str::to_ascii_lowercase).collect();
        let near = nearest(&lower, lowered.iter().map(String::as_str))?;
        names().find(|name| name.eq_ignore_ascii_case(near)).map(str::to_owned)
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
    // Without a sign the integer is called `u8` here, as XLA calls it.
    let integer =
        named(&stored[..end]).map(|named| named.stored).or_else(|| Element::from_name(&stored[..end]));
    match integer.filter(|stored| stored.is_integer()) {
        Some(stored) => Ok(ElementType { text: text.to_owned(), stored, vector: Vec::new() }),
        None => Err(Error::new(format!("{} stored by a quantised type", quoted(&stored[..end])))
            .at(at)
            .rule("a quantised type stores integers")
            .accepts("such as !quant.uniform<i8:f32, 0.5:-1>")),
    }
}
