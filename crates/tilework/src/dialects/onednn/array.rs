//! A memory descriptor as it was written, and the layout that it means.

use std::fmt;

use super::names::type_name;
use super::tag::{Tag, letter};
use crate::dialect::blocked::{Blocked, products, rounded};
use crate::dialect::named::packed_bits;
use crate::dialect::{Dim, words};
use crate::element::Element;
use crate::error::{Error, ErrorKind, Result, counted};
use crate::layout::Layout;

/// An array of oneDNN.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Array {
    pub(super) element: Known<Element>,
    pub(super) dims: Known<Vec<Dim>>,
    pub(super) format: Format,
    /// What a log says besides.
    pub(super) log: Option<Log>,
}

/// What a text says, or why it does not.
pub(super) type Known<T> = Result<T, &'static str>;

/// How the elements are arranged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// By a tag, with whatever it does not say.
    Blocked(Descriptor),
    /// A format without places; see [`super::names::without_places`].
    WithoutPlaces(String, &'static str),
    /// A tag that is known at run time only.
    AtRunTime,
}

/// The fields of a blocked descriptor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Descriptor {
    pub(super) tag: Tag,
    /// Of the outer digits, in elements; dense if there are none.
    pub(super) strides: Option<Vec<u64>>,
    /// The padded dimensions; up to whole blocks if there are none.
    pub(super) padded: Option<Vec<u64>>,
    /// Where the first element is.
    pub(super) offset: u64,
    /// Allocated elements; up to the end of the outermost digit if it is not said.
    pub(super) size: Option<u64>,
}

/// What a log says of a descriptor besides type, sizes and format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Log {
    /// `src`, `wei`, `dst`; empty if it has no name.
    pub(super) name: String,
    /// `a`, `p`, `o` and `0`.
    pub(super) flags: String,
    /// `f0`, or what is kept behind the elements: `f1:s8m1`.
    pub(super) extra: String,
}

impl Descriptor {
    pub(super) fn of_tag(tag: Tag) -> Descriptor {
        Descriptor { tag, strides: None, padded: None, offset: 0, size: None }
    }

    /// The outer digits and inner blocks of an array.
    ///
    /// # Errors
    /// Another number of dimensions, strides that overlap, and sizes above 63 bits.
    pub(super) fn blocked(&self, dims: &[u64], element: Element) -> Result<Blocked> {
        let tag = &self.tag;
        if tag.rank() != dims.len() {
            return Err(Error::new(format!(
                "tag {tag} of {} for [{}]",
                counted(tag.rank() as u64, "dimension"),
                words::list(dims)
            ))
            .of_kind(ErrorKind::Mismatch)
            .field("tag")
            .rule("a tag has a letter for each dimension")
            .accepts(format!("a tag of {}", counted(dims.len() as u64, "letter"))));
        }
        let one_each = |numbers: &Option<Vec<u64>>, what: &str, field: &str| match numbers {
            Some(numbers) if numbers.len() != dims.len() => {
                let found = format!(
                    "{} for {}",
                    counted(numbers.len() as u64, what),
                    counted(dims.len() as u64, "dimension")
                );
                Err(Error::new(found)
                    .of_kind(ErrorKind::Mismatch)
                    .field(field)
                    .accepts(format!("{} of them", dims.len())))
            }
            _ => Ok(()),
        };
        one_each(&self.strides, "stride", "strides")?;
        one_each(&self.padded, "padded size", "padded")?;
        if let Some(padded) = &self.padded {
            let least = rounded(dims, &tag.inner)?;
            let products = products(dims.len(), &tag.inner)?;
            let bad = (0..dims.len())
                .find(|&dim| padded[dim] < least[dim] || !padded[dim].is_multiple_of(products[dim]));
            if let Some(dim) = bad {
                return Err(Error::new(format!("{} padded to {}", dims[dim], padded[dim]))
                    .field("padded")
                    .rule("a padded size is a multiple of the dimension's blocks, and not below the size")
                    .accepts(format!("{}, or a larger multiple of {}", least[dim], products[dim])));
            }
        }
        let mut blocked =
            Blocked::packed(dims, packed_bits(element), &tag.order, &tag.inner, self.padded.as_deref())?;
        blocked.offset = self.offset;
        if let Some(strides) = &self.strides {
            blocked.strides.clone_from(strides);
            check_strides(&blocked, element)?;
        }
        Ok(blocked)
    }
}

