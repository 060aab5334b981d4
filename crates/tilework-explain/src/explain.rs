//! What a layout is, in words, numbers and pictures.

use tilework::dialect::Described;
use tilework::{Layout, Result, words};
use tilework_picture::{Line, Look, letter, terminal};

use crate::page::{Page, Row};
use crate::shown::{Arrays, formula};
use crate::size::{self, Sizes};

/// Explains what a notation says: what each part of its text means, what it takes, where each element is, and how the
/// array and its memory look. No line is wider than `width` columns.
///
/// ```
/// use tilework::dialect;
/// use tilework_explain::{Look, explain};
/// let said = dialect::read_one("s32[8388608,8,4]{2,1,0:T(8,128)}")?;
/// let lines = explain(&*said, 80, Look::default())?;
/// let text: Vec<String> = lines.iter().map(|line| line.to_string()).collect();
/// assert!(text.iter().any(|line| line.ends_with("dimension 2 is 4, tiled to 128: 32 times")));
/// # Ok::<(), tilework::Error>(())
/// ```
///
/// # Errors
/// What has bounds, and yet more bytes than can be counted.
pub fn explain(said: &dyn Described, width: usize, look: Look) -> Result<Vec<Line>> {
    let mut page = Page::new(width, look);
    page.title(&said.to_string());
    let arrays = Arrays::of(said)?;
    match arrays.leaves() {
        Some(_) => page.tuple(said, &arrays),
        None => page.array(said, arrays.only()),
    }
    Ok(page.into_lines())
}

/// Explains a layout that no text says, such as a view of another: what it takes, where each element is, and how the array
/// and its memory look. No line is wider than `width` columns.
///
/// ```
/// use tilework::Layout;
/// use tilework_explain::{Look, explain_layout};
/// let lines = explain_layout(&Layout::row_major(&[2, 3], 32)?.permute(&[1, 0])?, 80, Look::default());
/// let text: Vec<String> = lines.iter().map(|line| line.to_string()).collect();
/// assert_eq!(text[0], "  [3,2]      dimension 0 (i) is 3, 1 (j) is 2");
/// assert!(text.contains(&"  formula    (i, j) is at i + 3·j".to_owned()));
/// # Ok::<(), tilework::Error>(())
/// ```
pub fn explain_layout(layout: &Layout, width: usize, look: Look) -> Vec<Line> {
    let mut page = Page::new(width, look);
    page.rows(&[
        words::sizes(layout.dims()),
        ("bits".to_owned(), format!("{} for each element", layout.bits())),
    ]);
    page.layout(layout);
    if let Some(note) = shared_note(layout) {
        page.paragraph(&note);
    }
    page.into_lines()
}

/// What is said of arrays and tuples.
impl Page {
    fn array(&mut self, said: &dyn Described, layout: Option<&Layout>) {
        let parts = said.parts(layout);
        match said.phrase() {
            Some(phrase) if parts.is_empty() => return self.paragraph(&phrase),
            _ => {}
        }
        self.axes = said.axes().cloned();
        let rows: Vec<Row> = parts.into_iter().map(|part| (part.text, part.meaning)).collect();
        self.rows(&rows);
        if let Some(layout) = layout {
            self.layout(layout);
            let notes = said.notes(layout).into_iter().chain(shared_note(layout));
            notes.for_each(|note| self.paragraph(&self.named(&note)));
        } else if let Some(why) = said.open() {
            self.paragraph(&why);
        }
    }

    /// What a layout takes, where each element is, and how it looks.
    fn layout(&mut self, layout: &Layout) {
        self.sizes(layout);
        self.function(layout);
        self.pictures(layout);
    }

    /// Sentences with the names of dimensions, where they have any.
    fn named(&self, text: &str) -> String {
        self.axes.as_ref().map_or_else(|| text.to_owned(), |axes| axes.in_words(text))
    }

    fn sizes(&mut self, layout: &Layout) {
        let sizes = Sizes::new(layout);
        let numbers = [Some(layout.len()), Some(layout.size()), sizes.padding];
        let column = numbers.iter().flatten().map(|number| number.to_string().len()).max().unwrap_or(1);
        let amount = |number: u64, bytes: u128| format!("{number:>column$}   {}", size::bytes(bytes));
        let mut rows = vec![("elements".to_owned(), amount(layout.len(), layout.element_bytes()))];
        let mut allocated = amount(layout.size(), layout.bytes().into());
        if !layout.is_empty() && layout.size() != layout.len() {
            let times = size::times(layout.len().into(), layout.size().into());
            allocated.push_str(&format!(", {times} × the elements"));
        }
        rows.push(("allocated".to_owned(), allocated));
        match sizes.padding {
            Some(0) => {}
            Some(padding) => {
                let bytes = sizes.waste_bytes.unwrap_or(0);
                rows.push(("padding".to_owned(), amount(padding, bytes)));
            }
            None => rows.push(("padding".to_owned(), "not decided: the strides overlap".to_owned())),
        }
        let mut causes: Vec<String> =
            sizes.growths.iter().map(|growth| self.named(&size::cause(growth))).collect();
        if sizes.padding.is_none() {
            causes.clear(); // what overlaps does not pad
        }
        if causes.len() > 12 {
            causes.truncate(12);
            causes.push("…".to_owned());
        }
        let beside = " ".repeat(column + 3);
        rows.extend(causes.into_iter().map(|cause| (String::new(), format!("{beside}{cause}"))));
        self.rows(&rows);
    }

