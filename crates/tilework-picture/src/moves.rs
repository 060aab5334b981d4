//! What a copy from one layout to another could keep together.

use tilework_core::{Layout, Place};

/// How many elements, from (0, …, 0) on, lie side by side in the same order in both layouts; at most `limit`.
///
/// None if the dimensions differ or there are no elements.
pub fn shared_run(a: &Layout, b: &Layout, limit: u64) -> Option<u64> {
    if a.dims() != b.dims() || a.is_empty() {
        return None;
    }
    let origin = vec![0; a.rank()];
    let (start_a, start_b) = (a.offset(&origin).ok()?, b.offset(&origin).ok()?);
    let together = |&step: &u64| {
        let Some(offset) = start_a.checked_add(step).filter(|&offset| offset < a.size()) else {
            return false;
        };
        let Ok(Place::Element(index)) = a.locate(offset) else { return false };
        b.offset(&index).is_ok_and(|offset| start_b.checked_add(step) == Some(offset))
    };
    Some((1..limit).take_while(together).count() as u64 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilework_core::Result;

    #[test]
    fn the_run_ends_where_the_orders_part() -> Result<()> {
        let tiled = Layout::builder(&[3, 5], 32)?.tile(&[Some(2), Some(2)])?.build()?;
        let rows = Layout::row_major(&[3, 5], 32)?;
        let columns = Layout::builder(&[3, 5], 32)?.minor_to_major(&[0, 1])?.build()?;
        assert_eq!(shared_run(&tiled, &rows, 100), Some(2));
        assert_eq!(shared_run(&columns, &rows, 100), Some(1));
        assert_eq!(shared_run(&rows, &rows, 100), Some(15));
        assert_eq!(shared_run(&rows, &rows, 7), Some(7));
        assert_eq!(shared_run(&rows, &Layout::row_major(&[5, 3], 32)?, 7), None);
        Ok(())
    }
}
