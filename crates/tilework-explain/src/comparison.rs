//! The four senses of "the same", and what would move.

use serde::Serialize;
use tilework::dialect::{Axes, Described, Part};
use tilework::{Difference, Kind, Layout, Plan, PlanOptions, Result, Verdict};
use tilework_picture::{Line, Look, shared_run};

use crate::page::{Page, Row};
use crate::planned::Moves;
use crate::size;

/// The longest run that is counted.
const LONGEST_RUN: u64 = 1 << 12;

/// A sense in which two layouts can be the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sense {
    /// Each index has the same offset in both.
    Function,
    /// The same function, allocated size and element bits.
    Buffer,
    /// The same buffer after a reshape.
    Reshape,
    /// The same buffer after a permutation and a reshape.
    Transpose,
}

impl Sense {
    /// The name, in one word.
    pub fn name(self) -> &'static str {
        match self {
            Sense::Function => "function",
            Sense::Buffer => "buffer",
            Sense::Reshape => "reshape",
            Sense::Transpose => "transpose",
        }
    }
}

/// How two layouts, A and B, compare.
pub struct Comparison<'a> {
    said: [&'a dyn Described; 2],
    layouts: [&'a Layout; 2],
    function: Verdict,
    buffer: Verdict,
    reshape: Verdict,
    transpose: Verdict,
    /// The same function of the number of an element with the first dimension fastest, where both notations number so.
    flat: Option<Verdict>,
    run: Option<u64>,
    /// The copy, where the dimensions agree.
    plan: Option<Result<Plan>>,
}

impl<'a> Comparison<'a> {
    /// Compares two layouts in every sense; `said` is what they were read from.
    pub fn new(said: [&'a dyn Described; 2], layouts: [&'a Layout; 2]) -> Comparison<'a> {
        let options = PlanOptions { fill: None, converts: true };
        let [a, b] = layouts;
        let agree = a.dims() == b.dims();
        Comparison {
            plan: agree.then(|| Plan::new(a, b, &options)),
            said,
            layouts,
            function: a.same_function(b),
            buffer: a.same_buffer(b),
            reshape: a.reshape_bitcast(b),
            transpose: a.transpose_bitcast(b),
            flat: (!agree && said.iter().all(|said| said.counts_first_fastest()))
                .then(|| first_fastest(a, b)),
            run: shared_run(a, b, LONGEST_RUN),
        }
    }

    /// The answer in one sense.
    pub fn verdict(&self, sense: Sense) -> &Verdict {
        match sense {
            Sense::Function => &self.function,
            Sense::Buffer => &self.buffer,
            Sense::Reshape => &self.reshape,
            Sense::Transpose => &self.transpose,
        }
    }

    /// All of it as an object, with the sense that decides.
    pub fn object(&self, sense: Sense) -> Compared {
        let [a, b] = self.said.map(|said| said.to_string());
        Compared {
            a,
            b,
            function: Answer::new(&self.function),
            buffer: Answer::new(&self.buffer),
            reshape: Answer::new(&self.reshape),
            transpose: Answer::new(&self.transpose),
            flat_index: self.flat.as_ref().map(Answer::new),
            axes: self.axes().map(|axes| axes.names().to_vec()),
            in_memory: self.orders().map(|orders| orders.map(|order| self.names(&order))),
            sense: sense.name(),
            holds: self.verdict(sense).is_yes(),
            shared_run: self.run,
            moves: self.plan.as_ref().and_then(|plan| Some(Moves::new(plan.as_ref().ok()?))),
        }
    }

    /// All of it in words, no line wider than `width` columns.
    pub fn explain(&self, width: usize, look: Look) -> Vec<Line> {
        let mut page = Page::new(width, look);
        page.label = "transpose-bitcast".len();
        let [a, b] = self.said.map(|said| said.to_string());
        page.rows(&[("A".to_owned(), a), ("B".to_owned(), b)]);
        let verdict = |verdict: &Verdict, yes: &str| match verdict {
            Verdict::Yes => format!("yes: {yes}"),
            other => other.to_string(),
        };
        page.rows(&[
            ("same function".to_owned(), verdict(&self.function, "every index has the same offset in both")),
            ("same buffer".to_owned(), verdict(&self.buffer, "and as much is allocated")),
            (
                "reshape-bitcast".to_owned(),
                verdict(&self.reshape, "A's buffer, read as B, holds the same elements in row-major order"),
            ),
            (
                "transpose-bitcast".to_owned(),
                verdict(
                    &self.transpose,
                    "A's buffer is B's after some permutation and reshape of the dimensions",
                ),
            ),
        ]);
        if let Some(flat) = &self.flat {
            let words = match flat {
                Verdict::Yes => {
                    "yes: with the first mode fastest, as CuTe numbers elements, both are one function"
                        .to_owned()
                }
                // The index is that of the turned dimensions.
                Verdict::No(Difference::Element { .. }) => {
                    "no: with the first mode fastest, as CuTe numbers elements, they differ".to_owned()
                }
                other => other.to_string(),
            };
            page.rows(&[("flat index".to_owned(), words)]);
        }
        if let Some(row) = self.by_name() {
            page.rows(&[row]);
        }
        let mut moves = self.differences();
        moves.extend(self.movement());
        page.rows(&moves);
        page.into_lines()
    }

    /// The names that both sides have.
    fn axes(&self) -> Option<&Axes> {
        self.said[0].axes().filter(|axes| self.said[1].axes() == Some(axes))
    }

    /// The named dimensions of both in the order of memory.
    fn orders(&self) -> Option<[Vec<usize>; 2]> {
        self.axes()?;
        let [a, b] = self.layouts.map(in_memory);
        Some([a?, b?])
    }

    /// The names of these dimensions.
    fn names(&self, dims: &[usize]) -> Vec<String> {
        let names = self.axes().map_or(&[][..], Axes::names);
        dims.iter().filter_map(|&dim| names.get(dim).cloned()).collect()
    }

    /// In which order the named dimensions lie in memory, and which change places.
    fn by_name(&self) -> Option<Row> {
        let [a, b] = self.orders()?.map(|order| self.names(&order));
        let [all_a, all_b] = [a.join(", "), b.join(", ")];
        let moved: Vec<&String> = a.iter().zip(&b).filter(|(a, b)| a != b).map(|(a, _)| a).collect();
        let what = match moved[..] {
            _ if a.len() != b.len() => format!("{all_a} in A; {all_b} in B, major to minor"),
            [] => format!("{all_a} in both, major to minor"),
            [x, y] => format!("{x} and {y} change places: {all_a} in A; {all_b} in B"),
            _ => format!("{all_a} in A; {all_b} in B, major to minor"),
        };
        Some(("in memory".to_owned(), what))
    }

    /// What the texts say differently: every piece where they are in one notation, and else the type of the elements.
    fn differences(&self) -> Vec<Row> {
        let [a, b] = self.said;
        let mut rows = Vec::new();
        let mut differ = |name: &str, a: &str, b: &str| {
            if a != b {
                let or_none = |text: &str| if text.is_empty() { "none".to_owned() } else { text.to_owned() };
                rows.push((name.to_owned(), format!("{} in A, {} in B", or_none(a), or_none(b))));
            }
        };
        if a.dialect() != b.dialect() {
            let name =
                |said: &dyn Described| said.element().map(|element| element.to_string()).unwrap_or_default();
            differ("element type", &name(a), &name(b));
            return rows;
        }
        let parts = [a.parts(None), b.parts(None)];
        let mut names: Vec<&str> = Vec::new();
        for part in parts.iter().flatten() {
            if !names.contains(&part.name) {
                names.push(part.name);
            }
        }
        for name in names {
            let text = |parts: &[Part]| {
                parts
                    .iter()
                    .filter(|part| part.name == name)
                    .map(|part| part.text.as_str())
                    .collect::<String>()
            };
            let [a, b] = [text(&parts[0]), text(&parts[1])];
            // Who does not write the sizes of an array says them otherwise.
            if name != "dimensions" || !(a.is_empty() || b.is_empty()) {
                differ(name, &a, &b);
            }
        }
        rows
    }

    /// From which type to which, where both sides say one.
    fn types(&self) -> String {
        match self.said.map(|said| said.element()) {
            [Some(from), Some(to)] => format!(" from {from} to {to}"),
            _ => format!(" from {} to {} bits", self.layouts[0].bits(), self.layouts[1].bits()),
        }
    }

    /// What a copy from one to the other does.
    fn movement(&self) -> Option<Row> {
        let moves = |text: String| Some(("to get B from A".to_owned(), text));
        if self.buffer.is_yes() {
            return moves("nothing moves".to_owned());
        }
        let [a, b] = self.layouts;
        if self.function.is_yes() && a.bits() == b.bits() {
            return moves("no element moves; only the allocated size differs".to_owned());
        }
        if a.dims() != b.dims() {
            if self.flat.as_ref().is_some_and(Verdict::is_yes) {
                return moves("nothing moves: the same buffer under other modes".to_owned());
            }
            return match (self.reshape.is_yes(), self.transpose.is_yes()) {
                (true, _) => moves("nothing moves: the same buffer under other dimensions".to_owned()),
                (_, true) => moves("nothing moves, if the dimensions are permuted as well".to_owned()),
                _ => None,
            };
        }
        match self.plan.as_ref()? {
            Ok(_) if self.function.is_yes() => moves(format!(
                "every element keeps its place in the order, and has to be converted{} (--convert)",
                self.types()
            )),
            Ok(plan) if a.bits() != b.bits() => moves(format!(
                "{}; elements have to be converted{} (--convert)",
                movement(plan)?,
                self.types()
            )),
            Ok(plan) => moves(movement(plan)?),
            Err(error) => moves(format!("no copy: {error}")),
        }
    }
}

