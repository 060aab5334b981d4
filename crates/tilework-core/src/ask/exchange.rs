//! Comparing layouts whose places are exchanged by different swizzles.
//!
//! # When few elements decide
//!
//! Let a swizzle look at the offset modulo 2^T. If every digit of a layout (`digits.rs`) is made of whole bits of the
//! index, and below 2^T the digits use different bits of the offset, then an offset is a sum over the bits of the index
//! above 2^T and an xor over them below, with the swizzle and without. Two such functions are the same exactly if they
//! agree at the first element and wherever one bit of one index is set.
//!
//! Other layouts are compared in a table of all elements, up to [`TABLE_LIMIT`].

use std::ops::ControlFlow;

use crate::ask::compare::{TABLE_LIMIT, WORK_LIMIT};
use crate::ask::verdict::{Difference, Verdict};
use crate::layout::Layout;

/// What an element of a table costs, in the terms that comparing counts.
const COST: u64 = 32;

/// Whether two layouts of the same dimensions, which are not empty, are the same function.
pub(super) fn same(a: &Layout, b: &Layout, work: &mut u64) -> Verdict {
    debug_assert!(*work <= WORK_LIMIT);
    if let Some(index) = indices_of_one_bit(a.dims()).find(|index| a.place(index) != b.place(index)) {
        return differ(a, b, &index);
    }
    let period = [a, b].iter().filter_map(|layout| layout.swizzle()).map(|swizzle| swizzle.period()).max();
    let period = period.unwrap_or(1);
    if is_of_bits(a, period) && is_of_bits(b, period) {
        return Verdict::Yes;
    }
    let left = a.len().checked_mul(COST).and_then(|cost| work.checked_sub(cost));
    let Some(left) = left.filter(|_| a.len() <= TABLE_LIMIT) else {
        return Verdict::NotDecided(format!(
            "the swizzles differ, not all digits are of whole bits, and there are over {TABLE_LIMIT} elements or others \
             were looked at already"
        ));
    };
    *work = left;
    let walk = a.walk_index_order(|index, place| match b.place(index) == place {
        true => ControlFlow::Continue(()),
        false => ControlFlow::Break(index.to_vec()),
    });
    walk.break_value().map_or(Verdict::Yes, |index| differ(a, b, &index))
}

fn differ(a: &Layout, b: &Layout, index: &[u64]) -> Verdict {
    Verdict::No(Difference::Element {
        index: index.to_vec(),
        offsets: [a, b].map(|layout| layout.place(index)),
    })
}

/// The first element, and those with one bit of one index set.
fn indices_of_one_bit(dims: &[u64]) -> impl Iterator<Item = Vec<u64>> {
    let ones = dims.iter().enumerate().flat_map(move |(dim, &size)| {
        let bits = (0..u64::BITS).map(|bit| 1_u64 << bit).take_while(move |&value| value < size);
        bits.map(move |value| {
            let mut index = vec![0; dims.len()];
            index[dim] = value;
            index
        })
    });
    std::iter::once(vec![0; dims.len()]).chain(ones)
}

/// Whether the offset, before the swizzle, is a sum over bits of the index that is an xor below `period`, a power of two.
fn is_of_bits(layout: &Layout, period: u64) -> bool {
    let Ok(digits) = layout.digits_before_swizzle() else { return false };
    if !digits.first.is_multiple_of(period) {
        return false;
    }
    let mut taken = 0_u64;
    digits.of_dims.iter().all(|of_dim| {
        let Some((last, lower)) = of_dim.split_last() else { return true };
        lower.iter().all(|digit| digit.extent.is_power_of_two())
            && lower.iter().chain([last]).all(|digit| {
                if digit.stride.unsigned_abs().is_multiple_of(period) {
                    return true; // also one of a single value, whose stride is 0
                }
                let stride = digit.stride as u64; // below 0 no power of two
                // Both are powers of two or the digit is the last, whose values need as many bits as the largest.
                let most = u64::MAX >> (digit.extent - 1).leading_zeros();
                let bits = most.saturating_mul(stride) & (period - 1);
                let is_free = stride.is_power_of_two() && taken & bits == 0;
                taken |= bits;
                is_free
            })
    })
}
