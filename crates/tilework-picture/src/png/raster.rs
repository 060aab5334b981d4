//! Polygons filled with a colour, their edges smooth.
//!
//! For each pixel the area that a polygon covers of it is computed exactly: every edge adds, row by row, how much it covers to
//! its right, with a sign for its direction, and a sum from left to right gives the share that is covered.

/// A point, in pixels from the upper left.
pub(super) type Point = (f64, f64);

/// How many shares of a pixel there are.
const STEPS: f64 = 32.0;

/// Red, green and blue.
pub(super) type Rgb = [u8; 3];

pub(super) struct Raster {
    width: usize,
    height: usize,
    pixels: Vec<u8>,
    /// What the edges of a polygon cover, within the rectangle around it.
    covered: Vec<f64>,
}

/// The rectangle around a polygon, in whole pixels, within the picture.
struct Around {
    left: usize,
    top: usize,
    width: usize,
    height: usize,
}

impl Raster {
    /// A black picture.
    pub(super) fn new(width: usize, height: usize) -> Raster {
        Raster { width, height, pixels: vec![0; width * height * 3], covered: Vec::new() }
    }

    /// Row by row, three bytes for each pixel.
    pub(super) fn pixels(&self) -> &[u8] {
        &self.pixels
    }

    /// Fills what is inside of contours, each closed from its last point to its first. A contour within another, in the other
    /// direction, is a hole.
    pub(super) fn fill(&mut self, contours: &[Vec<Point>], colour: Rgb) {
        let Some(around) = self.around(contours) else { return };
        let row = around.width + 2;
        self.covered.clear();
        self.covered.resize(row * around.height, 0.0);
        for contour in contours {
            let ends = contour.iter().cycle().skip(1);
            for (&from, &to) in contour.iter().zip(ends) {
                let shifted = |(x, y): Point| (x - around.left as f64, y - around.top as f64);
                edge(&mut self.covered, row, &around, shifted(from), shifted(to));
            }
        }
        for y in 0..around.height {
            let mut sum = 0.0;
            for x in 0..around.width {
                sum += self.covered[y * row + x];
                // In so many steps no eye sees one, and the same digit has the same few colours everywhere.
                let share = (sum.abs().min(1.0) * STEPS).round() / STEPS;
                if share > 0.0 {
                    let at = ((around.top + y) * self.width + around.left + x) * 3;
                    for (below, colour) in self.pixels[at..at + 3].iter_mut().zip(colour) {
                        let mixed = f64::from(*below) + (f64::from(colour) - f64::from(*below)) * share;
                        *below = (mixed + 0.5) as u8;
                    }
                }
            }
        }
    }

    /// Fills a rectangle between two corners: at once where it is of whole pixels, as most are.
    pub(super) fn rect(&mut self, from: Point, to: Point, colour: Rgb) {
        let is_whole = |at: f64, end: usize| at.fract() == 0.0 && at >= 0.0 && at <= end as f64;
        let across = is_whole(from.0, self.width) && is_whole(to.0, self.width);
        if !across || !is_whole(from.1, self.height) || !is_whole(to.1, self.height) {
            return self.fill(&[vec![from, (to.0, from.1), to, (from.0, to.1)]], colour);
        }
        let (left, right) = (from.0 as usize, to.0 as usize);
        let line = colour.repeat(right.saturating_sub(left));
        for y in from.1 as usize..to.1 as usize {
            let start = (y * self.width + left) * 3;
            self.pixels[start..start + line.len()].copy_from_slice(&line);
        }
    }

    fn around(&self, contours: &[Vec<Point>]) -> Option<Around> {
        let points = || contours.iter().flatten();
        if points().any(|point| !point.0.is_finite() || !point.1.is_finite()) {
            return None;
        }
        let least =
            |part: fn(&Point) -> f64| points().map(part).fold(f64::INFINITY, f64::min).floor().max(0.0);
        let most = |part: fn(&Point) -> f64, end: usize| {
            points().map(part).fold(f64::NEG_INFINITY, f64::max).ceil().min(end as f64)
        };
        let (left, top) = (least(|point| point.0), least(|point| point.1));
        let (right, bottom) = (most(|point| point.0, self.width), most(|point| point.1, self.height));
        (left < right && top < bottom).then_some(Around {
            left: left as usize,
            top: top as usize,
            width: (right - left) as usize,
            height: (bottom - top) as usize,
        })
    }
}

