//! What would make the peak smaller: computing again what a loop keeps for the way back, and a smaller dimension of what the
//! program is given.

use std::collections::BTreeMap;

use tilework::dialect::Dim;
use tilework::xla::{ArrayShape, Layout, Shape};

use crate::audit::Audit;
use crate::find::entry::Entry;
use crate::find::judged::{Half, Kept};
use crate::find::peak::Peaks;
use crate::hash::Map;
use crate::program::{Class, Parameter, Program, Times};
use crate::shapes::ShapeId;
use crate::texts::{NONE, Text};

/// What is less than a twentieth of the peak, or than a MiB, is not worth changing a program.
fn is_worth(bytes: u64, peak: u64) -> bool {
    bytes >= (peak / 20).max(1 << 20)
}

/// The most sizes of arguments that are followed, and the most arguments that are looked at for one.
const TRIED: usize = 32;
const ALIKE: usize = 64;

/// What a loop keeps of its steps, before it is known which.
#[derive(Default)]
struct Group {
    arrays: u64,
    bytes: u64,
    largest: u64,
    /// The place of the largest among the buffers.
    place: usize,
}

impl Audit {
    /// What loops keep of each step for the loop that goes back through the steps, other than what goes from step to step:
    /// `jax.checkpoint` of the function that is run in each step computes it again.
    ///
    /// A loop forward and one backward run as often. What is kept has a part for each step, and one part is no array that
    /// the loop hands on. What the program is given is not computed, whatever its type was changed to.
    pub(crate) fn kept(&self, program: &Program, entries: &[Entry], peaks: &Peaks) -> Option<Kept> {
        let mut loops: BTreeMap<u64, u64> = BTreeMap::new();
        for call in &program.calls {
            if let Times::Loop(Some(times)) = call.times {
                *loops.entry(times).or_default() += 1;
            }
        }
        let is_there_and_back = |steps: &u64| *steps > 1 && loops.get(steps).is_some_and(|&count| count > 1);
        if !loops.values().any(|&count| count > 1) {
            return None;
        }
        // By the hash of the sizes, as there may be many.
        let hash = |sizes: &[u64]| {
            let bytes: Vec<u8> = sizes.iter().flat_map(|size| size.to_le_bytes()).collect();
            self.store.seed.of(&bytes)
        };
        let given: Map<u64, ()> = program
            .parameters
            .iter()
            .filter_map(|own| Some((hash(&sizes(&self.store.shapes.known(own.shape).shape)?), ())))
            .collect();
        // The tuples that loops hand from step to step, by their names.
        let mut tuples: Map<Text, ShapeId> = Map::default();
        for entry in entries {
            if matches!(&*self.store.shapes.known(entry.shape).shape, Shape::Tuple(_)) {
                tuples.insert(entry.name, entry.shape);
            }
        }
        let main = peaks.main_space()?;
        let mut groups: BTreeMap<(Text, u64), Group> = BTreeMap::new();
        for (place, entry) in entries.iter().enumerate() {
            let is_meant = entry.space == main
                && entry.index != NONE
                && peaks.counts(place) == Some(true)
                && program.class(place) == Some(Class::Temporary);
            let Some(&tuple) = tuples.get(&entry.name).filter(|_| is_meant) else { continue };
            let Some(own) = sizes(&self.store.shapes.known(entry.shape).shape) else { continue };
            let Some((steps, part)) = own.split_first().filter(|(steps, _)| is_there_and_back(steps)) else {
                continue;
            };
            let is_handed = match &*self.store.shapes.known(tuple).shape {
                Shape::Tuple(elements) => elements.iter().any(|element| has_sizes(element, part)),
                _ => false,
            };
            if part.is_empty() || is_handed || given.contains_key(&hash(&own)) {
                continue;
            }
            let group = groups.entry((entry.name, *steps)).or_default();
            group.arrays += 1;
            group.bytes = group.bytes.saturating_add(entry.allocated);
            if entry.allocated > group.largest {
                (group.largest, group.place) = (entry.allocated, place);
            }
        }
        let ((_, steps), group) = groups.into_iter().max_by_key(|(_, group)| group.bytes)?;
        let peak = peaks.sum(main)?.allocated;
        is_worth(group.bytes, peak).then(|| Kept {
            arrays: group.arrays,
            steps,
            bytes: group.bytes,
            place: self.place(self.line_of_place(program, entries, group.place)),
        })
    }

