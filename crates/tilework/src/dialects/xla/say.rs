//! A layout in XLA's words: an order of the dimensions, tiles, or free strides.
//!
//! Tiles are found by search. The places of a compact layout are a number whose digits, sorted by their strides, belong
//! to dimensions. An order puts the dimensions' digits one dimension after the other, and a tile takes from each of the
//! last ones its lower digits and moves them to the end. So the question is which few such moves sort the digits. Lists
//! of no tile are tried first, then of one, up to [`TILES`]; what is found is lowered again before it is believed.

use std::sync::Arc;

use crate::dialect::Said;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::layout::Layout;
use crate::layout::parts::{Part, PartKind};
use crate::layout::strided::Strided;
use crate::xla::value::layout::Layout as Written;
use crate::xla::value::padding::Strides;
use crate::xla::value::shape::{ArrayShape, Shape};
use crate::xla::value::tile::{Tile, TileDim};

/// The most tiles that are looked for.
const TILES: usize = 3;

/// The most lists of tiles that are looked at.
const TRIES: u32 = 1 << 12;

/// The layout as a shape, for the list of notations.
pub(crate) fn say(layout: &Layout, element: Element) -> Result<Said> {
    ArrayShape::saying(layout, element).map(|array| Arc::new(Shape::Array(array)) as Said)
}

impl ArrayShape {
    /// The shape whose text says this layout: in XLA's words if it can be said so, and else with free strides.
    ///
    /// ```
    /// use tilework::{Element, xla::{ArrayShape, Shape}};
    /// let text = "bf16[64,300]{1,0:T(8,128)(2,1)}";
    /// let layout = Shape::parse(text)?.as_array().unwrap().lower()?;
    /// assert_eq!(ArrayShape::saying(&layout, Element::Bf16)?.to_string(), text);
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// A layout that neither an order with tiles nor strides can say.
    pub fn saying(layout: &Layout, element: Element) -> Result<ArrayShape> {
        let said = by_order(layout, element)
            .or_else(|| by_tiles(layout, element))
            .or_else(|| by_strides(layout, element));
        said.ok_or_else(|| {
            let why = layout.to_strides().err();
            let why = why.map_or_else(String::new, |error| format!(": {}", error.found()));
            Error::new(format!("an XLA shape cannot say this layout{why}"))
                .field("layout")
                .rule("a shape has an order of its dimensions with tiles, or one stride for each dimension")
        })
    }

    /// Whether this lowers to the same function with the same sizes.
    fn says(&self, layout: &Layout) -> bool {
        self.lower().is_ok_and(|said| {
            (said.bits(), said.size()) == (layout.bits(), layout.size())
                && said.same_function(layout).is_yes()
        })
    }
}

/// The shape with this layout, if it says what it should. Elements of another width than the type's have a word for it.
fn checked(layout: &Layout, element: Element, written: Written) -> Option<ArrayShape> {
    let bare = ArrayShape::new(element, layout.dims().iter().copied()).ok()?;
    let plain = bare.clone().with_layout(written.clone()).ok();
    plain.filter(|array| array.says(layout)).or_else(|| {
        let narrow = bare.with_layout(written.with_element_size_in_bits(layout.bits())).ok();
        narrow.filter(|array| array.says(layout))
    })
}

/// An order without tiles.
fn by_order(layout: &Layout, element: Element) -> Option<ArrayShape> {
    let strides = layout.to_strides().ok()?.strides;
    let mut order: Vec<usize> = (0..layout.rank()).rev().collect();
    order.sort_by_key(|&dim| strides[dim].unsigned_abs());
    checked(layout, element, Written::new(order).ok()?)
}

/// Free strides, with a base and a size where they are not the least.
fn by_strides(layout: &Layout, element: Element) -> Option<ArrayShape> {
    let Strided { first, strides, .. } = layout.to_strides().ok()?;
    let free = |base, size| Written::strided(Strides { strides: strides.clone(), base, size });
    let (base, size) = (Some(first), Some(layout.size()));
    let candidates = [free(None, None), free(base, None), free(None, size), free(base, size)];
    candidates.into_iter().flatten().find_map(|written| checked(layout, element, written))
}

