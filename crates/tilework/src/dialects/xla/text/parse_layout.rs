//! Reading layouts: the dimension order and the qualifiers behind the colon.
//!
//! ```text
//! layout = "{" [ number { "," number } ] [ ":" { qualifier } ] "}"
//! ```
//!
//! The qualifiers stand in one order, each at most once and all optional: `D T L # * E S SC P M`, then Tilework's
//! `pad`. `D(..)` is what XLA printed from 2023 to 2025; it is read and forgotten, as by XLA. `(2,2)` without
//! its `T` and `-1` for `*` are older forms.

use std::ops::Range;
use std::str::FromStr;

use smallvec::SmallVec;

use crate::error::{Error, ErrorKind, Result, quoted};
use crate::xla::text::lex::Reader;
use crate::xla::value::layout::Layout;
use crate::xla::value::shape::{Dim, check_rank};
use crate::xla::value::tile::{Tile, TileDim};

impl Layout {
    /// Reads a layout by itself, of an array with as many dimensions, in the short forms as well that leave the order out:
    /// `T(8,128)(2,1)`, in row-major order, and `row-major` and `column-major`.
    ///
    /// ```
    /// use tilework::xla::Layout;
    /// assert_eq!(Layout::parse_short("T(8,128)", 2)?.to_string(), "{1,0:T(8,128)}");
    /// assert_eq!(Layout::parse_short("column-major", 3)?.to_string(), "{0,1,2}");
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// As of [`Layout::parse`].
    pub fn parse_short(text: &str, rank: usize) -> Result<Layout> {
        match Short::of(text) {
            None => Layout::parse(text),
            Some(Short::RowMajor) => Ok(Layout::descending(rank)),
            Some(Short::ColumnMajor) => Ok(Layout::ascending(rank)),
            Some(Short::Tiles) => {
                let mut reader = Reader::new(text, false);
                let mut layout = Layout::descending(rank);
                reader.qualifiers(&mut layout, None)?;
                match reader.is_at_end() {
                    true => Ok(layout),
                    false => Err(reader.unexpected("the end of the text, since the tiles are complete")),
                }
            }
        }
    }

    /// Reads a layout by itself, such as `{1,0:T(8,128)}`; `{}` is the layout of a scalar.
    ///
    /// ```
    /// use tilework::xla::Layout;
    /// assert_eq!(Layout::parse("{}")?, Layout::descending(0));
    /// assert_eq!(Layout::parse("{ 0, 1 : (2,-1,4) }")?.to_string(), "{0,1:T(2,*,4)}");
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Says where in the text, which rule is broken, and what is accepted there.
    pub fn parse(text: &str) -> Result<Layout> {
        let mut reader = Reader::new(text, false);
        let mut layout = Layout::unread();
        reader.layout(&mut layout, None)?;
        match reader.is_at_end() {
            true => Ok(layout),
            false => Err(reader.unexpected("the end of the text, since the layout is complete")),
        }
    }
}

impl FromStr for Layout {
    type Err = Error;

    fn from_str(text: &str) -> Result<Layout> {
        Layout::parse(text)
    }
}

/// A layout whose order goes without saying.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Short {
    RowMajor,
    ColumnMajor,
    Tiles,
}

impl Short {
    /// What a text is, by its beginning.
    pub(crate) fn of(text: &str) -> Option<Short> {
        match text.trim() {
            "row-major" | "row_major" | "row major" => Some(Short::RowMajor),
            "column-major" | "column_major" | "column major" => Some(Short::ColumnMajor),
            tiles => tiles.strip_prefix('T')?.trim_start().starts_with('(').then_some(Short::Tiles),
        }
    }
}

/// The qualifiers in their order.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
pub(crate) enum Qualifier {
    D,
    T,
    L,
    Index,
    Pointer,
    E,
    S,
    Sc,
    P,
    M,
    Pad,
}

impl Qualifier {
    const NAMES: [&str; 11] = ["D", "T", "L", "#", "*", "E", "S", "SC", "P", "M", "pad"];

    pub(crate) fn name(self) -> &'static str {
        Qualifier::NAMES[self as usize]
    }
}

const ORDER: &str = "T, L, #, *, E, S, SC, P, M, pad in this order, each at most once";

