//! What to show of something too long: its beginning, its first tile border, and its end.

/// Positions of `0..len` to show, at most `room` with the cuts between them; None is a cut.
///
/// `last` is where the last element stands; what comes after it is padding. `border` is the first position behind a
/// tile border.
pub(crate) fn window(len: u64, last: u64, border: Option<u64>, room: usize) -> Vec<Option<u64>> {
    if len <= room as u64 {
        return (0..len).map(Some).collect();
    }
    // From the most important to the least; each is taken if there is room for it.
    let mut wishes = vec![0, last, 1, last.saturating_sub(1)];
    if let Some(border) = border.filter(|&border| border < len) {
        wishes.extend([border - 1, border]);
    }
    wishes.extend([last + 1, 2]);
    wishes.extend(border.iter().flat_map(|&border| [border + 1, border.saturating_sub(2)]));
    wishes.extend(3..3 + room as u64);
    let mut shown: Vec<u64> = Vec::new();
    for wish in wishes.into_iter().filter(|&wish| wish < len) {
        if let Err(place) = shown.binary_search(&wish) {
            shown.insert(place, wish);
            if lanes(&shown, len).len() > room.max(2) {
                shown.remove(place);
            }
        }
    }
    lanes(&shown, len)
}

/// The positions with a cut wherever some are missing. A cut in place of a single position would save nothing.
fn lanes(shown: &[u64], len: u64) -> Vec<Option<u64>> {
    let mut lanes = Vec::new();
    let mut next = 0;
    for &position in shown.iter().chain([&len]) {
        match position.saturating_sub(next) {
            0 => {}
            1 => lanes.push(Some(next)),
            _ => lanes.push(None),
        }
        if position < len {
            lanes.push(Some(position));
        }
        next = position + 1;
    }
    lanes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(len: u64, last: u64, border: Option<u64>, room: usize) -> String {
        let lanes = window(len, last, border, room);
        let lanes: Vec<String> =
            lanes.iter().map(|lane| lane.map_or("…".into(), |at| at.to_string())).collect();
        lanes.join(" ")
    }

    #[test]
    fn what_fits_is_shown_whole() {
        assert_eq!(shown(5, 4, None, 5), "0 1 2 3 4");
    }

    #[test]
    fn the_beginning_the_first_border_and_the_end_are_shown() {
        assert_eq!(shown(384, 299, Some(128), 13), "0 1 2 … 126 127 128 129 … 298 299 300 …");
        assert_eq!(shown(384, 299, Some(128), 5), "0 1 … 299 …");
        assert_eq!(shown(1000, 999, None, 7), "0 1 2 3 … 998 999");
    }

    #[test]
    fn no_room_is_exceeded_and_no_cut_stands_for_one_position() {
        for len in 0..40 {
            for room in 2..20 {
                for border in [None, Some(1), Some(4), Some(16)] {
                    for last in 0..len {
                        let lanes = window(len, last, border, room);
                        assert!(lanes.len() <= room.max(3), "{lanes:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn positions_near_the_end_of_64_bits_do_not_overflow() {
        let most = i64::MAX as u64;
        assert_eq!(window(most, most - 1, Some(most - 1), 6).last(), Some(&Some(most - 1)));
    }
}
