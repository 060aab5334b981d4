//! Conclusions: buffers, sums, the peak, moves, contradictions.

mod entry;
pub(crate) mod findings;
mod moves;
mod peak;
mod sums;
pub(crate) mod suppose;

use std::cmp::Reverse;

use crate::audit::Audit;
use crate::program::Program;
use crate::shapes::ShapeId;
use entry::{Entry, entries};
use findings::{Audited, Findings, Place, Sum};
use peak::Peaks;

impl Audit {
    /// Concludes: at most `top` of each list.
    pub fn findings(&self, top: usize) -> Findings {
        let mut programs: Vec<Audited> =
            self.programs.iter().map(|program| self.audited(program, top)).collect();
        programs.retain(|program| !program.is_empty());
        programs.sort_by_key(|program| {
            let main = program.main();
            Reverse((main.waste(), program.moved.bytes, main.allocated))
        });
        Findings { programs, unread: self.complaints.list.clone(), assumed: self.assumed.clone() }
    }

    fn audited(&self, program: &Program, top: usize) -> Audited {
        let (basis, entries) = entries(self, program);
        let peaks = Peaks::new(self, program, &entries);
        let mut total = Sum::default();
        for entry in &entries {
            total.add(entry.count, entry.allocated, entry.data);
        }
        let (moves, arguments, moved) = self.moves(program, top);
        let (contradictions, contradiction_count) = self.contradictions(program, top);
        let name = match self.texts.text(program.name) {
            // Without its module, it is called as its files are.
            "" => program.group.rsplit(['/', '\\']).next().unwrap_or_default().to_owned(),
            name => name.to_owned(),
        };
        Audited {
            name,
            basis,
            total,
            peak: peaks.main(self, program),
            spaces: self.spaces(program, &entries, &peaks),
            buffers: self.buffers(program, &entries, &peaks, top),
            shapes: self.shared(&entries, &peaks, top),
            computations: self.by_computation(program, &entries, top),
            sources: self.by_source(&entries, top),
            moves,
            arguments,
            moved,
            contradictions,
            contradiction_count,
            message: program.message.clone(),
            instructions: program.instructions,
            compilers_peak: program.compilers_peak.map(|(_, bytes)| bytes),
            overflowed: program.overflowed,
        }
    }

    pub(crate) fn text_of(&self, shape: ShapeId) -> String {
        self.shapes.known(shape).shape.to_string()
    }

    /// What a name means to people; none for the empty one.
    pub(crate) fn name(&self, text: u32) -> Option<String> {
        Some(self.texts.text(text)).filter(|text| !text.is_empty()).map(str::to_owned)
    }

    pub(crate) fn place(&self, source: u32) -> Place {
        let source = self.sources.source(source);
        Place {
            operation: self.name(source.operation),
            file: self.name(source.file),
            line: Some(source.line).filter(|&line| line > 0),
        }
    }

    pub(crate) fn name_of(&self, entry: &Entry) -> Option<String> {
        let index = match self.texts.text(entry.index) {
            "{}" => "",
            index => index,
        };
        self.name(entry.name).map(|name| name + index)
    }
}
