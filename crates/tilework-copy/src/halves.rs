//! Nests of elements of 4 bits that are no nests of bytes, by lists: places count halves of bytes.
//!
//! A list writes whole bytes. Where rows of the destination begin and end in the middle of a byte, as they do in turn where there is an odd
//! number of elements in each, the elements at both ends are left to others:
//!
//! ```text
//! bytes     | 0 0 | 0 0 | 0 1 | 1 1 | 1 1 | 2 2 | …      rows of five elements
//! by lists  | 0 0 | 0 0 |     | 1 1 | 1 1 | 2 2 | …      every second row, and those between
//! ```

use tilework_core::Nest;

use crate::kernels::vector::LINE;
use crate::nest::{ByteNest, Turn};
use crate::picks;
use crate::setting::Setting;
use crate::step::Step;

/// Two loops of at least this many turns, each of which moves one element on one side only, can be transposed.
const LONG: usize = 16;

/// What a line of a transposed nest costs about, in lines that are touched.
const TRANSPOSED: f64 = 11.0;

/// Rows that are worth it: fewer elements of them are left than an eighth.
const LEAST_ROW: usize = 32;

/// Loops that are taken apart at most: each of them gives two nests.
const APART: usize = 3;

/// The steps for a nest of elements of 4 bits, and what they leave; if there are some, and they are most of it.
pub(crate) fn halves(nest: &Nest, setting: Setting) -> Option<(Vec<Step>, Vec<Nest>)> {
    let nest = ByteNest::new(nest, 1);
    let elements = |nest: &ByteNest| {
        nest.turns.iter().map(|turn| turn.extent as f64).product::<f64>() * nest.starts.len() as f64
    };
    let unit = |side: fn(&Turn) -> isize| {
        nest.turns.iter().position(|turn| side(turn).abs() == 1 && turn.extent >= LONG)
    };
    let limit = match (unit(|turn| turn.to), unit(|turn| turn.from)) {
        (Some(one), Some(other)) if one != other => TRANSPOSED * elements(&nest) / (2 * LINE) as f64,
        _ => f64::INFINITY,
    };
    let (mut steps, mut rest) = (Vec::new(), Vec::new());
    match picks::picks(&nest, 2, setting, limit) {
        Some(all) => (steps, rest) = all,
        None if limit.is_finite() => {}
        None => {
            for part in parts(nest.clone(), &mut rest)? {
                match picks::picks(&part, 2, setting, limit) {
                    Some((more, left)) => {
                        steps.extend(more);
                        rest.extend(left);
                    }
                    None => rest.push(part),
                }
            }
        }
    }
    let left: f64 = rest.iter().map(elements).sum();
    let is_most = !steps.is_empty() && left <= elements(&nest) / 8.0;
    is_most.then(|| (steps, rest.iter().map(ByteNest::counted).collect()))
}

/// Nests whose rows are whole bytes of the destination, and which begin in the same half of a byte of the source everywhere; the ends of rows
/// go to the rest.
fn parts(nest: ByteNest, rest: &mut Vec<ByteNest>) -> Option<Vec<ByteNest>> {
    let row = nest.turns.iter().position(|turn| turn.to == 1 && turn.extent >= LEAST_ROW)?;
    let is_odd = |turn: &Turn| (turn.from | turn.to) % 2 != 0;
    let odd: Vec<usize> = (0..nest.turns.len()).filter(|&k| k != row && is_odd(&nest.turns[k])).collect();
    if odd.len() > APART {
        return None;
    }
    // The odd turns of each of these loops, or the even ones.
    let mut parts = vec![nest];
    for k in odd {
        let of = |nest: &ByteNest, first: usize| {
            let Turn { extent, from, to } = nest.turns[k];
            let mut half = nest.clone();
            half.turns[k] = Turn { extent: (extent + 1 - first) / 2, from: 2 * from, to: 2 * to };
            let first = first as isize;
            half.starts.iter_mut().for_each(|start| *start = (start.0 + first * from, start.1 + first * to));
            half
        };
        parts = parts.iter().flat_map(|nest| [of(nest, 0), of(nest, 1)]).collect();
    }
    let mut made = Vec::new();
    for part in parts.into_iter().filter(|part| part.turns.iter().all(|turn| turn.extent > 0)) {
        for phase in 0..4 {
            let is_here = |start: &(isize, isize)| start.0.rem_euclid(2) + 2 * start.1.rem_euclid(2) == phase;
            let mut here = part.clone();
            here.starts.retain(|start| is_here(start));
            if here.starts.is_empty() {
                continue;
            }
            let Turn { extent, from, .. } = here.turns[row];
            let one = |at: usize| {
                let mut one = here.clone();
                one.turns[row].extent = 1;
                let at = at as isize;
                one.starts.iter_mut().for_each(|start| *start = (start.0 + at * from, start.1 + at));
                one
            };
            let first = usize::from(phase >= 2);
            let whole = (extent - first) / 2 * 2;
            if first > 0 {
                rest.push(one(0));
            }
            if first + whole < extent {
                rest.push(one(extent - 1));
            }
            let mut inner = one(first);
            inner.turns[row].extent = whole;
            made.push(inner);
        }
    }
    for nest in made.iter_mut().chain(rest) {
        nest.turns.retain(|turn| turn.extent > 1);
    }
    Some(made)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All places that a nest moves from and to.
    fn places(nest: &ByteNest) -> Vec<(isize, isize)> {
        let mut all: Vec<_> = nest.starts.to_vec();
        for turn in &nest.turns {
            let moved = |k: usize| (k as isize * turn.from, k as isize * turn.to);
            all = (0..turn.extent)
                .flat_map(|k| all.iter().map(move |at| (at.0 + moved(k).0, at.1 + moved(k).1)))
                .collect();
        }
        all.sort_unstable();
        all
    }

    #[test]
    fn rows_of_odd_length_are_cut_at_whole_bytes() {
        for (rows, row, backward) in
            [(5, 41, false), (4, 40, false), (7, 33, true), (2, 63, true), (1, 35, false)]
        {
            let sign = if backward { -1 } else { 1 };
            let turns = [
                Turn { extent: rows, from: 1, to: row as isize },
                Turn { extent: row, from: sign * rows as isize, to: 1 },
            ];
            let start = if backward { (row - 1) * rows } else { 0 };
            let starts = smallvec::smallvec![(start as isize, 3), (start as isize + 1000, 1000)];
            let nest = ByteNest { starts, size: 1, turns: turns.into_iter().collect() };
            let mut rest = Vec::new();
            let made = parts(nest.clone(), &mut rest).unwrap();
            let mut all: Vec<_> = made.iter().chain(&rest).flat_map(places).collect();
            all.sort_unstable();
            assert_eq!(all, places(&nest));
            let mut bytes: Vec<_> = made.iter().flat_map(places).map(|at| at.1).collect();
            bytes.sort_unstable();
            assert!(bytes.chunks(2).all(|two| two[0] % 2 == 0 && two[1] == two[0] + 1));
            let left: usize = rest.iter().map(|nest| places(nest).len()).sum();
            assert!(left <= 4 * rows, "{left} of {}", rows * row);
        }
    }
}
