//! The common refinement: nests in which both layouts are affine.
//!
//! Both offsets are sums over components that share no dimension, so each component is cut into pieces by itself
//! (`line.rs` where only multiples cut a single dimension, `table.rs` where not), and the nests are all combinations of
//! one piece of each.

use crate::order::InOrder;
use smallvec::{SmallVec, smallvec};

use super::group::{Group, Groups, add};
use super::line::Line;
use super::nest::{Loops, Nest};
use super::table::Table;
use super::tidy::tidy;
use crate::algebra::components::Quotients;
use crate::algebra::linear::{self, Term};
use crate::error::{Error, ErrorKind, Result};
use crate::few::Few;
use crate::layout::Layout;

/// The most nests of a plan.
pub const NEST_LIMIT: u64 = 1 << 12;

/// The most starts of all nests of a plan together.
pub const START_LIMIT: u64 = 1 << 22;

/// The most pieces of one dimension, before equal ones are put together.
const PIECE_LIMIT: usize = 1 << 18;

/// A number of different pieces of one component that is worth reducing first, where that cuts no rows.
const MANY: usize = 16;

/// Every element of the two layouts, which have the same dimensions, once.
pub(super) fn copies(from: &Layout, to: &Layout) -> Result<Vec<Nest>> {
    if from.is_empty() {
        return Ok(Vec::new());
    }
    let mut parts = parts(from, to)?;
    bound(&mut parts)?;
    for groups in &mut parts {
        groups.fold();
    }
    let origin: SmallVec<[u64; 8]> = SmallVec::from_elem(0, from.rank());
    Ok(combine(from.canon().eval(&origin) as i64, to.canon().eval(&origin) as i64, &parts))
}

/// The pieces of each component.
fn parts(from: &Layout, to: &Layout) -> Result<Vec<Groups>> {
    let dims = from.dims();
    let (a, b) = (from.canon(), to.canon());
    if a.is_plain() && b.is_plain() {
        let sizes = dims.iter().enumerate().filter(|(_, size)| **size > 1);
        return sizes
            .map(|(dim, &size)| {
                let line = Line::plain(dim, size, a, b);
                line.groups(PIECE_LIMIT).ok_or_else(too_many_starts)
            })
            .collect();
    }
    let mut table = linear::Table::new(dims);
    let forms = [a, b].map(|canon| table.import(canon.quotients(), canon.form()));
    let quotients = Quotients(table.into_quotients());
    let mut terms: Vec<Term> = forms.iter().flat_map(|form| form.terms.iter().map(|entry| entry.0)).collect();
    terms.order();
    terms.dedup();
    let forms = [&forms[0], &forms[1]];
    let mut components = quotients.components(terms.into_iter());
    components.order_by_key(|component| component.dims[0]);
    let mut parts = Vec::with_capacity(components.len());
    for component in &components {
        parts.push(match Line::of(component, &quotients, forms, dims) {
            Some(line) => line.groups(PIECE_LIMIT).ok_or_else(too_many_starts)?,
            None => Table::new(component, &quotients, forms, dims).groups()?,
        });
    }
    Ok(parts)
}

/// Keeps the combinations within the limits: where pieces of many lengths meet, lengths become powers of two.
fn bound(parts: &mut [Groups]) -> Result<()> {
    let count = |parts: &[Groups]| {
        parts.iter().try_fold(1_u64, |nests, part| nests.checked_mul(part.list.len() as u64))
    };
    let mut halved = vec![false; parts.len()];
    while count(parts).is_none_or(|nests| nests > NEST_LIMIT) {
        let left = (0..parts.len()).filter(|&part| !halved[part]);
        // Rows of neighbours are the last to be cut.
        let worth = |part: &Groups| (part.list.len() > MANY && !part.moves_rows(), part.list.len());
        let Some(most) = left.max_by_key(|&part| worth(&parts[part])) else {
            return Err(Error::new("too many shapes of pieces")
                .of_kind(ErrorKind::Limit)
                .rule(format!("a plan has at most {NEST_LIMIT} nests of loops"))
                .accepts("tiles that divide each other in some of the dimensions"));
        };
        halved[most] = true;
        let fewer = parts[most].halved();
        if fewer.list.len() < parts[most].list.len() {
            parts[most] = fewer;
        }
    }
    let starts = parts.iter().try_fold(1_u64, |starts, part| starts.checked_mul(part.starts()));
    match starts {
        Some(starts) if starts <= START_LIMIT => Ok(()),
        _ => Err(too_many_starts()),
    }
}

#[cold]
pub(super) fn too_many_starts() -> Error {
    Error::new("too many pieces")
        .rule(format!("the nests of a plan start from at most {START_LIMIT} places"))
        .accepts("tiles that divide each other in some of the dimensions")
}

/// All combinations of one group of each part, tidied.
fn combine(from: i64, to: i64, parts: &[Groups]) -> Vec<Nest> {
    let nests: usize = parts.iter().map(|part| part.list.len()).product();
    let mut tidied = Groups::default();
    let mut choice = vec![0_usize; parts.len()];
    let mut single: Vec<Nest> = Vec::with_capacity(nests.min(64));
    for _ in 0..nests {
        let chosen = parts.iter().zip(&choice).map(|(part, &choice)| &part.list[choice]);
        let mut group = join(from, to, chosen);
        let moved = tidy(&mut group.loops);
        group.starts.iter_mut().for_each(|start| *start = add(*start, moved));
        if nests == 1 {
            single.push(nest(group));
            return single;
        }
        for &start in &group.starts {
            tidied.add(&group.loops, start);
        }
        for (choice, part) in choice.iter_mut().zip(parts).rev() {
            *choice += 1;
            if *choice < part.list.len() {
                break;
            }
            *choice = 0;
        }
    }
    single.extend(tidied.list.into_iter().map(nest));
    single
}

fn join<'a>(from: i64, to: i64, chosen: impl Iterator<Item = &'a Group>) -> Group {
    let mut joined = Group { loops: Loops::new(), starts: smallvec![(from, to)] };
    for group in chosen {
        joined.loops.extend_from_slice(&group.loops);
        match group.starts.as_slice() {
            [only] => joined.starts.iter_mut().for_each(|start| *start = add(*start, *only)),
            many => {
                let before = std::mem::take(&mut joined.starts);
                joined
                    .starts
                    .extend(before.iter().flat_map(|&start| many.iter().map(move |&more| add(start, more))));
            }
        }
    }
    joined
}

/// A group as it stands in a plan.
pub(super) fn nest(group: Group) -> Nest {
    Nest {
        starts: group.starts.iter().map(|&(from, to)| (from as u64, to as u64)).collect(),
        loops: Few::of(group.loops),
    }
}
