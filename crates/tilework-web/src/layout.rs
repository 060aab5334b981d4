//! A layout: its picture and its words.

use serde::{Deserialize, Serialize};
use tilework::dialect::{self, Axes, Described, Part, Said, with_axes};
use tilework::xla::{ArrayShape, Shape};
use tilework::{Error, Layout, Result};
use tilework_audit::Target;
use tilework_explain::size::{Sizes, bytes, cause, times};
use tilework_explain::{
    FigureOptions, FigureView, Suggested, Suggesting, Translated, explain, figure, figure_of_layout,
};
use tilework_picture::figure::{Theme, tile_sizes};
use tilework_picture::{Grid, Room, letter};

/// Columns of the text that can be copied.
const WIDTH: usize = 80;

/// How many smaller layouts are listed.
const SMALLER: usize = 4;

/// How figures are drawn.
#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Look {
    /// Pixels; 0 is what figures have by themselves.
    width: u32,
    /// Rows of the array and of the memory that are shown; 0 likewise.
    rows: usize,
    /// Without the title and the lines below it, which the page says itself.
    bare: bool,
    /// Which slice of an array of more than two dimensions.
    pub slice: Vec<Option<u64>>,
}

impl Look {
    /// The figure of a layout that is said by `said`, as the command draws it, or the pictures alone.
    pub fn figure(&self, said: &dyn Described, layout: &Layout) -> String {
        let usual = FigureOptions::default();
        let or = |own: usize, usual: usize| if own == 0 { usual } else { own };
        let mut options = FigureOptions {
            // The page gives the colours a meaning.
            theme: Theme::Light,
            width: if self.width == 0 { usual.width } else { self.width },
            rows: or(self.rows, usual.rows),
            memory_rows: or(self.rows * 3 / 4, usual.memory_rows),
            slice: self.slice.clone(),
            views: views(layout),
            ..usual
        };
        if !self.bare {
            return figure(said, &options).unwrap_or_else(|_| figure_of_layout(layout, &options));
        }
        options.names = said.axes().map_or_else(Vec::new, |axes| axes.names().to_vec());
        options.caption = vec![String::new()];
        figure_of_layout(layout, &options)
    }
}

/// What is drawn at each key stroke: what shows where elements are. The registers of a TPU would take as long again.
fn views(layout: &Layout) -> Vec<FigureView> {
    let mut views = vec![FigureView::Array, FigureView::Memory];
    views.extend(layout.swizzle().map(|_| FigureView::Banks));
    views.extend((layout.bits() < 8).then_some(FigureView::Bits));
    views
}

/// What is shown at each key stroke.
#[derive(Serialize)]
pub struct Explained {
    /// The canonical text.
    text: String,
    /// The name of the notation, and what it is called in full.
    notation: [&'static str; 2],
    /// The sentence that matters.
    lead: String,
    parts: Vec<Piece>,
    /// None without an array.
    array: Option<Array>,
    /// What else there is to know.
    notes: Vec<String>,
    /// The arrays of a tuple.
    leaves: Vec<Leaf>,
}

#[derive(Serialize)]
struct Piece {
    name: &'static str,
    text: String,
    meaning: String,
}

#[derive(Serialize)]
struct Leaf {
    path: String,
    text: String,
    size: Option<String>,
}

/// What is said of one array.
#[derive(Serialize)]
struct Array {
    dims: Vec<u64>,
    /// The letters of an index: `i`, `j`.
    letters: Vec<String>,
    elements: u64,
    /// Places, beyond which there is nothing to look at.
    allocated: u64,
    element_words: String,
    allocated_words: String,
    padding_words: Option<String>,
    /// How much of the memory is padding, from 0 to 1; none if it is not decided.
    share: Option<f64>,
    causes: Vec<String>,
    /// In which order memory is filled, where tiles say so.
    filling: Option<String>,
    formula: Option<String>,
    strides: Option<Vec<i64>>,
    /// Of more than two dimensions: the index in those that are not shown.
    slice: Option<Vec<Option<u64>>>,
    svg: String,
}

/// What is shown a moment later.
#[derive(Serialize)]
pub struct Beside {
    /// As `tilework show` prints it.
    words: String,
    translated: Vec<Translated>,
    /// None where no layout can be suggested, or none is smaller.
    suggested: Option<Suggested>,
}

/// The picture and the words of what a text says.
pub fn answer(said: &dyn Described, look: &Look) -> Result<Explained> {
    let layout = match said.layout() {
        Ok(layout) => Some(layout),
        Err(_) if said.element().is_none() || said.open().is_some() => None,
        Err(error) => return Err(error),
    };
    let piece = |part: Part| Piece { name: part.name, text: part.text, meaning: part.meaning };
    let mut notes = layout.as_ref().map_or_else(Vec::new, |layout| said.notes(layout));
    notes.extend(said.open());
    let leaf = |leaf: dialect::Leaf| Leaf {
        path: leaf.path.iter().map(usize::to_string).collect::<Vec<_>>().join(","),
        size: leaf.said.layout().ok().map(|layout| bytes(layout.bytes().into())),
        text: leaf.said.to_string(),
    };
    let array = layout.as_ref().map(|layout| Array::new(layout, said, look));
    Ok(Explained {
        text: said.to_string(),
        notation: [said.dialect().name, said.dialect().title],
        lead: match &array {
            Some(array) => array.lead(),
            None => said.phrase().or_else(|| said.open()).unwrap_or_default(),
        },
        parts: said.parts(layout.as_ref()).into_iter().map(piece).collect(),
        array,
        notes,
        leaves: said.leaves().into_iter().flatten().map(leaf).collect(),
    })
}

/// What else there is to say.
pub fn beside(said: &dyn Described) -> Result<Beside> {
    let lines = explain(said, WIDTH, tilework_explain::Look::default())?;
    let words: Vec<String> = lines.iter().map(ToString::to_string).collect();
    let targets: Vec<_> = dialect::targets().collect();
    Ok(Beside {
        words: words.join("\n"),
        translated: Translated::of(said, None, &targets).unwrap_or_default(),
        suggested: suggested(said).ok().flatten(),
    })
}

/// The one thing that a text says.
pub fn read(text: &str) -> Result<Said> {
    dialect::read_one(text)
}

/// The same with names of its dimensions; an error comes with the text that it is about.
pub fn named<'a>(text: &'a str, axes: &'a str) -> std::result::Result<Said, (Error, &'a str)> {
    let said = read(text).map_err(|error| (error, text))?;
    if axes.trim().is_empty() {
        return Ok(said);
    }
    let named = Axes::parse(axes).and_then(|axes| with_axes(said, axes));
    named.map_err(|error| (error.field("names of the dimensions"), axes))
}

