//! Conclusions: buffers, sums, the peak, moves, contradictions.

mod advice;
mod devices;
mod donation;
pub(crate) mod entry;
pub(crate) mod findings;
pub(crate) mod judged;
pub(crate) mod listing;
mod moves;
mod peak;
mod reasons;
mod shrink;
mod sums;
pub(crate) mod suppose;

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use tilework::InOrder;

use tilework::xla::Shape;

use crate::audit::Audit;
use crate::budget::CONCLUDING;
use crate::program::{Message, Program};
use crate::shapes::ShapeId;
use crate::sources::Source;
use entry::{Entry, entries};
use findings::{Audited, Basis, Findings, Machine, Place, Sum};
use listing::Listing;
use peak::Peaks;

impl Audit {
    /// Concludes: at most `top` of each list.
    pub fn findings(&self, top: usize) -> Findings {
        let listing = Listing::within(&self.store.budget);
        let mut programs: Vec<Audited> =
            self.programs.iter().filter_map(|program| self.audited(program, top, &listing)).collect();
        programs.retain(|program| !program.is_empty());
        // The largest first; of equal ones those with the most padding.
        programs.order_by_key(|program| {
            let main = program.main();
            let needed = program.message.used.unwrap_or(0).max(main.allocated);
            Reverse((needed, main.waste(), program.moved.bytes))
        });
        join_messages(&mut programs);
        distinguish(&mut programs);
        let (unread, assumed) = (self.store.complaints.list.clone(), self.assumed.clone());
        let logs = self.logged(top, &listing);
        Findings { programs, logs, unread, assumed, cut: listing.is_cut() }
    }

    fn audited(&self, program: &Program, top: usize, listing: &Listing) -> Option<Audited> {
        // What concluding takes was counted when it was read. Whether the system gives it is asked here, at once.
        let parts = program.values.len() + program.made.len() + program.moves.len() + program.loose.len();
        if Vec::<u8>::new().try_reserve_exact(parts.saturating_mul(CONCLUDING)).is_err() {
            listing.cut();
            return None;
        }
        let (basis, entries) = entries(self, program);
        let peaks = Peaks::new(self, program, &entries);
        let mut total = Sum::default();
        for entry in &entries {
            total.add(entry.count, entry.allocated, entry.data);
        }
        let (moves, arguments, advice, moved) = self.moves(program, top, listing);
        let donatable = self.donatable(program);
        let donatable_bytes = donatable.iter().map(|each| each.bytes).fold(0, u64::saturating_add);
        let donatable = listing.of(donatable.into_iter().take(top));
        let replicas = self.replicas(program);
        let replica_bytes = replicas.iter().map(|each| each.spares).fold(0, u64::saturating_add);
        let replicas = listing.of(replicas.into_iter().take(top));
        let (contradictions, contradiction_count) = self.contradictions(program, top, listing);
        let name = match self.store.texts.text(program.name) {
            // Without its module, it is called as its files are.
            "" => program.group.rsplit(['/', '\\']).next().unwrap_or_default().to_owned(),
            name => name.to_owned(),
        };
        Some(Audited {
            name,
            group: program.group.clone(),
            basis,
            total,
            peak: peaks.main(self, program),
            spaces: self.spaces(program, &entries, &peaks),
            buffers: self.buffers(program, &entries, &peaks, top, listing),
            largest: self.largest(program, &entries, &peaks, top, listing),
            reasons: self.reasons(program, &entries, &peaks, &total),
            shapes: self.shared(&entries, &peaks, top, listing),
            computations: self.by_computation(program, &entries, top, listing),
            sources: self.by_source(&entries, top, listing),
            moves,
            arguments,
            advice,
            donatable,
            donatable_bytes,
            machine: self.machine(),
            kept: self.kept(program, &entries, &peaks),
            half: self.half(program, &entries, &peaks),
            devices: Some(program.devices).filter(|&devices| devices > 1),
            replicas,
            replica_bytes,
            moved,
            contradictions,
            contradiction_count,
            message: program.message.clone(),
            instructions: program.instructions,
            compilers_peak: program.compilers_peak.map(|(_, bytes)| bytes),
            overflowed: program.overflowed,
        })
    }

