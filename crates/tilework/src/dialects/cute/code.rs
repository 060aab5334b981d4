//! Layouts as C++ makes them: `make_layout(make_shape(Int<8>{}, 16), make_stride(_1{}, 8))` and
//! `Layout<Shape<_8,_16>, Stride<_16,_1>>`.

/// The same as `shape:stride`; none if it is something else.
pub(super) fn written(text: &str) -> Option<String> {
    let text = text.trim().trim_end_matches([';', ' ']);
    let text = text.strip_suffix("{}").unwrap_or(text).replace("cute::", "");
    let is_layout = |name: &str| text.strip_prefix(name).map(|rest| rest.trim_start().to_owned());
    let inner = if let Some(rest) = is_layout("make_layout") {
        rest.strip_prefix('(')?.strip_suffix(')')?.to_owned()
    } else {
        is_layout("Layout")?.strip_prefix('<')?.strip_suffix('>')?.to_owned()
    };
    let (shape, stride) = match top_comma(&inner) {
        Some(at) => (&inner[..at], Some(&inner[at + 1..])),
        None => (&inner[..], None),
    };
    let shape = tuple(shape)?;
    match stride.map(str::trim) {
        None | Some("LayoutLeft{}" | "GenColMajor{}") => Some(format!("{shape}:{}", compact(&shape)?)),
        Some(stride) => Some(format!("{shape}:{}", tuple(stride)?)),
    }
}

/// The first comma outside brackets.
fn top_comma(text: &str) -> Option<usize> {
    let mut depth = 0_i32;
    text.char_indices().find_map(|(at, c)| {
        match c {
            '(' | '<' | '{' => depth += 1,
            ')' | '>' | '}' => depth -= 1,
            _ => {}
        }
        (c == ',' && depth == 0).then_some(at)
    })
}

/// A tuple or a number: `Shape<_8, Shape<_2,_4>>`, `make_stride(Int<8>{}, 1)`, `_8{}`.
fn tuple(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut closes = Vec::new();
    let mut rest = text.trim();
    while let Some(first) = rest.chars().next() {
        let word =
            rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_').len();
        let (name, behind) = rest.split_at(word);
        rest = behind.trim_start();
        match name {
            "make_shape" | "make_stride" | "make_tuple" | "make_coord" if rest.starts_with('(') => {
                rest = &rest[1..];
                closes.push((')', ")"));
                out.push('(');
            }
            "Shape" | "Stride" | "tuple" if rest.starts_with('<') => {
                rest = &rest[1..];
                closes.push(('>', ")"));
                out.push('(');
            }
            "Int" | "C" if rest.starts_with('<') => {
                rest = &rest[1..];
                closes.push(('>', ""));
            }
            "" => {
                let length = first.len_utf8();
                match first {
                    ',' => out.push(','),
                    '{' if rest.starts_with("{}") => rest = &rest[1..],
                    c if closes.last().is_some_and(|close| close.0 == c) => out.push_str(closes.pop()?.1),
                    _ => return None,
                }
                rest = &rest[length..];
            }
            number => {
                let digits = number.trim_start_matches('_').trim_end_matches(['u', 'U', 'l', 'L']);
                digits.parse::<u32>().ok()?;
                out.push_str(digits);
            }
        }
        rest = rest.trim_start();
    }
    closes.is_empty().then_some(out)
}

/// The strides of a compact shape, the first mode fastest, nested as the shape is.
fn compact(shape: &str) -> Option<String> {
    let (mut out, mut next, mut rest) = (String::new(), 1_u64, shape);
    while let Some(first) = rest.chars().next() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 {
            out.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        }
        out.push_str(&next.to_string());
        next = next.checked_mul(rest[..digits].parse().ok()?)?;
        rest = &rest[digits..];
    }
    Some(out)
}
