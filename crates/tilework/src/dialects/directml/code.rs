//! Descriptors in C and C++, as programs write them: arrays and constants, then the structure that names them.
//!
//! ```text
//! UINT sizes[4] = {1, 64, 56, 56};
//! DML_BUFFER_TENSOR_DESC d = {DML_TENSOR_DATA_TYPE_FLOAT16, DML_TENSOR_FLAG_NONE, 4, sizes, nullptr, 401408, 0};
//! ```
//!
//! This is no compiler. It looks for what a name is given and for what a descriptor is given, and passes over everything
//! else; values are numbers, lists, and sums and products of them. A descriptor is an aggregate, with or without the names
//! of its fields, assignments to its fields, or a `dml::TensorDesc`. A field whose value the text does not say is an error
//! with its place, and so is no descriptor at all. What was read is handed on as an object of JSON would be.

mod value;

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use super::json::{Kind, Member, Value};
use super::read::{FIELDS, FoundDesc, read as read_object};
use super::strides::interleaved_channel_strides;
use super::text::shown;
use crate::dialect::cursor::{Cursor, Tokens, stands_on};
use crate::error::{Error, ErrorKind, Result};

/// The fields of `DML_BUFFER_TENSOR_DESC`, in its order. The last of [`FIELDS`] is that of another structure.
const ORDER: &[&str] = FIELDS.split_at(FIELDS.len() - 1).0;

/// The most bytes of a text that are read.
const LONGEST: usize = 1 << 20;

/// The most values of a list that are kept; no descriptor has as many.
const MOST: usize = 32;

/// Whether this may be C or C++ about descriptors: it has a word of DirectML's in it.
pub fn is_code(text: &str) -> bool {
    ["DML_BUFFER_TENSOR_DESC", "DML_TENSOR_DATA_TYPE_", "dml::TensorDesc"]
        .iter()
        .any(|word| text.contains(word))
}

/// Every descriptor in a text.
///
/// # Errors
/// There is none, or the text is too long.
pub(super) fn read_code(text: &str) -> Result<Vec<FoundDesc>> {
    if text.len() > LONGEST {
        return Err(Error::new(format!("{} bytes of code", text.len()))
            .of_kind(ErrorKind::Limit)
            .accepts(format!("up to {LONGEST}, or JSON")));
    }
    let mut reader = Reader {
        cursor: Cursor::new(text, &TOKENS),
        values: HashMap::new(),
        drafts: Vec::new(),
        named: HashMap::new(),
    };
    while !reader.is_done() {
        reader.statement();
    }
    // One that is declared and given nothing is a member or a parameter.
    let mut drafts = std::mem::take(&mut reader.drafts);
    drafts.retain(|draft| !draft.fields.is_empty());
    if drafts.is_empty() {
        return Err(reader.nothing(text));
    }
    Ok(drafts.into_iter().map(|draft| reader.finish(draft)).collect())
}

const TOKENS: Tokens = Tokens {
    noun: "code",
    begins_word: |byte| byte.is_ascii_alphabetic() || byte == b'_',
    in_word: |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':'),
    digits_end: true,
    trim: without_comments,
    most_deep: 32,
};

fn without_comments(text: &str) -> &str {
    let mut rest = text.trim_start();
    loop {
        rest = match rest.as_bytes() {
            [b'/', b'/', ..] => rest.split_once('\n').map_or("", |(_, rest)| rest),
            [b'/', b'*', ..] => rest[2..].split_once("*/").map_or("", |(_, rest)| rest),
            [b'\\', b'\n' | b'\r', ..] => &rest[1..],
            _ => return rest,
        }
        .trim_start();
    }
}

/// A value, and where it is.
#[derive(Clone, Debug)]
struct Placed<'a> {
    it: It<'a>,
    span: Range<usize>,
}

