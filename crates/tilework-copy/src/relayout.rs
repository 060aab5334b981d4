//! A plan made ready to run.

use tilework::{Error, Layout, Plan, PlanOptions, Result};

use crate::exec::Buffers;
use crate::naive;
use crate::program::Program;
use crate::pool::{Inline, Pool};

/// A plan with the kernels chosen for it: made once, run as often as there is data.
#[derive(Clone, Debug)]
pub struct Relayout {
    plan: Plan,
    program: Option<Program>,
}

impl Relayout {
    /// Plans the move from one layout to another and chooses the kernels for it.
    ///
    /// # Errors
    /// Those of [`Plan::new`].
    pub fn new(from: &Layout, to: &Layout, options: &PlanOptions) -> Result<Relayout> {
        Plan::new(from, to, options).map(Relayout::of)
    }

    /// Chooses the kernels for a plan.
    pub fn of(plan: Plan) -> Relayout {
        let program = plan.to().bits().is_multiple_of(8).then(|| Program::new(&plan));
        Relayout { plan, program }
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Moves the data, on the calling thread.
    ///
    /// # Errors
    /// A buffer that is shorter than its layout; nothing is written then.
    pub fn run(&self, from: &[u8], to: &mut [u8]) -> Result<()> {
        self.run_on(&Inline, from, to)
    }

    /// Moves the data, on the threads of a pool.
    ///
    /// # Errors
    /// A buffer that is shorter than its layout; nothing is written then.
    pub fn run_on(&self, pool: &dyn Pool, from: &[u8], to: &mut [u8]) -> Result<()> {
        check_length("source", from.len(), self.plan.from())?;
        check_length("destination", to.len(), self.plan.to())?;
        // SAFETY: both buffers are as long as their layouts, and a shared and an exclusive borrow do not overlap.
        unsafe { self.run_checked(pool, from.as_ptr(), to.as_mut_ptr()) };
        Ok(())
    }

    /// # Safety
    /// Both buffers hold their layouts and do not overlap; nobody else writes the one or touches the other meanwhile.
    unsafe fn run_checked(&self, pool: &dyn Pool, from: *const u8, to: *mut u8) {
        match &self.program {
            // SAFETY: the caller's promise.
            Some(program) => unsafe { program.run(pool, Buffers { source: from, destination: to }) },
            None => {
                let bytes = |layout: &Layout| layout.bytes() as usize;
                // SAFETY: the caller's promise.
                let (from, to) = unsafe {
                    (
                        std::slice::from_raw_parts(from, bytes(self.plan.from())),
                        std::slice::from_raw_parts_mut(to, bytes(self.plan.to())),
                    )
                };
                naive::run(&self.plan, from, to);
            }
        }
    }

    /// The same for memory that is not Rust's.
    ///
    /// # Errors
    /// A buffer that is shorter than its layout, and buffers that overlap; nothing is written then.
    ///
    /// # Safety
    /// So many bytes can be read from the one and written to the other, and nobody else writes the one or touches the
    /// other until this returns.
    pub unsafe fn run_raw(
        &self,
        pool: &dyn Pool,
        (from, from_length): (*const u8, usize),
        (to, to_length): (*mut u8, usize),
    ) -> Result<()> {
        check_length("source", from_length, self.plan.from())?;
        check_length("destination", to_length, self.plan.to())?;
        check_overlap(from.addr(), self.plan.from().bytes(), to.addr(), self.plan.to().bytes())?;
        // SAFETY: the caller's promise, and what was checked.
        unsafe { self.run_checked(pool, from, to) };
        Ok(())
    }

    /// Produces the destination in order: calls `write` with the offset in bytes and the bytes of one chunk after the
    /// other, each of at most `chunk` bytes, so that a file or a device can be fed without holding the whole.
    ///
    /// # Errors
    /// A source that is shorter than its layout; and what `write` returns, which ends it.
    pub fn stream<E: From<Error>>(
        &self,
        from: &[u8],
        chunk: usize,
        mut write: impl FnMut(u64, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut whole = vec![0; self.plan.to().bytes() as usize];
        self.run(from, &mut whole)?;
        for (number, part) in whole.chunks(chunk.max(1)).enumerate() {
            write((number * chunk.max(1)) as u64, part)?;
        }
        Ok(())
    }
}

fn check_length(name: &str, found: usize, layout: &Layout) -> Result<()> {
    let need = layout.bytes();
    if (found as u64) < need {
        return Err(Error::new(format!("a {name} of {found} bytes"))
            .field(name)
            .rule("a buffer holds all places of its layout")
            .accepts(format!("{need} bytes or more")));
    }
    Ok(())
}

fn check_overlap(from: usize, from_bytes: u64, to: usize, to_bytes: u64) -> Result<()> {
    let apart = from as u64 + from_bytes <= to as u64 || to as u64 + to_bytes <= from as u64;
    if apart || from_bytes == 0 || to_bytes == 0 {
        return Ok(());
    }
    Err(Error::new(format!("a destination of {to_bytes} bytes that overlaps the source of {from_bytes}"))
        .field("destination")
        .rule("source and destination are different memory: elements would be overwritten before they are read")
        .accepts("a buffer of its own"))
}
