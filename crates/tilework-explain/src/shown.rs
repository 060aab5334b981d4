//! The same as objects, as `tilework show --json` prints them.

use serde::Serialize;
use tilework::directml::BufferTensorDesc;
use tilework::xla::{ArrayShape, Dim, Shape, ShapeIndex, TileDim};
use tilework::{Growth, Layout, Level, Padding, Result};

use crate::size::Sizes;
use crate::subject::Subject;
use crate::words;

/// A shape or a descriptor, as `tilework show --json` prints it.
#[derive(Serialize)]
pub struct Shown {
    /// The canonical text.
    pub shape: String,
    /// "array", "tuple", "buffer", "token", "opaque" or "descriptor".
    pub kind: &'static str,
    /// What an array or a buffer is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub array: Option<Array>,
    /// What a descriptor is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub descriptor: Option<Described>,
    /// The elements of a tuple that are no tuples themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leaves: Option<Vec<Leaf>>,
    /// Sums over the arrays of a tuple.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<Total>,
}

impl Shown {
    /// Everything about a shape or a descriptor.
    ///
    /// # Errors
    /// What has bounds, and yet more bytes than can be counted.
    pub fn new(subject: &Subject) -> Result<Shown> {
        match subject {
            Subject::Shape(shape) => possible(shape).map(|()| Shown::of_shape(shape)),
            Subject::Desc(desc) => Ok(Shown {
                shape: desc.to_string(),
                kind: "descriptor",
                array: None,
                descriptor: Some(Described::new(desc)?),
                leaves: None,
                total: None,
            }),
        }
    }

    fn of_shape(shape: &Shape) -> Shown {
        let array = shape.as_array().map(|array| Array::new(array, array.lower().ok().as_ref()));
        let mut leaves = None;
        let mut total = None;
        if let Shape::Tuple(_) = shape {
            let leaf = |(path, shape): (ShapeIndex, &Shape)| Leaf {
                path: path.to_vec(),
                shown: Shown::of_shape(shape),
            };
            leaves = Some(shape.leaf_shapes().map(leaf).collect());
            total = Some(total_of(shape));
        }
        Shown { shape: shape.to_string(), kind: kind(shape), array, descriptor: None, leaves, total }
    }
}

/// A descriptor.
#[derive(Serialize)]
pub struct Described {
    /// As DirectML names it, without the prefix.
    pub data_type: &'static str,
    /// As DirectML names them, without the prefix.
    pub flags: &'static str,
    /// Of each dimension.
    pub sizes: Vec<u32>,
    /// Null if none are written: then the tensor is packed.
    pub strides: Option<Vec<u32>>,
    /// In elements, whether written or not.
    pub effective_strides: Vec<u64>,
    /// What is declared, or the least.
    pub total_bytes: u64,
    /// The least that holds all elements, a multiple of 4.
    pub minimum_bytes: u64,
    /// Null if the total is computed.
    pub declared_total: Option<u64>,
    /// The guaranteed alignment of the bound offset; 0 if none is.
    pub alignment: u32,
    /// The layouts that are packed so, such as NHWC.
    pub layout_names: Vec<&'static str>,
    /// As many places as elements.
    pub packed: bool,
    /// Null if not decided.
    pub overlaps: Option<bool>,
    /// Whether places between elements hold none.
    pub padded_inside: bool,
    /// Elements for which there is room at the end.
    pub padded_behind: u64,
    /// The function from index to offset.
    pub layout: Function,
}

