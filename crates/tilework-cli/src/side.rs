//! A layout that data have, or are to have.

use std::ffi::OsString;
use std::sync::Arc;

use tilework::dialect::{Axes, Known, Said, in_order_of, with_axes};
use tilework::{
    Element,
    xla::{self, ArrayShape, Shape},
};
use tilework::{Error, Layout};
use tilework_copy::Conversion;

use crate::args::Args;
use crate::input;
use crate::subject::{self, Bad};

/// The names of two sides' dimensions, of which the second stand in the order of the first.
pub struct Names<'a>(&'a [Axes]);

impl<'a> Names<'a> {
    /// None, one list for both sides, or one for each.
    pub fn new(given: &'a [Axes]) -> Result<Names<'a>, Bad> {
        match given.len() {
            0..=2 => Ok(Names(given)),
            count => {
                let error =
                    Error::new(format!("--axes {count} times")).accepts("once, or once for each side");
                Err(Bad::new(error, ""))
            }
        }
    }

    /// What was read as the first side, or as the second, with its names.
    pub fn put_on(&self, said: Said, is_second: bool, text: &str) -> Result<Said, Bad> {
        let named = match self.0 {
            [] => Ok(said),
            [first, second] if is_second => in_order_of(said, second.clone(), first),
            [first, ..] => with_axes(said, first.clone()),
        };
        named.map_err(|error| Bad::new(error.or_at(0..text.len()), text))
    }
}

/// A layout with the type of its elements.
pub struct Side {
    pub said: Said,
    pub layout: Layout,
    pub element: Element,
}

impl Side {
    /// Reads a layout in any notation, with what is known besides: the braces of a shape alone say neither sizes nor type.
    pub fn read(given: &OsString, known: Known, args: &Args) -> Result<Side, Bad> {
        let text = input::argument(given).map_err(|error| Bad::new(error, &given.to_string_lossy()))?;
        Side::read_text(text, None, known, args)
    }

    /// The same from a text; `line` is that of standard input where it is from there.
    pub fn read_text(text: &str, line: Option<u64>, known: Known, args: &Args) -> Result<Side, Bad> {
        Side::of(subject::read_one(text, line, known, args)?, text)
    }

    /// Reads where the elements of this layout are to go, and says how they change on the way, if they do: only where
    /// `--convert` asks for it, which may name their new type.
    pub fn read_to(
        &self,
        given: Option<&OsString>,
        convert: Option<Option<Element>>,
        args: &Args,
    ) -> Result<(Side, Option<Conversion>), Bad> {
        let element = convert.flatten().unwrap_or(self.element);
        let dims = self.layout.dims();
        let to = match given {
            Some(given) => Side::read(given, Known::array(dims, element), args)?,
            None => Side::dense(element, dims, false)?,
        };
        if convert.is_some_and(|element| element.is_some_and(|element| element != to.element)) {
            let error = Error::new(format!("--convert={element} and {}", to.said))
                .rule("both say the same element type")
                .accepts("--convert alone");
            return Err(Bad::new(error, ""));
        }
        let conversion = self.way_to(&to, convert.is_some())?;
        Ok((to, conversion))
    }

    /// The array with this type and these dimensions, row-major or in Fortran order.
    pub fn dense(element: Element, dims: &[u64], is_fortran: bool) -> Result<Side, Bad> {
        let dense = || {
            let array = ArrayShape::new(element, dims.iter().copied())?;
            match is_fortran {
                true => array.with_layout(xla::Layout::new(0..dims.len())?),
                false => Ok(array),
            }
        };
        let array = dense().map_err(|error| Bad::new(error, ""))?;
        Side::of(Arc::new(Shape::from(array)), "")
    }

    /// The same with names for its dimensions.
    pub fn named(self, names: &Names, is_second: bool, text: &str) -> Result<Side, Bad> {
        Side::of(names.put_on(self.said, is_second, text)?, text)
    }

    fn of(said: Said, text: &str) -> Result<Side, Bad> {
        let layout = said.layout().map_err(|error| Bad::new(error.or_at(0..text.len()), text))?;
        match said.element() {
            Some(element) => Ok(Side { said, layout, element }),
            None => Err(Bad::new(Error::new("no element type").at(0..text.len()), text)),
        }
    }

    /// How elements change from here to there; not at all unless `converts` allows it.
    fn way_to(&self, to: &Side, converts: bool) -> Result<Option<Conversion>, Bad> {
        let text = format!("{} and {}", self.said, to.said);
        let fail = |found: String, rule: &str, accepts: String| {
            Err(Bad::new(Error::new(found).rule(rule).accepts(accepts), &text))
        };
        if self.layout.dims() != to.layout.dims() {
            let found = format!("dimensions {:?} and {:?}", self.layout.dims(), to.layout.dims());
            return fail(
                found,
                "both layouts have the same dimensions",
                format!("{:?} in both", self.layout.dims()),
            );
        }
        let same = self.said.may_be(to.element) || to.said.may_be(self.element);
        let bits = [self.layout.bits(), to.layout.bits()];
        if !same {
            if converts {
                let conversion = self.conversion_to(to).map_err(|error| Bad::new(error, &text))?;
                self.as_wide_as(conversion.from())?;
                to.as_wide_as(conversion.to())?;
                return Ok(Some(conversion));
            }
            return Err(Bad::new(self.other_type(to), &text));
        }
        if bits[0] != bits[1] {
            let found = format!("{} of {} bits and of {} bits each", self.element, bits[0], bits[1]);
            return fail(
                found,
                "elements are moved as they are, so they are as wide on both sides",
                format!("E({}) in both layouts", bits[0]),
            );
        }
        if bits[0] > 128 {
            let found = format!("elements of {} bits", bits[0]);
            return fail(found, "elements are no wider than the widest type", "up to E(128)".to_owned());
        }
        Ok(None)
    }

    /// The conversion of elements from here to there.
    pub fn conversion_to(&self, to: &Side) -> tilework::Result<Conversion> {
        Conversion::between(self.element, to.element)
    }

    /// What is wrong with another element type where nobody asked for a conversion.
    pub fn other_type(&self, to: &Side) -> Error {
        let alike = format!("{} in both layouts", self.element);
        Error::new(format!("element types {} and {}", self.element, to.element))
            .rule("elements are moved as they are, unless --convert is given")
            .accepts(match self.conversion_to(to) {
                Ok(_) => format!("--convert, or {alike}"),
                Err(_) => alike,
            })
    }

    /// Whether elements are as wide as their type, which those of 4 bits are not unless the layout says so.
    fn as_wide_as(&self, element: Element) -> Result<(), Bad> {
        let (found, want) = (self.layout.bits(), element.bits());
        if found == want {
            return Ok(());
        }
        let text = self.said.to_string();
        let error = Error::new(format!("{element} of {found} bits each in {text}"))
            .rule(format!("a conversion has {element} of {want} bits, side by side"))
            .accepts(format!("E({want}) in the layout, such as {element}[3,5]{{1,0:E({want})}}"));
        Err(Bad::new(error, &text))
    }
}
