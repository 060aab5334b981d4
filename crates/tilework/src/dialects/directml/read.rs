//! Descriptors in JSON, in the form DxDispatch reads.
//!
//! ```text
//! { "DataType": "FLOAT32", "Sizes": [1, 1, 2, 3], "Strides": [6, 6, 3, 1], "TotalTensorSizeInBytes": 24 }
//! ```
//!
//! `DataType` and `Sizes` are required. `Type` is `BUFFER`, `Flags` `NONE`, `DimensionCount` the number of sizes,
//! `Strides` null (an empty list is null too), the total computed (0 means that too), the alignment 0. Names may have
//! their prefix. The fields may stand in a `Desc` within an object that has the `Type`. DxDispatch validates nothing and
//! passes over fields it does not know; here a field that is unknown, stands twice or has another kind of value is named,
//! with its place. Everything about the values themselves is for the checker to say.

use std::borrow::Cow;
use std::ops::Range;

use super::code::{is_code, read_code};
use super::json::{Kind, Member, Value, parse};
use super::raw::{Desc, Numbers, TypeField};
use super::text::shown;
use super::{Binding, FeatureLevel, Rule, Violation, check};
use crate::dialect::python;
use crate::error::{Error, Result};

/// A descriptor found in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FoundDesc {
    /// The way to it through the file: `dispatchables.copy.desc.InputTensor`, or empty if the file is the descriptor.
    pub path: String,
    /// The bytes it stands at.
    pub span: Range<usize>,
    /// What could be read of it.
    pub desc: Desc,
    /// What could not: unknown fields, fields that stand twice, values of another kind. Empty if all was read.
    pub errors: Vec<Error>,
    /// The fields whose value could not be read, or not in full.
    unread: Vec<&'static str>,
}

impl FoundDesc {
    /// One that is in no file, and was read whole.
    pub fn of(desc: Desc) -> FoundDesc {
        FoundDesc { path: String::new(), span: 0..0, desc, errors: Vec::new(), unread: Vec::new() }
    }

    /// What the descriptor breaks, as far as it could be read: a rule that needs a field among the [`errors`] is not
    /// applied, so nothing is said of numbers that nobody wrote.
    ///
    /// [`errors`]: FoundDesc::errors
    pub fn check(&self, level: FeatureLevel, binding: Option<&Binding>) -> Vec<Violation> {
        let mut found = check(&self.desc, level, binding);
        let unread = |fields: &[&str]| self.unread.iter().any(|field| fields.contains(field));
        let no_sizes = self.desc.sizes.is_empty() && unread(&["Sizes"]);
        found.retain(|violation| match violation.rule {
            Rule::UnknownDataType => !unread(&["DataType"]),
            Rule::DimensionCount | Rule::DimensionCountMismatch | Rule::StridesCount => !no_sizes,
            Rule::SizeOverflow
            | Rule::TooManyElements
            | Rule::TotalTensorSizeTooSmall
            | Rule::TotalTensorSizeNotMultipleOf4
            | Rule::BindingRange
            | Rule::BufferTooSmall => !unread(&["DataType", "Sizes", "Strides", "TotalTensorSizeInBytes"]),
            _ => true,
        });
        found
    }

    /// Notes that the value of a field is not known.
    pub(super) fn leave_unread(&mut self, field: &str) {
        self.unread.extend(FIELDS.iter().find(|own| **own == field));
    }

    /// The descriptor, if all of it could be read.
    ///
    /// # Errors
    /// The first that could not.
    pub fn read(self) -> Result<Desc> {
        match self.errors.into_iter().next() {
            Some(error) => Err(error),
            None => Ok(self.desc),
        }
    }
}