/// An order with tiles.
fn by_tiles(layout: &Layout, element: Element) -> Option<ArrayShape> {
    if layout.is_empty() || !layout.is_compact() {
        return None;
    }
    let Number { items, digits, counts } = Number::of(layout)?;
    let mut search = Search { counts: &counts, left: TRIES, tiles: Vec::new(), found: Vec::new() };
    for depth in 0..=TILES {
        let mut order: Vec<usize> = (0..items.len()).collect();
        let mut found: Vec<(Vec<usize>, Vec<Vec<u64>>)> = Vec::new();
        loop {
            let places: Vec<Vec<usize>> = order.iter().map(|&item| digits[item].clone()).collect();
            search.sort(&places, depth);
            found.extend(search.found.drain(..).map(|tiles| (order.clone(), tiles)));
            if search.left == 0 || !next_permutation(&mut order) {
                break;
            }
        }
        found.sort_by_key(|(_, tiles)| strangeness(tiles));
        let said = found.iter().find_map(|(order, tiles)| written(layout, element, &items, order, tiles));
        if said.is_some() || search.left == 0 {
            return said;
        }
    }
    None
}

/// How far tiles are from what compilers write: few sizes, and no tile longer than the one before it.
fn strangeness(tiles: &[Vec<u64>]) -> (usize, usize) {
    let sizes = tiles.iter().map(Vec::len).sum();
    let longer = tiles.windows(2).filter(|pair| pair[1].len() > pair[0].len()).count();
    (sizes, longer)
}

/// The places of a layout as one number of several digits, the most major first.
struct Number {
    /// What has digits, or is of size 1: a dimension, several that `*` combines, or a dimension that is missing.
    items: Vec<Vec<usize>>,
    /// The digits of each item, major to minor, by their position in the number.
    digits: Vec<Vec<usize>>,
    /// How many values each digit has.
    counts: Vec<u64>,
}

impl Number {
    fn of(layout: &Layout) -> Option<Number> {
        let parts = layout.index_parts();
        let mut roots: Vec<usize> = Vec::new();
        let (mut items, mut cuts) = (Vec::new(), Vec::<Vec<(u64, usize)>>::new());
        let axes = layout.axes();
        for (place, axis) in axes.iter().enumerate() {
            let (root, below) = root(&parts, axis.part)?;
            let item = roots.iter().position(|&known| known == root).unwrap_or(roots.len());
            if item == roots.len() {
                roots.push(root);
                items.push(dims_of(&parts, root)?);
                cuts.push(Vec::new());
            }
            cuts[item].push((below, place));
        }
        for dim in 0..layout.rank() {
            if !items.iter().any(|item| item.contains(&dim)) {
                items.push(vec![dim]);
                cuts.push(Vec::new());
            }
        }
        // A dimension by itself and combined with others has two roots.
        let named: usize = items.iter().map(Vec::len).sum();
        let digits = cuts.into_iter().map(|mut cuts| {
            cuts.sort_by_key(|&(below, _)| std::cmp::Reverse(below));
            cuts.into_iter().map(|(_, place)| place).collect()
        });
        let counts = axes.iter().map(|axis| axis.extent).collect();
        (named == layout.rank()).then(|| Number { items, digits: digits.collect(), counts })
    }
}

/// What an axis is a digit of, and the product of the digits below it.
fn root(parts: &[Part], mut part: usize) -> Option<(usize, u64)> {
    let mut below = 1_u64;
    loop {
        part = match parts[part].kind {
            PartKind::Tiles { of, by, .. } => {
                below = below.checked_mul(by)?;
                of
            }
            PartKind::Within { of, .. } => of,
            _ => return Some((part, below)),
        }
    }
}

/// The dimensions that a root combines, major to minor.
fn dims_of(parts: &[Part], root: usize) -> Option<Vec<usize>> {
    let (mut dims, mut stack) = (Vec::new(), vec![root]);
    while let Some(part) = stack.pop() {
        match parts[part].kind {
            PartKind::Unit => {}
            PartKind::Dim(dim) => dims.push(dim),
            PartKind::Combined { major, minor, .. } => stack.extend([minor, major]),
            _ => return None,
        }
    }
    Some(dims)
}

/// The search for tiles that sort the digits.
struct Search<'a> {
    counts: &'a [u64],
    left: u32,
    /// Those taken so far: the size of each of the last places.
    tiles: Vec<Vec<u64>>,
    found: Vec<Vec<Vec<u64>>>,
}

