//! What a relayout is asked for beyond moving the elements, in words: `fill=zero`.

use tilework::xla::PaddingValue;
use tilework::{Error, PlanOptions, Result};

use crate::layout::Layout;

/// Reads the words; without a fill among them the text of the destination may name one.
pub(crate) fn read(words: &str, to: &Layout) -> Result<PlanOptions> {
    let mut fill = None;
    for word in words.split_ascii_whitespace() {
        let start = word.as_ptr().addr() - words.as_ptr().addr();
        let place = start..start + word.len();
        let Some(value) = word.strip_prefix("fill=") else {
            return Err(Error::new(format!("the option {word:?}"))
                .at(place)
                .rule("options are words with blanks between them")
                .accepts("fill=zero, fill=one, fill=lowest, fill=highest, fill=0x7fc0 or fill=none"));
        };
        if fill.is_some() {
            return Err(Error::new("fill stands twice").at(place).rule("an option stands once"));
        }
        fill = Some(read_fill(value, to).map_err(|error| error.at(place))?);
    }
    Ok(PlanOptions { fill: fill.unwrap_or(to.fill), converts: false })
}

/// A value of the element type or its bits; none if padding is to be left alone.
fn read_fill(value: &str, to: &Layout) -> Result<Option<u128>> {
    let wrong = |found: String| {
        Error::new(found)
            .rule("a fill is a value of the element type, or the bits of one element")
            .accepts("zero, one, lowest, highest, bits such as 0x7fc0, or none")
    };
    if value == "none" {
        return Ok(None);
    }
    if let Some(digits) = value.strip_prefix("0x") {
        let bits = u128::from_str_radix(digits, 16).map_err(|_| wrong(format!("the bits {value:?}")))?;
        return Ok(Some(bits));
    }
    let named = PaddingValue::from_name(value)
        .filter(|value| !matches!(value, PaddingValue::Invalid | PaddingValue::Unknown))
        .ok_or_else(|| wrong(format!("the value {value:?}")))?;
    let bits = to.element.and_then(|element| named.bits(element));
    match (bits, to.element) {
        (Some(bits), _) => Ok(Some(bits)),
        (None, Some(element)) => Err(wrong(format!("{value}, which {element} does not have"))),
        (None, None) => Err(wrong(format!("{value}, which this type does not have"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(words: &str, to: &str) -> Result<Option<u128>> {
        read(words, &Layout::parse(to)?).map(|options| options.fill)
    }

    #[test]
    fn a_fill_is_a_value_of_the_element_type_or_its_bits() -> Result<()> {
        assert_eq!(fill("", "bf16[3]")?, None);
        assert_eq!(fill(" fill=lowest ", "bf16[3]")?, Some(0xff80));
        assert_eq!(fill("fill=0x7fc0", "bf16[3]")?, Some(0x7fc0));
        assert_eq!(fill("fill=one", "FLOAT32 [3]")?, Some(0x3f80_0000));
        assert_eq!(fill("fill=highest", "INT8 [3]")?, Some(0x7f));
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
            ("fill=zero", 0..9),
        ] {
            let error = fill(words, "f8e8m0fnu[3]").expect_err(words);
            assert_eq!(error.span(), Some(place), "{words}");
        }
    }
}
