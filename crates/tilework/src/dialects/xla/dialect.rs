//! XLA's notation among the others.

use std::ops::Range;

use crate::dialect::{Confidence, Described, Dialect, Dim, Example, Fact, Facts, Found, Known, Leaf, Part};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::layout::Layout;
use crate::xla::text::parse_layout::Short;
use crate::xla::value::layout::Layout as XlaLayout;
use crate::xla::value::primitive::PrimitiveType;
use crate::xla::value::shape::{ArrayShape, Shape};
use crate::xla::value::tile::TileDim;
use crate::xla::{say, words};

/// XLA's shapes, with Tilework's words for what XLA cannot say.
pub static DIALECT: Dialect = Dialect {
    name: "xla",
    title: "an XLA shape",
    recognise,
    read,
    say: Some(say::say),
    forms: &[],
    examples: EXAMPLES,
};

const EXAMPLES: &[Example] = &[
    Example { text: "f32[3,5]", shows: "row-major", offsets: &[(&[2, 3], 13)], size: 15 },
    Example { text: "f32[3,5]{0,1}", shows: "column-major", offsets: &[(&[2, 3], 11)], size: 15 },
    Example { text: "f32[3,5]{1,0:T(2,2)}", shows: "tiles", offsets: &[(&[2, 3], 17)], size: 24 },
    Example {
        text: "bf16[4,8]{1,0:T(2,4)(2,1)}",
        shows: "tiles of tiles",
        offsets: &[(&[3, 7], 31)],
        size: 32,
    },
    Example {
        text: "bf16[64,300]{1,0:T(8,128)(2,1)}",
        shows: "what a TPU has",
        offsets: &[(&[3, 17], 291), (&[63, 299], 24407)],
        size: 64 * 384,
    },
    Example {
        text: "f32[8,8]{1,0:T(2,4)(2,1,1,1)}",
        shows: "a second tile over the numbers of tiles",
        offsets: &[(&[6, 5], 51)],
        size: 64,
    },
    Example {
        text: "f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}",
        shows: "dimensions combined",
        offsets: &[(&[0, 0, 0, 0, 3], 6)],
        size: 112 * 111,
    },
    Example {
        text: "f32[2,3]{0,1:pad(3,5)=zero}",
        shows: "the older padding",
        offsets: &[(&[1, 2], 7)],
        size: 15,
    },
    Example {
        text: "f32[2,3]{strides(5,1),base(2),size(16)}",
        shows: "free strides",
        offsets: &[(&[1, 2], 9)],
        size: 16,
    },
    Example {
        text: "s8[5000]{0:T(1024)(128)(4,1)}",
        shows: "one dimension on a TPU",
        offsets: &[(&[4999], 4639)],
        size: 5120,
    },
    Example {
        text: "f32[100]{0:T(8,128)}",
        shows: "a dimension that is missing",
        offsets: &[(&[99], 99)],
        size: 1024,
    },
    Example { text: "s4[3,5]{1,0:E(4)}", shows: "elements of 4 bits", offsets: &[(&[2, 3], 13)], size: 15 },
    Example { text: "pred[]", shows: "a scalar", offsets: &[(&[], 0)], size: 1 },
];

/// A shape begins with an element type and a bracket, or with parentheses around shapes; a layout alone with a brace, or
/// with its tiles.
/// An instruction of HLO begins with a name and an equals sign.
fn recognise(text: &str) -> Option<Confidence> {
    if let Some(braces) = text.strip_prefix('{') {
        return (!braces.trim_start().starts_with(['"', '\'', '['])).then_some(Confidence::Certain);
    }
    if Short::of(text).is_some() {
        return Some(Confidence::Certain);
    }
    let text = &text[instruction(text)?.start..];
    let inner = text.trim_start_matches(|c: char| c == '(' || c.is_whitespace());
    if inner.len() < text.len() && inner.starts_with(')') {
        return Some(Confidence::Certain);
    }
    if inner.len() < text.len() && inner.is_empty() {
        return Some(Confidence::Likely);
    }
    let inner = inner.strip_prefix("b(").unwrap_or(inner);
    let name: &str =
        &inner[..inner.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count()];
    let rest = inner[name.len()..].trim_start();
    if !rest.starts_with('[') {
        return None;
    }
    let known =
        PrimitiveType::from_name(name).or_else(|| PrimitiveType::from_name(&name.to_ascii_lowercase()));
    match known {
        Some(_) if ends_or_goes_on(rest) || inner.len() < text.len() => Some(Confidence::Certain),
        Some(_) => Some(Confidence::Likely),
        None => None,
    }
}