impl Search<'_> {
    /// Finds the lists of exactly `depth` more tiles that leave one digit in each place, all sorted.
    fn sort(&mut self, places: &[Vec<usize>], depth: usize) {
        if depth == 0 {
            if places.iter().all(|place| place.len() <= 1) && places.iter().flatten().is_sorted() {
                self.found.push(self.tiles.clone());
            }
            return;
        }
        self.left = self.left.saturating_sub(1);
        // How many digits each place keeps: all of them where it is before the tile.
        let mut kept: Vec<usize> = places.iter().map(Vec::len).collect();
        while self.left > 0 && lower(&mut kept, places) {
            let Some(first) = kept.iter().zip(places).position(|(&kept, place)| kept < place.len()) else {
                continue;
            };
            let mut moved = places[..first].to_vec();
            let tiled = || kept[first..].iter().zip(&places[first..]);
            moved.extend(tiled().map(|(&kept, place)| place[..kept].to_vec()));
            moved.extend(tiled().map(|(&kept, place)| place[kept..].to_vec()));
            let tile =
                tiled().map(|(&kept, place)| place[kept..].iter().map(|&digit| self.counts[digit]).product());
            let tile: Vec<u64> = tile.collect();
            self.tiles.push(tile);
            self.sort(&moved, depth - 1);
            self.tiles.pop();
        }
    }
}

/// The next way to keep digits: like counting down, each place from all it has to none.
fn lower(kept: &mut [usize], places: &[Vec<usize>]) -> bool {
    for (kept, place) in kept.iter_mut().zip(places).rev() {
        if *kept > 0 {
            *kept -= 1;
            return true;
        }
        *kept = place.len();
    }
    false
}

/// The shape with this order and these tiles, if it says the layout.
fn written(
    layout: &Layout,
    element: Element,
    items: &[Vec<usize>],
    order: &[usize],
    tiles: &[Vec<u64>],
) -> Option<ArrayShape> {
    let dims: Vec<usize> = order.iter().rev().flat_map(|&item| items[item].iter().rev().copied()).collect();
    let mut made = Vec::new();
    for (level, sizes) in tiles.iter().enumerate() {
        let mut tile = Vec::new();
        let tiled = order.len().saturating_sub(sizes.len());
        for (number, &size) in sizes.iter().enumerate() {
            if level == 0 {
                let combined = items[order[tiled + number]].len();
                tile.extend((1..combined).map(|_| TileDim::Combine));
            }
            tile.push(TileDim::Size(size));
        }
        made.push(Tile::from_dims(tile).ok()?);
    }
    let mut written = Written::new(dims).ok()?.with_tiles(made).ok()?;
    if layout.tail() > 0 {
        written = written.with_tail_padding_alignment_in_elements(layout.size()).ok()?;
    }
    checked(layout, element, written)
}

/// The next order, in the order of words; false after the last.
fn next_permutation(order: &mut [usize]) -> bool {
    let Some(at) = order.windows(2).rposition(|pair| pair[0] < pair[1]) else { return false };
    let other = order.iter().rposition(|&item| item > order[at]).unwrap_or(at);
    order.swap(at, other);
    order[at + 1..].reverse();
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_are_found_again() -> Result<()> {
        for text in [
            "f32[3,5]{1,0:T(2,2)}",
            "f32[3,5]{0,1:T(2,2)}",
            "bf16[4,8]{1,0:T(2,4)(2,1)}",
            "bf16[64,300]{1,0:T(8,128)(2,1)}",
            "f32[3,100]{1,0:T(8,128)}",
            "f32[2,3,100]{2,0,1:T(8,128)}",
            "f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}",
            "s8[5000]{0:T(1024)(128)(4,1)}",
            "f32[100]{0:T(8,128)}",
            "f32[1,1,300]{2,1,0:T(8,128)}",
            "f32[4,3,5,700]{0,2,1,3:T(8,128)}",
            "f32[8,8]{1,0:T(2,4)(2,1,1,1)}",
            "f32[7]{0:L(16)}",
            "pred[]",
            "f32[3,5]{strides(7,-1),base(4)}",
        ] {
            let shape = Shape::parse(text)?;
            let array = shape.as_array().ok_or_else(|| Error::new("no array"))?;
            let said = ArrayShape::saying(&array.lower()?, array.element_type())?;
            assert_eq!(said.lower()?, array.lower()?, "{text} became {said}");
            assert!(said.to_string() == text || text.contains("base"), "{text} became {said}");
        }
        Ok(())
    }
}
