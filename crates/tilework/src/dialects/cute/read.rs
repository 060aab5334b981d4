//! Reading texts of CuTe: CuTe IR's, what C++ prints, and what the Python DSL prints.
//!
//! ```text
//! text      :=  [name (":" | "=")] ( chain | "tensor(" chain […] ")" | "!cute.…<" … ">" )
//! chain     :=  [engine "o"] [(swizzle | layout) "o" offset "o"] layout
//! engine    :=  "ptr<…>" | "raw_ptr(…)" | [swizzle ("o" | "_")] "smem_ptr[16b](…)" | coordinate
//! layout    :=  shape [":" stride]
//! ```

use super::composed::{Composed, Function};
use super::engine::{Engine, Pointer};
use super::layout::Layout;
use super::lex::{Placed, Reader};
use super::swizzle::Swizzle;
use super::tiler::Tiler;
use super::tuple::IntTuple;
use crate::error::Result;

/// What a text says, without what stands before it.
pub(super) struct Read<'a> {
    /// What the text calls it.
    pub(super) name: Option<&'a str>,
    pub(super) engine: Option<Engine>,
    pub(super) layout: Composed,
    /// Whether nothing but a shape was written.
    pub(super) is_shape: bool,
}

/// All of a text.
pub(super) fn text(text: &str) -> Result<Read<'_>> {
    let mut reader = Reader::new(text);
    let name = label(&mut reader);
    let read = Read { name, ..reader.whole()? };
    reader.finish("the end of the text").map(|()| read)
}

/// Passes a name and the mark behind it: `tCsA: …`, `gA_mkl = …`.
fn label<'a>(reader: &mut Reader<'a>) -> Option<&'a str> {
    let before = reader.clone();
    let mut name = reader.word();
    if reader.peek() == b'.' {
        *reader = before.clone();
        name = reader.up_to(&[':', '=', ' ', '(', '<']);
    }
    match !name.is_empty() && (reader.eat(":") || reader.eat("=")) {
        true => Some(name),
        false => {
            *reader = before;
            None
        }
    }
}

impl<'a> Reader<'a> {
    fn whole(&mut self) -> Result<Read<'a>> {
        if self.eat("!cute.") {
            return self.attribute();
        }
        if self.eat("<\"") {
            let read = self.chain()?;
            self.expect("\"", "`\"`")?;
            self.expect(">", "`>`")?;
            return Ok(Read { is_shape: false, ..read });
        }
        if self.peek_word() != "tensor" {
            let read = self.chain()?;
            // `raw_ptr(…) o (3):(1) = (1, 2, 3)`: the elements.
            if read.engine.is_some() && self.eat("=") {
                self.pass_all();
            }
            return Ok(read);
        }
        self.word();
        let close = if self.eat("<") { ">" } else { ")" };
        if close == ")" {
            self.expect("(", "`(` and a tensor")?;
        }
        let read = self.chain()?;
        // The elements follow, over many lines.
        match self.eat(",") {
            true => self.pass_all(),
            false => self.expect(close, &format!("`,` or `{close}`"))?,
        }
        Ok(read)
    }

    /// What follows `!cute.`: `layout<"…">`, `memref<f16, smem, align<16>, S<3,4,3>, "…">`.
    fn attribute(&mut self) -> Result<Read<'a>> {
        let is_memref = self.peek_word() == "memref";
        if !is_memref && !self.peek_word().ends_with("layout") {
            return Err(self.unexpected("layout, composed_layout or memref"));
        }
        self.word();
        self.expect("<", "`<`")?;
        let engine = match is_memref {
            true => {
                let pointer = self.pointee()?;
                self.expect(",", "`,` and the layout in quotes")?;
                Some(Engine::Pointer(pointer))
            }
            false => None,
        };
        self.expect("\"", "`\"` and a layout")?;
        let read = self.chain()?;
        self.expect("\"", "`\"`")?;
        self.expect(">", "`>`")?;
        Ok(Read { engine: engine.or(read.engine), is_shape: false, ..read })
    }

    fn chain(&mut self) -> Result<Read<'a>> {
        if let Some(engine) = self.engine() {
            return self.after(engine?);
        }
        if let Some(swizzle) = self.swizzle() {
            return self.after_swizzle(swizzle?);
        }
        let first = self.tuple()?;
        if self.peek() == b':' {
            let layout = self.layout(first)?;
            return match self.eat("o") {
                true => self.offset(Function::Layout(layout)),
                false => Ok(read(None, layout.into(), false)),
            };
        }
        if !self.eat("o") {
            let layout = self.layout(first)?;
            return Ok(read(None, layout.into(), true));
        }
        // A coordinate before a layout, or a shape before an offset and a layout.
        let second = self.tuple()?;
        match self.eat("o") {
            true => {
                let function = Function::Layout(self.layout(first)?);
                self.composed(function, second)
            }
            false => {
                let layout = self.layout(second)?;
                Ok(read(Some(Engine::Coord(first.tuple)), layout.into(), false))
            }
        }
    }

    /// `o` and a layout, after a pointer or a coordinate.
    fn after(&mut self, engine: Engine) -> Result<Read<'a>> {
        self.expect("o", "`o` and a layout, such as o (4,8):(8,1)")?;
        let layout = match self.swizzle() {
            Some(swizzle) => {
                self.expect("o", "`o`, an offset, `o` and a layout")?;
                self.offset(Function::Swizzle(swizzle?))?.layout
            }
            None => {
                let shape = self.tuple()?;
                let layout = self.layout(shape)?;
                match self.eat("o") {
                    true => self.offset(Function::Layout(layout))?.layout,
                    false => layout.into(),
                }
            }
        };
        Ok(read(Some(engine), layout, false))
    }

    /// A swizzle is that of a pointer, or of the offsets of a layout.
    fn after_swizzle(&mut self, swizzle: Swizzle) -> Result<Read<'a>> {
        if !self.eat("_") {
            self.expect("o", "`o`, an offset, `o` and a layout")?;
        }
        let Some(engine) = self.engine() else { return self.offset(Function::Swizzle(swizzle)) };
        let swizzle = Some(swizzle).filter(|swizzle| !swizzle.is_identity());
        self.after(match engine? {
            Engine::Pointer(pointer) => Engine::Pointer(Pointer { swizzle, ..pointer }),
            coord => coord,
        })
    }

    fn offset(&mut self, function: Function) -> Result<Read<'a>> {
        let offset = self.tuple()?;
        self.expect("o", "`o` and a layout")?;
        self.composed(function, offset)
    }

    fn composed(&mut self, function: Function, offset: Placed) -> Result<Read<'a>> {
        let start = self.here();
        let shape = self.tuple()?;
        let layout = self.layout(shape)?;
        let composed = Composed::new(function, offset.tuple, layout);
        let composed = composed.map_err(|error| match error.field_name() {
            Some("offset") => error.at(offset.span),
            _ => error.at(self.since(start)),
        })?;
        Ok(read(None, composed, false))
    }
}

