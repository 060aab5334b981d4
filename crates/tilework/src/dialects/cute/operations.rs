//! The algebra by the names of CuTe IR's operations, on texts: for tests that have tables of them.

use super::composed::{Composed, Function};
use super::layout::Layout;
use super::tiler::Tiler;
use super::tuple::{IntTuple, Leaf};
use crate::error::{Error, ErrorKind, Result, counted};

/// What an operation of CuTe IR gives for these texts, as a text. `param` is what stands in `<…>` behind its name.
///
/// ```
/// use tilework::cute::operation;
/// assert_eq!(operation("coalesce", None, &["(2,4):(1,2)"])?, "8:1");
/// assert_eq!(operation("group_modes", Some("<0,2>"), &["(4,5,6):(1,4,20)"])?, "((4,5),6):((1,4),20)");
/// # Ok::<(), tilework::Error>(())
/// ```
///
/// # Errors
/// An operation that is not known, texts that cannot be read, and those of the operation.
pub fn operation(name: &str, param: Option<&str>, inputs: &[&str]) -> Result<String> {
    let inputs = Inputs { name, inputs, param };
    match inputs.of_tuples()? {
        Some(text) => Ok(text),
        None => inputs.of_layouts(),
    }
}

struct Inputs<'a> {
    name: &'a str,
    inputs: &'a [&'a str],
    param: Option<&'a str>,
}

/// A function of a layout and a tiler.
type ByTiler = fn(&Layout, &Tiler) -> Result<Layout>;

