//! Two layouts: how they compare, and what moves from the one to the other.

use serde::Serialize;
use tilework::dialect::{Known, Reading, Said, beside};
use tilework::{Error, Layout, Plan, PlanOptions};
use tilework_explain::{Compared, Comparison, Sense, explain_plan};

use crate::layout::Look;

/// Columns of the texts.
const WIDTH: usize = 80;

/// The answer, or an error and the text that it is about.
pub type Outcome<T> = Result<T, (Error, String)>;

/// What there is to say of two layouts.
#[derive(Serialize)]
pub struct Two {
    compared: Compared,
    /// As `tilework compare` prints it.
    words: String,
    /// As `tilework plan` prints it; none where nothing can be moved.
    plan: Option<String>,
    /// Why nothing can be moved.
    no_plan: Option<String>,
    svgs: [String; 2],
    /// For each place of B that the picture may show: the place in A that its element comes from.
    moves: Vec<(u64, u64)>,
}

/// The most elements whose way is shown.
const SHOWN: u64 = 4096;

/// Compares two texts; what the second does not say of sizes and type, it has from the first.
pub fn answer(a: &str, b: &str, look: &Look) -> Outcome<Two> {
    let (said_a, layout_a) = read(a, Known::default())?;
    let known = Known { dims: Some(layout_a.dims()), element: said_a.element(), strict: false };
    let (said_b, layout_b) = read(b, known)?;
    let comparison = Comparison::new([&*said_a, &*said_b], [&layout_a, &layout_b]);
    let texts = [said_a.to_string(), said_b.to_string()];
    let made = plan([&said_a, &said_b], [&layout_a, &layout_b]);
    let lines = |lines: Vec<tilework_explain::Line>| {
        lines.iter().map(ToString::to_string).collect::<Vec<String>>().join("\n")
    };
    let [text_a, text_b] = texts.each_ref().map(String::as_str);
    Ok(Two {
        compared: comparison.object(Sense::Function),
        words: lines(comparison.explain(WIDTH, tilework_explain::Look::default())),
        plan: made.as_ref().ok().map(|plan| {
            lines(explain_plan([text_a, text_b], plan, None, WIDTH, tilework_explain::Look::default()))
        }),
        no_plan: made.err().map(|error| error.to_string()),
        svgs: [look.figure(&*said_a, &layout_a), look.figure(&*said_b, &layout_b)],
        moves: moves(&layout_a, &layout_b),
    })
}

fn read(text: &str, known: Known) -> Outcome<(Said, Layout)> {
    let said = beside(known, |known| Reading::knowing(known).read_one(text));
    let said = said.map_err(|error| (error, text.to_owned()))?;
    let layout = said.layout().map_err(|error| (error.or_at(0..text.len()), text.to_owned()))?;
    Ok((said, layout))
}

fn plan(said: [&Said; 2], [a, b]: [&Layout; 2]) -> Result<Plan, Error> {
    let [from, to] = said.map(|said| said.element());
    if from != to && a.bits() != b.bits() {
        return Err(Error::new("the elements have different types"));
    }
    Plan::new(a, b, &PlanOptions { fill: None, converts: false })
}

/// Which place goes where, for arrays that are small enough to be seen.
fn moves(a: &Layout, b: &Layout) -> Vec<(u64, u64)> {
    if a.dims() != b.dims() || a.len() > SHOWN {
        return Vec::new();
    }
    let mut all = Vec::new();
    for offset in 0..b.size().min(SHOWN * 4) {
        if let Ok(tilework::Place::Element(index)) = b.locate(offset)
            && let Ok(from) = a.offset(&index)
        {
            all.push((from, offset));
        }
    }
    all
}
