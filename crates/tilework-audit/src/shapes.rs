//! Shapes, each read once however often it is written, with what it costs.

use std::sync::Arc;

use tilework::Layout;
use tilework::xla::Shape;

use crate::budget::{Budget, PIECE};
use crate::hash::Map;
use crate::texts::printed;

/// The number of a shape.
pub(crate) type ShapeId = u32;

/// The most different shapes that are held.
const LIMIT: usize = 1 << 20;

/// The bytes of the longest shape that is held; a tuple of a thousand arrays is shorter.
const LONGEST: usize = 1 << 18;

/// The bytes of all texts that are held, and the arrays in all shapes together.
const TEXTS: usize = 128 << 20;
const ARRAYS: usize = 1 << 20;

/// What an array costs, or a table of pointers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cost {
    /// Bytes of the elements.
    pub(crate) data: u64,
    /// Bytes that are allocated.
    pub(crate) allocated: u64,
    /// The number that the layout says in `S(..)`, or 0.
    pub(crate) space: i64,
}

/// A shape that was read.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    /// What it is.
    pub(crate) shape: Arc<Shape>,
    /// None if a size is known at run time only, or more is allocated than can be counted.
    pub(crate) cost: Option<Cost>,
    /// What the arrays in it cost together; of an array, the array itself.
    pub(crate) leaves: Option<Cost>,
    /// The first shape that is the same, most often this one: another may come to be by [`Shapes::replace`].
    pub(crate) same_as: ShapeId,
    /// Whether its size is not that of the layout that was read.
    pub(crate) supposed: bool,
}

impl Known {
    fn new(shape: Arc<Shape>, same_as: ShapeId, supposed: bool) -> Known {
        Known { cost: cost(&shape), leaves: leaves(&shape), shape, same_as, supposed }
    }
}

/// Shapes by number, and numbers by shape and by text.
#[derive(Clone, Debug)]
pub(crate) struct Shapes {
    budget: Budget,
    numbers: Map<Box<[u8]>, Option<ShapeId>>,
    /// The same by serialised messages.
    #[cfg(feature = "proto")]
    protos: Map<Box<[u8]>, Option<ShapeId>>,
    /// The same by what was read.
    shapes: Map<Arc<Shape>, ShapeId>,
    known: Vec<Known>,
    /// The arrays in a tuple, for the tuples of which they were asked for.
    parts: Map<ShapeId, Box<[ShapeId]>>,
    bytes: usize,
    arrays: usize,
}

#[cfg(test)]
impl Default for Shapes {
    fn default() -> Shapes {
        Shapes::within(&Budget::default())
    }
}

impl Shapes {
    /// Those that are held within a budget; none so far.
    pub(crate) fn within(budget: &Budget) -> Shapes {
        Shapes {
            budget: budget.clone(),
            numbers: Map::default(),
            #[cfg(feature = "proto")]
            protos: Map::default(),
            shapes: Map::default(),
            known: Vec::new(),
            parts: Map::default(),
            bytes: 0,
            arrays: 0,
        }
    }

    /// The number of the shape that is written so; none if this is no shape.
    #[inline]
    pub(crate) fn number(&mut self, text: &[u8]) -> Option<ShapeId> {
        match self.numbers.get(text) {
            Some(&number) => number,
            None => self.read(text),
        }
    }

    #[cold]
    fn read(&mut self, text: &[u8]) -> Option<ShapeId> {
        if self.is_full(text.len()) {
            return None;
        }
        let read = std::str::from_utf8(text).ok().and_then(|text| Shape::parse(text).ok());
        let number = match read {
            Some(shape) => Some(self.hold(shape)?),
            None => None,
        };
        let Shapes { budget, numbers, .. } = self;
        if !(budget.for_entry(numbers) && budget.take(text.len() + PIECE)) {
            return None;
        }
        self.bytes += text.len();
        self.numbers.insert(text.into(), number);
        number
    }

