//! What is read of one file: programs, one after the other, until the last of them is added to the audit.

use std::mem;

use crate::log::Logs;
use crate::program::{Has, Program};
use crate::programs::Programs;
use crate::read::select::Beside;
use crate::store::Store;

/// A file that is being read.
pub(crate) struct Reading<'a> {
    pub(crate) store: &'a mut Store,
    /// Those that were read before.
    pub(crate) programs: &'a mut Programs,
    /// Logs of other kinds.
    pub(crate) logs: &'a mut Logs,
    /// What the file is called.
    pub(crate) name: &'a str,
    /// What is read now is about this one.
    pub(crate) program: Program,
    /// What alone is read, where the rest is known of the program.
    pub(super) beside: Option<Beside>,
    /// Bytes of text so far.
    pub(crate) bytes: u64,
}

impl Reading<'_> {
    /// Notes that this is read of the program; of another one if it was read of this one before.
    pub(crate) fn begin(&mut self, what: impl Fn(&mut Has) -> &mut bool) {
        if *what(&mut self.program.has) {
            self.another();
        }
        *what(&mut self.program.has) = true;
    }

    /// Ends the program and begins another one of the same files.
    pub(super) fn another(&mut self) {
        let next = self.store.program(&self.program.group);
        self.programs.add(mem::replace(&mut self.program, next));
    }
}