/// Every descriptor in a text, whatever it is: JSON, a dict of Python, C and C++, or the one in a line.
///
/// ```
/// use tilework::directml::read_descs;
/// let code = "UINT sizes[] = {2, 3}; DML_BUFFER_TENSOR_DESC d{DML_TENSOR_DATA_TYPE_FLOAT32, 0, 2, sizes, NULL, 24};";
/// for text in [code, "FLOAT32 [2,3] total 24", "{'DataType': 'FLOAT32', 'Sizes': (2, 3)}"] {
///     assert_eq!(read_descs(text)?[0].desc.sizes[..], [2, 3]);
/// }
/// # Ok::<(), tilework::Error>(())
/// ```
///
/// # Errors
/// A text without a descriptor. What is wrong with one of them stands in it.
pub fn read_descs(text: &str) -> Result<Vec<FoundDesc>> {
    let begins = text.trim_start_matches('\u{feff}').trim_start();
    if is_json(begins) {
        return read_json(text);
    }
    if is_dict(begins) {
        return Ok(vec![read(&of_python(text)?, String::new())]);
    }
    let line = Desc::parse(text);
    if is_code(text) && line.is_err() {
        return read_code(text);
    }
    // A line begins with a type's name or number, or with whatever stands for one.
    let is_line = begins.starts_with(|c: char| c.is_ascii_alphabetic())
        || begins.starts_with(|c: char| c.is_ascii_digit()) && begins.contains('[');
    match line {
        Err(error) if is_line => Err(error),
        Err(_) => read_json(text),
        Ok(desc) => Ok(vec![FoundDesc::of(desc)]),
    }
}

/// Whether a text begins as JSON about objects does.
pub(super) fn is_json(text: &str) -> bool {
    text.strip_prefix('{').is_some_and(|inner| inner.trim_start().starts_with('"'))
        || text.strip_prefix('[').is_some_and(|inner| inner.trim_start().starts_with('{'))
}

/// Whether a text begins as Python prints a dict with a descriptor's field.
pub(super) fn is_dict(text: &str) -> bool {
    let key = text.strip_prefix('{').and_then(|inner| inner.trim_start().strip_prefix('\''));
    key.is_some_and(|key| FIELDS.iter().any(|field| key.starts_with(&format!("{field}'"))))
}

/// A dict of Python as JSON.
fn of_python(text: &str) -> Result<Value<'_>> {
    fn value<'a>(own: python::Value<'a>) -> Value<'a> {
        let kind = match own.kind {
            python::Kind::Number(number) => Kind::Integer(number),
            python::Kind::Text(text) => Kind::String(Cow::Borrowed(text)),
            python::Kind::Name("None") => Kind::Null,
            python::Kind::List(items) => {
                Kind::Array(items.into_iter().map(|item| value(item.value)).collect())
            }
            python::Kind::Dict(items) => {
                let member = |item: python::Item<'a>| {
                    let key = item.key?;
                    let (name, at) = match key.kind {
                        python::Kind::Text(name) | python::Kind::Name(name) => (name, key.span),
                        _ => return None,
                    };
                    Some(Member { key: Cow::Borrowed(name), at, value: value(item.value) })
                };
                Kind::Object(items.into_iter().filter_map(member).collect())
            }
            _ => Kind::Other,
        };
        Value { kind, span: own.span }
    }
    let mut items = python::values(text, |_| true)?;
    match items.len() {
        1 => Ok(value(items.remove(0).value)),
        _ => Err(Error::new("more than a dict").at(0..text.len()).accepts("one dict, or JSON")),
    }
}

