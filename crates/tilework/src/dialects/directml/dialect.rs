//! DirectML's descriptions of tensors among the other notations.

use std::sync::Arc;

use super::code::is_code;
use super::data_type::DataType;
use super::desc::BufferTensorDesc;
use super::meaning;
use super::raw::Desc;
use super::read::{FoundDesc, is_dict, is_json, read_descs};
use crate::Element;
use crate::dialect::{Confidence, Described, Dialect, Example, Fact, Facts, Found, Known, Part, Said};
use crate::error::{Error, Result};
use crate::layout::Layout;

/// Tensors described by sizes and strides, in a line or as JSON.
pub static DIALECT: Dialect = Dialect {
    name: "directml",
    title: "a DirectML descriptor",
    recognise,
    read,
    say: Some(say),
    forms: &[],
    examples: EXAMPLES,
};

const EXAMPLES: &[Example] = &[
    Example { text: "FLOAT32 [1,2,3,5]", shows: "packed", offsets: &[(&[0, 1, 2, 3], 28)], size: 30 },
    Example { text: "UINT8 [2,3] strides [5,1]", shows: "rows padded", offsets: &[(&[1, 2], 7)], size: 8 },
    Example { text: "UINT8 [2,3] strides [0,1]", shows: "a row repeated", offsets: &[(&[1, 2], 2)], size: 3 },
    Example {
        text: "FLOAT16 NHWC [1,64,56,56]",
        shows: "a layout by its name",
        offsets: &[(&[0, 3, 1, 2], 3 + 58 * 64)],
        size: 200_704,
    },
    Example {
        text: r#"{"DataType": "FLOAT32", "Sizes": [2,3], "Strides": [1,2]}"#,
        shows: "JSON, as DxDispatch reads it",
        offsets: &[(&[1, 2], 5)],
        size: 6,
    },
];

/// A line begins with the name of a data type, JSON with a brace and a quote, or nothing in it; code names the structure.
fn recognise(text: &str) -> Option<Confidence> {
    if is_json(text) {
        return Some(Confidence::Likely); // others write JSON too
    }
    (DataType::begins(text) || is_dict(text) || is_code(text)).then_some(Confidence::Certain)
}

fn read(text: &str, _: &Known) -> Result<Vec<Found>> {
    let found = read_descs(text)?.into_iter().map(|found: FoundDesc| {
        let name = Some(found.path.clone()).filter(|path| !path.is_empty());
        let desc = found.read()?.build()?;
        Ok(Found { name, said: Arc::new(desc) })
    });
    found.collect()
}

/// A description with strides, or packed if that is what it is.
fn say(layout: &Layout, element: Element) -> Result<Said> {
    let strides = layout.to_strides()?.strides;
    let data_type = DataType::of(element)
        .ok_or_else(|| Error::new(format!("DirectML has no data type {element}")).field("element type"))?;
    let sizes: Option<Vec<u32>> = layout.dims().iter().map(|&size| u32::try_from(size).ok()).collect();
    let sizes = sizes.ok_or_else(|| Error::new("a size above 32 bits").field("Sizes"))?;
    let desc = |strides: Option<&[i64]>, total| {
        let strides = strides.map(|strides| strides.iter().copied().collect());
        Desc { strides, total, ..Desc::new(data_type, &sizes) }.build()
    };
    let says = |desc: &BufferTensorDesc| desc.lower().is_ok_and(|said| said == *layout);
    // A negative stride, a first element elsewhere, and rows that no total can end are for the checker to refuse.
    let candidates =
        [desc(None, None), desc(Some(&strides), None), desc(Some(&strides), Some(layout.bytes()))];
    let mut why = None;
    for candidate in candidates {
        match candidate {
            Ok(found) if says(&found) => return Ok(Arc::new(found)),
            Ok(_) => {}
            Err(error) => why = Some(error),
        }
    }
    Err(why.unwrap_or_else(|| {
        Error::new("a DirectML descriptor begins with element (0, …, 0) and ends with a multiple of 4 bytes")
            .field("layout")
    }))
}

impl Described for BufferTensorDesc {
    fn dialect(&self) -> &'static Dialect {
        &DIALECT
    }

    fn kind(&self) -> &'static str {
        "descriptor"
    }

    fn element(&self) -> Option<Element> {
        Some(self.data_type().element())
    }

    fn layout(&self) -> Result<Layout> {
        self.lower()
    }

    fn parts(&self, _: Option<&Layout>) -> Vec<Part> {
        meaning::parts(self)
    }

    fn facts(&self) -> Facts {
        let facts = Facts::about("descriptor")
            .with("data_type", self.data_type().name())
            .with("flags", self.flags().name())
            .with("sizes", self.sizes().iter().copied().collect::<Fact>())
            .with("strides", self.strides().map(|strides| strides.iter().copied().collect::<Fact>()))
            .with("effective_strides", self.effective_strides().iter().copied().collect::<Fact>())
            .with("total_bytes", self.total_bytes())
            .with("minimum_bytes", self.minimum_bytes())
            .with("declared_total", self.declared_total())
            .with("alignment", self.alignment())
            .with("layout_names", self.layout_names().into_iter().collect::<Fact>())
            .with_of_layout("xla_array_size", Fact::Null);
        let Ok(words) = self.words() else { return facts };
        facts
            .with("packed", words.packed)
            .with("overlaps", words.overlaps())
            .with("padded_inside", words.gaps)
            .with("padded_behind", words.slack)
    }

    /// DirectML has no type for true and false; they are bytes.
    fn may_be(&self, element: Element) -> bool {
        let own = self.data_type().element();
        own == element || own == Element::U8 && element == Element::Pred
    }
}
