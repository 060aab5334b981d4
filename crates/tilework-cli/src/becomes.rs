//! What `convert` makes of each array of a file that holds many.

use tilework::dialect::Known;
use tilework::ggml::Block;
use tilework::xla::{self, Shape};
use tilework::{Element, Error, PlanOptions, Result};
use tilework_copy::{Conversion, Relayout};
use tilework_files::container::{Change, Content, Format, Moved, Pattern, Placed, Tensor};

use crate::args::{Args, ConvertArgs};
use crate::many::Kept;
use crate::side::Side;
use crate::subject::Bad;

/// What is asked for, of every array.
pub struct Wish<'a> {
    to: Option<&'a str>,
    convert: Option<Element>,
    pads: Vec<Pad>,
    fill: Option<&'a str>,
    /// Whether chunks are a layout of what is written.
    keeps_chunks: bool,
}

/// New sizes for arrays of some names.
struct Pad {
    names: Pattern,
    /// None for a size as it is.
    sizes: Vec<Option<u64>>,
    text: String,
}

/// What becomes of an array, and what of it stays although something else was asked for, and why.
pub struct Becomes {
    pub change: Change,
    pub why: Option<(&'static str, Error)>,
}

impl<'a> Wish<'a> {
    /// What the arguments ask for.
    ///
    /// # Errors
    /// A layout that is no text, `--convert` without a type, and `--pad` without sizes.
    pub fn new(convert: &'a ConvertArgs, target: Format) -> std::result::Result<Wish<'a>, Bad> {
        let bad = |error: Error| Bad::new(error, "");
        let to = match &convert.to {
            None => None,
            Some(to) => Some(to.to_str().map(str::trim).ok_or_else(|| {
                let error = Error::new("--to that is not UTF-8");
                bad(error.accepts("a layout, such as 'T(8,128)' or {0,1}"))
            })?),
        };
        // What is misspelt is said once, before any array is asked whether it fits.
        let alone = to.filter(|to| to.starts_with("T(") || to.starts_with('{') && !to.starts_with("{\""));
        if let Some(text) = alone {
            xla::Layout::parse_short(text, 2).map_err(|error| Bad::new(error, text))?;
        }
        let element = match convert.convert {
            Some(None) => {
                return Err(bad(Error::new("--convert without a type")
                    .rule("arrays of a file have several types, and --to says none")
                    .accepts("--convert TYPE, such as --convert bf16")));
            }
            given => given.flatten(),
        };
        let pads =
            convert.pad.iter().map(|text| Pad::new(text)).collect::<Result<Vec<Pad>>>().map_err(bad)?;
        Ok(Wish {
            to,
            convert: element,
            pads,
            fill: convert.fill.as_deref(),
            keeps_chunks: target == Format::Zarr,
        })
    }

    /// Whether what was asked for was done to any array.
    ///
    /// # Errors
    /// A layout that fits none of them, or a type that none of them can be converted to, with the first reason.
    pub fn was_of_use(&self, is_used: bool, kept: &[Kept]) -> Result<()> {
        let Some(first) = kept.first().filter(|_| !is_used) else { return Ok(()) };
        let (found, accepts) = match (self.to, self.convert) {
            (Some(to), _) => (
                format!("--to {to}, which fits none of the arrays"),
                "a layout of as many dimensions, tiles alone such as 'T(8,128)', row-major or column-major",
            ),
            (None, Some(to)) => (
                format!("--convert {to}, which none of the arrays can be converted to"),
                "a floating-point type, such as bf16, for arrays of such types; one npy file at a time is converted to any type",
            ),
            (None, None) => return Ok(()),
        };
        Err(Error::new(found).rule(format!("{}: {}", first.name, first.why)).accepts(accepts))
    }

    /// What becomes of an array.
    ///
    /// # Errors
    /// Sizes and padding that it cannot have.
    pub fn of(&self, tensor: &Tensor, args: &Args) -> std::result::Result<Becomes, Bad> {
        let keep = |why: Option<(&'static str, Error)>| Ok(Becomes { change: Change::Keep, why });
        // Chunks are how a store keeps an array; elsewhere it is its rows.
        let is_in_chunks =
            matches!(&tensor.content, Content::Array(array) if array.said.dialect().name == "zarr");
        let to = self.to.or((is_in_chunks && !self.keeps_chunks).then_some("row-major"));
        let pad = self.pads.iter().find(|pad| pad.names.matches(&tensor.name));
        if to.is_none() && self.convert.is_none() && pad.is_none() {
            return keep(None);
        }
        let array = match &tensor.content {
            Content::Array(array) => array,
            Content::Blocks(blocks) if self.to.is_some_and(names_blocks) => {
                return match blocks.named(self.to.unwrap_or_default()) {
                    Ok(to) if to == *blocks => keep(None), // it is that already
                    Ok(to) => Ok(Becomes { change: Change::Repack(to), why: None }),
                    Err(why) => keep(Some(("layout", why))),
                };
            }
            Content::Blocks(blocks) => {
                let why = format!("{} are blocks of quantised numbers", blocks.block.name());
                return keep(Some(("blocks", Error::new(why))));
            }
            Content::Unread { .. } => return keep(None), // refused when it is written
        };
        let bad = |error: Error| Bad::new(error, "");
        let dims = match pad {
            Some(pad) => pad.of(tensor, array).map_err(bad)?,
            None => array.layout.dims().to_vec(),
        };
        // What is no number with a fraction is not made one, and counts stay whole.
        let element = self.convert.filter(|to| to.is_float() == array.element.is_float() && to.is_float());
        let is_skipped = element.is_none() && self.convert.is_some_and(|to| to != array.element);
        if is_skipped && to.is_none() && pad.is_none() {
            let (kind, into) = (array.element, self.convert.unwrap_or(array.element));
            let why = format!("{kind} is not converted to {into}, only one floating-point type to another");
            return keep(Some(("type", Error::new(why))));
        }
        let element = element.unwrap_or(array.element);
        let (to, why) = match self.to_side(to, array, element, &dims, args) {
            Ok(to) => (to, None),
            // It fits others; this one keeps its order, and becomes the rest of what is asked for.
            Err(why) if element == array.element && pad.is_none() => return keep(Some(("layout", why))),
            Err(why) => {
                (self.to_side(None, array, element, &dims, args).map_err(bad)?, Some(("layout", why)))
            }
        };
        if pad.is_none() && element == array.element && to.layout.same_buffer(&array.layout).is_yes() {
            return keep(why); // it is that already
        }
        let conversion = (element != array.element).then(|| Conversion::between(array.element, element));
        let conversion = conversion.transpose().map_err(bad)?;
        let fill = match self.fill {
            Some(text) => element.fill_bits(text, to.layout.bits()).map_err(bad)?,
            None => to.said.fill().unwrap_or(0),
        };
        let mut part = to.layout.clone();
        for (dim, &size) in array.layout.dims().iter().enumerate() {
            if part.dims()[dim] != size {
                part = part.slice(dim, 0..size, 1).map_err(bad)?;
            }
        }
        let options = PlanOptions { fill: (fill != 0).then_some(fill), ..PlanOptions::default() };
        let relayout = match conversion {
            Some(conversion) => Relayout::converting(&array.layout, &part, conversion, &options),
            None => Relayout::new(&array.layout, &part, &options),
        };
        let relayout = relayout.map_err(|error| bad(named(&tensor.name, &error)))?;
        Ok(Becomes { change: Change::Move(Box::new(Moved { to, relayout, fill })), why })
    }

    /// The layout that is asked for, of an array of this type and these sizes.
    fn to_side(
        &self,
        to: Option<&str>,
        array: &Placed,
        element: Element,
        dims: &[u64],
        args: &Args,
    ) -> Result<Placed> {
        let is_packed = element.bits() < 8 && element != Element::Pred && array.layout.bits() < 8
            || element.bits() < 8 && element != array.element;
        let Some(text) = to else {
            // Padded or converted alone, it keeps the layout that it has.
            let keeps = |order: &String| {
                let is_grid = self.keeps_chunks && array.said.dialect().name == "zarr";
                is_grid || order.starts_with('{') && !order.contains("E(")
            };
            return match array.order().filter(keeps) {
                Some(braces) => read(&packed(&braces, element, is_packed), element, dims, args),
                None => Placed::dense(element, dims, is_packed),
            };
        };
        if names_blocks(text) {
            return Err(Error::new(format!("{text} is of quantised blocks, and it is {}", array.said)));
        }
        let short = match text.starts_with('{') {
            true => Ok(text.to_owned()),
            false => xla::Layout::parse_short(text, dims.len()).map(|layout| layout.to_string()),
        };
        let found = match short {
            Ok(braces) => read(&packed(&braces, element, is_packed), element, dims, args)?,
            Err(_) => read(text, element, dims, args)?,
        };
        // XLA would pad an array of fewer dimensions to a whole tile, and no compiler asks for that.
        let tile = found.said.get::<Shape>().and_then(|shape| shape.as_array()?.layout()?.tiles().first());
        if let Some(tile) = tile.filter(|tile| tile.dims().len() > dims.len()) {
            let found =
                format!("the tile T{tile} has {} dimensions, the array {}", tile.dims().len(), dims.len());
            return Err(Error::new(found));
        }
        match found.layout.dims() == dims && found.element == element {
            true => Ok(found),
            false => Err(Error::new(format!("{} is another array than {}", found.said, array.said))),
        }
    }
}

/// Whether a text begins with the name of a type of blocks, as those of mixed rows do: `q4_0_8x8`.
fn names_blocks(text: &str) -> bool {
    let is_name = |name: &str| Block::named(name).is_some();
    is_name(text) || text.rsplit_once('_').is_some_and(|(kind, _)| is_name(kind))
}

/// The braces of a shape, for elements that are side by side although they are narrower than a byte.
fn packed(braces: &str, element: Element, is_packed: bool) -> String {
    match braces.strip_suffix('}').filter(|text| is_packed && !text.contains("E(")) {
        None => braces.to_owned(),
        Some(open) => format!("{open}{}E({})}}", if open.contains(':') { "" } else { ":" }, element.bits()),
    }
}

fn read(text: &str, element: Element, dims: &[u64], args: &Args) -> Result<Placed> {
    let side = Side::read_text(text, None, Known::array(dims, element), args).map_err(|bad| bad.error)?;
    Placed::of(side.said)
}

fn named(name: &str, error: &Error) -> Error {
    let mut named = Error::new(format!("{name}: {}", error.found()));
    if let Some(rule) = error.broken_rule() {
        named = named.rule(rule);
    }
    match error.accepted() {
        Some(accepts) => named.accepts(accepts),
        None => named,
    }
}

impl Pad {
    fn new(text: &str) -> Result<Pad> {
        let bad = || {
            Error::new(format!("--pad {text}"))
                .rule("arrays of a name get sizes")
                .accepts("PATTERN=SIZES, such as 'embed.*=32064,*'")
        };
        let (names, sizes) = text.rsplit_once('=').ok_or_else(bad)?;
        let size = |size: &str| match size.trim() {
            "*" => Some(None),
            number => number.parse().ok().map(Some),
        };
        let sizes = sizes.split(',').map(size).collect::<Option<Vec<Option<u64>>>>().ok_or_else(bad)?;
        Ok(Pad { names: Pattern::new(names), sizes, text: text.to_owned() })
    }

    /// The new sizes of an array.
    fn of(&self, tensor: &Tensor, array: &Placed) -> Result<Vec<u64>> {
        let old = array.layout.dims();
        let new: Vec<u64> = self.sizes.iter().zip(old).map(|(new, &old)| new.unwrap_or(old)).collect();
        if self.sizes.len() != old.len() || new.iter().zip(old).any(|(new, old)| new < old) {
            return Err(Error::new(format!(
                "--pad {} of {}, which is {}",
                self.text, tensor.name, array.said
            ))
            .rule("an array gets as many sizes as it has, none of them smaller"));
        }
        Ok(new)
    }
}
