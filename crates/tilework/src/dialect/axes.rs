//! Names of dimensions, and what a text says with them.
//!
//! A layout knows its dimensions by their numbers. People call them tokens and heads, and two arrays that hold the same
//! differ in the order of these names. So names stand beside what was read, and are put into its words.

use std::fmt;
use std::sync::Arc;

use crate::dialect::{Described, Dialect, Fact, Facts, Part, Said, words};
use crate::element::Element;
use crate::error::{Error, ErrorKind, Result, quoted};
use crate::layout::{Layout, MAX_RANK};
use tilework_core::letter;

/// Names of all dimensions of an array, in their order.
///
/// ```
/// use tilework::dialect::Axes;
/// let axes = Axes::parse("tokens, heads, d")?;
/// assert_eq!(axes.names(), ["tokens", "heads", "d"]);
/// assert_eq!(Axes::parse("NCHW")?.to_string(), "N,C,H,W");
/// assert_eq!(axes.in_words("dimension 1 is 8, padded to 16"), "dimension 1 (heads) is 8, padded to 16");
/// # Ok::<(), tilework::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axes(Vec<String>);

/// The most letters of a name.
const LONGEST: usize = 32;

impl Axes {
    /// Reads names with commas or blanks between them, or capitals that stand side by side.
    ///
    /// # Errors
    /// A name that is empty, too long or there twice, or one that has other characters than letters, digits, `_` and `-`.
    pub fn parse(text: &str) -> Result<Axes> {
        let trimmed = text.trim();
        let is_capitals = trimmed.len() > 1 && trimmed.bytes().all(|byte| byte.is_ascii_uppercase());
        let names: Vec<String> = match trimmed {
            "" => Vec::new(),
            _ if is_capitals => trimmed.chars().map(String::from).collect(),
            _ if trimmed.contains(',') => trimmed.split(',').map(|name| name.trim().to_owned()).collect(),
            _ => trimmed.split_whitespace().map(str::to_owned).collect(),
        };
        Axes::new(names).map_err(|error| error.or_at(0..text.len()))
    }

    /// These names.
    ///
    /// # Errors
    /// Those of [`Axes::parse`].
    pub fn new(names: Vec<String>) -> Result<Axes> {
        let accepts = "names such as N,C,H,W or tokens,heads,d: letters, digits, _ and -";
        if names.len() > MAX_RANK {
            return Err(Error::new(format!("{} names", names.len()))
                .accepts(format!("up to {MAX_RANK}, one for each dimension")));
        }
        for (place, name) in names.iter().enumerate() {
            let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
            let starts = name.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_');
            if !starts || !name.chars().all(is_name) || name.chars().count() > LONGEST {
                return Err(
                    Error::new(format!("{} as the name of a dimension", quoted(name))).accepts(accepts)
                );
            }
            if names[..place].contains(name) {
                return Err(Error::new(format!("{name} is there twice"))
                    .rule("each dimension has a name of its own")
                    .accepts(accepts));
            }
        }
        Ok(Axes(names))
    }

    /// The names, in the order of the dimensions.
    pub fn names(&self) -> &[String] {
        &self.0
    }

    /// Refuses another number of dimensions.
    ///
    /// # Errors
    /// There are more names than dimensions, or fewer.
    pub fn require_rank(&self, rank: usize) -> Result<()> {
        if self.0.len() == rank {
            return Ok(());
        }
        Err(Error::new(format!("{} names: {self}", self.0.len()))
            .of_kind(ErrorKind::Mismatch)
            .rule("each dimension has a name")
            .accepts(format!("{rank} of them")))
    }

    /// Which dimension of `other` each of these is.
    ///
    /// # Errors
    /// Others have other names.
    pub fn places_in(&self, other: &Axes) -> Result<Vec<usize>> {
        let place = |name: &String| other.0.iter().position(|own| own == name);
        let places: Option<Vec<usize>> = self.0.iter().map(place).collect();
        places.filter(|_| self.0.len() == other.0.len()).ok_or_else(|| {
            let alone = |one: &Axes, of: &Axes| one.0.iter().find(|name| !of.0.contains(name)).cloned();
            let alone = match (alone(self, other), alone(other, self)) {
                (Some(name), Some(of)) => format!("{name} stands on one side only, {of} on the other only"),
                (Some(name), None) | (None, Some(name)) => format!("{name} stands on one side only"),
                (None, None) => "a name is there twice".to_owned(), // no side has a name twice
            };
            Error::new(format!("{self} and {other}: {alone}"))
                .of_kind(ErrorKind::Mismatch)
                .rule("both sides have the same names, in any order")
        })
    }