/// Every descriptor in a JSON text: one, an array of them, or those of a model file, wherever they stand in it.
///
/// An object is a descriptor if it has `Sizes` and a `DataType`, or either of them and no field that is none of a
/// descriptor's. If there is none at all, the objects at the top are read as descriptors, so that what they lack
/// is said.
///
/// ```
/// use tilework::directml::{FeatureLevel, check, read_json};
/// let text = r#"{"in": {"DataType": "FLOAT32", "Sizes": [2, 3], "Strides": [5, 1], "Strides": null}}"#;
/// let found = read_json(text)?;
/// assert_eq!(found[0].path, "in");
/// assert_eq!(found[0].errors[0].found(), "Strides stands twice");
/// # Ok::<(), tilework::Error>(())
/// ```
///
/// # Errors
/// A text that is not JSON, or has no object in it.
pub fn read_json(text: &str) -> Result<Vec<FoundDesc>> {
    let root = parse(text)?;
    let mut found = Vec::new();
    walk(&root, &mut String::new(), &mut found);
    if found.is_empty() {
        match &root.kind {
            Kind::Object(_) => found.push(read(&root, String::new())),
            Kind::Array(values) => {
                let objects =
                    values.iter().enumerate().filter(|(_, value)| matches!(value.kind, Kind::Object(_)));
                found.extend(objects.map(|(place, value)| read(value, format!("[{place}]"))));
            }
            _ => {}
        }
    }
    if found.is_empty() {
        return Err(Error::new("no descriptor")
            .at(root.span)
            .accepts(r#"{"DataType": …, "Sizes": […]}, an array of these, or a model file"#));
    }
    Ok(found)
}

pub(super) const FIELDS: [&str; 8] = [
    "DataType",
    "Flags",
    "DimensionCount",
    "Sizes",
    "Strides",
    "TotalTensorSizeInBytes",
    "GuaranteedBaseOffsetAlignment",
    "Type",
];

fn is_descriptor(members: &[Member<'_>]) -> bool {
    let has = |key: &str| members.iter().any(|member| member.key == key);
    let known = members.iter().filter(|member| FIELDS.contains(&&*member.key)).count();
    (has("DataType") && has("Sizes")) || ((has("DataType") || has("Sizes")) && known == members.len())
}

fn walk(value: &Value<'_>, path: &mut String, found: &mut Vec<FoundDesc>) {
    let length = path.len();
    match &value.kind {
        Kind::Object(members) => {
            let inner = members.iter().find(|member| member.key == "Desc").map(|member| &member.value.kind);
            let nested = matches!(inner, Some(Kind::Object(inner)) if is_descriptor(inner));
            if nested || is_descriptor(members) {
                return found.push(read(value, path.clone()));
            }
            for member in members {
                if length > 0 {
                    path.push('.');
                }
                path.push_str(&member.key);
                walk(&member.value, path, found);
                path.truncate(length);
            }
        }
        Kind::Array(values) => {
            for (place, value) in values.iter().enumerate() {
                path.push_str(&format!("[{place}]"));
                walk(value, path, found);
                path.truncate(length);
            }
        }
        _ => {}
    }
}

/// An object read as a descriptor.
pub(super) fn read(value: &Value<'_>, path: String) -> FoundDesc {
    let mut reader = Reader {
        desc: Desc {
            data_type: TypeField::Number(0),
            flags: 0,
            dimension_count: None,
            sizes: Numbers::new(),
            strides: None,
            total: None,
            alignment: 0,
        },
        errors: Vec::new(),
        unread: Vec::new(),
        seen: [false; FIELDS.len()],
    };
    if let Kind::Object(members) = &value.kind {
        reader.members(members, true);
    }
    for field in ["DataType", "Sizes"] {
        if !reader.has(field) {
            let rule = "a descriptor has a DataType and Sizes";
            reader.errors.push(Error::new(format!("no {field}")).at(value.span.clone()).rule(rule));
            reader.unread.push(field);
        }
    }
    FoundDesc {
        path,
        span: value.span.clone(),
        desc: reader.desc,
        errors: reader.errors,
        unread: reader.unread,
    }
}

struct Reader {
    desc: Desc,
    errors: Vec<Error>,
    unread: Vec<&'static str>,
    /// Which of the [`FIELDS`] have been read.
    seen: [bool; FIELDS.len()],
}

impl Reader {
    fn has(&self, field: &str) -> bool {
        FIELDS.iter().zip(self.seen).any(|(name, seen)| seen && *name == field)
    }

    fn error(&mut self, span: &Range<usize>, found: impl Into<String>, accepts: &str) {
        self.errors.push(Error::new(found).at(span.clone()).accepts(accepts));
    }

    fn members(&mut self, members: &[Member<'_>], outer: bool) {
        for member in members {
            let (key, value) = (&*member.key, &member.value);
            match FIELDS.iter().position(|name| *name == key) {
                Some(place) if std::mem::replace(&mut self.seen[place], true) => {
                    let rule = "a field stands once";
                    self.errors
                        .push(Error::new(format!("{key} stands twice")).at(member.at.clone()).rule(rule));
                }
                Some(place) => {
                    let before = self.errors.len();
                    self.field(key, value);
                    if self.errors.len() > before {
                        self.unread.push(FIELDS[place]);
                    }
                }
                None => match &value.kind {
                    Kind::Object(inner) if outer && key == "Desc" => self.members(inner, false),
                    _ => {
                        let near = crate::nearest(key, FIELDS.iter().copied());
                        let near = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
                        let found = format!("{} is no field of a descriptor", shown(key));
                        self.error(&member.at, found, &(FIELDS.join(", ") + &near));
                    }
                },
            }
        }
    }

    fn field(&mut self, key: &str, value: &Value<'_>) {
        match key {
            "DataType" => match &value.kind {
                Kind::String(name) => self.desc.data_type = TypeField::from_name(name),
                Kind::Integer(number) if u32::try_from(*number).is_ok() => {
                    self.desc.data_type = TypeField::from_number(*number as u32);
                }
                _ => self.error(&value.span, "a type that is no name", "\"FLOAT32\""),
            },
            "Flags" => self.flags(value),
            "Type" => {
                let is_buffer = match &value.kind {
                    Kind::String(name) => matches!(&**name, "BUFFER" | "DML_TENSOR_TYPE_BUFFER"),
                    kind => matches!(kind, Kind::Integer(1) | Kind::Null),
                };
                if !is_buffer {
                    self.error(&value.span, "a tensor that is not in a buffer", "\"BUFFER\"");
                }
            }
            "Sizes" => self.desc.sizes = self.numbers(value).unwrap_or_default(),
            // An empty list means none, as DxDispatch has it.
            "Strides" if value.kind != Kind::Null => {
                self.desc.strides = self.numbers(value).filter(|strides| !strides.is_empty());
            }
            "DimensionCount" => self.desc.dimension_count = self.integer(value),
            "TotalTensorSizeInBytes" => self.desc.total = self.unsigned(value).filter(|&total| total > 0),
            "GuaranteedBaseOffsetAlignment" => self.desc.alignment = self.unsigned(value).unwrap_or(0),
            _ => {}
        }
    }

    /// One flag, or several in a list.
    fn flags(&mut self, value: &Value<'_>) {
        match &value.kind {
            Kind::Null => {}
            Kind::Integer(number) if u32::try_from(*number).is_ok() => self.desc.flags |= *number as u32,
            Kind::String(name) => match name.strip_prefix("DML_TENSOR_FLAG_").unwrap_or(name) {
                "NONE" => {}
                "OWNED_BY_DML" => self.desc.flags |= 1,
                _ => self.error(&value.span, format!("flag {}", shown(name)), "\"NONE\" or \"OWNED_BY_DML\""),
            },
            Kind::Array(values) if values.iter().all(|value| !matches!(value.kind, Kind::Array(_))) => {
                values.iter().for_each(|value| self.flags(value));
            }
            _ => self.error(&value.span, "flags that are no names", "\"NONE\" or \"OWNED_BY_DML\""),
        }
    }

    fn numbers(&mut self, value: &Value<'_>) -> Option<Numbers> {
        let Kind::Array(values) = &value.kind else {
            self.error(&value.span, "not a list", "a list of whole numbers");
            return None;
        };
        // What is no number becomes a 1, which breaks no rule, so that the others keep their places.
        Some(values.iter().map(|value| self.integer(value).unwrap_or(1)).collect())
    }

    fn integer(&mut self, value: &Value<'_>) -> Option<i64> {
        match value.kind {
            Kind::Integer(number) if i64::try_from(number).is_ok() => Some(number as i64),
            _ => {
                self.error(&value.span, "not a whole number of 64 bits", "a whole number");
                None
            }
        }
    }

    fn unsigned(&mut self, value: &Value<'_>) -> Option<u64> {
        match value.kind {
            Kind::Null => None,
            Kind::Integer(number) if u64::try_from(number).is_ok() => Some(number as u64),
            _ => {
                self.error(&value.span, "not an unsigned number of 64 bits", "0 to 18446744073709551615");
                None
            }
        }
    }
}
