//! Orders and tiles: which of them say a layout.
//!
//! Tiles are found by search. The places of a compact layout are a number whose digits, sorted by their strides, belong
//! to dimensions. An order puts the dimensions' digits one dimension after the other, and a tile takes from each of the
//! last ones its lower digits and moves them to the end. So the question is which few such moves sort the digits. Lists
//! of no tile are tried first, then of one, up to `TILES`; what is found is built again before it is believed.

use crate::arithmetic::next_permutation;
use crate::error::Result;
use crate::layout::Layout;
use crate::layout::parts::{Part, PartKind};
use crate::order::InOrder;

/// The most tiles that are looked for.
const TILES: usize = 3;

/// The most lists of tiles that are gone on with, and the most that are looked at.
const TRIES: u32 = 1 << 12;
const LOOKS: u32 = 1 << 18;

/// An order of the dimensions and tiles, as XLA and JAX say where elements are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tiled {
    /// The dimensions, the most minor first.
    pub minor_to_major: Vec<usize>,
    /// The sizes of each tile; `None` combines a dimension with the next more minor one.
    pub tiles: Vec<Vec<Option<u64>>>,
    /// The end of the buffer is padded to a multiple of this many elements.
    pub align: u64,
}

impl Layout {
    /// The order and tiles that say this layout; none if there are none or if they were not found.
    #[doc(hidden)]
    pub fn to_tiled(&self) -> Option<Tiled> {
        self.require_no_swizzle().ok()?;
        by_order(self).or_else(|| by_tiles(self))
    }
}

impl Tiled {
    /// The layout of elements of `bits` bits in this order and these tiles.
    pub fn build(&self, dims: &[u64], bits: u32) -> Result<Layout> {
        let mut builder = Layout::builder(dims, bits)?.minor_to_major(&self.minor_to_major)?;
        for tile in &self.tiles {
            builder = builder.tile(tile)?;
        }
        builder.align(self.align).build()
    }

    /// This, if it says the layout.
    fn checked(self, layout: &Layout) -> Option<Tiled> {
        let built = self.build(layout.dims(), layout.bits()).ok()?;
        (built.size() == layout.size() && built.same_function(layout).is_yes()).then_some(self)
    }
}

/// An order without tiles.
fn by_order(layout: &Layout) -> Option<Tiled> {
    let strides = layout.to_strides().ok()?.strides;
    let row_major: Vec<usize> = (0..layout.rank()).rev().collect();
    let mut sorted = row_major.clone();
    sorted.order_by_key(|&dim| strides[dim].unsigned_abs());
    // Dimensions of size 1 fit anywhere, so row-major comes first.
    let orders = [row_major, sorted].into_iter();
    let mut tiled = orders.map(|minor_to_major| Tiled { minor_to_major, tiles: Vec::new(), align: 1 });
    tiled.find_map(|tiled| tiled.checked(layout))
}

/// An order with tiles.
fn by_tiles(layout: &Layout) -> Option<Tiled> {
    if layout.is_empty() || !layout.is_compact() {
        return None;
    }
    let Number { items, digits, counts } = Number::of(layout)?;
    // Without tiles there is one order, whatever the digits are; there are too many orders to look for it.
    if let Some(order) = sorted(&digits)
        && let Some(said) = tiled(layout, &items, &order, &[])
    {
        return Some(said);
    }
    let mut search =
        Search { counts: &counts, left: TRIES, looks: LOOKS, tiles: Vec::new(), found: Vec::new() };
    for depth in 1..=TILES {
        let mut order: Vec<usize> = (0..items.len()).collect();
        let mut found: Vec<(Vec<usize>, Vec<Vec<u64>>)> = Vec::new();
        loop {
            let places: Vec<Vec<usize>> = order.iter().map(|&item| digits[item].clone()).collect();
            search.sort(&places, depth);
            found.extend(search.found.drain(..).map(|tiles| (order.clone(), tiles)));
            if search.is_over() || !next_permutation(&mut order) {
                break;
            }
        }
        found.order_by_key(|(_, tiles)| strangeness(tiles));
        let said = found.iter().find_map(|(order, tiles)| tiled(layout, &items, order, tiles));
        if said.is_some() || search.is_over() {
            return said;
        }
    }
    None
}

