//! What a tensor of CuTe has before its layout: a pointer, or a coordinate.

use super::lex::Reader;
use super::print::{Spell, Spelling};
use super::swizzle::Swizzle;
use super::tuple::IntTuple;
use crate::element::{Element, System};
use crate::error::{Error, Result, quoted};

/// What stands before the layout of a tensor.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Engine {
    /// A pointer. Its address is read and left out: where elements are relative to each other does not depend on it.
    Pointer(Pointer),
    /// `(0,0)` or `ArithTuple(_0,_0)`: a coordinate, for layouts of scaled bases.
    Coord(IntTuple),
}

/// A pointer: `ptr<f16, smem, align<1024>, S<3,4,3>>`, `smem_ptr[16b](0x…)`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pointer {
    pub(super) to: Pointee,
    /// `gmem`, `smem`, `rmem`, `tmem`, `generic`.
    pub(super) space: Option<String>,
    /// Bytes.
    pub(super) align: Option<i64>,
    /// A swizzle of the address in bytes.
    pub(super) swizzle: Option<Swizzle>,
}

/// What is known of the elements behind a pointer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Pointee {
    /// The name of their type, as the text has it.
    Named(String),
    /// Their bits alone.
    Bits(u32),
}

impl Pointer {
    /// The memory that it points to, if the text says it: `smem`.
    pub fn space(&self) -> Option<&str> {
        self.space.as_deref()
    }

    /// The swizzle of the address in bytes.
    pub fn swizzle(&self) -> Option<Swizzle> {
        self.swizzle
    }

    /// The type of the elements, where the text names one that is known here.
    pub fn element(&self) -> Option<Element> {
        match &self.to {
            Pointee::Named(name) => {
                Element::from_name_in(System::Mlir, name).or_else(|| Element::from_any_name(name))
            }
            Pointee::Bits(_) => None,
        }
    }

    /// The bits of an element, if the text says them or names the type.
    pub fn bits(&self) -> Option<u32> {
        match self.to {
            Pointee::Bits(bits) => Some(bits),
            Pointee::Named(_) => self.element().map(stored_bits),
        }
    }
}

/// The bits that CuTe gives an element in memory: small numbers are packed, and truth values have a byte.
pub(super) fn stored_bits(element: Element) -> u32 {
    if element == Element::Pred { 8 } else { element.bits() }
}