impl Reader<'_> {
    /// Reads a layout from its `{` on into its place; of an array with these dimensions, or by itself.
    pub(crate) fn layout(&mut self, out: &mut Layout, dims: Option<&[Dim]>) -> Result<()> {
        self.expect(b'{', "a layout such as {1,0}")?;
        if self.peek() == b's' {
            return self.strided_layout(out, dims);
        }
        self.order(out, dims)?;
        if self.eat(b':') {
            self.qualifiers(out, dims)?;
        }
        self.expect(b'}', "}, or : and qualifiers such as T(8,128)")
    }

    /// The dimension numbers, minor to major.
    #[inline]
    fn order(&mut self, out: &mut Layout, dims: Option<&[Dim]>) -> Result<()> {
        let brace = self.end();
        let start = self.here();
        let mut count = 0;
        out.read_order(|order| {
            self.items(
                |mark| matches!(mark, b':' | b'}'),
                |reader| {
                    let number = reader.number("dimension numbers, or : and qualifiers")?;
                    // A number too large for an index is too large for any rank as well.
                    order.push(usize::try_from(number).unwrap_or(usize::MAX));
                    Ok(())
                },
            )?;
            count = order.len();
            match dims {
                Some(dims) if count == 0 && self.peek() == b'}' => {
                    Err(self.empty_braces(brace - 1..self.here() + 1, dims.len()))
                }
                Some(dims) => check_rank("minor_to_major", count, dims.len())
                    .map_err(|error| error.at(if count == 0 { brace..brace } else { start..self.end() })),
                None => Ok(()),
            }
        })
        .map_err(|error| match error.span() {
            None => error.at(self.order_fault(start, count)),
            Some(_) => error,
        })
    }

    /// XLA takes `{` for a layout only in front of a number or a colon.
    #[cold]
    fn empty_braces(&self, span: Range<usize>, rank: usize) -> Error {
        let default = Layout::descending(rank);
        Error::new("a layout without dimension numbers")
            .at(span)
            .rule("minor_to_major has one number for each dimension, and a scalar has no braces at all")
            .accepts(if rank == 0 { "no braces".to_owned() } else { format!("such as {default}") })
    }

    /// Where in a dimension order of this many numbers the first one stands that cannot be there.
    #[cold]
    fn order_fault(&self, start: usize, count: usize) -> Range<usize> {
        let mut seen = vec![false; count];
        let mut again = self.back_to(start);
        loop {
            let place = again.token();
            let number = again.number("").ok().and_then(|number| usize::try_from(number).ok());
            match number.and_then(|number| seen.get_mut(number)) {
                Some(seen) if !*seen => *seen = true,
                _ => return place,
            }
            again.eat(b',');
        }
    }

    /// The qualifiers behind a colon, up to the brace.
    pub(crate) fn qualifiers(&mut self, layout: &mut Layout, dims: Option<&[Dim]>) -> Result<()> {
        let mut last = None;
        while self.peek() != b'}' && !self.is_at_end() {
            let start = self.here();
            let qualifier = self.qualifier()?;
            let word = start..self.end().max(start + 1);
            if last >= Some(qualifier) {
                return Err(out_of_order(last, qualifier).at(word));
            }
            last = Some(qualifier);
            if layout.strides().is_some() {
                refuse_on_strides(qualifier).map_err(|error| error.at(word.clone()))?;
            }
            match qualifier {
                Qualifier::T => self.tiles(layout)?,
                Qualifier::E => {
                    let (bits, place) = self.argument(qualifier)?;
                    layout.set_element_size_in_bits(element_bits(bits).map_err(|error| error.at(place))?);
                }
                Qualifier::S => {
                    let (space, place) = self.argument(qualifier)?;
                    layout.set_memory_space(space).map_err(|error| error.at(place))?;
                }
                _ => self.rare_qualifier(qualifier, word, layout, dims)?,
            }
        }
        Ok(())
    }

    /// The name of the next qualifier. In the older form without `T` nothing is passed.
    #[inline]
    fn qualifier(&mut self) -> Result<Qualifier> {
        let word = self.peek_word();
        // As bytes, since this is on the way of every tiled layout.
        let qualifier = match (word.as_bytes(), self.peek()) {
            (b"T", _) => Qualifier::T,
            (b"S", _) => Qualifier::S,
            (b"E", _) => Qualifier::E,
            (b"L", _) => Qualifier::L,
            (b"M", _) => Qualifier::M,
            (b"SC", _) => Qualifier::Sc,
            (b"P", _) => Qualifier::P,
            (b"D", _) => Qualifier::D,
            (b"pad", _) => Qualifier::Pad,
            (_, mark @ (b'#' | b'*')) => {
                self.eat(mark);
                return Ok(if mark == b'#' { Qualifier::Index } else { Qualifier::Pointer });
            }
            (_, b'(') if self.strict => {
                return Err(self.older(self.token(), "tiles without T", "T in front of it"));
            }
            (_, b'(') => return Ok(Qualifier::T),
            _ => return Err(self.unknown_qualifier(word)),
        };
        self.word();
        Ok(qualifier)
    }

    #[cold]
    fn unknown_qualifier(&self, word: &str) -> Error {
        let meant = Qualifier::NAMES.iter().find(|name| name.eq_ignore_ascii_case(word));
        if word.is_empty() {
            return self.unexpected("a qualifier such as T(8,128), or }");
        }
        Error::new(format!("{} is not a qualifier", quoted(word)))
            .of_kind(ErrorKind::Syntax)
            .at(self.token())
            .accepts(match (meant, word) {
                (Some(name), _) => format!("{name}; case matters"),
                (None, "strides") => {
                    "strides(..) right behind the {, instead of the dimension order".to_owned()
                }
                (None, _) => ORDER.to_owned(),
            })
    }

    /// `(number)`, and where the number stands.
    #[inline]
    pub(crate) fn argument(&mut self, qualifier: Qualifier) -> Result<(u64, Range<usize>)> {
        let name = qualifier.name();
        if !self.eat(b'(') {
            return Err(self.unexpected(format!("( and a number, as in {name}(1)")));
        }
        let start = self.here();
        let number = self.number("a number from 0 on")?;
        let place = start..self.end();
        if !self.eat(b')') {
            return Err(self.unexpected(format!(") after the number in {name}(..)")));
        }
        Ok((number, place))
    }

    /// One or more tiles, from the first `(` on.
    #[inline]
    fn tiles(&mut self, layout: &mut Layout) -> Result<()> {
        loop {
            let open = self.here();
            self.expect(b'(', "( and the sizes of a tile, as in T(8,128)")?;
            let start = self.here();
            let mut sizes = SmallVec::<[TileDim; 2]>::new();
            self.items(
                |mark| mark == b')',
                |reader| {
                    let size = reader.tile_size()?;
                    sizes.push(size);
                    Ok(())
                },
            )?;
            self.expect(b')', if sizes.is_empty() { TILE_SIZE } else { ", and one size more, or )" })?;
            // The first entry that is no size; of a good list that ends in `*`, the last.
            let fault =
                sizes.iter().position(|&size| size == TileDim::Size(0)).or(sizes.len().checked_sub(1));
            let tile = Tile::checked(sizes).map_err(|error| match fault {
                Some(entry) => error.at(self.item(start, entry)),
                None => error.at(open..self.end()),
            })?;
            layout.push_tile(tile);
            if self.peek() != b'(' {
                return Ok(());
            }
        }
    }

    #[inline]
    fn tile_size(&mut self) -> Result<TileDim> {
        match self.peek() {
            b'*' => {
                self.eat(b'*');
                Ok(TileDim::Combine)
            }
            b'-' => {
                let span = self.token();
                match self.slice(span.clone()) {
                    "-1" if self.strict => Err(self.older(span, "-1 for *", "*")),
                    "-1" => {
                        self.skip_token();
                        Ok(TileDim::Combine)
                    }
                    _ => self.number(TILE_SIZE).map(TileDim::Size),
                }
            }
            _ => self.number(TILE_SIZE).map(TileDim::Size),
        }
    }
}

