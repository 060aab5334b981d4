//! What would make the peak smaller: computing again what a loop keeps for the way back, and a smaller dimension of what the
//! program is given.

use std::collections::BTreeMap;

use tilework::xla::{ArrayShape, Layout, Shape};

use crate::audit::Audit;
use crate::find::entry::Entry;
use crate::find::judged::{Half, Kept};
use crate::find::peak::Peaks;
use crate::hash::Map;
use crate::program::{Class, Program, Times};
use crate::texts::{NONE, Text};

/// What is less than a twentieth of the peak, or than a MiB, is not worth changing a program.
fn is_worth(bytes: u64, peak: u64) -> bool {
    bytes >= (peak / 20).max(1 << 20)
}

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
        let given: Vec<Vec<u64>> = program
            .parameters
            .iter()
            .filter_map(|own| sizes(&self.store.shapes.known(own.shape).shape))
            .collect();
        // The tuples that loops hand from step to step, by their names.
        let mut tuples: Map<Text, Vec<Vec<u64>>> = Map::default();
        for entry in entries {
            if let Shape::Tuple(elements) = &*self.store.shapes.known(entry.shape).shape {
                tuples.insert(entry.name, elements.iter().filter_map(sizes).collect());
            }
        }
        let main = peaks.main_space()?;
        let mut groups: BTreeMap<(Text, u64), Group> = BTreeMap::new();
        for (place, entry) in entries.iter().enumerate() {
            let is_meant = entry.space == main
                && entry.index != NONE
                && peaks.counts(place) == Some(true)
                && program.class(place) == Some(Class::Temporary);
            let Some(handed) = tuples.get(&entry.name).filter(|_| is_meant) else { continue };
            let Some(own) = sizes(&self.store.shapes.known(entry.shape).shape) else { continue };
            let Some((steps, part)) = own.split_first().filter(|(steps, _)| is_there_and_back(steps)) else {
                continue;
            };
            let is_handed = handed.iter().any(|other| other == part);
            if part.is_empty() || is_handed || given.contains(&own) {
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
        let arguments: Vec<(u32, Text, Vec<u64>)> = program
            .parameters
            .iter()
            .filter_map(|own| Some((own.number, own.name, sizes(&self.store.shapes.known(own.shape).shape)?)))
            .collect();
        let is_steps = |size: u64| {
            program.calls.iter().any(|call| matches!(call.times, Times::Loop(Some(times)) if times == size))
        };
        let is_elsewhere = |size: u64| {
            arguments.iter().any(|(number, _, own)| {
                let first = usize::from(!program.is_donated(*number));
                own.iter().skip(first).any(|&other| other == size)
            })
        };
        let mut best: Option<Half> = None;
        let mut tried: Vec<u64> = Vec::new();
        for (number, _, own) in &arguments {
            let Some(&size) = own.first() else { continue };
            let is_candidate =
                size >= 2 && size % 2 == 0 && !program.is_donated(*number) && !tried.contains(&size);
            if !is_candidate || is_elsewhere(size) || is_steps(size) {
                continue;
            }
            tried.push(size);
            // Dimensions may be merged: 64 x 256 is 16384.
            let alike: Vec<&(u32, Text, Vec<u64>)> =
                arguments.iter().filter(|(_, _, other)| other.first() == Some(&size)).collect();
            let mut wanted: Vec<u64> = Vec::new();
            for (_, _, other) in &alike {
                let mut product = 1_u64;
                for &dim in other.iter() {
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
                let names = alike.iter().filter_map(|(_, name, _)| self.argument_name(program, *name));
                best = Some(Half { arguments: names.collect(), size, bytes: less, peak });
            }
        }
        best
    }
}

/// The sizes of an array.
fn sizes(shape: &Shape) -> Option<Vec<u64>> {
    Some(shape.as_array()?.lower().ok()?.dims().to_vec())
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
