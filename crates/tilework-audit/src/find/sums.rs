//! Buffers of a program by what they waste, their sums, and sizes that are not what the layouts need.

use std::cmp::{Ordering, Reverse};
use tilework::InOrder;

use tilework::xla::Shape;

use crate::audit::Audit;
use crate::find::entry::{Entry, is_near};
use crate::find::findings::{Buffer, Contradiction, Keyed, Place, Shared, SpaceSum, Sum};
use crate::find::listing::Listing;
use crate::find::peak::Peaks;
use crate::hash::Map;
use crate::program::{Allocation, Class, Program, Value};
use crate::shapes::ShapeId;
use crate::sources::Source;
use crate::suggest::footprint::Footprint;
use crate::suggest::suggest;
use crate::suggest::target::has_no_tiles;
use crate::texts::{NONE, Text};

/// Alignment of the tables of pointers that tuples are.
const TABLE: u64 = 512;

/// Elements of a register of a TPU.
const REGISTER: u64 = 1024;

/// The most memory spaces that are told of; machines have a handful.
const SPACES: usize = 16;

/// The most shapes for which the smallest layout is looked for.
const SUGGESTED: usize = 50;

impl Audit {
    /// Sizes that are not what the layouts need: the first of them, and how many.
    pub(crate) fn contradictions(
        &self,
        program: &Program,
        top: usize,
        listing: &Listing,
    ) -> (Vec<Contradiction>, u64) {
        let found = || program.values.iter().filter_map(|value| Some((value, self.contradicted(value)?)));
        let list = found().take(top).map(|(value, needs)| Contradiction {
            name: self.name_of(&self.entry_of(program, value)),
            shape: self.shape(value.shape),
            says: value.size,
            needs,
            rounded: value.rounded,
            line: program.line(value.line),
        });
        (listing.of(list), found().count() as u64)
    }

    /// What a layout needs, if the dump says otherwise.
    fn contradicted(&self, value: &Value) -> Option<u64> {
        let known = self.store.shapes.known(value.shape);
        if known.supposed {
            return None;
        }
        let needs = known.cost_of(value)?.allocated;
        let agrees = match &*known.shape {
            _ if value.rounded => is_near(value.size, needs),
            // A table of pointers of 4 or 8 bytes.
            Shape::Tuple(elements) => {
                let count = elements.len() as u64;
                [4 * count, 8 * count]
                    .iter()
                    .any(|&bytes| value.size == bytes || value.size == bytes.max(1).next_multiple_of(TABLE))
            }
            // What is in front of an array of dynamic sizes is up to the machine.
            Shape::Array(array) if !array.is_static() => value.size >= needs,
            // What a TPU lays out by no tiles, such as the operands of an addition that is applied, it counts in whole
            // rows of its registers.
            Shape::Array(array) if array.rank() <= 1 && has_no_tiles(array) => {
                let width = u64::from(array.element_size_in_bits().div_ceil(8));
                value.size == needs || value.size == needs.next_multiple_of(REGISTER * width)
            }
            _ => value.size == needs,
        };
        (!agrees).then_some(needs)
    }

    pub(crate) fn spaces(&self, program: &Program, entries: &[Entry], peaks: &Peaks) -> Vec<SpaceSum> {
        let mut sums: Map<i64, Sum> = Map::default();
        for entry in entries {
            sums.entry(entry.space).or_default().add(entry.count, entry.allocated, entry.data);
        }
        let mut spaces: Vec<(i64, Sum)> = sums.into_iter().collect();
        spaces.order_by_key(|&(number, _)| number);
        spaces.truncate(SPACES);
        let space = |(number, total)| {
            let named = program.spaces.iter().find(|space| space.number == number);
            SpaceSum {
                number,
                name: named.and_then(|space| self.name(space.name)),
                reserved: program.reserved(number),
                total,
                peak: peaks.sum(number),
            }
        };
        spaces.into_iter().map(space).collect()
    }

    /// All buffers, those with the most padding first.
    pub(crate) fn buffers(
        &self,
        program: &Program,
        entries: &[Entry],
        peaks: &Peaks,
        top: usize,
        listing: &Listing,
    ) -> Vec<Buffer> {
        let waste = |entry: &Entry| (entry.allocated - entry.data).saturating_mul(entry.count);
        let mut order: Vec<usize> = (0..entries.len()).collect();
        order.order_by_key(|&place| Reverse((waste(&entries[place]), entries[place].allocated)));
        self.listed(program, entries, peaks, order.into_iter().take(top), listing)
    }

