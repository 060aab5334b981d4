//! Random arrays for the model and for Tilework.

use crate::dice::Dice;
use crate::model::{Array, Places};

/// What random arrays are like.
#[derive(Clone, Copy, Debug)]
pub struct Wild {
    /// Whether sizes go up to what no memory holds, and numbers may be wrong.
    pub sizes: bool,
    /// Whether elements may share a place.
    pub overlaps: bool,
}

impl Array {
    /// Some array of these sizes.
    pub fn random(dice: &mut Dice, dims: &[u64], bits: u32, wild: Wild) -> Array {
        let places = match dice.below(3) {
            0 => Places::strided(dice, dims, wild),
            _ => Places::tiled(dice, dims, wild),
        };
        let mut array = Array { dims: dims.to_vec(), bits, places, views: Vec::new(), swizzle: None };
        if dice.once_in(6) {
            let bits = dice.below(4) as u32;
            let shift = i32::try_from(u64::from(bits) + dice.below(4)).unwrap_or(0);
            let shift = if dice.once_in(2) { shift } else { -shift };
            let base = if wild.sizes { dice.below(50) } else { dice.below(5) };
            array.swizzle = Some((bits, base as u32, shift));
        }
        array
    }
}

impl Places {
    fn tiled(dice: &mut Dice, dims: &[u64], wild: Wild) -> Places {
        let mut order = dice.order(dims.len());
        if wild.sizes && dice.once_in(50) {
            order.push(dice.index(dims.len() + 2));
        }
        let more = |dice: &mut Dice, size: u64| match wild.sizes && dice.once_in(8) {
            true => dice.number(),
            false => size.saturating_add(dice.below(4)),
        };
        let padded = dice.once_in(4).then(|| dims.iter().map(|&size| more(dice, size)).collect());
        let count = dice.of(&[0, 0, 1, 1, 1, 2, 2, 3, 5]);
        let tiles = (0..count).map(|_| tile(dice, wild)).collect();
        let align = match dice.below(8) {
            0 => 1 + dice.below(16),
            1 if wild.sizes => dice.number(),
            _ => 1,
        };
        Places::Tiled { order, padded, tiles, align }
    }

    fn strided(dice: &mut Dice, dims: &[u64], wild: Wild) -> Places {
        let mut strides = vec![0; dims.len()];
        let mut next: i64 = if dice.once_in(3) { 1 + dice.below(4) as i64 } else { 1 };
        for dim in dice.order(dims.len()) {
            strides[dim] = if dice.once_in(4) { next.wrapping_neg() } else { next };
            if wild.overlaps && dice.once_in(4) {
                strides[dim] = dice.below(4) as i64 - 1;
            }
            if wild.sizes && dice.once_in(5) {
                strides[dim] = dice.number() as i64;
            }
            let gap = if dice.once_in(2) { 0 } else { dice.below(9) as i64 };
            next = next.saturating_mul(dims[dim].clamp(1, 1 << 62) as i64).saturating_add(gap);
        }
        let free = Places::Strided { strides: strides.clone(), base: None, size: None };
        let whole = Array { dims: dims.to_vec(), bits: 1, places: free, views: vec![], swizzle: None };
        let (low, high) = whole.reach();
        let near = |dice: &mut Dice, least: i128| -> Option<u64> {
            match wild.sizes && dice.once_in(2) {
                true => Some(dice.number()),
                false => u64::try_from(least.saturating_add(dice.below(5).into())).ok(),
            }
        };
        let base = if dice.once_in(4) { near(dice, -low) } else { None };
        let need = base.map_or(-low, i128::from).saturating_add(high).saturating_add(1);
        let size = if dice.once_in(4) { near(dice, need) } else { None };
        Places::Strided { strides, base, size }
    }
}

/// Some entries, of which the last is seldom a star.
fn tile(dice: &mut Dice, wild: Wild) -> Vec<Option<u64>> {
    let entry = |dice: &mut Dice| match dice.below(8) {
        0 => None,
        1 if wild.sizes && dice.once_in(8) => Some(dice.number()),
        2 | 3 => Some(dice.of(&[2, 4, 8, 16, 32, 128])),
        _ => Some(1 + dice.below(9)),
    };
    let mut tile: Vec<_> = (0..1 + dice.below(4)).map(|_| entry(dice)).collect();
    if let Some(last @ None) = tile.last_mut().filter(|_| !wild.sizes || !dice.once_in(20)) {
        *last = Some(1 + dice.below(4));
    }
    tile
}
