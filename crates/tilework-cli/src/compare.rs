//! `compare`: the four senses of "the same", and what would move.

use std::ffi::OsString;

use tilework::{Kind, Layout, Plan, PlanOptions, Result, Verdict};
use tilework_explain::{Moves, Row, Subject, size};
use tilework_picture::shared_run;

use crate::NO;
use crate::args::{Args, Sense};
use crate::input;
use crate::json;
use crate::output::{Output, Stop};
use crate::subject::{self, Bad};

/// The longest run that is counted.
const LONGEST_RUN: u64 = 1 << 12;

/// Compares the one with each of the others.
pub fn compare(
    a: &OsString,
    b: &OsString,
    sense: Sense,
    args: &Args,
    output: &mut Output,
) -> Result<(), Stop> {
    let read = |text: &str| {
        let subject = subject::read_one(text, args)?;
        let layout = subject.layout(text).map_err(|error| Bad::new(error, text))?;
        Ok(Side { subject, layout })
    };
    let a = input::argument(a).map_err(|error| Bad::new(error, &a.to_string_lossy())).and_then(read);
    let a = match a {
        Ok(a) => a,
        Err(bad) => return output.bad(&bad.error, &bad.text, None),
    };
    input::texts(std::slice::from_ref(b), output, |text, line, output| match read(text) {
        Ok(b) => Comparison::new(&a, &b).say(sense, output),
        Err(bad) => output.bad(&bad.error, &bad.text, line),
    })
}

struct Side {
    subject: Subject,
    layout: Layout,
}

struct Comparison<'a> {
    sides: [&'a Side; 2],
    function: Verdict,
    buffer: Verdict,
    reshape: Verdict,
    transpose: Verdict,
    run: Option<u64>,
    /// The copy, where the dimensions agree.
    plan: Option<Result<Plan>>,
}

impl<'a> Comparison<'a> {
    fn new(a: &'a Side, b: &'a Side) -> Comparison<'a> {
        let options = PlanOptions { fill: None, converts: true };
        let agree = a.layout.dims() == b.layout.dims();
        Comparison {
            plan: agree.then(|| Plan::new(&a.layout, &b.layout, &options)),
            sides: [a, b],
            function: a.layout.same_function(&b.layout),
            buffer: a.layout.same_buffer(&b.layout),
            reshape: a.layout.reshape_bitcast(&b.layout),
            transpose: a.layout.transpose_bitcast(&b.layout),
            run: shared_run(&a.layout, &b.layout, LONGEST_RUN),
        }
    }

    fn say(&self, sense: Sense, output: &mut Output) -> Result<(), Stop> {
        let (name, verdict) = match sense {
            Sense::Function => ("function", &self.function),
            Sense::Buffer => ("buffer", &self.buffer),
            Sense::Reshape => ("reshape", &self.reshape),
            Sense::Transpose => ("transpose", &self.transpose),
        };
        if !verdict.is_yes() {
            output.exit_with(NO);
        }
        match output.json {
            true => output.object(&self.object(name, verdict.is_yes()))?,
            false => self.page(output)?,
        }
        match verdict {
            Verdict::NotDecided(why) => output.note(&format!("not decided, so the exit code is {NO}: {why}")),
            _ => Ok(()),
        }
    }

    fn object(&self, sense: &'static str, holds: bool) -> json::Compared {
        let [a, b] = self.sides.map(|side| side.subject.to_string());
        json::Compared {
            a,
            b,
            function: answer(&self.function),
            buffer: answer(&self.buffer),
            reshape: answer(&self.reshape),
            transpose: answer(&self.transpose),
            sense,
            holds,
            shared_run: self.run,
            moves: self.plan.as_ref().and_then(|plan| Some(Moves::new(plan.as_ref().ok()?))),
        }
    }

    fn page(&self, output: &mut Output) -> Result<(), Stop> {
        let mut page = output.new_page();
        page.label = "transpose-bitcast".len();
        let [a, b] = self.sides.map(|side| side.subject.to_string());
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
        let mut moves = self.differences();
        moves.extend(self.movement());
        page.rows(&moves);
        output.page(&page)
    }

    /// What the texts say differently.
    fn differences(&self) -> Vec<Row> {
        let [a, b] = self.sides.map(|side| side.subject.as_array());
        let descs = self.sides.map(|side| side.subject.as_desc());
        let mut rows = Vec::new();
        let mut differ = |name: &str, a: String, b: String| {
            if a != b {
                rows.push((name.to_owned(), format!("{a} in A, {b} in B")));
            }
        };
        if let [Some(a), Some(b)] = descs {
            differ("data type", a.data_type().to_string(), b.data_type().to_string());
        }
        let (Some(a), Some(b)) = (a, b) else { return rows };
        differ("element type", a.element_type().to_string(), b.element_type().to_string());
        let (Some(a), Some(b)) = (a.layout(), b.layout()) else { return rows };
        let ordered = a.strides().is_none() && b.strides().is_none();
        if ordered && a.rank() == b.rank() {
            let order = |layout: &tilework::xla::Layout| {
                let order: Vec<String> = layout.minor_to_major().iter().map(usize::to_string).collect();
                format!("{{{}}}", order.join(","))
            };
            differ("minor to major", order(a), order(b));
        }
        let tiles = |layout: &tilework::xla::Layout| match layout.tiles() {
            [] => "none".to_owned(),
            tiles => format!("T{}", tiles.iter().map(ToString::to_string).collect::<String>()),
        };
        differ("tiles", tiles(a), tiles(b));
        differ("memory space", a.memory_space().to_string(), b.memory_space().to_string());
        rows
    }

    /// What a copy from one to the other does.
    fn movement(&self) -> Option<Row> {
        let moves = |text: String| Some(("to get B from A".to_owned(), text));
        if self.buffer.is_yes() {
            return moves("nothing moves".to_owned());
        }
        if self.function.is_yes() {
            return moves("no element moves; only the allocated size differs".to_owned());
        }
        let [a, b] = self.sides;
        if a.layout.dims() != b.layout.dims() {
            return match (self.reshape.is_yes(), self.transpose.is_yes()) {
                (true, _) => moves("nothing moves: the same buffer under other dimensions".to_owned()),
                (_, true) => moves("nothing moves, if the dimensions are permuted as well".to_owned()),
                _ => None,
            };
        }
        match self.plan.as_ref()? {
            Ok(plan) => moves(movement(plan)?),
            Err(error) => moves(format!("no copy: {error}")),
        }
    }
}

/// What a plan does, in one sentence.
fn movement(plan: &Plan) -> Option<String> {
    let figures = plan.figures();
    let bits = u128::from(plan.to().bits());
    let bytes = |elements: u64| size::bytes((u128::from(elements) * bits).div_ceil(8));
    let nests = if figures.nests == 1 { "nest" } else { "nests" };
    let how = match plan.main_kind()? {
        Kind::Single => "one by one".to_owned(),
        Kind::Rows => format!("rows of up to {} ({})", figures.longest_run, bytes(figures.longest_run)),
        kind => kind.to_string(),
    };
    let most = if figures.nests > 1 { "mostly " } else { "" };
    Some(format!("{} move in {} {nests} of loops: {most}{how}", bytes(figures.elements), figures.nests))
}

fn answer(verdict: &Verdict) -> json::Answer {
    let answer = match verdict {
        Verdict::Yes => "yes",
        Verdict::No(_) => "no",
        Verdict::NotDecided(_) => "not decided",
    };
    json::Answer { answer, reason: verdict.reason().map(str::to_owned) }
}