/// The first order of the items that sorts their digits; none if one has several. An item without digits fits anywhere.
fn sorted(digits: &[Vec<usize>]) -> Option<Vec<usize>> {
    if digits.iter().any(|digits| digits.len() > 1) {
        return None;
    }
    let mut ascending: Vec<usize> = (0..digits.len()).filter(|&item| !digits[item].is_empty()).collect();
    ascending.order_by_key(|&item| digits[item][0]);
    let mut free = (0..digits.len()).filter(|&item| digits[item].is_empty()).peekable();
    let mut order = Vec::with_capacity(digits.len());
    for item in ascending {
        order.extend(std::iter::from_fn(|| free.next_if(|&other| other < item)));
        order.push(item);
    }
    order.extend(free);
    Some(order)
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
            let (root, below) = root(parts, axis.part)?;
            let item = roots.iter().position(|&known| known == root).unwrap_or(roots.len());
            if item == roots.len() {
                roots.push(root);
                items.push(dims_of(parts, root)?);
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
            cuts.order_by_key(|&(below, _)| std::cmp::Reverse(below));
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
    looks: u32,
    /// Those taken so far: the size of each of the last places.
    tiles: Vec<Vec<u64>>,
    found: Vec<Vec<Vec<u64>>>,
}

impl Search<'_> {
    fn is_over(&self) -> bool {
        self.left == 0 || self.looks == 0
    }

    /// Finds the lists of exactly `depth` more tiles that leave one digit in each place, all sorted.
    fn sort(&mut self, places: &[Vec<usize>], depth: usize) {
        if depth == 0 {
            self.looks = self.looks.saturating_sub(1);
            if places.iter().all(|place| place.len() <= 1) && places.iter().flatten().is_sorted() {
                self.found.push(self.tiles.clone());
            }
            return;
        }
        self.left = self.left.saturating_sub(1);
        // How many digits each place keeps: all of them where it is before the tile.
        let mut kept: Vec<usize> = places.iter().map(Vec::len).collect();
        while !self.is_over() && lower(&mut kept, places) {
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

/// The order and the tiles, if they say the layout.
fn tiled(layout: &Layout, items: &[Vec<usize>], order: &[usize], sizes: &[Vec<u64>]) -> Option<Tiled> {
    let minor_to_major: Vec<usize> =
        order.iter().rev().flat_map(|&item| items[item].iter().rev().copied()).collect();
    let mut tiles = Vec::new();
    for (level, sizes) in sizes.iter().enumerate() {
        let mut tile = Vec::new();
        let untiled = order.len().saturating_sub(sizes.len());
        for (number, &size) in sizes.iter().enumerate() {
            if level == 0 {
                let combined = items[order[untiled + number]].len();
                tile.extend((1..combined).map(|_| None));
            }
            tile.push(Some(size));
        }
        tiles.push(tile);
    }
    let align = if layout.tail() > 0 { layout.size() } else { 1 };
    Tiled { minor_to_major, tiles, align }.checked(layout)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fewest_tiles_that_say_a_layout_are_found() -> Result<()> {
        let tiled =
            |dims: &[u64], tiled: &Tiled| tiled.build(dims, 32)?.to_tiled().ok_or(crate::Error::new("none"));
        let one = Tiled { minor_to_major: vec![0, 1], tiles: vec![vec![Some(2), Some(4)]], align: 1 };
        assert_eq!(tiled(&[16, 16], &one)?, one);
        let stars =
            Tiled { minor_to_major: vec![2, 1, 0], tiles: vec![vec![None, Some(8), Some(128)]], align: 1 };
        assert_eq!(tiled(&[3, 5, 300], &stars)?, stars);
        // One tile wide, a tiled array is the plain one.
        let plain = Tiled { minor_to_major: vec![1, 0], tiles: Vec::new(), align: 1 };
        let whole = Tiled { tiles: vec![vec![Some(8), Some(128)]], ..plain.clone() };
        assert_eq!(tiled(&[16, 128], &whole)?, plain);
        assert_eq!(Layout::strided(&[2, 3], 32, &[5, 1], None, None)?.to_tiled(), None);
        Ok(())
    }

    #[test]
    fn a_search_among_many_dimensions_ends() -> Result<()> {
        let all = Tiled { minor_to_major: (0..16).rev().collect(), tiles: vec![vec![Some(2); 16]], align: 1 };
        let layout = all.build(&[4; 16], 8)?;
        assert!(layout.to_tiled().is_none_or(|found| found == all));
        // Each dimension has one digit, so there is one order.
        let ones = Tiled { tiles: vec![vec![Some(1); 16]], ..all };
        let (dims, untiled) = ([2; 16], Tiled { tiles: Vec::new(), ..ones.clone() });
        assert_eq!(ones.build(&dims, 8)?.to_tiled(), Some(untiled));
        Ok(())
    }

    #[test]
    fn an_order_without_tiles_is_the_first_of_all_that_sort_the_digits() {
        let items = [vec![], vec![2], vec![0], vec![], vec![1]];
        let mut order: Vec<usize> = (0..items.len()).collect();
        let naive = loop {
            if order.iter().flat_map(|&item| &items[item]).is_sorted() {
                break order.clone();
            }
            assert!(next_permutation(&mut order));
        };
        assert_eq!(sorted(&items), Some(naive));
        assert_eq!(sorted(&[vec![0, 1]]), None);
    }
}
