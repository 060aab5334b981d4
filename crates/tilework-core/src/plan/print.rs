//! A plan as text, within 80 columns.

use std::fmt;

use super::Plan;
use super::nest::Nest;
use crate::error::counted;

/// Nests that are written out; of more, the number is told.
const SHOWN: usize = 12;

/// What happens and how much, then each nest with its loops.
///
/// ```
/// use tilework::{Layout, Plan, PlanOptions};
/// let tiled = Layout::builder(&[4, 6], 32)?.tile(&[Some(2), Some(3)])?.build()?;
/// let plan = Plan::new(&tiled, &Layout::row_major(&[4, 6], 32)?, &PlanOptions::default())?;
/// assert_eq!(plan.to_string(), "\
/// moves 24 elements, 96 B
/// in 1 nest of loops: 8 runs of 12 B
///
/// nest 1: 24 elements, rows of 12 B
///   from 0 to 0
///     2 times  from +12  to +12
///     2 times  from +3   to +6
///     2 times  from +6   to +3
///     3 times  from +1   to +1");
/// # Ok::<(), tilework::Error>(())
/// ```
impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let figures = self.figures();
        if figures.elements == 0 {
            f.write_str("moves nothing")?;
        } else {
            let run = bytes(figures.longest_run, self.to.bits());
            let up_to = if figures.runs * figures.longest_run == figures.elements { "" } else { "up to " };
            write!(
                f,
                "moves {}, {}\nin {} of loops: {} of {up_to}{run}",
                counted(figures.elements, "element"),
                bytes(figures.elements, self.to.bits()),
                counted(figures.nests as u64, "nest"),
                counted(figures.runs, "run"),
            )?;
        }
        if figures.filled > 0 {
            let filled = bytes(figures.filled, self.to.bits());
            let value = self.options.fill.unwrap_or(0);
            match self.fills_first {
                true => write!(f, "\nfills all {filled} of the destination with {value:#x} before that")?,
                false => write!(f, "\nfills {filled} of padding with {value:#x}")?,
            }
        }
        self.nests(f, "nest", &self.copies)?;
        self.nests(f, "fill", &self.fills)
    }
}

impl Plan {
    fn nests(&self, f: &mut fmt::Formatter<'_>, noun: &str, nests: &[Nest]) -> fmt::Result {
        for (number, nest) in (1..).zip(nests.iter().take(SHOWN)) {
            write!(f, "\n\n{noun} {number}: {}", counted(nest.elements(), "element"))?;
            if noun == "nest" {
                write!(f, ", {}", nest.kind())?;
                if nest.run() > 1 {
                    write!(f, " of {}", bytes(nest.run(), self.to.bits()))?;
                }
            }
            loops(f, nest, noun == "nest")?;
        }
        match nests.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            left => {
                let elements = nests[SHOWN..].iter().map(Nest::elements).sum();
                write!(f, "\n\n… and {left} more, {}", counted(elements, "element"))
            }
        }
    }
}

/// Starts and loops, numbers in columns.
fn loops(f: &mut fmt::Formatter<'_>, nest: &Nest, reads: bool) -> fmt::Result {
    let start =
        |(from, to): (u64, u64)| if reads { format!("from {from} to {to}") } else { format!("to {to}") };
    let first = nest.starts.first().map_or_else(String::new, |&first| start(first));
    match nest.starts.as_slice() {
        [] | [_] => write!(f, "\n  {first}")?,
        [_, others @ ..] => {
            write!(f, "\n  {first}, and {}", counted(others.len() as u64, "more start"))?;
        }
    }
    let width =
        |each: &dyn Fn(usize) -> String| (0..nest.loops.len()).map(|k| each(k).len()).max().unwrap_or(0);
    let extent = |k: usize| nest.loops[k].extent.to_string();
    let from = |k: usize| format!("{:+}", nest.loops[k].from);
    let (extents, froms) = (width(&extent), width(&from));
    for (k, each) in nest.loops.iter().enumerate() {
        write!(f, "\n    {:>extents$} times  ", extent(k))?;
        if reads {
            write!(f, "from {:<froms$}  ", from(k))?;
        }
        write!(f, "to {:+}", each.to)?;
    }
    Ok(())
}

/// A number of elements in bytes, with a unit that keeps the number readable and exact, or rounded to two places.
fn bytes(elements: u64, bits: u32) -> String {
    let bits = u128::from(elements) * u128::from(bits);
    if !bits.is_multiple_of(8) {
        return format!("{bits} bits");
    }
    let bytes = bits / 8;
    let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let unit = (0..units.len()).rev().find(|unit| bytes >= 1 << (10 * unit)).unwrap_or(0);
    match bytes.is_multiple_of(1 << (10 * unit)) {
        true => format!("{} {}", bytes >> (10 * unit), units[unit]),
        false => format!("{:.2} {}", bytes as f64 / (1_u64 << (10 * unit)) as f64, units[unit]),
    }
}
