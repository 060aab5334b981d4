//! Rows of quantised blocks mixed for one kind of processor, as ggml does when it loads a model, and back.
//!
//! `q4_0_8x4` has the blocks of 8 rows in one: their scales, and then their quants, 4 bytes of each row in turn. All that is
//! moved is bytes, but for two things:
//!
//! 1. the quants of `q4_0` have the top bit of each half changed, so that they are numbers with a sign;
//! 2. the scales and minimums of `q4_K` are 6 bits each, 8 and 8 packed into the 12 bytes of a block, one for each 32 elements.
//!    The mixed block has 12 bytes for each 32 elements, with the scales and minimums of the 8 rows packed alike.
//!
//! ggml has no way back, and no longer takes files with such blocks; here they are bytes with a note (`note.rs`).

use tilework::{Error, Result};

use super::array::Blocks;

/// How rows are mixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mix {
    /// Rows whose blocks are one.
    pub rows: u64,
    /// Bytes of a row at a time.
    pub chunk: u64,
}

/// The types that ggml mixes, with the rows and bytes for which it has code.
const MIXES: [(&str, &[Mix]); 4] = [
    ("q4_0", &[Mix { rows: 4, chunk: 4 }, Mix { rows: 4, chunk: 8 }, Mix { rows: 8, chunk: 8 }]),
    ("q8_0", &[Mix { rows: 4, chunk: 4 }, Mix { rows: 4, chunk: 8 }]),
    ("q4_K", &[Mix { rows: 8, chunk: 4 }, Mix { rows: 8, chunk: 8 }]),
    ("iq4_nl", &[Mix { rows: 4, chunk: 4 }, Mix { rows: 8, chunk: 8 }]),
];

/// What is before the quants of a block, in bytes: numbers of 16 bits, and packed scales.
fn head(kind: &str) -> (usize, usize) {
    if kind == "q4_K" { (2, 12) } else { (1, 0) }
}

impl Mix {
    /// The mix of this name, such as `8x8`, of a type of blocks, if ggml has it.
    pub(crate) fn named(kind: &str, name: &str) -> Option<Mix> {
        let (rows, chunk) = name.split_once('x')?;
        let mix = Mix { rows: rows.parse().ok()?, chunk: chunk.parse().ok()? };
        let all = MIXES.iter().find(|(own, _)| *own == kind).map(|(_, all)| *all)?;
        all.contains(&mix).then_some(mix)
    }

    /// The names of all mixes of a type.
    pub(crate) fn names(kind: &str) -> Vec<String> {
        let all = MIXES.iter().find(|(own, _)| *own == kind).map_or(&[][..], |(_, all)| all);
        all.iter().map(|mix| format!("{kind}_{}x{}", mix.rows, mix.chunk)).collect()
    }
}

/// Blocks on their way from one order of rows to the other.
pub(crate) struct Repack<'a> {
    blocks: &'a Blocks,
    mix: Mix,
    /// Whether they are mixed, and not taken apart.
    forward: bool,
}

