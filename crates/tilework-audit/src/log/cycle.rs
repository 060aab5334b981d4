//! Which sequence of operations a log repeats.

use super::StepId;
use super::logged::Cycle;

/// The shortest sequence that is repeated over most of a log: an iteration of what was run.
///
/// What comes before, such as the making of weights, and what comes after does not count, if it is less than half. So the
/// text is searched from its end, where repetition is sure to have begun, and also without 1, 2, 4, … of its last steps. A
/// text has period `p` if each step is the one `p` before it; the failure function of Knuth, Morris and Pratt says the
/// least one of each beginning.
pub(crate) fn cycle(sequence: &[StepId]) -> Option<Cycle> {
    let mut found: Option<(usize, Cycle)> = None;
    let mut left_out = 0;
    while left_out <= sequence.len() / 4 {
        let text = &sequence[..sequence.len() - left_out];
        if let Some((length, cycle)) = longest_repetition(text)
            && found.is_none_or(|(longest, _)| length > longest)
        {
            found = Some((length, cycle));
        }
        left_out = (left_out * 2).max(1);
    }
    found.filter(|(length, _)| *length * 2 >= sequence.len()).map(|(_, cycle)| cycle)
}

/// The longest end of a text that consists of two or more equal parts, and perhaps a part of one.
fn longest_repetition(text: &[StepId]) -> Option<(usize, Cycle)> {
    let at = |place: usize| text[text.len() - 1 - place];
    let mut border = vec![0_u32; text.len()];
    let mut longest = None;
    for end in 1..text.len() {
        let mut length = border[end - 1] as usize;
        while length > 0 && at(length) != at(end) {
            length = border[length - 1] as usize;
        }
        length += usize::from(at(length) == at(end));
        border[end] = length as u32;
        let (whole, period) = (end + 1, end + 1 - length);
        if period * 2 <= whole {
            longest = Some((whole, period));
        }
    }
    let (length, period) = longest?;
    Some((length, Cycle { operations: period as u64, times: (length / period) as u64 }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(parts: &[(&str, usize)]) -> Option<(u64, u64)> {
        let text: String = parts.iter().map(|(part, times)| part.repeat(*times)).collect();
        let steps: Vec<StepId> = text.bytes().map(StepId::from).collect();
        cycle(&steps).map(|cycle| (cycle.operations, cycle.times))
    }

    #[test]
    fn an_iteration_is_found_behind_a_start_and_before_an_end() {
        assert_eq!(found(&[("abc", 5)]), Some((3, 5)));
        assert_eq!(found(&[("xyz", 1), ("abcab", 4)]), Some((5, 4)));
        assert_eq!(found(&[("xyz", 1), ("abcab", 4), ("uv", 1)]), Some((5, 4)));
        // Equal layers within an iteration are not iterations.
        let iteration = "h".to_owned() + &"abc".repeat(12) + "t";
        assert_eq!(found(&[(&iteration, 3)]), Some((38, 3)));
        assert_eq!(found(&[(&iteration, 1)]), Some((3, 12)));
    }

    #[test]
    fn what_does_not_repeat_has_no_iteration() {
        assert_eq!(found(&[("", 1)]), None);
        assert_eq!(found(&[("a", 1)]), None);
        assert_eq!(found(&[("abcdefgh", 1)]), None);
        assert_eq!(found(&[("abcdefghijklm", 1), ("xy", 2)]), None);
    }

    #[test]
    fn every_short_text_agrees_with_a_naive_search() {
        for length in 0..=10_u32 {
            for number in 0..1_u32 << length {
                let text: Vec<StepId> = (0..length).map(|bit| number >> bit & 1).collect();
                let naive = (1..=text.len()).rev().find_map(|long| {
                    let end = &text[text.len() - long..];
                    let period = (1..=long / 2).find(|&p| (p..long).all(|at| end[at] == end[at - p]))?;
                    Some((long, Cycle { operations: period as u64, times: (long / period) as u64 }))
                });
                assert_eq!(longest_repetition(&text), naive, "{text:?}");
            }
        }
    }
}
