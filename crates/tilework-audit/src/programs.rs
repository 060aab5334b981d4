//! All programs that were read.

use crate::program::Program;

/// Programs in the order in which they were read; the one that was read about last stands last.
#[derive(Clone, Debug, Default)]
pub(crate) struct Programs(Vec<Program>);

impl Programs {
    /// Takes out the last program of this group of files, since more is read about it.
    pub(crate) fn take(&mut self, group: &str) -> Option<Program> {
        self.take_with(group, |_| true)
    }

    /// The same of one of which this holds.
    pub(crate) fn take_with(&mut self, group: &str, is: impl Fn(&Program) -> bool) -> Option<Program> {
        let place = self.0.iter().rposition(|program| program.group == group && is(program))?;
        Some(self.0.remove(place))
    }

    /// Adds a program that was read.
    pub(crate) fn add(&mut self, program: Program) {
        self.0.push(program);
    }

    /// Takes out a message that says the same as the last one, which becomes the one of them that says the most: logs repeat
    /// their messages.
    pub(crate) fn merge_message(&mut self, last: &mut Program) {
        if let Some(place) = self.0.iter().rposition(|other| is_same_message(other, last)) {
            let other = self.0.remove(place);
            let says = |program: &Program| (program.values.len(), program.message.parts.len());
            if says(last) <= says(&other) {
                *last = other;
            }
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Program> {
        self.0.iter()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

fn is_same_message(a: &Program, b: &Program) -> bool {
    let buffers = |program: &Program| -> Vec<_> {
        program.values.iter().map(|value| (value.shape, value.size, value.space)).collect()
    };
    a.has.message
        && a.group == b.group
        && is_near(a.message.used, b.message.used)
        && is_near(a.message.capacity, b.message.capacity)
        && (a.values.is_empty() || b.values.is_empty() || buffers(a) == buffers(b))
}

/// Whether two sizes may be one, as one may be rounded.
fn is_near(a: Option<u64>, b: Option<u64>) -> bool {
    a == b || a.zip(b).is_some_and(|(a, b)| a.abs_diff(b) <= a / 128)
}
