//! What a relayout is asked for beyond moving the elements, in words: `fill=zero convert`.

use tilework::{Error, PlanOptions, Result};
use tilework_copy::Conversion;

use crate::layout::Layout;

/// What the words say.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) plan: PlanOptions,
    pub(crate) conversion: Option<Conversion>,
}

/// Reads the words; without a fill among them the text of the destination may name one.
pub(crate) fn read(words: &str, from: &Layout, to: &Layout) -> Result<Options> {
    let (mut fill, mut conversion) = (None, None);
    for word in words.split_ascii_whitespace() {
        let start = word.as_ptr().addr() - words.as_ptr().addr();
        let place = start..start + word.len();
        let twice = |name: &str| {
            let error = Error::new(format!("{name} stands twice"));
            Err(error.at(place.clone()).rule("an option stands once"))
        };
        if let Some(value) = word.strip_prefix("fill=") {
            if fill.is_some() {
                return twice("fill");
            }
            fill = Some(read_fill(value, to).map_err(|error| error.at(place))?);
        } else if word == "convert" {
            if conversion.is_some() {
                return twice("convert");
            }
            conversion = Some(convert(from, to).map_err(|error| error.at(place))?);
        } else {
            return Err(Error::new(format!("the option {word:?}"))
                .at(place)
                .rule("options are words with blanks between them")
                .accepts("fill=zero, fill=one, fill=lowest, fill=highest, fill=-1.5, fill=0x7fc0, fill=none, convert"));
        }
    }
    let plan = PlanOptions { fill: fill.unwrap_or(to.fill), converts: false };
    Ok(Options { plan, conversion: conversion.flatten() })
}

/// The conversion from the one type to the other; none if it is the same.
fn convert(from: &Layout, to: &Layout) -> Result<Option<Conversion>> {
    if from.element == to.element {
        return Ok(None);
    }
    Conversion::between(from.element, to.element).map(Some)
}

/// A value of the element type or its bits; none if padding is to be left alone.
fn read_fill(value: &str, to: &Layout) -> Result<Option<u128>> {
    match value {
        "none" => Ok(None),
        _ => to.element.fill_bits(value, to.layout.bits()).map(Some),
    }
}

#[cfg(test)]
mod tests {
    use tilework::Element;

    use super::*;

    fn fill(words: &str, to: &str) -> Result<Option<u128>> {
        let to = Layout::parse(to)?;
        read(words, &to, &to).map(|options| options.plan.fill)
    }

    #[test]
    fn a_fill_is_a_value_of_the_element_type_or_its_bits() -> Result<()> {
        assert_eq!(fill("", "bf16[3]")?, None);
        assert_eq!(fill(" fill=lowest ", "bf16[3]")?, Some(0xff80));
        assert_eq!(fill("fill=0x7fc0", "bf16[3]")?, Some(0x7fc0));
        assert_eq!(fill("fill=one", "FLOAT32 [3]")?, Some(0x3f80_0000));
        assert_eq!(fill("fill=highest", "INT8 [3]")?, Some(0x7f));
        assert_eq!(fill("fill=1", "bf16[3]")?, Some(0x3f80)); // a number is a value, not bits
        assert_eq!(fill("fill=-8", "s4[3]")?, Some(0xf8)); // and the same one in a wider place
        Ok(())
    }

    #[test]
    fn the_destination_may_name_its_padding_value_and_an_option_outweighs_it() -> Result<()> {
        let to = "s8[3]{0:pad(5)=one}";
        assert_eq!(fill("", to)?, Some(1));
        assert_eq!(fill("fill=zero", to)?, Some(0));
        assert_eq!(fill("fill=none", to)?, None);
        Ok(())
    }

    #[test]
    fn what_is_no_option_is_located() {
        for (words, place) in [
            ("fill", 0..4),
            (" fill=", 1..6),
            ("fill=0x", 0..7),
            ("fill=unknown", 0..12),
            ("fill=one  fill=one", 10..18),
            ("threads=2", 0..9),
            ("convert convert", 8..15),
            ("fill=zero", 0..9),
        ] {
            let error = fill(words, "f8e8m0fnu[3]").expect_err(words);
            assert_eq!(error.span(), Some(place), "{words}");
        }
    }

    #[test]
    fn conversions_are_those_between_the_types_of_the_texts() -> Result<()> {
        let kinds = |from: &str, to: &str| {
            let (from, to) = (Layout::parse(from)?, Layout::parse(to)?);
            let conversion = read("convert", &from, &to)?.conversion;
            Ok(conversion.map(|conversion| (conversion.from(), conversion.to())))
        };
        assert_eq!(kinds("f32[3]", "bf16[3]")?, Some((Element::F32, Element::Bf16)));
        assert_eq!(kinds("FLOAT32 [3]", "f8e4m3fn[3]")?, Some((Element::F32, Element::F8e4m3fn)));
        assert_eq!(kinds("INT8 [3]", "INT4 [3]")?, Some((Element::S8, Element::S4)));
        assert_eq!(kinds("f64[3]", "u16[3]")?, Some((Element::F64, Element::U16)));
        assert_eq!(kinds("s32[3]", "s32[3]")?, None);
        for (from, to) in [("f32[3]", "c64[3]"), ("c128[3]", "f64[3]"), ("u2[3]", "u8[3]")] {
            let error: Error = kinds(from, to).expect_err(from);
            assert_eq!(error.span(), Some(0..7));
        }
        Ok(())
    }
}
