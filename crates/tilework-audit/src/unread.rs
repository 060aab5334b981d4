//! What could not be read, with the numbers of the lines.

/// How many line numbers are kept of each reason.
const KEPT: usize = 20;

/// Lines of one file that could not be read, for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// The file.
    pub file: String,
    /// Why, in a few words.
    pub reason: &'static str,
    /// How many lines.
    pub count: u64,
    /// The numbers of the first of them, counted from 1.
    pub lines: Vec<u64>,
}

/// Everything that could not be read.
#[derive(Debug, Default)]
pub(crate) struct Complaints {
    pub(crate) list: Vec<Unread>,
    /// Where the file that is being read begins in the list.
    first: usize,
    file: String,
}

impl Complaints {
    pub(crate) fn start(&mut self, file: &str) {
        self.first = self.list.len();
        self.file = file.to_owned();
    }

    #[cold]
    pub(crate) fn add(&mut self, line: u64, reason: &'static str) {
        let own = self.list[self.first..].iter().position(|unread| unread.reason == reason);
        let at = own.map_or_else(
            || {
                let file = self.file.clone();
                self.list.push(Unread { file, reason, count: 0, lines: Vec::new() });
                self.list.len() - 1
            },
            |own| self.first + own,
        );
        let unread = &mut self.list[at];
        // A line may be wrong in several places.
        if unread.lines.last() != Some(&line) || unread.lines.len() >= KEPT {
            unread.count += 1;
            if unread.lines.len() < KEPT {
                unread.lines.push(line);
            }
        }
    }
}