fn read<'a>(engine: Option<Engine>, layout: Composed, is_shape: bool) -> Read<'a> {
    Read { name: None, engine, layout, is_shape }
}

fn all<T>(text: &str, read: impl FnOnce(&mut Reader) -> Result<T>) -> Result<T> {
    let mut reader = Reader::new(text);
    let value = read(&mut reader)?;
    reader.finish("the end of the text").map(|()| value)
}

impl IntTuple {
    /// Reads a nested tuple: `(4,(2,3))`, `(_,1)`, `(1@0,1@1)`, `(?{i64},8)`.
    ///
    /// # Errors
    /// A text that is none, with the place in it.
    pub fn parse(text: &str) -> Result<IntTuple> {
        all(text, |reader| Ok(reader.tuple()?.tuple))
    }
}

impl Layout {
    /// Reads a layout: `(4,8):(8,1)`, C++'s `(_4,_8):(_8,_1)`, or a shape alone, which means compact strides.
    ///
    /// # Errors
    /// A text that is none, and what [`Layout::new`] refuses, with the place in it.
    pub fn parse(text: &str) -> Result<Layout> {
        all(text, |reader| {
            let shape = reader.tuple()?;
            reader.layout(shape)
        })
    }
}

impl Composed {
    /// Reads a composed layout, or a plain one: `S<3,4,3> o 0 o (8,64):(64,1)`, `(4,8):(1,4) o 0 o (4,8):(1@0,1@1)`.
    ///
    /// # Errors
    /// A text that is none, with the place in it.
    pub fn parse(text: &str) -> Result<Composed> {
        all(text, |reader| {
            let start = reader.here();
            let read = reader.chain()?;
            match read.engine {
                None => Ok(read.layout),
                Some(_) => {
                    Err(crate::Error::new("this is a tensor").at(reader.since(start)).accepts("a layout"))
                }
            }
        })
    }
}

impl Swizzle {
    /// Reads a swizzle: `S<3,4,3>`, or C++'s `Sw<3,4,3>`.
    ///
    /// # Errors
    /// A text that is none, and what [`Swizzle::new`] refuses, with the place in it.
    pub fn parse(text: &str) -> Result<Swizzle> {
        all(text, |reader| {
            reader.swizzle().unwrap_or_else(|| Err(reader.unexpected("S<B,M,S>, such as S<3,4,3>")))
        })
    }
}

impl Tiler {
    /// Reads a tiler: `[4:1;(2,2):(1,8);_]`, a layout, or a shape such as `(3,4)`, which has a tiler for each mode.
    ///
    /// # Errors
    /// A text that is none, with the place in it.
    pub fn parse(text: &str) -> Result<Tiler> {
        all(text, |reader| reader.tiler())
    }
}
