//! A nest in its simplest form.

use super::group::{Start, add};
use super::nest::{Loop, Loops, Nest};
use crate::order::InOrder;

impl Nest {
    /// Brings the nest into its simplest form, which the nests of a plan have: no loop runs backward in the destination or
    /// has a single turn, strides there descend, and neighbours that continue each other are one.
    ///
    /// ```
    /// use tilework::{Loop, Nest};
    /// let loops = [Loop { extent: 3, from: 1, to: -1 }, Loop { extent: 2, from: -3, to: 3 }];
    /// let mut nest = Nest { starts: [(3, 2)].into(), loops: loops.into() };
    /// nest.tidy(); // place 2 gets element 3, …, place 0 element 5, place 3 element 2, …
    /// assert_eq!((nest.starts[0], &nest.loops[..]), ((5, 0), &[Loop { extent: 6, from: -1, to: 1 }][..]));
    /// ```
    pub fn tidy(&mut self) {
        let (from, to) = tidy(self.loops.list());
        for start in &mut self.starts {
            *start = (start.0.wrapping_add_signed(from), start.1.wrapping_add_signed(to));
        }
    }
}

/// Turns loops that run backward in the destination, sorts them by their stride there, and fuses neighbours. Every start
/// moves by what it returns.
pub(super) fn tidy(loops: &mut Loops) -> Start {
    let mut moved = (0, 0);
    loops.retain(|each| each.extent > 1);
    for each in loops.iter_mut() {
        if each.to < 0 || (each.to == 0 && each.from < 0) {
            let last = (each.extent - 1) as i64;
            moved = add(moved, (each.from.wrapping_mul(last), each.to.wrapping_mul(last)));
            (each.from, each.to) = (each.from.wrapping_neg(), each.to.wrapping_neg());
        }
    }
    loops.order_by_key(|each| std::cmp::Reverse((each.to.unsigned_abs(), each.from.unsigned_abs())));
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
    moved
}

/// Two loops as one, if the outer goes on where the inner ends.
fn fuse(outer: Loop, inner: Loop) -> Option<Loop> {
    let goes_on = |outer: i64, step: i64| i128::from(outer) == i128::from(step) * i128::from(inner.extent);
    if !goes_on(outer.from, inner.from) || !goes_on(outer.to, inner.to) {
        return None;
    }
    Some(Loop { extent: outer.extent.checked_mul(inner.extent)?, ..inner })
}