fn element_bits(bits: u64) -> Result<u32> {
    u32::try_from(bits).map_err(|_| {
        Error::new(format!("{bits} bits in one element"))
            .field("element_size_in_bits")
            .accepts("0 to 4294967295, where 0 means that the element type decides")
    })
}

const TILE_SIZE: &str = "a size from 1 on, or *";

#[cold]
fn out_of_order(last: Option<Qualifier>, found: Qualifier) -> Error {
    let (last, name) = (last.map_or("", Qualifier::name), found.name());
    if last == name {
        return Error::new(format!("{name}(..) stands twice"))
            .of_kind(ErrorKind::Syntax)
            .rule("each qualifier stands once")
            .accepts(ORDER);
    }
    Error::new(format!("{last}(..) stands before {name}(..)"))
        .of_kind(ErrorKind::Syntax)
        .rule("the qualifiers have a fixed order")
        .accepts(if found == Qualifier::D { "D(..) first of all" } else { ORDER })
}

/// What cannot stand behind `strides(..)`.
fn refuse_on_strides(qualifier: Qualifier) -> Result<()> {
    let name = qualifier.name();
    match qualifier {
        Qualifier::T | Qualifier::P | Qualifier::Pad | Qualifier::D => {
            Err(Error::new(format!("{name}(..) on a layout with free strides"))
                .rule("strides(..) places every element by itself")
                .accepts(format!("either {name}(..) or strides(..)")))
        }
        _ => Ok(()),
    }
}
