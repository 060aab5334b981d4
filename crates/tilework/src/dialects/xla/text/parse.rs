//! Reading shapes as XLA writes them, and as it wrote them before.
//!
//! ```text
//! shape  = "b(" array ")" | "(" [ shape { "," shape } ] ")" | array | "token[]" | "opaque[]"
//! array  = type "[" [ dim { "," dim } ] "]" [ layout ]
//! dim    = "?" | [ "<=" ] number
//! ```
//!
//! The layout's own grammar stands in `parse_layout`. Older forms, all read and printed in today's form, none of them
//! in strict reading: type names in upper case (`F32`), `dense` before the braces (2018), and ` (no layout)` (r1.0).
//!
//! Where XLA aborts or accepts what its own validation then refuses, the reader says what is wrong and where.

use std::str::FromStr;

use crate::element::Element;
use crate::error::{Error, ErrorKind, Result, quoted};
use crate::xla::text::lex::Reader;
use crate::xla::utilities::suggest::nearest_type;
use crate::xla::value::layout::Layout;
use crate::xla::value::primitive::PrimitiveType;
use crate::xla::value::shape::{ArrayShape, Dim, Shape};

impl Shape {
    /// Reads a shape: all that XLA prints today and printed before, and Tilework's own `pad(..)` and `strides(..)`.
    ///
    /// An array without a layout gets the default one, row-major, as in XLA.
    ///
    /// ```
    /// use tilework::xla::Shape;
    /// let today = Shape::parse("f32[3,5]{1,0:T(2,2)}")?;
    /// assert_eq!(Shape::parse("F32[3,5] {1,0:(2,2)}")?, today);
    /// assert_eq!(Shape::parse("f32[3,5]")?.to_string(), "f32[3,5]{1,0}");
    ///
    /// let error = Shape::parse("f23[3,5]").unwrap_err();
    /// assert_eq!(error.span(), Some(0..3));
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Says where in the text, which rule is broken, and what is accepted there.
    pub fn parse(text: &str) -> Result<Shape> {
        parse(text, false)
    }

    /// Reads a shape that XLA itself reads today: no older forms, and no words of Tilework's own.
    ///
    /// Stricter than XLA in one way: it refuses what XLA aborts on or accepts by accident, such as `{1,1}`.
    ///
    /// # Errors
    /// As [`Shape::parse`].
    pub fn parse_strict_xla(text: &str) -> Result<Shape> {
        parse(text, true)
    }
}

#[inline]
fn parse(text: &str, strict: bool) -> Result<Shape> {
    let mut reader = Reader::new(text, strict);
    let mut shape = Shape::Token;
    reader.shape(&mut shape)?;
    reader.finish(&shape)?;
    Ok(shape)
}

impl FromStr for Shape {
    type Err = Error;

    fn from_str(text: &str) -> Result<Shape> {
        Shape::parse(text)
    }
}

/// What may start a shape, for messages.
const SHAPE: &str = "a shape such as f32[2,3], (f32[2], s32[]), b(f32[2]), token[] or opaque[]";

