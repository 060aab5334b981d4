//! What every notation provides, and reading a text whichever it is in.
//!
//! A notation is a [`Dialect`]: how its texts are recognised, read, and made from a layout. What it reads is
//! [`Described`]: the notation's own words, which lower into a [`Layout`]. Whoever shows, compares, plans or converts
//! layouts works on these two and never asks which notation it was; the few commands that are about one notation ask for
//! its type by [`Described::get`](trait.Described.html#method.get).
//!
//! ```
//! use tilework::dialect;
//! for text in ["f32[3,5]{0,1}", "FLOAT32 [3,5] strides [1,3]"] {
//!     let said = dialect::read_one(text)?;
//!     assert_eq!(said.layout()?.offset(&[2, 1])?, 5);
//! }
//! assert_eq!(dialect::read_one("FLOAT16 NHWC [1,64,56,56]")?.dialect().name, "directml");
//! # Ok::<(), tilework::Error>(())
//! ```

pub(crate) mod affine;
mod axes;
pub(crate) mod blocked;
pub(crate) mod cursor;
pub(crate) mod digits;
mod dim;
mod fact;
mod find;
mod meant;
pub(crate) mod mlir;
pub(crate) mod named;
pub(crate) mod python;
mod read;
pub(crate) mod sized;
mod target;
pub(crate) mod words;

use std::any::Any;
use std::fmt;
use std::sync::Arc;

pub use axes::{Axes, in_order_of, with_axes};
pub use dim::Dim;
pub use fact::{Fact, Facts};
pub use find::{Sighting, Sightings, find};
pub use read::{Reading, beside, read, read_one};
pub use target::{Form, Target, targets};

use crate::Element;
use crate::error::{Error, Result, quoted};
use crate::layout::Layout;

/// What a notation says of one array, in its own words; or of several, as a tuple does.
///
/// `Display` is the canonical text, which the notation reads back as the same value.
pub trait Described: fmt::Display + fmt::Debug + Any + Send + Sync {
    /// The notation.
    fn dialect(&self) -> &'static Dialect;

    /// What it is, in one word.
    fn kind(&self) -> &'static str {
        "array"
    }

    /// The type of the elements; none for what has no elements of its own.
    fn element(&self) -> Option<Element>;

    /// What it is, in a phrase, where that is more than an array.
    fn phrase(&self) -> Option<String> {
        None
    }

    /// Where the elements are.
    ///
    /// # Errors
    /// Why they have no places: it is no array, a size is known at run time only, or there are too many bytes to count.
    fn layout(&self) -> Result<Layout>;

    /// The sizes of the array. They are those of its layout, unless that has an index of its own, as one of registers has.
    fn sizes(&self, layout: &Layout) -> Vec<u64> {
        layout.dims().to_vec()
    }

    /// The names of the dimensions, where somebody gave them.
    fn axes(&self) -> Option<&Axes> {
        None
    }

    /// Why there is no layout although nothing is wrong, in a sentence: something is known at run time only.
    fn open(&self) -> Option<String> {
        None
    }

    /// The text in pieces, each with what it means. `layout` is that of [`Described::layout`], where there is one.
    fn parts(&self, layout: Option<&Layout>) -> Vec<Part>;

    /// The same as values, for programs. What is no array has none.
    fn facts(&self) -> Facts;

    /// What else there is to know, in sentences. `layout` is that of [`Described::layout`].
    fn notes(&self, layout: &Layout) -> Vec<String> {
        let _ = layout;
        Vec::new()
    }

    /// The arrays of a tuple, and whatever else stands in it; none for what is no tuple.
    fn leaves(&self) -> Option<Vec<Leaf>> {
        None
    }

    /// The bits of an element with which the text itself says padding is filled.
    fn fill(&self) -> Option<u128> {
        None
    }

    /// The order of the dimensions that the text says, the most minor first, where it says one.
    fn minor_to_major(&self) -> Option<Vec<usize>> {
        None
    }

    /// Whether the notation numbers elements with the first dimension fastest, as CuTe does: by this number it takes two
    /// layouts of different dimensions for one function.
    fn counts_first_fastest(&self) -> bool {
        false
    }

    /// Whether the elements can be those of an array of `element`: they are of this type, or the notation has no other
    /// word for it.
    fn may_be(&self, element: Element) -> bool {
        self.element() == Some(element)
    }
}

impl dyn Described {
    /// What a notation said, as the type that the notation has for it.
    ///
    /// ```
    /// use tilework::{dialect, xla::Shape};
    /// let said = dialect::read_one("f32[3,5]{1,0:T(2,2)}")?;
    /// assert!(said.get::<Shape>().is_some_and(|shape| shape.as_array().is_some()));
    /// # Ok::<(), tilework::Error>(())
    /// ```
    pub fn get<T: Any>(&self) -> Option<&T> {
        (self as &dyn Any).downcast_ref()
    }
}

/// What a text says, shared freely.
pub type Said = Arc<dyn Described>;

