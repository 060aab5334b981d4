//! Reading shapes: types, dimensions, tuples, buffers, program shapes. Layouts are read in `parse_layout.rs`.
//!
//! The grammar is XLA's (with every accident of its parser refused, see the crate's `DESIGN.md`), the older written
//! forms, and Tilework's own words:
//!
//! ```text
//! shape   = "(" [ shape { "," shape } ] ")" | "b" "(" shape ")" | type "[" [ dim { "," dim } ] "]" [ layout ]
//! dim     = "?" | [ "<=" ] number
//! program = "(" [ [ name ":" ] shape { "," [ name ":" ] shape } ] ")" "->" shape
//! ```

use std::str::FromStr;

use super::cursor::Cursor;
use super::element::PrimitiveType;
use super::layout::Layout;
use super::parse_layout::parse_layout;
use super::program::ProgramShape;
use super::shape::{ArrayShape, Dim, Shape, check_padding, check_sizes};
use crate::error::{Error, Result};

/// How deep tuples, buffers and physical shapes may be nested in a text.
const MAX_DEPTH: u32 = 128;

impl Shape {
    /// Reads a shape as XLA writes it, in an older written form, or with Tilework's own words.
    ///
    /// An array without a layout gets the default one, row-major, as in XLA.
    ///
    /// ```
    /// use tilework::xla::Shape;
    /// let parse = |text| Shape::parse(text).map(|shape| shape.to_string());
    /// assert_eq!(parse("bf16[64,300]{1,0:T(8,128)(2,1)}")?, "bf16[64,300]{1,0:T(8,128)(2,1)}");
    /// assert_eq!(parse("F32[3,5]{1,0:(2,2)}")?, "f32[3,5]{1,0:T(2,2)}"); // the document's older form
    /// assert_eq!(parse("f32[2,3]{strides(5,1)}")?, "f32[2,3]{strides(5,1)}"); // what XLA cannot say
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Text that is no shape, or one that cannot exist; the error knows the bytes.
    pub fn parse(text: &str) -> Result<Shape> {
        parse_whole(text, false)
    }

    /// Reads a shape in today's XLA text only: no words of Tilework's own, no older forms.
    ///
    /// What XLA's parser accepts by accident (`{1,1}`, `T(0)`, an unclosed `E(4`) is refused here as well.
    ///
    /// # Errors
    /// See [`Shape::parse`].
    pub fn parse_strict_xla(text: &str) -> Result<Shape> {
        parse_whole(text, true)
    }
}

impl FromStr for Shape {
    type Err = Error;

    fn from_str(text: &str) -> Result<Shape> {
        Shape::parse(text)
    }
}

impl Layout {
    /// Reads a layout that stands alone, such as `{1,0:T(8,128)}` or `{}`.
    ///
    /// # Errors
    /// Text that is no layout, or one that cannot exist; the error knows the bytes.
    pub fn parse(text: &str) -> Result<Layout> {
        let mut cursor = Cursor::new(text, false)?;
        let mut layout = Layout::descending(0);
        parse_layout(&mut cursor, None, 0, &mut layout)?;
        end(&cursor, "layout")?;
        Ok(layout)
    }
}

impl FromStr for Layout {
    type Err = Error;

    fn from_str(text: &str) -> Result<Layout> {
        Layout::parse(text)
    }
}

impl ProgramShape {
    /// Reads a program shape as XLA prints it: `(x: f32[2], y: s32[]) -> f32[2]`. Names may be left out.
    ///
    /// # Errors
    /// Text that is no program shape; the error knows the bytes.
    pub fn parse(text: &str) -> Result<ProgramShape> {
        let mut cursor = Cursor::new(text, false)?;
        cursor.expect(b'(', "( before the parameters")?;
        let mut parameters = Vec::new();
        while cursor.peek() != b')' {
            if !parameters.is_empty() {
                cursor.expect(b',', ", or )")?;
            }
            parameters.push((parameter_name(&mut cursor)?, parse_shape(&mut cursor, 0)?));
        }
        cursor.expect(b')', ")")?;
        if !cursor.starts_with("->") {
            return Err(cursor.unexpected("-> before the result"));
        }
        cursor.advance(2)?;
        let result = parse_shape(&mut cursor, 0)?;
        end(&cursor, "program shape")?;
        Ok(ProgramShape { parameters, result })
    }
}

impl FromStr for ProgramShape {
    type Err = Error;

    fn from_str(text: &str) -> Result<ProgramShape> {
        ProgramShape::parse(text)
    }
}

/// The name before a colon. XLA prints `(unknown)` for an empty one.
fn parameter_name(cursor: &mut Cursor) -> Result<String> {
    let mut ahead = *cursor;
    let name = match ahead.starts_with("(unknown)") {
        true => {
            ahead.advance("(unknown)".len())?;
            ""
        }
        false => ahead.until(b":,()[]{} \t\r\n")?,
    };
    if !ahead.eat(b':')? {
        return Ok(String::new());
    }
    *cursor = ahead;
    Ok(name.to_owned())
}

