//! Element types as NumPy writes them.

use tilework::{Element, Error, Result, System};
use tilework_copy::Conversion;

/// How NumPy writes an element type: its own types by name, all others (bf16, the 8-bit floats, s4) as plain bytes, which
/// is what `numpy.save` does to the types of the package ml_dtypes.
///
/// ```
/// use tilework::Element;
/// use tilework_files::descr_of;
/// assert_eq!(descr_of(Element::F32), "<f4");
/// assert_eq!(descr_of(Element::Bf16), "<V2");
/// ```
pub fn descr_of(element: Element) -> String {
    match (element.name_in(System::Npy), element.bytes()) {
        (Some(descr), _) => descr.to_owned(),
        (None, 1) => "|V1".to_owned(),
        (None, bytes) => format!("<V{bytes}"),
    }
}

/// The type that NumPy has itself, of a word without its first letter, the order of the bytes.
fn native(rest: &str) -> Option<Element> {
    Element::all().find(|element| element.name_in(System::Npy).is_some_and(|descr| descr[1..] == *rest))
}

/// The element type that a file's word for it stands for. Where the word says no more than a number of bytes, or something
/// other than a number, `given` says the type.
///
/// # Errors
/// A word that is no type of fixed size, no type or one of another width, and a given type that contradicts the word.
pub fn element_of(descr: &str, given: Option<Element>) -> Result<Element> {
    let fail = |found: String| Error::new(found).field("element type");
    let rest = descr.strip_prefix(['<', '>', '|', '=']).unwrap_or(descr);
    let mut letters = rest.chars();
    let kind = letters.next().unwrap_or(' ');
    let digits: String = letters.take_while(char::is_ascii_digit).collect();
    let bytes = digits.parse::<u32>().ok().filter(|_| "biufcVSmM".contains(kind));
    let Some(bytes) = bytes else {
        return Err(fail(format!("{descr:?}"))
            .rule("every element is one value of a fixed number of bytes")
            .accepts("words such as <f4, |i1 or <V2"));
    };
    let native = native(rest);
    match (native, given) {
        (Some(native), None) => Ok(native),
        (Some(native), Some(given)) if native == given => Ok(native),
        // Bytes that NumPy shows as integers are often those of another type: `bf16.view('u2')`.
        (None, Some(given))
        | (Some(Element::U8 | Element::U16 | Element::U32 | Element::U64 | Element::S8), Some(given))
            if given.bytes() == bytes =>
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
                |native| match Conversion::between(native, given) {
                    Ok(_) => format!("{native}; --convert={given} makes {given} of it"),
                    Err(_) => native.to_string(),
                },
            ))),
    }
}

/// Of a word for numbers that are stored with the most significant byte first: the word for the other order, and the bytes
/// of the numbers whose order is to be reversed. A complex number is two.
///
/// ```
/// use tilework_files::little_endian;
/// assert_eq!(little_endian(">f4"), Some(("<f4".to_owned(), 4)));
/// assert_eq!(little_endian(">c8"), Some(("<c8".to_owned(), 4)));
/// assert_eq!(little_endian("<f4"), None);
/// ```
pub fn little_endian(descr: &str) -> Option<(String, usize)> {
    let rest = descr.strip_prefix('>')?;
    let kind = rest.chars().next().filter(|kind| "iufcmM".contains(*kind))?;
    let digits = rest[1..].split(|c: char| !c.is_ascii_digit()).next()?;
    let bytes = digits.parse::<usize>().ok()? / if kind == 'c' { 2 } else { 1 };
    (bytes > 1).then(|| (format!("<{rest}"), bytes))
}

/// Reverses the bytes of each number of `width` bytes; of none, where `width` is 0.
///
/// ```
/// use tilework_files::reverse;
/// let mut bytes = *b"abcdefgh";
/// reverse(&mut bytes, 4);
/// assert_eq!(bytes, *b"dcbahgfe");
/// ```
pub fn reverse(bytes: &mut [u8], width: usize) {
    // Of widths that are known here the compiler makes one instruction.
    match width {
        0 | 1 => {}
        2 => bytes.as_chunks_mut::<2>().0.iter_mut().for_each(|number| number.reverse()),
        4 => bytes.as_chunks_mut::<4>().0.iter_mut().for_each(|number| number.reverse()),
        8 => bytes.as_chunks_mut::<8>().0.iter_mut().for_each(|number| number.reverse()),
        width => bytes.chunks_exact_mut(width).for_each(<[u8]>::reverse),
    }
}

/// Whether NumPy reads a word for a type that it may have written: it writes `<f1` for some types of the package ml_dtypes,
/// and does not read it.
pub fn numpy_reads(descr: &str) -> bool {
    native(descr.trim_start_matches(['<', '>', '|', '='])).is_some()
        || descr.trim_start_matches(['<', '|']).starts_with(['V', 'S', 'm', 'M'])
}

/// A type of `bytes` bytes that NumPy has no word for.
fn example(bytes: u32) -> &'static str {
    match bytes {
        1 => "f8e4m3fn or s4",
        2 => "bf16",
        4 => "f32",
        8 => "f64",
        16 => "c128",
        _ => "none: no element type has that size",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_comes_back_from_its_word() {
        for element in Element::all() {
            let descr = descr_of(element);
            assert_eq!(element_of(&descr, Some(element)), Ok(element), "{descr}");
        }
    }

    #[test]
    fn words_that_say_bytes_need_a_type_of_so_many() {
        assert!(
            element_of("<V2", None)
                .is_err_and(|error| error.to_string().contains("--dtype TYPE, such as bf16"))
        );
        assert_eq!(element_of("|V2", Some(Element::Bf16)), Ok(Element::Bf16));
        assert_eq!(element_of("<u2", Some(Element::Bf16)), Ok(Element::Bf16));
        assert!(element_of("<V2", Some(Element::F32)).is_err());
        assert!(
            element_of("<f4", Some(Element::S32))
                .is_err_and(|error| error.to_string().contains("accepted: f32"))
        );
        assert_eq!(element_of("<M8[ns]", Some(Element::S64)), Ok(Element::S64));
    }

    #[test]
    fn a_word_that_numpy_writes_and_does_not_read_is_read_but_not_written() {
        assert_eq!(element_of("<f1", Some(Element::F8e5m2)), Ok(Element::F8e5m2));
        assert!(!numpy_reads("<f1") && numpy_reads("<f2") && numpy_reads("|u1") && numpy_reads("<V2"));
    }

    #[test]
    fn the_order_of_the_bytes_is_no_part_of_the_type() {
        assert_eq!(element_of(">f4", None), Ok(Element::F32));
        assert_eq!(element_of(">i2", Some(Element::S16)), Ok(Element::S16));
        assert_eq!(element_of(">i1", None), Ok(Element::S8));
        assert_eq!(little_endian(">M8[ns]"), Some(("<M8[ns]".to_owned(), 8)));
        for descr in [">i1", "|u1", ">V2", ">S3", ">", ">f", ">f99999999999999999999999", "f4", ">\u{e9}4"] {
            assert_eq!(little_endian(descr), None, "{descr}");
        }
    }

    #[test]
    fn objects_and_texts_are_refused() {
        for descr in ["|O", "", "<", "<U3", "<f", "<f99999999999", "\u{e9}4", "<x4"] {
            assert!(element_of(descr, None).is_err(), "{descr}");
            assert!(element_of(descr, Some(Element::F32)).is_err(), "{descr}");
        }
    }
}
