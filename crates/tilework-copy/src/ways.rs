//! The ways in which a nest can be moved, and which of them are worth a try.
//!
//! ```text
//! by unit loops        a kernel for what is contiguous            crate::choose
//! through a network    several loops, whole lines at a time       crate::net
//! in squares           the same where other loops go on           crate::net
//! by a list            any loops: what goes where in a block      crate::picks
//! one by one           for few elements in the cache
//! ```
//!
//! Which is best is estimated from the lines that each touches ([`crate::cost`]); there is no list of cases.

use crate::choose::by_unit_loops;
use crate::cost::cost;
use crate::kernels::net::{HALF, LANE};
use crate::kernels::vector::LINE;
use crate::nest::ByteNest;
use crate::setting::Setting;
use crate::step::{Step, Work};
use crate::{choose, net, picks};
use tilework_core::InOrder;

/// Rows of this length are copied as fast as can be.
const LONG: usize = 1024;

/// Lines that are touched for each line of the elements, 2 of them being the least, with which there is nothing to look for.
const ENOUGH: f64 = 2.3;

/// What is thought to cost no more than this many times the best may be better: the estimate is that far off.
const CLOSE: f64 = 1.6;

/// Bytes that are moved once before another way than by unit loops can be ready.
const ONCE: f64 = (256 << 10) as f64;

/// What is left of a nest is little if the nest is more than this many times as large: it is not worth the time to look for the
/// best way.
const LITTLE: f64 = 64.0;

/// How many of those are tried, and how many of them may be networks: what they cost is estimated alike, so that the best of them are
/// known better than whether another way is better still.
pub(crate) const CANDIDATES: usize = 4;
const NETWORKS: usize = 2;

/// Ways to move a nest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// By its unit loops.
    Units,
    /// Through a network of lines of this many bytes.
    Network(usize),
    /// In squares of a line of this many bytes by a line.
    Squares(usize),
    /// By a list.
    Picks,
    /// Element by element, in two loops.
    Grid,
}

impl Way {
    /// In the order in which they are looked at.
    pub(crate) const ALL: [Way; 9] = [
        Way::Units,
        Way::Network(LINE),
        Way::Squares(LINE),
        Way::Picks,
        Way::Grid,
        Way::Network(HALF),
        Way::Squares(HALF),
        Way::Network(LANE),
        Way::Squares(LANE),
    ];

    /// The steps that move a nest in this way, or most of it, and what they leave; if it can be. What costs more than the limit need not
    /// be found.
    fn steps(self, nest: &ByteNest, setting: Setting, limit: f64) -> Option<(Vec<Step>, Vec<ByteNest>)> {
        let one = |(step, rest)| (vec![step], rest);
        match self {
            Way::Units => Some((vec![by_unit_loops(nest.clone(), setting)], Vec::new())),
            Way::Network(width) => net::blocks(nest, width, setting).map(one),
            Way::Squares(width) => net::squares(nest, width, setting).map(|step| (vec![step], Vec::new())),
            Way::Picks => picks::picks(nest, setting, limit),
            Way::Grid => Some((vec![choose::grid(nest.clone(), setting)?], Vec::new())),
        }
    }
}

/// Chooses the kernels of a nest: one, or several where a part of the nest is left to another.
pub(crate) fn choose(nest: ByteNest, setting: Setting) -> Vec<Step> {
    candidates(&nest, setting).swap_remove(0)
}

/// The bytes of all elements.
fn bytes_of(nest: &ByteNest) -> f64 {
    let elements: f64 = nest.turns.iter().map(|turn| turn.extent as f64).product();
    elements * (nest.size * nest.starts.len()) as f64
}

/// The better of the two ways that are made in no time.
fn quickly(nest: ByteNest, setting: Setting) -> Vec<Step> {
    let grid = choose::grid(nest.clone(), setting);
    let units = by_unit_loops(nest, setting);
    vec![match grid {
        Some(grid) if cost(&grid, setting) < cost(&units, setting) => grid,
        _ => units,
    }]
}

/// The ways to move a nest that are thought to be the best, or nearly so: the best comes first.
pub(crate) fn candidates(nest: &ByteNest, setting: Setting) -> Vec<Vec<Step>> {
    let bytes = bytes_of(nest);
    let enough = ENOUGH * bytes / LINE as f64;
    if setting.once && bytes < ONCE {
        return vec![vec![by_unit_loops(nest.clone(), setting)]];
    }
    let mut found: Vec<(f64, Vec<Step>)> = Vec::new();
    let mut least = f64::INFINITY;
    let total = |steps: &[Step]| steps.iter().map(|step| cost(step, setting)).sum::<f64>();
    for way in Way::ALL {
        let is_it = setting.only == Some(way);
        let limit = if is_it { f64::INFINITY } else { least * CLOSE };
        let Some((mut steps, rest)) = way.steps(nest, setting, limit) else { continue };
        if is_it || total(&steps) < limit {
            let any = Setting { only: None, ..setting };
            for rest in rest {
                let is_little = bytes_of(&rest) * LITTLE < bytes;
                steps.extend(if is_little { quickly(rest, any) } else { choose(rest, any) });
            }
            let total = if is_it { 0.0 } else { total(&steps) };
            least = least.min(total);
            found.push((total, steps));
        }
        if is_it || setting.only.is_none() && (least <= enough || found.iter().any(|one| is_simple(&one.1))) {
            break;
        }
    }
    found.retain(|one| one.0 <= least * CLOSE);
    found.order_by(|one, other| one.0.total_cmp(&other.0));
    let mut networks = 0;
    found.retain(|one| {
        let is_network = matches!(one.1[0].work, Work::Network(_));
        networks += usize::from(is_network);
        !is_network || networks <= NETWORKS
    });
    found.truncate(if setting.once { 1 } else { CANDIDATES });
    let fetching = |steps: Vec<Step>| {
        if setting.fetches { steps.into_iter().map(net::fetching).collect() } else { steps }
    };
    found.into_iter().map(|one| fetching(one.1)).collect()
}

/// Whether nothing could be better.
fn is_simple(steps: &[Step]) -> bool {
    steps.iter().all(|step| match step.work {
        Work::Whole { .. } => true,
        // One element everywhere, or so often that a call is worth it.
        Work::Splat { .. } => step.weight >= LONG || step.outer.iter().all(|outer| outer.turn.from == 0),
        Work::Copy { length, .. } => length >= LONG,
        _ => false,
    })
}