/// Whether what follows the sizes is what XLA writes there: nothing, a layout, or a comment.
fn ends_or_goes_on(sizes: &str) -> bool {
    let after = sizes.find(']').map_or("", |close| sizes[close + 1..].trim_start());
    after.is_empty() || after.starts_with(['{', '/', ','])
}

/// Where the shape is in an instruction of HLO as dumps have it, `ROOT %a.1 = f32[2]{0} add(…), metadata={…}`, and in
/// what is no instruction: all of the text. None if it is neither.
fn instruction(text: &str) -> Option<Range<usize>> {
    let whole = Some(0..text.len());
    let Some(equals) = text.find(" = ") else { return whole };
    let name = text[..equals].strip_prefix("ROOT ").unwrap_or(&text[..equals]).trim();
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-' | b'%');
    if name.is_empty() || !name.bytes().all(is_name) {
        return whole;
    }
    let start = equals + 3;
    let start = start + (text[start..].len() - text[start..].trim_start().len());
    Some(start..start + end_of_shape(&text[start..]))
}

/// Where the shape ends that a text begins with: at the first blank outside brackets.
fn end_of_shape(text: &str) -> usize {
    let mut depth = 0_u32;
    let ends = |(_, byte): &(usize, u8)| {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b' ' | b'\t' => return depth == 0,
            _ => {}
        }
        false
    };
    text.bytes().enumerate().find(ends).map_or(text.len(), |(at, _)| at)
}

fn read(text: &str, known: &Known) -> Result<Vec<Found>> {
    if text.starts_with('{') {
        return braces(text, known).map(|found| vec![found]);
    }
    if let Some(short) = Short::of(text).filter(|_| !known.strict) {
        return without_order(text, short, known).map(|found| vec![found]);
    }
    let parse = if known.strict { Shape::parse_strict_xla } else { Shape::parse };
    let span = if known.strict { 0..text.len() } else { instruction(text).unwrap_or(0..text.len()) };
    // A shape that was copied out of a list brings its comma along.
    let part = &text[span.clone()];
    let listed = part.strip_suffix(',').filter(|shape| !known.strict && shape.ends_with([']', '}', ')']));
    let part = listed.unwrap_or(part);
    let shape = parse(part).map_err(|error| error.moved(span.start))?;
    Ok(vec![Found::unnamed(shape)])
}

/// A layout alone, for dimensions and a type that are known from elsewhere.
fn braces(text: &str, known: &Known) -> Result<Found> {
    let (dims, element) = known.require("the braces of a shape alone", text)?;
    // A scalar has no braces at all.
    let is_empty = dims.is_empty() && text.trim_start_matches('{').trim_start() == "}";
    let braces = if is_empty { "" } else { text };
    let head = format!("{element}[{}]", crate::dialect::words::list(dims));
    let parse = if known.strict { Shape::parse_strict_xla } else { Shape::parse };
    let shape = parse(&format!("{head}{braces}")).map_err(|error| error.moved_back(head.len()))?;
    Ok(Found::unnamed(shape))
}

/// The same without its order: tiles alone, or a word for an order.
fn without_order(text: &str, short: Short, known: &Known) -> Result<Found> {
    let (what, whole) = match short {
        Short::Tiles => ("tiles alone", format!("bf16[64,300]{{1,0:{text}}}")),
        Short::RowMajor => ("an order of dimensions alone", "f32[3,5]{1,0}".to_owned()),
        Short::ColumnMajor => ("an order of dimensions alone", "f32[3,5]{0,1}".to_owned()),
    };
    let (dims, element) = match known.require(what, text) {
        Ok(known) => known,
        // What is misspelt is said as that.
        Err(unknown) => return Err(XlaLayout::parse_short(text, 2).err().unwrap_or(unknown.accepts(whole))),
    };
    let layout = XlaLayout::parse_short(text, dims.len())?;
    let array = ArrayShape::new(element, dims.iter().copied())?.with_layout(layout);
    Ok(Found::unnamed(Shape::from(array.map_err(|error| error.or_at(0..text.len()))?)))
}

