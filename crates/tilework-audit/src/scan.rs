//! Shapes anywhere in a text: XLA's, and MLIR's tensors, which are row-major.

use memchr::{memchr_iter, memrchr};
use tilework::xla::PrimitiveType;

use crate::audit::Audit;
use crate::bytes::end_of_shape;
use crate::texts::NONE;

/// The most different shapes that are kept.
const LIMIT: usize = 1 << 20;

/// The bytes of the longest array that is looked for. Without a limit, a line of opened brackets would be read again for
/// each of them.
const LONGEST: usize = 1 << 10;

impl Audit {
    /// Reads a line of any text.
    pub(crate) fn text_line(&mut self, number: u64, line: &[u8]) {
        let mut next = 0;
        for open in memchr_iter(b'[', line) {
            if open < next {
                continue;
            }
            let Some(start) = start_of_type(line, open) else { continue };
            let end = start + end_of_array(&line[start..]);
            if self.loose(number, &line[start..end]) {
                next = end;
            }
        }
        for open in memchr_iter(b'<', line) {
            if (line[..open].ends_with(b"tensor") || line[..open].ends_with(b"memref"))
                && let Some(shape) = row_major(&line[open + 1..])
            {
                self.loose(number, shape.as_bytes());
            }
        }
    }

    fn loose(&mut self, number: u64, text: &[u8]) -> bool {
        let Some(shape) = self.shapes.number(text) else {
            self.complaints.add(number, "a shape that cannot be read");
            return false;
        };
        let loose = &mut self.program().loose;
        if loose.len() < LIMIT {
            loose.entry(shape).or_default().add(number, || NONE);
        }
        true
    }
}

/// Where the name of an element type begins that ends before `open`.
fn start_of_type(line: &[u8], open: usize) -> Option<usize> {
    let word = line[..open].iter().rev().take_while(|byte| byte.is_ascii_alphanumeric()).take(24).count();
    let start = open - word;
    // `x_f32[2]` and `a.f32[2]` are names of something else.
    if start > 0 && matches!(line[start - 1], b'_' | b'.' | b'$' | b'%') {
        return None;
    }
    let name = std::str::from_utf8(&line[start..open]).ok()?;
    let kind = PrimitiveType::from_name(name)
        .or_else(|| PrimitiveType::from_name(&name.to_ascii_lowercase()).filter(|_| is_upper(name)));
    kind.is_some_and(|kind| kind.is_array_type()).then_some(start)
}

fn is_upper(name: &str) -> bool {
    !name.bytes().any(|byte| byte.is_ascii_lowercase())
}

/// Where the array ends that a text begins with: behind its sizes, and its layout if one follows at once.
fn end_of_array(text: &[u8]) -> usize {
    let text = &text[..text.len().min(LONGEST)];
    let end = |open: usize| open + end_of_shape(&text[open..]).max(1);
    let Some(open) = memchr::memchr(b'[', text) else { return text.len() };
    let Some(close) = memchr::memchr(b']', &text[open..]) else { return text.len() };
    let sizes = open + close + 1;
    match text.get(sizes) {
        Some(b'{') => {
            let end = end(sizes).min(text.len());
            // What follows a layout directly, as a full stop does, is no part of it.
            memrchr(b'}', &text[sizes..end]).map_or(end, |brace| sizes + brace + 1)
        }
        _ => sizes,
    }
}

/// XLA's text of `300000x8xf32>…`.
fn row_major(text: &[u8]) -> Option<String> {
    let text = &text[..text.len().min(LONGEST)];
    let end = memchr::memchr3(b'>', b',', b' ', text)?;
    let text = std::str::from_utf8(&text[..end]).ok()?;
    let (sizes, element) = match text.rfind('x') {
        Some(at) => (&text[..at], &text[at + 1..]),
        None => ("", text),
    };
    let element = element_of_mlir(element)?;
    let sizes: Vec<&str> = sizes.split('x').filter(|size| !size.is_empty()).collect();
    let known = |size: &&str| *size == "?" || size.bytes().all(|byte| byte.is_ascii_digit());
    (sizes.iter().all(known) && sizes.len() <= 64).then(|| format!("{element}[{}]", sizes.join(",")))
}

/// XLA's name of an element type of MLIR.
fn element_of_mlir(name: &str) -> Option<String> {
    let bits = |name: &str| name.parse::<u32>().ok();
    let name = match name {
        "i1" => "pred".to_owned(),
        "index" => "s64".to_owned(),
        _ => match (name.strip_prefix("ui"), name.strip_prefix("si").or_else(|| name.strip_prefix('i'))) {
            (Some(width), _) => format!("u{}", bits(width)?),
            (_, Some(width)) => format!("s{}", bits(width)?),
            _ => name.to_ascii_lowercase(),
        },
    };
    PrimitiveType::from_name(&name).filter(|kind| kind.is_array_type()).map(|_| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(line: &str) -> Vec<String> {
        let mut audit = Audit::new();
        audit.read("text", line.as_bytes()).expect("memory is read");
        let mut found: Vec<(u32, String)> = Vec::new();
        for program in &audit.programs {
            for &shape in program.loose.keys() {
                found.push((shape, audit.shapes.known(shape).shape.to_string()));
            }
        }
        found.sort();
        found.into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn shapes_are_found_wherever_they_stand() {
        assert_eq!(found("has (f32[3,5]{1,0:T(2,2)}, s32[7]) in it."), ["f32[3,5]{1,0:T(2,2)}", "s32[7]{0}"]);
        assert_eq!(found("`bf16[2,3]`: F32[2]{0}. pred[]"), ["bf16[2,3]{1,0}", "f32[2]{0}", "pred[]"]);
        assert_eq!(found("x_f32[2] list[3] a.s8[1] f32 [2] f33[2] word"), Vec::<String>::new());
        assert_eq!(found("f32[2,"), Vec::<String>::new());
        assert_eq!(found("s32[2]{0:T(128)}s32[3]"), ["s32[2]{0:T(128)}", "s32[3]{0}"]);
    }

    #[test]
    fn tensors_of_mlir_are_row_major() {
        let line = "%0 = stablehlo.add %a : (tensor<300000x8xf32>, tensor<i1>) -> tensor<?x3xui8, #enc>";
        assert_eq!(found(line), ["f32[300000,8]{1,0}", "pred[]", "u8[?,3]{1,0}"]);
        assert_eq!(
            found("tensor<2x!quant.uniform> tensor<2x*xf32> tensor<4xcomplex<f32>> tensor<"),
            Vec::<String>::new()
        );
    }
}
