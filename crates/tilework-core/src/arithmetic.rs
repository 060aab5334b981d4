//! Arithmetic that more than one module needs.

/// The greatest common divisor; that of 0 and n is n.
///
/// ```
/// assert_eq!(tilework::arithmetic::gcd(12, 18), 6);
/// ```
pub fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The least common multiple, or the largest number where that overflows.
///
/// ```
/// assert_eq!(tilework::arithmetic::lcm(4, 6), 12);
/// ```
pub fn lcm(a: u64, b: u64) -> u64 {
    (a / gcd(a, b).max(1)).saturating_mul(b)
}

/// Bytes of `count` elements of `bits` bits, rounded up.
#[inline]
pub(crate) fn bytes(count: u128, bits: u32) -> u128 {
    (count * u128::from(bits)).div_ceil(8)
}

/// The next order of the same entries, as words are ordered; false after the last.
pub(crate) fn next_permutation(order: &mut [usize]) -> bool {
    let Some(pivot) = order.windows(2).rposition(|pair| pair[0] < pair[1]) else { return false };
    let swap = order.iter().rposition(|&entry| entry > order[pivot]).unwrap_or(pivot);
    order.swap(pivot, swap);
    order[pivot + 1..].reverse();
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permutations_come_once_each_as_words_are_ordered() {
        let mut order = [0, 0, 1, 2];
        let mut all = vec![order];
        while next_permutation(&mut order) {
            all.push(order);
        }
        assert!(all.is_sorted_by(|a, b| a < b) && all.len() == 12, "{all:?}");
        assert_eq!((order, next_permutation(&mut [])), ([2, 1, 0, 0], false));
    }

    #[test]
    fn multiples_and_divisors_hold_at_the_ends() {
        assert_eq!((gcd(0, 7), gcd(7, 0), gcd(0, 0), gcd(u64::MAX, 5)), (7, 7, 0, 5));
        assert_eq!((lcm(0, 7), lcm(7, 0), lcm(0, 0), lcm(u64::MAX, u64::MAX - 1)), (0, 0, 0, u64::MAX));
        assert_eq!((bytes(0, 4), bytes(1, 4), bytes(2, 4), bytes(3, 12)), (0, 1, 1, 5));
    }
}
