//! What a text was meant to say that no notation reads: the text to write instead.
//!
//! People bring what they have: tiles without an array, what Python prints, a message. A notation that such a text resembles
//! would name its first letter, which helps nobody.

use crate::Element;
use crate::dialect::{Reading, sized};
use crate::error::Error;

/// The most bytes of a text that is said again with what it lacks.
const SHOWN: usize = 80;
/// The most bytes of a text that is said again with what is spelt otherwise in it.
const LONG: usize = 400;

/// What to write instead of a text that cannot be read, if that is known. `error` is what its notation says of it.
pub(super) fn instead(text: &str, error: &Error) -> Option<Error> {
    let error = tiles(text)
        .or_else(|| shape_and_tiles(text))
        .or_else(|| blanks_for_commas(text))
        .or_else(|| if text.len() > SHOWN { None } else { bare(text) })
        .or_else(|| if text.len() > LONG { None } else { respelt(text, error) })
        .or_else(|| order(text))
        .or_else(|| python(text))
        .or_else(|| message(text))?;
    Some(error.or_at(0..text.len()))
}

/// Prose and other texts that begin with a word and go on with another.
pub(super) fn prose(text: &str) -> Option<Error> {
    let rest = text.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
    let behind = rest.trim_start();
    let is_word = rest.len() < text.len() && !behind.starts_with(['[', '(', '{', '<']) && text.contains(' ');
    is_word.then(|| {
        Error::new("no layout stands in this text").at(0..text.len()).accepts(
            "a text with a layout in it somewhere, such as f32[3,5]{1,0}, float32 (3, 5) strides (20, 4) or memref<3x5xf32>",
        )
    })
}

/// The sizes of tiles, `T(8,128)(2,1)`, and what follows them.
fn tile_sizes(text: &str) -> Option<(Vec<Vec<&str>>, &str)> {
    let mut rest = text.strip_prefix('T')?;
    let mut tiles = Vec::new();
    while let Some(inner) = rest.strip_prefix('(') {
        let (sizes, behind) = inner.split_once(')')?;
        let sizes: Vec<&str> = sizes.split(',').map(str::trim).collect();
        if !sizes.iter().all(|size| *size == "*" || size.parse().is_ok_and(|size: u32| size > 0)) {
            return None;
        }
        tiles.push(sizes);
        rest = behind;
    }
    (!tiles.is_empty()).then_some((tiles, rest))
}

/// `1,0`: row-major.
fn row_major(rank: usize) -> String {
    (0..rank).rev().map(|dim| dim.to_string()).collect::<Vec<String>>().join(",")
}

fn tiles(text: &str) -> Option<Error> {
    let (tiles, rest) = tile_sizes(text)?;
    if !rest.trim().is_empty() {
        return None;
    }
    let first = &tiles[0];
    let sizes = first.iter().map(|size| size.parse().map_or(6, |size: u64| 2 * size).to_string());
    let sizes = sizes.collect::<Vec<String>>().join(",");
    let element = if tiles.len() > 1 { "bf16" } else { "f32" };
    let again = match tiles.get(1) {
        Some(inner) => format!("; ({}) cuts each tile again", inner.join(",")),
        None => String::new(),
    };
    let rank = first.len();
    Some(
        Error::new("tiles without the array that they cut")
            .rule(format!(
                "the array is cut into tiles of {}, padded to whole tiles, and in memory one tile follows the other{again}",
                first.join(" × ")
            ))
            .accepts(format!("an array in these tiles, such as {element}[{sizes}]{{{}:{text}}}", row_major(rank))),
    )
}

/// `bf16[16,256]T(8,128)` and `bf16[16,256]{T(8,128)}`.
fn shape_and_tiles(text: &str) -> Option<Error> {
    let (array, end) = sized::prefix(text)?;
    let rest = text[end..].trim_start_matches(['{', ':', ' ']);
    let (_, behind) = tile_sizes(rest)?;
    if !behind.trim_matches(['}', ' ']).is_empty() {
        return None;
    }
    let (shape, tiles) = (text[..end].trim_end(), &rest[..rest.len() - behind.len()]);
    let meant = format!("{shape}{{{}:{tiles}}}", row_major(array.dims.len()));
    Some(
        Error::new("tiles without the order of the dimensions")
            .at(end..text.len())
            .rule("in braces the order comes first, then a colon and the tiles")
            .accepts(meant),
    )
}