#[derive(Clone, Debug)]
enum It<'a> {
    Number(i128),
    List(Rc<Vec<Item<'a>>>),
    /// A name that was given nothing so far.
    Name(&'a str),
    Null,
    /// What is called, and who knows what it answers.
    Call(&'a str),
    /// A descriptor, by the arguments of its structure or of its constructor.
    Desc(Which, Rc<Vec<Item<'a>>>),
}

impl It<'_> {
    /// The number, also in braces, `UINT n{4}`.
    fn number(&self) -> Option<i128> {
        match self {
            It::Number(number) => Some(*number),
            It::List(items) => match &items[..] {
                [Item { field: None, value: Placed { it: It::Number(number), .. } }] => Some(*number),
                _ => None,
            },
            _ => None,
        }
    }
}

/// A value in a list, with the field that it is for if that is said.
#[derive(Clone, Debug)]
struct Item<'a> {
    field: Option<(&'a str, Range<usize>)>,
    value: Placed<'a>,
}

/// Who describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Which {
    /// `DML_BUFFER_TENSOR_DESC`
    Structure,
    /// `dml::TensorDesc` of DirectMLX
    Class,
}

/// A descriptor as far as it has been read.
struct Draft<'a> {
    name: &'a str,
    span: Range<usize>,
    fields: Vec<(&'a str, Range<usize>, Placed<'a>)>,
    /// Whether what is not said is 0, as it is in an aggregate.
    is_aggregate: bool,
}

struct Reader<'a> {
    cursor: Cursor<'a>,
    /// What names were given.
    values: HashMap<&'a str, It<'a>>,
    drafts: Vec<Draft<'a>>,
    /// The last draft of each name.
    named: HashMap<&'a str, usize>,
}

stands_on!(Reader, cursor: Cursor);

impl<'a> Reader<'a> {
    /// Passes whatever stands here, and keeps what it says of names and descriptors.
    fn statement(&mut self) {
        let start = self.here();
        let word = self.word();
        if word.is_empty() {
            match self.peek() {
                quote @ (b'"' | b'\'') => self.string(quote),
                // Braces alone are a descriptor if they begin as one does.
                b'{' if self.rest()[1..].trim_start().starts_with("DML_TENSOR_DATA_TYPE_") => {
                    if !self.tried(|reader| {
                        let items = reader.list(b'}')?;
                        reader.draft("", Which::Structure, &items, start);
                        Ok(())
                    }) {
                        self.pass(1);
                    }
                }
                _ => {
                    let length = self.rest().chars().next().map_or(0, char::len_utf8);
                    self.pass(length);
                }
            }
            return;
        }
        match which(word) {
            Some(which) => self.declaration(which, start),
            None if word == "define" => {
                let (name, span) = self.placed_word();
                // What follows on another line is something else.
                if !self.slice(span.end..self.here()).contains('\n') {
                    self.given(name, true);
                }
            }
            None => self.assignment(word),
        }
    }

    /// Tries to read something; if it is something else, it stays.
    fn tried(&mut self, read: impl FnOnce(&mut Reader<'a>) -> Result<()>) -> bool {
        let before = self.cursor.clone();
        let is_read = read(self).is_ok();
        if !is_read {
            self.cursor = before;
        }
        is_read
    }

    fn string(&mut self, quote: u8) {
        let mut escaped = false;
        let end = self.rest().bytes().skip(1).position(|byte| {
            let ends = !escaped && (byte == quote || byte == b'\n');
            escaped = byte == b'\\' && !escaped;
            ends
        });
        let length = end.map_or(self.rest().len(), |end| end + 2);
        self.pass(length);
    }

    /// `name = value`, `name[4] = {…}`, `name{…}`, `name.Field = value`, `name[1] = value`.
    fn assignment(&mut self, name: &'a str) {
        let is_field = |reader: &mut Reader<'a>| {
            let mark = [".", "->"].into_iter().find(|mark| reader.rest().starts_with(mark))?;
            reader.pass(mark.len());
            let (field, span) = reader.placed_word();
            ORDER.contains(&field).then_some((field, span))
        };
        let before = self.here();
        if let Some((field, span)) = is_field(self) {
            self.tried(|reader| {
                reader.expect("=", "=")?;
                let value = reader.value()?;
                let draft = reader.draft_named(name, span.clone());
                draft.fields.retain(|(own, ..)| *own != field);
                draft.span.end = value.span.end;
                draft.fields.push((field, span, value));
                Ok(())
            });
            return;
        }
        self.go(before);
        self.tried(|reader| {
            let mut extent = None;
            let is_array = reader.eat("[");
            if is_array {
                extent = if reader.peek() == b']' { None } else { Some(reader.value()?.it) };
                reader.expect("]", "]")?;
            }
            let counted = match extent {
                Some(It::Number(count)) => usize::try_from(count).ok().filter(|&count| count <= MOST),
                _ => None,
            };
            if is_array && reader.peek() == b'=' && !reader.rest().starts_with("==") {
                // An element of an array that is there already, or an array.
                let is_list = reader.rest()[1..].trim_start().starts_with('{');
                if let (Some(at), false) = (counted, is_list) {
                    reader.pass(1);
                    let value = reader.value()?;
                    if let Some(It::List(items)) = reader.values.get_mut(name)
                        && let Some(item) = Rc::make_mut(items).get_mut(at)
                    {
                        item.value = value;
                    }
                    return Ok(());
                }
            }
            if is_array && let (b';', Some(count)) = (reader.peek(), counted) {
                let here = reader.here();
                let zero = Item { field: None, value: Placed { it: It::Number(0), span: here..here } };
                reader.values.insert(name, It::List(Rc::new(vec![zero; count])));
                return Ok(());
            }
            reader.given(name, false);
            // The rest of an array's elements are 0.
            if let (Some(count), Some(It::List(items))) = (counted, reader.values.get_mut(name))
                && items.len() < count
            {
                let here = before..before;
                let zero = Item { field: None, value: Placed { it: It::Number(0), span: here } };
                Rc::make_mut(items).resize(count, zero);
            }
            Ok(())
        });
    }

