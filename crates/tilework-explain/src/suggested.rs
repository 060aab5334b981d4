//! Which layouts of an array would be smaller, in words and as an object.

use serde::Serialize;
use tilework::Result;
use tilework::xla::{ArrayShape, Dim, Layout};
use tilework_audit::{Change, Footprint, Rearranged, Suggestions, Target, suggest};
use tilework_picture::{Line, Look};

use crate::audited::percent;
use crate::page::Page;
use crate::shown::Growing;
use crate::size::{bytes, cause, times};

/// What is said of every layout that nobody has but us: sizes are known here, and what a program does is not.
pub const FOOTPRINT_ONLY: &str = "footprint only: the compiler may need this order";

/// An array and the layouts that it could have, as `tilework suggest --json` prints them.
#[derive(Serialize)]
pub struct Suggested {
    /// The canonical text of what is given.
    pub shape: String,
    /// The name of the target, or its tiles; none where layouts were given instead.
    pub target: Option<String>,
    /// Whether no tiles were given, so that `given` is how the target lays out the same order.
    pub assumed: bool,
    /// What the others are compared with.
    pub given: Cost,
    /// How many layouts are smaller.
    pub smaller: usize,
    /// The smallest layouts, larger ones than the given one too; or the layouts that were asked about.
    pub layouts: Vec<Other>,
    /// Other arrays of the same elements that take much less.
    pub arrays: Vec<OtherArray>,
}

/// A layout and what it costs.
#[derive(Serialize)]
pub struct Cost {
    /// The text of the array with the layout.
    pub shape: String,
    /// What elements take.
    pub element_bytes: u128,
    /// What is allocated.
    pub allocated_bytes: u64,
    /// What makes the padding.
    pub causes: Vec<Growing>,
}

/// Another layout of the array.
#[derive(Serialize)]
pub struct Other {
    /// The layout alone.
    pub layout: String,
    /// Dimension numbers, the most minor first; none where free strides say where elements are.
    pub minor_to_major: Option<Vec<usize>>,
    /// What it costs.
    #[serde(flatten)]
    pub cost: Cost,
    /// Fewer than the given layout; below 0 if more.
    pub saved_bytes: i64,
    /// [`FOOTPRINT_ONLY`]
    pub note: &'static str,
}

/// Another array of the same elements, row-major.
#[derive(Serialize)]
pub struct OtherArray {
    /// `transposed` or `merged`
    pub change: &'static str,
    /// The dimensions of the given array: for `transposed` in their new order, for `merged` those that are one.
    pub dimensions: Vec<usize>,
    /// What it costs.
    #[serde(flatten)]
    pub cost: Cost,
    /// Fewer than the given layout.
    pub saved_bytes: i64,
}

/// What can be said about the layouts of an array.
pub struct Suggesting {
    array: ArrayShape,
    target: Option<Target>,
    found: Suggestions,
}

impl Suggesting {
    /// The layouts of a target, of which the `top` smallest are told.
    ///
    /// # Errors
    /// See [`suggest`].
    pub fn new(array: &ArrayShape, target: &Target, top: usize) -> Result<Suggesting> {
        let mut found = suggest(array, target)?;
        found.layouts.truncate(top);
        Ok(Suggesting { array: array.clone(), target: Some(target.clone()), found })
    }

    /// These layouts, in this order.
    ///
    /// # Errors
    /// A layout that does not fit the array, an unbounded dimension, more bytes than 63 bits can count.
    pub fn what_if(array: &ArrayShape, layouts: &[Layout]) -> Result<Suggesting> {
        let given = Footprint::new(array.clone())?;
        let with = |layout: &Layout| Footprint::new(array.clone().with_layout(layout.clone())?);
        let layouts: Vec<Footprint> = layouts.iter().map(with).collect::<Result<_>>()?;
        let smaller = layouts.iter().filter(|layout| layout.bytes < given.bytes).count();
        let found = Suggestions { given, is_assumed: false, layouts, smaller, arrays: Vec::new() };
        Ok(Suggesting { array: array.clone(), target: None, found })
    }

    /// What was found, as values.
    pub fn found(&self) -> &Suggestions {
        &self.found
    }

