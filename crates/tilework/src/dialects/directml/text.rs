//! Descriptions in one line: `FLOAT32 [1,3,224,224] strides [153228,51076,226,1]`, `FLOAT16 NHWC [1,64,56,56]`.
//!
//! ```text
//! type  [layout]  [sizes]  [strides [strides]]  [total bytes]  [alignment bytes]  [flags NONE | OWNED_BY_DML]
//! ```
//!
//! Sizes stand in DirectML's order whatever the layout: `NHWC` says strides, and the sizes after it are those of N, C, H
//! and W. Blanks are free. Printing then reading gives the same value.

use std::fmt;
use std::ops::Range;

use super::desc::BufferTensorDesc;
use super::order::{letters_of, synonym};
use super::raw::{Desc, Numbers, TypeField};
use super::strides::order_strides;
use crate::error::{Error, Result};

impl Desc {
    /// A description from one line, as its `Display` writes it.
    ///
    /// ```
    /// use tilework::directml::Desc;
    /// let desc = Desc::parse("FLOAT16 NHWC [1,64,56,56]")?;
    /// assert_eq!(desc.to_string(), "FLOAT16 [1,64,56,56] strides [200704,1,3584,64]");
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// What cannot be read: the place, and what would be accepted there. What can be read and is wrong is for
    /// [`check`](super::check) to say.
    pub fn parse(text: &str) -> Result<Desc> {
        Reader { text, at: 0 }.desc()
    }

    /// The description as JSON, in the form DxDispatch reads. [`read_json`](super::read_json) reads it back.
    ///
    /// ```
    /// use tilework::directml::Desc;
    /// let json = Desc::parse("UINT8 [2,3] strides [5,1]")?.to_json();
    /// assert_eq!(json, r#"{"DataType": "UINT8", "Sizes": [2,3], "Strides": [5,1]}"#);
    /// # Ok::<(), tilework::Error>(())
    /// ```
    pub fn to_json(&self) -> String {
        let mut json = String::from("{\"DataType\": ");
        match &self.data_type {
            TypeField::Known(data_type) => json += &format!("\"{data_type}\""),
            TypeField::Number(number) => json += &number.to_string(),
            TypeField::Name(name) => json += &quoted(name),
        }
        if self.flags != 0 {
            json += ", \"Flags\": ";
            json += &if self.flags == 1 { "\"OWNED_BY_DML\"".to_owned() } else { self.flags.to_string() };
        }
        if let Some(count) = self.dimension_count {
            json += &format!(", \"DimensionCount\": {count}");
        }
        json += &format!(", \"Sizes\": {}", List(&self.sizes));
        if let Some(strides) = &self.strides {
            json += &format!(", \"Strides\": {}", List(strides));
        }
        if let Some(total) = self.total {
            json += &format!(", \"TotalTensorSizeInBytes\": {total}");
        }
        if self.alignment != 0 {
            json += &format!(", \"GuaranteedBaseOffsetAlignment\": {}", self.alignment);
        }
        json + "}"
    }
}

impl BufferTensorDesc {
    /// A description from one line that breaks no rule. [`Desc::parse`] reads one that does.
    ///
    /// # Errors
    /// What cannot be read, or the first rule that is broken.
    pub fn parse(text: &str) -> Result<BufferTensorDesc> {
        Desc::parse(text)?.build()
    }

    /// The description as JSON; see [`Desc::to_json`].
    pub fn to_json(&self) -> String {
        self.to_desc().to_json()
    }
}

/// A word of somebody's text in quotation marks, cut if it is long: messages stay small whatever the text.
pub(crate) fn shown(word: &str) -> String {
    match word.char_indices().nth(40) {
        None => format!("{word:?}"),
        Some((end, _)) => format!("{:?}…", &word[..end]),
    }
}

/// A text as a JSON string.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            '\0'..='\u{1f}' => quoted += &format!("\\u{:04x}", u32::from(character)),
            _ => quoted.push(character),
        }
    }
    quoted + "\""
}

struct List<'a>(&'a [i64]);

impl fmt::Display for List<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, number) in self.0.iter().enumerate() {
            write!(f, "{}{number}", if place == 0 { '[' } else { ',' })?;
        }
        f.write_str(if self.0.is_empty() { "[]" } else { "]" })
    }
}

impl fmt::Display for Desc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.data_type {
            TypeField::Known(data_type) => write!(f, "{data_type} ")?,
            TypeField::Number(number) => write!(f, "{number} ")?,
            TypeField::Name(name) => write!(f, "{name} ")?,
        }
        write!(f, "{}", List(&self.sizes))?;
        if let Some(strides) = &self.strides {
            write!(f, " strides {}", List(strides))?;
        }
        if let Some(total) = self.total {
            write!(f, " total {total}")?;
        }
        if self.alignment != 0 {
            write!(f, " alignment {}", self.alignment)?;
        }
        match self.flags {
            0 => Ok(()),
            1 => f.write_str(" flags OWNED_BY_DML"),
            other => write!(f, " flags {other}"),
        }
    }
}