fn parse_whole(text: &str, strict: bool) -> Result<Shape> {
    let mut cursor = Cursor::new(text, strict)?;
    let shape = parse_shape(&mut cursor, 0);
    if shape.is_ok() && !cursor.is_done() {
        end(&cursor, "shape")?;
    }
    shape // as it came: a shape is large, and moving it about costs as much as reading it
}

fn end(cursor: &Cursor, what: &str) -> Result<()> {
    if cursor.is_done() {
        return Ok(());
    }
    let (span, found) = cursor.next_token();
    Err(Error::new(format!("found {found} after the {what}"))
        .at(span)
        .accepts(format!("the end of the text after one {what}")))
}

/// Reads one shape.
pub(super) fn parse_shape(cursor: &mut Cursor, depth: u32) -> Result<Shape> {
    match cursor.peek() {
        b'(' => parse_tuple(cursor, depth),
        b'b' if cursor.peek_second() == b'(' => parse_buffer(cursor, depth),
        _ => parse_leaf(cursor, depth),
    }
}

fn check_depth(cursor: &Cursor, depth: u32) -> Result<()> {
    if depth < MAX_DEPTH {
        return Ok(());
    }
    Err(cursor
        .unexpected(format!("at most {MAX_DEPTH} levels"))
        .rule("shapes are nested too deeply to be read"))
}

fn parse_tuple(cursor: &mut Cursor, depth: u32) -> Result<Shape> {
    check_depth(cursor, depth)?;
    cursor.advance(1)?;
    let mut elements = Vec::new();
    while !cursor.eat(b')')? {
        if !elements.is_empty() {
            cursor.expect(b',', ", before the next shape of the tuple, or ) at its end")?;
        }
        elements.push(parse_shape(cursor, depth + 1)?);
    }
    Ok(Shape::Tuple(elements))
}

fn parse_buffer(cursor: &mut Cursor, depth: u32) -> Result<Shape> {
    check_depth(cursor, depth)?;
    cursor.advance(2)?;
    let start = cursor.place();
    let Shape::Array(array) = parse_shape(cursor, depth + 1)? else {
        return Err(Error::new("a buffer of something that is no array")
            .at(cursor.since(start))
            .rule("b(..) is a buffer that holds one array")
            .accepts("an array such as b(f32[2])"));
    };
    cursor.expect(b')', ") at the end of the buffer")?;
    Ok(Shape::Buffer(array))
}

#[inline(always)]
fn parse_leaf(cursor: &mut Cursor, depth: u32) -> Result<Shape> {
    let start = cursor.place();
    let element = parse_type(cursor)?;
    let type_span = cursor.since(start);
    cursor.expect(b'[', "[ before the dimensions")?;
    if !element.is_array_type() {
        return parse_without_elements(cursor, element, type_span);
    }
    let dims_start = cursor.place();
    let mut array = ArrayShape::scalar_of(element);
    if !cursor.eat(b']')? {
        loop {
            let dim = parse_dim(cursor)?;
            array.dims_mut().push(dim);
            if cursor.eat(b']')? {
                break;
            }
            cursor.expect(b',', ", before the next dimension, or ] after the last")?;
        }
    }
    let dims_end = cursor.since(dims_start).end - 1;
    check_sizes(array.dims(), element).map_err(|error| error.at(dims_start..dims_end))?;
    parse_array_layout(cursor, &mut array, depth)?;
    Ok(Shape::Array(array))
}

/// The layout after an array's dimensions, or the default one.
#[inline(always)]
fn parse_array_layout(cursor: &mut Cursor, array: &mut ArrayShape, depth: u32) -> Result<()> {
    let rank = array.rank();
    let start = cursor.place();
    if cursor.peek() != b'{' && !parse_older_words(cursor)? {
        if cursor.place() == start {
            *array.layout_mut() = Some(Layout::descending(rank));
        }
        return Ok(());
    }
    let layout = array.layout_mut().insert(Layout::descending(0));
    parse_layout(cursor, Some(rank), depth, layout)?;
    if layout.padding().is_some() {
        check_padding(array).map_err(|error| error.at(cursor.since(start)))?;
    }
    Ok(())
}

/// ` (no layout)` and `dense` of 2017 and 2018. Says whether a layout in braces follows.
fn parse_older_words(cursor: &mut Cursor) -> Result<bool> {
    if cursor.strict {
        return Ok(false);
    }
    if cursor.starts_with("(no layout)") {
        cursor.advance("(no layout)".len())?;
        return Ok(false);
    }
    match cursor.word() {
        "dense" => {
            cursor.advance("dense".len())?;
            match cursor.peek() {
                b'{' => Ok(true),
                _ => Err(cursor.unexpected("{ before the layout")),
            }
        }
        "sparse" => Err(cursor.unexpected("a dense layout such as {1,0}").rule(
            "sparse{n} was dropped from XLA in 2019: it keeps index pairs, which is no function of the index",
        )),
        _ => Ok(false),
    }
}

