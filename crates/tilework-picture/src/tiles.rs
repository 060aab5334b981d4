//! Which tile an element is in.

use tilework_core::{Layout, Part, PartKind};

/// Reads the numbers of the first tiles off an index.
pub(crate) struct Tiles {
    parts: Vec<Part>,
    /// The parts that number the first tiles, from the most minor dimension.
    numbers: Vec<usize>,
    /// Parts behind the last of these are not needed.
    needed: usize,
}

impl Tiles {
    pub(crate) fn new(layout: &Layout) -> Tiles {
        let parts = layout.index_parts().to_vec();
        let first = |part: &Part| matches!(part.kind, PartKind::Tiles { tile: 1, .. });
        let numbers: Vec<usize> = (0..parts.len()).rev().filter(|&id| first(&parts[id])).collect();
        let needed = numbers.first().map_or(0, |last| last + 1);
        Tiles { parts, numbers, needed }
    }

    /// The numbers of the tile of an element, the most minor first; nothing where there are no tiles.
    pub(crate) fn of(&self, index: &[u64]) -> Vec<u64> {
        let values = values(&self.parts[..self.needed], index);
        self.numbers.iter().map(|&id| values[id]).collect()
    }

    /// A number for a tile that differs between as many tiles as there can be of `kinds` numbers, and between those that lie
    /// side by side.
    pub(crate) fn kind(&self, tile: &[u64], kinds: u64) -> Option<u64> {
        let mut before = 1_u64;
        let weights = self.numbers.iter().map(|&id| {
            let weight = before % kinds;
            before = before.saturating_mul(self.parts[id].extent);
            if weight == 0 { 2 } else { weight }
        });
        let numbers = tile.iter().zip(weights).map(|(number, weight)| number % kinds * weight);
        (!tile.is_empty()).then(|| numbers.sum::<u64>() % kinds)
    }

    /// A number for a tile that differs between tiles that lie side by side.
    pub(crate) fn color(tile: &[u64]) -> Option<u64> {
        let colors = tile.iter().zip(1..).map(|(number, weight)| (number % 6) * weight);
        (!tile.is_empty()).then(|| colors.sum())
    }
}

/// What an index gives each part.
pub(crate) fn values(parts: &[Part], index: &[u64]) -> Vec<u64> {
    let mut values: Vec<u64> = Vec::with_capacity(parts.len());
    for part in parts {
        values.push(match part.kind {
            PartKind::Unit => 0,
            PartKind::Dim(dim) => index.get(dim).copied().unwrap_or(0),
            PartKind::Tiles { of, by, .. } => values[of] / by,
            PartKind::Within { of, by, .. } => values[of] % by,
            PartKind::Combined { major, minor, scale } => {
                values[major].saturating_mul(scale).saturating_add(values[minor])
            }
            PartKind::Moved { of, start, step } => {
                let moved = i128::from(start) + i128::from(step) * i128::from(values[of]);
                u64::try_from(moved).unwrap_or(0)
            }
        });
    }
    values
}

/// The places that one of the first tiles fills side by side in memory; none where there are no tiles, or later tiles mix
/// them.
pub(crate) fn tile_places(layout: &Layout) -> Option<u64> {
    places_of_tile(layout, 1)
}

/// The same of the tiles of a number, counted from 1.
pub(crate) fn places_of_tile(layout: &Layout, number: u32) -> Option<u64> {
    let parts = layout.index_parts();
    let within = |mut id: usize| {
        loop {
            match parts[id].kind {
                PartKind::Within { tile, .. } if tile == number => return true,
                PartKind::Tiles { of, tile, .. } | PartKind::Within { of, tile, .. } if tile > number => {
                    id = of
                }
                _ => return false,
            }
        }
    };
    let axes = layout.axes();
    let outside = axes.iter().rev().find(|axis| !within(axis.part))?;
    let some_tile =
        parts.iter().any(|part| matches!(part.kind, PartKind::Tiles { tile, .. } if tile == number));
    (some_tile && outside.stride > 1).then_some(outside.stride.unsigned_abs())
}

/// How many tiles are applied one within the other.
pub(crate) fn tile_levels(layout: &Layout) -> u32 {
    let tile = |part: &Part| match part.kind {
        PartKind::Tiles { tile, .. } | PartKind::Within { tile, .. } => tile,
        _ => 0,
    };
    layout.index_parts().iter().map(tile).max().unwrap_or(0)
}