impl fmt::Display for BufferTensorDesc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_desc().fmt(f)
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

/// Marks end a word.
fn is_mark(character: char) -> bool {
    matches!(character, '[' | ']' | ',')
}

impl<'a> Reader<'a> {
    /// The next word or mark, without passing it; empty at the end.
    fn peek(&mut self) -> (&'a str, Range<usize>) {
        let rest = self.text[self.at..].trim_start();
        self.at = self.text.len() - rest.len();
        let length = match rest.chars().next() {
            Some(mark) if is_mark(mark) => 1,
            _ => rest
                .find(|character: char| character.is_whitespace() || is_mark(character))
                .unwrap_or(rest.len()),
        };
        (&rest[..length], self.at..self.at + length)
    }

    fn next(&mut self) -> (&'a str, Range<usize>) {
        let next = self.peek();
        self.at = next.1.end;
        next
    }

    fn error((word, span): (&str, Range<usize>), accepts: &str) -> Error {
        let found = match word {
            "" => "the end of the text".to_owned(),
            word => format!("unexpected {}", shown(word)),
        };
        Error::new(found).at(span).accepts(accepts)
    }

    fn desc(&mut self) -> Result<Desc> {
        let name = self.next();
        if name.0.is_empty() || name.0.starts_with(is_mark) {
            return Err(Reader::error(name, "a type such as FLOAT32"));
        }
        let number = name.0.parse().ok().map(TypeField::from_number);
        let layout = (!self.peek().0.starts_with(is_mark)).then(|| self.next());
        let mut desc = Desc {
            data_type: number.unwrap_or_else(|| TypeField::from_name(name.0)),
            flags: 0,
            dimension_count: None,
            sizes: self.list("the sizes in brackets")?,
            strides: None,
            total: None,
            alignment: 0,
        };
        if let Some((word, span)) = layout {
            desc.strides = Some(self.order(word, &desc.sizes).map_err(|error| error.or_at(span))?);
        }
        let mut seen: Vec<&str> = Vec::new();
        loop {
            let (word, span) = self.next();
            if seen.contains(&word) || (word == "strides" && desc.strides.is_some()) {
                return Err(Error::new(format!("{word} stands twice"))
                    .at(span)
                    .rule("a layout or strides, and each once"));
            }
            match word {
                "" => return Ok(desc),
                "strides" => desc.strides = Some(self.list("the strides in brackets")?),
                "total" => desc.total = Some(self.number("bytes")?),
                "alignment" => desc.alignment = self.number("bytes")?,
                "flags" => desc.flags = self.flags()?,
                _ => {
                    let accepts = "strides […], total bytes, alignment bytes, flags OWNED_BY_DML, or the end";
                    return Err(Reader::error((word, span), accepts));
                }
            }
            seen.push(word);
        }
    }

    /// The strides that the name of a layout says.
    fn order(&self, word: &str, sizes: &[i64]) -> Result<Numbers> {
        let order = synonym(word, sizes.len()).unwrap_or(word);
        let narrow = |&size: &i64| u32::try_from(size).ok().filter(|&size| size > 0);
        let narrow: Option<Vec<u32>> = sizes.iter().map(narrow).collect();
        let sizes = narrow.ok_or_else(|| {
            Error::new(format!("layout {} of sizes that are no sizes", shown(word)))
                .rule("a layout's strides follow from its sizes, which are 1 to 4294967295")
        })?;
        let strides = order_strides(&sizes, &letters_of(order)?, order)?;
        Ok(strides.into_iter().map(i64::from).collect())
    }

    fn flags(&mut self) -> Result<u32> {
        let (word, span) = self.next();
        match word.strip_prefix("DML_TENSOR_FLAG_").unwrap_or(word) {
            "NONE" => Ok(0),
            "OWNED_BY_DML" => Ok(1),
            bits => bits.parse().map_err(|_| Reader::error((word, span), "NONE, OWNED_BY_DML or a number")),
        }
    }

    fn number<T: std::str::FromStr>(&mut self, accepts: &str) -> Result<T> {
        let (word, span) = self.next();
        word.parse().map_err(|_| Reader::error((word, span), accepts))
    }

    fn list(&mut self, accepts: &str) -> Result<Numbers> {
        let mut numbers = Numbers::new();
        let open = self.next();
        if open.0 != "[" {
            return Err(Reader::error(open, accepts));
        }
        if self.peek().0 == "]" {
            self.next();
            return Ok(numbers);
        }
        loop {
            numbers.push(self.number("a whole number")?);
            let mark = self.next();
            match mark.0 {
                "," => {}
                "]" => return Ok(numbers),
                _ => return Err(Reader::error(mark, ", or ]")),
            }
        }
    }
}