/// `token[]` and `opaque[]`, of which the opening bracket has been read.
fn parse_without_elements(
    cursor: &mut Cursor,
    element: PrimitiveType,
    type_span: std::ops::Range<usize>,
) -> Result<Shape> {
    let shape = match element {
        PrimitiveType::Token => Shape::Token,
        PrimitiveType::Opaque => Shape::Opaque,
        _ => {
            return Err(Error::new(format!("`{element}` is no element type"))
                .at(type_span)
                .rule("tuples are written (a, b) and buffers b(a)")
                .accepts("an element type such as f32"));
        }
    };
    if cursor.peek() != b']' {
        return Err(cursor.unexpected(format!("{element}[]")).rule(format!("{element} has no dimensions")));
    }
    cursor.advance(1)?;
    if cursor.peek() == b'{' {
        return Err(cursor.unexpected(format!("{element}[] alone")).rule(format!("{element} has no layout")));
    }
    Ok(shape)
}

#[inline(always)]
fn parse_dim(cursor: &mut Cursor) -> Result<Dim> {
    const ACCEPTS: &str = "a size, a bound such as <=8, or ?";
    match cursor.peek() {
        b'?' => {
            cursor.advance(1)?;
            Ok(Dim::Unbounded)
        }
        b'<' if cursor.peek_second() == b'=' => {
            cursor.advance(2)?;
            cursor.number("the bound of a dynamic dimension").map(Dim::Bounded)
        }
        _ => cursor.number(ACCEPTS).map(Dim::Static),
    }
}

/// Reads the name of an element type. XLA writes it in lower case; older texts have upper case.
#[inline]
pub(super) fn parse_type(cursor: &mut Cursor) -> Result<PrimitiveType> {
    let word = cursor.word();
    let found = PrimitiveType::from_name(word).or_else(|| match cursor.strict {
        true => None,
        false => PrimitiveType::from_name(&word.to_ascii_lowercase()),
    });
    match found {
        Some(element) => {
            cursor.advance(word.len())?;
            Ok(element)
        }
        None => Err(unknown_type(cursor)),
    }
}

#[cold]
fn unknown_type(cursor: &Cursor) -> Error {
    let word = cursor.word();
    if word.is_empty() {
        return cursor.unexpected("a shape: an element type such as f32, or ( for a tuple");
    }
    let (span, found) = cursor.next_token();
    let error = Error::new(format!("unknown element type {found}")).at(span);
    match suggestion(&word.to_ascii_lowercase()) {
        Some(PrimitiveType::F32) if word == "float" => error.accepts("f32 (32 bits) or f64 (64 bits)"),
        Some(meant) => error.accepts(format!("`{meant}`, if that was meant")),
        None => error.accepts("pred, s8, u8, f16, bf16, f32, f64, c64, f8e4m3fn, … (XLA's names)"),
    }
}

/// The type that another system calls so, or the nearest by spelling.
fn suggestion(word: &str) -> Option<PrimitiveType> {
    use PrimitiveType as P;
    const OTHERS: [(&str, PrimitiveType); 20] = [
        ("bool", P::Pred),
        ("int", P::S32),
        ("int4", P::S4),
        ("int8", P::S8),
        ("int16", P::S16),
        ("int32", P::S32),
        ("int64", P::S64),
        ("uint4", P::U4),
        ("uint8", P::U8),
        ("uint16", P::U16),
        ("uint32", P::U32),
        ("uint64", P::U64),
        ("half", P::F16),
        ("float16", P::F16),
        ("bfloat16", P::Bf16),
        ("float", P::F32),
        ("float32", P::F32),
        ("double", P::F64),
        ("float64", P::F64),
        ("complex64", P::C64),
    ];
    if let Some(row) = OTHERS.iter().find(|row| row.0 == word) {
        return Some(row.1);
    }
    if let Some(bits) = word.strip_prefix('i') {
        let signed = PrimitiveType::from_name(&format!("s{bits}"));
        if signed.is_some() {
            return signed;
        }
    }
    let near = PrimitiveType::all().filter(|element| element.is_array_type());
    let near = near.map(|element| (distance(word, element.name()), element)).min()?;
    (near.0 <= if word.len() > 5 { 2 } else { 1 }).then_some(near.1)
}

/// Number of letters to change, add, leave out or swap with their neighbour.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<u8>, Vec<u8>) = (a.bytes().take(20).collect(), b.bytes().collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = match (i, j) {
                (0, far) | (far, 0) => far,
                _ => {
                    let change = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                    let mut least = change.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
                    if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                        least = least.min(rows[i - 2][j - 2] + 1);
                    }
                    least
                }
            };
        }
    }
    rows[a.len()][b.len()]
}
