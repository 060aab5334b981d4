//! What is asked for before it is read: the lines of a block's source.

use tilework_core::InOrder;

use crate::kernels::vector::LINE;
use crate::nest::Turn;

/// A span that ends so many bytes behind the last place that is asked for is likely to have another line.
const LIKELY: isize = LINE as isize / 2;

/// Whether all blocks begin at the same place within a line: one begins at each start and each turn of these loops.
pub(crate) fn in_step<'a>(starts: &[(isize, isize)], outer: impl IntoIterator<Item = &'a Turn>) -> bool {
    let is_line = |step: isize| step.unsigned_abs().is_multiple_of(LINE);
    starts.iter().all(|start| is_line(start.0)) && outer.into_iter().all(|turn| is_line(turn.from))
}

/// Places from which the lines of spans are fetched, each a place from the block's own and a count of bytes.
///
/// If blocks are in step they are taken to begin with a line. Else a span that is as long as some lines touches one more, and the
/// last one would be waited for in each block.
pub(crate) fn lines(spans: impl IntoIterator<Item = (isize, usize)>, in_step: bool) -> Vec<isize> {
    let line = LINE as isize;
    let ends = |(from, length): (isize, usize)| {
        let to = from + length as isize;
        // From the beginning of a line to the end of one.
        if in_step {
            (from.div_euclid(line) * line, (to - 1).div_euclid(line) * line + line)
        } else {
            (from, to)
        }
    };
    let mut spans: Vec<(isize, isize)> = spans.into_iter().map(ends).collect();
    spans.order();
    let mut joined: Vec<(isize, isize)> = Vec::new();
    for (from, to) in spans {
        match joined.last_mut() {
            Some(last) if from < last.1 + line => last.1 = last.1.max(to),
            _ => joined.push((from, to)),
        }
    }
    let mut places = Vec::new();
    for (from, to) in joined {
        places.extend((from..to).step_by(LINE));
        if !in_step && (to - 1 - from) % line >= LIKELY {
            places.push(to - 1);
        }
    }
    places
}

/// As many places as something is done, of these, so that all come at one pace: of many at a time the machine forgets most.
pub(crate) fn spread(places: &[isize], count: usize) -> Vec<isize> {
    (0..count).map(|k| places.get(k * places.len() / count).copied().unwrap_or(0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_fetched_comes_at_one_pace() {
        assert_eq!(spread(&[0, 64, 128], 7), [0, 0, 0, 64, 64, 128, 128]);
        assert_eq!(spread(&[5, 9], 2), [5, 9]);
        assert_eq!(spread(&[], 2), [0, 0]);
    }

    #[test]
    fn all_lines_of_a_span_are_fetched_wherever_it_begins() {
        for (length, gap) in [(64, 0), (500, 0), (504, 12_000), (64, 100), (40, 24), (1, 63), (128, 1)] {
            let spans: Vec<_> = (0..5).map(|k| (k * (length + gap) as isize - 300, length)).collect();
            let places = [lines(spans.clone(), true), lines(spans.clone(), false)];
            assert!(places.iter().all(|places| places.is_sorted_by(|one, other| one < other)));
            for base in 0..LINE as isize {
                let line_of = |at: isize| (base + at).div_euclid(LINE as isize);
                let fetched: Vec<isize> =
                    places[usize::from(base > 0)].iter().map(|&at| line_of(at)).collect();
                // The last half of a line is perhaps not worth it.
                let of_span =
                    |&(from, length): &(isize, usize)| (from..from + length as isize - LIKELY).map(line_of);
                assert!(
                    spans.iter().flat_map(of_span).all(|line| fetched.contains(&line)),
                    "{length} {gap} {base}"
                );
            }
        }
    }

    #[test]
    fn nothing_is_fetched_twice_where_lines_are_whole() {
        assert_eq!(lines([(0, 64), (64, 64), (32, 64), (640, 1)], true), [0, 64, 640]);
        assert_eq!(lines([(0, 64), (64, 64), (640, 1)], false), [0, 64, 127, 640]);
    }

    #[test]
    fn blocks_are_in_step_if_all_of_them_begin_with_a_line() {
        let turn = |from| Turn { extent: 3, from, to: 5 };
        assert!(in_step(&[(0, 3), (128, 7)], &[turn(640), turn(-64)]));
        assert!(!in_step(&[(0, 3), (100, 7)], &[turn(640)]) && !in_step(&[(0, 0)], &[turn(4)]));
    }
}