/// `f32[3,5]{1 0}`
fn blanks_for_commas(text: &str) -> Option<Error> {
    let (array, end) = sized::prefix(text)?;
    let inner = text[end..].strip_prefix('{')?.strip_suffix('}')?;
    let numbers: Vec<&str> = inner.split_whitespace().collect();
    let is_order = numbers.len() == array.dims.len()
        && numbers.len() > 1
        && numbers.iter().all(|number| number.bytes().all(|byte| byte.is_ascii_digit()));
    is_order.then(|| {
        Error::new("blanks between the numbers of the dimensions")
            .at(end + 1..text.len() - 1)
            .accepts(format!("{}{{{}}}", text[..end].trim_end(), numbers.join(",")))
    })
}

/// Numbers without what belongs around or before them.
fn bare(text: &str) -> Option<Error> {
    bare_order(text).or_else(|| sizes_alone(text)).or_else(|| bare_modes(text))
}

/// `f32[3,5]1,0` and `f32[3,5]:1,0`
fn bare_order(text: &str) -> Option<Error> {
    let (array, end) = sized::prefix(text)?;
    let order: Vec<&str> = text[end..].trim_start_matches([':', ' ']).split(',').map(str::trim).collect();
    let is_order = order.len() == array.dims.len() && order.iter().all(|number| is_number(number));
    let shape = text[..end].trim_end();
    let meant = format!("{shape}{{{}}}", order.join(","));
    // Round brackets and a colon are CuTe's.
    (is_order && shape.ends_with(']') && reads(&meant))
        .then(|| Error::new("an order without its braces").at(end..text.len()).accepts(meant))
}

/// `(3, 5)`, `[3,5]`, `3,5`, `3x5` and `torch.Size([3, 5])`
fn sizes_alone(text: &str) -> Option<Error> {
    let text = text.strip_prefix("torch.Size").unwrap_or(text);
    let inner = text.trim_matches(['(', ')', '[', ']']);
    let sizes: Vec<&str> = inner.trim_end_matches(',').split([',', 'x']).map(str::trim).collect();
    let is_list = inner.len() < text.len() || sizes.len() > 1;
    (is_list && sizes.iter().all(|size| is_number(size))).then(|| {
        Error::new("sizes without an element type")
            .rule("how many bytes lie between two elements depends on their type")
            .accepts(format!("f32[{0}], or float32 ({0})", sizes.join(",")))
    })
}

/// `2,3:3,1`
fn bare_modes(text: &str) -> Option<Error> {
    let (shape, strides) = text.split_once(':')?;
    let is_list = |text: &str| text.split(',').all(|number| is_number(number.trim()));
    (is_list(shape) && is_list(strides)).then(|| {
        Error::new("modes without brackets")
            .rule("a layout of CuTe has its sizes and its strides each in brackets")
            .accepts(format!("({shape}):({strides})"))
    })
}

/// A text that some notation reads as soon as one thing in it is spelt as that notation spells it.
fn respelt(text: &str, error: &Error) -> Option<Error> {
    // A notation that missed the bracket says so better itself.
    let is_lost = error.found().starts_with("unexpected");
    let closed = if is_lost { unclosed(text) } else { None };
    closed
        .or_else(|| numbers_in_no_brackets(text))
        .or_else(|| without_dialect(text))
        .or_else(|| semicolon(text))
}

/// `(4,8):(8,1` and `Layout<Shape<_4,_8>,Stride<_8,_1>`
fn unclosed(text: &str) -> Option<Error> {
    let mut open = Vec::new();
    for (at, c) in text.char_indices() {
        let is_sign = text[..at].ends_with('-') && c == '>' || text[at..].starts_with("<=");
        match c {
            _ if is_sign => {}
            '(' => open.push(')'),
            '[' => open.push(']'),
            '{' => open.push('}'),
            '<' => open.push('>'),
            ')' | ']' | '}' | '>' if open.pop() != Some(c) => return None,
            _ => {}
        }
    }
    let missing: String = open.iter().rev().collect();
    let meant = format!("{text}{missing}");
    (!missing.is_empty() && reads(&meant)).then(|| {
        Error::new("the text ends before its brackets are closed").at(text.len()..text.len()).accepts(meant)
    })
}

