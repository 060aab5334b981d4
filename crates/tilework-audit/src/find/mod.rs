//! Conclusions: buffers, sums, the peak, moves, contradictions.

mod donation;
mod entry;
pub(crate) mod findings;
pub(crate) mod listing;
mod moves;
mod peak;
mod sums;
pub(crate) mod suppose;

use std::cmp::Reverse;
use std::sync::Arc;

use tilework::xla::Shape;

use crate::audit::Audit;
use crate::budget::CONCLUDING;
use crate::program::Program;
use crate::shapes::ShapeId;
use crate::sources::Source;
use entry::{Entry, entries};
use findings::{Audited, Findings, Place, Sum};
use listing::Listing;
use peak::Peaks;

impl Audit {
    /// Concludes: at most `top` of each list.
    pub fn findings(&self, top: usize) -> Findings {
        let listing = Listing::within(&self.store.budget);
        let mut programs: Vec<Audited> =
            self.programs.iter().filter_map(|program| self.audited(program, top, &listing)).collect();
        programs.retain(|program| !program.is_empty());
        programs.sort_by_key(|program| {
            let main = program.main();
            Reverse((main.waste(), program.moved.bytes, main.allocated))
        });
        let (unread, assumed) = (self.store.complaints.list.clone(), self.assumed.clone());
        Findings { programs, unread, assumed, cut: listing.is_cut() }
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
        let (moves, arguments, moved) = self.moves(program, top, listing);
        let (contradictions, contradiction_count) = self.contradictions(program, top, listing);
        let name = match self.store.texts.text(program.name) {
            // Without its module, it is called as its files are.
            "" => program.group.rsplit(['/', '\\']).next().unwrap_or_default().to_owned(),
            name => name.to_owned(),
        };
        Some(Audited {
            name,
            basis,
            total,
            peak: peaks.main(self, program),
            spaces: self.spaces(program, &entries, &peaks),
            buffers: self.buffers(program, &entries, &peaks, top, listing),
            shapes: self.shared(&entries, &peaks, top, listing),
            computations: self.by_computation(program, &entries, top, listing),
            sources: self.by_source(&entries, top, listing),
            moves,
            arguments,
            moved,
            contradictions,
            contradiction_count,
            message: program.message.clone(),
            instructions: program.instructions,
            compilers_peak: program.compilers_peak.map(|(_, bytes)| bytes),
            overflowed: program.overflowed,
        })
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
