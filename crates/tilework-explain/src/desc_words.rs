//! What a descriptor means, part by part, and how its bytes are counted.

use tilework::directml::{BufferTensorDesc, DataType, TensorFlags};

use crate::size;
use crate::words::Row;

/// The letters of DirectML's dimensions, where they are by custom.
fn letters(rank: usize) -> Option<&'static [&'static str]> {
    match rank {
        4 => Some(&["N", "C", "H", "W"]),
        5 => Some(&["N", "C", "D", "H", "W"]),
        _ => None,
    }
}

/// Every part of a descriptor.
pub fn rows(desc: &BufferTensorDesc) -> tilework::Result<Vec<Row>> {
    let mut rows = vec![data_type(desc.data_type()), sizes(desc), strides(desc)];
    rows.extend(words(desc)?);
    rows.extend(needed_bytes(desc));
    if let Some(total) = desc.declared_total() {
        let more = total - desc.minimum_bytes();
        rows.push((format!("total {total}"), format!("declared, {more} bytes more than needed")));
    }
    match desc.alignment() {
        0 => {}
        bytes => rows.push((
            format!("alignment {bytes}"),
            format!("a promise that the bound offset is a multiple of {bytes}"),
        )),
    }
    if desc.flags() == TensorFlags::OWNED_BY_DML {
        let text = "bound when the operator is initialized and not at execution; inputs only";
        rows.push((desc.flags().name().to_owned(), text.to_owned()));
    }
    Ok(rows)
}

fn data_type(data_type: DataType) -> Row {
    let kind = match data_type {
        DataType::Float64 | DataType::Float32 | DataType::Float16 => "floating point",
        _ if data_type.name().starts_with('U') => "unsigned integer",
        _ => "signed integer",
    };
    let bits = data_type.bits();
    let each = if bits < 8 { format!("{bits} bits each") } else { format!("{} B each", bits / 8) };
    (data_type.name().to_owned(), format!("{bits}-bit {kind}, {each}"))
}

fn sizes(desc: &BufferTensorDesc) -> Row {
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
    (list(sizes), text)
}

fn strides(desc: &BufferTensorDesc) -> Row {
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
    ("strides".to_owned(), format!("{given}{text}"))
}

/// Packed, broadcast, overlapping, padded; and the layouts that are packed so.
fn words(desc: &BufferTensorDesc) -> tilework::Result<Vec<Row>> {
    let words = desc.words()?;
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
    let mut rows = vec![("is".to_owned(), is.join("; "))];
    let names = desc.layout_names();
    if !names.is_empty() {
        rows.push(("layout".to_owned(), format!("fits {}", names.join(", "))));
    }
    Ok(rows)
}

/// How the least total of a descriptor is counted, term by term.
///
/// ```
/// use tilework::directml::BufferTensorDesc;
/// let desc = BufferTensorDesc::parse("UINT8 [2,3] strides [5,1]")?;
/// let rows = tilework_explain::needed_bytes(&desc);
/// assert_eq!(rows[0].1, "(2−1)·5 + (3−1)·1 + 1 = 8");
/// assert_eq!(rows[1].1, "8 · 1 B = 8 B");
/// # Ok::<(), tilework::Error>(())
/// ```
pub fn needed_bytes(desc: &BufferTensorDesc) -> Vec<Row> {
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
    let human = if least < 10 << 10 { String::new() } else { format!(" = {}", size::bytes(least.into())) };
    let human = human.split(" (").next().unwrap_or_default().to_owned();
    vec![
        (
            "places".to_owned(),
            if desc.rank() > 1 || desc.strides().is_some() { format!("{text} = {places}") } else { text },
        ),
        ("needs".to_owned(), format!("{places} · {factor} = {bytes} B{rounded}{human}")),
    ]
}

fn list(numbers: &[u32]) -> String {
    format!("[{}]", numbers.iter().map(u32::to_string).collect::<Vec<String>>().join(","))
}