    /// What a name is given here, if it is given anything.
    fn given(&mut self, name: &'a str, is_defined: bool) {
        let start = self.here();
        let is_given = self.rest().starts_with('=') && !self.rest().starts_with("==");
        self.tried(|reader| {
            if is_given {
                reader.pass(1);
            } else if reader.peek() != b'{' && !is_defined {
                return Err(reader.unexpected("="));
            }
            let before = reader.cursor.clone();
            let value = reader.value()?;
            match value.it {
                It::Desc(which, items) => reader.draft(name, which, &items, start),
                it @ It::Call(_) => {
                    reader.values.insert(name, it);
                    reader.cursor = before; // what it is called with may be a descriptor
                }
                it => drop(reader.values.insert(name, it)),
            }
            Ok(())
        });
    }

    /// What follows the name of the structure or of the class.
    fn declaration(&mut self, which: Which, start: usize) {
        self.eat(")");
        // A list of them, `std::vector<DML_BUFFER_TENSOR_DESC> descs`.
        if self.eat(",") {
            self.tried(|reader| reader.value().map(drop));
        }
        self.eat(">");
        loop {
            let name = self.word();
            let is_array = self.eat("[");
            if is_array {
                self.tried(|reader| reader.value().map(drop));
                self.eat("]");
            }
            let is_read = self.tried(|reader| {
                let is_given = reader.eat("=");
                let value = match reader.peek() {
                    b'(' if which == Which::Class && !is_given => reader.list(b')')?,
                    b'{' => reader.list(b'}')?,
                    _ if is_given => match reader.value()?.it {
                        It::Desc(_, items) | It::List(items) => items,
                        _ => return Err(reader.unexpected("{")),
                    },
                    _ if name.is_empty() => return Err(reader.unexpected("a name")),
                    _ => Rc::default(),
                };
                let is_list = |item: &Item| matches!(item.value.it, It::List(_) | It::Desc(..));
                if !value.is_empty() && value.iter().all(|item| item.field.is_none() && is_list(item)) {
                    for item in value.iter() {
                        if let It::List(items) | It::Desc(_, items) = &item.value.it {
                            reader.draft(name, which, items, item.value.span.start);
                        }
                    }
                } else {
                    reader.draft(name, which, &value, start);
                }
                Ok(())
            });
            if !is_read || !self.eat(",") {
                return;
            }
        }
    }