/// oneDNN's rule for strides: in their order each is at least what the ones before it take. A stride of 0 broadcasts, and
/// that of a single block says nothing.
fn check_strides(blocked: &Blocked, element: Element) -> Result<()> {
    if blocked.dims.contains(&0) {
        return Ok(());
    }
    let mut order = blocked.order();
    order.reverse();
    let mut least = blocked.block();
    for dim in order {
        let (stride, count) = (blocked.strides[dim], blocked.count(dim));
        if stride == 0 || count == 1 {
            continue;
        }
        let refuse = |rule: &str, accepts: String| {
            Err(Error::new(format!("stride {stride} of dimension {} ({})", dim, letter(dim)))
                .field("strides")
                .rule(rule)
                .accepts(accepts))
        };
        if stride < least {
            return refuse(
                "oneDNN has no overlapping elements: a stride is at least what is within it",
                format!("{least} or more, or 0"),
            );
        }
        if packed_bits(element) < 8 && stride > 1 && stride % 2 != 0 {
            return refuse("strides of elements of 4 bits are even", "an even number".to_owned());
        }
        least = stride.checked_mul(count).ok_or_else(|| {
            Error::new(format!("stride {stride} of {count} values"))
                .of_kind(ErrorKind::Overflow)
                .field("strides")
                .accepts("smaller strides")
        })?;
    }
    Ok(())
}

impl Array {
    /// An array of a tag or descriptor that no log is about.
    pub(super) fn of(element: Element, dims: &[u64], descriptor: Descriptor) -> Array {
        let dims = dims.iter().map(|&size| Dim::Static(size)).collect();
        Array { element: Ok(element), dims: Ok(dims), format: Format::Blocked(descriptor), log: None }
    }

    /// The sizes.
    ///
    /// # Errors
    /// Sizes that the text does not say, or that are known at run time only.
    pub(super) fn sizes(&self) -> Result<Vec<u64>> {
        let dims = self.dims.as_ref().map_err(|why| missing("sizes", why))?;
        let size = |dim: &Dim| match dim {
            Dim::Static(size) => Ok(*size),
            Dim::Bounded(_) | Dim::Unbounded => Err(at_run_time("a size")),
        };
        dims.iter().map(size).collect()
    }

    /// The outer digits and inner blocks.
    ///
    /// # Errors
    /// Why there are none.
    pub(super) fn blocked(&self) -> Result<Blocked> {
        let descriptor = match &self.format {
            Format::Blocked(descriptor) => descriptor,
            Format::WithoutPlaces(kind, why) => return Err(without_places(kind, why)),
            Format::AtRunTime => return Err(at_run_time("the tag")),
        };
        let element = self.element.map_err(|why| missing("element type", why))?;
        let blocked = descriptor.blocked(&self.sizes()?, element)?;
        if let Some(log) = &self.log {
            log.check(&blocked)?;
        }
        Ok(blocked)
    }

    /// The layout.
    ///
    /// # Errors
    /// Those of [`Array::blocked`], and more bytes than 63 bits can count.
    pub(super) fn lower(&self) -> Result<Layout> {
        let blocked = self.blocked()?;
        let said = match &self.format {
            Format::Blocked(descriptor) => descriptor.size,
            _ => None,
        };
        let own = blocked.size()?;
        let size = said.unwrap_or(own);
        if size < own && !blocked.inner.is_empty() {
            return Err(Error::new(format!("size {size}, but the blocks end at {own}"))
                .field("size")
                .rule("blocks are whole")
                .accepts(format!("{own} or more")));
        }
        let behind = self.log.as_ref().map_or(Ok(0), |log| log.bytes_behind(&blocked))?;
        match behind {
            0 => blocked.lower_to(size),
            behind => {
                let large =
                    || Error::new("the buffer overflows 63 bits").of_kind(ErrorKind::Overflow).field("size");
                let bytes = (u128::from(size) * u128::from(blocked.bits)).div_ceil(8).next_multiple_of(4)
                    + u128::from(behind);
                let elements = (bytes * 8).div_ceil(u128::from(blocked.bits));
                blocked.lower_to(u64::try_from(elements).map_err(|_| large())?)
            }
        }
    }
}

impl Log {
    /// The flags must not say what the text has no numbers for.
    fn check(&self, blocked: &Blocked) -> Result<()> {
        let no = |found: &str, rule: &str| {
            Err(Error::new(found)
                .of_kind(ErrorKind::Unsupported)
                .field("flags")
                .rule(rule)
                .accepts("the descriptor itself, from the program"))
        };
        if self.flags.contains('o') {
            return no("flag o", "the array begins within its padding, and the log does not say where");
        }
        if self.flags.contains('0') {
            return no("flag 0", "the first element is not at the start, and the log does not say where");
        }
        if self.flags.contains('p') && blocked.padded == blocked.dims {
            return no(
                "flag p",
                "the array is padded though its blocks divide its sizes, and the log does not say up to where",
            );
        }
        Ok(())
    }