impl Inputs<'_> {
    fn text(&self, place: usize) -> Result<&str> {
        self.inputs.get(place).copied().ok_or_else(|| {
            Error::new(format!("{} of {}", self.name, counted(self.inputs.len() as u64, "value")))
                .field("inputs")
        })
    }

    fn has(&self, place: usize) -> bool {
        self.inputs.len() > place
    }

    fn tuple(&self, place: usize) -> Result<IntTuple> {
        IntTuple::parse(self.text(place)?)
    }

    fn layout(&self, place: usize) -> Result<Layout> {
        Layout::parse(self.text(place)?)
    }

    fn composed(&self, place: usize) -> Result<Composed> {
        Composed::parse(self.text(place)?)
    }

    fn tiler(&self, place: usize) -> Result<Tiler> {
        Tiler::parse(self.text(place)?)
    }

    /// Whether a value is a tuple, and no layout.
    fn is_tuple(&self, place: usize) -> bool {
        self.tuple(place).is_ok()
    }

    fn numbers<T: std::str::FromStr>(&self) -> Result<Vec<T>> {
        let text = self.param.unwrap_or("");
        let words = text.split(|c: char| !c.is_ascii_digit() && c != '-').filter(|word| !word.is_empty());
        let bad = |word: &str| Error::new(format!("{word} in {text}")).field("param");
        words.map(|word| word.parse().map_err(|_| bad(word))).collect()
    }

    fn pair<T: std::str::FromStr + Copy>(&self) -> Result<(T, T)> {
        match self.numbers()?[..] {
            [a, b] => Ok((a, b)),
            _ => {
                Err(Error::new(format!("{} without two numbers", self.name)).field("param").accepts("<a,b>"))
            }
        }
    }

    /// Operations of tuples; none if it is no such.
    fn of_tuples(&self) -> Result<Option<String>> {
        let is_tuple = self.is_tuple(0);
        let found = match self.name {
            "tuple_add" => self.tuple(0)?.plus(&self.tuple(1)?)?,
            "tuple_sub" => self.tuple(0)?.minus(&self.tuple(1)?)?,
            "tuple_mul" => self.tuple(0)?.times(&self.tuple(1)?)?,
            "tuple_product" => self.tuple(0)?.product()?.into(),
            "tuple_product_each" => self.tuple(0)?.product_each()?,
            "shape_div" => self.tuple(0)?.shape_div(&self.tuple(1)?)?,
            "ceil_div" => self.ceil_div()?,
            "crd2idx" if self.has(2) => Layout::new(self.tuple(1)?, self.tuple(2)?)?.eval(&self.tuple(0)?)?,
            "crd2idx" if !self.is_tuple(1) => self.layout(1)?.eval(&self.tuple(0)?)?,
            "crd2idx" => self.tuple(0)?.index_in(&self.tuple(1)?)?.into(),
            "idx2crd" if self.has(2) => {
                Layout::new(self.tuple(1)?, self.tuple(2)?)?.digits_of(&self.tuple(0)?)?
            }
            "idx2crd" if !self.is_tuple(1) => self.layout(1)?.digits_of(&self.tuple(0)?)?,
            "idx2crd" => self.tuple(0)?.coord_in(&self.tuple(1)?)?,
            "increment_coord" => self.tuple(0)?.increment(&self.tuple(1)?)?,
            "to_coord" | "to_int_tuple" | "to_shape" | "to_stride" => self.tuple(0)?,
            "get" if is_tuple => self.tuple(0)?.get(&self.numbers::<usize>()?)?.clone(),
            "size" if is_tuple => self.tuple(0)?.get(&self.numbers::<usize>()?)?.product()?.into(),
            "flatten" if is_tuple => self.tuple(0)?.flatten(),
            "group_modes" if is_tuple => {
                let (from, to) = self.pair()?;
                self.tuple(0)?.group(from, to)?
            }
            "slice" if self.is_tuple(1) => self.tuple(1)?.slice(&self.tuple(0)?)?,
            "dice" if self.is_tuple(1) => self.tuple(1)?.dice(&self.tuple(0)?)?,
            "get_shape" if self.text(0)?.trim_start().starts_with('[') => self.tiler(0)?.shape()?,
            "get_stride" if self.text(0)?.trim_start().starts_with('[') => self.tiler(0)?.stride()?,
            "size" if self.text(0)?.trim_start().starts_with('[') => {
                self.tiler(0)?.shape()?.product()?.into()
            }
            _ => return Ok(None),
        };
        Ok(Some(found.to_string()))
    }

    /// Tuples of tuples, or what a layout leaves of a shape.
    fn ceil_div(&self) -> Result<IntTuple> {
        let size = match self.is_tuple(0) {
            true => self.tuple(0)?,
            false => self.layout(0)?.shape().clone(),
        };
        match self.is_tuple(1) {
            true => size.ceil_div(&self.tuple(1)?),
            false => left(&size, &self.tiler(1)?),
        }
    }

    fn of_layouts(&self) -> Result<String> {
        let by_tiler: Option<ByTiler> = match self.name {
            "composition" => Some(Layout::compose_by),
            "logical_divide" => Some(Layout::logical_divide),
            "zipped_divide" => Some(Layout::zipped_divide),
            "tiled_divide" => Some(Layout::tiled_divide),
            "flat_divide" => Some(Layout::flat_divide),
            "logical_product" => Some(Layout::logical_product),
            "zipped_product" => Some(Layout::zipped_product),
            "tiled_product" => Some(Layout::tiled_product),
            "flat_product" => Some(Layout::flat_product),
            _ => None,
        };
        let first = self.composed(0);
        if let Some(operation) = by_tiler {
            let tiler = self.tiler(1)?;
            return Ok(first?.with(|layout| operation(layout, &tiler))?.to_string());
        }
        let made = match self.name {
            "coalesce" if self.has(1) => first?.with(|layout| layout.coalesce_by(&self.tuple(1)?)),
            "coalesce" => first?.with(Layout::coalesce),
            "flatten" => first?.with(Layout::flatten),
            "filter" => first?.with(Layout::filter),
            "filter_zeros" => first?.with(Layout::filter_zeros),
            "blocked_product" => first?.with(|layout| layout.blocked_product(&self.layout(1)?)),
            "raked_product" => first?.with(|layout| layout.raked_product(&self.layout(1)?)),
            "tile_to_shape" if self.has(2) => {
                first?.with(|layout| layout.tile_to_shape_in(&self.tuple(1)?, &self.tuple(2)?))
            }
            "tile_to_shape" => first?.with(|layout| layout.tile_to_shape(&self.tuple(1)?)),
            "group_modes" => {
                let (from, to) = self.pair()?;
                first?.with(|layout| layout.group(from, to))
            }
            "get" => first?.with(|layout| layout.get(&self.numbers::<usize>()?)),
            "select" => first?.with(|layout| layout.select(&self.numbers::<usize>()?)),
            "slice" => self.composed(1)?.with(|layout| layout.slice(&self.tuple(0)?)),
            "dice" => self.composed(1)?.with(|layout| layout.dice(&self.tuple(0)?)),
            "recast_layout" => {
                let (new, old) = self.pair()?;
                first?.recast(new, old)
            }
            "append_to_rank" => {
                let rank = self.numbers::<usize>()?.first().copied().unwrap_or(0);
                first?.with(|layout| layout.append(rank))
            }
            "complement" if self.has(1) => {
                let size = match self.is_tuple(1) {
                    true => self.tuple(1)?,
                    false => self.layout(1)?.shape().clone(),
                };
                plain(first?)?.complement_to(&size).map(Composed::from)
            }
            "complement" => plain(first?)?.complement().map(Composed::from),
            "right_inverse" => plain(first?)?.right_inverse().map(Composed::from),
            "left_inverse" => plain(first?)?.left_inverse().map(Composed::from),
            "make_identity_layout" => Layout::identity(self.tuple(0)?).map(Composed::from),
            "make_layout" if self.has(1) => Layout::new(self.tuple(0)?, self.tuple(1)?).map(Composed::from),
            "make_layout" => Layout::compact(self.tuple(0)?).map(Composed::from),
            "make_ordered_layout" => Layout::ordered(self.tuple(0)?, &self.tuple(1)?).map(Composed::from),
            "make_layout_like" => first?.layout().compact_like().map(Composed::from),
            _ => return self.of_one(first),
        };
        Ok(made?.to_string())
    }

    /// Operations that give something else than a layout.
    fn of_one(&self, first: Result<Composed>) -> Result<String> {
        Ok(match self.name {
            "size" => first?.layout().get(&self.numbers::<usize>()?)?.size()?.to_string(),
            "cosize" => {
                let composed = first?;
                match composed.is_swizzle() {
                    true => composed.layout().get(&self.numbers::<usize>()?)?.cosize()?.to_string(),
                    false => return Err(Error::new(format!("the cosize of {composed}")).field("layout")),
                }
            }
            "max_alignment" => plain(first?)?.max_alignment()?.to_string(),
            "get_shape" => first?.layout().get(&self.numbers::<usize>()?)?.shape().to_string(),
            "get_stride" => first?.layout().get(&self.numbers::<usize>()?)?.stride().to_string(),
            "layout_eval" => self.composed(1)?.eval(&self.tuple(0)?)?.to_string(),
            "composed_get_inner" => match first?.function() {
                Function::Swizzle(swizzle) => swizzle.to_string(),
                Function::Layout(layout) => layout.to_string(),
            },
            "composed_get_offset" => first?.offset().to_string(),
            "composed_get_outer" => first?.layout().to_string(),
            name => {
                return Err(Error::new(format!("there is no operation {name}"))
                    .of_kind(ErrorKind::Unsupported)
                    .field("operation"));
            }
        })
    }
}

/// The layout of a composition that is nothing else.
fn plain(composed: Composed) -> Result<Layout> {
    match composed.is_plain() {
        true => Ok(composed.layout().clone()),
        false => Err(Error::new(format!("{composed} is no plain layout"))
            .of_kind(ErrorKind::Unsupported)
            .field("layout")),
    }
}

/// How many tiles cover a shape.
fn left(size: &IntTuple, tiler: &Tiler) -> Result<IntTuple> {
    match (size, tiler) {
        (_, Tiler::Layout(layout)) => Ok(layout.complement_to(&size.product()?.into())?.shape().clone()),
        (_, Tiler::Any) => Ok(IntTuple::Leaf(Leaf::Int(1))),
        (IntTuple::Leaf(_), Tiler::Tuple(_)) => size.ceil_div(&tiler.shape()?.product()?.into()),
        (IntTuple::Tuple(sizes), Tiler::Tuple(tilers)) if tilers.len() <= sizes.len() => sizes
            .iter()
            .enumerate()
            .map(|(place, size)| tilers.get(place).map_or(Ok(size.clone()), |tiler| left(size, tiler)))
            .collect(),
        _ => Err(super::tuple::not_congruent(size, &IntTuple::EMPTY)),
    }
}
