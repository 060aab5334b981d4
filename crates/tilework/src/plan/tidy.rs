//! A nest in its simplest form.

use super::group::Start;
use super::nest::{Loop, Loops};

/// Turns loops that run backward in the destination, sorts them by their stride there, and fuses neighbours.
pub(super) fn tidy(loops: &mut Loops, starts: &mut [Start]) {
    loops.retain(|each| each.extent > 1);
    for each in loops.iter_mut() {
        if each.to < 0 || (each.to == 0 && each.from < 0) {
            let last = (each.extent - 1) as i64;
            let (from, to) = (each.from.wrapping_mul(last), each.to.wrapping_mul(last));
            for start in starts.iter_mut() {
                *start = (start.0.wrapping_add(from), start.1.wrapping_add(to));
            }
            (each.from, each.to) = (each.from.wrapping_neg(), each.to.wrapping_neg());
        }
    }
    loops.sort_by_key(|each| std::cmp::Reverse((each.to.unsigned_abs(), each.from.unsigned_abs())));
    let mut kept = 0_usize;
    for place in 0..loops.len() {
        let inner = loops[place];
        let outer = kept.checked_sub(1).map(|before| loops[before]);
        match outer.and_then(|outer| fuse(outer, inner)) {
            Some(fused) => loops[kept - 1] = fused,
            None => {
                loops[kept] = inner;
                kept += 1;
            }
        }
    }
    loops.truncate(kept);
}

/// Two loops as one, if the outer goes on where the inner ends.
fn fuse(outer: Loop, inner: Loop) -> Option<Loop> {
    let goes_on = |outer: i64, step: i64| i128::from(outer) == i128::from(step) * i128::from(inner.extent);
    if !goes_on(outer.from, inner.from) || !goes_on(outer.to, inner.to) {
        return None;
    }
    Some(Loop { extent: outer.extent.checked_mul(inner.extent)?, ..inner })
}
