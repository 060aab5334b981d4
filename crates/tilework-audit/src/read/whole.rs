//! What a program is given on all devices together.
//!
//! The module whose buffers are assigned is that of one device. What it was made from has the whole arrays:
//!
//! ```text
//! HloModule jit_step, entry_computation_layout={…}, num_partitions=4
//! ENTRY %main.1 (…) -> f32[512,1000] {
//!   %x.1 = bf16[512,1024]{1,0} parameter(2), sharding={devices=[2,1,2]<=[4] last_tile_dim_replicate}, …
//! ```

use memchr::{memchr, memmem};

use crate::program::Program;
use crate::read::bytes::{after, number};
use crate::store::Store;

/// The most arguments of a program whose whole is kept.
const MOST: usize = 1 << 16;

impl Store {
    /// Notes among how many devices a program is divided, by the first line of its module; whether there are several.
    pub(super) fn devices(&self, program: &mut Program, line: &[u8]) -> bool {
        program.devices = after(line, b", num_partitions=").and_then(number).unwrap_or(1);
        program.devices > 1
    }

    /// Notes what an argument is on all devices together; `inside` is whether the first computation has begun.
    pub(super) fn whole_line(&mut self, program: &mut Program, inside: &mut bool, line: &[u8]) {
        let text = line.trim_ascii();
        if text.starts_with(b"ENTRY ") || text.first() == Some(&b'}') {
            *inside = text.starts_with(b"ENTRY ");
        }
        let Some(at) = memmem::find(text, b" parameter(").filter(|_| *inside) else { return };
        let shape = after(&text[..at], b" = ").filter(|shape| memchr(b' ', shape).is_none());
        let shape = shape.and_then(|shape| self.shapes.number(shape));
        let number = number(&text[at + b" parameter(".len()..]).and_then(|number| u32::try_from(number).ok());
        if let Some((number, shape)) = number.zip(shape)
            && program.whole.len() < MOST
            && self.budget.for_entry(&mut program.whole)
        {
            program.whole.insert(number, shape);
        }
    }
}
