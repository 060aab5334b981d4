//! What could not be read, with the numbers of the lines or bytes.

use crate::budget::Budget;

/// How many numbers are kept of each reason.
const KEPT: usize = 20;

/// What of one file could not be read, for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// The file.
    pub file: String,
    /// Why, in a few words.
    pub reason: &'static str,
    /// How many lines, or messages of a serialised file.
    pub count: u64,
    /// The numbers of the first lines of them, counted from 1; none of a serialised file.
    pub lines: Vec<u64>,
    /// Where the first of them begin in a serialised file, in bytes; none of a text.
    pub bytes: Vec<u64>,
}

/// Everything that could not be read.
#[derive(Clone, Debug)]
pub(crate) struct Complaints {
    budget: Budget,
    pub(crate) list: Vec<Unread>,
    /// Where the file that is being read begins in the list.
    first: usize,
    file: String,
}

impl Complaints {
    /// None so far. Beyond the budget nothing is complained of: what is not kept there was not wrong.
    pub(crate) fn within(budget: &Budget) -> Complaints {
        Complaints { budget: budget.clone(), list: Vec::new(), first: 0, file: String::new() }
    }

    pub(crate) fn start(&mut self, file: &str) {
        self.first = self.list.len();
        self.file = file.to_owned();
    }

    /// A line of a text.
    #[cold]
    pub(crate) fn add(&mut self, line: u64, reason: &'static str) {
        if self.budget.is_exceeded() {
            return;
        }
        let unread = self.unread(reason);
        // A line may be wrong in several places.
        if unread.lines.last() != Some(&line) || unread.lines.len() >= KEPT {
            unread.count += 1;
            if unread.lines.len() < KEPT {
                unread.lines.push(line);
            }
        }
    }

    /// Something at a place of a serialised file.
    #[cold]
    pub(crate) fn add_at(&mut self, byte: usize, reason: &'static str) {
        if self.budget.is_exceeded() {
            return;
        }
        let unread = self.unread(reason);
        unread.count += 1;
        if unread.bytes.len() < KEPT {
            unread.bytes.push(byte as u64);
        }
    }

    fn unread(&mut self, reason: &'static str) -> &mut Unread {
        let own = self.list[self.first..].iter().position(|unread| unread.reason == reason);
        let at = own.map_or_else(
            || {
                let file = self.file.clone();
                self.list.push(Unread { file, reason, count: 0, lines: Vec::new(), bytes: Vec::new() });
                self.list.len() - 1
            },
            |own| self.first + own,
        );
        &mut self.list[at]
    }
}
