//! Lines about tensors in the logs of llama.cpp's programs.
//!
//! ```text
//! llama_model_loader: - tensor    0:  token_embd.weight q4_0     [  4096, 32000,     1,     1 ]
//! llama_model_loader: - tensor split  0:  token_embd.weight q4_0     [  4096, 32000,     1,     1 ]    70.31 MiB
//! [   1/ 291]  token_embd.weight - [ 4096, 32000,     1,     1], type =    f16, converting to q4_0 .. size = …
//!       1:  131072000 |  4096, 32000,     1,     1 | Q4_0    | token_embd.weight
//! INFO:hf-to-gguf:token_embd.weight,  torch.bfloat16 --> F16, shape = {4096, 32000}
//! ```
//!
//! All but the last fill up to four sizes with ones, so ones at the end are no dimensions, as for `ggml_n_dims`.

use super::read::number;
use super::tensor::Tensor;
use super::types::Type;
use crate::error::{Error, ErrorKind, Result, quoted};

/// A name and the tensor.
type Line = (Option<String>, Tensor);

/// Whether a text is such a line.
pub(super) fn is_line(text: &str) -> bool {
    pieces(text).is_some()
}

/// The pieces of a line, each a part of the text.
struct Pieces<'a> {
    name: &'a str,
    kind: &'a str,
    sizes: &'a str,
    /// How many elements there are, where the line says it.
    elements: Option<&'a str>,
    /// Whether it is filled up with ones.
    filled: bool,
}

fn pieces(text: &str) -> Option<Pieces<'_>> {
    if text.contains('\n') {
        return None;
    }
    loader(text).or_else(|| quantize(text)).or_else(|| dump(text)).or_else(|| convert(text))
}

/// `- tensor split 0: NAME TYPE [ SIZES ] …`
fn loader(text: &str) -> Option<Pieces<'_>> {
    let rest = text.strip_prefix("llama_model_loader:").unwrap_or(text).trim_start();
    let rest = rest.strip_prefix("- tensor")?.trim_start();
    let rest = rest.strip_prefix("split").unwrap_or(rest).trim_start();
    let (count, rest) = rest.split_once(':')?;
    let (head, rest) = rest.split_once('[')?;
    let (sizes, _) = rest.split_once(']')?;
    let (name, kind) = head.trim().rsplit_once(char::is_whitespace)?;
    is_digits(count).then_some(Pieces { name: name.trim(), kind, sizes, elements: None, filled: true })
}

/// `[ 1/ 291] NAME - [ SIZES ], type = TYPE, …`
fn quantize(text: &str) -> Option<Pieces<'_>> {
    let (count, rest) = text.strip_prefix('[')?.split_once(']')?;
    let (number, all) = count.split_once('/')?;
    let (name, rest) = rest.split_once(" - [")?;
    let (sizes, rest) = rest.split_once(']')?;
    let rest = rest.trim_start().strip_prefix(',')?.trim_start().strip_prefix("type")?.trim_start();
    let rest = rest.strip_prefix('=')?;
    let kind = rest.split_once(',').map_or(rest, |(kind, _)| kind).trim();
    let is_line = is_digits(number) && is_digits(all);
    is_line.then_some(Pieces { name: name.trim(), kind, sizes, elements: None, filled: true })
}

/// `1: ELEMENTS | SIZES | TYPE | NAME`
fn dump(text: &str) -> Option<Pieces<'_>> {
    let (count, rest) = text.split_once(':')?;
    let mut fields = rest.splitn(4, '|').map(str::trim);
    let [elements, sizes, kind, name] = [fields.next()?, fields.next()?, fields.next()?, fields.next()?];
    let is_line = is_digits(count) && is_digits(elements);
    is_line.then_some(Pieces { name, kind, sizes, elements: Some(elements), filled: true })
}

/// `NAME, OLD --> TYPE, shape = {SIZES}`
fn convert(text: &str) -> Option<Pieces<'_>> {
    let (head, rest) = text.split_once("-->")?;
    let (kind, rest) = rest.split_once(',')?;
    let rest = rest.trim_start().strip_prefix("shape")?.trim_start().strip_prefix('=')?.trim_start();
    let (sizes, _) = rest.strip_prefix('{')?.split_once('}')?;
    let head = head.strip_prefix("INFO:hf-to-gguf:").unwrap_or(head);
    let (name, _) = head.rsplit_once(',').unwrap_or((head.split_whitespace().next()?, ""));
    Some(Pieces { name: name.trim(), kind: kind.trim(), sizes, elements: None, filled: false })
}

fn is_digits(text: &str) -> bool {
    let text = text.trim();
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The tensor of a line, if it is one.
pub(super) fn read(text: &str) -> Option<Result<Line>> {
    pieces(text).map(|pieces| tensor(text, &pieces))
}

fn tensor(text: &str, pieces: &Pieces) -> Result<Line> {
    let at = |part: &str| {
        let start = part.as_ptr() as usize - text.as_ptr() as usize;
        start..start + part.len()
    };
    let kind = Type::parse(pieces.kind).map_err(|error| error.at(at(pieces.kind)))?;
    let mut ne = Vec::new();
    for size in pieces.sizes.split(',').map(str::trim).take(2 * super::MAX_DIMS) {
        ne.push(number(size).map_err(|error| error.at(at(size)))?);
    }
    while pieces.filled && ne.len() > 1 && ne.last() == Some(&1) {
        ne.pop();
    }
    let tensor = Tensor { kind, ne, nb: None, view_offs: None };
    tensor.check().map_err(|error| error.at(at(pieces.sizes)))?;
    if let Some(said) = pieces.elements {
        let count = tensor.ne.iter().try_fold(1_u64, |count, &size| count.checked_mul(size));
        if said.parse().ok() != count || count.is_none() {
            return Err(Error::new(format!(
                "{} elements for ne = {}",
                quoted(said),
                super::tensor::list(&tensor.ne)
            ))
            .of_kind(ErrorKind::Mismatch)
            .at(at(said))
            .rule("the line says the product of the sizes")
            .accepts(count.map_or("smaller sizes".to_owned(), |count| count.to_string())));
        }
    }
    if let (Type::Element(_), Err(error)) = (kind, tensor.lower()) {
        return Err(error.at(at(pieces.sizes)));
    }
    let name = (!pieces.name.is_empty()).then(|| pieces.name.to_owned());
    Ok((name, tensor))
}
