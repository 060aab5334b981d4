//! What is explained: a shape as XLA writes it, or a tensor as DirectML describes it.

use std::fmt;

use tilework::directml::{BufferTensorDesc, DataType, Desc, FoundDesc, read_json};
use tilework::xla::{ArrayShape, PrimitiveType, Shape};
use tilework::{Error, Layout, Result};

use crate::shown::kind;

/// A shape or a descriptor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// As XLA writes it.
    Shape(Shape),
    /// As DirectML describes it.
    Desc(BufferTensorDesc),
}

impl Subject {
    /// Reads what a text says, told apart by how it begins: an XLA shape, a DirectML descriptor in a line, or DirectML's
    /// JSON, which may hold several.
    ///
    /// `strict_xla` refuses everything that XLA does not write.
    ///
    /// ```
    /// use tilework_explain::Subject;
    /// let read = Subject::read("FLOAT16 NHWC [1,64,56,56]", false)?;
    /// assert_eq!(read[0].layout("")?.bytes(), 401_408);
    /// assert!(Subject::read("FLOAT16 NHWC [1,64,56,56]", true).is_err());
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// A text that is none of these, or says something that cannot be.
    pub fn read(text: &str, strict_xla: bool) -> Result<Vec<Subject>> {
        if !Subject::is_descriptor(text) {
            let shape = if strict_xla { Shape::parse_strict_xla(text) } else { Shape::parse(text) };
            return Ok(vec![Subject::Shape(shape?)]);
        }
        if strict_xla {
            return Err(Error::new("a DirectML descriptor")
                .at(0..text.len())
                .rule("strict XLA text is nothing but what XLA writes"));
        }
        if text.starts_with('{') {
            return Subject::read_json(text, None);
        }
        Ok(vec![Subject::Desc(Desc::parse(text)?.build()?)])
    }

    /// Reads DirectML's descriptors from JSON: all of them, or those with this name, which is the path to them.
    ///
    /// # Errors
    /// A text that is not JSON or holds no descriptor, and descriptors that break a rule. There is no error if none has
    /// the name.
    pub fn read_json(json: &str, name: Option<&str>) -> Result<Vec<Subject>> {
        let wanted = read_json(json)?.into_iter().filter(|found| name.is_none_or(|name| found.path == name));
        let descs: Vec<Desc> = wanted.map(FoundDesc::read).collect::<Result<_>>()?;
        descs.iter().map(|desc| desc.build().map(Subject::Desc)).collect()
    }

    /// Whether a text is read as a descriptor, and not as a shape.
    pub fn is_descriptor(text: &str) -> bool {
        text.starts_with('{') || DataType::begins(text)
    }

    /// The layout of something that must be an array. Errors are about all of `text`, where they know no better.
    ///
    /// # Errors
    /// What is no array, or has no places in memory.
    pub fn layout(&self, text: &str) -> Result<Layout> {
        let whole = 0..text.len();
        match self {
            Subject::Desc(desc) => desc.lower(),
            Subject::Shape(shape) => {
                let array = shape.as_array().ok_or_else(|| {
                    Error::new(format!("this is not an array but of the kind {}", kind(shape)))
                        .at(whole.clone())
                        .rule("only the elements of an array have offsets")
                        .accepts("an array, such as one of a tuple's elements")
                })?;
                array.lower().map_err(|error| error.or_at(whole))
            }
        }
    }

    /// The array of a shape.
    pub fn as_array(&self) -> Option<&ArrayShape> {
        match self {
            Subject::Shape(shape) => shape.as_array(),
            Subject::Desc(_) => None,
        }
    }

    /// The type of the elements; none for what has none.
    pub fn element(&self) -> Option<PrimitiveType> {
        match self {
            Subject::Shape(shape) => shape.as_array().map(ArrayShape::element_type),
            Subject::Desc(desc) => Some(desc.data_type().in_xla()),
        }
    }

    /// The descriptor.
    pub fn as_desc(&self) -> Option<&BufferTensorDesc> {
        match self {
            Subject::Shape(_) => None,
            Subject::Desc(desc) => Some(desc),
        }
    }
}

/// The canonical text.
impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subject::Shape(shape) => shape.fmt(f),
            Subject::Desc(desc) => desc.fmt(f),
        }
    }
}
