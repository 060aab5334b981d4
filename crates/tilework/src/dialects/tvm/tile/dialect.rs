//! What a tile layout says, in pieces.

use super::super::DIALECT;
use super::{Tiled, index, on_axis};
use crate::dialect::{Described, Dialect, Dim, Fact, Facts, Part, words};
use crate::element::Element;
use crate::error::Result;
use crate::layout::Layout;

impl Described for Tiled {
    fn dialect(&self) -> &'static Dialect {
        &DIALECT
    }

    fn element(&self) -> Option<Element> {
        Some(self.element)
    }

    fn layout(&self) -> Result<Layout> {
        self.lower()
    }

    fn open(&self) -> Option<String> {
        self.elsewhere().map(|why| format!("There is no layout of one buffer: {why}."))
    }

    fn parts(&self, _: Option<&Layout>) -> Vec<Part> {
        let dims: Vec<Dim> = self.dims.iter().map(|&size| Dim::Static(size)).collect();
        let meaning = words::element(self.element, 8 * self.element.bytes());
        let layout = &self.layout;
        let extents: Vec<u64> = layout.shard.iter().map(|iter| iter.extent).collect();
        let strides: Vec<String> = layout.shard.iter().map(|iter| on_axis(iter.stride, &iter.axis)).collect();
        let mut parts = vec![
            Part::new("element type", self.element.name(), meaning),
            words::dims(&dims),
            Part::new(
                "shard",
                index("S", &layout.shard),
                format!(
                    "the elements, counted row-major, in digits of {}, with strides of {}",
                    words::first(&extents, words::MOST),
                    words::first(&strides, words::MOST)
                ),
            ),
        ];
        if !layout.replica.is_empty() {
            let copies: u128 =
                layout.replica.iter().map(|iter| u128::from(iter.extent)).fold(1, u128::saturating_mul);
            let meaning = format!("each element is at {copies} places, these far from each other");
            parts.push(Part::new("replica", index("R", &layout.replica), meaning));
        }
        for (axis, &offset) in &layout.offset {
            let meaning = format!("the first element is at {offset} on the axis {axis}");
            parts.push(Part::new("offset", format!("+ {}", on_axis(offset, axis)), meaning));
        }
        if let Some(exchange) = layout.exchange {
            let text = format!(
                "ComposeLayout({}, {}, {}, …)",
                exchange.per_element, exchange.swizzle_len, exchange.atom_len
            );
            let meaning = format!(
                "{} bits of the offset are flipped by those {} {}, from bit {} on",
                exchange.swizzle_len,
                exchange.atom_len,
                if exchange.inner { "further up" } else { "further down" },
                exchange.per_element
            );
            parts.push(Part::new("swizzle", text, meaning));
        }
        parts
    }

    fn facts(&self) -> Facts {
        let layout = &self.layout;
        let swizzle = layout.exchange.map(|exchange| {
            [exchange.per_element, exchange.swizzle_len, exchange.atom_len].into_iter().collect::<Fact>()
        });
        Facts::about("array")
            .with("element_type", self.element.name())
            .with("dimensions", self.dims.iter().copied().collect::<Fact>())
            .with("tile_layout", layout.to_string())
            .with("extents", layout.shard.iter().map(|iter| iter.extent).collect::<Fact>())
            .with("strides", layout.shard.iter().map(|iter| iter.stride).collect::<Fact>())
            .with("axes", layout.shard.iter().map(|iter| iter.axis.clone()).collect::<Fact>())
            .with("compose", swizzle)
    }
}
