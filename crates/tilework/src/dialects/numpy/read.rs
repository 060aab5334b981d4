//! Reading what NumPy and PyTorch print.

use std::ops::Range;

use super::array::{Array, Library, Order};
use crate::dialect::Known;
use crate::dialect::python::{self, Item, Kind, Value, attribute};
use crate::error::{Error, ErrorKind, Result, quoted};

/// The words before a value, with or without `=`.
const KEYS: [&str; 13] = [
    "shape",
    "size",
    "dtype",
    "typestr",
    "descr",
    "strides",
    "stride",
    "order",
    "fortran_order",
    "memory_format",
    "offset",
    "storage_offset",
    "layout",
];

/// What libraries print of an array besides, which says nothing about where its elements are.
const OTHERS: [&str; 18] = [
    "sharding",
    "weak_type",
    "vma",
    "device",
    "requires_grad",
    "is_quantized",
    "qparams",
    "data",
    "version",
    "mask",
    "itemsize",
    "nbytes",
    "ndim",
    "flags",
    "cpu",
    "cuda",
    "mps",
    "xpu",
];

/// What libraries print around the parts of an array.
const WRAPPERS: [&str; 7] =
    ["ShapeDtypeStruct", "ShapedArray", "TensorMetadata", "FakeTensor", "Tensor", "tensor", "array"];

/// Whether values of this key are read.
pub(super) fn is_read(key: &str) -> bool {
    KEYS.contains(&key)
}

/// Whether a key is one that libraries print.
pub(super) fn is_known(key: &Value) -> bool {
    key.word().is_some_and(|word| is_read(word) || OTHERS.contains(&word))
}

/// Whether this stands around the parts of an array.
pub(super) fn is_wrapper(name: &str) -> bool {
    WRAPPERS.contains(&attribute(name))
}

/// Whether this is a device without a number, as PyTorch prints it behind an array.
pub(super) fn is_device(name: &str) -> bool {
    matches!(name, "cpu" | "cuda" | "mps" | "xpu")
}

/// Whether this is a memory format of PyTorch.
pub(super) fn is_format(name: &str) -> bool {
    name == "torch.preserve_format" || format(name, &(0..0)).is_ok_and(|order| order.is_some())
}

/// Reads a text; what it does not say of type and sizes is known from elsewhere.
pub(super) fn read(text: &str, known: &Known) -> Result<Array> {
    let items = python::values(text, is_read)?;
    let mut reader = Reader { text, ..Reader::default() };
    reader.items(&items)?;
    reader.array(text, known)
}

/// The most bytes of a text that an error says again.
const SHOWN: usize = 80;

/// Whether each number from 0 on stands there once.
fn is_order(text: &str) -> bool {
    let numbers: Vec<&str> = text.split(',').take(SHOWN).map(str::trim).collect();
    (0..numbers.len()).all(|dim| numbers.contains(&dim.to_string().as_str()))
}

/// Something that a text says, and where.
type Part<T> = Option<(T, Range<usize>)>;

/// What has been read so far.
#[derive(Default)]
struct Reader<'a> {
    text: &'a str,
    element: Part<crate::element::Element>,
    dims: Part<Vec<u64>>,
    strides: Part<Vec<(i64, Range<usize>)>>,
    order: Part<Order>,
    offset: Part<u64>,
    /// The first of PyTorch's own words.
    torch: Part<()>,
}

/// Takes a part that may be there once.
fn once<T>(part: &mut Part<T>, what: &str, value: T, span: &Range<usize>) -> Result<()> {
    match part {
        None => {
            *part = Some((value, span.clone()));
            Ok(())
        }
        Some(_) => Err(Error::new(format!("{what} a second time"))
            .at(span.clone())
            .rule("each thing is said once")
            .accepts(format!(
                "one of the two; keys such as shape=, dtype= and strides= say what {what} are"
            ))),
    }
}

