//! Reading a text in whichever notation it is.
//!
//! A notation that is certain reads the text alone. If none is, the text may be an element type and sizes before a
//! notation that says neither, such as `f32[3,5] {0,1}`, or an element type before one that says its sizes, such as
//! `f32 (4,8):(8,1)`. Then those are asked that may know it, and last of all everybody, for the error that comes furthest.

use std::ops::Range;

use crate::Element;
use crate::dialect::{Confidence, Dialect, Found, Known, Said, all, meant, sized, words};
use crate::error::{Error, ErrorKind, Result};

/// How a text is to be read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reading<'a> {
    /// The notation, if it is known.
    pub dialect: Option<&'static Dialect>,
    /// What is known besides the text.
    pub known: Known<'a>,
}

/// Everything that a text says, in any notation.
///
/// # Errors
/// See [`Reading::read`].
pub fn read(text: &str) -> Result<Vec<Found>> {
    Reading::default().read(text)
}

/// The one thing that a text says, in any notation.
///
/// # Errors
/// See [`Reading::read_one`].
pub fn read_one(text: &str) -> Result<Said> {
    Reading::default().read_one(text)
}

/// What a text says that stands beside another array: what it does not say itself, it has from there. `known` is what is
/// known of the other array, and `read` reads the text by what is known.
///
/// ```
/// use tilework::dialect::{Known, Reading, beside};
/// use tilework::Element;
/// let known = Known::array(&[64], Element::F16);
/// let says = |text: &str| beside(known, |known| Reading::knowing(known).read_one(text));
/// assert_eq!(says("f16 (8,8):(1,8)")?.layout()?.dims(), [8, 8]);
/// assert_eq!(says("(8,8):(1,8)")?.to_string(), "f16 (8,8):(1,8)");
/// assert_eq!(says("{0}")?.to_string(), "f16[64]{0}");
/// # Ok::<(), tilework::Error>(())
/// ```
///
/// # Errors
/// Those of reading the text by all that is known.
pub fn beside<E>(
    known: Known,
    read: impl Fn(Known) -> std::result::Result<Said, E>,
) -> std::result::Result<Said, E> {
    for less in [Known { dims: None, element: None, ..known }, Known { dims: None, ..known }] {
        if let Ok(said) = read(less)
            && said.element().is_some()
            && said.layout().is_ok()
        {
            return Ok(said);
        }
    }
    read(known)
}

