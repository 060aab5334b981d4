//! Zarr's arrays among the notations.

use super::grid::{Array, list};
use super::read::{is_metadata, read};
use super::say::say;
use crate::dialect::{Confidence, Described, Dialect, Dim, Example, Fact, Facts, Found, Part, words};
use crate::element::Element;
use crate::error::Result;
use crate::layout::Layout;

/// Grids of chunks behind type and sizes, and metadata of arrays.
pub static DIALECT: Dialect = Dialect {
    name: "zarr",
    title: "a Zarr array's chunks",
    recognise,
    read: |text, known| read(text, known).map(|array| vec![Found::unnamed(array)]),
    say: Some(say),
    forms: &[],
    examples: EXAMPLES,
};

const EXAMPLES: &[Example] = &[
    Example {
        text: "f32[3,5] chunks (2, 2)",
        shows: "chunks, those at the edge of full size",
        offsets: &[(&[2, 3], 17)],
        size: 24,
    },
    Example {
        text: "f32[10,200,3000] chunks (5, 20, 400)",
        shows: "a grid of 2 × 10 × 8 chunks",
        offsets: &[(&[7, 150, 900], ((10 + 7) * 8 + 2) * 40_000 + (2 * 20 + 10) * 400 + 100)],
        size: 2 * 10 * 8 * 40_000,
    },
    Example {
        text: "u16[128,128] shards (64, 64) chunks (32, 32)",
        shows: "chunks in shards",
        offsets: &[(&[70, 40], 2 * 4096 + 1024 + 6 * 32 + 8)],
        size: 16_384,
    },
    Example {
        text: "f64[4,6] chunks (2, 3) order (1, 0)",
        shows: "column-major chunks",
        offsets: &[(&[1, 2], 5), (&[2, 0], 12)],
        size: 24,
    },
    Example {
        text: "{\"zarr_format\": 3, \"node_type\": \"array\", \"shape\": [3, 5], \"data_type\": \"float32\", \"chunk_grid\": \
               {\"name\": \"regular\", \"configuration\": {\"chunk_shape\": [2, 2]}}, \"codecs\": [{\"name\": \"bytes\", \
               \"configuration\": {\"endian\": \"little\"}}]}",
        shows: "zarr.json",
        offsets: &[(&[2, 3], 17)],
        size: 24,
    },
    Example {
        text: "{\"zarr_format\": 2, \"shape\": [4, 6], \"chunks\": [2, 3], \"dtype\": \"<f8\", \"order\": \"F\", \
               \"compressor\": null, \"fill_value\": 0.0, \"filters\": null}",
        shows: ".zarray",
        offsets: &[(&[1, 2], 5)],
        size: 24,
    },
];

fn recognise(text: &str) -> Option<Confidence> {
    if is_metadata(text) {
        return Some(Confidence::Certain);
    }
    let word = &text[..text.bytes().take_while(|byte| byte.is_ascii_alphabetic()).count()];
    matches!(word, "chunks" | "shards").then_some(Confidence::Certain)
}

impl Described for Array {
    fn dialect(&self) -> &'static Dialect {
        &DIALECT
    }

    fn element(&self) -> Option<Element> {
        Some(self.element)
    }

    fn layout(&self) -> Result<Layout> {
        self.lower()
    }

    fn parts(&self, _: Option<&Layout>) -> Vec<Part> {
        let dims: Vec<Dim> = self.dims.iter().map(|&size| Dim::Static(size)).collect();
        let mut parts = vec![
            Part::new(
                "element type",
                self.element.name(),
                words::element(self.element, 8 * self.element.bytes()),
            ),
            words::dims(&dims),
        ];
        let times = |counts: &[u64]| counts.iter().map(u64::to_string).collect::<Vec<_>>().join(" × ");
        for (level, shards) in self.shards.iter().enumerate() {
            let (inner, what) = match self.shards.get(level + 1) {
                Some(inner) => (inner, "shards"),
                None => (&self.chunks, "chunks"),
            };
            let each =
                times(&shards.iter().zip(inner).map(|(shard, inner)| shard / inner).collect::<Vec<u64>>());
            let meaning = match level {
                0 => format!(
                    "a grid of {} shards in row-major order, each of {each} {what}",
                    times(&self.counts(shards))
                ),
                _ => format!("the shards of a shard, in row-major order, each of {each} {what}"),
            };
            parts.push(Part::new("shards", format!("shards {}", list(shards)), meaning));
        }
        let meaning = match self.shards.is_empty() {
            false => "the chunks of a shard, in row-major order".to_owned(),
            true => format!(
                "a grid of {} chunks of the array, in row-major order",
                times(&self.counts(&self.chunks))
            ),
        };
        parts.push(Part::new("chunks", format!("chunks {}", list(&self.chunks)), meaning));
        if let Some(order) = &self.order {
            let meaning = format!(
                "the dimensions within a chunk, from major to minor: {}",
                words::first(order, words::MOST)
            );
            parts.push(Part::new("order", format!("order {}", list(order)), meaning));
        }
        parts
    }

    fn facts(&self) -> Facts {
        let numbers = |numbers: &[u64]| numbers.iter().copied().collect::<Fact>();
        let facts = Facts::about("array")
            .with("element_type", self.element.name())
            .with("dimensions", numbers(&self.dims))
            .with("chunks", numbers(&self.chunks))
            .with("shards", self.shards().map_or(Fact::Null, numbers))
            .with("order", self.order.as_ref().map_or(Fact::Null, |order| order.iter().copied().collect()));
        match &self.shards[..] {
            [_, inner @ ..] if !inner.is_empty() => {
                facts.with("inner_shards", inner.iter().map(|sizes| numbers(sizes)).collect::<Fact>())
            }
            _ => facts,
        }
    }

    fn notes(&self, _: &Layout) -> Vec<String> {
        let mut notes = vec![
            "every chunk is an object of its own, and may be compressed; the places here are those of all chunks one after \
             the other, before that"
                .to_owned(),
        ];
        if let [shards] = &self.shards[..] {
            let chunks: u128 =
                shards.iter().zip(&self.chunks).map(|(shard, chunk)| u128::from(shard / chunk)).product();
            notes.push(format!(
                "a shard also has an index of {} B: 16 for each chunk, and a checksum of 4; the order of the chunks within \
                 a shard is the writer's choice",
                16 * chunks + 4
            ));
        }
        notes
    }
}
