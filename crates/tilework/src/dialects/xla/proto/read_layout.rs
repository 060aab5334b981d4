//! Layouts in messages; see `read`.

use std::ops::Range;

use super::read::{ShapeMessage, at, count, placed};
use super::wire::{Int, Path, Reader, error};
use super::write::{Age, UNBOUNDED_OR_COMBINE};
use crate::element::Element;
use crate::error::Result;
use crate::xla::value::layout::{Layout, SplitConfig};
use crate::xla::value::padding::{Padding, PaddingValue};
use crate::xla::value::primitive::PrimitiveType;
use crate::xla::value::tile::{Tile, TileDim};

/// The older layout's `DENSE`.
pub(super) const DENSE_FORMAT: i64 = 1;

/// The names of the fields by their numbers, in both ages.
const LAYOUT_FIELDS: [&str; 18] = [
    "",
    "minor_to_major",
    "padded_dimensions",
    "padding_value",
    "format",
    "max_sparse_elements",
    "tiles",
    "element_size_in_bits",
    "memory_space",
    "dim_level_types",
    "physical_shape",
    "index_primitive_type",
    "pointer_primitive_type",
    "dim_unique",
    "dim_ordered",
    "dynamic_shape_metadata_prefix_bytes",
    "tail_padding_alignment_in_elements",
    "split_configs",
];
const TILE_FIELDS: [&str; 2] = ["", "dimensions"];
const SPLIT_CONFIG_FIELDS: [&str; 3] = ["", "dimension", "split_indices"];

/// `LayoutProto` of both ages: the fields of one age do not have the numbers of the other's.
#[derive(Default)]
pub(super) struct LayoutMessage {
    pub(super) at: Range<usize>,
    minor_to_major: Vec<Int>,
    padded_dimensions: Vec<Int>,
    padding_value: Int,
    format: Int,
    tiles: Vec<TileMessage>,
    element_size_in_bits: Int,
    memory_space: Int,
    physical_shape: Option<Box<ShapeMessage>>,
    index_primitive_type: Int,
    pointer_primitive_type: Int,
    metadata_prefix_bytes: Int,
    tail_padding_alignment: Int,
    split_configs: Vec<SplitConfig>,
    /// A field that only today's message has: its name and place.
    of_today: Option<(&'static str, Range<usize>)>,
}

pub(super) struct TileMessage {
    at: Range<usize>,
    dimensions: Vec<Int>,
}

impl LayoutMessage {
    pub(super) fn read(bytes: &[u8], age: Age) -> Result<LayoutMessage> {
        let mut message = LayoutMessage::default();
        message.merge(Reader::new(bytes), &Path::root("layout"), age, 0)?;
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
        while let Some(field) = reader.field(&LAYOUT_FIELDS, path)? {
            let inner = path.field(field.name);
            if (6..=17).contains(&field.number) {
                self.of_today.get_or_insert_with(|| (field.name, field.range()));
            }
            match field.number {
                1 => field.ints(&mut self.minor_to_major, path)?,
                2 if age.is_old() => field.ints(&mut self.padded_dimensions, path)?,
                3 if age.is_old() => self.padding_value = field.int(path)?,
                4 if age.is_old() => self.format = field.int(path)?,
                5 if age.is_old() => field.int(path).map(drop)?,
                6 => self.tiles.push(TileMessage::read(field.message(path)?, &inner)?),
                7 => self.element_size_in_bits = field.int(path)?,
                8 => self.memory_space = field.int(path)?,
                10 => {
                    let shape = self.physical_shape.get_or_insert_default();
                    shape.merge(field.message(path)?, &inner, age, depth + 1)?;
                }
                11 => self.index_primitive_type = field.int(path)?,
                12 => self.pointer_primitive_type = field.int(path)?,
                15 => self.metadata_prefix_bytes = field.int(path)?,
                16 => self.tail_padding_alignment = field.int(path)?,
                17 => self.split_configs.push(split_config(field.message(path)?, &inner)?),
                _ => {}
            }
        }
        Ok(())
    }

    pub(super) fn into_layout(self, age: Age) -> Result<Layout> {
        let order = self.minor_to_major.iter().map(|dim| count(dim, "minor_to_major").map(saturate));
        let order: Vec<usize> = order.collect::<Result<_>>()?;
        let layout = Layout::new(order).map_err(|cause| placed(cause, self.at.clone()))?;
        match age {
            Age::Today => self.with_fields_of_today(layout),
            Age::Old(_) => self.with_old_fields(layout),
        }
    }

