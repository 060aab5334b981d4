//! How an array is stored in a format: the format's word for its type, its sizes, and a note where these do not say all.

use tilework::{Element, Error, Result, System};

use super::array::{Blocks, Content, Placed};
use super::{Format, gguf, json, note};
use crate::descr_of;
use crate::npy::compact_order;

/// An array as a format has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body {
    /// The format's word for the type.
    pub word: String,
    /// The sizes, the most minor last, but for `fortran`.
    pub dims: Vec<u64>,
    /// Whether the first is the most minor.
    pub fortran: bool,
    /// What the metadata says of it.
    pub note: Option<String>,
    /// How many bytes it takes.
    pub bytes: u64,
    /// The bytes of an element, where it should begin at a multiple of them.
    pub align: u64,
}

/// How an array is stored; `transposed`: one that lies in another order of its dimensions is stored with its sizes in that
/// order, and not as a list.
///
/// # Errors
/// What was not read, and what a format cannot hold at all.
pub fn body(format: Format, name: &str, content: &Content, transposed: bool) -> Result<Body> {
    let body = match content {
        Content::Array(array) => of_array(format, array, transposed),
        Content::Blocks(blocks) => of_blocks(format, blocks),
        Content::Unread { why, .. } => {
            let accepts = format!("--only '!{name}' for all others");
            return Err(Error::new(why.found())
                .rule("an array that is not read is not written")
                .accepts(accepts));
        }
    };
    fits(format, name, body)
}

/// The format's word for an element.
fn word(format: Format, element: Element) -> Option<String> {
    let name = |system| element.name_in(system).map(str::to_owned);
    match format {
        Format::Safetensors => name(System::Safetensors),
        Format::Gguf => name(System::Gguf),
        // Of types that NumPy has not, the bytes of an element.
        Format::Npy | Format::Npz => Some(descr_of(element)),
        // Its names are NumPy's, those of ml_dtypes among them; in an array of Zarr every element has whole bytes.
        Format::Zarr => name(System::Numpy),
    }
}

impl Placed {
    /// Whether a format has no type for the elements, so that an array of them is stored as a list of bytes.
    pub fn is_unknown_to(&self, format: Format) -> bool {
        word(format, self.element).is_none()
    }
}

/// The format's word for bytes.
fn bytes_word(format: Format) -> &'static str {
    match format {
        Format::Safetensors => "U8",
        Format::Gguf => "I8",
        Format::Npy | Format::Npz => "|u1",
        Format::Zarr => "uint8",
    }
}

fn of_array(format: Format, array: &Placed, transposed: bool) -> Body {
    let (layout, said) = (&array.layout, || Some(array.said.to_string()));
    let is_npy = matches!(format, Format::Npy | Format::Npz);
    let bytes = layout.bytes();
    let own = Placed::dense(array.element, layout.dims(), !is_npy && format != Format::Zarr).ok();
    // What a format's own array of this type and these sizes is.
    let is_own = |own: &Placed| own.layout.same_buffer(layout).is_yes();
    let list = || Body {
        word: bytes_word(format).to_owned(),
        dims: vec![bytes],
        fortran: false,
        note: said(),
        bytes,
        align: 1,
    };
    let Some(word) = word(format, array.element) else { return list() };
    let align = u64::from(layout.bits() / 8).max(1);
    let is_known = !is_npy || array.element.name_in(System::Npy).is_some();
    let with = |dims: Vec<u64>, fortran, note| Body { word: word.clone(), dims, fortran, note, bytes, align };
    let dims = layout.dims().to_vec();
    if own.as_ref().is_some_and(is_own) {
        return with(dims, false, if is_known { None } else { said() });
    }
    // Places of elements that are as wide as the format's own can be a list of those.
    if own.is_none_or(|own| own.layout.bits() != layout.bits()) || !layout.bits().is_multiple_of(8) {
        return list();
    }
    let order = compact_order(layout, array.said.minor_to_major().as_deref());
    let ascending = order.as_ref().is_some_and(|order| order.iter().copied().eq(0..order.len()));
    if is_npy && ascending {
        return with(dims, true, if is_known { None } else { said() });
    }
    match note::transposed(array).filter(|_| transposed) {
        Some(sizes) => with(sizes, false, said()),
        None => with(vec![layout.size()], false, said()),
    }
}

fn of_blocks(format: Format, blocks: &Blocks) -> Body {
    let bytes = blocks.bytes();
    let body = |word: &str, dims: Vec<u64>, note| Body {
        word: word.to_owned(),
        dims,
        fortran: false,
        note,
        bytes,
        align: 1,
    };
    match format {
        Format::Gguf if blocks.mix.is_none() => body(blocks.block.name(), blocks.dims.clone(), None),
        _ => body(bytes_word(format), vec![bytes], Some(blocks.to_string())),
    }
}

/// What a format has no room for, although it has a word for everything.
fn fits(format: Format, name: &str, mut body: Body) -> Result<Body> {
    let refuse = |found: String, rule: String| {
        Err(Error::new(format!("tensor {} {found}", json::shown(name)))
            .rule(rule)
            .accepts("another format, or --only"))
    };
    match format {
        Format::Gguf if body.dims.len() > gguf::MAX_DIMS => {
            refuse(format!("of {} dimensions", body.dims.len()), format!("GGUF has up to {}", gguf::MAX_DIMS))
        }
        Format::Gguf if name.len() > gguf::LONGEST_NAME => refuse(
            format!("with a name of {} bytes", name.len()),
            format!(
                "names in GGUF have up to {} bytes; --rename OLD=NEW makes them shorter",
                gguf::LONGEST_NAME
            ),
        ),
        // A number is a list of one there.
        Format::Gguf if body.dims.is_empty() => {
            body.dims.push(1);
            body.note = body.note.or(Some(format!("{}[]", element_of_gguf(&body.word))));
            Ok(body)
        }
        Format::Npz if name.len() + ".npy".len() > usize::from(u16::MAX) => refuse(
            format!("with a name of {} bytes", name.len()),
            "names in zip files have up to 65535".to_owned(),
        ),
        _ => Ok(body),
    }
}

fn element_of_gguf(word: &str) -> String {
    Element::from_name_in(System::Gguf, word).map_or_else(String::new, |element| element.name().to_owned())
}