    /// The machine that was asked about, if what it has is known.
    fn machine(&self) -> Option<Machine> {
        let target = &self.assumed.as_ref()?.target;
        Some(Machine { name: target.name().to_owned(), device: target.device()? })
    }

    pub(crate) fn shape(&self, number: ShapeId) -> Arc<Shape> {
        self.store.shapes.known(number).shape.clone()
    }

    /// What a name means to people; none for the empty one.
    pub(crate) fn name(&self, text: u32) -> Option<String> {
        Some(self.store.texts.text(text)).filter(|text| !text.is_empty()).map(str::to_owned)
    }

    pub(crate) fn place(&self, source: u32) -> Place {
        self.place_of(self.store.sources.source(source))
    }

    pub(crate) fn place_of(&self, source: Source) -> Place {
        Place {
            operation: self.name(source.operation),
            file: self.name(source.file),
            line: Some(source.line).filter(|&line| line > 0),
        }
    }

    pub(crate) fn name_of(&self, entry: &Entry) -> Option<String> {
        let index = match self.store.texts.text(entry.index) {
            "{}" => "",
            index => index,
        };
        self.name(entry.name).map(|name| name + index)
    }
}

/// A message that names a program and lists nothing is about the dump of that program: the dump then says what there is.
fn join_messages(programs: &mut Vec<Audited>) {
    let is_message = |program: &Audited| {
        program.basis == Basis::Nothing && program.message.used.is_some() && !program.name.is_empty()
    };
    let mut place = 0;
    while let Some(program) = programs.get(place) {
        let name = &program.name;
        let same = |other: &Audited| other.name == *name && other.basis == Basis::Assignment;
        let mut dumps = (0..programs.len()).filter(|&other| same(&programs[other]));
        let dump = dumps.next().filter(|_| is_message(program) && dumps.next().is_none());
        match dump.filter(|&dump| programs[dump].message == Message::default()) {
            Some(dump) => {
                let message = Message { parts: Vec::new(), ..program.message.clone() };
                programs[dump].message = message;
                programs.remove(place);
            }
            None => place += 1,
        }
    }
}

/// Puts behind names that several programs have what makes them different: the number of the module in the names of its
/// files, or the folder; or else the place in the order of the report.
fn distinguish(programs: &mut [Audited]) {
    let mut named: HashMap<String, Vec<usize>> = HashMap::new();
    for (place, program) in programs.iter().enumerate() {
        named.entry(program.name.clone()).or_default().push(place);
    }
    for (name, places) in named {
        if places.len() < 2 || name.is_empty() {
            continue;
        }
        let by = |own: fn(&str) -> Option<&str>| -> Option<Vec<String>> {
            let words: Vec<String> = places
                .iter()
                .map(|&place| own(&programs[place].group).map(str::to_owned))
                .collect::<Option<_>>()?;
            let different: HashSet<&String> = words.iter().collect();
            (different.len() == words.len()).then_some(words)
        };
        let words = by(module).or_else(|| by(folder)).or_else(|| by(file));
        let words = words.unwrap_or_else(|| (1..=places.len()).map(|number| number.to_string()).collect());
        for (&place, word) in places.iter().zip(words) {
            programs[place].name = format!("{name} ({word})");
        }
    }
}

/// `module_0003` of `dump/module_0003.jit_step.cl_1.after_optimizations`.
fn module(group: &str) -> Option<&str> {
    let file = file(group)?;
    file.starts_with("module_").then(|| file.split('.').next())?
}

fn file(group: &str) -> Option<&str> {
    group.rsplit(['/', '\\']).next().filter(|file| !file.is_empty())
}

fn folder(group: &str) -> Option<&str> {
    let folder = &group[..group.rfind(['/', '\\'])?];
    folder.rsplit(['/', '\\']).next().filter(|folder| !folder.is_empty())
}