/// One of the things that a text says.
#[derive(Clone, Debug)]
pub struct Found {
    /// What the text calls it, where it names several.
    pub name: Option<String>,
    /// The thing.
    pub said: Said,
}

impl Found {
    /// What a text says that names nothing.
    pub fn unnamed(said: impl Described) -> Found {
        Found { name: None, said: Arc::new(said) }
    }
}

/// A piece of a text and what it means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// What kind of piece it is, such as `tiles`. Two texts of a notation differ in pieces of the same name.
    pub name: &'static str,
    /// The piece as it is written.
    pub text: String,
    /// What it means, in words.
    pub meaning: String,
}

impl Part {
    /// A piece.
    pub fn new(name: &'static str, text: impl Into<String>, meaning: impl Into<String>) -> Part {
        Part { name, text: text.into(), meaning: meaning.into() }
    }
}

/// An element of a tuple that is no tuple itself.
#[derive(Clone, Debug)]
pub struct Leaf {
    /// Where it is: the index into the tuple, and into the tuples in it.
    pub path: Vec<usize>,
    /// What is there.
    pub said: Said,
}

/// How sure a notation is that a text is its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// It may be: the text begins as texts of this notation do, and as others' do.
    Likely,
    /// It is: no other notation has a text that begins so.
    Certain,
}

/// What is known besides the text: from the file it is about, from the other side of a copy, or from who asks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Known<'a> {
    /// The sizes of the dimensions.
    pub dims: Option<&'a [u64]>,
    /// The type of the elements.
    pub element: Option<Element>,
    /// Whether to refuse what the notation's own system would: older forms, and words of Tilework.
    pub strict: bool,
}

impl<'a> Known<'a> {
    /// The dimensions and the type of an array.
    pub fn array(dims: &'a [u64], element: Element) -> Known<'a> {
        Known { dims: Some(dims), element: Some(element), strict: false }
    }

    /// Both, for a text that says neither.
    ///
    /// # Errors
    /// One is not known. `what` is the text's kind, such as `the braces of a shape alone`.
    pub fn require(&self, what: &str, text: &str) -> Result<(&'a [u64], Element)> {
        match (self.dims, self.element) {
            (Some(dims), Some(element)) => Ok((dims, element)),
            _ => Err(Error::new(what)
                .at(0..text.len())
                .rule("dimensions and type are known from elsewhere")
                .accepts(format!("all of the shape, such as f32[3,5]{text}"))),
        }
    }
}

/// A text of a notation with facts about it: for help, documentation, fuzzing and the tests of all notations.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// The text.
    pub text: &'static str,
    /// What it shows, in a few words.
    pub shows: &'static str,
    /// Indices with their offsets, worked out by hand or by the system that the notation is of.
    pub offsets: &'static [(&'static [u64], u64)],
    /// The allocated elements.
    pub size: u64,
}

/// A notation.
pub struct Dialect {
    /// Its name, in one word, by which it can be asked for.
    pub name: &'static str,
    /// What it is the notation of, in a few words.
    pub title: &'static str,
    /// How sure it is that a text, without blanks around it, is its own.
    pub recognise: fn(&str) -> Option<Confidence>,
    /// Reads all of a text. Errors know their place in it.
    pub read: fn(&str, &Known) -> Result<Vec<Found>>,
    /// The layout in this notation, or why it cannot say it; none if it never can.
    pub say: Option<fn(&Layout, Element) -> Result<Said>>,
    /// Further ways to say layouts, each with a name of its own; most notations have none.
    pub forms: &'static [Form],
    /// Texts with facts about them.
    pub examples: &'static [Example],
}

impl fmt::Debug for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Dialect({})", self.name)
    }
}

impl PartialEq for Dialect {
    fn eq(&self, other: &Dialect) -> bool {
        self.name == other.name
    }
}

impl Eq for Dialect {}

impl Dialect {
    /// The notation of this name.
    ///
    /// # Errors
    /// No notation has the name; the error says which there are.
    pub fn named(name: &str) -> Result<&'static Dialect> {
        all().iter().copied().find(|dialect| dialect.name == name).ok_or_else(|| {
            let names: Vec<&str> = all().iter().map(|dialect| dialect.name).collect();
            let near = crate::nearest(name, names.iter().copied());
            let near = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
            Error::new(format!("there is no notation {}", quoted(name)))
                .field("notation")
                .accepts(format!("{}{near}", names.join(", ")))
        })
    }

    /// The layout in this notation.
    ///
    /// # Errors
    /// Why it cannot be said so.
    pub fn say(&self, layout: &Layout, element: Element) -> Result<Said> {
        match self.say {
            Some(say) => say(layout, element),
            None => Err(Error::new(format!("{} are read and not written", self.title))),
        }
    }
}

/// Every notation, in the order in which they are tried.
pub fn all() -> &'static [&'static Dialect] {
    crate::dialects::DIALECTS
}
