//! Packed, broadcast, overlapping, padded: the document's words, decided exactly.

use super::desc::BufferTensorDesc;
use crate::ask::verdict::{Difference, Verdict};
use crate::error::Result;

/// What the document's words say of a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words {
    /// As many places as elements, and every element its own, in whatever order. That the least total is rounded up to
    /// 4 bytes does not make a tensor padded.
    pub packed: bool,
    /// Whether every element has a place of its own. None: strides overlap so intricately that it was not decided.
    pub unique: Option<bool>,
    /// The dimensions larger than 1 with a stride of 0.
    pub broadcast_dims: Vec<usize>,
    /// Padded inside: places between the first element and the last hold none.
    pub gaps: bool,
    /// Padded behind: places behind the last element, in elements, that a declared total has room for.
    pub slack: u64,
    /// Elements of the tensor: the logical size.
    pub elements: u64,
    /// Places from the first element to the last: the least physical size.
    pub minimum_elements: u64,
}

impl Words {
    /// Whether some dimension repeats its elements.
    pub fn is_broadcast(&self) -> bool {
        !self.broadcast_dims.is_empty()
    }

    /// Whether two elements share a place, by broadcasting or because strides overlap. None where `unique` is.
    pub fn overlaps(&self) -> Option<bool> {
        self.unique.map(|unique| !unique)
    }

    /// Whether there are places without an element, inside or behind.
    pub fn is_padded(&self) -> bool {
        self.gaps || self.slack > 0
    }
}

impl BufferTensorDesc {
    /// The document's words for this tensor.
    ///
    /// ```
    /// use tilework::directml::Desc;
    /// let words = |text: &str| Desc::parse(text)?.build()?.words();
    /// assert!(words("FLOAT32 NHWC [2,3,4,5]")?.packed); // any order counts
    /// // As many places as elements, and yet not packed: element (0,1) is where (1,0) is.
    /// let trap = words("FLOAT32 [3,3] strides [2,2]")?;
    /// assert_eq!((trap.elements, trap.minimum_elements, trap.packed), (9, 9, false));
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`lower`](Self::lower).
    pub fn words(&self) -> Result<Words> {
        let layout = self.lower()?;
        let (elements, minimum_elements) = (layout.len(), self.minimum_elements());
        let gaps = layout.has_gaps().unwrap_or(true); // decided for all strides
        let slack = layout.size() - minimum_elements;
        // Without gaps the places are counted, so that no search is needed.
        let unique = if gaps { layout.is_injective() } else { Some(elements == minimum_elements) };
        Ok(Words {
            packed: !gaps && slack == 0 && elements == minimum_elements,
            unique,
            broadcast_dims: layout.broadcast_dims(),
            gaps,
            slack,
            elements,
            minimum_elements,
        })
    }

    /// Whether both describe the same elements at the same places. Strides of dimensions of size 1 do not matter, nor
    /// whether packed strides are written out.
    ///
    /// # Errors
    /// Those of [`lower`](Self::lower).
    pub fn same_view(&self, other: &BufferTensorDesc) -> Result<Verdict> {
        if self.data_type() != other.data_type() {
            let types = [self, other].map(|desc| desc.data_type().to_string());
            return Ok(Verdict::No(Difference::ElementType(types)));
        }
        Ok(self.lower()?.same_function(&other.lower()?))
    }
}

/// Something that the documents do not forbid and people should know.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remark {
    /// Elements share places. What DirectML does with such an output is documented nowhere: writes collide.
    OutputOverlaps,
    /// It was not decided whether elements share places.
    OverlapNotDecided,
    /// The tensor is not packed; some implementations take a slower path then.
    NotPacked,
    /// Only the elements of the tensor, or only the places of the buffer, are more than 2^32 − 1. The documents do not
    /// say which of them the limit counts.
    ElementLimitUnclear,
    /// A tensor is owned by DirectML: it is bound when the operator is initialized and not at execution, and only inputs
    /// may be.
    OwnedByDml,
}

impl Remark {
    /// The remark in one sentence, without a full stop.
    pub fn sentence(&self) -> &'static str {
        match self {
            Remark::OutputOverlaps => {
                "elements share places, so writes to this output collide; DirectML documents no answer"
            }
            Remark::OverlapNotDecided => {
                "not decided whether elements share places, which matters for an output"
            }
            Remark::NotPacked => "not packed; some implementations take a slower path",
            Remark::ElementLimitUnclear => {
                "more than 4294967295 elements if those of the tensor and of the buffer are not counted alike; the documents do not say which the limit counts"
            }
            Remark::OwnedByDml => {
                "owned by DirectML: bound at initialization, never at execution, and inputs only"
            }
        }
    }
}

/// What is legal and worth knowing, of a tensor that an operator reads or, as an `output`, writes.
///
/// # Errors
/// Those of [`BufferTensorDesc::lower`].
pub fn remarks(desc: &BufferTensorDesc, output: bool) -> Result<Vec<Remark>> {
    let words = desc.words()?;
    let mut remarks = Vec::new();
    match words.overlaps() {
        Some(true) if output => remarks.push(Remark::OutputOverlaps),
        None if output => remarks.push(Remark::OverlapNotDecided),
        _ => {}
    }
    if !words.packed {
        remarks.push(Remark::NotPacked);
    }
    let above = |count: u64| count > super::level::MAX_ELEMENTS;
    if above(words.elements) != above(words.minimum_elements) {
        remarks.push(Remark::ElementLimitUnclear);
    }
    if desc.flags() == super::TensorFlags::OWNED_BY_DML {
        remarks.push(Remark::OwnedByDml);
    }
    Ok(remarks)
}
