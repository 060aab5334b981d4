//! Strides by the names that PyTorch has for them.

use std::cmp::Reverse;
use tilework::InOrder;

/// What strides are called, if they have a name.
pub(super) fn words(sizes: &[u64], strides: &[i64]) -> String {
    let rank = sizes.len();
    let packed = |order: &[usize]| {
        let mut next = 1_i64;
        order.iter().rev().all(|&dim| {
            let fits = sizes[dim] <= 1 || strides[dim] == next;
            next = next.saturating_mul(sizes[dim].max(1) as i64);
            fits
        })
    };
    let row_major: Vec<usize> = (0..rank).collect();
    if sizes.contains(&0) || packed(&row_major) {
        return "contiguous".to_owned();
    }
    let channels_last: Vec<usize> = [0].into_iter().chain(2..rank).chain([1]).collect();
    if matches!(rank, 4 | 5) && packed(&channels_last) {
        return if rank == 4 { "channels_last".to_owned() } else { "channels_last_3d".to_owned() };
    }
    let mut order = row_major;
    // The stride of a dimension of one element says nothing.
    order.order_by_key(|&dim| (Reverse(if sizes[dim] == 1 { i64::MAX } else { strides[dim] }), dim));
    if packed(&order) {
        let order: Vec<String> = order.iter().map(usize::to_string).collect();
        return format!("permuted ({})", order.join(", "));
    }
    match sizes.iter().zip(strides).any(|(&size, &stride)| size > 1 && stride == 0) {
        true => "expanded".to_owned(),
        false => "strided".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn strides_are_called_as_pytorch_calls_them() {
        assert_eq!(words(&[2, 3, 4, 5], &[60, 20, 5, 1]), "contiguous");
        assert_eq!(words(&[2, 3, 4, 5], &[60, 1, 15, 3]), "channels_last");
        assert_eq!(words(&[2, 3, 4, 5], &[60, 5, 15, 1]), "permuted (0, 2, 1, 3)");
        assert_eq!(words(&[4, 5], &[1, 4]), "permuted (1, 0)");
        assert_eq!(words(&[4, 5], &[10, 1]), "strided");
        assert_eq!(words(&[4, 5], &[0, 1]), "expanded");
        assert_eq!(words(&[2, 1, 4, 5], &[20, 7, 5, 1]), "contiguous");
        assert_eq!(words(&[], &[]), "contiguous");
    }
}
