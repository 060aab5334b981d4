//! Rectangles whose areas are sizes, as near to squares as they can be.
//!
//! Rows are filled along the shorter side of what is left, as long as that makes the worst of a row's rectangles more like a
//! square (Bruls, Huizing, van Wijk: Squarified Treemaps).

use crate::svg::Rect;

/// A rectangle for each size; sizes are above 0 and fall.
pub fn treemap(sizes: &[u64], all: Rect) -> Vec<Rect> {
    let total: f64 = sizes.iter().map(|&size| size as f64).sum();
    let scale = if total > 0.0 { all.width * all.height / total } else { 0.0 };
    let areas: Vec<f64> = sizes.iter().map(|&size| size as f64 * scale).collect();
    let mut rects = Vec::with_capacity(areas.len());
    let (mut left, mut start) = (all, 0);
    while start < areas.len() {
        let side = left.width.min(left.height);
        let mut end = start + 1;
        while end < areas.len() && worst(&areas[start..=end], side) <= worst(&areas[start..end], side) {
            end += 1;
        }
        left = row(&areas[start..end], left, &mut rects);
        start = end;
    }
    rects
}

/// How far the worst rectangle of a row along a side is from a square: 1 is one.
fn worst(row: &[f64], side: f64) -> f64 {
    let sum: f64 = row.iter().sum();
    let depth = sum / side.max(f64::MIN_POSITIVE);
    row.iter().map(|area| area / depth).map(|length| (length / depth).max(depth / length)).fold(1.0, f64::max)
}

/// Places a row along the shorter side, and returns what is left.
fn row(areas: &[f64], left: Rect, rects: &mut Vec<Rect>) -> Rect {
    let sum: f64 = areas.iter().sum();
    if left.width >= left.height {
        let width = sum / left.height.max(f64::MIN_POSITIVE);
        let mut y = left.y;
        for area in areas {
            let height = area / width.max(f64::MIN_POSITIVE);
            rects.push(Rect { x: left.x, y, width, height });
            y += height;
        }
        return Rect { x: left.x + width, width: (left.width - width).max(0.0), ..left };
    }
    let height = sum / left.width.max(f64::MIN_POSITIVE);
    let mut x = left.x;
    for area in areas {
        let width = area / height.max(f64::MIN_POSITIVE);
        rects.push(Rect { x, y: left.y, width, height });
        x += width;
    }
    Rect { y: left.y + height, height: (left.height - height).max(0.0), ..left }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_are_sizes_and_nothing_overlaps() {
        let all = Rect { x: 0.0, y: 0.0, width: 600.0, height: 400.0 };
        let sizes = [600, 600, 400, 300, 200, 200, 100, 1, 1];
        let rects = treemap(&sizes, all);
        let total: u64 = sizes.iter().sum();
        for (rect, size) in rects.iter().zip(sizes) {
            let wanted = size as f64 / total as f64 * 240_000.0;
            assert!((rect.width * rect.height - wanted).abs() < 1e-6, "{rect:?}");
            assert!(rect.x >= -1e-9 && rect.x + rect.width <= 600.0 + 1e-6, "{rect:?}");
            assert!(rect.y >= -1e-9 && rect.y + rect.height <= 400.0 + 1e-6, "{rect:?}");
        }
        for (number, a) in rects.iter().enumerate() {
            for b in &rects[..number] {
                let apart = a.x + a.width <= b.x + 1e-6
                    || b.x + b.width <= a.x + 1e-6
                    || a.y + a.height <= b.y + 1e-6
                    || b.y + b.height <= a.y + 1e-6;
                assert!(apart, "{a:?} {b:?}");
            }
        }
        assert_eq!(treemap(&[], all), []);
        let whole = treemap(&[7], all)[0];
        assert!((whole.width - 600.0).abs() < 1e-6 && (whole.height - 400.0).abs() < 1e-6, "{whole:?}");
    }
}