    fn with_fields_of_today(self, layout: Layout) -> Result<Layout> {
        let tiles = self.tiles.iter().map(TileMessage::tile).collect::<Result<Vec<Tile>>>()?;
        let bits = &self.element_size_in_bits;
        let element_size = u32::try_from(bits.value).map_err(|_| {
            error(&Path::root("element_size_in_bits"), at(bits), format!("{} bits", bits.value))
                .accepts("0 to 4294967295")
        })?;
        // 0 is what a message without the field says, and stands for the default of 1.
        let alignment = count(&self.tail_padding_alignment, "tail_padding_alignment_in_elements")?.max(1);
        let metadata = count(&self.metadata_prefix_bytes, "dynamic_shape_metadata_prefix_bytes")?;
        let space = count(&self.memory_space, "memory_space")?;
        let index = sparse_type(&self.index_primitive_type, "index_primitive_type")?;
        let pointer = sparse_type(&self.pointer_primitive_type, "pointer_primitive_type")?;
        let physical = self.physical_shape.map(|shape| shape.into_shape(Age::Today)).transpose()?;
        let layout = layout.with_element_size_in_bits(element_size).with_physical_shape(physical);
        layout
            .with_tiles(tiles)
            .and_then(|layout| layout.with_tail_padding_alignment_in_elements(alignment))
            .and_then(|layout| layout.with_sparse_types(index, pointer))
            .and_then(|layout| layout.with_memory_space(space))
            .and_then(|layout| layout.with_split_configs(self.split_configs))
            .and_then(|layout| layout.with_dynamic_shape_metadata_prefix_bytes(metadata))
            .map_err(|cause| placed(cause, self.at))
    }

    fn with_old_fields(self, layout: Layout) -> Result<Layout> {
        if let Some((name, place)) = self.of_today {
            return Err(error(&Path::root(name), place, "a field of today's LayoutProto")
            .rule(
                "the older layout has an order and padding, and skipping the field would change its meaning",
            )
            .accepts("fields 1 to 5, or reading it as today's message"));
        }
        if !(0..=DENSE_FORMAT).contains(&self.format.value) {
            return Err(error(
                &Path::root("format"),
                at(&self.format),
                format!("format {}", self.format.value),
            )
            .rule("the elements of a sparse array have no fixed places")
            .accepts("1, which is DENSE, or none"));
        }
        let value = &self.padding_value;
        let known = i32::try_from(value.value).ok().and_then(PaddingValue::from_number);
        let known = known.ok_or_else(|| {
            error(&Path::root("padding_value"), at(value), format!("padding value {}", value.value))
                .accepts("0 to 5")
        })?;
        let padded = self.padded_dimensions.iter().map(|size| count(size, "padded_dimensions"));
        let padded_dimensions: Vec<u64> = padded.collect::<Result<_>>()?;
        let says_something =
            !padded_dimensions.is_empty() || layout.rank() == 0 && known != PaddingValue::Invalid;
        let padding = says_something.then_some(Padding { padded_dimensions, value: known });
        layout.with_padding(padding).map_err(|cause| placed(cause, self.at))
    }
}

impl TileMessage {
    pub(super) fn read(mut reader: Reader<'_>, path: &Path<'_>) -> Result<TileMessage> {
        let mut tile = TileMessage { at: reader.range(), dimensions: Vec::new() };
        while let Some(field) = reader.field(&TILE_FIELDS, path)? {
            if field.number == 1 {
                field.ints(&mut tile.dimensions, path)?;
            }
        }
        Ok(tile)
    }

    pub(super) fn tile(&self) -> Result<Tile> {
        let dims = self.dimensions.iter().map(|size| match size.value {
            UNBOUNDED_OR_COMBINE => Ok(TileDim::Combine),
            _ => count(size, "tiles.dimensions").map(TileDim::Size),
        });
        Tile::from_dims(dims.collect::<Result<Vec<TileDim>>>()?)
            .map_err(|cause| placed(cause, self.at.clone()))
    }
}

/// A `SplitConfigProto`. Whether its dimension exists is for the layout to say.
fn split_config(mut reader: Reader<'_>, path: &Path<'_>) -> Result<SplitConfig> {
    let (mut dimension, mut indices) = (Int::default(), Vec::new());
    while let Some(field) = reader.field(&SPLIT_CONFIG_FIELDS, path)? {
        match field.number {
            1 => dimension = field.int(path)?,
            2 => field.ints(&mut indices, path)?,
            _ => {}
        }
    }
    let indices = indices.iter().map(|index| count(index, "split_configs.split_indices"));
    Ok(SplitConfig {
        dimension: count(&dimension, "split_configs.dimension")?,
        split_indices: indices.collect::<Result<_>>()?,
    })
}

fn sparse_type(number: &Int, name: &str) -> Result<Option<Element>> {
    if number.value == 0 {
        return Ok(None);
    }
    let known = i32::try_from(number.value).ok().and_then(PrimitiveType::from_number);
    known.and_then(PrimitiveType::element).map(Some).ok_or_else(|| {
        error(&Path::root(name), at(number), format!("type number {}", number.value))
            .accepts("0, or the number of an integer type such as 8, u32")
    })
}

/// A dimension number that does not fit the machine is past the end of any list too.
fn saturate(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
