//! Reading what today's XLA does not have: Tilework's `strides(..)` and `pad(..)`, and the `D(..)` of 2023 to 2025.

use std::ops::Range;

use super::layout::{Layout, Padding, PaddingValue, Strides};
use super::lex::{Reader, quoted};
use super::shape::{Dim, check_padded, check_rank};
use crate::error::{Error, Result};

impl Reader<'_> {
    /// `strides(5,1),base(2),size(16)` with its qualifiers, from behind the `{` to the `}`.
    #[cold]
    #[inline(never)]
    pub(super) fn strided_layout(&mut self, out: &mut Layout, dims: Option<&[Dim]>) -> Result<()> {
        let word = self.token();
        if !self.eat_word("strides") {
            return Err(self.unexpected("dimension numbers, strides(..), or : and qualifiers"));
        }
        if self.strict {
            return Err(self.own_word(word));
        }
        let (strides, place) = self.list("strides(5,1)", |reader| reader.signed("a stride in elements"))?;
        if let Some(dims) = dims {
            check_rank("strides", strides.len(), dims.len()).map_err(|error| error.at(place))?;
        }
        let mut free = Strides { strides, base: None, size: None };
        while self.eat(b',') {
            let word = self.token();
            let name = self.peek_word();
            let slot = match name {
                "base" if free.size.is_some() => {
                    return Err(Error::new("size(..) stands before base(..)")
                        .at(word)
                        .rule("the words have a fixed order")
                        .accepts("strides(..),base(..),size(..)"));
                }
                "base" => &mut free.base,
                "size" => &mut free.size,
                _ => return Err(self.unexpected("base(..) or size(..)")),
            };
            if slot.is_some() {
                return Err(Error::new(format!("{name}(..) stands twice"))
                    .at(word)
                    .accepts("strides(..),base(..),size(..), each at most once"));
            }
            self.word();
            self.expect(b'(', &format!("( and a number, as in {name}(16)"))?;
            *slot = Some(self.number("a number of elements")?);
            self.expect(b')', &format!(") after the number in {name}(..)"))?;
        }
        *out = Layout::strided(free)?;
        if self.eat(b':') {
            self.qualifiers(out, dims)?;
        }
        self.expect(b'}', "}, or : and qualifiers such as S(1)")
    }

    /// `(4,6)=zero` behind the word `pad`.
    #[cold]
    #[inline(never)]
    pub(super) fn padding(
        &mut self,
        layout: &mut Layout,
        dims: Option<&[Dim]>,
        word: Range<usize>,
    ) -> Result<()> {
        if self.strict {
            return Err(self.own_word(word));
        }
        let (padded_dimensions, place) =
            self.list("pad(4,6)", |reader| reader.number("the allocated size of a dimension"))?;
        for (number, (&padded, &dim)) in padded_dimensions.iter().zip(dims.unwrap_or_default()).enumerate() {
            check_padded(number, dim, padded).map_err(|error| error.at(self.item(place.start, number)))?;
        }
        let mut value = PaddingValue::Invalid;
        if self.eat(b'=') {
            let word = self.token();
            let name = self.peek_word();
            value = PaddingValue::from_name(name).ok_or_else(|| match name {
                "" => self.unexpected(VALUES),
                _ => Error::new(format!("{} is not a padding value", quoted(name))).at(word).accepts(VALUES),
            })?;
            self.word();
        }
        let padding = Some(Padding { padded_dimensions, value });
        layout.update(|layout| layout.with_padding(padding)).map_err(|error| error.at(place))
    }

    /// `(D,D)` behind the word `D`: dense dimensions say nothing, and anything else is of a sparse array.
    #[cold]
    #[inline(never)]
    pub(super) fn dimension_levels(&mut self, rank: usize) -> Result<()> {
        let (levels, place) = self.list("D(D,D)", |reader| {
            let sparse = |span: Range<usize>, what: String| {
                Error::new(what)
                    .at(span)
                    .rule("sparse layouts are not supported by today's XLA")
                    .accepts("D for every dimension, or no D(..) at all")
            };
            let span = reader.token();
            match reader.peek_word() {
                "D" => {}
                "C" => return Err(sparse(span, "a compressed dimension".to_owned())),
                "S" => return Err(sparse(span, "a singleton dimension".to_owned())),
                "H" => return Err(sparse(span, "a loosely compressed dimension".to_owned())),
                _ => return Err(reader.unexpected("D")),
            }
            reader.word();
            let what = match reader.peek() {
                b'+' => "a dimension with repeated indices",
                b'~' => "a dimension with unordered indices",
                _ => return Ok(()),
            };
            Err(sparse(reader.here()..reader.here() + 1, what.to_owned()))
        })?;
        check_rank("dim_level_types", levels.len(), rank).map_err(|error| {
            error.at(place).accepts(format!("D for each of {rank} dimensions, or no D(..) at all"))
        })
    }

    /// A list in parentheses, and where its items stand. `example` shows the whole with its word.
    fn list<T>(
        &mut self,
        example: &str,
        mut item: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<(Vec<T>, Range<usize>)> {
        self.expect(b'(', &format!("( and a list, as in {example}"))?;
        let start = self.here();
        let mut list = Vec::new();
        self.items(
            |mark| mark == b')',
            |reader| {
                list.push(item(reader)?);
                Ok(())
            },
        )?;
        let place = start..self.end().max(start);
        self.expect(b')', "a comma and one item more, or )")?;
        Ok((list, place))
    }

    /// What strict reading says of Tilework's own words.
    fn own_word(&self, span: Range<usize>) -> Error {
        Error::new(format!("{}(..) is Tilework's own word", self.slice(span.clone())))
            .at(span)
            .rule("strict XLA text has only XLA's words")
            .accepts("a dimension order and XLA's qualifiers")
    }
}

const VALUES: &str = "zero, one, lowest, highest, unknown or invalid";
