//! What a descriptor means, part by part, and how its bytes are counted.

use crate::dialect::Part;
use crate::dialect::words::list;
use crate::directml::{BufferTensorDesc, DataType, TensorFlags};

/// The letters of DirectML's dimensions, where they are by custom.
fn letters(rank: usize) -> Option<&'static [&'static str]> {
    match rank {
        4 => Some(&["N", "C", "H", "W"]),
        5 => Some(&["N", "C", "D", "H", "W"]),
        _ => None,
    }
}

/// Every part of a descriptor.
pub(crate) fn parts(desc: &BufferTensorDesc) -> Vec<Part> {
    let mut rows = vec![data_type(desc.data_type()), sizes(desc), strides(desc)];
    rows.extend(words(desc));
    let needed = needed_bytes(desc).into_iter();
    rows.extend(needed.zip(["places", "needs"]).map(|([label, text], name)| Part::new(name, label, text)));
    if let Some(total) = desc.declared_total() {
        let more = total - desc.minimum_bytes();
        rows.push(Part::new(
            "total",
            format!("total {total}"),
            format!("declared, {more} bytes more than needed"),
        ));
    }
    match desc.alignment() {
        0 => {}
        bytes => rows.push(Part::new(
            "alignment",
            format!("alignment {bytes}"),
            format!("a promise that the bound offset is a multiple of {bytes}"),
        )),
    }
    if desc.flags() == TensorFlags::OWNED_BY_DML {
        let text = "bound when the operator is initialized and not at execution; inputs only";
        rows.push(Part::new("flags", desc.flags().name(), text));
    }
    rows
}

fn data_type(data_type: DataType) -> Part {
    let kind = match data_type {
        DataType::Float64 | DataType::Float32 | DataType::Float16 => "floating point",
        _ if data_type.name().starts_with('U') => "unsigned integer",
        _ => "signed integer",
    };
    let bits = data_type.bits();
    let each = if bits < 8 { format!("{bits} bits each") } else { format!("{} B each", bits / 8) };
    Part::new("data type", data_type.name(), format!("{bits}-bit {kind}, {each}"))
}

fn sizes(desc: &BufferTensorDesc) -> Part {
    let sizes = desc.sizes();
    let text = match letters(sizes.len()) {
        Some(letters) => {
            let each: Vec<String> =
                letters.iter().zip(sizes).map(|(letter, size)| format!("{letter} is {size}")).collect();
            each.join(", ")
        }
        None => {
            let each: Vec<String> =
                sizes.iter().enumerate().map(|(dim, size)| format!("{dim} is {size}")).collect();
            format!("dimension {}", each.join(", "))
        }
    };
    Part::new("sizes", format!("[{}]", list(sizes)), text)
}

fn strides(desc: &BufferTensorDesc) -> Part {
    let strides = desc.effective_strides();
    // A dimension of size 1 has no second index to step to.
    let steps = strides.iter().zip(desc.sizes()).enumerate().filter(|(_, (_, size))| **size > 1);
    let each: Vec<String> = steps
        .enumerate()
        .map(|(number, (dim, (stride, _)))| {
            let elements = if *stride == 1 { " element" } else { " elements" };
            let (elements, dimension) = if number == 0 { (elements, "dimension ") } else { ("", "") };
            match letters(strides.len()) {
                Some(letters) => format!("{stride}{elements} along {}", letters[dim]),
                None => format!("{stride}{elements} along {dimension}{dim}"),
            }
        })
        .collect();
    let given = if desc.strides().is_some() { "" } else { "none written, so packed: " };
    let text = match each.is_empty() {
        true => "no dimension has a second index to step to".to_owned(),
        false => format!("one step moves {}", each.join(", ")),
    };
    Part::new("strides", "strides", format!("{given}{text}"))
}

/// Packed, broadcast, overlapping, padded; and the layouts that are packed so.
fn words(desc: &BufferTensorDesc) -> Vec<Part> {
    let Ok(words) = desc.words() else { return Vec::new() };
    let dims = |dims: &[usize]| match (letters(desc.rank()), dims) {
        (Some(letters), _) => dims.iter().map(|&dim| letters[dim]).collect::<Vec<&str>>().join(", "),
        (None, dims) => {
            let dims: Vec<String> = dims.iter().map(usize::to_string).collect();
            format!("dimension {}", dims.join(", "))
        }
    };
    let mut is = Vec::new();
    if words.packed {
        is.push("packed".to_owned());
    } else {
        is.push("not packed".to_owned());
    }
    if words.is_broadcast() {
        is.push(format!("broadcast along {}", dims(&words.broadcast_dims)));
    }
    match words.overlaps() {
        Some(true) if words.is_broadcast() => {}
        Some(true) => is.push("overlapping: some elements share a place".to_owned()),
        Some(false) => {}
        None => is.push("not decided whether elements share places".to_owned()),
    }
    if words.gaps {
        is.push("padded inside: places between the elements hold none".to_owned());
    }
    if words.slack > 0 {
        is.push(format!("padded behind: room for {} more", words.slack));
    }
    let mut rows = vec![Part::new("is", "is", is.join("; "))];
    let names = desc.layout_names();
    if !names.is_empty() {
        rows.push(Part::new("layout", "layout", format!("fits {}", names.join(", "))));
    }
    rows
}

/// How the least total of a descriptor is counted, term by term.
///
/// ```
/// use tilework::directml::BufferTensorDesc;
/// let desc = BufferTensorDesc::parse("UINT8 [2,3] strides [5,1]")?;
/// let [places, needs] = tilework::directml::needed_bytes(&desc);
/// assert_eq!(places, ["places", "(2−1)·5 + (3−1)·1 + 1 = 8"]);
/// # Ok::<(), tilework::Error>(())
/// ```
pub fn needed_bytes(desc: &BufferTensorDesc) -> [[String; 2]; 2] {
    let terms = |parts: Vec<String>, sign: &str| parts.join(sign);
    let places = desc.minimum_elements();
    let text = match desc.strides() {
        None => terms(desc.sizes().iter().map(u32::to_string).collect(), " · "),
        Some(strides) => {
            let each = desc.sizes().iter().zip(strides);
            let parts = each.map(|(size, stride)| format!("({size}−1)·{stride}")).collect();
            format!("{} + 1", terms(parts, " + "))
        }
    };
    let bits = desc.data_type().bits();
    let bytes = (u128::from(places) * u128::from(bits)).div_ceil(8);
    let least = desc.minimum_bytes();
    let rounded = match u128::from(least) == bytes {
        true => String::new(),
        false => format!(", rounded up to a multiple of 4: {least} B"),
    };
    let factor = if bits < 8 { format!("{bits} bits") } else { format!("{} B", bits / 8) };
    let human =
        if least < 10 << 10 { String::new() } else { format!(" = {}", crate::words::bytes(least.into())) };
    let human = human.split(" (").next().unwrap_or_default().to_owned();
    [
        [
            "places".to_owned(),
            if desc.rank() > 1 || desc.strides().is_some() { format!("{text} = {places}") } else { text },
        ],
        ["needs".to_owned(), format!("{places} · {factor} = {bytes} B{rounded}{human}")],
    ]
}
