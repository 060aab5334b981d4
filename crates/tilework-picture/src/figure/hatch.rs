//! Strokes over padding, in a direction for each cause.

use tilework_core::{Level, Padding};

use super::canvas::Canvas;
use super::paint::Colour;

/// From one stroke to the next.
const STEP: f64 = 7.0;

/// How padding is stroked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hatch {
    /// From the lower left to the upper right.
    Rising,
    /// From the upper left to the lower right.
    Falling,
    /// Both.
    Crossed,
    /// From left to right.
    Across,
    /// From top to bottom.
    Down,
}

impl Hatch {
    /// Tiles rise, tiles within tiles fall, as both may pad the same array; what is no tile has other directions.
    pub(crate) fn of(cause: Option<&Padding>) -> Hatch {
        match cause.map(|cause| cause.level) {
            None | Some(Level::Tile(0 | 1)) => Hatch::Rising,
            Some(Level::Tile(_)) => Hatch::Falling,
            Some(Level::PaddedDimensions) => Hatch::Crossed,
            Some(Level::Stride) => Hatch::Across,
            Some(_) => Hatch::Down,
        }
    }
}

/// Strokes a rectangle. Strokes of neighbours run through.
pub(crate) fn stroke(canvas: &mut Canvas, (x, y): (f64, f64), (width, height): (f64, f64), hatch: Hatch) {
    let mut lines = Vec::new();
    let steps = |from: f64, to: f64| {
        let first = (from / STEP).floor() + 1.0;
        (0..).map(move |step| (first + f64::from(step)) * STEP).take_while(move |&at| at < to)
    };
    if matches!(hatch, Hatch::Rising | Hatch::Crossed) {
        for sum in steps(x + y, x + y + width + height) {
            let (left, right) = ((sum - y - height).max(x), (sum - y).min(x + width));
            lines.push([(left, sum - left), (right, sum - right)]);
        }
    }
    if matches!(hatch, Hatch::Falling | Hatch::Crossed) {
        for difference in steps(x - y - height, x - y + width) {
            let (left, right) = ((difference + y).max(x), (difference + y + height).min(x + width));
            lines.push([(left, left - difference), (right, right - difference)]);
        }
    }
    if hatch == Hatch::Across {
        lines.extend(steps(y, y + height).map(|at| [(x, at), (x + width, at)]));
    }
    if hatch == Hatch::Down {
        lines.extend(steps(x, x + width).map(|at| [(at, y), (at, y + height)]));
    }
    lines.retain(|[from, to]| (from.0 - to.0).abs() + (from.1 - to.1).abs() > 1.0);
    canvas.lines(&lines, Colour::Hatch, 1.0, "");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::Theme;

    #[test]
    fn strokes_stay_within_their_rectangle() {
        for hatch in [Hatch::Rising, Hatch::Falling, Hatch::Crossed, Hatch::Across, Hatch::Down] {
            for (place, size) in
                [((0.0, 0.0), (22.0, 16.0)), ((31.0, 55.0), (28.0, 26.0)), ((3.0, 90.0), (120.0, 9.0))]
            {
                let mut canvas = Canvas::new(Theme::Light);
                stroke(&mut canvas, place, size, hatch);
                let path = canvas.svg.split('"').nth(1).expect("a path");
                let mut last = (0.0, 0.0);
                for part in path.split_inclusive(['M', 'V', 'H', 'L']).collect::<String>().split('M').skip(1)
                {
                    for (number, point) in part.split(['V', 'H', 'L']).enumerate() {
                        let numbers: Vec<f64> =
                            point.split(' ').map(|n| n.parse().expect("a number")).collect();
                        last = match (number, &numbers[..]) {
                            (_, [x, y]) => (*x, *y),
                            (_, [one]) if part.contains('V') => (last.0, *one),
                            (_, [one]) => (*one, last.1),
                            _ => panic!("{part}"),
                        };
                        let inside =
                            |at: f64, from: f64, len: f64| at >= from - 0.06 && at <= from + len + 0.06;
                        assert!(
                            inside(last.0, place.0, size.0) && inside(last.1, place.1, size.1),
                            "{hatch:?} {part}"
                        );
                    }
                }
            }
        }
    }
}