    /// The number of the shape that is serialised so; none if this is no shape.
    #[cfg(feature = "proto")]
    pub(crate) fn number_of_proto(&mut self, bytes: &[u8]) -> Option<ShapeId> {
        if let Some(&number) = self.protos.get(bytes) {
            return number;
        }
        if self.is_full(bytes.len()) || self.protos.len() >= LIMIT {
            return None;
        }
        let number = match Shape::from_proto(bytes) {
            Ok(shape) => Some(self.hold(shape)?),
            Err(_) => None,
        };
        let Shapes { budget, protos, .. } = self;
        if !(budget.for_entry(protos) && budget.take(bytes.len() + PIECE)) {
            return None;
        }
        self.bytes += bytes.len();
        self.protos.insert(bytes.into(), number);
        number
    }

    /// Whether no further shape of this many bytes is held.
    fn is_full(&self, bytes: usize) -> bool {
        let full = self.numbers.len() >= LIMIT || self.bytes > TEXTS || self.arrays > ARRAYS;
        full || bytes > LONGEST
    }

    /// The same shape may be written in several ways. None if there is no memory for it.
    fn hold(&mut self, shape: Shape) -> Option<ShapeId> {
        if let Some(&number) = self.shapes.get(&shape) {
            return Some(number);
        }
        let arrays = shape.leaf_shapes().count();
        let Shapes { budget, shapes, known, .. } = self;
        // Besides the shape there are its own lists, which its text is longer than, and for a tuple its elements, twice
        // while it grows.
        let own = size_of::<Shape>() + 2 * size_of::<usize>() + 2 * PIECE;
        let bytes =
            own + 2 * printed(&shape) + 2 * size_of::<Shape>() * (arrays + usize::from(shape.is_tuple()));
        if !(budget.for_one(known) && budget.for_entry(shapes) && budget.take(bytes)) {
            return None;
        }
        self.arrays += arrays;
        let (number, shape) = (self.known.len() as ShapeId, Arc::new(shape));
        self.known.push(Known::new(shape.clone(), number, false));
        self.shapes.insert(shape, number);
        Some(number)
    }

    /// The number of a shape that was not read as a text of its own, such as a part of another.
    pub(crate) fn number_of(&mut self, shape: &Shape) -> Option<ShapeId> {
        match self.shapes.get(shape) {
            Some(&number) => Some(number),
            None if self.is_full(0) => None,
            None => self.hold(shape.clone()),
        }
    }

    /// The arrays in a tuple; what of them cannot be held is left out.
    pub(crate) fn parts(&mut self, number: ShapeId) -> &[ShapeId] {
        if !self.parts.contains_key(&number) {
            let shape = self.known(number).shape.clone();
            let arrays = shape.flatten_tuple().into_iter().filter(|part| part.as_array().is_some());
            let parts: Box<[ShapeId]> = arrays.filter_map(|part| self.number_of(part)).collect();
            let Shapes { budget, parts: all, .. } = self;
            if !(budget.for_entry(all) && budget.take(parts.len() * size_of::<ShapeId>() + PIECE)) {
                return &[];
            }
            all.insert(number, parts);
        }
        &self.parts[&number]
    }

    /// The shape with this number.
    pub(crate) fn known(&self, number: ShapeId) -> &Known {
        &self.known[number as usize]
    }

