//! An audit of files that the page was given.

use std::io::{BufReader, Cursor};

use serde::Serialize;
use tilework::words::short_bytes;
use tilework::xla::Shape;
use tilework::{Error, Result};
use tilework_audit::{Audit, Findings, Footprint, Selection, Shared};
use tilework_explain::{Look, audit_html, audit_html_part, explain_audit, explain_what_if};

/// The memory that an audit may take in a page, where a browser gives a few gigabytes to all.
const MEMORY: u64 = 1 << 30;

/// How many buffers and shapes of a program the pictures have. More would be too small to be seen, and judging each shape is
/// what takes the time.
const DRAWN: usize = 500;

/// What was read so far.
pub struct Auditing {
    audit: Audit,
}

impl Default for Auditing {
    fn default() -> Auditing {
        Auditing { audit: Audit::with_memory(MEMORY) }
    }
}

/// What came of it.
#[derive(Serialize)]
pub struct Audited {
    /// Arrays that could lie smaller, the one that would spare the most first.
    offers: Vec<Offer>,
    /// The same as `tilework audit --html` makes, as a part of a page.
    html: String,
    /// What would be if some arrays lay otherwise, where that was asked.
    change: Option<String>,
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
    /// The places of the files that are read, of all names that were dropped.
    pub fn select(names: &[String]) -> Vec<usize> {
        Selection::of(names).files
    }

    /// Reads a file.
    pub fn read(&mut self, name: &str, bytes: &[u8]) -> Result<u64> {
        let input = BufReader::with_capacity(1 << 18, Cursor::new(bytes));
        self.audit.read(name, input).map_err(|error| Error::new(format!("{name}: {error}")))?;
        Ok(self.audit.bytes_read())
    }

    /// What comes of all that was read; `instead` are arrays as they would lie.
    pub fn page(&mut self, top: usize, instead: &[String]) -> Result<Audited> {
        let all = if instead.is_empty() { DRAWN } else { usize::MAX };
        let findings = self.conclude(all.max(top))?;
        if findings.programs.is_empty() && findings.logs.is_empty() {
            return Err(Error::new("nothing that was read says how arrays lie in memory").accepts(
                "a folder that XLA dumped to, one of its text files, an out-of-memory message, or a log of oneDNN, TensorRT, \
                 PyTorch or Triton",
            ));
        }
        let (shown, change) = match instead {
            [] => (findings, None),
            instead => {
                let (after, words) = self.suppose(instead, &findings, top)?;
                (after, Some(words))
            }
        };
        Ok(Audited {
            html: audit_html_part(&shown, top),
            offers: offers(&shown),
            change,
            bytes_read: self.audit.bytes_read(),
        })
    }

    /// The page that `tilework audit --html` makes.
    pub fn html(&self, top: usize) -> Result<String> {
        Ok(audit_html(&self.conclude(usize::MAX)?, top))
    }

    /// What `tilework audit` prints.
    pub fn words(&self, top: usize) -> Result<String> {
        Ok(text(explain_audit(&self.conclude(top)?, top, 100, Look::default())))
    }

    /// What would be if these arrays lay so. What was read stays as it is.
    fn suppose(&self, instead: &[String], before: &Findings, top: usize) -> Result<(Findings, String)> {
        let mut audit = self.audit.clone();
        let mut arrays = Vec::new();
        for text in instead {
            let shape = Shape::parse(text)?;
            let array = shape.as_array().ok_or_else(|| Error::new("no array").at(0..text.len()))?.clone();
            audit.suppose_layout(&array)?;
            arrays.push(array);
        }
        let after = audit.findings(usize::MAX);
        let words = text(explain_what_if(&arrays, before, &after, top, 100, Look::default()));
        Ok((after, words))
    }

    /// All that was read, with at most `most` of each list.
    fn conclude(&self, most: usize) -> Result<Findings> {
        let findings = self.audit.findings(most);
        match findings.cut || self.audit.lacks_memory() {
            true => Err(Error::new("it takes more memory than a page may have")
                .accepts("tilework audit on the command line, which takes as much as --memory allows")),
            false => Ok(findings),
        }
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

fn text(lines: Vec<tilework_explain::Line>) -> String {
    lines.iter().map(ToString::to_string).collect::<Vec<String>>().join("\n")
}
