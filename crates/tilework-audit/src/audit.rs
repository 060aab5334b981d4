//! What an audit holds: everything that was read, so that anything can be concluded from it.

use std::io;

use tilework::Error;

use crate::budget::{Budget, PIECE, usual};
use crate::hash::{Map, Seed};
use crate::lists::Lists;
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
#[derive(Clone, Debug)]
pub struct Audit {
    pub(crate) seed: Seed,
    pub(crate) budget: Budget,
    pub(crate) shapes: Shapes,
    /// What types of MLIR are: those of tensors, and those of memories. None for those that are no memory of their own.
    pub(crate) types: [Map<Box<[u8]>, Option<ShapeId>>; 2],
    pub(crate) texts: Texts,
    /// Orders of dimensions.
    pub(crate) orders: Lists,
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
    /// Whose.
    pub target: Target,
    /// How many shapes are laid out as it usually does.
    pub shapes: usize,
}

impl Default for Audit {
    fn default() -> Audit {
        Audit::with_memory(usual())
    }
}

impl Audit {
    /// Nothing read so far, in at most 2 GiB of memory, or half of what the process may yet have, if that is less.
    pub fn new() -> Audit {
        Audit::default()
    }

    /// Nothing read so far, in at most as many bytes of memory.
    ///
    /// The bytes are those of everything that grows with what is read, and of what is concluded from it. A process takes
    /// some megabytes besides, and at most a quarter more for what its allocator cannot use.
    ///
    /// ```
    /// use tilework_audit::Audit;
    /// let mut audit = Audit::with_memory(1 << 16);
    /// let text: String = (0..10_000).map(|size| format!("f32[{size},3] ")).collect();
    /// assert!(audit.read("pasted", text.as_bytes()).is_err());
    /// assert!(audit.lacks_memory());
    /// ```
    pub fn with_memory(bytes: u64) -> Audit {
        let budget = Budget::new(bytes);
        Audit {
            seed: Seed::default(),
            shapes: Shapes::within(&budget),
            types: Default::default(),
            texts: Texts::within(&budget),
            orders: Lists::within(&budget),
            sources: Sources::within(&budget),
            programs: Vec::new(),
            complaints: Complaints::within(&budget),
            target: Target::default(),
            assumed: None,
            message_source: 0,
            bytes: 0,
            budget,
        }
    }

    /// Whether something was not read because it would have taken more memory than there is for it.
    pub fn lacks_memory(&self) -> bool {
        self.budget.is_exceeded()
    }

    /// Bytes of memory that may be taken.
    pub fn memory(&self) -> u64 {
        self.budget.limit() as u64
    }

    /// Bytes of memory that are taken by what was read.
    pub fn memory_held(&self) -> u64 {
        self.budget.held() as u64
    }

    /// The error of what was not read.
    pub(crate) fn lack(&self) -> io::Error {
        let limit = self.budget.limit();
        let error = Error::new(format!("it would take more than {limit} bytes of memory"))
            .field("memory")
            .rule("what is held of a dump is limited, whatever the dump says")
            .accepts("a larger limit");
        io::Error::new(io::ErrorKind::OutOfMemory, error)
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
        self.push(group);
    }

    /// Makes the program of this group of files the last one.
    pub(crate) fn start(&mut self, group: &str) {
        match self.programs.iter().rposition(|program| program.group == group) {
            Some(place) => {
                let program = self.programs.remove(place);
                self.programs.push(program);
            }
            None => self.push(group.to_owned()),
        }
    }

    /// Adds a program, of which there are not many.
    fn push(&mut self, group: String) {
        if self.budget.take(2 * size_of::<Program>() + group.len() + PIECE) {
            self.programs.push(Program { group, ..Program::default() });
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

    /// The same, and what may be taken for it.
    #[inline]
    pub(crate) fn room(&mut self) -> (&mut Program, &Budget) {
        self.program();
        let last = self.programs.len() - 1;
        (&mut self.programs[last], &self.budget)
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