    /// Every shape.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Shape> {
        self.known.iter().map(|known| &*known.shape)
    }

    /// Puts other shapes in the place of those for which there are any; how many there were.
    pub(crate) fn replace(&mut self, other: impl Fn(&Shape) -> Option<Shape>) -> usize {
        let mut changed = 0;
        let mut first: Map<Arc<Shape>, ShapeId> = Map::default();
        for (number, known) in self.known.iter_mut().enumerate() {
            let number = number as ShapeId;
            if let Some(shape) = other(&known.shape) {
                let supposed = known.supposed || cost(&shape) != known.cost;
                *known = Known::new(Arc::new(shape), number, supposed);
                changed += 1;
            }
            known.same_as = *first.entry(known.shape.clone()).or_insert(number);
        }
        changed
    }

    /// The shape that stands there in nested tuples.
    #[cfg(feature = "proto")]
    pub(crate) fn part(&self, number: ShapeId, way: &[u32]) -> Option<&Shape> {
        way.iter().try_fold(&*self.known(number).shape, |part, &element| match part {
            Shape::Tuple(elements) => elements.get(element as usize),
            _ => None,
        })
    }

    /// How an array lies in memory.
    pub(crate) fn layout(&self, number: ShapeId) -> Option<Layout> {
        self.known(number).shape.as_array()?.lower().ok()
    }

    /// How many shapes there are.
    pub(crate) fn len(&self) -> usize {
        self.known.len()
    }
}

/// What a value of this shape costs by itself: an array its buffer, a tuple its table of pointers.
fn cost(shape: &Shape) -> Option<Cost> {
    match shape {
        Shape::Array(array) | Shape::Buffer(array) => {
            let layout = array.lower().ok()?;
            let space = array.layout().map_or(0, |written| i64::from(written.memory_space()));
            // An element may be given more bits than it has, such as `E(32)` of a `pred`.
            let bits = u128::from(layout.bits().min(8 * array.element_type().bytes()));
            let data = (u128::from(layout.len()) * bits).div_ceil(8);
            let data = u64::try_from(data).ok()?.min(layout.bytes());
            Some(Cost { data, allocated: layout.bytes(), space })
        }
        Shape::Tuple(elements) => {
            let bytes = 8 * elements.len() as u64;
            Some(Cost { data: bytes, allocated: bytes, space: 0 })
        }
        Shape::Token => Some(Cost::default()),
        Shape::Opaque => None,
    }
}

/// What all arrays in a shape cost together. The memory space is that of the first.
fn leaves(shape: &Shape) -> Option<Cost> {
    let Shape::Tuple(elements) = shape else { return cost(shape) };
    let mut sum: Option<Cost> = None;
    for element in elements {
        let Some(part) = leaves(element) else { continue };
        sum = Some(match sum {
            None => part,
            Some(sum) => Cost {
                data: sum.data.checked_add(part.data)?,
                allocated: sum.allocated.checked_add(part.allocated)?,
                space: sum.space,
            },
        });
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_is_read_once_and_costs_what_its_tiles_say() {
        let mut shapes = Shapes::default();
        let number = shapes.number(b"s32[300000,8]{1,0:T(8,128)S(1)}");
        assert_eq!(number, shapes.number(b"s32[300000,8]{1,0:T(8,128)S(1)}"));
        assert_eq!(shapes.len(), 1);
        let cost = number.and_then(|number| shapes.known(number).cost);
        assert_eq!(cost, Some(Cost { data: 9_600_000, allocated: 153_600_000, space: 1 }));
        assert_eq!(number, shapes.number(b"S32[300000, 8]{1,0:(8,128)S(1)}"));
        assert_eq!(shapes.len(), 1);
        assert_eq!(shapes.number(b"s33[2]"), None);
        assert_eq!(shapes.number(b"\xff"), None);
        assert_eq!(shapes.len(), 1);
    }

    #[test]
    fn a_tuple_is_a_table_and_holds_its_arrays() {
        let mut shapes = Shapes::default();
        let number = shapes.number(b"((f32[3]{0:T(128)}), u32[]{:S(2)}, token[])").expect("a shape");
        assert_eq!(shapes.known(number).cost.map(|cost| cost.allocated), Some(24));
        assert_eq!(shapes.known(number).leaves, Some(Cost { data: 16, allocated: 516, space: 0 }));
        let open = shapes.number(b"f32[?]").expect("a shape");
        assert_eq!(shapes.known(open).cost, None);
    }
}