/// `FLOAT16 NHWC 1,64,56,56`, `f32 1x17x2x2 nChw8c`, `float32 3,5 strides 20,4`
fn numbers_in_no_brackets(text: &str) -> Option<Error> {
    let mut meant = String::new();
    let mut lists = Vec::new();
    for word in text.split_inclusive(' ') {
        let (list, at) = (word.trim_end(), meant.len() - 2 * lists.len());
        let sizes: Vec<&str> = list.split([',', 'x']).collect();
        if sizes.len() < 2 || !sizes.iter().all(|size| is_number(size)) {
            meant.push_str(word);
            continue;
        }
        meant.push_str(&format!("[{}]{}", sizes.join(","), &word[list.len()..]));
        lists.push(at..at + list.len());
    }
    let first = lists.first()?.clone();
    let tight =
        sized::element(text).filter(|(_, end)| *end == first.start).map(|_| meant.replacen(" [", "[", 1));
    let meant = tight.into_iter().chain([meant]).find(|meant| reads(meant))?;
    Some(Error::new("numbers without brackets").at(first).accepts(meant))
}

/// `#blocked<{…}>`, as aliases in modules are called, for `#ttg.blocked<{…}>`
fn without_dialect(text: &str) -> Option<Error> {
    let at = text.find('#')?;
    let name = text[at + 1..].split_once("<{")?.0;
    if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_') {
        return None;
    }
    let meant = format!("{}#ttg.{}", &text[..at], &text[at + 1..]);
    // Alone, it is the encoding of no tensor yet.
    let whole = if at == 0 { format!("tensor<64x64xf16, {meant}>") } else { meant };
    reads(&whole).then(|| {
        Error::new("an encoding of Triton without its dialect").at(at..at + 1 + name.len()).accepts(whole)
    })
}

/// `(4,8);(8,1)`
fn semicolon(text: &str) -> Option<Error> {
    let at = text.find(';')?;
    let meant = text.replace(';', ":");
    reads(&meant).then(|| Error::new("a semicolon").at(at..at + 1).accepts(meant))
}