    /// The largest buffers: those in the main memory when it holds the most, where that is known.
    pub(crate) fn largest(
        &self,
        program: &Program,
        entries: &[Entry],
        peaks: &Peaks,
        top: usize,
        listing: &Listing,
    ) -> Vec<Buffer> {
        let main = peaks.main_space();
        let is_meant = |&place: &usize| match main {
            Some(space) => entries[place].space == space && peaks.counts(place) == Some(true),
            None => true,
        };
        let mut order: Vec<usize> = (0..entries.len()).filter(is_meant).collect();
        order.order_by_key(|&place| {
            let entry = &entries[place];
            (Reverse(entry.allocated.saturating_mul(entry.count)), entry.line)
        });
        self.listed(program, entries, peaks, order.into_iter().take(top), listing)
    }

    /// The buffers at these places, with all that is known of them.
    fn listed(
        &self,
        program: &Program,
        entries: &[Entry],
        peaks: &Peaks,
        places: impl Iterator<Item = usize>,
        listing: &Listing,
    ) -> Vec<Buffer> {
        let starts = program.starts();
        listing.of(places.map(|place| self.buffer(program, entries, peaks, &starts, place)))
    }

    fn buffer(
        &self,
        program: &Program,
        entries: &[Entry],
        peaks: &Peaks,
        starts: &[u64],
        place: usize,
    ) -> Buffer {
        let entry = &entries[place];
        let value = program.values.get(place).filter(|_| program.has.assignment);
        Buffer {
            name: self.name_of(entry),
            shape: self.shape(entry.shape),
            space: entry.space,
            at: value.and_then(|value| starts.get(value.allocation as usize)?.checked_add(value.offset)),
            allocated: entry.allocated,
            data: entry.data,
            count: entry.count,
            class: program.class(place),
            at_peak: peaks.holds(place),
            in_place_of: peaks.in_place_of(place).and_then(|whole| self.name_of(&entries[whole])),
            live: peaks.live(self, program, place, entry),
            computation: self.computation(program, entry.computation),
            place: self.place(entry.source),
            near: entry.near,
            near_place: self.place(entry.near_source),
            line: program.line(entry.line),
        }
    }

    pub(crate) fn shared(
        &self,
        entries: &[Entry],
        peaks: &Peaks,
        top: usize,
        listing: &Listing,
    ) -> Vec<Shared> {
        struct Group {
            shape: ShapeId,
            space: i64,
            sum: Sum,
            at_peak: Sum,
            /// The waste of the worst of them.
            worst: u64,
            first: Vec<usize>,
        }
        let mut places: Map<(ShapeId, i64), usize> = Map::default();
        let mut groups: Vec<Group> = Vec::new();
        for (number, entry) in entries.iter().enumerate() {
            let shape = self.store.shapes.known(entry.shape).same_as;
            let place = *places.entry((shape, entry.space)).or_insert_with(|| {
                groups.push(Group {
                    shape,
                    space: entry.space,
                    sum: Sum::default(),
                    at_peak: Sum::default(),
                    worst: 0,
                    first: Vec::new(),
                });
                groups.len() - 1
            });
            let group = &mut groups[place];
            group.sum.add(entry.count, entry.allocated, entry.data);
            if peaks.counts(number) == Some(true) {
                group.at_peak.add(entry.count, entry.allocated, entry.data);
            }
            group.worst = group.worst.max(entry.allocated - entry.data);
            if group.first.len() < 3 {
                group.first.push(number);
            }
        }
        // What is there at the peak comes first. A buffer of another time with as much waste is nearly another peak.
        groups.order_by_key(|group| {
            Reverse((group.at_peak.waste().max(group.worst), group.at_peak.waste(), group.sum.waste()))
        });
        // What wastes nothing says nothing here.
        groups.retain(|group| group.sum.waste() > 0);
        let shared = |(place, group): (usize, &Group)| Shared {
            shape: self.shape(group.shape),
            space: group.space,
            sum: group.sum,
            at_peak: peaks.main_space().map(|_| group.at_peak),
            growths: self.store.shapes.layout(group.shape).map(|layout| layout.growths()).unwrap_or_default(),
            widened: self.widened(group.shape),
            smallest: (place < SUGGESTED).then(|| self.smallest(group.shape)).flatten(),
            names: group.first.iter().filter_map(|&place| self.name_of(&entries[place])).collect(),
            place: group.first.first().map(|&place| self.place(entries[place].source)).unwrap_or_default(),
        };
        listing.of(groups.iter().take(top).enumerate().map(shared))
    }

