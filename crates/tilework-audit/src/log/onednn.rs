//! Verbose logs of oneDNN, DNNL and MKL-DNN: one line for each primitive that was made or ran.
//!
//! ```text
//! onednn_verbose,v1,primitive,exec,cpu,reorder,jit:uni,undef,src:f32::blocked:abcd::f0 dst:f32::blocked:aBcd8b::f0,,,2x16x7x7,0.02
//! onednn_verbose,1607054150784.885010,exec,cpu,reorder,…     a time in front of the rest
//! dnnl_verbose,exec,cpu,reorder,jit:uni,undef,src_f32::blocked:abcd:f0 dst_f32::blocked:aBcd8b:f0,,,2x16x7x7,0.02
//! mkldnn_verbose,exec,reorder,jit:uni,undef,in:f32_nchw out:f32_nChw8c,num:1,2x16x7x7,0.02
//! ```
//!
//! The notation reads what stands in a line. Lines repeat, but for times, so each different one is read once.

use std::sync::LazyLock;

use memchr::memmem::{self, Finder};
use tilework::Error;
use tilework::dialect::{Dialect, Fact, Found, Known};

use super::logged::LogKind;
use super::{Array, ArrayId, Log, Part, Step, StepId, by_x, bytes};
use crate::read::Reading;
use crate::read::prefix::plain;
use crate::store::Store;
use crate::texts::NONE;

/// How lines begin, and how they go on.
const NAMES: [&[u8]; 3] = [b"onednn", b"dnnl", b"mkldnn"];
const MARK: &[u8] = b"_verbose,";

/// No line of a log that means something is longer.
const LONGEST: usize = 1 << 14;

/// A line of a log.
struct Line<'a> {
    /// From what is done, `exec`, to the problem.
    text: &'a str,
    is_creation: bool,
    nanoseconds: Option<u64>,
}

/// Where a line of a verbose log begins within a line of text.
#[inline]
pub(crate) fn start(line: &[u8]) -> Option<usize> {
    static FINDER: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(MARK));
    let mark = FINDER.find(line)?;
    let start = |name: &&[u8]| line[..mark].strip_suffix(*name).map(<[u8]>::len);
    NAMES.iter().filter_map(start).min()
}

/// Whether bytes begin like such a log.
pub(crate) fn begins(line: &[u8]) -> bool {
    start(&plain(line)) == Some(0)
}

impl Reading<'_> {
    /// Reads a line of a verbose log; false if it is none.
    #[inline]
    pub(crate) fn onednn_line(&mut self, number: u64, line: &[u8]) -> bool {
        let Some(at) = start(line) else { return false };
        self.onednn(number, &line[at..]);
        true
    }

    fn onednn(&mut self, number: u64, line: &[u8]) {
        let line = plain(&line[..line.len().min(LONGEST)]);
        let log = self.logs.of(self.store, self.name, LogKind::OneDnn);
        let Ok(text) = std::str::from_utf8(&line) else {
            return self.store.complaints.add(number, "a line of a oneDNN log that is no text");
        };
        let Some(said) = said(text) else {
            let version = text.split_once(",info,oneDNN ").or_else(|| text.split_once(",info,DNNL "));
            if let Some((_, version)) = version {
                let version = version.split([' ', ',']).next().unwrap_or("");
                let words = format!("oneDNN {version}");
                log.writer = self.store.texts.number(&words.as_bytes()[..version.len().min(40) + 7]);
            }
            return;
        };
        if said.is_creation {
            log.created.add(said.nanoseconds, number, NONE);
            return;
        }
        if said.nanoseconds.is_none() {
            self.store.complaints.add(number, "a line of a oneDNN log without its time: it is cut off");
        }
        let hash = self.store.seed.of(said.text.as_bytes());
        let step = match log.known(hash) {
            Some(step) => Some(step),
            None => self.store.onednn_step(log, hash, number, said.text),
        };
        if let Some(step) = step {
            log.ran(&self.store.budget, step, said.nanoseconds, number);
        }
    }
}

impl Store {
    /// Reads what a line says that is the first of its kind.
    fn onednn_step(&mut self, log: &mut Log, hash: u64, number: u64, text: &str) -> Option<StepId> {
        let fields: Vec<&str> = text.split(',').collect();
        // The oldest logs had no field for the engine.
        let is_engine = |field: &&str| ["cpu", "gpu", "any"].iter().any(|engine| field.starts_with(engine));
        let primitive = match fields.get(1).filter(|field| is_engine(field)) {
            Some(_) => fields.get(2),
            None => fields.get(1),
        };
        let primitive = primitive.copied().unwrap_or("");
        let is_move = primitive == "reorder";
        // The notation wants the line as it was written, with a time behind it.
        let found = notation()
            .and_then(|notation| (notation.read)(&format!("onednn_verbose,{text},0"), &Known::default()));
        let found = found.unwrap_or_else(|_| {
            self.complaints
                .add(number, "a line of a oneDNN log whose arrays cannot be read: only its time counts");
            Vec::new()
        });
        let mut arrays: Vec<(Part, ArrayId)> = Vec::new();
        for found in &found {
            let array = self.onednn_array(found);
            arrays.push((part(found.name.as_deref().unwrap_or("")), log.array(&self.budget, array)?));
        }
        let own = |part| arrays.iter().find(|array| array.0 == part).map(|array| array.1);
        let moves = own(Part::Input).zip(own(Part::Output)).filter(|_| is_move);
        let operation = self.texts.number(primitive.as_bytes());
        log.step(
            &self.budget,
            hash,
            Step { operation, arrays: arrays.into(), moves, name: NONE, way: None, loops: 0 },
        )
    }