    fn draft_named(&mut self, name: &'a str, span: Range<usize>) -> &mut Draft<'a> {
        let place = *self.named.entry(name).or_insert(self.drafts.len());
        if place == self.drafts.len() {
            self.drafts.push(Draft { name, span, fields: Vec::new(), is_aggregate: false });
        }
        &mut self.drafts[place]
    }

    /// Keeps a descriptor with what it was given.
    fn draft(&mut self, name: &'a str, which: Which, items: &[Item<'a>], start: usize) {
        let span = self.since(start);
        let mut fields = Vec::new();
        let places: Vec<&'static str> = match (which, items) {
            (Which::Structure, _) => ORDER.to_vec(),
            (Which::Class, [_, Item { value: Placed { it: It::Number(_), .. }, .. }, ..]) => {
                vec!["DataType", "Flags", "Sizes", "Strides", ORDER[5], ORDER[6]]
            }
            (Which::Class, _) => vec!["DataType", "Sizes", "Strides"],
        };
        let mut next = 0;
        for item in items {
            let (field, at) = match &item.field {
                Some((field, at)) => (*field, at.clone()),
                None => match places.get(next) {
                    Some(field) => (*field, item.value.span.clone()),
                    None => break,
                },
            };
            next = places.iter().position(|own| *own == field).map_or(places.len(), |place| place + 1);
            fields.push((field, at, item.value.clone()));
        }
        let is_aggregate = which == Which::Structure && !items.is_empty();
        self.named.insert(name, self.drafts.len());
        self.drafts.push(Draft { name, span, fields, is_aggregate });
    }

    /// A descriptor as the reader of JSON has it, with an error for each field that the text does not say.
    fn finish(&self, draft: Draft<'a>) -> FoundDesc {
        let (mut members, mut errors) = (Vec::new(), Vec::new());
        let resolved = |it: &It<'a>| match it {
            It::Name(name) => self.values.get(name).cloned().unwrap_or_else(|| it.clone()),
            other => other.clone(),
        };
        let of = |field: &str| draft.fields.iter().find(|(own, ..)| *own == field);
        let count = of("DimensionCount").and_then(|(.., value)| resolved(&value.it).number());
        let count = count.and_then(|count| usize::try_from(count).ok()).filter(|&count| count > 0);
        let sizes = of("Sizes").and_then(|(.., value)| self.numbers(&resolved(&value.it)));
        for (field, at, value) in &draft.fields {
            let span = value.span.clone();
            let it = resolved(&value.it);
            let number = it.number().filter(|_| !matches!(*field, "Sizes" | "Strides"));
            let kind = match (*field, it) {
                _ if number.is_some() => number.map(Kind::Integer),
                ("Strides", It::Null) => Some(Kind::Null),
                ("DataType", It::Name(name)) => Some(Kind::String(Cow::Borrowed(name))),
                ("TotalTensorSizeInBytes", It::Call(_)) => Some(Kind::Null), // some function of the rest
                ("Strides", It::Call(policy)) if policy.contains("InterleavedChannel") => {
                    let narrow: Option<Vec<u32>> = sizes
                        .iter()
                        .flatten()
                        .map(|&size| u32::try_from(size).ok().filter(|&size| size > 0))
                        .collect();
                    let strides = narrow.and_then(|sizes| interleaved_channel_strides(&sizes).ok());
                    strides.map(|strides| list(strides.into_iter().map(i128::from), &span))
                }
                ("Strides", It::Call(policy)) if policy.contains("Policy::Default") => Some(Kind::Null),
                ("Sizes" | "Strides", it) => self.numbers(&it).map(|numbers| {
                    let count = count.unwrap_or(numbers.len());
                    list(numbers.into_iter().take(count), &span)
                }),
                _ => None,
            };
            match kind {
                Some(kind) => members.push(Member {
                    key: Cow::Borrowed(field),
                    at: at.clone(),
                    value: Value { kind, span },
                }),
                None => errors.push((*field, span)),
            }
        }
        let value = Value { kind: Kind::Object(members), span: draft.span.clone() };
        let mut found = read_object(&value, draft.name.to_owned());
        // The reader of JSON takes a total of 0 for none, which DirectML does not.
        let total = of("TotalTensorSizeInBytes").map(|(.., value)| resolved(&value.it));
        if matches!(total, Some(It::Number(0))) || (total.is_none() && draft.is_aggregate) {
            found.desc.total = Some(0);
        }
        if !errors.is_empty() || !found.errors.is_empty() {
            // What has a value that is not known is not missing.
            found
                .errors
                .retain(|error| !errors.iter().any(|(field, _)| error.found() == format!("no {field}")));
            let known = understood(&found, &errors);
            let missing = |error: Error| match error.found().starts_with("no ") {
                true => error.rule(known.0.clone()).accepts(known.1.clone()),
                false => error,
            };
            found.errors = std::mem::take(&mut found.errors).into_iter().map(missing).collect();
            let unknown = errors.iter().map(|(field, span)| {
                Error::new(format!(
                    "{field} is {}, and the text does not say what that is",
                    shown(self.slice(span.clone()))
                ))
                .at(span.clone())
                .rule(known.0.clone())
                .accepts(known.1.clone())
            });
            found.errors.splice(0..0, unknown);
            for (field, _) in &errors {
                found.leave_unread(field);
            }
        }
        found
    }

    /// The numbers of a list; none if one is none.
    fn numbers(&self, it: &It<'a>) -> Option<Vec<i128>> {
        let It::List(items) = it else { return None };
        let number = |item: &Item<'a>| match &item.value.it {
            It::Name(name) => self.values.get(name).and_then(It::number),
            it => it.number(),
        };
        items.iter().map(number).collect()
    }

    /// What there is in a text without a descriptor.
    fn nothing(&self, text: &str) -> Error {
        let mut lists: Vec<String> = Vec::new();
        for (name, it) in &self.values {
            if let Some(numbers) = self.numbers(it) {
                lists.push(format!("{name} = {numbers:?}"));
            }
        }
        lists.sort_unstable();
        lists.truncate(4);
        let error = Error::new("code without a descriptor that is given values").at(0..text.len());
        let error = match lists.is_empty() {
            true => error,
            false => error.rule(format!("understood: {}", lists.join(", "))),
        };
        error.accepts(
            r#"DML_BUFFER_TENSOR_DESC d = {DML_TENSOR_DATA_TYPE_FLOAT16, …};, or as JSON {"DataType": "FLOAT16", "Sizes": [1,64,56,56]}"#,
        )
    }
}