    /// The line of the program that writes what is at the place of a buffer.
    fn line_of_place(&self, program: &Program, entries: &[Entry], place: usize) -> u32 {
        let at = |place: usize| {
            program.values.get(place).map(|value| (value.allocation, value.offset, value.size))
        };
        let lines = entries.iter().enumerate().filter(|&(other, _)| at(other) == at(place));
        let mut lines = lines.map(|(_, entry)| entry.line_source(self));
        lines.find(|&source| self.store.sources.source(source).line > 0).unwrap_or(0)
    }

    /// The first dimension of what the program is given that most of what is there at the peak has: how much less it would
    /// be with half of it.
    ///
    /// Only a size that no other dimension of an argument has, and that is no number of steps, can be followed through the
    /// program.
    pub(crate) fn half(&self, program: &Program, entries: &[Entry], peaks: &Peaks) -> Option<Half> {
        let main = peaks.main_space().filter(|&space| space == 0)?;
        let donated: Map<u32, ()> = program.aliases.iter().map(|alias| (alias.parameter, ())).collect();
        let shape = |own: &Parameter| self.store.shapes.known(own.shape).shape.clone();
        let first = |own: &Parameter| sizes(&shape(own))?.first().copied();
        let is_steps = |size: u64| {
            program.calls.iter().any(|call| matches!(call.times, Times::Loop(Some(times)) if times == size))
        };
        let is_elsewhere = |wanted: u64| {
            program.parameters.iter().any(|own| {
                let skipped = usize::from(!donated.contains_key(&own.number));
                let shape = shape(own);
                let dims = shape.as_array().map_or(&[][..], |array| array.dims());
                dims.iter().skip(skipped).any(|dim| size(dim) == Some(wanted))
            })
        };
        let mut best: Option<Half> = None;
        let mut tried: Vec<u64> = Vec::new();
        for own in &program.parameters {
            if tried.len() >= TRIED {
                break;
            }
            let Some(size) = first(own) else { continue };
            let is_candidate =
                size >= 2 && size % 2 == 0 && !tried.contains(&size) && !donated.contains_key(&own.number);
            if !is_candidate {
                continue;
            }
            tried.push(size);
            if is_elsewhere(size) || is_steps(size) {
                continue;
            }
            // Dimensions may be merged: 64 x 256 is 16384.
            let alike: Vec<&Parameter> = program
                .parameters
                .iter()
                .filter(|own| first(own) == Some(size) && !donated.contains_key(&own.number))
                .take(ALIKE)
                .collect();
            let mut wanted: Vec<u64> = Vec::new();
            for own in &alike {
                let mut product = 1_u64;
                for dim in sizes(&shape(own)).unwrap_or_default() {
                    product = product.saturating_mul(dim);
                    if !wanted.contains(&product) {
                        wanted.push(product);
                    }
                }
            }
            let mut less = 0_u64;
            for (place, entry) in entries.iter().enumerate() {
                if entry.space != main || peaks.counts(place) != Some(true) {
                    continue;
                }
                let shape = &self.store.shapes.known(entry.shape).shape;
                let Some(halved) = halved(shape, &wanted) else { continue };
                less = less.saturating_add(entry.allocated.saturating_sub(halved));
            }
            let peak = peaks.sum(main)?.allocated;
            if is_worth(less, peak) && best.as_ref().is_none_or(|best| less > best.bytes) {
                let names = alike.iter().filter_map(|own| self.argument_name(program, own.name));
                best = Some(Half { arguments: names.collect(), size, bytes: less, peak });
            }
        }
        best
    }
}

/// The sizes of an array.
fn sizes(shape: &Shape) -> Option<Vec<u64>> {
    shape.as_array()?.dims().iter().map(size).collect()
}

fn size(dim: &Dim) -> Option<u64> {
    match dim {
        Dim::Static(size) => Some(*size),
        _ => None,
    }
}

/// Whether a shape is an array of these sizes.
fn has_sizes(shape: &Shape, sizes: &[u64]) -> bool {
    shape
        .as_array()
        .is_some_and(|array| array.dims().iter().map(size).eq(sizes.iter().map(|&size| Some(size))))
}

/// What an array takes if the first dimension with one of these sizes is half as long; none if it has none.
fn halved(shape: &Shape, wanted: &[u64]) -> Option<u64> {
    let array = shape.as_array()?;
    let mut sizes = sizes(shape)?;
    let place = sizes.iter().position(|size| wanted.contains(size))?;
    sizes[place] /= 2;
    let plain = ArrayShape::new(array.element_type(), sizes).ok()?;
    let layout = array.layout().cloned().unwrap_or_else(|| Layout::descending(array.rank()));
    Some(plain.with_layout(layout).ok()?.lower().ok()?.bytes())
}
