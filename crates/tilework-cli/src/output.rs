//! Writing answers and errors, and the exit code that comes of them.

use std::cell::RefCell;
use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::rc::Rc;

use serde::Serialize;
use tilework::{Error, printable};
use tilework_explain::{NARROWEST, Page};
use tilework_picture::{Line, Look, Style, plain_ascii, same_width_ascii, wrap};

use crate::args::{LookArgs, When};
use crate::json;
use crate::{BAD, NO, YES};

/// Why nothing more is written.
pub enum Stop {
    /// Nobody reads any more, as behind `| head`.
    ClosedPipe,
    /// Reading or writing failed.
    Io(io::Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Stop {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Stop::ClosedPipe,
            _ => Stop::Io(error),
        }
    }
}

/// Bytes that are kept, and not written anywhere.
#[derive(Clone, Default)]
pub struct Kept(Rc<RefCell<Vec<u8>>>);

impl Kept {
    /// All of them, as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.borrow()).into_owned()
    }
}

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Where answers go.
pub struct Output {
    out: BufWriter<Box<dyn Write>>,
    errors: Box<dyn Write>,
    /// How standard output is written.
    pub look: Look,
    /// Columns.
    pub width: usize,
    /// Whether answers are JSON.
    pub json: bool,
    color_errors: bool,
    is_terminal: bool,
    code: u8,
    answered: bool,
}

impl Output {
    pub fn new(args: &LookArgs) -> Output {
        let (stdout, stderr) = (io::stdout(), io::stderr());
        Output {
            look: Look { color: !args.json && color(args.color, stdout.is_terminal()), ascii: args.ascii },
            width: args.width.unwrap_or_else(|| columns(&stdout)).max(NARROWEST),
            json: args.json,
            color_errors: color(args.color, stderr.is_terminal()),
            is_terminal: stdout.is_terminal(),
            out: BufWriter::new(Box::new(stdout)),
            errors: Box::new(stderr),
            code: YES,
            answered: false,
        }
    }

    /// Answers in JSON and errors that are kept, for a program that asks.
    pub fn kept(args: &LookArgs) -> (Output, [Kept; 2]) {
        let kept = [Kept::default(), Kept::default()];
        let [out, errors] = kept.clone();
        let output = Output {
            out: BufWriter::new(Box::new(out)),
            errors: Box::new(errors),
            look: Look { color: false, ascii: args.ascii },
            width: 80,
            json: true,
            color_errors: false,
            is_terminal: false,
            code: YES,
            answered: false,
        };
        (output, kept)
    }

    /// The exit code so far: the largest that was set.
    pub fn code(&self) -> u8 {
        self.code
    }

    /// Makes the exit code at least this.
    pub fn exit_with(&mut self, code: u8) {
        self.code = self.code.max(code);
    }

    /// Whether this is the first answer; every further one is set apart by an empty line.
    pub fn is_first(&mut self) -> bool {
        !std::mem::replace(&mut self.answered, true)
    }

    /// Writes one line of text. Nothing in it can command a terminal, whoever wrote it.
    pub fn text(&mut self, line: &str) -> Result<(), Stop> {
        Ok(writeln!(self.out, "{}", printable(line))?)
    }

    /// Writes bytes as they are: those of a message, a script or a page, which no terminal is to show.
    pub fn bytes(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        Ok(self.out.write_all(bytes)?)
    }

    /// Writes a line with its styles, which are the only commands to a terminal in it.
    pub fn line(&mut self, line: &Line) -> Result<(), Stop> {
        Ok(writeln!(self.out, "{}", line.render(self.look))?)
    }

    /// An empty page for this output.
    pub fn new_page(&self) -> Page {
        Page::new(self.width, self.look)
    }

    /// Writes a page, apart from the answer before it.
    pub fn page(&mut self, page: &Page) -> Result<(), Stop> {
        self.lines(page.lines())
    }

    /// Writes lines, apart from the answer before them.
    pub fn lines(&mut self, lines: &[Line]) -> Result<(), Stop> {
        if !self.is_first() {
            self.text("")?;
        }
        lines.iter().try_for_each(|line| self.line(line))
    }

    /// Says below the answers what else could be asked, to people only.
    pub fn hint(&mut self, text: &str) -> Result<(), Stop> {
        match self.is_terminal && self.answered && !self.json {
            true => self.lines(&[Line::new().with(format!("  {text}"), Style::Faint)]),
            false => Ok(()),
        }
    }

    /// Writes one JSON object.
    pub fn object(&mut self, object: &impl Serialize) -> Result<(), Stop> {
        json::write(&mut self.out, object)?;
        self.text("")
    }

    pub fn finish(&mut self) -> Result<(), Stop> {
        Ok(self.out.flush()?)
    }

