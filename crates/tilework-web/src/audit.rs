//! An audit of files that the page was given: the questions that begin with `audit-`.
//!
//! * `audit-new`: forgets what was read, or keeps it to `compare` it with what is read next;
//! * `audit-select`: which of the files of a dropped folder belong to an audit, in the order in which they are best read;
//! * `audit-read`: reads a file, whose bytes come beside the request;
//! * `audit-page`: what comes of all that was read, where arrays lie as `instead` says;
//! * `audit-words`: the same in words; `audit-file`: the page that stands alone.

use std::io::{BufReader, Cursor};

use serde::Serialize;
use tilework::words::short_bytes;
use tilework::xla::Shape;
use tilework::{Error, Result};
use tilework_audit::{Audit, Findings, Footprint, Selection, Shared};
use tilework_explain::{
    AuditPage, Line, Look, audit_html, audit_html_part, explain_audit, explain_audit_change, explain_what_if,
};

use crate::request::{Request, json};

/// The memory that an audit may take in a page, where a browser gives a few gigabytes to all.
const MEMORY: u64 = 1 << 30;

/// How many buffers and shapes of a program the pictures have. More would be too small to be seen, and judging each shape is
/// what takes the time.
const DRAWN: usize = 500;

/// What was read so far.
pub struct Auditing {
    audit: Audit,
    /// What it is compared with.
    before: Option<Audit>,
}

impl Default for Auditing {
    fn default() -> Auditing {
        Auditing { audit: Audit::with_memory(MEMORY), before: None }
    }
}

/// Answers a question.
pub fn answer(held: &mut Option<Box<Auditing>>, about: &str, asked: &Request, bytes: &[u8]) -> String {
    let auditing = held.get_or_insert_default();
    match about {
        "new" => {
            let read = std::mem::take(&mut **auditing);
            // Of three, the first two were compared.
            auditing.before = asked.compare.then_some(read.audit);
            json(Ok(()), "")
        }
        "select" => json(Ok(Selection::of(&asked.names).files), ""),
        "read" => json(auditing.read(&asked.name, bytes), ""),
        "page" => json(auditing.page(asked.top, &asked.instead), ""),
        "words" => json(auditing.words(asked.top), ""),
        "file" => json(auditing.html(asked.top), ""),
        other => json::<()>(Err(Error::new(format!("no question of an audit is called `{other}`"))), ""),
    }
}

/// What came of it.
#[derive(Serialize)]
pub struct Audited {
    /// Arrays that could lie smaller, the one that would spare the most first.
    offers: Vec<Offer>,
    /// The same as `tilework audit --html` makes, as a part of a page.
    html: String,
    bytes_read: u64,
}

/// An array that could lie otherwise.
#[derive(Serialize)]
struct Offer {
    shape: String,
    instead: String,
    /// Fewer bytes, in words.
    saves: String,
}

/// How many of them.
const OFFERS: usize = 12;

impl Auditing {
    /// Reads a file.
    fn read(&mut self, name: &str, bytes: &[u8]) -> Result<u64> {
        let input = BufReader::with_capacity(1 << 18, Cursor::new(bytes));
        self.audit.read(name, input).map_err(|error| Error::new(format!("{name}: {error}")))?;
        Ok(self.audit.bytes_read())
    }

    /// What comes of all that was read; `instead` are arrays as they would lie.
    fn page(&self, top: usize, instead: &[String]) -> Result<Audited> {
        let is_compared = self.before.is_some() || !instead.is_empty();
        let mut findings = conclude(&self.audit, if is_compared { usize::MAX } else { DRAWN.max(top) })?;
        if findings.programs.is_empty() && findings.logs.is_empty() {
            return Err(Error::new("nothing that was read says how arrays lie in memory").accepts(
                "a folder that XLA dumped to, one of its text or .hlo.pb files, an out-of-memory message, or a log of oneDNN, \
                 TensorRT, PyTorch or Triton",
            ));
        }
        let mut change = self.change(&findings, top)?;
        if !instead.is_empty() {
            let (after, words) = self.suppose(instead, &findings, top)?;
            (findings, change) = (after, words);
        }
        // The page itself draws layouts.
        let page = AuditPage { top, base: Some(""), change: &change };
        Ok(Audited {
            html: audit_html_part(&findings, &page),
            offers: offers(&findings),
            bytes_read: self.audit.bytes_read(),
        })
    }

    /// The page that `tilework audit --html` makes.
    fn html(&self, top: usize) -> Result<String> {
        let findings = conclude(&self.audit, usize::MAX)?;
        let change = self.change(&findings, top)?;
        Ok(audit_html(&findings, &AuditPage { top, base: None, change: &change }))
    }

    /// What `tilework audit` prints.
    fn words(&self, top: usize) -> Result<String> {
        let lines = match self.before {
            Some(_) => self.change(&conclude(&self.audit, usize::MAX)?, top)?,
            None => explain_audit(&conclude(&self.audit, top)?, top, 100, Look::default()),
        };
        Ok(lines.iter().map(ToString::to_string).collect::<Vec<String>>().join("\n"))
    }

    /// How it differs from what was read before; nothing where that is not wanted.
    fn change(&self, after: &Findings, top: usize) -> Result<Vec<Line>> {
        let Some(before) = &self.before else { return Ok(Vec::new()) };
        Ok(explain_audit_change(&conclude(before, usize::MAX)?, after, top, 100, Look::default()))
    }

    /// What would be if these arrays lay so. What was read stays as it is.
    fn suppose(&self, instead: &[String], before: &Findings, top: usize) -> Result<(Findings, Vec<Line>)> {
        let mut audit = self.audit.clone();
        let mut arrays = Vec::new();
        for text in instead {
            let shape = Shape::parse(text)?;
            let array = shape.as_array().ok_or_else(|| Error::new("no array").at(0..text.len()))?.clone();
            audit.suppose_layout(&array)?;
            arrays.push(array);
        }
        let after = audit.findings(usize::MAX);
        let words = explain_what_if(&arrays, before, &after, top, 100, Look::default());
        Ok((after, words))
    }
}

/// What comes of an audit, with at most `most` of each list.
fn conclude(audit: &Audit, most: usize) -> Result<Findings> {
    let findings = audit.findings(most);
    match findings.cut || audit.lacks_memory() {
        true => Err(Error::new("it takes more memory than a page may have")
            .accepts("tilework audit on the command line, which takes as much as --memory allows")),
        false => Ok(findings),
    }
}

/// The smaller layouts that were found for what wastes the most.
fn offers(findings: &Findings) -> Vec<Offer> {
    let shapes = findings.programs.iter().flat_map(|program| &program.shapes);
    let offer = |shared: &Shared| {
        let smallest = shared.smallest.as_ref()?;
        let own = Footprint::new(shared.shape.as_array()?.clone()).ok()?;
        let saves = own.bytes.checked_sub(smallest.bytes).filter(|&saves| saves > 0)?;
        Some((saves, shared.shape.to_string(), smallest.shape.to_string()))
    };
    let mut found: Vec<(u64, String, String)> = shapes.filter_map(offer).collect();
    found.sort_by(|a, b| b.cmp(a));
    found.dedup();
    let words = |saves: u64| short_bytes(saves.into());
    let offer = |(saves, shape, instead)| Offer { shape, instead, saves: words(saves) };
    found.into_iter().take(OFFERS).map(offer).collect()
}