    /// The same as an object.
    ///
    /// # Errors
    /// None that [`Suggesting::new`] did not have.
    pub fn object(&self) -> Result<Suggested> {
        let found = &self.found;
        let other = |one: &Footprint| {
            let layout = one.shape.layout();
            let ordered = layout.filter(|layout| layout.strides().is_none());
            Ok(Other {
                layout: braces(&one.shape),
                minor_to_major: ordered.map(|layout| layout.minor_to_major().to_vec()),
                cost: Cost::new(one)?,
                saved_bytes: one.saves(&found.given),
                note: FOOTPRINT_ONLY,
            })
        };
        let array = |one: &Rearranged| {
            let (change, dimensions) = match &one.change {
                Change::Transposed(order) => ("transposed", order.clone()),
                Change::Merged(run) => ("merged", run.clone().collect()),
            };
            let saved_bytes = one.footprint.saves(&found.given);
            Ok(OtherArray { change, dimensions, cost: Cost::new(&one.footprint)?, saved_bytes })
        };
        Ok(Suggested {
            shape: self.array.to_string(),
            target: self.target.as_ref().map(|target| target.name().to_owned()),
            assumed: found.is_assumed,
            given: Cost::new(&found.given)?,
            smaller: found.smaller,
            layouts: found.layouts.iter().map(other).collect::<Result<_>>()?,
            arrays: found.arrays.iter().map(array).collect::<Result<_>>()?,
        })
    }

    /// The same in words, on lines of this width.
    ///
    /// # Errors
    /// None that [`Suggesting::new`] did not have.
    pub fn explain(&self, width: usize, look: Look) -> Result<Vec<Line>> {
        let found = &self.found;
        let mut page = Page::new(width, look);
        page.title(&self.array.to_string());
        page.paragraph(&self.lead());
        page.rows(&self.given()?);
        let told: Vec<&Footprint> = match self.target {
            Some(_) => found.smaller().collect(),
            None => found.layouts.iter().collect(),
        };
        if !told.is_empty() {
            page.heading(FOOTPRINT_ONLY);
            page.text(&table(&told, &found.given));
        }
        let more = found.smaller.saturating_sub(told.len());
        if self.target.is_some() && more > 0 {
            page.text(&format!("and {more} more that {} less", if more == 1 { "takes" } else { "take" }));
        }
        if !found.arrays.is_empty() {
            page.heading("or another array, in row-major order");
            page.rows(&found.arrays.iter().map(|one| self.array_row(one)).collect::<Vec<_>>());
        }
        Ok(page.into_lines())
    }

    /// The sentence that matters.
    fn lead(&self) -> String {
        let given = &self.found.given;
        let have = bytes(given.bytes.into());
        let Some(target) = &self.target else {
            let best = self.found.layouts.iter().min_by_key(|one| one.bytes);
            return best.map_or_else(String::new, |best| compared(best, given));
        };
        let on = on(target);
        let has_tiles = given.shape.layout().is_some_and(|layout| !layout.tiles().is_empty());
        match self.found.layouts.first() {
            _ if given.element_bytes == 0 => "There are no elements, so nothing is allocated.".to_owned(),
            Some(best) if best.bytes < given.bytes => compared(best, given),
            Some(best) if best.bytes > given.bytes && !has_tiles => {
                let (layout, takes) = (braces(&best.shape), bytes(best.bytes.into()));
                format!("No layout {on} is as small as these {have}: {layout} takes {takes}.")
            }
            _ => {
                let factor = times(given.element_bytes, given.bytes.into());
                format!("No order of the dimensions takes less {on}: {have}, {factor} × the elements.")
            }
        }
    }

    /// The layout that the others are compared with.
    fn given(&self) -> Result<Vec<(String, String)>> {
        let given = &self.found.given;
        let factor = times(given.element_bytes, given.bytes.into());
        let mut rows = Vec::new();
        if let (true, Some(target)) = (self.found.is_assumed, &self.target) {
            let usual =
                if target.is_machine() { format!("as usual on {}", target.name()) } else { on(target) };
            let text = format!("{}, {}, since no tiles are written", braces(&given.shape), usual);
            rows.push(("assumed".to_owned(), text));
        }
        rows.push(("elements".to_owned(), bytes(given.element_bytes)));
        rows.push((
            "allocated".to_owned(),
            format!("{}, {factor} × the elements", bytes(given.bytes.into())),
        ));
        let growths = given.shape.lower()?.growths();
        // Of no elements nothing is padding, whatever the tiles.
        let growths = growths.iter().filter(|_| given.element_bytes > 0);
        rows.extend(growths.map(|growth| (String::new(), cause(growth))));
        Ok(rows)
    }