    /// Reports bad input: in words on standard error, and as an object on standard output where JSON is wanted.
    ///
    /// `line` is the number of the line of standard input.
    pub fn bad(&mut self, error: &Error, text: &str, line: Option<u64>) -> Result<(), Stop> {
        self.exit_with(BAD);
        if self.json {
            let (error, text) = if text.len() > WHOLE { around(error, text) } else { (error.clone(), text) };
            self.object(&json::Failure::new(&error, text, line))?;
        }
        self.finish()?; // what was said before the error stands before it
        let place = line.map(|line| format!("line {line}: ")).unwrap_or_default();
        self.say("error", Style::Alarm, &format!("{place}{}", error.report(text)))
    }

    /// Reports bad input in a file; `text` is all of it; what surrounds the error is shown.
    pub fn bad_in(&mut self, place: &str, error: &Error, text: &str) -> Result<(), Stop> {
        self.exit_with(BAD);
        let (error, part) = around(error, text);
        if self.json {
            self.object(&json::Failure::new(&error, part, None).within(place))?;
        }
        self.finish()?;
        self.say("error", Style::Alarm, &format!("{}: {}", printable(place), error.report(part)))
    }

    /// Says on standard error why the answer is no, after the answers so far.
    pub fn refused(&mut self, error: &Error) -> Result<(), Stop> {
        self.exit_with(NO);
        self.finish()?;
        let parts = [Some(error.found()), error.broken_rule()];
        let why: Vec<&str> = parts.into_iter().flatten().collect();
        let accepts = error.accepted().map(|accepts| format!("\n  accepted: {accepts}")).unwrap_or_default();
        self.say("no", Style::Alarm, &format!("{}{accepts}", why.join("\n  rule: ")))
    }

    /// Says something beside the answers, on standard error.
    pub fn note(&mut self, text: &str) -> Result<(), Stop> {
        self.finish()?;
        self.say("note", Style::Strong, text)
    }

    fn say(&mut self, word: &str, style: Style, text: &str) -> Result<(), Stop> {
        let mut out = String::new();
        let is_ascii = self.look.ascii;
        let look = Look { color: self.color_errors, ascii: self.look.ascii };
        for (number, line) in text.lines().enumerate() {
            // The text and its caret keep their columns; sentences are wrapped.
            let is_picture = line.starts_with("    ");
            let line = &*printable(line);
            let mut lines = vec![if is_ascii { same_width_ascii(line) } else { line.to_owned() }];
            if !is_picture {
                let indent = if number == 0 { word.len() + 2 } else { 2 };
                let width = self.width.saturating_sub(indent);
                let hang = line.trim_start().find(": ").map_or(0, |colon| colon + 2).min(12);
                let hang = if number == 0 { 0 } else { hang };
                let mut parts = wrap(line.trim_start(), width.saturating_sub(hang)).into_iter();
                let first = parts.next().unwrap_or_default();
                let before = if number == 0 { "" } else { "  " };
                lines = vec![format!("{before}{first}")];
                lines.extend(parts.map(|part| format!("{}{part}", " ".repeat(indent + hang))));
            }
            for (part, line) in lines.iter().enumerate() {
                if number == 0 && part == 0 {
                    out.push_str(&Line::new().with(format!("{word}:"), style).render(look));
                    out.push(' ');
                }
                out.push_str(line);
                out.push('\n');
            }
        }
        if look.ascii {
            out = plain_ascii(&out);
        }
        // Standard error may be closed; then there is nobody to tell.
        let _ = self.errors.write_all(out.as_bytes());
        Ok(())
    }
}

/// A text of as many bytes is short enough to be repeated as a whole.
const WHOLE: usize = 4096;

/// The error within a part of a long text, so that many errors in a large file stay cheap.
fn around<'a>(error: &Error, text: &'a str) -> (Error, &'a str) {
    const BEFORE: usize = 512;
    const AFTER: usize = 2048;
    let Some(span) = error.span() else { return (error.clone(), "") };
    let mut start = span.start.saturating_sub(BEFORE).min(text.len());
    while !text.is_char_boundary(start) {
        start += 1;
    }
    let mut end = span.start.saturating_add(AFTER).min(text.len());
    while !text.is_char_boundary(end) {
        end += 1;
    }
    let part = &text[start..end.max(start)];
    (error.clone().at(span.start - start..span.end.min(end) - start), part)
}

/// Whether to use colours, by https://bixense.com/clicolors and https://no-color.org.
fn color(when: When, is_terminal: bool) -> bool {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    match when {
        When::Always => true,
        When::Never => false,
        When::Auto if set("NO_COLOR").is_some() => false,
        When::Auto if set("CLICOLOR_FORCE").is_some_and(|value| value != "0") => true,
        When::Auto => {
            is_terminal
                && set("TERM").is_none_or(|value| value != "dumb")
                && set("CLICOLOR").is_none_or(|value| value != "0")
        }
    }
}

/// The columns of the output: COLUMNS, the terminal's, or 80.
fn columns(stdout: &Stdout) -> usize {
    let given = std::env::var("COLUMNS").ok().and_then(|columns| columns.trim().parse().ok());
    let given = given.filter(|&columns: &usize| columns > 0);
    let terminal = || terminal_size::terminal_size_of(stdout).map(|(width, _)| usize::from(width.0));
    given.or_else(terminal).unwrap_or(80)
}