    /// Where each element is: the formula, and strides or axes.
    fn function(&mut self, layout: &Layout) {
        if layout.is_empty() {
            return;
        }
        let rank = layout.rank();
        let mut rows = Vec::new();
        let index: Vec<String> = match rank {
            _ if self.axes.is_some() => self.axes.iter().flat_map(|axes| axes.names().to_vec()).collect(),
            0..=6 => (0..rank).map(|dim| letter(rank, dim)).collect(),
            _ => vec![letter(rank, 0), "…".to_owned(), letter(rank, rank - 1)],
        };
        match formula(layout) {
            Some(formula) => {
                let formula = match &self.axes {
                    Some(axes) => axes.in_formula(&formula),
                    None => formula,
                };
                let formula = unbroken(&format!("({}) is at {formula}", index.join(", ")));
                rows.push(("formula".to_owned(), formula));
            }
            None => rows.push(("formula".to_owned(), "too long to print".to_owned())),
        }
        let strides = layout.canon().strides().filter(|_| layout.swizzle().is_none());
        let axes = layout.axes();
        if strides.is_none() && axes.len() <= 32 {
            let extents: Vec<String> = axes.iter().map(|axis| axis.extent.to_string()).collect();
            let steps: Vec<String> = axes.iter().map(|axis| axis.stride.to_string()).collect();
            let text = format!("{}, major to minor; strides {}", extents.join(" × "), steps.join(", "));
            rows.push(("axes".to_owned(), text));
        }
        if let Some(swizzle) = layout.swizzle() {
            rows.push(("swizzle".to_owned(), crate::swizzled::words(swizzle)));
        }
        if let Some(strides) = strides.filter(|strides| (1..=32).contains(&strides.len())) {
            let all = |scale: i128| {
                let each = strides.iter().zip(layout.dims()).map(|(&stride, &size)| match size {
                    1 => "any".to_owned(), // nothing is a step away
                    _ => (i128::from(stride) * scale).to_string(),
                });
                each.collect::<Vec<String>>().join(", ")
            };
            let bytes = match layout.bits() % 8 {
                0 if layout.bits() > 8 => format!("; in bytes {}", all(i128::from(layout.bits() / 8))),
                _ => String::new(),
            };
            rows.push(("strides".to_owned(), format!("{}{bytes}", all(1))));
        }
        self.rows(&rows);
    }

    fn pictures(&mut self, layout: &Layout) {
        if layout.size() == 0 {
            return;
        }
        let look = self.look;
        let width = self.width - 2;
        let names = self.axes.as_ref().map_or(&[][..], |axes| axes.names());
        let array = terminal::array_with_names(layout, names, width, look);
        if !array.is_empty() {
            let slice = if layout.rank() > 2 { "one slice of the array" } else { "the array" };
            self.heading(&format!("{slice}: the offset of each element"));
            self.indented(array);
        }
        let memory = terminal::memory(layout, width, look);
        if !memory.is_empty() {
            self.heading("memory: the element at each place; rows begin with their offset");
            self.indented(memory);
        }
    }

    /// A table of the elements, and what they take together.
    fn tuple(&mut self, said: &dyn Described, arrays: &Arrays) {
        self.paragraph(&said.phrase().unwrap_or_default());
        let mut rows = Vec::new();
        for (leaf, layout) in arrays.leaves().unwrap_or_default() {
            let path: Vec<String> = leaf.path.iter().map(usize::to_string).collect();
            let size = match layout {
                Some(layout) => {
                    let times = more(layout.element_bytes(), layout.bytes().into());
                    format!("{}{times}", size::bytes(layout.bytes().into()))
                }
                None if leaf.said.open().is_some() => "known at run time only".to_owned(),
                None => "no places of its own".to_owned(),
            };
            rows.push((format!("{{{}}}", path.join(",")), format!("{}: {size}", leaf.said)));
        }
        let total = arrays.total();
        rows.push((
            "total".to_owned(),
            format!(
                "{} in {} elements, {} allocated{}",
                size::bytes(total.element_bytes),
                total.elements,
                size::bytes(total.allocated_bytes),
                more(total.element_bytes, total.allocated_bytes)
            ),
        ));
        self.rows(&rows);
    }
}

/// `, 1.60 × the elements`, where more is allocated than they take.
fn more(elements: u128, allocated: u128) -> String {
    match size::times(elements, allocated).as_str() {
        "1" | "0" => String::new(),
        times => format!(", {times} × the elements"),
    }
}

fn shared_note(layout: &Layout) -> Option<String> {
    if layout.is_empty() {
        return None;
    }
    match layout.broadcast_dims().first() {
        Some(dim) => Some(format!(
            "Dimension {dim} is broadcast: its elements share their places, and memory shows one of them."
        )),
        None => (layout.is_injective() == Some(false)).then(|| {
            "The strides overlap: some places have more than one element, and memory shows one of them."
                .to_owned()
        }),
    }
}

/// The formula with breaks before its top-level signs only.
fn unbroken(formula: &str) -> String {
    const KEEP: char = '\u{a0}';
    let mut out = String::with_capacity(formula.len());
    let mut depth = 0;
    let mut after_sign = false;
    for c in formula.chars() {
        match c {
            '(' | '⌊' => depth += 1,
            ')' | '⌋' => depth -= 1,
            _ => {}
        }
        out.push(if c == ' ' && (depth > 0 || after_sign) { KEEP } else { c });
        after_sign = matches!(c, '+' | '−');
    }
    out
}