impl<'a> Repack<'a> {
    /// The way from one to the other, which has blocks of the same type and sizes.
    ///
    /// # Errors
    /// Two that are mixed in different ways.
    pub(crate) fn new(from: &'a Blocks, to: &'a Blocks) -> Result<Repack<'a>> {
        match (from.mix, to.mix) {
            (None, Some(mix)) => Ok(Repack { blocks: to, mix, forward: true }),
            (Some(mix), None) => Ok(Repack { blocks: from, mix, forward: false }),
            _ => Err(Error::new(format!("{from} as {to}"))
                .rule("rows are mixed, or taken apart again")
                .accepts(format!("--to {} first", from.block.name()))),
        }
    }

    /// The bytes of rows that are mixed with each other.
    pub(crate) fn group(&self) -> usize {
        let row = self.blocks.dims.last().copied().unwrap_or(0) / self.blocks.block.elements();
        (self.mix.rows * row * self.blocks.block.bytes()) as usize
    }

    /// Writes whole groups of rows.
    pub(crate) fn run(&self, from: &[u8], to: &mut [u8]) {
        let (group, rows) = (self.group(), self.mix.rows as usize);
        if group == 0 {
            return;
        }
        let block = self.blocks.block.bytes() as usize;
        for (from, to) in from.chunks_exact(group).zip(to.chunks_exact_mut(group)) {
            let row = group / rows;
            for at in (0..row).step_by(block) {
                // Block `at` of each row, and the mixed block of all of them.
                let own = |k: usize| k * row + at..k * row + at + block;
                let mixed = at * rows..(at + block) * rows;
                match self.forward {
                    true => self.mix(|k, byte| from[own(k).start + byte], &mut to[mixed]),
                    false => self.part(&from[mixed], |k, byte, value| to[own(k).start + byte] = value),
                }
            }
        }
    }

    /// Writes a mixed block of the blocks of all rows.
    fn mix(&self, row: impl Fn(usize, usize) -> u8, to: &mut [u8]) {
        self.for_each_byte(|k, byte, place, change| to[place] = row(k, byte) ^ change);
        self.for_each_scale(|from, place| {
            let rows: [[u8; 12]; 8] =
                std::array::from_fn(|k| std::array::from_fn(|byte| row(k, from + byte)));
            transpose(rows).as_flattened().iter().zip(&mut to[place..]).for_each(|(&new, to)| *to = new);
        });
    }

    /// Writes the blocks of all rows of a mixed block.
    fn part(&self, from: &[u8], mut row: impl FnMut(usize, usize, u8)) {
        self.for_each_byte(|k, byte, place, change| row(k, byte, from[place] ^ change));
        self.for_each_scale(|to, place| {
            let mixed: [[u8; 12]; 8] =
                std::array::from_fn(|k| std::array::from_fn(|byte| from[place + 12 * k + byte]));
            for (k, bytes) in transpose(mixed).iter().enumerate() {
                bytes.iter().enumerate().for_each(|(byte, &value)| row(k, to + byte, value));
            }
        });
    }

    /// Calls `visit` with the row, the byte in its block, the place in the mixed block, and what to change in it.
    fn for_each_byte(&self, mut visit: impl FnMut(usize, usize, usize, u8)) {
        let (rows, chunk) = (self.mix.rows as usize, self.mix.chunk as usize);
        let (numbers, packed) = head(self.blocks.block.name());
        for number in 0..numbers {
            for k in 0..rows {
                for byte in 0..2 {
                    visit(k, 2 * number + byte, 2 * (number * rows + k) + byte, 0);
                }
            }
        }
        let head = 2 * numbers + packed;
        let quants = self.blocks.block.bytes() as usize - head;
        let change = if self.blocks.block.name() == "q4_0" { 0x88 } else { 0 };
        for at in 0..quants * rows {
            let (part, byte) = (at / chunk, at % chunk);
            visit(part % rows, head + part / rows * chunk + byte, head * rows + at, change);
        }
    }

    /// Calls `visit` with where packed scales are in a block, and in the mixed block.
    fn for_each_scale(&self, mut visit: impl FnMut(usize, usize)) {
        let (numbers, packed) = head(self.blocks.block.name());
        if packed > 0 {
            visit(2 * numbers, 2 * numbers * self.mix.rows as usize);
        }
    }
}

/// Of 8 times 8 packed scales and minimums: the first of each packed together, the second of each, and on.
fn transpose(rows: [[u8; 12]; 8]) -> [[u8; 12]; 8] {
    let found = rows.map(|row| unpack(&row));
    std::array::from_fn(|part| pack(std::array::from_fn(|row| found[row][part])))
}

/// The 8 scales with their minimums, of 6 bits each. The lower four of each have 6 bits of a byte; the upper bits of the other
/// four are in the 2 bits that are left there, and their lower 4 bits in four bytes more.
fn unpack(bytes: &[u8; 12]) -> [[u8; 2]; 8] {
    std::array::from_fn(|part| match part {
        0..4 => [bytes[part] & 63, bytes[part + 4] & 63],
        _ => {
            let low = bytes[part + 4];
            [low & 15 | bytes[part - 4] >> 6 << 4, low >> 4 | bytes[part] >> 6 << 4]
        }
    })
}

/// The same, packed.
fn pack(parts: [[u8; 2]; 8]) -> [u8; 12] {
    std::array::from_fn(|byte| match byte {
        0..4 => parts[byte][0] | parts[byte + 4][0] >> 4 << 6,
        4..8 => parts[byte - 4][1] | parts[byte][1] >> 4 << 6,
        _ => parts[byte - 4][0] & 15 | parts[byte - 4][1] << 4,
    })
}