impl<'a> Reading<'a> {
    /// By what is known besides the text.
    pub fn knowing(known: Known<'a>) -> Reading<'a> {
        Reading { dialect: None, known }
    }

    /// The one thing that a text says.
    ///
    /// # Errors
    /// Those of [`Reading::read`], and texts that say several things.
    pub fn read_one(&self, text: &str) -> Result<Said> {
        let mut found = self.read(text)?;
        match found.len() {
            1 => Ok(found.remove(0).said),
            count => {
                let names: Vec<&str> = found.iter().filter_map(|found| found.name.as_deref()).collect();
                let accepts = match names.is_empty() {
                    true => "one".to_owned(),
                    false => format!("one of {}", words::first(&names, 8)),
                };
                Err(Error::new(format!("{count} arrays are described"))
                    .at(0..text.len())
                    .rule("one is wanted")
                    .accepts(accepts))
            }
        }
    }

    /// Everything that a text says.
    ///
    /// # Errors
    /// A text that no notation reads: the error is that of the notation that it resembles most. A text that two notations
    /// read differently.
    pub fn read(&self, text: &str) -> Result<Vec<Found>> {
        let trimmed = unquoted(text);
        let before = trimmed.as_ptr() as usize - text.as_ptr() as usize;
        let instead = |error: Error| match self.dialect {
            None => meant::instead(trimmed, &error).unwrap_or(error),
            Some(_) => error,
        };
        self.read_trimmed(trimmed).map_err(|error| instead(error).moved(before))
    }

    /// [`Reading::read`] of a text without blanks around it, and without a word on what it was meant to be.
    pub(super) fn read_trimmed(&self, text: &str) -> Result<Vec<Found>> {
        let claims = self.claims(text);
        if let Some(Confidence::Certain) = claims.first().map(|claim| claim.1) {
            return self.resolve(text, &self.known, &claims);
        }
        for (known, rest) in self.prefixes(text) {
            let body = &text[rest..];
            let claimed = self.claims(body);
            if !claimed.is_empty() {
                let found = self.resolve(body, &known.as_known(self.known.strict), &claimed);
                let found =
                    found.and_then(|found| known.agree(found, body)).map_err(|error| error.moved(rest));
                let Err(error) = found else { return found };
                if claims.is_empty() {
                    return Err(error);
                }
                // What goes wrong there may be a shape with something behind it.
                return self.resolve(text, &self.known, &claims).map_err(|whole| {
                    match reach(&error) >= reach(&whole) {
                        true => error,
                        false => whole,
                    }
                });
            }
        }
        match (self.dialect, claims.is_empty()) {
            (_, false) => self.resolve(text, &self.known, &claims),
            (Some(dialect), true) => (dialect.read)(text, &self.known),
            (None, true) => Err(self.nearest(text)),
        }
    }

    /// What may stand before a notation, and where the notation then begins.
    fn prefixes(&self, text: &str) -> impl Iterator<Item = (Before, usize)> {
        let sized = sized::prefix(text).map(|(array, rest)| {
            (Before { element: array.element, dims: Some(array.dims), is_sized: true }, rest)
        });
        let dims = self.known.dims.map(<[u64]>::to_vec);
        let typed =
            sized::element(text).map(|(element, rest)| (Before { element, dims, is_sized: false }, rest));
        sized.into_iter().chain(typed)
    }

    /// The notations that may be this text's, the surest first. Those less sure than the first are left out.
    fn claims(&self, text: &str) -> Vec<(&'static Dialect, Confidence)> {
        let asked = all().iter().filter(|dialect| self.dialect.is_none_or(|wanted| wanted == **dialect));
        let mut claims: Vec<_> =
            asked.filter_map(|dialect| Some((*dialect, (dialect.recognise)(text)?))).collect();
        let surest = claims.iter().map(|claim| claim.1).max();
        claims.retain(|claim| Some(claim.1) == surest);
        claims
    }

    /// Reads a text that these notations claim alike.
    fn resolve(
        &self,
        text: &str,
        known: &Known,
        claims: &[(&'static Dialect, Confidence)],
    ) -> Result<Vec<Found>> {
        if let [(dialect, _)] = claims {
            return (dialect.read)(text, known);
        }
        let (mut read, mut errors) = (Vec::new(), Vec::new());
        for (dialect, _) in claims {
            match (dialect.read)(text, known) {
                Ok(found) => read.push((*dialect, found)),
                Err(error) => errors.push((*dialect, error)),
            }
        }
        match &read[..] {
            [] => Err(furthest(errors, "read as {}, which it resembles most")),
            [first, others @ ..] => match others.iter().find(|other| !agree(&first.1, &other.1)) {
                None => Ok(read.swap_remove(0).1),
                Some(other) => Err(ambiguous(text, first.0, other.0)),
            },
        }
    }

    /// What is wrong with a text that nobody claims, as the notation sees it that it resembles most.
    fn nearest(&self, text: &str) -> Error {
        if text.is_empty() {
            let texts = all().iter().filter_map(|dialect| dialect.examples.first());
            let texts: Vec<&str> = texts.take(SHOWN).map(|example| example.text).collect();
            return Error::new("an empty text").at(0..0).accepts(texts.join(", "));
        }
        let most = all().iter().map(|dialect| resemblance(dialect, text)).max().unwrap_or(0);
        if let Some(error) = meant::prose(text).filter(|_| most == 0) {
            return error;
        }
        let alike = all().iter().filter(|dialect| resemblance(dialect, text) == most);
        let read_as = match most {
            0 => "no notation has texts that begin so; read as {}",
            _ => "read as {}, which it resembles most",
        };
        // Of several that begin so, and of all if none does, the first says what it would have to be.
        let mut errors = alike.filter_map(|dialect| {
            let error = (dialect.read)(text, &self.known).err()?;
            Some((*dialect, error))
        });
        furthest(errors.next().into_iter().collect(), read_as)
    }
}

/// A text without what some shells and documents leave around it: blanks, a byte order mark, quotes.
fn unquoted(text: &str) -> &str {
    const QUOTES: [(char, char); 5] = [('\'', '\''), ('"', '"'), ('`', '`'), ('“', '”'), ('‘', '’')];
    let mut inner = text.trim().trim_start_matches('\u{feff}').trim();
    for _ in 0..4 {
        let within = QUOTES.iter().find_map(|&(open, close)| inner.strip_prefix(open)?.strip_suffix(close));
        match within.map(str::trim).filter(|within| !within.is_empty()) {
            Some(within) => inner = within,
            None => break,
        }
    }
    inner
}

/// What stands before a notation.
struct Before {
    element: Element,
    /// The sizes; those that are known from elsewhere if there are none.
    dims: Option<Vec<u64>>,
    is_sized: bool,
}

impl Before {
    fn as_known(&self, strict: bool) -> Known<'_> {
        Known { dims: self.dims.as_deref(), element: Some(self.element), strict }
    }

    /// What was read, if it says nothing else than what stands before it.
    fn agree(&self, found: Vec<Found>, body: &str) -> Result<Vec<Found>> {
        // Of several arrays each says what it is itself.
        if found.len() > 1 {
            return Ok(found);
        }
        for said in found.iter().map(|found| &found.said) {
            let element = said.element().filter(|&own| own != self.element);
            let lowered = if self.is_sized { said.layout().ok() } else { None };
            let dims = lowered.map(|layout| said.sizes(&layout));
            let dims = dims.filter(|own| self.dims.as_ref() != Some(own));
            let is_else = match (element, dims) {
                (Some(own), _) => format!("{own} behind {}", self.element),
                (None, Some(own)) => {
                    format!("sizes {own:?} behind {:?}", self.dims.as_deref().unwrap_or_default())
                }
                (None, None) => continue,
            };
            return Err(Error::new(is_else)
                .of_kind(ErrorKind::Mismatch)
                .at(0..body.len())
                .rule("what stands before a text agrees with what the text says itself")
                .accepts("the text alone"));
        }
        Ok(found)
    }
}

/// How many letters a text has in common with the beginning of a word of a notation's examples: at least [`ALIKE`] letters of
/// it, or fewer where the text's word is that word, or may be it misspelt.
fn resemblance(dialect: &Dialect, text: &str) -> usize {
    let in_word = |byte: u8| byte.is_ascii_alphanumeric();
    let of_example = |example: &str| {
        let starts = (0..example.len()).filter(|&at| {
            let bytes = example.as_bytes();
            in_word(bytes[at]) && (at == 0 || !in_word(bytes[at - 1]))
        });
        let common =
            |at: usize| example.bytes().skip(at).zip(text.bytes()).take_while(|(a, b)| a == b).count();
        let alike = |at: usize| {
            let common = common(at);
            if common > 0 && crate::nearest(word(text), [word(&example[at..])]).is_some() {
                word(text).len().max(common)
            } else if common >= ALIKE {
                common
            } else {
                0
            }
        };
        starts.map(alike).max().unwrap_or(0)
    };
    dialect
        .examples
        .iter()
        .map(|example| of_example(example.text))
        .max()
        .filter(|&common| common > 1)
        .unwrap_or(0)
}

/// The letters and digits with which a text begins.
fn word(text: &str) -> &str {
    text.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default()
}

/// The most texts that are shown to somebody who gave none.
const SHOWN: usize = 5;

/// Letters that are more than chance.
const ALIKE: usize = 3;

/// How far in the text an error came.
fn reach(error: &Error) -> usize {
    error.span().map_or(0, |span: Range<usize>| span.start)
}

/// The error that came furthest in the text; of several, that of the first notation. `read_as` says how that notation came
/// to be asked, with `{}` for its title.
fn furthest(errors: Vec<(&'static Dialect, Error)>, read_as: &str) -> Error {
    let far = errors.iter().map(|(_, error)| reach(error)).max().unwrap_or(0);
    let found = errors.into_iter().find(|(_, error)| reach(error) == far);
    found.map_or_else(
        || Error::new("no notation reads this text"),
        |(dialect, error)| {
            let read_as = read_as.replace("{}", dialect.title);
            let rule = match error.broken_rule() {
                Some(rule) => format!("{rule}; {read_as}"),
                None => read_as,
            };
            error.rule(rule)
        },
    )
}

/// Whether two readings of a text say the same arrays.
fn agree(a: &[Found], b: &[Found]) -> bool {
    a.len() == b.len()
        && a.iter().zip(b).all(|(a, b)| {
            a.said.element() == b.said.element()
                && match (a.said.layout(), b.said.layout()) {
                    (Ok(a), Ok(b)) => a == b,
                    (Err(_), Err(_)) => true,
                    _ => false,
                }
        })
}

fn ambiguous(text: &str, a: &Dialect, b: &Dialect) -> Error {
    Error::new(format!("this is {} and {}, and they differ in what it means", a.title, b.title))
        .at(0..text.len())
        .rule("a text is read in one notation")
        .accepts(format!("the notation's name: --as {} or --as {}, in Python notation=", a.name, b.name))
}
