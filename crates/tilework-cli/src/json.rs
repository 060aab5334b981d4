//! The objects of `--json`, as documented in docs/json.md. Fields are only ever added.

use serde::Serialize;
use tilework::directml::{BufferTensorDesc, Violation};
use tilework::xla::{Dim, Shape, TileDim};
use tilework::{Error, Growth, Layout, Level, Padding, Place};

use crate::json_plan::Moves;
use crate::size::Sizes;

/// What was wrong.
#[derive(Serialize)]
pub struct Failure<'a> {
    error: Problem<'a>,
}

#[derive(Serialize)]
struct Problem<'a> {
    /// The file and the descriptor in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    found: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<&'a str>,
    rule: Option<&'a str>,
    accepted: Option<&'a str>,
    span: Option<[usize; 2]>,
    /// The text around the span; long texts are cut.
    text: String,
}

/// The longest text that an error repeats.
const LONGEST_TEXT: usize = 4096;

impl<'a> Failure<'a> {
    pub fn new(error: &'a Error, text: &str, line: Option<u64>) -> Failure<'a> {
        Failure {
            error: Problem {
                place: None,
                line,
                found: error.found(),
                field: error.field_name(),
                rule: error.broken_rule(),
                accepted: error.accepted(),
                span: error.span().map(|span| [span.start, span.end]),
                text: text.chars().take(LONGEST_TEXT).collect(),
            },
        }
    }
}

impl<'a> Failure<'a> {
    /// The same in a file.
    pub fn within(mut self, place: &'a str) -> Failure<'a> {
        self.error.place = Some(place);
        self
    }
}

/// Answer of `check`, for each descriptor that could be read.
#[derive(Serialize)]
pub struct Checked<'a> {
    pub file: &'a str,
    pub path: &'a str,
    pub descriptor: String,
    pub ok: bool,
    /// Null if it cannot be counted.
    pub needed_bytes: Option<u64>,
    /// Null without a binding.
    pub end_bytes: Option<u128>,
    pub violations: Vec<Broken<'a>>,
}

/// A rule that is broken.
#[derive(Serialize)]
pub struct Broken<'a> {
    rule: &'static str,
    field: &'static str,
    index: Option<usize>,
    value: &'a str,
    limit: &'a str,
    legal: Option<&'a str>,
}

impl<'a> From<&'a Violation> for Broken<'a> {
    fn from(violation: &'a Violation) -> Broken<'a> {
        Broken {
            rule: violation.rule.name(),
            field: violation.field,
            index: violation.index,
            value: &violation.value,
            limit: &violation.limit,
            legal: violation.legal.as_deref(),
        }
    }
}

/// Answer of `view`.
#[derive(Serialize)]
pub struct Viewed {
    /// "view" or "copy needed"
    pub answer: &'static str,
    pub from: String,
    /// The view, or what a copy would be packed as.
    pub to: String,
    /// The outer and the inner dimension that forbid the view.
    pub dimensions: Option<[usize; 2]>,
    pub stride: Option<u64>,
    pub wanted_stride: Option<u128>,
}

/// Answer of `parse`.
#[derive(Serialize)]
pub struct Parsed<'a> {
    pub text: &'a str,
    pub shape: String,
}

/// Answer of `index`.
#[derive(Serialize)]
pub struct Element<'a> {
    pub shape: &'a str,
    pub index: Vec<u64>,
    pub offset: u64,
}

/// Answer of `locate`: either an index or padding.
#[derive(Serialize)]
pub struct Located<'a> {
    shape: &'a str,
    offset: u64,
    index: Option<Vec<u64>>,
    padding: Option<Cause>,
}

