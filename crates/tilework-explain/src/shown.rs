//! The same as objects, as `tilework show --json` prints them.

use serde::ser::{SerializeMap, SerializeSeq, Serializer};
use serde::{Serialize, ser};
use tilework::dialect::{self, Described, Fact};
use tilework::{Growth, Layout, Level, Padding, Result};

use crate::size::Sizes;

/// What a notation says, as `tilework show --json` prints it.
pub struct Shown {
    /// The canonical text.
    pub shape: String,
    /// The name of the notation.
    pub notation: &'static str,
    /// "array", "tuple", or the notation's own word.
    pub kind: &'static str,
    /// What it says, as values, and the layout.
    array: Option<About>,
    /// The elements of a tuple that are no tuples themselves.
    leaves: Option<Vec<Leaf>>,
    /// Sums over the arrays of a tuple.
    total: Option<Total>,
}

/// The values of an array.
struct About {
    facts: dialect::Facts,
    /// None if something is known at run time only.
    layout: Option<Function>,
}

impl Shown {
    /// Everything about what a notation says.
    ///
    /// # Errors
    /// What has bounds, and yet more bytes than can be counted.
    pub fn new(said: &dyn Described) -> Result<Shown> {
        let arrays = Arrays::of(said)?;
        let Some(leaves) = arrays.leaves() else { return Ok(Shown::of(said, arrays.only())) };
        let leaf = |(leaf, layout): &(dialect::Leaf, Option<Layout>)| Leaf {
            path: leaf.path.clone(),
            shown: Shown::of(&*leaf.said, layout.as_ref()),
        };
        let shown = Shown::of(said, None);
        let leaves = leaves.iter().map(leaf).collect();
        Ok(Shown { leaves: Some(leaves), total: Some(arrays.total()), ..shown })
    }

    fn of(said: &dyn Described, layout: Option<&Layout>) -> Shown {
        let facts = said.facts();
        let about = About { facts, layout: layout.map(Function::new) };
        Shown {
            shape: said.to_string(),
            notation: said.dialect().name,
            kind: said.kind(),
            array: (!about.facts.fields.is_empty()).then_some(about),
            leaves: None,
            total: None,
        }
    }

    /// The function of an array; none of a tuple, or if something is known at run time only.
    pub fn layout(&self) -> Option<&Function> {
        self.array.as_ref()?.layout.as_ref()
    }
}

impl Serialize for Shown {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("shape", &self.shape)?;
        map.serialize_entry("notation", self.notation)?;
        map.serialize_entry("kind", self.kind)?;
        if let Some(array) = &self.array {
            map.serialize_entry(array.facts.about, array)?;
        }
        if let Some(leaves) = &self.leaves {
            map.serialize_entry("leaves", leaves)?;
        }
        if let Some(total) = &self.total {
            map.serialize_entry("total", total)?;
        }
        map.end()
    }
}

impl Serialize for About {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, fact) in &self.facts.fields {
            map.serialize_entry(name, &Value(fact))?;
        }
        let function =
            self.layout.as_ref().map(|function| OfLayout { function, facts: &self.facts.of_layout });
        map.serialize_entry("layout", &function)?;
        map.end()
    }
}

/// A layout, with what its notation says of it.
#[derive(Serialize)]
struct OfLayout<'a> {
    #[serde(flatten)]
    function: &'a Function,
    #[serde(flatten, serialize_with = "pairs")]
    facts: &'a [(&'static str, Fact)],
}

fn pairs<S: Serializer>(facts: &[(&'static str, Fact)], serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    facts.iter().try_for_each(|(name, fact)| map.serialize_entry(name, &Value(fact)))?;
    map.end()
}

/// A value of a notation.
struct Value<'a>(&'a Fact);

impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Fact::Null => serializer.serialize_none(),
            Fact::Bool(value) => serializer.serialize_bool(*value),
            Fact::Number(number) => serializer.serialize_i128(*number),
            Fact::Text(text) => serializer.serialize_str(text),
            Fact::List(items) => {
                let mut list = serializer.serialize_seq(Some(items.len()))?;
                items.iter().try_for_each(|item| list.serialize_element(&Value(item)))?;
                list.end()
            }
            other => Err(ser::Error::custom(format!("a value of a new kind: {other:?}"))),
        }
    }
}

/// The arrays that a notation says, each lowered once.
pub(crate) enum Arrays {
    One(Option<Layout>),
    Several(Vec<(dialect::Leaf, Option<Layout>)>),
}

impl Arrays {
    /// Those of an array or a tuple.
    ///
    /// # Errors
    /// An array without places where nothing is open: it has more bytes than can be counted.
    pub(crate) fn of(said: &dyn Described) -> Result<Arrays> {
        let Some(leaves) = said.leaves() else { return one(said).map(Arrays::One) };
        let each = leaves.into_iter().map(|leaf| {
            let layout = one(&*leaf.said)?;
            Ok((leaf, layout))
        });
        each.collect::<Result<_>>().map(Arrays::Several)
    }

    pub(crate) fn only(&self) -> Option<&Layout> {
        match self {
            Arrays::One(layout) => layout.as_ref(),
            Arrays::Several(_) => None,
        }
    }

    pub(crate) fn leaves(&self) -> Option<&[(dialect::Leaf, Option<Layout>)]> {
        match self {
            Arrays::One(_) => None,
            Arrays::Several(leaves) => Some(leaves),
        }
    }

    /// Sums over the arrays of a tuple.
    pub(crate) fn total(&self) -> Total {
        let mut total = Total { elements: 0, element_bytes: 0, allocated_bytes: 0 };
        for layout in self.leaves().unwrap_or_default().iter().filter_map(|(_, layout)| layout.as_ref()) {
            total.elements += u128::from(layout.len());
            total.element_bytes += layout.element_bytes();
            total.allocated_bytes += u128::from(layout.bytes());
        }
        total
    }
}

/// The layout of what is no tuple; none for what is no array, or has sizes that are known at run time only.
fn one(said: &dyn Described) -> Result<Option<Layout>> {
    match said.layout() {
        Ok(layout) => Ok(Some(layout)),
        Err(_) if said.element().is_none() || said.open().is_some() => Ok(None),
        Err(error) => Err(error),
    }
}

/// The formula of the offset, if it is short enough for people.
pub(crate) fn formula(layout: &Layout) -> Option<String> {
    let parts = layout.index_parts().len();
    let text = (parts <= 200).then(|| layout.formula())?;
    (text.chars().count() <= 2000).then_some(text)
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
#[derive(Clone, Copy, Serialize)]
pub struct Total {
    /// Of all arrays.
    pub elements: u128,
    /// What elements take.
    pub element_bytes: u128,
    /// What is allocated.
    pub allocated_bytes: u128,
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
    /// The exchange of places after that, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub swizzle: Option<String>,
    /// Null if it is too long for people.
    pub formula: Option<String>,
    /// Dimensions whose elements share their places.
    pub broadcast: Vec<usize>,
    /// Null if not decided.
    pub packed: Option<bool>,
}

impl Function {
    /// What a layout is and costs.
    pub fn new(layout: &Layout) -> Function {
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
            strides: layout.canon().strides().filter(|_| layout.swizzle().is_none()),
            swizzle: layout.swizzle().map(ToString::to_string),
            formula: formula(layout),
            broadcast: layout.broadcast_dims(),
            packed: sizes.packed,
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