/// Whether elements with the same number are at the same place, where the first dimension is the fastest: a reshape by the
/// other order of the dimensions.
fn first_fastest(a: &Layout, b: &Layout) -> Verdict {
    let turned = |layout: &Layout| layout.permute(&(0..layout.rank()).rev().collect::<Vec<usize>>());
    match (turned(a), turned(b)) {
        (Ok(a), Ok(b)) => a.reshape_bitcast(&b),
        (Err(error), _) | (_, Err(error)) => Verdict::NotDecided(error.to_string()),
    }
}

/// The dimensions of more than one element in the order of memory, the most major first; none where one stride for each
/// does not say it.
fn in_memory(layout: &Layout) -> Option<Vec<usize>> {
    let strides = layout.to_strides().ok()?.strides;
    let mut order: Vec<usize> = (0..layout.rank()).filter(|&dim| layout.dims()[dim] > 1).collect();
    if order.iter().any(|&dim| strides[dim] == 0) {
        return None;
    }
    order.sort_by_key(|&dim| std::cmp::Reverse(strides[dim].unsigned_abs()));
    Some(order)
}

/// What a plan does, in one sentence.
fn movement(plan: &Plan) -> Option<String> {
    let figures = plan.figures();
    let bits = u128::from(plan.to().bits());
    let bytes = |elements: u64| size::bytes((u128::from(elements) * bits).div_ceil(8));
    let nests = if figures.nests == 1 { "nest" } else { "nests" };
    let how = match plan.main_kind()? {
        Kind::Single => "one by one".to_owned(),
        Kind::Rows if figures.runs * figures.longest_run == figures.elements => {
            format!("{} runs of {} ({})", figures.runs, figures.longest_run, bytes(figures.longest_run))
        }
        Kind::Rows => {
            format!("{} runs of up to {} ({})", figures.runs, figures.longest_run, bytes(figures.longest_run))
        }
        kind => kind.to_string(),
    };
    let most = match plan.main_kind() {
        Some(Kind::Rows) | None => "",
        _ if figures.nests > 1 => "mostly ",
        _ => "",
    };
    Some(format!("{} move in {} {nests} of loops: {most}{how}", bytes(figures.elements), figures.nests))
}