impl Reader<'_> {
    /// A pointer, or `ArithTuple(…)`, if one stands here.
    pub(super) fn engine(&mut self) -> Option<Result<Engine>> {
        let word = self.peek_word();
        let pointer = match word {
            "ArithTuple" => {
                self.word();
                return Some(self.tuple().map(|coord| Engine::Coord(coord.tuple)));
            }
            "raw_ptr" => self.raw_pointer(),
            "ptr" if self.rest()["ptr".len()..].trim_start().starts_with('<') => self.typed_pointer(),
            "" => return None,
            _ => self.printed_pointer(word)?,
        };
        Some(pointer.map(Engine::Pointer))
    }

    /// `ptr<f16, smem, align<1024>, S<3,4,3>>`
    fn typed_pointer(&mut self) -> Result<Pointer> {
        self.word();
        self.expect("<", "`<` and a type, as in ptr<f32, gmem>")?;
        let pointer = self.pointee()?;
        self.expect(">", "`,` or `>`")?;
        Ok(pointer)
    }

    /// `raw_ptr(0x00007f12d9e00000: f32, gmem, align<16>)`
    fn raw_pointer(&mut self) -> Result<Pointer> {
        self.word();
        self.expect("(", "`(` and an address")?;
        self.up_to(&[':', ')', ',']);
        self.expect(":", "`:` and a type")?;
        let pointer = self.pointee()?;
        self.expect(")", "`,` or `)`")?;
        Ok(pointer)
    }

    /// The type of the elements, and what else is said of the pointer.
    pub(super) fn pointee(&mut self) -> Result<Pointer> {
        let name = self.word();
        if name.is_empty() {
            return Err(self.unexpected("the type of the elements, such as f32"));
        }
        let to = Pointee::Named(name.to_owned());
        let mut pointer = Pointer { to, space: None, align: None, swizzle: None };
        while self.peek() == b',' {
            let before = self.clone();
            self.eat(",");
            if self.peek() == b'"' {
                *self = before;
                break;
            }
            if let Some(swizzle) = self.swizzle() {
                pointer.swizzle = Some(swizzle?).filter(|swizzle| !swizzle.is_identity());
                continue;
            }
            match self.word() {
                "" => return Err(self.unexpected("a memory such as smem, align<16>, or a swizzle")),
                "align" => {
                    self.expect("<", "`<` and bytes, as in align<16>")?;
                    pointer.align = Some(self.integer("bytes")?);
                    self.expect(">", "`>`")?;
                }
                space => pointer.space = Some(space.to_owned()),
            }
        }
        Ok(pointer)
    }

    /// `smem_ptr[16b](0x7f…)`, `gmem_ptr[32b]`, `ptr[8b](…)`, `tmem_[32b](…)`, and the older `smem_ptr16b(…)`. None if it is
    /// none of these.
    fn printed_pointer(&mut self, word: &str) -> Option<Result<Pointer>> {
        let (name, digits) = match word.strip_suffix('b') {
            Some(name) => name.split_at(name.trim_end_matches(|c: char| c.is_ascii_digit()).len()),
            None => (word, ""),
        };
        let name = if digits.is_empty() { word } else { name };
        let space = match name {
            "ptr" => None,
            "tmem_" => Some("tmem"),
            name => Some(name.strip_suffix("_ptr")?),
        };
        if space.is_some_and(|space| space.contains(|c: char| !c.is_ascii_alphanumeric())) {
            return None;
        }
        self.word();
        Some(self.printed_bits(digits).map(|bits| Pointer {
            to: Pointee::Bits(bits),
            space: space.map(str::to_owned),
            align: None,
            swizzle: None,
        }))
    }

    fn printed_bits(&mut self, digits: &str) -> Result<u32> {
        const ACCEPTS: &str = "the bits of an element, as in smem_ptr[16b]";
        let start = self.here();
        let bits = match digits {
            "" => {
                self.expect("[", ACCEPTS)?;
                let bits = self.integer(ACCEPTS)?;
                self.expect("b", ACCEPTS)?;
                self.expect("]", "`]`")?;
                bits
            }
            digits => digits.parse().unwrap_or(0),
        };
        if self.eat("(") {
            self.up_to(&[')']);
            self.expect(")", "`)`")?;
        }
        u32::try_from(bits).ok().filter(|bits| (1..=1024).contains(bits)).ok_or_else(|| {
            Error::new(format!("elements of {} bits", quoted(&bits.to_string())))
                .at(self.since(start))
                .accepts("1 to 1024")
        })
    }
}

/// The swizzle stands before a pointer of C++, and within one of CuTe IR.
impl Spell for Pointer {
    fn spell(&self, spelling: Spelling, out: &mut String) {
        let bits = match (&self.to, spelling) {
            (Pointee::Bits(bits), _) => Some(*bits),
            (_, Spelling::Cpp) => self.bits(),
            _ => None,
        };
        let Some(bits) = bits else {
            let Pointee::Named(name) = &self.to else { return };
            out.push_str(&format!("ptr<{name}"));
            self.space.iter().for_each(|space| out.push_str(&format!(", {space}")));
            self.align.iter().for_each(|align| out.push_str(&format!(", align<{align}>")));
            if let Some(swizzle) = &self.swizzle {
                out.push_str(", ");
                swizzle.spell(Spelling::Ir, out);
            }
            out.push('>');
            return;
        };
        if let Some(swizzle) = &self.swizzle {
            swizzle.spell(spelling, out);
            out.push_str(" o ");
        }
        match self.space.as_deref() {
            None => out.push_str("ptr"),
            Some("tmem") => out.push_str("tmem_"),
            Some(space) => out.push_str(&format!("{space}_ptr")),
        }
        out.push_str(&format!("[{bits}b](unset)"));
    }
}

impl Spell for Engine {
    fn spell(&self, spelling: Spelling, out: &mut String) {
        match self {
            Engine::Pointer(pointer) => pointer.spell(spelling, out),
            Engine::Coord(coord) => coord.spell(spelling, out),
        }
    }
}
