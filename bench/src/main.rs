//! Measures Tilework, and its rivals in the same run, and prints the tables of `COMPARE.md`.
//!
//! `cargo xtask bench [PART …]` builds everything and calls this.
#![forbid(unsafe_code)]

mod jaxlib;
mod offset;
mod plan;
mod reading;
mod rounds;
mod show;
mod size;
mod walk;

use std::path::PathBuf;
use std::process::ExitCode;

use rounds::Failure;

/// The shape that stands for all typical ones: four dimensions, a permuted order, two tile levels.
const TYPICAL: &str = "bf16[4,20,1000,30]{2,0,3,1:T(8,128)(2,1)}";

/// The same with 2.4·10^15 elements.
const HUGE: &str = "bf16[4,20000000,1000000,30]{2,0,3,1:T(8,128)(2,1)}";

/// What is measured where.
#[derive(Default)]
struct Setting {
    /// A Python that has jaxlib.
    python: Option<PathBuf>,
    /// The `tilework` command.
    tilework: Option<PathBuf>,
}

/// Prints one table.
type Part = fn(&Setting) -> Result<(), Failure>;

const PARTS: [(&str, &str, Part); 6] = [
    ("reading", "Reading the text of a shape", reading::run),
    ("offset", "From an index to an offset", offset::run),
    ("walk", "Walking all elements in memory order", walk::run),
    ("size", "Cost against the size of the array", size::run),
    ("plan", "Planning a copy", plan::run),
    ("show", "The command, from start to end", show::run),
];

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("tilework-bench: {why}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Failure> {
    let mut setting = Setting::default();
    let mut chosen = Vec::new();
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--python" => setting.python = words.next().map(PathBuf::from),
            "--tilework" => setting.tilework = words.next().map(PathBuf::from).filter(|path| path.is_file()),
            part if PARTS.iter().any(|(name, ..)| *name == part) => chosen.push(word),
            other => {
                let names = PARTS.map(|(name, ..)| name).join(", ");
                return Err(format!("no part `{other}`; there are {names}"));
            }
        }
    }
    println!("tilework {} on {}", env!("CARGO_PKG_VERSION"), processor());
    for (name, title, part) in PARTS {
        if chosen.is_empty() || chosen.iter().any(|word| word == name) {
            println!("\n### {title}\n\n`cargo xtask bench {name}`\n");
            part(&setting).map_err(|why| format!("{name}: {why}"))?;
        }
    }
    Ok(())
}

/// The name of the processor, where the system tells it.
fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    name.map_or(std::env::consts::ARCH, |(_, name)| name).to_owned()
}

/// The layout of a shape.
fn lower(text: &str) -> Result<tilework::Layout, Failure> {
    let shape = tilework::xla::Shape::parse(text).map_err(|error| error.report(text).to_string())?;
    let array = shape.as_array().ok_or_else(|| format!("{text} is no array"))?;
    array.lower().map_err(|error| error.to_string())
}

/// Numbers that look random and are the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) % limit
    }
}
