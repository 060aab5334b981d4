//! Reading what few layouts have: the qualifiers besides `T`, `E` and `S`, and what XLA does not have today, which is
//! Tilework's `strides(..)` and `pad(..)` and the `D(..)` of 2023 to 2025.

use std::ops::Range;

use crate::element::Element;
use crate::error::{Error, Result, quoted};
use crate::xla::text::lex::Reader;
use crate::xla::text::parse_layout::Qualifier;
use crate::xla::value::layout::{Layout, SplitConfig};
use crate::xla::value::padding::{Padding, PaddingValue, Strides};
use crate::xla::value::shape::{Dim, Shape, check_padded, check_rank, physical_shape_on_dense};

impl Reader<'_> {
    /// Those that few layouts have.
    #[inline(never)]
    pub(crate) fn rare_qualifier(
        &mut self,
        qualifier: Qualifier,
        word: Range<usize>,
        layout: &mut Layout,
        dims: Option<&[Dim]>,
    ) -> Result<()> {
        match qualifier {
            Qualifier::T | Qualifier::E | Qualifier::S => Ok(()),
            Qualifier::L => {
                let (elements, place) = self.argument(qualifier)?;
                layout
                    .update(|layout| layout.with_tail_padding_alignment_in_elements(elements))
                    .map_err(|error| error.at(place))
            }
            Qualifier::M => {
                let (bytes, place) = self.argument(qualifier)?;
                layout
                    .update(|layout| layout.with_dynamic_shape_metadata_prefix_bytes(bytes))
                    .map_err(|error| error.at(place))
            }
            Qualifier::Index | Qualifier::Pointer => {
                let (kind, place) = self.sparse_type(qualifier)?;
                let (index, pointer) = match qualifier {
                    Qualifier::Index => (Some(kind), layout.pointer_primitive_type()),
                    _ => (layout.index_primitive_type(), Some(kind)),
                };
                layout
                    .update(|layout| layout.with_sparse_types(index, pointer))
                    .map_err(|error| error.at(place))
            }
            Qualifier::Sc => {
                let configs = self.split_configs(layout, dims)?;
                layout.update(|layout| layout.with_split_configs(configs)).map_err(|error| error.or_at(word))
            }
            Qualifier::P if dims.is_some() => Err(physical_shape_on_dense().at(word)),
            Qualifier::P => {
                let mut shape = Shape::Token;
                self.expect(b'(', "( and a shape, as in P(f32[2])")?;
                self.nested(|reader| reader.shape(&mut shape))?;
                self.expect(b')', ") after the shape in P(..)")?;
                layout.update(|layout| Ok(layout.with_physical_shape(Some(shape))))
            }
            Qualifier::D => self.dimension_levels(),
            Qualifier::Pad => self.padding(layout, dims, word),
        }
    }

    /// `(type)` of `#` and `*`, and where the type stands.
    fn sparse_type(&mut self, qualifier: Qualifier) -> Result<(Element, Range<usize>)> {
        const INTEGER: &str = "an integer type such as u32";
        let name = qualifier.name();
        self.expect(b'(', &format!("( and an integer type, as in {name}(u32)"))?;
        let place = self.token();
        let word = self.peek_word();
        if word.is_empty() {
            return Err(self.unexpected(INTEGER));
        }
        self.word();
        let kind = Element::from_name(word).ok_or_else(|| {
            Error::new(format!("{} is not a type", quoted(word))).at(place.clone()).accepts(INTEGER)
        })?;
        self.expect(b')', &format!(") after the type in {name}(..)"))?;
        Ok((kind, place))
    }

    /// One or more `(dimension:indices)`.
    fn split_configs(&mut self, layout: &Layout, dims: Option<&[Dim]>) -> Result<Vec<SplitConfig>> {
        let mut configs = Vec::new();
        while configs.is_empty() || self.peek() == b'(' {
            self.expect(b'(', "( and a split, as in SC(0:16)")?;
            let place = self.token();
            let dimension = self.number("the number of a physical dimension, 0 being the most major")?;
            self.expect(b':', ": and the indices where the dimension is split, as in SC(0:16)")?;
            let mut split_indices = Vec::new();
            self.items(
                |mark| mark == b')',
                |reader| {
                    split_indices.push(reader.number("an index where the dimension is split, or )")?);
                    Ok(())
                },
            )?;
            self.expect(b')', ", and one index more, or )")?;
            let config = SplitConfig { dimension, split_indices };
            let fits = config.check(layout.rank(), &configs).and_then(|()| match dims {
                Some(dims) => config.check_size(dims[layout.major(dimension as usize)].bound()),
                None => Ok(()),
            });
            fits.map_err(|error| error.at(place.start..self.end() - 1))?;
            configs.push(config);
        }
        Ok(configs)
    }

    /// `strides(5,1),base(2),size(16)` with its qualifiers, from behind the `{` to the `}`.
    #[cold]
    #[inline(never)]
    pub(crate) fn strided_layout(&mut self, out: &mut Layout, dims: Option<&[Dim]>) -> Result<()> {
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
    fn padding(&mut self, layout: &mut Layout, dims: Option<&[Dim]>, word: Range<usize>) -> Result<()> {
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

    /// `(D,C+~)` behind the word `D`: how each dimension of a sparse array was stored, `+` if indices repeat, `~` if they
    /// have no order. XLA reads it and forgets it, and so does this.
    #[cold]
    #[inline(never)]
    fn dimension_levels(&mut self) -> Result<()> {
        self.list("D(D,D)", |reader| {
            if !matches!(reader.peek_word(), "D" | "C" | "S" | "H") {
                return Err(reader.unexpected("a dimension level: D, C, S or H"));
            }
            reader.word();
            reader.eat(b'+');
            reader.eat(b'~');
            Ok(())
        })?;
        Ok(())
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
