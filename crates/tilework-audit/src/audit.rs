//! What an audit holds: everything that was read, so that anything can be concluded from it.

use crate::hash::{Map, Seed};
use crate::program::{Has, Program};
use crate::shapes::{ShapeId, Shapes};
use crate::sources::Sources;
use crate::suggest::target::Target;
use crate::texts::Texts;
use crate::unread::{Complaints, Unread};

/// What was read of one or several programs.
///
/// ```
/// use tilework_audit::Audit;
/// let mut audit = Audit::new();
/// audit.read("pasted", "it has s32[300000,8]{1,0:T(8,128)} twice".as_bytes())?;
/// let findings = audit.findings(10);
/// assert_eq!(findings.programs[0].total.allocated, 153_600_000);
/// assert_eq!(findings.programs[0].total.data, 9_600_000);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Audit {
    pub(crate) seed: Seed,
    pub(crate) shapes: Shapes,
    /// What types of MLIR are: those of tensors, and those of memories. None for those that are no memory of their own.
    pub(crate) types: [Map<Box<[u8]>, Option<ShapeId>>; 2],
    pub(crate) texts: Texts,
    pub(crate) sources: Sources,
    pub(crate) programs: Vec<Program>,
    pub(crate) complaints: Complaints,
    /// Whose layouts are suggested.
    pub(crate) target: Target,
    /// Whether its layouts are supposed too.
    pub(crate) assumed: Option<Assumed>,
    /// The operator that a message named for the buffer whose shape comes next.
    pub(crate) message_source: u32,
    /// Bytes of text that were read.
    pub(crate) bytes: u64,
}

/// What is supposed of arrays that have no tiles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assumed {
    /// The target's name.
    pub target: String,
    /// How many shapes are laid out as it usually does.
    pub shapes: usize,
}

impl Audit {
    /// Nothing read so far.
    pub fn new() -> Audit {
        Audit::default()
    }

    /// Notes that this is read of the program; of another one if it was read of this one before.
    pub(crate) fn begin(&mut self, what: impl Fn(&mut Has) -> &mut bool) {
        if *what(&mut self.program().has) {
            self.another();
        }
        *what(&mut self.program().has) = true;
    }

    /// Begins another program of the same files.
    pub(crate) fn another(&mut self) {
        let group = self.program().group.clone();
        self.programs.push(Program { group, ..Program::default() });
    }

    /// Makes the program of this group of files the last one.
    pub(crate) fn start(&mut self, group: &str) {
        match self.programs.iter().rposition(|program| program.group == group) {
            Some(place) => {
                let program = self.programs.remove(place);
                self.programs.push(program);
            }
            None => self.programs.push(Program { group: group.to_owned(), ..Program::default() }),
        }
    }

    /// The program that is being read about.
    #[inline]
    pub(crate) fn program(&mut self) -> &mut Program {
        if self.programs.is_empty() {
            self.programs.push(Program::default());
        }
        let last = self.programs.len() - 1;
        &mut self.programs[last]
    }

    /// What could not be read so far.
    pub fn unread(&self) -> &[Unread] {
        &self.complaints.list
    }

    /// Bytes of text that were read so far, uncompressed.
    pub fn bytes_read(&self) -> u64 {
        self.bytes
    }

    /// How many different shapes were read so far.
    pub fn shapes(&self) -> usize {
        self.shapes.len()
    }
}
