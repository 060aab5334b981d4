//! Messages as they stand in the bytes, and the shapes and layouts they mean.
//!
//! Reading has two steps, because a message may come in pieces that are merged: first the fields are collected with
//! their places, then the collected values are checked against each other.

use std::ops::Range;

use super::MAX_NESTING;
use super::read_layout::LayoutMessage;
use super::wire::{Int, Path, Reader, error};
use super::write::{Age, LAST_OLD_TYPE, UNBOUNDED_OR_COMBINE};
use crate::element::Element;
use crate::error::{Error, Result, counted};
use crate::xla::value::primitive::PrimitiveType;
use crate::xla::value::shape::{ArrayShape, Dim, Shape};

/// The names of the fields by their numbers, in both ages.
const SHAPE_FIELDS: [&str; 7] =
    ["", "rank", "element_type", "dimensions", "tuple_shapes", "layout", "is_dynamic_dimension"];

/// `ShapeProto` of both ages.
#[derive(Default)]
pub(super) struct ShapeMessage {
    at: Range<usize>,
    rank: Option<Int>,
    element_type: Int,
    dimensions: Vec<Int>,
    tuple_shapes: Vec<ShapeMessage>,
    layout: Option<Box<LayoutMessage>>,
    is_dynamic_dimension: Vec<Int>,
}

impl ShapeMessage {
    pub(super) fn read(bytes: &[u8], age: Age) -> Result<ShapeMessage> {
        let mut message = ShapeMessage::default();
        message.merge(Reader::new(bytes), &Path::root("shape"), age, 0)?;
        Ok(message)
    }

    pub(super) fn merge(
        &mut self,
        mut reader: Reader<'_>,
        path: &Path<'_>,
        age: Age,
        depth: usize,
    ) -> Result<()> {
        self.at = reader.range();
        if depth > MAX_NESTING {
            return Err(error(
                path,
                self.at.clone(),
                format!("more than {MAX_NESTING} shapes inside each other"),
            )
            .rule("the depth is bounded, so that no message can exhaust the stack"));
        }
        while let Some(field) = reader.field(&SHAPE_FIELDS, path)? {
            let inner = path.field(field.name);
            match field.number {
                1 if age.is_old() => self.rank = Some(field.int(path)?),
                2 => self.element_type = field.int(path)?,
                3 => field.ints(&mut self.dimensions, path)?,
                4 => {
                    let mut element = ShapeMessage::default();
                    element.merge(field.message(path)?, &inner, age, depth + 1)?;
                    self.tuple_shapes.push(element);
                }
                5 => self.layout.get_or_insert_default().merge(field.message(path)?, &inner, age, depth)?,
                6 => field.ints(&mut self.is_dynamic_dimension, path)?,
                _ => {}
            }
        }
        Ok(())
    }

    pub(super) fn into_shape(self, age: Age) -> Result<Shape> {
        let kind = self.element_type(age)?;
        if let Some(element) = kind.element() {
            return self.into_array(element, age).map(Shape::Array);
        }
        let path = Path::root("shape");
        if let Some(dim) = self.dimensions.first().or(self.is_dynamic_dimension.first()) {
            return Err(error(&path, at(dim), format!("dimensions of type {kind}"))
                .rule("only arrays have dimensions"));
        }
        if let Some(layout) = &self.layout {
            return Err(error(&path, layout.at.clone(), format!("a layout of type {kind}"))
                .rule("only arrays have a layout"));
        }
        let place = self.at.clone();
        let mut elements = self.tuple_shapes;
        match kind {
            PrimitiveType::Tuple => elements
                .into_iter()
                .map(|element| element.into_shape(age))
                .collect::<Result<_>>()
                .map(Shape::Tuple),
            PrimitiveType::Buffer => {
                let only = if elements.len() == 1 { elements.pop() } else { None };
                let held = only.map(|held| held.into_shape(age)).transpose()?;
                match held {
                    Some(Shape::Array(array)) => Ok(Shape::Buffer(array)),
                    _ => Err(error(&path.field("tuple_shapes"), place, "a buffer without its array")
                        .rule("a buffer holds exactly one array")),
                }
            }
            _ if !elements.is_empty() => {
                Err(error(&path.field("tuple_shapes"), place, format!("shapes inside type {kind}"))
                    .rule("only tuples and buffers hold shapes"))
            }
            PrimitiveType::Token => Ok(Shape::Token),
            _ => Ok(Shape::Opaque),
        }
    }