impl<'a> Located<'a> {
    pub fn new(shape: &'a str, offset: u64, place: Place) -> Located<'a> {
        let (index, padding) = match place {
            Place::Element(index) => (Some(index), None),
            Place::Padding(padding) => (None, Some(Cause::from(&padding))),
        };
        Located { shape, offset, index, padding }
    }
}

/// What allocates padding.
#[derive(Serialize)]
pub struct Cause {
    level: &'static str,
    /// Counted from 1, for the level `tile`.
    tile: Option<u32>,
    dimensions: Vec<usize>,
}

impl From<&Padding> for Cause {
    fn from(padding: &Padding) -> Cause {
        let (level, tile) = match padding.level {
            Level::PaddedDimensions => ("padded_dimensions", None),
            Level::Tile(number) => ("tile", Some(number)),
            Level::Stride => ("strides", None),
            Level::Tail => ("tail", None),
            Level::View => ("view", None),
        };
        Cause { level, tile, dimensions: padding.dims.clone() }
    }
}

/// One cause of padding, with its sizes.
#[derive(Serialize)]
pub struct Growing {
    #[serde(flatten)]
    cause: Cause,
    from: u64,
    to: u64,
}

impl From<&Growth> for Growing {
    fn from(growth: &Growth) -> Growing {
        Growing { cause: Cause::from(&growth.cause), from: growth.from, to: growth.to }
    }
}

/// Answer of `show`.
#[derive(Serialize)]
pub struct Shown {
    pub shape: String,
    pub kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub array: Option<Array>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub descriptor: Option<Described>,
    /// The elements of a tuple that are no tuples themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leaves: Option<Vec<Leaf>>,
    /// Sums over the arrays of a tuple.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<Total>,
}

/// A descriptor.
#[derive(Serialize)]
pub struct Described {
    pub data_type: &'static str,
    pub flags: &'static str,
    pub sizes: Vec<u32>,
    /// Null if none are written: then the tensor is packed.
    pub strides: Option<Vec<u32>>,
    pub effective_strides: Vec<u64>,
    pub total_bytes: u64,
    pub minimum_bytes: u64,
    /// Null if the total is computed.
    pub declared_total: Option<u64>,
    pub alignment: u32,
    pub layout_names: Vec<&'static str>,
    pub packed: bool,
    /// Null if not decided.
    pub overlaps: Option<bool>,
    pub padded_inside: bool,
    pub padded_behind: u64,
    pub layout: Function,
}

impl Described {
    pub fn new(desc: &BufferTensorDesc) -> tilework::Result<Described> {
        let (layout, words) = (desc.lower()?, desc.words()?);
        Ok(Described {
            data_type: desc.data_type().name(),
            flags: desc.flags().name(),
            sizes: desc.sizes().to_vec(),
            strides: desc.strides().map(<[u32]>::to_vec),
            effective_strides: desc.effective_strides().to_vec(),
            total_bytes: desc.total_bytes(),
            minimum_bytes: desc.minimum_bytes(),
            declared_total: desc.declared_total(),
            alignment: desc.alignment(),
            layout_names: desc.layout_names(),
            packed: words.packed,
            overlaps: words.overlaps(),
            padded_inside: words.gaps,
            padded_behind: words.slack,
            layout: Function::new(&layout, None),
        })
    }
}

/// An element of a tuple.
#[derive(Serialize)]
pub struct Leaf {
    pub path: Vec<usize>,
    #[serde(flatten)]
    pub shown: Shown,
}

/// Sums over the arrays of a tuple.
#[derive(Serialize)]
pub struct Total {
    pub elements: u128,
    pub element_bytes: u128,
    pub allocated_bytes: u128,
}

/// An array and its layout.
#[derive(Serialize)]
pub struct Array {
    pub element_type: &'static str,
    /// Null for a dimension that is known at run time only.
    pub dimensions: Vec<Option<u64>>,
    pub dynamic: Vec<bool>,
    /// Null where free strides say where elements are.
    pub minor_to_major: Option<Vec<usize>>,
    /// Sizes, or "*".
    pub tiles: Vec<Vec<TileSize>>,
    pub memory_space: u64,
    /// Null if a dimension is known at run time only.
    pub layout: Option<Function>,
}

/// An entry of a tile.
#[derive(Serialize)]
#[serde(untagged)]
pub enum TileSize {
    Size(u64),
    Combine(&'static str),
}

/// The function from index to offset, and what it costs. In elements, unless the name says bytes or bits.
#[derive(Serialize)]
pub struct Function {
    pub bits: u32,
    pub elements: u64,
    pub element_bytes: u128,
    pub allocated: u64,
    pub allocated_bytes: u64,
    /// Null if it is not decided which places the elements share.
    pub padding: Option<u64>,
    pub waste_bytes: Option<u128>,
    pub causes: Vec<Growing>,
    pub base: u64,
    /// Null if strides alone cannot say the function.
    pub strides: Option<Vec<i64>>,
    pub formula: Option<String>,
    pub broadcast: Vec<usize>,
    /// Null if not decided.
    pub packed: Option<bool>,
    pub xla_array_size: Option<u64>,
}

impl Array {
    pub fn new(array: &tilework::xla::ArrayShape, layout: Option<&Layout>) -> Array {
        let written = array.layout();
        let tiles = written.map_or(&[][..], |layout| layout.tiles());
        let size = |dim: &TileDim| match dim {
            TileDim::Size(size) => TileSize::Size(*size),
            TileDim::Combine => TileSize::Combine("*"),
        };
        let ordered = written.filter(|layout| layout.strides().is_none());
        Array {
            element_type: array.element_type().name(),
            dimensions: array.dims().iter().map(|dim| dim.bound()).collect(),
            dynamic: array.dims().iter().map(|dim| !matches!(dim, Dim::Static(_))).collect(),
            minor_to_major: ordered.map(|layout| layout.minor_to_major().to_vec()),
            tiles: tiles.iter().map(|tile| tile.dims().iter().map(size).collect()).collect(),
            memory_space: written.map_or(0, |layout| u64::from(layout.memory_space())),
            layout: layout.map(|layout| Function::new(layout, crate::words::xla_size(array))),
        }
    }
}

impl Function {
    pub fn new(layout: &Layout, xla_array_size: Option<u64>) -> Function {
        let sizes = Sizes::new(layout);
        Function {
            bits: layout.bits(),
            elements: layout.len(),
            element_bytes: layout.element_bytes(),
            allocated: layout.size(),
            allocated_bytes: layout.bytes(),
            padding: sizes.padding,
            waste_bytes: sizes.waste_bytes,
            causes: sizes.growths.iter().map(Growing::from).collect(),
            base: layout.base(),
            strides: layout.canon().strides(),
            formula: crate::words::formula(layout),
            broadcast: layout.broadcast_dims(),
            packed: sizes.packed,
            xla_array_size,
        }
    }
}

/// Answer of `compare`.
#[derive(Serialize)]
pub struct Compared {
    pub a: String,
    pub b: String,
    pub function: Answer,
    pub buffer: Answer,
    pub reshape: Answer,
    pub transpose: Answer,
    /// The sense that decides the exit code.
    pub sense: &'static str,
    pub holds: bool,
    /// Elements that lie side by side in the same order in both, from the first on; null if the dimensions differ.
    pub shared_run: Option<u64>,
    /// What moves from A to B; null if nothing can.
    pub moves: Option<Moves>,
}

/// An answer and its reason.
#[derive(Serialize)]
pub struct Answer {
    /// "yes", "no" or "not decided"
    pub answer: &'static str,
    pub reason: Option<String>,
}

/// The kind of a shape.
pub fn kind(shape: &Shape) -> &'static str {
    match shape {
        Shape::Array(_) => "array",
        Shape::Tuple(_) => "tuple",
        Shape::Buffer(_) => "buffer",
        Shape::Token => "token",
        Shape::Opaque => "opaque",
    }
}