impl Described {
    fn new(desc: &BufferTensorDesc) -> Result<Described> {
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
    /// The index into the tuple, and into the tuples in it.
    pub path: Vec<usize>,
    /// What stands there.
    #[serde(flatten)]
    pub shown: Shown,
}

/// Sums over the arrays of a tuple.
#[derive(Serialize)]
pub struct Total {
    /// Of all arrays.
    pub elements: u128,
    /// What elements take.
    pub element_bytes: u128,
    /// What is allocated.
    pub allocated_bytes: u128,
}

/// An array and its layout.
#[derive(Serialize)]
pub struct Array {
    /// As XLA writes it.
    pub element_type: &'static str,
    /// Null for a dimension that is known at run time only.
    pub dimensions: Vec<Option<u64>>,
    /// Whether the size of a dimension is known at run time only.
    pub dynamic: Vec<bool>,
    /// Null where free strides say where elements are.
    pub minor_to_major: Option<Vec<usize>>,
    /// Sizes, or "*".
    pub tiles: Vec<Vec<TileSize>>,
    /// 0 unless the text says otherwise.
    pub memory_space: u64,
    /// Null if a dimension is known at run time only.
    pub layout: Option<Function>,
}

/// An entry of a tile.
#[derive(Serialize)]
#[serde(untagged)]
pub enum TileSize {
    /// A size.
    Size(u64),
    /// `*`: combined with the next more minor dimension.
    Combine(&'static str),
}

/// The function from index to offset, and what it costs. In elements, unless the name says bytes or bits.
#[derive(Serialize)]
pub struct Function {
    /// Of an element.
    pub bits: u32,
    /// How many there are.
    pub elements: u64,
    /// What elements take.
    pub element_bytes: u128,
    /// Places.
    pub allocated: u64,
    /// The bytes of all places.
    pub allocated_bytes: u64,
    /// Null if it is not decided which places the elements share.
    pub padding: Option<u64>,
    /// The bytes of the padding, rounded up.
    pub waste_bytes: Option<u128>,
    /// What makes the padding.
    pub causes: Vec<Growing>,
    /// The offset of element (0, …, 0), unless dimensions run backward.
    pub base: u64,
    /// Null if strides alone cannot say the function.
    pub strides: Option<Vec<i64>>,
    /// Null if it is too long for people.
    pub formula: Option<String>,
    /// Dimensions whose elements share their places.
    pub broadcast: Vec<usize>,
    /// Null if not decided.
    pub packed: Option<bool>,
    /// What XLA's own `ArraySize` says; null if it says nothing.
    pub xla_array_size: Option<u64>,
}

impl Array {
    fn new(array: &ArrayShape, layout: Option<&Layout>) -> Array {
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
            layout: layout.map(|layout| Function::new(layout, words::xla_size(array))),
        }
    }
}

impl Function {
    /// What a layout is and costs. `xla_array_size` is known of XLA's shapes only.
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
            formula: words::formula(layout),
            broadcast: layout.broadcast_dims(),
            packed: sizes.packed,
            xla_array_size,
        }
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
            _ => ("other", None),
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

/// A buffer too large to count has no sizes to show; that is an error, and not the same as one known at run time.
pub(crate) fn possible(shape: &Shape) -> Result<()> {
    let impossible = shape.leaves_of().find_map(|array| match (array.lower(), is_bounded(array)) {
        (Err(error), true) => Some(error),
        _ => None,
    });
    impossible.map_or(Ok(()), Err)
}

/// The arrays in a shape.
trait Arrays {
    fn leaves_of(&self) -> impl Iterator<Item = &ArrayShape>;
}

impl Arrays for Shape {
    fn leaves_of(&self) -> impl Iterator<Item = &ArrayShape> {
        self.leaf_shapes().filter_map(|(_, shape)| shape.as_array())
    }
}

fn is_bounded(array: &ArrayShape) -> bool {
    array.dims().iter().all(|dim| dim.bound().is_some())
}

/// Sums over the arrays of a tuple.
pub(crate) fn total_of(shape: &Shape) -> Total {
    let mut total = Total { elements: 0, element_bytes: 0, allocated_bytes: 0 };
    for layout in shape.leaves_of().filter_map(|array| array.lower().ok()) {
        total.elements += u128::from(layout.len());
        total.element_bytes += layout.element_bytes();
        total.allocated_bytes += u128::from(layout.bytes());
    }
    total
}

/// The kind of a shape, in a word.
pub fn kind(shape: &Shape) -> &'static str {
    match shape {
        Shape::Array(_) => "array",
        Shape::Tuple(_) => "tuple",
        Shape::Buffer(_) => "buffer",
        Shape::Token => "token",
        Shape::Opaque => "opaque",
    }
}