/// What was understood of a descriptor, and the JSON that says the rest.
fn understood(found: &FoundDesc, unknown: &[(&str, Range<usize>)]) -> (String, String) {
    let is_unknown = |field: &str| unknown.iter().any(|(own, _)| *own == field);
    let desc = &found.desc;
    let (mut known, mut json) = (Vec::new(), Vec::new());
    let data_type = desc.data_type.known().filter(|_| !is_unknown("DataType"));
    known.extend(data_type.map(|data_type| format!("DataType {data_type}")));
    json.push(format!("\"DataType\": \"{}\"", data_type.map_or("FLOAT32", |data_type| data_type.name())));
    known.extend(desc.dimension_count.map(|count| format!("DimensionCount {count}")));
    let list = |numbers: &[i64]| format!("{numbers:?}").replace(' ', "");
    let sizes = (!desc.sizes.is_empty()).then(|| list(&desc.sizes));
    known.extend(sizes.iter().map(|sizes| format!("Sizes {sizes}")));
    json.push(format!("\"Sizes\": {}", sizes.as_deref().unwrap_or("[…]")));
    let strides = desc.strides.as_ref().map(|strides| list(strides));
    known.extend(strides.iter().map(|strides| format!("Strides {strides}")));
    if strides.is_some() || is_unknown("Strides") {
        json.push(format!("\"Strides\": {}", strides.as_deref().unwrap_or("[…]")));
    }
    let known = match known.is_empty() {
        true => "nothing else was understood".to_owned(),
        false => format!("understood: {}", known.join(", ")),
    };
    (known, format!("a number or an array of this name before it, or JSON: {{{}}}", json.join(", ")))
}

fn list<'a>(numbers: impl Iterator<Item = i128>, span: &Range<usize>) -> Kind<'a> {
    Kind::Array(numbers.map(|number| Value { kind: Kind::Integer(number), span: span.clone() }).collect())
}

/// Which descriptor a word names.
fn which(word: &str) -> Option<Which> {
    match word.rsplit("::").next() {
        Some("DML_BUFFER_TENSOR_DESC") => Some(Which::Structure),
        Some("TensorDesc") => Some(Which::Class),
        _ => None,
    }
}