/// Whether some notation reads a text as it is.
fn reads(text: &str) -> bool {
    Reading::default().read_trimmed(text).is_ok()
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// What stands in another order or in another spelling: `f32 nChw8c [1,17,2,2]`, `float32 (3,5) order F`.
fn order(text: &str) -> Option<Error> {
    let of_sizes = |element: Element, dims: &[String], behind: &str| {
        let text = format!("{element}[{}]{behind}", dims.join(","));
        reads(&text).then_some(text)
    };
    if let Some((array, end)) = sized::prefix(text) {
        let word = text[end..].trim_start_matches("order").trim_matches([' ', '=', '\'', '"', ':']);
        let dims: Vec<String> = array.dims.iter().map(u64::to_string).collect();
        let forward: Vec<String> = (0..dims.len()).map(|dim| dim.to_string()).collect();
        let order = match word {
            "F" | "F_CONTIGUOUS" | "fortran" | "column-major" => forward.join(","),
            "C" | "C_CONTIGUOUS" | "row-major" => row_major(dims.len()),
            _ => return None,
        };
        let meant = of_sizes(array.element, &dims, &format!("{{{order}}}"))?;
        return Some(Error::new("an order by its name").at(end..text.len()).accepts(meant));
    }
    let (element, end) = sized::element(text)?;
    let rest = text[end..].trim();
    let open = rest.find(['[', '('])?;
    let (dims, behind) = sized::sizes(&rest[open..])?;
    let dims: Vec<String> = dims.iter().map(u64::to_string).collect();
    let tag = rest[..open].trim_end();
    if tag.is_empty() || !rest[open + behind..].trim().is_empty() {
        return None;
    }
    let meant = of_sizes(element, &dims, &format!(" {tag}"))?;
    let rule = "the sizes stand before the layout";
    Some(Error::new("sizes behind the layout").at(end..text.len()).rule(rule).accepts(meant))
}

/// What Python prints of an array's elements, and code that makes an array.
fn python(text: &str) -> Option<Error> {
    const PRINT: &str = "what x.dtype, x.shape and x.strides are, such as float64 (2, 3) strides (24, 8)";
    const TORCH: &str =
        "what x.dtype, x.shape and x.stride() are, such as torch.float32 [2, 3] strides [3, 1]";
    let values = |name: &str| {
        let inner = text.strip_prefix(name)?.trim_start().strip_prefix('(')?.trim_start();
        inner.starts_with('[').then_some(())
    };
    if values("tensor").is_some() {
        return Some(Error::new("the elements of a tensor, without its layout").accepts(TORCH));
    }
    if values("array").or_else(|| values("Array")).is_some() {
        return Some(Error::new("the elements of an array, without its layout").accepts(PRINT));
    }
    let names = ["np.", "numpy.", "jnp.", "torch."];
    let (at, name) = names.iter().filter_map(|name| Some((text.find(name)?, *name))).min()?;
    let (call, arguments) = text[at + name.len()..].split_once('(')?;
    let is_call = ["zeros", "ones", "empty", "full", "rand", "randn", "asfortranarray"].contains(&call);
    if !is_call {
        return None;
    }
    let accepts = if name == "torch." { TORCH } else { PRINT };
    // Sizes, an order and a type that stand there say it all.
    let meant = sized::sizes(arguments.trim_start()).and_then(|(dims, _)| {
        let is_fortran =
            ["order=\"F\"", "order='F'"].iter().any(|order| text.replace(' ', "").contains(order));
        let numbers = dims.iter().map(u64::to_string).collect::<Vec<String>>().join(",");
        let forward = (0..dims.len()).map(|dim| dim.to_string()).collect::<Vec<String>>().join(",");
        let order = if is_fortran { forward } else { row_major(dims.len()) };
        let element = match text.split_once("dtype=") {
            Some((_, word)) => {
                let end = word.find([',', ')', ' ']).unwrap_or(word.len());
                Element::from_any_name(word[..end].trim_matches(['"', '\'']))?
            }
            None if matches!(name, "np." | "numpy.") => Element::F64,
            None => Element::F32,
        };
        let meant = format!("{element}[{numbers}]{{{order}}}");
        reads(&meant).then_some(meant)
    });
    let error = Error::new("code that makes an array").rule("a layout is read, and no code is run");
    Some(error.accepts(meant.map_or(accepts.to_owned(), |meant| format!("{meant}, or {accepts}"))))
}

/// Messages that another command is about.
fn message(text: &str) -> Option<Error> {
    if text.contains("E_INVALIDARG") || text.contains("0x80070057") {
        return Some(
            Error::new("an error of DirectML, without the descriptor")
                .rule("DirectML does not say which rule is broken")
                .accepts("the descriptor, as JSON, as code or as FLOAT16 NHWC [1,64,56,56]: tilework check names the rule"),
        );
    }
    let is_block = text.contains("block shape") && (text.contains("Pallas") || text.contains("divisible by"));
    is_block.then(|| {
        Error::new("a message about the block shape of a Pallas kernel").accepts(
            "the array and the block: tilework block 'f32[1000,300]' 8,128 says which blocks are legal",
        )
    })
}

#[cfg(test)]
mod tests {
    use crate::dialect::read;

    /// What people write who leave something out: what is found, and what to write instead, which is read.
    #[test]
    fn what_is_left_out_is_named() {
        for (text, found, accepts) in [
            ("f32[3,5]1,0", "an order without its braces", "f32[3,5]{1,0}"),
            ("f32[3,5] : 0, 1", "an order without its braces", "f32[3,5]{0,1}"),
            ("(3, 5)", "sizes without an element type", "f32[3,5], or float32 (3,5)"),
            ("[3,5]", "sizes without an element type", "f32[3,5], or float32 (3,5)"),
            ("3x5", "sizes without an element type", "f32[3,5], or float32 (3,5)"),
            ("(3,)", "sizes without an element type", "f32[3], or float32 (3)"),
            ("2,3:3,1", "modes without brackets", "(2,3):(3,1)"),
            ("torch.Size([2, 3])", "sizes without an element type", "f32[2,3], or float32 (2,3)"),
            (
                "Layout<Shape<_4,_8>,Stride<_8,_1>",
                "the text ends before its brackets are closed",
                "Layout<Shape<_4,_8>,Stride<_8,_1>>",
            ),
            ("FLOAT16 NHWC 1,64,56,56", "numbers without brackets", "FLOAT16 NHWC [1,64,56,56]"),
            ("f32 1x17x2x2 nChw8c", "numbers without brackets", "f32[1,17,2,2] nChw8c"),
            ("float32 3,5 strides 20,4", "numbers without brackets", "float32[3,5] strides [20,4]"),
            ("(4,8);(8,1)", "a semicolon", "(4,8):(8,1)"),
            (
                "#blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>",
                "an encoding of Triton without its dialect",
                "tensor<64x64xf16, #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>>",
            ),
            ("f32[3,5](1,0)", "an order or strides in round brackets", "{1,0} or [1,0]"),
            ("f32[3,5](5,1)", "an order or strides in round brackets", "[5,1]"),
        ] {
            let error = read(text).expect_err(text);
            assert_eq!((error.found(), error.accepted()), (found, Some(accepts)), "{text}");
            if !accepts.starts_with(['{', '[']) {
                accepts.split(", or ").for_each(|text| assert!(read(text).is_ok(), "{text}"));
            }
        }
    }
}
