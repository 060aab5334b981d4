//! Element types as NumPy writes them.

use tilework::Element;
use tilework::{Error, Result};
use tilework_copy::Conversion;

use Element as P;

/// The types that NumPy has itself.
#[rustfmt::skip]
const NATIVE: [(&str, Element); 14] = [
    ("|b1", P::Pred),
    ("|i1", P::S8), ("<i2", P::S16), ("<i4", P::S32), ("<i8", P::S64),
    ("|u1", P::U8), ("<u2", P::U16), ("<u4", P::U32), ("<u8", P::U64),
    ("<f2", P::F16), ("<f4", P::F32), ("<f8", P::F64),
    ("<c8", P::C64), ("<c16", P::C128),
];

/// How NumPy writes an element type: its own types by name, all others (bf16, the 8-bit floats, s4) as plain bytes, which
/// is what `numpy.save` does to the types of the package ml_dtypes. None for what has no elements.
///
/// ```
/// use tilework::Element;
/// use tilework_files::descr_of;
/// assert_eq!(descr_of(Element::F32).as_deref(), Some("<f4"));
/// assert_eq!(descr_of(Element::Bf16).as_deref(), Some("<V2"));
/// ```
pub fn descr_of(element: Element) -> Option<String> {
    if let Some((descr, _)) = NATIVE.iter().find(|row| row.1 == element) {
        return Some((*descr).to_owned());
    }
    element.byte_width().map(|bytes| if bytes == 1 { "|V1".to_owned() } else { format!("<V{bytes}") })
}

/// The element type that a file's word for it stands for. Where the word says no more than a number of bytes, or something
/// other than a number, `given` says the type.
///
/// # Errors
/// A word that is no type of fixed size, bytes in the other order, no type or one of another width, and a given type that
/// contradicts the word.
pub fn element_of(descr: &str, given: Option<Element>) -> Result<Element> {
    let fail = |found: String| Error::new(found).field("element type");
    let (order, rest) = match descr.as_bytes() {
        [order @ (b'<' | b'>' | b'|' | b'='), ..] => (*order, &descr[1..]),
        _ => (b'=', descr),
    };
    let mut letters = rest.chars();
    let kind = letters.next().unwrap_or(' ');
    let digits: String = letters.take_while(char::is_ascii_digit).collect();
    let bytes = digits.parse::<u32>().ok().filter(|_| "biufcVSmM".contains(kind));
    let Some(bytes) = bytes else {
        return Err(fail(format!("{descr:?}"))
            .rule("every element is one value of a fixed number of bytes")
            .accepts("words such as <f4, |i1 or <V2"));
    };
    if order == b'>' && bytes > 1 && "iufcmM".contains(kind) {
        return Err(fail(format!("{descr:?}, most significant byte first"))
            .rule("elements are stored with the least significant byte first")
            .accepts(format!("array.astype('<{}') before numpy.save", &rest)));
    }
    let native = NATIVE.iter().find(|row| row.0[1..] == *rest).map(|row| row.1);
    match (native, given) {
        (Some(native), None) => Ok(native),
        (Some(native), Some(given)) if native == given => Ok(native),
        // Bytes that NumPy shows as integers are often those of another type: `bf16.view('u2')`.
        (None, Some(given)) | (Some(P::U8 | P::U16 | P::U32 | P::U64 | P::S8), Some(given))
            if given.byte_width() == Some(bytes) =>
        {
            Ok(given)
        }
        (None, None) => {
            Err(fail(format!("{descr:?}, which says {bytes} bytes and not which number they are"))
                .rule("the element type is known")
                .accepts(format!("--dtype TYPE, such as {}", example(bytes))))
        }
        (_, Some(given)) => Err(fail(format!("{given} for a file of {descr:?}"))
            .rule("the type is the file's, or one of as many bytes where the file says plain bytes")
            .accepts(native.map_or_else(
                || example(bytes).to_owned(),
                |native| match Conversion::between(native.name(), given.name()) {
                    Ok(_) => format!("{native}; --convert={given} makes {given} of it"),
                    Err(_) => native.to_string(),
                },
            ))),
    }
}

/// Whether NumPy reads a word for a type that it may have written: it writes `<f1` for some types of the package ml_dtypes,
/// and does not read it.
pub fn numpy_reads(descr: &str) -> bool {
    let is_native = NATIVE.iter().any(|row| row.0[1..] == *descr.trim_start_matches(['<', '>', '|', '=']));
    is_native || descr.trim_start_matches(['<', '|']).starts_with(['V', 'S', 'm', 'M'])
}

/// A type of so many bytes that NumPy has no word for.
fn example(bytes: u32) -> &'static str {
    match bytes {
        1 => "f8e4m3fn or s4",
        2 => "bf16",
        4 => "f32",
        8 => "f64",
        16 => "c128",
        _ => "none: no element type has so many bytes",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_comes_back_from_its_word() {
        for element in Element::all().filter(|element| element.is_array_type()) {
            let descr = descr_of(element).expect("array types have words");
            assert_eq!(element_of(&descr, Some(element)), Ok(element), "{descr}");
        }
        assert_eq!(descr_of(P::Token), None);
    }

    #[test]
    fn words_that_say_bytes_need_a_type_of_so_many() {
        assert!(
            element_of("<V2", None)
                .is_err_and(|error| error.to_string().contains("--dtype TYPE, such as bf16"))
        );
        assert_eq!(element_of("|V2", Some(P::Bf16)), Ok(P::Bf16));
        assert_eq!(element_of("<u2", Some(P::Bf16)), Ok(P::Bf16));
        assert!(element_of("<V2", Some(P::F32)).is_err());
        assert!(
            element_of("<f4", Some(P::S32)).is_err_and(|error| error.to_string().contains("accepted: f32"))
        );
        assert_eq!(element_of("<M8[ns]", Some(P::S64)), Ok(P::S64));
    }

    #[test]
    fn a_word_that_numpy_writes_and_does_not_read_is_read_but_not_written() {
        assert_eq!(element_of("<f1", Some(P::F8e5m2)), Ok(P::F8e5m2));
        assert!(!numpy_reads("<f1") && numpy_reads("<f2") && numpy_reads("|u1") && numpy_reads("<V2"));
    }

    #[test]
    fn bytes_in_the_other_order_and_objects_are_refused() {
        assert!(
            element_of(">f4", None).is_err_and(|error| error.to_string().contains("array.astype('<f4')"))
        );
        assert!(element_of(">i2", Some(P::S16)).is_err());
        assert_eq!(element_of(">i1", None), Ok(P::S8));
        for descr in ["|O", "", "<", "<U3", "<f", "<f99999999999", "\u{e9}4", "<x4"] {
            assert!(element_of(descr, None).is_err(), "{descr}");
            assert!(element_of(descr, Some(P::F32)).is_err(), "{descr}");
        }
    }
}