    /// Sentences with the name behind the number of each dimension: `dimension 1` becomes `dimension 1 (heads)`.
    pub fn in_words(&self, text: &str) -> String {
        let rank = self.0.len();
        let mut out = String::with_capacity(text.len());
        let (mut rest, mut before) = (text, "");
        while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
            let end = start + rest[start..].bytes().take_while(u8::is_ascii_digit).count();
            let (number, behind) = (&rest[start..end], &rest[end..]);
            let is_word = !rest[..start].ends_with(|c: char| c.is_alphanumeric() || c == '_');
            let name = number.parse().ok().and_then(|dim: usize| Some((dim, self.0.get(dim)?)));
            out.push_str(&rest[..end]);
            let said = &rest[..start];
            // `dimensions 0, 1 and 2` go on as long as nothing else stands between the numbers.
            let goes_on = before == "dimensions" && matches!(said, ", " | " and ");
            before = match said.rsplit(' ').nth(1) {
                _ if goes_on => "dimensions",
                Some(word) if said.ends_with(' ') && word.eq_ignore_ascii_case("dimension") => "dimension",
                Some(word) if said.ends_with(' ') && word.eq_ignore_ascii_case("dimensions") => "dimensions",
                _ => "",
            };
            rest = behind;
            let Some((dim, name)) = name.filter(|_| is_word) else { continue };
            // The letter that stands there for want of a name.
            let letter = words::letter_of(dim, rank).map(|letter| format!(" ({letter}"));
            let behind = letter.and_then(|letter| rest.strip_prefix(&*letter));
            if let Some(behind) = behind.filter(|behind| behind.starts_with([')', ','])) {
                out.push_str(&format!(" ({name}"));
                rest = behind;
            } else if !before.is_empty() && !rest.starts_with(|c: char| c.is_alphanumeric() || c == '.') {
                out.push_str(&format!(" ({name})"));
            }
        }
        out + rest
    }

    /// A formula with the names in place of i, j, k.
    pub fn in_formula(&self, formula: &str) -> String {
        let rank = self.0.len();
        let mut out = String::with_capacity(formula.len());
        let mut rest = formula;
        while let Some(start) = rest.find(char::is_alphabetic) {
            let length = rest[start..].find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len() - start);
            let word = &rest[start..start + length];
            out.push_str(&rest[..start]);
            let dim = (0..rank).find(|&dim| letter(rank, dim) == word);
            out.push_str(dim.map_or(word, |dim| &self.0[dim]));
            rest = &rest[start + length..];
        }
        out + rest
    }
}

impl fmt::Display for Axes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(","))
    }
}

/// What was read, with names for its dimensions. As text it is what was read.
#[derive(Debug)]
struct Named {
    said: Said,
    axes: Axes,
    /// Which dimension of what was read each of the names is, where they have another order.
    places: Option<Vec<usize>>,
}

/// What was read with names for its dimensions.
///
/// # Errors
/// It has another number of dimensions, or is no array.
pub fn with_axes(said: Said, axes: Axes) -> Result<Said> {
    named(said, axes, None)
}

/// The same in the order of other names: element (a, b) of it is the one that these names call so.
///
/// # Errors
/// Those of [`with_axes`], and other names.
pub fn in_order_of(said: Said, axes: Axes, order: &Axes) -> Result<Said> {
    let places = order.places_in(&axes)?;
    let is_same = places.iter().enumerate().all(|(dim, &place)| dim == place);
    named(said, axes, (!is_same).then_some((places, order.clone())))
}

fn named(said: Said, axes: Axes, order: Option<(Vec<usize>, Axes)>) -> Result<Said> {
    if said.leaves().is_some() {
        return Err(Error::new("several arrays").rule("names are for the dimensions of one array"));
    }
    axes.require_rank(said.layout()?.rank())?;
    let (places, axes) = order.map_or((None, axes), |(places, order)| (Some(places), order));
    Ok(Arc::new(Named { said, axes, places }))
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.said.fmt(f)
    }
}

impl Described for Named {
    fn dialect(&self) -> &'static Dialect {
        self.said.dialect()
    }

    fn kind(&self) -> &'static str {
        self.said.kind()
    }

    fn element(&self) -> Option<Element> {
        self.said.element()
    }

    fn phrase(&self) -> Option<String> {
        self.said.phrase()
    }

    fn layout(&self) -> Result<Layout> {
        let layout = self.said.layout()?;
        match &self.places {
            Some(places) => layout.permute(places),
            None => Ok(layout),
        }
    }

    fn axes(&self) -> Option<&Axes> {
        Some(&self.axes)
    }

    fn sizes(&self, layout: &Layout) -> Vec<u64> {
        match self.places {
            Some(_) => layout.dims().to_vec(),
            None => self.said.sizes(layout),
        }
    }

    fn open(&self) -> Option<String> {
        self.said.open()
    }

    fn parts(&self, layout: Option<&Layout>) -> Vec<Part> {
        let mut parts = self.said.parts(if self.places.is_some() { None } else { layout });
        for part in &mut parts {
            let sizes = layout.filter(|_| part.name == "dimensions" && self.places.is_none());
            part.meaning = match sizes {
                Some(layout) => {
                    let named = self.axes.0.iter().zip(layout.dims());
                    let named: Vec<String> = named.map(|(name, size)| format!("{name} is {size}")).collect();
                    named.join(", ")
                }
                None => self.axes.in_words(&part.meaning),
            };
        }
        parts
    }

    fn facts(&self) -> Facts {
        let mut facts = self.said.facts();
        let names = self.axes.0.iter().map(|name| Fact::Text(name.clone())).collect();
        facts.fields.push(("axes", Fact::List(names)));
        facts
    }

    fn notes(&self, layout: &Layout) -> Vec<String> {
        self.said.notes(layout)
    }

    fn fill(&self) -> Option<u128> {
        self.said.fill()
    }

    fn minor_to_major(&self) -> Option<Vec<usize>> {
        let order = self.said.minor_to_major()?;
        match &self.places {
            Some(places) => order.iter().map(|dim| places.iter().position(|place| place == dim)).collect(),
            None => Some(order),
        }
    }

    fn counts_first_fastest(&self) -> bool {
        self.places.is_none() && self.said.counts_first_fastest()
    }

    fn may_be(&self, element: Element) -> bool {
        self.said.may_be(element)
    }
}
