//! A type in pieces, with what each means: for those who show it.

use super::value::{Arrangement, Dim, Kind, Type};
use crate::error::counted;

impl Type {
    /// The pieces of the text, in its order: what each is called, as it is written, and what it means.
    ///
    /// ```
    /// use tilework::mlir::Type;
    /// let parts = Type::parse("memref<3x5xf32, strided<[8, 1]>, 3>")?.parts();
    /// let [name, text, meaning] = &parts[3];
    /// assert_eq!((&name[..], &text[..]), ("layout", "strided<[8, 1]>"));
    /// assert_eq!(meaning, "offset = 8·i + j, in elements");
    /// # Ok::<(), tilework::Error>(())
    /// ```
    pub fn parts(&self) -> Vec<[String; 3]> {
        let mut parts = Vec::new();
        let mut part =
            |name: &str, text: String, meaning: String| parts.push([name.to_owned(), text, meaning]);
        part(
            "kind",
            self.kind.to_string(),
            match self.kind {
                Kind::Tensor => "a value; its memory is the compiler's affair".to_owned(),
                Kind::Memref => "a memory".to_owned(),
            },
        );
        let sizes: Vec<String> = self.dims.iter().map(size).collect();
        let meaning = match self.dims.len() {
            0 => "a scalar".to_owned(),
            rank => counted(rank as u64, "dimension"),
        };
        part("sizes", sizes.join("x"), meaning);
        part("element type", self.element.to_string(), self.element_meaning());
        if let Some(text) = self.arrangement_text() {
            let name = if self.kind == Kind::Tensor { "encoding" } else { "layout" };
            part(name, text, self.arrangement_meaning());
        }
        if let Some(space) = &self.space {
            part(
                "memory space",
                space.clone(),
                "which memory it is; places in it are counted alike".to_owned(),
            );
        }
        parts
    }

    fn element_meaning(&self) -> String {
        let bytes = self.element.stored().byte_width().unwrap_or(0);
        let each = counted(u64::from(bytes), "byte");
        match self.element.vector() {
            [] if self.element.is_quantised() => {
                format!("quantised numbers, stored as {} in {each}", self.element.stored())
            }
            [] => format!("{each} each"),
            sizes => {
                let sizes: Vec<String> = sizes.iter().map(u64::to_string).collect();
                format!("vectors of {} elements that are neighbours, {each} each", sizes.join(" × "))
            }
        }
    }

    fn arrangement_meaning(&self) -> String {
        let by_layout = || match self.lower() {
            Ok(layout) => format!("offset = {}, in elements", layout.canon()),
            Err(error) => error.broken_rule().unwrap_or(error.found()).to_owned(),
        };
        match &self.arrangement {
            Arrangement::RowMajor => "row-major".to_owned(),
            Arrangement::Bounds(_) => "the most that a size can be where it is ?".to_owned(),
            _ => by_layout(),
        }
    }
}

fn size(dim: &Dim) -> String {
    match dim {
        Dim::Size(size) => size.to_string(),
        Dim::Dynamic | Dim::Bounded(_) => "?".to_owned(),
    }
}