    fn array_row(&self, one: &Rearranged) -> (String, String) {
        let sizes: Vec<String> = self.array.dims().iter().map(size).collect();
        let takes = bytes(one.footprint.bytes.into());
        let text = match &one.change {
            Change::Transposed(order) => {
                let order: Vec<String> =
                    order.iter().map(|&dim| format!("{dim}\u{a0}({})", sizes[dim])).collect();
                format!("{takes}: dimensions in the order {}, in memory as the first above", order.join(", "))
            }
            Change::Merged(run) if run.len() == self.array.rank() => {
                format!("{takes}: all dimensions merged")
            }
            Change::Merged(run) => {
                let word = if run.len() == 2 { "and" } else { "to" };
                let dims = format!("{} {word} {}", run.start, run.end - 1);
                let merged = one.footprint.shape.dims()[run.start];
                let product = sizes[run.clone()].join(" × ");
                format!("{takes}: dimensions {dims} merged, {product} = {}", size(&merged))
            }
        };
        (one.footprint.shape.clone().without_layout().to_string(), text)
    }
}

impl Cost {
    pub(crate) fn new(one: &Footprint) -> Result<Cost> {
        Ok(Cost {
            shape: one.shape.to_string(),
            element_bytes: one.element_bytes,
            allocated_bytes: one.bytes,
            causes: one.shape.lower()?.growths().iter().map(Growing::from).collect(),
        })
    }
}

/// "{0,2,1:T(4,128)} takes 1 GiB instead of 32 GiB: 32 times less."
fn compared(one: &Footprint, given: &Footprint) -> String {
    let layout = braces(&one.shape);
    let (takes, have) = (bytes(one.bytes.into()), bytes(given.bytes.into()));
    let (one, given) = (one.bytes.into(), given.bytes.into());
    match () {
        () if one == given => format!("{layout} takes as much: {takes}."),
        () if one == 0 || given == 0 => format!("{layout} takes {takes} instead of {have}."),
        () if one < given => {
            format!("{layout} takes {takes} instead of {have}: {} times less.", times(one, given))
        }
        () => format!("{layout} takes {takes} instead of {have}: {} times more.", times(given, one)),
    }
}

/// One line a layout: itself, what it takes, how many times the elements, how much less.
fn table(told: &[&Footprint], given: &Footprint) -> String {
    let rows: Vec<[String; 4]> = told
        .iter()
        .map(|one| {
            let factor = format!("{}\u{a0}×", times(one.element_bytes, one.bytes.into()));
            [braces(&one.shape), bytes(one.bytes.into()), factor, change(one.bytes, given.bytes)]
        })
        .collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let [layouts, sizes, factors] = [width(0), width(1), width(2)];
    let line = |[layout, size, factor, change]: &[String; 4]| {
        format!("{layout:layouts$}  {size:sizes$}  {factor:>factors$}  {change}")
    };
    rows.iter().map(line).collect::<Vec<String>>().join("\n")
}

/// Where a layout is looked for: "on tpu".
fn on(target: &Target) -> String {
    match target.is_machine() {
        true => format!("on {}", target.name()),
        false => "with these tiles".to_owned(),
    }
}

/// "97 % less"
fn change(bytes: u64, given: u64) -> String {
    let share = |difference: u64| percent(difference as f64 / given.max(1) as f64);
    match bytes.cmp(&given) {
        std::cmp::Ordering::Less => format!("{}\u{a0}less", share(given - bytes)),
        std::cmp::Ordering::Equal => "as\u{a0}much".to_owned(),
        std::cmp::Ordering::Greater => format!("{}\u{a0}more", share(bytes - given)),
    }
}

/// The text of the layout alone: of a scalar too.
fn braces(shape: &ArrayShape) -> String {
    shape.layout().map_or_else(|| "{}".to_owned(), Layout::to_string)
}

fn size(dim: &Dim) -> String {
    dim.bound().map_or_else(|| "?".to_owned(), |size| size.to_string())
}
