//! A page of text: names with their meanings, paragraphs and pictures, none wider than the width.

use tilework::dialect::Axes;
use tilework_picture::{Line, Look, Style, plain_ascii, wrap};

/// A name, and what it means.
pub type Row = (String, String);

/// The narrowest page: in less than this no word stands beside another.
pub const NARROWEST: usize = 20;

/// The widest page. What is drawn grows with it, and nobody reads wider lines.
pub const WIDEST: usize = 4096;

/// Lines that are being written, none wider than the width.
pub struct Page {
    pub(crate) width: usize,
    pub(crate) look: Look,
    lines: Vec<Line>,
    /// The names of the dimensions that everything here is about.
    pub(crate) axes: Option<Axes>,
    /// The width of names in two columns: at least that of the widest so far.
    pub(crate) label: usize,
}

impl Page {
    /// An empty page of as many columns, within [`NARROWEST`] and [`WIDEST`].
    pub fn new(width: usize, look: Look) -> Page {
        Page { width: width.clamp(NARROWEST, WIDEST), look, lines: Vec::new(), axes: None, label: 0 }
    }

    /// The lines so far.
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// All lines.
    pub fn into_lines(self) -> Vec<Line> {
        self.lines
    }

    /// The text of a shape, on as many lines as it needs.
    pub fn title(&mut self, text: &str) {
        for line in wrap(&self.spell(text), self.width) {
            self.lines.push(Line::new().with(line, Style::Strong));
        }
    }

    /// Sentences, apart from what stands before them.
    pub fn paragraph(&mut self, text: &str) {
        self.space();
        for line in wrap(&self.spell(text), self.width - 2) {
            self.lines.push(Line::new().with(format!("  {line}"), Style::Plain));
        }
    }

    /// What the lines below it show.
    pub fn heading(&mut self, text: &str) {
        self.space();
        for line in wrap(&self.spell(text), self.width - 2) {
            self.lines.push(Line::new().with(format!("  {line}"), Style::Faint));
        }
    }

    /// One empty line.
    fn space(&mut self) {
        if self.lines.last().is_some_and(|line| line.width() > 0) {
            self.lines.push(Line::new());
        }
    }

    /// Names with their meanings in two columns.
    pub fn rows(&mut self, rows: &[Row]) {
        self.space();
        let widest = self.width / 4;
        let fitting = rows.iter().map(|(label, _)| label.chars().count()).filter(|&width| width <= widest);
        self.label = fitting.chain([self.label, 9.min(widest)]).max().unwrap_or(0);
        let label = self.label;
        for (name, meaning) in rows {
            let mut name = wrap(&self.spell(name), self.width - 2);
            // A name too long for its column stands on lines of its own.
            let beside = name.len() == 1 && name[0].chars().count() <= label;
            let mut first = if beside { name.pop().unwrap_or_default() } else { String::new() };
            for line in name {
                self.lines.push(Line::new().with(format!("  {line}"), Style::Faint));
            }
            for line in wrap(&self.spell(meaning), self.width.saturating_sub(label + 4).max(8)) {
                let name = format!("  {:label$}  ", std::mem::take(&mut first));
                self.lines.push(Line::new().with(name, Style::Faint).with(line, Style::Plain));
            }
        }
    }

    /// Names with texts that are to be copied: each text is on one line, however long it is.
    pub fn unbroken(&mut self, rows: &[Row]) {
        self.space();
        self.label = rows.iter().map(|(name, _)| name.chars().count()).chain([self.label]).max().unwrap_or(0);
        for (name, text) in rows {
            let name = format!("  {name:width$}  ", width = self.label);
            self.lines.push(Line::new().with(name, Style::Faint).with(text.clone(), Style::Plain));
        }
    }

    /// Lines with their own indentation.
    pub fn text(&mut self, text: &str) {
        self.space();
        for line in text.lines() {
            let words = line.trim_start();
            let indent = " ".repeat(2 + line.len() - words.len());
            for part in wrap(&self.spell(words), self.width.saturating_sub(indent.len()).max(8)) {
                let line = if part.is_empty() { String::new() } else { format!("{indent}{part}") };
                self.lines.push(Line::new().with(line, Style::Plain));
            }
        }
    }

    /// Lines that are made already.
    pub(crate) fn indented(&mut self, lines: Vec<Line>) {
        for line in lines {
            let mut indented = Line::new().with("  ", Style::Plain);
            for span in line.spans() {
                indented.push(span.text.clone(), span.style);
            }
            self.lines.push(indented);
        }
    }

    /// The text in the characters that the terminal takes.
    fn spell(&self, text: &str) -> String {
        match self.look.ascii {
            true => text.split('\u{a0}').map(plain_ascii).collect::<Vec<String>>().join("\u{a0}"),
            false => text.to_owned(),
        }
    }
}