    /// Bits of an element, where the layout gives it more.
    fn widened(&self, shape: ShapeId) -> Option<(u32, u32)> {
        let array = self.store.shapes.known(shape).shape.as_array()?;
        let (own, given) = (8 * array.element_type().bytes(), array.layout()?.element_size_in_bits());
        (given > own).then_some((own, given))
    }

    /// The smallest layout of an array that has tiles, where that is smaller.
    fn smallest(&self, shape: ShapeId) -> Option<Footprint> {
        let array = self.store.shapes.known(shape).shape.as_array()?;
        if array.layout().is_none_or(|layout| layout.tiles().is_empty()) {
            return None;
        }
        suggest(array, &self.target).ok()?.smaller().next().cloned()
    }

    pub(crate) fn computation(&self, program: &Program, number: u32) -> Option<String> {
        self.name(program.computation_names.get(number as usize).copied().unwrap_or(NONE))
    }

    pub(crate) fn by_computation(
        &self,
        program: &Program,
        entries: &[Entry],
        top: usize,
        listing: &Listing,
    ) -> Vec<Keyed<String>> {
        let mut sums: Map<u32, Sum> = Map::default();
        for entry in entries {
            sums.entry(entry.computation).or_default().add(entry.count, entry.allocated, entry.data);
        }
        let named = |key: u32| program.computation_names.get(key as usize).copied().unwrap_or(NONE);
        let text = |key: u32| self.store.texts.text(named(key));
        let ranked =
            ranked(sums.into_iter().filter(|&(key, _)| named(key) != NONE), |&a, &b| text(a).cmp(text(b)));
        let keyed = |(key, sum)| Keyed { key: text(key).to_owned(), sum };
        listing.of(ranked.into_iter().take(top).map(keyed))
    }

    pub(crate) fn by_source(&self, entries: &[Entry], top: usize, listing: &Listing) -> Vec<Keyed<Place>> {
        let mut sums: Map<(Text, u32, Text), Sum> = Map::default();
        for entry in entries {
            let source = self.store.sources.source(entry.line_source(self));
            let operation = if source.line > 0 { NONE } else { source.operation };
            let key = (source.file, source.line, operation);
            sums.entry(key).or_default().add(entry.count, entry.allocated, entry.data);
        }
        let key = |&(file, line, operation): &(Text, u32, Text)| match line {
            0 => (self.store.texts.text(operation), 0),
            line => (self.store.texts.text(file), line),
        };
        let ranked = ranked(sums.into_iter(), |a, b| key(a).cmp(&key(b)));
        let keyed = |((file, line, operation), sum)| Keyed {
            key: self.place_of(Source { operation, file, line }),
            sum,
        };
        listing.of(ranked.into_iter().take(top).map(keyed))
    }
}

/// The most waste first; of equal ones, as `order` says. Names are made of those that are listed only.
fn ranked<K>(sums: impl Iterator<Item = (K, Sum)>, order: impl Fn(&K, &K) -> Ordering) -> Vec<(K, Sum)> {
    let mut sums: Vec<(K, Sum)> = sums.collect();
    sums.order_by(|a, b| {
        (b.1.waste(), b.1.allocated).cmp(&(a.1.waste(), a.1.allocated)).then_with(|| order(&a.0, &b.0))
    });
    sums
}

impl Program {
    /// A line, if there are any.
    pub(crate) fn line(&self, line: u64) -> u64 {
        if self.serialised { 0 } else { line }
    }

    /// What the memory of a value is for.
    pub(crate) fn class(&self, value: usize) -> Option<Class> {
        Some(self.allocations.get(self.values.get(value)?.allocation as usize)?.class)
    }

    /// Where each allocation begins, if those of a memory space stand one behind the other.
    fn starts(&self) -> Vec<u64> {
        let mut ends: Map<i64, u64> = Map::default();
        let start = |allocation: &Allocation| {
            let end = ends.entry(allocation.space).or_default();
            std::mem::replace(end, end.saturating_add(allocation.size))
        };
        self.allocations.iter().map(start).collect()
    }

    /// Bytes of all allocations in a memory space; none if they are not known.
    pub(crate) fn reserved(&self, space: i64) -> Option<u64> {
        let own = self.allocations.iter().filter(|allocation| allocation.space == space);
        self.has.assignment.then(|| own.map(|allocation| allocation.size).fold(0, u64::saturating_add))
    }
}
