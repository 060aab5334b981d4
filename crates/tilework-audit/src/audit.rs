//! What an audit holds: everything that was read, so that anything can be concluded from it.

use crate::budget::{Budget, usual};
use crate::log::Logs;
use crate::programs::Programs;
use crate::store::Store;
use crate::suggest::target::Target;
use crate::unread::Unread;

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
    pub(crate) store: Store,
    pub(crate) programs: Programs,
    pub(crate) logs: Logs,
    /// Whose layouts are suggested.
    pub(crate) target: Target,
    /// Whether its layouts are supposed too.
    pub(crate) assumed: Option<Assumed>,
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
        Audit {
            store: Store::within(Budget::new(bytes)),
            programs: Programs::default(),
            logs: Logs::default(),
            target: Target::default(),
            assumed: None,
            bytes: 0,
        }
    }

    /// Whether something was not read because it would have taken more memory than there is for it.
    pub fn lacks_memory(&self) -> bool {
        self.store.budget.is_exceeded()
    }

    /// Bytes of memory that may be taken.
    pub fn memory(&self) -> u64 {
        self.store.budget.limit() as u64
    }

    /// Bytes of memory that are taken by what was read.
    pub fn memory_held(&self) -> u64 {
        self.store.budget.held() as u64
    }

    /// What could not be read so far.
    pub fn unread(&self) -> &[Unread] {
        &self.store.complaints.list
    }

    /// Bytes of text that were read so far, uncompressed.
    pub fn bytes_read(&self) -> u64 {
        self.bytes
    }

    /// How many different shapes were read so far.
    pub fn shapes(&self) -> usize {
        self.store.shapes.len()
    }
}
