//! Text with styles: what a terminal shows, before it is decided whether there are colours.

use std::fmt;

use tilework_core::printable;

/// How a terminal is to be written to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// Colours and weights, by escape sequences.
    pub color: bool,
    /// Nothing but ASCII.
    pub ascii: bool,
}

/// What a stretch of text is, so that a terminal can say it in colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// Ordinary text.
    #[default]
    Plain,
    /// What a section is about.
    Strong,
    /// Headings, borders, padding: what should stand back.
    Faint,
    /// Something of the tile with this number; neighbouring tiles have different numbers.
    Tile(u64),
    /// Something is wrong.
    Alarm,
}

/// Text of one style.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// The characters, each one column wide.
    pub text: String,
    /// What they are.
    pub style: Style,
}

/// A line of text. `Display` writes it without colours.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line(Vec<Span>);

impl Line {
    /// An empty line.
    pub fn new() -> Line {
        Line::default()
    }

    /// Adds text at the end.
    pub fn push(&mut self, text: impl Into<String>, style: Style) {
        let text = text.into();
        match self.0.last_mut() {
            Some(last) if last.style == style => last.text.push_str(&text),
            _ if text.is_empty() => {}
            _ => self.0.push(Span { text, style }),
        }
    }

    /// The same line with text added at the end.
    #[must_use]
    pub fn with(mut self, text: impl Into<String>, style: Style) -> Line {
        self.push(text, style);
        self
    }

    /// The stretches of the line.
    pub fn spans(&self) -> &[Span] {
        &self.0
    }

    /// Columns.
    pub fn width(&self) -> usize {
        self.0.iter().map(|span| span.text.chars().count()).sum()
    }

    /// The line as a terminal takes it, without the end of line. Its styles are the only commands to a terminal in it: of
    /// the text, what would be one is shown by [`printable`] signs.
    pub fn render(&self, look: Look) -> String {
        let mut out = String::new();
        let shown = self.0.iter().rposition(|span| !span.text.trim().is_empty()).map_or(0, |last| last + 1);
        for (place, span) in self.0[..shown].iter().enumerate() {
            let text = printable(&span.text);
            let text = if look.ascii { plain_ascii(&text).into() } else { text };
            let text = if place + 1 == shown { text.trim_end() } else { &text };
            match code(span.style).filter(|_| look.color && !text.trim().is_empty()) {
                Some(code) => out.push_str(&format!("\u{1b}[{code}m{text}\u{1b}[0m")),
                None => out.push_str(text),
            }
        }
        out
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(Look::default()))
    }
}

/// The parameter of the escape sequence.
fn code(style: Style) -> Option<&'static str> {
    const TILES: [&str; 6] = ["36", "33", "32", "35", "34", "31"];
    match style {
        Style::Plain => None,
        Style::Strong => Some("1"),
        Style::Faint => Some("2"),
        Style::Tile(number) => Some(TILES[(number % TILES.len() as u64) as usize]),
        Style::Alarm => Some("1;31"),
    }
}

/// The same text in ASCII.
pub fn plain_ascii(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '·' => out.push('*'),
            '×' => out.push('x'),
            '→' => out.push_str("->"),
            '−' => out.push('-'),
            '…' => out.push_str("..."),
            '⌊' => out.push_str("floor("),
            '⌋' => out.push(')'),
            '≤' => out.push_str("<="),
            c if c.is_ascii() => out.push(c),
            _ => out.push('?'),
        }
    }
    out
}

/// The same text in ASCII, each character in one column: for what carets point at.
pub fn same_width_ascii(text: &str) -> String {
    let one = |c: char| match c {
        '…' => '~',
        '·' => '*',
        '×' => 'x',
        '−' => '-',
        c if c.is_ascii() => c,
        _ => '?',
    };
    text.chars().map(one).collect()
}

/// Breaks text into lines of at most `width` characters: at spaces, or within a word that is longer than a line.
///
/// Spaces at the beginning stand before every line, if there is room for more than them. A no-break space becomes a
/// space that does not break.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let bare = text.trim_start_matches(' ');
    let indent = text.len() - bare.len();
    let indent = if indent + 8 <= width { indent } else { 0 };
    let lines = break_up(bare, (width - indent.min(width)).max(1));
    lines.into_iter().map(|line| format!("{}{}", " ".repeat(indent), line.replace('\u{a0}', " "))).collect()
}

fn break_up(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let (mut line, mut used) = (String::new(), 0);
    for word in text.split(' ') {
        let mut rest: Vec<char> = word.chars().collect();
        let space = usize::from(used > 0);
        if used > 0 && used + space + rest.len() > width && !(rest.len() > width && used + 8 < width) {
            lines.push(std::mem::take(&mut line));
            used = 0;
        } else if used > 0 {
            line.push(' ');
            used += 1;
        }
        while used + rest.len() > width {
            let cut = break_in(&rest[..width - used]);
            line.extend(rest.drain(..cut));
            lines.push(std::mem::take(&mut line));
            used = 0;
        }
        used += rest.len();
        line.extend(rest);
    }
    lines.push(line);
    lines
}

/// Where to break within a word: behind a comma or a bracket near the end, if there is one.
fn break_in(word: &[char]) -> usize {
    let near = word.len() - word.len() / 4;
    (near..=word.len())
        .rev()
        .find(|&at| at > 0 && matches!(word[at - 1], ',' | ')' | '}' | ']'))
        .unwrap_or(word.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_breaks_at_spaces_and_long_words_behind_commas() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("aaaa,bbbb,cccc", 11), ["aaaa,bbbb,", "cccc"]);
        assert_eq!(wrap("", 5), [""]);
        assert_eq!(wrap("abc", 0), ["a", "b", "c"]);
        for width in 1..30 {
            for line in wrap("s32[8388608,8,4]{2,1,0:T(8,128)} is an array of three dimensions", width) {
                assert!(line.chars().count() <= width, "{line:?} at {width}");
            }
        }
    }

    #[test]
    fn a_line_holds_no_commands_to_a_terminal_but_its_styles() {
        let line = Line::new().with("a\u{1b}]0;x\u{7}\u{9b}31m\u{202e}\n", Style::Alarm);
        assert_eq!(line.render(Look::default()), "a␛]0;x␇�31m�␊");
        assert_eq!(line.width(), line.to_string().chars().count());
        let colored = line.render(Look { color: true, ascii: true });
        assert_eq!(colored, "\u{1b}[1;31ma?]0;x??31m??\u{1b}[0m");
    }

    #[test]
    fn colour_is_written_only_when_asked_for_and_ascii_is_ascii() {
        let line = Line::new().with("a·b", Style::Tile(0)).with("  ", Style::Plain);
        assert_eq!(line.render(Look::default()), "a·b");
        assert_eq!(line.render(Look { color: true, ascii: true }), "\u{1b}[36ma*b\u{1b}[0m");
        assert!(plain_ascii("⌊i/2⌋ → 3 × 4 … − ≤ é │").is_ascii());
    }
}
