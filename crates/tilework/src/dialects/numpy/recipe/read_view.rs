//! Reading `as_strided`.

use std::ops::Range;

use super::super::array::Library;
use super::View;
use super::arguments::{argument, check_keys, numbers, sizes, whole};
use super::parse::Call;
use crate::dialect::Known;
use crate::element::Element;
use crate::error::{Error, ErrorKind, Result, counted, quoted};

/// The array that `as_strided` sees in a buffer.
pub(super) fn view(
    calls: &[Call],
    place: usize,
    (library, element): (Library, Element),
    buffer: Option<(Vec<u64>, Range<usize>)>,
    known: &Known,
) -> Result<View> {
    let call = &calls[place];
    if let Some(more) = calls.get(place + 1) {
        return Err(Error::new(format!("{} behind as_strided", quoted(more.name)))
            .of_kind(ErrorKind::Unsupported)
            .at(more.span.clone())
            .rule("as_strided says where every element is")
            .accepts("nothing behind it"));
    }
    let mut first = 0;
    for call in &calls[..place] {
        match (&call.args[..], call.name) {
            ([from], "[") => first = whole(from)?,
            _ => {
                return Err(Error::new("as_strided of what is no buffer")
                    .of_kind(ErrorKind::Unsupported)
                    .at(call.span.clone())
                    .accepts("as_strided(buffer, …), or as_strided(buffer[2:], …)"));
            }
        }
    }
    let keys: [&[&str]; 3] = [&["shape", "size"], &["strides", "stride"], &["storage_offset"]];
    let [dims, strides, offset] = keys.map(|keys| argument(call, keys));
    let mut given = call.args.iter();
    let [dims, strides, offset] = [dims, strides, offset].map(|keyed| keyed.or_else(|| given.next()));
    let missing = |what: &str| {
        Error::new(format!("no {what}")).at(call.span.clone()).accepts("as_strided(buffer, (3, 5), (20, 4))")
    };
    let dims = sizes(dims.ok_or_else(|| missing("shape"))?)?;
    let at = strides.map_or(call.span.clone(), |value| value.span.clone());
    let strides = numbers(strides.ok_or_else(|| missing("strides"))?)?;
    check_keys(call, &["shape", "size", "strides", "stride", "storage_offset", "subok", "writeable"])?;
    if let Some(known) = known.dims.filter(|known| *known != dims) {
        return Err(Error::new(format!("sizes {known:?} before the code, and {dims:?} in it"))
            .of_kind(ErrorKind::Mismatch)
            .at(call.span.clone()));
    }
    if let Some(offset) = offset {
        if library == Library::Numpy {
            return Err(Error::new("an argument behind the strides")
                .of_kind(ErrorKind::Unsupported)
                .at(offset.span.clone())
                .rule("NumPy's as_strided begins where its array does")
                .accepts("as_strided(buffer[2:], …)"));
        }
        first = whole(offset)?;
    }
    if strides.len() != dims.len() {
        let [found, wanted] = [strides.len(), dims.len()].map(|count| count as u64);
        let found = format!("{} for {}", counted(found, "stride"), counted(wanted, "dimension"));
        return Err(Error::new(found).of_kind(ErrorKind::Mismatch).at(at));
    }
    let unit = if library == Library::Numpy { i64::from(element.bytes()) } else { 1 };
    let is_used = |dim: usize| dims[dim] > 1 && !dims.contains(&0);
    let mut of_elements = Vec::with_capacity(dims.len());
    for (dim, stride) in strides.into_iter().enumerate() {
        let stride = i64::try_from(stride).unwrap_or(i64::MAX); // numbers have 63 bits
        let wrong = |found: String, rule: &str| Err(Error::new(found).at(at.clone()).rule(rule));
        of_elements.push(match stride {
            _ if !is_used(dim) => 0,
            ..0 if library == Library::Torch => {
                return wrong(format!("a stride of {stride}"), "PyTorch has no negative strides");
            }
            stride if stride % unit == 0 => stride / unit,
            _ => {
                let rule = "strides of NumPy count bytes, and elements lie whole elements apart";
                return wrong(format!("a stride of {stride} for elements of {unit} bytes"), rule);
            }
        });
    }
    let size = match buffer {
        None => None,
        Some((buffer, at)) => match buffer[..] {
            [size] => Some(size),
            _ => {
                return Err(Error::new(counted(buffer.len() as u64, "dimension"))
                    .at(at)
                    .rule("a buffer has one dimension")
                    .accepts("a remark such as # buffer: float32 (24,)"));
            }
        },
    };
    let view = View { library, element, dims, strides: of_elements, first, size };
    view.lower().map_err(|error| error.at(call.span.clone()))?;
    Ok(view)
}