    fn onednn_array(&mut self, found: &Found) -> Array {
        let facts = found.said.facts();
        let text = |name: &str| {
            facts.fields.iter().find_map(|(field, fact)| match fact {
                Fact::Text(text) if *field == name => Some(text.as_str()),
                _ => None,
            })
        };
        let format = text("tag").or_else(|| text("format_kind")).unwrap_or("");
        let element = text("element_type").unwrap_or("");
        let sizes: Option<Vec<u64>> = facts.fields.iter().find_map(|(field, fact)| match fact {
            Fact::List(list) if *field == "dimensions" => list
                .iter()
                .map(|size| match size {
                    Fact::Number(size) => u64::try_from(*size).ok(),
                    _ => None,
                })
                .collect(),
            _ => None,
        });
        Array {
            format: self.texts.number(format.as_bytes()),
            element: self.texts.number(element.as_bytes()),
            sizes: sizes.map_or(NONE, |sizes| self.texts.number(by_x(&sizes).as_bytes())),
            bytes: found.said.layout().ok().as_ref().and_then(bytes),
        }
    }
}

/// oneDNN's notation.
fn notation() -> Result<&'static Dialect, Error> {
    Dialect::named("onednn")
}

/// What an array is to its primitive, by the name in the log.
fn part(name: &str) -> Part {
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit());
    match name {
        "src" | "in" | "fsrc" | "diff_dst" | "fdata" | "data" | "src_layer" | "src_iter" => Part::Input,
        "wei" | "fwei" | "bia" | "fbia" | "wei_layer" | "wei_iter" | "wei_peephole" | "wei_proj" => {
            Part::Weights
        }
        "dst" | "out" | "fdst" | "diff_src" | "dst_layer" | "dst_iter" | "diff_wei" => Part::Output,
        _ => Part::Other,
    }
}

/// What a line says, if it is of a primitive that was made or ran.
fn said(line: &str) -> Option<Line<'_>> {
    // Version, time and `primitive` may stand before.
    let mut rest = &line[memmem::find(line.as_bytes(), MARK)? + MARK.len()..];
    for _ in 0..5 {
        let (field, after) = rest.split_once(',')?;
        match field {
            // `exec`, or `exec:` and where.
            _ if field == "exec" || field.starts_with("exec:") => {
                return Some(line_of(rest, false));
            }
            _ if field == "create" || field.starts_with("create:") => {
                // What was looked at and not taken has no time.
                let made = !field.ends_with(":dispatch") && !field.ends_with(":check");
                return made.then(|| line_of(rest, true));
            }
            "info" | "graph" | "error" => return None,
            _ => rest = after,
        }
    }
    None
}

fn line_of(text: &str, is_creation: bool) -> Line<'_> {
    let (before, last) = text.rsplit_once(',').unwrap_or((text, ""));
    let nanoseconds = nanoseconds(last);
    // Without its time, a line was cut somewhere.
    let text = if nanoseconds.is_some() { before } else { text };
    Line { text, is_creation, nanoseconds }
}

/// Nanoseconds from a text that begins with milliseconds.
fn nanoseconds(text: &str) -> Option<u64> {
    let text = text.trim();
    let is_number = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'-' | b'+');
    let end = text.bytes().take_while(is_number).count();
    // What follows is not of this line, if there is anything.
    let milliseconds: f64 = text[..end].parse().ok()?;
    let fits = (0.0..1e12).contains(&milliseconds)
        && (end == text.len() || !text[end..].starts_with(|c: char| c.is_ascii_alphanumeric()));
    fits.then(|| (milliseconds * 1e6).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_is_found_in_lines_of_every_version() {
        let text =
            |line: &str| said(line).map(|line| (line.text.to_owned(), line.is_creation, line.nanoseconds));
        let is = |text: &str, creation, time| Some((text.to_owned(), creation, time));
        for (line, expected) in [
            (
                "onednn_verbose,v1,primitive,exec,cpu,reorder,x,3x4,0.5",
                is("exec,cpu,reorder,x,3x4", false, Some(500_000)),
            ),
            (
                "onednn_verbose,v1,1693.25,primitive,exec,gpu:0,reorder,x,1e-3",
                is("exec,gpu:0,reorder,x", false, Some(1000)),
            ),
            ("onednn_verbose,1607054150784.885010,exec,cpu,x,2", is("exec,cpu,x", false, Some(2_000_000))),
            (
                "mkldnn_verbose,exec,reorder,y,2x16x7x7,0.468994",
                is("exec,reorder,y,2x16x7x7", false, Some(468_994)),
            ),
            ("dnnl_verbose,create:cache_miss,cpu,x,0.25", is("create:cache_miss,cpu,x", true, Some(250_000))),
            ("onednn_verbose,primitive,create:dispatch,matmul,x,y", None),
            ("onednn_verbose,info,cpu,isa:Intel AVX2", None),
            ("onednn_verbose,v1,graph,exec,cpu,100002,x,0.5", None),
            ("onednn_verbose,", None),
        ] {
            assert_eq!(text(line), expected, "{line}");
        }
        assert_eq!(
            text("onednn_verbose,exec,cpu,reorder,a,16x16"),
            is("exec,cpu,reorder,a,16x16", false, None)
        );
    }
}