    /// Bytes that oneDNN keeps behind the elements for compensation: a number of 4 bytes for each place of the dimensions
    /// in a mask.
    fn bytes_behind(&self, blocked: &Blocked) -> Result<u64> {
        let mut bytes = 0_u64;
        let mut flags = 0_u64;
        let unknown = |what: &str| {
            Error::new(format!("{what} of {}", self.extra))
                .of_kind(ErrorKind::Unsupported)
                .field("extra")
                .rule("how many bytes are kept behind the elements is not in the log")
        };
        for word in self.extra.split([':', '_']) {
            let split = word.len() - word.bytes().rev().take_while(u8::is_ascii_digit).count();
            let (name, number) = (&word[..split], word[split..].parse::<u64>());
            match (name, number) {
                ("f", Ok(number)) => flags = number,
                ("s8m" | "zpm", Ok(mask)) => {
                    let masked = (0..blocked.dims.len()).filter(|&dim| mask >> dim & 1 == 1);
                    let count = masked.map(|dim| blocked.padded[dim]).try_fold(4_u64, u64::checked_mul);
                    bytes = count
                        .and_then(|count| bytes.checked_add(count))
                        .ok_or_else(|| unknown("an overflow"))?;
                }
                ("zs", Ok(size)) => bytes = bytes.checked_add(size).ok_or_else(|| unknown("an overflow"))?,
                _ => {}
            }
        }
        // Compensation for convolutions says its mask; that for recurrent networks does not, nor that of GPUs its size.
        let says = |word: &str| self.extra.split(':').any(|part| part.starts_with(word));
        let whole = (flags & 1 == 0 || says("s8m"))
            && (flags & 8 == 0 || says("zpm"))
            && (flags & 32 == 0 || says("zs"));
        if !whole || flags & !(1 | 2 | 8 | 32) != 0 {
            return Err(unknown("flags"));
        }
        Ok(bytes)
    }
}

/// The format is none of places.
pub(super) fn without_places(kind: &str, why: &str) -> Error {
    Error::new(format!("the format {kind} has no places of elements"))
        .of_kind(ErrorKind::Unsupported)
        .field("format")
        .rule(why)
        .accepts("a blocked format, such as nChw8c")
}

fn missing(what: &str, why: &str) -> Error {
    Error::new(format!("no {what}")).of_kind(ErrorKind::Unsupported).field(what).rule(why)
}

fn at_run_time(what: &str) -> Error {
    Error::new(format!("{what} is *"))
        .of_kind(ErrorKind::Unsupported)
        .field("layout")
        .rule("it is known when the program runs")
        .accepts("a number")
}

/// `1x17x2x2`
pub(super) fn by_x(numbers: &[impl ToString]) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join("x")
}

/// `f32[1,17,2,2] nChw8c`, `src:f32:p:blocked:aBcd8b::f0 1x17x2x2`
impl fmt::Display for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let strides = |descriptor: &Descriptor| descriptor.strides.as_ref().map(|strides| by_x(strides));
        if let Some(log) = &self.log {
            let name = if log.name.is_empty() { "" } else { ":" };
            let element =
                self.element.map_or("undef", |element| type_name(element).unwrap_or(element.name()));
            write!(f, "{}{name}{element}:{}:", log.name, log.flags)?;
            match &self.format {
                Format::Blocked(descriptor) => {
                    write!(f, "blocked:{}:{}:", descriptor.tag, strides(descriptor).unwrap_or_default())?;
                }
                Format::WithoutPlaces(kind, _) => write!(f, "{kind}:::")?,
                Format::AtRunTime => f.write_str("blocked:*::")?,
            }
            f.write_str(&log.extra)?;
            return match &self.dims {
                Err(_) => Ok(()),
                Ok(dims) => {
                    let size = |dim: &Dim| dim.bound().map_or("*".to_owned(), |size| size.to_string());
                    write!(f, " {}", by_x(&dims.iter().map(size).collect::<Vec<_>>()))
                }
            };
        }
        if let (Ok(element), Ok(dims)) = (&self.element, &self.dims) {
            write!(f, "{element}[{}] ", words::list(dims))?;
        }
        match &self.format {
            Format::Blocked(descriptor) => {
                write!(f, "{}", descriptor.tag)?;
                if let Some(strides) = strides(descriptor) {
                    write!(f, " strides {strides}")?;
                }
                if let Some(padded) = &descriptor.padded {
                    write!(f, " padded {}", by_x(padded))?;
                }
                if descriptor.offset > 0 {
                    write!(f, " offset {}", descriptor.offset)?;
                }
                match descriptor.size {
                    None => Ok(()),
                    Some(size) => write!(f, " size {size}"),
                }
            }
            Format::WithoutPlaces(kind, _) => f.write_str(kind),
            Format::AtRunTime => f.write_str("*"),
        }
    }
}