/// Adds what an edge covers to its right.
fn edge(covered: &mut [f64], row: usize, around: &Around, from: Point, to: Point) {
    let (sign, (x0, y0), (x1, y1)) = if from.1 < to.1 { (1.0, from, to) } else { (-1.0, to, from) };
    if y0 == y1 {
        return;
    }
    let slope = (x1 - x0) / (y1 - y0);
    let (first, last) = (y0.max(0.0), y1.min(around.height as f64));
    let mut y = first;
    while y < last {
        let number = y.floor();
        let next = (number + 1.0).min(last);
        let (mut left, mut right) = (x0 + slope * (y - y0), x0 + slope * (next - y0));
        if left > right {
            std::mem::swap(&mut left, &mut right);
        }
        let line = &mut covered[number as usize * row..][..row];
        across(line, around.width as f64, (left, right), sign * (next - y));
        y = next;
    }
}

/// An edge within one row of pixels, from `left` to `right` and `high` in all: each pixel under it has what is right of the edge
/// covered, and all further right the whole of it.
fn across(line: &mut [f64], width: f64, (left, right): (f64, f64), high: f64) {
    // Nothing of a figure is outside of it; what is would be drawn at its border.
    let (left, right) = (left.clamp(0.0, width), right.clamp(0.0, width));
    let mut pixel = left.floor();
    loop {
        let (from, to) = (pixel.max(left), (pixel + 1.0).min(right));
        let high = if right > left { high * (to - from) / (right - left) } else { high };
        let share = pixel + 1.0 - (from + to) / 2.0;
        line[pixel as usize] += high * share;
        line[pixel as usize + 1] += high * (1.0 - share);
        pixel += 1.0;
        if pixel >= right {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHITE: Rgb = [255, 255, 255];

    fn drawn(size: (usize, usize), contours: &[Vec<Point>]) -> Vec<u8> {
        let mut raster = Raster::new(size.0, size.1);
        raster.fill(contours, WHITE);
        raster.pixels().iter().step_by(3).copied().collect()
    }

    #[test]
    fn a_pixel_is_as_bright_as_it_is_covered() {
        let rect = |x0: f64, y0: f64, x1: f64, y1: f64| vec![(x0, y0), (x1, y0), (x1, y1), (x0, y1)];
        assert_eq!(drawn((3, 2), &[rect(1.0, 0.0, 2.0, 2.0)]), [0, 255, 0, 0, 255, 0]);
        assert_eq!(drawn((3, 1), &[rect(0.5, 0.0, 2.25, 1.0)]), [128, 255, 64]);
        assert_eq!(drawn((2, 1), &[rect(0.25, 0.5, 0.75, 1.0)]), [64, 0]);
        // A hole, and the whole of what is partly outside.
        let mut hole = rect(1.0, 0.0, 2.0, 1.0);
        hole.reverse();
        assert_eq!(drawn((3, 1), &[rect(0.0, 0.0, 3.0, 1.0), hole]), [255, 0, 255]);
        assert_eq!(drawn((2, 1), &[rect(-5.0, -5.0, 9.0, 9.0)]), [255, 255]);
        assert_eq!(drawn((2, 1), &[rect(f64::NAN, 0.0, 1.0, 1.0)]), [0, 0]);
    }

    #[test]
    fn rectangles_are_the_same_by_either_way() {
        for (from, to) in [
            ((1.0, 1.0), (4.0, 3.0)),
            ((0.5, 1.0), (4.0, 3.0)),
            ((0.0, 0.0), (5.0, 4.0)),
            ((-1.0, 2.0), (9.0, 3.0)),
        ] {
            let mut raster = Raster::new(5, 4);
            raster.rect(from, to, WHITE);
            let filled = drawn((5, 4), &[vec![from, (to.0, from.1), to, (from.0, to.1)]]);
            assert_eq!(
                raster.pixels().iter().step_by(3).copied().collect::<Vec<u8>>(),
                filled,
                "{from:?} {to:?}"
            );
        }
        let mut raster = Raster::new(2, 2);
        raster.rect((1.0, 1.0), (1.0, 2.0), WHITE);
        raster.rect((2.0, 2.0), (1.0, 1.0), WHITE);
        assert!(raster.pixels().iter().all(|&byte| byte == 0));
    }

    #[test]
    fn the_brightness_of_a_slanted_shape_is_its_area() {
        // A long flat triangle, a steep one, and one between: what they cover adds up to their area.
        for (shape, area) in [
            (vec![(1.0, 1.0), (39.0, 3.0), (1.0, 5.0)], 76.0),
            (vec![(3.3, 1.0), (5.0, 19.0), (7.7, 1.5)], 39.18),
            (vec![(2.5, 2.5), (18.25, 11.5), (9.0, 18.0)], 92.8125),
        ] {
            let sum: f64 = drawn((40, 20), &[shape]).iter().map(|&share| f64::from(share) / 255.0).sum();
            assert!((sum - area).abs() < 0.3, "{sum} for {area}");
        }
    }
}