    fn element_type(&self, age: Age) -> Result<PrimitiveType> {
        let Int { value, .. } = self.element_type;
        let known = i32::try_from(value).ok().and_then(PrimitiveType::from_number);
        known.filter(|kind| age == Age::Today || kind.number() <= LAST_OLD_TYPE).ok_or_else(|| {
            let place = if value == 0 { self.at.clone() } else { at(&self.element_type) };
            error(&Path::root("element_type"), place, format!("type number {value}"))
                .rule("a shape has an element type")
                .accepts(if age == Age::Today { "1 to 36" } else { "1 to 18" })
        })
    }

    fn into_array(self, element: Element, age: Age) -> Result<ArrayShape> {
        let path = Path::root("shape");
        if !self.tuple_shapes.is_empty() {
            return Err(error(
                &path.field("tuple_shapes"),
                self.at,
                format!("shapes inside an array of {element}"),
            )
            .rule("only tuples and buffers hold shapes"));
        }
        let rank = self.dimensions.len();
        let dynamic = &self.is_dynamic_dimension;
        if age.is_old() {
            if let Some(first) = dynamic.first() {
                return Err(error(
                    &path.field("is_dynamic_dimension"),
                    at(first),
                    "a field of today's ShapeProto",
                )
                .rule("the older message has static dimensions only"));
            }
            // 0 is what nobody writes, as for any number of such a message.
            let said = self.rank.filter(|said| said.value != 0);
            if let Some(said) = said.filter(|said| usize::try_from(said.value) != Ok(rank)) {
                return Err(error(
                    &path.field("rank"),
                    at(&said),
                    format!("rank {} of {rank} sizes", said.value),
                ));
            }
        }
        if !dynamic.is_empty() && dynamic.len() != rank {
            let found = format!(
                "{} for {}",
                counted(dynamic.len() as u64, "number"),
                counted(rank as u64, "dimension")
            );
            return Err(error(&path.field("is_dynamic_dimension"), at(&dynamic[0]), found)
                .rule("every dimension is said to be dynamic or not")
                .accepts(format!("none, or {}", counted(rank as u64, "number"))));
        }
        let mut dims = Vec::with_capacity(rank);
        for (number, size) in self.dimensions.iter().enumerate() {
            let is_dynamic = dynamic.get(number).is_some_and(|flag| flag.value != 0);
            dims.push(match (u64::try_from(size.value), is_dynamic) {
                (Ok(size), false) => Dim::Static(size),
                (Ok(bound), true) => Dim::Bounded(bound),
                (Err(_), true) if size.value == UNBOUNDED_OR_COMBINE => Dim::Unbounded,
                (Err(_), _) => {
                    let found = format!("size {} of dimension {number}", size.value);
                    return Err(error(&path.field("dimensions"), at(size), found).rule(
                        "a size is not negative, except -2^63 for an unbounded dimension that is dynamic",
                    ));
                }
            });
        }
        let array = ArrayShape::new(element, dims).map_err(|cause| placed(cause, self.at.clone()))?;
        match self.layout {
            None => Ok(array.without_layout()),
            Some(layout) => {
                let place = layout.at.clone();
                array.with_layout(layout.into_layout(age)?).map_err(|cause| placed(cause, place))
            }
        }
    }
}

/// The number, which is not negative.
pub(super) fn count(number: &Int, name: &str) -> Result<u64> {
    u64::try_from(number.value).map_err(|_| {
        error(&Path::root(name), at(number), number.value).rule("the number is negative").accepts("0 or more")
    })
}

pub(super) fn at(number: &Int) -> Range<usize> {
    number.at..number.at + 1
}

/// An error about a value, with the bytes of the message that holds it.
pub(super) fn placed(cause: Error, place: Range<usize>) -> Error {
    if cause.span().is_some() {
        return cause;
    }
    let name = cause.field_name().map_or(String::new(), |name| format!("{name}: "));
    let mut error = Error::new(format!("{name}{}", cause.found())).at(place);
    if let Some(rule) = cause.broken_rule() {
        error = error.rule(rule);
    }
    match cause.accepted() {
        Some(accepts) => error.accepts(accepts),
        None => error,
    }
}