impl Reader<'_> {
    /// Reads a shape into its place.
    pub(crate) fn shape(&mut self, out: &mut Shape) -> Result<()> {
        if self.peek() == b'(' {
            return self.nested(|reader| reader.tuple(out));
        }
        let start = self.here();
        let name = self.word();
        match Element::from_name(name) {
            Some(element) => self.array(element, out),
            _ => self.other_shape(start, name, out),
        }
    }

    /// Everything but tuples and arrays in today's spelling.
    #[inline(never)]
    fn other_shape(&mut self, start: usize, name: &str, out: &mut Shape) -> Result<()> {
        if name == "b" && self.peek() == b'(' {
            return self.buffer(out);
        }
        let kind = self.element_type(start, name)?;
        if let Some(element) = kind.element() {
            return self.array(element, out);
        }
        let word = kind.name();
        let thing = if kind == PrimitiveType::Token { "a token" } else { "an opaque value" };
        self.expect(b'[', &format!("[], as in {word}[]"))?;
        let sizes = self.here();
        self.skip_to(b']');
        if self.end() > sizes {
            return Err(Error::new(format!("{thing} with dimensions"))
                .at(sizes..self.end())
                .rule(format!("{thing} holds no elements"))
                .accepts(format!("{word}[]")));
        }
        self.expect(b']', "]")?;
        let brace = self.here();
        if self.peek() == b'{' {
            self.skip_to(b'}');
            self.eat(b'}');
            return Err(Error::new(format!("{thing} with a layout"))
                .at(brace..self.end())
                .rule(format!("{thing} holds no elements"))
                .accepts(format!("{word}[]")));
        }
        *out = if kind == PrimitiveType::Token { Shape::Token } else { Shape::Opaque };
        Ok(())
    }

    /// The type that this word names, with its older spelling.
    #[cold]
    #[inline(never)]
    fn element_type(&mut self, start: usize, name: &str) -> Result<PrimitiveType> {
        let span = start..start + name.len();
        let exact = PrimitiveType::from_name(name);
        let kind = exact.or_else(|| PrimitiveType::from_name(&name.to_ascii_lowercase()));
        match kind {
            _ if name.is_empty() => Err(self.unexpected(SHAPE)),
            Some(PrimitiveType::Tuple | PrimitiveType::Buffer) => {
                let accepts =
                    if name.eq_ignore_ascii_case("tuple") { "(f32[2], s32[])" } else { "b(f32[2])" };
                Err(Error::new(format!("{} is not written as a word", quoted(name)))
                    .at(span)
                    .rule("a tuple is written with parentheses, a buffer as b(..)")
                    .accepts(accepts))
            }
            Some(kind) if exact.is_some() || !self.strict => Ok(kind),
            Some(kind) => Err(self.older(span, "upper-case type names", kind.name())),
            None => Err(Error::new(format!("{} is not an element type", quoted(name)))
                .of_kind(ErrorKind::Syntax)
                .at(span)
                .accepts(match nearest_type(name) {
                    Some(name) => format!("an element type; did you mean {name}?"),
                    None => "an element type such as f32, bf16, s8 or pred, or token or opaque".to_owned(),
                })),
        }
    }

    /// What strict reading says of an older form.
    #[cold]
    pub(crate) fn older(&self, span: std::ops::Range<usize>, what: &str, accepts: &str) -> Error {
        Error::new(format!("{} is not what XLA reads today", quoted(self.slice(span.clone()))))
            .of_kind(ErrorKind::Syntax)
            .at(span)
            .rule(format!("strict XLA text has no {what}"))
            .accepts(accepts)
    }

    fn tuple(&mut self, out: &mut Shape) -> Result<()> {
        self.eat(b'(');
        let mut elements = Vec::new();
        self.items(
            |mark| mark == b')',
            |reader| {
                elements.push(Shape::Token);
                elements.last_mut().map_or(Ok(()), |element| reader.shape(element))
            },
        )?;
        self.expect(b')', ", and one shape more, or )")?;
        *out = Shape::Tuple(elements);
        Ok(())
    }

    /// From the parenthesis of `b(` on. A buffer holds an array and nothing else, so this never nests.
    fn buffer(&mut self, out: &mut Shape) -> Result<()> {
        self.eat(b'(');
        let start = self.here();
        let name = self.word();
        let not_an_array = |span| {
            Error::new("a buffer of something that is not an array")
                .at(span)
                .rule("b(..) holds an array")
                .accepts("an array such as f32[2,3]")
        };
        if name == "b" {
            return Err(not_an_array(start..self.end()));
        }
        if name.is_empty() && self.peek() == b'(' {
            return Err(not_an_array(self.token()));
        }
        let Some(element) = self.element_type(start, name)?.element() else {
            return Err(not_an_array(start..start + name.len()));
        };
        self.array(element, out)?;
        self.expect(b')', ") after the array in b(..)")?;
        if let Shape::Array(array) = std::mem::replace(out, Shape::Token) {
            *out = Shape::Buffer(array);
        }
        Ok(())
    }

    /// An array from its `[` on.
    fn array(&mut self, element: Element, out: &mut Shape) -> Result<()> {
        let mut sizes = 0..0;
        ArrayShape::read_into(out, element, |dims, layout| {
            self.expect(b'[', "[ and the sizes, as in f32[2,3] or f32[]")?;
            sizes.start = self.here();
            self.items(
                |mark| mark == b']',
                |reader| {
                    dims.push(reader.dim()?);
                    Ok(())
                },
            )?;
            sizes.end = self.end().max(sizes.start);
            self.expect(b']', if dims.is_empty() { "a size or ]" } else { ", and one size more, or ]" })?;
            match self.peek() {
                b'{' => self.layout(layout.insert(Layout::unread()), Some(dims)),
                b'(' | b'd' | b's' => self.older_layout(layout, dims),
                _ => layout.insert(Layout::unread()).read_order(|order| {
                    order.extend((0..dims.len()).rev());
                    Ok(())
                }),
            }
        })
        .map_err(|error| error.or_at(sizes))
    }

    #[inline]
    fn dim(&mut self) -> Result<Dim> {
        const SIZE: &str = "a size, <=size or ?";
        match self.peek() {
            b'?' => {
                self.eat(b'?');
                Ok(Dim::Unbounded)
            }
            b'<' => {
                if !self.eat_mark("<=") {
                    return Err(self.unexpected(SIZE));
                }
                Ok(Dim::Bounded(self.number("a size after <=")?))
            }
            _ => Ok(Dim::Static(self.number(SIZE)?)),
        }
    }

    /// What stood behind an array in older texts: `dense{1,0}`, `sparse{5}`, ` (no layout)`.
    #[cold]
    #[inline(never)]
    fn older_layout(&mut self, out: &mut Option<Layout>, dims: &[Dim]) -> Result<()> {
        let start = self.here();
        if self.eat(b'(') {
            if !(self.eat_word("no") && self.eat_word("layout")) {
                return Err(self.back_to(start).trailing());
            }
            self.expect(b')', ") after `no layout`")?;
            if self.strict {
                return Err(self.older(start..self.end(), "`(no layout)`", "the shape alone"));
            }
            return Ok(());
        }
        match self.peek_word() {
            "sparse" => Err(Error::new("a sparse array")
                .at(self.token())
                .rule("sparse arrays have no dense layout, and XLA no longer has them")
                .accepts("a dense layout such as {1,0}")),
            "dense" if self.strict => Err(self.older(self.token(), "word `dense`", "the braces alone")),
            "dense" => {
                self.eat_word("dense");
                self.layout(out.insert(Layout::unread()), Some(dims))
            }
            _ => Err(self.trailing()),
        }
    }

    #[cold]
    fn trailing(&self) -> Error {
        self.unexpected("a layout such as {1,0}, or the end of the shape")
    }

    /// Checks that the text ends behind this shape.
    #[inline]
    fn finish(&self, shape: &Shape) -> Result<()> {
        match shape {
            _ if self.is_at_end() => Ok(()),
            Shape::Array(_) if self.slice(0..self.end()).ends_with(']') => Err(self.trailing()),
            _ => Err(self.unexpected("the end of the text, since the shape is complete")),
        }
    }
}