impl Described for Shape {
    fn dialect(&self) -> &'static Dialect {
        &DIALECT
    }

    fn kind(&self) -> &'static str {
        match self {
            Shape::Array(_) => "array",
            Shape::Tuple(_) => "tuple",
            Shape::Buffer(_) => "buffer",
            Shape::Token => "token",
            Shape::Opaque => "opaque",
        }
    }

    fn phrase(&self) -> Option<String> {
        words::phrase(self)
    }

    fn element(&self) -> Option<Element> {
        self.as_array().map(ArrayShape::element_type)
    }

    fn layout(&self) -> Result<Layout> {
        match self.as_array() {
            Some(array) => array.lower(),
            None => Err(Error::new(format!("this is not an array but of the kind {}", self.kind()))
                .rule("only the elements of an array have offsets")
                .accepts("an array, such as one of a tuple's elements")),
        }
    }

    fn open(&self) -> Option<String> {
        let is_open = |array: &ArrayShape| array.dims().iter().any(|dim| dim.bound().is_none());
        self.as_array().filter(|array| is_open(array)).map(|_| {
            "Only bounded dimensions have places in memory, so there are no sizes and no picture.".to_owned()
        })
    }

    fn parts(&self, layout: Option<&Layout>) -> Vec<Part> {
        let mut parts = Vec::new();
        if let (Shape::Buffer(_), Some(phrase)) = (self, self.phrase()) {
            parts.push(Part::new("buffer", "b(..)", phrase));
        }
        parts.extend(self.as_array().map(|array| words::parts(array, layout)).unwrap_or_default());
        parts
    }

    fn facts(&self) -> Facts {
        let facts = Facts::about("array");
        let Some(array) = self.as_array() else { return facts };
        let written = array.layout();
        let ordered = written.filter(|layout| layout.strides().is_none());
        let tile_size = |dim: &TileDim| match dim {
            TileDim::Size(size) => Fact::from(*size),
            TileDim::Combine => Fact::from("*"),
        };
        let tiles = written.map_or(&[][..], |layout| layout.tiles());
        facts
            .with("element_type", array.element_type().name())
            .with("dimensions", array.dims().iter().map(|dim| dim.bound()).collect::<Fact>())
            .with("dynamic", array.dims().iter().map(|dim| !matches!(dim, Dim::Static(_))).collect::<Fact>())
            .with(
                "minor_to_major",
                ordered.map(|layout| layout.minor_to_major().iter().copied().collect::<Fact>()),
            )
            .with(
                "tiles",
                tiles
                    .iter()
                    .map(|tile| tile.dims().iter().map(tile_size).collect::<Fact>())
                    .collect::<Fact>(),
            )
            .with("memory_space", written.map_or(0, |layout| u64::from(layout.memory_space())))
            .with_of_layout("xla_array_size", words::xla_size(array))
    }

    fn notes(&self, layout: &Layout) -> Vec<String> {
        self.as_array().map(|array| words::notes(array, layout)).unwrap_or_default()
    }

    fn leaves(&self) -> Option<Vec<Leaf>> {
        let Shape::Tuple(_) = self else { return None };
        let leaf = |(path, shape): (crate::xla::ShapeIndex, &Shape)| Leaf {
            path: path.to_vec(),
            said: std::sync::Arc::new(shape.clone()),
        };
        Some(self.leaf_shapes().map(leaf).collect())
    }

    fn minor_to_major(&self) -> Option<Vec<usize>> {
        let layout = self.as_array()?.layout()?;
        layout.strides().is_none().then(|| layout.minor_to_major().to_vec())
    }

    fn fill(&self) -> Option<u128> {
        self.as_array().and_then(ArrayShape::padding_bits)
    }
}
