//! Which nest of loops moves an element.

use tilework_core::{Loop, Nest, Plan};

/// Plans of more starting points are not looked through for each cell.
const STARTS: usize = 1 << 12;
/// The most nests that are said in words.
const SAID: usize = 8;

/// The nests of a plan.
pub(crate) struct Nests<'a> {
    nests: &'a [Nest],
    /// Whether there are few enough to be looked through.
    few: bool,
}

impl<'a> Nests<'a> {
    pub(crate) fn new(plan: &'a Plan) -> Nests<'a> {
        let nests = plan.copies();
        let few = nests.iter().map(|nest| nest.starts.len()).sum::<usize>() <= STARTS;
        Nests { nests, few }
    }

    /// The nest that moves from one offset to another; none if it was not found.
    pub(crate) fn of(&self, from: u64, to: u64) -> Option<usize> {
        if !self.few {
            return None;
        }
        let moves = |nest: &&Nest| nest.starts.iter().any(|&start| reaches(&nest.loops, start, (from, to)));
        self.nests.iter().position(|nest| moves(&nest))
    }

    /// Each in words; of many, the first.
    pub(crate) fn words(&self) -> Vec<String> {
        let mut words: Vec<String> =
            self.nests.iter().take(SAID).enumerate().map(|(n, nest)| said(n, nest)).collect();
        if self.nests.len() > SAID {
            words.push(format!("{} more nests", self.nests.len() - SAID));
        }
        words
    }
}

/// `nest 1: 2 × 2 × 4 turns, runs of 2`
fn said(number: usize, nest: &Nest) -> String {
    let run = nest.run();
    let turns: Vec<String> = nest.loops.iter().map(|turn| turn.extent.to_string()).collect();
    let turns =
        if turns.is_empty() { "one element".to_owned() } else { format!("{} turns", turns.join(" × ")) };
    let starts = match nest.starts.len() {
        1 => String::new(),
        starts => format!(" from {starts} places"),
    };
    format!("nest {}: {turns}{starts}, runs of {run}", number + 1)
}

/// Whether loops come by a pair of offsets. They go forward in the destination, the largest stride first, so the number of
/// turns of each is read off what is left; that it is so is seen in the source.
fn reaches(loops: &[Loop], (mut from, start): (u64, u64), (wanted_from, wanted_to): (u64, u64)) -> bool {
    let Some(mut left) = wanted_to.checked_sub(start) else { return false };
    for turn in loops {
        let (step, most) = (turn.to.unsigned_abs(), turn.extent - 1);
        let turns = left.checked_div(step).unwrap_or(0).min(most);
        left -= turns * step;
        let moved = i128::from(from) + i128::from(turn.from) * i128::from(turns);
        let Ok(moved) = u64::try_from(moved) else { return false };
        from = moved;
    }
    left == 0 && from == wanted_from
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilework_core::{Layout, PlanOptions, Result, Swizzle};

    #[test]
    fn every_element_is_found_in_the_nest_that_moves_it() -> Result<()> {
        let rows = |dims: &[u64]| Layout::row_major(dims, 32);
        let tiled = |dims: &[u64], tile: [u64; 2]| {
            let tile = tile.map(Some);
            Layout::builder(dims, 32)?.tile(&tile)?.build()
        };
        let swizzle = Swizzle::new(2, 1, 3)?;
        for (from, to) in [
            (tiled(&[3, 5], [2, 2])?, rows(&[3, 5])?),
            (tiled(&[8, 6], [2, 3])?, tiled(&[8, 6], [2, 2])?),
            (rows(&[4, 6])?, rows(&[6, 4])?.permute(&[1, 0])?),
            (rows(&[4, 6])?.flip(1)?, rows(&[4, 6])?),
            (rows(&[8, 8])?.swizzled(&swizzle)?, rows(&[8, 8])?),
            (rows(&[8, 8])?, rows(&[8, 8])?.swizzled(&swizzle)?),
        ] {
            let plan = Plan::new(&from, &to, &PlanOptions::default())?;
            let nests = Nests::new(&plan);
            let mut moved = 0;
            for (number, nest) in plan.copies().iter().enumerate() {
                nest.for_each(|from, to| {
                    assert_eq!(nests.of(from, to), Some(number), "{from} {to}");
                    moved += 1;
                });
            }
            assert_eq!(moved, from.len());
            assert_eq!(nests.of(0, to.size()), None);
            assert_eq!(nests.words().len(), plan.copies().len().min(SAID + 1));
        }
        Ok(())
    }
}
