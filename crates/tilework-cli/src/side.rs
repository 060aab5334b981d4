//! A layout that data have, or are to have.

use std::ffi::{OsStr, OsString};

use tilework::xla::{PrimitiveType, Shape};
use tilework::{Error, Layout};
use tilework_copy::{Conversion, Kind};
use tilework_explain::Subject;

use crate::args::Args;
use crate::input;
use crate::subject::{self, Bad};

/// A layout with the type of its elements.
pub struct Side {
    pub subject: Subject,
    pub layout: Layout,
    pub element: PrimitiveType,
}

impl Side {
    /// Reads a shape or a descriptor, or the braces of a shape alone, which `known` then gives type and dimensions.
    pub fn read(given: &OsString, known: Option<(PrimitiveType, &[u64])>, args: &Args) -> Result<Side, Bad> {
        let text = input::argument(given).map_err(|error| Bad::new(error, &given.to_string_lossy()))?;
        Side::read_text(text, None, known, args)
    }

    /// The same from a text; `line` is that of standard input where it is from there.
    pub fn read_text(
        text: &str,
        line: Option<u64>,
        known: Option<(PrimitiveType, &[u64])>,
        args: &Args,
    ) -> Result<Side, Bad> {
        if !is_braces(OsStr::new(text)) {
            return Side::of(subject::read_one(text, line, args)?, text);
        }
        let Some((element, dims)) = known else {
            let error = Error::new("the braces of a shape alone")
                .at(0..text.len())
                .rule("dimensions and type are known from elsewhere")
                .accepts(format!("all of the shape, such as f32[3,5]{text}"));
            return Err(Bad::new(error, text));
        };
        Side::dense(element, dims, text, args)
    }

    /// Reads where the elements of this layout are to go, and says how they change on the way, if they do: only where
    /// `--convert` asks for it, which may name their new type.
    pub fn read_to(
        &self,
        given: Option<&OsString>,
        convert: Option<Option<PrimitiveType>>,
        args: &Args,
    ) -> Result<(Side, Option<Conversion>), Bad> {
        let element = convert.flatten().unwrap_or(self.element);
        let dims = self.layout.dims();
        let to = match given {
            Some(given) => Side::read(given, Some((element, dims)), args)?,
            None => Side::dense(element, dims, "", args)?,
        };
        if convert.is_some_and(|element| element.is_some_and(|element| element != to.element)) {
            let error = Error::new(format!("--convert={element} and {}", to.subject))
                .rule("both say the same element type")
                .accepts("--convert alone");
            return Err(Bad::new(error, ""));
        }
        let conversion = self.way_to(&to, convert.is_some())?;
        Ok((to, conversion))
    }

    /// The shape with this type and these dimensions; `braces` say its layout, or nothing for row-major.
    pub fn dense(element: PrimitiveType, dims: &[u64], braces: &str, args: &Args) -> Result<Side, Bad> {
        // A scalar has no braces at all.
        let braces = if dims.is_empty() && braces.trim() == "{}" { "" } else { braces };
        let dims: Vec<String> = dims.iter().map(u64::to_string).collect();
        let text = format!("{element}[{}]{braces}", dims.join(","));
        let shape = if args.strict_xla { Shape::parse_strict_xla(&text) } else { Shape::parse(&text) };
        Side::of(Subject::Shape(shape.map_err(|error| Bad::new(error, &text))?), &text)
    }

    fn of(subject: Subject, text: &str) -> Result<Side, Bad> {
        let layout = subject.layout(text).map_err(|error| Bad::new(error, text))?;
        match subject.element() {
            Some(element) => Ok(Side { subject, layout, element }),
            None => Err(Bad::new(Error::new("no element type").at(0..text.len()), text)),
        }
    }

    /// The order of the dimensions that is written down, if one is.
    pub fn minor_to_major(&self) -> Option<&[usize]> {
        let layout = self.subject.as_array()?.layout()?;
        layout.strides().is_none().then(|| layout.minor_to_major())
    }

    /// How elements change from here to there; not at all unless `converts` allows it.
    fn way_to(&self, to: &Side, converts: bool) -> Result<Option<Conversion>, Bad> {
        let text = format!("{} and {}", self.subject, to.subject);
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
        // DirectML has no bool, so its bytes may be those of one.
        let is_byte = |side: &Side| side.subject.as_desc().is_some() && side.element == PrimitiveType::U8;
        let is_pred = |side: &Side| side.element == PrimitiveType::Pred;
        let same = self.element == to.element || is_byte(self) && is_pred(to) || is_pred(self) && is_byte(to);
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
        Conversion::between(self.element.name(), to.element.name())
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

    /// Whether elements are as wide as a kind, which those of 4 bits are not unless the layout says so.
    fn as_wide_as(&self, kind: Kind) -> Result<(), Bad> {
        let (found, want) = (self.layout.bits(), kind.bits());
        if found == want {
            return Ok(());
        }
        let text = self.subject.to_string();
        let error = Error::new(format!("{kind} of {found} bits each in {text}"))
            .rule(format!("a conversion has {kind} of {want} bits, side by side"))
            .accepts(format!("E({want}) in the layout, such as {kind}[3,5]{{1,0:E({want})}}"));
        Err(Bad::new(error, &text))
    }
}

/// Whether this is the layout of a shape without the shape, and no descriptor in JSON.
pub fn is_braces(text: &OsStr) -> bool {
    text.to_string_lossy()
        .trim_start()
        .strip_prefix('{')
        .is_some_and(|rest| !rest.trim_start().starts_with('"'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_are_told_from_json() {
        let is_braces = |text: &str| is_braces(OsStr::new(text));
        assert!(is_braces("{1,0:T(8,128)}") && is_braces(" {strides(5,1)}") && is_braces("{}"));
        assert!(!is_braces("{ \"DataType\": 1}") && !is_braces("f32[2]{0}") && !is_braces("@x.json"));
    }
}