impl Reader<'_> {
    fn items(&mut self, items: &[Item]) -> Result<()> {
        let mut items = items.iter().peekable();
        while let Some(item) = items.next() {
            if let Some(key) = &item.key {
                self.keyed(key, &item.value)?;
                continue;
            }
            // A word of a value to come, without an equals sign: `strides (20, 4)`, `stride() (5, 1)`.
            let Some(word) = item.value.word().filter(|word| is_read(word)) else {
                self.alone(&item.value)?;
                let Kind::Index(..) = item.value.kind else { continue };
                // Strides as graphs of PyTorch have them: `f32[8, 128][128, 1]`.
                let end = item.value.span.end;
                if let Some(next) = items.next_if(|next| next.key.is_none() && next.value.span.start == end) {
                    self.bracketed(&next.value)?;
                    self.torch(&next.value.span);
                    self.strides(&next.value)?;
                }
                continue;
            };
            match items.next() {
                Some(Item { key: None, value }) => self.keyed(&item.value, value)?,
                _ => {
                    let end = item.value.span.end;
                    return Err(Error::new(format!("nothing after {word}"))
                        .at(end..end)
                        .accepts("its value, such as (5, 1)"));
                }
            }
        }
        Ok(())
    }

    /// Strides right behind sizes are in square brackets, as those are. In round ones they may be meant as an order.
    fn bracketed(&self, strides: &Value) -> Result<()> {
        let text = self.text.get(strides.span.clone()).unwrap_or_default();
        match text.strip_prefix('(').and_then(|text| text.strip_suffix(')')) {
            None => Ok(()),
            Some(inner) => Err(strides
                .error("an order or strides in round brackets")
                .rule("an order is in braces, and strides right behind the sizes are in square brackets")
                .accepts(match is_order(inner) {
                    _ if inner.len() > SHOWN => "square brackets".to_owned(),
                    true => format!("{{{inner}}} or [{inner}]"),
                    false => format!("[{inner}]"),
                })),
        }
    }

    /// A value by itself.
    fn alone(&mut self, value: &Value) -> Result<()> {
        match &value.kind {
            Kind::Name(name) if is_device(name) => Ok(()),
            Kind::Name(name) => match format(name, &value.span)? {
                Some(order) => self.format(order, value),
                None => self.element(value),
            },
            Kind::Text(_) => self.element(value),
            Kind::List(_) => once(&mut self.dims, "sizes", value.sizes()?, &value.span),
            Kind::Dict(items) => self.items(items),
            Kind::Call(name, items) if is_wrapper(name) => self.items(items),
            Kind::Call(name, _) => match attribute(name) {
                "Size" => {
                    self.torch(&value.span);
                    once(&mut self.dims, "sizes", value.sizes()?, &value.span)
                }
                "dtype" => self.element(value),
                key if is_read(key) => {
                    let at = value.span.start..value.span.start + name.len();
                    self.keyed(&Value { kind: Kind::Name(name), span: at }, value)
                }
                _ => self.typed(name, value),
            },
            Kind::Index(name, _) => self.typed(name, value),
            Kind::Number(_) => Err(value.error("a number by itself").accepts("sizes such as (3, 5)")),
            Kind::Kept(_) => Ok(()),
        }
    }

    /// `float32[3,5]`, also followed by strides: `f32[8, 128][128, 1]`.
    fn typed(&mut self, name: &str, value: &Value) -> Result<()> {
        let at = value.span.start..value.span.start + name.len();
        self.element(&Value { kind: Kind::Name(name), span: at.clone() })?;
        let (Kind::Call(_, items) | Kind::Index(_, items)) = &value.kind else { return Ok(()) };
        let sizes = Value { kind: Kind::List(items.clone()), span: at.end..value.span.end };
        once(&mut self.dims, "sizes", sizes.sizes()?, &sizes.span)
    }

    /// A value with what it is.
    fn keyed(&mut self, key: &Value, value: &Value) -> Result<()> {
        let Some(word) = key.word() else { return Err(key.error("this is no word")) };
        let nothing = matches!(value.kind, Kind::Name("None"));
        match word {
            "shape" | "size" => once(&mut self.dims, "sizes", value.sizes()?, &value.span),
            "dtype" | "typestr" => self.element(value),
            // A list of fields says the same as the word that npy files have instead.
            "descr" if matches!(value.kind, Kind::List(_)) => Ok(()),
            "descr" => self.element(value),
            "strides" | "stride" | "memory_format" if nothing => Ok(()),
            "strides" => self.strides(value),
            "stride" => {
                self.torch(&key.span);
                self.strides(value)
            }
            "order" => self.order(value),
            "fortran_order" => match value.kind {
                Kind::Name("True") => once(&mut self.order, "an order", Order::F, &value.span),
                Kind::Name("False") => once(&mut self.order, "an order", Order::C, &value.span),
                _ => Err(value.error("this is neither True nor False").accepts("True or False")),
            },
            "memory_format" => match &value.kind {
                Kind::Name(name) => match format(name, &value.span)? {
                    Some(order) => self.format(order, value),
                    None => Err(unknown_format(value)),
                },
                _ => Err(unknown_format(value)),
            },
            "offset" => self.offset(value),
            "storage_offset" => {
                self.torch(&key.span);
                self.offset(value)
            }
            "layout" => match value.kind {
                Kind::Name("torch.strided") => Ok(()),
                _ => Err(value
                    .error("a layout without strides")
                    .of_kind(ErrorKind::Unsupported)
                    .rule("elements have offsets by strides")
                    .accepts("torch.strided")),
            },
            other if OTHERS.contains(&other) => Ok(()),
            other => {
                let near = crate::nearest(other, KEYS).map(|near| format!("; did you mean {near}?"));
                Err(key
                    .error(format!("{} is not known", quoted(word)))
                    .accepts(format!("shape, dtype, strides, order, offset{}", near.unwrap_or_default())))
            }
        }
    }

    fn element(&mut self, value: &Value) -> Result<()> {
        let found = value.element()?;
        if matches!(value.kind, Kind::Name(name) | Kind::Text(name) if name.starts_with("torch.")) {
            self.torch(&value.span);
        }
        once(&mut self.element, "element type", found, &value.span)
    }

    fn strides(&mut self, value: &Value) -> Result<()> {
        let stride = |(number, at): (i128, Range<usize>)| match i64::try_from(number) {
            Ok(stride) => Ok((stride, at)),
            Err(_) => Err(Error::new(format!("a stride of {number}")).at(at).accepts("a number of 63 bits")),
        };
        let strides = value.numbers("strides such as (20, 4)")?.into_iter().map(stride);
        let strides = strides.collect::<Result<_>>()?;
        once(&mut self.strides, "strides", strides, &value.span)
    }

    fn order(&mut self, value: &Value) -> Result<()> {
        let order = match value.kind {
            Kind::Name("C") | Kind::Text("C") => Order::C,
            Kind::Name("F") | Kind::Text("F") => Order::F,
            Kind::Name("A" | "K") | Kind::Text("A" | "K") => {
                return Err(value
                    .error("an order that depends on another array")
                    .of_kind(ErrorKind::Unsupported)
                    .rule("A and K keep the order of the array that is copied")
                    .accepts("'C', 'F', or strides"));
            }
            _ => return Err(value.error("this is no order").accepts("'C' or 'F'")),
        };
        once(&mut self.order, "an order", order, &value.span)
    }

    fn format(&mut self, order: Order, value: &Value) -> Result<()> {
        self.torch(&value.span);
        once(&mut self.order, "an order", order, &value.span)
    }

    fn offset(&mut self, value: &Value) -> Result<()> {
        let number = match value.kind {
            Kind::Number(number) => u64::try_from(number).ok().filter(|&number| number <= i64::MAX as u64),
            _ => None,
        };
        let accepts = "a whole number, 0 or more";
        let number = number.ok_or_else(|| value.error("this is no offset").accepts(accepts))?;
        once(&mut self.offset, "an offset", number, &value.span)
    }

    fn torch(&mut self, span: &Range<usize>) {
        self.torch.get_or_insert(((), span.clone()));
    }

    /// All of it together.
    fn array(self, text: &str, known: &Known) -> Result<Array> {
        let missing =
            |what: &str, accepts: &str| Error::new(what).at(text.len()..text.len()).accepts(accepts);
        let element = self.element.map(|(element, _)| element).or(known.element);
        let element = element.ok_or_else(|| missing("no element type", "a name such as float32"))?;
        let dims_at = self.dims.as_ref().map_or(0..text.len(), |(_, at)| at.clone());
        let dims = self.dims.map(|(dims, _)| dims).or_else(|| known.dims.map(<[u64]>::to_vec));
        let dims = dims.ok_or_else(|| missing("no sizes", "sizes such as (3, 5)"))?;
        let library = if self.torch.is_some() { Library::Torch } else { Library::Numpy };
        if library.name(element).is_none() {
            let (_, at) = self.torch.unwrap_or(((), 0..text.len()));
            return Err(Error::new(format!("PyTorch has no element type {element}"))
                .at(at)
                .rule("this is a word of PyTorch"));
        }
        if let (Some((Order::F, at)), Library::Torch) = (&self.order, library) {
            return Err(Error::new("column-major")
                .of_kind(ErrorKind::Unsupported)
                .at(at.clone())
                .rule("PyTorch has no word for it")
                .accepts("strides, or a text without words of PyTorch"));
        }
        let strides = self.strides.as_ref().map(|(strides, _)| strides.iter().map(|(stride, _)| *stride));
        let array = Array {
            printer: library,
            element,
            dims,
            strides: strides.map(Iterator::collect),
            order: self.order.as_ref().map(|(order, _)| *order),
            offset: self.offset.as_ref().map(|(offset, _)| *offset),
        };
        if let (Some(strides), Some((written, at))) = (&array.strides, &self.strides)
            && let Err((dim, error)) = array.element_strides(strides)
        {
            return Err(error.at(dim.map_or(at.clone(), |dim| written[dim].1.clone())));
        }
        if let Some((_, at)) = &self.offset {
            array.element_offset().map_err(|error| error.at(at.clone()))?;
        }
        let (order_at, strides_at) = (self.order.map(|order| order.1), self.strides.map(|strides| strides.1));
        if let Some(order) = array.order {
            let at = order_at.clone().unwrap_or(dims_at.clone());
            order.minor_to_major(array.dims.len()).map_err(|error| error.at(at))?;
        }
        let offset_at = self.offset.map(|offset| offset.1);
        let at = offset_at.or(strides_at.clone()).unwrap_or(dims_at);
        let layout = array.lower().map_err(|error| error.at(at))?;
        if let (Some(order), Some(at), Some(strides)) = (array.order, strides_at, &array.strides)
            && array.ordered(order)? != layout
        {
            return Err(Error::new(format!("strides {}", array.list(strides)))
                .of_kind(ErrorKind::Mismatch)
                .at(at)
                .rule(format!("{} says other strides", order.word(library)))
                .accepts("one of the two"));
        }
        Ok(array)
    }
}

/// The order that a memory format of PyTorch says, if this is one.
fn format(name: &str, span: &Range<usize>) -> Result<Option<Order>> {
    Ok(Some(match name {
        "torch.contiguous_format" => Order::C,
        "torch.channels_last" => Order::ChannelsLast,
        "torch.channels_last_3d" => Order::ChannelsLast3d,
        "torch.preserve_format" => {
            return Err(Error::new("an order that depends on another tensor")
                .of_kind(ErrorKind::Unsupported)
                .at(span.clone())
                .rule("torch.preserve_format keeps the order of the tensor that is copied")
                .accepts(FORMATS));
        }
        _ => return Ok(None),
    }))
}

const FORMATS: &str = "torch.contiguous_format, torch.channels_last, torch.channels_last_3d, or strides";

fn unknown_format(value: &Value) -> Error {
    value.error("this is no memory format").accepts(FORMATS)
}