/// How many layouts of a text are offered.
const FOUND: usize = 12;

/// The layouts that stand somewhere in a text, and can be drawn.
pub fn found(text: &str) -> Vec<String> {
    let all = dialect::find(text).all;
    let texts = all.into_iter().filter(|sighting| sighting.found.is_ok()).map(|sighting| sighting.text);
    texts.take(FOUND).collect()
}

/// Smaller layouts on the machine whose tiles the text has; none if there are none.
fn suggested(said: &dyn Described) -> Result<Option<Suggested>> {
    let layout = said.layout()?;
    let array = match said.get().and_then(Shape::as_array) {
        Some(array) => array.clone(),
        None => {
            let element = said.element().ok_or_else(|| Error::new("elements without a type"))?;
            ArrayShape::saying(&layout, element)?
        }
    };
    // Of an array without tiles nobody asked what a machine would make of it.
    if array.layout().is_none_or(|layout| layout.tiles().is_empty()) {
        return Ok(None);
    }
    let found = Suggesting::new(&array, &Target::default(), SMALLER)?.object()?;
    Ok((found.smaller > 0 || !found.arrays.is_empty()).then_some(found))
}

impl Array {
    fn new(layout: &Layout, said: &dyn Described, look: &Look) -> Array {
        let sizes = Sizes::new(layout);
        let rank = layout.rank();
        let letters: Vec<String> = match said.axes() {
            Some(axes) => axes.names().to_vec(),
            None => (0..rank).map(|dim| letter(rank, dim)).collect(),
        };
        let waste = sizes.waste_bytes.filter(|&waste| waste > 0);
        let share = sizes.padding.map(|padding| match layout.size() {
            0 => 0.0,
            size => padding as f64 / size as f64,
        });
        let formula = layout.formula();
        let is_short = formula.chars().count() <= 2000;
        Array {
            dims: layout.dims().to_vec(),
            elements: layout.len(),
            allocated: layout.size(),
            element_words: bytes(layout.element_bytes()),
            allocated_words: bytes(layout.bytes().into()),
            padding_words: waste.map(bytes),
            share,
            causes: match sizes.padding {
                None => vec!["the strides overlap, so padding is not decided".to_owned()],
                Some(_) => sizes.growths.iter().take(12).map(cause).collect(),
            },
            filling: filling(layout, said),
            formula: is_short.then(|| format!("({}) is at {formula}", letters.join(", "))),
            strides: layout.canon().strides().filter(|_| layout.swizzle().is_none()),
            slice: Grid::slice(layout, Room { rows: 2, columns: 2 }, &look.slice).and_then(|grid| grid.slice),
            svg: look.figure(said, layout),
            letters,
        }
    }

    /// The sentence that matters.
    fn lead(&self) -> String {
        let noun = if self.elements == 1 { "element takes" } else { "elements take" };
        let takes = format!("{} {noun} {}", self.elements, self.allocated_words);
        match (&self.padding_words, self.share) {
            (Some(padding), Some(_)) => {
                let more = times(self.elements.into(), self.allocated.into());
                format!("{takes}: {more} times their own size, because {padding} are padding.")
            }
            (None, Some(_)) => format!("{takes}, and nothing is padding."),
            _ => format!("{takes}."),
        }
    }
}

/// The order of memory in a sentence, for somebody who has never seen tiles.
fn filling(layout: &Layout, said: &dyn Described) -> Option<String> {
    let names = said.axes().map_or(&[][..], |axes| axes.names());
    let sizes = |level: u32| Some(tile_sizes(layout, level, names)).filter(|sizes| !sizes.is_empty());
    let mut text = format!("Memory holds one coloured tile after the other ({})", sizes(1)?);
    for sizes in (2..).map_while(sizes) {
        text.push_str(&format!(", and in it one piece after the other ({sizes})"));
    }
    Some(text + ".")
}

/// `(2, 3)`, as a person writes an index.
pub fn index_text(index: &[u64]) -> String {
    let numbers: Vec<String> = index.iter().map(u64::to_string).collect();
    format!("({})", numbers.join(", "))
}
