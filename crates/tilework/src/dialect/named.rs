//! Arrays in formats that have a name, with type and sizes before it: `f16[16,3,224,224] kHWC8`.
//!
//! Whoever has such names reads them into a [`Named`], which knows its layout. The rest is alike for all: the text, its
//! pieces, and finding the name of a layout by trying each.

use std::fmt;
use std::sync::Arc;

use crate::dialect::{Described, Dialect, Dim, Fact, Facts, Found, Known, Part, Said, sized, words};
use crate::element::Element;
use crate::error::{Error, ErrorKind, Result, quoted};
use crate::layout::Layout;

/// An array in a format that has a name.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    pub(crate) notation: &'static Dialect,
    pub(crate) element: Element,
    /// What stands behind type and sizes.
    pub(crate) text: String,
    pub(crate) layout: Layout,
    /// The pieces of the format, and what they mean.
    pub(crate) parts: Vec<Part>,
    /// The format's values.
    pub(crate) facts: Vec<(&'static str, Fact)>,
    pub(crate) notes: Vec<String>,
    pub(crate) minor_to_major: Option<Vec<usize>>,
}

/// `f16[16,3,224,224] kHWC8`
impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}] {}", self.element, words::list(self.layout.dims()), self.text)
    }
}

impl Described for Named {
    fn dialect(&self) -> &'static Dialect {
        self.notation
    }

    fn element(&self) -> Option<Element> {
        Some(self.element)
    }

    fn layout(&self) -> Result<Layout> {
        Ok(self.layout.clone())
    }

    fn parts(&self, _: Option<&Layout>) -> Vec<Part> {
        let dims: Vec<Dim> = self.layout.dims().iter().map(|&size| Dim::Static(size)).collect();
        let meaning = words::element(self.element, self.layout.bits());
        let mut parts = vec![Part::new("element type", self.element.name(), meaning), words::dims(&dims)];
        parts.extend(self.parts.iter().cloned());
        parts
    }

    fn facts(&self) -> Facts {
        let facts = Facts::about("array")
            .with("element_type", self.element.name())
            .with("dimensions", self.layout.dims().iter().copied().collect::<Fact>())
            .with("format", self.text.clone());
        self.facts.iter().fold(facts, |facts, (name, value)| facts.with(name, value.clone()))
    }

    fn notes(&self, _: &Layout) -> Vec<String> {
        self.notes.clone()
    }

    fn minor_to_major(&self) -> Option<Vec<usize>> {
        self.minor_to_major.clone()
    }
}

/// Bits of an element in memory where those below a byte are packed and a boolean takes one.
pub(crate) fn packed_bits(element: Element) -> u32 {
    match element {
        Element::Pred => 8,
        element if element.is_sub_byte_number() => element.bits(),
        element => 8 * element.bytes(),
    }
}

/// What stands before a format.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Before<'a> {
    pub(crate) element: Element,
    pub(crate) dims: &'a [u64],
}

/// Reads a text of a format: `body` gets what stands behind type and sizes, and these.
///
/// # Errors
/// Those of `body`, and no type and sizes. `example` has both.
pub(crate) fn read<T>(
    text: &str,
    known: &Known,
    example: &str,
    body: impl Fn(&str, Before) -> Result<T>,
) -> Result<T> {
    // They stand in the text if nobody recognised what is behind them.
    let own = sized::prefix(text);
    let (element, dims, rest) = match &own {
        Some((array, rest)) => (array.element, &array.dims[..], *rest),
        None => match (known.element, known.dims) {
            (Some(element), Some(dims)) => (element, dims, 0),
            _ => {
                return Err(Error::new(format!("{} alone", quoted(text)))
                    .of_kind(ErrorKind::Unsupported)
                    .at(0..text.len())
                    .rule("the format says no sizes and no element type")
                    .accepts(format!("both before it, such as {example}")));
            }
        },
    };
    let before = Before { element, dims };
    let whole = 0..text.len() - rest;
    body(&text[rest..], before).map_err(|error| error.or_at(whole).moved(rest))
}

/// One array as the list that reading gives.
pub(crate) fn found(array: Named) -> Vec<Found> {
    vec![Found::unnamed(array)]
}

/// The first array that has this layout and takes as much.
///
/// # Errors
/// None has: `why` says what the names have in common.
pub(crate) fn say(
    layout: &Layout,
    candidates: impl IntoIterator<Item = Result<Named>>,
    why: &str,
    accepts: &str,
) -> Result<Said> {
    let mut other_size = None;
    for named in candidates.into_iter().flatten() {
        if named.layout.same_buffer(layout).is_yes() {
            return Ok(Arc::new(named));
        }
        let is_longer = named.layout.size() != layout.size();
        if other_size.is_none() && is_longer && named.layout.same_function(layout).is_yes() {
            other_size = Some((named.text.clone(), named.layout.size()));
        }
    }
    let found = match other_size {
        Some((text, size)) => {
            format!("{} elements are allocated, but {text} takes {size}", layout.size())
        }
        None => "no format has these places".to_owned(),
    };
    Err(Error::new(found).of_kind(ErrorKind::Unsupported).field("layout").rule(why).accepts(accepts))
}

/// The element type is none of the system's.
pub(crate) fn no_type(element: Element, system: &str, names: &str) -> Error {
    Error::new(format!("elements of {element}"))
        .of_kind(ErrorKind::Unsupported)
        .field("element type")
        .rule(format!("{system} has no such type"))
        .accepts(names)
}

/// The elements have another width in memory.
pub(crate) fn check_bits(layout: &Layout, element: Element, system: &str) -> Result<()> {
    let bits = packed_bits(element);
    if layout.bits() == bits {
        return Ok(());
    }
    Err(Error::new(format!("{} bits for each {element}", layout.bits()))
        .of_kind(ErrorKind::Unsupported)
        .field("element bits")
        .rule(format!("{system} packs elements below a byte, and gives all others whole bytes"))
        .accepts(format!("{bits} bits")))
}
