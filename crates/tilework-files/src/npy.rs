//! NumPy's `.npy`: a magic word, a version, the length of a header, the header (a Python dictionary as text), the data.
//!
//! The header is read here, by hand: three keys, of which the values are a text, `True` or `False`, and a tuple of numbers.
//! Its length comes from the file and is believed only up to a limit.

use tilework::{Error, Layout, Result};

use crate::literal::Literal;

/// What every file begins with.
const MAGIC: &[u8] = b"\x93NUMPY";

/// The longest header that is read. NumPy itself refuses headers of more than 10 000 characters unless told otherwise.
const LONGEST_HEADER: u64 = 1 << 20;

/// The data begins at a multiple of this, so that it can be mapped and read in whole cache lines.
const ALIGN: usize = 64;

/// What the header of an `.npy` file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The element type as NumPy writes it, such as `<f4`.
    pub descr: String,
    /// Whether the first dimension is the most minor.
    pub fortran_order: bool,
    /// The sizes of the dimensions.
    pub shape: Vec<u64>,
    /// Bytes before the data; 0 in a header that was not read but made.
    pub data_offset: u64,
}

/// Whether a file that begins with these bytes is an `.npy` file.
pub fn is_npy(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// Where the data begins, by the first 12 bytes of a file.
///
/// # Errors
/// Another magic word or version, a file shorter than its header, and a header longer than a megabyte.
pub fn data_offset(bytes: &[u8]) -> Result<u64> {
    if !is_npy(bytes) {
        return Err(bad("the file does not begin with the bytes \\x93NUMPY")
            .rule("every npy file begins with them")
            .accepts("a file written by numpy.save"));
    }
    let short =
        || bad(format!("the file ends after {} bytes", bytes.len())).rule("a header says its length first");
    let version = bytes.get(6..8).ok_or_else(short)?;
    let (start, length) = match version {
        [1, 0] => {
            let length = bytes.get(8..10).and_then(|length| length.try_into().ok()).ok_or_else(short)?;
            (10, u64::from(u16::from_le_bytes(length)))
        }
        [2 | 3, 0] => {
            let length = bytes.get(8..12).and_then(|length| length.try_into().ok()).ok_or_else(short)?;
            (12, u64::from(u32::from_le_bytes(length)))
        }
        _ => {
            return Err(bad(format!("version {}.{} of the format", version[0], version[1]))
                .rule("the version says how the header is written")
                .accepts("1.0, 2.0 or 3.0"));
        }
    };
    if length > LONGEST_HEADER {
        return Err(bad(format!("a header of {length} bytes"))
            .rule("the header of an array without fields is short")
            .accepts(format!("up to {LONGEST_HEADER} bytes")));
    }
    Ok(start + length)
}

impl Header {
    /// Reads the header at the beginning of a file; `bytes` are the file, or as much of it as holds the header.
    ///
    /// ```
    /// use tilework_files::npy::Header;
    /// let header = Header { descr: "<f4".into(), fortran_order: true, shape: vec![2, 3], data_offset: 0 };
    /// let bytes = header.bytes()?;
    /// assert_eq!(Header::read(&bytes)?, Header { data_offset: 128, ..header });
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// What is not an `.npy` file, a header that is cut off, and one that does not say an array of plain elements. Nothing
    /// that a file can hold makes it take more memory than the file.
    pub fn read(bytes: &[u8]) -> Result<Header> {
        let data_offset = data_offset(bytes)?;
        let start = if bytes[6] == 1 { 10 } else { 12 };
        let text =
            usize::try_from(data_offset).ok().and_then(|end| bytes.get(start..end)).ok_or_else(|| {
                bad(format!("the file ends after {} bytes", bytes.len()))
                    .rule(format!("its header ends at byte {data_offset}"))
            })?;
        let (mut descr, mut fortran_order, mut shape) = (None, None, None);
        for (key, value) in crate::literal::read_dictionary(text).map_err(|error| error.field(FIELD))? {
            let again = match (key.as_str(), value) {
                ("descr", Literal::Text(text)) => descr.replace(text).is_some(),
                ("descr", Literal::List) => {
                    return Err(bad("an array with fields")
                        .rule("every element is one number")
                        .accepts("one field of it, saved as an array of its own"));
                }
                ("fortran_order", Literal::Bool(value)) => fortran_order.replace(value).is_some(),
                ("shape", Literal::Numbers(sizes)) => shape.replace(sizes).is_some(),
                ("descr" | "fortran_order" | "shape", value) => {
                    return Err(bad(format!("{} as the {key}", value.kind()))
                        .rule("descr is a text, fortran_order True or False, shape a tuple of numbers"));
                }
                _ => {
                    return Err(bad(format!("the key {key:?}"))
                        .rule("a header has the keys descr, fortran_order and shape, and no others"));
                }
            };
            if again {
                return Err(bad(format!("the key {key} twice")).rule("a header has each key once"));
            }
        }
        match (descr, fortran_order, shape) {
            (Some(descr), Some(fortran_order), Some(shape)) => {
                Ok(Header { descr, fortran_order, shape, data_offset })
            }
            (descr, fortran_order, _) => {
                let missing = match (descr, fortran_order) {
                    (None, _) => "descr",
                    (_, None) => "fortran_order",
                    _ => "shape",
                };
                Err(bad(format!("no key {missing}"))
                    .rule("a header has the keys descr, fortran_order and shape"))
            }
        }
    }

    /// The layout of the data: row-major, or column-major in Fortran order.
    ///
    /// # Errors
    /// More dimensions than a layout has, and more bytes than 63 bits can count.
    pub fn layout(&self, bits: u32) -> Result<Layout> {
        let order: Vec<usize> = (0..self.shape.len()).collect();
        let builder = Layout::builder(&self.shape, bits)?;
        if self.fortran_order { builder.minor_to_major(&order)?.build() } else { builder.build() }
    }

    /// The header that says a layout, as far as `.npy` can: first, the same array in C or in Fortran order; second, where the
    /// layout is compact in another order of the dimensions, an array with the dimensions as they lie in memory; third, where
    /// it has tiles, padding or other strides, the flat buffer with all its places in one dimension.
    ///
    /// `minor_to_major` is the order that somebody wrote down, if there is one. Without it dimensions of size 1 could stand
    /// anywhere, and what is stored would depend on the sizes.
    ///
    /// ```
    /// use tilework_files::npy::Header;
    /// use tilework::Layout;
    /// let nhwc = Layout::builder(&[1, 3, 8, 9], 32)?.minor_to_major(&[1, 3, 2, 0])?.build()?;
    /// assert_eq!(Header::of(&nhwc, Some(&[1, 3, 2, 0]), "<f4").shape, [1, 8, 9, 3]);
    /// let tiled = Layout::builder(&[3, 5], 32)?.tile(&[Some(2), Some(2)])?.build()?;
    /// assert_eq!(Header::of(&tiled, None, "<f4").shape, [24]);
    /// # Ok::<(), tilework::Error>(())
    /// ```
    pub fn of(layout: &Layout, minor_to_major: Option<&[usize]>, descr: &str) -> Header {
        let header =
            |fortran_order, shape| Header { descr: descr.to_owned(), fortran_order, shape, data_offset: 0 };
        let dims = layout.dims();
        let ascending: Vec<usize> = (0..dims.len()).collect();
        let descending: Vec<usize> = (0..dims.len()).rev().collect();
        // Elements narrower than a byte, side by side: NumPy has none, so its bytes are counted.
        if !layout.bits().is_multiple_of(8) {
            return Header { descr: "|u1".to_owned(), ..header(false, vec![layout.bytes()]) };
        }
        let order = compact_order(layout, minor_to_major);
        match order {
            Some(order) if order == descending => header(false, dims.to_vec()),
            Some(order) if order == ascending => header(true, dims.to_vec()),
            Some(order) => header(false, order.iter().rev().map(|&dim| dims[dim]).collect()),
            None => header(false, vec![layout.size()]),
        }
    }

    /// The bytes of the header, up to the data: version 1.0 where it fits, as NumPy writes it, else 2.0.
    ///
    /// # Errors
    /// An element type that is no plain ASCII word.
    pub fn bytes(&self) -> Result<Vec<u8>> {
        if !self.descr.chars().all(|c| c.is_ascii_graphic() && c != '\'' && c != '\\') {
            return Err(bad(format!("the element type {:?}", self.descr)).accepts("a word such as <f4"));
        }
        let sizes: Vec<String> = self.shape.iter().map(u64::to_string).collect();
        let shape = match sizes.as_slice() {
            [one] => format!("({one},)"),
            sizes => format!("({})", sizes.join(", ")),
        };
        let order = if self.fortran_order { "True" } else { "False" };
        let text = format!("{{'descr': '{}', 'fortran_order': {order}, 'shape': {shape}, }}", self.descr);
        // One byte for the line feed at the end; before it, blanks up to a multiple of the alignment.
        let padded = |start: usize| (start + text.len() + 1).next_multiple_of(ALIGN) - start;
        let mut bytes = MAGIC.to_vec();
        match u16::try_from(padded(10)) {
            Ok(length) => {
                bytes.extend([1, 0]);
                bytes.extend(length.to_le_bytes());
            }
            Err(_) => {
                let length = u32::try_from(padded(12)).map_err(|_| bad("too many dimensions"))?;
                bytes.extend([2, 0]);
                bytes.extend(length.to_le_bytes());
            }
        }
        bytes.extend(text.as_bytes());
        let end = (bytes.len() + 1).next_multiple_of(ALIGN);
        bytes.resize(end - 1, b' ');
        bytes.push(b'\n');
        Ok(bytes)
    }
}

/// The minor-to-major order of a layout that is such an order and nothing else. The one that somebody wrote down comes first,
/// and then row-major and column-major, as sizes of 1 leave a choice.
///
/// ```
/// use tilework::Layout;
/// use tilework_files::npy::compact_order;
/// assert_eq!(compact_order(&Layout::row_major(&[2, 3], 32)?, None), Some(vec![1, 0]));
/// # Ok::<(), tilework::Error>(())
/// ```
pub fn compact_order(layout: &Layout, written: Option<&[usize]>) -> Option<Vec<usize>> {
    let dims = layout.dims();
    let ascending: Vec<usize> = (0..dims.len()).collect();
    let descending: Vec<usize> = (0..dims.len()).rev().collect();
    let orders = [written.map(<[usize]>::to_vec), Some(descending), Some(ascending), order_of(layout)];
    let is_compact = |order: &Vec<usize>| {
        let compact = Layout::builder(dims, layout.bits())
            .and_then(|builder| builder.minor_to_major(order))
            .and_then(|builder| builder.build());
        compact.is_ok_and(|compact| compact.same_buffer(layout).is_yes())
    };
    orders.into_iter().flatten().find(is_compact)
}

/// The minor-to-major order that the strides give, if strides alone say the layout; dimensions of size 1 stay where they are.
fn order_of(layout: &Layout) -> Option<Vec<usize>> {
    let (dims, strides) = (layout.dims(), layout.to_strides().ok()?.strides);
    let mut moving: Vec<usize> = (0..dims.len()).filter(|&dim| dims[dim] != 1).collect();
    moving.sort_by_key(|&dim| std::cmp::Reverse(strides[dim]));
    let mut moving = moving.into_iter();
    let major_to_minor =
        (0..dims.len()).map(|dim| if dims[dim] == 1 { dim } else { moving.next().unwrap_or(dim) });
    let mut order: Vec<usize> = major_to_minor.collect();
    order.reverse();
    Some(order)
}

/// Where errors of the header are.
const FIELD: &str = "npy header";

fn bad(found: impl Into<String>) -> Error {
    Error::new(found).field(FIELD)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(version: u8, text: &str) -> Vec<u8> {
        let mut bytes = [MAGIC, &[version, 0]].concat();
        match version {
            1 => bytes.extend((text.len() as u16).to_le_bytes()),
            _ => bytes.extend((text.len() as u32).to_le_bytes()),
        }
        bytes.extend(text.as_bytes());
        bytes
    }

    #[test]
    fn all_three_versions_say_the_same() -> Result<()> {
        let text = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 5), }         \n";
        for (version, start) in [(1, 10), (2, 12), (3, 12)] {
            let header = Header::read(&file(version, text))?;
            assert_eq!((header.descr.as_str(), header.fortran_order), ("<f4", false));
            assert_eq!((header.shape, header.data_offset), (vec![3, 5], start + text.len() as u64));
        }
        Ok(())
    }

    #[test]
    fn what_other_programs_write_is_read() -> Result<()> {
        for (text, shape) in [
            ("{\"shape\": [7], \"descr\":\"|u1\",\"fortran_order\" :True}", vec![7]),
            ("{'descr':'<f8','fortran_order':False,'shape':()}\n", vec![]),
            ("{'descr': '<f8', 'fortran_order': False, 'shape': (3L, 4L), }", vec![3, 4]),
            ("{'descr': '<f8', 'fortran_order': False, 'shape': (18446744073709551615,)}", vec![u64::MAX]),
        ] {
            assert_eq!(Header::read(&file(1, text))?.shape, shape);
        }
        Ok(())
    }

    #[test]
    fn every_header_that_is_no_array_is_told_apart() {
        let good = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 5), }\n";
        for (text, expected) in [
            ("", "end of the header"),
            ("{", "end of the header"),
            ("nonsense", "found n"),
            ("{'descr': '<f4'}", "no key fortran_order"),
            ("{'descr': '<f4', 'fortran_order': False}", "no key shape"),
            ("{'shape': (3,), 'fortran_order': False}", "no key descr"),
            ("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (3,)}", "twice"),
            ("{'descr': '<f4', 'fortran_order': 1, 'shape': (3,)}", "a number as the fortran_order"),
            ("{'descr': '<f4', 'fortran_order': False, 'shape': (-3,)}", "found -"),
            ("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", "64 bits"),
            ("{'descr': '<f4', 'fortran_order': False, 'shape': 'x'}", "a text as the shape"),
            ("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3,)}", "fields"),
            ("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), 'more': 1}", "the key \"more\""),
            ("{'descr': '<f4", "end of the header"),
            ("{'descr': '<f4', 'fortran_order': False, 'shape': (3,)} x", "found x"),
        ] {
            let error = Header::read(&file(1, text)).expect_err(text).to_string();
            assert!(error.starts_with("npy header: ") && error.contains(expected), "{text}: {error}");
        }
        let whole = file(1, good);
        for end in 0..whole.len() {
            assert!(Header::read(&whole[..end]).is_err(), "cut at {end}");
        }
        let mut other = whole.clone();
        other[6] = 4;
        assert!(Header::read(&other).expect_err("version").to_string().contains("version 4.0"));
    }

    #[test]
    fn a_length_that_no_header_has_is_refused_without_taking_the_memory() {
        let mut bytes = file(2, "{}");
        bytes[8..12].copy_from_slice(&u32::MAX.to_le_bytes());
        let error = Header::read(&bytes).expect_err("a long header").to_string();
        assert!(error.contains("a header of 4294967295 bytes"), "{error}");
    }

    #[test]
    fn headers_of_every_length_begin_the_data_at_a_multiple_of_64() -> Result<()> {
        for rank in (0..40).chain([5000, 9000]) {
            let header = Header {
                descr: "<V2".to_owned(),
                fortran_order: rank % 2 == 0,
                shape: vec![1234567; rank],
                data_offset: 0,
            };
            let bytes = header.bytes()?;
            assert!(bytes.len().is_multiple_of(64) && bytes.ends_with(b"\n"));
            assert_eq!(Header::read(&bytes)?, Header { data_offset: bytes.len() as u64, ..header });
        }
        Ok(())
    }

    #[test]
    fn shapes_that_overflow_have_no_layout() -> Result<()> {
        let header =
            |shape: Vec<u64>| Header { descr: "<f4".to_owned(), fortran_order: false, shape, data_offset: 0 };
        assert!(header(vec![1 << 40, 1 << 40]).layout(32).is_err());
        assert!(header(vec![u64::MAX, 2]).layout(32).is_err());
        assert!(header(vec![2; 300]).layout(32).is_err());
        assert_eq!(header(vec![]).layout(32)?.bytes(), 4);
        assert_eq!(header(vec![0, 1 << 62]).layout(32)?.bytes(), 0);
        Ok(())
    }

    #[test]
    fn what_npy_can_say_of_a_layout_it_says() -> Result<()> {
        let ordered =
            |dims: &[u64], order: &[usize]| Layout::builder(dims, 16)?.minor_to_major(order)?.build();
        let said = |layout: &Layout| {
            let header = Header::of(layout, None, "<f2");
            (header.shape, header.fortran_order)
        };
        assert_eq!(said(&ordered(&[2, 3], &[1, 0])?), (vec![2, 3], false));
        assert_eq!(said(&ordered(&[2, 3], &[0, 1])?), (vec![2, 3], true));
        assert_eq!(said(&ordered(&[2, 3, 4], &[1, 2, 0])?), (vec![2, 4, 3], false));
        assert_eq!(said(&ordered(&[2, 1, 4], &[1, 2, 0])?), (vec![2, 1, 4], false));
        assert_eq!(said(&Layout::strided(&[2, 3], 16, &[3, -1], None, None)?), (vec![6], false));
        assert_eq!(said(&Layout::strided(&[2, 3], 16, &[4, 1], None, None)?), (vec![7], false));
        assert_eq!(said(&Layout::row_major(&[], 16)?), (vec![], false));
        let written = |dims: &[u64], order: &[usize]| {
            Ok::<Vec<u64>, Error>(Header::of(&ordered(dims, order)?, Some(order), "<f2").shape)
        };
        assert_eq!(written(&[2, 1, 8, 9], &[1, 3, 2, 0])?, [2, 8, 9, 1]);
        assert_eq!(written(&[2, 3, 8, 9], &[1, 3, 2, 0])?, [2, 8, 9, 3]);
        let nibbles = Layout::builder(&[3, 5], 4)?.tile(&[Some(2), Some(2)])?.build()?;
        let header = Header::of(&nibbles, None, "|V1");
        assert_eq!((header.descr.as_str(), header.shape), ("|u1", vec![12]));
        Ok(())
    }
}