#[cfg(test)]
mod tests {
    use tilework::ggml::Block;

    use super::*;

    fn blocks(kind: &str, mix: Option<Mix>, dims: &[u64]) -> Blocks {
        let block = Block::named(kind).expect(kind);
        Blocks::mixed(block, mix, dims).expect(kind)
    }

    /// Where byte `byte` of a block is that is the `column`-th of row `row`, by the description of the format alone, and what is
    /// changed in it; none for packed scales.
    fn place(kind: &str, mix: Mix, columns: u64, (row, column, byte): (u64, u64, u64)) -> Option<(u64, u8)> {
        let size = Block::named(kind).expect(kind).bytes();
        let (scales, head) = match kind {
            "q4_K" => (4, 16),
            _ => (2, 2),
        };
        let start = (row / mix.rows * columns + column) * mix.rows * size;
        let row = row % mix.rows;
        if byte < scales {
            return Some((start + byte / 2 * 2 * mix.rows + 2 * row + byte % 2, 0));
        }
        if byte < head {
            return None;
        }
        let quant = byte - head;
        let at = (quant / mix.chunk * mix.rows + row) * mix.chunk + quant % mix.chunk;
        Some((start + head * mix.rows + at, if kind == "q4_0" { 0x88 } else { 0 }))
    }

    #[test]
    fn every_byte_is_where_the_description_says_and_comes_back() -> Result<()> {
        for (kind, all) in MIXES {
            let block = Block::named(kind).expect(kind);
            for &mix in all {
                let (rows, columns) = (2 * mix.rows, 3);
                let dims = [rows, columns * block.elements()];
                let (plain, mixed) = (blocks(kind, None, &dims), blocks(kind, Some(mix), &dims));
                let from: Vec<u8> = (0..plain.bytes()).map(|at| (at * 31 % 253) as u8).collect();
                let (mut to, mut back) = (vec![0; from.len()], vec![0; from.len()]);
                Repack::new(&plain, &mixed)?.run(&from, &mut to);
                Repack::new(&mixed, &plain)?.run(&to, &mut back);
                assert!(back == from, "{mixed}");
                let mut seen = 0;
                for row in 0..rows {
                    for column in 0..columns {
                        for byte in 0..block.bytes() {
                            let old = from[((row * columns + column) * block.bytes() + byte) as usize];
                            if let Some((at, change)) = place(kind, mix, columns, (row, column, byte)) {
                                assert_eq!(to[at as usize], old ^ change, "{mixed}: {row}, {column}, {byte}");
                                seen += 1;
                            }
                        }
                    }
                }
                let packed = if kind == "q4_K" { 12 * rows * columns } else { 0 };
                assert_eq!(seen + packed, plain.bytes());
            }
        }
        Ok(())
    }

    /// A scale and a minimum, as ggml's own code reads them from the 12 bytes of a block.
    fn scale(bytes: &[u8], part: usize) -> [u8; 2] {
        match part < 4 {
            true => [bytes[part] & 63, bytes[part + 4] & 63],
            false => [
                (bytes[part + 4] & 0xf) | ((bytes[part - 4] >> 6) << 4),
                (bytes[part + 4] >> 4) | ((bytes[part] >> 6) << 4),
            ],
        }
    }

    #[test]
    fn packed_scales_are_those_of_the_rows() -> Result<()> {
        let mix = Mix { rows: 8, chunk: 8 };
        let (plain, mixed) = (blocks("q4_K", None, &[8, 256]), blocks("q4_K", Some(mix), &[8, 256]));
        let from: Vec<u8> = (0..plain.bytes()).map(|at| (at * at * 7 % 255) as u8).collect();
        let mut to = vec![0; from.len()];
        Repack::new(&plain, &mixed)?.run(&from, &mut to);
        for row in 0..8 {
            for part in 0..8 {
                let old = scale(&from[144 * row + 4..], part);
                assert_eq!(scale(&to[32 + 12 * part..], row), old, "{row}, {part}");
            }
        }
        for byte in 0..=255 {
            let bytes: [u8; 12] = std::array::from_fn(|at| byte ^ (at as u8).wrapping_mul(37));
            assert_eq!(pack(unpack(&bytes)), bytes);
        }
        Ok(())
    }
}