/// A comparison, as `tilework compare --json` prints it.
#[derive(Serialize)]
pub struct Compared {
    /// The one.
    pub a: String,
    /// The other.
    pub b: String,
    /// Whether each index has the same offset in both.
    pub function: Answer,
    /// Whether as much is allocated, too.
    pub buffer: Answer,
    /// Whether it is the same buffer after a reshape.
    pub reshape: Answer,
    /// Whether it is the same buffer after a permutation and a reshape.
    pub transpose: Answer,
    /// Whether elements with the same number, the first dimension the fastest, have the same place; null unless both texts
    /// are of notations that number so, such as CuTe, with different dimensions.
    pub flat_index: Option<Answer>,
    /// The names of the dimensions, where they were given.
    pub axes: Option<Vec<String>>,
    /// These names in the order of memory of A and of B, the most major first, without dimensions of one element; null
    /// without names, and where one stride for each dimension does not say it.
    pub in_memory: Option<[Vec<String>; 2]>,
    /// The sense that decides the exit code.
    pub sense: &'static str,
    /// Whether the answer in this sense is yes.
    pub holds: bool,
    /// Elements that lie side by side in the same order in both, from the first on; null if the dimensions differ.
    pub shared_run: Option<u64>,
    /// What moves from A to B; null if nothing can.
    pub moves: Option<Moves>,
}

/// An answer and its reason.
#[derive(Serialize)]
pub struct Answer {
    /// "yes", "no" or "not decided"
    pub answer: &'static str,
    /// Null if the answer is yes.
    pub reason: Option<String>,
}

impl Answer {
    fn new(verdict: &Verdict) -> Answer {
        let answer = match verdict {
            Verdict::Yes => "yes",
            Verdict::No(_) => "no",
            _ => "not decided",
        };
        Answer { answer, reason: verdict.reason() }
    }
}
