//! What a text says: a layout of CuTe, and what stands before it.

use std::fmt;

use super::composed::Composed;
use super::engine::{Engine, Pointer, stored_bits};
use super::print::{Spell, Spelling};
use super::tuple::IntTuple;
use crate::element::Element;
use crate::error::{Error, ErrorKind, Result};

/// A layout of CuTe with the type of its elements, the sizes of an array, and a pointer, as far as they are said.
///
/// ```
/// use tilework::cute::{Spelling, Tensor};
/// use tilework::Element;
/// let tensor = Tensor::parse("f16 (_128,_64):(_64,_1)")?;
/// assert_eq!(tensor.to_string(), "f16 (128,64):(64,1)");
/// assert_eq!(tensor.spelled(Spelling::Cpp), "f16 (_128,_64):(_64,_1)");
/// assert_eq!(tensor.lower()?.offset(&[2, 3])?, 131);
/// # Ok::<(), tilework::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Tensor {
    element: Option<Element>,
    sizes: Option<Vec<u64>>,
    engine: Option<Engine>,
    layout: Composed,
}

impl From<Composed> for Tensor {
    fn from(layout: Composed) -> Tensor {
        Tensor { element: None, sizes: None, engine: None, layout }
    }
}

impl Tensor {
    /// Reads a text: a layout, or a tensor as C++ and the Python DSL print it, with an element type and sizes before it or
    /// without.
    ///
    /// # Errors
    /// A text that is none, with the place in it.
    pub fn parse(text: &str) -> Result<Tensor> {
        let reading = crate::dialect::Reading { dialect: Some(&super::DIALECT), ..Default::default() };
        let said = reading.read_one(text)?;
        let tensor = said.get::<Tensor>().cloned();
        tensor.ok_or_else(|| Error::new("this is no layout of CuTe").at(0..text.len()))
    }

    /// With elements of this type.
    ///
    /// # Errors
    /// The pointer has elements of another type or size.
    pub fn with_element(mut self, element: Element) -> Result<Tensor> {
        if let Some(Engine::Pointer(pointer)) = &self.engine {
            let is_same = pointer.element().is_none_or(|own| own == element)
                && pointer.bits().is_none_or(|bits| bits == stored_bits(element));
            if !is_same {
                return Err(Error::new(format!("elements of {element} behind {}", spelled(pointer)))
                    .of_kind(ErrorKind::Mismatch)
                    .field("element type")
                    .rule("the pointer says the type or the bits of the elements too"));
            }
        }
        self.element = Some(element);
        Ok(self)
    }

    /// As an array of these sizes, one for each top-level mode of the shape. Where a size is below that of its mode, the rest
    /// of the mode is padding.
    ///
    /// # Errors
    /// Another number of sizes than modes, and a size above that of its mode.
    pub fn with_sizes(mut self, sizes: &[u64]) -> Result<Tensor> {
        let shape = self.layout.layout().shape();
        let refused = |found: String, rule: &str, accepts: String| {
            Err(Error::new(found)
                .of_kind(ErrorKind::Mismatch)
                .field("dimensions")
                .rule(rule)
                .accepts(accepts))
        };
        if sizes.len() != shape.rank() {
            let words = |count: usize| crate::error::counted(count as u64, "mode");
            return refused(
                format!("{} for {}", crate::error::counted(sizes.len() as u64, "size"), words(shape.rank())),
                "each top-level mode of the shape is one dimension",
                format!("{} such as {}", words(sizes.len()), or_sizes(shape)),
            );
        }
        for (number, (mode, &size)) in shape.modes().iter().zip(sizes).enumerate() {
            let Ok(places) = mode.product() else { continue };
            if i128::from(places) < i128::from(size) {
                return refused(
                    format!("dimension {number} is {size}, and mode {number}, {mode}, has {places}"),
                    "a mode has a place for every index of its dimension; what it has more is padding",
                    format!("{places} or less"),
                );
            }
        }
        self.sizes = Some(sizes.to_vec());
        Ok(self)
    }

    pub(super) fn with_engine(mut self, engine: Option<Engine>) -> Tensor {
        self.engine = engine;
        self
    }

    /// The type of the elements, where it is said.
    pub fn element(&self) -> Option<Element> {
        self.element.or_else(|| self.pointer()?.element())
    }

    /// The bits of an element in memory, where they are said.
    pub fn bits(&self) -> Option<u32> {
        self.element.map(stored_bits).or_else(|| self.pointer()?.bits())
    }

    /// The sizes of the array, if they stand before the layout.
    pub fn sizes(&self) -> Option<&[u64]> {
        self.sizes.as_deref()
    }

    /// What stands before the layout.
    pub fn engine(&self) -> Option<&Engine> {
        self.engine.as_ref()
    }

    /// The pointer before the layout.
    pub fn pointer(&self) -> Option<&Pointer> {
        match &self.engine {
            Some(Engine::Pointer(pointer)) => Some(pointer),
            _ => None,
        }
    }

    /// The layout.
    pub fn layout(&self) -> &Composed {
        &self.layout
    }

    /// The text in a spelling. `Display` has that of CuTe IR.
    pub fn spelled(&self, spelling: Spelling) -> String {
        let mut text = String::new();
        if let Some(element) = self.element {
            text.push_str(element.name());
        }
        if let Some(sizes) = &self.sizes {
            let sizes: Vec<String> = sizes.iter().map(u64::to_string).collect();
            text.push_str(&format!("[{}]", sizes.join(",")));
        }
        if !text.is_empty() {
            text.push(' ');
        }
        if let Some(engine) = &self.engine {
            engine.spell(spelling, &mut text);
            text.push_str(" o ");
        }
        self.layout.spell(spelling, &mut text);
        text
    }
}

fn spelled(pointer: &Pointer) -> String {
    let mut text = String::new();
    pointer.spell(Spelling::Ir, &mut text);
    text
}

/// Sizes that would fit a shape.
fn or_sizes(shape: &IntTuple) -> String {
    let sizes =
        shape.modes().iter().map(|mode| mode.product().map_or("?".to_owned(), |size| size.to_string()));
    format!("the sizes [{}]", sizes.collect::<Vec<String>>().join(","))
}

impl fmt::Display for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.spelled(Spelling::Ir))
    }
}
