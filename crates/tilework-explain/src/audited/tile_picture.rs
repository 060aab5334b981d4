//! The tiles of an array as a picture: how much of each holds elements.
//!
//! Two dimensions are drawn, the most minor ones, as these are what tiles cut. Of many tiles the first few stand for all,
//! and the last ones are drawn as well, since they are where an array ends within a tile.

use tilework::xla::{ArrayShape, TileDim};
use tilework_picture::svg::{Anchor, Drawing, Rect};

use super::pictures::WIDTH;

/// The most tiles that are drawn side by side, and one above the other.
const ACROSS: u64 = 8;
const DOWN: u64 = 4;

/// The largest tile in the picture, the smallest height, and the room that left-out tiles get.
const WIDEST: f64 = 220.0;
const LOWEST: f64 = 26.0;
const TALLEST: f64 = 120.0;
const GAP: f64 = 28.0;

/// One dimension in tiles.
struct Axis {
    size: u64,
    tile: u64,
    /// The numbers of the tiles that are drawn.
    drawn: Vec<u64>,
}

impl Axis {
    fn new(size: u64, tile: u64, most: u64) -> Axis {
        let count = size.div_ceil(tile);
        let drawn = match count <= most {
            true => (0..count).collect(),
            false => (0..most - 2).chain([count - 1]).collect(),
        };
        Axis { size, tile, drawn }
    }

    fn count(&self) -> u64 {
        self.size.div_ceil(self.tile)
    }

    /// Where each tile that is drawn begins, and where the last ends; `each` is its extent.
    fn places(&self, each: f64) -> (Vec<f64>, f64) {
        let mut at = 0.0;
        let mut before = None;
        let mut places = Vec::new();
        for &number in &self.drawn {
            if before.is_some_and(|before| before + 1 != number) {
                at += GAP;
            }
            places.push(at);
            at += each;
            before = Some(number);
        }
        (places, at)
    }

    /// How much of a tile holds elements, 0 to 1.
    fn share(&self, number: u64) -> f64 {
        let rest = self.size.saturating_sub(number.saturating_mul(self.tile));
        rest.min(self.tile) as f64 / self.tile as f64
    }
}

/// The picture; none of an array without tiles, or with tiles that cut more than two dimensions.
pub(super) fn tile_picture(array: &ArrayShape) -> Option<String> {
    let layout = array.layout()?;
    let tile = layout.tiles().first()?.dims();
    let sizes: Vec<u64> =
        layout.minor_to_major().iter().map(|&dim| array.dims().get(dim)?.bound()).collect::<Option<_>>()?;
    let mut tile = tile.iter().rev().map(|dim| match dim {
        TileDim::Size(size) => Some(*size),
        TileDim::Combine => None,
    });
    let [across, down] = [tile.next()??, tile.next().unwrap_or(Some(1))?];
    if tile.any(|more| more != Some(1)) || across == 0 || down == 0 {
        return None;
    }
    let size = |place: usize| sizes.get(place).copied().unwrap_or(1);
    if sizes.contains(&0) {
        return None;
    }
    let (x, y) = (Axis::new(size(0), across, ACROSS), Axis::new(size(1), down, DOWN));
    let gaps = if x.drawn.len() as u64 == x.count() { 0.0 } else { GAP };
    let width = ((WIDTH - gaps) / x.drawn.len() as f64).min(WIDEST);
    let height = (width * down as f64 / across as f64).clamp(LOWEST, TALLEST);
    let ((lefts, _), (tops, bottom)) = (x.places(width), y.places(height));
    let mut drawing = Drawing::new(WIDTH, bottom + 22.0, "the tiles of the two most minor dimensions");
    for (&row, &top) in y.drawn.iter().zip(&tops) {
        for (&column, &left) in x.drawn.iter().zip(&lefts) {
            let whole = Rect { x: left, y: top, width, height };
            let elements = Rect { width: width * x.share(column), height: height * y.share(row), ..whole };
            drawing.fill(whole, "waste");
            drawing.fill(elements, "data");
            drawing.outline(whole, "page", 2.0);
        }
    }
    let others: u128 = sizes.iter().skip(2).map(|&size| u128::from(size)).product();
    let planes = if others > 1 { format!(", {others} times") } else { String::new() };
    let (columns, rows) = (x.count(), y.count());
    let said =
        format!("{} × {} elements in {rows} × {columns} tiles of {down} × {across}{planes}", y.size, x.size);
    drawing.text((0.0, bottom + 16.0), &said, "faint", Anchor::Start);
    Some(drawing.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilework::xla::Shape;

    fn picture(text: &str) -> Option<String> {
        tile_picture(Shape::parse(text).expect("a shape").as_array().expect("an array"))
    }

    #[test]
    fn the_blue_part_of_a_tile_is_the_share_of_its_elements() {
        let svg = picture("f32[5,10,130]{2,1,0:T(8,128)}").expect("two dimensions in tiles");
        // Two tiles of 220 by 26 points: 128 of 128 columns, then 2; and 8 of 8 rows, then 2.
        let data: Vec<&str> =
            svg.split("fill=\"var(--data)\"").map(|part| part.rsplit('<').next().unwrap_or("")).collect();
        let sizes: Vec<bool> = ["220.00", "3.44"]
            .iter()
            .map(|width| data.iter().any(|rect| rect.contains(&format!("width=\"{width}\" height=\"6.50\""))))
            .collect();
        assert_eq!(sizes, [true, true], "{svg}");
        assert!(svg.contains("10 × 130 elements in 2 × 2 tiles of 8 × 128, 5 times"), "{svg}");
    }

    #[test]
    fn of_many_tiles_the_first_and_the_last_are_drawn() {
        let svg = picture("f32[300000,1300]{1,0:T(8,128)}").expect("a picture");
        assert_eq!(svg.matches("stroke=").count(), 3 * 7);
        assert!(svg.len() < 10_000);
    }

    #[test]
    fn what_has_no_tiles_in_two_dimensions_has_no_picture() {
        assert!(picture("f32[3,5]").is_none());
        assert!(picture("f32[3,5,7]{2,1,0:T(2,2,2)}").is_none());
        assert!(picture("f32[3,5,7]{2,1,0:T(2,*,2)}").is_none());
        assert!(picture("f32[0,5]{1,0:T(8,128)}").is_none());
        assert!(picture("f32[]{:T(128)}").is_some());
    }
}
